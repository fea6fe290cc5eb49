/* SPDX-License-Identifier: MIT */
/* Attributes behind an event name become an event. One reader serves every processor and dialect: what differs is in the
 * tables (groups of unit masks, fields users may set) and in the separator before an attribute:
 *   ','  libpmc: "core=all", "cmask=2", "edge", "usr", "os"
 *   ':'  libpfm (also '.'): unit masks by name, "u" "k" "h", "c=2" "i" "e", raw masks "0x41"
 *   '/'  perf terms: any field by its sysfs name; modifiers behind the last slash */
#include <string.h>
#include "lookup/lookup.h"

struct attr_reader {
	const struct spec *spec;
	struct event *event;
	pfm_error_t *error;
	struct spec_attr attr;
	int field;             /* find_field() of attr, or FIELD_NOT_SEARCHED */
	bool has_level;        /* the text named a level */
	unsigned cleared_plm;  /* levels that the text switched off */
	unsigned given_plm;    /* value of "plm=", if has_plm */
	bool has_plm, has_precise;
	bool has_bare_masks;   /* a unit mask stood behind ':' without its group */
	unsigned thread_parts; /* of a field that is given in two: bit 0 the thread, bit 1 its core */
};

#define FIELD_NOT_SEARCHED (-2)

static int refuse_attr(const struct attr_reader *r, int code, int kind, struct slice at, const char *detail)
{
	return pfmi_base_set_error(r->error, code, kind, r->spec->text, at, detail);
}

static bool is_libpmc_attr(const struct attr_reader *r)
{
	return r->attr.separator == ',' && r->spec->form != SPEC_PERF;
}
static bool is_libpfm_attr(const struct attr_reader *r)
{
	return r->attr.separator == ':' || r->attr.separator == '.';
}

/* Is @s the word, without regard to case? The first letter tells most words apart. */
static inline bool is_word(struct slice s, const char *word)
{
	return s.len && !((s.text[0] ^ word[0]) & ~0x20) && pfmi_base_is_slice_icase(s, word);
}

/* ---- levels --------------------------------------------------------------------------------------------------- */

static const struct {
	char word[4];
	char separator;
	uint8_t plm;
} level_words[] = {
	{ "u", ':', PFM_PLM3 },
	{ "k", ':', PFM_PLM0 },
	{ "h", ':', PFMI_PLMH },
	{ "usr", ',', PFM_PLM3 },
	{ "os", ',', PFM_PLM0 },
};

bool pfmi_lookup_get_level(unsigned i, const char **word, unsigned *plm)
{
	if (i >= sizeof(level_words) / sizeof(level_words[0]))
		return false;
	*word = level_words[i].word;
	*plm = level_words[i].plm & 0xfu;
	return true;
}

static int parse_bool_value(const struct attr_reader *r, bool *out)
{
	struct slice v = r->attr.value;
	uint64_t number = 0;

	*out = true;
	if (!r->attr.has_value)
		return PFMLIB_SUCCESS;
	if (is_libpmc_attr(r))
		return refuse_attr(r, PFMLIB_ERR_ATTR_UNEXPECTED, PFM_KIND_UNEXPECTED_VALUE, v, NULL);
	if (v.len == 0)
		return refuse_attr(r, PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, r->attr.name, NULL);
	if (v.len == 1 && strchr("yYtT", v.text[0]))
		return PFMLIB_SUCCESS;
	if (pfmi_base_parse_number(v, &number) ? number <= 1 : v.len == 1 && strchr("nNfF", v.text[0])) {
		*out = number == 1;
		return PFMLIB_SUCCESS;
	}
	return refuse_attr(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, v, "yes or no: y, t, 1 or n, f, 0");
}

#define MAX_LEVEL_LENGTH 3

/* libpfm4 has another word for the hypervisor on Arm. */
static bool is_level_word(struct slice name, unsigned i)
{
	return is_word(name, level_words[i].word) || (level_words[i].plm == PFMI_PLMH && is_word(name, "hv"));
}

/* Switches the levels in @plm on or off; refused if the text said the opposite before. */
static int set_levels(struct attr_reader *r, unsigned plm, bool on, struct slice at)
{
	if (plm & (on ? r->cleared_plm : r->event->plm))
		return refuse_attr(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, at, "given before with another value");
	r->has_level = true;
	if (on)
		r->event->plm |= (uint8_t)plm;
	else
		r->cleared_plm |= plm;
	return PFMLIB_SUCCESS;
}

/* 1 if the attribute is a level, 0 if not, negative on error. */
static int read_level_attr(struct attr_reader *r)
{
	if (r->attr.name.len > MAX_LEVEL_LENGTH)
		return 0;
	for (unsigned i = 0; i < sizeof(level_words) / sizeof(level_words[0]); i++) {
		bool on;
		int rc;

		if (!is_level_word(r->attr.name, i) || (level_words[i].separator == ',' && is_libpfm_attr(r)) ||
		    (level_words[i].separator == ':' && is_libpmc_attr(r)))
			continue;
		rc = parse_bool_value(r, &on);
		if (rc)
			return rc;
		rc = set_levels(r, level_words[i].plm, on, r->attr.name);
		return rc ? rc : 1;
	}
	return 0;
}

