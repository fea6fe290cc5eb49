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
       PAGES = 512,      /* that the workload touches */
       LOOPS = 20000000, /* that it runs through */
       FEW_FILES = 256,  /* descriptors that a session of many events and CPUs outgrows */
       MOST_PARTS = 16,  /* counts of one event: a kind of core has one each */
       CAP_PTRACE = 19,  /* numbers of <linux/capability.h> */
       CAP_ADMIN = 21,
       CAP_PERF = 38 };

static const struct opt options[] = {
	{ OPT_JSON, "json", NULL, "one JSON object for each finding" },
	{ 0, NULL, NULL, NULL }
};

enum state { GOOD,
	     NOTE,
	     BAD };
static const char *const state_names[] = { "good", "note", "bad" };

/* One thing that was looked at. Texts may be empty. */
struct finding {
	const char *check;
	enum state state;
	char found[TEXT_MAX];  /* what is so */
	char why[TEXT_MAX];    /* what that keeps from being counted */
	char remedy[TEXT_MAX]; /* a command, where one helps */
	char works[TEXT_MAX];  /* what can be had all the same */
	/* Of an event that was tried; else NULL. */
	const pfm_count_t *count;
	const char *expected;
};

struct doctor {
	pfm_ctx_t *ctx;
	bool json;
	unsigned troubles;       /* causes that differ */
	char last_why[TEXT_MAX]; /* of the finding before */
	bool nothing;            /* not even own code can be counted */
};

/* ---- findings ------------------------------------------------------------------------------------------------------------- */

