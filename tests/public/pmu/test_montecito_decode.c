/* SPDX-License-Identifier: MIT */
/* Decodes records that the test packs bit by bit as the manual describes them. */
#include "rows.h"
#include <perfmon/montecito.h>

static uint64_t seed = 7;

static uint64_t any64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static unsigned get_random_below(unsigned n)
{
	return (unsigned)(any64() % n);
}

/* ---- packer: places a value bit by bit ------------------------------------------------------- */

static uint64_t place_bits(uint64_t value, unsigned from, unsigned to)
{
	uint64_t reg = 0;

	for (unsigned bit = from; bit <= to; bit++)
		if (value & (uint64_t)1 << (bit - from))
			reg |= (uint64_t)1 << bit;
	return reg;
}

/* Random values for bits that the manual calls ignored. */
static uint64_t make_noise(unsigned from, unsigned to)
{
	return place_bits(any64(), from, to);
}

/* ---- address registers ----------------------------------------------------------------------- */

static void data_ears_decode_to_what_was_encoded(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		pfmlib_mont_ear_mode_t mode = (pfmlib_mont_ear_mode_t)get_random_below(3);
		uint64_t daddr = any64(), bundle = any64() & ~(uint64_t)31,
			 status = get_random_below(4);
		unsigned latency = get_random_below(1 << 13), overflow = get_random_below(2),
			 slot = get_random_below(3), second = get_random_below(2),
			 valid = get_random_below(2);
		bool cache = mode == PFMLIB_MONT_EAR_CACHE_MODE;
		pfmlib_mont_dear_sample_t s;

		memset(&s, 0xa5, sizeof(s));
		assert_int_equal(pfm_mont_decode_dear(
					 mode, daddr,
					 place_bits(latency, 0, 12) | place_bits(overflow, 13, 13) |
						 place_bits(status, 14, 15) | make_noise(16, 63),
					 place_bits(slot, 0, 1) | place_bits(second, 2, 2) |
						 place_bits(valid, 3, 3) | bundle,
					 &s),
		                 0);
		assert_int_equal(s.dear_daddr, daddr);
		assert_int_equal(s.dear_iaddr, bundle + (second ? 16 : 0));
		assert_int_equal(s.dear_slot, slot);
		assert_int_equal(s.dear_valid, status != 0);
		assert_int_equal(s.dear_iaddr_valid, valid);
		assert_int_equal(s.dear_latency, cache ? latency : 0);
		assert_int_equal(s.dear_overflow, cache && overflow);
		if (!status || mode == PFMLIB_MONT_EAR_ALAT_MODE)
			assert_int_equal(s.dear_level, PFMLIB_MONT_LEVEL_NONE);
		else if (!cache)
			assert_int_equal(s.dear_level, status);
		else
			assert_int_equal(s.dear_level, latency < 14 && !overflow
			                                       ? PFMLIB_MONT_LEVEL_L2
			                                       : PFMLIB_MONT_LEVEL_FAR);
	}
}

static void instruction_ears_decode_to_what_was_encoded(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		bool cache = get_random_below(2);
		uint64_t line = any64() & ~(uint64_t)31, status = get_random_below(4);
		unsigned latency = get_random_below(1 << 12), overflow = get_random_below(2);
		pfmlib_mont_iear_sample_t s;

		memset(&s, 0xa5, sizeof(s));
		assert_int_equal(
			pfm_mont_decode_iear(
				cache ? PFMLIB_MONT_EAR_CACHE_MODE : PFMLIB_MONT_EAR_TLB_MODE,
				line | place_bits(status, 0, 1) | make_noise(2, 4),
				place_bits(latency, 0, 11) | place_bits(overflow, 12, 12) |
					make_noise(13, 63),
				&s),
			0);
		assert_int_equal(s.iear_iaddr, line);
		assert_int_equal(s.iear_valid, status != 0);
		assert_int_equal(s.iear_latency, cache ? latency : 0);
		assert_int_equal(s.iear_overflow, cache && overflow);
		if (!status)
			assert_int_equal(s.iear_level, PFMLIB_MONT_LEVEL_NONE);
		else if (!cache)
			assert_int_equal(s.iear_level, status);
		else
			assert_int_equal(s.iear_level, latency < 14 && !overflow
			                                       ? PFMLIB_MONT_LEVEL_L2
			                                       : PFMLIB_MONT_LEVEL_FAR);
	}
}

