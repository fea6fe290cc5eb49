/* SPDX-License-Identifier: MIT */
/* The format of pprof: a protocol buffer message perftools.profiles.Profile, compressed by gzip.
 *
 * Values of a sample: the number of samples first, which Go's profile-guided optimisation looks
 * for, then the weight of each event. Each distinct stack, thread and CPU is one sample. */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "export/protobuf.h"

/* Numbers of fields, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	VALUE_TYPE = 1,
	VALUE_UNIT = 2,

	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,

	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,

	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,

	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,

	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

struct pprof {
	struct text_pool strings; /* those of the message: 0 is "" */
	uint64_t *function_ids;   /* of each function of the reader; 0: not written yet */
	uint64_t n_functions;
	uint64_t *mapping_samples; /* of each mapping of the reader */
	uint32_t *mapping_ids;     /* 0: not used */
	struct message part, inner, packed, out;
	uint64_t thread, pid, tid, cpu, cgroup, container, pod; /* strings: keys of labels */
	uint64_t *task_strings; /* the string of each task name; 0: not yet added */
};

enum { OUT_SIZE = 1 << 16 }; /* bytes that are written at once */

static void flush_output(struct exporter *e)
{
	struct pprof *p = e->state;

	fwrite(p->out.bytes, 1, p->out.n, e->out);
	e->failed |= p->out.failed;
	message_clear(&p->out);
}

/* Appends @m to the elements before it, and clears it: fields of a message may come in pieces. */
static void flush_message(struct exporter *e, struct message *m)
{
	flush_output(e);
	fwrite(m->bytes, 1, m->n, e->out);
	e->failed |= m->failed;
	message_clear(m);
}

static void put_element(struct exporter *e, unsigned field, struct message *part)
{
	struct pprof *p = e->state;

	message_add_message(&p->out, field, part);
	if (p->out.n >= OUT_SIZE)
		flush_output(e);
}

static uint64_t add_string(struct pprof *p, const char *text)
{
	return text_pool_add(&p->strings, text);
}

static void add_value_type(struct pprof *p, struct message *m, const char *type, const char *unit)
{
	message_add_number(m, VALUE_TYPE, add_string(p, type));
	message_add_number(m, VALUE_UNIT, add_string(p, unit));
}

/* ---- functions, locations and mappings ------------------------------------------------------- */

/* Id of a function, which is written when it is first used. */
static uint64_t add_function(struct exporter *e, uint32_t number)
{
	struct pprof *p = e->state;
	const struct export_function *f = &e->reader->functions[number];
	uint64_t string;

	if (p->function_ids[number])
		return p->function_ids[number];
	p->function_ids[number] = ++p->n_functions;
	string = add_string(p, export_text(e->reader, f->name));
	message_add_number(&p->inner, FUNCTION_ID, p->n_functions);
	message_add_number(&p->inner, FUNCTION_NAME, string);
	message_add_number(&p->inner, FUNCTION_SYSTEM_NAME, string);
	message_add_number(&p->inner, FUNCTION_FILENAME,
	                   add_string(p, export_text(e->reader, f->source.file)));
	put_element(e, PROFILE_FUNCTION, &p->inner);
	return p->n_functions;
}

/* Lines of a location: the innermost inlined function first. Only its line is known. */
static void add_lines(struct exporter *e, const struct export_location *l)
{
	struct pprof *p = e->state;

	for (unsigned i = l->n_names; i-- > 0;) {
		bool is_innermost = i + 1 == l->n_names;
		uint64_t id = add_function(e, export_function_number(e->reader, l, i));

		message_add_number(&p->inner, LINE_FUNCTION_ID, id);
		message_add_number(&p->inner, LINE_LINE, is_innermost ? l->source.line : 0);
		message_add_message(&p->part, LOCATION_LINE, &p->inner);
	}
}

