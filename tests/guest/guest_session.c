/* SPDX-License-Identifier: MIT */
/* Sessions on PMUs of other machines: runs inside the guests (guest/README.md). Prints TAP.
 *
 *   guest_session pmu        arm64, where an instruction takes one nanosecond
 *   guest_session userread   arm64, reading without system calls (perf_user_access is 1)
 *   guest_session nopmu      arm64 with its PMU switched off
 *   guest_session level N    arm64 as an ordinary user at perf_event_paranoid N
 *   guest_session pretend    amd64 with the PMU of pretend_pmu.c: which numbers reach the kernel
 *   guest_session software   any kernel without a PMU; s390x shows that the bits of
 *                            perf_event_attr are right on big-endian
 *   guest_session hotplug N  two CPUs, one of which is switched off and on again N times
 *   guest_session alpha      the driver that cannot leave levels out: events that it accepts and
 *                            refuses, for its counts mean nothing
 *   guest_session alphauser  alpha as an ordinary user, whose events the driver refuses */
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <perfmon/perfmon.h>
#include "region_counts.h"

#define MAX_COUNTS 32
/* Attempts of measurements of time: the host may stop the guest meanwhile. */
#define ATTEMPTS 5

static pfm_session_t *session;
static pfm_session_options_t options = { .size = sizeof(options) };
static pfm_sampling_t sampling = { .size = sizeof(sampling) };
static pfm_count_t counts[MAX_COUNTS];
static unsigned cases, failures;

#define TEXTS(...)                                                                                 \
	(const char *const[]){ __VA_ARGS__ },                                                      \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *)

static void check(bool ok, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void check(bool ok, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %u - ", ok ? "" : "not ", ++cases);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	failures += !ok;
	fflush(stdout);
}

static pfm_count_info_t about(unsigned i)
{
	pfm_count_info_t info = PFM_INIT(info);

	pfm_describe_count(session, i, &info);
	return info;
}

/* Prints all counts, for the reader of a failure. */
static void tell(void)
{
	for (unsigned i = 0; i < pfm_session_size(session); i++)
		printf("# %s on %s: %llu (raw %llu, enabled %llu, running %llu) %s %s %s\n",
		       about(i).name, about(i).pmu, (unsigned long long)counts[i].value,
		       (unsigned long long)counts[i].raw, (unsigned long long)counts[i].enabled,
		       (unsigned long long)counts[i].running, pfm_quality_name(counts[i].quality),
		       pfm_cause_name(counts[i].cause), about(i).why);
}

static bool open_texts(const char *const *texts, unsigned n)
{
	pfm_error_t error = PFM_INIT(error);
	int rc;

	pfm_close_session(session);
	rc = pfm_open_session(&session, NULL, &options, texts, n, &error);
	if (rc)
		printf("# %s: %d %s %s\n", texts[0], rc, pfm_error_kind_name(error.kind),
		       error.detail ? error.detail : "");
	return rc == 0;
}

static bool read_counts(void)
{
	for (unsigned i = 0; i < MAX_COUNTS; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]) };
	return pfm_read_session(session, counts, MAX_COUNTS) == 0;
}

