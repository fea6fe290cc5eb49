/* SPDX-License-Identifier: MIT */
/* Events that a recording declares, in either byte order: their layout, names and ids. The offsets
 * are those of struct perf_attr in <linux/perf_event.h>. */
#include "units.h"
#include "perfdata/perfdata_internal.h"
#include "session/session_internal.h"

struct attr_record {
	struct record_header head;
	uint8_t attr[64];
	uint64_t id;
};

static struct pfm_session *open_reader(bool foreign)
{
	const uint32_t one = 1;
	struct pfm_session *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->sampling = calloc(1, sizeof(*s->sampling));
	s->recording = calloc(1, sizeof(*s->recording));
	assert_true(s->sampling && s->recording);
	s->recording->is_foreign = foreign;
	s->recording->is_big_endian = (*(const uint8_t *)&one == 0) != foreign;
	return s;
}

static void close_reader(struct pfm_session *s)
{
	free(s->sampling->event_ids);
	free(s->sampling->totals);
	pfmi_base_free_hash(&s->sampling->id_table);
	free(s->sampling);
	free(s->recording);
	pfmi_session_free_names(s);
	free(s->counts);
	free(s);
}

static void put64(const struct pfm_session *s, void *at, uint64_t v)
{
	v = s->recording->is_foreign ? bswap_64(v) : v;
	memcpy(at, &v, sizeof(v));
}

static void put32(const struct pfm_session *s, void *at, uint32_t v)
{
	v = s->recording->is_foreign ? bswap_32(v) : v;
	memcpy(at, &v, sizeof(v));
}

/* The record of an event of @type and @config with @id, 1000 samples a second. */
static struct attr_record make_attr(const struct pfm_session *s, uint32_t type, uint64_t config,
                                    uint64_t id)
{
	struct attr_record r = { .id = 0 };

	put32(s, r.attr, type);
	put32(s, r.attr + 4, sizeof(r.attr));
	put64(s, r.attr + 8, config);
	put64(s, r.attr + 16, 1000);
	put64(s, r.attr + 24, PFM_SAMPLE_IP | PFM_SAMPLE_ID);
	put64(s, r.attr + 40, (uint64_t)1 << (s->recording->is_big_endian ? 63 - 10 : 10));
	put64(s, &r.id, id);
	return r;
}

static int read_attr(struct pfm_session *s, const struct attr_record *r, size_t size)
{
	return pfmi_perfdata_read_attr_record(s, (const uint8_t *)r, size);
}

static void events_of_a_pipe(void **state)
{
	(void)state;
	for (unsigned foreign = 0; foreign < 2; foreign++) {
		struct pfm_session *s = open_reader(foreign);
		struct attr_record faults = make_attr(s, PERF_TYPE_SOFTWARE, 2, 11),
				   cycles = make_attr(s, PERF_TYPE_HARDWARE, 0, 12),
				   other = make_attr(s, PERF_TYPE_RAW, 0x1c0, 13);

		assert_int_equal(read_attr(s, &faults, sizeof(faults)), 0);
		assert_int_equal(read_attr(s, &cycles, sizeof(cycles)), 0);
		assert_int_equal(read_attr(s, &other, sizeof(other)), 0);
		assert_int_equal(s->n_counts, 3);
		assert_string_equal(s->counts[0].config.name, "page-faults");
		assert_string_equal(s->counts[1].config.name, "cycles");
		assert_string_equal(s->counts[2].config.name, "unnamed");
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(pfmi_sampling_find_count(s->sampling, 11 + i), i);
			assert_int_equal(s->counts[i].config.freq, 1000);
			assert_int_equal(s->sampling->totals[i].layout.fields,
			                 PFM_SAMPLE_IP | PFM_SAMPLE_ID);
		}
		assert_int_equal(s->counts[2].config.attr.config, 0x1c0);
		assert_int_equal(s->sampling->common_layout.fields, PFM_SAMPLE_IP | PFM_SAMPLE_ID);
		close_reader(s);
	}
}

static void sizes_that_lie(void **state)
{
	static const uint32_t sizes[] = { 0, 63, 73, 1000, UINT32_MAX };
	struct pfm_session *s = open_reader(false);
	struct attr_record r = make_attr(s, PERF_TYPE_SOFTWARE, 2, 11);

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		put32(s, r.attr + 4, sizes[i]);
		assert_int_equal(read_attr(s, &r, sizeof(r)), PFMLIB_ERR_INVAL);
	}
	assert_int_equal(read_attr(s, &r, sizeof(r.head)), PFMLIB_ERR_INVAL);
	assert_int_equal(s->n_counts, 0);
	close_reader(s);
}

/* PERF_RECORD_EVENT_UPDATE of kind 2 names the event that has the id; others change nothing. */
static void names_of_a_pipe(void **state)
{
	struct pfm_session *s = open_reader(false);
	struct attr_record r = make_attr(s, PERF_TYPE_RAW, 0x1c0, 11);
	uint8_t update[40] = { 0 };

	(void)state;
	assert_int_equal(read_attr(s, &r, sizeof(r)), 0);
	memcpy(update + 24, "an event", sizeof("an event"));
	put64(s, update + 8, PERFDATA_UPDATE_NAME);
	put64(s, update + 16, 12);
	pfmi_perfdata_read_update_record(s, update, sizeof(update));
	put64(s, update + 16, 11);
	pfmi_perfdata_read_update_record(s, update, 24);
	put64(s, update + 8, 1);
	pfmi_perfdata_read_update_record(s, update, sizeof(update));
	assert_string_equal(s->counts[0].config.name, "unnamed");
	put64(s, update + 8, PERFDATA_UPDATE_NAME);
	pfmi_perfdata_read_update_record(s, update, sizeof(update));
	assert_string_equal(s->counts[0].config.name, "an event");
	close_reader(s);
}

UNIT(perfdata_perfdata_header, cmocka_unit_test(events_of_a_pipe), cmocka_unit_test(sizes_that_lie),
     cmocka_unit_test(names_of_a_pipe));