static void put_location(struct exporter *e, uint32_t number)
{
	struct pprof *p = e->state;
	const struct export_location *l = &e->reader->locations[number];

	message_add_number(&p->part, LOCATION_ID, number + 1u);
	message_add_number(&p->part, LOCATION_MAPPING_ID, p->mapping_ids[l->mapping]);
	message_add_number(&p->part, LOCATION_ADDRESS, l->address);
	/* A location without a line is resolved by pprof, or shown by its address. */
	if (l->has_name || !number)
		add_lines(e, l);
	put_element(e, PROFILE_LOCATION, &p->part);
}

static void put_mapping(struct exporter *e, uint32_t number)
{
	struct pprof *p = e->state;
	const struct export_mapping *m = &e->reader->mappings[number];

	message_add_number(&p->part, MAPPING_ID, p->mapping_ids[number]);
	message_add_number(&p->part, MAPPING_START, m->start);
	message_add_number(&p->part, MAPPING_LIMIT, m->end);
	message_add_number(&p->part, MAPPING_OFFSET, m->offset);
	message_add_number(&p->part, MAPPING_FILENAME,
	                   add_string(p, export_text(e->reader, m->file)));
	message_add_number(&p->part, MAPPING_BUILD_ID,
	                   add_string(p, export_text(e->reader, m->build_id)));
	/* Functions are final: pprof must not resolve them again on another machine. */
	if (!export_leaves_names(e->reader, m))
		message_add_number(&p->part, MAPPING_HAS_FUNCTIONS, 1);
	put_element(e, PROFILE_MAPPING, &p->part);
}

/* Samples whose innermost frame is in each mapping; mappings of callers are used as well. */
static void count_mapping_samples(struct exporter *e)
{
	struct pprof *p = e->state;

	for (size_t i = 1; i < e->reader->n_locations; i++)
		p->mapping_ids[e->reader->locations[i].mapping] = 1;
	for (size_t i = 0; i < e->rows.n; i++) {
		const struct whole_stack *whole = &e->stacks.list[e->rows.list[i].stack];
		uint32_t leaf = e->stacks.frames[whole->first];

		p->mapping_samples[e->reader->locations[leaf].mapping] += e->rows.list[i].samples;
	}
}

/* The mapping that comes first is taken for the main program. Mapping 0 holds what is in no
 * mapping, and is not written: id 0 means that. */
static void put_mappings(struct exporter *e)
{
	struct pprof *p = e->state;
	uint32_t main_mapping, next_id = 1;

	count_mapping_samples(e);
	main_mapping = export_choose_main_mapping(e, p->mapping_ids, p->mapping_samples);
	p->mapping_ids[0] = 0;
	if (main_mapping) {
		p->mapping_ids[main_mapping] = next_id++;
		put_mapping(e, main_mapping);
	}
	for (uint32_t i = 1; i < e->reader->n_mappings; i++)
		if (p->mapping_ids[i] && i != main_mapping) {
			p->mapping_ids[i] = next_id++;
			put_mapping(e, i);
		}
}

/* ---- samples --------------------------------------------------------------------------------- */

static void add_label(struct pprof *p, uint64_t key, uint64_t text, uint64_t number)
{
	message_add_number(&p->inner, LABEL_KEY, key);
	message_add_number(&p->inner, LABEL_STR, text);
	message_add_number(&p->inner, LABEL_NUM, number);
	message_add_message(&p->part, SAMPLE_LABEL, &p->inner);
}

/* The string that is text number @task of the reader: threads have few names, and rows are many. */
static uint64_t get_task_string(struct exporter *e, uint32_t task)
{
	struct pprof *p = e->state;

	if (!p->task_strings[task])
		p->task_strings[task] = add_string(p, export_text(e->reader, task));
	return p->task_strings[task];
}

/* The control group, and what its path says about container and pod. */
static void add_container(struct pprof *p, const char *cgroup)
{
	struct container_path path;

	if (!*cgroup)
		return;
	add_label(p, p->cgroup, add_string(p, cgroup), 0);
	if (!read_container_path(cgroup, &path))
		return;
	add_label(p, p->container, add_string(p, path.id), 0);
	if (*path.pod_uid)
		add_label(p, p->pod, add_string(p, path.pod_uid), 0);
}

