/* SPDX-License-Identifier: MIT */
/* Tables that match a host, and the walk over the index of hosts. */
#include "rows.h"
#include "guard.h"
#include "machine/machine.h"
#include "table/table.h"

/* A table that is nothing but its matches. */
struct small {
	struct table head;
	struct host_match matches[2];
	char pool[256];
};

static void make(struct small *s, const struct host_match *m, unsigned n, const char *arch,
                 const char *vendor, const char *prefix)
{
	memset(s, 0, sizeof(*s));
	s->head.matches = offsetof(struct small, matches);
	s->head.n_matches = (uint16_t)n;
	s->head.pool = offsetof(struct small, pool);
	snprintf(s->pool + 1, 63, "%s", arch);
	snprintf(s->pool + 64, 64, "%s", vendor);
	snprintf(s->pool + 128, 128, "%s", prefix);
	for (unsigned i = 0; i < n; i++) {
		s->matches[i] = m[i];
		s->matches[i].arch = 1;
		s->matches[i].vendor = 64;
		s->matches[i].id_prefix = 128;
	}
}

#define ANY 0xffffffffu
static const struct host_match anything = {
	.family = ANY, .model_hi = ANY, .version_hi = 255, .native_model = ANY
};

static bool matches(const struct small *s, const char *id, unsigned *core)
{
	struct host h;

	assert_true(pfmi_machine_parse_host_id(id, &h));
	return pfmi_machine_is_table_for_host(&h, &s->head, core);
}

static void masks_and_ranges_of_identities_match(void **state)
{
	struct host_match m = anything;
	struct small s;
	unsigned core;

	(void)state;
	m.family = 6;
	m.model_lo = m.model_hi = 0x55;
	m.stepping_mask = 0x1f;
	make(&s, &m, 1, "x86", "GenuineIntel", "");
	assert_true(matches(&s, "GenuineIntel-6-55-4", &core));
	assert_true(matches(&s, "GenuineIntel-6-55", &core));
	assert_false(matches(&s, "GenuineIntel-6-55-7", &core));
	assert_false(matches(&s, "GenuineIntel-6-55-B", &core));
	assert_false(matches(&s, "GenuineIntel-6-56-4", &core));
	assert_false(matches(&s, "AuthenticAMD-6-55-4", &core));
	m = anything;
	m.id_value = 0x410fd0c0;
	m.id_mask = 0xff0ffff0;
	make(&s, &m, 1, "arm64", "", "");
	assert_true(matches(&s, "0x00000000413fd0c1", &core));
	assert_false(matches(&s, "0x00000000413fd0b1", &core));
	assert_false(matches(&s, "0x413fd0c1", &core));
}

static void own_tables_are_better_than_relatives(void **state)
{
	struct host_match m[2] = { anything, anything };
	struct small own, relative, fallback;
	struct host h;
	unsigned core;

	(void)state;
	m[0].id_value = 0x61004000;
	m[0].id_mask = 0xff00c000;
	m[0].flags = MATCH_NEAREST;
	m[1].id_value = 0x610040c0;
	m[1].id_mask = 0xff00fff0;
	make(&relative, m, 1, "arm64", "", "");
	make(&own, m, 2, "arm64", "", "");
	m[0].id_mask = m[0].id_value = m[0].flags = 0;
	make(&fallback, m, 1, "arm64", "", "");
	fallback.head.flags = TABLE_FALLBACK;
	assert_true(pfmi_machine_parse_host_id("0x00000000610f40c1", &h));
	assert_true(matches(&relative, h.id_text, &core) && matches(&own, h.id_text, &core));
	assert_true(pfmi_machine_is_nearest_table(&h, &relative.head));
	assert_false(pfmi_machine_is_nearest_table(&h, &own.head));
	assert_true(pfmi_machine_is_better_table(&h, &own.head, &relative.head));
	assert_false(pfmi_machine_is_better_table(&h, &relative.head, &own.head));
	assert_true(pfmi_machine_is_better_table(&h, &relative.head, &fallback.head));
	assert_false(pfmi_machine_is_better_table(&h, &fallback.head, &relative.head));
	assert_false(pfmi_machine_is_better_table(&h, &own.head, &own.head));
	assert_true(pfmi_machine_parse_host_id("0x00000000620f40c1", &h));
	assert_false(pfmi_machine_is_nearest_table(&h, &relative.head));
}

