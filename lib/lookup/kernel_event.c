/* SPDX-License-Identifier: MIT */
/* Events without a table: tracepoints, numbered in tracefs, and breakpoints, which are an
 * address. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "context/context.h"
#include "machine/machine.h"
#include "lookup/lookup.h"

static bool is_file_name(struct slice s)
{
	if (s.len == 0 || s.len > 120)
		return false;
	for (uint32_t i = 0; i < s.len; i++)
		if (!base_is_digit(s.text[i]) &&
		    !((s.text[i] | 0x20) >= 'a' && (s.text[i] | 0x20) <= 'z') && s.text[i] != '_' &&
		    s.text[i] != '-')
			return false;
	return true;
}

static int stop_at_first_entry(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return 1;
}

int pfmi_lookup_tracepoint_id(const struct sys *sys, struct slice group, struct slice name,
                              uint64_t *id)
{
	int first = 0;

	if (!is_file_name(group) || !is_file_name(name))
		return -ENOENT;
	for (unsigned i = 0; i < TRACEFS_MOUNTS; i++) {
		char path[320];
		int rc;

		snprintf(path, sizeof(path), "%s/%.*s/%.*s/id", pfmi_machine_tracefs_paths[i],
		         (int)group.len, group.text, (int)name.len, name.text);
		rc = pfmi_machine_read_number(sys, path, id);
		if (rc == 0)
			return 0;
		/* An empty folder means that nothing is mounted there. */
		if (rc == -ENOENT) {
			int rc2 = sys->list_folder(sys, pfmi_machine_tracefs_paths[i],
			                           stop_at_first_entry, NULL);

			rc = rc2 == 1 ? -ENOENT : rc2 == -EACCES ? -EACCES : -ENODEV;
		}
		if (rc == -ENOENT)
			return rc;
		if (!first || rc == -EACCES)
			first = rc;
	}
	return first;
}

static void set_named_field(struct event *ev, const char *name, uint64_t value)
{
	const struct field *f = table_fields(ev->table);

	for (unsigned i = 0; i < ev->table->n_fields; i++)
		if (strcmp(table_get_text(ev->table, f[i].name), name) == 0) {
			pfmi_pmu_set_user_field(ev, i, value);
			return;
		}
}

/* Makes @out an event without a row on the kernel's PMU @name, with the levels in @rest. */
static int resolve_kernel_event(const struct pfm_ctx *ctx, const struct spec *spec,
                                const char *name, struct slice rest, unsigned *pmu,
                                struct event *out, pfm_error_t *why)
{
	const struct kernel_pmu *kernel_pmu = pfmi_machine_find_kernel_pmu(
		ctx->kernel, (struct slice){ name, (uint32_t)strlen(name) });
	struct spec levels = *spec;

	if (!kernel_pmu)
		return pfmi_base_set_error(
			why, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, spec->text,
			(struct slice){ spec->text, spec->len },
			"the kernel exports no PMU that counts tracepoints or breakpoints");
	*pmu = ctx->first_kernel_pmu + (unsigned)(kernel_pmu - ctx->kernel->pmus);
	levels.attrs = rest;
	return pfmi_lookup_resolve_attrs(kernel_pmu->table, ROW_NONE, &levels, out, why);
}

/* Cuts @s up to the next ':' or ','. The separator stays in @s. */
static struct slice take_colon_token(struct slice *s)
{
	struct slice part = { s->text, 0 };

	while (part.len < s->len && part.text[part.len] != ':' && part.text[part.len] != ',')
		part.len++;
	s->text += part.len;
	s->len -= part.len;
	return part;
}

static bool parse_access(struct slice s, uint64_t *access)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < s.len; i++) {
		uint64_t bit = s.text[i] == 'r'   ? 1
		               : s.text[i] == 'w' ? 2
		               : s.text[i] == 'x' ? 4
		                                  : 0;

		if (!bit || bits & bit)
			return false;
		bits |= bit;
	}
	if (s.len == 0)
		return false;
	*access = bits;
	return true;
}

