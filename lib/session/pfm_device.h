/* SPDX-License-Identifier: MIT */
/* A session on the Tru64 counter device: what its counts (pfm_device.c) and its samples
 * (sampling/pfm_device_samples.c) share. */
#ifndef PERFMON_PFM_DEVICE_H
#define PERFMON_PFM_DEVICE_H

#include <perfmon/alpha.h>
#include "session/session.h"

enum { MAX_DEVICE_ENTRIES = 255 };

/* The counts of one processor, or of all of them together. */
struct device_entry {
	uint64_t events[PFM_ALPHA_MAX_COUNTERS];
	uint64_t reset_events[PFM_ALPHA_MAX_COUNTERS]; /* counted events at the last reset */
	uint64_t cycles;
	/* samples since the session was opened, and those in the range of the profile */
	uint64_t n_interrupts, n_in_range;
	uint64_t last_pair[2]; /* the last pair of ProfileMe that the caller got */
};

/* The counter and entry of a count. */
struct device_location {
	int counter; /* -1: not counted */
	int entry;   /* -1: in all entries */
};

struct pc_profile;

struct device_state {
	struct sys emulator_sys; /* calls the emulator, if there is one */
	pfm_alpha_device_t emulator;
	bool is_emulated;
	int fd;
	int pmu_type;     /* PFMLIB_ALPHA_*_PMU */
	bool has_started; /* was started before, so that later starts keep the values of the
	                     counters */
	unsigned n_entries, n_cpus;
	struct device_entry *entries;
	struct device_location *locations;
	pfmlib_alpha_input_param_t encoder_input;
	pfmlib_alpha_output_param_t encoder_output;
	pfm_alpha_session_t options;
	uint64_t started_at, elapsed; /* time of the last start; nanoseconds counted before it */
	struct pc_profile *profile;   /* NULL: no sampling */
};

/* ---- pfm_device_read.c ---------------------------------------------------------------------- */

const struct sys *pfmi_device_get_sys(const struct pfm_session *s);
/* Stores the error -@err and returns the library's code for it. */
int pfmi_device_record_errno(struct pfm_session *s, int err);
int pfmi_device_send_request(struct pfm_session *s, uint32_t number, void *arg);
/* Sends a request that stores its results through a pointer: its argument is the address of that
 * pointer. */
int pfmi_device_send_array_request(struct pfm_session *s, uint32_t number, void *array);
/* Fetches the counts of request @number as the device lays them out, the cycles separately. */
int pfmi_device_fetch_counts(struct pfm_session *s, uint32_t number,
                             uint64_t counts[][PFM_ALPHA_MAX_COUNTERS]);
/* Reads the counts of each entry. */
int pfmi_device_read_entries(struct pfm_session *s);
uint64_t pfmi_device_count_since_reset(const struct device_state *d,
                                       const struct device_location *p);

/* ---- pfm_device_events.c --------------------------------------------------------------------- */

/* The events that have been placed: each text once, even if its counts are of several
 * processors. */
struct device_event_set {
	struct event events[PFM_ALPHA_MAX_COUNTERS];
	unsigned requests[PFM_ALPHA_MAX_COUNTERS];
	unsigned n_events;
	struct placement placement;
};

/* Stores why the device does not count @c (NULL: any count), unless a cause is known already. */
void pfmi_device_fail_count(struct session_count *c, pfm_cause_t cause, int err, const char *why,
                            const char *remedy);
void pfmi_device_fail_all_counts(struct pfm_session *s, pfm_cause_t cause, int err, const char *why,
                                 const char *remedy);
/* Copies the caller's settings, or derives them from the flags of the session. */
void pfmi_device_choose_settings(const struct pfm_session *s, struct device_state *d);
/* Refuses targets that the device cannot distinguish. */
void pfmi_device_check_scope(struct pfm_session *s, const struct device_state *d);
/* Places the events of the set and plans the requests. Returns 0 or PFMLIB_ERR_*. */
int pfmi_device_solve_event_set(struct device_state *d, struct device_event_set *set,
                                pfm_error_t *why);
/* The index of text @number in the set, or -1. */
int pfmi_device_find_request_index(const struct device_event_set *set, unsigned number);
/* Adds events in the caller's order as long as they fit together. */
void pfmi_device_choose_events(struct pfm_session *s, struct device_state *d,
                               struct device_event_set *set);

#endif
