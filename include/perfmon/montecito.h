/* SPDX-License-Identifier: MIT */
/* Features of the dual-core Itanium 2 9000 ("Montecito").
 *
 * The processor has twelve counters, PMC4/PMD4 to PMC15/PMD15, opcode matchers, address ranges for
 * code and data, event address registers (EAR) that record the addresses of cache and TLB misses,
 * and a trace buffer (ETB) of the last branches or of the last retired instructions (IP-EAR).
 * pfm_dispatch_set() takes settings as a pfmlib_mont_input_param_t, and returns the debug registers
 * for ranges in a pfmlib_mont_output_param_t. The pfm_mont_decode functions decode what the
 * hardware records.
 *
 * Set a structure to zero before you fill it. Members whose name starts with "reserved" stay 0. */
#ifndef LIBPERFMON_MONTECITO_H
#define LIBPERFMON_MONTECITO_H

#include <perfmon/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define PMU_MONT_FIRST_COUNTER 4 /* counters are PMC/PMD 4 to 15 */
#define PMU_MONT_NUM_COUNTERS  12
#define PMU_MONT_NUM_PMCS      27
#define PMU_MONT_NUM_PMDS      36
#define PMU_MONT_NUM_ETB       16 /* trace buffer entries, PMD48 to PMD63 */
#define PMU_MONT_COUNTER_WIDTH 47

/* ---- settings -------------------------------------------------------------------------------- */

/* flags of pfmlib_mont_counter_t */
#define PFMLIB_MONT_FL_EVT_NO_QUALCHECK                                                            \
	0x1 /* count the event even if it does not support a filter in use */
#define PFMLIB_MONT_FL_EVT_ALL_THRD                                                                \
	0x2 /* count for both threads; refused, because no event supports it */
#define PFMLIB_MONT_FL_EVT_ACTIVE_ONLY                                                             \
	0x4 /* count only while the thread is active; refused for events that are not of type      \
	       active */
#define PFMLIB_MONT_FL_EVT_ALWAYS                                                                  \
	0x8 /* count while the thread is inactive, too; refused for events of type active */

/* Settings of the counter of the event with the same index in pfp_events. */
typedef struct {
	unsigned int flags; /* PFMLIB_MONT_FL_* */
	unsigned int thres; /* threshold: count cycles with more occurrences; less than
	                       pfm_mont_get_event_maxincr() */
} pfmlib_mont_counter_t;

/* An opcode matcher: matches instructions in the selected slots whose opcode equals opcm_match. */
typedef struct {
	unsigned char opcm_used;
	unsigned char opcm_m; /* memory slots */
	unsigned char opcm_i; /* integer slots */
	unsigned char opcm_f; /* floating-point slots */
	unsigned char opcm_b; /* branch slots */
	uint64_t opcm_match;  /* 41 bits */
	uint64_t opcm_mask;   /* 41 bits; a set bit is not compared */
} pfmlib_mont_opcm_t;

/* Branches that the trace buffer records. In tm, ptm and ppm, 0 matches none and 3 both kinds. */
typedef struct {
	unsigned char etb_used;
	unsigned int etb_plm;  /* 0: pfp_dfl_plm */
	unsigned char etb_ds;  /* data select: must be 0, because the hardware reserves 1 */
	unsigned char etb_tm;  /* 1: branches that are not taken, 2: taken branches */
	unsigned char etb_ptm; /* 1: mispredicted target, 2: correctly predicted target */
	unsigned char etb_ppm; /* 1: mispredicted direction, 2: correctly predicted direction */
	unsigned char
		etb_brt; /* 0: every type, 1: IP-relative, 2: returns, 3: other indirect branches */
} pfmlib_mont_etb_t;

/* Trace of retired instructions, in the same buffer. */
typedef struct {
	unsigned char ipear_used;
	unsigned int ipear_plm; /* 0: pfp_dfl_plm */
	unsigned short
		ipear_delay; /* cycles for which the buffer continues after an overflow, 8 bits */
} pfmlib_mont_ipear_t;

typedef enum {
	PFMLIB_MONT_EAR_CACHE_MODE = 0,
	PFMLIB_MONT_EAR_TLB_MODE = 1,
	PFMLIB_MONT_EAR_ALAT_MODE = 2 /* data EAR only */
} pfmlib_mont_ear_mode_t;

