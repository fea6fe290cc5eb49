/* SPDX-License-Identifier: MIT */
/* pfm alpha: the emulated counter device of Tru64 UNIX. */
#include "common/pfm.h"

#include <string.h>

extern const struct command cmd_alpha_session, cmd_alpha_device;

static int run_alpha(struct command_args *args)
{
	const char *value, *name;
	int id;

	while ((id = next_option(args, &value)) > 0)
		;
	if (id < 0)
		return args->status;
	name = args->n ? args->operands[0] : "";
	if (strcmp(name, "session") == 0)
		return run_pfm_command(&cmd_alpha_session, args->n, args->operands);
	if (strcmp(name, "device") == 0)
		return run_pfm_command(&cmd_alpha_device, args->n, args->operands);
	if (!*name)
		return report_usage_error(args, "expected session or device");
	return report_usage_error(args, "expected session or device, got '%s'", name);
}

const struct command cmd_alpha = {
	.name = "alpha",
	.usage = "session --json [FILE]... < REQUESTS\n"
		 "device [--model NAME] [--cpus N] [--mhz N] -- PROG [ARG]...",
	.summary = "emulate the Alpha counter device",
	.about = "'pfm alpha session' replays sessions of the Tru64 counter device, /dev/pfcntr, "
		 "on an emulator of it. 'pfm alpha device' runs a program that finds the emulated "
		 "device. For details see 'pfm alpha session --help' and 'pfm alpha device "
		 "--help'.",
	.examples = "Replay every session of a file\n"
		    "pfm alpha session --json sessions.jsonl\n"
		    "Run a program written for an EV6\n"
		    "pfm alpha device --model ev6 -- ./countcycles\n",
	.stops_at_operand = true,
	.run = run_alpha
};
