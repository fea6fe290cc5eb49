/* SPDX-License-Identifier: MIT */
/* Code of metrics as fuzz_formula.c has it: what it comes to, and how it reads. */
#include "digests.h"
#include <stdio.h>
#include <string.h>
#include "metric/metric.h"

static int said_run(const char *code, const pfm_metric_count_t *in, unsigned n, unsigned along, const struct cell *own, struct cell *out)
{
	int rc = pfmi_metric_run(code, in, n, along, own, out);

	say("run", (uint64_t)rc);
	if (rc == 0) {
		say_real("value", out->v);
		say_real("slope", out->d);
		say("state", (uint64_t)out->state);
	}
	return rc;
}

static int said_print(const struct metric *m, int threshold, char *buf, size_t len)
{
	int n = pfmi_metric_print(m, threshold, buf, len);

	say("print", (uint64_t)n);
	if (n >= 0 && len)
		say_text("text", buf);
	return n;
}

#define pfmi_metric_run        said_run
#define pfmi_metric_print      said_print
#define LLVMFuzzerTestOneInput ask_formula
#include "../fuzz/fuzz_formula.c"
