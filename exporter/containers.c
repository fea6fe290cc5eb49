/* SPDX-License-Identifier: MIT */
/* pfm serve: labels of control groups. Those of Slurm have the number of the job, those of systemd
 * the name of the unit. With --containers, each has the labels of its container. Its series wait
 * for its names, so that none of them changes its labels; if the kubelet does not know it in time,
 * they have the numbers that the path tells. */
#include "common/pfm.h"
#include "container.h"

#include <stdlib.h>
#include <string.h>

enum { NAMING_SECONDS = 10 };

bool is_container_group(const char *path)
{
	struct container_path c;

	return read_container_path(path, &c);
}

/* Adds a label; the value is copied. An empty one is left out. */
static bool add_label(struct stat_target *p, const char *name, const char *value)
{
	struct target_label *l = &p->labels[p->n_labels];

	if (!*value)
		return true;
	*l = (struct target_label){ name, strdup(value) };
	p->n_labels += l->value != NULL;
	return l->value;
}

/* Gives the target its labels. */
static bool add_labels(struct stat_target *p, const struct container_path *path,
                       const struct named_container *c)
{
	p->labels = calloc(MAX_TARGET_LABELS, sizeof(*p->labels));
	if (!p->labels)
		return false;
	p->is_hidden = false;
	if (!c)
		return add_label(p, "pod_uid", path->pod_uid) &&
		       add_label(p, "runtime", path->runtime) &&
		       add_label(p, "container_id", path->id);
	return add_label(p, "namespace", c->namespace) && add_label(p, "pod", c->pod) &&
	       add_label(p, "container", c->container) && add_label(p, "image", c->image) &&
	       add_label(p, "container_id", path->id);
}

/* Names one container, or lets it wait. */
static void name_container(struct serve *s, struct stat_target *p)
{
	struct container_path path;
	const struct named_container *found;
	const uint64_t now = now_ns();

	if (!p->label || !read_container_path(p->label, &path))
		return;
	found = find_named_container(s, &path);
	p->seen = p->seen ? p->seen : now;
	/* A pod alone may be one whose containers the kubelet has yet to list. */
	p->is_hidden = s->kubelet && (!found || !*found->id) &&
	               now - p->seen < (uint64_t)NAMING_SECONDS * NS;
	if (p->is_hidden)
		request_names(s);
	else if (!add_labels(p, &path, found)) {
		p->is_hidden = true;
		report_no_memory();
	}
}

/* The number of the job in ".../slurm.../job_123/step_0", at its first digit; NULL if the path is
 * of no job. */
static const char *find_slurm_job(const char *path)
{
	const char *at = strstr(path, "slurm"), *job = at ? strstr(at, "/job_") : NULL;

	return job && strspn(job + 5, "0123456789") ? job + 5 : NULL;
}

/* Adds the job of a group of Slurm, and the name of a unit of systemd, to the path. */
static bool name_group(struct stat_target *p)
{
	const char *job = find_slurm_job(p->label), *unit = strrchr(p->label, '/');
	const size_t len = strlen(p->label);
	char number[24];

	unit = unit ? unit + 1 : p->label;
	if (len < 8 || strcmp(p->label + len - 8, ".service") != 0)
		unit = "";
	if (!job && !*unit)
		return true;
	snprintf(number, sizeof(number), "%.*s", job ? (int)strspn(job, "0123456789") : 0,
	         job ? job : "");
	p->labels = calloc(MAX_TARGET_LABELS, sizeof(*p->labels));
	return p->labels && add_label(p, "cgroup", p->label) && add_label(p, "slurm_job", number) &&
	       add_label(p, "unit", unit);
}

static void name_groups(struct serve *s)
{
	for (struct stat_target *p = s->job.targets.list;
	     p < s->job.targets.list + s->job.targets.n; p++) {
		if (!p->seen && p->label && !name_group(p))
			report_no_memory();
		p->seen = 1;
	}
}

void name_containers(struct serve *s)
{
	if (!s->has_containers) {
		name_groups(s);
		return;
	}
	for (struct stat_target *p = s->job.targets.list;
	     p < s->job.targets.list + s->job.targets.n; p++)
		if (p->cgroup && !p->labels)
			name_container(s, p);
	s->version++;
}
