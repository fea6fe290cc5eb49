/* SPDX-License-Identifier: MIT */
/* A program that samples itself: where its time goes, by function, from the addresses of the
 * samples. */
#include <inttypes.h>
#include <stdio.h>
#include <perfmon/sampling.h>

static volatile unsigned sink;

__attribute__((noinline)) static void much(void)
{
	for (unsigned i = 0; i < 60000000; i++)
		sink += i;
}

__attribute__((noinline)) static void little(void)
{
	for (unsigned i = 0; i < 20000000; i++)
		sink += i;
}

/* The one of the two functions that contains an address: the one that begins last before it, if it
 * is near. */
static int function_of(uint64_t ip)
{
	const uint64_t starts[2] = { (uintptr_t)much, (uintptr_t)little };
	int best = -1;

	for (int i = 0; i < 2; i++)
		if (ip >= starts[i] && ip - starts[i] < 4096 &&
		    (best < 0 || starts[i] > starts[best]))
			best = i;
	return best;
}

int main(void)
{
	static const char *const texts[] = { "task-clock:u:period=1000000" }, *const names[] = {
		"much", "little"
	};
	pfm_sampling_t sampling = PFM_INIT(sampling);
	pfm_session_options_t options = PFM_INIT(options);
	pfm_sample_statistics_t total = PFM_INIT(total);
	pfm_record_t r = PFM_INIT(r);
	pfm_error_t error = PFM_INIT(error);
	unsigned seen[2] = { 0 }, all = 0;
	pfm_session_t *s;
	char why[256];

	sampling.fields = PFM_SAMPLE_IP;
	options.sampling = &sampling;
	if (pfm_open_session(&s, NULL, &options, texts, 1, &error)) {
		pfm_explain_error(NULL, texts[0], &error, why, sizeof(why));
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	pfm_start_session(s);
	much();
	little();
	pfm_stop_session(s);
	while (pfm_next_record(s, &r) == 1) {
		int f = r.type == PFM_RECORD_SAMPLE ? function_of(r.body.sample.ip) : -1;

		all += r.type == PFM_RECORD_SAMPLE;
		if (f >= 0)
			seen[f]++;
	}
	for (int i = 0; i < 2 && all; i++)
		printf("%-8s %5.1f%%\n", names[i], 100.0 * seen[i] / all);
	if (pfm_sampling_statistics(s, 0, &total) == PFMLIB_SUCCESS)
		printf("%" PRIu64 " samples, %s\n", total.samples, pfm_quality_name(total.quality));
	pfm_close_session(s);
	return 0;
}