static void set(char text[TEXT_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void set(char text[TEXT_MAX], const char *format, ...)
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

static void tell(struct doctor *d, const struct finding *f)
{
	static const enum style styles[] = { GREEN, PLAIN, RED };
	struct json j = { .out = stdout };
	bool again = *f->why && strcmp(f->why, d->last_why) == 0;
	char found[TEXT_MAX];

	d->troubles += f->state == BAD && !again;
	set(d->last_why, "%s", f->why);
	if (!d->json) {
		printf("  %s%-*s%s ", term_on(stdout, styles[f->state]), LABEL, f->check, term_off(stdout));
		set(found, "%s%s", f->found, again ? ", for the same reason" : "");
		term_wrap(stdout, LABEL + 3, LABEL + 3, found);
		print_line("", again ? "" : f->why);
		print_line("do: ", again ? "" : f->remedy);
		print_line("works: ", f->works);
		return;
	}
	put_begin(&j, NULL, '{');
	put_text(&j, "check", f->check);
	put_text(&j, "state", state_names[f->state]);
	put_text(&j, "found", f->found);
	put_text_if(&j, "why", f->why);
	put_text_if(&j, "remedy", f->remedy);
	put_text_if(&j, "works", f->works);
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
	FILE *f = fopen(machine_path(path, buf, sizeof(buf)), "re");

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

static bool number_in(const char *path, long *number)
{
	char line[64], *end;

	if (!first_line(path, line, sizeof(line)))
		return false;
	*number = strtol(line, &end, 10);
	return end > line && !*end;
}

/* The text behind "@key:" in @path; false if there is none. */
static bool value_in(const char *path, const char *key, char *value, size_t room)
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
static bool is_here(void)
{
	const char *root = getenv("PERFMON_SYSFS");

	return !root || !*root || strcmp(root, "/") == 0;
}

/* ---- trying ---------------------------------------------------------------------------------------------------------------- */

struct trial {
	pfm_count_t count;
	char why[TEXT_MAX], remedy[TEXT_MAX];
	bool counted;
};

static volatile uint64_t sink;

/* As many pages and loops as are told; what is expected follows from that. */
static void work(void)
{
	char *page = mmap(NULL, PAGES * 4096UL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t i;

	if (page != MAP_FAILED) {
		madvise(page, PAGES * 4096UL, MADV_NOHUGEPAGE);
		for (i = 0; i < PAGES; i++)
			page[i * 4096] = 1;
		munmap(page, PAGES * 4096UL);
	}
	for (i = 0; i < LOOPS; i++)
		sink = i;
}

/* What a session of one event counted, on every kind of core. Time that the task did not spend on one of them is none lost. */
static void add_counts(pfm_session_t *s, struct trial *t)
{
	pfm_count_t counts[MOST_PARTS];
	pfm_count_info_t info = PFM_INIT(info);
	unsigned i, n = pfm_count_session(s) < MOST_PARTS ? (unsigned)pfm_count_session(s) : MOST_PARTS, n_good = 0;
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
		snprintf(t->why, sizeof(t->why), "%s%s%s", n > 1 && *info.why ? info.pmu : "", n > 1 && *info.why ? ": " : "", info.why);
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
		pfm_explain_error(d->ctx, event, &error, t->why, sizeof(t->why));
		return;
	}
	if (pfm_start_session(s) == PFMLIB_SUCCESS && busy)
		work();
	pfm_stop_session(s);
	add_counts(s, t);
	t->counted = t->count.quality <= PFM_QUALITY_PARTIAL || t->count.cause == PFM_CAUSE_NO_TIME;
	pfm_close_session(s);
}

/* ---- processor and PMUs ---------------------------------------------------------------------------------------------------- */

static void check_processor(struct doctor *d)
{
	struct finding f = { .check = "processor", .state = BAD };
	pfm_pmu_info_t p = PFM_INIT(p);
	int i, n = pfm_count_pmus(d->ctx), best = -1;

	for (i = 0; i < n; i++)
		if (pfm_describe_pmu(d->ctx, i, &p) == PFMLIB_SUCCESS && p.flags & PFM_PMU_HOST && p.flags & PFM_PMU_CORE &&
		    (best < 0 || !(p.flags & PFM_PMU_FALLBACK)))
			best = p.n_events || best < 0 ? i : best;
	if (best < 0 || pfm_describe_pmu(d->ctx, best, &p) != PFMLIB_SUCCESS) {
		set(f.found, "no table has this machine's processor");
		set(f.works, "the events of the kernel");
		tell(d, &f);
		return;
	}
	f.state = p.flags & PFM_PMU_FALLBACK ? NOTE : GOOD;
	set(f.found, "%s: %s, %u events, %u general and %u fixed counters (%s)", p.name, p.desc, p.n_events, p.n_counters, p.n_fixed,
	    p.origin);
	if (f.state == NOTE) {
		set(f.why, "the list of this very processor is not loaded: these are the events that its family has in common");
		set(f.remedy, "pfm import FOLDER, of the vendor's lists or of a Linux source tree");
	}
	tell(d, &f);
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
	struct finding f = { .check = "PMUs", .state = GOOD };
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
		if (is_listed(f.found, name))
			continue;
		if (len + strlen(", ") + strlen(name) + sizeof(MORE) > TEXT_MAX)
			more = true;
		else
			len += (size_t)sprintf(f.found + len, "%s%s", len ? ", " : "", name);
	}
	if (more)
		strcat(f.found, MORE);
	if (!len)
		set(f.found, "the kernel shows none");
	if (!core) {
		char flags[4096];
		bool guest = value_in("/proc/cpuinfo", "flags", flags, sizeof(flags)) && strstr(flags, "hypervisor");

		f.state = BAD;
		set(f.why, "no PMU of a processor core is among them%s", guest ? ": the hypervisor gives this virtual machine none" : "");
		set(f.remedy, "%s", guest ? "switch the virtual PMU on (QEMU: -cpu host,pmu=on; a cloud: a bare-metal or a bigger "
		                            "instance)"
		                          : "load the driver of the processor's PMU, or use a kernel that has it");
		set(f.works, "software events: task-clock, page-faults, context-switches; tracepoints");
	}
	tell(d, &f);
}

/* ---- permissions ------------------------------------------------------------------------------------------------------------- */

static void check_level(struct doctor *d)
{
	struct finding f = { .check = "paranoid level", .state = GOOD };
	const char *path = "/proc/sys/kernel/perf_event_paranoid";
	long level;

	if (!number_in(path, &level)) {
		f.state = BAD;
		set(f.found, "%s cannot be read: no /proc, or a kernel without perf events", path);
		set(f.remedy, "mount -t proc proc /proc");
	} else if (level <= -1) {
		set(f.found, "%ld: everybody may count everything", level);
	} else if (level == 0) {
		set(f.found, "0: everybody may count CPUs, no raw tracepoints");
	} else {
		f.state = geteuid() && level > 1 ? NOTE : GOOD;
		set(f.found, "%ld: without a capability %s", level,
		    level == 1   ? "own tasks, with what the kernel does for them"
		    : level == 2 ? "own tasks, in user mode only"
		                 : "own tasks, in user mode only; some distributions' kernels let nothing be counted");
		if (f.state == NOTE)
			set(f.remedy, "sysctl kernel.perf_event_paranoid=1 (0 for whole CPUs), or setcap cap_perfmon+ep on the program");
	}
	tell(d, &f);
}

static void check_capabilities(struct doctor *d)
{
	struct finding f = { .check = "capabilities", .state = GOOD };
	char value[64];
	uint64_t caps;

	if (!is_here() || !value_in("/proc/self/status", "CapEff", value, sizeof(value)))
		return;
	caps = strtoull(value, NULL, 16);
	set(f.found, "CAP_PERFMON %s, CAP_SYS_ADMIN %s, CAP_SYS_PTRACE %s", caps >> CAP_PERF & 1 ? "yes" : "no",
	    caps >> CAP_ADMIN & 1 ? "yes" : "no",
	    caps >> CAP_PTRACE & 1 ? "yes" : "no");
	tell(d, &f);
}

/* What needs no system call of the kernel's counters. */
#define NO_CALL "encoding, listing, dry runs"

/* What may be counted, by trying. */
static bool check_scope(struct doctor *d, const char *check, const char *event, unsigned flags, const char *works)
{
	struct finding f = { .check = check, .state = GOOD };
	struct trial t;

	if (!is_here())
		return true;
	try_event(d, event, flags, false, &t);
	if (t.counted && t.count.cause != PFM_CAUSE_PERMISSION) {
		set(f.found, "can be counted");
	} else {
		f.state = BAD;
		set(f.found, "cannot be counted");
		set(f.why, "%s", t.why);
		set(f.remedy, "%s", t.remedy);
		set(f.works, "%s", d->nothing ? NO_CALL : works);
	}
	tell(d, &f);
	return f.state == GOOD;
}

/* A /proc that hides other users' processes: they cannot be named. */
static void check_hidden_processes(struct doctor *d)
{
	struct finding f = { .check = "other processes", .state = GOOD };
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
		set(f.found, "/proc shows those of every user");
	} else {
		f.state = NOTE;
		set(f.found, "/proc is mounted with hidepid=%s: it hides those of other users", level);
		set(f.why, "-p and -t find none of theirs, whatever may be counted; threads and names of programs are missing from "
		           "reports");
		set(f.remedy, "mount -o remount,hidepid=0 /proc");
		set(f.works, "own processes, and whole CPUs where they are permitted");
	}
	tell(d, &f);
}

static void check_seccomp(struct doctor *d)
{
	struct finding f = { .check = "seccomp", .state = GOOD };
	char mode[16];
	struct trial t;

	if (!is_here() || !value_in("/proc/self/status", "Seccomp", mode, sizeof(mode)))
		return;
	if (strcmp(mode, "2") != 0) {
		set(f.found, "no filter");
		tell(d, &f);
		return;
	}
	try_event(d, "task-clock", 0, false, &t);
	set(f.found, "a filter is on, and perf_event_open %s it", t.counted ? "passes" : "does not pass");
	if (!t.counted) {
		f.state = BAD;
		set(f.why, "containers start programs so");
		set(f.remedy, "docker run --cap-add PERFMON (from Docker 23 on), or --security-opt seccomp=PROFILE with perf_event_open "
		              "allowed; in a unit SystemCallFilter=@system-service perf_event_open");
		set(f.works, NO_CALL);
	}
	tell(d, &f);
}

/* ---- limits and holders of counters ---------------------------------------------------------------------------------------------- */

static void check_watchdog(struct doctor *d)
{
	struct finding f = { .check = "NMI watchdog", .state = GOOD };
	long on;

	if (!number_in("/proc/sys/kernel/nmi_watchdog", &on))
		return;
	set(f.found, "%s", on ? "on" : "off");
	if (on) {
		f.state = NOTE;
		set(f.why, "it holds a counter of every processor: one event less fits");
		set(f.remedy, "sysctl kernel.nmi_watchdog=0");
	}
	tell(d, &f);
}

static void check_rdpmc(struct doctor *d)
{
	static const char *const paths[] = { "/sys/bus/event_source/devices/cpu/rdpmc", "/sys/bus/event_source/devices/cpu_core/rdpmc" };
	struct finding f = { .check = "rdpmc", .state = GOOD };
	long value;
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (!number_in(paths[i], &value))
			continue;
		f.state = value ? GOOD : NOTE;
		set(f.found, "%ld: programs may read %s", value, value == 0 ? "no counters themselves" : value == 1 ? "counters that they opened"
		                                                                                                    : "every counter");
		if (!value)
			set(f.remedy, "echo 1 > %s", paths[i]);
		tell(d, &f);
		return;
	}
}

