/* SPDX-License-Identifier: MIT */
/* The message ProfilesData of OpenTelemetry, opentelemetry.proto.profiles.v1development as of
 * opentelemetry-proto 1.11: a profile for each event, and a dictionary that all of them share.
 *
 * Element 0 of each table of the dictionary is empty and represents "unknown". */
#include "export/export.h"

#include <stdlib.h>
#include <sys/stat.h>
#include "export/protobuf.h"

/* Numbers of fields, by message. */
enum {
	DATA_RESOURCE_PROFILES = 1,
	DATA_DICTIONARY = 2,
	RESOURCE_SCOPE_PROFILES = 2,
	PROFILES_RESOURCE = 1,
	RESOURCE_ATTRIBUTES = 1,
	RESOURCE_KEY = 1,
	RESOURCE_VALUE = 2,
	SCOPE_SCOPE = 1,
	SCOPE_PROFILES = 2,
	INSTRUMENTATION_NAME = 1,
	INSTRUMENTATION_VERSION = 2,

	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
	PROFILE_ORIGINAL_FORMAT = 9,
	PROFILE_ATTRIBUTES = 11,

	VALUE_TYPE = 1,
	VALUE_UNIT = 2,

	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_VALUES = 4,

	DICTIONARY_MAPPINGS = 1,
	DICTIONARY_LOCATIONS = 2,
	DICTIONARY_FUNCTIONS = 3,
	DICTIONARY_LINKS = 4,
	DICTIONARY_STRINGS = 5,
	DICTIONARY_ATTRIBUTES = 6,
	DICTIONARY_STACKS = 7,

	STACK_LOCATIONS = 1,

	MAPPING_START = 1,
	MAPPING_LIMIT = 2,
	MAPPING_OFFSET = 3,
	MAPPING_FILENAME = 4,
	MAPPING_ATTRIBUTES = 5,

	LOCATION_MAPPING = 1,
	LOCATION_ADDRESS = 2,
	LOCATION_LINES = 3,
	LOCATION_ATTRIBUTES = 4,

	LINE_FUNCTION = 1,
	LINE_LINE = 2,

	FUNCTION_NAME = 1,
	FUNCTION_SYSTEM_NAME = 2,
	FUNCTION_FILENAME = 3,

	ATTRIBUTE_KEY = 1,
	ATTRIBUTE_VALUE = 2,
	ANY_STRING = 1,
	ANY_INT = 3,

	LINK_TRACE_ID = 1,
	LINK_SPAN_ID = 2,
};

/* A key, and a text (number 0 is a valid one) or a number. */
struct otlp_attribute {
	uint32_t key, is_text;
	uint64_t value;
};

struct otlp {
	struct text_pool strings;
	struct hash_table attribute_table, function_table;
	struct otlp_attribute *attributes; /* element i + 1 of the message's table */
	struct export_function *functions; /* element i + 1 of the message's table */
	size_t n_attributes, attributes_capacity, n_functions, functions_capacity;
	uint32_t *mapping_numbers, *stack_numbers; /* 0: not in the table */
	uint32_t n_mappings, n_stacks;
	struct message dictionary, scope, profile, part, inner, packed, value;
};

static uint32_t add_string(struct otlp *o, const char *text)
{
	return text_pool_add(&o->strings, text);
}

/* ---- attributes ------------------------------------------------------------------------------ */

struct attribute_search {
	const struct otlp_attribute *list, *key;
};

static bool is_same_attribute(const void *arg, uint32_t i)
{
	const struct attribute_search *s = arg;
	const struct otlp_attribute *a = &s->list[i], *b = s->key;

	return a->key == b->key && a->is_text == b->is_text && a->value == b->value;
}

