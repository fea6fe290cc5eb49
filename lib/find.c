/* SPDX-License-Identifier: MIT */
/* Which processor and which row a text means. A named processor is searched alone; without a name it is the one the context was
 * given, else this machine's: what the kernel shows first, then imported lists, then what is built in. */
#include <string.h>
#include "ctx.h"
#include "reverse.h"

/* The longest piece of the name that is a name of unit @u. On success spec->rest is what follows it. */
static const struct name *find_name(const struct unit *u, struct spec *spec)
{
	if (!pfmi_unit_ready(u))
		return NULL;
	for (unsigned i = spec->n_cuts; i-- > 0;) {
		const struct name *n = pfmi_table_find(u->table, spec->cuts[i].hash, spec->name.s, spec->cuts[i].len);

		if (n) {
			spec->rest.s = spec->name.s + spec->cuts[i].len;
			spec->rest.len = spec->len - (uint32_t)(spec->rest.s - spec->text);
			return n;
		}
	}
	return NULL;
}

static int take_name(const struct unit *u, const struct name *n, const struct spec *spec, uint32_t *row, pfm_error_t *why)
{
	if (n->kind == NAME_UNSUPPORTED)
		return pfmi_refuse(why, PFMLIB_ERR_ALIAS, PFM_KIND_UNSUPPORTED_ALIAS, spec->text, spec->name,
		                   table_text(u->table, n->row));
	*row = n->row;
	return PFMLIB_SUCCESS;
}

RARELY static int unknown_event(const struct spec *spec, pfm_error_t *why)
{
	struct slice name = spec->name;

	/* What stands before the attributes: the whole run up to the first ',', where nothing shorter is known either. */
	return pfmi_refuse(why, PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, spec->text, name, NULL);
}

RARELY static int damaged(const struct unit *u, const struct spec *spec, pfm_error_t *why)
{
	return pfmi_refuse(why, PFMLIB_ERR_IMAGE, PFM_KIND_IMAGE, spec->text, spec->pmu, pfmi_image_fault(u->map));
}

/* The units that may be parts of another one. */
struct parts {
	unsigned first, end;
};

/* Looks on every unit that answers to @pmu, freshest first, until one has the event. */
static int find_called(const struct pfm_ctx *ctx, struct slice pmu, uint32_t h, struct spec *spec, unsigned *unit, uint32_t *row,
                       bool *known, struct parts *parts, pfm_error_t *why)
{
	uint32_t cursor = 0;
	int at;

	while ((at = pfmi_ctx_next_called(ctx, pmu, h, &cursor)) >= 0) {
		unsigned n;
		const struct unit *u = pfmi_ctx_units(ctx, &n) + at;
		const struct name *found;

		found = find_name(u, spec);
		if (found) {
			*unit = (unsigned)at;
			return take_name(u, found, spec, row, why);
		}
		*known = true;
		if (u->end_parts && (!parts->end || u->first_part < parts->first))
			parts->first = u->first_part;
		if (u->end_parts > parts->end)
			parts->end = u->end_parts == PARTS_OPEN ? n : u->end_parts;
		if (!pfmi_unit_ready(u))
			return damaged(u, spec, why);
	}
	return PFMLIB_ERR_NOTFOUND;
}

/* Is @u called @s and more? */
static bool starts_like(const struct unit *u, struct slice s)
{
	const char *rest = pfmi_behind(s, table_text(u->table, u->table->name));

	return rest && *rest == '_';
}

/* The kernel's name, of one instance ("uncore_imc_3") or of all, stands for every table that describes the PMU. */
static bool is_kernels(const struct pfm_ctx *ctx, const struct unit *u, struct slice pmu)
{
	return u->kernel && u->flags & PFM_PMU_HOST && pfmi_kernel_find(ctx->kernel, pmu) == u->kernel;
}

static bool is_part(const struct pfm_ctx *ctx, const struct unit *u, struct slice pmu)
{
	return starts_like(u, pmu) || is_kernels(ctx, u, pmu);
}

