/* SPDX-License-Identifier: MIT */
/* One buffer between the kernel, which writes at its head, and us, who read at its tail. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "sampling/sampling.h"

static struct perf_event_mmap_page *page_of(const struct ring *r)
{
	return r->base;
}

bool pfmi_ring_open(struct ring *r, void *base, size_t len)
{
	const struct perf_event_mmap_page *page = base;
	uint64_t size = page->data_size, offset = page->data_offset;

	*r = (struct ring){ .base = base };
	if (size == 0 || (size & (size - 1)) || size < RECORD_HEAD || offset > len || size > len - offset)
		return false;
	r->data = (const uint8_t *)base + offset;
	r->size = size;
	r->head = r->tail = r->released = page->data_tail;
	return true;
}

void pfmi_ring_close(struct ring *r)
{
	free(r->bounce);
	*r = (struct ring){ 0 };
}

/* Where a load or store of 64 bits is not one access, the kernel's side is one of 32 bits as well: the head is read until it
 * stands still, and the tail is written by halves, of which the kernel looks at the low one. */
uint64_t pfmi_ring_head(const struct perf_event_mmap_page *page)
{
#if __GCC_ATOMIC_LLONG_LOCK_FREE == 2
	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
#else
	const volatile __u64 *head = &page->data_head;
	uint64_t seen, again = *head;

	do {
		seen = again;
		again = *head;
	} while (seen != again);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return seen;
#endif
}

static void set_tail(struct perf_event_mmap_page *page, uint64_t tail)
{
#if __GCC_ATOMIC_LLONG_LOCK_FREE == 2
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
#else
	volatile __u64 *to = &page->data_tail;

	__atomic_thread_fence(__ATOMIC_RELEASE);
	*to = tail;
#endif
}

/* What was written before the head moved must be seen after it: acquire. */
void pfmi_ring_begin(struct ring *r)
{
	r->head = pfmi_ring_head(page_of(r));
	if (r->head - r->tail > r->size)
		r->damaged = true;
}

/* What was read must be read before the kernel may write there: release. */
void pfmi_ring_release(struct ring *r, size_t keep)
{
	if (r->released == r->tail - keep)
		return;
	r->released = r->tail - keep;
	set_tail(page_of(r), r->released);
}

/* A record that goes on at the start of the buffer: its two parts, joined. */
static const void *joined(struct ring *r, uint64_t at, size_t size)
{
	size_t first = (size_t)(r->size - at);

	if (!r->bounce)
		r->bounce = malloc(RECORD_MAX);
	if (!r->bounce)
		return NULL;
	memcpy(r->bounce, r->data + at, first);
	memcpy((uint8_t *)r->bounce + first, r->data, size - first);
	return r->bounce;
}

const void *pfmi_ring_next(struct ring *r, size_t *size)
{
	uint64_t at = r->tail & (r->size - 1), left = r->head - r->tail;
	struct record_head head;
	const void *record;

	if (r->damaged || left == 0)
		return NULL;
	/* Everything in it is a multiple of 8: a header never goes over the end. */
	memcpy(&head, r->data + at, sizeof(head));
	if (head.size < RECORD_HEAD || head.size % 8 || head.size > left) {
		r->damaged = true;
		return NULL;
	}
	record = at + head.size <= r->size ? r->data + at : joined(r, at, head.size);
	if (!record)
		return NULL; /* no memory: it stays where it is */
	*size = head.size;
	r->tail += head.size;
	return record;
}

const void *pfmi_ring_span(struct ring *r, size_t *len)
{
	uint64_t at = r->tail & (r->size - 1), left = r->damaged ? 0 : r->head - r->tail;

	*len = (size_t)(left < r->size - at ? left : r->size - at);
	r->tail += *len;
	return r->data + at;
}
