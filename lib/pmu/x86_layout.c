/* SPDX-License-Identifier: MIT */
/* The fields of x86 cores' registers, by the registers' names. */
#include "pmu/x86.h"

bool pfmi_x86_has_coreduo_settings(const struct table *t)
{
	const struct feature *f = table_features(t);

	for (unsigned i = 0; i < t->n_features; i++)
		if (strcmp(table_get_text(t, f[i].name), "settings") == 0)
			return strcmp(table_get_text(t, f[i].text), "coreduo") == 0;
	return false;
}

static const struct register_field intel_perfevtsel_bits[] = {
	{ "event", 0, 8 },     { "umask", 8, 8 }, { "usr", 16, 1 },    { "os", 17, 1 },
	{ "edge", 18, 1 },     { "pc", 19, 1 },   { "int", 20, 1 },    { "any", 21, 1 },
	{ "en", 22, 1 },       { "inv", 23, 1 },  { "cmask", 24, 8 },  { "in_tx", 32, 1 },
	{ "in_tx_cp", 33, 1 }, { "eq", 36, 1 },   { "umask2", 40, 8 },
};
/* Core Duo's register ends at bit 31 and has no any-thread bit. */
static const struct register_field coreduo_perfevtsel_bits[] = {
	{ "event", 0, 8 }, { "umask", 8, 8 },  { "usr", 16, 1 }, { "os", 17, 1 },
	{ "edge", 18, 1 }, { "pc", 19, 1 },    { "int", 20, 1 }, { "en", 22, 1 },
	{ "inv", 23, 1 },  { "cmask", 24, 8 },
};
static const struct register_field amd_perfevtsel_bits[] = {
	{ "event", 0, 8 },       { "umask", 8, 8 },       { "usr", 16, 1 },
	{ "os", 17, 1 },         { "edge", 18, 1 },       { "int", 20, 1 },
	{ "en", 22, 1 },         { "inv", 23, 1 },        { "cmask", 24, 8 },
	{ "event_high", 32, 4 }, { "guest_only", 40, 1 }, { "host_only", 41, 1 },
};
static const struct register_field fixed_ctr_ctrl_bits[] = {
	{ "os0", 0, 1 },  { "usr0", 1, 1 },  { "any0", 2, 1 },  { "pmi0", 3, 1 },
	{ "os1", 4, 1 },  { "usr1", 5, 1 },  { "any1", 6, 1 },  { "pmi1", 7, 1 },
	{ "os2", 8, 1 },  { "usr2", 9, 1 },  { "any2", 10, 1 }, { "pmi2", 11, 1 },
	{ "os3", 12, 1 }, { "usr3", 13, 1 }, { "any3", 14, 1 }, { "pmi3", 15, 1 },
	{ "os4", 16, 1 }, { "usr4", 17, 1 }, { "any4", 18, 1 }, { "pmi4", 19, 1 },
	{ "os5", 20, 1 }, { "usr5", 21, 1 }, { "any5", 22, 1 }, { "pmi5", 23, 1 },
	{ "os6", 24, 1 }, { "usr6", 25, 1 }, { "any6", 26, 1 }, { "pmi6", 27, 1 },
};
static const struct register_field global_ctrl_bits[] = { { "general", 0, 32 },
	                                                  { "fixed", 32, 16 },
	                                                  { "metrics", 48, 1 } };
/* Shares of the slots, in 255ths. Source: as PERF_METRICS in x86.h. */
static const struct register_field perf_metrics_bits[] = {
	{ "retiring", 0, 8 },   { "bad_spec", 8, 8 },   { "fe_bound", 16, 8 },
	{ "be_bound", 24, 8 },  { "heavy_ops", 32, 8 }, { "br_mispredict", 40, 8 },
	{ "fetch_lat", 48, 8 }, { "mem_bound", 56, 8 },
};
static const struct register_field offcore_bits[] = { { "offcore_rsp", 0, 64 } };
static const struct register_field omr_bits[] = { { "omr", 0, 64 } };
static const struct register_field snoop_bits[] = { { "snoop_rsp", 0, 64 } };
static const struct register_field ld_lat_bits[] = { { "latency", 0, 16 } };
static const struct register_field frontend_bits[] = { { "event", 0, 8 },
	                                               { "latency", 8, 12 },
	                                               { "bubbles", 20, 3 } };

#define COUNT_BITS(BITS) (sizeof(BITS) / sizeof((BITS)[0]))

/* Is @name, with or without the prefix "IA32_", @word, or @word with the number of a general
 * counter if @numbered? */