/* An event address register that does not follow an event of the set. */
typedef struct {
	unsigned char ear_used;
	pfmlib_mont_ear_mode_t ear_mode;
	unsigned int ear_plm; /* 0: pfp_dfl_plm */
	uint64_t ear_umask;   /* code EAR: 8 bits, 7 in TLB mode; data EAR: 4 bits */
} pfmlib_mont_ear_t;

/* One address range. A list ends at the first entry with rr_start and rr_end 0, or after four. */
typedef struct {
	unsigned int rr_plm; /* 0: pfp_dfl_plm. The hardware ignores it for data */
	uint64_t rr_start;   /* code: a multiple of 16 */
	uint64_t rr_end;     /* first address after the range; code: a multiple of 16 */
} pfmlib_mont_input_rr_desc_t;

/* By how much the covered range exceeds the requested range. */
typedef struct {
	uint64_t rr_soff; /* bytes covered before rr_start */
	uint64_t rr_eoff; /* bytes covered from rr_end on */
} pfmlib_mont_output_rr_desc_t;

/* rr_flags */
#define PFMLIB_MONT_RR_INV 0x1 /* code only: count outside the ranges */
#define PFMLIB_MONT_RR_NO_FINE_MODE                                                                \
	0x2 /* code only: use power-of-two blocks even if fine mode is possible */
#define PFMLIB_MONT_IRR_DEMAND_FETCH                                                               \
	0x4 /* for the four events that count both kinds of fetches: apply to demand fetches */
#define PFMLIB_MONT_IRR_PREFETCH_MATCH 0x8 /* for these events: apply to prefetches */

typedef struct {
	unsigned int rr_flags;
	pfmlib_mont_input_rr_desc_t rr_limits[4];
	unsigned char rr_used;
} pfmlib_mont_input_rr_t;

/* Debug registers to load, in pairs of address and mask. The kernel adds the enable bits. */
typedef struct {
	unsigned int rr_nbr_used;                 /* number of entries of rr_br: even, 0 to 8 */
	pfmlib_mont_output_rr_desc_t rr_infos[4]; /* one for each requested range */
	pfmlib_reg_t rr_br[8];                    /* reg_num: number of the debug register */
} pfmlib_mont_output_rr_t;

typedef struct {
	pfmlib_mont_counter_t pfp_mont_counters[PMU_MONT_NUM_COUNTERS];
	uint64_t pfp_mont_flags;            /* must be 0 */
	pfmlib_mont_opcm_t pfp_mont_opcm1;  /* PMC32, PMC33 */
	pfmlib_mont_opcm_t pfp_mont_opcm2;  /* PMC34, PMC35 */
	pfmlib_mont_ear_t pfp_mont_iear;    /* PMC37 */
	pfmlib_mont_ear_t pfp_mont_dear;    /* PMC40 */
	pfmlib_mont_ipear_t pfp_mont_ipear; /* PMC42 */
	pfmlib_mont_etb_t pfp_mont_etb;     /* PMC39 */
	pfmlib_mont_input_rr_t pfp_mont_drange;
	pfmlib_mont_input_rr_t pfp_mont_irange;
	uint64_t reserved[1];
} pfmlib_mont_input_param_t;

typedef struct {
	pfmlib_mont_output_rr_t pfp_mont_drange;
	pfmlib_mont_output_rr_t pfp_mont_irange;
	uint64_t reserved[6];
} pfmlib_mont_output_param_t;

/* ---- about events ---------------------------------------------------------------------------- */

/* Group, set and type of an event, as pfm_mont_get_event_group(), _set() and _type() of libpfm.so.3
 * return them. */
#define PFMLIB_MONT_EVT_NO_GRP        0
#define PFMLIB_MONT_EVT_L1D_CACHE_GRP 1
#define PFMLIB_MONT_EVT_L2D_CACHE_GRP 2
#define PFMLIB_MONT_EVT_NO_SET        (-1)
#define PFMLIB_MONT_EVT_ACTIVE        0 /* occurs only while its thread is active */
#define PFMLIB_MONT_EVT_FLOATING      1 /* can occur while its thread is inactive */
#define PFMLIB_MONT_EVT_CAUSAL        2 /* belongs to no thread */
#define PFMLIB_MONT_EVT_SELF_FLOATING 3 /* floating if measured with .me, otherwise causal */

