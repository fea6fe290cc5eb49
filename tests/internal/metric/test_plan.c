/* SPDX-License-Identifier: MIT */
/* Plans against brute force: the least number of groups of random sets, found by trying every way,
 * for every processor there is. PERFMON_EVENTS adds the processors of images. By hand: test_plan
 * [SETS [FIRST-LAST [SEED]]] takes so many sets of up to 12 events from each PMU with a number in
 * that range, and says which it is at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include <perfmon/perfmon.h>
#include "dispatched_set.h"
#include "machine_files.h"
#include "lookup/lookup.h"
#include "metric/group_packing.h"

#define MOST 12

static unsigned n_sets = 12, size_limit = 8, seed = 17;
static int first_pmu, last_pmu = 1 << 30;
static pfm_ctx_t *ctx;

/* ---- the slow way ---------------------------------------------------------------------------- */

/* Texts of a brute-force search: each is parsed once. */
struct brute {
	unsigned n;
	const char *texts[MOST + 1]; /* with an event that was added */
	struct event events[MOST + 1];
};

static bool read_texts(struct brute *b)
{
	unsigned unit;

	for (unsigned i = 0; i < b->n; i++)
		if (pfmi_lookup_event(ctx, b->texts[i], &unit, &b->events[i], NULL))
			return false;
	return true;
}

/* The encode path of pfm_dispatch_set() without its text parser. */
static bool dispatched(const struct event *events, unsigned n)
{
	struct encode_request req = { .table = events->table,
		                      .events = events,
		                      .n_events = n,
		                      .plm = pfmi_pmu_get_encoder(events->table)->default_levels };
	struct placement where;
	struct register_values regs;

	return pfmi_pmu_dispatch_set(&req, &where, &regs, NULL) == PFMLIB_SUCCESS;
}

static unsigned members_of(const struct brute *b, unsigned set, struct event *members)
{
	unsigned n = 0;

	for (unsigned i = 0; i < b->n; i++)
		if (set >> i & 1)
			members[n++] = b->events[i];
	return n;
}

/* Some sets want one of their events first. */
static bool placed(const struct brute *b, unsigned set)
{
	struct event members[MOST + 1] = { 0 };
	unsigned n = members_of(b, set, members);

	if (dispatched(members, n))
		return true;
	for (unsigned first = 1; first < n; first++) {
		struct event front = members[first];

		members[first] = members[0];
		members[0] = front;
		if (dispatched(members, n))
			return true;
	}
	return false;
}

/* Does it matter which of two events comes first? */
static bool has_leader(const struct brute *b)
{
	for (unsigned i = 0; i < b->n; i++)
		for (unsigned k = 0; k < i; k++) {
			struct event pair[] = { b->events[k], b->events[i], b->events[k] };

			if (dispatched(pair, 2) != dispatched(pair + 1, 2))
				return true;
		}
	return false;
}

static bool lacks_one(const bool *fits, unsigned set)
{
	for (unsigned left = set; left; left &= left - 1)
		if (set & (set - 1) && !fits[set & ~(left & -left)])
			return true;
	return false;
}

/* Finds which sets fit. If no event must lead its group, the order does not matter, and a set
 * that does not fit does not fit with more events. In the suite each refused set is tried in
 * every order; by hand one of each size. */
static void try_all(const struct brute *b, bool *fits)
{
	bool led = has_leader(b);
	struct event members[MOST + 1] = { 0 };
	unsigned refused = 0, some = 0;

	for (unsigned s = 1; s < 1u << b->n; s++) {
		if (led)
			fits[s] = placed(b, s);
		else
			fits[s] = !lacks_one(fits, s) &&
			          dispatched(members, members_of(b, s, members));
		if (fits[s] || led)
			continue;
		if (size_limit < MOST)
			assert_false(placed(b, s));
		some = (unsigned)rand() % ++refused ? some : s;
	}
	assert_false(some && placed(b, some));
}

