/* SPDX-License-Identifier: MIT */
/* Names and units of the families of series.c. */
#include "series/series.h"

#include <string.h>

/* Counts that node_exporter's perf collector has, under its names. */
static const struct node_name {
	const char *event, *family, *help;
} node_names[] = {
	{ "page-faults", "node_perf_page_faults", "Page faults." },
	{ "faults", "node_perf_page_faults", "Page faults." },
	{ "minor-faults", "node_perf_minor_faults", "Page faults without a read from disk." },
	{ "major-faults", "node_perf_major_faults", "Page faults that read from disk." },
	{ "context-switches", "node_perf_context_switches", "Context switches." },
	{ "cs", "node_perf_context_switches", "Context switches." },
	{ "cpu-migrations", "node_perf_cpu_migrations", "Moves of tasks to another CPU." },
	{ "migrations", "node_perf_cpu_migrations", "Moves of tasks to another CPU." },
	{ "cycles", "node_perf_cpucycles", "Clocks of cores that were not halted." },
	{ "cpu-cycles", "node_perf_cpucycles", "Clocks of cores that were not halted." },
	{ "ref-cycles", "node_perf_ref_cpucycles", "Clocks at the reference frequency." },
	{ "instructions", "node_perf_instructions", "Instructions retired." },
	{ "branches", "node_perf_branch_instructions", "Branches retired." },
	{ "branch-instructions", "node_perf_branch_instructions", "Branches retired." },
	{ "branch-misses", "node_perf_branch_misses", "Branches that were mispredicted." },
	{ "cache-references", "node_perf_cache_refs", "Accesses of the last-level cache." },
	{ "cache-misses", "node_perf_cache_misses", "Misses of the last-level cache." },
	{ "stalled-cycles-frontend", "node_perf_stalled_cycles_frontend",
	  "Clocks in which the front end stalled." },
	{ "stalled-cycles-backend", "node_perf_stalled_cycles_backend",
	  "Clocks in which the back end stalled." },
	{ "L1-dcache-loads", "node_perf_cache_l1d_read_hits", "Loads from the L1 data cache." },
	{ "L1-dcache-load-misses", "node_perf_cache_l1d_read_misses",
	  "Loads that missed the L1 data cache." },
	{ "L1-dcache-stores", "node_perf_cache_l1d_write_hits", "Stores to the L1 data cache." },
	{ "L1-icache-load-misses", "node_perf_cache_l1_instr_read_misses",
	  "Fetches that missed the L1 instruction cache." },
	{ "iTLB-loads", "node_perf_cache_tlb_instr_read_hits", "Lookups in the instruction TLB." },
	{ "iTLB-load-misses", "node_perf_cache_tlb_instr_read_misses",
	  "Misses of the instruction TLB." },
	{ "LLC-loads", "node_perf_cache_ll_read_hits", "Loads from the last-level cache." },
	{ "LLC-load-misses", "node_perf_cache_ll_read_misses",
	  "Loads that missed the last-level cache." },
	{ "LLC-stores", "node_perf_cache_ll_write_hits", "Stores to the last-level cache." },
	{ "LLC-store-misses", "node_perf_cache_ll_write_misses",
	  "Stores that missed the last-level cache." },
	{ "branch-loads", "node_perf_cache_bpu_read_hits", "Lookups in the branch predictor." },
	{ "branch-load-misses", "node_perf_cache_bpu_read_misses",
	  "Misses of the branch predictor." },
};

/* The units of events and metrics, and the base units of OpenMetrics that they become. */
static const struct series_unit units[] = {
	{ "ns", "seconds", 1e-9 },
	{ "us", "seconds", 1e-6 },
	{ "ms", "seconds", 1e-3 },
	{ "msec", "seconds", 1e-3 },
	{ "s", "seconds", 1 },
	{ "sec", "seconds", 1 },
	{ "J", "joules", 1 },
	{ "Joules", "joules", 1 },
	{ "W", "watts", 1 },
	{ "Watts", "watts", 1 },
	{ "B", "bytes", 1 },
	{ "Bytes", "bytes", 1 },
	{ "bytes", "bytes", 1 },
	{ "KiB", "bytes", 0x1p10 },
	{ "MiB", "bytes", 0x1p20 },
	{ "GiB", "bytes", 0x1p30 },
	{ "MB/s", "bytes_per_second", 1e6 },
	{ "GB/s", "bytes_per_second", 1e9 },
	{ "MHz", "hertz", 1e6 },
	{ "GHz", "hertz", 1e9 },
	{ "GFLOP/s", "flops", 1e9 },
	{ "C", "celsius", 1 },
	{ "%", "ratio", 0.01 },
	{ "percent", "ratio", 0.01 },
	{ "ratio", "ratio", 1 },
};

