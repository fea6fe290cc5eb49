/* SPDX-License-Identifier: MIT */
/* Counts of one kernel event that a session has several times. Some drivers give one counter to all
 * copies, so that only the first copy counts: QEMU's and OpenSBI's do so for the fixed counters of
 * RISC-V. Copies that were enabled for the same time must have similar values. */
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "session/session_internal.h"

/* Copies are enabled one after another, and events come in bursts. So values may differ by an
 * eighth, by eight times the usual rate in the time between the two, and by a constant. */
#define VALUE_DIVISOR 8
#define RATE_FACTOR   8
#define VALUE_SLACK   10000

/* Two counts with equal keys are copies. No padding: a key is hashed and compared as bytes. */
struct copy_key {
	uint64_t words[N_CONFIG_WORDS];
	uint64_t type, flags;
	uint64_t pmu, place;
};

static struct copy_key get_copy_key(const struct session_count *c)
{
	const struct count_config *a = &c->config;
	const uint8_t flags[8] = { a->attr.type_known,     a->attr.exclude_user,
		                   a->attr.exclude_kernel, a->attr.exclude_hv,
		                   a->attr.precise,        a->attr.exclude_idle,
		                   a->attr.exclude_host,   a->attr.exclude_guest };
	struct copy_key k = {
		.type = a->attr.type,
		.pmu = (uintptr_t)a->kernel_pmu,
		.place = (uint64_t)(uint32_t)a->cpu << 32 | a->instance,
	};

	attr_get_words(&a->attr, k.words);
	k.words[1] &= ~a->get_user_read_bits;
	memcpy(&k.flags, flags, sizeof(k.flags));
	return k;
}

struct copy_search {
	const struct session_count *counts;
	const struct copy_key *key;
};

static bool has_copy_key(const void *arg, uint32_t index)
{
	const struct copy_search *s = arg;
	const struct copy_key k = get_copy_key(&s->counts[index]);

	return memcmp(&k, s->key, sizeof(k)) == 0;
}

/* Finds no copies without memory. Events of the Tru64 device have no attributes that could be
 * compared. */
void pfmi_session_mark_copies(struct pfm_session *s)
{
	struct hash_table table = { 0 };
	bool has_attrs =
		s->n_counts > 1 && s->live.backend && !s->live.backend->accepts_any_processor;

	for (unsigned i = 0; i < s->n_counts; i++)
		s->counts[i].config.first_copy = i;
	for (unsigned i = 0; i < s->n_counts && has_attrs; i++) {
		struct session_count *c = &s->counts[i];
		const struct copy_key key = get_copy_key(c);
		const struct copy_search search = { s->counts, &key };
		uint64_t hash = pfmi_base_hash_bytes(&key, sizeof(key));
		uint32_t first;

		if (c->config.is_level || !c->config.attr.expressible)
			continue;
		first = pfmi_base_find_hash(&table, hash, has_copy_key, &search);
		if (first != HASH_NOT_FOUND) {
			c->config.first_copy = first;
			s->reading.has_copies = true;
		} else if (!pfmi_base_add_hash(&table, hash, i)) {
			break;
		}
	}
	pfmi_base_free_hash(&table);
}

static bool is_exact_throughout(const pfm_count_t *n)
{
	return n->quality == PFM_QUALITY_EXACT && n->running && n->running == n->enabled;
}

/* True if @small cannot be a value of the event that @large counted in a similar time. */
static bool are_conflicting_copies(const pfm_count_t *large, const pfm_count_t *small)
{
	uint64_t apart = large->enabled > small->enabled ? large->enabled - small->enabled
	                                                 : small->enabled - large->enabled;
	double rate = (double)large->raw / (double)large->enabled;
	double slack = (double)large->raw / VALUE_DIVISOR + RATE_FACTOR * rate * (double)apart +
	               VALUE_SLACK;

	return (double)large->raw - (double)small->raw > slack;
}

static void mark_conflicting_copy(struct session_count *c, pfm_count_t *n)
{
	n->quality = n->raw ? PFM_QUALITY_PARTIAL : PFM_QUALITY_NOT_COUNTED;
	n->cause = PFM_CAUSE_BUSY;
	pfmi_session_set_reason(
		c, n->cause, "count the event once",
		"other counts of this event in the session differ: its driver gives one counter to "
		"all of them");
}

/* True if @n is the more reliable count of the event: it is exact, and larger. */
static bool is_larger_copy(const pfm_count_t *n, const pfm_count_t *other)
{
	return is_exact_throughout(n) && (!is_exact_throughout(other) || n->raw > other->raw);
}

/* Finds the copy with the largest value. The first copy comes before the others. */
static void mark_largest_copies(struct pfm_session *s, const pfm_count_t *counts)
{
	for (unsigned i = 0; i < s->n_counts; i++) {
		unsigned first = s->counts[i].config.first_copy;
		unsigned *largest = &s->counts[first].kernel_state.largest_copy;

		if (first == i || is_larger_copy(&counts[i], &counts[*largest]))
			*largest = i;
	}
}

bool pfmi_session_compare_copies(struct pfm_session *s, pfm_count_t *counts)
{
	bool agree = true;

	mark_largest_copies(s, counts);
	for (unsigned i = 0; i < s->n_counts; i++) {
		unsigned first = s->counts[i].config.first_copy,
			 largest = s->counts[first].kernel_state.largest_copy;

		if (i == largest || !is_exact_throughout(&counts[i]) ||
		    counts[largest].running == 0 ||
		    !are_conflicting_copies(&counts[largest], &counts[i]))
			continue;
		agree = false;
		mark_conflicting_copy(&s->counts[i], &counts[i]);
		/* It is unknown which of the two is right. */
		if (is_exact_throughout(&counts[largest]))
			s->counts[largest].kernel_state.has_conflict = true;
	}
	for (unsigned i = 0; i < s->n_counts; i++) {
		if (s->counts[i].kernel_state.has_conflict)
			mark_conflicting_copy(&s->counts[i], &counts[i]);
		s->counts[i].kernel_state.has_conflict = false;
	}
	return agree;
}