/* ---- fields --------------------------------------------------------------------------------------------------- */

/* libpfm's short names of fields. */
static const struct {
	char word[12];
	enum field_key key;
} field_abbreviations[] = {
	{ "c", KEY_CMASK },
	{ "i", KEY_INV },
	{ "e", KEY_EDGE },
	{ "t", KEY_ANY },
	{ "intx", KEY_IN_TX },
	{ "intxcp", KEY_IN_TX_CP },
	{ "fe_thres", KEY_FRONTEND },
};

/* libpfm's short names of what boxes outside the cores are told by fields of the kernel's format. */
static const struct {
	char word[6], field[16];
} box_abbreviations[] = {
	{ "t", "thresh" },
	{ "nf", "filter_nid" },
	{ "isoc", "filter_isoc" },
	{ "nc", "filter_nc" },
	{ "loc", "filter_loc" },
	{ "rem", "filter_rem" },
	{ "lmem", "filter_nm" },
	{ "rmem", "filter_not_nm" },
	{ "occ_i", "occ_invert" },
	{ "occ_e", "occ_edge_det" },
};

/* The modifier of that name, or -1. */
static int find_modifier(const struct table *t, const char *name)
{
	for (unsigned i = 0; i < t->n_fields; i++)
		if (table_fields(t)[i].is_modifier && strcmp(table_text(t, table_fields(t)[i].name), name) == 0)
			return (int)i;
	return -1;
}

/* The field that a short name of boxes stands for, or -1. */
static int find_box_modifier(const struct table *t, struct slice word)
{
	for (unsigned i = 0; t->flags & TABLE_UNCORE && i < sizeof(box_abbreviations) / sizeof(box_abbreviations[0]); i++)
		if (is_word(word, box_abbreviations[i].word))
			return find_modifier(t, box_abbreviations[i].field);
	return -1;
}

bool pfmi_lookup_is_modifier(const struct table *t, struct slice word)
{
	for (unsigned i = 0; i < sizeof(level_words) / sizeof(level_words[0]); i++)
		if (level_words[i].separator == ':' && is_word(word, level_words[i].word))
			return true;
	for (unsigned i = 0; i < sizeof(field_abbreviations) / sizeof(field_abbreviations[0]); i++)
		if (is_word(word, field_abbreviations[i].word))
			return true;
	for (unsigned i = 0; i < t->n_fields; i++)
		if (table_fields(t)[i].is_modifier && is_word(word, table_text(t, table_fields(t)[i].name)))
			return true;
	return find_box_modifier(t, word) >= 0;
}

/* The modifier that one of libpfm's short names stands for, or -1. */
static int find_abbreviated_field(const struct table *t, struct slice word)
{
	for (unsigned i = 0; i < sizeof(field_abbreviations) / sizeof(field_abbreviations[0]); i++) {
		unsigned at;

		if (!is_word(word, field_abbreviations[i].word))
			continue;
		at = table_key_field_plus1(t, field_abbreviations[i].key);
		return at && table_fields(t)[at - 1].is_modifier ? (int)at - 1 : -1;
	}
	return -1;
}

static bool is_event_term(struct slice name)
{
	return name.len == 5 && (memcmp(name.text, "event", 5) == 0 || is_word(name, "event"));
}

/* The field that the attribute's name stands for, or -1. */
static int search_field(const struct attr_reader *r)
{
	int field;
	const struct table *t = r->event->table;
	const struct field *f = table_fields(t);

	/* The kernel's format files call the code "event". */
	if (r->spec->form == SPEC_PERF && table_key_field_plus1(t, KEY_CODE) && is_event_term(r->attr.name))
		return (int)table_key_field_plus1(t, KEY_CODE) - 1;
	field = is_libpmc_attr(r) ? -1 : find_abbreviated_field(t, r->attr.name);
	if (field >= 0)
		return field;
	for (unsigned i = 0; i < t->n_fields; i++)
		if ((f[i].is_modifier || (r->spec->form == SPEC_PERF && f[i].n_ranges)) &&
		    f[i].kind != FIELD_TEXT && table_is_text_icase(t, r->attr.name, f[i].name))
			return (int)i;
	return is_libpmc_attr(r) ? -1 : find_box_modifier(t, r->attr.name);
}

/* Returns search_field() of the attribute; searches once per attribute. */
static int find_field(struct attr_reader *r)
{
	if (r->field == FIELD_NOT_SEARCHED)
		r->field = search_field(r);
	return r->field;
}

/* Have the two fields bits in common: "config" and "event"? */
static bool has_common_bits(const struct field *a, const struct field *b)
{
	for (unsigned i = 0; i < a->n_ranges; i++)
		for (unsigned k = 0; k < b->n_ranges; k++)
			if (a->ranges[i].config_word == b->ranges[k].config_word && a->ranges[i].lsb < b->ranges[k].lsb + b->ranges[k].width &&
			    b->ranges[k].lsb < a->ranges[i].lsb + a->ranges[i].width)
				return true;
	return false;
}