/* Four instructions a round. */
static void loop(unsigned long rounds)
{
#ifdef __aarch64__
	__asm__ volatile("1: nop\n\tnop\n\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
#else
	while (rounds--)
		__asm__ volatile("");
#endif
}

static bool count_loop(unsigned long rounds)
{
	if (pfm_reset_session(session) || pfm_start_session(session))
		return false;
	loop(rounds);
	return pfm_stop_session(session) == 0 && read_counts();
}

static bool is(unsigned i, pfm_quality_t quality, pfm_cause_t cause)
{
	return counts[i].quality == quality && counts[i].cause == cause;
}

static bool near(uint64_t value, uint64_t wanted, uint64_t slack)
{
	return value + slack >= wanted && value <= wanted + slack;
}

/* ---- samples --------------------------------------------------------------------------------- */

static bool next_sample(pfm_session_t *s, pfm_record_t *r)
{
	*r = (pfm_record_t){ .size = sizeof(*r) };
	while (pfm_next_record(s, r) == 1)
		if (r->type == PFM_RECORD_SAMPLE)
			return true;
	return false;
}

/* An overflow interrupt of the PMU for every so many cycles, which are instructions here: all
 * are delivered, and all but those of start and stop are in the loop. @often: more often than the
 * kernel permits: it stops the counter and reports that, and the count is still exact. (The
 * emulator interrupts for instructions only when the clock ticks.) */
static void sampled_loop(uint64_t period, bool often)
{
	pfm_sample_statistics_t n = PFM_INIT(n);
	unsigned inside = 0, outside = 0;
	uint64_t before = 0;
	bool alike = true;
	pfm_record_t r;

	sampling = (pfm_sampling_t){ .size = sizeof(sampling),
		                     .period = period,
		                     .fields = PFM_SAMPLE_IP | PFM_SAMPLE_TID };
	options.sampling = &sampling;
	check(open_texts(TEXTS("cycles:u")) && count_loop(1000000), "a sample every %llu cycles",
	      (unsigned long long)period);
	while (next_sample(session, &r)) {
		bool in = r.body.sample.ip >= (uintptr_t)loop &&
		          r.body.sample.ip < (uintptr_t)loop + 64;

		inside += in;
		outside += !in;
		/* An instruction takes a nanosecond, and the interrupt its own time. */
		alike &= r.misc == PFM_MISC_USER && r.event == 0 && r.tid == (uint32_t)getpid() &&
		         r.body.sample.period == period && r.time >= before + (before ? period : 0);
		before = r.time;
	}
	check(pfm_sampling_statistics(session, 0, &n) == 0 && n.samples == n.count / period &&
	              n.lost == 0,
	      "are as many as the count says: %llu of %llu", (unsigned long long)n.samples,
	      (unsigned long long)n.count);
	check((n.throttled != 0) == often &&
	              n.quality == (often ? PFM_QUALITY_PARTIAL : PFM_QUALITY_EXACT) &&
	              n.cause == (often ? PFM_CAUSE_THROTTLED : PFM_CAUSE_NONE),
	      "throttled %llu times", (unsigned long long)n.throttled);
	check(inside + outside == n.samples && outside <= 1 &&
	              inside >= (often ? 100 : 4000000 / period - 1),
	      "in the loop: %u, not: %u", inside, outside);
	check(alike, "user code, this task, and never nearer to each other than the period");
	options.sampling = NULL;
}

/* Pages that are touched one by one come with their addresses, and so from a recording: in the byte
 * order of this machine. */
static void sampled_faults(void)
{
	enum { PAGES = 64 };
	static char pages[4096 * (PAGES + 2)];
	static const char file[] = "/tmp/recording";
	pfm_recording_t *recording = NULL;
	pfm_session_t *reading = NULL;
	uint64_t first = ((uintptr_t)pages + 4095) & ~(uint64_t)4095;
	unsigned n = 0, right = 0;
	pfm_record_t r;
	bool ok;

	sampling = (pfm_sampling_t){ .size = sizeof(sampling),
		                     .fields = PFM_SAMPLE_IP | PFM_SAMPLE_ADDR | PFM_SAMPLE_CPU };
	options.sampling = &sampling;
	mkdir("/tmp", 0777);
	ok = open_texts(TEXTS("page-faults:u")) && pfm_start_session(session) == 0 &&
	     pfm_create_recording(&recording, file, session, "guest", NULL) == 0;
	check(ok, "page faults are sampled");
	for (unsigned i = 0; i < PAGES; i++)
		*(volatile char *)(uintptr_t)(first + i * 4096) = 1;
	pfm_stop_session(session);
	check(pfm_close_recording(recording) == 0 && pfm_open_recording(&reading, file, NULL) == 0,
	      "and recorded");
	while (reading && next_sample(reading, &r)) {
		right += r.body.sample.addr == first + right * 4096 && r.misc == PFM_MISC_USER &&
		         r.cpu < 64 && r.time && r.body.sample.ip;
		n++;
	}
	check(right == PAGES && n - right < 16, "each page once, in order: %u of %u", right, n);
	pfm_close_session(reading);
	options.sampling = NULL;
}

/* ---- a PMU ----------------------------------------------------------------------------------- */

static void instructions(void)
{
	uint64_t first;
	bool same = true;

	check(open_texts(TEXTS("instructions:u")) && count_loop(1000000),
	      "instructions of user code are counted");
	first = counts[0].value;
	tell();
	check(is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) && first >= 4000000 && first < 4001000,
	      "a million rounds of four instructions are four million (%llu)",
	      (unsigned long long)first);
	for (int i = 0; i < 5; i++) {
		count_loop(1000000);
		same &= counts[0].value == first;
	}
	check(same, "and the same to the last one in five more runs");
	check(open_texts(TEXTS("armv8_pmuv3/inst_retired/u", "armv8_pmuv3/event=8/u", "r8:u")) &&
	              count_loop(1000000),
	      "the kernel's name, its field and the raw number are accepted");
	tell();
	for (unsigned i = 0; i < 3; i++)
		check(is(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) && near(counts[i].value, first, 400),
		      "and count the same: %s", about(i).name);
	check(open_texts(TEXTS("cycles:u")) && count_loop(1000000) &&
	              near(counts[0].value, first, 2000),
	      "a cycle per instruction");
	tell();
	check(open_texts(TEXTS("instructions")) && count_loop(1000000) &&
	              counts[0].value >= first && counts[0].value < 4200000,
	      "the kernel's own are a few more");
	tell();
}

