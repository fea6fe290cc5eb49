/* SPDX-License-Identifier: MIT */
/* x86 cores: PERFEVTSEL registers of Intel and AMD, Intel's fixed counters and extra registers.
 *
 * The words of perf_event_attr.config are the register's own bits, so a table's declared fields do
 * most of the work: what is added here is what the kernel keeps to itself, the levels, interrupt
 * and enable. A fixed counter is known by the kernel's pseudo codes: event byte 0, unit mask n + 1
 * for fixed counter n, which no general counter counts.
 *
 * A set gives one control register entry per event, in order. Events on fixed counters share
 * FIXED_CTR_CTRL: each of their entries carries the whole register, so that it does not matter
 * which of them is written. Extra registers follow. IA32_PERF_GLOBAL_CTRL, which enables the
 * counters, is added by pfm_dispatch_set(). */
#include <string.h>
#include <perfmon/coreduo.h>
#include "pmu/pmu_internal.h"

static const struct register_field SEL_USR = { "usr", 16, 1 }, SEL_OS = { "os", 17, 1 },
				   SEL_EDGE = { "edge", 18, 1 }, SEL_INT = { "int", 20, 1 },
				   SEL_EN = { "en", 22, 1 }, SEL_INV = { "inv", 23, 1 },
				   SEL_CMASK = { "cmask", 24, 8 }, SEL_CORE = { "core", 14, 2 },
				   SEL_MESI = { "mesi", 8, 4 };

#define FIXED_CTR_CTRL      0x38du
#define GLOBAL_CTRL         0x38fu
#define PERF_METRICS_ENABLE ((uint64_t)1 << 48) /* of GLOBAL_CTRL */
#define FIXED_CTR0          0x309u
#define FIRST_FIXED_COUNTER 32u /* number of fixed counter 0 */
#define SLOTS_FIXED_NUMBER  3u  /* the fixed one that is there where PERF_METRICS is */
#define RDPMC_FIXED         0x40000000u
#define NO_COUNTER          0xffu
#define GENERAL_COUNTERS    0xffffffffull
#define ENCODABLE_COUNTERS                                                                         \
	0xffffffffffffull /* FIXED_CTR_CTRL has room for sixteen fixed counters */

enum {
	MSR_OFFCORE_RSP_0 = 0x1a6,
	MSR_OFFCORE_RSP_1 = 0x1a7,
	MSR_PEBS_LD_LAT = 0x3f6,
	MSR_PEBS_FRONTEND = 0x3f7,
	MSR_SNOOP_RSP_0 = 0x1328,
	MSR_SNOOP_RSP_1 = 0x1329
};

/* Values of an event's registers that do not depend on the counter. */
struct x86_select {
	uint64_t config;      /* PERFEVTSEL without levels, interrupt and enable */
	uint64_t extra_value; /* of the extra register */
	uint32_t extra_msr;   /* the extra register, 0 for none */
	uint32_t levels;
};

struct x86_plan_extra {
	struct x86_select selects[PLAN_MAX_EVENTS];
};
_Static_assert(sizeof(struct x86_plan_extra) <= sizeof(((struct plan *)0)->encoder_data),
               "fits the plan");