/* Is there a name with the hash of some piece? That costs less than to look, and mostly settles it. */
RARELY static bool may_have(const struct table *t, const struct spec *spec)
{
	const struct slot *slots = table_slots(t);
	uint32_t mask = t->n_slots - 1;

	for (unsigned c = 0; c < spec->n_cuts; c++)
		for (uint32_t h = spec->cuts[c].hash, i = h & mask; slots[i].name; i = (i + 1) & mask)
			if (slots[i].hash == h)
				return true;
	return false;
}

/* "skx" also stands for its parts "skx_uncore_cha" ...; and a kernel's "cpu" for the list that describes it. */
RARELY static int find_in_parts(const struct pfm_ctx *ctx, struct slice pmu, uint32_t h, struct parts among, struct spec *spec,
                                unsigned *unit, uint32_t *row, bool *known, pfm_error_t *why)
{
	const struct unit *u = ctx->units;

	for (unsigned i = among.first; i < among.end; i++) {
		bool likely = *known && u[i].whole == h;
		const struct name *found;

		if (!likely && !is_part(ctx, &u[i], pmu))
			continue;
		*known = true;
		if (!pfmi_unit_ready(&u[i]) || !may_have(u[i].table, spec))
			continue;
		found = find_name(&u[i], spec);
		if (found && (!likely || is_part(ctx, &u[i], pmu))) {
			*unit = i;
			return take_name(&u[i], found, spec, row, why);
		}
	}
	return PFMLIB_ERR_NOTFOUND;
}

/* Linux's generic names on a PMU: "cpu_core/cycles/" is what that PMU's own file cpu-cycles says, as perf has it. */
static const struct name *find_generic(const struct pfm_ctx *ctx, const struct unit *u, uint32_t h, struct slice name)
{
	unsigned n;
	const struct unit *all = pfmi_ctx_units(ctx, &n);

	for (unsigned i = 0; i < n && u->flags & PFM_PMU_CORE; i++) {
		const struct table *t = all[i].table;
		const struct name *generic =
			t->encoder == ENCODER_PERF && t->perf_type == 0 ? pfmi_table_find(t, h, name.s, name.len) : NULL;

		if (generic && generic->kind != NAME_UNSUPPORTED) {
			const char *file = table_row_name(t, generic->row);
			size_t len = strlen(file);

			return pfmi_table_find(u->table, pfmi_name_hash(pfmi_slice(file)), file, (uint32_t)len);
		}
	}
	return NULL;
}

/* The same behind its name: "cpu_core::cycles:u". */
RARELY static int find_generic_on(const struct pfm_ctx *ctx, struct slice pmu, struct spec *spec, unsigned *unit, uint32_t *row,
                                  pfm_error_t *why)
{
	const struct kernel_pmu *device = pfmi_kernel_find(ctx->kernel, pmu);

	for (unsigned i = 0; device && i < ctx->n_units; i++)
		for (unsigned k = spec->n_cuts; k-- > 0 && ctx->units[i].kernel == device && pfmi_unit_ready(&ctx->units[i]);) {
			struct slice name = { spec->name.s, spec->cuts[k].len };
			const struct name *found = find_generic(ctx, &ctx->units[i], spec->cuts[k].hash, name);

			if (!found)
				continue;
			*unit = i;
			spec->rest.s = name.s + name.len;
			spec->rest.len = spec->len - (uint32_t)(spec->rest.s - spec->text);
			return take_name(&ctx->units[i], found, spec, row, why);
		}
	return PFMLIB_ERR_NOTFOUND;
}

/* @pmu was named, by the text or by the context. Images the caller chose are looked at before what is built in, others only for
 * processors that are not. */
