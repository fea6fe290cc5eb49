/* SPDX-License-Identifier: MIT */
/* Events as texts, in every dialect.
 *
 *   libpfm  pmu::NAME:MASK...:k:u:e:i:c=N      unit masks in libpfm's spelling, a raw mask where it has none
 *   libpmc  Name,group=word,cmask=N,inv,usr    words of the manual page
 *   perf    device/event=0x2e,umask=0x41/u     every field that has bits; the kernel's own events by their names
 *   vendor  Name:group=word:cmask=N:u          the published name
 *
 * Only what differs from the row's presets is written. Every text is read again before it is handed out: one that would not
 * give the same event is refused, so the promise of pfm_print_event() does not hang on the names in a table. A name alone that is built
 * in need not be read: that it leads back is known; nor need a text that is the one that was read. */
#include "context/context.h"
#include "base/sizes.h"
#include "format/printer.h"
#include "lookup/lookup.h"

/* ---- proof ---------------------------------------------------------------------------------------------------- */

bool pfmi_same_config(const struct event *a, const struct event *b)
{
	pfm_attr_t x, y;
	int rc = pfmi_encode_event_attr(a, -1, PFM_PLM0 | PFM_PLM3, &x, NULL);

	if (pfmi_encode_event_attr(b, -1, PFM_PLM0 | PFM_PLM3, &y, NULL) != rc || pfmi_pmu_get_extra_register(a) != pfmi_pmu_get_extra_register(b))
		return false;
	return rc || (x.config == y.config && x.config1 == y.config1 && x.config2 == y.config2 && x.config3 == y.config3);
}

static bool same_event(const struct event *a, const struct event *b)
{
	if (a->row_index != b->row_index || a->plm != b->plm || a->has_no_levels != b->has_no_levels || a->precise != b->precise ||
	    a->counter_pin != b->counter_pin || a->exclude_flags != b->exclude_flags)
		return false;
	for (unsigned i = 0; i < a->table->n_fields; i++)
		if (pfmi_pmu_event_field_value(a, i, ANYWHERE) != pfmi_pmu_event_field_value(b, i, ANYWHERE))
			return false;
	return true;
}

/* What was said about both is the same to the letter; then so is everything that follows from it. */
static bool identical(const struct event *a, const struct event *b)
{
	if (a->row_index != b->row_index || a->plm != b->plm || a->has_no_levels != b->has_no_levels || a->precise != b->precise ||
	    a->counter_pin != b->counter_pin || a->has_raw_umask != b->has_raw_umask || a->n_user_fields != b->n_user_fields || a->exclude_flags != b->exclude_flags)
		return false;
	for (unsigned i = 0; i < event_groups(a); i++)
		if (a->group_values[i] != b->group_values[i])
			return false;
	for (unsigned i = 0; i < a->n_user_fields; i++)
		if (a->user_fields[i].field != b->user_fields[i].field || a->user_fields[i].value != b->user_fields[i].value)
			return false;
	return true;
}

