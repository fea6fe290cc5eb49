/* SPDX-License-Identifier: MIT */
/* Event names in one table. A name may contain the characters that also start an attribute, so the
 * longest prefix of the text that is a name wins:
 *
 *   MEM_LOAD_RETIRED.L3_MISS:u   "MEM_LOAD_RETIRED.L3_MISS", attribute ":u"
 *   L2_RQSTS:MISS:c=1            libpfm4's "L2_RQSTS:MISS", attribute ":c=1"
 *   L2_LINES_IN:BOTH_CORES       "L2_LINES_IN", unit mask ":BOTH_CORES"
 *
 * Alias rows are rows of libpfm4's events that accept several unit masks in one text. Their names
 * end with a separator in the table ("OFFCORE_RESPONSE_0."). */
#include <string.h>
#include "lookup/lookup_internal.h"

/* ---- alias rows ------------------------------------------------------------------------------ */

static struct name_entry end_name_at_prefix(struct spec *spec, unsigned i, struct name_entry n)
{
	spec->attrs.text = spec->name.text + spec->prefixes[i].len;
	spec->attrs.len = spec->len - (uint32_t)(spec->attrs.text - spec->text);
	return n;
}

/* Is @attr a unit mask of the row, by name or number, or one of its groups with a value? */
static bool is_row_attribute(const struct table *t, uint32_t row, struct slice attr)
{
	const struct row *r = table_get_row(t, row);
	const char *value = memchr(attr.text, '=', attr.len);
	struct slice name = { attr.text, value ? (uint32_t)(value - attr.text) : attr.len };

	if (attr.len > 2 && attr.text[0] == '0' && (attr.text[1] | 0x20) == 'x')
		return r->n_groups != 0;
	for (unsigned i = 0; i < r->n_groups; i++) {
		const struct umask_group *g = table_get_row_group(t, r, i);

		if (value && pfmi_base_is_slice_icase(name, table_get_text(t, g->name)))
			return true;
		if (!value &&
		    pfmi_table_find_named_value(t, g->first_named_value, g->n_named_values, name))
			return true;
	}
	return false;
}

/* Does @attr, which follows prefix @at, belong to the vendor's row @n? A unit mask of that row
 * does. A modifier does, except after an alias and after a longer name that is spelled with
 * colons. */
static bool is_vendor_attribute(const struct table *t, const struct spec *spec, unsigned at,
                                unsigned prefix, struct name_entry n, struct slice attr)
{
	if (n.kind >= NAME_UNSUPPORTED)
		return false;
	if (is_row_attribute(t, n.row, attr))
		return true;
	if (prefix < at)
		return spec->name.text[spec->prefixes[prefix].len] != ':';
	return n.kind != NAME_SYNONYM && pfmi_lookup_is_modifier(t, attr);
}

/* Do both rows have the same groups? Equal lists of groups are stored once. */
static bool has_same_groups(const struct table *t, uint32_t a, uint32_t b)
{
	const struct row *x = table_get_row(t, a), *y = table_get_row(t, b);

	return x->first_group == y->first_group && x->n_groups == y->n_groups;
}

/* The attribute that follows prefix @at, which is not the longest. */
static inline struct slice get_attribute_after(const struct spec *spec, unsigned at)
{
	const struct name_prefix *p = &spec->prefixes[at];

	return (struct slice){ spec->name.text + p->len + 1, p[1].len - p->len - 1 };
}

/* Finds the alias row that the text means, if the attribute after prefix @at is a unit mask of it
 * and does not belong to @vendors, the row that the prefix itself names. Not inlined: a bare name
 * takes 15 of 1,800 instructions less. */
__attribute__((noinline, cold)) static struct name_entry
lookup_alias_row(const struct table *t, struct spec *spec, unsigned at, struct name_entry vendors)
{
	const struct name_prefix *p = spec->prefixes;
	struct slice attr = get_attribute_after(spec, at);

	for (unsigned i = at + 1; i-- > 0;) {
		struct name_entry n = table_find_name(t, table_hash_separator(p[i].hash),
		                                      spec->name.text, p[i].len + 1);

		if (n.kind != NAME_SYNONYM || n.row < t->n_rows)
			continue;
		if (vendors.kind < NAME_UNSUPPORTED && has_same_groups(t, n.row, vendors.row))
			continue;
		if (is_row_attribute(t, n.row, attr) &&
		    !is_vendor_attribute(t, spec, at, i, vendors, attr))
			return end_name_at_prefix(spec, i, n);
	}
	return NAME_NOT_FOUND;
}

/* Can an alias row be meant where prefix @i, found as @n, ends the name? The first prefix is looked
 * up in any case: alone it may be no name. */
static bool may_have_alias_row(const struct table *t, const struct spec *spec, unsigned i,
                               struct name_entry n)
{
	if (i + 1 == spec->n_prefixes || !t->n_alias_rows)
		return false;
	if (i > 0)
		return n.kind != NAME_NONE;
	return n.kind != NAME_SYNONYM || n.row < t->n_rows;
}