static int set_event_error(pfm_error_t *why, int code, pfm_error_kind_t kind, int event,
                           const char *detail)
{
	pfmi_base_set_error(why, code, kind, NULL, (struct slice){ 0 }, detail);
	if (why)
		why->event = event;
	return code;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The names and values of libpfm 3.10: whole codes, unit masks on top, and the defaults of two
 * groups of bits. */
static bool is_libpfm3_view(const struct table *t)
{
	return t->flags & TABLE_COMPAT_VIEW && table_key_field(t, KEY_CORE_SPEC);
}

static uint64_t build_libpfm3_config(const struct event *ev)
{
	uint64_t config = pfmi_pmu_event_key_value(ev, KEY_CODE, ANY_COUNTER) |
	                  pfmi_pmu_event_key_value(ev, KEY_UMASK, ANY_COUNTER) << 8;

	if (pfmi_pmu_event_key_value(ev, KEY_CORE_SPEC, ANY_COUNTER) &&
	    !register_field_extract(config, SEL_CORE))
		config = register_field_insert(config, SEL_CORE, 1);
	if (pfmi_pmu_event_key_value(ev, KEY_MESI, ANY_COUNTER) &&
	    !register_field_extract(config, SEL_MESI))
		config = register_field_insert(config, SEL_MESI, 0xf);
	if (pfmi_pmu_event_key_value(ev, KEY_EDGE, ANY_COUNTER))
		config = register_field_insert(config, SEL_EDGE, 1);
	if (pfmi_pmu_event_key_value(ev, KEY_INV, ANY_COUNTER))
		config = register_field_insert(config, SEL_INV, 1);
	return register_field_insert(config, SEL_CMASK,
	                             pfmi_pmu_event_key_value(ev, KEY_CMASK, ANY_COUNTER));
}

/* The extra register that a field of config1 stands for, and the other one of it where there are
 * two. */
static const struct {
	enum field_key key;
	uint32_t msr, second_msr;
} extra_fields[] = {
	{ KEY_OFFCORE, MSR_OFFCORE_RSP_0, MSR_OFFCORE_RSP_1 },
	{ KEY_LDLAT, MSR_PEBS_LD_LAT, 0 },
	{ KEY_FRONTEND, MSR_PEBS_FRONTEND, 0 },
	{ KEY_OFFCORE1, MSR_SNOOP_RSP_0, MSR_SNOOP_RSP_1 },
};
#define N_EXTRA_FIELDS (sizeof(extra_fields) / sizeof(extra_fields[0]))
#define EXTRA_KEYS                                                                                 \
	((uint64_t)1 << KEY_OFFCORE | (uint64_t)1 << KEY_LDLAT | (uint64_t)1 << KEY_FRONTEND |     \
	 (uint64_t)1 << KEY_OFFCORE1)

static enum field_key find_msr_key(uint32_t msr)
{
	for (unsigned i = 0; msr && i < N_EXTRA_FIELDS; i++)
		if (extra_fields[i].msr == msr || extra_fields[i].second_msr == msr)
			return extra_fields[i].key;
	return KEY_NONE;
}

static bool has_extra_registers(const struct table *t)
{
	bool has = table_key_field_plus1(t, KEY_MSR);

	for (unsigned i = 0; i < N_EXTRA_FIELDS; i++)
		has |= table_key_field_plus1(t, extra_fields[i].key) != 0;
	return has;
}

/* Neither the row nor the user has a value for any of them: nearly every event. */
static inline bool has_no_extra_register(const struct event *ev)
{
	return !((ev->row_keys | ev->user_keys) & ((uint64_t)1 << KEY_MSR | EXTRA_KEYS));
}

/* Is an event that no row has counted by the other register of a pair? The kernel knows by its
 * code: big cores have one for each of the two, small ones a unit mask. (intel_*_extra_regs in
 * arch/x86/events/intel/core.c; tests/test_roundtrip.c asks all rows) */
static bool is_second_msr_event(const struct event *ev)
{
	uint64_t config[4];

	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	switch (config[0] & 0xffff) {
	case 0x1bb:
	case 0x12b:
	case 0x2b7:
	case 0x227: return true;
	default: return false;
	}
}

/* The event's extra register, 0 for none: the row's, or that of a field which the user alone gave a
 * value. */
static uint32_t find_extra_msr(const struct event *ev)
{
	uint32_t msr = (uint32_t)pfmi_pmu_event_key_value(ev, KEY_MSR, ANY_COUNTER);

	for (unsigned i = 0; msr == 0 && i < N_EXTRA_FIELDS; i++)
		if (pfmi_pmu_has_user_key(ev, extra_fields[i].key) ||
		    pfmi_pmu_event_key_value(ev, extra_fields[i].key, ANY_COUNTER))
			msr = extra_fields[i].second_msr && is_second_msr_event(ev)
			              ? extra_fields[i].second_msr
			              : extra_fields[i].msr;
	return msr;
}

/* All configuration words, with the extra register's value in config1 also where a row only says
 * which MSR takes it. In @own, unless the row's own are good as they stand: those of nearly every
 * event are. */
static const uint64_t *build_own_config(const struct event *ev, uint64_t own[4], uint32_t *msr,
                                        uint64_t *value)
{
	const struct field *f;
	enum field_key key;

	if (is_libpfm3_view(ev->table)) {
		own[0] = build_libpfm3_config(ev);
		own[1] = own[2] = own[3] = 0;
		return own;
	}
	pfmi_pmu_build_config_words(ev, ANY_COUNTER, own);
	*msr = has_no_extra_register(ev) ? 0 : find_extra_msr(ev);
	if (*msr == 0)
		return own;
	key = find_msr_key(*msr);
	f = key != KEY_NONE ? table_key_field(ev->table, key) : NULL;
	*value = f && f->n_ranges ? pfmi_pmu_extract_field(f, own)
	                          : pfmi_pmu_event_key_value(ev, key, ANY_COUNTER);
	if (!*value && !pfmi_pmu_has_user_key(ev, key)) {
		*value = pfmi_pmu_event_key_value(ev, KEY_MSR_VALUE, ANY_COUNTER);
		if (f && f->n_ranges)
			field_insert(f, own, *value);
	}
	return own;
}

static inline const uint64_t *build_config(const struct event *ev, uint64_t own[4], uint32_t *msr,
                                           uint64_t *value)
{
	bool as_it_stands = has_no_extra_register(ev) && !ev->n_user_fields &&
	                    !(ev->row && ev->row->n_groups) && !is_libpfm3_view(ev->table);

	*msr = 0;
	*value = 0;
	return as_it_stands ? ev->base_config : build_own_config(ev, own, msr, value);
}

static uint64_t build_perfevtsel(const struct x86_select *s)
{
	uint64_t v = s->config & ~(register_field_mask(SEL_USR) << SEL_USR.lsb |
	                           register_field_mask(SEL_OS) << SEL_OS.lsb);

	v |= (uint64_t)((s->levels & PFM_PLM3) != 0) << SEL_USR.lsb;
	v |= (uint64_t)((s->levels & PFM_PLM0) != 0) << SEL_OS.lsb;
	return v | (uint64_t)1 << SEL_INT.lsb | (uint64_t)1 << SEL_EN.lsb;
}

/* ---- kinds of events ------------------------------------------------------------------------- */

/* One of the figures PERF_METRICS holds: read beside the slots counter, on no counter of its own.
 */
static bool is_perf_metric(const struct table *t, uint64_t config)
{
	return t->all_counters >> (FIRST_FIXED_COUNTER + SLOTS_FIXED_NUMBER) & 1 &&
	       (config & 0xff) == 0 && (config >> 8 & 0xff) >= 0x80 && (config >> 8 & 0xff) <= 0x87;
}

static bool is_slots_event(uint64_t config)
{
	return (config & 0xffff) == 0x0400;
}

/* Edge, inverse, threshold, transactions and equality exist on general counters only. */
#define GENERAL_ONLY_FILTERS 0x13ff840000ull

static uint64_t get_rowless_counter_mask(const struct event *ev)
{
	const struct table *t = ev->table;
	uint64_t config[4], fixed;
	unsigned umask;

	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	umask = (unsigned)(config[0] >> 8 & 0xff);
	/* The kernel's pseudo codes, of the fixed counters that there are. */
	fixed = (config[0] & 0xff) == 0 && umask >= 1 && umask <= 31
	                ? t->all_counters & (uint64_t)1 << (FIRST_FIXED_COUNTER + umask - 1)
	                : 0;
	return fixed ? fixed : t->all_counters & GENERAL_COUNTERS;
}

static inline uint64_t get_row_counter_mask(const struct event *ev, bool htoff)
{
	const struct table *t = ev->table;

	if (!ev->row)
		return get_rowless_counter_mask(ev);
	if (htoff && pfmi_table_has_row_value(t, ev->row_index, KEY_HTOFF))
		return pfmi_table_row_value(t, ev->row_index, KEY_HTOFF, ANY_COUNTER);
	return table_row_counter_mask(t, ev->row);
}

/* Those of the counters @mask that can count what @config says. */
static inline uint64_t filter_counter_mask(uint64_t config, uint64_t mask)
{
	return mask & (config & GENERAL_ONLY_FILTERS ? GENERAL_COUNTERS : ENCODABLE_COUNTERS);
}

/* Counters of @mask that support all settings of the event. */
static uint64_t narrow_counter_mask(const struct event *ev, uint64_t config, uint64_t mask)
{
	mask = filter_counter_mask(config, mask);
	if (ev->counter_pin != ANY_COUNTER)
		mask &= ev->counter_pin < 64 ? (uint64_t)1 << ev->counter_pin : 0;
	return mask;
}

/* ---- check ----------------------------------------------------------------------------------- */

static int set_field_error(const struct event *ev, unsigned i, int code, pfm_error_kind_t kind,
                           const char *detail, pfm_error_t *why)
{
	set_event_error(why, code, kind, -1, detail);
	if (why) {
		why->start = ev->user_fields[i].start;
		why->end = ev->user_fields[i].end;
	}
	return code;
}

static bool has_field_key(const struct event *ev, unsigned i, enum field_key key)
{
	return table_key_field_plus1(ev->table, key) == ev->user_fields[i].field + 1u;
}

#define FILTER_KEYS                                                                                \
	((uint64_t)1 << KEY_CMASK | (uint64_t)1 << KEY_INV | (uint64_t)1 << KEY_EDGE |             \
	 (uint64_t)1 << KEY_IN_TX | (uint64_t)1 << KEY_IN_TX_CP | (uint64_t)1 << KEY_EQ)

static bool is_filter_field(const struct event *ev, unsigned i)
{
	return FILTER_KEYS >> table_fields(ev->table)[ev->user_fields[i].field].key & 1;
}

static bool is_extra_field(const struct event *ev, unsigned i)
{
	return EXTRA_KEYS >> table_fields(ev->table)[ev->user_fields[i].field].key & 1;
}

/* One event reaches one extra register: config1 is one word. */
static int check_extra_register(const struct event *ev, pfm_error_t *why)
{
	uint32_t msr;

	if (has_no_extra_register(ev))
		return PFMLIB_SUCCESS;
	msr = find_extra_msr(ev);
	for (unsigned i = 0; i < ev->n_user_fields; i++)
		for (unsigned k = 0; k < N_EXTRA_FIELDS; k++)
			if (has_field_key(ev, i, extra_fields[k].key) &&
			    extra_fields[k].key != find_msr_key(msr))
				return set_field_error(
					ev, i, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT,
					"the event uses another extra register", why);
	return PFMLIB_SUCCESS;
}

/* Checks the user's filters against fixed counters, top-down metrics and unit masks. */
static int check_filters(const struct event *ev, pfm_error_t *why)
{
	uint64_t config[4];
	bool fixed_only, metric;

	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	metric = is_perf_metric(ev->table, config[0]);
	fixed_only = ev->table->all_counters >> FIRST_FIXED_COUNTER &&
	             !(get_row_counter_mask(ev, false) & GENERAL_COUNTERS);
	for (unsigned i = 0; i < ev->n_user_fields; i++) {
		if ((fixed_only && is_filter_field(ev, i) && ev->user_fields[i].value) ||
		    (metric && is_extra_field(ev, i)))
			return set_field_error(ev, i, PFMLIB_ERR_ATTR_EVENT,
			                       PFM_KIND_QUALIFIER_NOT_ALLOWED,
			                       metric ? "a top-down event takes no filter"
			                              : "a fixed counter has no such filter",
			                       why);
		/* A unit mask that means edge cannot be had without it. */
		if (has_field_key(ev, i, KEY_EDGE) && !ev->user_fields[i].value &&
		    pfmi_pmu_event_key_value(ev, KEY_EDGE, ANY_COUNTER))
			return set_field_error(ev, i, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT,
			                       "the unit mask sets edge", why);
	}
	return PFMLIB_SUCCESS;
}

static int check_user_settings(const struct event *ev, pfm_error_t *why)
{
	int rc = ev->user_keys & (FILTER_KEYS | EXTRA_KEYS) ? check_filters(ev, why)
	                                                    : PFMLIB_SUCCESS;

	if (rc)
		return rc;
	if (ev->counter_pin != ANY_COUNTER &&
	    !(ev->counter_pin < 64 && get_row_counter_mask(ev, true) >> ev->counter_pin & 1))
		return set_event_error(why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, -1,
		                       "the event cannot count on that counter");
	return check_extra_register(ev, why);
}

int pfmi_x86_check_event(struct event *ev, pfm_error_t *why)
{
	if ((!ev->n_user_fields && ev->counter_pin == ANY_COUNTER) || is_libpfm3_view(ev->table))
		return PFMLIB_SUCCESS;
	return check_user_settings(ev, why);
}

/* ---- extra registers ------------------------------------------------------------------------- */

/* The row's other register of the off-core pair: code | umask << 16 | register << 32; 0 if it has
 * none. */
static uint64_t get_alternate_register(const struct event *ev)
{
	uint64_t alt = event_has_key(ev, KEY_ALT) ? pfmi_table_row_value(ev->table, ev->row_index,
	                                                                 KEY_ALT, ANY_COUNTER)
	                                          : 0;

	if (!table_key_field_plus1(ev->table, KEY_CODE) ||
	    !table_key_field_plus1(ev->table, KEY_UMASK))
		return 0;
	return alt >> 32 == MSR_OFFCORE_RSP_0 || alt >> 32 == MSR_OFFCORE_RSP_1 ? alt : 0;
}

static int find_register_holder(const struct x86_plan_extra *x, uint64_t placed, uint32_t msr)
{
	for (unsigned i = 0; i < PLAN_MAX_EVENTS; i++)
		if (placed >> i & 1 && x->selects[i].extra_msr == msr)
			return (int)i;
	return -1;
}

static int report_register_clash(int event, int holder, int other, pfm_error_t *why)
{
	set_event_error(why, PFMLIB_ERR_NOASSIGN, PFM_KIND_NO_PLACEMENT, event,
	                "they need different values in the same extra register");
	if (why) {
		why->clash = (uint64_t)1 << event | (uint64_t)1 << holder;
		if (other >= 0)
			why->clash |= (uint64_t)1 << other;
	}
	return PFMLIB_ERR_NOASSIGN;
}

static void use_alternate_register(const struct event *ev, struct x86_select *s, uint64_t alt)
{
	uint64_t config[4] = { s->config };

	field_insert(table_key_field(ev->table, KEY_CODE), config, alt & 0xffff);
	field_insert(table_key_field(ev->table, KEY_UMASK), config, alt >> 16 & 0xffff);
	s->config = config[0];
	s->extra_msr = (uint32_t)(alt >> 32);
}

/* Places event @i in its extra register: shared where the values are equal, else moved to the other
 * of the pair. A new value takes one free register whichever it is, so nothing is gained by trying
 * another order. */
static int place_extra_register(const struct event *ev, struct x86_plan_extra *x, unsigned i,
                                uint64_t placed, pfm_error_t *why)
{
	struct x86_select *s = &x->selects[i];
	int holder = find_register_holder(x, placed, s->extra_msr), other;
	uint64_t alt = get_alternate_register(ev);

	if (!alt || alt >> 32 == s->extra_msr)
		return holder < 0 || x->selects[holder].extra_value == s->extra_value
		               ? PFMLIB_SUCCESS
		               : report_register_clash((int)i, holder, -1, why);
	other = find_register_holder(x, placed, (uint32_t)(alt >> 32));
	if (holder >= 0 && x->selects[holder].extra_value == s->extra_value)
		return PFMLIB_SUCCESS;
	if (other >= 0 && x->selects[other].extra_value == s->extra_value) {
		use_alternate_register(ev, s, alt);
		return PFMLIB_SUCCESS;
	}
	if (holder < 0)
		return PFMLIB_SUCCESS;
	if (other >= 0)
		return report_register_clash((int)i, holder, other, why);
	use_alternate_register(ev, s, alt);
	return PFMLIB_SUCCESS;
}

static bool is_register_seen(const struct x86_plan_extra *x, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (x->selects[k].extra_msr == x->selects[i].extra_msr)
			return true;
	return false;
}

/* A set's registers have to fit the answer; no processor has so many. */
static int check_register_count(const struct encode_request *req, const struct x86_plan_extra *x,
                                pfm_error_t *why)
{
	unsigned n = req->n_events;

	for (unsigned i = 0; i < req->n_events; i++)
		n += x->selects[i].extra_msr && !is_register_seen(x, i);
	return n <= PFM_MAX_SET_REGS ? PFMLIB_SUCCESS
	                             : set_event_error(why, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY,
	                                               -1, "the set needs too many registers");
}

/* Events that know one register only come first. One event alone has them all to itself. */
static int place_extra_registers(const struct encode_request *req, struct x86_plan_extra *x,
                                 pfm_error_t *why)
{
	uint64_t placed = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < req->n_events; i++) {
			bool movable = get_alternate_register(&req->events[i]) != 0;
			int rc;

			if (!x->selects[i].extra_msr || movable != (pass == 1))
				continue;
			rc = place_extra_register(&req->events[i], x, i, placed, why);
			if (rc)
				return rc;
			placed |= (uint64_t)1 << i;
		}
	return check_register_count(req, x, why);
}

