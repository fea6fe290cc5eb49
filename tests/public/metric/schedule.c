/* SPDX-License-Identifier: MIT */
/* Schedules of plans: Core Duo has two counters, so three events that each of them can count make
 * two groups. */
#include "units.h"
#include <math.h>
#include <stdbool.h>
#include <perfmon/perfmon.h>

static pfm_ctx_t *ctx;
static pfm_plan_t *plan;
static pfm_schedule_t *schedule;
static pfm_error_t error;

static int begin(void **state)
{
	static const char *const texts[] = { "coreduo::Uops_Ret", "coreduo::L2_Lines_In",
		                             "coreduo::L2_Rqsts", "software::page-faults" };

	(void)state;
	if (pfm_open_context(&ctx, NULL, NULL))
		return -1;
	return pfm_create_plan(&plan, ctx, texts, 4, NULL, NULL);
}

static int end(void **state)
{
	(void)state;
	pfm_close_plan(plan);
	pfm_close_context(ctx);
	return 0;
}

static int make(const pfm_wish_t *wishes, unsigned n, double slot, unsigned n_slots,
                const char *host)
{
	pfm_schedule_options_t o = PFM_INIT(o);

	o.slot_seconds = slot;
	o.n_slots = n_slots;
	o.host = host;
	error = (pfm_error_t)PFM_INIT(error);
	pfm_close_schedule(schedule);
	return pfm_create_schedule(&schedule, plan, wishes, n, &o, &error);
}

static unsigned group_of_request(unsigned request)
{
	pfm_planned_event_t e = PFM_INIT(e);

	for (unsigned i = 0; !pfm_describe_planned_event(plan, i, &e); i++)
		if (e.request == request)
			return e.group;
	fail_msg("no event of text %u", request);
	return 0;
}

static unsigned count_slots(unsigned group, unsigned n_slots)
{
	unsigned n = 0;

	for (unsigned t = 0; t < n_slots; t++)
		n += pfm_is_group_in_slot(schedule, t, group) == 1;
	return n;
}

