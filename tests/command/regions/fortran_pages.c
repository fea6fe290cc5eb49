/* SPDX-License-Identifier: MIT */
/* For programs in Fortran. */
#include "marked.h"

void touch_pages_(const int *n);

void touch_pages_(const int *n)
{
	cause_faults((unsigned)*n);
}
