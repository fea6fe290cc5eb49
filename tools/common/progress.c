/* SPDX-License-Identifier: MIT */
#include "common/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "common/pfm.h"
#include "profile/profile.h"
#include "stat/stat.h"

enum {
	STEPS = 1024, /* records between two readings of the clock */
	WAIT_NS = 2000000000,
	BETWEEN_NS = 250000000
};

void progress_begin(struct progress *p, const char *path)
{
	struct stat st;

	*p = (struct progress){ .path = path, .is_wanted = term_is_terminal(stderr) };
	if (!p->is_wanted)
		return;
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		p->size = (uint64_t)st.st_size;
	p->began = now_ns();
	p->next = p->began + WAIT_NS;
}

static void show_progress(struct progress *p, const pfm_session_t *s)
{
	pfm_buffer_info_t b = PFM_INIT(b);
	char number[GROUPED_MAX], name[NAME_LINE], line[NAME_LINE + 80];

	profile_format_line(p->path, name);
	if (p->size && pfm_buffer_statistics(s, &b) == PFMLIB_SUCCESS && b.bytes < p->size)
		snprintf(line, sizeof(line), "%s: %.0f %%", name,
		         100 * (double)b.bytes / (double)p->size);
	else
		snprintf(line, sizeof(line), "%s: %s records", name,
		         group_digits(p->n_records, number));
	term_progress(stderr, line);
	p->is_shown = true;
}

void progress_step(struct progress *p, const pfm_session_t *s)
{
	uint64_t now;

	if (!p->is_wanted || ++p->n_records % STEPS)
		return;
	now = now_ns();
	if (now < p->next)
		return;
	show_progress(p, s);
	p->next = now + BETWEEN_NS;
}

void progress_end(struct progress *p)
{
	if (p->is_shown)
		term_progress(stderr, "");
	p->is_shown = false;
}
