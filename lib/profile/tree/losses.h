/* SPDX-License-Identifier: MIT */
/* Samples that a recording lacks. */
#ifndef PERFMON_PROFILE_LOSSES_H
#define PERFMON_PROFILE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>
#include <perfmon/sampling.h>

struct profile_losses {
	uint64_t records;       /* that were lost because a buffer was full */
	uint64_t samples;       /* as the events count them; they may be among the records */
	uint64_t throttled;     /* times that the kernel stopped an event for a while */
	uint64_t without_event; /* samples whose event is unknown */
	bool damaged;           /* the recording breaks off before its end, or has impossible
	                           numbers */
	bool pretended;         /* recorded on a pretended machine */
	char emulator[128];     /* that counted each instruction; "" for samples */
};

/* Adds the losses that @record reports. */
void losses_read_record(struct profile_losses *l, const pfm_record_t *record);
/* How many records are missing at least. */
uint64_t count_lost_records(const struct profile_losses *l);

/* The part of @weight that can be added to @sum, the weight of all samples of an event: no sum, nor
 * any part of it, is above the largest number of signed 64 bits, which formats of profiles have.
 * Sets @damaged if that is less than @weight: no program has used 292 years of time. */
uint64_t limit_weight(uint64_t sum, uint64_t weight, bool *damaged);
bool is_profile_complete(const struct profile_losses *l);
/* "exact", "partial", for a recording of a pretended machine "pretended", and for one by an
 * emulator "simulated". */
const char *get_profile_quality(const struct profile_losses *l);
/* Prints the losses as a sentence. Returns @buf. */
#define LOSSES_MAX 320
char *print_profile_losses(const struct profile_losses *l, char buf[LOSSES_MAX]);

#endif
