/* SPDX-License-Identifier: MIT */
/* The device model as the device of a session: its system calls, and the time that passes between
 * them. */
#include "alpha/emulator.h"
#include <errno.h>
#include <perfmon/pfcntr.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EMULATED_PID = 1 };

struct alpha_emulator {
	struct alpha_device_sys sys;
	pfm_alpha_device_t device;
};

/* Chooses a program counter. The program is in one part of its text for half of the time, in
 * another for a quarter, and in two others for an eighth each. */
static uint64_t choose_program_counter(struct alpha_device_sys *s)
{
	uint64_t chance = ++s->n_steps * UINT64_C(0x9e3779b97f4a7c15),
		 part = (s->text_end - s->text_start) / 4;
	unsigned which = (unsigned)__builtin_ctzll(chance >> 60 | 8);

	return s->text_start + which * part + (chance >> 20) % (part / 4) * 4;
}

/* Runs the device for @ns nanoseconds, in steps that are short compared to the time between
 * interrupts, unless @ns is very long. */
static void run_until(struct alpha_device_sys *s, uint64_t ns)
{
	enum { STEP = 10000, MOST = 4096 };
	uint64_t step = s->text_start < s->text_end ? ns / MOST + STEP : ns, part;

	for (; ns; ns -= part) {
		part = ns < step ? ns : step;
		alpha_device_run(s->device, part, s->pid, s->cpu,
		                 s->text_start < s->text_end ? choose_program_counter(s) : 0);
	}
}

void alpha_device_start_clock(struct alpha_device_sys *s)
{
	if (s->read_clock)
		s->last_time = s->read_clock(s->clock_arg);
}

static struct alpha_device_sys *advance_device(void *arg)
{
	struct alpha_device_sys *s = arg;

	if (s->read_clock) {
		uint64_t now = s->read_clock(s->clock_arg);

		run_until(s, now - s->last_time);
		s->last_time = now;
	}
	return s;
}

int alpha_device_sys_open(void *arg, const char *path, int flags)
{
	struct alpha_device_sys *s = advance_device(arg);

	if (strcmp(path, PFCNTR_DEVICE) != 0)
		return -ENOENT;
	return alpha_device_open_session(s->device, s->pid, (uint64_t)(unsigned)flags);
}

long alpha_device_sys_read(void *arg, int fd, void *buf, size_t n)
{
	struct alpha_device_sys *s = advance_device(arg);

	return alpha_device_read_samples(s->device, fd, (uint64_t)(uintptr_t)buf, n,
	                                 &alpha_device_own_memory);
}

int alpha_device_sys_ioctl(void *arg, int fd, unsigned long request, void *argument)
{
	struct alpha_device_sys *s = advance_device(arg);

	return alpha_device_do_ioctl(s->device, fd, s->pid, (uint32_t)request,
	                             (uint64_t)(uintptr_t)argument, &alpha_device_own_memory);
}

int alpha_device_sys_close(void *arg, int fd)
{
	return alpha_device_close_session(advance_device(arg)->device, fd);
}

/* ---- an emulator that runs in real time ------------------------------------------------------ */

static uint64_t read_monotonic_clock(void *arg)
{
	struct timespec t;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void init_emulator(struct alpha_emulator *e, struct alpha_device *device, unsigned cpu)
{
	const struct alpha_device_options *o = alpha_device_get_options(device);

	e->sys =
		(struct alpha_device_sys){ .device = device,
		                           .pid = EMULATED_PID,
		                           .cpu = cpu,
		                           .read_clock = read_monotonic_clock,
		                           .text_start = ALPHA_DEVICE_TEXT,
		                           .text_end = ALPHA_DEVICE_TEXT + ALPHA_DEVICE_TEXT_SIZE };
	alpha_device_start_clock(&e->sys);
	e->device = (pfm_alpha_device_t){ .size = sizeof e->device,
		                          .pmu = PFMLIB_ALPHA_EV4_PMU + (int)o->family,
		                          .n_cpus = o->n_cpus,
		                          .text_start = e->sys.text_start,
		                          .text_end = e->sys.text_end,
		                          .arg = &e->sys,
		                          .open = alpha_device_sys_open,
		                          .read = alpha_device_sys_read,
		                          .ioctl = alpha_device_sys_ioctl,
		                          .close = alpha_device_sys_close };
}

int alpha_emulator_open(const char *family, unsigned n_cpus, int cpu, unsigned uid,
                        struct alpha_emulator **out)
{
	struct alpha_device_options options;
	struct alpha_device *device;
	struct alpha_emulator *e;
	int number = alpha_device_find_family(family), err;

	if (number < 0)
		return -ENODEV;
	alpha_device_set_defaults(&options, (enum alpha_device_family)number);
	options.n_cpus = n_cpus ? n_cpus : options.n_cpus;
	if (options.n_cpus > ALPHA_DEVICE_MAX_CPUS)
		return -EINVAL;
	device = alpha_device_new(&options);
	e = calloc(1, sizeof *e);
	err = device && e ? alpha_device_set_process(device, EMULATED_PID, uid, cpu) : -ENOMEM;
	if (err) {
		alpha_device_free(device);
		free(e);
		return err;
	}
	init_emulator(e, device, (unsigned)cpu);
	*out = e;
	return 0;
}

void alpha_emulator_close(struct alpha_emulator *e)
{
	if (e)
		alpha_device_free(e->sys.device);
	free(e);
}

const pfm_alpha_device_t *alpha_emulator_get_device(const struct alpha_emulator *e)
{
	return &e->device;
}
