/* SPDX-License-Identifier: MIT */
#include "profile/unwind/frame_rules.h"
#include "own_code.h"
#include "profile/symbols/symbols.h"
#include "units.h"

static void words_of_a_copied_stack(void **state)
{
	static const uint8_t bytes[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	const struct frame_memory m = { bytes, 0x1000, sizeof(bytes) };
	uint64_t word = 0, expected;

	(void)state;
	assert_true(frame_read_word(&m, 0x1001, &word));
	memcpy(&expected, bytes + 1, sizeof(expected));
	assert_int_equal(word, expected);
	assert_true(frame_read_word(&m, 0x1008, &word));
	assert_false(frame_read_word(&m, 0x1009, &word));
	assert_false(frame_read_word(&m, 0xfff, &word));
	assert_false(frame_read_word(&m, UINT64_MAX - 3, &word));
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
struct caller {
	enum frame_result result;
	uint64_t expected, found;
};

/* The compiler's own answer is the return address. */
static __attribute__((noinline)) struct caller find_caller(void)
{
	struct caller c = { .expected = (uint64_t)__builtin_return_address(0) };
	struct frame_registers r = { .stack_pointer = 7 };
	struct own_code code;
	struct frame_memory m;
	struct frame_rules *rules;
	bool is_signal = false;

	__asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2\n\tmovq %%rbx, %3"
	                 : "=&r"(r.pc), "=m"(r.values[7]), "=m"(r.values[6]), "=m"(r.values[3]));
	r.known_mask = 1 << 7 | 1 << 6 | 1 << 3;
	m = (struct frame_memory){ (const uint8_t *)r.values[7], r.values[7], 16384 };
	code = find_own_code(r.pc);
	rules = frame_rules_open(code.path, &own_sources);
	c.result = FRAME_NO_RULE;
	if (rules)
		c.result = frame_rules_apply(rules, code.address, &r, &m, &is_signal);
	c.found = r.pc;
	frame_rules_close(rules);
	return c;
}
#endif

static void the_caller_of_a_function(void **state)
{
	(void)state;
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
	struct caller c = find_caller();

	if (c.result == FRAME_NO_RULE)
		skip();
	assert_int_equal(c.result, FRAME_CALLER);
	assert_int_equal(c.found, c.expected);
#else
	skip();
#endif
}

static void files_without_rules(void **state)
{
	(void)state;
	assert_null(frame_rules_open("/etc/passwd", &own_sources));
}

UNIT(profile_frame_rules, cmocka_unit_test(words_of_a_copied_stack),
     cmocka_unit_test(the_caller_of_a_function), cmocka_unit_test(files_without_rules));
