/* SPDX-License-Identifier: MIT */
/* Fields of tracepoints: a session made by hand, descriptions in a scripted tracefs, and samples of
 * which every byte is known. Covers declarations, and positions up to the last byte. */
#include "bare_session.h"

#define FORMAT "/sys/kernel/tracing/events/a/b/format"

static struct sampling_state sampling;
static struct session_count counts[3];
static char name[] = "a:b", other[] = "cycles";

static int begin(void **state)
{
	(void)state;
	if (!begin_bare())
		return -1;
	memset(counts, 0, sizeof(counts));
	memset(&sampling, 0, sizeof(sampling));
	for (unsigned i = 0; i < 2; i++) {
		counts[i].config.name = name;
		counts[i].config.attr.type = PERF_TYPE_TRACEPOINT;
		counts[i].config.attr.config = 7;
	}
	counts[2].config.name = other;
	s->n_counts = 3;
	s->counts = counts;
	s->sampling = &sampling;
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (sampling.free_trace_formats)
		sampling.free_trace_formats(&sampling);
	assert_null(sampling.trace_formats);
	end_bare();
	return 0;
}

/* Lines of the form "DECLARATION", each 4 bytes long, at 0, 4, 8 ... */
static void describe_lines(const char *const *lines, unsigned n)
{
	char text[8192] = "name: b\nID: 7\nformat:\n";

	for (unsigned i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
		         "\tfield:%s;\toffset:%u;\tsize:4;\tsigned:%u;\n", lines[i], 4 * i, i % 2);
	fake_file(&fake, FORMAT, text);
}

static pfm_trace_field_t field(unsigned k)
{
	pfm_trace_field_t f = PFM_INIT(f);

	assert_int_equal(pfm_describe_trace_field(s, 0, k, &f), PFMLIB_SUCCESS);
	return f;
}

/* ---- declarations ---------------------------------------------------------------------------- */

static void reads_declarations_of_fields(void **state)
{
	static const struct {
		const char *text, *name, *type;
		uint32_t flags;
	} rows[] = {
		{ "int a", "a", "int", 0 },
		{ "unsigned short common_type", "common_type", "unsigned short", 0 },
		{ "const char * p", "p", "const char *", 0 },
		{ "const char *q", "q", "const char *", 0 },
		{ "char comm[16]", "comm", "char", PFM_TRACE_ARRAY },
		{ "unsigned long args[6]", "args", "unsigned long", PFM_TRACE_ARRAY },
		{ "__data_loc char[] text", "text", "char", PFM_TRACE_DYNAMIC },
		{ "__rel_loc char[] text2", "text2", "char",
		  PFM_TRACE_DYNAMIC | PFM_TRACE_RELATIVE },
		{ "__data_loc unsigned long[] l", "l", "unsigned long", PFM_TRACE_DYNAMIC },
		{ "struct x_y Z9_", "Z9_", "struct x_y", 0 },
		{ "alone", "alone", "", 0 },
		{ "data_loc x", "x", "data_loc", 0 },
	};
	const char *lines[COUNT(rows)];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		lines[i] = rows[i].text;
	describe_lines(lines, COUNT(rows));
	for (unsigned i = 0; i < COUNT(rows); i++) {
		pfm_trace_field_t f = field(i), found = PFM_INIT(found);

		assert_string_equal(f.name, rows[i].name);
		assert_string_equal(f.type, rows[i].type);
		assert_int_equal(f.flags, rows[i].flags | (i % 2 ? PFM_TRACE_SIGNED : 0));
		assert_int_equal(f.offset, 4 * i);
		assert_int_equal(f.length, 4);
		assert_int_equal(pfm_find_trace_field(s, 0, rows[i].name, &found), PFMLIB_SUCCESS);
		assert_memory_equal(&found, &f, sizeof(f));
	}
	/* A line without a name, an offset or a size is not a field. */
	fake_file(&fake, FORMAT,
	          "name: b\nID: 7\n\tfield:int "
	          ";\toffset:0;\tsize:4;\n\tfield:;\toffset:0;\tsize:4;\n\tfield:int a;\tsize:4;\n"
	          "\tfield:int b;\toffset:;\tsize:4;\n\tfield:int c;\toffset:8;\n\tint "
	          "d;\toffset:8;\tsize:4;\n"
	          "\tfield:char[] ;\toffset:0;\tsize:4;\n\tfield:int "
	          "good;\toffset:8;\tsize:2;\n\nprint fmt: \"field:x\"");
	if (sampling.free_trace_formats)
		sampling.free_trace_formats(&sampling);
	assert_string_equal(field(0).name, "good");
	assert_true(field(0).offset == 8 && field(0).length == 2 &&
	            field(0).flags == 0); /* older kernels say nothing of signs */
	assert_int_equal(
		pfm_describe_trace_field(s, 0, 1,
	                                 &(pfm_trace_field_t){ .size = sizeof(pfm_trace_field_t) }),
		PFMLIB_ERR_NOTFOUND);
}

