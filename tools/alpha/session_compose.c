/* SPDX-License-Identifier: MIT */
/* pfm alpha session --json: the steps of a session for which a request has only events, rates and
 * scope. They are the requests of the library's Alpha encoder. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <perfmon/alpha.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "alpha/session.h"
#include "alpha/session_replay.h"

#define MAX_EVENTS 8

/* Reads a number; 0 for a missing or null member. Sets *@wrong for other values. */
static uint64_t read_number(const json_t *v, const char **wrong)
{
	const char *text = json_string_value(v);
	char *end = NULL;
	uint64_t n;

	if (!v || json_is_null(v))
		return 0;
	if (json_is_integer(v) && json_integer_value(v) >= 0)
		return (uint64_t)json_integer_value(v);
	errno = 0;
	n = text && isdigit((unsigned char)*text) ? strtoull(text, &end, 0) : 0;
	if (!end || *end || errno)
		*wrong = "malformed number";
	return n;
}

static void read_counter_settings(uint64_t *out, const json_t *list, const char **wrong)
{
	if (list && !json_is_null(list) &&
	    (!json_is_array(list) || json_array_size(list) > PFM_ALPHA_MAX_COUNTERS))
		*wrong = "expected for freq and period lists with a number for each counter";
	for (size_t i = 0; i < PFM_ALPHA_MAX_COUNTERS && i < json_array_size(list); i++)
		out[i] = read_number(json_array_get(list, i), wrong);
}

/* The index in @words of the value of @key; 0 if it is missing. Sets *@wrong to @otherwise for
 * other values. */
static unsigned read_choice(const json_t *o, const char *key, const char *const *words,
                            const char **wrong, const char *otherwise)
{
	const json_t *v = json_object_get(o, key);
	const char *s = json_string_value(v);

	for (unsigned i = 0; s && words[i]; i++)
		if (strcmp(s, words[i]) == 0)
			return i;
	if (v && !json_is_null(v))
		*wrong = otherwise;
	return 0;
}

/* Reads the settings of a request. Returns NULL, or what is malformed. */
static const char *read_settings(const json_t *request, pfmlib_alpha_input_param_t *in)
{
	static const char *const scopes[] = { "system", "process", NULL }, *const modes[] = {
		"all", "each", "one", NULL
	};
	static const unsigned opens[] = { PFM_ALPHA_OPEN_ALL, PFM_ALPHA_OPEN_EACH,
		                          PFM_ALPHA_OPEN_ONE };
	const char *wrong = NULL;
	uint64_t items;

	memset(in, 0, sizeof *in);
	read_counter_settings(in->pfp_alpha_rates, json_object_get(request, "freq"), &wrong);
	read_counter_settings(in->pfp_alpha_periods, json_object_get(request, "period"), &wrong);
	in->pfp_alpha_scope = read_choice(request, "scope", scopes, &wrong,
	                                  "expected system or process for scope")
	                              ? PFM_ALPHA_SCOPE_PROCESS
	                              : PFM_ALPHA_SCOPE_SYSTEM;
	in->pfp_alpha_open = opens[read_choice(request, "mode", modes, &wrong,
	                                       "expected all, each or one for mode")];
	items = read_number(json_object_get(request, "items"), &wrong);
	in->pfp_alpha_items = items > UINT32_MAX ? UINT32_MAX : (unsigned)items;
	if (json_object_get(request, "ctxt")) {
		in->pfp_alpha_flags |= PFM_ALPHA_FL_CTXT;
		in->pfp_alpha_ctxt = read_number(json_object_get(request, "ctxt"), &wrong);
	}
	return wrong;
}

/* Reads an event, which is a name, or a list of a counter and a name. False if it is malformed. */
static bool read_event(const char *pmu, const json_t *event, char *text, size_t size)
{
	const json_t *name = json_is_array(event) ? json_array_get(event, 1) : event,
		     *counter = json_array_get(event, 0);
	int n;

	if (!json_is_string(name) ||
	    (json_is_array(event) && (json_array_size(event) != 2 || !json_is_integer(counter))))
		return false;
	n = json_is_array(event) ? snprintf(text, size, "%s::%s:counter=%" JSON_INTEGER_FORMAT, pmu,
	                                    json_string_value(name), json_integer_value(counter))
	                         : snprintf(text, size, "%s::%s", pmu, json_string_value(name));
	return n > 0 && (size_t)n < size;
}

static json_t *build_open_step(const pfmlib_alpha_output_param_t *out)
{
	json_t *step =
		json_pack("{s:s,s:o}", "op", "open", "flags", make_hex_string(out->open_flags, 0));

	if (out->open_flags == PCNTOPENONE)
		json_object_set_new(step, "bound", json_integer(0));
	return step;
}

static json_t *build_ioctl_step(const pfmlib_alpha_ioctl_t *io)
{
	json_t *step = json_pack("{s:s,s:s,s:o}", "op", "ioctl", "name", io->name, "req",
	                         make_hex_string(io->request, 8)),
	       *words;

	if (io->n_words == 0)
		return step;
	words = json_array();
	for (unsigned i = 0; i < io->n_words; i++)
		json_array_append_new(words, make_hex_string(io->words[i], 16));
	json_object_set_new(step, "arg", words);
	return step;
}

static json_t *build_steps(const pfmlib_alpha_output_param_t *out)
{
	json_t *seq = json_array();

	json_array_append_new(seq, build_open_step(out));
	for (unsigned i = 0; i < out->n_ioctls; i++)
		json_array_append_new(seq, build_ioctl_step(&out->ioctls[i]));
	json_array_append_new(seq, json_pack("{s:s}", "op", "close"));
	return seq;
}

const char *compose_session_steps(json_t *request)
{
	const char *pmu = json_string_value(json_object_get(request, "pmu")), *pointers[MAX_EVENTS];
	const json_t *events = json_object_get(request, "events");
	pfm_ctx_options_t options = { .size = sizeof options,
		                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	pfm_dispatch_options_t set_options = { .size = sizeof set_options };
	const pfm_set_t *set;
	pfmlib_alpha_input_param_t in;
	pfmlib_alpha_output_param_t out;
	char texts[MAX_EVENTS][96];
	const char *wrong;
	size_t n = json_array_size(events);
	pfm_ctx_t *ctx;
	int rc;

	if (!pmu || n == 0 || n > MAX_EVENTS)
		return "expected seq, or pmu and events";
	for (size_t i = 0; i < n; i++) {
		if (!read_event(pmu, json_array_get(events, i), texts[i], sizeof texts[i]))
			return "expected for each event a name, or a list of counter and name";
		pointers[i] = texts[i];
	}
	wrong = read_settings(request, &in);
	if (wrong)
		return wrong;
	if (pfm_open_context(&ctx, &options, NULL))
		return "out of memory";
	set_options.model_in = &in;
	set_options.model_out = &out;
	rc = pfm_dispatch_set(&set, ctx, pointers, (unsigned)n, &set_options, NULL);
	pfm_close_set(set);
	pfm_close_context(ctx);
	if (rc)
		return pfm_result_text(rc);
	json_object_set_new(request, "seq", build_steps(&out));
	return NULL;
}
