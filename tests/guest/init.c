/* SPDX-License-Identifier: MIT */
/*
 * The first process of a guest: mounts what a test needs, runs the lines of /run.list one after
 * another, and powers the machine off.
 *
 * A line is words separated by blanks, without quoting; # starts a comment line:
 *
 *     [uid=N] [paranoid=N] [access=N] [background=1] [NAME=VALUE]... command [argument]...
 *
 *     uid=N         the command runs as user and group N
 *     paranoid=N    N is written to perf_event_paranoid first, and stays
 *     access=N      N is written to perf_user_access first, and stays
 *     background=1  the next line starts at once; the command is killed at the end
 *     NAME=VALUE    (capital letters) goes to the command's environment
 *
 * Two commands are built in: "insmod FILE" and "waitfor PATH", which waits ten seconds for PATH to
 * exist.
 *
 * The console shows "GUEST-RUN n line" before and "GUEST-RC status line" after the output of
 * line n (128 plus the signal's number when one killed the command), and "GUEST-DONE n" when all n
 * lines have run. A caller must look for the last one: an emulator exits with 0 whatever happened
 * inside.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define MAX_WORDS 128

struct line {
	long uid; /* -1: stay root */
	int background;
	char *env[MAX_WORDS];
	char *argv[MAX_WORDS];
};

static void mount_one(const char *type, const char *where)
{
	mkdir(where, 0755);
	/* The kernel may have mounted devtmpfs, and a small one has no tracefs nor a place for
	 * it. */
	if (mount(type, where, type, 0, NULL) != 0 && errno != EBUSY && errno != ENODEV &&
	    errno != ENOENT)
		printf("init: %s on %s: %s\n", type, where, strerror(errno));
}

static void open_console(void)
{
	struct termios tio;
	int fd = open("/dev/console", O_RDWR);

	if (fd < 0)
		return;
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
	/* No carriage returns: the text is read by programs. */
	if (tcgetattr(1, &tio) == 0) {
		tio.c_oflag &= ~(tcflag_t)OPOST;
		tcsetattr(1, TCSANOW, &tio);
	}
}

static int write_sysctl(const char *name, const char *value)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	f = fopen(path, "w");
	if (f == NULL || fputs(value, f) < 0 || fclose(f) != 0) {
		printf("init: %s=%s: %s\n", name, value, strerror(errno));
		return -1;
	}
	return 0;
}

static int insmod(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0) != 0) {
		printf("init: insmod %s: %s\n", path, strerror(errno));
		return 1;
	}
	close(fd);
	return 0;
}

static int waitfor(const char *path)
{
	for (int i = 0; i < 1000; i++) {
		if (access(path, F_OK) == 0)
			return 0;
		usleep(10000); /* a driver makes the file */
	}
	printf("init: %s did not appear\n", path);
	return 1;
}

/* Take one prefix word. Returns 1 if it was one, 0 if the command begins here, -1 if it could not
 * be obeyed. */
static int take_prefix(struct line *line, size_t *n_env, char *word)
{
	char *value = strchr(word, '=');

	if (value == NULL)
		return 0;
	value++;
	if (strncmp(word, "uid=", 4) == 0)
		line->uid = atol(value);
	else if (strncmp(word, "paranoid=", 9) == 0)
		return write_sysctl("perf_event_paranoid", value) == 0 ? 1 : -1;
	else if (strncmp(word, "access=", 7) == 0)
		return write_sysctl("perf_user_access", value) == 0 ? 1 : -1;
	else if (strncmp(word, "background=", 11) == 0)
		line->background = atoi(value);
	else if (word[0] >= 'A' && word[0] <= 'Z')
		line->env[(*n_env)++] = word;
	else
		return 0;
	return 1;
}

static int parse(char *text, struct line *line)
{
	size_t n_env = 0, n_arg = 0;
	char *save = NULL;

	memset(line, 0, sizeof(*line));
	line->uid = -1;
	for (char *word = strtok_r(text, " \t", &save); word != NULL;
	     word = strtok_r(NULL, " \t", &save)) {
		int prefix = n_arg == 0 ? take_prefix(line, &n_env, word) : 0;

		if (prefix < 0)
			return -1;
		if (n_arg == MAX_WORDS - 1 || n_env == MAX_WORDS - 1)
			return -1;
		if (prefix == 0)
			line->argv[n_arg++] = word;
	}
	return n_arg > 0 ? 0 : -1;
}

static void become(const struct line *line)
{
	gid_t gid = (gid_t)line->uid;

	if (line->uid >= 0 &&
	    (setgroups(0, NULL) != 0 || setgid(gid) != 0 || setuid((uid_t)line->uid) != 0)) {
		perror("init: change of user");
		_exit(126);
	}
	for (size_t i = 0; line->env[i] != NULL; i++)
		putenv(line->env[i]);
	execvp(line->argv[0], line->argv);
	printf("init: %s: %s\n", line->argv[0], strerror(errno));
	fflush(stdout);
	_exit(127);
}

static int run(struct line *line)
{
	pid_t pid;
	int status;

	if (strcmp(line->argv[0], "insmod") == 0)
		return line->argv[1] != NULL ? insmod(line->argv[1]) : 2;
	if (strcmp(line->argv[0], "waitfor") == 0)
		return line->argv[1] != NULL ? waitfor(line->argv[1]) : 2;
	pid = fork();
	if (pid < 0)
		return 125;
	if (pid == 0)
		become(line);
	if (line->background)
		return 0;
	/* Orphans end up here as well, so wait for this one by number. */
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 125;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_all(FILE *list)
{
	char text[4096], copy[sizeof(text)];
	struct line line;
	int n = 0;

	while (fgets(text, sizeof(text), list) != NULL) {
		int rc;

		text[strcspn(text, "\n")] = '\0';
		if (text[strspn(text, " \t")] == '\0' || text[0] == '#')
			continue;
		memcpy(copy, text, sizeof(copy));
		/* The kernel may have left the cursor anywhere. */
		printf("\nGUEST-RUN %d %s\n", ++n, text);
		rc = parse(copy, &line) == 0 ? run(&line) : 125;
		/* The newline in front: the command may have left the cursor anywhere. */
		printf("\nGUEST-RC %d %s\n", rc, text);
	}
	return n;
}

int main(void)
{
	FILE *list;

	umask(022);
	mount_one("devtmpfs", "/dev");
	open_console();
	setvbuf(stdout, NULL, _IONBF, 0);
	mount_one("proc", "/proc");
	mount_one("sysfs", "/sys");
	mount_one("tracefs", "/sys/kernel/tracing");
	mount_one("tmpfs", "/tmp");
	chmod("/tmp", 01777);
	putenv((char[]){ "PATH=/" });
	putenv((char[]){ "LD_LIBRARY_PATH=/lib" });
	putenv((char[]){ "HOME=/" });

	list = fopen("/run.list", "r");
	if (list == NULL)
		printf("init: /run.list: %s\n", strerror(errno));
	else
		printf("GUEST-DONE %d\n", run_all(list));
	kill(-1, SIGKILL);
	sync();
	tcdrain(1);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}
