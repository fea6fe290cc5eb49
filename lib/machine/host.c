/* SPDX-License-Identifier: MIT */
/* Identification of the processor. On x86 two CPUID leaves identify it; below another root, and on
 * other architectures, small files do. They are read once, into struct host. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "machine/machine_internal.h"
#include "table/table.h"

#define CORE_TYPE_ATOM 0x20
#define CORE_TYPE_CORE 0x40

/* ---- texts ----------------------------------------------------------------------------------- */

static bool read_number(const char **s, unsigned base, uint64_t *out)
{
	unsigned d;
	const char *p = *s;

	/* strtoull() would take blanks and signs as well. */
	if (base == 0) {
		base = p[0] == '0' && (p[1] | 0x20) == 'x' && base_get_digit_value(p[2]) < 16 ? 16
		       : p[0] == '0'                                                          ? 8
		                                                                              : 10;
		p += base == 16 ? 2 : 0;
	} else if (base == 16 && p[0] == '0' && (p[1] | 0x20) == 'x' &&
	           base_get_digit_value(p[2]) < 16) {
		p += 2;
	}
	if (base_get_digit_value(*p) >= base)
		return false;
	for (*out = 0; (d = base_get_digit_value(*p)) < base; p++)
		*out = *out > (UINT64_MAX - d) / base ? UINT64_MAX : *out * base + d;
	*s = p;
	return true;
}