/* The hexadecimal digits of "r4c". */
static uint64_t raw_number(const char *s)
{
	uint64_t v = 0;

	for (; (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f'); s++)
		v = v << 4 | (unsigned)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
	return v;
}

/* The same between slashes, where a name is the first term. */
static uint32_t row_of_terms(const struct table *t, struct spec *spec)
{
	struct slice rest = spec->attrs;
	struct spec_attr first;
	struct name n;

	if (!pfmi_spec_next_attr(&rest, &first) || first.has_value)
		return ROW_NONE;
	n = pfmi_table_find(t, pfmi_name_hash(first.name), first.name.s, first.name.len);
	if (n.kind >= NAME_UNSUPPORTED)
		return ROW_NONE;
	spec->attrs = rest;
	return n.row;
}

static bool perf_reads_back(const struct printer *p, struct spec *spec)
{
	struct event back;
	uint32_t row;

	if (p->t->flags & TABLE_KERNEL && p->ev->row_index != ROW_NONE)
		return true;
	row = row_of_terms(p->t, spec);
	if ((row != ROW_NONE && row != p->ev->row_index) || pfmi_lookup_resolve_attrs(p->t, row, spec, &back, NULL))
		return false;
	pfmi_lookup_adopt_row(&back);
	return p->original->exclude_flags == back.exclude_flags && pfmi_same_config(p->original, &back);
}

static bool reads_back(const struct printer *p)
{
	struct event back;
	struct spec spec;
	struct name name;

	if (pfmi_spec_parse(p->text, &spec, NULL))
		return false;
	if (spec.form == SPEC_PERF)
		return perf_reads_back(p, &spec);
	if (p->dialect == PFM_DIALECT_PERF && !table_has_field_bits(p->t)) {
		uint64_t config[4] = { raw_number(p->text + 1) };

		return pfmi_decode_config_words(p->t, config, 15, &back) && back.row_index == p->original->row_index;
	}
	name = pfmi_lookup_spec_name(p->t, &spec);
	return name.kind < NAME_UNSUPPORTED && name.row == p->ev->row_index && !pfmi_lookup_resolve_attrs(p->t, name.row, &spec, &back, NULL) &&
	       (identical(p->original, &back) || (same_event(p->original, &back) && pfmi_same_config(p->original, &back)));
}

/* Is what has been written what @read has behind the processor's name, its attributes to the letter? Then it means what that meant. */
static bool is_as_read(const struct printer *p, const struct spec *read)
{
	struct slice name = { read->name.s, (uint32_t)(read->attrs.s - read->name.s) };
	const char *rest;

	if (read->form != SPEC_NAME || p->dialect != PFM_DIALECT_LIBPFM || p->t->flags & TABLE_TWINS)
		return false;
	rest = pfmi_behind(name, p->text + strlen(table_text(p->t, p->t->name)) + 2);
	return rest && strcmp(rest, read->attrs.s) == 0;
}

/* ---- printing ------------------------------------------------------------------------------------------------- */

static bool put_event(struct printer *p)
{
	if (p->dialect == PFM_DIALECT_PERF)
		return pfmi_put_perf(p);
	if (p->ev->row_index == ROW_NONE)
		return pfmi_cannot(p, "no event of this processor has these values");
	if (p->ev->exclude_flags)
		return pfmi_cannot(p, "only perf's letters tell guests, the host and idle time apart");
	return pfmi_put_words(p);
}

static int hand_out(const struct printer *p, char *buf, size_t len, pfm_error_t *why)
{
	if (p->n >= len)
		return pfmi_refuse(why, PFMLIB_ERR_FULL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, "the buffer is too small");
	memcpy(buf, p->text, p->n + 1);
	return PFMLIB_SUCCESS;
}

/* Does @name, that of @row, lead to it, with capitals in it too? */
static bool is_found(const struct table *t, uint32_t row, struct slice name)
{
	struct name back;

	if (t->flags & TABLE_TWINS || !name.len || !has_none(name.s, ",/"))
		return false;
	back = pfmi_table_find(t, pfmi_name_hash(name), name.s, name.len);
	return back.kind < NAME_UNSUPPORTED && back.row == row;
}

/* So it does in what is built in: tests/test_roundtrip.c reads every name. Elsewhere it is looked up. Twins differ in spelling alone,
 * and go the longer way. */
static inline bool leads_back(const struct table *t, uint32_t row, struct slice name)
{
	return (is_built_in(t) && !(t->flags & TABLE_TWINS)) || is_found(t, row, name);
}

/* Writes the processor's name, that of the row, and @rest of the text behind it. False where @buf has no room for it. */
static inline bool write_row(const struct table *t, struct slice name, struct slice rest, char *buf, size_t len)
{
	struct slice pmu = pfmi_slice(table_text(t, t->name));
	char *to = buf + pmu.len;

	if ((size_t)pmu.len + 2 + name.len + rest.len >= len)
		return false;
	memcpy(buf, pmu.s, pmu.len);
	to[0] = to[1] = ':';
	pfmi_capitals(to + 2, name.s, name.len);
	memcpy(to + 2 + name.len, rest.s, rest.len);
	to[2 + name.len + rest.len] = '\0';
	return true;
}

/* The name of the row of @ev. False, and nothing written, where it would not read back, and where @buf has no room for it. */
static bool print_row(const struct event *ev, char *buf, size_t len)
{
	struct slice name = pfmi_slice(table_text(ev->table, ev->row->name));

	return leads_back(ev->table, ev->row_index, name) && write_row(ev->table, name, (struct slice){ name.s, 0 }, buf, len);
}

/* Nothing but a row that takes no groups, which is the commonest text. False, and nothing written, for all other events too. */
static bool print_bare(const struct event *ev, char *buf, size_t len)
{
	return ev->row && !ev->row->n_takes && !ev->n_user_fields && !ev->plm && !ev->has_no_levels && !ev->precise && !ev->exclude_flags &&
	       ev->counter_pin == ANYWHERE && print_row(ev, buf, len);
}

static int print_in_full(const struct event *ev, const struct spec *read, pfm_dialect_t dialect, struct slice device,
                         char *buf, size_t len, pfm_error_t *why)
{
	struct event plain;
	struct printer p;
	bool ok;

	p.original = ev;
	p.t = ev->table;
	p.dialect = dialect;
	p.device = device;
	p.spell_out = false;
	p.why = NULL;
	p.n = 0;
	p.text[0] = '\0';
	plain = *ev;
	pfmi_say_in_words(&plain, dialect);
	p.ev = &plain;
	ok = put_event(&p);
	if (ok && !p.why && read && is_as_read(&p, read))
		return hand_out(&p, buf, len, why);
	if (ok && !p.why && dialect == PFM_DIALECT_LIBPFM && !reads_back(&p)) {
		p.spell_out = true;
		p.n = 0;
		ok = put_event(&p);
	}
	if (ok && !p.why && !reads_back(&p))
		ok = pfmi_cannot(&p, "read again, the text would mean another event");
	if (!ok || p.why)
		return pfmi_refuse(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_UNEXPRESSIBLE, NULL, (struct slice){ 0 }, p.why);
	return hand_out(&p, buf, len, why);
}

int pfmi_event_print(const struct event *ev, const struct spec *read, pfm_dialect_t dialect, struct slice device,
                     char *buf, size_t len, pfm_error_t *why)
{
	if (dialect == PFM_DIALECT_LIBPFM && print_bare(ev, buf, len))
		return PFMLIB_SUCCESS;
	return print_in_full(ev, read, dialect, device, buf, len, why);
}

/* What perf calls the PMU: the name the text has, where that is an instance or another name the kernel uses. */
static struct slice device_of(const struct pfm_ctx *ctx, unsigned unit, const struct spec *spec)
{
	const struct table *t = context_pmu_table(ctx, unit);
	const struct kernel_pmu *kernel = context_pmu_kernel(ctx, unit);
	const char *device = kernel ? kernel->name : table_text(t, t->device);

	if (spec->form == SPEC_PERF && kernel && !pfmi_context_table_has_name(t, spec->pmu_name))
		return spec->pmu_name;
	/* A pattern of names ("hisi_sccl,ddrc") is no name. */
	return pfmi_slice(*device && has_none(device, ",/:") ? device : table_text(t, t->name));
}

/* Fields given to the kernel's PMU may be an event of a list that describes the same PMU. */
static void find_in_lists(const struct pfm_ctx *ctx, unsigned *unit, struct event *ev)
{
	const struct kernel_pmu *kernel = context_pmu_kernel(ctx, *unit);
	unsigned own = *unit;
	pfm_attr_t a;

	if (!kernel || pfmi_encode_event_attr(ev, -1, PFM_PLM0 | PFM_PLM3, &a, NULL))
		return;
	for (unsigned i = 0; i < ctx->n_host_pmus && ev->row_index == ROW_NONE; i++) {
		unsigned other = ctx->host_pmus[i].pmu_index;
		const struct table *t = context_pmu_table(ctx, other);

		if (other != own && ctx->host_pmus[i].kernel_pmu == kernel && context_is_pmu_usable(ctx, other) && table_has_field_bits(t) &&
		    pfmi_decode_config_words(t, (uint64_t[4]){ a.config, a.config1, a.config2, a.config3 }, 15, ev))
			*unit = other;
	}
}

/* Fields without a name, which may have one in a list. */
static int print_fields(const struct pfm_ctx *ctx, const struct event *ev, unsigned unit, pfm_dialect_t dialect, char *buf,
                        size_t len, pfm_error_t *error)
{
	struct event found = *ev;

	find_in_lists(ctx, &unit, &found);
	return pfmi_event_print(&found, NULL, dialect, (struct slice){ 0 }, buf, len, error);
}

/* Writes @ev, which @spec was read as. */
static int print_read(const struct pfm_ctx *ctx, const struct spec *spec, const struct event *ev, unsigned unit, pfm_dialect_t dialect,
                      char *buf, size_t len, pfm_error_t *error)
{
	struct slice device = { 0 };
	int rc;

	if (dialect == PFM_DIALECT_PERF)
		device = device_of(ctx, unit, spec);
	rc = ev->row_index == ROW_NONE && dialect != PFM_DIALECT_PERF ? print_fields(ctx, ev, unit, dialect, buf, len, error)
	                                                              : pfmi_event_print(ev, spec, dialect, device, buf, len, error);
	if (rc && error && error->kind == PFM_KIND_UNEXPRESSIBLE)
		error->end = spec->len;
	return rc;
}

static bool is_dialect(pfm_dialect_t dialect)
{
	return (int)dialect >= PFM_DIALECT_LIBPFM && dialect <= PFM_DIALECT_VENDOR;
}

static int bad_argument(pfm_error_t *error, const char *detail)
{
	return pfmi_refuse(error, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, detail);
}

static int read_and_print(const pfm_ctx_t *ctx, const char *text, unsigned plm, pfm_encoding_t *out, pfm_dialect_t dialect, char *buf,
                          size_t len, pfm_error_t *error);

/* For callers whose struct for errors is shorter than ours. */
static int print_for_short(const pfm_ctx_t *ctx, const char *text, unsigned plm, pfm_encoding_t *out, pfm_dialect_t dialect,
                           char *buf, size_t len, pfm_error_t *error)
{
	pfm_error_t why = { .size = sizeof(why) };

	return pfmi_error_end(error, &why, read_and_print(ctx, text, plm, out, dialect, buf, len, &why));
}

/* @out is NULL where the text alone is wanted. */
static int read_and_print(const pfm_ctx_t *ctx, const char *text, unsigned plm, pfm_encoding_t *out, pfm_dialect_t dialect, char *buf,
                          size_t len, pfm_error_t *error)
{
	struct event ev;
	struct spec spec;
	unsigned unit;
	int rc;

	if (error && error->size < sizeof(*error))
		return print_for_short(ctx, text, plm, out, dialect, buf, len, error);
	if (!text || !buf || !is_dialect(dialect) || (out && !pfmi_sized(out)))
		return bad_argument(error, "text, out or buf is NULL, out->size is not set, or no such dialect");
	if (plm > PFMI_LEVEL_MASK)
		return bad_argument(error, PFMI_BAD_LEVELS_MESSAGE);
	if (!ctx)
		ctx = pfmi_context_get_default();
	rc = pfmi_spec_parse(text, &spec, error);
	if (!rc)
		rc = pfmi_lookup_spec_event(ctx, &spec, &unit, &ev, error);
	if (!rc && out)
		rc = pfmi_encode_resolved_event(ctx, &spec, unit, &ev, plm, out, error);
	if (rc)
		return rc;
	return print_read(ctx, &spec, &ev, unit, dialect, buf, len, error);
}

int pfm_print_event(const pfm_ctx_t *ctx, const char *text, pfm_dialect_t dialect, char *buf, size_t len, pfm_error_t *error)
{
	return read_and_print(ctx, text, 0, NULL, dialect, buf, len, error);
}

int pfm_encode_and_print(const pfm_ctx_t *ctx, const char *text, unsigned plm, pfm_encoding_t *out, pfm_dialect_t dialect, char *buf,
                         size_t len, pfm_error_t *error)
{
	/* No @out is no text either: refused as one. */
	return read_and_print(ctx, out ? text : NULL, plm, out, dialect, buf, len, error);
}
