/* SPDX-License-Identifier: MIT */
/* Which processor and which row a text means. A named processor is searched alone; without a name it is the one the context was
 * given, else this machine's: what the kernel shows first, then imported lists, then what is built in. Nothing here walks over all
 * processors, but for names that none was given for. */
#include <string.h>
#include "lookup/lookup_internal.h"

static struct name take_piece(struct spec *spec, unsigned i, struct name n)
{
	spec->rest.s = spec->name.s + spec->cuts[i].len;
	spec->rest.len = spec->len - (uint32_t)(spec->rest.s - spec->text);
	return n;
}

/* Is @attr a unit mask of the row, by name or number, or one of its groups with a value? */
static bool takes(const struct table *t, uint32_t row, struct slice attr)
{
	const char *value = memchr(attr.s, '=', attr.len);
	struct slice name = { attr.s, value ? (uint32_t)(value - attr.s) : attr.len };

	if (attr.len > 2 && attr.s[0] == '0' && (attr.s[1] | 0x20) == 'x')
		return table_row(t, row)->n_takes != 0;
	for (unsigned i = 0; i < table_row(t, row)->n_takes; i++) {
		const struct group *g = row_group(t, table_row(t, row), i);

		if (value && pfmi_slice_is(name, table_text(t, g->name)))
			return true;
		if (!value && pfmi_table_word(t, g->word, g->n_words, name))
			return true;
	}
	return false;
}

/* Is what stands behind piece @at the vendor's, whose name @n is? A mask of its row is, a modifier behind a name of its own, and behind a
 * longer one that is not spelled with colons. */
static bool is_vendors(const struct table *t, const struct spec *spec, unsigned at, unsigned event, struct name n, struct slice attr)
{
	if (n.kind >= NAME_UNSUPPORTED)
		return false;
	if (takes(t, n.row, attr))
		return true;
	if (event < at)
		return spec->name.s[spec->cuts[event].len] != ':';
	return n.kind != NAME_SYNONYM && pfmi_is_modifier(t, attr);
}

/* Have the two rows the same groups? They are stored once. */
static bool take_alike(const struct table *t, uint32_t a, uint32_t b)
{
	return table_row(t, a)->take == table_row(t, b)->take && table_row(t, a)->n_takes == table_row(t, b)->n_takes;
}

/* An event of libpfm4's that takes several masks is known by its name and the separator behind it: the shorter name may be another one
 * of a row of the vendor's. It is meant where the attribute behind piece @at is a mask of it, and not the vendor's. */
static struct name find_lent(const struct table *t, struct spec *spec, unsigned at, struct name vendors)
{
	struct slice attr = { spec->name.s + spec->cuts[at].len + 1, spec->cuts[at + 1].len - spec->cuts[at].len - 1 };

	for (unsigned i = at + 1; i-- > 0;) {
		struct name n = pfmi_table_find(t, name_hash(spec->cuts[i].hash, '.'), spec->name.s, spec->cuts[i].len + 1);

		if (n.kind != NAME_SYNONYM || n.row < t->n_rows || (vendors.kind < NAME_UNSUPPORTED && take_alike(t, n.row, vendors.row)))
			continue;
		if (takes(t, n.row, attr) && !is_vendors(t, spec, at, i, vendors, attr))
			return take_piece(spec, i, n);
	}
	return NO_NAME;
}

/* May @t have the name with hash @h with a separator behind it? */
static inline bool may_lend(const struct table *t, uint32_t h)
{
	h = name_hash(h, '.');
	return table_may_be(t, h, table_probe(t, h, slot_of(h, t->n_slots)));
}

/* Is what was found up to cut @i libpfm4's, and nothing shorter could be? With a separator behind it the name is that row's, too. */
static inline bool is_lent(const struct table *t, struct name n, unsigned i)
{
	return i == 0 && n.kind == NAME_SYNONYM && n.row >= t->n_rows;
}

