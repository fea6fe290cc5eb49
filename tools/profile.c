/* SPDX-License-Identifier: MIT */
/* A recording added up: which file was mapped where in which process, the parent of each process,
 * and where each sample was. */
#include "profile.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "lines.h"
#include "mappings.h"
#include "pfm.h"
#include "symbols.h"

#define KERNEL_MAP "[kernel.kallsyms]" /* and the name of the symbol at the given address */

struct process {
	uint32_t pid;
	struct map_set maps;
};

struct task {
	uint32_t tid, name;
};

/* Processes, or tasks, by their numbers. */
struct task_table {
	struct hash_table table;
	struct task *list;
	uint32_t n, capacity;
};

struct process_table {
	struct hash_table table;
	struct process *list;
	uint32_t n, capacity;
};

/* State while the recording is read. */
struct profile_reader {
	struct profile *target_profile;
	struct symbols *symbols;
	struct process_table processes;
	struct task_table tasks;
	struct map_pool map_pool;
	struct hash_table place_table, stack_table;
	size_t places_capacity, stacks_capacity;
	enum profile_detail detail;
};

/* ---- texts and places ------------------------------------------------------------------------ */

/* True if the array has, or gets, room for one more element of @size bytes. */
static bool reserve_element(void **list, size_t n, size_t *capacity, size_t size)
{
	size_t twice = *capacity ? 2 * *capacity : 64;
	void *more;

	if (n < *capacity)
		return true;
	more = n < UINT32_MAX / 2 ? realloc(*list, twice * size) : NULL;
	if (!more)
		return false;
	*list = more;
	*capacity = twice;
	return true;
}

struct text_search {
	const struct text_pool *pool;
	const char *text;
};

static bool is_same_text(const void *arg, uint32_t i)
{
	const struct text_search *s = arg;

	return strcmp(s->pool->text[i], s->text) == 0;
}

uint32_t text_number(struct text_pool *t, const char *text)
{
	const struct text_search search = { t, text };
	uint64_t hash = pfmi_base_hash_bytes(text, strlen(text));
	uint32_t found =
		t->failed ? 0 : pfmi_base_find_hash(&t->table, hash, is_same_text, &search);
	void *list = t->text;

	if (found != HASH_NOT_FOUND)
		return found;
	t->failed = !reserve_element(&list, t->n, &t->capacity, sizeof(*t->text));
	t->text = list;
	if (!t->failed)
		t->text[t->n] = strdup(text);
	t->failed = t->failed || !t->text[t->n];
	if (t->failed)
		return 0;
	t->failed = !pfmi_base_add_hash(&t->table, hash, (uint32_t)t->n++);
	return (uint32_t)t->n - 1;
}

static uint64_t hash_place(const struct profile_place *a)
{
	const uint32_t key[] = { a->event, a->task, a->object, a->function, a->inlined, a->source };

	return pfmi_base_hash_bytes(key, sizeof(key));
}

struct place_search {
	const struct profile_place *list, *key;
};

static bool is_same_place(const void *arg, uint32_t i)
{
	const struct place_search *s = arg;
	const struct profile_place *a = &s->list[i], *b = s->key;

	return a->event == b->event && a->task == b->task && a->object == b->object &&
	       a->function == b->function && a->inlined == b->inlined && a->source == b->source;
}

/* Adds one sample at @key to the list of places. False without memory. */
static bool add_place(struct profile_place **places, size_t *n, size_t *capacity,
                      struct hash_table *t, const struct profile_place *key)
{
	const struct place_search search = { *places, key };
	uint64_t hash = hash_place(key);
	uint32_t at = pfmi_base_find_hash(t, hash, is_same_place, &search);
	void *list = *places;

	if (at == HASH_NOT_FOUND) {
		bool is_reserved = reserve_element(&list, *n, capacity, sizeof(**places));

		*places = list;
		if (!is_reserved || !pfmi_base_add_hash(t, hash, (uint32_t)*n))
			return false;
		at = (uint32_t)(*n)++;
		(*places)[at] = *key;
		(*places)[at].samples = (*places)[at].weight = 0;
	}
	(*places)[at].samples++;
	(*places)[at].weight += key->weight;
	return true;
}

