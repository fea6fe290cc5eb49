/* SPDX-License-Identifier: MIT */
/* The image of libpfm4's tables that compiler/libpfm4/name_tables.py compiles: fixed-width rows,
 * all strings in one pool, numbers instead of pointers. It has the byte order of the library that
 * embeds it and needs no relocation. */
#ifndef LIBPFM4_IMAGE_H
#define LIBPFM4_IMAGE_H

#include <stdint.h>

struct l4_image_span {
	uint32_t offset, n_elements; /* offset in bytes from the start of the image */
};

struct l4_image {
	char magic[8];
	struct l4_image_span rows, masks, filters, pmus, tables, row_numbers, host_numbers, slots,
		pmu_slots, pmus_by_id, strings;
};

/* An event. */
struct l4_row {
	uint64_t code;
	uint32_t name, alias_target;
	uint32_t first_mask; /* number of the first unit mask */
	uint32_t flags, modifiers, required_modifiers;
	uint32_t libpfm4_row; /* if this row is corrected: the row as libpfm4 has it; otherwise 0 */
	uint32_t desc;
	uint16_t n_masks;
	uint16_t only_pmu; /* id of the only PMU that has it, 0: all PMUs of the table */
	uint8_t n_groups;
	uint8_t traits;
	uint8_t counter_pins; /* SPARC: the counters that can count it */
	uint8_t kind; /* perf: the kernel's type of event; with PMU_ROWS_BY_MACHINE: the machines
	                 that have it */
};

struct l4_mask {
	uint64_t code;
	uint32_t name, alias_target;
	uint32_t flags, required_modifiers;
	uint32_t hash, desc;
	uint16_t only_pmu, filter, fixed_modifiers;
	uint8_t group, needed_group;
};

struct l4_filter {
	uint64_t words[2]; /* bits of a box's filters; for a corrected mask (MASK_PATCHES_WORDS),
	                      bits to set and to clear */
};

/* A PMU. */
struct l4_pmu {
	uint32_t name, kernel_event_names;
	uint32_t flags;
	uint32_t host_numbers, host_text; /* numbers or a text that identify the processor */
	uint32_t desc;
	uint16_t id, table;
	uint16_t n_events, first_event;
	uint16_t n_host_numbers;
	uint16_t revision;
	uint8_t type, n_counters, n_fixed, levels, max_words, host_kind, needs_device, pad;
};

struct l4_table {
	uint32_t first_row_number, n_rows; /* rows in the array of row numbers */
	uint32_t first_slot, slot_mask;
	uint32_t encoder;
};

enum l4_encoder {
	L4_ENCODER_CORE,
	L4_ENCODER_NHM_UNC,
	L4_ENCODER_EP_UNC,
	L4_ENCODER_AMD64,
	L4_ENCODER_ARM,
	L4_ENCODER_PLAIN,
	L4_ENCODER_SPARC,
	L4_ENCODER_MIPS,
	L4_ENCODER_NETBURST,
	L4_ENCODER_PERF,
	L4_ENCODER_PERF_RAW,
	L4_ENCODER_TORRENT,
	L4_ENCODER_ARCH,
	L4_N_ENCODERS
};

enum l4_host_kind {
	L4_HOST_NONE,
	L4_HOST_INTEL,
	L4_HOST_AMD,
	L4_HOST_ARM,
	L4_HOST_POWER,
	L4_HOST_CPUINFO,
	L4_HOST_SYSFS,
	L4_HOST_ANY,
	L4_HOST_ARCH
};

/* Flags of Intel's rows and masks, and of the masks of Netburst and perf. */
#define MASK_NO_COMBINATION          0x1u
#define ROW_HAS_PEBS                 0x4u
#define MASK_IS_DEFAULT              0x8u
#define ROW_GROUPS_EXCLUSIVE         0x10u
#define ROW_HAS_OFFCORE              0x20u
#define MASK_EXCLUDES_HIGHER_GROUPS  0x40u
#define MASK_OVERRIDES_CODE          0x200u
#define MASK_HAS_LDLAT               0x400u
#define MASK_GROUP_OPTIONAL          0x800u
#define ROW_HAS_FRONTEND             0x1000u
#define MASK_HAS_FRONTEND_THRESHOLD  0x2000u
#define MASK_EXCLUDES_ALL_BUT_GROUP0 0x4000u
#define MASK_REQUIRES_GROUP          0x8000u
#define ROW_FORCES_FILTER0           0x20000u
#define ROW_IS_SPECULATIVE           0x40000u
#define MASK_TAKES_NO_MODIFIERS      0x200000u
#define MASK_PATCHES_WORDS                                                                         \
	0x80000000u /* corrected: filters are bits of word 1 to set and of word 0 to clear */
/* The pfm_attr_t of a mask that is listed as another kind of attribute. */
#define MASK_ATTR_TYPE(flags) ((flags) >> 28 & 3)
/* Flags of AMD's rows and masks. The first and last revisions that have them are in bits 8 to 15
 * and 16 to 23. */
#define MASK_AMD_OPTIONAL 0x10u

/* Flags of PMUs. */
#define PMU_TAKES_RAW_MASK      0x4u
#define PMU_IS_DEFAULT          0x8u
#define PMU_NO_SAMPLING         0x10u
#define PMU_REPORTS_SPECULATION 0x20u
#define PMU_DEPRECATED          0x40u
#define PMU_ROWS_BY_MACHINE                                                                        \
	0x80u /* a row's type says which machines have it, a bit for each kind */
#define PMU_EDGE_NEEDS_CMASK 0x10000u /* core: edge needs a counter mask */
#define PMU_PEBS_ON_ALL      0x20000u
#define PMU_IS_POWER_CONTROL 0x10000u /* uncore: events of the power control unit */
#define PMU_IS_CBOX          0x20000u
#define PMU_IS_CHA           0x40000u

/* Traits of a row. */
#define TRAIT_MODEL_MASKS 0x1 /* some masks exist on some models only */
#define TRAIT_PEBS_MASK   0x2

#define L4_MAX_PMU_ID    700 /* all ids of PMUs are less */
#define L4_MAX_MASKS     192 /* the most masks that an event has */
#define L4_POSITION_BITS 21

extern const struct l4_image l4_image;

static inline const void *l4_get_image_array(struct l4_image_span part)
{
	return (const char *)&l4_image + part.offset;
}

static inline const char *l4_get_text(uint32_t at)
{
	return (const char *)l4_get_image_array(l4_image.strings) + at;
}

static inline const struct l4_pmu *l4_get_pmu(uint32_t n)
{
	return (const struct l4_pmu *)l4_get_image_array(l4_image.pmus) + n;
}

static inline const struct l4_table *l4_get_pmu_table(const struct l4_pmu *u)
{
	return (const struct l4_table *)l4_get_image_array(l4_image.tables) + u->table;
}

static inline const struct l4_row *l4_get_row(uint32_t n)
{
	return (const struct l4_row *)l4_get_image_array(l4_image.rows) + n;
}

static inline const struct l4_mask *l4_get_row_masks(const struct l4_row *r)
{
	return (const struct l4_mask *)l4_get_image_array(l4_image.masks) + r->first_mask;
}

static inline const struct l4_filter *l4_get_mask_filter(const struct l4_mask *m)
{
	return (const struct l4_filter *)l4_get_image_array(l4_image.filters) + m->filter;
}

#endif