/* Metrics that have one name and one unit on every processor (docs/metrics.md). */
static const struct contract_name {
	const char *metric, *unit, *family;
} contract_names[] = {
	{ "ipc", "insn per cycle", "perfmon_ipc" },
	{ "cpi", "cycles per insn", "perfmon_cpi" },
	{ "ghz", "GHz", "perfmon_clock_hertz" },
	{ "branch_mpki", "MPKI", "perfmon_branch_mpki" },
	{ "l1d_mpki", "MPKI", "perfmon_l1d_mpki" },
	{ "l2_mpki", "MPKI", "perfmon_l2_mpki" },
	{ "l3_mpki", "MPKI", "perfmon_l3_mpki" },
	{ "itlb_mpki", "MPKI", "perfmon_itlb_mpki" },
	{ "dtlb_mpki", "MPKI", "perfmon_dtlb_mpki" },
	{ "membw_read", "MB/s", "perfmon_membw_read_bytes_per_second" },
	{ "membw_write", "MB/s", "perfmon_membw_write_bytes_per_second" },
	{ "membw_total", "MB/s", "perfmon_membw_bytes_per_second" },
	{ "l3_hit_ratio", "ratio", "perfmon_l3_hit_ratio" },
	{ "flops_sp", "GFLOP/s", "perfmon_single_precision_flops" },
	{ "flops_dp", "GFLOP/s", "perfmon_double_precision_flops" },
	{ "vector_ratio", "ratio", "perfmon_vector_ratio" },
	{ "topdown_frontend", "ratio", "perfmon_topdown_frontend_ratio" },
	{ "topdown_backend", "ratio", "perfmon_topdown_backend_ratio" },
	{ "topdown_backend_memory", "ratio", "perfmon_topdown_backend_memory_ratio" },
	{ "topdown_backend_core", "ratio", "perfmon_topdown_backend_core_ratio" },
	{ "topdown_bad_speculation", "ratio", "perfmon_topdown_bad_speculation_ratio" },
	{ "topdown_retired", "ratio", "perfmon_topdown_retired_ratio" },
	{ "power_pkg", "W", "perfmon_package_power_watts" },
	{ "energy_pkg", "J", "perfmon_package_energy_joules" },
	{ "stalled_ratio", "ratio", "perfmon_stalled_ratio" },
	{ "smt_contention", "ratio", "perfmon_smt_contention_ratio" },
};

/* The families of all other counts: for each base unit one of counts and one of levels. */
static const struct unit_family {
	const char *unit, *counter, *level, *help; /* help: of the counts, NULL: the usual one */
} unit_families[] = {
	{ "", "perfmon_events", "perfmon_event_level", NULL },
	{ "seconds", "perfmon_event_seconds", "perfmon_event_level_seconds",
	  "Times that events count; task-clock of a whole machine is the time that passed, added "
	  "up "
	  "over its CPUs, idle or not." },
	{ "joules", "perfmon_event_joules", "perfmon_event_level_joules", NULL },
	{ "watts", "perfmon_event_watts", "perfmon_event_level_watts", NULL },
	{ "bytes", "perfmon_event_bytes", "perfmon_event_level_bytes", NULL },
	{ "bytes_per_second", "perfmon_event_bytes_per_second",
	  "perfmon_event_level_bytes_per_second", NULL },
	{ "hertz", "perfmon_event_hertz", "perfmon_event_level_hertz", NULL },
	{ "flops", "perfmon_event_flops", "perfmon_event_level_flops", NULL },
	{ "celsius", "perfmon_event_celsius", "perfmon_event_level_celsius", NULL },
	{ "ratio", "perfmon_event_ratio", "perfmon_event_level_ratio", NULL },
};

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static struct series_unit get_series_unit(const char *text)
{
	for (size_t i = 0; i < LENGTH(units); i++)
		if (strcmp(units[i].text, text) == 0)
			return units[i];
	return (struct series_unit){ text, "", 1 };
}

static bool is_generic_pmu(const char *name)
{
	return strcmp(name, "software") == 0 || strcmp(name, "hardware") == 0 ||
	       strcmp(name, "hw_cache") == 0;
}

/* The name of an event without that of its PMU, which is a label of its own. */
static const char *skip_pmu(const pfm_count_info_t *info)
{
	size_t len = strlen(info->pmu);

	return len && strncmp(info->name, info->pmu, len) == 0 &&
	                       strncmp(info->name + len, "::", 2) == 0
	               ? info->name + len + 2
	               : info->name;
}

static const struct node_name *find_node_name(const pfm_count_info_t *info)
{
	const char *name = skip_pmu(info);

	for (size_t i = 0; i < LENGTH(node_names) && is_generic_pmu(info->pmu); i++)
		if (strcmp(node_names[i].event, name) == 0)
			return &node_names[i];
	return NULL;
}

/* Events that have the same name in node_exporter are one event, under the first of their names. */
const char *get_series_event(const pfm_count_info_t *info)
{
	const struct node_name *node = find_node_name(info);

	if (!node)
		return skip_pmu(info);
	while (node > node_names && strcmp(node[-1].family, node->family) == 0)
		node--;
	return node->event;
}

struct series_family get_count_family(const pfm_count_info_t *info)
{
	const struct node_name *node = find_node_name(info);
	struct series_unit unit = get_series_unit(info->unit);
	size_t i = 0;

	if (node && !*info->unit)
		return (struct series_family){ node->family, node->help, unit };
	while (strcmp(unit_families[i].unit, unit.base) != 0)
		i++;
	return (struct series_family){ info->is_level ? unit_families[i].level
		                                      : unit_families[i].counter,
		                       info->is_level ? "Levels of events at the last reading."
		                       : unit_families[i].help ? unit_families[i].help
		                                               : "Counts of events.",
		                       unit };
}

struct series_family get_metric_family(const pfm_metric_info_t *info)
{
	for (size_t i = 0; i < LENGTH(contract_names); i++)
		if (strcmp(contract_names[i].metric, info->name) == 0 &&
		    strcmp(contract_names[i].unit, info->unit) == 0)
			return (struct series_family){ contract_names[i].family, info->desc,
				                       get_series_unit(info->unit) };
	return (struct series_family){ "perfmon_metric",
		                       "Metrics of the processor's own list.",
		                       { info->unit, "", 1 } };
}
