/* SPDX-License-Identifier: MIT */
/* The real functions of the syscall table, in a folder of this test: files of every awkward
 * size, independent of this machine. */
#include "units.h"
#include <errno.h>
#include <fcntl.h>
#include "machine/perf_abi.h"
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "machine/machine.h"

static char folder[] = P_tmpdir "/perfmon-sys-XXXXXX";
static struct sys sys;

static int make_folder(void **state)
{
	(void)state;
	memcpy(folder, P_tmpdir "/perfmon-sys-XXXXXX", sizeof(folder));
	if (!mkdtemp(folder))
		return -1;
	pfmi_machine_init_real_sys(&sys, folder);
	return 0;
}

static void path_of(char out[64], const char *name)
{
	snprintf(out, 64, "%s/%s", folder, name);
}

static void write_file(const char *name, const char *bytes, size_t n)
{
	char path[64];
	FILE *f;

	path_of(path, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static int forget(void *arg, const char *name)
{
	char path[64];

	(void)arg;
	path_of(path, name);
	unlink(path);
	rmdir(path);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	sys.list_folder(&sys, "/", forget, NULL);
	return rmdir(folder);
}

/* Into buffers of every length, a file is read whole or not at all. The text ends with NUL, and
 * no byte after it is written. */
static void reads_a_file_whole_or_not_at_all(void **state)
{
	static const char *const texts[] = { "",       "a",      "a\n", "abc\r\n", "\n",
		                             "\n\n\n", "a\nb\n", " a ", "a\n ",    "0123456789" };

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		size_t n = strlen(texts[i]), kept = n;

		while (kept && (texts[i][kept - 1] == '\n' || texts[i][kept - 1] == '\r'))
			kept--;
		write_file("f", texts[i], n);
		for (size_t len = 1; len < n + 3; len++) {
			char buf[16];
			long got;

			memset(buf, '#', sizeof(buf));
			got = pfmi_machine_read_small_file(&sys, "/f", buf, len);
			assert_int_equal(got, n < len ? (long)kept : -EFBIG);
			assert_int_equal(buf[len], '#');
			if (got >= 0) {
				assert_memory_equal(buf, texts[i], kept);
				assert_int_equal(buf[kept], '\0');
			}
		}
	}
	assert_int_equal(pfmi_machine_read_small_file(&sys, "/none", (char[8]){ 0 }, 8), -ENOENT);
	assert_int_equal(pfmi_machine_read_small_file(&sys, "/", (char[8]){ 0 }, 8), -EISDIR);
}

/* Lengths around those at which the buffer grows. */
static void reads_files_larger_than_the_first_buffer(void **state)
{
	static const size_t sizes[] = { 0,     1,     4094,  4095,  4096,  4097,
		                        12286, 12287, 12288, 12289, 100000 };
	char *bytes = malloc(100000), *got;
	uint64_t seed = 5;
	size_t len;

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < 100000; i++)
		bytes[i] = (char)unit_random(&seed);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		write_file("f", bytes, sizes[i]);
		assert_int_equal(pfmi_machine_read_file(&sys, "/f", &got, &len), 0);
		assert_int_equal(len, sizes[i]);
		assert_memory_equal(got, bytes, len);
		assert_int_equal(got[len], '\0');
		free(got);
	}
	free(bytes);
	assert_int_equal(pfmi_machine_read_file(&sys, "/none", &got, &len), -ENOENT);
	assert_null(got);
	assert_int_equal(pfmi_machine_read_file(&sys, "/", &got, &len), -EISDIR);
	assert_null(got);
}

/* A file without end is refused soon. */
static void a_file_without_end_is_refused(void **state)
{
	struct sys real;
	char *got;
	size_t len;

	(void)state;
	pfmi_machine_init_real_sys(&real, "");
	assert_int_equal(pfmi_machine_read_file(&real, "/dev/zero", &got, &len), -EFBIG);
	assert_null(got);
}

