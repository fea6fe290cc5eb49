/* SPDX-License-Identifier: MIT */
/* Requests for the Montecito tests, and a check of answers that shares no code with the library:
 * its events are from vectors/montecito_events.jsonl, the hardware's rules from this file. */
#ifndef PERFMON_TESTS_MONTECITO_H
#define PERFMON_TESTS_MONTECITO_H

#include "rows.h"
#include <perfmon/pfmlib_montecito.h>

#define N_EVENTS 637

/* ---- events ---------------------------------------------------------------------------------- */

struct event_fact {
	char name[64];
	unsigned code, umask, counters, maxincr;
	int group, set; /* 0 none, 1 L1D, 2 L2D */
	bool opcm, iarr, darr, ear, mesi;
};

static struct event_fact facts[N_EVENTS];

static inline void load_fact(struct rows *rows, json_t *row)
{
	static unsigned n;
	struct event_fact *f = &facts[n++];

	(void)rows;
	if (n > N_EVENTS)
		abort();
	snprintf(f->name, sizeof(f->name), "%s", row_text(row, "name"));
	f->code = (unsigned)row_int(row, "code", 0);
	f->umask = (unsigned)row_int(row, "umask", (long long)row_hex(row, "umask"));
	f->counters = (unsigned)row_hex(row, "counters");
	f->maxincr = (unsigned)row_int(row, "maxincr", 0);
	f->group = (int)row_int(row, "hw_group", row_int(row, "group", 0));
	f->set = (int)row_int(row, "hw_set", row_int(row, "set", -1));
	f->opcm = row_int(row, "support_opcm", 0) != 0;
	f->iarr = row_int(row, "support_iarr", 0) != 0;
	f->darr = row_int(row, "support_darr", 0) != 0;
	f->ear = row_int(row, "is_ear", 0) != 0;
	f->mesi = json_array_size(json_object_get(row, "masks")) != 0;
	json_decref(row);
}

static inline int load_facts(void)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/vectors/montecito_events.jsonl", rows_folder());
	return rows_read(path, load_fact, NULL);
}

/* ---- requests -------------------------------------------------------------------------------- */

struct mont_request {
	pfmlib_input_param_t in;
	pfmlib_mont_input_param_t model;
	bool has_in, has_out, has_model_in, has_model_out;
};

static inline void read_opcm(const json_t *req, const char *key, pfmlib_mont_opcm_t *o)
{
	const json_t *v = json_object_get(req, key);

	if (!v)
		return;
	o->opcm_used = (unsigned char)row_int(v, "used", 1);
	o->opcm_m = (unsigned char)row_int(v, "m", 0);
	o->opcm_i = (unsigned char)row_int(v, "i", 0);
	o->opcm_f = (unsigned char)row_int(v, "f", 0);
	o->opcm_b = (unsigned char)row_int(v, "b", 0);
	o->opcm_match = row_hex(v, "match");
	o->opcm_mask = row_hex(v, "mask");
}

static inline void read_ear(const json_t *req, const char *key, pfmlib_mont_ear_t *e)
{
	const json_t *v = json_object_get(req, key);

	if (!v)
		return;
	e->ear_used = (unsigned char)row_int(v, "used", 1);
	e->ear_mode = (pfmlib_mont_ear_mode_t)row_int(v, "mode", 0);
	e->ear_plm = (unsigned)row_int(v, "plm", 0);
	e->ear_umask = row_hex(v, "um");
}

static inline void read_trace(const json_t *req, pfmlib_mont_input_param_t *m)
{
	const json_t *v = json_object_get(req, "etb");

	if (v) {
		m->pfp_mont_etb.etb_used = (unsigned char)row_int(v, "used", 1);
		m->pfp_mont_etb.etb_plm = (unsigned)row_int(v, "plm", 0);
		m->pfp_mont_etb.etb_tm = (unsigned char)row_int(v, "tm", 0);
		m->pfp_mont_etb.etb_ptm = (unsigned char)row_int(v, "ptm", 0);
		m->pfp_mont_etb.etb_ppm = (unsigned char)row_int(v, "ppm", 0);
		m->pfp_mont_etb.etb_brt = (unsigned char)row_int(v, "brt", 0);
	}
	v = json_object_get(req, "ipear");
	if (v) {
		m->pfp_mont_ipear.ipear_used = (unsigned char)row_int(v, "used", 1);
		m->pfp_mont_ipear.ipear_plm = (unsigned)row_int(v, "plm", 0);
		m->pfp_mont_ipear.ipear_delay = (unsigned short)row_int(v, "delay", 0);
	}
}

