/* SPDX-License-Identifier: MIT */
/* The kernel events of a thread. Everything here is async-signal-safe. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "region/reading.h"
#include "session/perf_event.h"

enum {
	PAGE_BYTES = 4096,
	ARM64_USER_READ = 2 /* bit of config1: arm64 requires it before user space may read */
};

static void fill_attr(struct perf_attr *to, const perfmon_attr_t *from, bool disabled)
{
	memset(to, 0, sizeof(*to));
	/* cannot fail: the struct is large enough */
	(void)pfmi_perf_fill_attr(from, to, sizeof(*to));
	to->pinned = 0;
	to->precise_ip = 0;
	to->disabled = disabled;
	to->read_format =
		PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
}

static int open_event(struct perf_attr *attr, int pid, int cpu, int group)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int pfmi_region_open_event(const perfmon_attr_t *from, int pid, int cpu, int group, bool disabled)
{
	struct perf_attr attr;
	int fd;

	fill_attr(&attr, from, disabled);
#ifdef __aarch64__
	if (from->type != PERF_TYPE_SOFTWARE && from->type != PERF_TYPE_TRACEPOINT &&
	    from->type != PERF_TYPE_BREAKPOINT) {
		attr.config1 |= ARM64_USER_READ;
		fd = open_event(&attr, pid, cpu, group);
		if (fd >= 0)
			return fd;
		attr.config1 = from->config1;
	}
#else
	(void)ARM64_USER_READ;
#endif
	fd = open_event(&attr, pid, cpu, group);
	return fd;
}

/* Maps the page of a hardware event that the kernel lets user space read, with its times and the
 * clock. */
static void *map_page(const struct region_event *e, int fd)
{
	struct perf_event_mmap_page *page;

	if (e->soft)
		return NULL;
	page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return NULL;
	if (page->cap_user_rdpmc && page->cap_user_time && page->cap_user_time_zero)
		return page;
	munmap(page, PAGE_BYTES);
	return NULL;
}

static void unmap_pages(const struct thread *t, const struct group *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		if (t->pages[g->first_fd + i])
			munmap(t->pages[g->first_fd + i], PAGE_BYTES);
		t->pages[g->first_fd + i] = NULL;
	}
}

/* Maps the pages of all events of @g, or none. */
static void map_pages(const struct thread *t, const struct group *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		t->pages[g->first_fd + i] = map_page(&pfmi_regions.layout.events[g->events[i]],
		                                     t->fds[g->first_fd + i]);
		if (!t->pages[g->first_fd + i]) {
			unmap_pages(t, g);
			return;
		}
	}
}

static void close_group(struct thread *t, const struct group *g)
{
	unmap_pages(t, g);
	for (unsigned i = g->n; i-- > 0;) {
		if (t->fds[g->first_fd + i] >= 0)
			close(t->fds[g->first_fd + i]);
		t->fds[g->first_fd + i] = -1;
	}
}

/* The leader of a group that will count is disabled at first: in Linux 6.18 an event that joins a
 * running leader of another PMU counts only after the next switch of tasks. Drivers count only
 * enabled events when they check that a group fits, so all are enabled @to_try. */
int pfmi_region_open_group(const struct region_event *events, const struct group *g, bool to_try,
                           int *fds)
{
	for (unsigned i = 0; i < g->n; i++) {
		int fd = pfmi_region_open_event(&events[g->events[i]].attr, 0, -1, i ? fds[0] : -1,
		                                i == 0 && !to_try);

		fds[i] = fd < 0 ? -1 : fd;
		if (fd >= 0)
			continue;
		for (unsigned k = i; k-- > 0; fds[k] = -1)
			close(fds[k]);
		return -fd;
	}
	return 0;
}

static void open_group(struct thread *t, const struct group *g)
{
	int err;

	if (g->n_system)
		return;
	err = pfmi_region_open_group(pfmi_regions.layout.events, g, false, t->fds + g->first_fd);
	if (err)
		t->open_errno = err;
	else
		map_pages(t, g);
}

/* True if user space reads everything: there is one group in each round. Formats that draw visits
 * need the system's clock instead. */
static bool is_read_by_user(const struct thread *t)
{
	const struct layout *l = &pfmi_regions.layout;

	for (unsigned r = 0; r < l->n_rounds; r++)
		if (l->is_simulated || l->rounds[r].n != 1 ||
		    !t->pages[l->rounds[r].groups[0].first_fd])
			return false;
	return !pfmi_regions.keeps_slices;
}

