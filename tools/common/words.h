/* SPDX-License-Identifier: MIT */
/* Words of a command that the environment names. */
#ifndef PFM_WORDS_H
#define PFM_WORDS_H

#include <stddef.h>

/* Splits @text, which is changed, at blanks into @words, followed by NULL. Quotes and backslashes
 * keep blanks together as in sh(1). Returns the number of words; 0 if there are none, @most or
 * more, or if @text needs a shell: a pipe, a variable, a pattern, an assignment, an open quote. */
size_t split_words(char *text, char **words, size_t most);

#endif
