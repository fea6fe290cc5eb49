/* SPDX-License-Identifier: MIT */
/* Messages that are kept, each once, for a caller who asks for them later. */
#ifndef PERFMON_PROFILE_KEPT_MESSAGES_H
#define PERFMON_PROFILE_KEPT_MESSAGES_H

#include <stddef.h>
#include "profile/messages.h"

struct kept_messages {
	struct profile_messages functions;
	char **texts;
	size_t n_texts;
};

/* Returns a receiver of messages that keeps them in @k, whose address must not change. All zeros
 * is empty. */
struct profile_messages *keep_messages(struct kept_messages *k);
void free_kept_messages(struct kept_messages *k);

#endif