static void copy_truncated(char *to, size_t size, const char *from, size_t len)
{
	if (len >= size)
		len = size - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

static void set_arch(struct host *h, const char *arch)
{
	copy_truncated(h->arch, sizeof(h->arch), arch, strlen(arch));
}

static bool is_x86_vendor(const char *v)
{
	return strcmp(v, "GenuineIntel") == 0 || strcmp(v, "AuthenticAMD") == 0 ||
	       strcmp(v, "HygonGenuine") == 0 || strcmp(v, "CentaurHauls") == 0 ||
	       strcmp(v, "  Shanghai  ") == 0;
}

/* ---- identities as text ---------------------------------------------------------------------- */

/* "GenuineIntel-6-55-4", "ia64-32-0", "alpha-11": a word and up to three numbers; models and
 * steppings are hexadecimal. */
static bool parse_dashed_id(const char *id, struct host *h)
{
	size_t len = strcspn(id, "-");
	const char *s = id + len;
	uint64_t n[3] = { 0 };
	unsigned given = 0;
	char word[sizeof(h->vendor)];

	if (*s != '-')
		return false;
	copy_truncated(word, sizeof(word), id, len);
	while (given < 3 && *s == '-') {
		s++;
		if (!read_number(&s, given ? 16 : 10, &n[given]) || n[given] > 0xffffff)
			return false;
		given++;
	}
	if (*s || given == 0)
		return false;
	if (strcmp(word, "alpha") == 0) {
		set_arch(h, "alpha");
		h->id_register = n[0];
		return given == 1;
	}
	if (given < 2 || !(is_x86_vendor(word) || strcmp(word, "ia64") == 0))
		return false;
	set_arch(h, is_x86_vendor(word) ? "x86" : "ia64");
	copy_truncated(h->vendor, sizeof(h->vendor), is_x86_vendor(word) ? word : "GenuineIntel",
	               strlen(is_x86_vendor(word) ? word : "GenuineIntel"));
	h->family = (uint32_t)n[0];
	h->model = (uint32_t)n[1];
	h->stepping = given == 3 ? (uint32_t)n[2] : ANY_NUMBER;
	return true;
}

/* Architecture of the tables of an Arm core. Part numbers of Arm's cores with Armv8 and later
 * begin with 0xd (the manuals' "Main ID Register"), Qualcomm's 32-bit cores are Scorpion and Krait,
 * and all cores of Digital, Marvell and Intel are 32-bit ones: StrongARM, PJ4 and XScale. */
static const char *get_arm_arch(uint64_t midr)
{
	static const uint16_t krait[] = { 0x00f, 0x02d, 0x040, 0x04d, 0x06f };
	unsigned implementer = midr >> 24 & 0xff, part = midr >> 4 & 0xfff;
	bool is_32_bit = (implementer == 0x41 && part < 0xd00) || implementer == 0x44 ||
	                 implementer == 0x56 || implementer == 0x69;

	for (unsigned i = 0; i < sizeof(krait) / sizeof(krait[0]); i++)
		is_32_bit |= implementer == 0x51 && part == krait[i];
	return is_32_bit ? "arm" : "arm64";
}

/* Parses a MIDR of 16 digits or a PVR of 8; "0x" may be missing before a PVR. */
static bool parse_hex_id(const char *id, struct host *h)
{
	bool prefix = id[0] == '0' && (id[1] == 'x' || id[1] == 'X');
	const char *s = prefix ? id + 2 : id;
	size_t len = strspn(s, "0123456789abcdefABCDEF");
	uint64_t value;

	if (s[len] || !(len == 8 || (len == 16 && prefix)) || !read_number(&s, 16, &value))
		return false;
	set_arch(h, len == 16 ? get_arm_arch(value) : "powerpc");
	h->id_register = value;
	return true;
}

/* RISC-V: mvendorid-marchid-mimpid, each 0x.... */
static bool parse_riscv_id(const char *id, struct host *h)
{
	const char *s = id;

	for (unsigned i = 0; i < 3; i++) {
		uint64_t n;

		if (strncmp(s, "0x", 2) != 0 || !read_number(&s, 16, &n) ||
		    *s != (i < 2 ? '-' : '\0'))
			return false;
		if (i == 1)
			h->id_register = n;
		s += i < 2;
	}
	set_arch(h, "riscv");
	return true;
}

bool pfmi_machine_parse_host_id(const char *id, struct host *out)
{
	memset(out, 0, sizeof(*out));
	out->stepping = ANY_NUMBER;
	if (strlen(id) >= sizeof(out->id_text))
		return false;
	copy_truncated(out->id_text, sizeof(out->id_text), id, strlen(id));
	if (strncmp(id, "IBM,", 4) == 0)
		set_arch(out, "s390");
	else if (strncmp(id, "sparc,", 6) == 0 || strncmp(id, "mips,", 5) == 0 ||
	         strncmp(id, "loongarch64,", 12) == 0)
		copy_truncated(out->arch, sizeof(out->arch), id, strcspn(id, ","));
	else if (!parse_dashed_id(id, out) && !parse_hex_id(id, out) && !parse_riscv_id(id, out))
		return false;
	out->is_known = true;
	return true;
}

/* ---- x86 ------------------------------------------------------------------------------------- */

static char *append_number(char *p, uint32_t n, unsigned base)
{
	char digits[12];
	unsigned i = 0;

	do {
		digits[i++] = "0123456789ABCDEF"[n % base];
		n /= base;
	} while (n);
	*p++ = '-';
	while (i)
		*p++ = digits[--i];
	return p;
}

/* Writes "GenuineIntel-6-55-4". It does so without snprintf(), whose first call would cost more
 * than the rest of a program's first encode. */
static void format_x86_id(struct host *h)
{
	char *p = h->id_text;

	memcpy(h->arch, "x86", 4);
	for (const char *v = h->vendor; *v; v++)
		*p++ = *v;
	p = append_number(p, h->family, 10);
	p = append_number(p, h->model, 16);
	p = append_number(p, h->stepping, 16);
	*p = '\0';
	h->is_known = true;
}

/* Four letters of the vendor's name, the first in the lowest byte. */
static void unpack_letters(char *to, uint32_t letters)
{
	for (unsigned i = 0; i < 4; i++)
		to[i] = (char)(letters >> 8 * i & 0xff);
}

/* Reads CPUID leaves 0 and 1. */
static bool read_cpuid_identity(const struct sys *sys, struct host *h)
{
	uint32_t r[4], base_family;

	if (!sys->read_cpuid || !sys->read_cpuid(sys, 0, 0, r) || r[0] < 1)
		return false;
	unpack_letters(h->vendor, r[1]);
	unpack_letters(h->vendor + 4, r[3]);
	unpack_letters(h->vendor + 8, r[2]);
	if (!sys->read_cpuid(sys, 1, 0, r))
		return false;
	base_family = r[0] >> 8 & 0xf;
	h->family = base_family + (base_family == 0xf ? r[0] >> 20 & 0xff : 0);
	h->model = (r[0] >> 4 & 0xf) | (h->family >= 6 ? r[0] >> 12 & 0xf0 : 0);
	h->stepping = r[0] & 0xf;
	h->has_hypervisor = r[2] >> 31 & 1;
	format_x86_id(h);
	return true;
}

static void read_architectural_pmu(const struct sys *sys, struct host *h)
{
	uint32_t r[4];

	if (!sys->read_cpuid || strcmp(h->vendor, "GenuineIntel") != 0 ||
	    !sys->read_cpuid(sys, 0xa, 0, r))
		return;
	h->pmu_version = r[0] & 0xff;
	h->n_general = r[0] >> 8 & 0xff;
	h->width_general = r[0] >> 16 & 0xff;
	/* Events whose bits are beyond the given length are missing as well. */
	h->missing_arch_events = r[1];
	if ((r[0] >> 24 & 0xff) < 32)
		h->missing_arch_events |= ~(uint32_t)0 << (r[0] >> 24 & 0xff);
	if (h->pmu_version >= 2) {
		h->n_fixed = r[3] & 0x1f;
		h->width_fixed = r[3] >> 5 & 0xff;
	}
}

void pfmi_machine_read_host_details(const struct sys *sys, struct host *h)
{
	uint32_t r[4];

	if (!h->is_known || strcmp(h->arch, "x86") != 0)
		return;
	read_architectural_pmu(sys, h);
	/* The leaf describes the core that executes it, so it is used for the type of that core
	 * alone. */
	if (h->n_core_types && sys->read_cpuid && sys->read_cpuid(sys, 0x1a, 0, r))
		for (unsigned i = 0; i < h->n_core_types; i++)
			if (h->core_types[i].core_type == r[0] >> 24 &&
			    h->core_types[i].native_model == ANY_NUMBER)
				h->core_types[i].native_model = r[0] & 0xffffff;
}

/* Finds the core types of a hybrid processor: it has one kernel PMU for each of them. */
static void find_core_types(const struct sys *sys, struct host *h)
{
	static const struct {
		char device[16];
		uint8_t core_type;
	} kinds[] = {
		{ "cpu_core", CORE_TYPE_CORE },
		{ "cpu_atom", CORE_TYPE_ATOM },
		{ "cpu_lowpower", CORE_TYPE_ATOM },
	};
	bool arrow_lake_h = h->family == 6 && h->model == 0xc5;

	if (strcmp(h->vendor, "GenuineIntel") != 0)
		return;
	for (unsigned i = 0; i < 3; i++) {
		char path[96], first[8];
		long rc;

		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpus",
		         kinds[i].device);
		rc = pfmi_machine_read_small_file(sys, path, first, sizeof(first));
		if (rc < 0 && rc != -EFBIG) {
			if (i == 0)
				return;
			continue;
		}
		copy_truncated(h->core_types[h->n_core_types].device,
		               sizeof(h->core_types[0].device), kinds[i].device,
		               strlen(kinds[i].device));
		h->core_types[h->n_core_types].core_type = kinds[i].core_type;
		h->core_types[h->n_core_types].native_model = ANY_NUMBER;
		/* The package has two kinds of Atom cores; the low-power ones are of the older
		 * design. */
		if (arrow_lake_h && kinds[i].core_type == CORE_TYPE_ATOM)
			h->core_types[h->n_core_types].native_model = i == 1 ? 3 : 2;
		h->n_core_types++;
	}
}

