/* SPDX-License-Identifier: MIT */
/* A recording added up: which file was mapped where in which process, who was born to whom, and where each sample was. */
#include "profile.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "lines.h"
#include "pfm.h"
#include "symbols.h"

enum { BUCKETS = 1024,
       MAPS_MAX = 65536 }; /* mappings of one process, of the newest; the kernel's own limit is below that unless it was raised */

#define KERNEL_MAP "[kernel.kallsyms]" /* and the name of the symbol whose address is told */

struct mapping {
	uint64_t start, end, offset;
	uint32_t name;
	struct object *object;
};

/* Mappings in the order they came. A child begins with what its parent has: both lead to the same layer, and whoever is not at its end goes
 * on in one of his own. */
struct map_layer {
	struct mapping *maps;
	size_t n_maps, capacity, n_users;
	struct map_layer *parent_layer; /* ... the first n_before of it */
	size_t n_parent_maps;
};

struct process {
	uint32_t pid;
	struct map_layer *layer;
	size_t n_maps; /* of the layer's */
	struct process *next;
};

struct task {
	uint32_t tid, name;
	struct task *next;
};

/* What is known while the recording is read. */
struct profile_reader {
	struct profile *target_profile;
	struct symbols *symbols;
	struct process *processes[BUCKETS];
	struct task *tasks[BUCKETS];
	uint32_t *place_slots, *stack_slots;
	size_t n_place_slots, n_stack_slots, places_capacity, stacks_capacity;
	enum profile_detail detail;
};

/* ---- texts and places ----------------------------------------------------------------------------------------------------- */

static uint64_t mix_hash(uint64_t h)
{
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdu;
	return h ^ h >> 33;
}

static uint64_t hash_text(const char *s)
{
	uint64_t h = 1469598103934665603u;

	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 1099511628211u;
	return mix_hash(h);
}