static void put_attribute(struct otlp *o, const struct otlp_attribute *a)
{
	message_add_number(&o->inner, ATTRIBUTE_KEY, a->key);
	if (a->is_text)
		message_add_text(&o->value, ANY_STRING, o->strings.text[a->value]);
	else
		message_add_chosen_number(&o->value, ANY_INT, a->value);
	message_add_message(&o->inner, ATTRIBUTE_VALUE, &o->value);
	message_add_message(&o->dictionary, DICTIONARY_ATTRIBUTES, &o->inner);
}

/* Number of an attribute in the table. */
static uint32_t add_attribute(struct exporter *e, const struct otlp_attribute *a)
{
	struct otlp *o = e->state;
	const struct attribute_search search = { o->attributes, a };
	uint64_t hash = pfmi_base_hash_bytes(a, sizeof(*a));
	uint32_t at = pfmi_base_find_hash(&o->attribute_table, hash, is_same_attribute, &search);

	if (at != HASH_NOT_FOUND)
		return at + 1;
	o->attributes = base_grow_list(o->attributes, o->n_attributes, &o->attributes_capacity,
	                               sizeof(*o->attributes), &e->failed);
	e->failed = e->failed ||
	            !pfmi_base_add_hash(&o->attribute_table, hash, (uint32_t)o->n_attributes);
	if (e->failed)
		return 0;
	o->attributes[o->n_attributes++] = *a;
	put_attribute(o, a);
	return (uint32_t)o->n_attributes;
}

static uint32_t add_text_attribute(struct exporter *e, const char *key, const char *text)
{
	struct otlp *o = e->state;
	const struct otlp_attribute a = { add_string(o, key), 1, add_string(o, text) };

	return add_attribute(e, &a);
}

static uint32_t add_number_attribute(struct exporter *e, const char *key, uint64_t number)
{
	struct otlp *o = e->state;
	const struct otlp_attribute a = { add_string(o, key), 0, number };

	return add_attribute(e, &a);
}

/* ---- dictionary ------------------------------------------------------------------------------ */

static void put_first_elements(struct otlp *o)
{
	static const uint8_t zeros[16];

	add_string(o, "");
	message_add_element(&o->dictionary, DICTIONARY_MAPPINGS, NULL, 0);
	message_add_element(&o->dictionary, DICTIONARY_LOCATIONS, NULL, 0);
	message_add_element(&o->dictionary, DICTIONARY_FUNCTIONS, NULL, 0);
	message_add_element(&o->inner, LINK_TRACE_ID, zeros, 16);
	message_add_element(&o->inner, LINK_SPAN_ID, zeros, 8);
	message_add_message(&o->dictionary, DICTIONARY_LINKS, &o->inner);
	message_add_element(&o->dictionary, DICTIONARY_ATTRIBUTES, NULL, 0);
	message_add_element(&o->dictionary, DICTIONARY_STACKS, NULL, 0);
}

static void add_attribute_list(struct otlp *o, struct message *m, unsigned field, uint32_t number)
{
	message_add_packed(&o->packed, number);
	message_add_message(m, field, &o->packed);
}

/* Number of a mapping, which is added to the table when it is first used. */
static uint32_t add_mapping(struct exporter *e, uint32_t number)
{
	struct otlp *o = e->state;
	const struct export_mapping *m = &e->reader->mappings[number];
	const char *build_id = export_text(e->reader, m->build_id);
	uint32_t attribute = 0;

	if (!number || o->mapping_numbers[number])
		return o->mapping_numbers[number];
	o->mapping_numbers[number] = ++o->n_mappings;
	if (*build_id)
		attribute = add_text_attribute(e, "process.executable.build_id.gnu", build_id);
	message_add_number(&o->inner, MAPPING_START, m->start);
	message_add_number(&o->inner, MAPPING_LIMIT, m->end);
	message_add_number(&o->inner, MAPPING_OFFSET, m->offset);
	message_add_number(&o->inner, MAPPING_FILENAME,
	                   add_string(o, export_text(e->reader, m->file)));
	if (attribute)
		add_attribute_list(o, &o->inner, MAPPING_ATTRIBUTES, attribute);
	message_add_message(&o->dictionary, DICTIONARY_MAPPINGS, &o->inner);
	return o->n_mappings;
}

