/* SPDX-License-Identifier: MIT */
/* Requests of the golden vectors, one JSON object a line: {"id": ..., "req": {...}} is answered
 * with {"id": ..., "res": {...}}.
 *
 * A request is a call of the libpfm 3 interface written down. What is zero or empty may be left
 * out, in requests and in answers; 64-bit quantities are hexadecimal strings.
 * tests/driver/README.md describes the keys. */
#include "requests.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1024 };

/* ---- reading --------------------------------------------------------------------------------- */

uint64_t request_value(const json_t *value)
{
	if (json_is_string(value))
		return strtoull(json_string_value(value), NULL, 0);
	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : json_is_true(value);
}

uint64_t request_number(const json_t *object, const char *key)
{
	return request_value(json_object_get(object, key));
}

unsigned request_small(const json_t *object, const char *key)
{
	return (unsigned)request_number(object, key);
}

unsigned char request_byte(const json_t *object, const char *key)
{
	return (unsigned char)request_number(object, key);
}

bool request_has(const json_t *object, const char *key)
{
	return json_object_get(object, key) != NULL;
}

const char *request_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

int request_event(const json_t *value, unsigned *index)
{
	const char *name;

	if (json_is_array(value))
		value = json_array_get(value, json_array_size(value) - 1);
	if (json_is_object(value)) {
		if (request_has(value, "idx")) {
			*index = request_small(value, "idx");
			return PFMLIB_SUCCESS;
		}
		value = json_object_get(value, "e");
	}
	name = json_string_value(value);
	return pfm_find_event_byname(name ? name : "", index);
}

/* ---- the other operations -------------------------------------------------------------------- */

static void write_name(struct json *j, int rc, unsigned index)
{
	char name[TEXT_MAX];

	put_int(j, "rc", rc);
	if (rc == PFMLIB_SUCCESS && pfm_get_event_name(index, name, sizeof(name)) == PFMLIB_SUCCESS)
		put_text(j, "name", name);
}

static void op_find(struct request_state *w, struct json *j, const json_t *req)
{
	unsigned index = 0;
	int rc = pfm_find_event(request_text(req, "s"), &index);

	(void)w;
	write_name(j, rc, index);
}

static void op_find_full(struct request_state *w, struct json *j, const json_t *req)
{
	pfmlib_event_t e;
	unsigned i;
	int rc = pfm_find_full_event(request_text(req, "s"), &e);

	(void)w;
	write_name(j, rc, e.event);
	if (rc != PFMLIB_SUCCESS || !e.num_masks)
		return;
	put_begin(j, "um", '[');
	for (i = 0; i < e.num_masks; i++)
		put_int(j, NULL, e.unit_masks[i]);
	put_end(j, ']');
}

static void op_find_mask(struct request_state *w, struct json *j, const json_t *req)
{
	unsigned index = 0, mask = 0;
	int rc = request_event(req, &index);

	(void)w;
	if (rc == PFMLIB_SUCCESS)
		rc = pfm_find_event_mask(index, request_text(req, "s"), &mask);
	put_int(j, "rc", rc);
	if (rc == PFMLIB_SUCCESS)
		put_int(j, "mask", mask);
}

static void op_bycode(struct request_state *w, struct json *j, const json_t *req)
{
	unsigned index = 0;
	int rc = pfm_find_event_bycode((int)request_number(req, "code"), &index);

	(void)w;
	write_name(j, rc, index);
}

static void op_bycode_next(struct request_state *w, struct json *j, const json_t *req)
{
	unsigned start = 0, index = 0;
	int rc = request_event(req, &start);

	(void)w;
	if (rc == PFMLIB_SUCCESS)
		rc = pfm_find_event_bycode_next((int)request_number(req, "code"), start, &index);
	write_name(j, rc, index);
}

static size_t json_text_length(const json_t *req)
{
	uint64_t len = request_has(req, "len") ? request_number(req, "len") : TEXT_MAX;

	return len < TEXT_MAX ? (size_t)len : TEXT_MAX;
}

static void write_text(struct json *j, int rc, const char *s)
{
	put_int(j, "rc", rc);
	if (rc == PFMLIB_SUCCESS)
		put_text(j, "str", s);
}

static void op_full_name(struct request_state *w, struct json *j, const json_t *req)
{
	char name[TEXT_MAX];
	int rc;

	rc = request_one_event(w, req);
	if (rc == PFMLIB_SUCCESS)
		rc = pfm_get_full_event_name(&w->in.pfp_events[0], name, json_text_length(req));
	write_text(j, rc, name);
}

