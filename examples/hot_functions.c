/* SPDX-License-Identifier: MIT */
/* The functions in which a recorded program spent its time:
 *
 *     pfm record -g -o perf.data -- program
 *     hot_functions perf.data [number of functions]
 *
 * Build: cc hot_functions.c $(pkg-config --cflags --libs perfmon-profile) */
#include <stdio.h>
#include <stdlib.h>
#include <perfmon/profile.h>

static void print_event(pfm_profile_t *profile, unsigned event, unsigned most)
{
	pfm_profile_event_t e = PFM_INIT(e);
	pfm_function_t f = PFM_INIT(f);

	if (pfm_describe_profile_event(profile, event, &e) != PFMLIB_SUCCESS || !e.samples)
		return;
	printf("%s: %llu samples\n", e.name, (unsigned long long)e.samples);
	for (unsigned i = 0; i < most; i++) {
		if (pfm_describe_function(profile, event, i, &f) != PFMLIB_SUCCESS)
			break;
		printf("%6.2f%% +-%5.2f %6.2f%%  %s  (%s)\n", 100 * f.self_share,
		       100 * f.self_error, 100 * f.children_share, f.function, f.object);
	}
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "perf.data";
	unsigned most = argc > 2 ? (unsigned)atoi(argv[2]) : 10;
	pfm_profile_info_t info = PFM_INIT(info);
	pfm_error_t error = PFM_INIT(error);
	pfm_profile_t *profile;
	const char *message;
	char text[256];

	if (pfm_open_profile(&profile, path, NULL, &error) != PFMLIB_SUCCESS) {
		pfm_explain_error(NULL, NULL, &error, text, sizeof(text));
		fprintf(stderr, "%s: %s\n", path, text);
		return 1;
	}
	for (unsigned i = 0; (message = pfm_get_profile_message(profile, i)); i++)
		fprintf(stderr, "%s\n", message);
	if (pfm_describe_profile(profile, &info) == PFMLIB_SUCCESS) {
		for (unsigned event = 0; event < info.n_events; event++)
			print_event(profile, event, most);
		if (!info.is_complete)
			fprintf(stderr, "samples are missing from the recording\n");
	}
	pfm_close_profile(profile);
	return 0;
}