/* Room for twice as many; false without memory. */
static bool grow_texts(struct text_pool *t)
{
	size_t n = t->n_slots ? t->n_slots * 2 : 1024;
	uint32_t *slots = calloc(n, sizeof(*slots));
	char **text = realloc(t->text, n * sizeof(*text));

	t->text = text ? text : t->text;
	if (!slots || !text) {
		free(slots);
		return false;
	}
	for (size_t i = 0; i < t->n; i++) {
		size_t at = (size_t)hash_text(t->text[i]) & (n - 1);

		while (slots[at])
			at = (at + 1) & (n - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->n_slots = n;
	t->capacity = n;
	return true;
}

uint32_t text_number(struct text_pool *t, const char *text)
{
	size_t at;

	t->failed |= t->n * 2 >= t->n_slots && !grow_texts(t);
	if (t->failed)
		return 0;
	for (at = (size_t)hash_text(text) & (t->n_slots - 1); t->slots[at]; at = (at + 1) & (t->n_slots - 1))
		if (strcmp(t->text[t->slots[at] - 1], text) == 0)
			return t->slots[at] - 1;
	t->text[t->n] = strdup(text);
	t->failed = !t->text[t->n];
	if (t->failed)
		return 0;
	t->slots[at] = (uint32_t)++t->n;
	return (uint32_t)t->n - 1;
}

static uint64_t hash_place(const struct profile_place *a)
{
	return mix_hash(mix_hash((uint64_t)a->event << 32 | a->task) ^ mix_hash((uint64_t)a->object << 32 | a->function) ^
	                ((uint64_t)a->inlined << 32 | a->source));
}

static bool is_same_place(const struct profile_place *a, const struct profile_place *b)
{
	return a->event == b->event && a->task == b->task && a->object == b->object && a->function == b->function &&
	       a->inlined == b->inlined && a->source == b->source;
}

/* Adds one sample at @key to the list of places. */
static bool add_place(struct profile_place **list, size_t *n, size_t *room, uint32_t **slots, size_t *n_slots, const struct profile_place *key)
{
	size_t at;

	if (*n * 2 >= *n_slots) {
		size_t more = *n_slots ? *n_slots * 2 : 1024;
		struct profile_place *bigger = realloc(*list, more * sizeof(**list));
		uint32_t *fresh = calloc(more, sizeof(*fresh));

		*list = bigger ? bigger : *list;
		if (!bigger || !fresh) {
			free(fresh);
			return false;
		}
		for (size_t i = 0; i < *n; i++) {
			for (at = (size_t)hash_place(&(*list)[i]) & (more - 1); fresh[at]; at = (at + 1) & (more - 1))
				;
			fresh[at] = (uint32_t)i + 1;
		}
		free(*slots);
		*slots = fresh;
		*n_slots = *room = more;
	}
	for (at = (size_t)hash_place(key) & (*n_slots - 1); (*slots)[at]; at = (at + 1) & (*n_slots - 1))
		if (is_same_place(&(*list)[(*slots)[at] - 1], key))
			break;
	if (!(*slots)[at]) {
		(*list)[*n] = *key;
		(*list)[*n].samples = (*list)[*n].weight = 0;
		(*slots)[at] = (uint32_t)++ * n;
	}
	(*list)[(*slots)[at] - 1].samples++;
	(*list)[(*slots)[at] - 1].weight += key->weight;
	return true;
}

/* ---- tasks and mappings ---------------------------------------------------------------------------------------------------- */

static struct process *find_process(struct profile_reader *r, uint32_t pid)
{
	struct process **at = &r->processes[pid % BUCKETS], *p;

	for (p = *at; p; p = p->next)
		if (p->pid == pid)
			return p;
	p = calloc(1, sizeof(*p));
	r->target_profile->failed |= !p;
	if (!p)
		return NULL;
	p->pid = pid;
	p->next = *at;
	return *at = p;
}

static struct task *find_task(struct profile_reader *r, uint32_t tid)
{
	struct task **at = &r->tasks[tid % BUCKETS], *t;
	char name[16];

	for (t = *at; t; t = t->next)
		if (t->tid == tid)
			return t;
	t = calloc(1, sizeof(*t));
	r->target_profile->failed |= !t;
	if (!t)
		return NULL;
	snprintf(name, sizeof(name), ":%u", tid);
	t->tid = tid;
	t->name = text_number(&r->target_profile->texts, name);
	t->next = *at;
	return *at = t;
}

static void release_layer(struct map_layer *l)
{
	for (struct map_layer *before; l && --l->n_users == 0; l = before) {
		before = l->parent_layer;
		free(l->maps);
		free(l);
	}
}

static void free_mappings(struct process *p)
{
	release_layer(p->layer);
	p->layer = NULL;
	p->n_maps = 0;
}

/* A layer of the process's own, at whose end it is. */
static bool begin_layer(struct process *p)
{
	struct map_layer *l = calloc(1, sizeof(*l));

	if (!l)
		return false;
	l->n_users = 1;
	l->parent_layer = p->layer;
	l->n_parent_maps = p->n_maps;
	p->layer = l;
	p->n_maps = 0;
	return true;
}

static struct mapping *new_map(struct process *p)
{
	struct map_layer *l = p->layer;

	if ((!l || p->n_maps != l->n_maps) && !begin_layer(p))
		return NULL;
	l = p->layer;
	if (l->n_maps == l->capacity) {
		size_t room = l->capacity * 2 + 4;
		struct mapping *maps = realloc(l->maps, room * sizeof(*maps));

		if (!maps)
			return NULL;
		l->maps = maps;
		l->capacity = room;
	}
	p->n_maps = ++l->n_maps;
	return &l->maps[l->n_maps - 1];
}

static void read_mmap_record(struct profile_reader *r, const pfm_record_t *record)
{
	bool kernel = (record->misc & PFM_MISC_MODE) == PFM_MISC_KERNEL;
	struct process *p = record->body.map.name && !kernel ? find_process(r, record->pid) : NULL;
	struct mapping *m = p ? new_map(p) : NULL;

	r->target_profile->failed |= p && !m;
	if (record->body.map.name && kernel && strncmp(record->body.map.name, KERNEL_MAP, strlen(KERNEL_MAP)) == 0)
		symbols_expect(r->symbols, record->body.map.name + strlen(KERNEL_MAP), record->body.map.offset);

	if (m)
		*m = (struct mapping){ .start = record->body.map.start,
			               .end = record->body.map.start + record->body.map.length,
			               .offset = record->body.map.offset,
			               .name = text_number(&r->target_profile->texts, record->body.map.name),
			               .object = symbols_object(r->symbols, record->body.map.name, record->body.map.build_id,
			                                        record->body.map.build_id_size) };
}

/* A child begins as what its parent is; a program that is started has nothing of what was there before. */
static void read_fork_record(struct profile_reader *r, const pfm_record_t *record)
{
	struct task *parent = find_task(r, record->body.task.ptid), *task = find_task(r, record->tid);
	struct process *from, *to;

	if (parent && task)
		task->name = parent->name;
	if (record->pid == record->body.task.ppid)
		return;
	from = find_process(r, record->body.task.ppid);
	to = find_process(r, record->pid);
	if (!from || !to || from == to)
		return;
	free_mappings(to);
	to->layer = from->layer;
	to->n_maps = from->n_maps;
	if (to->layer)
		to->layer->n_users++;
}

static void read_comm_record(struct profile_reader *r, const pfm_record_t *record)
{
	struct task *task = find_task(r, record->tid);
	struct process *p = find_process(r, record->pid);

	if (task && record->body.comm.name)
		task->name = text_number(&r->target_profile->texts, record->body.comm.name);
	if (p && record->misc & PFM_MISC_EXEC)
		free_mappings(p);
}

/* ---- samples ---------------------------------------------------------------------------------------------------------------- */

static void add_spot(struct profile_reader *r, const struct source_spot *spot, struct profile_place *at)
{
	at->inlined = spot ? text_number(&r->target_profile->texts, spot->inlined) : 0;
	at->source = spot ? text_number(&r->target_profile->texts, spot->source) : 0;
}

/* The newest mapping of @address, or NULL. */
static const struct mapping *find_mapping(const struct process *p, uint64_t address)
{
	size_t n = p ? p->n_maps : 0;
	unsigned looked = 0;

	for (const struct map_layer *l = p ? p->layer : NULL; l; n = l->n_parent_maps, l = l->parent_layer)
		while (n-- > 0) {
			if (address >= l->maps[n].start && address < l->maps[n].end)
				return &l->maps[n];
			if (++looked == MAPS_MAX)
				return NULL;
		}
	return NULL;
}

/* Object and function of @address, and what is inlined there. What guests run is in no mapping of the process that runs them. */
static void name_address(struct profile_reader *r, uint32_t pid, uint64_t address, uint32_t mode, struct profile_place *at)
{
	static const char *const others[PFM_MISC_MODE + 1] = {
		[PFM_MISC_KERNEL] = "[kernel]",
		[PFM_MISC_HYPERVISOR] = "[hypervisor]",
		[PFM_MISC_GUEST_KERNEL] = "[guest kernel]",
		[PFM_MISC_GUEST_USER] = "[guest]",
	};
	const struct mapping *m = others[mode] ? NULL : find_mapping(find_process(r, pid), address);
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

/* Adds @len bytes of a name to a text of one line, as far as there is @room, with @semicolon in place of semicolons. Names are other
 * people's: what is in one begins no line of ours, and no frame. */
static size_t add_name(char *text, size_t at, size_t room, const char *name, size_t len, char semicolon)
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

/* Adds a frame to a stack's text: the function, and what is inlined there, the outermost first. Returns the new length. */
static size_t add_frame(const struct text_pool *t, char *text, size_t at, size_t room, const struct profile_place *p, bool kernel)
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
	switch (marker) {
	case PFM_CHAIN_KERNEL: return PFM_MISC_KERNEL;
	case PFM_CHAIN_HYPERVISOR: return PFM_MISC_HYPERVISOR;
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
	at = add_name(text, 0, sizeof(text), r->target_profile->texts.text[task], strlen(r->target_profile->texts.text[task]), ':');
	at = add_text(text, at, sizeof(text), record->truncated & PFM_TRUNCATED_CHAIN ? ";[cut off]" : "");
	while (n-- > 0 && at + 1 < sizeof(text)) {
		struct profile_place p = { 0 };

		name_address(r, record->pid, frames[n], modes[n], &p);
		at = add_frame(&r->target_profile->texts, text, at, sizeof(text), &p, modes[n] == PFM_MISC_KERNEL);
	}
	return text_number(&r->target_profile->texts, text);
}

static void read_sample_record(struct profile_reader *r, const pfm_record_t *record)
{
	struct profile *p = r->target_profile;
	const struct task *task = find_task(r, record->tid);
	struct profile_place key = { .event = record->event == PFM_NO_EVENT ? 0 : record->event, .weight = record->body.sample.period };

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
		if (!add_place(&p->stacks, &p->n_stacks, &r->stacks_capacity, &r->stack_slots, &r->n_stack_slots, &key))
			p->failed = true;
		return;
	}
	name_address(r, record->pid, record->body.sample.ip, record->misc & PFM_MISC_MODE, &key);
	if (!add_place(&p->places, &p->n_places, &r->places_capacity, &r->place_slots, &r->n_place_slots, &key))
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
	case PFM_RECORD_LOST_SAMPLES: r->target_profile->lost_samples += record->body.lost.lost; break;
	case PFM_RECORD_THROTTLE: r->target_profile->throttled++; break;
	default: break;
	}
}

static void free_process(struct profile_reader *r)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		struct process *p, *next;
		struct task *t, *after;

		for (p = r->processes[i]; p; p = next) {
			next = p->next;
			free_mappings(p);
			free(p);
		}
		for (t = r->tasks[i]; t; t = after) {
			after = t->next;
			free(t);
		}
	}
	free(r->place_slots);
	free(r->stack_slots);
	symbols_close(r->symbols);
	free(r);
}

