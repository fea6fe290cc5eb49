/* SPDX-License-Identifier: MIT */
/* Look-up in compiled event tables. */
#include "table/table.h"

#include <string.h>

void pfmi_table_insert_name(uint32_t *slots, uint32_t n, uint32_t h, uint32_t number)
{
	uint32_t slot = h << 16 | number, moved = 0; /* 1 once @slot is a displaced entry: it stays
	                                                before entries of equal hash */

	for (uint32_t i = table_get_first_slot(h, n); slot; i = i + 1 < n ? i + 1 : 0)
		if (!slots[i] || slots[i] >> 16 < (slot >> 16) + moved) {
			uint32_t other = slots[i];

			slots[i] = slot;
			slot = other;
			moved = 1;
		}
}

/* Finds the row that is spelled like @s, because names of two rows may differ only in blanks and
 * dashes. Returns @n if its spelling is that of @s or no row has it. */
static struct name_entry find_exact_twin(const struct table *t, struct name_entry n, struct slice s)
{
	if (pfmi_base_is_slice_icase(s, table_get_text(t, n.text)))
		return n;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct row *r = table_get_row(t, i);

		if (r->flags & ROW_SHADOWED &&
		    pfmi_base_is_slice_icase(s, table_get_text(t, r->name)))
			return (struct name_entry){ r->name, i, NAME_EVENT };
	}
	return n;
}

struct name_entry pfmi_table_find_name_from_slot(const struct table *t, uint32_t i, uint32_t h,
                                                 const char *s, size_t len)
{
	for (; table_can_slot_match(t, h, i);
	     i = table_probe_slot(t, h, i + 1 < t->n_slots ? i + 1 : 0)) {
		struct name_entry n = table_get_name(t, (table_slots(t)[i] & 0xffff) - 1);

		if (pfmi_table_is_folded_equal(table_get_text(t, n.text), s, len))
			return t->flags & TABLE_HAS_FOLDED_TWINS
			               ? find_exact_twin(t, n, (struct slice){ s, (uint32_t)len })
			               : n;
	}
	return (struct name_entry){ .kind = NAME_NONE };
}

bool pfmi_table_find_row_value(const struct table *t, const struct row *r, unsigned field,
                               unsigned counter, uint64_t *out)
{
	const uint32_t *v = table_values(t) + r->first_value, *end = v + r->n_values;
	bool general = false;

	for (; v < end; v++) {
		struct field_value here;

		if (*v >> 24 != field)
			continue;
		here = table_unpack_value(t, *v);
		if (here.counter != counter && (here.counter != ANY_COUNTER || general))
			continue;
		*out = here.value;
		if (here.counter == counter)
			return true;
		general = true;
	}
	return general;
}

bool pfmi_table_has_row_value(const struct table *t, uint32_t row, enum field_key key)
{
	unsigned at = table_get_key_field_plus1(t, key);
	uint64_t value = 0;

	return at &&
	       pfmi_table_find_row_value(t, table_get_row(t, row), at - 1, ANY_COUNTER, &value);
}

uint64_t pfmi_table_get_row_value(const struct table *t, uint32_t row, enum field_key key,
                                  unsigned counter)
{
	unsigned at = table_get_key_field_plus1(t, key);
	uint64_t value = 0;

	if (!at)
		return 0;
	return pfmi_table_find_row_value(t, table_get_row(t, row), at - 1, counter, &value)
	               ? value
	               : table_fields(t)[at - 1].default_value;
}

const char *pfmi_table_get_row_text(const struct table *t, uint32_t row, enum field_key key)
{
	unsigned at = table_get_key_field_plus1(t, key);
	uint64_t value = 0;

	return table_get_description(t, at && pfmi_table_find_row_value(t, table_get_row(t, row),
	                                                                at - 1, ANY_COUNTER, &value)
	                                        ? (uint32_t)value
	                                        : 0);
}
