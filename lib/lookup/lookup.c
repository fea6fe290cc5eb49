/* SPDX-License-Identifier: MIT */
/* Which processor and which row a text means. A named processor is searched alone; without a name it is the one the context was
 * given, else this machine's: what the kernel shows first, then imported lists, then what is built in. Nothing here walks over all
 * processors, but for names that none was given for. */
#include <string.h>
#include "lookup/lookup_internal.h"

static struct name_entry end_name_at_prefix(struct spec *spec, unsigned i, struct name_entry n)
{
	spec->attrs.text = spec->name.text + spec->prefixes[i].len;
	spec->attrs.len = spec->len - (uint32_t)(spec->attrs.text - spec->text);
	return n;
}

/* Is @attr a unit mask of the row, by name or number, or one of its groups with a value? */
static bool is_row_attribute(const struct table *t, uint32_t row, struct slice attr)
{
	const char *value = memchr(attr.text, '=', attr.len);
	struct slice name = { attr.text, value ? (uint32_t)(value - attr.text) : attr.len };

	if (attr.len > 2 && attr.text[0] == '0' && (attr.text[1] | 0x20) == 'x')
		return table_row(t, row)->n_groups != 0;
	for (unsigned i = 0; i < table_row(t, row)->n_groups; i++) {
		const struct umask_group *g = table_row_group_at(t, table_row(t, row), i);

		if (value && pfmi_base_is_slice_icase(name, table_text(t, g->name)))
			return true;
		if (!value && pfmi_table_find_named_value(t, g->first_named_value, g->n_named_values, name))
			return true;
	}
	return false;
}

/* Is what stands behind piece @at the vendor's, whose name @n is? A mask of its row is, a modifier behind a name of its own, and behind a
 * longer one that is not spelled with colons. */
static bool is_vendor_attribute(const struct table *t, const struct spec *spec, unsigned at, unsigned event, struct name_entry n, struct slice attr)
{
	if (n.kind >= NAME_UNSUPPORTED)
		return false;
	if (is_row_attribute(t, n.row, attr))
		return true;
	if (event < at)
		return spec->name.text[spec->prefixes[event].len] != ':';
	return n.kind != NAME_SYNONYM && pfmi_lookup_is_modifier(t, attr);
}

/* Have the two rows the same groups? They are stored once. */
static bool has_same_groups(const struct table *t, uint32_t a, uint32_t b)
{
	return table_row(t, a)->first_group == table_row(t, b)->first_group && table_row(t, a)->n_groups == table_row(t, b)->n_groups;
}

/* An event of libpfm4's that takes several masks is known by its name and the separator behind it: the shorter name may be another one
 * of a row of the vendor's. It is meant where the attribute behind piece @at is a mask of it, and not the vendor's. */
static struct name_entry lookup_alias_row(const struct table *t, struct spec *spec, unsigned at, struct name_entry vendors)
{
	struct slice attr = { spec->name.text + spec->prefixes[at].len + 1, spec->prefixes[at + 1].len - spec->prefixes[at].len - 1 };

	for (unsigned i = at + 1; i-- > 0;) {
		struct name_entry n = table_find_name(t, table_hash_char(spec->prefixes[i].hash, '.'), spec->name.text, spec->prefixes[i].len + 1);

		if (n.kind != NAME_SYNONYM || n.row < t->n_rows || (vendors.kind < NAME_UNSUPPORTED && has_same_groups(t, n.row, vendors.row)))
			continue;
		if (is_row_attribute(t, n.row, attr) && !is_vendor_attribute(t, spec, at, i, vendors, attr))
			return end_name_at_prefix(spec, i, n);
	}
	return NAME_NOT_FOUND;
}

/* May @t have the name with hash @h with a separator behind it? */
static inline bool may_have_alias_row(const struct table *t, uint32_t h)
{
	h = table_hash_char(h, '.');
	return table_can_slot_match(t, h, table_probe_slot(t, h, table_first_slot(h, t->n_slots)));
}

/* Is what was found up to cut @i libpfm4's, and nothing shorter could be? With a separator behind it the name is that row's, too. */
static inline bool is_shortest_alias_row(const struct table *t, struct name_entry n, unsigned i)
{
	return i == 0 && n.kind == NAME_SYNONYM && n.row >= t->n_rows;
}

