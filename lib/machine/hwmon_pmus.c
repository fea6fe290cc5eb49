/* SPDX-License-Identifier: MIT */
/* Sensors of the kernel's hardware monitoring drivers as PMUs: hwmon_coretemp::temp1. A sensor has
 * a few files in /sys/class/hwmon/hwmonN. This file reads the name of the device and these:
 *
 *   temp1_input    a number, here in thousandths of a degree
 *   temp1_label    its name, if the driver has one: "Package id 0"
 *   power1_average where there is no power1_input
 *
 * The config of an event is the index of its file among the files of the PMU. The kernel has no
 * perf event for them: lib/session/file_events.c reads the files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "machine/machine_internal.h"

#define HWMON_DIR "/sys/class/hwmon"

enum { MAX_HWMON_FILES = 512, MAX_SENSOR_NAME = 64, PATH_SIZE = 256 };

/* Kinds of sensors. The number that the driver shows, times scale, is the value in unit. */
static const struct sensor_kind {
	char prefix[10], words[24];
	struct file_event_kind event;
} sensor_kinds[] = {
	{ "temp", "Temperature", { "C", "0.001", false } },
	{ "fan", "Speed of fan", { "rpm", "1", false } },
	{ "power", "Power", { "W", "0.000001", false } },
	{ "energy", "Energy", { "J", "0.000001", true } },
	{ "in", "Voltage", { "V", "0.001", false } },
	{ "curr", "Current", { "A", "0.001", false } },
	{ "freq", "Frequency", { "Hz", "1", false } },
	{ "humidity", "Humidity", { "%", "0.001", false } },
};

/* A device while its sensors are read. */
struct hwmon_reader {
	struct sysfs_reader *r;
	struct file_pmu_builder pmu;
	const char *folder, *device; /* "hwmon3", "coretemp" */
};

/* ---- PMUs whose values are files ------------------------------------------------------------- */

void pfmi_machine_make_word(const char *name, char *out, size_t size)
{
	size_t n = 0;

	for (; *name && n + 1 < size; name++) {
		char c = *name >= 'A' && *name <= 'Z' ? (char)(*name | 0x20) : *name;

		if ((c >= 'a' && c <= 'z') || base_is_digit(c))
			out[n++] = c;
		else if (n && out[n - 1] != '_')
			out[n++] = '_';
	}
	while (n && out[n - 1] == '_')
		n--;
	out[n] = '\0';
}

bool pfmi_machine_begin_file_pmu(struct file_pmu_builder *f, struct sysfs_reader *r,
                                 const char *name, size_t max_files)
{
	static const char desc[] = "Values that the running kernel has in files",
			  source[] = "files of the running kernel";
	struct table_builder *b = &f->table;

	*f = (struct file_pmu_builder){ .r = r };
	f->files = pfmi_machine_arena_alloc(r->kept_memory, (max_files + 1) * sizeof(*f->files));
	if (!f->files)
		return false;
	snprintf(f->name, sizeof(f->name), "%s", name);
	pfmi_table_begin_build(b);
	b->head.name = b->head.device = pfmi_table_add_text(b, f->name, strlen(f->name));
	b->head.desc = pfmi_table_add_text(b, desc, strlen(desc));
	b->head.source = pfmi_table_add_text(b, source, strlen(source));
	b->head.flags |= TABLE_UNCORE;
	f->config =
		pfmi_table_add_field(b, "config", KEY_CONFIG, &(struct bitrange){ .width = 64 }, 1);
	f->scale = pfmi_table_add_text_field(b, KEY_SCALE);
	f->unit = pfmi_table_add_text_field(b, KEY_UNIT);
	return true;
}

void pfmi_machine_add_file_event(struct file_pmu_builder *f, const struct file_event_kind *kind,
                                 const char *name, const char *desc)
{
	pfmi_table_begin_row(&f->table, name, desc, kind->is_counter ? 0 : ROW_SNAPSHOT);
	pfmi_table_set_row_value(&f->table, f->config, f->n_files);
	pfmi_table_set_row_value(&f->table, f->scale,
	                         pfmi_table_add_text(&f->table, kind->scale, strlen(kind->scale)));
	pfmi_table_set_row_value(&f->table, f->unit,
	                         pfmi_table_add_text(&f->table, kind->unit, strlen(kind->unit)));
}

