/* SPDX-License-Identifier: MIT */
/* Tables that match the processor or a device. All matching uses struct host. */
#include "machine/machine_internal.h"
#include "table/table.h"

static bool has_id_prefix(const char *id, const char *prefix, bool whole)
{
	while (*prefix && *id == *prefix) {
		id++;
		prefix++;
	}
	return !*prefix && (!whole || !*id);
}

static bool has_matching_core_type(const struct host *h, const struct host_match *m, unsigned *core)
{
	/* Lists of all core types match a hybrid processor whose core types are unknown. */
	if (!m->has_core_type || h->n_core_types == 0)
		return true;
	for (unsigned i = 0; i < h->n_core_types; i++)
		if (h->core_types[i].core_type == m->core_type &&
		    (m->native_model == ANY_NUMBER || h->core_types[i].native_model == ANY_NUMBER ||
		     h->core_types[i].native_model == m->native_model)) {
			*core = i;
			return true;
		}
	return false;
}

static bool is_host_match(const struct host *h, const struct table *t, const struct host_match *m,
                          unsigned *core)
{
	const char *arch = table_get_text(t, m->arch), *vendor = table_get_text(t, m->vendor);

	/* Numbers are compared first: they differ in nearly all cases. */
	if ((m->family != ANY_NUMBER && m->family != h->family) || h->model < m->model_lo ||
	    h->model > m->model_hi)
		return false;
	/* An id without a stepping matches all steppings. */
	if (m->stepping_mask && h->stepping != ANY_NUMBER &&
	    (h->stepping > 31 || !(m->stepping_mask >> h->stepping & 1)))
		return false;
	if (m->id_mask && (h->id_register & m->id_mask) != m->id_value)
		return false;
	/* Version 0 means that the processor has none or that it was not read, so it matches every
	 * range. */
	if (h->pmu_version && (h->pmu_version < m->version_lo || h->pmu_version > m->version_hi))
		return false;
	if ((*arch && !machine_is_same_word(arch, h->arch)) ||
	    (*vendor && !machine_is_same_word(vendor, h->vendor)))
		return false;
	return has_id_prefix(h->id_text, table_get_text(t, m->id_prefix),
	                     m->flags & MATCH_WHOLE_ID) &&
	       has_matching_core_type(h, m, core);
}

bool pfmi_machine_is_table_for_host(const struct host *host, const struct table *t, unsigned *core)
{
	const struct host_match *m = table_matches(t);

	*core = 0;
	for (unsigned i = 0; host->is_known && i < t->n_matches; i++)
		if (is_host_match(host, t, &m[i], core))
			return true;
	return false;
}

bool pfmi_machine_has_erratum(const struct host *host, const struct table *t,
                              const struct erratum *e)
{
	const struct host_match *m = table_matches(t) + e->first_match;
	unsigned core;

	for (unsigned i = 0; host->is_known && i < e->n_matches; i++)
		if (is_host_match(host, t, &m[i], &core))
			return true;
	return !e->n_matches;
}

bool pfmi_machine_is_nearest_table(const struct host *host, const struct table *t)
{
	const struct host_match *m = table_matches(t);
	bool is_nearest = false;
	unsigned core;

	for (unsigned i = 0; host->is_known && i < t->n_matches; i++)
		if (is_host_match(host, t, &m[i], &core)) {
			if (!(m[i].flags & MATCH_NEAREST))
				return false;
			is_nearest = true;
		}
	return is_nearest;
}

/* The rank of a table for @host, 0 for the best: the list of this model. */
static int rank_table(const struct host *host, const struct table *t)
{
	return t->flags & TABLE_FALLBACK ? 2 : pfmi_machine_is_nearest_table(host, t);
}

bool pfmi_machine_is_better_table(const struct host *host, const struct table *t,
                                  const struct table *other)
{
	return rank_table(host, t) < rank_table(host, other);
}

/* Calls @each for the matching tables under one key. Tables with a flag in @without are skipped
 * before their match lines are compared: most tables of a family are of uncore boxes. */
static void visit_host_key(const struct image *im, const struct host *h, uint32_t without,
                           uint32_t key, pfmi_machine_host_table_fn each, void *arg)
{
	const struct host_slot *hosts = table_get_image_array(im, ARRAY_HOSTS);
	uint32_t n = im->arrays[ARRAY_HOSTS].n_elements;
	unsigned core = 0;

	for (uint32_t i = table_get_first_slot(key, n); hosts[i].table_plus1;
	     i = i + 1 < n ? i + 1 : 0) {
		const struct table *t;

		if (hosts[i].key_hash != key)
			continue;
		t = table_get_image_table(im, hosts[i].table_plus1 - 1);
		if (!(t->flags & without) &&
		    (t->n_matches ? pfmi_machine_is_table_for_host(h, t, &core)
		                  : t->encoder == ENCODER_PERF))
			each(arg, hosts[i].table_plus1 - 1, core);
	}
}

/* Hashes the first @words words of @s, which "-" or "," separate; all of @s for 0. */
static uint32_t hash_id_words(const char *s, unsigned words)
{
	uint32_t h = NAME_HASH_SEED;

	for (; *s && ((*s != '-' && *s != ',') || --words); s++)
		h = table_hash_char(h, (unsigned char)*s);
	return h;
}

void pfmi_machine_visit_host_tables(const struct image *im, const struct host *h, uint32_t without,
                                    pfmi_machine_host_table_fn each, void *arg)
{
	if (h->is_known &&
	    (machine_is_same_word(h->arch, "x86") || machine_is_same_word(h->arch, "ia64"))) {
		visit_host_key(im, h, without,
		               table_hash_host_key(HOST_MODEL, h->family * 0x01000193u ^ h->model),
		               each, arg);
		visit_host_key(im, h, without, table_hash_host_key(HOST_FAMILY, h->family), each,
		               arg);
	} else if (h->is_known) {
		visit_host_key(
			im, h, without,
			table_hash_host_key(HOST_MIDR_PART, (uint32_t)h->id_register & 0xff00fff0u),
			each, arg);
		visit_host_key(
			im, h, without,
			table_hash_host_key(HOST_PVR_UPPER, (uint32_t)h->id_register & 0xffff0000u),
			each, arg);
		visit_host_key(im, h, without,
		               table_hash_host_key(HOST_ID_PREFIX, hash_id_words(h->id_text, 2)),
		               each, arg);
	}
	if (h->is_known)
		visit_host_key(im, h, without,
		               table_hash_host_key(HOST_ARCH, hash_id_words(h->arch, 0)), each,
		               arg);
	visit_host_key(im, h, without, table_hash_host_key(HOST_ARCH, hash_id_words("", 0)), each,
	               arg);
}

void pfmi_machine_visit_device_tables(const struct image *im, const char *device,
                                      pfmi_machine_host_table_fn each, void *arg)
{
	uint32_t key = table_hash_host_key(HOST_DEVICE, hash_id_words(device, 0)),
		 n = im->arrays[ARRAY_HOSTS].n_elements;
	const struct host_slot *hosts = table_get_image_array(im, ARRAY_HOSTS);

	for (uint32_t i = table_get_first_slot(key, n); hosts[i].table_plus1;
	     i = i + 1 < n ? i + 1 : 0)
		if (hosts[i].key_hash == key)
			each(arg, hosts[i].table_plus1 - 1, 0);
}
