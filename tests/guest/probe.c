/* SPDX-License-Identifier: MIT */
/*
 * probe STORY: checks that a guest is what our tests take it for, with the raw system call and
 * nothing of ours.
 *
 * When one of these fails the guest has changed (another kernel, another emulator), not the
 * library.
 *
 *   arm64 alpha s390x amd64   what the guest of that name does for root
 *   nopmu                     any guest without a PMU: every hardware event is ENOENT
 *   userread                  arm64 with perf_user_access=1: a counter read without a system call
 *   pretend                   amd64 with pretend_pmu.ko
 *   level2 level3             an ordinary user at that perf_event_paranoid
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tap.h"

#define N(array) (sizeof(array) / sizeof(*(array)))
#define DEVICES  "/sys/bus/event_source/devices/"
#define LOOPS    1000000

/* Initialisers for a struct request. */
#define RAW(number)      .type = PERF_TYPE_RAW, .config = (number)
#define SOFTWARE(number) .type = PERF_TYPE_SOFTWARE, .config = (number)

/* A loop of a known number of instructions, so that a count can be compared with a number. */
static void work(void)
{
#if defined(__aarch64__)
	uint64_t i = LOOPS, j = 0;

	__asm__ volatile("1: add %1, %1, #1\n\tsub %0, %0, #1\n\tnop\n\tcbnz %0, 1b"
	                 : "+r"(i), "+r"(j));
#else
	for (volatile unsigned i = 0; i < LOOPS; i++)
		;
#endif
}

struct request {
	uint32_t type;
	uint64_t config, config1;
	uint64_t read_format;
	bool exclude_kernel, exclude_user, exclude_hv, exclude_idle;
};

/* The descriptor, or the errno negated. The event counts this process from now on. */
static int open_event(const struct request *req, int group)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = req->type,
		.config = req->config,
		.config1 = req->config1,
		.read_format = req->read_format,
		.exclude_kernel = req->exclude_kernel,
		.exclude_user = req->exclude_user,
		.exclude_hv = req->exclude_hv,
		.exclude_idle = req->exclude_idle,
	};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, group, 0);

	return fd < 0 ? -errno : (int)fd;
}

/* Opens and closes the event: 0, or the errno negated. */
static int try_event(const struct request *req, int group)
{
	int fd = open_event(req, group);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_raw(uint64_t config)
{
	return try_event(&(struct request){ RAW(config) }, -1);
}

static int try_generic(uint64_t config)
{
	return try_event(&(struct request){ .type = PERF_TYPE_HARDWARE, .config = config }, -1);
}

struct count {
	uint64_t value, enabled, running;
};

/* Count work() with one event. False if it does not open or read. */
static bool count_work(struct request req, struct count *out)
{
	int fd;
	bool ok;

	req.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	memset(out, 0, sizeof(*out));
	fd = open_event(&req, -1);
	if (fd < 0)
		return false;
	work();
	ok = read(fd, out, sizeof(*out)) == sizeof(*out);
	close(fd);
	return ok;
}

/* Open @n events as one group, in this order. The number that opened; @error takes what the next
 * one answered. */
static int open_group(const struct request *req, int n, int *error)
{
	int fd[32], opened;

	*error = 0;
	for (opened = 0; opened < n; opened++) {
		fd[opened] = open_event(&req[opened], opened > 0 ? fd[0] : -1);
		if (fd[opened] < 0) {
			*error = fd[opened];
			break;
		}
	}
	for (int i = opened; i-- > 0;)
		close(fd[i]);
	return opened;
}

static bool read_text(const char *path, char *out, size_t size)
{
	ssize_t n;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return false;
	n = read(fd, out, size - 1);
	close(fd);
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return n > 0;
}

static void check_text(const char *path, const char *expected)
{
	char text[128] = "";

	read_text(path, text, sizeof(text));
	check(strcmp(text, expected) == 0, "%s holds \"%s\"", path, expected);
	if (strcmp(text, expected) != 0)
		printf("# it holds \"%s\"\n", text);
}

static const struct {
	uint64_t config;
	const char *name;
} software[] = {
	{ PERF_COUNT_SW_CPU_CLOCK, "cpu-clock" },
	{ PERF_COUNT_SW_TASK_CLOCK, "task-clock" },
	{ PERF_COUNT_SW_PAGE_FAULTS, "page-faults" },
	{ PERF_COUNT_SW_CONTEXT_SWITCHES, "context-switches" },
};

/* Layout of a read of the software events, opened as one group. */
struct software_group {
	uint64_t n;
	struct {
		uint64_t value, id;
	} member[N(software)];
};

/* Give every software event something to count. The clock of alpha has 128 ticks a second: wait
 * until it moves. */
static bool fill_software_group(int leader, struct software_group *out)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return false;
	*(volatile char *)page = 1;
	usleep(1000); /* the emulator sets the interrupt later */
	for (int tries = 0; tries < 100; tries++) {
		work();
		if (read(leader, out, sizeof(*out)) != sizeof(*out))
			return false;
		if (out->member[0].value > 0 && out->member[1].value > 0)
			break;
	}
	return true;
}