/* ---- Core Duo's own settings ----------------------------------------------------------------- */

static bool has_coreduo_settings(const struct table *t)
{
	const struct feature *f = table_features(t);

	for (unsigned i = 0; i < t->n_features; i++)
		if (strcmp(table_text(t, f[i].name), "settings") == 0)
			return strcmp(table_text(t, f[i].text), "coreduo") == 0;
	return false;
}

static int check_levels(const struct encode_request *req, pfm_error_t *why)
{
	const unsigned none = PFM_PLM1 | PFM_PLM2;

	if (req->plm & none)
		return set_event_error(why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL, -1,
		                       "levels 1 and 2 cannot be separated from level 3");
	for (unsigned i = 0; i < req->n_events; i++)
		if (req->events[i].plm & none)
			return set_event_error(why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL, (int)i,
			                       "levels 1 and 2 cannot be separated from level 3");
	return PFMLIB_SUCCESS;
}

static int check_coreduo_settings(const struct encode_request *req,
                                  const pfmlib_coreduo_input_param_t *in, pfm_error_t *why)
{
	for (unsigned i = 0; i < req->n_events && i < PMU_COREDUO_NUM_COUNTERS; i++)
		if (in->pfp_coreduo_counters[i].flags &
		    ~(unsigned)(PFM_COREDUO_SEL_INV | PFM_COREDUO_SEL_EDGE))
			return set_event_error(why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL, (int)i,
			                       "unknown flags");
	return PFMLIB_SUCCESS;
}

