/* SPDX-License-Identifier: MIT */
/* An event in perf's grammar: device/event=0x2e,umask=0x41/u, every field that has bits; the kernel's own events by their names. */
#include <inttypes.h>
#include "format/printer.h"

void pfmi_perf_letters(const struct event *ev, char out[12])
{
	unsigned n = 0;

	if (ev->plm & PFM_PLM3)
		out[n++] = 'u';
	if (ev->plm & PFM_PLM0)
		out[n++] = 'k';
	if (ev->plm & PFMI_PLMH)
		out[n++] = 'h';
	for (unsigned i = 0; i < ev->precise && i < 3; i++)
		out[n++] = 'p';
	if (ev->exclude_flags & EVENT_ONLY_GUEST)
		out[n++] = 'G';
	if (ev->exclude_flags & EVENT_ONLY_HOST)
		out[n++] = 'H';
	if (ev->exclude_flags & EVENT_EXCLUDE_IDLE)
		out[n++] = 'I';
	out[n] = '\0';
}

/* Terms that make the configuration words. */
struct terms {
	uint64_t want[4]; /* bits that differ from those of an event without terms, and must be covered */
	uint64_t said[4]; /* bits of the terms there are: two that share some are refused */
	uint64_t config[4];
	unsigned n;
};

static bool is_said(const struct terms *t, const uint64_t bits[4])
{
	return (bits[0] & t->said[0]) | (bits[1] & t->said[1]) | (bits[2] & t->said[2]) | (bits[3] & t->said[3]);
}

static bool put_term(struct printer *p, struct terms *t, const struct field *f)
{
	uint64_t bits[4] = { 0 }, wanted = 0, value = pfmi_pmu_extract_field(f, t->config);

	if (!f->n_ranges || f->kind == FIELD_TEXT)
		return false;
	field_insert(f, bits, ~(uint64_t)0);
	for (unsigned i = 0; i < 4; i++)
		wanted |= bits[i] & t->want[i];
	if ((!wanted && f->key != KEY_CODE) || is_said(t, bits))
		return false;
	if (f->key == KEY_CODE && t->n)
		return false;
	pfmi_put(p, "%s%s", t->n++ ? "," : "", f->key == KEY_CODE ? "event" : table_text(p->t, f->name));
	if (f->width > 1 || value != 1) {
		pfmi_put(p, "=");
		pfmi_put_value(p, f, value);
	}
	for (unsigned i = 0; i < 4; i++) {
		t->want[i] &= ~bits[i];
		t->said[i] |= bits[i];
	}
	return true;
}

/* The fields that the row and its groups have values for. */
static void put_row_terms(struct printer *p, struct terms *t)
{
	const struct row *r = p->ev->row_index == ROW_NONE ? NULL : table_row(p->t, p->ev->row_index);

	for (unsigned i = 0; r && i < r->n_values; i++)
		put_term(p, t, table_fields(p->t) + row_value(p->t, r, i).field);
	for (unsigned i = 0; r && i < r->n_takes; i++)
		put_term(p, t, table_fields(p->t) + row_group(p->t, r, i)->field);
}

/* The narrowest field that has all the bits still wanted in @word: extra registers share one, and whole words come last. */
static void put_cover(struct printer *p, struct terms *t, unsigned word)
{
	const struct field *f = table_fields(p->t), *best = NULL;

	for (unsigned i = 0; i < p->t->n_fields && t->want[word]; i++) {
		uint64_t bits[4] = { 0 };

		if (f[i].kind != FIELD_TEXT)
			field_insert(&f[i], bits, ~(uint64_t)0);
		if (!(t->want[word] & ~bits[word]) && !is_said(t, bits) && (!best || f[i].width < best->width))
			best = &f[i];
	}
	if (best)
		put_term(p, t, best);
}

