/* SPDX-License-Identifier: MIT */
/* A plugin of QEMU's user mode emulators that counts instructions, loads, stores, conditional
 * branches and system calls of a program, its threads and its children.
 *
 * The declarations below are our own words for QEMU's plugin interface, as
 * include/qemu/qemu-plugin.h of QEMU 7.2 to 10 describes it; nothing of QEMU is copied or linked.
 *
 * QEMU translates blocks of instructions. A block is divided where an instruction may fault, since
 * a signal leaves it there: each part is counted as a whole, when it begins. As long as a process
 * has one thread, generated code adds, which takes less than half of the time of calls. Such
 * additions lose counts with threads: before a thread starts, all blocks are translated again, and
 * each part calls the plugin. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "region/simulated.h"
#include "simulate/instructions.h"
#include "simulate/places.h"
#include "simulate/plugin.h"
#include "simulate/shared.h"

/* ---- QEMU's interface ------------------------------------------------------------------------ */

typedef uint64_t qemu_plugin_id_t;
struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*qemu_plugin_fn)(qemu_plugin_id_t id);
typedef void (*qemu_plugin_tb_fn)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*qemu_plugin_insn_fn)(unsigned vcpu, void *data);
typedef void (*qemu_plugin_mem_fn)(unsigned vcpu, uint32_t info, uint64_t address, void *data);
typedef void (*qemu_plugin_syscall_fn)(qemu_plugin_id_t id, unsigned vcpu, int64_t number,
                                       uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                                       uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
enum { NO_REGISTERS = 0, READS_AND_WRITES = 3, ADDITION = 0 };

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
const char *qemu_plugin_path_to_binary(void);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_syscall_fn each);
#if SIMULATE_PLUGIN_VERSION == 1
/* Version 2 adds only to memory of QEMU's own, which a signal that ends the process takes away. */
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int operation,
                                                void *at, uint64_t number);
void qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_fn done);
#endif

#define EXPORTED __attribute__((visibility("default")))
/* QEMU 9 refuses version 1, and earlier ones refuse version 2. */
EXPORTED extern int qemu_plugin_version;
int qemu_plugin_version = SIMULATE_PLUGIN_VERSION;
EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
                                 char **argv);

/* ---- threads --------------------------------------------------------------------------------- */

enum { VCPUS = 1 << 14 };

static struct simulated_memory *memory;
static const char *memory_path;
static bool is_arm64; /* the emulated program */
/* Loads and stores are counted: they take longer than all the rest. */
static bool has_accesses;
/* Each instruction is counted. */
static bool has_places;
/* The process has one thread, and generated code counts in its page. */
static bool is_single;
static struct simulated_thread *process_counts;
/* Each thread's entry; those of a process that was forked are new. The first has the page. */
static struct simulated_thread *threads[VCPUS];
static struct simulated_thread lost_thread;
static bool is_page_taken;
/* The number that QEMU adds to addresses of the program. */
static uintptr_t address_base;

static struct simulated_thread *add_thread(unsigned vcpu)
{
	struct simulated_thread *t = process_counts;

	if (__atomic_exchange_n(&is_page_taken, true, __ATOMIC_RELAXED)) {
		uint32_t n = __atomic_fetch_add(&memory->n_threads, 1, __ATOMIC_RELAXED);

		t = n < SIMULATED_THREADS ? &memory->threads[n] : &lost_thread;
	}
	threads[vcpu % VCPUS] = t;
	return t;
}

static inline struct simulated_thread *get_thread(unsigned vcpu)
{
	struct simulated_thread *t = is_single ? process_counts : threads[vcpu % VCPUS];

	return __builtin_expect(t != NULL, 1) ? t : add_thread(vcpu);
}

/* Maps a page of counts for this process at @at, or with NULL anywhere. */
static bool map_process_counts(void *at)
{
	const uint32_t n = __atomic_fetch_add(&memory->n_processes, 1, __ATOMIC_RELAXED);
	const size_t from = offsetof(struct simulated_memory, processes) +
	                    (size_t)(n % SIMULATED_PROCESSES) * sizeof(union simulated_process);
	int fd = open(memory_path, O_RDWR | O_CLOEXEC);
	void *mapped = mmap(at, sizeof(union simulated_process), PROT_READ | PROT_WRITE,
	                    MAP_SHARED | (at ? MAP_FIXED : 0), fd, (off_t)from);

	if (fd >= 0)
		close(fd);
	if (mapped == MAP_FAILED)
		return false;
	process_counts = mapped;
	return true;
}

