/* SPDX-License-Identifier: MIT */
/* A program for x86-64 without a C library: its exit status is 0 if the encoder gives the register
 * of coreduo's L2_Lines_In with 8 KiB of stack, 2 if it takes more of the stack. */
#include <perfmon/event.h>

enum { STACK_SIZE = 8192 };
__attribute__((aligned(16))) char stack_memory[2 * STACK_SIZE];

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((volatile char *)to)[i] = ((const char *)from)[i];
	return to;
}

void *memset(void *at, int byte, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((volatile char *)at)[i] = (char)byte;
	return at;
}

__attribute__((used, noreturn)) static void run(void)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);
	int rc = pfm_encode_event(NULL, "coreduo::L2_Lines_In,core=all,prefetch=only", 0, &e,
	                          &error);
	long status = rc != PFMLIB_SUCCESS || e.n_regs != 1 || e.regs[0].value != 0x53d024;

	for (int i = 0; i < STACK_SIZE; i++)
		if (stack_memory[i])
			status = 2;
	for (;;)
		__asm__ volatile("syscall" ::"a"(60L), "D"(status) : "rcx", "r11", "memory");
}

/* The stack begins at the end of the memory. */
__asm__(".globl _start\n_start:\n\tleaq stack_memory+16384(%rip), %rsp\n\tcall run\n");
