/* SPDX-License-Identifier: MIT */
/* Numbers and structures that libperfmon shares with the libpfm 3 interface (libpfm.so.3): result
 * codes, privilege levels, PMU types, registers and sets of registers.
 *
 * The names and values are those of libpfm 3. */
#ifndef LIBPERFMON_TYPES_H
#define LIBPERFMON_TYPES_H

#include <stdint.h>

/* ---- privilege levels and flags -------------------------------------------------------------- */

/* Privilege levels. Most processors have two: 0 is the kernel, 3 is the user. */
#define PFM_PLM0 0x01
#define PFM_PLM1 0x02
#define PFM_PLM2 0x04
#define PFM_PLM3 0x08

/* pfp_flags: count for the whole system, not for one task. */
#define PFMLIB_PFP_SYSTEMWIDE 0x1

/* ---- result codes ---------------------------------------------------------------------------- */

typedef int pfm_err_t;

#define PFMLIB_SUCCESS             0
#define PFMLIB_ERR_NOTSUPP         (-1)  /* not supported here */
#define PFMLIB_ERR_INVAL           (-2)  /* invalid argument */
#define PFMLIB_ERR_NOINIT          (-3)  /* no PMU selected */
#define PFMLIB_ERR_NOTFOUND        (-4)  /* unknown event or code */
#define PFMLIB_ERR_NOASSIGN        (-5)  /* the set does not fit on the counters */
#define PFMLIB_ERR_FULL            (-6)  /* buffer too small */
#define PFMLIB_ERR_EVTMANY         (-7)  /* an event is given more than once */
#define PFMLIB_ERR_MAGIC           (-8)  /* not a structure of this library */
#define PFMLIB_ERR_FEATCOMB        (-9)  /* features that cannot be combined */
#define PFMLIB_ERR_EVTSET          (-10) /* events of sets that cannot be measured together */
#define PFMLIB_ERR_EVTINCOMP       (-11) /* events that cannot be measured together */
#define PFMLIB_ERR_TOOMANY         (-12) /* too many events or unit masks */
#define PFMLIB_ERR_IRRTOOBIG       (-13) /* code range too big */
#define PFMLIB_ERR_IRREMPTY        (-14) /* code range is empty */
#define PFMLIB_ERR_IRRINVAL        (-15) /* invalid code range */
#define PFMLIB_ERR_IRRTOOMANY      (-16) /* too many code ranges */
#define PFMLIB_ERR_DRRINVAL        (-17) /* invalid data range */
#define PFMLIB_ERR_DRRTOOMANY      (-18) /* too many data ranges */
#define PFMLIB_ERR_BADHOST         (-19) /* not available on this processor */
#define PFMLIB_ERR_IRRALIGN        (-20) /* code range not aligned to a bundle */
#define PFMLIB_ERR_IRRFLAGS        (-21) /* code range lacks the flag that selects fetches */
#define PFMLIB_ERR_UMASK           (-22) /* invalid or missing unit mask */
#define PFMLIB_ERR_NOMEM           (-23) /* out of memory */
#define PFMLIB_ERR_ATTR            (-24) /* unknown qualifier */
#define PFMLIB_ERR_ATTR_VAL        (-25) /* invalid value of a qualifier */
#define PFMLIB_ERR_ATTR_MISSING    (-26) /* a qualifier lacks its value */
#define PFMLIB_ERR_ATTR_UNEXPECTED (-27) /* a qualifier that takes no value has one */
#define PFMLIB_ERR_ATTR_EMPTY      (-28) /* empty qualifier */
#define PFMLIB_ERR_ATTR_EVENT      (-29) /* the event does not accept this qualifier */
#define PFMLIB_ERR_ATTR_SET        (-30) /* qualifiers contradict each other */
#define PFMLIB_ERR_ALIAS           (-31) /* the name is known, but this processor lacks the event */
#define PFMLIB_ERR_NOPMU           (-32) /* unknown PMU */
#define PFMLIB_ERR_AMBIGUOUS       (-33) /* ambiguous event name */
#define PFMLIB_ERR_SYNTAX          (-34) /* malformed event specification */
#define PFMLIB_ERR_PERM            (-35) /* permission denied */
#define PFMLIB_ERR_BUSY            (-36) /* counters in use */
#define PFMLIB_ERR_SYS             (-37) /* a system call failed */
#define PFMLIB_ERR_IMAGE           (-38) /* corrupt or foreign image file */
#define PFMLIB_ERR_LAST            (-38) /* the lowest code */

