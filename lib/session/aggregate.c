/* SPDX-License-Identifier: MIT */
/* Sums of counts and tallies of runs. The quality of a sum follows from those of its parts. */
#include <stdbool.h>
#include <perfmon/aggregate.h>

#include "base/sizes.h"

static bool has_counted_value(const pfm_count_t *count)
{
	return pfm_counter_quality(count->quality, count->cause) <= PFM_QUALITY_PARTIAL;
}

/* True if @a is worse than @b, or as bad. */
static bool is_as_bad(const pfm_count_t *a, const pfm_count_t *b)
{
	return pfm_counter_quality(a->quality, a->cause) >=
	       pfm_counter_quality(b->quality, b->cause);
}

/* Makes @whole pretended or simulated if its part @part is. */
static void merge_origin(pfm_count_t *whole, const pfm_count_t *part)
{
	if (has_counted_value(whole) && part->quality > PFM_QUALITY_NOT_SUPPORTED)
		whole->quality = part->quality;
}

/* A task that had no time to run adds nothing to the sum, and this part is exact. */
static bool is_empty_addition(const pfm_count_t *count)
{
	return !has_counted_value(count) && count->cause == PFM_CAUSE_NO_TIME;
}

/* Lowers the quality of @whole to that of @worst, one of its parts. A whole without one of its
 * parts is partial. */
static void merge_quality(pfm_count_t *whole, const pfm_count_t *worst)
{
	bool is_missing = !has_counted_value(worst) && has_counted_value(whole);

	whole->quality = is_missing ? PFM_QUALITY_PARTIAL : worst->quality;
	whole->cause = worst->cause;
	whole->sys_errno = worst->sys_errno;
}

static void add_count_values(pfm_count_t *sum, const pfm_count_t *count)
{
	sum->value += count->value;
	sum->raw += count->raw;
	sum->enabled += count->enabled;
	sum->running += count->running;
	sum->scale = count->scale;
	sum->quality = count->quality;
}

/* The size of a count at the end of a caller's struct of @size bytes that has it at @offset: as
 * many of our members as fit. */
static size_t get_embedded_count_size(size_t size, size_t offset)
{
	return size - offset < sizeof(pfm_count_t) ? size - offset : sizeof(pfm_count_t);
}

static void add_to_sum(pfm_count_sum_t *sum, const pfm_count_t *count)
{
	const pfm_count_t before = sum->count;

	if (sum->n == 0 || is_empty_addition(&before)) {
		sum->count = *count;
		sum->worst = sum->n++;
		return;
	}
	sum->n++;
	if (is_empty_addition(count) || (!has_counted_value(&before) && !has_counted_value(count)))
		return;
	if (has_counted_value(count))
		add_count_values(&sum->count, count);
	if (!is_as_bad(count, &before)) {
		merge_quality(&sum->count, &before);
	} else {
		merge_quality(&sum->count, count);
		sum->worst = sum->n - 1;
	}
	merge_origin(&sum->count, &before);
	merge_origin(&sum->count, count);
}

int pfm_add_count(pfm_count_sum_t *sum, const pfm_count_t *count)
{
	pfm_count_sum_t full;
	pfm_count_t added;

	if (!sum || base_get_struct_size(sum) < BASE_FIRST_SIZE_OF(sum) || !count ||
	    !base_copy_struct_in(&added, sizeof(added), count))
		return PFMLIB_ERR_INVAL;
	base_copy_struct_in(&full, sizeof(full), sum);
	add_to_sum(&full, &added);
	full.count.size = get_embedded_count_size(base_get_struct_size(sum),
	                                          offsetof(pfm_count_sum_t, count));
	base_copy_struct_out(sum, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

/* Mean and squared differences as Welford updates them. */
static void add_value_to_tally(pfm_tally_t *t, const pfm_count_t *count)
{
	double value = (double)count->value, before = t->mean;

	t->counted++;
	t->mean += (value - before) / t->counted;
	t->squares += (value - before) * (value - t->mean);
	t->enabled += ((double)count->enabled - t->enabled) / t->counted;
	t->running += ((double)count->running - t->running) / t->counted;
}

static bool add_run_to_tally(pfm_tally_t *tally, const pfm_count_t *count)
{
	const pfm_count_t before = tally->count;
	const bool is_worst = !tally->runs || is_as_bad(count, &before);

	tally->runs++;
	if (has_counted_value(count))
		add_value_to_tally(tally, count);
	if (has_counted_value(count) ? is_worst || tally->counted == 1 : !tally->counted)
		tally->count = *count;
	if (tally->counted)
		merge_quality(&tally->count, is_worst ? count : &before);
	merge_origin(&tally->count, &before);
	merge_origin(&tally->count, count);
	return is_worst;
}

int pfm_add_run(pfm_tally_t *tally, const pfm_count_t *count)
{
	pfm_tally_t full;
	pfm_count_t added;
	bool is_worst;

	if (!tally || base_get_struct_size(tally) < BASE_FIRST_SIZE_OF(tally) || !count ||
	    !base_copy_struct_in(&added, sizeof(added), count))
		return PFMLIB_ERR_INVAL;
	base_copy_struct_in(&full, sizeof(full), tally);
	is_worst = add_run_to_tally(&full, &added);
	full.count.size =
		get_embedded_count_size(base_get_struct_size(tally), offsetof(pfm_tally_t, count));
	base_copy_struct_out(tally, &full, sizeof(full));
	return is_worst;
}
