/* SPDX-License-Identifier: MIT */
/* Shared by the files that read attributes: attr_levels.c, attr_fields.c, attr_umasks.c, and
 * resolve.c, which calls them. The functions that read an attribute return 1 if it was theirs, 0 if
 * not, and a negative PFMLIB code if they refuse it. */
#ifndef PERFMON_ATTR_INTERNAL_H
#define PERFMON_ATTR_INTERNAL_H

#include <string.h>
#include "lookup/lookup.h"

/* The attribute that is read, and the settings that the attributes before it made. */
struct attr_reader {
	const struct spec *spec;
	struct event *event;
	pfm_error_t *error;
	struct spec_attr attr;
	int field;            /* attr_find_field() of attr, or FIELD_NOT_SEARCHED */
	bool has_level;       /* the text named a level */
	unsigned cleared_plm; /* levels that the text switched off */
	unsigned given_plm;   /* value of "plm=", if has_plm */
	bool has_plm, has_precise;
	bool has_bare_masks;   /* a unit mask was given after ':' without the name of its group */
	unsigned thread_parts; /* of a field in two parts: bit 0 thread, bit 1 core */
};
#define FIELD_NOT_SEARCHED (-2)

#define MAX_LEVEL_LENGTH 3 /* characters of a level's name */

static inline int attr_refuse(const struct attr_reader *r, int code, pfm_error_kind_t kind,
                              struct slice at, const char *detail)
{
	return pfmi_base_set_error(r->error, code, kind, r->spec->text, at, detail);
}

static inline bool attr_is_libpmc(const struct attr_reader *r)
{
	return r->attr.separator == ',' && r->spec->form != SPEC_PERF;
}

static inline bool attr_is_libpfm(const struct attr_reader *r)
{
	return r->attr.separator == ':' || r->attr.separator == '.';
}

/* Is @s the word, without regard to case? The first letter tells most words apart. */
static inline bool attr_is_word(struct slice s, const char *word)
{
	return s.len && !((s.text[0] ^ word[0]) & ~0x20) && pfmi_base_is_slice_icase(s, word);
}

/* ---- attr_levels.c --------------------------------------------------------------------------- */

/* Reads the value of a flag ("e", "e=1", "e=n") to *@out. Returns PFMLIB_SUCCESS or an error. */
int pfmi_attr_parse_bool(const struct attr_reader *r, bool *out);
/* Is @word a level after ':' ("u", "k", "h")? */
bool pfmi_attr_is_level(struct slice word);
/* Reads "u", "k=0", "usr". */
int pfmi_attr_read_level(struct attr_reader *r);
/* Reads "counter=2", "plm=0x9", "precise=2". */
int pfmi_attr_read_common(struct attr_reader *r);
/* Reads perf's letters @m ("ukpp"). Returns PFMLIB_SUCCESS or an error. */
int pfmi_attr_read_perf_modifiers(struct attr_reader *r, struct slice m);

/* ---- attr_fields.c --------------------------------------------------------------------------- */

/* The number of the field that the attribute's name represents, or -1. */
int pfmi_attr_search_field(const struct attr_reader *r);
/* The number of the field whose name is the attribute's, not a short one; or -1. */
int pfmi_attr_find_exact_field(const struct attr_reader *r);
/* Returns pfmi_attr_search_field() of the attribute; searches once. */
static inline int attr_find_field(struct attr_reader *r)
{
	if (r->field == FIELD_NOT_SEARCHED)
		r->field = pfmi_attr_search_field(r);
	return r->field;
}
/* Sets field number @field to the attribute's value. Returns PFMLIB_SUCCESS or an error. */
int pfmi_attr_read_field(struct attr_reader *r, unsigned field);
/* Reads "cf=3", "tf=1". */
int pfmi_attr_read_thread_filter(struct attr_reader *r);
/* Reads "ff=16". */
int pfmi_attr_read_band_threshold(struct attr_reader *r);

/* ---- attr_umasks.c --------------------------------------------------------------------------- */

/* Is the attribute a unit mask of the row; of any row of the table? */
bool pfmi_attr_is_row_umask(const struct attr_reader *r);
bool pfmi_attr_is_any_row_umask(const struct attr_reader *r);
/* Reads "core=all". */
int pfmi_attr_read_group(struct attr_reader *r);
/* Reads "BOTH_CORES". */
int pfmi_attr_read_umask(struct attr_reader *r);
/* Reads "0x41". */
int pfmi_attr_read_raw_umask(struct attr_reader *r);
/* Gives the row's groups without a value their default, after the last attribute. Returns
 * PFMLIB_SUCCESS or an error. */
int pfmi_attr_check_groups(struct attr_reader *r);

#endif
