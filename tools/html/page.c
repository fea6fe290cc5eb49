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

struct page_sample {
	uint64_t time, weight;
	uint32_t stack, thread, cpu, event;
};

struct page_thread {
	uint32_t pid, tid, task;
};

struct page_data {
	struct stack_tree stacks;
	struct page_sample *samples;
	struct page_thread *threads;
	struct hash_table thread_table;
	size_t n, capacity, n_threads, threads_capacity;
};

/* ---- samples --------------------------------------------------------------------------------- */

struct thread_search {
	const struct page_thread *list;
	uint32_t pid, tid;
};

static bool is_same_thread(const void *arg, uint32_t i)
{
	const struct thread_search *s = arg;

	return s->list[i].pid == s->pid && s->list[i].tid == s->tid;
}

/* The number of the sample's thread, which has the last name that it got. */
static uint32_t number_thread(struct exporter *e, const struct export_sample *s)
{
	struct page_data *d = e->state;
	const struct thread_search search = { d->threads, s->pid, s->tid };
	uint64_t hash = pfmi_base_hash_number((uint64_t)s->pid << 32 | s->tid);
	uint32_t at = pfmi_base_find_hash(&d->thread_table, hash, is_same_thread, &search);

	if (at == HASH_NOT_FOUND) {
		d->threads = base_grow_list(d->threads, d->n_threads, &d->threads_capacity,
		                            sizeof(*d->threads), &e->failed);
		e->failed = e->failed ||
		            !pfmi_base_add_hash(&d->thread_table, hash, (uint32_t)d->n_threads);
		if (e->failed)
			return 0;
		at = (uint32_t)d->n_threads++;
		d->threads[at] = (struct page_thread){ .pid = s->pid, .tid = s->tid };
	}
	d->threads[at].task = s->task;
	return at;
}

static void add_sample(struct exporter *e, const struct export_sample *s)
{
	struct page_data *d = e->state;
	uint32_t thread = number_thread(e, s);

	d->samples =
		base_grow_list(d->samples, d->n, &d->capacity, sizeof(*d->samples), &e->failed);
	if (e->failed)
		return;
	d->samples[d->n++] = (struct page_sample){
		.time = s->time,
		.weight = s->weight,
		.stack = export_add_stack(&d->stacks, s->frames, s->n_frames),
		.thread = thread,
		.cpu = s->has & PFM_SAMPLE_CPU ? s->cpu : UINT32_MAX,
		.event = s->event,
	};
	e->failed |= d->stacks.failed;
}

/* ---- data ------------------------------------------------------------------------------------ */

static void put_threads(struct exporter *e, struct json *j)
{
	const struct page_data *d = e->state;

	put_begin(j, "threads", '[');
	for (size_t i = 0; i < d->n_threads; i++) {
		put_begin(j, NULL, '[');
		put_int(j, NULL, (int)d->threads[i].pid);
		put_int(j, NULL, (int)d->threads[i].tid);
		put_text(j, NULL, export_text(e->reader, d->threads[i].task));
		put_end(j, ']');
	}
	put_end(j, ']');
}

/* Functions, then the functions of each location, the outermost first. */
static void put_code(struct exporter *e, struct json *j)
{
	const struct export_reader *r = e->reader;

	put_begin(j, "functions", '[');
	for (size_t i = 0; i < r->n_functions; i++) {
		put_begin(j, NULL, '[');
		put_text(j, NULL, export_text(r, r->functions[i].name));
		put_text(j, NULL, export_text(r, r->functions[i].object));
		put_end(j, ']');
	}
	put_end(j, ']');
	put_begin(j, "locations", '[');
	for (size_t i = 0; i < r->n_locations; i++) {
		put_begin(j, NULL, '[');
		for (unsigned k = 0; k < r->locations[i].n_names; k++)
			put_count(j, NULL, export_function_number(r, &r->locations[i], k));
		put_end(j, ']');
	}
	put_end(j, ']');
}

static void put_stacks(struct exporter *e, struct json *j)
{
	const struct page_data *d = e->state;

	put_begin(j, "parents", '[');
	for (size_t i = 0; i < d->stacks.n; i++)
		put_count(j, NULL, d->stacks.nodes[i].parent);
	put_end(j, ']');
	put_begin(j, "places", '[');
	for (size_t i = 0; i < d->stacks.n; i++)
		put_count(j, NULL, d->stacks.nodes[i].location);
	put_end(j, ']');
}

