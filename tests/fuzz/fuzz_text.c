/* SPDX-License-Identifier: MIT */
/* Any text, on any processor, in every dialect: parsed, encoded, printed, read back. What prints
 * must read back to the same registers; what is refused must say where inside the text. The calls
 * of libpfm 3, which have a grammar of their own, get the same text, and what they call an event
 * must find it again. */
#include <stdlib.h>
#include <string.h>
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>
#include "time_bound.h"

enum {
	ASKED = 64
}; /* contexts that inputs choose from; what is printed is read in that of its processor, whichever
      it is */

static pfm_ctx_t *contexts[1024];
static int types[ASKED]; /* PFMLIB_*_PMU of each, -1 for none */
static int n_contexts;

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_ctx_t *all;
	int n;

	(void)argc;
	(void)argv;
	o.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
	if (pfm_open_context(&all, &o, NULL))
		abort();
	n = pfm_count_pmus(all);
	types[n_contexts] = PFMLIB_COREDUO_PMU; /* whose table in this interface is another one */
	contexts[n_contexts++] = all;
	if (n < ASKED || n >= (int)(sizeof(contexts) / sizeof(contexts[0])))
		abort();
	for (int i = 0; i < n; i++) {
		perfmon_pmu_info_t pmu = PFM_INIT(pmu);

		if (pfm_describe_pmu(all, i, &pmu))
			abort();
		o.pmu = pmu.name;
		if (n_contexts < ASKED)
			types[n_contexts] = pmu.libpfm_type;
		if (pfm_open_context(&contexts[n_contexts++], &o, NULL))
			abort();
	}
	return 0;
}

/* Not every dialect can name the processor: what is printed is read where its names are the
 * processor's own. */
static void check_round_trip(const pfm_ctx_t *ctx, const char *text, const pfm_encoding_t *e)
{
	const pfm_ctx_t *home = contexts[e->pmu + 1];

	for (int d = PFM_DIALECT_LIBPFM; d <= PFM_DIALECT_VENDOR; d++) {
		pfm_encoding_t again = PFM_INIT(again);
		char name[1024];

		if (pfm_print_event(ctx, text, (pfm_dialect_t)d, name, sizeof(name), NULL))
			continue;
		if (pfm_encode_event(home, name, 0, &again, NULL) || again.n_regs != e->n_regs ||
		    (e->n_regs && memcmp(again.regs, e->regs, e->n_regs * sizeof(e->regs[0]))))
			abort();
	}
}

/* Suggestions look at every name of every processor: @rarely, and so often that an input kept alone
 * still gets them. */
static void check_error(const pfm_ctx_t *ctx, const char *text, size_t len, const pfm_error_t *why,
                        int rarely)
{
	static unsigned suggested;
	char sentence[160], names[4][96];

	if (why->code >= 0 || why->start > why->end || why->end > len)
		abort();
	pfm_explain_error(ctx, text, why, sentence, sizeof(sentence));
	if (rarely && suggested++ < 32)
		pfm_suggest_names(ctx, text, why, names, 4);
}

static void check_libpfm3(int type, const char *text)
{
	pfmlib_event_t e, again;
	char name[1024];
	unsigned idx;

	if (type < 0 || pfm_force_pmu(type))
		return;
	memset(&e, 0, sizeof(e));
	memset(&again, 0, sizeof(again));
	if (pfm_find_event(text, &idx) == PFMLIB_SUCCESS &&
	    pfm_get_event_name(idx, name, sizeof(name)))
		abort();
	pfm_find_event_mask(0, text, &idx);
	if (pfm_find_full_event(text, &e) || pfm_get_full_event_name(&e, name, sizeof(name)))
		return;
	if (pfm_find_full_event(name, &again) || again.event != e.event ||
	    again.num_masks != e.num_masks)
		abort();
}

int try_input(const uint8_t *data, size_t size)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);
	const pfm_ctx_t *ctx;
	char text[4200];

	if (size < 1 || size > sizeof(text))
		return 0;
	ctx = contexts[data[0] % ASKED];
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (pfm_encode_event(ctx, text, 0, &e, &why))
		check_error(ctx, text, strlen(text), &why, data[0] >= 248);
	else
		check_round_trip(ctx, text, &e);
	check_libpfm3(types[data[0] % ASKED], text);
	return 0;
}
