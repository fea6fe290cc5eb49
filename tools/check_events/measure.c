/* SPDX-License-Identifier: MIT */
/* Counts an event over kernels. Each measurement runs a kernel for n and for 2n turns; the
 * difference is that of n turns, without what begins and ends a measurement. */
#include "check_events/check_events.h"
#include "common/pfm.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAIRS_MAX = 16, PRETENDED_TURNS = 20, READS_MAX = 16 };

/* The counts and the account of a kernel at one time. */
struct reading {
	double count, units;
};

/* A session of one event. */
struct counter {
	pfm_session_t *s;
	unsigned index; /* of its counts, that of the PMU */
	struct checker *k;
	struct event_check *c;
};

static void refuse(struct event_check *c, const char *why)
{
	snprintf(c->reason, sizeof(c->reason), "%s", why);
	c->result.judgement = NOT_JUDGED;
	c->n = 0;
}

/* @cause: of a count that is not exact. */
static void refuse_count(struct event_check *c, pfm_cause_t cause, const char *why)
{
	refuse(c, why);
	c->is_contended = cause == PFM_CAUSE_BUSY || cause == PFM_CAUSE_MULTIPLEXED ||
	                  cause == PFM_CAUSE_NO_TIME;
}

static void *get_memory(struct kernel_memory *m, enum truth_memory kind)
{
	if (!m->at[kind] && !m->why[kind])
		m->at[kind] = truth_make_memory(kind, &m->size[kind], &m->why[kind]);
	return m->at[kind];
}

void free_kernel_memory(struct kernel_memory *m)
{
	for (unsigned i = 0; i < N_TRUTH_MEMORIES; i++)
		truth_free_memory(m->at[i], m->size[i]);
}

