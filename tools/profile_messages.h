/* SPDX-License-Identifier: MIT */
/* Profiles of the command: where their messages go, and what is shown of them. */
#ifndef PFM_PROFILE_MESSAGES_H
#define PFM_PROFILE_MESSAGES_H

#include <stdio.h>
#include "profile/profile.h"

/* Shows messages of profiles on standard error, and how far they are read on a terminal. */
void show_profile_messages(void);
/* Reads the recording @path (profile_read_selected()). DONE, or REFUSED with a message. */
int read_recorded_profile(struct profile *p, const char *path, const struct profile_options *o);
/* Reports on standard error the samples that are missing from the recording, which commands of
 * several recordings name. */
void report_profile_losses(const struct profile *p, const char *path);

#endif