/* A process that has changed its root no longer finds the file: its counts are lost. */
static void begin_child(void)
{
	memset(threads, 0, sizeof(threads));
	is_page_taken = false;
	if (map_process_counts(process_counts))
		return;
	__atomic_fetch_add(&memory->n_uncounted, 1, __ATOMIC_RELAXED);
	(void)mmap(process_counts, sizeof(union simulated_process), PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* ---- counting -------------------------------------------------------------------------------- */

enum { EMULATED_PAGE = 4096, X86_INSN_MAX = 15 };

/* A part of a block: instructions that are executed together, and the one before them. */
struct part {
	struct qemu_plugin_insn *first;
	struct qemu_plugin_insn *before;      /* may fault */
	struct simulated_place *place_before; /* its place, NULL: none */
	uint32_t n, n_branches;               /* a branch is the last of its block */
};

/* The number of instructions and the branch of a part as a pointer. */
static void *pack_part(const struct part *p)
{
	return (void *)((uintptr_t)p->n << 1 | p->n_branches);
}

static void count_part(unsigned vcpu, void *data)
{
	struct simulated_thread *t = get_thread(vcpu);
	const uintptr_t packed = (uintptr_t)data;

	t->counts[SIMULATED_INSTRUCTIONS] += packed >> 1;
	t->counts[SIMULATED_BRANCHES] += packed & 1;
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

/* Threads share the places of a program. */
static void count_place(unsigned vcpu, void *data)
{
	struct simulated_place *place = data;

	(void)vcpu;
	__atomic_fetch_add(&place->count, 1, __ATOMIC_RELAXED);
}

/* Counts a repeated instruction if count_repeated() does. */
static void count_repeated_place(unsigned vcpu, void *data)
{
	struct simulated_place *place = data;
	struct simulated_thread *t = get_thread(vcpu);
	const uint64_t before = t->counts[SIMULATED_INSTRUCTIONS];

	count_repeated(vcpu, (void *)(uintptr_t)place->address);
	if (t->counts[SIMULATED_INSTRUCTIONS] != before)
		count_place(vcpu, place);
}

static void count_access(unsigned vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)address;
	(void)data;
	get_thread(vcpu)
		->counts[qemu_plugin_mem_is_store(info) ? SIMULATED_STORES : SIMULATED_LOADS]++;
}

/* ---- system calls ---------------------------------------------------------------------------- */

enum { CLONE3 = 435 }; /* its flags are in memory */

/* Numbers of execve(2) and execveat(2) of the emulated architecture. */
static bool is_execution(int64_t number)
{
	return is_arm64 ? number == 221 || number == 281 : number == 59 || number == 322;
}

/* mmap(2), munmap(2), mremap(2). */
static bool changes_mappings(int64_t number)
{
	return is_arm64 ? number == 222 || number == 215 || number == 216
	                : number == 9 || number == 11 || number == 25;
}

static bool is_clone(int64_t number)
{
	return number == (is_arm64 ? 220 : 56);
}

/* QEMU executes vfork(2) as fork(2). */
static bool has_thread_flags(int64_t flags)
{
	return (flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM;
}

/* True if the system call may start a thread. */
static bool may_start_thread(const struct known_registers *known)
{
	return known->number == UNKNOWN_NUMBER || known->number == CLONE3 ||
	       (is_clone(known->number) &&
	        (known->first == UNKNOWN_NUMBER || has_thread_flags(known->first)));
}

/* Writes the counts to the program's memory at @at. */
static void give_counts(const struct simulated_thread *t, uint64_t at)
{
	if (at)
		memcpy((void *)(address_base + (uintptr_t)at), t->counts,
		       SIMULATED_COUNTS * sizeof(*t->counts));
}

static void count_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1,
                          uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                          uint64_t a7, uint64_t a8)
{
	(void)id, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
	get_thread(vcpu)->counts[SIMULATED_SYSCALLS]++;
	if (number == SIMULATED_MARK)
		give_counts(get_thread(vcpu), a1);
	if (is_execution(number))
		prepare_execution();
	if (changes_mappings(number))
		forget_mappings();
	if (is_single && is_clone(number) && has_thread_flags((int64_t)a1))
		__atomic_fetch_add(&memory->n_raced, 1, __ATOMIC_RELAXED);
}

/* ---- additions in generated code ------------------------------------------------------------- */

#if SIMULATE_PLUGIN_VERSION == 1

enum { CAN_ADD = 1 };

static void register_counting(qemu_plugin_id_t id);

static void add_part(const struct part *p)
{
	uint64_t *counts = process_counts->counts;

	qemu_plugin_register_vcpu_insn_exec_inline(p->first, ADDITION,
	                                           &counts[SIMULATED_INSTRUCTIONS], p->n);
	if (p->n_branches)
		qemu_plugin_register_vcpu_insn_exec_inline(
			p->first, ADDITION, &counts[SIMULATED_BRANCHES], p->n_branches);
}

/* QEMU discards its blocks before it executes the system call that ends the one that is
 * translated. */
static void expect_threads(qemu_plugin_id_t id)
{
	is_single = false;
	qemu_plugin_reset(id, register_counting);
}

#else

enum { CAN_ADD = 0 };

static void add_part(const struct part *p)
{
	(void)p;
}

static void expect_threads(qemu_plugin_id_t id)
{
	(void)id;
}

#endif

/* ---- instructions ---------------------------------------------------------------------------- */

static void register_place(struct qemu_plugin_insn *insn, struct simulated_place *place)
{
	if (place)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, count_place, NO_REGISTERS, place);
}

/* Makes @insn the first of its part, unless that has one. It begins after the one before it has
 * ended without a fault. */
static void join_part(struct part *p, struct qemu_plugin_insn *insn)
{
	if (p->first)
		return;
	p->first = insn;
	register_place(insn, p->place_before);
}

static void end_part(struct part *p)
{
	if (p->n && !p->first)
		join_part(p, p->before);
	if (p->n && is_single)
		add_part(p);
	else if (p->n)
		qemu_plugin_register_vcpu_insn_exec_cb(p->first, count_part, NO_REGISTERS,
		                                       pack_part(p));
	*p = (struct part){ .n = 0 };
}

/* QEMU removes the last instruction of a block again if it crosses the end of a page. */
static bool may_be_removed(const struct qemu_plugin_insn *insn)
{
	return !is_arm64 &&
	       qemu_plugin_insn_vaddr(insn) % EMULATED_PAGE + X86_INSN_MAX > EMULATED_PAGE;
}

/* An instruction that may fault is counted when the next one of its block begins: processors do not
 * count those that fault. The last one of a block has no next one, and is counted when it begins.
 */
static void add_instruction(struct part *p, struct qemu_plugin_insn *insn,
                            const struct instruction_kind *kind, struct simulated_place *place)
{
	if (kind->is_repeated || may_be_removed(insn))
		end_part(p);
	if (kind->is_repeated) {
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, place ? count_repeated_place : count_repeated, NO_REGISTERS,
			place ? (void *)place : (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
		return;
	}
	join_part(p, insn);
	if (kind->is_plain) {
		p->n++;
		register_place(insn, place);
		return;
	}
	end_part(p);
	*p = (struct part){
		.before = insn, .place_before = place, .n = 1, .n_branches = kind->is_branch
	};
}

static struct instruction_kind read_instruction(const struct qemu_plugin_insn *insn,
                                                struct known_registers *known)
{
	const uint8_t *code = qemu_plugin_insn_haddr(insn);
	const size_t size = qemu_plugin_insn_size(insn);

	if (!code)
		return (struct instruction_kind){ .is_plain = false };
	address_base = (uintptr_t)code - (uintptr_t)qemu_plugin_insn_vaddr(insn);
	if (is_arm64) {
		follow_arm64(known, code);
		return classify_arm64(code);
	}
	follow_x86(known, code, size);
	return classify_x86(code, size);
}

static void instrument_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	struct known_registers known = { UNKNOWN_NUMBER, UNKNOWN_NUMBER };
	struct part part = { .n = 0 };
	bool expects_threads = false;

	if (has_places)
		name_program(qemu_plugin_path_to_binary());
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
		const struct instruction_kind kind = read_instruction(insn, &known);

		add_instruction(&part, insn, &kind,
		                has_places ? add_place(qemu_plugin_insn_vaddr(insn),
		                                       qemu_plugin_insn_haddr(insn))
		                           : NULL);
		if (has_accesses)
			qemu_plugin_register_vcpu_mem_cb(insn, count_access, NO_REGISTERS,
			                                 READS_AND_WRITES, NULL);
		expects_threads |= kind.is_syscall && may_start_thread(&known);
	}
	end_part(&part);
	if (is_single && expects_threads)
		expect_threads(id);
}

/* ---- start ----------------------------------------------------------------------------------- */

static void register_counting(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, instrument_block);
	qemu_plugin_register_vcpu_syscall_cb(id, count_syscall);
}

static bool map_memory(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *at;

	if (fd < 0)
		return false;
	at = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	memory_path = strdup(path);
	if (at == MAP_FAILED || !memory_path)
		return false;
	memory = at;
	memory->version = SIMULATED_VERSION;
	return map_process_counts(NULL);
}

static bool map_places(const char *path)
{
	const uint32_t number = __atomic_fetch_add(&memory->n_programs, 1, __ATOMIC_RELAXED);

	has_places = *path != '\0';
	return !has_places || open_places(path, number);
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
	is_single = CAN_ADD;
	if (!map_memory(get_argument(argc, argv, "memory")) ||
	    !map_places(get_argument(argc, argv, "places")) ||
	    pthread_atfork(NULL, NULL, begin_child))
		return -1;
	if (!follow_executions(memory, argc, argv))
		return -1;
	register_counting(id);
	return 0;
}