static void op_name(struct request_state *w, struct json *j, const json_t *req)
{
	char name[TEXT_MAX];
	unsigned index = 0;
	int rc = request_event(req, &index);

	(void)w;
	if (rc == PFMLIB_SUCCESS)
		rc = pfm_get_event_name(index, name, json_text_length(req));
	write_text(j, rc, name);
}

static void op_mask_name(struct request_state *w, struct json *j, const json_t *req)
{
	char name[TEXT_MAX];
	unsigned index = 0;
	int rc = request_event(req, &index);

	(void)w;
	if (rc == PFMLIB_SUCCESS)
		rc = pfm_get_event_mask_name(index, request_small(req, "mask"), name,
		                             json_text_length(req));
	write_text(j, rc, name);
}

static void op_code_counter(struct request_state *w, struct json *j, const json_t *req)
{
	unsigned index = 0;
	int code = 0, rc = request_event(req, &index);

	(void)w;
	if (rc == PFMLIB_SUCCESS)
		rc = pfm_get_event_code_counter(index, request_small(req, "cnt"), &code);
	put_int(j, "rc", rc);
	if (rc == PFMLIB_SUCCESS)
		put_int(j, "code", code);
}

static void write_event(struct json *j, const char *key, int rc, const pfmlib_event_t *e)
{
	char name[TEXT_MAX];

	if (rc == PFMLIB_SUCCESS &&
	    pfm_get_event_name(e->event, name, sizeof(name)) == PFMLIB_SUCCESS)
		put_text(j, key, name);
}

static void op_info(struct request_state *w, struct json *j, const json_t *req)
{
	pfmlib_regmask_t pmcs, pmds, counters;
	unsigned version, events, n_pmcs, n_pmds, n_counters, width;
	char name[TEXT_MAX];
	pfmlib_event_t e;
	size_t longest;
	int type;

	(void)w;
	(void)req;
	if (pfm_get_pmu_name(name, sizeof(name)) != PFMLIB_SUCCESS ||
	    pfm_get_pmu_type(&type) != PFMLIB_SUCCESS ||
	    pfm_get_version(&version) != PFMLIB_SUCCESS ||
	    pfm_get_num_events(&events) != PFMLIB_SUCCESS ||
	    pfm_get_num_pmcs(&n_pmcs) != PFMLIB_SUCCESS ||
	    pfm_get_num_pmds(&n_pmds) != PFMLIB_SUCCESS ||
	    pfm_get_num_counters(&n_counters) != PFMLIB_SUCCESS ||
	    pfm_get_hw_counter_width(&width) != PFMLIB_SUCCESS ||
	    pfm_get_max_event_name_len(&longest) != PFMLIB_SUCCESS ||
	    pfm_get_impl_pmcs(&pmcs) != PFMLIB_SUCCESS ||
	    pfm_get_impl_pmds(&pmds) != PFMLIB_SUCCESS ||
	    pfm_get_impl_counters(&counters) != PFMLIB_SUCCESS) {
		put_int(j, "rc", PFMLIB_ERR_NOTSUPP);
		return;
	}
	put_int(j, "rc", PFMLIB_SUCCESS);
	put_text(j, "pmu_name", name);
	put_int(j, "pmu_type", type);
	put_int(j, "version", version);
	put_int(j, "num_events", events);
	put_int(j, "num_pmcs", n_pmcs);
	put_int(j, "num_pmds", n_pmds);
	put_int(j, "num_counters", n_counters);
	put_int(j, "width", width);
	put_int(j, "max_name_len", (int64_t)longest);
	put_hex(j, "impl_pmcs", pmcs.bits[0]);
	put_hex(j, "impl_pmds", pmds.bits[0]);
	put_hex(j, "impl_counters", counters.bits[0]);
	write_event(j, "cycle", pfm_get_cycle_event(&e), &e);
	write_event(j, "inst", pfm_get_inst_retired_event(&e), &e);
}

static const struct {
	const char *name;
	void (*run)(struct request_state *w, struct json *j, const json_t *req);
} operations[] = {
	{ "dispatch", request_dispatch },
	{ "find", op_find },
	{ "find_full", op_find_full },
	{ "find_mask", op_find_mask },
	{ "bycode", op_bycode },
	{ "bycode_next", op_bycode_next },
	{ "full_name", op_full_name },
	{ "name", op_name },
	{ "mask_name", op_mask_name },
	{ "code_counter", op_code_counter },
	{ "info", op_info },
};

