/* SPDX-License-Identifier: MIT */
/* Itanium 2 "Montecito": where the loads of one function miss. A data EAR samples misses of 64
 * cycles and more, a code range restricts them to the function. Then it decodes the values that the
 * kernel read from the registers.
 *
 * Build: cc montecito_ear.c $(pkg-config --cflags --libs perfmon) */
#include <inttypes.h>
#include <stdio.h>
#include <perfmon/perfmon.h>
#include <perfmon/montecito.h>

/* A function as a symbol table has it. Bundles are 16 bytes. */
#define FUNCTION_START 0x4000000000005400
#define FUNCTION_END   0x4000000000005520

static void print_range(const char *name, const pfmlib_mont_output_rr_t *rr)
{
	for (unsigned i = 0; i < rr->rr_nbr_used; i++)
		printf("%s%-4u 0x%016llx\n", name, rr->rr_br[i].reg_num, rr->rr_br[i].reg_value);
	if (rr->rr_infos[0].rr_soff || rr->rr_infos[0].rr_eoff)
		printf("covers %" PRIu64 " bytes before the function and %" PRIu64
		       " after it as well\n",
		       rr->rr_infos[0].rr_soff, rr->rr_infos[0].rr_eoff);
}

static int program(void)
{
	static const char *const events[] = { "montecito::DATA_EAR_CACHE_LAT64",
		                              "montecito::IA64_INST_RETIRED_THIS" };
	const pfm_set_t *set;
	pfmlib_mont_input_param_t settings = { .pfp_mont_irange = {
						       .rr_used = 1,
						       .rr_limits[0] = { .rr_start = FUNCTION_START,
		                                                         .rr_end = FUNCTION_END },
					       } };
	pfmlib_mont_output_param_t results = { 0 };
	pfm_dispatch_options_t options = { .size = sizeof(options),
		                           .plm = PFM_PLM3,
		                           .model_in = &settings,
		                           .model_out = &results };
	pfm_error_t error = PFM_INIT(error);

	if (pfm_dispatch_set(&set, NULL, events, 2, &options, &error) != PFMLIB_SUCCESS) {
		char sentence[256];

		pfm_explain_error(NULL, NULL, &error, sentence, sizeof(sentence));
		fprintf(stderr, "%s\n", sentence);
		return 1;
	}
	for (unsigned i = 0; i < set->n_pmcs; i++)
		printf("PMC%-4u 0x%016" PRIx64 "\n", set->pmcs[i].num, set->pmcs[i].value);
	print_range("IBR", &results.pfp_mont_irange);
	pfm_close_set(set);
	return 0;
}

/* Values that an interrupt handler read from PMD32, PMD33 and PMD36. */
static int decode(uint64_t pmd32, uint64_t pmd33, uint64_t pmd36)
{
	pfmlib_mont_dear_sample_t s;

	if (pfm_mont_decode_dear(PFMLIB_MONT_EAR_CACHE_MODE, pmd32, pmd33, pmd36, &s) !=
	            PFMLIB_SUCCESS ||
	    !s.dear_valid)
		return 1;
	printf("a load of 0x%016" PRIx64 " took %s%u cycles", s.dear_daddr,
	       s.dear_overflow ? "at least " : "", s.dear_latency);
	if (s.dear_iaddr_valid)
		printf(", asked for by 0x%016" PRIx64 " slot %u", s.dear_iaddr, s.dear_slot);
	printf("%s\n",
	       s.dear_level == PFMLIB_MONT_LEVEL_FAR ? ", answered beyond the second level" : "");
	return 0;
}

int main(void)
{
	return program() ||
	       decode(0x6000000000012340, UINT64_C(3) << 14 | 180, FUNCTION_START | 0x40 | 8 | 1);
}