static void reads_numbers_of_64_bits(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} files[] = {
		{ "0\n", 0, 0 },
		{ "4\n", 0, 4 },
		{ "010\n", 0, 10 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -EINVAL, 0 },
		{ "0x1F\n", 0, 31 },
		{ "0X1f\n", 0, 31 },
		{ "0xffffffffffffffff\n", 0, UINT64_MAX },
		{ "0x10000000000000000\n", -EINVAL, 0 },
		{ "0x\n", -EINVAL, 0 },
		{ "\n", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "-1\n", -EINVAL, 0 },
		{ " 1\n", -EINVAL, 0 },
		{ "1 \n", -EINVAL, 0 },
		{ "1f\n", -EINVAL, 0 },
		{ "0xg\n", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		uint64_t v = 77;

		write_file("n", files[i].text, strlen(files[i].text));
		assert_int_equal(pfmi_machine_read_number(&sys, "/n", &v), files[i].rc);
		assert_true(v == (files[i].rc ? 77 : files[i].value));
	}
	assert_int_equal(pfmi_machine_read_number(&sys, "/none", &(uint64_t){ 0 }), -ENOENT);
}

static int join(void *arg, const char *name)
{
	strcat(strcat(arg, name), " ");
	return strcmp(name, "stop") == 0 ? 17 : 0;
}

static void lists_folders_in_the_order_of_names(void **state)
{
	char seen[256] = "", path[64];

	(void)state;
	assert_int_equal(sys.list_folder(&sys, "/", join, seen), 0);
	assert_string_equal(seen, "");
	write_file("b", "", 0);
	write_file("a10", "", 0);
	write_file("a2", "", 0);
	write_file("..c", "", 0);
	path_of(path, "Dir");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(sys.list_folder(&sys, "/", join, seen), 0);
	assert_string_equal(seen, "..c Dir a10 a2 b ");
	seen[0] = '\0';
	write_file("stop", "", 0);
	write_file("z", "", 0);
	assert_int_equal(sys.list_folder(&sys, "", join, seen), 17);
	assert_string_equal(seen, "..c Dir a10 a2 b stop ");
	assert_int_equal(sys.list_folder(&sys, "/none", join, seen), -ENOENT);
	assert_int_equal(sys.list_folder(&sys, "/b", join, seen), -ENOTDIR);
}

/* More names than the buffer has room for at first. */
static int in_order(void *arg, const char *name)
{
	unsigned *n = arg;
	char want[40];

	snprintf(want, sizeof(want), "a-name-that-is-not-so-short-%04u", *n);
	assert_string_equal(name, want);
	++*n;
	return 0;
}

static void lists_folders_of_many_names(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned i = 150; i--;) {
		char name[40];

		snprintf(name, sizeof(name), "a-name-that-is-not-so-short-%04u", i);
		write_file(name, "", 0);
	}
	assert_int_equal(sys.list_folder(&sys, "/", in_order, &n), 0);
	assert_int_equal(n, 150);
}

