/* SPDX-License-Identifier: MIT */
/* libpfm4's layouts but Intel's: each bit of each word, of queries that are made by hand; bits as
 * the processors' manuals have them. */
#include "libpfm4_internal.h"
#include <perfmon/pfmlib.h>

struct made {
	struct l4_pmu unit;
	struct l4_row row;
	struct l4_query q;
	struct l4_code c;
};

/* An event without masks. */
static struct made *make(unsigned encoder, uint64_t code)
{
	static struct made m;

	memset(&m, 0, sizeof(m));
	m.unit = *l4_get_pmu(l4_number_of("skx"));
	m.row.code = code;
	m.row.modifiers = 7;
	m.q.event = (struct l4_event){ .pmu = &m.unit, .row = &m.row, .encoder = (uint8_t)encoder };
	return &m;
}

static void give(struct made *m, unsigned number, uint64_t value)
{
	m->q.attrs[m->q.n_attrs++] = (struct l4_attr){ L4_ATTR_MODIFIER, (uint16_t)number, value };
}

static int encode(struct made *m, unsigned plm)
{
	return l4_encode(&m->q, (int)plm, &m->c);
}

enum { K = PFM_PLM0, U = PFM_PLM3, H = PFM_PLMH };

/* Levels in the text replace the caller's; other modifiers are not levels. */
static void levels_of_the_text_replace_those_of_the_caller(void **state)
{
	static const unsigned bits[] = { K, U, 0, H };
	struct made *m = make(L4_ENCODER_ARM, 0);

	(void)state;
	assert_int_equal(l4_get_levels(&m->q, K | U, bits, 4, false), K | U);
	give(m, 2, 1);
	give(m, 4, 1);
	assert_int_equal(l4_get_levels(&m->q, K | U, bits, 4, false), K | U);
	give(m, 0, 0);
	assert_int_equal(l4_get_levels(&m->q, K | U, bits, 4, false), 0);
	give(m, 3, 1);
	assert_int_equal(l4_get_levels(&m->q, K | U, bits, 4, false), H);
	m->q.attrs[m->q.n_attrs++] = (struct l4_attr){ L4_ATTR_OS, 1, 1 };
	m->q.attrs[m->q.n_attrs++] = (struct l4_attr){ L4_ATTR_MASK, 1, 1 };
	assert_int_equal(l4_get_levels(&m->q, K | U, bits, 4, false), H);
}

/* Of a level given twice with two values: libpfm4 keeps what was set on Arm, the last value on
 * MIPS and Netburst. */
static void levels_given_twice(void **state)
{
	static const unsigned bits[] = { K, U };
	struct made *m = make(L4_ENCODER_MIPS, 0);

	(void)state;
	give(m, 1, 1);
	give(m, 1, 0);
	assert_int_equal(l4_get_levels(&m->q, K, bits, 2, true), U);
	assert_int_equal(l4_get_levels(&m->q, K, bits, 2, false), 0);
}

/* PERFEVTSEL of AMD: event in 7:0 and 35:32, enable and interrupt in 22 and 20. */
static void words_of_amd(void **state)
{
	static const unsigned at[] = { 17, 16, 18, 23, 24, 41, 40 };
	const uint64_t base = 0x5000c0 | 0x1ull << 32;

	(void)state;
	for (unsigned mod = 0; mod < 7; mod++) {
		struct made *m = make(L4_ENCODER_AMD64, 0x1c0);

		m->row.modifiers = 0x7f;
		give(m, mod, 1);
		assert_int_equal(encode(m, 0), PFM_SUCCESS);
		assert_true(m->c.n_words == 1 && m->c.words[0] == (base | 1ull << at[mod]) &&
		            m->c.modifier_values[mod] == 1);
	}
	for (unsigned plm = 0; plm < 32; plm++) {
		struct made *m = make(L4_ENCODER_AMD64, 0x1c0);

		m->row.modifiers = 1 | 2 | 1 << 5;
		encode(m, plm);
		assert_true(m->c.words[0] ==
		            (base | (plm & K ? 1 << 17 : 0) | (plm & U ? 1 << 16 : 0) |
		             (plm & H ? 1ull << 41 : 0)));
		m->row.modifiers = 1 | 2; /* no hypervisor to tell apart */
		encode(m, plm);
		assert_true(m->c.words[0] ==
		            (base | (plm & K ? 1 << 17 : 0) | (plm & U ? 1 << 16 : 0)));
		give(m, 1, 1);
		encode(m, plm);
		assert_true(m->c.words[0] == (base | 1 << 16));
	}
}

