/* SPDX-License-Identifier: MIT */
/* A client of libpfm4, built against our headers and against libpfm4's, and run with either
 * library:
 *
 *   layout       size and offset of every member of the interface's structures
 *   pmus         every PMU
 *   walk OS      every PMU, event and attribute with all fields except descriptions
 *   encode       lines "OS LEVELS ATTR_SIZE ARG_SIZE STRING" from standard input: return code,
 *                words or perf_event_attr, string
 *   encode over  as encode, into a perf_event_attr whose words are already set and that is
 *                pinned and exclusive (P, X)
 *   encode rate  as encode, into a perf_event_attr with a rate of 77 samples a second
 *   validate     result and output of every PMU's self test
 *   rules        return codes of calls that fail, and of sizes of structures */
#include <perfmon/pfmlib_perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- layout ---------------------------------------------------------------------------------- */

#define SIZE(s)      printf(#s " %zu\n", sizeof(s))
#define MEMBER(s, m) printf(#s "." #m " %zu %zu\n", offsetof(s, m), sizeof(((s *)0)->m))

static void layout(void)
{
	SIZE(pfm_pmu_info_t);
	MEMBER(pfm_pmu_info_t, name);
	MEMBER(pfm_pmu_info_t, desc);
	MEMBER(pfm_pmu_info_t, size);
	MEMBER(pfm_pmu_info_t, pmu);
	MEMBER(pfm_pmu_info_t, type);
	MEMBER(pfm_pmu_info_t, nevents);
	MEMBER(pfm_pmu_info_t, first_event);
	MEMBER(pfm_pmu_info_t, max_encoding);
	MEMBER(pfm_pmu_info_t, num_cntrs);
	MEMBER(pfm_pmu_info_t, num_fixed_cntrs);
	SIZE(pfm_event_info_t);
	MEMBER(pfm_event_info_t, name);
	MEMBER(pfm_event_info_t, desc);
	MEMBER(pfm_event_info_t, equiv);
	MEMBER(pfm_event_info_t, size);
	MEMBER(pfm_event_info_t, code);
	MEMBER(pfm_event_info_t, pmu);
	MEMBER(pfm_event_info_t, dtype);
	MEMBER(pfm_event_info_t, idx);
	MEMBER(pfm_event_info_t, nattrs);
	SIZE(pfm_event_attr_info_t);
	MEMBER(pfm_event_attr_info_t, name);
	MEMBER(pfm_event_attr_info_t, desc);
	MEMBER(pfm_event_attr_info_t, equiv);
	MEMBER(pfm_event_attr_info_t, size);
	MEMBER(pfm_event_attr_info_t, code);
	MEMBER(pfm_event_attr_info_t, type);
	MEMBER(pfm_event_attr_info_t, idx);
	MEMBER(pfm_event_attr_info_t, ctrl);
	MEMBER(pfm_event_attr_info_t, dfl_val64);
	SIZE(pfm_pmu_encode_arg_t);
	MEMBER(pfm_pmu_encode_arg_t, codes);
	MEMBER(pfm_pmu_encode_arg_t, fstr);
	MEMBER(pfm_pmu_encode_arg_t, size);
	MEMBER(pfm_pmu_encode_arg_t, count);
	MEMBER(pfm_pmu_encode_arg_t, idx);
	SIZE(pfm_perf_encode_arg_t);
	MEMBER(pfm_perf_encode_arg_t, attr);
	MEMBER(pfm_perf_encode_arg_t, fstr);
	MEMBER(pfm_perf_encode_arg_t, size);
	MEMBER(pfm_perf_encode_arg_t, idx);
	MEMBER(pfm_perf_encode_arg_t, cpu);
	MEMBER(pfm_perf_encode_arg_t, flags);
	printf("abi %d %d %d %d %d\n", PFM_PMU_INFO_ABI0, PFM_EVENT_INFO_ABI0, PFM_ATTR_INFO_ABI0,
	       PFM_RAW_ENCODE_ABI0, PFM_PERF_ENCODE_ABI0);
	printf("pmus %d %d %d %d\n", PFM_PMU_INTEL_SKL, PFM_PMU_PERF_EVENT_RAW, PFM_PMU_POWER10,
	       PFM_PMU_ARM_V2);
}

/* ---- walk ------------------------------------------------------------------------------------ */

