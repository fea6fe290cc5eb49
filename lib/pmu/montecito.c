/* SPDX-License-Identifier: MIT */
/* Montecito (dual-core Itanium 2 9000): the encoder.
 *
 * constrain_set() checks in the order of libpfm 3: events against filters, counters, then
 * the other features (montecito_feature.c). It stores all register values in the plan;
 * encode_set() copies them. */
#include <string.h>
#include "pmu/montecito.h"
#include "pmu/montecito_regs.h"
#include "pmu/pmu_internal.h"

#define GENERAL_COUNTERS 0xfff0u

/* ---- registers ------------------------------------------------------------------------------- */

static bool parse_register_name(const char *name, char kind[4], unsigned *num)
{
	unsigned i;

	for (i = 0; i < 3 && name[i]; i++)
		kind[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 32 : name[i]);
	kind[i] = '\0';
	*num = 0;
	for (; i < 5 && name[i] >= '0' && name[i] <= '9'; i++)
		*num = *num * 10 + (unsigned)(name[i] - '0');
	return i > 3 && !name[i];
}

/* Registers FIRST .. LAST, every STEP-th, have the layout BITS. A table of pointers would need
 * relocations. */
#define MATCH_LAYOUT_RANGE(NAME, FIRST, LAST, STEP, BITS)                                          \
	if (strcmp(NAME, kind) == 0 && num - (FIRST) <= (LAST) - (FIRST) &&                        \
	    (num - (FIRST)) % (STEP) == 0) {                                                       \
		*n = sizeof(BITS) / sizeof((BITS)[0]);                                             \
		return BITS;                                                                       \
	}
#define MATCH_LAYOUT(NAME, NUM, BITS) MATCH_LAYOUT_RANGE(NAME, NUM, NUM, 1, BITS)

static const struct register_field *find_layout(const struct table *t, const char *name,
                                                unsigned *n)
{
	char kind[4];
	unsigned num;

	(void)t;
	if (!parse_register_name(name, kind, &num))
		return NULL;
	MATCH_LAYOUT_RANGE("PMC", 4, 15, 1, counter_bits)
	MATCH_LAYOUT_RANGE("PMC", 32, 34, 2, opcm_mask_bits)
	MATCH_LAYOUT_RANGE("PMC", 33, 35, 2, opcm_match_bits)
	MATCH_LAYOUT("PMC", 36, channel_bits)
	MATCH_LAYOUT("PMC", 37, iear_bits)
	MATCH_LAYOUT("PMC", 38, irange_bits)
	MATCH_LAYOUT("PMC", 39, etb_bits)
	MATCH_LAYOUT("PMC", 40, dear_bits)
	MATCH_LAYOUT("PMC", 41, drange_bits)
	MATCH_LAYOUT("PMC", 42, ipear_bits)
	MATCH_LAYOUT_RANGE("PMD", 4, 15, 1, pmd_counter)
	MATCH_LAYOUT("PMD", 32, pmd_dear_addr)
	MATCH_LAYOUT("PMD", 33, pmd_dear_latency)
	MATCH_LAYOUT("PMD", 34, pmd_iear_addr)
	MATCH_LAYOUT("PMD", 35, pmd_iear_latency)
	MATCH_LAYOUT("PMD", 36, pmd_dear_iaddr)
	MATCH_LAYOUT("PMD", 38, pmd_etb_index)
	MATCH_LAYOUT("PMD", 39, pmd_etb_ext)
	MATCH_LAYOUT_RANGE("PMD", 48, 63, 1, pmd_etb)
	MATCH_LAYOUT_RANGE("IBR", 0, 6, 2, debug_addr)
	MATCH_LAYOUT_RANGE("IBR", 1, 7, 2, debug_mask)
	MATCH_LAYOUT_RANGE("DBR", 0, 6, 2, debug_addr)
	MATCH_LAYOUT_RANGE("DBR", 1, 7, 2, debug_mask)
	return NULL;
}
#undef MATCH_LAYOUT
#undef MATCH_LAYOUT_RANGE

