/* SPDX-License-Identifier: MIT */
/* pfm alpha device: runs a program with a /dev/pfcntr that the device model serves. */
#include "common/pfm.h"
#include "alpha/session.h"
#include "alpha/emulator.h"

#include <errno.h>
#include <string.h>

enum { OPT_CPUS = LONG_ONLY, OPT_MHZ };

static const struct command_option options[] = {
	{ 'm', "model", "NAME",
	  "processor of the device: ev4, ev5, pca56, ev6 or ev67; default ev5" },
	{ OPT_CPUS, "cpus", "N", "number of processors; default 4" },
	{ OPT_MHZ, "mhz", "N", "cycles per microsecond; default 500" },
	{ 0, NULL, NULL, NULL }
};

static int report_unknown_model(const struct command_args *args, const char *name)
{
	static const char *const models[] = { "ev4", "ev5", "pca56", "ev6", "ev67", NULL };
	int similar = find_closest_word(name, models);

	if (similar >= 0)
		return report_usage_error(args, "unknown model '%s'. Did you mean '%s'?", name,
		                          models[similar]);
	return report_usage_error(args, "expected ev4, ev5, pca56, ev6 or ev67, got '%s'.", name);
}

struct alpha_emulator *open_device_model(const char *command, const char *model)
{
	struct alpha_emulator *e = NULL;
	int err = alpha_emulator_open(model, 0, 0, 0, &e);

	if (err == -ENODEV)
		fprintf(stderr,
		        "pfm %s: --device-model: expected ev4, ev5, pca56, ev6 or ev67, got '%s'\n",
		        command, model);
	else if (err)
		report_no_memory();
	return e;
}

static int run_device(struct command_args *args)
{
	uint64_t cpus = 0, mhz = 0;
	const char *value, *name = "ev5";
	struct alpha_device_options model;
	int id, family;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case 'm': name = value; break;
		case OPT_CPUS:
			if (!option_number(args, "--cpus", value, 1, ALPHA_DEVICE_MAX_CPUS, &cpus))
				return args->status;
			break;
		case OPT_MHZ:
			if (!option_number(args, "--mhz", value, 1, 100000, &mhz))
				return args->status;
			break;
		}
	if (id < 0)
		return args->status;
	if (args->n == 0)
		return report_usage_error(args, "which program?");
	family = alpha_device_find_family(name);
	if (family < 0)
		return report_unknown_model(args, name);
	alpha_device_set_defaults(&model, (enum alpha_device_family)family);
	if (cpus)
		model.n_cpus = (unsigned)cpus;
	if (mhz)
		model.mhz = (unsigned)mhz;
	fflush(stdout);
	return run_with_device(&model, args->operands);
}

const struct command cmd_alpha_device = {
	.name = "alpha device",
	.usage = "[--model NAME] [--cpus N] [--mhz N] -- PROG [ARG]...",
	.summary = "run a program of the Tru64 counter device with a model of the device",
	.about = "The program opens the device and issues its requests as on Tru64 UNIX; nothing "
		 "in it has to be changed and no privilege is needed. Numbers of interrupts are "
		 "invented, but the same in every run; everything else is as documented. The exit "
		 "status is the program's.",
	.examples = "A program written for an EV6\n"
		    "pfm alpha device --model ev6 -- ./countcycles\n"
		    "On a machine with one processor\n"
		    "pfm alpha device --model ev5 --cpus 1 -- ./ipl-histogram\n",
	.options = options,
	.stops_at_operand = true,
	.run = run_device
};
