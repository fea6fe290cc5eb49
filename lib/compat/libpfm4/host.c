/* SPDX-License-Identifier: MIT */
/* Detection of this machine's PMUs: by CPUID on x86, by a register on POWER, by /proc/cpuinfo on
 * others. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compat/libpfm4/l4.h"
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

/* ---- Intel and AMD --------------------------------------------------------------------------- */

/* Numbers of AMD's PMUs in libpfm4's interface. */
enum {
	AMD_PMU_K7 = 55,
	AMD_PMU_K8_REVB,
	AMD_PMU_K8_REVC,
	AMD_PMU_K8_REVD,
	AMD_PMU_K8_REVE,
	AMD_PMU_K8_REVF,
	AMD_PMU_K8_REVG,
	AMD_PMU_BARCELONA,
	AMD_PMU_SHANGHAI,
	AMD_PMU_ISTANBUL,
	AMD_PMU_BOBCAT = 69,
	AMD_PMU_INTERLAGOS,
	AMD_PMU_LLANO = 72,
	AMD_PMU_TURION,
	AMD_PMU_FAM16H = 318,
	AMD_PMU_ZEN1 = 444,
	AMD_PMU_ZEN2,
	AMD_PMU_ZEN3 = 450,
	AMD_PMU_ZEN4 = 514,
	AMD_PMU_ZEN5 = 676,
	AMD_PMU_ZEN6 = 698
};

static unsigned choose_k8_revision(unsigned model, unsigned stepping)
{
	static const uint8_t by_model[16] = {
		[0] = AMD_PMU_K8_REVC,  [1] = AMD_PMU_K8_REVD, [2] = AMD_PMU_K8_REVE,
		[3] = AMD_PMU_K8_REVE,  [4] = AMD_PMU_K8_REVF, [5] = AMD_PMU_K8_REVF,
		[6] = AMD_PMU_K8_REVG,  [7] = AMD_PMU_K8_REVG, [8] = AMD_PMU_K8_REVG,
		[12] = AMD_PMU_K8_REVF,
	};
	unsigned revision = model >> 4 < 16 ? by_model[model >> 4] : 0;

	if (model >> 4 == 0 && ((model == 5 && stepping < 2) || (model == 4 && stepping == 0)))
		return AMD_PMU_K8_REVB;
	return revision ? revision : AMD_PMU_K8_REVB;
}

static unsigned choose_amd_pmu(unsigned family, unsigned model, unsigned stepping)
{
	switch (family) {
	case 6: return AMD_PMU_K7;
	case 15: return choose_k8_revision(model, stepping);
	case 16:
		return model >= 4 && model <= 6   ? AMD_PMU_SHANGHAI
		       : model == 8 || model == 9 ? AMD_PMU_ISTANBUL
		                                  : AMD_PMU_BARCELONA;
	case 17: return AMD_PMU_TURION;
	case 18: return AMD_PMU_LLANO;
	case 20: return AMD_PMU_BOBCAT;
	case 21: return AMD_PMU_INTERLAGOS;
	case 22: return AMD_PMU_FAM16H;
	case 23: return model >= 48 ? AMD_PMU_ZEN2 : AMD_PMU_ZEN1;
	case 25:
		return model >= 0x60 || (model >= 0x10 && model <= 0x1f) ? AMD_PMU_ZEN4
		                                                         : AMD_PMU_ZEN3;
	case 26:
		return model <= 0x4f || (model >= 0x60 && model <= 0x7f) ? AMD_PMU_ZEN5
		                                                         : AMD_PMU_ZEN6;
	default: return 0;
	}
}

/* Sets the vendor from its name in CPUID. */
static void set_vendor(struct l4_host_identity *m, const char *name)
{
	m->vendor = strncmp(name, "GenuineIntel", 12) == 0   ? L4_HOST_INTEL
	            : strncmp(name, "AuthenticAMD", 12) == 0 ? L4_HOST_AMD
	                                                     : L4_HOST_NONE;
}