/* Records that the user set @field; the same value twice is one, another one contradicts. */
static int set_user_field(struct attr_reader *r, unsigned field, uint64_t value)
{
	struct event *ev = r->event;
	unsigned i;

	for (i = 0; i < ev->n_user_fields; i++)
		if (ev->user_fields[i].field == field) {
			if (ev->user_fields[i].value == value)
				return PFMLIB_SUCCESS;
			return refuse_attr(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name, "given before with another value");
		} else if (has_common_bits(&table_fields(ev->table)[field], &table_fields(ev->table)[ev->user_fields[i].field])) {
			return refuse_attr(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name, "its bits are those of what was given before");
		}
	if (!pfmi_pmu_set_user_field(ev, field, value))
		return refuse_attr(r, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, r->attr.name, "too many attributes");
	ev->user_fields[i].start = (uint32_t)(r->attr.name.text - r->spec->text);
	ev->user_fields[i].end = ev->user_fields[i].start + r->attr.name.len;
	return PFMLIB_SUCCESS;
}

static bool find_field_word(const struct table *t, const struct field *f, struct slice s, uint64_t *out)
{
	const struct named_value *w = table_named_values(t) + f->first_named_value;

	for (unsigned i = 0; i < f->n_named_values; i++)
		if (is_word(s, table_text(t, w[i].name))) {
			*out = w[i].value;
			return true;
		}
	return false;
}

static int read_field_attr(struct attr_reader *r, unsigned field)
{
	const struct field *f = table_fields(r->event->table) + field;
	uint64_t value = 0;

	if (f->width == 1) {
		bool on;
		int rc = parse_bool_value(r, &on);

		return rc ? rc : set_user_field(r, field, on);
	}
	if (!r->attr.has_value && r->spec->form == SPEC_PERF && f->kind == FIELD_NUMBER)
		value = 1; /* perf: a term without a value is 1 */
	else if (!r->attr.has_value || r->attr.value.len == 0)
		return refuse_attr(r, PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, r->attr.name, NULL);
	else if (!(r->spec->form == SPEC_PERF ? pfmi_base_parse_perf_number : pfmi_base_parse_number)(r->attr.value, &value) &&
	         (f->kind == FIELD_NUMBER || !find_field_word(r->event->table, f, r->attr.value, &value)))
		return refuse_attr(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, r->attr.value, "a number is expected");
	if (value < f->min || value > f->max) {
		int rc = refuse_attr(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, r->attr.value, "out of range: at most");

		if (r->error)
			r->error->number = f->max;
		return rc;
	}
	return set_user_field(r, field, value);
}

/* The number an attribute has that is given in pieces of one field; refused if it is none or above @max. */
static int read_field_part(struct attr_reader *r, uint64_t max, uint64_t *value)
{
	if (!r->attr.has_value || r->attr.value.len == 0)
		return refuse_attr(r, PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, r->attr.name, NULL);
	if (!pfmi_base_parse_number(r->attr.value, value) || *value > max)
		return refuse_attr(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, r->attr.value, "a small number is expected");
	return PFMLIB_SUCCESS;
}

/* "cf=3", "tf=1": the core and its thread, both in one filter of a box, which counts for them alone then. 1 done, 0 neither of them,
 * negative on error. */
static int read_thread_filter(struct attr_reader *r)
{
	const struct table *t = r->event->table;
	bool core = is_word(r->attr.name, "cf");
	int tid = core || is_word(r->attr.name, "tf") ? find_modifier(t, "filter_tid") : -1, enable = find_modifier(t, "tid_en");
	uint64_t value = 0;
	unsigned i = 0;
	int rc;

	if (tid < 0 || enable < 0)
		return 0;
	rc = read_field_part(r, core ? table_fields(t)[tid].max >> 1 : 1, &value);
	while (i < r->event->n_user_fields && r->event->user_fields[i].field != tid)
		i++;
	/* The other piece alone leaves this one to be said: whatever else set the field said both. */
	if (rc == PFMLIB_SUCCESS && i < r->event->n_user_fields && r->thread_parts == 2u - core)
		r->event->user_fields[i].value |= value << core;
	else if (rc == PFMLIB_SUCCESS && i < r->event->n_user_fields && (core ? r->event->user_fields[i].value >> 1 : r->event->user_fields[i].value & 1) != value)
		rc = refuse_attr(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name, "given before with another value");
	else if (rc == PFMLIB_SUCCESS && i == r->event->n_user_fields)
		rc = set_user_field(r, (unsigned)tid, value << core);
	r->thread_parts |= 1u << core;
	if (rc == PFMLIB_SUCCESS)
		rc = set_user_field(r, (unsigned)enable, 1);
	return rc ? rc : 1;
}