/* ---- PMU types ------------------------------------------------------------------------------- */

#define PFMLIB_NO_PMU               (-1)
#define PFMLIB_UNKNOWN_PMU          0
#define PFMLIB_GEN_IA64_PMU         1
#define PFMLIB_ITANIUM_PMU          2
#define PFMLIB_ITANIUM2_PMU         3
#define PFMLIB_MONTECITO_PMU        4
#define PFMLIB_AMD64_PMU            16
#define PFMLIB_I386_P6_PMU          32
#define PFMLIB_PENTIUM4_PMU         33
#define PFMLIB_COREDUO_PMU          34
#define PFMLIB_I386_PM_PMU          35
#define PFMLIB_CORE_PMU             36
#define PFMLIB_INTEL_CORE_PMU       36
#define PFMLIB_INTEL_PPRO_PMU       37
#define PFMLIB_INTEL_PII_PMU        38
#define PFMLIB_INTEL_ATOM_PMU       39
#define PFMLIB_INTEL_NHM_PMU        40
#define PFMLIB_INTEL_WSM_PMU        41
#define PFMLIB_GEN_IA32_PMU         63
#define PFMLIB_MIPS_20KC_PMU        64
#define PFMLIB_MIPS_24K_PMU         65
#define PFMLIB_MIPS_25KF_PMU        66
#define PFMLIB_MIPS_34K_PMU         67
#define PFMLIB_MIPS_5KC_PMU         68
#define PFMLIB_MIPS_74K_PMU         69
#define PFMLIB_MIPS_R10000_PMU      70
#define PFMLIB_MIPS_R12000_PMU      71
#define PFMLIB_MIPS_RM7000_PMU      72
#define PFMLIB_MIPS_RM9000_PMU      73
#define PFMLIB_MIPS_SB1_PMU         74
#define PFMLIB_MIPS_VR5432_PMU      75
#define PFMLIB_MIPS_VR5500_PMU      76
#define PFMLIB_MIPS_ICE9A_PMU       77
#define PFMLIB_MIPS_ICE9B_PMU       78
#define PFMLIB_POWERPC_PMU          90
#define PFMLIB_CRAYX2_PMU           96
#define PFMLIB_CELL_PMU             100
#define PFMLIB_PPC970_PMU           110
#define PFMLIB_PPC970MP_PMU         111
#define PFMLIB_POWER3_PMU           112
#define PFMLIB_POWER4_PMU           113
#define PFMLIB_POWER5_PMU           114
#define PFMLIB_POWER5p_PMU          115
#define PFMLIB_POWER6_PMU           116
#define PFMLIB_POWER7_PMU           117
#define PFMLIB_SPARC_ULTRA12_PMU    130
#define PFMLIB_SPARC_ULTRA3_PMU     131
#define PFMLIB_SPARC_ULTRA3I_PMU    132
#define PFMLIB_SPARC_ULTRA3PLUS_PMU 133
#define PFMLIB_SPARC_ULTRA4PLUS_PMU 134
#define PFMLIB_SPARC_NIAGARA1_PMU   135
#define PFMLIB_SPARC_NIAGARA2_PMU   136
#define PFMLIB_ALPHA_EV4_PMU        150
#define PFMLIB_ALPHA_EV5_PMU        151
#define PFMLIB_ALPHA_PCA56_PMU      152
#define PFMLIB_ALPHA_EV6_PMU        153
#define PFMLIB_ALPHA_EV67_PMU       154

/* ---- registers ------------------------------------------------------------------------------- */

#define PFMLIB_REG_MAX 512                   /* number of registers in a mask */
#define PFMLIB_REG_BV  (PFMLIB_REG_MAX / 64) /* number of words in a mask */

/* A set of registers. Register n is bit n % 64 of word n / 64. */
typedef struct pfmlib_regmask {
	uint64_t bits[PFMLIB_REG_BV];
} pfmlib_regmask_t;

