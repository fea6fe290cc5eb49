/* SPDX-License-Identifier: MIT */
/* Records about the state before the first record: names and mappings of the tasks that are
 * sampled. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "perfdata/perfdata.h"

/* A record that is being made. Its trailer is all zeros, so that its time is before all others. */
struct record_builder {
	struct pfm_session *session;
	perfdata_write_fn write_record;
	void *write_arg;
	uint64_t words[640];
	size_t size; /* bytes */
	int error_code;
	uint32_t pid;
};

static void append_bytes(struct record_builder *m, const void *p, size_t n)
{
	memcpy((uint8_t *)m->words + m->size, p, n);
	m->size += n;
}

static void begin_record(struct record_builder *m, uint32_t type, uint16_t misc, uint32_t pid,
                         uint32_t tid)
{
	struct record_header head = { type, misc, 0 };

	memset(m->words, 0, sizeof(m->words));
	m->size = 0;
	append_bytes(m, &head, sizeof(head));
	append_bytes(m, &pid, sizeof(pid));
	append_bytes(m, &tid, sizeof(tid));
}

static void append_name(struct record_builder *m, const char *name)
{
	append_bytes(m, name, strlen(name) + 1);
	m->size = (m->size + 7) & ~(size_t)7;
}

static void finish_record(struct record_builder *m)
{
	uint16_t size;

	m->size += 8 * (size_t)__builtin_popcountll(m->session->sampling->config.fields &
	                                            SAMPLE_TRAILER_FIELDS);
	size = (uint16_t)m->size;
	memcpy((uint8_t *)m->words + 6, &size, sizeof(size));
	if (!m->error_code)
		m->error_code = m->write_record(m->write_arg, m->words, m->size);
}

struct mapping {
	uint64_t start, end, offset, inode;
	unsigned major, minor;
	char prot[8];
	char name[4096];
};

/* Parses one line of /proc/PID/maps. Returns false if it does not describe a mapping. */
static bool parse_mapping(const char *line, struct mapping *m)
{
	unsigned long long start, end, offset, inode;
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, m->prot, &offset,
	           &m->major, &m->minor, &inode, &at) < 7)
		return false;
	m->start = start;
	m->end = end;
	m->offset = offset;
	m->inode = inode;
	snprintf(m->name, sizeof(m->name), "%s", at && line[at] ? line + at : "//anon");
	return true;
}

static bool is_executable(const struct mapping *m)
{
	return strchr(m->prot, 'x') != NULL;
}

/* As PROT_READ, PROT_WRITE and PROT_EXEC; code counts as readable and executable. */
static uint32_t get_protection(const struct mapping *m)
{
	if (is_executable(m))
		return 5;
	return (strchr(m->prot, 'r') ? 1u : 0u) | (strchr(m->prot, 'w') ? 2u : 0u);
}

static void write_map_record(struct record_builder *m, const struct mapping *map)
{
	uint32_t numbers[2] = { map->major, map->minor };
	uint64_t where[3] = { map->start, map->end - map->start, map->offset },
		 inode[2] = { map->inode, 0 };
	uint32_t prot[2] = { get_protection(map), strchr(map->prot, 'p') ? 2 : 1 };
	uint32_t misc = PFM_MISC_USER | (is_executable(map) ? 0 : PFM_MISC_DATA);

	begin_record(m, PFM_RECORD_MAP2, (uint16_t)misc, m->pid, m->pid);
	append_bytes(m, where, sizeof(where));
	append_bytes(m, numbers, sizeof(numbers));
	append_bytes(m, inode, sizeof(inode));
	append_bytes(m, prot, sizeof(prot));
	append_name(m, map->name);
	finish_record(m);
}

/* Writes the mappings of a process, unless it has ended; those without code only on request. */
static void write_process_maps(struct record_builder *m)
{
	bool with_data = m->session->sampling->config.records & PFM_SIDEBAND_DATA_MAPS;
	char path[64], *text;
	struct mapping map;
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "/proc/%u/maps", m->pid);
	rc = pfmi_machine_read_file(&m->session->sys, path, &text, &len);
	if (rc) {
		m->error_code = rc == -ENOMEM && !m->error_code ? rc : m->error_code;
		return;
	}
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (parse_mapping(line, &map) && (with_data || is_executable(&map)))
			write_map_record(m, &map);
	}
	free(text);
}

