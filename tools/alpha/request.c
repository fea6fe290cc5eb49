/* SPDX-License-Identifier: MIT */
/* The device model: requests and read(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "alpha/request.h"

static int read_own_memory(void *arg, uint64_t from, void *to, size_t n)
{
	(void)arg;
	if (from == 0)
		return -EFAULT;
	memcpy(to, (const void *)(uintptr_t)from, n);
	return 0;
}

static int write_own_memory(void *arg, uint64_t to, const void *from, size_t n)
{
	(void)arg;
	if (to == 0)
		return -EFAULT;
	memcpy((void *)(uintptr_t)to, from, n);
	return 0;
}

const struct alpha_device_memory alpha_device_own_memory = { read_own_memory, write_own_memory,
	                                                     NULL };

/* ---- results --------------------------------------------------------------------------------- */

/* The processors of entry @i of a result. */
static uint64_t get_entry_cpus(const struct device_request *c, unsigned i)
{
	return c->session->mode == PCNTOPENEACH ? (uint64_t)1 << i : c->session->cpus;
}

/* Stores an array whose address is at the address that the request has as argument. */
static int store_array(const struct device_request *c, const void *from, size_t n)
{
	uint64_t array;
	int err = fetch_memory(c, c->arg, &array, sizeof array);

	return err ? err : store_memory(c, array, from, n);
}

static uint64_t sum_counter(const struct device_request *c, uint64_t cpus, unsigned counter,
                            bool events)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->device->options.n_cpus; i++) {
		const struct device_cpu *cpu = &c->device->cpus[i];

		if (!(cpus >> i & 1))
			continue;
		if (events)
			sum += (cpu->interrupt_counts[counter]
			        << alpha_device_counter_width(c->device, counter)) +
			       cpu->chip_values[counter];
		else
			sum += cpu->interrupt_counts[counter];
	}
	return sum;
}

static uint64_t sum_cycles(const struct device_request *c, uint64_t cpus)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->device->options.n_cpus; i++)
		if (cpus >> i & 1)
			sum += c->device->options.live_cycles ? c->device->cpus[i].clock_cycles
			                                      : c->device->cpus[i].interrupt_cycles;
	return sum;
}

/* Stores the counts of all entries. The field of cycles is the last one on EV4 and the first one on
 * others. */
static int store_counts(const struct device_request *c, bool events)
{
	unsigned n_counters = alpha_device_count_counters(c->device), words = n_counters + 1,
		 n = alpha_device_count_entries(c->device, c->session);
	bool last = c->device->options.family == ALPHA_DEVICE_EV4;
	uint64_t out[ALPHA_DEVICE_MAX_CPUS * (ALPHA_DEVICE_MAX_COUNTERS + 1)];

	if (!(c->session->items & PFM_COUNTERS))
		return -EINVAL;
	for (unsigned i = 0; i < n; i++) {
		uint64_t *entry = &out[i * words];

		for (unsigned k = 0; k < n_counters; k++)
			entry[k + !last] = sum_counter(c, get_entry_cpus(c, i), k, events);
		entry[last ? n_counters : 0] = sum_cycles(c, get_entry_cpus(c, i));
	}
	return store_array(c, out, n * words * sizeof out[0]);
}

static int store_levels(const struct device_request *c)
{
	struct pfipls out[ALPHA_DEVICE_MAX_CPUS];
	unsigned n = alpha_device_count_entries(c->device, c->session);

	if (!(c->session->items & PFM_IPL))
		return -EINVAL;
	memset(out, 0, n * sizeof out[0]);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < c->device->options.n_cpus; k++)
			for (unsigned l = 0; l < PFM_IPL_LEVELS && (get_entry_cpus(c, i) >> k & 1);
			     l++)
				out[i].ipl[l] += c->device->cpus[k].level_counts[l];
	return store_array(c, out, n * sizeof out[0]);
}