void pfmi_machine_add_event_file(struct file_pmu_builder *f, const char *file)
{
	f->files[f->n_files++] =
		pfmi_machine_arena_copy_text(f->r->kept_memory, file, strlen(file));
}

/* The first online CPU, on which events of the whole machine are counted. */
static const char *read_first_cpu(struct sysfs_reader *r)
{
	char text[32];
	long n = pfmi_machine_read_small_file(r->sys, PFMI_ONLINE_CPUS_PATH, text, sizeof(text));

	if ((n <= 0 && n != -EFBIG) || !base_is_digit(text[0]))
		return "0";
	return pfmi_machine_arena_copy_text(r->kept_memory, text, strspn(text, "0123456789"));
}

bool pfmi_machine_finish_file_pmu(struct file_pmu_builder *f, const struct kernel_info *k,
                                  struct kernel_pmu *out)
{
	int *type = pfmi_machine_arena_alloc(f->r->kept_memory, sizeof(*type));
	const char **texts = pfmi_machine_arena_alloc(f->r->kept_memory, 2 * sizeof(*texts));
	struct table *table;

	f->table.head.perf_type = FILE_PMU_TYPE + (int)k->n_pmus;
	table = pfmi_table_finish_build(&f->table);
	if (!table || !type || !texts || !f->n_files) {
		free(table);
		return false;
	}
	*type = FILE_PMU_TYPE + (int)k->n_pmus;
	texts[0] = pfmi_machine_arena_copy_text(f->r->kept_memory, f->name, strlen(f->name));
	texts[1] = read_first_cpu(f->r);
	*out = (struct kernel_pmu){ .n_instances = 1,
		                    .instance_types = type,
		                    .instance_names = &texts[0],
		                    .cpu_list = texts[1],
		                    .instance_cpu_lists = &texts[1],
		                    .is_uncore = true,
		                    .files = f->files,
		                    .n_files = f->n_files,
		                    .table = table };
	snprintf(out->name, sizeof(out->name), "%s", f->name);
	return true;
}

/* ---- sensors --------------------------------------------------------------------------------- */

/* The kind and the number of file @name, "temp1_input"; NULL if it is not the value of a sensor. */
static const struct sensor_kind *parse_sensor_file(const char *name, unsigned *number,
                                                   bool *is_average)
{
	for (size_t i = 0; i < sizeof(sensor_kinds) / sizeof(sensor_kinds[0]); i++) {
		size_t len = strlen(sensor_kinds[i].prefix);
		char *end;

		if (strncmp(name, sensor_kinds[i].prefix, len) != 0 || !base_is_digit(name[len]))
			continue;
		*number = (unsigned)strtoull(name + len, &end, 10);
		*is_average = machine_is_same_text(end, "_average");
		return *is_average || machine_is_same_text(end, "_input") ? &sensor_kinds[i] : NULL;
	}
	return NULL;
}

static const char *format_sensor_path(struct hwmon_reader *h, const char *file,
                                      char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, HWMON_DIR "/%.63s/%.63s", h->folder, file);
	return path;
}

