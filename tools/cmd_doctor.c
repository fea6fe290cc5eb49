/* SPDX-License-Identifier: MIT */
/* pfm doctor: what this machine can count, what stands in the way, and what would help. What can be tried is tried, not guessed. */
#include "pfm.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { OPT_JSON = LONG_ONLY,
       TEXT_MAX = 512,
       LABEL = 18,
       WORKLOAD_PAGES = 512,      /* that the workload touches */
       WORKLOAD_LOOPS = 20000000, /* that it runs through */
       MIN_OPEN_FILES = 256,      /* descriptors that a session of many events and CPUs outgrows */
       MAX_PARTS = 16,            /* counts of one event: a kind of core has one each */
       CAP_PTRACE = 19,           /* numbers of <linux/capability.h> */
       CAP_ADMIN = 21,
       CAP_PERF = 38 };

static const struct command_option options[] = {
	{ OPT_JSON, "json", NULL, "one JSON object for each finding" },
	{ 0, NULL, NULL, NULL }
};

enum finding_state { STATE_GOOD,
	             STATE_NOTE,
	             STATE_BAD };
static const char *const state_names[] = { "good", "note", "bad" };

/* One thing that was looked at. Texts may be empty. */
struct finding {
	const char *check;
	enum finding_state state;
	char observed[TEXT_MAX];    /* what is so */
	char consequence[TEXT_MAX]; /* what that keeps from being counted */
	char remedy[TEXT_MAX];      /* a command, where one helps */
	char available[TEXT_MAX];   /* what can be had all the same */
	/* Of an event that was tried; else NULL. */
	const pfm_count_t *count;
	const char *expected;
};

struct doctor {
	pfm_ctx_t *ctx;
	bool json;
	unsigned n_causes;               /* causes that differ */
	char last_consequence[TEXT_MAX]; /* of the finding before */
	bool cannot_count;               /* not even own code can be counted */
};

/* ---- findings ------------------------------------------------------------------------------------------------------------- */

