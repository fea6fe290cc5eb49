/* SPDX-License-Identifier: MIT */
/* The device model: requests and read(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "state.h"

/* One request in progress. */
struct call {
	struct model *m;
	struct use *use;
	struct process *caller;
	uint32_t request;
	uint64_t arg;
	const struct model_memory *mem;
};

static int own_get(void *arg, uint64_t from, void *to, size_t n)
{
	(void)arg;
	if (from == 0)
		return -EFAULT;
	memcpy(to, (const void *)(uintptr_t)from, n);
	return 0;
}

static int own_put(void *arg, uint64_t to, const void *from, size_t n)
{
	(void)arg;
	if (to == 0)
		return -EFAULT;
	memcpy((void *)(uintptr_t)to, from, n);
	return 0;
}

const struct model_memory pfmi_model_own_memory = { own_get, own_put, NULL };

static int fetch(const struct call *c, uint64_t from, void *to, size_t n)
{
	return c->mem->get(c->mem->arg, from, to, n) ? -c->m->options.pointer_errno : 0;
}

static int store(const struct call *c, uint64_t to, const void *from, size_t n)
{
	return c->mem->put(c->mem->arg, to, from, n) ? -c->m->options.pointer_errno : 0;
}

static void pal(const struct call *c, unsigned function, uint64_t a1)
{
	if (c->m->pal)
		c->m->pal(c->m->pal_arg, function, a1);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Entry @i of a result covers these processors. */
static uint64_t entry_cpus(const struct call *c, unsigned i)
{
	return c->use->mode == PCNTOPENEACH ? (uint64_t)1 << i : c->use->cpus;
}

/* The address of an array is itself in memory. */
static int store_array(const struct call *c, const void *from, size_t n)
{
	uint64_t array;
	int err = fetch(c, c->arg, &array, sizeof array);

	return err ? err : store(c, array, from, n);
}

static uint64_t sum_counter(const struct call *c, uint64_t cpus, unsigned counter, bool events)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->m->options.n_cpus; i++) {
		const struct cpu *cpu = &c->m->cpus[i];

		if (!(cpus >> i & 1))
			continue;
		if (events)
			sum += (cpu->interrupts[counter] << model_width(c->m, counter)) + cpu->value[counter];
		else
			sum += cpu->interrupts[counter];
	}
	return sum;
}

static uint64_t sum_cycles(const struct call *c, uint64_t cpus)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->m->options.n_cpus; i++)
		if (cpus >> i & 1)
			sum += c->m->options.live_cycles ? c->m->cpus[i].clock : c->m->cpus[i].cycles;
	return sum;
}

/* Counts of all entries: the cycle field is last on EV4 and first on the others. */
static int get_counts(const struct call *c, bool events)
{
	unsigned n_counters = model_n_counters(c->m), words = n_counters + 1, n = model_n_entries(c->m, c->use);
	bool last = c->m->options.family == MODEL_EV4;
	uint64_t out[MODEL_MAX_CPUS * (MODEL_MAX_COUNTERS + 1)];

	if (!(c->use->items & PFM_COUNTERS))
		return -EINVAL;
	for (unsigned i = 0; i < n; i++) {
		uint64_t *entry = &out[i * words];

		for (unsigned k = 0; k < n_counters; k++)
			entry[k + !last] = sum_counter(c, entry_cpus(c, i), k, events);
		entry[last ? n_counters : 0] = sum_cycles(c, entry_cpus(c, i));
	}
	return store_array(c, out, n * words * sizeof out[0]);
}

static int get_levels(const struct call *c)
{
	struct pfipls out[MODEL_MAX_CPUS];
	unsigned n = model_n_entries(c->m, c->use);

	if (!(c->use->items & PFM_IPL))
		return -EINVAL;
	memset(out, 0, n * sizeof out[0]);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < c->m->options.n_cpus; k++)
			for (unsigned l = 0; l < PFM_IPL_LEVELS && (entry_cpus(c, i) >> k & 1); l++)
				out[i].ipl[l] += c->m->cpus[k].ipl[l];
	return store_array(c, out, n * sizeof out[0]);
}

