/* SPDX-License-Identifier: MIT */
/* Records against bytes that the test itself wrote down field by field: every field alone, in pairs
 * and together, in both byte orders, cut at every length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <byteswap.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "sampling/sampling.h"

/* A record under construction. */
struct maker {
	_Alignas(8) uint8_t bytes[4096];
	size_t n;
	bool foreign;
};

static void put(struct maker *m, const void *p, size_t n)
{
	assert_true(m->n + n <= sizeof(m->bytes));
	memcpy(m->bytes + m->n, p, n);
	m->n += n;
}

static void put64(struct maker *m, uint64_t v)
{
	v = m->foreign ? bswap_64(v) : v;
	put(m, &v, 8);
}

static void put32(struct maker *m, uint32_t v)
{
	v = m->foreign ? bswap_32(v) : v;
	put(m, &v, 4);
}

static void put16(struct maker *m, uint16_t v)
{
	v = m->foreign ? bswap_16(v) : v;
	put(m, &v, 2);
}

static void put_text(struct maker *m, const char *s)
{
	char padded[64] = "";

	memcpy(padded, s, strlen(s));
	put(m, padded, (strlen(s) + 8) & ~(size_t)7);
}

static void begin(struct maker *m, bool foreign, uint32_t type, uint16_t misc)
{
	memset(m, 0, sizeof(*m));
	m->foreign = foreign;
	put32(m, type);
	put16(m, misc);
	put16(m, 0);
}

static void finish(struct maker *m)
{
	uint16_t size = (uint16_t)m->n;

	size = m->foreign ? bswap_16(size) : size;
	memcpy(m->bytes + 6, &size, 2);
}

#define VALUE(BIT) (0x1111111111110000u + (BIT))

static const struct record_layout plain = {
	.read_format = 4 | 16,
	.branch_type = (uint64_t)1 << 17,
	.user_regs = 0x15,
	.intr_regs = 0x7,
	.has_trailers = true,
};

/* Tables of the kernel: the order in which it writes. */
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
		put64(m, 0); /* none were there */
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
		/* Cut short anywhere it is refused, never read beyond. */
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

static void every_field_is_where_the_kernel_puts_it(void **state)
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

static void newer_bytes_behind_the_known_fields_are_no_error(void **state)
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

/* ---- the other records ----------------------------------------------------------------------- */

#define TRAILER_FIELDS                                                                             \
	(PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM | PFM_SAMPLE_CPU |   \
	 PFM_SAMPLE_IDENTIFIER)

static void put_own(struct maker *m, uint32_t type)
{
	switch (type) {
	case PFM_RECORD_MAP:
	case PFM_RECORD_MAP2:
		put32(m, 21);
		put32(m, 22);
		put64(m, 0x1000);
		put64(m, 0x2000);
		put64(m, 0x3000);
		if (type == PFM_RECORD_MAP2) {
			put32(m, 8);
			put32(m, 1);
			put64(m, 99);
			put64(m, 7);
			put32(m, 5);
			put32(m, 2);
		}
		put_text(m, "/usr/lib/libsomething");
		break;
	case PFM_RECORD_LOST:
		put64(m, 778);
		put64(m, 373);
		break;
	case PFM_RECORD_COMM:
		put32(m, 21);
		put32(m, 22);
		put_text(m, "name");
		break;
	case PFM_RECORD_EXIT:
	case PFM_RECORD_FORK:
		for (uint32_t i = 21; i < 25; i++)
			put32(m, i);
		put64(m, 1234);
		break;
	case PFM_RECORD_THROTTLE:
	case PFM_RECORD_UNTHROTTLE:
	case PFM_RECORD_AUX:
		for (uint64_t i = 31; i < 34; i++)
			put64(m, i);
		break;
	case PFM_RECORD_READ:
		put32(m, 21);
		put32(m, 22);
		for (uint64_t i = 41; i < 44; i++)
			put64(m, i);
		break;
	case PFM_RECORD_ITRACE_START:
	case PFM_RECORD_SWITCH_CPU:
		put32(m, 21);
		put32(m, 22);
		break;
	case PFM_RECORD_LOST_SAMPLES:
	case PFM_RECORD_AUX_ID: put64(m, 51); break;
	case PFM_RECORD_DEFERRED_CHAIN:
		put64(m, 0x700000001); /* cookie */
		put64(m, 3);
		put64(m, PFM_CHAIN_USER);
		put64(m, 0x4010);
		put64(m, 0x4020);
		break;
	case PFM_RECORD_NAMESPACES:
		put32(m, 21);
		put32(m, 22);
		put64(m, 2);
		for (uint64_t i = 61; i < 65; i++)
			put64(m, i);
		break;
	case PFM_RECORD_KSYMBOL:
		put64(m, 71);
		put32(m, 72);
		put16(m, 1);
		put16(m, 2);
		put_text(m, "bpf_prog");
		break;
	case PFM_RECORD_BPF:
		put16(m, 1);
		put16(m, 2);
		put32(m, 81);
		put(m, "tagtagta", 8);
		break;
	case PFM_RECORD_CGROUP:
		put64(m, 91);
		put_text(m, "/user");
		break;
	case PFM_RECORD_TEXT_POKE:
		put64(m, 101);
		put16(m, 5);
		put16(m, 5);
		put(m, "old..new..pad...", 12);
		break;
	default: break;
	}
}