struct function_search {
	const struct export_function *list, *key;
};

static bool is_same_function(const void *arg, uint32_t i)
{
	const struct function_search *s = arg;

	return s->list[i].name == s->key->name && s->list[i].source.file == s->key->source.file;
}

/* Number of a function; those of several objects are one if nothing tells them apart. */
static uint32_t add_function(struct exporter *e, const struct export_function *key)
{
	struct otlp *o = e->state;
	const struct function_search search = { o->functions, key };
	uint64_t hash = pfmi_base_hash_number((uint64_t)key->name << 32 | key->source.file);
	uint32_t at = pfmi_base_find_hash(&o->function_table, hash, is_same_function, &search);
	uint32_t string;

	if (at != HASH_NOT_FOUND)
		return at + 1;
	o->functions = base_grow_list(o->functions, o->n_functions, &o->functions_capacity,
	                              sizeof(*o->functions), &e->failed);
	e->failed = e->failed ||
	            !pfmi_base_add_hash(&o->function_table, hash, (uint32_t)o->n_functions);
	if (e->failed)
		return 0;
	o->functions[o->n_functions++] = *key;
	string = add_string(o, export_text(e->reader, key->name));
	message_add_number(&o->inner, FUNCTION_NAME, string);
	message_add_number(&o->inner, FUNCTION_SYSTEM_NAME, string);
	message_add_number(&o->inner, FUNCTION_FILENAME,
	                   add_string(o, export_text(e->reader, key->source.file)));
	message_add_message(&o->dictionary, DICTIONARY_FUNCTIONS, &o->inner);
	return (uint32_t)o->n_functions;
}

/* The innermost function comes first. A location without a name has its address alone. */
static void add_lines(struct exporter *e, const struct export_location *l)
{
	struct otlp *o = e->state;

	for (unsigned i = l->n_names; i-- > 0;) {
		bool is_innermost = i + 1 == l->n_names;
		uint32_t number = export_function_number(e->reader, l, i);
		uint32_t function = add_function(e, &e->reader->functions[number]);

		message_add_number(&o->inner, LINE_FUNCTION, function);
		message_add_number(&o->inner, LINE_LINE, is_innermost ? l->source.line : 0);
		message_add_message(&o->part, LOCATION_LINES, &o->inner);
	}
}

static void put_location(struct exporter *e, uint32_t number)
{
	struct otlp *o = e->state;
	const struct export_location *l = &e->reader->locations[number];
	bool is_kernel = l->mode == PFM_MISC_KERNEL;
	uint32_t type =
		add_text_attribute(e, "profile.frame.type", is_kernel ? "kernel" : "native");

	message_add_number(&o->part, LOCATION_MAPPING, add_mapping(e, l->mapping));
	message_add_number(&o->part, LOCATION_ADDRESS, l->address);
	if (l->has_name || !number)
		add_lines(e, l);
	add_attribute_list(o, &o->part, LOCATION_ATTRIBUTES, type);
	message_add_message(&o->dictionary, DICTIONARY_LOCATIONS, &o->part);
}

/* Number of a stack, which is added to the table when it is first used. */
static uint32_t add_stack(struct exporter *e, uint32_t stack)
{
	struct otlp *o = e->state;
	const struct whole_stack *whole = &e->stacks.list[stack];

	if (o->stack_numbers[stack])
		return o->stack_numbers[stack];
	for (uint32_t i = 0; i < whole->n; i++)
		message_add_packed(&o->packed, e->stacks.frames[whole->first + i] + 1u);
	message_add_message(&o->inner, STACK_LOCATIONS, &o->packed);
	message_add_message(&o->dictionary, DICTIONARY_STACKS, &o->inner);
	o->stack_numbers[stack] = ++o->n_stacks;
	return o->n_stacks;
}

