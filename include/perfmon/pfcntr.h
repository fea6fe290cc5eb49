/* SPDX-License-Identifier: MIT */
/* Interface of the Tru64 UNIX counter device /dev/pfcntr: open modes, requests, layouts of their
 * arguments, and the words that select events. pfm_device(3) explains them; pfmlib_alpha.h
 * computes the words.
 *
 * Requests are for ioctl(2) and take the address of their argument, never its value. Where the
 * argument is an array they take the address of a pointer to it. All quantities are 64 bits. Words
 * of fields are described by masks and shifts; the members that pfm(7) names are there beside them,
 * for sources of that system, and are the same bits in either byte order. Names are those of the
 * system's own header. */
#ifndef LIBPERFMON_PFCNTR_H
#define LIBPERFMON_PFCNTR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define PFCNTR_DEVICE "/dev/pfcntr"

/* ---- open modes: add one to the flags of open(2) --------------------------------------------- */

/* Use these bits only for this device: on other systems they are other flags. */
#define PCNTOPENONE  0x08000 /* the processor that the caller is bound to */
#define PCNTOPENEACH 0x10000 /* all processors, with separate results */
#define PCNTOPENALL  0x18000 /* all processors, with one sum */
#define PCNTOPENMASK 0x18000

/* ---- requests -------------------------------------------------------------------------------- */

/* 31:29 direction, 28:16 size of the argument, 15:8 'P', 7:0 number. */
#define PFCNTR_VOID                   0x20000000u
#define PFCNTR_OUT                    0x40000000u /* written by the device */
#define PFCNTR_IN                     0x80000000u /* read by the device */
#define PFCNTR_TYPE                   0x50u
#define PFCNTR_REQUEST(DIR, NR, SIZE) ((DIR) | (uint32_t)(SIZE) << 16 | PFCNTR_TYPE << 8 | (NR))
#define PFCNTR_REQUEST_SIZE(REQ)      ((REQ) >> 16 & 0x1fffu)
#define PFCNTR_REQUEST_TYPE(REQ)      ((REQ) >> 8 & 0xffu)

/* All families. */
#define PCNTRDISABLE PFCNTR_REQUEST(PFCNTR_VOID, 0x00u, 0) /* disable counter interrupts */
#define PCNTRENABLE  PFCNTR_REQUEST(PFCNTR_VOID, 0x01u, 0) /* enable counter interrupts */
#define PCNTLOGALL   PFCNTR_REQUEST(PFCNTR_VOID, 0x03u, 0) /* count every process */
#define PCNTLOGSELECT                                                                              \
	PFCNTR_REQUEST(PFCNTR_VOID, 0x04u, 0) /* count marked processes, mark the caller */
#define PCNTCLEARCNT PFCNTR_REQUEST(PFCNTR_VOID, 0x05u, 0) /* clear the driver's counts */
#define PCNTCLEARPCBPME                                                                            \
	PFCNTR_REQUEST(PFCNTR_VOID, 0x07u, 0) /* remove the caller's mark                          \
	                                       */
#define PCNTCALLER                                                                                 \
	PFCNTR_REQUEST(PFCNTR_VOID, 0x08u, 0) /* count utility routines for their callers */
#define PCNTGETRSIZE                                                                               \
	PFCNTR_REQUEST(PFCNTR_OUT, 0x0au, 8)               /* a word: bytes that read(2) returns   \
	                                                    */
#define PCNTGETIPLHIS PFCNTR_REQUEST(PFCNTR_IN, 0x0bu, 8)  /* array of struct pfipls */
#define PCNTSETITEMS  PFCNTR_REQUEST(PFCNTR_IN, 0x1fu, 8)  /* a word of PFM_* items */
#define PCNTSETUADDR  PFCNTR_REQUEST(PFCNTR_IN, 0x20u, 16) /* struct addr_range, user addresses */
#define PCNTSETKADDR                                                                               \
	PFCNTR_REQUEST(PFCNTR_IN, 0x21u, 16)               /* struct addr_range, kernel addresses  \
	                                                    */
#define PCNTSETURANGE PFCNTR_REQUEST(PFCNTR_IN, 0x22u, 32) /* addr_range_t, user addresses */
#define PCNTSETKRANGE PFCNTR_REQUEST(PFCNTR_IN, 0x23u, 32) /* addr_range_t, kernel addresses */

