/* SPDX-License-Identifier: MIT */
/* Suggestions for an attribute that was refused. */
#ifndef PERFMON_FORMAT_SUGGEST_ATTR_H
#define PERFMON_FORMAT_SUGGEST_ATTR_H

#include "format/error_location.h"
#include "find/suggestion_list.h"

/* Suggests unit masks of the event: of @group alone if it is not NULL. */
void pfmi_find_suggest_umasks(struct suggestion_list *l, const struct error_location *p,
                              const char *group);
/* Suggests names or values for the attribute that @error is about. */
void pfmi_find_suggest_for_attr(struct suggestion_list *l, const struct error_location *p,
                                const pfm_error_t *error);

#endif