/* ---- profiles -------------------------------------------------------------------------------- */

/* Adds the control group, and what its path says about container and pod, to the attributes of a
 * sample. */
static void add_container(struct exporter *e, const char *cgroup)
{
	struct otlp *o = e->state;
	struct container_path path;

	if (!*cgroup)
		return;
	message_add_packed(&o->packed, add_text_attribute(e, "linux.cgroup", cgroup));
	if (!read_container_path(cgroup, &path))
		return;
	message_add_packed(&o->packed, add_text_attribute(e, "container.id", path.id));
	if (*path.runtime)
		message_add_packed(&o->packed,
		                   add_text_attribute(e, "container.runtime.name", path.runtime));
	if (*path.pod_uid)
		message_add_packed(&o->packed, add_text_attribute(e, "k8s.pod.uid", path.pod_uid));
}

static void put_row(struct exporter *e, const struct export_row *row)
{
	struct otlp *o = e->state;
	const uint32_t attributes[] = {
		add_text_attribute(e, "thread.name", export_text(e->reader, row->task)),
		add_number_attribute(e, "thread.id", (uint64_t)(int32_t)row->tid),
		add_number_attribute(e, "process.pid", (uint64_t)(int32_t)row->pid),
		add_number_attribute(e, "cpu.logical_number", row->cpu),
	};

	message_add_number(&o->part, SAMPLE_STACK, add_stack(e, row->stack));
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		message_add_packed(&o->packed, attributes[i]);
	add_container(e, export_text(e->reader, row->cgroup));
	message_add_message(&o->part, SAMPLE_ATTRIBUTES, &o->packed);
	message_add_packed(&o->packed, row->weight);
	message_add_message(&o->part, SAMPLE_VALUES, &o->packed);
	message_add_message(&o->profile, PROFILE_SAMPLES, &o->part);
}

static void put_value_type(struct otlp *o, unsigned field, const struct export_event *event)
{
	message_add_number(&o->part, VALUE_TYPE, add_string(o, event->name));
	message_add_number(&o->part, VALUE_UNIT, add_string(o, export_unit(event)));
	message_add_message(&o->profile, field, &o->part);
}

/* A recording has times of a clock that starts with the machine: the file's time is its end. */
static void put_times(struct exporter *e)
{
	struct otlp *o = e->state;
	uint64_t duration = time_span_length(&e->reader->sampled);
	struct stat st;

	if (stat(e->reader->path, &st) == 0 && S_ISREG(st.st_mode))
		message_add_fixed64(&o->profile, PROFILE_TIME,
		                    (uint64_t)st.st_mtim.tv_sec * 1000000000u +
		                            (uint64_t)st.st_mtim.tv_nsec - duration);
	message_add_number(&o->profile, PROFILE_DURATION, duration);
}

static void put_losses(struct exporter *e)
{
	struct otlp *o = e->state;
	const struct profile_losses *l = &e->reader->losses;
	const uint32_t attributes[] = {
		add_text_attribute(e, "pfm.quality", get_profile_quality(l)),
		add_number_attribute(e, "pfm.lost_records", l->records),
		add_number_attribute(e, "pfm.lost_samples", l->samples),
		add_number_attribute(e, "pfm.throttled", l->throttled),
		add_number_attribute(e, "pfm.samples_without_event", l->without_event),
		add_number_attribute(e, "pfm.damaged", l->damaged),
	};

	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		message_add_packed(&o->packed, attributes[i]);
	message_add_message(&o->profile, PROFILE_ATTRIBUTES, &o->packed);
}

