/* SPDX-License-Identifier: MIT */
/* PMUs that the running kernel exports below /sys/bus/event_source/devices, turned into event
 * tables. Files that cannot be parsed are left out; the rest of the machine stays usable. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine/machine_internal.h"

#define MAX_KERNEL_PMUS 4096

/* ---- one PMU --------------------------------------------------------------------------------- */

/* A folder below DEVICES. */
struct sysfs_pmu {
	const char *name;
	size_t base_length;      /* length without the instance number, or up to the first of two */
	const char *common_name; /* the name that all instances share */
	int type;
	bool is_core, has_cpumask, is_grouped, has_two_numbers;
	const char *cpus, *alias;
	const char
		*format_names; /* names of its format files: instances of one PMU have the same */
	const struct sysfs_folder *folder;
};

static bool read_perf_type(struct sysfs_reader *r, struct sysfs_pmu *d)
{
	uint64_t v;

	if (!pfmi_machine_read_sysfs_file(r, d->name, "", "type") ||
	    !pfmi_base_parse_perf_number((struct slice){ r->text, (uint32_t)strlen(r->text) },
	                                 &v) ||
	    v > INT32_MAX)
		return false;
	d->type = (int)v;
	return true;
}

static const char *read_cpu_list(struct sysfs_reader *r, const char *pmu, const char *file)
{
	char path[sizeof(EVENT_SOURCE_DIR) + 64 + 16], *list;
	const char *kept;
	int rc;

	if (!pfmi_machine_can_have_sysfs_file(r, pmu, file))
		return NULL;
	snprintf(path, sizeof(path), EVENT_SOURCE_DIR "/%.63s/%.14s", pmu, file);
	rc = pfmi_machine_read_cpu_list(r->sys, path, &list);
	r->kept_memory->failed |= rc == -ENOMEM;
	if (rc)
		return NULL;
	kept = pfmi_machine_arena_copy_text(r->kept_memory, list, strlen(list));
	free(list);
	return kept;
}

static const char *join_strings(struct sysfs_reader *r, const struct string_list *s)
{
	size_t len = 1;
	char *out, *p;

	for (size_t i = 0; i < s->n; i++)
		len += strlen(s->items[i]) + 1;
	p = out = pfmi_machine_arena_alloc(r->scratch_memory, len);
	for (size_t i = 0; out && i < s->n; i++) {
		size_t n = strlen(s->items[i]);

		memcpy(p, s->items[i], n);
		p[n] = ' ';
		p += n + 1;
	}
	return out ? out : "";
}

/* HiSilicon's names number the die as well: hisi_sccl1_ddrc0, hisi_sccl3_ddrc1. Lists say
 * "hisi_sccl,ddrc". */
static bool has_two_numbers(const char *name)
{
	size_t len = strlen(name), first = strcspn(name, "0123456789"),
	       after = first + strspn(name + first, "0123456789");

	return strncmp(name, "hisi_", 5) == 0 && name[after] == '_' && after + 1 < len &&
	       !base_is_digit(name[after + 1]) && base_is_digit(name[len - 1]);
}

/* Removes the numbers at the ends of the words of @name. */
static const char *strip_numbers(struct sysfs_reader *r, const char *name)
{
	char out[64];
	size_t n = 0;

	for (size_t i = 0, digits; name[i] && n + 1 < sizeof(out); i += digits ? digits : 1) {
		digits = strspn(name + i, "0123456789");
		if (digits && name[i + digits] != '_' && name[i + digits])
			digits = 0;
		if (!digits)
			out[n++] = name[i];
	}
	return pfmi_machine_arena_copy_text(r->scratch_memory, out, n);
}

