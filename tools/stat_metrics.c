/* SPDX-License-Identifier: MIT */
/* pfm stat: metrics. What they need is planned, so that the events of a group are on counters at
 * the same times; their values come from the rows of the answer, with the error that repetitions
 * show; ratios of the usual events are shown by default. */
#include "metric.h"
#include "stat.h"
#include "term.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	MAX_METRICS = 1024,
	MAX_DEPTH = 16,
	MAX_USES = 1024,
	NUMBER_ROOM = 40,
	UNIT_ROOM = 512,
	PATH_ROOM = 4096
};

/* ---- names to metrics ------------------------------------------------------------------------ */

static bool add_use(struct stat_metrics *list, int pmu, unsigned event)
{
	struct stat_metric *more = realloc(list->at, (list->n + 1) * sizeof(*more));

	if (!more)
		return false;
	list->at = more;
	for (unsigned i = 0; i < list->n; i++)
		if (more[i].pmu == pmu && more[i].event == event)
			return true;
	more[list->n++] = (struct stat_metric){ .pmu = pmu, .event = event };
	return true;
}

/* Figures beside the tree: what they are groups of is not a level of it. */
static bool is_info_metric(const char *name)
{
	return strncasecmp(name, "info_", 5) == 0 || strncasecmp(name, "tma_info_", 9) == 0 ||
	       strncasecmp(name, "bottleneck", 10) == 0 ||
	       strncasecmp(name, "tma_bottleneck", 14) == 0;
}

struct group_expansion {
	struct stat_job *job;
	bool tree, failed;
	unsigned members;
};

static bool add_member(void *arg, int pmu, unsigned event, const pfm_metric_info_t *info)
{
	struct group_expansion *g = arg;

	g->members++;
	if (g->job->metrics.n < MAX_METRICS && !(g->tree && is_info_metric(info->name)))
		g->failed = !add_use(&g->job->metrics, pmu, event);
	return !g->failed;
}

/* Adds the metrics of group @name; @tree: those that are levels of the tree. How many it has,
 * whether they were there before or not. */
static unsigned add_group(struct stat_job *job, const char *name, bool tree)
{
	struct group_expansion g = { .job = job, .tree = tree };

	visit_group_metrics(job->ctx, name, add_member, &g);
	return g.failed ? 0 : g.members;
}

/* A metric's name, or that of a group. An exit status. */
static int add_name(struct stat_job *job, const char *name)
{
	static struct metric_use m;
	pfm_error_t error = PFM_INIT(error);
	int rc = find_metric(job->ctx, NULL, name, &m, &error);

	if (!rc)
		return add_use(&job->metrics, m.pmu, m.event)
		               ? EXIT_DONE
		               : report_bad_option("metrics", ENOMEM);
	if (add_group(job, name, false))
		return EXIT_DONE;
	report_stat_refusal(job, name, &error);
	if (error.kind == PFM_KIND_UNKNOWN_EVENT && !job->json)
		fputs("  'pfm list --metrics' lists the metrics\n", stderr);
	return EXIT_REFUSED;
}

bool visit_session_metrics(struct stat_job *job, const pfm_session_t *session)
{
	pfm_session_metric_t m = PFM_INIT(m);

	for (unsigned i = 0; i < pfm_count_metrics(session); i++)
		if (!pfm_compute_session_metric(session, i, NULL, 0, 0, &m) &&
		    !add_use(&job->metrics, m.pmu, m.event))
			return false;
	return true;
}

/* ---- what they need -------------------------------------------------------------------------- */

/* "PMU::NAME" of each metric, for the plan, with room for @more texts. */
static char **list_metric_texts(const struct stat_job *job, unsigned more)
{
	char **texts = calloc(job->metrics.n + more + 1, sizeof(*texts));
	pfm_pmu_info_t pmu = PFM_INIT(pmu);
	pfm_metric_info_t info = PFM_INIT(info);

	for (unsigned i = 0; texts && i < job->metrics.n; i++) {
		size_t room;

		if (pfm_describe_pmu(job->ctx, job->metrics.at[i].pmu, &pmu) ||
		    pfm_describe_metric(job->ctx, job->metrics.at[i].pmu, job->metrics.at[i].event,
		                        &info))
			continue;
		room = strlen(pmu.name) + strlen(info.name) + 3;
		texts[i] = malloc(room);
		if (texts[i])
			snprintf(texts[i], room, "%s::%s", pmu.name, info.name);
	}
	return texts;
}

/* The groups of @plan as texts for a session; a group that the kernel cannot keep together is
 * broken up and told. */
