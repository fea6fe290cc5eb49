/* SPDX-License-Identifier: MIT */
/* What the files of the perf_event backend share. */
#ifndef PERFMON_BACKEND_PERF_H
#define PERFMON_BACKEND_PERF_H

#include <linux/perf_event.h>
#include "../backend.h"

/* One kernel event: a count on one CPU, for one task, on one instance of its PMU. */
struct part {
	int fd; /* -1: not open */
	int pid, cpu;
	unsigned instance, count;
	int lead;         /* part it joined, -1: it leads or is alone */
	int next, last;   /* next member of its group; of a leader: last member, -1 for none */
	unsigned members; /* of a leader: how many joined it */
	bool whole;       /* reading it gives the whole group */
	uint64_t base[3]; /* value, enabled, running at the last reset */
	void *page;       /* for reading from user space, or NULL */
};

struct perf_state {
	unsigned n_parts;
	struct part *parts;
	unsigned n_pids;
	int *pids;
	size_t page_size;
	bool one_by_one; /* the kernel does not read groups of inherited events at once */
	uint64_t *buf;   /* for reading a group */
};

/* perf_event_attr with room for words that the header of the system we are built on does not know. */
union attr {
	struct perf_event_attr attr;
	uint64_t words[32];
};

/* What is asked for part @k of count @i. @leader: it leads its group (or is alone). */
void pfmi_perf_attr(const struct pfm_session *s, unsigned i, unsigned k, bool leader, union attr *out);
/* The call, repeated when a signal interrupts it. */
int pfmi_perf_open(const struct sys *sys, union attr *a, int pid, int cpu, int group);
/* Says in s->counts[i] why its part @k could not be opened with error @err; @group: descriptor it was to join, or -1. */
void pfmi_perf_diagnose(struct pfm_session *s, unsigned i, unsigned k, int group, int err);
/* Says that count @i cannot be in a group with its leader: they are counted at different places. */
void pfmi_perf_foreign(struct pfm_session *s, unsigned i);
/* Value, enabled and running from the page, without a system call. False if the page cannot tell. */
bool pfmi_perf_page_read(const void *page, uint64_t out[3]);

#endif
