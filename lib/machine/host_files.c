/* SPDX-License-Identifier: MIT */
/* Identification of processors by files of the kernel, such as /proc/cpuinfo. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "machine/machine_internal.h"

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
				pfmi_machine_copy_truncated(out, size, line + at,
				                            n > at ? n - at : 0);
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

	return find_cpuinfo_value(text, key, value, sizeof(value)) &&
	                       pfmi_machine_scan_number(&s, 10, &n)
	               ? (uint32_t)n
	               : otherwise;
}

/* Reads an x86 processor (of a recorded machine) or an Itanium, whose keys are "vendor", "family"
 * and "model". */
static bool read_x86_or_ia64(const char *text, struct host *h)
{
	char flags[4096];

	if (find_cpuinfo_value(text, "vendor_id", h->vendor, sizeof(h->vendor)) &&
	    pfmi_machine_is_x86_vendor(h->vendor)) {
		h->family = read_cpuinfo_number(text, "cpu family", 0);
		h->model = read_cpuinfo_number(text, "model", 0);
		h->stepping = read_cpuinfo_number(text, "stepping", 0);
		h->has_hypervisor = find_cpuinfo_value(text, "flags", flags, sizeof(flags)) &&
		                    strstr(flags, " hypervisor");
		pfmi_machine_format_x86_id(h);
		return true;
	}
	if (find_cpuinfo_value(text, "vendor", h->vendor, sizeof(h->vendor)) &&
	    strcmp(h->vendor, "GenuineIntel") == 0) {
		pfmi_machine_set_host_arch(h, "ia64");
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
	pfmi_machine_set_host_arch(h, "alpha");
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
	if (!pfmi_machine_scan_number(&s, 16, &high) || *s++ != ' ' ||
	    !pfmi_machine_scan_number(&s, 16, &low))
		return false;
	pfmi_machine_set_host_arch(h, "powerpc");
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
		    !pfmi_machine_scan_number(&s, 0, &n))
			return false;
		/* "0x41": the number ends after its digits. */
		midr |= (n & parts[i].mask) << parts[i].shift;
	}
	h->id_register = midr;
	return true;
}

static void format_arm_id(struct host *h)
{
	pfmi_machine_set_host_arch(h, pfmi_machine_get_arm_arch(h->id_register));
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
		pfmi_machine_copy_truncated(model, sizeof(model), end, strcspn(end, " \t"));
	}
	if (pfmi_machine_read_small_file(sys, "/proc/service_levels", text, sizeof(text)) > 0 &&
	    find_cpuinfo_value(text, "CPU-MF", facility, sizeof(facility)) &&
	    strncmp(facility, "Counter facility", 16) == 0) {
		version = strstr(facility, "version=");
		authorization = strstr(facility, "authorization=");
	}
	pfmi_machine_set_host_arch(h, "s390");
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

void pfmi_machine_read_identity_files(const struct sys *sys, struct host *h)
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
