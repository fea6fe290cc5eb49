/* SPDX-License-Identifier: MIT */
/* Findings of pfm_check_system(), and the checks that make them. */
#ifndef PERFMON_SYSTEM_CHECK_H
#define PERFMON_SYSTEM_CHECK_H

#include <string.h>
#include <stdbool.h>
#include <perfmon/system.h>
#include "machine/machine.h"

enum { FINDING_TEXT_SIZE = 512 };

struct finding {
	enum pfm_finding_topic topic;
	enum pfm_finding_state state;
	const char *check;
	char observed[FINDING_TEXT_SIZE];
	char consequence[FINDING_TEXT_SIZE];
	char remedy[FINDING_TEXT_SIZE];
	char available[FINDING_TEXT_SIZE];
	const char *expected; /* for the events of the workload; else NULL */
	pfm_count_t count;
};

struct pfm_system_check {
	struct finding *findings;
	unsigned n_findings;
	bool failed; /* a finding was lost for lack of memory */
	/* While the machine is checked: */
	const pfm_ctx_t *ctx;
	struct watched_sys sys;
	bool is_recorded;  /* the machine is a recorded one: nothing is counted */
	bool cannot_count; /* not even the program's own code can be counted */
};

/* Text for what is available if perf_event_open() is denied. */
#define CHECK_AVAILABLE_WITHOUT_PERF "encoding, listing, dry runs"

/* Sets one of a finding's texts, cut to FINDING_TEXT_SIZE. */
void pfmi_check_set_text(char text[FINDING_TEXT_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds @f to the findings, under @topic. */
void pfmi_check_add_finding(struct pfm_system_check *c, enum pfm_finding_topic topic,
                            struct finding *f);
/* Reads the decimal number in a file; false if missing. */
bool pfmi_check_read_number(struct pfm_system_check *c, const char *path, long *number);
/* Reads a file into memory the caller frees. Returns 0 or -errno; -ENOMEM becomes a finding. */
int pfmi_check_read_file(struct pfm_system_check *c, const char *path, char **text, size_t *len);
/* Reads the rest of the first line of @path that begins with "@key:"; false if missing. */
bool pfmi_check_read_key(struct pfm_system_check *c, const char *path, const char *key, char *value,
                         size_t size);

/* The result of opening and counting an event. */
struct trial {
	pfm_count_t count;
	char reason[FINDING_TEXT_SIZE], remedy[FINDING_TEXT_SIZE];
	bool is_counted;
};

/* Opens and counts @event in a session with @flags, over the known workload if @busy. */
void pfmi_check_try_event(struct pfm_system_check *c, const char *event, unsigned flags, bool busy,
                          struct trial *t);

void pfmi_check_machine(struct pfm_system_check *c);
void pfmi_check_permissions(struct pfm_system_check *c);
void pfmi_check_obstacles(struct pfm_system_check *c);
void pfmi_check_holders(struct pfm_system_check *c);
void pfmi_check_workload(struct pfm_system_check *c);

/* Ends the first line of *@at, and moves *@at behind it. Returns the line, NULL at the end. */
static inline char *check_cut_line(char **at)
{
	char *line = *at;
	size_t n = strcspn(line, "\n");

	if (!*line)
		return NULL;
	*at += n + (line[n] != '\0');
	line[n] = '\0';
	return line;
}

#endif