/* Last, because libpfm 3 finds counters before it looks at the masks. */
static int apply_coreduo_settings(const struct plan *plan, const pfmlib_coreduo_input_param_t *in,
                                  struct x86_plan_extra *x, pfm_error_t *why)
{
	const struct encode_request *req = plan->request;
	struct placement where;

	for (unsigned i = 0; i < req->n_events && i < PMU_COREDUO_NUM_COUNTERS; i++) {
		const pfmlib_coreduo_counter_t *c = &in->pfp_coreduo_counters[i];
		struct x86_select *s = &x->selects[i];

		if (!register_field_extract(s->config, SEL_CMASK)) {
			if (c->cnt_mask > 0xff) {
				int rc = pfmi_pmu_assign_counters(plan, &where, why);

				return rc ? rc
				          : set_event_error(why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL,
				                            (int)i, "cnt_mask is 0 to 255");
			}
			s->config = register_field_insert(s->config, SEL_CMASK, c->cnt_mask);
		}
		if (c->flags & PFM_COREDUO_SEL_INV)
			s->config = register_field_insert(s->config, SEL_INV, 1);
		if (c->flags & PFM_COREDUO_SEL_EDGE)
			s->config = register_field_insert(s->config, SEL_EDGE, 1);
	}
	return PFMLIB_SUCCESS;
}