static bool add_plan(struct stat_job *job, const pfm_plan_t *plan)
{
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_planned_event_t e = PFM_INIT(e);
	unsigned i = 0;

	pfm_describe_plan(plan, &info);
	for (unsigned g = 0; g < info.n_groups; g++) {
		size_t room = 8, at = 1;
		unsigned first = i, members = 0;
		char *text;
		bool added;

		for (; !pfm_describe_planned_event(plan, i, &e) && e.group == g; i++, members++)
			room += strlen(e.text) + 1;
		text = malloc(room);
		if (!text)
			return false;
		text[0] = '{';
		for (unsigned k = first; k < i && !pfm_describe_planned_event(plan, k, &e); k++)
			at += (size_t)snprintf(text + at, room - at, "%s%s", k > first ? "," : "",
			                       e.text);
		snprintf(text + at, room - at, "}:W");
		if (members == 1)
			text[at] = '\0';
		added = event_list_add(&job->events, members == 1 ? text + 1 : text);
		free(text);
		if (!added)
			return false;
	}
	return true;
}

/* Appends the events of -e to the @n @texts, except pfm's own: with --rotate they are in the plan.
 * Returns the number of texts. */
static unsigned move_events(struct stat_job *job, char **texts, unsigned n)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < job->events.n; i++)
		if (find_own_event(job->events.texts[i]))
			job->events.texts[kept++] = job->events.texts[i];
		else
			texts[n++] = job->events.texts[i];
	job->events.n = kept;
	return n;
}

static int plan_metrics(struct stat_job *job)
{
	unsigned n = job->metrics.n;
	pfm_error_t error = PFM_INIT(error);
	pfm_plan_options_t options = PFM_INIT(options);
	pfm_plan_t *plan = NULL;
	char **texts = list_metric_texts(job, job->events.n);
	int rc = PFMLIB_ERR_NOMEM;
	int status = EXIT_DONE;

	options.taken = find_kept_counters(job->ctx, job->counters_free);
	if (texts && job->rotation.is_on)
		n = move_events(job, texts, n);
	if (texts)
		rc = pfm_create_plan(&plan, job->ctx, (const char *const *)texts, n, &options,
		                     &error);

	/* An event may need the very counter that the watchdog holds: only the kernel can tell
	 * whether another will do. */
	if (rc == PFMLIB_ERR_NOASSIGN && !job->counters_free) {
		options.flags = PFM_PLAN_ALL_COUNTERS;
		rc = pfm_create_plan(&plan, job->ctx, (const char *const *)texts, n, &options,
		                     &error);
	}
	if (rc) {
		report_stat_refusal(job, texts && error.event >= 0 ? texts[error.event] : "",
		                    &error);
		status = EXIT_REFUSED;
	} else if (job->rotation.is_on &&
	           make_schedule(&job->rotation, plan, (const char *const *)texts, n) !=
	                   EXIT_DONE) {
		status = EXIT_REFUSED;
	} else if (!add_plan(job, plan)) {
		status = report_bad_option("metrics", ENOMEM);
	}
	pfm_free_plan(plan);
	for (unsigned i = 0; texts && i < n; i++)
		free(texts[i]);
	free(texts);
	return status;
}

/* Adds what the metrics that are asked for consist of. False without memory. */
static bool add_child_metrics(struct stat_job *job)
{
	pfm_pmu_info_t pmu = PFM_INIT(pmu);
	pfm_metric_info_t info = PFM_INIT(info);
	unsigned n = job->metrics.n;

	for (unsigned i = 0; i < n; i++) {
		struct stat_metric m = job->metrics.at[i];

		if (pfm_describe_pmu(job->ctx, m.pmu, &pmu))
			continue;
		for (unsigned e = 0; e < pmu.n_events && job->metrics.n < MAX_METRICS; e++)
			if (!pfm_describe_metric(job->ctx, m.pmu, e, &info) &&
			    !is_info_metric(info.name) &&
			    is_child_metric(job, &(struct stat_metric){ .pmu = m.pmu, .event = e },
			                    &m) &&
			    !add_use(&job->metrics, m.pmu, e))
				return false;
	}
	return true;
}

/* Leaves out, from metric @first on, what the lists have on a level below @level, which is not
 * always that of the parent and one. */
static void drop_deeper_levels(struct stat_job *job, unsigned level, unsigned first)
{
	pfm_metric_info_t info = PFM_INIT(info);
	unsigned n = first;

	for (unsigned i = first; i < job->metrics.n; i++)
		if (pfm_describe_metric(job->ctx, job->metrics.at[i].pmu, job->metrics.at[i].event,
		                        &info) ||
		    info.level <= level)
			job->metrics.at[n++] = job->metrics.at[i];
	job->metrics.n = n;
}

/* Levels 1 to @level of the tree of top-down analysis. The lists' groups name the first ones, some
 * all; below them a metric says what it is a part of. */
static int add_topdown(struct stat_job *job, unsigned level)
{
	static const char *const names[] = { "TmaL", "Topdown_L", "PipelineL" };
	unsigned before = job->metrics.n, earlier;
	char group[24];

	for (unsigned i = 1; i <= level && i <= MAX_DEPTH; i++)
		for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			snprintf(group, sizeof(group), "%s%u", names[k], i);
			add_group(job, group, true);
		}
	do {
		earlier = job->metrics.n;
		if (!add_child_metrics(job))
			return report_bad_option("metrics", ENOMEM);
	} while (job->metrics.n > earlier);
	drop_deeper_levels(job, level, before);
	if (job->metrics.n > before)
		return EXIT_DONE;
	fprintf(stderr,
	        "%s: the processor of this machine has no top-down metrics; name "
	        "those of another PMU with -M PMU::TmaL1\n",
	        program_name);
	return EXIT_REFUSED;
}

