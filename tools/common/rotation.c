/* SPDX-License-Identifier: MIT */
/* Groups of a plan take turns. The slots begin at whole multiples of their length by the clock of
 * the system, so machines whose clocks agree count the same at the same time. */
#include "common/rotation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "common/pfm.h"
#include "stat/stat.h"

enum { HOST_NAME_SIZE = 256 };

/* ---- wishes ---------------------------------------------------------------------------------- */

static bool read_positive(const char *text, const char *end, double *out)
{
	char *stop;

	*out = strtod(text, &stop);
	return stop == end && stop > text && *out > 0 && isfinite(*out);
}

static bool add_rotation_wish(struct rotation *r, const char *text)
{
	const char *equals = strrchr(text, '='), *numbers = equals ? equals + 1 : text,
		   *slash = strchr(numbers, '/'), *end = numbers + strlen(numbers);
	struct rotation_wish w = { .text = text };

	if (r->n_wishes == ROTATION_MAX_WISHES)
		return false;
	if (slash ? !read_positive(slash + 1, end, &w.wish.longest_gap) : numbers == end)
		return false;
	if (numbers != (slash ? slash : end) &&
	    !read_positive(numbers, slash ? slash : end, &w.wish.readings_per_minute))
		return false;
	if (equals && (equals == text || !(w.name = strndup(text, (size_t)(equals - text)))))
		return false;
	r->wishes[r->n_wishes++] = w;
	return true;
}

int parse_rotation_wish(struct command_args *args, struct rotation *r, const char *value)
{
	return add_rotation_wish(r, value)
	               ? -1
	               : report_usage_error(args,
	                                    "expected [NAME=]READINGS[/GAP] after --wish, such as "
	                                    "ipc=12/10 for 12 readings a minute and gaps of at "
	                                    "most 10 seconds, got '%s'.",
	                                    value);
}

int set_rotation(struct command_args *args, struct rotation *r, const char *value,
                 unsigned usual_ms)
{
	uint64_t ms = usual_ms;

	if (value && !option_number(args, "--rotate", value, 1, 86400000, &ms))
		return args->status;
	r->is_on = true;
	r->slot_seconds = (double)ms / 1000;
	return -1;
}

/* True if @name is @text, which may have a PMU before it. */
static bool is_text_named(const char *text, const char *name)
{
	const char *colons = strstr(text, "::");

	return strcasecmp(text, name) == 0 || (colons && strcasecmp(colons + 2, name) == 0);
}

/* Assigns the --wish options to texts: first those without a name, to all texts. False if a name is
 * unknown. */
static bool assign_wishes(const struct rotation *r, const char *const *texts, unsigned n,
                          pfm_wish_t *wishes)
{
	bool all_known = true;

	for (unsigned k = 0; k < r->n_wishes; k++)
		for (unsigned i = 0; i < n && !r->wishes[k].name; i++)
			wishes[i] = r->wishes[k].wish;
	for (unsigned k = 0; k < r->n_wishes; k++) {
		bool is_known = !r->wishes[k].name;

		for (unsigned i = 0; i < n && r->wishes[k].name; i++) {
			if (!is_text_named(texts[i], r->wishes[k].name))
				continue;
			wishes[i] = r->wishes[k].wish;
			is_known = true;
		}
		if (!is_known)
			fprintf(stderr,
			        "%s: --wish %s: expected the name of an event or metric that is "
			        "counted\n",
			        program_name, r->wishes[k].text);
		all_known &= is_known || r->skips_unknown;
	}
	return all_known;
}

/* ---- the schedule ---------------------------------------------------------------------------- */

static void report_no_schedule(const pfm_error_t *error, const char *const *texts, unsigned n)
{
	fprintf(stderr, "%s: %s\n", program_name,
	        error->detail ? error->detail : pfm_result_text(error->code));
	if (error->number && error->event >= 0 && (unsigned)error->event < n)
		fprintf(stderr, "  they need %llu slots, most of them for %s\n",
		        (unsigned long long)error->number, texts[error->event]);
}