/* ---- /proc/cpuinfo --------------------------------------------------------------------------- */

/* The value of the first line "@key : value"; false if missing. */
static bool find_cpuinfo_value(const char *text, const char *key, char *out, size_t size)
{
	size_t len = strlen(key);

	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n"), at = len;

		if (n > len && strncmp(line, key, len) == 0) {
			at += strspn(line + at, " \t");
			if (line[at] == ':') {
				at++;
				at += strspn(line + at, " \t");
				while (n > at && (line[n - 1] == ' ' || line[n - 1] == '\t'))
					n--;
				copy_truncated(out, size, line + at, n > at ? n - at : 0);
				return true;
			}
		}
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return false;
}

static uint32_t read_cpuinfo_number(const char *text, const char *key, uint32_t otherwise)
{
	char value[32];
	const char *s = value;
	uint64_t n;

	return find_cpuinfo_value(text, key, value, sizeof(value)) && read_number(&s, 10, &n)
	               ? (uint32_t)n
	               : otherwise;
}

/* Reads an x86 processor (of a recorded machine) or an Itanium, whose keys are "vendor", "family"
 * and "model". */
static bool read_x86_or_ia64(const char *text, struct host *h)
{
	char flags[4096];

	if (find_cpuinfo_value(text, "vendor_id", h->vendor, sizeof(h->vendor)) &&
	    is_x86_vendor(h->vendor)) {
		h->family = read_cpuinfo_number(text, "cpu family", 0);
		h->model = read_cpuinfo_number(text, "model", 0);
		h->stepping = read_cpuinfo_number(text, "stepping", 0);
		h->has_hypervisor = find_cpuinfo_value(text, "flags", flags, sizeof(flags)) &&
		                    strstr(flags, " hypervisor");
		format_x86_id(h);
		return true;
	}
	if (find_cpuinfo_value(text, "vendor", h->vendor, sizeof(h->vendor)) &&
	    strcmp(h->vendor, "GenuineIntel") == 0) {
		set_arch(h, "ia64");
		h->family = read_cpuinfo_number(text, "family", 0);
		h->model = read_cpuinfo_number(text, "model", 0);
		h->stepping = read_cpuinfo_number(text, "revision", 0);
		snprintf(h->id_text, sizeof(h->id_text), "ia64-%u-%X", (unsigned)h->family,
		         (unsigned)h->model);
		h->is_known = true;
		return true;
	}
	return false;
}

