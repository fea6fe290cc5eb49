/* SPDX-License-Identifier: MIT */
/* Counts of each instruction, and the files that the instructions are in. */
#ifndef PFM_SIMULATE_PLACES_H
#define PFM_SIMULATE_PLACES_H

#include "simulate/shared.h"

/* Maps the memory at @path, in which instructions of this program, the @number-th that is executed,
 * are counted. False on failure. */
bool open_places(const char *path, uint32_t number);
/* Names the program by its file, unless it has a name. */
void name_program(const char *path);
/* A place for the instruction at @address, which is at @code in this process; NULL without room. */
struct simulated_place *add_place(uint64_t address, const void *code);
/* Mappings may have changed. */
void forget_mappings(void);

#endif
