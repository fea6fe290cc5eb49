/* SPDX-License-Identifier: MIT */
/* Events as texts, in every dialect:
 *
 *   libpfm  pmu::NAME:MASK...:k:u:e:i:c=N    unit masks as libpfm spells them, or as a number
 *   libpmc  Name,group=word,cmask=N,inv,usr  words of the manual page
 *   perf    device/event=0x2e,umask=0x41/u   every field with bits; the kernel's events by name
 *   vendor  Name:group=word:cmask=N:u        the published name
 *
 * Only settings that differ from the row's defaults are written. Each text is read back before it
 * is handed out, and refused if it gives another event. A built-in name alone, and a text equal to
 * the one that was read, need no proof. */
#include "context/context.h"
#include "base/sizes.h"
#include "format/printer.h"
#include "lookup/lookup.h"

/* ---- proof ----------------------------------------------------------------------------------- */

static bool is_same_event(const struct event *a, const struct event *b)
{
	if (a->row_index != b->row_index || a->plm != b->plm ||
	    a->has_no_levels != b->has_no_levels || a->precise != b->precise ||
	    a->counter_pin != b->counter_pin || a->exclude_flags != b->exclude_flags)
		return false;
	for (unsigned i = 0; i < a->table->n_fields; i++)
		if (pfmi_pmu_get_field_value(a, i, ANY_COUNTER) !=
		    pfmi_pmu_get_field_value(b, i, ANY_COUNTER))
			return false;
	return true;
}

/* Were both events set up by equal settings? Then everything that follows from them is equal. */
static bool is_identical_event(const struct event *a, const struct event *b)
{
	if (a->row_index != b->row_index || a->plm != b->plm ||
	    a->has_no_levels != b->has_no_levels || a->precise != b->precise ||
	    a->counter_pin != b->counter_pin || a->has_raw_umask != b->has_raw_umask ||
	    a->n_user_fields != b->n_user_fields || a->exclude_flags != b->exclude_flags)
		return false;
	for (unsigned i = 0; i < event_count_groups(a); i++)
		if (a->group_values[i] != b->group_values[i])
			return false;
	for (unsigned i = 0; i < a->n_user_fields; i++)
		if (a->user_fields[i].field != b->user_fields[i].field ||
		    a->user_fields[i].value != b->user_fields[i].value)
			return false;
	return true;
}

