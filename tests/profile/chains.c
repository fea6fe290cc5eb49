/* SPDX-License-Identifier: MIT */
#include "profile/chains.h"
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
	struct chains c = { .n = 0 };

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
	struct chains c = { .n = 0 };

	(void)state;
	record.type = PFM_RECORD_SAMPLE;
	record.has = PFM_SAMPLE_CHAIN;
	record.body.sample.chain = chain;
	record.body.sample.n_chain = COUNT(chain);
	assert_true(chains_complete(&c, &record, find_nothing, NULL));
	assert_ptr_equal(record.body.sample.chain, chain);
	chains_free(&c);
}

UNIT(profile_chains, cmocka_unit_test(stacks_of_branch_records),
     cmocka_unit_test(samples_with_chains_stay));
