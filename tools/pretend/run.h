/* SPDX-License-Identifier: MIT */
/* The processes of pfm pretend: the command, and the supervisor that answers its calls. */
#ifndef PFM_PRETEND_RUN_H
#define PFM_PRETEND_RUN_H

#include "pretend/machine.h"
#include "pretend/model.h"

/* Runs @command on the pretended machine. Returns its exit status, or one of the shell's statuses
 * after a report. */
int run_pretended(const struct pretend_machine *m, const struct model *model, char **command);

#endif