static void set_finding(char text[TEXT_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void set_finding(char text[TEXT_MAX], const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, TEXT_MAX, format, ap);
	va_end(ap);
}

static void print_line(const char *label, const char *text)
{
	if (!*text)
		return;
	printf("  %-*s %s", LABEL, "", label);
	term_wrap(stdout, LABEL + 3 + strlen(label), LABEL + 5, text);
}

static void put_trial(struct json *j, const struct finding *f)
{
	bool counted = f->count->quality <= PFM_QUALITY_PARTIAL;

	if (counted)
		put_count(j, "count", f->count->value);
	put_text(j, "quality", pfm_quality_name(f->count->quality));
	put_text(j, "cause", pfm_cause_name(f->count->cause));
	put_text(j, "expected", f->expected);
}

static void print_finding(struct doctor *d, const struct finding *f)
{
	static const enum style styles[] = { GREEN, PLAIN, RED };
	struct json j = { .out = stdout };
	bool again = *f->consequence && strcmp(f->consequence, d->last_consequence) == 0;
	char found[TEXT_MAX];

	d->n_causes += f->state == STATE_BAD && !again;
	set_finding(d->last_consequence, "%s", f->consequence);
	if (!d->json) {
		printf("  %s%-*s%s ", term_colour_begin(stdout, styles[f->state]), LABEL, f->check, term_colour_end(stdout));
		set_finding(found, "%s%s", f->observed, again ? ", for the same reason" : "");
		term_wrap(stdout, LABEL + 3, LABEL + 3, found);
		print_line("", again ? "" : f->consequence);
		print_line("do: ", again ? "" : f->remedy);
		print_line("works: ", f->available);
		return;
	}
	put_begin(&j, NULL, '{');
	put_text(&j, "check", f->check);
	put_text(&j, "state", state_names[f->state]);
	put_text(&j, "found", f->observed);
	put_text_if(&j, "why", f->consequence);
	put_text_if(&j, "remedy", f->remedy);
	put_text_if(&j, "works", f->available);
	if (f->count)
		put_trial(&j, f);
	put_end(&j, '}');
	put_line(&j);
}

/* ---- files of the machine ------------------------------------------------------------------------------------------------- */

/* A file of the machine that is read, or NULL. What cannot be opened for want of memory or descriptors is not missing: that is said. */
static FILE *open_file(const char *path)
{
	char buf[TEXT_MAX];
	FILE *f = fopen(make_machine_path(path, buf, sizeof(buf)), "re");

	if (!f && (errno == ENOMEM || errno == EMFILE || errno == ENFILE))
		fprintf(stderr, "pfm doctor: %s cannot be read now: %s; what is said of it is not to be trusted\n", path, strerror(errno));
	return f;
}

/* The first line of a file; false if it cannot be read. */
static bool first_line(const char *path, char *line, size_t room)
{
	FILE *f = open_file(path);
	bool got = f && fgets(line, (int)room, f);

	if (f)
		fclose(f);
	if (got)
		line[strcspn(line, "\n")] = 0;
	return got;
}

static bool read_number_file(const char *path, long *number)
{
	char line[64], *end;

	if (!first_line(path, line, sizeof(line)))
		return false;
	*number = strtol(line, &end, 10);
	return end > line && !*end;
}

/* The text behind "@key:" in @path; false if there is none. */
static bool read_key_value(const char *path, const char *key, char *value, size_t room)
{
	char line[4096];
	FILE *f = open_file(path);
	size_t len = strlen(key);
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		if (strncmp(line, key, len) == 0 && strchr("\t :", line[len]) && strchr(line, ':')) {
			const char *text = strchr(line, ':') + 1;

			snprintf(value, room, "%.*s", (int)strcspn(text + strspn(text, " \t"), "\n"), text + strspn(text, " \t"));
			found = true;
		}
	if (f)
		fclose(f);
	return found;
}

/* True if what is looked at is the machine that runs us, so that trying makes sense. */
static bool is_pmu_on_host(void)
{
	const char *root = getenv("PERFMON_SYSFS");

	return !root || !*root || strcmp(root, "/") == 0;
}

/* ---- trying ---------------------------------------------------------------------------------------------------------------- */

struct trial {
	pfm_count_t count;
	char reason[TEXT_MAX], remedy[TEXT_MAX];
	bool counted;
};

static volatile uint64_t workload_sink;

/* As many pages and loops as are told; what is expected follows from that. */
static void spin_workload(void)
{
	char *page = mmap(NULL, WORKLOAD_PAGES * 4096UL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t i;

	if (page != MAP_FAILED) {
		madvise(page, WORKLOAD_PAGES * 4096UL, MADV_NOHUGEPAGE);
		for (i = 0; i < WORKLOAD_PAGES; i++)
			page[i * 4096] = 1;
		munmap(page, WORKLOAD_PAGES * 4096UL);
	}
	for (i = 0; i < WORKLOAD_LOOPS; i++)
		workload_sink = i;
}

/* What a session of one event counted, on every kind of core. Time that the task did not spend on one of them is none lost. */
static void add_counts(pfm_session_t *s, struct trial *t)
{
	pfm_count_t counts[MAX_PARTS];
	pfm_count_info_t info = PFM_INIT(info);
	unsigned i, n = pfm_session_size(s) < MAX_PARTS ? (unsigned)pfm_session_size(s) : MAX_PARTS, n_good = 0;
	int worst = -1;

	for (i = 0; i < n; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]) };
	pfm_read_session(s, counts, n);
	for (i = 0; i < n; i++) {
		bool good = counts[i].quality <= PFM_QUALITY_PARTIAL;

		n_good += good;
		t->count.value += good ? counts[i].value : 0;
		if (worst < 0 || (counts[i].quality > counts[worst].quality && counts[i].cause != PFM_CAUSE_NO_TIME) ||
		    (good && counts[worst].cause == PFM_CAUSE_NO_TIME))
			worst = (int)i;
	}
	if (worst < 0)
		return;
	t->count.quality = counts[worst].quality;
	t->count.cause = counts[worst].cause;
	if (n_good && t->count.quality > PFM_QUALITY_PARTIAL)
		t->count.quality = PFM_QUALITY_PARTIAL;
	if (pfm_describe_count(s, (unsigned)worst, &info) == PFMLIB_SUCCESS) {
		snprintf(t->reason, sizeof(t->reason), "%s%s%s", n > 1 && *info.why ? info.pmu : "", n > 1 && *info.why ? ": " : "", info.why);
		snprintf(t->remedy, sizeof(t->remedy), "%s", info.remedy);
	}
}

