/* SPDX-License-Identifier: MIT */
/* From a text to an event: the text is cut into slices (spec), the PMU and the row are looked up, the attributes are read. Nothing is copied
 * and nothing allocates. */
#ifndef PERFMON_LOOKUP_H
#define PERFMON_LOOKUP_H

#include "context/context.h"

/* ---- texts in slices -------------------------------------------------------------------------------- */

enum spec_form {
	SPEC_NAME, /* name, then attributes behind ':' '.' or ',' */
	SPEC_PERF, /* pmu/term,term=value/modifiers */
	SPEC_RAW   /* rHEX:modifiers */
};

/* A place where the event name may end: @len bytes from its start, @hash of the folded bytes so far. */
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
	struct slice name;      /* SPEC_NAME: everything up to the first ','; SPEC_PERF: the terms; SPEC_RAW: the digits */
	struct slice attrs;     /* what follows the event name: attributes, separator included */
	struct slice modifiers; /* SPEC_PERF: what follows the last '/' */
	uint32_t n_prefixes;
	struct name_prefix prefixes[SPEC_MAX_PREFIXES]; /* shortest first */
};

/* One attribute. @at is the separator before it, 0 for the first term of SPEC_PERF. */
struct spec_attr {
	struct slice name, value;
	bool has_value;
	char separator;
};

/* Cuts @text. Returns 0 or a negative PFMLIB code with @why filled. */
int pfmi_spec_parse(const char *text, struct spec *out, pfm_error_t *why);
/* Takes the next attribute off @rest. False at the end. An empty attribute has an empty name: the caller refuses it. */
bool pfmi_spec_next_attr(struct slice *rest, struct spec_attr *out);
/* Reads "event=0x2e,umask=0x4f", or the first alone, where nothing stands behind the last slash. */
void pfmi_spec_read_codes(const struct spec *spec, struct spec_codes *out);
/* Takes the next event, or group in braces, off @list; false when there are no more (list->s is NULL then). What pfm_split_events()
 * says. (lib/lookup/split.c) */
bool pfmi_spec_split_list(struct slice *list, struct slice *event);

/* ---- attributes ------------------------------------------------------------------------------------ */

/* Reads the attributes behind the event name. Data-driven: groups, modifiers and levels of the table. */
int pfmi_lookup_resolve_attrs(const struct table *t, uint32_t row, const struct spec *spec, struct event *out, pfm_error_t *why);
/* What is said of a metric where an event is wanted: PFMLIB_ERR_ALIAS. */
int pfmi_lookup_refuse_metric(const char *text, struct slice at, pfm_error_t *why);

/* Is @word a unit mask of event @name, whose hash is @h: "NAME:WORD" another event? */
bool pfmi_lookup_is_umask_name(const struct table *t, struct slice name, uint32_t h, struct slice word);
/* The @i-th word for a level and what it means (0: the hypervisor's); false past the last. */
bool pfmi_lookup_get_level(unsigned i, const char **word, unsigned *plm);
/* Is @word a level behind a colon, or what any event of @t takes as a modifier, by libpfm's short name or the field's own? */
bool pfmi_lookup_is_modifier(const struct table *t, struct slice word);

/* ---- events ---------------------------------------------------------------------------------------- */

/* Finds what @spec names: a unit number and a row. SPEC_PERF and raw numbers included (ROW_NONE). On success spec->rest holds
 * the attributes. */
int pfmi_lookup_row(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, uint32_t *row, pfm_error_t *why);
/* (lib/lookup/lookup.c has these.) Text to event, and the unit it belongs to. */
int pfmi_lookup_event(const struct pfm_ctx *ctx, const char *text, unsigned *unit, struct event *out, pfm_error_t *why);
/* Finds the event of the parsed text @spec; spec->rest becomes its attributes. */
int pfmi_lookup_spec_event(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, struct event *out, pfm_error_t *why);
/* The name of @t that @spec, which has a processor's name, is read as; spec->rest is what follows it then. */
struct name_entry pfmi_lookup_spec_name(const struct table *t, struct spec *spec);
/* The event of a text on unit @unit alone: how a hybrid machine's event reaches its other cores. */
int pfmi_lookup_event_on_pmu(const struct pfm_ctx *ctx, const char *text, unsigned unit, struct event *out, pfm_error_t *why);
/* Refuses an event of @unit, with a place in @text, that this machine's processor says it lacks. */
int pfmi_lookup_check_present(const struct pfm_ctx *ctx, unsigned unit, const struct event *ev, const char *text, struct slice at,
                              pfm_error_t *why);
/* 1 + the instance of @unit that the prefix of @text, or else its table, names; 0 if the event is for all of them. */
unsigned pfmi_lookup_instance(const struct pfm_ctx *ctx, const char *text, unsigned unit);
unsigned pfmi_lookup_spec_instance(const struct pfm_ctx *ctx, const struct spec *spec, unsigned unit);
/* The units whose names start like the prefix of @text, or that unprefixed names are looked up in: for suggestions. */
unsigned pfmi_lookup_candidate_pmus(const struct pfm_ctx *ctx, const struct spec *spec, unsigned *units, unsigned max);
/* Events that only the kernel knows: tracepoints "group:name", breakpoints "mem:ADDR[/LEN][:rwx]". 0 and a unit with an event without
 * a row; PFMLIB_ERR_NOTFOUND if @spec is none of them. (lib/machine/kernel_pmus.c) */
int pfmi_lookup_kernel_event(const struct pfm_ctx *ctx, const struct spec *spec, unsigned *unit, struct event *out, pfm_error_t *why);

/* Fields that are those of an event stand for that event, so that its counters are known. The kernel knows its own. */
void pfmi_lookup_adopt_row(struct event *ev);
#endif
