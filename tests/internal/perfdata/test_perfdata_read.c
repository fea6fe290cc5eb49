/* SPDX-License-Identifier: MIT */
/* How recordings are read, byte by byte: files that the test itself wrote down, in both byte
 * orders, as files and as pipes, whole, wrong and cut; and those that a session on a scripted
 * kernel wrote, with disks that are full and memory that is short. */
#include "fake_session.h"

#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "perfdata/perfdata.h"
#include "starve.h"

static char path[] = P_tmpdir "/perfmon-bytes-XXXXXX";
static pfm_session_t *reading;
static pfm_recording_t *recording;
static pfm_record_t record;

/* ---- a file in the making -------------------------------------------------------------------- */

static struct {
	uint8_t bytes[1 << 20];
	size_t n;
	bool foreign; /* written in the other byte order */
	bool narrow;  /* of a machine whose addresses have 32 bits */
} file;

static void put(const void *p, size_t n)
{
	assert_true(file.n + n <= sizeof(file.bytes));
	memcpy(file.bytes + file.n, p, n);
	file.n += n;
}

static void put64(uint64_t v)
{
	v = file.foreign ? bswap_64(v) : v;
	put(&v, 8);
}

static void put32(uint32_t v)
{
	v = file.foreign ? bswap_32(v) : v;
	put(&v, 4);
}

static void put16(uint16_t v)
{
	v = file.foreign ? bswap_16(v) : v;
	put(&v, 2);
}

static void put_head(uint32_t type, uint16_t misc, size_t size)
{
	put32(type);
	put16(misc);
	put16((uint16_t)size);
}

/* Overwrites the number at @at. */
static void set64(size_t at, uint64_t v)
{
	size_t n = file.n;

	file.n = at;
	put64(v);
	file.n = n;
}

/* Bit @i of an attribute's flags, where the machine that wrote the file has it. */
static uint64_t flag(unsigned i)
{
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != file.foreign;

	return (uint64_t)1 << (big ? 63 - i : i);
}

/* Attributes of an event with @fields; 64 bytes, the smallest there are. */
static void put_attr(uint32_t type, uint64_t config, uint64_t period, uint64_t fields, bool freq)
{
	put32(type);
	put32(64);
	put64(config);
	put64(period);
	put64(fields);
	put64(0);
	put64(flag(18) | (freq ? flag(10) : 0));
	put64(0);
	put64(0);
}

enum { FIELDS = PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME };

static void put_sample(uint64_t id, uint64_t ip, uint64_t time)
{
	put_head(PFM_RECORD_SAMPLE, PFM_MISC_USER, 40);
	put64(id);
	put64(ip);
	put32(7);
	put32(8);
	put64(time);
}

static void put_round(void)
{
	put_head(PERFDATA_RECORD_FINISHED_ROUND, 0, 8);
}

/* The head and the attributes of two events, page faults with id 11 and cycles (1000 a second) with
 * ids 12 and 13. Data follows. */
static void begin_file(bool foreign)
{
	memset(&file, 0, sizeof(file));
	file.foreign = foreign;
	put64(PERFDATA_MAGIC);
	put64(sizeof(struct perfdata_header));
	put64(64 + 16);
	put64(128); /* attributes */
	put64(2 * 80);
	put64(288); /* data; its size is not known yet */
	put64(0);
	file.n = 104;
	put64(11);
	put64(12);
	put64(13);
	put_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, FIELDS, false);
	put64(104);
	put64(8);
	put_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000, FIELDS | PFM_SAMPLE_PERIOD,
	         true);
	put64(112);
	put64(16);
	assert_int_equal(file.n, 288);
}

/* Writes the feature sections with host and event names after the data, and sets the size of the
 * data. */
static void end_file(const char *const *names, unsigned n)
{
	size_t end = file.n;

	set64(48, end - 288);
	set64(72, 1u << PERFDATA_FEATURE_HOSTNAME | 1u << PERFDATA_FEATURE_EVENT_DESC);
	put64(0); /* the host has no name */
	put64(0);
	put64(end + 32);
	put64(8 + n * (64 + 8 + 64 + 8));
	put32(n);
	put32(64);
	for (unsigned i = 0; i < n; i++) {
		char name[64] = "";

		put_attr(0, 0, 0, 0, false);
		put32(1);
		put32(sizeof(name));
		snprintf(name, sizeof(name), "%s", names[i]);
		put(name, sizeof(name));
		put64(11);
	}
}

static void begin_pipe(bool foreign)
{
	memset(&file, 0, sizeof(file));
	file.foreign = foreign;
	put64(PERFDATA_MAGIC);
	put64(16);
}

static void put_pipe_attr(uint64_t config, uint64_t id)
{
	put_head(PERFDATA_RECORD_ATTR, 0, 8 + 64 + 8);
	put_attr(PERF_TYPE_SOFTWARE, config, 1, FIELDS, false);
	put64(id);
}

static int read_it(void)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(file.bytes, 1, file.n, f), file.n);
	fclose(f);
	pfm_close_session(reading);
	reading = NULL;
	error = (pfm_error_t){ .size = sizeof(error) };
	return pfm_open_recording(&reading, path, &error);
}

static int next(void)
{
	record.size = sizeof(record);
	return pfm_next_record(reading, &record);
}

/* True if the recording is reported as cut or damaged. */
static bool broke_off(void)
{
	pfm_buffer_info_t b = { .size = sizeof(b) };

	assert_int_equal(pfm_buffer_statistics(reading, &b), PFMLIB_SUCCESS);
	return b.damaged;
}

static unsigned skipped(void)
{
	pfm_buffer_info_t b = { .size = sizeof(b) };

	assert_int_equal(pfm_buffer_statistics(reading, &b), PFMLIB_SUCCESS);
	return b.skipped;
}

static const char *name_of(unsigned i)
{
	static pfm_count_info_t info;

	info = (pfm_count_info_t){ .size = sizeof(info) };
	assert_int_equal(pfm_describe_count(reading, i, &info), PFMLIB_SUCCESS);
	return info.name;
}

