/* SPDX-License-Identifier: MIT */
/* The samples of a recording with their frames as locations: an address in a mapping, and the
 * functions there. Mappings and locations are stored once, so memory does not grow with the number
 * of samples. */
#include "export.h"

#include <errno.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "profile/jitdump.h"
#include "profile/lines.h"
#include "profile/messages.h"
#include "perfdata/perfdata.h"
#include "profile/recording_section.h"
#include "profile/symbols.h"

#define KERNEL_MAP "[kernel.kallsyms]" /* followed by the name of the symbol at the address */

void *export_grow(void *list, size_t n, size_t *capacity, size_t size, bool *failed)
{
	size_t twice = *capacity ? 2 * *capacity : 64;
	void *more;

	if (n < *capacity)
		return list;
	more = n < UINT32_MAX / 2 ? realloc(list, twice * size) : NULL;
	if (more)
		*capacity = twice;
	else
		*failed = true;
	return more ? more : list;
}

/* ---- processes and tasks --------------------------------------------------------------------- */

struct number_search {
	const uint32_t *numbers;
	uint32_t number;
};

static bool is_same_number(const void *arg, uint32_t i)
{
	const struct number_search *s = arg;

	return s->numbers[i] == s->number;
}

uint32_t export_index_of_number(struct number_table *t, uint32_t number, bool *is_new, bool *failed)
{
	const struct number_search search = { t->numbers, number };
	uint64_t hash = pfmi_base_hash_number(number);
	uint32_t at = pfmi_base_find_hash(&t->table, hash, is_same_number, &search);

	*is_new = at == HASH_NOT_FOUND;
	if (!*is_new)
		return at;
	t->numbers = export_grow(t->numbers, t->n, &t->capacity, sizeof(*t->numbers), failed);
	*failed = *failed || !pfmi_base_add_hash(&t->table, hash, (uint32_t)t->n);
	if (*failed)
		return 0;
	t->numbers[t->n] = number;
	return (uint32_t)t->n++;
}

struct export_process {
	struct map_set maps;
	uint32_t generation; /* of the mappings: those of no other process have this number */
};

/* NULL without memory. Valid until the next call. */
static struct export_process *find_process(struct export_reader *r, uint32_t pid)
{
	bool is_new;
	uint32_t at = export_index_of_number(&r->pids, pid, &is_new, &r->failed);

	if (is_new)
		r->processes = export_grow(r->processes, at, &r->processes_capacity,
		                           sizeof(*r->processes), &r->failed);
	if (r->failed)
		return NULL;
	if (is_new)
		r->processes[at] = (struct export_process){ .generation = ++r->generation };
	return &r->processes[at];
}

/* Name of a task; NULL without memory. Valid until the next call. */
static uint32_t *find_task(struct export_reader *r, uint32_t tid)
{
	bool is_new;
	uint32_t at = export_index_of_number(&r->tids, tid, &is_new, &r->failed);
	char name[16];

	if (is_new)
		r->tasks = export_grow(r->tasks, at, &r->tasks_capacity, sizeof(*r->tasks),
		                       &r->failed);
	if (r->failed)
		return NULL;
	if (is_new) {
		snprintf(name, sizeof(name), ":%d", (int)tid);
		r->tasks[at] = text_number(&r->texts, name);
	}
	return &r->tasks[at];
}

/* ---- mappings -------------------------------------------------------------------------------- */

struct mapping_search {
	const struct export_mapping *list, *key;
};

static bool is_same_mapping(const void *arg, uint32_t i)
{
	const struct mapping_search *s = arg;
	const struct export_mapping *a = &s->list[i], *b = s->key;

	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->file == b->file && a->build_id == b->build_id && a->pid == b->pid;
}

static uint32_t add_mapping(struct export_reader *r, const struct export_mapping *m)
{
	const struct mapping_search search = { r->mappings, m };
	const uint64_t key[] = { m->start, m->end, m->offset, (uint64_t)m->pid << 32 | m->file,
		                 m->build_id };
	uint64_t hash = pfmi_base_hash_bytes(key, sizeof(key));
	uint32_t at = pfmi_base_find_hash(&r->mapping_table, hash, is_same_mapping, &search);

	if (at != HASH_NOT_FOUND)
		return at;
	r->mappings = export_grow(r->mappings, r->n_mappings, &r->mappings_capacity,
	                          sizeof(*r->mappings), &r->failed);
	r->failed =
		r->failed || !pfmi_base_add_hash(&r->mapping_table, hash, (uint32_t)r->n_mappings);
	if (r->failed)
		return 0;
	r->mappings[r->n_mappings] = *m;
	return (uint32_t)r->n_mappings++;
}