static void check_software_group(void)
{
	struct software_group group = { 0 };
	int fd[N(software)];
	uint64_t id = 0;

	for (size_t i = 0; i < N(software); i++) {
		const struct request req = {
			SOFTWARE(software[i].config),
			.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
		};

		fd[i] = open_event(&req, i > 0 ? fd[0] : -1);
		check(fd[i] >= 0, "software event %s opens", software[i].name);
	}
	check(fill_software_group(fd[0], &group), "a group is read at once");
	check(group.n == N(software), "it has %d members", (int)group.n);
	for (size_t i = 0; i < N(software); i++) {
		id = 0;
		ioctl(fd[i], PERF_EVENT_IOC_ID, &id);
		check(group.member[i].value > 0, "%s counts: %llu", software[i].name,
		      (unsigned long long)group.member[i].value);
		check(id != 0 && id == group.member[i].id, "it is found in the group by its id");
		close(fd[i]);
	}
}

/* The kernel core, the same in every guest. */
static void check_core(void)
{
	struct perf_event_attr attr = { .size = 63 };
	int error;

	check_software_group();
	check(try_event(&(struct request){ SOFTWARE(12) }, -1) == -ENOENT,
	      "software event 12 is ENOENT");
	error = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0 ? errno : 0;
	check(error == E2BIG && attr.size == 128,
	      "attr of 63 bytes is E2BIG, and the kernel knows %u", attr.size);
	attr = (struct perf_event_attr){ .size = sizeof(attr),
		                         .type = PERF_TYPE_SOFTWARE,
		                         .read_format = 1 << 20 };
	check(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0 && errno == EINVAL,
	      "an unknown read_format bit is EINVAL");
}

static void check_no_pmu(void)
{
	static const uint64_t raw[] = { 0, 0x11, 0xc0, 0xffffffffffffffff };

	for (size_t i = 0; i < N(raw); i++)
		check(try_raw(raw[i]) == -ENOENT, "raw 0x%llx is ENOENT",
		      (unsigned long long)raw[i]);
	for (uint64_t i = 0; i < PERF_COUNT_HW_MAX; i++)
		check(try_generic(i) == -ENOENT, "generic hardware event %d is ENOENT", (int)i);
	check(try_event(&(struct request){ .type = PERF_TYPE_HW_CACHE }, -1) == -ENOENT,
	      "hardware cache event is ENOENT");
}

static void check_multiplexing(void)
{
	struct request req = { RAW(0x08), .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
		                                         PERF_FORMAT_TOTAL_TIME_RUNNING };
	struct count count;
	int fd[24], opened = 0, counted = 0, shared = 0;

	for (size_t i = 0; i < N(fd); i++) {
		fd[i] = open_event(&req, -1);
		opened += fd[i] >= 0;
	}
	check(opened == N(fd), "%d of 24 single events open", opened);
	for (int i = 0; i < 50; i++)
		work();
	for (size_t i = 0; i < N(fd); i++) {
		if (read(fd[i], &count, sizeof(count)) != sizeof(count))
			continue;
		counted += count.value > 0 && count.running > 0;
		shared += count.running < count.enabled;
		close(fd[i]);
	}
	check(counted == N(fd), "%d of them got a share of the counters", counted);
	check(shared == N(fd), "%d of them ran for less than they were enabled", shared);
}

