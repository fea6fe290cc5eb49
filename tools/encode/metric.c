/* SPDX-License-Identifier: MIT */
/* pfm metric: metrics computed from given counts. */
#include "common/input_lines.h"
#include "common/metric.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { OPT_JSON = LONG_ONLY };

static const struct command_option options[] = { { 'p', "pmu", "PMU", "processor of the metric" },
	                                         { OPT_JSON, "json", NULL,
	                                           "read and write JSON, one object per line" },
	                                         { 0, NULL, NULL, NULL } };

/* ---- lists ----------------------------------------------------------------------------------- */

/* Splits the path of a list of Intel: the folder is the processor, the name of the file has the
 * core type of a hybrid processor. */
static void split_list_path(const char *list, char pmu[64], char stem[64])
{
	const char *file = base_name(list), *end = strstr(file, "_metrics"), *core;
	size_t n = strcspn(list, "/");

	snprintf(stem, 64, "%.*s", end ? (int)(end - file) : 0, file);
	snprintf(pmu, 64, "%.*s", (int)(n < 30 ? n : 30), list);
	core = end ? end + strlen("_metrics") : "";
	if (*core == '_' && strstr(core, "_core"))
		snprintf(pmu + strlen(pmu), 64 - strlen(pmu), "%.*s",
		         (int)(strstr(core, "_core") - core), core);
	for (char *p = pmu; *p; p++)
		*p = *p == '-' ? '_' : (char)tolower((unsigned char)*p);
}

/* Finds metric @name of @list. Metrics of a variant of the processor (sapphirerapidshbm) are stored
 * under the variant's name and their own. */
static int find_in_list(const pfm_ctx_t *ctx, const char *list, const char *name,
                        struct metric_use *m, pfm_error_t *error)
{
	char pmu[64], stem[64], text[NAME_MAX_LEN];

