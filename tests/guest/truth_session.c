/* SPDX-License-Identifier: MIT */
/*
 * The command in a guest beside programs whose counts are known. The program is both.
 *
 *   truth_session GUEST commands        checks what the command says
 *   truth_session loop ROUNDS 1         four instructions a round
 *   truth_session pages N 1             N pages touched for the first time
 *   truth_session fork N K              K children with N pages each
 *   truth_session threads N K           K threads with N pages each
 *   truth_session nest N K              K nested regions, N pages touched in each
 *   truth_session migrate N K           N pages touched on each of K processors
 *
 * Starts and ends of programs count as much in each run, so that differences of two runs are exact.
 */
#include <fcntl.h>
#include <perfmon/region.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"
#include "known_loop.h"
#include "tap.h"

enum { PAGES = 1000, PARTS = 3, ROUNDS = 1000000, PER_ROUND = 4 };

#define DATA     "/tmp/truth.data"
#define TEXTFILE "/tmp/truth.prom"

/* ---- the programs ---------------------------------------------------------------------------- */

static void touch_pages(unsigned long n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *at = mmap(NULL, (n + 1) * page, PROT_READ | PROT_WRITE,
	                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		_exit(3);
	madvise((void *)(uintptr_t)at, (n + 1) * page, MADV_NOHUGEPAGE);
	for (unsigned long i = 0; i < n; i++)
		at[i * page] = 1;
	munmap((void *)(uintptr_t)at, (n + 1) * page);
}

static void *run_thread(void *arg)
{
	touch_pages(*(unsigned long *)arg);
	return NULL;
}

/* The inner region ends before the outer one. */
static void nest(unsigned long n, unsigned long depth)
{
	static pfm_region_t levels[] = { { .name = "inner" },
		                         { .name = "middle" },
		                         { .name = "outer" } };

	if (!depth || depth > sizeof(levels) / sizeof(levels[0]))
		return;
	pfm_begin_region(&levels[depth - 1]);
	touch_pages(n);
	nest(n, depth - 1);
	pfm_end_region(&levels[depth - 1]);
}

static void migrate(unsigned long n, unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
	touch_pages(n);
}

static int run_program(const char *name, unsigned long n, unsigned k)
{
	pthread_t threads[PARTS];

	if (strcmp(name, "loop") == 0)
		loop(n);
	else if (strcmp(name, "pages") == 0)
		touch_pages(n);
	else if (strcmp(name, "nest") == 0)
		nest(n, k);
	for (unsigned i = 0; strcmp(name, "migrate") == 0 && i < k; i++)
		migrate(n, i);
	for (unsigned i = 0; strcmp(name, "fork") == 0 && i < k; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			touch_pages(n);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	for (unsigned i = 0; strcmp(name, "threads") == 0 && i < k && i < PARTS; i++) {
		if (pthread_create(&threads[i], NULL, run_thread, &n))
			return 3;
		pthread_join(threads[i], NULL);
	}
	return 0;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Prints the output of pfm as comments after a failure. */
static bool show_unless(bool ok)
{
	for (const char *at = ok ? "" : said; *at;) {
		int len = (int)strcspn(at, "\n");

		printf("# %.*s\n", len, at);
		at += len + (at[len] != '\0');
	}
	return ok;
}

/* The number after @key in the line at @line; -1 without one. */
static double read_member(const char *line, const char *key)
{
	const char *at = line ? strstr(line, key) : NULL, *end = line ? strchr(line, '\n') : NULL;
	char *rest;
	double number = at && (!end || at < end) ? strtod(at + strlen(key), &rest) : -1;

	return number != -1 && rest != at + strlen(key) ? number : -1;
}

static const char *find_line(const char *text)
{
	const char *at = strstr(said, text);

	while (at && at > said && at[-1] != '\n')
		at--;
	return at;
}

/* The exact count of @event in a program, -1 if it has none. */
static double count(const char *event, const char *program, const char *n, const char *k)
{
	int status = RUN("stat", "--json", "-e", event, "--", "/truth_session", program, n, k);
	const char *line = find_line("\"event\": ");

	return status == 0 && strstr(said, "\"exact\"") ? read_member(line, "\"value\": ") : -1;
}

static bool is_near(double value, double wanted, double slack)
{
	return value >= wanted - slack && value <= wanted + slack;
}

/* ---- what is checked ------------------------------------------------------------------------- */

static void check_faults(const char *program, unsigned parts)
{
	double none = count("page-faults:u", program, "0", "3"),
	       all = count("page-faults:u", program, "1000", "3");

	check(show_unless(none >= 0 && is_near(all - none, PAGES * parts, 8)),
	      "%s: %u page faults are %.0f", program, PAGES * parts, all - none);
}

static void check_instructions(void)
{
	double one = count("instructions:u", "loop", "1000000", "1"),
	       three = count("instructions:u", "loop", "3000000", "1"),
	       wanted = 2.0 * PER_ROUND * ROUNDS;

	check(show_unless(one >= 0 && is_near(three - one, wanted, wanted / 200)),
	      "loop: %.0f instructions are %.0f", wanted, three - one);
}

/* Each interval is exact, or has no time; together they are the whole. */
static void check_intervals(void)
{
	double whole = count("page-faults:u", "fork", "1000", "3"), sum = 0;
	unsigned n = 0, bad = 0;

	RUN("stat", "--json", "-I", "5", "-e", "page-faults:u", "--", "/truth_session", "fork",
	    "1000", "3");
	for (const char *at = said; at && *at; at = strchr(at, '\n'), at += at ? 1 : 0) {
		double value = read_member(at, "\"value\": ");

		sum += value > 0 ? value : 0;
		n++;
		bad += value < 0 && !strstr(at, "\"no time\"");
	}
	check(show_unless(n > 0 && !bad && is_near(sum, whole, 8)),
	      "stat -I: %u intervals have %.0f of %.0f page faults", n, sum, whole);
}

static void check_repeats(void)
{
	double one = count("page-faults:u", "pages", "1000", "1"), mean, counted;

	RUN("stat", "--json", "-r", "3", "-e", "page-faults:u", "--", "/truth_session", "pages",
	    "1000", "1");
	mean = read_member(find_line("\"event\""), "\"value\": ");
	counted = read_member(find_line("\"event\""), "\"counted\": ");
	check(show_unless(counted == PARTS && is_near(mean, one, 8)),
	      "stat -r 3: the mean of %.0f runs is %.0f, one run has %.0f", counted, mean, one);
}

/* The value of a metric is that of the counts beside it. */
static void check_metric(void)
{
	double faults, seconds, rate;

	RUN("stat", "--json", "-M", "software::faults_per_second", "--", "/truth_session", "pages",
	    "1000", "1");
	faults = read_member(find_line("page-faults"), "\"value\": ");
	seconds = read_member(find_line("task-clock"), "\"value\": ") / 1e9;
	rate = read_member(find_line("\"metric\""), "\"value\": ");
	check(show_unless(faults >= PAGES && is_near(rate * seconds, faults, faults / 1e6)),
	      "stat -M: %.0f faults in %.6f s are %.0f a second", faults, seconds, rate);
}

static void check_regions(void)
{
	static const char *const names[] = { "inner", "middle", "outer" };
	int status = RUN("stat", "--regions", "--json", "-e", "page-faults:u", "--",
	                 "/truth_session", "nest", "1000", "3");

	for (unsigned i = 0; i < PARTS; i++) {
		char key[64];
		const char *row;
		double all, own;

		snprintf(key, sizeof(key), "{\"region\":\"%s\"", names[i]);
		row = find_line(key);
		row = row ? strstr(row, "\"counts\"") : NULL;
		all = read_member(row, "\"inclusive\":");
		own = read_member(row, "\"exclusive\":");
		check(show_unless(status == 0 && is_near(all, PAGES * (i + 1.0), 2 * (i + 1.0)) &&
		                  is_near(own, PAGES, 2)),
		      "stat --regions: %s has %.0f page faults, %.0f of its own", names[i], all,
		      own);
	}
}

/* Software events take no turns: the count is that of the program. */
static void check_rotation(void)
{
	double whole = count("page-faults:u", "pages", "1000", "1"), value;
	int status = RUN("stat", "--json", "--rotate=5", "-e", "page-faults:u,minor-faults:u", "--",
	                 "/truth_session", "pages", "1000", "1");

	value = read_member(find_line("\"page-faults"), "\"value\": ");
	check(show_unless(status == 0 && is_near(value, whole, 8)),
	      "stat --rotate: %.0f page faults, without it %.0f", value, whole);
}

/* Samples of a clock with the counts of metrics in them. */
static void check_recorded_metric(void)
{
	char pages[24]; /* of 120 MB, which each guest has */
	int status;

	snprintf(pages, sizeof(pages), "%ld", 30000 * 4096 / sysconf(_SC_PAGESIZE));
	status = RUN("record", "-M", "software::faults_per_second", "-c", "100000", "-o", DATA,
	             "--", "/truth_session", "pages", pages, "1");
	check(show_unless(status == 0), "record -M ends well");
	status = RUN("report", "--metrics", "--json", "--sort", "task", DATA);
	check(show_unless(status == 0 && strstr(said, "truth_session") &&
	                  read_member(strstr(said, "\"faults_per_second\""), "\"value\": ") > 0),
	      "report --metrics has the rate: %.0f a second",
	      read_member(strstr(said, "\"faults_per_second\""), "\"value\": "));
}

static void check_top(void)
{
	int status = RUN("top", "-e", "cpu-clock", "-d", "0.2", "--", "/truth_session", "loop",
	                 "300000000", "1");

	check(show_unless(status == 0 && strstr(said, "truth_session") && strstr(said, "loop")),
	      "top names the loop");
}

/* The number of page faults in the service's file, once it is another file than @before. */
static double read_textfile(ino_t *before)
{
	struct stat s;
	char text[65536];
	const char *at;
	ssize_t n;
	int fd;

	while (stat(TEXTFILE, &s) != 0 || s.st_ino == *before)
		sched_yield();
	*before = s.st_ino;
	fd = open(TEXTFILE, O_RDONLY | O_CLOEXEC);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "\nperfmon_page_faults_total{");
	at = at ? strchr(at, '}') : NULL;
	return at ? strtod(at + 1, NULL) : -1;
}

/* A file that is written after the load has it. */
static void check_service(void)
{
	static const char *const words[] = { "pfm", "serve", "--textfile",  TEXTFILE, "-I",
		                             "100", "-e",    "page-faults", NULL };
	int fd = open("/tmp/served", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), status = -1;
	pid_t pid = start_pfm(words, fd);
	ino_t file = 0;
	double before = read_textfile(&file), after;

	touch_pages(PAGES);
	(void)read_textfile(&file); /* its reading may be older than the load's end */
	after = read_textfile(&file);
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	close(fd);
	check(before >= 0 && after - before >= PAGES, "serve: %d page faults are among %.0f", PAGES,
	      after - before);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "serve ends well");
}

/* Equal addresses in each run make equal page faults. */
static void stop_randomization(void)
{
	int fd = open("/proc/sys/kernel/randomize_va_space", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) != 1)
		printf("# addresses are random\n");
	if (fd >= 0)
		close(fd);
}

static int check_all(void)
{
	stop_randomization();
	check_instructions();
	check_faults("pages", 1);
	check_faults("fork", PARTS);
	check_faults("threads", PARTS);
	check_faults("migrate", PARTS);
	check_intervals();
	check_repeats();
	check_metric();
	check_regions();
	check_rotation();
	check_recorded_metric();
	check_top();
	check_service();
	check(show_unless(RUN("doctor") <= 1 && strstr(said, "page-faults")), "doctor ends well");
	printf("1..%d\n", n_cases);
	return n_failed > 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[2], "commands") == 0)
		return check_all();
	return argc != 4 ? 2
	                 : run_program(argv[1], strtoul(argv[2], NULL, 0),
	                               (unsigned)strtoul(argv[3], NULL, 0));
}
