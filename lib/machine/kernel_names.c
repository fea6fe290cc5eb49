/* SPDX-License-Identifier: MIT */
/* Look-up of the kernel's PMUs by name, by instance number and by the identifiers in lists. */
#include <string.h>
#include "machine/machine.h"
#include "machine/machine_internal.h"

static bool is_hex_digit(char c)
{
	return base_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

size_t pfmi_machine_measure_instance_base(const char *name)
{
	size_t len = strlen(name), i = len, hex = len;

	while (i && base_is_digit(name[i - 1]))
		i--;
	while (hex && is_hex_digit(name[hex - 1]))
		hex--;
	if (i < len && i > 1 && name[i - 1] == '_')
		return i - 1;
	if (len - hex > 2 && hex > 1 && name[hex - 1] == '_')
		return hex - 1;
	return i < len && i > 0 ? i : len;
}

static bool is_slice_equal(struct slice s, const char *word, size_t len)
{
	return s.len == len && memcmp(s.text, word, len) == 0;
}

static bool is_in_word_list(struct slice s, const char *words)
{
	while (*words) {
		size_t len = strcspn(words, " ");

		if (is_slice_equal(s, words, len))
			return true;
		words += len + (words[len] == ' ');
	}
	return false;
}

unsigned pfmi_machine_find_instance(const struct kernel_pmu *p, struct slice name)
{
	if (p->n_instances < 2 || is_slice_equal(name, p->name, strlen(p->name)))
		return 0;
	for (unsigned j = 0; j < p->n_instances; j++)
		if (is_slice_equal(name, p->instance_names[j], strlen(p->instance_names[j])))
			return j + 1;
	return 0;
}

unsigned pfmi_machine_find_instance_number(const struct kernel_pmu *p, struct slice digits)
{
	for (unsigned j = 0; digits.len && j < p->n_instances; j++) {
		const char *instance = p->instance_names[j];
		size_t at = strlen(instance);

		while (at && base_is_digit(instance[at - 1]))
			at--;
		if (is_slice_equal(digits, instance + at, strlen(instance + at)))
			return j + 1;
	}
	return 0;
}

const struct kernel_pmu *pfmi_machine_find_kernel_pmu(const struct kernel_info *k,
                                                      struct slice name)
{
	for (unsigned i = 0; k && i < k->n_pmus; i++) {
		const struct kernel_pmu *p = &k->pmus[i];

		if (is_slice_equal(name, p->name, strlen(p->name)) ||
		    is_in_word_list(name, table_get_text(p->table, p->table->aliases)))
			return p;
		for (unsigned j = 0; j < p->n_instances; j++)
			if (is_slice_equal(name, p->instance_names[j],
			                   strlen(p->instance_names[j])))
				return p;
	}
	return NULL;
}

static unsigned find_field_by_name(const struct table *t, const char *name)
{
	unsigned i = 0;

	while (i < t->n_fields &&
	       !machine_is_same_text(table_get_text(t, table_fields(t)[i].name), name))
		i++;
	return i;
}

/* Is @id in the list @ids? A word that ends in an asterisk matches each @id that begins like it. */
static bool is_in_id_list(const char *ids, const char *id)
{
	size_t len = strlen(id);

	for (; *ids; ids += *ids == ' ') {
		size_t n = strcspn(ids, " ");
		bool open = n && ids[n - 1] == '*';

		if ((open ? n - 1 <= len : n == len) && memcmp(ids, id, open ? n - 1 : n) == 0)
			return true;
		ids += n;
	}
	return false;
}

bool pfmi_machine_has_kernel_identifier(const struct kernel_pmu *p, const struct table *t)
{
	const struct feature *f = table_features(p->table);
	unsigned compat = find_field_by_name(t, "compat"), i = 0;
	uint64_t tried = 0;

	while (i < p->table->n_features &&
	       !machine_is_same_text(table_get_text(p->table, f[i].name), "identifier"))
		i++;
	if (i == p->table->n_features)
		return false;
	/* Neighbouring rows mostly have the same list: it is searched once. */
	for (uint32_t row = 0; row < t->n_rows; row++)
		for (unsigned k = 0; k < table_get_row(t, row)->n_values; k++) {
			struct field_value one = table_get_row_value(t, table_get_row(t, row), k);

			if (one.field != compat || one.value == tried)
				continue;
			tried = one.value;
			if (is_in_id_list(table_get_text(t, (uint32_t)tried),
			                  table_get_text(p->table, f[i].text)))
				return true;
		}
	return false;
}
