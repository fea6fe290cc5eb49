/* SPDX-License-Identifier: MIT */
/* pfm record --simulate: the exact count of each instruction, as a recording. */
#include "simulate/simulate.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "common/pfm.h"

enum { OPT_SIMULATE = LONG_ONLY, OPT_NO_FIXED, OPT_MODEL };

static const struct command_option options[] = {
	{ OPT_SIMULATE, "simulate", NULL, "count by an emulator" },
	{ 'o', "output", "FILE", "write the recording to FILE; default perf.data" },
	{ OPT_NO_FIXED, "no-fixed", NULL, "keep the environment and random addresses" },
	{ OPT_MODEL, "simulate-cpu", "NAME", "the emulated CPU, as -cpu of QEMU" },
	{ 0, NULL, NULL, NULL }
};

static int refuse(const char *message)
{
	fprintf(stderr, "pfm record --simulate: %s\n", message);
	return EXIT_REFUSED;
}

static void report_run(const struct simulated_run *run, const struct simulated_profile *p,
                       const char *path)
{
	char instructions[GROUPED_MAX];

	fprintf(stderr, "pfm record --simulate: %s instructions in %s\n",
	        group_digits(run->counts[SIMULATED_INSTRUCTIONS], instructions), path);
	if (p->is_full)
		fputs("  not recorded: instructions after the first 8,388,608 different ones\n",
		      stderr);
	if (run->n_uncounted)
		fprintf(stderr,
		        "  not counted: %u programs for another architecture, or of 32 bits\n",
		        run->n_uncounted);
}

/* Runs @command and writes the recording. Returns an exit status. */
static int record_places(struct engine *e, const char *path, char *const *command,
                         struct simulated_profile *p)
{
	char message[MESSAGE_MAX];
	struct simulated_run run;
	int err;

	if (!run_simulated(e, command, &run, message))
		return refuse(message);
	err = write_simulated_recording(path, e, command, p);
	if (err) {
		snprintf(message, sizeof(message), "%.400s: %s", path, strerror(err));
		return refuse(message);
	}
	report_run(&run, p, path);
	return run.status;
}

static int record_simulated(struct engine *e, const char *path, char *const *command)
{
	char message[MESSAGE_MAX], places[64];
	struct simulated_profile *p;
	int status;

	if (!find_engine(e, command[0], message) || !test_engine(e, message))
		return refuse(message);
	p = make_shared_file(places, sizeof(*p));
	if (!p)
		return refuse("/dev/shm: no room for the counts");
	e->places = places;
	status = record_places(e, path, command, p);
	munmap(p, sizeof(*p));
	unlink(places);
	return status;
}

static int run_simulate_record(struct command_args *args)
{
	struct engine e = { .is_fixed = true };
	const char *value, *path = "perf.data";
	int id;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case 'o': path = value; break;
		case OPT_NO_FIXED: e.is_fixed = false; break;
		case OPT_MODEL: e.model = value; break;
		default: break;
		}
	if (id < 0)
		return args->status;
	if (!args->n)
		return report_usage_error(args, "expected a command.");
	return record_simulated(&e, path, args->operands);
}

const struct command cmd_simulate_record = {
	.name = "record --simulate",
	.usage = "[-o FILE] [--] COMMAND [ARG]...",
	.summary = "record how often each instruction is executed, by an emulator",
	.about = "Runs the command in QEMU's user mode emulator and writes a recording that has a "
		 "sample for each instruction, with its exact count: nothing is sampled. pfm "
		 "report, annotate, diff and export read it.",
	.examples = "Which functions execute the most instructions?\n"
		    "pfm record --simulate -- ./work && pfm report\n"
		    "Which functions have changed, to the instruction?\n"
		    "pfm record --simulate -o old.data -- ./old && pfm record --simulate -o "
		    "new.data -- ./work && pfm diff old.data new.data\n",
	.options = options,
	.stops_at_operand = true,
	.run = run_simulate_record
};