static uint32_t add_named_mapping(struct export_reader *r, const char *name)
{
	const struct export_mapping m = { .file = text_number(&r->texts, name) };

	return add_mapping(r, &m);
}

static uint32_t add_build_id(struct export_reader *r, const pfm_map_t *map)
{
	char text[2 * 64 + 1] = "";

	for (uint32_t i = 0; map->build_id && i < map->build_id_size && i < 64; i++)
		snprintf(text + 2 * i, 3, "%02x", map->build_id[i]);
	return text_number(&r->texts, text);
}

/* True for memory of a process without a file: //anon, [heap], /memfd:name, and for dumps. */
static bool may_hold_compiled_code(const char *name)
{
	return *name != '/' || name[1] == '/' || strncmp(name, "/memfd:", 7) == 0 ||
	       strncmp(name, "/dev/zero", 9) == 0 || is_jitdump_path(name);
}

static void read_mmap_record(struct export_reader *r, const pfm_record_t *record)
{
	const pfm_map_t *map = &record->body.map;
	bool is_kernel = (record->misc & PFM_MISC_MODE) == PFM_MISC_KERNEL;
	struct export_process *process = is_kernel ? NULL : find_process(r, record->pid);
	const char *name = map->name;
	struct export_mapping e;
	struct mapping m;

	if (!name || r->failed)
		return;
	if (!is_kernel && r->see_mapping)
		r->see_mapping(r->see_mapping_arg, record);
	e = (struct export_mapping){ .start = map->start,
		                     .end = map->start + map->length,
		                     .offset = map->offset };
	if (is_kernel && strncmp(name, KERNEL_MAP, strlen(KERNEL_MAP)) == 0) {
		symbols_expect(r->symbols, name + strlen(KERNEL_MAP), map->offset);
		name = KERNEL_MAP;
	} else if (!is_kernel) {
		e.object = symbols_object(r->symbols, name, map->build_id, map->build_id_size);
		perf_maps_see_mapping(&r->compiled, record->pid, name);
		e.pid = may_hold_compiled_code(name) ? record->pid : 0;
	}
	e.file = text_number(&r->texts, name);
	e.build_id = add_build_id(r, map);
	m = (struct mapping){ .start = e.start,
		              .end = e.end,
		              .offset = e.offset,
		              .name = add_mapping(r, &e),
		              .object = e.object };
	r->failed = r->failed ||
	            !mappings_add(&r->map_pool, process ? &process->maps : &r->kernel_maps, &m);
	*(process ? &process->generation : &r->kernel_generation) = ++r->generation;
}

/* A child begins as what its parent is. */
static void read_fork_record(struct export_reader *r, const pfm_record_t *record)
{
	const uint32_t *parent = find_task(r, record->body.task.ptid);
	uint32_t name = parent ? *parent : 0, *task = find_task(r, record->tid);
	struct export_process *from, *to;

	if (parent && task)
		*task = name;
	if (record->pid == record->body.task.ppid)
		return;
	/* A second search may move the list that the first result points into. */
	find_process(r, record->body.task.ppid);
	to = find_process(r, record->pid);
	from = find_process(r, record->body.task.ppid);
	if (!from || !to)
		return;
	mappings_copy(&r->map_pool, &from->maps, &to->maps);
	to->generation = ++r->generation;
}

static void read_comm_record(struct export_reader *r, const pfm_record_t *record)
{
	uint32_t *task = find_task(r, record->tid);
	struct export_process *process = find_process(r, record->pid);

	if (task && record->body.comm.name)
		*task = text_number(&r->texts, record->body.comm.name);
	if (process && record->misc & PFM_MISC_EXEC)
		*process = (struct export_process){ .generation = ++r->generation };
}

/* ---- locations ------------------------------------------------------------------------------- */

static void add_location_name(struct export_reader *r, struct export_location *l, const char *name)
{
	r->names = export_grow(r->names, r->n_names, &r->names_capacity, sizeof(*r->names),
	                       &r->failed);
	if (r->failed)
		return;
	r->names[r->n_names++] = text_number(&r->texts, name);
	l->n_names++;
}

