/* SPDX-License-Identifier: MIT */
/* A benchmark in the manner of criterion, with counts: the iterations of the samples grow, the time
 * of one is the slope of a line through them, and its interval comes from the samples drawn again
 * and again. Each sample is a visit of a region, so counts are of the timed code alone.
 *
 * Build: cc benchmark.c $(pkg-config --cflags --libs perfmon)
 * PERFMON_REGIONS=EVENT,... in the environment counts something else. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <perfmon/region.h>

enum { SAMPLES = 30, DRAWS = 1000, WARM_UP_NS = 20000000, SAMPLE_NS = 200000 };

struct sample {
	double iterations, ns;
};

static double read_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double repeat(void (*work)(void), uint64_t n)
{
	double begin = read_clock();

	while (n--)
		work();
	return read_clock() - begin;
}

/* Least squares, of a line through zero. */
static double compute_slope(const struct sample *samples, const unsigned *chosen)
{
	double xy = 0, xx = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		const struct sample *s = &samples[chosen ? chosen[i] : i];

		xy += s->iterations * s->ns;
		xx += s->iterations * s->iterations;
	}
	return xy / xx;
}

static int compare_slopes(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print_time(const char *name, const struct sample *samples)
{
	static double slopes[DRAWS];
	unsigned chosen[SAMPLES];
	uint32_t seed = 1;

	for (unsigned d = 0; d < DRAWS; d++) {
		for (unsigned i = 0; i < SAMPLES; i++) {
			seed = seed * 1664525u + 1013904223u;
			chosen[i] = (seed >> 16) % SAMPLES;
		}
		slopes[d] = compute_slope(samples, chosen);
	}
	qsort(slopes, DRAWS, sizeof(*slopes), compare_slopes);
	printf("%-12s [%.1f ns %.1f ns %.1f ns]\n", name, slopes[DRAWS / 40],
	       compute_slope(samples, NULL), slopes[DRAWS - 1 - DRAWS / 40]);
}

/* Prints the counts of one iteration. */
static void print_counts(const pfm_region_t *region, double iterations)
{
	pfm_region_results_t *results = pfm_read_regions();
	pfm_region_info_t info = PFM_INIT(info);
	pfm_region_event_t event = PFM_INIT(event);
	pfm_region_count_t count = PFM_INIT(count);
	unsigned row = 0;

	while (pfm_describe_region(results, row, &info) == PFMLIB_SUCCESS &&
	       (info.thread || info.region != region->name))
		row++;
	for (unsigned i = 0; pfm_region_count(results, row, i, &count) == PFMLIB_SUCCESS; i++) {
		pfm_describe_region_event(i, &event);
		if (count.quality == PFM_QUALITY_EXACT)
			printf("%12s %-16s %.3f +- %.3f\n", "", event.name,
			       (double)count.inclusive * count.scale / iterations,
			       (double)count.error * count.scale / iterations);
		else
			printf("%12s %-16s %s: %s\n", "", event.name,
			       pfm_quality_name(count.quality), event.why);
	}
	pfm_close_region_results(results);
}

static void benchmark(const char *name, void (*work)(void))
{
	pfm_region_t *region = pfm_find_region(name);
	struct sample samples[SAMPLES];
	double total = 0, once;
	uint64_t n = 1, each;

	while (repeat(work, n) < WARM_UP_NS)
		n *= 2;
	once = repeat(work, n) / (double)n;
	each = once < SAMPLE_NS ? (uint64_t)(SAMPLE_NS / once) : 1;
	for (unsigned i = 0; i < SAMPLES; i++) {
		n = (i + 1) * each;
		pfm_begin_region(region);
		samples[i].ns = repeat(work, n);
		pfm_end_region(region);
		samples[i].iterations = (double)n;
		total += (double)n;
	}
	print_time(name, samples);
	print_counts(region, total);
}

enum { PAGES = 4, PAGE = 4096 };

static void touch(void)
{
	char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	                    -1, 0);

	for (unsigned i = 0; memory != MAP_FAILED && i < PAGES; i++)
		memory[i * PAGE] = 1;
	munmap(memory, PAGES * PAGE);
}

static void sort(void)
{
	double numbers[256];

	for (unsigned i = 0; i < 256; i++)
		numbers[i] = (i * 167) % 256;
	qsort(numbers, 256, sizeof(*numbers), compare_slopes);
}

int main(void)
{
	pfm_regions_options_t options = PFM_INIT(options);

	options.events = "page-faults,instructions:u";
	if (pfm_start_regions(&options, NULL) != PFMLIB_SUCCESS)
		return 1;
	benchmark("touch", touch);
	benchmark("sort", sort);
	return 0;
}
