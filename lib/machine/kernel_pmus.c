/* SPDX-License-Identifier: MIT */
/* What the running kernel tells of its PMUs below /sys/bus/event_source/devices, turned into event tables. Nothing here
 * trusts a file: what cannot be understood is left out, and the rest of the machine stays usable. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine/machine_internal.h"

#define MAX_PMUS 4096

/* ---- one PMU ----------------------------------------------------------------------------------------------------- */

/* A folder below DEVICES. */
struct device {
	const char *name;
	size_t base;      /* length without the instance number, or up to the first of two */
	const char *unit; /* what all instances are called */
	int type;
	bool is_core, has_mask, taken, twice;
	const char *cpus, *alias;
	const char *formats; /* names of its format files: instances of one unit have the same */
	const struct folder *folder;
};

static bool read_type(struct reading *r, struct device *d)
{
	uint64_t v;

	if (!pfmi_reading_file(r, d->name, "", "type") ||
	    !pfmi_spec_number((struct slice){ r->text, (uint32_t)strlen(r->text) }, &v) || v > INT32_MAX)
		return false;
	d->type = (int)v;
	return true;
}

static const char *cpu_list(struct reading *r, const char *pmu, const char *file)
{
	char path[sizeof(DEVICES) + 64 + 16], *list;
	const char *kept;
	int rc;

	if (!pfmi_reading_may_have(r, pmu, file))
		return NULL;
	snprintf(path, sizeof(path), DEVICES "/%.63s/%.14s", pmu, file);
	rc = pfmi_cpus_file(r->sys, path, &list);
	r->keep->failed |= rc == -ENOMEM;
	if (rc)
		return NULL;
	kept = pfmi_keep(r->keep, list, strlen(list));
	free(list);
	return kept;
}

static const char *joined(struct reading *r, const struct strings *s)
{
	size_t len = 1;
	char *out, *p;

	for (size_t i = 0; i < s->n; i++)
		len += strlen(s->at[i]) + 1;
	p = out = pfmi_take(r->scrap, len);
	for (size_t i = 0; out && i < s->n; i++) {
		size_t n = strlen(s->at[i]);

		memcpy(p, s->at[i], n);
		p[n] = ' ';
		p += n + 1;
	}
	return out ? out : "";
}

/* HiSilicon's names number the die as well: hisi_sccl1_ddrc0, hisi_sccl3_ddrc1. Lists say "hisi_sccl,ddrc". */
static bool numbers_twice(const char *name)
{
	size_t len = strlen(name), first = strcspn(name, "0123456789"), after = first + strspn(name + first, "0123456789");

	return strncmp(name, "hisi_", 5) == 0 && name[after] == '_' && after + 1 < len && !pfmi_is_digit(name[after + 1]) &&
	       pfmi_is_digit(name[len - 1]);
}

/* @name without the numbers at the ends of its words. */
static const char *without_numbers(struct reading *r, const char *name)
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
	return pfmi_keep(r->scrap, out, n);
}

static bool read_device(struct reading *r, const char *name, struct device *d)
{
	struct strings formats;
	const char *cpus;

	*d = (struct device){ .name = name, .base = pfmi_instance_base(name), .cpus = "", .alias = "" };
	d->twice = numbers_twice(name);
	if (d->twice)
		d->base = strcspn(name, "0123456789");
	d->unit = d->twice ? without_numbers(r, name) : pfmi_keep(r->scrap, name, d->base);
	if (!read_type(r, d))
		return false;
	cpus = cpu_list(r, name, "cpus");
	d->is_core = cpus || is_word(name, "cpu") || is_word(name, "cpum_cf");
	if (!cpus) {
		cpus = cpu_list(r, name, "cpumask");
		d->has_mask = cpus && *cpus;
	}
	if (cpus)
		d->cpus = cpus;
	if (pfmi_reading_file(r, name, "", "alias") && strlen(r->text) < 64)
		d->alias = pfmi_keep(r->keep, r->text, strlen(r->text));
	formats = pfmi_reading_names(r, name, "format", MAX_FORMATS, 63);
	d->formats = joined(r, &formats);
	d->folder = r->at;
	return true;
}

