/* SPDX-License-Identifier: MIT */
/* A session made by hand, for the steps that lead from events to counts. */
#ifndef PERFMON_TESTS_BUILT_SESSION_H
#define PERFMON_TESTS_BUILT_SESSION_H

#include "units.h"
#include "fake_session.h"
#include "lookup/lookup.h"

static struct session_builder opening;
static struct pfm_session *s;

static inline int end(void **state)
{
	if (s) {
		pfmi_session_free_names(s);
		pfmi_machine_free_cpus(&s->cpus.requested);
		pfmi_machine_free_cpus(&s->cpus.online);
		free(s->counts);
		free(s->cpus.text);
		free(s);
		s = NULL;
	}
	if (ctx)
		return done(state);
	return 0;
}

static inline void begin_session(void)
{
	pfm_ctx_t *kept = ctx;

	ctx = NULL;
	end(NULL);
	ctx = kept;
	s = calloc(1, sizeof(*s));
	assert_non_null(s);
	opening = (struct session_builder){ .session = s, .error = &error };
	error = (pfm_error_t){ .size = sizeof(error) };
	if (!ctx)
		return;
	s->ctx = ctx;
	s->sys = ctx->sys;
	pfmi_session_find_core_pmus(&opening);
}

static inline void use(const char *name)
{
	make_machine(name);
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
	begin_session();
}

static inline struct event event_of(const char *text)
{
	struct event ev;
	unsigned unit;

	assert_int_equal(pfmi_lookup_event(ctx, text, &unit, &ev, NULL), PFMLIB_SUCCESS);
	return ev;
}

static inline void add_count(const char *text, const char *device, unsigned group)
{
	struct session_count *c;

	s->counts = realloc(s->counts, (s->n_counts + 1) * sizeof(*s->counts));
	assert_non_null(s->counts);
	c = &s->counts[s->n_counts++];
	memset(c, 0, sizeof(*c));
	c->config.event = event_of(text);
	c->config.kernel_pmu =
		device ? pfmi_machine_find_kernel_pmu(ctx->kernel, pfmi_base_make_slice(device))
		       : NULL;
	c->config.group = group;
	c->config.cpu = -1;
	c->config.cpus = "";
	c->config.sibling_set = 5;
	c->config.name = pfmi_session_alloc_name(s, 64);
	assert_non_null(c->config.name);
	snprintf(c->config.name, 56, "%s", text);
	s->n_groups = group + 1;
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, end)

#endif
