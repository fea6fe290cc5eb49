/* SPDX-License-Identifier: MIT */
/* Instructions of x86, 32 and 64 bits. machines/README.md explains the names. */
#ifndef PERFMON_TRUTH_X86_H
#define PERFMON_TRUTH_X86_H

#define POINTER_CONSTRAINT "r"
#ifdef __x86_64__
/* Calls write below the stack pointer, where the compiler may keep data. */
#define LOOP_BEGIN            "lea -256(%%rsp), %%rsp\n pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n"
#define LOOP_FINISH           "lea 256(%%rsp), %%rsp\n"
#define LOOP_VECTORS          "xmm0", "xmm1", "xmm2", "xmm3"
#define LOOP_CLOBBERS         "rax", "rcx", "rdx", "r8", LOOP_VECTORS, "cc", "memory"
#define OP_CHASE              "mov (%[p]), %[p]\n"
#define OP_LOAD_64            "mov (%[p]), %%rax\n"
#define OP_STORE_64           "mov %[p], (%[p])\n"
#define OP_INDIRECT           "lea 2f(%%rip), %%rax\n jmp *%%rax\n nop\n 2:\n"
#define INDIRECT_INSTRUCTIONS 2
#define OP_JUMP_RANDOM                                                                             \
	"lea 2f(%%rip), %%rax\n mov %k[s], %%ecx\n and $16, %%ecx\n add %%rcx, %%rax\n"            \
	"jmp *%%rax\n .balign 32\n 2: jmp 3f\n .skip 14, 0x90\n jmp 3f\n nop\n 3:\n"
#define JUMP_RANDOM_INSTRUCTIONS 6
#define OP_LOAD_128              "movups (%[p]), %%xmm1\n"
#define OP_STORE_128             "movups %%xmm1, (%[p])\n"
#define OP_SIMD_INT              "paddd %%xmm0, %%xmm1\n"
#define OP_SIMD_INT_256          "vpaddd %%ymm0, %%ymm1, %%ymm1\n"
#define OP_FADD_SP               "addss %%xmm0, %%xmm1\n"
#define OP_FADD_DP               "addsd %%xmm0, %%xmm1\n"
#define OP_FMUL_SP               "mulss %%xmm0, %%xmm1\n"
#define OP_FMUL_DP               "mulsd %%xmm0, %%xmm1\n"
#define OP_FSQRT_SP              "sqrtss %%xmm0, %%xmm1\n"
#define OP_FSQRT_DP              "sqrtsd %%xmm0, %%xmm1\n"
#define OP_V128_SP               "addps %%xmm0, %%xmm1\n"
#define OP_V128_DP               "addpd %%xmm0, %%xmm1\n"
#define OP_V256_SP               "vaddps %%ymm0, %%ymm1, %%ymm1\n"
#define OP_V256_DP               "vaddpd %%ymm0, %%ymm1, %%ymm1\n"
#define OP_V512_SP               "vaddps %%zmm0, %%zmm1, %%zmm1\n"
#define OP_V512_DP               "vaddpd %%zmm0, %%zmm1, %%zmm1\n"
#define OP_FMA_SP                "vfmadd231ss %%xmm0, %%xmm0, %%xmm1\n"
#define OP_FMA_DP                "vfmadd231sd %%xmm0, %%xmm0, %%xmm1\n"
/* The smallest usual number times a half is denormal, 1 times a half is not. */
#define FACTORS(bits)                                                                              \
	"mov $" bits ", %%eax\n movd %%eax, %%xmm2\n mov $0x3f000000, %%eax\n movd %%eax, "        \
	"%%xmm3\n"