/* The longest piece of the name, of those in @pieces (bit i: up to cut i), that is a name of @t. On success spec->rest is what follows
 * it. */
static struct name_entry lookup_longest_prefix(const struct table *t, struct spec *spec, unsigned pieces)
{
	for (unsigned i = spec->n_prefixes; i-- > 0;) {
		struct name_entry n, lent = NAME_NOT_FOUND;

		if (!(pieces >> i & 1))
			continue;
		n = table_find_name(t, spec->prefixes[i].hash, spec->name.text, spec->prefixes[i].len);
		if (t->n_alias_rows && i + 1 < spec->n_prefixes && !is_shortest_alias_row(t, n, i) && (n.kind != NAME_NONE || (i == 0 && may_have_alias_row(t, spec->prefixes[0].hash))))
			lent = lookup_alias_row(t, spec, i, n);
		if (lent.kind != NAME_NONE)
			return lent;
		if (n.kind != NAME_NONE)
			return end_name_at_prefix(spec, i, n);
	}
	return NAME_NOT_FOUND;
}

/* The same on unit @unit, if its rows may be read. */
static struct name_entry lookup_name_on_pmu(const struct pmu_search *s, unsigned unit)
{
	return context_is_pmu_usable(s->ctx, unit) ? lookup_longest_prefix(context_pmu_table(s->ctx, unit), s->spec, ~0u) : NAME_NOT_FOUND;
}

static int accept_row(struct pmu_search *s, unsigned unit, const struct table *t, struct name_entry n)
{
	if (n.kind == NAME_UNSUPPORTED)
		return pfmi_base_set_error(s->error, PFMLIB_ERR_ALIAS, PFM_KIND_UNSUPPORTED_ALIAS, s->spec->text, s->spec->name,
		                           table_text(t, n.row));
	s->pmu_index = unit;
	s->table = t;
	s->row_index = n.row;
	return PFMLIB_SUCCESS;
}

int pfmi_lookup_accept_name(struct pmu_search *s, unsigned unit, struct name_entry n)
{
	return accept_row(s, unit, context_pmu_table(s->ctx, unit), n);
}

static int refuse_unknown_event(const struct pmu_search *s)
{
	/* What stands before the attributes: the whole run up to the first ',', where nothing shorter is known either. */
	return pfmi_base_set_error(s->error, PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, s->spec->text, s->spec->name, NULL);
}

int pfmi_lookup_refuse_damaged_image(const struct pmu_search *s, struct image_map *map)
{
	return pfmi_base_set_error(s->error, PFMLIB_ERR_IMAGE, PFM_KIND_IMAGE, s->spec->text, s->spec->pmu_name, pfmi_image_check_fault(map));
}

/* Does a name of @t, which is in @map, or of a part of its processor begin with the first piece of the text? */
static inline bool may_have_first_prefix(const struct table *t, const struct image_map *map, const struct spec *spec)
{
	const struct image *im = map ? map->image : table_builtin_image();
	const struct pmu_family *wholes = table_image_array(im, ARRAY_FAMILIES);

	return !t->family_plus1 || table_can_family_have_name(im, &wholes[t->family_plus1 - 1], spec->prefixes[0].hash);
}

/* The name of @t that the text begins with, where all of it is none. One word behind it is mostly a mask of libpfm4's event. */
static struct name_entry lookup_shorter_prefix(const struct table *t, const struct image_map *map, struct spec *spec)
{
	unsigned last = spec->n_prefixes - 1;
	struct name_entry n = last == 1 ? table_find_name_fast(t, spec->prefixes[0].hash, spec->name.text, spec->prefixes[0].len) : NAME_NOT_FOUND;

	if (is_shortest_alias_row(t, n, 0))
		return end_name_at_prefix(spec, 0, n);
	return may_have_first_prefix(t, map, spec) ? lookup_longest_prefix(t, spec, (1u << last) - 1) : NAME_NOT_FOUND;
}

/* The name of @t that the text begins with. Mostly it is all of the text. */
static inline struct name_entry lookup_name_in_table(const struct table *t, const struct image_map *map, struct spec *spec)
{
	unsigned last = spec->n_prefixes - 1;
	struct name_entry n = table_find_name_fast(t, spec->prefixes[last].hash, spec->name.text, spec->prefixes[last].len);

	if (n.kind != NAME_NONE)
		return end_name_at_prefix(spec, last, n);
	return last ? lookup_shorter_prefix(t, map, spec) : NAME_NOT_FOUND;
}