/* The event select mask of a counter's control register: event, unit mask and threshold. */
static uint64_t get_event_select_mask(const struct table *t, const char *reg, unsigned i,
                                      unsigned *counter)
{
	static const uint8_t which[] = { COUNTER_FIELD_ES, COUNTER_FIELD_UMASK,
		                         COUNTER_FIELD_THRES };
	uint64_t mask = 0;
	char kind[4];
	unsigned n;

	if (i > 0 || find_layout(t, reg, &n) != counter_bits ||
	    !parse_register_name(reg, kind, counter))
		return 0;
	for (unsigned k = 0; k < sizeof(which); k++)
		mask |= register_field_mask(counter_bits[which[k]]) << counter_bits[which[k]].lsb;
	return mask;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void set_trait(struct mont_event_traits *tr, unsigned key, uint64_t value)
{
	switch (key) {
	case KEY_CODE: tr->code = (uint8_t)value; break;
	case KEY_UMASK: tr->umask = (uint8_t)value; break;
	case KEY_MESI: tr->mesi = (uint8_t)value; break;
	case KEY_MAX: tr->max_increment = (uint8_t)value; break;
	case KEY_THRES: tr->threshold = (uint8_t)value; break;
	case KEY_SET: tr->set = (uint8_t)value; break;
	case KEY_TYPE: tr->type = (uint8_t)value; break;
	case KEY_ACCEPTS: tr->accepts = (uint8_t)value; break;
	case KEY_EAR: tr->ear = (uint8_t)value; break;
	case KEY_EAR_UMASK: tr->ear_umask = (uint8_t)value; break;
	case KEY_ETB: tr->etb = (uint8_t)value; break;
	default: break;
	}
}

/* Reads the values of the row, then those of the user. Missing values are 0, except max. */
static void read_event_traits(const struct event *ev, struct mont_event_traits *tr)
{
	const struct table *t = ev->table;
	const struct field *fields = table_fields(t);

	memset(tr, 0, sizeof(*tr));
	tr->row = ev->row_index;
	tr->max_increment = 1;
	tr->plm = ev->plm;
	tr->has_no_levels = ev->has_no_levels;
	tr->counters = pfmi_pmu_get_counter_mask(ev) & GENERAL_COUNTERS;
	if (ev->row_index != ROW_NONE) {
		const struct row *r = table_get_row(t, ev->row_index);

		for (unsigned i = 0; i < r->n_values; i++)
			set_trait(tr, fields[table_get_row_value(t, r, i).field].key,
			          table_get_row_value(t, r, i).value);
		if (r->n_groups)
			tr->mesi = (uint8_t)ev->group_values[0];
	} else {
		tr->max_increment = 7;
	}
	for (unsigned i = 0; i < ev->n_user_fields; i++)
		set_trait(tr, fields[ev->user_fields[i].field].key, ev->user_fields[i].value);
	if (tr->ear)
		tr->umask = 0; /* the unit mask is that of the address register */
}

/* ---- events against filters ------------------------------------------------------------------ */

static int check_levels(const struct mont_plan_context *w)
{
	for (unsigned i = 0; i < w->req->n_events; i++)
		if (w->plan->events[i].plm > 0xf)
			return mont_set_error(w, PFMLIB_ERR_INVAL, (int)i,
			                      "expected a privilege level from 0 to 3");
	return PFMLIB_SUCCESS;
}

static int check_filters(const struct mont_plan_context *w)
{
	unsigned needed = (w->has_irange ? MONT_ACCEPTS_IARR : 0u) |
	                  (w->has_drange ? MONT_ACCEPTS_DARR : 0u) |
	                  (w->has_opcm1 || w->has_opcm2 ? MONT_ACCEPTS_OPCM : 0u);

	for (unsigned i = 0; needed && i < w->req->n_events; i++)
		if (!(w->plan->events[i].flags & PFMLIB_MONT_FL_EVT_NO_QUALCHECK) &&
		    needed & ~(unsigned)w->plan->events[i].accepts)
			return mont_set_error(w, PFMLIB_ERR_FEATCOMB, (int)i,
			                      "the event ignores a filter in use");
	for (unsigned i = 0; (w->has_irange || w->has_drange) && i < w->req->n_events; i++)
		if (w->plan->events[i].plm && w->plan->events[i].plm != w->req->plm)
			return mont_set_error(
				w, PFMLIB_ERR_FEATCOMB, (int)i,
				"with address ranges, all events must count at the default levels");
	return PFMLIB_SUCCESS;
}

/* ---- counters -------------------------------------------------------------------------------- */

/* The selectors of the L2D cache serve three counters each; the first of them drives the
 * selector. */
static const uint8_t l2d_counters[2][3] = { { 4, 5, 8 }, { 6, 7, 9 } };
#define L2D_COUNTER_MASK(t)                                                                        \
	(1u << l2d_counters[t][0] | 1u << l2d_counters[t][1] | 1u << l2d_counters[t][2])
#define L1D_COUNTER 5

/* The events of a set that are in the L1D and L2D groups. */
struct cache_event_sets {
	uint64_t l1d_events;    /* bit i: event i */
	uint64_t l2d_events[2]; /* bit i: event i; sets are in the order of their first events */
	unsigned n_l2d_sets;
	uint8_t l2d_set_numbers[2];
};

static int add_l2d_event(const struct mont_plan_context *w, struct cache_event_sets *c, unsigned i)
{
	unsigned s = 0;

	while (s < c->n_l2d_sets && c->l2d_set_numbers[s] != w->plan->events[i].set)
		s++;
	if (s == 2)
		return mont_set_error(w, PFMLIB_ERR_EVTSET, (int)i,
		                      "L2D events of at most two sets fit together");
	if (s == c->n_l2d_sets)
		c->l2d_set_numbers[c->n_l2d_sets++] = w->plan->events[i].set;
	c->l2d_events[s] |= (uint64_t)1 << i;
	return PFMLIB_SUCCESS;
}

static int add_l1d_event(const struct mont_plan_context *w, struct cache_event_sets *c, unsigned i)
{
	if (c->l1d_events &&
	    w->plan->events[i].set != w->plan->events[__builtin_ctzll(c->l1d_events)].set)
		return mont_set_error(w, PFMLIB_ERR_EVTSET, (int)i,
		                      "L1D events of one set only fit together");
	c->l1d_events |= (uint64_t)1 << i;
	return PFMLIB_SUCCESS;
}

static int check_cache_sets(const struct mont_plan_context *w, struct cache_event_sets *c)
{
	unsigned cancels = 0;
	int rc = PFMLIB_SUCCESS;

	memset(c, 0, sizeof(*c));
	for (unsigned i = 0; !rc && i < w->req->n_events; i++)
		if (mont_is_l1d_set(w->plan->events[i].set))
			rc = add_l1d_event(w, c, i);
		else if (mont_is_l2d_set(w->plan->events[i].set))
			rc = add_l2d_event(w, c, i);
	for (unsigned i = 0; !rc && c->n_l2d_sets && i < w->req->n_events; i++) {
		unsigned code = w->plan->events[i].code;

		if ((code == CODE_CANCELS0 || code == CODE_CANCELS1) && ++cancels > 1)
			rc = mont_set_error(w, PFMLIB_ERR_INVAL, (int)i,
			                    "only one L2D_OZQ_CANCELS event fits");
	}
	return rc;
}

/* Assigns counter @c to event @i. False if the event cannot use it or it is not free. */
static bool pin_counter(const struct mont_plan_context *w, struct alternative *a, unsigned i,
                        unsigned c, uint64_t *free)
{
	if (!(w->plan->events[i].counters & *free & (uint64_t)1 << c))
		return false;
	a->counter_masks[i] = (uint64_t)1 << c;
	*free &= ~a->counter_masks[i];
	return true;
}

static bool pin_lowest_counter(const struct mont_plan_context *w, struct alternative *a, unsigned i,
                               uint64_t *free)
{
	uint64_t left = w->plan->events[i].counters & *free;

	return left && pin_counter(w, a, i, (unsigned)__builtin_ctzll(left), free);
}

/* Assigns counters as libpfm 3 does: the last L1D event to PMC5, L2D sets to 4 5 8 and 6 7 9 in
 * this order, then events that not all counters can count, then the others, each to its lowest free
 * counter. False if some event has no counter then. */
static bool place_like_libpfm3(const struct mont_plan_context *w, const struct cache_event_sets *c,
                               uint64_t free, struct alternative *a)
{
	uint64_t done = 0;

	a->n_holds = 0;
	if (c->l1d_events) {
		unsigned last = 63 - (unsigned)__builtin_clzll(c->l1d_events);

		if (!pin_counter(w, a, last, L1D_COUNTER, &free))
			return false;
		done |= (uint64_t)1 << last;
	}
	for (unsigned s = 0; s < c->n_l2d_sets; s++) {
		unsigned k = 0;

		for (uint64_t left = c->l2d_events[s]; left; left &= left - 1)
			if (k == 3 || !pin_counter(w, a, (unsigned)__builtin_ctzll(left),
			                           l2d_counters[s][k++], &free))
				return false;
		done |= c->l2d_events[s];
	}
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < w->req->n_events; i++) {
			if (done >> i & 1 ||
			    (pass == 0 && w->plan->events[i].counters == GENERAL_COUNTERS))
				continue;
			if (!pin_lowest_counter(w, a, i, &free))
				return false;
			done |= (uint64_t)1 << i;
		}
	return true;
}

