/* SPDX-License-Identifier: MIT */
/* pfm session --json: the steps of a session of which only events, rates and scope are given. They are those that the library
 * itself would take. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <perfmon/pfmlib_alpha.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "session.h"

#define MAX_EVENTS 8

static uint64_t number(const json_t *v)
{
	if (json_is_string(v))
		return strtoull(json_string_value(v), NULL, 0);
	return (uint64_t)json_integer_value(v);
}

static json_t *hex(uint64_t value, int digits)
{
	char text[24];

	snprintf(text, sizeof text, "0x%0*" PRIx64, digits, value);
	return json_string(text);
}

static void fill(uint64_t *out, const json_t *list)
{
	for (size_t i = 0; i < PFM_ALPHA_MAX_COUNTERS && i < json_array_size(list); i++)
		out[i] = number(json_array_get(list, i)); /* null is 0: not said */
}

static bool is_word(const json_t *o, const char *key, const char *word)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s && strcmp(s, word) == 0;
}

static void read_settings(const json_t *request, pfmlib_alpha_input_param_t *in)
{
	memset(in, 0, sizeof *in);
	fill(in->pfp_alpha_rates, json_object_get(request, "freq"));
	fill(in->pfp_alpha_periods, json_object_get(request, "period"));
	in->pfp_alpha_scope = is_word(request, "scope", "process") ? PFM_ALPHA_SCOPE_PROCESS : PFM_ALPHA_SCOPE_SYSTEM;
	in->pfp_alpha_open = is_word(request, "mode", "one")    ? PFM_ALPHA_OPEN_ONE
	                     : is_word(request, "mode", "each") ? PFM_ALPHA_OPEN_EACH
	                                                        : PFM_ALPHA_OPEN_ALL;
	in->pfp_alpha_items = (unsigned)number(json_object_get(request, "items"));
	if (json_object_get(request, "ctxt")) {
		in->pfp_alpha_flags |= PFM_ALPHA_FL_CTXT;
		in->pfp_alpha_ctxt = number(json_object_get(request, "ctxt"));
	}
}

/* An event is a name, or a counter and a name. */
static bool read_event(const char *pmu, const json_t *event, char *text, size_t room)
{
	const json_t *name = json_is_array(event) ? json_array_get(event, 1) : event;
	int n;

	if (!json_is_string(name))
		return false;
	n = json_is_array(event) ? snprintf(text, room, "%s::%s:counter=%d", pmu, json_string_value(name),
	                                    (int)json_integer_value(json_array_get(event, 0)))
	                         : snprintf(text, room, "%s::%s", pmu, json_string_value(name));
	return n > 0 && (size_t)n < room;
}

static json_t *step_open(const pfmlib_alpha_output_param_t *out)
{
	json_t *step = json_pack("{s:s,s:o}", "op", "open", "flags", hex(out->open_flags, 0));

	if (out->open_flags == PCNTOPENONE)
		json_object_set_new(step, "bound", json_integer(0));
	return step;
}

static json_t *step_ioctl(const pfmlib_alpha_ioctl_t *io)
{
	json_t *step = json_pack("{s:s,s:s,s:o}", "op", "ioctl", "name", io->name, "req", hex(io->request, 8)), *words;

	if (io->n_words == 0)
		return step;
	words = json_array();
	for (unsigned i = 0; i < io->n_words; i++)
		json_array_append_new(words, hex(io->words[i], 16));
	json_object_set_new(step, "arg", words);
	return step;
}

static json_t *steps_of(const pfmlib_alpha_output_param_t *out)
{
	json_t *seq = json_array();

	json_array_append_new(seq, step_open(out));
	for (unsigned i = 0; i < out->n_ioctls; i++)
		json_array_append_new(seq, step_ioctl(&out->ioctls[i]));
	json_array_append_new(seq, json_pack("{s:s}", "op", "close"));
	return seq;
}

const char *session_compose(json_t *request)
{
	const char *pmu = json_string_value(json_object_get(request, "pmu")), *pointers[MAX_EVENTS];
	const json_t *events = json_object_get(request, "events");
	pfm_ctx_options_t options = { .size = sizeof options, .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	pfm_set_options_t set_options = { .size = sizeof set_options };
	pfm_set_t set = { .size = sizeof set };
	pfmlib_alpha_input_param_t in;
	pfmlib_alpha_output_param_t out;
	char texts[MAX_EVENTS][96];
	size_t n = json_array_size(events);
	pfm_ctx_t *ctx;
	int rc;

	if (!pmu || n == 0 || n > MAX_EVENTS)
		return "seq, or pmu and events are wanted";
	for (size_t i = 0; i < n; i++) {
		if (!read_event(pmu, json_array_get(events, i), texts[i], sizeof texts[i]))
			return "an event is a name, or a list of counter and name";
		pointers[i] = texts[i];
	}
	read_settings(request, &in);
	if (pfm_open_context(&ctx, &options, NULL))
		return "out of memory";
	set_options.model_in = &in;
	set_options.model_out = &out;
	rc = pfm_dispatch_set(ctx, pointers, (unsigned)n, &set_options, &set, NULL);
	pfm_close_context(ctx);
	if (rc)
		return pfm_strerror(rc);
	json_object_set_new(request, "seq", steps_of(&out));
	return NULL;
}
