/* SPDX-License-Identifier: MIT */
/*
 * Sessions on a big-endian kernel that has no PMU, in the s390x guest: that the single bits of
 * struct perf_event_attr and the words of every read format are where the kernel looks for them.
 * Each switch of a session is seen to do what it says.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "session.h"

#define PAGE  4096
#define TRACE "/sys/kernel/tracing/uprobe_events"

/* Touch @n fresh pages, which causes as many page faults. */
static void touch(size_t n)
{
	char *fresh =
		mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* One fault brings one page. */
	madvise(fresh, n * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		*(volatile char *)&fresh[i * PAGE] = 1;
	munmap(fresh, n * PAGE);
}

/* @a calls of getppid and @b of getpgid. */
static void call(unsigned a, unsigned b)
{
	for (unsigned i = 0; i < a; i++)
		syscall(SYS_getppid);
	for (unsigned i = 0; i < b; i++)
		syscall(SYS_getpgid, 0);
}

/* A child that does the same, and its end. */
static void call_in_child(unsigned a, unsigned b)
{
	pid_t child = fork();

	if (child == 0) {
		call(a, b);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static bool start(void)
{
	return pfm_start_session(session) == 0;
}
static bool stop(void)
{
	return pfm_stop_session(session) == 0 && read_counts();
}

static bool counted(unsigned i, uint64_t value)
{
	if (!is(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) || counts[i].value != value)
		tell();
	return is(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) && counts[i].value == value &&
	       counts[i].running == counts[i].enabled;
}

#define A "syscalls:sys_enter_getppid"
#define B "syscalls:sys_enter_getpgid"
#define C "syscalls:sys_exit_getppid"
#define D "syscalls:sys_exit_getpgid"
/* Calls that this program does not make. */
#define NONE "syscalls:sys_enter_getsid,syscalls:sys_exit_getsid,syscalls:sys_enter_getpriority"

/* ---- what is read ---------------------------------------------------------------------------- */

static void check_formats(void)
{
	static const char *const apart[] = { A, B };
	uint64_t enabled;

	check(open_text(A) && start() && (call(7, 3), stop()) && counted(0, 7),
	      "one event: its value and its times");
	enabled = counts[0].enabled;
	check(enabled > 0 && enabled < UINT64_C(10000000000), "in %llu ns",
	      (unsigned long long)enabled);
	check(open_text("{" A "," B "," C "}") && start() && (call(7, 3), stop()) &&
	              counted(0, 7) && counted(1, 3) && counted(2, 7),
	      "a group of three: each value in its place");
	check(counts[0].enabled == counts[1].enabled && counts[1].enabled == counts[2].enabled,
	      "with one time for all");
	check(open_texts(apart, 2) == 0 && start() && (call(2, 5), stop()) && counted(0, 2) &&
	              counted(1, 5),
	      "two that are no group");
	check(open_text("{" A "," B "," C "," D "," NONE "}") && start() && (call(1, 2), stop()),
	      "a group of seven");
	for (unsigned i = 0; i < 7; i++)
		check(counted(i, i < 4 ? 1 + i % 2 : 0), "member %u", i + 1);
}

static void check_states(void)
{
	check(open_text(A) && (call(5, 0), read_counts()) &&
	              is(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME) && counts[0].value == 0 &&
	              says(0, "counting was never started", "start the session before reading it"),
	      "nothing is counted before the start");
	check(start() && (call(2, 0), stop()) && counted(0, 2), "nor has it been");
	call(9, 0);
	check(read_counts() && counted(0, 2), "nothing is counted after the stop");
	check(start() && (call(4, 0), stop()) && counted(0, 6), "a second start goes on");
	check(pfm_reset_session(session) == 0 && start() && (call(1, 0), stop()) && counted(0, 1),
	      "a reset begins again");
}

/* ---- switches -------------------------------------------------------------------------------- */

static void check_levels(void)
{
	check(open_text("{page-faults,page-faults:u,page-faults:k}") && start() &&
	              (touch(100), stop()),
	      "levels are asked for");
	tell();
	check(counts[1].value >= 100 && counts[1].value < 120,
	      "user code faults on 100 pages: %llu", (unsigned long long)counts[1].value);
	check(counts[2].value < 20 && counts[0].value == counts[1].value + counts[2].value,
	      "the kernel on the rest");
	options.plm = PFM_PLM0;
	check(open_text("page-faults") && start() && (touch(100), stop()) && counts[0].value < 20,
	      "levels of the session hold as well");
	options.plm = 0;
}

static void check_inherit(void)
{
	check(open_text(A) && start() && (call(1, 0), call_in_child(10, 0), stop()) &&
	              counted(0, 1),
	      "children are not counted");
	options.flags = PFM_SESSION_INHERIT;
	check(open_text(A) && start() && (call(1, 0), call_in_child(10, 0), stop()) &&
	              counted(0, 11),
	      "unless inherit says so");
	check(open_text("{" A "," B "}") && start() &&
	              (call(1, 2), call_in_child(10, 20), stop()) && counted(0, 11) &&
	              counted(1, 22),
	      "in groups too");
	options.flags = 0;
}

static void check_other_process(void)
{
	int go[2], done[2];
	char byte = 0;
	pid_t child;

	if (pipe(go) != 0 || pipe(done) != 0)
		return;
	child = fork();
	if (child == 0) {
		if (read(go[0], &byte, 1) == 1)
			call(13, 0);
		_exit(write(done[1], "", 1) == 1 ? 0 : 1);
	}
	options.pid = child;
	check(open_text(A) && start() && (call(50, 0), write(go[1], "", 1) == 1) &&
	              read(done[0], &byte, 1) == 1 && stop() && counted(0, 13),
	      "another process is counted and nothing of this one");
	waitpid(child, NULL, 0);
	check(open_text(A) && read_counts() && is(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_PROCESS),
	      "when it is gone nothing can be");
	options.pid = 0;
}

static void check_exec(void)
{
	int go[2], status = 0;
	char byte = 0;
	pid_t child;

	if (pipe(go) != 0)
		return;
	child = fork();
	if (child == 0) {
		bool ok = read(go[0], &byte, 1) == 1;

		call(100, 0); /* not yet */
		if (ok)
			execl("/proc/self/exe", "again", "call", (char *)NULL);
		_exit(1);
	}
	options.pid = child;
	options.flags = PFM_SESSION_ENABLE_ON_EXEC;
	check(open_text("{" A "," B "}") && write(go[1], "", 1) == 1 &&
	              waitpid(child, &status, 0) == child && status == 0,
	      "a session waits for a program");
	check(read_counts() && counted(0, 17) && counted(1, 4),
	      "and counts from its first instruction");
	options.pid = 0;
	options.flags = 0;
}

static void check_pinned(void)
{
	check(open_text(A ":D") && start() && (call(6, 0), stop()) && counted(0, 6),
	      "pinned events are counted");
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	check(open_text(A) && start() && (call(3, 0), call_in_child(4, 0), stop()) &&
	              counts[0].value >= 7 && counts[0].value < 100,
	      "every process of the system together");
	options.flags = 0;
}

/* ---- other kinds of events ------------------------------------------------------------------- */

__attribute__((noinline)) static void probed(void)
{
	__asm__ volatile("" : : : "memory");
}

/* Offset of @code in the file of this program. */
static unsigned long file_offset(const void *code)
{
	const ElfW(Phdr) *segment = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	unsigned long at = (unsigned long)code;

	for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++)
		if (segment[i].p_type == PT_LOAD && at - segment[i].p_vaddr < segment[i].p_filesz)
			return at - segment[i].p_vaddr + segment[i].p_offset;
	return 0;
}

static void check_uprobe(void)
{
	FILE *f = fopen(TRACE, "w");

	if (f == NULL ||
	    fprintf(f, "p:perfmon/probed /big_endian_session:0x%lx\n",
	            file_offset((const void *)(uintptr_t)&probed)) < 0 ||
	    fclose(f) != 0) {
		check(false, "a probe is placed in this program");
		return;
	}
	check(open_text("perfmon:probed") && start(), "a probe in this program opens");
	for (int i = 0; i < 21; i++)
		probed();
	check(stop() && counted(0, 21), "21 calls hit it");
}

static void check_missing(void)
{
	static const char *const texts[] = { "cycles", "instructions:u", "L1-dcache-load-misses" };

	check(open_texts(texts, N(texts)) == 0 && start() && stop(),
	      "hardware events can be asked for");
	for (unsigned i = 0; i < N(texts); i++)
		check(is(i, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU) && counts[i].value == 0 &&
		              *about(i).remedy,
		      "%s: %s", texts[i], about(i).why);
	check(!open_text("mem:0x10000:w"), "nor has the kernel breakpoints");
	check(open_text("{task-clock,cycles,page-faults}") && start() && (touch(30), stop()) &&
	              is(1, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_NO_PMU) &&
	              is(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) && counts[2].value >= 30 &&
	              counts[2].value < 60,
	      "the others of its group are counted, each in its place");
}

int main(int argc, char **argv)
{
	const uint64_t one = 1;

	if (argc > 1 && strcmp(argv[1], "call") == 0) {
		call(17, 4);
		return 0;
	}
	check(*(const unsigned char *)&one == 0, "this machine is big-endian");
	check_formats();
	check_states();
	check_levels();
	check_inherit();
	check_other_process();
	check_exec();
	check_pinned();
	check_uprobe();
	check_missing();
	return finish();
}
