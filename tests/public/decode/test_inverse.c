/* SPDX-License-Identifier: MIT */
/* Decoding inverts encoding: of each built-in event, bare and with a few unit masks and levels, the
 * registers decode to texts that encode to these registers. Unit masks are a random sample from a
 * fixed seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <perfmon/perfmon.h>
#include "dispatched_set.h"
#include "built_in.h"

enum { MAX_ENTRIES = 64 };

static pfm_decoded_event_t found[MAX_ENTRIES];
static unsigned n_decoded, n_failed;

static uint64_t random_state = 1;

static unsigned random_below(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)((random_state >> 11) % n);
}

static bool is_same_register(const pfm_reg_t *a, const pfm_reg_t *b)
{
	return a->kind == b->kind && a->num == b->num && a->value == b->value;
}

/* True if both sets have equal registers. */
static bool is_same_set(const struct dispatched_set *a, const struct dispatched_set *b)
{
	bool same = a->n_pmcs == b->n_pmcs;

	for (unsigned i = 0; same && i < a->n_pmcs; i++)
		same = is_same_register(&a->pmcs[i], &b->pmcs[i]);
	return same;
}

static bool has_register(const struct dispatched_set *set, const pfm_reg_t *reg)
{
	for (unsigned i = 0; i < set->n_pmcs; i++)
		if (is_same_register(&set->pmcs[i], reg))
			return true;
	return false;
}

/* The value of the set's extra register, 0 for none. */
static uint64_t get_extra_value(const struct dispatched_set *set)
{
	for (unsigned i = 0; i < set->n_pmcs; i++)
		if (set->pmcs[i].kind == PFM_REG_EXTRA)
			return set->pmcs[i].value;
	return 0;
}

/* True if both sets count equal off-core requests. Code 0xbb with MSR 0x1a7 counts those of 0xb7
 * with MSR 0x1a6, and a text has the first of them (Intel's event lists give both codes). */
static bool is_same_off_core(const struct dispatched_set *a, const struct dispatched_set *b)
{
	return get_extra_value(a) && get_extra_value(a) == get_extra_value(b);
}

/* True if one of the @n decoded texts has all registers of @set, and each of them has the register
 * that it was decoded from. Texts on another counter than that of @set are not compared. */
static bool is_inverse(const struct dispatched_set *set, unsigned n)
{
	static struct dispatched_set again;
	bool is_found = false;

	for (unsigned i = 0; i < n; i++) {
		const char *text = found[i].text;

		again.n_pmcs = 0;
		/* The second register of a merged event has no text. */
		if (!*text || (found[i].counter >= 0 && found[i].counter != set->counter[0]))
			continue;
		if (dispatch_set(ctx, &text, 1, NULL, &again, NULL))
			return false;
		if (again.counter[0] != set->counter[0] || is_same_off_core(set, &again))
			return true;
		if (!has_register(&again, &set->pmcs[found[i].reg]))
			return false;
		is_found |= is_same_set(set, &again);
	}
	return is_found;
}

/* True if the event is on a fixed counter without a level, which is off. */
static bool is_off(const struct dispatched_set *set)
{
	return set->pmcs[0].kind == PFM_REG_FIXED_CTRL &&
	       !(set->pmcs[0].value & UINT64_C(0x3333333333333333));
}

/* Decodes the registers of @text. Events that their PMU refuses are not compared. */
static void expect_inverse(const char *text)
{
	static struct dispatched_set set;
	int n;

	if (dispatch_set(ctx, &text, 1, NULL, &set, NULL) || is_off(&set))
		return;
	found[0].size = sizeof(found[0]);
	n = pfm_decode_set(ctx, set.pmu, set.pmcs, set.n_pmcs, found, MAX_ENTRIES);
	if (n == PFMLIB_ERR_NOTSUPP)
		return;
	n_decoded++;
	if (n > 0 && is_inverse(&set, n < MAX_ENTRIES ? (unsigned)n : MAX_ENTRIES))
		return;
	n_failed++;
	print_error("%s is decoded as \"%s\"\n", text, n > 0 ? found[0].text : "");
}

static void append_umask(char text[512], const char *name)
{
	size_t len = strlen(text);

	if (*name)
		snprintf(text + len, 512 - len, ":%s", name);
}

/* Appends a random unit mask of each group, or of some groups. */
static void append_random_umasks(char text[512], int pmu, unsigned event, bool every_group)
{
	const char *group = "", *chosen = "";
	pfm_umask_info_t umask = PFM_INIT(umask);
	unsigned n = 0;

	for (unsigned i = 0; !pfm_describe_umask(ctx, pmu, event, i, &umask); i++) {
		if (strcmp(group, umask.group) != 0) {
			append_umask(text, chosen);
			chosen = "";
			group = umask.group;
			n = every_group || random_below(2) ? 0 : 1000;
		}
		if (random_below(++n) == 0)
			chosen = umask.name;
	}
	append_umask(text, chosen);
}

