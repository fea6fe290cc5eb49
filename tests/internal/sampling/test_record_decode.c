/* SPDX-License-Identifier: MIT */
/* Records other than samples that the test writes field by field, in both byte orders, cut at every
 * length. */
#include "units.h"
#include <linux/perf_event.h>
#include "record_maker.h"

#define TRAILER_FIELDS                                                                             \
	(PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM | PFM_SAMPLE_CPU |   \
	 PFM_SAMPLE_IDENTIFIER)

static void put_body(struct maker *m, uint32_t type)
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

static void expect_body(const pfm_record_t *r)
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
			put_body(&m, type);
			put_trailer(&m);
			finish(&m);
			if (foreign)
				assert_true(pfmi_sampling_swap_record(&l, m.bytes, m.n));
			assert_true(pfmi_sampling_decode_record(&l, m.bytes, m.n, &r));
			assert_int_equal(r.type, type);
			assert_int_equal(r.cpu, 6);
			expect_body(&r);
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

/* Expects the type, position and size of the record only, and no other field. */
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

/* A text patch that claims to be longer than its record. */
static void refuses_patch_longer_than_its_record(void **state)
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

/* A record that ends within its own fields or within its trailer is damaged. */
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
			put_body(&m, type);
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

static void refuses_missing_links(void **state)
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
		put_body(&m, PFM_RECORD_NAMESPACES);
		finish(&m);
		memcpy(m.bytes + 16, &lies[i], sizeof(lies[i]));
		assert_int_equal(pfmi_sampling_decode_record(&plain, m.bytes, m.n, &r), fits);
		assert_int_equal(r.body.namespaces.links != NULL, fits);
		assert_int_equal(r.has, fits ? PFM_SAMPLE_TID : 0);
	}
}

/* Linux 6.1 leaves the bit of build ids in the records of sessions that did not ask for them, once
 * another session has. */
static void a_device_is_no_build_id(void **state)
{
	(void)state;
	for (unsigned foreign = 0; foreign < 2; foreign++) {
		struct maker m;
		pfm_record_t r;

		begin(&m, foreign, PFM_RECORD_MAP2, PFM_MISC_USER | PFM_MISC_BUILD_ID);
		put_body(&m, PFM_RECORD_MAP2);
		finish(&m);
		if (foreign)
			assert_true(pfmi_sampling_swap_record(&plain, m.bytes, m.n));
		assert_true(pfmi_sampling_decode_record(&plain, m.bytes, m.n, &r));
		expect_body(&r);
		assert_int_equal(r.misc, PFM_MISC_USER);
		assert_null(r.body.map.build_id);
		assert_int_equal(r.body.map.build_id_size, 0);
	}
}

/* The size of the build id of a mapping with these bytes of @n beside it; 0 if it has a device. */
static uint32_t get_build_id_size(const struct record_layout *l, uint8_t n, uint8_t reserved,
                                  uint8_t after)
{
	uint8_t id[24] = { n, reserved };
	struct maker m;
	pfm_record_t r;

	memset(id + 4, 0xab, n < 20 ? n : 20);
	if (n < 20)
		id[23] = after;
	begin(&m, false, PFM_RECORD_MAP2, PFM_MISC_BUILD_ID);
	put64(&m, 21);
	for (unsigned i = 1; i < 4; i++)
		put64(&m, i << 12);
	put(&m, id, sizeof(id));
	put64(&m, 5);
	put_text(&m, "/bin/true");
	finish(&m);
	assert_true(pfmi_sampling_decode_record(l, m.bytes, m.n, &r));
	assert_int_equal(r.misc & PFM_MISC_BUILD_ID ? 1 : 0, r.body.map.build_id ? 1 : 0);
	assert_string_equal(r.body.map.name, "/bin/true");
	return r.body.map.build_id_size;
}

/* perf inject writes build ids into recordings whose events did not ask for them. */
static void build_ids_nobody_asked_for_are_known_by_their_form(void **state)
{
	struct record_layout asked = plain;

	(void)state;
	asked.has_build_ids = true;
	assert_int_equal(get_build_id_size(&asked, 20, 0, 0), 20);
	assert_int_equal(get_build_id_size(&asked, 8, 0, 0), 8);
	assert_int_equal(get_build_id_size(&asked, 21, 0, 0), 0);
	assert_int_equal(get_build_id_size(&plain, 20, 0, 0), 20);
	assert_int_equal(get_build_id_size(&plain, 16, 0, 0), 16);
	assert_int_equal(get_build_id_size(&plain, 8, 0, 0), 0); /* the first disk */
	assert_int_equal(get_build_id_size(&plain, 20, 1, 0), 0);
	assert_int_equal(get_build_id_size(&plain, 16, 0, 1), 0);
}

static void the_id_is_found_without_an_identifier(void **state)
{
	struct record_layout l = { .fields = TRAILER_FIELDS & ~(uint64_t)PFM_SAMPLE_IDENTIFIER,
		                   .has_trailers = true };
	struct maker m;

	(void)state;
	begin(&m, false, PFM_RECORD_COMM, 0);
	put_body(&m, PFM_RECORD_COMM);
	put_trailer(&m);
	m.n -= 8;
	finish(&m);
	assert_int_equal(pfmi_sampling_get_record_id(&l, m.bytes, m.n), 777);
	assert_int_equal(pfmi_sampling_get_record_time(&l, m.bytes, m.n), 3);
}

static void unknown_records_are_handed_out_whole(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record_has_its_fields_and_its_trailer),
		cmocka_unit_test(refuses_patch_longer_than_its_record),
		cmocka_unit_test(a_record_that_is_cut_is_damaged),
		cmocka_unit_test(refuses_missing_links),
		cmocka_unit_test(a_device_is_no_build_id),
		cmocka_unit_test(build_ids_nobody_asked_for_are_known_by_their_form),
		cmocka_unit_test(the_id_is_found_without_an_identifier),
		cmocka_unit_test(unknown_records_are_handed_out_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