/* Least number of groups over all partitions; 0 if some event fits nowhere. */
static unsigned least(const struct brute *b)
{
	static bool fits[2u << MOST];
	static unsigned char best[2u << MOST];

	try_all(b, fits);
	best[0] = 0;
	for (unsigned s = 1; s < 1u << b->n; s++) {
		unsigned low = s & -s, rest = s & ~low;

		best[s] = fits[s] ? 1 : 255;
		/* The group that the first of them is in, with every choice of company. */
		for (unsigned with = rest; with && best[s] > 2;) {
			with = (with - 1) & rest;
			if (fits[low | with] && best[rest & ~with] + 1u < best[s])
				best[s] = (unsigned char)(best[rest & ~with] + 1);
		}
	}
	return best[(1u << b->n) - 1] == 255 ? 0 : best[(1u << b->n) - 1];
}

/* The call with texts gives the same answer. */
static void check_short_way(const struct brute *b)
{
	struct event events[MOST + 1];
	const char *texts[MOST + 1];
	struct dispatched_set set = { 0 };
	unsigned n = 0, some = 1 + (unsigned)rand() % ((1u << b->n) - 1);

	for (unsigned i = 0; i < b->n; i++)
		if (some >> i & 1) {
			texts[n] = b->texts[i];
			events[n++] = b->events[i];
		}
	assert_int_equal(dispatched(events, n),
	                 dispatch_set(ctx, texts, n, NULL, &set, NULL) == PFMLIB_SUCCESS);
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* Every group of @plan can be dispatched, on the counters it names. */
static void check_groups(const pfm_plan_t *plan, unsigned n_groups)
{
	pfm_planned_event_t e = PFM_INIT(e);

	for (unsigned g = 0; g < n_groups; g++) {
		const char *members[MAX_SET];
		int counters[MAX_SET];
		unsigned n = 0;
		struct dispatched_set set = { 0 };

		for (unsigned i = 0; !pfm_describe_planned_event(plan, i, &e); i++)
			if (e.group == g) {
				members[n] = e.text;
				counters[n++] = e.counter;
			}
		assert_int_equal(dispatch_set(ctx, members, n, NULL, &set, NULL), PFMLIB_SUCCESS);
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(set.counter[i], counters[i]);
	}
}

/* With an event more than was asked for, sets fit that would not: it belongs to the question
 * then. */
static void ask_for_added(const pfm_plan_t *plan, struct brute *b)
{
	pfm_planned_event_t e = PFM_INIT(e);

	for (unsigned i = 0; plan && !pfm_describe_planned_event(plan, i, &e); i++)
		if (e.added) {
			assert_true(b->n <= MOST);
			b->texts[b->n++] = e.text;
		}
}

static void check_set(const char *pmu, struct brute *b)
{
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_plan_t *plan;
	int rc = pfm_create_plan(&plan, ctx, b->texts, b->n, NULL, NULL);
	unsigned want;

	ask_for_added(plan, b);
	assert_true(read_texts(b));
	check_short_way(b);
	want = least(b);
	/* A text that fits in no group is refused. */
	if (want ? rc || pfm_describe_plan(plan, &info) || info.n_groups != want || !info.optimal ||
	                    info.bound != want
	         : rc != PFMLIB_ERR_NOASSIGN) {
		print_message("# %s: %u groups, %u wanted, bound %u, optimal %d, %s\n", pmu,
		              info.n_groups, want, info.bound, info.optimal, pfm_result_text(rc));
		for (unsigned i = 0; i < b->n; i++)
			print_message("#   %s\n", b->texts[i]);
		fail();
	}
	if (want)
		check_groups(plan, info.n_groups);
	pfm_close_plan(plan);
}

/* Adds to half of the events a unit mask, or a number that every event accepts. Few numbers are
 * used, so that some events agree. */
static void qualify(int pmu, const perfmon_event_info_t *e, char *text, size_t len)
{
	pfm_umask_info_t mask = PFM_INIT(mask);
	pfm_modifier_info_t m = PFM_INIT(m);
	size_t at = strlen(text);
	unsigned n = 0;

	while (!pfm_describe_modifier(ctx, pmu, e->event, n, &m))
		n++;
	if (e->n_umasks && rand() & 1 &&
	    !pfm_describe_umask(ctx, pmu, e->event, (unsigned)rand() % e->n_umasks, &mask))
		snprintf(text + at, len - at, ":%s", mask.name);
	else if (n && rand() & 1 &&
	         !pfm_describe_modifier(ctx, pmu, e->event, (unsigned)rand() % n, &m))
		snprintf(text + at, len - at, ":%s=%llu", m.name,
		         (unsigned long long)m.min +
		                 (unsigned)rand() % (m.max - m.min > 2 ? 3 : 2));
}

static bool encodes(int pmu, const char *text)
{
	pfm_encoding_t enc = PFM_INIT(enc);

	return pfm_encode_event(ctx, text, 0, &enc, NULL) == PFMLIB_SUCCESS && enc.pmu == pmu;
}

/* The brute force tries every order, with the events of the set alone. CHAIN belongs to the event
 * before it, and sets that sample latencies need an event more: these have tests of their own. */
static bool needs_another_event(const char *name)
{
	return strcmp(name, "CHAIN") == 0 || strstr(name, "LOAD_LATENCY");
}

/* A random event of @pmu, as text. */
static bool pick(int pmu, const perfmon_pmu_info_t *info, char *text, size_t len)
{
	for (unsigned tries = 0; tries < 50; tries++) {
		perfmon_event_info_t e = PFM_INIT(e);
		size_t bare;

		if (pfm_describe_event(ctx, pmu, (unsigned)rand() % info->n_events, &e) ||
		    e.flags & PFM_EVENT_METRIC || needs_another_event(e.name))
			continue;
		snprintf(text, len, "%s::%s", info->name, e.name);
		bare = strlen(text);
		qualify(pmu, &e, text, len);
		if (encodes(pmu, text))
			return true;
		text[bare] = '\0';
		if (encodes(pmu, text))
			return true;
	}
	return false;
}

/* Up to @wanted different events; returns how many there are. */
static unsigned pick_set(int pmu, const perfmon_pmu_info_t *info, unsigned wanted,
                         char texts[MOST][300], struct brute *b)
{
	b->n = 0;
	while (b->n < wanted && pick(pmu, info, texts[b->n], sizeof(texts[0]))) {
		bool again = false;

		b->texts[b->n] = texts[b->n];
		for (unsigned i = 0; i < b->n; i++)
			again |= strcmp(texts[i], texts[b->n]) == 0;
		if (again)
			wanted--;
		else
			b->n++;
	}
	return b->n;
}

/* Sets of one PMU depend on its number and the seed alone. Returns how many there were. */
static unsigned check_pmu(int pmu, const perfmon_pmu_info_t *info)
{
	static struct brute b;
	char texts[MOST][300];
	unsigned done = 0;

	srand(seed + (unsigned)pmu);
	for (unsigned k = 0; k < n_sets; k++)
		if (pick_set(pmu, info, 2 + (unsigned)rand() % (size_limit - 1), texts, &b) > 1) {
			check_set(info->name, &b);
			done++;
		}
	return done;
}

static void random_sets_need_no_fewer_groups(void **state)
{
	unsigned long done = 0;

	(void)state;
	for (int pmu = first_pmu; pmu < pfm_count_pmus(ctx) && pmu <= last_pmu; pmu++) {
		perfmon_pmu_info_t info = PFM_INIT(info);
		unsigned sets;

		if (pfm_describe_pmu(ctx, pmu, &info) || !info.n_events ||
		    info.flags & PFM_PMU_HIDDEN)
			continue;
		sets = check_pmu(pmu, &info);
		done += sets;
		if (size_limit == MOST)
			print_message("# %d %s: %u sets\n", pmu, info.name, sets);
	}
	assert_true(done >= n_sets || first_pmu);
}

/* ---- packing alone --------------------------------------------------------------------------- */

struct clashes {
	unsigned n;
	uint64_t mask[MOST];
	unsigned with[MOST]; /* items that conflict with it */
};

static bool seated(const struct clashes *c, const uint16_t *items, unsigned n, uint64_t used)
{
	if (n == 0)
		return true;
	for (uint64_t left = c->mask[items[0]] & ~used; left; left &= left - 1)
		if (seated(c, items + 1, n - 1, used | (left & -left)))
			return true;
	return false;
}

static bool together(void *arg, const uint16_t *items, unsigned n)
{
	const struct clashes *c = arg;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++)
			if (c->with[items[i]] >> items[k] & 1)
				return false;
	return seated(c, items, n, 0);
}

