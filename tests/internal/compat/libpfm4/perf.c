/* SPDX-License-Identifier: MIT */
/* libpfm4's words as the kernel's attr: each kind of PMU, each attribute, each refusal. Queries are
 * made by hand. */
#include "libpfm4_internal.h"
#include <linux/perf_event.h>

struct made {
	struct l4_pmu unit;
	struct l4_row row;
	struct l4_query q;
	struct l4_code code;
	struct perf_event_attr attr;
	struct l4_perf_result perf;
};

/* An event of a PMU without a device of its own, that counts on all levels but the hypervisor's. */
static struct made *make(unsigned encoder, uint64_t word)
{
	static struct made m;

	memset(&m, 0, sizeof(m));
	m.unit = *l4_get_pmu(l4_number_of("skx"));
	m.unit.flags = 0;
	m.unit.host_kind = L4_HOST_ANY;
	m.unit.type = PFM_PMU_TYPE_CORE;
	m.unit.levels = PFM_PLM0 | PFM_PLM3;
	m.unit.kernel_event_names = m.unit.name; /* a device that does not exist */
	m.q.event = (struct l4_event){ .pmu = &m.unit, .row = &m.row, .encoder = (uint8_t)encoder };
	m.q.os = PFM_OS_PERF_EVENT_EXT;
	m.q.attr_list.os_attrs = (1u << N_OS_ATTRS) - 1;
	m.code = (struct l4_code){ .words = { word, 0x1111, 0x2222 }, .n_words = 1 };
	return &m;
}

static int attr_of(struct made *m)
{
	memset(&m->attr, 0, sizeof(m->attr));
	memset(&m->perf, 0, sizeof(m->perf));
	return l4_build_perf_attr(&m->q, &m->code, PFM_PLM0 | PFM_PLM3, &m->attr, true, &m->perf);
}

static void give(struct made *m, unsigned attr, uint64_t value)
{
	m->q.attrs[m->q.n_attrs++] = (struct l4_attr){ L4_ATTR_OS, (uint16_t)attr, value };
}

#define ALL (~0ull)

/* The bits of a word that are the kernel's own are taken out. */
static void bits_of_the_kernel_are_taken_out_of_the_word(void **state)
{
	struct made *m = make(L4_ENCODER_CORE, ALL);

	(void)state;
	assert_int_equal(attr_of(m), PFM_SUCCESS);
	assert_true(m->attr.type == PERF_TYPE_RAW && m->attr.config == (ALL & ~0x530000ull) &&
	            m->attr.config1 == 0);
	m->code.n_words = 2;
	attr_of(m);
	assert_true(m->attr.config1 == 0x1111);
	m->unit.type = PFM_PMU_TYPE_UNCORE;
	assert_int_equal(attr_of(m), PFM_ERR_NOTFOUND); /* its device is not there */
	m = make(L4_ENCODER_ARM, ALL);
	m->unit.kernel_event_names = 0;
	attr_of(m);
	assert_true(m->attr.config == (ALL & ~(1ull << 27 | 3ull << 30)));
	m = make(L4_ENCODER_AMD64, ALL);
	assert_int_equal(attr_of(m), PFM_ERR_NOTSUPP); /* a PMU of its own, which is not there */
	m->unit.kernel_event_names = 0;
	assert_int_equal(attr_of(m), PFM_SUCCESS);
	assert_true(m->attr.config == (ALL & ~0x30000530000ull));
	m = make(L4_ENCODER_MIPS, 0x2a << 5 | 31);
	m->code.words[1] = 5;
	attr_of(m);
	assert_true(m->attr.config == 0x2a);
	m->code.words[1] = 0xa; /* odd counters */
	attr_of(m);
	assert_true(m->attr.config == 0xaa);
	m = make(L4_ENCODER_SPARC, 0x12);
	attr_of(m);
	assert_true(m->attr.config == (0x12 << 16 | 0x1111));
	m = make(L4_ENCODER_NETBURST, ALL);
	m->q.event.position = 9;
	attr_of(m); /* the kernel's number of the event is its place in the list */
	assert_true(m->attr.config ==
	            (((0xffffffffull & ~(0x3full << 25)) | 9ull << 25) << 32 | 0x1111));
	m = make(L4_ENCODER_PERF, 7);
	m->row.kind = PERF_TYPE_SOFTWARE;
	attr_of(m);
	assert_true(m->attr.type == PERF_TYPE_SOFTWARE && m->attr.config == 7);
	m->q.event.is_tracepoint_system = true;
	attr_of(m);
	assert_true(m->attr.type == PERF_TYPE_TRACEPOINT);
	m = make(L4_ENCODER_PLAIN, 0x77);
	assert_int_equal(attr_of(m), PFM_ERR_NOTSUPP);
	m->unit.host_kind = L4_HOST_SYSFS;
	assert_int_equal(attr_of(m), PFM_ERR_NOTFOUND);
	m = make(L4_ENCODER_PLAIN, 0x77);
	m->unit.kernel_event_names = 0;
	attr_of(m);
	assert_true(m->attr.type == PERF_TYPE_RAW && m->attr.config == 0x77);
}