/* Reads an Alpha processor. The kernel names the processor types of the HWRPB, here from 1 on. */
static bool read_alpha_cpuinfo(const char *text, struct host *h)
{
	static const char names[][11] = { "EV3",  "EV4",    "Simulation", "LCA4",   "EV5",
		                          "EV45", "EV56",   "EV6",        "PCA56",  "PCA57",
		                          "EV67", "EV68CB", "EV68AL",     "EV68CX", "EV7",
		                          "EV79", "EV69" };
	char cpu[16], model[16];

	if (!find_cpuinfo_value(text, "cpu", cpu, sizeof(cpu)) || strcmp(cpu, "Alpha") != 0 ||
	    !find_cpuinfo_value(text, "cpu model", model, sizeof(model)))
		return false;
	set_arch(h, "alpha");
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(model, names[i]) == 0) {
			h->id_register = i + 1;
			snprintf(h->id_text, sizeof(h->id_text), "alpha-%u", i + 1);
			h->is_known = true;
		}
	return true;
}

/* "revision : 2.2 (pvr 004e 1202)" */
static bool read_powerpc_cpuinfo(const char *text, struct host *h)
{
	const char *s = strstr(text, "(pvr ");
	uint64_t high, low;

	if (!s)
		return false;
	s += 5;
	if (!read_number(&s, 16, &high) || *s++ != ' ' || !read_number(&s, 16, &low))
		return false;
	set_arch(h, "powerpc");
	h->id_register = high << 16 | low;
	snprintf(h->id_text, sizeof(h->id_text), "0x%08x", (unsigned)h->id_register);
	h->is_known = true;
	return true;
}

