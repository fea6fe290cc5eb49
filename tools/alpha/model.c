/* SPDX-License-Identifier: MIT */
/* The device model: options, processes, open and close. request.c answers requests, work.c moves
 * the counters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "alpha/state.h"

static const char family_names[][6] = { "ev4", "ev5", "pca56", "ev6", "ev67" };

int alpha_device_find_family(const char *name)
{
	if (strncmp(name, "alpha_", 6) == 0)
		name += 6;
	for (int i = 0; i < (int)(sizeof family_names / sizeof family_names[0]); i++)
		if (strcmp(name, family_names[i]) == 0)
			return i;
	return -1;
}

void alpha_device_set_defaults(struct alpha_device_options *out, enum alpha_device_family family)
{
	*out = (struct alpha_device_options){
		.family = family,
		.n_cpus = 4,
		.mhz = 500,
		.ktext_start = UINT64_C(0xfffffc0000230000),
		.ktext_end = UINT64_C(0xfffffc0000630000),
		.max_buffer = (size_t)64 << 20,
		.ev4_pass3 = true,
		.unbound_errno = EINVAL,
		.rate_errno = EPERM,
		.stride_errno = EINVAL,
		.no_mode_errno = EINVAL,
		.family_errno = EINVAL,
		.unknown_errno = EINVAL,
		.pointer_errno = EFAULT,
		.cpu_errno = EINVAL,
		.range_errno = EFAULT,
		.check_first_range = true,
		.echo_word = true,
		.old_getcnt = true,
		.user_is_exec = true,
	};
}

struct alpha_device *alpha_device_new(const struct alpha_device_options *options)
{
	struct alpha_device *m;

	if (options->n_cpus == 0 || options->n_cpus > ALPHA_DEVICE_MAX_CPUS ||
	    options->ktext_start > options->ktext_end)
		return NULL;
	m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	m->options = *options;
	for (unsigned i = 0; i < ALPHA_DEVICE_MAX_CPUS; i++)
		m->cpus[i].session = -1;
	return m;
}

void alpha_device_free(struct alpha_device *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < ALPHA_DEVICE_MAX_CPUS; i++)
		free(m->sessions[i].profile.buckets);
	free(m->processes);
	free(m);
}

const struct alpha_device_options *alpha_device_get_options(const struct alpha_device *m)
{
	return &m->options;
}

/* ---- processes ------------------------------------------------------------------------------- */

struct device_process *alpha_device_find_process(const struct alpha_device *m, int pid)
{
	for (size_t i = 0; i < m->n_processes; i++)
		if (m->processes[i].pid == pid)
			return &m->processes[i];
	return NULL;
}

int alpha_device_set_process(struct alpha_device *m, int pid, unsigned uid, int cpu)
{
	struct device_process *p = alpha_device_find_process(m, pid);

	if (cpu != ALPHA_DEVICE_UNBOUND && (cpu < 0 || (unsigned)cpu >= m->options.n_cpus))
		return -EINVAL;
	if (!p) {
		struct device_process *more =
			realloc(m->processes, (m->n_processes + 1) * sizeof *more);

		if (!more)
			return -ENOMEM;
		m->processes = more;
		p = &more[m->n_processes++];
		*p = (struct device_process){ .pid = pid };
	}
	p->uid = uid;
	p->bound_cpu = cpu;
	return 0;
}

int alpha_device_fork_process(struct alpha_device *m, int parent, int child)
{
	const struct device_process *from = alpha_device_find_process(m, parent);
	struct device_process copy;
	int err;

	if (!from || alpha_device_find_process(m, child))
		return from ? -EEXIST : -ESRCH;
	copy = *from; /* adding a process may move the table */
	err = alpha_device_set_process(m, child, copy.uid, copy.bound_cpu);
	if (err == 0)
		alpha_device_find_process(m, child)->is_marked = copy.is_marked;
	return err;
}

int alpha_device_exec_process(struct alpha_device *m, int pid)
{
	return alpha_device_find_process(m, pid) ? 0 : -ESRCH;
}

int alpha_device_exit_process(struct alpha_device *m, int pid)
{
	struct device_process *p = alpha_device_find_process(m, pid);

	if (!p)
		return -ESRCH;
	for (int i = 0; i < ALPHA_DEVICE_MAX_CPUS; i++)
		if (m->sessions[i].is_open && m->sessions[i].pid == pid)
			(void)alpha_device_close_session(m, i);
	*p = m->processes[--m->n_processes];
	return 0;
}

int alpha_device_is_process_marked(const struct alpha_device *m, int pid)
{
	const struct device_process *p = alpha_device_find_process(m, pid);

	return p ? p->is_marked : -ESRCH;
}