static void put_trailer(struct maker *m)
{
	put32(m, 1);
	put32(m, 2);
	put64(m, 3);
	put64(m, 777);
	put64(m, 5);
	put32(m, 6);
	put32(m, 0);
	put64(m, 777);
}

static void expect_own(const pfm_record_t *r)
{
	switch (r->type) {
	case PFM_RECORD_MAP2:
		assert_int_equal(r->body.map.inode, 99);
		assert_true(r->body.map.major == 8 && r->body.map.minor == 1 &&
		            r->body.map.generation == 7 && r->body.map.prot == 5 &&
		            r->body.map.flags == 2);
		/* fall through */
	case PFM_RECORD_MAP:
		assert_true(r->pid == 21 && r->tid == 22 && r->body.map.start == 0x1000 &&
		            r->body.map.length == 0x2000 && r->body.map.offset == 0x3000);
		assert_string_equal(r->body.map.name, "/usr/lib/libsomething");
		break;
	case PFM_RECORD_LOST: assert_true(r->id == 778 && r->body.lost.lost == 373); break;
	case PFM_RECORD_COMM: assert_string_equal(r->body.comm.name, "name"); break;
	case PFM_RECORD_EXIT:
	case PFM_RECORD_FORK:
		assert_true(r->pid == 21 && r->body.task.ppid == 22 && r->tid == 23 &&
		            r->body.task.ptid == 24 && r->time == 3);
		break;
	case PFM_RECORD_THROTTLE:
	case PFM_RECORD_UNTHROTTLE:
		assert_true(r->time == 31 && r->id == 32 && r->stream == 33);
		break;
	case PFM_RECORD_AUX:
		assert_true(r->body.aux.offset == 31 && r->body.aux.size == 32 &&
		            r->body.aux.flags == 33);
		break;
	case PFM_RECORD_READ:
		assert_true(r->body.read.n == 3 && r->body.read.words[0] == 41 &&
		            r->body.read.words[2] == 43);
		break;
	case PFM_RECORD_SWITCH_CPU:
		assert_true(r->body.change.other_pid == 21 && r->body.change.other_tid == 22);
		break;
	case PFM_RECORD_LOST_SAMPLES: assert_int_equal(r->body.lost.lost, 51); break;
	case PFM_RECORD_AUX_ID: assert_int_equal(r->body.aux_id.id, 51); break;
	case PFM_RECORD_DEFERRED_CHAIN:
		assert_int_equal(r->body.deferred.cookie, 0x700000001);
		assert_int_equal(r->body.deferred.n, 3);
		assert_int_equal(r->body.deferred.chain[0], PFM_CHAIN_USER);
		assert_int_equal(r->body.deferred.chain[2], 0x4020);
		break;
	case PFM_RECORD_NAMESPACES:
		assert_true(r->body.namespaces.n == 2 && r->body.namespaces.links[3] == 64);
		break;
	case PFM_RECORD_KSYMBOL:
		assert_true(r->body.ksymbol.addr == 71 && r->body.ksymbol.length == 72 &&
		            r->body.ksymbol.type == 1 && r->body.ksymbol.flags == 2);
		assert_string_equal(r->body.ksymbol.name, "bpf_prog");
		break;
	case PFM_RECORD_BPF:
		assert_true(r->body.bpf.type == 1 && r->body.bpf.flags == 2 &&
		            r->body.bpf.id == 81);
		assert_memory_equal(r->body.bpf.tag, "tagtagta", 8);
		break;
	case PFM_RECORD_CGROUP:
		assert_int_equal(r->body.cgroup.id, 91);
		assert_string_equal(r->body.cgroup.path, "/user");
		break;
	case PFM_RECORD_TEXT_POKE:
		assert_true(r->body.poke.addr == 101 && r->body.poke.old_length == 5 &&
		            r->body.poke.new_length == 5);
		assert_memory_equal(r->body.poke.bytes, "old..new..", 10);
		break;
	default: break;
	}
}

