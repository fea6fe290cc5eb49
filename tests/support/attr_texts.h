/* SPDX-License-Identifier: MIT */
/* Texts with their PERFEVTSEL value, and texts that are refused with the code, kind and place. */
#ifndef PERFMON_TESTS_ATTR_TEXTS_H
#define PERFMON_TESTS_ATTR_TEXTS_H

#include "units.h"
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>
#include "open_for.h"

struct right {
	const char *text;
	uint64_t value;
};

static inline void check_values(const char *pmu, const struct right *lines, size_t n)
{
	pfm_ctx_t *ctx = open_for(pmu);

	for (size_t i = 0; i < n; i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t error = PFM_INIT(error);

		if (pfm_encode_event(ctx, lines[i].text, 0, &e, &error))
			fail_msg("%s: %s", lines[i].text, pfm_error_kind_name(error.kind));
		if (e.regs[0].value != lines[i].value)
			fail_msg("%s: 0x%llx instead of 0x%llx", lines[i].text,
			         (unsigned long long)e.regs[0].value,
			         (unsigned long long)lines[i].value);
	}
	pfm_close_context(ctx);
}

struct wrong {
	const char *text;
	int code;
	pfm_error_kind_t kind;
	unsigned start, end;
};

static inline void check_errors(const char *pmu, const struct wrong *lines, size_t n)
{
	pfm_ctx_t *ctx = open_for(pmu);

	for (size_t i = 0; i < n; i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t error = PFM_INIT(error);
		int rc = pfm_encode_event(ctx, lines[i].text, 0, &e, &error);

		if (rc != lines[i].code || error.kind != lines[i].kind ||
		    error.start != lines[i].start || error.end != lines[i].end)
			fail_msg("%s: %d %s [%u,%u)", lines[i].text, rc,
			         pfm_error_kind_name(error.kind), error.start, error.end);
		assert_int_equal(error.code, rc);
		assert_int_equal(pfm_encode_event(ctx, lines[i].text, 0, &e, NULL), rc);
	}
	pfm_close_context(ctx);
}

#endif