int plan_stat_metrics(struct stat_job *job)
{
	int status = EXIT_DONE;

	for (unsigned i = 0; i < job->metric_names.n && status == EXIT_DONE; i++)
		status = add_name(job, job->metric_names.texts[i]);
	if (status == EXIT_DONE && job->topdown)
		status = add_topdown(job, job->topdown);
	if (status == EXIT_DONE && !order_metric_tree(job))
		status = report_bad_option("metrics", ENOMEM);
	if (status == EXIT_DONE && (job->metrics.n || job->rotation.is_on)) {
		if (job->metrics.n)
			job->memory_peak = pfm_memory_peak(job->ctx);
		status = plan_metrics(job);
	}
	if (status != EXIT_DONE || job->events.n)
		return status;
	fprintf(stderr,
	        "%s: these metrics need no events: name an event to count with "
	        "-e as well\n",
	        program_name);
	return EXIT_REFUSED;
}

void free_stat_metrics(struct stat_job *job)
{
	free(job->metrics.at);
	free(job->ratios.at);
	event_list_free(&job->metric_names);
	free_rotation(&job->rotation);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* How many CPUs a list of the kernel's has: "0-3,8". */
static unsigned count_cpus(const char *path)
{
	char text[PATH_ROOM];
	unsigned n = 0, first, last;
	FILE *f = fopen(make_machine_path(path, text, sizeof(text)), "r");

	while (f && fscanf(f, "%u", &first) == 1) {
		last = first;
		if (fscanf(f, "-%u", &last) == 1 && last < first)
			break;
		n += last - first + 1;
		if (fgetc(f) != ',')
			break;
	}
	if (f)
		fclose(f);
	return n;
}

/* A fact of the machine or of the measurement; false for an unknown one. */
bool find_metric_constant(const char *name, double elapsed, double *value)
{
	int smt;

	if (strcmp(name, "#duration_ms") == 0) {
		*value = elapsed * 1000;
		return true;
	}
	if (strcmp(name, "#num_cpus") == 0 || strcmp(name, "#num_cpus_online") == 0) {
		*value = count_cpus(name[9] ? "/sys/devices/system/cpu/online"
		                            : "/sys/devices/system/cpu/present");
		return *value > 0;
	}
	if (strcmp(name, "#smt_on") != 0 && strcmp(name, "#threads_per_core") != 0)
		return false;
	smt = read_machine_number("/sys/devices/system/cpu/smt/active");
	*value = name[1] == 's' ? smt : smt + 1;
	return smt >= 0;
}

/* The event called @text, which is named by @name and what may be before that; none if
 * qualifiers make another one of it. */
static struct event_at find_event(const struct stat_job *job, const char *text, const char *name)
{
	struct event_at at;

	if (strpbrk(name, ":/,@") ||
	    pfm_find_event_by_text(job->ctx, text, &at.pmu, &at.event, NULL))
		at = (struct event_at){ -1, 0 };
	return at;
}

/* The event of a row called @name, with a processor before it or without. */
static struct event_at row_event(const struct stat_job *job, const char *name)
{
	const char *colons = strstr(name, "::");

	return find_event(job, name, colons ? colons + 2 : name);
}

static bool is_same_metric(struct event_at a, struct event_at b)
{
	return a.pmu >= 0 && a.pmu == b.pmu && a.event == b.event;
}

/* The generic event that an event of the kernel's core PMU is, if both have one name. */
static struct event_at general_event(const struct stat_job *job, struct event_at at)
{
	pfm_pmu_info_t pmu = PFM_INIT(pmu);
	pfm_event_info_t e = PFM_INIT(e);
	char text[256];

	if (at.pmu < 0 || pfm_describe_pmu(job->ctx, at.pmu, &pmu) ||
	    !(pmu.flags & PFM_PMU_KERNEL) || !(pmu.flags & PFM_PMU_CORE) ||
	    pfm_describe_event(job->ctx, at.pmu, at.event, &e))
		return (struct event_at){ -1, 0 };
	snprintf(text, sizeof(text), "hardware::%s", e.name);
	return find_event(job, text, e.name);
}

/* True if some row's text means this event. */
static bool has_event(const struct stat_job *job, struct event_at at)
{
	for (unsigned i = 0; i < job->n_rows; i++)
		if (is_same_metric(job->rows[i].named, at))
			return true;
	return false;
}

/* Rows are asked about by every input of every metric. */
static void find_rows(struct stat_job *job)
{
	for (struct stat_row *row = job->rows; row < job->rows + job->n_rows; row++)
		row->named = row_event(job, row->event);
	for (struct stat_row *row = job->rows; row < job->rows + job->n_rows; row++) {
		struct event_at at = general_event(job, row->named);

		row->at = at.pmu >= 0 && !has_event(job, at) ? at : row->named;
	}
}

/* An input of a metric, and the event that it means. */
struct metric_input {
	pfm_metric_input_t in;
	struct event_at at;
};

/* Input @i of @m. False if it has fewer. */
static bool find_input(const struct stat_job *job, const struct stat_metric *m, unsigned i,
                       struct metric_input *out)
{
	const char *colons;

	out->in = (pfm_metric_input_t)PFM_INIT(out->in);
	if (pfm_describe_metric_input(job->ctx, m->pmu, m->event, i, &out->in))
		return false;
	colons = strstr(out->in.text, "::");
	out->at = out->in.is_constant
	                  ? (struct event_at){ -1, 0 }
	                  : find_event(job, out->in.text, colons ? colons + 2 : out->in.text);
	return true;
}

/* Does @row count what @input names? Ratios go by events alone: one with qualifiers is another. */
static bool is_input(const struct stat_row *row, const struct metric_input *input)
{
	return is_same_metric(row->at, input->at) || strcmp(row->event, input->in.text) == 0 ||
	       strcmp(row->event, input->in.alias) == 0;
}

struct input_counts {
	struct stat_metric metric;
	pfm_metric_info_t info;
	pfm_quality_t quality; /* the worst of its counts */
	bool across;           /* counts of several groups */
	unsigned found, asked; /* events among the rows; events it needs */
	unsigned n_uses;
	pfm_metric_operand_t counts[256];
	struct row_use uses[MAX_USES];
};

static void add_row_to_input(const struct stat_row *row, struct input_counts *r, unsigned i,
                             int *group)
{
	const pfm_tally_t *t = &row->tally;
	double error = t->counted > 1 ? sqrt(t->squares / (t->counted - 1) / t->counted) : 0;

	r->counts[i].value += t->mean;
	r->counts[i].error = sqrt(r->counts[i].error * r->counts[i].error + error * error);
	if (t->counted && t->count.quality > r->quality)
		r->quality = t->count.quality;
	r->across |= *group >= 0 && *group != (int)row->info.group;
	*group = (int)row->info.group;
}

/* The rows that a value is made from: those with the label, of that PMU alone unless it is NULL; of
 * an event that was named several times what was counted with @beside, unless that is NULL: then
 * where most of @metric's inputs were counted together. */
struct metric_search {
	const char *label, *pmu;
	const struct stat_row *is_beside_count;
	const struct stat_metric *metric;
};

static bool is_row_of(const struct stat_job *job, unsigned k, const struct metric_search *rows,
                      const struct metric_input *input)
{
	const struct stat_row *row = &job->rows[k];

	return strcmp(row->label, rows->label) == 0 && is_input(row, input) &&
	       (!rows->pmu || strcmp(row->info.pmu, rows->pmu) == 0);
}

static bool same_group(const struct stat_row *a, const struct stat_row *b)
{
	return a->part == b->part && a->info.group == b->info.group;
}

/* How many inputs of the metric have a value in the group of @row; 0 if that has none itself. */
static int add_inputs_beside(const struct stat_job *job, const struct metric_search *rows,
                             const struct stat_row *row)
{
	struct metric_input input;
	int n = 0;

	for (unsigned i = 0; row->tally.counted && find_input(job, rows->metric, i, &input); i++)
		for (unsigned k = 0; k < job->n_rows; k++)
			if (job->rows[k].tally.counted && same_group(&job->rows[k], row) &&
			    is_row_of(job, k, rows, &input)) {
				n++;
				break;
			}
	return n;
}

/* How near @row is to the one that the value is beside: that itself, a member of its group, any
 * other; where it is beside none, how much of it the row's group has. */
static int rank_row_nearness(const struct stat_job *job, const struct stat_row *row,
                             const struct metric_search *rows)
{
	const struct stat_row *beside = rows->is_beside_count;

	return !beside         ? add_inputs_beside(job, rows, row)
	       : row == beside ? 2
	                       : same_group(row, beside);
}

/* True if another row is the same count, of an event that was named twice, and nearer, or as near
 * and earlier. */
static bool is_repeated(const struct stat_job *job, unsigned k, const struct metric_search *rows,
                        const struct metric_input *input)
{
	const struct stat_row *row = &job->rows[k];
	int near = -1;

	for (unsigned i = 0; i < job->n_rows; i++) {
		const struct stat_row *other = &job->rows[i];
		int nearer;

		if (i == k || !is_row_of(job, i, rows, input) ||
		    strcmp(row->info.pmu, other->info.pmu) != 0)
			continue;
		if (near < 0)
			near = rank_row_nearness(job, row, rows);
		nearer = rank_row_nearness(job, other, rows) - near;
		if (nearer > 0 || (!nearer && i < k))
			return true;
	}
	return false;
}

/* Adds the rows that count input @i: counts of one event on several types of cores are added up,
 * and all of them must be there. */
static void add_rows_to_input(const struct stat_job *job, const struct metric_search *rows,
                              const struct metric_input *input, struct input_counts *r, unsigned i,
                              int *group)
{
	unsigned found = 0, counted = 0;

	for (unsigned k = 0; k < job->n_rows; k++) {
		if (!is_row_of(job, k, rows, input) || is_repeated(job, k, rows, input))
			continue;
		add_row_to_input(&job->rows[k], r, i, group);
		if (r->n_uses < MAX_USES)
			r->uses[r->n_uses++] = (struct row_use){ i, k };
		counted += job->rows[k].tally.counted != 0;
		found++;
	}
	r->found += found != 0;
	r->counts[i].known = found && counted == found;
}

/* @whole: it is given up at the first event that is not among the rows. */
static bool read_inputs(const struct stat_job *job, const struct stat_metric *m,
                        const struct metric_search *rows, double elapsed, bool whole,
                        struct input_counts *r)
{
	struct metric_input input;
	const pfm_metric_input_t *in = &input.in;
	int group = -1;

	r->metric = *m;
	r->info = (pfm_metric_info_t)PFM_INIT(r->info);
	r->quality = PFM_QUALITY_EXACT;
	r->across = false;
	r->found = r->asked = r->n_uses = 0;
	if (pfm_describe_metric(job->ctx, m->pmu, m->event, &r->info))
		return false;
	/* Metrics have few inputs, and this has room for all that any may have. */
	memset(r->counts, 0, r->info.n_inputs * sizeof(r->counts[0]));
	for (unsigned i = 0; i < r->info.n_inputs && find_input(job, m, i, &input); i++) {
		if (in->is_constant) {
			r->counts[i].known =
				find_metric_constant(in->text, elapsed, &r->counts[i].value) ||
				in->has_preset;
			if (in->has_preset)
				r->counts[i].value = in->preset;
			continue;
		}
		r->asked += i < r->info.n_value_inputs;
		add_rows_to_input(job, rows, &input, r, i, &group);
		if (whole && r->found < r->asked)
			return false;
	}
	return true;
}

/* ---- answers --------------------------------------------------------------------------------- */

const char *common_pmu(const struct stat_job *job, const struct stat_metric *m)
{
	pfm_pmu_info_t pmu = PFM_INIT(pmu);

	for (unsigned i = 0; i < job->metrics.n; i++)
		if (job->metrics.at[i].pmu != m->pmu)
			return pfm_describe_pmu(job->ctx, m->pmu, &pmu) ? "" : pmu.name;
	return "";
}

/* Prints the mark of a value that cannot be true; its reason follows the metrics. */
static void print_check(const struct stat_job *job, const pfm_metric_check_t *check)
{
	if (check->result)
		fprintf(job->out, "  %s%s%s", term_colour_begin(job->out, RED),
		        pfm_plausibility_name(check->result), term_colour_end(job->out));
}

static void print_metric(const struct stat_job *job, const struct input_counts *r,
                         const pfm_metric_value_t *v, const pfm_metric_check_t *check,
                         const char *label, double time)
{
	const char *pmu = common_pmu(job, &r->metric);
	char value[40] = "";

	if (v->state == PFM_METRIC_DEFINED)
		snprintf(value, sizeof(value), "%.4g", v->value);
	else
		snprintf(value, sizeof(value), "<%s>", pfm_metric_state_name(v->state));
	if (time >= 0)
		fprintf(job->out, "%12.6f", time);
	if (*label)
		print_label(job, label, widest_label(job));
	fprintf(job->out, "%s%20s%s %s%s%*s%s",
	        term_colour_begin(job->out, v->state                ? RED
	                                    : v->over_threshold > 0 ? YELLOW
	                                                            : PLAIN),
	        value, term_colour_end(job->out), v->state ? "" : r->info.unit,
	        !v->state && *r->info.unit ? "  " : "",
	        r->info.level > 1 && *r->info.parent ? 2 * (int)(r->info.level - 1) : 0, "",
	        r->info.name);
	if (*pmu)
		fprintf(job->out, "  %s[%s]%s", term_colour_begin(job->out, DIM), pmu,
		        term_colour_end(job->out));
	if (!v->state && v->error > 0)
		fprintf(job->out, "  +- %.2g", v->error);
	if (!v->state && v->error < 0)
		fprintf(job->out, "  +- unknown");
	if (!v->state && r->quality == PFM_QUALITY_SCALED && r->across)
		fprintf(job->out, "  (from groups counted at different times)");
	else if (!v->state && r->quality != PFM_QUALITY_EXACT)
		fprintf(job->out, "  %s", pfm_quality_name(r->quality));
	if (v->over_threshold > 0)
		fputs("  look closer", job->out);
	print_check(job, check);
	fputc('\n', job->out);
}

static void json_metric(const struct stat_job *job, const struct input_counts *r,
                        const pfm_metric_value_t *v, const pfm_metric_check_t *check,
                        const char *label, double time)
{
	struct json j = { .out = job->out };
	pfm_pmu_info_t pmu = PFM_INIT(pmu);

	put_begin(&j, NULL, '{');
	if (time >= 0)
		put_real(&j, "time", time);
	put_text(&j, "metric", r->info.name);
	if (!pfm_describe_pmu(job->ctx, r->metric.pmu, &pmu))
		put_text(&j, "pmu", pmu.name);
	put_text_if(&j, "label", label);
	if (v->state)
		put_null(&j, "value");
	else
		put_number(&j, "value", v->value);
	put_text_if(&j, "unit", r->info.unit);
	if (v->state)
		put_text(&j, "why", pfm_metric_state_name(v->state));
	if (!v->state && v->error < 0)
		put_null(&j, "error");
	if (!v->state && v->error > 0) {
		put_number(&j, "error", v->error);
		put_number(&j, "low", v->low);
		put_number(&j, "high", v->high);
	}
	put_text(&j, "quality", pfm_quality_name(v->state ? PFM_QUALITY_NOT_COUNTED : r->quality));
	put_bool(&j, "scaled", r->quality == PFM_QUALITY_SCALED);
	put_bool(&j, "across_groups", r->across);
	if (v->over_threshold >= 0)
		put_bool(&j, "over_threshold", v->over_threshold != 0);
	if (check->result) {
		put_text(&j, "implausible", pfm_plausibility_name(check->result));
		put_text(&j, "reason", check->reason);
	}
	put_text_if(&j, "parent", r->info.parent);
	if (r->info.level)
		put_int(&j, "level", r->info.level);
	put_end(&j, '}');
	put_line(&j);
}

/* The line of columns that perf has for a metric beyond the first of a count: the columns of the
 * count are empty. */
static void print_metric_columns(const struct stat_job *job, const struct input_counts *r,
                                 const pfm_metric_value_t *v, const pfm_metric_check_t *check,
                                 const char *label, double time)
{
	const char *sep = job->separator;
	char value[NUMBER_ROOM] = "", error[NUMBER_ROOM] = "", unit[UNIT_ROOM];

	put_time_field(job, time);
	if (has_row_labels(job))
		put_field(job, label, sep);
	fprintf(job->out, "%s%s%s%s%s%s", sep, sep, sep, job->repeats ? sep : "", sep, sep);
	if (!v->state)
		snprintf(value, sizeof(value), "%.9g", v->value);
	snprintf(unit, sizeof(unit), "%s%s%s", r->info.unit, *r->info.unit ? "  " : "",
	         r->info.name);
	put_field(job, value, sep);
	put_field(job, unit, sep);
	put_field(job, pfm_quality_name(v->state ? PFM_QUALITY_NOT_COUNTED : r->quality), sep);
	put_field(job,
	          v->state        ? pfm_metric_state_name(v->state)
	          : check->result ? pfm_plausibility_name(check->result)
	                          : "",
	          sep);
	if (!v->state && v->error > 0)
		snprintf(error, sizeof(error), "%.9g", v->error);
	put_field(job, !v->state && v->error < 0 ? "unknown" : error, "\n");
}

/* The value of @m from the @rows. @whole: only if all its events are among them, and it is defined.
 */
static bool evaluate_rows(const struct stat_job *job, const struct stat_metric *m,
                          const struct metric_search *rows, double elapsed, bool whole,
                          struct input_counts *r, pfm_metric_value_t *v)
{
	if (!read_inputs(job, m, rows, elapsed, whole, r) || (whole && !r->asked))
		return false;
	if (pfm_compute_metric(job->ctx, m->pmu, m->event,
	                       &(pfm_metric_data_t){ .size = sizeof(pfm_metric_data_t),
	                                             .n_inputs = r->info.n_inputs,
	                                             .operands = r->counts },
	                       v) ||
	    (whole && v->state))
		return false;
	if (!v->state && needs_slices(job))
		estimate_metric_error(job,
		                      &(struct metric_inputs){ *m, r->counts, r->info.n_inputs,
		                                               r->uses, r->n_uses, r->quality,
		                                               r->across },
		                      v);
	return true;
}

bool compute_stat_metric(const struct stat_job *job, const struct stat_metric *m, const char *label,
                         double elapsed, struct metric_answer *out)
{
	static struct input_counts r;

	out->value = (pfm_metric_value_t)PFM_INIT(out->value);
	if (!evaluate_rows(job, m, &(struct metric_search){ .label = label, .metric = m }, elapsed,
	                   false, &r, &out->value))
		return false;
	out->info = r.info;
	out->quality = r.quality;
	return true;
}

/* ---- plausibility ---------------------------------------------------------------------------- */

enum { MAX_SUM_PARTS = 8 };

static bool is_requested(const struct stat_job *job, int pmu, unsigned event)
{
	for (unsigned i = 0; i < job->metrics.n; i++)
		if (job->metrics.at[i].pmu == pmu && job->metrics.at[i].event == event)
			return true;
	return false;
}

/* Checks the sum that @m is a part of, if all its parts were requested. */
static void check_sum(const struct stat_job *job, const struct stat_metric *m, const char *label,
                      double elapsed, pfm_metric_check_t *check)
{
	static struct metric_answer a;
	pfm_metric_value_t parts[MAX_SUM_PARTS];
	unsigned events[MAX_SUM_PARTS];
	bool extrapolated = false;
	double whole;
	int n = pfm_list_metric_sum(job->ctx, m->pmu, m->event, events, MAX_SUM_PARTS, &whole);

	for (int i = 0; i < n; i++)
		if (!is_requested(job, m->pmu, events[i]))
			return;
	for (int i = 0; i < n; i++) {
		if (!compute_stat_metric(job,
		                         &(struct stat_metric){ .pmu = m->pmu, .event = events[i] },
		                         label, elapsed, &a))
			return;
		parts[i] = a.value;
		extrapolated |= a.quality != PFM_QUALITY_EXACT;
	}
	if (n > 0)
		pfm_check_metric_sum(parts, (unsigned)n, whole, extrapolated, check);
}

/* Can the value of @m be true? */
static void check_value(const struct stat_job *job, const struct stat_metric *m, const char *label,
                        double elapsed, const pfm_metric_value_t *v, pfm_quality_t quality,
                        pfm_metric_check_t *check)
{
	if (pfm_check_metric(job->ctx, m->pmu, m->event, v, quality != PFM_QUALITY_EXACT,
	                     job->memory_peak, check) ||
	    check->result != PFM_PLAUSIBLE || v->state)
		return;
	check_sum(job, m, label, elapsed, check);
}

/* The reasons that values of a report are wrong, each once. */
struct check_reasons {
	unsigned n;
	pfm_metric_check_t checks[2 * (PFM_ABOVE_PEAK + 1)];
};

static void add_reason(struct check_reasons *r, const pfm_metric_check_t *check)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->checks[i].result == check->result &&
		    strcmp(r->checks[i].reason, check->reason) == 0)
			return;
	if (check->result && r->n < sizeof(r->checks) / sizeof(r->checks[0]))
		r->checks[r->n++] = *check;
}

