/* SPDX-License-Identifier: MIT */
#include "profile/kept_messages.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_KEPT = 1000 };

/* Without memory the message is lost. */
static void keep_message(void *arg, const char *text)
{
	struct kept_messages *k = arg;
	char **list;

	for (size_t i = 0; i < k->n_texts; i++)
		if (strcmp(k->texts[i], text) == 0)
			return;
	list = k->n_texts < MAX_KEPT ? realloc(k->texts, (k->n_texts + 1) * sizeof(*list)) : NULL;
	if (!list)
		return;
	k->texts = list;
	k->texts[k->n_texts] = strdup(text);
	k->n_texts += k->texts[k->n_texts] != NULL;
}

struct profile_messages *keep_messages(struct kept_messages *k)
{
	k->functions = (struct profile_messages){ .show_message = keep_message, .arg = k };
	return &k->functions;
}

void free_kept_messages(struct kept_messages *k)
{
	for (size_t i = 0; i < k->n_texts; i++)
		free(k->texts[i]);
	free(k->texts);
	*k = (struct kept_messages){ .n_texts = 0 };
}