static void expect_sample(unsigned event_number, uint64_t ip, uint64_t time)
{
	assert_int_equal(next(), 1);
	assert_int_equal(record.type, PFM_RECORD_SAMPLE);
	assert_int_equal(record.event, event_number);
	assert_int_equal(record.body.sample.ip, ip);
	assert_int_equal(record.time, time);
	assert_int_equal(record.tid, 8);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void a_file_of_either_byte_order_is_read_the_same(void **state)
{
	static const char *const names[] = { "faults", "clocks" };

	(void)state;
	for (unsigned foreign = 0; foreign < 2; foreign++) {
		begin_file(foreign);
		put_sample(11, 0x1000, 30);
		put_head(PFM_RECORD_SAMPLE, PFM_MISC_KERNEL, 48);
		put64(13);
		put64(0x2000);
		put32(7);
		put32(8);
		put64(10);
		put64(555); /* period */
		put_round();
		put_sample(11, 0x3000, 40);
		put_round();
		put_head(PFM_RECORD_COMM, 0, 48);
		put32(7);
		put32(8);
		put("program", 8);
		put32(7);
		put32(8);
		put64(35); /* older than what another CPU wrote in the round before */
		put64(11);
		put_head(PERFDATA_RECORD_AUXTRACE, 0, 16);
		put64(3);
		put("\377\377\377", 3); /* its bytes follow it and are not a record */
		put_sample(11, 0x4000, 50);
		put_head(99, 0, 8);                  /* of a newer writer */
		put_head(PFM_RECORD_SAMPLE, 0, 400); /* cut off */
		end_file(names, 2);
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		assert_int_equal(pfm_session_size(reading), 2);
		assert_string_equal(name_of(0), "faults");
		assert_string_equal(name_of(1), "clocks");
		expect_sample(1, 0x2000, 10);
		assert_int_equal(record.body.sample.period, 555);
		expect_sample(0, 0x1000, 30);
		assert_int_equal(record.body.sample.period, 1);
		assert_int_equal(next(), 1);
		assert_int_equal(record.type, PFM_RECORD_COMM);
		assert_string_equal(record.body.comm.name, "program");
		expect_sample(0, 0x3000, 40);
		expect_sample(0, 0x4000, 50);
		assert_int_equal(next(), 0);
		assert_int_equal(next(), 0);
		assert_true(broke_off());
		assert_int_equal(skipped(), 1);
	}
}

/* A mapping of page faults on device 8:1, with the bit of build ids. */
static void put_marked_mapping(void)
{
	put_head(PFM_RECORD_MAP2, PFM_MISC_USER | PFM_MISC_BUILD_ID, 104);
	put32(7);
	put32(8);
	for (unsigned i = 1; i < 4; i++)
		put64(i << 12);
	put32(8); /* device and inode, or the size of a build id and its bytes */
	put32(1);
	put64(99);
	put64(3);
	put32(5);
	put32(2);
	put("/x\0\0\0\0\0", 8);
	put32(7);
	put32(8);
	put64(30);
	put64(11);
}

/* The bit of build ids is right if an event asked for them. */
static void mappings_have_build_ids_if_an_event_asked(void **state)
{
	static const char *const names[] = { "faults", "clocks" };

	(void)state;
	for (unsigned foreign = 0; foreign < 2; foreign++)
		for (unsigned asked = 0; asked < 2; asked++) {
			begin_file(foreign);
			set64(128 + 40, flag(18) | (asked ? flag(34) : 0));
			put_marked_mapping();
			end_file(names, 2);
			assert_int_equal(read_it(), PFMLIB_SUCCESS);
			assert_int_equal(next(), 1);
			assert_int_equal(record.type, PFM_RECORD_MAP2);
			assert_int_equal(record.time, 30);
			assert_string_equal(record.body.map.name, "/x");
			if (asked) {
				assert_non_null(record.body.map.build_id);
				continue;
			}
			assert_null(record.body.map.build_id);
			assert_int_equal(record.body.map.major, 8);
			assert_int_equal(record.body.map.inode, 99);
			assert_int_equal(record.misc, PFM_MISC_USER);
		}
}

static void a_pipe_announces_its_events(void **state)
{
	(void)state;
	for (unsigned foreign = 0; foreign < 2; foreign++) {
		begin_pipe(foreign);
		put_pipe_attr(PERF_COUNT_SW_PAGE_FAULTS, 21);
		put_pipe_attr(PERF_COUNT_SW_CONTEXT_SWITCHES, 22);
		put_head(PERFDATA_RECORD_EVENT_UPDATE, 0, 32);
		put64(PERFDATA_UPDATE_NAME);
		put64(22);
		put("changes", 8);
		put_head(PERFDATA_RECORD_EVENT_UPDATE, 0, 32); /* of an event that is not there */
		put64(PERFDATA_UPDATE_NAME);
		put64(99);
		put("nothing", 8);
		put_sample(22, 1, 2);
		put_pipe_attr(77, 23); /* late; of a kind that has no name */
		put_sample(21, 2, 1);
		put_sample(23, 3, 3);
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		expect_sample(0, 2, 1);
		expect_sample(1, 1, 2);
		expect_sample(2, 3, 3);
		assert_int_equal(next(), 0);
		assert_string_equal(name_of(0), "page-faults");
		assert_string_equal(name_of(1), "changes");
		assert_string_equal(name_of(2), "unnamed");
	}
}

static void one_event_needs_no_ids(void **state)
{
	(void)state;
	begin_file(false);
	set64(32, 80);
	set64(128 + 64 + 8, 0); /* one event, without ids */
	set64(128 + 24, FIELDS & ~(uint64_t)PFM_SAMPLE_IDENTIFIER);
	put_head(PFM_RECORD_SAMPLE, PFM_MISC_USER, 32);
	put64(0x77);
	put32(7);
	put32(8);
	put64(5);
	assert_int_equal(read_it(), PFMLIB_SUCCESS);
	assert_int_equal(pfm_session_size(reading), 1);
	assert_string_equal(name_of(0), "page-faults"); /* from config: no name is recorded */
	expect_sample(0, 0x77, 5);
}

/* Writes one event with call chains of @most frames (0: the kernel's usual 127) and a chain of
 * @frames frames, after a context mark if @mark. */
static void put_chain(bool foreign, unsigned most, unsigned frames, unsigned mark)
{
	enum { ATTR = 120 };

	memset(&file, 0, sizeof(file));
	file.foreign = foreign;
	put64(PERFDATA_MAGIC);
	put64(sizeof(struct perfdata_header));
	put64(ATTR + 16);
	put64(104);
	put64(ATTR + 16);
	put64(104 + ATTR + 16);
	file.n = 104;
	put_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1,
	         PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_CHAIN, false);
	for (unsigned i = 64; i < ATTR; i += 8)
		put64(0);
	file.n = 104 + 4;
	put32(ATTR);
	file.n = 104 + 108;
	put16((uint16_t)most);
	file.n = 104 + ATTR + 16;
	put_head(PFM_RECORD_SAMPLE, PFM_MISC_USER, 8 + 3 * 8 + 8 + 8 * (mark + frames));
	put64(0x77);
	put32(7);
	put32(8);
	put64(5);
	put64(mark + frames);
	if (mark)
		put64((uint64_t)-512);
	for (unsigned i = 0; i < frames; i++)
		put64(0x1000 + i);
}

/* A chain of as many frames as its event takes may have been longer. */
static void a_chain_is_full_where_its_event_says_so(void **state)
{
	static const unsigned rows[][2] = { { 3, 2 },     { 3, 3 },   { 3, 4 },  { 300, 299 },
		                            { 300, 300 }, { 0, 126 }, { 0, 127 } };

	(void)state;
	for (unsigned round = 0; round < 4; round++)
		for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			unsigned most = rows[i][0] ? rows[i][0] : 127, mark = round & 1;

			put_chain(round >> 1, rows[i][0], rows[i][1], mark);
			assert_int_equal(read_it(), PFMLIB_SUCCESS);
			expect_sample(0, 0x77, 5);
			assert_int_equal(record.body.sample.n_chain, rows[i][1] + mark);
			assert_int_equal(record.body.sample.chain[mark], 0x1000);
			assert_int_equal((record.truncated & PFM_TRUNCATED_CHAIN) != 0,
			                 rows[i][1] >= most);
		}
}