	split_list_path(list, pmu, stem);
	for (size_t n = strlen(stem), at = n > 8 ? n - 8 : 0; at < n; at++) {
		snprintf(text, sizeof(text), "%s.%s", stem + at, name);
		if (!find_metric(ctx, pmu, text, m, NULL))
			return PFMLIB_SUCCESS;
	}
	return find_metric(ctx, pmu, name, m, error);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* The member of @object called @name, ignoring case if the exact name is missing. */
static const json_t *find_member(const json_t *object, const char *name)
{
	const json_t *exact = *name ? json_object_get(object, name) : NULL;
	union {
		const json_t *in;
		json_t *out;
	} o = { .in = object };

	for (void *at = json_object_iter(o.out); at && !exact && *name;
	     at = json_object_iter_next(o.out, at))
		if (strcasecmp(json_object_iter_key(at), name) == 0)
			return json_object_iter_value(at);
	return exact;
}

/* Returns the count of an input in @object, which names it as the list does, as libperfmon does, or
 * as libperfmon does without the processor. NULL if missing. */
static const json_t *find_given_count(const json_t *object, const pfm_metric_input_t *in)
{
	const char *behind = strstr(in->text, "::");
	const json_t *v = find_member(object, in->alias);

	v = v ? v : find_member(object, in->text);
	if (!v && behind)
		v = find_member(object, behind + 2);
	return v || !in->is_constant ? v : find_member(object, in->text + 1);
}

/* Derives the duration in milliseconds from the duration in seconds, which metrics of perf use. */
static bool derive_constant(const json_t *constants, const pfm_metric_input_t *in, double *value)
{
	const json_t *v = strcmp(in->text, "#duration_ms") == 0
	                          ? find_member(constants, "duration_time")
	                          : NULL;

	if (json_is_number(v))
		*value = json_number_value(v) * 1000;
	return json_is_number(v);
}

static void read_counts(const pfm_ctx_t *ctx, const json_t *counts, const json_t *constants,
                        struct metric_use *m)
{
	for (unsigned i = 0; i < m->info.n_inputs; i++) {
		pfm_metric_input_t in = PFM_INIT(in);
		pfm_metric_operand_t *c = &m->counts[i];
		const json_t *v;

		*c = (pfm_metric_operand_t){ 0 };
		if (pfm_describe_metric_input(ctx, m->pmu, m->event, i, &in))
			continue;
		v = find_given_count(in.is_constant ? constants : counts, &in);
		v = v ? v : find_given_count(in.is_constant ? counts : constants, &in);
		c->known = json_is_number(v) || in.has_preset ||
		           derive_constant(constants, &in, &c->value);
		if (json_is_number(v))
			c->value = json_number_value(v);
		else if (c->known && in.has_preset)
			c->value = in.preset;
	}
}

/* ---- answers --------------------------------------------------------------------------------- */

static const char *get_request_text(const json_t *request, const char *key)
{
	return json_string_value(json_object_get(request, key));
}

/* The name by which an input may be given. The expression of a constant is not a name. */
static const char *get_input_name(const pfm_metric_input_t *in)
{
	return in->is_constant ? in->text + 1 : *in->alias ? in->alias : in->text;
}

/* Finds out whether exact counts can make value @v. The peak of the memory is unknown. */
static void check_value(const pfm_ctx_t *ctx, const struct metric_use *m,
                        const pfm_metric_value_t *v, pfm_metric_check_t *check)
{
	if (pfm_check_metric(ctx, m->pmu, m->event, v, 0, 0, check))
		check->result = PFM_PLAUSIBLE;
}

static void put_value(struct json *j, const pfm_ctx_t *ctx, const struct metric_use *m,
                      const pfm_metric_value_t *v)
{
	pfm_metric_input_t in = PFM_INIT(in);
	pfm_metric_check_t check = PFM_INIT(check);

	if (v->state == PFM_METRIC_DEFINED)
		put_number(j, "value", v->value);
	else
		put_null(j, "value");
	check_value(ctx, m, v, &check);
	if (check.result) {
		put_text(j, "implausible", pfm_plausibility_name(check.result));
		put_text(j, "reason", check.reason);
	}
	put_text(j, "unit", m->info.unit);
	if (v->over_threshold < 0)
		put_null(j, "over_threshold");
	else
		put_bool(j, "over_threshold", v->over_threshold != 0);
	if (v->state != PFM_METRIC_DEFINED)
		put_text(j, "why", pfm_metric_state_name(v->state));
	if (v->missing >= 0 &&
	    !pfm_describe_metric_input(ctx, m->pmu, m->event, (unsigned)v->missing, &in))
		put_text(j, "missing", get_input_name(&in));
}

static void put_refusal(struct json *j, const char *message)
{
	put_begin(j, "error", '{');
	put_text(j, "message", message);
	put_end(j, '}');
}

/* A count is a number of 64 bits. */
static bool is_count(double value)
{
	return value >= 0 && value <= 0x1p64;
}

static bool is_object_of_counts(const json_t *object)
{
	const char *key;
	const json_t *v;
	union {
		const json_t *in;
		json_t *out;
	} o = { .in = object };

	json_object_foreach (o.out, key, v)
		if (!json_is_null(v) && !(json_is_number(v) && is_count(json_number_value(v))))
			return false;
	return json_is_object(object);
}

/* The error in a member of @request, or NULL. Members may be missing or null. */
static const char *check_request_members(const json_t *request)
{
	static const struct {
		const char *key, *wrong;
		bool numbers;
	} members[] = { { "pmu", "expected a text in \"pmu\"", false },
		        { "list", "expected a text in \"list\"", false },
		        { "counts", "expected an object of numbers from 0 to 2^64 in \"counts\"",
		          true },
		        { "constants",
		          "expected an object of numbers from 0 to 2^64 in \"constants\"", true } };

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const json_t *v = json_object_get(request, members[i].key);

		if (v && !json_is_null(v) &&
		    !(members[i].numbers ? is_object_of_counts(v) : json_is_string(v)))
			return members[i].wrong;
	}
	return NULL;
}

static int evaluate_metric(struct json *j, const pfm_ctx_t *ctx, const char *pmu,
                           const json_t *request)
{
	static struct metric_use m;
	pfm_metric_value_t value = PFM_INIT(value);
	pfm_error_t error = PFM_INIT(error);
	const char *name = get_request_text(request, "metric"),
		   *list = get_request_text(request, "list"),
		   *own = get_request_text(request, "pmu");
	const char *wrong = check_request_members(request);
	int rc;

	if (!name || strlen(name) > 240) {
		put_refusal(j, "expected a name of 1 to 240 bytes in \"metric\"");
		return EXIT_REFUSED;
	}
	if (wrong) {
		put_refusal(j, wrong);
		return EXIT_REFUSED;
	}
	rc = list && !own ? find_in_list(ctx, list, name, &m, &error)
	                  : find_metric(ctx, own ? own : pmu, name, &m, &error);
	if (rc) {
		put_text(j, "input", m.text);
		put_refusal_json(j, ctx, m.text, &error, WANTED_ANY);
		return EXIT_REFUSED;
	}
	read_counts(ctx, json_object_get(request, "counts"), json_object_get(request, "constants"),
	            &m);
	rc = pfm_compute_metric(ctx, m.pmu, m.event,
	                        &(pfm_metric_data_t){ .size = sizeof(pfm_metric_data_t),
	                                              .n_inputs = m.info.n_inputs,
	                                              .operands = m.counts },
	                        &value);
	if (rc) {
		put_refusal(j, pfm_result_text(rc));
		return EXIT_REFUSED;
	}
	put_value(j, ctx, &m, &value);
	return EXIT_DONE;
}

