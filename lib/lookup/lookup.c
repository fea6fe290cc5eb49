/* SPDX-License-Identifier: MIT */
/* Text to event: the PMU, the row of its table, and the event that the attributes make of the row.
 * A text names its PMU ("skl::INST_RETIRED.ANY"), or the context has a default PMU, or it is about
 * this machine. lookup_named_pmu() and lookup_on_host() give the order for each case. */
#include <string.h>
#include "lookup/lookup_internal.h"

static int refuse_unknown_event(const struct pmu_search *s)
{
	return pfmi_base_set_error(s->error, PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT,
	                           s->spec->text, s->spec->name, NULL);
}

/* Logs that table @pmu was tried. */
static void log_table(const struct pmu_search *s, unsigned pmu, struct name_entry found)
{
	struct pmu_info info = pfmi_context_get_pmu(s->ctx, pmu);
	bool has_row = found.kind < NAME_UNSUPPORTED;

	pfmi_machine_log(&s->ctx->sys.log, LOG_LOOKUP, PFM_LOG_DEBUG, "%.*s: table %s (%s): %s%s",
	                 (int)s->spec->len, s->spec->text,
	                 table_get_text(info.table, info.table->name), info.origin,
	                 has_row                          ? "row "
	                 : found.kind == NAME_UNSUPPORTED ? "unsupported name"
	                                                  : "no row",
	                 has_row ? table_get_row_name(info.table, found.row) : "");
}

/* Looks for the prefixes in @prefixes on PMU @pmu, whose table is @t; stores the row that was
 * found. */
static int try_pmu(struct pmu_search *s, unsigned pmu, const struct table *t, unsigned prefixes)
{
	struct name_entry found = pfmi_lookup_longest_prefix(t, s->spec, prefixes);

	if (machine_is_logged(&s->ctx->sys.log, LOG_LOOKUP, PFM_LOG_DEBUG))
		log_table(s, pmu, found);
	return found.kind != NAME_NONE ? pfmi_lookup_accept_name(s, pmu, found)
	                               : PFMLIB_ERR_NOTFOUND;
}

/* ---- a named PMU ----------------------------------------------------------------------------- */

/* Steps 1 and 2 of lookup_named_pmu(): tables that have the PMU name themselves. */
static int lookup_in_named_pmus(struct pmu_search *s)
{
	struct pmu_name_iter iter = { 0 };
	int rc = PFMLIB_ERR_NOTFOUND, at;

	while (rc == PFMLIB_ERR_NOTFOUND &&
	       (at = pfmi_context_next_named_pmu(s->ctx, s->pmu_name, s->pmu_name_hash, &iter)) >=
	               0) {
		s->has_pmu = true;
		if (!context_is_image_usable(iter.image_map))
			return pfmi_lookup_refuse_damaged_image(s, iter.image_map);
		rc = try_pmu(s, (unsigned)at, iter.table, ~0u);
	}
	return rc;
}

/* The prefixes of the name that some member of @family may have, as a bit mask. */
static unsigned get_possible_prefixes(const struct image *im, const struct pmu_family *family,
                                      const struct spec *spec)
{
	unsigned prefixes = table_can_family_have_name(im, family, spec->prefixes[0].hash);

	for (unsigned i = 1; prefixes && i < spec->n_prefixes; i++)
		prefixes |= (unsigned)table_can_family_have_name(im, family, spec->prefixes[i].hash)
		            << i;
	return prefixes;
}

static int lookup_in_family(struct pmu_search *s, const struct pmu_source *source,
                            const struct pmu_family *family)
{
	const uint16_t *members = table_get_family_members(source->image, family);
	unsigned prefixes = get_possible_prefixes(source->image, family, s->spec);
	int rc = PFMLIB_ERR_NOTFOUND;

	if (!prefixes || !context_is_image_usable(source->image_map))
		return rc;
	for (uint32_t k = 0; rc == PFMLIB_ERR_NOTFOUND && k < family->n_members; k++)
		rc = try_pmu(s, source->first_pmu + members[k],
		             table_get_image_table(source->image, members[k]), prefixes);
	return rc;
}

