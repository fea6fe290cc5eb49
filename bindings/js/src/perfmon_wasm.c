/* SPDX-License-Identifier: MIT */
/* The encoder as a module of WebAssembly. Each function returns an answer of tests/driver/README.md
 * as text, valid until the next call. The page copies the tables to perfmon_tables() first. */
#include <inttypes.h>
#include <perfmon/event.h>
#include <perfmon/metric.h>
#include <perfmon/plan.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(NAME) __attribute__((export_name(NAME)))

enum { TEXTS_MAX = 128, GROUP_MAX = 4096 };

/* The built-in image: PERFMON_TABLES_SIZE bytes, of which perfmon.tables has those from
 * PERFMON_WORDS_AT on in another order (bindings/js/pack.py). */
_Alignas(64) char pfmi_builtin_image[PERFMON_TABLES_SIZE];
static pfm_ctx_t *ctx;

unsigned geteuid(void)
{
	return 0;
}

/* ---- answers --------------------------------------------------------------------------------- */

static struct {
	char *text;
	size_t used, capacity;
} answer;

static bool reserve(size_t n)
{
	size_t size = answer.capacity * 2 + n + 1024;
	char *text;

	if (answer.capacity - answer.used > n)
		return true;
	text = realloc(answer.text, size);
	if (!text)
		return false;
	answer.text = text;
	answer.capacity = size;
	return true;
}

static __attribute__((format(printf, 1, 2))) void put(const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0 || !reserve((size_t)n))
		return;
	va_start(args, format);
	vsnprintf(answer.text + answer.used, answer.capacity - answer.used, format, args);
	va_end(args);
	answer.used += (size_t)n;
}

/* Texts of the library are UTF-8, which stays as it is. */
static void put_quoted(const char *text)
{
	put("\"");
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			put("\\%c", *text);
		else if ((unsigned char)*text < ' ')
			put("\\u%04x", (unsigned)*text);
		else
			put("%c", *text);
	put("\"");
}

static void put_member(const char *key, const char *text)
{
	put(", \"%s\": ", key);
	put_quoted(text ? text : "");
}

static void begin(int rc)
{
	answer.used = 0;
	put("{\"rc\": %d", rc);
}

static const char *end(void)
{
	put("}");
	return answer.text;
}

static void put_registers(const char *key, const pfm_reg_t *regs, unsigned n)
{
	put(", \"%s\": [", key);
	for (unsigned i = 0; i < n; i++) {
		put("%s[%d, %" PRIu32 ", \"0x%" PRIx64 "\", \"0x%" PRIx64 "\", ", i ? ", " : "",
		    (int)regs[i].kind, regs[i].num, regs[i].addr, regs[i].value);
		put_quoted(regs[i].name);
		put(", %" PRId32 "]", regs[i].event);
	}
	put("]");
}

static const char *refuse(const char *text, int rc, const pfm_error_t *error)
{
	char sentence[512], names[3][96];
	size_t n = 0;

	begin(rc);
	put_member("kind", pfm_error_kind_name(error->kind));
	put(", \"start\": %" PRIu32 ", \"end\": %" PRIu32, error->start, error->end);
	pfm_explain_error(ctx, text, error, sentence, sizeof(sentence));
	put_member("sentence", sentence);
	put(", \"clash\": [");
	for (unsigned i = 0; i < error->n_clash; i++)
		put("%s%u", i ? ", " : "", error->clash[i]);
	put("], \"suggestions\": [");
	if (text)
		n = pfm_suggest_names(ctx, text, error, names, 3);
	for (size_t i = 0; i < n; i++) {
		put("%s", i ? ", " : "");
		put_quoted(names[i]);
	}
	put("]");
	return end();
}

/* Refuses a set, of whose texts one can be at fault. */
static const char *refuse_set(const char **texts, unsigned n, int rc, const pfm_error_t *error)
{
	bool has_event = error->event >= 0 && (unsigned)error->event < n;

	return refuse(has_event ? texts[error->event] : NULL, rc, error);
}

/* Splits @lines at newlines, which become ends of texts. */
static unsigned split(char *lines, const char **texts)
{
	unsigned n = 0;

	for (char *line = strtok(lines, "\n"); line && n < TEXTS_MAX; line = strtok(NULL, "\n"))
		texts[n++] = line;
	return n;
}

/* ---- the interface of the module ------------------------------------------------------------- */