/* Writes the id as it was given. Numbers are parsed as floating point to hold large ones; whole
 * ones are written without a fraction. */
static void put_id(struct json *j, const json_t *id)
{
	double number = json_is_real(id) ? json_real_value(id) : 0.5;

	if (number == floor(number) && fabs(number) < 0x1p53) {
		put_int(j, "id", (int64_t)number);
		return;
	}
	put_value_of(j, "id", id);
}

struct evaluator {
	const pfm_ctx_t *ctx;
	const char *pmu; /* of metrics without a prefix, or NULL */
	struct json out;
};

/* Answers a request, which is a line. */
static int evaluate_line(void *arg, char *line, size_t len)
{
	struct evaluator *e = arg;
	struct json *j = &e->out;
	json_error_t why;
	json_t *request = json_loadb(line, len, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &why);
	json_t *id = request ? json_object_get(request, "id") : NULL;
	int status;

	if (!len)
		return EXIT_DONE;
	put_begin(j, NULL, '{');
	if (id)
		put_id(j, id);
	if (json_is_object(request)) {
		status = evaluate_metric(j, e->ctx, e->pmu, request);
	} else {
		put_refusal(j, request ? "expected an object" : why.text);
		status = EXIT_REFUSED;
	}
	put_end(j, '}');
	put_line(j);
	json_decref(request);
	return status;
}

/* ---- one metric, counts on the command line -------------------------------------------------- */

/* True if an input may be given by @name. */
static bool is_operand_input(const pfm_ctx_t *ctx, const struct metric_use *m, const char *name)
{
	json_t *alone = json_object();
	pfm_metric_input_t in = PFM_INIT(in);
	bool found = json_object_set_new(alone, name, json_real(0)) !=
	             0; /* no memory: omit the warning */
	double value;

	for (unsigned i = 0; i < m->info.n_inputs && !found; i++)
		found = !pfm_describe_metric_input(ctx, m->pmu, m->event, i, &in) &&
		        (find_given_count(alone, &in) || derive_constant(alone, &in, &value));
	json_decref(alone);
	return found;
}

/* Reports given counts that no input uses, since the name may be misspelled. */
static void report_unused(const pfm_ctx_t *ctx, const struct metric_use *m, json_t *counts)
{
	unsigned n = 0;

	for (void *at = json_object_iter(counts); at; at = json_object_iter_next(counts, at)) {
		if (is_operand_input(ctx, m, json_object_iter_key(at)))
			continue;
		if (n == 0)
			fprintf(stderr, "pfm metric: note: %s does not need", m->info.name);
		fprintf(stderr, "%s %s", n++ ? "," : "", json_object_iter_key(at));
	}
	if (n)
		fputc('\n', stderr);
}

static int print_value(const pfm_ctx_t *ctx, const char *pmu, const char *name, json_t *counts)
{
	static struct metric_use m;
	pfm_metric_value_t v = PFM_INIT(v);
	pfm_metric_check_t check = PFM_INIT(check);
	pfm_metric_input_t in = PFM_INIT(in);
	pfm_error_t error = PFM_INIT(error);
	int rc;

	if (!*name) {
		fprintf(stderr, "pfm metric: expected the name of a metric, got an empty one; 'pfm "
		                "list --metrics' lists them\n");
		return EXIT_REFUSED;
	}
	rc = find_metric(ctx, pmu, name, &m, &error);
	if (rc) {
		report_refusal(ctx, m.text, &error, WANTED_ANY);
		return EXIT_REFUSED;
	}
	read_counts(ctx, counts, counts, &m);
	report_unused(ctx, &m, counts);
	rc = pfm_compute_metric(ctx, m.pmu, m.event,
	                        &(pfm_metric_data_t){ .size = sizeof(pfm_metric_data_t),
	                                              .n_inputs = m.info.n_inputs,
	                                              .operands = m.counts },
	                        &v);
	if (!rc && v.state == PFM_METRIC_DEFINED) {
		printf("%s  %.6g%s%s%s", m.info.name, v.value, *m.info.unit ? " " : "", m.info.unit,
		       v.over_threshold > 0 ? "  worth a closer look" : "");
		check_value(ctx, &m, &v, &check);
		if (check.result)
			printf("  %s: %s", pfm_plausibility_name(check.result), check.reason);
		putchar('\n');
		return EXIT_DONE;
	}
	fprintf(stderr, "pfm metric: %s: %s", m.info.name,
	        rc ? pfm_result_text(rc) : pfm_metric_state_name(v.state));
	if (!rc && v.missing >= 0 &&
	    !pfm_describe_metric_input(ctx, m.pmu, m.event, (unsigned)v.missing, &in))
		fprintf(stderr, ": add %s=COUNT",
		        strstr(get_input_name(&in), "::") ? strstr(get_input_name(&in), "::") + 2
		                                          : get_input_name(&in));
	fprintf(stderr, "\n");
	return EXIT_REFUSED;
}