/* Fills @a with all counters that the hardware allows, with L2D set s on counters l2d_counters[s ^
 * @swap]. */
static void allow_all_placements(const struct mont_plan_context *w,
                                 const struct cache_event_sets *c, uint64_t free, unsigned swap,
                                 struct alternative *a)
{
	for (unsigned i = 0; i < w->req->n_events; i++)
		a->counter_masks[i] = w->plan->events[i].counters & free;
	a->n_holds = 0;
	if (c->l1d_events)
		a->holds[a->n_holds++] = (struct counter_hold){ c->l1d_events, L1D_COUNTER };
	for (unsigned s = 0; s < c->n_l2d_sets; s++) {
		for (uint64_t left = c->l2d_events[s]; left; left &= left - 1)
			a->counter_masks[__builtin_ctzll(left)] &= L2D_COUNTER_MASK(s ^ swap);
		a->holds[a->n_holds++] =
			(struct counter_hold){ c->l2d_events[s], l2d_counters[s ^ swap][0] };
	}
}

/* Finds a placement with the solver and makes it the plan. It is searched for here because its
 * absence must be reported before later errors. */
static int search_placement(const struct mont_plan_context *w, const struct cache_event_sets *c,
                            uint64_t free, struct plan *plan)
{
	struct alternative *a = plan->alternatives;
	struct placement found;
	int rc;

	allow_all_placements(w, c, free, 0, &a[0]);
	plan->n_alternatives = 1;
	if (c->n_l2d_sets)
		allow_all_placements(w, c, free, 1, &a[plan->n_alternatives++]);
	rc = pfmi_pmu_assign_counters(plan, &found, w->error);
	if (rc)
		return rc;
	for (unsigned i = 0; i < w->req->n_events; i++)
		a[0].counter_masks[i] = (uint64_t)1 << found.counters[i];
	a[0].n_holds = 0;
	plan->n_alternatives = 1;
	return PFMLIB_SUCCESS;
}

