/* SPDX-License-Identifier: MIT */
/* A recording added up: which file was mapped where in which process, the parent of each process,
 * and where each sample was. */
#include "profile/messages.h"
#include "profile/profile.h"

#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/hash.h"
#include "profile/chains.h"
#include "profile/lines.h"
#include "profile/mappings.h"
#include "profile/perf_map.h"
#include "perfdata/perfdata.h"
#include "profile/process_maps.h"
#include "profile/recording_section.h"
#include "profile/symbols.h"

enum { FRAMES_MAX = 1024, STACK_ROOM = 65536, TASK_NAME_ROOM = 32 };

#define UNNAMED    "[no name]"
#define CUT_OFF    "[cut off]"         /* callers that a chain lacks */
#define COMPILED   "[JIT]"             /* functions that the program compiled while it ran */
#define KERNEL_MAP "[kernel.kallsyms]" /* and the name of the symbol at the given address */

struct process {
	uint32_t pid;
	bool is_loaded; /* while it is sampled: its mappings were read, or began with its program */
	uint32_t generation; /* of its mappings: no other process has this number */
	struct map_set maps;
};

struct task {
	uint32_t tid, name;
};

/* The path of a control group. */
struct cgroup {
	uint64_t id;
	uint32_t name;
};

/* The frames of a sample, the innermost first. */
struct frames {
	uint64_t address[FRAMES_MAX];
	uint32_t mode[FRAMES_MAX]; /* PFM_MISC_MODE */
	unsigned n;
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

/* An address whose names are known, as long as the mappings of its process do not change. With
 * 400,000 samples of 12 frames, a call tree takes a third of the time. */
struct named_address {
	uint64_t address;
	uint32_t mode, generation; /* generation 0: free */
	struct profile_place names;
};

/* A stack whose node, or text, is known, as long as the mappings of its process do not change. Two
 * stacks with one hash, which a file cannot choose, are taken for one: with a million stacks that
 * is as probable as 1e-7. With 400,000 samples of 300 stacks a call tree takes a sixth of the time.
 */
struct known_stack {
	uint64_t hash;
	uint32_t generation, index; /* generation 0: free */
};

enum { INLINED_MAX = 32, KNOWN_PLACES_MAX = 4 };

/* Places of one frame: its function, then what is inlined there, the outermost first. */
struct frame_places {
	uint32_t list[1 + INLINED_MAX];
	unsigned n;
};

/* Names and a sample's key whose places are known: most addresses are new, few of their functions
 * are. With 500,000 samples of a compiler a report takes a sixth of the time more without. */
struct known_frame {
	uint64_t key; /* the hash of the members of the place that the sample has; 0: free */
	uint64_t address;
	uint32_t object, function, inlined, source, build_id;
	uint32_t n_places, places[KNOWN_PLACES_MAX];
};

/* The number of a text, by its address in memory. With 500,000 samples of which most have an
 * address of their own, a report takes a tenth of the time more without. */
struct known_text {
	const char *text;
	uint32_t number;
};

enum {
	NAMED_ADDRESSES_LOG2 = 12,
	KNOWN_FRAMES_LOG2 = 12,
	KNOWN_TEXTS_LOG2 = 12,
	KNOWN_STACKS = 8192
};

/* State while the recording is read. */
struct profile_reader {
	struct profile *target_profile;
	struct symbols *symbols;
	struct process_table processes;
	struct task_table tasks;
	struct map_pool map_pool;
	struct hash_table place_table, stack_table, node_table, cgroup_table;
	size_t places_capacity, stacks_capacity, nodes_capacity, n_cgroups, cgroups_capacity;
	struct cgroup *cgroups;
	struct profile_options options;
	unsigned keys;
	bool is_live;       /* the records come from tasks that run */
	bool *is_wanted;    /* of each event; NULL: all are */
	uint64_t n_samples; /* that were added so far */
	struct chains chains;
	struct perf_maps compiled;
	struct frames frames;
	struct named_address named[1 << NAMED_ADDRESSES_LOG2];
	struct known_frame known_frames[1 << KNOWN_FRAMES_LOG2];
	struct known_text known_texts[1 << KNOWN_TEXTS_LOG2];
	struct known_stack known[KNOWN_STACKS];
	uint32_t generation;        /* the last number that was given */
	uint32_t kernel_generation; /* of the kernel's symbols */
	uint32_t sample_generation; /* of the process of the sample that is read */
	char stack[STACK_ROOM];
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

uint32_t text_find(const struct text_pool *t, const char *text)
{
	const struct text_search search = { t, text };

	return pfmi_base_find_hash(&t->table, pfmi_base_hash_bytes(text, strlen(text)),
	                           is_same_text, &search);
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

void text_pool_free(struct text_pool *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->text[i]);
	free(t->text);
	pfmi_base_free_hash(&t->table);
}

static uint64_t hash_place(const struct profile_place *a)
{
	const uint64_t key[] = { (uint64_t)a->event << 32 | a->task,
		                 (uint64_t)a->object << 32 | a->function,
		                 (uint64_t)a->inlined << 32 | a->source,
		                 (uint64_t)a->cpu << 32 | a->cgroup,
		                 (uint64_t)a->build_id << 32 | a->slice,
		                 (uint64_t)a->pid << 32 | a->tid,
		                 a->address };

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
	       a->function == b->function && a->inlined == b->inlined && a->source == b->source &&
	       a->cpu == b->cpu && a->cgroup == b->cgroup && a->slice == b->slice &&
	       a->address == b->address && a->pid == b->pid && a->tid == b->tid &&
	       a->build_id == b->build_id;
}

/* The index of the place with the key of @key, which is added without samples if it is new;
 * HASH_NOT_FOUND without memory. */
static uint32_t find_place(struct profile_place **places, size_t *n, size_t *capacity,
                           struct hash_table *t, const struct profile_place *key)
{
	const struct place_search search = { *places, key };
	uint64_t hash = hash_place(key);
	uint32_t at = pfmi_base_find_hash(t, hash, is_same_place, &search);
	void *list = *places;
	bool is_reserved;

