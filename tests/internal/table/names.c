/* SPDX-License-Identifier: MIT */
/* Comparing names eight bytes at a time gives the result of comparing them byte by byte. The
 * reference implementations here follow the rule of folded names: case is ignored, ':' equals '.',
 * and blanks, tabs, '-' and '_' are skipped. */
#include "units.h"
#include <ctype.h>
#include <strings.h>
#include "table/table.h"

enum { MAX_LENGTH = 24, ROUNDS = 200000 };

/* Characters that fold to each other, separators, and skipped characters. */
static const char alphabet[] = "aAbB1..::__-\t ";

static uint32_t next_random(uint32_t *seed)
{
	return *seed = *seed * 1664525u + 1013904223u;
}

static void fold_plainly(const char *s, size_t len, char *out)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(" \t-_", s[i]))
			*out++ = s[i] == ':' ? '.' : (char)tolower((unsigned char)s[i]);
	*out = '\0';
}

/* A random text of @len characters, followed by POOL_PAD zeros as in a pool. */
static void make_text(uint32_t *seed, size_t len, char text[MAX_LENGTH + POOL_PAD])
{
	memset(text, 0, MAX_LENGTH + POOL_PAD);
	for (size_t i = 0; i < len; i++)
		text[i] = alphabet[(next_random(seed) >> 16) % (sizeof(alphabet) - 1)];
}

/* Changes @text in a way that folding hides, or in one that it does not. */
static size_t vary_text(uint32_t *seed, const char *text, char out[MAX_LENGTH + POOL_PAD])
{
	size_t len = strlen(text), at = len ? (next_random(seed) >> 16) % len : 0;

	memset(out, 0, MAX_LENGTH + POOL_PAD);
	memcpy(out, text, len + 1);
	switch (next_random(seed) >> 16 & 7) {
	case 0: out[at] = alphabet[(next_random(seed) >> 16) % (sizeof(alphabet) - 1)]; break;
	case 1:
		out[at] = (char)(islower((unsigned char)text[at]) ? toupper(text[at])
		                                                  : tolower(text[at]));
		break;
	case 2: out[at] = text[at] == '.' ? ':' : text[at]; break;
	case 3: return len ? len - 1 : 0;
	default: break;
	}
	return strlen(out);
}

static void names_compare_without_case(void **state)
{
	uint32_t seed = 1;
	unsigned n_equal = 0;

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		char name[MAX_LENGTH + POOL_PAD], text[MAX_LENGTH + POOL_PAD];
		char a[MAX_LENGTH + 1], b[MAX_LENGTH + 1];
		size_t len;
		bool equal;

		make_text(&seed, (next_random(&seed) >> 16) % MAX_LENGTH, name);
		len = vary_text(&seed, name, text);
		fold_plainly(name, strlen(name), a);
		fold_plainly(text, len, b);
		equal = strcmp(a, b) == 0;
		n_equal += equal;
		if (pfmi_table_is_folded_equal(name, text, len) != equal)
			fail_msg("name '%s', text '%.*s': expected %s", name, (int)len, text,
			         equal ? "equal" : "different");
	}
	assert_in_range(n_equal, ROUNDS / 4, ROUNDS - ROUNDS / 16);
}

static void prefixes_agree_with_a_plain_search(void **state)
{
	uint32_t seed = 2;

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		char name[MAX_LENGTH + POOL_PAD], text[MAX_LENGTH + POOL_PAD];
		size_t len;
		const char *expected, *got;

		make_text(&seed, (next_random(&seed) >> 16) % MAX_LENGTH, name);
		len = vary_text(&seed, name, text);
		len = len ? (next_random(&seed) >> 16) % (len + 1) : 0;
		expected = strncasecmp(name, text, len) == 0 ? name + len : NULL;
		got = pfmi_table_skip_prefix_icase(name, (struct slice){ text, (uint32_t)len });
		if (got != expected)
			fail_msg("name '%s', prefix '%.*s'", name, (int)len, text);
	}
}

/* The named values of every field of every built-in table are found by name, also in capitals. */
static void named_values_are_found_in_any_case(void **state)
{
	unsigned n_found = 0;

	(void)state;
	for (unsigned k = 0; k < table_count_builtins(); k++) {
		const struct table *t = table_get_builtin(k);

		for (unsigned i = 0; i < t->n_fields; i++) {
			const struct field *f = table_fields(t) + i;

			for (unsigned j = 0; j < f->n_named_values; j++) {
				const struct named_value *all = table_named_values(t) +
				                                f->first_named_value,
							 *got;
				char word[64];
				unsigned first = 0;

				snprintf(word, sizeof(word), "%s", table_get_text(t, all[j].name));
				while (strcasecmp(word, table_get_text(t, all[first].name)) != 0)
					first++;
				for (char *c = word; *c; c++)
					*c = (char)toupper((unsigned char)*c);
				got = pfmi_table_find_named_value(t, f->first_named_value,
				                                  f->n_named_values,
				                                  pfmi_base_make_slice(word));
				if (got != all + first)
					fail_msg("%s: value '%s' of field '%s'",
					         table_get_text(t, t->name), word,
					         table_get_text(t, f->name));
				n_found++;
			}
		}
	}
	assert_true(n_found > 100);
}

UNIT(table_names, cmocka_unit_test(names_compare_without_case),
     cmocka_unit_test(prefixes_agree_with_a_plain_search),
     cmocka_unit_test(named_values_are_found_in_any_case));
