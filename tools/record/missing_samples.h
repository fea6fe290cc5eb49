/* SPDX-License-Identifier: MIT */
/* Why events have no or few samples. */
#ifndef PFM_MISSING_SAMPLES_H
#define PFM_MISSING_SAMPLES_H

#include "record/recorder.h"

/* An event of the session after sampling. */
struct recorded_event {
	pfm_sample_statistics_t statistics;
	pfm_count_info_t info;
	pfm_count_t count;
};

struct missing_samples {
	char why[256];       /* "": no samples are missing */
	char evidence[256];  /* facts that were read and support it */
	bool shows_evidence; /* a message needs the evidence beside it */
};

/* False if the event cannot be read. */
bool read_recorded_event(const struct recorder *job, unsigned i, struct recorded_event *e);
/* The number of samples below which an event has too few for its count and period; 1: any sample is
 * enough. */
uint64_t get_fewest_samples(const struct recorded_event *e);
/* Finds whether the event has no samples, or fewer than its count and its period make. */
void find_missing_samples(const struct recorder *job, const struct recorded_event *e,
                          uint64_t samples, struct missing_samples *m);

#endif