	if (at != HASH_NOT_FOUND)
		return at;
	is_reserved = reserve_element(&list, *n, capacity, sizeof(**places));
	*places = list;
	if (!is_reserved || !pfmi_base_add_hash(t, hash, (uint32_t)*n))
		return HASH_NOT_FOUND;
	at = (uint32_t)(*n)++;
	(*places)[at] = *key;
	(*places)[at].samples = (*places)[at].weight = 0;
	return at;
}

static void add_sample(struct profile_place *place, uint64_t weight)
{
	place->samples++;
	place->weight += weight;
}

/* Adds a sample of this weight to the children of @place, once for each sample: a function that
 * calls itself is in a stack more than once. */
static void add_to_children(struct profile_place *place, uint64_t weight, uint64_t stamp)
{
	if (place->stamp == stamp)
		return;
	place->stamp = stamp;
	place->children_samples++;
	place->children_weight += weight;
}

/* ---- call trees ------------------------------------------------------------------------------ */

struct node_search {
	const struct profile_node *list;
	uint32_t parent, place;
};

static bool is_same_node(const void *arg, uint32_t i)
{
	const struct node_search *s = arg;

	return s->list[i].parent == s->parent && s->list[i].place == s->place;
}

/* The child of @parent at @place, which is added if it is new. NULL without memory. Valid until the
 * next call. */
static struct profile_node *find_node(struct profile_reader *r, uint32_t parent, uint32_t place)
{
	struct profile *p = r->target_profile;
	const struct node_search search = { p->nodes, parent, place };
	uint64_t hash = pfmi_base_hash_number((uint64_t)parent << 32 | place);
	uint32_t at = pfmi_base_find_hash(&r->node_table, hash, is_same_node, &search);
	void *list = p->nodes;
	bool is_added;