/* The longest piece of the name, of those in @pieces (bit i: up to cut i), that is a name of @t. On success spec->rest is what follows
 * it. */
static struct name find_piece(const struct table *t, struct spec *spec, unsigned pieces)
{
	for (unsigned i = spec->n_cuts; i-- > 0;) {
		struct name n, lent = NO_NAME;

		if (!(pieces >> i & 1))
			continue;
		n = pfmi_table_find(t, spec->cuts[i].hash, spec->name.s, spec->cuts[i].len);
		if (t->n_lent && i + 1 < spec->n_cuts && !is_lent(t, n, i) && (n.kind != NAME_NONE || (i == 0 && may_lend(t, spec->cuts[0].hash))))
			lent = find_lent(t, spec, i, n);
		if (lent.kind != NAME_NONE)
			return lent;
		if (n.kind != NAME_NONE)
			return take_piece(spec, i, n);
	}
	return NO_NAME;
}

/* The same on unit @unit, if its rows may be read. */
static struct name find_name_on(const struct search *s, unsigned unit)
{
	return pfmi_unit_ready(s->ctx, unit) ? find_piece(pfmi_unit_table(s->ctx, unit), s->spec, ~0u) : NO_NAME;
}

static int take(struct search *s, unsigned unit, const struct table *t, struct name n)
{
	if (n.kind == NAME_UNSUPPORTED)
		return pfmi_refuse(s->why, PFMLIB_ERR_ALIAS, PFM_KIND_UNSUPPORTED_ALIAS, s->spec->text, s->spec->name,
		                   table_text(t, n.row));
	s->unit = unit;
	s->table = t;
	s->row = n.row;
	return PFMLIB_SUCCESS;
}

int pfmi_take_name(struct search *s, unsigned unit, struct name n)
{
	return take(s, unit, pfmi_unit_table(s->ctx, unit), n);
}

static int unknown_event(const struct search *s)
{
	/* What stands before the attributes: the whole run up to the first ',', where nothing shorter is known either. */
	return pfmi_refuse(s->why, PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, s->spec->text, s->spec->name, NULL);
}

int pfmi_damaged(const struct search *s, struct image_map *map)
{
	return pfmi_refuse(s->why, PFMLIB_ERR_IMAGE, PFM_KIND_IMAGE, s->spec->text, s->spec->pmu, pfmi_image_fault(map));
}

/* Does a name of @t, which is in @map, or of a part of its processor begin with the first piece of the text? */
static inline bool may_begin(const struct table *t, const struct image_map *map, const struct spec *spec)
{
	const struct image *im = map ? map->base : pfmi_builtins();
	const struct whole *wholes = image_array(im, ARRAY_WHOLES);

	return !t->parts || whole_may_have(im, &wholes[t->parts - 1], spec->cuts[0].hash);
}

/* The name of @t that the text begins with, where all of it is none. One word behind it is mostly a mask of libpfm4's event. */
static struct name find_begin(const struct table *t, const struct image_map *map, struct spec *spec)
{
	unsigned last = spec->n_cuts - 1;
	struct name n = last == 1 ? table_find_at_once(t, spec->cuts[0].hash, spec->name.s, spec->cuts[0].len) : NO_NAME;

	if (is_lent(t, n, 0))
		return take_piece(spec, 0, n);
	return may_begin(t, map, spec) ? find_piece(t, spec, (1u << last) - 1) : NO_NAME;
}

/* The name of @t that the text begins with. Mostly it is all of the text. */
static inline struct name find_in(const struct table *t, const struct image_map *map, struct spec *spec)
{
	unsigned last = spec->n_cuts - 1;
	struct name n = table_find_at_once(t, spec->cuts[last].hash, spec->name.s, spec->cuts[last].len);

	if (n.kind != NAME_NONE)
		return take_piece(spec, last, n);
	return last ? find_begin(t, map, spec) : NO_NAME;
}

