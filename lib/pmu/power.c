/* SPDX-License-Identifier: MIT */
/* Control registers of POWER8, POWER9 and Power10, which the kernel computes from the codes of all
 * events of a set: the events in MMCR1, levels in MMCR2, sampling and thresholds in MMCRA, the
 * sources of data in MMCR3. No register is of one counter, so all belong to no single event.
 *
 * Sources: Power ISA 2.07, 3.0 and 3.1, Book III, "Performance Monitor Facility" (registers,
 * levels); the performance monitor unit user's guides of the processors (fields of MMCR1 and
 * MMCRA); Linux arch/powerpc/perf/isa207-common.c, isa207_compute_mmcr (where each bit of a code
 * goes). */
#include <string.h>
#include "pmu/power.h"

/* The number of the ISA that the feature mmcr of a table names. */
enum { ISA_207 = 207, ISA_300 = 300, ISA_310 = 310 };

enum { LAST_EVENT_COUNTER = 4, LAST_COUNTER = 6 }; /* counters 5 and 6 have one event each */

/* Fields of an event's code. */
static const struct register_field SELECT = { "pmcxsel", 0, 8 }, MARK = { "mark", 8, 1 },
				   COUNTER = { "pmc", 16, 4 },
				   RADIX_SCOPE = { "radix_scope", 9, 1 },
				   COMBINE_207 = { "combine", 11, 1 },
				   COMBINE = { "combine", 10, 2 }, UNIT = { "unit", 12, 4 },
				   QUALIFIER = { "cache_sel", 20, 2 },
				   IS_QUALIFIED = { "cache_sel", 22, 1 },
				   SDAR_MODE_310 = { "sdar_mode", 22, 2 },
				   SAMPLE_MODE = { "sample_mode", 24, 2 },
				   SAMPLE_ELIGIBLE = { "sample_mode", 26, 3 },
				   THRESHOLD_SELECT = { "thresh_sel", 29, 3 },
				   THRESHOLD_CONTROL = { "thresh_ctl", 32, 8 },
				   THRESHOLD_VALUE = { "thresh_cmp", 40, 10 },
				   CACHE_SELECT = { "l2l3_sel", 40, 5 },
				   SOURCE = { "src_sel", 45, 15 },
				   SDAR_MODE_300 = { "sdar_mode", 50, 2 };

