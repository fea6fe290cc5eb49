/* SPDX-License-Identifier: MIT */
/* Identification of x86 processors by CPUID. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "machine/machine_internal.h"

#define CORE_TYPE_ATOM 0x20
#define CORE_TYPE_CORE 0x40

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

void pfmi_machine_format_x86_id(struct host *h)
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

bool pfmi_machine_read_cpuid_identity(const struct sys *sys, struct host *h)
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
	pfmi_machine_format_x86_id(h);
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

void pfmi_machine_find_core_types(const struct sys *sys, struct host *h)
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
		pfmi_machine_copy_truncated(h->core_types[h->n_core_types].device,
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