static bool starts(const char *prefix, bool exact, const char *id)
{
	struct host_match m = anything;
	struct small s;
	unsigned core;

	m.flags = exact ? MATCH_WHOLE_ID : 0;
	make(&s, &m, 1, "", "", prefix);
	return matches(&s, id, &core);
}

static void identities_start_with_a_prefix_or_are_it(void **state)
{
	(void)state;
	assert_true(starts("IBM,8561,", false, "IBM,8561,703,T01,3.6,002f"));
	assert_false(starts("IBM,8562,", false, "IBM,8561,703,T01,3.6,002f"));
	assert_true(
		starts("0x489-0x8000000000000007-0x", false, "0x489-0x8000000000000007-0x4210427"));
	assert_true(starts("0x5b7-0x0-0x0", true, "0x5b7-0x0-0x0"));
	assert_false(starts("0x5b7-0x0-0x0", true, "0x5b7-0x0-0x01"));
	assert_false(starts("0x5b7-0x0-0x01", false, "0x5b7-0x0-0x0"));
	assert_true(starts("", false, "IBM,8561,703,T01,3.6,002f"));
}

static void hybrid_tables_find_their_cores(void **state)
{
	struct host_match m = anything;
	struct small big, atom;
	struct host h;
	unsigned core = 9;

	(void)state;
	m.has_core_type = 1;
	m.core_type = 0x40;
	make(&big, &m, 1, "x86", "GenuineIntel", "");
	m.core_type = 0x20;
	m.native_model = 2;
	make(&atom, &m, 1, "x86", "GenuineIntel", "");
	/* An id says nothing about cores: every list of that processor is right. */
	assert_true(matches(&big, "GenuineIntel-6-C5-2", &core));
	assert_int_equal(core, 0);
	assert_true(matches(&atom, "GenuineIntel-6-C5-2", &core));
	assert_true(pfmi_machine_parse_host_id("GenuineIntel-6-C5-2", &h));
	h.n_core_types = 3;
	h.core_types[0].core_type = 0x40;
	h.core_types[0].native_model = ANY;
	h.core_types[1].core_type = h.core_types[2].core_type = 0x20;
	h.core_types[1].native_model = 3;
	h.core_types[2].native_model = 2;
	assert_true(pfmi_machine_is_table_for_host(&h, &atom.head, &core));
	assert_int_equal(core, 2);
	assert_true(pfmi_machine_is_table_for_host(&h, &big.head, &core));
	assert_int_equal(core, 0);
	h.n_core_types = 1;
	assert_false(pfmi_machine_is_table_for_host(&h, &atom.head, &core));
}

static void built_in_tables_know_their_hosts(void **state)
{
	static const struct {
		const char *id, *table;
	} hosts[] = {
		{ "GenuineIntel-6-E-8", "coreduo" },
		{ "GenuineIntel-6-9E-A", "skl" },
		{ "GenuineIntel-6-55-4", "skx" },
		{ "GenuineIntel-6-55-7", "clx" },
		{ "GenuineIntel-6-F0-0", "intel_arch" },
		{ "AuthenticAMD-25-61-2", "amdzen4" },
		{ "AuthenticAMD-26-50-0", "amdzen6" },
		{ "AuthenticAMD-27-0-0", "amd" },
		{ "HygonGenuine-24-1-1", "amd" },
		{ "0x00000000413fd0c1", "neoverse_n1" },
		{ "0x00000000413fff01", "armv8" },
		{ "0x00000000412fc0f1", "cortex_a15" },
		{ "0x00000000410fb767", "arm1176" },
		{ "0x00000000510f0400", "krait" },
		{ "alpha-2", "ev4" },
		{ "alpha-7", "ev5" },
		{ "alpha-9", "pca56" },
		{ "alpha-8", "ev6" },
		{ "alpha-11", "ev67" },
		{ "alpha-16", "ev67" },
		{ "ia64-32-0", "montecito" },
	};
	struct host h;
	unsigned core;

	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		const struct table *found = NULL;

		assert_true(pfmi_machine_parse_host_id(hosts[i].id, &h));
		for (unsigned k = 0; k < table_count_builtins(); k++) {
			const struct table *t = table_get_builtin(k);

			/* A table of the processor itself precedes a fallback. */
			if (!(t->flags & TABLE_COMPAT_VIEW) &&
			    pfmi_machine_is_table_for_host(&h, t, &core) &&
			    (!found || found->flags & TABLE_FALLBACK))
				found = t;
		}
		assert_non_null(found);
		assert_string_equal(table_get_text(found, found->name), hosts[i].table);
	}
}

