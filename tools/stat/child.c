/* SPDX-License-Identifier: MIT */
/* pfm stat: the command that is counted. It is started in two steps, so that counters are open
 * before its first instruction. */
#include "common/pfm.h"
#include "stat/stat.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

const char *program_name = "pfm stat";

int child_prepare(char *const *command, const sigset_t *mask, struct child *c)
{
	int err;

	fflush(NULL);
	err = base_fork_child(command, mask, c);
	return err ? report_bad_option("cannot create a process", err) : EXIT_DONE;
}

int child_start(char *const *command, struct child *c)
{
	int err = base_start_child(c);

	if (!err)
		return EXIT_DONE;
	fprintf(stderr, "%s: cannot run '%s': %s\n", program_name, command[0], strerror(err));
	return err == ENOENT ? NOT_FOUND : NOT_RUN;
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
