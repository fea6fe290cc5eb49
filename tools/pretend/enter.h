/* SPDX-License-Identifier: MIT */
/* The surroundings of the command of pfm pretend: files in a mount namespace, and environment. */
#ifndef PFM_PRETEND_ENTER_H
#define PFM_PRETEND_ENTER_H

#include "pretend/machine.h"
#include "pretend/model.h"

/* Makes a mount namespace, and without root a user namespace, in which this process and its
 * children see the pretended machine. Reports a failure and returns false. */
bool enter_pretend_files(const struct pretend_machine *m, const struct model *model);
/* Sets the variables by which programs take the identity of a processor, instead of CPUID, which
 * cannot be changed. False without memory. */
bool set_pretend_environment(const struct pretend_machine *m);

#endif
