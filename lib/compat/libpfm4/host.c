/* SPDX-License-Identifier: MIT */
/* Which PMUs are this machine's: x86 says it in CPUID, POWER in a register, the others in /proc/cpuinfo. */
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

/* ---- Intel and AMD -------------------------------------------------------------------------------------------- */

/* Numbers of AMD's PMUs in the interface. */
enum { K7 = 55,
       K8_REVB,
       K8_REVC,
       K8_REVD,
       K8_REVE,
       K8_REVF,
       K8_REVG,
       BARCELONA,
       SHANGHAI,
       ISTANBUL,
       BOBCAT = 69,
       INTERLAGOS,
       LLANO = 72,
       TURION,
       FAM16H = 318,
       ZEN1 = 444,
       ZEN2,
       ZEN3 = 450,
       ZEN4 = 514,
       ZEN5 = 676,
       ZEN6 = 698 };

static unsigned k8_revision(unsigned model, unsigned stepping)
{
	static const uint8_t by_model[16] = {
		[0] = K8_REVC,
		[1] = K8_REVD,
		[2] = K8_REVE,
		[3] = K8_REVE,
		[4] = K8_REVF,
		[5] = K8_REVF,
		[6] = K8_REVG,
		[7] = K8_REVG,
		[8] = K8_REVG,
		[12] = K8_REVF,
	};
	unsigned revision = model >> 4 < 16 ? by_model[model >> 4] : 0;

	if (model >> 4 == 0 && ((model == 5 && stepping < 2) || (model == 4 && stepping == 0)))
		return K8_REVB;
	return revision ? revision : K8_REVB;
}

static unsigned amd_revision(unsigned family, unsigned model, unsigned stepping)
{
	switch (family) {
	case 6:
		return K7;
	case 15:
		return k8_revision(model, stepping);
	case 16:
		return model >= 4 && model <= 6 ? SHANGHAI : model == 8 || model == 9 ? ISTANBUL
		                                                                      : BARCELONA;
	case 17:
		return TURION;
	case 18:
		return LLANO;
	case 20:
		return BOBCAT;
	case 21:
		return INTERLAGOS;
	case 22:
		return FAM16H;
	case 23:
		return model >= 48 ? ZEN2 : ZEN1;
	case 25:
		return model >= 0x60 || (model >= 0x10 && model <= 0x1f) ? ZEN4 : ZEN3;
	case 26:
		return model <= 0x4f || (model >= 0x60 && model <= 0x7f) ? ZEN5 : ZEN6;
	default:
		return 0;
	}
}

/* @name: the vendor's name for itself. */
static void set_vendor(struct l4_machine *m, const char *name)
{
	m->vendor = strncmp(name, "GenuineIntel", 12) == 0 ? L4_HOST_INTEL : strncmp(name, "AuthenticAMD", 12) == 0 ? L4_HOST_AMD
	                                                                                                            : L4_HOST_NONE;
}

