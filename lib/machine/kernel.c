/* SPDX-License-Identifier: MIT */
/* What the running kernel tells of its PMUs below /sys/bus/event_source/devices, turned into event tables. Nothing here
 * trusts a file: what cannot be understood is left out, and the rest of the machine stays usable. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "table/build.h"
#include "ctx.h"
#include "machine/kernel.h"

#define DEVICES     "/sys/bus/event_source/devices"
#define MAX_PMUS    4096
#define MAX_FORMATS 200 /* fields are numbered in bytes */
#define MAX_EVENTS  20000
#define TEXT_ROOM   4096 /* one page: what sysfs gives at most */

/* ---- memory: everything a struct kernel points to lives as long as it ------------------------------------------- */

struct block {
	struct block *next;
	size_t used, room;
	_Alignas(16) char at[];
};

struct arena {
	struct block *blocks;
	bool failed;
};

static void *take(struct arena *a, size_t n)
{
	struct block *b = a->blocks;

	n = (n + 15) & ~(size_t)15;
	if (!b || b->room - b->used < n) {
		size_t room = n > 8000 ? n : 8000;

		b = a->failed ? NULL : malloc(sizeof(*b) + room);
		if (!b) {
			a->failed = true;
			return NULL;
		}
		*b = (struct block){ .next = a->blocks, .room = room };
		a->blocks = b;
	}
	b->used += n;
	return memset(b->at + b->used - n, 0, n);
}

static const char *keep(struct arena *a, const char *s, size_t len)
{
	char *to = take(a, len + 1);

	if (!to)
		return "";
	memcpy(to, s, len);
	return to;
}