/* "ff=16": the threshold of the frequency band that the event is about. */
static int read_band_threshold(struct attr_reader *r)
{
	char name[] = "filter_band0";
	uint64_t band, value = 0;
	int field, rc;

	if (!is_word(r->attr.name, "ff") || r->event->row_index == ROW_NONE)
		return 0;
	band = pfmi_table_row_value(r->event->table, r->event->row_index, KEY_CODE, ANY_COUNTER) - 0xb;
	name[sizeof(name) - 2] = (char)('0' + (band < 4 ? band : 9));
	field = find_modifier(r->event->table, name);
	if (field < 0)
		return 0;
	rc = read_field_part(r, 0xff, &value);
	if (rc == PFMLIB_SUCCESS)
		rc = set_user_field(r, (unsigned)field, value);
	return rc ? rc : 1;
}

/* ---- groups --------------------------------------------------------------------------------------------------- */

static const struct named_value *find_group_word(const struct table *t, const struct umask_group *g, struct slice s)
{
	return pfmi_table_find_named_value(t, g->first_named_value, g->n_named_values, s);
}

/* The value a bare word behind a colon stands for. Where a value has a libpfm spelling the manual page's own word is none ("i" is the
 * invert modifier there, not the invalid state). */
static inline const struct named_value *filter_bare_word(const struct table *t, const struct umask_group *g, struct slice s, const struct named_value *w)
{
	const struct named_value *all = table_named_values(t) + g->first_named_value;

	if (!w || w >= all + g->n_values)
		return w;
	for (unsigned i = g->n_values; i < g->n_named_values; i++)
		if (all[i].value == w->value && !is_word(s, table_text(t, all[i].name)))
			return NULL;
	return w;
}
static const struct named_value *find_bare_word(const struct table *t, const struct umask_group *g, struct slice s)
{
	return filter_bare_word(t, g, s, find_group_word(t, g, s));
}

static int choose_group_value(struct attr_reader *r, unsigned i, uint64_t bits, struct slice at)
{
	const struct umask_group *g = pfmi_pmu_row_group(r->event->table, r->event->row_index, i);
	struct event *ev = r->event;

	if (!(ev->chosen_groups >> i & 1))
		ev->group_values[i] = bits;
	else if (g->flags & GROUP_COMBINABLE)
		ev->group_values[i] |= bits;
	else if (ev->group_values[i] != bits)
		return refuse_attr(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, at, "only one value of this group can be chosen");
	ev->chosen_groups |= (uint16_t)(1u << i);
	return 1;
}

/* Values of an "any" group: one word, words joined by '+', or single-letter words in a row. */
static bool parse_value_union(const struct table *t, const struct umask_group *g, struct slice v, uint64_t *bits)
{
	*bits = 0;
	for (uint32_t at = 0; at < v.len;) {
		const char *plus = memchr(v.text + at, '+', v.len - at);
		struct slice piece = { v.text + at, plus ? (uint32_t)(plus - v.text) - at : v.len - at };
		const struct named_value *w = find_group_word(t, g, piece);

		if (w) {
			*bits |= w->value;
		} else {
			for (uint32_t i = 0; i < piece.len; i++) {
				w = find_group_word(t, g, (struct slice){ piece.text + i, 1 });
				if (!w)
					return false;
				*bits |= w->value;
			}
		}
		if (piece.len == 0 || (plus && at + piece.len + 1 == v.len))
			return false;
		at += piece.len + 1;
	}
	return v.len != 0;
}

/* In libpmc's grammar a value is one of the page's words; libpfm's spellings of it belong to the colon. */
static bool is_first_spelling(const struct umask_group *g, const struct table *t, const struct named_value *w)
{
	return w < table_named_values(t) + g->first_named_value + g->n_values;
}

static int read_group_value(struct attr_reader *r, unsigned i)
{
	const struct table *t = r->event->table;
	const struct umask_group *g = pfmi_pmu_row_group(t, r->event->row_index, i);
	const struct named_value *w = find_group_word(t, g, r->attr.value);
	uint64_t bits;

	if (!r->attr.has_value || r->attr.value.len == 0)
		return refuse_attr(r, PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, r->attr.name, NULL);
	if (w && (!is_libpmc_attr(r) || is_first_spelling(g, t, w)))
		return choose_group_value(r, i, w->value, r->attr.value);
	if (!w && g->flags & GROUP_COMBINABLE && parse_value_union(t, g, r->attr.value, &bits))
		return choose_group_value(r, i, bits, r->attr.value);
	return refuse_attr(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, r->attr.value, "not one of the words of this qualifier");
}

static bool row_has_group(const struct event *ev, const struct umask_group *group)
{
	const struct row *row = table_row(ev->table, ev->row_index);

	for (unsigned i = 0; i < row->n_groups; i++)
		if (table_row_group_at(ev->table, row, i) == group)
			return true;
	return false;
}

/* "core=all": a group by its name. 1 done, 0 no such group, negative on error. */
static int read_group_attr(struct attr_reader *r)
{
	const struct table *t = r->event->table;

	if (r->event->row_index == ROW_NONE)
		return 0;
	for (unsigned i = 0; i < table_row(t, r->event->row_index)->n_groups; i++)
		if (is_word(r->attr.name, table_text(t, pfmi_pmu_row_group(t, r->event->row_index, i)->name)))
			return read_group_value(r, i);
	for (unsigned i = 0; i < t->n_groups; i++)
		if (is_word(r->attr.name, table_text(t, table_group_at(t, i)->name)) && !row_has_group(r->event, table_group_at(t, i)))
			return refuse_attr(r, PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED, r->attr.name, NULL);
	return 0;
}

