/* SPDX-License-Identifier: MIT */
/* Instructions of begin and end beside the reading of counters, counted by executing them one by
 * one under ptrace(2). The counters are pages that the test wrote; where the processor refuses
 * rdpmc, the tracer executes it. Time plays no part: every run counts the same.
 *
 * A bare reading is what linux/perf_event.h prescribes, for each event: the sequence number, the
 * index, the counter with its sign, the offset; once for each group, the times. */
#include "made_regions.h"
#include "region/reading.h"
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) &&              \
	!defined(__SANITIZE_THREAD__)
#define COUNTS_INSTRUCTIONS 1
#else
#define COUNTS_INSTRUCTIONS 0
#endif

enum { MOST_EVENTS = 4, LIMIT = 250, LIMIT_EVENT = 40 };

/* Work of the child while its instructions are counted. */
enum phase { PHASE_NONE, PHASE_EMPTY, PHASE_READ, PHASE_PAIR, PHASE_NESTED, PHASES };

struct shared {
	volatile enum phase phase;
};

struct counts {
	uint64_t n[PHASES];
	bool traced;
};

#if COUNTS_INSTRUCTIONS

static struct {
	struct region_event events[MOST_EVENTS];
	unsigned numbers[MOST_EVENTS];
	struct perf_event_mmap_page pages[MOST_EVENTS];
	void *page_list[MOST_EVENTS];
	int fds[MOST_EVENTS];
	uint64_t now[GROUP_VALUES + MOST_EVENTS];
} many;

/* One thread with a group of @n events whose pages user space reads. */
static void make_pages(struct made_regions *m, unsigned n)
{
	static char name[] = "made";

	make_regions(m);
	for (unsigned i = 0; i < n; i++) {
		make_event(&many.events[i], name);
		many.numbers[i] = i;
		many.pages[i].index = i + 1;
		many.pages[i].cap_user_rdpmc = many.pages[i].cap_user_time =
			many.pages[i].cap_user_time_zero = 1;
		many.pages[i].pmc_width = 48;
		many.pages[i].time_mult = 1u << 20;
		many.pages[i].time_shift = 21;
		many.page_list[i] = &many.pages[i];
		many.fds[i] = -1;
	}
	m->group = (struct group){ .n = n, .events = many.numbers };
	pfmi_regions.layout.events = many.events;
	pfmi_regions.layout.n_events = n;
	pfmi_layout_assign_places(&pfmi_regions.layout);
	m->thread.pages = many.page_list;
	m->thread.fds = many.fds;
	m->thread.now = many.now;
	m->thread.user_group = &m->group;
	m->thread.stride = sizeof(struct frame) + 2 * pfmi_regions.layout.words * sizeof(uint64_t);
}

static __attribute__((noinline)) uint64_t read_bare(const struct thread *t, uint64_t *out)
{
	uint64_t clock = 0;

	read_user_group(t, t->user_group, out, &clock);
	return clock;
}

static void run_phases(struct shared *shared, unsigned n)
{
	struct made_regions m;
	uint64_t out[GROUP_VALUES + MOST_EVENTS];

	make_pages(&m, n);
	for (unsigned i = 0; i < 3; i++) { /* the last one counts: all has been found by then */
		shared->phase = PHASE_EMPTY;
		shared->phase = PHASE_READ;
		read_bare(&m.thread, out);
		shared->phase = PHASE_PAIR;
		pfm_begin_region(PFM_REGION("instructions"));
		pfm_end_region(PFM_REGION("instructions"));
		shared->phase = PHASE_NONE;
		pfm_begin_region(PFM_REGION("around"));
		shared->phase = PHASE_NESTED;
		pfm_begin_region(PFM_REGION("inside"));
		pfm_end_region(PFM_REGION("inside"));
		shared->phase = PHASE_NONE;
		pfm_end_region(PFM_REGION("around"));
	}
}

static bool is_rdpmc(pid_t pid, uint64_t at)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, (void *)(uintptr_t)at, NULL);
	return !errno && (word & 0xffff) == 0x330f;
}

/* Executes rdpmc for the child: the counter's number times 1000. */
static bool execute_rdpmc(pid_t pid)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) || !is_rdpmc(pid, regs.rip))
		return false;
	regs.rax = (regs.rcx + 1) * 1000;
	regs.rdx = 0;
	regs.rip += 2;
	return ptrace(PTRACE_SETREGS, pid, NULL, &regs) == 0;
}

/* Runs the child to its end; counts the last execution of each phase. */
static void count_phases(pid_t pid, const struct shared *shared, struct counts *counts)
{
	enum phase before = PHASE_NONE, phase;
	int status;

	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == SIGSEGV && !execute_rdpmc(pid))
			break;
		if (WSTOPSIG(status) != SIGSEGV && WSTOPSIG(status) != SIGTRAP)
			break;
		phase = shared->phase;
		if (phase != before)
			counts->n[phase] = 0;
		counts->n[phase]++;
		before = phase;
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
			break;
	}
	counts->traced = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (!WIFEXITED(status) && !WIFSIGNALED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
}

static struct counts count_instructions(unsigned n)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct counts counts = { .traced = false };
	int status;
	pid_t pid;

	assert_true(shared != MAP_FAILED);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		raise(SIGSTOP);
		run_phases(shared, n);
		_exit(0);
	}
	assert_true(pid > 0);
	if (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) &&
	    ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0)
		count_phases(pid, shared, &counts);
	munmap(shared, sizeof(*shared));
	for (unsigned i = PHASE_READ; i < PHASES; i++)
		counts.n[i] -= counts.n[PHASE_EMPTY];
	return counts;
}

#else

static struct counts count_instructions(unsigned n)
{
	(void)n;
	return (struct counts){ .traced = false };
}

#endif

static void instructions_beside_readings(void **state)
{
	static const unsigned sizes[] = { 1, 2, MOST_EVENTS };

	(void)state;
	for (unsigned i = 0; i < COUNT(sizes); i++) {
		struct counts c = count_instructions(sizes[i]);
		uint64_t limit = LIMIT + LIMIT_EVENT * (sizes[i] - 1);

		if (!c.traced)
			skip(); /* no ptrace(2), another processor, or not optimised */
		print_message("# %u events: a reading %u instructions; a visit %u, %u of them "
		              "beside its two readings; inside another %u\n",
		              sizes[i], (unsigned)c.n[PHASE_READ], (unsigned)c.n[PHASE_PAIR],
		              (unsigned)(c.n[PHASE_PAIR] - 2 * c.n[PHASE_READ]),
		              (unsigned)(c.n[PHASE_NESTED] - 2 * c.n[PHASE_READ]));
		assert_true(c.n[PHASE_PAIR] > 2 * c.n[PHASE_READ]);
		assert_true(c.n[PHASE_PAIR] - 2 * c.n[PHASE_READ] <= limit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(instructions_beside_readings) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