/* Step 3 of the order above lookup_named_pmu(): the PMU name is a family's. */
static int lookup_families(struct pmu_search *s)
{
	unsigned n_sources;
	const struct pmu_source *sources = context_get_sources(s->ctx, &n_sources);
	int rc = PFMLIB_ERR_NOTFOUND;

	for (unsigned i = 0; rc == PFMLIB_ERR_NOTFOUND && i < n_sources; i++) {
		const struct image *im = sources[i].image;
		const struct pmu_family *family =
			im ? pfmi_context_find_family(im, s->pmu_name, s->pmu_name_hash) : NULL;

		s->has_pmu |= family != NULL;
		if (family)
			rc = lookup_in_family(s, &sources[i], family);
	}
	return rc;
}

/* Step 4: the kernel's name of a device, or of one instance of it, represents every table of it. */
static int lookup_kernel_device(struct pmu_search *s, const struct kernel_pmu *device)
{
	int rc = PFMLIB_ERR_NOTFOUND;

	for (unsigned i = 0; rc == PFMLIB_ERR_NOTFOUND && i < s->ctx->n_host_pmus; i++) {
		const struct host_pmu *host = &s->ctx->host_pmus[i];

		if (host->kernel_pmu != device)
			continue;
		s->has_pmu = true;
		if (context_is_pmu_usable(s->ctx, host->pmu_index))
			rc = try_pmu(s, host->pmu_index,
			             context_get_pmu_table(s->ctx, host->pmu_index), ~0u);
	}
	return rc;
}

/* Step 5: the kernel's generic names, on its device of that name. */
static int lookup_generic_on_device(struct pmu_search *s, const struct kernel_pmu *device)
{
	const struct pfm_ctx *ctx = s->ctx;
	struct name_entry found;
	unsigned pmu = ctx->first_kernel_pmu + (unsigned)(device - ctx->kernel->pmus);

	found = pfmi_lookup_generic_prefix(s, pmu);
	for (unsigned i = 0; found.kind == NAME_NONE && i < ctx->n_host_pmus; i++) {
		if (ctx->host_pmus[i].kernel_pmu != device)
			continue;
		pmu = ctx->host_pmus[i].pmu_index;
		found = pfmi_lookup_generic_prefix(s, pmu);
	}
	return found.kind != NAME_NONE ? pfmi_lookup_accept_name(s, pmu, found)
	                               : PFMLIB_ERR_NOTFOUND;
}

static int lookup_on_device(struct pmu_search *s)
{
	const struct kernel_pmu *device =
		s->ctx->kernel ? pfmi_machine_find_kernel_pmu(s->ctx->kernel, s->pmu_name) : NULL;
	int rc;

	if (!device)
		return PFMLIB_ERR_NOTFOUND;
	rc = lookup_kernel_device(s, device);
	if (rc == PFMLIB_ERR_NOTFOUND && s->has_pmu)
		rc = lookup_generic_on_device(s, device);
	return rc;
}

/* Step 6: a box by its number. pfmi_lookup_spec_instance() tells later which instance the number
 * selects. */
static int lookup_numbered_box(struct pmu_search *s)
{
	struct pmu_search box = *s;
	struct pmu_name_iter iter = { 0 };
	int at, rc;

	box.pmu_name.len = base_measure_without_number(s->pmu_name);
	box.pmu_name_hash = pfmi_table_hash_name(box.pmu_name);
	if (box.pmu_name.len == s->pmu_name.len)
		return PFMLIB_ERR_NOTFOUND;
	at = pfmi_context_next_named_pmu(s->ctx, box.pmu_name, box.pmu_name_hash, &iter);
	if (at < 0 || !(iter.table->flags & TABLE_UNCORE) ||
	    !pfmi_lookup_has_box_number(s->ctx, (unsigned)at, s->pmu_name))
		return PFMLIB_ERR_NOTFOUND;
	rc = lookup_in_named_pmus(&box);
	box.pmu_name = s->pmu_name;
	box.pmu_name_hash = s->pmu_name_hash;
	*s = box;
	return rc;
}

/* Loads images and the kernel's PMUs, where a PMU of that name is not known without them. */
static int lookup_after_full_load(struct pmu_search *s)
{
	int rc = pfmi_context_require_all(s->ctx, s->error);

	return rc ? rc : lookup_in_named_pmus(s);
}