/* A register and its value. */
typedef struct pfmlib_reg {
	unsigned long long reg_value;
	unsigned long long reg_addr; /* its address, or its number if registers have no addresses */
	unsigned int reg_num;        /* its number in this interface */
	unsigned int reg_reserved1;
	uint64_t reg_alt_addr; /* another address (RDPMC index), or reg_addr again */
} pfmlib_reg_t;

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sets of registers ----------------------------------------------------------------------- */

/* Returns 1 if register @b is in the set; 0 for registers that do not exist. */
static inline int pfm_regmask_isset(const pfmlib_regmask_t *h, unsigned int b)
{
	return h && b < PFMLIB_REG_MAX && (h->bits[b / 64] >> (b % 64) & 1);
}

/* Adds register @b. PFMLIB_ERR_INVAL if it does not exist. */
static inline pfm_err_t pfm_regmask_set(pfmlib_regmask_t *h, unsigned int b)
{
	if (!h || b >= PFMLIB_REG_MAX)
		return PFMLIB_ERR_INVAL;
	h->bits[b / 64] |= (uint64_t)1 << (b % 64);
	return PFMLIB_SUCCESS;
}

/* Removes register @b. PFMLIB_ERR_INVAL if it does not exist. */
static inline pfm_err_t pfm_regmask_clr(pfmlib_regmask_t *h, unsigned int b)
{
	if (!h || b >= PFMLIB_REG_MAX)
		return PFMLIB_ERR_INVAL;
	h->bits[b / 64] &= ~((uint64_t)1 << (b % 64));
	return PFMLIB_SUCCESS;
}

/* Gives the number of registers in the set. */
static inline pfm_err_t pfm_regmask_weight(const pfmlib_regmask_t *h, unsigned int *weight)
{
	unsigned int n = 0, i;

	if (!h || !weight)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_MAX; i++)
		n += (unsigned int)(h->bits[i / 64] >> (i % 64) & 1);
	*weight = n;
	return PFMLIB_SUCCESS;
}

/* Returns 1 if the sets are equal; 0 if not, or if one is NULL. */
static inline int pfm_regmask_eq(const pfmlib_regmask_t *h1, const pfmlib_regmask_t *h2)
{
	unsigned int i;

	if (!h1 || !h2)
		return 0;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		if (h1->bits[i] != h2->bits[i])
			return 0;
	return 1;
}

/* Stores the registers that are in both sets. */
static inline pfm_err_t pfm_regmask_and(pfmlib_regmask_t *dst, const pfmlib_regmask_t *h1,
                                        const pfmlib_regmask_t *h2)
{
	unsigned int i;

	if (!dst || !h1 || !h2)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = h1->bits[i] & h2->bits[i];
	return PFMLIB_SUCCESS;
}

/* Stores the registers of the first set that are not in the second. */
static inline pfm_err_t pfm_regmask_andnot(pfmlib_regmask_t *dst, const pfmlib_regmask_t *h1,
                                           const pfmlib_regmask_t *h2)
{
	unsigned int i;

	if (!dst || !h1 || !h2)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = h1->bits[i] & ~h2->bits[i];
	return PFMLIB_SUCCESS;
}

/* Stores the registers that are in at least one of the sets. */
static inline pfm_err_t pfm_regmask_or(pfmlib_regmask_t *dst, const pfmlib_regmask_t *h1,
                                       const pfmlib_regmask_t *h2)
{
	unsigned int i;

	if (!dst || !h1 || !h2)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = h1->bits[i] | h2->bits[i];
	return PFMLIB_SUCCESS;
}

/* Copies @src to @dst. */
static inline pfm_err_t pfm_regmask_copy(pfmlib_regmask_t *dst, const pfmlib_regmask_t *src)
{
	if (!dst || !src)
		return PFMLIB_ERR_INVAL;
	*dst = *src;
	return PFMLIB_SUCCESS;
}

/* Replaces the set with its complement. */
static inline pfm_err_t pfm_regmask_not(pfmlib_regmask_t *dst)
{
	unsigned int i;

	if (!dst)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = ~dst->bits[i];
	return PFMLIB_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
