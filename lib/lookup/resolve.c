/* SPDX-License-Identifier: MIT */
/* Attributes of a text make an event of a row. One reader serves every PMU and dialect: the table
 * has the groups of unit masks and the fields that users may set; the separator tells the dialect:
 *   ','  libpmc: "core=all", "cmask=2", "edge", "usr", "os"
 *   ':'  libpfm (also '.'): unit masks by name, "u" "k" "h", "c=2" "i" "e", raw masks "0x41"
 *   '/'  perf terms: any field by its sysfs name; modifiers after the last slash */
#include "lookup/attr_internal.h"

/* Sets of modifier letters: bit i represents character 'A' + i. */
#define LETTER_BIT(C)     ((uint64_t)1 << ((C) - 'A'))
#define EXCLUSION_LETTERS (LETTER_BIT('G') | LETTER_BIT('H') | LETTER_BIT('I'))
#define LEVEL_LETTERS     (LETTER_BIT('u') | LETTER_BIT('k') | LETTER_BIT('h'))
#define MODIFIER_LETTERS                                                                           \
	(LEVEL_LETTERS | EXCLUSION_LETTERS | LETTER_BIT('p') | LETTER_BIT('P') | LETTER_BIT('D') | \
	 LETTER_BIT('S') | LETTER_BIT('W'))
#define PERF_MODIFIER_LETTERS                                                                      \
	(MODIFIER_LETTERS | LETTER_BIT('e') |                                                      \
	 LETTER_BIT('b')) /* with the letters of perf that are refused */

static inline bool is_letter_in_set(uint64_t letters, char c)
{
	return c >= 'A' && c <= 'z' && letters >> (c - 'A') & 1;
}

/* "cycles:ukp": are these perf's letters after a colon, and no unit mask? */
static bool is_modifier_run(const struct attr_reader *r, uint64_t letters)
{
	if (r->attr.separator != ':' || r->attr.has_value || r->attr.name.len == 0 ||
	    r->attr.name.len > 16)
		return false;
	for (uint32_t i = 0; i < r->attr.name.len; i++)
		if (!is_letter_in_set(letters, r->attr.name.text[i]))
			return false;
	return !pfmi_attr_is_any_row_umask(r) && !pfmi_attr_is_row_umask(r);
}

/* Is there a row called like the event with @word as a unit mask? */
static bool has_row_with_umask(const struct attr_reader *r, struct slice word)
{
	const struct spec *spec = r->spec;
	uint32_t whole = (uint32_t)(spec->attrs.text - spec->name.text);

	for (unsigned i = 0; i < spec->n_prefixes && spec->prefixes[i].len <= whole; i++)
		if ((spec->prefixes[i].len == whole ||
		     spec->name.text[spec->prefixes[i].len] == ':') &&
		    pfmi_lookup_is_umask_name(
			    r->event->table,
			    (struct slice){ spec->name.text, spec->prefixes[i].len },
			    spec->prefixes[i].hash, word))
			return true;
	return false;
}

/* Is the word, which sets a modifier, a unit mask of the event as well: "EVENT:c=1:E", where
 * "EVENT:E" is a name? libpfm4 accepts unit masks anywhere. */
static inline bool is_umask_too(const struct attr_reader *r)
{
	return attr_is_libpfm(r) && !r->attr.has_value && !lookup_is_level_letter(r->attr.name) &&
	       has_row_with_umask(r, r->attr.name);
}

static int refuse_umask_after_modifier(const struct attr_reader *r)
{
	return attr_refuse(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name,
	                   "is a unit mask of the event as well: write unit masks before "
	                   "modifiers, and the modifier with \"=1\"");
}

/* Are these perf's letters? A single letter counts in capitals alone ("H": the host, not the
 * hypervisor), and only if libpfm has no field of that letter ("I" inverts on Intel). Raw numbers
 * are perf's own. */
static bool is_perf_modifier(struct attr_reader *r)
{
	if (r->attr.name.len > 1)
		return is_modifier_run(r, MODIFIER_LETTERS);
	return is_modifier_run(r, EXCLUSION_LETTERS) &&
	       (r->spec->form == SPEC_RAW || attr_find_field(r) < 0);
}

/* Reads an attribute that is neither a level letter nor perf's letters. */
static int read_other_attribute(struct attr_reader *r)
{
	int rc, field;

	if (r->attr.name.len == 0)
		return attr_refuse(r, r->attr.has_value ? PFMLIB_ERR_ATTR : PFMLIB_ERR_ATTR_EMPTY,
		                   r->attr.has_value ? PFM_KIND_UNKNOWN_QUALIFIER
		                                     : PFM_KIND_EMPTY_QUALIFIER,
		                   r->attr.name, NULL);
	if (r->event->has_raw_umask && attr_is_libpfm(r) && pfmi_attr_is_row_umask(r))
		return attr_refuse(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name,
		                   "a raw unit mask and named unit masks cannot be combined");
	rc = pfmi_attr_read_level(r);
	if (rc == 0)
		rc = pfmi_attr_read_umask(r);
	if (rc == 0)
		rc = pfmi_attr_read_group(r);
	if (rc)
		return rc < 0 ? rc : PFMLIB_SUCCESS;
	field = attr_find_field(r);
	if ((field >= 0 || is_modifier_run(r, PERF_MODIFIER_LETTERS)) && is_umask_too(r))
		return refuse_umask_after_modifier(r);
	if (field >= 0)
		return pfmi_attr_read_field(r, (unsigned)field);
	rc = pfmi_attr_read_thread_filter(r);
	if (rc == 0)
		rc = pfmi_attr_read_band_threshold(r);
	if (rc == 0)
		rc = pfmi_attr_read_raw_umask(r);
	if (rc == 0)
		rc = pfmi_attr_read_common(r);
	if (rc == 0 && is_modifier_run(r, PERF_MODIFIER_LETTERS))
		return pfmi_attr_read_perf_modifiers(r, r->attr.name);
	if (rc == 0)
		rc = attr_refuse(r, PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, r->attr.name,
		                 NULL);
	return rc < 0 ? rc : PFMLIB_SUCCESS;
}

