/* SPDX-License-Identifier: MIT */
/* Strings of every PMU of libpfm4, right and wrong, for its words and for the kernel's interfaces. */
#include "digests.h"
#include <perfmon/pfmlib_perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = 400 };

static void say_event(int idx)
{
	pfm_event_info_t e = { .size = sizeof(e) };
	pfm_event_attr_info_t a = { .size = sizeof(a) };
	pfm_os_t os = (pfm_os_t)draw(3);
	int rc = pfm_get_event_info(idx, os, &e);

	say("event", (uint64_t)rc);
	if (rc)
		return;
	say_text("name", e.name);
	say_text("equal", e.equiv);
	say("code", e.code);
	say("type", e.dtype);
	say("flags", e.is_precise | (unsigned)e.is_speculative << 1 | (unsigned)e.support_hw_smpl << 3);
	for (int i = 0; i <= e.nattrs; i++) {
		rc = pfm_get_event_attr_info(idx, i, os, &a);
		say("attribute", (uint64_t)rc);
		if (rc)
			break;
		say_text("name", a.name);
		say_text("equal", a.equiv);
		say("code", a.code);
		say("type", a.type);
		say("by", a.ctrl);
		say("flags", a.is_dfl | (unsigned)a.is_precise << 1 | (unsigned)a.is_speculative << 2 | (unsigned)a.support_hw_smpl << 4);
		say("usual", a.dfl_val64);
	}
}

static size_t put(char *text, size_t at, const char *piece)
{
	int n = snprintf(text + at, ROOM - at, "%s", piece);

	return at + ((size_t)n < ROOM - at ? (size_t)n : 0);
}

static size_t put_attribute(char *text, size_t at, const pfm_event_info_t *e)
{
	static const char *const others[] = {
		"u",
		"k",
		"h",
		"uk",
		"c=1",
		"i",
		"e=0",
		"t=1",
		"u=0",
		"k=1",
		"bogus",
		"",
		"precise=2",
		"period=9",
		"freq=9",
		"excl",
		"cpu=0",
		"0x41",
		"h=0",
		"pinned=1",
		"hw_smpl",
		"c=256",
		"i=2",
		"ldlat=3",
		"mg=1",
		"mh",
		"intx",
		"fe_thres=4095",
		"nf=1",
		"ff=3",
		"0xffffff",
	};
	pfm_event_attr_info_t a = { .size = sizeof(a) };
	pfm_os_t os = draw(2) ? PFM_OS_NONE : PFM_OS_PERF_EVENT_EXT;
	char value[40];
	uint64_t number;

	at = put(text, at, draw(12) ? ":" : ".");
	if (e->nattrs == 0 || draw(6) == 0 || pfm_get_event_attr_info(e->idx, (int)draw((unsigned)e->nattrs), os, &a))
		return put(text, at, others[draw(sizeof(others) / sizeof(others[0]))]);
	at = put(text, at, a.name);
	if (a.type == PFM_ATTR_UMASK || draw(5) == 0)
		return at;
	number = draw(3) ? draw(4) : draw_number();
	snprintf(value, sizeof(value), number & 8 ? "=0x%llx" : "=%llu", (unsigned long long)number);
	return put(text, at, value);
}

static void make_text(char text[ROOM], const pfm_pmu_info_t *pmu, int idx)
{
	pfm_event_info_t e = { .size = sizeof(e) };
	size_t at = 0;

	text[0] = '\0';
	if (pfm_get_event_info(idx, PFM_OS_NONE, &e))
		return;
	if (draw(10)) {
		at = put(text, at, pmu->name);
		at = put(text, at, "::");
	}
	at = put(text, at, e.name);
	for (unsigned n = draw(5); n > 0; n--)
		at = put_attribute(text, at, &e);
	if (draw(8) == 0)
		text[draw((unsigned)at)] ^= 0x20;
}

static void say_words(const char *text, int levels)
{
	uint64_t words[8] = { 0 }, *codes = words;
	int n = 1 + (int)draw(8), idx = -1, rc;
	char *name = NULL;

	rc = pfm_get_event_encoding(text, levels, &name, &idx, &codes, &n);
	say("words", (uint64_t)rc);
	if (rc)
		return;
	for (int i = 0; i < n; i++)
		say("word", words[i]);
	say_text("name", name);
	free(name);
}

static void say_attr(const char *text, int levels, pfm_os_t os)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	char *name = NULL;
	pfm_perf_encode_arg_t arg = { .attr = &attr, .fstr = &name, .size = sizeof(arg) };
	int rc = pfm_get_os_event_encoding(text, levels, os, &arg);

	say("attr", (uint64_t)rc);
	if (rc)
		return;
	say_bytes("attr", &attr, sizeof(attr));
	say("cpu", (uint64_t)arg.cpu);
	say("flags", (uint64_t)arg.flags);
	say_text("name", name);
	free(name);
}

