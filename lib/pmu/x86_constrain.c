/* SPDX-License-Identifier: MIT */
/* Constraints of sets of x86 events: the counters that each can use, and extra registers that they
 * share. */
#include <perfmon/coreduo.h>
#include "base/bits.h"
#include "pmu/x86.h"

/* ---- extra registers ------------------------------------------------------------------------- */

/* A register that an event names has one value at a time. The rows say so with their keys msr and
 * alt, which also have the other registers that can count an event. It is no rule of a table: rules
 * test configuration words, in which the values of all registers have the same place (config1). */

/* Alternative number @i of the event: code | unit mask << 16 | register << 32; 0 after the last. */
static uint64_t get_alternative(const struct event *ev, unsigned i)
{
	if (!event_has_key(ev, KEY_ALT) || !table_get_key_field_plus1(ev->table, KEY_CODE) ||
	    !table_get_key_field_plus1(ev->table, KEY_UMASK))
		return 0;
	return pfmi_table_get_row_alternative(ev->table, ev->row_index, i);
}

/* True if an alternative of the event is in another register than @msr. */
static bool has_other_register(const struct event *ev, uint32_t msr)
{
	uint64_t alt;

	for (unsigned k = 0; (alt = get_alternative(ev, k)) != 0; k++)
		if (alt >> 32 != msr)
			return true;
	return false;
}

/* Tells how the events in @placed use register @msr. */
static enum register_state {
	REGISTER_FREE,
	REGISTER_EQUAL, /* it has @value */
	REGISTER_TAKEN  /* it has another one */
} get_register_state(const struct x86_plan_extra *x, uint64_t placed, uint32_t msr, uint64_t value)
{
	for (unsigned i = 0; i < PLAN_MAX_EVENTS; i++)
		if (placed >> i & 1 && x->selects[i].extra_msr == msr)
			return x->selects[i].extra_value == value ? REGISTER_EQUAL : REGISTER_TAKEN;
	return REGISTER_FREE;
}

static void use_alternative(const struct event *ev, struct x86_select *s, uint64_t alt)
{
	uint64_t config[N_CONFIG_WORDS] = { s->config };

	field_insert(table_get_key_field(ev->table, KEY_CODE), config, alt & 0xffff);
	field_insert(table_get_key_field(ev->table, KEY_UMASK), config, alt >> 16 & 0xffff);
	s->config = config[0];
	s->extra_msr = (uint32_t)(alt >> 32);
}

/* Moves event @i to a register in @state, the first of its own one and the alternatives. False
 * without such a register. */
static bool take_register(const struct event *ev, struct x86_plan_extra *x, unsigned i,
                          uint64_t placed, enum register_state state)
{
	struct x86_select *s = &x->selects[i];
	uint64_t alt;

	if (get_register_state(x, placed, s->extra_msr, s->extra_value) == state)
		return true;
	for (unsigned k = 0; (alt = get_alternative(ev, k)) != 0; k++)
		if (get_register_state(x, placed, (uint32_t)(alt >> 32), s->extra_value) == state) {
			use_alternative(ev, s, alt);
			return true;
		}
	return false;
}

/* Places event @i in a register: one with an equal value, otherwise a free one. A new value needs
 * one free register, and events of one register are placed before, so no other order of events
 * would fit more. False if no register is left. */
static bool place_extra_register(const struct event *ev, struct x86_plan_extra *x, unsigned i,
                                 uint64_t placed)
{
	return take_register(ev, x, i, placed, REGISTER_EQUAL) ||
	       take_register(ev, x, i, placed, REGISTER_FREE);
}

bool pfmi_x86_shares_extra_register(const struct x86_plan_extra *x, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (x->selects[k].extra_msr == x->selects[i].extra_msr)
			return true;
	return false;
}

/* Checks that the set fits into struct register_values. No processor has so many registers. */
static int check_register_count(const struct encode_request *req, const struct x86_plan_extra *x,
                                pfm_error_t *why)
{
	unsigned n = req->n_events;

	for (unsigned i = 0; i < req->n_events; i++)
		n += x->selects[i].extra_msr && !pfmi_x86_shares_extra_register(x, i);
	return n <= PLAN_MAX_REGS
	               ? PFMLIB_SUCCESS
	               : pfmi_base_set_plain_error(why, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY,
	                                           "the set needs too many registers");
}

/* Places the extra registers of the events in @active. Events that can use only one register come
 * first. False if some event has no register. */
static bool place_active_registers(const struct encode_request *req, struct x86_plan_extra *x,
                                   uint64_t active)
{
	uint64_t placed = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < req->n_events; i++) {
			bool movable = has_other_register(&req->events[i], x->selects[i].extra_msr);

			if (!(active >> i & 1) || !x->selects[i].extra_msr ||
			    movable != (pass == 1))
				continue;
			if (!place_extra_register(&req->events[i], x, i, placed))
				return false;
			placed |= (uint64_t)1 << i;
		}
	return true;
}

