/* SPDX-License-Identifier: MIT */
/* Verification of tables from files: each reference of a table leads to an object of the right kind
 * inside the table. Look-up then needs no checks. */
#include <string.h>
#include <perfmon/event.h>
#include "table/table.h"

/* A table that is being verified, and the first fault found. */
struct table_verifier {
	const struct table *table;
	uint64_t work_left; /* elements that may still be checked; a crafted image could make all
	                       tables share all rows */
	const char *fault;
};

static bool set_fault(struct table_verifier *c, const char *why)
{
	if (!c->fault)
		c->fault = why;
	return false;
}

/* Checks that @n elements at @at are after the table's head and before its end. */
static bool check_array(struct table_verifier *c, uint32_t at, uint64_t n, size_t size,
                        size_t align, const char *why)
{
	if (at % align || at < sizeof(struct table) || at > c->table->size ||
	    n > (c->table->size - at) / size)
		return set_fault(c, why);
	return true;
}

/* Checks where an array begins that other tables share. */
static bool check_array_start(struct table_verifier *c, uint32_t at, size_t align, const char *why)
{
	return check_array(c, at, 0, 1, align, why);
}

/* Checks that element @i of a shared array is before the table's end. */
static bool check_element(struct table_verifier *c, uint32_t at, uint64_t i, size_t size,
                          const char *why)
{
	return i < (c->table->size - at) / size || set_fault(c, why);
}

/* Checks that a string starts before the zeros that end the pool: it then ends in the pool, and
 * eight bytes can be read at any of its characters. */
static bool check_text(struct table_verifier *c, uint64_t off)
{
	return off <= c->table->n_pool - POOL_PAD || set_fault(c, "a string is outside the pool");
}

static bool spend_work(struct table_verifier *c, uint64_t n)
{
	if (n > c->work_left)
		return set_fault(c, "its tables share more parts than is plausible");
	c->work_left -= n;
	return true;
}

static bool check_pool_bounds(struct table_verifier *c)
{
	const struct table *t = c->table;

	if (t->n_pool < POOL_PAD ||
	    !check_array(c, t->pool, t->n_pool, 1, 1, "the string pool is outside the table"))
		return set_fault(c, "the string pool is outside the table");
	for (uint32_t i = 1; i <= POOL_PAD; i++)
		if (table_get_text(t, t->n_pool - i)[0] != '\0' || table_get_text(t, 0)[0] != '\0')
			return set_fault(c, "the string pool is not terminated");
	return true;
}

/* Checks the bounds of the table's own arrays, and where its shared arrays begin. */
static bool check_arrays(struct table_verifier *c)
{
	const struct table *t = c->table;

	return check_array(c, t->keys, 64, 1, 1, "keys out of bounds") &&
	       check_array(c, t->counters, t->n_counters, sizeof(struct counter_range), 4,
	                   "counters out of bounds") &&
	       check_array(c, t->fields, t->n_fields, sizeof(struct field), 8,
	                   "fields out of bounds") &&
	       check_array(c, t->group_numbers, t->n_groups, sizeof(uint32_t), 4,
	                   "unit mask groups out of bounds") &&
	       check_array(c, t->matches, t->n_matches, sizeof(struct host_match), 8,
	                   "matches out of bounds") &&
	       check_array(c, t->features, t->n_features, sizeof(struct feature), 8,
	                   "features out of bounds") &&
	       check_array(c, t->rules, t->n_rules, sizeof(struct rule), 8,
	                   "rules out of bounds") &&
	       check_array_start(c, t->rule_tests, 8, "tests of rules out of bounds") &&
	       check_array(c, t->errata, t->n_errata, sizeof(struct erratum), 4,
	                   "errata out of bounds") &&
	       check_array_start(c, t->erratum_rows, 2, "rows of errata out of bounds") &&
	       check_array(c, t->row_numbers, (uint64_t)t->n_rows + t->n_alias_rows,
	                   sizeof(uint32_t), 4, "rows out of bounds") &&
	       check_array(c, t->names, t->n_names, sizeof(struct stored_name), 4,
	                   "names out of bounds") &&
	       check_array(c, t->slots, t->n_slots, sizeof(uint32_t), 4, "index out of bounds") &&
	       check_array(c, t->code_index, t->n_code_index, sizeof(uint16_t), 2,
	                   "index of codes out of bounds") &&
	       check_array_start(c, t->counter_masks, 8, "sets of counters out of bounds") &&
	       check_array_start(c, t->named_values, 8, "named values out of bounds") &&
	       check_array_start(c, t->groups, 8, "unit mask groups out of bounds") &&
	       check_array_start(c, t->rows, 4, "rows out of bounds") &&
	       check_array_start(c, t->values, 4, "values out of bounds") &&
	       check_array_start(c, t->wide_values, 8, "values out of bounds") &&
	       check_array_start(c, t->row_groups, 4, "group numbers out of bounds");
}

