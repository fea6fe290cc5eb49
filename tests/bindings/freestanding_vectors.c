/* SPDX-License-Identifier: MIT */
/* Answers of the encoder without an operating system (scripts/freestanding.py): reads a text a
 * line, prints a line of numbers. Success: 0, levels, counters, three configuration words,
 * precision, then number, address and value of each register. Refusal: error code, kind, start,
 * end. */
#include <inttypes.h>
#include <perfmon/event.h>
#include <stdio.h>
#include <string.h>

static void print_encoding(const pfm_encoding_t *e)
{
	printf("0 %u %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %u", e->plm, e->counters,
	       e->attr.config, e->attr.config1, e->attr.config2, e->attr.precise);
	for (unsigned i = 0; i < e->n_regs; i++)
		printf(" %s %" PRIu32 " %" PRIx64 " %" PRIx64, e->regs[i].name, e->regs[i].num,
		       e->regs[i].addr, e->regs[i].value);
	printf("\n");
}

int main(void)
{
	char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t error = PFM_INIT(error);
		int rc;

		line[strcspn(line, "\n")] = 0;
		rc = pfm_encode_event(NULL, line, 0, &e, &error);
		if (rc == PFMLIB_SUCCESS)
			print_encoding(&e);
		else
			printf("%d %d %" PRIu32 " %" PRIu32 "\n", rc, (int)error.kind, error.start,
			       error.end);
	}
	return 0;
}
