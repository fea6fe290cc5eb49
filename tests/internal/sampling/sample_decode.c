/* SPDX-License-Identifier: MIT */
/* Samples that the test writes field by field: every field alone, in pairs and together, in both
 * byte orders, cut at every length. */
#include "units.h"
#include <linux/perf_event.h>
#include "record_maker.h"

#define VALUE(BIT) (0x1111111111110000u + (BIT))

/* The fields are in the kernel's order. */
static void put_sample(struct maker *m, uint64_t f, bool foreign)
{
	begin(m, foreign, 9, 0x4002);
	if (f & PFM_SAMPLE_IDENTIFIER)
		put64(m, 777);
	if (f & PFM_SAMPLE_IP)
		put64(m, VALUE(0));
	if (f & PFM_SAMPLE_TID) {
		put32(m, 11);
		put32(m, 12);
	}
	if (f & PFM_SAMPLE_TIME)
		put64(m, VALUE(2));
	if (f & PFM_SAMPLE_ADDR)
		put64(m, VALUE(3));
	if (f & PFM_SAMPLE_ID)
		put64(m, 777);
	if (f & PFM_SAMPLE_STREAM)
		put64(m, VALUE(9));
	if (f & PFM_SAMPLE_CPU) {
		put32(m, 3);
		put32(m, 0xdead);
	}
	if (f & PFM_SAMPLE_PERIOD)
		put64(m, VALUE(8));
	if (f & PFM_SAMPLE_READ) { /* value, id, lost */
		put64(m, VALUE(4));
		put64(m, 777);
		put64(m, 5);
	}
	if (f & PFM_SAMPLE_CHAIN) {
		put64(m, 3);
		put64(m, PFM_CHAIN_USER);
		put64(m, VALUE(5));
		put64(m, VALUE(55));
	}
	if (f & PFM_SAMPLE_RAW) {
		put32(m, 12);
		put(m, "twelve bytes", 12);
	}
	if (f & PFM_SAMPLE_BRANCH) {
		put64(m, 2);
		put64(m, VALUE(11));
		for (unsigned i = 0; i < 6; i++)
			put64(m, VALUE(1100 + i));
	}
	if (f & PFM_SAMPLE_REGS) {
		put64(m, 2);
		for (unsigned i = 0; i < 3; i++)
			put64(m, VALUE(1200 + i));
	}
	if (f & PFM_SAMPLE_STACK) {
		put64(m, 16);
		put(m, "sixteen bytes ..", 16);
		put64(m, 13);
	}
	if (f & (PFM_SAMPLE_WEIGHT | PFM_SAMPLE_WEIGHTS))
		put64(m, 0x0003000200000001u);
	if (f & PFM_SAMPLE_SOURCE)
		put64(m, VALUE(15));
	if (f & PFM_SAMPLE_TRANSACTION)
		put64(m, VALUE(17));
	if (f & PFM_SAMPLE_INTR_REGS)
		put64(m, 0); /* no registers were recorded */
	if (f & PFM_SAMPLE_PHYS_ADDR)
		put64(m, VALUE(19));
	if (f & PFM_SAMPLE_CGROUP)
		put64(m, VALUE(21));
	if (f & PFM_SAMPLE_DATA_PAGE)
		put64(m, VALUE(22));
	if (f & PFM_SAMPLE_CODE_PAGE)
		put64(m, VALUE(23));
	if (f & PFM_SAMPLE_AUX) {
		put64(m, 8);
		put(m, "auxbytes", 8);
	}
	finish(m);
}

static void expect_lists(uint64_t f, const pfm_sample_t *s)
{
	assert_int_equal(s->n_read, f & PFM_SAMPLE_READ ? 3 : 0);
	if (s->n_read) {
		assert_int_equal(s->read[0], VALUE(4));
		assert_int_equal(s->read[2], 5);
	}
	assert_int_equal(s->n_chain, f & PFM_SAMPLE_CHAIN ? 3 : 0);
	if (s->n_chain) {
		assert_int_equal(s->chain[0], PFM_CHAIN_USER);
		assert_int_equal(s->chain[2], VALUE(55));
	}
	assert_int_equal(s->raw_size, f & PFM_SAMPLE_RAW ? 12 : 0);
	if (s->raw_size)
		assert_memory_equal(s->raw, "twelve bytes", 12);
	assert_int_equal(s->n_branches, f & PFM_SAMPLE_BRANCH ? 2 : 0);
	if (s->n_branches) {
		assert_int_equal(s->branch_index, VALUE(11));
		assert_int_equal(s->branches[1].from, VALUE(1103));
		assert_int_equal(s->branches[1].flags, VALUE(1105));
	}
	assert_int_equal(s->regs.n, f & PFM_SAMPLE_REGS ? 3 : 0);
	if (s->regs.n)
		assert_int_equal(s->regs.values[2], VALUE(1202));
	assert_int_equal(s->intr_regs.n, 0);
	assert_int_equal(s->stack_used, f & PFM_SAMPLE_STACK ? 13 : 0);
	if (s->stack_size)
		assert_memory_equal(s->stack, "sixteen bytes ..", 16);
}

