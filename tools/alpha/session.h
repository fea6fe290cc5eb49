/* SPDX-License-Identifier: MIT */
/* pfm alpha session and pfm alpha device. */
#ifndef PERFMON_ALPHA_SESSION_H
#define PERFMON_ALPHA_SESSION_H

#include <jansson.h>
#include <stdio.h>

/* Answers requests, one JSON object a line, until the end of @in. 0 if all were understood, else 1;
 * a line that is not understood is answered with an error and the next one read. (session.c) */
int session_replay(FILE *in, FILE *out);

/* Fills in the steps ("seq") of a session of which only events, rates, scope, mode and items are
 * given. NULL, or what is wrong with it. (session_compose.c) */
const char *session_compose(json_t *request);

struct alpha_device_options;
/* Runs @argv[0] with the arguments after it; /dev/pfcntr is the model. Returns the program's exit
 * status, 128 + signal, or 126, 127 when it could not be run; what went wrong is on standard error.
 * (serve.c) */
int device_run(const struct alpha_device_options *options, char *const argv[]);

struct alpha_emulator;
/* Makes the emulator for option --device-model of @command; alpha_emulator_close() frees it.
 * Reports an unknown @model and returns NULL. (cmd_device.c) */
struct alpha_emulator *open_device_model(const char *command, const char *model);

#endif
