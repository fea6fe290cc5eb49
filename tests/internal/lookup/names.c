/* SPDX-License-Identifier: MIT */
/* Names of one table: the longest prefix that is a name wins, by a scan over all names of the
 * table. */
#include "expect.h"
#include "unit_tables.h"
#include "lookup/lookup_internal.h"

/* The longest name of @t that @text begins with, ends at a separator or at the end: by brute
 * force. */
static size_t scan_names(const struct table *t, const char *text)
{
	size_t best = 0;

	for (uint32_t i = 0; i < table_count_names(t); i++) {
		struct name_entry n = table_get_name(t, i);
		const char *name = table_get_text(t, n.text);
		size_t len = strlen(name);

		if (n.kind >= NAME_NONE || len <= best || strncmp(name, text, len) != 0)
			continue;
		if (!text[len] || strchr(":.,", text[len]))
			best = len;
	}
	return best;
}

static void longest_prefix_wins(void **state)
{
	static const char *const tails[] = { "", ":u", ".NO_SUCH_NAME", ":c=1:e" };
	const struct table *t = table_called("skl");
	char text[256];

	(void)state;
	for (uint32_t row = 0; row < t->n_rows; row++)
		for (size_t k = 0; k < COUNT(tails); k++) {
			struct spec spec;
			struct name_entry n;

			if (!is_event(t, row) || strpbrk(table_get_row_name(t, row), ",/"))
				continue;
			snprintf(text, sizeof(text), "%s%s", table_get_row_name(t, row), tails[k]);
			assert_int_equal(pfmi_spec_parse(text, &spec, NULL), 0);
			n = pfmi_lookup_spec_name(t, &spec);
			if (n.kind == NAME_NONE ||
			    (size_t)(spec.attrs.text - text) != scan_names(t, text))
				fail_msg("%s: the name ends at %ld, expected %zu", text,
				         (long)(spec.attrs.text - text), scan_names(t, text));
		}
}

static void only_admitted_prefixes(void **state)
{
	const struct table *t = table_called("skl");
	struct spec spec;

	(void)state;
	assert_int_equal(pfmi_spec_parse("INST_RETIRED.ANY:u", &spec, NULL), 0);
	assert_int_equal(spec.n_prefixes, 3);
	assert_int_equal(pfmi_lookup_longest_prefix(t, &spec, 4).kind, NAME_NONE);
	assert_int_not_equal(pfmi_lookup_longest_prefix(t, &spec, 2).kind, NAME_NONE);
	assert_string_equal(spec.attrs.text, ":u");
}

static void generic_names_of_the_kernel_are_known(void **state)
{
	static const char *const generic[] = { "cycles", "instructions", "branch-misses",
		                               "cpu-cycles" };
	static const char *const others[] = { "page-faults", "L3_MISS", "" };

	(void)state;
	for (size_t i = 0; i < COUNT(generic); i++) {
		struct slice s = pfmi_base_make_slice(generic[i]);

		EXPECT_ROW_TRUE(generic[i],
		                pfmi_lookup_is_generic_name(pfmi_table_hash_name(s), s));
	}
	for (size_t i = 0; i < COUNT(others); i++) {
		struct slice s = pfmi_base_make_slice(others[i]);

		EXPECT_ROW_TRUE(others[i],
		                !pfmi_lookup_is_generic_name(pfmi_table_hash_name(s), s));
	}
}

UNIT(lookup_names, cmocka_unit_test(longest_prefix_wins), cmocka_unit_test(only_admitted_prefixes),
     cmocka_unit_test(generic_names_of_the_kernel_are_known));
