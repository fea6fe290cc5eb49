/* SPDX-License-Identifier: MIT */
/* Prints what structs of today hold after calls. Each is followed by words that no call may write:
 * tests/matrix/grown.py runs it on a library whose structs are larger. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/aggregate.h>
#include <perfmon/perfmon.h>

#define UNTOUCHED 0xa5

/* A struct and the bytes behind it. */
#define GUARDED(TYPE)                                                                              \
	struct {                                                                                   \
		TYPE s;                                                                            \
		unsigned char behind[64];                                                          \
	}

/* Prepares @guarded of @whole bytes, which begins with a struct of @size bytes. */
static void prepare(void *guarded, size_t size, size_t whole)
{
	memset(guarded, 0, size);
	memset((char *)guarded + size, UNTOUCHED, whole - size);
#ifndef WITHOUT_SIZES /* as a binding that has no PFM_INIT() */
	memcpy(guarded, &size, sizeof(size));
#endif
}

static void check(const char *name, const void *guarded, size_t size, size_t whole)
{
	const unsigned char *bytes = guarded;

	for (size_t i = size; i < whole; i++) {
		if (bytes[i] != UNTOUCHED) {
			printf("%s: byte %zu behind the struct was written\n", name, i - size);
			exit(1);
		}
	}
}

#define PREPARE(G)     prepare(&(G), sizeof((G).s), sizeof(G))
#define CHECK(NAME, G) check(NAME, &(G), sizeof((G).s), sizeof(G))

static void print_aggregates(void)
{
	GUARDED(pfm_tally_t) tally;
	GUARDED(pfm_count_sum_t) sum;
	GUARDED(pfm_count_t) count;

	PREPARE(tally);
	PREPARE(sum);
	for (unsigned i = 1; i <= 3; i++) {
		PREPARE(count);
		count.s.value = i;
		pfm_add_run(&tally.s, &count.s);
		pfm_add_count(&sum.s, &count.s);
		CHECK("pfm_count_t", count);
	}
	CHECK("pfm_tally_t", tally);
	CHECK("pfm_count_sum_t", sum);
	printf("runs %u mean %g squares %g sum %llu\n", tally.s.runs, tally.s.mean, tally.s.squares,
	       (unsigned long long)sum.s.count.value);
}

static void print_descriptions(void)
{
	GUARDED(perfmon_pmu_info_t) pmu;
	GUARDED(perfmon_event_info_t) event;
	GUARDED(pfm_umask_info_t) umask;
	int n = pfm_find_pmu(NULL, "skl");

	PREPARE(pmu);
	PREPARE(event);
	PREPARE(umask);
	printf("%d %d %d\n", pfm_describe_pmu(NULL, n, &pmu.s),
	       pfm_describe_event(NULL, n, 0, &event.s),
	       pfm_describe_umask(NULL, n, 0, 0, &umask.s));
	CHECK("perfmon_pmu_info_t", pmu);
	CHECK("perfmon_event_info_t", event);
	CHECK("pfm_umask_info_t", umask);
	printf("%s %u %s %s\n", pmu.s.name, pmu.s.n_events, event.s.name,
	       umask.s.name ? umask.s.name : "");
}

static void print_encoding(const char *text)
{
	GUARDED(pfm_encoding_t) e;
	GUARDED(pfm_error_t) error;
	char sentence[200];
	int ret;

	PREPARE(e);
	PREPARE(error);
	ret = pfm_encode_event(NULL, text, 0, &e.s, &error.s);
	CHECK("pfm_encoding_t", e);
	CHECK("pfm_error_t", error);
	pfm_explain_error(NULL, text, &error.s, sentence, sizeof(sentence));
	printf("%s: %d %s %u %#llx %u %#llx\n", text, ret, sentence, e.s.n_regs,
	       (unsigned long long)e.s.regs[0].value, e.s.n_alternatives,
	       (unsigned long long)e.s.attr.config);
}

int main(void)
{
	print_aggregates();
	print_descriptions();
	print_encoding("skl::INST_RETIRED");
	print_encoding("skl::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE");
	print_encoding("skl::NO_SUCH_EVENT");
	return 0;
}
