/* SPDX-License-Identifier: MIT */
/* A ring buffer: the kernel writes at its head, and this library reads at its tail. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "sampling/sampling.h"

static struct perf_event_mmap_page *get_control_page(const struct ring_buffer *r)
{
	return r->control_page;
}

bool pfmi_sampling_init_ring(struct ring_buffer *r, void *base, size_t len)
{
	const struct perf_event_mmap_page *page = base;
	uint64_t size = page->data_size, offset = page->data_offset;

	*r = (struct ring_buffer){ .control_page = base };
	if (size == 0 || (size & (size - 1)) || size < RECORD_HEADER_SIZE || offset > len ||
	    size > len - offset)
		return false;
	r->data = (const uint8_t *)base + offset;
	r->size = size;
	r->head = r->tail = r->released_tail = page->data_tail;
	return true;
}

void pfmi_sampling_free_ring(struct ring_buffer *r)
{
	free(r->wrapped_record);
	*r = (struct ring_buffer){ 0 };
}

/* On machines that access 64 bits in two steps, the kernel writes 32 bits at a time as well. So the
 * head is read until it stays the same, and the tail is written in halves, of which the kernel
 * reads the low one. */
uint64_t pfmi_sampling_load_ring_head(const struct perf_event_mmap_page *page)
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

static void store_ring_tail(struct perf_event_mmap_page *page, uint64_t tail)
{
#if __GCC_ATOMIC_LLONG_LOCK_FREE == 2
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
#else
	volatile __u64 *to = &page->data_tail;

	__atomic_thread_fence(__ATOMIC_RELEASE);
	*to = tail;
#endif
}

/* Acquire: bytes that were written before the head moved must be visible after the head is read. */
void pfmi_sampling_begin_ring_pass(struct ring_buffer *r)
{
	r->head = pfmi_sampling_load_ring_head(get_control_page(r));
	if (r->head - r->tail > r->size)
		r->is_damaged = true;
}

/* Release: bytes must be read before the kernel may overwrite them. */
void pfmi_sampling_release_ring_data(struct ring_buffer *r, size_t keep)
{
	if (r->released_tail == r->tail - keep)
		return;
	r->released_tail = r->tail - keep;
	store_ring_tail(get_control_page(r), r->released_tail);
}

/* Joins the two parts of a record that continues at the start of the buffer. */
static const void *join_wrapped_record(struct ring_buffer *r, uint64_t at, size_t size)
{
	size_t first = (size_t)(r->size - at);

	if (!r->wrapped_record)
		r->wrapped_record = malloc(MAX_RECORD_SIZE);
	if (!r->wrapped_record)
		return NULL;
	memcpy(r->wrapped_record, r->data + at, first);
	memcpy((uint8_t *)r->wrapped_record + first, r->data, size - first);
	return r->wrapped_record;
}

const void *pfmi_sampling_read_ring_record(struct ring_buffer *r, size_t *size)
{
	uint64_t at = r->tail & (r->size - 1), left = r->head - r->tail;
	struct record_header head;
	const void *record;

	if (r->is_damaged || left == 0)
		return NULL;
	/* All sizes are multiples of 8, so a header never wraps around the end. */
	memcpy(&head, r->data + at, sizeof(head));
	if (head.size < RECORD_HEADER_SIZE || head.size % 8 || head.size > left) {
		r->is_damaged = true;
		return NULL;
	}
	record = at + head.size <= r->size ? r->data + at : join_wrapped_record(r, at, head.size);
	if (!record)
		return NULL; /* no memory: the record stays in the buffer */
	*size = head.size;
	r->tail += head.size;
	return record;
}

const void *pfmi_sampling_read_ring_bytes(struct ring_buffer *r, size_t *len)
{
	uint64_t at = r->tail & (r->size - 1), left = r->is_damaged ? 0 : r->head - r->tail;

	*len = (size_t)(left < r->size - at ? left : r->size - at);
	r->tail += *len;
	return r->data + at;
}
