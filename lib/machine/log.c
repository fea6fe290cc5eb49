/* SPDX-License-Identifier: MIT */
/* Messages of the library: to the callback of a context, or to standard error. */
#include "machine/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Names in the order of the bits of enum log_topic. */
static const char topic_names[][8] = { "lookup", "session", "image", "machine" };

static const char *get_topic_name(enum log_topic topic)
{
	return topic_names[__builtin_ctz(topic)];
}

unsigned pfmi_machine_parse_log_topics(const char *list)
{
	unsigned topics = 0;

	while (list && *list) {
		size_t len = strcspn(list, ",");

		for (unsigned i = 0; i < sizeof(topic_names) / sizeof(topic_names[0]); i++)
			if (len == strlen(topic_names[i]) && !memcmp(list, topic_names[i], len))
				topics |= 1u << i;
		list += len + (list[len] == ',');
	}
	return topics;
}

/* Errors of the write are ignored. One write() for each line keeps the lines of threads apart. */
static void write_line_to_stderr(const char *topic, const char *message)
{
	char line[1100];
	int len = snprintf(line, sizeof(line), "perfmon: %s: %s\n", topic, message);

	(void)!write(STDERR_FILENO, line, (size_t)len);
}

void pfmi_machine_log(const struct log *log, enum log_topic topic, pfm_log_level_t level,
                      const char *format, ...)
{
	char message[1001];
	va_list args;

	if (!machine_is_logged(log, topic, level))
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (log->write)
		log->write(log->data, level, get_topic_name(topic), message);
	else
		write_line_to_stderr(get_topic_name(topic), message);
}
