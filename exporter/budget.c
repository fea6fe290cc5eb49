/* SPDX-License-Identifier: MIT */
/* pfm serve --budget: limits what the service takes of the machine. Processor time is a bucket that
 * fills at the permitted rate and holds what ten seconds bring. Everything that the service does is
 * taken from it, answers to clients as well as readings. Below an eighth of the bucket, scrapes are
 * refused with status 429 and the time after which to come again, so that numbers do not become old
 * instead. Refusals cost time too: while the bucket is empty the service sleeps, and clients wait
 * in the backlog of the socket. So the limit holds under any load, except for the initial content
 * of the bucket. Each time scrapes are refused, the intervals of the textfile and of OTLP double;
 * after some time in which the bucket is half full they shorten again, step by step. Files are
 * limited by the kernel (RLIMIT_NOFILE), counters by the plan. Interrupts of the PMUs are those of
 * the whole machine (/proc/interrupts): if there are too many, counting pauses for a time that
 * doubles each time. */
#include "common/pfm.h"
#include "serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
	PATH_SIZE = 4096,
	FILL_SECONDS = 10,      /* what the bucket holds */
	RECOVERY_SECONDS = 5,   /* between two steps of recovery */
	MAX_BACK_OFF = 64,      /* most times by which intervals are longer */
	MAX_PAUSE_SECONDS = 64, /* of counting */
	REFUSED_PART = 8,       /* the part of the bucket that is left for refusals */
	RESERVED_FILES = 16,    /* for files opened before the events: input, sockets, libraries */
	CHECK_NS = NS / 2       /* between two checks of the interrupts */
};

#define LEAST_BUCKET 0.02 /* seconds: enough for a reading of many events */

static const char *const resource_names[N_BUDGET_RESOURCES] = { "cpu", "files", "counters-free",
	                                                        "interrupts" };

/* ---- the option ------------------------------------------------------------------------------ */

/* "0.5%", "2000" or "2000/s", in the unit of the resource. False for other texts. */
static bool read_limit(enum budget_resource resource, const char *text, double *out)
{
	const char *unit = resource == BUDGET_CPU ? "%" : resource == BUDGET_INTERRUPTS ? "/s" : "";
	char *end;
	double n = strtod(text, &end);

	if (end == text || !strchr("0123456789.", *text) || strcmp(end, unit) != 0 || !(n < 1e12))
		return false;
	if (!*unit && n != (double)(uint64_t)n)
		return false;
	*out = resource == BUDGET_CPU ? n / 100 : n;
	return n > 0;
}

static bool read_item(struct serve_budget *b, char *item)
{
	char *equals = strchr(item, '=');

	for (unsigned r = 0; equals && r < N_BUDGET_RESOURCES; r++)
		if (strlen(resource_names[r]) == (size_t)(equals - item) &&
		    strncmp(item, resource_names[r], (size_t)(equals - item)) == 0)
			return read_limit((enum budget_resource)r, equals + 1,
			                  &b->resources[r].limit);
	return false;
}

bool read_budget(struct serve_budget *b, const char *text)
{
	char *copy = strdup(text), *rest = copy, *item;
	bool is_good = copy && *copy;

	while (is_good && (item = strsep(&rest, ",")))
		is_good = read_item(b, item);
	free(copy);
	b->is_on = true;
	return is_good;
}

/* ---- files ----------------------------------------------------------------------------------- */

void limit_files(const struct serve_budget *b)
{
	const double most = b->resources[BUDGET_FILES].limit;
	struct rlimit files;

	if (!b->is_on || most <= 0 || getrlimit(RLIMIT_NOFILE, &files) != 0)
		return;
	/* Limits the hard limit, because the session raises the soft one when it needs more. */
	files.rlim_max = most < (double)files.rlim_max ? (rlim_t)most : files.rlim_max;
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) != 0)
		fprintf(stderr, "pfm serve: cannot limit files: %s\n", strerror(errno));
}

int check_files(const struct serve *s)
{
	const double most = s->budget.resources[BUDGET_FILES].limit;
	unsigned needed = RESERVED_FILES + count_probe_files(s);
	bool are_missing = false;

	if (!s->budget.is_on || most <= 0)
		return EXIT_DONE;
	for (unsigned k = 0; k < s->job.targets.n; k++)
		for (unsigned i = 0; i < s->job.targets.list[k].n; i++) {
			pfm_count_info_t info = PFM_INIT(info);
			pfm_count_t count = PFM_INIT(count);

			pfm_describe_count(s->job.targets.list[k].session, i, &info);
			pfm_read_count(s->job.targets.list[k].session, i, &count);
			needed += info.n_kernel_events;
			are_missing |= count.cause == PFM_CAUSE_FILES;
		}
	if (!are_missing && needed <= most)
		return EXIT_DONE;
	fprintf(stderr,
	        "pfm serve: up to %u files would be open, and --budget allows %.0f: count fewer "
	        "events, or on fewer CPUs (-C), or allow files=%u\n",
	        needed, most, needed);
	return EXIT_REFUSED;
}

