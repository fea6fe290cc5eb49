/* SPDX-License-Identifier: MIT */
/* A tracepoint with its fields: which descriptors this program closes, and every field that the
 * kernel records for such a call. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include <perfmon/sampling.h>

static void show(pfm_session_t *s, const pfm_record_t *r, const pfm_trace_field_t *fd)
{
	pfm_trace_field_t f = PFM_INIT(f);
	uint64_t value = 0;

	pfm_read_trace_field(s, r, fd, &value, NULL, NULL);
	printf("close(%" PRIu64 ")", value);
	for (unsigned k = 0; pfm_describe_trace_field(s, r->event, k, &f) == PFMLIB_SUCCESS; k++)
		if (pfm_read_trace_field(s, r, &f, &value, NULL, NULL) == PFMLIB_SUCCESS)
			printf("  %s=%" PRIu64, f.name, value);
	putchar('\n');
}

int main(void)
{
	static const char *const texts[] = { "syscalls:sys_enter_close" };
	pfm_sampling_t sampling = PFM_INIT(sampling);
	pfm_session_options_t options = PFM_INIT(options);
	pfm_count_info_t info = PFM_INIT(info);
	pfm_record_t r = PFM_INIT(r);
	pfm_trace_field_t fd = PFM_INIT(fd);
	pfm_session_t *s;

	sampling.fields = PFM_SAMPLE_TID | PFM_SAMPLE_RAW;
	options.sampling = &sampling;
	if (pfm_open_session(&s, NULL, &options, texts, 1, NULL)) {
		puts("not shown: this user cannot look tracepoints up");
		return 0;
	}
	if (pfm_describe_count(s, 0, &info) == PFMLIB_SUCCESS && *info.why) {
		printf("not shown: %s\n", info.why);
	} else if (pfm_find_trace_field(s, 0, "fd", &fd)) {
		puts("not shown: the kernel does not describe its fields here");
	} else {
		pfm_start_session(s);
		close(1001); /* nothing is open there: that it is asked for is enough */
		close(1002);
		pfm_stop_session(s);
		while (pfm_next_record(s, &r) == 1)
			if (r.type == PFM_RECORD_SAMPLE)
				show(s, &r, &fd);
	}
	pfm_close_session(s);
	return 0;
}
