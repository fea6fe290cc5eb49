/* SPDX-License-Identifier: MIT */
/* Events as texts, in every dialect.
 *
 *   libpfm  pmu::NAME:MASK...:k:u:e:i:c=N      unit masks in libpfm's spelling, a raw mask where it has none
 *   libpmc  Name,group=word,cmask=N,inv,usr    words of the manual page
 *   perf    device/event=0x2e,umask=0x41/u     every field that has bits; the kernel's own events by their names
 *   vendor  Name:group=word:cmask=N:u          the published name
 *
 * Only what differs from the row's presets is written. Every text is read again before it is handed out: one that would not
 * give the same event is refused, so the promise of pfm_print_event() does not hang on the names in a table. */
#include "ctx.h"
#include "base/sizes.h"
#include "answer/printer.h"

/* ---- proof ---------------------------------------------------------------------------------------------------- */

bool pfmi_same_config(const struct event *a, const struct event *b)
{
	pfm_attr_t x, y;
	int rc = pfmi_event_attr(a, -1, PFM_PLM0 | PFM_PLM3, &x, NULL);

	if (pfmi_event_attr(b, -1, PFM_PLM0 | PFM_PLM3, &y, NULL) != rc)
		return false;
	return rc || (x.config == y.config && x.config1 == y.config1 && x.config2 == y.config2 && x.config3 == y.config3);
}

static bool same_event(const struct event *a, const struct event *b)
{
	if (a->row != b->row || a->plm != b->plm || a->plm_none != b->plm_none || a->precise != b->precise ||
	    a->counter_pin != b->counter_pin || a->left_out != b->left_out)
		return false;
	for (unsigned i = 0; i < a->table->n_fields; i++)
		if (pfmi_event_value(a, i, ANYWHERE) != pfmi_event_value(b, i, ANYWHERE))
			return false;
	return true;
}

/* What was said about both is the same to the letter; then so is everything that follows from it. */
static bool identical(const struct event *a, const struct event *b)
{
	if (a->row != b->row || a->plm != b->plm || a->plm_none != b->plm_none || a->precise != b->precise ||
	    a->counter_pin != b->counter_pin || a->raw_mask != b->raw_mask || a->n_set != b->n_set || a->left_out != b->left_out)
		return false;
	for (unsigned i = 0; i < event_groups(a); i++)
		if (a->group[i] != b->group[i])
			return false;
	for (unsigned i = 0; i < a->n_set; i++)
		if (a->set[i].field != b->set[i].field || a->set[i].value != b->set[i].value)
			return false;
	return true;
}

/* The row a text names, as find.c finds it: the longest piece that is a name. */
static uint32_t row_named(const struct table *t, struct spec *spec)
{
	for (unsigned i = spec->n_cuts; i-- > 0;) {
		struct name n = pfmi_table_find(t, spec->cuts[i].hash, spec->name.s, spec->cuts[i].len);

		if (n.kind >= NAME_UNSUPPORTED)
			continue;
		spec->rest.s = spec->name.s + spec->cuts[i].len;
		spec->rest.len = spec->len - (uint32_t)(spec->rest.s - spec->text);
		return n.row;
	}
	return ROW_NONE;
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
	struct slice rest = spec->rest;
	struct spec_attr first;
	struct name n;

	if (!pfmi_spec_next(&rest, &first) || first.has_value)
		return ROW_NONE;
	n = pfmi_table_find(t, pfmi_name_hash(first.name), first.name.s, first.name.len);
	if (n.kind >= NAME_UNSUPPORTED)
		return ROW_NONE;
	spec->rest = rest;
	return n.row;
}

static bool perf_reads_back(const struct printer *p, struct spec *spec)
{
	struct event back;
	uint32_t row;

	if (p->t->flags & TABLE_KERNEL && p->ev->row != ROW_NONE)
		return true;
	row = row_of_terms(p->t, spec);
	return (row == ROW_NONE || row == p->ev->row) && !pfmi_resolve(p->t, row, spec, &back, NULL) &&
	       p->original->left_out == back.left_out && pfmi_same_config(p->original, &back);
}

static bool reads_back(const struct printer *p)
{
	struct event back;
	struct spec spec;
	uint32_t row;

	if (pfmi_spec_parse(p->text, &spec, NULL))
		return false;
	if (spec.form == SPEC_PERF)
		return perf_reads_back(p, &spec);
	if (p->dialect == PFM_DIALECT_PERF && !table_has_bits(p->t)) {
		uint64_t config[4] = { raw_number(p->text + 1) };

		return pfmi_event_from_config(p->t, config, 15, &back) && back.row == p->original->row;
	}
	row = row_named(p->t, &spec);
	return row == p->ev->row && !pfmi_resolve(p->t, row, &spec, &back, NULL) &&
	       (identical(p->original, &back) || (same_event(p->original, &back) && pfmi_same_config(p->original, &back)));
}

/* ---- printing ------------------------------------------------------------------------------------------------- */

