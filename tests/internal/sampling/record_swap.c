/* SPDX-License-Identifier: MIT */
/* Each record is written twice from one list of numbers, once in each byte order. After the swap
 * the foreign record must equal the native one byte for byte. A record that is cut is reported as
 * damaged, and no byte after its end changes. */
#include "units.h"
#include <byteswap.h>
#include "sampling/sampling.h"

#define GUARD 0x5au

/* One record in both byte orders. */
struct pair {
	_Alignas(8) uint8_t ours[1024], theirs[1024];
	size_t n;
	uint64_t next; /* The next number; all differ, and none reads the same in both orders. */
};

static struct pair p;

static void put(uint64_t v, unsigned bytes)
{
	const uint16_t half[2] = { (uint16_t)v, bswap_16((uint16_t)v) };
	const uint32_t word[2] = { (uint32_t)v, bswap_32((uint32_t)v) };
	const uint64_t twice[2] = { v, bswap_64(v) };
	const uint8_t *from = bytes == 2   ? (const uint8_t *)half
	                      : bytes == 4 ? (const uint8_t *)word
	                                   : (const uint8_t *)twice;

	assert_true(p.n + bytes <= sizeof(p.ours));
	memcpy(p.ours + p.n, from, bytes);
	memcpy(p.theirs + p.n, from + bytes, bytes);
	p.n += bytes;
}

/* Adds @n numbers of @bytes bytes whose values do not matter. */
static void put_some(unsigned n, unsigned bytes)
{
	while (n--)
		put(p.next += 0x0101010101010203, bytes);
}

/* Adds @n single bytes, which do not change with the byte order. */
static void put_bytes(unsigned n)
{
	for (; n; n--, p.n++)
		p.ours[p.n] = p.theirs[p.n] = (uint8_t)(0xc0 + n);
}

static void begin(uint32_t type, uint16_t misc)
{
	memset(&p, 0, sizeof(p));
	p.next = 0x1122334455667788;
	put(type, 4);
	put(misc, 2);
	put(0x1234, 2); /* the size, which the swap does not read */
}

static void expect_swapped(const struct record_layout *l, const char *what)
{
	_Alignas(8) uint8_t bytes[sizeof(p.ours) + 16];

	memset(bytes, GUARD, sizeof(bytes));
	memcpy(bytes, p.theirs, p.n);
	if (!pfmi_sampling_swap_record(l, bytes, p.n))
		fail_msg("%s: damaged", what);
	for (size_t i = 0; i < p.n; i++)
		if (bytes[i] != p.ours[i])
			fail_msg("%s: byte %zu is 0x%02x, not 0x%02x", what, i, bytes[i],
			         p.ours[i]);
	for (size_t i = p.n; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], GUARD);
}

/* A record cut before byte @least must be reported as damaged. */
static void expect_damaged_before(const struct record_layout *l, size_t least, const char *what)
{
	_Alignas(8) uint8_t bytes[sizeof(p.ours) + 16];

	for (size_t n = 8; n < p.n; n++) {
		memset(bytes, GUARD, sizeof(bytes));
		memcpy(bytes, p.theirs, n);
		if (pfmi_sampling_swap_record(l, bytes, n) != (n >= least))
			fail_msg("%s of %zu bytes: %s", what, n,
			         n >= least ? "damaged" : "not damaged");
		for (size_t i = n; i < sizeof(bytes); i++)
			assert_int_equal(bytes[i], GUARD);
	}
}

/* ---- samples --------------------------------------------------------------------------------- */

static const struct record_layout plain = { .read_format = 0,
	                                    .user_regs = 0x8000000000000001,
	                                    .intr_regs = 0x70 };

static unsigned bit(uint64_t set, unsigned n)
{
	return (unsigned)(set >> n) & 1;
}

static void put_read(uint64_t format, unsigned members)
{
	unsigned each = 1 + bit(format, 2) + bit(format, 4),
		 times = bit(format, 0) + bit(format, 1);

	if (format & 8)
		put(members, 8);
	put_some(times + each * (format & 8 ? members : 1), 8);
}