/* ---- constrain ------------------------------------------------------------------------------- */

static int check_perf_metrics(const struct encode_request *req, uint64_t none,
                              const struct x86_plan_extra *x, pfm_error_t *why)
{
	/* Alone, an event is only described. */
	if (!none || req->n_events == 1 || is_slots_event(x->selects[0].config))
		return PFMLIB_SUCCESS;
	return set_event_error(why, PFMLIB_ERR_EVTINCOMP, PFM_KIND_CONFLICT, __builtin_ctzll(none),
	                       "top-down figures need the slots event first in their set");
}

int pfmi_x86_constrain_set(const struct encode_request *req, struct plan *out, pfm_error_t *why)
{
	struct x86_plan_extra *x = (struct x86_plan_extra *)(void *)out->encoder_data;
	const pfmlib_coreduo_input_param_t *in = NULL;
	int rc = is_libpfm3_view(req->table) ? check_levels(req, why) : PFMLIB_SUCCESS;

	if (!rc && req->model_in) {
		if (!has_coreduo_settings(req->table))
			return set_event_error(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_MODEL, -1,
			                       "this processor has no settings of its own");
		in = req->model_in;
		rc = check_coreduo_settings(req, in, why);
	}
	if (rc)
		return rc;
	out->n_alternatives = 1;
	out->alternatives[0].n_holds = 0;
	for (unsigned i = 0; i < req->n_events; i++) {
		const struct event *ev = &req->events[i];
		struct x86_select *s = &x->selects[i];
		uint64_t own[4];

		s->config = *build_config(ev, own, &s->extra_msr, &s->extra_value);
		s->levels = event_get_levels(ev, req->plm);
		out->alternatives[0].counter_masks[i] =
			narrow_counter_mask(ev, s->config, get_row_counter_mask(ev, req->htoff));
		if (req->unavailable_regs)
			out->alternatives[0].counter_masks[i] &= ~req->unavailable_regs->bits[0];
		if (is_perf_metric(req->table, s->config)) {
			out->alternatives[0].counter_masks[i] = 0;
			out->counterless_events |= (uint64_t)1 << i;
		}
	}
	rc = check_perf_metrics(req, out->counterless_events, x, why);
	if (!rc && req->n_events > 1 && has_extra_registers(req->table))
		rc = place_extra_registers(req, x, why);
	return !rc && in ? apply_coreduo_settings(out, in, x, why) : rc;
}

