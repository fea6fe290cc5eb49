/* SPDX-License-Identifier: MIT */
#include "simulate/simulate.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>
#include "simulate/program.h"

enum { NOT_RUN = 126, SIGNAL_STATUS = 128, ARGUMENTS_MAX = 4096 };

#define RANDOM_SEED "1"

/* ---- memory ---------------------------------------------------------------------------------- */

void *make_shared_file(char path[64], size_t size)
{
	void *at = MAP_FAILED;
	int fd;

	snprintf(path, 64, "/dev/shm/pfm-simulate-XXXXXX");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (ftruncate(fd, (off_t)size) == 0)
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED) {
		unlink(path);
		return NULL;
	}
	return at;
}

uint64_t count_simulated(const struct simulated_memory *m, enum simulated_event event)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->n_threads && i < SIMULATED_THREADS; i++)
		sum += m->threads[i].counts[event];
	for (uint32_t i = 0; i < m->n_processes && i < SIMULATED_PROCESSES; i++)
		sum += m->processes[i].thread.counts[event];
	return sum;
}

static void sum_memory(const struct simulated_memory *m, struct simulated_run *out)
{
	out->n_threads = m->n_threads + m->n_processes;
	out->n_programs = m->n_programs;
	out->n_uncounted = m->n_uncounted;
	out->n_raced = m->n_raced;
	for (unsigned k = 0; k < N_SIMULATED; k++)
		out->counts[k] = count_simulated(m, (enum simulated_event)k);
}

/* ---- the emulator ---------------------------------------------------------------------------- */

/* Makes the environment equal for all users and machines. */
static void fix_environment(void)
{
	const char *given = getenv("HOME");
	char *home = given ? strdup(given) : NULL;

	clearenv();
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
	setenv("LC_ALL", "C", 1);
	/* Interpreters draw these from the kernel, which -seed does not change. */
	setenv("PYTHONHASHSEED", "0", 1);
	setenv("PERL_HASH_SEED", "0", 1);
	if (home)
		setenv("HOME", home, 1);
	free(home);
	personality(ADDR_NO_RANDOMIZE);
}

/* The program's library of regions asks the plugin for counts. */
static void ask_for_regions(const struct engine *e)
{
	setenv("PERFMON_SIMULATED", "1", 1);
	setenv("PERFMON_REGIONS", e->events, 1);
	setenv("PERFMON_REGIONS_FORMAT", e->regions, 1);
}

/* Fills the arguments of the emulator for @command, whose file is @path. False if there are too
 * many. */
static bool fill_arguments(const struct engine *e, char *path, char *script, char *argument,
                           char *const *command, char *plugin_option, char **argv)
{
	static char options[][8] = { "-plugin", "-seed", "-cpu", "-0", RANDOM_SEED };
	union {
		const char *in;
		char *out;
	} engine = { .in = e->path }, model = { .in = e->model };
	unsigned n = 0;

	argv[n++] = engine.out;
	argv[n++] = options[0];
	argv[n++] = plugin_option;
	if (e->is_fixed) {
		argv[n++] = options[1];
		argv[n++] = options[4];
	}
	if (e->model) {
		argv[n++] = options[2];
		argv[n++] = model.out;
	}
	argv[n++] = options[3];
	argv[n++] = script ? path : command[0];
	argv[n++] = path;
	if (script && argument)
		argv[n++] = argument;
	if (script)
		argv[n++] = script;
	for (unsigned i = 1; command[i]; i++) {
		if (n + 1 >= ARGUMENTS_MAX)
			return false;
		argv[n++] = command[i];
	}
	argv[n] = NULL;
	return true;
}

void execute_simulated(const struct engine *e, const char *memory, char *const *command)
{
	char path[ENGINE_PATH_MAX], head[PROGRAM_HEAD_SIZE], option[2 * ENGINE_PATH_MAX + 256];
	char *argv[ARGUMENTS_MAX], *argument, *interpreter;

	if (!find_program(command[0], path))
		return;
	read_program_head(path, head);
	interpreter = split_script_line(head, &argument);
	snprintf(option, sizeof(option), "%s,plugin=%s,memory=%s,arch=%s,accesses=%d%s%s%s",
	         e->plugin, e->plugin, memory, e->arch, e->has_accesses,
	         e->is_fixed ? ",seed=" RANDOM_SEED : "", e->places ? ",places=" : "",
	         e->places ? e->places : "");
	if (!fill_arguments(e, interpreter ? interpreter : path, interpreter ? path : NULL,
	                    interpreter ? argument : NULL, command, option, argv))
		return;
	if (e->is_fixed)
		fix_environment();
	if (e->regions)
		ask_for_regions(e);
	execv(e->path, argv);
}

static int wait_for_engine(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? SIGNAL_STATUS + WTERMSIG(status) : WEXITSTATUS(status);
}

bool run_simulated(const struct engine *e, char *const *command, struct simulated_run *out,
                   char message[MESSAGE_MAX])
{
	char path[64];
	struct simulated_memory *m = make_shared_file(path, sizeof(*m));
	pid_t pid;
	bool is_counted;

	*out = (struct simulated_run){ .status = NOT_RUN };
	if (!m) {
		snprintf(message, MESSAGE_MAX, "%s: %s", path, strerror(errno));
		return false;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		execute_simulated(e, path, command);
		_exit(NOT_RUN);
	}
	if (pid > 0)
		out->status = wait_for_engine(pid);
	is_counted = pid > 0 && m->version == SIMULATED_VERSION;
	sum_memory(m, out);
	munmap(m, sizeof(*m));
	unlink(path);
	if (!is_counted)
		snprintf(message, MESSAGE_MAX, "%.400s: the emulator or its plugin does not start",
		         e->path);
	return is_counted;
}