static int plan_counters(const struct mont_plan_context *w, struct plan *plan)
{
	struct cache_event_sets c;
	uint64_t free = GENERAL_COUNTERS &
	                ~(w->req->unavailable_regs ? w->req->unavailable_regs->bits[0] : 0);
	int rc = check_cache_sets(w, &c);

	if (rc)
		return rc;
	if (place_like_libpfm3(w, &c, free, &plan->alternatives[0]))
		plan->n_alternatives = 1;
	else
		rc = search_placement(w, &c, free, plan);
	for (unsigned i = 0; !rc && i < w->req->n_events; i++)
		if (w->plan->events[i].flags & PFMLIB_MONT_FL_EVT_ALL_THRD)
			rc = mont_set_error(w, PFMLIB_ERR_NOTSUPP, (int)i,
			                    "the event cannot count for both threads");
	return rc;
}

/* ---- the operations -------------------------------------------------------------------------- */

static void read_set_traits(struct mont_plan_context *w)
{
	for (unsigned i = 0; i < w->req->n_events; i++) {
		struct mont_event_traits *tr = &w->plan->events[i];

		read_event_traits(&w->req->events[i], tr);
		w->ear_kinds |= tr->ear ? 1u << (tr->ear & 7) : 0;
		w->has_etb_event |= tr->etb;
		if (!w->input)
			continue;
		tr->flags = w->input->pfp_mont_counters[i].flags;
		if (w->input->pfp_mont_counters[i].thres)
			tr->threshold = w->input->pfp_mont_counters[i].thres > 7
			                        ? 8
			                        : (uint8_t)w->input->pfp_mont_counters[i].thres;
	}
}

