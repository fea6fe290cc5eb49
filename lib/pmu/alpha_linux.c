/* SPDX-License-Identifier: MIT */
/* Linux on Alpha: the kernel's raw event numbers for EV67 and later, and the pairs that can be
 * counted together. The errors are those of perf_event_open(). */
#include <errno.h>
#include <perfmon/alpha.h>

/* The kernel's event numbers, which are not those of the hardware. */
enum { RAW_CYCLES = 1, RAW_INSTRUCTIONS, RAW_BCACHE_MISSES, RAW_MBOX_REPLAYS };

/* perf_event_attr.type */
enum {
	TYPE_HARDWARE = 0,
	TYPE_SOFTWARE = 1,
	TYPE_TRACEPOINT = 2,
	TYPE_CACHE = 3,
	TYPE_RAW = 4,
	TYPE_BREAKPOINT = 5
};

/* Counter and mode word of an event that is counted alone. */
static const struct {
	unsigned char counter, mode;
} single_event_counters[] = {
	[RAW_CYCLES] = { 1, PF67_RET_INST_AND_CYCLES },
	[RAW_INSTRUCTIONS] = { 0, PF67_RET_INST_AND_CYCLES },
	[RAW_BCACHE_MISSES] = { 1, PF67_RET_INST_AND_BCACHE_MISS },
	[RAW_MBOX_REPLAYS] = { 1, PF67_CYCLES_AND_REPLAY_TRAPS },
};

/* Events on counters 0 and 1 that can be counted together, and their mode word. */
static const struct {
	unsigned char raw[2], mode;
} pair_modes[] = {
	{ { RAW_INSTRUCTIONS, RAW_CYCLES }, PF67_RET_INST_AND_CYCLES },
	{ { RAW_INSTRUCTIONS, RAW_BCACHE_MISSES }, PF67_RET_INST_AND_BCACHE_MISS },
	{ { RAW_CYCLES, RAW_MBOX_REPLAYS }, PF67_CYCLES_AND_REPLAY_TRAPS },
};

/* Maps the kernel's generic hardware events: cycles, instructions, cache references, cache misses.
 * The driver lacks the third and marks it with -1, which the system call returns as errno EPERM. */
static int map_generic_event(uint64_t config, unsigned int *raw)
{
	static const signed char map[] = { RAW_CYCLES, RAW_INSTRUCTIONS, -EPERM,
		                           RAW_BCACHE_MISSES };

	if (config >= sizeof map)
		return -EINVAL;
	if (map[config] < 0)
		return map[config];
	*raw = (unsigned int)map[config];
	return 0;
}

int pfm_alpha_linux_event(uint32_t type, uint64_t config, unsigned int *raw, unsigned int *counter,
                          uint64_t *mode)
{
	unsigned int n = 0;
	int err = 0;

	switch (type) {
	case TYPE_HARDWARE: err = map_generic_event(config, &n); break;
	case TYPE_RAW:
		if (config < RAW_CYCLES || config > RAW_MBOX_REPLAYS)
			err = -EINVAL;
		else
			n = (unsigned int)config;
		break;
	case TYPE_CACHE: err = -EOPNOTSUPP; break;
	default: /* events of other PMUs, and unused types */ err = -ENOENT;
	}
	if (err)
		return err;
	if (raw)
		*raw = n;
	if (counter)
		*counter = single_event_counters[n].counter;
	if (mode)
		*mode = single_event_counters[n].mode;
	return 0;
}

int pfm_alpha_linux_pair(const unsigned int raw[2], unsigned int counter[2], uint64_t *mode)
{
	for (unsigned int i = 0; raw && i < sizeof pair_modes / sizeof pair_modes[0]; i++)
		for (unsigned int first = 0; first < 2; first++) {
			if (raw[first] != pair_modes[i].raw[0] ||
			    raw[!first] != pair_modes[i].raw[1])
				continue;
			if (counter) {
				counter[first] = 0;
				counter[!first] = 1;
			}
			if (mode)
				*mode = pair_modes[i].mode;
			return 0;
		}
	return -EINVAL;
}

pfm_err_t pfm_alpha_linux_write(unsigned int counter, uint64_t period, pfmlib_alpha_call_t *call)
{
	const uint64_t longest = 0xfffff, shortest = counter == 0 ? 16 : 4;
	uint64_t left = period > longest ? longest : period, value;

	if (!call || counter > 1)
		return PFMLIB_ERR_INVAL;
	if (left < shortest) /* a written value may end up a few counts higher */
		left = shortest;
	value = (uint64_t)1 << 20;
	value -= left;
	call->function = 6;
	call->reserved = 0;
	call->argument = counter == 0 ? PF6_CTRS(1, 0, value, 0) : PF6_CTRS(2, 0, 0, value);
	return PFMLIB_SUCCESS;
}