/* True if the attribute is the name of a unit mask the row takes. */
static bool is_row_umask(const struct attr_reader *r)
{
	const struct table *t = r->event->table;

	for (unsigned i = 0; r->event->row_index != ROW_NONE && i < table_row(t, r->event->row_index)->n_groups; i++)
		if (find_bare_word(t, pfmi_pmu_row_group(t, r->event->row_index, i), r->attr.name))
			return true;
	return false;
}

/* "BOTH_CORES": a unit mask by its own name. 1 done, 0 no such mask, negative on error. */
static int read_umask(struct attr_reader *r)
{
	const struct table *t = r->event->table;

	/* A mask comes before a modifier, as in libpfm 4: ":I" is the state of a line where the event has a mask of that name; ":i=1" inverts. */
	if (r->event->row_index == ROW_NONE || r->attr.has_value || !is_libpfm_attr(r))
		return 0;
	for (unsigned i = 0; i < table_row(t, r->event->row_index)->n_groups; i++) {
		const struct named_value *w = find_bare_word(t, pfmi_pmu_row_group(t, r->event->row_index, i), r->attr.name);

		if (w) {
			r->has_bare_masks = true;
			return choose_group_value(r, i, w->value, r->attr.name);
		}
	}
	if (find_field(r) >= 0)
		return 0;
	for (unsigned i = 0; i < t->n_groups; i++)
		if (!row_has_group(r->event, table_group_at(t, i)) && find_bare_word(t, table_group_at(t, i), r->attr.name))
			return refuse_attr(r, PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED, r->attr.name, NULL);
	return 0;
}

/* "0x41": replaces every named unit mask of the row, presets included; at most 8 bits, as libpfm 4 has it. */
static int read_raw_umask(struct attr_reader *r)
{
	const struct table *t = r->event->table;
	unsigned umask = table_key_field_plus1(t, KEY_UMASK);
	uint64_t value;

	if (!is_libpfm_attr(r) || r->attr.has_value || r->attr.name.len < 3 || (r->attr.name.text[1] | 0x20) != 'x' ||
	    !pfmi_base_parse_number(r->attr.name, &value) || r->event->row_index == ROW_NONE || !umask)
		return 0;
	if (table_row(t, r->event->row_index)->n_groups == 0)
		return refuse_attr(r, PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED, r->attr.name, "the event has no unit masks");
	if (value > 0xff)
		return refuse_attr(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, r->attr.name, "a unit mask has 8 bits");
	if (r->event->chosen_groups)
		return refuse_attr(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name,
		                   "a raw unit mask cannot stand beside named ones");
	for (unsigned i = 0; i < table_row(t, r->event->row_index)->n_groups; i++) {
		r->event->group_values[i] = i == 0 ? value : 0;
		r->event->chosen_groups |= (uint16_t)(1u << i);
	}
	r->event->has_raw_umask = 1;
	return 1;
}

/* ---- the reader ----------------------------------------------------------------------------------------------- */

static int refuse_contradiction(const struct attr_reader *r)
{
	return refuse_attr(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name, "given before with another value");
}

static int set_counter_pin(struct attr_reader *r, unsigned counter)
{
	if (r->event->counter_pin != ANY_COUNTER && r->event->counter_pin != counter)
		return refuse_contradiction(r);
	r->event->counter_pin = (uint16_t)counter;
	return PFMLIB_SUCCESS;
}

/* "plm" may stand beside levels by name, which it must not contradict. */
static int set_plm(struct attr_reader *r, unsigned plm)
{
	if (r->has_plm && r->given_plm != plm)
		return refuse_contradiction(r);
	r->has_plm = true;
	r->given_plm = plm;
	return set_levels(r, plm, true, r->attr.name);
}

static int set_precise(struct attr_reader *r, unsigned precise)
{
	if (r->has_precise && r->event->precise != precise)
		return refuse_contradiction(r);
	r->has_precise = true;
	r->event->precise = (uint8_t)precise;
	return PFMLIB_SUCCESS;
}

/* "counter=2", "plm=0x9", "precise=2": what every event takes in the colon and perf grammars. */
static int read_common_attr(struct attr_reader *r)
{
	static const struct {
		char word[8];
		uint64_t max;
	} words[] = { { "counter", 63 }, { "plm", 15 }, { "precise", 3 } };
	unsigned which = 0;
	uint64_t value;
	int rc;

	while (which < 3 && !is_word(r->attr.name, words[which].word))
		which++;
	if (which == 3 || is_libpmc_attr(r))
		return 0;
	if (!r->attr.has_value || r->attr.value.len == 0)
		return refuse_attr(r, PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, r->attr.name, NULL);
	if (!pfmi_base_parse_number(r->attr.value, &value) || value > words[which].max)
		return refuse_attr(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, r->attr.value, "a small number is expected");
	rc = which == 0 ? set_counter_pin(r, (unsigned)value) : which == 1 ? set_plm(r, (unsigned)value) : set_precise(r, (unsigned)value);
	return rc ? rc : 1;
}

