/* SPDX-License-Identifier: MIT */
/* How long this thread was off its CPU, and why: records of context switches show when it left and
 * when it came back. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include <perfmon/sampling.h>

int main(void)
{
	static const char *const texts[] = { "dummy" };
	pfm_sampling_t sampling = PFM_INIT(sampling);
	pfm_session_options_t options = PFM_INIT(options);
	uint64_t left = 0, asleep = 0, preempted = 0;
	pfm_record_t r = PFM_INIT(r);
	pfm_error_t error = PFM_INIT(error);
	unsigned switches = 0, why = 0;
	pfm_session_t *s;

	sampling.records = PFM_SIDEBAND_SWITCHES;
	options.sampling = &sampling;
	if (pfm_open_session(&s, NULL, &options, texts, 1, &error)) {
		fprintf(stderr, "%s\n", error.detail ? error.detail : pfm_result_text(error.code));
		return 1;
	}
	pfm_start_session(s);
	for (unsigned i = 0; i < 10; i++)
		usleep(2000);
	pfm_stop_session(s);
	while (pfm_next_record(s, &r) == 1) {
		if (r.type != PFM_RECORD_SWITCH)
			continue;
		if (r.misc & PFM_MISC_OUT) {
			left = r.time;
			why = r.misc & PFM_MISC_PREEMPTED;
			switches++;
		} else if (left) {
			*(why ? &preempted : &asleep) += r.time - left;
			left = 0;
		}
	}
	printf("left its CPU %u times\n", switches);
	printf("asleep    %8.3f ms\n", (double)asleep / 1e6);
	printf("preempted %8.3f ms\n", (double)preempted / 1e6);
	pfm_close_session(s);
	return 0;
}