static void put_branches(uint64_t type, unsigned n)
{
	put(n, 8);
	if (type >> 17 & 1)
		put_some(1, 8);
	put_some(3 * n, 8);
	if (type >> 19 & 1)
		put_some(n, 8);
}

/* Writes the fields of @l in the kernel's order. */
static void put_sample(const struct record_layout *l, unsigned size)
{
	uint64_t f = l->fields;

	begin(9, 0x4002);
	put_some(bit(f, 16) + bit(f, 0), 8);
	put_some(f & PFM_SAMPLE_TID ? 2 : 0, 4);
	put_some(bit(f, 2) + bit(f, 3) + bit(f, 6) + bit(f, 9), 8);
	put_some(f & PFM_SAMPLE_CPU ? 2 : 0, 4);
	put_some(bit(f, 8), 8);
	if (f & PFM_SAMPLE_READ)
		put_read(l->read_format, size);
	if (f & PFM_SAMPLE_CHAIN) {
		put(size, 8);
		put_some(size, 8);
	}
	if (f & PFM_SAMPLE_RAW) {
		put(8 * size + 4, 4);
		put_bytes(8 * size + 4);
	}
	if (f & PFM_SAMPLE_BRANCH)
		put_branches(l->branch_type, size);
	if (f & PFM_SAMPLE_REGS) {
		put(size ? 2 : 0, 8);
		put_some(size ? 2 : 0, 8);
	}
	if (f & PFM_SAMPLE_STACK) {
		put(8 * size, 8);
		put_bytes(8 * size);
		put_some(size ? 1 : 0, 8);
	}
	put_some(f & (PFM_SAMPLE_WEIGHT | PFM_SAMPLE_WEIGHTS) ? 1 : 0, 8);
	put_some(bit(f, 15) + bit(f, 17), 8);
	if (f & PFM_SAMPLE_INTR_REGS) {
		put(size ? 1 : 0, 8);
		put_some(size ? 3 : 0, 8);
	}
	put_some(bit(f, 19) + bit(f, 21) + bit(f, 22) + bit(f, 23), 8);
	if (f & PFM_SAMPLE_AUX) {
		put(8 * size, 8);
		put_bytes(8 * size);
	}
}

/* Covers every pair of fields with lists of zero, one and three members. */
static void swaps_samples_with_every_pair_of_fields(void **state)
{
	(void)state;
	for (unsigned a = 0; a < 25; a++)
		for (unsigned b = a; b < 25; b++)
			for (unsigned size = 0; size <= 3; size += size ? 2 : 1) {
				struct record_layout l = plain;
				char what[64];

				l.fields = (uint64_t)1 << a | (uint64_t)1 << b;
				snprintf(what, sizeof(what), "fields %u and %u of %u", a, b, size);
				put_sample(&l, size);
				expect_swapped(&l, what);
			}
}

static void swaps_samples_with_all_fields(void **state)
{
	struct record_layout l = plain;

	(void)state;
	l.fields = ((uint64_t)1 << 25) - 1;
	for (unsigned format = 0; format < 32; format++) {
		l.read_format = format;
		put_sample(&l, 2);
		expect_swapped(&l, "a reading");
	}
	for (unsigned type = 0; type < 4; type++) {
		l.branch_type = (uint64_t)(type & 1) << 17 | (uint64_t)(type >> 1) << 19;
		put_sample(&l, 3);
		expect_swapped(&l, "branches");
	}
}

/* AUX data are the last bytes of a sample and are not swapped, so that they may be missing. All
 * bytes before them must be there. */
static void refuses_cut_samples(void **state)
{
	struct record_layout l = plain;

	(void)state;
	for (unsigned bit = 0; bit < 25; bit++) {
		char what[32];
		size_t all;

		l.fields = (uint64_t)1 << bit;
		l.read_format = 0x1f;
		l.branch_type = (uint64_t)5 << 17;
		snprintf(what, sizeof(what), "field %u", bit);
		put_sample(&l, 2);
		all = bit == 20 ? p.n - 16 : p.n;
		expect_damaged_before(&l, all, what);
	}
}