static void check_limits(struct doctor *d)
{
	struct finding f = { .check = "limits", .state = GOOD };
	struct rlimit files, lock;
	long kib = -1;

	if (getrlimit(RLIMIT_NOFILE, &files) || getrlimit(RLIMIT_MEMLOCK, &lock))
		return;
	number_in("/proc/sys/kernel/perf_event_mlock_kb", &kib);
	set(f.found, "%" PRIu64 " open files", (uint64_t)files.rlim_cur);
	if (kib >= 0)
		set(f.found, "%" PRIu64 " open files; %ld KiB of sample buffers for each user", (uint64_t)files.rlim_cur, kib);
	if (files.rlim_cur < FEW_FILES) {
		f.state = BAD;
		set(f.why, "each event takes a file for each task and CPU");
		set(f.remedy, "ulimit -n %" PRIu64, (uint64_t)(files.rlim_max > FEW_FILES ? files.rlim_max : FEW_FILES));
		set(f.works, "a few events of one task");
	}
	tell(d, &f);
}

static void check_tracefs(struct doctor *d)
{
	static const char *const paths[] = { "/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events" };
	struct finding f = { .check = "tracefs", .state = BAD };
	char buf[TEXT_MAX];
	bool denied = false;
	size_t i;
	DIR *dir;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		dir = opendir(machine_path(paths[i], buf, sizeof(buf)));
		denied |= !dir && errno == EACCES;
		if (!dir)
			continue;
		closedir(dir);
		f.state = GOOD;
		set(f.found, "on %.*s", (int)(strlen(paths[i]) - strlen("/events")), paths[i]);
		tell(d, &f);
		return;
	}
	set(f.found, "%s", denied ? "this user may not look into it" : "not mounted");
	set(f.why, "tracepoints are looked up there");
	set(f.remedy, "%s", denied ? "mount -o remount,mode=755 /sys/kernel/tracing" : "mount -t tracefs tracefs /sys/kernel/tracing");
	set(f.works, "everything but tracepoints");
	tell(d, &f);
}