static void add_inlined_names(struct export_reader *r, struct export_location *l,
                              const char *inlined)
{
	char name[SYMBOL_SIZE];

	for (const char *s = inlined; *s; s += *s == ';') {
		size_t len = strcspn(s, ";");

		snprintf(name, sizeof(name), "%.*s", (int)len, s);
		add_location_name(r, l, name);
		s += len;
	}
}

static struct export_source add_source(struct export_reader *r, const char *source)
{
	const char *colon = strrchr(source, ':');
	char file[SYMBOL_SIZE];

	if (!colon)
		return (struct export_source){ 0, 0 };
	snprintf(file, sizeof(file), "%.*s", (int)(colon - source), source);
	return (struct export_source){ text_number(&r->texts, file),
		                       (uint32_t)strtoul(colon + 1, NULL, 10) };
}

/* Offset in its file of the code at @l. The address of a caller may be the first byte after its
 * function. */
static uint64_t file_offset(const struct export_location *l, const struct export_mapping *m)
{
	return l->address - l->is_caller - m->start + m->offset;
}

struct export_source export_find_function_source(struct export_reader *r,
                                                 const struct export_location *l)
{
	const struct export_mapping *m = &r->mappings[l->mapping];
	uint64_t offset = file_offset(l, m);
	const struct source_spot *spot = NULL;
	struct symbol_range range;

	if (m->object && l->mode != PFM_MISC_KERNEL && symbols_range(m->object, offset, &range))
		spot = symbols_spot(m->object, offset - (range.address - range.start));
	return add_source(r, spot && !*spot->inlined ? spot->source : "");
}

/* Sets the names of @l. */
static void name_location(struct export_reader *r, struct export_location *l)
{
	const struct export_mapping *m = &r->mappings[l->mapping];
	uint64_t address = l->address - l->is_caller;
	uint64_t offset = file_offset(l, m);
	const struct source_spot *spot = m->object ? symbols_spot(m->object, offset) : NULL;
	const char *name = m->object ? symbols_at(m->object, offset) : NULL;
	char number[24];

	if (l->mode == PFM_MISC_KERNEL)
		name = symbols_kernel(r->symbols, address);
	if (!name && m->pid)
		name = perf_maps_find(&r->compiled, m->pid, address);
	if (!name && m->object)
		address = symbols_shown_address(m->object, offset, address);
	snprintf(number, sizeof(number), "%#llx", (unsigned long long)address);
	l->has_name = name;
	l->first_name = (uint32_t)r->n_names;
	add_location_name(r, l, name ? name : number);
	if (!spot)
		return;
	add_inlined_names(r, l, spot->inlined);
	l->source = add_source(r, spot->source);
}

struct location_search {
	const struct export_location *list, *key;
};

static bool is_same_location(const void *arg, uint32_t i)
{
	const struct location_search *s = arg;
	const struct export_location *a = &s->list[i], *b = s->key;

	return a->address == b->address && a->mapping == b->mapping && a->mode == b->mode &&
	       a->is_caller == b->is_caller;
}

/* Names are looked up once for each location. */
static uint32_t add_location(struct export_reader *r, struct export_location l)
{
	const struct location_search search = { r->locations, &l };
	const uint64_t key[] = { l.address, (uint64_t)l.mapping << 32 | l.mode << 1 | l.is_caller };
	uint64_t hash = pfmi_base_hash_bytes(key, sizeof(key));
	uint32_t at = pfmi_base_find_hash(&r->location_table, hash, is_same_location, &search);

	if (at != HASH_NOT_FOUND)
		return at;
	name_location(r, &l);
	if (r->failed)
		return 0;
	r->locations = export_grow(r->locations, r->n_locations, &r->locations_capacity,
	                           sizeof(*r->locations), &r->failed);
	r->failed = r->failed ||
	            !pfmi_base_add_hash(&r->location_table, hash, (uint32_t)r->n_locations);
	if (r->failed)
		return 0;
	r->locations[r->n_locations] = l;
	return (uint32_t)r->n_locations++;
}

static bool is_code_of_process(uint32_t mode)
{
	return mode != PFM_MISC_KERNEL && mode != PFM_MISC_HYPERVISOR &&
	       mode != PFM_MISC_GUEST_KERNEL && mode != PFM_MISC_GUEST_USER;
}