static void expect_sample(uint64_t f, const pfm_record_t *r)
{
	const pfm_sample_t *s = &r->body.sample;

	assert_int_equal(r->type, PFM_RECORD_SAMPLE);
	assert_int_equal(r->misc, 0x4002);
	assert_int_equal(r->has, f);
	assert_int_equal(r->unparsed, 0);
	assert_int_equal(r->id, f & (PFM_SAMPLE_ID | PFM_SAMPLE_IDENTIFIER) ? 777 : 0);
	assert_int_equal(s->ip, f & PFM_SAMPLE_IP ? VALUE(0) : 0);
	assert_int_equal(r->pid, f & PFM_SAMPLE_TID ? 11 : 0);
	assert_int_equal(r->tid, f & PFM_SAMPLE_TID ? 12 : 0);
	assert_int_equal(r->time, f & PFM_SAMPLE_TIME ? VALUE(2) : 0);
	assert_int_equal(s->addr, f & PFM_SAMPLE_ADDR ? VALUE(3) : 0);
	assert_int_equal(r->stream, f & PFM_SAMPLE_STREAM ? VALUE(9) : 0);
	assert_int_equal(r->cpu, f & PFM_SAMPLE_CPU ? 3 : 0);
	assert_int_equal(s->period, f & PFM_SAMPLE_PERIOD ? VALUE(8) : 0);
	expect_lists(f, s);
	if (f & PFM_SAMPLE_WEIGHT)
		assert_int_equal(s->weight, 0x0003000200000001u);
	else if (f & PFM_SAMPLE_WEIGHTS)
		assert_true(s->weight == 1 && s->weight2 == 2 && s->weight3 == 3);
	assert_int_equal(s->source, f & PFM_SAMPLE_SOURCE ? VALUE(15) : 0);
	assert_int_equal(s->transaction, f & PFM_SAMPLE_TRANSACTION ? VALUE(17) : 0);
	assert_int_equal(s->phys_addr, f & PFM_SAMPLE_PHYS_ADDR ? VALUE(19) : 0);
	assert_int_equal(s->cgroup, f & PFM_SAMPLE_CGROUP ? VALUE(21) : 0);
	assert_int_equal(s->data_page, f & PFM_SAMPLE_DATA_PAGE ? VALUE(22) : 0);
	assert_int_equal(s->code_page, f & PFM_SAMPLE_CODE_PAGE ? VALUE(23) : 0);
	if (f & PFM_SAMPLE_AUX)
		assert_memory_equal(s->aux, "auxbytes", 8);
}

static void check_fields(uint64_t f)
{
	struct record_layout l = plain;

	l.fields = f;
	for (unsigned foreign = 0; foreign < 2; foreign++) {
		struct maker m;
		pfm_record_t r;

		put_sample(&m, f, foreign);
		if (foreign)
			assert_true(pfmi_sampling_swap_record(&l, m.bytes, m.n));
		assert_true(pfmi_sampling_decode_record(&l, m.bytes, m.n, &r));
		expect_sample(f, &r);
		assert_int_equal(pfmi_sampling_get_record_id(&l, m.bytes, m.n), r.id);
		assert_int_equal(pfmi_sampling_get_record_time(&l, m.bytes, m.n), r.time);
		/* A cut sample is refused, and no byte after the cut is read. */
		for (size_t n = 8; n < m.n; n += 4) {
			uint8_t *cut = malloc(n);

			memcpy(cut, m.bytes, n);
			assert_false(pfmi_sampling_decode_record(&l, cut, n, &r));
			pfmi_sampling_swap_record(&l, cut, n);
			free(cut);
		}
	}
}

static bool allowed(uint64_t f)
{
	return (f & (PFM_SAMPLE_WEIGHT | PFM_SAMPLE_WEIGHTS)) !=
	       (PFM_SAMPLE_WEIGHT | PFM_SAMPLE_WEIGHTS);
}