/* The hexadecimal digits of "r4c". */
static uint64_t parse_raw_number(const char *s)
{
	uint64_t v = 0;

	for (; (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f'); s++)
		v = v << 4 | (unsigned)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
	return v;
}

/* The row that the first of the terms between slashes names; ROW_NONE if it is not a name. */
static uint32_t find_row_in_terms(const struct table *t, struct spec *spec)
{
	struct slice rest = spec->attrs;
	struct spec_attr first;
	struct name_entry n;

	if (!pfmi_spec_next_attr(&rest, &first) || first.has_value)
		return ROW_NONE;
	n = table_find_name(t, pfmi_table_hash_name(first.name), first.name.text, first.name.len);
	if (n.kind >= NAME_UNSUPPORTED)
		return ROW_NONE;
	spec->attrs = rest;
	return n.row;
}

static bool can_read_back_perf(const struct event_printer *p, struct spec *spec)
{
	struct event back;
	uint32_t row;

	if (p->table->flags & TABLE_FROM_KERNEL && p->event->row_index != ROW_NONE)
		return true;
	row = find_row_in_terms(p->table, spec);
	if ((row != ROW_NONE && row != p->event->row_index) ||
	    pfmi_lookup_resolve_attrs(p->table, row, spec, &back, NULL))
		return false;
	pfmi_lookup_adopt_row(&back);
	return p->original->exclude_flags == back.exclude_flags &&
	       pfmi_format_has_equal_config(p->original, &back);
}

static bool can_read_back(const struct event_printer *p)
{
	struct event back;
	struct spec spec;
	struct name_entry name;

	if (pfmi_spec_parse(p->text, &spec, NULL))
		return false;
	if (spec.form == SPEC_PERF)
		return can_read_back_perf(p, &spec);
	if (p->dialect == PFM_DIALECT_PERF && !table_has_field_bits(p->table)) {
		uint64_t config[N_CONFIG_WORDS] = { parse_raw_number(p->text + 1) };

		return pfmi_pmu_decode_config_words(p->table, config, ALL_CONFIG_WORDS, &back) &&
		       back.row_index == p->original->row_index;
	}
	name = pfmi_lookup_spec_name(p->table, &spec);
	return name.kind < NAME_UNSUPPORTED && name.row == p->event->row_index &&
	       !pfmi_lookup_resolve_attrs(p->table, name.row, &spec, &back, NULL) &&
	       (is_identical_event(p->original, &back) ||
	        (is_same_event(p->original, &back) &&
	         pfmi_format_has_equal_config(p->original, &back)));
}

/* Is the written text the one that was read, to the letter, after the PMU name? Then it needs no
 * proof. */
static bool is_original_text(const struct event_printer *p, const struct spec *read)
{
	struct slice name = { read->name.text, (uint32_t)(read->attrs.text - read->name.text) };
	const char *rest;

	if (read->form != SPEC_NAME || p->dialect != PFM_DIALECT_LIBPFM ||
	    p->table->flags & TABLE_HAS_FOLDED_TWINS)
		return false;
	rest = pfmi_base_skip_prefix_icase(
		name, p->text + strlen(table_get_text(p->table, p->table->name)) + 2);
	return rest && strcmp(rest, read->attrs.text) == 0;
}

/* ---- printing -------------------------------------------------------------------------------- */

static bool append_event(struct event_printer *p)
{
	if (p->dialect == PFM_DIALECT_PERF)
		return pfmi_format_append_perf_event(p);
	if (p->event->row_index == ROW_NONE)
		return pfmi_format_set_reason(p, "no event of this processor has these values");
	if (p->event->exclude_flags)
		return pfmi_format_set_reason(
			p, "only perf's letters distinguish guests, the host and idle time");
	return pfmi_format_append_named_event(p);
}

static int copy_printed_text(const struct event_printer *p, char *buf, size_t len, pfm_error_t *why)
{
	if (p->length >= len)
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_FULL, PFM_KIND_NONE,
		                                 "the buffer is too small");
	memcpy(buf, p->text, p->length + 1);
	return PFMLIB_SUCCESS;
}

/* True if a search for @name, and for @name in capitals, finds the row. */
static bool is_name_of_row(const struct table *t, uint32_t row, struct slice name)
{
	struct name_entry back;

	if (t->flags & TABLE_HAS_FOLDED_TWINS || !name.len || !format_has_none_of(name.text, ",/"))
		return false;
	back = table_find_name(t, pfmi_table_hash_name(name), name.text, name.len);
	return back.kind < NAME_UNSUPPORTED && back.row == row;
}

/* True if a search for @name finds the row. All names of built-in tables without folded twins do:
 * tests/internal/table/test_roundtrip.c reads them all. Other names are looked up. */
static inline bool has_readable_name(const struct table *t, uint32_t row, struct slice name)
{
	return (table_is_builtin(t) && !(t->flags & TABLE_HAS_FOLDED_TWINS)) ||
	       is_name_of_row(t, row, name);
}

/* Writes the PMU name, the name of the row and @rest. False if @buf is too small. */
static inline bool write_row_text(const struct table *t, struct slice name, struct slice rest,
                                  char *buf, size_t len)
{
	struct slice pmu = pfmi_base_make_slice(table_get_text(t, t->name));
	char *to = buf + pmu.len;

	if ((size_t)pmu.len + 2 + name.len + rest.len >= len)
		return false;
	memcpy(buf, pmu.text, pmu.len);
	to[0] = to[1] = ':';
	pfmi_format_copy_capitals(to + 2, name.text, name.len);
	memcpy(to + 2 + name.len, rest.text, rest.len);
	to[2 + name.len + rest.len] = '\0';
	return true;
}

/* Writes the name of the row of @ev. False, with nothing written, if it would not read back or @buf
 * is too small. */
static bool print_row_name(const struct event *ev, char *buf, size_t len)
{
	struct slice name = pfmi_base_make_slice(table_get_text(ev->table, ev->row->name));

	return has_readable_name(ev->table, ev->row_index, name) &&
	       write_row_text(ev->table, name, (struct slice){ name.text, 0 }, buf, len);
}

/* Fast path: a row without groups and settings, which is the most common text. False, with nothing
 * written, for other events. */
static bool print_event_without_settings(const struct event *ev, char *buf, size_t len)
{
	return ev->row && !ev->row->n_groups && !ev->n_user_fields && !ev->plm &&
	       !ev->has_no_levels && !ev->precise && !ev->exclude_flags &&
	       ev->counter_pin == ANY_COUNTER && print_row_name(ev, buf, len);
}

static int print_full_event(const struct event *ev, const struct spec *read, pfm_dialect_t dialect,
                            struct slice device, char *buf, size_t len, pfm_error_t *why)
{
	struct event plain;
	struct event_printer p;
	bool ok;

	p.original = ev;
	p.table = ev->table;
	p.dialect = dialect;
	p.device = device;
	p.spells_out_groups = false;
	p.reason = NULL;
	p.length = 0;
	p.text[0] = '\0';
	plain = *ev;
	pfmi_format_use_dialect_terms(&plain, dialect);
	p.event = &plain;
	ok = append_event(&p);
	if (ok && !p.reason && read && is_original_text(&p, read))
		return copy_printed_text(&p, buf, len, why);
	if (ok && !p.reason && dialect == PFM_DIALECT_LIBPFM && !can_read_back(&p)) {
		p.spells_out_groups = true;
		p.length = 0;
		ok = append_event(&p);
	}
	if (ok && !p.reason && !can_read_back(&p))
		ok = pfmi_format_set_reason(&p, "the text would be parsed as another event");
	if (!ok || p.reason)
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_UNEXPRESSIBLE,
		                                 p.reason);
	return copy_printed_text(&p, buf, len, why);
}