static void values_of_amd(void **state)
{
	struct made *m = make(L4_ENCODER_AMD64, 0xfc0);

	(void)state;
	give(m, 4, 255);
	assert_int_equal(encode(m, U), PFM_SUCCESS);
	assert_true(m->c.words[0] == (0x5100c0 | 0xfull << 32 | 255u << 24));
	m->q.attrs[0].value = 256;
	assert_int_equal(encode(m, U), PFM_ERR_ATTR_VAL);
	m = make(L4_ENCODER_AMD64, 0xc0);
	m->q.attrs[m->q.n_attrs++] = (struct l4_attr){ L4_ATTR_RAW_MASK, 0, 0xff };
	assert_int_equal(encode(m, U), PFM_SUCCESS);
	assert_true(m->c.words[0] == 0x51ffc0 && m->c.has_raw_mask && m->c.raw_mask == 0xff);
	m->q.attrs[0].value = 0x100;
	assert_int_equal(encode(m, U), PFM_ERR_ATTR);
}

/* Masks of a real event: the group's default, one of them, two that go together or not. */
static void masks_of_amd(void **state)
{
	static const char *const inactive[] = { "LIBPFM_ENCODE_INACTIVE", "1", NULL };
	struct l4_query q;
	struct l4_code c;

	(void)state;
	l4_begin("GenuineIntel-6-55-4", inactive);
	assert_int_equal(l4_parse_event("amd64_k8_revb::SCRUBBER_SINGLE_BIT_ECC_ERRORS:SCRUBBER_"
	                                "ERROR:PIGGYBACK_ERROR",
	                                PFM_OS_NONE, &q),
	                 PFM_SUCCESS);
	assert_int_equal(l4_encode(&q, U, &c), PFM_SUCCESS);
	assert_true(c.words[0] == 0x51034a);
	for (unsigned i = 0; i < q.n_attrs; i++)
		assert_true(l4_has_bit(c.used_masks, q.attrs[i].number) &&
		            !l4_has_bit(c.default_masks, q.attrs[i].number));
	assert_int_equal(
		l4_parse_event("amd64_k8_revb::SCRUBBER_SINGLE_BIT_ECC_ERRORS:PIGGYBACK_ERROR",
	                       PFM_OS_NONE, &q),
		PFM_SUCCESS);
	assert_int_equal(l4_encode(&q, U, &c), PFM_SUCCESS);
	assert_true(c.words[0] == 0x51024a);
	assert_int_equal(
		l4_parse_event("amd64_k8_revb::SCRUBBER_SINGLE_BIT_ECC_ERRORS:ALL:PIGGYBACK_ERROR",
	                       PFM_OS_NONE, &q),
		PFM_SUCCESS);
	assert_int_equal(l4_encode(&q, U, &c),
	                 PFM_ERR_FEATCOMB); /* "all" excludes the other masks */
	assert_int_equal(
		l4_parse_event("amd64_k8_revb::SCRUBBER_SINGLE_BIT_ECC_ERRORS", PFM_OS_NONE, &q),
		PFM_SUCCESS);
	assert_int_equal(l4_encode(&q, U, &c), PFM_SUCCESS);
	assert_true(c.words[0] == 0x51034a &&
	            (c.default_masks[0] | c.default_masks[1] | c.default_masks[2]));
	l4_end_case();
}

/* User in bits 30 and kernel in 31 leave out, the hypervisor's 27 lets in; libpfm4's own answers
 * have them the other way round. */
