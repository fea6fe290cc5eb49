/* SPDX-License-Identifier: MIT */
/* The memory of the kernels: a page, and rings of pointers whose size is that of a cache. */
#include "truth/kernels.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, LINES_OF_A_PAGE = 64, TLB_PAGES = 16384 };
#define MEMORY_MOST ((size_t)512 << 20)

/* The size of the data cache of @level on CPU 0, in bytes; 0 if the system does not tell. */
static size_t read_cache_size(unsigned level)
{
	char path[96], type[16], unit = 0;
	unsigned this_level, kib;

	for (unsigned i = 0; i < 6; i++) {
		const char *const names[] = { "level", "type", "size" };
		bool ok = true;

		for (unsigned k = 0; k < 3 && ok; k++) {
			FILE *f;

			snprintf(path, sizeof(path),
			         "/sys/devices/system/cpu/cpu0/cache/index%u/%s", i, names[k]);
			f = fopen(path, "re");
			ok = f && (k == 0   ? fscanf(f, "%u", &this_level) == 1
			           : k == 1 ? fscanf(f, "%15s", type) == 1
			                    : fscanf(f, "%u%c", &kib, &unit) == 2);
			if (f)
				fclose(f);
		}
		if (ok && this_level == level && strcmp(type, "Instruction") != 0)
			return (size_t)kib << (unit == 'M' ? 20 : 10);
	}
	return 0;
}

size_t truth_read_last_cache(void)
{
	const size_t l3 = read_cache_size(3);

	return l3 ? l3 : read_cache_size(2);
}

/* Four times the last cache, but not more than a kernel may have; 0 if a cache holds most of it. */
static size_t choose_memory_size(size_t last)
{
	const size_t wanted = 4 * last < MEMORY_MOST ? 4 * last : MEMORY_MOST;

	return wanted >= 3 * last / 2 ? wanted : 0;
}

/* A size that the cache of @level holds and the one before it by far does not; 0 if unknown. */
static size_t choose_ring_size(enum truth_memory memory)
{
	const size_t l1 = read_cache_size(1), l2 = read_cache_size(2), l3 = read_cache_size(3);
	const size_t last = truth_read_last_cache();

	switch (memory) {
	case TRUTH_RING_L1: return l1 / 4;
	case TRUTH_RING_L2: return l1 && l2 >= 8 * l1 ? 4 * l1 : 0;
	case TRUTH_RING_L3: return l2 && l3 >= 8 * l2 ? 4 * l2 : 0;
	case TRUTH_RING_DRAM: return choose_memory_size(last);
	default: return 0;
	}
}

static uint64_t random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Links the @n places at @step bytes from each other in one ring of random order (Sattolo's
 * method, on the links themselves). Places of whole pages begin at different lines. */
static void link_ring(char *memory, size_t n, size_t step)
{
	uint64_t state = 88172645463325252U;
	const size_t shift = step > LINE ? LINE : 0;

#define PLACE(i) ((void **)(void *)(memory + (i)*step + (i) % LINES_OF_A_PAGE * shift))
	for (size_t i = 0; i < n; i++)
		*PLACE(i) = PLACE(i);
	for (size_t i = n - 1; i > 0; i--) {
		size_t other = random_number(&state) % i;
		void *link = *PLACE(i);

		*PLACE(i) = *PLACE(other);
		*PLACE(other) = link;
	}
#undef PLACE
}

void *truth_make_memory(enum truth_memory memory, size_t *size, const char **why)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at;

	*size = memory == TRUTH_PAGE       ? page
	        : memory == TRUTH_RING_TLB ? TLB_PAGES * page
	                                   : choose_ring_size(memory);
	*why = *size ? "memory ran out" : "the sizes of the caches are unknown or too similar";
	if (*size > MEMORY_MOST)
		*why = "the caches are too big: it needs more than 512 MiB";
	if (*size == 0 || *size > MEMORY_MOST)
		return NULL;
	at = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	madvise(at, *size, memory == TRUTH_RING_TLB ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	if (memory == TRUTH_PAGE)
		memset(at, 0, page);
	else if (memory == TRUTH_RING_TLB)
		link_ring(at, TLB_PAGES, page);
	else
		link_ring(at, *size / LINE, LINE);
	return at;
}

void truth_free_memory(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}
