/* SPDX-License-Identifier: MIT */
#include "fake_sys.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fake *find_fake(const struct sys *sys)
{
	return sys->arg;
}

/* True if this use of @call is the one that fails. */
static bool is_failing_call(struct fake *f, enum fake_call call)
{
	unsigned n = ++f->uses[call];

	return f->fail_at && f->fail == call && (n == f->fail_at || (f->fail_on && n > f->fail_at));
}

static char *copy_text(const char *s, size_t len)
{
	char *c = malloc(len + 2);

	if (!c)
		abort();
	memcpy(c, s, len);
	c[len] = '\0';
	return c;
}

/* Files are sorted by path, and files of a folder come before names that only start like the
 * folder: the content of a folder is contiguous and sorted by name. */
static int compare_names(const char *a, const char *b)
{
	unsigned x, y;

	while (*a && *a == *b) {
		a++;
		b++;
	}
	x = *a == '/' ? 1 : (unsigned char)*a * 2u;
	y = *b == '/' ? 1 : (unsigned char)*b * 2u;
	return (x > y) - (x < y);
}

/* The first file that does not come before @path. */
static unsigned first_file(const struct fake *f, const char *path)
{
	unsigned low = 0, high = f->n_files;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (compare_names(f->files[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct fake_file *find_file(struct fake *f, const char *path)
{
	unsigned i = first_file(f, path);

	return i < f->n_files && strcmp(f->files[i].path, path) == 0 ? &f->files[i] : NULL;
}

struct fake_file *fake_bytes(struct fake *f, const char *path, const void *bytes, size_t n)
{
	struct fake_file *file = find_file(f, path);

	if (!file) {
		unsigned at = first_file(f, path);

		f->files = realloc(f->files, (f->n_files + 1) * sizeof(*f->files));
		if (!f->files)
			abort();
		file = &f->files[at];
		memmove(file + 1, file, (f->n_files++ - at) * sizeof(*file));
		file->path = copy_text(path, strlen(path));
	} else {
		free(file->text);
	}
	file->text = copy_text(bytes, n);
	file->size = n;
	return file;
}

struct fake_file *fake_file(struct fake *f, const char *path, const char *text)
{
	struct fake_file *file = fake_bytes(f, path, text, strlen(text));

	memcpy(file->text + file->size++, "\n", 2);
	return file;
}

void fake_remove(struct fake *f, const char *path)
{
	struct fake_file *file = find_file(f, path);

	if (!file)
		return;
	free(file->path);
	free(file->text);
	memmove(file, file + 1, (size_t)(f->files + --f->n_files - file) * sizeof(*file));
}

/* Turns each "\\n" of a line into a line feed. */
static void unescape_lines(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (text[0] == '\\' && text[1] == 'n') {
			*to++ = '\n';
			text++;
		} else {
			*to++ = *text;
		}
	*to = '\0';
}

bool fake_machine(struct fake *f, const char *path)
{
	char line[4096], full[4200];
	FILE *in = fopen(path, "r");

	if (!in)
		return false;
	while (fgets(line, sizeof(line), in)) {
		char *tab = strchr(line, '\t');

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || !tab)
			continue;
		*tab = '\0';
		unescape_lines(tab + 1);
		snprintf(full, sizeof(full), "%s%s",
		         line[0] == '/' ? "" : "/sys/bus/event_source/devices/", line);
		fake_file(f, full, tab + 1);
	}
	fclose(in);
	return true;
}

void fake_recorded(struct fake *f, const char *name)
{
	const char *tests = getenv("PERFMON_TESTS");
	char path[1024];

	snprintf(path, sizeof(path), "%s/machines/%s.txt", tests ? tests : "tests", name);
	fake_begin(f);
	if (!fake_machine(f, path)) {
		fprintf(stderr, "%s cannot be read\n", path);
		abort();
	}
}

/* ---- files ----------------------------------------------------------------------------------- */

static int fake_open(const struct sys *sys, const char *path, int flags)
{
	struct fake *f = find_fake(sys);
	const struct fake_file *file = find_file(f, path);

	(void)flags;
	if (is_failing_call(f, FAKE_OPEN))
		return -f->fail_errno;
	if (!file)
		return -ENOENT;
	for (unsigned i = 0; i < FAKE_OPEN_FILES; i++)
		if (!f->open[i].used) {
			f->open[i].used = true;
			f->open[i].file = file;
			f->open[i].at = 0;
			f->n_open++;
			return FAKE_FILE_FD + (int)i;
		}
	return -EMFILE;
}

static struct fake_open *opened_file(struct fake *f, int fd)
{
	unsigned i = (unsigned)(fd - FAKE_FILE_FD);

	return fd >= FAKE_FILE_FD && i < FAKE_OPEN_FILES && f->open[i].used ? &f->open[i] : NULL;
}

static void default_tick(struct fake *f, struct fake_event *e)
{
	e->value = 1000 * (uint64_t)(e - f->events + 1);
	e->is_open = e->running = 1000000;
}

static size_t put_event(struct fake *f, struct fake_event *e, uint64_t *out)
{
	uint64_t form = e->a.attr.read_format;
	unsigned n = 0, count = 0;
	int fd = fake_fd((unsigned)(e - f->events));

	(f->tick ? f->tick : default_tick)(f, e);
	if (!(form & PERF_FORMAT_GROUP)) {
		out[0] = e->value;
		out[1] = e->is_open;
		out[2] = e->running;
		out[3] = e->lost;
		return form & (1u << 4) ? 4
		                        : 3; /* PERF_FORMAT_LOST, which older headers do not have */
	}
	out[1] = e->is_open;
	out[2] = e->running;
	for (unsigned i = (unsigned)(e - f->events); i <= e->last; i++) {
		struct fake_event *m = &f->events[i];

		if (!m->used || (m != e && m->group != fd))
			continue;
		if (m != e)
			(f->tick ? f->tick : default_tick)(f, m);
		out[3 + n++] = m->value;
		count++;
	}
	out[0] = count;
	return 3 + n;
}

static long fake_read(const struct sys *sys, int fd, void *buf, size_t n)
{
	struct fake *f = find_fake(sys);
	struct fake_event *e = fake_event(f, fd);
	struct fake_open *o;
	uint64_t out[256];
	size_t len;

	if (e) {
		if (is_failing_call(f, FAKE_READ_PERF))
			return -f->fail_errno;
		len = put_event(f, e, out) * sizeof(out[0]);
		if (e->a.attr.pinned && e->running == 0)
			return 0; /* a pinned event that lost its counter */
		if (len > n)
			return -ENOSPC;
		memcpy(buf, out, len);
		return (long)len;
	}
	if (is_failing_call(f, FAKE_READ))
		return -f->fail_errno;
	o = opened_file(f, fd);
	if (!o)
		return -EBADF;
	len = o->file->size - o->at;
	len = len < n ? len : n;
	memcpy(buf, o->file->text + o->at, len);
	o->at += len;
	return (long)len;
}

static int fake_close(const struct sys *sys, int fd)
{
	struct fake *f = find_fake(sys);
	struct fake_event *e = fake_event(f, fd);

	if (e) {
		e->used = false;
		f->n_open--;
	} else if (opened_file(f, fd)) {
		opened_file(f, fd)->used = false;
		f->n_open--;
	} else {
		fprintf(stderr, "fake: close of descriptor %d, which is not open\n", fd);
		abort();
	}
	/* Like the real one: the descriptor is gone even when close fails. */
	return is_failing_call(f, FAKE_CLOSE) ? -f->fail_errno : 0;
}

/* Returns the first name in a folder, not before the one in @within, whose first @len characters
 * are the folder's path; NULL if the folder has no such name. */
static const char *next_name(const struct fake *f, const char *within, size_t len)
{
	unsigned i = first_file(f, within);

	return i < f->n_files && strncmp(f->files[i].path, within, len) == 0
	               ? f->files[i].path + len
	               : NULL;
}

static int fake_list(const struct sys *sys, const char *path,
                     int (*each)(void *arg, const char *name), void *arg)
{
	struct fake *f = find_fake(sys);
	size_t len = strlen(path) + 1;
	char within[5000];
	const char *next;

	if (is_failing_call(f, FAKE_LIST))
		return -f->fail_errno;
	if (len + 2 > sizeof(within))
		return -ENAMETOOLONG;
	snprintf(within, sizeof(within), "%s/", path);
	next = next_name(f, within, len);
	if (!next)
		return -ENOENT;
	while (next) {
		size_t n = strcspn(next, "/");
		int rc;

		n = n < sizeof(within) - len - 2 ? n : sizeof(within) - len - 2;
		memcpy(within + len, next, n);
		within[len + n] = '\0';
		rc = each(arg, within + len);
		if (rc)
			return rc;
		memcpy(within + len + n, "\1", 2); /* sorts after the name and all paths below it */
		next = next_name(f, within, len);
	}
	return 0;
}

/* ---- kernel events --------------------------------------------------------------------------- */

struct fake_event *fake_event(struct fake *f, int fd)
{
	unsigned i = fake_number(fd);

	return i < f->n_events && f->events[i].used ? &f->events[i] : NULL;
}

unsigned fake_open_events(const struct fake *f)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->n_events; i++)
		n += f->events[i].used;
	return n;
}

static int fake_perf(const struct sys *sys, struct perf_attr *attr, int pid, int cpu, int group,
                     unsigned long flags)
{
	struct fake *f = find_fake(sys);
	struct fake_event *e;
	int rc = 0;

	if (is_failing_call(f, FAKE_PERF))
		return -f->fail_errno;
	if (group >= 0 && !fake_event(f, group))
		return -EBADF;
	if (f->decide)
		rc = f->decide(f, attr, pid, cpu, group);
	if (rc)
		return rc;
	if (f->limit && f->n_open >= f->limit)
		return -EMFILE;
	if (f->n_events == f->ring_pages) {
		f->ring_pages *= 2;
		f->events = realloc(f->events, f->ring_pages * sizeof(*f->events));
	}
	if (!f->events)
		abort();
	e = &f->events[f->n_events++];
	memset(e, 0, sizeof(*e));
	memcpy(&e->a, attr, attr->size <= sizeof(e->a) ? attr->size : sizeof(e->a));
	e->used = true;
	e->enabled = !attr->disabled;
	e->pid = pid;
	e->cpu = cpu;
	e->group = group;
	e->last = f->n_events - 1;
	if (group >= 0)
		fake_event(f, group)->last = e->last;
	e->output = -1;
	e->flags = flags;
	f->n_open++;
	return fake_fd(f->n_events - 1);
}

/* The owner of the ring must have one, and be of the same CPU or, without one, of the same task. */
static int set_output(struct fake *f, struct fake_event *e, int fd)
{
	const struct fake_event *owner = fake_event(f, fd);

	if (!owner)
		return -EBADF;
	if (owner == e || !owner->page || owner->cpu != e->cpu ||
	    (e->cpu < 0 && owner->pid != e->pid))
		return -EINVAL;
	e->output = fd;
	return 0;
}

static int fake_ioctl(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	struct fake *f = find_fake(sys);
	struct fake_event *e = fake_event(f, fd);

	if (is_failing_call(f, FAKE_IOCTL))
		return -f->fail_errno;
	if (!e)
		return -EBADF;
	if (request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE)
		e->enabled = request == PERF_EVENT_IOC_ENABLE;
	else if (request == PERF_EVENT_IOC_SET_OUTPUT)
		return set_output(f, e, (int)(intptr_t)arg);
	else if (request == PERF_EVENT_IOC_ID)
		*(uint64_t *)arg = fake_id(fd);
	else
		return -ENOTTY;
	return 0;
}

static int fake_poll(const struct sys *sys, struct pollfd *fds, unsigned n, int timeout)
{
	struct fake *f = find_fake(sys);
	int told = 0;

	(void)timeout;
	if (is_failing_call(f, FAKE_POLL))
		return -f->fail_errno;
	for (unsigned i = 0; i < n; i++) {
		const struct fake_event *e = fake_event(f, fds[i].fd);

		fds[i].revents = e ? e->revents : POLLNVAL;
		told += fds[i].revents != 0;
	}
	return told;
}

static void begin_ring(struct fake_event *e, void *at, size_t len)
{
	struct perf_event_mmap_page *page = at;
	size_t first = (size_t)sysconf(_SC_PAGESIZE);

	e->page = page;
	page->data_offset = first;
	page->data_size = len - first;
}

static int fake_mmap(const struct sys *sys, int fd, size_t len, int writable, void **out)
{
	struct fake *f = find_fake(sys);
	struct fake_event *e = fake_event(f, fd);

	(void)writable;
	if (is_failing_call(f, FAKE_MMAP))
		return -f->fail_errno;
	if (f->locked && len > f->locked - f->mapped)
		return -EPERM;
	*out = calloc(1, len);
	if (!*out)
		return -ENOMEM;
	if (e)
		begin_ring(e, *out, f->empty_rings ? (size_t)sysconf(_SC_PAGESIZE) : len);
	f->n_maps++;
	f->mapped += len;
	return 0;
}

static int fake_munmap(const struct sys *sys, void *at, size_t len)
{
	struct fake *f = find_fake(sys);

	for (unsigned i = 0; i < f->n_events; i++)
		if (f->events[i].page == at)
			f->events[i].page = NULL;
	free(at);
	f->n_maps--;
	f->mapped -= len;
	return 0;
}

bool fake_record(struct fake *f, int fd, const void *record, size_t size)
{
	const struct fake_event *e = fake_event(f, fd),
				*owner = e && e->output >= 0 ? fake_event(f, e->output) : e;
	struct perf_event_mmap_page *page = owner ? owner->page : NULL;
	uint8_t *data = page ? (uint8_t *)page + page->data_offset : NULL;

	if (!page || page->data_size - (page->data_head - page->data_tail) < size)
		return false;
	for (size_t i = 0; i < size; i++)
		data[(page->data_head + i) % page->data_size] = ((const uint8_t *)record)[i];
	page->data_head += size;
	return true;
}

static uint64_t fake_now(const struct sys *sys)
{
	return ((struct fake *)sys->arg)->clock_ns;
}

static bool fake_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	(void)sys;
	(void)leaf;
	(void)subleaf;
	(void)regs;
	return false;
}

static int fake_time_of(const struct sys *sys, int pid, uint64_t *ns)
{
	(void)pid;
	*ns = find_fake(sys)->n_taken;
	return 0;
}

void fake_begin(struct fake *f)
{
	char self[64];

	memset(f, 0, sizeof(*f));
	f->sys = (struct sys){
		.open = fake_open,
		.read = fake_read,
		.ioctl = fake_ioctl,
		.close = fake_close,
		.mmap = fake_mmap,
		.munmap = fake_munmap,
		.get_time = fake_now,
		.poll = fake_poll,
		.perf_event_open = fake_perf,
		.list_folder = fake_list,
		.get_process_time = fake_time_of,
		.read_cpuid = fake_cpuid,
		.arg = f,
	};
	f->ring_pages = 256;
	f->events = malloc(f->ring_pages * sizeof(*f->events));
	snprintf(self, sizeof(self), "Name:\tus\nPid:\t%d\n", (int)getpid());
	fake_file(f, "/proc/self/status", self);
}

void fake_end(struct fake *f)
{
	for (unsigned i = 0; i < f->n_files; i++) {
		free(f->files[i].path);
		free(f->files[i].text);
	}
	free(f->files);
	free(f->events);
	memset(f, 0, sizeof(*f));
}