static int clear_counts(const struct device_request *c)
{
	if (!(c->session->items & (PFM_COUNTERS | PFM_IPL)))
		return -EINVAL;
	for (unsigned i = 0; i < c->device->options.n_cpus; i++) {
		struct device_cpu *cpu = &c->device->cpus[i];

		if (!(c->session->cpus >> i & 1))
			continue;
		if (c->session->items & PFM_COUNTERS) {
			memset(cpu->interrupt_counts, 0, sizeof cpu->interrupt_counts);
			cpu->clock_cycles = cpu->interrupt_cycles = 0;
		}
		if (c->session->items & PFM_IPL)
			memset(cpu->level_counts, 0, sizeof cpu->level_counts);
	}
	return 0;
}

/* ---- settings -------------------------------------------------------------------------------- */

static int set_items(const struct device_request *c, uint64_t word)
{
	uint64_t known = PFM_COUNTERS | PFM_IPL | PFM_PROFILING;

	if (c->device->options.family == ALPHA_DEVICE_EV67)
		known |= PFM_PM_STAT_MASK;
	if (c->device->options.items_errno && (word & ~known))
		return -c->device->options.items_errno;
	if (c->device->options.running_errno && c->session->running_counters)
		return -c->device->options.running_errno;
	if (!(word & (PFM_COUNTERS | PFM_IPL | PFM_PROFILING)))
		return -EINVAL;
	c->session->items = (unsigned)(word & known);
	return 0;
}

static int set_process_filter(const struct device_request *c, bool select)
{
	c->session->counts_marked_only = select;
	if (select)
		c->caller->is_marked = true;
	return 0;
}

static int set_mux4(const struct device_request *c, uint64_t word)
{
	if ((word & ICCSR_DISABLE_MASK) == ICCSR_DISABLE_MASK)
		return -EINVAL;
	c->session->mux_word = word & (ICCSR_PC0 | ICCSR_PC1 | ICCSR_MUX0_MASK | ICCSR_MUX1_MASK |
	                               ICCSR_DISABLE_MASK);
	trace_pal_call(c, 2, c->session->mux_word & ~ICCSR_DISABLE_MASK);
	return 0;
}

/* Moves the cache box selects to the bits in which each chip's PALcode expects them. */
static uint64_t build_ev5_pal_mux(const struct alpha_device *m, uint64_t mux)
{
	unsigned shift = m->options.family == ALPHA_DEVICE_PCA56 ? PFPCA56_MUX_CBOX_KSHIFT
	                                                         : PF5_MUX_CBOX_KSHIFT;

	return (mux & (UINT64_C(0xff) | PF5_MUX0_KMASK)) | (mux & PF5_MUX_CBOX_KMASK) >> shift;
}

static int set_mux5(const struct device_request *c, uint64_t word)
{
	c->session->mux_word = word & (UINT64_C(0xff) | PF5_MUX0_KMASK | PF5_MUX_CBOX_KMASK);
	trace_pal_call(c, 2, build_ev5_pal_mux(c->device, c->session->mux_word));
	return 0;
}

static int set_mux6(const struct device_request *c, uint64_t word)
{
	c->session->mux_word = word & PF6_MUX_KMASK;
	trace_pal_call(c, 2, c->session->mux_word);
	return 0;
}

static int set_freq(const struct device_request *c, uint64_t word)
{
	uint64_t freq = (word & PF5_FREQ_KMASK) | PF5_FREQ_SLOW;

	if ((freq & PF5_FREQ_PRIVILEGED) && c->caller->uid != 0) {
		c->device->is_error_unconfirmed = true;
		return -c->device->options.rate_errno;
	}
	c->session->freq_word = freq;
	trace_pal_call(c, 4, freq);
	return 0;
}

static int set_modes(const struct device_request *c, uint64_t word)
{
	c->session->mode_word = word & PF5_CTXT_KMASK;
	c->session->counts_marked_only = word & PF5_CTXT_SEL_PROC;
	if (word & PF5_CTXT_PME_THIS)
		c->caller->is_marked = true;
	trace_pal_call(c, 3, c->session->mode_word);
	return 0;
}