static void decodes_every_set_of_fields(void **state)
{
	uint64_t all = ((uint64_t)1 << 25) - 1, random = 88172645463325252u;

	(void)state;
	for (unsigned a = 0; a < 25; a++)
		for (unsigned b = a; b < 25; b++)
			if (allowed((uint64_t)1 << a | (uint64_t)1 << b))
				check_fields((uint64_t)1 << a | (uint64_t)1 << b);
	check_fields(all & ~(uint64_t)PFM_SAMPLE_WEIGHT);
	check_fields(all & ~(uint64_t)PFM_SAMPLE_WEIGHTS);
	for (unsigned i = 0; i < 300; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		if (allowed(random & all))
			check_fields(random & all);
	}
}

static void accepts_newer_bytes_after_known_fields(void **state)
{
	struct record_layout l = { .fields = PFM_SAMPLE_IP };
	struct maker m;
	pfm_record_t r;

	(void)state;
	begin(&m, false, 9, 2);
	put64(&m, 42);
	put64(&m, 43);
	finish(&m);
	assert_true(pfmi_sampling_decode_record(&l, m.bytes, m.n, &r));
	assert_int_equal(r.body.sample.ip, 42);
	assert_int_equal(r.unparsed, 8);
}

/* A sample with the values of its group: the number of members, the times, then value, id and
 * losses of each member. */
static void decodes_values_of_a_group(void **state)
{
	enum { GROUP_ID_LOST = 4 | 8 | 16, TIMES = 1 | 2 };
	static const uint64_t words[] = { 2, 1000, 900, 11, 101, 0, 22, 102, 3 };

	(void)state;
	for (unsigned times = 0; times < 2; times++)
		for (unsigned foreign = 0; foreign < 2; foreign++) {
			struct record_layout l = { .fields = PFM_SAMPLE_READ | PFM_SAMPLE_PERIOD,
				                   .read_format =
				                           GROUP_ID_LOST | (times ? TIMES : 0) };
			unsigned n = times ? 9 : 7;
			struct maker m;
			pfm_record_t r;

			begin(&m, foreign, 9, 0);
			put64(&m, 5);
			for (unsigned i = 0; i < 9; i++)
				if (times || (i != 1 && i != 2))
					put64(&m, words[i]);
			finish(&m);
			if (foreign)
				assert_true(pfmi_sampling_swap_record(&l, m.bytes, m.n));
			assert_true(pfmi_sampling_decode_record(&l, m.bytes, m.n, &r));
			assert_int_equal(r.body.sample.period, 5);
			assert_int_equal(r.body.sample.n_read, n);
			assert_int_equal(r.body.sample.read_format, l.read_format);
			assert_int_equal(r.body.sample.read[0], 2);
			assert_memory_equal(r.body.sample.read + n - 6, words + 3,
			                    6 * sizeof(words[0]));
			assert_int_equal(r.unparsed, 0);
			/* The sample is cut, or has more members than it holds. */
			assert_false(pfmi_sampling_decode_record(&l, m.bytes, 16 + (times ? 16 : 0),
			                                         &r));
			m.bytes[16] = m.bytes[23] = 3;
			assert_false(pfmi_sampling_decode_record(&l, m.bytes, m.n, &r));
			assert_int_equal(r.body.sample.n_read, 0);
		}
}

static void refuses_lengths_beyond_the_sample(void **state)
{
	static const uint64_t lies[] = { UINT64_MAX, (uint64_t)1 << 61, (uint64_t)1 << 32, 9 };
	static const uint64_t fields[] = { PFM_SAMPLE_CHAIN, PFM_SAMPLE_BRANCH, PFM_SAMPLE_STACK,
		                           PFM_SAMPLE_AUX, PFM_SAMPLE_RAW };

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 5; k++) {
			struct record_layout l = { .fields = fields[k] };
			struct maker m;
			pfm_record_t r;

			begin(&m, false, 9, 0);
			if (k == 4) { /* the raw field has a 32-bit length */
				put32(&m, (uint32_t)lies[i] | 100);
				put32(&m, (uint32_t)lies[i]);
			} else {
				put64(&m, lies[i]);
			}
			put64(&m, 0);
			finish(&m);
			assert_false(pfmi_sampling_decode_record(&l, m.bytes, m.n, &r));
			assert_int_equal(r.body.sample.n_chain + r.body.sample.n_branches +
			                         r.body.sample.raw_size,
			                 0);
		}
}

UNIT(sampling_sample_decode, cmocka_unit_test(decodes_every_set_of_fields),
     cmocka_unit_test(accepts_newer_bytes_after_known_fields),
     cmocka_unit_test(decodes_values_of_a_group),
     cmocka_unit_test(refuses_lengths_beyond_the_sample));