/* ---- processor time -------------------------------------------------------------------------- */

static double read_cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / NS;
}

static double compute_bucket_size(const struct serve_budget *b)
{
	double size = b->resources[BUDGET_CPU].limit * FILL_SECONDS;

	return size > LEAST_BUCKET ? size : LEAST_BUCKET;
}

void begin_budget(struct serve_budget *b)
{
	b->began = b->filled = b->recovered = now_ns();
	b->cpu_began = b->cpu_taken = read_cpu_time();
	b->bucket = compute_bucket_size(b);
	b->back_off = 1;
	b->pause_seconds = 1;
}

static void note_excess(struct serve_budget *b, enum budget_resource resource)
{
	b->resources[resource].n_exceeded++;
}

/* Fills the bucket, and takes what was used from it. */
static void update_bucket(struct serve_budget *b)
{
	const uint64_t now = now_ns();
	const double cpu = read_cpu_time(), size = compute_bucket_size(b);

	b->bucket += b->resources[BUDGET_CPU].limit * (double)(now - b->filled) / NS;
	b->bucket = (b->bucket < size ? b->bucket : size) - (cpu - b->cpu_taken);
	b->filled = now;
	b->cpu_taken = cpu;
}

static void change_back_off(struct serve_budget *b)
{
	const uint64_t now = now_ns();
	const bool was_refusing = b->is_refusing;

	b->is_refusing = b->bucket < compute_bucket_size(b) / REFUSED_PART;
	if (b->is_refusing && !was_refusing) {
		note_excess(b, BUDGET_CPU);
		b->back_off = b->back_off < MAX_BACK_OFF ? 2 * b->back_off : MAX_BACK_OFF;
		b->recovered = now;
	} else if (b->back_off > 1 && b->bucket > compute_bucket_size(b) / 2 &&
	           now - b->recovered > (uint64_t)RECOVERY_SECONDS * NS) {
		b->back_off /= 2;
		b->n_recoveries++;
		b->recovered = now;
	}
}

int compute_budget_wait(struct serve_budget *b)
{
	const double limit = b->resources[BUDGET_CPU].limit;

	if (!b->is_on || limit <= 0)
		return 0;
	update_bucket(b);
	change_back_off(b);
	/* Once the bucket is empty, the service sleeps until it can answer again for a while.
	 * Waking up costs processor time too, so a little less is enough to go on: with the same
	 * limit for both, a service that is woken a little too early could sleep for ever. */
	if (b->bucket >= (b->is_waiting ? compute_bucket_size(b) * 3 / 16 : 0)) {
		if (b->is_waiting)
			b->waited_ns += now_ns() - b->wait_began;
		b->is_waiting = false;
		return 0;
	}
	if (!b->is_waiting)
		b->wait_began = now_ns();
	b->is_waiting = true;
	return (int)((compute_bucket_size(b) / 4 - b->bucket) / limit * 1000) + 1;
}

unsigned compute_retry_seconds(const struct serve_budget *b)
{
	if (!b->is_on || !b->is_refusing)
		return 0;
	return (unsigned)((compute_bucket_size(b) / 4 - b->bucket) /
	                  b->resources[BUDGET_CPU].limit) +
	       1;
}

unsigned get_back_off(const struct serve_budget *b)
{
	return b->is_on && b->back_off > 1 ? b->back_off : 1;
}

/* ---- interrupts ------------------------------------------------------------------------------ */

/* Reads the interrupts of the PMUs on all CPUs since the system began. False if the kernel does not
 * list them. */
