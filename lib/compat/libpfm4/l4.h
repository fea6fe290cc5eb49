/* SPDX-License-Identifier: MIT */
/* Shared by the files of libpfm.so.4. A call converts text -> query (PMU, event, attributes) ->
 * code (words) -> the kernel's attr -> string, all on the caller's stack. The only state is what
 * pfm_initialize() read, in atomic words, so every function is thread-safe. */
#ifndef LIBPFM4_L4_H
#define LIBPFM4_L4_H

#include <perfmon/pfmlib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "compat/libpfm4/image.h"

#define L4_ALL_LEVELS (PFM_PLM0 | PFM_PLM1 | PFM_PLM2 | PFM_PLM3 | PFM_PLMH)

/* Attributes of the OS layer, by the number that pfm_get_event_attr_info() reports as code. */
enum l4_os_attr {
	OS_ATTR_U,
	OS_ATTR_K,
	OS_ATTR_H,
	OS_ATTR_PERIOD,
	OS_ATTR_FREQ,
	OS_ATTR_PRECISE,
	OS_ATTR_EXCL,
	OS_ATTR_MG,
	OS_ATTR_MH,
	OS_ATTR_CPU,
	OS_ATTR_PINNED,
	OS_ATTR_HW_SMPL,
	N_OS_ATTRS
};

struct l4_modifier {
	char name[9];
	bool is_number; /* otherwise a boolean */
	uint64_t min, max;
	char desc[64];
};

extern const struct l4_modifier l4_modifiers[L4_N_ENCODERS][24];
extern const struct l4_modifier l4_os_attrs[N_OS_ATTRS];

/* ---- state ----------------------------------------------------------------------------------- */

void l4_initialize(void);
void l4_terminate(void);
bool l4_is_ready(void);
/* True if PMU @pmu is not disabled and not after a forced one. */
bool l4_is_pmu_enabled(uint32_t pmu);
bool l4_is_pmu_active(uint32_t pmu);
/* True if texts may name the PMU: it is active, or LIBPFM_ENCODE_INACTIVE allows all PMUs, even
 * disabled ones and those after a forced one. */
bool l4_can_name_pmu(uint32_t pmu);
bool l4_is_exact_mode(void);
bool l4_is_os_active(void);
/* The architectural PMU: its version, missing events, and counters. */
void l4_get_arch_pmu(unsigned *version, unsigned *missing, unsigned *general, unsigned *fixed);
/* True if a row of a PMU with PMU_ROWS_BY_MACHINE is for this machine. */
bool l4_is_row_for_host(const struct l4_pmu *u, const struct l4_row *r);
/* Levels of the first active core PMU. */
unsigned l4_get_core_levels(void);
void l4_print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- names ----------------------------------------------------------------------------------- */

uint32_t l4_hash_name(const char *name, size_t len);
bool l4_is_same_name(const char *stored, const char *name, size_t len);

/* ---- paths ----------------------------------------------------------------------------------- */

#define L4_PATH_SIZE        512
#define L4_EVENT_SOURCE_DIR "/sys/bus/event_source/devices/"
/* The value of a PERFMON_ variable; "" in set-user-ID programs that another user runs. */
const char *l4_get_perfmon_variable(const char *name);
/* Reads $PERFMON_SYSFS at the first call. The caller holds the lock. */
void l4_read_root(void);
/* Writes a path below the root that $PERFMON_SYSFS names; "" if it does not fit. True if there is
 * such a root. */