static void words_of_arm(void **state)
{
	static const char *const exact[] = { "PERFMON_LIBPFM4_CORRECT", "0", NULL };

	(void)state;
	for (unsigned own = 0; own < 2; own++) {
		l4_begin("GenuineIntel-6-55-4", own ? exact : NULL);
		for (unsigned plm = 0; plm < 32; plm++) {
			struct made *m = make(L4_ENCODER_ARM, 0x11);
			bool k = plm & K, u = plm & U, h = plm & H;
			uint64_t want =
				own ? (k ? 0 : 1u << 30) | (u ? 0 : 1u << 31) | (h ? 0 : 1u << 27)
				    : (k ? 0 : 1u << 31) | (u ? 0 : 1u << 30) | (h ? 1u << 27 : 0);

			assert_int_equal(encode(m, plm), PFM_SUCCESS);
			assert_true(m->c.words[0] == (0x11 | want) &&
			            m->c.modifier_values[0] == k && m->c.modifier_values[1] == u &&
			            m->c.modifier_values[2] == h);
			m->row.modifiers = 0; /* an event that has no levels */
			encode(m, plm);
			assert_int_equal(m->c.words[0], 0x11);
		}
	}
	l4_end_case();
}

/* Events in bits 11:5; bit 7 of the number: the odd counters. */
static void words_of_mips(void **state)
{
	(void)state;
	for (unsigned code = 0; code < 256; code += 85)
		for (unsigned plm = 0; plm < 16; plm++) {
			struct made *m = make(L4_ENCODER_MIPS, code);

			encode(m, plm);
			assert_true(m->c.n_words == 2 && m->c.words[1] == (code < 2      ? 0xf
			                                                   : code & 0x80 ? 0xa
			                                                                 : 5));
			assert_true(m->c.words[0] ==
			            ((code & 0x7fu) << 5 | (plm & K ? 2 : 0) | (plm & U ? 8 : 0) |
			             (plm & PFM_PLM1 ? 4 : 0) | (plm & PFM_PLM2 ? 1 : 0)));
		}
	assert_int_equal(encode(make(L4_ENCODER_MIPS, 1), 0), PFM_SUCCESS);
	assert_int_equal(make(L4_ENCODER_MIPS, 2)->c.n_words, 0);
}

/* ESCR and CCCR of an event without tags. */
static void words_of_netburst(void **state)
{
	struct l4_query q;
	struct l4_code c;
	static const char *const inactive[] = { "LIBPFM_ENCODE_INACTIVE", "1", NULL };
	const uint64_t escr = 1ull << 9 | 0x13ull << 25, cccr = 1u << 12 | 6u << 13 | 3u << 16;

	(void)state;
	l4_begin("GenuineIntel-6-55-4", inactive);
	assert_int_equal(l4_parse_event("netburst::global_power_events:RUNNING", PFM_OS_NONE, &q),
	                 PFM_SUCCESS);
	assert_int_equal(l4_encode(&q, U, &c), PFM_SUCCESS);
	assert_true(c.n_words == 2 && c.words[0] == (escr | 5) && c.words[1] == cccr);
	l4_encode(&q, K, &c);
	assert_true(c.words[0] == (escr | 10) && c.modifier_values[0] == 0 &&
	            c.modifier_values[1] == 1);
	l4_parse_event("netburst::global_power_events:RUNNING:thr=15:cmpl:e", PFM_OS_NONE, &q);
	assert_int_equal(l4_encode(&q, U, &c), PFM_SUCCESS);
	assert_true(c.words[1] == (cccr | 1 << 18 | 1 << 19 | 15 << 20 | 1 << 24));
	l4_parse_event("netburst::global_power_events:RUNNING:thr=1", PFM_OS_NONE, &q);
	l4_encode(&q, U, &c);
	assert_true(c.words[1] == (cccr | 1 << 18 | 1 << 20));
	l4_parse_event("netburst::global_power_events:RUNNING:thr=16", PFM_OS_NONE, &q);
	assert_int_equal(l4_encode(&q, U, &c), PFM_ERR_ATTR_VAL);
	assert_int_equal(l4_parse_event("netburst::global_power_events", PFM_OS_NONE, &q),
	                 PFM_SUCCESS);
	if (l4_encode(&q, U, &c) == PFM_SUCCESS)
		assert_true(c.default_masks[0] & c.used_masks[0]);
	l4_end_case();
}