static bool put_terms(struct printer *p, const pfm_attr_t *a)
{
	static const enum key order[] = { KEY_CODE, KEY_UMASK, KEY_CMASK, KEY_INV, KEY_EDGE };
	struct terms t = { .config = { a->config, a->config1, a->config2, a->config3 } };
	const struct field *f = table_fields(p->t);
	struct event bare;

	pfmi_pmu_init_event(&bare, p->t, ROW_NONE);
	pfmi_pmu_build_config_words(&bare, ANYWHERE, t.want);
	for (unsigned i = 0; i < 4; i++)
		t.want[i] ^= t.config[i];
	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (table_key(p->t, order[i]))
			put_term(p, &t, f + table_key(p->t, order[i]) - 1);
	for (unsigned i = 0; i < p->ev->n_user_fields; i++)
		if (p->ev->user_fields[i].value || !field_is_extra_register(p->t, f + p->ev->user_fields[i].field))
			put_term(p, &t, f + p->ev->user_fields[i].field);
		else
			pfmi_put(p, "%s%s=0", t.n++ ? "," : "", table_text(p->t, f[p->ev->user_fields[i].field].name));
	put_row_terms(p, &t);
	for (unsigned word = 0; word < 4; word++)
		put_cover(p, &t, word);
	for (unsigned i = 0; i < p->t->n_fields; i++)
		put_term(p, &t, &f[i]);
	for (unsigned i = 0; i < p->t->n_fields && !t.n; i++)
		if (f[i].n_ranges)
			pfmi_put(p, "%s=%d", table_text(p->t, f[i].name), t.n++);
	return !(t.want[0] | t.want[1] | t.want[2] | t.want[3]) || pfmi_cannot(p, "it sets bits that no term of this PMU has");
}

/* An event of fixed counters alone, whose fields the kernel uses for one of general counters too: "cpu/event=0xc0/" is that one. */
static bool fields_mean_another(const struct printer *p, const pfm_attr_t *a)
{
	const struct row *r = p->ev->row_index == ROW_NONE ? NULL : table_row(p->t, p->ev->row_index);
	uint64_t on = r ? row_counters(p->t, r) : 0;
	struct event found;

	if (!r || r->n_takes || !(on >> 32) || on & 0xffffffff)
		return false;
	return pfmi_decode_config_words(p->t, (uint64_t[4]){ a->config, a->config1, a->config2, a->config3 }, 15, &found) &&
	       found.row_index != p->ev->row_index;
}

/* "cpu/instructions,cmask=1/u": the event's name, and what was said beside it. */
static bool put_name_term(struct printer *p)
{
	const struct field *f = table_fields(p->t);

	if (!has_none(table_row_name(p->t, p->ev->row_index), "/,="))
		return pfmi_cannot(p, "the event's name does not fit between slashes");
	pfmi_put(p, "%s", table_row_name(p->t, p->ev->row_index));
	for (unsigned i = 0; i < p->ev->n_user_fields; i++) {
		pfmi_put(p, ",%s=", table_text(p->t, f[p->ev->user_fields[i].field].name));
		pfmi_put_value(p, &f[p->ev->user_fields[i].field], p->ev->user_fields[i].value);
	}
	return true;
}

static bool put_perf_body(struct printer *p, const pfm_attr_t *a)
{
	char letters[12];
	bool named, ok;

	pfmi_perf_letters(p->ev, letters);
	if (p->t->encoder == ENCODER_PERF && p->ev->row_index != ROW_NONE && !p->ev->n_user_fields) {
		pfmi_put(p, "%s%s%s", table_row_name(p->t, p->ev->row_index), letters[0] ? ":" : "", letters);
		return true;
	}
	if (!table_has_field_bits(p->t) && p->ev->n_user_fields)
		return pfmi_cannot(p, "the kernel has numbers for whole events of this processor, not for their attributes");
	if (!table_has_field_bits(p->t)) {
		pfmi_put(p, "r%" PRIx64 "%s%s", a->config, letters[0] ? ":" : "", letters);
		return !(a->config1 | a->config2 | a->config3) || pfmi_cannot(p, "a raw number is the first configuration word alone");
	}
	pfmi_put(p, "%.*s/", (int)p->device.len, p->device.s);
	named = p->ev->row_index != ROW_NONE && (p->t->flags & TABLE_KERNEL || fields_mean_another(p, a));
	ok = named ? put_name_term(p) : put_terms(p, a);
	pfmi_put(p, "/%s", letters);
	return ok;
}

bool pfmi_put_perf(struct printer *p)
{
	pfm_attr_t a;

	if (p->ev->has_no_levels)
		return pfmi_cannot(p, "perf cannot switch every level off");
	if (p->ev->plm & (PFM_PLM1 | PFM_PLM2))
		return pfmi_cannot(p, "perf tells user from kernel and hypervisor, no other levels");
	if (p->ev->counter_pin != ANYWHERE)
		return pfmi_cannot(p, "perf leaves the choice of the counter to the kernel");
	if (!pfmi_pmu_has_encoder(p->t) || pfmi_encode_event_attr(p->ev, -1, pfmi_pmu_get_default_levels(p->t), &a, NULL) || !a.expressible)
		return pfmi_cannot(p, "the kernel has no way to count it");
	return put_perf_body(p, &a);
}
