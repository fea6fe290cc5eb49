/* SPDX-License-Identifier: MIT */
/* A run of samples gives the records that the decoder gives one by one, and ends where the layout
 * changes. */
#include "units.h"
#include "sampling/sampling.h"

enum { N = 6, ID = 77 };

#define USUAL                                                                                      \
	(PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_CPU)

static uint64_t words[N * 10];
static struct record_layout layout;
static pfm_record_t records[N];

/* Makes N samples; their times are 10, 20, ... and every second one is exact. */
static struct sample_run make_run(uint64_t fields)
{
	uint64_t *at = words;

	layout = (struct record_layout){ .fields = fields };
	pfmi_sampling_complete_layout(&layout);
	assert_true(layout.is_fixed_size);
	for (unsigned i = 0; i < N; i++) {
		const struct record_header head = { PFM_RECORD_SAMPLE, i % 2 ? PFM_MISC_EXACT : 0,
			                            (uint16_t)layout.sample_size };

		memcpy(at++, &head, sizeof(head));
		*at++ = ID;
		*at++ = 0x1000 + i;                                    /* ip */
		*at++ = (uint64_t)(40 + i) << 32 | (uint64_t)(30 + i); /* pid, tid */
		*at++ = 10 * (i + 1);
		*at++ = i; /* cpu */
		if (fields & PFM_SAMPLE_PERIOD)
			*at++ = 100 + i;
	}
	memset(records, 0, sizeof(records));
	return (struct sample_run){ .next_sample = (const uint8_t *)words,
		                    .sample_size = layout.sample_size,
		                    .fields = fields,
		                    .id = ID,
		                    .time_limit = UINT64_MAX,
		                    .period = 5,
		                    .count_index = 3 };
}

static void samples_are_those_of_the_decoder(void **state)
{
	(void)state;
	for (unsigned own_period = 0; own_period < 2; own_period++) {
		struct sample_run u = make_run(USUAL | (own_period ? PFM_SAMPLE_PERIOD : 0));

		/* The first decoding fills the records; the second only writes the fields that
		 * differ. */
		for (unsigned times = 0; times < 2; times++) {
			u.next_sample = (const uint8_t *)words;
			assert_int_equal(pfmi_sampling_decode_run(&u, records, N), N);
			assert_ptr_equal(u.next_sample, (uint8_t *)words + N * u.sample_size);
			assert_int_equal(u.n_exact, N / 2);
			assert_int_equal(u.total_weight, own_period ? 6 * 100 + 15 : 6 * 5);
			for (unsigned i = 0; i < N; i++) {
				pfm_record_t r;

				assert_true(pfmi_sampling_decode_record(
					&layout, (uint8_t *)words + i * u.sample_size,
					u.sample_size, &r));
				r.event = 3;
				r.has |= PFM_SAMPLE_PERIOD;
				if (!own_period)
					r.body.sample.period = 5;
				assert_memory_equal(&r, &records[i], sizeof(r));
			}
		}
	}
}

/* A later time, another id, another size or another type ends the run. */
static void run_ends_at_a_different_sample(void **state)
{
	struct sample_run u = make_run(USUAL);
	uint64_t *third = words + 2 * u.sample_size / 8;
	struct record_header head;

	(void)state;
	u.time_limit = 20;
	assert_int_equal(pfmi_sampling_decode_run(&u, records, N), 2);
	assert_ptr_equal(u.next_sample, third);
	u = make_run(USUAL);
	assert_int_equal(pfmi_sampling_decode_run(&u, records, 4), 4);
	for (unsigned i = 0; i < 3; i++) {
		u = make_run(USUAL);
		memcpy(&head, third, sizeof(head));
		head.size = (uint16_t)(u.sample_size + (i == 1 ? 8 : 0));
		head.type += i == 2;
		memcpy(third, &head, sizeof(head));
		third[1] += i == 0;
		assert_int_equal(pfmi_sampling_decode_run(&u, records, N), 2);
		assert_int_equal(u.total_weight, 10);
	}
}

UNIT(sampling_sample_run, cmocka_unit_test(samples_are_those_of_the_decoder),
     cmocka_unit_test(run_ends_at_a_different_sample));
