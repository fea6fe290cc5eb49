/* SPDX-License-Identifier: MIT */
/* Metrics of a piece of work, measured a few times: the library finds the events they need, plans
 * them into groups, and reports the error of each value.
 *
 * Build: cc metrics.c $(pkg-config --cflags --libs perfmon) */
#include <stdio.h>
#include <stdlib.h>
#include <perfmon/perfmon.h>

enum { ROUNDS = 5, MOST = 32 };

static const char *const texts[] = { "software::ratios", "hardware::ipc" };

static void work(size_t n)
{
	char *memory = malloc(n);
	volatile char *p = memory;

	for (size_t i = 0; p && i < n; i += 512)
		p[i] = (char)i;
	free(memory);
}

/* One round: everything counted from zero. */
static int measure(pfm_session_t *session, pfm_count_t *counts, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		counts[i] = (pfm_count_t)PFM_INIT(counts[i]);
	if (pfm_reset_session(session) || pfm_start_session(session))
		return -1;
	work(8 << 20);
	return pfm_stop_session(session) ? -1 : pfm_read_session(session, counts, n);
}

static void show(const pfm_session_t *session, unsigned i, const pfm_count_t *counts)
{
	pfm_session_metric_t m = PFM_INIT(m);
	pfm_metric_info_t info = PFM_INIT(info);

	if (pfm_compute_session_metric(session, i, counts, ROUNDS, 0, &m) ||
	    pfm_describe_metric(NULL, m.pmu, m.event, &info))
		return;
	if (m.state == PFM_METRIC_DEFINED)
		printf("%-22s %.4g %s (%.4g to %.4g), %s\n", info.name, m.value, info.unit, m.low,
		       m.high, pfm_quality_name(m.quality));
	else
		printf("%-22s %s\n", info.name, pfm_metric_state_name(m.state));
}

int main(void)
{
	static pfm_count_t counts[ROUNDS * MOST];
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *session;
	char sentence[256];
	unsigned n;

	if (pfm_open_session(&session, NULL, NULL, texts, 2, &error)) {
		pfm_explain_error(NULL, NULL, &error, sentence, sizeof(sentence));
		fprintf(stderr, "%s\n", sentence);
		return 1;
	}
	n = pfm_session_size(session);
	for (unsigned round = 0; round < ROUNDS && n <= MOST; round++)
		if (measure(session, counts + round * n, n))
			return 1;
	for (unsigned i = 0; i < pfm_count_metrics(session) && n <= MOST; i++)
		show(session, i, counts);
	pfm_close_session(session);
	return 0;
}