/* "mem:ADDRESS[/LENGTH][:rwx][:levels]" */
static int parse_breakpoint(const struct pfm_ctx *ctx, const struct spec *spec, unsigned *pmu,
                            struct event *out, pfm_error_t *why)
{
	struct slice all = { spec->text + 4, spec->len - 4 }, where = take_colon_token(&all),
		     number = where, length, after;
	uint64_t addr, len = 0, access = 3;
	int rc;

	for (number.len = 0; number.len < where.len && number.text[number.len] != '/'; number.len++)
		;
	length = (struct slice){ number.text + number.len + 1,
		                 number.len < where.len ? where.len - number.len - 1 : 0 };
	if (!pfmi_base_parse_perf_number(number, &addr))
		return pfmi_base_set_error(why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, spec->text,
		                           number, "expected an address");
	if (number.len < where.len &&
	    (!pfmi_base_parse_perf_number(length, &len) || len < 1 || len > 8))
		return pfmi_base_set_error(why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, spec->text,
		                           length,
		                           "expected a length of 1 to 8 bytes for the breakpoint");
	if (all.len && all.text[0] == ':') {
		struct slice next = { all.text + 1, all.len - 1 };

		after = take_colon_token(&next);
		if (parse_access(after, &access))
			all = next;
	}
	rc = resolve_kernel_event(ctx, spec, "breakpoint", all, pmu, out, why);
	if (rc)
		return rc;
	if (len == 0)
		len = access == 4 ? sizeof(long) : 4;
	set_named_field(out, "bp_type", access);
	set_named_field(out, "bp_addr", addr);
	set_named_field(out, "bp_len", len);
	return PFMLIB_SUCCESS;
}

/* Is this spelled like a tracepoint? Only then an error mentions tracepoints. */
static bool is_tracepoint_spelling(struct slice group, struct slice name)
{
	for (uint32_t i = 0; i < group.len; i++)
		if (group.text[i] >= 'A' && group.text[i] <= 'Z')
			return false;
	return name.len > 3;
}

/* Refuses an unknown name that may be a tracepoint which could not be looked up. */
static int refuse_unreadable_tracepoint(const struct spec *spec, struct slice group,
                                        struct slice name, int rc, pfm_error_t *why)
{
	const char *hint = "no event of that name, and tracepoints cannot be looked up: tracefs "
			   "cannot be read";

	if (rc == -ENOENT || !is_tracepoint_spelling(group, name))
		return PFMLIB_ERR_NOTFOUND;
	if (rc == -EACCES || rc == -EPERM)
		hint = "no event of that name, and tracepoints cannot be looked up: only root can "
		       "read tracefs";
	else if (rc == -ENODEV)
		hint = "no event of that name, and tracepoints cannot be looked up: tracefs is not "
		       "mounted on /sys/kernel/tracing";
	pfmi_base_set_error(why, PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, spec->text,
	                    spec->name, hint);
	if (why)
		why->sys_errno = -rc;
	return PFMLIB_ERR_NOTFOUND;
}

int pfmi_lookup_kernel_event(const struct pfm_ctx *ctx, const struct spec *spec, unsigned *pmu,
                             struct event *out, pfm_error_t *why)
{
	struct slice rest = { spec->text, spec->len }, group, name;
	uint64_t id;
	int rc;

	if (spec->form != SPEC_NAME || spec->pmu_name.len)
		return PFMLIB_ERR_NOTFOUND;
	if (spec->len > 4 && strncmp(spec->text, "mem:", 4) == 0)
		return parse_breakpoint(ctx, spec, pmu, out, why);
	group = take_colon_token(&rest);
	if (rest.len < 2 || rest.text[0] != ':')
		return PFMLIB_ERR_NOTFOUND;
	rest.text++;
	rest.len--;
	name = take_colon_token(&rest);
	if (!is_file_name(group) || !is_file_name(name))
		return PFMLIB_ERR_NOTFOUND;
	rc = pfmi_lookup_tracepoint_id(&ctx->sys, group, name, &id);
	if (rc)
		return refuse_unreadable_tracepoint(spec, group, name, rc, why);
	rc = resolve_kernel_event(ctx, spec, "tracepoint", rest, pmu, out, why);
	if (rc == PFMLIB_SUCCESS)
		set_named_field(out, "config", id);
	return rc;
}
