/* SPDX-License-Identifier: MIT */
/* What was there before the first record: names and executable mappings of the tasks that are watched, in the records that the
 * kernel would have written had it watched them from their birth. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "perfdata/perfdata.h"

/* A record under construction; trailers follow every record, here with zeros: before all time. */
struct maker {
	struct pfm_session *s;
	pfmi_put_fn put;
	void *arg;
	uint64_t words[640];
	size_t n; /* bytes */
	int rc;
	uint32_t pid;
};

static void add(struct maker *m, const void *p, size_t n)
{
	memcpy((uint8_t *)m->words + m->n, p, n);
	m->n += n;
}

static void begin(struct maker *m, uint32_t type, uint16_t misc, uint32_t pid, uint32_t tid)
{
	struct record_head head = { type, misc, 0 };

	memset(m->words, 0, sizeof(m->words));
	m->n = 0;
	add(m, &head, sizeof(head));
	add(m, &pid, sizeof(pid));
	add(m, &tid, sizeof(tid));
}

static void add_name(struct maker *m, const char *name)
{
	add(m, name, strlen(name) + 1);
	m->n = (m->n + 7) & ~(size_t)7;
}

static void finish(struct maker *m)
{
	uint16_t size;

	m->n += 8 * (size_t)__builtin_popcountll(m->s->sampling->asked.fields & TRAILER);
	size = (uint16_t)m->n;
	memcpy((uint8_t *)m->words + 6, &size, sizeof(size));
	if (!m->rc)
		m->rc = m->put(m->arg, m->words, m->n);
}

struct mapping {
	uint64_t start, end, offset, inode;
	unsigned major, minor;
	char prot[8];
	char name[4096];
};

/* One line of /proc/PID/maps. False if it is no executable mapping. */
static bool read_mapping(const char *line, struct mapping *m)
{
	unsigned long long start, end, offset, inode;
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, m->prot, &offset, &m->major, &m->minor, &inode, &at) < 7)
		return false;
	m->start = start;
	m->end = end;
	m->offset = offset;
	m->inode = inode;
	snprintf(m->name, sizeof(m->name), "%s", at && line[at] ? line + at : "//anon");
	return strchr(m->prot, 'x') != NULL;
}

static void put_map(struct maker *m, const struct mapping *map)
{
	uint32_t numbers[2] = { map->major, map->minor };
	uint64_t where[3] = { map->start, map->end - map->start, map->offset }, inode[2] = { map->inode, 0 };
	uint32_t prot[2] = { 5, strchr(map->prot, 'p') ? 2 : 1 };

	begin(m, PFM_RECORD_MAP2, PFM_MISC_USER, m->pid, m->pid);
	add(m, where, sizeof(where));
	add(m, numbers, sizeof(numbers));
	add(m, inode, sizeof(inode));
	add(m, prot, sizeof(prot));
	add_name(m, map->name);
	finish(m);
}

/* What the process has mapped; nothing, if it has gone. */
static void put_maps(struct maker *m)
{
	char path[64], *text;
	struct mapping map;
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "/proc/%u/maps", m->pid);
	rc = pfmi_sys_read(&m->s->sys, path, &text, &len);
	if (rc) {
		m->rc = rc == -ENOMEM && !m->rc ? rc : m->rc;
		return;
	}
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (read_mapping(line, &map))
			put_map(m, &map);
	}
	free(text);
}

static int put_thread(void *arg, const char *name)
{
	struct maker *m = arg;
	char path[128], comm[32];
	unsigned long tid = (unsigned long)strtoull(name, NULL, 10);

	snprintf(path, sizeof(path), "/proc/%u/task/%lu/comm", m->pid, tid);
	if (!tid || pfmi_sys_slurp(&m->s->sys, path, comm, sizeof(comm)) <= 0)
		return 0;
	begin(m, PFM_RECORD_COMM, 0, m->pid, (uint32_t)tid);
	add_name(m, comm);
	finish(m);
	return 0;
}

/* What cannot be read is left out, but for want of memory. */
static void list(struct maker *m, const char *path, int (*each)(void *arg, const char *name))
{
	if (m->s->sys.list(&m->s->sys, path, each, m) == -ENOMEM && !m->rc)
		m->rc = -ENOMEM;
}

/* Maps belong to a process: once, not for each of its threads. */
static int put_process(void *arg, const char *name)
{
	struct maker *m = arg;
	char path[64];
	unsigned long pid = (unsigned long)strtoull(name, NULL, 10);

	if (!pid)
		return 0;
	m->pid = (uint32_t)pid;
	snprintf(path, sizeof(path), "/proc/%lu/task", pid);
	list(m, path, put_thread);
	put_maps(m);
	return 0;
}

/* Where the kernel is, if it may be known: readers need it to name addresses in it. */
static void put_kernel(struct maker *m)
{
	unsigned long long start = 0;
	char *line = NULL, type, name[64];
	size_t room = 0;
	uint64_t where[3];
	FILE *f;

	errno = 0;
	f = m->s->sys.root[0] ? NULL : fopen("/proc/kallsyms", "re");
	while (f && getline(&line, &room, f) > 0)
		if (sscanf(line, "%llx %c %63s", &start, &type, name) == 3 && strcmp(name, "_stext") == 0)
			break;
		else
			start = 0;
	if (!start && errno == ENOMEM) /* else it may not be known */
		m->rc = -ENOMEM;
	free(line);
	if (f)
		fclose(f);
	if (!start)
		return;
	where[0] = where[2] = start;
	where[1] = UINT64_MAX - start - 0xffffff;
	begin(m, PFM_RECORD_MAP, PFM_MISC_KERNEL, UINT32_MAX, 0);
	add(m, where, sizeof(where));
	add_name(m, "[kernel.kallsyms]_stext");
	finish(m);
}

int pfmi_data_before(struct pfm_session *s, pfmi_put_fn put, void *arg)
{
	struct maker *m = calloc(1, sizeof(*m));
	char self[16];
	int rc;

	if (!m)
		return -ENOMEM;
	*m = (struct maker){ .s = s, .put = put, .arg = arg };
	put_kernel(m);
	snprintf(self, sizeof(self), "%d", s->options.pid > 0 ? s->options.pid : getpid());
	if (s->options.flags & PFM_SESSION_SYSTEM_WIDE)
		list(m, "/proc", put_process);
	else
		put_process(m, self);
	rc = m->rc;
	free(m);
	return rc;
}
