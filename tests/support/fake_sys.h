/* SPDX-License-Identifier: MIT */
/* A system made of a script: recorded files, kernel events that count what the test says, and any
 * call failing at its n-th use. What stays open or mapped is counted, so leaks show. */
#ifndef PERFMON_TESTS_FAKE_SYS_H
#define PERFMON_TESTS_FAKE_SYS_H

#include "machine/perf_abi.h"
#include "machine/machine.h"

enum fake_call {
	FAKE_OPEN,
	FAKE_READ,
	FAKE_IOCTL,
	FAKE_CLOSE,
	FAKE_MMAP,
	FAKE_PERF,
	FAKE_LIST,
	FAKE_READ_PERF,
	FAKE_POLL,
	N_FAKE_CALLS
};

struct fake_file {
	char *path, *text;
	size_t size;
};

enum { FAKE_OPEN_FILES = 1024 };

struct fake_open {
	const struct fake_file *file;
	size_t at;
	bool used;
};

/* An open kernel event. */
struct fake_event {
	bool used, enabled;
	union {
		struct perf_attr attr;
		uint64_t words[32];
	} a;
	int pid, cpu, group; /* group: descriptor of the leader, -1 for none */
	unsigned last;       /* of a leader: the number of its last member, or its own */
	unsigned long flags;
	uint64_t value, is_open,
		running; /* what reading gives; the test may set them at any time */
	uint64_t lost;   /* read where PERF_FORMAT_LOST asks for it */
	void *page;      /* as mapped: a page and, if there is more, an empty ring after it */
	int output;      /* the event whose ring it writes to, -1: none */
	short revents;   /* what poll(2) says of it */
};

struct fake {
	struct sys sys;
	struct fake_file *files;
	unsigned n_files;
	struct fake_event *events; /* indexed by fake_number(); no index is reused */
	unsigned n_events, ring_pages;
	struct fake_open open[FAKE_OPEN_FILES];
	unsigned uses[N_FAKE_CALLS]; /* how often each was called */
	enum fake_call fail;         /* the call that fails ... */
	unsigned fail_at;            /* ... at this use (1 is the first); 0: none */
	int fail_errno;
	uint64_t n_taken;   /* processor time of each process */
	bool fail_on;       /* and at every later one */
	int n_open, n_maps; /* descriptors and maps not given back */
	/* Decides what perf_event_open says: 0 or -errno. NULL: yes to everything. */
	int (*decide)(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group);
	/* Called before an event is read: may change its numbers. NULL: events count 1000 times
	 * their number and were never idle. */
	void (*tick)(struct fake *f, struct fake_event *e);
	int limit;     /* descriptors the process may have, 0 for any number */
	size_t locked; /* bytes that may be mapped at a time, 0 for any number */
	size_t mapped;
	bool empty_rings;  /* maps have no room for records, whatever their size */
	uint64_t clock_ns; /* nanoseconds; only the test advances it */
	int number;        /* for the test's own use */
};

/* Event 0 mostly probes for the system call. Event 1 gets descriptor 0, as in a program that has
 * closed its standard input. No other number is a descriptor of the test program. */
enum { FAKE_EVENT_FD = 100, FAKE_FILE_FD = 900000 };

static inline int fake_fd(unsigned event)
{
	return event == 1 ? 0 : FAKE_EVENT_FD + (int)event;
}

static inline unsigned fake_number(int fd)
{
	return fd == 0 ? 1 : (unsigned)(fd - FAKE_EVENT_FD);
}

/* The id of the event in the kernel's records. */
static inline uint64_t fake_id(int fd)
{
	return 1000 + 10 * (uint64_t)fake_number(fd);
}

void fake_begin(struct fake *f);
void fake_end(struct fake *f);
/* Adds or replaces a file and returns it. Appends a newline to the text, as the kernel does. */
struct fake_file *fake_file(struct fake *f, const char *path, const char *text);
/* A file with these @n bytes. */
struct fake_file *fake_bytes(struct fake *f, const char *path, const void *bytes, size_t n);
void fake_remove(struct fake *f, const char *path);
/* Adds the files of a recorded machine: lines of a path, a TAB and the text. Paths that do not
 * start with '/' are below /sys/bus/event_source/devices; '#' starts a comment line. False if it
 * cannot be read. */
bool fake_machine(struct fake *f, const char *path);
/* Begins with the machine that is recorded as tests/machines/@name.txt, which is there. */
void fake_recorded(struct fake *f, const char *name);
struct fake_event *fake_event(struct fake *f, int fd);
/* Writes a record into the ring that event @fd writes to. Returns false if the ring lacks space: as
 * in the kernel, nothing is written. */
bool fake_record(struct fake *f, int fd, const void *record, size_t size);
/* Events that are open just now. */
unsigned fake_open_events(const struct fake *f);

#endif