static int find_on(const struct pfm_ctx *ctx, struct slice pmu, uint32_t h, struct spec *spec, unsigned *unit, uint32_t *row,
                   pfm_error_t *why)
{
	struct parts parts = { 0, 0 };
	bool known = false;
	int rc = ctx->image_path && !pfmi_ctx_loaded(ctx, LOADED_ALL) ? pfmi_ctx_need(ctx, why) : PFMLIB_SUCCESS;

	for (bool again = rc == PFMLIB_SUCCESS; again;) {
		rc = find_called(ctx, pmu, h, spec, unit, row, &known, &parts, why);
		again = rc == PFMLIB_ERR_NOTFOUND && !known && !pfmi_ctx_loaded(ctx, LOADED_ALL);
		if (again && (rc = pfmi_ctx_need(ctx, why)))
			return rc;
	}
	/* Not before it is loaded: another thread may be at it. */
	if (rc == PFMLIB_ERR_NOTFOUND && pfmi_ctx_loaded(ctx, LOADED_ALL)) {
		if (!known || (ctx->kernel && pfmi_kernel_find(ctx->kernel, pmu)))
			parts = (struct parts){ 0, ctx->n_units };
		if (parts.end)
			rc = find_in_parts(ctx, pmu, h, parts, spec, unit, row, &known, why);
		if (rc == PFMLIB_ERR_NOTFOUND && known && ctx->kernel)
			rc = find_generic_on(ctx, pmu, spec, unit, row, why);
	}
	if (rc != PFMLIB_ERR_NOTFOUND)
		return rc;
	if (!known)
		return pfmi_refuse(why, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, spec->text, spec->pmu, NULL);
	return unknown_event(spec, why);
}

/* No machine to ask and no processor named: a name that one listed processor alone has is that one's. */
RARELY static int find_anywhere(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, uint32_t *row, pfm_error_t *why)
{
	const struct name *first = NULL;
	struct slice rest = spec->rest;

	for (unsigned i = 0; i < ctx->n_units; i++) {
		const struct name *found = ctx->units[i].flags & PFM_PMU_HIDDEN ? NULL : find_name(&ctx->units[i], spec);

		if (found && first)
			return pfmi_refuse(why, PFMLIB_ERR_AMBIGUOUS, PFM_KIND_AMBIGUOUS, spec->text, spec->name, NULL);
		if (found) {
			first = found;
			*unit = i;
			rest = spec->rest;
		}
	}
	spec->rest = rest;
	return first ? take_name(&ctx->units[*unit], first, spec, row, why) : unknown_event(spec, why);
}

static int find_on_host(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, uint32_t *row, pfm_error_t *why)
{
	int rc = pfmi_ctx_need(ctx, why);

	if (rc)
		return rc;
	if (ctx->flags & PFM_CTX_NO_HOST)
		return find_anywhere(ctx, spec, unit, row, why);
	for (unsigned i = 0; i < ctx->n_host_order; i++) {
		const struct unit *u = &ctx->units[ctx->host_order[i]];
		const struct name *found = find_name(u, spec);

		if (found) {
			*unit = ctx->host_order[i];
			return take_name(u, found, spec, row, why);
		}
	}
	return unknown_event(spec, why);
}

static bool is_wanted_device(const struct pfm_ctx *ctx, const struct unit *u, struct slice device)
{
	return ctx->wanted && pfmi_slice_is(device, table_text(u->table, u->table->device)) &&
	       (pfmi_unit_is(u, ctx->wanted_name) || starts_like(u, ctx->wanted_name));
}

static bool is_device(const struct pfm_ctx *ctx, const struct unit *u, struct slice device)
{
	/* The kernel's name is good for this machine's cores also where the kernel has no PMU for them. */
	bool bare = !u->kernel && u->flags & PFM_PMU_HOST && u->flags & PFM_PMU_CORE;

	return pfmi_unit_is(u, device) || is_kernels(ctx, u, device) ||
	       (bare && pfmi_slice_is(device, table_text(u->table, u->table->device)));
}

