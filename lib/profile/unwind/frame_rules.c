/* SPDX-License-Identifier: MIT */
/* Call frame information, read by libdw and stored as short rules: nearly every register is
 * unchanged, or in memory at a distance from the frame's address (CFA). More complicated rules, in
 * stubs of the linker and frames of signals, stay expressions. Applying a stored rule takes 50 ns,
 * reading one from the file takes microseconds: unwinding 145 samples of 18 frames takes 1 ms
 * instead of 36 ms. */
#include "profile/messages.h"
#include "profile/unwind/frame_rules.h"

#include <stdlib.h>
#include <string.h>
#include "profile/dwarf_library.h"
#include "profile/symbols/file_symbols.h"
#include "profile/symbols/symbols.h"

bool frame_read_word(const struct frame_memory *m, uint64_t address, uint64_t *word)
{
	uint64_t at = address - m->start;

	if (address < m->start || m->size < sizeof(*word) || at > m->size - sizeof(*word))
		return false;
	memcpy(word, m->bytes + at, sizeof(*word));
	return true;
}

#ifdef HAVE_LIBDW

enum { SIMPLE_OPS = 3 };

enum rule_kind {
	AT_CFA,      /* in memory at CFA + offset */
	IS_CFA,      /* CFA + offset */
	IN_REGISTER, /* in register @base_register */
	EXPRESSION   /* what @ops compute */
};

struct register_rule {
	uint8_t kind, number, base_register;
	uint64_t offset;
	const Dwarf_Op *ops;
	size_t n_ops;
	Dwarf_Op simple[SIMPLE_OPS]; /* ops points here, or to memory of libdw if it is longer */
};

struct frame_rule {
	uint64_t address;
	bool exists, is_signal, is_outermost;
	uint8_t return_register;
	struct register_rule cfa; /* IN_REGISTER: base_register + offset */
	uint64_t same;            /* bits of registers that the function did not change */
	unsigned n;
	struct register_rule registers[];
};

struct frame_rules {
	struct profile_messages *messages;
	struct dwarf_file file;
	Dwarf_CFI *cfi; /* or NULL */
	Dwarf_Addr cfi_bias;
	struct frame_rule **slots;
	size_t n_rules, n_slots; /* slots: a power of two, or 0 */
};

struct frame_rules *frame_rules_open(const char *path, const struct symbol_sources *sources)
{
	struct frame_rules *r;

	if (!dwarf_library_load())
		return NULL;
	r = calloc(1, sizeof(*r));
	if (r)
		r->messages = sources->messages;
	else
		report_missing_names(sources->messages);
	if (r && dwarf_file_open(&r->file, path, sources)) {
		/* Debug files can be large and compressed, so they are read only if needed. */
		r->cfi = dw.dwfl_module_eh_cfi(r->file.module, &r->cfi_bias);
		if (!r->cfi)
			r->cfi = dw.dwfl_module_dwarf_cfi(r->file.module, &r->cfi_bias);
		return r;
	}
	free(r);
	return NULL;
}

void frame_rules_close(struct frame_rules *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_slots; i++)
		free(r->slots[i]);
	free(r->slots);
	dwarf_file_close(&r->file);
	free(r);
}

/* ---- from libdw to rules --------------------------------------------------------------------- */

/* Copies short expressions, which are in memory of the caller. */
static void set_expression(struct register_rule *rule, const Dwarf_Op *ops, size_t n)
{
	rule->kind = EXPRESSION;
	rule->n_ops = n;
	rule->ops = ops;
	if (n <= SIMPLE_OPS)
		memcpy(rule->simple, ops, n * sizeof(*ops));
}

/* The rule of a register that @ops compute. */
static void set_rule(struct register_rule *rule, const Dwarf_Op *ops, size_t n)
{
	bool is_value = n && ops[n - 1].atom == DW_OP_stack_value;
	size_t n_left = n - is_value;

	if (n_left >= 1 && n_left <= 2 && ops[0].atom == DW_OP_call_frame_cfa &&
	    (n_left == 1 || ops[1].atom == DW_OP_plus_uconst)) {
		rule->kind = is_value ? IS_CFA : AT_CFA;
		rule->offset = n_left == 2 ? ops[1].number : 0;
	} else if (n == 1 && ops[0].atom == DW_OP_regx && ops[0].number < FRAME_REGISTERS) {
		rule->kind = IN_REGISTER;
		rule->base_register = (uint8_t)ops[0].number;
	} else {
		set_expression(rule, ops, n);
	}
}

