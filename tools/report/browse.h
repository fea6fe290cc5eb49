/* SPDX-License-Identifier: MIT */
#ifndef PFM_REPORT_BROWSE_H
#define PFM_REPORT_BROWSE_H

#include "common/pfm.h"
#include "report/view.h"

/* Shows the call trees of the recording @path on the terminal until the user ends. Returns an exit
 * status. */
int browse_report(const struct report_job *job, const char *path);

#endif
