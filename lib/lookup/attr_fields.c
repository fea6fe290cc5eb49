/* SPDX-License-Identifier: MIT */
/* Attributes that set a field of the table: modifiers, and in perf's grammar every field with
 * bits. */
#include "lookup/attr_internal.h"

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

/* libpfm's short names of uncore fields in the kernel's format. */
static const struct {
	char word[6], field[16];
} box_abbreviations[] = {
	{ "t", "thresh" },           { "nf", "filter_nid" },      { "isoc", "filter_isoc" },
	{ "nc", "filter_nc" },       { "loc", "filter_loc" },     { "rem", "filter_rem" },
	{ "lmem", "filter_nm" },     { "rmem", "filter_not_nm" }, { "occ_i", "occ_invert" },
	{ "occ_e", "occ_edge_det" },
};

/* The number of the modifier called @name, or -1. */
static int find_modifier(const struct table *t, const char *name)
{
	for (unsigned i = 0; i < t->n_fields; i++)
		if (table_fields(t)[i].is_modifier &&
		    strcmp(table_get_text(t, table_fields(t)[i].name), name) == 0)
			return (int)i;
	return -1;
}

/* The field that a short name of boxes represents, or -1. */
static int find_box_modifier(const struct table *t, struct slice word)
{
	for (unsigned i = 0; t->flags & TABLE_UNCORE &&
	                     i < sizeof(box_abbreviations) / sizeof(box_abbreviations[0]);
	     i++)
		if (attr_is_word(word, box_abbreviations[i].word))
			return find_modifier(t, box_abbreviations[i].field);
	return -1;
}

bool pfmi_lookup_is_modifier(const struct table *t, struct slice word)
{
	if (pfmi_attr_is_level(word))
		return true;
	for (unsigned i = 0; i < sizeof(field_abbreviations) / sizeof(field_abbreviations[0]); i++)
		if (attr_is_word(word, field_abbreviations[i].word))
			return true;
	for (unsigned i = 0; i < t->n_fields; i++)
		if (table_fields(t)[i].is_modifier &&
		    attr_is_word(word, table_get_text(t, table_fields(t)[i].name)))
			return true;
	return find_box_modifier(t, word) >= 0;
}

/* The modifier that one of libpfm's short names represents, or -1. libpmc has no short names. */
static int find_short_field(const struct attr_reader *r)
{
	const struct table *t = r->event->table;

	if (attr_is_libpmc(r))
		return -1;
	for (unsigned i = 0; i < sizeof(field_abbreviations) / sizeof(field_abbreviations[0]);
	     i++) {
		unsigned at;

		if (!attr_is_word(r->attr.name, field_abbreviations[i].word))
			continue;
		at = table_get_key_field_plus1(t, field_abbreviations[i].key);
		return at && table_fields(t)[at - 1].is_modifier ? (int)at - 1 : -1;
	}
	return -1;
}

static bool is_event_term(struct slice name)
{
	return name.len == 5 && (memcmp(name.text, "event", 5) == 0 || attr_is_word(name, "event"));
}

int pfmi_attr_find_exact_field(const struct attr_reader *r)
{
	const struct table *t = r->event->table;
	const struct field *f = table_fields(t);

	for (unsigned i = 0; i < t->n_fields; i++)
		if ((f[i].is_modifier || (r->spec->form == SPEC_PERF && f[i].n_ranges)) &&
		    f[i].kind != FIELD_TEXT && table_is_text_icase(t, r->attr.name, f[i].name))
			return (int)i;
	return -1;
}

int pfmi_attr_search_field(const struct attr_reader *r)
{
	const struct table *t = r->event->table;
	int field = -1;

	/* The kernel's format files call the code "event". */
	if (r->spec->form == SPEC_PERF && table_get_key_field_plus1(t, KEY_CODE) &&
	    is_event_term(r->attr.name))
		return (int)table_get_key_field_plus1(t, KEY_CODE) - 1;
	/* Most short names are libpfm's, which costs no search; but a kernel's PMU may have fields
	 * "edge" and "e". */
	if (!(t->flags & TABLE_FROM_KERNEL))
		field = find_short_field(r);
	if (field < 0)
		field = pfmi_attr_find_exact_field(r);
	if (field < 0 && t->flags & TABLE_FROM_KERNEL)
		field = find_short_field(r);
	return field >= 0 || attr_is_libpmc(r) ? field : find_box_modifier(t, r->attr.name);
}

/* Do the fields share bits ("config" and "event")? */
static bool has_common_bits(const struct field *a, const struct field *b)
{
	for (unsigned i = 0; i < a->n_ranges; i++)
		for (unsigned k = 0; k < b->n_ranges; k++)
			if (a->ranges[i].config_word == b->ranges[k].config_word &&
			    a->ranges[i].lsb < b->ranges[k].lsb + b->ranges[k].width &&
			    b->ranges[k].lsb < a->ranges[i].lsb + a->ranges[i].width)
				return true;
	return false;
}