/*
 * Lookup order when the text or the context names the PMU. The first step that has the event ends
 * the search; in each table the longest prefix of the text that is a name wins (names.c).
 *
 *  1. PMUs of that name: images that the caller chose, the built-in image, other images, the
 *     kernel's own            skl::INST_RETIRED.ANY
 *  2. PMUs with that alias, from the same sources
 *                             amd64_fam19h_zen4::RETIRED_INSTRUCTIONS
 *  3. members of the family of that name
 *                             skx::UNC_CHA_CLOCKTICKS is on skx_uncore_cha
 *  4. tables of the kernel's device of that name
 *                             uncore_imc_3::UNC_M_CAS_COUNT.RD, cpu_core::INST_RETIRED.ANY
 *  5. the kernel's generic names on that device
 *                             cpu_core::cycles
 *  6. a box outside the cores by its number
 *                             skx_unc_cha3::UNC_C_CLOCKTICKS
 *
 * Images and the kernel's PMUs are loaded only if the built-in image has no PMU of that name, or
 * if the caller chose images. Steps 4 and 5 apply once they are loaded.
 */
static int lookup_named_pmu(struct pmu_search *s)
{
	int rc = PFMLIB_SUCCESS;

	if (s->ctx->image_path && !context_is_loaded(s->ctx, LOADED_ALL))
		rc = pfmi_context_require_all(s->ctx, s->error);
	if (rc)
		return rc;
	rc = lookup_in_named_pmus(s);
	if (rc == PFMLIB_ERR_NOTFOUND && !s->has_pmu && !context_is_loaded(s->ctx, LOADED_ALL))
		rc = lookup_after_full_load(s);
	if (rc == PFMLIB_ERR_NOTFOUND)
		rc = lookup_families(s);
	if (rc == PFMLIB_ERR_NOTFOUND && context_is_loaded(s->ctx, LOADED_ALL))
		rc = lookup_on_device(s);
	if (rc == PFMLIB_ERR_NOTFOUND && !s->has_pmu)
		rc = lookup_numbered_box(s);
	if (rc != PFMLIB_ERR_NOTFOUND)
		return rc;
	if (!s->has_pmu)
		return pfmi_base_set_error(s->error, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU,
		                           s->spec->text, s->spec->pmu_name, NULL);
	return refuse_unknown_event(s);
}

/* ---- no PMU is named ------------------------------------------------------------------------- */

/* A context without a host: finds the name if one listed PMU alone has it. */
static int lookup_unique_pmu(struct pmu_search *s)
{
	struct name_entry first = NAME_NOT_FOUND;
	struct slice attrs = s->spec->attrs;
	unsigned pmu = 0;

	for (unsigned i = 0; i < s->ctx->n_pmus; i++) {
		bool hidden = context_get_pmu_table(s->ctx, i)->flags &
		              (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY);
		struct name_entry found = hidden ? NAME_NOT_FOUND : pfmi_lookup_name_on_pmu(s, i);

		if (found.kind == NAME_NONE)
			continue;
		if (first.kind != NAME_NONE)
			return pfmi_base_set_error(s->error, PFMLIB_ERR_AMBIGUOUS,
			                           PFM_KIND_AMBIGUOUS, s->spec->text, s->spec->name,
			                           NULL);
		first = found;
		pmu = i;
		attrs = s->spec->attrs;
	}
	s->spec->attrs = attrs;
	return first.kind != NAME_NONE ? pfmi_lookup_accept_name(s, pmu, first)
	                               : refuse_unknown_event(s);
}

/* Does a PMU outside the cores have an event called like a generic one? perf means the generic
 * one. */
static bool is_generic_event(const struct pmu_search *s, unsigned pmu)
{
	struct slice name = { s->spec->name.text,
		              (uint32_t)(s->spec->attrs.text - s->spec->name.text) };

	return pmu >= s->ctx->first_kernel_pmu &&
	       !(pfmi_context_get_pmu(s->ctx, pmu).flags & PFM_PMU_CORE) &&
	       pfmi_lookup_is_generic_name(pfmi_table_hash_name(name), name);
}

/*
 * Lookup order when no PMU is named: this machine's PMUs, as context->search_order lists them.
 *
 *  1. the kernel's own PMUs   cpu-cycles, msr's tsc
 *  2. loaded images           an imported list of this processor
 *  3. built-in tables         INST_RETIRED.ANY on a Skylake
 *
 * A context without a host has no such PMUs: lookup_unique_pmu().
 */
