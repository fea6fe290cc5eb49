/* SPDX-License-Identifier: MIT */
/* Looks up events in the reports of other machines. */
#include "check_events/known.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_check_of(const struct known_check *k, const char *pmu, const char *name)
{
	size_t len = strlen(pmu);

	return strncasecmp(k->event, pmu, len) == 0 && strncmp(k->event + len, "::", 2) == 0 &&
	       strcasecmp(k->event + len + 2, name) == 0;
}

static void describe_check(const struct known_check *k, char buf[KNOWN_TEXT_MAX])
{
	char judgement[96];
	size_t n = 0;

	if (*k->emulator)
		n = (size_t)snprintf(buf, KNOWN_TEXT_MAX, "emulated by %.60s, ", k->emulator);
	n += (size_t)snprintf(buf + n, KNOWN_TEXT_MAX - n, "%.160s, ", k->processor);
	if (*k->microcode)
		n += (size_t)snprintf(buf + n, KNOWN_TEXT_MAX - n, "microcode %.40s, ",
		                      k->microcode);
	snprintf(buf + n, KNOWN_TEXT_MAX - n, "%.90s: %s", k->system,
	         describe_judgement(&k->result, judgement));
}

bool describe_known_check(const struct known_check *list, const char *pmu, const char *name,
                          unsigned i, char buf[KNOWN_TEXT_MAX])
{
	for (; list->event; list++) {
		if (!is_check_of(list, pmu, name) || i--)
			continue;
		describe_check(list, buf);
		return true;
	}
	return false;
}

bool describe_known_bias(const struct known_check *list, const char *pmu, const char *name,
                         const char *processor, char buf[KNOWN_TEXT_MAX])
{
	for (; list->event; list++) {
		if (*list->emulator || list->result.judgement == JUDGED_RIGHT ||
		    strcmp(list->processor, processor) != 0 || !is_check_of(list, pmu, name))
			continue;
		describe_check(list, buf);
		return true;
	}
	return false;
}

bool is_checked_on_hardware(const struct known_check *list, const char *pmu, const char *name)
{
	for (; list->event; list++)
		if (!*list->emulator && is_check_of(list, pmu, name))
			return true;
	return false;
}