static bool read_sysfs_pmu(struct sysfs_reader *r, const char *name, struct sysfs_pmu *d)
{
	struct string_list formats;
	const char *cpus;

	*d = (struct sysfs_pmu){ .name = name,
		                 .base_length = pfmi_machine_measure_instance_base(name),
		                 .cpus = "",
		                 .alias = "" };
	d->has_two_numbers = has_two_numbers(name);
	if (d->has_two_numbers)
		d->base_length = strcspn(name, "0123456789");
	d->common_name = d->has_two_numbers ? strip_numbers(r, name)
	                                    : pfmi_machine_arena_copy_text(r->scratch_memory, name,
	                                                                   d->base_length);
	if (!read_perf_type(r, d))
		return false;
	cpus = read_cpu_list(r, name, "cpus");
	d->is_core =
		cpus || machine_is_same_text(name, "cpu") || machine_is_same_text(name, "cpum_cf");
	if (!cpus) {
		cpus = read_cpu_list(r, name, "cpumask");
		d->has_cpumask = cpus && *cpus;
	}
	if (cpus)
		d->cpus = cpus;
	if (pfmi_machine_read_sysfs_file(r, name, "", "alias") && strlen(r->text) < 64)
		d->alias = pfmi_machine_arena_copy_text(r->kept_memory, r->text, strlen(r->text));
	formats = pfmi_machine_list_sysfs_names(r, name, "format", MAX_FORMAT_FIELDS, 63);
	d->format_names = join_strings(r, &formats);
	d->folder = r->current_folder;
	return true;
}

static void add_alias(char aliases[256], const char *name, size_t len, const char *own)
{
	size_t used = strlen(aliases);

	if (len == 0 || (strlen(own) == len && memcmp(own, name, len) == 0) ||
	    used + len + 2 > 256 || strcspn(name, " \t") < len)
		return;
	snprintf(aliases + used, 256 - used, "%s%.*s", used ? " " : "", (int)len, name);
}

static const struct table *build_kernel_table(struct sysfs_reader *r, const struct kernel_pmu *pmu,
                                              const struct sysfs_pmu *first, const char *aliases)
{
	struct table_builder b;

	pfmi_table_begin_build(&b);
	b.head.name = b.head.device = pfmi_table_add_text(&b, pmu->name, strlen(pmu->name));
	b.head.desc = pfmi_table_add_text(&b, "Events the running kernel describes",
	                                  strlen("Events the running kernel describes"));
	b.head.source = pfmi_table_add_text(&b, "sysfs of the running kernel",
	                                    strlen("sysfs of the running kernel"));
	b.head.aliases = pfmi_table_add_text(&b, aliases, strlen(aliases));
	b.head.perf_type = first->type;
	if (pmu->is_uncore)
		b.head.flags |= TABLE_UNCORE;
	if (first->type == 5) {
		pfmi_table_add_field(&b, "bp_type", KEY_NONE,
		                     &(struct bitrange){ .config_word = 0, .width = 3 }, 1);
		pfmi_table_add_field(&b, "bp_addr", KEY_NONE,
		                     &(struct bitrange){ .config_word = 1, .width = 64 }, 1);
		pfmi_table_add_field(&b, "bp_len", KEY_NONE,
		                     &(struct bitrange){ .config_word = 2, .width = 64 }, 1);
	}
	r->current_folder = first->folder;
	pfmi_machine_build_pmu_table(r, &b, first->name);
	return pfmi_table_finish_build(&b);
}

/* Fills @out with the PMU called @name, whose instances are the @n devices at @d. */
static bool add_kernel_pmu(struct sysfs_reader *r, struct kernel_pmu *out,
                           struct sysfs_pmu *const *d, unsigned n, const char *name,
                           const char *extra)
{
	int *types = pfmi_machine_arena_alloc(r->kept_memory, n * sizeof(*types));
	const char **names = pfmi_machine_arena_alloc(r->kept_memory, n * sizeof(*names)),
		   **cpus = pfmi_machine_arena_alloc(r->kept_memory, n * sizeof(*cpus));
	char aliases[256] = "";

	if (!types || !names || !cpus)
		return false;
	for (unsigned i = 0; i < n; i++) {
		types[i] = d[i]->type;
		names[i] = pfmi_machine_arena_copy_text(r->kept_memory, d[i]->name,
		                                        strlen(d[i]->name));
		cpus[i] = d[i]->cpus;
	}
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->n_instances = n;
	out->instance_types = types;
	out->instance_names = names;
	out->instance_cpu_lists = cpus;
	out->cpu_list = d[0]->cpus;
	out->is_core = d[0]->is_core;
	out->is_uncore = !d[0]->is_core && d[0]->has_cpumask;
	add_alias(aliases, extra, strlen(extra), out->name);
	if (d[0]->alias[0]) {
		add_alias(aliases, d[0]->alias, pfmi_machine_measure_instance_base(d[0]->alias),
		          out->name);
		if (n == 1)
			add_alias(aliases, d[0]->alias, strlen(d[0]->alias), out->name);
	}
	out->table = build_kernel_table(r, out, d[0], aliases);
	return out->table != NULL;
}