/* "pmu/.../": which unit, and the row if the first term is an event's name. Its fields come from the same unit's table. */
RARELY static int find_perf(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, uint32_t *row, pfm_error_t *why)
{
	struct slice rest = spec->rest, terms = spec->rest;
	struct spec_attr first;
	unsigned n, fallback = ~0u;
	const struct unit *u;
	struct spec name = *spec;
	bool named = pfmi_spec_next(&terms, &first) && !first.has_value;
	uint32_t h = named ? pfmi_name_hash(first.name) : 0;
	int rc;

	if (!(named || first.name.len))
		return pfmi_refuse(why, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, spec->text, spec->name, "no terms between the slashes");
	name.name = first.name;
	rc = pfmi_ctx_need(ctx, why);
	if (rc)
		return rc;
	u = pfmi_ctx_units(ctx, &n);
	for (unsigned pass = 0; pass < 3; pass++)
		for (unsigned k = n; k-- > 0;) {
			const struct name *found = NULL;

			/* A device name alone says "cpu" for every x86: the processor the context was given comes first. */
			if (!(pass == 0 ? is_wanted_device(ctx, &u[k], spec->pmu) : is_device(ctx, &u[k], spec->pmu)))
				continue;
			if (fallback == ~0u)
				fallback = k;
			if (named && pfmi_unit_ready(&u[k]))
				found = pass < 2 ? pfmi_table_find(u[k].table, h, first.name.s, first.name.len)
				                 : find_generic(ctx, &u[k], h, first.name);
			if (found) {
				*unit = k;
				spec->rest = terms;
				return take_name(&u[k], found, &name, row, why);
			}
		}
	if (fallback == ~0u)
		return pfmi_refuse(why, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, spec->text, spec->pmu, NULL);
	*unit = fallback;
	*row = ROW_NONE;
	spec->rest = rest;
	return PFMLIB_SUCCESS;
}

/* "r412e": hexadecimal digits behind an r, up to a colon. */
static bool is_raw(struct spec *spec, uint64_t *value)
{
	uint32_t len = spec->n_cuts ? spec->cuts[0].len : 0;

	if (len < 2 || len > 17 || spec->name.s[0] != 'r' || (len < spec->name.len && spec->name.s[len] != ':'))
		return false;
	*value = 0;
	for (uint32_t i = 1; i < len; i++) {
		char c = spec->name.s[i];
		int d = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
		                                                                                : -1;

		if (d < 0)
			return false;
		*value = *value << 4 | (unsigned)d;
	}
	spec->form = SPEC_RAW;
	spec->rest = (struct slice){ spec->name.s + len, spec->len - (uint32_t)(spec->name.s + len - spec->text) };
	return true;
}

/* The unit raw numbers are for: the named one, else this machine's first core PMU. */
static int raw_unit(const struct pfm_ctx *ctx, const struct spec *spec, unsigned *unit, pfm_error_t *why)
{
	struct slice pmu = spec->pmu.len ? spec->pmu : ctx->wanted_name;
	const struct unit *u;
	unsigned n;

	if (pmu.len == 0 && pfmi_ctx_need(ctx, why))
		return PFMLIB_ERR_NOMEM;
	u = pfmi_ctx_units(ctx, &n);
	for (unsigned i = 0; pmu.len && i < n; i++)
		if (pfmi_unit_is(&u[i], pmu)) {
			*unit = i;
			return PFMLIB_SUCCESS;
		}
	for (unsigned i = 0; !pmu.len && i < ctx->n_host_order; i++)
		if (u[ctx->host_order[i]].flags & PFM_PMU_CORE ||
		    pfmi_slice_is(pfmi_slice("raw"),
		                  table_text(u[ctx->host_order[i]].table, u[ctx->host_order[i]].table->name))) {
			*unit = ctx->host_order[i];
			return PFMLIB_SUCCESS;
		}
	return unknown_event(spec, why);
}

/* Fields that are those of an event stand for that event, so that its counters are known. The kernel knows its own. */
static void adopt_row(struct event *ev)
{
	pfm_attr_t a;

	if (ev->row != ROW_NONE || ev->table->flags & TABLE_KERNEL || !table_has_bits(ev->table) ||
	    pfmi_event_attr(ev, -1, PFM_PLM0 | PFM_PLM3, &a, NULL))
		return;
	pfmi_event_from_config(ev->table, (uint64_t[4]){ a.config, a.config1, a.config2, a.config3 }, 15, ev);
}

