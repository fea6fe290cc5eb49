/* SPDX-License-Identifier: MIT */
/* Back from register values to events, as far as rows and attributes. What people read is written in lib/answer/. */
#ifndef PERFMON_BEHIND_H
#define PERFMON_BEHIND_H

#include "context/context.h"

#define TARGET_NO_COUNTER 64u
#define ANY_CODE          (~(uint64_t)0)

/* What an event is looked for. */
struct target {
	const struct table *t;
	const char *reg;
	uint64_t value;       /* of the register */
	uint64_t config[4];   /* the same as configuration words */
	unsigned words;       /* words that are known: bit i for word i */
	uint64_t code;        /* the event's code in them, or ANY_CODE */
	uint64_t way;         /* not 0: events alone that this code and unit mask (<< 16) choose as well, by another extra register */
	unsigned counter;     /* the register's own, or TARGET_NO_COUNTER */
	uint64_t significant; /* bits to compare when the encoder is asked, 0 when the fields are */
	uint8_t plm;          /* levels the register switches on */
	bool fixed;           /* x86 FIXED_CTR_CTRL: counters that know one event each */
	bool pair;            /* the register is one of two that choose an event, with the other in its upper half or alone */
	const struct bits *layout;
	unsigned n_layout;
};

/* "config", "CONFIG0", "config2": the number of the word, or -1. */
int pfmi_config_word(const char *reg);
/* The register is no word of the kernel's, and the encoder knows which of its bits choose the event. */
bool pfmi_has_own_control(const struct target *g);
/* Sets @g up for register @g->reg, its table and value given. False if the processor has none of that name. */
bool pfmi_target_find(struct target *g);
/* The bits called @name in the register's layout, or NULL. */
const struct bits *pfmi_target_bits(const struct target *g, const char *name);
/* The @i-th event that fits, the best first; false past the last. Where none has the code first, those that have it beside another. */
bool pfmi_target_event(struct target *g, unsigned i, struct event *ev);
/* The best event of @t behind the configuration words @config: words that are not in @words (bit i: word i) may be anything.
 * The levels stay as they are in @ev; on success everything else is replaced. */
bool pfmi_event_from_config(const struct table *t, const uint64_t config[4], unsigned words, struct event *ev);
/* The row that these numbers alone stand for, without an event of fields first: true where it is one just as it is, and found at once.
 * False leaves it open. */
bool pfmi_row_from_numbers(const struct table *t, const struct spec_numbers *n, uint32_t *found);

/* True if the fields of @t lie in configuration words. */
static inline bool table_has_bits(const struct table *t)
{
	for (uint32_t i = 0; i < t->n_fields; i++)
		if (table_fields(t)[i].n_ranges)
			return true;
	return false;
}

#endif