static unsigned least_of(struct clashes *c)
{
	static unsigned char best[1u << MOST];

	best[0] = 0;
	for (unsigned s = 1; s < 1u << c->n; s++) {
		best[s] = 255;
		for (unsigned sub = s; sub; sub = (sub - 1) & s) {
			uint16_t items[MOST];
			unsigned n = 0;

			if (!(sub & s & -s) || best[s & ~sub] + 1u >= best[s])
				continue;
			for (unsigned i = 0; i < c->n; i++)
				if (sub >> i & 1)
					items[n++] = (uint16_t)i;
			if (together(c, items, n))
				best[s] = (unsigned char)(best[s & ~sub] + 1);
		}
	}
	return best[(1u << c->n) - 1];
}

static void packing_is_exact(void **state)
{
	(void)state;
	srand(23);
	for (unsigned round = 0; round < 400; round++) {
		struct clashes c = { .n = 2 + (unsigned)rand() % 8 };
		bool plain[MOST];
		uint16_t group[MOST];
		struct pack_problem p = { .n_items = c.n,
			                  .counter_mask = c.mask,
			                  .is_plain = plain,
			                  .can_share_group = together,
			                  .arg = &c,
			                  .group = group,
			                  .effort = 1000000 };
		unsigned counters = 2 + (unsigned)rand() % 4;

		for (unsigned i = 0; i < c.n; i++) {
			c.mask[i] = 1 + (unsigned)rand() % ((1u << counters) - 1);
			for (unsigned k = 0; k < i; k++)
				if (rand() % 4 == 0 && round & 1) {
					c.with[i] |= 1u << k;
					c.with[k] |= 1u << i;
				}
		}
		for (unsigned i = 0; i < c.n; i++)
			plain[i] = !c.with[i];
		assert_int_equal(pfmi_plan_pack_groups(&p), PFMLIB_SUCCESS);
		assert_true(p.is_optimal);
		assert_int_equal(p.n_groups, least_of(&c));
		assert_int_equal(p.bound, p.n_groups);
		for (unsigned g = 0; g < p.n_groups; g++) {
			uint16_t items[MOST];
			unsigned n = 0;

			for (unsigned i = 0; i < c.n; i++)
				if (group[i] == g)
					items[n++] = (uint16_t)i;
			assert_true(together(&c, items, n));
		}
	}
}

