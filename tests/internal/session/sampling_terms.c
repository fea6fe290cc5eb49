/* SPDX-License-Identifier: MIT */
/* Sampling terms are cut out of a text, and everything else stays. */
#include "units.h"
#include "session/perf_event_internal.h"

static struct group_member member;

/* Returns the rest of @text; the terms are in member. */
static const char *rest(const char *text, bool taken)
{
	static char left[256];
	const char *bad;

	memset(&member, 0, sizeof(member));
	snprintf(left, sizeof(left), "%s", text);
	if (pfmi_session_extract_terms(left, &member, &bad) != taken || bad)
		fail_msg("%s: %s", text, bad ? bad : taken ? "nothing taken" : "something taken");
	return left;
}

static void each_term_is_taken_out_of_the_text(void **state)
{
	(void)state;
	assert_string_equal(rest("cycles:period=1000", true), "cycles");
	assert_true(member.period == 1000 && member.freq == 0);
	assert_string_equal(rest("cycles:freq=0x10", true), "cycles");
	assert_true(member.freq == 16 && member.period == 0);
	/* A leading zero means octal, except between slashes: perf's numbers there are decimal. */
	assert_string_equal(rest("cycles:period=010", true), "cycles");
	assert_true(member.period == 8);
	assert_string_equal(rest("cpu/cycles,period=010/", true), "cpu/cycles/");
	assert_true(member.period == 10);
	assert_string_equal(rest("cpu/cycles/:freq=010", true), "cpu/cycles/");
	assert_true(member.freq == 8);
	for (unsigned precise = 0; precise < 4; precise++) {
		char text[32];

		snprintf(text, sizeof(text), "cycles:precise=%u", precise);
		assert_string_equal(rest(text, true), "cycles");
		assert_int_equal(member.precise, 1 + precise);
	}
	assert_string_equal(rest("cycles:PINNED", true), "cycles");
	assert_true(member.pinned && !member.exclusive);
	assert_string_equal(rest("cycles,excl", true), "cycles");
	assert_true(member.exclusive && !member.pinned);
	/* The last term applies. */
	assert_string_equal(rest("cycles:freq=5:period=7", true), "cycles");
	assert_true(member.period == 7 && member.freq == 0);
	assert_string_equal(rest("cycles:period=7:freq=5", true), "cycles");
	assert_true(member.freq == 5 && member.period == 0);
}

static void other_words_stay_in_the_text(void **state)
{
	static const char *const texts[] = { "",
		                             "cycles",
		                             "cycles:u",
		                             "cycles:period",
		                             "cycles:freq",
		                             "cycles:precise",
		                             "cycles:pinned=1",
		                             "cycles:excl=0",
		                             "cycles:periods=5",
		                             "cycles:perio=5",
		                             "period=5",
		                             "pinned",
		                             "cpu/event=1,umask=2/u",
		                             "cycles:",
		                             "cycles::",
		                             "cpu//",
		                             "cycles:=5" };

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		assert_string_equal(rest(texts[i], false), texts[i]);
		assert_true(!member.period && !member.freq && !member.precise && !member.pinned &&
		            !member.exclusive);
	}
}

/* Bad values are refused at their place. */
static void bad_values_are_refused_at_their_place(void **state)
{
	static const struct {
		const char *text, *bad;
	} lines[] = {
		{ "cycles:period=0", "period=0" },
		{ "cycles:period=", "period=" },
		{ "cycles:period=x", "period=x" },
		{ "cycles:u:freq=0:k", "freq=0:k" },
		{ "cycles:freq=1k", "freq=1k" },
		{ "cycles:precise=4", "precise=4" },
		{ "cycles:precise=-1", "precise=-1" },
		{ "cycles:precise=", "precise=" },
		{ "cycles:period=0x8000000000000000", "period=0x8000000000000000" },
		{ "cycles:freq=0x8000000000000000", "freq=0x8000000000000000" },
		{ "cycles:freq=18446744073709551616", "freq=18446744073709551616" },
		{ "cpu/event=1,period=0/u", "period=0/u" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		char text[64];
		const char *bad = NULL;

		memset(&member, 0, sizeof(member));
		snprintf(text, sizeof(text), "%s", lines[i].text);
		assert_true(pfmi_session_extract_terms(text, &member, &bad));
		assert_non_null(bad);
		assert_string_equal(bad, lines[i].bad);
	}
	assert_string_equal(rest("cycles:period=0x7fffffffffffffff", true), "cycles");
	assert_true(member.period == INT64_MAX);
	assert_string_equal(rest("cycles:freq=0x7fffffffffffffff", true), "cycles");
	assert_true(member.freq == INT64_MAX);
}

/* Between the slashes of a PMU, commas stay only between the remaining terms. */
static void terms_of_a_pmu(void **state)
{
	static const struct {
		const char *text, *left;
	} lines[] = {
		{ "cpu/period=5/", "cpu//" },
		{ "cpu/period=5/u", "cpu//u" },
		{ "cpu/period=5,event=1/", "cpu/event=1/" },
		{ "cpu/event=1,period=5/", "cpu/event=1/" },
		{ "cpu/event=1,period=5,umask=2/k", "cpu/event=1,umask=2/k" },
		{ "cpu/pinned,excl,event=1/", "cpu/event=1/" },
		{ "cpu/event=1,pinned,excl/:precise=2", "cpu/event=1/" },
		{ "cpu/pinned,excl/", "cpu//" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_string_equal(rest(lines[i].text, true), lines[i].left);
}

/* Texts composed of terms and other words keep the other words in order. */
static void other_words_keep_their_order(void **state)
{
	static const char *const ours[] = { "period=4000", "freq=99", "precise=2", "pinned",
		                            "excl" };
	static const char *const others[] = { "u",       "k",        "cmask=2", "edge",
		                              "periods", "pinned=0", "x=" };
	uint64_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		char text[256] = "event", want[256] = "event";
		bool any = false;

		for (uint64_t n = unit_random(&seed) % 7; n; n--) {
			const char *sep = unit_random(&seed) % 2 ? ":" : ",";
			uint64_t pick = unit_random(&seed) % (COUNT(ours) + COUNT(others));
			const char *word =
				pick < COUNT(ours) ? ours[pick] : others[pick - COUNT(ours)];

			strcat(strcat(text, sep), word);
			if (pick < COUNT(ours))
				any = true;
			else
				strcat(strcat(want, sep), word);
		}
		assert_string_equal(rest(text, any), want);
	}
}

UNIT(session_sampling_terms, cmocka_unit_test(each_term_is_taken_out_of_the_text),
     cmocka_unit_test(other_words_stay_in_the_text),
     cmocka_unit_test(bad_values_are_refused_at_their_place), cmocka_unit_test(terms_of_a_pmu),
     cmocka_unit_test(other_words_keep_their_order));