static bool read_interrupts(uint64_t *n)
{
	char path[PATH_SIZE], *line = NULL, *at, *end;
	size_t size = 0;
	bool found = false;
	FILE *f = fopen(make_machine_path("/proc/interrupts", path, sizeof(path)), "re");

	*n = 0;
	while (f && !found && getline(&line, &size, f) > 0) {
		at = line + strspn(line, " ");
		if (strncmp(at, "PMI:", 4) != 0)
			continue;
		found = true;
		for (at += 4;; at = end) {
			unsigned long long here = strtoull(at, &end, 10);

			if (end == at)
				break;
			*n += here;
		}
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

bool are_interrupts_too_many(struct serve_budget *b)
{
	struct budget_use *use = &b->resources[BUDGET_INTERRUPTS];
	const uint64_t now = now_ns();
	uint64_t n;

	if (!b->is_on || use->limit <= 0)
		return false;
	if (b->paused_until) {
		if (now < b->paused_until)
			return true;
		b->paused_until = 0;
		b->n_recoveries++;
		b->interrupts_read = 0;
	}
	if (b->interrupts_read && now - b->interrupts_read < CHECK_NS)
		return false;
	use->is_known = read_interrupts(&n);
	if (use->is_known && b->interrupts_read && n >= b->interrupts)
		use->used = (double)(n - b->interrupts) * NS / (double)(now - b->interrupts_read);
	if (use->is_known && b->interrupts_read && use->used > use->limit) {
		note_excess(b, BUDGET_INTERRUPTS);
		b->paused_until = now + (uint64_t)b->pause_seconds * NS;
		b->pause_seconds = b->pause_seconds < MAX_PAUSE_SECONDS ? 2 * b->pause_seconds
		                                                        : MAX_PAUSE_SECONDS;
	} else if (b->interrupts_read && now - b->began > (uint64_t)RECOVERY_SECONDS * NS &&
	           use->used <= use->limit / 2) {
		b->pause_seconds = 1;
	}
	b->interrupts = n;
	b->interrupts_read = now;
	return b->paused_until != 0;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Reads the present use. False if it is unknown. */
static bool read_present_use(const struct serve *s, enum budget_resource r, double *out)
{
	const struct serve_budget *b = &s->budget;
	const double seconds = (double)(now_ns() - b->began) / NS;

	switch (r) {
	case BUDGET_CPU:
		*out = seconds > 0 ? (read_cpu_time() - b->cpu_began) / seconds : 0;
		return seconds > 0;
	case BUDGET_FILES: *out = (double)count_open_files(); return true;
	case BUDGET_INTERRUPTS: *out = b->resources[r].used; return b->resources[r].is_known;
	default: *out = b->resources[r].limit; return true;
	}
}

static const struct label *label_resource(struct label labels[2], unsigned r)
{
	labels[0] = (struct label){ "resource", resource_names[r] };
	labels[1] = (struct label){ NULL, NULL };
	return labels;
}

void put_budget(struct exposition *x, const struct serve *s)
{
	const struct serve_budget *b = &s->budget;
	struct label labels[2];
	double value;

	if (!b->is_on)
		return;
	begin_family(x, "perfmon_budget_limit", FAMILY_GAUGE, "",
	             "Limits of pfm serve: a share of one processor, files, counters to "
	             "leave free, interrupts a second.");
	for (unsigned r = 0; r < N_BUDGET_RESOURCES; r++)
		if (b->resources[r].limit > 0)
			put_real_sample(x, label_resource(labels, r), b->resources[r].limit);
	begin_family(x, "perfmon_budget_use", FAMILY_GAUGE, "",
	             "Current use of each resource; of processors, the mean since the start.");
	for (unsigned r = 0; r < N_BUDGET_RESOURCES; r++)
		if (b->resources[r].limit > 0 &&
		    read_present_use(s, (enum budget_resource)r, &value))
			put_real_sample(x, label_resource(labels, r), value);
	begin_family(x, "perfmon_budget_exceeded", FAMILY_COUNTER, "",
	             "Number of times that a limit was reached and the service reduced its use.");
	for (unsigned r = 0; r < N_BUDGET_RESOURCES; r++)
		if (b->resources[r].limit > 0)
			put_whole_sample(x, label_resource(labels, r), b->resources[r].n_exceeded);
	begin_family(x, "perfmon_budget_back_off", FAMILY_GAUGE, "",
	             "Factor by which the textfile and OTLP requests are less frequent than "
	             "requested.");
	put_whole_sample(x, NULL, get_back_off(b));
	begin_family(x, "perfmon_budget_recoveries", FAMILY_COUNTER, "",
	             "Number of times that the service increased its use again.");
	put_whole_sample(x, NULL, b->n_recoveries);
	begin_family(x, "perfmon_budget_waited_seconds", FAMILY_COUNTER, "seconds",
	             "Time in which clients waited because the processor time was used up.");
	put_real_sample(x, NULL, (double)b->waited_ns / NS);
}