static bool never_asked(void *arg, const uint16_t *items, unsigned n)
{
	(void)arg;
	(void)items;
	return n == 1;
}

static bool nothing_fits(void *arg, const uint16_t *items, unsigned n)
{
	(void)arg;
	return n == 1 && items[0] != 7;
}

/* 18 items on four counters, where taking the first free counter leaves the last of them without
 * one: five groups, not six. */
static void eighteen_on_four(void **state)
{
	uint64_t mask[18];
	bool plain[18];
	uint16_t group[18];
	struct pack_problem p = { .n_items = 18,
		                  .counter_mask = mask,
		                  .is_plain = plain,
		                  .can_share_group = never_asked,
		                  .group = group,
		                  .effort = 1 };

	(void)state;
	for (unsigned i = 0; i < 18; i++) {
		mask[i] = i < 5 ? 0xf : i < 9 ? 0x3 : i < 14 ? 0x1 : 0xc;
		plain[i] = true;
	}
	assert_int_equal(pfmi_plan_pack_groups(&p), PFMLIB_SUCCESS);
	assert_int_equal(p.n_groups, 5);
	assert_int_equal(p.bound, 5);
	for (unsigned i = 0; i < 18; i++)
		mask[i] = i < 11 ? 0x3 : 0xf;
	assert_int_equal(pfmi_plan_pack_groups(&p), PFMLIB_SUCCESS);
	assert_int_equal(p.n_groups, 6);
	assert_int_equal(p.proof, PACK_PROOF_COUNTERS);
	assert_int_equal(p.proof_counters, 0x3);
}