/* ---- samples --------------------------------------------------------------------------------- */

/* Level that answered a miss. */
typedef enum {
	PFMLIB_MONT_LEVEL_NONE = 0, /* nothing was recorded, or unknown in this mode */
	PFMLIB_MONT_LEVEL_TLB2 = 1, /* TLB mode: the second level TLB */
	PFMLIB_MONT_LEVEL_VHPT = 2, /* TLB mode: the hardware page walker */
	PFMLIB_MONT_LEVEL_OS = 3,   /* TLB mode: software, after a fault */
	PFMLIB_MONT_LEVEL_L2 = 4, /* cache mode: the second level cache (faster than the third level
	                             cache can be) */
	PFMLIB_MONT_LEVEL_FAR = 5 /* cache mode: third level cache, another processor, memory, or a
	                             late second level cache */
} pfmlib_mont_level_t;

/* Lowest latency of the third level cache in cycles; PFMLIB_MONT_LEVEL_FAR means at least this. */
#define PFMLIB_MONT_L3_CYCLES 14

/* A data EAR sample. */
typedef struct {
	uint64_t dear_daddr;      /* data address of the load */
	uint64_t dear_iaddr;      /* address of the bundle of the load */
	uint32_t dear_slot;       /* slot of the load, 0 to 2 */
	uint32_t dear_latency;    /* cycles; cache mode */
	uint8_t dear_overflow;    /* 1: the latency is at least dear_latency */
	uint8_t dear_valid;       /* 1: the data address (and the latency) was recorded */
	uint8_t dear_iaddr_valid; /* 1: dear_iaddr and dear_slot were recorded */
	uint8_t reserved;
	pfmlib_mont_level_t dear_level;
} pfmlib_mont_dear_sample_t;

/* A code EAR sample. */
typedef struct {
	uint64_t iear_iaddr;   /* address of the line of 32 bytes */
	uint32_t iear_latency; /* cycles; cache mode */
	uint8_t iear_overflow; /* 1: the latency is at least iear_latency */
	uint8_t iear_valid;
	uint8_t reserved[2];
	pfmlib_mont_level_t iear_level;
} pfmlib_mont_iear_sample_t;

/* A branch from the trace buffer. */
typedef struct {
	uint64_t br_source;      /* address of the bundle of the branch */
	uint64_t br_target;      /* address of the target */
	uint8_t br_source_valid; /* 0: the entry of the source was overwritten */
	uint8_t br_target_valid; /* 0: not taken, or the target was not recorded */
	uint8_t br_taken;
	uint8_t br_slot; /* slot of a taken branch, 0 to 2; 3 if not taken (the hardware does not
	                    record it) */
	uint8_t br_mispredicted; /* 1: the front end mispredicted the branch */
	uint8_t br_flushed;      /* 1: the back end detected this and flushed the pipeline */
	uint8_t br_entry;        /* first entry of the branch: PMD48 + br_entry */
	uint8_t reserved;
} pfmlib_mont_branch_t;

/* A retired instruction group from the trace buffer. */
typedef struct {
	uint64_t ip_addr;   /* address of the bundle; with ip_early_freeze, its low 12 bits are 0 */
	uint32_t ip_cycles; /* cycles since the previous entry, 0 to 63 */
	uint32_t ip_delay;  /* with ip_early_freeze: the rest of the delay */
	uint8_t ip_flushed; /* 1: the pipeline was flushed */
	uint8_t ip_early_freeze; /* 1: the buffer stopped before the end of the delay */
	uint8_t ip_entry;        /* PMD48 + ip_entry */
	uint8_t reserved[5];
} pfmlib_mont_ip_t;

/**
 * Decode a data EAR sample from PMD32, PMD33 and PMD36.
 *
 * @mode must be the mode of the register, because the sample does not contain it. All members of
 * *@out are written.
 *
 * Returns PFMLIB_ERR_INVAL for NULL or an unknown mode. Since 1.0.
 */
