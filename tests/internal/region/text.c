/* SPDX-License-Identifier: MIT */
/* Numbers in the texts of formats. */
#include "units.h"
#include <locale.h>
#include <math.h>
#include "region/region.h"

static void real_numbers_have_a_point_in_every_locale(void **state)
{
	static const char *const names[] = { "de_DE.UTF-8", "C" };

	(void)state;
	for (unsigned i = 0; i < COUNT(names); i++) {
		char *text = NULL;
		size_t n;
		FILE *out = setlocale(LC_NUMERIC, names[i]) ? open_memstream(&text, &n) : NULL;

		if (!out)
			continue;
		pfmi_region_put_real(out, 3, 1.5);
		putc(' ', out);
		pfmi_region_put_real(out, 0, 2.6);
		putc(' ', out);
		pfmi_region_put_exponent(out, -0.25);
		putc(' ', out);
		pfmi_region_put_exponent(out, NAN);
		fclose(out);
		EXPECT_ROW_TEXT(names[i], text, "1.500 3 -2.500000e-01 nan");
		free(text);
	}
	setlocale(LC_NUMERIC, "C");
}

UNIT(region_text, cmocka_unit_test(real_numbers_have_a_point_in_every_locale));
