/* SPDX-License-Identifier: MIT */
/* Checks of pfm_check_system(): processor, PMUs, kernel. */
#include "system/system_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* The PMU of this machine's cores with the most specific table; -1 if missing. */
static int find_core_pmu(const pfm_ctx_t *ctx)
{
	perfmon_pmu_info_t p = PFM_INIT(p);
	int n = pfm_count_pmus(ctx), best = -1;

	for (int i = 0; i < n; i++) {
		if (pfm_describe_pmu(ctx, i, &p) || !(p.flags & PFM_PMU_HOST) ||
		    !(p.flags & PFM_PMU_CORE))
			continue;
		if (best < 0 || (p.n_events && !(p.flags & PFM_PMU_FALLBACK)))
			best = i;
	}
	return best;
}

static void check_pretence(struct pfm_system_check *c)
{
	struct finding f = { .check = "pretended", .state = PFM_FINDING_NOTE };
	char line[96];

	if (pfmi_machine_read_small_file(&c->sys.sys, PFMI_PRETENDED_PATH, line, sizeof(line)) < 0)
		return;
	pfmi_check_set_text(f.observed, "this machine is pretended: %s", line);
	pfmi_check_set_text(f.consequence,
	                    "pfm pretend makes up all counts; no PMU counts anything here");
	pfmi_check_add_finding(c, PFM_FINDING_MACHINE, &f);
}

static void check_processor(struct pfm_system_check *c)
{
	struct finding f = { .check = "processor", .state = PFM_FINDING_BAD };
	perfmon_pmu_info_t p = PFM_INIT(p);
	char counters[64] = "an unknown number of counters";
	int pmu = find_core_pmu(c->ctx);

	if (pmu < 0 || pfm_describe_pmu(c->ctx, pmu, &p)) {
		pfmi_check_set_text(f.observed, "no table matches this machine's processor");
		pfmi_check_set_text(f.available, "the events of the kernel");
		pfmi_check_add_finding(c, PFM_FINDING_MACHINE, &f);
		return;
	}
	f.state = p.flags & PFM_PMU_FALLBACK ? PFM_FINDING_NOTE : PFM_FINDING_GOOD;
	/* The kernel does not tell how many counters a PMU of its own has. */
	if (p.n_counters || p.n_fixed)
		snprintf(counters, sizeof(counters), "%u general and %u fixed counters",
		         p.n_counters, p.n_fixed);
	pfmi_check_set_text(f.observed, "%s: %s, %u events, %s (%s)", p.name, p.desc, p.n_events,
	                    counters, p.origin);
	if (f.state == PFM_FINDING_NOTE) {
		pfmi_check_set_text(f.consequence,
		                    "the list of this processor is not loaded: these events are %s",
		                    p.flags & PFM_PMU_NEAREST
		                            ? "of the nearest model and can differ here"
		                            : "common to its family");
		pfmi_check_set_text(
			f.remedy,
			"pfm import FOLDER, of the vendor's lists or of a Linux source tree");
	}
	pfmi_check_add_finding(c, PFM_FINDING_MACHINE, &f);
}

/* Lists the errata of @pmu that this machine has, those that make counts wrong first. Returns how
 * many of these there are. */
static unsigned list_errata(const pfm_ctx_t *ctx, int pmu, char text[FINDING_TEXT_SIZE])
{
	static const char more[] = ", and more";
	pfm_erratum_t e = PFM_INIT(e);
	unsigned n_wrong = 0;
	size_t len = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; !pfm_describe_erratum(ctx, pmu, i, &e); i++) {
			bool is_wrong = e.count != PFM_ERRATUM_COUNT_RIGHT;

			if (!(e.flags & PFM_ERRATUM_HERE) || is_wrong != (pass == 0))
				continue;
			n_wrong += is_wrong;
			if (len + strlen(", ") + strlen(e.ids) + sizeof(more) > FINDING_TEXT_SIZE) {
				snprintf(text + len, FINDING_TEXT_SIZE - len, "%s", more);
				return n_wrong;
			}
			len += (size_t)snprintf(text + len, FINDING_TEXT_SIZE - len, "%s%s",
			                        len ? ", " : "", e.ids);
		}
	return n_wrong;
}

static void check_errata(struct pfm_system_check *c)
{
	struct finding f = { .check = "errata", .state = PFM_FINDING_NOTE };
	perfmon_pmu_info_t p = PFM_INIT(p);
	int pmu = find_core_pmu(c->ctx);
	unsigned n_wrong;

	if (pmu < 0 || pfm_describe_pmu(c->ctx, pmu, &p))
		return;
	n_wrong = list_errata(c->ctx, pmu, f.observed);
	if (!*f.observed)
		return;
	if (n_wrong)
		pfmi_check_set_text(f.consequence,
		                    "counts of some events are wrong because of %u of them",
		                    n_wrong);
	pfmi_check_set_text(f.remedy, "pfm show --errata %s", p.name);
	pfmi_check_add_finding(c, PFM_FINDING_MACHINE, &f);
}

/* True if @list, names separated by ", ", has @name. */
static bool is_name_listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ' ') && (at[len] == ',' || !at[len]))
			return true;
	return false;
}

/* Lists the kernel's PMUs in @text. Returns true if one of them is a core's. Several tables can
 * belong to one kernel PMU; its name is listed once. */