/* The same where it is no step of most encodings. */
static struct name find_in_other(const struct table *t, const struct image_map *map, struct spec *spec)
{
	return find_in(t, map, spec);
}

/* Looks on every unit that answers to the processor's name, freshest first, until one has the event; from slot @from less 1 of the first
 * stage on, 0: from where they begin. */
static int find_called_from(struct search *s, uint32_t from)
{
	struct called c = { .at = from };
	int at;

	while ((at = called_next(s->ctx, s->pmu, s->hash, &c)) >= 0) {
		bool ready = pfmi_map_ready(c.map);
		struct name found = ready ? find_in_other(c.table, c.map, s->spec) : NO_NAME;

		if (found.kind != NAME_NONE)
			return take(s, (unsigned)at, c.table, found);
		s->known = true;
		if (!ready)
			return pfmi_damaged(s, c.map);
		if (c.pass == 0 && !s->named) {
			s->named = c.table;
			s->stage = c.stage;
		}
	}
	s->whole = c.whole;
	return PFMLIB_ERR_NOTFOUND;
}

/* The same where @slot alone of the first of the @n stages may be for the processor's name: another name of a table, or a whole's name. */
static int find_called_also(struct search *s, const struct stage *st, unsigned n, uint32_t slot)
{
	uint32_t i = (slot & CALL_NUMBER) - 1;
	struct name found;

	for (unsigned k = 1; k < n; k++)
		if (stage_may_have(&st[k], s->hash))
			return find_called_from(s, 0);
	s->whole = !(slot & CALL_OTHER);
	if (s->whole || i >= st->n || !pfmi_table_is_also(image_table(st->image, i), s->pmu))
		return PFMLIB_ERR_NOTFOUND;
	found = find_in(image_table(st->image, i), NULL, s->spec);
	if (found.kind != NAME_NONE)
		return take(s, st->first + i, image_table(st->image, i), found);
	s->known = true;
	return PFMLIB_ERR_NOTFOUND;
}

/* The same from the start. Mostly the first slot is that of the one table of that name, which has the event. */
static inline int find_called(struct search *s)
{
	unsigned n;
	const struct stage *st = pfmi_ctx_stages(s->ctx, &n);
	uint32_t at = stage_slot(st, s->hash), slot = st->calls[at], i = (slot & (CALL_OTHER | CALL_NUMBER)) - 1;
	const struct table *t;
	struct name found;

	if (!slot || slot >> 16 != (uint16_t)s->hash || !st->image || st->map)
		return find_called_from(s, 0);
	at = at + 1 < st->n_calls ? at + 1 : 0;
	if (i >= st->n)
		return st->calls[at] >> 16 != slot >> 16 ? find_called_also(s, st, n, slot) : find_called_from(s, 0);
	t = image_table(st->image, i);
	if (!table_is_called(t, s->pmu))
		return find_called_from(s, 0);
	found = find_in(t, NULL, s->spec);
	if (found.kind != NAME_NONE)
		return take(s, st->first + i, t, found);
	s->known = true;
	s->named = t;
	return find_called_from(s, at + 1);
}

/* Looks for the @pieces on each part of @w, which is in stage @st. */
static int find_in_each(struct search *s, const struct stage *st, const struct whole *w, unsigned pieces)
{
	const uint16_t *parts = whole_parts(st->image, w);

	for (uint32_t k = 0; k < w->n_parts && pfmi_map_ready(st->map); k++) {
		const struct table *t = image_table(st->image, parts[k]);
		struct name found = find_piece(t, s->spec, pieces);

		if (found.kind != NAME_NONE)
			return take(s, st->first + parts[k], t, found);
	}
	return PFMLIB_ERR_NOTFOUND;
}

