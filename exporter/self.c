/* SPDX-License-Identifier: MIT */
/* pfm serve: its own cost and state. Names that begin with "process_" are those of Prometheus'
 * client libraries. */
#include "config.h"
#include "serve.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double read_cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* Reads the resident memory. The file stays open, since it is read for each text. */
static uint64_t read_memory(void)
{
	static int fd = -1;
	unsigned long long all, resident = 0;
	char text[128];
	ssize_t n;

	if (fd < 0)
		fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? pread(fd, text, sizeof(text) - 1, 0) : 0;
	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%llu %llu", &all, &resident) != 2)
		resident = 0;
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Counts open files. Since Linux 6.2 the size of the folder is their number; before, the folder
 * must be listed, which opens one more. The folder stays open, since it is asked for each text. */
uint64_t count_open_files(void)
{
	static int fd = -1;
	struct stat folder;
	uint64_t n = 0;
	DIR *dir;

	if (fd < 0)
		fd = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &folder) == 0 && folder.st_size > 0)
		return (uint64_t)folder.st_size;
	dir = opendir("/proc/self/fd");
	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n > 3 ? n - 3 : 0;
}

static double start_time;

void note_start_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	start_time = (double)now.tv_sec + (double)now.tv_nsec / NS;
}

static void put_counter(struct exposition *x, const char *name, const char *help, uint64_t value)
{
	begin_family(x, name, FAMILY_COUNTER, "", help);
	put_whole_sample(x, NULL, value);
}

static void put_gauge(struct exposition *x, const char *name, const char *unit, const char *help,
                      double value)
{
	begin_family(x, name, FAMILY_GAUGE, unit, help);
	put_real_sample(x, NULL, value);
}

static void put_process(struct exposition *x)
{
	struct rlimit files;

	begin_family(x, "process_cpu_seconds", FAMILY_COUNTER, "seconds",
	             "Processor time of pfm serve.");
	put_real_sample(x, NULL, read_cpu_seconds());
	put_gauge(x, "process_resident_memory_bytes", "bytes", "Memory of pfm serve.",
	          (double)read_memory());
	put_gauge(x, "process_start_time_seconds", "seconds",
	          "Start of pfm serve, in seconds since 1970.", start_time);
	put_gauge(x, "process_open_fds", "", "Open file descriptors.", (double)count_open_files());
	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
		put_gauge(x, "process_max_fds", "", "Limit of open file descriptors.",
		          (double)files.rlim_cur);
}

static void put_readings(struct exposition *x, const struct serve *s)
{
	const struct serve_figures *f = &s->figures;

	put_counter(x, "perfmon_readings", "Readings of the counters.", f->readings);
	put_gauge(x, "perfmon_reading_age_seconds", "seconds", "Age of the counts of this text.",
	          (double)(now_ns() -
	                   (s->last_turn > s->last_reading ? s->last_turn : s->last_reading)) /
	                  NS);
	put_gauge(x, "perfmon_reading_duration_seconds", "seconds", "Duration of the last reading.",
	          f->reading_seconds);
	put_gauge(x, "perfmon_reading_interval_seconds", "seconds",
	          "The time between the last two readings, for which metrics are computed.",
	          f->interval_seconds);
}

static void put_clients(struct exposition *x, const struct serve *s)
{
	const struct serve_figures *f = &s->figures;

	put_counter(x, "perfmon_http_answers", "Answered requests.", f->answers);
	put_counter(x, "perfmon_http_refusals", "Requests that were refused.", f->refusals);
	put_counter(x, "perfmon_http_deferrals",
	            "Requests that were answered with status 429, because the processor time of "
	            "the budget was used up.",
	            f->deferrals);
	put_counter(x, "perfmon_http_connections_closed",
	            "Connections that were closed without an answer because they took too long, or "
	            "because another client needed their place.",
	            f->closed);
	if (s->lines)
		put_counter(x, "perfmon_line_answers",
		            "Requests of the line protocol that were answered.", f->line_answers);
	if (s->api) {
		put_counter(x, "perfmon_api_requests", "Requests for counts by --api.",
		            f->api_requests);
		put_counter(x, "perfmon_api_refusals", "Those of them that were refused.",
		            f->api_refusals);
		put_gauge(x, "perfmon_api_counts", "", "Requests that are counted now.",
		          count_api_counts(s));
	}
	put_counter(x, "perfmon_textfile_errors", "Failures to write the textfile.",
	            f->textfile_errors);
}

static void put_lock_holder(struct exposition *x, const struct serve *s)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%ld", s->lock_holder_pid);
	begin_family(x, "perfmon_lock_holder", FAMILY_INFO, "",
	             "The process for which counting is paused: it has the lock of --give-way.");
	put_whole_sample(
		x, (struct label[]){ { "process", s->lock_holder }, { "pid", pid }, { 0 } }, 1);
}

