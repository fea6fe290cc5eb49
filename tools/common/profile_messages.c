/* SPDX-License-Identifier: MIT */
#include "common/profile_messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/http_url.h"
#include "common/pfm.h"
#include "profile/messages.h"
#include "common/progress.h"

static struct progress progress;

static void show_message(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "pfm %s: %s\n", get_running_command(), text);
}

static void show_progress(void *arg, const char *text)
{
	(void)arg;
	term_progress(stderr, text);
}

static void begin_recording(void *arg, const char *path)
{
	(void)arg;
	progress_begin(&progress, path);
}

static void count_record(void *arg, const pfm_session_t *s)
{
	(void)arg;
	if (s)
		progress_step(&progress, s);
	else
		progress_end(&progress);
}

struct profile_messages *get_profile_messages(void)
{
	static struct profile_messages messages = { .show_message = show_message,
		                                    .show_progress = show_progress,
		                                    .begin_recording = begin_recording,
		                                    .count_record = count_record };

	return &messages;
}

int read_recorded_profile(struct profile *p, const char *path, const struct profile_options *o)
{
	struct profile_options with_messages = *o;

	with_messages.messages = get_profile_messages();
	return profile_read_selected(p, path, &with_messages) ? EXIT_REFUSED : EXIT_DONE;
}

void report_profile_losses(const struct profile *p, const char *path)
{
	bool is_named = strcmp(get_running_command(), "report") != 0;
	const char *name = is_named ? path : "", *colon = is_named ? ": " : "";
	uint64_t n_lost = count_lost_records(&p->losses);

	if (p->losses.pretended)
		fprintf(stderr,
		        "pfm %s: %s%srecorded on a pretended machine: no PMU counted anything\n",
		        get_running_command(), name, colon);
	if (*p->losses.emulator)
		fprintf(stderr,
		        "pfm %s: %s%seach instruction was counted by %s, nothing was sampled\n",
		        get_running_command(), name, colon, p->losses.emulator);
	if (n_lost)
		fprintf(stderr, "pfm %s: %s%s%llu records were lost while recording\n",
		        get_running_command(), name, colon, (unsigned long long)n_lost);
	if (p->losses.throttled)
		fprintf(stderr,
		        "pfm %s: %s%sthe kernel throttled sampling %llu time%s: an unknown number "
		        "of samples is missing\n",
		        get_running_command(), name, colon, (unsigned long long)p->losses.throttled,
		        p->losses.throttled > 1 ? "s" : "");
	if (p->losses.without_event)
		fprintf(stderr, "pfm %s: %s%s%llu samples are left out: their event is unknown\n",
		        get_running_command(), name, colon,
		        (unsigned long long)p->losses.without_event);
}

void use_symbols(struct profile_options *o, const char *where)
{
	if (is_http_url(where))
		setenv("DEBUGINFOD_URLS", where, 1);
	else
		o->symbol_folder = where;
}
