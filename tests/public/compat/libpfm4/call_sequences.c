/* SPDX-License-Identifier: MIT */
/* Calls of libpfm4's clients, in their order and with their arguments: a program in C and in C++.
 *   benchmark  Google Benchmark with --benchmark_perf_counters
 *   caliper    Caliper's service libpfm
 *   cadvisor   cAdvisor's perf collector
 *   papi       PAPI's enumeration of native events
 * Prints what the library answers; tests compare that with an installed libpfm4's. */
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const events[] = { "TASK-CLOCK", "perf::PERF_COUNT_SW_PAGE_FAULTS", "CYCLES:u",
	                              "PERF_COUNT_HW_INSTRUCTIONS", "NOSUCH" };
#define N_EVENTS (sizeof(events) / sizeof(events[0]))

static void print_attr(const char *client, const char *event, int rc,
                       const struct perf_event_attr *attr)
{
	printf("%s %s %d type %u config %llx size %u exclude %d%d%d%d%d %s\n", client, event, rc,
	       (unsigned)attr->type, (unsigned long long)attr->config, (unsigned)attr->size,
	       (int)attr->exclude_user, (int)attr->exclude_kernel, (int)attr->exclude_hv,
	       (int)attr->exclude_host, (int)attr->exclude_guest, rc ? pfm_strerror(rc) : "-");
}

/* One structure for each counter; no string is asked for, user mode by default. The size of the
 * argument is not set, and the description of the event is read by the index that came back. */
static int benchmark(void)
{
	if (pfm_initialize() != PFM_SUCCESS)
		return 1;
	for (size_t i = 0; i < N_EVENTS; i++) {
		struct perf_event_attr attr;
		pfm_perf_encode_arg_t arg;
		pfm_event_info_t info;
		pfm_pmu_info_t pmu;
		int rc;

		memset(&attr, 0, sizeof(attr));
		memset(&arg, 0, sizeof(arg));
		attr.size = sizeof(attr);
		arg.attr = &attr;
		rc = pfm_get_os_event_encoding(events[i], PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
		print_attr("benchmark", events[i], rc, &attr);
		if (rc)
			continue;
		memset(&info, 0, sizeof(info));
		memset(&pmu, 0, sizeof(pmu));
		info.size = sizeof(info);
		pmu.size = sizeof(pmu);
		rc = pfm_get_event_info(arg.idx, PFM_OS_PERF_EVENT, &info);
		printf("  info %d %s", rc, rc ? "-" : info.name);
		rc = pfm_get_pmu_info(info.pmu, &pmu);
		printf(" pmu %d %s type %d\n", rc, rc ? "-" : pmu.name, (int)pmu.type);
	}
	return 0; /* it never terminates the library */
}

/* A list of names with commas, a string for each, the extended attributes. */
static int caliper(void)
{
	char list[256] = "";
	char *at, *name;

	if (pfm_initialize() != PFM_SUCCESS)
		return 1;
	for (size_t i = 0; i < N_EVENTS; i++) {
		strcat(list, events[i]);
		strcat(list, i + 1 < N_EVENTS ? "," : "");
	}
	for (name = strtok_r(list, ",", &at); name; name = strtok_r(NULL, ",", &at)) {
		struct perf_event_attr attr;
		pfm_perf_encode_arg_t arg;
		char *text = NULL;
		int rc;

		memset(&attr, 0, sizeof(attr));
		memset(&arg, 0, sizeof(arg));
		arg.attr = &attr;
		arg.fstr = &text;
		arg.size = sizeof(arg);
		rc = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT,
		                               &arg);
		print_attr("caliper", name, rc, &attr);
		printf("  %s cpu %d\n", text ? text : "-", rc ? 0 : arg.cpu);
		free(text);
	}
	pfm_terminate();
	return 0;
}

/* Structure and string are from malloc(); the pointer to the string is not NULL before the call. */
static int cadvisor(void)
{
	if (pfm_initialize() != PFM_SUCCESS)
		return 1;
	for (size_t i = 0; i < N_EVENTS; i++) {
		struct perf_event_attr *attr =
			(struct perf_event_attr *)calloc(1, sizeof(struct perf_event_attr));
		char *before = (char *)calloc(1, 1), *text = before;
		pfm_perf_encode_arg_t arg;
		int rc;

		if (!attr || !before)
			abort();
		memset(&arg, 0, sizeof(arg));
		arg.attr = attr;
		arg.fstr = &text;
		arg.size = sizeof(arg);
		rc = pfm_get_os_event_encoding(events[i], PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT,
		                               &arg);
		print_attr("cadvisor", events[i], rc, attr);
		if (rc == PFM_SUCCESS)
			printf("  %s\n", text);
		if (text != before)
			free(text);
		free(before);
		free(attr);
	}
	pfm_terminate();
	return 0;
}

static void list_attrs(const pfm_event_info_t *event)
{
	for (int i = 0; i < event->nattrs; i++) {
		pfm_event_attr_info_t attr;

		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		if (pfm_get_event_attr_info(event->idx, i, PFM_OS_PERF_EVENT_EXT, &attr) ==
		    PFM_SUCCESS)
			printf("   %s %d %d\n", attr.name, (int)attr.type, (int)attr.ctrl);
	}
}

/* Each event by its index, and then its name looked up and encoded. */
static void list_events(const pfm_pmu_info_t *pmu)
{
	for (int i = pmu->first_event; i != -1; i = pfm_get_event_next(i)) {
		struct perf_event_attr attr;
		pfm_perf_encode_arg_t arg;
		pfm_event_info_t event;
		char name[512];

		memset(&event, 0, sizeof(event));
		event.size = sizeof(event);
		if (pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &event) != PFM_SUCCESS)
			continue;
		snprintf(name, sizeof(name), "%s::%s", pmu->name, event.name);
		memset(&attr, 0, sizeof(attr));
		memset(&arg, 0, sizeof(arg));
		arg.attr = &attr;
		arg.size = sizeof(arg);
		print_attr("papi", name,
		           pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3,
		                                     PFM_OS_PERF_EVENT_EXT, &arg),
		           &attr);
		printf("  found %d\n", pfm_find_event(name) == i);
		list_attrs(&event);
	}
}

/* PMUs by number until the library says that there are no more. */
static int papi(void)
{
	int rc = PFM_SUCCESS;

	if (pfm_initialize() != PFM_SUCCESS)
		return 1;
	for (int i = 0; rc != PFM_ERR_INVAL; i++) {
		pfm_pmu_info_t pmu;

		memset(&pmu, 0, sizeof(pmu));
		pmu.size = sizeof(pmu);
		rc = pfm_get_pmu_info((pfm_pmu_t)i, &pmu);
		if (rc != PFM_SUCCESS || !pmu.is_present || pmu.type == PFM_PMU_TYPE_UNKNOWN)
			continue;
		printf("papi pmu %s type %d dfl %d events %d counters %d fixed %d\n", pmu.name,
		       (int)pmu.type, (int)pmu.is_dfl, pmu.nevents, pmu.num_cntrs,
		       pmu.num_fixed_cntrs);
		list_events(&pmu);
	}
	pfm_terminate();
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} clients[] = { { "benchmark", benchmark },
		        { "caliper", caliper },
		        { "cadvisor", cadvisor },
		        { "papi", papi } };

	for (size_t i = 0; argc > 1 && i < sizeof(clients) / sizeof(clients[0]); i++)
		if (strcmp(argv[1], clients[i].name) == 0)
			return clients[i].run();
	fprintf(stderr, "expected benchmark, caliper, cadvisor or papi\n");
	return 2;
}