/* The same where it is no step of most encodings. */
static struct name_entry lookup_name_in_table_shared(const struct table *t, const struct image_map *map, struct spec *spec)
{
	return lookup_name_in_table(t, map, spec);
}

/* Looks on every unit that answers to the processor's name, freshest first, until one has the event; from slot @from less 1 of the first
 * stage on, 0: from where they begin. */
static int lookup_in_named_pmus(struct pmu_search *s, uint32_t from)
{
	struct pmu_name_iter c = { .next_slot = from };
	int at;

	while ((at = context_next_named_pmu(s->ctx, s->pmu_name, s->pmu_name_hash, &c)) >= 0) {
		bool ready = context_is_image_usable(c.image_map);
		struct name_entry found = ready ? lookup_name_in_table_shared(c.table, c.image_map, s->spec) : NAME_NOT_FOUND;

		if (found.kind != NAME_NONE)
			return accept_row(s, (unsigned)at, c.table, found);
		s->has_pmu = true;
		if (!ready)
			return pfmi_lookup_refuse_damaged_image(s, c.image_map);
		if (c.pass == 0 && !s->first_named_table) {
			s->first_named_table = c.table;
			s->named_source = c.source_index;
		}
	}
	s->may_be_family = c.may_be_family;
	return PFMLIB_ERR_NOTFOUND;
}

/* The same where @slot alone of the first of the @n stages may be for the processor's name: another name of a table, or a whole's name. */
static int lookup_pmu_alias(struct pmu_search *s, const struct pmu_source *st, unsigned n, uint32_t slot)
{
	uint32_t i = (slot & PMU_NAME_NUMBER_MASK) - 1;
	struct name_entry found;

	for (unsigned k = 1; k < n; k++)
		if (source_may_have_name(&st[k], s->pmu_name_hash))
			return lookup_in_named_pmus(s, 0);
	s->may_be_family = !(slot & PMU_NAME_IS_ALIAS);
	if (s->may_be_family || i >= st->n_pmus || !pfmi_context_table_has_alias(table_image_table_at(st->image, i), s->pmu_name))
		return PFMLIB_ERR_NOTFOUND;
	found = lookup_name_in_table(table_image_table_at(st->image, i), NULL, s->spec);
	if (found.kind != NAME_NONE)
		return accept_row(s, st->first_pmu + i, table_image_table_at(st->image, i), found);
	s->has_pmu = true;
	return PFMLIB_ERR_NOTFOUND;
}

/* The same from the start. Mostly the first slot is that of the one table of that name, which has the event. */
static inline int lookup_pmu(struct pmu_search *s)
{
	unsigned n;
	const struct pmu_source *st = context_get_sources(s->ctx, &n);
	uint32_t at = source_find_slot(st, s->pmu_name_hash), slot = st->name_slots[at], i = (slot & (PMU_NAME_IS_ALIAS | PMU_NAME_NUMBER_MASK)) - 1;
	const struct table *t;
	struct name_entry found;

	if (!slot || slot >> 16 != (uint16_t)s->pmu_name_hash || !st->image || st->image_map)
		return lookup_in_named_pmus(s, 0);
	at = at + 1 < st->n_name_slots ? at + 1 : 0;
	if (i >= st->n_pmus)
		return st->name_slots[at] >> 16 != slot >> 16 ? lookup_pmu_alias(s, st, n, slot) : lookup_in_named_pmus(s, 0);
	t = table_image_table_at(st->image, i);
	if (!context_table_has_own_name(t, s->pmu_name))
		return lookup_in_named_pmus(s, 0);
	found = lookup_name_in_table(t, NULL, s->spec);
	if (found.kind != NAME_NONE)
		return accept_row(s, st->first_pmu + i, t, found);
	s->has_pmu = true;
	s->first_named_table = t;
	return lookup_in_named_pmus(s, at + 1);
}

