/* SPDX-License-Identifier: MIT */
/*
 * cuse_server FAMILY NODE [OPTION]...: serves the character device /dev/NODE with the model of the
 * Tru64 counter device for FAMILY (ev4 ... ev67). The server runs in user space, so programs go
 * through a real kernel. OPTIONs are libfuse's: -f -s.
 *
 * Arguments of requests hold pointers, which only the model understands. The model runs the request
 * with the caller's bytes that are available. Where it reads others, or writes, it gets EFAULT and
 * the place is recorded; the kernel is then asked to transfer these bytes, too, and to repeat the
 * request. The model changes nothing before it has all bytes, so a repetition does no harm.
 */
#define FUSE_USE_VERSION 31
#include <cuse_lowlevel.h>
#include <errno.h>
#include <perfmon/pfcntr.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "alpha/model.h"
#include "door.h"

#define MAX_PLACES 16
#define MAX_BYTES  65536

static struct alpha_device *model;
static uint64_t then;

/* Bytes of the caller: the places follow one another in @data. */
struct bytes {
	unsigned n;
	struct iovec place[MAX_PLACES];
	size_t size;
	char data[MAX_BYTES];
};

struct asking {
	struct bytes in, out; /* places that the model reads and writes */
	size_t brought, room; /* bytes of them that are available */
	bool again;
};

static char *find(struct bytes *b, size_t there, uint64_t at, size_t n)
{
	size_t offset = 0;

	for (unsigned i = 0; i < b->n && offset < there; offset += b->place[i++].iov_len)
		if ((uint64_t)(uintptr_t)b->place[i].iov_base == at && b->place[i].iov_len == n)
			return b->data + offset;
	return NULL;
}

static int want(struct asking *a, struct bytes *b, uint64_t at, size_t n)
{
	if (b->n == MAX_PLACES || n > sizeof(b->data) - b->size)
		return -E2BIG;
	b->place[b->n++] = (struct iovec){ (void *)(uintptr_t)at, n };
	b->size += n;
	a->again = true;
	return -EFAULT;
}

static int caller_get(void *arg, uint64_t from, void *to, size_t n)
{
	struct asking *a = arg;
	const char *data = find(&a->in, a->brought, from, n);

	if (data == NULL)
		return want(a, &a->in, from, n);
	memcpy(to, data, n);
	return 0;
}

static int caller_put(void *arg, uint64_t to, const void *from, size_t n)
{
	struct asking *a = arg;
	char *data = find(&a->out, a->room, to, n);

	if (data == NULL)
		return want(a, &a->out, to, n);
	memcpy(data, from, n);
	return 0;
}

/* ---- who is asking --------------------------------------------------------------------------- */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int parent_of(int pid)
{
	char path[64], line[256];
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "PPid: %d", &parent) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return parent;
}

/* The processor a process may run on, if it is the only one. */
static int bound_to(int pid)
{
	cpu_set_t set;

	if (sched_getaffinity(pid, sizeof(set), &set) != 0 || CPU_COUNT(&set) != 1)
		return ALPHA_DEVICE_UNBOUND;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			return (int)cpu;
	return ALPHA_DEVICE_UNBOUND;
}

