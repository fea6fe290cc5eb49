/* SPDX-License-Identifier: MIT */
/* The word, from its lowest bit (union perf_mem_data_src of <linux/perf_event.h>):
 *
 *   bits  0- 4  operation: 1 unknown, 2 load, 4 store, 8 prefetch, 16 code
 *   bits  5-18  level, a set: hit, miss, and where
 *   bits 19-23  snoop, a set: 16 means modified in another cache
 *   bits 24-25  lock: 2 means locked
 *   bits 26-32  TLB
 *   bits 33-36  level, a number: 15 unknown
 *   bit  37     remote
 *   bits 38-39  more of snoop: 2 means that a peer gave the line
 *   bits 40-42  why it was blocked
 *   bits 43-45  distance, where it is remote
 *
 * Kernels before 4.14 give the set alone; some give the number alone. */
#include "mem/source.h"

#include <stdio.h>
#include <string.h>

enum { LOAD = 2, STORE = 4, HIT = 2, MISS = 4, HITM = 16, LOCKED = 2, PEER = 2 };

static unsigned get_bits(uint64_t word, unsigned first, unsigned n)
{
	return (unsigned)(word >> first & (((uint64_t)1 << n) - 1));
}

/* Levels as numbers; NULL: unknown. */
static const char *name_level_number(unsigned number)
{
	static const char *const names[16] = {
		[1] = "L1",       [2] = "L2",           [3] = "L3",
		[4] = "L4",       [5] = "L2 buffer",    [6] = "memory-side cache",
		[8] = "uncached", [9] = "CXL",          [10] = "I/O",
		[11] = "cache",   [12] = "fill buffer", [13] = "RAM",
		[14] = "PMEM",
	};

	return names[number];
}

struct level_bit {
	unsigned bit;
	const char *name;
	bool is_remote;
};

/* Of several bits the first counts. */
static const struct level_bit level_bits[] = {
	{ 0x8, "L1", false },     { 0x10, "fill buffer", false }, { 0x20, "L2", false },
	{ 0x40, "L3", false },    { 0x80, "RAM", false },         { 0x100, "RAM", true },
	{ 0x200, "RAM", true },   { 0x400, "cache", true },       { 0x800, "cache", true },
	{ 0x1000, "I/O", false }, { 0x2000, "uncached", false },
};

static const char *name_level_bits(unsigned set, bool *is_remote)
{
	for (size_t i = 0; i < sizeof(level_bits) / sizeof(level_bits[0]); i++)
		if (set & level_bits[i].bit) {
			*is_remote |= level_bits[i].is_remote;
			return level_bits[i].name;
		}
	return NULL;
}

/* Where a remote level is. */
static const char *name_distance(unsigned set, unsigned hops)
{
	static const char *const names[8] = {
		[1] = ", other core",
		[2] = ", other node",
		[3] = ", other socket",
		[4] = ", other board",
	};

	if (hops)
		return names[hops] ? names[hops] : "";
	return set & (0x100 | 0x400) ? ", 1 hop" : set & (0x200 | 0x800) ? ", 2 hops" : "";
}

void mem_source_read(uint64_t word, struct mem_source *s)
{
	unsigned operation = get_bits(word, 0, 5), set = get_bits(word, 5, 14),
		 hops = get_bits(word, 43, 3);
	bool is_remote = get_bits(word, 37, 1);
	const char *by_bits = name_level_bits(set, &is_remote);
	const char *name = name_level_number(get_bits(word, 33, 4));

	*s = (struct mem_source){ .operation = operation & LOAD    ? MEM_LOAD
		                               : operation & STORE ? MEM_STORE
		                                                   : MEM_OTHER,
		                  .is_hitm = get_bits(word, 19, 5) & HITM ||
		                             get_bits(word, 38, 2) & PEER,
		                  .is_locked = get_bits(word, 24, 2) & LOCKED };
	name = name ? name : by_bits;
	if (!name) {
		snprintf(s->level, sizeof(s->level), "unknown%s", set & MISS ? " miss" : "");
		return;
	}
	/* Another core of the same node is not another node. */
	s->is_remote = is_remote && hops != 1;
	snprintf(s->level, sizeof(s->level), "%s%s%s%s", s->is_remote ? "remote " : "", name,
	         set & MISS && !(set & HIT) ? " miss" : "",
	         is_remote ? name_distance(set, hops) : "");
}