static void try_event(const struct doctor *d, const char *event, unsigned flags, bool busy, struct trial *t)
{
	pfm_session_options_t so = PFM_INIT(so);
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *s;

	*t = (struct trial){ .count.size = sizeof(t->count), .count.quality = PFM_QUALITY_NOT_SUPPORTED, .count.cause = PFM_CAUSE_OTHER };
	so.flags = flags;
	if (pfm_open_session(&s, d->ctx, &so, &event, 1, &error) != PFMLIB_SUCCESS) {
		pfm_explain_error(d->ctx, event, &error, t->reason, sizeof(t->reason));
		return;
	}
	if (pfm_start_session(s) == PFMLIB_SUCCESS && busy)
		spin_workload();
	pfm_stop_session(s);
	add_counts(s, t);
	t->counted = t->count.quality <= PFM_QUALITY_PARTIAL || t->count.cause == PFM_CAUSE_NO_TIME;
	pfm_close_session(s);
}

/* ---- processor and PMUs ---------------------------------------------------------------------------------------------------- */

static void check_processor(struct doctor *d)
{
	struct finding f = { .check = "processor", .state = STATE_BAD };
	pfm_pmu_info_t p = PFM_INIT(p);
	int i, n = pfm_count_pmus(d->ctx), best = -1;

	for (i = 0; i < n; i++)
		if (pfm_describe_pmu(d->ctx, i, &p) == PFMLIB_SUCCESS && p.flags & PFM_PMU_HOST && p.flags & PFM_PMU_CORE &&
		    (best < 0 || !(p.flags & PFM_PMU_FALLBACK)))
			best = p.n_events || best < 0 ? i : best;
	if (best < 0 || pfm_describe_pmu(d->ctx, best, &p) != PFMLIB_SUCCESS) {
		set_finding(f.observed, "no table has this machine's processor");
		set_finding(f.available, "the events of the kernel");
		print_finding(d, &f);
		return;
	}
	f.state = p.flags & PFM_PMU_FALLBACK ? STATE_NOTE : STATE_GOOD;
	set_finding(f.observed, "%s: %s, %u events, %u general and %u fixed counters (%s)", p.name, p.desc, p.n_events, p.n_counters, p.n_fixed,
	            p.origin);
	if (f.state == STATE_NOTE) {
		set_finding(f.consequence, "the list of this very processor is not loaded: these are the events that its family has in common");
		set_finding(f.remedy, "pfm import FOLDER, of the vendor's lists or of a Linux source tree");
	}
	print_finding(d, &f);
}

/* True if @name is among @list, which has a comma and a blank between names: a list of events has the kernel's PMU for a device. */
static bool is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ' ') && (at[len] == ',' || !at[len]))
			return true;
	return false;
}

static void check_pmus(struct doctor *d)
{
	static const char MORE[] = ", and more";
	struct finding f = { .check = "PMUs", .state = STATE_GOOD };
	pfm_pmu_info_t p = PFM_INIT(p);
	int i, n = pfm_count_pmus(d->ctx);
	const char *name;
	size_t len = 0;
	bool core = false, more = false;

	for (i = 0; i < n; i++) {
		if (pfm_describe_pmu(d->ctx, i, &p) != PFMLIB_SUCCESS || !(p.flags & PFM_PMU_KERNEL))
			continue;
		core |= (p.flags & PFM_PMU_CORE) != 0;
		name = *p.device ? p.device : p.name;
		if (is_listed(f.observed, name))
			continue;
		if (len + strlen(", ") + strlen(name) + sizeof(MORE) > TEXT_MAX)
			more = true;
		else
			len += (size_t)sprintf(f.observed + len, "%s%s", len ? ", " : "", name);
	}
	if (more)
		strcat(f.observed, MORE);
	if (!len)
		set_finding(f.observed, "the kernel shows none");
	if (!core) {
		char flags[4096];
		bool guest = read_key_value("/proc/cpuinfo", "flags", flags, sizeof(flags)) && strstr(flags, "hypervisor");

		f.state = STATE_BAD;
		set_finding(f.consequence, "no PMU of a processor core is among them%s", guest ? ": the hypervisor gives this virtual machine none" : "");
		set_finding(f.remedy, "%s", guest ? "switch the virtual PMU on (QEMU: -cpu host,pmu=on; a cloud: a bare-metal or a bigger "
		                                    "instance)"
		                                  : "load the driver of the processor's PMU, or use a kernel that has it");
		set_finding(f.available, "software events: task-clock, page-faults, context-switches; tracepoints");
	}
	print_finding(d, &f);
}