/* Can @attr select an alias row: "ANY_REQUEST", "0x1f", "m0=ANY_REQUEST"? A level cannot. */
static inline bool may_select_alias_row(struct slice attr)
{
	return !lookup_is_level_letter(attr);
}

/* ---- names of a table ------------------------------------------------------------------------ */

struct name_entry pfmi_lookup_longest_prefix(const struct table *t, struct spec *spec,
                                             unsigned prefixes)
{
	for (unsigned i = spec->n_prefixes; i-- > 0;) {
		const struct name_prefix *p = &spec->prefixes[i];
		struct name_entry n;

		if (!(prefixes >> i & 1))
			continue;
		n = table_find_name(t, p->hash, spec->name.text, p->len);
		if (may_have_alias_row(t, spec, i, n) &&
		    may_select_alias_row(get_attribute_after(spec, i))) {
			struct name_entry alias = lookup_alias_row(t, spec, i, n);

			if (alias.kind != NAME_NONE)
				return alias;
		}
		if (n.kind != NAME_NONE)
			return end_name_at_prefix(spec, i, n);
	}
	return NAME_NOT_FOUND;
}

struct name_entry pfmi_lookup_spec_name(const struct table *t, struct spec *spec)
{
	return pfmi_lookup_longest_prefix(t, spec, ~0u);
}

struct name_entry pfmi_lookup_name_on_pmu(const struct pmu_search *s, unsigned pmu)
{
	if (!context_is_pmu_usable(s->ctx, pmu))
		return NAME_NOT_FOUND;
	return pfmi_lookup_longest_prefix(context_get_pmu_table(s->ctx, pmu), s->spec, ~0u);
}

int pfmi_lookup_accept_name(struct pmu_search *s, unsigned pmu, struct name_entry n)
{
	const struct table *t = context_get_pmu_table(s->ctx, pmu);

	if (n.kind == NAME_UNSUPPORTED)
		return pfmi_base_set_error(s->error, PFMLIB_ERR_ALIAS, PFM_KIND_UNSUPPORTED_ALIAS,
		                           s->spec->text, s->spec->name, table_get_text(t, n.row));
	s->pmu_index = pmu;
	s->table = t;
	s->row_index = n.row;
	return PFMLIB_SUCCESS;
}

int pfmi_lookup_refuse_damaged_image(const struct pmu_search *s, struct image_map *map)
{
	return pfmi_base_set_error(s->error, PFMLIB_ERR_IMAGE, PFM_KIND_IMAGE, s->spec->text,
	                           s->spec->pmu_name, pfmi_image_find_fault(map));
}

/* ---- generic names --------------------------------------------------------------------------- */

/* The built-in table of the kernel's generic hardware events, or NULL. */
static const struct table *get_generic_table(void)
{
	uint32_t h = pfmi_table_hash_name((struct slice){ "hardware", 8 }), at = 0;
	int i;

	while ((i = table_next_pmu_by_name(table_get_builtin_image(), h, &at)) >= 0) {
		const struct table *t;

		if ((unsigned)i >= table_count_builtins())
			continue;
		t = table_get_builtin((unsigned)i);
		if (t->encoder == ENCODER_PERF && t->perf_type == 0)
			return t;
	}
	return NULL;
}

static struct name_entry find_generic_name(const struct table *t, uint32_t hash, struct slice name)
{
	struct name_entry n = t ? table_find_name(t, hash, name.text, name.len) : NAME_NOT_FOUND;

	return n.kind < NAME_UNSUPPORTED ? n : NAME_NOT_FOUND;
}

bool pfmi_lookup_is_generic_name(uint32_t hash, struct slice name)
{
	return find_generic_name(get_generic_table(), hash, name).kind != NAME_NONE;
}

struct name_entry pfmi_lookup_generic_name(const struct pmu_search *s, unsigned pmu, uint32_t hash,
                                           struct slice name)
{
	bool is_core = pfmi_context_get_pmu(s->ctx, pmu).flags & PFM_PMU_CORE;
	const struct table *t = is_core ? get_generic_table() : NULL;
	struct name_entry generic = find_generic_name(t, hash, name);
	struct slice file;

	if (generic.kind == NAME_NONE)
		return NAME_NOT_FOUND;
	file = pfmi_base_make_slice(table_get_row_name(t, generic.row));
	return table_find_name(context_get_pmu_table(s->ctx, pmu), pfmi_table_hash_name(file),
	                       file.text, file.len);
}

struct name_entry pfmi_lookup_generic_prefix(struct pmu_search *s, unsigned pmu)
{
	struct spec *spec = s->spec;

	if (!context_is_pmu_usable(s->ctx, pmu))
		return NAME_NOT_FOUND;
	for (unsigned k = spec->n_prefixes; k-- > 0;) {
		struct slice name = { spec->name.text, spec->prefixes[k].len };
		struct name_entry n =
			pfmi_lookup_generic_name(s, pmu, spec->prefixes[k].hash, name);

		if (n.kind != NAME_NONE)
			return end_name_at_prefix(spec, k, n);
	}
	return NAME_NOT_FOUND;
}