/* A search without any steps says how far off it can be; what fits nowhere is named. */
static void packing_that_gives_up_says_so(void **state)
{
	uint64_t mask[12];
	bool plain[12] = { false };
	uint16_t group[12];
	struct clashes c = { .n = 12 };
	struct pack_problem p = { .n_items = 12,
		                  .counter_mask = mask,
		                  .is_plain = plain,
		                  .can_share_group = together,
		                  .arg = &c,
		                  .group = group,
		                  .effort = 1 };

	(void)state;
	/* Pairs that clash, all on four counters. */
	for (unsigned i = 0; i < 12; i++) {
		mask[i] = c.mask[i] = 0xf;
		c.with[i] = 0xfffu & ~(1u << i) & ~(1u << (11 - i));
	}
	assert_int_equal(pfmi_plan_pack_groups(&p), PFMLIB_SUCCESS);
	assert_true(p.n_groups >= 6);
	assert_true(p.bound <= 6);
	assert_int_equal(p.is_optimal, p.n_groups == p.bound);
	c.mask[7] = mask[7] = 0;
	c.with[7] = 1u << 7;
	p.can_share_group = never_asked;
	p.n_items = PACK_MAX_ITEMS + 1;
	assert_int_equal(pfmi_plan_pack_groups(&p), PFMLIB_ERR_TOOMANY);
	p.n_items = 12;
	p.can_share_group = nothing_fits;
	assert_int_equal(pfmi_plan_pack_groups(&p), PFMLIB_ERR_NOASSIGN);
	assert_int_equal(p.n_groups, 7);
}

/* ---- manners --------------------------------------------------------------------------------- */

static void equal_input_gives_an_equal_plan(void **state)
{
	const char *texts[] = {
		"montecito::CPU_OP_CYCLES_ALL",    "montecito::BUS_ALL_IO",
		"montecito::BUS_ALL_ANY",          "montecito::IA64_INST_RETIRED_THIS",
		"montecito::CPU_OP_CYCLES_HALTED", "hardware::ipc"
	};
	pfm_planned_event_t one = PFM_INIT(one), two = PFM_INIT(two);
	pfm_plan_t *a, *b;
	unsigned n = 0;

	(void)state;
	assert_int_equal(pfm_create_plan(&a, ctx, texts, 6, NULL, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_create_plan(&b, ctx, texts, 6, NULL, NULL), PFMLIB_SUCCESS);
	for (unsigned i = 0; !pfm_describe_planned_event(a, i, &one); i++) {
		assert_int_equal(pfm_describe_planned_event(b, i, &two), PFMLIB_SUCCESS);
		assert_string_equal(one.text, two.text);
		assert_int_equal(one.counter, two.counter);
		n++;
	}
	assert_int_equal(n, 7);
	pfm_close_plan(a);
	pfm_close_plan(b);
}

static void taken_counters_are_left_alone(void **state)
{
	const char *texts[] = { "coreduo::Uops_Ret", "coreduo::L2_Lines_In" };
	pfm_plan_options_t o = PFM_INIT(o);
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_planned_event_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);
	pfm_plan_t *plan;

	(void)state;
	o.taken = 1;
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 2, &o, NULL), PFMLIB_SUCCESS);
	pfm_describe_plan(plan, &info);
	assert_int_equal(info.n_groups, 2);
	for (unsigned i = 0; !pfm_describe_planned_event(plan, i, &e); i++)
		assert_int_equal(e.counter, 1);
	pfm_close_plan(plan);
	o.taken = 3;
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 2, &o, &error), PFMLIB_ERR_NOASSIGN);
	assert_null(plan);
	assert_int_equal(error.event, 0);
	texts[1] = "coreduo::nobody";
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 2, NULL, &error), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(error.event, 1);
}

/* ---- what a plan says ------------------------------------------------------------------------ */

static pfm_plan_t *plan_of(const char *const *texts, unsigned n, pfm_plan_info_t *info)
{
	pfm_plan_t *plan;
	pfm_error_t error = PFM_INIT(error);

	assert_int_equal(pfm_create_plan(&plan, ctx, texts, n, NULL, &error), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_plan(plan, info), PFMLIB_SUCCESS);
	return plan;
}

/* Values of PERF_METRICS follow SLOTS in a group: a SLOTS event of the request, before or after
 * them, or one that is added. */
static void figures_are_led_by_slots(void **state)
{
	const char *texts[] = { "icl::PERF_METRICS.RETIRING", "icl::PERF_METRICS.BAD_SPECULATION",
		                "icl::INST_RETIRED.ANY", "icl::TOPDOWN.SLOTS" };
	const char *slots_first[] = { "icl::TOPDOWN.SLOTS", "icl::PERF_METRICS.RETIRING" };
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_planned_event_t e = PFM_INIT(e);

	(void)state;
	for (unsigned n = 3; n <= 4; n++) {
		pfm_plan_t *plan = plan_of(texts, n, &info);

		assert_int_equal(info.n_events, 4);
		assert_int_equal(info.n_groups, 1);
		assert_int_equal(pfm_describe_planned_event(plan, 0, &e), PFMLIB_SUCCESS);
		assert_string_equal(e.text, "icl::TOPDOWN.SLOTS");
		assert_int_equal(e.added, n == 3);
		assert_int_equal(e.counter, 35);
		pfm_close_plan(plan);
	}
	pfm_close_plan(plan_of(slots_first, 2, &info));
	assert_int_equal(info.n_events, 2);
}

