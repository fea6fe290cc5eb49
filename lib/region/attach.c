/* SPDX-License-Identifier: MIT */
/* The file of sums of a process, from its creation on: who the process is, what it counts, names of
 * regions, and the sums so far. */
#include <errno.h>
#include <string.h>
#include "region/region.h"
#include "region/storage.h"

static void fill_header(struct region_file_header *h)
{
	const struct layout *l = &pfmi_regions.layout;
	struct region_process process;

	pfmi_region_fill_process(&process);
	h->version = REGION_FILE_VERSION;
	h->order = REGION_FILE_ORDER;
	h->slot_bytes = (uint32_t)pfmi_entry_get_size(l);
	h->private_bytes = offsetof(struct entry, region);
	h->visit_bytes = (uint32_t)pfmi_slice_get_size(l);
	h->flags = pfmi_regions.flags;
	h->pid = process.pid;
	h->rank = process.rank;
	h->start_time = process.start_time;
	snprintf(h->program, sizeof(h->program), "%s", process.program);
	memcpy(h->magic, REGION_FILE_MAGIC, sizeof(h->magic));
}

static void put_all_names(void)
{
	for (uint32_t i = LAST_OWN_REGION + 1; i <= pfmi_region_get_last_number(); i++)
		pfmi_storage_put_name(i, pfmi_region_get_name(i));
}

static void put_events(void)
{
	const struct layout *l = &pfmi_regions.layout;
	size_t bytes = pfmi_storage_write_events(l, pfmi_regions.events, NULL);
	void *to = pfmi_storage_make_events(bytes);

	if (!to)
		return;
	pfmi_storage_write_events(l, pfmi_regions.events, to);
	pfmi_storage_commit_events();
	pfmi_storage_put_costs();
}

void pfmi_storage_attach(void)
{
	const size_t len = strlen(pfmi_regions.output);
	struct region_file_header *h;

	if (!len || pfmi_regions.output[len - 1] != '/' || pfmi_storage_get_header())
		return;
	errno = 0;
	h = pfmi_storage_open_file();
	if (!h) {
		if (errno)
			pfmi_region_print_lost_output(pfmi_regions.output, errno);
		return;
	}
	fill_header(h);
	put_events();
	put_all_names();
	for (const struct thread *t = pfmi_regions.threads; t; t = t->next)
		pfmi_storage_move_to_file(t);
}

void pfmi_storage_put_costs(void)
{
	const struct layout *l = &pfmi_regions.layout;
	struct region_file_header *h = pfmi_storage_get_header();
	void *events = h ? pfmi_storage_commit_events() : NULL;

	if (!h)
		return;
	h->wall_inside = l->wall_inside;
	h->wall_pair = l->wall_pair;
	h->task_inside = l->task_inside;
	h->inside = l->inside;
	h->pair = l->pair;
	if (events)
		pfmi_storage_write_events(l, pfmi_regions.events, events);
}
