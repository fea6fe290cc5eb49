/* SPDX-License-Identifier: MIT */
/* Records of the state before sampling, made from a scripted /proc. Each task name and each
 * executable mapping gives the record that the kernel would have written; unreadable files are
 * omitted. */
#include "bare_session.h"
#include <errno.h>

static struct sampling_state sampling;

static _Alignas(8) uint8_t records[64][5120];
static size_t sizes[64];
static unsigned n, fail_at;

static int put(void *arg, const void *bytes, size_t size)
{
	assert_ptr_equal(arg, records);
	assert_true(n < 64 && size <= sizeof(records[0]));
	memcpy(records[n], bytes, size);
	sizes[n++] = size;
	return fail_at && n >= fail_at ? -EIO - (int)(n - fail_at) : 0;
}

static int begin_record(void **state)
{
	(void)state;
	if (!begin_bare())
		return -1;
	memset(&sampling, 0, sizeof(sampling));
	s->sampling = &sampling;
	s->options.pid = 42;
	n = fail_at = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	end_bare();
	return 0;
}

static int before(void)
{
	n = 0;
	return pfmi_perfdata_synthesize_records(s, put, records);
}

static uint64_t number(unsigned i, size_t at, size_t bytes)
{
	uint32_t narrow;
	uint16_t half;
	uint64_t wide;

	memcpy(&wide, records[i] + at, sizeof(wide));
	memcpy(&narrow, records[i] + at, sizeof(narrow));
	memcpy(&half, records[i] + at, sizeof(half));
	return bytes == 2 ? half : bytes == 4 ? narrow : wide;
}

/* The head, and zeros from @at on. */
static void expect_head(unsigned i, uint32_t type, uint16_t misc, uint32_t pid, uint32_t tid,
                        size_t size, size_t at)
{
	assert_true(i < n);
	assert_int_equal(sizes[i], size);
	assert_true(number(i, 0, 4) == type && number(i, 4, 2) == misc && number(i, 6, 2) == size);
	assert_true(number(i, 8, 4) == pid && number(i, 12, 4) == tid);
	for (; at < size; at++)
		assert_int_equal(records[i][at], 0);
}

static void expect_name(unsigned i, uint32_t pid, uint32_t tid, const char *name)
{
	expect_head(i, PFM_RECORD_COMM, 0, pid, tid, 16 + ((strlen(name) + 8) & ~(size_t)7),
	            16 + strlen(name));
	assert_string_equal(records[i] + 16, name);
}

static void expect_map(unsigned i, uint32_t pid, const uint64_t where[3], const uint32_t device[2],
                       uint64_t inode, uint32_t flags, const char *name)
{
	expect_head(i, PFM_RECORD_MAP2, PFM_MISC_USER, pid, pid,
	            72 + ((strlen(name) + 8) & ~(size_t)7), 72 + strlen(name));
	for (unsigned k = 0; k < 3; k++)
		assert_true(number(i, 16 + 8 * k, 8) == where[k]);
	assert_true(number(i, 40, 4) == device[0] && number(i, 44, 4) == device[1]);
	assert_true(number(i, 48, 8) == inode && number(i, 56, 8) == 0);
	assert_true(number(i, 64, 4) == 5 &&
	            number(i, 68, 4) == flags); /* may be read and executed */
	assert_string_equal(records[i] + 72, name);
}

static void writes_a_name_for_each_thread(void **state)
{
	(void)state;
	fake_file(&fake, "/proc/42/task/42/comm", "seven77");
	fake_file(&fake, "/proc/42/task/43/comm", "eight888");
	fake_file(&fake, "/proc/42/task/44/comm", "");
	fake_file(&fake, "/proc/42/task/45/stat", "no name");
	fake_file(&fake, "/proc/42/task/self/comm", "no number");
	fake_file(&fake, "/proc/43/task/43/comm", "another");
	assert_int_equal(before(), 0);
	assert_int_equal(n, 2);
	expect_name(0, 42, 42, "seven77");
	expect_name(1, 42, 43, "eight888");
	/* Without a PID the target is the current process, which is not in the scripted /proc. */
	s->options.pid = 0;
	assert_int_equal(before(), 0);
	assert_int_equal(n, 0);
}

