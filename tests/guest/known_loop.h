/* SPDX-License-Identifier: MIT */
/* A loop of four instructions a round, for guests. */
#ifndef PERFMON_TESTS_GUEST_KNOWN_LOOP_H
#define PERFMON_TESTS_GUEST_KNOWN_LOOP_H

__attribute__((noinline)) static void loop(unsigned long rounds)
{
#if defined(__arm__)
	__asm__ volatile("1: nop\n\tnop\n\tsubs %0, %0, #1\n\tbne 1b" : "+r"(rounds) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: nop\n\tnop\n\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
#elif defined(__riscv)
	__asm__ volatile("1: nop\n\tnop\n\taddi %0, %0, -1\n\tbnez %0, 1b" : "+r"(rounds));
#elif defined(__powerpc__)
	__asm__ volatile("mtctr %0\n1: nop\n\tnop\n\tnop\n\tbdnz 1b" : "+r"(rounds) : : "ctr");
#else
	while (rounds--)
		__asm__ volatile("");
#endif
}

#endif
