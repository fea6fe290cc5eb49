/* SPDX-License-Identifier: MIT */
/* An event in perf's grammar: device/event=0x2e,umask=0x41/u with every field that has bits; the
 * kernel's own events by name. */
#include <inttypes.h>
#include "format/printer.h"

void pfmi_format_write_perf_modifiers(const struct event *ev, char out[12])
{
	/* perf does not see that a table requires precision: the text must ask for it. */
	unsigned n = 0, precise = !ev->precise && event_get_precision(ev) == PRECISE_REQUIRED
	                                  ? 1
	                                  : ev->precise;

	if (ev->plm & PFM_PLM3)
		out[n++] = 'u';
	if (ev->plm & PFM_PLM0)
		out[n++] = 'k';
	if (ev->plm & PFMI_PLMH)
		out[n++] = 'h';
	for (unsigned i = 0; i < precise && i < 3; i++)
		out[n++] = 'p';
	if (ev->exclude_flags & EVENT_ONLY_GUEST)
		out[n++] = 'G';
	if (ev->exclude_flags & EVENT_ONLY_HOST)
		out[n++] = 'H';
	if (ev->exclude_flags & EVENT_EXCLUDE_IDLE)
		out[n++] = 'I';
	out[n] = '\0';
}

/* The terms written so far, as configuration words. */
struct printed_terms {
	uint64_t missing_bits[N_CONFIG_WORDS]; /* bits to cover: those that differ from an event
	                                          without terms */
	uint64_t covered_bits[N_CONFIG_WORDS]; /* bits of the terms so far; terms that share bits
	                                          are refused */
	uint64_t config[N_CONFIG_WORDS];
	unsigned n_terms;
};

static bool has_covered_bits(const struct printed_terms *t, const uint64_t bits[N_CONFIG_WORDS])
{
	uint64_t shared = 0;

	for (unsigned i = 0; i < N_CONFIG_WORDS; i++)
		shared |= bits[i] & t->covered_bits[i];
	return shared != 0;
}

/* True if the term of field @f, which has @bits, keeps out the terms of bits that are still
 * missing: only fields that share bits with it have them, as iperf_cfg of the router of Nehalem EX,
 * in which qlx_cfg lies. */
static bool keeps_out_others(const struct event_printer *p, const struct printed_terms *t,
                             const uint64_t bits[N_CONFIG_WORDS])
{
	struct printed_terms with = *t;
	uint64_t missing = 0;

	for (unsigned i = 0; i < N_CONFIG_WORDS; i++) {
		with.covered_bits[i] = bits[i];
		with.missing_bits[i] &= ~bits[i];
	}
	for (unsigned i = 0; i < p->table->n_fields; i++) {
		const struct field *f = &table_fields(p->table)[i];
		uint64_t others[N_CONFIG_WORDS] = { 0 };

		if (f->kind != FIELD_TEXT)
			field_insert(f, others, ~(uint64_t)0);
		for (unsigned k = 0; k < N_CONFIG_WORDS && !has_covered_bits(&with, others); k++)
			with.missing_bits[k] &= ~others[k];
	}
	for (unsigned i = 0; i < N_CONFIG_WORDS; i++)
		missing |= with.missing_bits[i];
	return missing != 0;
}

static bool append_term(struct event_printer *p, struct printed_terms *t, const struct field *f)
{
	uint64_t bits[N_CONFIG_WORDS] = { 0 }, wanted = 0,
		 value = pfmi_pmu_extract_field(f, t->config);

	if (!f->n_ranges || f->kind == FIELD_TEXT)
		return false;
	field_insert(f, bits, ~(uint64_t)0);
	for (unsigned i = 0; i < N_CONFIG_WORDS; i++)
		wanted |= bits[i] & t->missing_bits[i];
	if ((!wanted && f->key != KEY_CODE) || has_covered_bits(t, bits))
		return false;
	if (f->key == KEY_CODE ? t->n_terms != 0 : keeps_out_others(p, t, bits))
		return false;
	pfmi_format_append_printf(p, "%s%s", t->n_terms++ ? "," : "",
	                          f->key == KEY_CODE ? "event" : table_get_text(p->table, f->name));
	if (f->width > 1 || value != 1) {
		pfmi_format_append_printf(p, "=");
		pfmi_format_append_value(p, f, value);
	}
	for (unsigned i = 0; i < N_CONFIG_WORDS; i++) {
		t->missing_bits[i] &= ~bits[i];
		t->covered_bits[i] |= bits[i];
	}
	return true;
}