/* A metric of these events: they are planned into one group, and their ratio is the machine's. */
static void ratio(void)
{
	pfm_session_metric_t m = PFM_INIT(m);
	bool ok;

	options.plm = PFM_PLM3;
	ok = open_texts(TEXTS("hardware::ipc")) && count_loop(1000000) &&
	     pfm_session_size(session) == 2 && pfm_count_metrics(session) == 1;
	options.plm = 0;
	tell();
	check(ok && pfm_compute_session_metric(session, 0, counts, 1, 0, &m) == 0,
	      "a metric is counted");
	check(m.state == PFM_METRIC_DEFINED && m.quality == PFM_QUALITY_EXACT && m.value == 1 &&
	              m.low == 1 && m.high == 1,
	      "an instruction a cycle is an IPC of one, exactly (%.17g)", m.value);
}

/* One event in several spellings: a text that a group has already takes no second counter. */
#define AS(ZEROS) "armv8_pmuv3/event=0x" ZEROS "8/u"
#define RAW       AS("")
#define SIX       RAW "," AS("0") "," AS("00") "," AS("000") "," AS("0000") "," AS("00000")

static void groups(void)
{
	check(open_texts(TEXTS("{cycles,instructions}:u")) && count_loop(1000000) &&
	              counts[0].value == counts[1].value && counts[0].enabled == counts[1].enabled,
	      "members of a group are counted over the same time");
	tell();
	check(open_texts(TEXTS("{cycles:u," SIX "}")) && count_loop(1000000),
	      "a group of seven opens");
	for (unsigned i = 0; i < 7; i++)
		check(is(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) &&
		              near(counts[i].value, 4000000, 2000),
		      "member %u counts", i + 1);
	check(open_texts(TEXTS("{cycles:u," SIX "," AS("000000") "}")) && count_loop(1000000),
	      "a group of eight opens");
	check(is(6, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP) &&
	              is(7, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP),
	      "and is not counted, as the eighth does not fit: %s", about(7).why);
	check(open_texts(TEXTS("{cycles:u," SIX "," AS("000000") "}:W")) && count_loop(25000000),
	      "a weak group is broken up instead");
	tell();
	for (unsigned i = 0; i < 8; i++)
		check(counts[i].quality <= PFM_QUALITY_SCALED &&
		              near(counts[i].value, 100000000, 2000000),
		      "member %u counts", i + 1);
}