/* The code of guests is in no mapping of the process that runs them. */
static uint32_t find_mapping_of(struct export_reader *r, uint32_t pid, uint64_t address,
                                uint32_t mode)
{
	const struct export_process *process = NULL;
	const struct map_set *maps = NULL;
	const struct mapping *m;

	switch (mode) {
	case PFM_MISC_HYPERVISOR: return add_named_mapping(r, "[hypervisor]");
	case PFM_MISC_GUEST_KERNEL: return add_named_mapping(r, "[guest.kernel]");
	case PFM_MISC_GUEST_USER: return add_named_mapping(r, "[guest]");
	case PFM_MISC_KERNEL: maps = &r->kernel_maps; break;
	default:
		process = find_process(r, pid);
		maps = process ? &process->maps : NULL;
		break;
	}
	m = maps ? mappings_find(maps, address) : NULL;
	if (m)
		return m->name;
	return mode == PFM_MISC_KERNEL ? add_named_mapping(r, KERNEL_MAP) : 0;
}

uint32_t export_find_object(struct export_reader *r, uint32_t pid, uint64_t address)
{
	return r->mappings[find_mapping_of(r, pid, address, PFM_MISC_USER)].file;
}

static void add_frame(struct export_reader *r, unsigned *n, uint32_t location)
{
	r->frames = export_grow(r->frames, *n, &r->frames_capacity, sizeof(*r->frames), &r->failed);
	if (!r->failed)
		r->frames[(*n)++] = location;
}

/* An address whose location is known, as long as the mappings of its process do not change. With
 * 400,000 samples of 12 frames an export takes a third of the time. */
struct known_location {
	uint64_t address;
	uint32_t generation; /* 0: free */
	uint32_t location;
	uint8_t mode;
	bool is_caller;
};

enum { KNOWN_LOCATIONS_LOG2 = 15 };

static struct known_location *find_known_location(const struct export_reader *r,
                                                  uint32_t generation, uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)generation << 40) * 0x9e3779b97f4a7c15u;

	return &r->known[hash >> (64 - KNOWN_LOCATIONS_LOG2)];
}

/* @generation: of the mappings of process @pid. */
static void add_address(struct export_reader *r, unsigned *n, uint32_t pid, uint32_t generation,
                        uint64_t address, uint32_t mode)
{
	struct known_location *known;
	struct export_location l = { .address = address, .mode = mode, .is_caller = *n > 0 };

	if (!is_code_of_process(mode))
		generation = r->kernel_generation;
	known = find_known_location(r, generation, address);
	if (known->generation != generation || known->address != address || known->mode != mode ||
	    known->is_caller != l.is_caller) {
		l.mapping = find_mapping_of(r, pid, address - l.is_caller, mode);
		*known = (struct known_location){ .address = address,
			                          .generation = generation,
			                          .location = add_location(r, l),
			                          .mode = (uint8_t)mode,
			                          .is_caller = l.is_caller };
	}
	add_frame(r, n, known->location);
}

/* Locations of the sample's chain, or of its address. Returns how many. */
static unsigned read_frames(struct export_reader *r, const pfm_record_t *record)
{
	const pfm_sample_t *sample = &record->body.sample;
	const struct export_process *process = find_process(r, record->pid);
	uint32_t mode = record->misc & PFM_MISC_MODE,
		 generation = process ? process->generation : 0;
	unsigned n = 0;

	for (uint32_t i = 0; i < sample->n_chain && !r->failed; i++)
		if (sample->chain[i] >= PFM_CHAIN_MARKER)
			mode = profile_mode_of_marker(sample->chain[i]);
		else
			add_address(r, &n, record->pid, generation, sample->chain[i], mode);
	if (n == 0 && !r->failed)
		add_address(r, &n, record->pid, generation, sample->ip, mode);
	if (record->truncated & PFM_TRUNCATED_CHAIN)
		add_frame(r, &n, 0);
	return n;
}

/* ---- samples --------------------------------------------------------------------------------- */

static void note_time(struct export_reader *r, uint64_t time)
{
	if (!r->first_time || time < r->first_time)
		r->first_time = time;
	if (time > r->last_time)
		r->last_time = time;
}

/* find_code_fn of a reader. */
static bool find_code(void *arg, uint32_t pid, uint64_t address, struct mapped_code *code)
{
	struct export_reader *r = arg;
	const struct export_process *process = find_process(r, pid);
	const struct mapping *m = process ? mappings_find(&process->maps, address) : NULL;

	if (m)
		*code = (struct mapped_code){ m->object, address - m->start + m->offset };
	return m;
}