static int lookup_on_host(struct pmu_search *s)
{
	int rc = pfmi_context_require_all(s->ctx, s->error);

	if (rc)
		return rc;
	if (s->ctx->flags & PFM_CTX_NO_HOST)
		return lookup_unique_pmu(s);
	for (unsigned i = 0; i < s->ctx->n_search_order; i++) {
		unsigned pmu = s->ctx->search_order[i];
		struct name_entry found = pfmi_lookup_name_on_pmu(s, pmu);

		if (machine_is_logged(&s->ctx->sys.log, LOG_LOOKUP, PFM_LOG_DEBUG))
			log_table(s, pmu, found);
		if (found.kind != NAME_NONE && !is_generic_event(s, pmu))
			return pfmi_lookup_accept_name(s, pmu, found);
	}
	return refuse_unknown_event(s);
}

/* ---- functions for other modules ------------------------------------------------------------- */

static int lookup_spec(struct pmu_search *s)
{
	if (s->spec->form == SPEC_PERF)
		return pfmi_lookup_perf_spec(s);
	if (!s->spec->pmu_name.len && !s->ctx->default_pmu)
		return lookup_on_host(s);
	s->pmu_name = s->spec->pmu_name;
	s->pmu_name_hash = s->spec->pmu_name_hash;
	if (!s->pmu_name.len) {
		s->pmu_name = s->ctx->default_pmu_name;
		s->pmu_name_hash = s->ctx->default_pmu_hash;
	}
	return lookup_named_pmu(s);
}

/* Linux calls Intel's metric Memory_Bound tma_memory_bound. Finds the metric @spec names so, in
 * @s. */
static bool find_metric_of_linux(struct pmu_search *s, const struct spec *spec)
{
	static const char prefix[] = "tma_";
	size_t n = sizeof(prefix) - 1, before = (size_t)(spec->name.text - spec->text);
	char text[256];
	struct spec shorter;

	if (spec->form != SPEC_NAME || spec->name.len <= n || spec->len >= sizeof(text) ||
	    !pfmi_base_skip_prefix_icase(pfmi_base_make_slice(prefix), spec->name.text))
		return false;
	memcpy(text, spec->text, before);
	memcpy(text + before, spec->name.text + n, spec->len - before - n);
	text[spec->len - n] = '\0';
	*s = (struct pmu_search){ .ctx = s->ctx, .spec = &shorter };
	return !pfmi_spec_parse(text, &shorter, NULL) && !lookup_spec(s) &&
	       s->row_index != ROW_NONE &&
	       table_get_row(context_get_pmu_table(s->ctx, s->pmu_index), s->row_index)->flags &
	               ROW_METRIC;
}

int pfmi_lookup_row(const struct pfm_ctx *ctx, struct spec *spec, unsigned *pmu, uint32_t *row,
                    pfm_error_t *why)
{
	struct pmu_search s = { .ctx = ctx, .spec = spec, .error = why };
	int rc = lookup_spec(&s);

	if (rc && (rc != PFMLIB_ERR_NOTFOUND || !find_metric_of_linux(&s, spec)))
		return rc;
	*pmu = s.pmu_index;
	*row = s.row_index;
	return PFMLIB_SUCCESS;
}

/* The processor at hand says itself which architectural events it lacks. Everything is loaded where
 * the PMU may be this machine's, so that the answer does not depend on earlier queries. */
static int check_architectural_event(const struct pfm_ctx *ctx, unsigned pmu,
                                     const struct event *ev, const char *text, struct slice at,
                                     pfm_error_t *why)
{
	unsigned core;
	int rc;

	/* An assumed processor does not say what it lacks. */
	if (ctx->flags & PFM_CTX_NO_HOST || ctx->assumed_cpuid || !ctx->sys.read_cpuid)
		return PFMLIB_SUCCESS;
	rc = pfmi_context_load(ctx, LOADED_HOST);
	if (rc || !pfmi_machine_is_table_for_host(&ctx->host, ev->table, &core))
		return rc;
	rc = pfmi_context_require_all(ctx, why);
	if (rc)
		return rc;
	if (!(pfmi_context_get_pmu(ctx, pmu).flags & PFM_PMU_HOST) || !ctx->host.pmu_version ||
	    !(ctx->host.missing_arch_events >>
	              (pfmi_pmu_get_key_value(ev, KEY_ARCH_BIT, ANY_COUNTER) & 31) &
	      1))
		return PFMLIB_SUCCESS;
	return pfmi_base_set_error(why, PFMLIB_ERR_BADHOST, PFM_KIND_NOT_ON_CPU, text, at, NULL);
}

