/* SPDX-License-Identifier: MIT */
/* Decimal numbers, as the C library reads them in the C locale. */
#include "units.h"
#include <locale.h>
#include "base/text.h"

/* Not only equal: a zero's sign counts as well. */
static uint64_t bits_of(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

/* Decimals are compared with strtod() in the C locale, bit by bit. */
static void decimals_as_strtod(void **state)
{
	static const char *const good[] = { "0",
		                            "1",
		                            "-1",
		                            "+1",
		                            "0.5",
		                            ".5",
		                            "5.",
		                            "-.5",
		                            "1e3",
		                            "1E3",
		                            "1e+3",
		                            "1e-3",
		                            "1.5e10",
		                            "0.1",
		                            "0.3",
		                            "123456789.123456789",
		                            "2.2250738585072011e-308",
		                            "1.7976931348623157e308",
		                            "4.9e-324",
		                            "1e400",
		                            "9007199254740993",
		                            "00012",
		                            "-0" };
	static const char *const bad[] = { "",   "-",   "+",   ".",     "-.",   "e5",   ".e5",
		                           "1e", "1e+", "1e-", "1.2.3", "0x10", "inf",  "nan",
		                           " 1", "1 ",  "1,5", "--1",   "1e5.", "1e5e5" };

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		double ours = 7, theirs = strtod(good[i], NULL);

		if (!pfmi_base_parse_decimal(good[i], &ours) || bits_of(ours) != bits_of(theirs))
			fail_msg("%s: %.17g", good[i], ours);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		double ours = 7;

		if (pfmi_base_parse_decimal(bad[i], &ours))
			fail_msg("%s: %.17g", bad[i], ours);
	}
}

static void refuses_decimals_of_more_than_200_characters(void **state)
{
	char s[203];
	double v = 0;

	(void)state;
	memset(s, '1', sizeof(s));
	s[1] = '.';
	s[200] = '\0';
	assert_true(pfmi_base_parse_decimal(s, &v));
	assert_true(v == strtod(s, NULL));
	s[200] = '1';
	s[201] = '\0';
	assert_false(pfmi_base_parse_decimal(s, &v));
}

/* With a decimal comma, where the system has such a locale. The number stays what it is in C. */
static void decimals_in_other_locales(void **state)
{
	static const char *const locales[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
		                               "ru_RU.UTF-8" };
	double v = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(locales); i++)
		if (setlocale(LC_NUMERIC, locales[i])) {
			assert_true(pfmi_base_parse_decimal("-12.25e1", &v));
			assert_true(v == -122.5);
			assert_false(pfmi_base_parse_decimal("12,25", &v));
		}
	setlocale(LC_NUMERIC, "C");
}

UNIT(base_decimal, cmocka_unit_test(decimals_as_strtod),
     cmocka_unit_test(refuses_decimals_of_more_than_200_characters),
     cmocka_unit_test(decimals_in_other_locales));
