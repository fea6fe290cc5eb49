/* SPDX-License-Identifier: MIT */
/* GPUs as PMUs: drm_i915::drm-engine-render. For each file of a process that is a client of a GPU,
 * the kernel shows what the client has used (Linux Documentation/gpu/drm-usage-stats.rst):
 *
 *   drm-driver:          i915
 *   drm-pdev:            0000:00:02.0
 *   drm-client-id:       7
 *   drm-engine-render:   9288864723 ns
 *   drm-resident-vram0:  1024 KiB
 *
 * The sum over all clients is the value of an event. The keys of a driver are known from its
 * clients only. lib/session/file_events.c reads the values. */
#include <stdio.h>
#include <stdlib.h>
#include "base/hash.h"
#include "machine/machine_internal.h"

#define DRM_DIR "/sys/class/drm"

enum { MAX_KEYS = 64, MAX_KEY = 64, MAX_DRIVER = 32, MAX_FILES_AT_START = 4096 };

/* ---- fdinfo ---------------------------------------------------------------------------------- */

/* The value of the line "@key:\tVALUE", up to its end; empty if missing. */
static struct slice find_key_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = machine_find_next_line(line)) {
		const char *value = line + len + 1;

		if (strncmp(line, key, len) != 0 || line[len] != ':')
			continue;
		value += strspn(value, " \t");
		return (struct slice){ value, (uint32_t)strcspn(value, "\n") };
	}
	return (struct slice){ "", 0 };
}

bool pfmi_machine_read_drm_value(const char *text, const char *key, uint64_t *value)
{
	struct slice s = find_key_value(text, key);
	char *unit;

	if (!s.len || !base_is_digit(s.text[0]))
		return false;
	*value = strtoull(s.text, &unit, 10);
	unit += strspn(unit, " ");
	if (strncmp(unit, "KiB", 3) == 0)
		*value <<= 10;
	else if (strncmp(unit, "MiB", 3) == 0)
		*value <<= 20;
	return true;
}

static uint64_t hash_slice(uint64_t hash, struct slice s)
{
	for (uint32_t i = 0; i < s.len; i++)
		hash = (hash ^ (unsigned char)s.text[i]) * 0x100000001b3;
	return hash * 31 + 7;
}

struct client_visit {
	const struct sys *sys;
	int (*each)(void *arg, const struct drm_client *client);
	void *arg;
	char process[16];
	unsigned n_files, max_files;
};

static int visit_open_file(void *arg, const char *name)
{
	struct client_visit *v = arg;
	struct drm_client client;
	char path[64], text[4096];

	if (v->n_files++ == v->max_files)
		return 1;
	snprintf(path, sizeof(path), "/proc/%.15s/fdinfo/%.15s", v->process, name);
	if (pfmi_machine_read_small_file(v->sys, path, text, sizeof(text)) <= 0)
		return 0;
	client = (struct drm_client){ .driver = find_key_value(text, "drm-driver"), .text = text };
	if (!client.driver.len)
		return 0;
	client.id = hash_slice(hash_slice(hash_slice(0xcbf29ce484222325, client.driver),
	                                  find_key_value(text, "drm-pdev")),
	                       find_key_value(text, "drm-client-id"));
	return v->each(v->arg, &client);
}

static int visit_process(void *arg, const char *name)
{
	struct client_visit *v = arg;
	char path[48];

	if (name[strspn(name, "0123456789")])
		return 0;
	snprintf(v->process, sizeof(v->process), "%.15s", name);
	snprintf(path, sizeof(path), "/proc/%.15s/fdinfo", name);
	return v->sys->list_folder(v->sys, path, visit_open_file, v) > 0;
}

void pfmi_machine_visit_drm_clients(const struct sys *sys, unsigned max_files,
                                    int (*each)(void *arg, const struct drm_client *client),
                                    void *arg)
{
	struct client_visit v = { .sys = sys, .each = each, .arg = arg, .max_files = max_files };

	sys->list_folder(sys, "/proc", visit_process, &v);
}

/* ---- drivers and their keys ------------------------------------------------------------------ */

/* Kinds of keys that clients use up; other keys describe the hardware. */
static const struct drm_key_kind {
	char prefix[20], words[48];
	struct file_event_kind event;
} key_kinds[] = {
	{ "drm-engine-", "Time that engine %s was busy", { "ns", "1", true } },
	{ "drm-cycles-", "Clocks that engine %s was busy", { "", "1", true } },
	{ "drm-total-cycles-", "Clocks of engine %s", { "", "1", true } },
	{ "drm-memory-", "Memory in region %s", { "bytes", "1", false } },
	{ "drm-total-", "Memory with a place in region %s", { "bytes", "1", false } },
	{ "drm-shared-", "Memory in region %s that is shared", { "bytes", "1", false } },
	{ "drm-active-", "Memory in region %s that is in use", { "bytes", "1", false } },
	{ "drm-resident-", "Memory that is resident in region %s", { "bytes", "1", false } },
	{ "drm-purgeable-", "Memory in region %s that may be dropped", { "bytes", "1", false } },
};

