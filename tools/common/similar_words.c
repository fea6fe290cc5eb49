/* SPDX-License-Identifier: MIT */
/* Finds the command or option most similar to a mistyped word. */
#include "common/term.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/edit_distance.h"

/* Copies @word in lower case. Returns its length; 0 if it is too long to compare. */
static unsigned fold_word(const char *word, unsigned char folded[EDIT_DISTANCE_MAX])
{
	size_t len = strlen(word);

	if (len > EDIT_DISTANCE_MAX)
		return 0;
	for (size_t i = 0; i < len; i++)
		folded[i] = (unsigned char)tolower((unsigned char)word[i]);
	return (unsigned)len;
}

/* Returns the number of mistakes between @word and @known; a prefix counts as one mistake. */
static unsigned count_mistakes(const char *word, const char *known, unsigned limit)
{
	unsigned char a[EDIT_DISTANCE_MAX], b[EDIT_DISTANCE_MAX];
	unsigned n = fold_word(word, a), m = fold_word(known, b);

	if (n >= 2 && strncasecmp(known, word, n) == 0)
		return 1;
	return n && m ? base_compute_edit_distance(a, n, b, m, limit) : limit + 1;
}

int find_closest_word(const char *word, const char *const *words)
{
	unsigned best = (unsigned)strlen(word) / 3 + 1, d;
	int found = -1;

	for (int i = 0; words[i]; i++) {
		d = count_mistakes(word, words[i], best);
		if (d < best || (d == best && found < 0 && d < strlen(words[i]))) {
			best = d;
			found = i;
		}
	}
	return found;
}
