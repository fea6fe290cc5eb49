/* SPDX-License-Identifier: MIT */
#include "pretend/machine.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "common/pfm.h"
#include "pretend/data.h"
#include "pretend/recorded.h"

/* Types of cores begin where Linux numbers them, those of boxes above all that a machine has. */
enum { CORE_TYPE = 4, OTHER_CORE_TYPE = 10, FIRST_BOX_TYPE = 40, BOX_INSTANCES = 2 };

/* ---- the identity ---------------------------------------------------------------------------- */

/* Copies the identity in line @line, "NAME ID", if NAME is @name or, with @is_prefix, begins with
 * @name and "_". */
static bool take_identity(const char *line, const char *name, bool is_prefix,
                          char id[PRETEND_ID_MAX])
{
	size_t len = strlen(name), word = strcspn(line, " ");

	if (strncasecmp(line, name, len) != 0 || (is_prefix ? line[len] != '_' : word != len))
		return false;
	snprintf(id, PRETEND_ID_MAX, "%.*s", (int)strcspn(line + word + 1, "\n"), line + word + 1);
	return true;
}

static bool find_identity(const char *name, bool is_prefix, char id[PRETEND_ID_MAX])
{
	for (const char *line = pretend_files[0].text; *line; line = strchr(line, '\n') + 1)
		if (take_identity(line, name, is_prefix, id))
			return true;
	return false;
}

/* Finds the identity of the processor with the name or alias @cpu. */
static bool find_identity_of(const char *cpu, char id[PRETEND_ID_MAX])
{
	perfmon_pmu_info_t p = PFM_INIT(p);
	int pmu;

	if (find_identity(cpu, false, id) || find_identity(cpu, true, id))
		return true;
	pmu = pfm_find_pmu(NULL, cpu);
	return pmu >= 0 && !pfm_describe_pmu(NULL, pmu, &p) && find_identity(p.name, false, id);
}

static pfm_ctx_t *open_tables(const char *id)
{
	pfm_ctx_options_t options = PFM_INIT(options);
	pfm_ctx_t *ctx;

	options.cpuid = id;
	options.flags = PFM_CTX_NO_IMAGES;
	options.sysfs_root = "/nonexistent";
	return pfm_open_context(&ctx, &options, NULL) ? NULL : ctx;
}

/* ---- PMUs ------------------------------------------------------------------------------------ */

static void add_pmu(struct pretend_machine *m, const struct pretend_pmu *pmu)
{
	if (m->n_pmus < PRETEND_PMUS)
		m->pmus[m->n_pmus++] = *pmu;
}

static void add_core(struct pretend_machine *m, int number, const perfmon_pmu_info_t *p)
{
	unsigned n_cores = 0;
	struct pretend_pmu pmu = { .pmu = number, .is_core = true, .cpu = -1 };

	for (unsigned i = 0; i < m->n_pmus; i++) {
		if (strcmp(m->pmus[i].device, p->device) == 0)
			return;
		n_cores += m->pmus[i].is_core;
	}
	pmu.type = n_cores ? OTHER_CORE_TYPE + n_cores - 1 : CORE_TYPE;
	snprintf(pmu.device, sizeof(pmu.device), "%s", p->device);
	add_pmu(m, &pmu);
}

/* Boxes of Intel have numbers; drivers that name theirs otherwise have one. */
static void add_boxes(struct pretend_machine *m, int number, const perfmon_pmu_info_t *p)
{
	size_t len = strlen(p->device);
	bool has_number = len && isdigit((unsigned char)p->device[len - 1]);
	bool is_numbered = strncmp(p->device, "uncore_", 7) == 0 && !has_number;

	for (int i = 0; i < (is_numbered ? BOX_INSTANCES : 1); i++) {
		struct pretend_pmu pmu = { .pmu = number,
			                   .cpu = 0,
			                   .type = FIRST_BOX_TYPE + m->n_pmus };

		if (is_numbered)
			snprintf(pmu.device, sizeof(pmu.device), "%.50s_%d", p->device, i);
		else
			snprintf(pmu.device, sizeof(pmu.device), "%.60s", p->device);
		add_pmu(m, &pmu);
	}
}

