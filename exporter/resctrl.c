/* SPDX-License-Identifier: MIT */
/* pfm serve --resctrl: memory bandwidth and occupancy of caches of each group of the kernel's
 * resctrl file system, as its files mon_data have them. The service makes no groups: container
 * engines and resource managers do, and runc names one by its container, whose labels it gets. What
 * the hardware could not measure has a cause in place of a value. */
#include "common/pfm.h"
#include "container.h"
#include "serve.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

enum { PATH_SIZE = 4096, MAX_SAMPLES = 4096 };

#define ROOT "/sys/fs/resctrl"

/* The files of a folder of mon_data. */
static const struct {
	const char *file, *family, *unit, *help;
	enum family_type type;
	const char *kind;
} kinds[] = {
	{ "llc_occupancy", "perfmon_resctrl_occupancy_bytes", "bytes",
	  "Bytes of the cache that lines of the group take.", FAMILY_GAUGE, "" },
	{ "mbm_total_bytes", "perfmon_resctrl_memory_bytes", "bytes",
	  "Bytes between the cache and the memory of all nodes, or of its own node.",
	  FAMILY_COUNTER, "total" },
	{ "mbm_local_bytes", "perfmon_resctrl_memory_bytes", "bytes", "", FAMILY_COUNTER, "local" },
};

enum { N_FILES = sizeof(kinds) / sizeof(kinds[0]) };

struct resctrl_value {
	char *group;               /* path below the root; "" is the default group */
	char cache[8], domain[16]; /* "L3", "00" */
	unsigned kind;
	bool is_known;
	double value;
	char cause[32];
};

struct resctrl_values {
	struct resctrl_value *at;
	unsigned n;
	size_t capacity;
	bool has_failed;
	unsigned n_omitted;
};

/* ---- files ----------------------------------------------------------------------------------- */

/* Reads a number, or a word such as "Unavailable". False if the file is missing. */
static bool read_value(const char *path, struct resctrl_value *v)
{
	FILE *f = fopen(path, "re");
	char text[64] = "", *end;

	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		snprintf(text, sizeof(text), "Error");
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	v->value = strtod(text, &end);
	v->is_known = end > text && !*end;
	snprintf(v->cause, sizeof(v->cause), "%.31s", v->is_known ? "" : text);
	return true;
}

static void add_value(struct resctrl_values *all, const struct resctrl_value *v, const char *group)
{
	if (all->n == MAX_SAMPLES) {
		all->n_omitted++;
		return;
	}
	all->at =
		base_grow_list(all->at, all->n, &all->capacity, sizeof(*all->at), &all->has_failed);
	if (all->has_failed)
		return;
	all->at[all->n] = *v;
	all->at[all->n].group = strdup(group);
	all->has_failed = !all->at[all->n].group;
	all->n += !all->has_failed;
}

/* Reads mon_L3_00 and its like: "mon_", a cache, "_", and the number of its domain. */
static void read_domain(struct resctrl_values *all, const char *folder, const char *name,
                        const char *group)
{
	struct resctrl_value v = { 0 };
	char path[PATH_SIZE + 256];

	if (sscanf(name, "mon_%7[A-Z0-9]_%15[0-9]", v.cache, v.domain) != 2)
		return;
	for (v.kind = 0; v.kind < N_FILES; v.kind++) {
		snprintf(path, sizeof(path), "%s/mon_data/%s/%s", folder, name, kinds[v.kind].file);
		if (read_value(path, &v))
			add_value(all, &v, group);
	}
}

/* Writes the path of @name in @folder: empty, which no folder has, if it does not fit. */
static void make_path(char to[PATH_SIZE], const char *folder, const char *name)
{
	if (snprintf(to, PATH_SIZE, "%s/%s", folder, name) >= PATH_SIZE)
		to[0] = '\0';
}

/* Calls @each for the folders of @path. */
static void visit_folders(struct resctrl_values *all, const char *path, const char *group,
                          void (*each)(struct resctrl_values *, const char *, const char *,
                                       const char *))
{
	DIR *folder = opendir(path);
	const struct dirent *e;

	while (folder && (e = readdir(folder)))
		if (*e->d_name != '.' && e->d_type == DT_DIR)
			each(all, path, e->d_name, group);
	if (folder)
		closedir(folder);
}

static void read_domain_below(struct resctrl_values *all, const char *path, const char *name,
                              const char *group)
{
	char folder[PATH_SIZE];

	snprintf(folder, sizeof(folder), "%.*s", (int)(strlen(path) - strlen("/mon_data")), path);
	read_domain(all, folder, name, group);
}