/* Makes the caller known to the model, and lets the model run up to now. */
static int introduce(fuse_req_t req)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	int cpu = bound_to(ctx->pid), parent = parent_of(ctx->pid);
	uint64_t t = now();

	if (alpha_device_is_process_marked(model, ctx->pid) < 0 &&
	    alpha_device_is_process_marked(model, parent) >= 0)
		alpha_device_fork_process(model, parent, ctx->pid);
	alpha_device_set_process(model, ctx->pid, ctx->uid, cpu);
	alpha_device_run(model, t - then, ctx->pid, cpu < 0 ? 0 : (unsigned)cpu, 0x1000);
	then = t;
	return ctx->pid;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void serve_open(fuse_req_t req, struct fuse_file_info *file)
{
	int moved = file->flags & PCNTOPENMASK >> DOOR_SHIFT;
	/* Without door.c only the one bit can come through that every program of a 64-bit Linux has
	 * set. */
	int mode = moved != 0 ? moved << DOOR_SHIFT : file->flags & PCNTOPENMASK;
	int handle = alpha_device_open_session(model, introduce(req), (uint64_t)mode);

	if (handle < 0) {
		fuse_reply_err(req, -handle);
		return;
	}
	file->fh = (uint64_t)handle;
	file->direct_io = 1;
	/* Nobody waits any more for the answer: then the last close never comes. */
	if (fuse_reply_open(req, file) == -ENOENT)
		alpha_device_close_session(model, handle);
}

static void serve_release(fuse_req_t req, struct fuse_file_info *file)
{
	fuse_reply_err(req, -alpha_device_close_session(model, (int)file->fh));
}

static void serve_read(fuse_req_t req, size_t size, off_t offset, struct fuse_file_info *file)
{
	size_t n = size < MAX_BYTES ? size : MAX_BYTES;
	char *data = calloc(1, n + 1);
	long got;

	(void)offset;
	introduce(req);
	got = data == NULL
	              ? -ENOMEM
	              : alpha_device_read_samples(model, (int)file->fh, (uint64_t)(uintptr_t)data,
	                                          n, &alpha_device_own_memory);
	if (got < 0)
		fuse_reply_err(req, (int)-got);
	else
		fuse_reply_buf(req, data, (size_t)got);
	free(data);
}

/* Each repetition of a request runs the model from the start, so the bytes from the kernel are in
 * the order of the model's accesses. */
static void serve_ioctl(fuse_req_t req, int cmd, void *arg, struct fuse_file_info *file,
                        unsigned flags, const void *in, size_t in_size, size_t out_size)
{
	static struct asking a;
	const struct alpha_device_memory memory = { caller_get, caller_put, &a };
	int pid = introduce(req), rc;

	(void)flags;
	memset(&a, 0, sizeof(a));
	do {
		if (a.in.size > in_size || a.out.size > out_size) {
			fuse_reply_ioctl_retry(req, a.in.place, a.in.n, a.out.place, a.out.n);
			return;
		}
		if (a.in.size > 0)
			memcpy(a.in.data, in, a.in.size);
		a.brought = a.in.size;
		a.room = a.out.size;
		a.again = false;
		rc = alpha_device_do_ioctl(model, (int)file->fh, pid, (uint32_t)cmd,
		                           (uint64_t)(uintptr_t)arg, &memory);
	} while (a.again);
	if (rc < 0)
		fuse_reply_err(req, -rc);
	else
		fuse_reply_ioctl(req, rc, a.out.data, a.out.size);
}

int main(int argc, char **argv)
{
	static const struct cuse_lowlevel_ops ops = {
		.open = serve_open,
		.release = serve_release,
		.read = serve_read,
		.ioctl = serve_ioctl,
	};
	char name[64];
	const char *info[] = { name };
	struct cuse_info cuse = { .dev_info_argc = 1,
		                  .dev_info_argv = info,
		                  .flags = CUSE_UNRESTRICTED_IOCTL };
	struct alpha_device_options how;
	int family = argc > 2 ? alpha_device_find_family(argv[1]) : -1;

	if (family < 0) {
		fprintf(stderr, "usage: cuse_server FAMILY NODE [OPTION]...\n");
		return 2;
	}
	alpha_device_set_defaults(&how, (enum alpha_device_family)family);
	how.n_cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	model = alpha_device_new(&how);
	if (model == NULL)
		return 1;
	then = now();
	snprintf(name, sizeof(name), "DEVNAME=%s", argv[2]);
	argv[2] = argv[0];
	return cuse_lowlevel_main(argc - 2, argv + 2, &cuse, &ops, NULL);
}
