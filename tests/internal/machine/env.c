/* SPDX-License-Identifier: MIT */
/* The environment: each variable of ours is heard, and none that is only like one. */
#include "units.h"
#include <unistd.h>
#include "context/context.h"

static char **kept;

static void with(char **variables, struct env_options *out)
{
	kept = environ;
	environ = variables;
	memset(out, 0xa5, sizeof(*out));
	pfmi_machine_read_env_options(out);
	environ = kept;
}

#define WITH(OUT, ...) with((char *[]){ __VA_ARGS__, NULL }, OUT)

static void each_variable_is_read(void **state)
{
	char pmu[] = "PERFMON_PMU=a", events[] = "PERFMON_EVENTS=b", cpuid[] = "PERFMON_CPUID=c",
	     sysfs[] = "PERFMON_SYSFS=d", force[] = "LIBPFM_FORCE_PMU=e", other[] = "PATH=/bin";
	struct env_options w;

	(void)state;
	WITH(&w, other, pmu, events, cpuid, other, sysfs, force);
	assert_string_equal(w.pmu, "a");
	assert_string_equal(w.events, "b");
	assert_string_equal(w.cpuid, "c");
	assert_string_equal(w.sysfs_root, "d");
	assert_string_equal(w.force_pmu, "e");
	WITH(&w, force);
	assert_string_equal(w.force_pmu, "e");
	assert_true(!w.pmu && !w.events && !w.cpuid && !w.sysfs_root);
	WITH(&w, sysfs);
	assert_string_equal(w.sysfs_root, "d");
	assert_true(!w.pmu && !w.events && !w.cpuid && !w.force_pmu);
}

static void similar_variables_are_ignored(void **state)
{
	char *const like[] = { "",
		               "=",
		               "P",
		               "L",
		               "PERFMON_",
		               "PERFMON_=x",
		               "PERFMON_PMU",
		               "PERFMON_PMU=",
		               "PERFMON_PMUS=x",
		               "PERFMON_PM=x",
		               "perfmon_pmu=x",
		               "XPERFMON_PMU=x",
		               "PERFMON_EVENTS=",
		               "LIBPFM_FORCE_PMU=",
		               "LIBPFM_FORCE_PM=x",
		               "LIBPFM_FORCE_PMUS=x",
		               "PERFMON_LIBPFM_FORCE_PMU=x",
		               "LIBPFM_FORCE_PMU" };
	struct env_options w;

	(void)state;
	for (size_t i = 0; i < COUNT(like); i++) {
		WITH(&w, like[i]);
		assert_true(!w.pmu && !w.events && !w.cpuid && !w.sysfs_root && !w.force_pmu);
	}
	with((char *[]){ NULL }, &w);
	assert_true(!w.pmu && !w.events && !w.cpuid && !w.sysfs_root && !w.force_pmu);
	with(NULL, &w);
	assert_true(!w.pmu && !w.events && !w.cpuid && !w.sysfs_root && !w.force_pmu);
}

static void topics_are_words_of_a_list(void **state)
{
	static const struct {
		const char *variable;
		unsigned topics;
	} texts[] = {
		{ "PERFMON_DEBUG=lookup", LOG_LOOKUP },
		{ "PERFMON_DEBUG=session", LOG_SESSION },
		{ "PERFMON_DEBUG=lookup,session", LOG_LOOKUP | LOG_SESSION },
		{ "PERFMON_DEBUG=,session,no_such_topic,lookup,", LOG_LOOKUP | LOG_SESSION },
		{ "PERFMON_DEBUG=lookups,LOOKUP,sessio", 0 },
		{ "PERFMON_DEBUG=", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct env_options w;
		char variable[64];

		snprintf(variable, sizeof(variable), "%s", texts[i].variable);
		WITH(&w, variable);
		if (w.log_topics != texts[i].topics)
			fail_msg("%s: topics 0x%x, expected 0x%x", variable, w.log_topics,
			         texts[i].topics);
	}
}

/* As getenv() does: the first one with a value is meant. */
static void the_first_variable_with_a_value_is_meant(void **state)
{
	char empty[] = "PERFMON_PMU=", first[] = "PERFMON_PMU=first",
	     second[] = "PERFMON_PMU=second";
	struct env_options w;

	(void)state;
	WITH(&w, empty, first, second);
	assert_string_equal(w.pmu, "first");
}

static void an_empty_variable_is_not_set(void **state)
{
	(void)state;
	assert_int_equal(setenv("PERFMON_UNIT_TEST", "x", 1), 0);
	assert_string_equal(pfmi_machine_get_env("PERFMON_UNIT_TEST"), "x");
	assert_int_equal(setenv("PERFMON_UNIT_TEST", "", 1), 0);
	assert_null(pfmi_machine_get_env("PERFMON_UNIT_TEST"));
	assert_int_equal(unsetenv("PERFMON_UNIT_TEST"), 0);
	assert_null(pfmi_machine_get_env("PERFMON_UNIT_TEST"));
}

UNIT(machine_env, cmocka_unit_test(each_variable_is_read),
     cmocka_unit_test(similar_variables_are_ignored), cmocka_unit_test(topics_are_words_of_a_list),
     cmocka_unit_test(the_first_variable_with_a_value_is_meant),
     cmocka_unit_test(an_empty_variable_is_not_set));