static int compare_weights(const void *a, const void *b)
{
	const struct profile_place *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->weight < y->weight ? 1 : x->weight > y->weight ? -1
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
	return rc == PFMLIB_ERR_NOTSUPP ? "it is compressed, and there is no libzstd.so.1 here" : pfm_strerror(rc);
}

int profile_read(struct profile *p, const char *path, enum profile_detail detail)
{
	struct profile_reader *r = calloc(1, sizeof(*r));
	pfm_error_t error = PFM_INIT(error);
	pfm_record_t record = PFM_INIT(record);
	pfm_buffer_statistics_t buffers = PFM_INIT(buffers);
	int rc = pfm_open_recording(&p->session, strcmp(path, "-") ? path : "/dev/stdin", &error);

	if (rc || !r) {
		fprintf(stderr, "pfm report: %s: %s\n", path, error.sys_errno ? strerror(error.sys_errno) : error.detail ? error.detail
		                                                                                                         : "no memory");
		free(r);
		return EXIT_REFUSED;
	}
	p->n_events = pfm_session_size(p->session);
	p->weights = calloc(p->n_events + 1, sizeof(*p->weights));
	p->samples = calloc(p->n_events + 1, sizeof(*p->samples));
	if (detail != FUNCTIONS && !lines_supported())
		fputs("pfm report: there is no libdw: source lines and inlined functions are not told\n", stderr);
	r->target_profile = p;
	r->detail = detail;
	r->symbols = symbols_open();
	text_number(&p->texts, "");
	p->failed = !p->weights || !p->samples || !r->symbols || p->texts.failed;
	while (!p->failed && (rc = pfm_next_record(p->session, &record)) == 1) {
		read_record(r, &record);
		p->failed |= p->texts.failed;
	}
	free_process(r);
	if (p->failed || rc < 0) {
		fprintf(stderr, "pfm report: %s: %s\n", path, p->failed ? "no memory" : report_unreadable(rc));
		return EXIT_REFUSED;
	}
	p->damaged = pfm_buffer_statistics(p->session, &buffers) == PFMLIB_SUCCESS && buffers.damaged;
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
	free(p->texts.slots);
	free(p->places);
	free(p->stacks);
	free(p->weights);
	free(p->samples);
}