/* ---- permissions ------------------------------------------------------------------------------------------------------------- */

static void check_level(struct doctor *d)
{
	struct finding f = { .check = "paranoid level", .state = STATE_GOOD };
	const char *path = "/proc/sys/kernel/perf_event_paranoid";
	long level;

	if (!read_number_file(path, &level)) {
		f.state = STATE_BAD;
		set_finding(f.observed, "%s cannot be read: no /proc, or a kernel without perf events", path);
		set_finding(f.remedy, "mount -t proc proc /proc");
	} else if (level <= -1) {
		set_finding(f.observed, "%ld: everybody may count everything", level);
	} else if (level == 0) {
		set_finding(f.observed, "0: everybody may count CPUs, no raw tracepoints");
	} else {
		f.state = geteuid() && level > 1 ? STATE_NOTE : STATE_GOOD;
		set_finding(f.observed, "%ld: without a capability %s", level,
		            level == 1   ? "own tasks, with what the kernel does for them"
		            : level == 2 ? "own tasks, in user mode only"
		                         : "own tasks, in user mode only; some distributions' kernels let nothing be counted");
		if (f.state == STATE_NOTE)
			set_finding(f.remedy, "sysctl kernel.perf_event_paranoid=1 (0 for whole CPUs), or setcap cap_perfmon+ep on the program");
	}
	print_finding(d, &f);
}

static void check_capabilities(struct doctor *d)
{
	struct finding f = { .check = "capabilities", .state = STATE_GOOD };
	char value[64];
	uint64_t caps;

	if (!is_pmu_on_host() || !read_key_value("/proc/self/status", "CapEff", value, sizeof(value)))
		return;
	caps = strtoull(value, NULL, 16);
	set_finding(f.observed, "CAP_PERFMON %s, CAP_SYS_ADMIN %s, CAP_SYS_PTRACE %s", caps >> CAP_PERF & 1 ? "yes" : "no",
	            caps >> CAP_ADMIN & 1 ? "yes" : "no",
	            caps >> CAP_PTRACE & 1 ? "yes" : "no");
	print_finding(d, &f);
}

/* What needs no system call of the kernel's counters. */
#define NO_CALL "encoding, listing, dry runs"

/* What may be counted, by trying. */
static bool check_scope(struct doctor *d, const char *check, const char *event, unsigned flags, const char *works)
{
	struct finding f = { .check = check, .state = STATE_GOOD };
	struct trial t;

	if (!is_pmu_on_host())
		return true;
	try_event(d, event, flags, false, &t);
	if (t.counted && t.count.cause != PFM_CAUSE_PERMISSION) {
		set_finding(f.observed, "can be counted");
	} else {
		f.state = STATE_BAD;
		set_finding(f.observed, "cannot be counted");
		set_finding(f.consequence, "%s", t.reason);
		set_finding(f.remedy, "%s", t.remedy);
		set_finding(f.available, "%s", d->cannot_count ? NO_CALL : works);
	}
	print_finding(d, &f);
	return f.state == STATE_GOOD;
}