/* ---- encode ---------------------------------------------------------------------------------- */

static const struct counter_range *find_counter_range(const struct table *t, unsigned n)
{
	const struct counter_range *c = table_counters(t);
	unsigned i;

	for (i = 0; i < t->n_counters; i++)
		if (c[i].is_fixed == (n >= FIRST_FIXED_COUNTER) &&
		    n % FIRST_FIXED_COUNTER >= c[i].first && n % FIRST_FIXED_COUNTER <= c[i].last)
			return &c[i];
	return NULL;
}

static uint32_t get_register_address(uint32_t first, uint32_t usual, const struct counter_range *c,
                                     unsigned n)
{
	if (!c || !first)
		return usual + n % FIRST_FIXED_COUNTER;
	return first + (n % FIRST_FIXED_COUNTER - c->first) * c->register_step;
}

/* The part of fixed counter @n in FIXED_CTR_CTRL: OS, user, any thread. */
static uint64_t build_fixed_ctr_bits(const struct table *t, unsigned n, const struct x86_select *s)
{
	const struct field *any = table_key_field(t, KEY_ANY);
	uint64_t config[4] = { s->config }, nibble = 0;

	nibble |= s->levels & PFM_PLM0 ? 1 : 0;
	nibble |= s->levels & PFM_PLM3 ? 2 : 0;
	nibble |= any && pfmi_pmu_extract_field(any, config) ? 4 : 0;
	return nibble << 4 * (n - FIRST_FIXED_COUNTER);
}

/* The register of the whole set. */
static uint64_t build_fixed_ctr_ctrl(const struct plan *plan, const struct placement *where)
{
	const struct x86_plan_extra *x =
		(const struct x86_plan_extra *)(const void *)plan->encoder_data;
	uint64_t v = 0;

	for (unsigned i = 0; i < plan->request->n_events; i++)
		if (where->counters[i] != NO_COUNTER && where->counters[i] >= FIRST_FIXED_COUNTER)
			v |= build_fixed_ctr_bits(plan->request->table, where->counters[i],
			                          &x->selects[i]);
	return v;
}

static pfm_reg_t make_general_register(const struct counter_range *c, unsigned n,
                                       const struct x86_select *s)
{
	uint64_t addr = get_register_address(c ? c->control_register : 0, 0x186, c, n);

	return (pfm_reg_t){ .num = n,
		            .kind = PFM_REG_PMC,
		            .addr = addr,
		            .alt_addr = addr,
		            .value = build_perfevtsel(s) };
}

static pfm_reg_t make_fixed_register(unsigned n, uint64_t value)
{
	return (pfm_reg_t){ .num = n,
		            .kind = PFM_REG_FIXED_CTRL,
		            .addr = FIXED_CTR_CTRL,
		            .alt_addr = FIXED_CTR_CTRL,
		            .value = value };
}

static pfm_reg_t make_extra_register(const struct x86_select *s)
{
	return (pfm_reg_t){ .num = s->extra_msr,
		            .kind = PFM_REG_EXTRA,
		            .addr = s->extra_msr,
		            .alt_addr = s->extra_msr,
		            .value = s->extra_value };
}

static void encode_general_counter(const struct table *t, unsigned n, const struct x86_select *s,
                                   pfm_reg_t *pmc, pfm_reg_t *pmd)
{
	const struct counter_range *c = find_counter_range(t, n);

	*pmc = make_general_register(c, n, s);
	*pmd = (pfm_reg_t){ .num = n,
		            .kind = PFM_REG_PMD,
		            .addr = get_register_address(c ? c->value_register : 0, 0xc1, c, n),
		            .alt_addr = n };
}

static void encode_fixed_counter(const struct table *t, unsigned n, uint64_t value, pfm_reg_t *pmc,
                                 pfm_reg_t *pmd)
{
	const struct counter_range *c = find_counter_range(t, n);

	*pmc = make_fixed_register(n, value);
	*pmd = (pfm_reg_t){ .num = n,
		            .kind = PFM_REG_PMD,
		            .addr = get_register_address(c ? c->value_register : 0, FIXED_CTR0, c,
		                                         n),
		            .alt_addr = RDPMC_FIXED + (n - FIRST_FIXED_COUNTER) };
}