static void refuses_lengths_beyond_the_record(void **state)
{
	static const uint64_t lies[] = { 3,          4,           0x7fffffff,        0x80000000,
		                         0xffffffff, 0x100000000, (uint64_t)1 << 61, UINT64_MAX / 8,
		                         UINT64_MAX };
	static const uint64_t fields[] = { PFM_SAMPLE_CHAIN, PFM_SAMPLE_BRANCH, PFM_SAMPLE_STACK,
		                           PFM_SAMPLE_READ };

	(void)state;
	for (size_t i = 0; i < COUNT(lies); i++)
		for (size_t k = 0; k < COUNT(fields); k++) {
			struct record_layout l = { .fields = fields[k], .read_format = 8 };

			begin(9, 0);
			put(fields[k] == PFM_SAMPLE_STACK ? lies[i] + 14 : lies[i], 8);
			put_some(fields[k] == PFM_SAMPLE_BRANCH ? 8 : 2, 8);
			assert_false(pfmi_sampling_swap_record(&l, p.theirs, p.n));
		}
}

/* ---- other records --------------------------------------------------------------------------- */

/* A list of widths: numbers of 8, 4 and 2 bytes, and 't' for eight letters that have no order. */
static void put_list(const char *list)
{
	for (; *list; list++)
		if (*list == 't')
			put_bytes(8);
		else
			put_some(1, (unsigned)(*list - '0'));
}

static const struct {
	uint32_t type;
	uint16_t misc;
	const char *before; /* widths of the numbers before the text */
	const char *text;
} records[] = {
	{ PFM_RECORD_MAP, 0, "44888", "tt" },
	{ PFM_RECORD_MAP2, 0, "44888448844", "t" },
	{ PFM_RECORD_MAP2, PFM_MISC_BUILD_ID, "44888ttt44", "t" },
	{ PFM_RECORD_MAP, PFM_MISC_BUILD_ID, "44888", "t" },
	{ PFM_RECORD_LOST, 0, "88", "" },
	{ PFM_RECORD_COMM, 0, "44", "t" },
	{ PFM_RECORD_EXIT, 0, "44448", "" },
	{ PFM_RECORD_FORK, 0, "44448", "" },
	{ PFM_RECORD_THROTTLE, 0, "888", "" },
	{ PFM_RECORD_UNTHROTTLE, 0, "888", "" },
	{ PFM_RECORD_READ, 0, "448", "" },
	{ PFM_RECORD_AUX, 0, "888", "" },
	{ PFM_RECORD_ITRACE_START, 0, "44", "" },
	{ PFM_RECORD_LOST_SAMPLES, 0, "8", "" },
	{ PFM_RECORD_SWITCH, 0, "", "" },
	{ PFM_RECORD_SWITCH_CPU, 0, "44", "" },
	{ PFM_RECORD_KSYMBOL, 0, "8422", "t" },
	{ PFM_RECORD_BPF, 0, "224", "t" },
	{ PFM_RECORD_CGROUP, 0, "8", "tt" },
	{ PFM_RECORD_TEXT_POKE, 0, "822", "ttt" },
	{ PFM_RECORD_AUX_ID, 0, "8", "" },
	{ PFM_RECORD_DEFERRED_CHAIN + 1, 0, "", "tttt" }, /* a type without known numbers */
};

