/* SPDX-License-Identifier: MIT */
/* Descriptions of PMUs, events, unit masks and field values. Each answer is found by its index. */
#include <string.h>
#include "lookup/lookup.h"
#include "base/sizes.h"
#include "machine/machine.h"

int pfm_count_pmus(const pfm_ctx_t *ctx)
{
	int rc;

	ctx = context_get_or_default(ctx);
	rc = pfmi_context_load(ctx, LOADED_ALL);
	return rc ? rc : (int)ctx->n_pmus;
}

static int find_named_pmu(const pfm_ctx_t *ctx, struct slice name)
{
	struct pmu_name_iter c = { 0 };

	return pfmi_context_next_named_pmu(ctx, name, pfmi_table_hash_name(name), &c);
}

int pfm_find_pmu(const pfm_ctx_t *ctx, const char *name)
{
	int found, rc;

	if (!name)
		return -1;
	ctx = context_get_or_default(ctx);
	found = find_named_pmu(ctx, pfmi_base_make_slice(name));
	if (found >= 0 || context_is_loaded(ctx, LOADED_ALL))
		return found;
	rc = pfmi_context_load(ctx, LOADED_ALL);
	return rc ? rc : find_named_pmu(ctx, pfmi_base_make_slice(name));
}

/* Loads what a description of PMU @pmu depends on. The table of another x86 processor is not this
 * machine's, whatever PMUs the kernel exports, so these are not read for it. */
static int load_for_description(const pfm_ctx_t *ctx, int pmu)
{
	const struct table *t = pmu >= 0 && (unsigned)pmu < table_count_builtins()
	                                ? table_get_builtin((unsigned)pmu)
	                                : NULL;
	unsigned core;
	int rc;

	if (!t || t->encoder != ENCODER_X86 || t->flags & TABLE_UNCORE || !t->n_matches ||
	    context_is_loaded(ctx, LOADED_ALL))
		return pfmi_context_load(ctx, LOADED_ALL);
	rc = pfmi_context_load(ctx, LOADED_HOST);
	if (rc || (ctx->host.is_known && !pfmi_machine_is_table_for_host(&ctx->host, t, &core)))
		return rc;
	return pfmi_context_load(ctx, LOADED_ALL);
}