/* Each level, with and without those that only MIPS has, and a few choices of unit masks. */
static void expect_event_inverse(const char *pmu_name, int pmu, unsigned event)
{
	static const char *const levels[] = { "", ":u", ":k", ":s:u:k", ":e:u", ":u=0", ":plm=7" };
	const unsigned n_levels = sizeof(levels) / sizeof(levels[0]);
	perfmon_event_info_t info = PFM_INIT(info);
	char text[512];

	assert_int_equal(pfm_describe_event(ctx, pmu, event, &info), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < (info.n_umasks ? 2 : 1) * n_levels; i++) {
		snprintf(text, sizeof(text), "%s::%s", pmu_name, info.name);
		if (i)
			append_random_umasks(text, pmu, event, i % 2);
		strcat(text, levels[i % n_levels]);
		expect_inverse(text);
	}
}

static void decoded_texts_encode_to_the_same_registers(void **state)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	const unsigned step = getenv("PERFMON_QUICK") ? 29 : 1; /* under an emulator */
	int n = pfm_count_pmus(ctx);

	(void)state;
	for (int pmu = 0; pmu < n; pmu++) {
		assert_int_equal(pfm_describe_pmu(ctx, pmu, &info), PFMLIB_SUCCESS);
		for (unsigned i = (unsigned)pmu % step; i < info.n_events; i += step)
			expect_event_inverse(info.name, pmu, i);
	}
	print_message("# %u register sets\n", n_decoded);
	assert_int_equal(n_failed, 0);
}

/* Bit 2 of a counter's nibble is any-thread (Intel's manual, volume 4, MSR 38DH). */
static void fixed_counters_with_and_without_any_thread(void **state)
{
	pfm_reg_t reg = { .kind = PFM_REG_FIXED_CTRL, .num = 33, .value = 0x10 };
	int pmu = pfm_find_pmu(ctx, "skl");

	(void)state;
	found[0].size = sizeof(found[0]);
	assert_int_equal(pfm_decode_set(ctx, pmu, &reg, 1, found, MAX_ENTRIES), 1);
	assert_string_equal(found[0].text, "skl::CPU_CLK_UNHALTED:THREAD:k");
	reg.value = 0x50;
	assert_true(pfm_decode_set(ctx, pmu, &reg, 1, found, MAX_ENTRIES) >= 1);
	assert_string_equal(found[0].text, "skl::CPU_CLK_UNHALTED:THREAD_ANY:k");
}

/* A register whose level bits are 0 counts nothing, and its text has no level. */
static void registers_without_a_level(void **state)
{
	static const struct {
		const char *pmu, *text;
		uint64_t value;
	} rows[] = { { "skl", "skl::INST_RETIRED:ANY_P:u=0", 0x5000c0 },
		     { "montecito", "montecito::CPU_OP_CYCLES_ALL:u=0", 0x2001200 } };
	pfm_reg_t reg = { .kind = PFM_REG_PMC };

	(void)state;
	found[0].size = sizeof(found[0]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		reg.num = i ? 4 : 0;
		reg.value = rows[i].value;
		assert_true(pfm_decode_set(ctx, pfm_find_pmu(ctx, rows[i].pmu), &reg, 1, found,
		                           MAX_ENTRIES) >= 1);
		assert_string_equal(found[0].text, rows[i].text);
	}
}

/* The modes of an EV5 are in a register of their own. Modes that no text names, such as user and
 * kernel mode without PALcode, give an entry without a text. */
static void modes_of_ev5_are_levels(void **state)
{
	static const struct {
		uint64_t modes;
		const char *text;
	} rows[] = { { 0, "ev5::ISSUES" },
		     { 0x40000300, "ev5::ISSUES:u" },
		     { 0x40000200, "ev5::ISSUES:plm=0x7" },
		     { 0x200, "" } };
	pfm_reg_t regs[2] = { { .kind = PFM_REG_PMC, .num = 8, .value = 0x80000000 },
		              { .kind = PFM_REG_PMC, .num = 10 } };
	int pmu = pfm_find_pmu(ctx, "ev5");

	(void)state;
	found[0].size = sizeof(found[0]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		regs[1].value = rows[i].modes;
		assert_true(pfm_decode_set(ctx, pmu, regs, 2, found, MAX_ENTRIES) >= 1);
		assert_int_equal(found[0].counter, 0);
		assert_string_equal(found[0].text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decoded_texts_encode_to_the_same_registers),
		cmocka_unit_test(fixed_counters_with_and_without_any_thread),
		cmocka_unit_test(registers_without_a_level),
		cmocka_unit_test(modes_of_ev5_are_levels),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("inverse", tests, open_context, close_context);
}