/* The third word of a box: a register of its own, or the upper half of the second. */
static void the_third_word_of_a_box_has_its_place(void **state)
{
	static const struct {
		uint64_t code, word;
		uint32_t flags;
		bool half;
	} rows[] = {
		{ 0x34, 0x134, 0, false },           { 0x34, 0x134, PMU_IS_CBOX, true },
		{ 0x36, 0x136, PMU_IS_CBOX, true },  { 0x34, 0x34, PMU_IS_CBOX, false },
		{ 0x33, 0x133, PMU_IS_CBOX, false }, { 0x37, 0x137, PMU_IS_CBOX, false },
		{ 0x34, 0x34, PMU_IS_CHA, true },    { 0x36, 0x36, PMU_IS_CHA, true },
		{ 0x37, 0x37, PMU_IS_CHA, false },   { 0x33, 0x33, PMU_IS_CHA, false },
	};

	(void)state;
	l4_file("/sys/bus/event_source/devices/skx/type", "42\n");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made *m = make(L4_ENCODER_EP_UNC, rows[i].word);

		m->unit.flags = rows[i].flags;
		m->row.code = rows[i].code;
		m->code.n_words = 3;
		assert_int_equal(attr_of(m), PFM_SUCCESS);
		assert_true(m->attr.type == 42 && m->attr.config == rows[i].word);
		assert_true(m->attr.config1 == (rows[i].half ? 0x222200001111ull : 0x1111));
		assert_true(m->attr.config2 == (rows[i].half ? 0 : 0x2222));
	}
	l4_file("/sys/bus/event_source/devices/skx/type", NULL);
	assert_int_equal(attr_of(make(L4_ENCODER_EP_UNC, 1)), PFM_ERR_NOTSUPP);
}

static void levels_are_excluded_unless_asked_for(void **state)
{
	for (unsigned plm = 0; plm < 32; plm++)
		for (unsigned supported = 0; supported < 32; supported++) {
			struct made *m = make(L4_ENCODER_CORE, 1);

			(void)state;
			m->unit.levels = (uint8_t)supported;
			memset(&m->attr, 0, sizeof(m->attr));
			assert_int_equal(l4_build_perf_attr(&m->q, &m->code, (int)plm, &m->attr,
			                                    false, &m->perf),
			                 PFM_SUCCESS);
			assert_int_equal(m->attr.exclude_user, (supported & ~plm & PFM_PLM3) != 0);
			assert_int_equal(m->attr.exclude_kernel,
			                 (supported & ~plm & PFM_PLM0) != 0);
			assert_int_equal(m->attr.exclude_hv, (supported & ~plm & PFM_PLMH) != 0);
			assert_int_equal(m->attr.exclude_guest, supported != 0);
			assert_int_equal(m->perf.cpu, -1);
		}
}