static inline void read_range(const json_t *req, const char *key, pfmlib_mont_input_rr_t *rr)
{
	const json_t *v = json_object_get(req, key);
	json_t *limit;
	size_t i;

	if (!v)
		return;
	rr->rr_used = (unsigned char)row_int(v, "used", 1);
	rr->rr_flags = (unsigned)row_int(v, "fl", 0);
	json_array_foreach (json_object_get(v, "lim"), i, limit) {
		rr->rr_limits[i].rr_start =
			strtoull(json_string_value(json_array_get(limit, 0)), NULL, 0);
		rr->rr_limits[i].rr_end =
			strtoull(json_string_value(json_array_get(limit, 1)), NULL, 0);
		rr->rr_limits[i].rr_plm = (unsigned)json_integer_value(json_array_get(limit, 2));
	}
}

/* True if the event brings settings of its counter. */
static inline bool read_event(const json_t *e, unsigned i, struct mont_request *r)
{
	pfmlib_event_t *event = &r->in.pfp_events[i];
	json_t *mask;
	size_t k;

	if (json_is_string(e) || json_object_get(e, "e"))
		assert_int_equal(pfm_find_event_byname(json_is_string(e) ? json_string_value(e)
		                                                         : row_text(e, "e"),
		                                       &event->event),
		                 0);
	else
		event->event = (unsigned)row_int(e, "idx", 0);
	if (json_is_string(e))
		return false;
	event->plm = (unsigned)row_int(e, "plm", 0);
	json_array_foreach (json_object_get(e, "um"), k, mask)
		event->unit_masks[event->num_masks++] = (unsigned)json_integer_value(mask);
	if (i < PMU_MONT_NUM_COUNTERS) {
		r->model.pfp_mont_counters[i].thres = (unsigned)row_int(e, "th", 0);
		r->model.pfp_mont_counters[i].flags = (unsigned)row_int(e, "fl", 0);
	}
	return json_object_get(e, "th") || json_object_get(e, "fl");
}

static inline void read_request(const json_t *req, struct mont_request *r)
{
	static const char *const features[] = { "op1", "op2",   "iear", "dear",
		                                "etb", "ipear", "ir",   "dr" };
	json_t *ev = json_object_get(req, "ev"), *e, *un;
	bool model = false;
	size_t i;

	memset(r, 0, sizeof(*r));
	r->in.pfp_dfl_plm = (unsigned)row_int(req, "plm", PFM_PLM3);
	r->in.pfp_event_count = (unsigned)row_int(req, "count", (long long)json_array_size(ev));
	r->in.pfp_flags = row_int(req, "sys", 0) ? PFMLIB_PFP_SYSTEMWIDE : 0;
	json_array_foreach (ev, i, e)
		model |= read_event(e, (unsigned)i, r);
	json_array_foreach (json_object_get(req, "un"), i, un)
		pfm_regmask_set(&r->in.pfp_unavail_pmcs, (unsigned)json_integer_value(un));
	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		model |= json_object_get(req, features[i]) != NULL;
	read_opcm(req, "op1", &r->model.pfp_mont_opcm1);
	read_opcm(req, "op2", &r->model.pfp_mont_opcm2);
	read_ear(req, "iear", &r->model.pfp_mont_iear);
	read_ear(req, "dear", &r->model.pfp_mont_dear);
	read_trace(req, &r->model);
	read_range(req, "ir", &r->model.pfp_mont_irange);
	read_range(req, "dr", &r->model.pfp_mont_drange);
	r->has_in = !row_int(req, "noinp", 0);
	r->has_out = !row_int(req, "nooutp", 0);
	r->has_model_in = row_int(req, "in", model) != 0;
	r->has_model_out =
		row_int(req, "out", json_object_get(req, "ir") || json_object_get(req, "dr")) != 0;
}