static void print_check_reasons(const struct stat_job *job, const struct check_reasons *r)
{
	for (unsigned i = 0; i < r->n; i++)
		fprintf(job->out, "\n  %s:\n    %s\n", pfm_plausibility_name(r->checks[i].result),
		        r->checks[i].reason);
}

static void report_metric(const struct stat_job *job, const struct stat_metric *m,
                          const char *label, double elapsed, double time, bool whole,
                          struct check_reasons *reasons)
{
	static struct input_counts r;
	pfm_metric_value_t v = PFM_INIT(v);
	pfm_metric_check_t check = PFM_INIT(check);

	if (!evaluate_rows(job, m, &(struct metric_search){ .label = label, .metric = m }, elapsed,
	                   whole, &r, &v))
		return;
	check_value(job, m, label, elapsed, &v, r.quality, &check);
	add_reason(reasons, &check);
	if (job->json)
		json_metric(job, &r, &v, &check, label, time);
	else if (job->separator)
		print_metric_columns(job, &r, &v, &check, label, time);
	else
		print_metric(job, &r, &v, &check, label, time);
}

/* Calls for each label that rows have. */
static void report_labels(const struct stat_job *job, const struct stat_metric *m, double elapsed,
                          double time, bool whole, struct check_reasons *reasons)
{
	for (unsigned i = 0; i < job->n_rows; i++) {
		unsigned k = 0;

		while (strcmp(job->rows[k].label, job->rows[i].label) != 0)
			k++;
		if (k == i)
			report_metric(job, m, job->rows[i].label, elapsed, time, whole, reasons);
	}
}