/* Looks for the @pieces on each part of @w, which is in stage @st. */
static int lookup_in_family_members(struct pmu_search *s, const struct pmu_source *st, const struct pmu_family *w, unsigned pieces)
{
	const uint16_t *parts = table_family_members(st->image, w);

	for (uint32_t k = 0; k < w->n_members && context_is_image_usable(st->image_map); k++) {
		const struct table *t = table_image_table_at(st->image, parts[k]);
		struct name_entry found = lookup_longest_prefix(t, s->spec, pieces);

		if (found.kind != NAME_NONE)
			return accept_row(s, st->first_pmu + parts[k], t, found);
	}
	return PFMLIB_ERR_NOTFOUND;
}

/* The pieces of the name that some part of @w may have. None, where no name begins with the first of them. */
static unsigned get_possible_prefixes(const struct image *im, const struct pmu_family *w, const struct spec *spec)
{
	unsigned pieces = table_can_family_have_name(im, w, spec->prefixes[0].hash);

	for (unsigned i = 1; pieces && i < spec->n_prefixes; i++)
		pieces |= (unsigned)table_can_family_have_name(im, w, spec->prefixes[i].hash) << i;
	return pieces;
}

/* What the processor's name stands for in stage number @i beside a table; NULL for nothing. */
static inline const struct pmu_family *get_source_family(const struct pmu_search *s, const struct pmu_source *st, unsigned i)
{
	const struct pmu_family *wholes;

	if (!st->image)
		return NULL;
	if (!s->first_named_table || s->named_source != i)
		return s->may_be_family ? pfmi_context_find_family(st->image, s->pmu_name, s->pmu_name_hash) : NULL;
	wholes = table_image_array(st->image, ARRAY_FAMILIES);
	return s->first_named_table->family_plus1 ? &wholes[s->first_named_table->family_plus1 - 1] : NULL;
}

/* "skx" also stands for its parts "skx_uncore_cha" ... */
static int lookup_family(struct pmu_search *s)
{
	unsigned n_stages;
	const struct pmu_source *stages = context_get_sources(s->ctx, &n_stages);
	int rc = PFMLIB_ERR_NOTFOUND;

	for (unsigned i = 0; rc == PFMLIB_ERR_NOTFOUND && i < n_stages; i++) {
		const struct pmu_source *st = &stages[i];
		const struct pmu_family *w = get_source_family(s, st, i);

		s->has_pmu |= w != NULL;
		unsigned pieces = w ? get_possible_prefixes(st->image, w, s->spec) : 0;

		if (pieces)
			rc = lookup_in_family_members(s, st, w, pieces);
	}
	return rc;
}

/* The kernel's name, of one instance ("uncore_imc_3") or of all, stands for every table that describes the PMU. */
static int lookup_kernel_device(struct pmu_search *s, const struct kernel_pmu *device)
{
	for (unsigned i = 0; i < s->ctx->n_host_pmus; i++) {
		struct name_entry found;

		if (s->ctx->host_pmus[i].kernel_pmu != device)
			continue;
		s->has_pmu = true;
		found = lookup_name_on_pmu(s, s->ctx->host_pmus[i].pmu_index);
		if (found.kind != NAME_NONE)
			return pfmi_lookup_accept_name(s, s->ctx->host_pmus[i].pmu_index, found);
	}
	return PFMLIB_ERR_NOTFOUND;
}

/* The kernel's generic events, of which all kernels have the same. */
static const struct table *get_generic_table(void)
{
	struct slice name = { "hardware", 8 };
	uint32_t h = pfmi_table_hash_name(name), at = 0;
	int i;

	while ((i = table_next_pmu_by_name(table_builtin_image(), h, &at)) >= 0)
		if ((unsigned)i < table_count_builtins() && table_builtin_at((unsigned)i)->encoder == ENCODER_PERF &&
		    table_builtin_at((unsigned)i)->perf_type == 0)
			return table_builtin_at((unsigned)i);
	return NULL;
}

struct name_entry pfmi_lookup_generic_name(const struct pmu_search *s, unsigned unit, uint32_t h, struct slice name)
{
	const struct table *t = pfmi_context_get_pmu(s->ctx, unit).flags & PFM_PMU_CORE ? get_generic_table() : NULL;
	struct name_entry generic = t ? table_find_name(t, h, name.text, name.len) : NAME_NOT_FOUND;
	struct slice file;

	if (generic.kind >= NAME_UNSUPPORTED)
		return NAME_NOT_FOUND;
	file = pfmi_base_make_slice(table_row_name(t, generic.row));
	return table_find_name(context_pmu_table(s->ctx, unit), pfmi_table_hash_name(file), file.text, file.len);
}

