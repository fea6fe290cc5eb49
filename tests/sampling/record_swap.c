/* SPDX-License-Identifier: MIT */
/* Records of the other byte order, byte for byte: each is written down twice, once in either order,
 * from one list of its numbers; the foreign one must become the other. Cut anywhere it says so, and
 * nothing behind its end is touched. */
#include "units.h"
#include <byteswap.h>
#include "sampling/sampling.h"

#define GUARD 0x5au

/* The same record in both orders. */
struct pair {
	_Alignas(8) uint8_t ours[1024], theirs[1024];
	size_t n;
	uint64_t next; /* numbers that are all different, and none of them the same from both sides
	                */
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

/* @n numbers of @bytes bytes that mean nothing. */
static void put_some(unsigned n, unsigned bytes)
{
	while (n--)
		put(p.next += 0x0101010101010203, bytes);
}

/* @n bytes that have no order. */
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
	put(0x1234, 2); /* the size: nobody asks it */
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

/* Cut before byte @least every such record is damaged. */
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

/* What the kernel writes for the fields of @l, in its order. */
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

/* Every two fields, whose lists are empty or have one or three members. */
static void samples(void **state)
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

static void samples_with_everything(void **state)
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

/* The bytes of AUX are the last of a sample, and nobody looks at them; whatever is before them must
 * be there. */
static void samples_that_are_cut(void **state)
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

static void lengths_that_lie(void **state)
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
	const char *before; /* until the end of what is no text */
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
	{ PFM_RECORD_DEFERRED_CHAIN + 1, 0, "", "tttt" }, /* nobody knows its numbers */
};

/* With no trailer, and with those of all fields one by one and together. */
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
			/* Fields that have no place in a trailer must not look for one. */
			struct record_layout l = { .fields = PFM_SAMPLE_IP | PFM_SAMPLE_PERIOD |
				                             PFM_SAMPLE_CHAIN,
				                   .has_trailers = true };
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
		                                   PFM_SAMPLE_IDENTIFIER };

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

/* A trailer that does not fit, and one that leaves nothing of the record. */
static void trailers_that_do_not_fit(void **state)
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

static void namespaces(void **state)
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

static void readings(void **state)
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

UNIT(sampling_record_swap, cmocka_unit_test(samples), cmocka_unit_test(samples_with_everything),
     cmocka_unit_test(samples_that_are_cut), cmocka_unit_test(lengths_that_lie),
     cmocka_unit_test(records_and_their_trailers), cmocka_unit_test(records_without_trailers),
     cmocka_unit_test(trailers_that_do_not_fit), cmocka_unit_test(namespaces),
     cmocka_unit_test(readings));
