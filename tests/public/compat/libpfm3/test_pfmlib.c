/* SPDX-License-Identifier: MIT */
/* The libpfm 3 interface: which processor is selected. */
#include <sys/wait.h>
#include <unistd.h>
#include "rows.h"
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>

static const int types[] = { PFMLIB_MONTECITO_PMU,  PFMLIB_COREDUO_PMU,   PFMLIB_GEN_IA32_PMU,
	                     PFMLIB_ALPHA_EV4_PMU,  PFMLIB_ALPHA_EV5_PMU, PFMLIB_ALPHA_PCA56_PMU,
	                     PFMLIB_ALPHA_EV6_PMU,  PFMLIB_ALPHA_EV6_PMU, PFMLIB_ALPHA_EV67_PMU,
	                     PFMLIB_AMD64_PMU,      PFMLIB_PENTIUM4_PMU,  PFMLIB_INTEL_CORE_PMU,
	                     PFMLIB_INTEL_ATOM_PMU, PFMLIB_INTEL_NHM_PMU, PFMLIB_INTEL_WSM_PMU };
#define N_TYPES (sizeof(types) / sizeof(types[0]))

/* ---- which processor: the environment is read once, so each case is a process of its own ----- */

struct choice {
	const char *variable, *value;
	int type;
}; /* type: or a negative result code */

static const struct choice choices[] = {
	{ "LIBPFM_FORCE_PMU", "4", PFMLIB_MONTECITO_PMU },
	{ "LIBPFM_FORCE_PMU", "34", PFMLIB_COREDUO_PMU },
	{ "LIBPFM_FORCE_PMU", "154", PFMLIB_ALPHA_EV67_PMU },
	{ "LIBPFM_FORCE_PMU", "3", PFMLIB_ERR_NOTSUPP },
	{ "LIBPFM_FORCE_PMU", "99999999999", PFMLIB_ERR_NOTSUPP },
	{ "LIBPFM_FORCE_PMU", "montecito", PFMLIB_ERR_NOTSUPP },
	{ "LIBPFM_FORCE_PMU", "-1", PFMLIB_ERR_NOTSUPP },
	{ "PERFMON_PMU", "montecito", PFMLIB_MONTECITO_PMU },
	{ "PERFMON_PMU", "EV5", PFMLIB_ALPHA_EV5_PMU },
	{ "PERFMON_PMU", "nonsense", PFMLIB_ERR_NOTSUPP },
	{ "PERFMON_CPUID", "ia64-32-0", PFMLIB_MONTECITO_PMU },
	{ "PERFMON_CPUID", "alpha-11", PFMLIB_ALPHA_EV67_PMU },
	{ "PERFMON_CPUID", "GenuineIntel-6-E-8", PFMLIB_COREDUO_PMU },
	{ "PERFMON_CPUID", "GenuineIntel-6-55-4", PFMLIB_GEN_IA32_PMU },
	/* numbers of libpfm 3.10's header; models of the processors from Intel's and AMD's lists */
	{ "LIBPFM_FORCE_PMU", "16", PFMLIB_AMD64_PMU },
	{ "LIBPFM_FORCE_PMU", "33", PFMLIB_PENTIUM4_PMU },
	{ "LIBPFM_FORCE_PMU", "36", PFMLIB_INTEL_CORE_PMU },
	{ "LIBPFM_FORCE_PMU", "39", PFMLIB_INTEL_ATOM_PMU },
	{ "LIBPFM_FORCE_PMU", "40", PFMLIB_INTEL_NHM_PMU },
	{ "LIBPFM_FORCE_PMU", "41", PFMLIB_INTEL_WSM_PMU },
	{ "PERFMON_CPUID", "AuthenticAMD-16-2-2", PFMLIB_AMD64_PMU },
	{ "PERFMON_CPUID", "GenuineIntel-6-F-6", PFMLIB_INTEL_CORE_PMU },
	{ "PERFMON_CPUID", "GenuineIntel-6-1C-2", PFMLIB_INTEL_ATOM_PMU },
	{ "PERFMON_CPUID", "GenuineIntel-6-1A-5", PFMLIB_INTEL_NHM_PMU },
	{ "PERFMON_CPUID", "GenuineIntel-6-2C-2", PFMLIB_INTEL_WSM_PMU },
	/* Processors that libpfm 3 never knew are there, and have no number of their own. */
	{ "PERFMON_CPUID", "0x00000000413fd0c1", PFMLIB_UNKNOWN_PMU },
	{ "PERFMON_CPUID", "AuthenticAMD-25-11-1", PFMLIB_UNKNOWN_PMU },
	{ "PERFMON_PMU", "neoverse_n1", PFMLIB_UNKNOWN_PMU },
	{ "PERFMON_PMU", "skx_uncore_cha", PFMLIB_ERR_NOTSUPP },
	{ "PERFMON_CPUID", "never-heard-of-it", PFMLIB_ERR_NOTSUPP },
};