static void put_row(struct exporter *e, const struct export_row *row)
{
	struct pprof *p = e->state;
	const struct whole_stack *whole = &e->stacks.list[row->stack];

	for (uint32_t i = 0; i < whole->n; i++)
		message_add_packed(&p->packed, e->stacks.frames[whole->first + i] + 1u);
	message_add_message(&p->part, SAMPLE_LOCATION_ID, &p->packed);
	message_add_packed(&p->packed, row->samples);
	for (unsigned i = 0; i < e->reader->n_events; i++)
		if (export_has_column(&e->reader->events[i]))
			message_add_packed(&p->packed, i == row->event ? row->weight : 0);
	message_add_message(&p->part, SAMPLE_VALUE, &p->packed);
	add_label(p, p->thread, get_task_string(e, row->task), 0);
	add_label(p, p->pid, 0, (uint64_t)(int32_t)row->pid);
	add_label(p, p->tid, 0, (uint64_t)(int32_t)row->tid);
	add_label(p, p->cpu, 0, row->cpu);
	add_container(p, export_text(e->reader, row->cgroup));
	put_element(e, PROFILE_SAMPLE, &p->part);
}

/* ---- the message ----------------------------------------------------------------------------- */

/* The types of values. The default type, and the period's, is that of the event with most
 * samples. */
static void put_value_types(struct exporter *e)
{
	struct pprof *p = e->state;
	const struct export_event *best = NULL;
	struct message m = { .bytes = NULL };

	add_value_type(p, &p->part, "samples", "count");
	put_element(e, PROFILE_SAMPLE_TYPE, &p->part);
	for (unsigned i = 0; i < e->reader->n_events; i++) {
		const struct export_event *event = &e->reader->events[i];

		if (!export_has_column(event))
			continue;
		add_value_type(p, &p->part, event->name, export_unit(event));
		put_element(e, PROFILE_SAMPLE_TYPE, &p->part);
		if (!best || event->samples > best->samples)
			best = event;
	}
	if (!best)
		return;
	add_value_type(p, &p->part, best->name, export_unit(best));
	message_add_message(&m, PROFILE_PERIOD_TYPE, &p->part);
	/* The mean: a frequency makes periods vary. */
	message_add_number(&m, PROFILE_PERIOD, best->samples ? best->weight / best->samples : 0);
	message_add_number(&m, PROFILE_DEFAULT_SAMPLE_TYPE, add_string(p, best->name));
	flush_message(e, &m);
	message_free(&m);
}

/* A recording has times of a clock that starts with the machine: the file's time is its end. */
static void put_times(struct exporter *e)
{
	uint64_t duration = time_span_length(&e->reader->sampled);
	struct message m = { .bytes = NULL };
	struct stat st;

	if (stat(e->reader->path, &st) == 0 && S_ISREG(st.st_mode))
		message_add_number(&m, PROFILE_TIME_NANOS,
		                   (uint64_t)st.st_mtim.tv_sec * 1000000000u +
		                           (uint64_t)st.st_mtim.tv_nsec - duration);
	message_add_number(&m, PROFILE_DURATION_NANOS, duration);
	flush_message(e, &m);
	message_free(&m);
}

static void put_comment(struct exporter *e)
{
	struct pprof *p = e->state;
	char text[LOSSES_MAX];

	message_add_number(&p->part, PROFILE_COMMENT,
	                   add_string(p, print_profile_losses(&e->reader->losses, text)));
	flush_message(e, &p->part);
}

/* The strings come last: only then all are known. */
static void put_strings(struct exporter *e)
{
	struct pprof *p = e->state;

	for (size_t i = 0; i < p->strings.n; i++) {
		message_add_text(&p->part, PROFILE_STRING_TABLE, p->strings.text[i]);
		flush_message(e, &p->part);
	}
}

