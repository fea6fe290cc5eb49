/* SPDX-License-Identifier: MIT */
/*
 * alpha_session STORY: the library beside the Linux driver for EV67, in the Alpha guest.
 *
 *   driver    the driver does what pfm_alpha_linux_event() and related functions report
 *   session   events of table ev67 through pfm_open_session()
 *   user      as session, for an ordinary user, at perf_event_paranoid 2
 *
 * The emulator's counters do not count: the value that was loaded is read back. A count here shows
 * no events, but the value that the driver loaded: it loads the rest of the period, negated, and
 * takes the difference for the count. Hence read_left().
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <perfmon/pfcntr.h>
#include <perfmon/alpha.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "session.h"

enum { CYCLES = 1, INSTRUCTIONS, BCACHE, MBOX };

static const char *const names[] = { NULL, "ev67::anycycles", "ev67::retinst", "ev67::bcachemisses",
	                             "ev67::replay" };

/* The descriptor, or the errno negated. Counting is stopped. */
static int open_event(uint32_t type, uint64_t config, uint64_t period, int group)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
		                        .type = type,
		                        .config = config,
		                        .sample_period = period,
		                        .disabled = group < 0 };
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, group, 0);

	return fd < 0 ? -errno : (int)fd;
}

static int try_event(uint32_t type, uint64_t config, int group)
{
	int fd = open_event(type, config, 0, group);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* ---- single events --------------------------------------------------------------------------- */

static void check_event(uint32_t type, uint64_t config)
{
	int kernel = try_event(type, config, -1),
	    ours = pfm_alpha_linux_event(type, config, NULL, NULL, NULL);

	check(kernel == ours, "type %u config 0x%llx: the driver says %d, we say %d",
	      (unsigned)type, (unsigned long long)config, -kernel, -ours);
}

static void check_events(void)
{
	static const uint64_t odd[] = {
		0x100,     0x101, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1, UINT64_C(1) << 63,
		UINT64_MAX
	};

	for (uint64_t config = 0; config < 8; config++)
		check_event(PERF_TYPE_RAW, config);
	for (size_t i = 0; i < N(odd); i++)
		check_event(PERF_TYPE_RAW, odd[i]);
	for (uint64_t config = 0; config < PERF_COUNT_HW_MAX + 2; config++)
		check_event(PERF_TYPE_HARDWARE, config);
	check_event(PERF_TYPE_HW_CACHE, 0);
	check_event(PERF_TYPE_HW_CACHE, 0x10002);
	check_event(77, 1);
}

/* Exclusions of an ordinary request that this driver cannot make. */
static void check_exclusion(void)
{
	for (int bit = 0; bit < 4; bit++) {
		struct perf_event_attr attr = { .size = sizeof(attr),
			                        .type = PERF_TYPE_RAW,
			                        .config = CYCLES,
			                        .exclude_user = bit == 0,
			                        .exclude_kernel = bit == 1,
			                        .exclude_hv = bit == 2,
			                        .exclude_idle = bit == 3 };
		long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

		check(fd < 0 && errno == EINVAL, "exclusion %d of 4 is EINVAL", bit + 1);
		if (fd >= 0)
			close((int)fd);
	}
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void check_pairs(void)
{
	unsigned fits = 0;

	for (unsigned a = CYCLES; a <= MBOX; a++)
		for (unsigned b = CYCLES; b <= MBOX; b++) {
			const unsigned raw[2] = { a, b };
			int first = open_event(PERF_TYPE_RAW, a, 0, -1),
			    kernel = try_event(PERF_TYPE_RAW, b, first);
			int ours = pfm_alpha_linux_pair(raw, NULL, NULL);

			close(first);
			fits += ours == 0;
			check(first >= 0 && kernel == ours,
			      "raw %u and %u: the driver says %d, we say %d", a, b, -kernel, -ours);
		}
	check(fits == 6, "%u of 16 pairs fit", fits);
}

static void check_thirds(void)
{
	unsigned tried = 0, refused = 0;

	for (unsigned a = CYCLES; a <= MBOX; a++)
		for (unsigned b = CYCLES; b <= MBOX; b++) {
			const unsigned raw[2] = { a, b };
			int first = open_event(PERF_TYPE_RAW, a, 0, -1),
			    second = open_event(PERF_TYPE_RAW, b, 0, first);

			for (unsigned c = CYCLES; second >= 0 && c <= MBOX; c++) {
				tried++;
				refused += try_event(PERF_TYPE_RAW, c, first) == -EINVAL;
			}
			if (pfm_alpha_linux_pair(raw, NULL, NULL) == 0)
				close(second);
			close(first);
		}
	check(tried == 24 && refused == tried, "a third member is EINVAL in %u of %u cases",
	      refused, tried);
}

/* ---- what is loaded -------------------------------------------------------------------------- */

/* Reads the count of event @i of the group whose counter is loaded with the rest of @period and
 * does not move. */
static uint64_t read_left(const unsigned raw[2], unsigned n, unsigned i, uint64_t period)
{
	int fd[2] = { -1, -1 };
	uint64_t value = 0;

	for (unsigned k = 0; k < n; k++)
		fd[k] = open_event(PERF_TYPE_RAW, raw[k], period, fd[0]);
	ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0);
	if (read(fd[i], &value, sizeof(value)) != sizeof(value))
		value = 0;
	for (unsigned k = n; k-- > 0;)
		close(fd[k]);
	return value;
}

/* The expected rest, from the word of pfm_alpha_linux_write(). */
static uint64_t expect_left(unsigned counter, uint64_t period)
{
	pfmlib_alpha_call_t call = { 0 };
	uint64_t mask = counter == 0 ? PF6_CTR0_KMASK : PF6_CTR1_KMASK;
	unsigned shift = counter == 0 ? PF6_CTR0_SHIFT : PF6_CTR1_SHIFT;

	if (pfm_alpha_linux_write(counter, period, &call) != PFMLIB_SUCCESS || call.function != 6)
		return 0;
	if ((call.argument & PF6_SEL_KMASK) != (uint64_t)1 << counter)
		return 0;
	return (UINT64_C(1) << 20) - ((call.argument & mask) >> shift);
}

/* The positions of the counters, from a period that the driver leaves unchanged. The emulator
 * has one number for both. */
static uint64_t standing(unsigned counter)
{
	const unsigned raw = counter == 0 ? INSTRUCTIONS : CYCLES;

	return (read_left(&raw, 1, 0, 1000) - 1000) & 0xfffff;
}

/* The rest of event @i's period as the driver has it. Counts are taken modulo the width of the
 * counters. If the process is interrupted before it reads, the counter has been loaded more than
 * once: hence several attempts to find @expect. */
static uint64_t left(const unsigned raw[2], unsigned n, unsigned i, unsigned counter,
                     uint64_t period, uint64_t expect)
{
	uint64_t value = 0;

	for (int attempt = 0; attempt < 10 && (attempt == 0 || value != expect); attempt++)
		value = (read_left(raw, n, i, period) - standing(counter)) & 0xfffff;
	return value;
}

static void check_writes(void)
{
	static const uint64_t periods[] = { 1,       3,        4,         5,       15,
		                            16,      17,       1000,      0x7ffff, 0xffffe,
		                            0xfffff, 0x100000, 0x12345678 };

	for (unsigned raw = CYCLES; raw <= MBOX; raw++) {
		unsigned counter = 9;

		pfm_alpha_linux_event(PERF_TYPE_RAW, raw, NULL, &counter, NULL);
		for (size_t i = 0; i < N(periods); i++) {
			uint64_t ours = expect_left(counter, periods[i]),
				 driver = left(&raw, 1, 0, counter, periods[i], ours);

			check(driver == ours,
			      "raw %u, counter %u, period %llu: the driver loads %llu, we %llu",
			      raw, counter, (unsigned long long)periods[i],
			      (unsigned long long)driver, (unsigned long long)ours);
		}
	}
}

/* The shortest period is 16 on counter 0 and 4 on counter 1: what becomes of 5 tells the
 * counter. */
static void check_places(void)
{
	for (unsigned a = CYCLES; a <= MBOX; a++)
		for (unsigned b = CYCLES; b <= MBOX; b++) {
			const unsigned raw[2] = { a, b };
			unsigned counter[2];
			bool same = true;

			if (pfm_alpha_linux_pair(raw, counter, NULL) != 0)
				continue;
			for (unsigned i = 0; i < 2; i++)
				same &= left(raw, 2, i, counter[i], 5,
				             expect_left(counter[i], 5)) ==
				        expect_left(counter[i], 5);
			check(same, "raw %u and %u are on counters %u and %u", a, b, counter[0],
			      counter[1]);
		}
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* Opens @text and reads it once. True if it is counted. */
static bool counted(const char *text)
{
	return open_text(text) && pfm_start_session(session) == 0 &&
	       pfm_stop_session(session) == 0 && read_counts() &&
	       counts[0].quality != PFM_QUALITY_NOT_SUPPORTED;
}

static bool refused(const char *text, pfm_cause_t cause)
{
	return open_text(text) && read_counts() && is(0, PFM_QUALITY_NOT_SUPPORTED, cause);
}

static void check_host(void)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	int pmu = pfm_find_pmu(NULL, "ev67");

	check(pmu >= 0 && pfm_describe_pmu(NULL, pmu, &info) == 0 && (info.flags & PFM_PMU_HOST),
	      "this machine is an ev67");
	check(info.type == PERF_TYPE_RAW, "whose events have type %d", info.type);
}

/* Every event of the table: what we call countable opens, with nothing excluded; the rest says why
 * not. */
static void check_table(void)
{
	unsigned countable = 0, opened = 0, plain = 0, refused = 0, n;
	perfmon_pmu_info_t info = PFM_INIT(info);
	int pmu = pfm_find_pmu(NULL, "ev67");

	pfm_describe_pmu(NULL, pmu, &info);
	n = info.n_events;
	for (unsigned i = 0; i < n; i++) {
		pfm_encoding_t code = PFM_INIT(code);
		perfmon_event_info_t event = PFM_INIT(event);
		char text[64];

		pfm_describe_event(NULL, pmu, i, &event);
		snprintf(text, sizeof(text), "ev67::%s", event.name);
		if (pfm_encode_event(NULL, text, 0, &code, NULL) != 0 || !open_text(text) ||
		    !read_counts())
			continue;
		if (!code.attr.expressible) {
			refused += is(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU) &&
			           says(0, "Linux cannot count this event of ev67", "");
			continue;
		}
		countable++;
		plain += !code.attr.exclude_user && !code.attr.exclude_kernel &&
		         !code.attr.exclude_hv && !code.attr.exclude_idle;
		opened += code.attr.type == PERF_TYPE_RAW &&
		          try_event(code.attr.type, code.attr.config, -1) == 0 &&
		          about(0).n_kernel_events == 1 &&
		          counts[0].quality != PFM_QUALITY_NOT_SUPPORTED;
	}
	check(countable == 6 && opened == countable, "%u of %u countable events open", opened,
	      countable);
	check(plain == countable, "%u of them exclude nothing", plain);
	check(n > 50 && refused == n - countable,
	      "%u of the other %u say that Linux cannot count them", refused, n - countable);
}

static void check_session_pairs(void)
{
	for (unsigned a = CYCLES; a <= MBOX; a++)
		for (unsigned b = CYCLES; b <= MBOX; b++) {
			const unsigned raw[2] = { a, b };
			bool fits = a == b || pfm_alpha_linux_pair(raw, NULL, NULL) == 0, ok;
			char text[128];

			snprintf(text, sizeof(text), "{%s,%s}", names[a], names[b]);
			if (a == b) /* a group is a set */
				ok = counted(text) && pfm_session_size(session) == 1;
			else if (fits)
				ok = counted(text) &&
				     counts[1].quality != PFM_QUALITY_NOT_SUPPORTED;
			else /* members are counted at the same times or not at all */
				ok = refused(text, PFM_CAUSE_GROUP) &&
				     is(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP) &&
				     counts[1].sys_errno == EINVAL &&
				     says(1,
				          "the group does not fit: with the members before it, no "
				          "counter is left for this event",
				          "make the group smaller, or allow the library to split "
				          "it (:W after "
				          "the brace)");
			check(ok, "%s %s", text, fits ? "is counted" : "does not fit");
		}
}

static void check_session_limits(void)
{
	static const char *const singles[] = { "ev67::retinst", "ev67::cycles1", "ev67::replay",
		                               "ev67::bcachemisses" };

	check(open_text("{ev67::retinst,ev67::cycles1,ev67::bcachemisses}") && read_counts() &&
	              is(2, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP),
	      "a third member of a group does not fit");
	check(open_text("{ev67::retinst,ev67::cycles1,ev67::bcachemisses}:W") && read_counts() &&
	              !is(2, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_GROUP),
	      "unless the group may be broken up");
	check(open_texts(singles, N(singles)) == 0 && pfm_start_session(session) == 0 &&
	              read_counts() &&
	              about(0).n_kernel_events + about(1).n_kernel_events +
	                              about(2).n_kernel_events + about(3).n_kernel_events ==
	                      4,
	      "four single events open");
	check(counted("retinst") && strcmp(about(0).pmu, "cpu") == 0,
	      "the processor need not be named");
	check(refused("ev6::cycles", PFM_CAUSE_NO_PMU) &&
	              says(0,
	                   "this machine has no ev6: its events can be encoded but not counted "
	                   "here",
	                   "use an event of this machine: pfm list shows them"),
	      "events of another Alpha are not counted");
	check(refused("cache-references", PFM_CAUSE_NO_PMU) && counts[0].sys_errno == EPERM &&
	              says(0, "the PMU of this processor lacks the event", "choose another event"),
	      "EPERM for cache references does not mean permission");
	options.backend = "perf_event";
	check(counted("ev67::replay"), "the backend is perf_event");
	options.backend = "pfm_device";
	check(refused("ev67::replay", PFM_CAUSE_NO_KERNEL) &&
	              says(0, "this system has no counter device (/dev/pfcntr)",
	                   "on Tru64 UNIX configure it: sysconfig -c pfm; elsewhere run the "
	                   "program "
	                   "under pfm alpha device"),
	      "the other one has no device here");
	options.backend = NULL;
}

/* Levels cannot be chosen: a count of everything must never pass for a count of user code. */
static void check_levels(void)
{
	static const char why[] = "Linux cannot distinguish privilege levels on ev67",
			  remedy[] = "omit the levels: every level is counted";

	check(refused("ev67::retinst:u", PFM_CAUSE_ATTRIBUTE) && says(0, why, remedy),
	      "user code alone cannot be counted");
	check(refused("ev67::retinst:k", PFM_CAUSE_ATTRIBUTE) && says(0, why, remedy),
	      "nor the kernel alone");
	check(counted("ev67::retinst:u:k"), "both together can");
	options.plm = PFM_PLM3;
	check(refused("ev67::retinst", PFM_CAUSE_ATTRIBUTE) && says(0, why, remedy),
	      "levels of the session are not forgotten");
	options.plm = PFM_PLM0 | PFM_PLM3;
	check(counted("ev67::retinst"), "all levels named for the session are all levels");
	options.plm = 0;
}

static void check_user(void)
{
	check(getuid() != 0, "this is an ordinary user");
	check(refused("ev67::retinst", PFM_CAUSE_PERMISSION) &&
	              says(0,
	                   "perf_event_paranoid is 2: this event occurs in the kernel or cannot "
	                   "exclude it",
	                   "run with the capability CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8), "
	                   "which root has outside of containers, "
	                   "or set kernel.perf_event_paranoid to 1 or lower"),
	      "the kernel cannot be left out");
	check(open_text("task-clock") && read_counts() && about(0).attr.exclude_kernel,
	      "software events can");
}

int main(int argc, char **argv)
{
	const char *story = argc > 1 ? argv[1] : "";

	if (strcmp(story, "driver") == 0) {
		check_events();
		check_exclusion();
		check_pairs();
		check_thirds();
		check_writes();
		check_places();
	} else if (strcmp(story, "session") == 0) {
		check_host();
		check_table();
		check_session_pairs();
		check_session_limits();
		check_levels();
	} else if (strcmp(story, "user") == 0) {
		check_user();
	}
	return finish();
}
