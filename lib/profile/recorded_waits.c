/* SPDX-License-Identifier: MIT */
/* The switches of a recording, which is read before its samples: a wait is known when it ends. */
#include <string.h>
#include "profile/messages.h"
#include "profile/sample_visitor.h"
#include "profile/waits.h"

struct reading {
	struct waits *waits;
	bool failed;
};

static void add_record(void *arg, const pfm_record_t *record)
{
	struct reading *r = arg;

	r->failed = r->failed || !waits_add_record(r->waits, record);
}

/* False after a message. */
static bool read_switches(struct reading *r, const char *path, struct profile_messages *messages)
{
	struct profile_losses losses = { .records = 0 };
	struct sample_visitor visit;
	struct visited_sample sample;
	pfm_session_t *session = NULL;
	pfm_error_t error;

	if (open_visited_recording(&session, path, messages, &error) != PFMLIB_SUCCESS)
		return false;
	begin_sample_visit(&visit, session, SOURCE_RECORDING, &losses, messages);
	visit.see_record = add_record;
	visit.see_arg = r;
	while (!r->failed && visit_next_sample(&visit, &sample) == 1)
		continue;
	end_sample_visit(&visit);
	pfm_close_session(session);
	if (!r->failed && waits_has_switches(r->waits))
		return true;
	show_profile_message(messages,
	                     r->failed ? "%s: not enough memory for its context switches"
	                               : "%s has no records of context switches; take them with "
	                                 "pfm record --off-cpu",
	                     path);
	return false;
}

struct waits *waits_read(const char *path, struct profile_messages *messages)
{
	struct reading r = { .waits = waits_create() };

	if (!r.waits)
		show_profile_message(messages, "out of memory");
	else if (strcmp(path, "-") == 0)
		show_profile_message(messages,
		                     "waits are read from a file, not from standard input");
	else if (read_switches(&r, path, messages))
		return r.waits;
	waits_free(r.waits);
	return NULL;
}