/* Binds each core type of a hybrid to a CPU of its own: the first CPUs of this machine. */
static int bind_cores(struct pretend_machine *m)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int n_cores = 0;

	for (unsigned i = 0; i < m->n_pmus; i++)
		n_cores += m->pmus[i].is_core && strncmp(m->pmus[i].device, "cpu_", 4) == 0;
	if (n_cores < 2)
		return EXIT_DONE;
	if (n_cpus < n_cores) {
		fprintf(stderr,
		        "pfm pretend: %s has %d types of cores, and each needs a CPU: this machine "
		        "has %ld\n",
		        m->name, n_cores, n_cpus);
		return EXIT_REFUSED;
	}
	for (unsigned i = 0, cpu = 0; i < m->n_pmus; i++)
		if (m->pmus[i].is_core)
			m->pmus[i].cpu = (int)cpu++;
	return EXIT_DONE;
}

static int add_pmus(struct pretend_machine *m)
{
	int n = pfm_count_pmus(m->ctx);
	perfmon_pmu_info_t p = PFM_INIT(p);

	for (int i = 0; i < n; i++)
		if (!pfm_describe_pmu(m->ctx, i, &p) && (p.flags & PFM_PMU_HOST) &&
		    (p.flags & PFM_PMU_CORE) && *p.device) {
			if (!m->n_pmus) {
				snprintf(m->name, sizeof(m->name), "%s", p.name);
				snprintf(m->desc, sizeof(m->desc), "%s", p.desc);
			}
			add_core(m, i, &p);
		}
	for (int i = 0; i < n; i++)
		if (!pfm_describe_pmu(m->ctx, i, &p) && (p.flags & PFM_PMU_HOST) &&
		    (p.flags & PFM_PMU_UNCORE) && *p.device)
			add_boxes(m, i, &p);
	return m->n_pmus ? bind_cores(m) : EXIT_REFUSED;
}

/* The processor has no table, or Linux has no driver for its PMU, so that no name is known. */
static void report_no_pmu(const struct pretend_machine *m, const char *cpu)
{
	if (m->ctx && pfm_find_pmu(m->ctx, cpu) >= 0)
		fprintf(stderr, "pfm pretend: Linux has no driver for the PMU of %s\n", cpu);
	else
		fprintf(stderr,
		        "pfm pretend: unknown processor '%s': 'pfm list --pmus' lists those that "
		        "have a table\n",
		        cpu);
}

int open_pretend_machine(struct pretend_machine *m, const char *cpu, const char *path)
{
	memset(m, 0, sizeof(*m));
	m->paranoid = NO_PARANOID_LEVEL;
	if (!find_identity_of(cpu, m->id))
		snprintf(m->id, sizeof(m->id), "%s", cpu);
	m->ctx = open_tables(m->id);
	if (m->ctx && add_pmus(m) == EXIT_DONE) {
		if (!path || (lay_out_recording(m, path) && use_recorded_pmus(m)))
			return EXIT_DONE;
		close_pretend_machine(m);
		return EXIT_REFUSED;
	}
	if (!m->n_pmus)
		report_no_pmu(m, cpu);
	close_pretend_machine(m);
	return EXIT_REFUSED;
}

void close_pretend_machine(struct pretend_machine *m)
{
	pfm_close_context(m->ctx);
	m->ctx = NULL;
	remove_recording(m);
}

/* Identities are those of perf: "0x..." is the word of Arm's or POWER's register, and three of them
 * with "-" between are RISC-V's. */
enum processor_family get_processor_family(const struct pretend_machine *m)
{
	if (strncmp(m->id, "AuthenticAMD", 12) == 0 || strncmp(m->id, "HygonGenuine", 12) == 0)
		return FAMILY_AMD;
	if (strncmp(m->id, "IBM,", 4) == 0)
		return FAMILY_S390;
	if (strncmp(m->id, "0x", 2) != 0)
		return FAMILY_INTEL;
	return strchr(m->id, '-') ? FAMILY_RISCV : strlen(m->id) > 10 ? FAMILY_ARM : FAMILY_POWER;
}

const struct pretend_pmu *get_pretend_core(const struct pretend_machine *m)
{
	return m->n_pmus && m->pmus[0].is_core ? &m->pmus[0] : NULL;
}

const struct pretend_pmu *find_pretend_type(const struct pretend_machine *m, uint32_t type)
{
	for (unsigned i = 0; i < m->n_pmus; i++)
		if (m->pmus[i].type == type)
			return &m->pmus[i];
	return type == CORE_TYPE ? get_pretend_core(m) : NULL;
}