int pfmi_lookup_check_present(const struct pfm_ctx *ctx, unsigned pmu, const struct event *ev,
                              const char *text, struct slice at, pfm_error_t *why)
{
	return event_has_key(ev, KEY_ARCH_BIT)
	               ? check_architectural_event(ctx, pmu, ev, text, at, why)
	               : PFMLIB_SUCCESS;
}

/* For a name that no event has: finds a raw number, or an event that only the kernel has. */
static int lookup_raw_or_kernel(const struct pfm_ctx *ctx, struct spec *spec, int rc, unsigned *pmu,
                                struct event *out, pfm_error_t *why)
{
	uint64_t raw;
	int other;

	if (pfmi_lookup_raw_number(ctx, spec, pmu, &raw))
		return pfmi_lookup_read_raw_event(context_get_pmu_table(ctx, *pmu), raw, spec, out,
		                                  why);
	if (spec->pmu_name.len || ctx->default_pmu || ctx->flags & PFM_CTX_NO_HOST)
		return rc;
	other = pfmi_lookup_kernel_event(ctx, spec, pmu, out, why);
	return other != PFMLIB_ERR_NOTFOUND ? other : rc;
}

/* Refuses terms that are all levels or modifiers ("cpu/u/"): no bit of them selects an event. */
static int refuse_terms_without_event(const struct pmu_search *s)
{
	return pfmi_base_set_error(s->error, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, s->spec->text,
	                           s->spec->attrs,
	                           "no term names an event; add its name or \"config=\"");
}

/* The row that was found with the text's attributes; without them if numbers alone led to the
 * row. */
static int build_found_event(struct pmu_search *s, bool by_numbers, struct event *out)
{
	int rc = PFMLIB_SUCCESS;

	if (by_numbers) {
		pfmi_pmu_init_event(out, s->table, s->row_index);
	} else {
		rc = pfmi_lookup_resolve_attrs(s->table, s->row_index, s->spec, out, s->error);
		if (!rc && s->row_index == ROW_NONE && !out->n_user_fields)
			rc = refuse_terms_without_event(s);
		if (!rc && s->row_index == ROW_NONE)
			pfmi_lookup_adopt_row(out);
	}
	return rc ? rc
	          : pfmi_lookup_check_present(s->ctx, s->pmu_index, out, s->spec->text,
	                                      s->spec->name, s->error);
}

int pfmi_lookup_spec_event(const struct pfm_ctx *ctx, struct spec *spec, unsigned *pmu,
                           struct event *out, pfm_error_t *why)
{
	struct pmu_search s = { .ctx = ctx, .spec = spec, .error = why };
	bool by_numbers;
	int rc = lookup_spec(&s);

	if (rc == PFMLIB_ERR_NOTFOUND && spec->form != SPEC_PERF)
		return lookup_raw_or_kernel(ctx, spec, rc, pmu, out, why);
	if (rc)
		return rc;
	*pmu = s.pmu_index;
	by_numbers = s.codes.n_terms && pfmi_pmu_find_row_by_codes(s.table, &s.codes, &s.row_index);
	return build_found_event(&s, by_numbers, out);
}

int pfmi_lookup_event(const struct pfm_ctx *ctx, const char *text, unsigned *pmu, struct event *out,
                      pfm_error_t *why)
{
	struct spec spec;
	int rc = pfmi_spec_parse(text, &spec, why);

	return rc ? rc : pfmi_lookup_spec_event(ctx, &spec, pmu, out, why);
}

int pfmi_lookup_event_on_pmu(const struct pfm_ctx *ctx, const char *text, unsigned pmu,
                             struct event *out, pfm_error_t *why)
{
	struct spec spec;
	struct pmu_search s = { .ctx = ctx, .spec = &spec, .error = why };
	struct name_entry found;
	int rc = pfmi_spec_parse(text, &spec, why);

	if (rc)
		return rc;
	if (pmu >= context_count_pmus(ctx) || spec.form == SPEC_PERF)
		return pfmi_base_refuse_argument(why, NULL);
	found = pfmi_lookup_name_on_pmu(&s, pmu);
	rc = found.kind != NAME_NONE ? pfmi_lookup_accept_name(&s, pmu, found)
	                             : refuse_unknown_event(&s);
	if (!rc)
		rc = pfmi_lookup_resolve_attrs(context_get_pmu_table(ctx, pmu), s.row_index, &spec,
		                               out, why);
	return rc ? rc : pfmi_lookup_check_present(ctx, pmu, out, text, spec.name, why);
}