/* A column of the samples. Times are microseconds after the sample before. */
static void put_column(struct exporter *e, struct json *j, const char *name, unsigned column)
{
	const struct page_data *d = e->state;
	uint64_t before = d->n ? d->samples[0].time / 1000 : 0;

	put_begin(j, name, '[');
	for (size_t i = 0; i < d->n; i++) {
		const struct page_sample *s = &d->samples[i];
		uint64_t time = s->time / 1000 > before ? s->time / 1000 : before;

		switch (column) {
		case 0: put_count(j, NULL, time - before); break;
		case 1: put_count(j, NULL, s->weight); break;
		case 2: put_count(j, NULL, s->stack); break;
		case 3: put_count(j, NULL, s->thread); break;
		case 4: put_int(j, NULL, (int)s->cpu); break;
		default: put_count(j, NULL, s->event); break;
		}
		before = time;
	}
	put_end(j, ']');
}

static void put_samples(struct exporter *e, struct json *j)
{
	static const char *const names[] = { "time", "weight", "stack", "thread", "cpu", "event" };

	put_begin(j, "samples", '{');
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_column(e, j, names[i], i);
	put_end(j, '}');
}

static void put_about(struct exporter *e, struct json *j)
{
	const struct export_reader *r = e->reader;
	char text[NAME_LINE + 100], losses[LOSSES_MAX];

	snprintf(text, sizeof(text), "%s: %zu samples in %.3f s", base_name(r->path),
	         ((const struct page_data *)e->state)->n,
	         (double)time_span_length(&r->sampled) / 1e9);
	put_text(j, "about", text);
	put_text(j, "losses",
	         is_profile_complete(&r->losses) ? "" : print_profile_losses(&r->losses, losses));
}

/* The members of a recording, without the brackets around them. */
static void end_recording(struct exporter *e)
{
	struct json j = { .out = e->out };

	e->failed |= !export_number_functions(e->reader);
	if (e->failed)
		return;
	put_about(e, &j);
	export_put_events(&j, e->reader);
	put_threads(e, &j);
	put_code(e, &j);
	put_stacks(e, &j);
	put_samples(e, &j);
}

static void free_data(struct exporter *e)
{
	struct page_data *d = e->state;

	export_free_stacks(&d->stacks);
	pfmi_base_free_hash(&d->thread_table);
	free(d->samples);
	free(d->threads);
}

static const struct export_format page_data_format = {
	.name = "html",
	.state_size = sizeof(struct page_data),
	.add_sample = add_sample,
	.end = end_recording,
	.release = free_data,
};

/* ---- the page -------------------------------------------------------------------------------- */

static const char page_head[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'; script-src 'unsafe-inline'\">\n";

static const char page_body[] =
	"<ul id=\"about\"></ul>\n"
	"<div class=\"controls\">\n"
	"<label>Event <select id=\"event\"></select></label>\n"
	"<label>Timeline of <select id=\"lanes\"><option value=\"threads\">threads</option>"
	"<option value=\"cpus\">CPUs</option></select></label>\n"
	"<button id=\"theme\" type=\"button\">Light or dark</button>\n"
	"</div>\n"
	"<div><canvas id=\"timeline\" tabindex=\"0\" role=\"img\"></canvas></div>\n"
	"<div class=\"controls\"><span id=\"selection\" role=\"status\"></span>\n"
	"<button id=\"clear\" type=\"button\" hidden>Show all (Esc)</button></div>\n"
	"<div id=\"tabs\" role=\"tablist\" aria-label=\"Views\">\n"
	"<button id=\"tab-flame\" role=\"tab\" aria-controls=\"panel-flame\" type=\"button\">"
	"Flame graph</button>\n"
	"<button id=\"tab-table\" role=\"tab\" aria-controls=\"panel-table\" type=\"button\">"
	"Functions</button>\n"
	"<button id=\"tab-tree\" role=\"tab\" aria-controls=\"panel-tree\" type=\"button\">"
	"Call tree</button>\n</div>\n"
	"<div class=\"controls\" style=\"margin-top:10px\">\n"
	"<label>Search <input id=\"search\" type=\"search\" placeholder=\"/ function or object\">"
	"</label>\n"
	"<label><input id=\"inverted\" type=\"checkbox\"> inverted: callers below each function"
	"</label>\n<span id=\"matched\" role=\"status\"></span></div>\n"
	"<div id=\"panel-flame\" role=\"tabpanel\" aria-labelledby=\"tab-flame\">"
	"<div id=\"flame\" role=\"tree\" aria-label=\"Flame graph\"></div></div>\n"
	"<div id=\"panel-table\" role=\"tabpanel\" aria-labelledby=\"tab-table\" hidden><table>"
	"<thead><tr id=\"columns\"></tr></thead><tbody id=\"rows\"></tbody></table>"
	"<p id=\"more\" class=\"quiet\"></p></div>\n"
	"<div id=\"panel-tree\" role=\"tabpanel\" aria-labelledby=\"tab-tree\" hidden>"
	"<p class=\"quiet\">share with callees, share of its own, function</p>"
	"<div id=\"calltree\" role=\"tree\" aria-label=\"Call tree\"></div></div>\n";

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
