/* SPDX-License-Identifier: MIT */
#include "pretend/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/pfm.h"
#include "pretend/enter.h"
#include "pretend/filter.h"
#include "pretend/supervisor.h"

enum { NOT_RUN = 126, NOT_FOUND = 127, SIGNAL_STATUS = 128 };

/* ---- passing the filter to the supervisor ---------------------------------------------------- */

union fd_message {
	struct cmsghdr head;
	char space[CMSG_SPACE(sizeof(int))];
};

static bool send_fd(int socket, int fd)
{
	char byte = 0;
	struct iovec data = { &byte, 1 };
	union fd_message control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
		                               .cmsg_level = SOL_SOCKET,
		                               .cmsg_type = SCM_RIGHTS } };
	struct msghdr m = { .msg_iov = &data,
		            .msg_iovlen = 1,
		            .msg_control = &control,
		            .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(socket, &m, 0) == 1;
}

/* Returns the descriptor, or -1 if the other side has ended. */
static int receive_fd(int socket)
{
	char byte;
	struct iovec data = { &byte, 1 };
	union fd_message control = { .head = { 0 } };
	struct msghdr m = { .msg_iov = &data,
		            .msg_iovlen = 1,
		            .msg_control = &control,
		            .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) == 1 && m.msg_controllen >= CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

/* ---- the supervisor -------------------------------------------------------------------------- */

static void replace_standard_files(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		(void)dup2(null, fd);
}

/* Runs until no process has the filter, which may be after the command has ended: the standard
 * files are replaced so that nobody waits for the supervisor. */
static _Noreturn void run_supervisor(const struct pretend_machine *m, const struct model *model,
                                     int socket)
{
	int listener = receive_fd(socket);

	close(socket);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	replace_standard_files();
	if (listener >= 0)
		supervise(m, model, listener);
	_exit(0);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Descriptors of events are above FIRST_EVENT_FD. */
static void raise_file_limit(void)
{
	const rlim_t wanted = FIRST_EVENT_FD + N_EVENT_FDS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static bool enter_machine(const struct pretend_machine *m, const struct model *model, int socket)
{
	int listener;

	raise_file_limit();
	if (!set_pretend_environment(m)) {
		report_no_memory();
		return false;
	}
	if (!enter_pretend_files(m, model))
		return false;
	listener = install_filter();
	if (listener < 0) {
		fprintf(stderr, "pfm pretend: cannot install a seccomp filter: %s%s\n",
		        strerror(-listener),
		        listener == -EBUSY ? "; another supervisor answers this process's calls"
		                           : "");
		return false;
	}
	if (!send_fd(socket, listener))
		return false;
	close(listener);
	close(socket);
	return true;
}

static _Noreturn void run_command(const struct pretend_machine *m, const struct model *model,
                                  int socket, char **command)
{
	int err;

	if (!enter_machine(m, model, socket))
		_exit(NOT_RUN);
	execvp(command[0], command);
	err = errno;
	fprintf(stderr, "pfm pretend: cannot run '%s': %s\n", command[0], strerror(err));
	_exit(err == ENOENT ? NOT_FOUND : NOT_RUN);
}

static volatile sig_atomic_t command_pid;

static void forward_signal(int sig)
{
	kill(command_pid, sig);
}

/* As a shell: the terminal's signals are for the command. Those that end this process alone are
 * passed on. */
static int wait_for_command(pid_t pid)
{
	static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	int status = 0;

	command_pid = pid;
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		signal(forwarded[i], forward_signal);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? SIGNAL_STATUS + WTERMSIG(status) : WEXITSTATUS(status);
}

static int report_no_process(void)
{
	fprintf(stderr, "pfm pretend: cannot create a process: %s\n", strerror(errno));
	return NOT_RUN;
}

int run_pretended(const struct pretend_machine *m, const struct model *model, char **command)
{
	int sockets[2];
	pid_t supervisor, pid;

	fflush(NULL);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return report_no_process();
	supervisor = fork();
	if (supervisor == 0) {
		close(sockets[1]);
		run_supervisor(m, model, sockets[0]);
	}
	pid = supervisor < 0 ? -1 : fork();
	if (pid == 0) {
		close(sockets[0]);
		run_command(m, model, sockets[1], command);
	}
	close(sockets[0]);
	close(sockets[1]);
	return pid < 0 ? report_no_process() : wait_for_command(pid);
}
