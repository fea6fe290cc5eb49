/* SPDX-License-Identifier: MIT */
/* libpfm4's PMUs, events and attributes: each by name, by number and in order, and what there is none of. */
#include "libpfm4_internal.h"
#include <ctype.h>
#include <perfmon/pfmlib.h>

/* Case and nothing else: no piece, nothing longer. */
static void same_names(void **state)
{
	(void)state;
	assert_true(l4_same("Cycles", "cycles", 6) && l4_same("Cycles", "Cycles:k", 6) && l4_same("", "x", 0));
	assert_false(l4_same("Cycles", "cycle", 5) || l4_same("Cycles", "cycless", 7) || l4_same("", "c", 1));
	assert_false(l4_same("a[", "a{", 2) || l4_same("a@", "a`", 2)); /* no letters */
	for (size_t len = 0; len < 20; len++) {
		char a[21] = "ABCDEFGHIJKLMNOPQRST", b[21] = "abcdefghijklmnopqrst";

		assert_int_equal(l4_hash(a, len), l4_hash(b, len));
		a[len] = 'x'; /* what is behind its end */
		assert_int_equal(l4_hash(a, len), l4_hash(b, len));
	}
	assert_int_not_equal(l4_hash("abcdefgh", 8), l4_hash("abcdefgi", 8));
	assert_int_not_equal(l4_hash("abcdefghi", 9), l4_hash("abcdefghj", 9));
	assert_int_not_equal(l4_hash("ab", 2), l4_hash("ba", 2));
}

static void units(void **state)
{
	unsigned known = 0;

	(void)state;
	for (uint32_t i = 0; i < l4_image.units.n; i++) {
		const char *name = l4_text(l4_unit(i)->name);
		char other[64];
		size_t len = strlen(name);

		assert_int_equal(l4_unit_named(name, len), i);
		assert_int_equal(l4_unit_by_id(l4_unit(i)->id), i);
		for (size_t k = 0; k <= len; k++)
			other[k] = (char)toupper((unsigned char)name[k]);
		assert_int_equal(l4_unit_named(other, len), i);
		other[0] = '!';
		assert_int_equal(l4_unit_named(other, len), -1);
	}
	for (unsigned id = 0; id < L4_IDS + 10; id++)
		known += l4_unit_by_id(id) >= 0;
	assert_int_equal(known, l4_image.units.n);
	assert_int_equal(l4_unit_by_id(UINT32_MAX), -1);
	assert_int_equal(l4_unit_named("", 0), -1);
}

/* Every event of every PMU by its place, its index and its name; as many as there are said to be, and none behind them. */
static void events_of_all_units(void **state)
{
	static const char *const inactive[] = { "LIBPFM_ENCODE_INACTIVE", "1", NULL };

	(void)state;
	l4_begin("GenuineIntel-6-55-4", inactive);
	for (uint32_t u = 0; u < l4_image.units.n; u++) {
		uint32_t end = l4_event_end(u), n = 0;
		struct l4_event ev, same;
		int first = -1;

		for (uint32_t pos = 0; pos < end; pos++) {
			const char *name;

			if (!l4_event_at(u, pos, &ev))
				continue;
			n++;
			first = first < 0 ? l4_index(&ev) : first;
			name = l4_event_name(&ev);
			assert_true(l4_event_index(l4_index(&ev), &same));
			assert_true(same.row == ev.row && same.pos == ev.pos && same.traced == ev.traced && same.unit == u);
			if (ev.encoder == L4_PERF_RAW)
				continue;
			assert_true(l4_event_named(u, name, strlen(name), &same));
			assert_true(l4_same(l4_event_name(&same), name, strlen(name)));
			assert_false(l4_event_named(u, name, strlen(name) - 1, &same) && strlen(l4_event_name(&same)) == strlen(name));
		}
		assert_false(l4_event_at(u, end, &ev));
		assert_int_equal(l4_event_count(u), n);
		assert_int_equal(l4_first_index(u), first);
	}
	assert_false(l4_event_index(-1, &(struct l4_event){ 0 }));
	assert_false(l4_event_index(INT32_MAX, &(struct l4_event){ 0 }));
	l4_terminate();
}

/* Attributes in order: masks that the PMU has, modifiers, those of the kernel's layer; nothing behind the last. */
static void attributes_in_order(void **state)
{
	static const pfm_os_t layers[] = { PFM_OS_NONE, PFM_OS_PERF_EVENT, PFM_OS_PERF_EVENT_EXT };

	(void)state;
	for (uint32_t u = 0; u < l4_image.units.n; u += 3)
		for (uint32_t pos = 0; pos < l4_event_end(u); pos += 7) {
			struct l4_event ev;

			if (!l4_event_at(u, pos, &ev))
				continue;
			for (size_t o = 0; o < COUNT(layers); o++) {
				struct l4_attrs list;
				struct l4_attr a;
				unsigned n = 0, of_kind[4] = { 0 };
				int last = -1, kind = 0;

				l4_attrs(&ev, layers[o], &list);
				for (; l4_attr_at(&ev, &list, n, &a); n++) {
					assert_true(a.kind > kind || (a.kind == kind && a.number > last));
					assert_true(a.kind != ATTR_MASK || ev.traced || l4_mask_valid(&ev, &l4_masks(ev.row)[a.number]));
					assert_true(*l4_attr_name(&ev, &a) && a.value == 0);
					kind = a.kind;
					last = a.number;
					of_kind[a.kind]++;
				}
				assert_true(of_kind[ATTR_MASK] == list.n_masks && of_kind[ATTR_MOD] == l4_bits(list.mods));
				assert_true(of_kind[ATTR_OS] == l4_bits(list.os) && (o || !list.os));
				assert_false(l4_attr_at(&ev, &list, n + 1, &a));
			}
		}
}