/* Reports the ratios that are beside no count. */
static void report_ratios(const struct stat_job *job, double elapsed, double time,
                          struct check_reasons *reasons)
{
	for (unsigned i = 0; i < job->ratios.n; i++) {
		struct stat_metric *m = &job->ratios.at[i];

		if (!m->is_beside_count)
			report_labels(job, m, elapsed, time, true, reasons);
		m->is_beside_count = false;
	}
}

void report_metrics(const struct stat_job *job, double elapsed, double time)
{
	struct check_reasons reasons = { .n = 0 };

	for (unsigned i = 0; i < job->metrics.n; i++)
		report_labels(job, &job->metrics.at[i], elapsed, time, false, &reasons);
	if (job->json || job->separator)
		return;
	report_ratios(job, elapsed, time, &reasons);
	if (time < 0)
		print_check_reasons(job, &reasons);
}

/* ---- ratios ---------------------------------------------------------------------------------- */

struct ratio_collection {
	struct stat_metrics *ratios;
	bool failed;
};

static bool add_ratio(void *arg, int pmu, unsigned event, const pfm_metric_info_t *info)
{
	struct ratio_collection *c = arg;

	(void)info;
	c->failed = !add_use(c->ratios, pmu, event);
	return !c->failed;
}

/* Adds the usual ratios of PMU @p. False without memory. */
static bool add_ratios(struct stat_job *job, int p)
{
	struct ratio_collection c = { .ratios = &job->ratios };
	pfm_pmu_info_t pmu = PFM_INIT(pmu);
	char group[128];

	if (p < 0 || pfm_describe_pmu(job->ctx, p, &pmu))
		return true;
	snprintf(group, sizeof(group), "%s::ratios", pmu.name);
	visit_group_metrics(job->ctx, group, add_ratio, &c);
	return !c.failed;
}