/* Adds the event of file @name, and one called by its label. */
static void add_sensor(struct hwmon_reader *h, const char *name, const struct sensor_kind *kind,
                       unsigned number)
{
	char file[MAX_SENSOR_NAME], label[MAX_SENSOR_NAME], word[MAX_SENSOR_NAME],
		row[2 * MAX_SENSOR_NAME], desc[4 * MAX_SENSOR_NAME], path[PATH_SIZE];
	bool has_label;

	snprintf(file, sizeof(file), "%s%u_label", kind->prefix, number);
	has_label = pfmi_machine_read_small_file(h->r->sys, format_sensor_path(h, file, path),
	                                         label, sizeof(label)) > 0;
	snprintf(desc, sizeof(desc), "%s %u of %s%s%s.", kind->words, number, h->device,
	         has_label ? ": " : "", has_label ? label : "");
	snprintf(row, sizeof(row), "%s%u", kind->prefix, number);
	pfmi_machine_add_file_event(&h->pmu, &kind->event, row, desc);
	if (has_label) {
		pfmi_machine_make_word(label, word, sizeof(word));
		snprintf(row, sizeof(row), "%s_%s", kind->prefix, word);
		if (*word)
			pfmi_machine_add_file_event(&h->pmu, &kind->event, row, desc);
	}
	pfmi_machine_add_event_file(&h->pmu, format_sensor_path(h, name, path));
}

static bool has_listed_name(const struct string_list *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (machine_is_same_text(names->items[i], name))
			return true;
	return false;
}

static void add_sensors(struct hwmon_reader *h, const struct string_list *names)
{
	for (size_t i = 0; i < names->n; i++) {
		char input[MAX_SENSOR_NAME];
		unsigned number;
		bool is_average;
		const struct sensor_kind *kind =
			parse_sensor_file(names->items[i], &number, &is_average);

		if (!kind)
			continue;
		snprintf(input, sizeof(input), "%s%u_input", kind->prefix, number);
		if (!is_average || !has_listed_name(names, input))
			add_sensor(h, names->items[i], kind, number);
	}
}

/* "hwmon_nvme"; "hwmon_nvme_hwmon3" if another device has that name. */
static void make_pmu_name(const struct kernel_info *k, const struct hwmon_reader *h, char out[64])
{
	char word[MAX_SENSOR_NAME];

	pfmi_machine_make_word(h->device, word, sizeof(word));
	snprintf(out, 64, "hwmon_%.40s", word);
	for (unsigned i = 0; i < k->n_pmus; i++)
		if (machine_is_same_text(k->pmus[i].name, out)) {
			snprintf(out, 64, "hwmon_%.40s_%.16s", word, h->folder);
			return;
		}
}

/* Fills @out with the PMU of folder @folder. False if it has no sensors. */
static bool read_hwmon_device(struct sysfs_reader *r, const struct kernel_info *k,
                              const char *folder, struct kernel_pmu *out)
{
	char device[MAX_SENSOR_NAME], path[PATH_SIZE], name[64];
	struct hwmon_reader h = { .r = r, .folder = folder, .device = device };
	struct string_list names = { .arena = r->scratch_memory,
		                     .max_items = MAX_HWMON_FILES,
		                     .max_length = MAX_SENSOR_NAME - 1 };

	if (pfmi_machine_read_small_file(r->sys, format_sensor_path(&h, "name", path), device,
	                                 sizeof(device)) <= 0)
		return false;
	snprintf(path, sizeof(path), HWMON_DIR "/%.63s", folder);
	r->sys->list_folder(r->sys, path, pfmi_machine_collect_name, &names);
	make_pmu_name(k, &h, name);
	if (!pfmi_machine_begin_file_pmu(&h.pmu, r, name, names.n))
		return false;
	add_sensors(&h, &names);
	return pfmi_machine_finish_file_pmu(&h.pmu, k, out);
}

struct string_list pfmi_machine_list_hwmon(struct sysfs_reader *r)
{
	struct string_list names = { .arena = r->scratch_memory,
		                     .max_items = MAX_HWMON_FILES,
		                     .max_length = MAX_SENSOR_NAME - 1 };

	r->sys->list_folder(r->sys, HWMON_DIR, pfmi_machine_collect_name, &names);
	return names;
}

void pfmi_machine_add_hwmon_pmus(struct sysfs_reader *r, const struct string_list *folders,
                                 struct kernel_info *k, struct kernel_pmu *pmus)
{
	for (size_t i = 0; i < folders->n; i++)
		k->n_pmus += read_hwmon_device(r, k, folders->items[i], &pmus[k->n_pmus]);
}