/* What the kernel was built with, where the distribution tells. */
static void check_kernel(struct doctor *d)
{
	static const char *const wanted[] = { "CONFIG_PERF_EVENTS", "CONFIG_HW_PERF_EVENTS", "CONFIG_CGROUP_PERF", "CONFIG_FTRACE" };
	static const char *const costs[] = { "nothing can be counted", "no hardware event", "no control group", "no tracepoint" };
	struct finding f = { .check = "kernel", .state = GOOD };
	bool on[sizeof(wanted) / sizeof(wanted[0])] = { false };
	char path[TEXT_MAX], line[256];
	struct utsname name;
	size_t i, len = 0;
	FILE *file;

	if (!is_here() || uname(&name))
		return;
	len = (size_t)snprintf(f.found, TEXT_MAX, "%s", name.release);
	snprintf(path, sizeof(path), "/boot/config-%s", name.release);
	file = open_file(path);
	while (file && fgets(line, sizeof(line), file))
		for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			on[i] |= strncmp(line, wanted[i], strlen(wanted[i])) == 0 && strcmp(line + strlen(wanted[i]), "=y\n") == 0;
	if (!file) {
		snprintf(f.found + len, TEXT_MAX - len, "; %s is not there, so its options were not looked at", path);
		tell(d, &f);
		return;
	}
	fclose(file);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (on[i])
			continue;
		f.state = NOTE;
		len = strlen(f.why);
		snprintf(f.why + len, TEXT_MAX - len, "%swithout %s: %s", len ? "; " : "", wanted[i], costs[i]);
	}
	tell(d, &f);
}

/* ---- a known workload ------------------------------------------------------------------------------------------------------------- */