/* Records without a trailer, and with trailers of every set of fields. */
static void records_and_their_trailers(void **state)
{
	static const struct {
		uint64_t field;
		const char *list;
	} trailers[] = {
		{ PFM_SAMPLE_TID, "44" }, { PFM_SAMPLE_TIME, "8" },
		{ PFM_SAMPLE_ID, "8" },   { PFM_SAMPLE_STREAM, "8" },
		{ PFM_SAMPLE_CPU, "44" }, { PFM_SAMPLE_IDENTIFIER, "8" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(records); i++)
		for (unsigned set = 0; set < 64; set++) {
			/* These fields are not part of a trailer and must be ignored. */
			struct record_layout l = { .fields = PFM_SAMPLE_IP | PFM_SAMPLE_PERIOD |
				                             PFM_SAMPLE_CHAIN,
				                   .has_trailers = true,
				                   .has_build_ids = true };
			bool known = records[i].type <= PFM_RECORD_DEFERRED_CHAIN;
			char what[64];

			begin(records[i].type, records[i].misc);
			put_list(records[i].before);
			put_list(records[i].text);
			for (unsigned k = 0; k < 6 && known; k++)
				if (set >> k & 1) {
					l.fields |= trailers[k].field;
					put_list(trailers[k].list);
				}
			snprintf(what, sizeof(what), "record %u, trailers %u", records[i].type,
			         set);
			expect_swapped(&l, what);
		}
}

static void records_without_trailers(void **state)
{
	const struct record_layout l = { .fields = PFM_SAMPLE_TID | PFM_SAMPLE_TIME |
		                                   PFM_SAMPLE_IDENTIFIER,
		                         .has_build_ids = true };

	(void)state;
	for (size_t i = 0; i < COUNT(records); i++) {
		size_t least;

		begin(records[i].type, records[i].misc);
		put_list(records[i].before);
		least = p.n;
		put_list(records[i].text);
		expect_swapped(&l, "a record");
		expect_damaged_before(&l, least, "a record");
	}
}

/* A trailer that does not fit, and a record that consists of its trailer alone. */
static void refuses_trailers_that_do_not_fit(void **state)
{
	const struct record_layout l = { .fields = PFM_SAMPLE_TID | PFM_SAMPLE_TIME |
		                                   PFM_SAMPLE_IDENTIFIER,
		                         .has_trailers = true };

	(void)state;
	begin(PFM_RECORD_SWITCH, 0);
	put_list("448");
	assert_false(pfmi_sampling_swap_record(&l, p.theirs, p.n));
	begin(PFM_RECORD_SWITCH, 0);
	put_list("4488");
	expect_swapped(&l, "nothing but a trailer");
	begin(PFM_RECORD_LOST_SAMPLES, 0);
	put_list("4488");
	assert_false(pfmi_sampling_swap_record(&l, p.theirs, p.n));
}

static void records_of_namespaces_are_swapped(void **state)
{
	const struct record_layout l = { .fields = PFM_SAMPLE_TIME, .has_trailers = true };

	(void)state;
	for (unsigned n = 0; n < 8; n += 7) {
		begin(PFM_RECORD_NAMESPACES, 0);
		put_list("44");
		put(n, 8);
		put_some(2 * n, 8);
		put_some(1, 8);
		expect_swapped(&l, "namespaces");
	}
	begin(PFM_RECORD_NAMESPACES, 0);
	put_list("44");
	put(8, 8);
	put_some(2 * 7 + 1, 8);
	assert_false(pfmi_sampling_swap_record(&l, p.theirs, p.n));
}

static void records_of_readings_are_swapped(void **state)
{
	(void)state;
	for (unsigned format = 0; format < 32; format++) {
		const struct record_layout l = { .read_format = format };

		begin(PFM_RECORD_READ, 0);
		put_list("44");
		put_read(format, 3);
		expect_swapped(&l, "a reading");
		expect_damaged_before(&l, p.n, "a reading");
	}
}

UNIT(sampling_record_swap, cmocka_unit_test(swaps_samples_with_every_pair_of_fields),
     cmocka_unit_test(swaps_samples_with_all_fields), cmocka_unit_test(refuses_cut_samples),
     cmocka_unit_test(refuses_lengths_beyond_the_record),
     cmocka_unit_test(records_and_their_trailers), cmocka_unit_test(records_without_trailers),
     cmocka_unit_test(refuses_trailers_that_do_not_fit),
     cmocka_unit_test(records_of_namespaces_are_swapped),
     cmocka_unit_test(records_of_readings_are_swapped));