#if defined(__x86_64__) || defined(__i386__)
static void read_x86_cpuid(struct l4_host_identity *m)
{
	unsigned a, b, c, d, top;

	if (!__get_cpuid(0, &top, &b, &c, &d))
		return;
	m->vendor = b == signature_INTEL_ebx ? L4_HOST_INTEL
	            : b == signature_AMD_ebx ? L4_HOST_AMD
	                                     : L4_HOST_NONE;
	__cpuid(1, a, b, c, d);
	m->family = a >> 8 & 15;
	m->model = (a >> 4 & 15) | (a >> 12 & 0xf0);
	m->stepping = a & 15;
	if (m->family == 15)
		m->family += a >> 20 & 0xff;
	if (m->vendor == L4_HOST_INTEL && top >= 10 && m->family != 15) {
		__cpuid_count(10, 0, a, b, c, d);
		m->arch_version = a & 0xff;
		m->arch_general = a >> 8 & 0xff;
		m->arch_missing = b;
		m->arch_fixed = m->arch_version > 1 ? d & 31 : 0;
	}
}
#endif

static bool is_intel_match(const struct l4_host_identity *m, const struct l4_pmu *u,
                           const uint32_t *words)
{
	const char *name = l4_get_text(u->name);

	if (m->vendor != L4_HOST_INTEL || m->family != words[0])
		return false;
	/* Two processors share one model number; in Netburst's family all other models are the
	 * older design. */
	if (strcmp(name, "skx") == 0 && m->stepping >= 5)
		return false;
	if (strcmp(name, "clx") == 0 && m->stepping < 5)
		return false;
	if (strcmp(name, "netburst") == 0)
		return m->model != 3 && m->model != 4 && m->model != 6;
	for (unsigned i = 1; i < u->n_host_numbers; i++)
		if (words[i] == m->model)
			return true;
	return false;
}

/* ---- other processors ------------------------------------------------------------------------ */

static bool has_line_key(const char *line, const char *key)
{
	size_t n = strlen(key);

	return strncmp(line, key, n) == 0 && line[n + strspn(line + n, "\t ")] == ':';
}

static const char *get_line_value(char *line)
{
	char *v = strchr(line, ':');

	if (!v)
		return "";
	line[strcspn(line, "\n")] = '\0';
	for (v++; *v == ' ' || *v == '\t'; v++)
		;
	return v;
}

static void add_arm_core(struct l4_host_identity *m, unsigned implementer, unsigned part)
{
	unsigned id = implementer << 16 | part;

	for (unsigned i = 0; i < m->n_arm_core_ids; i++)
		if (m->arm_core_ids[i] == id)
			return;
	if (m->n_arm_core_ids < sizeof(m->arm_core_ids) / sizeof(m->arm_core_ids[0]))
		m->arm_core_ids[m->n_arm_core_ids++] = id;
	m->vendor = L4_HOST_ARM;
}

/* Parses a line of /proc/cpuinfo on x86, POWER or IBM Z. */
static void parse_cpuinfo_line(struct l4_host_identity *m, char *line)
{
	const char *pvr;

	const char *machine = strstr(line, "machine = ");

	if (machine)
		m->ibm_z_type = (unsigned)strtoul(machine + 10, NULL, 10);
	else if (has_line_key(line, "machine"))
		m->ibm_z_type = (unsigned)strtoul(get_line_value(line), NULL, 10);
	else if (has_line_key(line, "vendor_id"))
		set_vendor(m, get_line_value(line));
	else if (has_line_key(line, "cpu family"))
		m->family = (unsigned)strtoul(get_line_value(line), NULL, 10);
	else if (has_line_key(line, "model"))
		m->model = (unsigned)strtoul(get_line_value(line), NULL, 10);
	else if (has_line_key(line, "stepping"))
		m->stepping = (unsigned)strtoul(get_line_value(line), NULL, 10);
	else if (has_line_key(line, "revision") && (pvr = strstr(get_line_value(line), "(pvr "))) {
		m->vendor = L4_HOST_POWER;
		m->model = (unsigned)strtoul(pvr + 5, NULL, 16);
	}
}