struct mont_answer {
	pfmlib_output_param_t out;
	pfmlib_mont_output_param_t model;
	int rc;
};

#define JUNK 0xa5

static inline void dispatch_request(struct mont_request *r, struct mont_answer *a)
{
	memset(&a->out, JUNK, sizeof(a->out));
	memset(&a->model, JUNK, sizeof(a->model));
	a->rc = pfm_dispatch_events(r->has_in ? &r->in : NULL, r->has_model_in ? &r->model : NULL,
	                            r->has_out ? &a->out : NULL,
	                            r->has_model_out ? &a->model : NULL);
}

static inline bool is_junk(const void *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((const unsigned char *)at)[i] != JUNK)
			return false;
	return true;
}

/* ---- check of an answer ---------------------------------------------------------------------- */

static const char *wrong; /* the violated rule, for the message */

#define MUST(CONDITION)                                                                            \
	do {                                                                                       \
		if (!(CONDITION)) {                                                                \
			wrong = #CONDITION;                                                        \
			return false;                                                              \
		}                                                                                  \
	} while (0)

static inline const struct event_fact *fact_of(const struct mont_request *r, unsigned i)
{
	return &facts[r->in.pfp_events[i].event];
}

static inline unsigned event_selector(unsigned c)
{
	return c == 4 || c == 5 || c == 8 ? 4 : c == 6 || c == 7 || c == 9 ? 6 : 0;
}

/* Do the rules of the cache groups allow event i on counter[i]? One set owns one selector and stays
 * on its counters. */
static inline bool do_groups_allow(const struct mont_request *r, const unsigned *counter)
{
	unsigned n = r->in.pfp_event_count, l1d = 0, l1d_on_5 = 0;
	int owner[16];

	memset(owner, -1, sizeof(owner));
	for (unsigned i = 0; i < n; i++) {
		const struct event_fact *f = fact_of(r, i);

		if (f->group == 1) {
			l1d++;
			l1d_on_5 += counter[i] == 5;
		}
		if (f->group == 2)
			owner[counter[i]] = f->set;
	}
	MUST(!l1d || l1d_on_5);
	for (unsigned i = 0; i < n; i++)
		if (fact_of(r, i)->group == 2) {
			MUST(event_selector(counter[i]));
			MUST(owner[event_selector(counter[i])] == fact_of(r, i)->set);
		}
	MUST(owner[4] < 0 || owner[4] != owner[6]);
	return true;
}

static inline bool is_mix_allowed(const struct mont_request *r)
{
	int l1d = -1, l2d[2] = { -1, -1 };
	unsigned cancels = 0;

	for (unsigned i = 0; i < r->in.pfp_event_count; i++) {
		const struct event_fact *f = fact_of(r, i);

		cancels += f->code == 0xe0 || f->code == 0xe2;
		if (f->group == 1) {
			MUST(l1d < 0 || l1d == f->set);
			l1d = f->set;
		}
		if (f->group == 2 && f->set != l2d[0] && f->set != l2d[1]) {
			MUST(l2d[0] < 0 || l2d[1] < 0);
			l2d[l2d[0] >= 0] = f->set;
		}
	}
	MUST(cancels < 2);
	return true;
}

static inline bool are_counters_right(const struct mont_request *r, const struct mont_answer *a)
{
	unsigned counter[PMU_MONT_NUM_COUNTERS], used = 0, n = r->in.pfp_event_count;

	MUST(n <= PMU_MONT_NUM_COUNTERS && a->out.pfp_pmc_count >= n && a->out.pfp_pmd_count >= n);
	for (unsigned i = 0; i < n; i++) {
		counter[i] = a->out.pfp_pmcs[i].reg_num;
		MUST(counter[i] < 16 && fact_of(r, i)->counters >> counter[i] & 1);
		MUST(!(used >> counter[i] & 1));
		MUST(a->out.pfp_pmds[i].reg_num == counter[i]);
		used |= 1u << counter[i];
	}
	for (unsigned i = 0; i < a->out.pfp_pmc_count; i++)
		MUST(!pfm_regmask_isset(&r->in.pfp_unavail_pmcs, a->out.pfp_pmcs[i].reg_num));
	return is_mix_allowed(r) && do_groups_allow(r, counter);
}