/* ---- the hash table of an image -------------------------------------------------------------- */

enum { SLOTS = 160 };

/* An image that ends with its hosts, and memory with it. */
struct hosts_last {
	struct image head;
	struct table tables[SLOTS];
	struct host_slot hosts[];
};

static unsigned met[SLOTS];

static void meet(void *arg, uint32_t table, unsigned core)
{
	assert_true(arg == met && core == 0 && table < SLOTS);
	met[table]++;
}

/* Walks an image with @n slots for @key. The slots from that of the key to the last are full,
 * and so is the first; every second one has that key. */
static void walk(uint32_t key, unsigned n, bool of_device)
{
	const struct host unknown = { .is_known = false };
	size_t size = sizeof(struct hosts_last) + n * sizeof(struct host_slot);
	struct hosts_last *im = guard_begin(size);
	unsigned start = table_get_first_slot(key, n), last = n - start;

	im->head.arrays[ARRAY_TABLES].offset = offsetof(struct hosts_last, tables);
	im->head.arrays[ARRAY_HOSTS] =
		(struct image_array_span){ offsetof(struct hosts_last, hosts), n };
	for (unsigned i = 0; i <= last; i++) {
		im->tables[i].encoder = ENCODER_PERF;
		im->hosts[(start + i) % n] =
			(struct host_slot){ i % 2 || i == last ? key : key + 1, i + 1 };
	}
	memset(met, 0, sizeof(met));
	if (of_device)
		pfmi_machine_visit_device_tables(&im->head, "box", meet, met);
	else
		pfmi_machine_visit_host_tables(&im->head, &unknown, 0, meet, met);
	for (unsigned i = 0; i < SLOTS; i++)
		assert_int_equal(met[i], i <= last && (i % 2 || i == last));
	guard_end(im, size);
}

/* A walk that comes to the end goes on at the start, and looks at nothing beyond. */
static void walks_around_the_end(void **state)
{
	uint32_t keys[2] = { table_hash_host_key(HOST_ARCH, NAME_HASH_SEED), NAME_HASH_SEED };
	unsigned tried[2] = { 0 };

	(void)state;
	for (const char *c = "box"; *c; c++)
		keys[1] = table_hash_char(keys[1], (unsigned char)*c);
	keys[1] = table_hash_host_key(HOST_DEVICE, keys[1]);
	for (unsigned of_device = 0; of_device < 2; of_device++)
		for (unsigned n = 3; n <= SLOTS; n++)
			if (table_get_first_slot(keys[of_device], n) > 1) { /* slot 1 stays free */
				walk(keys[of_device], n, of_device);
				tried[of_device]++;
			}
	assert_true(tried[0] && tried[1]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(masks_and_ranges_of_identities_match),
		cmocka_unit_test(own_tables_are_better_than_relatives),
		cmocka_unit_test(identities_start_with_a_prefix_or_are_it),
		cmocka_unit_test(hybrid_tables_find_their_cores),
		cmocka_unit_test(built_in_tables_know_their_hosts),
		cmocka_unit_test(walks_around_the_end),
	};

	return cmocka_run_group_tests_name("machine_host_tables", tests, NULL, NULL);
}