static void writes_mappings_with_code(void **state)
{
	(void)state;
	fake_file(&fake, "/proc/42/maps",
	          "00400000-00452000 r-xp 00001000 08:02 173521 /usr/bin/x y\n"
	          "00651000-00652000 r--p 00051000 08:02 173521 /usr/bin/x y\n"
	          "00652000-00655000 rw-p 00052000 08:02 173521 /usr/bin/x y\n"
	          "7f00000000-7f00001000 r-xs 00000000 fe:0a 9 /dev/zero (deleted)\n"
	          "7f10000000-7f10001000 rwxp 00000000 00:00 0 \n"
	          "7f20000000-7f20001000 rwxp 00000000 00:00 0\n"
	          "garbage\n"
	          "\n"
	          "7f30000000-7f30001000 r-xp 00000000 00:00\n"
	          "ffffffffff600000-ffffffffff601000 --xp fffffffffffff000 00:00 "
	          "18446744073709551615 [vsyscall]");
	assert_int_equal(before(), 0);
	assert_int_equal(n, 5);
	expect_map(0, 42, (const uint64_t[]){ 0x400000, 0x52000, 0x1000 },
	           (const uint32_t[]){ 8, 2 }, 173521, 2, "/usr/bin/x y");
	expect_map(1, 42, (const uint64_t[]){ 0x7f00000000, 0x1000, 0 },
	           (const uint32_t[]){ 0xfe, 10 }, 9, 1, "/dev/zero (deleted)");
	expect_map(2, 42, (const uint64_t[]){ 0x7f10000000, 0x1000, 0 }, (const uint32_t[]){ 0, 0 },
	           0, 2, "//anon");
	expect_map(3, 42, (const uint64_t[]){ 0x7f20000000, 0x1000, 0 }, (const uint32_t[]){ 0, 0 },
	           0, 2, "//anon");
	expect_map(4, 42, (const uint64_t[]){ 0xffffffffff600000, 0x1000, 0xfffffffffffff000 },
	           (const uint32_t[]){ 0, 0 }, UINT64_MAX, 2, "[vsyscall]");
}

/* Mappings without code, requested by PFM_SIDEBAND_DATA_MAPS. */
static void writes_mappings_of_data_on_request(void **state)
{
	(void)state;
	fake_file(&fake, "/proc/42/maps",
	          "00400000-00452000 r-xp 00001000 08:02 173521 /usr/bin/x\n"
	          "00651000-00652000 r--p 00051000 08:02 173521 /usr/bin/x\n"
	          "00652000-00655000 rw-s 00052000 08:02 173521 /usr/bin/x\n");
	sampling.config.records = PFM_SIDEBAND_DATA_MAPS;
	assert_int_equal(before(), 0);
	assert_int_equal(n, 3);
	assert_int_equal(number(0, 4, 2), PFM_MISC_USER);
	assert_int_equal(number(1, 4, 2), PFM_MISC_USER | PFM_MISC_DATA);
	assert_int_equal(number(1, 16, 8), 0x651000);
	/* PROT_READ and MAP_PRIVATE; PROT_READ, PROT_WRITE and MAP_SHARED */
	assert_true(number(1, 64, 4) == 1 && number(1, 68, 4) == 2);
	assert_true(number(2, 64, 4) == 3 && number(2, 68, 4) == 1);
}