static void rounds_sort_what_came_late(void **state)
{
	enum { ROUNDS = 50, SOME = 300 };
	uint64_t time = 0;
	unsigned n = 0;

	(void)state;
	begin_file(false);
	for (unsigned r = 0; r < ROUNDS; r++) {
		for (unsigned i = 0; i < SOME; i++)
			put_sample(11, i,
			           (r + i % 2) * SOME +
			                   i); /* every second one belongs to the next round */
		put_round();
	}
	assert_int_equal(read_it(), PFMLIB_SUCCESS);
	while (next() == 1) {
		assert_true(record.time >= time);
		time = record.time;
		n++;
	}
	assert_int_equal(n, ROUNDS * SOME);
}

struct sent_record {
	uint64_t time;
	uint32_t number; /* in the file */
};

static int compare_sent_records(const void *a, const void *b)
{
	const struct sent_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Linux gives a sample of a software event the id and the time of another session's event, whose
 * clock may be another one: the sample follows the one before it. */
static void times_of_other_clocks_disturb_no_order(void **state)
{
	static const char *const names[] = { "faults", "clocks" };

	(void)state;
	for (unsigned foreign = 0; foreign < 2; foreign++) {
		begin_file(foreign);
		put_sample(11, 0x1000, 30);
		put_sample(77, 0x2000, (uint64_t)1 << 60);
		put_round();
		put_sample(11, 0x3000, 40);
		put_round();
		put_sample(11, 0x4000, 35);
		end_file(names, 2);
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		expect_sample(0, 0x1000, 30);
		expect_sample(0, 0x2000, 30);
		expect_sample(0, 0x4000, 35);
		expect_sample(0, 0x3000, 40);
		assert_int_equal(next(), 0);
	}
}

/* Records of equal times keep the order of the file. The expected order is that of qsort(). */
static void records_in_random_order_are_sorted(void **state)
{
	enum { SOME = 4000 };
	static struct sent_record sent[SOME];

	(void)state;
	/* The more a time may vary, the fewer records come in order. */
	for (uint64_t spread = 1; spread <= 4 * SOME; spread *= 4) {
		unsigned seed = 1;

		begin_file(false);
		for (uint32_t i = 0; i < SOME; i++) {
			seed = seed * 1103515245 + 12345;
			sent[i] = (struct sent_record){ 1 + i + (seed >> 8) % spread, i };
			put_sample(11, i, sent[i].time);
		}
		qsort(sent, SOME, sizeof(*sent), compare_sent_records);
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		for (unsigned i = 0; i < SOME; i++) {
			assert_int_equal(next(), 1);
			assert_int_equal(record.time, sent[i].time);
			assert_int_equal(record.body.sample.ip, sent[i].number);
		}
		assert_int_equal(next(), 0);
	}
}

static void refuses_files_that_are_not_recordings(void **state)
{
	static const struct {
		size_t at;
		uint64_t value;
	} rows[] = {
		{ 0, 0x1122334455667788 }, /* magic */
		{ 8, 105 },                /* size of the head */
		{ 16, 16 },                /* of an entry of attributes: too small, ... */
		{ 16, 5000 },              /* ... too large */
		{ 24, (uint64_t)-8 },      /* attributes are nowhere, ... */
		{ 24, 1u << 30 },          /* ... or past the end */
		{ 32, 40 },                /* less than one */
		{ 32, (uint64_t)1 << 40 }, /* more than any file has */
		{ 40, (uint64_t)1 << 50 }, /* data past the end */
		{ 192, 1u << 30 },         /* ids past the end */
		{ 200, (uint64_t)1 << 60 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_file(false);
		put_sample(11, 1, 1);
		set64(rows[i].at, rows[i].value);
		assert_int_equal(read_it(), PFMLIB_ERR_INVAL);
		assert_int_equal(error.kind, PFM_KIND_IMAGE);
		assert_non_null(strstr(error.detail, "corrupt"));
		assert_null(reading);
	}
	file.n = 12;
	assert_int_equal(read_it(), PFMLIB_ERR_INVAL);
	begin_pipe(false);
	assert_int_equal(read_it(), PFMLIB_ERR_INVAL); /* no event */
	put_head(PERFDATA_RECORD_ATTR, 0, 16);
	put64(0);
	assert_int_equal(read_it(), PFMLIB_ERR_INVAL); /* attributes that are too short */
	begin_pipe(false);
	put_head(PERFDATA_RECORD_ATTR, 0, 8);
	assert_int_equal(read_it(), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_open_recording(NULL, path, &error), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_open_recording(&reading, NULL, &error), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_open_recording(&reading, "/", &error), PFMLIB_ERR_NOTSUPP);
	assert_string_equal(error.detail, "expected a file, got a folder");
}

/* Corrupt names are ignored: the events have their generic names. */
static void names_that_lie_are_left_out(void **state)
{
	static const char *const names[] = { "faults", "clocks" };
	static const struct {
		size_t at;
		uint64_t value;
		const char *first, *second;
	} rows[] = {
		{ 16, 1u << 30, "page-faults", "cycles" }, /* they are past the end */
		{ 24, 4, "page-faults", "cycles" },        /* too few bytes */
		{ 24, 8 + 144 + 80, "faults", "cycles" },  /* only the first is there */
		{ 32 + 8 + 64 + 4, 1000000, "page-faults",
		  "cycles" },                                 /* the first is longer than all */
		{ 32 + 8 + 64, 1000000, "faults", "cycles" }, /* and has more ids */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t end;

		begin_file(false);
		put_sample(11, 1, 1);
		end = file.n;
		end_file(names, 2);
		if (rows[i].at < 32) {
			set64(end + rows[i].at, rows[i].value);
		} else {
			size_t n = file.n;

			file.n = end + rows[i].at;
			put32((uint32_t)rows[i].value);
			file.n = n;
		}
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		assert_string_equal(name_of(0), rows[i].first);
		assert_string_equal(name_of(1), rows[i].second);
	}
}

static void reading_fails_cleanly_without_memory(void **state)
{
	unsigned refused = 0, broken = 0;

	(void)state;
#ifdef STARVE_NOT_HERE
	skip();
#endif
	begin_file(false);
	for (unsigned i = 0; i < 4000; i++)
		put_sample(11 + i % 2, i, i % 500);
	put_round();
	put_sample(11, 1, 9999);
	put_round();
	assert_int_equal(read_it(), PFMLIB_SUCCESS); /* the context is made */
	for (unsigned at = 1;; at++) {
		int rc;

		pfm_close_session(reading);
		starve_hit = false;
		starve_at = at;
		rc = pfm_open_recording(&reading, path, &error);
		if (rc) {
			assert_int_equal(rc, PFMLIB_ERR_NOMEM);
			assert_null(reading);
			refused++;
		}
		while (!rc && (rc = next()) == 1)
			;
		broken += reading && rc == PFMLIB_ERR_NOMEM;
		starve_at = 0;
		if (!starve_hit)
			break;
	}
	assert_true(refused > 5);
	assert_true(broken > 1);
}

/* ---- writing --------------------------------------------------------------------------------- */

static pfm_sampling_t sampling;

static void begin_session(void)
{
	make_machine("uncore");
	fake_file(&fake, "/proc/40/status", "Name:\tmain\nTgid:\t40");
	fake_file(&fake, "/proc/40/task/40/comm", "main");
	fake_file(&fake, "/proc/40/comm", "main");
	fake_file(&fake, "/proc/40/maps",
	          "00400000-00500000 r-xp 00001000 08:01 77 /bin/main\n00500000-00600000 r-xp "
	          "00000000 00:00 0 \n"
	          "00600000-00700000 rw-p 00000000 00:00 0 ");
	sampling = (pfm_sampling_t){ .size = sizeof(sampling),
		                     .pages = 1,
		                     .records = PFM_SIDEBAND_USUAL };
	options.sampling = &sampling;
	options.pid = 40;
	must_open(TEXTS("page-faults", "cycles:period=100"));
}

/* A page fault as the kernel would write it. */
static void fault(uint64_t ip, uint64_t time)
{
	const uint64_t id = fake_id(fake_fd(1));
	struct record_header head = { PFM_RECORD_SAMPLE, PFM_MISC_USER, 48 };
	uint64_t words[6] = { 0, id, ip, 0, time, 0 };

	memcpy(words, &head, sizeof(head));
	assert_true(fake_record(&fake, fake_fd(1), words, sizeof(words)));
}

static void reads_recordings_of_scripted_kernels(void **state)
{
	uint64_t before, after;
	bool named = false, mapped = false;
	unsigned samples = 0, maps = 0;

	(void)state;
	begin_session();
	assert_int_equal(pfm_create_recording(&recording, path, session, "pfm\nrecord", &error),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_write_records(recording, &before), PFMLIB_SUCCESS);
	fault(0x401000, 5);
	fault(0x402000, 6);
	assert_int_equal(pfm_write_records(recording, &after), PFMLIB_SUCCESS);
	assert_int_equal(after - before, 2 * 48 + 8);
	assert_int_equal(pfm_close_recording(recording), PFMLIB_SUCCESS);
	recording = NULL;
	assert_int_equal(pfm_open_recording(&reading, path, &error), PFMLIB_SUCCESS);
	while (next() == 1) {
		named |= record.type == PFM_RECORD_COMM && !strcmp(record.body.comm.name, "main");
		mapped |= record.type == PFM_RECORD_MAP2 && record.body.map.start == 0x400000 &&
		          record.body.map.offset == 0x1000 &&
		          !strcmp(record.body.map.name, "/bin/main");
		maps += record.type == PFM_RECORD_MAP2;
		if (record.type == PFM_RECORD_MAP2 && record.body.map.start == 0x500000)
			assert_string_equal(record.body.map.name, "//anon");
		samples += record.type == PFM_RECORD_SAMPLE && record.event == 0 &&
		           record.body.sample.ip == 0x401000 + 0x1000u * samples;
	}
	assert_true(named && mapped);
	assert_int_equal(maps, 2); /* the mapping of data is omitted */
	assert_int_equal(samples, 2);
	assert_string_equal(name_of(1), "cycles:period=100");
}

/* Reads the five words that describe the compression of this machine's recording: version, type,
 * level, ratio, buffer size. */
static void read_packing(uint32_t words[5])
{
	struct perfdata_header head;
	uint64_t section[2];
	uint64_t before;
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_int_equal(fread(&head, sizeof(head), 1, f), 1);
	memcpy(&before, (const uint8_t *)&head + 72, sizeof(before));
	assert_true(before >> PERFDATA_FEATURE_COMPRESSED & 1);
	before &= ((uint64_t)1 << PERFDATA_FEATURE_COMPRESSED) - 1;
	memcpy(section, (const uint8_t *)&head + 40, sizeof(section));
	assert_int_equal(fseek(f,
	                       (long)(section[0] + section[1]) + 16 * __builtin_popcountll(before),
	                       SEEK_SET),
	                 0);
	assert_int_equal(fread(section, sizeof(section), 1, f), 1);
	assert_int_equal(section[1], 20);
	assert_int_equal(fseek(f, (long)section[0], SEEK_SET), 0);
	assert_int_equal(fread(words, 4, 5, f), 5);
	fclose(f);
}

/* No data was written, so the compression ratio is 1. */
static void packs_no_single_items(void **state)
{
	static const uint32_t want[] = { 0, 1, 3, 1, 65536 };
	uint32_t words[5];

	(void)state;
	begin_session();
	assert_int_equal(pfm_create_recording(&recording, path, session, NULL, &error),
	                 PFMLIB_SUCCESS);
	if (pfm_compress_recording(recording, 3) == PFMLIB_ERR_NOTSUPP) {
		print_message("# SKIP no libzstd.so.1\n");
		skip();
	}
	assert_int_equal(pfm_close_recording(recording), PFMLIB_SUCCESS);
	recording = NULL;
	read_packing(words);
	assert_memory_equal(words, want, sizeof(want));
}

/* Compressed records are at most a third of the size and read back equal, also across the ends
 * of buffers and of compressed records. */
static void packed_texts_read_back_equal(void **state)
{
	enum { SAMPLES = 4000 };
	uint64_t size = 0;
	uint32_t words[5];
	unsigned n = 0;

	(void)state;
	begin_session();
	assert_int_equal(pfm_compress_recording(NULL, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_create_recording(&recording, path, session, NULL, &error),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_compress_recording(recording, 0), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_compress_recording(recording, 23), PFMLIB_ERR_INVAL);
	if (pfm_compress_recording(recording, 1) == PFMLIB_ERR_NOTSUPP) {
		print_message("# SKIP no libzstd.so.1\n");
		skip();
	}
	assert_int_equal(pfm_compress_recording(recording, 1), PFMLIB_ERR_INVAL); /* once */
	for (unsigned i = 0; i < SAMPLES; i++) {
		fault(0x401000 + i, i + 1);
		if (i % 77 == 76) /* a buffer of one page holds 85 */
			assert_int_equal(pfm_write_records(recording, &size), PFMLIB_SUCCESS);
	}
	assert_int_equal(pfm_close_recording(recording), PFMLIB_SUCCESS);
	recording = NULL;
	assert_in_range(size, 1, SAMPLES * 48 / 3);
	read_packing(words);
	assert_true(words[0] == 0 && words[1] == 1 && words[2] == 1 && words[3] >= 3 &&
	            words[4] == 65536);
	assert_int_equal(pfm_open_recording(&reading, path, &error), PFMLIB_SUCCESS);
	while (next() == 1)
		if (record.type == PFM_RECORD_SAMPLE) {
			assert_int_equal(record.body.sample.ip, 0x401000 + n);
			n++;
		}
	assert_int_equal(n, SAMPLES);
}

/* Writes a compressed record of type @type; @excess is added to its stated size if it has one. */
static void put_packed_as(uint32_t type, const void *bytes, size_t n, size_t excess)
{
	static uint8_t packed[UINT16_MAX];
	struct zstd_codec *z = pfmi_perfdata_open_zstd();
	size_t size, fill = 0;

	if (!z) {
		print_message("# SKIP no libzstd.so.1\n");
		skip();
	}
	size = pfmi_perfdata_compress_frame(z, packed, sizeof(packed) - 8, bytes, n, 1);
	pfmi_perfdata_close_zstd(z);
	assert_true(size > 0);
	if (type == PERFDATA_RECORD_COMPRESSED2)
		fill = -size % 8;
	put_head(type, 0, (type == PERFDATA_RECORD_COMPRESSED2 ? 16 : 8) + size + fill);
	if (type == PERFDATA_RECORD_COMPRESSED2)
		put64(size + excess);
	put(packed, size);
	put("\xff\xff\xff\xff\xff\xff\xff", fill);
}

static void put_packed(const void *bytes, size_t n)
{
	put_packed_as(PERFDATA_RECORD_COMPRESSED, bytes, n, 0);
}

/* Since Linux 6.16 a compressed record states its size and is padded; on a machine of either
 * byte order. */
static void pieces_that_are_filled_up_are_unpacked(void **state)
{
	(void)state;
	for (unsigned foreign = 0; foreign < 2; foreign++) {
		uint8_t plain[40 * 7];

		begin_file(foreign);
		for (unsigned i = 0; i < 7; i++)
			put_sample(11, i, i);
		memcpy(plain, file.bytes + 288, sizeof(plain));
		file.n = 288;
		for (unsigned i = 0; i < 7;
		     i++) /* different lengths, so that records continue in the next piece */
			put_packed_as(PERFDATA_RECORD_COMPRESSED2, plain + 41 * i, i < 6 ? 41 : 34,
			              0);
		set64(48, file.n - 288);
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		for (unsigned i = 0; i < 7; i++)
			expect_sample(0, i, i);
		assert_int_equal(next(), 0);
		assert_false(broke_off());
		put_packed_as(PERFDATA_RECORD_COMPRESSED2, plain, 40, 8); /* too many bytes */
		put_sample(11, 9, 9);
		set64(48, file.n - 288);
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		for (unsigned i = 0; i < 7; i++)
			expect_sample(0, i, i);
		assert_int_equal(next(), 0);
		assert_true(broke_off());
	}
}

/* A record may begin in one compressed record and end in the next. Damaged data, or data that
 * unpacks to more than the limit, ends the reading. */
static void packed_pieces_that_lie_end_the_reading(void **state)
{
	enum { HUGE_SIZE = 80 << 20 };
	uint8_t sample[40], *zeros = calloc(1, HUGE_SIZE);
	size_t at;

	(void)state;
	begin_file(false);
	put_sample(11, 1, 1);
	memcpy(sample, file.bytes + file.n - 40, 40);
	file.n -= 40;
	put_packed(sample, 17);
	put_packed(sample + 17, 23);
	put_round();
	at = file.n;
	put_packed(zeros, HUGE_SIZE);
	free(zeros);
	put_sample(11, 2, 2);
	assert_int_equal(read_it(), PFMLIB_SUCCESS);
	expect_sample(0, 1, 1);
	assert_int_equal(next(), 0);
	memset(file.bytes + at + 8, 0x55, 4); /* no frame begins like that */
	assert_int_equal(read_it(), PFMLIB_SUCCESS);
	expect_sample(0, 1, 1);
	assert_int_equal(next(), 0);
	file.n = at;
	put_packed("\0\0\0\0\0\0\0\0", 8); /* not a record */
	put_sample(11, 2, 2);
	assert_int_equal(read_it(), PFMLIB_SUCCESS);
	expect_sample(0, 1, 1);
	assert_int_equal(next(), 0);
	file.n = at;
	put_head(PERFDATA_RECORD_COMPRESSED2, 0, 8); /* no room for the number of its bytes */
	assert_int_equal(read_it(), PFMLIB_SUCCESS);
	expect_sample(0, 1, 1);
	assert_int_equal(next(), 0);
	assert_true(broke_off());
}

/* The layout of a tracepoint's fields is stored once for each tracepoint, and only if the format
 * file describes that event. */
static void formats_of_tracepoints_are_kept(void **state)
{
	static const char format[] = "name: sched_switch\nID: 372\nformat:\n\tfield:int prev_pid; "
				     "offset:8; size:4; signed:1;";
	static char text[1 << 16];
	const char *at;
	unsigned found = 0;
	size_t n;
	FILE *f;

	(void)state;
	make_machine("uncore");
	fake_file(&fake, "/sys/kernel/tracing/events/sched/sched_switch/format", format);
	fake_file(&fake, "/sys/kernel/tracing/events/header_page",
	          "\tfield: u64 timestamp; offset:0; size:8; signed:0;");
	sampling =
		(pfm_sampling_t){ .size = sizeof(sampling), .pages = 1, .fields = PFM_SAMPLE_RAW };
	options.sampling = &sampling;
	for (unsigned wrong = 0; wrong < 2; wrong++) {
		must_open(
			TEXTS("sched:sched_switch", "sched:sched_switch:period=2", "page-faults"));
		if (wrong)
			fake_file(&fake, "/sys/kernel/tracing/events/sched/sched_switch/format",
			          "name: another\nID: 373");
		assert_int_equal(pfm_create_recording(&recording, path, session, NULL, &error),
		                 PFMLIB_SUCCESS);
		assert_int_equal(pfm_close_recording(recording), PFMLIB_SUCCESS);
		recording = NULL;
		end_session();
		f = fopen(path, "r");
		n = fread(text, 1, sizeof(text), f);
		fclose(f);
		found = 0;
		for (at = text; (at = memmem(at, (size_t)(text + n - at), "ID: 37", 6)); at++)
			found++;
		assert_int_equal(found, wrong ? 0 : 1);
		assert_true((memmem(text, n, "\x17\x08\x44tracing0.6", 14) != NULL) == !wrong);
	}
}

/* Samples lost after the last record, when no buffer had room to report them: the recording has
 * the losses of each event. */
static void losses_without_a_record_are_kept(void **state)
{
	static const uint64_t lost[] = { 7, 0, 9 };
	static const uint64_t config[] = { PERF_COUNT_SW_PAGE_FAULTS,
		                           PERF_COUNT_SW_CONTEXT_SWITCHES,
		                           PERF_COUNT_SW_CPU_MIGRATIONS };
	unsigned told = 0;

	(void)state;
	make_machine("uncore");
	sampling = (pfm_sampling_t){ .size = sizeof(sampling),
		                     .pages = 1,
		                     .fields = PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME };
	options.sampling = &sampling;
	must_open(TEXTS("page-faults", "context-switches", "cpu-migrations"));
	for (unsigned i = 0; i < fake.n_events; i++)
		for (unsigned k = 0; k < 3; k++)
			if (event_text(i)->used &&
			    event_text(i)->a.attr.type == PERF_TYPE_SOFTWARE &&
			    event_text(i)->a.attr.config == config[k])
				event_text(i)->lost = lost[k];
	assert_int_equal(pfm_create_recording(&recording, path, session, NULL, &error),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_close_recording(recording), PFMLIB_SUCCESS);
	recording = NULL;
	end_session();
	assert_int_equal(pfm_open_recording(&reading, path, &error), PFMLIB_SUCCESS);
	record.size = sizeof(record);
	while (pfm_next_record(reading, &record) == 1) {
		if (record.type != PFM_RECORD_LOST_SAMPLES)
			continue;
		assert_true(record.event < 3 && lost[record.event] &&
		            record.body.lost.lost == lost[record.event] && record.unparsed == 0);
		told |= 1u << record.event;
	}
	assert_int_equal(told, 5);
}

/* A recording has the attributes of an event to its last configuration word; one without later
 * words has the 128 bytes of attributes that the perf of Linux 6.1 reads. */
static void keeps_all_configuration_words(void **state)
{
	static const struct {
		const char *text;
		uint64_t config3, config4;
		size_t entry; /* bytes of attributes and of a section of ids */
	} rows[] = {
		{ "wide/event=1,config1=5,config2=6/", 0, 0, 128 + 16 },
		{ "wide/event=1,config1=5,config2=6,far=0x77/", 0x77, 0, 136 + 16 },
		{ "wide/event=1,config1=5,config2=6,further=0x66/", 0, 0x66, 144 + 16 },
	};
	pfm_count_info_t info = PFM_INIT(info);
	uint64_t head[3];
	FILE *f;

	(void)state;
	make_machine("uncore");
	fake_file(&fake, "/sys/bus/event_source/devices/wide/type", "60");
	fake_file(&fake, "/sys/bus/event_source/devices/wide/format/event", "config:0-7");
	fake_file(&fake, "/sys/bus/event_source/devices/wide/format/far", "config3:0-7");
	fake_file(&fake, "/sys/bus/event_source/devices/wide/format/further", "config4:0-7");
	sampling = (pfm_sampling_t){ .size = sizeof(sampling), .pages = 1, .period = 100 };
	options.sampling = &sampling;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		must_open(&rows[i].text, 1);
		assert_int_equal(pfm_create_recording(&recording, path, session, NULL, &error),
		                 PFMLIB_SUCCESS);
		assert_int_equal(pfm_close_recording(recording), PFMLIB_SUCCESS);
		recording = NULL;
		end_session();
		f = fopen(path, "r");
		assert_int_equal(fread(head, sizeof(head[0]), 3, f), 3);
		fclose(f);
		assert_int_equal(head[2], rows[i].entry);
		assert_int_equal(pfm_open_recording(&reading, path, &error), PFMLIB_SUCCESS);
		assert_int_equal(pfm_describe_count(reading, 0, &info), PFMLIB_SUCCESS);
		assert_true(info.attr.type == 60 && info.attr.config == 1);
		assert_true(info.attr.config1 == 5 && info.attr.config2 == 6);
		assert_true(info.attr.config3 == rows[i].config3 &&
		            info.attr.config4 == rows[i].config4);
		pfm_close_session(reading);
		reading = NULL;
	}
}

/* Writes the layout of tracepoint 372 as perf writes it into its files, without its last @cut
 * bytes. */
static void put_tracing(size_t cut)
{
	static const char other[] =
		"name: nobody\nID: 37\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n";
	static const char format[] =
		"name: some\nID: 372\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:int less;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\tfield:const char * at;\toffset:8;\tsize:%c;\tsigned:0;\n"
		"\tfield:char name[4];\toffset:16;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc char[] text;\toffset:20;\tsize:4;\tsigned:0;\n"
		"\tfield:__rel_loc char[] more;\toffset:24;\tsize:4;\tsigned:0;\n"
		"\tfield:u8 far;\toffset:4000;\tsize:1;\tsigned:0;\n"
		"\nprint fmt: \"%%d\", REC->less\n";
	size_t start = file.n, len;
	char text[sizeof(format)];

	put("\x17\x08\x44tracing"
	    "0.6",
	    14);
	put(file.narrow ? "\0\x04" : "\0\x08", 2);
	put32(4096);
	put("header_page", 12);
	put64(3);
	put("abc", 3);
	put("header_event", 13);
	put64(0);
	put32(1);
	put64(sizeof(other) - 1);
	put(other, sizeof(other) - 1);
	put32(2);
	put("first", 6);
	put32(1);
	put64(sizeof(other) - 1);
	put(other, sizeof(other) - 1);
	put("second", 7);
	put32(1);
	len = (size_t)snprintf(text, sizeof(text), format, file.narrow ? '4' : '8');
	put64(len);
	put(text, len);
	put32(0);
	put32(0);
	put64(0);
	file.n = cut > file.n - start ? start : file.n - cut;
}

static void put_trace_sample(void)
{
	put_head(PFM_RECORD_SAMPLE, PFM_MISC_KERNEL, 8 + 32 + 48);
	put64(21);
	put64(0x1000);
	put32(7);
	put32(8);
	put64(5);
	put32(44);
	put16(372);
	put16(0);
	put32((uint32_t)-5);
	if (file.narrow) {
		put32(0xc0008123);
		put32(0x5a5a5a5a);
	} else {
		put64(0xffff800000000123);
	}
	put("abc", 4);
	put32(4u << 16 | 28);
	put32(3u << 16 | 4); /* counted from where this word ends */
	put("four", 4);
	put("six", 4);
	put("\0\0\0\0\0\0\0", 8);
}

static void expect_field(const char *name, const char *type, uint32_t flags, uint64_t value,
                         const char *bytes, uint32_t n)
{
	pfm_trace_field_t f = PFM_INIT(f);
	const void *at = NULL;
	uint64_t v = 77;
	uint32_t len = 0;

	assert_int_equal(pfm_find_trace_field(reading, 0, name, &f), PFMLIB_SUCCESS);
	assert_string_equal(f.type, type);
	assert_int_equal(f.flags, flags);
	assert_int_equal(pfm_read_trace_field(reading, &record, &f, &v, &at, &len), PFMLIB_SUCCESS);
	assert_true(v == value);
	assert_int_equal(len, n);
	assert_true(!bytes || memcmp(at, bytes, n) == 0);
}

static void begin_trace(bool foreign, bool pipe, size_t cut)
{
	bool narrow = file.narrow;
	size_t at;

	begin_pipe(foreign);
	if (!pipe)
		begin_file(foreign);
	file.narrow = narrow;
	if (!pipe) {
		set64(32, 80); /* one event */
		set64(128 + 8, 372);
		set64(128 + 24, FIELDS | PFM_SAMPLE_RAW);
		set64(128 + 64 + 8, 8);
		set64(104, 21);
		file.n = 128;
		put32(PERF_TYPE_TRACEPOINT);
		file.n = 288;
		put_trace_sample();
		at = file.n;
		set64(48, at - 288);
		set64(72, 1u << PERFDATA_FEATURE_TRACING);
		put64(at + 16);
		put64(0);
		put_tracing(cut);
		set64(at + 8, file.n - at - 16);
		return;
	}
	put_head(PERFDATA_RECORD_ATTR, 0, 8 + 64 + 8);
	put_attr(PERF_TYPE_TRACEPOINT, 372, 1, FIELDS | PFM_SAMPLE_RAW, false);
	put64(21);
	at = file.n + 16;
	put_head(PERFDATA_RECORD_TRACING_DATA, 0, 16);
	put64(0);
	put_tracing(cut);
	put("\0\0\0\0\0\0\0", -(file.n - at) % 8);
	cut = file.n;
	file.n = at - 8;
	put32((uint32_t)(cut - at));
	file.n = cut;
	put_trace_sample();
}

/* From a machine of either byte order, a file or a pipe. */
static void fields_of_tracepoints_are_read_by_name(void **state)
{
	pfm_trace_field_t f = PFM_INIT(f);

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		begin_trace(i & 1, i & 2, 0);
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		expect_sample(0, 0x1000, 5);
		assert_int_equal(record.unparsed, 0);
		expect_field("common_type", "unsigned short", 0, 372, NULL, 2);
		expect_field("less", "int", PFM_TRACE_SIGNED, (uint64_t)-5, NULL, 4);
		expect_field("at", "const char *", 0, 0xffff800000000123, NULL, 8);
		expect_field("name", "char", PFM_TRACE_ARRAY, 0, "abc", 4);
		expect_field("text", "char", PFM_TRACE_DYNAMIC, 0, "four", 4);
		expect_field("more", "char", PFM_TRACE_DYNAMIC | PFM_TRACE_RELATIVE, 0, "six", 3);
		assert_int_equal(pfm_find_trace_field(reading, 0, "far", &f), PFMLIB_SUCCESS);
		assert_int_equal(pfm_read_trace_field(reading, &record, &f, NULL, NULL, NULL),
		                 PFMLIB_ERR_NOTFOUND);
		assert_int_equal(pfm_find_trace_field(reading, 0, "a", &f), PFMLIB_ERR_NOTFOUND);
		assert_int_equal(pfm_find_trace_field(reading, 1, "less", &f), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_describe_trace_field(reading, 0, 7, &f), PFMLIB_ERR_NOTFOUND);
		assert_int_equal(pfm_find_trace_field(reading, 0, NULL, &f), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_find_trace_field(reading, 0, "less", NULL), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_read_trace_field(reading, NULL, &f, NULL, NULL, NULL),
		                 PFMLIB_ERR_INVAL);
		assert_int_equal(next(), 0);
	}
}

/* Data after a record of a pipe may be longer than one read and is not parsed as records. */
static void accepts_long_data_after_a_record(void **state)
{
	enum { LONG = (1 << 18) + 9 };
	static const uint8_t zeros[LONG];
	const uint8_t *at;
	size_t len;
	bool foreign;

	(void)state;
	for (unsigned type = 0; type < 2; type++) {
		begin_pipe(false);
		put_pipe_attr(PERF_COUNT_SW_PAGE_FAULTS, 21);
		if (type) {
			put_head(PERFDATA_RECORD_AUXTRACE, 0, 16);
			put64(LONG);
		} else {
			put_head(PERFDATA_RECORD_TRACING_DATA, 0, 12);
			put32(LONG);
		}
		put(zeros, LONG - 1);
		put("\1", 1);
		put_sample(21, 0x1000, 5);
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		expect_sample(0, 0x1000, 5);
		assert_int_equal(next(), 0);
		assert_false(broke_off());
		at = pfmi_perfdata_get_tracing_data(reading, &len, &foreign);
		assert_true(type ? !at && !len
		                 : len == LONG && at[LONG - 1] == 1 && at[LONG - 2] == 0);
		file.n -= 40 + LONG / 2; /* cut off within it */
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		assert_int_equal(next(), 0);
	}
	begin_pipe(false);
	put_pipe_attr(PERF_COUNT_SW_PAGE_FAULTS, 21);
	put_head(PERFDATA_RECORD_TRACING_DATA, 0, 12);
	put32((1u << 26) + 1); /* more than the limit: skipped, and the file ends within it */
	put_sample(21, 0x1000, 5);
	assert_int_equal(read_it(), PFMLIB_SUCCESS);
	assert_int_equal(next(), 0);
	assert_null(pfmi_perfdata_get_tracing_data(reading, &len, &foreign));
}

/* A cut is reported also where a record ends, and where the writer was killed before it stored
 * the size of the data. */
static void reports_recordings_cut_between_records(void **state)
{
	(void)state;
	for (unsigned missing = 0; missing < 3; missing++) {
		begin_file(missing == 1);
		for (unsigned i = 0; i < 3; i++)
			put_sample(11, i, i);
		set64(48, missing == 2 ? 0 : file.n - 288);
		file.n -= missing == 1 ? 40 : 0;
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		for (unsigned i = 0; i < (missing == 1 ? 2u : 3u); i++)
			expect_sample(0, i, i);
		assert_int_equal(next(), 0);
		assert_int_equal(broke_off(), missing > 0);
	}
}

/* A program may have closed its input: 0 is a descriptor like any other. */
static void a_recording_is_descriptor_0(void **state)
{
	int input, rc;

	(void)state;
	begin_pipe(false);
	put_pipe_attr(PERF_COUNT_SW_PAGE_FAULTS, 21);
	put_sample(21, 0x1000, 5);
	assert_int_equal(read_it(), PFMLIB_SUCCESS);
	pfm_close_session(reading);
	reading = NULL;
	input = dup(0);
	if (input >= 0)
		close(0);
	rc = pfm_open_recording(&reading, path, &error);
	if (!rc)
		expect_sample(0, 0x1000, 5);
	pfm_close_session(reading);
	reading = NULL;
	if (input >= 0 && dup2(input, 0) == 0)
		close(input);
	assert_int_equal(rc, PFMLIB_SUCCESS);
}

/* A 32-bit machine writes 64-bit words like all others; only its pointers in the data of
 * tracepoints, its registers and its stack are narrow. */
static void a_recording_of_32_bits_is_read(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		file.narrow = true;
		begin_trace(i & 1, i & 2, 0);
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		expect_sample(0, 0x1000, 5);
		expect_field("less", "int", PFM_TRACE_SIGNED, (uint64_t)-5, NULL, 4);
		expect_field("at", "const char *", 0, 0xc0008123, NULL, 4);
		expect_field("text", "char", PFM_TRACE_DYNAMIC, 0, "four", 4);
	}
	for (unsigned foreign = 0; foreign < 2; foreign++) {
		begin_file(foreign);
		set64(128 + 24, FIELDS | PFM_SAMPLE_CHAIN | PFM_SAMPLE_REGS | PFM_SAMPLE_STACK);
		put_head(PFM_RECORD_SAMPLE, PFM_MISC_USER, 40 + 40 + 24 + 24);
		put64(11);
		put64(0xbefff000);
		put32(7);
		put32(8);
		put64(5);
		put64(4);
		put64(PFM_CHAIN_KERNEL);
		put64(0xc0008000);
		put64(PFM_CHAIN_USER);
		put64(0xbefff000);
		put64(1); /* registers of 32 bits, of which none were asked for by an attribute of
		             64 bytes */
		put64(8);
		put("\1\2\3\4\5\6\7\10", 8);
		put64(4);
		put("\0\0\0\0\0\0\0", 8); /* of a newer kernel */
		put("\0\0\0\0\0\0\0", 8);
		end_file((const char *const[]){ "faults" }, 1);
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		expect_sample(0, 0xbefff000, 5);
		assert_int_equal(record.body.sample.n_chain, 4);
		assert_true(record.body.sample.chain[0] == PFM_CHAIN_KERNEL &&
		            record.body.sample.chain[1] == 0xc0008000);
		assert_true(record.body.sample.chain[2] == PFM_CHAIN_USER &&
		            record.body.sample.chain[3] == 0xbefff000);
		assert_int_equal(record.body.sample.regs.abi, 1);
		assert_int_equal(record.body.sample.stack_size, 8);
		assert_int_equal(record.body.sample.stack_used, 4);
		assert_memory_equal(record.body.sample.stack, "\1\2\3\4\5\6\7\10", 8);
		assert_int_equal(next(), 0);
	}
}

