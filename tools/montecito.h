/* SPDX-License-Identifier: MIT */
/* Options of pfm dispatch that only an Itanium 2 9000 has, as settings of pfm_dispatch_events(). */
#ifndef PFM_MONTECITO_H
#define PFM_MONTECITO_H

#include <stdbool.h>
#include <perfmon/montecito.h>
#include <stddef.h>

/* Where a setting is wrong, and why. */
struct mont_mistake {
	size_t start, end;
	const char *reason;
};

/* Settings gathered so far; zero it first. */
struct mont_settings {
	pfmlib_mont_input_param_t in;
	unsigned n_opcm, n_irange, n_drange, n_thres;
	bool is_used; /* any was given */
};

/* Each adds one option's value; NULL values mean the usual. False with *@mistake filled for one
 * that is wrong. */
bool mont_opcm(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_irange(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_drange(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_iear(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_dear(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_etb(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_ipear(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_thres(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
void mont_no_qualcheck(struct mont_settings *s);

#endif