static inline bool are_values_right(const struct mont_request *r, const struct mont_answer *a)
{
	for (unsigned i = 0; i < r->in.pfp_event_count; i++) {
		const struct event_fact *f = fact_of(r, i);
		const pfmlib_event_t *e = &r->in.pfp_events[i];
		uint64_t v = e->plm ? e->plm : r->in.pfp_dfl_plm;

		v |= (uint64_t)(r->in.pfp_flags & PFMLIB_PFP_SYSTEMWIDE) << 6;
		v |= (uint64_t)f->code << 8;
		v |= f->ear ? 0 : (uint64_t)(f->umask & 15) << 16;
		v |= r->has_model_in ? (uint64_t)r->model.pfp_mont_counters[i].thres << 20 : 0;
		v |= (uint64_t)2 << 24;
		for (unsigned k = 0; k < e->num_masks; k++)
			v |= (uint64_t)1 << (27 + e->unit_masks[k]);
		MUST(a->out.pfp_pmcs[i].reg_value == v);
		MUST(!r->has_model_in || r->model.pfp_mont_counters[i].thres < f->maxincr ||
		     r->model.pfp_mont_counters[i].thres == 0);
	}
	return true;
}

/* The block a pair describes, as first and last address; false if the pair makes no block. */
static inline bool block_of(const pfmlib_reg_t *addr, const pfmlib_reg_t *mask, uint64_t *first,
                            uint64_t *last)
{
	uint64_t free = ~mask->reg_value & 0xffffffffffffff;

	MUST(mask->reg_num == addr->reg_num + 1 && addr->reg_num % 2 == 0);
	MUST(!(free & (free + 1)) && !(addr->reg_value & free));
	*first = addr->reg_value;
	*last = addr->reg_value | free;
	return true;
}

static inline bool do_blocks_cover(const pfmlib_mont_input_rr_desc_t *d, unsigned plm,
                                   const pfmlib_mont_output_rr_t *rr,
                                   const pfmlib_mont_output_rr_desc_t *info)
{
	uint64_t at = d->rr_start, first = 0, last = 0;
	bool start_seen = false;

	while (at < d->rr_end) {
		unsigned k = 0;

		for (; k < rr->rr_nbr_used; k += 2) {
			MUST(block_of(&rr->rr_br[k], &rr->rr_br[k + 1], &first, &last));
			if (rr->rr_br[k + 1].reg_value >> 56 == plm && first <= at && at <= last)
				break;
		}
		MUST(k < rr->rr_nbr_used);
		MUST(start_seen || info->rr_soff == d->rr_start - first);
		start_seen = true;
		if (last >= d->rr_end - 1) {
			MUST(info->rr_eoff == last - (d->rr_end - 1));
			return true;
		}
		at = last + 1;
	}
	return true;
}

static inline bool are_ranges_covered(const struct mont_request *r,
                                      const pfmlib_mont_input_rr_t *asked,
                                      const pfmlib_mont_output_rr_t *rr, bool fine)
{
	for (unsigned i = 0; i < 4; i++) {
		const pfmlib_mont_input_rr_desc_t *d = &asked->rr_limits[i];
		unsigned plm = d->rr_plm ? d->rr_plm : r->in.pfp_dfl_plm;
		bool found = false;

		if (!d->rr_start && !d->rr_end)
			break;
		if (!fine) {
			MUST(do_blocks_cover(d, plm, rr, &rr->rr_infos[i]));
			continue;
		}
		for (unsigned k = 0; k + 3 < rr->rr_nbr_used; k += 4) {
			uint64_t low = rr->rr_br[k].reg_value, high = rr->rr_br[k + 2].reg_value;

			MUST(rr->rr_br[k + 2].reg_num == rr->rr_br[k].reg_num + 4 &&
			     low >> 16 == high >> 16 && low % 32 == 0 && high % 32 == 16);
			found |= low <= d->rr_start && high + 16 >= d->rr_end &&
			         rr->rr_br[k + 1].reg_value >> 56 == plm &&
			         rr->rr_infos[i].rr_soff == d->rr_start - low &&
			         rr->rr_infos[i].rr_eoff == high + 16 - d->rr_end;
		}
		MUST(found);
	}
	for (unsigned i = 0; i < rr->rr_nbr_used; i++)
		for (unsigned k = 0; k < i; k++)
			MUST(rr->rr_br[i].reg_num != rr->rr_br[k].reg_num);
	return true;
}

