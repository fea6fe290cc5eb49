/* SPDX-License-Identifier: MIT */
#include "profile/messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Names of files may be long: what does not fit is cut. */
enum { MESSAGE_SIZE = 8192 };

static _Thread_local const struct profile_messages *messages;
static _Thread_local unsigned reported_topics; /* bit: enum profile_topic */

const struct profile_messages *set_profile_messages(const struct profile_messages *m)
{
	const struct profile_messages *before = messages;

	messages = m;
	reported_topics = 0;
	return before;
}

const char *describe_recording_error(const pfm_error_t *error)
{
	if (error->sys_errno == ENOENT)
		return "no such file; 'pfm record' makes a recording";
	if (error->sys_errno)
		return strerror(error->sys_errno);
	return error->detail ? error->detail : "out of memory";
}

const char *describe_reading_error(int rc)
{
	if (rc == PFMLIB_ERR_NOMEM)
		return "out of memory";
	return rc == PFMLIB_ERR_NOTSUPP
	               ? "the recording is compressed; install libzstd.so.1 (Debian: libzstd1)"
	               : pfm_result_text(rc);
}

void show_profile_message(const char *format, ...)
{
	char text[MESSAGE_SIZE];
	va_list args;

	if (!messages || !messages->show_message)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	messages->show_message(messages->arg, text);
}

void show_profile_progress(const char *text)
{
	if (messages && messages->show_progress)
		messages->show_progress(messages->arg, text);
}

void begin_profile_recording(const char *path)
{
	if (messages && messages->begin_recording)
		messages->begin_recording(messages->arg, path);
}

void count_profile_record(const pfm_session_t *s)
{
	if (messages && messages->count_record)
		messages->count_record(messages->arg, s);
}

bool is_new_profile_topic(enum profile_topic topic)
{
	bool is_new = !(reported_topics >> topic & 1);

	reported_topics |= 1u << topic;
	return is_new;
}

void report_missing_names(void)
{
	if (is_new_profile_topic(TOPIC_MEMORY))
		show_profile_message("some functions or source lines are not named: out of memory");
}