/* Sets of letters, a bit for each. */
#define LETTER_BIT(C)         ((uint64_t)1 << ((C) - 'A'))
#define EXCLUSION_LETTERS     (LETTER_BIT('G') | LETTER_BIT('H') | LETTER_BIT('I'))
#define LEVEL_LETTERS         (LETTER_BIT('u') | LETTER_BIT('k') | LETTER_BIT('h'))
#define MODIFIER_LETTERS      (LEVEL_LETTERS | EXCLUSION_LETTERS | LETTER_BIT('p') | LETTER_BIT('P') | LETTER_BIT('D') | LETTER_BIT('S') | LETTER_BIT('W'))
#define PERF_MODIFIER_LETTERS (MODIFIER_LETTERS | LETTER_BIT('e') | LETTER_BIT('b')) /* those below, and two that are refused */

static inline bool is_letter_in_set(uint64_t letters, char c)
{
	return c >= 'A' && c <= 'z' && letters >> (c - 'A') & 1;
}

/* perf's letters behind the last slash: levels, precision and what else is left out. D, S and W belong to sessions. */
static int read_perf_modifiers(struct attr_reader *r, struct slice m)
{
	for (uint32_t i = 0; i < m.len; i++) {
		struct slice letter = { m.text + i, 1 };
		int rc = PFMLIB_SUCCESS;

		switch (m.text[i]) {
		case 'u': rc = set_levels(r, PFM_PLM3, true, letter); break;
		case 'k': rc = set_levels(r, PFM_PLM0, true, letter); break;
		case 'h': rc = set_levels(r, PFMI_PLMH, true, letter); break;
		case 'p':
			r->has_precise = true;
			if (++r->event->precise > 3)
				return refuse_attr(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, letter, "at most three: ppp");
			break;
		case 'P': r->event->precise = 3; break;
		case 'I': r->event->exclude_flags |= EVENT_EXCLUDE_IDLE; break;
		case 'G': r->event->exclude_flags |= EVENT_ONLY_GUEST; break;
		case 'H': r->event->exclude_flags |= EVENT_ONLY_HOST; break;
		case 'D':
		case 'S':
		case 'W': break;
		case 'e':
			return refuse_attr(r, PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, letter, "this library has no exclusive groups");
		case 'b':
			return refuse_attr(r, PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, letter, "this library does not count with BPF");
		default: return refuse_attr(r, PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, letter, NULL);
		}
		if (rc)
			return rc;
	}
	return PFMLIB_SUCCESS;
}

/* True if the attribute is the name of a unit mask of some row. */
static bool is_any_row_umask(const struct attr_reader *r)
{
	const struct table *t = r->event->table;

	for (unsigned i = 0; i < t->n_groups; i++)
		if (find_bare_word(t, table_group_at(t, i), r->attr.name))
			return true;
	return false;
}

/* "cycles:ukp": perf's letters behind a colon, when they are no unit mask. */
static bool is_modifier_run(const struct attr_reader *r, uint64_t letters)
{
	if (r->attr.separator != ':' || r->attr.has_value || r->attr.name.len == 0 || r->attr.name.len > 16)
		return false;
	for (uint32_t i = 0; i < r->attr.name.len; i++)
		if (!is_letter_in_set(letters, r->attr.name.text[i]))
			return false;
	return !is_any_row_umask(r) && !is_row_umask(r);
}

bool pfmi_lookup_is_umask_name(const struct table *t, struct slice name, uint32_t h, struct slice word)
{
	char text[256];
	struct slice both = { text, name.len + 1 + word.len };
	uint32_t at;

	h = table_hash_separator(h);
	for (uint32_t i = 0; i < word.len; i++)
		h = table_hash_char(h, (unsigned char)word.text[i]);
	at = table_probe_slot(t, h, table_first_slot(h, t->n_slots));
	if (!table_can_slot_match(t, h, at) || both.len > sizeof(text))
		return false;
	memcpy(text, name.text, name.len);
	text[name.len] = ':';
	memcpy(text + name.len + 1, word.text, word.len);
	return pfmi_table_find_name_from_slot(t, at, h, both.text, both.len).kind != NAME_NONE;
}

/* Is what the text has up to cut @i with the word just behind it no name? It was cut there too, and has its hash. */
static inline bool is_known_non_name(const struct attr_reader *r, unsigned i)
{
	const struct table *t = r->event->table;
	const struct name_prefix *next = &r->spec->prefixes[i + 1];

	return i + 1 < r->spec->n_prefixes && r->spec->name.text + next->len == r->attr.name.text + r->attr.name.len &&
	       next->len == next[-1].len + 1 + r->attr.name.len &&
	       !table_can_slot_match(t, next->hash, table_probe_slot(t, next->hash, table_first_slot(next->hash, t->n_slots)));
}

/* Is the word a unit mask that stands too late to be read as one: "EVENT:c=1:E", of which "EVENT:E" is a name? In libpfm 4 masks stand
 * anywhere; what a word of their letters would set here is something else. */
