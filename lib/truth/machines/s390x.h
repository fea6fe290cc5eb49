/* SPDX-License-Identifier: MIT */
/* Instructions of z/Architecture. machines/README.md explains the names. nopr is a branch. */
#ifndef PERFMON_TRUTH_S390X_H
#define PERFMON_TRUTH_S390X_H

#define POINTER_CONSTRAINT "a" /* register 0 is the number 0 in addresses */
#define LOOP_BEGIN         ""
#define LOOP_END           "brctg %[n], 1b\n"
#define LOOP_FINISH        ""
#define LOOP_INSTRUCTIONS  1
#define LOOP_CLOBBERS      "1", "14", "f0", "f2", "cc", "memory"

#define OP_ADD              "ahi %%r1, 1\n"
#define OP_MUL              "msr %%r1, %%r1\n"
#define OP_JUMP             "j 2f\n lr %%r1, %%r1\n 2:\n"
#define OP_TEST             "ltgr %[p], %[p]\n"
#define TEST_INSTRUCTIONS   1
#define OP_TAKEN            "jne 2f\n lr %%r1, %%r1\n 2:\n"
#define OP_NOT_TAKEN        "je 2f\n 2:\n"
#define OP_CALL             "brasl %%r14, 2f\n j 3f\n 2: br %%r14\n 3:\n"
#define XORSHIFT(op, n)     "lr %%r1, %[s]\n " op " %%r1, " n "\n xr %[s], %%r1\n"
#define OP_RANDOM           XORSHIFT("sll", "13") XORSHIFT("srl", "17") XORSHIFT("sll", "5")
#define RANDOM_INSTRUCTIONS 9
#define OP_BRANCH_RANDOM    "tmll %[s], 16\n jz 2f\n lr %%r1, %%r1\n 2:\n"
#define OP_BRANCH_REGULAR   "tmll %[n], 1\n jz 2f\n lr %%r1, %%r1\n 2:\n"
#define BRANCH_INSTRUCTIONS 2
#define OP_LOAD             "l %%r1, 0(%[p])\n"
#define OP_LOAD_8           "llgc %%r1, 0(%[p])\n"
#define OP_LOAD_16          "llgh %%r1, 0(%[p])\n"
#define OP_LOAD_64          "lg %%r1, 0(%[p])\n"
#define OP_LOAD_UNALIGNED   "l %%r1, 1(%[p])\n"
#define OP_LOAD_SPLIT       "l %%r1, 254(%[p])\n"
#define OP_STORE            "st %[s], 0(%[p])\n"
#define OP_STORE_8          "stc %[s], 0(%[p])\n"
#define OP_STORE_16         "sth %[s], 0(%[p])\n"
#define OP_STORE_64         "stg %[s], 0(%[p])\n"
#define OP_STORE_UNALIGNED  "st %[s], 1(%[p])\n"
#define OP_STORE_SPLIT      "st %[s], 254(%[p])\n"
#define OP_CHASE            "lg %[p], 0(%[p])\n"
#define OP_FADD_SP          "aebr %%f2, %%f0\n"
#define OP_FADD_DP          "adbr %%f2, %%f0\n"

#endif
