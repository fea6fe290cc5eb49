/* SPDX-License-Identifier: MIT */
/* pfm alpha session and pfm alpha device. */
#ifndef PERFMON_ALPHA_SESSION_H
#define PERFMON_ALPHA_SESSION_H

#include <jansson.h>
#include <stdio.h>

/* Answers requests, one JSON object a line, until the end of @in. A malformed line is answered with
 * an error. Returns 0 if no line was malformed, otherwise 1. (session.c) */
int replay_sessions(FILE *in, FILE *out);

/* Adds the steps ("seq") to a request that has only events, rates, scope, mode and items. Returns
 * NULL, or what is malformed. (session_compose.c) */
const char *compose_session_steps(json_t *request);

struct alpha_device_options;
/* Runs @argv[0] with its arguments and with the model as /dev/pfcntr. Returns the program's exit
 * status, 128 + signal, or 126 or 127 if it could not be run, after printing an error. (serve.c) */
int run_with_device(const struct alpha_device_options *options, char *const argv[]);

struct alpha_emulator;
/* Makes the emulator for option --device-model of @command; alpha_emulator_close() frees it.
 * Reports an unknown @model and returns NULL. (cmd_device.c) */
struct alpha_emulator *open_device_model(const char *command, const char *model);

#endif