/* ---- dispatch -------------------------------------------------------------------------------- */

static int switch_interrupts(const struct device_request *c, bool on)
{
	unsigned all = (1u << alpha_device_count_counters(c->device)) - 1;

	c->session->has_interrupts_on = on;
	if (c->device->options.family ==
	    ALPHA_DEVICE_EV4) { /* only these requests start and stop counters of EV4 */
		c->session->running_counters = on ? all : 0;
		trace_pal_call(c, on, 0);
	} else if (!on) {
		c->session->running_counters = 0;
		trace_pal_call(c, 0, all);
	}
	return 0;
}

static int do_common_request(const struct device_request *c)
{
	uint64_t word;
	int err;

	switch (c->request) {
	case PCNTRDISABLE: return switch_interrupts(c, false);
	case PCNTRENABLE: return switch_interrupts(c, true);
	case PCNTLOGALL: return set_process_filter(c, false);
	case PCNTLOGSELECT: return set_process_filter(c, true);
	case PCNTCLEARPCBPME: c->caller->is_marked = false; return 0;
	case PCNTCLEARCNT: return clear_counts(c);
	case PCNTCALLER: return alpha_request_charge_callers(c);
	case PCNTGETRSIZE:
		word = alpha_request_count_sample_bytes(c);
		return store_memory(c, c->arg, &word, sizeof word);
	case PCNTGETIPLHIS: return store_levels(c);
	case PCNTSETITEMS:
		err = fetch_memory(c, c->arg, &word, sizeof word);
		return err ? err : set_items(c, word);
	case PCNTSETUADDR: return alpha_request_set_range(c, PROFILE_USER, false);
	case PCNTSETKADDR: return alpha_request_set_range(c, PROFILE_KERNEL, false);
	case PCNTSETURANGE: return alpha_request_set_range(c, PROFILE_USER, true);
	default: /* PCNTSETKRANGE */ return alpha_request_set_range(c, PROFILE_KERNEL, true);
	}
}

/* Executes a request of one family whose argument is a word. */
static int do_word_request(const struct device_request *c)
{
	uint64_t word;
	int err = fetch_memory(c, c->arg, &word, sizeof word);

	if (err)
		return err;
	switch (c->request) {
	case PCNTSETMUX: return set_mux4(c, word);
	case PCNT5MUX: return set_mux5(c, word);
	case PCNT6MUX: return set_mux6(c, word);
	case PCNT5FREQ: return set_freq(c, word);
	case PCNT5CTXTS: return set_modes(c, word);
	case PCNT5ENABLE:
	case PCNT6ENABLE: return alpha_request_start_counters(c, word, START_KEEP);
	case PCNT5RESTART:
	case PCNT6RESTART: return alpha_request_start_counters(c, word, START_ZERO);
	case PCNT6ENABWRITE: return alpha_request_start_counters(c, word, START_LOAD);
	case PCNT5DISABLE:
	case PCNT6DISABLE: return alpha_request_stop_counters(c, word);
	case PCNT5CLEAR:
	case PCNT6CLEAR: return alpha_request_write_counters(c, word, true);
	case PCNT5SETCNTRS:
	case PCNT6SETCNTRS: return alpha_request_write_counters(c, word, false);
	default: /* PCNT5GETCNTRS, PCNT6GETCNTRS */ return alpha_request_read_counters(c, word);
	}
}

enum request_family {
	REQUEST_UNKNOWN,
	REQUEST_ALL_FAMILIES,
	REQUEST_EV4,
	REQUEST_EV5,
	REQUEST_EV6
};