static void every_record_has_its_fields_and_its_trailer(void **state)
{
	struct record_layout l = plain;

	(void)state;
	l.fields = TRAILER_FIELDS;
	for (unsigned foreign = 0; foreign < 2; foreign++)
		for (uint32_t type = 1; type <= PFM_RECORD_DEFERRED_CHAIN; type++) {
			struct maker m;
			pfm_record_t r;

			if (type == PFM_RECORD_SAMPLE)
				continue;
			begin(&m, foreign, type, 0);
			put_own(&m, type);
			put_trailer(&m);
			finish(&m);
			if (foreign)
				assert_true(pfmi_sampling_swap_record(&l, m.bytes, m.n));
			assert_true(pfmi_sampling_decode_record(&l, m.bytes, m.n, &r));
			assert_int_equal(r.type, type);
			assert_int_equal(r.cpu, 6);
			expect_own(&r);
			assert_int_equal(pfmi_sampling_get_record_id(&l, m.bytes, m.n), 777);
			assert_int_equal(pfmi_sampling_get_record_time(&l, m.bytes, m.n), 3);
			for (size_t n = 8; n < m.n; n += 4) {
				uint8_t *cut = malloc(n);

				memcpy(cut, m.bytes, n);
				pfmi_sampling_decode_record(&l, cut, n, &r);
				pfmi_sampling_swap_record(&l, cut, n);
				free(cut);
			}
		}
}

/* Nothing but where it is, of which type: no length without what is so long. */
static void expect_nothing_of(uint32_t type, const uint8_t *bytes, size_t n, const pfm_record_t *r)
{
	pfm_record_t none;

	memset(&none, 0, sizeof(none));
	none.size = sizeof(none);
	none.type = type;
	none.event = PFM_NO_EVENT;
	none.raw = bytes;
	none.raw_size = (uint32_t)n;
	assert_memory_equal(r, &none, sizeof(none));
}

/* A patch of the kernel's text that says it is longer than its record. */
static void a_patch_that_is_not_there(void **state)
{
	struct maker m;
	pfm_record_t r;

	(void)state;
	begin(&m, false, PFM_RECORD_TEXT_POKE, 0);
	put64(&m, 0xffffffff81000000);
	put16(&m, 5);
	put16(&m, 500);
	put32(&m, 0x90909090);
	finish(&m);
	assert_false(pfmi_sampling_decode_record(&plain, m.bytes, m.n, &r));
	expect_nothing_of(PFM_RECORD_TEXT_POKE, m.bytes, m.n, &r);
}

/* What is there of a record that ends too early, before its own fields are over, or its trailer, is
 * not taken for all of it. */