/* ---- trace buffer ---------------------------------------------------------------------------- */

struct buffer {
	uint64_t pmd38, pmd39, pmds[16];
	unsigned next, written; /* written: entries written in total */
};

/* Writes the next entry and its nibble, as the hardware does. */
static void record_entry(struct buffer *b, uint64_t pmd, unsigned nibble)
{
	unsigned at = b->next, lsb = at < 8 ? 8 * at : 8 * (at - 8) + 4;

	b->pmds[at] = pmd;
	b->pmd39 = (b->pmd39 & ~place_bits(15, lsb, lsb + 3)) | place_bits(nibble, lsb, lsb + 3);
	b->next = (at + 1) % 16;
	b->written++;
	b->pmd38 = place_bits(b->next, 0, 3) | place_bits(b->written >= 16, 5, 5) |
	           make_noise(6, 63) | make_noise(4, 4);
}

static void clear_buffer(struct buffer *b)
{
	memset(b, 0, sizeof(*b));
	for (unsigned i = 0; i < 16; i++)
		b->pmds[i] = any64(); /* contents left by earlier measurements */
	b->pmd39 = any64();
}

static void record_source(struct buffer *b, const pfmlib_mont_branch_t *br)
{
	bool second = br->br_source & 16 && get_random_below(2);

	record_entry(b,
	             place_bits(1, 0, 0) | place_bits(br->br_mispredicted, 1, 1) |
	                     place_bits(br->br_slot, 2, 3) | (br->br_source - (second ? 16 : 0)),
	             (unsigned)(place_bits(second, 0, 0) | place_bits(br->br_flushed, 1, 1) |
	                        make_noise(2, 3)));
}

static void record_target(struct buffer *b, const pfmlib_mont_branch_t *br)
{
	record_entry(b,
	             place_bits(0, 0, 0) | place_bits(1, 1, 1) | make_noise(2, 3) | br->br_target,
	             get_random_below(16));
}

static pfmlib_mont_branch_t any_branch(void)
{
	pfmlib_mont_branch_t br = { .br_source = any64() & ~(uint64_t)15,
		                    .br_source_valid = 1,
		                    .br_taken = (uint8_t)get_random_below(2),
		                    .br_mispredicted = (uint8_t)get_random_below(2),
		                    .br_flushed = (uint8_t)get_random_below(2) };

	br.br_slot = br.br_taken ? (uint8_t)get_random_below(3) : 3;
	br.br_target_valid = br.br_taken;
	br.br_target = br.br_taken ? any64() & ~(uint64_t)15 : 0;
	return br;
}

static void check_branches(const struct buffer *b, const pfmlib_mont_branch_t *want, unsigned n)
{
	pfmlib_mont_branch_t got[16];
	unsigned found = 99;

	memset(got, 0xa5, sizeof(got));
	assert_int_equal(pfm_mont_decode_etb(b->pmd38, b->pmd39, b->pmds, got, &found), 0);
	assert_int_equal(found, n);
	for (unsigned i = 0; i < n; i++) {
		assert_in_range(got[i].br_entry, 0, 15);
		got[i].br_entry = want[i].br_entry;
		assert_memory_equal(&got[i], &want[i], sizeof(got[i]));
	}
}