/* A /proc that hides other users' processes: they cannot be named. */
static void check_hidden_processes(struct doctor *d)
{
	struct finding f = { .check = "other processes", .state = STATE_GOOD };
	char line[4096];
	FILE *mounts = open_file("/proc/mounts");
	char level[16] = "";

	if (!mounts)
		return;
	while (fgets(line, sizeof(line), mounts)) {
		const char *word = strstr(line, "hidepid=");

		if (word && strstr(line, " /proc proc "))
			snprintf(level, sizeof(level), "%.*s", (int)strcspn(word + strlen("hidepid="), ", \n"), word + strlen("hidepid="));
	}
	fclose(mounts);
	if (!*level || strcmp(level, "0") == 0 || strcmp(level, "off") == 0) {
		set_finding(f.observed, "/proc shows those of every user");
	} else {
		f.state = STATE_NOTE;
		set_finding(f.observed, "/proc is mounted with hidepid=%s: it hides those of other users", level);
		set_finding(f.consequence, "-p and -t find none of theirs, whatever may be counted; threads and names of programs are missing from "
		                           "reports");
		set_finding(f.remedy, "mount -o remount,hidepid=0 /proc");
		set_finding(f.available, "own processes, and whole CPUs where they are permitted");
	}
	print_finding(d, &f);
}

static void check_seccomp(struct doctor *d)
{
	struct finding f = { .check = "seccomp", .state = STATE_GOOD };
	char mode[16];
	struct trial t;

	if (!is_pmu_on_host() || !read_key_value("/proc/self/status", "Seccomp", mode, sizeof(mode)))
		return;
	if (strcmp(mode, "2") != 0) {
		set_finding(f.observed, "no filter");
		print_finding(d, &f);
		return;
	}
	try_event(d, "task-clock", 0, false, &t);
	set_finding(f.observed, "a filter is on, and perf_event_open %s it", t.counted ? "passes" : "does not pass");
	if (!t.counted) {
		f.state = STATE_BAD;
		set_finding(f.consequence, "containers start programs so");
		set_finding(f.remedy, "docker run --cap-add PERFMON (from Docker 23 on), or --security-opt seccomp=PROFILE with perf_event_open "
		                      "allowed; in a unit SystemCallFilter=@system-service perf_event_open");
		set_finding(f.available, NO_CALL);
	}
	print_finding(d, &f);
}

/* ---- limits and holders of counters ---------------------------------------------------------------------------------------------- */

static void check_watchdog(struct doctor *d)
{
	struct finding f = { .check = "NMI watchdog", .state = STATE_GOOD };
	long on;

	if (!read_number_file("/proc/sys/kernel/nmi_watchdog", &on))
		return;
	set_finding(f.observed, "%s", on ? "on" : "off");
	if (on) {
		f.state = STATE_NOTE;
		set_finding(f.consequence, "it holds a counter of every processor: one event less fits");
		set_finding(f.remedy, "sysctl kernel.nmi_watchdog=0");
	}
	print_finding(d, &f);
}

static void check_rdpmc(struct doctor *d)
{
	static const char *const paths[] = { "/sys/bus/event_source/devices/cpu/rdpmc", "/sys/bus/event_source/devices/cpu_core/rdpmc" };
	struct finding f = { .check = "rdpmc", .state = STATE_GOOD };
	long value;
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (!read_number_file(paths[i], &value))
			continue;
		f.state = value ? STATE_GOOD : STATE_NOTE;
		set_finding(f.observed, "%ld: programs may read %s", value, value == 0 ? "no counters themselves" : value == 1 ? "counters that they opened"
		                                                                                                               : "every counter");
		if (!value)
			set_finding(f.remedy, "echo 1 > %s", paths[i]);
		print_finding(d, &f);
		return;
	}
}

static void check_limits(struct doctor *d)
{
	struct finding f = { .check = "limits", .state = STATE_GOOD };
	struct rlimit files, lock;
	long kib = -1;

	if (getrlimit(RLIMIT_NOFILE, &files) || getrlimit(RLIMIT_MEMLOCK, &lock))
		return;
	read_number_file("/proc/sys/kernel/perf_event_mlock_kb", &kib);
	set_finding(f.observed, "%" PRIu64 " open files", (uint64_t)files.rlim_cur);
	if (kib >= 0)
		set_finding(f.observed, "%" PRIu64 " open files; %ld KiB of sample buffers for each user", (uint64_t)files.rlim_cur, kib);
	if (files.rlim_cur < MIN_OPEN_FILES) {
		f.state = STATE_BAD;
		set_finding(f.consequence, "each event takes a file for each task and CPU");
		set_finding(f.remedy, "ulimit -n %" PRIu64, (uint64_t)(files.rlim_max > MIN_OPEN_FILES ? files.rlim_max : MIN_OPEN_FILES));
		set_finding(f.available, "a few events of one task");
	}
	print_finding(d, &f);
}