int pfm_mont_decode_dear(pfmlib_mont_ear_mode_t mode, uint64_t pmd32, uint64_t pmd33,
                         uint64_t pmd36, pfmlib_mont_dear_sample_t *out);

/**
 * Decode a code EAR sample from PMD34 and PMD35.
 *
 * Like pfm_mont_decode_dear(). Returns PFMLIB_ERR_INVAL for PFMLIB_MONT_EAR_ALAT_MODE. Since 1.0.
 */
int pfm_mont_decode_iear(pfmlib_mont_ear_mode_t mode, uint64_t pmd34, uint64_t pmd35,
                         pfmlib_mont_iear_sample_t *out);

/**
 * Decode the trace buffer of branches.
 *
 * @pmd38  index register
 * @pmd39  extension register
 * @pmds   PMD48 to PMD63
 * @out    the branches, oldest first; room for 16
 * @n      number of branches that were written
 *
 * A source and the next target form one branch. Entries that the hardware marked as empty are
 * omitted. Returns PFMLIB_ERR_INVAL for NULL. Since 1.0.
 */
int pfm_mont_decode_etb(uint64_t pmd38, uint64_t pmd39, const uint64_t pmds[PMU_MONT_NUM_ETB],
                        pfmlib_mont_branch_t out[PMU_MONT_NUM_ETB], unsigned int *n);

/**
 * Decode the trace buffer of retired instructions (IP-EAR). Arguments and results are those of
 * pfm_mont_decode_etb().
 *
 * Since 1.0.
 */
int pfm_mont_decode_ipear(uint64_t pmd38, uint64_t pmd39, const uint64_t pmds[PMU_MONT_NUM_ETB],
                          pfmlib_mont_ip_t out[PMU_MONT_NUM_ETB], unsigned int *n);

/* ---- registers as structures ----------------------------------------------------------------- */

/* These unions are for programs that were written for earlier versions of this interface. The
 * compiler chooses the order of bit-fields, so the structures exist only on little-endian machines,
 * and the library does not use them. New programs use the decode functions above and
 * pfm_decode_field(). */
#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PFM_MONT_LAYOUTS 1
#endif
#ifdef __GNUC__
#define PFM_MONT_EXTENSION __extension__
#else
#define PFM_MONT_EXTENSION
#endif