static void control_round(const struct thread *t, unsigned round, unsigned long request)
{
	const struct round *r = &pfmi_regions.layout.rounds[round];

	for (unsigned i = 0; i < r->n; i++)
		if (!r->groups[i].n_system && t->fds[r->groups[i].first_fd] >= 0)
			ioctl(t->fds[r->groups[i].first_fd], request, 0);
}

void pfmi_thread_open_counters(struct thread *t)
{
	const struct layout *l = &pfmi_regions.layout;
	int saved = errno;

	t->opened = true;
	t->generation++;
	t->round = 0;
	for (unsigned i = 0; i < l->n_fds; i++)
		t->fds[i] = -1;
	for (unsigned r = 0; r < l->n_rounds && !l->is_simulated; r++)
		for (unsigned g = 0; g < l->rounds[r].n; g++)
			open_group(t, &l->rounds[r].groups[g]);
	control_round(t, 0, PERF_EVENT_IOC_ENABLE);
	t->user_group = is_read_by_user(t) ? l->rounds[0].groups : NULL;
	errno = saved;
}

void pfmi_thread_close_counters(struct thread *t)
{
	const struct layout *l = &pfmi_regions.layout;

	for (unsigned r = 0; t->opened && r < l->n_rounds; r++)
		for (unsigned g = 0; g < l->rounds[r].n; g++)
			close_group(t, &l->rounds[r].groups[g]);
	t->opened = false;
}

/* Calls read(2) without its cancellation point: begin and end are called in destructors, which must
 * not be unwound. */
static inline long read_kernel(int fd, uint64_t *out, size_t size)
{
	return syscall(SYS_read, fd, out, size);
}

__attribute__((noinline, cold)) static void read_again(int fd, size_t size, uint64_t *out)
{
	int saved = errno;
	long n;

	do
		n = fd < 0 ? 0 : read_kernel(fd, out, size);
	while (n < 0 && errno == EINTR);
	if (n != (long)size)
		out[GROUP_NR] = 0;
	errno = saved;
}

/* Sums an event of the whole machine over its CPUs. */
__attribute__((noinline, cold)) static void read_system(const struct group *g, uint64_t *out)
{
	uint64_t one[GROUP_VALUES + 1];

	memset(out, 0, sizeof(one));
	for (int i = 0; i < g->n_system; i++) {
		if (read_kernel(g->system_fds[i], one, sizeof(one)) != (long)sizeof(one)) {
			out[GROUP_NR] = 0;
			return;
		}
		for (unsigned w = GROUP_ENABLED; w <= GROUP_VALUES; w++)
			out[w] += one[w];
	}
	out[GROUP_NR] = 1;
}

void pfmi_thread_read_counters(const struct thread *t, uint64_t *out)
{
	const struct round *r = &pfmi_regions.layout.rounds[t->round];

	if (pfmi_regions.layout.is_simulated) {
		pfmi_region_read_simulated(&pfmi_regions.layout, pfmi_region_get_wall_time(), out);
		return;
	}
	for (unsigned i = 0; i < r->n; i++) {
		const struct group *g = &r->groups[i];
		size_t size = (GROUP_VALUES + g->n) * sizeof(*out);
		int fd = t->fds[g->first_fd];

		if (g->n_system)
			read_system(g, out + g->word);
		else if (fd < 0 || read_kernel(fd, out + g->word, size) != (long)size)
			read_again(fd, size, out + g->word);
	}
}

uint64_t pfmi_thread_get_time(const struct thread *t)
{
	return t->user_group ? read_user_clock(t->pages[t->user_group->first_fd])
	                     : pfmi_region_get_wall_time();
}

void pfmi_thread_switch_round(struct thread *t, unsigned round)
{
	int saved = errno;

	if (round == t->round)
		return;
	control_round(t, t->round, PERF_EVENT_IOC_DISABLE);
	t->round = round;
	if (t->user_group)
		t->user_group = pfmi_regions.layout.rounds[round].groups;
	t->generation++;
	control_round(t, round, PERF_EVENT_IOC_ENABLE);
	errno = saved;
}

uint64_t pfmi_region_get_wall_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
