/* SPDX-License-Identifier: MIT */
/* Messages about profiles, and reading of recordings with messages. */
#ifndef PFM_PROFILE_MESSAGES_H
#define PFM_PROFILE_MESSAGES_H

#include <stdio.h>
#include "profile/profile.h"

/* Messages of profiles are printed on standard error, and the progress of reading on a terminal. */
struct profile_messages *get_profile_messages(void);
/* Reads the recording @path (profile_read_selected()). EXIT_DONE, or EXIT_REFUSED with a message.
 */
int read_recorded_profile(struct profile *p, const char *path, const struct profile_options *o);
/* Takes programs and debug files from @where, a folder or the URL of a server. */
void use_symbols(struct profile_options *o, const char *where);
/* Reports samples missing from the recording on standard error; @path for commands with several
 * recordings. */
void report_profile_losses(const struct profile *p, const char *path);

#endif