static void say_text_of(const char *text)
{
	int levels = draw(3) ? PFM_PLM0 | PFM_PLM3 : (int)draw(32);

	say_text("text", text);
	say_words(text, levels);
	say_attr(text, levels, PFM_OS_PERF_EVENT);
	say_attr(text, levels, PFM_OS_PERF_EVENT_EXT);
	say("found", pfm_find_event(text) >= 0);
}

static void say_pmu(const pfm_pmu_info_t *pmu, pfm_pmu_t number)
{
	int idx[256], n = 0;
	char text[ROOM];

	say_text("pmu", pmu->name);
	say("number", number);
	say("type", pmu->type);
	say("events", (uint64_t)pmu->nevents);
	say("words", (uint64_t)pmu->max_encoding);
	say("counters", (uint64_t)pmu->num_cntrs);
	say("fixed", (uint64_t)pmu->num_fixed_cntrs);
	say("stands for", pmu->is_dfl);
	for (int i = pmu->first_event; i >= 0 && n < 256; i = pfm_get_event_next(i))
		idx[n++] = i;
	for (unsigned i = 0; i < 60 && n; i++) {
		int one = idx[draw((unsigned)n)];

		if (i < 4)
			say_event(one);
		make_text(text, pmu, one);
		say_text_of(text);
	}
}

static void ask_strings(void)
{
	char name[64], family[32] = "";
	bool begun = false;

	for (int i = 0; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };
		size_t n;

		if (pfm_get_pmu_info((pfm_pmu_t)i, &pmu))
			continue;
		n = strcspn(pmu.name, "_");
		if (strlen(family) != n || strncmp(family, pmu.name, n) != 0) {
			if (begun)
				digest_end();
			snprintf(family, sizeof(family), "%.*s", (int)n, pmu.name);
			snprintf(name, sizeof(name), "libpfm4/%s/%d", family, i);
			digest_begin(name);
			begun = true;
		}
		say_pmu(&pmu, (pfm_pmu_t)i);
	}
	if (begun)
		digest_end();
}

static void same_strings(void **state)
{
	(void)state;
	same(ask_strings);
}

/* A machine that has a device of each kind, and otherwise is not known. */
static char root[] = P_tmpdir "/libpfm4-digests-XXXXXX";
static const char *const devices[] = { "cpu", "cpu_core", "cpu_atom", "power", "amd_nb", "amd_l3", "armv8_cortex_a57", "uncore_cbox_0",
	                               "uncore_cha_0", "uncore_ha", "uncore_ha_0", "uncore_imc_0", "uncore_irp", "uncore_iio_0",
	                               "uncore_m2m_0", "uncore_m2pcie", "uncore_m3upi_0", "uncore_pcu", "uncore_qpi_0", "uncore_r2pcie",
	                               "uncore_r3qpi_0", "uncore_sbox_0", "uncore_ubox", "uncore_upi_0", "uncore_edc_uclk_0" };
enum { DEVICES = sizeof(devices) / sizeof(devices[0]) };

/* File @i of it; false behind the last. */
static bool path_of(unsigned i, char path[256])
{
	if (i == 0)
		snprintf(path, 256, "%s/proc/sys/kernel/perf_event_paranoid", root);
	else if (i == 1)
		snprintf(path, 256, "%s/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms", root);
	else if (i < DEVICES + 2)
		snprintf(path, 256, "%s/sys/bus/event_source/devices/%s/type", root, devices[i - 2]);
	return i < DEVICES + 2;
}

static void make_machine(void)
{
	char path[256];

	if (!mkdtemp(root))
		abort();
	for (unsigned i = 0; path_of(i, path); i++) {
		FILE *f;

		for (char *s = path + strlen(root); (s = strchr(s + 1, '/'));) {
			*s = '\0';
			mkdir(path, 0700);
			*s = '/';
		}
		f = fopen(path, "w");
		if (!f || fprintf(f, "%u\n", 2 + 3 * i) < 0 || fclose(f))
			abort();
	}
}

static void remove_machine(void)
{
	char path[256];

	for (unsigned i = 0; path_of(i, path); i++)
		unlink(path);
	for (unsigned i = DEVICES + 2; i-- > 0 && path_of(i, path);)
		for (char *s; (s = strrchr(path + strlen(root), '/'));) {
			*s = '\0';
			rmdir(path);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(same_strings), cmocka_unit_test(list_is_up_to_date) };

	int failed;

	make_machine();
	if (setenv("LIBPFM_ENCODE_INACTIVE", "1", 1) || setenv("PERFMON_SYSFS", root, 1) || pfm_initialize())
		return 1;
	read_known("digests_libpfm4.txt");
	failed = write_known(cmocka_run_group_tests(tests, NULL, NULL));
	remove_machine();
	return failed;
}