static void put_profile(struct exporter *e, unsigned number)
{
	struct otlp *o = e->state;
	const struct export_event *event = &e->reader->events[number];

	put_value_type(o, PROFILE_SAMPLE_TYPE, event);
	put_value_type(o, PROFILE_PERIOD_TYPE, event);
	/* The mean: a frequency makes periods vary. */
	message_add_number(&o->profile, PROFILE_PERIOD,
	                   event->samples ? event->weight / event->samples : 0);
	put_times(e);
	message_add_text(&o->profile, PROFILE_ORIGINAL_FORMAT, "linux_perf");
	put_losses(e);
	for (size_t i = 0; i < e->rows.n; i++)
		if (e->rows.list[i].event == number)
			put_row(e, &e->rows.list[i]);
	message_add_message(&o->scope, SCOPE_PROFILES, &o->profile);
}

/* The service, its machine and the labels that a person chose. */
static void put_resource(struct otlp *o)
{
	struct message list = { .bytes = NULL };

	for (const struct label *a = export_attributes; a && a->name; a++) {
		message_add_text(&o->inner, RESOURCE_KEY, a->name);
		message_add_text(&o->value, ANY_STRING, a->value);
		message_add_message(&o->inner, RESOURCE_VALUE, &o->value);
		message_add_message(&list, RESOURCE_ATTRIBUTES, &o->inner);
	}
	if (export_attributes)
		message_add_message(&o->part, PROFILES_RESOURCE, &list);
	o->value.failed |= list.failed;
	message_free(&list);
}

static void put_data(struct exporter *e)
{
	struct otlp *o = e->state;

	put_resource(o);
	message_add_message(&o->part, RESOURCE_SCOPE_PROFILES, &o->scope);
	message_add_message(&o->value, DATA_RESOURCE_PROFILES, &o->part);
	for (size_t i = 0; i < o->strings.n; i++)
		message_add_text(&o->dictionary, DICTIONARY_STRINGS, o->strings.text[i]);
	message_add_message(&o->value, DATA_DICTIONARY, &o->dictionary);
	fwrite(o->value.bytes, 1, o->value.n, e->out);
	e->failed |= o->strings.failed || o->value.failed;
}

static void end_file(struct exporter *e)
{
	struct otlp *o = e->state;

	e->failed |= !export_number_functions(e->reader);
	o->mapping_numbers = calloc(e->reader->n_mappings, sizeof(*o->mapping_numbers));
	o->stack_numbers = calloc(e->stacks.n + 1, sizeof(*o->stack_numbers));
	e->failed |= !o->mapping_numbers || !o->stack_numbers;
	if (e->failed)
		return;
	put_first_elements(o);
	message_add_text(&o->part, INSTRUMENTATION_NAME, "pfm");
	message_add_text(&o->part, INSTRUMENTATION_VERSION, PERFMON_VERSION);
	message_add_message(&o->scope, SCOPE_SCOPE, &o->part);
	for (uint32_t i = 0; i < e->reader->n_locations; i++)
		put_location(e, i);
	for (unsigned i = 0; i < e->reader->n_events; i++)
		if (export_has_column(&e->reader->events[i]))
			put_profile(e, i);
	if (!e->failed)
		put_data(e);
}

static void free_state(struct exporter *e)
{
	struct otlp *o = e->state;
	struct message *const messages[] = { &o->dictionary, &o->scope,  &o->profile, &o->part,
		                             &o->inner,      &o->packed, &o->value };

	text_pool_free(&o->strings);
	pfmi_base_free_hash(&o->attribute_table);
	pfmi_base_free_hash(&o->function_table);
	free(o->attributes);
	free(o->functions);
	free(o->mapping_numbers);
	free(o->stack_numbers);
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		message_free(messages[i]);
}

const struct export_format export_otlp = {
	.name = "otlp",
	.summary = "profiles of OpenTelemetry, v1development",
	.suffixes = { ".otlp" },
	.state_size = sizeof(struct otlp),
	.row_keys = ROW_EVENT | ROW_TASK | ROW_THREAD,
	.end = end_file,
	.release = free_state,
};