/* Levels that are named are all there are, "u=0" as well. */
static void levels_by_name(void **state)
{
	static const struct {
		unsigned attr, value, user, kernel, hv;
	} rows[] = { { OS_ATTR_U, 1, 0, 1, 1 },
		     { OS_ATTR_K, 1, 1, 0, 1 },
		     { OS_ATTR_H, 1, 1, 1, 0 },
		     { OS_ATTR_U, 0, 1, 1, 1 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made *m = make(L4_ENCODER_CORE, 1);

		m->unit.levels |= PFM_PLMH;
		give(m, rows[i].attr, rows[i].value);
		attr_of(m);
		assert_true(m->perf.attr_values[OS_ATTR_U] == !rows[i].user &&
		            m->perf.attr_values[OS_ATTR_K] == !rows[i].kernel &&
		            m->perf.attr_values[OS_ATTR_H] == !rows[i].hv);
		assert_true(m->attr.exclude_user == rows[i].user &&
		            m->attr.exclude_kernel == rows[i].kernel &&
		            m->attr.exclude_hv == rows[i].hv);
	}
}

static void guests_and_hosts(void **state)
{
	for (unsigned named = 0; named < 4; named++) {
		struct made *m = make(L4_ENCODER_CORE, 1);

		(void)state;
		if (named & 1)
			give(m, OS_ATTR_MG, 1);
		if (named & 2)
			give(m, OS_ATTR_MH, 1);
		attr_of(m);
		assert_int_equal(m->attr.exclude_guest, !(named & 1));
		assert_int_equal(m->attr.exclude_host, named == 1);
		assert_true(m->perf.attr_values[OS_ATTR_MG] == (named & 1) &&
		            m->perf.attr_values[OS_ATTR_MH] == (named != 1));
		assert_int_equal(m->perf.shown_attrs >> OS_ATTR_MG & 1, named & 1);
		assert_int_equal(m->perf.shown_attrs >> OS_ATTR_MH & 1, named >> 1);
	}
}

/* Sampling and the rest: what comes out, and what is refused. */
static void attributes_of_sampling_have_limits(void **state)
{
	static const struct {
		uint64_t value;
		unsigned attr;
		int rc;
	} rows[] = {
		{ 0, OS_ATTR_PERIOD, PFM_ERR_ATTR_VAL },
		{ 1, OS_ATTR_PERIOD, 0 },
		{ 0, OS_ATTR_FREQ, PFM_ERR_ATTR_VAL },
		{ 5, OS_ATTR_FREQ, 0 },
		{ 3, OS_ATTR_PRECISE, 0 },
		{ 4, OS_ATTR_PRECISE, PFM_ERR_ATTR_VAL },
		{ INT32_MAX - 1, OS_ATTR_CPU, 0 },
		{ INT32_MAX, OS_ATTR_CPU, PFM_ERR_ATTR_VAL },
		{ 1, OS_ATTR_EXCL, 0 },
		{ 1, OS_ATTR_PINNED, 0 },
		{ 1, OS_ATTR_HW_SMPL, 0 },
		{ 0, OS_ATTR_HW_SMPL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made *m = make(L4_ENCODER_CORE, 1);
		uint64_t v = rows[i].value;

		give(m, rows[i].attr, v);
		assert_int_equal(attr_of(m), rows[i].rc);
		if (rows[i].rc)
			continue;
		assert_true(
			m->attr.sample_period ==
			(rows[i].attr == OS_ATTR_PERIOD || rows[i].attr == OS_ATTR_FREQ ? v : 0));
		assert_int_equal(m->attr.freq, rows[i].attr == OS_ATTR_FREQ);
		assert_int_equal(
			m->attr.precise_ip,
			rows[i].attr == OS_ATTR_PRECISE || rows[i].attr == OS_ATTR_HW_SMPL ? v : 0);
		assert_int_equal(m->attr.exclusive, rows[i].attr == OS_ATTR_EXCL);
		assert_int_equal(m->attr.pinned, rows[i].attr == OS_ATTR_PINNED);
		assert_int_equal(m->perf.cpu, rows[i].attr == OS_ATTR_CPU ? (int)v : -1);
		assert_int_equal(m->perf.shown_attrs >> OS_ATTR_PERIOD & 1,
		                 rows[i].attr == OS_ATTR_PERIOD);
		assert_int_equal(m->perf.shown_attrs >> OS_ATTR_FREQ & 1,
		                 rows[i].attr == OS_ATTR_FREQ);
		assert_int_equal(m->perf.shown_attrs >> OS_ATTR_CPU & 1, 0);
		assert_int_equal(m->perf.shown_attrs >> OS_ATTR_PINNED & 1, 0);
		assert_true(m->perf.shown_attrs >> OS_ATTR_PRECISE & 1);
	}
}

/* Two rates, or one beside the caller's own: a period may replace a period. */
static void rates_that_clash(void **state)
{
	struct made *m = make(L4_ENCODER_CORE, 1);

	(void)state;
	give(m, OS_ATTR_PERIOD, 5);
	give(m, OS_ATTR_FREQ, 5);
	assert_int_equal(attr_of(m), PFM_ERR_ATTR_VAL);
	m = make(L4_ENCODER_CORE, 1);
	give(m, OS_ATTR_FREQ, 5);
	m->attr.sample_period = 7;
	assert_int_equal(l4_build_perf_attr(&m->q, &m->code, 8, &m->attr, true, &m->perf),
	                 PFM_ERR_ATTR_VAL);
	m->attr.freq = 1;
	assert_int_equal(l4_build_perf_attr(&m->q, &m->code, 8, &m->attr, true, &m->perf),
	                 PFM_ERR_ATTR_VAL);
	m->attr.sample_freq = 0;
	assert_int_equal(l4_build_perf_attr(&m->q, &m->code, 8, &m->attr, true, &m->perf),
	                 PFM_SUCCESS);
	assert_true(m->attr.sample_freq == 5);
	m = make(L4_ENCODER_CORE, 1);
	give(m, OS_ATTR_PERIOD, 5);
	m->attr.freq = 1;
	assert_int_equal(l4_build_perf_attr(&m->q, &m->code, 8, &m->attr, true, &m->perf),
	                 PFM_ERR_ATTR_VAL);
	m->attr.freq = 0;
	m->attr.sample_period = 7;
	assert_int_equal(l4_build_perf_attr(&m->q, &m->code, 8, &m->attr, true, &m->perf),
	                 PFM_SUCCESS);
	assert_true(m->attr.sample_period == 5);
}

/* Events without modifiers take none but "pinned", and those that are off. */
static void events_without_modifiers(void **state)
{
	struct made *m = make(L4_ENCODER_CORE, 1);

	(void)state;
	m->code.takes_no_modifiers = true;
	give(m, OS_ATTR_PINNED, 1);
	give(m, OS_ATTR_U, 0);
	assert_int_equal(attr_of(m), PFM_SUCCESS);
	give(m, OS_ATTR_K, 1);
	assert_int_equal(attr_of(m), PFM_ERR_ATTR_VAL);
}

/* libpfm4's own answers show both rates, guest and host, and what the hardware makes of hw_smpl. */
static void exact_answers_show_what_libpfm4_shows(void **state)
{
	static const char *const exact[] = { "PERFMON_LIBPFM4_CORRECT", "0", NULL };
	struct made *m;

	(void)state;
	l4_begin("GenuineIntel-6-55-4", exact);
	m = make(L4_ENCODER_CORE, 1);
	give(m, OS_ATTR_PERIOD, 9);
	give(m, OS_ATTR_PRECISE, 2);
	attr_of(m);
	assert_true((m->perf.shown_attrs >> OS_ATTR_FREQ & 1) &&
	            (m->perf.shown_attrs >> OS_ATTR_PERIOD & 1) &&
	            (m->perf.shown_attrs >> OS_ATTR_MG & 1));
	assert_true(m->perf.attr_values[OS_ATTR_FREQ] == 9 &&
	            m->perf.attr_values[OS_ATTR_HW_SMPL] == 2);
	l4_end_case();
	attr_of(m);
	assert_true(!(m->perf.shown_attrs >> OS_ATTR_FREQ & 1) &&
	            m->perf.attr_values[OS_ATTR_HW_SMPL] == 0);
}

/* libpfm4 takes "u:u:u=0" for "u:u=0", and reads each value of what is left. */
static void attributes_given_twice(void **state)
{
	static const struct {
		unsigned attr, first, second;
		int rc;
	} cases[] = {
		{ OS_ATTR_FREQ, 7, 7, PFM_ERR_ATTR_VAL },
		{ OS_ATTR_PERIOD, 7, 9, PFM_SUCCESS },
		{ OS_ATTR_PRECISE, 4, 1, PFM_ERR_ATTR_VAL },
		{ OS_ATTR_PERIOD, 0, 9, PFM_ERR_ATTR_VAL },
		{ OS_ATTR_CPU, 3, 4, PFM_SUCCESS },
	};
	struct made *m = make(L4_ENCODER_CORE, 1);

	(void)state;
	give(m, OS_ATTR_U, 1);
	give(m, OS_ATTR_U, 0);
	give(m, OS_ATTR_EXCL, 1);
	give(m, OS_ATTR_EXCL, 0);
	assert_int_equal(attr_of(m), PFM_SUCCESS);
	assert_true(!m->attr.exclude_user && m->attr.exclude_kernel && m->attr.exclusive);
	for (size_t i = 0; i < COUNT(cases); i++) {
		m = make(L4_ENCODER_CORE, 1);
		give(m, cases[i].attr, cases[i].first);
		give(m, cases[i].attr, cases[i].second);
		assert_int_equal(attr_of(m), cases[i].rc);
	}
	assert_int_equal(m->perf.cpu, 4);
}

UNIT(compat_libpfm4_perf, cmocka_unit_test(bits_of_the_kernel_are_taken_out_of_the_word),
     cmocka_unit_test(the_third_word_of_a_box_has_its_place),
     cmocka_unit_test(levels_are_excluded_unless_asked_for), cmocka_unit_test(levels_by_name),
     cmocka_unit_test(guests_and_hosts), cmocka_unit_test(attributes_of_sampling_have_limits),
     cmocka_unit_test(rates_that_clash), cmocka_unit_test(events_without_modifiers),
     cmocka_unit_test(exact_answers_show_what_libpfm4_shows),
     cmocka_unit_test(attributes_given_twice));
