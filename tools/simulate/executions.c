/* SPDX-License-Identifier: MIT */
/* execve(2) of the emulated program: QEMU executes the file itself, outside of the emulator. A
 * filter makes the call a signal, whose handler executes the emulator with the file instead. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "simulate/plugin.h"
#include "simulate/program.h"

/* Marks calls that the handler makes itself, in an argument that execve(2) does not have. */
#define OWN_CALL 0x70666d31u
/* An argument of the plugin: an earlier program of this process has installed the filter. */
#define FILTERED "filtered=1"

#if defined(__x86_64__)
#define OWN_ARCH                AUDIT_ARCH_X86_64
#define OWN_MACHINE             EM_X86_64
#define REGISTER(context, name) ((context)->uc_mcontext.gregs[name])
#define FIRST                   REG_RDI
#define SECOND                  REG_RSI
#define THIRD                   REG_RDX
#define RESULT                  REG_RAX
#elif defined(__aarch64__)
#define OWN_ARCH                AUDIT_ARCH_AARCH64
#define OWN_MACHINE             EM_AARCH64
#define REGISTER(context, name) ((context)->uc_mcontext.regs[name])
#define FIRST                   0
#define SECOND                  1
#define THIRD                   2
#define RESULT                  0
#else
#error "the plugin is for x86-64 and arm64 hosts"
#endif

enum { ARGUMENTS_MAX = 4096, OPTIONS = 8, PATH_SIZE = 4096 };

static struct simulated_memory *memory;
static char emulator[PATH_SIZE], plugin_option[PATH_SIZE], seed[32];
static unsigned machine; /* of programs that the emulator can run */

static long execute(const char *path, char **argv, char **envp)
{
	return syscall(SYS_execve, path, argv, envp, 0, 0, (long)OWN_CALL) < 0 ? -errno : 0;
}

/* Executes @path in the emulator, with @name as its first argument. Returns -errno. */
static long emulate(const char *path, char *name, char **rest, char *inserted[3], char **envp)
{
	char *argv[ARGUMENTS_MAX], options[][8] = { "-plugin", "-0", "-seed" };
	unsigned n = 0;
	union {
		const char *in;
		char *out;
	} u = { .in = path };

	argv[n++] = emulator;
	argv[n++] = options[0];
	argv[n++] = plugin_option;
	if (*seed) {
		argv[n++] = options[2];
		argv[n++] = seed;
	}
	argv[n++] = options[1];
	argv[n++] = name;
	argv[n++] = u.out;
	for (unsigned i = 0; i < 3 && inserted[i]; i++)
		argv[n++] = inserted[i];
	for (; rest && *rest; rest++) {
		if (n + 1 >= ARGUMENTS_MAX)
			return -E2BIG;
		argv[n++] = *rest;
	}
	argv[n] = NULL;
	return execute(emulator, argv, envp);
}

/* Executes a script by its interpreter, which may be a script no more. */
static long emulate_script(char *path, char *head, char **argv, char **envp)
{
	char *argument, *interpreter = split_script_line(head, &argument);
	char own_head[PROGRAM_HEAD_SIZE];
	char *inserted[3] = { argument ? argument : path, argument ? path : NULL, NULL };
	char **rest = argv && *argv ? argv + 1 : argv;
	long n;

	if (!interpreter)
		return execute(path, argv, envp);
	n = read_program_head(interpreter, own_head);
	if (get_program_machine(own_head, n) != machine) {
		__atomic_fetch_add(&memory->n_uncounted, 1, __ATOMIC_RELAXED);
		return execute(path, argv, envp);
	}
	return emulate(interpreter, interpreter, rest, inserted, envp);
}

/* Executes @path, whose arguments are those of execve(2). Returns -errno. */
static long execute_program(char *path, char **argv, char **envp)
{
	char head[PROGRAM_HEAD_SIZE];
	char *none[3] = { NULL, NULL, NULL };
	long n;

	if (access(path, X_OK))
		return -errno;
	n = read_program_head(path, head);
	if (n >= 2 && head[0] == '#')
		return emulate_script(path, head, argv, envp);
	if (get_program_machine(head, n) != machine || !argv || !*argv) {
		__atomic_fetch_add(&memory->n_uncounted, 1, __ATOMIC_RELAXED);
		return execute(path, argv, envp);
	}
	return emulate(path, argv[0], argv + 1, none, envp);
}

static void handle_execution(int sig, siginfo_t *info, void *arg)
{
	ucontext_t *context = arg;
	long result;

	(void)sig;
	if (info->si_syscall == SYS_execve)
		result = execute_program((char *)REGISTER(context, FIRST),
		                         (char **)REGISTER(context, SECOND),
		                         (char **)REGISTER(context, THIRD));
	else
		result = -ENOSYS; /* execveat(2): programs fall back on execve(2) */
	REGISTER(context, RESULT) = (__typeof__(REGISTER(context, RESULT)))result;
}

/* ---- start ----------------------------------------------------------------------------------- */

static bool install_filter(void)
{
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 0, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_CALL, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(lines) / sizeof(lines[0]), lines };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

static size_t append_option(size_t at, const char *format, const char *text)
{
	int n = at < sizeof(plugin_option)
	                ? snprintf(plugin_option + at, sizeof(plugin_option) - at, format, text)
	                : 0;

	return n > 0 ? (size_t)n : 0;
}

/* Joins the arguments of the plugin, of which the first is "plugin=FILE", to the option with which
 * QEMU was started. */
static bool join_option(int argc, char **argv, bool *is_filtered)
{
	size_t at = 0;

	*is_filtered = false;
	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "seed=", 5) == 0)
			snprintf(seed, sizeof(seed), "%s", argv[i] + 5);
		if (strncmp(argv[i], "arch=", 5) == 0)
			machine = strcmp(argv[i] + 5, "arm64") == 0 ? EM_AARCH64 : EM_X86_64;
		if (strncmp(argv[i], "plugin=", 7) == 0)
			at += append_option(at, "%s", argv[i] + 7);
		at += append_option(at, ",%s", argv[i]);
		*is_filtered |= strcmp(argv[i], FILTERED) == 0;
	}
	if (!*is_filtered)
		at += append_option(at, ",%s", FILTERED);
	return at < sizeof(plugin_option);
}

void prepare_execution(void)
{
	/* The next program must not begin with a signal that is blocked. */
	struct sigaction action = { .sa_sigaction = handle_execution,
		                    .sa_flags = SA_SIGINFO | SA_NODEFER };
	sigset_t set;

	(void)sigaction(SIGSYS, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

bool follow_executions(struct simulated_memory *shared, int argc, char **argv)
{
	long n = readlink("/proc/self/exe", emulator, sizeof(emulator) - 1);
	bool is_filtered;

	memory = shared;
	if (n <= 0 || !join_option(argc, argv, &is_filtered))
		return false;
	return is_filtered || install_filter();
}