static int write_comm_record(void *arg, const char *name)
{
	struct record_builder *m = arg;
	char path[128], comm[32];
	unsigned long tid = (unsigned long)strtoull(name, NULL, 10);

	snprintf(path, sizeof(path), "/proc/%u/task/%lu/comm", m->pid, tid);
	if (!tid || pfmi_machine_read_small_file(&m->session->sys, path, comm, sizeof(comm)) <= 0)
		return 0;
	begin_record(m, PFM_RECORD_COMM, 0, m->pid, (uint32_t)tid);
	append_name(m, comm);
	finish_record(m);
	return 0;
}

/* Unreadable files are skipped; only lack of memory is an error. */
static void visit_folder(struct record_builder *m, const char *path,
                         int (*each)(void *arg, const char *name))
{
	if (m->session->sys.list_folder(&m->session->sys, path, each, m) == -ENOMEM &&
	    !m->error_code)
		m->error_code = -ENOMEM;
}

/* Writes mappings once for each process, not for each of its threads. */
static int write_process_records(void *arg, const char *name)
{
	struct record_builder *m = arg;
	char path[64];
	unsigned long pid = (unsigned long)strtoull(name, NULL, 10);

	if (!pid)
		return 0;
	m->pid = (uint32_t)pid;
	snprintf(path, sizeof(path), "/proc/%lu/task", pid);
	visit_folder(m, path, write_comm_record);
	write_process_maps(m);
	return 0;
}

/* Reads the address of the kernel, 0 if this user may not know it. The list of symbols is read only
 * up to _stext, because it has megabytes. */
static uint64_t read_kernel_start(const struct sys *sys)
{
	char text[4096], *found = NULL, *last;
	int fd = sys->open(sys, "/proc/kallsyms", O_RDONLY);
	size_t used = 0;

	if (fd < 0)
		return 0;
	for (long n = 1; !found && n > 0;) {
		n = sys->read(sys, fd, text + used, sizeof(text) - used - 2);
		used += n > 0 ? (size_t)n : 0;
		if (n <= 0) /* the last line may lack its end */
			text[used++] = '\n';
		text[used] = '\0';
		found = strstr(text, " _stext\n");
		last = strrchr(text, '\n');
		if (!found && last) {
			used = strlen(last + 1);
			memmove(text, last + 1, used);
		}
	}
	sys->close(sys, fd);
	while (found && found > text && found[-1] != '\n')
		found--;
	return found ? strtoull(found, NULL, 16) : 0;
}

/* Writes the address of the kernel: readers need it to name kernel addresses. */
static void write_kernel_map(struct record_builder *m)
{
	uint64_t start = read_kernel_start(&m->session->sys), where[3];

	if (!start)
		return;
	where[0] = where[2] = start;
	where[1] = UINT64_MAX - start - 0xffffff;
	begin_record(m, PFM_RECORD_MAP, PFM_MISC_KERNEL, UINT32_MAX, 0);
	append_bytes(m, where, sizeof(where));
	append_name(m, "[kernel.kallsyms]_stext");
	finish_record(m);
}

int pfmi_perfdata_synthesize_records(struct pfm_session *s, perfdata_write_fn put, void *arg)
{
	struct record_builder *m = calloc(1, sizeof(*m));
	char self[16];
	int rc;

	if (!m)
		return -ENOMEM;
	*m = (struct record_builder){ .session = s, .write_record = put, .write_arg = arg };
	write_kernel_map(m);
	snprintf(self, sizeof(self), "%d", s->options.pid > 0 ? s->options.pid : getpid());
	if (s->options.flags & PFM_SESSION_SYSTEM_WIDE)
		visit_folder(m, "/proc", write_process_records);
	else
		write_process_records(m, self);
	rc = m->error_code;
	free(m);
	return rc;
}
