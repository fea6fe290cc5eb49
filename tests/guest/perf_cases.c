/* SPDX-License-Identifier: MIT */
/*
 * perf_cases FILE: opens the events of each line of perf_cases.txt, which has the syntax, and
 * checks what becomes of them. It runs in the arm64 guest and on a pretended machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "tap.h"

enum { EVENTS_MAX = 32, LINE_MAX_SIZE = 256 };
/* Long beside the turns of counters, of some milliseconds each. */
#define SHARED_SECONDS 0.3
#define SHARE_MARGIN   0.08

static const struct {
	const char *name;
	int number;
} errors[] = {
	{ "EINVAL", EINVAL }, { "ENOENT", ENOENT }, { "EOPNOTSUPP", EOPNOTSUPP },
	{ "EBADF", EBADF },   { "ESRCH", ESRCH },
};

struct request {
	struct perf_event_attr attr;
	int pid, cpu, group;
};

/* The events of a line that are open. */
struct opened {
	int fds[EVENTS_MAX], leader; /* of the group that is open; -1: none */
	unsigned n;
	bool in_group;
};

/* ---- requests -------------------------------------------------------------------------------- */

static void read_number(struct request *r, const char *text)
{
	static const struct {
		const char *name;
		uint32_t type;
	} types[] = { { "hw=", PERF_TYPE_HARDWARE },
		      { "cache=", PERF_TYPE_HW_CACHE },
		      { "sw=", PERF_TYPE_SOFTWARE } };
	char *end;

	r->attr.type = PERF_TYPE_RAW;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strncmp(text, types[i].name, strlen(types[i].name)) == 0) {
			r->attr.type = types[i].type;
			text += strlen(types[i].name);
		}
	if (strncmp(text, "type=", 5) == 0) {
		r->attr.type = (uint32_t)strtoul(text + 5, &end, 0);
		text = end + 1;
	}
	r->attr.config = strtoull(text, NULL, 0);
}

enum term {
	TERM_USER,
	TERM_KERNEL,
	TERM_IDLE,
	TERM_PINNED,
	TERM_EXCLUSIVE,
	TERM_DISABLED,
	TERM_EXEC,
	TERM_PRECISE,
	TERM_BRANCHES,
	TERM_PERIOD,
	TERM_FREQ,
	TERM_LONG,
	TERM_CPU,
	TERM_PID,
	TERM_GROUP,
	N_TERMS
};
static const char *const term_names[N_TERMS] = { "u",         "k",        "idle", "pinned",
	                                         "exclusive", "disabled", "exec", "precise",
	                                         "branches",  "period",   "freq", "long",
	                                         "cpu",       "pid",      "fd" };

/* Applies the term "NAME[=VALUE]". False if it is unknown. */
static bool read_term(struct request *r, const char *term)
{
	const size_t len = strcspn(term, "=");
	const long value = term[len] ? strtol(term + len + 1, NULL, 0) : 0;
	struct perf_event_attr *a = &r->attr;
	int which = 0;

	while (which < N_TERMS &&
	       (strlen(term_names[which]) != len || strncmp(term, term_names[which], len) != 0))
		which++;
	switch (which) {
	case TERM_USER: a->exclude_kernel = a->exclude_hv = 1; break;
	case TERM_KERNEL: a->exclude_user = 1; break;
	case TERM_IDLE: a->exclude_idle = 1; break;
	case TERM_PINNED: a->pinned = 1; break;
	case TERM_EXCLUSIVE: a->exclusive = 1; break;
	case TERM_DISABLED: a->disabled = 1; break;
	case TERM_EXEC: a->enable_on_exec = 1; break;
	case TERM_PRECISE: a->precise_ip = (unsigned)value & 3; break;
	case TERM_BRANCHES:
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
		break;
	case TERM_PERIOD: a->sample_period = (uint64_t)value; break;
	case TERM_FREQ:
		a->freq = 1;
		a->sample_freq = (uint64_t)value;
		break;
	case TERM_LONG: a->config1 |= 1; break;
	case TERM_CPU: r->cpu = (int)value; break;
	case TERM_PID: r->pid = (int)value; break;
	case TERM_GROUP: r->group = (int)value; break;
	default: return false;
	}
	return true;
}

