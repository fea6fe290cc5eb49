/* SPDX-License-Identifier: MIT */
#include "region/simulated.h"

#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "context/context.h"
#include "machine/machine.h"
#include "region/region.h"

static const char names[SIMULATED_COUNTS][16] = SIMULATED_COUNT_NAMES;

bool pfmi_region_is_simulated(void)
{
	const char *value = pfmi_machine_get_env("PERFMON_SIMULATED");

	return value && strcmp(value, "1") == 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The compiler must leave the number beside the call, where the plugin looks for it. */
static void read_emulator(uint64_t counts[SIMULATED_COUNTS])
{
	memset(counts, 0, SIMULATED_COUNTS * sizeof(*counts));
#if defined(__x86_64__)
	long number = SIMULATED_MARK;

	__asm__ volatile("movl %[mark], %%eax\n\tsyscall"
	                 : "=&a"(number)
	                 : [mark] "i"(SIMULATED_MARK), "D"(counts)
	                 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register uint64_t *x0 __asm__("x0") = counts;

	__asm__ volatile("mov x8, %[mark]\n\tsvc 0"
	                 : "+r"(x0)
	                 : [mark] "i"(SIMULATED_MARK)
	                 : "x8", "memory");
#endif
}

void pfmi_region_read_simulated(const struct layout *l, uint64_t wall, uint64_t *out)
{
	const struct group *g = l->rounds[0].groups;
	uint64_t counts[SIMULATED_COUNTS], *words = out + g->word;

	words[GROUP_NR] = g->n;
	words[GROUP_ENABLED] = words[GROUP_RUNNING] = wall;
	read_emulator(counts);
	for (unsigned i = 0; i < g->n; i++)
		words[GROUP_VALUES + i] = counts[l->events[g->events[i]].attr.config];
}

/* ---- events ---------------------------------------------------------------------------------- */

static int find_count(const char *name, size_t len)
{
	for (int i = 0; i < SIMULATED_COUNTS; i++)
		if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
			return i;
	return -1;
}

/* Adds the event with the @len bytes at @name. False without memory. */
static bool add_simulated_event(struct layout *l, struct group *g, const char *name, size_t len)
{
	struct region_event *e = &l->events[l->n_events];
	const int count = find_count(name, len);

	*e = (struct region_event){ .name = strndup(name, len),
		                    .unit = strdup(""),
		                    .why = strdup(count < 0 ? "an emulator does not have it" : ""),
		                    .remedy = strdup(count < 0 ? "count instructions, loads, "
		                                                 "stores, branches or syscalls"
		                                               : ""),
		                    .cpus = strdup(""),
		                    .scale = 1,
		                    .countable = count >= 0 };
	l->n_events++;
	if (!e->name || !e->unit || !e->why || !e->remedy || !e->cpus)
		return false;
	if (count < 0) {
		e->quality = PFM_QUALITY_NOT_SUPPORTED;
		e->cause = PFM_CAUSE_NO_PMU;
		return true;
	}
	e->attr.config = (uint64_t)count;
	g->events[g->n++] = l->n_events - 1;
	return true;
}

int pfmi_layout_plan_simulated(struct layout *l, const char *events, pfm_error_t *error)
{
	size_t most = strlen(events) + 1;
	int rc = pfm_open_context(&l->ctx, NULL, error);

	l->is_simulated = true;
	l->events = calloc(most, sizeof(*l->events));
	l->rounds = calloc(1, sizeof(*l->rounds));
	if (!rc && l->rounds)
		l->rounds->groups = calloc(1, sizeof(*l->rounds->groups));
	if (!rc && l->rounds && l->rounds->groups) {
		l->n_rounds = l->rounds->n = 1;
		l->rounds->groups->events = calloc(most, sizeof(unsigned));
	}
	if (rc || !l->events || !l->n_rounds || !l->rounds->groups->events)
		return rc ? rc : pfmi_base_set_no_memory_error(error);
	for (const char *at = events; *at; at += *at == ',') {
		size_t len = strcspn(at, ",");

		if (len && !add_simulated_event(l, l->rounds->groups, at, len))
			return pfmi_base_set_no_memory_error(error);
		at += len;
	}
	return PFMLIB_SUCCESS;
}