/* EV4. */
#define PCNTSETMUX                                                                                 \
	PFCNTR_REQUEST(PFCNTR_IN, 0x02u, 8) /* struct iccsr: events, rates, ignored counter */
#define PCNTGETCNT     PFCNTR_REQUEST(PFCNTR_IN, 0x06u, 8)  /* array of struct pfcntrs */
#define PCNTGETCNT_OLD PFCNTR_REQUEST(PFCNTR_OUT, 0x06u, 8) /* PCNTGETCNT of systems of 1997 */

/* EV5 and PCA56. The counter word is PF5_CTRS below. */
#define PCNT5CTXTS    PFCNTR_REQUEST(PFCNTR_IN, 0x28u, 8) /* a word of PF5_CTXT_* */
#define PCNT5MUX      PFCNTR_REQUEST(PFCNTR_IN, 0x29u, 8) /* a word of PF5_MUX* */
#define PCNT5FREQ     PFCNTR_REQUEST(PFCNTR_IN, 0x2au, 8) /* a word of PF5_C*_INT_EVERY_* */
#define PCNT5DISABLE  PFCNTR_REQUEST(PFCNTR_IN, 0x2bu, 8) /* counter word: stop */
#define PCNT5ENABLE   PFCNTR_REQUEST(PFCNTR_IN, 0x2cu, 8) /* counter word: start */
#define PCNT5CLEAR    PFCNTR_REQUEST(PFCNTR_IN, 0x2du, 8) /* counter word: zero */
#define PCNT5RESTART  PFCNTR_REQUEST(PFCNTR_IN, 0x2eu, 8) /* counter word: zero and start */
#define PCNT5SETCNTRS PFCNTR_REQUEST(PFCNTR_IN, 0x2fu, 8) /* counter word: load its values */
#define PCNT5GETCNTRS                                                                              \
	PFCNTR_REQUEST(PFCNTR_IN | PFCNTR_OUT, 0x30u, 8) /* counter word: read one processor */
#define PCNT5GETCNT                                                                                \
	PFCNTR_REQUEST(PFCNTR_IN, 0x31u, 8) /* array of struct pfcntrs_ev5: interrupts */
#define PCNT5READCNTRS                                                                             \
	PFCNTR_REQUEST(PFCNTR_IN, 0x32u, 8) /* array of struct pfcntrs_ev5: events                 \
	                                     */

/* EV6, and EV67 and later. The counter word is PF6_CTRS below. */
#define PCNT6MUX PFCNTR_REQUEST(PFCNTR_IN, 0x33u, 8) /* a word of PF6_MUX* or PF67_* */
#define PCNT6ENABWRITE                                                                             \
	PFCNTR_REQUEST(PFCNTR_IN, 0x34u, 8) /* counter word: load its values and start */
#define PCNT6DISABLE  PFCNTR_REQUEST(PFCNTR_IN, 0x35u, 8) /* counter word: stop */
#define PCNT6ENABLE   PFCNTR_REQUEST(PFCNTR_IN, 0x36u, 8) /* counter word: start */
#define PCNT6CLEAR    PFCNTR_REQUEST(PFCNTR_IN, 0x37u, 8) /* counter word: zero */
#define PCNT6RESTART  PFCNTR_REQUEST(PFCNTR_IN, 0x38u, 8) /* counter word: zero and start */
#define PCNT6SETCNTRS PFCNTR_REQUEST(PFCNTR_IN, 0x39u, 8) /* counter word: load its values */
#define PCNT6GETCNTRS                                                                              \
	PFCNTR_REQUEST(PFCNTR_IN | PFCNTR_OUT, 0x3au, 8) /* counter word: read one processor */
#define PCNT6GETCNT                                                                                \
	PFCNTR_REQUEST(PFCNTR_IN, 0x3bu, 8) /* array of struct pfcntrs_ev6: interrupts */
#define PCNT6READCNTRS                                                                             \
	PFCNTR_REQUEST(PFCNTR_IN, 0x3cu, 8) /* array of struct pfcntrs_ev6: events                 \
	                                     */

/* ---- items that each interrupt collects ------------------------------------------------------ */

#define PFM_COUNTERS  1            /* interrupts of each counter */
#define PFM_COUNTER   PFM_COUNTERS /* another spelling */
#define PFM_IPL       2            /* interrupt levels */
#define PFM_PROFILING 4            /* program counter; select it before a range request */