static void sharing(void)
{
	bool ok;
	const char *texts[24];
	bool honest = true, close = true;
	uint64_t running = 0, enabled = 0;

	for (unsigned i = 0; i < 24; i++)
		texts[i] = RAW;
	check(open_texts(texts, 24) && count_loop(50000000), "24 events share six counters");
	tell();
	for (unsigned i = 0; i < 24; i++) {
		honest &= is(i, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED) && counts[i].running &&
		          counts[i].running < counts[i].enabled;
		close &= near(counts[i].value, 200000000, 4000000);
		running += counts[i].running;
		enabled += counts[i].enabled;
	}
	check(honest, "every one of them says that it is extrapolated");
	check(close, "from a quarter of the time to within a fiftieth of 200 million");
	check(running * 4 > enabled * 9 / 10 && running * 4 < enabled * 11 / 10,
	      "which is what they had of it: %llu of %llu ns", (unsigned long long)running,
	      (unsigned long long)enabled);
	/* An event the driver takes but never schedules. */
	ok = open_texts(TEXTS("armv8_pmuv3/event=0x1e/u")) && count_loop(1000000) &&
	     is(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_OTHER) && counts[0].value == 0;
	check(ok, "an event that never gets a counter has no value: %s", about(0).why);
}

static void other_events(void)
{
	bool ok;

	check(open_texts(TEXTS("syscalls:sys_enter_getppid")), "tracepoints are found");
	pfm_start_session(session);
	for (int i = 0; i < 50; i++)
		syscall(SYS_getppid);
	pfm_stop_session(session);
	read_counts();
	check(counts[0].value == 50, "fifty calls are %llu", (unsigned long long)counts[0].value);
	check(open_texts(TEXTS("{instructions:u,page-faults:u,task-clock}")) &&
	              count_loop(1000000) && is(0, PFM_QUALITY_EXACT, 0) &&
	              is(1, PFM_QUALITY_EXACT, 0) && is(2, PFM_QUALITY_EXACT, 0),
	      "hardware and software events form a group");
	tell();
	ok = open_texts(TEXTS("L1-dcache-load-misses:u")) && count_loop(10) &&
	     is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	check(ok, "an event this PMU lacks: %s", about(0).why);
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	check(open_texts(TEXTS("instructions")) && count_loop(1000000) &&
	              is(0, PFM_QUALITY_EXACT, 0) && counts[0].value > 4000000,
	      "the whole system counts at least as much");
	options.flags = 0;
}

/* ---- reading from user space ----------------------------------------------------------------- */

/* Instructions, or cycles, that one read takes: the fewest of a few, for a tick of the clock may
 * fall into one. */
static uint64_t cost_of_reading(void)
{
	pfm_count_t a = PFM_INIT(a), b = PFM_INIT(b);
	uint64_t fewest = UINT64_MAX;

	for (int i = 0; i < ATTEMPTS; i++) {
		pfm_read_count(session, 0, &a);
		pfm_read_count(session, 0, &b);
		if (b.quality == PFM_QUALITY_EXACT && b.value > a.value &&
		    b.value - a.value < fewest)
			fewest = b.value - a.value;
	}
	return fewest;
}

static void user_reads(void)
{
	pfm_count_t b = PFM_INIT(b), c = PFM_INIT(c);

	options.flags = PFM_SESSION_USER_READ;
	for (unsigned k = 0; k < 2; k++) {
		/* The kernel's instructions are counted as well: a system call would show. */
		const char *text = k ? "instructions" : "cycles";
		uint64_t cost;

		check(open_texts(&text, 1) && pfm_start_session(session) == 0,
		      "%s opens for reading from user space", text);
		cost = cost_of_reading();
		for (int i = 0; i < ATTEMPTS; i++) { /* how long a tick takes depends on what else
			                                the kernel has to do then */
			pfm_read_count(session, 0, &b);
			loop(1000000);
			pfm_read_count(session, 0, &c);
			if (near(c.value - b.value, 4000000, 20000))
				break;
		}
		check(cost < 700, "reading takes %llu instructions", (unsigned long long)cost);
		check(near(c.value - b.value, 4000000, 20000), "a loop between two reads took %llu",
		      (unsigned long long)(c.value - b.value));
		check(c.enabled > b.enabled && c.running == c.enabled,
		      "time goes on between reads");
		pfm_stop_session(session);
		check(read_counts() && counts[0].value >= c.value,
		      "what the kernel reads afterwards agrees");
		tell();
	}
}