struct expectation {
	const char *event;
	double least, most; /* of the count in its unit; 0: no bound */
	const char *text;
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check_event(struct doctor *d, const struct expectation *e)
{
	struct finding f = { .check = e->event, .state = GOOD };
	struct trial t;
	char number[GROUPED_MAX];
	double began = seconds(), elapsed, value;

	try_event(d, e->event, 0, true, &t);
	elapsed = seconds() - began;
	value = (double)t.count.value;
	f.count = &t.count;
	f.expected = e->text;
	if (!t.counted || t.count.quality > PFM_QUALITY_PARTIAL) {
		f.state = BAD;
		set(f.found, "%s", pfm_quality_name(t.count.quality));
		set(f.why, "%s", t.why);
		set(f.remedy, "%s", t.remedy);
		tell(d, &f);
		return;
	}
	set(f.found, "%s, %s; expected %s", grouped(t.count.value, number), pfm_quality_name(t.count.quality), e->text);
	if (t.count.quality != PFM_QUALITY_EXACT) {
		f.state = NOTE;
		set(f.why, "%s", *t.why ? t.why : pfm_cause_name(t.count.cause));
		set(f.remedy, "%s", t.remedy);
	}
	/* The clock's count is of nanoseconds, and cannot be more than went by. */
	if (value < e->least || (e->most > 0 && value > e->most) || (strncmp(e->event, "task-clock", 10) == 0 && value > elapsed * 1e9)) {
		f.state = BAD;
		set(f.why, "that is not what the workload does: do not trust this event here");
		*f.remedy = '\0';
	}
	tell(d, &f);
}

static void check_events(struct doctor *d)
{
	static const struct expectation expectations[] = {
		{ "page-faults:u", PAGES, PAGES * 4, "512 and a few: so many pages are touched" },
		{ "task-clock", 1e6, 0, "no more than the time that went by" },
		{ "cycles:u", LOOPS / 4.0, 0, "5,000,000 at least, for 20,000,000 loops" },
		{ "instructions:u", LOOPS, LOOPS * 20.0, "20,000,000 at least: so many loops" },
		{ "branches:u", LOOPS * 0.99, LOOPS * 4.0, "20,000,000: one for each loop" },
		{ "branch-misses:u", 0, LOOPS / 20.0, "few: the loop is regular" },
		{ "cache-references:u", 0, 0, "any number" },
		{ "cache-misses:u", 0, 0, "any number" },
	};
	size_t i;

	if (!is_here())
		return;
	if (!d->json)
		printf("\n%sA small known workload%s\n", term_on(stdout, BOLD), term_off(stdout));
	for (i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++)
		check_event(d, &expectations[i]);
}

/* ---- the command -------------------------------------------------------------------------------------------------------------------- */

static void heading(const struct doctor *d, const char *text)
{
	if (!d->json)
		printf("%s%s%s\n", term_on(stdout, BOLD), text, term_off(stdout));
}

static void examine(struct doctor *d)
{
	heading(d, "This machine");
	check_processor(d);
	check_pmus(d);
	check_kernel(d);
	heading(d, "\nWhat may be counted");
	check_level(d);
	check_capabilities(d);
	check_seccomp(d);
	check_hidden_processes(d);
	d->nothing = !check_scope(d, "own code", "task-clock", 0, NO_CALL);
	check_scope(d, "own kernel time", "page-faults:k", 0, "events in user mode: EVENT:u");
	check_scope(d, "whole CPUs", "page-faults", PFM_SESSION_SYSTEM_WIDE, "commands and own processes: pfm stat -- COMMAND, -p PID");
	heading(d, "\nWhat is in the way");
	check_watchdog(d);
	check_rdpmc(d);
	check_limits(d);
	check_tracefs(d);
	check_events(d);
}

static int run(struct args *args)
{
	struct doctor d = { .troubles = 0 };
	const char *value;
	int id;

	while ((id = next_option(args, &value)) > 0)
		if (id == OPT_JSON)
			d.json = true;
	if (id < 0)
		return args->status;
	if (args->n)
		return usage(args, "it takes no operand.");
	d.ctx = open_context(NULL);
	if (!d.ctx)
		return REFUSED;
	examine(&d);
	if (!d.json)
		printf("\n%u thing%s in the way of counting everything.\n", d.troubles, d.troubles == 1 ? " is" : "s are");
	pfm_close_context(d.ctx);
	return DONE;
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
	.run = run
};