/* EV67: the driver keeps the ProfileMe statistic with the items. No source documents how a program
 * passes it; PCNTSETITEMS with these bits is the most likely way. */
#define PFM_PM_STAT_SHIFT 8
#define PFM_PM_STAT_MASK  0xff00

/* ---- argument layouts ------------------------------------------------------------------------ */

/* Driver's counts, EV4. Counts are interrupts: multiply by the rate. */
struct pfcntrs {
	uint64_t pf_cntr0;
	uint64_t pf_cntr1;
	uint64_t pr_cycle; /* process cycles; the last member here, the first in the others */
};

struct pfcntrs_ev5 {
	uint64_t pr_cycle;
	uint64_t pf_cntr0;
	uint64_t pf_cntr1;
	uint64_t pf_cntr2;
};

struct pfcntrs_ev6 {
	uint64_t pr_cycle;
	uint64_t pf_cntr0;
	uint64_t pf_cntr1;
};

/* Interrupts by the interrupted level: 0 to 5 kernel at that level, 6 none, 7 idle, 8 user. */
#define PFM_IPL_LEVELS 9
#define PFM_IPL_IDLE   7
#define PFM_IPL_USER   8
struct pfipls {
	uint64_t ipl[PFM_IPL_LEVELS];
};

struct addr_range {
	uint64_t start;
	uint64_t end;
};

typedef struct {
	uint64_t start;
	uint64_t end;
	uint64_t stride; /* instructions in a bucket: a power of two, or 0 for one bucket */
	uint64_t res0;
} addr_range_t;

/* A bucket that read(2) returns. */
typedef uint32_t pfcntr_bucket_t;

/* EV4 selects and rates: one word, like ICCSR of the chip, with bits to ignore counters. */
__extension__ struct iccsr {
	__extension__ union {
		uint64_t iccsr_word;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		__extension__ struct {
			uint64_t iccsr_pc1:1;
			uint64_t iccsr_ign0:2;
			uint64_t iccsr_pc0:1;
			uint64_t iccsr_ign1:4;
			uint64_t iccsr_mux0:4;
			uint64_t iccsr_ign2:20;
			uint64_t iccsr_mux1:3;
			uint64_t iccsr_disable:2;
			uint64_t iccsr_ign3:27;
		};
#else
		__extension__ struct {
			uint64_t iccsr_ign3:27;
			uint64_t iccsr_disable:2;
			uint64_t iccsr_mux1:3;
			uint64_t iccsr_ign2:20;
			uint64_t iccsr_mux0:4;
			uint64_t iccsr_ign1:4;
			uint64_t iccsr_pc0:1;
			uint64_t iccsr_ign0:2;
			uint64_t iccsr_pc1:1;
		};
#endif
	};
};
#define ICCSR_PC1           UINT64_C(0x1) /* counter 1: every 256 events, else every 4096 */
#define ICCSR_PC0           UINT64_C(0x8) /* counter 0: every 4096 events, else every 65536 */
#define ICCSR_MUX0_SHIFT    8             /* PF_ISSUES ... */
#define ICCSR_MUX0_MASK     UINT64_C(0xf00)
#define ICCSR_MUX1_SHIFT    32 /* PF_DCACHE ... */
#define ICCSR_MUX1_MASK     UINT64_C(0x700000000)
#define ICCSR_DISABLE_SHIFT 35 /* bit n: the driver ignores counter n; not both */
#define ICCSR_DISABLE_MASK  UINT64_C(0x1800000000)

/* A word that selects counters and a processor, and holds the values of the counters. */
#define PMCTRS_ALL_CPUS 0xffu