static int clear_counts(const struct call *c)
{
	if (!(c->use->items & (PFM_COUNTERS | PFM_IPL)))
		return -EINVAL;
	for (unsigned i = 0; i < c->m->options.n_cpus; i++) {
		struct cpu *cpu = &c->m->cpus[i];

		if (!(c->use->cpus >> i & 1))
			continue;
		if (c->use->items & PFM_COUNTERS) {
			memset(cpu->interrupts, 0, sizeof cpu->interrupts);
			cpu->clock = cpu->cycles = 0;
		}
		if (c->use->items & PFM_IPL)
			memset(cpu->ipl, 0, sizeof cpu->ipl);
	}
	return 0;
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

static size_t sample_bytes(const struct call *c)
{
	const struct profile *p = &c->use->profile;

	if (!(c->use->items & PFM_PROFILING) || p->mode == PROFILE_NONE)
		return 0;
	return p->n_buckets * sizeof(uint32_t) * model_n_entries(c->m, c->use);
}

static bool range_ok(const struct text_range *r)
{
	return r->start < r->end && (r->start & 3) == 0 && (r->end & 3) == 0;
}

static bool in_kernel_text(const struct model *m, const struct text_range *r)
{
	return range_ok(r) && r->start >= m->options.ktext_start && r->end <= m->options.ktext_end;
}

static int add_caller_range(const struct call *c, const struct text_range *r)
{
	struct profile *p = &c->use->profile;

	if (p->n_extra == MODEL_MAX_EXTRA)
		return -ENOSPC;
	if (!in_kernel_text(c->m, r))
		return -EFAULT;
	p->extra[p->n_extra++] = *r;
	return 0;
}

static uint64_t count_buckets(const struct model *m, const struct text_range *r, uint64_t stride)
{
	uint64_t bytes = r->end - r->start + (m->options.end_inclusive ? 4 : 0), per;

	if (stride == 0 || stride > UINT64_MAX / 16)
		return 1;
	per = 4 * stride;
	return bytes / per + (bytes % per != 0 && !m->options.round_down);
}

/* Replaces the profile by a new one over @r. The old one stays when there is no memory. */
static int new_profile(const struct call *c, enum profile_mode mode, const struct text_range *r, uint64_t stride)
{
	struct profile *p = &c->use->profile;
	uint64_t n = count_buckets(c->m, r, stride);
	unsigned blocks = model_n_entries(c->m, c->use);
	uint32_t *buckets = NULL;

	if (!c->m->fail_alloc && n <= c->m->options.max_buffer / sizeof(uint32_t) / blocks)
		buckets = calloc(n ? (size_t)n * blocks : 1, sizeof *buckets);
	c->m->fail_alloc = false;
	if (!buckets)
		return -ENOMEM;
	pfmi_model_drop_profile(c->use);
	p->mode = mode;
	p->range = *r;
	p->stride = stride;
	p->n_buckets = (size_t)n;
	p->buckets = buckets;
	return 0;
}

static int set_range(const struct call *c, enum profile_mode mode, bool with_stride)
{
	uint64_t word[4] = { 0 };
	struct text_range r;
	uint64_t stride = c->use->profile.stride;
	int err = fetch(c, c->arg, word, with_stride ? 32 : 16);

	if (err)
		return err;
	r = (struct text_range){ word[0], word[1] };
	if (!(c->use->items & PFM_PROFILING))
		return -EINVAL;
	if (mode == PROFILE_KERNEL && c->use->profile.caller)
		return add_caller_range(c, &r);
	if (with_stride)
		stride = word[2];
	if (stride & (stride - 1))
		return -c->m->options.stride_errno;
	if (c->m->options.range_errno && !range_ok(&r))
		return -c->m->options.range_errno;
	if (mode == PROFILE_KERNEL && c->m->options.check_first_range && !in_kernel_text(c->m, &r))
		return -EFAULT;
	return new_profile(c, mode, &r, stride);
}

static int charge_callers(const struct call *c)
{
	if (c->use->profile.mode != PROFILE_KERNEL)
		return -EINVAL;
	c->use->profile.caller = true;
	return 0;
}

long pfmi_model_read(struct model *m, int handle, uint64_t to, size_t n, const struct model_memory *mem)
{
	struct use *u = pfmi_model_use(m, handle);
	struct call c = { .m = m, .use = u, .mem = mem };
	size_t block, size, done = 0;
	unsigned blocks;

	if (!u)
		return -EBADF;
	size = sample_bytes(&c);
	blocks = model_n_entries(m, u);
	block = u->profile.n_buckets * sizeof(uint32_t);
	if (n > size)
		n = size;
	for (unsigned i = 0; i < blocks && done < n; i++) {
		unsigned which = m->options.blocks_backwards ? blocks - 1 - i : i;
		size_t part = n - done < block ? n - done : block;
		int err = store(&c, to + done, u->profile.buckets + which * u->profile.n_buckets, part);

		if (err)
			return err;
		done += part;
	}
	if (m->options.read_clears && size)
		memset(u->profile.buckets, 0, size);
	return (long)done;
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static int set_items(const struct call *c, uint64_t word)
{
	uint64_t known = PFM_COUNTERS | PFM_IPL | PFM_PROFILING;

	if (c->m->options.family == MODEL_EV67)
		known |= PFM_PM_STAT_MASK;
	if (c->m->options.items_errno && (word & ~known))
		return -c->m->options.items_errno;
	if (c->m->options.running_errno && c->use->running)
		return -c->m->options.running_errno;
	if (!(word & (PFM_COUNTERS | PFM_IPL | PFM_PROFILING)))
		return -EINVAL;
	c->use->items = (unsigned)(word & known);
	return 0;
}

static int log_select(const struct call *c, bool select)
{
	c->use->select = select;
	if (select)
		c->caller->marked = true;
	return 0;
}

static int set_mux4(const struct call *c, uint64_t word)
{
	if ((word & ICCSR_DISABLE_MASK) == ICCSR_DISABLE_MASK)
		return -EINVAL;
	c->use->mux = word & (ICCSR_PC0 | ICCSR_PC1 | ICCSR_MUX0_MASK | ICCSR_MUX1_MASK | ICCSR_DISABLE_MASK);
	pal(c, 2, c->use->mux & ~ICCSR_DISABLE_MASK);
	return 0;
}

/* The cache box selects move to where each chip's PALcode takes them. */
static uint64_t pal_mux5(const struct model *m, uint64_t mux)
{
	unsigned shift = m->options.family == MODEL_PCA56 ? PFPCA56_MUX_CBOX_KSHIFT : PF5_MUX_CBOX_KSHIFT;

	return (mux & (UINT64_C(0xff) | PF5_MUX0_KMASK)) | (mux & PF5_MUX_CBOX_KMASK) >> shift;
}

static int set_mux5(const struct call *c, uint64_t word)
{
	c->use->mux = word & (UINT64_C(0xff) | PF5_MUX0_KMASK | PF5_MUX_CBOX_KMASK);
	pal(c, 2, pal_mux5(c->m, c->use->mux));
	return 0;
}

static int set_mux6(const struct call *c, uint64_t word)
{
	c->use->mux = word & PF6_MUX_KMASK;
	pal(c, 2, c->use->mux);
	return 0;
}

static int set_freq(const struct call *c, uint64_t word)
{
	uint64_t freq = (word & PF5_FREQ_KMASK) | PF5_FREQ_SLOW;

	if ((freq & PF5_FREQ_PRIVILEGED) && c->caller->uid != 0) {
		c->m->unconfirmed = true;
		return -c->m->options.rate_errno;
	}
	c->use->freq = freq;
	pal(c, 4, freq);
	return 0;
}

static int set_modes(const struct call *c, uint64_t word)
{
	c->use->modes = word & PF5_CTXT_KMASK;
	c->use->select = word & PF5_CTXT_SEL_PROC;
	if (word & PF5_CTXT_PME_THIS)
		c->caller->marked = true;
	pal(c, 3, c->use->modes);
	return 0;
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

/* What a counter word says. */
struct counters {
	unsigned select, cpu;
	uint64_t value[MODEL_MAX_COUNTERS];
	uint64_t values; /* the word's value bits in place */
};

static struct counters split(const struct model *m, uint64_t word)
{
	if (model_is_ev6(m))
		return (struct counters){ (unsigned)(word & PF6_SEL_KMASK),
			                  (unsigned)(word >> PF6_CPU_SHIFT),
			                  { (word & PF6_CTR0_KMASK) >> PF6_CTR0_SHIFT,
			                    (word & PF6_CTR1_KMASK) >> PF6_CTR1_SHIFT },
			                  word & (PF6_CTR0_KMASK | PF6_CTR1_KMASK) };
	return (struct counters){ (unsigned)(word & PF5_SEL_KMASK),
		                  (unsigned)((word & PF5_CPU_KMASK) >> PF5_CPU_SHIFT),
		                  { (word & PF5_CTR0_KMASK) >> PF5_CTR0_SHIFT, (word & PF5_CTR1_KMASK) >> PF5_CTR1_SHIFT,
		                    (word & PF5_CTR2_KMASK) >> PF5_CTR2_SHIFT },
		                  word & PF5_WRITE_KMASK };
}

/* Held processors that a counter word means; 0 for one that is not held. */
static uint64_t named_cpus(const struct call *c, unsigned cpu)
{
	if (cpu == PMCTRS_ALL_CPUS)
		return c->use->cpus;
	return cpu < c->m->options.n_cpus ? c->use->cpus & (uint64_t)1 << cpu : 0;
}

static void load(const struct call *c, const struct counters *w, uint64_t cpus, bool zero)
{
	for (unsigned i = 0; i < c->m->options.n_cpus; i++)
		for (unsigned k = 0; k < model_n_counters(c->m) && (cpus >> i & 1); k++)
			if (w->select >> k & 1)
				c->m->cpus[i].value[k] = zero ? 0 : w->value[k];
}

enum start { START_KEEP,
	     START_ZERO,
	     START_LOAD };

static int start(const struct call *c, uint64_t word, enum start how)
{
	struct counters w = split(c->m, word);

	if (c->m->options.start_cpu_errno && w.cpu != PMCTRS_ALL_CPUS)
		return -c->m->options.start_cpu_errno;
	if (how != START_KEEP)
		load(c, &w, c->use->cpus, how == START_ZERO);
	c->use->running |= w.select;
	if (how == START_KEEP)
		pal(c, 1, w.select);
	else
		pal(c, 7, w.select | (how == START_LOAD ? w.values : 0));
	return 0;
}

static int stop(const struct call *c, uint64_t word)
{
	struct counters w = split(c->m, word);

	c->use->running &= ~w.select;
	pal(c, 0, w.select);
	return 0;
}

static int write_counters(const struct call *c, uint64_t word, bool zero)
{
	struct counters w = split(c->m, word);
	uint64_t cpus = named_cpus(c, w.cpu);

	if (!cpus)
		return -c->m->options.cpu_errno;
	load(c, &w, cpus, zero);
	pal(c, 6, (model_is_ev6(c->m) ? w.select : 0) | (zero ? 0 : w.values));
	return 0;
}

static int read_counters(const struct call *c, uint64_t word)
{
	struct counters w = split(c->m, word);
	uint64_t cpus = named_cpus(c, w.cpu), echo, out;
	unsigned i = 0;

	if (!cpus)
		return -c->m->options.cpu_errno;
	while (!(cpus >> i & 1))
		i++;
	if (model_is_ev6(c->m)) {
		echo = word & (PF6_SEL_KMASK | PF6_CPU_KMASK);
		out = PF6_CTRS(0, 0, c->m->cpus[i].value[0], c->m->cpus[i].value[1]);
	} else {
		echo = word & (PF5_SEL_KMASK | PF5_CPU_KMASK);
		out = PF5_CTRS(0, 0, c->m->cpus[i].value[0], c->m->cpus[i].value[1], c->m->cpus[i].value[2]);
	}
	if (c->m->options.echo_word)
		out |= echo;
	return store(c, c->arg, &out, sizeof out);
}

/* ---- dispatch ---------------------------------------------------------------------------------------------------- */

static int switch_interrupts(const struct call *c, bool on)
{
	unsigned all = (1u << model_n_counters(c->m)) - 1;

	c->use->interrupts = on;
	if (c->m->options.family == MODEL_EV4) { /* nothing else starts or stops these */
		c->use->running = on ? all : 0;
		pal(c, on, 0);
	} else if (!on) {
		c->use->running = 0;
		pal(c, 0, all);
	}
	return 0;
}

static int common(const struct call *c)
{
	uint64_t word;
	int err;

	switch (c->request) {
	case PCNTRDISABLE:
		return switch_interrupts(c, false);
	case PCNTRENABLE:
		return switch_interrupts(c, true);
	case PCNTLOGALL:
		return log_select(c, false);
	case PCNTLOGSELECT:
		return log_select(c, true);
	case PCNTCLEARPCBPME:
		c->caller->marked = false;
		return 0;
	case PCNTCLEARCNT:
		return clear_counts(c);
	case PCNTCALLER:
		return charge_callers(c);
	case PCNTGETRSIZE:
		word = sample_bytes(c);
		return store(c, c->arg, &word, sizeof word);
	case PCNTGETIPLHIS:
		return get_levels(c);
	case PCNTSETITEMS:
		err = fetch(c, c->arg, &word, sizeof word);
		return err ? err : set_items(c, word);
	case PCNTSETUADDR:
		return set_range(c, PROFILE_USER, false);
	case PCNTSETKADDR:
		return set_range(c, PROFILE_KERNEL, false);
	case PCNTSETURANGE:
		return set_range(c, PROFILE_USER, true);
	default: /* PCNTSETKRANGE */
		return set_range(c, PROFILE_KERNEL, true);
	}
}

/* Requests of one family whose argument is a word. */
static int with_word(const struct call *c)
{
	uint64_t word;
	int err = fetch(c, c->arg, &word, sizeof word);

	if (err)
		return err;
	switch (c->request) {
	case PCNTSETMUX:
		return set_mux4(c, word);
	case PCNT5MUX:
		return set_mux5(c, word);
	case PCNT6MUX:
		return set_mux6(c, word);
	case PCNT5FREQ:
		return set_freq(c, word);
	case PCNT5CTXTS:
		return set_modes(c, word);
	case PCNT5ENABLE:
	case PCNT6ENABLE:
		return start(c, word, START_KEEP);
	case PCNT5RESTART:
	case PCNT6RESTART:
		return start(c, word, START_ZERO);
	case PCNT6ENABWRITE:
		return start(c, word, START_LOAD);
	case PCNT5DISABLE:
	case PCNT6DISABLE:
		return stop(c, word);
	case PCNT5CLEAR:
	case PCNT6CLEAR:
		return write_counters(c, word, true);
	case PCNT5SETCNTRS:
	case PCNT6SETCNTRS:
		return write_counters(c, word, false);
	default: /* PCNT5GETCNTRS, PCNT6GETCNTRS */
		return read_counters(c, word);
	}
}

enum owner { OWNER_NONE,
	     OWNER_ALL,
	     OWNER_EV4,
	     OWNER_EV5,
	     OWNER_EV6 };

/* Whose request this is. */
static enum owner owner_of(const struct model *m, uint32_t request)
{
	static const uint32_t all[] = { PCNTRDISABLE, PCNTRENABLE, PCNTLOGALL, PCNTLOGSELECT, PCNTCLEARCNT, PCNTCLEARPCBPME,
		                        PCNTCALLER, PCNTGETRSIZE, PCNTGETIPLHIS, PCNTSETITEMS, PCNTSETUADDR, PCNTSETKADDR,
		                        PCNTSETURANGE, PCNTSETKRANGE };
	static const uint32_t ev5[] = { PCNT5CTXTS, PCNT5MUX, PCNT5FREQ, PCNT5DISABLE, PCNT5ENABLE, PCNT5CLEAR, PCNT5RESTART,
		                        PCNT5SETCNTRS, PCNT5GETCNTRS, PCNT5GETCNT, PCNT5READCNTRS };
	static const uint32_t ev6[] = { PCNT6MUX, PCNT6ENABWRITE, PCNT6DISABLE, PCNT6ENABLE, PCNT6CLEAR, PCNT6RESTART,
		                        PCNT6SETCNTRS, PCNT6GETCNTRS, PCNT6GETCNT, PCNT6READCNTRS };

	for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
		if (request == all[i])
			return OWNER_ALL;
	for (unsigned i = 0; i < sizeof ev5 / sizeof ev5[0]; i++)
		if (request == ev5[i])
			return OWNER_EV5;
	for (unsigned i = 0; i < sizeof ev6 / sizeof ev6[0]; i++)
		if (request == ev6[i])
			return OWNER_EV6;
	if (request == PCNTSETMUX || request == PCNTGETCNT || (request == PCNTGETCNT_OLD && m->options.old_getcnt))
		return OWNER_EV4;
	return OWNER_NONE;
}

static enum owner family_owner(const struct model *m)
{
	return model_is_ev6(m) ? OWNER_EV6 : model_is_ev5(m) ? OWNER_EV5
	                                                     : OWNER_EV4;
}

int pfmi_model_ioctl(struct model *m, int handle, int pid, uint32_t request, uint64_t arg, const struct model_memory *mem)
{
	struct call c = { m, pfmi_model_use(m, handle), pfmi_model_find(m, pid), request, arg, mem };
	enum owner owner = owner_of(m, request);

	m->unconfirmed = false;
	if (!c.use || !c.caller)
		return c.use ? -ESRCH : -EBADF;
	if (owner == OWNER_NONE)
		return -m->options.unknown_errno;
	if (owner == OWNER_ALL)
		return common(&c);
	if (owner != family_owner(m))
		return -m->options.family_errno;
	switch (request) {
	case PCNTGETCNT:
	case PCNTGETCNT_OLD:
	case PCNT5GETCNT:
	case PCNT6GETCNT:
		return get_counts(&c, false);
	case PCNT5READCNTRS:
	case PCNT6READCNTRS:
		return get_counts(&c, true);
	default:
		return with_word(&c);
	}
}

size_t pfmi_model_result_size(const struct model *m, int handle, uint32_t request)
{
	const struct use *u = handle >= 0 && handle < MODEL_MAX_CPUS ? &m->uses[handle] : NULL;
	size_t n = u && u->open ? model_n_entries(m, u) : 0;

	switch (request) {
	case PCNTGETCNT:
	case PCNTGETCNT_OLD:
		return n * sizeof(struct pfcntrs);
	case PCNT5GETCNT:
	case PCNT5READCNTRS:
		return n * sizeof(struct pfcntrs_ev5);
	case PCNT6GETCNT:
	case PCNT6READCNTRS:
		return n * sizeof(struct pfcntrs_ev6);
	case PCNTGETIPLHIS:
		return n * sizeof(struct pfipls);
	default:
		return 0;
	}
}