static void read_group(struct resctrl_values *all, const char *path, const char *group)
{
	char data[PATH_SIZE];

	make_path(data, path, "mon_data");
	visit_folders(all, data, group, read_domain_below);
}

/* Reads a group of mon_groups. */
static void read_monitored(struct resctrl_values *all, const char *path, const char *name,
                           const char *parent)
{
	char folder[PATH_SIZE], group[PATH_SIZE];

	make_path(folder, path, name);
	if (snprintf(group, sizeof(group), "%s%smon_groups/%s", parent, *parent ? "/" : "", name) <
	    PATH_SIZE)
		read_group(all, folder, group);
}

static void read_with_monitored(struct resctrl_values *all, const char *path, const char *group)
{
	char folder[PATH_SIZE];

	read_group(all, path, group);
	make_path(folder, path, "mon_groups");
	visit_folders(all, folder, group, read_monitored);
}

/* Reads a group of the root, which has control of its own. */
static void read_control(struct resctrl_values *all, const char *path, const char *name,
                         const char *parent)
{
	char folder[PATH_SIZE];

	(void)parent;
	if (strcmp(name, "info") == 0 || strcmp(name, "mon_data") == 0 ||
	    strcmp(name, "mon_groups") == 0)
		return;
	make_path(folder, path, name);
	read_with_monitored(all, folder, name);
}

/* ---- families -------------------------------------------------------------------------------- */

/* The counted container whose number is the last part of the group's name; NULL if none has it. */
static const struct stat_target *find_container(const struct serve *s, const char *group)
{
	const char *name = strrchr(group, '/');
	struct container_path path;

	name = name ? name + 1 : group;
	for (const struct stat_target *p = s->job.targets.list;
	     s->has_containers && p < s->job.targets.list + s->job.targets.n; p++)
		if (p->labels && !p->is_hidden && read_container_path(p->label, &path) &&
		    strcmp(path.id, name) == 0)
			return p;
	return NULL;
}

static void put_value(struct exposition *x, const struct serve *s, const struct resctrl_value *v,
                      bool is_cause)
{
	const struct stat_target *p = find_container(s, v->group);
	struct label labels[MAX_TARGET_LABELS + 6];
	unsigned n = 0;

	labels[n++] = (struct label){ "resctrl_group", *v->group ? v->group : "/" };
	labels[n++] = (struct label){ "cache", v->cache };
	labels[n++] = (struct label){ "domain", v->domain };
	labels[n++] = (struct label){ "kind", kinds[v->kind].kind };
	if (is_cause)
		labels[n++] = (struct label){ "cause", v->cause };
	for (unsigned i = 0; p && i < p->n_labels; i++)
		labels[n++] = (struct label){ p->labels[i].name, p->labels[i].value };
	labels[n] = (struct label){ NULL, NULL };
	if (is_cause)
		put_whole_sample(x, labels, 1);
	else
		put_real_sample(x, labels, v->value);
}

static void put_kinds(struct exposition *x, const struct serve *s, const struct resctrl_values *all,
                      unsigned kind)
{
	begin_family(x, kinds[kind].family, kinds[kind].type, kinds[kind].unit, kinds[kind].help);
	for (unsigned i = 0; i < all->n; i++)
		if (all->at[i].is_known &&
		    strcmp(kinds[all->at[i].kind].family, kinds[kind].family) == 0)
			put_value(x, s, &all->at[i], false);
}

static void put_values(struct exposition *x, const struct serve *s,
                       const struct resctrl_values *all)
{
	put_kinds(x, s, all, 0);
	put_kinds(x, s, all, 1);
	begin_family(x, "perfmon_resctrl_cause", FAMILY_INFO, "",
	             "Why the kernel has no value of a group: its word for it.");
	for (unsigned i = 0; i < all->n; i++)
		if (!all->at[i].is_known)
			put_value(x, s, &all->at[i], true);
	begin_family(x, "perfmon_resctrl_omitted", FAMILY_GAUGE, "",
	             "Values that are not served, because there are more than 4096.");
	put_whole_sample(x, NULL, all->n_omitted);
}

void put_resctrl(struct exposition *x, const struct serve *s)
{
	struct resctrl_values all = { 0 };
	char root[PATH_SIZE];

	if (!s->has_resctrl)
		return;
	make_machine_path(ROOT, root, sizeof(root));
	read_with_monitored(&all, root, "");
	visit_folders(&all, root, "", read_control);
	x->failed |= all.has_failed;
	put_values(x, s, &all);
	while (all.n)
		free(all.at[--all.n].group);
	free(all.at);
}