static bool check_head(struct table_verifier *c, size_t size)
{
	const struct table *t = c->table;

	if (t->magic != TABLE_MAGIC)
		return set_fault(c, "not an event table");
	if (t->size < sizeof(*t) || t->size > size || t->size % 8)
		return set_fault(c, "the table is longer than its file");
	if (t->encoder == ENCODER_NONE || t->encoder >= N_ENCODERS)
		return set_fault(c, "the register layout is unknown to this version");
	if (t->n_rules > TABLE_MAX_RULES || t->n_fields > TABLE_MAX_FIELDS ||
	    t->n_rows > TABLE_MAX_NAMES || t->n_alias_rows > TABLE_MAX_NAMES ||
	    t->n_names > TABLE_MAX_NAMES - t->n_rows)
		return set_fault(c, "the table has more fields or names than fit");
	if (t->n_slots < 2)
		return set_fault(c, "the index has a wrong size");
	if (t->flags & ~(uint32_t)TABLE_FLAGS)
		return set_fault(c, "the table has flags that are unknown to this version");
	if (!check_pool_bounds(c) || !check_arrays(c) ||
	    !spend_work(c, (uint64_t)t->n_rows + t->n_alias_rows + t->n_slots + t->n_code_index +
	                           t->n_names + t->n_matches))
		return false;
	for (unsigned i = 0; i < 64; i++)
		if (table_keys(t)[i] > t->n_fields)
			return set_fault(c, "a field number is out of range");
	return check_text(c, t->name) && check_text(c, t->desc) && check_text(c, t->source) &&
	       check_text(c, t->aliases) && check_text(c, t->vendor_unit) &&
	       check_text(c, t->device) && check_text(c, t->family_name);
}

/* Checks that each key leads to the field with that key, and to a text field where C code expects
 * one. */
static bool check_keys(struct table_verifier *c)
{
	const struct field *f = table_fields(c->table);

	for (unsigned key = 1; key < 64; key++) {
		unsigned at = table_keys(c->table)[key];

		if (!at)
			continue;
		if (f[at - 1].key != key ||
		    (f[at - 1].kind == FIELD_TEXT) != table_is_text_key(key))
			return set_fault(c, "a field does not have the type of its key");
	}
	return true;
}

/* Flags of rows that need nothing from an encoder. */
#define COMMON_ROW_FLAGS                                                                           \
	(ROW_HIDDEN | ROW_DEPRECATED | ROW_PER_PKG | ROW_EXPERIMENTAL | ROW_ARCH | ROW_SHADOWED |  \
	 ROW_METRIC | ROW_SNAPSHOT | ROW_WITHOUT_RULE)

/* The flags and limits that each encoder obeys. Encoders read tables without further checks. The
 * compiler refuses the same tables, see ENCODER_ROW_FLAGS and SHAPES in
 * compiler/language/tables.py. */
static const struct encoder_description {
	uint16_t row_flags; /* flags of rows beside the common ones */
	/* Encoders of one processor family: its numbers in libpfm 3, and exactly its counters. */
	uint8_t first_type, last_type;
	uint16_t counters;
} encoder_descriptions[N_ENCODERS] = {
	[ENCODER_FORMAT] = { ROW_EXCLUSIVE | ROW_FREE_RUNNING, 0, 0, 0 },
	[ENCODER_X86] = { ROW_EXCLUSIVE, 0, 0, 0 },
	[ENCODER_MONTECITO] = { 0, 4, 4, 0xfff0 },
	[ENCODER_EV4] = { 0, 150, 150, 0x3 },
	[ENCODER_EV5] = { 0, 151, 152, 0x7 },
	[ENCODER_EV6] = { 0, 153, 153, 0x3 },
	[ENCODER_EV67] = { 0, 154, 154, 0x3 },
};

