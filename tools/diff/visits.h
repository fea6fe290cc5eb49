/* SPDX-License-Identifier: MIT */
/* Visits of a region in each recording, which pfm record --regions has counted. */
#ifndef PFM_DIFF_VISITS_H
#define PFM_DIFF_VISITS_H

#include "diff/rows.h"

/* Is @unit "NAME visit"? */
bool is_visit_unit(const char *unit);
/* Reads the visits of the region that d->divisor_event names. EXIT_DONE, or EXIT_REFUSED
 * after a message. */
int read_visits(struct diff *d);

#endif