/* Appends the fields that the row and its groups set. */
static void append_row_terms(struct event_printer *p, struct printed_terms *t)
{
	const struct row *r = p->event->row_index == ROW_NONE
	                              ? NULL
	                              : table_get_row(p->table, p->event->row_index);

	for (unsigned i = 0; r && i < r->n_values; i++)
		append_term(p, t,
		            table_fields(p->table) + table_get_row_value(p->table, r, i).field);
	for (unsigned i = 0; r && i < r->n_groups; i++)
		append_term(p, t,
		            table_fields(p->table) + table_get_row_group(p->table, r, i)->field);
}

/* Appends the narrowest field that has all missing bits of @word: extra registers share a word, and
 * whole words come last. */
static void append_covering_term(struct event_printer *p, struct printed_terms *t, unsigned word)
{
	const struct field *f = table_fields(p->table), *best = NULL;

	for (unsigned i = 0; i < p->table->n_fields && t->missing_bits[word]; i++) {
		uint64_t bits[N_CONFIG_WORDS] = { 0 };

		if (f[i].kind != FIELD_TEXT)
			field_insert(&f[i], bits, ~(uint64_t)0);
		if (!(t->missing_bits[word] & ~bits[word]) && !has_covered_bits(t, bits) &&
		    (!best || f[i].width < best->width))
			best = &f[i];
	}
	if (best)
		append_term(p, t, best);
}

static bool append_terms(struct event_printer *p, const perfmon_attr_t *a)
{
	static const enum field_key order[] = { KEY_CODE, KEY_UMASK, KEY_CMASK, KEY_INV, KEY_EDGE };
	struct printed_terms t = { .n_terms = 0 };
	uint64_t missing = 0;
	const struct field *f = table_fields(p->table);
	struct event bare;

	attr_get_words(a, t.config);
	pfmi_pmu_init_event(&bare, p->table, ROW_NONE);
	pfmi_pmu_build_config_words(&bare, ANY_COUNTER, t.missing_bits);
	for (unsigned i = 0; i < N_CONFIG_WORDS; i++)
		t.missing_bits[i] ^= t.config[i];
	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (table_get_key_field_plus1(p->table, order[i]))
			append_term(p, &t, f + table_get_key_field_plus1(p->table, order[i]) - 1);
	for (unsigned i = 0; i < p->event->n_user_fields; i++) {
		const struct field *user = f + p->event->user_fields[i].field;

		/* An extra register that is 0 has no bit that is missing. */
		if (pfmi_pmu_extract_field(user, t.config) ||
		    !field_is_extra_register(p->table, user))
			append_term(p, &t, user);
		else
			pfmi_format_append_printf(p, "%s%s=0", t.n_terms++ ? "," : "",
			                          table_get_text(p->table, user->name));
	}
	append_row_terms(p, &t);
	for (unsigned word = 0; word < N_CONFIG_WORDS; word++)
		append_covering_term(p, &t, word);
	for (unsigned i = 0; i < p->table->n_fields; i++)
		append_term(p, &t, &f[i]);
	for (unsigned i = 0; i < p->table->n_fields && !t.n_terms; i++)
		if (f[i].n_ranges)
			pfmi_format_append_printf(p, "%s=%d", table_get_text(p->table, f[i].name),
			                          t.n_terms++);
	for (unsigned i = 0; i < N_CONFIG_WORDS; i++)
		missing |= t.missing_bits[i];
	return !missing || pfmi_format_set_reason(p, "it sets bits that no term of this PMU has");
}

/* Would the kernel read the fields as another event? Events of fixed counters share fields with one
 * of general counters: "cpu/event=0xc0/" is the latter. */