/* Reads NAME=COUNT from each operand, every name once; the caller frees the result. Returns
 * EXIT_DONE, or an exit status after a message. */
static int parse_operand_counts(const struct command_args *args, json_t **out)
{
	json_t *counts = *out = json_object();
	bool is_added = counts;

	for (int i = 1; is_added && i < args->n; i++) {
		char *mark = strrchr(args->operands[i], '='), *end = NULL;
		double value = mark ? strtod(mark + 1, &end) : 0;

		if (!mark || mark == args->operands[i] || !mark[1] || *end || !isfinite(value))
			return report_usage_error(args, "expected NAME=COUNT, got '%s'",
			                          args->operands[i]);
		*mark = '\0';
		if (!is_count(value))
			return report_usage_error(args,
			                          "%s: expected a count from 0 to 2^64, got %s",
			                          args->operands[i], mark + 1);
		if (find_member(counts, args->operands[i]))
			return report_usage_error(args, "%s is given twice", args->operands[i]);
		is_added = !json_object_set_new(counts, args->operands[i], json_real(value));
	}
	return is_added ? EXIT_DONE : report_no_memory();
}

static int run_metric(struct command_args *args)
{
	const char *value, *pmu = NULL;
	bool json = false;
	json_t *counts = NULL;
	pfm_ctx_t *ctx;
	int id, status;

	while ((id = next_option(args, &value)) > 0) {
		json |= id == OPT_JSON;
		pmu = id == 'p' ? value : pmu;
	}
	if (id < 0)
		return args->status;
	if (json ? args->n > 1 || (args->n == 1 && strcmp(args->operands[0], "-") != 0)
	         : args->n == 0)
		return report_usage_error(
			args,
			json ? "expected no operand but -: requests are read from standard input"
			     : "expected a metric");
	status = json ? EXIT_DONE : parse_operand_counts(args, &counts);
	ctx = status == EXIT_DONE ? open_context(NULL) : NULL;
	if (status == EXIT_DONE && !ctx)
		status = EXIT_REFUSED;
	else if (status == EXIT_DONE)
		status =
			json ? visit_input_lines(evaluate_line,
		                                 &(struct evaluator){ ctx, pmu, { .out = stdout } })
			     : print_value(ctx, pmu, args->operands[0], counts);
	json_decref(counts);
	pfm_close_context(ctx);
	return status;
}

const struct command cmd_metric = {
	.name = "metric",
	.usage = "[--pmu PMU] METRIC NAME=COUNT...\n--json [-] < REQUESTS",
	.summary = "compute metrics from counts",
	.about = "Computes a metric from counts of any tool. With --json, reads one request per "
		 "line, an object with the members \"id\", \"pmu\" or \"list\", \"metric\", "
		 "\"counts\" and \"constants\", and answers with \"id\", \"value\", \"unit\" and "
		 "\"over_threshold\". The value is null where it is undefined, and \"why\" gives "
		 "the reason.",
	.examples =
		"Instructions per cycle of a Skylake server\n"
		"pfm metric --pmu skx Info_Thread_IPC INST_RETIRED.ANY=2000 "
		"CPU_CLK_UNHALTED.THREAD=1000\n"
		"The same metric as a JSON request\n"
		"echo '{\"id\":1,\"pmu\":\"skx\",\"metric\":\"Info_Thread_IPC\",\"counts\":{\"INST_"
		"RETIRED.ANY\":2000,\"CPU_CLK_UNHALTED.THREAD\":1000}}' | pfm metric --json -\n",
	.options = options,
	.run = run_metric
};