static void check_tracefs(struct doctor *d)
{
	static const char *const paths[] = { "/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events" };
	struct finding f = { .check = "tracefs", .state = STATE_BAD };
	char buf[TEXT_MAX];
	bool denied = false;
	size_t i;
	DIR *dir;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		dir = opendir(make_machine_path(paths[i], buf, sizeof(buf)));
		denied |= !dir && errno == EACCES;
		if (!dir)
			continue;
		closedir(dir);
		f.state = STATE_GOOD;
		set_finding(f.observed, "on %.*s", (int)(strlen(paths[i]) - strlen("/events")), paths[i]);
		print_finding(d, &f);
		return;
	}
	set_finding(f.observed, "%s", denied ? "this user may not look into it" : "not mounted");
	set_finding(f.consequence, "tracepoints are looked up there");
	set_finding(f.remedy, "%s", denied ? "mount -o remount,mode=755 /sys/kernel/tracing" : "mount -t tracefs tracefs /sys/kernel/tracing");
	set_finding(f.available, "everything but tracepoints");
	print_finding(d, &f);
}

/* What the kernel was built with, where the distribution tells. */
static void check_kernel(struct doctor *d)
{
	static const char *const wanted[] = { "CONFIG_PERF_EVENTS", "CONFIG_HW_PERF_EVENTS", "CONFIG_CGROUP_PERF", "CONFIG_FTRACE" };
	static const char *const costs[] = { "nothing can be counted", "no hardware event", "no control group", "no tracepoint" };
	struct finding f = { .check = "kernel", .state = STATE_GOOD };
	bool on[sizeof(wanted) / sizeof(wanted[0])] = { false };
	char path[TEXT_MAX], line[256];
	struct utsname name;
	size_t i, len = 0;
	FILE *file;

	if (!is_pmu_on_host() || uname(&name))
		return;
	len = (size_t)snprintf(f.observed, TEXT_MAX, "%s", name.release);
	snprintf(path, sizeof(path), "/boot/config-%s", name.release);
	file = open_file(path);
	while (file && fgets(line, sizeof(line), file))
		for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			on[i] |= strncmp(line, wanted[i], strlen(wanted[i])) == 0 && strcmp(line + strlen(wanted[i]), "=y\n") == 0;
	if (!file) {
		snprintf(f.observed + len, TEXT_MAX - len, "; %s is not there, so its options were not looked at", path);
		print_finding(d, &f);
		return;
	}
	fclose(file);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (on[i])
			continue;
		f.state = STATE_NOTE;
		len = strlen(f.consequence);
		snprintf(f.consequence + len, TEXT_MAX - len, "%swithout %s: %s", len ? "; " : "", wanted[i], costs[i]);
	}
	print_finding(d, &f);
}

/* ---- a known workload ------------------------------------------------------------------------------------------------------------- */

struct expectation {
	const char *event;
	double min_count, max_count; /* of the count in its unit; 0: no bound */
	const char *text;
};

static double now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check_event(struct doctor *d, const struct expectation *e)
{
	struct finding f = { .check = e->event, .state = STATE_GOOD };
	struct trial t;
	char number[GROUPED_MAX];
	double began = now_seconds(), elapsed, value;

	try_event(d, e->event, 0, true, &t);
	elapsed = now_seconds() - began;
	value = (double)t.count.value;
	f.count = &t.count;
	f.expected = e->text;
	if (!t.counted || t.count.quality > PFM_QUALITY_PARTIAL) {
		f.state = STATE_BAD;
		set_finding(f.observed, "%s", pfm_quality_name(t.count.quality));
		set_finding(f.consequence, "%s", t.reason);
		set_finding(f.remedy, "%s", t.remedy);
		print_finding(d, &f);
		return;
	}
	set_finding(f.observed, "%s, %s; expected %s", group_digits(t.count.value, number), pfm_quality_name(t.count.quality), e->text);
	if (t.count.quality != PFM_QUALITY_EXACT) {
		f.state = STATE_NOTE;
		set_finding(f.consequence, "%s", *t.reason ? t.reason : pfm_cause_name(t.count.cause));
		set_finding(f.remedy, "%s", t.remedy);
	}
	/* The clock's count is of nanoseconds, and cannot be more than went by. */
	if (value < e->min_count || (e->max_count > 0 && value > e->max_count) || (strncmp(e->event, "task-clock", 10) == 0 && value > elapsed * 1e9)) {
		f.state = STATE_BAD;
		set_finding(f.consequence, "that is not what the workload does: do not trust this event here");
		*f.remedy = '\0';
	}
	print_finding(d, &f);
}

