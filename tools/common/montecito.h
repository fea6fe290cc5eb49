/* SPDX-License-Identifier: MIT */
/* Options of pfm dispatch that only an Itanium 2 9000 has, as settings of pfm_dispatch_events(). */
#ifndef PFM_MONTECITO_H
#define PFM_MONTECITO_H

#include <stdbool.h>
#include <perfmon/montecito.h>
#include <stddef.h>

/* The position and reason of a wrong setting. */
struct mont_mistake {
	size_t start, end;
	const char *reason;
};

/* Settings gathered so far; zero it first. */
struct mont_settings {
	pfmlib_mont_input_param_t in;
	unsigned n_opcm, n_irange, n_drange, n_thres;
	bool is_used; /* true if an option was given */
};

/* Each function adds the value of one option; NULL means its default. On a wrong value, returns
 * false and sets *@mistake. */
bool mont_parse_opcm(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_parse_irange(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_parse_drange(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_parse_iear(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_parse_dear(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_parse_etb(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_parse_ipear(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
bool mont_parse_thres(struct mont_settings *s, const char *value, struct mont_mistake *mistake);
void mont_turn_off_qualcheck(struct mont_settings *s);

#endif
