/* SPDX-License-Identifier: MIT */
/* Help of the command. */
#ifndef PFM_HELP_H
#define PFM_HELP_H

#include "common/pfm.h"

/* The options of every command, ended by id 0. (pfm.c) */
extern const struct command_option common_options[];

/* Prints the usage lines of @cmd. */
void print_usage(FILE *out, const struct command *cmd);
/* Prints the help of @cmd. */
void print_help(FILE *out, const struct command *cmd);
/* Prints the list of commands. */
void print_overview(FILE *out);

#endif