/* ---- no PMU ---------------------------------------------------------------------------------- */

static void no_pmu(void)
{
	check(open_texts(TEXTS("instructions:u", "cycles", "L1-dcache-loads",
	                       "{cycles,instructions}:W")) &&
	              count_loop(1000),
	      "a session opens");
	tell();
	for (unsigned i = 0; i < 5; i++)
		check(is(i, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU) &&
		              strstr(about(i).why, "no PMU"),
		      "%s: %s", about(i).name, about(i).why);
	check(open_texts(TEXTS("task-clock", "page-faults")) && count_loop(1000000) &&
	              is(0, PFM_QUALITY_EXACT, 0) && counts[0].value > 0,
	      "software events count all the same");
}

/* ---- ordinary users -------------------------------------------------------------------------- */

static void ordinary_user(int level)
{
	bool ok;
	char expect[64];

	snprintf(expect, sizeof(expect), "perf_event_paranoid is %d", level);
	check(open_texts(TEXTS("instructions:u", "instructions", "instructions:k")) &&
	              count_loop(1000000),
	      "level %d: a session opens", level);
	tell();
	if (level > 2) {
		for (unsigned i = 0; i < 3; i++)
			check(is(i, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION) &&
			              strstr(about(i).why, expect),
			      "level %d: %s: %s", level, about(i).name, about(i).why);
	} else {
		check(is(0, PFM_QUALITY_EXACT, 0) && near(counts[0].value, 4000000, 1000),
		      "level %d: user code counts", level);
		check(is(1, PFM_QUALITY_EXACT, 0) &&
		              (strcmp(about(1).name, "instructions:u") == 0) == (level == 2),
		      "level %d: the rest is called %s", level, about(1).name);
		check(level == 2 ? is(2, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION) &&
		                           strstr(about(2).why, expect) != NULL
		                 : is(2, PFM_QUALITY_EXACT, 0),
		      "level %d: the kernel: %s", level, about(2).why);
	}
	ok = open_texts(TEXTS("context-switches")) && count_loop(10) &&
	     (level < 2 ? is(0, PFM_QUALITY_EXACT, 0)
	                : is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION));
	check(ok, "level %d: what only the kernel sees is counted or refused, never zero: %s",
	      level, about(0).why);
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	ok = open_texts(TEXTS("instructions")) && count_loop(10) &&
	     (level < 1 ? is(0, PFM_QUALITY_EXACT, 0)
	                : is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION));
	check(ok, "level %d: the whole system: %s", level, about(0).why);
	options.flags = 0;
	options.pid = 1;
	ok = open_texts(TEXTS("instructions:u")) && count_loop(10) &&
	     is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION);
	check(ok, "level %d: another user's process: %s", level, about(0).why);
	options.pid = 0;
}

/* ---- other machines -------------------------------------------------------------------------- */

/* The pretend PMU counts (event + 1) * (umask + 1) per microsecond. The kernel and its module take
 * the time one after the other. */
static bool counts_at(const char *text, unsigned rate)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		uint64_t wanted;

		if (!open_texts(&text, 1) || !count_loop(3000000))
			return false;
		wanted = counts[0].running / 1000 * rate;
		if (is(0, PFM_QUALITY_EXACT, 0) && wanted &&
		    near(counts[0].value, wanted, wanted / 50))
			return true;
		tell();
	}
	return false;
}