static void show_attr(int event, int index, pfm_os_t os)
{
	pfm_event_attr_info_t a;

	memset(&a, 0, sizeof(a));
	if (pfm_get_event_attr_info(event, index, os, &a)) {
		printf("  %d: no attribute\n", index);
		return;
	}
	printf("  %d %s %s code 0x%llx type %d ctrl %d size %zu dfl %d precise %d spec %d smpl %d "
	       "value %llu\n",
	       a.idx, a.name, a.equiv ? a.equiv : "-", (unsigned long long)a.code, a.type, a.ctrl,
	       a.size, a.is_dfl, a.is_precise, a.is_speculative, a.support_hw_smpl,
	       (unsigned long long)a.dfl_val64);
}

static void show_event(int event, pfm_os_t os)
{
	pfm_event_info_t e;
	int rc;

	memset(&e, 0, sizeof(e));
	rc = pfm_get_event_info(event, os, &e);
	if (rc) {
		printf(" %d: %s\n", event, pfm_strerror(rc));
		return;
	}
	printf(" %d %s %s code 0x%llx pmu %d type %d attrs %d precise %d spec %d smpl %d\n", e.idx,
	       e.name, e.equiv ? e.equiv : "-", (unsigned long long)e.code, e.pmu, e.dtype,
	       e.nattrs, e.is_precise, e.is_speculative, e.support_hw_smpl);
	for (int i = 0; i < e.nattrs; i++)
		show_attr(event, i, os);
}

/* @depth: 0 the PMUs alone, 1 with their events. */
static void walk(pfm_os_t os, int depth)
{
	pfm_pmu_info_t p;
	int rc;

	for (int i = 0;; i++) {
		memset(&p, 0, sizeof(p));
		rc = pfm_get_pmu_info((pfm_pmu_t)i, &p);
		if (rc == PFM_ERR_INVAL)
			break;
		if (rc)
			continue;
		printf("%d %s type %d events %d first %d words %d counters %d fixed %d present %d "
		       "dfl %d size %zu\n",
		       p.pmu, p.name, p.type, p.nevents, p.first_event, p.max_encoding, p.num_cntrs,
		       p.num_fixed_cntrs, p.is_present, p.is_dfl, p.size);
		for (int e = depth ? p.first_event : -1; e != -1; e = pfm_get_event_next(e))
			show_event(e, os);
	}
}

/* ---- encode ---------------------------------------------------------------------------------- */

static void encode_words(const char *text, int levels)
{
	pfm_pmu_encode_arg_t arg;
	char *name = NULL;
	int rc;

	memset(&arg, 0, sizeof(arg));
	arg.fstr = &name;
	rc = pfm_get_os_event_encoding(text, levels, PFM_OS_NONE, &arg);
	printf("%d|", rc);
	for (int i = 0; !rc && i < arg.count; i++)
		printf("%s0x%llx", i ? " " : "", (unsigned long long)arg.codes[i]);
	printf("|%s|%d\n", name ? name : "", rc ? 0 : arg.idx);
	free(arg.codes);
	free(name);
}

static void encode_attr(const char *text, int levels, pfm_os_t os, unsigned size, size_t arg_size,
                        const char *brings)
{
	bool over = strcmp(brings, "over") == 0;
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	char *name = NULL;
	int rc;

	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	attr.size = size;
	attr.config = over ? 0x1000 : 0;
	attr.config1 = over ? 0x1001 : 0;
	attr.config2 = over ? 0x1002 : 0;
	attr.pinned = attr.exclusive = over;
	attr.freq = strcmp(brings, "rate") == 0;
	attr.sample_period = attr.freq ? 77 : 0;
	arg.attr = &attr;
	arg.fstr = &name;
	arg.size = arg_size;
	rc = pfm_get_os_event_encoding(text, levels, os, &arg);
	printf("%d|%u|0x%llx|0x%llx|0x%llx|%s%s%s%s%s%s%s|%d|%d|%u|%llu|%s\n", rc, attr.type,
	       (unsigned long long)attr.config, (unsigned long long)attr.config1,
	       (unsigned long long)attr.config2, attr.exclude_user ? "u" : "",
	       attr.exclude_kernel ? "k" : "", attr.exclude_hv ? "h" : "",
	       attr.exclude_guest ? "G" : "", attr.exclude_host ? "H" : "",
	       over && attr.pinned ? "P" : "", over && attr.exclusive ? "X" : "", attr.precise_ip,
	       rc ? 0 : arg.cpu, attr.size, (unsigned long long)attr.sample_period,
	       name ? name : "(null)");
	free(name);
}