/* Reads how the frame's address is computed. False if it is unknown. */
static bool read_cfa(Dwarf_Frame *frame, struct register_rule *cfa)
{
	Dwarf_Op *ops;
	size_t n;

	if (dw.dwarf_frame_cfa(frame, &ops, &n) != 0 || n == 0)
		return false;
	if (n == 1 && ops[0].atom == DW_OP_bregx && ops[0].number < FRAME_REGISTERS) {
		cfa->kind = IN_REGISTER;
		cfa->base_register = (uint8_t)ops[0].number;
		cfa->offset = ops[0].number2;
	} else if (n == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		cfa->kind = IN_REGISTER;
		cfa->base_register = (uint8_t)(ops[0].atom - DW_OP_breg0);
		cfa->offset = ops[0].number;
	} else {
		set_expression(cfa, ops, n);
	}
	return true;
}

static struct frame_rule *read_frame(Dwarf_Frame *frame)
{
	struct register_rule list[FRAME_REGISTERS];
	struct frame_rule head = { .exists = true }, *rule;
	bool is_signal = false;
	int return_register = dw.dwarf_frame_info(frame, NULL, NULL, &is_signal);

	head.is_signal = is_signal;
	head.exists = return_register >= 0 && return_register < FRAME_REGISTERS &&
	              read_cfa(frame, &head.cfa);
	head.return_register = head.exists ? (uint8_t)return_register : 0;
	for (unsigned i = 0; head.exists && i < FRAME_REGISTERS; i++) {
		Dwarf_Op simple[SIMPLE_OPS], *ops = NULL;
		size_t n = 0;

		if (dw.dwarf_frame_register(frame, (int)i, simple, &ops, &n) != 0)
			continue;
		if (n == 0 && !ops) {
			head.same |= (uint64_t)1 << i;
		} else if (n == 0) {
			head.is_outermost |= i == head.return_register;
		} else {
			list[head.n] = (struct register_rule){ .number = (uint8_t)i };
			set_rule(&list[head.n++], ops, n);
		}
	}
	rule = malloc(sizeof(*rule) + head.n * sizeof(list[0]));
	if (!rule)
		return NULL;
	*rule = head;
	if (head.n)
		memcpy(rule->registers, list, head.n * sizeof(list[0]));
	return rule;
}

static void use_copied_ops(struct register_rule *rule)
{
	if (rule->kind == EXPRESSION && rule->n_ops <= SIMPLE_OPS)
		rule->ops = rule->simple;
}

/* Reads the rule of @address; if the file has no rule for it, adds one with @exists false. NULL
 * without memory. */
static struct frame_rule *read_rule(struct frame_rules *r, uint64_t address)
{
	Dwarf_Frame *frame = NULL;
	struct frame_rule *rule;

	if (!r->cfi ||
	    dw.dwarf_cfi_addrframe(r->cfi, address + r->file.bias - r->cfi_bias, &frame) != 0)
		frame = NULL;
	rule = frame ? read_frame(frame) : calloc(1, sizeof(*rule));
	free(frame);
	if (!rule)
		return NULL;
	rule->address = address;
	use_copied_ops(&rule->cfa);
	for (unsigned k = 0; k < rule->n; k++)
		use_copied_ops(&rule->registers[k]);
	return rule;
}

/* ---- rules that were read -------------------------------------------------------------------- */

static struct frame_rule **find_frame_rule_slot(struct frame_rule **slots, size_t n,
                                                uint64_t address)
{
	size_t at = (size_t)(address * 0x9e3779b97f4a7c15u >> 20) & (n - 1);

	while (slots[at] && slots[at]->address != address)
		at = (at + 1) & (n - 1);
	return &slots[at];
}

static bool grow_slots(struct frame_rules *r)
{
	size_t n = r->n_slots ? r->n_slots * 2 : 256;
	struct frame_rule **slots = calloc(n, sizeof(struct frame_rule *));

	if (!slots)
		return false;
	for (size_t i = 0; i < r->n_slots; i++)
		if (r->slots[i])
			*find_frame_rule_slot(slots, n, r->slots[i]->address) = r->slots[i];
	free(r->slots);
	r->slots = slots;
	r->n_slots = n;
	return true;
}