static void codes_of_plain_encoders_are_one_word(void **state)
{
	struct made *m = make(L4_ENCODER_PLAIN, 0x1234567890abcdefull);

	(void)state;
	assert_int_equal(encode(m, U), PFM_SUCCESS);
	assert_true(m->c.words[0] == 0x1234567890abcdefull && m->c.n_words == 1 &&
	            m->c.shown_modifiers == 0);
	m = make(L4_ENCODER_PERF_RAW, 1);
	m->q.raw_code = 0x77;
	encode(m, U);
	assert_int_equal(m->c.words[0], 0x77);
	m = make(L4_ENCODER_TORRENT, 0x99);
	encode(m, U);
	assert_int_equal(m->c.words[0], 0x99);
	m = make(L4_ENCODER_SPARC, 0x123);
	m->row.counter_pins = 2;
	encode(m, U);
	assert_true(m->c.words[0] == 0x123 && m->c.words[1] == 2 && m->c.n_words == 2);
	m = make(L4_ENCODER_PERF, 6);
	encode(m, U);
	assert_int_equal(m->c.words[0], 6);
}

/* Masks of SPARC are bits of the event's word, from bit 24 to its 32nd. */
static void masks_of_sparc(void **state)
{
	static const char *const names[] = { "niagara1", "niagara2", "ultra12", "ultra3",
		                             "ultra3i",  "ultra3p",  "ultra4p" };
	unsigned n = 0;

	(void)state;
	for (size_t k = 0; k < COUNT(names); k++) {
		const uint32_t unit = l4_number_of(names[k]);

		for (uint32_t pos = 0; pos < l4_get_event_end(unit); pos++) {
			struct l4_query q = { .n_attrs = 2 };
			struct l4_code c;

			assert_true(l4_get_event(unit, pos, &q.event) &&
			            q.event.row->code < 1u << 24);
			for (unsigned i = 0; i < q.event.row->n_masks; i++, n++) {
				uint64_t bits = l4_get_row_masks(q.event.row)[i].code |
				                l4_get_row_masks(q.event.row)[0].code;

				q.attrs[0] = (struct l4_attr){ L4_ATTR_MASK, (uint16_t)i, 1 };
				q.attrs[1] = (struct l4_attr){ L4_ATTR_MASK, 0, 1 };
				assert_int_equal(l4_encode(&q, U, &c), PFM_SUCCESS);
				assert_true(bits <= 0xff &&
				            c.words[0] == (q.event.row->code | bits << 24));
				assert_true(c.n_words == 2 &&
				            c.words[1] == q.event.row->counter_pins &&
				            c.shown_modifiers == 0);
			}
		}
	}
	assert_true(n > 20);
}

/* Of the kernel's cache events one mask of each group; those that are not named are the
 * defaults. */
static void groups_of_perf(void **state)
{
	struct l4_query q;
	struct l4_code c;

	(void)state;
	assert_int_equal(
		l4_parse_event("perf::PERF_COUNT_HW_CACHE_LL:WRITE:MISS", PFM_OS_PERF_EVENT, &q),
		PFM_SUCCESS);
	assert_int_equal(l4_encode(&q, U, &c), PFM_SUCCESS);
	assert_int_equal(c.words[0], 2 | 1 << 8 | 1 << 16);
	assert_int_equal(l4_parse_event("perf::PERF_COUNT_HW_CACHE_LL", PFM_OS_PERF_EVENT, &q),
	                 PFM_SUCCESS);
	assert_int_equal(l4_encode(&q, U, &c), PFM_SUCCESS);
	assert_int_equal(c.words[0], 2 | 1 << 16); /* reads that miss */
	assert_int_equal(
		l4_parse_event("perf::PERF_COUNT_HW_CACHE_LL:WRITE:READ", PFM_OS_PERF_EVENT, &q),
		PFM_SUCCESS);
	assert_int_equal(l4_encode(&q, U, &c), PFM_ERR_UMASK);
}

UNIT(compat_libpfm4_layouts, cmocka_unit_test(levels_of_the_text_replace_those_of_the_caller),
     cmocka_unit_test(levels_given_twice), cmocka_unit_test(words_of_amd),
     cmocka_unit_test(values_of_amd), cmocka_unit_test(masks_of_amd),
     cmocka_unit_test(words_of_arm), cmocka_unit_test(words_of_mips),
     cmocka_unit_test(words_of_netburst), cmocka_unit_test(codes_of_plain_encoders_are_one_word),
     cmocka_unit_test(masks_of_sparc), cmocka_unit_test(groups_of_perf));
