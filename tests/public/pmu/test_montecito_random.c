/* SPDX-License-Identifier: MIT */
/* Properties of pfm_dispatch_events() on Montecito over random requests: a placed set breaks no
 * rule, a set refused for its counters has no placement, ranges are covered, and no input makes the
 * library write outside its output. */
#include "dispatched_set.h"
#include "montecito.h"
#include "open_for.h"
#include <pthread.h>

static uint64_t any64(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static unsigned get_random_below(uint64_t *seed, unsigned n)
{
	return (unsigned)(any64(seed) >> 11) % n;
}
static bool has_chance(uint64_t *seed, unsigned percent)
{
	return get_random_below(seed, 100) < percent;
}

/* ---- valid requests -------------------------------------------------------------------------- */

/* Draws events of the cache groups and events with few counters more often than their share. @set
 * restricts the groups to few sets. */
static unsigned any_event(uint64_t *seed, unsigned taste, unsigned set)
{
	for (unsigned tries = 0; tries < 4000; tries++) {
		unsigned i = get_random_below(seed, N_EVENTS);
		const struct event_fact *f = &facts[i];

		if (taste == 0 || (taste == 1 && f->group && (unsigned)f->set % 4 == set) ||
		    (taste == 2 && f->counters != 0xfff0) || (taste == 3 && f->code == 8) ||
		    (taste == 4 && f->group == 2 && (unsigned)f->set == set))
			return i;
	}
	return get_random_below(seed, N_EVENTS);
}

static void any_events(uint64_t *seed, struct mont_request *r)
{
	unsigned n = get_random_below(seed, 13), set = get_random_below(seed, 4),
		 only = has_chance(seed, 20)   ? 3
	                : has_chance(seed, 30) ? 4
	                                       : 9;

	r->in.pfp_event_count = n;
	for (unsigned i = 0; i < n; i++) {
		pfmlib_event_t *e = &r->in.pfp_events[i];

		e->event = any_event(seed, only < 9 ? only : get_random_below(seed, 3), set);
		if (facts[e->event].mesi)
			for (unsigned k = get_random_below(seed, 4); k < 4; k++)
				e->unit_masks[e->num_masks++] = k;
		e->plm = has_chance(seed, 80) ? 0 : 1 + get_random_below(seed, 15);
		if (has_chance(seed, 10))
			r->model.pfp_mont_counters[i].thres =
				get_random_below(seed, facts[e->event].maxincr);
		if (has_chance(seed, 30))
			r->model.pfp_mont_counters[i].flags = PFMLIB_MONT_FL_EVT_NO_QUALCHECK;
	}
}

static void any_range(uint64_t *seed, pfmlib_mont_input_rr_t *rr, bool code)
{
	unsigned n = 1 + get_random_below(seed, has_chance(seed, 60) ? 1 : 4);

	rr->rr_used = 1;
	rr->rr_flags = get_random_below(seed, 16);
	for (unsigned i = 0; i < n; i++) {
		uint64_t start = any64(seed),
			 size = any64(seed) >> (1 + get_random_below(seed, 63));

		if (has_chance(seed, 40))
			start &= ~(uint64_t)0xffff;
		if (code) {
			start &= ~(uint64_t)15;
			size &= ~(uint64_t)15;
		}
		size += size ? 0 : 16;
		if (start + size < start)
			start = 0 - size - 16;
		rr->rr_limits[i].rr_start = start;
		rr->rr_limits[i].rr_end = start + size;
		rr->rr_limits[i].rr_plm = has_chance(seed, 80) ? 0 : 1 + get_random_below(seed, 15);
	}
}

static void any_request(uint64_t *seed, struct mont_request *r)
{
	memset(r, 0, sizeof(*r));
	r->in.pfp_dfl_plm = 1 + get_random_below(seed, 15);
	r->in.pfp_flags = get_random_below(seed, 2);
	any_events(seed, r);
	for (unsigned k = get_random_below(seed, 6); has_chance(seed, 40) && k > 0; k--)
		pfm_regmask_set(&r->in.pfp_unavail_pmcs, 4 + get_random_below(seed, 12));
	r->has_in = r->has_out = true;
	r->has_model_in = has_chance(seed, 60);
	r->has_model_out = r->has_model_in;
	if (has_chance(seed, 20))
		any_range(seed, &r->model.pfp_mont_irange, true);
	if (has_chance(seed, 20))
		any_range(seed, &r->model.pfp_mont_drange, false);
	r->model.pfp_mont_opcm1.opcm_used = has_chance(seed, 10);
	r->model.pfp_mont_opcm2.opcm_used = has_chance(seed, 10);
}

static void check_refusal(const struct mont_request *r, const struct mont_answer *a)
{
	if (a->rc == PFMLIB_ERR_NOASSIGN && is_placeable(r))
		fail_msg("refused, but there is a placement");
	if (a->rc == PFMLIB_ERR_EVTSET && is_mix_allowed(r))
		fail_msg("refused for its sets, but they fit");
	if (a->rc == PFMLIB_ERR_FEATCOMB && !r->has_model_in)
		fail_msg("refused for features that are not there");
}

static void random_requests_are_answered_by_the_rules(void **state)
{
	struct mont_request *r = malloc(sizeof(*r)), *copy = malloc(sizeof(*copy));
	struct mont_answer *a = malloc(sizeof(*a));
	unsigned placed = 0, refused = 0;
	uint64_t seed = 42;

	(void)state;
	for (unsigned round = 0; round < 6000; round++) {
		any_request(&seed, r);
		memcpy(copy, r, sizeof(*copy));
		dispatch_request(r, a);
		assert_memory_equal(copy, r, sizeof(*copy));
		if (!judge(r, a))
			fail_msg("round %u, result %d: against the rules: %s", round, a->rc, wrong);
		check_refusal(r, a);
		placed += a->rc == 0;
		refused += a->rc == PFMLIB_ERR_NOASSIGN;
	}
	assert_true(placed > 1500 && refused > 100); /* enough sets of both kinds */
	free(r);
	free(copy);
	free(a);
}

/* ---- invalid requests ------------------------------------------------------------------------ */

static void fill_randomly(uint64_t *seed, void *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((unsigned char *)at)[i] = (unsigned char)any64(seed);
}

static void random_bytes_are_placed_or_refused(void **state)
{
	struct mont_request *r = malloc(sizeof(*r));
	struct mont_answer *a = malloc(sizeof(*a));
	uint64_t seed = 99;

	(void)state;
	for (unsigned round = 0; round < 6000; round++) {
		any_request(&seed, r);
		r->has_model_in = has_chance(&seed, 90);
		r->has_model_out = has_chance(&seed, 80);
		if (has_chance(&seed, 60))
			fill_randomly(&seed, &r->model, sizeof(r->model));
		for (unsigned k = get_random_below(&seed, 12); k > 0; k--)
			((unsigned char *)&r->model)[get_random_below(&seed, sizeof(r->model))] =
				(unsigned char)any64(&seed);
		if (has_chance(&seed, 30))
			fill_randomly(&seed, &r->in.pfp_events[get_random_below(&seed, 13)],
			              sizeof(r->in.pfp_events[0]));
		if (has_chance(&seed, 10))
			r->in.pfp_event_count =
				(unsigned)any64(&seed) >> get_random_below(&seed, 32);
		if (has_chance(&seed, 20))
			fill_randomly(&seed, &r->in.pfp_unavail_pmcs,
			              sizeof(r->in.pfp_unavail_pmcs));
		dispatch_request(r, a);
		assert_in_range(-a->rc, 0, -PFMLIB_ERR_LAST);
		assert_true(is_rest_untouched(r, a));
	}
	free(r);
	free(a);
}

static void random_texts_are_read_or_refused(void **state)
{
	static const char letters[] = "L3_INSERTS:MESI0x1248-. ,\xff";
	uint64_t seed = 3;

	(void)state;
	for (unsigned round = 0; round < 60000; round++) {
		char text[64];
		unsigned n = get_random_below(&seed, sizeof(text)), u;
		pfmlib_event_t e;

		for (unsigned i = 0; i < n; i++)
			text[i] = letters[get_random_below(&seed, sizeof(letters) - 1)];
		text[n] = '\0';
		if (has_chance(&seed, 50))
			memcpy(text, "L3_INSERTS:", 11 < n ? 11 : n);
		assert_in_range(-pfm_find_full_event(text, &e), 0, -PFMLIB_ERR_LAST);
		assert_in_range(-pfm_find_event(text, &u), 0, -PFMLIB_ERR_LAST);
		assert_in_range(-pfm_find_event_mask(474, text, &u), 0, -PFMLIB_ERR_LAST);
	}
}

/* ---- error details --------------------------------------------------------------------------- */

/* Sets and settings by name: a refusal gives the index of an event or none, never another number.
 */
static void test_refusals_have_an_event_or_no_event(void **state)
{
	pfm_ctx_t *ctx = open_for("montecito");
	struct mont_request *r = malloc(sizeof(*r));
	struct dispatched_set *set = calloc(1, sizeof(*set));
	unsigned about_one = 0, about_none = 0;
	uint64_t seed = 7;

	(void)state;
	for (unsigned round = 0; round < 6000; round++) {
		char names[PMU_MONT_NUM_COUNTERS][96];
		const char *texts[PMU_MONT_NUM_COUNTERS];
		pfmlib_mont_output_param_t model_out;
		pfm_dispatch_options_t o = { .size = sizeof(o) };
		pfm_error_t why = PFM_INIT(why);

		any_request(&seed, r);
		for (unsigned i = 0; i < r->in.pfp_event_count; i++) {
			assert_int_equal(pfm_get_full_event_name(&r->in.pfp_events[i], names[i],
			                                         sizeof(names[i])),
			                 0);
			texts[i] = names[i];
		}
		o.model_in = has_chance(&seed, 90) ? &r->model : NULL;
		o.model_out = has_chance(&seed, 50) ? &model_out : NULL;
		o.unavailable = &r->in.pfp_unavail_pmcs;
		if (dispatch_set(ctx, texts, r->in.pfp_event_count, &o, set, &why) == 0)
			continue;
		assert_in_range(why.event + 1, 0, r->in.pfp_event_count);
		about_one += why.event >= 0;
		about_none += why.event < 0;
	}
	assert_true(about_one > 100 && about_none > 100);
	free(set);
	free(r);
	pfm_close_context(ctx);
}

/* ---- names and their round trip -------------------------------------------------------------- */

static void test_full_names_come_back(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (unsigned round = 0; round < 5000; round++) {
		pfmlib_event_t e = { .event = get_random_below(&seed, N_EVENTS) }, back;
		char name[96];

		if (facts[e.event].mesi)
			for (unsigned bits = 1 + get_random_below(&seed, 15), k = 0; k < 4; k++)
				if (bits >> k & 1)
					e.unit_masks[e.num_masks++] = k;
		assert_int_equal(pfm_get_full_event_name(&e, name, sizeof(name)), 0);
		assert_int_equal(pfm_find_full_event(name, &back), 0);
		assert_memory_equal(&e, &back, sizeof(e));
	}
}

/* ---- threads --------------------------------------------------------------------------------- */

struct share {
	struct mont_request *requests;
	struct mont_answer *answers;
	unsigned n;
	bool same;
};

static void *ask_all(void *arg)
{
	struct share *s = arg;
	struct mont_answer *a = malloc(sizeof(*a));

	s->same = true;
	for (unsigned i = 0; i < s->n; i++) {
		if (i % 16 == 0)
			pfm_force_pmu(PFMLIB_MONTECITO_PMU);
		dispatch_request(&s->requests[i], a);
		s->same &= a->rc == s->answers[i].rc &&
		           memcmp(&a->out, &s->answers[i].out, sizeof(a->out)) == 0;
	}
	free(a);
	return NULL;
}

static void test_threads_agree(void **state)
{
	enum { N = 200, THREADS = 4 };
	struct mont_request *requests = malloc(N * sizeof(*requests));
	struct mont_answer *answers = malloc(N * sizeof(*answers));
	struct share shares[THREADS];
	pthread_t threads[THREADS];
	uint64_t seed = 17;

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		any_request(&seed, &requests[i]);
		dispatch_request(&requests[i], &answers[i]);
	}
	for (unsigned t = 0; t < THREADS; t++) {
		shares[t] = (struct share){ requests, answers, N, false };
		assert_int_equal(pthread_create(&threads[t], NULL, ask_all, &shares[t]), 0);
	}
	for (unsigned t = 0; t < THREADS; t++) {
		pthread_join(threads[t], NULL);
		assert_true(shares[t].same);
	}
	free(requests);
	free(answers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_requests_are_answered_by_the_rules),
		cmocka_unit_test(random_bytes_are_placed_or_refused),
		cmocka_unit_test(random_texts_are_read_or_refused),
		cmocka_unit_test(test_refusals_have_an_event_or_no_event),
		cmocka_unit_test(test_full_names_come_back),
		cmocka_unit_test(test_threads_agree),
	};

	if (!load_facts())
		return 1;
	pfm_force_pmu(PFMLIB_MONTECITO_PMU);
	return cmocka_run_group_tests_name("montecito_random", tests, NULL, NULL);
}