/* The pieces of the name that some part of @w may have. None, where no name begins with the first of them. */
static unsigned pieces_of(const struct image *im, const struct whole *w, const struct spec *spec)
{
	unsigned pieces = whole_may_have(im, w, spec->cuts[0].hash);

	for (unsigned i = 1; pieces && i < spec->n_cuts; i++)
		pieces |= (unsigned)whole_may_have(im, w, spec->cuts[i].hash) << i;
	return pieces;
}

/* What the processor's name stands for in stage number @i beside a table; NULL for nothing. */
static inline const struct whole *whole_in(const struct search *s, const struct stage *st, unsigned i)
{
	const struct whole *wholes;

	if (!st->image)
		return NULL;
	if (!s->named || s->stage != i)
		return s->whole ? pfmi_image_whole(st->image, s->pmu, s->hash) : NULL;
	wholes = image_array(st->image, ARRAY_WHOLES);
	return s->named->parts ? &wholes[s->named->parts - 1] : NULL;
}

/* "skx" also stands for its parts "skx_uncore_cha" ... */
static int find_in_parts(struct search *s)
{
	unsigned n_stages;
	const struct stage *stages = pfmi_ctx_stages(s->ctx, &n_stages);
	int rc = PFMLIB_ERR_NOTFOUND;

	for (unsigned i = 0; rc == PFMLIB_ERR_NOTFOUND && i < n_stages; i++) {
		const struct stage *st = &stages[i];
		const struct whole *w = whole_in(s, st, i);

		s->known |= w != NULL;
		unsigned pieces = w ? pieces_of(st->image, w, s->spec) : 0;

		if (pieces)
			rc = find_in_each(s, st, w, pieces);
	}
	return rc;
}

/* The kernel's name, of one instance ("uncore_imc_3") or of all, stands for every table that describes the PMU. */
static int find_by_device(struct search *s, const struct kernel_pmu *device)
{
	for (unsigned i = 0; i < s->ctx->n_here; i++) {
		struct name found;

		if (s->ctx->here[i].kernel != device)
			continue;
		s->known = true;
		found = find_name_on(s, s->ctx->here[i].unit);
		if (found.kind != NAME_NONE)
			return pfmi_take_name(s, s->ctx->here[i].unit, found);
	}
	return PFMLIB_ERR_NOTFOUND;
}

/* The kernel's generic events, of which all kernels have the same. */
static const struct table *generic_table(void)
{
	struct slice name = { "hardware", 8 };
	uint32_t h = pfmi_name_hash(name), at = 0;
	int i;

	while ((i = image_next_called(pfmi_builtins(), h, &at)) >= 0)
		if ((unsigned)i < pfmi_n_builtin() && pfmi_builtin((unsigned)i)->encoder == ENCODER_PERF &&
		    pfmi_builtin((unsigned)i)->perf_type == 0)
			return pfmi_builtin((unsigned)i);
	return NULL;
}

struct name pfmi_find_generic(const struct search *s, unsigned unit, uint32_t h, struct slice name)
{
	const struct table *t = pfmi_unit(s->ctx, unit).flags & PFM_PMU_CORE ? generic_table() : NULL;
	struct name generic = t ? pfmi_table_find(t, h, name.s, name.len) : NO_NAME;
	struct slice file;

	if (generic.kind >= NAME_UNSUPPORTED)
		return NO_NAME;
	file = pfmi_slice(table_row_name(t, generic.row));
	return pfmi_table_find(pfmi_unit_table(s->ctx, unit), pfmi_name_hash(file), file.s, file.len);
}

/* The longest piece of the name that is a generic one, on unit @unit. */
static struct name find_generic_piece(const struct search *s, unsigned unit)
{
	struct spec *spec = s->spec;

	for (unsigned k = spec->n_cuts; k-- > 0 && pfmi_unit_ready(s->ctx, unit);) {
		struct slice name = { spec->name.s, spec->cuts[k].len };
		struct name found = pfmi_find_generic(s, unit, spec->cuts[k].hash, name);

		if (found.kind != NAME_NONE) {
			spec->rest.s = name.s + name.len;
			spec->rest.len = spec->len - (uint32_t)(spec->rest.s - spec->text);
			return found;
		}
	}
	return NO_NAME;
}