static void check_arm64(void)
{
	const struct request cycles = { RAW(0x11) }, instructions = { RAW(0x08) };
	const struct request user = { RAW(0x08), .exclude_kernel = true };
	struct request group[8] = { cycles };
	struct count first, second;
	int n, error;

	check_text(DEVICES "armv8_pmuv3/format/event", "config:0-15");
	check_text(DEVICES "armv8_pmuv3/events/inst_retired", "event=0x0008");
	count_work(cycles, &first);
	check(first.value > 4 * LOOPS, "cycles count: %llu", (unsigned long long)first.value);
	check(first.running > 0 && first.running == first.enabled,
	      "alone, an event runs all the time");
	count_work(user, &first);
	check(first.value >= 4 * LOOPS && first.value < 4 * LOOPS + 1000,
	      "a loop of %d user instructions counts %llu", 4 * LOOPS,
	      (unsigned long long)first.value);
	check(count_work(user, &second) && second.value == first.value,
	      "and the same number again");
	for (size_t i = 1; i < N(group); i++)
		group[i] = instructions;
	n = open_group(group, 8, &error);
	check(n == 7 && error == -EINVAL,
	      "cycles and others: %d members fit, the next is EINVAL (%d)", n, -error);
	group[0] = instructions;
	n = open_group(group, 8, &error);
	check(n == 6 && error == -EINVAL, "without cycles: %d members fit, the next is EINVAL (%d)",
	      n, -error);
	check(count_work((struct request){ RAW(0x10011) }, &first) && first.value > 4 * LOOPS,
	      "raw bits above 15 are dropped, not refused");
	check(count_work((struct request){ RAW(0x1e) }, &first) && first.enabled > 0 &&
	              first.running == 0,
	      "the chain event opens and never runs");
	check(count_work((struct request){ RAW(0x3c) }, &first) && first.value == 0 &&
	              first.running > 0,
	      "an event that the emulator does not have runs and stays 0");
	check_multiplexing();
}

#if defined(__aarch64__)
static uint64_t read_cycle_counter(void)
{
	uint64_t value;

	__asm__ volatile("isb\n\tmrs %0, pmccntr_el0" : "=r"(value));
	return value;
}

static void check_userread(void)
{
	/* config1: 1 asks for 64 bits, 2 for access from user space. */
	const struct request req = { RAW(0x11), .config1 = 3 };
	int fd = open_event(&req, -1);
	struct perf_event_mmap_page *page =
		mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	uint64_t delta;

	check(page != MAP_FAILED, "the page of a cycles event can be mapped");
	if (page == MAP_FAILED)
		return;
	check(page->cap_user_rdpmc, "it allows reading in user mode");
	check(page->index == 32, "index is %u: the cycle counter is number 31", page->index);
	check(page->pmc_width == 64, "the counter is %u bits wide", page->pmc_width);
	if (!page->cap_user_rdpmc)
		return;
	delta = read_cycle_counter();
	work();
	delta = read_cycle_counter() - delta;
	check(delta >= 4 * LOOPS, "the loop took %llu cycles by mrs", (unsigned long long)delta);
}
#endif