static bool check_encoder_row(struct table_verifier *c, const struct row *r)
{
	const struct table *t = c->table;
	const struct encoder_description *d = &encoder_descriptions[t->encoder];

	if (r->flags & ~(COMMON_ROW_FLAGS | d->row_flags))
		return set_fault(c, "a row has a flag that its register layout does not support");
	if (d->counters && table_get_row_counter_mask(t, r) & ~t->all_counters)
		return set_fault(c, "a row counts on a counter that does not exist");
	return true;
}

static bool check_encoder(struct table_verifier *c)
{
	const struct table *t = c->table;
	const struct encoder_description *d = &encoder_descriptions[t->encoder];

	if (d->counters && (t->libpfm_type < d->first_type || t->libpfm_type > d->last_type ||
	                    t->all_counters != d->counters))
		return set_fault(c, "the register layout does not support this processor");
	for (uint32_t row = 0; table_has_row(t, row); row++)
		if (!check_encoder_row(c, table_get_row(t, row)))
			return false;
	return true;
}

/* Checks @n named values from number @first on. */
static bool check_named_values(struct table_verifier *c, uint32_t first, uint32_t n,
                               const char *why)
{
	const struct table *t = c->table;

	if (!spend_work(c, n) || (n && !check_element(c, t->named_values, (uint64_t)first + n - 1,
	                                              sizeof(struct named_value), why)))
		return set_fault(c, why);
	for (uint32_t i = 0; i < n; i++)
		if (!check_text(c, table_named_values(t)[first + i].name) ||
		    !check_text(c, table_named_values(t)[first + i].desc))
			return false;
	return true;
}

static bool check_field(struct table_verifier *c, const struct field *f)
{
	unsigned bits = 0;

	if (!check_text(c, f->name) || f->kind > FIELD_TEXT || f->width < 1 || f->width > 64 ||
	    f->n_ranges > 4 || f->key >= N_KEYS || f->is_modifier > 1 ||
	    !check_named_values(c, f->first_named_value, f->n_named_values,
	                        "a field's named values are out of bounds"))
		return set_fault(c, "a field is malformed");
	/* Values of rows are read by the key of their field, also if that key leads to another
	 * field. */
	if (f->key != KEY_NONE && (f->kind == FIELD_TEXT) != table_is_text_key(f->key))
		return set_fault(c, "a field does not have the type of its key");
	for (unsigned i = 0; i < f->n_ranges; i++) {
		const struct bitrange *r = &f->ranges[i];

		if (r->config_word >= N_CONFIG_WORDS || r->width < 1 || r->width > 64 ||
		    r->lsb + r->width > 64)
			return set_fault(c, "a field's bits are out of range");
		bits += r->width;
	}
	return !f->n_ranges || f->kind == FIELD_TEXT || bits >= f->width ||
	       set_fault(c, "a field is wider than its bits");
}

/* Checks unit mask group @number as a group of this table. */
static bool check_group(struct table_verifier *c, uint32_t number)
{
	const struct umask_group *g = table_groups(c->table) + number;

	if (!check_element(c, c->table->groups, number, sizeof(*g),
	                   "a row has a unit mask group that does not exist"))
		return false;
	if (!check_text(c, g->name) || g->field >= c->table->n_fields ||
	    g->flags & ~(uint32_t)GROUP_FLAGS || g->n_values > g->n_named_values ||
	    !check_named_values(c, g->first_named_value, g->n_named_values,
	                        "a group's named values are out of bounds"))
		return set_fault(c, "a group is malformed");
	return true;
}

static bool check_value(struct table_verifier *c, uint32_t packed)
{
	const struct table *t = c->table;
	const struct field *f = table_fields(t) + (packed >> 24);
	struct field_value v;

	if (packed >> 24 >= t->n_fields)
		return set_fault(c, "a value belongs to no field");
	if (packed & VALUE_IS_WIDE &&
	    !check_element(c, t->wide_values, packed & (VALUE_IS_WIDE - 1),
	                   sizeof(struct wide_value), "a value is out of bounds"))
		return false;
	v = table_unpack_value(t, packed);
	if (v.counter != ANY_COUNTER && v.counter > 63)
		return set_fault(c, "a value belongs to no counter");
	if (f->kind == FIELD_TEXT)
		return check_text(c, v.value);
	return f->width == 64 || v.value >> f->width == 0 ||
	       set_fault(c, "a value is wider than its field");
}