/* Fields of the registers. Bit 0 is the lowest one, which the manuals call bit 63. */
static const struct register_field mmcr0_fields[] = {
	{ "fchv", 0, 1 },    { "fcwait", 1, 1 },  { "fc56", 4, 1 },    { "c56run", 8, 1 },
	{ "pmccext", 9, 1 }, { "pmcjce", 14, 1 }, { "pmc1ce", 15, 1 }, { "pmcc", 18, 2 },
	{ "ebe", 20, 1 },    { "bhrba", 21, 1 },  { "tbee", 22, 1 },   { "fcece", 25, 1 },
	{ "pmae", 26, 1 },   { "fcm0", 27, 1 },   { "fcm1", 28, 1 },   { "fcp", 29, 1 },
	{ "fcs", 30, 1 },    { "fc", 31, 1 },
};
static const struct register_field mmcr1_fields_207[] = {
	{ "pmc4sel", 0, 8 },   { "pmc3sel", 8, 8 },   { "pmc2sel", 16, 8 },  { "pmc1sel", 24, 8 },
	{ "combine4", 32, 1 }, { "combine3", 33, 1 }, { "combine2", 34, 1 }, { "combine1", 35, 1 },
	{ "fab", 36, 8 },      { "qual", 46, 2 },     { "unit4", 48, 4 },    { "unit3", 52, 4 },
	{ "unit2", 56, 4 },    { "unit1", 60, 4 },
};
static const struct register_field mmcr1_fields[] = {
	{ "pmc4sel", 0, 8 },   { "pmc3sel", 8, 8 },      { "pmc2sel", 16, 8 },
	{ "pmc1sel", 24, 8 },  { "combine4", 32, 2 },    { "combine3", 34, 2 },
	{ "combine2", 36, 2 }, { "combine1", 38, 2 },    { "qual", 46, 2 },
	{ "unit4", 48, 4 },    { "unit3", 52, 4 },       { "unit2", 56, 4 },
	{ "unit1", 60, 4 },    { "radix_scope", 45, 1 }, /* from ISA_310 on */
};
#define LEVELS_OF_COUNTER(N)                                                                       \
	{ "fch" #N, 66 - 9 * (N), 1 }, { "fcwait" #N, 67 - 9 * (N), 1 },                           \
		{ "fcp" #N, 71 - 9 * (N), 1 },                                                     \
	{                                                                                          \
		"fcs" #N, 72 - 9 * (N), 1                                                          \
	}
static const struct register_field mmcr2_fields[] = {
	{ "l2l3_sel", 3, 5 }, LEVELS_OF_COUNTER(6), LEVELS_OF_COUNTER(5), LEVELS_OF_COUNTER(4),
	LEVELS_OF_COUNTER(3), LEVELS_OF_COUNTER(2), LEVELS_OF_COUNTER(1),
};
static const struct register_field mmcr3_fields[] = {
	{ "src4", 4, 15 }, { "src3", 19, 15 }, { "src2", 34, 15 }, { "src1", 49, 15 }
};
static const struct register_field mmcra_fields_207[] = {
	{ "sample", 0, 1 },     { "sample_mode", 1, 2 }, { "sample_elig", 4, 3 },
	{ "thresh_ctl", 8, 8 }, { "thresh_sel", 16, 3 }, { "thresh_cmp", 32, 10 },
	{ "sdar_mode", 42, 2 },
};
static const struct register_field mmcra_fields[] = {
	{ "sample", 0, 1 },     { "sample_mode", 1, 2 },  { "sample_elig", 4, 3 },
	{ "thresh_ctl", 8, 8 }, { "thresh_sel", 16, 3 },  { "bhrbrd", 37, 1 },
	{ "sdar_mode", 42, 2 }, { "thresh_cmp", 45, 11 },
};

/* The registers, by their numbers in sets. Their addresses are the numbers that mfspr and mtspr
 * encode. */
enum { MMCR0, MMCR1, MMCR2, MMCR3, MMCRA, N_CONTROLS };
static const char control_names[N_CONTROLS][6] = { "MMCR0", "MMCR1", "MMCR2", "MMCR3", "MMCRA" };
static const uint16_t control_addresses[N_CONTROLS] = { 795, 798, 785, 754, 786 };
enum { ADDRESS_OF_PMC1 = 787 }; /* PMC2 to PMC6 follow */

struct layout {
	const struct register_field *fields;
	unsigned n;
};
#define LAYOUT(FIELDS) ((struct layout){ FIELDS, sizeof(FIELDS) / sizeof((FIELDS)[0]) })

static struct layout get_layout(uint64_t isa, unsigned control)
{
	struct layout events = isa >= ISA_300 ? LAYOUT(mmcr1_fields) : LAYOUT(mmcr1_fields_207);

	events.n -= isa == ISA_300; /* without its last field */
	switch (control) {
	case MMCR0: return LAYOUT(mmcr0_fields);
	case MMCR1: return events;
	case MMCR2: return LAYOUT(mmcr2_fields);
	case MMCR3: return isa >= ISA_310 ? LAYOUT(mmcr3_fields) : (struct layout){ NULL, 0 };
	default: return isa >= ISA_300 ? LAYOUT(mmcra_fields) : LAYOUT(mmcra_fields_207);
	}
}

struct controls {
	uint64_t isa;
	uint64_t words[N_CONTROLS];
	bool is_marked; /* an event of the set samples marked instructions */
};

static uint64_t get_isa(const struct table *t)
{
	uint64_t isa = 0;

	return pfmi_pmu_find_feature(t, "mmcr", &isa) ? isa : 0;
}

bool pfmi_power_has_controls(const struct table *t)
{
	return get_isa(t) != 0;
}

const char *pfmi_power_get_control_name(unsigned number)
{
	return control_names[number < N_CONTROLS ? number : 0];
}

uint64_t pfmi_power_get_counter_address(unsigned counter)
{
	return ADDRESS_OF_PMC1 + counter - 1;
}

const struct register_field *pfmi_power_find_layout(const struct table *t, const char *name,
                                                    unsigned *n)
{
	struct layout l;

	for (unsigned i = 0; i < N_CONTROLS; i++) {
		if (!pfmi_base_is_slice_icase((struct slice){ name, (uint32_t)strlen(name) },
		                              control_names[i]))
			continue;
		l = get_layout(get_isa(t), i);
		*n = l.n;
		return l.fields;
	}
	return NULL;
}

/* The field called @name of register @control. */
static struct register_field find_field(uint64_t isa, unsigned control, const char *name)
{
	const struct layout l = get_layout(isa, control);
	unsigned i = 0;

	while (i < l.n - 1 && strcmp(l.fields[i].name, name) != 0)
		i++;
	return l.fields[i];
}

/* Sets bits of the field called @name of register @control. */
static void add_bits(struct controls *c, unsigned control, const char *name, uint64_t bits)
{
	const struct register_field f = find_field(c->isa, control, name);

	c->words[control] |= (bits & register_field_mask(f)) << f.lsb;
}

/* ---- the parts of an event ------------------------------------------------------------------- */

/* Selects the event of counter @n, one of the first four. */
static void add_selection(struct controls *c, unsigned n, uint64_t code)
{
	static const char unit[][6] = { "unit1", "unit2", "unit3", "unit4" };
	static const char combine[][9] = { "combine1", "combine2", "combine3", "combine4" };
	static const char selector[][8] = { "pmc1sel", "pmc2sel", "pmc3sel", "pmc4sel" };
	static const char source[][5] = { "src1", "src2", "src3", "src4" };

	add_bits(c, MMCR1, unit[n - 1], register_field_extract(code, UNIT));
	add_bits(c, MMCR1, combine[n - 1],
	         register_field_extract(code, c->isa >= ISA_300 ? COMBINE : COMBINE_207));
	add_bits(c, MMCR1, selector[n - 1], register_field_extract(code, SELECT));
	if (c->isa >= ISA_310)
		add_bits(c, MMCR3, source[n - 1], register_field_extract(code, SOURCE));
}

static void add_qualifiers(struct controls *c, uint64_t code)
{
	enum { UNIT_OF_L2_L3 = 6 };

	if (c->isa >= ISA_300 || register_field_extract(code, IS_QUALIFIED))
		add_bits(c, MMCR1, "qual", register_field_extract(code, QUALIFIER));
	if (c->isa < ISA_310)
		return;
	add_bits(c, MMCR1, "radix_scope", register_field_extract(code, RADIX_SCOPE));
	if (register_field_extract(code, UNIT) == UNIT_OF_L2_L3)
		add_bits(c, MMCR2, "l2l3_sel", register_field_extract(code, CACHE_SELECT));
}

static void add_sampling(struct controls *c, uint64_t code)
{
	if (!register_field_extract(code, MARK))
		return;
	c->is_marked = true;
	add_bits(c, MMCRA, "sample", 1);
	add_bits(c, MMCRA, "sample_mode", register_field_extract(code, SAMPLE_MODE));
	add_bits(c, MMCRA, "sample_elig", register_field_extract(code, SAMPLE_ELIGIBLE));
}

/* Chooses when the register SDAR gets the address of data: on POWER8 at each miss of the TLB, on
 * later processors as the code says, by default at each miss of the data cache. */
static void add_address_mode(struct controls *c, uint64_t code)
{
	const uint64_t mode =
		register_field_extract(code, c->isa >= ISA_310 ? SDAR_MODE_310 : SDAR_MODE_300);

	if (c->isa < ISA_300)
		add_bits(c, MMCRA, "sdar_mode", 1);
	else
		add_bits(c, MMCRA, "sdar_mode", mode ? mode : 2);
}

/* PM_MRK_FAB_RSP_MATCH and PM_MRK_FAB_RSP_MATCH_CYC of POWER8 compare responses instead of a
 * threshold. */
static bool matches_responses(const struct controls *c, uint64_t code)
{
	code &= 0xff0fe;
	return c->isa < ISA_300 && (code == 0x30056 || code == 0x4f052);
}

/* The number @value, at most 261,120, as Power10 compares with it: 8 bits and an exponent of 4. */
static uint64_t make_threshold(uint64_t value)
{
	enum { MOST = 255 << 10 };
	uint64_t exponent = 0;

	for (value = value < MOST ? value : MOST; value > 0xff; value >>= 2)
		exponent++;
	return exponent << 8 | value;
}

static void add_threshold(struct controls *c, uint64_t code, uint64_t config1)
{
	if (matches_responses(c, code)) {
		add_bits(c, MMCR1, "fab", register_field_extract(code, THRESHOLD_CONTROL));
		return;
	}
	add_bits(c, MMCRA, "thresh_ctl", register_field_extract(code, THRESHOLD_CONTROL));
	add_bits(c, MMCRA, "thresh_sel", register_field_extract(code, THRESHOLD_SELECT));
	add_bits(c, MMCRA, "thresh_cmp",
	         c->isa >= ISA_310 ? make_threshold(config1 & 0x3ffff)
	                           : register_field_extract(code, THRESHOLD_VALUE));
}

/* Stops counter @n where it shall not count: FCS, FCP, FCWAIT and FCH of its part of MMCR2. */
static void add_levels(struct controls *c, unsigned n, const struct event *ev, unsigned plm)
{
	const unsigned levels = event_get_levels(ev, plm), down = 9 * (n - 1);

	if (!(levels & PFM_PLM0))
		c->words[MMCR2] |= UINT64_C(1) << (63 - down);
	if (!(levels & PFM_PLM3))
		c->words[MMCR2] |= UINT64_C(1) << (62 - down);
	if (ev->exclude_flags & EVENT_EXCLUDE_IDLE)
		c->words[MMCR2] |= UINT64_C(1) << (58 - down);
	if (ev->plm && !(ev->plm & PFMI_PLMH))
		c->words[MMCR2] |= UINT64_C(1) << (57 - down);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void add_event(struct controls *c, unsigned n, const struct event *ev, unsigned plm,
                      const uint64_t config[N_CONFIG_WORDS])
{
	if (n <= LAST_EVENT_COUNTER)
		add_selection(c, n, config[0]);
	add_qualifiers(c, config[0]);
	add_sampling(c, config[0]);
	add_address_mode(c, config[0]);
	add_threshold(c, config[0], config[1]);
	add_levels(c, n, ev, plm);
}

/* Sets which counters raise an alert when they become negative, and which are frozen. @used:
 * bit n for counter n. */
static void set_conditions(struct controls *c, unsigned used)
{
	add_bits(c, MMCR0, "pmc1ce", used >> 1 & 1);
	add_bits(c, MMCR0, "pmcjce", (used & 0x7c) != 0);
	add_bits(c, MMCR0, "fc56", !(used & 0x60));
	if (c->isa < ISA_310)
		return;
	add_bits(c, MMCR0, "pmccext", 1);
	add_bits(c, MMCRA, "bhrbrd", 1);
}

static void add_register(struct register_values *out, unsigned control, uint64_t value)
{
	out->pmcs[out->n_pmcs++] = (pfm_reg_t){ .num = control,
		                                .kind = PFM_REG_PMC,
		                                .addr = control_addresses[control],
		                                .alt_addr = control_addresses[control],
		                                .value = value,
		                                .event = -1 };
}

void pfmi_power_encode_controls(const struct plan *plan, const struct placement *where,
                                struct register_values *out)
{
	struct controls c = { .isa = get_isa(plan->request->table) };
	uint64_t config[N_CONFIG_WORDS];
	unsigned used = 0;

	for (unsigned i = 0; i < plan->request->n_events; i++) {
		const unsigned n = where->counters[i];

		pfmi_pmu_build_plan_words(plan, i, n, config);
		add_event(&c, n, &plan->request->events[i], plan->request->plm, config);
		used |= 1u << n;
	}
	set_conditions(&c, used);
	/* Marked instructions bring addresses of their own. */
	if (c.is_marked && c.isa >= ISA_300)
		c.words[MMCRA] = register_field_insert(c.words[MMCRA],
		                                       find_field(c.isa, MMCRA, "sdar_mode"), 0);
	for (unsigned i = MMCR1; i < N_CONTROLS; i++)
		if (i != MMCR3 || c.isa >= ISA_310)
			add_register(out, i, c.words[i]);
	add_register(out, MMCR0, c.words[MMCR0]); /* last: the counters start */
}

/* ---- decoding -------------------------------------------------------------------------------- */

static const pfm_reg_t *find_control(const pfm_reg_t *regs, unsigned n, unsigned control)
{
	for (unsigned i = 0; i < n; i++)
		if (regs[i].kind == PFM_REG_PMC && regs[i].num == control)
			return &regs[i];
	return NULL;
}

/* The counter of the configuration word regs[@i]: that of its code, or one of those where MMCR1
 * selects the code. Of several words with one code, the first is on the lowest counter. 0: none. */
static unsigned find_counter(uint64_t isa, const pfm_reg_t *regs, unsigned i, uint64_t mmcr1)
{
	const uint64_t code = regs[i].value;
	struct controls wanted;
	unsigned n_same = 0;

	if (register_field_extract(code, COUNTER))
		return (unsigned)register_field_extract(code, COUNTER);
	for (unsigned k = 0; k < i; k++)
		n_same += regs[k].kind == PFM_REG_CONFIG && !regs[k].num && regs[k].value == code;
	for (unsigned c = 1; c <= LAST_EVENT_COUNTER; c++) {
		const uint64_t own =
			UINT64_C(0xf) << (60 - 4 * (c - 1)) | UINT64_C(0xff) << (24 - 8 * (c - 1));

		wanted = (struct controls){ .isa = isa };
		add_selection(&wanted, c, code);
		if ((mmcr1 & own) == (wanted.words[MMCR1] & own) && !n_same--)
			return c;
	}
	return 0;
}

void pfmi_power_set_levels_of_counter(const struct table *t, const pfm_reg_t *regs, unsigned n,
                                      unsigned i, struct event *ev)
{
	const uint64_t isa = get_isa(t);
	const pfm_reg_t *events = isa ? find_control(regs, n, MMCR1) : NULL,
			*levels = isa ? find_control(regs, n, MMCR2) : NULL;
	unsigned counter = events && levels ? find_counter(isa, regs, i, events->value) : 0, plm;
	uint64_t frozen;

	if (!counter || counter > LAST_COUNTER)
		return;
	frozen = levels->value << 9 * (counter - 1);
	plm = (frozen >> 63 & 1 ? 0 : PFM_PLM0) | (frozen >> 62 & 1 ? 0 : PFM_PLM3);
	ev->has_no_levels = !plm && frozen >> 57 & 1;
	if (!(frozen >> 57 & 1))
		plm = plm == (PFM_PLM0 | PFM_PLM3) ? 0 : plm | PFMI_PLMH;
	ev->plm = (uint8_t)plm;
}
