/* SPDX-License-Identifier: MIT */
/* A program that counts its own events around a piece of work, and reports the quality of each
 * count.
 *
 * Build: cc self_monitor.c $(pkg-config --cflags --libs perfmon) */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <perfmon/perfmon.h>

enum { N = 4 };

static const char *const events[N] = { "task-clock", "page-faults", "cycles:u", "instructions:u" };

static void work(void)
{
	size_t n = 4 << 20;
	char *memory = malloc(n);
	volatile char *p = memory;

	for (size_t i = 0; p && i < n; i += 512)
		p[i] = (char)i;
	free(memory);
}

static int refuse(const char *what, const pfm_error_t *error)
{
	const char *text = error->event >= 0 && error->event < N ? events[error->event] : NULL;
	char sentence[256];

	pfm_explain_error(NULL, text, error, sentence, sizeof(sentence));
	fprintf(stderr, "%s: %s\n", what, sentence);
	return 1;
}

/* A count is a value with a quality; without a value there is a reason, and often a remedy. */
static void show(pfm_session_t *session, unsigned i, const pfm_count_t *count)
{
	pfm_count_info_t info = PFM_INIT(info);

	if (pfm_describe_count(session, i, &info) != PFMLIB_SUCCESS)
		return;
	if (pfm_counter_quality(count->quality, count->cause) > PFM_QUALITY_PARTIAL)
		printf("%-16s %s: %s%s%s\n", info.name, pfm_quality_name(count->quality), info.why,
		       *info.remedy ? "; " : "", info.remedy);
	else
		printf("%-16s %" PRIu64 " (%s) on %s\n", info.name, count->value,
		       pfm_quality_name(count->quality), info.pmu);
}

int main(void)
{
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *session;
	pfm_count_t *counts;
	unsigned n;
	int rc;

	if (pfm_open_session(&session, NULL, NULL, events, N, &error) != PFMLIB_SUCCESS)
		return refuse("cannot count", &error);
	n = pfm_session_size(session); /* more than N where cores are of several types */
	counts = calloc(n, sizeof(*counts));
	if (!counts)
		return 1;
	for (unsigned i = 0; i < n; i++)
		counts[i].size = sizeof(counts[i]);

	pfm_start_session(session);
	work();
	pfm_stop_session(session);

	rc = pfm_read_session(session, counts, n);
	for (unsigned i = 0; i < n && rc == PFMLIB_SUCCESS; i++)
		show(session, i, &counts[i]);
	free(counts);
	pfm_close_session(session);
	return rc == PFMLIB_SUCCESS ? 0 : 1;
}