/* False if the sample is left out. */
static bool read_sample_record(struct export_reader *r, struct export_sample *s)
{
	pfm_record_t *record = &r->record;
	uint32_t event = record->event == PFM_NO_EVENT ? 0 : record->event;
	const uint32_t *task;

	if (record->event == PFM_NO_EVENT && r->n_events > 1) {
		r->losses.without_event++;
		return false;
	}
	if (event >= r->n_events || !r->events[event].is_selected)
		return false;
	task = find_task(r, record->tid);
	*s = (struct export_sample){ .time = record->time,
		                     .weight = record->body.sample.period,
		                     .has = record->has,
		                     .event = event,
		                     .pid = record->pid,
		                     .tid = record->tid,
		                     .cpu = record->cpu,
		                     .ip = record->body.sample.ip,
		                     .branches = record->body.sample.branches,
		                     .n_branches = record->body.sample.n_branches,
		                     .record = record,
		                     .task = task ? *task : 0 };
	s->weight = s->weight ? s->weight : 1;
	if (!chains_complete(&r->chains, record, find_code, r))
		r->failed = true;
	s->n_frames = read_frames(r, record);
	s->frames = r->frames;
	r->events[event].samples++;
	r->events[event].weight += s->weight;
	note_time(r, s->time);
	return !r->failed;
}

/* True if @s holds a sample. */
static bool read_record(struct export_reader *r, struct export_sample *s)
{
	const pfm_record_t *record = &r->record;

	switch (record->type) {
	case PFM_RECORD_SAMPLE: return read_sample_record(r, s);
	case PFM_RECORD_MAP:
	case PFM_RECORD_MAP2: read_mmap_record(r, record); break;
	case PFM_RECORD_FORK: read_fork_record(r, record); break;
	case PFM_RECORD_COMM: read_comm_record(r, record); break;
	default: losses_read_record(&r->losses, record); break;
	}
	return false;
}

static void report_read_error(const struct export_reader *r, int rc)
{
	fprintf(stderr, "pfm %s: %s: %s\n", running_command(), r->path,
	        r->failed || r->texts.failed ? "out of memory"
	        : rc == PFMLIB_ERR_NOTSUPP
	                ? "the recording is compressed; install libzstd.so.1 (Debian: libzstd1)"
	                : pfm_result_text(rc));
}