static bool has_fields_of_other_event(const struct event_printer *p, const perfmon_attr_t *a)
{
	const struct row *r = p->event->row_index == ROW_NONE
	                              ? NULL
	                              : table_get_row(p->table, p->event->row_index);
	uint64_t on = r ? table_get_row_counter_mask(p->table, r) : 0;
	struct event found;
	uint64_t words[N_CONFIG_WORDS];

	attr_get_words(a, words);
	if (!r || r->n_groups || !(on >> 32) || on & 0xffffffff)
		return false;
	return pfmi_pmu_decode_config_words(p->table, words, ALL_CONFIG_WORDS, &found) &&
	       found.row_index != p->event->row_index;
}

/* "cpu/instructions,cmask=1/u": the event's name and its settings. */
static bool append_name_term(struct event_printer *p)
{
	const struct field *f = table_fields(p->table);

	if (!format_has_none_of(table_get_row_name(p->table, p->event->row_index), "/,="))
		return pfmi_format_set_reason(p, "the event's name does not fit between slashes");
	pfmi_format_append_printf(p, "%s", table_get_row_name(p->table, p->event->row_index));
	for (unsigned i = 0; i < p->event->n_user_fields; i++) {
		pfmi_format_append_printf(
			p,
			",%s=", table_get_text(p->table, f[p->event->user_fields[i].field].name));
		pfmi_format_append_value(p, &f[p->event->user_fields[i].field],
		                         p->event->user_fields[i].value);
	}
	return true;
}

/* Would a rule refuse the text that asks for the precision of the event's row? */
static bool is_refused_when_precise(const struct event *ev)
{
	struct event asks = *ev;

	if (ev->precise || event_get_precision(ev) != PRECISE_REQUIRED)
		return false;
	asks.precise = 1;
	for (unsigned i = 0; i < ev->table->n_rules; i++) {
		const struct rule *r = &table_rules(ev->table)[i];

		if (r->effect == RULE_REFUSE && pfmi_pmu_holds_rule(&asks, r, 0))
			return true;
	}
	return false;
}

static bool append_perf_body(struct event_printer *p, const perfmon_attr_t *a)
{
	char letters[12];
	bool named, ok;

	pfmi_format_write_perf_modifiers(p->event, letters);
	if (p->table->encoder == ENCODER_PERF && p->event->row_index != ROW_NONE &&
	    !p->event->n_user_fields) {
		pfmi_format_append_printf(p, "%s%s%s",
		                          table_get_row_name(p->table, p->event->row_index),
		                          letters[0] ? ":" : "", letters);
		return true;
	}
	if (!table_has_field_bits(p->table) && p->event->n_user_fields)
		return pfmi_format_set_reason(p, "the kernel has numbers for whole events of this "
		                                 "processor, not for their attributes");
	if (!table_has_field_bits(p->table)) {
		pfmi_format_append_printf(p, "r%" PRIx64 "%s%s", a->config, letters[0] ? ":" : "",
		                          letters);
		return !(a->config1 | a->config2 | a->config3 | a->config4) ||
		       pfmi_format_set_reason(
			       p,
			       "a raw number cannot hold more than the first configuration word");
	}
	pfmi_format_append_printf(p, "%.*s/", (int)p->device.len, p->device.text);
	named = p->event->row_index != ROW_NONE &&
	        (p->table->flags & TABLE_FROM_KERNEL || has_fields_of_other_event(p, a));
	ok = named ? append_name_term(p) : append_terms(p, a);
	pfmi_format_append_printf(p, "/%s", letters);
	return ok;
}

bool pfmi_format_append_perf_event(struct event_printer *p)
{
	perfmon_attr_t a;

	if (p->event->has_no_levels)
		return pfmi_format_set_reason(
			p, "perf cannot express a count without a privilege level");
	if (p->event->plm & (PFM_PLM1 | PFM_PLM2))
		return pfmi_format_set_reason(
			p, "perf distinguishes user, kernel and hypervisor only");
	if (p->event->counter_pin != ANY_COUNTER)
		return pfmi_format_set_reason(
			p, "perf leaves the choice of the counter to the kernel");
	pfmi_pmu_build_event_attr(p->event, -1, pfmi_pmu_get_encoder(p->table)->default_levels, &a);
	if (!a.expressible)
		return pfmi_format_set_reason(p, "the kernel cannot count it");
	if (is_refused_when_precise(p->event))
		return pfmi_format_set_reason(p,
		                              "it must be precise, and so the kernel refuses its "
		                              "filters");
	return append_perf_body(p, &a);
}
