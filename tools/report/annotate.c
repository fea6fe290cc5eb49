/* SPDX-License-Identifier: MIT */
/* pfm annotate: the places within a function where samples are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/columns.h"
#include "report/disassembly.h"
#include "report/source_text.h"
#include "common/pfm.h"
#include "report/view.h"
#include "base/text_output.h"
#include "common/profile_messages.h"

enum { OPT_JSON = LONG_ONLY, OPT_TASK, OPT_DEBUG_FOLDER, OPT_SYMBOLS };

static const struct command_option options[] = {
	{ OPT_JSON, "json", NULL, "one JSON object for each instruction that has samples" },
	{ 'e', "event", "NAME", "only samples of this event; * and ? are wildcards" },
	{ OPT_TASK, "task", "NAME", "only samples of this task; * and ? are wildcards" },
	{ OPT_DEBUG_FOLDER, "debug-dir", "DIR",
	  "folder of separate debug files; default /usr/lib/debug" },
	{ OPT_SYMBOLS, "symbols", "DIR|URL",
	  "folder of programs and debug files by build id, or a server of them (debuginfod)" },
	{ 0, NULL, NULL, NULL }
};

struct annotate_job {
	struct profile profile;
	struct profile_options options;
	const char *path, *event;
	bool json;
	const struct profile_place *function; /* a place in the shown function */
	struct profile_place chosen;          /* copy of that place for use during sorting */
	struct disassembly code;
};

static bool is_shown(const struct annotate_job *job, const struct profile_place *at)
{
	return !job->event ||
	       profile_matches_event(get_event_name(&job->profile, at->event), job->event);
}

static bool is_in_function(const struct annotate_job *job, const struct profile_place *at)
{
	return at->object == job->function->object && at->function == job->function->function &&
	       at->start == job->function->start;
}

