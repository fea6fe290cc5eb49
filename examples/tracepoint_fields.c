/* SPDX-License-Identifier: MIT */
/* A tracepoint with its fields: which descriptors this program closes. The kernel says where each field lies in a sample's bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <perfmon/sampling.h>

/* Where field @name lies, by a line like "field:unsigned int fd;	offset:16;	size:8;	signed:0;". False if it is not there. */
static int find_field(const char *path, const char *name, unsigned *offset, unsigned *size)
{
	FILE *f = fopen(path, "r");
	char line[512], what[64];
	int found = 0;

	snprintf(what, sizeof(what), " %s;", name);
	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "offset:");

		found = strstr(line, what) && at && sscanf(at, "offset:%u; size:%u", offset, size) == 2;
	}
	if (f)
		fclose(f);
	return found;
}

/* The number at a field's place, on a machine of either byte order. */
static uint64_t field(const pfm_sample_t *s, unsigned offset, unsigned size)
{
	uint32_t narrow = 0;
	uint64_t wide = 0;

	if (offset + size > s->raw_size)
		return 0;
	if (size == sizeof(wide))
		memcpy(&wide, (const char *)s->raw + offset, sizeof(wide));
	else if (size == sizeof(narrow))
		memcpy(&narrow, (const char *)s->raw + offset, sizeof(narrow));
	return wide | narrow;
}

int main(void)
{
	static const char *const texts[] = { "syscalls:sys_enter_close" };
	pfm_sampling_t sampling = PFM_INIT(sampling);
	pfm_session_options_t options = PFM_INIT(options);
	pfm_count_info_t info = PFM_INIT(info);
	pfm_record_t r = PFM_INIT(r);
	unsigned offset = 0, size = 0;
	pfm_session_t *s;

	sampling.fields = PFM_SAMPLE_TID | PFM_SAMPLE_RAW;
	options.sampling = &sampling;
	if (!find_field("/sys/kernel/tracing/events/syscalls/sys_enter_close/format", "fd", &offset, &size) ||
	    pfm_open_session(&s, NULL, &options, texts, 1, NULL)) {
		puts("not shown: this user cannot look tracepoints up");
		return 0;
	}
	if (pfm_describe_count(s, 0, &info) == PFMLIB_SUCCESS && *info.why) {
		printf("not shown: %s\n", info.why);
		pfm_close_session(s);
		return 0;
	}
	pfm_start_session(s);
	close(1001); /* nothing is open there: that it is asked for is enough */
	close(1002);
	pfm_stop_session(s);
	while (pfm_next_record(s, &r) == 1)
		if (r.type == PFM_RECORD_SAMPLE)
			printf("close(%" PRIu64 ")\n", field(&r.sample, offset, size));
	pfm_close_session(s);
	return 0;
}
