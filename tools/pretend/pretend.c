/* SPDX-License-Identifier: MIT */
/* pfm pretend: runs a program on a machine with another processor's PMUs, whose counts are made up.
 */
#include "common/pfm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pretend/data.h"
#include "pretend/machine.h"
#include "pretend/model.h"
#include "pretend/run.h"
#include "pretend/sysfs.h"
#include "simulate/simulate.h"

enum {
	OPT_CPU = LONG_ONLY,
	OPT_MODEL,
	OPT_ROOT,
	OPT_RECORDING,
	OPT_PARANOID,
	OPT_SIMULATE,
	OPT_EMULATE
};

static const struct command_option options[] = {
	{ OPT_CPU, "cpu", "NAME", "the processor: the name of a table, its alias or an identity" },
	{ OPT_MODEL, "model", "FILE", "what events count; default: the model of its family" },
	{ OPT_RECORDING, "recording", "FILE", "show the PMUs of this recorded machine" },
	{ OPT_PARANOID, "paranoid", "LEVEL",
	  "refuse what kernel.perf_event_paranoid refuses to users: -1 to 3" },
	{ OPT_SIMULATE, "simulate", NULL,
	  "counts are of the instructions of programs that --emulate runs" },
	{ OPT_EMULATE, "emulate", NULL,
	  "on a machine with --simulate: run the program in the emulator that counts" },
	{ OPT_ROOT, "root", "DIR", "write the machine's files below DIR, and run nothing" },
	{ 0, NULL, NULL, NULL }
};

/* ---- models ---------------------------------------------------------------------------------- */

static const char *const family_models[N_PROCESSOR_FAMILIES] = {
	[FAMILY_INTEL] = "intel.model", [FAMILY_AMD] = "amd.model",
	[FAMILY_ARM] = "arm.model",     [FAMILY_POWER] = "power.model",
	[FAMILY_RISCV] = "riscv.model", [FAMILY_S390] = "s390.model",
};