/* Takes a raw configuration word apart into the fields of the unit's table, so that all later steps see an ordinary event. */
static int raw_fields(const struct table *t, uint64_t value, const struct spec *spec, struct event *ev, pfm_error_t *why)
{
	const struct field *f = table_fields(t);
	uint64_t config[4] = { value }, back[4] = { 0 };

	for (unsigned i = 0; i < t->n_fields; i++) {
		uint64_t v = pfmi_field_get(&f[i], config), put[4] = { 0 };

		if (!v || !f[i].n_ranges || f[i].kind == FIELD_TEXT || ev->n_set == EVENT_MAX_SET)
			continue;
		pfmi_field_put(&f[i], put, v);
		if (!(put[0] & ~back[0]))
			continue;
		ev->set[ev->n_set].field = (uint16_t)i;
		ev->set[ev->n_set++].value = v;
		back[0] |= put[0];
	}
	if (back[0] != value)
		return pfmi_refuse(why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, spec->text, spec->name,
		                   "bits that belong to no field of this processor");
	return PFMLIB_SUCCESS;
}

static int raw_event(const struct table *t, uint64_t raw, const struct spec *spec, struct event *out, pfm_error_t *why)
{
	struct event found = { .n_set = 0 };
	int rc;

	if (!table_has_bits(t)) {
		/* A number of the kernel's own driver. */
		if (!pfmi_event_from_config(t, (uint64_t[4]){ raw }, 1, &found))
			return pfmi_refuse(why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, spec->text, spec->name,
			                   "no event of this processor has that raw number");
		return pfmi_resolve(t, found.row, spec, out, why);
	}
	rc = pfmi_resolve(t, ROW_NONE, spec, out, why);
	if (!rc)
		rc = raw_fields(t, raw, spec, out, why);
	if (!rc)
		adopt_row(out);
	return rc;
}

int pfmi_ctx_find(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, uint32_t *row, pfm_error_t *why)
{
	if (spec->form == SPEC_PERF)
		return find_perf(ctx, spec, unit, row, why);
	if (spec->pmu.len)
		return find_on(ctx, spec->pmu, spec->pmu_hash, spec, unit, row, why);
	if (ctx->wanted)
		return find_on(ctx, ctx->wanted_name, ctx->wanted_hash, spec, unit, row, why);
	return find_on_host(ctx, spec, unit, row, why);
}

/* The processor at hand says itself which architectural events it lacks. Everything is loaded where the unit may be this
 * machine's, so that the answer does not hang on what was asked before. */
RARELY static int check_present(const struct pfm_ctx *ctx, unsigned unit, const struct event *ev, const char *text,
                                struct slice at, pfm_error_t *why)
{
	unsigned n;
	int rc;

	/* An assumed processor does not say what it lacks. */
	if (ctx->flags & PFM_CTX_NO_HOST || ctx->cpuid || !ctx->sys.cpuid)
		return PFMLIB_SUCCESS;
	rc = unit < ctx->n_builtin ? pfmi_ctx_load(ctx, LOADED_HOST) : PFMLIB_SUCCESS;
	if (rc || (unit < ctx->n_builtin && !(ctx->may_lack >> unit & 1)))
		return rc;
	rc = pfmi_ctx_need(ctx, why);
	if (rc)
		return rc;
	if (!(pfmi_ctx_units(ctx, &n)[unit].flags & PFM_PMU_HOST) || !ctx->host.pmu_version ||
	    !(ctx->host.arch_missing >> (pfmi_event_field(ev, KEY_ARCH_BIT, ANYWHERE) & 31) & 1))
		return PFMLIB_SUCCESS;
	return pfmi_refuse(why, PFMLIB_ERR_BADHOST, PFM_KIND_NOT_ON_CPU, text, at, NULL);
}

