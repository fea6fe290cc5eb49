/* SPDX-License-Identifier: MIT */
/* pfm stat: sums counts in rows, over tasks, CPUs, control groups, runs and intervals. */
#include "common/pfm.h"
#include "stat/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

bool has_value(const pfm_count_t *count)
{
	return pfm_counter_quality(count->quality, count->cause) <= PFM_QUALITY_PARTIAL;
}

bool is_scaled(const pfm_count_t *count)
{
	return pfm_counter_quality(count->quality, count->cause) == PFM_QUALITY_SCALED;
}

double compute_relative_deviation(const pfm_tally_t *t)
{
	if (t->counted < 2 || t->mean <= 0)
		return 0;
	/* The standard error of the mean, which decreases with repetitions. */
	return 100 * sqrt(t->squares / (t->counted - 1) / t->counted) / t->mean;
}

/* Returns the difference of count @i of @p to @before. */
static pfm_count_t count_since(const struct stat_target *p, unsigned i, const pfm_count_t *before)
{
	pfm_count_info_t info = PFM_INIT(info);
	pfm_count_t d = p->counts[i];

	pfm_describe_count(p->session, i, &info);
	if (before->size)
		pfm_subtract_counts(before, &p->counts[i], info.is_level, &d);
	return d;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Adds count @i of @part to its row. */
static void add_to_sum(struct stat_row *row, const struct stat_target *part, unsigned i,
                       const pfm_count_t *count)
{
	unsigned number = row->sum.n;

	pfm_add_count(&row->sum, count);
	if (row->sum.worst != number)
		return;
	row->worst = part;
	row->worst_count = i;
}

/* Adds the part of count @i of @p since the last slice to the current slot of its row. The time of
 * a group that is off is that of its turn. */
static void add_to_slot(struct slot_rates *s, const struct stat_target *p, unsigned i)
{
	const pfm_count_t *now = &p->counts[i], *before = &p->slice_counts[i];
	pfm_count_info_t info = PFM_INIT(info);

	pfm_describe_count(p->session, i, &info);
	s->is_on |= !p->is_on || p->is_on[info.group];
	s->raw += (double)(now->raw - before->raw);
	s->running += (double)(now->running - before->running);
	s->time += (double)(now->enabled - before->enabled);
}

void gather_slot(struct stat_job *job)
{
	for (struct stat_target *p = job->targets.list; p < job->targets.list + job->targets.n; p++)
		for (unsigned i = 0; i < p->n; i++)
			add_to_slot(&job->result.rows[p->rows[i]].slot_rates, p, i);
}

void gather_slice(struct stat_job *job)
{
	gather_slot(job);
	for (struct stat_target *p = job->targets.list; p < job->targets.list + job->targets.n; p++)
		for (unsigned i = 0; i < p->n; i++) {
			pfm_count_t d = count_since(p, i, &p->slice_counts[i]);

			add_to_slice(&job->result.rows[p->rows[i]], job->slices.n, &d);
			p->slice_counts[i] = p->counts[i];
		}
}

/* Copies texts to one block of memory, which replaces *@memory, and redirects the pointers. */
static bool keep_words(char **memory, const char **const words[], unsigned n)
{
	size_t size = 1;
	char *at;

	for (unsigned i = 0; i < n; i++)
		size += strlen(*words[i]) + 1;
	at = malloc(size);
	if (!at)
		return false;
	free(*memory);
	*memory = at;
	for (unsigned i = 0; i < n; i++) {
		size_t len = strlen(*words[i]) + 1;

		*words[i] = memcpy(at, *words[i], len);
		at += len;
	}
	return true;
}

static const char delay_too_long_text[] =
	"the command ended within the delay of -D: nothing was counted";

/* Copies cause and remedy of a row's worst count, because closing its session frees them. */
static void keep_reason(const struct stat_job *job, struct stat_row *row)
{
	pfm_count_info_t info = PFM_INIT(info);
	char unseen[200], facts[240];

	pfm_describe_count(row->worst->session, row->worst_count, &info);
	if (job->timing.missed && row->sum.count.cause == PFM_CAUSE_NO_TIME) {
		info.why = delay_too_long_text;
		info.remedy = "use a shorter delay (-D)";
	}
	if (job->timing.start_off && !job->timing.was_enabled &&
	    row->sum.count.cause == PFM_CAUSE_NO_TIME) {
		info.why = "counting was never enabled: -D -1 starts with counting off";
		info.remedy = "send 'enable' to the control pipe (--control)";
	}
	if (row->worst->ran_unwatched && has_value(&row->sum.count)) {
		snprintf(unseen, sizeof(unseen), "%.3f seconds on CPUs were not counted: %s",
		         row->worst->unseen_seconds,
		         row->worst->lost_rights
		                 ? "the command has more rights than its caller (set-user-ID), or "
		                   "its file is not readable"
		                 : "the start and end of tasks, or programs with more rights than "
		                   "their caller (set-user-ID)");
		info.why = unseen;
		info.remedy = "start counting from a process with their rights (sudo pfm stat)";
		snprintf(facts, sizeof(facts), "%s%s", row->worst->unseen_facts,
		         row->worst->lost_rights ? job->result.rights_facts : "");
		info.evidence = facts;
	}
	if (!keep_words(&row->reason,
	                (const char **const[]){ &info.why, &info.remedy, &info.evidence }, 3))
		return;
	row->info.why = info.why;
	row->info.remedy = info.remedy;
	row->info.evidence = info.evidence;
}

void gather_rows(struct stat_job *job, bool interval)
{
	struct stat_target *p;
	unsigned i;

	for (p = job->targets.list; p < job->targets.list + job->targets.n; p++)
		for (i = 0; i < p->n; i++) {
			pfm_count_t d = interval ? count_since(p, i, &p->earlier[i]) : p->counts[i];

			add_to_sum(&job->result.rows[p->rows[i]], p, i, &d);
			p->earlier[i] = p->slice_counts[i] = p->counts[i];
		}
	for (i = 0; i < job->result.n_rows; i++) {
		struct stat_row *row = &job->result.rows[i];

		if (interval)
			row->tally = (pfm_tally_t)PFM_INIT(row->tally);
		if (pfm_add_run(&row->tally, &row->sum.count) &&
		    (row->sum.count.quality != PFM_QUALITY_EXACT || row->sum.count.cause) &&
		    row->worst)
			keep_reason(job, row);
		row->was_counted |= row->tally.counted != 0;
		if (!row->own)
			row->sum = (pfm_count_sum_t)PFM_INIT(row->sum);
	}
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct stat_row *append_row(struct stat_result *result)
{
	bool failed = false;

	result->rows = base_grow_list(result->rows, result->n_rows, &result->rows_capacity,
	                              sizeof(*result->rows), &failed);
	if (failed)
		return NULL;
	result->rows[result->n_rows] = (struct stat_row){ .sum = PFM_INIT(result->rows->sum),
		                                          .tally = PFM_INIT(result->rows->tally) };
	return &result->rows[result->n_rows++];
}

bool has_row_labels(const struct stat_job *job)
{
	return job->options.by != BY_NOTHING || job->targets.tell_cgroups;
}

/* Appends a letter and a number, such as "S0"; "S?" for an unknown number. */
static size_t append_number(char *label, size_t at, const char *letter, int number)
{
	char text[16] = "?";

	if (number >= 0)
		snprintf(text, sizeof(text), "%d", number);
	return at +
	       (size_t)snprintf(label + at, LABEL_MAX - at, "%s%s%s", at ? "-" : "", letter, text);
}

/* Writes the label of @cpu, such as "S0-D0-C1" for its core; "?" for unknown numbers. */
static void make_topology_label(const pfm_ctx_t *ctx, enum aggregation by, const char *cpu,
                                char label[LABEL_MAX])
{
	pfm_cpu_info_t place = PFM_INIT(place);
	size_t at = 0;

	if (by == BY_CPU) {
		snprintf(label, LABEL_MAX, "%s", cpu);
		return;
	}
	pfm_describe_cpu(ctx, (unsigned)strtoul(cpu, NULL, 10), &place);
	if (by == BY_NODE) {
		append_number(label, 0, "N", place.node);
		return;
	}
	at = append_number(label, at, "S", place.socket);
	if (by != BY_SOCKET)
		at = append_number(label, at, "D", place.die);
	if (by == BY_CORE)
		append_number(label, at, "C", place.core);
}

/* Returns the label "GROUP", "S0-D0-C1" or "GROUP S0-D0-C1", to be freed; *@at is the position
 * after the group. NULL without memory. */
static char *make_target_label(const struct stat_job *job, const struct stat_target *part,
                               const pfm_count_info_t *info, size_t *at)
{
	const char *whose = part->label && (job->options.by == BY_THREAD ||
	                                    job->targets.tell_cgroups)
	                            ? part->label
	                            : "",
		   *between = "";
	char place[LABEL_MAX] = "", *label;
	size_t size;

	if (job->options.by != BY_NOTHING && job->options.by != BY_THREAD)
		make_topology_label(job->ctx, job->options.by, info->cpus, place);
	if (*whose && *place)
		between = job->options.by == BY_CPU ? " CPU " : " ";
	*at = strlen(whose) + strlen(between);
	size = *at + strlen(place) + 1;
	label = malloc(size);
	if (label)
		snprintf(label, size, "%s%s%s", whose, between, place);
	return label;
}

/* True if the row counts the same event: its position in the job's list and its name, apart from a
 * level added for lack of permission, are equal. */
static bool is_same_row(const struct stat_row *row, const char *label, unsigned request,
                        const pfm_count_info_t *info)
{
	return !row->own && strcmp(row->label, label) == 0 &&
	       row->part->first + row->info.request == request &&
	       strcmp(row->info.name, info->name) == 0 && strcmp(row->info.pmu, info->pmu) == 0;
}

/* True if another count of @info's group has row @at already: two events can get the same name when
 * a level is added for lack of permission. Counts of a group are adjacent. */
static bool is_name_used(const struct stat_target *part, unsigned i, const pfm_count_info_t *info,
                         unsigned at)
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

/* Returns the row of count @i of @part, -1 if new. Searches from the end, where rows of the current
 * label are. */
static int find_row(const struct stat_result *result, const struct stat_target *part, unsigned i,
                    const char *label, const pfm_count_info_t *info)
{
	unsigned at;

	for (at = result->n_rows; at-- > 0;)
		if (is_same_row(&result->rows[at], label, part->first + info->request, info) &&
		    !is_name_used(part, i, info, at))
			return (int)at;
	return -1;
}

/* Returns the text of the job's list from which a count of @part was made; NULL if missing. */
static const char *get_row_event_text(const struct stat_job *job, const struct stat_target *part,
                                      const pfm_count_info_t *info)
{
	unsigned request = info->request;

	for (unsigned i = part->first; i < part->first + part->n_texts; i++)
		if (!find_own_event(job->request.events.texts[i]) && request-- == 0)
			return job->request.events.texts[i];
	return NULL;
}

/* Returns the length of a count's name without the level that was added for lack of permission. */
static size_t measure_requested_name(const struct stat_job *job, const struct stat_target *part,
                                     const pfm_count_info_t *info)
{
	const char *text = part ? get_row_event_text(job, part, info) : NULL,
		   *behind = text ? strrchr(text, '}') : NULL;
	size_t len = strlen(info->name);

	if (!text || !info->attr.exclude_kernel || len < 3 || info->name[len - 1] != 'u' ||
	    !strchr(":/", info->name[len - 2]) || strstr(text, info->name) ||
	    (behind && strchr(behind, 'u')))
		return len;
	return info->name[len - 2] == ':' ? len - 2 : len - 1;
}

/* Adds a row, which takes ownership of @label. */
static struct stat_row *add_row(struct stat_job *job, const struct stat_target *part,
                                const pfm_count_info_t *info, char *label, size_t place)
{
	size_t len = measure_requested_name(job, part, info);
	struct stat_row *row = append_row(&job->result);
	pfm_count_info_t *own;

	if (!row) {
		free(label);
		return NULL;
	}
	row->label = label;
	row->place = place;
	row->part = part;
	own = &row->info;
	*own = *info;
	own->why = own->remedy = "";
	row->event = strndup(info->name, len);
	return row->event && keep_words(&row->words,
	                                (const char **const[]){ &own->name, &own->pmu, &own->unit,
	                                                        &own->cpus },
	                                4)
	               ? row
	               : NULL;
}

bool make_rows(struct stat_job *job, struct stat_target *part)
{
	pfm_count_info_t info = PFM_INIT(info);
	struct stat_row *row;
	unsigned i, first = job->result.n_rows;
	int at;

	for (i = 0; i < part->n; i++) {
		size_t place;
		char *label;

		pfm_describe_count(part->session, i, &info);
		label = make_target_label(job, part, &info, &place);
		if (!label)
			return false;
		/* Counts of single CPUs are never summed. An event that is listed twice has two
		 * rows. */
		at = job->options.by == BY_CPU ? -1 : find_row(&job->result, part, i, label, &info);
		if (at >= (int)first && job->options.by == BY_NOTHING)
			at = -1;
		if (at < 0) {
			row = add_row(job, part, &info, label, place);
			if (!row)
				return false;
			at = (int)(row - job->result.rows);
		} else {
			free(label);
		}
		part->rows[i] = (unsigned)at;
	}
	return true;
}

bool has_rows_of_counts(const struct stat_job *job, const struct stat_target *part)
{
	pfm_count_info_t info = PFM_INIT(info);

	for (unsigned i = 0; i < part->n; i++) {
		const struct stat_row *row = &job->result.rows[part->rows[i]];
		size_t place;
		char *label;
		bool is_same;

		pfm_describe_count(part->session, i, &info);
		label = make_target_label(job, part, &info, &place);
		is_same = label && is_same_row(row, label, part->first + info.request, &info) &&
		          !(*info.why && has_value(&part->counts[i]));
		free(label);
		if (!is_same)
			return false;
	}
	return true;
}

void free_row(struct stat_row *row)
{
	free(row->label);
	free(row->words);
	free(row->event);
	free(row->reason);
	free(row->slices);
}

void free_rows(struct stat_result *result)
{
	for (struct stat_row *row = result->rows; row < result->rows + result->n_rows; row++)
		free_row(row);
	free(result->rows);
}

/* ---- pfm's own counts ------------------------------------------------------------------------ */

static const char *const own_event_names[] = { "duration_time", "user_time", "system_time" };

const char *find_own_event(const char *text)
{
	size_t i;

	for (i = 0; i < sizeof(own_event_names) / sizeof(own_event_names[0]); i++)
		if (strcmp(text, own_event_names[i]) == 0)
			return own_event_names[i];
	return NULL;
}

bool make_own_rows(struct stat_job *job)
{
	pfm_count_info_t info = { .size = sizeof(info), .pmu = "", .unit = "ns", .cpus = "" };
	struct stat_row *row;
	char *label;
	unsigned i;

	for (i = 0; i < job->request.events.n; i++) {
		if (!find_own_event(job->request.events.texts[i]))
			continue;
		info.name = find_own_event(job->request.events.texts[i]);
		label = strdup("");
		row = label ? add_row(job, NULL, &info, label, 0) : NULL;
		if (!row)
			return false;
		row->own = find_own_event(job->request.events.texts[i]);
	}
	return true;
}

void set_own_counts(struct stat_job *job, double elapsed, double user, double system)
{
	unsigned i;

	for (i = 0; i < job->result.n_rows; i++) {
		struct stat_row *row = &job->result.rows[i];
		double seconds = row->own == own_event_names[0]   ? elapsed
		                 : row->own == own_event_names[1] ? user
		                                                  : system;

		if (!row->own)
			continue;
		row->sum.count = (pfm_count_t){ .size = sizeof(row->sum.count),
			                        .scale = 1,
			                        .quality = PFM_QUALITY_NOT_COUNTED,
			                        .cause = PFM_CAUSE_OTHER };
		if (seconds < 0 && row->own == own_event_names[0])
			row->info.why = delay_too_long_text;
		else if (seconds < 0)
			row->info.why =
				job->timing.outlived_counting
					? "the kernel reports the CPU time of a command when it "
					  "ends: this includes time that was not counted"
					: "the kernel reports the CPU time of a command when it "
					  "ends: it is unknown without a command and within an "
					  "interval";
		if (seconds < 0)
			continue;
		row->sum.count.value = row->sum.count.raw = (uint64_t)(seconds * NS + 0.5);
		row->sum.count.enabled = row->sum.count.running = (uint64_t)(elapsed * NS + 0.5);
		row->sum.count.quality = PFM_QUALITY_EXACT;
		row->sum.count.cause = PFM_CAUSE_NONE;
	}
}