/* The longest piece of the name that is a generic one, on unit @unit. */
static struct name_entry lookup_generic_prefix(const struct pmu_search *s, unsigned unit)
{
	struct spec *spec = s->spec;

	for (unsigned k = spec->n_prefixes; k-- > 0 && context_is_pmu_usable(s->ctx, unit);) {
		struct slice name = { spec->name.text, spec->prefixes[k].len };
		struct name_entry found = pfmi_lookup_generic_name(s, unit, spec->prefixes[k].hash, name);

		if (found.kind != NAME_NONE) {
			spec->attrs.text = name.text + name.len;
			spec->attrs.len = spec->len - (uint32_t)(spec->attrs.text - spec->text);
			return found;
		}
	}
	return NAME_NOT_FOUND;
}

/* The same behind its name: "cpu_core::cycles:u". */
static int lookup_generic_on_device(struct pmu_search *s, const struct kernel_pmu *device)
{
	for (unsigned i = s->ctx->first_kernel_pmu; i < s->ctx->n_pmus; i++) {
		struct name_entry found = &s->ctx->kernel->pmus[i - s->ctx->first_kernel_pmu] == device ? lookup_generic_prefix(s, i) : NAME_NOT_FOUND;

		if (found.kind != NAME_NONE)
			return pfmi_lookup_accept_name(s, i, found);
	}
	for (unsigned i = 0; i < s->ctx->n_host_pmus; i++) {
		struct name_entry found = s->ctx->host_pmus[i].kernel_pmu == device ? lookup_generic_prefix(s, s->ctx->host_pmus[i].pmu_index) : NAME_NOT_FOUND;

		if (found.kind != NAME_NONE)
			return pfmi_lookup_accept_name(s, s->ctx->host_pmus[i].pmu_index, found);
	}
	return PFMLIB_ERR_NOTFOUND;
}

/* The processor has no such event; perhaps a part of it has, or the kernel's PMU of that name. */
static int lookup_family_or_device(struct pmu_search *s)
{
	const struct kernel_pmu *device = s->ctx->kernel ? pfmi_machine_find_kernel_pmu(s->ctx->kernel, s->pmu_name) : NULL;
	int rc = lookup_family(s);

	if (rc == PFMLIB_ERR_NOTFOUND && device)
		rc = lookup_kernel_device(s, device);
	if (rc == PFMLIB_ERR_NOTFOUND && device && s->has_pmu)
		rc = lookup_generic_on_device(s, device);
	return rc;
}

static struct slice get_box_number(struct slice box)
{
	uint32_t len = base_length_without_number(box);

	return (struct slice){ box.text + len, box.len - len };
}

/* Does the kernel, where it shows the unit, have a box of this number? */
static bool has_box_number(const struct pfm_ctx *ctx, unsigned unit, struct slice number)
{
	const struct kernel_pmu *kernel = context_pmu_kernel(ctx, unit);

	return !kernel || kernel->n_instances < 2 || pfmi_machine_find_instance_number(kernel, number);
}

/* "skx_unc_cha3": a box by number, as libpfm4 has it. The number tells which instance is meant: pfmi_lookup_spec_instance(). */
static int lookup_numbered_box(struct pmu_search *s)
{
	struct pmu_search box = *s;
	struct pmu_name_iter c = { 0 };
	int at, rc;

	box.pmu_name.len = base_length_without_number(s->pmu_name);
	box.pmu_name_hash = pfmi_table_hash_name(box.pmu_name);
	at = box.pmu_name.len < s->pmu_name.len ? pfmi_context_next_named_pmu(s->ctx, box.pmu_name, box.pmu_name_hash, &c) : -1;
	if (at < 0 || !(c.table->flags & TABLE_UNCORE) || !has_box_number(s->ctx, (unsigned)at, get_box_number(s->pmu_name)))
		return PFMLIB_ERR_NOTFOUND;
	rc = lookup_in_named_pmus(&box, 0);
	box.pmu_name = s->pmu_name;
	box.pmu_name_hash = s->pmu_name_hash;
	*s = box;
	return rc;
}

