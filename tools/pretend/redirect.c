/* SPDX-License-Identifier: MIT */
#include "pretend/redirect.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "pretend/supervisor.h"

enum { SYSCALL_STOP = SIGTRAP | 0x80 };

/* ---- registers ------------------------------------------------------------------------------- */

#if defined(__x86_64__)
typedef struct user_regs_struct client_regs;

/* The instruction "syscall" has two bytes; it is executed again. */
static void set_call(client_regs *r, long number, const uint64_t args[6])
{
	r->rip -= 2;
	r->rax = (uint64_t)number;
	r->orig_rax = UINT64_MAX;
	r->rdi = args[0];
	r->rsi = args[1];
	r->rdx = args[2];
	r->r10 = args[3];
	r->r8 = args[4];
	r->r9 = args[5];
}

static int64_t get_result(const client_regs *r)
{
	return (int64_t)r->rax;
}

static void set_result(client_regs *r, int64_t result)
{
	r->rax = (uint64_t)result;
	r->orig_rax = UINT64_MAX;
}

bool can_redirect(void)
{
	return true;
}
#elif defined(__aarch64__)
typedef struct user_regs_struct client_regs;

static void set_call(client_regs *r, long number, const uint64_t args[6])
{
	r->pc -= 4; /* "svc 0" */
	r->regs[8] = (uint64_t)number;
	memcpy(r->regs, args, 6 * sizeof(*args));
}

static int64_t get_result(const client_regs *r)
{
	return (int64_t)r->regs[0];
}

static void set_result(client_regs *r, int64_t result)
{
	r->regs[0] = (uint64_t)result;
}

bool can_redirect(void)
{
	return true;
}
#else
/* Never read or written: not every architecture has a structure of this name. */
typedef struct client_regs {
	char none;
} client_regs;

static void set_call(client_regs *r, long number, const uint64_t args[6])
{
	(void)r, (void)number, (void)args;
}

static int64_t get_result(const client_regs *r)
{
	(void)r;
	return -ENOSYS;
}

static void set_result(client_regs *r, int64_t result)
{
	(void)r, (void)result;
}

bool can_redirect(void)
{
	return false;
}
#endif

static bool access_regs(int tid, client_regs *r, bool writes)
{
	struct iovec v = { r, sizeof(*r) };

	return ptrace(writes ? PTRACE_SETREGSET : PTRACE_GETREGSET, tid, NT_PRSTATUS, &v) == 0;
}

/* ---- stops ----------------------------------------------------------------------------------- */

/* Waits for the next stop. False if the thread has ended. */
static bool wait_for_stop(int tid, int *status)
{
	while (waitpid(tid, status, __WALL) < 0)
		if (errno != EINTR)
			return false;
	return WIFSTOPPED(*status);
}

int stop_client(const struct call *call, struct stopped_client *c)
{
	int status;

	*c = (struct stopped_client){ .tid = (int)call_thread(call) };
	if (ptrace(PTRACE_SEIZE, c->tid, 0, PTRACE_O_TRACESYSGOOD))
		return -errno;
	if (ptrace(PTRACE_INTERRUPT, c->tid, 0, 0)) {
		int err = errno;

		ptrace(PTRACE_DETACH, c->tid, 0, 0);
		return -err;
	}
	answer(call, -EAGAIN);
	while (wait_for_stop(c->tid, &status)) {
		if (status >> 16 == PTRACE_EVENT_STOP)
			return 0;
		c->signal = WSTOPSIG(status);
		if (ptrace(PTRACE_CONT, c->tid, 0, 0))
			break;
	}
	return -ESRCH;
}

/* Continues to the next beginning or end of a system call. */
static bool step_to_call(struct stopped_client *c)
{
	int status;

	do {
		if (ptrace(PTRACE_SYSCALL, c->tid, 0, 0) || !wait_for_stop(c->tid, &status))
			return false;
		if (WSTOPSIG(status) != SYSCALL_STOP && status >> 16 != PTRACE_EVENT_STOP)
			c->signal = WSTOPSIG(status);
	} while (WSTOPSIG(status) != SYSCALL_STOP);
	return true;
}

int64_t call_in_client(struct stopped_client *c, long number, const uint64_t args[6])
{
	client_regs before = { 0 }, changed;
	int64_t result = -ESRCH;

	if (!access_regs(c->tid, &before, false))
		return -errno;
	changed = before;
	set_call(&changed, number, args);
	if (!access_regs(c->tid, &changed, true))
		return -errno;
	if (step_to_call(c) && step_to_call(c) && access_regs(c->tid, &changed, false)) {
		result = get_result(&changed);
		if (!access_regs(c->tid, &before, true))
			result = -errno;
	}
	return result;
}

void release_client(struct stopped_client *c, int64_t result)
{
	union {
		intptr_t number;
		void *pointer;
	} signal = { .number = c->signal };
	client_regs r = { 0 };

	if (access_regs(c->tid, &r, false)) {
		set_result(&r, result);
		(void)access_regs(c->tid, &r, true);
	}
	ptrace(PTRACE_DETACH, c->tid, 0, signal.pointer);
}