/* If another event has the counter of SLOTS, no value of PERF_METRICS can be read. */
static void figures_need_the_slots_counter(void **state)
{
	const char *texts[] = { "icl::PERF_METRICS.RETIRING", "icl::TOPDOWN.SLOTS" };
	pfm_plan_options_t o = PFM_INIT(o);
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	o.taken = (uint64_t)1 << 35;
	for (unsigned n = 1; n <= 2; n++) {
		pfm_plan_t *plan;

		assert_int_equal(pfm_create_plan(&plan, ctx, texts, n, &o, &error),
		                 PFMLIB_ERR_NOASSIGN);
		assert_null(plan);
		assert_int_equal(error.event, 0);
	}
}

/* Arm's CHAIN counts the overflows of the event before it, on the next counter. */
static void a_chain_stays_with_the_event_before_it(void **state)
{
	const char *texts[] = { "c1_ultra::STALL_SLOT", "c1_ultra::CHAIN", "c1_ultra::L1I_CACHE" };
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_plan_t *plan;

	(void)state;
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 3, NULL, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_plan(plan, &info), PFMLIB_SUCCESS);
	assert_int_equal(info.n_groups, 1);
	check_groups(plan, 1);
	pfm_close_plan(plan);
	assert_int_equal(pfm_create_plan(&plan, ctx, texts + 1, 2, NULL, NULL),
	                 PFMLIB_ERR_NOASSIGN);
}

/* Adding SLOTS moves the other events; this works for every number of events that fits. */
static void figures_that_move_need_the_slots_counter(void **state)
{
	const char *texts[70];
	pfm_plan_options_t o = PFM_INIT(o);
	pfm_error_t error = PFM_INIT(error);

	(void)state;
	o.taken = (uint64_t)1 << 35;
	for (unsigned n = 0; n < 70; n++) {
		pfm_plan_t *plan;

		texts[n] = "icl::PERF_METRICS.RETIRING";
		assert_int_equal(pfm_create_plan(&plan, ctx, texts, n + 1, &o, &error),
		                 PFMLIB_ERR_NOASSIGN);
		assert_int_equal(error.event, n);
		assert_int_equal(error.start, 0);
		assert_int_equal(error.end, strlen(texts[n]));
		texts[n] = "icl::INST_RETIRED.ANY";
	}
}

/* Values for one register are as many groups, and the certificate counts them. */
static void values_of_one_register_are_groups(void **state)
{
	const char *texts[] = { "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4",
		                "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_8",
		                "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_16",
		                "skx::INST_RETIRED.ANY" };
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_planned_event_t e = PFM_INIT(e);
	pfm_plan_t *plan = plan_of(texts, 4, &info);

	(void)state;
	assert_int_equal(info.n_groups, 3);
	assert_int_equal(info.bound, 3);
	assert_string_equal(
		info.certificate,
		"3 events need different values in the same extra registers: at least 3 groups");
	for (unsigned i = 0; !pfm_describe_planned_event(plan, i, &e); i++)
		assert_int_equal(e.in_proof, strcmp(e.text, texts[3]) != 0);
	pfm_close_plan(plan);
}