/* ---- tasks and mappings ---------------------------------------------------------------------- */

struct number_search {
	const void *list;
	uint32_t number;
};

static bool has_pid(const void *arg, uint32_t i)
{
	const struct number_search *s = arg;

	return ((const struct process *)s->list)[i].pid == s->number;
}

static bool has_tid(const void *arg, uint32_t i)
{
	const struct number_search *s = arg;

	return ((const struct task *)s->list)[i].tid == s->number;
}

/* The process, which is added if it is new. NULL without memory. Valid until the next call. */
static struct process *find_process(struct profile_reader *r, uint32_t pid)
{
	struct process_table *t = &r->processes;
	const struct number_search search = { t->list, pid };
	uint64_t hash = pfmi_base_hash_number(pid);
	uint32_t at = pfmi_base_find_hash(&t->table, hash, has_pid, &search);
	size_t capacity = t->capacity;
	void *list = t->list;
	bool is_added;

	if (at != HASH_NOT_FOUND)
		return &t->list[at];
	is_added = reserve_element(&list, t->n, &capacity, sizeof(*t->list));
	t->list = list;
	t->capacity = (uint32_t)capacity;
	is_added = is_added && pfmi_base_add_hash(&t->table, hash, t->n);
	r->target_profile->failed |= !is_added;
	if (!is_added)
		return NULL;
	t->list[t->n] = (struct process){ .pid = pid };
	return &t->list[t->n++];
}

/* The task, which is added if it is new. NULL without memory. Valid until the next call. */
static struct task *find_task(struct profile_reader *r, uint32_t tid)
{
	struct task_table *t = &r->tasks;
	const struct number_search search = { t->list, tid };
	uint64_t hash = pfmi_base_hash_number(tid);
	uint32_t at = pfmi_base_find_hash(&t->table, hash, has_tid, &search);
	size_t capacity = t->capacity;
	void *list = t->list;
	char name[16];
	bool is_added;

	if (at != HASH_NOT_FOUND)
		return &t->list[at];
	is_added = reserve_element(&list, t->n, &capacity, sizeof(*t->list));
	t->list = list;
	t->capacity = (uint32_t)capacity;
	is_added = is_added && pfmi_base_add_hash(&t->table, hash, t->n);
	r->target_profile->failed |= !is_added;
	if (!is_added)
		return NULL;
	snprintf(name, sizeof(name), ":%d", (int)tid);
	t->list[t->n] =
		(struct task){ .tid = tid, .name = text_number(&r->target_profile->texts, name) };
	return &t->list[t->n++];
}

static void read_mmap_record(struct profile_reader *r, const pfm_record_t *record)
{
	bool kernel = (record->misc & PFM_MISC_MODE) == PFM_MISC_KERNEL;
	struct process *p = record->body.map.name && !kernel ? find_process(r, record->pid) : NULL;
	struct mapping m;

	if (record->body.map.name && kernel &&
	    strncmp(record->body.map.name, KERNEL_MAP, strlen(KERNEL_MAP)) == 0)
		symbols_expect(r->symbols, record->body.map.name + strlen(KERNEL_MAP),
		               record->body.map.offset);
	if (!p)
		return;
	m = (struct mapping){ .start = record->body.map.start,
		              .end = record->body.map.start + record->body.map.length,
		              .offset = record->body.map.offset,
		              .name = text_number(&r->target_profile->texts, record->body.map.name),
		              .object = symbols_object(r->symbols, record->body.map.name,
		                                       record->body.map.build_id,
		                                       record->body.map.build_id_size) };
	r->target_profile->failed |= !mappings_add(&r->map_pool, &p->maps, &m);
}

/* A child begins as what its parent is; a program that is started has nothing of what was there
 * before. */