static inline const pfmlib_reg_t *find_pmc(const struct mont_answer *a, unsigned num)
{
	for (unsigned i = 0; i < a->out.pfp_pmc_count; i++)
		if (a->out.pfp_pmcs[i].reg_num == num)
			return &a->out.pfp_pmcs[i];
	return NULL;
}

/* PMC38 says which pairs are in use, and retired-instruction events look at their own pair
 * alone. */
static inline bool is_code_range_right(const struct mont_request *r, const struct mont_answer *a)
{
	const pfmlib_mont_output_rr_t *rr = &a->model.pfp_mont_irange;
	const pfmlib_reg_t *pmc = find_pmc(a, 38);
	unsigned pairs = 0, retired = 0, events = 0, prefetch = 0;
	uint64_t value = 0xdb6;
	bool fine;

	MUST(pmc && rr->rr_nbr_used >= 2 && rr->rr_nbr_used <= 8 && rr->rr_nbr_used % 2 == 0);
	fine = pmc->reg_value >> 13 & 1;
	MUST(pfm_mont_irange_is_fine((pfmlib_output_param_t *)(uintptr_t)&a->out,
	                             (pfmlib_mont_output_param_t *)(uintptr_t)&a->model) == fine);
	MUST(are_ranges_covered(r, &r->model.pfp_mont_irange, rr, fine));
	for (unsigned i = 0; i < rr->rr_nbr_used; i += 2)
		pairs |= 1u << rr->rr_br[i].reg_num / 2;
	for (unsigned k = 0; k < 4; k++)
		value &= pairs >> k & 1 ? ~((uint64_t)1 << (1 + 3 * k)) : ~(uint64_t)0;
	MUST(pmc->reg_value == (value | (uint64_t)fine << 13));
	for (unsigned i = 0; i < r->in.pfp_event_count; i++) {
		prefetch +=
			strchr("\x44\x5f\x45\x46\x65\x66\x41", (int)fact_of(r, i)->code) != NULL &&
			fact_of(r, i)->code;
		if (fact_of(r, i)->code == 8) {
			retired++;
			events |= 1u << fact_of(r, i)->umask;
		}
	}
	if (!fine && retired == r->in.pfp_event_count)
		MUST(!(pairs & ~events));
	if (!fine && retired + prefetch < r->in.pfp_event_count)
		MUST(pairs == 1 && !(events & ~pairs));
	return true;
}

static inline bool are_filters_obeyed(const struct mont_request *r)
{
	const pfmlib_mont_input_param_t *m = &r->model;

	for (unsigned i = 0; i < r->in.pfp_event_count; i++) {
		if (m->pfp_mont_counters[i].flags & PFMLIB_MONT_FL_EVT_NO_QUALCHECK)
			continue;
		MUST(!m->pfp_mont_irange.rr_used || fact_of(r, i)->iarr);
		MUST(!m->pfp_mont_drange.rr_used || fact_of(r, i)->darr);
		MUST((!m->pfp_mont_opcm1.opcm_used && !m->pfp_mont_opcm2.opcm_used) ||
		     fact_of(r, i)->opcm);
	}
	return true;
}

