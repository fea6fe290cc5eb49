/* SPDX-License-Identifier: MIT */
/* The operations of the architecture that is compiled for. Those that it lacks are empty texts.
 * machines/README.md explains the names. */
#ifndef PERFMON_TRUTH_THIS_MACHINE_H
#define PERFMON_TRUTH_THIS_MACHINE_H

#if defined(__x86_64__) || defined(__i386__)
#include "truth/machines/x86.h"
#elif defined(__aarch64__)
#include "truth/machines/arm64.h"
#elif defined(__arm__)
#include "truth/machines/arm.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "truth/machines/riscv64.h"
#elif defined(__powerpc64__)
#include "truth/machines/power.h"
#elif defined(__s390x__)
#include "truth/machines/s390x.h"
#endif

#ifdef LOOP_END
#define HAVE_LOOPS
#else /* no loop has a known count: all operations are empty */
#define POINTER_CONSTRAINT "r"
#define LOOP_BEGIN         ""
#define LOOP_END           ""
#define LOOP_FINISH        ""
#define LOOP_INSTRUCTIONS  0
#define LOOP_CLOBBERS      "memory"
#define OP_TEST            ""
#define OP_RANDOM          ""
#endif

#ifndef OP_NOP
#define OP_NOP ""
#endif
#ifndef OP_ADD
#define OP_ADD ""
#endif
#ifndef OP_MUL
#define OP_MUL ""
#endif
#ifndef OP_JUMP
#define OP_JUMP ""
#endif
#ifndef OP_TAKEN
#define OP_TAKEN ""
#endif
#ifndef OP_NOT_TAKEN
#define OP_NOT_TAKEN ""
#endif
#ifndef OP_CALL
#define OP_CALL ""
#endif
#ifndef OP_INDIRECT
#define OP_INDIRECT ""
#endif
#ifndef OP_BRANCH_RANDOM
#define OP_BRANCH_RANDOM ""
#endif
#ifndef OP_BRANCH_REGULAR
#define OP_BRANCH_REGULAR ""
#endif
#ifndef OP_LOAD
#define OP_LOAD ""
#endif
#ifndef OP_LOAD_8
#define OP_LOAD_8 ""
#endif
#ifndef OP_LOAD_16
#define OP_LOAD_16 ""
#endif
#ifndef OP_LOAD_64
#define OP_LOAD_64 ""
#endif
#ifndef OP_LOAD_128
#define OP_LOAD_128 ""
#endif
#ifndef OP_LOAD_UNALIGNED
#define OP_LOAD_UNALIGNED ""
#endif
#ifndef OP_LOAD_SPLIT
#define OP_LOAD_SPLIT ""
#endif
#ifndef OP_STORE
#define OP_STORE ""
#endif
#ifndef OP_STORE_8
#define OP_STORE_8 ""
#endif
#ifndef OP_STORE_16
#define OP_STORE_16 ""
#endif
#ifndef OP_STORE_64
#define OP_STORE_64 ""
#endif
#ifndef OP_STORE_128
#define OP_STORE_128 ""
#endif
#ifndef OP_STORE_UNALIGNED
#define OP_STORE_UNALIGNED ""
#endif
#ifndef OP_STORE_SPLIT
#define OP_STORE_SPLIT ""
#endif
#ifndef OP_UPDATE
#define OP_UPDATE ""
#endif
#ifndef OP_LOCKED
#define OP_LOCKED ""
#endif
#ifndef OP_PREFETCH
#define OP_PREFETCH ""
#endif
#ifndef OP_DIV
#define OP_DIV ""
#endif
#ifndef OP_DIV_CONTROL
#define OP_DIV_CONTROL ""
#endif
#ifndef OP_CHASE
#define OP_CHASE ""
#endif
#ifndef OP_SIMD_INT
#define OP_SIMD_INT ""
#endif
#ifndef OP_FADD_SP
#define OP_FADD_SP ""
#endif
#ifndef OP_FADD_DP
#define OP_FADD_DP ""
#endif
#ifndef OP_FMUL_SP
#define OP_FMUL_SP ""
#endif
#ifndef OP_FMUL_DP
#define OP_FMUL_DP ""
#endif
#ifndef OP_FSQRT_SP
#define OP_FSQRT_SP ""
#endif
#ifndef OP_FSQRT_DP
#define OP_FSQRT_DP ""
#endif
#ifndef OP_FMA_SP
#define OP_FMA_SP ""
#endif
#ifndef OP_FMA_DP
#define OP_FMA_DP ""
#endif
#ifndef OP_V128_SP
#define OP_V128_SP ""
#endif
#ifndef OP_V128_DP
#define OP_V128_DP ""
#endif
#ifndef OP_V256_SP
#define OP_V256_SP ""
#endif
#ifndef OP_V256_DP
#define OP_V256_DP ""
#endif
#ifndef OP_V512_SP
#define OP_V512_SP ""
#endif
#ifndef OP_V512_DP
#define OP_V512_DP ""
#endif
#ifndef OP_JUMP_RANDOM
#define OP_JUMP_RANDOM ""
#endif
#ifndef OP_LOAD_ACQUIRE
#define OP_LOAD_ACQUIRE ""
#endif
#ifndef OP_STORE_RELEASE
#define OP_STORE_RELEASE ""
#endif
#ifndef OP_PREFETCH_T1
#define OP_PREFETCH_T1 ""
#endif
#ifndef OP_PREFETCH_NTA
#define OP_PREFETCH_NTA ""
#endif
#ifndef OP_PREFETCH_WRITE
#define OP_PREFETCH_WRITE ""
#endif
#ifndef OP_FLUSH
#define OP_FLUSH ""
#endif
#ifndef OP_PAUSE
#define OP_PAUSE ""
#endif
#ifndef OP_LOAD_FENCE
#define OP_LOAD_FENCE ""
#endif
#ifndef OP_ISB
#define OP_ISB ""
#endif
#ifndef OP_DSB
#define OP_DSB ""
#endif
#ifndef OP_DMB
#define OP_DMB ""
#endif
#ifndef OP_CPUID
#define OP_CPUID ""
#endif
#ifndef OP_SIMD_INT_256
#define OP_SIMD_INT_256 ""
#endif
#ifndef OP_USUAL_FACTORS
#define OP_USUAL_FACTORS ""
#endif
#ifndef OP_TINY_FACTORS
#define OP_TINY_FACTORS ""
#endif
#ifndef OP_PRODUCT
#define OP_PRODUCT ""
#endif
#ifndef OP_X87
#define OP_X87 ""
#endif
#ifndef TEST_INSTRUCTIONS
#define TEST_INSTRUCTIONS 0
#endif
#ifndef CALL_ACCESSES
#define CALL_ACCESSES 0
#endif
#ifndef INDIRECT_INSTRUCTIONS
#define INDIRECT_INSTRUCTIONS 0
#endif
#ifndef RANDOM_INSTRUCTIONS
#define RANDOM_INSTRUCTIONS 0
#endif
#ifndef BRANCH_INSTRUCTIONS
#define BRANCH_INSTRUCTIONS 0
#endif
#ifndef LOCKED_INSTRUCTIONS
#define LOCKED_INSTRUCTIONS 0
#endif
#ifndef DIV_INSTRUCTIONS
#define DIV_INSTRUCTIONS 0
#endif

#ifndef JUMP_RANDOM_INSTRUCTIONS
#define JUMP_RANDOM_INSTRUCTIONS 0
#endif
#ifndef CPUID_INSTRUCTIONS
#define CPUID_INSTRUCTIONS 0
#endif
#ifndef FACTOR_INSTRUCTIONS
#define FACTOR_INSTRUCTIONS 0
#endif
#ifndef PRODUCT_INSTRUCTIONS
#define PRODUCT_INSTRUCTIONS 0
#endif
#ifndef X87_INSTRUCTIONS
#define X87_INSTRUCTIONS 0
#endif
#endif