/* A control register. */
typedef union {
	uint64_t pmc_val;
#ifdef PFM_MONT_LAYOUTS
	PFM_MONT_EXTENSION struct { /* PMC4 to PMC15 */
		uint64_t pmc_plm:4;
		uint64_t pmc_ev:1; /* show on a pin */
		uint64_t pmc_oi:1; /* interrupt on overflow */
		uint64_t pmc_pm:1; /* privileged monitor */
		uint64_t pmc_ig1:1;
		uint64_t pmc_es:8; /* event select */
		uint64_t pmc_umask:4;
		uint64_t pmc_thres:3;
		uint64_t pmc_ig2:1;
		uint64_t pmc_ism:2; /* 2 */
		uint64_t pmc_all:1; /* both threads */
		uint64_t pmc_i:1;   /* MESI states */
		uint64_t pmc_s:1;
		uint64_t pmc_e:1;
		uint64_t pmc_m:1;
		uint64_t pmc_res3:33;
	} pmc_mont_counter_reg;
	PFM_MONT_EXTENSION struct { /* PMC32, PMC34: opcode masks */
		uint64_t opcm_mask:41;
		uint64_t opcm_ig1:7;
		uint64_t opcm_b:1;
		uint64_t opcm_f:1;
		uint64_t opcm_i:1;
		uint64_t opcm_m:1;
		uint64_t opcm_ig2:4;
		uint64_t opcm_inv:1;   /* PMC32: invert the code range */
		uint64_t opcm_ig_ad:1; /* PMC32: ignore the code range */
		uint64_t opcm_ig3:6;
	} pmc32_34_mont_reg;
	PFM_MONT_EXTENSION struct { /* PMC33, PMC35: opcodes */
		uint64_t opcm_match:41;
		uint64_t opcm_ig1:23;
	} pmc33_35_mont_reg;
	PFM_MONT_EXTENSION struct { /* PMC36: channels that ignore the opcode matchers */
		uint64_t opcm_ch0_ig_opcm:1;
		uint64_t opcm_ch1_ig_opcm:1;
		uint64_t opcm_ch2_ig_opcm:1;
		uint64_t opcm_ch3_ig_opcm:1;
		uint64_t opcm_res:28;
		uint64_t opcm_ig:32;
	} pmc36_mont_reg;
	PFM_MONT_EXTENSION struct { /* PMC37: code EAR, cache mode */
		uint64_t iear_plm:4;
		uint64_t iear_pm:1;
		uint64_t iear_umask:8;
		uint64_t iear_ct:1; /* 1 */
		uint64_t iear_res:2;
		uint64_t iear_ig:48;
	} pmc37_mont_cache_reg;
	PFM_MONT_EXTENSION struct { /* PMC37: code EAR, TLB mode */
		uint64_t iear_plm:4;
		uint64_t iear_pm:1;
		uint64_t iear_umask:7;
		uint64_t iear_ct:2; /* 0 */
		uint64_t iear_res:50;
	} pmc37_mont_tlb_reg;
	PFM_MONT_EXTENSION struct { /* PMC38: code ranges */
		uint64_t iarc_res1:1;
		uint64_t iarc_ig_ibrp0:1; /* pair not used */
		uint64_t iarc_res2:2;
		uint64_t iarc_ig_ibrp1:1;
		uint64_t iarc_res3:2;
		uint64_t iarc_ig_ibrp2:1;
		uint64_t iarc_res4:2;
		uint64_t iarc_ig_ibrp3:1;
		uint64_t iarc_res5:2;
		uint64_t iarc_fine:1;
		uint64_t iarc_ig6:50;
	} pmc38_mont_reg;
	PFM_MONT_EXTENSION struct { /* PMC39: trace buffer */
		uint64_t etbc_plm:4;
		uint64_t etbc_res1:2;
		uint64_t etbc_pm:1;
		uint64_t etbc_ds:1;
		uint64_t etbc_tm:2;
		uint64_t etbc_ptm:2;
		uint64_t etbc_ppm:2;
		uint64_t etbc_brt:2;
		uint64_t etbc_ig:48;
	} pmc39_mont_reg;
	PFM_MONT_EXTENSION struct { /* PMC40: data EAR */
		uint64_t dear_plm:4;
		uint64_t dear_ig1:2;
		uint64_t dear_pm:1;
		uint64_t dear_mode:2;
		uint64_t dear_ig2:7;
		uint64_t dear_umask:4;
		uint64_t dear_ig3:4;
		uint64_t dear_ism:2; /* 2 */
		uint64_t dear_ig4:38;
	} pmc40_mont_reg;
	PFM_MONT_EXTENSION struct { /* PMC41: data ranges */
		uint64_t darc_res1:3;
		uint64_t darc_cfg_dtag0:2;
		uint64_t darc_res2:6;
		uint64_t darc_cfg_dtag1:2;
		uint64_t darc_res3:6;
		uint64_t darc_cfg_dtag2:2;
		uint64_t darc_res4:6;
		uint64_t darc_cfg_dtag3:2;
		uint64_t darc_res5:16;
		uint64_t darc_ena_dbrp0:1;
		uint64_t darc_ena_dbrp1:1;
		uint64_t darc_ena_dbrp2:1;
		uint64_t darc_ena_dbrp3:1;
		uint64_t darc_res6:15;
	} pmc41_mont_reg;
	PFM_MONT_EXTENSION struct { /* PMC42: IP-EAR */
		uint64_t ipear_plm:4;
		uint64_t ipear_ig1:2;
		uint64_t ipear_pm:1;
		uint64_t ipear_ig2:1;
		uint64_t ipear_mode:3; /* 4 */
		uint64_t ipear_delay:8;
		uint64_t ipear_ig3:45;
	} pmc42_mont_reg;
#endif
} pfm_mont_pmc_reg_t;

#ifdef PFM_MONT_LAYOUTS
#define PFM_MONT_ETB_EXT(n)                                                                        \
	uint64_t etb_pmd##n##ext_b1:1;                                                             \
	uint64_t etb_pmd##n##ext_bruflush:1;                                                       \
	uint64_t etb_pmd##n##ext_res:2;