/* ---- lines ----------------------------------------------------------------------------------- */

/* The type of the processor called @name, or PFMLIB_NO_PMU. The Core Duo has a table of its own
 * for this interface, with fewer events under other names. */
static int json_type_name(const pfm_ctx_t *ctx, const char *name)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	int pmu = pfm_find_pmu(ctx, name);

	if (strcmp(name, "coreduo") == 0)
		return PFMLIB_COREDUO_PMU;
	if (pmu < 0 || pfm_describe_pmu(ctx, pmu, &info) != PFMLIB_SUCCESS)
		return PFMLIB_NO_PMU;
	return info.libpfm_type;
}

/* Selects the processor that the request is about; the one before it usually was about the same. */
static bool select_pmu(struct request_state *w, const pfm_ctx_t *ctx, const char *name)
{
	int type = json_type_name(ctx, *name ? name : "montecito");

	if (type == w->pmu && type != PFMLIB_NO_PMU)
		return true;
	w->pmu = PFMLIB_NO_PMU;
	if (type == PFMLIB_NO_PMU || pfm_force_pmu(type) != PFMLIB_SUCCESS)
		return false;
	w->pmu = type;
	return true;
}

static void write_failure(struct json *j, int code, pfm_error_kind_t kind, size_t at,
                          const char *message)
{
	put_begin(j, "error", '{');
	put_int(j, "code", code);
	put_text(j, "kind", pfm_error_kind_name(kind));
	put_begin(j, "at", '[');
	put_int(j, NULL, (int64_t)at);
	put_int(j, NULL, (int64_t)at);
	put_end(j, ']');
	put_text(j, "message", message);
	put_begin(j, "suggest", '[');
	put_end(j, ']');
	put_end(j, '}');
}

static bool answer_request(struct request_state *w, const pfm_ctx_t *ctx, struct json *j,
                           const json_t *req)
{
	const char *op = request_has(req, "op") ? request_text(req, "op") : "dispatch";
	char message[128];
	size_t i;

	if (request_find_malformed(req, message, sizeof(message))) {
		write_failure(j, PFMLIB_ERR_INVAL, PFM_KIND_BAD_VALUE, 0, message);
		return false;
	}
	if (!select_pmu(w, ctx, request_text(req, "pmu"))) {
		write_failure(j, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, 0,
		              "no processor of that name in the libpfm 3 interface");
		return false;
	}
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (strcmp(operations[i].name, op) == 0) {
			put_begin(j, "res", '{');
			operations[i].run(w, j, req);
			put_end(j, '}');
			return true;
		}
	write_failure(j, PFMLIB_ERR_INVAL, PFM_KIND_BAD_VALUE, 0, "no operation of that name");
	return false;
}

static void write_id(struct json *j, const json_t *line)
{
	const json_t *id = json_object_get(line, "id");

	if (id)
		put_value_of(j, "id", id);
}

static bool answer_line(struct request_state *w, const pfm_ctx_t *ctx, struct json *j,
                        const char *line, size_t len)
{
	json_error_t where;
	json_t *parsed = json_loadb(line, len, JSON_REJECT_DUPLICATES, &where);
	const json_t *req = json_object_get(parsed, "req");
	bool ok = false;

	put_begin(j, NULL, '{');
	write_id(j, parsed);
	if (!parsed)
		write_failure(j, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX,
		              where.position > 0 ? (size_t)where.position - 1 : 0, where.text);
	else if (!json_is_object(parsed) || (req && !json_is_object(req)))
		write_failure(j, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, 0, "a request is an object");
	else
		ok = answer_request(w, ctx, j, req ? req : parsed);
	put_end(j, '}');
	put_line(j);
	json_decref(parsed);
	return ok;
}

int answer_requests(FILE *in, FILE *out)
{
	struct request_state *w = calloc(1, sizeof(*w));
	struct json j = { .out = out };
	pfm_ctx_t *ctx = NULL;
	int status = w && pfm_open_context(&ctx, NULL, NULL) == PFMLIB_SUCCESS ? 0 : 1;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (w)
		w->pmu = PFMLIB_NO_PMU;
	while (ctx && w && (len = getline(&line, &size, in)) >= 0) {
		len -= len && line[len - 1] == '\n';
		line[len] = '\0';
		if (line[strspn(line, " \t\r")] && !answer_line(w, ctx, &j, line, (size_t)len))
			status = 1;
		fflush(out); /* the other program may wait for this answer */
	}
	free(line);
	pfm_close_context(ctx);
	free(w);
	return status || ferror(in);
}