int pfm_describe_pmu(const pfm_ctx_t *ctx, int pmu, perfmon_pmu_info_t *info)
{
	perfmon_pmu_info_t full;
	struct pmu_info u;
	const struct table *t;
	int rc;

	ctx = context_get_or_default(ctx);
	rc = load_for_description(ctx, pmu);
	if (rc)
		return rc;
	t = context_get_usable_table(ctx, pmu);
	if (!t || !base_has_struct_size(info))
		return PFMLIB_ERR_INVAL;
	u = pfmi_context_get_pmu(ctx, (unsigned)pmu);
	full = (perfmon_pmu_info_t){
		.name = table_get_text(t, t->name),
		.desc = table_get_text(t, t->desc),
		.aliases = table_get_text(t, t->aliases),
		.origin = u.origin,
		.source = table_get_text(t, t->source),
		.device = u.kernel_pmu ? u.kernel_pmu->name : table_get_text(t, t->device),
		.flags = u.flags,
		.type = u.perf_type,
		.libpfm_type = t->libpfm_type,
		.n_events = t->n_rows,
		.n_counters = (unsigned)__builtin_popcountll(t->all_counters & 0xffffffff),
		.n_fixed = (unsigned)__builtin_popcountll(t->all_counters >> 32),
		.width = t->n_counters ? table_counters(t)[0].width : 64,
		.n_instances = u.kernel_pmu             ? u.kernel_pmu->n_instances
		               : u.flags & PFM_PMU_HOST ? 1
		                                        : 0,
		.cpus = u.kernel_pmu ? u.kernel_pmu->cpu_list : "",
	};
	base_copy_struct_out(info, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

int pfm_describe_feature(const pfm_ctx_t *ctx, int pmu, unsigned i, const char **name,
                         const char **text, uint64_t *value)
{
	const struct table *t = context_get_usable_table(context_get_or_default(ctx), pmu);
	const struct feature *f;

	if (!t || !name || !text || !value)
		return PFMLIB_ERR_INVAL;
	if (i >= t->n_features)
		return PFMLIB_ERR_NOTFOUND;
	f = table_features(t) + i;
	*name = table_get_text(t, f->name);
	*text = table_get_text(t, f->text);
	*value = f->value;
	return PFMLIB_SUCCESS;
}

static double parse_scale(const char *text)
{
	double scale;

	return *text && pfmi_base_parse_decimal(text, &scale) && scale > 0 ? scale : 1;
}

static unsigned get_public_flags(const struct table *t, uint32_t event)
{
	const unsigned public_flags = PFM_EVENT_HIDDEN | PFM_EVENT_DEPRECATED | PFM_EVENT_ALONE |
	                              PFM_EVENT_PER_PKG | PFM_EVENT_EXPERIMENTAL | PFM_EVENT_ARCH |
	                              PFM_EVENT_METRIC;

	return (table_get_row(t, event)->flags & public_flags) |
	       table_get_row_sources(t, event) * PFM_EVENT_BY_VENDOR;
}

static inline void describe_key_value(const struct table *t, enum field_key key, uint64_t value,
                                      perfmon_event_info_t *info)
{
	const char *text = table_is_text_key(key) ? table_get_text(t, (uint32_t)value) : "";

	switch (key) {
	case KEY_HTOFF: info->counters_htoff = value; break;
	case KEY_PRECISE: info->precise = value <= 2 ? (int)value : 0; break;
	case KEY_PERIOD: info->period = value; break;
	case KEY_DETAIL: info->detail = text; break;
	case KEY_ERRATA: info->errata = text; break;
	case KEY_NOTE: info->note = text; break;
	case KEY_REPLACED: info->replaced = text; break;
	case KEY_UNIT: info->unit = text; break;
	case KEY_TOPIC: info->topic = text; break;
	case KEY_SCALE: info->scale = parse_scale(text); break;
	default: break;
	}
}

/* Copies the values of the row to the members they belong to. */
static void describe_row_values(const struct table *t, const struct row *r,
                                perfmon_event_info_t *info)
{
#define BIT(KEY) ((uint64_t)1 << KEY_##KEY)
	const uint64_t copied_keys = BIT(CODE) | BIT(HTOFF) | BIT(PRECISE) | BIT(PERIOD) |
	                             BIT(DETAIL) | BIT(ERRATA) | BIT(NOTE) | BIT(REPLACED) |
	                             BIT(UNIT) | BIT(SCALE) | BIT(TOPIC);
#undef BIT
	const struct field *f = table_fields(t);
	const uint32_t *packed = table_values(t) + r->first_value, *end = packed + r->n_values;

	for (; packed < end; packed++) {
		const uint32_t one = *packed;
		const enum field_key key = (enum field_key)f[one >> 24].key;
		struct field_value v;

		if (!(copied_keys >> key & 1))
			continue;
		v = table_unpack_value(t, one);
		if (v.counter != ANY_COUNTER)
			continue;
		if (key == KEY_CODE) /* nearly every row has a code, and few have more */
			info->code = v.value;
		else
			describe_key_value(t, key, v.value, info);
	}
}

/* For callers whose struct has fewer members than ours. */
static int describe_event_in_short_struct(const pfm_ctx_t *ctx, int pmu, unsigned event,
                                          perfmon_event_info_t *info)
{
	perfmon_event_info_t full = { .size = sizeof(full) };
	int rc = base_has_struct_size(info) ? pfm_describe_event(ctx, pmu, event, &full)
	                                    : PFMLIB_ERR_INVAL;

	if (rc == PFMLIB_SUCCESS)
		base_copy_struct_out(info, &full, sizeof(full));
	return rc;
}

int pfm_describe_event(const pfm_ctx_t *ctx, int pmu, unsigned event, perfmon_event_info_t *info)
{
	const struct table *t = context_get_usable_table(context_get_or_default(ctx), pmu);
	const struct row *r;
	const char *pool;
	unsigned flags;

	if (!t || !table_has_row(t, event) || !info)
		return PFMLIB_ERR_INVAL;
	if (info->size < sizeof(*info))
		return describe_event_in_short_struct(ctx, pmu, event, info);
	r = table_get_row(t, event);
	/* Read first: the compiler cannot prove that writes to @out do not change it. */
	flags = get_public_flags(t, event);
	pool = table_get_text(t, 0);
	info->pmu = pmu;
	info->event = event;
	info->name = pool + r->name;
	info->desc = table_get_text(t, r->desc);
	info->detail = info->errata = info->note = info->replaced = info->unit = info->topic = pool;
	info->scale = 1;
	info->code = info->counters_htoff = info->period = 0;
	info->counters = table_get_row_counter_mask(t, r);
	info->flags = flags;
	info->n_umasks = r->n_groups ? pfmi_pmu_count_row_umasks(t, event) : 0;
	info->n_fields = r->n_values;
	info->precise = 0;
	describe_row_values(t, r, info);
	return PFMLIB_SUCCESS;
}

/* Another word of the group with this value: an alias. */
static const char *find_other_spelling(const struct table *t, const struct umask_group *g,
                                       const struct named_value *w)
{
	const struct named_value *all = table_named_values(t) + g->first_named_value;

	for (unsigned i = g->n_values; i < g->n_named_values; i++)
		if (all[i].value == w->value)
			return table_get_text(t, all[i].name);
	return "";
}

int pfm_describe_umask(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i,
                       pfm_umask_info_t *info)
{
	const struct table *t = context_get_usable_table(context_get_or_default(ctx), pmu);
	const struct umask_group *g = NULL;
	const struct named_value *w;
	pfm_umask_info_t full;

	if (!t || !table_has_row(t, event) || !base_has_struct_size(info))
		return PFMLIB_ERR_INVAL;
	w = pfmi_pmu_get_row_umask(t, event, i, &g);
	if (!w)
		return PFMLIB_ERR_NOTFOUND;
	full = (pfm_umask_info_t){
		.group = table_get_text(t, g->name),
		.name = table_get_text(t, w->name),
		.desc = table_get_text(t, w->desc),
		.alias = find_other_spelling(t, g, w),
		.value = w->value,
		.is_combinable = (g->flags & GROUP_COMBINABLE) != 0,
		.is_default = g->flags & GROUP_HAS_DEFAULT &&
		              (g->flags & GROUP_COMBINABLE
		                       ? w->value && (w->value & ~g->default_value) == 0
		                       : w->value == g->default_value),
	};
	base_copy_struct_out(info, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

/* The words of a flag set, or the word of an enumeration, as text. */
static const char *get_field_word(const struct table *t, const struct field *f, uint64_t value)
{
	const struct named_value *w = table_named_values(t) + f->first_named_value;

	if (f->kind == FIELD_ENUMERATION)
		for (unsigned i = 0; i < f->n_named_values; i++)
			if (w[i].value == value)
				return table_get_text(t, w[i].name);
	return "";
}

int pfm_describe_field(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i, const char **name,
                       const char **text, uint64_t *value, int *counter)
{
	const struct table *t = context_get_usable_table(context_get_or_default(ctx), pmu);
	struct field_value v;
	const struct field *f;

	if (!t || !table_has_row(t, event) || !name || !text || !value || !counter)
		return PFMLIB_ERR_INVAL;
	if (i >= table_get_row(t, event)->n_values)
		return PFMLIB_ERR_NOTFOUND;
	v = table_get_row_value(t, table_get_row(t, event), i);
	f = table_fields(t) + v.field;
	*name = table_get_text(t, f->name);
	/* The offset of a text means nothing to callers. */
	*value = f->kind == FIELD_TEXT ? 0 : v.value;
	*text = f->kind == FIELD_TEXT ? table_get_text(t, (uint32_t)v.value)
	                              : get_field_word(t, f, v.value);
	*counter = v.counter == ANY_COUNTER ? -1 : v.counter;
	return PFMLIB_SUCCESS;
}

static int find_event_by_text(const pfm_ctx_t *ctx, const char *text, int *pmu, unsigned *event,
                              pfm_error_t *error)
{
	struct spec spec;
	unsigned found_pmu;
	uint32_t row;
	int rc;

	if (!text || !pmu || !event)
		return pfmi_base_refuse_argument(error, "an argument is NULL");
	rc = pfmi_spec_parse(text, &spec, error);
	if (!rc)
		rc = pfmi_lookup_row(context_get_or_default(ctx), &spec, &found_pmu, &row, error);
	if (rc)
		return rc;
	if (row == ROW_NONE)
		return pfmi_base_set_error(error, PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, text,
		                           pfmi_base_make_slice(text),
		                           "expected an event, got only fields");
	*pmu = (int)found_pmu;
	*event = row;
	return PFMLIB_SUCCESS;
}

int pfm_find_event_by_text(const pfm_ctx_t *ctx, const char *text, int *pmu, unsigned *event,
                           pfm_error_t *error)
{
	pfm_error_t mine, *why = base_choose_error_struct(error, &mine);

	return base_return_error(error, why, find_event_by_text(ctx, text, pmu, event, why));
}