	if (at != HASH_NOT_FOUND)
		return &p->nodes[at];
	is_added = reserve_element(&list, p->n_nodes, &r->nodes_capacity, sizeof(*p->nodes));
	p->nodes = list;
	if (!is_added || !pfmi_base_add_hash(&r->node_table, hash, (uint32_t)p->n_nodes))
		return NULL;
	p->nodes[p->n_nodes] = (struct profile_node){ .parent = parent, .place = place };
	return &p->nodes[p->n_nodes++];
}

/* ---- tasks and mappings ---------------------------------------------------------------------- */

struct number_search {
	const void *list;
	uint32_t number;
	uint64_t wide; /* in place of @number where numbers have 64 bits */
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
	const struct number_search search = { t->list, pid, 0 };
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
	t->list[t->n] = (struct process){ .pid = pid, .generation = ++r->generation };
	return &t->list[t->n++];
}

/* Reads the name of a task that runs. False if it has ended. */
static bool read_task_name(uint32_t tid, char *name, size_t room)
{
	char path[32];
	FILE *f;
	bool is_read;

	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	f = fopen(path, "re");
	is_read = f && fgets(name, (int)room, f);
	if (f)
		fclose(f);
	if (is_read)
		name[strcspn(name, "\n")] = '\0';
	return is_read;
}

/* The task, which is added if it is new. NULL without memory. Valid until the next call. */
static struct task *find_task(struct profile_reader *r, uint32_t tid)
{
	struct task_table *t = &r->tasks;
	const struct number_search search = { t->list, tid, 0 };
	uint64_t hash = pfmi_base_hash_number(tid);
	uint32_t at = pfmi_base_find_hash(&t->table, hash, has_tid, &search);
	size_t capacity = t->capacity;
	void *list = t->list;
	char name[TASK_NAME_ROOM];
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
	if (!r->is_live || !read_task_name(tid, name, sizeof(name)))
		snprintf(name, sizeof(name), ":%d", (int)tid);
	t->list[t->n] =
		(struct task){ .tid = tid, .name = text_number(&r->target_profile->texts, name) };
	return &t->list[t->n++];
}

struct mapping_target {
	struct profile_reader *reader;
	struct process *process;
};

static void add_process_mapping(void *arg, const struct process_mapping *from)
{
	const struct mapping_target *to = arg;
	struct profile_reader *r = to->reader;
	const struct mapping m = { .start = from->start,
		                   .end = from->end,
		                   .offset = from->offset,
		                   .name = text_number(&r->target_profile->texts, from->name),
		                   .object = symbols_object(r->symbols, from->name, NULL, 0) };

	r->target_profile->failed |= !mappings_add(&r->map_pool, &to->process->maps, &m);
}

/* Reads the mappings of a process that ran before it was sampled. */
static void load_process(struct profile_reader *r, struct process *p)
{
	struct mapping_target to = { r, p };

	p->is_loaded = true;
	read_process_maps(p->pid, add_process_mapping, &to);
}

/* Makes what is known of addresses and stacks unknown. */
static void forget_names(struct profile_reader *r)
{
	r->kernel_generation = ++r->generation;
	for (uint32_t i = 0; i < r->processes.n; i++)
		r->processes.list[i].generation = ++r->generation;
}

static void read_mmap_record(struct profile_reader *r, const pfm_record_t *record)
{
	bool kernel = (record->misc & PFM_MISC_MODE) == PFM_MISC_KERNEL;
	struct process *p = record->body.map.name && !kernel ? find_process(r, record->pid) : NULL;
	struct mapping m;

	if (record->body.map.name && kernel &&
	    strncmp(record->body.map.name, KERNEL_MAP, strlen(KERNEL_MAP)) == 0) {
		symbols_expect(r->symbols, record->body.map.name + strlen(KERNEL_MAP),
		               record->body.map.offset);
		forget_names(r);
	}
	if (!p)
		return;
	p->generation = ++r->generation;
	perf_maps_see_mapping(&r->compiled, record->pid, record->body.map.name);
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
	if (from && to) {
		to->generation = ++r->generation;
		mappings_copy(&r->map_pool, &from->maps, &to->maps);
		to->is_loaded = from->is_loaded;
	}
}

static void read_comm_record(struct profile_reader *r, const pfm_record_t *record)
{
	struct task *task = find_task(r, record->tid);
	struct process *p = find_process(r, record->pid);

	if (task && record->body.comm.name)
		task->name = text_number(&r->target_profile->texts, record->body.comm.name);
	if (p && record->misc & PFM_MISC_EXEC) {
		p->generation = ++r->generation;
		p->maps = (struct map_set){ .root = NULL };
		p->is_loaded = true;
	}
}

static bool has_cgroup_id(const void *arg, uint32_t i)
{
	const struct cgroup *key = ((const struct number_search *)arg)->list;

	return key[i].id == ((const struct number_search *)arg)->wide;
}

/* The number of the name of a control group; without a record of it, of its id. */
static uint32_t cgroup_name(const struct profile_reader *r, uint64_t id)
{
	const struct number_search search = { .list = r->cgroups, .wide = id };
	uint32_t at = pfmi_base_find_hash(&r->cgroup_table, pfmi_base_hash_number(id),
	                                  has_cgroup_id, &search);
	char text[32];

	if (at != HASH_NOT_FOUND)
		return r->cgroups[at].name;
	snprintf(text, sizeof(text), "[cgroup %llu]", (unsigned long long)id);
	return text_number(&r->target_profile->texts, text);
}

static void read_cgroup_record(struct profile_reader *r, const pfm_record_t *record)
{
	uint64_t id = record->body.cgroup.id, hash = pfmi_base_hash_number(id);
	const struct number_search search = { .list = r->cgroups, .wide = id };
	const char *path = record->body.cgroup.path;
	uint32_t at = pfmi_base_find_hash(&r->cgroup_table, hash, has_cgroup_id, &search);
	void *list = r->cgroups;
	bool is_added = at != HASH_NOT_FOUND;

	if (!path || !(r->keys & KEY_CGROUP))
		return;
	if (!is_added) {
		is_added = reserve_element(&list, r->n_cgroups, &r->cgroups_capacity,
		                           sizeof(*r->cgroups));
		r->cgroups = list;
		at = (uint32_t)r->n_cgroups;
		is_added = is_added && pfmi_base_add_hash(&r->cgroup_table, hash, at);
		r->n_cgroups += is_added;
	}
	r->target_profile->failed |= !is_added;
	if (is_added)
		r->cgroups[at] =
			(struct cgroup){ id, text_number(&r->target_profile->texts, path) };
}

/* ---- samples --------------------------------------------------------------------------------- */

/* text_number() of a text that stays where it is, such as the name of a symbol. */
static uint32_t known_text_number(struct profile_reader *r, const char *text)
{
	uint64_t hash = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15u;
	struct known_text *known = &r->known_texts[hash >> (64 - KNOWN_TEXTS_LOG2)];

	if (!*text)
		return 0;
	if (known->text != text)
		*known = (struct known_text){ text, text_number(&r->target_profile->texts, text) };
	return known->number;
}

static void add_spot(struct profile_reader *r, const struct source_spot *spot,
                     struct profile_place *at)
{
	at->inlined = spot ? known_text_number(r, spot->inlined) : 0;
	at->source = spot ? known_text_number(r, spot->source) : 0;
}

static const char *object_of_mode(uint32_t mode)
{
	static const char *const objects[PFM_MISC_MODE + 1] = {
		[PFM_MISC_KERNEL] = "[kernel]",
		[PFM_MISC_HYPERVISOR] = "[hypervisor]",
		[PFM_MISC_GUEST_KERNEL] = "[guest kernel]",
		[PFM_MISC_GUEST_USER] = "[guest]",
	};

	return objects[mode];
}

/* Number of the text of the build id of @object. */
static uint32_t build_id_text(struct profile_reader *r, struct object *object)
{
	char text[2 * 20 + 1] = "";
	size_t n = 0;
	const uint8_t *id = symbols_build_id(object, &n);

	for (size_t i = 0; i < n && i < 20; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return text_number(&r->target_profile->texts, text);
}

static bool needs_lines(const struct profile_reader *r)
{
	return !r->options.no_lines &&
	       (r->keys & KEY_LINE || r->options.detail == STACKS || r->options.tree);
}

/* Names code without a symbol: as its process named what it compiled, or by its address. */
static void find_other_name(struct profile_reader *r, const struct process *process,
                            uint64_t address, struct profile_place *at)
{
	struct text_pool *texts = &r->target_profile->texts;
	const char *name = process ? perf_maps_find(&r->compiled, process->pid, address) : NULL;
	char number[24];

	if (name)
		at->object = known_text_number(r, COMPILED);
	if (!name && r->options.merge_unnamed)
		name = UNNAMED;
	if (!name)
		snprintf(number, sizeof(number), "%#llx", (unsigned long long)address);
	at->function = text_number(texts, name ? name : number);
}

/* Object and function of @address, and what is inlined there. What guests run is in no mapping of
 * the process that runs them. */
static void find_names(struct profile_reader *r, uint32_t pid, uint64_t address, uint32_t mode,
                       struct profile_place *at)
{
	const char *name = NULL, *where = object_of_mode(mode);
	struct process *process = where ? NULL : find_process(r, pid);
	const struct mapping *m;
	struct symbol_range range;

	if (process && r->is_live && !process->is_loaded)
		load_process(r, process);
	m = process ? mappings_find(&process->maps, address) : NULL;
	at->object = m ? m->name : known_text_number(r, where ? where : "[unknown]");
	if (mode == PFM_MISC_KERNEL)
		name = symbols_kernel(r->symbols, address);
	if (m) {
		uint64_t offset = address - m->start + m->offset;

		name = m->object ? symbols_at(m->object, offset) : NULL;
		if (m->object && needs_lines(r))
			add_spot(r, symbols_spot(m->object, offset), at);
		if (m->object && r->options.build_ids)
			at->build_id = build_id_text(r, m->object);
		if (m->object && r->options.file_addresses &&
		    symbols_range(m->object, offset, &range)) {
			at->object = text_number(&r->target_profile->texts, range.path);
			at->address = range.address;
			at->start = range.start;
			at->end = range.end;
		}
	}
	at->mode = mode;
	if (name)
		at->function = known_text_number(r, name);
	else
		find_other_name(r, process, address, at);
}

static void copy_names(const struct profile_place *from, struct profile_place *to)
{
	to->object = from->object;
	to->function = from->function;
	to->inlined = from->inlined;
	to->source = from->source;
	to->build_id = from->build_id;
	to->mode = from->mode;
	if (from->end) {
		to->address = from->address;
		to->start = from->start;
		to->end = from->end;
	}
}

/* The generation of the mappings that names of addresses depend on. */
static uint32_t find_generation(const struct profile_reader *r, uint32_t mode)
{
	return mode == PFM_MISC_KERNEL ? r->kernel_generation : r->sample_generation;
}

/* find_names(), or what it found for the address before. */
static void name_address(struct profile_reader *r, uint32_t pid, uint64_t address, uint32_t mode,
                         struct profile_place *at)
{
	uint32_t generation = find_generation(r, mode);
	uint64_t hash = (address ^ (uint64_t)generation << 40) * 0x9e3779b97f4a7c15u;
	struct named_address *n = &r->named[hash >> (64 - NAMED_ADDRESSES_LOG2)];

	if (n->generation != generation || n->address != address || n->mode != mode) {
		*n = (struct named_address){ .address = address,
			                     .mode = mode,
			                     .generation = generation };
		find_names(r, pid, address, mode, &n->names);
	}
	copy_names(&n->names, at);
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

uint32_t profile_mode_of_marker(uint64_t marker)
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

static bool has_callers(const pfm_record_t *record)
{
	const pfm_sample_t *s = &record->body.sample;
	unsigned n = 0;

	for (uint32_t i = 0; i < s->n_chain && n < 2; i++)
		n += s->chain[i] < PFM_CHAIN_MARKER;
	return n > 1;
}

/* The frame of the instruction alone. */
static void collect_instruction(const pfm_record_t *record, struct frames *f)
{
	f->mode[0] = record->misc & PFM_MISC_MODE;
	f->address[0] = record->body.sample.ip;
	f->n = 1;
}

/* The frames of a sample: those of its call chain, or its instruction. */
static void collect_frames(const pfm_record_t *record, struct frames *f)
{
	uint32_t mode = record->misc & PFM_MISC_MODE;

	f->n = 0;
	for (uint32_t i = 0; i < record->body.sample.n_chain && f->n < FRAMES_MAX; i++) {
		uint64_t a = record->body.sample.chain[i];

		if (a >= PFM_CHAIN_MARKER) {
			mode = profile_mode_of_marker(a);
			continue;
		}
		f->mode[f->n] = mode;
		/* A return address may be the first byte after the function that called. */
		f->address[f->n] = f->n ? a - 1 : a;
		f->n++;
	}
	if (!f->n)
		collect_instruction(record, f);
}

/* "task;outer;...;inner"; "task;[cut off];..." where the chain may not reach the outermost. */
static uint32_t stack_text(struct profile_reader *r, const pfm_record_t *record, uint32_t task)
{
	struct text_pool *texts = &r->target_profile->texts;
	struct frames *f = &r->frames;
	size_t at;

	at = add_name(r->stack, 0, STACK_ROOM, texts->text[task], strlen(texts->text[task]), ':');
	at = add_text(r->stack, at, STACK_ROOM,
	              record->truncated & PFM_TRUNCATED_CHAIN ? ";" CUT_OFF : "");
	for (unsigned i = f->n; i-- > 0 && at + 1 < STACK_ROOM;) {
		struct profile_place p = { 0 };

		name_address(r, record->pid, f->address[i], f->mode[i], &p);
		at = add_frame(texts, r->stack, at, STACK_ROOM, &p, f->mode[i] == PFM_MISC_KERNEL);
	}
	return text_number(texts, r->stack);
}

/* Fills in what @key has of the address, as far as the report adds up by it. */
static void add_address(struct profile_reader *r, const pfm_record_t *record, uint64_t address,
                        uint32_t mode, struct profile_place *key)
{
	if (r->keys & KEY_ADDRESS)
		key->address = address;
	if (!(r->keys & (KEY_OBJECT | KEY_SYMBOL | KEY_LINE)))
		return;
	name_address(r, record->pid, address, mode, key);
	if (!(r->keys & KEY_OBJECT))
		key->object = 0;
	if (!(r->keys & KEY_SYMBOL))
		key->function = 0;
}

/* A hash of what a frame's place has of its sample. */
static uint64_t hash_sample_key(const struct profile_place *key)
{
	const uint64_t parts[] = { (uint64_t)key->event << 32 | key->task,
		                   (uint64_t)key->cpu << 32 | key->cgroup,
		                   (uint64_t)key->pid << 32 | key->tid, key->slice };

	return pfmi_base_hash_bytes(parts, sizeof(parts));
}

static void add_frame_place(struct profile_reader *r, const struct profile_place *place,
                            struct frame_places *f)
{
	struct profile *p = r->target_profile;

	f->list[f->n++] =
		find_place(&p->places, &p->n_places, &r->places_capacity, &r->place_table, place);
}

/* Adds the functions in the text @inlined, which ';' separates. */
static void add_inlined_places(struct profile_reader *r, const struct profile_place *place,
                               uint32_t inlined, struct frame_places *f)
{
	struct text_pool *texts = &r->target_profile->texts;
	struct profile_place at = *place;
	char name[SYMBOL_ROOM + 16];
	size_t len;

	for (size_t i = 0; texts->text[inlined][i] && f->n <= INLINED_MAX;
	     i += len + (texts->text[inlined][i + len] == ';')) {
		len = strcspn(texts->text[inlined] + i, ";");
		snprintf(name, sizeof(name), "%.*s (inlined)", (int)len, texts->text[inlined] + i);
		at.function = text_number(texts, name);
		add_frame_place(r, &at, f);
	}
}

/* Finds the places of @place, which has the names of its frame. */
static void find_new_frame_places(struct profile_reader *r, struct profile_place place,
                                  struct frame_places *f)
{
	uint32_t inlined = r->keys & KEY_LINE ? 0 : place.inlined;

	f->n = 0;
	if (!(r->keys & KEY_LINE))
		place.inlined = place.source = 0;
	add_frame_place(r, &place, f);
	if (inlined && r->keys & KEY_SYMBOL)
		add_inlined_places(r, &place, inlined, f);
}

static struct known_frame *find_known_frame(struct profile_reader *r,
                                            const struct profile_place *place, uint64_t key_hash)
{
	uint64_t names = (uint64_t)place->object << 32 ^ (uint64_t)place->inlined << 48 ^
	                 (uint64_t)place->source << 16 ^ place->function;

	return &r->known_frames[(names ^ place->address ^ key_hash) * 0x9e3779b97f4a7c15u >>
	                        (64 - KNOWN_FRAMES_LOG2)];
}

/* Finds the places of frame @i; after the last one: of the callers that are missing. @key_hash: of
 * hash_sample_key(). */
static void find_frame_places(struct profile_reader *r, const pfm_record_t *record, unsigned i,
                              const struct profile_place *key, uint64_t key_hash,
                              struct frame_places *f)
{
	struct profile_place place = *key;
	struct known_frame *known;

	if (i < r->frames.n)
		add_address(r, record, r->frames.address[i], r->frames.mode[i], &place);
	else if (r->keys & KEY_SYMBOL)
		place.function = known_text_number(r, CUT_OFF);
	known = find_known_frame(r, &place, key_hash);
	if (known->key == key_hash && known->address == place.address &&
	    known->object == place.object && known->function == place.function &&
	    known->inlined == place.inlined && known->source == place.source &&
	    known->build_id == place.build_id) {
		f->n = known->n_places;
		memcpy(f->list, known->places, sizeof(known->places));
		return;
	}
	find_new_frame_places(r, place, f);
	if (f->n > KNOWN_PLACES_MAX)
		return;
	*known = (struct known_frame){ .key = key_hash,
		                       .address = place.address,
		                       .object = place.object,
		                       .function = place.function,
		                       .inlined = place.inlined,
		                       .source = place.source,
		                       .build_id = place.build_id,
		                       .n_places = f->n };
	memcpy(known->places, f->list, f->n * sizeof(*f->list));
}

/* The node of the sample's stack, which is added without the sample if it is new; NO_NODE without
 * memory. @key: what the places of all frames have in common. */
static uint32_t find_path(struct profile_reader *r, const pfm_record_t *record,
                          const struct profile_place *key)
{
	const struct profile *p = r->target_profile;
	bool is_callee_tree = r->options.tree == CALLEE_TREE;
	uint64_t key_hash = hash_sample_key(key);
	unsigned n = r->frames.n + (record->truncated & PFM_TRUNCATED_CHAIN ? 1 : 0);
	struct frame_places f;
	uint32_t parent = NO_NODE;

	for (unsigned k = 0; k < n; k++) {
		find_frame_places(r, record, is_callee_tree ? k : n - 1 - k, key, key_hash, &f);
		for (unsigned i = 0; i < f.n; i++) {
			uint32_t place = f.list[is_callee_tree ? f.n - 1 - i : i];
			const struct profile_node *node =
				place != HASH_NOT_FOUND ? find_node(r, parent, place) : NULL;

			if (!node)
				return NO_NODE;
			parent = (uint32_t)(node - p->nodes);
		}
	}
	return parent;
}

static uint64_t hash_stack(const pfm_record_t *record, const struct profile_place *key,
                           uint32_t task)
{
	const pfm_sample_t *s = &record->body.sample;
	const uint64_t parts[] = {
		s->n_chain ? pfmi_base_hash_bytes(s->chain, s->n_chain * sizeof(*s->chain)) : s->ip,
		(uint64_t)record->pid << 32 | (record->misc & PFM_MISC_MODE),
		(uint64_t)record->truncated << 32 | s->n_chain,
		(uint64_t)key->event << 32 | task,
		(uint64_t)key->cpu << 32 | key->cgroup,
		(uint64_t)key->slice << 32 | key->tid,
	};

	return pfmi_base_hash_bytes(parts, sizeof(parts));
}

/* The entry for a stack; its index is valid if it has the hash and the generation. */
static struct known_stack *find_known_stack(struct profile_reader *r, uint64_t hash)
{
	return &r->known[hash % KNOWN_STACKS];
}

/* find_path(), or what it found for the stack before. */
static uint32_t find_node_of_stack(struct profile_reader *r, const pfm_record_t *record,
                                   const struct profile_place *key)
{
	uint64_t hash = hash_stack(record, key, key->task);
	struct known_stack *known = find_known_stack(r, hash);

	if (known->generation != r->sample_generation || known->hash != hash)
		*known = (struct known_stack){ hash, r->sample_generation,
			                       find_path(r, record, key) };
	r->target_profile->failed |= known->index == NO_NODE;
	return known->index;
}

/* Adds the sample to the places of all its frames, and to the call tree. */
static void add_stack(struct profile_reader *r, const pfm_record_t *record,
                      const struct profile_place *key)
{
	struct profile *p = r->target_profile;
	uint32_t node = find_node_of_stack(r, record, key);

	for (bool is_last = true; node != NO_NODE; is_last = false) {
		struct profile_node *n = &p->nodes[node];
		bool is_self = r->options.tree == CALLEE_TREE ? n->parent == NO_NODE : is_last;

		n->samples++;
		n->weight += key->weight;
		add_to_children(&p->places[n->place], key->weight, r->n_samples);
		if (is_self) {
			n->self_samples++;
			n->self_weight += key->weight;
			add_sample(&p->places[n->place], key->weight);
		}
		node = n->parent;
	}
}

/* Adds the sample to the places of all its frames: itself to the innermost one. */
static void add_frames(struct profile_reader *r, const pfm_record_t *record,
                       const struct profile_place *key)
{
	struct profile *p = r->target_profile;
	unsigned n = r->frames.n + (record->truncated & PFM_TRUNCATED_CHAIN ? 1 : 0);
	uint64_t key_hash = hash_sample_key(key);
	struct frame_places f;

	for (unsigned i = n; i-- > 0;) {
		find_frame_places(r, record, i, key, key_hash, &f);
		for (unsigned k = 0; k < f.n; k++) {
			p->failed |= f.list[k] == HASH_NOT_FOUND;
			if (p->failed)
				return;
			if (i == 0 && k + 1 == f.n)
				add_sample(&p->places[f.list[k]], key->weight);
			add_to_children(&p->places[f.list[k]], key->weight, r->n_samples);
		}
	}
}

/* Does the time of @record belong to the report? Sets its slice. */
static bool is_in_time(struct profile_reader *r, const pfm_record_t *record, uint32_t *slice)
{
	struct profile *p = r->target_profile;
	const struct profile_options *o = &r->options;
	double seconds;

	if (!(record->has & PFM_SAMPLE_TIME))
		return o->from <= 0 && o->to <= 0;
	if (!p->first_time)
		p->first_time = record->time;
	seconds = ((double)record->time - (double)p->first_time) / 1e9;
	if (p->n_slices > 1) {
		double length = (double)(p->last_time - p->first_time) / p->n_slices;
		double at = length > 0 ? seconds * 1e9 / length : 0;

		*slice = at <= 0 ? 0 : at >= p->n_slices ? p->n_slices - 1 : (uint32_t)at;
	} else if (record->time > p->last_time) {
		p->last_time = record->time;
	}
	return seconds >= o->from && (o->to <= 0 || seconds < o->to);
}

static bool matches_name(const struct profile_reader *r, const char *pattern, uint32_t name)
{
	return !pattern || fnmatch(pattern, r->target_profile->texts.text[name], 0) == 0;
}

/* Does the function at the sample's instruction have the name that is wanted? */
static bool has_wanted_symbol(struct profile_reader *r, const pfm_record_t *record)
{
	struct profile_place place = { 0 };

	if (!r->options.symbol)
		return true;
	name_address(r, record->pid, r->frames.address[0], r->frames.mode[0], &place);
	return matches_name(r, r->options.symbol, place.function);
}

/* The parts of a place that do not depend on the address. */
static void fill_key(struct profile_reader *r, const pfm_record_t *record, uint32_t task,
                     struct profile_place *key)
{
	if (r->keys & KEY_TASK || r->options.detail == STACKS)
		key->task = task;
	if (r->keys & KEY_CPU)
		key->cpu = record->has & PFM_SAMPLE_CPU ? record->cpu : UNKNOWN_CPU;
	if (r->keys & KEY_THREAD) {
		key->pid = record->pid;
		key->tid = record->tid;
	}
	if (r->keys & KEY_CGROUP && record->has & PFM_SAMPLE_CGROUP)
		key->cgroup = cgroup_name(r, record->body.sample.cgroup);
}

static void add_to_sums(struct profile *p, const struct profile_place *key)
{
	struct profile_sum *sum = &p->sums[(size_t)key->event * p->n_slices + key->slice];

	p->weights[key->event] += key->weight;
	p->samples[key->event]++;
	sum->samples++;
	sum->weight += key->weight;
	sum->squares += (double)key->weight * (double)key->weight;
}

/* Adds the sample to its stack, as a text. */
static void add_stack_text(struct profile_reader *r, const pfm_record_t *record,
                           struct profile_place *key)
{
	struct profile *p = r->target_profile;
	uint64_t hash = hash_stack(record, key, key->task);
	struct known_stack *known = find_known_stack(r, hash);

	if (known->generation != r->sample_generation || known->hash != hash) {
		key->function = stack_text(r, record, key->task);
		*known = (struct known_stack){ hash, r->sample_generation,
			                       find_place(&p->stacks, &p->n_stacks,
			                                  &r->stacks_capacity, &r->stack_table,
			                                  key) };
	}
	p->failed |= known->index == HASH_NOT_FOUND;
	if (known->index != HASH_NOT_FOUND)
		add_sample(&p->stacks[known->index], key->weight);
}

/* The place of the sample's innermost frame; HASH_NOT_FOUND without memory. */
static uint32_t find_instruction_place(struct profile_reader *r, const pfm_record_t *record,
                                       const struct profile_place *key)
{
	struct frame_places f;

	find_frame_places(r, record, 0, key, hash_sample_key(key), &f);
	r->target_profile->failed |= f.list[0] == HASH_NOT_FOUND;
	return f.list[0];
}

/* Adds the sample to the place of its instruction. */
static void add_instruction(struct profile_reader *r, const pfm_record_t *record,
                            const struct profile_place *key)
{
	uint32_t at = find_instruction_place(r, record, key);

	if (at != HASH_NOT_FOUND)
		add_sample(&r->target_profile->places[at], key->weight);
}

/* Adds what the sample has counted of @event to its place, or to the node of its stack. */
static void add_counts(struct profile_reader *r, const pfm_record_t *record, uint32_t event,
                       const struct profile_place *key)
{
	struct profile *p = r->target_profile;
	bool is_tree = r->options.tree != NO_TREE;
	uint32_t at = is_tree ? find_node_of_stack(r, record, key)
	                      : find_instruction_place(r, record, key);
	uint64_t count = record->body.sample.period;

	if (at == HASH_NOT_FOUND)
		return;
	p->failed |= !event_counts_add(&p->counts,
	                               is_tree ? &p->nodes[at].counts : &p->places[at].counts,
	                               event, record->time, count ? count : 1);
}

static void add_to_view(struct profile_reader *r, const pfm_record_t *record,
                        struct profile_place *key)
{
	if (r->options.detail == STACKS)
		add_stack_text(r, record, key);
	else if (r->options.tree)
		add_stack(r, record, key);
	else if (r->options.children)
		add_frames(r, record, key);
	else
		add_instruction(r, record, key);
}

/* find_code_fn of a reader. */
static bool find_code(void *arg, uint32_t pid, uint64_t address, struct mapped_code *code)
{
	struct profile_reader *r = arg;
	const struct process *process = find_process(r, pid);
	const struct mapping *m = process ? mappings_find(&process->maps, address) : NULL;

	if (m)
		*code = (struct mapped_code){ m->object, address - m->start + m->offset };
	return m;
}

static bool needs_stacks(const struct profile_reader *r)
{
	return !r->options.innermost_only &&
	       (r->options.detail == STACKS || r->options.tree || r->options.children);
}

static void read_sample_record(struct profile_reader *r, pfm_record_t *record)
{
	struct profile *p = r->target_profile;
	const struct task *task = find_task(r, record->tid);
	const struct process *process = find_process(r, record->pid);
	uint32_t event = record->event == PFM_NO_EVENT ? 0 : record->event;
	struct profile_place key = { .event = event, .weight = record->body.sample.period };
	bool is_sample = true;

	if (record->event == PFM_NO_EVENT && p->n_events > 1) {
		p->n_without_event++;
		return;
	}
	if (!task || !process || event >= p->n_events)
		return;
	r->sample_generation = process->generation;
	if (r->options.metrics) {
		p->failed |= !event_counts_note(&p->counts, record, event, &is_sample);
		key.event = 0;
		key.weight = 1;
	}
	if (needs_stacks(r) && !chains_complete(&r->chains, record, find_code, r))
		p->failed = true;
	if (needs_stacks(r))
		collect_frames(record, &r->frames);
	else
		collect_instruction(record, &r->frames);
	if (r->options.innermost_only)
		record->truncated = 0;
	p->has_chains |= record->has & PFM_SAMPLE_STACK || has_callers(record);
	if (!is_in_time(r, record, &key.slice) || !matches_name(r, r->options.task, task->name) ||
	    !has_wanted_symbol(r, record) || (r->is_wanted && !r->is_wanted[event]))
		return;
	if (!key.weight)
		key.weight = 1;
	r->n_samples += is_sample;
	if (is_sample)
		add_to_sums(p, &key);
	fill_key(r, record, task->name, &key);
	if (is_sample)
		add_to_view(r, record, &key);
	if (r->options.metrics)
		add_counts(r, record, event, &key);
}

static void read_record(struct profile_reader *r, pfm_record_t *record)
{
	struct profile *p = r->target_profile;

	if (record->has & PFM_SAMPLE_TIME && record->time &&
	    (!p->start_time || record->time < p->start_time))
		p->start_time = record->time;
	switch (record->type) {
	case PFM_RECORD_SAMPLE: read_sample_record(r, record); break;
	case PFM_RECORD_MAP:
	case PFM_RECORD_MAP2: read_mmap_record(r, record); break;
	case PFM_RECORD_FORK: read_fork_record(r, record); break;
	case PFM_RECORD_COMM: read_comm_record(r, record); break;
	case PFM_RECORD_LOST: p->n_lost += record->body.lost.lost; break;
	case PFM_RECORD_LOST_SAMPLES: p->lost_samples += record->body.lost.lost; break;
	case PFM_RECORD_CGROUP: read_cgroup_record(r, record); break;
	case PFM_RECORD_THROTTLE: p->throttled++; break;
	default: break;
	}
}

static void free_reader(struct profile_reader *r)
{
	mappings_free(&r->map_pool);
	perf_maps_free(&r->compiled);
	free(r->processes.list);
	free(r->tasks.list);
	pfmi_base_free_hash(&r->processes.table);
	pfmi_base_free_hash(&r->tasks.table);
	pfmi_base_free_hash(&r->place_table);
	pfmi_base_free_hash(&r->stack_table);
	pfmi_base_free_hash(&r->node_table);
	pfmi_base_free_hash(&r->cgroup_table);
	free(r->cgroups);
	free(r->is_wanted);
	symbols_close(r->symbols);
	chains_free(&r->chains);
	free(r);
}

/* Heaviest first within each event and slice. */
static int compare_weights(const void *a, const void *b)
{
	const struct profile_place *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	return x->weight < y->weight   ? 1
	       : x->weight > y->weight ? -1
	                               : (x->function > y->function) - (x->function < y->function);
}

/* By weight with callees; where that is equal, by their own. */
static int compare_children(const void *a, const void *b)
{
	const struct profile_place *x = a, *y = b;

	if (x->event != y->event || x->slice != y->slice ||
	    x->children_weight == y->children_weight)
		return compare_weights(a, b);
	return x->children_weight < y->children_weight ? 1 : -1;
}

static void sort_places(struct profile_place *list, size_t n, bool is_by_children)
{
	if (n)
		qsort(list, n, sizeof(*list), is_by_children ? compare_children : compare_weights);
}

/* Why the records of a file ended early, in words. */
static const char *report_unreadable(int rc)
{
	return rc == PFMLIB_ERR_NOTSUPP ? "it is compressed, and libzstd.so.1 is missing"
	                                : pfm_result_text(rc);
}

/* Opens the recording. PFMLIB_SUCCESS, or an error code after a message. */
static int open_recording(struct profile *p, const char *path)
{
	pfm_error_t *error = &p->error;
	int rc;

	*error = (pfm_error_t)PFM_INIT(*error);
	rc = pfm_open_recording(&p->session, strcmp(path, "-") ? path : "/dev/stdin", error);

	if (rc == PFMLIB_SUCCESS)
		return rc;
	show_profile_message("%s: %s", path, describe_recording_error(error));
	return rc;
}

/* Reads the times of the first and the last sample. */
static int read_times(struct profile *p, const char *path)
{
	pfm_record_t record = PFM_INIT(record);
	int status;

	if (strcmp(path, "-") == 0) {
		show_profile_message(
			"slices of time need a file that can be read twice, got standard "
			"input: name a file");
		return PFMLIB_ERR_INVAL;
	}
	status = open_recording(p, path);
	while (status == PFMLIB_SUCCESS && pfm_next_record(p->session, &record) == 1) {
		if (record.type != PFM_RECORD_SAMPLE || !(record.has & PFM_SAMPLE_TIME))
			continue;
		if (!p->first_time || record.time < p->first_time)
			p->first_time = record.time;
		if (record.time > p->last_time)
			p->last_time = record.time;
	}
	pfm_close_session(p->session);
	p->session = NULL;
	return status;
}

static unsigned keys_of_detail(const struct profile_options *o)
{
	unsigned keys = KEY_TASK | KEY_OBJECT | KEY_SYMBOL;

	if (o->keys)
		return o->keys;
	return o->detail == SOURCE ? keys | KEY_LINE : keys;
}

/* Creates the sums of each event. */
static bool create_sums(struct profile *p)
{
	p->n_events = pfm_session_size(p->session);
	p->weights = calloc(p->n_events + 1, sizeof(*p->weights));
	p->samples = calloc(p->n_events + 1, sizeof(*p->samples));
	p->sums = calloc((size_t)p->n_events * p->n_slices + 1, sizeof(*p->sums));
	return p->weights && p->samples && p->sums;
}

/* Finds the events whose names match options.event. False without memory. */
static bool choose_events(struct profile_reader *r)
{
	const struct profile *p = r->target_profile;
	const char *pattern = r->options.event;
	pfm_count_info_t info = PFM_INIT(info);

	if (!pattern)
		return true;
	r->is_wanted = calloc(p->n_events + 1, sizeof(*r->is_wanted));
	for (unsigned i = 0; r->is_wanted && i < p->n_events; i++)
		r->is_wanted[i] =
			pfm_describe_count(p->session, i, &info) == PFMLIB_SUCCESS &&
			(strcmp(pattern, info.name) == 0 || fnmatch(pattern, info.name, 0) == 0);
	return r->is_wanted;
}

/* Adds the counts of each node to its parent's, which is before it. */
static bool add_counts_to_parents(struct profile *p)
{
	for (size_t i = p->n_nodes; i-- > 0;)
		if (p->nodes[i].parent != NO_NODE &&
		    !event_counts_merge(&p->counts, p->nodes[i].counts,
		                        &p->nodes[p->nodes[i].parent].counts))
			return false;
	return true;
}

/* Reads all records. Returns what pfm_next_record() returned last. */
static int read_records(struct profile_reader *r, const char *path)
{
	struct profile *p = r->target_profile;
	pfm_record_t record = PFM_INIT(record);
	struct stat st;
	char *release;
	int rc = 0;

	begin_profile_recording(path);
	r->symbols = symbols_open(r->options.debug_folder);
	if (r->symbols && strcmp(path, "-") != 0 && stat(path, &st) == 0)
		symbols_recorded_at(r->symbols, &st.st_mtim);
	release = r->symbols ? read_recording_text(path, PERFDATA_FEATURE_OSRELEASE) : NULL;
	if (release)
		symbols_recorded_kernel(r->symbols, release);
	free(release);
	text_number(&p->texts, "");
	p->failed = !create_sums(p) || !r->symbols || p->texts.failed || !choose_events(r) ||
	            (r->options.metrics && !event_counts_init(&p->counts, p->n_events));
	while (!p->failed && (rc = chains_next_record(&r->chains, p->session, &record)) == 1) {
		read_record(r, &record);
		p->failed |= p->texts.failed;
		count_profile_record(p->session);
	}
	count_profile_record(NULL);
	if (r->options.metrics && !p->failed)
		p->failed = !add_counts_to_parents(p);
	return rc;
}

int profile_read_selected(struct profile *p, const char *path, const struct profile_options *o)
{
	struct profile_reader *r = calloc(1, sizeof(*r));
	pfm_buffer_info_t buffers = PFM_INIT(buffers);
	int rc = r ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;

	p->n_slices = o->n_slices ? o->n_slices : 1;
	if (!r)
		show_profile_message("%s: no memory", path);
	if (rc == PFMLIB_SUCCESS && p->n_slices > 1)
		rc = read_times(p, path);
	if (rc == PFMLIB_SUCCESS)
		rc = open_recording(p, path);
	if (rc != PFMLIB_SUCCESS) {
		free(r);
		return rc;
	}
	r->target_profile = p;
	r->options = *o;
	r->keys = keys_of_detail(o);
	r->generation = r->kernel_generation = 1;
	if ((r->keys & KEY_LINE || o->detail == STACKS) && !o->no_lines && !lines_supported())
		show_profile_message("libdw is missing: source lines and inlined functions are not "
		                     "shown");
	rc = read_records(r, path);
	free_reader(r);
	if (p->failed || rc < 0) {
		p->error = (pfm_error_t)PFM_INIT(p->error);
		p->error.code = p->failed ? PFMLIB_ERR_NOMEM : rc;
		p->error.detail = p->failed ? NULL : report_unreadable(rc);
		show_profile_message("%s: %s", path,
		                     p->failed ? "no memory" : report_unreadable(rc));
		return p->failed ? PFMLIB_ERR_NOMEM : rc;
	}
	p->damaged =
		pfm_buffer_statistics(p->session, &buffers) == PFMLIB_SUCCESS && buffers.damaged;
	if (!o->tree)
		sort_places(p->places, p->n_places, o->children);
	sort_places(p->stacks, p->n_stacks, false);
	return PFMLIB_SUCCESS;
}

struct profile_reader *profile_begin(struct profile *p, pfm_session_t *session,
                                     const struct profile_options *o)
{
	struct profile_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	p->session = session;
	p->n_slices = 1;
	r->target_profile = p;
	r->options = *o;
	r->keys = keys_of_detail(o);
	r->generation = r->kernel_generation = 1;
	r->is_live = true;
	r->symbols = symbols_open(o->debug_folder);
	text_number(&p->texts, "");
	p->failed = !r->symbols || !create_sums(p) || p->texts.failed || !choose_events(r);
	return r;
}

bool profile_add_record(struct profile_reader *r, pfm_record_t *record)
{
	read_record(r, record);
	r->target_profile->failed |= r->target_profile->texts.failed;
	return !r->target_profile->failed;
}

void profile_clear(struct profile_reader *r, unsigned keys)
{
	struct profile *p = r->target_profile;

	pfmi_base_free_hash(&r->place_table);
	pfmi_base_free_hash(&r->node_table);
	memset(r->known_frames, 0, sizeof(r->known_frames));
	p->n_places = p->n_nodes = 0;
	r->options.keys = keys;
	r->keys = keys_of_detail(&r->options);
	forget_names(r);
	for (unsigned i = 0; i < p->n_events; i++) {
		p->weights[i] = p->samples[i] = 0;
		p->sums[i] = (struct profile_sum){ 0 };
	}
}

void profile_end(struct profile_reader *r)
{
	if (r)
		free_reader(r);
}

void profile_free(struct profile *p)
{
	pfm_close_session(p->session);
	text_pool_free(&p->texts);
	free(p->places);
	free(p->stacks);
	free(p->nodes);
	event_counts_free(&p->counts);
	free(p->sums);
	free(p->weights);
	free(p->samples);
}