static bool clashes(const struct encode_request *req, const struct x86_plan_extra *x,
                    uint64_t active)
{
	struct x86_plan_extra scratch = *x;

	return !place_active_registers(req, &scratch, active);
}

/* Leaves out events of @clash, which clashes, until no further one can be left out. */
static uint64_t reduce_register_clash(const struct encode_request *req,
                                      const struct x86_plan_extra *x, uint64_t clash)
{
	for (unsigned i = 0; i < req->n_events; i++) {
		const uint64_t rest = clash & ~((uint64_t)1 << i);

		if (clashes(req, x, rest))
			clash = rest;
	}
	return clash;
}

/* The smallest set that clashes, the first of its size: a pair of values for one register, or three
 * values for two registers; for more registers, a set from which no event can be left out. */
static uint64_t search_smallest_register_clash(const struct encode_request *req,
                                               const struct x86_plan_extra *x)
{
	unsigned n = req->n_events;
	const uint64_t one = 1;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k < n; k++)
			if (clashes(req, x, one << i | one << k))
				return one << i | one << k;
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k < n; k++)
			for (unsigned l = k + 1; l < n; l++)
				if (clashes(req, x, one << i | one << k | one << l))
					return one << i | one << k | one << l;
	return reduce_register_clash(req, x, n < 64 ? (one << n) - 1 : ~(uint64_t)0);
}

static int place_extra_registers(const struct encode_request *req, struct x86_plan_extra *x,
                                 pfm_error_t *why)
{
	const struct x86_plan_extra unplaced = *x;
	uint64_t clash;

	if (place_active_registers(req, x, ~(uint64_t)0))
		return check_register_count(req, x, why);
	if (!why)
		return PFMLIB_ERR_NOASSIGN;
	clash = search_smallest_register_clash(req, &unplaced);
	pfmi_base_set_event_error(why, PFMLIB_ERR_NOASSIGN, PFM_KIND_NO_PLACEMENT,
	                          (int)base_find_lowest_bit(clash),
	                          "they need different values in the same extra register");
	pfmi_base_set_clash(why, clash);
	return PFMLIB_ERR_NOASSIGN;
}

/* ---- Core Duo's own settings ----------------------------------------------------------------- */

static int check_libpfm3_levels(const struct encode_request *req, pfm_error_t *why)
{
	const unsigned none = PFM_PLM1 | PFM_PLM2;

	if (req->plm & none)
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL,
		                                 "levels 1 and 2 cannot be separated from level 3");
	for (unsigned i = 0; i < req->n_events; i++)
		if (req->events[i].plm & none)
			return pfmi_base_set_event_error(
				why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL, (int)i,
				"levels 1 and 2 cannot be separated from level 3");
	return PFMLIB_SUCCESS;
}

static int check_coreduo_settings(const struct encode_request *req,
                                  const pfmlib_coreduo_input_param_t *in, pfm_error_t *why)
{
	for (unsigned i = 0; i < req->n_events && i < PMU_COREDUO_NUM_COUNTERS; i++)
		if (in->pfp_coreduo_counters[i].flags &
		    ~(unsigned)(PFM_COREDUO_SEL_INV | PFM_COREDUO_SEL_EDGE))
			return pfmi_base_set_event_error(why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL,
			                                 (int)i, "unknown flags");
	return PFMLIB_SUCCESS;
}

/* Applies the caller's settings after everything else, because libpfm 3 checks counters before
 * counter masks. */
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
				          : pfmi_base_set_event_error(
						    why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL, (int)i,
						    "expected cnt_mask from 0 to 255");
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

int pfmi_x86_constrain_set(const struct encode_request *req, struct plan *out, pfm_error_t *why)
{
	struct x86_plan_extra *x = (struct x86_plan_extra *)(void *)out->encoder_data;
	const pfmlib_coreduo_input_param_t *in = NULL;
	int rc = x86_is_libpfm3_view(req->table) ? check_libpfm3_levels(req, why) : PFMLIB_SUCCESS;

	if (!rc && req->model_in) {
		if (!pfmi_x86_has_coreduo_settings(req->table))
			return pfmi_base_set_plain_error(
				why, PFMLIB_ERR_NOTSUPP, PFM_KIND_MODEL,
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
		uint64_t own[N_CONFIG_WORDS];

		s->config = *x86_build_config(ev, own, &s->extra_msr, &s->extra_value);
		s->levels = event_get_levels(ev, req->plm);
		out->alternatives[0].counter_masks[i] = x86_narrow_counter_mask(
			ev, s->config, x86_get_row_counter_mask(ev, req->htoff));
		if (req->unavailable_regs)
			out->alternatives[0].counter_masks[i] &= ~req->unavailable_regs->bits[0];
		if (x86_is_perf_metric(req->table, s->config)) {
			out->alternatives[0].counter_masks[i] = 0;
			out->counterless_events |= (uint64_t)1 << i;
		}
	}
	if (req->n_events > 1 && pfmi_x86_has_extra_registers(req->table))
		rc = place_extra_registers(req, x, why);
	return !rc && in ? apply_coreduo_settings(out, in, x, why) : rc;
}