/* Nothing that is known so far has it. */
static int lookup_after_full_load(struct pmu_search *s)
{
	int rc = PFMLIB_ERR_NOTFOUND;

	if (!s->has_pmu && !context_is_loaded(s->ctx, LOADED_ALL)) {
		rc = pfmi_context_require_all(s->ctx, s->error);
		if (rc)
			return rc;
		rc = lookup_in_named_pmus(s, 0);
	}
	/* Not before it is loaded: another thread may be at it. */
	if (rc == PFMLIB_ERR_NOTFOUND)
		rc = context_is_loaded(s->ctx, LOADED_ALL) ? lookup_family_or_device(s) : lookup_family(s);
	if (rc == PFMLIB_ERR_NOTFOUND && !s->has_pmu)
		rc = lookup_numbered_box(s);
	if (rc != PFMLIB_ERR_NOTFOUND)
		return rc;
	if (!s->has_pmu)
		return pfmi_base_set_error(s->error, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, s->spec->text, s->spec->pmu_name, NULL);
	return refuse_unknown_event(s);
}

/* A processor was named, by the text or by the context. Images the caller chose are looked at before what is built in, others only for
 * processors that are not. */
static inline int lookup_on_named_pmu(struct pmu_search *s)
{
	int rc = s->ctx->image_path && !context_is_loaded(s->ctx, LOADED_ALL) ? pfmi_context_require_all(s->ctx, s->error) : PFMLIB_SUCCESS;

	if (!rc)
		rc = lookup_pmu(s);
	return rc == PFMLIB_ERR_NOTFOUND ? lookup_after_full_load(s) : rc;
}

/* No machine to ask and no processor named: a name that one listed processor alone has is that one's. */
static int lookup_unique_pmu(struct pmu_search *s)
{
	struct name_entry first = NAME_NOT_FOUND;
	struct slice rest = s->spec->attrs;
	unsigned unit = 0;

	for (unsigned i = 0; i < s->ctx->n_pmus; i++) {
		bool hidden = context_pmu_table(s->ctx, i)->flags & (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY);
		struct name_entry found = hidden ? NAME_NOT_FOUND : lookup_name_on_pmu(s, i);

		if (found.kind == NAME_NONE)
			continue;
		if (first.kind != NAME_NONE)
			return pfmi_base_set_error(s->error, PFMLIB_ERR_AMBIGUOUS, PFM_KIND_AMBIGUOUS, s->spec->text, s->spec->name, NULL);
		first = found;
		unit = i;
		rest = s->spec->attrs;
	}
	s->spec->attrs = rest;
	return first.kind != NAME_NONE ? pfmi_lookup_accept_name(s, unit, first) : refuse_unknown_event(s);
}

/* A unit beside the cores has an event called "cycles": that alone means the kernel's generic one, as perf has it. */
static bool is_generic_event(const struct pmu_search *s, unsigned unit)
{
	struct slice name = { s->spec->name.text, (uint32_t)(s->spec->attrs.text - s->spec->name.text) };
	const struct table *t = get_generic_table();

	return unit >= s->ctx->first_kernel_pmu && !(pfmi_context_get_pmu(s->ctx, unit).flags & PFM_PMU_CORE) && t &&
	       table_find_name(t, pfmi_table_hash_name(name), name.text, name.len).kind < NAME_UNSUPPORTED;
}

static int lookup_on_host(struct pmu_search *s)
{
	int rc = pfmi_context_require_all(s->ctx, s->error);

	if (rc)
		return rc;
	if (s->ctx->flags & PFM_CTX_NO_HOST)
		return lookup_unique_pmu(s);
	for (unsigned i = 0; i < s->ctx->n_search_order; i++) {
		struct name_entry found = lookup_name_on_pmu(s, s->ctx->search_order[i]);

		if (found.kind != NAME_NONE && !is_generic_event(s, s->ctx->search_order[i]))
			return pfmi_lookup_accept_name(s, s->ctx->search_order[i], found);
	}
	return refuse_unknown_event(s);
}

/* ---- the way in ----------------------------------------------------------------------------------------------- */

