/* SPDX-License-Identifier: MIT */
/* Rows of a table against register values. */
#ifndef PERFMON_PMU_ROW_MATCH_H
#define PERFMON_PMU_ROW_MATCH_H

#include "pmu/pmu.h"

/* True if @config has the same words as the target, where the target's are known. */
bool pfmi_pmu_has_known_words(const struct decode_target *g, const uint64_t config[4]);
/* True if @row has @code on @counter. This tells most rows apart, before anything slower. */
bool pfmi_pmu_has_row_code(const struct table *t, uint32_t row, uint64_t code, unsigned counter);
/* True if @row has the target's code, or the target has none. */
bool pfmi_pmu_is_code_match(const struct decode_target *g, uint32_t row);
/* True if the code and unit mask @codes (<< 16) program @row too, with extra register *@msr. */
bool pfmi_pmu_has_alternate_code(const struct table *t, uint32_t row, uint64_t codes,
                                 uint32_t *msr);
/* Makes @ev the event of @row of the target; false if it cannot be that row. */
bool pfmi_pmu_match_row(const struct decode_target *g, uint32_t row, struct event *ev);

#endif