static bool put_event(struct printer *p)
{
	if (p->dialect == PFM_DIALECT_PERF)
		return pfmi_put_perf(p);
	if (p->ev->row == ROW_NONE)
		return pfmi_cannot(p, "no event of this processor has these values");
	if (p->ev->left_out)
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

/* Nothing but a row that takes no groups: the commonest text, and its name is all there is to write and to look up again.
 * Returns its length; 0 for all other events, and where the name would not read back. */
static size_t print_bare(const struct event *ev, char *buf, size_t len)
{
	const struct table *t = ev->table;
	struct name back;
	uint32_t h = NAME_HASH_SEED;
	const char *s;
	size_t n = 0, start;

	if (ev->row == ROW_NONE || event_groups(ev) || ev->n_set || ev->plm || ev->plm_none || ev->precise || ev->left_out ||
	    ev->counter_pin != ANYWHERE)
		return 0;
	for (s = table_text(t, t->name); *s && n + 3 < len; s++)
		buf[n++] = *s;
	if (n + 3 >= len)
		return 0;
	buf[n++] = ':';
	buf[n++] = ':';
	start = n;
	s = table_row_name(t, ev->row);
	if (!*s || strlen(s) >= len - n)
		return 0;
	for (; *s; s++) {
		if (*s < '0' && (*s == ',' || *s == '/'))
			return 0;
		h = name_hash(h, (unsigned char)*s);
		buf[n++] = capital(*s);
	}
	buf[n] = '\0';
	/* As the table spells it, which differs in what makes no difference, unless two names differ in that alone. */
	s = t->flags & TABLE_TWINS ? buf + start : table_row_name(t, ev->row);
	back = pfmi_table_find(t, h, s, n - start);
	return back.kind < NAME_UNSUPPORTED && back.row == ev->row ? n : 0;
}

int pfmi_event_print(const struct event *ev, pfm_dialect_t dialect, struct slice device, char *buf, size_t len, pfm_error_t *why)
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
	if (dialect == PFM_DIALECT_LIBPFM) {
		p.n = print_bare(ev, p.text, sizeof(p.text));
		if (p.n)
			return hand_out(&p, buf, len, why);
	}
	plain = *ev;
	pfmi_say_in_words(&plain, dialect);
	p.ev = &plain;
	ok = put_event(&p);
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

/* What perf calls the PMU: the name the text has, where that is an instance or another name the kernel uses. */
static struct slice device_of(const struct pfm_ctx *ctx, unsigned unit, const char *text)
{
	const struct table *t = pfmi_unit_table(ctx, unit);
	const struct kernel_pmu *kernel = pfmi_unit_kernel(ctx, unit);
	const char *device = kernel ? kernel->name : table_text(t, t->device);
	struct spec spec;

	if (!pfmi_spec_parse(text, &spec, NULL) && spec.form == SPEC_PERF && kernel && !pfmi_table_is(t, spec.pmu))
		return spec.pmu;
	/* A pattern of names ("hisi_sccl,ddrc") is no name. */
	return pfmi_slice(*device && has_none(device, ",/:") ? device : table_text(t, t->name));
}

/* Fields given to the kernel's PMU may be an event of a list that describes the same PMU. */
static void find_in_lists(const struct pfm_ctx *ctx, unsigned *unit, struct event *ev)
{
	const struct kernel_pmu *kernel = pfmi_unit_kernel(ctx, *unit);
	unsigned own = *unit;
	pfm_attr_t a;

	if (!kernel || pfmi_event_attr(ev, -1, PFM_PLM0 | PFM_PLM3, &a, NULL))
		return;
	for (unsigned i = 0; i < ctx->n_here && ev->row == ROW_NONE; i++) {
		unsigned other = ctx->here[i].unit;
		const struct table *t = pfmi_unit_table(ctx, other);

		if (other != own && ctx->here[i].kernel == kernel && pfmi_unit_ready(ctx, other) && table_has_bits(t) &&
		    pfmi_event_from_config(t, (uint64_t[4]){ a.config, a.config1, a.config2, a.config3 }, 15, ev))
			*unit = other;
	}
}

static int print_text(const pfm_ctx_t *ctx, const char *text, pfm_dialect_t dialect, char *buf, size_t len, pfm_error_t *error)
{
	struct event ev;
	struct slice device;
	unsigned unit;
	int rc;

	if (!text || !buf || (int)dialect < PFM_DIALECT_LIBPFM || dialect > PFM_DIALECT_VENDOR)
		return pfmi_refuse(error, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 },
		                   "text or buf is NULL, or no such dialect");
	if (!ctx)
		ctx = pfmi_ctx_default();
	rc = pfmi_ctx_event(ctx, text, &unit, &ev, error);
	if (rc)
		return rc;
	if (ev.row == ROW_NONE && dialect != PFM_DIALECT_PERF)
		find_in_lists(ctx, &unit, &ev);
	device = dialect == PFM_DIALECT_PERF ? device_of(ctx, unit, text) : (struct slice){ 0 };
	rc = pfmi_event_print(&ev, dialect, device, buf, len, error);
	if (rc && error && error->kind == PFM_KIND_UNEXPRESSIBLE)
		error->end = (uint32_t)strlen(text);
	return rc;
}

int pfm_print_event(const pfm_ctx_t *ctx, const char *text, pfm_dialect_t dialect, char *buf, size_t len, pfm_error_t *error)
{
	pfm_error_t mine, *why = pfmi_error_begin(error, &mine);

	return pfmi_error_end(error, why, print_text(ctx, text, dialect, buf, len, why));
}
