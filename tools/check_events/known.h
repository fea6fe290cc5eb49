/* SPDX-License-Identifier: MIT */
/* Results of events in the reports of other machines (lib/events/truth). */
#ifndef PFM_KNOWN_CHECKS_H
#define PFM_KNOWN_CHECKS_H

#include "check_events/check_events.h"

/* The judgement of a report on one event. */
struct known_check {
	const char *event; /* "PMU::EVENT"; NULL ends the table */
	const char *processor, *microcode, *system, *emulator;
	struct judged result;
};

/* All of them, by report (embed.py writes them). */
extern const struct known_check known_checks[];

enum { KNOWN_TEXT_MAX = 512 };

/* Describes check @i of event @name of @pmu in @list: "on MACHINE: right to 0.1 %". False past the
 * last. */
bool describe_known_check(const struct known_check *list, const char *pmu, const char *name,
                          unsigned i, char buf[KNOWN_TEXT_MAX]);
/* Describes a wrong count of the event on @processor, a real one. False if no report has one. */
bool describe_known_bias(const struct known_check *list, const char *pmu, const char *name,
                         const char *processor, char buf[KNOWN_TEXT_MAX]);
/* True if a report of a real machine judges the event. */
bool is_checked_on_hardware(const struct known_check *list, const char *pmu, const char *name);
/* describe_known_bias() of the event @text on this machine's processor. */
bool find_known_bias(const pfm_ctx_t *ctx, const char *text, char buf[KNOWN_TEXT_MAX]);
/* True if the event's table has a meaning that kernels know. */
bool is_checkable(const pfm_ctx_t *ctx, int pmu, unsigned event);

#endif
