/* SPDX-License-Identifier: MIT */
/* Checks of pfm_check_system(): basic events over a workload whose counts are known. */
#include "system/system_check.h"
#include "session/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <perfmon/aggregate.h>

enum {
	WORKLOAD_PAGES = 512,      /* touched by the workload */
	WORKLOAD_LOOPS = 20000000, /* branches of the workload, at least */
	MAX_COUNTS = 16
}; /* counts of one event: one for each kind of core */

static volatile uint64_t workload_sink;

/* Not instrumented: to count the coverage of each turn would take a second. */
__attribute__((no_profile_instrument_function)) static void run_branches(void)
{
	for (uint64_t i = 0; i < WORKLOAD_LOOPS; i++)
		workload_sink = i;
}

static void run_workload(void)
{
	const size_t page_size = (size_t)sysconf(_SC_PAGESIZE), size = WORKLOAD_PAGES * page_size;
	char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages != MAP_FAILED) {
		madvise(pages, size, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < size; i += page_size)
			pages[i] = 1;
		munmap(pages, size);
	}
	run_branches();
}

static bool has_counted_value(const pfm_count_t *count)
{
	return pfm_counter_quality(count->quality, count->cause) <= PFM_QUALITY_PARTIAL;
}

/* Writes why count @i of the session is not exact, with its PMU if the event has several. */
static void explain_count(pfm_session_t *s, unsigned i, bool is_one_of_several, struct trial *t)
{
	pfm_count_info_t info = PFM_INIT(info);
	bool names_pmu;

	if (pfm_describe_count(s, i, &info))
		return;
	names_pmu = is_one_of_several && *info.why;
	pfmi_check_set_text(t->reason, "%s%s%s", names_pmu ? info.pmu : "", names_pmu ? ": " : "",
	                    info.why);
	pfmi_check_set_text(t->remedy, "%s", info.remedy);
}

/* Adds up the counts of a session of one event, one for each kind of core. */
static void add_core_counts(pfm_session_t *s, struct trial *t)
{
	pfm_count_sum_t sum = PFM_INIT(sum);
	pfm_count_t counts[MAX_COUNTS];
	unsigned n_all = (unsigned)pfm_session_size(s), n = n_all < MAX_COUNTS ? n_all : MAX_COUNTS;

	if (n == 0)
		return;
	for (unsigned i = 0; i < n; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]) };
	pfm_read_session(s, counts, n);
	for (unsigned i = 0; i < n; i++)
		pfm_add_count(&sum, &counts[i]);
	t->count = sum.count;
	explain_count(s, sum.worst, n > 1, t);
}

void pfmi_check_try_event(struct pfm_system_check *c, const char *event, unsigned flags, bool busy,
                          struct trial *t)
{
	pfm_session_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *s;

	*t = (struct trial){ .count = { .size = sizeof(t->count),
		                        .quality = PFM_QUALITY_NOT_SUPPORTED,
		                        .cause = PFM_CAUSE_OTHER } };
	options.flags = flags;
	if (pfmi_session_open(&s, c->ctx, &options, &event, 1, &error, NULL, NULL)) {
		pfm_explain_error(c->ctx, event, &error, t->reason, sizeof(t->reason));
		return;
	}
	if (!pfm_start_session(s) && busy)
		run_workload();
	pfm_stop_session(s);
	add_core_counts(s, t);
	t->is_counted = has_counted_value(&t->count) || t->count.cause == PFM_CAUSE_NO_TIME;
	pfm_close_session(s);
}

/* The count that an event must have over the workload, in its unit; @most 0: without an upper
 * bound. */
struct expectation {
	char event[20];
	double least, most;
	char text[60];
	bool is_time; /* nanoseconds, at most those that passed */
};

static const struct expectation expectations[] = {
	{ "page-faults:u", WORKLOAD_PAGES, WORKLOAD_PAGES * 4,
	  "slightly more than 512: the workload touches 512 pages", false },
	{ "task-clock", 1e6, 0, "at most the elapsed time", true },
	{ "cycles:u", WORKLOAD_LOOPS / 4.0, 0,
	  "at least 5,000,000: the workload has 20,000,000 loops", false },
	{ "instructions:u", WORKLOAD_LOOPS, WORKLOAD_LOOPS * 20.0,
	  "at least 20,000,000: one per loop", false },
	{ "branches:u", WORKLOAD_LOOPS * 0.99, WORKLOAD_LOOPS * 4.0, "20,000,000: one per loop",
	  false },
	{ "branch-misses:u", 0, WORKLOAD_LOOPS / 20.0, "few: the loop is regular", false },
	{ "cache-references:u", 0, 0, "any number", false },
	{ "cache-misses:u", 0, 0, "any number", false },
};

static double get_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool is_expected_value(const struct expectation *e, double value, double elapsed)
{
	if (value < e->least || (e->most > 0 && value > e->most))
		return false;
	return !e->is_time || value <= elapsed * 1e9;
}

/* "20,000,123" in every locale. */
static void print_grouped(uint64_t value, char buf[32])
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value), at = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
}

static void check_trial_value(const struct expectation *e, const struct trial *t, double elapsed,
                              struct finding *f)
{
	char number[32];

	print_grouped(t->count.value, number);
	pfmi_check_set_text(f->observed, "%s, %s; expected %s", number,
	                    pfm_quality_name(t->count.quality), e->text);
	if (t->count.quality != PFM_QUALITY_EXACT) {
		f->state = PFM_FINDING_NOTE;
		pfmi_check_set_text(f->consequence, "%s",
		                    *t->reason ? t->reason : pfm_cause_name(t->count.cause));
		pfmi_check_set_text(f->remedy, "%s", t->remedy);
	}
	/* Pretended counts follow a model, not the workload. */
	if (t->count.quality != PFM_QUALITY_PRETENDED &&
	    !is_expected_value(e, (double)t->count.value, elapsed)) {
		f->state = PFM_FINDING_BAD;
		pfmi_check_set_text(f->consequence, "the count does not match the workload: this "
		                                    "event is unreliable on this machine");
		*f->remedy = '\0';
	}
}

static void check_event(struct pfm_system_check *c, const struct expectation *e)
{
	struct finding f = { .state = PFM_FINDING_GOOD, .check = e->event, .expected = e->text };
	double begin = get_seconds();
	struct trial t;

	pfmi_check_try_event(c, e->event, 0, true, &t);
	f.count = t.count;
	if (t.is_counted && has_counted_value(&t.count)) {
		check_trial_value(e, &t, get_seconds() - begin, &f);
	} else {
		f.state = PFM_FINDING_BAD;
		pfmi_check_set_text(f.observed, "%s", pfm_quality_name(t.count.quality));
		pfmi_check_set_text(f.consequence, "%s", t.reason);
		pfmi_check_set_text(f.remedy, "%s", t.remedy);
	}
	pfmi_check_add_finding(c, PFM_FINDING_WORKLOAD, &f);
}

void pfmi_check_workload(struct pfm_system_check *c)
{
	for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++)
		check_event(c, &expectations[i]);
}
