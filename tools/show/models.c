/* SPDX-License-Identifier: MIT */
/* Shows the properties of events that only Alpha or Montecito processors have. */
#include "show/show.h"

#include <stdio.h>
#include <string.h>
#include <perfmon/alpha.h>

static const struct {
	unsigned bit;
	const char *word, *text;
} uncertainties[] = {
	{ PFM_ALPHA_UNC_NAME, "name",
	  "the name is made from the header's constant, no source prints it" },
	{ PFM_ALPHA_UNC_HEADER_ONLY, "header_only",
	  "in the system's header, not in its manual page" },
	{ PFM_ALPHA_UNC_PIN, "pin", "an input pin: what it counts depends on the board" },
	{ PFM_ALPHA_UNC_DISPUTED, "disputed", "sources disagree on what is counted" },
	{ PFM_ALPHA_UNC_COST, "cost", "cycles lost, not occurrences" },
	{ PFM_ALPHA_UNC_REPLAYED, "replayed", "replayed instructions count again" },
	{ PFM_ALPHA_UNC_OVER, "over", "counts more than its name says" },
	{ PFM_ALPHA_UNC_NOT_BUILT, "not_built", "the hardware counts something else" },
	{ PFM_ALPHA_UNC_TWICE, "twice", "two counts for each event" },
	{ PFM_ALPHA_UNC_RETIRED, "retired", "off by up to 4 retired instructions either way" },
	{ PFM_ALPHA_UNC_EARLY, "early", "backup cache misses are seen 3 cycles early" },
	{ PFM_ALPHA_UNC_LATE, "late", "replay traps use a window moved 1 cycle later" },
	{ PFM_ALPHA_UNC_WINDOW, "window", "a lower bound, at most the window less 2 cycles" },
	{ PFM_ALPHA_UNC_APPROXIMATE, "approximate", "approximate" },
	{ PFM_ALPHA_UNC_CBR, "cbr",
	  "valid only for conditional branches that were predicted correctly" },
	{ PFM_ALPHA_UNC_PROBES, "probes", "probes by other processors that take long count too" }
};

static const struct {
	const char *word, *text;
} filters[] = { { "opcm", "opcode match" }, { "iarr", "code ranges" }, { "darr", "data ranges" } };

static bool is_alpha(int type)
{
	return type >= PFMLIB_ALPHA_EV4_PMU && type <= PFMLIB_ALPHA_EV67_PMU;
}

/* Describes an event of an Alpha. Returns false for others. */
static bool describe_alpha_event(int type, const perfmon_event_info_t *e,
                                 pfm_alpha_event_info_t *info)
{
	return is_alpha(type) && pfm_alpha_get_event_info(type, e->event, info) == PFMLIB_SUCCESS;
}

/* Returns the filters, as a bit set, with which Montecito's event counts correctly. */
static uint64_t get_accepted_filters(const pfm_ctx_t *ctx, const perfmon_event_info_t *e)
{
	const char *name, *text;
	uint64_t value = 0;
	int counter;

	for (unsigned i = 0; pfm_describe_field(ctx, e->pmu, e->event, i, &name, &text, &value,
	                                        &counter) == PFMLIB_SUCCESS;
	     i++)
		if (strcmp(name, "accepts") == 0)
			return value;
	return 0;
}

/* Calls @each with the filters by their words in the table. */
static void visit_filters(const pfm_ctx_t *ctx, const perfmon_event_info_t *e,
                          void (*each)(void *arg, size_t filter), void *arg)
{
	uint64_t all = get_accepted_filters(ctx, e), bit;
	const char *word;

	for (unsigned i = 0;
	     pfm_describe_value_name(ctx, e->pmu, "accepts", i, &word, &bit) == PFMLIB_SUCCESS; i++)
		for (size_t k = 0; k < sizeof(filters) / sizeof(filters[0]); k++)
			if (all & bit && strcmp(word, filters[k].word) == 0)
				each(arg, k);
}