/* Without wishes each group of a PMU has its turn, and a PMU with one group counts always. */
static void groups_take_equal_turns_without_wishes(void **state)
{
	pfm_schedule_info_t info = PFM_INIT(info);
	pfm_scheduled_request_t r = PFM_INIT(r);
	unsigned alone = group_of_request(3);

	(void)state;
	assert_int_equal(make(NULL, 0, 0, 0, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_schedule(schedule, &info), PFMLIB_SUCCESS);
	assert_true(info.n_slots == 2 && info.slot_seconds == 1 && info.n_requests == 4 &&
	            info.n_groups == 3 && info.shift == 0);
	for (unsigned g = 0; g < 3; g++) {
		assert_int_equal(count_slots(g, 2), g == alone ? 2 : 1);
		assert_int_equal(pfm_get_group_turn(schedule, g), g == alone ? 0 : 1);
	}
	assert_int_equal(pfm_describe_scheduled_request(schedule, 0, &r), PFMLIB_SUCCESS);
	/* One reading of two: sqrt((1 - 1/2) / 1). */
	assert_true(r.n_readings == 1 && r.longest_gap == 1 &&
	            fabs(r.standard_error - sqrt(0.5)) < 1e-12);
	assert_int_equal(pfm_describe_scheduled_request(schedule, 3, &r), PFMLIB_SUCCESS);
	assert_true(r.n_readings == 2 && r.longest_gap == 0 && r.standard_error == 0);
	assert_int_equal(pfm_describe_scheduled_request(schedule, 4, &r), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_is_group_in_slot(schedule, 2, 0), -1);
	assert_int_equal(pfm_is_group_in_slot(schedule, 0, 3), -1);
}

/* The wish of a text is that of its group; gaps are times without a slot. */
static void wishes_are_kept(void **state)
{
	pfm_wish_t wishes[4] = { { 0 } };
	pfm_scheduled_request_t r = PFM_INIT(r);
	pfm_schedule_info_t info = PFM_INIT(info);
	unsigned g = group_of_request(2);

	(void)state;
	wishes[2] = (pfm_wish_t){ 12, 4 };
	assert_int_equal(make(wishes, 4, 1, 0, NULL), PFMLIB_SUCCESS);
	pfm_describe_schedule(schedule, &info);
	assert_int_equal(info.n_slots, 60);
	pfm_describe_scheduled_request(schedule, 2, &r);
	assert_int_equal(r.n_readings, count_slots(g, 60));
	assert_true(r.n_readings >= 12 && r.longest_gap <= 4);
	/* Readings a minute are of the time, whatever the slots: 12 a minute are 24 of 1200. */
	wishes[2] = (pfm_wish_t){ 12, 0 };
	assert_int_equal(make(wishes, 4, 0.1, 1200, NULL), PFMLIB_SUCCESS);
	pfm_describe_scheduled_request(schedule, 2, &r);
	assert_true(r.n_readings >= 24);
}

static void refuses_wishes_that_need_more_slots(void **state)
{
	pfm_wish_t wishes[4] = { { 0 } };
	unsigned far = group_of_request(0) == group_of_request(1) ? 2 : 1;

	(void)state;
	/* 40 + 30 of 60 slots. */
	wishes[0].readings_per_minute = 40;
	wishes[far].readings_per_minute = 30;
	assert_int_equal(make(wishes, 4, 1, 60, NULL), PFMLIB_ERR_NOASSIGN);
	assert_null(schedule);
	assert_true(error.number == 70 && error.event == 0);
	assert_non_null(strstr(error.detail, "need more slots"));
	/* A gap of 1 second: every other slot. Two groups fit exactly. */
	wishes[0] = wishes[far] = (pfm_wish_t){ 0, 1 };
	assert_int_equal(make(wishes, 4, 1, 60, NULL), PFMLIB_SUCCESS);
	/* In 5 slots they do not: each needs 3. */
	assert_int_equal(make(wishes, 4, 1, 5, NULL), PFMLIB_ERR_NOASSIGN);
	assert_int_equal(error.number, 6);
}

/* Machines with one clock are in step; names shift them. */
static void names_of_hosts_shift_the_slots(void **state)
{
	pfm_schedule_info_t info = PFM_INIT(info);
	unsigned used[60] = { 0 }, n = 0;
	char name[16];

	(void)state;
	assert_int_equal(make(NULL, 0, 0.5, 60, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_find_slot(schedule, 0), 0);
	assert_int_equal(pfm_find_slot(schedule, 0.5), 1);
	assert_int_equal(pfm_find_slot(schedule, 29.99), 59);
	assert_int_equal(pfm_find_slot(schedule, 30), 0);
	assert_int_equal(pfm_find_slot(schedule, -0.25), 59);
	assert_int_equal(pfm_find_slot(schedule, NAN), 0);
	for (unsigned i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "node%03u", i);
		assert_int_equal(make(NULL, 0, 1, 60, name), PFMLIB_SUCCESS);
		pfm_describe_schedule(schedule, &info);
		assert_int_equal(pfm_find_slot(schedule, 0), info.shift);
		n += !used[info.shift]++;
	}
	/* 600 names on 60 places of equal chance leave out less than one. */
	assert_true(n >= 58);
}

/* At each time of a cycle every group counts on its share of a fleet: five standard deviations of a
 * choice by lot are left. */
static void fleet_covers_each_slot(void **state)
{
	enum { N_HOSTS = 600, N_SLOTS = 60 };
	static unsigned n_counting[N_SLOTS][3];
	pfm_wish_t wishes[4] = { { 0 } };
	char name[24];

	(void)state;
	memset(n_counting, 0, sizeof(n_counting));
	wishes[2] = (pfm_wish_t){ 12, 0 };
	wishes[0] = (pfm_wish_t){ 48, 0 };
	for (unsigned i = 0; i < N_HOSTS; i++) {
		snprintf(name, sizeof(name), "rack%u-node%u", i / 40, i % 40);
		assert_int_equal(make(wishes, 4, 1, N_SLOTS, name), PFMLIB_SUCCESS);
		for (unsigned t = 0; t < N_SLOTS; t++)
			for (unsigned g = 0; g < 3; g++)
				n_counting[t][g] +=
					pfm_is_group_in_slot(schedule,
				                             pfm_find_slot(schedule, 7200 + t),
				                             g) == 1;
	}
	for (unsigned g = 0; g < 3; g++) {
		double share = count_slots(g, N_SLOTS) / (double)N_SLOTS,
		       slack = 5 * sqrt(N_HOSTS * share * (1 - share));

		for (unsigned t = 0; t < N_SLOTS; t++)
			assert_true(n_counting[t][g] > 0 &&
			            fabs(n_counting[t][g] - N_HOSTS * share) <= slack);
	}
}

/* The mean of the slots of a group beside the mean of the whole cycle, for rates that are drawn
 * anew for each slot: over many cycles it is off by the error that the schedule gives. */
static void error_is_that_of_a_simulation(void **state)
{
	enum { N_CYCLES = 20000, N_SLOTS = 60 };
	pfm_wish_t wishes[4] = { { 0 } };
	uint64_t seed = 34;

	(void)state;
	wishes[2] = (pfm_wish_t){ 12, 0 };
	assert_int_equal(make(wishes, 4, 1, N_SLOTS, NULL), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 3; i++) {
		pfm_scheduled_request_t r = PFM_INIT(r);
		unsigned g = group_of_request(i), n = count_slots(g, N_SLOTS);
		double squared_errors = 0, variances = 0;

		pfm_describe_scheduled_request(schedule, i, &r);
		for (unsigned c = 0; c < N_CYCLES; c++) {
			double sum = 0, squares = 0, of_group = 0, off;

			for (unsigned t = 0; t < N_SLOTS; t++) {
				double rate = (double)(unit_random(&seed) % 1000000);

				sum += rate;
				squares += rate * rate;
				of_group += pfm_is_group_in_slot(schedule, t, g) == 1 ? rate : 0;
			}
			off = of_group / n - sum / N_SLOTS;
			squared_errors += off * off;
			variances += (squares - sum * sum / N_SLOTS) / (N_SLOTS - 1);
		}
		/* Of 20,000 squares the mean is within 1 % of its expectation: 5 % is far off. */
		assert_true(fabs(sqrt(squared_errors / variances) / r.standard_error - 1) < 0.05);
	}
}

/* ---- a fleet whose rates change -------------------------------------------------------------- */

enum { FLEET = 300, CYCLES = 4, CYCLE = 60, TIMES = CYCLES * CYCLE };

enum shape { NOISE, RAMP, STEP, WAVE };

/* The rate of a machine in a slot: noise of equal chance on top of what all machines have in
 * common. A wave has the period of the groups' turns without wishes. */
static double draw_rate(enum shape shape, unsigned t, uint64_t *seed)
{
	double noise = (double)(unit_random(seed) % 1000000) / 1e6;

	switch (shape) {
	case RAMP: return 10 + 4.0 * t / TIMES + noise;
	case STEP: return (t < TIMES / 3 ? 10 : 13) + noise;
	case WAVE: return 10 + 2.0 * (t % 2) + noise;
	default: return 10 + noise;
	}
}

static struct fleet {
	double rates[TIMES], sum[TIMES], read[TIMES]; /* of a machine; of all; of those that read */
	unsigned n_read[TIMES], n_intervals, n_covered;
	double off; /* sum of the differences between means of cycles and the truth */
} fleet;

/* Reads a machine for one cycle: is the mean of its slots within the 95 % interval around the
 * mean of all slots, by the schedule's error and the deviation between its slots? */
static void read_cycle(unsigned first, unsigned group, double factor)
{
	double truth = 0, sum = 0, squares = 0, allowed;
	unsigned n = 0;

	for (unsigned t = first; t < first + CYCLE; t++) {
		truth += fleet.rates[t] / CYCLE;
		if (pfm_is_group_in_slot(schedule, pfm_find_slot(schedule, t), group) != 1)
			continue;
		fleet.read[t] += fleet.rates[t];
		fleet.n_read[t]++;
		sum += fleet.rates[t];
		squares += fleet.rates[t] * fleet.rates[t];
		n++;
	}
	/* Student's quantile for 95 %, to a hundredth. */
	allowed = (1.96 + 2.4 / (n - 1)) * sqrt((squares - sum * sum / n) / (n - 1)) * factor;
	fleet.n_covered += fabs(sum / n - truth) <= allowed + 1e-9;
	fleet.off += sum / n - truth;
	fleet.n_intervals++;
}

/* Times between two slots of the group, over all cycles; readings in each minute. */
static void check_wish(unsigned group, const pfm_wish_t *wish)
{
	unsigned last = 0, n = 0, gap = 0;

	for (unsigned t = 0; t < TIMES; t++) {
		if (pfm_is_group_in_slot(schedule, pfm_find_slot(schedule, t), group) != 1)
			continue;
		gap = n && t - last - 1 > gap ? t - last - 1 : gap;
		last = t;
		n++;
	}
	assert_true(n >= wish->readings_per_minute * CYCLES);
	assert_true(wish->longest_gap == 0 || gap <= wish->longest_gap);
}

static void simulate_fleet(enum shape shape, unsigned request, const pfm_wish_t wishes[4],
                           bool is_shifted)
{
	uint64_t seed = 34 + request;
	char name[24];

	fleet = (struct fleet){ .n_intervals = 0 };
	for (unsigned i = 0; i < FLEET; i++) {
		pfm_scheduled_request_t r = PFM_INIT(r);
		unsigned group;

		snprintf(name, sizeof(name), "rack%u-node%u", i / 40, i % 40);
		assert_int_equal(make(wishes, 4, 1, CYCLE, is_shifted ? name : NULL),
		                 PFMLIB_SUCCESS);
		pfm_describe_scheduled_request(schedule, request, &r);
		group = group_of_request(request);
		check_wish(group, &wishes[request]);
		for (unsigned t = 0; t < TIMES; t++)
			fleet.sum[t] += fleet.rates[t] = draw_rate(shape, t, &seed);
		for (unsigned c = 0; c < CYCLES; c++)
			read_cycle(c * CYCLE, group, r.standard_error);
	}
}

/* At each time the machines that read an event agree with all machines: their noise of variance
 * 1/12 leaves five standard errors. */
static void check_each_time(void)
{
	for (unsigned t = 0; t < TIMES; t++) {
		assert_true(fleet.n_read[t] > 0);
		assert_true(fabs(fleet.read[t] / fleet.n_read[t] - fleet.sum[t] / FLEET) <
		            5 * sqrt(1.0 / 12 / fleet.n_read[t]));
	}
}

/* Means over slots are within the intervals of the schedule's errors in about 95 % of all cycles,
 * whether rates are steady, climb or jump; fewer errors are possible, since slots are spread
 * evenly. */
static void fleet_agrees_with_changing_rates(void **state)
{
	const pfm_wish_t wishes[4] = { { 30, 2 }, { 0, 0 }, { 24, 3 }, { 0, 0 } };

	(void)state;
	for (enum shape shape = NOISE; shape <= STEP; shape++)
		for (unsigned request = 0; request < 3; request++) {
			double covered;

			simulate_fleet(shape, request, wishes, true);
			check_each_time();
			covered = (double)fleet.n_covered / fleet.n_intervals;
			print_message("# shape %u, event %u: %.3f covered\n", shape, request,
			              covered);
			assert_true(covered > 0.93);
			assert_true(shape != NOISE || covered < 0.97);
		}
}

/* A rate that changes as the groups take turns misleads each machine. Machines that are shifted are
 * misled in different directions. */
static void shifts_outwit_a_wave(void **state)
{
	const pfm_wish_t wishes[4] = { { 0 } };
	double same;

	(void)state;
	simulate_fleet(WAVE, 0, wishes, false);
	same = fabs(fleet.off / fleet.n_intervals);
	assert_true(same > 0.9);
	simulate_fleet(WAVE, 0, wishes, true);
	check_each_time();
	/* Five standard errors of 300 machines that are off by 1 in a direction drawn by lot. */
	assert_true(fabs(fleet.off / fleet.n_intervals) < 5 / sqrt(FLEET));
}

static void refuses_bad_arguments(void **state)
{
	const pfm_wish_t negative = { -1, 0 }, unclear = { 0, NAN };
	pfm_schedule_options_t o = { .size = 1 };

	(void)state;
	assert_int_equal(make(&negative, 1, 1, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(make(&unclear, 1, 1, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(make(NULL, 1, 1, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(make(NULL, 0, -1, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(make(NULL, 0, 1, 20000, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_create_schedule(&schedule, plan, NULL, 0, &o, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_create_schedule(&schedule, NULL, NULL, 0, NULL, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_create_schedule(NULL, plan, NULL, 0, NULL, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_slot(NULL, 1), 0);
	pfm_close_schedule(NULL);
}

static int free_it(void **state)
{
	(void)state;
	pfm_close_schedule(schedule);
	schedule = NULL;
	return 0;
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin_case, end_case)

static int begin_case(void **state)
{
	return begin(state);
}

static int end_case(void **state)
{
	return free_it(state) | end(state);
}

UNIT(metric_schedule, CASE(groups_take_equal_turns_without_wishes), CASE(wishes_are_kept),
     CASE(refuses_wishes_that_need_more_slots), CASE(names_of_hosts_shift_the_slots),
     CASE(fleet_covers_each_slot), CASE(error_is_that_of_a_simulation),
     CASE(fleet_agrees_with_changing_rates), CASE(shifts_outwit_a_wave),
     CASE(refuses_bad_arguments));
