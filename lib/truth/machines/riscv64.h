/* SPDX-License-Identifier: MIT */
/* Instructions of RV64GC. machines/README.md explains the names. */
#ifndef PERFMON_TRUTH_RISCV64_H
#define PERFMON_TRUTH_RISCV64_H

#define POINTER_CONSTRAINT "r"
#define LOOP_BEGIN         "fmv.d.x ft0, zero\n fmv.d.x ft1, zero\n"
#define LOOP_END           "addi %[n], %[n], -1\n bnez %[n], 1b\n"
#define LOOP_FINISH        ""
#define LOOP_INSTRUCTIONS  2
#define LOOP_CLOBBERS      "t0", "t1", "ra", "ft0", "ft1", "memory"

#define OP_NOP              "nop\n"
#define OP_ADD              "addi t0, t0, 1\n"
#define OP_MUL              "mul t0, t0, t0\n"
#define OP_JUMP             "j 2f\n nop\n 2:\n"
#define OP_TEST             "mv t0, %[p]\n"
#define TEST_INSTRUCTIONS   1
#define OP_TAKEN            "bnez t0, 2f\n nop\n 2:\n"
#define OP_NOT_TAKEN        "beqz t0, 2f\n 2:\n"
#define OP_CALL             "jal ra, 2f\n j 3f\n 2: ret\n 3:\n"
#define XORSHIFT(op, n)     op " t0, %[s], " n "\n xor %[s], %[s], t0\n"
#define OP_RANDOM           XORSHIFT("slliw", "13") XORSHIFT("srliw", "17") XORSHIFT("slliw", "5")
#define RANDOM_INSTRUCTIONS 6
#define OP_BRANCH_RANDOM    "andi t0, %[s], 16\n beqz t0, 2f\n nop\n 2:\n"
#define OP_BRANCH_REGULAR   "andi t0, %[n], 1\n beqz t0, 2f\n nop\n 2:\n"
#define BRANCH_INSTRUCTIONS 2
#define OP_LOAD             "lw t0, 0(%[p])\n"
#define OP_LOAD_8           "lbu t0, 0(%[p])\n"
#define OP_LOAD_16          "lhu t0, 0(%[p])\n"
#define OP_LOAD_64          "ld t0, 0(%[p])\n"
#define OP_STORE            "sw %[s], 0(%[p])\n"
#define OP_STORE_8          "sb %[s], 0(%[p])\n"
#define OP_STORE_16         "sh %[s], 0(%[p])\n"
#define OP_STORE_64         "sd %[s], 0(%[p])\n"
#define OP_LOCKED           "amoadd.w t0, zero, (%[p])\n"
#define LOCKED_INSTRUCTIONS 1
#define OP_DIV              "divu t0, %[n], %[n]\n"
#define OP_DIV_CONTROL      "add t0, %[n], %[n]\n"
#define DIV_INSTRUCTIONS    1
#define OP_CHASE            "ld %[p], 0(%[p])\n"
#define OP_FADD_SP          "fadd.s ft1, ft1, ft0\n"
#define OP_FADD_DP          "fadd.d ft1, ft1, ft0\n"
#define OP_FMUL_SP          "fmul.s ft1, ft1, ft0\n"
#define OP_FMUL_DP          "fmul.d ft1, ft1, ft0\n"
#define OP_FSQRT_SP         "fsqrt.s ft1, ft0\n"
#define OP_FSQRT_DP         "fsqrt.d ft1, ft0\n"
#define OP_FMA_SP           "fmadd.s ft1, ft0, ft0, ft1\n"
#define OP_FMA_DP           "fmadd.d ft1, ft0, ft0, ft1\n"

#endif