/* True if a kernel is replaced by page faults: no PMU counts its operations. */
static bool is_played(const struct counter *e, const struct truth_kernel *kernel)
{
	return e->k->is_pretended && (kernel->is_loop || kernel->is_stream);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads the event. False with a reason if the count is not that of the whole time. */
static bool read_event(struct counter *e, double *out)
{
	pfm_count_info_t info = PFM_INIT(info);
	pfm_count_t count = PFM_INIT(count);
	pfm_quality_t quality;

	if (pfm_read_count(e->s, e->index, &count) || pfm_describe_count(e->s, e->index, &info)) {
		refuse(e->c, "the counter cannot be read");
		return false;
	}
	*out = (double)count.raw;
	quality = pfm_counter_quality(count.quality, count.cause);
	if (quality == PFM_QUALITY_EXACT)
		return true;
	if (quality == PFM_QUALITY_SCALED || count.cause == PFM_CAUSE_NO_TIME)
		refuse_count(e->c, PFM_CAUSE_BUSY, "the counter is shared with other users");
	else
		refuse_count(e->c, count.cause,
		             *info.why ? info.why : pfm_quality_name(count.quality));
	return false;
}

/* Reads the event and the account of @kernel. The account of times runs on; others are read again
 * until nothing happened in between. */
static bool read_both(struct counter *e, const struct truth_kernel *kernel, struct reading *r)
{
	double before, after;
	unsigned tries = 0;

	if (!kernel->account || is_played(e, kernel))
		return read_event(e, &r->count);
	do {
		before = kernel->account();
		if (!read_event(e, &r->count))
			return false;
		after = kernel->account();
	} while (before != after && ++tries < READS_MAX);
	r->units = (before + after) / 2;
	return true;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Does as many page faults as the kernel has operations: a pretended event can count them. */
static bool pretend_kernel(const struct truth_bounds *b, unsigned long turns)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t n = (size_t)lround((b->low + b->high) / 2 * (double)turns);
	char *pages;

	if (!n)
		return true;
	pages = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return false;
	madvise(pages, n * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		((volatile char *)pages)[i * page] = 1;
	munmap(pages, n * page);
	return true;
}

static bool run_kernel(struct counter *e, const struct truth_kernel *kernel,
                       const struct truth_bounds *b, unsigned long turns)
{
	if (is_played(e, kernel))
		return pretend_kernel(b, turns);
	return kernel->run(turns, get_memory(&e->k->memory, kernel->memory));
}

/* Measures the count in a turn, or in a unit of the account, once. */
static bool measure_pair(struct counter *e, const struct truth_kernel *kernel,
                         const struct truth_bounds *b, double *out)
{
	const unsigned long turns = is_played(e, kernel) ? PRETENDED_TURNS : kernel->turns;
	struct reading r[3] = { { 0, 0 }, { 0, 0 }, { 0, 0 } };
	double count, units;

	if (!read_both(e, kernel, &r[0]) || !run_kernel(e, kernel, b, turns) ||
	    !read_both(e, kernel, &r[1]) || !run_kernel(e, kernel, b, 2 * turns) ||
	    !read_both(e, kernel, &r[2]))
		return false;
	count = r[2].count - 2 * r[1].count + r[0].count;
	units = kernel->account && !is_played(e, kernel) ? r[2].units - 2 * r[1].units + r[0].units
	                                                 : (double)turns;
	if (units <= 0)
		return false;
	*out = count / units;
	return true;
}

/* Measures a kernel @n_pairs times. False if the event cannot be judged by it. */
static bool measure_kernel(struct counter *e, const struct truth_kernel *kernel,
                           struct observation *o)
{
	double values[PAIRS_MAX];
	unsigned n = 0;

	/* The first run brings code and memory into the caches. */
	if (!run_kernel(e, kernel, &o->expected, is_played(e, kernel) ? 1 : kernel->turns / 2 + 1))
		return false;
	while (n < e->k->n_pairs && measure_pair(e, kernel, &o->expected, &values[n]))
		n++;
	if (n < e->k->n_pairs)
		return false;
	o->kernel = kernel;
	o->mean = estimate_mean(values, n, &o->error);
	return true;
}

/* ---- an event -------------------------------------------------------------------------------- */

/* Runs every kernel that says something about the quantity. False if the event is not checked. */
static bool measure_kernels(struct counter *e)
{
	struct event_check *c = e->c;
	size_t n;
	const struct truth_kernel *all = truth_list_kernels(&n);

	for (size_t i = 0; i < n && c->n < OBSERVATIONS_MAX; i++) {
		struct observation o = { 0 };

		if (!truth_get_bounds(&all[i], c->quantity, &o.expected) ||
		    !truth_is_runnable(&all[i]) ||
		    (e->k->is_quick && (all[i].is_stream || all[i].memory != TRUTH_PAGE)))
			continue;
		if (!is_played(e, &all[i]) && !get_memory(&e->k->memory, all[i].memory))
			continue;
		*c->reason = 0;
		if (measure_kernel(e, &all[i], &o))
			c->seen[c->n++] = o;
		if (all[i].is_idle && c->n && o.mean * c->factor > o.expected.high)
			refuse(c, "other programs use the memory now");
		if (*c->reason) /* the event cannot be judged now */
			return false;
	}
	return true;
}

/* True if a kernel that was run does the operation. */
static bool has_positive_kernel(const struct event_check *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->seen[i].expected.low > 0)
			return true;
	return false;
}

/* Finds the count of the PMU among those of the session: generic events of a hybrid processor have
 * one for each kind of core, of which the first is checked. */
static bool find_count(struct counter *e)
{
	pfm_count_info_t info = PFM_INIT(info), first = PFM_INIT(first);
	const unsigned n = pfm_session_size(e->s);

	if (n == 0 || pfm_describe_count(e->s, 0, &first)) {
		refuse(e->c, "no PMU counts it here");
		return false;
	}
	e->index = 0;
	for (unsigned i = 0; i < n; i++)
		if (!pfm_describe_count(e->s, i, &info) &&
		    (strcmp(info.pmu, e->c->pmu) == 0 || strcmp(info.pmu, e->c->device) == 0)) {
			e->index = i;
			first = info;
			break;
		}
	if (e->c->quantity >= TRUTH_CONTEXT_SWITCHES && first.attr.exclude_kernel) {
		refuse(e->c, "counting in the kernel is not permitted");
		return false;
	}
	return true;
}

static void count_event(struct counter *e)
{
	struct event_check *c = e->c;

	if (!find_count(e))
		return;
	if (pfm_start_session(e->s)) {
		refuse(c, "counting cannot be started");
		return;
	}
	if (!measure_kernels(e))
		c->n = 0;
	pfm_stop_session(e->s);
	if (!*c->reason && !has_positive_kernel(c)) {
		c->n = 0;
		if (e->k->is_quick)
			snprintf(c->reason, sizeof(c->reason), "their kernels take long");
		else
			snprintf(c->reason, sizeof(c->reason), "no kernel that can run here has %s",
			         truth_name_quantity(c->quantity));
	}
	if (c->n)
		judge_event(c);
}

bool is_pretended_machine(void)
{
	char path[256];

	return access(make_machine_path("/sys/bus/event_source/pretended", path, sizeof(path)),
	              F_OK) == 0;
}

/* Binds this thread to one of @cpus, or to the CPU where it runs. */
static void bind_to_cpu(const char *cpus)
{
	cpu_set_t one;
	int cpu = *cpus ? atoi(cpus) : sched_getcpu();

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&one);
	CPU_SET((unsigned)cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* Loops are counted in user mode alone: the kernel's work on interrupts is not theirs. */
static unsigned choose_levels(enum truth_quantity q)
{
	return q < TRUTH_PAGE_FAULTS ? PFM_PLM3 : 0;
}

void check_event(struct checker *k, struct event_check *c)
{
	pfm_session_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	struct counter e = { .k = k, .c = c };
	const char *text = c->text;
	cpu_set_t before;
	bool is_bound;

	if (!c->has_quantity)
		return;
	options.plm = choose_levels(c->quantity);
	options.flags = c->is_whole_machine ? PFM_SESSION_SYSTEM_WIDE : 0;
	if (pfm_open_session(&e.s, k->ctx, &options, &text, 1, &error)) {
		pfm_explain_error(k->ctx, text, &error, c->reason, sizeof(c->reason));
		return;
	}
	is_bound = sched_getaffinity(0, sizeof(before), &before) == 0;
	if (is_bound && !c->is_whole_machine)
		bind_to_cpu(c->cpus);
	count_event(&e);
	if (is_bound)
		sched_setaffinity(0, sizeof(before), &before);
	pfm_close_session(e.s);
}