/* Between slashes, a field of the running kernel's PMU wins over each letter and word of ours. */
static int find_kernel_field(const struct attr_reader *r)
{
	return r->spec->form == SPEC_PERF && r->event->table->flags & TABLE_FROM_KERNEL
	               ? pfmi_attr_find_exact_field(r)
	               : -1;
}

static int read_attribute(struct attr_reader *r)
{
	int kernel_field = find_kernel_field(r);

	if (kernel_field >= 0)
		return pfmi_attr_read_field(r, (unsigned)kernel_field);
	r->field = FIELD_NOT_SEARCHED;
	if (!is_perf_modifier(r))
		return read_other_attribute(r);
	return is_umask_too(r) ? refuse_umask_after_modifier(r)
	                       : pfmi_attr_read_perf_modifiers(r, r->attr.name);
}

/* Is a level all that follows the event name ("INST_RETIRED.ANY:u")? */
static inline bool is_level_alone(struct slice attrs)
{
	return attrs.len == 2 && attrs.text[0] == ':' &&
	       lookup_is_level_letter((struct slice){ attrs.text + 1, 1 });
}

static int read_each_attribute(struct attr_reader *r, struct slice rest)
{
	int rc = PFMLIB_SUCCESS;

	while (!rc && pfmi_spec_next_attr(&rest, &r->attr))
		rc = read_attribute(r);
	return rc;
}

/* Not inlined: an event with a bare name takes 20 of 1,800 instructions less. */
__attribute__((noinline)) static int read_all_attributes(const struct table *t, uint32_t row,
                                                         const struct spec *spec, struct event *out,
                                                         pfm_error_t *why)
{
	struct attr_reader r = { .spec = spec, .event = out, .error = why };
	int rc;

	/* Fast path: a level alone, which saves 120 of 2,050 instructions. */
	if (is_level_alone(spec->attrs))
		rc = pfmi_attr_read_perf_modifiers(&r, (struct slice){ spec->attrs.text + 1, 1 });
	else
		rc = read_each_attribute(&r, spec->attrs);
	if (!rc && spec->modifiers.len)
		rc = pfmi_attr_read_perf_modifiers(&r, spec->modifiers);
	if (!rc && event_count_groups(out))
		rc = pfmi_attr_check_groups(&r);
	if (rc)
		return rc;
	if (r.has_level && !out->plm)
		out->has_no_levels = 1;
	if ((out->exclude_flags & (EVENT_ONLY_HOST | EVENT_ONLY_GUEST)) ==
	    (EVENT_ONLY_HOST | EVENT_ONLY_GUEST))
		out->exclude_flags &= EVENT_EXCLUDE_IDLE; /* both are counted */
	if (out->precise && row != ROW_NONE && table_get_key_field_plus1(t, KEY_PRECISE) &&
	    !event_get_precision(out))
		return attr_refuse(&r, PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED,
		                   spec->modifiers.len ? spec->modifiers : spec->attrs,
		                   "the event has no precise form");
	if (r.has_precise && !out->precise && event_get_precision(out) == PRECISE_REQUIRED)
		return attr_refuse(
			&r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, spec->attrs,
			"the event counts only with precise sampling: precise must be at least 1");
	return PFMLIB_SUCCESS;
}

/* pfmi_pmu_check_event() does not get the text: a field that the event lacks is reported at the
 * event's name. */
static int set_event_error_range(const struct spec *spec, int rc, pfm_error_t *why)
{
	if (rc == PFMLIB_ERR_ATTR_MISSING && why && why->end == 0) {
		why->start = (uint32_t)(spec->name.text - spec->text);
		why->end = (uint32_t)(spec->attrs.text - spec->text);
	}
	return rc;
}

int pfmi_lookup_refuse_metric(const char *text, struct slice at, pfm_error_t *why)
{
	return pfmi_base_set_error(
		why, PFMLIB_ERR_ALIAS, PFM_KIND_UNSUPPORTED_ALIAS, text, at,
		"expected an event, got a metric; use \"pfm stat -M\" or \"pfm metric\"");
}

int pfmi_lookup_resolve_attrs(const struct table *t, uint32_t row, const struct spec *spec,
                              struct event *out, pfm_error_t *why)
{
	int rc;

	pfmi_pmu_init_event(out, t, row);
	if (event_has_flag(out, ROW_METRIC))
		return pfmi_lookup_refuse_metric(spec->text, spec->name, why);
	/* A row without groups needs no reading if its name is alone. */
	if (spec->attrs.len || spec->modifiers.len || !out->row || out->row->n_groups) {
		rc = read_all_attributes(t, row, spec, out, why);
		if (rc)
			return rc;
	}
	rc = pfmi_pmu_check_event(out, why);
	return rc ? set_event_error_range(spec, rc, why) : PFMLIB_SUCCESS;
}
