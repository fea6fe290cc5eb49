/* SPDX-License-Identifier: MIT */
/* The names of raw events, by their words. */
#include "pretend/supervisor.h"

#include <stdio.h>
#include <string.h>

enum { N_CACHED = 512, N_WORDS = 3 };

/* True for a number in place of a name ("r3f1"): its event is in no table. */
static bool is_number(const char *text)
{
	return text[0] == 'r' && text[1] && !text[1 + strspn(text + 1, "0123456789abcdef")];
}

static void add_text(const struct pretend_machine *m, const struct pretend_pmu *pmu,
                     const char *text, struct event_name *name)
{
	perfmon_pmu_info_t p = PFM_INIT(p);
	char vendor[EVENT_TEXT_MAX];
	const char *own;
	pfm_encoding_t e = PFM_INIT(e);

	if (pfm_print_event(m->ctx, text, PFM_DIALECT_VENDOR, vendor, sizeof(vendor), NULL) ||
	    pfm_describe_pmu(m->ctx, pmu->pmu, &p))
		return;
	own = strstr(vendor, "::") ? strstr(vendor, "::") + 2 : vendor;
	if (!is_number(own) &&
	    snprintf(name->texts[name->n], EVENT_TEXT_MAX, "%s::%s", p.name, own) <
	            EVENT_TEXT_MAX &&
	    !pfm_encode_event(m->ctx, name->texts[name->n], 0, &e, NULL))
		name->n++;
}

static void decode_words(const struct pretend_machine *m, const struct pretend_pmu *pmu,
                         const uint64_t words[N_WORDS], struct event_name *name)
{
	pfm_reg_t regs[N_WORDS] = { { 0 } };
	pfm_decoded_event_t found[EVENT_TEXTS] = { PFM_INIT(found[0]), PFM_INIT(found[0]) };
	int n;

	for (unsigned i = 0; i < N_WORDS; i++) {
		regs[i].kind = PFM_REG_CONFIG;
		regs[i].num = i;
		regs[i].value = words[i];
	}
	n = pfm_decode_set(m->ctx, pmu->pmu, regs,
	                   words[2]   ? 3
	                   : words[1] ? 2
	                              : 1,
	                   found, EVENT_TEXTS);
	for (int i = 0; i < n && i < EVENT_TEXTS && *found[i].text; i++)
		add_text(m, pmu, found[i].text, name);
}

/* Some registers cannot be decoded: looks for an event that is encoded so. */
static void search_words(const struct pretend_machine *m, const struct pretend_pmu *pmu,
                         const uint64_t words[N_WORDS], struct event_name *name)
{
	perfmon_pmu_info_t p = PFM_INIT(p);
	perfmon_event_info_t info = PFM_INIT(info);
	pfm_encoding_t e = PFM_INIT(e);

	if (pfm_describe_pmu(m->ctx, pmu->pmu, &p))
		return;
	for (unsigned i = 0; i < p.n_events && !name->n; i++)
		if (!pfm_encode_event_at(m->ctx, pmu->pmu, i, 0, &e, NULL) &&
		    e.attr.config == words[0] && e.attr.config1 == words[1] &&
		    e.attr.config2 == words[2] && !pfm_describe_event(m->ctx, pmu->pmu, i, &info))
			name->n += snprintf(name->texts[0], EVENT_TEXT_MAX, "%s::%s", p.name,
			                    info.name) < EVENT_TEXT_MAX;
}

void name_raw_event(const struct pretend_machine *m, const struct pretend_pmu *pmu,
                    const struct perf_attr *a, struct event_name *name)
{
	/* Programs open the same events again and again. */
	static struct cached_name {
		const struct pretend_pmu *pmu;
		uint64_t words[N_WORDS];
		struct event_name name;
	} cache[N_CACHED];
	const uint64_t words[N_WORDS] = { a->config, a->config1, a->config2 };
	struct cached_name *c =
		&cache[(words[0] ^ words[0] >> 9 ^ words[1] ^ words[2] ^ pmu->type) % N_CACHED];

	if (c->pmu != pmu || memcmp(c->words, words, sizeof(words)) != 0) {
		*c = (struct cached_name){ .pmu = pmu };
		memcpy(c->words, words, sizeof(words));
		decode_words(m, pmu, words, &c->name);
		if (!c->name.n)
			search_words(m, pmu, words, &c->name);
	}
	*name = c->name;
}

/* ---- events that are in no table ------------------------------------------------------------- */

enum { N_MASKS = 64 };

/* How many events of a PMU have each set of counters. */
struct mask_counts {
	uint64_t masks[N_MASKS];
	unsigned counts[N_MASKS], n;
};

static void add_mask(struct mask_counts *c, uint64_t mask)
{
	unsigned i = 0;

	while (i < c->n && c->masks[i] != mask)
		i++;
	if (i == N_MASKS)
		return;
	c->masks[i] = mask;
	c->counts[i]++;
	c->n += i == c->n;
}

static uint64_t find_usual_mask(const struct pretend_machine *m, const struct pretend_pmu *pmu,
                                unsigned n_events)
{
	static struct mask_counts c;
	perfmon_event_info_t info = PFM_INIT(info);
	unsigned most = 0;

	c = (struct mask_counts){ .n = 0 };
	for (unsigned i = 0; i < n_events; i++)
		if (!pfm_describe_event(m->ctx, pmu->pmu, i, &info))
			add_mask(&c, info.counters);
	for (unsigned i = 1; i < c.n; i++)
		most = c.counts[i] > c.counts[most] ? i : most;
	return c.masks[most];
}

/* Finds the first event with the usual counters that needs nothing else. */
static void find_plain_event(const struct pretend_machine *m, const struct pretend_pmu *pmu,
                             struct event_name *name)
{
	perfmon_pmu_info_t p = PFM_INIT(p);
	perfmon_event_info_t info = PFM_INIT(info);
	pfm_encoding_t e = PFM_INIT(e);
	uint64_t usual;

	*name = (struct event_name){ .n = 0 };
	if (pfm_describe_pmu(m->ctx, pmu->pmu, &p))
		return;
	usual = find_usual_mask(m, pmu, p.n_events);
	for (unsigned i = 0; i < p.n_events && !name->n; i++)
		if (!pfm_describe_event(m->ctx, pmu->pmu, i, &info) && info.counters == usual &&
		    !(info.flags & PFM_EVENT_ALONE) &&
		    !pfm_encode_event_at(m->ctx, pmu->pmu, i, 0, &e, NULL) && !e.attr.config1)
			name->n += snprintf(name->texts[0], EVENT_TEXT_MAX, "%s::%s", p.name,
			                    info.name) < EVENT_TEXT_MAX;
}

void name_plain_event(const struct pretend_machine *m, const struct pretend_pmu *pmu,
                      struct event_name *name)
{
	static const struct pretend_pmu *known;
	static struct event_name plain;

	if (known != pmu)
		find_plain_event(m, pmu, &plain);
	known = pmu;
	*name = plain;
}