/* The kind of @key; NULL if the key describes the hardware. */
static const struct drm_key_kind *get_key_kind(const char *key)
{
	if (strncmp(key, "drm-engine-capacity-", strlen("drm-engine-capacity-")) == 0)
		return NULL;
	for (size_t i = 0; i < sizeof(key_kinds) / sizeof(key_kinds[0]); i++)
		if (strncmp(key, key_kinds[i].prefix, strlen(key_kinds[i].prefix)) == 0)
			return &key_kinds[i];
	return NULL;
}

struct drm_driver {
	char name[MAX_DRIVER];
	unsigned n_keys;
	char keys[MAX_KEYS][MAX_KEY];
};

struct driver_list {
	unsigned n;
	struct drm_driver drivers[MAX_DRM_DRIVERS];
};

static struct drm_driver *find_or_add_driver(struct driver_list *list, struct slice name)
{
	for (unsigned i = 0; i < list->n; i++)
		if (strlen(list->drivers[i].name) == name.len &&
		    memcmp(list->drivers[i].name, name.text, name.len) == 0)
			return &list->drivers[i];
	if (list->n == MAX_DRM_DRIVERS || name.len >= MAX_DRIVER)
		return NULL;
	memcpy(list->drivers[list->n].name, name.text, name.len);
	return &list->drivers[list->n++];
}

static void add_key(struct drm_driver *d, const char *line)
{
	char key[MAX_KEY];
	size_t len = strcspn(line, ":\n");
	uint64_t value;

	if (len >= MAX_KEY || line[len] != ':')
		return;
	memcpy(key, line, len);
	key[len] = '\0';
	if (!get_key_kind(key) || !pfmi_machine_read_drm_value(line, key, &value))
		return;
	for (unsigned i = 0; i < d->n_keys; i++)
		if (machine_is_same_text(d->keys[i], key))
			return;
	if (d->n_keys < MAX_KEYS)
		memcpy(d->keys[d->n_keys++], key, len + 1);
}

static int add_client_keys(void *arg, const struct drm_client *client)
{
	struct drm_driver *d = find_or_add_driver(arg, client->driver);

	for (const char *line = client->text; d && line; line = machine_find_next_line(line))
		add_key(d, line);
	return 0;
}

/* ---- PMUs ------------------------------------------------------------------------------------ */

static int is_render_node(void *arg, const char *name)
{
	(void)arg;
	return strncmp(name, "renderD", strlen("renderD")) == 0;
}

static bool add_driver_pmu(struct sysfs_reader *r, const struct kernel_info *k,
                           const struct drm_driver *d, struct kernel_pmu *out)
{
	struct file_pmu_builder f;
	char name[64], word[MAX_DRIVER], desc[128], words[64];

	pfmi_machine_make_word(d->name, word, sizeof(word));
	snprintf(name, sizeof(name), "drm_%s", word);
	if (!pfmi_machine_begin_file_pmu(&f, r, name, d->n_keys))
		return false;
	for (unsigned i = 0; i < d->n_keys; i++) {
		const struct drm_key_kind *kind = get_key_kind(d->keys[i]);
		size_t n;

		if (!kind) /* add_key() adds keys with a kind only */
			continue;
		n = strcspn(kind->words, "%");

		snprintf(words, sizeof(words), "%.*s%s%s", (int)n, kind->words,
		         d->keys[i] + strlen(kind->prefix), kind->words + n + 2);
		snprintf(desc, sizeof(desc), "%s, by all clients that may be read.", words);
		pfmi_machine_add_file_event(&f, &kind->event, d->keys[i], desc);
		pfmi_machine_add_event_file(&f, d->keys[i]);
	}
	if (!pfmi_machine_finish_file_pmu(&f, k, out))
		return false;
	out->drm_driver = pfmi_machine_arena_copy_text(r->kept_memory, d->name, strlen(d->name));
	return true;
}

void pfmi_machine_add_drm_pmus(struct sysfs_reader *r, struct kernel_info *k,
                               struct kernel_pmu *pmus)
{
	struct driver_list *list;

	/* The search among all processes is slow, so it is made only if there is a GPU. */
	if (r->sys->list_folder(r->sys, DRM_DIR, is_render_node, NULL) <= 0)
		return;
	list = pfmi_machine_arena_alloc(r->scratch_memory, sizeof(*list));
	if (!list)
		return;
	pfmi_machine_visit_drm_clients(r->sys, MAX_FILES_AT_START, add_client_keys, list);
	for (unsigned i = 0; i < list->n; i++)
		k->n_pmus += add_driver_pmu(r, k, &list->drivers[i], &pmus[k->n_pmus]);
}