static void add_aka(char aka[256], const char *name, size_t len, const char *own)
{
	size_t used = strlen(aka);

	if (len == 0 || (strlen(own) == len && memcmp(own, name, len) == 0) || used + len + 2 > 256 || strcspn(name, " \t") < len)
		return;
	snprintf(aka + used, 256 - used, "%s%.*s", used ? " " : "", (int)len, name);
}

static const struct table *build_table(struct reading *r, const struct kernel_pmu *pmu, const struct device *first, const char *aka)
{
	struct builder b;

	pfmi_build_begin(&b);
	b.head.name = b.head.device = pfmi_build_text(&b, pmu->name, strlen(pmu->name));
	b.head.desc = pfmi_build_text(&b, "Events the running kernel describes", strlen("Events the running kernel describes"));
	b.head.source = pfmi_build_text(&b, "sysfs of the running kernel", strlen("sysfs of the running kernel"));
	b.head.aka = pfmi_build_text(&b, aka, strlen(aka));
	b.head.perf_type = first->type;
	if (pmu->is_uncore)
		b.head.flags |= TABLE_UNCORE;
	if (first->type == 5) {
		pfmi_build_field(&b, "bp_type", KEY_NONE, &(struct bitrange){ .word = 0, .width = 3 }, 1);
		pfmi_build_field(&b, "bp_addr", KEY_NONE, &(struct bitrange){ .word = 1, .width = 64 }, 1);
		pfmi_build_field(&b, "bp_len", KEY_NONE, &(struct bitrange){ .word = 2, .width = 64 }, 1);
	}
	r->at = first->folder;
	pfmi_reading_table(r, &b, first->name);
	return pfmi_build_end(&b);
}