bool l4_format_path(char out[L4_PATH_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- host ------------------------------------------------------------------------------------ */

struct l4_host_identity {
	int vendor; /* enum l4_host_kind, L4_HOST_NONE if unknown */
	unsigned family, model, stepping;
	unsigned amd_pmu_id; /* libpfm4's id of AMD's PMU */
	unsigned arm_core_ids[8], n_arm_core_ids;
	unsigned ibm_z_type;  /* machine type of IBM Z */
	unsigned event_lists; /* lists of events of this machine: of IBM Z, and from bit 8 of
	                         Intel's energy counters */
	unsigned arch_version, arch_missing, arch_general, arch_fixed;
	char cpuinfo_key[64];
};

/* The lists for other machines, as in libpfm4: z16, and Intel's client processors. */
#define L4_DEFAULT_EVENT_LISTS (1u << 6 | 1u << 8)
/* Identifies the host by an identity, a file like /proc/cpuinfo, or ("" for both) this machine or
 * the one below the root. */
void l4_identify_host(struct l4_host_identity *m, const char *cpuid, const char *cpuinfo);
bool l4_is_pmu_for_host(const struct l4_host_identity *m, const struct l4_pmu *u);
/* True if the kernel has a device with one of the PMU's names; *@type gets its type. */
bool l4_find_device(const struct l4_pmu *u, int *type);

/* ---- events ---------------------------------------------------------------------------------- */

/* An event: a row, or a subsystem of tracepoints. */
struct l4_event {
	uint32_t pmu_number;
	const struct l4_pmu *pmu;
	const struct l4_row *row;
	uint32_t position;
	uint8_t encoder;
	bool is_tracepoint_system; /* the event is subsystem @position; its tracepoints are its
	                              masks */
};

/* The number of the PMU, or -1. */
int l4_find_pmu_by_name(const char *name, size_t len);
int l4_find_pmu_by_id(unsigned id);
/* Finds the event of PMU @pmu at @pos. False if missing. */
bool l4_get_event(uint32_t pmu, uint32_t pos, struct l4_event *out);
bool l4_find_event(uint32_t pmu, const char *name, size_t len, struct l4_event *out);
bool l4_get_event_by_index(int idx, struct l4_event *out);
int l4_make_event_index(const struct l4_event *ev);
/* The end of the positions of a PMU's events. */
uint32_t l4_get_event_end(uint32_t pmu);
uint32_t l4_count_events(uint32_t pmu);
int l4_get_first_event_index(uint32_t pmu);
const char *l4_get_event_name(const struct l4_event *ev);

/* ---- attributes ------------------------------------------------------------------------------ */

enum l4_attr_kind { L4_ATTR_MASK, L4_ATTR_MODIFIER, L4_ATTR_OS, L4_ATTR_RAW_MASK };

struct l4_attr_list {
	uint32_t n_masks; /* that the PMU has */
	uint32_t modifiers, os_attrs;
};

struct l4_attr {
	uint8_t kind;
	uint16_t number; /* of the mask in the row's list, or of the modifier */
	uint64_t value;
};

/* The number of bits in @set, which are few. Without a popcount instruction the compiler's builtin
 * would be a function call. */
static inline unsigned l4_count_bits(uint32_t set)
{
	unsigned n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

void l4_list_attrs(const struct l4_event *ev, pfm_os_t os, struct l4_attr_list *out);
/* True if AMD's revision @rev is within the range of @flags of a row or mask. (event.c) */
bool l4_is_in_revision_range(unsigned rev, uint32_t flags);
bool l4_has_mask(const struct l4_event *ev, const struct l4_mask *m);
/* Gets the attribute at @index of the list. False past its end. */
bool l4_get_attr(const struct l4_event *ev, const struct l4_attr_list *list, unsigned index,
                 struct l4_attr *out);
const char *l4_get_attr_name(const struct l4_event *ev, const struct l4_attr *a);

/* ---- tracepoints ----------------------------------------------------------------------------- */

/* Prevents other threads from reading the tracepoints during fork(). */
void l4_lock_tracepoints(void);
void l4_unlock_tracepoints(void);
uint32_t l4_count_trace_systems(void);
const char *l4_get_trace_system_name(uint32_t n);
uint32_t l4_count_tracepoints(uint32_t system);
const char *l4_get_tracepoint_name(uint32_t system, uint32_t n, uint64_t *id);
int l4_find_trace_system(const char *name, size_t len);
/* True unless @name is an event that the kernel's cpu device may have and lacks. */
bool l4_kernel_has_event(const char *name);

/* ---- texts to queries ------------------------------------------------------------------------ */

#define L4_MAX_ATTRS 64

struct l4_query {
	struct l4_event event;
	struct l4_event
		named_event; /* the event that the user named: an alias of @event, or @event */
	struct l4_attr_list attr_list;
	pfm_os_t os;
	unsigned n_attrs,
		n_alias_attrs; /* n_alias_attrs: the first attributes, which an alias has added */
	uint64_t raw_code;     /* config of an event of perf_raw */
	struct l4_attr attrs[L4_MAX_ATTRS];
};

int l4_parse_event(const char *text, pfm_os_t os, struct l4_query *q);

/* ---- queries to words ------------------------------------------------------------------------ */

struct l4_code {
	uint64_t words[4];
	unsigned n_words;
	bool has_raw_mask, takes_no_modifiers;
	uint64_t raw_mask;
	uint32_t shown_modifiers;     /* modifiers for the string, one bit for each */
	uint32_t effective_modifiers; /* modifiers that have an effect, which a string must have to
	                                 read back */
	uint64_t modifier_values[24]; /* values of modifiers */
	uint64_t used_masks[3];       /* masks that are used, one bit for each */
	uint64_t default_masks[3];    /* used masks that were not named */
	uint64_t hidden_masks[3];     /* used masks that a string must not have to read back */
};

int l4_encode(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_core(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_nhm_unc(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_ep_unc(const struct l4_query *q, int plm, struct l4_code *out);

/* The levels that a query names, or @plm. @bits: the levels of modifiers 0, 1 ... A level that is
 * named twice with two values, which only the exact mode accepts, has the last value; with @sticky
 * a level that was set once stays set. */
unsigned l4_get_levels(const struct l4_query *q, unsigned plm, const unsigned *bits, unsigned n,
                       bool sticky);

static inline void l4_set_bit(uint64_t set[3], unsigned n)
{
	set[n / 64] |= 1ull << n % 64;
}

static inline bool l4_has_bit(const uint64_t set[3], unsigned n)
{
	return set[n / 64] >> n % 64 & 1;
}

/* ---- the kernel's attr ----------------------------------------------------------------------- */

struct perf_event_attr;

struct l4_perf_result {
	uint32_t shown_attrs;
	uint64_t attr_values[N_OS_ATTRS];
	int cpu;
};

/* @named: @out is needed for a string; otherwise only its CPU is set. */
int l4_build_perf_attr(const struct l4_query *q, const struct l4_code *c, int plm,
                       struct perf_event_attr *attr, bool named, struct l4_perf_result *out);

/* ---- strings --------------------------------------------------------------------------------- */

/* Writes the fully qualified string to memory from malloc(). @perf is NULL without an OS layer.
 * Like libpfm4, stores NULL for some events. */
int l4_format_event(const struct l4_query *q, const struct l4_code *c,
                    const struct l4_perf_result *perf, char **out);

#endif
