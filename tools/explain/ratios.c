/* SPDX-License-Identifier: MIT */
/* Values of rules that are quotients of two meanings of events: "divider_cycles/cycles". */
#include "explain/readings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- events of a meaning --------------------------------------------------------------------- */

enum tag_state { NO_TAG, PART_TAG, WHOLE_TAG };

/* Finds @meaning in tags, "64*dram_bytes;+l3_misses". Tags with a factor are left out. */
static enum tag_state find_tag(const char *tags, const char *meaning)
{
	const size_t len = strlen(meaning);

	while (*tags) {
		const size_t n = strcspn(tags, ";");
		const bool is_part = *tags == '+';

		if (n == len + is_part && strncmp(tags + is_part, meaning, len) == 0)
			return is_part ? PART_TAG : WHOLE_TAG;
		tags += n + (tags[n] == ';');
	}
	return NO_TAG;
}

/* Adds the events of @pmu. Returns true if one of them counts the whole. */
static bool add_events(const pfm_ctx_t *ctx, int pmu, const perfmon_pmu_info_t *info,
                       const char *meaning, char texts[][EVENT_TEXT_MAX], unsigned most,
                       unsigned *n)
{
	perfmon_event_info_t event = PFM_INIT(event);

	for (unsigned i = 0; i < info->n_events; i++) {
		const char *tags = find_meaning_tags(ctx, pmu, i);
		const enum tag_state state = tags ? find_tag(tags, meaning) : NO_TAG;

		if (state == NO_TAG || pfm_describe_event(ctx, pmu, i, &event) ||
		    pfm_is_event_implemented(ctx, pmu, i) == 0)
			continue;
		if (state == WHOLE_TAG)
			*n = 0;
		if (*n < most)
			snprintf(texts[*n], EVENT_TEXT_MAX, "%s::%s", info->name, event.name);
		++*n;
		if (state == WHOLE_TAG)
			return true;
	}
	return false;
}

/* True for the PMUs of a core; @native: with names of their own, else the kernel's. */
static bool is_wanted_pmu(const perfmon_pmu_info_t *info, bool native)
{
	const bool is_generic =
		strcmp(info->name, "hardware") == 0 || strcmp(info->name, "hw_cache") == 0;

	return info->flags & PFM_PMU_HOST && !(info->flags & (PFM_PMU_HIDDEN | PFM_PMU_UNCORE)) &&
	       is_generic != native;
}

unsigned find_events_of_meaning(const pfm_ctx_t *ctx, const char *meaning,
                                char texts[][EVENT_TEXT_MAX], unsigned most)
{
	const int n_pmus = pfm_count_pmus(ctx);
	perfmon_pmu_info_t info = PFM_INIT(info);
	unsigned n = 0;

	for (int i = 0; n == 0 && i < 2 * n_pmus; i++)
		if (!pfm_describe_pmu(ctx, i % n_pmus, &info) && is_wanted_pmu(&info, i < n_pmus))
			add_events(ctx, i % n_pmus, &info, meaning, texts, most, &n);
	return n <= most ? n : 0;
}

/* ---- ratios ---------------------------------------------------------------------------------- */

/* Finds the events of one side of the quotient. False with a reason if nothing counts it. */
static bool find_side(const pfm_ctx_t *ctx, const char *name, size_t len, unsigned first,
                      struct event_ratios *out, unsigned side, struct explain_value *v)
{
	struct event_ratio *ratio = &out->list[out->n];
	char meaning[MEANING_MAX];

	snprintf(meaning, sizeof(meaning), "%.*s", (int)len, name);
	ratio->first[side] = first + out->n_texts;
	ratio->n[side] = 0;
	ratio->n[side] =
		find_events_of_meaning(ctx, meaning, out->texts + out->n_texts, RATIO_PARTS_MAX);
	out->n_texts += ratio->n[side];
	if (!ratio->n[side])
		snprintf(v->reason, sizeof(v->reason), "no event of this machine counts %s",
		         meaning);
	return ratio->n[side] > 0;
}

void find_ratios(const pfm_ctx_t *ctx, struct explain_evidence *e, unsigned first,
                 struct event_ratios *out)
{
	out->n = out->n_texts = 0;
	for (size_t i = 0; i < e->n && out->n < RATIOS_MAX; i++) {
		struct explain_value *v = &e->values[i];
		const char *slash = strchr(v->metric, '/');
		const unsigned n_texts = out->n_texts;

		if (!slash)
			continue;
		out->list[out->n].value = i;
		if (find_side(ctx, v->metric, (size_t)(slash - v->metric), first, out, 0, v) &&
		    find_side(ctx, slash + 1, strlen(slash + 1), first, out, 1, v))
			out->n++;
		else
			out->n_texts = n_texts;
	}
}

void set_mean(struct explain_value *v, const double *numbers, unsigned n)
{
	double error;

	if (n < 2) {
		snprintf(v->reason, sizeof(v->reason), TOO_SHORT);
		return;
	}
	v->value = estimate_mean(numbers, n, &error);
	v->low = v->value - error;
	v->high = v->value + error;
	v->is_known = true;
}

/* Adds up the counts of a side between two readings. NAN without a value, with the reason. */
static double add_side(const struct reading_series *r, const pfm_count_t *round,
                       const struct event_ratio *ratio, unsigned side, struct explain_value *v)
{
	pfm_count_info_t info = PFM_INIT(info);
	double sum = 0;

	for (unsigned i = 0; i < r->n_counts; i++) {
		if (pfm_describe_count(r->s, i, &info) || info.request < ratio->first[side] ||
		    info.request >= ratio->first[side] + ratio->n[side])
			continue;
		if (pfm_counter_quality(round[i].quality, round[i].cause) > PFM_QUALITY_PARTIAL) {
			snprintf(v->reason, sizeof(v->reason), "%s",
			         *info.why ? info.why : pfm_cause_name(round[i].cause));
			return NAN;
		}
		sum += (double)round[i].value;
	}
	return sum;
}

void compute_ratio(const struct reading_series *r, const pfm_count_t *rounds,
                   const struct event_ratio *ratio, struct explain_value *v)
{
	double quotients[READINGS_MAX];
	unsigned n = 0;

	for (unsigned k = 0; k + 1 < r->n; k++) {
		const pfm_count_t *round = rounds + (size_t)k * r->n_counts;
		double above = add_side(r, round, ratio, 0, v),
		       below = add_side(r, round, ratio, 1, v);

		if (!isnan(above) && below > 0)
			quotients[n++] = above / below;
	}
	if (n < 2 && *v->reason)
		return;
	*v->reason = 0;
	set_mean(v, quotients, n);
}