/* ---- the machine ----------------------------------------------------------------------------- */

static bool are_instances_of_one_pmu(const struct sysfs_pmu *a, const struct sysfs_pmu *b)
{
	return machine_is_same_text(a->common_name, b->common_name);
}

static uint64_t parse_instance_number(const struct sysfs_pmu *d)
{
	uint64_t v = 0;

	for (const char *p = d->name + d->base_length; *p && v < 100000000000000; p++)
		if (base_is_digit(*p))
			v = v * 10 + (uint64_t)(*p - '0');
		else if (*p == '_' && d->has_two_numbers)
			v *= 1000;
	return v;
}

/* Collects the devices that are instances of the same PMU as @d[at], itself included, in the order
 * of their numbers. Returns how many there are. */
static unsigned collect_instances(struct sysfs_pmu *d, size_t n, size_t at, struct sysfs_pmu **out)
{
	unsigned found = 0;

	for (size_t i = at; i < n; i++) {
		unsigned j = found;

		if (d[i].is_core != d[at].is_core || !are_instances_of_one_pmu(&d[i], &d[at]) ||
		    (i != at &&
		     (d[at].is_core || strcmp(d[i].format_names, d[at].format_names) != 0)))
			continue;
		for (; j && parse_instance_number(out[j - 1]) > parse_instance_number(&d[i]); j--)
			out[j] = out[j - 1];
		out[j] = &d[i];
		found++;
	}
	for (unsigned i = 0; i < found; i++)
		out[i]->is_grouped = true;
	return found;
}

/* True if the name ends in "_" and a decimal number: "imc_0", but not "amd_l3", "hv_24x7" or
 * "foo_cafe". */
static bool has_plain_number(const struct sysfs_pmu *d)
{
	const char *p = d->name + d->base_length;

	if (*p++ != '_')
		return false;
	while (base_is_digit(*p))
		p++;
	return *p == '\0';
}

/* The number of devices that have the same name before their number as @one, itself included. */
static unsigned count_same_base(const struct sysfs_pmu *d, size_t n, const struct sysfs_pmu *one)
{
	unsigned found = 0;

	for (size_t i = 0; i < n; i++)
		found += are_instances_of_one_pmu(&d[i], one);
	return found;
}

/* An alias of a core PMU: "armv8_pmuv3" for armv8_pmuv3_0 if it is the only one; otherwise "". */
static const char *get_core_alias(struct sysfs_reader *r, const struct sysfs_pmu *d, size_t n,
                                  const struct sysfs_pmu *one)
{
	return one->is_core && count_same_base(d, n, one) == 1 && has_plain_number(one)
	               ? pfmi_machine_arena_copy_text(r->scratch_memory, one->name,
	                                              one->base_length)
	               : "";
}

/* The name of the @m instances from @one on: without a number if no other device has that name. */
static const char *choose_instances_name(const struct sysfs_pmu *d, size_t n,
                                         const struct sysfs_pmu *one, unsigned m)
{
	bool all = count_same_base(d, n, one) == m;

	return !one->is_core && all && (m > 1 || one->has_two_numbers || has_plain_number(one))
	               ? one->common_name
	               : one->name;
}

