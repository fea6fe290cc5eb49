/* SPDX-License-Identifier: MIT */
/* Positions of id and time in samples and in trailers, for every set of fields of constant size. */
#include "units.h"
#include "sampling/sampling.h"

/* The kernel writes the fields in this order. Fields of a sample take one word each. */
static const uint64_t sample_order[] = {
	PFM_SAMPLE_IDENTIFIER, PFM_SAMPLE_IP,     PFM_SAMPLE_TID, PFM_SAMPLE_TIME,  PFM_SAMPLE_ADDR,
	PFM_SAMPLE_ID,         PFM_SAMPLE_STREAM, PFM_SAMPLE_CPU, PFM_SAMPLE_PERIOD
};
static const uint64_t trailer_order[] = {
	PFM_SAMPLE_TID,    PFM_SAMPLE_TIME, PFM_SAMPLE_ID,
	PFM_SAMPLE_STREAM, PFM_SAMPLE_CPU,  PFM_SAMPLE_IDENTIFIER
};

static uint64_t words[16];

/* Makes a record whose word for each of @fields is the field's bit. Returns its size. */
static size_t make_record(uint32_t type, uint64_t fields, const uint64_t *order, size_t n)
{
	struct record_header head = { type, 0, 0 };
	size_t at = 1;

	for (size_t i = 0; i < n; i++)
		if (fields & order[i])
			words[at++] = order[i];
	memcpy(words, &head, sizeof(head));
	return 8 * at;
}

static void expect_id_and_time(const struct record_layout *l, size_t size)
{
	uint64_t id = l->fields & PFM_SAMPLE_IDENTIFIER ? PFM_SAMPLE_IDENTIFIER
	                                                : l->fields & PFM_SAMPLE_ID;

	assert_int_equal(pfmi_sampling_get_record_id(l, words, size), id);
	assert_int_equal(pfmi_sampling_get_record_time(l, words, size),
	                 l->fields & PFM_SAMPLE_TIME);
}

static void finds_id_and_time_in_every_set_of_fields(void **state)
{
	(void)state;
	for (unsigned set = 0; set < 1u << COUNT(sample_order); set++) {
		struct record_layout l = { .has_trailers = true };
		size_t size;

		for (size_t i = 0; i < COUNT(sample_order); i++)
			l.fields |= set >> i & 1 ? sample_order[i] : 0;
		size = make_record(PFM_RECORD_SAMPLE, l.fields, sample_order, COUNT(sample_order));
		expect_id_and_time(&l, size);
		pfmi_sampling_complete_layout(&l);
		assert_int_equal(l.is_fixed_size, (l.fields & PFM_SAMPLE_IDENTIFIER) != 0);
		assert_int_equal(l.sample_size, size);
		size = make_record(PFM_RECORD_SWITCH, l.fields, trailer_order,
		                   COUNT(trailer_order));
		expect_id_and_time(&l, size);
		l.has_trailers = false;
		assert_int_equal(pfmi_sampling_get_record_id(&l, words, size), 0);
		assert_int_equal(pfmi_sampling_get_record_time(&l, words, size), 0);
	}
}

static void samples_with_lists_have_no_fixed_size(void **state)
{
	struct record_layout l = { .fields = PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_CHAIN };

	(void)state;
	pfmi_sampling_complete_layout(&l);
	assert_false(l.is_fixed_size);
}

/* A record too short for the field and a record of unknown type have neither id nor time. */
static void missing_fields_read_as_zero(void **state)
{
	const struct record_layout l = { .fields = PFM_SAMPLE_IP | PFM_SAMPLE_TIME | PFM_SAMPLE_ID,
		                         .has_trailers = true };

	(void)state;
	make_record(PFM_RECORD_SAMPLE, l.fields, sample_order, COUNT(sample_order));
	assert_int_equal(pfmi_sampling_get_record_id(&l, words, 24), 0);
	assert_int_equal(pfmi_sampling_get_record_time(&l, words, 16), 0);
	make_record(PFM_RECORD_DEFERRED_CHAIN + 1, l.fields, trailer_order, COUNT(trailer_order));
	assert_int_equal(pfmi_sampling_get_record_id(&l, words, 24), 0);
	assert_int_equal(pfmi_sampling_get_record_time(&l, words, 24), 0);
}

UNIT(sampling_record_layout, cmocka_unit_test(finds_id_and_time_in_every_set_of_fields),
     cmocka_unit_test(samples_with_lists_have_no_fixed_size),
     cmocka_unit_test(missing_fields_read_as_zero));