/* The table of ratios beside that of PMU @p, or -1. */
static int find_ratios(const struct stat_job *job, int p)
{
	pfm_pmu_info_t pmu = PFM_INIT(pmu);
	char name[128];

	if (p < 0 || pfm_describe_pmu(job->ctx, p, &pmu))
		return -1;
	snprintf(name, sizeof(name), "%s_ratios", pmu.name);
	return pfm_find_pmu(job->ctx, name);
}

/* Ratios are left out where metrics were asked for. */
static bool needs_ratios(const struct stat_job *job)
{
	return !job->metrics.n && !job->no_ratios;
}

/* True if some row counts what @input names. */
static bool has_row(const struct stat_job *job, const struct metric_input *input)
{
	for (unsigned i = 0; i < job->n_rows; i++)
		if (is_input(&job->rows[i], input))
			return true;
	return false;
}

/* True if rows count all that ratio @m is made of. Notes the event that it begins with: none if
 * that has a second name, which a row may have. */
static bool are_metric_inputs_counted(const struct stat_job *job, struct stat_metric *m)
{
	pfm_metric_info_t info = PFM_INIT(info);
	struct metric_input input;

	m->first = (struct event_at){ -1, 0 };
	if (pfm_describe_metric(job->ctx, m->pmu, m->event, &info))
		return false;
	for (unsigned i = 0; i < info.n_value_inputs && find_input(job, m, i, &input); i++) {
		if (i == 0 && !*input.in.alias)
			m->first = input.at;
		if (!input.in.is_constant && !has_row(job, &input))
			return false;
	}
	return true;
}