static void read_fork_record(struct profile_reader *r, const pfm_record_t *record)
{
	const struct task *parent = find_task(r, record->body.task.ptid);
	uint32_t name = parent ? parent->name : 0;
	struct task *task = parent ? find_task(r, record->tid) : NULL;
	struct process *from, *to;

	if (task)
		task->name = name;
	if (record->pid == record->body.task.ppid)
		return;
	/* The second search may move the list that the first points into. */
	find_process(r, record->body.task.ppid);
	to = find_process(r, record->pid);
	from = to ? find_process(r, record->body.task.ppid) : NULL;
	if (from && to)
		mappings_copy(&r->map_pool, &from->maps, &to->maps);
}

static void read_comm_record(struct profile_reader *r, const pfm_record_t *record)
{
	struct task *task = find_task(r, record->tid);
	struct process *p = find_process(r, record->pid);

	if (task && record->body.comm.name)
		task->name = text_number(&r->target_profile->texts, record->body.comm.name);
	if (p && record->misc & PFM_MISC_EXEC)
		p->maps = (struct map_set){ .root = NULL };
}

/* ---- samples --------------------------------------------------------------------------------- */

static void add_spot(struct profile_reader *r, const struct source_spot *spot,
                     struct profile_place *at)
{
	at->inlined = spot ? text_number(&r->target_profile->texts, spot->inlined) : 0;
	at->source = spot ? text_number(&r->target_profile->texts, spot->source) : 0;
}

/* Object and function of @address, and what is inlined there. What guests run is in no mapping of
 * the process that runs them. */
static void name_address(struct profile_reader *r, uint32_t pid, uint64_t address, uint32_t mode,
                         struct profile_place *at)
{
	static const char *const others[PFM_MISC_MODE + 1] = {
		[PFM_MISC_KERNEL] = "[kernel]",
		[PFM_MISC_HYPERVISOR] = "[hypervisor]",
		[PFM_MISC_GUEST_KERNEL] = "[guest kernel]",
		[PFM_MISC_GUEST_USER] = "[guest]",
	};
	const struct process *process = others[mode] ? NULL : find_process(r, pid);
	const struct mapping *m = process ? mappings_find(&process->maps, address) : NULL;
	const char *name = NULL, *where = others[mode] ? others[mode] : "[unknown]";
	char number[24];

	if (mode == PFM_MISC_KERNEL)
		name = symbols_kernel(r->symbols, address);
	if (m) {
		uint64_t offset = address - m->start + m->offset;

		where = r->target_profile->texts.text[m->name];
		name = m->object ? symbols_at(m->object, offset) : NULL;
		if (m->object && r->detail != FUNCTIONS)
			add_spot(r, symbols_spot(m->object, offset), at);
	}
	snprintf(number, sizeof(number), "%#llx", (unsigned long long)address);
	at->object = text_number(&r->target_profile->texts, where);
	at->function = text_number(&r->target_profile->texts, name ? name : number);
}

/* Adds @len bytes of a name to a text of one line, as far as there is @room, with @semicolon in
 * place of semicolons. Names are other people's: what is in one begins no line of ours, and no
 * frame. */
static size_t add_name(char *text, size_t at, size_t room, const char *name, size_t len,
                       char semicolon)
{
	for (; len && at < room; name++, len--)
		if (*name == ';')
			text[at++] = semicolon;
		else if (*name == '\n' || *name == '\t')
			at += (size_t)snprintf(text + at, room - at, "\\x%02x", (unsigned)*name);
		else
			text[at++] = *name;
	at = at < room ? at : room - 1;
	text[at] = '\0';
	return at;
}

char *profile_line(const char *name, char buf[NAME_LINE])
{
	add_name(buf, 0, NAME_LINE, name, strlen(name), ';');
	return buf;
}

static size_t add_text(char *text, size_t at, size_t room, const char *more)
{
	size_t len = strlen(more);

	len = len < room - at ? len : room - 1 - at;
	memcpy(text + at, more, len);
	text[at + len] = '\0';
	return at + len;
}

/* Adds a frame to a stack's text: the function, and what is inlined there, the outermost first.
 * Returns the new length. */
