/* SPDX-License-Identifier: MIT */
/* The device model: options, processes, open and close. request.c answers requests, work.c moves the counters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "state.h"

static const char FAMILIES[][6] = { "ev4", "ev5", "pca56", "ev6", "ev67" };

int pfmi_model_family(const char *name)
{
	if (strncmp(name, "alpha_", 6) == 0)
		name += 6;
	for (int i = 0; i < (int)(sizeof FAMILIES / sizeof FAMILIES[0]); i++)
		if (strcmp(name, FAMILIES[i]) == 0)
			return i;
	return -1;
}

void pfmi_model_defaults(struct model_options *out, enum model_family family)
{
	*out = (struct model_options){
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

struct model *pfmi_model_new(const struct model_options *options)
{
	struct model *m;

	if (options->n_cpus == 0 || options->n_cpus > MODEL_MAX_CPUS || options->ktext_start > options->ktext_end)
		return NULL;
	m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	m->options = *options;
	for (unsigned i = 0; i < MODEL_MAX_CPUS; i++)
		m->cpus[i].use = -1;
	return m;
}

void pfmi_model_free(struct model *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < MODEL_MAX_CPUS; i++)
		free(m->uses[i].profile.buckets);
	free(m->processes);
	free(m);
}

const struct model_options *pfmi_model_options(const struct model *m)
{
	return &m->options;
}

/* ---- processes ------------------------------------------------------------------------------------------------ */

struct process *pfmi_model_find(const struct model *m, int pid)
{
	for (size_t i = 0; i < m->n_processes; i++)
		if (m->processes[i].pid == pid)
			return &m->processes[i];
	return NULL;
}

int pfmi_model_process(struct model *m, int pid, unsigned uid, int cpu)
{
	struct process *p = pfmi_model_find(m, pid);

	if (cpu != MODEL_UNBOUND && (cpu < 0 || (unsigned)cpu >= m->options.n_cpus))
		return -EINVAL;
	if (!p) {
		struct process *more = realloc(m->processes, (m->n_processes + 1) * sizeof *more);

		if (!more)
			return -ENOMEM;
		m->processes = more;
		p = &more[m->n_processes++];
		*p = (struct process){ .pid = pid };
	}
	p->uid = uid;
	p->cpu = cpu;
	return 0;
}

int pfmi_model_fork(struct model *m, int parent, int child)
{
	const struct process *from = pfmi_model_find(m, parent);
	struct process copy;
	int err;

	if (!from || pfmi_model_find(m, child))
		return from ? -EEXIST : -ESRCH;
	copy = *from; /* the table may move */
	err = pfmi_model_process(m, child, copy.uid, copy.cpu);
	if (err == 0)
		pfmi_model_find(m, child)->marked = copy.marked;
	return err;
}

int pfmi_model_exec(struct model *m, int pid)
{
	return pfmi_model_find(m, pid) ? 0 : -ESRCH;
}

int pfmi_model_exit(struct model *m, int pid)
{
	struct process *p = pfmi_model_find(m, pid);

	if (!p)
		return -ESRCH;
	for (int i = 0; i < MODEL_MAX_CPUS; i++)
		if (m->uses[i].open && m->uses[i].pid == pid)
			(void)pfmi_model_close(m, i);
	*p = m->processes[--m->n_processes];
	return 0;
}

int pfmi_model_marked(const struct model *m, int pid)
{
	const struct process *p = pfmi_model_find(m, pid);

	return p ? p->marked : -ESRCH;
}

int pfmi_model_foreign(struct model *m, unsigned cpu, bool taken)
{
	if (cpu >= m->options.n_cpus)
		return -EINVAL;
	m->cpus[cpu].foreign = taken;
	return 0;
}

void pfmi_model_fail_alloc(struct model *m)
{
	m->fail_alloc = true;
}

bool pfmi_model_unconfirmed(const struct model *m)
{
	return m->unconfirmed;
}

void pfmi_model_trace(struct model *m, model_pal_fn fn, void *arg)
{
	m->pal = fn;
	m->pal_arg = arg;
}

/* ---- open and close -------------------------------------------------------------------------------------------- */

static int mode_of(const struct model *m, uint64_t flags, unsigned *mode)
{
	*mode = (unsigned)(flags & PCNTOPENMASK);
	if (*mode == 0) {
		if (m->options.no_mode_errno)
			return -m->options.no_mode_errno;
		*mode = PCNTOPENONE;
	}
	return 0;
}

static bool any_in(const struct model *m, uint64_t cpus, bool foreign)
{
	for (unsigned i = 0; i < m->options.n_cpus; i++)
		if ((cpus >> i & 1) && (foreign ? m->cpus[i].foreign : m->cpus[i].use >= 0))
			return true;
	return false;
}

static void evict(struct model *m, uint64_t cpus)
{
	for (unsigned i = 0; i < m->options.n_cpus; i++)
		if ((cpus >> i & 1) && m->cpus[i].use >= 0)
			(void)pfmi_model_close(m, m->cpus[i].use);
}

/* 0 if @p may have @cpus now. */
static int claim(struct model *m, const struct process *p, uint64_t cpus)
{
	uint64_t contested = m->options.single_holder ? ~(uint64_t)0 : cpus;

	if (any_in(m, contested, false)) {
		if (p->uid != 0 || !m->options.root_evicts)
			return -EBUSY;
		evict(m, contested);
	}
	if (any_in(m, cpus, true) && p->uid != 0)
		return -EBUSY;
	return 0;
}

int pfmi_model_open(struct model *m, int pid, uint64_t flags)
{
	const struct process *p = pfmi_model_find(m, pid);
	uint64_t cpus = m->options.n_cpus == 64 ? ~(uint64_t)0 : ((uint64_t)1 << m->options.n_cpus) - 1;
	unsigned mode;
	int err, handle = 0;

	m->unconfirmed = false;
	if (!p)
		return -ESRCH;
	err = mode_of(m, flags, &mode);
	if (err)
		return err;
	if (mode == PCNTOPENONE) {
		if (p->cpu == MODEL_UNBOUND) {
			m->unconfirmed = true;
			return -m->options.unbound_errno;
		}
		cpus = (uint64_t)1 << p->cpu;
	}
	err = claim(m, p, cpus);
	if (err)
		return err;
	while (m->uses[handle].open) /* no more uses than processors: one is free */
		handle++;
	m->uses[handle] = (struct use){ .open = true,
		                        .pid = pid,
		                        .mode = mode,
		                        .cpus = cpus,
		                        .items = PFM_COUNTERS,
		                        .freq = PF5_FREQ_SLOW,
		                        .profile = { .stride = 4 } };
	for (unsigned i = 0; i < m->options.n_cpus; i++)
		if (cpus >> i & 1) {
			m->cpus[i].use = handle;
			m->cpus[i].foreign = false;
		}
	return handle;
}

struct use *pfmi_model_use(struct model *m, int handle)
{
	return handle >= 0 && handle < MODEL_MAX_CPUS && m->uses[handle].open ? &m->uses[handle] : NULL;
}

void pfmi_model_drop_profile(struct use *u)
{
	free(u->profile.buckets);
	u->profile = (struct profile){ .stride = u->profile.stride };
}

int pfmi_model_close(struct model *m, int handle)
{
	struct use *u = pfmi_model_use(m, handle);

	if (!u)
		return -EBADF;
	pfmi_model_drop_profile(u);
	for (unsigned i = 0; i < m->options.n_cpus; i++)
		if (m->cpus[i].use == handle)
			m->cpus[i].use = -1;
	*u = (struct use){ .open = false };
	return 0;
}