static void check_events(struct doctor *d)
{
	static const struct expectation expectations[] = {
		{ "page-faults:u", WORKLOAD_PAGES, WORKLOAD_PAGES * 4, "512 and a few: so many pages are touched" },
		{ "task-clock", 1e6, 0, "no more than the time that went by" },
		{ "cycles:u", WORKLOAD_LOOPS / 4.0, 0, "5,000,000 at least, for 20,000,000 loops" },
		{ "instructions:u", WORKLOAD_LOOPS, WORKLOAD_LOOPS * 20.0, "20,000,000 at least: so many loops" },
		{ "branches:u", WORKLOAD_LOOPS * 0.99, WORKLOAD_LOOPS * 4.0, "20,000,000: one for each loop" },
		{ "branch-misses:u", 0, WORKLOAD_LOOPS / 20.0, "few: the loop is regular" },
		{ "cache-references:u", 0, 0, "any number" },
		{ "cache-misses:u", 0, 0, "any number" },
	};
	size_t i;

	if (!is_pmu_on_host())
		return;
	if (!d->json)
		printf("\n%sA small known workload%s\n", term_colour_begin(stdout, BOLD), term_colour_end(stdout));
	for (i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++)
		check_event(d, &expectations[i]);
}

/* ---- the command -------------------------------------------------------------------------------------------------------------------- */

static void print_heading(const struct doctor *d, const char *text)
{
	if (!d->json)
		printf("%s%s%s\n", term_colour_begin(stdout, BOLD), text, term_colour_end(stdout));
}

static void check_system(struct doctor *d)
{
	print_heading(d, "This machine");
	check_processor(d);
	check_pmus(d);
	check_kernel(d);
	print_heading(d, "\nWhat may be counted");
	check_level(d);
	check_capabilities(d);
	check_seccomp(d);
	check_hidden_processes(d);
	d->cannot_count = !check_scope(d, "own code", "task-clock", 0, NO_CALL);
	check_scope(d, "own kernel time", "page-faults:k", 0, "events in user mode: EVENT:u");
	check_scope(d, "whole CPUs", "page-faults", PFM_SESSION_SYSTEM_WIDE, "commands and own processes: pfm stat -- COMMAND, -p PID");
	print_heading(d, "\nWhat is in the way");
	check_watchdog(d);
	check_rdpmc(d);
	check_limits(d);
	check_tracefs(d);
	check_events(d);
}

static int run_doctor(struct command_args *args)
{
	struct doctor d = { .n_causes = 0 };
	const char *value;
	int id;

	while ((id = next_option(args, &value)) > 0)
		if (id == OPT_JSON)
			d.json = true;
	if (id < 0)
		return args->status;
	if (args->n)
		return report_usage_error(args, "it takes no operand.");
	d.ctx = open_context(NULL);
	if (!d.ctx)
		return EXIT_REFUSED;
	check_system(&d);
	if (!d.json)
		printf("\n%u thing%s in the way of counting everything.\n", d.n_causes, d.n_causes == 1 ? " is" : "s are");
	pfm_close_context(d.ctx);
	return EXIT_DONE;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.usage = "[--json]",
	.summary = "what this machine can count, and what stands in the way",
	.about = "One page on this machine: its processor and table, its PMUs, who may count what, who holds counters, limits, "
		 "and a small known workload on each basic event with what was expected. For each trouble the cause, what to do, "
		 "and what works all the same. What can be tried is tried.",
	.examples = "Why is this not supported?\n"
		    "pfm doctor\n"
		    "The same for a program\n"
		    "pfm doctor --json\n",
	.options = options,
	.run = run_doctor
};
