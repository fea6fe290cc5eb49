/* SPDX-License-Identifier: MIT */
/* Ten visits of the region "loop", each with two instructions for each of the N rounds. */
#include <stdlib.h>
#include <perfmon/region.h>

enum { VISITS = 10 };

static void loop(unsigned long rounds)
{
#if defined(__x86_64__)
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
#else
	while (rounds--)
		__asm__ volatile("");
#endif
}

int main(int argc, char **argv)
{
	const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;

	for (int i = 0; i < VISITS; i++) {
		pfm_begin_region(PFM_REGION("loop"));
		loop(rounds);
		pfm_end_region(PFM_REGION("loop"));
	}
	return 0;
}