/* Orders places by event, then by address. */
static int compare_addresses(const void *a, const void *b)
{
	const struct profile_place *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* Chooses the function with the heaviest place among those of the name. */
static int choose_function(struct annotate_job *job)
{
	struct profile *p = &job->profile;
	char line[NAME_LINE];
	bool has_others = false;

	for (size_t i = 0; i < p->n_places; i++)
		if (is_shown(job, &p->places[i]) &&
		    (!job->function || p->places[i].weight > job->function->weight))
			job->function = &p->places[i];
	if (!job->function) {
		fprintf(stderr,
		        "pfm annotate: %s has no samples in '%s'; 'pfm report' shows functions "
		        "that have some\n",
		        job->path, job->options.symbol);
		return EXIT_REFUSED;
	}
	for (size_t i = 0; i < p->n_places; i++)
		has_others |= is_shown(job, &p->places[i]) && !is_in_function(job, &p->places[i]);
	if (has_others)
		fprintf(stderr,
		        "pfm annotate: '%s' is the name of several functions: that of %s is "
		        "shown\n",
		        job->options.symbol,
		        profile_format_line(p->texts.text[job->function->object], line));
	return EXIT_DONE;
}

/* Disassembles the function. Reports a failure. */
static void read_code(struct annotate_job *job)
{
	const struct profile_place *f = job->function;
	const char *path = job->profile.texts.text[f->object];
	struct source_text *source;
	int rc;

	if (!f->end) {
		fprintf(stderr,
		        "pfm annotate: instructions are not shown: the code of %s is not in a "
		        "file\n",
		        path);
		return;
	}
	source = job->json ? NULL : source_text_open(path, job->path, job->options.debug_folder);
	rc = disassemble_function(&job->code, path, f->start, f->end, !job->json, source);
	source_text_close(source);
	if (rc == ENOENT)
		fputs("pfm annotate: instructions are not shown: objdump is missing (Debian "
		      "package binutils)\n",
		      stderr);
	else if (rc == ETIMEDOUT)
		fprintf(stderr,
		        "pfm annotate: instructions are not shown: objdump takes too long for %s\n",
		        path);
	else if (rc)
		fprintf(stderr,
		        "pfm annotate: instructions are not shown: objdump cannot read %s\n", path);
}

/* Samples and weight of the function in @event. */
static struct profile_sum compute_function_sum(const struct annotate_job *job, unsigned event)
{
	struct profile_sum sum = { 0 };

	for (size_t i = 0; i < job->profile.n_places; i++) {
		const struct profile_place *at = &job->profile.places[i];

		if (at->event != event || !is_in_function(job, at))
			continue;
		sum.samples += at->samples;
		sum.weight += at->weight;
	}
	return sum;
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { ADDRESS_COLUMNS = 10 }; /* of an instruction */

/* Returns the columns left for a text after @used columns. */
static size_t get_columns_left(size_t used)
{
	size_t columns = term_width(stdout);

	return !columns ? SIZE_MAX : columns > used ? columns - used : 0;
}

struct line_share {
	uint32_t source;
	uint64_t weight;
};

static int compare_line_shares(const void *a, const void *b)
{
	const struct line_share *x = a, *y = b;

	return x->weight < y->weight ? 1 : -(x->weight > y->weight);
}

/* Finds the place of an instruction by binary search; NULL if missing. */
static const struct profile_place *find_instruction(const struct annotate_job *job, unsigned event,
                                                    uint64_t address)
{
	const struct profile *p = &job->profile;
	const struct profile_place key = { .event = event, .address = address };
	const struct profile_place *found =
		p->n_places ? bsearch(&key, p->places, p->n_places, sizeof(key), compare_addresses)
			    : NULL;

	if (!found)
		return NULL;
	while (found > p->places && compare_addresses(found - 1, &key) == 0)
		found--;
	for (; found < p->places + p->n_places && compare_addresses(found, &key) == 0; found++)
		if (is_in_function(job, found))
			return found;
	return NULL;
}

/* Prints the source lines of the function, the heaviest first. */
static int put_line_shares(const struct annotate_job *job, unsigned event,
                           const struct profile_sum *sum)
{
	const struct profile *p = &job->profile;
	struct line_share *shares = calloc(p->texts.n + 1, sizeof(*shares));
	char line[NAME_LINE];

	if (!shares)
		return report_no_memory();
	for (size_t i = 0; i < p->n_places; i++)
		if (p->places[i].event == event && is_in_function(job, &p->places[i])) {
			shares[p->places[i].source].source = p->places[i].source;
			shares[p->places[i].source].weight += p->places[i].weight;
		}
	shares[0].weight = 0; /* no line is known */
	qsort(shares, p->texts.n, sizeof(*shares), compare_line_shares);
	for (size_t i = 0; i < p->texts.n && shares[i].weight; i++) {
		put_share(stdout, (double)shares[i].weight / (double)sum->weight, sum);
		fputs("  ", stdout);
		profile_format_line(p->texts.text[shares[i].source], line);
		put_cut(stdout, line, get_columns_left(SHARE_COLUMNS + 2), CUT_MIDDLE);
		putchar('\n');
	}
	putchar('\n');
	free(shares);
	return EXIT_DONE;
}

static void put_code_text(const struct code_line *c)
{
	size_t used = SHARE_COLUMNS + 2 + (c->is_instruction ? ADDRESS_COLUMNS : 0);

	if (term_is_terminal(stdout))
		put_cut(stdout, c->text, get_columns_left(used), CUT_END);
	else
		base_put_line(stdout, c->text);
}

static void put_code(const struct annotate_job *job, unsigned event, const struct profile_sum *sum)
{
	for (size_t i = 0; i < job->code.n; i++) {
		const struct code_line *c = &job->code.lines[i];
		const struct profile_place *at =
			c->is_instruction ? find_instruction(job, event, c->address) : NULL;

		if (at)
			put_share(stdout, (double)at->weight / (double)sum->weight, sum);
		else
			printf("%15s", "");
		if (c->is_instruction)
			printf("  %8llx  ", (unsigned long long)c->address);
		else
			fputs("  ", stdout);
		put_code_text(c);
		putchar('\n');
	}
}

/* Prints addresses without instructions. */
static void put_addresses(const struct annotate_job *job, unsigned event,
                          const struct profile_sum *sum)
{
	for (size_t i = 0; i < job->profile.n_places; i++) {
		const struct profile_place *at = &job->profile.places[i];

		if (at->event != event || !is_in_function(job, at))
			continue;
		put_share(stdout, (double)at->weight / (double)sum->weight, sum);
		put_key_columns(stdout, &job->profile, at, KEY_ADDRESS, &plain_key_layout, 0);
	}
}

static int put_event(const struct annotate_job *job, unsigned event)
{
	const struct profile *p = &job->profile;
	struct profile_sum sum = compute_function_sum(job, event);
	char number[GROUPED_MAX], title[NAME_LINE], function[NAME_LINE];
	int status;

	if (!sum.samples)
		return EXIT_DONE;
	printf("%s%s%s: %s samples in %s of %s\n", term_colour_begin(stdout, BOLD),
	       profile_format_line(get_event_name(p, event), title), term_colour_end(stdout),
	       group_digits(sum.samples, number),
	       profile_format_line(p->texts.text[job->function->function], function),
	       base_name(p->texts.text[job->function->object]));
	status = put_line_shares(job, event, &sum);
	if (job->code.n)
		put_code(job, event, &sum);
	else
		put_addresses(job, event, &sum);
	putchar('\n');
	return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Finds the instruction at @address from *@line on, or NULL. Callers pass ascending addresses. */
static const char *find_next_instruction_text(const struct annotate_job *job, uint64_t address,
                                              size_t *line)
{
	const struct code_line *lines = job->code.lines;

	while (*line < job->code.n &&
	       (!lines[*line].is_instruction || lines[*line].address < address))
		++*line;
	return *line < job->code.n && lines[*line].address == address ? lines[*line].text : NULL;
}

static void put_event_json(const struct annotate_job *job, unsigned event)
{
	struct profile_sum sum = compute_function_sum(job, event);
	size_t line = 0;

	for (size_t i = 0; i < job->profile.n_places; i++) {
		const struct profile_place *at = &job->profile.places[i];
		struct json j = { .out = stdout };

		if (at->event != event || !is_in_function(job, at))
			continue;
		put_begin(&j, NULL, '{');
		put_key_members(&j, &job->profile, at,
		                KEY_OBJECT | KEY_SYMBOL | KEY_ADDRESS | KEY_LINE);
		put_text_if(&j, "instruction", find_next_instruction_text(job, at->address, &line));
		put_share_members(&j, "", at->samples, at->weight, &sum);
		put_end(&j, '}');
		put_line(&j);
	}
}

/* ---- the command ----------------------------------------------------------------------------- */

static int print_annotation(struct annotate_job *job)
{
	struct profile *p = &job->profile;
	int status = read_recorded_profile(p, job->path, &job->options);

	if (status == EXIT_DONE)
		status = choose_function(job);
	if (status != EXIT_DONE)
		return status;
	report_profile_losses(p, job->path);
	read_code(job);
	job->chosen = *job->function;
	job->function = &job->chosen;
	qsort(p->places, p->n_places, sizeof(*p->places), compare_addresses);
	for (unsigned event = 0; event < p->n_events && status == EXIT_DONE; event++) {
		if (!is_shown(job, &(struct profile_place){ .event = event }))
			continue;
		if (job->json)
			put_event_json(job, event);
		else
			status = put_event(job, event);
	}
	return status;
}

static int run_annotate(struct command_args *args)
{
	struct annotate_job job = { .options = { .keys = KEY_OBJECT | KEY_SYMBOL | KEY_ADDRESS |
		                                         KEY_LINE,
		                                 .file_addresses = true } };
	const char *value;
	int id, status;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_JSON: job.json = true; break;
		case 'e': job.event = value; break;
		case OPT_TASK: job.options.task = value; break;
		case OPT_SYMBOLS: use_symbols(&job.options, value); break;
		default: job.options.debug_folder = value; break;
		}
	if (id < 0)
		return args->status;
	if (args->n < 1 || args->n > 2)
		return report_usage_error(args, "expected a function, then a recording.");
	job.options.symbol = args->operands[0];
	job.path = args->n == 2 ? args->operands[1] : "perf.data";
	status = print_annotation(&job);
	profile_free(&job.profile);
	free_disassembly(&job.code);
	return status;
}

const struct command cmd_annotate = {
	.name = "annotate",
	.usage = "[OPTION]... SYMBOL [FILE]",
	.summary = "show where in a function the samples are: lines and instructions",
	.about =
		"Shows the source lines of a function that have samples, then its instructions "
		"with source text and arrows for jumps, as objdump of binutils prints them. Shares "
		"are of the samples in the function. SYMBOL may have * and ?; of several functions "
		"the one with the "
		"heaviest instruction is shown. On most processors a sample is at an instruction "
		"after the one that took the time.",
	.examples = "The hottest instructions of a function\n"
		    "pfm record -- ./program && pfm annotate '*'\n",
	.options = options,
	.reads_recording = true,
	.run = run_annotate
};