/* The first event of the chosen PMU gets a counter and a register. */
static bool counts_first_event(void)
{
	pfmlib_input_param_t in = { .pfp_event_count = 1, .pfp_dfl_plm = PFM_PLM3 };
	pfmlib_output_param_t out = { 0 };
	unsigned n = 0;
	int rc = -1;

	if (pfm_get_num_events(&n))
		return false;
	for (unsigned i = 0; i < n && rc; i++) {
		in.pfp_events[0].event = i;
		if (pfm_get_num_event_masks(i, &in.pfp_events[0].num_masks))
			return false;
		in.pfp_events[0].num_masks = in.pfp_events[0].num_masks > 0; /* the first mask */
		rc = pfm_dispatch_events(&in, NULL, &out, NULL);
	}
	return rc == PFMLIB_SUCCESS && out.pfp_pmc_count > 0 && out.pfp_pmd_count > 0;
}

static int initialize_with(const struct choice *c)
{
	int type, rc;

	unsetenv("LIBPFM_FORCE_PMU");
	unsetenv("PERFMON_PMU");
	setenv(c->variable, c->value, 1);
	rc = pfm_initialize();
	if (rc != PFMLIB_SUCCESS)
		return rc == c->type && pfm_get_pmu_type(&type) == PFMLIB_ERR_NOINIT &&
		       pfm_force_pmu(types[0]) == PFMLIB_SUCCESS && pfm_initialize() == rc &&
		       pfm_get_pmu_type(&type) == PFMLIB_SUCCESS && type == types[0];
	return pfm_get_pmu_type(&type) == PFMLIB_SUCCESS && type == c->type && counts_first_event();
}

