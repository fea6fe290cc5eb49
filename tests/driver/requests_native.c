/* SPDX-License-Identifier: MIT */
/* Requests of the native interface: vectors native --json. The drivers of bindings give the same
 * answers, byte for byte. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "requests.h"

enum { TEXTS_MAX = 128, VALUES_MAX = 512 };

static void put_registers(struct json *j, const char *key, const pfm_reg_t *regs, unsigned n)
{
	put_begin(j, key, '[');
	for (unsigned i = 0; i < n; i++) {
		put_begin(j, NULL, '[');
		put_int(j, NULL, regs[i].kind);
		put_int(j, NULL, regs[i].num);
		put_hex(j, NULL, regs[i].addr);
		put_hex(j, NULL, regs[i].value);
		put_text(j, NULL, regs[i].name);
		put_int(j, NULL, regs[i].event);
		put_end(j, ']');
	}
	put_end(j, ']');
}

static void put_refusal(struct json *j, const pfm_ctx_t *ctx, const char *text,
                        const pfm_error_t *error)
{
	char sentence[512];

	put_text(j, "kind", pfm_error_kind_name(error->kind));
	put_int(j, "start", error->start);
	put_int(j, "end", error->end);
	pfm_explain_error(ctx, text, error, sentence, sizeof(sentence));
	put_text(j, "sentence", sentence);
	put_begin(j, "clash", '[');
	for (unsigned i = 0; i < error->n_clash; i++)
		put_int(j, NULL, error->clash[i]);
	put_end(j, ']');
}

/* The refusal of a set, of whose texts one can be at fault. */
static void put_set_refusal(struct json *j, const pfm_ctx_t *ctx, const char *const *texts,
                            unsigned n, const pfm_error_t *error)
{
	bool has_event = error->event >= 0 && (unsigned)error->event < n;

	put_refusal(j, ctx, has_event ? texts[error->event] : NULL, error);
}

static unsigned read_texts(const json_t *request, const char **texts)
{
	const json_t *list = json_object_get(request, "texts");
	unsigned n = 0;

	for (; n < json_array_size(list) && n < TEXTS_MAX; n++)
		texts[n] = json_string_value(json_array_get(list, n));
	return n;
}

static void answer_encode(struct json *j, const pfm_ctx_t *ctx, const json_t *request)
{
	const char *text = request_text(request, "text");
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);
	int rc = pfm_encode_event(ctx, text, request_small(request, "plm"), &e, &error);
	const perfmon_attr_t *a = &e.attr;

	put_int(j, "rc", rc);
	if (rc != PFMLIB_SUCCESS) {
		put_refusal(j, ctx, text, &error);
		return;
	}
	put_int(j, "pmu", e.pmu);
	put_int(j, "event", e.event);
	put_int(j, "plm", e.plm);
	put_registers(j, "regs", e.regs, e.n_regs);
	put_hex(j, "counters", e.counters);
	put_int(j, "type", a->type_known ? (int64_t)a->type : -1);
	put_begin(j, "config", '[');
	put_hex(j, NULL, a->config);
	put_hex(j, NULL, a->config1);
	put_hex(j, NULL, a->config2);
	put_end(j, ']');
	put_begin(j, "exclude", '[');
	put_int(j, NULL, a->exclude_user);
	put_int(j, NULL, a->exclude_kernel);
	put_int(j, NULL, a->exclude_hv);
	put_end(j, ']');
	put_int(j, "precise", a->precise);
}

static void answer_dispatch(struct json *j, const pfm_ctx_t *ctx, const json_t *request)
{
	const char *texts[TEXTS_MAX];
	unsigned n = read_texts(request, texts);
	pfm_error_t error = PFM_INIT(error);
	const pfm_set_t *set;
	int rc = pfm_dispatch_set(&set, ctx, texts, n, NULL, &error);

	put_int(j, "rc", rc);
	if (rc != PFMLIB_SUCCESS) {
		put_set_refusal(j, ctx, texts, n, &error);
		return;
	}
	put_begin(j, "counters", '[');
	for (unsigned i = 0; i < set->n_events; i++)
		put_int(j, NULL, set->counter[i]);
	put_end(j, ']');
	put_registers(j, "pmcs", set->pmcs, set->n_pmcs);
	put_registers(j, "pmds", set->pmds, set->n_pmds);
	pfm_close_set(set);
}

static void answer_decode(struct json *j, const pfm_ctx_t *ctx, const json_t *request)
{
	int pmu = pfm_find_pmu(ctx, request_text(request, "pmu"));
	const char *reg = request_text(request, "reg");
	uint64_t value = request_number(request, "value");
	char text[256];

	put_begin(j, "events", '[');
	for (unsigned i = 0; i < 8 && pfm_decode_event(ctx, pmu, reg, value, i, text,
	                                               sizeof(text)) == PFMLIB_SUCCESS;
	     i++)
		put_text(j, NULL, text);
	put_end(j, ']');
}