/* Another root hides this machine completely, whatever the root's name. */
static void a_root_hides_this_machine(void **state)
{
	char *long_root = malloc(600), path[5000];
	uint32_t regs[4];
	struct sys s;

	(void)state;
	assert_non_null(long_root);
	pfmi_machine_init_real_sys(&s, NULL);
	assert_string_equal(s.root, "");
	pfmi_machine_init_real_sys(&s, "///");
	assert_string_equal(s.root, "");
	pfmi_machine_init_real_sys(&s, "/a/b//");
	assert_string_equal(s.root, "/a/b");
	assert_int_equal(s.perf_event_open(&s, NULL, 0, -1, -1, 0), -ENOSYS);
	assert_false(s.read_cpuid(&s, 0, 0, regs));
	memset(long_root, 'x', 600);
	long_root[0] = '/';
	for (size_t len = 254; len < 258; len++) {
		long_root[len] = '\0';
		pfmi_machine_init_real_sys(&s, long_root);
		assert_string_equal(s.root, len < sizeof(s.root) ? long_root : "/dev/null");
		long_root[len] = 'x';
	}
	assert_int_equal(s.open(&s, "/etc/passwd", O_RDONLY), -ENOTDIR);
	free(long_root);
	memset(path, '/', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(sys.open(&sys, path, O_RDONLY), -ENAMETOOLONG);
	assert_int_equal(sys.list_folder(&sys, path, join, NULL), -ENAMETOOLONG);
}

/* Errors come back as numbers, and descriptors do not leak into programs that are started. */
static void calls_return_errors_and_close_on_exec(void **state)
{
	static _Alignas(16) char odd[16]; /* odd + 1 is not the address of a page */
	struct pollfd p = { .events = POLLIN };
	struct winsize size;
	char byte, *at;
	void *map;
	int fd;

	(void)state;
	write_file("f", "page", 4);
	fd = sys.open(&sys, "/f", O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(sys.mmap(&sys, fd, 4096, 0, &map), 0);
	assert_memory_equal(map, "page", 4);
	assert_int_equal(sys.munmap(&sys, map, 4096), 0);
	assert_int_equal(sys.mmap(&sys, fd, 4096, 1, &map), 0);
	at = map;
	at[0] = 'P';
	assert_int_equal(sys.munmap(&sys, map, 4096), 0);
	assert_int_equal(sys.read(&sys, fd, &byte, 1), 1);
	assert_int_equal(byte, 'P');
	p.fd = fd;
	assert_int_equal(sys.poll(&sys, &p, 1, 0), 1);
	assert_int_equal(sys.ioctl(&sys, fd, TIOCGWINSZ, &size), -ENOTTY);
	assert_int_equal(sys.close(&sys, fd), 0);
	assert_int_equal(sys.close(&sys, fd), -EBADF);
	assert_int_equal(sys.read(&sys, fd, &byte, 1), -EBADF);
	assert_int_equal(sys.mmap(&sys, fd, 4096, 0, &map), -EBADF);
	assert_int_equal(sys.munmap(&sys, odd + 1, 4096), -EINVAL);
	assert_int_equal(sys.open(&sys, "/none", O_RDONLY), -ENOENT);
}

/* A program may have closed its input: 0 is a descriptor like any other. */
static void accepts_descriptor_0(void **state)
{
	struct perf_attr a = { .size = sizeof(a),
		               .type = PERF_TYPE_SOFTWARE,
		               .config = PERF_COUNT_SW_DUMMY,
		               .exclude_kernel = 1 };
	int input = dup(0), opened, counted;
	struct sys here;

	(void)state;
	pfmi_machine_init_real_sys(&here, NULL);
	write_file("f", "page", 4);
	if (input >= 0)
		close(0);
	opened = sys.open(&sys, "/f", O_RDONLY);
	sys.close(&sys, opened);
	errno = EDOM; /* no call sets it: a successful call leaves errno unchanged */
	counted = here.perf_event_open(&here, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (counted >= 0)
		here.close(&here, counted);
	if (input >= 0 && dup2(input, 0) == 0)
		close(input);
	assert_int_equal(opened, 0);
	assert_true(counted == 0 || counted == -ENOSYS || counted == -EACCES || counted == -EPERM ||
	            counted == -ENOENT);
}

#define IN_FOLDER(TEST) cmocka_unit_test_setup_teardown(TEST, make_folder, remove_folder)

UNIT(machine_sys, IN_FOLDER(reads_a_file_whole_or_not_at_all),
     IN_FOLDER(reads_files_larger_than_the_first_buffer),
     cmocka_unit_test(a_file_without_end_is_refused), IN_FOLDER(reads_numbers_of_64_bits),
     IN_FOLDER(lists_folders_in_the_order_of_names), IN_FOLDER(lists_folders_of_many_names),
     IN_FOLDER(a_root_hides_this_machine), IN_FOLDER(calls_return_errors_and_close_on_exec),
     IN_FOLDER(accepts_descriptor_0));