static void put_pauses(struct exposition *x, const struct serve *s)
{
	begin_family(x, "perfmon_paused", FAMILY_GAUGE, "",
	             "1 while counting is paused, with the reason.");
	put_whole_sample(x, (struct label[]){ { "reason", "lock" }, { 0 } },
	                 s->paused_since && strcmp(s->pause_reason, "lock") == 0);
	if (s->lock_path)
		put_whole_sample(x, (struct label[]){ { "reason", "events" }, { 0 } },
		                 s->paused_since && strcmp(s->pause_reason, "events") == 0);
	if (s->budget.resources[BUDGET_INTERRUPTS].limit > 0)
		put_whole_sample(x, (struct label[]){ { "reason", "budget" }, { 0 } },
		                 s->paused_since && strcmp(s->pause_reason, "budget") == 0);
	if (s->paused_since && *s->lock_holder)
		put_lock_holder(x, s);
	begin_family(x, "perfmon_paused_seconds", FAMILY_COUNTER, "seconds",
	             "Time in which counting was paused.");
	put_real_sample(x, NULL, compute_paused_seconds(s));
}

static void put_otlp_requests(struct exposition *x, const struct serve *s)
{
	const struct serve_figures *f = &s->figures;

	put_counter(x, "perfmon_otlp_requests", "Requests that the receiver accepted.",
	            f->otlp_sent);
	put_counter(x, "perfmon_otlp_retries", "Requests that failed and were sent again.",
	            f->otlp_retries);
	put_counter(x, "perfmon_otlp_requests_dropped",
	            "Requests that were dropped because the queue was full.", f->otlp_dropped);
	put_counter(x, "perfmon_otlp_requests_rejected",
	            "Requests that the receiver refused permanently.", f->otlp_rejected);
	put_gauge(x, "perfmon_otlp_queue", "", "Requests that wait to be sent.",
	          count_queued_requests(s));
}

static void put_groups(struct exposition *x, const struct serve *s)
{
	put_gauge(x, "perfmon_cgroups", "", "Control groups that are counted.", s->job.targets.n);
	put_gauge(x, "perfmon_cgroups_omitted", "",
	          "Control groups that are not counted, because --max-series allows no more "
	          "or files lack.",
	          (double)s->cgroups.n_omitted);
	put_gauge(x, "perfmon_cgroups_without_files", "",
	          "Those of them for which files lack (RLIMIT_NOFILE).",
	          (double)s->cgroups.n_without_files);
	put_gauge(x, "perfmon_cgroups_missing", "",
	          "Names of --for-each-cgroup that are no control group now.",
	          (double)s->cgroups.n_missing);
	put_counter(x, "perfmon_cgroups_failures",
	            "Readings at which the control groups could not be listed.",
	            s->cgroups.n_failures);
	put_counter(x, "perfmon_cgroups_added", "Control groups that were found.",
	            s->cgroups.n_born);
	put_counter(x, "perfmon_cgroups_removed", "Control groups that ended.", s->cgroups.n_gone);
}

/* Names as Prometheus has them for its own file. */
static void put_config(struct exposition *x, const struct serve *s)
{
	const struct config_status *c = s->config;

	begin_family(x, "perfmon_config_job", FAMILY_INFO, "", "The job of --config that answers.");
	put_whole_sample(x, (struct label[]){ { "perfmon_job", s->name }, { 0 } }, 1);
	put_gauge(x, "perfmon_config_last_reload_successful", "",
	          "1 if the last version of the file of --config was taken; 0: it has errors, and "
	          "the jobs of the version before go on.",
	          c->is_good);
	put_gauge(x, "perfmon_config_last_reload_success_timestamp_seconds", "seconds",
	          "When a version of the file was taken last, in seconds since 1970.", c->taken);
	put_counter(x, "perfmon_config_reloads", "Later versions of the file that were taken.",
	            c->n_taken);
	put_counter(x, "perfmon_config_refusals", "Versions of the file that have errors.",
	            c->n_refused);
	put_gauge(x, "perfmon_config_jobs", "", "Jobs of the file.", c->n_jobs);
	put_gauge(x, "perfmon_config_jobs_running", "", "Jobs whose process runs.", c->n_running);
	put_counter(x, "perfmon_config_job_restarts",
	            "Times that a job began again because its process had ended.", c->n_restarts);
}

void put_self_series(struct exposition *x, const struct serve *s)
{
	put_process(x);
	put_readings(x, s);
	put_clients(x, s);
	put_pauses(x, s);
	if (s->otlp)
		put_otlp_requests(x, s);
	put_budget(x, s);
	if (s->job.rotation.is_on) {
		put_gauge(x, "perfmon_rotation_slot", "",
		          "The turn of the cycle that is under way.", s->job.rotation.slot);
		put_gauge(x, "perfmon_rotation_cycle_seconds", "seconds",
		          "The length of a cycle of turns, which readings are of.",
		          s->job.rotation.info.n_slots * s->job.rotation.info.slot_seconds);
	}
	if (s->kubelet_url) {
		put_counter(x, "perfmon_kubelet_answers", "Lists of pods that the kubelet sent.",
		            s->figures.kubelet_answers);
		put_counter(x, "perfmon_kubelet_failures", "Requests to the kubelet that failed.",
		            s->figures.kubelet_failures);
	}
	if (s->job.targets.has_cgroup_patterns)
		put_groups(x, s);
	if (s->config)
		put_config(x, s);
	begin_family(x, "perfmon_series", FAMILY_GAUGE, "", "Series of this text.");
	put_whole_sample(x, NULL, x->n_samples + 1);
}
