/* SPDX-License-Identifier: MIT */
/* pfm explain --regions: pfm stat --regions counts the metrics of the rules, and each region is
 * explained by its own. */
#include "explain/explain.h"
#include "common/pfm.h"
#include "stat/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_BEFORE = 9, LIST_MAX = 2048 };

/* ---- counting -------------------------------------------------------------------------------- */

/* Lists the metrics that this machine accepts, with commas between. */
static void list_accepted(pfm_ctx_t *ctx, struct explain_evidence *e, char list[LIST_MAX])
{
	size_t at = 0;

	*list = 0;
	for (size_t i = 0; i < e->n; i++) {
		struct explain_value *v = &e->values[i];

		if (!is_metric_accepted(ctx, v))
			continue;
		at += (size_t)snprintf(list + at, LIST_MAX - at, "%s%s", at ? "," : "", v->metric);
		if (at >= LIST_MAX)
			return;
	}
}

/* Runs pfm stat --regions; its results go into the file @path. */
static int run_stat(char *const *command, char *list, char *path, int *status)
{
	char *const before[WORDS_BEFORE] = {
		"/proc/self/exe", "stat", "--regions", "--json", "-o", path, "-M", list, "--"
	};
	char **words;
	struct child child;
	size_t n = 0;

	while (command[n])
		n++;
	words = calloc(WORDS_BEFORE + n + 1, sizeof(*words));
	if (!words)
		return report_no_memory();
	memcpy(words, before, sizeof(before));
	memcpy(words + WORDS_BEFORE, command, n * sizeof(*words));
	program_name = "pfm explain";
	if (child_prepare(words, NULL, &child) || child_start(words, &child)) {
		free(words);
		return EXIT_REFUSED;
	}
	free(words);
	catch_interrupts();
	waitpid(child.pid, status, 0);
	return EXIT_DONE;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void forget_values(struct explain_evidence *e)
{
	for (size_t i = 0; i < e->n; i++)
		e->values[i] = (struct explain_value){ .metric = e->values[i].metric,
			                               .reason = "it is not measured by region" };
}

static void set_value(struct explain_evidence *e, const char *metric, double value, double low,
                      double high)
{
	for (size_t i = 0; i < e->n; i++) {
		struct explain_value *v = &e->values[i];
		const char *colons = strstr(v->metric, "::");

		if (strcmp(colons ? colons + 2 : v->metric, metric) != 0)
			continue;
		v->value = value;
		v->low = low;
		v->high = high;
		v->is_known = true;
		*v->reason = 0;
	}
}

static double get_number(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

/* Takes over the metrics of a region that have an interval. */
static void read_values(const json_t *region, struct explain_evidence *e)
{
	const json_t *metrics = json_object_get(region, "metrics");

	forget_values(e);
	for (size_t i = 0; i < json_array_size(metrics); i++) {
		const json_t *m = json_array_get(metrics, i);
		const char *quality = json_string_value(json_object_get(m, "quality"));

		e->is_pretended |= quality && strcmp(quality, "pretended") == 0;
		if (json_is_number(json_object_get(m, "low")))
			set_value(e, json_string_value(json_object_get(m, "metric")),
			          get_number(m, "value"), get_number(m, "low"),
			          get_number(m, "high"));
	}
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_region(const json_t *region, const struct explain_evidence *e, const char *text)
{
	const json_t *wall = json_object_get(region, "wall_ns");

	printf("%s%s%s: %.0f visits, %.3g seconds%s\n", term_colour_begin(stdout, BOLD),
	       json_string_value(json_object_get(region, "region")), term_colour_end(stdout),
	       get_number(region, "visits"), get_number(wall, "exclusive") / 1e9,
	       e->is_pretended ? "; the counts are pretended" : "");
	print_nodes(e, text);
	putchar('\n');
}

static void put_region(struct json *json, const json_t *region, const struct explain_evidence *e,
                       const char *text)
{
	put_begin(json, NULL, '{');
	put_text(json, "region", json_string_value(json_object_get(region, "region")));
	put_count(json, "visits", (uint64_t)get_number(region, "visits"));
	put_real(json, "seconds",
	         get_number(json_object_get(region, "wall_ns"), "exclusive") / 1e9);
	put_nodes(json, e, text);
	put_values(json, e);
	put_end(json, '}');
}

/* True if @line is of a region; other lines are of a thread in it, or of the whole program. */
static bool is_whole_region(const json_t *line)
{
	return json_is_string(json_object_get(line, "region")) &&
	       !json_is_integer(json_object_get(line, "thread"));
}

/* Explains each line of @results that is a region. */
static void explain_lines(FILE *results, struct explain_evidence *e, const char *text,
                          struct json *json)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, results) > 0) {
		json_t *region = json_loads(line, 0, NULL);

		if (is_whole_region(region)) {
			read_values(region, e);
			if (json)
				put_region(json, region, e, text);
			else
				print_region(region, e, text);
		}
		json_decref(region);
	}
	free(line);
}

static void explain_results(FILE *results, struct explain_evidence *e, const char *text,
                            bool is_json)
{
	struct json json = { .out = stdout };

	if (!is_json) {
		explain_lines(results, e, text, NULL);
		return;
	}
	put_begin(&json, NULL, '{');
	put_text(&json, "target", text);
	put_begin(&json, "regions", '[');
	explain_lines(results, e, text, &json);
	put_end(&json, ']');
	put_end(&json, '}');
	put_line(&json);
}

int explain_regions(pfm_ctx_t *ctx, const struct explain_target *target, const char *text,
                    bool json, struct explain_evidence *e, int *status)
{
	char path[] = "/tmp/pfm-explain-XXXXXX", list[LIST_MAX];
	int fd = mkostemp(path, O_CLOEXEC), result;
	FILE *results = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (!results) {
		fprintf(stderr, "pfm explain: %s: %s\n", path, strerror(errno));
		return EXIT_REFUSED;
	}
	list_accepted(ctx, e, list);
	result = run_stat(target->command, list, path, status);
	if (result == EXIT_DONE)
		explain_results(results, e, text, json);
	fclose(results);
	unlink(path);
	return result;
}
