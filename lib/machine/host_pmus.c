/* SPDX-License-Identifier: MIT */
/* The tables of an image that describe this machine, each with the kernel's PMU that counts its
 * events. */
#include "machine/machine.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* Arguments of the functions that visit the tables of an image. */
struct match_state {
	struct host_pmu_list *list;
	const struct host *host;
	const struct kernel_info *kernel;
	const struct pmu_image *image;
};

static const struct kernel_pmu *find_kernel_pmu(const struct kernel_info *kernel,
                                                const char *device)
{
	if (!kernel || !*device)
		return NULL;
	return pfmi_machine_find_kernel_pmu(kernel, pfmi_base_make_slice(device));
}

/* The kernel's PMU that counts the events of @t on cores of type @core, or NULL. */
static const struct kernel_pmu *find_table_device(const struct match_state *m,
                                                  const struct table *t, unsigned core)
{
	const struct host *host = m->host;

	if (!(t->flags & TABLE_UNCORE) && host->n_core_types > core &&
	    host->core_types[core].device[0])
		return find_kernel_pmu(m->kernel, host->core_types[core].device);
	return find_kernel_pmu(m->kernel, table_get_text(t, t->device));
}

/* The kernel's core PMU if it is the only one: on arm64 the kernel names it after the processor. */
static const struct kernel_pmu *find_only_core_pmu(const struct kernel_info *kernel)
{
	const struct kernel_pmu *found = NULL;

	for (unsigned i = 0; kernel && i < kernel->n_pmus; i++)
		if (kernel->pmus[i].is_core) {
			if (found)
				return NULL;
			found = &kernel->pmus[i];
		}
	return found;
}

static bool reserve_host_pmu(struct host_pmu_list *list)
{
	bool failed = false;

	list->pmus = base_grow_list(list->pmus, list->n_pmus, &list->capacity, sizeof(*list->pmus),
	                            &failed);
	return !failed;
}

/* Adds @pmu to the list, which is sorted by number and has each number once. */
static void add_host_pmu(struct host_pmu_list *list, struct host_pmu pmu)
{
	unsigned at = list->n_pmus;

	while (at > 0 && list->pmus[at - 1].pmu_index > pmu.pmu_index)
		at--;
	if (at > 0 && list->pmus[at - 1].pmu_index == pmu.pmu_index)
		return;
	if (!reserve_host_pmu(list)) {
		list->is_out_of_memory = true;
		return;
	}
	memmove(list->pmus + at + 1, list->pmus + at, (list->n_pmus - at) * sizeof(pmu));
	list->pmus[at] = pmu;
	list->n_pmus++;
}

/* Adds a table whose "match" lines admit this machine. */
static void add_matching_table(void *arg, uint32_t table, unsigned core)
{
	const struct match_state *m = arg;
	const struct table *t = table_get_image_table(m->image->image, table);
	struct host_pmu pmu = { m->image->first_pmu + table, core, NULL };
	bool is_uncore = t->flags & TABLE_UNCORE;

	if (t->flags & (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY))
		return;
	if (t->encoder != ENCODER_PERF) {
		pmu.kernel_pmu = find_table_device(m, t, core);
		if (!pmu.kernel_pmu && !is_uncore)
			pmu.kernel_pmu = find_only_core_pmu(m->kernel);
		/* The processor may have this uncore box; this machine lacks it. */
		if (!pmu.kernel_pmu && is_uncore && m->kernel && m->kernel->n_pmus)
			return;
	}
	add_host_pmu(m->list, pmu);
}

/* Adds a table for a device that any processor may have, if the kernel shows its identifier. */
static void add_matching_device(void *arg, uint32_t table, unsigned core)
{
	const struct match_state *m = arg;
	const struct table *t = table_get_image_table(m->image->image, table);
	const struct kernel_pmu *device = find_table_device(m, t, core);

	if (device && m->image->is_usable(m->image->arg) &&
	    pfmi_machine_has_kernel_identifier(device, t))
		add_host_pmu(m->list,
		             (struct host_pmu){ m->image->first_pmu + table, core, device });
}

void pfmi_machine_match_image(struct host_pmu_list *list, const struct host *host,
                              const struct kernel_info *kernel, const struct pmu_image *image)
{
	struct match_state m = { list, host, kernel, image };

	pfmi_machine_visit_host_tables(image->image, host, 0, add_matching_table, &m);
	for (unsigned i = 0; kernel && i < kernel->n_pmus; i++)
		pfmi_machine_visit_device_tables(image->image, kernel->pmus[i].name,
		                                 add_matching_device, &m);
}