/* What the kernel's layer leaves of a few events. */
static void layers(void **state)
{
	enum { BASIC = 1u << OS_U | 1u << OS_K | 1u << OS_MG | 1u << OS_MH,
	       EXT = (1u << OS_ATTRS) - 1 };
	static const struct {
		const char *pmu, *event;
		uint32_t mods, ext;
	} rows[] = {
		{ "skx", "UNHALTED_CORE_CYCLES", 0x1bc, EXT & ~(1u << OS_H | 1u << OS_PRECISE | 1u << OS_HW_SMPL) },
		{ "perf", "PERF_COUNT_SW_CPU_CLOCK", 0, EXT & ~(1u << OS_H | 1u << OS_PRECISE | 1u << OS_HW_SMPL) },
		{ "perf", "PERF_COUNT_HW_CPU_CYCLES", 0, EXT & ~(1u << OS_H | 1u << OS_HW_SMPL) },
		{ "arm_n1", "CPU_CYCLES", 0, EXT & ~(1u << OS_PRECISE | 1u << OS_HW_SMPL) },
		{ "netburst", "global_power_events", 0x1c, EXT & ~(1u << OS_H | 1u << OS_PRECISE | 1u << OS_HW_SMPL) },
		{ "skx_unc_cha0", "UNC_C_CLOCKTICKS", 0, 0 },
	};

	(void)state;
	l4_terminate();
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t unit = l4_number_of(rows[i].pmu);
		struct l4_event ev;
		struct l4_attrs none, basic, ext;

		if (!l4_event_named(unit, rows[i].event, strlen(rows[i].event), &ev))
			continue;
		l4_attrs(&ev, PFM_OS_NONE, &none);
		l4_attrs(&ev, PFM_OS_PERF_EVENT, &basic);
		l4_attrs(&ev, PFM_OS_PERF_EVENT_EXT, &ext);
		assert_int_equal(none.os, 0);
		assert_true((basic.mods & ~none.mods) == 0 && basic.mods == ext.mods && (basic.os & ~ext.os) == 0);
		if (!rows[i].ext)
			continue;
		assert_int_equal(ext.mods, rows[i].mods);
		assert_int_equal(ext.os, rows[i].ext);
		assert_int_equal(basic.os & BASIC, BASIC);
	}
}

/* The architectural PMU has what CPUID leaves it: without a machine that says so, nothing. */
static void the_architectural_unit(void **state)
{
	static const char *const forced[] = { "LIBPFM_FORCE_PMU", "ix86arch", NULL };
	uint32_t arch = l4_number_of("ix86arch"), n;
	struct l4_event ev;

	(void)state;
	l4_begin("GenuineIntel-6-55-4", forced); /* version 3, nothing missing */
	n = l4_event_count(arch);
	assert_true(n >= 7 && l4_event_end(arch) == n);
	for (uint32_t pos = 0; pos < n; pos++)
		assert_true(l4_event_at(arch, pos, &ev) && ev.pos == pos);
	assert_false(l4_event_at(arch, n, &ev));
	ev = l4_event_of("ix86arch", "INSTRUCTION_RETIRED");
	{
		struct l4_attrs list;

		l4_attrs(&ev, PFM_OS_NONE, &list);
		assert_true((list.mods >> 5 & 1) && !(list.mods >> 7 & 3)); /* both threads from version 3 on, transactions later */
	}
	l4_terminate();
}

/* Masks and rows of AMD are for some revisions; rows of others' tables for one PMU alone. */
static void revisions(void **state)
{
	struct l4_event ev = l4_event_of("amd64_k8_revb", "SCRUBBER_SINGLE_BIT_ECC_ERRORS");
	struct l4_unit u = *ev.u;
	static const struct {
		unsigned first, last, rev;
		bool valid;
	} rows[] = {
		{ 0, 0, 1, true },
		{ 2, 0, 1, false },
		{ 2, 0, 2, true },
		{ 0, 3, 3, true },
		{ 0, 3, 4, false },
		{ 2, 3, 2, true },
		{ 2, 3, 4, false },
	};

	(void)state;
	ev.u = &u;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct l4_mask m = { .flags = rows[i].first << 8 | rows[i].last << 16 };

		u.rev = (uint16_t)rows[i].rev;
		ev.encoder = L4_AMD64;
		assert_int_equal(l4_mask_valid(&ev, &m), rows[i].valid);
		ev.encoder = L4_CORE;
		assert_true(l4_mask_valid(&ev, &m));
		m.only = u.id;
		assert_true(l4_mask_valid(&ev, &m));
		m.only++;
		assert_false(l4_mask_valid(&ev, &m));
	}
}

/* Rows that some machines have: Intel's energy meters and IBM Z's counters. */
static void rows_of_machines(void **state)
{
	static const struct l4_unit intel = { .host = L4_HOST_INTEL }, other = { .host = L4_HOST_CPUINFO };

	(void)state;
	l4_begin("GenuineIntel-6-2D-7", NULL); /* list 1 of energy meters */
	for (unsigned kinds = 0; kinds < 256; kinds++) {
		const struct l4_row row = { .type = (uint8_t)kinds };

		assert_int_equal(l4_listed(&intel, &row), (kinds >> 1 & 1));
		assert_int_equal(l4_listed(&other, &row), (kinds >> 6 & 1)); /* no IBM Z: as z16 */
	}
	l4_terminate();
}

UNIT(compat_libpfm4_event, cmocka_unit_test(same_names), cmocka_unit_test(units), cmocka_unit_test(events_of_all_units),
     cmocka_unit_test(attributes_in_order), cmocka_unit_test(layers), cmocka_unit_test(the_architectural_unit), cmocka_unit_test(revisions),
     cmocka_unit_test(rows_of_machines));