static void branches_decode_to_what_was_encoded(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 5000; round++) {
		pfmlib_mont_branch_t all[40], want[40];
		unsigned entry_of[40], n = get_random_below(24), first = 0, kept = 0;
		struct buffer b;

		clear_buffer(&b);
		for (unsigned i = 0; i < n; i++) {
			all[i] = any_branch();
			entry_of[i] = b.written;
			record_source(&b, &all[i]);
			if (all[i].br_taken)
				record_target(&b, &all[i]);
		}
		first = b.written > 16 ? b.written - 16
		                       : 0; /* the oldest entry still in the buffer */
		for (unsigned i = 0; i < n; i++) {
			if (entry_of[i] >= first) {
				want[kept++] = all[i];
			} else if (all[i].br_taken && entry_of[i] + 1 == first) {
				want[kept] = (pfmlib_mont_branch_t){ .br_target = all[i].br_target,
					                             .br_target_valid = 1,
					                             .br_taken = 1,
					                             .br_slot = 3 };
				kept++;
			}
		}
		check_branches(&b, want, kept);
	}
}

static void test_branch_without_target(void **state)
{
	pfmlib_mont_branch_t br[2] = { any_branch(), any_branch() };
	struct buffer b;

	(void)state;
	clear_buffer(&b);
	br[0].br_taken = 1;
	br[0].br_slot = 2;
	br[0].br_target_valid = 0;
	br[0].br_target = 0;
	br[1].br_taken = br[1].br_target_valid = 0;
	br[1].br_slot = 3;
	br[1].br_target = 0;
	record_source(&b, &br[0]);
	record_source(&b, &br[1]);
	check_branches(&b, br, 2);
}

/* The branch before has its target, so the next target belongs to a branch that the buffer lost. */
static void test_target_without_branch(void **state)
{
	pfmlib_mont_branch_t br[2] = { any_branch(),
		                       { .br_target_valid = 1, .br_taken = 1, .br_slot = 3 } };
	struct buffer b;

	(void)state;
	clear_buffer(&b);
	br[0].br_taken = br[0].br_target_valid = 1;
	br[0].br_slot = 1;
	br[0].br_target = any64() & ~(uint64_t)15;
	br[1].br_target = ~br[0].br_target & ~(uint64_t)15;
	record_source(&b, &br[0]);
	record_target(&b, &br[0]);
	record_target(&b, &br[1]);
	check_branches(&b, br, 2);
}

static void test_entries_never_written(void **state)
{
	struct buffer b = { 0 };

	(void)state;
	b.pmd38 = place_bits(9, 0, 3); /* nine entries claimed, but all of them are zero */
	check_branches(&b, NULL, 0);
	b.pmd38 = 0;
	check_branches(&b, NULL, 0);
}