int make_schedule(struct rotation *r, const pfm_plan_t *plan, const char *const *texts, unsigned n)
{
	pfm_schedule_options_t o = PFM_INIT(o);
	pfm_error_t error = PFM_INIT(error);
	pfm_wish_t *wishes = calloc(n + 1, sizeof(*wishes));
	char host[HOST_NAME_SIZE] = "";
	int rc;

	if (!wishes)
		return report_no_memory();
	if (!assign_wishes(r, texts, n, wishes)) {
		free(wishes);
		return EXIT_REFUSED;
	}
	if (r->is_shifted && gethostname(host, sizeof(host) - 1) == 0)
		o.host = host;
	o.slot_seconds = r->slot_seconds;
	o.n_slots = r->n_slots;
	rc = pfm_create_schedule(&r->schedule, plan, wishes, n, &o, &error);
	free(wishes);
	if (rc) {
		report_no_schedule(&error, texts, n);
		return EXIT_REFUSED;
	}
	r->info = (pfm_schedule_info_t)PFM_INIT(r->info);
	pfm_describe_schedule(r->schedule, &r->info);
	return EXIT_DONE;
}

void free_rotation(struct rotation *r)
{
	pfm_close_schedule(r->schedule);
	r->schedule = NULL;
	while (r->n_wishes)
		free(r->wishes[--r->n_wishes].name);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static double read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / NS;
}

uint64_t compute_slot_end(const struct rotation *r)
{
	double into = fmod(read_clock(), r->info.slot_seconds);

	return (uint64_t)((r->info.slot_seconds - into) * NS) + 1;
}

/* Returns the turn of a count. Core types and boxes of a PMU have separate turns within one plan
 * group. */
static unsigned number_turn(const pfm_session_t *session, unsigned count, unsigned turn)
{
	pfm_count_info_t info = PFM_INIT(info), other = PFM_INIT(other);
	unsigned n = pfm_session_size(session), first = 0;

	pfm_describe_count(session, count, &info);
	for (; first < count; first++) {
		pfm_describe_count(session, first, &other);
		if (strcmp(other.pmu, info.pmu) == 0)
			break;
	}
	return turn ? (turn - 1) * n + first + 1 : 0;
}

/* Stores the turn and the plan group of each group of a session. */
static bool map_groups(const struct rotation *r, struct stat_target *p)
{
	pfm_count_info_t info = PFM_INIT(info);
	unsigned n = 0, last = 0, last_turn = 0;

	for (unsigned i = 0; i < p->n; i++) {
		pfm_describe_count(p->session, i, &info);
		n = info.group >= n ? info.group + 1 : n;
	}
	p->n_groups = n;
	p->turns = calloc(n + 1, sizeof(*p->turns));
	p->planned_groups = calloc(n + 1, sizeof(*p->planned_groups));
	p->is_on = calloc(n + 1, 1);
	if (!p->turns || !p->planned_groups || !p->is_on)
		return false;
	for (unsigned i = 0; i < p->n; i++) {
		pfm_describe_count(p->session, i, &info);
		/* Counts of a group are adjacent. */
		if (i && info.group == last)
			continue;
		last = info.group;
		p->planned_groups[last] = info.request;
		last_turn = pfm_get_group_turn(r->schedule, p->planned_groups[last]);
		p->turns[last] = number_turn(p->session, i, last_turn);
	}
	return true;
}

int select_slot(struct stat_job *job)
{
	struct rotation *r = &job->rotation;
	const uint64_t begin = now_ns();

	r->slot = pfm_find_slot(r->schedule, read_clock());
	for (struct stat_target *p = job->targets.list; p < job->targets.list + job->targets.n;
	     p++) {
		int rc;

		if (!p->session)
			continue;
		if (!p->turns && !map_groups(r, p))
			return report_no_memory();
		for (unsigned g = 0; g < p->n_groups; g++)
			p->is_on[g] = pfm_is_group_in_slot(r->schedule, r->slot,
			                                   p->planned_groups[g]) == 1;
		rc = pfm_select_groups(p->session, p->turns, p->is_on, p->n_groups);
		if (rc == PFMLIB_SUCCESS || rc == PFMLIB_ERR_NOTSUPP)
			continue;
		fprintf(stderr, "%s: cannot switch groups: %s\n", program_name,
		        rc == PFMLIB_ERR_SYS ? strerror(pfm_session_errno(p->session))
		                             : pfm_result_text(rc));
		return EXIT_REFUSED;
	}
	r->switch_ns += now_ns() - begin;
	return EXIT_DONE;
}

