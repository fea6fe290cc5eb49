/* SPDX-License-Identifier: MIT */
/* Asks the peer, Debian's libpfm4, built against its own headers: every event and unit mask of the
 * processors named on the command line, one a line: processor, event, code and unit mask bits of
 * the table, registers, type and config words of the perf attribute; tabs between. A name it
 * refuses to encode has "-" and the reason. "-" among the processors: also the names on standard
 * input, as PMU::EVENT. Without a processor: those it has, with the number of their events.
 * LIBPFM_ENCODE_INACTIVE=1 lets it speak of processors other than this one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#define MOST_REGS 8

static void print_regs(const char *event)
{
	uint64_t regs[MOST_REGS], *r = regs;
	int n = MOST_REGS, rc;

	memset(regs, 0, sizeof(regs));
	rc = pfm_get_event_encoding(event, PFM_PLM0 | PFM_PLM3, NULL, NULL, &r, &n);
	if (rc) {
		printf("\t-%s", pfm_strerror(rc));
		return;
	}
	for (int i = 0; i < n; i++)
		printf("%s0x%" PRIx64, i ? "," : "\t", regs[i]);
}

static void print_attr(const char *event)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	int rc;

	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	attr.size = sizeof(attr);
	arg.size = sizeof(arg);
	arg.attr = &attr;
	rc = pfm_get_os_event_encoding(event, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
	if (rc)
		printf("\t-%s\n", pfm_strerror(rc));
	else
		printf("\t%u\t0x%" PRIx64 "\t0x%" PRIx64 "\t0x%" PRIx64 "\n", (unsigned)attr.type,
		       (uint64_t)attr.config, (uint64_t)attr.config1, (uint64_t)attr.config2);
}

static void print_name(const char *pmu, const char *event, const char *mask, uint64_t code,
                       uint64_t bits)
{
	char text[512];

	if (snprintf(text, sizeof(text), "%s::%s%s%s", pmu, event, mask ? ":" : "",
	             mask ? mask : "") >= (int)sizeof(text))
		return; /* no name of the peer's is that long */
	printf("%s\t%s\t0x%" PRIx64 "\t0x%" PRIx64, pmu, text + strlen(pmu) + 2, code, bits);
	print_regs(text);
	print_attr(text);
}

static void print_event(const char *pmu, int i)
{
	pfm_event_info_t ev = { .size = sizeof(ev) };
	int masks = 0;

	if (pfm_get_event_info(i, PFM_OS_NONE, &ev))
		return;
	for (int k = 0; k < ev.nattrs; k++) {
		pfm_event_attr_info_t at = { .size = sizeof(at) };

		if (pfm_get_event_attr_info(i, k, PFM_OS_NONE, &at) || at.type != PFM_ATTR_UMASK)
			continue;
		print_name(pmu, ev.name, at.name, ev.code, at.code);
		masks++;
	}
	if (!masks)
		print_name(pmu, ev.name, NULL, ev.code, 0);
}

static void print_pmu(const pfm_pmu_info_t *pmu)
{
	for (int i = pmu->first_event; i != -1; i = pfm_get_event_next(i))
		print_event(pmu->name, i);
}

/* Names from elsewhere: whether the table has them shows in the answer. */
static void answer_lines(void)
{
	char line[512];

	while (fgets(line, sizeof(line), stdin)) {
		char *colons = strstr(line, "::");

		line[strcspn(line, "\n")] = '\0';
		if (!colons)
			continue;
		*colons = '\0';
		print_name(line, colons + 2, NULL, 0, 0);
	}
}

int main(int argc, char **argv)
{
	if (pfm_initialize())
		return 1;
	for (int p = 0; p < PFM_PMU_MAX; p++) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

		if (pfm_get_pmu_info((pfm_pmu_t)p, &pmu))
			continue;
		if (argc < 2)
			printf("%s\t%d\n", pmu.name, pmu.nevents);
		for (int i = 1; i < argc; i++)
			if (strcmp(pmu.name, argv[i]) == 0)
				print_pmu(&pmu);
	}
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "-") == 0)
			answer_lines();
	pfm_terminate();
	return 0;
}
