/* SPDX-License-Identifier: MIT */
/* The syscall table of the real machine, whose paths are below a root; and the reading of files
 * through a syscall table. */
#include "machine/machine_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/text.h"
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

const char pfmi_machine_tracefs_paths[TRACEFS_MOUNTS][40] = {
	"/sys/kernel/tracing/events",
	"/sys/kernel/debug/tracing/events",
};

#define PATH_SIZE          4096
#define DIRENT_BUFFER_SIZE 4096        /* bytes of a folder that are read at a time */
#define MAX_FILE_SIZE      (16u << 20) /* longer files are not read */

static int prepend_root(const struct sys *sys, const char *path, char out[PATH_SIZE])
{
	int n = snprintf(out, PATH_SIZE, "%s%s", sys->root, path);

	return n < 0 || n >= PATH_SIZE ? -ENAMETOOLONG : 0;
}

static int real_open(const struct sys *sys, const char *path, int flags)
{
	char full[PATH_SIZE];
	int fd = prepend_root(sys, path, full);

	if (fd)
		return fd;
	fd = open(full, flags | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static long real_read(const struct sys *sys, int fd, void *buf, size_t n)
{
	ssize_t got = read(fd, buf, n);

	(void)sys;
	return got < 0 ? -errno : (long)got;
}

static int real_ioctl(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	/* musl and glibc disagree about the type of the request; the kernel takes an unsigned
	 * int. */
	long rc = syscall(SYS_ioctl, fd, request, arg);

	(void)sys;
	return rc < 0 ? -errno : (int)rc;
}

static int real_close(const struct sys *sys, int fd)
{
	(void)sys;
	return close(fd) ? -errno : 0;
}

static int real_mmap(const struct sys *sys, int fd, size_t len, int writable, void **out)
{
	void *at =
		mmap(NULL, len, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);

	(void)sys;
	if (at == MAP_FAILED)
		return -errno;
	*out = at;
	return 0;
}

static int real_munmap(const struct sys *sys, void *at, size_t len)
{
	(void)sys;
	return munmap(at, len) ? -errno : 0;
}

static uint64_t real_get_time(const struct sys *sys)
{
	struct timespec t = { 0 };

	(void)sys;
	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &t))
		clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int real_poll(const struct sys *sys, struct pollfd *fds, unsigned n, int timeout)
{
	int rc = poll(fds, n, timeout);

	(void)sys;
	return rc < 0 ? -errno : rc;
}

static int real_perf_event_open(const struct sys *sys, struct perf_attr *attr, int pid, int cpu,
                                int group, unsigned long flags)
{
	long fd;

	/* A recorded machine must never be mistaken for this one. */
	if (sys->root[0])
		return -ENOSYS;
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
	return fd < 0 ? -errno : (int)fd;
}

/* Names in a folder, one after another in a growing buffer. */
struct folder_names {
	char *text;
	size_t used, capacity, n;
};

static int add_name(struct folder_names *names, const char *name)
{
	size_t len = strlen(name) + 1;

	if (names->capacity - names->used < len) {
		size_t size = names->capacity * 2 + len + 1024;
		char *text = realloc(names->text, size);

		if (!text)
			return -ENOMEM;
		names->text = text;
		names->capacity = size;
	}
	memcpy(names->text + names->used, name, len);
	names->used += len;
	names->n++;
	return 0;
}

int pfmi_machine_compare_names(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static int visit_sorted_names(const struct folder_names *names,
                              int (*each)(void *arg, const char *name), void *arg)
{
	const char **order;
	size_t at = 0, i;
	int rc = 0;

	if (names->n == 0)
		return 0;
	order = malloc(names->n * sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (i = 0; i < names->n; i++, at += strlen(names->text + at) + 1)
		order[i] = names->text + at;
	qsort(order, names->n, sizeof(*order), pfmi_machine_compare_names);
	for (i = 0; i < names->n && rc == 0; i++)
		rc = each(arg, order[i]);
	free(order);
	return rc;
}

/* An entry of getdents64(2). */
struct dirent_record {
	uint64_t inode;
	int64_t next_offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

/* Reads the names in a folder without opendir(), whose buffer of 32 KiB takes longer to allocate
 * than the few names of most folders take to read. */
static int read_names(int fd, struct folder_names *names)
{
	_Alignas(struct dirent_record) char buf[DIRENT_BUFFER_SIZE];
	long got;

	while ((got = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0)
		for (long at = 0; at < got;) {
			const struct dirent_record *e = (const void *)(buf + at);
			int rc = strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0
			                 ? add_name(names, e->name)
			                 : 0;

			if (rc)
				return rc;
			at += e->size;
		}
	return got < 0 ? -errno : 0;
}

static int real_list_folder(const struct sys *sys, const char *path,
                            int (*each)(void *arg, const char *name), void *arg)
{
	int rc, fd = real_open(sys, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	struct folder_names names = { 0 };

	if (fd < 0)
		return fd;
	rc = read_names(fd, &names);
	close(fd);
	if (rc == 0)
		rc = visit_sorted_names(&names, each, arg);
	free(names.text);
	return rc;
}

static int real_get_process_time(const struct sys *sys, int pid, uint64_t *ns)
{
	/* The clock's number as clock_getcpuclockid(3) computes it. Not calling that function saves
	 * a symbol that the dynamic linker would look up at each start. */
	clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2);
	struct timespec t;

	(void)sys;
	if (clock_gettime(clock, &t))
		return -errno;
	*ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return 0;
}

static bool real_read_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf,
                            uint32_t regs[4])
{
#if defined(__x86_64__) || defined(__i386__)
	if (sys->root[0] == '\0') {
		/* Each CPUID may trap. Processors with leaf 0 have leaf 1; for others the highest
		 * leaf is read first. */
		bool low = leaf <= 1 && sizeof(void *) == 8;

		if (!low)
			return __get_cpuid_count(leaf, subleaf, &regs[0], &regs[1], &regs[2],
			                         &regs[3]);
		__cpuid_count(leaf, subleaf, regs[0], regs[1], regs[2], regs[3]);
		return true;
	}
#endif
	(void)sys;
	(void)leaf;
	(void)subleaf;
	(void)regs;
	return false;
}

void pfmi_machine_init_real_sys(struct sys *out, const char *root)
{
	size_t len = root ? strlen(root) : 0;

	*out = (struct sys){
		.open = real_open,
		.read = real_read,
		.ioctl = real_ioctl,
		.close = real_close,
		.mmap = real_mmap,
		.munmap = real_munmap,
		.get_time = real_get_time,
		.poll = real_poll,
		.perf_event_open = real_perf_event_open,
		.list_folder = real_list_folder,
		.get_process_time = real_get_process_time,
		.read_cpuid = real_read_cpuid,
	};
	while (len && root[len - 1] == '/')
		len--;
	if (len >= sizeof(out->root)) {
		root = "/dev/null"; /* has no files below it: a root that is too long must not
		                       become that of this machine */
		len = strlen(root);
	}
	if (len)
		memcpy(out->root, root, len);
}

static long note_resource_error(const struct sys *sys, long rc)
{
	union {
		const struct sys *in;
		struct watched_sys *out;
	} w = { .in = sys };

	if (machine_is_resource_error(rc))
		w.out->resource_error = rc;
	return rc;
}

static const struct sys *get_watched_target(const struct sys *sys)
{
	return ((const struct watched_sys *)(const void *)sys)->target;
}

static int open_watched(const struct sys *sys, const char *path, int flags)
{
	return (int)note_resource_error(
		sys, get_watched_target(sys)->open(get_watched_target(sys), path, flags));
}

static long read_watched(const struct sys *sys, int fd, void *buf, size_t n)
{
	return note_resource_error(
		sys, get_watched_target(sys)->read(get_watched_target(sys), fd, buf, n));
}

static int list_watched_folder(const struct sys *sys, const char *path,
                               int (*each)(void *arg, const char *name), void *arg)
{
	return (int)note_resource_error(sys, get_watched_target(sys)->list_folder(
						     get_watched_target(sys), path, each, arg));
}

void pfmi_machine_init_watched_sys(struct watched_sys *out, const struct sys *real)
{
	*out = (struct watched_sys){ .sys = *real, .target = real };
	out->sys.open = open_watched;
	out->sys.read = read_watched;
	out->sys.list_folder = list_watched_folder;
}

long pfmi_machine_read_small_file(const struct sys *sys, const char *path, char *buf, size_t len)
{
	/* A FIFO below a root must not block the caller. */
	int fd = sys->open(sys, path, O_RDONLY | O_NONBLOCK);
	size_t used = 0;
	long got;

	if (fd < 0)
		return fd;
	do {
		got = sys->read(sys, fd, buf + used, len - used);
		if (got > 0)
			used += (size_t)got;
	} while (got == -EINTR || (got > 0 && used < len));
	sys->close(sys, fd);
	if (got < 0)
		return got;
	if (used == len)
		return -EFBIG;
	while (used && (buf[used - 1] == '\n' || buf[used - 1] == '\r'))
		used--;
	buf[used] = '\0';
	return (long)used;
}

/* Reads to the end of the file, or with @one_line to a read that ends a line. The buffer grows. */
static long read_until_end(const struct sys *sys, int fd, bool one_line, char **buf)
{
	size_t used = 0, size = 0;
	long got;

	for (;;) {
		if (size - used < 2) {
			char *more = realloc(*buf, size * 2 + 4096);

			if (!more)
				return -ENOMEM;
			*buf = more;
			size = size * 2 + 4096;
		}
		got = sys->read(sys, fd, *buf + used, size - used - 1);
		if (got == -EINTR)
			continue;
		if (got < 0)
			return got == -ENOMEM ? -EIO : got;
		if (got == 0)
			return (long)used;
		used += (size_t)got;
		if (used > MAX_FILE_SIZE)
			return -EFBIG;
		if (one_line && (*buf)[used - 1] == '\n')
			return (long)used;
	}
}

static int read_file(const struct sys *sys, const char *path, bool one_line, char **out,
                     size_t *len)
{
	int fd = sys->open(sys, path, O_RDONLY | O_NONBLOCK);
	long n;

	*out = NULL;
	if (fd < 0)
		return fd == -ENOMEM ? -EIO : fd; /* -ENOMEM is reserved for the process's memory;
		                                     the kernel's is an error of the file */
	n = read_until_end(sys, fd, one_line, out);
	sys->close(sys, fd);
	if (n < 0) {
		free(*out);
		*out = NULL;
		return (int)n;
	}
	(*out)[n] = '\0';
	*len = (size_t)n;
	return 0;
}

int pfmi_machine_read_file(const struct sys *sys, const char *path, char **out, size_t *len)
{
	return read_file(sys, path, false, out, len);
}

int pfmi_machine_read_line_file(const struct sys *sys, const char *path, char **out, size_t *len)
{
	return read_file(sys, path, true, out, len);
}

int pfmi_machine_read_number(const struct sys *sys, const char *path, uint64_t *out)
{
	char buf[64];
	const char *p = buf;
	unsigned base = 10;
	uint64_t v = 0;
	long n = pfmi_machine_read_small_file(sys, path, buf, sizeof(buf));

	if (n < 0)
		return (int)n;
	if (p[0] == '0' && (p[1] | 0x20) == 'x') {
		base = 16;
		p += 2;
	}
	if (!*p)
		return -EINVAL;
	for (; *p; p++) {
		unsigned d = base_get_digit_value(*p);

		if (d >= base || v > (UINT64_MAX - d) / base)
			return -EINVAL;
		v = v * base + d;
	}
	*out = v;
	return 0;
}