static const char *get_own_model(const char *name)
{
	for (const struct pretend_file *f = pretend_files; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f->text;
	return "";
}

/* Reads the whole file @path into memory that the caller frees; NULL after a report. */
static char *read_model_file(const char *path)
{
	enum { MODEL_SIZE_MAX = 1 << 20 };
	FILE *f = fopen(path, "re");
	char *text = f ? calloc(1, MODEL_SIZE_MAX) : NULL;
	const char *problem = text ? NULL : strerror(errno);
	size_t n = text ? fread(text, 1, MODEL_SIZE_MAX - 1, f) : 0;

	if (n == MODEL_SIZE_MAX - 1)
		problem = strerror(EFBIG);
	else if (text && strlen(text) < n)
		problem = "expected text, got a zero byte";
	if (problem) {
		fprintf(stderr, "pfm pretend: %s: %s\n", path, problem);
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

/* Other users' events must be of the processor. */
static bool has_taken_events(const struct model *model, const struct pretend_machine *m)
{
	const struct pretend_pmu *core = get_pretend_core(m);
	perfmon_pmu_info_t p = PFM_INIT(p);
	pfm_encoding_t e = PFM_INIT(e);
	char text[256];

	for (size_t i = 0; i < model->n_troubles; i++) {
		const struct model_trouble *t = &model->troubles[i];

		if (t->fault != FAULT_TAKEN || !core || pfm_describe_pmu(m->ctx, core->pmu, &p))
			continue;
		snprintf(text, sizeof(text), "%s::%s", p.name, t->pattern);
		if (!pfm_encode_event(m->ctx, text, 0, &e, NULL))
			continue;
		fprintf(stderr,
		        "pfm pretend: fault taken: expected the name of an event of %s, got "
		        "'%s'\n",
		        p.name, t->pattern);
		return false;
	}
	return true;
}

/* Reads the model @path, or with NULL that of the processor's family. Returns an exit status. */
static int open_model(struct model *model, const char *path, const struct pretend_machine *m)
{
	const char *own = family_models[get_processor_family(m)];
	char *text = path ? read_model_file(path) : NULL;
	bool is_read;

	if (path && !text)
		return EXIT_REFUSED;
	is_read = read_model(model, path ? base_name(path) : own, text ? text : get_own_model(own));
	free(text);
	is_read = is_read && has_taken_events(model, m);
	if (!is_read)
		free_model(model);
	return is_read ? EXIT_DONE : EXIT_REFUSED;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* ---- counts of an emulator ------------------------------------------------------------------- */

#define MEMORY_VARIABLE "PFM_PRETEND_SIMULATED"

static int make_simulated_memory(struct pretend_machine *m)
{
	m->simulated = make_shared_file(m->simulated_path, sizeof(*m->simulated));
	if (m->simulated && !setenv(MEMORY_VARIABLE, m->simulated_path, 1))
		return EXIT_DONE;
	fprintf(stderr, "pfm pretend: /dev/shm: %s\n", strerror(errno));
	m->simulated_path[0] = '\0';
	return EXIT_REFUSED;
}

/* Becomes the emulator of a program, whose instructions the events of this machine count. */
static int emulate(char **command)
{
	const char *memory = getenv(MEMORY_VARIABLE);
	struct engine e = { .is_fixed = true };
	char message[MESSAGE_MAX];

	if (!memory) {
		fputs("pfm pretend: --emulate works on a machine of pfm pretend --simulate alone\n",
		      stderr);
		return EXIT_REFUSED;
	}
	if (!find_engine(&e, command[0], message) || !test_engine(&e, message)) {
		fprintf(stderr, "pfm pretend --emulate: %s\n", message);
		return EXIT_REFUSED;
	}
	execute_simulated(&e, memory, command);
	fprintf(stderr, "pfm pretend --emulate: %s: %s\n", e.path, strerror(errno));
	return EXIT_REFUSED;
}

struct pretend_request {
	const char *cpu, *model, *root, *recording;
	int paranoid;
	bool is_simulated, emulates;
};

static int run_on_machine(const struct pretend_request *r, char **command)
{
	static struct pretend_machine machine;
	struct model model = { .name = "" };
	int status = open_pretend_machine(&machine, r->cpu, r->recording);

	if (status != EXIT_DONE)
		return status;
	if (r->paranoid != NO_PARANOID_LEVEL)
		machine.paranoid = r->paranoid;
	status = open_model(&model, r->model, &machine);
	if (status == EXIT_DONE && r->is_simulated)
		status = make_simulated_memory(&machine);
	if (status == EXIT_DONE)
		status = !r->root ? run_pretended(&machine, &model, command)
		         : write_pretend_sysfs(&machine, &model, r->root, "sys/bus/event_source")
		                 ? EXIT_DONE
		                 : EXIT_REFUSED;
	if (*machine.simulated_path)
		unlink(machine.simulated_path);
	free_model(&model);
	close_pretend_machine(&machine);
	return status;
}

static bool read_paranoid_level(const char *text, int *level)
{
	char *end;
	long n = strtol(text, &end, 10);

	*level = (int)n;
	return end != text && !*end && n >= -1 && n <= 3;
}

static int run_pretend(struct command_args *args)
{
	struct pretend_request r = { .paranoid = NO_PARANOID_LEVEL };
	const char *value;
	int id;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_CPU: r.cpu = value; break;
		case OPT_MODEL: r.model = value; break;
		case OPT_SIMULATE: r.is_simulated = true; break;
		case OPT_EMULATE: r.emulates = true; break;
		case OPT_RECORDING: r.recording = value; break;
		case OPT_PARANOID:
			if (!read_paranoid_level(value, &r.paranoid))
				return report_usage_error(
					args,
					"--paranoid: expected a number from -1 to 3, got '%s'.",
					value);
			break;
		default: r.root = value; break;
		}
	if (id < 0)
		return args->status;
	if (r.emulates)
		return args->n ? emulate(args->operands)
		               : report_usage_error(args, "expected a program to run.");
	if (!r.cpu)
		return report_usage_error(args, "expected --cpu NAME.");
	if (!r.root && !args->n)
		return report_usage_error(args, "expected a program to run.");
	if (r.root && args->n)
		return report_usage_error(args, "expected no program with --root.");
	return run_on_machine(&r, args->operands);
}

const struct command cmd_pretend = {
	.name = "pretend",
	.usage = "--cpu NAME [OPTION]... [--] PROG [ARG]...\n--cpu NAME [OPTION]... --root "
		 "DIR\n--emulate [--] PROG [ARG]...",
	.summary = "run a program on a machine with another processor's PMUs",
	.about = "perf, PAPI, libpfm4 and pfm itself find the PMUs, events and limits of that "
		 "processor in the program's environment, and count. The counts are made up from a "
		 "model: no PMU counts anything, and pfm calls every count pretended. Neither "
		 "privileges nor a PMU are needed. The exit status is the program's.",
	.examples = "How does perf look on a Sapphire Rapids?\n"
		    "pfm pretend --cpu spr -- perf stat -e cycles,instructions true\n"
		    "Test a program with events of an AMD Zen 5\n"
		    "pfm pretend --cpu amdzen5 -- pfm stat -M ipc -- ./work\n"
		    "With counts of one's own\n"
		    "pfm pretend --cpu skl --model slow.model -- pfm stat -- ./work\n",
	.options = options,
	.stops_at_operand = true,
	.run = run_pretend
};