/* Takes turns on the clock's ticks, which a stopped guest may miss. */
static bool six_share_four(void)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		unsigned n = 0;

		if (!open_texts(TEXTS("instructions", "cycles", "cache-misses", "cache-references",
		                      "branches", "branch-misses")) ||
		    !count_loop(100000000))
			return false;
		while (n < 6 && is(n, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED))
			n++;
		if (n == 6)
			return true;
		tell();
	}
	return false;
}

static void pretend(void)
{
	bool ok;
	static const struct {
		const char *text;
		unsigned rate;
	} rows[] = {
		{ "instructions", 0xc1 },
		{ "cpu/event=0x2e,umask=0x41/", 0x2f * 0x42 },
		{ "cpu/cache-references/", 0x2f * 0x50 },
		{ "r412e", 0x2f * 0x42 },
		{ "branch-misses", 0xc6 },
		{ "cycles", 0x3d },
		{ "cpu/event=0x10,umask=0x3,cmask=2,inv/", 0x11 * 4 },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(counts_at(rows[i].text, rows[i].rate),
		      "%s reaches the kernel (%llu, %u a microsecond)", rows[i].text,
		      (unsigned long long)counts[0].value, rows[i].rate);
	check(open_texts(TEXTS("{cycles,instructions,cache-misses,branch-misses,cpu/event=1/}")) &&
	              count_loop(100000) && is(3, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP) &&
	              is(4, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP),
	      "the fifth of a group finds no counter");
	tell();
	ok = open_texts(TEXTS("cpu/config=0x5300c0/")) && count_loop(10) &&
	     is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	check(ok, "bits of the register that are not the user's: %s", about(0).why);
	ok = open_texts(TEXTS("bus-cycles")) && count_loop(10) &&
	     is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	check(ok, "a generic event it lacks: %s", about(0).why);
	check(six_share_four(), "six events on four counters are extrapolated");
	tell();
}

static char fresh[4096 * 300];

static void touch(unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++)
		*(volatile char *)&fresh[i * 4096] = 1;
}

/* The clock counts the time it was switched on; the kernel reads the two one after the other. */
static bool clock_runs(void)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		if (open_texts(TEXTS("{page-faults,task-clock}")) && count_loop(1000000) &&
		    is(1, PFM_QUALITY_EXACT, 0) && counts[1].value &&
		    near(counts[1].value, counts[1].enabled, counts[1].enabled / 100))
			return true;
		tell();
	}
	return false;
}

static void software(void)
{
	check(open_texts(TEXTS("{page-faults,task-clock}", "context-switches:k", "cycles")),
	      "software events open");
	pfm_start_session(session);
	touch(1, 256);
	/* A shorter nap can end on a loaded emulator before the kernel switches. */
	usleep(20000);
	loop(1000000);
	pfm_stop_session(session);
	check(read_counts(), "and are read as a group");
	tell();
	check(is(0, PFM_QUALITY_EXACT, 0) && near(counts[0].value, 256, 8),
	      "256 fresh pages are %llu faults", (unsigned long long)counts[0].value);
	check(is(1, PFM_QUALITY_EXACT, 0) && counts[1].value, "the clock is counted");
	check(is(2, PFM_QUALITY_EXACT, 0) && counts[2].value >= 1, "a nap is a context switch");
	check(is(3, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU), "no PMU: %s", about(3).why);
	check(clock_runs(), "and runs as long as it is switched on");
	check(open_texts(TEXTS("page-faults:k", "page-faults:u")), "levels are told apart");
	pfm_start_session(session);
	touch(258, 40);
	pfm_stop_session(session);
	check(read_counts() && counts[0].value == 0 && counts[1].value >= 40,
	      "user code's faults are not the kernel's");
	tell();
	check(open_texts(TEXTS("syscalls:sys_enter_getppid")), "a tracepoint opens");
	pfm_start_session(session);
	for (int i = 0; i < 50; i++)
		syscall(SYS_getppid);
	pfm_stop_session(session);
	read_counts();
	check(counts[0].value == 50, "fifty calls are %llu", (unsigned long long)counts[0].value);
}