int pfmi_ctx_present(const struct pfm_ctx *ctx, unsigned unit, const struct event *ev, const char *text, struct slice at,
                     pfm_error_t *why)
{
	return ev->at[KEY_ARCH_BIT] ? check_present(ctx, unit, ev, text, at, why) : PFMLIB_SUCCESS;
}

int pfmi_ctx_event(const struct pfm_ctx *ctx, const char *text, unsigned *unit, struct event *out, pfm_error_t *why)
{
	struct spec spec;
	uint32_t row;
	uint64_t raw;
	unsigned n;
	int rc = pfmi_spec_parse(text, &spec, why);

	if (rc)
		return rc;
	rc = pfmi_ctx_find(ctx, &spec, unit, &row, why);
	if (rc == PFMLIB_SUCCESS) {
		const struct unit *u = pfmi_ctx_units(ctx, &n) + *unit;

		rc = pfmi_resolve(u->table, row, &spec, out, why);
		if (!rc && row == ROW_NONE)
			adopt_row(out);
		return rc ? rc : pfmi_ctx_present(ctx, *unit, out, text, spec.name, why);
	}
	if (rc != PFMLIB_ERR_NOTFOUND || spec.form == SPEC_PERF)
		return rc;
	if (is_raw(&spec, &raw) && raw_unit(ctx, &spec, unit, NULL) == PFMLIB_SUCCESS)
		return raw_event(pfmi_ctx_units(ctx, &n)[*unit].table, raw, &spec, out, why);
	if (spec.pmu.len == 0 && !ctx->wanted && !(ctx->flags & PFM_CTX_NO_HOST)) {
		int other = pfmi_kernel_event(ctx, &spec, unit, out, why);

		if (other != PFMLIB_ERR_NOTFOUND)
			return other;
	}
	return rc;
}

int pfmi_ctx_event_on(const struct pfm_ctx *ctx, const char *text, unsigned unit, struct event *out, pfm_error_t *why)
{
	struct spec spec;
	const struct name *found;
	unsigned n;
	const struct unit *u = pfmi_ctx_units(ctx, &n);
	uint32_t row = ROW_NONE;
	int rc = pfmi_spec_parse(text, &spec, why);

	if (rc)
		return rc;
	if (unit >= n || spec.form == SPEC_PERF)
		return pfmi_refuse(why, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, NULL);
	found = find_name(&u[unit], &spec);
	rc = found ? take_name(&u[unit], found, &spec, &row, why) : unknown_event(&spec, why);
	if (!rc)
		rc = pfmi_resolve(u[unit].table, row, &spec, out, why);
	return rc ? rc : pfmi_ctx_present(ctx, unit, out, text, spec.name, why);
}

unsigned pfmi_ctx_instance(const struct pfm_ctx *ctx, const char *text, unsigned unit)
{
	struct spec spec;
	unsigned n;
	const struct unit *u = pfmi_ctx_units(ctx, &n) + unit;
	unsigned k;

	if (!u->kernel || u->kernel->n_instances < 2 || pfmi_spec_parse(text, &spec, NULL))
		return 0;
	k = pfmi_kernel_instance(u->kernel, spec.pmu.len ? spec.pmu : ctx->wanted_name);
	/* A list may be for one box of several: the socket's clock is in the first C-box. */
	return k ? k : pfmi_kernel_instance(u->kernel, pfmi_slice(table_text(u->table, u->table->device)));
}

unsigned pfmi_ctx_candidates(const struct pfm_ctx *ctx, const struct spec *spec, unsigned *units, unsigned max)
{
	struct slice pmu = spec->pmu.len ? spec->pmu : ctx->wanted_name;
	unsigned n, found = 0;
	const struct unit *u;

	if (pfmi_ctx_load(ctx, LOADED_ALL))
		return 0;
	u = pfmi_ctx_units(ctx, &n);
	for (unsigned i = 0; i < n && found < max; i++)
		if (pmu.len ? pfmi_unit_is(&u[i], pmu) || starts_like(&u[i], pmu)
		            : u[i].flags & PFM_PMU_HOST)
			units[found++] = i;
	return found;
}