bool prepare_ratios(struct stat_job *job)
{
	static const char *const names[] = { "hardware", "software", "hw_cache" };
	unsigned n = 0;
	bool room = true;
	int last = -1;

	if (job->metrics.n || !job->no_ratios)
		find_rows(job);
	if (!needs_ratios(job))
		return true;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]) && room; i++)
		room = add_ratios(job, pfm_find_pmu(job->ctx, names[i]));
	for (unsigned i = 0; i < job->n_rows && room; i++) {
		int p;

		p = pfm_find_pmu(job->ctx, job->rows[i].info.pmu);
		if (p != last)
			room = add_ratios(job, p) && add_ratios(job, find_ratios(job, p));
		last = p;
	}
	for (unsigned i = 0; i < job->ratios.n; i++)
		if (are_metric_inputs_counted(job, &job->ratios.at[i]))
			job->ratios.at[n++] = job->ratios.at[i];
	job->ratios.n = n;
	return room;
}

/* True if ratio @m may begin with the event of @row. */
static bool may_start_expression(const struct stat_job *job, const struct stat_metric *m,
                                 const struct stat_row *row)
{
	struct metric_input input;

	if (row->at.pmu >= 0 && m->first.pmu >= 0)
		return is_same_metric(row->at, m->first);
	return find_input(job, m, 0, &input) && is_input(row, &input);
}