static bool is_umask_after_modifier(struct attr_reader *r)
{
	const struct spec *spec = r->spec;
	const struct slice word = r->attr.name;
	uint32_t whole = (uint32_t)(spec->attrs.text - spec->name.text);

	if (!is_libpfm_attr(r) || r->attr.has_value || (word.len == 1 && strchr("ukh", word.text[0])))
		return false;
	for (unsigned i = 0; i < spec->n_prefixes && spec->prefixes[i].len <= whole; i++)
		if ((spec->prefixes[i].len == whole || spec->name.text[spec->prefixes[i].len] == ':') && !is_known_non_name(r, i) &&
		    pfmi_lookup_is_umask_name(r->event->table, (struct slice){ spec->name.text, spec->prefixes[i].len }, spec->prefixes[i].hash, word))
			return (find_field(r) >= 0 || is_modifier_run(r, PERF_MODIFIER_LETTERS)) && !is_row_umask(r);
	return false;
}

/* Several of them, or one that would else be read without regard to case: "H" is no level. Where libpfm has the letter for a field
 * ("I" inverts on Intel), that stays; raw numbers are perf's. */
static bool is_perf_modifier(struct attr_reader *r)
{
	if (r->attr.name.len > 1)
		return is_modifier_run(r, MODIFIER_LETTERS);
	return is_modifier_run(r, EXCLUSION_LETTERS) && (r->spec->form == SPEC_RAW || find_field(r) < 0);
}

static int read_attribute(struct attr_reader *r)
{
	int rc, field;

	if (r->attr.name.len == 0)
		return refuse_attr(r, r->attr.has_value ? PFMLIB_ERR_ATTR : PFMLIB_ERR_ATTR_EMPTY,
		                   r->attr.has_value ? PFM_KIND_UNKNOWN_QUALIFIER : PFM_KIND_EMPTY_QUALIFIER, r->attr.name, NULL);
	if (is_libpfm_attr(r) && r->event->has_raw_umask && is_row_umask(r))
		return refuse_attr(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name,
		                   "a raw unit mask cannot stand beside named ones");
	rc = read_level_attr(r);
	if (rc == 0)
		rc = read_umask(r);
	if (rc == 0)
		rc = read_group_attr(r);
	if (rc)
		return rc < 0 ? rc : PFMLIB_SUCCESS;
	field = find_field(r);
	if (field >= 0)
		return read_field_attr(r, (unsigned)field);
	rc = read_thread_filter(r);
	if (rc == 0)
		rc = read_band_threshold(r);
	if (rc == 0)
		rc = read_raw_umask(r);
	if (rc == 0)
		rc = read_common_attr(r);
	if (rc == 0 && is_modifier_run(r, PERF_MODIFIER_LETTERS))
		return read_perf_modifiers(r, r->attr.name);
	if (rc == 0)
		rc = refuse_attr(r, PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, r->attr.name, NULL);
	return rc < 0 ? rc : PFMLIB_SUCCESS;
}

/* Fields that are given as a whole, and by no mask: nobody wants a default in them. */
static void clear_overridden_defaults(struct event *ev)
{
	unsigned n = ev->n_user_fields ? ev->row->n_groups : 0, left = 0;

	for (unsigned i = 0; i < n; i++) {
		const unsigned field = table_row_group_at(ev->table, ev->row, i)->field;
		bool alone = pfmi_pmu_event_user_value(ev, field) != NULL;

		for (unsigned k = 0; alone && k < n; k++)
			alone = !(ev->chosen_groups >> k & 1) || table_row_group_at(ev->table, ev->row, k)->field != field;
		left |= (unsigned)alone << i;
	}
	for (unsigned i = 0; i < n; i++)
		if (left >> i & 1)
			ev->group_values[i] = 0;
	ev->chosen_groups |= (uint16_t)left;
}

static int check_group_values(struct attr_reader *r)
{
	const struct table *t = r->event->table;
	struct slice end = { r->spec->text + r->spec->len, 0 };

	if (r->event->row_index == ROW_NONE)
		return PFMLIB_SUCCESS;
	clear_overridden_defaults(r->event);
	for (unsigned i = 0; i < table_row(t, r->event->row_index)->n_groups; i++) {
		const struct umask_group *g = pfmi_pmu_row_group(t, r->event->row_index, i);

		if (r->event->chosen_groups >> i & 1)
			continue;
		if (i && g->flags & GROUP_DEFAULT_YIELDS && r->event->group_values[i - 1] == pfmi_pmu_row_group(t, r->event->row_index, i - 1)->default_value)
			r->event->group_values[i] = 0;
		if (g->flags & GROUP_REQUIRED)
			return refuse_attr(r, PFMLIB_ERR_UMASK, PFM_KIND_MISSING_UMASK, end, table_text(t, g->name));
		if (g->flags & GROUP_EXPLICIT_IN_LIBPFM && r->has_bare_masks && r->spec->pmu_name.len == 0)
			return refuse_attr(r, PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, (struct slice){ r->spec->text, r->spec->len },
			                   "libpfm 3 and 4 differ in what this leaves out: name every mask, or write the processor "
			                   "and '::' before it for libpfm 4's default");
	}
	return PFMLIB_SUCCESS;
}