/* The family of processors that has the request. */
static enum request_family get_request_family(const struct alpha_device *m, uint32_t request)
{
	static const uint32_t all[] = { PCNTRDISABLE,  PCNTRENABLE,     PCNTLOGALL,   PCNTLOGSELECT,
		                        PCNTCLEARCNT,  PCNTCLEARPCBPME, PCNTCALLER,   PCNTGETRSIZE,
		                        PCNTGETIPLHIS, PCNTSETITEMS,    PCNTSETUADDR, PCNTSETKADDR,
		                        PCNTSETURANGE, PCNTSETKRANGE };
	static const uint32_t ev5[] = { PCNT5CTXTS,    PCNT5MUX,    PCNT5FREQ,     PCNT5DISABLE,
		                        PCNT5ENABLE,   PCNT5CLEAR,  PCNT5RESTART,  PCNT5SETCNTRS,
		                        PCNT5GETCNTRS, PCNT5GETCNT, PCNT5READCNTRS };
	static const uint32_t ev6[] = { PCNT6MUX,    PCNT6ENABWRITE, PCNT6DISABLE,  PCNT6ENABLE,
		                        PCNT6CLEAR,  PCNT6RESTART,   PCNT6SETCNTRS, PCNT6GETCNTRS,
		                        PCNT6GETCNT, PCNT6READCNTRS };

	for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
		if (request == all[i])
			return REQUEST_ALL_FAMILIES;
	for (unsigned i = 0; i < sizeof ev5 / sizeof ev5[0]; i++)
		if (request == ev5[i])
			return REQUEST_EV5;
	for (unsigned i = 0; i < sizeof ev6 / sizeof ev6[0]; i++)
		if (request == ev6[i])
			return REQUEST_EV6;
	if (request == PCNTSETMUX || request == PCNTGETCNT ||
	    (request == PCNTGETCNT_OLD && m->options.old_getcnt))
		return REQUEST_EV4;
	return REQUEST_UNKNOWN;
}

static enum request_family get_device_family(const struct alpha_device *m)
{
	return alpha_device_is_ev6(m)   ? REQUEST_EV6
	       : alpha_device_is_ev5(m) ? REQUEST_EV5
	                                : REQUEST_EV4;
}

int alpha_device_do_ioctl(struct alpha_device *m, int handle, int pid, uint32_t request,
                          uint64_t arg, const struct alpha_device_memory *mem)
{
	struct device_request c = { m,
		                    alpha_device_get_session(m, handle),
		                    alpha_device_find_process(m, pid),
		                    request,
		                    arg,
		                    mem };
	enum request_family owner = get_request_family(m, request);

	m->is_error_unconfirmed = false;
	if (!c.session || !c.caller)
		return c.session ? -ESRCH : -EBADF;
	if (owner == REQUEST_UNKNOWN)
		return -m->options.unknown_errno;
	if (owner == REQUEST_ALL_FAMILIES)
		return do_common_request(&c);
	if (owner != get_device_family(m))
		return -m->options.family_errno;
	switch (request) {
	case PCNTGETCNT:
	case PCNTGETCNT_OLD:
	case PCNT5GETCNT:
	case PCNT6GETCNT: return store_counts(&c, false);
	case PCNT5READCNTRS:
	case PCNT6READCNTRS: return store_counts(&c, true);
	default: return do_word_request(&c);
	}
}

size_t alpha_device_get_result_size(const struct alpha_device *m, int handle, uint32_t request)
{
	const struct device_session *u =
		handle >= 0 && handle < ALPHA_DEVICE_MAX_CPUS ? &m->sessions[handle] : NULL;
	size_t n = u && u->is_open ? alpha_device_count_entries(m, u) : 0;

	switch (request) {
	case PCNTGETCNT:
	case PCNTGETCNT_OLD: return n * sizeof(struct pfcntrs);
	case PCNT5GETCNT:
	case PCNT5READCNTRS: return n * sizeof(struct pfcntrs_ev5);
	case PCNT6GETCNT:
	case PCNT6READCNTRS: return n * sizeof(struct pfcntrs_ev6);
	case PCNTGETIPLHIS: return n * sizeof(struct pfipls);
	default: return 0;
	}
}