int export_next(struct export_reader *r, struct export_sample *sample)
{
	pfm_buffer_info_t buffers = PFM_INIT(buffers);
	int rc;

	while ((rc = chains_next_record(&r->chains, r->session, &r->record)) == 1) {
		bool is_sample = read_record(r, sample);

		progress_step(&r->progress, r->session);
		r->failed |= r->texts.failed;
		if (r->failed)
			break;
		if (is_sample)
			return 1;
	}
	progress_end(&r->progress);
	if (r->failed || rc < 0) {
		report_read_error(r, rc);
		return -1;
	}
	r->losses.damaged =
		pfm_buffer_statistics(r->session, &buffers) == PFMLIB_SUCCESS && buffers.damaged;
	return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* True if @name matches @pattern, or is that with modifiers after it. */
static bool matches_event_name(const char *name, const char *pattern)
{
	size_t len = strlen(pattern);

	return fnmatch(pattern, name, 0) == 0 ||
	       (strncmp(name, pattern, len) == 0 && name[len] == ':' && name[len + 1] != ':');
}

static void describe_event(struct export_reader *r, unsigned i, const char *event)
{
	struct export_event *e = &r->events[i];
	pfm_count_info_t info = PFM_INIT(info);

	if (pfm_describe_count(r->session, i, &info) == PFMLIB_SUCCESS)
		snprintf(e->name, sizeof(e->name), "%s", info.name);
	e->is_clock = info.attr.type == PERF_TYPE_SOFTWARE &&
	              info.attr.config <= PERF_COUNT_SW_TASK_CLOCK;
	e->is_selected = !event || matches_event_name(e->name, event);
}

static int refuse_unknown_event(const struct export_reader *r, const char *event)
{
	char line[NAME_LINE];

	fprintf(stderr, "pfm %s: %s has no event '%s'; recorded events:", running_command(),
	        r->path, event);
	for (unsigned i = 0; i < r->n_events; i++)
		fprintf(stderr, "%s %s", i ? "," : "", profile_line(r->events[i].name, line));
	fputc('\n', stderr);
	return EXIT_REFUSED;
}

static int describe_events(struct export_reader *r, const char *event)
{
	unsigned n_selected = 0;

	for (unsigned i = 0; i < r->n_events; i++) {
		describe_event(r, i, event);
		n_selected += r->events[i].is_selected;
	}
	return event && !n_selected ? refuse_unknown_event(r, event) : EXIT_DONE;
}

/* Adds what has number 0 in each table. */
static void add_first_entries(struct export_reader *r)
{
	const struct export_location cut = { .n_names = 1, .mode = PFM_MISC_USER };
	uint32_t text;

	text_number(&r->texts, "");
	add_named_mapping(r, "[unknown]");
	text = text_number(&r->texts, "[cut off]");
	r->names = export_grow(r->names, 0, &r->names_capacity, sizeof(*r->names), &r->failed);
	r->locations = export_grow(r->locations, 0, &r->locations_capacity, sizeof(*r->locations),
	                           &r->failed);
	r->failed |= r->texts.failed;
	if (r->failed)
		return;
	r->names[r->n_names++] = text;
	r->locations[r->n_locations++] = cut;
}

int export_open(struct export_reader *r, const char *path, const char *event)
{
	pfm_error_t error = PFM_INIT(error);
	const char *name = strcmp(path, "-") ? path : "/dev/stdin";
	char *release;

	*r = (struct export_reader){ .path = path, .record = PFM_INIT(r->record) };
	if (pfm_open_recording(&r->session, name, &error) != PFMLIB_SUCCESS) {
		fprintf(stderr, "pfm %s: %s: %s\n", running_command(), path,
		        describe_recording_error(&error));
		return EXIT_REFUSED;
	}
	progress_begin(&r->progress, path);
	r->n_events = pfm_session_size(r->session);
	r->events = calloc(r->n_events + 1, sizeof(*r->events));
	r->symbols = symbols_open(NULL);
	r->known = calloc((size_t)1 << KNOWN_LOCATIONS_LOG2, sizeof(*r->known));
	r->generation = r->kernel_generation = 1;
	release = r->symbols ? read_recording_text(path, PERFDATA_FEATURE_OSRELEASE) : NULL;
	if (release)
		symbols_recorded_kernel(r->symbols, release);
	free(release);
	if (r->symbols)
		add_first_entries(r);
	if (!r->events || !r->symbols || !r->known || r->failed)
		return report_no_memory();
	return describe_events(r, event);
}

void export_close(struct export_reader *r)
{
	pfm_close_session(r->session);
	if (r->symbols)
		symbols_close(r->symbols);
	mappings_free(&r->map_pool);
	chains_free(&r->chains);
	perf_maps_free(&r->compiled);
	pfmi_base_free_hash(&r->mapping_table);
	pfmi_base_free_hash(&r->location_table);
	pfmi_base_free_hash(&r->function_table);
	pfmi_base_free_hash(&r->pids.table);
	pfmi_base_free_hash(&r->tids.table);
	free(r->pids.numbers);
	free(r->tids.numbers);
	free(r->processes);
	free(r->tasks);
	free(r->frames);
	free(r->known);
	free(r->mappings);
	free(r->locations);
	free(r->names);
	free(r->functions);
	free(r->function_numbers);
	free(r->events);
	text_pool_free(&r->texts);
}

/* ---- texts ----------------------------------------------------------------------------------- */

const char *export_text(const struct export_reader *r, uint32_t number)
{
	return r->texts.text[number];
}

const char *export_name(const struct export_reader *r, const struct export_location *l, unsigned i)
{
	return r->texts.text[r->names[l->first_name + i]];
}

const char *export_object(const struct export_reader *r, const struct export_location *l)
{
	return r->texts.text[r->mappings[l->mapping].file];
}

const char *export_unit(const struct export_event *e)
{
	return e->is_clock ? "nanoseconds" : "count";
}

bool export_has_column(const struct export_event *e)
{
	return e->samples || (e->is_selected && strncmp(e->name, "dummy", 5) != 0);
}

void put_losses_json(struct json *j, const struct profile_losses *l)
{
	put_text(j, "quality", is_profile_complete(l) ? "exact" : "partial");
	put_count(j, "lost_records", l->records);
	put_count(j, "lost_samples", l->samples);
	put_count(j, "throttled", l->throttled);
	put_count(j, "samples_without_event", l->without_event);
	put_bool(j, "damaged", l->damaged);
}

char *export_frame_text(const char *name, char buf[NAME_LINE])
{
	profile_line(name, buf);
	for (char *p = buf; *p; p++)
		if (*p == ';')
			*p = ':';
	return buf;
}