union pmctrs_ev5 {
	uint64_t pmctrs_ev5_long;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	__extension__ struct {
		uint64_t pmctrs_ev5_select:3;
		uint64_t:5;
		uint64_t pmctrs_ev5_cpu:8;
		uint64_t:48;
	};
#else
	__extension__ struct {
		uint64_t:48;
		uint64_t pmctrs_ev5_cpu:8;
		uint64_t:5;
		uint64_t pmctrs_ev5_select:3;
	};
#endif
};
#define PF5_SEL_COUNTER_0 1
#define PF5_SEL_COUNTER_1 2
#define PF5_SEL_COUNTER_2 4
#define PF5_SEL_KMASK     UINT64_C(0x7)
#define PF5_CPU_SHIFT     8
#define PF5_CPU_KMASK     UINT64_C(0xff00)
#define PF5_CTR2_SHIFT    16
#define PF5_CTR2_KMASK    UINT64_C(0x3fff0000)
#define PF5_CTR1_SHIFT    32
#define PF5_CTR1_KMASK    UINT64_C(0xffff00000000)
#define PF5_CTR0_SHIFT    48
#define PF5_CTR0_KMASK    UINT64_C(0xffff000000000000)
#define PF5_WRITE_KMASK   (PF5_CTR0_KMASK | PF5_CTR1_KMASK | PF5_CTR2_KMASK)
#define PF5_CTRS(SELECT, CPU, C0, C1, C2)                                                          \
	(((uint64_t)(SELECT)&PF5_SEL_KMASK) | ((uint64_t)(CPU) << PF5_CPU_SHIFT & PF5_CPU_KMASK) | \
	 ((uint64_t)(C2) << PF5_CTR2_SHIFT & PF5_CTR2_KMASK) |                                     \
	 ((uint64_t)(C1) << PF5_CTR1_SHIFT & PF5_CTR1_KMASK) | (uint64_t)(C0) << PF5_CTR0_SHIFT)

union pmctrs_ev6 {
	uint64_t pmctrs_ev6_long;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	__extension__ struct {
		uint64_t pmctrs_ev6_select:2;
		uint64_t:54;
		uint64_t pmctrs_ev6_cpu:8;
	};
#else
	__extension__ struct {
		uint64_t pmctrs_ev6_cpu:8;
		uint64_t:54;
		uint64_t pmctrs_ev6_select:2;
	};
#endif
};
#define PF6_SEL_COUNTER_0 1
#define PF6_SEL_COUNTER_1 2
#define PF6_SEL_KMASK     UINT64_C(0x3)
#define PF6_CTR1_SHIFT    6
#define PF6_CTR1_KMASK    UINT64_C(0x3ffffc0)
#define PF6_CTR0_SHIFT    28
#define PF6_CTR0_KMASK    UINT64_C(0xfffff0000000)
#define PF6_CPU_SHIFT     56
#define PF6_CPU_KMASK     UINT64_C(0xff00000000000000)
#define PF6_WRITE_KMASK   (PF6_SEL_KMASK | PF6_CTR1_KMASK | PF6_CTR0_KMASK | PF6_CPU_KMASK)
#define PF6_CTRS(SELECT, CPU, C0, C1)                                                              \
	(((uint64_t)(SELECT)&PF6_SEL_KMASK) |                                                      \
	 ((uint64_t)(C1) << PF6_CTR1_SHIFT & PF6_CTR1_KMASK) |                                     \
	 ((uint64_t)(C0) << PF6_CTR0_SHIFT & PF6_CTR0_KMASK) | (uint64_t)(CPU) << PF6_CPU_SHIFT)

/* ---- EV5: rates and modes -------------------------------------------------------------------- */

/* Combine one rate for each counter. 256 requires superuser privilege. */
#define PF5_C0_INT_EVERY_65536 0x200
#define PF5_C0_INT_EVERY_256   0x300
#define PF5_C1_INT_EVERY_65536 0x080
#define PF5_C1_INT_EVERY_256   0x0c0
#define PF5_C2_INT_EVERY_16384 0x020
#define PF5_C2_INT_EVERY_256   0x030
#define PF5_FREQ_KMASK         UINT64_C(0x3f0) /* bits that the driver uses */
#define PF5_FREQ_SLOW          UINT64_C(0x2a0) /* bits that the driver always sets */
#define PF5_FREQ_PRIVILEGED    UINT64_C(0x150) /* bits that require privilege */

/* Modes to count. On Digital UNIX, user code runs in executive mode of the chip: to count only user
 * code, use PF5_CTXT_EXEC_AND_SUPER, not PF5_CTXT_USER. */
