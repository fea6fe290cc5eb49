/* SPDX-License-Identifier: MIT */
/* A plugin of QEMU's user mode emulators that counts instructions, loads, stores, conditional
 * branches and system calls of a program, its threads and its children.
 *
 * The declarations below are our own words for QEMU's plugin interface, as
 * include/qemu/qemu-plugin.h of QEMU 7.2 to 10 describes it; nothing of QEMU is copied or linked.
 * Each instruction calls the plugin: QEMU's additions in generated code lose counts with threads,
 * and counts of blocks are wrong where a signal leaves one. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "simulate/plugin.h"
#include "simulate/shared.h"

/* ---- QEMU's interface ------------------------------------------------------------------------ */

typedef uint64_t qemu_plugin_id_t;
struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*qemu_plugin_tb_fn)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*qemu_plugin_insn_fn)(unsigned vcpu, void *data);
typedef void (*qemu_plugin_mem_fn)(unsigned vcpu, uint32_t info, uint64_t address, void *data);
typedef void (*qemu_plugin_syscall_fn)(qemu_plugin_id_t id, unsigned vcpu, int64_t number,
                                       uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                                       uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
enum { NO_REGISTERS = 0, READS_AND_WRITES = 3 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_fn each);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_insn_fn each,
                                            int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_mem_fn each,
                                      int flags, int accesses, void *data);
bool qemu_plugin_mem_is_store(uint32_t info);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_syscall_fn each);

#define EXPORTED __attribute__((visibility("default")))
/* QEMU 9 refuses version 1, and earlier ones refuse version 2. */
EXPORTED extern int qemu_plugin_version;
int qemu_plugin_version = SIMULATE_PLUGIN_VERSION;
EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
                                 char **argv);

/* ---- threads --------------------------------------------------------------------------------- */

enum { VCPUS = 1 << 14 };

static struct simulated_memory *memory;
static bool is_arm64; /* the emulated program */
/* Loads and stores are counted: they take longer than all the rest. */
static bool has_accesses;
/* Each thread's entry; those of a process that was forked are new. */
static struct simulated_thread *threads[VCPUS];
static struct simulated_thread lost_thread;

static struct simulated_thread *add_thread(unsigned vcpu)
{
	uint32_t n = __atomic_fetch_add(&memory->n_threads, 1, __ATOMIC_RELAXED);

	threads[vcpu % VCPUS] = n < SIMULATED_THREADS ? &memory->threads[n] : &lost_thread;
	return threads[vcpu % VCPUS];
}

static inline struct simulated_thread *get_thread(unsigned vcpu)
{
	struct simulated_thread *t = threads[vcpu % VCPUS];

	return __builtin_expect(t != NULL, 1) ? t : add_thread(vcpu);
}

static void forget_threads(void)
{
	memset(threads, 0, sizeof(threads));
}

/* ---- counting -------------------------------------------------------------------------------- */

static void count_instruction(unsigned vcpu, void *data)
{
	(void)data;
	get_thread(vcpu)->counts[SIMULATED_INSTRUCTIONS]++;
}

static void count_branch(unsigned vcpu, void *data)
{
	struct simulated_thread *t = get_thread(vcpu);

	(void)data;
	t->counts[SIMULATED_INSTRUCTIONS]++;
	t->counts[SIMULATED_BRANCHES]++;
}

/* QEMU executes each repetition as an instruction: those without another instruction between them
 * are one. */
static void count_repeated(unsigned vcpu, void *data)
{
	struct simulated_thread *t = get_thread(vcpu);
	const uint64_t address = (uint64_t)(uintptr_t)data;

	if (t->repeated_at == address && t->repeated_number == t->counts[SIMULATED_INSTRUCTIONS])
		return;
	t->repeated_number = ++t->counts[SIMULATED_INSTRUCTIONS];
	t->repeated_at = address;
}

