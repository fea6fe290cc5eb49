/* SPDX-License-Identifier: MIT */
/* Functions that have one name on the old side and another on the new one. */
#ifndef PFM_DIFF_MATCHES_H
#define PFM_DIFF_MATCHES_H

#include "diff/rows.h"

/* Adds the functions of --match, OLD=NEW. False without memory. */
bool add_match(struct diff *d, const char *text);
/* Finds the functions of all matches in the rows, and collects the rows again. EXIT_DONE, or
 * EXIT_REFUSED after a message. */
int apply_matches(struct diff *d);
/* Replaces the names of a function of recording @run by those of the new side. */
void rename_function(const struct diff *d, unsigned run, const char **object,
                     const char **function);

/* Finds functions that one side alone has and whose code is alike. False without memory. (offers.c)
 */
bool find_offers(struct diff *d);
/* Prints the offers of @event as text. */
void put_offers(const struct diff *d, uint32_t event);
/* Prints all offers as JSON. */
void put_offers_json(const struct diff *d);
/* Describes an offer in a line. */
enum { OFFER_LINE = 2 * NAME_LINE + 200 };
void format_offer(const struct diff_offer *o, char text[OFFER_LINE]);

#endif