static void encode(const char *brings)
{
	char line[65536];
	int os, levels, at;
	unsigned size, arg_size;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%d %d %u %u %n", &os, &levels, &size, &arg_size, &at) < 4)
			break;
		if (os == PFM_OS_NONE)
			encode_words(line + at, levels);
		else
			encode_attr(line + at, levels, (pfm_os_t)os, size, arg_size, brings);
	}
}

/* ---- the self test --------------------------------------------------------------------------- */

/* How many attributes of an event have no words; the event itself counts too. */
static unsigned silent(int event)
{
	pfm_event_info_t e;
	pfm_event_attr_info_t a;
	unsigned n;

	memset(&e, 0, sizeof(e));
	memset(&a, 0, sizeof(a));
	pfm_get_event_info(event, PFM_OS_NONE, &e);
	n = !e.desc || !*e.desc;
	for (int i = 0; i < e.nattrs; i++)
		n += pfm_get_event_attr_info(event, i, PFM_OS_NONE, &a) || !a.desc || !*a.desc;
	return n;
}

static void validate(void)
{
	pfm_pmu_info_t p;
	unsigned empty = 0;

	printf("%d %d %d %d\n", pfm_pmu_validate((pfm_pmu_t)-1, stdout),
	       pfm_pmu_validate(PFM_PMU_CELL, stdout), pfm_pmu_validate(PFM_PMU_MAX, stdout),
	       pfm_pmu_validate(PFM_PMU_PERF_EVENT, NULL));
	for (int i = 0; i < PFM_PMU_MAX; i++) {
		memset(&p, 0, sizeof(p));
		if (pfm_get_pmu_info((pfm_pmu_t)i, &p) == PFM_SUCCESS)
			printf("%s: %d\n", p.name, pfm_pmu_validate(p.pmu, stdout));
		else
			continue;
		for (int e = p.first_event; e != -1; e = pfm_get_event_next(e))
			empty += silent(e);
	}
	printf("%u without words\n", empty);
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* A structure of a size of the caller's, with @rest in the bytes that no version has. */
union any {
	pfm_pmu_info_t pmu;
	pfm_event_info_t event;
	pfm_event_attr_info_t attr;
	char bytes[160];
};

static void sizes(int event)
{
	static const size_t all[] = { 0, 1, 40, 55, 56, 63, 64, 72, 73, 100 };
	union any s;

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (int rest = 0; rest < 2; rest++) {
			memset(&s, 0, sizeof(s));
			memset(s.bytes + 72, rest, sizeof(s) - 72);
			s.pmu.size = all[i];
			printf("size %zu %d: pmu %d", all[i], rest,
			       pfm_get_pmu_info(PFM_PMU_PERF_EVENT, &s.pmu));
			s.event.size = all[i];
			printf(" event %d", pfm_get_event_info(event, PFM_OS_NONE, &s.event));
			s.attr.size = all[i];
			printf(" attr %d %zu\n",
			       pfm_get_event_attr_info(event, 0, PFM_OS_NONE, &s.attr),
			       s.attr.size);
		}
}

static void before(void)
{
	pfm_pmu_info_t p = { .size = sizeof(p) };
	uint64_t *codes = NULL;
	int count = 0;

	printf("%d %d %d %d %d %d\n", pfm_get_pmu_info(PFM_PMU_PERF_EVENT, &p),
	       pfm_find_event("perf::CYCLES"), pfm_get_event_next(106954752),
	       pfm_get_event_encoding("perf::CYCLES", 9, NULL, NULL, &codes, &count),
	       pfm_get_event_encoding("perf::CYCLES", 9, NULL, NULL, NULL, &count),
	       pfm_pmu_validate(PFM_PMU_PERF_EVENT, stderr));
	printf("%x %s %s %s\n", (unsigned)pfm_get_version(), pfm_strerror(-3), pfm_strerror(7),
	       pfm_strerror(-99));
	pfm_terminate();
}

static void kernels(void)
{
	struct perf_event_attr attr;
	int idx = -1, rc;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	rc = pfm_get_perf_event_encoding("perf::FAULTS", 9, &attr, NULL, &idx);
	printf("perf %d %u %llu %x", rc, attr.type, (unsigned long long)attr.config, (unsigned)idx);
	printf(" %d %d %d\n", pfm_get_perf_event_encoding(NULL, 9, &attr, NULL, NULL),
	       pfm_get_perf_event_encoding("perf::FAULTS", 0x40, &attr, NULL, NULL),
	       pfm_get_perf_event_encoding("perf::NOSUCH", 9, &attr, NULL, NULL));
}

static void arguments(int event)
{
	pfm_pmu_info_t p = { .size = sizeof(p) };
	pfm_event_info_t e = { .size = sizeof(e) };
	pfm_event_attr_info_t a = { .size = sizeof(a) };
	pfm_pmu_encode_arg_t arg = { .size = sizeof(arg) };
	uint64_t room[2], *codes = room;
	int count = 0;

	printf("pmu %d %d %d %d\n", pfm_get_pmu_info((pfm_pmu_t)-1, &p),
	       pfm_get_pmu_info((pfm_pmu_t)100000, &p), pfm_get_pmu_info(PFM_PMU_CELL, &p),
	       pfm_get_pmu_info(PFM_PMU_PERF_EVENT, NULL));
	printf("event %d %d %d %d %d\n", pfm_get_event_info(-1, PFM_OS_NONE, &e),
	       pfm_get_event_info(event, (pfm_os_t)3, &e),
	       pfm_get_event_info(event, PFM_OS_NONE, NULL),
	       pfm_get_event_info(event | 0xfffff, PFM_OS_NONE, &e),
	       pfm_get_event_info(0x7fffffff, PFM_OS_NONE, &e));
	printf("attr %d %d %d %d\n", pfm_get_event_attr_info(event, -1, PFM_OS_NONE, &a),
	       pfm_get_event_attr_info(event, 1000, PFM_OS_NONE, &a),
	       pfm_get_event_attr_info(event, 0, (pfm_os_t)3, &a),
	       pfm_get_event_attr_info(event, 0, PFM_OS_NONE, NULL));
	printf("next %d %d find %d %d\n", pfm_get_event_next(-1), pfm_get_event_next(0x7fffffff),
	       pfm_find_event(NULL), pfm_find_event("a b"));
	printf("os %d %d %d %d %d\n", pfm_get_os_event_encoding(NULL, 9, PFM_OS_NONE, &arg),
	       pfm_get_os_event_encoding("perf::CYCLES", 9, PFM_OS_NONE, NULL),
	       pfm_get_os_event_encoding("perf::CYCLES", 0x20, PFM_OS_NONE, &arg),
	       pfm_get_os_event_encoding("perf::CYCLES", 9, (pfm_os_t)5, &arg),
	       pfm_get_perf_event_encoding("perf::CYCLES", 9, NULL, NULL, NULL));
	arg.size = 8;
	printf("small %d\n", pfm_get_os_event_encoding("perf::CYCLES", 9, PFM_OS_NONE, &arg));
	printf("half %d\n", pfm_get_event_encoding("perf::CYCLES", 9, NULL, NULL, &codes, &count));
	count = 2;
	printf("whole %d",
	       pfm_get_event_encoding("perf::CACHE-MISSES", 9, NULL, NULL, &codes, &count));
	printf(" %d %llx\n", count, (unsigned long long)room[0]);
	kernels();
}

/* Return codes of calls that go wrong, and of sizes; the same from either library. */
static int rules(void)
{
	int event;

	before();
	if (pfm_initialize())
		return 1;
	event = pfm_find_event("perf::PERF_COUNT_HW_CACHE_L1D");
	sizes(event);
	arguments(event);
	pfm_terminate();
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "layout") == 0)
		layout();
	else if (strcmp(what, "rules") == 0)
		return rules();
	else if (pfm_initialize())
		return 1;
	if (strcmp(what, "walk") == 0 || strcmp(what, "pmus") == 0)
		walk((pfm_os_t)(argc > 2 ? atoi(argv[2]) : 0), strcmp(what, "walk") == 0);
	if (strcmp(what, "validate") == 0)
		validate();
	if (strcmp(what, "encode") == 0)
		encode(argc > 2 ? argv[2] : "");
	pfm_terminate();
	return 0;
}