/* A name of the maximum path length, and a longer one, which is truncated. */
static void truncates_paths_beyond_the_maximum(void **state)
{
	static char line[8300], name[8200];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[4095] = '\0';
	snprintf(line, sizeof(line), "1000-2000 r-xp 0 0:0 1 %s", name);
	fake_file(&fake, "/proc/42/maps", line);
	sampling.config.fields = UINT64_MAX;
	assert_int_equal(before(), 0);
	assert_int_equal(n, 1);
	assert_int_equal(sizes[0], 72 + 4096 + 6 * 8);
	assert_string_equal(records[0] + 72, name);
	memset(name, 'n', sizeof(name) - 1);
	snprintf(line, sizeof(line), "1000-2000 r-xp 0 0:0 1 %s", name);
	fake_file(&fake, "/proc/42/maps", line);
	assert_int_equal(before(), 0);
	assert_int_equal(n, 1);
	assert_int_equal(strlen((const char *)records[0] + 72), 4095);
}

/* Each record ends with zeros for the fields of sample_id (task, time, ID, CPU) only. */
static void trailers_have_the_requested_fields(void **state)
{
	static const uint64_t fields[] = {
		PFM_SAMPLE_TID,    PFM_SAMPLE_TIME, PFM_SAMPLE_ID,
		PFM_SAMPLE_STREAM, PFM_SAMPLE_CPU,  PFM_SAMPLE_IDENTIFIER
	};

	(void)state;
	fake_file(&fake, "/proc/42/task/42/comm", "x");
	for (unsigned set = 0; set < 64; set++) {
		unsigned words = 0;

		sampling.config.fields = PFM_SAMPLE_IP | PFM_SAMPLE_PERIOD | PFM_SAMPLE_ADDR |
		                         PFM_SAMPLE_CHAIN | PFM_SAMPLE_RAW;
		for (unsigned k = 0; k < 6; k++)
			if (set >> k & 1) {
				sampling.config.fields |= fields[k];
				words++;
			}
		assert_int_equal(before(), 0);
		assert_int_equal(n, 1);
		expect_head(0, PFM_RECORD_COMM, 0, 42, 42, 24 + 8 * words, 17);
	}
}

