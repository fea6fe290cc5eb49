/* SPDX-License-Identifier: MIT */
/* Any bytes as the requests of the golden vectors (tests/driver) and of pfm alpha session --json.
 * Each line is answered with one line, and that is an object of JSON. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "alpha/session.h"
#include "requests.h"
#include "time_bound.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* The answers must not depend on the machine. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	setenv("PERFMON_SYSFS", "/nonexistent", 1);
	setenv("PERFMON_CPUID", "GenuineIntel-6-14-8", 1);
	setenv("XDG_DATA_HOME", "/nonexistent", 1);
	return 0;
}

static unsigned lines_of(const char *text, size_t len)
{
	unsigned n = 0;

	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t next = end ? (size_t)(end - text) : len;

		if (memchr(text + at, '\0', next - at))
			return ~0u; /* where such a line ends is not said */
		n += strspn(text + at, " \t\r") < next - at;
		at = next + 1;
	}
	return n;
}

static void check(const char *out, size_t len, unsigned n)
{
	unsigned answers = 0;

	for (size_t at = 0; at < len; answers++) {
		const char *end = memchr(out + at, '\n', len - at);
		json_t *answer;

		if (!end)
			abort();
		answer = json_loadb(out + at, (size_t)(end - out) - at, 0, NULL);
		if (!json_is_object(answer))
			abort();
		json_decref(answer);
		at = (size_t)(end - out) + 1;
	}
	if (n != ~0u && answers != n)
		abort();
}

int try_input(const uint8_t *data, size_t size)
{
	char *text, *out = NULL;
	size_t len = 0;
	FILE *in, *to;

	if (size < 2 || size > 4096)
		return 0;
	text = malloc(size);
	to = open_memstream(&out, &len);
	if (!text || !to)
		abort();
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	size--;
	in = fmemopen(text, size, "r");
	if (!in)
		abort();
	if (data[0] & 1)
		replay_sessions(in, to);
	else
		answer_requests(in, to);
	fclose(in);
	fclose(to);
	check(out, len, lines_of(text, size));
	free(out);
	free(text);
	return 0;
}