static void check_alpha(void)
{
	/* Numbers of the kernel's own, in the order of its table. */
	enum { CYCLES = 1, INSTRUCTIONS, BCACHE, MBOX };
	static const struct {
		uint64_t first, second;
		bool fits;
	} pairs[] = {
		{ CYCLES, INSTRUCTIONS, true }, { CYCLES, MBOX, true },
		{ INSTRUCTIONS, BCACHE, true }, { INSTRUCTIONS, MBOX, false },
		{ CYCLES, CYCLES, false },
	};
	const struct request excluding[] = {
		{ RAW(CYCLES), .exclude_kernel = true },
		{ RAW(CYCLES), .exclude_user = true },
		{ RAW(CYCLES), .exclude_hv = true },
		{ RAW(CYCLES), .exclude_idle = true },
	};
	struct request three[] = {
		{ RAW(CYCLES) },
		{ RAW(INSTRUCTIONS) },
		{ RAW(BCACHE) },
	};
	struct count count;
	int n, error;

	check(access(DEVICES "cpu", F_OK) == 0 && access(DEVICES "cpu/format", F_OK) != 0,
	      "sysfs has a cpu device without a format");
	for (uint64_t raw = CYCLES; raw <= MBOX; raw++)
		check(try_raw(raw) == 0, "raw %d opens", (int)raw);
	check(try_raw(0) == -EINVAL, "raw 0 is EINVAL");
	check(try_raw(5) == -EINVAL, "raw 5 is EINVAL");
	check(try_raw(0x100) == -EINVAL, "raw 0x100 is EINVAL");
	check(try_generic(PERF_COUNT_HW_CPU_CYCLES) == 0, "generic cycles opens");
	check(try_generic(PERF_COUNT_HW_INSTRUCTIONS) == 0, "generic instructions opens");
	check(try_generic(PERF_COUNT_HW_CACHE_MISSES) == 0, "generic cache-misses opens");
	check(try_generic(PERF_COUNT_HW_CACHE_REFERENCES) == -EPERM,
	      "generic cache-references is EPERM");
	check(try_generic(PERF_COUNT_HW_BRANCH_INSTRUCTIONS) == -EINVAL,
	      "generic branches is EINVAL");
	check(try_event(&(struct request){ .type = PERF_TYPE_HW_CACHE }, -1) == -EOPNOTSUPP,
	      "hardware cache event is EOPNOTSUPP");
	for (size_t i = 0; i < N(excluding); i++)
		check(try_event(&excluding[i], -1) == -EINVAL, "exclusion %d of 4 is EINVAL",
		      (int)i + 1);
	for (size_t i = 0; i < N(pairs); i++) {
		const struct request pair[] = {
			{ RAW(pairs[i].first) },
			{ RAW(pairs[i].second) },
		};

		n = open_group(pair, 2, &error);
		check(n == (pairs[i].fits ? 2 : 1) && error == (pairs[i].fits ? 0 : -EINVAL),
		      "raw %d and %d %s", (int)pairs[i].first, (int)pairs[i].second,
		      pairs[i].fits ? "fit together" : "are EINVAL");
	}
	n = open_group(three, 3, &error);
	check(n == 2 && error == -EINVAL, "a third member is EINVAL");
	check(count_work(three[0], &count),
	      "a counter can be read, though its value means nothing here");
}

static void check_s390x(void)
{
	const uint64_t one = 1;
	struct perf_event_attr attr = { .disabled = 1 };
	uint64_t flags;

	memcpy(&flags, (char *)&attr + 40, sizeof(flags));
	check(*(const unsigned char *)&one == 0, "the guest is big endian");
	check(flags == UINT64_C(1) << 63,
	      "the first flag of the attr is the highest bit of its word");
	check_no_pmu();
	attr = (struct perf_event_attr){ .type = PERF_TYPE_BREAKPOINT,
		                         .size = sizeof(attr),
		                         .bp_type = HW_BREAKPOINT_W,
		                         .bp_addr = (uint64_t)(uintptr_t)&n_cases,
		                         .bp_len = HW_BREAKPOINT_LEN_4 };
	check(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0 && errno == ENOENT,
	      "breakpoints are ENOENT");
}

static void check_amd64(void)
{
	struct count count;
	char text[16] = "0";
	unsigned type = 0;

	check_no_pmu();
	check(access(DEVICES "cpu", F_OK) != 0, "sysfs has no cpu device");
	read_text(DEVICES "msr/type", text, sizeof(text));
	sscanf(text, "%u", &type);
	check(type > 0, "the msr device has type %u", type);
	check_text(DEVICES "msr/events/tsc", "event=0x00");
	count_work((struct request){ .type = type, .config = 0 }, &count);
	check(count.value > 0, "msr/tsc counts: %llu", (unsigned long long)count.value);
}