#define OP_USUAL_FACTORS     FACTORS("0x3f800000")
#define OP_TINY_FACTORS      FACTORS("0x00800000")
#define FACTOR_INSTRUCTIONS  4
#define OP_PRODUCT           "movaps %%xmm2, %%xmm1\n mulss %%xmm3, %%xmm1\n"
#define PRODUCT_INSTRUCTIONS 2
#define OP_X87               "fld1\n fadd %%st(0), %%st\n fstp %%st(0)\n"
#define X87_INSTRUCTIONS     3
#define OP_PREFETCH          "prefetcht0 (%[p])\n"
#define OP_PREFETCH_T1       "prefetcht1 (%[p])\n"
#define OP_PREFETCH_NTA      "prefetchnta (%[p])\n"
#define OP_PREFETCH_WRITE    "prefetchw (%[p])\n"
#define OP_FLUSH             "clflush (%[p])\n"
#define OP_PAUSE             "pause\n"
#define OP_LOAD_FENCE        "lfence\n"
#define OP_CPUID             "mov %%rbx, %%r8\n xor %%eax, %%eax\n cpuid\n mov %%r8, %%rbx\n"
#define CPUID_INSTRUCTIONS   4
#else
#define LOOP_BEGIN    ""
#define LOOP_FINISH   ""
#define LOOP_CLOBBERS "eax", "ecx", "edx", "cc", "memory"
#define OP_CHASE      "movl (%[p]), %[p]\n"
#endif
#define LOOP_END          "dec %[n]\n jnz 1b\n"
#define LOOP_INSTRUCTIONS 2

#define OP_NOP              "nop\n"
#define OP_ADD              "add $1, %%eax\n"
#define OP_MUL              "imul %%eax, %%eax\n"
#define OP_JUMP             "jmp 2f\n nop\n 2:\n"
#define OP_TEST             "test %[p], %[p]\n"
#define TEST_INSTRUCTIONS   1
#define OP_TAKEN            "jnz 2f\n nop\n 2:\n"
#define OP_NOT_TAKEN        "jz 2f\n 2:\n"
#define OP_CALL             "call 2f\n jmp 3f\n 2: ret\n 3:\n"
#define CALL_ACCESSES       1 /* the return address */
#define XORSHIFT(shift)     "mov %k[s], %%eax\n " shift ", %%eax\n xor %%eax, %k[s]\n"
#define OP_RANDOM           XORSHIFT("shl $13") XORSHIFT("shr $17") XORSHIFT("shl $5")
#define RANDOM_INSTRUCTIONS 9
#define OP_BRANCH_RANDOM    "test $16, %k[s]\n jz 2f\n nop\n 2:\n"
#define OP_BRANCH_REGULAR   "test $1, %k[n]\n jz 2f\n nop\n 2:\n"
#define BRANCH_INSTRUCTIONS 2
#define OP_LOAD             "movl (%[p]), %%eax\n"
#define OP_LOAD_8           "movzbl (%[p]), %%eax\n"
#define OP_LOAD_16          "movzwl (%[p]), %%eax\n"
#define OP_LOAD_UNALIGNED   "movl 1(%[p]), %%eax\n"
#define OP_LOAD_SPLIT       "movl 62(%[p]), %%eax\n"
#define OP_STORE            "movl %k[s], (%[p])\n"
#define OP_STORE_8          "movb %%al, (%[p])\n"
#define OP_STORE_16         "movw %%ax, (%[p])\n"
#define OP_STORE_UNALIGNED  "movl %k[s], 1(%[p])\n"
#define OP_STORE_SPLIT      "movl %k[s], 62(%[p])\n"
#define OP_UPDATE           "addl $1, (%[p])\n"
#define OP_LOCKED           "lock addl $1, (%[p])\n"
#define LOCKED_INSTRUCTIONS 1
#define OP_DIV              "mov $9, %%eax\n xor %%edx, %%edx\n mov $3, %%ecx\n div %%ecx\n"
#define OP_DIV_CONTROL      "mov $9, %%eax\n xor %%edx, %%edx\n mov $3, %%ecx\n nop\n"
#define DIV_INSTRUCTIONS    4

#endif