EXPORT("perfmon_tables")
char *perfmon_tables(void)
{
	return pfmi_builtin_image;
}

EXPORT("perfmon_tables_size")
unsigned perfmon_tables_size(void)
{
	return sizeof(pfmi_builtin_image);
}

EXPORT("perfmon_words_at")
unsigned perfmon_words_at(void)
{
	return PERFMON_WORDS_AT;
}

EXPORT("perfmon_allocate")
char *perfmon_allocate(unsigned n)
{
	return malloc(n);
}

EXPORT("perfmon_release")
void perfmon_release(char *memory)
{
	free(memory);
}

EXPORT("perfmon_open")
int perfmon_open(void)
{
	pfm_ctx_options_t options = PFM_INIT(options);

	options.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
	return ctx ? PFMLIB_SUCCESS : pfm_open_context(&ctx, &options, NULL);
}

EXPORT("perfmon_encode")
const char *perfmon_encode(const char *text, unsigned plm)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);
	int rc = pfm_encode_event(ctx, text, plm, &e, &error);
	const perfmon_attr_t *a = &e.attr;

	if (rc != PFMLIB_SUCCESS)
		return refuse(text, rc, &error);
	begin(rc);
	put(", \"pmu\": %d, \"event\": %u, \"plm\": %u", e.pmu, e.event, e.plm);
	put_registers("regs", e.regs, e.n_regs);
	put(", \"counters\": \"0x%" PRIx64 "\", \"type\": %lld", e.counters,
	    a->type_known ? (long long)a->type : -1);
	put(", \"config\": [\"0x%" PRIx64 "\", \"0x%" PRIx64 "\", \"0x%" PRIx64 "\"]", a->config,
	    a->config1, a->config2);
	put(", \"exclude\": [%u, %u, %u], \"precise\": %u", a->exclude_user, a->exclude_kernel,
	    a->exclude_hv, a->precise);
	return end();
}

EXPORT("perfmon_dispatch")
const char *perfmon_dispatch(char *lines)
{
	const char *texts[TEXTS_MAX];
	unsigned n = split(lines, texts);
	pfm_error_t error = PFM_INIT(error);
	const pfm_set_t *set;
	int rc = pfm_dispatch_set(&set, ctx, texts, n, NULL, &error);

	if (rc != PFMLIB_SUCCESS)
		return refuse_set(texts, n, rc, &error);
	begin(rc);
	put(", \"counters\": [");
	for (unsigned i = 0; i < set->n_events; i++)
		put("%s%d", i ? ", " : "", set->counter[i]);
	put("]");
	put_registers("pmcs", set->pmcs, set->n_pmcs);
	put_registers("pmds", set->pmds, set->n_pmds);
	pfm_close_set(set);
	return end();
}

EXPORT("perfmon_decode")
const char *perfmon_decode(const char *pmu, const char *reg, const char *value)
{
	int number = pfm_find_pmu(ctx, pmu);
	uint64_t word = strtoull(value, NULL, 0);
	char text[256];

	begin(number < 0 ? PFMLIB_ERR_NOPMU : PFMLIB_SUCCESS);
	put(", \"events\": [");
	for (unsigned i = 0; i < 8 && pfm_decode_event(ctx, number, reg, word, i, text,
	                                               sizeof(text)) == PFMLIB_SUCCESS;
	     i++) {
		put("%s", i ? ", " : "");
		put_quoted(text);
	}
	put("]");
	return end();
}

EXPORT("perfmon_print")
const char *perfmon_print(const char *text, unsigned dialect)
{
	pfm_error_t error = PFM_INIT(error);
	char buf[512];
	int rc = pfm_print_event(ctx, text, (pfm_dialect_t)dialect, buf, sizeof(buf), &error);

	if (rc != PFMLIB_SUCCESS)
		return refuse(text, rc, &error);
	begin(rc);
	put_member("text", buf);
	return end();
}

EXPORT("perfmon_plan")
const char *perfmon_plan(char *lines)
{
	const char *texts[TEXTS_MAX];
	unsigned n = split(lines, texts);
	pfm_error_t error = PFM_INIT(error);
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_plan_t *plan;
	char group[GROUP_MAX];
	int rc = pfm_create_plan(&plan, ctx, texts, n, NULL, &error);

	if (rc != PFMLIB_SUCCESS)
		return refuse_set(texts, n, rc, &error);
	begin(pfm_describe_plan(plan, &info));
	put(", \"rounds\": %u, \"bound\": %u, \"groups\": [", info.n_rounds, info.bound);
	for (unsigned i = 0; i < info.n_groups; i++)
		if (pfm_print_plan_group(plan, i, group, sizeof(group)) >= 0) {
			put("%s", i ? ", " : "");
			put_quoted(group);
		}
	put("]");
	pfm_close_plan(plan);
	return end();
}

