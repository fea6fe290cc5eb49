/* SPDX-License-Identifier: MIT */
/* Errata of events and PMUs, as the commands print them. */
#include "common/errata.h"

#include <stdio.h>
#include <string.h>

static const char *get_count_word(pfm_erratum_count_t count)
{
	static const char *const words[] = { "right", "high", "low", "wrong", "zero", "near" };

	return count < sizeof(words) / sizeof(words[0]) ? words[count] : "wrong";
}

void put_erratum_begin(struct json *j, const pfm_erratum_t *e)
{
	put_begin(j, NULL, '{');
	put_text(j, "ids", e->ids);
	put_text(j, "effect", e->effect);
	put_text(j, "count", get_count_word(e->count));
	put_text_if(j, "machines", e->machines);
	put_text_if(j, "instead", e->instead);
	put_text_if(j, "workaround", e->workaround);
	put_text_if(j, "kernel", e->kernel);
	put_bool(j, "here", e->flags & PFM_ERRATUM_HERE);
	put_bool(j, "conditional", e->flags & PFM_ERRATUM_CONDITIONAL);
	put_text(j, "source", e->source);
}

/* Writes @e as an element of "known_errata", which the first one begins. */
static void put_known_erratum(struct json *j, const pfm_erratum_t *e, unsigned *n)
{
	if (e->flags & PFM_ERRATUM_EVERY_EVENT)
		return;
	if (!(*n)++)
		put_begin(j, "known_errata", '[');
	put_erratum_begin(j, e);
	put_end(j, '}');
}

void put_event_errata(struct json *j, const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	pfm_erratum_t e = PFM_INIT(e);
	unsigned n = 0;

	for (unsigned i = 0; !pfm_describe_event_erratum(ctx, pmu, event, i, &e); i++)
		put_known_erratum(j, &e, &n);
	if (n)
		put_end(j, ']');
}

bool find_encoded_erratum(const pfm_ctx_t *ctx, const char *text, unsigned plm,
                          const pfm_encoding_t *enc, unsigned *i, pfm_erratum_t *e)
{
	const unsigned hidden = PFM_ERRATUM_CONDITIONAL | PFM_ERRATUM_EVERY_EVENT;

	/* Most events have none, and their text need not be looked up again. */
	if (pfm_describe_event_erratum(ctx, enc->pmu, enc->event, 0, e) == PFMLIB_ERR_NOTFOUND)
		return false;
	while (!pfm_describe_text_erratum(ctx, text, plm, (*i)++, e))
		if (!(e->flags & hidden))
			return true;
	return false;
}

void put_encoded_errata(struct json *j, const pfm_ctx_t *ctx, const char *text, unsigned plm,
                        const pfm_encoding_t *enc)
{
	pfm_erratum_t e = PFM_INIT(e);
	unsigned i = 0, n = 0;

	while (find_encoded_erratum(ctx, text, plm, enc, &i, &e))
		put_known_erratum(j, &e, &n);
	if (n)
		put_end(j, ']');
}

static void add_sentence(char line[ERRATUM_LINE_MAX], const char *before, const char *text,
                         const char *after)
{
	size_t n = strlen(line);

	if (*text)
		snprintf(line + n, ERRATUM_LINE_MAX - n, "%s%s%s", before, text, after);
}

char *format_erratum(const pfm_erratum_t *e, char line[ERRATUM_LINE_MAX])
{
	snprintf(line, ERRATUM_LINE_MAX, "%s: %s", e->ids, e->effect);
	add_sentence(line, " Only ", e->machines, ".");
	add_sentence(line, " Count ", e->instead, " instead.");
	add_sentence(line, " ", e->workaround, "");
	return line;
}