/* Names of counters in the certificate: general ones are numbers, fixed ones have an F. */
static void counters_of_a_proof_are_named(void **state)
{
	static const struct {
		const char *texts[3];
		const char *certificate;
	} rows[] = {
		{ { "coreduo::Uops_Ret", "coreduo::Instr_Ret", "coreduo::L2_Lines_In" },
		  "3 events have 2 counters (0,1) and no others: at least 2 groups" },
		{ { "coreduo::FP_Assist", "coreduo::FP_Assist:u", NULL },
		  "2 events have 1 counter (1) and no other: at least 2 groups" },
		{ { "skx::INST_RETIRED.ANY", "skx::INST_RETIRED.ANY:u", NULL },
		  "2 events have 1 counter (F0) and no other: at least 2 groups" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pfm_plan_info_t info = PFM_INIT(info);
		pfm_plan_t *plan = plan_of(rows[i].texts, rows[i].texts[2] ? 3 : 2, &info);

		assert_string_equal(info.certificate, rows[i].certificate);
		pfm_close_plan(plan);
	}
}

/* One group holds as many of the kernel's own events as a set can have. */
static void events_without_counters_are_spread(void **state)
{
	char room[60][32];
	const char *texts[60];
	pfm_plan_info_t info = PFM_INIT(info);

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		snprintf(room[i], sizeof(room[i]), "software::page-faults:%s", i % 2 ? "u" : "k");
		texts[i] = room[i];
	}
	pfm_close_plan(plan_of(texts, 60, &info));
	assert_int_equal(info.n_events, 60);
	assert_int_equal(info.n_groups, 2);
	assert_int_equal(info.bound, 2);
}

/* Events of several PMUs count side by side; of a group of metrics the events that are shared come
 * once. */
static void groups_of_metrics_and_pmus(void **state)
{
	const char *texts[] = { "software::ratios", "hardware::ipc", "coreduo::Uops_Ret" };
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_planned_event_t e = PFM_INIT(e);
	pfm_plan_t *plan = plan_of(texts, 3, &info);
	unsigned clocks = 0, software = 0;

	(void)state;
	for (unsigned i = 0; !pfm_describe_planned_event(plan, i, &e); i++) {
		clocks += strcmp(e.text, "software::task-clock") == 0;
		software += e.request == 0;
	}
	assert_int_equal(clocks, 1);
	assert_int_equal(software, 4);
	assert_int_equal(info.n_groups, 3);
	assert_int_equal(info.n_rounds, 1);
	assert_non_null(strstr(info.certificate, "coreduo: one group"));
	assert_non_null(strstr(info.certificate, "; "));
	pfm_close_plan(plan);
}

static void expect_group(const pfm_plan_t *plan, unsigned group, const char *want)
{
	char text[128], cut[8];
	int len = pfm_print_plan_group(plan, group, text, sizeof(text));

	assert_int_equal(len, strlen(want));
	assert_string_equal(text, want);
	assert_int_equal(pfm_print_plan_group(plan, group, NULL, 0), len);
	assert_int_equal(pfm_print_plan_group(plan, group, cut, sizeof(cut)), len);
	assert_int_equal(strlen(cut), sizeof(cut) - 1);
	assert_memory_equal(cut, want, sizeof(cut) - 1);
}

static void groups_are_texts_of_sessions(void **state)
{
	static const char *const texts[] = { "skx::INST_RETIRED.PREC_DIST:u",
		                             "skx::MEM_LOAD_RETIRED.L3_MISS",
		                             "skx::INST_RETIRED.PREC_DIST:k" };
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_plan_t *plan = plan_of(texts, 3, &info);

	(void)state;
	expect_group(plan, 0, "{skx::INST_RETIRED.PREC_DIST:u,skx::MEM_LOAD_RETIRED.L3_MISS}:W");
	expect_group(plan, 1, "skx::INST_RETIRED.PREC_DIST:k");
	assert_int_equal(pfm_print_plan_group(plan, 2, NULL, 0), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_print_plan_group(plan, 0, NULL, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_print_plan_group(NULL, 0, NULL, 0), PFMLIB_ERR_INVAL);
	pfm_close_plan(plan);
}

/* The counter of cycles is the watchdog's. */
static void reserved_counters_are_used_where_no_other_is_left(void **state)
{
	static const char *const texts[] = { "CPU_CLK_UNHALTED.THREAD" };
	char root[] = "/tmp/perfmon_plan_XXXXXX";
	pfm_plan_options_t o = PFM_INIT(o);
	pfm_plan_t *plan;
	pfm_ctx_t *machine;

	(void)state;
	assert_non_null(mkdtemp(root));
	put(root, "proc/sys/kernel/nmi_watchdog", "1");
	put(root, "sys/bus/event_source/devices/cpu/type", "4");
	machine = open_machine("GenuineIntel-6-55-4", root);
	assert_int_equal(pfm_create_plan(&plan, machine, texts, 1, &o, NULL), PFMLIB_ERR_NOASSIGN);
	o.flags = PFM_PLAN_RESERVED_IF_NEEDED;
	assert_int_equal(pfm_create_plan(&plan, machine, texts, 1, &o, NULL), PFMLIB_SUCCESS);
	pfm_close_plan(plan);
	pfm_close_context(machine);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void refuses_events_without_a_plan(void **state)
{
	static const char *many[1100];
	char text[600];
	const char *texts[] = { "software::ratios", text };
	pfm_plan_options_t o = PFM_INIT(o);
	pfm_error_t error = PFM_INIT(error);
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_planned_event_t e = PFM_INIT(e);
	pfm_plan_t *plan;

	(void)state;
	memset(text, ' ', sizeof(text));
	memcpy(text + sizeof(text) - 22, "software::page-faults", 22);
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 2, NULL, &error), PFMLIB_ERR_TOOMANY);
	assert_int_equal(error.event, 1);
	for (unsigned i = 0; i < 1100; i++)
		many[i] = "software::page-faults";
	assert_int_equal(pfm_create_plan(&plan, ctx, many, 1100, NULL, &error), PFMLIB_ERR_TOOMANY);
	assert_int_equal(error.event, 1024);
	texts[1] = NULL;
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 2, NULL, &error), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_create_plan(NULL, ctx, texts, 1, NULL, &error), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 0, NULL, NULL), PFMLIB_ERR_INVAL);
	o.size = 1;
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 1, &o, &error), PFMLIB_ERR_INVAL);
	texts[0] = "software::nobodys";
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 1, NULL, &error), PFMLIB_ERR_NOTFOUND);
	texts[0] = "software::task-clock";
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 1, NULL, &error), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_planned_event(plan, 1, &e), PFMLIB_ERR_NOTFOUND);
	info.size = e.size = 1;
	assert_int_equal(pfm_describe_plan(plan, &info), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_planned_event(plan, 0, &e), PFMLIB_ERR_INVAL);
	pfm_close_plan(plan);
	pfm_close_plan(NULL);
}

