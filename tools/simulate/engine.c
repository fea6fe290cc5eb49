/* SPDX-License-Identifier: MIT */
#include "simulate/simulate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "simulate/program.h"

/* ---- programs -------------------------------------------------------------------------------- */

static bool is_executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool find_program(const char *name, char path[ENGINE_PATH_MAX])
{
	const char *folders = getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(path, ENGINE_PATH_MAX, "%s", name);
		return is_executable(path);
	}
	for (const char *at = folders ? folders : "/usr/bin:/bin"; *at;) {
		size_t len = strcspn(at, ":");

		snprintf(path, ENGINE_PATH_MAX, "%.*s/%s", (int)len, at, name);
		if (len && is_executable(path))
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

/* The machine of program @path, or of the interpreter of a script. */
static unsigned find_machine(const char *path)
{
	char head[PROGRAM_HEAD_SIZE], *argument;
	long n = read_program_head(path, head);
	const char *interpreter = split_script_line(head, &argument);
	char own_head[PROGRAM_HEAD_SIZE];

	if (!interpreter)
		return get_program_machine(head, n);
	n = read_program_head(interpreter, own_head);
	return get_program_machine(own_head, n);
}

/* ---- emulators ------------------------------------------------------------------------------- */

/* Machine code that loops 1,000 times over a load, a store, a decrement and a conditional branch,
 * and then ends: 4,004 instructions. */
static const uint8_t x86_code[] = {
	0xb9, 0xe8, 0x03, 0x00, 0x00, /* mov $1000,%ecx */
	0x8b, 0x04, 0x24,             /* mov (%rsp),%eax */
	0x89, 0x44, 0x24, 0xf8,       /* mov %eax,-8(%rsp) */
	0xff, 0xc9,                   /* dec %ecx */
	0x75, 0xf5,                   /* jnz -11 */
	0xb8, 0x3c, 0x00, 0x00, 0x00, /* mov $60,%eax */
	0x31, 0xff,                   /* xor %edi,%edi */
	0x0f, 0x05                    /* syscall */
};
static const uint8_t arm64_code[] = {
	0x01, 0x7d, 0x80, 0xd2, /* mov x1,#1000 */
	0xe0, 0x03, 0x40, 0xb9, /* ldr w0,[sp] */
	0xe0, 0x03, 0x1f, 0xb8, /* stur w0,[sp,#-16] */
	0x21, 0x04, 0x00, 0xf1, /* subs x1,x1,#1 */
	0xa1, 0xff, 0xff, 0x54, /* b.ne -12 */
	0xa8, 0x0b, 0x80, 0xd2, /* mov x8,#93 */
	0x00, 0x00, 0x80, 0xd2, /* mov x0,#0 */
	0x01, 0x00, 0x00, 0xd4  /* svc #0 */
};
static const uint64_t known_counts[N_SIMULATED] = { 4004, 1000, 1000, 1000, 1 };

static const struct known_machine {
	unsigned machine;
	const char *arch, *emulator;
	const uint8_t *code;
	size_t code_size;
} machines[] = {
	{ EM_X86_64, "x86-64", "qemu-x86_64", x86_code, sizeof(x86_code) },
	{ EM_AARCH64, "arm64", "qemu-aarch64", arm64_code, sizeof(arm64_code) },
};

static const struct known_machine *find_known_machine(unsigned machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

/* Reads what "EMULATOR OPTION" prints. No shell reads the path. */
static void read_answer(const char *emulator, const char *option, char *answer, size_t size)
{
	int ends[2];
	ssize_t got;
	size_t n = 0;
	pid_t pid;

	answer[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (pid == 0) {
		(void)dup2(ends[1], STDOUT_FILENO);
		execl(emulator, emulator, option, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while (n + 1 < size && (got = read(ends[0], answer + n, size - 1 - n)) > 0)
		n += (size_t)got;
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	answer[n] = '\0';
}

/* The version in "qemu-x86_64 version 7.2.22 (Debian ...)". */
static void read_version(struct engine *e)
{
	char answer[512];
	const char *at;

	read_answer(e->path, "--version", answer, sizeof(answer));
	at = strstr(answer, "version ");
	snprintf(e->version, sizeof(e->version), "%.*s", at ? (int)strcspn(at + 8, " \n(") : 0,
	         at ? at + 8 : "");
}

/* The plugin is in the folder of pfm, or in that of the adapters. */
static bool find_plugin(struct engine *e)
{
	const char *folder = getenv("PERFMON_ADAPTERS");
	/* QEMU 9 refuses plugins of version 1. */
	const int version = atoi(e->version) >= 9 ? 2 : 1;
	char own[ENGINE_PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[n > 0 ? n : 0] = '\0';
	if (strrchr(own, '/'))
		*strrchr(own, '/') = '\0';
	snprintf(e->plugin, sizeof(e->plugin), "%.3900s/perfmon-simulate-%d.so", own, version);
	if (access(e->plugin, R_OK) == 0)
		return true;
	snprintf(e->plugin, sizeof(e->plugin), "%.3900s/perfmon-simulate-%d.so",
	         folder && *folder ? folder : PERFMON_ADAPTERS, version);
	return access(e->plugin, R_OK) == 0;
}

bool find_engine(struct engine *e, const char *name, char message[MESSAGE_MAX])
{
	char path[ENGINE_PATH_MAX], help[16384];
	const struct known_machine *m;

	if (!find_program(name, path)) {
		snprintf(message, MESSAGE_MAX, "%.400s: no such program", name);
		return false;
	}
	m = find_known_machine(find_machine(path));
	if (!m) {
		snprintf(message, MESSAGE_MAX,
		         "%.400s: expected a program for x86-64 or arm64, or a script of one",
		         path);
		return false;
	}
	e->arch = m->arch;
	e->machine = m->machine;
	if (!find_program(m->emulator, e->path)) {
		snprintf(message, MESSAGE_MAX,
		         "%s is missing: install QEMU's user mode "
		         "emulators (Debian: qemu-user)",
		         m->emulator);
		return false;
	}
	read_version(e);
	read_answer(e->path, "--help", help, sizeof(help));
	if (!strstr(help, "-plugin")) {
		snprintf(message, MESSAGE_MAX,
		         "%.200s has no plugins: install one that has (Debian: "
		         "qemu-user instead of qemu-user-static)",
		         e->path);
		return false;
	}
	if (find_plugin(e))
		return true;
	snprintf(message, MESSAGE_MAX, "%.400s is missing: install pfm completely", e->plugin);
	return false;
}

/* ---- the test -------------------------------------------------------------------------------- */

enum { CODE_ADDRESS = 0x400000 };

/* Writes a program of @m: one segment with headers and code. */
static bool write_test_program(const struct known_machine *m, int fd)
{
	const uint64_t begin = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
	const Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
		                               EV_CURRENT },
		                  .e_type = ET_EXEC,
		                  .e_machine = (Elf64_Half)m->machine,
		                  .e_version = EV_CURRENT,
		                  .e_entry = CODE_ADDRESS + begin,
		                  .e_phoff = sizeof(head),
		                  .e_ehsize = sizeof(head),
		                  .e_phentsize = sizeof(Elf64_Phdr),
		                  .e_phnum = 1 };
	const Elf64_Phdr segment = { .p_type = PT_LOAD,
		                     .p_flags = PF_R | PF_X,
		                     .p_vaddr = CODE_ADDRESS,
		                     .p_paddr = CODE_ADDRESS,
		                     .p_filesz = begin + m->code_size,
		                     .p_memsz = begin + m->code_size,
		                     .p_align = 0x10000 };

	return write(fd, &head, sizeof(head)) == (ssize_t)sizeof(head) &&
	       write(fd, &segment, sizeof(segment)) == (ssize_t)sizeof(segment) &&
	       write(fd, m->code, m->code_size) == (ssize_t)m->code_size && !fchmod(fd, 0700);
}

/* Compares the counts of the test program with the known ones. */
static bool check_counts(const struct engine *e, const struct simulated_run *run,
                         char message[MESSAGE_MAX])
{
	for (unsigned i = 0; i < N_SIMULATED; i++)
		if (run->counts[i] != known_counts[i]) {
			snprintf(message, MESSAGE_MAX,
			         "%.200s %s miscounts the test program: expected %llu of event %u, "
			         "got %llu",
			         e->path, e->version, (unsigned long long)known_counts[i], i,
			         (unsigned long long)run->counts[i]);
			return false;
		}
	return true;
}

bool test_engine(const struct engine *e, char message[MESSAGE_MAX])
{
	struct engine all = *e;
	char path[] = "/tmp/pfm-simulate-XXXXXX";
	char *command[] = { path, NULL };
	struct simulated_run run;
	int fd = mkostemp(path, O_CLOEXEC);
	bool is_written = fd >= 0 && write_test_program(find_known_machine(e->machine), fd), ok;

	if (fd >= 0)
		close(fd);
	if (!is_written)
		snprintf(message, MESSAGE_MAX, "%s: %s", path, strerror(errno));
	all.has_accesses = true;
	all.places = NULL;
	all.regions = NULL;
	ok = is_written && run_simulated(&all, command, &run, message) &&
	     check_counts(e, &run, message);
	if (fd >= 0)
		unlink(path);
	return ok;
}
