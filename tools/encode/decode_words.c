/* SPDX-License-Identifier: MIT */
/* pfm decode: the events that several words of one perf_event_attr select. */
#include "encode/decode.h"

#include <inttypes.h>
#include <string.h>

/* True if @a has the given words. */
static bool has_words(const struct config_words *w, const perfmon_attr_t *a, uint64_t config)
{
	const uint64_t own[N_WORDS] = { config, a->config1, a->config2, a->config3, a->config4 };

	for (unsigned i = 0; i < N_WORDS; i++)
		if (w->given >> i & 1 && own[i] != w->value[i])
			return false;
	return true;
}

static unsigned count_wrong_bits(const struct config_words *w, const perfmon_attr_t *a)
{
	const uint64_t own[N_WORDS] = { a->config, a->config1, a->config2, a->config3, a->config4 };
	unsigned n = 0;

	for (unsigned i = 0; i < N_WORDS; i++)
		n += w->given >> i & 1 ? (unsigned)__builtin_popcountll(own[i] ^ w->value[i]) : 0;
	return n;
}

static bool describe_word_field(const struct decoder *d, const struct config_words *w,
                                unsigned word, unsigned i, const char **name, uint64_t *field)
{
	const char reg[] = { 'c', 'o', 'n', 'f', 'i', 'g', (char)('0' + word), 0 };
	const char *text;

	return pfm_decode_field(d->ctx, d->pmu, reg, w->value[word], i, name, field, &text) ==
	       PFMLIB_SUCCESS;
}

/* Counts the fields of a given word; 0 for other words. */
static unsigned count_fields(const struct decoder *d, const struct config_words *w, unsigned word)
{
	const char *name;
	uint64_t field;
	unsigned n = 0;

	while (w->given >> word & 1 && describe_word_field(d, w, word, n, &name, &field))
		n++;
	return n;
}

/* Writes fields that make the words, in perf's grammar. Several fields may share bits: a field is
 * used if it brings the words nearer, or if the fields so far name no event. @first: the field of
 * the other words that comes first. */
static bool write_fields(const struct decoder *d, const struct config_words *w, unsigned first,
                         char *text, size_t len)
{
	pfm_encoding_t e = PFM_INIT(e);
	const char *name = "";
	unsigned wrong = ~0u, now;
	uint64_t field = 0;
	size_t n = (size_t)snprintf(text, len, "%s/", d->pmu_name), more;

	for (unsigned i = 0; i < N_WORDS; i++)
		for (unsigned k = 0, n_fields = count_fields(d, w, i); k < n_fields; k++) {
			describe_word_field(d, w, i, (k + (i ? first : 0)) % n_fields, &name,
			                    &field);
			more = (size_t)snprintf(text + n, len - n, "%s%s=0x%" PRIx64 "/",
			                        text[n - 1] == '/' ? "" : ",", name, field);
			if (!field || n + more >= len)
				continue;
			now = pfm_encode_event(d->ctx, text, 0, &e, NULL)
			              ? ~0u
			              : count_wrong_bits(w, &e.attr);
			if (now > wrong || (now == wrong && now != ~0u))
				continue;
			wrong = now;
			n += more - 1;
		}
	snprintf(text + n, len - n, "/");
	return wrong == 0;
}

static bool find_event_of_fields(const struct decoder *d, const struct config_words *w,
                                 unsigned first, char *event, pfm_encoding_t *e)
{
	char text[EVENT_MAX], full[EVENT_MAX + 256];

	if (!write_fields(d, w, first, text, sizeof(text)) ||
	    pfm_print_event(d->ctx, text, PFM_DIALECT_VENDOR, event, EVENT_MAX, NULL) !=
	            PFMLIB_SUCCESS)
		return false;
	snprintf(full, sizeof(full), "%s::%s", d->pmu_name, event);
	return pfm_encode_event(d->ctx, full, 0, e, NULL) == PFMLIB_SUCCESS &&
	       has_words(w, &e->attr, e->attr.config);
}

/* Finds the event that all words select together, with any fields, unit masks and modifiers. Tries
 * each field of the words as the first one, because a word may be a different register of different
 * events. */
static bool find_event_of_words(const struct decoder *d, const struct config_words *w, char *event,
                                pfm_encoding_t *e)
{
	unsigned n = 1;

	for (unsigned i = 1; i < N_WORDS; i++)
		n = count_fields(d, w, i) > n ? count_fields(d, w, i) : n;
	for (unsigned first = 0; first < n; first++)
		if (find_event_of_fields(d, w, first, event, e))
			return true;
	return false;
}

/* Returns the index of the alternative encoding in @e with the code and unit mask of @w, or -1. */
static int find_alternative_encoding(const struct config_words *w, const pfm_encoding_t *e)
{
	for (unsigned i = 0; i < e->n_alternatives; i++)
		if (!((e->alternatives[i].config ^ w->value[0]) & 0xffff))
			return (int)i;
	return -1;
}

/* Finds the event under its primary code if @w has the alternative code of @like. */
static void add_event_by_primary_code(struct decoder *d, const struct config_words *w,
                                      const pfm_encoding_t *like)
{
	pfm_encoding_t e = PFM_INIT(e);
	struct config_words first = *w;
	char event[EVENT_MAX];

	first.value[0] ^=
		like->alternatives[find_alternative_encoding(w, like)].config ^ like->attr.config;
	if (find_event_of_words(d, &first, event, &e) && find_alternative_encoding(w, &e) >= 0)
		add_found_event(&d->found, event);
}

/* Finds rows with exactly these words. */
static void list_rows_of_words(struct decoder *d, const struct config_words *w)
{
	perfmon_event_info_t info = PFM_INIT(info);
	pfm_encoding_t e = PFM_INIT(e);
	bool first = d->found.n == 0 && w->given & 1;

	for (unsigned i = 0; i < d->n_events; i++) {
		int way;

		if (pfm_describe_event(d->ctx, d->pmu, i, &info) != PFMLIB_SUCCESS ||
		    pfm_encode_event_at(d->ctx, d->pmu, i, 0, &e, NULL) != PFMLIB_SUCCESS)
			continue;
		way = w->given & 1 ? find_alternative_encoding(w, &e) : -1;
		if (way >= 0 && first)
			add_event_by_primary_code(d, w, &e);
		first = first && way < 0;
		if (has_words(w, &e.attr, e.attr.config) ||
		    (way >= 0 && has_words(w, &e.attr, e.alternatives[way].config)))
			add_found_event(&d->found, info.name);
	}
}

void list_joint_events(struct decoder *d, const struct config_words *given)
{
	pfm_encoding_t e = PFM_INIT(e);
	struct setting config = { "config", given->value[0] };
	char event[EVENT_MAX];
	struct config_words w = *given;

	/* Bits that only the kernel uses do not depend on the event; no event has other bits
	 * without a field. */
	if (w.given & 1 && compute_bits_without_field(d, &config)) {
		if (pfm_decode_event(d->ctx, d->pmu, config.reg, config.value, 0, event,
		                     sizeof(event)) != PFMLIB_SUCCESS)
			return;
		w.value[0] &= ~compute_bits_without_field(d, &config);
	}
	if (find_event_of_words(d, &w, event, &e))
		add_found_event(&d->found, event);
	list_rows_of_words(d, &w);
}