static const struct frame_rule *find_rule(struct frame_rules *r, uint64_t address)
{
	struct frame_rule **slot;

	if (r->n_rules * 2 >= r->n_slots && !grow_slots(r)) {
		report_missing_names(r->messages);
		return NULL;
	}
	slot = find_frame_rule_slot(r->slots, r->n_slots, address);
	if (*slot)
		return *slot;
	*slot = read_rule(r, address);
	r->n_rules += *slot != NULL;
	if (!*slot)
		report_missing_names(r->messages);
	return *slot;
}

/* ---- expressions ----------------------------------------------------------------------------- */

enum { STACK_DEPTH = 64 };

struct expression_machine {
	const struct frame_registers *registers;
	const struct frame_memory *memory;
	uint64_t cfa;
	uint64_t stack[STACK_DEPTH];
	unsigned stack_depth;
};

static bool push_value(struct expression_machine *m, uint64_t value)
{
	if (m->stack_depth == STACK_DEPTH)
		return false;
	m->stack[m->stack_depth++] = value;
	return true;
}

static bool get_register(const struct frame_registers *r, uint64_t number, uint64_t *value)
{
	if (number >= FRAME_REGISTERS || !(r->known_mask >> number & 1))
		return false;
	*value = r->values[number];
	return true;
}

static bool push_register(struct expression_machine *m, uint64_t number, uint64_t offset)
{
	uint64_t value;

	return get_register(m->registers, number, &value) && push_value(m, value + offset);
}

/* Replaces the two topmost numbers of the stack by the result of @atom. */
static bool compute_binary(struct expression_machine *m, unsigned atom)
{
	uint64_t b, *a;
	int64_t x, y;

	if (m->stack_depth < 2)
		return false;
	b = m->stack[--m->stack_depth];
	a = &m->stack[m->stack_depth - 1];
	x = (int64_t)*a;
	y = (int64_t)b;
	switch (atom) {
	case DW_OP_and: *a &= b; break;
	case DW_OP_or: *a |= b; break;
	case DW_OP_xor: *a ^= b; break;
	case DW_OP_plus: *a += b; break;
	case DW_OP_minus: *a -= b; break;
	case DW_OP_mul: *a *= b; break;
	case DW_OP_shl: *a = b < 64 ? *a << b : 0; break;
	case DW_OP_shr: *a = b < 64 ? *a >> b : 0; break;
	case DW_OP_shra: *a = (uint64_t)(x >> (b < 64 ? b : 63)); break;
	case DW_OP_eq: *a = x == y; break;
	case DW_OP_ge: *a = x >= y; break;
	case DW_OP_gt: *a = x > y; break;
	case DW_OP_le: *a = x <= y; break;
	case DW_OP_lt: *a = x < y; break;
	case DW_OP_ne: *a = x != y; break;
	default: return false;
	}
	return true;
}

/* Executes an operation on the topmost numbers of the stack. */
static bool compute_stack(struct expression_machine *m, unsigned atom)
{
	uint64_t top;

	if (m->stack_depth == 0)
		return false;
	top = m->stack[m->stack_depth - 1];
	switch (atom) {
	case DW_OP_dup: return push_value(m, top);
	case DW_OP_drop: m->stack_depth--; return true;
	case DW_OP_over: return m->stack_depth >= 2 && push_value(m, m->stack[m->stack_depth - 2]);
	case DW_OP_swap:
		if (m->stack_depth < 2)
			return false;
		m->stack[m->stack_depth - 1] = m->stack[m->stack_depth - 2];
		m->stack[m->stack_depth - 2] = top;
		return true;
	case DW_OP_deref: return frame_read_word(m->memory, top, &m->stack[m->stack_depth - 1]);
	case DW_OP_neg: m->stack[m->stack_depth - 1] = 0 - top; return true;
	case DW_OP_not: m->stack[m->stack_depth - 1] = ~top; return true;
	default: return compute_binary(m, atom);
	}
}

