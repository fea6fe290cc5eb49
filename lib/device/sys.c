/* SPDX-License-Identifier: MIT */
/* The device model behind the system-call seam: a system on which nothing exists but /dev/pfcntr. */
#include <errno.h>
#include <perfmon/pfcntr.h>
#include <string.h>
#include "machine/machine.h"
#include "model.h"

/* The program is in four parts of its text for a half, a quarter and an eighth each of the time. */
static uint64_t choose_program_counter(struct alpha_device_sys *s)
{
	uint64_t chance = ++s->n_steps * UINT64_C(0x9e3779b97f4a7c15), part = (s->text_end - s->text_start) / 4;
	unsigned which = (unsigned)__builtin_ctzll(chance >> 60 | 8);

	return s->text_start + which * part + (chance >> 20) % (part / 4) * 4;
}

/* In steps that are short beside the time between interrupts, unless it is very long. */
static void run_until(struct alpha_device_sys *s, uint64_t ns)
{
	enum { STEP = 10000,
	       MOST = 4096 };
	uint64_t step = s->text_start < s->text_end ? ns / MOST + STEP : ns, part;

	for (; ns; ns -= part) {
		part = ns < step ? ns : step;
		alpha_device_run(s->device, part, s->pid, s->cpu, s->text_start < s->text_end ? choose_program_counter(s) : 0);
	}
}

static struct alpha_device_sys *advance_device(const struct sys *sys)
{
	struct alpha_device_sys *s = sys->arg;

	if (s->read_clock) {
		uint64_t now = s->read_clock(s->clock_arg);

		run_until(s, now - s->last_time);
		s->last_time = now;
	}
	return s;
}

static int device_open(const struct sys *sys, const char *path, int flags)
{
	struct alpha_device_sys *s = advance_device(sys);

	return strcmp(path, PFCNTR_DEVICE) == 0 ? alpha_device_open_session(s->device, s->pid, (uint64_t)(unsigned)flags) : -ENOENT;
}

static long device_read(const struct sys *sys, int fd, void *buf, size_t n)
{
	return alpha_device_read_samples(advance_device(sys)->device, fd, (uint64_t)(uintptr_t)buf, n, &alpha_device_own_memory);
}

static int device_ioctl(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	struct alpha_device_sys *s = advance_device(sys);

	return alpha_device_do_ioctl(s->device, fd, s->pid, (uint32_t)request, (uint64_t)(uintptr_t)arg, &alpha_device_own_memory);
}

static int device_close(const struct sys *sys, int fd)
{
	return alpha_device_close_session(advance_device(sys)->device, fd);
}

static int refuse_mmap(const struct sys *sys, int fd, size_t len, int writable, void **out)
{
	(void)sys, (void)fd, (void)len, (void)writable, (void)out;
	return -ENODEV;
}

static int refuse_munmap(const struct sys *sys, void *at, size_t len)
{
	(void)sys, (void)at, (void)len;
	return -EINVAL;
}

static int refuse_perf_event_open(const struct sys *sys, struct perf_event_attr *attr, int pid, int cpu, int group, unsigned long flags)
{
	(void)sys, (void)attr, (void)pid, (void)cpu, (void)group, (void)flags;
	return -ENOSYS;
}

static int refuse_list_folder(const struct sys *sys, const char *path, int (*each)(void *arg, const char *name), void *arg)
{
	(void)sys, (void)path, (void)each, (void)arg;
	return -ENOENT;
}

static bool refuse_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	(void)sys, (void)leaf, (void)subleaf, (void)regs;
	return false;
}

void alpha_device_init_sys(struct sys *out, struct alpha_device_sys *s)
{
	if (s->read_clock)
		s->last_time = s->read_clock(s->clock_arg);
	*out = (struct sys){ .open = device_open,
		             .read = device_read,
		             .ioctl = device_ioctl,
		             .close = device_close,
		             .mmap = refuse_mmap,
		             .munmap = refuse_munmap,
		             .perf_event_open = refuse_perf_event_open,
		             .list_folder = refuse_list_folder,
		             .read_cpuid = refuse_cpuid,
		             .arg = s };
}