/* Checks that no two values of a row set one bit, unless later values replace earlier ones. */
static bool check_value_overlap(struct table_verifier *c, const struct row *r)
{
	uint64_t taken[N_CONFIG_WORDS] = { 0 };

	for (unsigned i = 0; i < r->n_values && !(c->table->flags & TABLE_VALUES_OVERRIDE); i++) {
		struct field_value v = table_get_row_value(c->table, r, i);
		const struct field *f = table_fields(c->table) + v.field;

		for (unsigned k = 0; v.counter == ANY_COUNTER && k < f->n_ranges; k++) {
			uint64_t bits = ~(uint64_t)0 >> (64 - f->ranges[k].width)
			                                        << f->ranges[k].lsb;

			if (taken[f->ranges[k].config_word] & bits)
				return set_fault(c, "a row has two values for one bit");
			taken[f->ranges[k].config_word] |= bits;
		}
	}
	return true;
}

static bool check_row(struct table_verifier *c, uint32_t number)
{
	const struct table *t = c->table;
	const struct row *r = table_rows(t) + number;

	if (!check_element(c, t->rows, number, sizeof(*r), "a row is out of bounds"))
		return false;
	if (!check_text(c, r->name) || !check_text(c, r->desc) || r->n_groups > 8 ||
	    !spend_work(c, 1u + r->n_values) ||
	    !check_element(c, t->counter_masks, r->counter_mask_index, sizeof(uint64_t),
	                   "a row's counters are out of bounds") ||
	    (r->n_values && !check_element(c, t->values, (uint64_t)r->first_value + r->n_values - 1,
	                                   sizeof(uint32_t), "a row's values are out of bounds")) ||
	    (r->n_groups &&
	     !check_element(c, t->row_groups, (uint64_t)r->first_group + r->n_groups - 1,
	                    sizeof(uint32_t), "a row's groups are out of bounds")))
		return set_fault(c, "a row is malformed");
	for (unsigned i = 0; i < r->n_values; i++)
		if (!check_value(c, table_values(t)[r->first_value + i]))
			return false;
	for (unsigned i = 0; i < r->n_groups; i++)
		if (!check_group(c, table_row_groups(t)[r->first_group + i]))
			return false;
	return check_value_overlap(c, r);
}

/* Checks @n tests and parts from number @first on; @n_tests of them are tests. */
static bool check_rule_tests(struct table_verifier *c, uint32_t first, unsigned n_tests, unsigned n)
{
	const struct rule_test *test = table_rule_tests(c->table) + first;

	if (n && !check_element(c, c->table->rule_tests, (uint64_t)first + n - 1, sizeof(*test),
	                        "the tests of a rule are out of bounds"))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (test[i].word >= N_RULE_WORDS)
			return set_fault(c, "a rule tests a word that does not exist");
	return !n_tests || !test[n_tests - 1].joins_next ||
	       set_fault(c, "the tests of a rule do not end");
}

static bool check_rule(struct table_verifier *c, const struct rule *r)
{
	if (!spend_work(c, 1u + r->n_tests + r->n_parts) || !check_text(c, r->name) ||
	    !check_text(c, r->text) || !check_text(c, r->source) ||
	    !check_rule_tests(c, r->first_test, r->n_tests, r->n_tests + (unsigned)r->n_parts))
		return false;
	if (r->effect >= N_RULE_EFFECTS ||
	    (r->effect == RULE_NEEDS &&
	     (r->number >= c->table->n_rules || r->need_place >= N_NEED_PLACES)) ||
	    (r->effect == RULE_SHARE && r->number > r->n_parts) ||
	    (r->effect == RULE_MOVE && (r->number >= c->table->n_rules || r->n_parts != 1)))
		return set_fault(c, "a rule is malformed");
	return true;
}

/* Checks the rows of an erratum: look-up searches them by halves. */
static bool check_erratum_rows(struct table_verifier *c, const struct erratum *e)
{
	const uint16_t *rows = table_erratum_rows(c->table) + e->first_row;

	if (e->n_rows &&
	    !check_element(c, c->table->erratum_rows, (uint64_t)e->first_row + e->n_rows - 1,
	                   sizeof(*rows), "the rows of an erratum are out of bounds"))
		return false;
	for (unsigned i = 0; i < e->n_rows; i++)
		if (rows[i] >= c->table->n_rows || (i && rows[i] <= rows[i - 1]))
			return set_fault(c, "an erratum is about a row that does not exist");
	return true;
}

