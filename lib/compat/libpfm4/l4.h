/* SPDX-License-Identifier: MIT */
/* Inside libpfm.so.4. A call walks: text -> query (PMU, event, attributes) -> code (words) -> attr
 * of the kernel -> string. All of it is on the caller's stack; the only state is what
 * pfm_initialize() read, one word at a time, so that any thread may call anything. */
#ifndef LIBPFM4_L4_H
#define LIBPFM4_L4_H

#include <perfmon/pfmlib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "compat/libpfm4/image.h"

#define L4_ALL_LEVELS (PFM_PLM0 | PFM_PLM1 | PFM_PLM2 | PFM_PLM3 | PFM_PLMH)

/* Attributes that the kernel's interface adds, by the number that info calls show as code. */
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
	bool is_number; /* else a boolean */
	uint64_t min, max;
	char desc[64];
};

extern const struct l4_modifier l4_modifiers[L4_N_ENCODERS][24];
extern const struct l4_modifier l4_os_attrs[N_OS_ATTRS];

/* ---- state ----------------------------------------------------------------------------------- */

int l4_initialize(void);
void l4_terminate(void);
bool l4_is_ready(void);
/* True if the numbered PMU takes part: it is not disabled, and no other one is forced before it. */
bool l4_is_pmu_enabled(uint32_t pmu);
bool l4_is_pmu_active(uint32_t pmu);
/* True if the PMU may be asked by its name: it is active, or inactive ones may be, also disabled
 * ones and those after a forced one. */
bool l4_is_pmu_askable(uint32_t pmu);
bool l4_is_exact_mode(void);
bool l4_is_os_active(void);
/* The architectural PMU: its version and its missing events. */
void l4_get_arch_pmu(unsigned *version, unsigned *missing, unsigned *general, unsigned *fixed);
/* True if a row with U_MACHINES is for this machine. */
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
/* The value of a variable of our own, "" in programs that run with the rights of another user. */
const char *l4_get_own_variable(const char *name);
/* Reads $PERFMON_SYSFS, the first time. Below the lock. */
void l4_read_root(void);
/* A path of the kernel's, below the root that $PERFMON_SYSFS names; "" if it does not fit. True if
 * there is a root. */