#define PFM_MONT_IPEAR_EXT(n)                                                                      \
	uint64_t ipear_pmd##n##ext_cycles:2;                                                       \
	uint64_t ipear_pmd##n##ext_f:1;                                                            \
	uint64_t ipear_pmd##n##ext_ef:1;
/* A macro of macro calls is laid out anew each time. */
/* clang-format off */
#define PFM_MONT_EXTS(EXT)                              \
	EXT(48)                                         \
	EXT(56)                                         \
	EXT(49) EXT(57) EXT(50) EXT(58) EXT(51) EXT(59) \
		EXT(52) EXT(60) EXT(53) EXT(61) EXT(54) EXT(62) EXT(55) EXT(63)
/* clang-format on */
#endif

/* A data register. */
typedef union {
	uint64_t pmd_val;
#ifdef PFM_MONT_LAYOUTS
	PFM_MONT_EXTENSION struct { /* PMD4 to PMD15 */
		uint64_t pmd_count:47;
		uint64_t pmd_sxt47:17;
	} pmd_mont_counter_reg;
	struct { /* data EAR: address */
		uint64_t dear_daddr;
	} pmd32_mont_reg;
	PFM_MONT_EXTENSION struct { /* data EAR: latency */
		uint64_t dear_latency:13;
		uint64_t dear_ov:1;
		uint64_t dear_stat:2;
		uint64_t dear_ig:48;
	} pmd33_mont_reg;
	PFM_MONT_EXTENSION struct { /* code EAR: address */
		uint64_t iear_stat:2;
		uint64_t iear_ig:3;
		uint64_t iear_iaddr:59;
	} pmd34_mont_reg;
	PFM_MONT_EXTENSION struct { /* code EAR: latency */
		uint64_t iear_latency:12;
		uint64_t iear_ov:1;
		uint64_t iear_ig:51;
	} pmd35_mont_reg;
	PFM_MONT_EXTENSION struct { /* data EAR: instruction */
		uint64_t dear_slot:2;
		uint64_t dear_bn:1; /* second bundle of the pair */
		uint64_t dear_vl:1; /* valid */
		uint64_t dear_iaddr:60;
	} pmd36_mont_reg;
	PFM_MONT_EXTENSION struct {  /* trace buffer: index */
		uint64_t etbi_ebi:4; /* next entry */
		uint64_t etbi_ig1:1;
		uint64_t etbi_full:1; /* wrapped at least once */
		uint64_t etbi_ig2:58;
	} pmd38_mont_reg;
	PFM_MONT_EXTENSION struct {
		PFM_MONT_EXTS(PFM_MONT_ETB_EXT)
	} pmd39_mont_reg;
	PFM_MONT_EXTENSION struct {
		PFM_MONT_EXTS(PFM_MONT_IPEAR_EXT)
	} pmd39_ipear_mont_reg;
	PFM_MONT_EXTENSION struct {  /* PMD48 to PMD63: branches */
		uint64_t etb_s:1;    /* source */
		uint64_t etb_mp:1;   /* mispredicted */
		uint64_t etb_slot:2; /* 3: not taken */
		uint64_t etb_addr:60;
	} pmd48_63_etb_mont_reg;
	PFM_MONT_EXTENSION struct {     /* PMD48 to PMD63: IP-EAR */
		uint64_t ipear_addr:60; /* address bits 63:4 */
		uint64_t ipear_cycles:4;
	} pmd48_63_ipear_mont_reg;
	PFM_MONT_EXTENSION struct { /* PMD48 to PMD63: IP-EAR after an early freeze */
		uint64_t ipear_delay:8;
		uint64_t ipear_addr:52; /* address bits 63:12 */
		uint64_t ipear_cycles:4;
	} pmd48_63_ipear_ef_mont_reg;
#endif
} pfm_mont_pmd_reg_t;

#undef PFM_MONT_EXTENSION
#ifdef PFM_MONT_LAYOUTS
#undef PFM_MONT_ETB_EXT
#undef PFM_MONT_IPEAR_EXT
#undef PFM_MONT_EXTS
#endif

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
