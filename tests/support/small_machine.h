/* SPDX-License-Identifier: MIT */
/* A machine made of a few files and CPUID leaves. */
#ifndef PERFMON_TESTS_SMALL_MACHINE_H
#define PERFMON_TESTS_SMALL_MACHINE_H

#include <errno.h>
#include "machine/machine.h"

struct machine {
	const char *paths[8], *texts[8];
	struct {
		uint32_t leaf, regs[4];
	} leaves[5];
	unsigned n_leaves, asked;
};

static inline int machine_open(const struct sys *sys, const char *path, int flags)
{
	const struct machine *m = sys->arg;

	(void)flags;
	for (int i = 0; i < 8 && m->paths[i]; i++)
		if (strcmp(m->paths[i], path) == 0)
			return i * 2;
	return -ENOENT;
}

/* Descriptors are even until they have been read. */
static size_t done[16];

static inline long machine_read(const struct sys *sys, int fd, void *buf, size_t n)
{
	const struct machine *m = sys->arg;
	const char *text = m->texts[fd / 2] + done[fd];
	size_t len = strlen(text);

	if (len > n)
		len = n;
	memcpy(buf, text, len);
	done[fd] += len;
	return (long)len;
}

static inline int machine_close(const struct sys *sys, int fd)
{
	(void)sys;
	done[fd] = 0;
	return 0;
}

static inline bool machine_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf,
                                 uint32_t regs[4])
{
	struct machine *m = sys->arg;

	(void)subleaf;
	m->asked++;
	for (unsigned i = 0; i < m->n_leaves; i++)
		if (m->leaves[i].leaf == leaf) {
			memcpy(regs, m->leaves[i].regs, sizeof(m->leaves[i].regs));
			return true;
		}
	return false;
}

static inline struct sys sys_of(struct machine *m)
{
	return (struct sys){ .open = machine_open,
		             .read = machine_read,
		             .close = machine_close,
		             .read_cpuid = machine_cpuid,
		             .arg = m };
}

static inline void describe(struct machine *m, struct host *h)
{
	struct sys sys = sys_of(m);

	pfmi_machine_identify_host(&sys, NULL, h);
	pfmi_machine_read_core_types(&sys, NULL, h);
}

#endif
