/* SPDX-License-Identifier: MIT */
/* Comparison of the rows of a table with register values. */
#ifndef PERFMON_PMU_ROW_MATCH_H
#define PERFMON_PMU_ROW_MATCH_H

#include "pmu/pmu.h"

/* True if the known configuration words of the target equal those in @config. */
bool pfmi_pmu_are_known_words_equal(const struct decode_target *g,
                                    const uint64_t config[N_CONFIG_WORDS]);
/* True if @row has @code on @counter. This fast check excludes most rows. */
bool pfmi_pmu_has_row_code(const struct table *t, uint32_t row, uint64_t code, unsigned counter);
/* True if @row has the target's code, or the target has none. */
bool pfmi_pmu_is_code_match(const struct decode_target *g, uint32_t row);
/* True if the code and unit mask (<< 16) @codes are an alternate encoding of @row, with extra
 * register *@msr. */
bool pfmi_pmu_has_alternate_code(const struct table *t, uint32_t row, uint64_t codes,
                                 uint32_t *msr);
/* Makes @ev the event of @row with the attributes that the target has. False if the target is not
 * an event of @row. */
bool pfmi_pmu_match_row(const struct decode_target *g, uint32_t row, struct event *ev);

#endif
