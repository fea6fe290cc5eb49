/* SPDX-License-Identifier: MIT */
#include "common/student_t.h"

#include <stddef.h>

/* Between two entries of the table, uses the one with the smaller freedom, which gives the wider
 * interval. */
double get_student_t(unsigned freedom)
{
	static const struct {
		unsigned freedom;
		double t;
	} table[] = {
		{ 1, 12.706 }, { 2, 4.303 },  { 3, 3.182 },  { 4, 2.776 },
		{ 5, 2.571 },  { 6, 2.447 },  { 7, 2.365 },  { 8, 2.306 },
		{ 9, 2.262 },  { 10, 2.228 }, { 12, 2.179 }, { 15, 2.131 },
		{ 20, 2.086 }, { 30, 2.042 }, { 60, 2.000 }, { 120, 1.980 },
	};
	double t = table[0].t;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]) && table[i].freedom <= freedom; i++)
		t = table[i].t;
	return t;
}
