/* SPDX-License-Identifier: MIT */
#include "edit_distance.h"

static unsigned get_minimum(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Computes the distances between all prefixes of @a and @b, one row for each prefix of @a. A swap
 * of neighbours adds to a distance two rows before. */
unsigned base_compute_edit_distance(const unsigned char *a, unsigned n, const unsigned char *b,
                                    unsigned m, unsigned limit)
{
	unsigned char rows[3][EDIT_DISTANCE_MAX + 1], *before = rows[0], *last = rows[1],
						      *now = rows[2];

	if ((n > m ? n - m : m - n) > limit)
		return limit + 1;
	for (unsigned j = 0; j <= m; j++)
		last[j] = (unsigned char)j;
	for (unsigned i = 1; i <= n; i++) {
		unsigned best = now[0] = (unsigned char)i;
		unsigned char *spare = before;

		for (unsigned j = 1; j <= m; j++) {
			unsigned d = last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u);

			d = get_minimum(d, get_minimum(last[j], now[j - 1]) + 1u);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d = get_minimum(d, before[j - 2] + 1u);
			now[j] = (unsigned char)d;
			best = get_minimum(best, d);
		}
		if (best > limit)
			return limit + 1;
		before = last;
		last = now;
		now = spare;
	}
	return get_minimum(last[m], limit + 1);
}
