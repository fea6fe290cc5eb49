/* SPDX-License-Identifier: MIT */
#include "profile/messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Names of files may be long: what does not fit is cut. */
enum { MESSAGE_SIZE = 8192 };

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

void show_profile_message(const struct profile_messages *m, const char *format, ...)
{
	char text[MESSAGE_SIZE];
	va_list args;

	if (!m || !m->show_message)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	m->show_message(m->arg, text);
}

void show_profile_progress(const struct profile_messages *m, const char *text)
{
	if (m && m->show_progress)
		m->show_progress(m->arg, text);
}

void begin_profile_recording(const struct profile_messages *m, const char *path)
{
	if (m && m->begin_recording)
		m->begin_recording(m->arg, path);
}

void count_profile_record(const struct profile_messages *m, const pfm_session_t *s)
{
	if (m && m->count_record)
		m->count_record(m->arg, s);
}

bool note_profile_topic(struct profile_messages *m, enum profile_topic topic)
{
	bool is_new = m && !(m->shown_topics >> topic & 1);

	if (m)
		m->shown_topics |= 1u << topic;
	return is_new;
}

void report_missing_names(struct profile_messages *m)
{
	if (note_profile_topic(m, TOPIC_MEMORY))
		show_profile_message(m,
		                     "some functions or source lines are not named: out of memory");
}