/* Each register once, behind those of the counters. */
static void encode_extra_registers(const struct x86_plan_extra *x, unsigned n,
                                   struct register_values *out)
{
	for (unsigned i = 0; i < n; i++)
		if (x->selects[i].extra_msr && !is_register_seen(x, i))
			out->pmcs[out->n_pmcs++] = make_extra_register(&x->selects[i]);
}

void pfmi_x86_encode_set(const struct plan *plan, const struct placement *where,
                         struct register_values *out)
{
	const struct x86_plan_extra *x =
		(const struct x86_plan_extra *)(const void *)plan->encoder_data;
	const struct table *t = plan->request->table;
	uint32_t extras = 0;

	for (unsigned i = 0; i < plan->request->n_events; i++) {
		unsigned n = where->counters[i];

		extras |= x->selects[i].extra_msr;
		if (n == NO_COUNTER)
			out->pmcs[out->n_pmcs++] = (pfm_reg_t){ .kind = PFM_REG_CONFIG,
				                                .value = x->selects[i].config };
		else if (n < FIRST_FIXED_COUNTER)
			encode_general_counter(t, n, &x->selects[i], &out->pmcs[out->n_pmcs++],
			                       &out->pmds[out->n_pmds++]);
		else
			encode_fixed_counter(t, n, build_fixed_ctr_ctrl(plan, where),
			                     &out->pmcs[out->n_pmcs++], &out->pmds[out->n_pmds++]);
	}
	if (extras)
		encode_extra_registers(x, plan->request->n_events, out);
}

bool pfmi_x86_build_global_ctrl(const struct encode_request *req, const struct placement *where,
                                pfm_reg_t *out)
{
	uint64_t value = 0;

	if (!(req->table->all_counters >> FIRST_FIXED_COUNTER))
		return false;
	for (unsigned i = 0; i < req->n_events; i++) {
		uint64_t config[4];

		pfmi_pmu_build_config_words(&req->events[i], ANY_COUNTER, config);
		if (where->counters[i] != NO_COUNTER)
			value |= (uint64_t)1 << where->counters[i];
		else if (is_perf_metric(req->table, config[0]))
			value |= PERF_METRICS_ENABLE;
	}
	*out = (pfm_reg_t){ .num = GLOBAL_CTRL,
		            .kind = PFM_REG_GLOBAL_CTRL,
		            .addr = GLOBAL_CTRL,
		            .alt_addr = GLOBAL_CTRL,
		            .value = value };
	return true;
}

/* ---- perf ------------------------------------------------------------------------------------ */

static bool has_msr_field(const struct table *t, uint32_t msr)
{
	return find_msr_key(msr) != KEY_NONE && table_key_field(t, find_msr_key(msr));
}

/* A register the kernel has no field for cannot be asked for. */
static inline bool is_msr_expressible(const struct table *t, uint32_t msr)
{
	return !msr || has_msr_field(t, msr);
}

static inline void copy_config_words(const uint64_t config[4], bool expressible, pfm_attr_t *out)
{
	out->config = config[0];
	out->config1 = config[1];
	out->config2 = config[2];
	out->config3 = config[3];
	out->expressible = expressible;
}

const uint64_t *pfmi_x86_get_config_words(const struct event *ev, uint64_t own[4])
{
	uint64_t value;
	uint32_t msr;

	return build_config(ev, own, &msr, &value);
}

uint32_t pfmi_x86_get_extra_msr(const struct event *ev)
{
	uint64_t own[4], value;
	uint32_t msr;

	build_config(ev, own, &msr, &value);
	return msr;
}

int pfmi_x86_build_attr(const struct event *ev, unsigned plm, pfm_attr_t *out, pfm_error_t *why)
{
	const uint64_t *config;
	uint64_t own[4], value;
	uint32_t msr;

	(void)plm;
	(void)why;
	config = build_config(ev, own, &msr, &value);
	copy_config_words(config, is_msr_expressible(ev->table, msr), out);
	return PFMLIB_SUCCESS;
}

/* ---- one event ------------------------------------------------------------------------------- */

/* Registers and words of an event alone that may be on counters @mask, and how many registers; 0
 * where more has to be asked, with nothing of @out touched. */
static inline unsigned encode_single(const struct table *t, const struct x86_select *s,
                                     const uint64_t config[4], bool expressible, uint64_t mask,
                                     pfm_encoding_t *out)
{
	unsigned n;

	if (!mask || is_perf_metric(t, s->config))
		return 0;
	copy_config_words(config, expressible, &out->attr);
	out->counters = mask;
	n = (unsigned)__builtin_ctzll(mask);
	out->regs[0] = n < FIRST_FIXED_COUNTER
	                       ? make_general_register(find_counter_range(t, n), n, s)
	                       : make_fixed_register(n, build_fixed_ctr_bits(t, n, s));
	if (!s->extra_msr)
		return 1;
	out->regs[1] = make_extra_register(s);
	return 2;
}