/* How often the event of @row came in a second of the task's time, which the count of task-clock
 * with the same label is. */
static bool compute_row_rate(const struct stat_job *job, const struct stat_row *row,
                             struct ratio *out)
{
	if (*row->info.unit || row->own || !row->tally.counted || row->info.is_level)
		return false;
	for (unsigned i = 0; i < job->n_rows; i++) {
		const struct stat_row *clock = &job->rows[i];
		pfm_quality_t quality = clock->tally.count.quality;

		if (clock->own || strcmp(clock->info.name, "task-clock") != 0 ||
		    strcmp(clock->label, row->label) != 0 || clock->tally.mean <= 0)
			continue;
		if (row->tally.count.quality > quality)
			quality = row->tally.count.quality;
		*out = (struct ratio){ "per_second", "/s", row->tally.mean / clock->tally.mean * NS,
			               quality };
		return true;
	}
	return false;
}

/* A type of core has a ratio of its own, where all that it is made from is counted there: else it
 * is that of all of them. */
bool find_row_ratio(const struct stat_job *job, const struct stat_row *row, double elapsed,
                    struct ratio *out)
{
	static struct input_counts r;
	pfm_metric_value_t v = PFM_INIT(v);
	const struct metric_search own = { row->label, row->info.pmu, row, NULL },
				   all = { row->label, NULL, row, NULL };

	for (unsigned i = 0; i < job->ratios.n; i++) {
		struct stat_metric *m = &job->ratios.at[i];

		if (!may_start_expression(job, m, row) ||
		    (!evaluate_rows(job, m, &own, elapsed, true, &r, &v) &&
		     !evaluate_rows(job, m, &all, elapsed, true, &r, &v)))
			continue;
		*out = (struct ratio){ r.info.name, r.info.unit, v.value, r.quality };
		m->is_beside_count = true;
		return true;
	}
	return needs_ratios(job) && compute_row_rate(job, row, out);
}
