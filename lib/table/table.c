/* SPDX-License-Identifier: MIT */
/* Values of rows. */
#include "table/table.h"

const struct image *pfmi_table_get_builtin_tables(void)
{
	return table_get_builtin_image();
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

uint64_t pfmi_table_get_row_alternative(const struct table *t, uint32_t row, unsigned i)
{
	const struct row *r = table_get_row(t, row);
	const unsigned field = table_get_key_field_plus1(t, KEY_ALT) - 1u;
	unsigned at = table_find_next_row_value(t, r, field, 0);

	while (at < r->n_values && i--)
		at = table_find_next_row_value(t, r, field, at + 1);
	return at < r->n_values ? table_get_row_value(t, r, at).value : 0;
}

const char *pfmi_table_get_row_text(const struct table *t, uint32_t row, enum field_key key)
{
	unsigned at = table_get_key_field_plus1(t, key);
	uint64_t value = 0;

	return table_get_text(t, at && pfmi_table_find_row_value(t, table_get_row(t, row), at - 1,
	                                                         ANY_COUNTER, &value)
	                                 ? (uint32_t)value
	                                 : 0);
}
