/* SPDX-License-Identifier: MIT */
/* pfm show: lines of text. */
#include "common/pfm.h"
#include "show/show.h"

#include <inttypes.h>

void show_label(const char *label)
{
	printf("  %s%-*s%s ", term_colour_begin(stdout, DIM), SHOW_LABEL_WIDTH, label,
	       term_colour_end(stdout));
}

void show_line(const char *label, const char *text)
{
	if (!text || !*text)
		return;
	show_label(label);
	term_wrap(stdout, SHOW_LABEL_WIDTH + 3, SHOW_LABEL_WIDTH + 3, text);
}

void show_number(const char *label, uint64_t value)
{
	show_label(label);
	printf("0x%" PRIx64 "\n", value);
}

void show_heading(const char *text)
{
	printf("\n  %s%s%s\n", term_colour_begin(stdout, BOLD), text, term_colour_end(stdout));
}