static bool check_match(struct table_verifier *c, const struct host_match *m)
{
	if (!check_text(c, m->arch) || !check_text(c, m->vendor) || !check_text(c, m->id_prefix))
		return false;
	return !(m->flags & ~(uint32_t)MATCH_FLAGS) ||
	       set_fault(c, "a match has flags that are unknown to this version");
}

static bool check_erratum_matches(struct table_verifier *c, const struct erratum *e)
{
	const struct host_match *m = table_matches(c->table) + e->first_match;

	if (e->n_matches &&
	    !check_element(c, c->table->matches, (uint64_t)e->first_match + e->n_matches - 1,
	                   sizeof(*m), "the machines of an erratum are out of bounds"))
		return false;
	for (unsigned i = 0; i < e->n_matches; i++)
		if (!check_match(c, &m[i]))
			return false;
	return true;
}

static bool check_erratum(struct table_verifier *c, const struct erratum *e)
{
	if (!spend_work(c, 1u + e->n_rows + e->n_tests + e->n_matches) || !check_text(c, e->ids) ||
	    !check_text(c, e->effect) || !check_text(c, e->workaround) ||
	    !check_text(c, e->kernel) || !check_text(c, e->machines) || !check_text(c, e->source) ||
	    !check_rule_tests(c, e->first_test, e->n_tests, e->n_tests) ||
	    !check_erratum_rows(c, e) || !check_erratum_matches(c, e))
		return false;
	return (e->count <= PFM_ERRATUM_COUNT_NEAR && e->is_for_all <= 1 && !e->reserved &&
	        e->instead_plus1 <= c->table->n_rows) ||
	       set_fault(c, "an erratum is malformed");
}

static bool check_stored_name(struct table_verifier *c, const struct stored_name *n)
{
	if (!check_text(c, n->text))
		return false;
	if (n->target >> 30 == NAME_UNSUPPORTED)
		return check_text(c, n->target & NAME_TARGET_MASK);
	return table_has_row(c->table, n->target & NAME_TARGET_MASK) ||
	       set_fault(c, "a name leads to no row");
}

/* Checks that each slot points at a name, and that some slot is empty: probing ends there. */
static bool check_slots(struct table_verifier *c)
{
	const struct table *t = c->table;
	uint32_t used = 0, used_codes = 0;

	for (uint32_t i = 0; i < t->n_slots; i++) {
		if ((table_slots(t)[i] & 0xffff) > table_count_names(t) ||
		    (table_slots(t)[i] && !(table_slots(t)[i] & 0xffff)))
			return set_fault(c, "the index points at no name");
		used += table_slots(t)[i] != 0;
	}
	for (uint32_t i = 0; i < t->n_code_index; i++) {
		if (table_code_index(t)[i] &&
		    table_get_code_index_row(t, table_code_index(t)[i]) >= t->n_rows)
			return set_fault(c, "the index of codes points at no row");
		used_codes += table_code_index(t)[i] != 0;
	}
	return (used < t->n_slots && (!t->n_code_index || used_codes < t->n_code_index)) ||
	       set_fault(c, "the index is full");
}

/* Checks the texts by which a context matches tables to hosts. */
static bool check_host_matches(struct table_verifier *c)
{
	const struct host_match *m = table_matches(c->table);

	for (uint32_t i = 0; i < c->table->n_matches; i++)
		if (!check_match(c, &m[i]))
			return false;
	return true;
}

#define REPEAT_BYTE(BYTE) ((BYTE)*0x0101010101010101ull)

static bool has_zero_byte(uint64_t x)
{
	return (x - REPEAT_BYTE(1)) & ~x & REPEAT_BYTE(0x80u);
}

/* Refuses control characters, because terminals obey them: those of ASCII and, in UTF-8, U+0080 to
 * U+009F. Tests eight bytes at a time. */
