/* SPDX-License-Identifier: MIT */
/* The page for browsers: recordings that a script (page.js) shows as flame graph, functions, call
 * tree and times. The file has all it needs; nothing is fetched. */
#ifndef PFM_HTML_PAGE_H
#define PFM_HTML_PAGE_H

#include <stdbool.h>
#include <stdio.h>

/* The texts of page.css and page.js. */
extern const char page_style[], page_script[];

/* A recording of the page; @is_new: of the new side of a comparison. */
struct page_recording {
	const char *path;
	bool is_new;
};

/* The parts of a page. */
struct page {
	const char *title;
	const struct page_recording *recordings;
	unsigned n_recordings;
	bool has_waits;                      /* as of export_to_stream() */
	const char *event;                   /* as of export_recording() */
	void (*put_more)(void *arg, FILE *); /* members ",\"name\":..." of the data, or NULL */
	void *arg;
};

/* Writes the page to @output, which gets its name when it is complete. EXIT_DONE, or EXIT_REFUSED
 * with everything said. */
int write_recording_page(const struct page *page, const char *output);

#endif
