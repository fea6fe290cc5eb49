/* SPDX-License-Identifier: MIT */
#include "profile/unwind/chains.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include "base/grow.h"
#include "profile/unwind/chains_internal.h"
#include "profile/dwarf_library.h"
#include "profile/unwind/frame_rules.h"
#include "profile/messages.h"
#include "profile/symbols/symbols.h"

enum { MAX_UNWOUND = 1024 }; /* frames of a stack */

#define BRANCH_CALL_STACK ((uint64_t)1 << 11) /* of branch_sample_type */

/* ---- making chains --------------------------------------------------------------------------- */

static bool add_chain_word(struct chains *c, uint64_t word)
{
	bool failed = false;

	c->words = base_grow_list(c->words, c->n_words, &c->capacity, sizeof(*c->words), &failed);
	if (!failed)
		c->words[c->n_words++] = word;
	return !failed;
}

/* Begins a chain with the frames that are not user frames, followed by a marker for user frames. */
static bool begin_chain(struct chains *c, const pfm_record_t *record)
{
	const pfm_sample_t *s = &record->body.sample;
	uint32_t mode = record->misc & PFM_MISC_MODE;
	bool is_added = true;

	c->n_words = 0;
	for (uint32_t i = 0; i < s->n_chain && s->chain[i] != PFM_CHAIN_USER && is_added; i++)
		if (s->chain[i] >= PFM_CHAIN_MARKER || c->n_words || mode != PFM_MISC_USER)
			is_added = add_chain_word(c, s->chain[i]);
	if (!s->n_chain && mode != PFM_MISC_USER)
		is_added = add_chain_word(c, mode == PFM_MISC_KERNEL ? PFM_CHAIN_KERNEL
		                                                     : PFM_CHAIN_HYPERVISOR) &&
		           add_chain_word(c, s->ip);
	return is_added && add_chain_word(c, PFM_CHAIN_USER);
}

static void set_record_chain(const struct chains *c, pfm_record_t *record)
{
	record->body.sample.chain = c->words;
	record->body.sample.n_chain = (uint32_t)c->n_words;
	record->has |= PFM_SAMPLE_CHAIN;
}

/* ---- registers ------------------------------------------------------------------------------- */

/* X86_STUB_PUSHED: after jmp of 6 bytes and push of 5. */
enum { X86_STUB_PUSHED = 11 };
enum { X86_SP = 7, X86_FP = 6, X86_PC = 16, ARM64_SP = 31, ARM64_FP = 29, ARM64_LR = 30 };

/* Bits of the kernel's masks of registers. */
#define X86_ABSENT_REGS ((uint64_t)0xf000) /* segments, which 64-bit samples lack */
#define X86_IP_SP       ((uint64_t)0x180)
#define ARM64_REGS      (((uint64_t)1 << 33) - 1)
#define ARM64_KERNEL_PC 32u
#define X86_KERNEL_PC   8u
#define ARM64_ADDRESS   (((uint64_t)1 << 48) - 1) /* no authentication code */

/* DWARF's numbers of the kernel's registers of x86-64. */
static const uint8_t x86_numbers[24] = { 0,   3,   2,   1,   4, 5, 6,  7,  16, 255, 255, 255,
	                                 255, 255, 255, 255, 8, 9, 10, 11, 12, 13,  14,  15 };

static bool is_arm64(uint64_t mask)
{
	return (mask & ARM64_REGS) == ARM64_REGS;
}

static void set_register(struct frame_registers *r, unsigned number, uint64_t value)
{
	r->values[number] = value;
	r->known_mask |= (uint64_t)1 << number;
}

/* Rules of x86-64 can use the address of the instruction: those of linkage stubs do, as the stack
 * grows inside of them. */
static void set_pc(struct frame_registers *r, uint64_t pc)
{
	r->pc = pc;
	if (r->stack_pointer == X86_SP)
		set_register(r, X86_PC, pc);
}

