/* SPDX-License-Identifier: MIT */
/* The device model as the device of a session: pfm_alpha_session_t.emulator. */
#ifndef PERFMON_ALPHA_EMULATOR_H
#define PERFMON_ALPHA_EMULATOR_H

#include <perfmon/alpha.h>
#include "alpha/model.h"

/* Text of the emulated program. */
#define ALPHA_DEVICE_TEXT      UINT64_C(0x120000000)
#define ALPHA_DEVICE_TEXT_SIZE UINT64_C(0x4000)

/* A process that calls the device, and the time that passes for it. */
struct alpha_device_sys {
	struct alpha_device *device;
	int pid;
	unsigned cpu;
	uint64_t (*read_clock)(void *arg); /* nanoseconds; NULL: no time passes */
	void *clock_arg;
	uint64_t last_time;
	uint64_t text_start, text_end; /* address range of the process's text; both 0: samples have
	                                  program counter 0 */
	uint64_t n_steps;              /* program counters drawn so far */
};

/* Starts the clock of @s. Call it before the first operation. */
void alpha_device_start_clock(struct alpha_device_sys *s);
/* The system calls on /dev/pfcntr; their arg is a struct alpha_device_sys. Before each call the
 * device runs for the time since the previous one. Other paths return -ENOENT. */
int alpha_device_sys_open(void *arg, const char *path, int flags);
long alpha_device_sys_read(void *arg, int fd, void *buf, size_t n);
int alpha_device_sys_ioctl(void *arg, int fd, unsigned long request, void *argument);
int alpha_device_sys_close(void *arg, int fd);

struct alpha_emulator;

/* Makes an emulator of the device of processor @family ("ev4" ... "ev67") with @n_cpus processors,
 * 0 for the default, for one process of user @uid on processor @cpu; it runs in real time. Writes
 * it to *@out. Returns 0, -ENODEV for an unknown family, -EINVAL for a number out of range, or
 * -ENOMEM. */
int alpha_emulator_open(const char *family, unsigned n_cpus, int cpu, unsigned uid,
                        struct alpha_emulator **out);
/* Frees @e, which may be NULL, after the sessions that use it. */
void alpha_emulator_close(struct alpha_emulator *e);
/* The device for pfm_alpha_session_t.emulator; owned by @e. */
const pfm_alpha_device_t *alpha_emulator_get_device(const struct alpha_emulator *e);

#endif