static bool is_register_name(const struct table *t, const char *name, const char *word,
                             bool numbered)
{
	struct slice s = { name, (uint32_t)strlen(name) };
	unsigned n = 0, digits = 0;

	if (s.len > 5 && pfmi_base_is_slice_icase((struct slice){ s.text, 5 }, "IA32_")) {
		s.text += 5;
		s.len -= 5;
	}
	while (numbered && digits < 2 && s.len && s.text[s.len - 1] >= '0' &&
	       s.text[s.len - 1] <= '9') {
		n += (unsigned)(s.text[--s.len] - '0') * (digits++ ? 10 : 1);
	}
	return pfmi_base_is_slice_icase(s, word) &&
	       (!digits || (n < FIRST_FIXED_COUNTER && t->all_counters >> n & 1));
}

static const struct register_field *get_perfevtsel_layout(const struct table *t, unsigned *n)
{
	const struct counter_range *c = table_counters(t);
	const struct field *code = table_get_key_field(t, KEY_CODE);

	if ((t->n_counters && c->control_register >= 0xc0000000u) || (code && code->width == 12)) {
		*n = COUNT_BITS(amd_perfevtsel_bits);
		return amd_perfevtsel_bits;
	}
	*n = pfmi_x86_has_coreduo_settings(t) ? COUNT_BITS(coreduo_perfevtsel_bits)
	                                      : COUNT_BITS(intel_perfevtsel_bits);
	return pfmi_x86_has_coreduo_settings(t) ? coreduo_perfevtsel_bits : intel_perfevtsel_bits;
}

const struct register_field *pfmi_x86_find_layout(const struct table *t, const char *name,
                                                  unsigned *n)
{
	if (is_register_name(t, name, "PERFEVTSEL", true) ||
	    is_register_name(t, name, "PERF_CTL", true) || is_register_name(t, name, "PMC", true))
		return get_perfevtsel_layout(t, n);
	if (!(t->all_counters >> FIRST_FIXED_COUNTER))
		return NULL;
		/* A table of pointers would need relocations. */
#define MATCH_LAYOUT(NAME, BITS)                                                                   \
	if (is_register_name(t, name, NAME, false)) {                                              \
		*n = COUNT_BITS(BITS);                                                             \
		return BITS;                                                                       \
	}
	MATCH_LAYOUT("FIXED_CTR_CTRL", fixed_ctr_ctrl_bits)
	MATCH_LAYOUT("FIXED_CTRL", fixed_ctr_ctrl_bits) /* the spelling of PFM_REG_FIXED_CTRL */
	MATCH_LAYOUT("GLOBAL_CTRL", global_ctrl_bits)
	MATCH_LAYOUT("PERF_GLOBAL_CTRL", global_ctrl_bits)
	if (t->all_counters >> (FIRST_FIXED_COUNTER + SLOTS_FIXED_NUMBER) & 1) {
		MATCH_LAYOUT("PERF_METRICS", perf_metrics_bits)
	}
	MATCH_LAYOUT("PEBS_LD_LAT", ld_lat_bits)
	MATCH_LAYOUT("OFFCORE_RSP_0", offcore_bits)
	MATCH_LAYOUT("OFFCORE_RSP_1", offcore_bits)
	MATCH_LAYOUT("OMR_0", omr_bits)
	MATCH_LAYOUT("OMR_1", omr_bits)
	MATCH_LAYOUT("OMR_2", omr_bits)
	MATCH_LAYOUT("OMR_3", omr_bits)
	MATCH_LAYOUT("SNOOP_RSP_0", snoop_bits)
	MATCH_LAYOUT("SNOOP_RSP_1", snoop_bits)
	MATCH_LAYOUT("PEBS_FRONTEND", frontend_bits)
#undef MATCH_LAYOUT
	return NULL;
}

uint64_t pfmi_x86_get_event_select_mask(const struct table *t, const char *reg, unsigned i,
                                        unsigned *counter)
{
	struct slice name = { reg, (uint32_t)strlen(reg) };
	uint32_t len = base_measure_without_number(name);
	unsigned n;
	const struct register_field *layout = pfmi_x86_find_layout(t, reg, &n);
	uint64_t mask = 0, number = i;

	/* A name without a number is the register of each counter in turn. */
	if (table_has_field_bits(t) || !layout)
		return 0;
	if (len < name.len &&
	    (i || !pfmi_base_parse_number((struct slice){ reg + len, name.len - len }, &number)))
		return 0;
	for (unsigned k = 0; k < n; k++)
		if (strcmp(layout[k].name, "usr") != 0 && strcmp(layout[k].name, "os") != 0 &&
		    strcmp(layout[k].name, "int") != 0 && strcmp(layout[k].name, "en") != 0)
			mask |= register_field_mask(layout[k]) << layout[k].lsb;
	*counter = (unsigned)number;
	return number < FIRST_FIXED_COUNTER && t->all_counters >> number & 1 ? mask : 0;
}