/* Nothing is written beyond the counts. */
static inline bool is_rest_untouched(const struct mont_request *r, const struct mont_answer *a)
{
	const pfmlib_output_param_t *o = &a->out;

	if (a->rc) {
		MUST(is_junk(o, sizeof(*o)));
		MUST(is_junk(&a->model, sizeof(a->model)));
		return true;
	}
	MUST(o->pfp_pmc_count <= 24 && o->pfp_pmd_count <= 36);
	MUST(is_junk(&o->pfp_pmcs[o->pfp_pmc_count],
	             (PFMLIB_MAX_PMCS - o->pfp_pmc_count) * sizeof(o->pfp_pmcs[0])));
	MUST(is_junk(&o->pfp_pmds[o->pfp_pmd_count],
	             (PFMLIB_MAX_PMDS - o->pfp_pmd_count) * sizeof(o->pfp_pmds[0])));
	MUST(is_junk(o->reserved, sizeof(o->reserved)));
	if (!r->has_model_out) {
		MUST(is_junk(&a->model, sizeof(a->model)));
		return true;
	}
	MUST(is_junk(&a->model.pfp_mont_irange.rr_br[a->model.pfp_mont_irange.rr_nbr_used],
	             (8 - a->model.pfp_mont_irange.rr_nbr_used) * sizeof(pfmlib_reg_t)));
	MUST(is_junk(&a->model.pfp_mont_drange.rr_br[a->model.pfp_mont_drange.rr_nbr_used],
	             (8 - a->model.pfp_mont_drange.rr_nbr_used) * sizeof(pfmlib_reg_t)));
	return true;
}

/* True if the answer obeys every constraint. */
static inline bool judge(const struct mont_request *r, const struct mont_answer *a)
{
	if (!is_rest_untouched(r, a) || a->rc)
		return !a->rc ? false : is_rest_untouched(r, a);
	if (!are_counters_right(r, a) || !are_values_right(r, a))
		return false;
	if (!r->has_model_in)
		return true;
	if (!are_filters_obeyed(r) ||
	    (r->model.pfp_mont_irange.rr_used && !is_code_range_right(r, a)))
		return false;
	return !r->model.pfp_mont_drange.rr_used ||
	       are_ranges_covered(r, &r->model.pfp_mont_drange, &a->model.pfp_mont_drange, false);
}

/* ---- is there a placement at all? ------------------------------------------------------------ */

/* @groups: the events of the cache groups alone. Tries every counter for them; the choices of all
 * others are nested, so counting those is enough. Of the L1D events only one has a rule, so the
 * others count as free to go anywhere. */
struct placement_search {
	const struct mont_request *groups;
	unsigned bus, halted, rest; /* events for PMC4 to 9, for PMC10, for any counter */
};

static inline bool try_place(const struct placement_search *s, unsigned at, unsigned free,
                             unsigned *counter)
{
	if (at < s->groups->in.pfp_event_count) {
		for (unsigned c = 4; c < 16; c++) {
			counter[at] = c;
			if (free >> c & 1 &&
			    (fact_of(s->groups, at)->group == 1 ? c == 5
			                                        : event_selector(c) != 0) &&
			    try_place(s, at + 1, free & ~(1u << c), counter))
				return true;
		}
		return false;
	}
	return do_groups_allow(s->groups, counter) &&
	       s->bus <= (unsigned)__builtin_popcount(free & 0x3f0) &&
	       s->halted <= (free >> 10 & 1) &&
	       s->bus + s->halted + s->rest <= (unsigned)__builtin_popcount(free);
}

static inline bool is_placeable(const struct mont_request *r)
{
	struct mont_request *groups = calloc(1, sizeof(*groups));
	struct placement_search s = { groups, 0, 0, 0 };
	unsigned counter[PMU_MONT_NUM_COUNTERS] = { 0 }, left = 0, n = 0;
	bool l1d = false, found;

	for (unsigned c = 4; c < 16; c++)
		left |= pfm_regmask_isset(&r->in.pfp_unavail_pmcs, c) ? 0 : 1u << c;
	for (unsigned i = 0; i < r->in.pfp_event_count; i++) {
		const struct event_fact *f = fact_of(r, i);

		if (f->group == 2 || (f->group == 1 && !l1d))
			groups->in.pfp_events[n++] = r->in.pfp_events[i];
		else if (f->counters == 0x3f0)
			s.bus++;
		else if (f->counters == 0x400)
			s.halted++;
		else
			s.rest++;
		l1d |= f->group == 1;
	}
	groups->in.pfp_event_count = n;
	found = n <= 7 && try_place(&s, 0, left, counter);
	free(groups);
	return found;
}

#endif
