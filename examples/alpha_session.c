/* SPDX-License-Identifier: MIT */
/* A session on the Tru64 counter device, on a model of it that every machine has: cycles, issues and loads of a 21164, processor by
 * processor, and the requests that make the device count them. With no device_model the same program counts on /dev/pfcntr.
 *
 * Build: cc alpha_session.c $(pkg-config --cflags --libs perfmon) */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib_alpha.h>

enum { N = 3,
       CPUS = 2 };

static const char *const events[N] = { "ev5::cycles", "ev5::issues", "ev5::loads" };

/* What will be asked of the device. */
static int show_requests(pfmlib_alpha_input_param_t *settings)
{
	static pfm_set_t set = PFM_INIT(set);
	pfmlib_alpha_output_param_t out;
	pfm_set_options_t options = { .size = sizeof(options), .model_in = settings, .model_out = &out };

	if (pfm_dispatch_set(NULL, events, N, &options, &set, NULL) != PFMLIB_SUCCESS)
		return 1;
	for (unsigned i = 0; i < out.n_ioctls; i++) {
		printf("%s", out.ioctls[i].name);
		for (unsigned w = 0; w < out.ioctls[i].n_words; w++)
			printf(" 0x%" PRIx64, out.ioctls[i].words[w]);
		putchar('\n');
	}
	return 0;
}

static void show_counts(pfm_session_t *session)
{
	int entries = pfm_alpha_session_entries(session);

	for (int cpu = 0; cpu < entries; cpu++)
		for (unsigned i = 0; i < N; i++) {
			uint64_t value;

			if (pfm_alpha_session_count(session, (unsigned)cpu, i, &value) == PFMLIB_SUCCESS)
				printf("CPU %d %-12s %" PRIu64 "\n", cpu, events[i], value);
		}
}

int main(void)
{
	pfmlib_alpha_input_param_t settings = { .pfp_alpha_scope = PFM_ALPHA_SCOPE_SYSTEM, .pfp_alpha_open = PFM_ALPHA_OPEN_EACH };
	pfm_alpha_session_t device = { .size = sizeof(device), .model = &settings, .device_model = "ev5", .n_cpus = CPUS };
	pfm_session_options_t options = { .size = sizeof(options), .backend = "pfm_device", .backend_options = &device };
	struct timespec a_while = { .tv_nsec = 20000000 };
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *session;

	if (show_requests(&settings))
		return 1;
	if (pfm_open_session(&session, NULL, &options, events, N, &error) != PFMLIB_SUCCESS) {
		char sentence[256];

		pfm_explain_error(NULL, NULL, &error, sentence, sizeof(sentence));
		fprintf(stderr, "%s\n", sentence);
		return 1;
	}
	pfm_start_session(session);
	nanosleep(&a_while, NULL); /* the program to be measured */
	pfm_stop_session(session);
	for (unsigned i = 0; i < pfm_count_session(session); i++) {
		pfm_count_t count = PFM_INIT(count);

		if (pfm_read_count(session, i, &count) == PFMLIB_SUCCESS)
			printf("%-12s %" PRIu64 " (%s)\n", events[i], count.value, pfm_quality_name(count.quality));
	}
	show_counts(session);
	pfm_close_session(session);
	return 0;
}