unsigned pfmi_x86_encode_single(const struct event *ev, unsigned levels, pfm_encoding_t *out)
{
	struct x86_select s = { .levels = levels };
	const uint64_t *config;
	uint64_t own[4], mask;

	config = build_config(ev, own, &s.extra_msr, &s.extra_value);
	s.config = config[0];
	mask = is_libpfm3_view(ev->table)
	               ? 0
	               : narrow_counter_mask(ev, s.config, get_row_counter_mask(ev, false));
	return encode_single(ev->table, &s, config, is_msr_expressible(ev->table, s.extra_msr),
	                     mask, out);
}

/* ---- layouts --------------------------------------------------------------------------------- */

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
static const struct register_field offcore_bits[] = { { "offcore_rsp", 0, 64 } };
static const struct register_field snoop_bits[] = { { "snoop_rsp", 0, 64 } };
static const struct register_field ld_lat_bits[] = { { "latency", 0, 16 } };
static const struct register_field frontend_bits[] = { { "event", 0, 8 },
	                                               { "latency", 8, 12 },
	                                               { "bubbles", 20, 3 } };

#define COUNT_BITS(MATCH_LAYOUT) (sizeof(MATCH_LAYOUT) / sizeof((MATCH_LAYOUT)[0]))

/* @name is @word and, for registers that exist per counter, the number of a general counter;
 * "IA32_" may stand before. */
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
	const struct field *code = table_key_field(t, KEY_CODE);

	if ((t->n_counters && c->control_register >= 0xc0000000u) || (code && code->width == 12)) {
		*n = COUNT_BITS(amd_perfevtsel_bits);
		return amd_perfevtsel_bits;
	}
	*n = has_coreduo_settings(t) ? COUNT_BITS(coreduo_perfevtsel_bits)
	                             : COUNT_BITS(intel_perfevtsel_bits);
	return has_coreduo_settings(t) ? coreduo_perfevtsel_bits : intel_perfevtsel_bits;
}

const struct register_field *pfmi_x86_find_layout(const struct table *t, const char *name,
                                                  unsigned *n)
{
	if (is_register_name(t, name, "PERFEVTSEL", true) ||
	    is_register_name(t, name, "PERF_CTL", true) || is_register_name(t, name, "PMC", true))
		return get_perfevtsel_layout(t, n);
	if (!(t->all_counters >> FIRST_FIXED_COUNTER))
		return NULL;
		/* Not a table: its pointers would be relocated in every process. */
#define MATCH_LAYOUT(NAME, BITS)                                                                   \
	if (is_register_name(t, name, NAME, false)) {                                              \
		*n = COUNT_BITS(BITS);                                                             \
		return BITS;                                                                       \
	}
	MATCH_LAYOUT("FIXED_CTR_CTRL", fixed_ctr_ctrl_bits)
	MATCH_LAYOUT("FIXED_CTRL", fixed_ctr_ctrl_bits) /* as PFM_REG_FIXED_CTRL is written */
	MATCH_LAYOUT("GLOBAL_CTRL", global_ctrl_bits)
	MATCH_LAYOUT("PERF_GLOBAL_CTRL", global_ctrl_bits)
	MATCH_LAYOUT("PEBS_LD_LAT", ld_lat_bits)
	MATCH_LAYOUT("OFFCORE_RSP_0", offcore_bits)
	MATCH_LAYOUT("OFFCORE_RSP_1", offcore_bits)
	MATCH_LAYOUT("SNOOP_RSP_0", snoop_bits)
	MATCH_LAYOUT("SNOOP_RSP_1", snoop_bits)
	MATCH_LAYOUT("PEBS_FRONTEND", frontend_bits)
#undef LAYOUT
	return NULL;
}

uint64_t pfmi_x86_get_event_select_mask(const struct table *t, const char *reg, unsigned i,
                                        unsigned *counter)
{
	struct slice name = { reg, (uint32_t)strlen(reg) };
	uint32_t len = base_length_without_number(name);
	unsigned n;
	const struct register_field *layout = pfmi_x86_find_layout(t, reg, &n);
	uint64_t mask = 0, number = i;

	/* A name without a number is any counter's: the first one, then the second one. */
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

const struct encoder_ops pfmi_x86_ops = {
	.check_event = pfmi_x86_check_event,
	.constrain_set = pfmi_x86_constrain_set,
	.encode_set = pfmi_x86_encode_set,
	.build_attr = pfmi_x86_build_attr,
	.build_global_ctrl = pfmi_x86_build_global_ctrl,
	.encode_single = pfmi_x86_encode_single,
	.get_config_words = pfmi_x86_get_config_words,
	.get_extra_register = pfmi_x86_get_extra_msr,
	.find_layout = pfmi_x86_find_layout,
	.get_event_select_mask = pfmi_x86_get_event_select_mask,
	.registers =
		"PMC[0-31] PERFEVTSEL[0-31] FIXED_CTR_CTRL GLOBAL_CTRL PEBS_LD_LAT PEBS_FRONTEND "
		"OFFCORE_RSP_[0-1] SNOOP_RSP_[0-1]",
};