static int constrain_set(const struct encode_request *req, struct plan *plan, pfm_error_t *why)
{
	struct mont_plan_context w = { .req = req,
		                       .input = req->model_in,
		                       .plan = (struct mont_plan *)(void *)plan->encoder_data,
		                       .error = why };
	int rc;

	if (req->model_out && !req->model_in)
		return mont_set_error(&w, PFMLIB_ERR_INVAL, -1, "model output without model input");
	if (req->n_events > MONT_MAX_EVENTS)
		return mont_set_error(&w, PFMLIB_ERR_NOASSIGN, MONT_MAX_EVENTS,
		                      "expected at most twelve counters");
	if (w.input) {
		w.has_irange = w.input->pfp_mont_irange.rr_used;
		w.has_drange = w.input->pfp_mont_drange.rr_used;
		w.has_opcm1 = w.input->pfp_mont_opcm1.opcm_used;
		w.has_opcm2 = w.input->pfp_mont_opcm2.opcm_used;
	}
	read_set_traits(&w);
	rc = check_levels(&w);
	if (!rc)
		rc = check_filters(&w);
	if (!rc)
		rc = plan_counters(&w, plan);
	return rc ? rc : pfmi_mont_plan_features(&w);
}

/* @event is the index of the event that the register belongs to, -1 for none. */
static void fill_register(pfm_reg_t *reg, int event, unsigned kind, unsigned num, uint64_t value)
{
	*reg = (pfm_reg_t){ .num = num,
		            .kind = kind,
		            .addr = num,
		            .alt_addr = num,
		            .value = value,
		            .event = event };
}

static uint64_t build_counter_control(const struct encode_request *req,
                                      const struct mont_event_traits *tr)
{
	uint64_t pmc = register_field_insert(0, counter_bits[COUNTER_FIELD_PLM],
	                                     tr->has_no_levels ? 0
	                                     : tr->plm         ? tr->plm
	                                                       : req->plm);

	pmc = register_field_insert(pmc, counter_bits[COUNTER_FIELD_PM],
	                            (req->flags & PFMLIB_PFP_SYSTEMWIDE) != 0);
	pmc = register_field_insert(pmc, counter_bits[COUNTER_FIELD_ES], tr->code);
	pmc = register_field_insert(pmc, counter_bits[COUNTER_FIELD_UMASK], tr->umask);
	pmc = register_field_insert(pmc, counter_bits[COUNTER_FIELD_THRES], tr->threshold);
	pmc = register_field_insert(pmc, counter_bits[COUNTER_FIELD_ISM], ISM_IA64);
	return register_field_insert(pmc, counter_bits[COUNTER_FIELD_MESI], tr->mesi);
}

