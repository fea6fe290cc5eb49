/* SPDX-License-Identifier: MIT */
/* Data stand in the page as JSON in which '<' is an escape, so that no name of a function ends the
 * script. A policy in its head forbids every request. */
#include "html/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/text_output.h"
#include "common/json.h"
#include "export/export.h"
#include "html/page_data.h"

/* ---- the page -------------------------------------------------------------------------------- */

static const char page_head[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'; script-src 'unsafe-inline'\">\n";

static void put_head(const struct page *page, FILE *out)
{
	fputs(page_head, out);
	fputs("<title>", out);
	base_put_xml(out, page->title, strlen(page->title));
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", page_style);
	base_put_xml(out, page->title, strlen(page->title));
	fprintf(out, "</h1>\n%s", page_body);
}

/* The data, with '<' as in a file of their own. Returns an exit status. */
static int put_data(const struct page *page, FILE *out)
{
	int status = EXIT_DONE;

	fputs("{\"recordings\":[", out);
	for (unsigned i = 0; i < page->n_recordings && status == EXIT_DONE; i++) {
		fprintf(out, "%s{\"side\":%d,", i ? "," : "", page->recordings[i].is_new);
		status = export_to_stream(&page_data_format, page->recordings[i].path, out,
		                          page->event, page->has_waits);
		fputs("}", out);
	}
	fputs("]", out);
	if (page->put_more && status == EXIT_DONE)
		page->put_more(page->arg, out);
	fputs("}", out);
	return status;
}

/* Writes the data as text of a script. Returns an exit status. */
static int put_escaped_data(const struct page *page, FILE *out)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int status;

	if (!f)
		return report_no_memory();
	status = put_data(page, f);
	if (fclose(f) != 0)
		status = report_no_memory();
	for (size_t at = 0; status == EXIT_DONE && at < size;) {
		size_t plain = strcspn(text + at, "<");

		fwrite(text + at, 1, plain, out);
		at += plain;
		if (at < size) {
			fputs("\\u003c", out);
			at++;
		}
	}
	free(text);
	return status;
}

int write_recording_page(const struct page *page, const char *output)
{
	struct export_output o;
	int status;

	if (!export_open_output(&o, output, false)) {
		fprintf(stderr, "pfm %s: %s: %s\n", get_running_command(), output,
		        describe_output_error(errno));
		export_close_output(&o, false);
		return EXIT_REFUSED;
	}
	put_head(page, o.out);
	fputs("<script type=\"application/json\" id=\"data\">\n", o.out);
	status = put_escaped_data(page, o.out);
	fprintf(o.out, "\n</script>\n<script>\n%s</script>\n</body>\n</html>\n", page_script);
	if (status == EXIT_DONE && export_end_output(&o) && export_close_output(&o, true))
		return EXIT_DONE;
	if (status == EXIT_DONE)
		fprintf(stderr, "pfm %s: %s: %s\n", get_running_command(), output,
		        describe_output_error(errno));
	else
		export_close_output(&o, false);
	return EXIT_REFUSED;
}

struct page_lines {
	const char *member, *text;
};

static void put_lines(void *arg, FILE *out)
{
	const struct page_lines *lines = arg;

	fprintf(out, ",\"%s\":[", lines->member);
	for (const char *at = lines->text; *at;) {
		size_t len = strcspn(at, "\n");

		if (len)
			fprintf(out, "%s%.*s", at == lines->text ? "" : ",", (int)len, at);
		at += len + (at[len] == '\n');
	}
	fputc(']', out);
}

int write_lines_page(const char *title, const char *member, const char *lines, const char *output)
{
	struct page_lines arg = { member, lines };
	const struct page page = { .title = title, .put_more = put_lines, .arg = &arg };

	return write_recording_page(&page, output);
}
