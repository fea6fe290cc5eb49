/* SPDX-License-Identifier: MIT */
/* Counts a program and its children from its first instruction on.
 *
 *     count_child PROGRAM [ARGUMENT...]
 *
 * The child waits on a pipe while the counters are opened on it; they start by themselves when it
 * executes the program.
 *
 * Build: cc count_child.c $(pkg-config --cflags --libs perfmon) */
#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <perfmon/perfmon.h>

enum { N = 3 };

static const char *const events[N] = { "task-clock", "page-faults", "context-switches" };

static pid_t start_waiting(char **argv, int *go)
{
	int pipe_fds[2];
	pid_t pid;
	char byte;

	if (pipe(pipe_fds) != 0)
		return -1;
	pid = fork();
	if (pid != 0) {
		close(pipe_fds[0]);
		*go = pipe_fds[1];
		return pid;
	}
	close(pipe_fds[1]);
	if (read(pipe_fds[0], &byte, 1) != 1)
		_exit(1); /* the parent gave up */
	close(pipe_fds[0]);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

static void report(pfm_session_t *session)
{
	for (unsigned i = 0; i < pfm_session_size(session); i++) {
		pfm_count_t count = PFM_INIT(count);
		pfm_count_info_t info = PFM_INIT(info);

		if (pfm_read_count(session, i, &count) != PFMLIB_SUCCESS ||
		    pfm_describe_count(session, i, &info) != PFMLIB_SUCCESS)
			continue;
		if (pfm_counter_quality(count.quality, count.cause) > PFM_QUALITY_PARTIAL)
			printf("%-18s %s: %s\n", info.name, pfm_quality_name(count.quality),
			       info.why);
		else if (*info.unit)
			printf("%-18s %.3f %s (%s)\n", info.name, (double)count.value * count.scale,
			       info.unit, pfm_quality_name(count.quality));
		else
			printf("%-18s %" PRIu64 " (%s)\n", info.name, count.value,
			       pfm_quality_name(count.quality));
	}
}

int main(int argc, char **argv)
{
	static char *usual[] = { "sh", "-c", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done",
		                 NULL };
	pfm_session_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *session;
	int go = -1, status = 0;
	pid_t pid = start_waiting(argc > 1 ? argv + 1 : usual, &go);

	if (pid < 0)
		return 1;
	options.pid = pid;
	options.flags = PFM_SESSION_INHERIT | PFM_SESSION_ENABLE_ON_EXEC;
	if (pfm_open_session(&session, NULL, &options, events, N, &error) != PFMLIB_SUCCESS) {
		char sentence[256];

		pfm_explain_error(NULL, NULL, &error, sentence, sizeof(sentence));
		fprintf(stderr, "%s\n", sentence);
		close(go);
		waitpid(pid, &status, 0);
		return 1;
	}
	pfm_start_session(session);
	if (write(go, "", 1) != 1)
		perror("go");
	close(go);
	waitpid(pid, &status, 0);
	pfm_stop_session(session);
	report(session);
	pfm_close_session(session);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
