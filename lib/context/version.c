/* SPDX-License-Identifier: MIT */
/* The version of the library. */
#include <perfmon/context.h>

const char *pfm_version(unsigned *major, unsigned *minor, unsigned *patch)
{
	if (major)
		*major = PFM_VERSION_MAJOR;
	if (minor)
		*minor = PFM_VERSION_MINOR;
	if (patch)
		*patch = PFM_VERSION_PATCH;
	return PFM_VERSION;
}
