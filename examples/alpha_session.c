/* SPDX-License-Identifier: MIT */
/* A session on the Tru64 counter device, /dev/pfcntr: a set of events of one family of Alphas,
 * processor by processor, and the requests that make the device count them.
 *
 * Run: alpha_session [ev4|ev5|pca56|ev6|ev67]
 * Run on an emulated device: pfm alpha device --model ev6 --cpus 2 -- ./alpha_session ev6
 * Build: cc alpha_session.c $(pkg-config --cflags --libs perfmon) */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <perfmon/perfmon.h>
#include <perfmon/alpha.h>

enum { CPUS = 2 };

/* Events that fit on the counters together: EV67 has two counters, and few pairs of events fit. */
static const struct family {
	const char *name;
	unsigned n;
	const char *events[3];
} families[] = {
	{ "ev4", 2, { "ev4::cycles", "ev4::intops" } },
	{ "ev5", 3, { "ev5::cycles", "ev5::issues", "ev5::loads" } },
	{ "pca56", 3, { "pca56::cycles", "pca56::issues", "pca56::loads" } },
	{ "ev6", 2, { "ev6::retinst", "ev6::retcondbranch" } },
	{ "ev67", 2, { "ev67::retinst", "ev67::cycles1" } },
};

static const struct family *find_family(const char *name)
{
	for (unsigned i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strcmp(families[i].name, name) == 0)
			return &families[i];
	return NULL;
}

/* Requests to the device. */
static int show_requests(const struct family *family, pfmlib_alpha_input_param_t *settings)
{
	const pfm_set_t *set;
	pfmlib_alpha_output_param_t out;
	pfm_dispatch_options_t options = { .size = sizeof(options),
		                           .model_in = settings,
		                           .model_out = &out };

	if (pfm_dispatch_set(&set, NULL, family->events, family->n, &options, NULL) !=
	    PFMLIB_SUCCESS)
		return 1;
	pfm_close_set(set);
	for (unsigned i = 0; i < out.n_ioctls; i++) {
		printf("%s", out.ioctls[i].name);
		for (unsigned w = 0; w < out.ioctls[i].n_words; w++)
			printf(" 0x%" PRIx64, out.ioctls[i].words[w]);
		putchar('\n');
	}
	return 0;
}

static void show_counts(const struct family *family, pfm_session_t *session)
{
	int entries = pfm_alpha_session_entries(session);

	for (int cpu = 0; cpu < entries; cpu++)
		for (unsigned i = 0; i < family->n; i++) {
			uint64_t value;

			if (pfm_alpha_session_count(session, (unsigned)cpu, i, &value) ==
			    PFMLIB_SUCCESS)
				printf("CPU %d %-18s %" PRIu64 "\n", cpu, family->events[i], value);
		}
}

int main(int argc, char **argv)
{
	const struct family *family = find_family(argc > 1 ? argv[1] : "ev5");
	pfmlib_alpha_input_param_t settings = { .pfp_alpha_scope = PFM_ALPHA_SCOPE_SYSTEM,
		                                .pfp_alpha_open = PFM_ALPHA_OPEN_EACH };
	pfm_alpha_session_t device = { .size = sizeof(device), .model = &settings, .n_cpus = CPUS };
	pfm_session_options_t options = { .size = sizeof(options),
		                          .backend = "pfm_device",
		                          .backend_options = &device };
	struct timespec a_while = { .tv_nsec = 20000000 };
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *session;

	if (!family || show_requests(family, &settings))
		return 1;
	if (pfm_open_session(&session, NULL, &options, family->events, family->n, &error) !=
	    PFMLIB_SUCCESS) {
		char sentence[256];

		pfm_explain_error(NULL, NULL, &error, sentence, sizeof(sentence));
		fprintf(stderr, "%s\n", sentence);
		return 1;
	}
	pfm_start_session(session);
	nanosleep(&a_while, NULL); /* the program to be measured */
	pfm_stop_session(session);
	for (unsigned i = 0; i < pfm_session_size(session); i++) {
		pfm_count_t count = PFM_INIT(count);

		if (pfm_read_count(session, i, &count) == PFMLIB_SUCCESS)
			printf("%-18s %" PRIu64 " (%s)\n", family->events[i], count.value,
			       pfm_quality_name(count.quality));
	}
	show_counts(family, session);
	pfm_close_session(session);
	return 0;
}
