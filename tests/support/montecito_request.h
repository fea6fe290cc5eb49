/* SPDX-License-Identifier: MIT */
/* Requests of Montecito events, and the registers planned for them. */
#ifndef TESTS_MONTECITO_REQUEST_H
#define TESTS_MONTECITO_REQUEST_H

#include "units.h"
#include "pmu/montecito.h"

/* A request whose events have only the properties that the test sets. */
struct asked {
	struct encode_request req;
	pfmlib_regmask_t unavailable;
	pfmlib_mont_input_param_t in;
	pfmlib_mont_output_param_t out;
	struct mont_plan mp;
	pfm_error_t why;
	struct mont_plan_context w;
};

static inline struct asked *begin(unsigned n)
{
	static struct asked a;

	memset(&a, 0, sizeof(a));
	a.req = (struct encode_request){
		.n_events = n, .plm = 8, .unavailable_regs = &a.unavailable, .model_out = &a.out
	};
	a.w = (struct mont_plan_context){
		.req = &a.req, .input = &a.in, .plan = &a.mp, .error = &a.why
	};
	a.why.size = sizeof(a.why);
	for (unsigned i = 0; i < n; i++) {
		a.mp.events[i].max_increment = 1;
		a.mp.events[i].row = i;
	}
	return &a;
}

static inline int plan(struct asked *a)
{
	memset(&a->why, 0, sizeof(a->why));
	a->why.size = sizeof(a->why);
	return pfmi_mont_plan_features(&a->w);
}

static inline void refused(struct asked *a, int code, int event)
{
	assert_int_equal(plan(a), code);
	assert_true(a->why.code == code && a->why.event == event && a->why.kind == PFM_KIND_MODEL &&
	            a->why.detail);
	a->w.error = NULL; /* error details are optional */
	assert_int_equal(pfmi_mont_plan_features(&a->w), code);
	a->w.error = &a->why;
}

/* Returns the value of control register @num, which must be set. */
static inline uint64_t pmc(const struct asked *a, unsigned num)
{
	for (unsigned i = 0; i < a->mp.n_pmcs; i++)
		if (a->mp.pmcs[i].num == num)
			return a->mp.pmcs[i].value;
	fail_msg("PMC%u is not set", num);
	return 0;
}

/* Expects these control registers, then data registers: "37: 34 35". */
static inline void expect_registers(const struct asked *a, const char *want)
{
	char text[256] = "";
	size_t at = 0;

	for (unsigned i = 0; i < a->mp.n_pmcs; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u", i ? " " : "",
		                       a->mp.pmcs[i].num);
	at += (size_t)snprintf(text + at, sizeof(text) - at, ":");
	for (unsigned i = 0; i < a->mp.n_pmds; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " %u", a->mp.pmds[i]);
	assert_string_equal(text, want);
}

#endif
