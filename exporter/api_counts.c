/* SPDX-License-Identifier: MIT */
/* pfm serve --api: counts of a request, "these events, in this group, for so long". Its events are
 * a session beside that of the service, with the lines of pfm stat --json as their answer. What
 * they cost is part of the service's budget. */
#include "api.h"
#include "common/pfm.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	MS = 1000000,
	MAX_EVENTS = 64,
	MAX_SECONDS = 86400,
	LEAST_INTERVAL_MS = 100,
	USUAL_INTERVAL_MS = 1000,
	KEPT_FILES = 160 /* for clients, files and readings */
};

struct api_count {
	struct stat_job job;
	uint64_t began, previous, next, until;
};

void put_api_error(FILE *out, const char *kind, const char *message, unsigned retry_seconds)
{
	struct json j = { .out = out };

	put_begin(&j, NULL, '{');
	put_begin(&j, "error", '{');
	put_text(&j, "kind", kind);
	put_text(&j, "message", message);
	if (retry_seconds)
		put_int(&j, "retry_after", retry_seconds);
	put_end(&j, '}');
	put_end(&j, '}');
	put_line(&j);
}

/* ---- the request ----------------------------------------------------------------------------- */

/* Adds the texts of member @key to @list. False, after an error, if it is not a list of texts. */
static bool read_texts(const json_t *request, const char *key, struct event_list *list, FILE *out)
{
	const json_t *texts = json_object_get(request, key);
	char message[64];

	for (size_t i = 0; i < json_array_size(texts); i++) {
		const char *text = json_string_value(json_array_get(texts, i));

		if (!text || !*text || *text == ',' || text[strlen(text) - 1] == ',' ||
		    strstr(text, ",,") || !event_list_add(list, text))
			break;
		if (list->n > MAX_EVENTS) {
			put_api_error(out, "request", "expected at most 64 events", 0);
			return false;
		}
		if (i + 1 == json_array_size(texts))
			return true;
	}
	if (!texts)
		return true;
	snprintf(message, sizeof(message), "%s: expected a list of texts", key);
	put_api_error(out, "request", message, 0);
	return false;
}

/* Reads a whole number. False, after an error, if it is not one from @least to @most. */
static bool read_number(const json_t *request, const char *key, uint64_t least, uint64_t most,
                        uint64_t *value, FILE *out)
{
	const json_t *number = json_object_get(request, key);
	char message[96];

	if (!number)
		return true;
	if (json_is_integer(number) && json_integer_value(number) >= (json_int_t)least &&
	    json_integer_value(number) <= (json_int_t)most) {
		*value = (uint64_t)json_integer_value(number);
		return true;
	}
	snprintf(message, sizeof(message), "%s: expected a number from %llu to %llu", key,
	         (unsigned long long)least, (unsigned long long)most);
	put_api_error(out, "request", message, 0);
	return false;
}

static bool read_group(const json_t *request, struct stat_targets *targets, FILE *out)
{
	const json_t *group = json_object_get(request, "cgroup");
	const char *name = json_string_value(group);

	if (!group)
		return true;
	if (!name || !*name || strchr(name, ',') || strstr(name, "..") || !has_cgroup(name)) {
		put_api_error(out, "request",
		              "cgroup: expected the path of a control group, without '..'", 0);
		return false;
	}
	targets->cgroups = strdup(name);
	targets->each_cgroup = targets->tell_cgroups = true;
	return targets->cgroups;
}

static bool read_unit(const json_t *request, struct stat_options *options, FILE *out)
{
	static const struct {
		const char *name;
		enum aggregation by;
	} units[] = { { "cpu", BY_CPU },
		      { "core", BY_CORE },
		      { "die", BY_DIE },
		      { "socket", BY_SOCKET },
		      { "node", BY_NODE } };
	const json_t *unit = json_object_get(request, "per");
	const char *name = json_string_value(unit);

	if (!unit)
		return true;
	for (size_t i = 0; name && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, name) == 0) {
			options->by = units[i].by;
			return true;
		}
	put_api_error(out, "request", "per: expected cpu, core, die, socket or node", 0);
	return false;
}

static bool has_known_members(json_t *request, FILE *out)
{
	static const char *const known[] = { "events",  "metrics",     "cgroup", "per",
		                             "seconds", "interval_ms", NULL };
	char message[128];
	const char *key;
	json_t *value;

	json_object_foreach (request, key, value) {
		unsigned i = 0;

		while (known[i] && strcmp(known[i], key) != 0)
			i++;
		if (known[i])
			continue;
		snprintf(message, sizeof(message),
		         "expected events, metrics, cgroup, per, seconds or interval_ms, got "
		         "'%.32s'",
		         key);
		put_api_error(out, "request", message, 0);
		return false;
	}
	return true;
}