static void count_access(unsigned vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)address;
	(void)data;
	get_thread(vcpu)
		->counts[qemu_plugin_mem_is_store(info) ? SIMULATED_STORES : SIMULATED_LOADS]++;
}

/* Numbers of execve(2) and execveat(2) of the emulated architecture. */
static bool is_execution(int64_t number)
{
	return is_arm64 ? number == 221 || number == 281 : number == 59 || number == 322;
}

static void count_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1,
                          uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                          uint64_t a7, uint64_t a8)
{
	(void)id, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6;
	(void)a7, (void)a8;
	get_thread(vcpu)->counts[SIMULATED_SYSCALLS]++;
	if (is_execution(number))
		prepare_execution();
}

/* ---- instructions ---------------------------------------------------------------------------- */

static qemu_plugin_insn_fn choose_arm64(const uint8_t *code)
{
	uint32_t w;

	memcpy(&w, code, sizeof(w));
	return (w & 0xff000000) == 0x54000000 || (w & 0x7c000000) == 0x34000000 ? count_branch
	                                                                        : count_instruction;
}

/* Skips the prefixes of the @n bytes at @code. */
static size_t skip_x86_prefixes(const uint8_t *code, size_t n, bool *repeats)
{
	static const uint8_t prefixes[] = { 0x66, 0x67, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0xf0 };
	size_t at = 0;

	*repeats = false;
	for (; at + 1 < n; at++) {
		bool is_rep = code[at] == 0xf2 || code[at] == 0xf3;

		if (!is_rep && (code[at] & 0xf0) != 0x40 &&
		    !memchr(prefixes, code[at], sizeof(prefixes)))
			break;
		*repeats |= is_rep;
	}
	return at;
}

static bool is_x86_string_operation(uint8_t op)
{
	return (op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) ||
	       (op >= 0x6c && op <= 0x6f);
}

static qemu_plugin_insn_fn choose_x86(const uint8_t *code, size_t n)
{
	bool repeats;
	size_t at = skip_x86_prefixes(code, n, &repeats);
	uint8_t op = code[at], second = at + 1 < n ? code[at + 1] : 0;

	if (repeats && is_x86_string_operation(op))
		return count_repeated;
	return (op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3) ||
	                       (op == 0x0f && (second & 0xf0) == 0x80)
	               ? count_branch
	               : count_instruction;
}

static void instrument_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t n = qemu_plugin_tb_n_insns(block);

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
		const uint8_t *code = qemu_plugin_insn_haddr(insn);
		qemu_plugin_insn_fn each = !code ? count_instruction
		                           : is_arm64
		                                   ? choose_arm64(code)
		                                   : choose_x86(code, qemu_plugin_insn_size(insn));

		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, each, NO_REGISTERS, (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
		if (has_accesses)
			qemu_plugin_register_vcpu_mem_cb(insn, count_access, NO_REGISTERS,
			                                 READS_AND_WRITES, NULL);
	}
}

/* ---- start ----------------------------------------------------------------------------------- */

static bool map_memory(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *at;

	if (fd < 0)
		return false;
	at = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return false;
	memory = at;
	memory->version = SIMULATED_VERSION;
	__atomic_fetch_add(&memory->n_programs, 1, __ATOMIC_RELAXED);
	return true;
}

/* The value of argument @name, "NAME=VALUE"; "" without it. */
static const char *get_argument(int argc, char **argv, const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; i < argc; i++)
		if (strncmp(argv[i], name, len) == 0 && argv[i][len] == '=')
			return argv[i] + len + 1;
	return "";
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	has_accesses = *get_argument(argc, argv, "accesses") == '1';
	is_arm64 = strcmp(get_argument(argc, argv, "arch"), "arm64") == 0;
	if (!map_memory(get_argument(argc, argv, "memory")) ||
	    pthread_atfork(NULL, NULL, forget_threads))
		return -1;
	if (!follow_executions(memory, argc, argv))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, instrument_block);
	qemu_plugin_register_vcpu_syscall_cb(id, count_syscall);
	return 0;
}
