/* SPDX-License-Identifier: MIT */
/* The selected processor of libpfm 3's interface. */
#ifndef PERFMON_LIBPFM3_SELECTED_H
#define PERFMON_LIBPFM3_SELECTED_H

#include <perfmon/pfmlib.h>
#include "lookup/lookup.h"

/* The tables of libperfmon.so.1. */
unsigned pfm3_count_tables(void);
const struct table *pfm3_get_table(unsigned i);
/* The table of the selected processor; NULL before the selection. */
const struct table *pfm3_get_selected_table(void);
enum pfm3_special_event { PFM3_CYCLES, PFM3_INSTRUCTIONS };
/* The name of the event of @t that counts cycles or instructions, or NULL. */
const char *pfm3_get_special_event(const struct table *t, enum pfm3_special_event which);
/* Checks the number of the event and of its unit masks. (events.c) */
int pfm3_check_event(const struct table *t, const pfmlib_event_t *e);

#endif