static size_t add_frame(const struct text_pool *t, char *text, size_t at, size_t room,
                        const struct profile_place *p, bool kernel)
{
	at = add_text(text, at, room, ";");
	at = add_name(text, at, room, t->text[p->function], strlen(t->text[p->function]), ':');
	at = add_text(text, at, room, kernel ? "_[k]" : "");
	for (const char *s = t->text[p->inlined]; *s; s += *s == ';') {
		size_t len = strcspn(s, ";");

		at = add_text(text, at, room, ";");
		at = add_name(text, at, room, s, len, ':');
		at = add_text(text, at, room, "_[i]");
		s += len;
	}
	return at;
}

/* Where the frames behind @marker are, as PFM_MISC_MODE has it. */
static uint32_t mode_of_marker(uint64_t marker)
{
	/* A typed constant is a case label only where the compiler optimises. */
	if (marker == PFM_CHAIN_KERNEL)
		return PFM_MISC_KERNEL;
	if (marker == PFM_CHAIN_HYPERVISOR)
		return PFM_MISC_HYPERVISOR;
	switch (marker) {
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL: return PFM_MISC_GUEST_KERNEL;
	case (uint64_t)PERF_CONTEXT_GUEST:
	case (uint64_t)PERF_CONTEXT_GUEST_USER: return PFM_MISC_GUEST_USER;
	default: return PFM_MISC_USER;
	}
}

/* "task;outer;...;inner"; "task;[cut off];..." where the chain may not reach the outermost. */
static uint32_t stack_text(struct profile_reader *r, const pfm_record_t *record, uint32_t task)
{
	uint32_t modes[256], mode = record->misc & PFM_MISC_MODE;
	uint64_t frames[256];
	unsigned n = 0;
	char text[16384];
	size_t at;

	for (uint32_t i = 0; i < record->body.sample.n_chain && n < 256; i++) {
		uint64_t a = record->body.sample.chain[i];

		if (a >= PFM_CHAIN_MARKER) {
			mode = mode_of_marker(a);
			continue;
		}
		modes[n] = mode;
		/* A return address may be the first byte behind the function that called. */
		frames[n] = n ? a - 1 : a;
		n++;
	}
	if (n == 0) {
		modes[0] = mode;
		frames[n++] = record->body.sample.ip;
	}
	at = add_name(text, 0, sizeof(text), r->target_profile->texts.text[task],
	              strlen(r->target_profile->texts.text[task]), ':');
	at = add_text(text, at, sizeof(text),
	              record->truncated & PFM_TRUNCATED_CHAIN ? ";[cut off]" : "");
	while (n-- > 0 && at + 1 < sizeof(text)) {
		struct profile_place p = { 0 };

		name_address(r, record->pid, frames[n], modes[n], &p);
		at = add_frame(&r->target_profile->texts, text, at, sizeof(text), &p,
		               modes[n] == PFM_MISC_KERNEL);
	}
	return text_number(&r->target_profile->texts, text);
}

static void read_sample_record(struct profile_reader *r, const pfm_record_t *record)
{
	struct profile *p = r->target_profile;
	const struct task *task = find_task(r, record->tid);
	struct profile_place key = { .event = record->event == PFM_NO_EVENT ? 0 : record->event,
		                     .weight = record->body.sample.period };

	if (record->event == PFM_NO_EVENT && p->n_events > 1) {
		p->n_without_event++;
		return;
	}
	if (!task || key.event >= p->n_events)
		return;
	if (!key.weight)
		key.weight = 1;
	p->weights[key.event] += key.weight;
	p->samples[key.event]++;
	key.task = task->name;
	if (r->detail == STACKS) {
		key.function = stack_text(r, record, key.task);
		if (!add_place(&p->stacks, &p->n_stacks, &r->stacks_capacity, &r->stack_table,
		               &key))
			p->failed = true;
		return;
	}
	name_address(r, record->pid, record->body.sample.ip, record->misc & PFM_MISC_MODE, &key);
	if (!add_place(&p->places, &p->n_places, &r->places_capacity, &r->place_table, &key))
		p->failed = true;
}

