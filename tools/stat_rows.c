/* SPDX-License-Identifier: MIT */
/* pfm stat: from counts of sessions to rows of the answer, over tasks, CPUs, control groups, runs and intervals. */
#include "pfm.h"
#include "stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool has_value(const pfm_count_t *count)
{
	return count->quality != PFM_QUALITY_NOT_COUNTED && count->quality != PFM_QUALITY_NOT_SUPPORTED;
}

static void tally_add(struct tally *t, const pfm_count_t *count)
{
	double value = (double)count->value, before = t->mean;
	int worst = t->counted && t->count.quality > count->quality ? t->count.quality : count->quality;

	t->runs++;
	if (!has_value(count)) {
		if (!t->counted)
			t->count = *count;
		return;
	}
	t->count = *count;
	t->count.quality = worst;
	t->counted++;
	t->mean += (value - before) / t->counted;
	t->squares += (value - before) * (value - t->mean);
}

double deviation(const struct tally *t)
{
	if (t->counted < 2 || t->mean <= 0)
		return 0;
	/* Of the mean, not of a run: what repeating is for. */
	return 100 * sqrt(t->squares / (t->counted - 1) / t->counted) / t->mean;
}

/* What count @i of @p counted since it was @before. */
static pfm_count_t since(const struct part *p, unsigned i, const pfm_count_t *before)
{
	pfm_count_info_t info = PFM_INIT(info);
	pfm_count_t d = p->counts[i];

	pfm_describe_count(p->session, i, &info);
	if (before->size)
		pfm_count_between(before, &p->counts[i], info.is_level, &d);
	return d;
}

/* ---- sums ------------------------------------------------------------------------------------------------------------------- */

/* A task that had no time to run adds nothing, and that is exact. */
static bool adds_nothing(const pfm_count_t *count)
{
	return !has_value(count) && count->cause == PFM_CAUSE_NO_TIME;
}

static void sum_add(struct row *row, const pfm_count_t *count)
{
	pfm_count_t *sum = &row->sum;
	pfm_count_t worse;

	if (!row->begun || adds_nothing(sum)) {
		*sum = *count;
		row->begun = true;
		return;
	}
	if (adds_nothing(count))
		return;
	if (!has_value(sum) && !has_value(count))
		return;
	worse = sum->quality > count->quality ? *sum : *count;
	/* A sum that some of them are missing from is part of the truth. */
	sum->quality = has_value(&worse) ? worse.quality : PFM_QUALITY_PARTIAL;
	sum->cause = worse.cause;
	sum->sys_errno = worse.sys_errno;
	if (!has_value(count))
		return;
	sum->value += count->value;
	sum->raw += count->raw;
	sum->enabled += count->enabled;
	sum->running += count->running;
	sum->scale = count->scale;
}

void rows_slice(struct job *job)
{
	for (struct part *p = job->parts; p < job->parts + job->n_parts; p++)
		for (unsigned i = 0; i < p->n; i++) {
			pfm_count_t d = since(p, i, &p->looked[i]);

			slice_add(&job->rows[p->rows[i]], job->n_slices, &d);
			p->looked[i] = p->counts[i];
		}
}

void rows_gather(struct job *job, bool interval)
{
	struct part *p;
	unsigned i;

	for (p = job->parts; p < job->parts + job->n_parts; p++)
		for (i = 0; i < p->n; i++) {
			pfm_count_t d = interval ? since(p, i, &p->earlier[i]) : p->counts[i];

			sum_add(&job->rows[p->rows[i]], &d);
			p->earlier[i] = p->looked[i] = p->counts[i];
		}
	for (i = 0; i < job->n_rows; i++) {
		struct row *row = &job->rows[i];

		if (interval)
			row->tally = (struct tally){ .runs = 0 };
		tally_add(&row->tally, &row->sum);
		row->begun = false;
	}
}

/* ---- rows --------------------------------------------------------------------------------------------------------------------- */

static struct row *new_row(struct job *job)
{
	struct row *more = realloc(job->rows, (job->n_rows + 1) * sizeof(*more));

	if (!more)
		return NULL;
	job->rows = more;
	job->rows[job->n_rows] = (struct row){ .sum.size = sizeof(pfm_count_t) };
	return &job->rows[job->n_rows++];
}

bool rows_have_labels(const struct job *job)
{
	return job->by != BY_NOTHING || job->tell_cgroups;
}

/* "GROUP", "S0-D0-C1", or "GROUP S0-D0-C1". Where the second begins. */
static unsigned label_of(const struct job *job, const struct part *part, const pfm_count_info_t *info, char label[LABEL_MAX])
{
	const char *whose = part->label && (job->by == BY_THREAD || job->tell_cgroups) ? part->label : "";
	char place[LABEL_MAX] = "";
	int len;

	if (job->by != BY_NOTHING && job->by != BY_THREAD)
		topology_label(job->by, info->cpus, place);
	len = snprintf(label, LABEL_MAX, "%s%s%s", whose, !*whose || !*place ? "" : job->by == BY_CPU ? " CPU "
	                                                                                              : " ",
	               place);
	return len < LABEL_MAX ? (unsigned)len - (unsigned)strlen(place) : 0;
}