/* The same behind its name: "cpu_core::cycles:u". */
static int find_generic_on(struct search *s, const struct kernel_pmu *device)
{
	for (unsigned i = s->ctx->first_kernel; i < s->ctx->n_units; i++) {
		struct name found = &s->ctx->kernel->pmus[i - s->ctx->first_kernel] == device ? find_generic_piece(s, i) : NO_NAME;

		if (found.kind != NAME_NONE)
			return pfmi_take_name(s, i, found);
	}
	for (unsigned i = 0; i < s->ctx->n_here; i++) {
		struct name found = s->ctx->here[i].kernel == device ? find_generic_piece(s, s->ctx->here[i].unit) : NO_NAME;

		if (found.kind != NAME_NONE)
			return pfmi_take_name(s, s->ctx->here[i].unit, found);
	}
	return PFMLIB_ERR_NOTFOUND;
}

/* The processor has no such event; perhaps a part of it has, or the kernel's PMU of that name. */
static int find_beside(struct search *s)
{
	const struct kernel_pmu *device = s->ctx->kernel ? pfmi_kernel_find(s->ctx->kernel, s->pmu) : NULL;
	int rc = find_in_parts(s);

	if (rc == PFMLIB_ERR_NOTFOUND && device)
		rc = find_by_device(s, device);
	if (rc == PFMLIB_ERR_NOTFOUND && device && s->known)
		rc = find_generic_on(s, device);
	return rc;
}

static struct slice number_of(struct slice box)
{
	uint32_t len = pfmi_unnumbered(box);

	return (struct slice){ box.s + len, box.len - len };
}

/* Does the kernel, where it shows the unit, have a box of this number? */
static bool is_there(const struct pfm_ctx *ctx, unsigned unit, struct slice number)
{
	const struct kernel_pmu *kernel = pfmi_unit_kernel(ctx, unit);

	return !kernel || kernel->n_instances < 2 || pfmi_kernel_numbered(kernel, number);
}

/* "skx_unc_cha3": a box by number, as libpfm4 has it. The number tells which instance is meant: pfmi_spec_instance(). */
static int find_numbered(struct search *s)
{
	struct search box = *s;
	struct called c = { 0 };
	int at, rc;

	box.pmu.len = pfmi_unnumbered(s->pmu);
	box.hash = pfmi_name_hash(box.pmu);
	at = box.pmu.len < s->pmu.len ? pfmi_ctx_next_called(s->ctx, box.pmu, box.hash, &c) : -1;
	if (at < 0 || !(c.table->flags & TABLE_UNCORE) || !is_there(s->ctx, (unsigned)at, number_of(s->pmu)))
		return PFMLIB_ERR_NOTFOUND;
	rc = find_called_from(&box, 0);
	box.pmu = s->pmu;
	box.hash = s->hash;
	*s = box;
	return rc;
}

/* Nothing that is known so far has it. */
static int find_further(struct search *s)
{
	int rc = PFMLIB_ERR_NOTFOUND;

	if (!s->known && !pfmi_ctx_loaded(s->ctx, LOADED_ALL)) {
		rc = pfmi_ctx_need(s->ctx, s->why);
		if (rc)
			return rc;
		rc = find_called_from(s, 0);
	}
	/* Not before it is loaded: another thread may be at it. */
	if (rc == PFMLIB_ERR_NOTFOUND)
		rc = pfmi_ctx_loaded(s->ctx, LOADED_ALL) ? find_beside(s) : find_in_parts(s);
	if (rc == PFMLIB_ERR_NOTFOUND && !s->known)
		rc = find_numbered(s);
	if (rc != PFMLIB_ERR_NOTFOUND)
		return rc;
	if (!s->known)
		return pfmi_refuse(s->why, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, s->spec->text, s->spec->pmu, NULL);
	return unknown_event(s);
}

