/* SPDX-License-Identifier: MIT */
/* Counts the whole system, CPU by CPU, for a tenth of a second. Without permission each count shows
 * the cause and the remedy.
 *
 * Build: cc system_wide.c $(pkg-config --cflags --libs perfmon) */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <perfmon/perfmon.h>

enum { N = 2 };

static const char *const events[N] = { "cpu-clock", "context-switches" };

static void show(pfm_session_t *session, unsigned i)
{
	pfm_count_t count = PFM_INIT(count);
	pfm_count_info_t info = PFM_INIT(info);

	if (pfm_read_count(session, i, &count) != PFMLIB_SUCCESS ||
	    pfm_describe_count(session, i, &info) != PFMLIB_SUCCESS)
		return;
	if (pfm_counter_quality(count.quality, count.cause) <= PFM_QUALITY_PARTIAL)
		printf("CPU %-4s %-18s %" PRIu64 " (%s)\n", info.cpus, info.name, count.value,
		       pfm_quality_name(count.quality));
	else
		printf("CPU %-4s %-18s %s: %s; %s\n", info.cpus, info.name,
		       pfm_quality_name(count.quality), info.why, info.remedy);
}

int main(void)
{
	pfm_session_options_t options = PFM_INIT(options);
	struct timespec a_while = { .tv_nsec = 100000000 };
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *session;

	options.flags = PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU;
	if (pfm_open_session(&session, NULL, &options, events, N, &error) != PFMLIB_SUCCESS) {
		char sentence[256];

		pfm_explain_error(NULL, NULL, &error, sentence, sizeof(sentence));
		fprintf(stderr, "%s\n", sentence);
		return 1;
	}
	pfm_start_session(session);
	nanosleep(&a_while, NULL);
	pfm_stop_session(session);
	for (unsigned i = 0; i < pfm_session_size(session); i++)
		show(session, i);
	pfm_close_session(session);
	return 0;
}