int alpha_device_set_foreign(struct alpha_device *m, unsigned cpu, bool taken)
{
	if (cpu >= m->options.n_cpus)
		return -EINVAL;
	m->cpus[cpu].is_foreign = taken;
	return 0;
}

void alpha_device_fail_next_alloc(struct alpha_device *m)
{
	m->fails_next_alloc = true;
}

bool alpha_device_is_error_unconfirmed(const struct alpha_device *m)
{
	return m->is_error_unconfirmed;
}

void alpha_device_trace_pal(struct alpha_device *m, alpha_device_pal_fn fn, void *arg)
{
	m->trace_pal = fn;
	m->trace_arg = arg;
}

/* ---- open and close -------------------------------------------------------------------------- */

static int read_open_mode(const struct alpha_device *m, uint64_t flags, unsigned *mode)
{
	*mode = (unsigned)(flags & PCNTOPENMASK);
	if (*mode == 0) {
		if (m->options.no_mode_errno)
			return -m->options.no_mode_errno;
		*mode = PCNTOPENONE;
	}
	return 0;
}

static bool is_any_cpu_taken(const struct alpha_device *m, uint64_t cpus, bool foreign)
{
	for (unsigned i = 0; i < m->options.n_cpus; i++)
		if ((cpus >> i & 1) && (foreign ? m->cpus[i].is_foreign : m->cpus[i].session >= 0))
			return true;
	return false;
}

static void evict_holders(struct alpha_device *m, uint64_t cpus)
{
	for (unsigned i = 0; i < m->options.n_cpus; i++)
		if ((cpus >> i & 1) && m->cpus[i].session >= 0)
			(void)alpha_device_close_session(m, m->cpus[i].session);
}

/* Claims @cpus for @p. Returns 0, or -EBUSY if they are taken. */
static int claim_cpus(struct alpha_device *m, const struct device_process *p, uint64_t cpus)
{
	uint64_t contested = m->options.single_holder ? ~(uint64_t)0 : cpus;

	if (is_any_cpu_taken(m, contested, false)) {
		if (p->uid != 0 || !m->options.root_evicts)
			return -EBUSY;
		evict_holders(m, contested);
	}
	if (is_any_cpu_taken(m, cpus, true) && p->uid != 0)
		return -EBUSY;
	return 0;
}

int alpha_device_open_session(struct alpha_device *m, int pid, uint64_t flags)
{
	const struct device_process *p = alpha_device_find_process(m, pid);
	uint64_t cpus =
		m->options.n_cpus == 64 ? ~(uint64_t)0 : ((uint64_t)1 << m->options.n_cpus) - 1;
	unsigned mode;
	int err, handle = 0;

	m->is_error_unconfirmed = false;
	if (!p)
		return -ESRCH;
	err = read_open_mode(m, flags, &mode);
	if (err)
		return err;
	if (mode == PCNTOPENONE) {
		if (p->bound_cpu == ALPHA_DEVICE_UNBOUND) {
			m->is_error_unconfirmed = true;
			return -m->options.unbound_errno;
		}
		cpus = (uint64_t)1 << p->bound_cpu;
	}
	err = claim_cpus(m, p, cpus);
	if (err)
		return err;
	while (m->sessions[handle].is_open) /* there are at most as many sessions as processors, so
	                                       one is free */
		handle++;
	m->sessions[handle] = (struct device_session){ .is_open = true,
		                                       .pid = pid,
		                                       .mode = mode,
		                                       .cpus = cpus,
		                                       .items = PFM_COUNTERS,
		                                       .freq_word = PF5_FREQ_SLOW,
		                                       .profile = { .stride = 4 } };
	for (unsigned i = 0; i < m->options.n_cpus; i++)
		if (cpus >> i & 1) {
			m->cpus[i].session = handle;
			m->cpus[i].is_foreign = false;
		}
	return handle;
}

struct device_session *alpha_device_get_session(struct alpha_device *m, int handle)
{
	return handle >= 0 && handle < ALPHA_DEVICE_MAX_CPUS && m->sessions[handle].is_open
	               ? &m->sessions[handle]
	               : NULL;
}

void alpha_device_drop_profile(struct device_session *u)
{
	free(u->profile.buckets);
	u->profile = (struct device_profile){ .stride = u->profile.stride };
}

int alpha_device_close_session(struct alpha_device *m, int handle)
{
	struct device_session *u = alpha_device_get_session(m, handle);

	if (!u)
		return -EBADF;
	alpha_device_drop_profile(u);
	for (unsigned i = 0; i < m->options.n_cpus; i++)
		if (m->cpus[i].session == handle)
			m->cpus[i].session = -1;
	*u = (struct device_session){ .is_open = false };
	return 0;
}
