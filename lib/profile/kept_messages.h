/* SPDX-License-Identifier: MIT */
/* Messages that are kept, each once, for a caller who asks for them later. */
#ifndef PERFMON_PROFILE_KEPT_MESSAGES_H
#define PERFMON_PROFILE_KEPT_MESSAGES_H

#include <stddef.h>
#include "profile/messages.h"

struct kept_messages {
	struct profile_messages functions;
	const struct profile_messages *previous;
	char **texts;
	size_t n_texts;
};

/* Keeps the messages of this thread in @k, whose address must not change, until
 * stop_keeping_messages(). All zeros is empty. */
void keep_messages(struct kept_messages *k);
void stop_keeping_messages(struct kept_messages *k);
void free_kept_messages(struct kept_messages *k);

#endif