static void end_file(struct exporter *e)
{
	struct pprof *p = e->state;

	e->failed |= !export_number_functions(e->reader);
	add_string(p, "");
	p->function_ids = calloc(e->reader->n_functions + 1, sizeof(*p->function_ids));
	p->mapping_samples = calloc(e->reader->n_mappings, sizeof(*p->mapping_samples));
	p->mapping_ids = calloc(e->reader->n_mappings, sizeof(*p->mapping_ids));
	p->task_strings = calloc(e->reader->texts.n + 1, sizeof(*p->task_strings));
	e->failed |= !p->function_ids || !p->mapping_samples || !p->mapping_ids || !p->task_strings;
	if (e->failed)
		return;
	p->thread = add_string(p, "thread");
	p->pid = add_string(p, "pid");
	p->tid = add_string(p, "tid");
	p->cpu = add_string(p, "cpu");
	p->cgroup = add_string(p, "cgroup");
	p->container = add_string(p, "container_id");
	p->pod = add_string(p, "pod_uid");
	put_value_types(e);
	put_mappings(e);
	for (uint32_t i = 0; i < e->reader->n_locations; i++)
		put_location(e, i);
	for (size_t i = 0; i < e->rows.n; i++)
		put_row(e, &e->rows.list[i]);
	put_times(e);
	put_comment(e);
	put_strings(e);
	e->failed |= p->strings.failed || p->part.failed || p->inner.failed || p->packed.failed;
}

static void free_state(struct exporter *e)
{
	struct pprof *p = e->state;

	text_pool_free(&p->strings);
	free(p->function_ids);
	free(p->mapping_samples);
	free(p->mapping_ids);
	free(p->task_strings);
	message_free(&p->out);
	message_free(&p->part);
	message_free(&p->inner);
	message_free(&p->packed);
}

/* ---- reading back ---------------------------------------------------------------------------- */

/* Adds the values of a sample to @sums. False if it is malformed or has another number of them. */
static bool add_values(const struct message_field *sample, uint64_t *sums, size_t n_sums)
{
	const uint8_t *bytes = sample->bytes;
	size_t n = sample->n, n_values = 0;
	struct message_field field;
	int rc;

	while ((rc = message_next_field(&bytes, &n, &field)) == 1) {
		uint64_t value;

		if (field.number != SAMPLE_VALUE)
			continue;
		while (n_values < n_sums && message_next_packed(&field.bytes, &field.n, &value))
			sums[n_values++] += value;
		if (field.n)
			return false;
	}
	return rc == 0 && n_values == n_sums;
}

static const char *compare_sums(const struct export_reader *r, const uint64_t *sums)
{
	uint64_t samples = 0;
	size_t column = 1;

	for (unsigned i = 0; i < r->n_events; i++) {
		if (!export_has_column(&r->events[i]))
			continue;
		samples += r->events[i].samples;
		if (sums[column++] != r->events[i].weight)
			return "the sum of an event's weights differs from the recording";
	}
	return sums[0] == samples ? NULL : "the number of samples differs from the recording";
}

static const char *check_profile(const struct export_reader *r, const uint8_t *bytes, size_t n,
                                 uint64_t *sums, size_t n_sums)
{
	struct message_field field;
	int rc;

	while ((rc = message_next_field(&bytes, &n, &field)) == 1)
		if (field.number == PROFILE_SAMPLE && !add_values(&field, sums, n_sums))
			return "a sample is malformed";
	return rc ? "the message is malformed" : compare_sums(r, sums);
}

static const char *check_file(const struct export_reader *r, const char *path)
{
	uint64_t *sums = calloc(r->n_events + 1, sizeof(*sums));
	size_t n, n_sums = 1;
	char *data = sums ? export_read_file(path, &n) : NULL;
	const char *problem = "the file cannot be read back";

	for (unsigned i = 0; i < r->n_events; i++)
		n_sums += export_has_column(&r->events[i]);
	if (data)
		problem = check_profile(r, (const uint8_t *)data, n, sums, n_sums);
	free(data);
	free(sums);
	return problem;
}

const struct export_format export_pprof = {
	.name = "pprof",
	.summary = "for go tool pprof, Pyroscope, Parca, speedscope",
	.suffixes = { ".pb.gz", ".pb", ".pprof" },
	.is_gzip = true,
	.state_size = sizeof(struct pprof),
	.row_keys = ROW_EVENT | ROW_TASK | ROW_THREAD,
	.end = end_file,
	.release = free_state,
	.check = check_file,
};
