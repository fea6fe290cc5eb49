/* SPDX-License-Identifier: MIT */
/* A program that counts two of its parts, in two threads.
 *
 * Build: cc regions.c $(pkg-config --cflags --libs perfmon) -pthread
 * Run it under pfm stat --regions -e EVENT,... to count something else. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <perfmon/region.h>

enum { PAGES = 64, PAGE = 4096 };

static char *load(void)
{
	char *memory = malloc(PAGES * PAGE);

	for (size_t i = 0; memory && i < PAGES * PAGE; i += PAGE)
		memory[i] = 1;
	return memory;
}

static unsigned long sum(const char *memory)
{
	unsigned long total = 0;

	for (size_t i = 0; memory && i < PAGES * PAGE; i++)
		total += (unsigned char)memory[i];
	return total;
}

/* An iteration is a region that encloses the other two: their counts are its inclusive counts, not
 * its own. */
static void *work(void *arg)
{
	for (int i = 0; i < 10; i++) {
		char *memory;

		pfm_begin_region(PFM_REGION("iteration"));
		pfm_begin_region(PFM_REGION("load"));
		memory = load();
		pfm_end_region(PFM_REGION("load"));
		pfm_begin_region(PFM_REGION("sum"));
		*(volatile unsigned long *)arg = sum(memory);
		pfm_end_region(PFM_REGION("sum"));
		free(memory);
		pfm_end_region(PFM_REGION("iteration"));
	}
	return NULL;
}

int main(void)
{
	pfm_regions_options_t options = PFM_INIT(options);
	pfm_region_results_t *results;
	unsigned long sums[2];
	pthread_t thread;

	options.events = "page-faults,instructions:u";
	if (pfm_start_regions(&options, NULL) != PFMLIB_SUCCESS)
		return 1;
	pthread_create(&thread, NULL, work, &sums[0]);
	work(&sums[1]);
	pthread_join(thread, NULL);
	results = pfm_read_regions();
	pfm_write_regions(results, STDOUT_FILENO, "table");
	pfm_close_region_results(results);
	return 0;
}
