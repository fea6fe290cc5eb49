/* SPDX-License-Identifier: MIT */
/* Identification of the processor, once, into struct host: by CPUID (host_x86.c), or by files below
 * another root and on other architectures (host_files.c). */
#include <errno.h>
#include <string.h>
#include "machine/machine_internal.h"

/* ---- texts ----------------------------------------------------------------------------------- */

/* ---- identities as text ---------------------------------------------------------------------- */

/* ---- x86 ------------------------------------------------------------------------------------- */

/* ---- /proc/cpuinfo --------------------------------------------------------------------------- */

/* ---- other machines -------------------------------------------------------------------------- */

void pfmi_machine_identify_host(const struct sys *sys, const char *cpuid, struct host *out)
{
	*out = (struct host){ .is_known = false };
	if (cpuid)
		pfmi_machine_parse_host_id(cpuid, out);
	else if (!pfmi_machine_read_cpuid_identity(sys, out))
		pfmi_machine_read_identity_files(sys, out);
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
	if (!pfmi_machine_read_cpuid_identity(sys, &now) && is_first_cpu_online(sys))
		pfmi_machine_identify_host(sys, NULL, &now);
	return now.is_known && strcmp(now.id_text, known->id_text) != 0;
}

void pfmi_machine_read_core_types(const struct sys *sys, const char *cpuid, struct host *h)
{
	/* Files of this machine do not describe the processor that @cpuid names; those below a root
	 * may. */
	if (h->is_known && machine_is_same_word(h->arch, "x86") && (!cpuid || sys->root[0]))
		pfmi_machine_find_core_types(sys, h);
}