/* Parses a line of /proc/cpuinfo on SPARC or MIPS. False for other lines. */
static bool parse_cpuinfo_name(struct l4_host_identity *m, char *line)
{
	const char *key = has_line_key(line, "pmu")         ? "pmu"
	                  : has_line_key(line, "cpu model") ? "cpu_model"
	                                                    : NULL;

	if (!key)
		return false;
	snprintf(m->cpuinfo_key, sizeof(m->cpuinfo_key), "%s:%.48s", key, get_line_value(line));
	m->vendor = L4_HOST_CPUINFO;
	return true;
}

/* Reads a file like /proc/cpuinfo. An Arm core has the lines implementer, architecture and part in
 * this order. */
static void read_cpuinfo(struct l4_host_identity *m, const char *path)
{
	char line[512];
	unsigned implementer = 0, seen = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (has_line_key(line, "CPU implementer")) {
			implementer = (unsigned)strtoul(get_line_value(line), NULL, 0);
			seen = 1;
		} else if (has_line_key(line, "CPU architecture")) {
			seen |= 2;
		} else if (has_line_key(line, "CPU part") && seen == 3) {
			add_arm_core(m, implementer,
			             (unsigned)strtoul(get_line_value(line), NULL, 0));
			seen = 0;
		} else if (!parse_cpuinfo_name(m, line)) {
			parse_cpuinfo_line(m, line);
		}
	}
	fclose(f);
}

/* Parses an identity as in perfmon(7): "GenuineIntel-6-55-4", Arm's MIDR of 16 digits, POWER's PVR
 * of 8. */
static bool parse_identity(struct l4_host_identity *m, const char *id)
{
	const char *dash = strchr(id, '-');
	char *s;
	uint64_t value;

	if (dash) {
		set_vendor(m, id);
		m->family = (unsigned)strtoul(dash + 1, &s, 10);
		m->model = *s == '-' ? (unsigned)strtoul(s + 1, &s, 16) : 0;
		m->stepping = *s == '-' ? (unsigned)strtoul(s + 1, &s, 16) : 0;
		return m->vendor != L4_HOST_NONE;
	}
	value = strtoull(id, &s, 16);
	if (*s || s == id)
		return false;
	if (s - id > 10) {
		add_arm_core(m, value >> 24 & 0xff, value >> 4 & 0xfff);
	} else {
		m->vendor = L4_HOST_POWER;
		m->model = value >> 16 & 0xffff;
	}
	return true;
}

static bool is_arm_match(const struct l4_host_identity *m, const struct l4_pmu *u,
                         const uint32_t *words)
{
	for (unsigned i = 0; i + 1 < u->n_host_numbers; i += 2)
		for (unsigned k = 0; k < m->n_arm_core_ids; k++)
			if (m->arm_core_ids[k] == (words[i] << 16 | words[i + 1]))
				return true;
	return false;
}

static bool is_host_number_match(const struct l4_host_identity *m, const struct l4_pmu *u,
                                 const uint32_t *words)
{
	unsigned want = m->vendor == L4_HOST_AMD ? m->amd_pmu_id : m->model;

	for (unsigned i = 0; i < u->n_host_numbers; i++)
		if (words[i] == want)
			return true;
	return false;
}

/* "pmu:ultra3" must equal the line; "cpu_model:MIPS_74K" must be part of it, with blanks instead of
 * underscores. */
static bool is_cpuinfo_match(const char *line, const char *text)
{
	char part[64];
	size_t n;

	if (strncmp(text, "pmu:", 4) == 0)
		return strcmp(line, text) == 0;
	snprintf(part, sizeof(part), "%s", strchr(text, ':') + 1);
	for (n = 0; part[n]; n++)
		if (part[n] == '_')
			part[n] = ' ';
	return strncmp(line, "cpu_model:", 10) == 0 && strstr(line, part);
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool is_in_list(unsigned n, const uint16_t *list, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		if (list[i] == n)
			return true;
	return false;
}

/* The lists of machine-dependent events that are for this machine, as bits. */
static unsigned choose_event_lists(const struct l4_host_identity *m)
{
	/* Types in the order of the lists in cpum_cf.pmu, two for each list; models in the order of
	 * the lists in rapl.pmu, from bit 1. */
	static const uint16_t types[] = { 2097, 2098, 2817, 2818, 2827, 2828, 2964, 2965,
		                          3906, 3907, 8561, 8562, 3931, 3932, 9175, 9176 };
	static const uint16_t early[] = { 45, 62 },
			      platform[] = { 78, 94, 125, 126, 142, 157, 158, 165, 166 };
	static const uint16_t servers[] = { 63, 79, 85, 86, 106, 108, 143 };
	unsigned z = 6, rapl = 0;

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i] == m->ibm_z_type)
			z = i / 2;
	if (m->vendor == L4_HOST_INTEL && m->family == 6)
		rapl = is_in_list(m->model, early, 2)      ? 1
		       : is_in_list(m->model, platform, 9) ? 2
		       : is_in_list(m->model, servers, 7)  ? 3
		                                           : 0;
	return 1u << z | 0x100u << rapl;
}