static inline int lookup_spec(struct pmu_search *s)
{
	if (s->spec->form == SPEC_PERF)
		return pfmi_lookup_perf_spec(s);
	if (!s->spec->pmu_name.len && !s->ctx->default_pmu)
		return lookup_on_host(s);
	s->pmu_name = s->spec->pmu_name.len ? s->spec->pmu_name : s->ctx->default_pmu_name;
	s->pmu_name_hash = s->spec->pmu_name.len ? s->spec->pmu_name_hash : s->ctx->default_pmu_hash;
	return lookup_on_named_pmu(s);
}

int pfmi_lookup_row(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, uint32_t *row, pfm_error_t *why)
{
	struct pmu_search s = { .ctx = ctx, .spec = spec, .error = why };
	int rc = lookup_spec(&s);

	if (rc)
		return rc;
	*unit = s.pmu_index;
	*row = s.row_index;
	return PFMLIB_SUCCESS;
}

/* The processor at hand says itself which architectural events it lacks. Everything is loaded where the unit may be this
 * machine's, so that the answer does not hang on what was asked before. */
static int check_architectural_event(const struct pfm_ctx *ctx, unsigned unit, const struct event *ev, const char *text,
                                     struct slice at, pfm_error_t *why)
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
	if (!(pfmi_context_get_pmu(ctx, unit).flags & PFM_PMU_HOST) || !ctx->host.pmu_version ||
	    !(ctx->host.missing_arch_events >> (pfmi_pmu_event_key_value(ev, KEY_ARCH_BIT, ANY_COUNTER) & 31) & 1))
		return PFMLIB_SUCCESS;
	return pfmi_base_set_error(why, PFMLIB_ERR_BADHOST, PFM_KIND_NOT_ON_CPU, text, at, NULL);
}

int pfmi_lookup_check_present(const struct pfm_ctx *ctx, unsigned unit, const struct event *ev, const char *text, struct slice at,
                              pfm_error_t *why)
{
	return event_has_key(ev, KEY_ARCH_BIT) ? check_architectural_event(ctx, unit, ev, text, at, why) : PFMLIB_SUCCESS;
}

/* No event has that name: a raw number, or one of the kernel's that only it knows. */
static int lookup_raw_or_kernel(const struct pfm_ctx *ctx, struct spec *spec, int rc, unsigned *unit, struct event *out, pfm_error_t *why)
{
	uint64_t raw;
	int other;

	if (pfmi_lookup_raw_number(ctx, spec, unit, &raw))
		return pfmi_lookup_read_raw_event(context_pmu_table(ctx, *unit), raw, spec, out, why);
	if (spec->pmu_name.len || ctx->default_pmu || ctx->flags & PFM_CTX_NO_HOST)
		return rc;
	other = pfmi_lookup_kernel_event(ctx, spec, unit, out, why);
	return other != PFMLIB_ERR_NOTFOUND ? other : rc;
}

/* What was found, with what the text says beside it; nothing where its numbers alone led to the row. */
static int build_found_event(struct pmu_search *s, bool by_numbers, struct event *out)
{
	int rc = PFMLIB_SUCCESS;

	if (by_numbers) {
		pfmi_pmu_init_event(out, s->table, s->row_index);
	} else {
		rc = pfmi_lookup_resolve_attrs(s->table, s->row_index, s->spec, out, s->error);
		if (!rc && s->row_index == ROW_NONE)
			pfmi_lookup_adopt_row(out);
	}
	return rc ? rc : pfmi_lookup_check_present(s->ctx, s->pmu_index, out, s->spec->text, s->spec->name, s->error);
}

int pfmi_lookup_spec_event(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, struct event *out,
                           pfm_error_t *why)
{
	struct pmu_search s = { .ctx = ctx, .spec = spec, .error = why };
	bool by_numbers;
	int rc = lookup_spec(&s);

	if (rc == PFMLIB_ERR_NOTFOUND && spec->form != SPEC_PERF)
		return lookup_raw_or_kernel(ctx, spec, rc, unit, out, why);
	if (rc)
		return rc;
	*unit = s.pmu_index;
	by_numbers = s.codes.n_terms && pfmi_decode_row_from_codes(s.table, &s.codes, &s.row_index);
	return build_found_event(&s, by_numbers, out);
}

struct name_entry pfmi_lookup_spec_name(const struct table *t, struct spec *spec)
{
	return lookup_longest_prefix(t, spec, ~0u);
}