static bool list_kernel_pmus(const pfm_ctx_t *ctx, char text[FINDING_TEXT_SIZE])
{
	static const char more[] = ", and more";
	perfmon_pmu_info_t p = PFM_INIT(p);
	int n = pfm_count_pmus(ctx);
	bool has_core = false, is_full = false;
	size_t len = 0;

	for (int i = 0; i < n; i++) {
		const char *name;

		if (pfm_describe_pmu(ctx, i, &p) || !(p.flags & PFM_PMU_KERNEL))
			continue;
		has_core |= (p.flags & PFM_PMU_CORE) != 0;
		name = *p.device ? p.device : p.name;
		if (is_name_listed(text, name))
			continue;
		if (len + strlen(", ") + strlen(name) + sizeof(more) > FINDING_TEXT_SIZE)
			is_full = true;
		else
			len += (size_t)snprintf(text + len, FINDING_TEXT_SIZE - len, "%s%s",
			                        len ? ", " : "", name);
	}
	if (is_full)
		snprintf(text + len, FINDING_TEXT_SIZE - len, "%s", more);
	return has_core;
}

static void check_pmus(struct pfm_system_check *c)
{
	struct finding f = { .check = "PMUs", .state = PFM_FINDING_GOOD };
	char flags[4096];
	bool is_guest;

	if (list_kernel_pmus(c->ctx, f.observed)) {
		pfmi_check_add_finding(c, PFM_FINDING_MACHINE, &f);
		return;
	}
	if (!*f.observed)
		pfmi_check_set_text(f.observed, "the kernel exports no PMU");
	is_guest = pfmi_check_read_key(c, "/proc/cpuinfo", "flags", flags, sizeof(flags)) &&
	           strstr(flags, "hypervisor");
	f.state = PFM_FINDING_BAD;
	pfmi_check_set_text(f.consequence, "no PMU of a processor core is among them%s",
	                    is_guest ? ": the hypervisor gives this virtual machine no PMU" : "");
	pfmi_check_set_text(
		f.remedy, "%s",
		is_guest ? "switch the virtual PMU on (QEMU: -cpu host,pmu=on; a cloud: a "
			   "bare-metal or a bigger instance)"
			 : "load the driver of the processor's PMU, or use a kernel that has it");
	pfmi_check_set_text(f.available,
	                    "software events: task-clock, page-faults, context-switches; "
	                    "tracepoints");
	pfmi_check_add_finding(c, PFM_FINDING_MACHINE, &f);
}

/* Kernel options, and what cannot be counted without them. */
static const struct kernel_option {
	char name[24], loss[28];
} kernel_options[] = {
	{ "CONFIG_PERF_EVENTS", "nothing can be counted" },
	{ "CONFIG_HW_PERF_EVENTS", "no hardware event" },
	{ "CONFIG_CGROUP_PERF", "no control group" },
	{ "CONFIG_FTRACE", "no tracepoint" },
};

/* True if @config has the line "@name=y". */
static bool is_option_on(const char *config, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = strstr(config, name); at; at = strstr(at + 1, name))
		if ((at == config || at[-1] == '\n') && strncmp(at + len, "=y\n", 3) == 0)
			return true;
	return false;
}

static void note_missing_options(struct finding *f, const char *config)
{
	size_t len = 0;

	for (size_t i = 0; i < sizeof(kernel_options) / sizeof(kernel_options[0]); i++) {
		const struct kernel_option *o = &kernel_options[i];

		if (is_option_on(config, o->name))
			continue;
		f->state = PFM_FINDING_NOTE;
		len += (size_t)snprintf(f->consequence + len, FINDING_TEXT_SIZE - len,
		                        "%swithout %s: %s", len ? "; " : "", o->name, o->loss);
	}
}

/* Checks the options that the kernel was built with, if the distribution installs them in /boot. */
static void check_kernel(struct pfm_system_check *c)
{
	struct finding f = { .check = "kernel", .state = PFM_FINDING_GOOD };
	struct utsname name;
	char path[128], *config;
	size_t len;

	if (c->is_recorded || uname(&name))
		return;
	snprintf(path, sizeof(path), "/boot/config-%s", name.release);
	if (pfmi_check_read_file(c, path, &config, &len)) {
		pfmi_check_set_text(f.observed,
		                    "%s; %s is missing, so its options were not checked",
		                    name.release, path);
		pfmi_check_add_finding(c, PFM_FINDING_MACHINE, &f);
		return;
	}
	pfmi_check_set_text(f.observed, "%s", name.release);
	note_missing_options(&f, config);
	free(config);
	pfmi_check_add_finding(c, PFM_FINDING_MACHINE, &f);
}

/* Adds the rules of a PMU that hold because of a fact of this machine. */
static void add_pmu_rules(struct pfm_system_check *c, int pmu)
{
	pfm_rule_info_t rule = PFM_INIT(rule);

	for (unsigned i = 0; pfm_describe_rule(c->ctx, pmu, i, &rule) == PFMLIB_SUCCESS; i++) {
		struct finding f = { .check = rule.name, .state = PFM_FINDING_NOTE };

		if (!rule.depends || !rule.holds || !*rule.evidence)
			continue;
		pfmi_check_set_text(f.observed, "%s", rule.evidence);
		pfmi_check_set_text(f.consequence, "%s (%s)", rule.text, rule.source);
		pfmi_check_add_finding(c, PFM_FINDING_MACHINE, &f);
	}
}

static void check_rules(struct pfm_system_check *c)
{
	perfmon_pmu_info_t p = PFM_INIT(p);

	for (int i = 0; pfm_describe_pmu(c->ctx, i, &p) == PFMLIB_SUCCESS; i++)
		if (p.flags & PFM_PMU_HOST)
			add_pmu_rules(c, i);
}

void pfmi_check_machine(struct pfm_system_check *c)
{
	check_pretence(c);
	check_processor(c);
	check_errata(c);
	check_pmus(c);
	check_rules(c);
	check_kernel(c);
}