/* Makes one PMU of the @n devices at @d that are instances of one unit; @name is what they are called together. */
static bool add_pmu(struct reading *r, struct kernel_pmu *out, struct device *const *d, unsigned n, const char *name, const char *extra)
{
	int *types = pfmi_take(r->keep, n * sizeof(*types));
	const char **names = pfmi_take(r->keep, n * sizeof(*names)), **cpus = pfmi_take(r->keep, n * sizeof(*cpus));
	char aka[256] = "";

	if (!types || !names || !cpus)
		return false;
	for (unsigned i = 0; i < n; i++) {
		types[i] = d[i]->type;
		names[i] = pfmi_keep(r->keep, d[i]->name, strlen(d[i]->name));
		cpus[i] = d[i]->cpus;
	}
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->n_instances = n;
	out->instance_types = types;
	out->instance_names = names;
	out->instance_cpu_lists = cpus;
	out->cpu_list = d[0]->cpus;
	out->is_core = d[0]->is_core;
	out->is_uncore = !d[0]->is_core && d[0]->has_mask;
	add_aka(aka, extra, strlen(extra), out->name);
	if (d[0]->alias[0]) {
		add_aka(aka, d[0]->alias, pfmi_instance_base(d[0]->alias), out->name);
		if (n == 1)
			add_aka(aka, d[0]->alias, strlen(d[0]->alias), out->name);
	}
	out->table = build_table(r, out, d[0], aka);
	return out->table != NULL;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static bool same_base(const struct device *a, const struct device *b)
{
	return is_word(a->unit, b->unit);
}

static uint64_t instance_number(const struct device *d)
{
	uint64_t v = 0;

	for (const char *p = d->name + d->base; *p && v < 100000000000000; p++)
		if (pfmi_is_digit(*p))
			v = v * 10 + (uint64_t)(*p - '0');
		else if (*p == '_' && d->twice)
			v *= 1000;
	return v;
}

/* Devices that are instances of the same unit as @d[at], itself included, in the order of their numbers. */
static unsigned siblings(struct device *d, size_t n, size_t at, struct device **out)
{
	unsigned found = 0;

	for (size_t i = at; i < n; i++) {
		unsigned j = found;

		if (d[i].is_core != d[at].is_core || !same_base(&d[i], &d[at]) ||
		    (i != at && (d[at].is_core || strcmp(d[i].formats, d[at].formats) != 0)))
			continue;
		for (; j && instance_number(out[j - 1]) > instance_number(&d[i]); j--)
			out[j] = out[j - 1];
		out[j] = &d[i];
		found++;
	}
	for (unsigned i = 0; i < found; i++)
		out[i]->taken = true;
	return found;
}

/* True if the name says by itself that a number follows: "imc_0", but not "amd_l3", "hv_24x7" or "foo_cafe". */
static bool plainly_numbered(const struct device *d)
{
	const char *p = d->name + d->base;

	if (*p++ != '_')
		return false;
	while (pfmi_is_digit(*p))
		p++;
	return *p == '\0';
}

/* Devices with the same name before the number, @one included. */
static unsigned namesakes(const struct device *d, size_t n, const struct device *one)
{
	unsigned found = 0;

	for (size_t i = 0; i < n; i++)
		found += same_base(&d[i], one);
	return found;
}

/* How a core PMU is called besides its name: "armv8_pmuv3" for armv8_pmuv3_0, as long as there is only one. */
static const char *core_name(struct reading *r, const struct device *d, size_t n, const struct device *one)
{
	return one->is_core && namesakes(d, n, one) == 1 && plainly_numbered(one) ? pfmi_keep(r->scrap, one->name, one->base) : "";
}

/* The name the @m instances from @one on have together: without the number if that stands for them alone. */
static const char *common_name(const struct device *d, size_t n, const struct device *one, unsigned m)
{
	bool all = namesakes(d, n, one) == m;

	return !one->is_core && all && (m > 1 || one->twice || plainly_numbered(one)) ? one->unit : one->name;
}

static bool add_pmus(struct reading *r, struct kernel_info *k, struct device *d, size_t n)
{
	struct kernel_pmu *pmus = pfmi_take(r->keep, n * sizeof(*pmus));
	struct device **same = pfmi_take(r->scrap, n * sizeof(*same));

	k->pmus = pmus;
	for (size_t i = 0; pmus && same && i < n; i++) {
		const char *name;
		unsigned m;

		if (d[i].taken)
			continue;
		m = siblings(d, n, i, same);
		name = common_name(d, n, &d[i], m);
		if (!add_pmu(r, &pmus[k->n_pmus], same, m, name, core_name(r, d, n, &d[i])))
			return false;
		k->n_pmus++;
	}
	return pmus && same;
}

static void read_settings(struct reading *r, struct kernel_info *k)
{
	char buf[32];
	char *end;
	long v;

	k->paranoid = -100;
	if (pfmi_sys_slurp(r->sys, "/proc/sys/kernel/perf_event_paranoid", buf, sizeof(buf)) > 0) {
		v = strtol(buf, &end, 10);
		if (*end == '\0' && v >= -99 && v <= 99)
			k->paranoid = (int)v;
	}
	if (pfmi_sys_slurp(r->sys, "/proc/sys/kernel/nmi_watchdog", buf, sizeof(buf)) > 0)
		k->nmi_watchdog = strcmp(buf, "1") == 0;
}

/* struct kernel is what users of it see; the memory hangs behind it. */
struct store {
	struct kernel_info kernel;
	struct arena arena;
};

static bool read_devices(struct reading *r, struct kernel_info *k)
{
	struct strings names = pfmi_reading_names(r, "", "", MAX_PMUS, 63);
	struct device *d = pfmi_take(r->scrap, (names.n + 1) * sizeof(*d));
	size_t n = 0;

	for (size_t i = 0; d && i < names.n; i++)
		n += read_device(r, names.at[i], &d[n]);
	return d && add_pmus(r, k, d, n) && !r->scrap->failed && !r->keep->failed;
}

struct kernel_info *pfmi_machine_read_kernel_info(const struct sys *sys)
{
	struct store *s = calloc(1, sizeof(*s));
	struct arena scrap = { 0 };
	struct reading *r = pfmi_take(&scrap, sizeof(*r));
	bool ok = s && r;

	if (ok) {
		r->sys = sys;
		r->keep = &s->arena;
		r->scrap = &scrap;
		read_settings(r, &s->kernel);
		ok = read_devices(r, &s->kernel);
	}
	pfmi_release(&scrap);
	if (ok)
		return &s->kernel;
	pfmi_machine_free_kernel_info(s ? &s->kernel : NULL);
	return NULL;
}

void pfmi_machine_free_kernel_info(struct kernel_info *k)
{
	struct store *s = (struct store *)(void *)k;

	if (!k)
		return;
	for (unsigned i = 0; i < k->n_pmus; i++) {
		union {
			const struct table *in;
			struct table *out;
		} t = { .in = k->pmus[i].table };

		free(t.out); /* const for everybody else */
	}
	pfmi_release(&s->arena);
	free(s);
}