/* Fills the job. False after an error. */
static bool read_request(struct api_count *c, const char *text, FILE *out)
{
	struct stat_job *job = &c->job;
	json_error_t error;
	json_t *request = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	uint64_t seconds = 0, ms = USUAL_INTERVAL_MS;
	bool is_good;

	if (!json_is_object(request)) {
		put_api_error(out, "request", request ? "expected an object" : error.text, 0);
		json_decref(request);
		return false;
	}
	is_good = has_known_members(request, out) &&
	          read_texts(request, "events", &job->request.events, out) &&
	          read_texts(request, "metrics", &job->request.metric_names, out) &&
	          read_number(request, "seconds", 1, MAX_SECONDS, &seconds, out) &&
	          read_number(request, "interval_ms", LEAST_INTERVAL_MS, MAX_SECONDS * 1000, &ms,
	                      out) &&
	          read_group(request, &job->targets, out) && read_unit(request, &job->options, out);
	json_decref(request);
	if (is_good && (!seconds || (!job->request.events.n && !job->request.metric_names.n))) {
		put_api_error(out, "request", "expected seconds, and events or metrics", 0);
		return false;
	}
	job->timing.interval = ms * MS;
	c->until = seconds * NS;
	return is_good;
}

/* ---- the budget ------------------------------------------------------------------------------ */

/* True if the files for @n events more are there. */
static bool has_files(unsigned n)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct rlimit files;

	return getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_max == RLIM_INFINITY ||
	       count_open_files() + (uint64_t)n * (uint64_t)(cpus > 0 ? cpus : 1) + KEPT_FILES <=
	               files.rlim_max;
}

/* False, after an error, if the service may use no more of the machine now. */
static bool has_budget(const struct serve *s, unsigned n_events, FILE *out)
{
	const unsigned retry = compute_retry_seconds(&s->budget);

	if (s->paused_since)
		put_api_error(out, "paused", "counting is paused for other programs", 1);
	else if (retry)
		put_api_error(out, "budget", "the processor time of --budget is used up", retry);
	else if (!has_files(n_events))
		put_api_error(out, "budget", "open files do not suffice: count fewer events", 0);
	else
		return true;
	return false;
}

/* ---- counting -------------------------------------------------------------------------------- */

static void put_acceptance(const struct api_count *c, FILE *out)
{
	struct json j = { .out = out };

	put_begin(&j, NULL, '{');
	put_begin(&j, "counting", '{');
	put_int(&j, "events", c->job.request.events.n);
	put_real(&j, "seconds", (double)(c->until - c->began) / NS);
	put_real(&j, "interval", (double)c->job.timing.interval / NS);
	put_end(&j, '}');
	put_end(&j, '}');
	put_line(&j);
}

/* Opens and starts the counters. Refused events are lines of @out. */
static bool start_counting(struct api_count *c)
{
	struct stat_job *job = &c->job;

	if (refuse_bad_events(job) != EXIT_DONE || plan_stat_metrics(job) != EXIT_DONE ||
	    make_targets(job) != EXIT_DONE || open_targets(job, 0) != EXIT_DONE ||
	    start_targets(job) != EXIT_DONE)
		return false;
	c->began = c->previous = now_ns();
	c->next = c->began + job->timing.interval;
	c->until += c->began;
	return true;
}

static void free_count(struct api_count *c)
{
	free_targets(&c->job);
	event_list_free(&c->job.request.events);
	free_stat_metrics(&c->job);
	free(c->job.targets.cgroups);
	free(c);
}

struct api_count *begin_api_count(const struct serve *s, const char *request, FILE *out)
{
	struct api_count *c = calloc(1, sizeof(*c));
	const long before = ftell(out);

	if (!c)
		return NULL;
	c->job.ctx = s->job.ctx;
	c->job.options.cpus = s->job.options.cpus;
	c->job.options.all_cpus = c->job.options.json = c->job.options.no_ratios = true;
	c->job.report.out = out;
	if (read_request(c, request, out) &&
	    has_budget(s, c->job.request.events.n + c->job.request.metric_names.n, out) &&
	    start_counting(c)) {
		put_acceptance(c, out);
		return c;
	}
	if (ftell(out) == before)
		put_api_error(out, "request", "the events cannot be counted", 0);
	free_count(c);
	return NULL;
}

bool continue_api_count(struct api_count *c, FILE *out)
{
	const uint64_t now = now_ns();
	const double elapsed = (double)(now - c->previous) / NS;
	struct json j = { .out = out };

	if (now < c->next && now < c->until)
		return true;
	c->job.report.out = out;
	if (read_targets(&c->job.targets) != EXIT_DONE) {
		put_api_error(out, "reading", "the counters cannot be read", 0);
		return false;
	}
	set_own_counts(&c->job, elapsed, -1, -1);
	gather_rows(&c->job, true);
	report_counts(&c->job, elapsed, (double)(now - c->began) / NS);
	free_slices(&c->job);
	c->previous = now;
	c->next += c->job.timing.interval;
	c->next = c->next < now ? now + c->job.timing.interval : c->next;
	put_begin(&j, NULL, '{');
	put_real(&j, now < c->until ? "interval_end" : "end", (double)(now - c->began) / NS);
	put_end(&j, '}');
	put_line(&j);
	return now < c->until;
}

uint64_t get_api_time(const struct api_count *c)
{
	return c->next < c->until ? c->next : c->until;
}

void end_api_count(struct api_count *c, const char *why, FILE *out)
{
	if (!c)
		return;
	if (why)
		put_api_error(out, "paused", why, 1);
	free_count(c);
}