/* Identifies the running machine. */
static void read_running_machine(struct l4_host_identity *m)
{
#if defined(__x86_64__) || defined(__i386__)
	read_x86_cpuid(m);
#elif defined(__powerpc__)
	unsigned long pvr;

	__asm__("mfspr %0, 287" : "=r"(pvr));
	m->vendor = L4_HOST_POWER;
	m->model = (unsigned)(pvr >> 16 & 0xffff);
#else
	read_cpuinfo(m, "/proc/cpuinfo");
#endif
}

void l4_identify_host(struct l4_host_identity *m, const char *cpuid, const char *cpuinfo)
{
	char path[L4_PATH_SIZE];
	bool other = l4_format_path(path, "/proc/cpuinfo");

	memset(m, 0, sizeof(*m));
	if (!*cpuid || !parse_identity(m, cpuid)) {
		if (*cpuinfo || other)
			read_cpuinfo(m, *cpuinfo ? cpuinfo : path);
		/* CPUID has more than the file has on x86. */
		if (!other && (m->vendor == L4_HOST_NONE || m->vendor == L4_HOST_INTEL ||
		               m->vendor == L4_HOST_AMD))
			read_running_machine(m);
	}
	if (m->vendor == L4_HOST_AMD)
		m->amd_pmu_id = choose_amd_pmu(m->family, m->model, m->stepping);
	m->event_lists = choose_event_lists(m);
}

bool l4_is_pmu_for_host(const struct l4_host_identity *m, const struct l4_pmu *u)
{
	const uint32_t *words =
		(const uint32_t *)l4_get_image_array(l4_image.host_numbers) + u->host_numbers;
	char path[L4_PATH_SIZE];

	switch (u->host_kind) {
	case L4_HOST_INTEL: return is_intel_match(m, u, words);
	case L4_HOST_AMD:
	case L4_HOST_POWER: return m->vendor == u->host_kind && is_host_number_match(m, u, words);
	case L4_HOST_ARM: return m->vendor == L4_HOST_ARM && is_arm_match(m, u, words);
	case L4_HOST_CPUINFO:
		return m->vendor == L4_HOST_CPUINFO &&
		       is_cpuinfo_match(m->cpuinfo_key, l4_get_text(u->host_text));
	case L4_HOST_SYSFS:
		l4_format_path(path, L4_EVENT_SOURCE_DIR "%s", l4_get_text(u->host_text));
		return m->vendor == L4_HOST_NONE && access(path, F_OK) == 0;
	case L4_HOST_ARCH: return m->vendor == L4_HOST_INTEL && m->arch_version > 0;
	default: return u->host_kind == L4_HOST_ANY;
	}
}

static bool read_device_type(const char *name, size_t len, int *type)
{
	char path[L4_PATH_SIZE], text[16];
	ssize_t n;
	int fd;

	l4_format_path(path, L4_EVENT_SOURCE_DIR "%.*s/type", (int)len, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	*type = (int)strtol(text, NULL, 10);
	return true;
}

bool l4_find_device(const struct l4_pmu *u, int *type)
{
	const char *name = l4_get_text(u->kernel_event_names);

	while (*name) {
		size_t len = strcspn(name, ",");

		if (read_device_type(name, len, type))
			return true;
		name += len + (name[len] == ',');
	}
	return false;
}