/* A shorter struct of an older caller is not written beyond its end. */
static void short_structs_stay_short(void **state)
{
	struct {
		pfm_error_t error;
		char behind;
	} room = { .error = { .size = offsetof(pfm_error_t, sys_errno) } };
	const char *texts[] = { "software::nobody" };
	pfm_plan_t *plan;

	(void)state;
	memset((char *)&room.error + room.error.size, 0x5a, sizeof(room) - room.error.size);
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 1, NULL, &room.error),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(room.error.code, PFMLIB_ERR_NOTFOUND);
	for (const char *p = (const char *)&room + room.error.size; p < (const char *)(&room + 1);
	     p++)
		assert_int_equal(*p, 0x5a);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packing_is_exact),
		cmocka_unit_test(eighteen_on_four),
		cmocka_unit_test(packing_that_gives_up_says_so),
		cmocka_unit_test(random_sets_need_no_fewer_groups),
		cmocka_unit_test(equal_input_gives_an_equal_plan),
		cmocka_unit_test(taken_counters_are_left_alone),
		cmocka_unit_test(figures_are_led_by_slots),
		cmocka_unit_test(figures_need_the_slots_counter),
		cmocka_unit_test(figures_that_move_need_the_slots_counter),
		cmocka_unit_test(a_chain_stays_with_the_event_before_it),
		cmocka_unit_test(values_of_one_register_are_groups),
		cmocka_unit_test(counters_of_a_proof_are_named),
		cmocka_unit_test(events_without_counters_are_spread),
		cmocka_unit_test(groups_of_metrics_and_pmus),
		cmocka_unit_test(groups_are_texts_of_sessions),
		cmocka_unit_test(reserved_counters_are_used_where_no_other_is_left),
		cmocka_unit_test(refuses_events_without_a_plan),
		cmocka_unit_test(short_structs_stay_short),
	};
	pfm_ctx_options_t options = PFM_INIT(options);
	int failed;

	options.flags = PFM_CTX_NO_HOST;
	if (argc > 1) {
		n_sets = (unsigned)strtoul(argv[1], NULL, 10);
		size_limit = MOST;
	}
	if (argc > 2 && sscanf(argv[2], "%d-%d", &first_pmu, &last_pmu) != 2)
		return 2;
	if (argc > 3)
		seed = (unsigned)strtoul(argv[3], NULL, 10);
	if (pfm_open_context(&ctx, &options, NULL))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	pfm_close_context(ctx);
	return failed;
}