static void test_instruction_addresses(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 5000; round++) {
		pfmlib_mont_ip_t all[40], got[16];
		unsigned n = get_random_below(40), first, found = 99;
		struct buffer b;

		clear_buffer(&b);
		for (unsigned i = 0; i < n; i++) {
			pfmlib_mont_ip_t ip = { .ip_cycles = get_random_below(64),
				                .ip_flushed = (uint8_t)get_random_below(2),
				                .ip_early_freeze = (uint8_t)get_random_below(2) };
			uint64_t pmd = place_bits(ip.ip_cycles & 15, 60, 63);

			ip.ip_delay = ip.ip_early_freeze ? get_random_below(256) : 0;
			ip.ip_addr = any64() & ~(uint64_t)(ip.ip_early_freeze ? 4095 : 15);
			pmd |= ip.ip_early_freeze ? place_bits(ip.ip_delay, 0, 7) |
			                                    place_bits(ip.ip_addr >> 12, 8, 59)
			                          : place_bits(ip.ip_addr >> 4, 0, 59);
			ip.ip_entry = (uint8_t)(b.written % 16);
			all[i] = ip;
			record_entry(&b, pmd,
			             (unsigned)(place_bits(ip.ip_cycles >> 4, 0, 1) |
			                        place_bits(ip.ip_flushed, 2, 2) |
			                        place_bits(ip.ip_early_freeze, 3, 3)));
		}
		first = n > 16 ? n - 16 : 0;
		memset(got, 0xa5, sizeof(got));
		assert_int_equal(pfm_mont_decode_ipear(b.pmd38, b.pmd39, b.pmds, got, &found), 0);
		assert_int_equal(found, n - first);
		assert_memory_equal(got, all + first, found * sizeof(got[0]));
	}
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void decoders_refuse_wrong_arguments(void **state)
{
	pfmlib_mont_dear_sample_t d;
	pfmlib_mont_iear_sample_t s;
	pfmlib_mont_branch_t br[16];
	pfmlib_mont_ip_t ip[16];
	uint64_t pmds[16] = { 0 };
	unsigned n;

	(void)state;
	assert_int_equal(pfm_mont_decode_dear(PFMLIB_MONT_EAR_CACHE_MODE, 0, 0, 0, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_decode_dear((pfmlib_mont_ear_mode_t)3, 0, 0, 0, &d),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_decode_iear(PFMLIB_MONT_EAR_ALAT_MODE, 0, 0, &s),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_decode_iear(PFMLIB_MONT_EAR_TLB_MODE, 0, 0, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_decode_etb(0, 0, NULL, br, &n), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_decode_etb(0, 0, pmds, NULL, &n), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_decode_etb(0, 0, pmds, br, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_decode_ipear(0, 0, NULL, ip, &n), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_decode_ipear(0, 0, pmds, NULL, &n), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_decode_ipear(0, 0, pmds, ip, NULL), PFMLIB_ERR_INVAL);
}

/* The unions of libpfm 3's header describe the same bits. */
static void test_layouts_agree(void **state)
{
#ifdef PFM_MONT_LAYOUTS
	pfm_mont_pmc_reg_t pmc = { .pmc_val = 0 };
	pfm_mont_pmd_reg_t pmd = { .pmd_val = 0 };

	(void)state;
	pmc.pmc_mont_counter_reg.pmc_es = 0xff;
	pmc.pmc_mont_counter_reg.pmc_m = 1;
	assert_int_equal(pmc.pmc_val, place_bits(0xff, 8, 15) | place_bits(1, 30, 30));
	pmc.pmc_val = 0;
	pmc.pmc41_mont_reg.darc_ena_dbrp3 = 1;
	pmc.pmc41_mont_reg.darc_cfg_dtag3 = 3;
	assert_int_equal(pmc.pmc_val, place_bits(1, 48, 48) | place_bits(3, 27, 28));
	pmd.pmd39_mont_reg.etb_pmd63ext_b1 = 1;
	pmd.pmd39_mont_reg.etb_pmd49ext_bruflush = 1;
	assert_int_equal(pmd.pmd_val, place_bits(1, 60, 60) | place_bits(1, 9, 9));
	pmd.pmd_val = 0;
	pmd.pmd39_ipear_mont_reg.ipear_pmd56ext_ef = 1;
	assert_int_equal(pmd.pmd_val, place_bits(1, 7, 7));
	assert_int_equal(sizeof(pmc), 8);
	assert_int_equal(sizeof(pmd), 8);
#else
	(void)state;
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_ears_decode_to_what_was_encoded),
		cmocka_unit_test(instruction_ears_decode_to_what_was_encoded),
		cmocka_unit_test(branches_decode_to_what_was_encoded),
		cmocka_unit_test(test_branch_without_target),
		cmocka_unit_test(test_target_without_branch),
		cmocka_unit_test(test_entries_never_written),
		cmocka_unit_test(test_instruction_addresses),
		cmocka_unit_test(decoders_refuse_wrong_arguments),
		cmocka_unit_test(test_layouts_agree),
	};

	return cmocka_run_group_tests_name("montecito_decode", tests, NULL, NULL);
}