#if defined(__x86_64__) || defined(__i386__)
static void read_x86(struct l4_machine *m)
{
	unsigned a, b, c, d, top;

	if (!__get_cpuid(0, &top, &b, &c, &d))
		return;
	m->vendor = b == signature_INTEL_ebx ? L4_HOST_INTEL : b == signature_AMD_ebx ? L4_HOST_AMD
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

static bool is_intel(const struct l4_machine *m, const struct l4_unit *u, const uint32_t *words)
{
	const char *name = l4_text(u->name);

	if (m->vendor != L4_HOST_INTEL || m->family != words[0])
		return false;
	/* One model number for two processors, and a family whose other models are all the older one. */
	if (strcmp(name, "skx") == 0 && m->stepping >= 5)
		return false;
	if (strcmp(name, "clx") == 0 && m->stepping < 5)
		return false;
	if (strcmp(name, "netburst") == 0)
		return m->model != 3 && m->model != 4 && m->model != 6;
	for (unsigned i = 1; i < u->n_host; i++)
		if (words[i] == m->model)
			return true;
	return false;
}

/* ---- the others ----------------------------------------------------------------------------------------------- */

static bool is_key(const char *line, const char *key)
{
	size_t n = strlen(key);

	return strncmp(line, key, n) == 0 && line[n + strspn(line + n, "\t ")] == ':';
}

static const char *value_of(char *line)
{
	char *v = strchr(line, ':');

	if (!v)
		return "";
	line[strcspn(line, "\n")] = '\0';
	for (v++; *v == ' ' || *v == '\t'; v++)
		;
	return v;
}

static void add_core(struct l4_machine *m, unsigned implementer, unsigned part)
{
	unsigned id = implementer << 16 | part;

	for (unsigned i = 0; i < m->n_ids; i++)
		if (m->ids[i] == id)
			return;
	if (m->n_ids < sizeof(m->ids) / sizeof(m->ids[0]))
		m->ids[m->n_ids++] = id;
	m->vendor = L4_HOST_ARM;
}

/* A line of x86's, POWER's or IBM Z's. */
static void read_line(struct l4_machine *m, char *line)
{
	const char *pvr;

	const char *machine = strstr(line, "machine = ");

	if (machine)
		m->z = (unsigned)strtoul(machine + 10, NULL, 10);
	else if (is_key(line, "machine"))
		m->z = (unsigned)strtoul(value_of(line), NULL, 10);
	else if (is_key(line, "vendor_id"))
		set_vendor(m, value_of(line));
	else if (is_key(line, "cpu family"))
		m->family = (unsigned)strtoul(value_of(line), NULL, 10);
	else if (is_key(line, "model"))
		m->model = (unsigned)strtoul(value_of(line), NULL, 10);
	else if (is_key(line, "stepping"))
		m->stepping = (unsigned)strtoul(value_of(line), NULL, 10);
	else if (is_key(line, "revision") && (pvr = strstr(value_of(line), "(pvr "))) {
		m->vendor = L4_HOST_POWER;
		m->model = (unsigned)strtoul(pvr + 5, NULL, 16);
	}
}

/* A line of SPARC's or of MIPS'. */
static bool read_name(struct l4_machine *m, char *line)
{
	const char *key = is_key(line, "pmu") ? "pmu" : is_key(line, "cpu model") ? "cpu_model"
	                                                                          : NULL;

	if (!key)
		return false;
	snprintf(m->cpuinfo, sizeof(m->cpuinfo), "%s:%.48s", key, value_of(line));
	m->vendor = L4_HOST_CPUINFO;
	return true;
}

/* Of Arm's cores the lines come together: implementer, architecture, part. */
static void read_cpuinfo(struct l4_machine *m, const char *path)
{
	char line[512];
	unsigned implementer = 0, seen = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (is_key(line, "CPU implementer")) {
			implementer = (unsigned)strtoul(value_of(line), NULL, 0);
			seen = 1;
		} else if (is_key(line, "CPU architecture")) {
			seen |= 2;
		} else if (is_key(line, "CPU part") && seen == 3) {
			add_core(m, implementer, (unsigned)strtoul(value_of(line), NULL, 0));
			seen = 0;
		} else if (!read_name(m, line)) {
			read_line(m, line);
		}
	}
	fclose(f);
}

/* An identity as perfmon(7) has them: "GenuineIntel-6-55-4", Arm's MIDR in 16 digits, POWER's PVR in 8. */
static bool read_identity(struct l4_machine *m, const char *id)
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
		add_core(m, value >> 24 & 0xff, value >> 4 & 0xfff);
	} else {
		m->vendor = L4_HOST_POWER;
		m->model = value >> 16 & 0xffff;
	}
	return true;
}

static bool is_arm(const struct l4_machine *m, const struct l4_unit *u, const uint32_t *words)
{
	for (unsigned i = 0; i + 1 < u->n_host; i += 2)
		for (unsigned k = 0; k < m->n_ids; k++)
			if (m->ids[k] == (words[i] << 16 | words[i + 1]))
				return true;
	return false;
}

static bool is_number(const struct l4_machine *m, const struct l4_unit *u, const uint32_t *words)
{
	unsigned want = m->vendor == L4_HOST_AMD ? m->amd : m->model;

	for (unsigned i = 0; i < u->n_host; i++)
		if (words[i] == want)
			return true;
	return false;
}

/* "pmu:ultra3" is the whole line; "cpu_model:MIPS_74K" is in it somewhere, with blanks for the lines. */
static bool is_line(const char *line, const char *text)
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