static void read_record(struct profile_reader *r, const pfm_record_t *record)
{
	switch (record->type) {
	case PFM_RECORD_SAMPLE: read_sample_record(r, record); break;
	case PFM_RECORD_MAP:
	case PFM_RECORD_MAP2: read_mmap_record(r, record); break;
	case PFM_RECORD_FORK: read_fork_record(r, record); break;
	case PFM_RECORD_COMM: read_comm_record(r, record); break;
	case PFM_RECORD_LOST: r->target_profile->n_lost += record->body.lost.lost; break;
	case PFM_RECORD_LOST_SAMPLES:
		r->target_profile->lost_samples += record->body.lost.lost;
		break;
	case PFM_RECORD_THROTTLE: r->target_profile->throttled++; break;
	default: break;
	}
}

static void free_reader(struct profile_reader *r)
{
	mappings_free(&r->map_pool);
	free(r->processes.list);
	free(r->tasks.list);
	pfmi_base_free_hash(&r->processes.table);
	pfmi_base_free_hash(&r->tasks.table);
	pfmi_base_free_hash(&r->place_table);
	pfmi_base_free_hash(&r->stack_table);
	symbols_close(r->symbols);
	free(r);
}

static int compare_weights(const void *a, const void *b)
{
	const struct profile_place *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->weight < y->weight   ? 1
	       : x->weight > y->weight ? -1
	                               : (x->function > y->function) - (x->function < y->function);
}

/* Heaviest first. */
static void sort_places(struct profile_place *list, size_t n)
{
	if (n)
		qsort(list, n, sizeof(*list), compare_weights);
}

/* Why the records of a file ended early, in words. */
static const char *report_unreadable(int rc)
{
	return rc == PFMLIB_ERR_NOTSUPP ? "it is compressed, and libzstd.so.1 is missing"
	                                : pfm_result_text(rc);
}

int profile_read(struct profile *p, const char *path, enum profile_detail detail)
{
	struct profile_reader *r = calloc(1, sizeof(*r));
	pfm_error_t error = PFM_INIT(error);
	pfm_record_t record = PFM_INIT(record);
	pfm_buffer_info_t buffers = PFM_INIT(buffers);
	int rc = pfm_open_recording(&p->session, strcmp(path, "-") ? path : "/dev/stdin", &error);

	if (rc || !r) {
		fprintf(stderr, "pfm report: %s: %s\n", path,
		        error.sys_errno ? strerror(error.sys_errno)
		        : error.detail  ? error.detail
		                        : "no memory");
		free(r);
		return EXIT_REFUSED;
	}
	p->n_events = pfm_session_size(p->session);
	p->weights = calloc(p->n_events + 1, sizeof(*p->weights));
	p->samples = calloc(p->n_events + 1, sizeof(*p->samples));
	if (detail != FUNCTIONS && !lines_supported())
		fputs("pfm report: libdw is missing: source lines and inlined functions are not "
		      "shown\n",
		      stderr);
	r->target_profile = p;
	r->detail = detail;
	r->symbols = symbols_open();
	text_number(&p->texts, "");
	p->failed = !p->weights || !p->samples || !r->symbols || p->texts.failed;
	while (!p->failed && (rc = pfm_next_record(p->session, &record)) == 1) {
		read_record(r, &record);
		p->failed |= p->texts.failed;
	}
	free_reader(r);
	if (p->failed || rc < 0) {
		fprintf(stderr, "pfm report: %s: %s\n", path,
		        p->failed ? "no memory" : report_unreadable(rc));
		return EXIT_REFUSED;
	}
	p->damaged =
		pfm_buffer_statistics(p->session, &buffers) == PFMLIB_SUCCESS && buffers.damaged;
	sort_places(p->places, p->n_places);
	sort_places(p->stacks, p->n_stacks);
	return EXIT_DONE;
}

void profile_free(struct profile *p)
{
	pfm_close_session(p->session);
	for (size_t i = 0; i < p->texts.n; i++)
		free(p->texts.text[i]);
	free(p->texts.text);
	pfmi_base_free_hash(&p->texts.table);
	free(p->places);
	free(p->stacks);
	free(p->weights);
	free(p->samples);
}