static void selects_the_pmu_that_the_environment_names(void **state)
{
	const struct choice *c = *state;
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		exit(initialize_with(c)
		             ? 0
		             : 1); /* in the usual way: what was covered is written down there */
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* In a process of its own: metrics of a processor's list have numbers, and nothing to write to
 * registers. True if so. */
static bool metrics_are_refused(void)
{
	unsigned events, metrics = 0, others = 0;
	int pmu = pfm_find_pmu(NULL, "skl");

	setenv("PERFMON_PMU", "skl", 1);
	if (pfm_initialize() || pfm_get_num_events(&events))
		return false;
	for (unsigned i = 0; i < events; i++) {
		pfmlib_input_param_t in = { .pfp_event_count = 1,
			                    .pfp_dfl_plm = PFM_PLM3,
			                    .pfp_events = { { .event = i } } };
		pfm_metric_info_t info = PFM_INIT(info);
		pfmlib_output_param_t out;
		bool metric = !pfm_describe_metric(NULL, pmu, i, &info);

		if ((pfm_dispatch_events(&in, NULL, &out, NULL) == PFMLIB_ERR_ALIAS) != metric)
			return false;
		metrics += metric;
		others += !metric;
	}
	return metrics > 10 && others > 100;
}

static void metrics_are_not_dispatched(void **state)
{
	int status = 0;
	pid_t pid;

	(void)state;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		exit(metrics_are_refused() ? 0 : 1);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- before a choice ------------------------------------------------------------------------- */

static char listed[2048];
static int collect(const char *fmt, ...);

static void test_nothing_works_before_a_choice(void **state)
{
	pfmlib_input_param_t *in = calloc(1, sizeof(*in));
	pfmlib_output_param_t *out = calloc(1, sizeof(*out));
	pfmlib_event_t e = { 0 };
	pfmlib_regmask_t mask;
	char name[64] = "", *desc = NULL;
	unsigned u = 9;
	size_t len;
	int i;

	(void)state;
	in->pfp_dfl_plm = PFM_PLM3;
	assert_int_equal(pfm_get_pmu_name(name, sizeof(name)), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_pmu_type(&i), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_is_pmu_supported(PFMLIB_MONTECITO_PMU), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_impl_pmcs(&mask), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_impl_pmds(&mask), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_impl_counters(&mask), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_num_pmcs(&u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_num_pmds(&u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_num_counters(&u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_hw_counter_width(&u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_find_event("CYCLES", &u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_find_event_byname("CYCLES", &u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_find_event_bycode(8, &u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_find_event_bycode_next(8, 0, &u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_find_event_mask(0, "M", &u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_find_full_event("CYCLES", &e), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_num_events(&u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_max_event_name_len(&len), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_event_name(0, name, sizeof(name)), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_full_event_name(&e, name, sizeof(name)), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_event_code(0, &i), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_event_code_counter(0, 4, &i), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_event_counters(0, &mask), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_event_description(0, &desc), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_num_event_masks(0, &u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_event_mask_name(0, 0, name, sizeof(name)), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_event_mask_code(0, 0, &u), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_event_mask_description(0, 0, &desc), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_cycle_event(&e), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_get_inst_retired_event(&e), PFMLIB_ERR_NOINIT);
	assert_int_equal(pfm_dispatch_events(in, NULL, out, NULL), PFMLIB_ERR_NOINIT);
	assert_true(u == 9 && !desc && !*name);
	listed[0] = '\0';
	assert_int_equal(pfm_list_supported_pmus(collect), 0);
	assert_non_null(strstr(listed, "selected PMU: none"));
	free(in);
	free(out);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static int collect(const char *fmt, ...)
{
	size_t n = strlen(listed);
	va_list args;

	va_start(args, fmt);
	vsnprintf(listed + n, sizeof(listed) - n, fmt, args);
	va_end(args);
	return 0;
}

static void test_list_names_every_type(void **state)
{
	(void)state;
	listed[0] = '\0';
	assert_int_equal(pfm_list_supported_pmus(collect), 0);
	for (size_t i = 0; i < N_TYPES; i++) {
		char name[96], framed[100];

		assert_int_equal(pfm_get_pmu_name_bytype(types[i], name, sizeof(name)), 0);
		snprintf(framed, sizeof(framed), "[%s]", name);
		assert_non_null(strstr(listed, framed));
	}
}

int main(void)
{
	struct rows rows = { 0 };

	/* Before anything is chosen, so first. */
	rows_add(&rows, "nothing works before a choice", test_nothing_works_before_a_choice, NULL);
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		char name[96];

		snprintf(name, sizeof(name), "initialize with %s=%s", choices[i].variable,
		         choices[i].value);
		rows_add(&rows, name, selects_the_pmu_that_the_environment_names,
		         (void *)(uintptr_t)&choices[i]);
	}
	rows_add(&rows, "metrics", metrics_are_not_dispatched, NULL);
	rows_add(&rows, "the list names every type", test_list_names_every_type, NULL);
	return rows_run("libpfm3_pfmlib", &rows);
}
