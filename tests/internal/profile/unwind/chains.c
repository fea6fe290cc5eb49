/* SPDX-License-Identifier: MIT */
#include "profile/unwind/chains.h"
#include <linux/perf_event.h>
#include "units.h"

static bool find_nothing(void *arg, uint32_t pid, uint64_t address, struct mapped_code *code)
{
	(void)arg;
	(void)pid;
	(void)address;
	(void)code;
	return false;
}

/* Branch records of calls that have not returned: each caller is where its branch came from. */
static void stacks_of_branch_records(void **state)
{
	pfm_branch_t branches[2] = { { .from = 0x2000, .to = 0x1000 },
		                     { .from = 0x3000, .to = 0x2100 } };
	const uint64_t expected[] = { (uint64_t)PFM_CHAIN_USER, 0x1008, 0x2001, 0x3001 };
	pfm_record_t record = PFM_INIT(record);
	struct chains c = { .n_words = 0 };

	(void)state;
	record.type = PFM_RECORD_SAMPLE;
	record.misc = PFM_MISC_USER;
	record.has = PFM_SAMPLE_BRANCH;
	record.body.sample.ip = 0x1008;
	record.body.sample.branches = branches;
	record.body.sample.n_branches = 2;
	record.body.sample.branch_type = 1u << 11; /* PERF_SAMPLE_BRANCH_CALL_STACK */
	assert_true(chains_complete(&c, &record, find_nothing, NULL));
	assert_int_equal(record.body.sample.n_chain, COUNT(expected));
	assert_memory_equal(record.body.sample.chain, expected, sizeof(expected));
	assert_int_equal(record.truncated & PFM_TRUNCATED_CHAIN, 0);
	chains_free(&c);
}

static void samples_with_chains_stay(void **state)
{
	const uint64_t chain[] = { (uint64_t)PFM_CHAIN_USER, 0x1000 };
	pfm_record_t record = PFM_INIT(record);
	struct chains c = { .n_words = 0 };

	(void)state;
	record.type = PFM_RECORD_SAMPLE;
	record.has = PFM_SAMPLE_CHAIN;
	record.body.sample.chain = chain;
	record.body.sample.n_chain = COUNT(chain);
	assert_true(chains_complete(&c, &record, find_nothing, NULL));
	assert_ptr_equal(record.body.sample.chain, chain);
	chains_free(&c);
}

/* The mode of a frame is that of the marker before it, or of the sample. */
static void frames_of_chains(void **state)
{
	const uint64_t chain[] = {
		0x500,  (uint64_t)PFM_CHAIN_KERNEL,          0x1000,
		0x2000, (uint64_t)PERF_CONTEXT_GUEST_KERNEL, (uint64_t)PFM_CHAIN_USER,
		0x3000, (uint64_t)PFM_CHAIN_KERNEL
	};
	const struct frame_walk expected[] = {
		{ .address = 0x500, .mode = PFM_MISC_GUEST_USER },
		{ .address = 0x1000, .mode = PFM_MISC_KERNEL },
		{ .address = 0x2000, .mode = PFM_MISC_KERNEL, .is_caller = true },
		{ .address = 0x3000, .mode = PFM_MISC_USER },
	};
	pfm_record_t record = PFM_INIT(record);
	struct frame_walk walk = { .record = &record };

	(void)state;
	record.misc = PFM_MISC_GUEST_USER;
	record.body.sample.chain = chain;
	record.body.sample.n_chain = COUNT(chain);
	for (size_t i = 0; i < COUNT(expected); i++) {
		assert_true(walk_frames(&walk));
		assert_int_equal(walk.address, expected[i].address);
		assert_int_equal(walk.mode, expected[i].mode);
		assert_int_equal(walk.is_caller, expected[i].is_caller);
	}
	assert_false(walk_frames(&walk));
}

static void frames_without_chains(void **state)
{
	const uint64_t markers[] = { (uint64_t)PFM_CHAIN_KERNEL };
	pfm_record_t record = PFM_INIT(record);

	(void)state;
	record.misc = PFM_MISC_USER;
	record.body.sample.ip = 0x1000;
	record.body.sample.chain = markers;
	for (uint32_t n = 0; n <= COUNT(markers); n++) {
		struct frame_walk walk = { .record = &record };

		record.body.sample.n_chain = n;
		assert_true(walk_frames(&walk));
		assert_int_equal(walk.address, 0x1000);
		assert_int_equal(walk.mode, PFM_MISC_USER);
		assert_false(walk.is_caller);
		assert_false(walk_frames(&walk));
	}
}

UNIT(profile_chains, cmocka_unit_test(stacks_of_branch_records), cmocka_unit_test(frames_of_chains),
     cmocka_unit_test(frames_without_chains), cmocka_unit_test(samples_with_chains_stay));