/* ---- errors ---------------------------------------------------------------------------------- */

void end_slot(struct stat_job *job)
{
	job->rotation.n_past++;
	for (struct stat_row *row = job->result.rows; row < job->result.rows + job->result.n_rows;
	     row++)
		add_slot(&row->slot_rates);
}

void forget_slots(struct stat_job *job)
{
	job->rotation.n_past = 0;
	for (struct stat_row *row = job->result.rows; row < job->result.rows + job->result.n_rows;
	     row++)
		row->slot_rates = (struct slot_rates){ 0 };
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Prints the group of each slot, twenty in a line. */
static void print_turn(const struct rotation *r, const unsigned *groups, unsigned n)
{
	enum { PER_LINE = 20 };

	for (unsigned t = 0; t < r->info.n_slots; t++) {
		for (unsigned i = 0; i < n; i++)
			if (pfm_is_group_in_slot(r->schedule, t, groups[i]) == 1)
				printf(t % PER_LINE ? " %3u" : "  %3u", groups[i] + 1);
		if (t % PER_LINE == PER_LINE - 1 || t + 1 == r->info.n_slots)
			putchar('\n');
	}
}

static void print_turns(const struct rotation *r)
{
	unsigned *groups = calloc(r->info.n_groups + 1, sizeof(*groups)), last = 0;

	for (unsigned g = 0; g < r->info.n_groups; g++)
		if (pfm_get_group_turn(r->schedule, g) > last)
			last = pfm_get_group_turn(r->schedule, g);
	for (unsigned turn = 1; groups && turn <= last; turn++) {
		unsigned n = 0;

		for (unsigned g = 0; g < r->info.n_groups; g++)
			if (pfm_get_group_turn(r->schedule, g) == turn)
				groups[n++] = g;
		printf("\ngroup of each slot%s\n", last > 1 ? ", of one PMU" : "");
		print_turn(r, groups, n);
	}
	free(groups);
}

void print_schedule(const struct rotation *r, const char *const *texts)
{
	pfm_scheduled_request_t q = PFM_INIT(q);

	printf("\n%u slots of %g s in a cycle%s", r->info.n_slots, r->info.slot_seconds,
	       r->is_shifted ? "" : "\n");
	if (r->is_shifted)
		printf(", shifted by %u on this machine\n", r->info.shift);
	print_turns(r);
	printf("\n  %8s %8s %9s\n", "slots", "gap", "error");
	for (unsigned i = 0; i < r->info.n_requests; i++) {
		pfm_describe_scheduled_request(r->schedule, i, &q);
		printf("  %8u %6.4g s %9.3f  %s\n", q.n_readings, q.longest_gap, q.standard_error,
		       texts[i]);
	}
	puts("error: of the mean of a cycle, as a share of the standard deviation between slots");
}

void put_schedule(struct json *j, const struct rotation *r, const char *const *texts)
{
	pfm_scheduled_request_t q = PFM_INIT(q);

	put_begin(j, "schedule", '{');
	put_real(j, "slot_seconds", r->info.slot_seconds);
	put_int(j, "shift", r->info.shift);
	put_begin(j, "slots", '[');
	for (unsigned t = 0; t < r->info.n_slots; t++) {
		put_begin(j, NULL, '[');
		for (unsigned g = 0; g < r->info.n_groups; g++)
			if (pfm_is_group_in_slot(r->schedule, t, g) == 1)
				put_int(j, NULL, g);
		put_end(j, ']');
	}
	put_end(j, ']');
	put_begin(j, "readings", '[');
	for (unsigned i = 0; i < r->info.n_requests; i++) {
		pfm_describe_scheduled_request(r->schedule, i, &q);
		put_begin(j, NULL, '{');
		put_text(j, "name", texts[i]);
		put_int(j, "slots", q.n_readings);
		put_real(j, "longest_gap", q.longest_gap);
		put_real(j, "standard_error", q.standard_error);
		put_end(j, '}');
	}
	put_end(j, ']');
	put_end(j, '}');
}