/* ---- CPUs that come and go ------------------------------------------------------------------- */

enum { PAGES_A_TIME = 200, NAP_US = 60000 };

static void switch_cpu_1(bool on)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);

	if (fd < 0 || write(fd, on ? "1" : "0", 1) != 1)
		printf("# CPU 1 cannot be switched %s\n", on ? "on" : "off");
	close(fd);
	usleep(NAP_US); /* the scheduler moves tasks after the file is written */
}

/* A child touches pages on CPU @cpu, of the control group whose list of tasks is @tasks, NULL for
 * ours. */
static void touch_on(unsigned cpu, const char *tasks)
{
	cpu_set_t set;
	pid_t pid = fork();

	if (pid == 0) {
		int fd = tasks ? open(tasks, O_WRONLY) : -1;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if ((tasks && write(fd, "0", 1) != 1) || sched_setaffinity(0, sizeof(set), &set))
			_exit(1);
		touch(0, PAGES_A_TIME);
		usleep(NAP_US); /* the switch is what is counted */
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static bool opened_on(const char *text, const char *cpus, const char *cgroup)
{
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = cpus;
	options.cgroup = cgroup;
	return open_texts(TEXTS(text)) && pfm_start_session(session) == 0;
}

/* Counts until now are exact; those of a CPU that comes back are incomplete. */
static bool returns(const char *text, const char *cpus, const char *cgroup, const char *tasks)
{
	bool ok = opened_on(text, cpus, cgroup);

	touch_on(1, tasks);
	ok &= read_counts() && is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) &&
	      near(counts[0].value, PAGES_A_TIME + 25, 50);
	switch_cpu_1(false);
	ok &= read_counts() && is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	switch_cpu_1(true);
	touch_on(1, tasks);
	pfm_stop_session(session);
	ok &= read_counts() && is(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU) &&
	      near(counts[0].value, PAGES_A_TIME + 50, 100);
	if (!ok)
		tell();
	return ok;
}

/* CPU 1 is away when the session is opened. */
static bool joins(void)
{
	bool ok;

	switch_cpu_1(false);
	ok = opened_on("page-faults", NULL, NULL);
	touch_on(0, NULL);
	ok &= read_counts() && is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) &&
	      counts[0].value >= PAGES_A_TIME;
	switch_cpu_1(true);
	ok &= read_counts() && is(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
	if (!ok)
		tell();
	return ok;
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return ok;
}

/* The machine sleeps for two seconds. For that, the kernel switches CPU 1 off and on again. */
static bool suspends(void)
{
	bool ok = opened_on("{page-faults,task-clock}", NULL, NULL);

	touch_on(1, NULL);
	ok &= write_text("/sys/class/rtc/rtc0/wakealarm", "+2") &&
	      write_text("/sys/power/state", "mem");
	touch_on(0, NULL);
	ok &= read_counts() && is(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU) &&
	      counts[0].value >= 2 * PAGES_A_TIME;
	if (!ok)
		tell();
	return ok;
}

static unsigned descriptors(void)
{
	int next = open("/dev/null", O_RDONLY);

	close(next);
	return (unsigned)next;
}

static unsigned long resident_pages(void)
{
	unsigned long all = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%lu %lu", &all, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident;
}

static void hotplug(unsigned times)
{
	static const char folder[] = "/sys/fs/cgroup/alone", tasks[] = "/sys/fs/cgroup/alone/tasks";
	unsigned good[5] = { 0 }, files = 0;
	unsigned long pages = 0;
	bool groups;

	mkdir("/sys/fs/cgroup", 0755); /* the kernel has made it */
	groups =
		!mount("none", "/sys/fs/cgroup", "cgroup", 0, "perf_event") && !mkdir(folder, 0755);
	for (unsigned i = 0; i < times; i++) {
		good[0] += returns("page-faults", NULL, NULL, NULL);
		good[1] += returns("page-faults", "1", NULL, NULL);
		good[2] += joins();
		good[3] += groups && returns("page-faults", NULL, folder, tasks);
		good[4] += returns("{page-faults,task-clock,minor-faults}", NULL, NULL, NULL);
		if (i == 0) {
			files = descriptors();
			pages = resident_pages();
		}
	}
	check(good[0] == times, "a CPU that comes back among others is told: %u of %u times",
	      good[0], times);
	check(good[1] == times, "alone too: %u", good[1]);
	check(good[2] == times, "and one that comes later: %u", good[2]);
	check(good[3] == times, "a control group on one CPU is exact until that goes: %u", good[3]);
	check(good[4] == times, "a group is read when its CPU has gone, and returned: %u", good[4]);
	check(descriptors() == files, "descriptors: %u, and %u the first time", descriptors(),
	      files);
	check(resident_pages() <= pages + 64, "resident pages: %lu, and %lu the first time",
	      resident_pages(), pages);
	check(suspends(), "a group is read after the machine was suspended");
}

static void alpha(bool ordinary)
{
	bool ok;

	check(open_texts(TEXTS("cycles", "page-faults")) && count_loop(100000), "a session opens");
	tell();
	if (ordinary) {
		check(is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_PERMISSION),
		      "the kernel cannot be left out: %s", about(0).why);
		check(about(1).attr.exclude_kernel, "software events can: %s", about(1).name);
		return;
	}
	/* The clock ticks every 7.8 ms: it may have ticked or not. */
	check(counts[0].value &&
	              (counts[0].enabled ? is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE)
	                                 : is(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_TIME)),
	      "a count without time on the clock keeps its value, but is not exact");
	ok = open_texts(TEXTS("cycles:u")) && count_loop(10) &&
	     is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	check(ok, "levels cannot be chosen: %s", about(0).why);
	ok = open_texts(TEXTS("cache-references")) && count_loop(10) &&
	     is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	check(ok, "EPERM does not mean permission: %s", about(0).why);
	ok = open_texts(TEXTS("branches")) && count_loop(10) &&
	     is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU);
	check(ok, "branches: %s", about(0).why);
	check(open_texts(TEXTS("{cycles,instructions}")) && count_loop(10) &&
	              !is(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP),
	      "cycles and instructions go together");
	ok = open_texts(TEXTS("{instructions,r4}")) && count_loop(10) &&
	     is(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP);
	check(ok, "instructions and replays do not: %s", about(1).why);
	check(open_texts(TEXTS("{instructions,r4}:W")) && count_loop(10) &&
	              !is(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP),
	      "unless the group may be broken up");
	ok = open_texts(TEXTS("{cycles,instructions,cache-misses}")) && count_loop(10) &&
	     is(2, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP);
	check(ok, "there are two counters: %s", about(2).why);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "pmu";

	if (strcmp(what, "pmu") == 0) {
		instructions();
		ratio();
		groups();
		sharing();
		other_events();
		sampled_loop(100000, false);
		sampled_loop(4096, true);
		sampled_faults();
	} else if (strcmp(what, "userread") == 0) {
		user_reads();
	} else if (strcmp(what, "regions") == 0) {
		check_region_counts(check, argc > 2);
	} else if (strcmp(what, "regionfaults") == 0) {
		check_region_faults(check);
	} else if (strcmp(what, "nopmu") == 0) {
		no_pmu();
	} else if (strcmp(what, "pretend") == 0) {
		pretend();
	} else if (strcmp(what, "software") == 0) {
		software();
		sampled_faults();
	} else if (strcmp(what, "hotplug") == 0) {
		hotplug(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
	} else if (strcmp(what, "alpha") == 0 || strcmp(what, "alphauser") == 0) {
		alpha(what[5]);
	} else if (argc > 2) {
		ordinary_user(atoi(argv[2]));
	}
	pfm_close_session(session);
	printf("1..%u\n", cases);
	return failures != 0;
}