static void release(struct arena *a)
{
	while (a->blocks) {
		struct block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
}

/* ---- numbers, lists, names -------------------------------------------------------------------------------------- */

static bool is_hex(char c)
{
	return pfmi_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

size_t pfmi_instance_base(const char *name)
{
	size_t len = strlen(name), i = len, hex = len;

	while (i && pfmi_is_digit(name[i - 1]))
		i--;
	while (hex && is_hex(name[hex - 1]))
		hex--;
	if (i < len && i > 1 && name[i - 1] == '_')
		return i - 1;
	if (len - hex > 2 && hex > 1 && name[hex - 1] == '_')
		return hex - 1;
	return i < len && i > 0 ? i : len;
}

/* ---- files below one PMU ---------------------------------------------------------------------------------------- */

struct reading {
	const struct sys *sys;
	struct arena *keep;  /* lives as long as the struct kernel */
	struct arena *scrap; /* until the reading is over */
	char text[TEXT_ROOM];
};

/* Contents of DEVICES/@pmu/@folder@file in r->text; false if it cannot be read. */
static bool slurp(struct reading *r, const char *pmu, const char *folder, const char *file)
{
	char path[sizeof(DEVICES) + 64 + 16 + 256];
	int n = snprintf(path, sizeof(path), DEVICES "/%s/%s%s", pmu, folder, file);

	return n > 0 && (size_t)n < sizeof(path) && pfmi_sys_slurp(r->sys, path, r->text, sizeof(r->text)) >= 0;
}

/* Names in a folder, sorted. */
struct strings {
	const char **at;
	size_t n, room, max, longest;
	struct arena *arena;
};

static int collect(void *arg, const char *name)
{
	struct strings *s = arg;
	size_t len = strlen(name);

	if (len == 0 || len > s->longest)
		return 0;
	if (s->n == s->room) {
		const char **at = take(s->arena, (s->room * 2 + 16) * sizeof(*at));

		if (!at)
			return -ENOMEM;
		if (s->n)
			memcpy(at, s->at, s->n * sizeof(*at));
		s->at = at;
		s->room = s->room * 2 + 16;
	}
	s->at[s->n] = keep(s->arena, name, len);
	return ++s->n == s->max;
}

static struct strings names_in(struct reading *r, const char *pmu, const char *folder, size_t max, size_t longest)
{
	struct strings s = { .max = max, .longest = longest, .arena = r->scrap };
	char path[sizeof(DEVICES) + 64 + 16];

	snprintf(path, sizeof(path), DEVICES "%s%.63s%s%.14s", *pmu ? "/" : "", pmu, *folder ? "/" : "", folder);
	r->sys->list(r->sys, path, collect, &s);
	return s;
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* ---- format ------------------------------------------------------------------------------------------------------ */

/* "config1:0-7,32-35" */
static unsigned read_ranges(const char *s, struct bitrange out[4])
{
	unsigned n = 0, first, last;
	uint8_t word = 0;

	if (strncmp(s, "config", 6) != 0)
		return 0;
	s += 6;
	if (*s >= '1' && *s <= '3')
		word = (uint8_t)(*s++ - '0');
	if (*s++ != ':')
		return 0;
	while (pfmi_cpus_next(&s, &first, &last)) {
		if (last > 63 || n == 4)
			return 0;
		if (n && out[n - 1].lsb + out[n - 1].width == first)
			out[n - 1].width = (uint8_t)(last + 1 - out[n - 1].lsb);
		else
			out[n++] = (struct bitrange){ .word = word, .lsb = (uint8_t)first, .width = (uint8_t)(last - first + 1) };
	}
	return *s ? 0 : n;
}

static bool same_word(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* The number by which C code knows a format field; the kernel calls the event select "event". */
static enum key key_of(const char *name)
{
	static const struct {
		char name[12];
		uint8_t key;
	} known[] = {
		{ "event", KEY_CODE },
		{ "umask", KEY_UMASK },
		{ "cmask", KEY_CMASK },
		{ "inv", KEY_INV },
		{ "edge", KEY_EDGE },
		{ "any", KEY_ANY },
		{ "pc", KEY_PC },
		{ "in_tx", KEY_IN_TX },
		{ "in_tx_cp", KEY_IN_TX_CP },
		{ "eq", KEY_EQ },
		{ "offcore_rsp", KEY_OFFCORE },
		{ "ldlat", KEY_LDLAT },
		{ "frontend", KEY_FRONTEND },
		{ "snoop_rsp", KEY_OFFCORE1 },
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (same_word(known[i].name, name))
			return (enum key)known[i].key;
	return KEY_NONE;
}

static void add_formats(struct reading *r, struct builder *b, const char *pmu)
{
	static const char words[][8] = { "config", "config1", "config2", "config3" };
	struct strings files = names_in(r, pmu, "format", MAX_FORMATS, 63);
	struct bitrange ranges[4];

	for (size_t i = 0; i < files.n; i++) {
		unsigned n = slurp(r, pmu, "format/", files.at[i]) ? read_ranges(r->text, ranges) : 0;

		if (n)
			pfmi_build_field(b, files.at[i], key_of(files.at[i]), ranges, n);
	}
	/* Whole words can be given for every PMU, as perf has it. */
	for (unsigned i = 0; i < 4; i++)
		if (pfmi_build_find_field(b, words[i], strlen(words[i])) < 0)
			pfmi_build_field(b, words[i], i ? KEY_NONE : KEY_CONFIG,
			                 &(struct bitrange){ .word = (uint8_t)i, .width = 64 }, 1);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

struct text_fields {
	unsigned scale, unit, params;
};

/* Adds the terms in r->text to the row that was begun. False if one of them cannot be understood. */
static bool add_terms(struct reading *r, struct builder *b, struct text_fields texts)
{
	char params[256];
	size_t used = 0;
	const char *s = r->text;

	if (!*s)
		return false;
	for (;;) {
		size_t len = strcspn(s, ","), name = strcspn(s, "=,");
		int field = pfmi_build_find_field(b, s, name);
		uint64_t value = 1;

		if (field < 0)
			return false;
		if (name < len && s[name + 1] == '?' && len == name + 2) {
			if (used + name + 2 > sizeof(params))
				return false;
			if (used)
				params[used++] = ' ';
			memcpy(params + used, s, name);
			used += name;
		} else {
			uint64_t max = pfmi_build_get_field(b, (unsigned)field)->max;

			if (name < len && !pfmi_spec_number((struct slice){ s + name + 1, (uint32_t)(len - name - 1) }, &value))
				return false;
			if (value > max)
				return false;
			pfmi_build_value(b, (unsigned)field, value);
		}
		if (!s[len])
			break;
		s += len + 1;
	}
	if (used)
		pfmi_build_value(b, texts.params, pfmi_build_text(b, params, used));
	return true;
}

static bool is_companion(const char *name)
{
	static const char tails[][10] = { ".unit", ".scale", ".per-pkg", ".snapshot" };
	size_t len = strlen(name);

	for (unsigned i = 0; i < 4; i++)
		if (len > strlen(tails[i]) && same_word(name + len - strlen(tails[i]), tails[i]))
			return true;
	return false;
}

/* Contents of the companion @tail of event @event in r->text; false if it has none. */
static bool companion(struct reading *r, const struct strings *files, const char *pmu, const char *event, const char *tail)
{
	char name[256];
	const char *p = name;
	int n = snprintf(name, sizeof(name), "%s%s", event, tail);

	return n > 0 && (size_t)n < sizeof(name) && bsearch(&p, files->at, files->n, sizeof(*files->at), by_name) &&
	       slurp(r, pmu, "events/", name);
}

static void add_event(struct reading *r, struct builder *b, const struct strings *files, const char *pmu, const char *event,
                      struct text_fields texts)
{
	uint32_t flags = 0;
	double number;
	bool known;

	if (companion(r, files, pmu, event, ".per-pkg") && same_word(r->text, "1"))
		flags |= ROW_PER_PKG;
	if (companion(r, files, pmu, event, ".snapshot") && same_word(r->text, "1"))
		flags |= ROW_SNAPSHOT;
	pfmi_build_row(b, event, "Described by the running kernel.", flags);
	known = slurp(r, pmu, "events/", event) && add_terms(r, b, texts);
	if (!known) {
		pfmi_build_drop_row(b);
		return;
	}
	if (companion(r, files, pmu, event, ".scale") && pfmi_decimal(r->text, &number))
		pfmi_build_value(b, texts.scale, pfmi_build_text(b, r->text, strlen(r->text)));
	if (companion(r, files, pmu, event, ".unit"))
		pfmi_build_value(b, texts.unit, pfmi_build_text(b, r->text, strlen(r->text)));
}

static void add_events(struct reading *r, struct builder *b, const char *pmu)
{
	struct strings files = names_in(r, pmu, "events", MAX_EVENTS, 200);
	struct text_fields texts = {
		.scale = pfmi_build_text_field(b, KEY_SCALE),
		.unit = pfmi_build_text_field(b, KEY_UNIT),
		.params = pfmi_build_text_field(b, KEY_PARAMS),
	};

	for (size_t i = 0; i < files.n; i++)
		if (!is_companion(files.at[i]))
			add_event(r, b, &files, pmu, files.at[i], texts);
}

static void add_caps(struct reading *r, struct builder *b, const char *pmu)
{
	struct strings files = names_in(r, pmu, "caps", 64, 60);
	uint64_t value;

	for (size_t i = 0; i < files.n; i++) {
		if (!slurp(r, pmu, "caps/", files.at[i]))
			continue;
		if (pfmi_spec_number((struct slice){ r->text, (uint32_t)strlen(r->text) }, &value))
			pfmi_build_feature(b, files.at[i], NULL, value);
		else
			pfmi_build_feature(b, files.at[i], r->text, 0);
	}
	if (slurp(r, pmu, "", "identifier"))
		pfmi_build_feature(b, "identifier", r->text, 0);
}

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
};

static bool read_type(struct reading *r, struct device *d)
{
	uint64_t v;

	if (!slurp(r, d->name, "", "type") ||
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

	snprintf(path, sizeof(path), DEVICES "/%.63s/%.14s", pmu, file);
	rc = pfmi_cpus_file(r->sys, path, &list);
	r->keep->failed |= rc == -ENOMEM;
	if (rc)
		return NULL;
	kept = keep(r->keep, list, strlen(list));
	free(list);
	return kept;
}

static const char *joined(struct reading *r, const struct strings *s)
{
	size_t len = 1;
	char *out, *p;

	for (size_t i = 0; i < s->n; i++)
		len += strlen(s->at[i]) + 1;
	p = out = take(r->scrap, len);
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
	return keep(r->scrap, out, n);
}

static bool read_device(struct reading *r, const char *name, struct device *d)
{
	struct strings formats;
	const char *cpus;

	*d = (struct device){ .name = name, .base = pfmi_instance_base(name), .cpus = "", .alias = "" };
	d->twice = numbers_twice(name);
	if (d->twice)
		d->base = strcspn(name, "0123456789");
	d->unit = d->twice ? without_numbers(r, name) : keep(r->scrap, name, d->base);
	if (!read_type(r, d))
		return false;
	cpus = cpu_list(r, name, "cpus");
	d->is_core = cpus || same_word(name, "cpu") || same_word(name, "cpum_cf");
	if (!cpus) {
		cpus = cpu_list(r, name, "cpumask");
		d->has_mask = cpus && *cpus;
	}
	if (cpus)
		d->cpus = cpus;
	if (slurp(r, name, "", "alias") && strlen(r->text) < 64)
		d->alias = keep(r->keep, r->text, strlen(r->text));
	formats = names_in(r, name, "format", MAX_FORMATS, 63);
	d->formats = joined(r, &formats);
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
	add_formats(r, &b, first->name);
	add_events(r, &b, first->name);
	add_caps(r, &b, first->name);
	return pfmi_build_end(&b);
}

/* Makes one PMU of the @n devices at @d that are instances of one unit; @name is what they are called together. */
static bool add_pmu(struct reading *r, struct kernel_pmu *out, struct device *const *d, unsigned n, const char *name, const char *extra)
{
	int *types = take(r->keep, n * sizeof(*types));
	const char **names = take(r->keep, n * sizeof(*names)), **cpus = take(r->keep, n * sizeof(*cpus));
	char aka[256] = "";

	if (!types || !names || !cpus)
		return false;
	for (unsigned i = 0; i < n; i++) {
		types[i] = d[i]->type;
		names[i] = keep(r->keep, d[i]->name, strlen(d[i]->name));
		cpus[i] = d[i]->cpus;
	}
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->n_instances = n;
	out->types = types;
	out->instances = names;
	out->instance_cpus = cpus;
	out->cpus = d[0]->cpus;
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
	return same_word(a->unit, b->unit);
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

		if (d[i].taken || d[i].is_core != d[at].is_core || !same_base(&d[i], &d[at]) ||
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
	return one->is_core && namesakes(d, n, one) == 1 && plainly_numbered(one) ? keep(r->scrap, one->name, one->base) : "";
}

/* The name the @m instances from @one on have together: without the number if that stands for them alone. */
static const char *common_name(const struct device *d, size_t n, const struct device *one, unsigned m)
{
	bool all = namesakes(d, n, one) == m;

	return !one->is_core && all && (m > 1 || one->twice || plainly_numbered(one)) ? one->unit : one->name;
}

static bool add_pmus(struct reading *r, struct kernel *k, struct device *d, size_t n)
{
	struct kernel_pmu *pmus = take(r->keep, n * sizeof(*pmus));
	struct device **same = take(r->scrap, n * sizeof(*same));

	k->pmus = pmus;
	for (size_t i = 0; pmus && same && i < n; i++) {
		const char *name;
		unsigned m;

		if (d[i].taken)
			continue;
		m = siblings(d, n, i, same);
		name = common_name(d, n, &d[i], m);
		if (!add_pmu(r, &pmus[k->n], same, m, name, core_name(r, d, n, &d[i])))
			return false;
		k->n++;
	}
	return pmus && same;
}

static void read_settings(struct reading *r, struct kernel *k)
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
	struct kernel kernel;
	struct arena arena;
};

static bool read_devices(struct reading *r, struct kernel *k)
{
	struct strings names = names_in(r, "", "", MAX_PMUS, 63);
	struct device *d = take(r->scrap, (names.n + 1) * sizeof(*d));
	size_t n = 0;

	for (size_t i = 0; d && i < names.n; i++)
		n += read_device(r, names.at[i], &d[n]);
	return d && add_pmus(r, k, d, n) && !r->scrap->failed && !r->keep->failed;
}

struct kernel *pfmi_kernel_read(const struct sys *sys)
{
	struct store *s = calloc(1, sizeof(*s));
	struct arena scrap = { 0 };
	struct reading *r = take(&scrap, sizeof(*r));
	bool ok = s && r;

	if (ok) {
		r->sys = sys;
		r->keep = &s->arena;
		r->scrap = &scrap;
		read_settings(r, &s->kernel);
		ok = read_devices(r, &s->kernel);
	}
	release(&scrap);
	if (ok)
		return &s->kernel;
	pfmi_kernel_free(s ? &s->kernel : NULL);
	return NULL;
}

void pfmi_kernel_free(struct kernel *k)
{
	struct store *s = (struct store *)(void *)k;

	if (!k)
		return;
	for (unsigned i = 0; i < k->n; i++) {
		union {
			const struct table *in;
			struct table *out;
		} t = { .in = k->pmus[i].table };

		free(t.out); /* const for everybody else */
	}
	release(&s->arena);
	free(s);
}

static bool slice_equals(struct slice s, const char *word, size_t len)
{
	return s.len == len && memcmp(s.s, word, len) == 0;
}

static bool in_words(struct slice s, const char *words)
{
	while (*words) {
		size_t len = strcspn(words, " ");

		if (slice_equals(s, words, len))
			return true;
		words += len + (words[len] == ' ');
	}
	return false;
}

unsigned pfmi_kernel_instance(const struct kernel_pmu *p, struct slice name)
{
	if (p->n_instances < 2 || slice_equals(name, p->name, strlen(p->name)))
		return 0;
	for (unsigned j = 0; j < p->n_instances; j++)
		if (slice_equals(name, p->instances[j], strlen(p->instances[j])))
			return j + 1;
	return 0;
}

unsigned pfmi_kernel_numbered(const struct kernel_pmu *p, struct slice digits)
{
	for (unsigned j = 0; digits.len && j < p->n_instances; j++) {
		const char *instance = p->instances[j];
		size_t at = strlen(instance);

		while (at && pfmi_is_digit(instance[at - 1]))
			at--;
		if (slice_equals(digits, instance + at, strlen(instance + at)))
			return j + 1;
	}
	return 0;
}

const struct kernel_pmu *pfmi_kernel_find(const struct kernel *k, struct slice name)
{
	for (unsigned i = 0; k && i < k->n; i++) {
		const struct kernel_pmu *p = &k->pmus[i];

		if (slice_equals(name, p->name, strlen(p->name)) || in_words(name, table_text(p->table, p->table->aka)))
			return p;
		for (unsigned j = 0; j < p->n_instances; j++)
			if (slice_equals(name, p->instances[j], strlen(p->instances[j])))
				return p;
	}
	return NULL;
}

static unsigned field_called(const struct table *t, const char *name)
{
	unsigned i = 0;

	while (i < t->n_fields && !same_word(table_text(t, table_fields(t)[i].name), name))
		i++;
	return i;
}

/* Is @id in the list @ids? A word that ends in an asterisk stands for all that starts so. */
static bool one_of(const char *ids, const char *id)
{
	size_t len = strlen(id);

	for (; *ids; ids += *ids == ' ') {
		size_t n = strcspn(ids, " ");
		bool open = n && ids[n - 1] == '*';

		if ((open ? n - 1 <= len : n == len) && memcmp(ids, id, open ? n - 1 : n) == 0)
			return true;
		ids += n;
	}
	return false;
}

bool pfmi_kernel_identifies(const struct kernel_pmu *p, const struct table *t)
{
	const struct feature *f = table_features(p->table);
	unsigned compat = field_called(t, "compat"), i = 0;
	uint64_t tried = 0;

	while (i < p->table->n_features && !same_word(table_text(p->table, f[i].name), "identifier"))
		i++;
	if (i == p->table->n_features)
		return false;
	/* Most rows have the same one. */
	for (uint32_t row = 0; row < t->n_rows; row++)
		for (unsigned k = 0; k < table_row(t, row)->n_values; k++) {
			struct value one = row_value(t, table_row(t, row), k);

			if (one.field != compat || one.value == tried)
				continue;
			tried = one.value;
			if (one_of(table_text(t, (uint32_t)tried), table_text(p->table, f[i].text)))
				return true;
		}
	return false;
}