/* A processor was named, by the text or by the context. Images the caller chose are looked at before what is built in, others only for
 * processors that are not. */
static inline int find_on(struct search *s)
{
	int rc = s->ctx->image_path && !pfmi_ctx_loaded(s->ctx, LOADED_ALL) ? pfmi_ctx_need(s->ctx, s->why) : PFMLIB_SUCCESS;

	if (!rc)
		rc = find_called(s);
	return rc == PFMLIB_ERR_NOTFOUND ? find_further(s) : rc;
}

/* No machine to ask and no processor named: a name that one listed processor alone has is that one's. */
static int find_anywhere(struct search *s)
{
	struct name first = NO_NAME;
	struct slice rest = s->spec->rest;
	unsigned unit = 0;

	for (unsigned i = 0; i < s->ctx->n_units; i++) {
		bool hidden = pfmi_unit_table(s->ctx, i)->flags & (TABLE_VIEW | TABLE_TEST);
		struct name found = hidden ? NO_NAME : find_name_on(s, i);

		if (found.kind == NAME_NONE)
			continue;
		if (first.kind != NAME_NONE)
			return pfmi_refuse(s->why, PFMLIB_ERR_AMBIGUOUS, PFM_KIND_AMBIGUOUS, s->spec->text, s->spec->name, NULL);
		first = found;
		unit = i;
		rest = s->spec->rest;
	}
	s->spec->rest = rest;
	return first.kind != NAME_NONE ? pfmi_take_name(s, unit, first) : unknown_event(s);
}

/* A unit beside the cores has an event called "cycles": that alone means the kernel's generic one, as perf has it. */
static bool means_generic(const struct search *s, unsigned unit)
{
	struct slice name = { s->spec->name.s, (uint32_t)(s->spec->rest.s - s->spec->name.s) };
	const struct table *t = generic_table();

	return unit >= s->ctx->first_kernel && !(pfmi_unit(s->ctx, unit).flags & PFM_PMU_CORE) && t &&
	       pfmi_table_find(t, pfmi_name_hash(name), name.s, name.len).kind < NAME_UNSUPPORTED;
}

static int find_on_host(struct search *s)
{
	int rc = pfmi_ctx_need(s->ctx, s->why);

	if (rc)
		return rc;
	if (s->ctx->flags & PFM_CTX_NO_HOST)
		return find_anywhere(s);
	for (unsigned i = 0; i < s->ctx->n_host_order; i++) {
		struct name found = find_name_on(s, s->ctx->host_order[i]);

		if (found.kind != NAME_NONE && !means_generic(s, s->ctx->host_order[i]))
			return pfmi_take_name(s, s->ctx->host_order[i], found);
	}
	return unknown_event(s);
}

/* ---- the way in ----------------------------------------------------------------------------------------------- */

static inline int find(struct search *s)
{
	if (s->spec->form == SPEC_PERF)
		return pfmi_find_perf(s);
	if (!s->spec->pmu.len && !s->ctx->wanted)
		return find_on_host(s);
	s->pmu = s->spec->pmu.len ? s->spec->pmu : s->ctx->wanted_name;
	s->hash = s->spec->pmu.len ? s->spec->pmu_hash : s->ctx->wanted_hash;
	return find_on(s);
}

int pfmi_ctx_find(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, uint32_t *row, pfm_error_t *why)
{
	struct search s = { .ctx = ctx, .spec = spec, .why = why };
	int rc = find(&s);

	if (rc)
		return rc;
	*unit = s.unit;
	*row = s.row;
	return PFMLIB_SUCCESS;
}

/* The processor at hand says itself which architectural events it lacks. Everything is loaded where the unit may be this
 * machine's, so that the answer does not hang on what was asked before. */
