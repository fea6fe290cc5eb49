/* SPDX-License-Identifier: MIT */
/* pfm stat: the command that is counted. It is started in two steps, so that counters are open
 * before its first instruction. */
#include "common/pfm.h"
#include "stat/stat.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *program_name = "pfm stat";

static _Noreturn void wait_and_exec(char *const *command, const sigset_t *mask, int go, int failure)
{
	ssize_t got;
	char byte;
	int err;

	do
		got = read(go, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(0);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(command[0], command);
	err = errno;
	while (write(failure, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(err == ENOENT ? NOT_FOUND : NOT_RUN);
}

int child_prepare(char *const *command, const sigset_t *mask, struct child *c)
{
	int go[2], failure[2];

	if (pipe2(go, O_CLOEXEC) != 0)
		return report_bad_option("cannot create a pipe", errno);
	if (pipe2(failure, O_CLOEXEC) != 0) {
		close(go[0]);
		close(go[1]);
		return report_bad_option("cannot create a pipe", errno);
	}
	fflush(NULL);
	c->pid = fork();
	if (c->pid == 0) {
		close(go[1]);
		close(failure[0]);
		wait_and_exec(command, mask, go[0], failure[1]);
	}
	close(go[0]);
	close(failure[1]);
	c->go = go[1];
	c->failure = failure[0];
	if (c->pid > 0)
		return EXIT_DONE;
	close(c->go);
	close(c->failure);
	return report_bad_option("cannot create a process", errno);
}

int child_start(char *const *command, struct child *c)
{
	ssize_t got;
	int err = 0;

	/* If the command has ended, its wait status reports that. */
	(void)!write(c->go, "", 1);
	close(c->go);
	c->go = -1;
	do
		got = read(c->failure, &err, sizeof(err));
	while (got < 0 && errno == EINTR);
	close(c->failure);
	c->failure = -1;
	if (got != (ssize_t)sizeof(err))
		return EXIT_DONE;
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
	fprintf(stderr, "%s: cannot run '%s': %s\n", program_name, command[0], strerror(err));
	return err == ENOENT ? NOT_FOUND : NOT_RUN;
}

void child_discard(struct child *c)
{
	if (c->go >= 0)
		close(c->go);
	if (c->failure >= 0)
		close(c->failure);
	if (c->pid > 0)
		waitpid(c->pid, NULL, 0);
}

void child_signal(const struct child *c, int sig)
{
	kill(c->pid, sig);
	kill(c->pid, SIGCONT);
}

int child_get_status(const char *name, int status)
{
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "%s: %s was ended by signal %d (%s%s)\n", program_name, name,
		        WTERMSIG(status), strsignal(WTERMSIG(status)),
		        WCOREDUMP(status) ? ", core dumped" : "");
		return 128 + WTERMSIG(status);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_DONE;
}

/* ---- the command as it would be typed -------------------------------------------------------- */

static bool needs_quotes(const char *word)
{
	if (!*word)
		return true;
	for (; *word; word++)
		if (!isalnum((unsigned char)*word) && !strchr("%+,-./:=@_", *word) &&
		    (unsigned char)*word < 0x80)
			return true;
	return false;
}

static size_t append_char(char *buf, size_t at, size_t size, const char *text, size_t len)
{
	for (; len && at + 1 < size; len--)
		buf[at++] = *text++;
	buf[at] = 0;
	return at;
}

static size_t append_word(char *buf, size_t at, size_t size, const char *word)
{
	size_t len;

	if (!needs_quotes(word))
		return append_char(buf, at, size, word, strlen(word));
	at = append_char(buf, at, size, "'", 1);
	for (;; word += len + 1) {
		len = strcspn(word, "'");
		at = append_char(buf, at, size, word, len);
		if (!word[len])
			return append_char(buf, at, size, "'", 1);
		at = append_char(buf, at, size, "'\\''", 4);
	}
}

char *quote_command(char *const *command, char *buf, size_t size)
{
	size_t at = append_char(buf, 0, size, "", 0);

	for (int i = 0; command[i]; i++) {
		if (i)
			at = append_char(buf, at, size, " ", 1);
		at = append_word(buf, at, size, command[i]);
	}
	return buf;
}