bool l4_format_path(char out[L4_PATH_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- host ------------------------------------------------------------------------------------ */

struct l4_host_identity {
	int vendor; /* an enum l4_host, L4_HOST_NONE if unknown */
	unsigned family, model, stepping;
	unsigned amd_pmu_id; /* number of the PMU of this revision */
	unsigned arm_core_ids[8], n_arm_core_ids;
	unsigned ibm_z_type;  /* IBM Z: type of the machine */
	unsigned event_lists; /* kinds of machine that rows name: of IBM Z, and of Intel's energy
	                         meters from bit 8 */
	unsigned arch_version, arch_missing, arch_general, arch_fixed;
	char cpuinfo_key[64];
};

/* z16, and Intel's processors for people: where this is neither, as in libpfm4. */
#define L4_DEFAULT_EVENT_LISTS (1u << 6 | 1u << 8)
/* Of an identity, of a file like /proc/cpuinfo, or ("" for both) of the machine that the root
 * is. */
void l4_identify_host(struct l4_host_identity *m, const char *cpuid, const char *cpuinfo);
bool l4_is_pmu_for_host(const struct l4_host_identity *m, const struct l4_pmu *u);
/* True if the kernel has a device for the first or any @all name of a PMU; *@type gets its
 * number. */
bool l4_find_device(const struct l4_pmu *u, int *type);

/* ---- events ---------------------------------------------------------------------------------- */

/* An event: a row, or one that the kernel adds (a tracepoint's subsystem). */
struct l4_event {
	uint32_t pmu_number; /* number */
	const struct l4_pmu *pmu;
	const struct l4_row *row;
	uint32_t position;
	uint8_t encoder;
	bool is_tracepoint_system; /* masks are the tracepoints of subsystem @pos */
};

/* Number of the PMU, or -1. */
int l4_find_pmu_by_name(const char *name, size_t len);
int l4_find_pmu_by_id(unsigned id);
/* False if PMU @pmu has no event at @pos. */
bool l4_get_event(uint32_t pmu, uint32_t pos, struct l4_event *out);
bool l4_find_event(uint32_t pmu, const char *name, size_t len, struct l4_event *out);
bool l4_get_event_by_index(int idx, struct l4_event *out);
int l4_make_event_index(const struct l4_event *ev);
/* Positions to walk: no event is at or beyond it. */
uint32_t l4_get_event_end(uint32_t pmu);
uint32_t l4_count_events(uint32_t pmu);
int l4_get_first_event_index(uint32_t pmu);
const char *l4_get_event_name(const struct l4_event *ev);

/* ---- attributes ------------------------------------------------------------------------------ */

enum l4_attr_kind { L4_ATTR_MASK, L4_ATTR_MODIFIER, L4_ATTR_OS, L4_ATTR_RAW_MASK };

struct l4_attr_list {
	uint32_t n_masks; /* valid ones */
	uint32_t modifiers, os_attrs;
};

struct l4_attr {
	uint8_t kind;
	uint16_t number; /* of the mask in the row's list; of the modifier */
	uint64_t value;
};

/* How many bits of @set are set, of which there are few: without an instruction for it the
 * compiler's own way is a call. */
static inline unsigned l4_count_bits(uint32_t set)
{
	unsigned n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

void l4_list_attrs(const struct l4_event *ev, pfm_os_t os, struct l4_attr_list *out);
bool l4_has_mask(const struct l4_event *ev, const struct l4_mask *m);
/* The attribute at @index of the list: false past its end. */
bool l4_get_attr(const struct l4_event *ev, const struct l4_attr_list *list, unsigned index,
                 struct l4_attr *out);
const char *l4_get_attr_name(const struct l4_event *ev, const struct l4_attr *a);

/* ---- tracepoints ----------------------------------------------------------------------------- */

/* Keep other threads from reading the tracepoints while the process forks. */
void l4_lock_tracepoints(void);
void l4_unlock_tracepoints(void);
uint32_t l4_count_trace_systems(void);
const char *l4_get_trace_system_name(uint32_t n);
uint32_t l4_count_tracepoints(uint32_t system);
const char *l4_get_tracepoint_name(uint32_t system, uint32_t n, uint64_t *id);
int l4_find_trace_system(const char *name, size_t len);
/* True if the kernel's cpu device has an event of this name. */
bool l4_kernel_has_event(const char *name);

/* ---- texts to queries ------------------------------------------------------------------------ */

#define L4_MAX_ATTRS 64

struct l4_query {
	struct l4_event event;
	struct l4_event named_event; /* the event as the user named it: an alias, or @ev again */
	struct l4_attr_list attr_list;
	pfm_os_t os;
	unsigned n_attrs, n_alias_attrs; /* attributes; how many of them an alias brought */
	uint64_t raw_code;               /* perf_raw: the number */
	struct l4_attr attrs[L4_MAX_ATTRS];
};

int l4_parse_event(const char *text, pfm_os_t os, struct l4_query *q);

/* ---- queries to words ------------------------------------------------------------------------ */

struct l4_code {
	uint64_t words[4];
	unsigned n_words;
	bool has_raw_mask, takes_no_modifiers;
	uint64_t raw_mask;
	uint32_t shown_modifiers;     /* modifiers that belong in the string, by bit */
	uint32_t effective_modifiers; /* modifiers that have an effect: what a string that reads
	                                 back must have */
	uint64_t modifier_values[24]; /* their values */
	uint64_t used_masks[3];       /* masks that are used, by number */
	uint64_t default_masks[3];    /* those that were not named */
	uint64_t hidden_masks[3];     /* those that a string must not name if it is to read back */
};

int l4_encode(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_core(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_nhm_unc(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_ep_unc(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_amd64(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_netburst(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_arm(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_mips(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_sparc(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_plain(const struct l4_query *q, int plm, struct l4_code *out);
int l4_encode_perf(const struct l4_query *q, int plm, struct l4_code *out);

/* Levels: those a query gives, else @plm. @bits: the levels of modifiers 0, 1 ... Of a level that
 * is given twice with two values, which only libpfm4's own answers accept, the last value holds;
 * with
 * @sticky a level that was set stays set. */
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

/* @named: @out is wanted whole, for a string; else its CPU alone. */
int l4_build_perf_attr(const struct l4_query *q, const struct l4_code *c, int plm,
                       struct perf_event_attr *attr, bool named, struct l4_perf_result *out);

/* ---- strings --------------------------------------------------------------------------------- */

/* The fully qualified string, from malloc(). @perf NULL without an OS layer. NULL in *@out is
 * libpfm4's answer for some events. */
int l4_format_event(const struct l4_query *q, const struct l4_code *c,
                    const struct l4_perf_result *perf, char **out);

#endif