static void fills_the_buffer_exactly(void **state)
{
	static char text[40000];
	pfm_trace_field_t f = PFM_INIT(f);

	(void)state;
	snprintf(text, sizeof(text), "name: b\nID: 7\n");
	for (unsigned i = 0; i < 300; i++)
		snprintf(text + strlen(text), 100,
		         "\tfield:int f%u;\toffset:%u;\tsize:4;\tsigned:0;\n", i, i);
	fake_file(&fake, FORMAT, text);
	assert_string_equal(field(0).name, "f0");
	assert_string_equal(field(255).name, "f255");
	assert_int_equal(pfm_describe_trace_field(s, 0, 256, &f), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_find_trace_field(s, 0, "f256", &f), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_find_trace_field(s, 0, "f25", &f), PFMLIB_SUCCESS);
	assert_int_equal(f.offset, 25);
}

/* ---- who may be asked ------------------------------------------------------------------------ */

static void questions_that_have_no_answer(void **state)
{
	pfm_trace_field_t f = PFM_INIT(f), none = { .size = 1 };

	(void)state;
	assert_int_equal(pfm_describe_trace_field(s, 0, 0, &f),
	                 PFMLIB_ERR_NOTSUPP); /* its description is missing */
	describe_lines((const char *const[]){ "int a" }, 1);
	assert_int_equal(pfm_describe_trace_field(s, 0, 0, &f), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_trace_field(s, 0, 1, &f), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_trace_field(s, 2, 0, &f), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_describe_trace_field(s, 3, 0, &f), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_trace_field(NULL, 0, 0, &f), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_trace_field(s, 0, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_trace_field(s, 0, 0, &none), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_trace_field(s, 0, "a", &f), PFMLIB_SUCCESS);
	assert_int_equal(pfm_find_trace_field(s, 0, "", &f), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_find_trace_field(s, 0, NULL, &f), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_trace_field(s, 0, "a", NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_trace_field(s, 0, "a", &none), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_trace_field(s, 2, "a", &f), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_find_trace_field(NULL, 0, "a", &f), PFMLIB_ERR_INVAL);
	s->sampling = NULL;
	assert_int_equal(pfm_describe_trace_field(s, 0, 0, &f), PFMLIB_ERR_INVAL);
}

/* A text is read once for each count, and each has its own. */
static void descriptions_are_kept(void **state)
{
	unsigned reads;

	(void)state;
	describe_lines((const char *const[]){ "int a", "int b" }, 2);
	assert_string_equal(field(0).name, "a");
	reads = fake.uses[FAKE_OPEN];
	fake_remove(&fake, FORMAT);
	assert_string_equal(field(1).name, "b");
	assert_int_equal(fake.uses[FAKE_OPEN], reads);
	assert_int_equal(
		pfm_describe_trace_field(s, 1, 0,
	                                 &(pfm_trace_field_t){ .size = sizeof(pfm_trace_field_t) }),
		PFMLIB_ERR_NOTSUPP);
	describe_lines((const char *const[]){ "int c" }, 1);
	assert_int_equal(
		pfm_find_trace_field(s, 1, "c",
	                             &(pfm_trace_field_t){ .size = sizeof(pfm_trace_field_t) }),
		PFMLIB_SUCCESS);
	assert_string_equal(field(0).name, "a");
}

/* ---- values ---------------------------------------------------------------------------------- */

static const uint8_t raw[] = { 0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8, 0x09, 0x1a };
static pfm_record_t record;

static void new_sample(const void *bytes, uint32_t n)
{
	record = (pfm_record_t){ .size = sizeof(record), .type = PFM_RECORD_SAMPLE };
	record.body.sample.raw = bytes;
	record.body.sample.raw_size = n;
}

static pfm_trace_field_t at(uint32_t offset, uint32_t length, uint32_t flags)
{
	return (pfm_trace_field_t){ .size = sizeof(pfm_trace_field_t),
		                    .offset = offset,
		                    .length = length,
		                    .flags = flags };
}

static uint64_t of_this_order(unsigned offset, unsigned n)
{
	const uint16_t one = 1;
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v = v << 8 | raw[offset + (*(const uint8_t *)&one ? n - 1 - i : i)];
	return v;
}

static void reads_numbers_of_1_2_4_and_8_bytes(void **state)
{
	(void)state;
	new_sample(raw, sizeof(raw));
	for (uint32_t n = 0; n <= 9; n++)
		for (uint32_t offset = 0; offset <= sizeof(raw) + 1; offset++)
			for (unsigned sign = 0; sign < 2; sign++) {
				pfm_trace_field_t f = at(offset, n, sign ? PFM_TRACE_SIGNED : 0);
				bool number = n == 1 || n == 2 || n == 4 || n == 8;
				uint64_t value = 99, expected;
				const void *bytes = NULL;
				uint32_t len = 99;
				int rc = pfm_read_trace_field(s, &record, &f, &value, &bytes, &len);

				if (offset + n > sizeof(raw)) {
					assert_int_equal(rc, PFMLIB_ERR_NOTFOUND);
					assert_true(value == 99 && !bytes && len == 99);
					continue;
				}
				expected = number ? of_this_order(offset, n) : 0;
				if (sign && number && n < 8 && expected >> (8 * n - 1))
					expected |= UINT64_MAX << 8 * n;
				assert_int_equal(rc, PFMLIB_SUCCESS);
				assert_true(value == expected);
				assert_ptr_equal(bytes, raw + offset);
				assert_int_equal(len, n);
			}
}

/* Arrays have bytes and no value; what may be left out may be. */
static void arrays_have_bytes_and_no_value(void **state)
{
	pfm_trace_field_t f = at(2, 4, PFM_TRACE_ARRAY);
	uint64_t value = 99;
	const void *bytes;
	uint32_t len;

	(void)state;
	new_sample(raw, sizeof(raw));
	assert_int_equal(pfm_read_trace_field(s, &record, &f, &value, &bytes, &len),
	                 PFMLIB_SUCCESS);
	assert_true(value == 0 && bytes == raw + 2 && len == 4);
	assert_int_equal(pfm_read_trace_field(s, &record, &f, NULL, NULL, NULL), PFMLIB_SUCCESS);
	f = at(UINT32_MAX, UINT32_MAX, 0);
	assert_int_equal(pfm_read_trace_field(s, &record, &f, &value, NULL, NULL),
	                 PFMLIB_ERR_NOTFOUND);
	f = at(UINT32_MAX - 1, 4, 0);
	assert_int_equal(pfm_read_trace_field(s, &record, &f, &value, NULL, NULL),
	                 PFMLIB_ERR_NOTFOUND);
	record.type = PFM_RECORD_COMM;
	f = at(0, 4, 0);
	assert_int_equal(pfm_read_trace_field(s, &record, &f, &value, NULL, NULL),
	                 PFMLIB_ERR_INVAL);
	new_sample(NULL, 100);
	assert_int_equal(pfm_read_trace_field(s, &record, &f, &value, NULL, NULL),
	                 PFMLIB_ERR_NOTFOUND);
	f.size = 1;
	assert_int_equal(pfm_read_trace_field(s, &record, &f, &value, NULL, NULL),
	                 PFMLIB_ERR_INVAL);
	f.size = sizeof(f);
	assert_int_equal(pfm_read_trace_field(NULL, &record, &f, &value, NULL, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_trace_field(s, NULL, &f, &value, NULL, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_trace_field(s, &record, NULL, &value, NULL, NULL),
	                 PFMLIB_ERR_INVAL);
}

/* A dynamic field is a word with the position and the number of its bytes. @where counts from the
 * start of the sample's bytes, or, for a relative field, from the end of the word. */
static void expect_dynamic(uint32_t flags, uint16_t where, uint16_t n, unsigned start)
{
	static uint8_t bytes[24];
	uint32_t word = (uint32_t)n << 16 | where, len = 99;
	pfm_trace_field_t f = at(4, 4, PFM_TRACE_DYNAMIC | flags);
	const void *found = NULL;
	uint64_t value = 99;
	int rc;

	memcpy(bytes + 4, &word, sizeof(word));
	new_sample(bytes, sizeof(bytes));
	rc = pfm_read_trace_field(s, &record, &f, &value, &found, &len);
	if (start + n > sizeof(bytes)) {
		assert_int_equal(rc, PFMLIB_ERR_NOTFOUND);
		return;
	}
	assert_int_equal(rc, PFMLIB_SUCCESS);
	assert_true(value == 0);
	assert_ptr_equal(found, bytes + start);
	assert_int_equal(len, n);
}

static void dynamic_fields_lie_within_the_sample(void **state)
{
	static const uint16_t places[] = { 0, 8, 15, 16, 17, 23, 24, 25, 0x7fff, 0x8000, 0xffff };
	pfm_trace_field_t f = at(22, 4, PFM_TRACE_DYNAMIC);
	static const uint8_t bytes[24];

	(void)state;
	for (size_t i = 0; i < COUNT(places); i++)
		for (uint16_t n = 0; n < 26; n++) {
			expect_dynamic(0, places[i], n, places[i]);
			expect_dynamic(PFM_TRACE_RELATIVE, places[i], n, 8u + places[i]);
		}
	expect_dynamic(0, 0, 0xffff, 0);
	/* A word that exceeds the sample has no bytes. */
	new_sample(bytes, sizeof(bytes));
	assert_int_equal(pfm_read_trace_field(s, &record, &f, NULL, NULL, NULL),
	                 PFMLIB_ERR_NOTFOUND);
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)

UNIT(perfdata_tracepoint_fields, CASE(reads_declarations_of_fields), CASE(fills_the_buffer_exactly),
     CASE(questions_that_have_no_answer), CASE(descriptions_are_kept),
     CASE(reads_numbers_of_1_2_4_and_8_bytes), CASE(arrays_have_bytes_and_no_value),
     CASE(dynamic_fields_lie_within_the_sample));