/* A layout that is cut anywhere is ignored; the samples are still read. */
static void descriptions_that_are_cut_describe_nothing(void **state)
{
	pfm_trace_field_t f = PFM_INIT(f);

	(void)state;
	for (size_t cut = 17; cut < 900; cut++) {
		begin_trace(cut & 1, false, cut);
		assert_int_equal(read_it(), PFMLIB_SUCCESS);
		expect_sample(0, 0x1000, 5);
		assert_int_equal(pfm_find_trace_field(reading, 0, "less", &f), PFMLIB_ERR_NOTSUPP);
	}
}

static void reports_full_disk(void **state)
{
	(void)state;
	begin_session();
	assert_int_equal(pfm_create_recording(&recording, "/dev/full", session, NULL, &error),
	                 PFMLIB_ERR_SYS);
	assert_int_equal(error.sys_errno, ENOSPC);
	assert_null(recording);
	assert_int_equal(pfm_create_recording(&recording, "/nowhere/at/all", session, NULL, &error),
	                 PFMLIB_ERR_SYS);
	assert_int_equal(error.sys_errno, ENOENT);
	assert_int_equal(pfm_create_recording(NULL, path, session, NULL, &error), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_write_records(NULL, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_close_recording(NULL), PFMLIB_SUCCESS);
}

/* The disk fills up later: data written before stays, and every later call reports the error. */
static void reports_disk_that_fills_up(void **state)
{
	struct stat st;
	int fd, full;

	(void)state;
	begin_session();
	assert_int_equal(pfm_create_recording(&recording, path, session, NULL, &error),
	                 PFMLIB_SUCCESS);
	assert_int_equal(stat(path, &st), 0);
	full = open("/dev/full", O_RDWR);
	if (full < 0)
		skip();
	/* /dev/full replaces the file under the recording's descriptor. */
	for (fd = 3; fd < 64; fd++) {
		struct stat other;

		if (fstat(fd, &other) == 0 && other.st_ino == st.st_ino &&
		    other.st_dev == st.st_dev)
			break;
	}
	assert_true(fd < 64);
	assert_int_equal(dup2(full, fd), fd);
	close(full);
	fault(1, 1);
	assert_int_equal(pfm_write_records(recording, NULL), PFMLIB_ERR_SYS);
	assert_int_equal(pfm_session_errno(session), ENOSPC);
	assert_int_equal(pfm_write_records(recording, NULL), PFMLIB_ERR_SYS);
	assert_int_equal(pfm_close_recording(recording), PFMLIB_ERR_SYS);
	assert_int_equal(pfm_session_errno(session), ENOSPC);
	recording = NULL;
}

static off_t size_of_file(void)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

/* A recording that reported no failure is complete. */
static void recording_with_little_memory(void **state)
{
	unsigned refused = 0;
	off_t whole;

	(void)state;
#ifdef STARVE_NOT_HERE
	skip();
#endif
	begin_session();
	assert_int_equal(pfm_create_recording(&recording, path, session, "x", &error),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_close_recording(recording), PFMLIB_SUCCESS);
	whole = size_of_file();
	for (unsigned at = 1;; at++) {
		int rc;

		starve_hit = false;
		starve_at = at;
		rc = pfm_create_recording(&recording, path, session, "x", &error);
		starve_at = 0;
		if (rc == 0) {
			assert_int_equal(pfm_close_recording(recording), PFMLIB_SUCCESS);
			assert_int_equal(size_of_file(), whole);
		}
		recording = NULL;
		if (!starve_hit)
			break;
		refused += rc != 0;
	}
	assert_true(refused >= 2);
}

static int set_up(void **state)
{
	int fd;

	(void)state;
	memcpy(path + strlen(path) - 6, "XXXXXX", 6);
	fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int tear_down(void **state)
{
	pfm_close_recording(recording);
	pfm_close_session(reading);
	reading = NULL;
	recording = NULL;
	unlink(path);
	return done(state);
}

int main(void)
{
#define ROW(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		ROW(a_file_of_either_byte_order_is_read_the_same),
		ROW(mappings_have_build_ids_if_an_event_asked),
		ROW(a_pipe_announces_its_events),
		ROW(one_event_needs_no_ids),
		ROW(a_chain_is_full_where_its_event_says_so),
		ROW(rounds_sort_what_came_late),
		ROW(times_of_other_clocks_disturb_no_order),
		ROW(records_in_random_order_are_sorted),
		ROW(refuses_files_that_are_not_recordings),
		ROW(names_that_lie_are_left_out),
		ROW(reading_fails_cleanly_without_memory),
		ROW(reads_recordings_of_scripted_kernels),
		ROW(formats_of_tracepoints_are_kept),
		ROW(losses_without_a_record_are_kept),
		ROW(keeps_all_configuration_words),
		ROW(fields_of_tracepoints_are_read_by_name),
		ROW(accepts_long_data_after_a_record),
		ROW(a_recording_is_descriptor_0),
		ROW(a_recording_of_32_bits_is_read),
		ROW(descriptions_that_are_cut_describe_nothing),
		ROW(packs_no_single_items),
		ROW(packed_texts_read_back_equal),
		ROW(packed_pieces_that_lie_end_the_reading),
		ROW(pieces_that_are_filled_up_are_unpacked),
		ROW(reports_recordings_cut_between_records),
		ROW(reports_full_disk),
		ROW(reports_disk_that_fills_up),
		ROW(recording_with_little_memory),
	};

	return cmocka_run_group_tests_name("data_read", tests, NULL, NULL);
}