static bool check_pool_characters(struct table_verifier *c)
{
	const unsigned char *s = (const unsigned char *)table_get_text(c->table, 0),
			    *end = s + c->table->n_pool;

	while (end - s > 8) {
		uint64_t x, ends;

		memcpy(&x, s, 8);
		ends = ~(((x & REPEAT_BYTE(0x7fu)) + REPEAT_BYTE(0x7fu)) | x |
		         REPEAT_BYTE(0x7fu)); /* 0x80 where a string ends */
		x |= ends;
		if (((x - REPEAT_BYTE(0x20u)) & ~x & REPEAT_BYTE(0x80u)) ||
		    has_zero_byte(x ^ REPEAT_BYTE(0x7fu)) || has_zero_byte(x ^ REPEAT_BYTE(0xc2u)))
			for (unsigned i = 0; i < 8; i++)
				if ((s[i] && s[i] < ' ') || s[i] == 127 ||
				    (s[i] == 0xc2 && s[i + 1] >= 0x80 && s[i + 1] <= 0x9f))
					return set_fault(c, "a string has control characters");
		s += 8;
	}
	return true; /* the rest is the zeros that end it */
}

static bool check_contents(struct table_verifier *c)
{
	const struct table *t = c->table;
	uint32_t i;

	for (i = 0; i < t->n_counters; i++)
		if (table_counters(t)[i].last > 31 ||
		    table_counters(t)[i].first > table_counters(t)[i].last)
			return set_fault(c, "a counter is out of range");
	for (i = 0; i < t->n_features; i++)
		if (!check_text(c, table_features(t)[i].name) ||
		    !check_text(c, table_features(t)[i].text))
			return false;
	for (i = 0; i < t->n_rules; i++)
		if (!check_rule(c, table_rules(t) + i))
			return false;
	for (i = 0; i < t->n_errata; i++)
		if (!check_erratum(c, table_errata(t) + i))
			return false;
	for (i = 0; i < t->n_fields; i++)
		if (!check_field(c, table_fields(t) + i))
			return false;
	for (i = 0; i < t->n_groups; i++)
		if (!check_group(c, table_group_numbers(t)[i]))
			return false;
	for (i = 0; table_has_row(t, i); i++)
		if (!check_row(c, table_row_numbers(t)[i] & ROW_NUMBER_MASK))
			return false;
	for (i = 0; i < t->n_names; i++)
		if (!check_stored_name(c, table_names(t) + i))
			return false;
	return check_keys(c) && check_encoder(c) && check_slots(c);
}

/* The tables of a valid image refer to each of its bytes a few times at most. */
static uint64_t get_work_limit(size_t size)
{
	return (uint64_t)size * 16 + 4096;
}

static void check_table(struct table_verifier *c, size_t size, enum verify_depth depth)
{
	if (check_head(c, size) && check_host_matches(c) && depth == VERIFY_ALL)
		check_contents(c);
}

int pfmi_table_verify(const void *t, size_t size, enum verify_depth depth, const char **why)
{
	struct table_verifier c = { .table = t, .work_left = get_work_limit(size) };

	if ((uintptr_t)t % 8 || size < sizeof(struct table)) {
		c.fault = "too short for an event table";
	} else {
		check_table(&c, size, depth);
		if (!c.fault && depth == VERIFY_ALL)
			check_pool_characters(&c);
	}
	*why = c.fault;
	return c.fault ? PFMLIB_ERR_IMAGE : PFMLIB_SUCCESS;
}

/* The tables share the pool of the image, whose characters are checked once. */
const char *pfmi_table_find_image_table_fault(const struct image *im, enum verify_depth depth)
{
	struct table_verifier c = { .table = table_get_image_table(im, 0),
		                    .work_left = get_work_limit((size_t)im->size) };

	for (uint32_t i = 0; i < im->n_tables; i++) {
		uint32_t at = im->arrays[ARRAY_TABLES].offset + i * (uint32_t)sizeof(struct table);

		c.table = table_get_image_table(im, i);
		check_table(&c, (size_t)im->size - at, depth);
		if (!c.fault && c.table->flags & TABLE_FROM_KERNEL)
			set_fault(&c, "a table claims to come from the running kernel");
		if (!c.fault && (at + (uint64_t)c.table->pool != im->arrays[ARRAY_POOL].offset ||
		                 c.table->n_pool != im->arrays[ARRAY_POOL].n_elements))
			set_fault(&c, "a table has strings of its own");
		if (c.fault)
			return c.fault;
	}
	if (depth == VERIFY_ALL)
		check_pool_characters(&c);
	return c.fault;
}