static void copy_range_output(const pfmlib_mont_output_rr_t *from, pfmlib_mont_output_rr_t *to)
{
	to->rr_nbr_used = from->rr_nbr_used;
	memcpy(to->rr_infos, from->rr_infos, sizeof(to->rr_infos));
	memcpy(to->rr_br, from->rr_br, from->rr_nbr_used * sizeof(to->rr_br[0]));
}

static void encode_set(const struct plan *plan, const struct placement *where,
                       struct register_values *out)
{
	const struct encode_request *req = plan->request;
	const struct mont_plan *mp = (const struct mont_plan *)(const void *)plan->encoder_data;
	pfmlib_mont_output_param_t *model_out = req->model_out;

	for (unsigned i = 0; i < req->n_events; i++) {
		fill_register(&out->pmcs[out->n_pmcs++], (int)i, PFM_REG_PMC, where->counters[i],
		              build_counter_control(req, &mp->events[i]));
		fill_register(&out->pmds[out->n_pmds++], (int)i, PFM_REG_PMD, where->counters[i],
		              0);
	}
	for (unsigned i = 0; i < mp->n_pmcs; i++)
		fill_register(&out->pmcs[out->n_pmcs++], -1, PFM_REG_PMC, mp->pmcs[i].num,
		              mp->pmcs[i].value);
	for (unsigned i = 0; i < mp->n_pmds; i++)
		fill_register(&out->pmds[out->n_pmds++], -1, PFM_REG_PMD, mp->pmds[i], 0);
	if (model_out) {
		copy_range_output(&mp->irange, &model_out->pfp_mont_irange);
		copy_range_output(&mp->drange, &model_out->pfp_mont_drange);
	}
}

/* A threshold of n asks for more than n occurrences in one cycle. */
static unsigned get_threshold_limit(const struct mont_event_traits *tr)
{
	return tr->max_increment ? tr->max_increment - 1u : 0;
}

static int refuse_threshold(const struct event *ev, unsigned limit, pfm_error_t *why)
{
	int rc = pfmi_base_set_plain_error(why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE,
	                                   limit ? "out of range: at most"
	                                         : "the event takes no threshold: it occurs "
	                                           "at most once in a cycle");

	if (why)
		why->number = limit;

	for (unsigned i = 0; why && i < ev->n_user_fields; i++)
		if (table_fields(ev->table)[ev->user_fields[i].field].key == KEY_THRES) {
			why->start = ev->user_fields[i].start;
			why->end = ev->user_fields[i].end;
		}
	return rc;
}

/* Checks the attributes of a text: a raw unit mask has four bits, a threshold is below the greatest
 * number of occurrences in one cycle. */
static int check_event(struct event *ev, pfm_error_t *why)
{
	struct mont_event_traits tr;

	read_event_traits(ev, &tr);
	if (ev->has_raw_umask && ev->group_values[0] > 0xf)
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE,
		                                 "expected one of the four states of a cache line");
	return tr.threshold > get_threshold_limit(&tr)
	               ? refuse_threshold(ev, get_threshold_limit(&tr), why)
	               : PFMLIB_SUCCESS;
}

static uint64_t get_modifier_limit(const struct event *ev, const struct field *f)
{
	struct mont_event_traits tr;

	if (f->key != KEY_THRES)
		return f->max;
	read_event_traits(ev, &tr);
	return get_threshold_limit(&tr);
}

/* No version of Linux supports these counters with perf events. */
static void build_attr(const struct event *ev, unsigned plm, perfmon_attr_t *out)
{
	(void)ev, (void)plm;
	out->expressible = 0;
}

const struct encoder_ops pfmi_montecito_ops = {
	.check_event = check_event,
	.get_modifier_limit = get_modifier_limit,
	.constrain_set = constrain_set,
	.encode_set = encode_set,
	.build_attr = build_attr,
	.find_layout = find_layout,
	.get_event_select_mask = get_event_select_mask,
	.registers = "PMC[4-42] PMD[4-63] IBR[0-7] DBR[0-7]",
	.default_levels = PFM_PLM3,
};