int pfmi_lookup_event(const struct pfm_ctx *ctx, const char *text, unsigned *unit, struct event *out, pfm_error_t *why)
{
	struct spec spec;
	int rc = pfmi_spec_parse(text, &spec, why);

	return rc ? rc : pfmi_lookup_spec_event(ctx, &spec, unit, out, why);
}

int pfmi_lookup_event_on_pmu(const struct pfm_ctx *ctx, const char *text, unsigned unit, struct event *out, pfm_error_t *why)
{
	struct spec spec;
	struct pmu_search s = { .ctx = ctx, .spec = &spec, .error = why };
	struct name_entry found;
	int rc = pfmi_spec_parse(text, &spec, why);

	if (rc)
		return rc;
	if (unit >= context_count_pmus(ctx) || spec.form == SPEC_PERF)
		return pfmi_base_set_error(why, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, NULL);
	found = lookup_name_on_pmu(&s, unit);
	rc = found.kind != NAME_NONE ? pfmi_lookup_accept_name(&s, unit, found) : refuse_unknown_event(&s);
	if (!rc)
		rc = pfmi_lookup_resolve_attrs(context_pmu_table(ctx, unit), s.row_index, &spec, out, why);
	return rc ? rc : pfmi_lookup_check_present(ctx, unit, out, text, spec.name, why);
}

unsigned pfmi_lookup_spec_instance(const struct pfm_ctx *ctx, const struct spec *spec, unsigned unit)
{
	const struct table *t = context_pmu_table(ctx, unit);
	const struct kernel_pmu *kernel = context_pmu_kernel(ctx, unit);
	const struct slice name = spec->pmu_name.len ? spec->pmu_name : ctx->default_pmu_name;
	unsigned k;

	if (!kernel || kernel->n_instances < 2)
		return 0;
	k = pfmi_machine_find_instance(kernel, name);
	if (!k && name.len && pfmi_context_table_has_name(t, (struct slice){ name.text, base_length_without_number(name) }))
		k = pfmi_machine_find_instance_number(kernel, get_box_number(name));
	/* A list may be for one box of several: the socket's clock is in the first C-box. */
	return k ? k : pfmi_machine_find_instance(kernel, pfmi_base_make_slice(table_text(t, t->device)));
}

unsigned pfmi_lookup_instance(const struct pfm_ctx *ctx, const char *text, unsigned unit)
{
	struct spec spec;

	return pfmi_spec_parse(text, &spec, NULL) ? 0 : pfmi_lookup_spec_instance(ctx, &spec, unit);
}

/* Adds @unit to the first @n of @units. */
static unsigned add_candidate_pmu(unsigned *units, unsigned n, unsigned max, unsigned unit)
{
	for (unsigned i = 0; i < n; i++)
		if (units[i] == unit)
			return n;
	if (n < max)
		units[n++] = unit;
	return n;
}

unsigned pfmi_lookup_candidate_pmus(const struct pfm_ctx *ctx, const struct spec *spec, unsigned *units, unsigned max)
{
	struct slice pmu = spec->pmu_name.len ? spec->pmu_name : ctx->default_pmu_name;
	uint32_t h = pfmi_table_hash_name(pmu), n_parts = 0;
	struct pmu_name_iter c = { 0 };
	unsigned n = 0, n_stages;
	const struct pmu_source *stages;
	int at;

	if (pfmi_context_load(ctx, LOADED_ALL))
		return 0;
	stages = context_get_sources(ctx, &n_stages);
	for (unsigned i = 0; !pmu.len && i < ctx->n_host_pmus; i++)
		n = add_candidate_pmu(units, n, max, ctx->host_pmus[i].pmu_index);
	for (unsigned i = ctx->first_kernel_pmu; !pmu.len && i < ctx->n_pmus; i++)
		n = add_candidate_pmu(units, n, max, i);
	while (pmu.len && (at = pfmi_context_next_named_pmu(ctx, pmu, h, &c)) >= 0)
		n = add_candidate_pmu(units, n, max, (unsigned)at);
	for (unsigned i = 0; pmu.len && i < n_stages; i++) {
		const uint16_t *parts = stages[i].image ? pfmi_context_find_family_members(stages[i].image, pmu, h, &n_parts) : NULL;

		for (uint32_t k = 0; parts && k < n_parts; k++)
			n = add_candidate_pmu(units, n, max, stages[i].first_pmu + parts[k]);
	}
	return n;
}