static bool read_request(struct request *r, char *text)
{
	char *term = strtok_r(text, ",", &text);

	*r = (struct request){ .attr = { .size = sizeof(r->attr),
		                         .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
		                                        PERF_FORMAT_TOTAL_TIME_RUNNING },
		               .cpu = -1,
		               .group = -1 };
	read_number(r, term);
	while ((term = strtok_r(NULL, ",", &text)))
		if (!read_term(r, term))
			return false;
	return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Opens the event of @word. Returns 0 or errno; -1 for an unknown term. */
static int open_word(struct opened *o, char *word)
{
	struct request r;
	long fd;

	if (o->n == EVENTS_MAX || !read_request(&r, word))
		return -1;
	if (o->in_group && r.group < 0)
		r.group = o->leader;
	fd = syscall(SYS_perf_event_open, &r.attr, r.pid, r.cpu, r.group, 0UL);
	if (fd < 0)
		return errno;
	if (o->in_group && o->leader < 0)
		o->leader = (int)fd;
	o->fds[o->n++] = (int)fd;
	return 0;
}

/* Opens the events of @text up to the first that is refused. *@is_last tells whether it is the last
 * one. */
static int open_words(struct opened *o, char *text, bool *is_last)
{
	char *word, *rest = text;
	int err = 0;

	*is_last = true;
	while ((word = strtok_r(rest, " ", &rest))) {
		if (strcmp(word, "{") == 0 || strcmp(word, "}") == 0) {
			o->in_group = *word == '{';
			o->leader = -1;
			continue;
		}
		*is_last = !err;
		if (err)
			return err;
		err = open_word(o, word);
	}
	return err;
}

static double read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void work(void)
{
	const double end = read_clock() + SHARED_SECONDS;

	while (read_clock() < end)
		for (volatile unsigned i = 0; i < 10000; i++)
			;
}

/* The share of the time in which the event had a counter; -1 for an event in error. */
static double read_share(int fd)
{
	uint64_t words[3];

	if (read(fd, words, sizeof(words)) != (ssize_t)sizeof(words) || !words[1])
		return -1;
	return (double)words[2] / (double)words[1];
}

/* ---- cases ----------------------------------------------------------------------------------- */

static int find_error(const char *name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, name) == 0)
			return errors[i].number;
	return -1;
}

static void check_shares(const struct opened *o, double wanted, const char *line)
{
	double least = 2, most = -2;

	work();
	for (unsigned i = 0; i < o->n; i++) {
		const double share = read_share(o->fds[i]);

		least = share < least ? share : least;
		most = share > most ? share : most;
	}
	check(least > wanted - SHARE_MARGIN && most < wanted + SHARE_MARGIN,
	      "%s: shares from %.3f to %.3f", line, least, most);
}

static void check_case(const char *line, const char *wanted, char *text)
{
	struct opened o = { .leader = -1 };
	bool is_last;
	const int err = open_words(&o, text, &is_last);

	if (strncmp(wanted, "share=", 6) == 0 && !err) {
		check_shares(&o, strtod(wanted + 6, NULL), line);
	} else if (strcmp(wanted, "error") == 0 && !err) {
		check(read_share(o.fds[o.n - 1]) < 0, "%s", line);
	} else {
		const int number = strcmp(wanted, "ok") == 0 ? 0 : find_error(wanted);

		check(err == number && is_last, "%s: %s", line, err ? strerror(err) : "opened");
	}
	while (o.n)
		close(o.fds[--o.n]);
}

int main(int argc, char **argv)
{
	FILE *f = fopen(argc > 1 ? argv[1] : "", "re");
	char line[LINE_MAX_SIZE], shown[LINE_MAX_SIZE], *text;

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "#\n")] = '\0';
		if (!line[strspn(line, " ")])
			continue;
		snprintf(shown, sizeof(shown), "%s", line);
		for (size_t len = strlen(shown); len && shown[len - 1] == ' ';)
			shown[--len] = '\0';
		text = line + strcspn(line, " ");
		*text++ = '\0';
		check_case(shown, line, text);
	}
	if (f)
		fclose(f);
	printf("1..%d\n", n_cases);
	return n_failed || !n_cases;
}
