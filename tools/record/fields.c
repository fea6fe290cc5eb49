/* SPDX-License-Identifier: MIT */
#include "record/fields.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/pfm.h"

enum { DEFAULT_STACK = 8192, MAX_STACK = 65528 };

/* The registers for unwinding a stack: all that a sample can hold, except for segments, which the
 * kernel refuses on x86-64. */
#if defined(__x86_64__)
#define USER_REGISTERS 0xff0fffu
#elif defined(__aarch64__)
#define USER_REGISTERS (((uint64_t)1 << 33) - 1)
#else
#define USER_REGISTERS 0u
#endif

uint64_t get_argument_registers(void)
{
#if defined(__x86_64__)
	return 1 << 4 | 1 << 5; /* si, di */
#elif defined(__aarch64__)
	return 1 << 0 | 1 << 1;
#else
	return 0;
#endif
}

static const char *read_dwarf(const char *size, pfm_sampling_t *sampling)
{
	unsigned long bytes = DEFAULT_STACK;
	char *end = (char *)size;

	if (!USER_REGISTERS)
		return "stacks are unwound on x86-64 and arm64 only; expected fp or lbr";
	if (size) {
		bytes = isdigit((unsigned char)*size) ? strtoul(size, &end, 0) : 0;
		if (*end || bytes % 8 || bytes < 8 || bytes > MAX_STACK)
			return "expected a multiple of 8 from 8 to 65528 after dwarf";
	}
	sampling->fields |= PFM_SAMPLE_CHAIN | PFM_SAMPLE_REGS | PFM_SAMPLE_STACK;
	sampling->flags |= PFM_SAMPLING_KERNEL_CHAIN;
	/* perf looks for call frame information in mappings that are not executable. */
	sampling->records |= PFM_SIDEBAND_DATA_MAPS;
	sampling->user_regs = USER_REGISTERS;
	sampling->user_stack = (uint32_t)bytes;
	return NULL;
}

const char *read_call_graph(const char *text, pfm_sampling_t *sampling)
{
	static const char dwarf[] = "dwarf";

	if (strcmp(text, "fp") == 0) {
		sampling->fields |= PFM_SAMPLE_CHAIN;
		return NULL;
	}
	if (strcmp(text, "lbr") == 0) {
		sampling->fields |= PFM_SAMPLE_CHAIN | PFM_SAMPLE_BRANCH;
		sampling->flags |= PFM_SAMPLING_KERNEL_CHAIN;
		sampling->branch_filter = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
		                          PERF_SAMPLE_BRANCH_NO_CYCLES |
		                          PERF_SAMPLE_BRANCH_NO_FLAGS;
		return NULL;
	}
	if (strncmp(text, dwarf, strlen(dwarf)) != 0)
		return "expected fp, dwarf, dwarf,SIZE or lbr";
	text += strlen(dwarf);
	return !*text         ? read_dwarf(NULL, sampling)
	       : *text == ',' ? read_dwarf(text + 1, sampling)
	                      : "expected fp, dwarf, dwarf,SIZE or lbr";
}

static const struct branch_kind {
	const char *name;
	uint64_t bit;
} branch_kinds[] = {
	{ "u", PERF_SAMPLE_BRANCH_USER },
	{ "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV },
	{ "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "call", PERF_SAMPLE_BRANCH_CALL },
	{ "cond", PERF_SAMPLE_BRANCH_COND },
	{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
	{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
	{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
};

static uint64_t find_branch_kind(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(branch_kinds) / sizeof(branch_kinds[0]); i++)
		if (strlen(branch_kinds[i].name) == n && memcmp(branch_kinds[i].name, name, n) == 0)
			return branch_kinds[i].bit;
	return 0;
}

#define BRANCH_LEVELS                                                                              \
	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV |             \
	 PERF_SAMPLE_BRANCH_TYPE_SAVE)

bool read_branch_filter(const char *text, uint64_t *filter)
{
	for (;; text++) {
		size_t n = strcspn(text, ",");
		uint64_t bit = find_branch_kind(text, n);

		if (!bit)
			return false;
		*filter |= bit;
		text += n;
		if (!*text)
			break;
	}
	/* The kernel takes levels without other bits for all branches. */
	if (!(*filter & ~(uint64_t)BRANCH_LEVELS))
		*filter |= PERF_SAMPLE_BRANCH_ANY;
	return true;
}

uint64_t get_default_branch_filter(void)
{
	return PERF_SAMPLE_BRANCH_ANY;
}

/* ---- accesses to memory ---------------------------------------------------------------------- */

void want_memory_fields(pfm_sampling_t *sampling)
{
	sampling->fields |= PFM_SAMPLE_ADDR | PFM_SAMPLE_WEIGHTS | PFM_SAMPLE_SOURCE;
	/* The kernel gives physical addresses only to users who may see the kernel. */
	if (geteuid() == 0)
		sampling->fields |= PFM_SAMPLE_PHYS_ADDR;
	sampling->records |= PFM_SIDEBAND_DATA_MAPS;
	sampling->precise = 3;
	sampling->flags |= PFM_SAMPLING_LESS_PRECISE;
}

/* True if the kernel exports @file of PMU @pmu. */
static bool has_pmu_file(const char *pmu, const char *file)
{
	char path[128], full[4096];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", pmu, file);
	return access(make_machine_path(path, full, sizeof(full)), F_OK) == 0;
}

/* If PMU @pmu has @file, its event is @text, in which % is replaced by the PMU. Since Sapphire
 * Rapids, loads need an auxiliary event that leads their group. */
static const struct memory_event {
	const char *pmu, *file, *without, *text;
} memory_events[] = {
	{ "cpu", "events/mem-loads-aux", NULL, "{%/mem-loads-aux/,%/mem-loads,ldlat=30/}" },
	{ "cpu", "events/mem-loads", "events/mem-loads-aux", "%/mem-loads,ldlat=30/" },
	{ "cpu", "events/mem-stores", NULL, "%/mem-stores/" },
	{ "cpu_core", "events/mem-loads-aux", NULL, "{%/mem-loads-aux/,%/mem-loads,ldlat=30/}" },
	{ "cpu_core", "events/mem-loads", "events/mem-loads-aux", "%/mem-loads,ldlat=30/" },
	{ "cpu_core", "events/mem-stores", NULL, "%/mem-stores/" },
	{ "cpu_atom", "events/mem-loads", NULL, "%/mem-loads,ldlat=30/" },
	{ "cpu_atom", "events/mem-stores", NULL, "%/mem-stores/" },
	{ "ibs_op", "type", NULL, "%//" },
};

/* Replaces each % in @text by @pmu. */
static void fill_pmu(const char *text, const char *pmu, char *out, size_t size)
{
	size_t at = 0;

	for (; *text && at + 1 < size; text++)
		if (*text == '%')
			at += (size_t)snprintf(out + at, size - at, "%s", pmu);
		else
			out[at++] = *text;
	out[at < size ? at : size - 1] = '\0';
}

int visit_memory_events(bool (*add)(void *arg, const char *text), void *arg)
{
	int n = 0;

	for (size_t i = 0; i < sizeof(memory_events) / sizeof(memory_events[0]); i++) {
		const struct memory_event *e = &memory_events[i];
		char text[128];

		if (!has_pmu_file(e->pmu, e->file) ||
		    (e->without && has_pmu_file(e->pmu, e->without)))
			continue;
		fill_pmu(e->text, e->pmu, text, sizeof(text));
		if (!add(arg, text))
			return -1;
		n++;
	}
	return n;
}