static bool run_operation(struct expression_machine *m, const Dwarf_Op *op)
{
	unsigned atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push_value(m, atom - DW_OP_lit0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return push_register(m, atom - DW_OP_breg0, op->number);
	if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
		return push_register(m, atom - DW_OP_reg0, 0);
	switch (atom) {
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts: return push_value(m, op->number);
	case DW_OP_bregx: return push_register(m, op->number, op->number2);
	case DW_OP_regx: return push_register(m, op->number, 0);
	case DW_OP_call_frame_cfa: return push_value(m, m->cfa);
	case DW_OP_plus_uconst:
		if (m->stack_depth)
			m->stack[m->stack_depth - 1] += op->number;
		return m->stack_depth > 0;
	case DW_OP_nop:
	case DW_OP_stack_value: return true;
	default: return compute_stack(m, atom);
	}
}

static bool is_register_operation(unsigned atom)
{
	return atom == DW_OP_regx || (atom >= DW_OP_reg0 && atom <= DW_OP_reg31);
}

/* Computes @ops. @is_location: the result is the address of the value, unless they say
 * otherwise. */
static bool evaluate_rule(struct expression_machine *m, const struct register_rule *rule,
                          bool is_location, uint64_t *value)
{
	unsigned last = 0;

	m->stack_depth = 0;
	for (size_t i = 0; i < rule->n_ops; i++) {
		last = rule->ops[i].atom;
		if (!run_operation(m, &rule->ops[i]))
			return false;
	}
	if (m->stack_depth == 0)
		return false;
	*value = m->stack[m->stack_depth - 1];
	if (!is_location || last == DW_OP_stack_value || is_register_operation(last))
		return true;
	return frame_read_word(m->memory, *value, value);
}

static bool compute_register(struct expression_machine *m, const struct register_rule *rule,
                             uint64_t *value)
{
	switch (rule->kind) {
	case AT_CFA: return frame_read_word(m->memory, m->cfa + rule->offset, value);
	case IS_CFA: *value = m->cfa + rule->offset; return true;
	case IN_REGISTER: return get_register(m->registers, rule->base_register, value);
	default: return evaluate_rule(m, rule, true, value);
	}
}

static bool compute_cfa(struct expression_machine *m, const struct register_rule *rule)
{
	uint64_t base;

	if (rule->kind != IN_REGISTER)
		return evaluate_rule(m, rule, false, &m->cfa);
	if (!get_register(m->registers, rule->base_register, &base))
		return false;
	m->cfa = base + rule->offset;
	return true;
}

enum frame_result frame_rules_apply(struct frame_rules *rules, uint64_t address,
                                    struct frame_registers *registers,
                                    const struct frame_memory *memory, bool *is_signal)
{
	const struct frame_rule *rule = find_rule(rules, address);
	struct expression_machine m = { .registers = registers, .memory = memory };
	struct frame_registers caller;

	if (!rule || !rule->exists)
		return FRAME_NO_RULE;
	*is_signal = rule->is_signal;
	if (rule->is_outermost)
		return FRAME_OUTERMOST;
	if (!compute_cfa(&m, &rule->cfa))
		return FRAME_LOST;
	caller = *registers;
	caller.known_mask &= rule->same;
	caller.values[registers->stack_pointer] = m.cfa;
	caller.known_mask |= (uint64_t)1 << registers->stack_pointer;
	for (unsigned i = 0; i < rule->n; i++) {
		const struct register_rule *one = &rule->registers[i];

		caller.known_mask &= ~((uint64_t)1 << one->number);
		if (compute_register(&m, one, &caller.values[one->number]))
			caller.known_mask |= (uint64_t)1 << one->number;
	}
	if (!get_register(&caller, rule->return_register, &caller.pc))
		return FRAME_LOST;
	*registers = caller;
	return FRAME_CALLER;
}

#else

struct frame_rules *frame_rules_open(const char *path, const struct symbol_sources *sources)
{
	(void)path;
	(void)sources;
	return NULL;
}

void frame_rules_close(struct frame_rules *rules)
{
	(void)rules;
}

enum frame_result frame_rules_apply(struct frame_rules *rules, uint64_t address,
                                    struct frame_registers *registers,
                                    const struct frame_memory *memory, bool *is_signal)
{
	(void)rules;
	(void)address;
	(void)registers;
	(void)memory;
	(void)is_signal;
	return FRAME_NO_RULE;
}

#endif
