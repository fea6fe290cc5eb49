/* SPDX-License-Identifier: MIT */
/* Results: a copy of every thread's sums, summed over threads, with the cost of begin and end
 * subtracted. */
#include <stdlib.h>
#include <string.h>
#include <perfmon/perfmon.h>
#include "base/sizes.h"
#include "region/region.h"

enum { COSTLY = 10 }; /* a cost of at least 1 / COSTLY of a count is marked */

/* ---- collection -------------------------------------------------------------------------- */

struct result_row *pfmi_results_add_row(pfm_region_results_t *r, unsigned *size)
{
	struct result_row *more;

	if (r->n == *size) {
		*size = *size ? 2 * *size : 32;
		more = realloc(r->rows, *size * sizeof(*more));
		if (!more)
			return NULL;
		r->rows = more;
	}
	more = &r->rows[r->n];
	memset(more, 0, sizeof(*more));
	more->tallies = calloc(r->layout->n_events + 1, sizeof(struct tally));
	if (!more->tallies)
		return NULL;
	r->n++;
	return more;
}

bool pfmi_results_fill_row(const pfm_region_results_t *r, struct result_row *row,
                           const struct entry *e, int tid)
{
	row->region = e->region;
	row->parent = e->parent;
	row->tid = tid;
	row->threads = e->threads;
	pfmi_entry_compute_times(r->layout, e, &row->times);
	pfmi_entry_compute_tallies(r->layout, e, row->tallies);
	row->open = e->begun > row->times.visits ? e->begun - row->times.visits : 0;
	return row->times.visits || row->open;
}

/* Adds the sums of the regions of @t. @copy: memory for an entry. */
static bool add_thread_rows(pfm_region_results_t *r, const struct thread *t, struct entry *copy,
                            unsigned *size)
{
	for (const struct entry *e = __atomic_load_n(&t->entries, __ATOMIC_ACQUIRE); e;
	     e = __atomic_load_n(&e->next, __ATOMIC_ACQUIRE)) {
		struct result_row *row =
			pfmi_region_is_own(e->region) ? NULL : pfmi_results_add_row(r, size);

		if (pfmi_region_is_own(e->region))
			continue;
		if (!row)
			return false;
		pfmi_entry_copy(copy, e);
		if (pfmi_results_fill_row(r, row, copy, t->tid))
			continue;
		free(row->tallies);
		r->n--;
	}
	r->missed += t->missed;
	if (!r->unmatched)
		r->unmatched_region = t->unmatched_region;
	r->unmatched += t->unmatched;
	return true;
}

