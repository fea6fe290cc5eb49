/* SPDX-License-Identifier: MIT */
/* What pfm show says of events of processors that have query functions of their own. */
#include "show.h"

#include <string.h>
#include <perfmon/pfmlib_alpha.h>
#include <perfmon/pfmlib_montecito.h>

static const struct {
	unsigned bit;
	const char *word, *text;
} uncertainties[] = {
	{ PFM_ALPHA_UNC_NAME, "name", "the name is made from the header's constant, no source prints it" },
	{ PFM_ALPHA_UNC_HEADER_ONLY, "header_only", "in the system's header, not in its manual page" },
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
	{ PFM_ALPHA_UNC_CBR, "cbr", "means something for conditional branches only, if predicted rightly" },
	{ PFM_ALPHA_UNC_PROBES, "probes", "probes by other processors that take long count too" }
};

static const struct {
	int (*supports)(unsigned);
	const char *word, *text;
} filters[] = {
	{ pfm_mont_support_opcm, "opcm", "opcode match" },
	{ pfm_mont_support_iarr, "iarr", "code ranges" },
	{ pfm_mont_support_darr, "darr", "data ranges" },
	{ pfm_mont_support_all, "all", "all threads" }
};

static bool is_alpha(int type)
{
	return type >= PFMLIB_ALPHA_EV4_PMU && type <= PFMLIB_ALPHA_EV67_PMU;
}

/* The query functions number events as the libpfm 3 interface does. */
static bool find_index(int type, const char *name, unsigned *index)
{
	return (type == PFMLIB_MONTECITO_PMU || is_alpha(type)) && pfm_force_pmu(type) == PFMLIB_SUCCESS &&
	       pfm_find_event_byname(name, index) == PFMLIB_SUCCESS;
}

bool model_has_field(int type, const char *field)
{
	return (type == PFMLIB_MONTECITO_PMU && strcmp(field, "accepts") == 0) || (is_alpha(type) && strcmp(field, "uncertainty") == 0);
}

static void montecito_filters(unsigned index, char *buf, size_t len)
{
	size_t i, at = 0;

	snprintf(buf, len, "none: no filter may be in use");
	for (i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		if (filters[i].supports(index) && at < len)
			at += (size_t)snprintf(buf + at, len - at, "%s%s", at ? ", " : "", filters[i].text);
}

void print_model(int type, const char *name, show_line_fn line)
{
	pfm_alpha_event_info_t info;
	unsigned index;
	char buf[160];
	size_t i;

	if (!find_index(type, name, &index))
		return;
	if (type == PFMLIB_MONTECITO_PMU) {
		montecito_filters(index, buf, sizeof(buf));
		line("filters", buf);
		return;
	}
	if (pfm_alpha_get_event_info(type, index, &info) != PFMLIB_SUCCESS)
		return;
	if (info.weight_num != info.weight_den) {
		snprintf(buf, sizeof(buf), "events = count * %u / %u", info.weight_num, info.weight_den);
		line("weight", buf);
	}
	if (info.kind == PFM_ALPHA_PROFILEME || info.kind == PFM_ALPHA_RATIO)
		line("mind", "a ProfileMe statistic: of sampled instructions, not of all that ran");
	for (i = 0; i < sizeof(uncertainties) / sizeof(uncertainties[0]); i++)
		if (info.uncertainty & uncertainties[i].bit)
			line("mind", uncertainties[i].text);
}

void json_model(struct json *j, int type, const char *name)
{
	pfm_alpha_event_info_t info;
	unsigned index;
	size_t i;

	if (!find_index(type, name, &index))
		return;
	if (type == PFMLIB_MONTECITO_PMU) {
		put_begin(j, "filters", '[');
		for (i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
			if (filters[i].supports(index))
				put_text(j, NULL, filters[i].word);
		put_end(j, ']');
	} else if (pfm_alpha_get_event_info(type, index, &info) == PFMLIB_SUCCESS) {
		put_begin(j, "uncertainty", '[');
		for (i = 0; i < sizeof(uncertainties) / sizeof(uncertainties[0]); i++)
			if (info.uncertainty & uncertainties[i].bit)
				put_text(j, NULL, uncertainties[i].word);
		put_end(j, ']');
	}
}

/* Statistics of ProfileMe are called like events and are none. */
char *count_note(const pfm_ctx_t *ctx, const char *text, char buf[NOTE_MAX])
{
	pfm_pmu_info_t pmu = PFM_INIT(pmu);
	pfm_event_info_t event = PFM_INIT(event);
	pfm_alpha_event_info_t info;
	unsigned row, index;
	int unit;

	buf[0] = 0;
	if (pfm_find_event_by_text(ctx, text, &unit, &row, NULL) != PFMLIB_SUCCESS ||
	    pfm_describe_pmu(ctx, unit, &pmu) != PFMLIB_SUCCESS || pmu.libpfm_type != PFMLIB_ALPHA_EV67_PMU ||
	    pfm_describe_event(ctx, unit, row, &event) != PFMLIB_SUCCESS || !find_index(pmu.libpfm_type, event.name, &index) ||
	    pfm_alpha_get_event_info(pmu.libpfm_type, index, &info) != PFMLIB_SUCCESS)
		return buf;
	if (info.kind == PFM_ALPHA_PROFILEME || info.kind == PFM_ALPHA_RATIO)
		snprintf(buf, NOTE_MAX, "A ProfileMe statistic: of sampled instructions, not of all that ran.%s%s%s",
		         info.kind == PFM_ALPHA_RATIO ? " Not divided by the retired samples." : "", *event.note ? " " : "", event.note);
	return buf;
}
