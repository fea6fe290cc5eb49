/* SPDX-License-Identifier: MIT */
/* The device model behind the system-call seam: a system on which nothing exists but /dev/pfcntr. */
#include <errno.h>
#include <perfmon/pfcntr.h>
#include <string.h>
#include "machine/machine.h"
#include "model.h"

/* The program is in four parts of its text for a half, a quarter and an eighth each of the time. */
static uint64_t somewhere(struct model_sys *s)
{
	uint64_t chance = ++s->steps * UINT64_C(0x9e3779b97f4a7c15), part = (s->text_end - s->text) / 4;
	unsigned which = (unsigned)__builtin_ctzll(chance >> 60 | 8);

	return s->text + which * part + (chance >> 20) % (part / 4) * 4;
}

/* In steps that are short beside the time between interrupts, unless it is very long. */
static void run(struct model_sys *s, uint64_t ns)
{
	enum { STEP = 10000,
	       MOST = 4096 };
	uint64_t step = s->text < s->text_end ? ns / MOST + STEP : ns, part;

	for (; ns; ns -= part) {
		part = ns < step ? ns : step;
		pfmi_model_run(s->m, part, s->pid, s->cpu, s->text < s->text_end ? somewhere(s) : 0);
	}
}

static struct model_sys *state(const struct sys *sys)
{
	struct model_sys *s = sys->arg;

	if (s->clock) {
		uint64_t now = s->clock(s->clock_arg);

		run(s, now - s->then);
		s->then = now;
	}
	return s;
}

static int model_open(const struct sys *sys, const char *path, int flags)
{
	struct model_sys *s = state(sys);

	return strcmp(path, PFCNTR_DEVICE) == 0 ? pfmi_model_open(s->m, s->pid, (uint64_t)(unsigned)flags) : -ENOENT;
}

static long model_read(const struct sys *sys, int fd, void *buf, size_t n)
{
	return pfmi_model_read(state(sys)->m, fd, (uint64_t)(uintptr_t)buf, n, &pfmi_model_own_memory);
}

static int model_ioctl(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	struct model_sys *s = state(sys);

	return pfmi_model_ioctl(s->m, fd, s->pid, (uint32_t)request, (uint64_t)(uintptr_t)arg, &pfmi_model_own_memory);
}

static int model_close(const struct sys *sys, int fd)
{
	return pfmi_model_close(state(sys)->m, fd);
}

static int no_mmap(const struct sys *sys, int fd, size_t len, int writable, void **out)
{
	(void)sys, (void)fd, (void)len, (void)writable, (void)out;
	return -ENODEV;
}

static int no_munmap(const struct sys *sys, void *at, size_t len)
{
	(void)sys, (void)at, (void)len;
	return -EINVAL;
}

static int no_perf(const struct sys *sys, struct perf_event_attr *attr, int pid, int cpu, int group, unsigned long flags)
{
	(void)sys, (void)attr, (void)pid, (void)cpu, (void)group, (void)flags;
	return -ENOSYS;
}

static int no_list(const struct sys *sys, const char *path, int (*each)(void *arg, const char *name), void *arg)
{
	(void)sys, (void)path, (void)each, (void)arg;
	return -ENOENT;
}

static bool no_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	(void)sys, (void)leaf, (void)subleaf, (void)regs;
	return false;
}

void pfmi_model_sys(struct sys *out, struct model_sys *s)
{
	if (s->clock)
		s->then = s->clock(s->clock_arg);
	*out = (struct sys){ .open = model_open,
		             .read = model_read,
		             .ioctl = model_ioctl,
		             .close = model_close,
		             .mmap = no_mmap,
		             .munmap = no_munmap,
		             .perf_event_open = no_perf,
		             .list = no_list,
		             .cpuid = no_cpuid,
		             .arg = s };
}