int pfmi_results_compare_rows(const void *a, const void *b)
{
	const struct result_row *x = a, *y = b;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void add_to_sum(const struct layout *l, struct result_row *sum, const struct result_row *row)
{
	pfmi_region_add_times(&sum->times, &row->times);
	for (unsigned i = 0; i < l->n_events; i++)
		pfmi_region_add_tally(&sum->tallies[i], &row->tallies[i]);
	sum->threads += row->threads;
	sum->open += row->open;
	sum->is_torn |= row->is_torn;
}

/* Sorts the row of all threads in front of theirs. */
bool pfmi_results_add_sums(pfm_region_results_t *r, unsigned *size)
{
	unsigned n = r->n, first = 0;

	if (!n)
		return true;
	qsort(r->rows, n, sizeof(*r->rows), pfmi_results_compare_rows);
	for (unsigned i = 0; i < n; i++) {
		bool is_new = i == 0 || r->rows[i].region != r->rows[i - 1].region ||
		              r->rows[i].parent != r->rows[i - 1].parent;

		if (is_new) {
			if (!pfmi_results_add_row(r, size))
				return false;
			first = r->n - 1;
			r->rows[first].region = r->rows[i].region;
			r->rows[first].parent = r->rows[i].parent;
			r->rows[first].tid = -2; /* sorts before the pool of ended threads */
		}
		add_to_sum(r->layout, &r->rows[first], &r->rows[i]);
	}
	qsort(r->rows, r->n, sizeof(*r->rows), pfmi_results_compare_rows);
	for (unsigned i = 0; i < r->n; i++)
		if (r->rows[i].tid == -2)
			r->rows[i].tid = 0;
	return true;
}

pfm_region_results_t *pfm_read_regions(void)
{
	pfm_region_results_t *r = pfmi_regions.started ? calloc(1, sizeof(*r)) : NULL;
	struct entry *copy = r ? calloc(1, pfmi_entry_get_size(&pfmi_regions.layout)) : NULL;
	unsigned size = 0;
	bool ok = copy != NULL;

	if (!r)
		return NULL;
	r->flags = pfmi_regions.flags;
	r->layout = &pfmi_regions.layout;
	pfmi_region_fill_process(&r->process);
	pfmi_regions_lock();
	for (const struct thread *t = pfmi_regions.threads; t && ok; t = t->next)
		ok = add_thread_rows(r, t, copy, &size);
	pfmi_regions_unlock();
	free(copy);
	if (ok && pfmi_results_add_sums(r, &size))
		return r;
	pfm_close_region_results(r);
	return NULL;
}

void pfm_close_region_results(pfm_region_results_t *r)
{
	for (unsigned i = 0; r && i < r->n; i++)
		free(r->rows[i].tallies);
	if (!r)
		return;
	free(r->rows);
	pfmi_region_unload(r->loaded);
	free(r);
}

static int compare_numbers(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

int *pfmi_region_list_threads(const pfm_region_results_t *r, unsigned *n)
{
	int *tids = calloc(r->n + 1, sizeof(*tids));
	unsigned all = 0;

	*n = 0;
	for (unsigned i = 0; tids && i < r->n; i++)
		if (r->rows[i].tid)
			tids[all++] = r->rows[i].tid;
	if (!tids)
		return NULL;
	qsort(tids, all, sizeof(*tids), compare_numbers);
	for (unsigned i = 0; i < all; i++)
		if (!*n || tids[*n - 1] != tids[i])
			tids[(*n)++] = tids[i];
	return tids;
}

/* ---- costs ------------------------------------------------------------------------------- */

static uint64_t subtract_cost(uint64_t value, uint64_t cost)
{
	return value > cost ? value - cost : 0;
}

static struct counted_visits get_wall_visits(const struct result_row *row)
{
	const struct times *t = &row->times;

	return (struct counted_visits){ t->outermost, t->pairs, t->wall, t->min, row->threads };
}

static struct counted_visits get_visits(const struct result_row *row, const struct tally *t)
{
	return (struct counted_visits){ t->visits, t->pairs, t->inclusive, t->min, row->threads };
}

/* The overhead of event @e; NULL: of the wall time. */
static struct overhead compute_overhead(const struct layout *l, const struct region_event *e,
                                        const struct counted_visits *v)
{
	struct overhead o = pfmi_region_compute_overhead(l, e, v->visits, v->pairs);

	pfmi_region_add_rare_costs(&o, l, e, v);
	return o;
}

/* The overhead in the own counts of @visits that have @children. */
static struct overhead compute_own_overhead(const struct layout *l, const struct region_event *e,
                                            const struct counted_visits *v, uint64_t visits,
                                            uint64_t children)
{
	struct overhead o = pfmi_region_compute_own_overhead(l, e, visits, children);

	pfmi_region_add_rare_costs(&o, l, e, v);
	return o;
}

/* The task time is read with the counts. */
static uint64_t compute_task_cost(const struct layout *l, const struct times *t)
{
	return pfmi_region_round((double)t->task_visits * l->task_inside +
	                         (double)t->pairs * l->wall_pair);
}

static bool is_costly_count(uint64_t cost, uint64_t of)
{
	return cost && cost > of / COSTLY;
}

/* ---- queries ----------------------------------------------------------------------------- */

/* Copies a result to the caller's struct @to; @first: its size in version 1.0. */
static int copy_result(void *to, size_t first, const void *from, size_t size)
{
	if (!base_is_struct_size_valid(to, first))
		return PFMLIB_ERR_INVAL;
	base_copy_sized_out(to, from, size, first);
	return PFMLIB_SUCCESS;
}

static double compute_variance(double m2, uint64_t n)
{
	return n < 2 ? -1 : m2 / (double)(n - 1);
}

static bool is_costly_row(const struct layout *l, const struct result_row *row)
{
	struct counted_visits v = get_wall_visits(row);

	if (is_costly_count(compute_overhead(l, NULL, &v).cost, v.sum))
		return true;
	for (unsigned i = 0; i < l->n_events; i++) {
		v = get_visits(row, &row->tallies[i]);
		if (is_costly_count(compute_overhead(l, &l->events[i], &v).cost, v.sum))
			return true;
	}
	return false;
}

int pfm_describe_region(const pfm_region_results_t *r, unsigned i, pfm_region_info_t *info)
{
	const struct layout *l = r ? r->layout : NULL;
	const struct result_row *row = r && i < r->n ? &r->rows[i] : NULL;
	const struct times *t = row ? &row->times : NULL;
	struct overhead all = { 0 }, own = { 0 };
	struct counted_visits visits;
	uint64_t each = 0, task = 0;

	if (!r || !row)
		return r ? PFMLIB_ERR_NOTFOUND : PFMLIB_ERR_INVAL;
	visits = get_wall_visits(row);
	if (!(r->flags & PFM_REGIONS_NO_SUBTRACT)) {
		all = compute_overhead(l, NULL, &visits);
		own = compute_own_overhead(l, NULL, &visits, t->visits, t->children);
		each = pfmi_region_round(l->wall_inside);
		task = compute_task_cost(l, t);
	}
	return copy_result(info, BASE_FIRST_SIZE_OF(info),
	                   &(pfm_region_info_t){
				   .region = pfmi_results_get_name(r, row->region),
				   .parent = pfmi_results_get_name(r, row->parent),
				   .thread = row->tid,
				   .costly = is_costly_row(l, row),
				   .visits = t->visits,
				   .outermost = t->outermost,
				   .unfinished = row->open,
				   .wall = subtract_cost(t->wall, all.cost),
				   .exclusive = subtract_cost(t->exclusive, own.cost),
				   .wall_min = subtract_cost(t->min, each),
				   .wall_max = subtract_cost(t->max, each),
				   .wall_variance = compute_variance(t->m2, t->outermost),
				   .task = subtract_cost(t->task, task),
				   .task_visits = t->task_visits,
				   .threads = row->threads,
				   .wall_error = all.error,
				   .exclusive_error = own.error,
				   .enough_visits = pfmi_region_find_enough_visits(
					   subtract_cost(t->wall, all.cost), t->outermost, &all) },
	                   sizeof(*info));
}

/* The quality of a count by a PMU. */
static pfm_quality_t get_count_quality(const struct result_row *row, const struct tally *t,
                                       const struct region_event *e)
{
	/* Visits inside another visit of their region have own counts alone. */
	const bool has_own_alone = !row->times.outermost;
	const uint64_t counted = has_own_alone ? t->exclusive_visits : t->visits,
		       all = has_own_alone ? row->times.visits : row->times.outermost;

	if (!e->countable)
		return e->quality;
	if (!counted)
		return PFM_QUALITY_NOT_COUNTED;
	return counted == all && !row->is_torn ? PFM_QUALITY_EXACT : PFM_QUALITY_PARTIAL;
}

static pfm_cause_t get_count_cause(const struct layout *l, const struct region_event *e,
                                   pfm_quality_t quality)
{
	if (!e->countable)
		return e->cause;
	if (quality == PFM_QUALITY_EXACT)
		return PFM_CAUSE_NONE;
	return l->n_rounds > 1 && !e->soft ? PFM_CAUSE_MULTIPLEXED : PFM_CAUSE_BUSY;
}

int pfm_region_count(const pfm_region_results_t *r, unsigned i, unsigned event,
                     pfm_region_count_t *count)
{
	const struct layout *l = r ? r->layout : NULL;
	const struct region_event *e = l && event < l->n_events ? &l->events[event] : NULL;
	const struct tally *t = r && i < r->n && e ? &r->rows[i].tallies[event] : NULL;
	struct overhead all, own = { 0 }, in_count = { 0 };
	struct counted_visits visits;
	pfm_quality_t quality;
	uint64_t each = 0;

	if (!t)
		return r ? PFMLIB_ERR_NOTFOUND : PFMLIB_ERR_INVAL;
	quality = get_count_quality(&r->rows[i], t, e);
	visits = get_visits(&r->rows[i], t);
	all = compute_overhead(l, e, &visits);
	if (!(r->flags & PFM_REGIONS_NO_SUBTRACT)) {
		in_count = all;
		own = compute_own_overhead(l, e, &visits, t->exclusive_visits, t->children);
		each = pfmi_region_round(e->cost_inside);
	}
	return copy_result(
		count, BASE_FIRST_SIZE_OF(count),
		&(pfm_region_count_t){
			.inclusive = subtract_cost(t->inclusive, in_count.cost),
			.exclusive = subtract_cost(t->exclusive, own.cost),
			.visits = t->visits,
			.exclusive_visits = t->exclusive_visits,
			.min = subtract_cost(t->min, each),
			.max = subtract_cost(t->max, each),
			.variance = compute_variance(t->m2, t->visits),
			.overhead = all.cost,
			.quality = l->is_simulated && quality <= PFM_QUALITY_PARTIAL
	                                   ? PFM_QUALITY_SIMULATED
	                           : l->is_pretended && quality <= PFM_QUALITY_PARTIAL
	                                   ? PFM_QUALITY_PRETENDED
	                                   : quality,
			.cause = get_count_cause(l, e, quality),
			.scale = e->scale,
			.error = in_count.error,
			.exclusive_error = own.error,
			.enough_visits = pfmi_region_find_enough_visits(
				subtract_cost(t->inclusive, in_count.cost), t->visits, &in_count) },
		sizeof(*count));
}

bool pfmi_slice_compute_count(const pfm_region_results_t *r, const struct visit_slice *s,
                              unsigned k, uint64_t *count)
{
	const struct region_event *e = &r->layout->events[k];
	uint64_t cost = pfmi_region_round(e->cost_inside + (double)s->pairs * e->cost_pair);

	if (s->counts[k] == SLICE_NOT_COUNTED)
		return false;
	*count = subtract_cost(s->counts[k], r->flags & PFM_REGIONS_NO_SUBTRACT ? 0 : cost);
	return true;
}

void pfm_region_cost(double *inside, double *pair)
{
	if (inside)
		*inside = pfmi_regions.layout.wall_inside;
	if (pair)
		*pair = pfmi_regions.layout.wall_pair;
}

unsigned pfm_count_region_events(void)
{
	return pfmi_regions.started ? pfmi_regions.layout.n_events : 0;
}

unsigned pfm_count_region_metrics(void)
{
	return pfmi_regions.started ? pfmi_regions.layout.n_metrics : 0;
}

static int describe_event(const struct layout *l, unsigned i, pfm_region_event_t *event)
{
	const struct region_event *e = &l->events[i];

	return copy_result(
		event, BASE_FIRST_SIZE_OF(event),
		&(pfm_region_event_t){ .name = e->name,
	                               .unit = e->unit,
	                               .why = e->why,
	                               .remedy = e->remedy,
	                               .quality = e->quality,
	                               .cause = e->cause,
	                               .whole_machine = e->system,
	                               .round = e->round,
	                               .n_rounds = e->soft || e->system ? 1 : l->n_rounds,
	                               .cost_inside = e->cost_inside,
	                               .cost_pair = e->cost_pair,
	                               .inside_error = e->inside.visit,
	                               .pair_error = e->pair.visit },
		sizeof(*event));
}

int pfm_describe_region_event(unsigned i, pfm_region_event_t *event)
{
	return i < pfm_count_region_events() ? describe_event(&pfmi_regions.layout, i, event)
	                                     : PFMLIB_ERR_NOTFOUND;
}

int pfmi_results_describe_event(const pfm_region_results_t *r, unsigned i,
                                pfm_region_event_t *event)
{
	return i < r->layout->n_events ? describe_event(r->layout, i, event) : PFMLIB_ERR_NOTFOUND;
}

const char *pfmi_results_get_name(const pfm_region_results_t *r, uint32_t number)
{
	if (!r->loaded)
		return pfmi_region_get_name(number);
	return number > LAST_OWN_REGION && number <= r->loaded->last_number
	               ? r->loaded->names[number]
	               : "";
}

unsigned pfmi_results_get_last_number(const pfm_region_results_t *r)
{
	return r->loaded ? r->loaded->last_number : pfmi_region_get_last_number();
}

int pfm_describe_region_process(const pfm_region_results_t *r, pfm_region_process_t *process)
{
	uint64_t open = 0;

	if (!r)
		return PFMLIB_ERR_INVAL;
	for (unsigned i = 0; i < r->n; i++)
		open += r->rows[i].tid ? 0 : r->rows[i].open;
	return copy_result(process, BASE_FIRST_SIZE_OF(process),
	                   &(pfm_region_process_t){ .process = r->process.pid,
	                                            .rank = r->process.rank,
	                                            .program = r->process.program,
	                                            .has_ended = r->process.has_ended,
	                                            .is_incomplete = r->process.is_incomplete,
	                                            .start_time = r->process.start_time,
	                                            .unfinished = open,
	                                            .n_regions = r->n,
	                                            .n_processes = 1 + r->process.more },
	                   sizeof(*process));
}

/* ---- metrics ----------------------------------------------------------------------------- */

/* Fills the counts of row @i. Rounds count different visits, so each count is the mean per visit
 * times the visits of the row. */
static void fill_counts(const pfm_region_results_t *r, unsigned i, pfm_count_t *counts)
{
	uint64_t visits = r->rows[i].times.outermost;

	for (unsigned k = 0; k < r->layout->n_events; k++) {
		pfm_region_count_t c = PFM_INIT(c);

		pfm_region_count(r, i, k, &c);
		counts[k] = (pfm_count_t){ .size = sizeof(*counts),
			                   .quality = c.quality,
			                   .cause = c.cause,
			                   .scale = c.scale };
		if (!c.visits)
			continue;
		counts[k].raw = c.inclusive;
		counts[k].value = c.visits == visits
		                          ? c.inclusive
		                          : pfmi_region_round((double)c.inclusive /
		                                              (double)c.visits * (double)visits);
		counts[k].enabled = counts[k].running = r->rows[i].times.wall;
	}
}

int pfm_region_metric(const pfm_region_results_t *r, unsigned i, unsigned metric, const char **name,
                      pfm_session_metric_t *out)
{
	const struct layout *l = r ? r->layout : NULL;
	pfm_metric_info_t info = PFM_INIT(info);
	pfm_count_t *counts;
	int rc;

	if (!r || !out || i >= r->n || metric >= l->n_metrics)
		return r && out ? PFMLIB_ERR_NOTFOUND : PFMLIB_ERR_INVAL;
	counts = calloc(l->n_events + 1, sizeof(*counts));
	if (!counts)
		return PFMLIB_ERR_NOMEM;
	fill_counts(r, i, counts);
	rc = pfm_compute_session_metric(l->session, metric, counts, 1,
	                                (double)r->rows[i].times.wall / 1e9, out);
	free(counts);
	if (name)
		*name = !rc && pfm_describe_metric(l->ctx, out->pmu, out->event, &info) ==
		                                PFMLIB_SUCCESS
		                ? info.name
		                : "";
	return rc;
}