#define PF5_CTXT_ALL_MODES       UINT64_C(0)
#define PF5_CTXT_NO_KERNEL       UINT64_C(0x100)
#define PF5_CTXT_NO_PAL          UINT64_C(0x200)
#define PF5_CTXT_NO_USER         UINT64_C(0x40000000)
#define PF5_CTXT_USER_AND_KERNEL PF5_CTXT_NO_PAL
#define PF5_CTXT_PAL_AND_KERNEL  PF5_CTXT_NO_USER
#define PF5_CTXT_KERNEL          (PF5_CTXT_NO_USER | PF5_CTXT_NO_PAL)
#define PF5_CTXT_USER_AND_PAL    PF5_CTXT_NO_KERNEL
#define PF5_CTXT_USER            (PF5_CTXT_NO_PAL | PF5_CTXT_NO_KERNEL)
#define PF5_CTXT_PAL             (PF5_CTXT_NO_USER | PF5_CTXT_NO_KERNEL)
#define PF5_CTXT_EXEC_AND_SUPER  (PF5_CTXT_NO_USER | PF5_CTXT_NO_PAL | PF5_CTXT_NO_KERNEL)
#define PF5_CTXT_ALL_PROC        UINT64_C(0)
#define PF5_CTXT_SEL_PROC        UINT64_C(1) /* marked processes only */
#define PF5_CTXT_PME_THIS        UINT64_C(2) /* mark this process; the chip does not get this bit */
#define PF5_CTXT_THIS_PROC       (PF5_CTXT_SEL_PROC | PF5_CTXT_PME_THIS)
#define PF5_CTXT_KMASK           UINT64_C(0x40000301) /* bits that reach the chip */

/* ---- events ---------------------------------------------------------------------------------- */

/* EV5: selects of the three counters, and the second select in the cache box for select 0xf of
 * counters 1 and 2. */
#define PF5_SEL0(N)  ((uint64_t)(N) << 31)
#define PF5_SEL1(N)  ((uint64_t)(N) << 4)
#define PF5_SEL2(N)  ((uint64_t)(N))
#define PF5_CBOX1(N) ((uint64_t)(N) << 51 | 0xf0)
#define PF5_CBOX2(N) ((uint64_t)(N) << 54 | 0x0f)
#define PF5_MUX_KMASK                                                                              \
	UINT64_C(0x01f80000000000ff) /* value in the system's header, without PF5_SEL0 */
#define PF5_MUX0_KMASK          UINT64_C(0x80000000) /* bits that the driver also passes on */
#define PF5_MUX_CBOX_KMASK      UINT64_C(0x01f8000000000000)
#define PF5_MUX_CBOX_KSHIFT     32 /* right shift for wrperfmon on EV5 and EV56 */
#define PFPCA56_MUX_CBOX_KSHIFT 43 /* right shift for wrperfmon on PCA56 */
#define PF6_MUX_KMASK           UINT64_C(0x1f)

/* EV4, counter 0: values of field mux0 of struct iccsr. */
#define PF_ISSUES     0x0
#define PF_PIPEDRY    0x2
#define PF_LOADI      0x4
#define PF_PIPEFROZEN 0x6
#define PF_BRANCHI    0x8
#define PF_CYCLES     0xa
#define PF_PALMODE    0xb
#define PF_NONISSUES  0xc
#define PF_EXTPIN0    0xe

/* EV4, counter 1: values of field mux1 of struct iccsr. */
#define PF_DCACHE     0x0
#define PF_ICACHE     0x1
#define PF_DUAL       0x2
#define PF_BRANCHMISS 0x3
#define PF_FPINST     0x4
#define PF_INTOPS     0x5
#define PF_STOREI     0x6
#define PF_EXTPIN1    0x7

/* EV5 and PCA56, counter 0: parts of the word for PCNT5MUX. */
#define PF5_MUX0_CYCLES PF5_SEL0(0x0)
#define PF5_MUX0_ISSUES PF5_SEL0(0x1)

/* EV5 and PCA56, counter 1: parts of the word for PCNT5MUX. */
#define PF5_MUX1_NON_ISSUE_CYCLES     PF5_SEL1(0x0)
#define PF5_MUX1_SPLIT_ISSUE_CYCLES   PF5_SEL1(0x1)
#define PF5_MUX1_PIPELINE_DRY         PF5_SEL1(0x2)
#define PF5_MUX1_REPLAY_TRAP          PF5_SEL1(0x3)
#define PF5_MUX1_SINGLE_ISSUE_CYCLES  PF5_SEL1(0x4)
#define PF5_MUX1_DUAL_ISSUE_CYCLES    PF5_SEL1(0x5)
#define PF5_MUX1_TRIPLE_ISSUE_CYCLES  PF5_SEL1(0x6)
#define PF5_MUX1_QUAD_ISSUE_CYCLES    PF5_SEL1(0x7)
#define PF5_MUX1_FLOW_CHANGE          PF5_SEL1(0x8)
#define PF5_MUX1_INTEGER_OPERATE      PF5_SEL1(0x9)
#define PF5_MUX1_C_FP_INSTRUCTIONS    PF5_SEL1(0xa)
#define PF5_MUX1_C_LOAD_INSTRUCTIONS  PF5_SEL1(0xb)
#define PF5_MUX1_C_STORE_INSTRUCTIONS PF5_SEL1(0xc)
#define PF5_MUX1_C_ICACHE_ACCESS      PF5_SEL1(0xd)
#define PF5_MUX1_C_DCACHE_ACCESS      PF5_SEL1(0xe)