/* System-wide: each process with its threads and then its mappings. */
static void writes_all_processes_system_wide(void **state)
{
	(void)state;
	s->options.flags = PFM_SESSION_SYSTEM_WIDE;
	fake_file(&fake, "/proc/.first/x", "");
	fake_file(&fake, "/proc/1/task/1/comm", "init");
	fake_file(&fake, "/proc/42/task/.first/comm", "no thread");
	fake_file(&fake, "/proc/42/task/42/comm", "a");
	fake_file(&fake, "/proc/42/task/50/comm", "b");
	fake_file(&fake, "/proc/42/maps", "1000-2000 r-xp 0 0:0 1 /x");
	fake_file(&fake, "/proc/self/task/42/comm", "again");
	fake_file(&fake, "/proc/sys/kernel/x", "");
	assert_int_equal(before(), 0);
	assert_int_equal(n, 4);
	expect_name(0, 1, 1, "init");
	expect_name(1, 42, 42, "a");
	expect_name(2, 42, 50, "b");
	assert_true(number(3, 0, 4) == PFM_RECORD_MAP2);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Expects a kernel record at @start where /proc/kallsyms has @text; for 0 it expects no record. */
static void expect_kernel(const char *text, uint64_t start)
{
	fake_file(&fake, "/proc/kallsyms", text);
	assert_int_equal(before(), 0);
	if (n != (start != 0))
		fail_msg("kallsyms '%.200s': expected %d records of the kernel, got %u", text,
		         start != 0, n);
	if (!start)
		return;
	expect_head(0, PFM_RECORD_MAP, PFM_MISC_KERNEL, UINT32_MAX, 0, 64, 64);
	if (number(0, 16, 8) != start)
		fail_msg("kallsyms '%.200s': expected address %#llx, got %#llx", text,
		         (unsigned long long)start, (unsigned long long)number(0, 16, 8));
	assert_true(number(0, 24, 8) == UINT64_MAX - start - 0xffffff);
	assert_true(number(0, 32, 8) == start);
	assert_string_equal((const char *)records[0] + 40, "[kernel.kallsyms]_stext");
}

/* The kernel begins at _stext. Users without access to kernel addresses read zeros. */
static void the_kernel_begins_at_stext(void **state)
{
	static const struct {
		const char *text;
		uint64_t start;
	} rows[] = {
		{ "ffffffff81000000 T _text\nffffffff81000040 T _stext\nffffffff81000080 t more "
		  "[module]\n",
		  0xffffffff81000040 },
		{ "ffffffff81000040 T _stext", 0xffffffff81000040 },
		{ "ffffffff81000000 T _text\n", 0 },
		{ "ffffffff81000000 T _stext_of_another\nffffffff81000000 T _ste\n", 0 },
		{ "ffffffff81000000 T _text\nffffffff81000000 T _stext_of_another", 0 },
		{ "0000000000000000 T _text\n0000000000000000 T _stext\n0000000000000000 T more\n",
		  0 },
		{ "nothing of the kind\n", 0 },
		{ "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect_kernel(rows[i].text, rows[i].start);
}

/* The list of symbols is read in pieces of about 4,096 bytes, which may end in any byte of the
 * line. */
static void kernel_start_between_pieces(void **state)
{
	static const char line[] = "ffffffff81000040 T _stext\nffffffff81000080 T more\n",
			  other[] = "ffffffff81000040 T _stext_of_another\n";
	char text[4300];

	(void)state;
	for (int padding = 4040; padding < 4110; padding++) {
		snprintf(text, sizeof(text), "%0*d\n", padding / 2, 0);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%0*d\n",
		         padding - padding / 2, 0);
		snprintf(text + padding + 2, sizeof(text) - (size_t)padding - 2, "%s", line);
		expect_kernel(text, 0xffffffff81000040);
		snprintf(text + padding + 2, sizeof(text) - (size_t)padding - 2, "%s", other);
		expect_kernel(text, 0);
	}
}

/* The first error is returned, and nothing is written after it. */
static void the_first_error_ends_writing(void **state)
{
	(void)state;
	fake_file(&fake, "/proc/42/task/42/comm", "a");
	fake_file(&fake, "/proc/42/task/43/comm", "b");
	fake_file(&fake, "/proc/42/maps", "1000-2000 r-xp 0 0:0 1 /x");
	for (fail_at = 1; fail_at <= 3; fail_at++) {
		assert_int_equal(before(), -EIO);
		assert_int_equal(n, fail_at);
	}
	fail_at = 0;
	/* A process that has ended meanwhile gives no records. */
	fake.fail = FAKE_OPEN;
	fake.fail_on = true;
	fake.fail_errno = ESRCH;
	fake.fail_at = fake.uses[FAKE_OPEN] + 1;
	assert_int_equal(before(), 0);
	assert_int_equal(n, 0);
	/* An unreadable folder is skipped, but lack of memory is an error. */
	fake.fail = FAKE_LIST;
	fake.fail_at = fake.uses[FAKE_LIST] + 1;
	assert_int_equal(before(), 0);
	fake.fail_errno = ENOMEM;
	for (unsigned wide = 0; wide < 2; wide++) {
		s->options.flags = wide ? PFM_SESSION_SYSTEM_WIDE : 0;
		fake.fail_at = fake.uses[FAKE_LIST] + 1;
		assert_int_equal(before(), -ENOMEM);
	}
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin_record, end)

UNIT(perfdata_perfdata_synthesize, CASE(writes_a_name_for_each_thread),
     CASE(writes_mappings_with_code), CASE(writes_mappings_of_data_on_request),
     CASE(truncates_paths_beyond_the_maximum), CASE(trailers_have_the_requested_fields),
     CASE(writes_all_processes_system_wide), CASE(the_kernel_begins_at_stext),
     CASE(kernel_start_between_pieces), CASE(the_first_error_ends_writing));
