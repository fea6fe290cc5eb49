/* SPDX-License-Identifier: MIT */
/* Results in the form of likwid's marker file, for the scripts that read it.
 *
 *     threads regions groups
 *     ID:TAG-GROUP                                       one line a region
 *     ID GROUP THREAD VISITS SECONDS N VALUE...          one line a region and thread, %e numbers
 *
 * The third column of likwid is the hardware thread; here threads of the program are numbered from
 * 0 in the order of their ids. likwid has no parents: rows of one region are added up. A count
 * without a value is nan. Tags have at most 139 bytes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "region/region.h"

enum { TAG_MAX = 139 };

static void put_number(FILE *out, double value)
{
	fprintf(out, " ");
	pfmi_region_put_exponent(out, value);
}

static void put_values(FILE *out, const pfm_region_results_t *r, uint32_t region, int tid)
{
	unsigned n = r->layout->n_events;

	fprintf(out, " %u", n);
	for (unsigned k = 0; k < n; k++) {
		double sum = 0;

		for (unsigned i = 0; i < r->n; i++) {
			pfm_region_count_t c = PFM_INIT(c);

			if (r->rows[i].region != region || r->rows[i].tid != tid)
				continue;
			pfm_region_count(r, i, k, &c);
			sum += c.visits ? (double)c.inclusive : (double)NAN;
		}
		put_number(out, sum);
	}
	fprintf(out, "\n");
}

static void put_thread(FILE *out, const pfm_region_results_t *r, uint32_t region, unsigned id,
                       int tid, unsigned number)
{
	uint64_t visits = 0, wall = 0;
	bool met = false;

	for (unsigned i = 0; i < r->n; i++) {
		pfm_region_info_t info = PFM_INIT(info);

		if (r->rows[i].region != region || r->rows[i].tid != tid)
			continue;
		pfm_describe_region(r, i, &info);
		visits += info.visits;
		wall += info.wall;
		met = true;
	}
	if (!met || !visits)
		return;
	fprintf(out, "%u 0 %u %" PRIu64, id, number, visits);
	put_number(out, (double)wall / 1e9);
	put_values(out, r, region, tid);
}

static bool is_first_of_region(const pfm_region_results_t *r, unsigned i)
{
	return i == 0 || r->rows[i].region != r->rows[i - 1].region;
}

bool pfmi_region_write_likwid(FILE *out, const pfm_region_results_t *r)
{
	unsigned n, regions = 0, id = 0;
	int *tids = pfmi_region_list_threads(r, &n);

	if (!tids) {
		return false;
	}
	for (unsigned i = 0; i < r->n; i++)
		regions += is_first_of_region(r, i);
	fprintf(out, "%u %u 1\n", n, regions);
	for (unsigned i = 0; i < r->n; i++)
		if (is_first_of_region(r, i))
			fprintf(out, "%u:%.*s-0\n", id++, TAG_MAX,
			        pfmi_results_get_name(r, r->rows[i].region));
	id = 0;
	for (unsigned i = 0; i < r->n; i++) {
		if (!is_first_of_region(r, i))
			continue;
		for (unsigned k = 0; k < n; k++)
			put_thread(out, r, r->rows[i].region, id, tids[k], k);
		id++;
	}
	free(tids);
	return true;
}