/* EV5 and PCA56, counter 2: parts of the word for PCNT5MUX. */
#define PF5_MUX2_C_LONG_STALLS         PF5_SEL2(0x0)
#define PF5_MUX2_C_PC_MISPR            PF5_SEL2(0x2)
#define PF5_MUX2_C_BRANCH_MISPREDICTS  PF5_SEL2(0x3)
#define PF5_MUX2_C_ICACHE_MISSES       PF5_SEL2(0x4)
#define PF5_MUX2_C_ITB_MISS            PF5_SEL2(0x5)
#define PF5_MUX2_C_DCACHE_MISSES       PF5_SEL2(0x6)
#define PF5_MUX2_C_DTB_MISS            PF5_SEL2(0x7)
#define PF5_MUX2_C_LOADS_MERGED        PF5_SEL2(0x8)
#define PF5_MUX2_C_LDU_REPLAYS         PF5_SEL2(0x9)
#define PF5_MUX2_C_WB_MAF_FULL_REPLAYS PF5_SEL2(0xa)
#define PF5_MUX2_C_EXTERNAL            PF5_SEL2(0xb)
#define PF5_MUX2_C_CYCLES              PF5_SEL2(0xc)
#define PF5_MUX2_C_MEM_BARRIER         PF5_SEL2(0xd)
#define PF5_MUX2_C_LOAD_LOCKED         PF5_SEL2(0xe)

/* EV5 and EV56 only, counter 1. */
#define PF5_MUX1_C_SCACHE_ACCESS PF5_CBOX1(0)
#define PF5_MUX1_C_SCACHE_READ   PF5_CBOX1(1)
#define PF5_MUX1_C_SCACHE_WRITE  PF5_CBOX1(2)
#define PF5_MUX1_C_SCACHE_VICTIM PF5_CBOX1(3)
#define PF5_MUX1_C_BCACHE_REF    PF5_CBOX1(5)
#define PF5_MUX1_C_BCACHE_VICTIM PF5_CBOX1(6)
#define PF5_MUX1_C_SYS_REQ       PF5_CBOX1(7)

/* EV5 and EV56 only, counter 2. */
#define PF5_MUX2_C_SCACHE_MISS       PF5_CBOX2(0)
#define PF5_MUX2_C_SCACHE_READ_MISS  PF5_CBOX2(1)
#define PF5_MUX2_C_SCACHE_WRITE_MISS PF5_CBOX2(2)
#define PF5_MUX2_C_SCACHE_SH_WRITE   PF5_CBOX2(3)
#define PF5_MUX2_C_SCACHE_WRITE      PF5_CBOX2(4)
#define PF5_MUX2_C_BCACHE_MISS       PF5_CBOX2(5)
#define PF5_MUX2_C_SYS_INV           PF5_CBOX2(6)
#define PF5_MUX2_C_SYS_READ_REQ      PF5_CBOX2(7)

/* PCA56 only, counter 1. */
#define PF5_MUX1_C_BCACHE_READ        PF5_CBOX1(0)
#define PF5_MUX1_C_BCACHE_DREAD_HIT   PF5_CBOX1(1)
#define PF5_MUX1_C_BCACHE_DREAD_FILL  PF5_CBOX1(2)
#define PF5_MUX1_C_BCACHE_WRITE       PF5_CBOX1(3)
#define PF5_MUX1_C_BCACHE_CLN_WRT_HIT PF5_CBOX1(5)
#define PF5_MUX1_C_BCACHE_VICTIM      PF5_CBOX1(6)
#define PF5_MUX1_C_READ_MISS_2        PF5_CBOX1(7)

