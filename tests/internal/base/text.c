/* SPDX-License-Identifier: MIT */
/* Pieces of texts: numbers as the C library reads them, words without regard to case. */
#include "units.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include "base/text.h"

/* Read @s, which consists of digits and letters, with the C library as a C compiler would. False if
 * @s is not a number. */
static bool by_strtoull(const char *s, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(s, &end, 0);
	return *s && isdigit((unsigned char)*s) && *end == '\0' && errno == 0;
}

static void same_number(const char *s)
{
	uint64_t ours = 0, theirs = 0;
	bool good = pfmi_base_parse_number(pfmi_base_make_slice(s), &ours),
	     want = by_strtoull(s, &theirs);

	if (good != want || (good && ours != theirs))
		fail_msg("%s: %d %llx, not %d %llx", s, good, (unsigned long long)ours, want,
		         (unsigned long long)theirs);
}

/* Every text of up to five of the characters that matter. */
static void numbers_as_strtoull(void **state)
{
	static const char letters[] = "0178xXaFgG-";
	const unsigned n = sizeof(letters) - 1;
	char s[6];

	(void)state;
	for (unsigned len = 0, all = 1; len <= 5; len++, all *= n)
		for (unsigned i = 0; i < all; i++) {
			for (unsigned k = 0, left = i; k < len; k++, left /= n)
				s[k] = letters[left % n];
			s[len] = '\0';
			same_number(s);
		}
}

/* At and beside 2^64, in every base. */
static void numbers_of_64_bits(void **state)
{
	static const char *const texts[] = { "18446744073709551615",
		                             "18446744073709551616",
		                             "18446744073709551620",
		                             "99999999999999999999",
		                             "0xffffffffffffffff",
		                             "0x10000000000000000",
		                             "0xfffffffffffffffff",
		                             "01777777777777777777777",
		                             "02000000000000000000000",
		                             "0",
		                             "00",
		                             "0x0",
		                             "0x",
		                             "08",
		                             "07",
		                             "9",
		                             "a",
		                             "" };

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		same_number(texts[i]);
}

/* A slice is read up to its own end, whatever bytes follow it. */
static void numbers_of_slices(void **state)
{
	static const char digits[] = "0x12345";
	uint64_t v = 77;

	(void)state;
	assert_false(pfmi_base_parse_number((struct slice){ digits, 2 }, &v));
	assert_false(pfmi_base_parse_number((struct slice){ digits, 0 }, &v));
	assert_int_equal(v, 77);
	assert_true(pfmi_base_parse_number((struct slice){ digits, 1 }, &v));
	assert_int_equal(v, 0);
	assert_true(pfmi_base_parse_number((struct slice){ digits, 3 }, &v));
	assert_int_equal(v, 1);
	assert_true(pfmi_base_parse_number((struct slice){ digits + 2, 4 }, &v));
	assert_int_equal(v, 1234);
}

static void digit_values_of_all_characters(void **state)
{
	(void)state;
	for (int c = CHAR_MIN; c <= CHAR_MAX; c++) {
		unsigned char u = (unsigned char)c;
		unsigned want = u > 127 || !isxdigit(u) ? 99
		                : isdigit(u)            ? (unsigned)(u - '0')
		                                        : (unsigned)tolower(u) - 'a' + 10;

		assert_int_equal(base_is_digit((char)c), u < 128 && isdigit(u));
		assert_int_equal(base_get_digit_value((char)c), want);
	}
}

/* Every pair of characters is the same or not as strcasecmp() has it in the C locale. */
static void letters_fold_without_case(void **state)
{
	(void)state;
	for (unsigned a = 1; a < 256; a++)
		for (unsigned b = 1; b < 256; b++) {
			char one[] = { 'x', (char)a, '\0' }, two[] = { 'X', (char)b, '!', '\0' };
			bool same = a == b ||
			            (a < 128 && b < 128 && tolower((int)a) == tolower((int)b));
			const char *behind =
				pfmi_base_skip_prefix_icase(pfmi_base_make_slice(one), two);

			if (same)
				assert_ptr_equal(behind, two + 2);
			else
				assert_null(behind);
			two[2] = '\0';
			assert_int_equal(pfmi_base_is_slice_icase(pfmi_base_make_slice(one), two),
			                 same);
		}
}

static void words_compare_without_case(void **state)
{
	static const char word[] = "Cycles";

	(void)state;
	assert_true(pfmi_base_is_slice_icase((struct slice){ "CYCLESx", 6 }, word));
	assert_false(pfmi_base_is_slice_icase((struct slice){ "cycles", 5 }, word));
	assert_false(pfmi_base_is_slice_icase((struct slice){ "cycless", 7 }, word));
	assert_true(pfmi_base_is_slice_icase((struct slice){ "", 0 }, ""));
	assert_false(pfmi_base_is_slice_icase((struct slice){ "", 0 }, word));
	assert_ptr_equal(pfmi_base_skip_prefix_icase((struct slice){ "", 0 }, word), word);
	assert_ptr_equal(pfmi_base_skip_prefix_icase((struct slice){ "cyc", 3 }, word), word + 3);
	assert_null(pfmi_base_skip_prefix_icase((struct slice){ "cyclesx", 7 }, word));
}

UNIT(base_text, cmocka_unit_test(numbers_as_strtoull), cmocka_unit_test(numbers_of_64_bits),
     cmocka_unit_test(numbers_of_slices), cmocka_unit_test(digit_values_of_all_characters),
     cmocka_unit_test(letters_fold_without_case), cmocka_unit_test(words_compare_without_case));
