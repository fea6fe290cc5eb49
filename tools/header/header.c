/* SPDX-License-Identifier: MIT */
/* pfm header: constants of a set of events for programs without the library. */
#include "header/header.h"
#include "common/event_list.h"
#include "common/pfm.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_PMU = LONG_ONLY, OPT_LANG, OPT_PREFIX, OPT_CPU };
enum { CPUS_MAX = 256 };

static const struct command_option options[] = {
	{ OPT_PMU, "pmu", "NAME", "processor of names without one; default: this machine's" },
	{ OPT_LANG, "lang", "LANGUAGE",
	  "c (default), rust, zig, asm, python, tablegen: registers; go: perf attributes" },
	{ OPT_PREFIX, "prefix", "WORD",
	  "beginning of all names, or the Go package; default: the processor, perfevents" },
	{ OPT_CPU, "cpu", "ID,...",
	  "Go: processors, by their ids as in mapfile.csv: GenuineIntel-6-8F" },
	{ 'u', "user", NULL, "count in user mode only, unless the event names a level" },
	{ 'k', "kernel", NULL, "count in the kernel only, unless the event names a level" },
	{ 0, NULL, NULL, NULL }
};

struct header_job {
	const char *pmu, *language, *prefix;
	const char *cpus[CPUS_MAX];
	unsigned n_cpus, plm;
};

static int write_set(const struct header_job *job, const char *const *texts, unsigned n)
{
	const struct header_language *language = find_header_language(job->language);
	pfm_dispatch_options_t set_options = PFM_INIT(set_options);
	struct header_set h = { .pmu = PFM_INIT(h.pmu), .texts = texts, .prefix = job->prefix };
	pfm_error_t error = PFM_INIT(error);
	pfm_ctx_t *ctx = open_context(job->pmu);
	int rc;

	if (!ctx)
		return EXIT_REFUSED;
	error.event = -1;
	set_options.plm = job->plm;
	h.ctx = ctx;
	rc = pfm_dispatch_set(&h.set, ctx, texts, n, &set_options, &error);
	if (rc == PFMLIB_SUCCESS && pfm_describe_pmu(ctx, h.set->pmu, &h.pmu) == PFMLIB_SUCCESS)
		write_header(stdout, language, &h);
	else
		report_refusal(ctx,
		               !error.n_clash && error.event >= 0 && (unsigned)error.event < n
		                       ? texts[error.event]
		                       : NULL,
		               &error, WANTED_EVENT);
	pfm_close_set(h.set);
	pfm_close_context(ctx);
	return rc == PFMLIB_SUCCESS ? EXIT_DONE : EXIT_REFUSED;
}

/* Splits @list at its commas, which become ends of texts. False if there are too many. */
static bool add_cpus(struct header_job *job, char *list)
{
	for (char *rest = list, *cpu; (cpu = strsep(&rest, ",")) != NULL;) {
		if (!*cpu || job->n_cpus == CPUS_MAX)
			return false;
		job->cpus[job->n_cpus++] = cpu;
	}
	return true;
}

static bool is_word(const char *text)
{
	if (!isalpha((unsigned char)*text))
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return *text == 0;
}

/* No package can have such a name. */
static bool is_go_keyword(const char *word)
{
	static const char *const keywords[] = {
		"break",  "case",        "chan", "const",   "continue", "default", "defer",
		"else",   "fallthrough", "for",  "func",    "go",       "goto",    "if",
		"import", "interface",   "map",  "package", "range",    "return",  "select",
		"struct", "switch",      "type", "var"
	};

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (strcmp(keywords[i], word) == 0)
			return true;
	return false;
}

static int check_job(const struct command_args *args, const struct header_job *job, unsigned n)
{
	bool is_go = strcmp(job->language, "go") == 0;
	char names[80];

	if (!is_go && !find_header_language(job->language))
		return report_usage_error(args, "--lang: expected one of %s, got '%s'.",
		                          list_header_languages(names, sizeof(names)),
		                          job->language);
	if (job->prefix && !is_word(job->prefix))
		return report_usage_error(args,
		                          "--prefix: expected a letter, then letters, digits and "
		                          "underscores, got '%s'.",
		                          job->prefix);
	if (is_go && job->prefix && is_go_keyword(job->prefix))
		return report_usage_error(args, "--prefix: '%s' is a keyword of Go.", job->prefix);
	if (n > HEADER_EVENTS_MAX)
		return report_usage_error(args, "at most %d events together.", HEADER_EVENTS_MAX);
	return check_option_rules(
		args,
		(const struct option_rule[]){
			{ is_go && !job->n_cpus, "--lang go needs --cpu: a file for programs that "
	                                         "run on several processors" },
			{ is_go && job->pmu, "--lang go takes --cpu, not --pmu" },
			{ !is_go && job->n_cpus, "--cpu is for --lang go: use --pmu" },
			{ n == 0, "expected events" } },
		4);
}

static int run_header(struct command_args *args)
{
	struct header_job job = { .language = "c" };
	struct event_list list = { 0 };
	const char *value;
	char *cpus = NULL;
	int id, status;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_PMU: job.pmu = value; break;
		case OPT_LANG: job.language = value; break;
		case OPT_PREFIX: job.prefix = value; break;
		case OPT_CPU:
			free(cpus);
			job.n_cpus = 0;
			cpus = strdup(value);
			if (!cpus)
				return report_no_memory();
			if (!add_cpus(&job, cpus)) {
				free(cpus);
				return report_usage_error(args,
				                          "--cpu: expected up to %d ids with "
				                          "commas between, got '%s'.",
				                          CPUS_MAX, value);
			}
			break;
		case 'u': job.plm |= PFM_PLM3; break;
		default: job.plm |= PFM_PLM0; break;
		}
	if (id < 0) {
		free(cpus);
		return args->status;
	}
	for (int i = 0; i < args->n; i++)
		if (!event_list_add(&list, args->operands[i])) {
			event_list_free(&list);
			free(cpus);
			return report_no_memory();
		}
	status = check_job(args, &job, list.n);
	if (status == EXIT_DONE)
		status = job.n_cpus ? write_go(stdout, job.prefix ? job.prefix : "perfevents",
		                               job.cpus, job.n_cpus,
		                               (const char *const *)list.texts, list.n, job.plm)
		                    : write_set(&job, (const char *const *)list.texts, list.n);
	event_list_free(&list);
	free(cpus);
	return status;
}

const struct command cmd_header = {
	.name = "header",
	.usage = "[--pmu NAME] [--lang LANGUAGE] [--prefix WORD] EVENT...\n"
		 "--lang go --cpu ID,... EVENT...",
	.summary = "print the registers of a set of events as source text",
	.about =
		"Places events on counters as pfm dispatch does and prints constants and tables of "
		"the registers, for programs without the library: kernels, firmware, simulators. "
		"Comments name the source of the events, the counters that can count them, and the "
		"rules that hold.\n"
		"With --lang go the file holds the perf attributes of the events on several "
		"processors and a reader that opens them by perf_event_open(2), without cgo.",
	.examples =
		"Two events of Sapphire Rapids for a kernel in C\n"
		"pfm header --pmu spr MEM_LOAD_RETIRED.L3_MISS INST_RETIRED.ANY\n"
		"Rust constants of a Cortex-A55\n"
		"pfm header --pmu cortex_a55 --lang rust L2D_CACHE_REFILL CPU_CYCLES\n"
		"A Go file for two processors\n"
		"pfm header --lang go --cpu GenuineIntel-6-8F,AuthenticAMD-25-11 instructions\n",
	.options = options,
	.run = run_header
};
