/* SPDX-License-Identifier: MIT */
/* The page for browsers: recordings that a script (script/) shows as flame graph, functions, call
 * tree, source and times; counts over time; regions. The file has all it needs; nothing is fetched.
 */
#ifndef PFM_HTML_PAGE_H
#define PFM_HTML_PAGE_H

#include <stdbool.h>
#include <stdio.h>

/* The texts of page.css, page.html and the files of script/. */
extern const char page_style[], page_body[], page_script[];

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
 * after a message. */
int write_recording_page(const struct page *page, const char *output);

/* Writes a page of what pfm stat counted: @lines are objects of JSON, one a line, of the member
 * "intervals" (pfm stat -I --json) or "regions" (pfm stat --regions=json). As
 * write_recording_page(). */
int write_lines_page(const char *title, const char *member, const char *lines, const char *output);

#endif
