/* SPDX-License-Identifier: MIT */
#ifndef PFM_STUDENT_T_H
#define PFM_STUDENT_T_H

/* Returns Student's t for a two-sided 95 % interval, never smaller than the exact value. */
double get_student_t(unsigned freedom);

#endif