/* PCA56 only, counter 2. */
#define PF5_MUX2_C_BCACHE_DREAD        PF5_CBOX2(0)
#define PF5_MUX2_C_BCACHE_READ_HIT     PF5_CBOX2(1)
#define PF5_MUX2_C_BCACHE_READ_FILL    PF5_CBOX2(2)
#define PF5_MUX2_C_BCACHE_WRITE_HIT    PF5_CBOX2(3)
#define PF5_MUX2_C_BCACHE_WRITE_FILL   PF5_CBOX2(4)
#define PF5_MUX2_C_SYS_READ_FLUSH_HIT  PF5_CBOX2(5)
#define PF5_MUX2_C_SYS_READ_FLUSH_MISS PF5_CBOX2(6)
#define PF5_MUX2_C_READ_MISS_3         PF5_CBOX2(7)

/* EV6, counter 0: parts of the word for PCNT6MUX. */
#define PF6_MUX0_CYCLES           0x0
#define PF6_MUX0_RET_INSTRUCTIONS 0x10

/* EV6, counter 1: parts of the word for PCNT6MUX. */
#define PF6_MUX1_CYCLES                 0x0
#define PF6_MUX1_RET_COND_BRANCHES      0x1
#define PF6_MUX1_RET_BRANCH_MISPREDICTS 0x2
#define PF6_MUX1_RET_DTB_SINGLE_MISSES  0x3
#define PF6_MUX1_RET_DTB_DOUBLE_MISSES  0x4
#define PF6_MUX1_RET_ITB_MISSES         0x5
#define PF6_MUX1_RET_UNALIGNED_TRAPS    0x6
#define PF6_MUX1_REPLAY_TRAP            0x7

/* EV67: words for PCNT6MUX, which this family uses too. */
#define PF67_RET_INST_AND_CYCLES      0x0
#define PF67_CYCLES_AND_UNDEFINED     0x4
#define PF67_RET_INST_AND_BCACHE_MISS 0x8
#define PF67_CYCLES_AND_REPLAY_TRAPS  0xc
#define PF67_PROFILE_ME_MODE          0x10
#define PF67_CYCLES_AND_RET_DELAY     0x4

/* EV67: ProfileMe statistics. */
enum pf67_statistic {
	PF67_PM_DISABLED = 0,
	PF67_PM_ABORT = 1,
	PF67_PM_ABORT_PER_RET = 2,
	PF67_PM_ARITH_TRAP = 3,
	PF67_PM_CBR_TAKEN = 4,
	PF67_PM_CBR_TAKEN_PER_RET = 5,
	PF67_PM_CYCLES = 6,
	PF67_PM_CYCLES_PER_RET = 7,
	PF67_PM_DELAY = 8,
	PF67_PM_DELAY_PER_RET = 9,
	PF67_PM_DSTREAM_FAULT = 10,
	PF67_PM_DTB_MISS = 11,
	PF67_PM_DTB_MISS_PER_RET = 12,
	PF67_PM_DTB_MISS3 = 13,
	PF67_PM_DTB_MISS4 = 14,
	PF67_PM_EARLY_KILL = 15,
	PF67_PM_EARLY_KILL_PER_RET = 16,
	PF67_PM_FP_DISABLED = 17,
	PF67_PM_FREQ = 18,
	PF67_PM_ICACHE_MISS = 19,
	PF67_PM_ICACHE_MISS_PER_RET = 20,
	PF67_PM_ICACHE_PARITY = 21,
	PF67_PM_INFLT_BCACHE_MISS = 22,
	PF67_PM_INFLT_REPLAYS = 23,
	PF67_PM_INFLT_RETIRES = 24,
	PF67_PM_INTERRUPT = 25,
	PF67_PM_ISTREAM_ACCVIO = 26,
	PF67_PM_ITB_MISS = 27,
	PF67_PM_LDST_ALIGN_TRAP = 28,
	PF67_PM_LDST_ORDER_TRAP = 29,
	PF67_PM_MAP_STALL = 30,
	PF67_PM_MAP_STALL_PER_RET = 31,
	PF67_PM_MCHK_TRAP = 32,
	PF67_PM_MISPREDICT = 33,
	PF67_PM_MISPREDICT_PER_RET = 34,
	PF67_PM_MT_FPCR_TRAP = 35,
	PF67_PM_OPCDEC_TRAP = 36,
	PF67_PM_REPLAY_TRAP = 37,
	PF67_PM_REPLAY_TRAP_PER_RET = 38,
	PF67_PM_RESET = 39,
	PF67_PM_RETIRE = 40,
	PF67_PM_TRAP = 41,
	PF67_PM_TRAP_PER_RET = 42,
	PF67_PM_VALID = 43,
};

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