/*
 * True if an event counts @rate per microsecond of running. The kernel and the module take the time
 * one after the other, and a busy machine may stop the guest in between: hence a margin of one in
 * fifty and three attempts.
 */
static bool counts_at(const struct request *req, uint64_t rate)
{
	struct count count;

	for (int attempt = 0; attempt < 3; attempt++) {
		uint64_t expected;

		if (!count_work(*req, &count))
			return false;
		expected = count.running * rate / 1000;
		printf("# %llu in %llu ns, expected %llu\n", (unsigned long long)count.value,
		       (unsigned long long)count.running, (unsigned long long)expected);
		if (count.value > expected - expected / 50 &&
		    count.value < expected + expected / 50)
			return true;
	}
	return false;
}

static void check_pretend(void)
{
	/* Enable and interrupt bits left in; a bit too high; the OS bit. */
	static const uint64_t refused[] = { 0x5300c0, 0x100000000, 0x200c0 };
	static const struct {
		struct request req;
		uint64_t rate;
		const char *name;
	} counted[] = {
		{ { RAW(0xc0) }, 193, "event c0" },
		{ { RAW(0x412e) }, 47 * 66, "event 2e with umask 41" },
		{ { .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS },
		  193,
		  "generic instructions" },
	};
	struct request group[5];
	int n, error;

	check_text(DEVICES "cpu/type", "4");
	check_text(DEVICES "cpu/format/umask", "config:8-15");
	check_text(DEVICES "cpu/events/cache-misses", "event=0x2e,umask=0x41");
	for (size_t i = 0; i < N(counted); i++)
		check(counts_at(&counted[i].req, counted[i].rate), "%s counts %d per microsecond",
		      counted[i].name, (int)counted[i].rate);
	for (size_t i = 0; i < N(refused); i++)
		check(try_raw(refused[i]) == -EINVAL, "raw 0x%llx is EINVAL",
		      (unsigned long long)refused[i]);
	for (size_t i = 0; i < N(group); i++)
		group[i] = (struct request){ RAW(0x3c) };
	n = open_group(group, 5, &error);
	check(n == 4 && error == -EINVAL, "%d members fit in a group, the next is EINVAL (%d)", n,
	      -error);
}

static void check_level(int level)
{
	struct request req = { SOFTWARE(PERF_COUNT_SW_TASK_CLOCK) };
	int error;

	check(getuid() != 0, "the probe is an ordinary user");
	check_text("/proc/sys/kernel/perf_event_paranoid", level == 2 ? "2" : "3");
	error = try_event(&req, -1);
	check(error == -EACCES, "with the kernel included: EACCES (%d)", -error);
	req.exclude_kernel = true;
	error = try_event(&req, -1);
	check(error == (level == 2 ? 0 : -EACCES), "without the kernel: %s (%d)",
	      level == 2 ? "ok" : "EACCES", -error);
}

static bool tell(const char *story)
{
	if (strcmp(story, "level2") == 0 || strcmp(story, "level3") == 0) {
		check_level(story[5] - '0');
		return true;
	}
#if defined(__aarch64__)
	if (strcmp(story, "userread") == 0) {
		check_userread();
		return true;
	}
#endif
	if (strcmp(story, "arm64") == 0)
		check_arm64();
	else if (strcmp(story, "alpha") == 0)
		check_alpha();
	else if (strcmp(story, "s390x") == 0)
		check_s390x();
	else if (strcmp(story, "amd64") == 0)
		check_amd64();
	else if (strcmp(story, "pretend") == 0)
		check_pretend();
	else if (strcmp(story, "nopmu") == 0)
		check_no_pmu();
	else
		return false;
	check_core();
	return true;
}

int main(int argc, char **argv)
{
	if (argc != 2 || !tell(argv[1])) {
		printf("Bail out! probe: unknown story\n");
		return 2;
	}
	printf("1..%d\n", n_cases);
	return n_failed > 0;
}
