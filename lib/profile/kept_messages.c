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

	for (size_t i = 0; i < k->n; i++)
		if (strcmp(k->texts[i], text) == 0)
			return;
	list = k->n < MAX_KEPT ? realloc(k->texts, (k->n + 1) * sizeof(*list)) : NULL;
	if (!list)
		return;
	k->texts = list;
	k->texts[k->n] = strdup(text);
	k->n += k->texts[k->n] != NULL;
}

void keep_messages(struct kept_messages *k)
{
	k->functions = (struct profile_messages){ .show_message = keep_message, .arg = k };
	k->before = set_profile_messages(&k->functions);
}

void stop_keeping_messages(struct kept_messages *k)
{
	set_profile_messages(k->before);
}

void free_kept_messages(struct kept_messages *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->texts[i]);
	free(k->texts);
	*k = (struct kept_messages){ .n = 0 };
}
