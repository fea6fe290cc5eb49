/* SPDX-License-Identifier: MIT */
/* Identities of processors as text: "GenuineIntel-6-55-4", "alpha-11", "0x00000000410fd0c0". */
#include <string.h>
#include "machine/machine_internal.h"

bool pfmi_machine_scan_number(const char **s, unsigned base, uint64_t *out)
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

void pfmi_machine_copy_truncated(char *to, size_t size, const char *from, size_t len)
{
	if (len >= size)
		len = size - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

void pfmi_machine_set_host_arch(struct host *h, const char *arch)
{
	pfmi_machine_copy_truncated(h->arch, sizeof(h->arch), arch, strlen(arch));
}

bool pfmi_machine_is_x86_vendor(const char *v)
{
	return strcmp(v, "GenuineIntel") == 0 || strcmp(v, "AuthenticAMD") == 0 ||
	       strcmp(v, "HygonGenuine") == 0 || strcmp(v, "CentaurHauls") == 0 ||
	       strcmp(v, "  Shanghai  ") == 0;
}

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
	pfmi_machine_copy_truncated(word, sizeof(word), id, len);
	while (given < 3 && *s == '-') {
		s++;
		if (!pfmi_machine_scan_number(&s, given ? 16 : 10, &n[given]) ||
		    n[given] > 0xffffff)
			return false;
		given++;
	}
	if (*s || given == 0)
		return false;
	if (strcmp(word, "alpha") == 0) {
		pfmi_machine_set_host_arch(h, "alpha");
		h->id_register = n[0];
		return given == 1;
	}
	if (given < 2 || !(pfmi_machine_is_x86_vendor(word) || strcmp(word, "ia64") == 0))
		return false;
	pfmi_machine_set_host_arch(h, pfmi_machine_is_x86_vendor(word) ? "x86" : "ia64");
	pfmi_machine_copy_truncated(
		h->vendor, sizeof(h->vendor),
		pfmi_machine_is_x86_vendor(word) ? word : "GenuineIntel",
		strlen(pfmi_machine_is_x86_vendor(word) ? word : "GenuineIntel"));
	h->family = (uint32_t)n[0];
	h->model = (uint32_t)n[1];
	h->stepping = given == 3 ? (uint32_t)n[2] : ANY_NUMBER;
	return true;
}

const char *pfmi_machine_get_arm_arch(uint64_t midr)
{
	static const uint16_t krait[] = { 0x00f, 0x02d, 0x040, 0x049, 0x04d, 0x06f };
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

	if (s[len] || !(len == 8 || (len == 16 && prefix)) ||
	    !pfmi_machine_scan_number(&s, 16, &value))
		return false;
	pfmi_machine_set_host_arch(h, len == 16 ? pfmi_machine_get_arm_arch(value) : "powerpc");
	h->id_register = value;
	return true;
}

/* RISC-V: mvendorid-marchid-mimpid, each 0x.... */
static bool parse_riscv_id(const char *id, struct host *h)
{
	const char *s = id;

	for (unsigned i = 0; i < 3; i++) {
		uint64_t n;

		if (strncmp(s, "0x", 2) != 0 || !pfmi_machine_scan_number(&s, 16, &n) ||
		    *s != (i < 2 ? '-' : '\0'))
			return false;
		if (i == 1)
			h->id_register = n;
		s += i < 2;
	}
	pfmi_machine_set_host_arch(h, "riscv");
	return true;
}

bool pfmi_machine_parse_host_id(const char *id, struct host *out)
{
	memset(out, 0, sizeof(*out));
	out->stepping = ANY_NUMBER;
	if (strlen(id) >= sizeof(out->id_text))
		return false;
	pfmi_machine_copy_truncated(out->id_text, sizeof(out->id_text), id, strlen(id));
	if (strncmp(id, "IBM,", 4) == 0)
		pfmi_machine_set_host_arch(out, "s390");
	else if (strncmp(id, "sparc,", 6) == 0 || strncmp(id, "mips,", 5) == 0 ||
	         strncmp(id, "loongarch64,", 12) == 0)
		pfmi_machine_copy_truncated(out->arch, sizeof(out->arch), id, strcspn(id, ","));
	else if (!parse_dashed_id(id, out) && !parse_hex_id(id, out) && !parse_riscv_id(id, out))
		return false;
	out->is_known = true;
	return true;
}