static bool add_kernel_pmus(struct sysfs_reader *r, struct kernel_info *k, struct sysfs_pmu *d,
                            size_t n)
{
	struct string_list sensors = pfmi_machine_list_hwmon(r);
	struct kernel_pmu *pmus = pfmi_machine_arena_alloc(
		r->kept_memory, (n + sensors.n + MAX_DRM_DRIVERS) * sizeof(*pmus));
	struct sysfs_pmu **same = pfmi_machine_arena_alloc(r->scratch_memory, n * sizeof(*same));

	k->pmus = pmus;
	for (size_t i = 0; pmus && same && i < n; i++) {
		const char *name;
		unsigned m;

		if (d[i].is_grouped)
			continue;
		m = collect_instances(d, n, i, same);
		name = choose_instances_name(d, n, &d[i], m);
		if (!add_kernel_pmu(r, &pmus[k->n_pmus], same, m, name,
		                    get_core_alias(r, d, n, &d[i])))
			return false;
		k->n_pmus++;
	}
	if (pmus && same) {
		pfmi_machine_add_hwmon_pmus(r, &sensors, k, pmus);
		pfmi_machine_add_drm_pmus(r, k, pmus);
	}
	return pmus && same;
}

static void read_kernel_settings(struct sysfs_reader *r, struct kernel_info *k)
{
	char buf[32];
	char *end;
	long v;

	k->paranoid = -100;
	if (pfmi_machine_read_small_file(r->sys, "/proc/sys/kernel/perf_event_paranoid", buf,
	                                 sizeof(buf)) > 0) {
		v = strtol(buf, &end, 10);
		if (*end == '\0' && v >= -99 && v <= 99)
			k->paranoid = (int)v;
	}
	if (pfmi_machine_read_small_file(r->sys, "/proc/sys/kernel/nmi_watchdog", buf,
	                                 sizeof(buf)) > 0)
		k->nmi_watchdog = strcmp(buf, "1") == 0;
	if (pfmi_machine_read_small_file(r->sys, PFMI_PRETENDED_PATH, k->pretended,
	                                 sizeof(k->pretended)) < 0)
		k->pretended[0] = '\0';
}

/* A struct kernel_info, which users see, and the memory that it refers to. */
struct kernel_store {
	struct kernel_info kernel;
	struct memory_arena arena;
};

static bool read_sysfs_pmus(struct sysfs_reader *r, struct kernel_info *k)
{
	struct string_list names = pfmi_machine_list_sysfs_names(r, "", "", MAX_KERNEL_PMUS, 63);
	struct sysfs_pmu *d =
		pfmi_machine_arena_alloc(r->scratch_memory, (names.n + 1) * sizeof(*d));
	size_t n = 0;

	for (size_t i = 0; d && i < names.n; i++)
		n += read_sysfs_pmu(r, names.items[i], &d[n]);
	return d && add_kernel_pmus(r, k, d, n) && !r->scratch_memory->failed &&
	       !r->kept_memory->failed;
}

struct kernel_info *pfmi_machine_read_kernel_info(const struct sys *sys)
{
	struct kernel_store *s = calloc(1, sizeof(*s));
	struct memory_arena scrap = { 0 };
	struct sysfs_reader *r = pfmi_machine_arena_alloc(&scrap, sizeof(*r));
	bool ok = s && r;

	if (ok) {
		r->sys = sys;
		r->kept_memory = &s->arena;
		r->scratch_memory = &scrap;
		read_kernel_settings(r, &s->kernel);
		ok = read_sysfs_pmus(r, &s->kernel);
	}
	pfmi_machine_arena_free(&scrap);
	if (ok)
		return &s->kernel;
	pfmi_machine_free_kernel_info(s ? &s->kernel : NULL);
	return NULL;
}

void pfmi_machine_free_kernel_info(struct kernel_info *k)
{
	struct kernel_store *s = (struct kernel_store *)(void *)k;

	if (!k)
		return;
	for (unsigned i = 0; i < k->n_pmus; i++) {
		union {
			const struct table *in;
			struct table *out;
		} t = { .in = k->pmus[i].table };

		free(t.out); /* const for all other code */
	}
	pfmi_machine_arena_free(&s->arena);
	free(s);
}