static int check_present(const struct pfm_ctx *ctx, unsigned unit, const struct event *ev, const char *text,
                         struct slice at, pfm_error_t *why)
{
	unsigned core;
	int rc;

	/* An assumed processor does not say what it lacks. */
	if (ctx->flags & PFM_CTX_NO_HOST || ctx->cpuid || !ctx->sys.cpuid)
		return PFMLIB_SUCCESS;
	rc = pfmi_ctx_load(ctx, LOADED_HOST);
	if (rc || !pfmi_host_matches(&ctx->host, ev->table, &core))
		return rc;
	rc = pfmi_ctx_need(ctx, why);
	if (rc)
		return rc;
	if (!(pfmi_unit(ctx, unit).flags & PFM_PMU_HOST) || !ctx->host.pmu_version ||
	    !(ctx->host.arch_missing >> (pfmi_event_field(ev, KEY_ARCH_BIT, ANYWHERE) & 31) & 1))
		return PFMLIB_SUCCESS;
	return pfmi_refuse(why, PFMLIB_ERR_BADHOST, PFM_KIND_NOT_ON_CPU, text, at, NULL);
}

int pfmi_ctx_present(const struct pfm_ctx *ctx, unsigned unit, const struct event *ev, const char *text, struct slice at,
                     pfm_error_t *why)
{
	return pfmi_event_has(ev, KEY_ARCH_BIT) ? check_present(ctx, unit, ev, text, at, why) : PFMLIB_SUCCESS;
}

/* No event has that name: a raw number, or one of the kernel's that only it knows. */
static int find_otherwise(const struct pfm_ctx *ctx, struct spec *spec, int rc, unsigned *unit, struct event *out, pfm_error_t *why)
{
	uint64_t raw;
	int other;

	if (pfmi_find_raw(ctx, spec, unit, &raw))
		return pfmi_raw_event(pfmi_unit_table(ctx, *unit), raw, spec, out, why);
	if (spec->pmu.len || ctx->wanted || ctx->flags & PFM_CTX_NO_HOST)
		return rc;
	other = pfmi_kernel_event(ctx, spec, unit, out, why);
	return other != PFMLIB_ERR_NOTFOUND ? other : rc;
}

/* What was found, with what the text says beside it; nothing where its numbers alone led to the row. */
static int event_found(struct search *s, bool by_numbers, struct event *out)
{
	int rc = PFMLIB_SUCCESS;

	if (by_numbers) {
		pfmi_event_init(out, s->table, s->row);
	} else {
		rc = pfmi_resolve(s->table, s->row, s->spec, out, s->why);
		if (!rc && s->row == ROW_NONE)
			pfmi_adopt_row(out);
	}
	return rc ? rc : pfmi_ctx_present(s->ctx, s->unit, out, s->spec->text, s->spec->name, s->why);
}

int pfmi_ctx_event_of(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, struct event *out,
                      pfm_error_t *why)
{
	struct search s = { .ctx = ctx, .spec = spec, .why = why };
	bool by_numbers;
	int rc = find(&s);

	if (rc == PFMLIB_ERR_NOTFOUND && spec->form != SPEC_PERF)
		return find_otherwise(ctx, spec, rc, unit, out, why);
	if (rc)
		return rc;
	*unit = s.unit;
	by_numbers = s.numbers.n && pfmi_row_from_numbers(s.table, &s.numbers, &s.row);
	return event_found(&s, by_numbers, out);
}

struct name pfmi_spec_name(const struct table *t, struct spec *spec)
{
	return find_piece(t, spec, ~0u);
}

int pfmi_ctx_event(const struct pfm_ctx *ctx, const char *text, unsigned *unit, struct event *out, pfm_error_t *why)
{
	struct spec spec;
	int rc = pfmi_spec_parse(text, &spec, why);

	return rc ? rc : pfmi_ctx_event_of(ctx, &spec, unit, out, why);
}

