/* SPDX-License-Identifier: MIT */
/* Files of sums: what is written is read back, and a reader survives any bytes. */
#include "made_file.h"
#include "repetitions.h"

static void check_counts(const pfm_region_results_t *r)
{
	unsigned row = made_row(r, "outer", "", 0), in = made_row(r, "inner", "outer", 0);

	assert_int_equal(made_info(r, row).visits, 2);
	assert_int_equal(made_count(r, row, 0).inclusive, 1200);
	assert_int_equal(made_count(r, row, 0).exclusive, 800);
	assert_int_equal(made_count(r, row, 1).inclusive, 14);
	assert_int_equal(made_count(r, in, 0).inclusive, 400);
	assert_int_equal(made_count(r, in, 0).quality, PFM_QUALITY_EXACT);
}

static void sums_are_read_back(void **state)
{
	pfm_region_process_t process = PFM_INIT(process);
	struct made_regions m;
	pfm_region_results_t *r;

	(void)state;
	make_file(&m);
	r = load_file();
	check_counts(r);
	assert_int_equal(pfm_describe_region_process(r, &process), PFMLIB_SUCCESS);
	assert_int_equal(process.process, getpid());
	assert_string_equal(process.program, program_invocation_short_name);
	assert_false(process.has_ended || process.is_incomplete);
	pfm_close_region_results(r);
	pfmi_storage_end(true);
	r = load_file();
	pfm_describe_region_process(r, &process);
	assert_true(process.has_ended);
	pfm_close_region_results(r);
	unmake_file(&m);
}

/* A process that was killed in the middle of an end leaves an odd sequence number. */
static void counts_of_an_unfinished_change_are_partial(void **state)
{
	struct made_regions m;
	pfm_region_results_t *r;

	(void)state;
	make_file(&m);
	m.thread.entries->sequence++;
	r = load_file();
	assert_int_equal(made_count(r, made_row(r, "outer", "", 0), 0).quality,
	                 PFM_QUALITY_PARTIAL);
	assert_int_equal(made_count(r, made_row(r, "inner", "outer", 0), 0).quality,
	                 PFM_QUALITY_EXACT);
	pfm_close_region_results(r);
	unmake_file(&m);
}

/* Other bytes cannot make a count of 2^64 less something. */
static void sums_that_contradict_each_other_do_not_wrap(void **state)
{
	struct made_regions m;
	pfm_region_results_t *r;
	unsigned row;

	(void)state;
	make_file(&m);
	m.thread.entries->wall.inside = m.thread.entries->wall.inclusive + 1000;
	m.thread.entries->begun = 0;
	r = load_file();
	row = made_row(r, "outer", "", 0);
	assert_int_equal(made_info(r, row).unfinished, 0);
	assert_true(made_info(r, row).exclusive <= made_info(r, row).wall);
	pfm_close_region_results(r);
	unmake_file(&m);
}

/* A file of 2 GiB without blocks costs its writer nothing. */
static void a_file_cannot_take_all_memory(void **state)
{
	const struct region_chunk names = { .kind = CHUNK_NAMES, .bytes = 1u << 31 };
	pfm_error_t why = PFM_INIT(why);
	struct made_regions m;
	pfm_region_results_t *r;
	struct stat s;
	int fd;

	(void)state;
	make_file(&m);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &s) == 0);
	assert_int_equal(pwrite(fd, &names, sizeof(names), s.st_size), sizeof(names));
	assert_int_equal(ftruncate(fd, s.st_size + ((off_t)1 << 31)), 0);
	assert_int_equal(pfm_load_regions(fd, &r, &why), PFMLIB_ERR_INVAL);
	assert_non_null(strstr(why.detail, "1 GiB"));
	close(fd);
	unmake_file(&m);
}

static uint64_t seed = 47;

static uint32_t draw(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Reads and writes each format of a file of @n bytes in which some are changed. */
static void read_changed(int fd, const char *bytes, size_t n)
{
	static const char *const formats[] = { "table",  "json",   "csv",    "papi",
		                               "likwid", "chrome", "firefox" };
	char *changed = malloc(n);
	pfm_region_results_t *r;
	int out = open("/dev/null", O_WRONLY | O_CLOEXEC);

	memcpy(changed, bytes, n);
	for (unsigned k = 1 + draw(4); k; k--) {
		/* Headers and their neighbours more often than sums. */
		size_t at = draw(2) ? draw((uint32_t)(n / 4096)) * 4096u + draw(192)
		                    : draw((uint32_t)n);
		uint32_t value = draw(2) ? draw(16) : draw(UINT32_MAX);

		at = at + 4 <= n ? at : n - 4;
		memcpy(changed + at, &value, 1u << draw(3));
	}
	assert_int_equal(pwrite(fd, changed, n, 0), n);
	free(changed);
	assert_int_equal(ftruncate(fd, (off_t)(draw(8) ? n : draw((uint32_t)n))), 0);
	if (!pfm_load_regions(fd, &r, NULL)) {
		assert_int_equal(pfm_write_regions(r, out, formats[draw(COUNT(formats))]),
		                 PFMLIB_SUCCESS);
		pfm_close_region_results(r);
	}
	close(out);
}

static void any_bytes_are_read_or_refused(void **state)
{
	struct made_regions m;
	struct stat s;
	char *bytes;
	FILE *copy = tmpfile();
	int fd;

	(void)state;
	make_file(&m);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &s), 0);
	bytes = malloc((size_t)s.st_size);
	assert_int_equal(read(fd, bytes, (size_t)s.st_size), s.st_size);
	close(fd);
	for (unsigned i = 0; i < count_repetitions(3000); i++)
		read_changed(fileno(copy), bytes, (size_t)s.st_size);
	free(bytes);
	fclose(copy);
	unmake_file(&m);
}

UNIT(region_load, cmocka_unit_test(sums_are_read_back),
     cmocka_unit_test(counts_of_an_unfinished_change_are_partial),
     cmocka_unit_test(sums_that_contradict_each_other_do_not_wrap),
     cmocka_unit_test(a_file_cannot_take_all_memory),
     cmocka_unit_test(any_bytes_are_read_or_refused));
