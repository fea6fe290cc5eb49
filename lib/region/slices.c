/* SPDX-License-Identifier: MIT */
/* Slices: visits one by one, for formats that draw them on a time line.
 *
 * A thread appends to a page of its own; readers see the slices below the page's number. A thread
 * that ends leaves its page to the next one. All pages together have a limit; visits beyond it are
 * counted in the sums only, and their number is reported. */
#include <stdlib.h>
#include <sys/mman.h>
#include "region/region.h"
#include "region/storage.h"

enum { PAGE_BYTES = 16384, MAX_PAGES = 4096 };

struct slice_page {
	struct region_chunk head; /* its n is the number of slices */
	union {
		struct {
			struct slice_page *next;  /* next of all pages, the newest first */
			struct slice_page *spare; /* next of the pages that no thread writes */
		};
		char private_bytes[VISITS_PRIVATE_BYTES];
	};
	char slices[];
};

static struct {
	struct slice_page *pages, *spare;
	unsigned n_pages;
	size_t dropped; /* alone in its cache line, since all processors add to it */
} store;

static size_t get_slice_size(void)
{
	return pfmi_slice_get_size(&pfmi_regions.layout);
}

static size_t count_page_slices(void)
{
	return (PAGE_BYTES - sizeof(struct slice_page)) / get_slice_size();
}

static struct visit_slice *get_slice(struct slice_page *page, size_t i)
{
	return (struct visit_slice *)(void *)(page->slices + i * get_slice_size());
}

/* ---- writing ----------------------------------------------------------------------------- */

/* Call this with the lock held. NULL at the limit and without memory. */
static struct slice_page *make_page(void)
{
	struct slice_page *page = store.spare;

	if (page) {
		store.spare = page->spare;
		return page;
	}
	if (store.n_pages == MAX_PAGES)
		return NULL;
	page = (struct slice_page *)pfmi_storage_make_visit_chunk(PAGE_BYTES);
	if (!page)
		return NULL;
	store.n_pages++;
	page->next = store.pages;
	store.pages = page;
	return page;
}

/* Returns the page of @t that can hold one more slice; NULL without memory or at the limit. */
static struct slice_page *get_page(struct thread *t)
{
	if (t->slices && t->slices->head.n < count_page_slices())
		return t->slices;
	pfmi_regions_lock();
	do
		t->slices = make_page();
	while (t->slices && t->slices->head.n >= count_page_slices());
	pfmi_regions_unlock();
	return t->slices;
}

static void fill_slice_counts(uint64_t *counts, const struct visit *v)
{
	const struct round *r = &pfmi_regions.layout.rounds[v->round];

	for (unsigned k = 0; k < pfmi_regions.layout.n_events; k++)
		counts[k] = SLICE_NOT_COUNTED;
	for (unsigned i = 0; i < r->n && v->is_complete; i++) {
		const struct group *g = &r->groups[i];

		for (unsigned k = 0; k < g->n && pfmi_visit_has_group(v, g); k++) {
			unsigned w = g->word + GROUP_VALUES + k;

			counts[g->events[k]] = v->now[w] - v->start[w];
		}
	}
}

void pfmi_slices_add_visit(struct thread *t, uint32_t region, const struct visit *v,
                           const struct slice_times *times)
{
	struct slice_page *page = get_page(t);
	struct visit_slice *s;

	if (!page) {
		pfmi_storage_count_dropped(__atomic_add_fetch(&store.dropped, 1, __ATOMIC_RELAXED));
		return;
	}
	s = get_slice(page, page->head.n);
	s->begin = times->begin;
	s->end = times->end;
	s->wall = v->wall;
	s->pairs = v->pairs;
	s->region = region;
	s->tid = t->tid;
	s->overlaps = times->overlaps;
	fill_slice_counts(s->counts, v);
	/* Visits that measure the cost do the same work, and their slices are dropped. */
	if (!pfmi_region_is_own(region))
		__atomic_store_n(&page->head.n, page->head.n + 1, __ATOMIC_RELEASE);
}

void pfmi_slices_release_page(struct thread *t)
{
	if (!t->slices)
		return;
	t->slices->spare = store.spare;
	store.spare = t->slices;
	t->slices = NULL;
}

void pfmi_slices_forget(void)
{
	for (struct slice_page *page = store.pages, *next; page; page = next) {
		next = page->next;
		munmap(page, PAGE_BYTES);
	}
	store.pages = store.spare = NULL;
	store.n_pages = 0;
	store.dropped = 0;
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Orders by thread, then by begin, the enclosing visit first. */
static int compare_slices(const void *a, const void *b)
{
	const struct visit_slice *x = *(const struct visit_slice *const *)a;
	const struct visit_slice *y = *(const struct visit_slice *const *)b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static bool copy_loaded_list(const struct region_loaded *loaded, struct slice_list *list)
{
	*list = (struct slice_list){ .n = loaded->n_visits, .dropped = loaded->dropped };
	list->items = calloc(loaded->n_visits + 1, sizeof(struct visit_slice *));
	for (size_t i = 0; i < loaded->n_visits && list->items; i++)
		list->items[i] = loaded->visits[i];
	if (list->items)
		qsort(list->items, list->n, sizeof(struct visit_slice *), compare_slices);
	return list->items != NULL;
}

bool pfmi_slices_collect(const pfm_region_results_t *r, struct slice_list *list)
{
	size_t size = 0;

	if (r && r->loaded)
		return copy_loaded_list(r->loaded, list);
	*list = (struct slice_list){ 0 };
	pfmi_regions_lock();
	size = (size_t)store.n_pages * count_page_slices();
	list->items = calloc(size + 1, sizeof(struct visit_slice *));
	for (struct slice_page *page = store.pages; page && list->items; page = page->next) {
		size_t n = __atomic_load_n(&page->head.n, __ATOMIC_ACQUIRE);

		for (size_t i = 0; i < n; i++)
			list->items[list->n++] = get_slice(page, i);
	}
	list->dropped = __atomic_load_n(&store.dropped, __ATOMIC_RELAXED);
	pfmi_regions_unlock();
	if (list->items)
		qsort(list->items, list->n, sizeof(struct visit_slice *), compare_slices);
	return list->items != NULL;
}