int pfmi_ctx_event_on(const struct pfm_ctx *ctx, const char *text, unsigned unit, struct event *out, pfm_error_t *why)
{
	struct spec spec;
	struct search s = { .ctx = ctx, .spec = &spec, .why = why };
	struct name found;
	int rc = pfmi_spec_parse(text, &spec, why);

	if (rc)
		return rc;
	if (unit >= pfmi_ctx_count(ctx) || spec.form == SPEC_PERF)
		return pfmi_refuse(why, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, NULL);
	found = find_name_on(&s, unit);
	rc = found.kind != NAME_NONE ? pfmi_take_name(&s, unit, found) : unknown_event(&s);
	if (!rc)
		rc = pfmi_resolve(pfmi_unit_table(ctx, unit), s.row, &spec, out, why);
	return rc ? rc : pfmi_ctx_present(ctx, unit, out, text, spec.name, why);
}

unsigned pfmi_spec_instance(const struct pfm_ctx *ctx, const struct spec *spec, unsigned unit)
{
	const struct table *t = pfmi_unit_table(ctx, unit);
	const struct kernel_pmu *kernel = pfmi_unit_kernel(ctx, unit);
	const struct slice name = spec->pmu.len ? spec->pmu : ctx->wanted_name;
	unsigned k;

	if (!kernel || kernel->n_instances < 2)
		return 0;
	k = pfmi_kernel_instance(kernel, name);
	if (!k && name.len && pfmi_table_is(t, (struct slice){ name.s, pfmi_unnumbered(name) }))
		k = pfmi_kernel_numbered(kernel, number_of(name));
	/* A list may be for one box of several: the socket's clock is in the first C-box. */
	return k ? k : pfmi_kernel_instance(kernel, pfmi_slice(table_text(t, t->device)));
}

unsigned pfmi_ctx_instance(const struct pfm_ctx *ctx, const char *text, unsigned unit)
{
	struct spec spec;

	return pfmi_spec_parse(text, &spec, NULL) ? 0 : pfmi_spec_instance(ctx, &spec, unit);
}

/* Adds @unit to the first @n of @units. */
static unsigned add_candidate(unsigned *units, unsigned n, unsigned max, unsigned unit)
{
	for (unsigned i = 0; i < n; i++)
		if (units[i] == unit)
			return n;
	if (n < max)
		units[n++] = unit;
	return n;
}

unsigned pfmi_ctx_candidates(const struct pfm_ctx *ctx, const struct spec *spec, unsigned *units, unsigned max)
{
	struct slice pmu = spec->pmu.len ? spec->pmu : ctx->wanted_name;
	uint32_t h = pfmi_name_hash(pmu), n_parts = 0;
	struct called c = { 0 };
	unsigned n = 0, n_stages;
	const struct stage *stages;
	int at;

	if (pfmi_ctx_load(ctx, LOADED_ALL))
		return 0;
	stages = pfmi_ctx_stages(ctx, &n_stages);
	for (unsigned i = 0; !pmu.len && i < ctx->n_here; i++)
		n = add_candidate(units, n, max, ctx->here[i].unit);
	for (unsigned i = ctx->first_kernel; !pmu.len && i < ctx->n_units; i++)
		n = add_candidate(units, n, max, i);
	while (pmu.len && (at = pfmi_ctx_next_called(ctx, pmu, h, &c)) >= 0)
		n = add_candidate(units, n, max, (unsigned)at);
	for (unsigned i = 0; pmu.len && i < n_stages; i++) {
		const uint16_t *parts = stages[i].image ? pfmi_image_parts(stages[i].image, pmu, h, &n_parts) : NULL;

		for (uint32_t k = 0; parts && k < n_parts; k++)
			n = add_candidate(units, n, max, stages[i].first + parts[k]);
	}
	return n;
}
