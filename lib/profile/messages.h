/* SPDX-License-Identifier: MIT */
/* Messages about names and records that are missing. The module prints nothing: its caller passes
 * an object that says where messages go; NULL: nowhere. */
#ifndef PERFMON_PROFILE_MESSAGES_H
#define PERFMON_PROFILE_MESSAGES_H

#include <stdbool.h>
#include <perfmon/sampling.h>

/* Subjects of messages that are shown once to each struct profile_messages. */
enum profile_topic { TOPIC_MEMORY, TOPIC_UNWINDING, TOPIC_XZ, TOPIC_SERVERS };

/* Functions that are NULL are not called. */
struct profile_messages {
	/* A sentence, without the end of its line. */
	void (*show_message)(void *arg, const char *text);
	/* Progress of a download; "" removes the message. */
	void (*show_progress)(void *arg, const char *text);
	/* The recording @path, which stays valid until its end, is read from now on. */
	void (*begin_recording)(void *arg, const char *path);
	/* One more record was read from @s; NULL: there are no more. */
	void (*count_record)(void *arg, const pfm_session_t *s);
	void *arg;
	unsigned shown_topics; /* bit: enum profile_topic */
};

/* The reason why a recording cannot be opened, with the remedy where there is one. */
const char *describe_recording_error(const pfm_error_t *error);
/* The reason why reading a recording ended with the negative code @rc. */
const char *describe_reading_error(int rc);
/* Shows a sentence. */
void show_profile_message(const struct profile_messages *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void show_profile_progress(const struct profile_messages *m, const char *text);
void begin_profile_recording(const struct profile_messages *m, const char *path);
void count_profile_record(const struct profile_messages *m, const pfm_session_t *s);
/* Notes that @topic is shown. True if it was not shown to @m before. */
bool note_profile_topic(struct profile_messages *m, enum profile_topic topic);
/* Reports, once, that memory does not suffice for all names and lines: those of a file are all
 * there or none, as what is missing would go by the name before it. */
void report_missing_names(struct profile_messages *m);

#endif