/* Equal events of two parts have the same place in the job's list and the same name, as far as permissions allowed. */
static bool same_row(const struct row *row, const char *label, unsigned request, const pfm_count_info_t *info)
{
	pfm_count_info_t other = PFM_INIT(other);

	if (row->own || strcmp(row->label, label) != 0)
		return false;
	row_info(row, &other);
	return row->part->first + other.request == request && strcmp(other.name, info->name) == 0 && strcmp(other.pmu, info->pmu) == 0;
}

/* True if a count of @info's group at the same place has row @at already: count @i of @part is another event, which permissions have given
 * the same name. Members of a group are neighbours. */
static bool is_taken(const struct part *part, unsigned i, const pfm_count_info_t *info, unsigned at)
{
	pfm_count_info_t other = PFM_INIT(other);

	while (i-- > 0) {
		pfm_describe_count(part->session, i, &other);
		if (other.group != info->group || strcmp(other.cpus, info->cpus) != 0)
			return false;
		if (part->rows[i] == at)
			return true;
	}
	return false;
}

/* The row of count @i of @part, -1: there is none yet. Rows of one label stand together, the last one's most likely at the end. */
static int find_row(const struct job *job, const struct part *part, unsigned i, const char *label, const pfm_count_info_t *info)
{
	unsigned at;

	for (at = job->n_rows; at-- > 0;)
		if (same_row(&job->rows[at], label, part->first + info->request, info) && !is_taken(part, i, info, at))
			return (int)at;
	return -1;
}

bool rows_make(struct job *job, struct part *part)
{
	pfm_count_info_t info = PFM_INIT(info);
	char label[LABEL_MAX];
	struct row *row;
	unsigned i, place, first = job->n_rows;
	int at;

	for (i = 0; i < part->n; i++) {
		pfm_describe_count(part->session, i, &info);
		place = label_of(job, part, &info, label);
		/* An event that is named twice in one list has two rows, and one CPU's counts have nobody to join. */
		at = job->by == BY_CPU ? -1 : find_row(job, part, i, label, &info);
		if (at >= (int)first && job->by == BY_NOTHING)
			at = -1;
		if (at < 0) {
			row = new_row(job);
			if (!row)
				return false;
			row->part = part;
			row->count = i;
			row->place = place;
			memcpy(row->label, label, sizeof(label));
			at = (int)(row - job->rows);
		}
		part->rows[i] = (unsigned)at;
	}
	return true;
}

void row_info(const struct row *row, pfm_count_info_t *info)
{
	if (!row->own) {
		pfm_describe_count(row->part->session, row->count, info);
		if (row->part->escaped && has_value(&row->tally.count)) {
			info->why = "most of the time went by in programs that the kernel does not let be counted: they have more rights than "
				    "who started them (set-user-ID), or may not be read";
			info->remedy = "start counting from a process that has their rights (sudo pfm stat)";
		}
		return;
	}
	*info = (pfm_count_info_t)PFM_INIT(*info);
	info->name = row->own;
	info->unit = "ns";
	info->pmu = info->cpus = info->remedy = "";
	info->why = has_value(&row->tally.count) ? "" : "the kernel tells a command's time when it has ended: there is none without a "
	                                                "command, and none yet in an interval";
}

/* ---- pfm's own counts ------------------------------------------------------------------------------------------------------- */

static const char *const own_names[] = { "duration_time", "user_time", "system_time" };

const char *own_event(const char *text)
{
	size_t i;

	for (i = 0; i < sizeof(own_names) / sizeof(own_names[0]); i++)
		if (strcmp(text, own_names[i]) == 0)
			return own_names[i];
	return NULL;
}

bool rows_make_own(struct job *job)
{
	struct row *row;
	unsigned i;

	for (i = 0; i < job->events.n; i++) {
		if (!own_event(job->events.texts[i]))
			continue;
		row = new_row(job);
		if (!row)
			return false;
		row->own = own_event(job->events.texts[i]);
	}
	return true;
}

void rows_own(struct job *job, double elapsed, double user, double system)
{
	unsigned i;

	for (i = 0; i < job->n_rows; i++) {
		struct row *row = &job->rows[i];
		double seconds = row->own == own_names[0] ? elapsed : row->own == own_names[1] ? user
		                                                                               : system;

		if (!row->own)
			continue;
		row->sum = (pfm_count_t){ .size = sizeof(row->sum), .scale = 1, .quality = PFM_QUALITY_NOT_COUNTED, .cause = PFM_CAUSE_OTHER };
		if (seconds < 0)
			continue;
		row->sum.value = row->sum.raw = (uint64_t)(seconds * NS + 0.5);
		row->sum.enabled = row->sum.running = (uint64_t)(elapsed * NS + 0.5);
		row->sum.quality = PFM_QUALITY_EXACT;
		row->sum.cause = PFM_CAUSE_NONE;
	}
}