/* What stands behind the name, where that is one word and too long for a level; else nothing. */
static inline struct slice get_single_attr(const struct spec *spec)
{
	uint32_t whole = (uint32_t)(spec->attrs.text - spec->name.text), n = spec->n_prefixes;
	bool one = n > 1 && n < SPEC_MAX_PREFIXES && spec->prefixes[n - 2].len == whole && spec->attrs.len == spec->name.len - whole;

	return one && spec->attrs.len > MAX_LEVEL_LENGTH + 1 ? (struct slice){ spec->attrs.text + 1, spec->attrs.len - 1 } : (struct slice){ NULL, 0 };
}

bool pfmi_lookup_resolve_umask(const struct spec *spec, struct event *ev)
{
	struct slice word = get_single_attr(spec);
	struct prefix_key key = table_make_prefix_key(word);
	uint64_t group[EVENT_MAX_GROUPS];
	unsigned given = 0, n = ev->row->n_groups;
	bool was_preset = false;

	if (spec->modifiers.len || (spec->attrs.len && !word.len))
		return false;
	for (unsigned i = 0; i < n; i++) {
		const struct umask_group *g = table_row_group_at(ev->table, ev->row, i);
		const struct named_value *w = word.len && !given ? table_find_named_value_by_key(ev->table, g->first_named_value, g->n_named_values, word, key) : NULL;

		w = filter_bare_word(ev->table, g, word, w);
		if (!w && g->flags & (GROUP_REQUIRED | GROUP_EXPLICIT_IN_LIBPFM))
			return false;
		group[i] = g->flags & GROUP_HAS_DEFAULT && !(g->flags & GROUP_DEFAULT_YIELDS && was_preset) ? g->default_value : 0;
		if (w) {
			group[i] = w->value;
			given = 1u << i;
		}
		was_preset = group[i] == g->default_value;
	}
	if (word.len && !given)
		return false;
	ev->chosen_groups = (uint16_t)given;
	memcpy(ev->group_values, group, n * sizeof(group[0]));
	return true;
}

static int read_all_attributes(const struct table *t, uint32_t row, const struct spec *spec, struct event *out, pfm_error_t *why)
{
	struct attr_reader r = { .spec = spec, .event = out, .error = why };
	struct slice rest = spec->attrs;
	int rc;

	while (pfmi_spec_next_attr(&rest, &r.attr)) {
		r.field = FIELD_NOT_SEARCHED;
		if (is_umask_after_modifier(&r))
			rc = refuse_attr(&r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r.attr.name,
			                 "a unit mask of the event, too: masks stand before modifiers, and modifiers of their names have \"=1\"");
		else
			rc = is_perf_modifier(&r) ? read_perf_modifiers(&r, r.attr.name) : read_attribute(&r);
		if (rc)
			return rc;
	}
	rc = read_perf_modifiers(&r, spec->modifiers);
	if (!rc)
		rc = check_group_values(&r);
	if (rc)
		return rc;
	if (r.has_level && !out->plm)
		out->has_no_levels = 1;
	if ((out->exclude_flags & (EVENT_ONLY_HOST | EVENT_ONLY_GUEST)) == (EVENT_ONLY_HOST | EVENT_ONLY_GUEST))
		out->exclude_flags &= EVENT_EXCLUDE_IDLE; /* both are counted */
	if (out->precise && row != ROW_NONE && table_key_field_plus1(t, KEY_PRECISE) && !pfmi_table_row_value(t, row, KEY_PRECISE, ANY_COUNTER))
		return refuse_attr(&r, PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED,
		                   spec->modifiers.len ? spec->modifiers : spec->attrs, "the event has no precise form");
	if (r.has_precise && !out->precise && pfmi_pmu_requires_precision(out))
		return refuse_attr(&r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, spec->attrs,
		                   "the event counts only with precise sampling: precise is at least 1");
	return PFMLIB_SUCCESS;
}

/* The check knows no text: what wants a field that is not there is the event. */
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
	return pfmi_base_set_error(why, PFMLIB_ERR_ALIAS, PFM_KIND_UNSUPPORTED_ALIAS, text, at,
	                           "a metric, computed from events; \"pfm stat -M\" and \"pfm metric\" take it");
}

int pfmi_lookup_resolve_attrs(const struct table *t, uint32_t row, const struct spec *spec, struct event *out, pfm_error_t *why)
{
	int rc;

	pfmi_pmu_init_event(out, t, row);
	if (event_has_flag(out, ROW_METRIC))
		return pfmi_lookup_refuse_metric(spec->text, spec->name, why);
	/* A bare name of a row without groups has nothing to be read. */
	if (spec->attrs.len || spec->modifiers.len || !out->row || out->row->n_groups) {
		rc = out->row && pfmi_lookup_resolve_umask(spec, out) ? PFMLIB_SUCCESS : read_all_attributes(t, row, spec, out, why);
		if (rc)
			return rc;
	}
	rc = pfmi_pmu_check_event(out, why);
	return rc ? set_event_error_range(spec, rc, why) : PFMLIB_SUCCESS;
}
