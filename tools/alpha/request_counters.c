/* SPDX-License-Identifier: MIT */
/* Requests of the Alpha counter device that start, stop, write and read counters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "alpha/request.h"

/* Fields of a counter word. */
struct counter_word {
	unsigned counter_mask, cpu;
	uint64_t counter_values[ALPHA_DEVICE_MAX_COUNTERS];
	uint64_t value_bits; /* the value bits of the word, unshifted */
};

static struct counter_word split_counter_word(const struct alpha_device *m, uint64_t word)
{
	if (alpha_device_is_ev6(m))
		return (struct counter_word){ (unsigned)(word & PF6_SEL_KMASK),
			                      (unsigned)(word >> PF6_CPU_SHIFT),
			                      { (word & PF6_CTR0_KMASK) >> PF6_CTR0_SHIFT,
			                        (word & PF6_CTR1_KMASK) >> PF6_CTR1_SHIFT },
			                      word & (PF6_CTR0_KMASK | PF6_CTR1_KMASK) };
	return (struct counter_word){ (unsigned)(word & PF5_SEL_KMASK),
		                      (unsigned)((word & PF5_CPU_KMASK) >> PF5_CPU_SHIFT),
		                      { (word & PF5_CTR0_KMASK) >> PF5_CTR0_SHIFT,
		                        (word & PF5_CTR1_KMASK) >> PF5_CTR1_SHIFT,
		                        (word & PF5_CTR2_KMASK) >> PF5_CTR2_SHIFT },
		                      word & PF5_WRITE_KMASK };
}

/* The processors that a counter word names; 0 for one that the session does not hold. */
static uint64_t get_named_cpus(const struct device_request *c, unsigned cpu)
{
	if (cpu == PMCTRS_ALL_CPUS)
		return c->session->cpus;
	return cpu < c->device->options.n_cpus ? c->session->cpus & (uint64_t)1 << cpu : 0;
}

static void load_counters(const struct device_request *c, const struct counter_word *w,
                          uint64_t cpus, bool zero)
{
	for (unsigned i = 0; i < c->device->options.n_cpus; i++)
		for (unsigned k = 0; k < alpha_device_count_counters(c->device) && (cpus >> i & 1);
		     k++)
			if (w->counter_mask >> k & 1)
				c->device->cpus[i].chip_values[k] = zero ? 0 : w->counter_values[k];
}

int alpha_request_start_counters(const struct device_request *c, uint64_t word, enum start_mode how)
{
	struct counter_word w = split_counter_word(c->device, word);

	if (c->device->options.start_cpu_errno && w.cpu != PMCTRS_ALL_CPUS)
		return -c->device->options.start_cpu_errno;
	if (how != START_KEEP)
		load_counters(c, &w, c->session->cpus, how == START_ZERO);
	c->session->running_counters |= w.counter_mask;
	if (how == START_KEEP)
		trace_pal_call(c, 1, w.counter_mask);
	else
		trace_pal_call(c, 7, w.counter_mask | (how == START_LOAD ? w.value_bits : 0));
	return 0;
}

int alpha_request_stop_counters(const struct device_request *c, uint64_t word)
{
	struct counter_word w = split_counter_word(c->device, word);

	c->session->running_counters &= ~w.counter_mask;
	trace_pal_call(c, 0, w.counter_mask);
	return 0;
}

int alpha_request_write_counters(const struct device_request *c, uint64_t word, bool zero)
{
	struct counter_word w = split_counter_word(c->device, word);
	uint64_t cpus = get_named_cpus(c, w.cpu);

	if (!cpus)
		return -c->device->options.cpu_errno;
	load_counters(c, &w, cpus, zero);
	trace_pal_call(c, 6,
	               (alpha_device_is_ev6(c->device) ? w.counter_mask : 0) |
	                       (zero ? 0 : w.value_bits));
	return 0;
}

int alpha_request_read_counters(const struct device_request *c, uint64_t word)
{
	struct counter_word w = split_counter_word(c->device, word);
	uint64_t cpus = get_named_cpus(c, w.cpu), echo, out;
	unsigned i = 0;

	if (!cpus)
		return -c->device->options.cpu_errno;
	while (!(cpus >> i & 1))
		i++;
	if (alpha_device_is_ev6(c->device)) {
		echo = word & (PF6_SEL_KMASK | PF6_CPU_KMASK);
		out = PF6_CTRS(0, 0, c->device->cpus[i].chip_values[0],
		               c->device->cpus[i].chip_values[1]);
	} else {
		echo = word & (PF5_SEL_KMASK | PF5_CPU_KMASK);
		out = PF5_CTRS(0, 0, c->device->cpus[i].chip_values[0],
		               c->device->cpus[i].chip_values[1],
		               c->device->cpus[i].chip_values[2]);
	}
	if (c->device->options.echo_word)
		out |= echo;
	return store_memory(c, c->arg, &out, sizeof out);
}
