/* SPDX-License-Identifier: MIT */
/* libpfm4's names as lib/pmuc/libpfm4.py compiles them: fixed-width rows, all strings in one pool, numbers instead of pointers.
 * The image is made for the byte order of the library that embeds it, so nothing is converted and nothing needs relocation. */
#ifndef LIBPFM4_IMAGE_H
#define LIBPFM4_IMAGE_H

#include <stdint.h>

struct l4_part {
	uint32_t at, n; /* bytes from the start of the image; how many */
};

struct l4_image {
	char magic[8];
	struct l4_part rows, masks, filters, units, tables, numbers, models, slots, unit_slots, by_id, strings;
};

/* An event. */
struct l4_row {
	uint64_t code;
	uint32_t name, equiv;
	uint32_t masks; /* number of the first unit mask */
	uint32_t flags, mods, req;
	uint32_t exact; /* the row as libpfm4 has it, if it is corrected here; 0: none */
	uint32_t desc;
	uint16_t n_masks;
	uint16_t only; /* number of the one PMU that has it, 0: all */
	uint8_t groups;
	uint8_t traits;
	uint8_t pic;  /* SPARC: which counters */
	uint8_t type; /* perf: the kernel's type of event; with U_MACHINES: kinds of machines */
};

struct l4_mask {
	uint64_t code;
	uint32_t name, equiv;
	uint32_t flags, req;
	uint32_t hash, desc;
	uint16_t only, filter, hw;
	uint8_t group, needs;
};

struct l4_filter {
	uint64_t word[2]; /* bits of a box's filters; of a corrected mask, bits to set in word 1, and to clear in word 0 */
};

/* A PMU. */
struct l4_unit {
	uint32_t name, perf;
	uint32_t flags;
	uint32_t host_at, host_text; /* what its host is matched with: numbers or a text */
	uint32_t desc;
	uint16_t id, table;
	uint16_t n_events, first;
	uint16_t n_host;
	uint16_t rev;
	uint8_t type, counters, fixed, levels, words, host, sysfs, pad;
};

struct l4_table {
	uint32_t first, n; /* among the row numbers */
	uint32_t slots, slot_mask;
	uint32_t encoder;
};

enum l4_encoder {
	L4_CORE,
	L4_NHM_UNC,
	L4_EP_UNC,
	L4_AMD64,
	L4_ARM,
	L4_PLAIN,
	L4_SPARC,
	L4_MIPS,
	L4_NETBURST,
	L4_PERF,
	L4_PERF_RAW,
	L4_TORRENT,
	L4_ARCH,
	L4_ENCODERS
};

enum l4_host { L4_HOST_NONE,
	       L4_HOST_INTEL,
	       L4_HOST_AMD,
	       L4_HOST_ARM,
	       L4_HOST_POWER,
	       L4_HOST_CPUINFO,
	       L4_HOST_SYSFS,
	       L4_HOST_ANY,
	       L4_HOST_ARCH };

/* Flags of Intel's events and masks, netburst's and perf's masks. */
#define F_NCOMBO        0x1u
#define F_PEBS          0x4u
#define F_DFL           0x8u
#define F_GRP_EXCL      0x10u
#define F_OFFCORE       0x20u
#define F_EXCL_GRP_GT   0x40u
#define F_CODE_OVERRIDE 0x200u
#define F_LDLAT         0x400u
#define F_GRP_DFL_NONE  0x800u
#define F_FRONTEND      0x1000u
#define F_FETHR         0x2000u
#define F_BUT_0         0x4000u
#define F_GRP_REQ       0x8000u
#define F_FORCE_FILT0   0x20000u
#define F_SPEC          0x40000u
#define F_NO_MODS       0x200000u
#define F_WORDS         0x80000000u /* corrected: filters are bits of word 1 to set and of word 0 to clear */
/* A mask that is none: the pfm_attr_t that the listing shows. */
#define F_KIND(flags) ((flags) >> 28 & 3)
/* Flags of AMD's; revisions are in bits 8 to 15 (first) and 16 to 23 (last). */
#define F_AMD_OMIT 0x10u

/* Flags of PMUs. */
#define U_RAW         0x4u
#define U_DEFAULT     0x8u
#define U_NO_SAMPLING 0x10u
#define U_SPECULATION 0x20u
#define U_DEPRECATED  0x40u
#define U_MACHINES    0x80u    /* a row's type says which machines have it, a bit for each kind */
#define U_EDGE        0x10000u /* core: edge needs a counter mask */
#define U_PEBS_ALL    0x20000u
#define U_OCCUPANCY   0x10000u /* uncore: events of the power control unit */
#define U_CBOX        0x20000u
#define U_CHA         0x40000u

/* Traits of a row. */
#define T_MODEL_MASKS 0x1 /* some masks are for some models only */
#define T_PEBS_MASK   0x2

#define L4_IDS      700 /* end of the numbers of PMUs */
#define L4_MASKS    192 /* most masks of an event */
#define L4_NEVER    0xffffu
#define L4_POS_BITS 21

extern const struct l4_image l4_image;

static inline const void *l4_at(struct l4_part part)
{
	return (const char *)&l4_image + part.at;
}

static inline const char *l4_text(uint32_t at)
{
	return (const char *)l4_at(l4_image.strings) + at;
}

static inline const struct l4_unit *l4_unit(uint32_t n)
{
	return (const struct l4_unit *)l4_at(l4_image.units) + n;
}

static inline const struct l4_table *l4_table(const struct l4_unit *u)
{
	return (const struct l4_table *)l4_at(l4_image.tables) + u->table;
}

static inline const struct l4_row *l4_row_number(uint32_t n)
{
	return (const struct l4_row *)l4_at(l4_image.rows) + n;
}

static inline const struct l4_mask *l4_masks(const struct l4_row *r)
{
	return (const struct l4_mask *)l4_at(l4_image.masks) + r->masks;
}

static inline const struct l4_filter *l4_filter(const struct l4_mask *m)
{
	return (const struct l4_filter *)l4_at(l4_image.filters) + m->filter;
}

#endif