static void answer_print(struct json *j, const pfm_ctx_t *ctx, const json_t *request)
{
	const char *text = request_text(request, "text");
	pfm_error_t error = PFM_INIT(error);
	char buf[512];
	int rc = pfm_print_event(ctx, text, (pfm_dialect_t)request_small(request, "dialect"), buf,
	                         sizeof(buf), &error);

	put_int(j, "rc", rc);
	if (rc == PFMLIB_SUCCESS)
		put_text(j, "text", buf);
	else
		put_refusal(j, ctx, text, &error);
}

static void answer_plan(struct json *j, const pfm_ctx_t *ctx, const json_t *request)
{
	const char *texts[TEXTS_MAX];
	unsigned n = read_texts(request, texts);
	pfm_error_t error = PFM_INIT(error);
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_plan_t *plan;
	char group[4096];
	int rc = pfm_create_plan(&plan, ctx, texts, n, NULL, &error);

	put_int(j, "rc", rc);
	if (rc != PFMLIB_SUCCESS) {
		put_set_refusal(j, ctx, texts, n, &error);
		return;
	}
	if (pfm_describe_plan(plan, &info) == PFMLIB_SUCCESS) {
		put_int(j, "rounds", info.n_rounds);
		put_int(j, "bound", info.bound);
	}
	put_begin(j, "groups", '[');
	for (unsigned i = 0; i < info.n_groups; i++)
		if (pfm_print_plan_group(plan, i, group, sizeof(group)) >= 0)
			put_text(j, NULL, group);
	put_end(j, ']');
	pfm_close_plan(plan);
}

/* The value of a metric whose inputs, in their order, have the values of the request. */
static void answer_metric(struct json *j, const pfm_ctx_t *ctx, const json_t *request)
{
	const json_t *values = json_object_get(request, "values");
	pfm_metric_operand_t operands[VALUES_MAX] = { 0 };
	pfm_metric_data_t data = PFM_INIT(data);
	pfm_metric_value_t out = PFM_INIT(out);
	pfm_metric_info_t info = PFM_INIT(info);
	pfm_error_t error = PFM_INIT(error);
	unsigned event = 0;
	uint64_t bits;
	int pmu = -1;
	int rc = pfm_find_event_by_text(ctx, request_text(request, "text"), &pmu, &event, &error);

	if (rc == PFMLIB_SUCCESS)
		rc = pfm_describe_metric(ctx, pmu, event, &info);
	if (rc == PFMLIB_SUCCESS) {
		data.n_inputs = info.n_inputs < VALUES_MAX ? info.n_inputs : VALUES_MAX;
		data.operands = operands;
		for (unsigned i = 0; i < data.n_inputs && i < json_array_size(values); i++) {
			operands[i].value = json_number_value(json_array_get(values, i));
			operands[i].known = 1;
		}
		rc = pfm_compute_metric(ctx, pmu, event, &data, &out);
	}
	put_int(j, "rc", rc);
	if (rc != PFMLIB_SUCCESS)
		return;
	memcpy(&bits, &out.value, sizeof(bits));
	put_text(j, "state", pfm_metric_state_name(out.state));
	put_hex(j, "value", bits);
	put_int(j, "missing", out.missing);
}

static const struct {
	const char *op;
	void (*answer)(struct json *j, const pfm_ctx_t *ctx, const json_t *request);
} operations[] = { { "encode", answer_encode }, { "dispatch", answer_dispatch },
	           { "decode", answer_decode }, { "print", answer_print },
	           { "plan", answer_plan },     { "metric", answer_metric } };

static bool answer_line(struct json *j, const pfm_ctx_t *ctx, const char *line)
{
	json_t *request = json_loads(line, 0, NULL);
	const char *op = request ? request_text(request, "op") : NULL;
	bool found = false;

	for (size_t i = 0; op && i < sizeof(operations) / sizeof(operations[0]); i++)
		if (strcmp(operations[i].op, op) == 0) {
			found = true;
			put_begin(j, NULL, '{');
			operations[i].answer(j, ctx, request);
			put_end(j, '}');
			put_line(j);
		}
	json_decref(request);
	return found;
}

int answer_native_requests(FILE *in, FILE *out)
{
	struct json j = { .out = out };
	pfm_ctx_options_t options = PFM_INIT(options);
	pfm_ctx_t *ctx;
	char *line = NULL;
	size_t size = 0;
	bool ok = true;

	options.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
	if (pfm_open_context(&ctx, &options, NULL) != PFMLIB_SUCCESS)
		return 1;
	while (ok && getline(&line, &size, in) > 0)
		ok = answer_line(&j, ctx, line);
	free(line);
	pfm_close_context(ctx);
	return !ok;
}