/* ---- all ------------------------------------------------------------------------------------------------------ */

static bool is_one_of(unsigned n, const uint16_t *list, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		if (list[i] == n)
			return true;
	return false;
}

/* Which lists of events that depend on the machine are this one's. */
static unsigned lists_of(const struct l4_machine *m)
{
	/* In the order of the lists in cpum_cf.pmu, two types each; models as rapl.pmu has them from bit 1. */
	static const uint16_t types[] = { 2097, 2098, 2817, 2818, 2827, 2828, 2964, 2965, 3906, 3907, 8561, 8562, 3931, 3932, 9175, 9176 };
	static const uint16_t early[] = { 45, 62 }, platform[] = { 78, 94, 125, 126, 142, 157, 158, 165, 166 };
	static const uint16_t servers[] = { 63, 79, 85, 86, 106, 108, 143 };
	unsigned z = 6, rapl = 0;

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i] == m->z)
			z = i / 2;
	if (m->vendor == L4_HOST_INTEL && m->family == 6)
		rapl = is_one_of(m->model, early, 2) ? 1 : is_one_of(m->model, platform, 9) ? 2
		                                   : is_one_of(m->model, servers, 7)        ? 3
		                                                                            : 0;
	return 1u << z | 0x100u << rapl;
}

/* This machine itself. */
static void ask(struct l4_machine *m)
{
#if defined(__x86_64__) || defined(__i386__)
	read_x86(m);
#elif defined(__powerpc__)
	unsigned long pvr;

	__asm__("mfspr %0, 287"
	        : "=r"(pvr));
	m->vendor = L4_HOST_POWER;
	m->model = (unsigned)(pvr >> 16 & 0xffff);
#else
	read_cpuinfo(m, "/proc/cpuinfo");
#endif
}

void l4_machine_read(struct l4_machine *m, const char *cpuid, const char *cpuinfo)
{
	char path[L4_PATH];
	bool other = l4_path(path, "/proc/cpuinfo");

	memset(m, 0, sizeof(*m));
	if (!*cpuid || !read_identity(m, cpuid)) {
		if (*cpuinfo || other)
			read_cpuinfo(m, *cpuinfo ? cpuinfo : path);
		/* x86 has more to say than that file does. */
		if (!other && (m->vendor == L4_HOST_NONE || m->vendor == L4_HOST_INTEL || m->vendor == L4_HOST_AMD))
			ask(m);
	}
	if (m->vendor == L4_HOST_AMD)
		m->amd = amd_revision(m->family, m->model, m->stepping);
	m->lists = lists_of(m);
}

bool l4_machine_matches(const struct l4_machine *m, const struct l4_unit *u)
{
	const uint32_t *words = (const uint32_t *)l4_at(l4_image.models) + u->host_at;
	char path[L4_PATH];

	switch (u->host) {
	case L4_HOST_INTEL:
		return is_intel(m, u, words);
	case L4_HOST_AMD:
	case L4_HOST_POWER:
		return m->vendor == u->host && is_number(m, u, words);
	case L4_HOST_ARM:
		return m->vendor == L4_HOST_ARM && is_arm(m, u, words);
	case L4_HOST_CPUINFO:
		return m->vendor == L4_HOST_CPUINFO && is_line(m->cpuinfo, l4_text(u->host_text));
	case L4_HOST_SYSFS:
		l4_path(path, L4_DEVICES "%s", l4_text(u->host_text));
		return m->vendor == L4_HOST_NONE && access(path, F_OK) == 0;
	case L4_HOST_ARCH:
		return m->vendor == L4_HOST_INTEL && m->arch_version > 0;
	default:
		return u->host == L4_HOST_ANY;
	}
}

static bool read_type(const char *name, size_t len, int *type)
{
	char path[L4_PATH], text[16];
	ssize_t n;
	int fd;

	l4_path(path, L4_DEVICES "%.*s/type", (int)len, name);
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

bool l4_device(const struct l4_unit *u, int *type)
{
	const char *name = l4_text(u->perf);

	while (*name) {
		size_t len = strcspn(name, ",");

		if (read_type(name, len, type))
			return true;
		name += len + (name[len] == ',');
	}
	return false;
}
