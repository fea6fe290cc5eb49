/* SPDX-License-Identifier: MIT */
/* The program counter of a running program, from a session of this library. */
#include "alpha/program_counter.h"

#include <perfmon/perfmon.h>
#include <time.h>

pfm_session_t *open_program_counter(int pid, pfm_error_t *why)
{
	static const char *const clock[] = { "cpu-clock:u" };
	pfm_sampling_t sampling = PFM_INIT(sampling);
	pfm_session_options_t options = PFM_INIT(options);
	pfm_session_t *s = NULL;

	sampling.period = PROGRAM_COUNTER_PERIOD;
	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME;
	options.flags = PFM_SESSION_INHERIT | PFM_SESSION_STRICT;
	options.pid = pid;
	options.backend = "perf_event";
	options.sampling = &sampling;
	if (pfm_open_session(&s, NULL, &options, clock, 1, why))
		return NULL;
	if (pfm_start_session(s) == PFMLIB_SUCCESS)
		return s;
	*why = (pfm_error_t){ .size = why->size,
		              .code = PFMLIB_ERR_SYS,
		              .sys_errno = pfm_session_errno(s) };
	pfm_close_session(s);
	return NULL;
}

bool read_program_counter(pfm_session_t *s, struct program_counter *out)
{
	pfm_record_t record = PFM_INIT(record);

	while (pfm_next_record(s, &record) == 1)
		if (record.type == PFM_RECORD_SAMPLE) {
			*out = (struct program_counter){ .time = record.time,
				                         .pc = record.body.sample.ip,
				                         .process = (int)record.pid,
				                         .task = (int)record.tid };
			return true;
		}
	return false;
}