static int compute(int pmu, unsigned event, const pfm_metric_info_t *info, const double *values,
                   unsigned n, pfm_metric_value_t *out)
{
	pfm_metric_data_t data = PFM_INIT(data);
	pfm_metric_operand_t *operands = calloc(info->n_inputs + 1, sizeof(*operands));
	int rc;

	if (!operands)
		return PFMLIB_ERR_NOMEM;
	data.n_inputs = info->n_inputs;
	data.operands = operands;
	for (unsigned i = 0; i < data.n_inputs && i < n; i++) {
		operands[i].value = values[i];
		operands[i].known = 1;
	}
	rc = pfm_compute_metric(ctx, pmu, event, &data, out);
	free(operands);
	return rc;
}

/* Without values: the names of the inputs. */
EXPORT("perfmon_metric")
const char *perfmon_metric(const char *text, const double *values, unsigned n)
{
	pfm_metric_input_t input = PFM_INIT(input);
	pfm_metric_info_t info = PFM_INIT(info);
	pfm_metric_value_t out = PFM_INIT(out);
	pfm_error_t error = PFM_INIT(error);
	unsigned event = 0;
	int pmu = -1, rc = pfm_find_event_by_text(ctx, text, &pmu, &event, &error);

	if (rc == PFMLIB_SUCCESS)
		rc = pfm_describe_metric(ctx, pmu, event, &info);
	if (rc == PFMLIB_SUCCESS)
		rc = compute(pmu, event, &info, values, n, &out);
	if (rc != PFMLIB_SUCCESS)
		return refuse(NULL, rc, &error);
	begin(rc);
	put_member("state", pfm_metric_state_name(out.state));
	put(", \"value\": %.17g, \"missing\": %d", out.value, out.missing);
	put_member("unit", info.unit);
	put(", \"inputs\": [");
	for (unsigned i = 0;
	     i < info.n_inputs && pfm_describe_metric_input(ctx, pmu, event, i, &input) == 0; i++) {
		put("%s", i ? ", " : "");
		put_quoted(input.text);
	}
	put("]");
	return end();
}

static void put_errata(const char *text)
{
	pfm_erratum_t erratum = PFM_INIT(erratum);

	put(", \"errata\": [");
	for (unsigned i = 0; pfm_describe_text_erratum(ctx, text, 0, i, &erratum) == PFMLIB_SUCCESS;
	     i++) {
		put("%s", i ? ", " : "");
		put_quoted(erratum.effect);
	}
	put("]");
}

/* Describes the event that a text names. */
EXPORT("perfmon_describe")
const char *perfmon_describe(const char *text)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	perfmon_event_info_t info = PFM_INIT(info);
	pfm_error_t error = PFM_INIT(error);
	unsigned event;
	int number, rc = pfm_find_event_by_text(ctx, text, &number, &event, &error);

	if (rc != PFMLIB_SUCCESS)
		return refuse(text, rc, &error);
	pfm_describe_pmu(ctx, number, &pmu);
	pfm_describe_event(ctx, number, event, &info);
	begin(rc);
	put_member("pmu", pmu.name);
	put_member("processor", pmu.desc);
	put_member("source", pmu.source);
	put_member("name", info.name);
	put_member("text", info.desc);
	put(", \"counters\": \"0x%" PRIx64 "\"", info.counters);
	put_errata(text);
	return end();
}

/* The names of all PMUs. */
EXPORT("perfmon_pmus")
const char *perfmon_pmus(void)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	int n = pfm_count_pmus(ctx);

	begin(n < 0 ? n : PFMLIB_SUCCESS);
	put(", \"pmus\": [");
	for (int i = 0; i < n; i++)
		if (pfm_describe_pmu(ctx, i, &pmu) == PFMLIB_SUCCESS) {
			put("%s[", i ? ", " : "");
			put_quoted(pmu.name);
			put(", ");
			put_quoted(pmu.desc);
			put("]");
		}
	put("]");
	return end();
}
