/* SPDX-License-Identifier: MIT */
/* Text to event: a spec has the slices of the text, a search finds the PMU and the row, and the
 * attributes are read. Nothing is copied or allocated; slices point into the caller's text. */
#ifndef PERFMON_LOOKUP_H
#define PERFMON_LOOKUP_H

#include "context/context.h"

/* ---- texts in slices ------------------------------------------------------------------------- */

enum spec_form {
	SPEC_NAME, /* name, then attributes after ':' '.' or ',' */
	SPEC_PERF, /* pmu/term,term=value/modifiers */
	SPEC_RAW   /* rHEX:modifiers */
};

/* A place where the event name can end: @len bytes from its start, @hash of the folded bytes. */
struct name_prefix {
	uint32_t len, hash;
};

#define SPEC_MAX_PREFIXES 12
#define SPEC_MAX_LENGTH   4096u

struct spec {
	const char *text; /* whole text, for positions */
	uint32_t len;
	enum spec_form form;
	struct slice pmu_name;  /* before "::" or the first '/'; length 0 if not given */
	uint32_t pmu_name_hash; /* SPEC_NAME: pfmi_table_hash_name() of it */
	struct slice name;      /* up to the first ','; SPEC_PERF: the terms; SPEC_RAW: digits */
	struct slice attrs;     /* attributes after the event name, separator included */
	struct slice modifiers; /* SPEC_PERF: the letters after the last '/' */
	uint32_t n_prefixes;
	struct name_prefix prefixes[SPEC_MAX_PREFIXES]; /* shortest first */
};

/* One attribute, and the separator before it. */
struct spec_attr {
	struct slice name, value;
	bool has_value;
	char separator;
};

/**
 * Parse @text into slices.
 *
 * @text must outlive @out. Returns PFMLIB_SUCCESS, or PFMLIB_ERR_SYNTAX with @why (may be NULL)
 * filled.
 */
int pfmi_spec_parse(const char *text, struct spec *out, pfm_error_t *why);
/* Cuts the next attribute off @rest. False at the end. The name of an empty attribute ("::") is
 * empty. */
bool pfmi_spec_next_attr(struct slice *rest, struct spec_attr *out);
/* Reads terms that are "event=0x2e,umask=0x4f", or the first one alone, without modifiers. Sets
 * out->n_terms to 0 for other terms. */
void pfmi_spec_read_codes(const struct spec *spec, struct spec_codes *out);
/* Cuts the next event, or group in braces, off @list, as pfm_split_events() does. False at the end,
 * when list->text is NULL. */
bool pfmi_spec_split_list(struct slice *list, struct slice *event);

/* ---- attributes ------------------------------------------------------------------------------ */

/**
 * Make @out the event of row @row of @t (ROW_NONE: of its fields) with the attributes of @spec.
 *
 * Returns PFMLIB_SUCCESS, or a negative code with @why (may be NULL) filled and @out undefined.
 */
int pfmi_lookup_resolve_attrs(const struct table *t, uint32_t row, const struct spec *spec,
                              struct event *out, pfm_error_t *why);
/* Refuses a metric where an event is expected. Returns PFMLIB_ERR_ALIAS. */
int pfmi_lookup_refuse_metric(const char *text, struct slice at, pfm_error_t *why);

/* Is "@name:@word" the name of an event of @t? @h is the hash of @name. */
bool pfmi_lookup_is_umask_name(const struct table *t, struct slice name, uint32_t h,
                               struct slice word);
/* Gets the @i-th word for a level, and its PFM_PLM* (0: the hypervisor). False past the last. */
bool pfmi_lookup_get_level_word(unsigned i, const char **word, unsigned *plm);
/* Is @word ":u", ":k" or ":h"? In small letters these are levels of every table, never unit masks:
 * compiler/libpfm4/aliases.py refuses a unit mask of such a name. */
static inline bool lookup_is_level_letter(struct slice word)
{
	return word.len == 1 && (word.text[0] == 'u' || word.text[0] == 'k' || word.text[0] == 'h');
}
/* Is @word a level after a colon, or a modifier of every event of @t, by its own or libpfm's
 * name? */
bool pfmi_lookup_is_modifier(const struct table *t, struct slice word);

/* ---- events ---------------------------------------------------------------------------------- */

/**
 * Find the PMU and the row that @spec names; ROW_NONE for terms and raw numbers.
 *
 * On success spec->attrs has the attributes. lookup.c gives the lookup order.
 */
int pfmi_lookup_row(const struct pfm_ctx *ctx, struct spec *spec, unsigned *pmu, uint32_t *row,
                    pfm_error_t *why);
/* Parses @text, finds its row and resolves its attributes. */
int pfmi_lookup_event(const struct pfm_ctx *ctx, const char *text, unsigned *pmu, struct event *out,
                      pfm_error_t *why);
/* Finds the row of @spec and resolves its attributes. */
int pfmi_lookup_spec_event(const struct pfm_ctx *ctx, struct spec *spec, unsigned *pmu,
                           struct event *out, pfm_error_t *why);
/* Finds the longest prefix of @spec that is a name of @t. On success spec->attrs follows it. */
struct name_entry pfmi_lookup_spec_name(const struct table *t, struct spec *spec);
/* Finds the event of @text on PMU @pmu alone: on a hybrid machine, an event reaches each type of
 * core so. */
int pfmi_lookup_event_on_pmu(const struct pfm_ctx *ctx, const char *text, unsigned pmu,
                             struct event *out, pfm_error_t *why);
/* Refuses an architectural event that this machine's processor says it lacks. @at is its place in
 * @text. */
int pfmi_lookup_check_present(const struct pfm_ctx *ctx, unsigned pmu, const struct event *ev,
                              const char *text, struct slice at, pfm_error_t *why);
/* 1 + the instance of PMU @pmu that the text selects; 0 for all instances. */
unsigned pfmi_lookup_text_instance(const struct pfm_ctx *ctx, const char *text, unsigned pmu);
unsigned pfmi_lookup_spec_instance(const struct pfm_ctx *ctx, const struct spec *spec,
                                   unsigned pmu);
/* Lists up to @max PMUs that the text can be about, for suggestions. Returns how many. */
unsigned pfmi_lookup_list_candidate_pmus(const struct pfm_ctx *ctx, const struct spec *spec,
                                         unsigned *pmus, unsigned max);
/**
 * Find an event that only the kernel defines: "group:name" is a tracepoint, "mem:ADDR[/LEN][:rwx]"
 * a breakpoint.
 *
 * Returns PFMLIB_SUCCESS and an event without a row, or PFMLIB_ERR_NOTFOUND if @spec is neither.
 */
int pfmi_lookup_kernel_event(const struct pfm_ctx *ctx, const struct spec *spec, unsigned *pmu,
                             struct event *out, pfm_error_t *why);

/* Is PMU @pmu, with table @t, of this machine? Loads what that depends on. */
bool pfmi_lookup_is_pmu_here(const struct pfm_ctx *ctx, unsigned pmu, const struct table *t);
/* Finds an erratum of the event whose table names another event that counts the same; NULL if none,
 * or if this machine has the PMU and not the erratum. */
const struct erratum *pfmi_lookup_avoidable_erratum(const struct pfm_ctx *ctx, unsigned pmu,
                                                    const struct event *ev);
/* Replaces an event of fields by the row that has the same fields, whose counters are known. Events
 * of the kernel's own tables stay as they are. */
void pfmi_lookup_adopt_row(struct event *ev);
#endif