/* "pmu : niagara2" on SPARC, "cpu model : MIPS 74Kc V4.12" on MIPS, "Model Name :
 * Loongson-3A5000" on LoongArch: the architecture and that word. A LoongArch model without a name
 * has its family's. */
static bool read_named_cpuinfo(const char *text, struct host *h)
{
	static const struct {
		char key[12], value_prefix[12], arch[12];
	} kinds[] = { { "pmu", "", "sparc" },
		      { "cpu model", "MIPS ", "mips" },
		      { "Model Name", "Loongson-", "loongarch64" },
		      { "CPU Family", "Loongson-", "loongarch64" } };

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t skip = strlen(kinds[i].value_prefix);
		char value[48], id[64];

		if (!find_cpuinfo_value(text, kinds[i].key, value, sizeof(value)) ||
		    strncmp(value, kinds[i].value_prefix, skip) != 0)
			continue;
		snprintf(id, sizeof(id), "%s,%.*s", kinds[i].arch, (int)strcspn(value + skip, " "),
		         value + skip);
		return pfmi_machine_parse_host_id(id, h);
	}
	return false;
}

static bool read_riscv_cpuinfo(const char *text, struct host *h)
{
	char vendor[24], arch[24], imp[24], id[sizeof(h->id_text)];

	if (!find_cpuinfo_value(text, "mvendorid", vendor, sizeof(vendor)) ||
	    !find_cpuinfo_value(text, "marchid", arch, sizeof(arch)) ||
	    !find_cpuinfo_value(text, "mimpid", imp, sizeof(imp)))
		return false;
	snprintf(id, sizeof(id), "%s-%s-%s", vendor, arch, imp);
	return pfmi_machine_parse_host_id(id, h);
}

/* Computes the MIDR from the implementer, part and revision lines, for kernels that do not show it
 * in sysfs. */
static bool read_arm_cpuinfo(const char *text, struct host *h)
{
	static const struct {
		char key[16];
		unsigned shift;
		uint64_t mask;
	} parts[] = {
		{ "CPU implementer", 24, 0xff },
		{ "CPU variant", 20, 0xf },
		{ "CPU part", 4, 0xfff },
		{ "CPU revision", 0, 0xf },
	};
	uint64_t midr = 0xf0000; /* architecture: given by the ID registers, as from Armv7 on */

	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char value[24];
		const char *s = value;
		uint64_t n;

		if (!find_cpuinfo_value(text, parts[i].key, value, sizeof(value)) ||
		    !read_number(&s, 0, &n))
			return false;
		/* "0x41": the number ends after its digits. */
		midr |= (n & parts[i].mask) << parts[i].shift;
	}
	h->id_register = midr;
	return true;
}

/* ---- other machines -------------------------------------------------------------------------- */

static void format_arm_id(struct host *h)
{
	set_arch(h, get_arm_arch(h->id_register));
	snprintf(h->id_text, sizeof(h->id_text), "0x%016llx", (unsigned long long)h->id_register);
	h->is_known = true;
}

static bool find_sysinfo_value(const char *text, const char *key, char *out, size_t size)
{
	return find_cpuinfo_value(text, key, out, size) && *out;
}