/* Sets a field of the event. The same value twice is accepted, another value is refused. */
static int set_user_field(struct attr_reader *r, unsigned field, uint64_t value)
{
	struct event *ev = r->event;
	unsigned i;

	for (i = 0; i < ev->n_user_fields; i++)
		if (ev->user_fields[i].field == field) {
			if (ev->user_fields[i].value == value)
				return PFMLIB_SUCCESS;
			return attr_refuse(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name,
			                   "contradicts an earlier value");
		} else if (has_common_bits(&table_fields(ev->table)[field],
		                           &table_fields(ev->table)[ev->user_fields[i].field])) {
			return attr_refuse(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name,
			                   "it sets the same bits as an earlier qualifier");
		}
	if (!pfmi_pmu_set_user_field(ev, field, value))
		return attr_refuse(r, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, r->attr.name,
		                   "too many attributes");
	ev->user_fields[i].start = (uint32_t)(r->attr.name.text - r->spec->text);
	ev->user_fields[i].end = ev->user_fields[i].start + r->attr.name.len;
	return PFMLIB_SUCCESS;
}

static bool find_field_word(const struct table *t, const struct field *f, struct slice s,
                            uint64_t *out)
{
	const struct named_value *w = table_named_values(t) + f->first_named_value;

	for (unsigned i = 0; i < f->n_named_values; i++)
		if (attr_is_word(s, table_get_text(t, w[i].name))) {
			*out = w[i].value;
			return true;
		}
	return false;
}

int pfmi_attr_read_field(struct attr_reader *r, unsigned field)
{
	const struct field *f = table_fields(r->event->table) + field;
	uint64_t value = 0;

	if (f->width == 1) {
		bool on;
		int rc = pfmi_attr_parse_bool(r, &on);

		return rc ? rc : set_user_field(r, field, on);
	}
	if (!r->attr.has_value && r->spec->form == SPEC_PERF && f->kind == FIELD_NUMBER)
		value = 1; /* perf: a term without a value is 1 */
	else if (!r->attr.has_value || r->attr.value.len == 0)
		return attr_refuse(r, PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, r->attr.name,
		                   NULL);
	else if (!(r->spec->form == SPEC_PERF ? pfmi_base_parse_perf_number
	                                      : pfmi_base_parse_number)(r->attr.value, &value) &&
	         (f->kind == FIELD_NUMBER ||
	          !find_field_word(r->event->table, f, r->attr.value, &value)))
		return attr_refuse(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, r->attr.value,
		                   "expected a number");
	if (value < f->min || value > f->max) {
		int rc = attr_refuse(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, r->attr.value,
		                     "out of range: at most");

		if (r->error)
			r->error->number = f->max;
		return rc;
	}
	return set_user_field(r, field, value);
}

/* Reads the value of an attribute that is a part of a field; refused above @max. */
static int read_field_part(struct attr_reader *r, uint64_t max, uint64_t *value)
{
	if (!r->attr.has_value || r->attr.value.len == 0)
		return attr_refuse(r, PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE, r->attr.name,
		                   NULL);
	if (!pfmi_base_parse_number(r->attr.value, value) || *value > max)
		return attr_refuse(r, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, r->attr.value,
		                   "expected a small number");
	return PFMLIB_SUCCESS;
}

/* "cf=3", "tf=1": a core and its thread, two parts of one filter of a box. */
int pfmi_attr_read_thread_filter(struct attr_reader *r)
{
	const struct table *t = r->event->table;
	bool core = attr_is_word(r->attr.name, "cf");
	int tid = core || attr_is_word(r->attr.name, "tf") ? find_modifier(t, "filter_tid") : -1,
	    enable = find_modifier(t, "tid_en");
	uint64_t value = 0;
	unsigned i = 0;
	int rc;

	if (tid < 0 || enable < 0)
		return 0;
	rc = read_field_part(r, core ? table_fields(t)[tid].max >> 1 : 1, &value);
	while (i < r->event->n_user_fields && r->event->user_fields[i].field != tid)
		i++;
	/* If the other part alone set the field, this part is added; otherwise both were given. */
	if (rc == PFMLIB_SUCCESS && i < r->event->n_user_fields && r->thread_parts == 2u - core)
		r->event->user_fields[i].value |= value << core;
	else if (rc == PFMLIB_SUCCESS && i < r->event->n_user_fields &&
	         (core ? r->event->user_fields[i].value >> 1
	               : r->event->user_fields[i].value & 1) != value)
		rc = attr_refuse(r, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, r->attr.name,
		                 "contradicts an earlier value");
	else if (rc == PFMLIB_SUCCESS && i == r->event->n_user_fields)
		rc = set_user_field(r, (unsigned)tid, value << core);
	r->thread_parts |= 1u << core;
	if (rc == PFMLIB_SUCCESS)
		rc = set_user_field(r, (unsigned)enable, 1);
	return rc ? rc : 1;
}

/* "ff=16": the threshold of the frequency band that the event counts. */
int pfmi_attr_read_band_threshold(struct attr_reader *r)
{
	char name[] = "filter_band0";
	uint64_t band, value = 0;
	int field, rc;

	if (!attr_is_word(r->attr.name, "ff") || r->event->row_index == ROW_NONE)
		return 0;
	band = pfmi_table_get_row_value(r->event->table, r->event->row_index, KEY_CODE,
	                                ANY_COUNTER) -
	       0xb;
	name[sizeof(name) - 2] = (char)('0' + (band < 4 ? band : 9));
	field = find_modifier(r->event->table, name);
	if (field < 0)
		return 0;
	rc = read_field_part(r, 0xff, &value);
	if (rc == PFMLIB_SUCCESS)
		rc = set_user_field(r, (unsigned)field, value);
	return rc ? rc : 1;
}