/* Sets the registers of the innermost frame. False for unknown processors. */
static bool read_registers(const pfm_sample_t *s, struct frame_registers *r)
{
	uint64_t mask = s->regs_mask;
	bool arm64 = is_arm64(mask);
	unsigned k = 0;

	*r = (struct frame_registers){ .stack_pointer = arm64 ? ARM64_SP : X86_SP };
	if (s->regs.abi != 2 || !s->regs.values || (mask && s->regs.n == 0))
		return false;
	if (!arm64 && ((mask & X86_ABSENT_REGS) || (mask & X86_IP_SP) != X86_IP_SP || mask >> 24))
		return false;
	for (unsigned bit = 0; bit < 64 && k < s->regs.n; bit++) {
		unsigned number = arm64 ? bit : bit < 24 ? x86_numbers[bit] : 255;
		uint64_t value;

		if (!(mask >> bit & 1))
			continue;
		value = s->regs.values[k++];
		if (bit == (arm64 ? ARM64_KERNEL_PC : X86_KERNEL_PC))
			set_pc(r, value);
		else if (number < FRAME_REGISTERS)
			set_register(r, number, value);
	}
	return r->known_mask >> r->stack_pointer & 1;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Finds the caller by the frame pointer, for code that no file describes. */
static enum frame_result follow_frame_pointer(struct frame_registers *r,
                                              const struct frame_memory *m)
{
	unsigned fp = r->stack_pointer == ARM64_SP ? ARM64_FP : X86_FP;
	uint64_t frame = r->values[fp], pc, outer;

	if (!(r->known_mask >> fp & 1) || frame < r->values[r->stack_pointer] ||
	    !frame_read_word(m, frame, &outer) || !frame_read_word(m, frame + 8, &pc))
		return FRAME_LOST;
	r->values[r->stack_pointer] = frame + 16;
	r->values[fp] = outer;
	r->known_mask = (uint64_t)1 << fp | (uint64_t)1 << r->stack_pointer;
	set_pc(r, pc);
	return FRAME_CALLER;
}

/* Returns from a linkage stub that no rule describes: not every linker writes them. The return
 * address is on top of the stack or, where the second half of a stub of x86-64 has pushed a number,
 * next to it; arm64 has it in a register. */
static enum frame_result return_from_stub(struct frame_registers *r, const struct frame_memory *m,
                                          uint64_t offset_in_stub)
{
	uint64_t sp = r->values[r->stack_pointer], pc;

	if (r->stack_pointer == ARM64_SP) {
		if (!(r->known_mask >> ARM64_LR & 1))
			return FRAME_LOST;
		r->known_mask &= ~((uint64_t)1 << ARM64_LR);
		set_pc(r, r->values[ARM64_LR]);
		return FRAME_CALLER;
	}
	sp += offset_in_stub >= X86_STUB_PUSHED ? 8 : 0;
	if (!frame_read_word(m, sp, &pc))
		return FRAME_LOST;
	r->values[r->stack_pointer] = sp + 8;
	set_pc(r, pc);
	return FRAME_CALLER;
}

struct walk {
	find_code_fn find_code;
	void *arg;
	uint32_t pid;
	struct frame_memory memory;
	struct frame_registers registers;
	bool is_exact; /* the address is that of an instruction, rather than a return address */
};

static enum frame_result go_to_caller(struct walk *w)
{
	uint64_t address = w->registers.pc - !w->is_exact, stack_pointer, offset_in_stub;
	struct mapped_code code = { .object = NULL };
	struct frame_registers *r = &w->registers;
	enum frame_result result = FRAME_NO_RULE;
	bool is_signal = false, is_innermost = w->is_exact;

	stack_pointer = r->values[r->stack_pointer];
	if (!w->find_code(w->arg, w->pid, address, &code))
		return FRAME_LOST;
	if (code.object)
		result = symbols_find_caller(code.object, code.offset, r, &w->memory, &is_signal);
	if (result == FRAME_NO_RULE && code.object && is_innermost &&
	    symbols_find_stub(code.object, code.offset, &offset_in_stub))
		result = return_from_stub(r, &w->memory, offset_in_stub);
	if (result == FRAME_NO_RULE)
		result = follow_frame_pointer(r, &w->memory);
	if (result != FRAME_CALLER)
		return result;
	if (r->stack_pointer == ARM64_SP)
		r->pc &= ARM64_ADDRESS;
	w->is_exact = is_signal;
	if (r->pc == 0)
		return FRAME_OUTERMOST;
	/* Only a leaf function of arm64 has the stack pointer of its caller, and a signal handler
	 * may have a stack of its own. */
	if (!is_signal && (r->values[r->stack_pointer] < stack_pointer ||
	                   (r->values[r->stack_pointer] == stack_pointer && !is_innermost)))
		return FRAME_LOST;
	return FRAME_CALLER;
}

/* Adds markers before the last word, the return from a signal's handler, and after it: neither is a
 * return address, as the kernel made the frame. */
static bool mark_signal(struct chains *c)
{
	uint64_t trampoline = c->words[c->n_words - 1];

	c->words[c->n_words - 1] = PFM_CHAIN_USER;
	return add_chain_word(c, trampoline) && add_chain_word(c, PFM_CHAIN_USER);
}

/* Adds the frames of the copied stack. *@is_whole: the outermost function was reached. */
static bool add_frames(struct chains *c, struct walk *w, bool *is_whole)
{
	enum frame_result result = FRAME_CALLER;
	bool is_added = add_chain_word(c, w->registers.pc);

	for (unsigned n = 1; n < MAX_UNWOUND && is_added && result == FRAME_CALLER; n++) {
		result = go_to_caller(w);
		if (result == FRAME_CALLER && w->is_exact)
			is_added = mark_signal(c);
		if (result == FRAME_CALLER && is_added)
			is_added = add_chain_word(c, w->registers.pc);
	}
	*is_whole = result == FRAME_OUTERMOST;
	return is_added;
}

/* Reports, once, that call frame information cannot be read. */
static void report_missing_library(struct profile_messages *messages)
{
	if (note_profile_topic(messages, TOPIC_UNWINDING))
		show_profile_message(
			messages,
			"libdw is missing: copied stacks are unwound by frame pointers only; "
			"install libdw1 (to build: libdw-dev)");
}

static bool unwind_stack(struct chains *c, pfm_record_t *record, find_code_fn find_code, void *arg)
{
	const pfm_sample_t *s = &record->body.sample;
	struct walk w = {
		.find_code = find_code, .arg = arg, .pid = record->pid, .is_exact = true
	};
	bool is_whole;

	if (!dwarf_library_load())
		report_missing_library(c->messages);
	if (!read_registers(s, &w.registers)) {
		record->truncated |= s->regs.abi ? PFM_TRUNCATED_CHAIN : 0;
		return true;
	}
	w.memory = (struct frame_memory){ .bytes = s->stack,
		                          .start = w.registers.values[w.registers.stack_pointer],
		                          .size = s->stack ? s->stack_used : 0 };
	if (!begin_chain(c, record) || !add_frames(c, &w, &is_whole))
		return false;
	record->truncated |= is_whole ? 0 : PFM_TRUNCATED_CHAIN;
	set_record_chain(c, record);
	return true;
}

/* Makes a chain from the processor's records of calls that have not returned, the newest first.
 * Each branch leads from a caller to the frame before. */
static bool add_branches(struct chains *c, pfm_record_t *record)
{
	const pfm_sample_t *s = &record->body.sample;
	bool is_user = (record->misc & PFM_MISC_MODE) == PFM_MISC_USER;
	/* Readers subtract 1 from addresses of callers, because those are return addresses. These
	 * are not, so 1 is added. */
	bool is_added =
		begin_chain(c, record) && add_chain_word(c, is_user ? s->ip : s->branches[0].to);

	for (uint32_t i = 0; i < s->n_branches && is_added; i++)
		is_added = add_chain_word(c, s->branches[i].from + 1);
	/* The processor keeps at most 8, 16 or 32 records: a chain of that length may be cut. */
	if (s->n_branches == 8 || s->n_branches == 16 || s->n_branches == 32)
		record->truncated |= PFM_TRUNCATED_CHAIN;
	if (is_added)
		set_record_chain(c, record);
	return is_added;
}

bool chains_complete(struct chains *c, pfm_record_t *record, find_code_fn find_code, void *arg)
{
	const pfm_sample_t *s = &record->body.sample;

	if (record->has & PFM_SAMPLE_STACK)
		return unwind_stack(c, record, find_code, arg);
	if (record->has & PFM_SAMPLE_BRANCH && s->branch_type & BRANCH_CALL_STACK && s->n_branches)
		return add_branches(c, record);
	return true;
}

/* The mode of the frames after @marker in a call chain: a value of PFM_MISC_MODE. */
static uint32_t get_marker_mode(uint64_t marker)
{
	/* A typed constant is a case label only where the compiler optimises. */
	if (marker == PFM_CHAIN_KERNEL)
		return PFM_MISC_KERNEL;
	if (marker == PFM_CHAIN_HYPERVISOR)
		return PFM_MISC_HYPERVISOR;
	switch (marker) {
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL: return PFM_MISC_GUEST_KERNEL;
	case (uint64_t)PERF_CONTEXT_GUEST:
	case (uint64_t)PERF_CONTEXT_GUEST_USER: return PFM_MISC_GUEST_USER;
	default: return PFM_MISC_USER;
	}
}

bool walk_frames(struct frame_walk *w)
{
	const pfm_sample_t *s = &w->record->body.sample;
	bool is_first = !w->is_begun;

	if (w->at == 0)
		w->mode = w->record->misc & PFM_MISC_MODE;
	w->is_caller = !is_first;
	for (; w->at < s->n_chain && s->chain[w->at] >= PFM_CHAIN_MARKER; w->at++) {
		w->mode = get_marker_mode(s->chain[w->at]);
		w->is_caller = false;
	}
	w->is_begun = true;
	if (w->at < s->n_chain) {
		w->address = s->chain[w->at++];
		return true;
	}
	w->address = s->ip;
	if (is_first)
		w->mode = w->record->misc & PFM_MISC_MODE;
	return is_first;
}

void chains_free(struct chains *c)
{
	chains_free_waiting(c);
	free(c->words);
}