/* s390: "IBM,8561,703,T01,3.6,002f" out of two files. */
static bool read_s390_sysinfo(const struct sys *sys, struct host *h)
{
	char text[8192], maker[24], type[16], capacity[24], model[24] = "", facility[64];
	char *end;
	const char *version = NULL, *authorization = NULL;

	if (pfmi_machine_read_small_file(sys, "/proc/sysinfo", text, sizeof(text)) < 0 ||
	    !find_sysinfo_value(text, "Manufacturer", maker, sizeof(maker)) ||
	    !find_sysinfo_value(text, "Type", type, sizeof(type)) ||
	    !find_sysinfo_value(text, "Model", capacity, sizeof(capacity)))
		return false;
	/* "Model: 703 T01" has the capacity, then the model. */
	end = capacity + strcspn(capacity, " \t");
	if (*end) {
		*end++ = '\0';
		end += strspn(end, " \t");
		copy_truncated(model, sizeof(model), end, strcspn(end, " \t"));
	}
	if (pfmi_machine_read_small_file(sys, "/proc/service_levels", text, sizeof(text)) > 0 &&
	    find_cpuinfo_value(text, "CPU-MF", facility, sizeof(facility)) &&
	    strncmp(facility, "Counter facility", 16) == 0) {
		version = strstr(facility, "version=");
		authorization = strstr(facility, "authorization=");
	}
	set_arch(h, "s390");
	snprintf(h->id_text, sizeof(h->id_text), "%s,%s,%s,%s", maker, type, capacity, model);
	if (version && authorization) {
		size_t used = strlen(h->id_text);

		version += 8;
		authorization += 14;
		snprintf(h->id_text + used, sizeof(h->id_text) - used, ",%.*s,%.*s",
		         (int)strcspn(version, " ,"), version, (int)strcspn(authorization, " ,"),
		         authorization);
	}
	h->is_known = true;
	return true;
}

/* Reads the first @size - 1 bytes of a file. The first processors of /proc/cpuinfo suffice. */
static void read_file_start(const struct sys *sys, const char *path, char *text, size_t size)
{
	int fd = sys->open(sys, path,
	                   O_RDONLY | O_NONBLOCK); /* a FIFO below a root must not block */
	long n = 0;

	if (fd >= 0) {
		n = sys->read(sys, fd, text, size - 1);
		sys->close(sys, fd);
	}
	text[n > 0 ? n : 0] = '\0';
}

static void read_identity_files(const struct sys *sys, struct host *h)
{
	char text[16384];

	if (pfmi_machine_read_number(sys,
	                             "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
	                             &h->id_register) == 0) {
		format_arm_id(h);
		return;
	}
	read_file_start(sys, "/proc/cpuinfo", text, sizeof(text));
	if (read_arm_cpuinfo(text, h))
		format_arm_id(h);
	else if (!read_x86_or_ia64(text, h) && !read_alpha_cpuinfo(text, h) &&
	         !read_powerpc_cpuinfo(text, h) && !read_riscv_cpuinfo(text, h) &&
	         !read_named_cpuinfo(text, h))
		read_s390_sysinfo(sys, h);
}

void pfmi_machine_identify_host(const struct sys *sys, const char *cpuid, struct host *out)
{
	*out = (struct host){ .is_known = false };
	if (cpuid)
		pfmi_machine_parse_host_id(cpuid, out);
	else if (!read_cpuid_identity(sys, out))
		read_identity_files(sys, out);
}

/* True if CPU 0 is online, whose files identify the processor. */
static bool is_first_cpu_online(const struct sys *sys)
{
	char online[64];
	long n = pfmi_machine_read_small_file(sys, PFMI_ONLINE_CPUS_PATH, online, sizeof(online));

	return n == -EFBIG || (n > 0 && online[0] == '0');
}

bool pfmi_machine_is_other_host(const struct sys *sys, const struct host *known)
{
	struct host now = { .is_known = false };

	if (!known->is_known)
		return false;
	if (!read_cpuid_identity(sys, &now) && is_first_cpu_online(sys))
		pfmi_machine_identify_host(sys, NULL, &now);
	return now.is_known && strcmp(now.id_text, known->id_text) != 0;
}

void pfmi_machine_read_core_types(const struct sys *sys, const char *cpuid, struct host *h)
{
	/* Files of this machine do not describe the processor that @cpuid names; those below a root
	 * may. */
	if (h->is_known && machine_is_same_word(h->arch, "x86") && (!cpuid || sys->root[0]))
		find_core_types(sys, h);
}
