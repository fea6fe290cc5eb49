/* SPDX-License-Identifier: MIT */
/* pfm alpha session --json: replays device sessions on the model of the Alpha counter device. Each
 * line is a request; the answer is that object with the results of the device added. See
 * pfm_device(3). */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <perfmon/pfcntr.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "alpha/session.h"
#include "alpha/session_replay.h"

/* Records a wrperfmon call. Opening and the scope of logging have none, because the driver's calls
 * for them are not documented. */
static void record_pal_call(void *arg, unsigned function, uint64_t a1)
{
	struct session_replay_state *r = arg;
	json_t *call = json_array();

	json_array_append_new(call, json_integer(function));
	json_array_append_new(call, make_hex_string(a1, 16));
	json_array_append_new(r->pal, call);
}

/* The number of processors: that of the request, or of the first step that has one. */
static unsigned read_n_cpus(struct session_replay_state *r, const json_t *request,
                            const json_t *steps)
{
	uint64_t n = read_key_number(r, request, "ncpu", 0);

	for (size_t i = 0; n == 0 && i < json_array_size(steps); i++)
		n = read_key_number(r, json_array_get(steps, i), "ncpu", 0);
	if (n > ALPHA_DEVICE_MAX_CPUS)
		r->wrong = "too many processors";
	return n == 0 || n > ALPHA_DEVICE_MAX_CPUS ? 4 : (unsigned)n;
}

static bool has_step_of_op(const json_t *steps, const char *op)
{
	for (size_t i = 0; i < json_array_size(steps); i++) {
		const char *name =
			json_string_value(json_object_get(json_array_get(steps, i), "op"));

		if (name && strcmp(name, op) == 0)
			return true;
	}
	return false;
}

static struct alpha_device *make_model(struct session_replay_state *r, const json_t *request,
                                       const json_t *steps)
{
	const char *pmu = json_string_value(json_object_get(request, "pmu"));
	struct alpha_device_options options;
	int family =
		pmu && strcmp(pmu, "any") != 0 ? alpha_device_find_family(pmu) : ALPHA_DEVICE_EV5;

	if (family < 0) {
		r->wrong = "expected ev4, ev5, pca56, ev6, ev67 or any for pmu";
		return NULL;
	}
	alpha_device_set_defaults(&options, (enum alpha_device_family)family);
	options.n_cpus = r->n_cpus = read_n_cpus(r, request, steps);
	return alpha_device_new(&options);
}

/* Adds the members that describe the whole session. */
static void add_outcome(struct session_replay_state *r, const json_t *steps, bool session)
{
	const json_t *last = json_array_get(steps, json_array_size(steps) - 1);
	const json_t *ret = json_object_get(last, "ret");

	if (session) {
		json_object_set(r->answer, "wrperfmon", r->pal);
		json_object_set(r->answer, "regs", r->regs);
		return;
	}
	json_object_set_new(r->answer, "expect", json_string(ret ? json_string_value(ret) : "OK"));
	if (r->touches_mark)
		json_object_set_new(r->answer, "pme_after",
		                    json_integer(alpha_device_is_process_marked(r->m, 1) > 0));
}

static void replay_steps(struct session_replay_state *r)
{
	const char *kind = json_string_value(json_object_get(r->answer, "kind"));
	bool session =
		kind ? strcmp(kind, "session") == 0
		     : json_object_get(r->answer, "seq") || !json_object_get(r->answer, "steps");
	json_t *steps;

	if (session && !json_object_get(r->answer, "seq"))
		r->wrong = compose_session_steps(r->answer);
	steps = json_object_get(r->answer, session ? "seq" : "steps");
	if (!r->wrong && !json_is_array(steps))
		r->wrong = "expected a list of steps: seq or steps";
	r->m = r->wrong ? NULL : make_model(r, r->answer, steps);
	if (!r->m)
		return;
	alpha_device_trace_pal(r->m, record_pal_call, r);
	r->show_out = has_step_of_op(steps, "advance");
	for (size_t i = 0; i < json_array_size(steps) && !r->wrong; i++)
		run_step(r, json_array_get(steps, i));
	if (!r->wrong)
		add_outcome(r, steps, session);
	alpha_device_free(r->m);
}

/* Answers a request in place. False if it is malformed. */
static bool answer_session(json_t *request)
{
	struct session_replay_state r = { .answer = request,
		                          .pal = json_array(),
		                          .regs = json_object() };

	for (int i = 0; i < MAX_PROCESSES; i++)
		r.handle[i] = -1;
	replay_steps(&r);
	if (r.wrong)
		json_object_set_new(request, "error", json_pack("{s:s}", "message", r.wrong));
	json_decref(r.pal);
	json_decref(r.regs);
	return !r.wrong;
}

static json_t *make_error_answer(const char *message, int at)
{
	return json_pack("{s:{s:s,s:i}}", "error", "message", message, "at", at);
}

static bool answer_line(const char *line, FILE *out)
{
	json_error_t why;
	json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, &why);
	bool good = json_is_object(request);

	if (good) {
		good = answer_session(request);
	} else {
		json_decref(request);
		request = make_error_answer(*why.text ? why.text : "expected an object",
		                            why.position);
		/* The message may quote bytes that are not UTF-8. */
		for (char *c = why.text; !request && *c; c++)
			*c = (char)(*c & 0x80 ? '?' : *c);
		request = request ? request : make_error_answer(why.text, why.position);
	}
	if (request)
		json_dumpf(request, out, JSON_COMPACT | JSON_ENSURE_ASCII);
	fputc('\n', out);
	fflush(out);
	json_decref(request);
	return good;
}

int replay_sessions(FILE *in, FILE *out)
{
	char *line = NULL;
	size_t size = 0;
	bool good = true;

	while (getline(&line, &size, in) > 0)
		if (line[strspn(line, " \t\r\n")])
			good &= answer_line(line, out);
	free(line);
	return good && !ferror(in) && !ferror(out) ? 0 : 1;
}
