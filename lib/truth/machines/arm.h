/* SPDX-License-Identifier: MIT */
/* Instructions of 32-bit Arm, ARM and Thumb-2. machines/README.md explains the names. */
#ifndef PERFMON_TRUTH_ARM_H
#define PERFMON_TRUTH_ARM_H

#define POINTER_CONSTRAINT "r"
#define LOOP_BEGIN         ""
#define LOOP_END           "subs %[n], %[n], #1\n bne 1b\n"
#define LOOP_FINISH        ""
#define LOOP_INSTRUCTIONS  2
#define LOOP_CLOBBERS      "r3", "r12", "lr", "cc", "memory"

#define OP_NOP              "nop\n"
#define OP_ADD              "add r3, r3, #1\n"
#define OP_MUL              "mul r3, r12, r3\n"
#define OP_JUMP             "b 2f\n nop\n 2:\n"
#define OP_TEST             "cmp %[p], #0\n"
#define TEST_INSTRUCTIONS   1
#define OP_TAKEN            "bne 2f\n nop\n 2:\n"
#define OP_NOT_TAKEN        "beq 2f\n 2:\n"
#define OP_CALL             "bl 2f\n b 3f\n 2: bx lr\n 3:\n"
#define XORSHIFT(shift)     "eor %[s], %[s], %[s], " shift "\n"
#define OP_RANDOM           XORSHIFT("lsl #13") XORSHIFT("lsr #17") XORSHIFT("lsl #5")
#define RANDOM_INSTRUCTIONS 3
#define OP_BRANCH_RANDOM    "tst %[s], #16\n beq 2f\n nop\n 2:\n"
#define OP_BRANCH_REGULAR   "tst %[n], #1\n beq 2f\n nop\n 2:\n"
#define BRANCH_INSTRUCTIONS 2
#define OP_LOAD             "ldr r3, [%[p]]\n"
#define OP_LOAD_8           "ldrb r3, [%[p]]\n"
#define OP_LOAD_16          "ldrh r3, [%[p]]\n"
#define OP_LOAD_UNALIGNED   "ldr r3, [%[p], #1]\n"
#define OP_LOAD_SPLIT       "ldr r3, [%[p], #62]\n"
#define OP_STORE            "str %[s], [%[p]]\n"
#define OP_STORE_8          "strb %[s], [%[p]]\n"
#define OP_STORE_16         "strh %[s], [%[p]]\n"
#define OP_STORE_UNALIGNED  "str %[s], [%[p], #1]\n"
#define OP_STORE_SPLIT      "str %[s], [%[p], #62]\n"
#define OP_LOCKED           "ldrex r3, [%[p]]\n strex r12, r3, [%[p]]\n"
#define LOCKED_INSTRUCTIONS 2
#define OP_CHASE            "ldr %[p], [%[p]]\n"

#endif
