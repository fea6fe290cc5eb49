/* SPDX-License-Identifier: MIT */
/* Instructions of 64-bit POWER, POWER8 and later. machines/README.md explains the names. */
#ifndef PERFMON_TRUTH_POWER_H
#define PERFMON_TRUTH_POWER_H

#define POINTER_CONSTRAINT "b" /* register 0 is the number 0 in addresses */
#define LOOP_BEGIN         ""
#define LOOP_END           "addic. %[n], %[n], -1\n bne 1b\n"
#define LOOP_FINISH        ""
#define LOOP_INSTRUCTIONS  2
#define LOOP_CLOBBERS      "9", "10", "lr", "cr0", "xer", "fr0", "fr1", "memory"

#define OP_NOP            "nop\n"
#define OP_ADD            "addi 9, 9, 1\n"
#define OP_MUL            "mulld 9, 9, 9\n"
#define OP_JUMP           "b 2f\n nop\n 2:\n"
#define OP_TEST           "cmpdi %[p], 0\n"
#define TEST_INSTRUCTIONS 1
#define OP_TAKEN          "bne 2f\n nop\n 2:\n"
#define OP_NOT_TAKEN      "beq 2f\n 2:\n"
#define OP_CALL           "bl 2f\n b 3f\n 2: blr\n 3:\n"
#define XORSHIFT(shift)   shift "\n xor %[s], %[s], 9\n"
#define OP_RANDOM                                                                                  \
	XORSHIFT("slwi 9, %[s], 13") XORSHIFT("srwi 9, %[s], 17") XORSHIFT("slwi 9, %[s], 5")
#define RANDOM_INSTRUCTIONS 6
#define OP_BRANCH_RANDOM    "andi. 9, %[s], 16\n beq 2f\n nop\n 2:\n"
#define OP_BRANCH_REGULAR   "andi. 9, %[n], 1\n beq 2f\n nop\n 2:\n"
#define BRANCH_INSTRUCTIONS 2
#define OP_LOAD             "lwz 9, 0(%[p])\n"
#define OP_LOAD_8           "lbz 9, 0(%[p])\n"
#define OP_LOAD_16          "lhz 9, 0(%[p])\n"
#define OP_LOAD_64          "ld 9, 0(%[p])\n"
#define OP_LOAD_UNALIGNED   "lwz 9, 1(%[p])\n"
#define OP_LOAD_SPLIT       "lwz 9, 126(%[p])\n"
#define OP_STORE            "stw %[s], 0(%[p])\n"
#define OP_STORE_8          "stb %[s], 0(%[p])\n"
#define OP_STORE_16         "sth %[s], 0(%[p])\n"
#define OP_STORE_64         "std %[s], 0(%[p])\n"
#define OP_STORE_UNALIGNED  "stw %[s], 1(%[p])\n"
#define OP_STORE_SPLIT      "stw %[s], 126(%[p])\n"
#define OP_LOCKED           "lwarx 9, 0, %[p]\n stwcx. 9, 0, %[p]\n"
#define LOCKED_INSTRUCTIONS 2
#define OP_PREFETCH         "dcbt 0, %[p]\n"
#define OP_DIV              "divdu 9, %[n], %[n]\n"
#define OP_DIV_CONTROL      "add 9, %[n], %[n]\n"
#define DIV_INSTRUCTIONS    1
#define OP_CHASE            "ld %[p], 0(%[p])\n"
#define OP_FADD_SP          "fadds 1, 1, 0\n"
#define OP_FADD_DP          "fadd 1, 1, 0\n"
#define OP_FMUL_SP          "fmuls 1, 1, 0\n"
#define OP_FMUL_DP          "fmul 1, 1, 0\n"

#endif