static void a_record_that_is_cut_is_damaged(void **state)
{
	struct record_layout l = plain;

	(void)state;
	for (unsigned trailer = 0; trailer < 2; trailer++)
		for (uint32_t type = 1; type <= PFM_RECORD_DEFERRED_CHAIN; type++) {
			struct maker m;
			pfm_record_t r;

			if (type == PFM_RECORD_SAMPLE)
				continue;
			l.fields = trailer ? TRAILER_FIELDS : 0;
			begin(&m, false, type, 0);
			put_own(&m, type);
			if (trailer)
				put_trailer(&m);
			finish(&m);
			assert_true(pfmi_sampling_decode_record(&l, m.bytes, m.n, &r));
			for (size_t n = 8; n < m.n; n += 8) {
				uint8_t *cut = malloc(n);

				memcpy(cut, m.bytes, n);
				assert_false(pfmi_sampling_decode_record(&l, cut, n, &r));
				expect_nothing_of(type, cut, n, &r);
				free(cut);
			}
		}
}

static void links_that_are_not_there(void **state)
{
	static const uint64_t lies[] = {
		UINT64_MAX, (uint64_t)1 << 63, (uint64_t)1 << 60, 1, 2, 3
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		const bool fits = lies[i] < 3;
		struct maker m;
		pfm_record_t r;

		begin(&m, false, PFM_RECORD_NAMESPACES, 0);
		put_own(&m, PFM_RECORD_NAMESPACES);
		finish(&m);
		memcpy(m.bytes + 16, &lies[i], sizeof(lies[i]));
		assert_int_equal(pfmi_sampling_decode_record(&plain, m.bytes, m.n, &r), fits);
		assert_int_equal(r.body.namespaces.links != NULL, fits);
		assert_int_equal(r.has, fits ? PFM_SAMPLE_TID : 0);
	}
}

static void the_id_is_found_without_an_identifier(void **state)
{
	struct record_layout l = { .fields = TRAILER_FIELDS & ~(uint64_t)PFM_SAMPLE_IDENTIFIER,
		                   .has_trailers = true };
	struct maker m;

	(void)state;
	begin(&m, false, PFM_RECORD_COMM, 0);
	put_own(&m, PFM_RECORD_COMM);
	put_trailer(&m);
	m.n -= 8;
	finish(&m);
	assert_int_equal(pfmi_sampling_get_record_id(&l, m.bytes, m.n), 777);
	assert_int_equal(pfmi_sampling_get_record_time(&l, m.bytes, m.n), 3);
}

static void a_record_nobody_knows_is_handed_on_whole(void **state)
{
	struct record_layout l = { .fields = TRAILER_FIELDS, .has_trailers = true };
	struct maker m;
	pfm_record_t r;

	(void)state;
	begin(&m, false, 4000, 1);
	put64(&m, 5);
	finish(&m);
	assert_true(pfmi_sampling_decode_record(&l, m.bytes, m.n, &r));
	assert_int_equal(r.type, 4000);
	assert_int_equal(r.raw_size, 16);
	assert_int_equal(r.unparsed, 8);
	assert_ptr_equal(r.raw, m.bytes);
	assert_int_equal(pfmi_sampling_get_record_id(&l, m.bytes, m.n), 0);
}

/* A sample with the counts of its group: how many, times, then for each member its value, id and
 * losses. */
static void the_counts_of_a_group_are_in_its_sample(void **state)
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
			/* Cut off, or with more members than there is room for. */
			assert_false(pfmi_sampling_decode_record(&l, m.bytes, 16 + (times ? 16 : 0),
			                                         &r));
			m.bytes[16] = m.bytes[23] = 3;
			assert_false(pfmi_sampling_decode_record(&l, m.bytes, m.n, &r));
			assert_int_equal(r.body.sample.n_read, 0);
		}
}

static void lengths_that_lie_lead_nowhere(void **state)
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
			if (k == 4) { // the one whose length has 32 bits
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_where_the_kernel_puts_it),
		cmocka_unit_test(newer_bytes_behind_the_known_fields_are_no_error),
		cmocka_unit_test(every_record_has_its_fields_and_its_trailer),
		cmocka_unit_test(a_patch_that_is_not_there),
		cmocka_unit_test(a_record_that_is_cut_is_damaged),
		cmocka_unit_test(links_that_are_not_there),
		cmocka_unit_test(the_id_is_found_without_an_identifier),
		cmocka_unit_test(a_record_nobody_knows_is_handed_on_whole),
		cmocka_unit_test(the_counts_of_a_group_are_in_its_sample),
		cmocka_unit_test(lengths_that_lie_lead_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
