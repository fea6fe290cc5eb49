/* SPDX-License-Identifier: MIT */
/* Instructions of AArch64. machines/README.md explains the names. */
#ifndef PERFMON_TRUTH_ARM64_H
#define PERFMON_TRUTH_ARM64_H

#define POINTER_CONSTRAINT "r"
#define LOOP_BEGIN         "movi v0.2d, #0\n movi v1.2d, #0\n"
#define LOOP_END           "subs %[n], %[n], #1\n b.ne 1b\n"
#define LOOP_FINISH        ""
#define LOOP_INSTRUCTIONS  2
#define LOOP_CLOBBERS      "x9", "x10", "x30", "v0", "v1", "cc", "memory"

#define OP_NOP                "nop\n"
#define OP_ADD                "add w9, w9, #1\n"
#define OP_MUL                "mul w9, w9, w9\n"
#define OP_JUMP               "b 2f\n nop\n 2:\n"
#define OP_TEST               "cmp %[p], #0\n"
#define TEST_INSTRUCTIONS     1
#define OP_TAKEN              "b.ne 2f\n nop\n 2:\n"
#define OP_NOT_TAKEN          "b.eq 2f\n 2:\n"
#define OP_CALL               "bl 2f\n b 3f\n 2: ret\n 3:\n"
#define OP_INDIRECT           "adr x9, 2f\n br x9\n nop\n 2:\n"
#define INDIRECT_INSTRUCTIONS 2
/* One of two addresses: that of the branch, or 16 bytes after it. */
#define OP_JUMP_RANDOM                                                                             \
	"adr x9, 2f\n and x10, %[s], #16\n add x9, x9, x10\n br x9\n"                              \
	"2: b 3f\n nop\n nop\n nop\n b 3f\n 3:\n"
#define JUMP_RANDOM_INSTRUCTIONS 5
#define XORSHIFT(shift)          "eor %w[s], %w[s], %w[s], " shift "\n"
#define OP_RANDOM                XORSHIFT("lsl #13") XORSHIFT("lsr #17") XORSHIFT("lsl #5")
#define RANDOM_INSTRUCTIONS      3
#define OP_BRANCH_RANDOM         "tbz %w[s], #4, 2f\n nop\n 2:\n"
#define OP_BRANCH_REGULAR        "tbz %w[n], #0, 2f\n nop\n 2:\n"
#define BRANCH_INSTRUCTIONS      1
#define OP_LOAD                  "ldr w9, [%[p]]\n"
#define OP_LOAD_8                "ldrb w9, [%[p]]\n"
#define OP_LOAD_16               "ldrh w9, [%[p]]\n"
#define OP_LOAD_64               "ldr x9, [%[p]]\n"
#define OP_LOAD_128              "ldr q1, [%[p]]\n"
#define OP_LOAD_UNALIGNED        "ldur w9, [%[p], #1]\n"
#define OP_LOAD_SPLIT            "ldur w9, [%[p], #62]\n"
#define OP_STORE                 "str %w[s], [%[p]]\n"
#define OP_STORE_8               "strb %w[s], [%[p]]\n"
#define OP_STORE_16              "strh %w[s], [%[p]]\n"
#define OP_STORE_64              "str %[p], [%[p]]\n"
#define OP_STORE_128             "str q1, [%[p]]\n"
#define OP_STORE_UNALIGNED       "stur %w[s], [%[p], #1]\n"
#define OP_STORE_SPLIT           "stur %w[s], [%[p], #62]\n"
#define OP_LOCKED                "ldxr w9, [%[p]]\n stxr w10, w9, [%[p]]\n"
#define LOCKED_INSTRUCTIONS      2
#define OP_LOAD_ACQUIRE          "ldar w9, [%[p]]\n"
#define OP_STORE_RELEASE         "stlr %w[s], [%[p]]\n"
#define OP_ISB                   "isb\n"
#define OP_DSB                   "dsb ish\n"
#define OP_DMB                   "dmb ish\n"
#define OP_PREFETCH              "prfm pldl1keep, [%[p]]\n"
#define OP_DIV                   "udiv w9, %w[n], %w[n]\n"
#define OP_DIV_CONTROL           "add w9, %w[n], %w[n]\n"
#define DIV_INSTRUCTIONS         1
#define OP_CHASE                 "ldr %[p], [%[p]]\n"
#define OP_SIMD_INT              "add v1.4s, v1.4s, v0.4s\n"
#define OP_FADD_SP               "fadd s1, s1, s0\n"
#define OP_FADD_DP               "fadd d1, d1, d0\n"
#define OP_FMUL_SP               "fmul s1, s1, s0\n"
#define OP_FMUL_DP               "fmul d1, d1, d0\n"
#define OP_FSQRT_SP              "fsqrt s1, s0\n"
#define OP_FSQRT_DP              "fsqrt d1, d0\n"
#define OP_FMA_SP                "fmadd s1, s0, s0, s1\n"
#define OP_FMA_DP                "fmadd d1, d0, d0, d1\n"
#define OP_V128_SP               "fadd v1.4s, v1.4s, v0.4s\n"
#define OP_V128_DP               "fadd v1.2d, v1.2d, v0.2d\n"

#endif