int pfmi_format_print_event(const struct event *ev, const struct spec *read, pfm_dialect_t dialect,
                            struct slice device, char *buf, size_t len, pfm_error_t *why)
{
	if (dialect == PFM_DIALECT_LIBPFM && print_event_without_settings(ev, buf, len))
		return PFMLIB_SUCCESS;
	return print_full_event(ev, read, dialect, device, buf, len, why);
}

/* The name of the PMU in perf's grammar: the one in the text if the kernel uses it, or an
 * instance's. */
static struct slice get_perf_device_name(const struct pfm_ctx *ctx, unsigned pmu,
                                         const struct spec *spec)
{
	const struct table *t = context_get_pmu_table(ctx, pmu);
	const struct kernel_pmu *kernel = context_get_kernel_pmu(ctx, pmu);
	const char *device = kernel ? kernel->name : table_get_text(t, t->device);

	if (spec->form == SPEC_PERF && kernel && !pfmi_context_table_has_name(t, spec->pmu_name))
		return spec->pmu_name;
	/* A pattern of names ("hisi_sccl,ddrc") is not a name. */
	return pfmi_base_make_slice(
		*device && format_has_none_of(device, ",/:") ? device : table_get_text(t, t->name));
}

/* Fields on a kernel-provided PMU may be an event of a table that describes the same PMU. */
static void replace_by_listed_event(const struct pfm_ctx *ctx, unsigned *pmu, struct event *ev)
{
	const struct kernel_pmu *kernel = context_get_kernel_pmu(ctx, *pmu);
	unsigned own = *pmu;
	perfmon_attr_t a;
	uint64_t words[N_CONFIG_WORDS];

	if (!kernel)
		return;
	pfmi_pmu_build_event_attr(ev, -1, PFM_PLM0 | PFM_PLM3, &a);
	attr_get_words(&a, words);
	for (unsigned i = 0; i < ctx->n_host_pmus && ev->row_index == ROW_NONE; i++) {
		unsigned other = ctx->host_pmus[i].pmu_index;
		const struct table *t = context_get_pmu_table(ctx, other);

		if (other != own && ctx->host_pmus[i].kernel_pmu == kernel &&
		    context_is_pmu_usable(ctx, other) && table_has_field_bits(t) &&
		    pfmi_pmu_decode_config_words(t, words, ALL_CONFIG_WORDS, ev))
			*pmu = other;
	}
}

/* Prints fields without a name by the event of a table that has them. */
static int print_unnamed_event(const struct pfm_ctx *ctx, const struct event *ev, unsigned pmu,
                               pfm_dialect_t dialect, char *buf, size_t len, pfm_error_t *error)
{
	struct event found = *ev;

	replace_by_listed_event(ctx, &pmu, &found);
	return pfmi_format_print_event(&found, NULL, dialect, (struct slice){ 0 }, buf, len, error);
}

/* Prints @ev, which @spec was resolved to. */
static int print_parsed_event(const struct pfm_ctx *ctx, const struct spec *spec,
                              const struct event *ev, unsigned pmu, pfm_dialect_t dialect,
                              char *buf, size_t len, pfm_error_t *error)
{
	struct slice device = { 0 };
	int rc;

	if (dialect == PFM_DIALECT_PERF)
		device = get_perf_device_name(ctx, pmu, spec);
	rc = ev->row_index == ROW_NONE && dialect != PFM_DIALECT_PERF
	             ? print_unnamed_event(ctx, ev, pmu, dialect, buf, len, error)
	             : pfmi_format_print_event(ev, spec, dialect, device, buf, len, error);
	if (rc && error && error->kind == PFM_KIND_UNEXPRESSIBLE)
		error->end = spec->len;
	return rc;
}

static bool is_dialect(pfm_dialect_t dialect)
{
	return (int)dialect >= PFM_DIALECT_LIBPFM && dialect <= PFM_DIALECT_VENDOR;
}

/* @error has room for all members of the struct, or is NULL. */
static int parse_and_print(const pfm_ctx_t *ctx, const char *text, pfm_dialect_t dialect, char *buf,
                           size_t len, pfm_error_t *error)
{
	struct event ev;
	struct spec spec;
	unsigned pmu;
	int rc;

	if (!text || !buf || !is_dialect(dialect))
		return pfmi_base_refuse_argument(error,
		                                 "text or buf is NULL, or the dialect is unknown");
	if (!ctx)
		ctx = pfmi_context_get_default();
	rc = pfmi_spec_parse(text, &spec, error);
	if (!rc)
		rc = pfmi_lookup_spec_event(ctx, &spec, &pmu, &ev, error);
	if (rc)
		return rc;
	return print_parsed_event(ctx, &spec, &ev, pmu, dialect, buf, len, error);
}

int pfm_print_event(const pfm_ctx_t *ctx, const char *text, pfm_dialect_t dialect, char *buf,
                    size_t len, pfm_error_t *error)
{
	pfm_error_t mine, *why = base_choose_error_struct(error, &mine);

	return base_return_error(error, why, parse_and_print(ctx, text, dialect, buf, len, why));
}