bool model_has_field(int type, const char *field)
{
	return (type == PFMLIB_MONTECITO_PMU && strcmp(field, "accepts") == 0) ||
	       (is_alpha(type) && strcmp(field, "uncertainty") == 0);
}

struct text_line {
	char text[160];
	size_t n;
};

static void add_text(void *arg, size_t filter)
{
	struct text_line *l = arg;

	if (l->n < sizeof(l->text))
		l->n += (size_t)snprintf(l->text + l->n, sizeof(l->text) - l->n, "%s%s",
		                         l->n ? ", " : "", filters[filter].text);
}

static void put_filter(void *arg, size_t filter)
{
	put_text(arg, NULL, filters[filter].word);
}

void print_model_lines(const pfm_ctx_t *ctx, int type, const perfmon_event_info_t *e,
                       show_line_fn line)
{
	pfm_alpha_event_info_t info;
	struct text_line l = { "", 0 };
	size_t i;

	if (type == PFMLIB_MONTECITO_PMU) {
		visit_filters(ctx, e, add_text, &l);
		line("filters", l.n ? l.text : "none: the count needs all filters off");
		return;
	}
	if (!describe_alpha_event(type, e, &info))
		return;
	if (info.weight_num != info.weight_den) {
		snprintf(l.text, sizeof(l.text), "events = count * %u / %u", info.weight_num,
		         info.weight_den);
		line("weight", l.text);
	}
	if (info.kind == PFM_ALPHA_PROFILEME || info.kind == PFM_ALPHA_RATIO)
		line("mind", "a ProfileMe statistic: of sampled instructions, not of all that ran");
	for (i = 0; i < sizeof(uncertainties) / sizeof(uncertainties[0]); i++)
		if (info.uncertainty & uncertainties[i].bit)
			line("mind", uncertainties[i].text);
}

void put_model(const pfm_ctx_t *ctx, struct json *j, int type, const perfmon_event_info_t *e)
{
	pfm_alpha_event_info_t info;
	size_t i;

	if (type == PFMLIB_MONTECITO_PMU) {
		put_begin(j, "filters", '[');
		visit_filters(ctx, e, put_filter, j);
		put_end(j, ']');
	} else if (describe_alpha_event(type, e, &info)) {
		put_begin(j, "uncertainty", '[');
		for (i = 0; i < sizeof(uncertainties) / sizeof(uncertainties[0]); i++)
			if (info.uncertainty & uncertainties[i].bit)
				put_text(j, NULL, uncertainties[i].word);
		put_end(j, ']');
	}
}

/* Names of ProfileMe statistics look like those of events. */
char *describe_uncertainty(const pfm_ctx_t *ctx, const char *text, char buf[NOTE_MAX])
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	perfmon_event_info_t event = PFM_INIT(event);
	pfm_alpha_event_info_t info;
	unsigned row;
	int unit;

	buf[0] = 0;
	if (pfm_find_event_by_text(ctx, text, &unit, &row, NULL) != PFMLIB_SUCCESS ||
	    pfm_describe_pmu(ctx, unit, &pmu) != PFMLIB_SUCCESS ||
	    pmu.libpfm_type != PFMLIB_ALPHA_EV67_PMU ||
	    pfm_describe_event(ctx, unit, row, &event) != PFMLIB_SUCCESS ||
	    !describe_alpha_event(pmu.libpfm_type, &event, &info))
		return buf;
	if (info.kind == PFM_ALPHA_PROFILEME || info.kind == PFM_ALPHA_RATIO)
		snprintf(buf, NOTE_MAX,
		         "A ProfileMe statistic: of sampled instructions, not of all that "
		         "ran.%s%s%s",
		         info.kind == PFM_ALPHA_RATIO ? " Not divided by the retired samples." : "",
		         *event.note ? " " : "", event.note);
	return buf;
}
