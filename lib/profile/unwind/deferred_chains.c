/* SPDX-License-Identifier: MIT */
/* User frames that follow their samples. Linux 6.19 can walk the stack when a task returns to user
 * code: the sample then ends with PFM_CHAIN_DEFERRED and a cookie, and a later record with this
 * cookie and thread has the frames. All records read meanwhile are kept, so that their order stays.
 */
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "profile/unwind/chains_internal.h"

#define MAX_WAITING_BYTES ((uint64_t)64 << 20)

/* A copy of a record. */
struct waiting_sample {
	struct waiting_sample *next, *next_of_thread;
	pfm_record_t record;
	uint64_t cookie;
	bool is_waiting; /* for its frames */
	size_t size;
	uint64_t *chain; /* with the frames, or NULL */
	uint64_t bytes[];
};

/* Samples of one thread that wait for their frames, the oldest first. */
struct waiting_thread {
	uint32_t tid;
	struct waiting_sample *first, *last;
};

static bool has_deferred_chain(const pfm_record_t *r)
{
	const pfm_sample_t *s = &r->body.sample;

	return r->type == PFM_RECORD_SAMPLE && s->n_chain >= 2 &&
	       s->chain[s->n_chain - 2] == PFM_CHAIN_DEFERRED;
}

/* Changes @*pointer, which points into the record at @from, to the same place in its copy. */
static void move_pointer(const void *pointer, const pfm_record_t *from, const void *copy)
{
	const uint8_t *at, *raw = from->raw;

	memcpy(&at, pointer, sizeof(at));
	if (at < raw || at >= raw + from->raw_size)
		return;
	at = (const uint8_t *)copy + (at - raw);
	memcpy((void *)(uintptr_t)pointer, &at, sizeof(at));
}

static void move_sample_pointers(pfm_sample_t *s, const pfm_record_t *from, const void *copy)
{
	move_pointer(&s->chain, from, copy);
	move_pointer(&s->read, from, copy);
	move_pointer(&s->raw, from, copy);
	move_pointer(&s->branches, from, copy);
	move_pointer(&s->regs.values, from, copy);
	move_pointer(&s->intr_regs.values, from, copy);
	move_pointer(&s->stack, from, copy);
	move_pointer(&s->aux, from, copy);
}

static void move_pointers(pfm_record_t *r, const pfm_record_t *from, const void *copy)
{
	switch (r->type) {
	case PFM_RECORD_SAMPLE: move_sample_pointers(&r->body.sample, from, copy); break;
	case PFM_RECORD_MAP:
	case PFM_RECORD_MAP2:
		move_pointer(&r->body.map.name, from, copy);
		move_pointer(&r->body.map.build_id, from, copy);
		break;
	case PFM_RECORD_COMM: move_pointer(&r->body.comm.name, from, copy); break;
	case PFM_RECORD_READ: move_pointer(&r->body.read.words, from, copy); break;
	case PFM_RECORD_NAMESPACES: move_pointer(&r->body.namespaces.links, from, copy); break;
	case PFM_RECORD_KSYMBOL: move_pointer(&r->body.ksymbol.name, from, copy); break;
	case PFM_RECORD_BPF: move_pointer(&r->body.bpf.tag, from, copy); break;
	case PFM_RECORD_CGROUP: move_pointer(&r->body.cgroup.path, from, copy); break;
	case PFM_RECORD_TEXT_POKE: move_pointer(&r->body.poke.bytes, from, copy); break;
	default: break;
	}
	r->raw = copy;
}

/* ---- threads --------------------------------------------------------------------------------- */

struct thread_search {
	const struct waiting_thread *list;
	uint32_t tid;
};

static bool has_tid(const void *arg, uint32_t i)
{
	const struct thread_search *s = arg;

	return s->list[i].tid == s->tid;
}

/* The thread, or NULL if it has never waited. */
static struct waiting_thread *find_thread(const struct chains *c, uint32_t tid)
{
	const struct thread_search search = { c->threads, tid };
	uint32_t at =
		pfmi_base_find_hash(&c->thread_table, pfmi_base_hash_number(tid), has_tid, &search);

	return at == HASH_NOT_FOUND ? NULL : &c->threads[at];
}

/* The thread, which is added if it is new. NULL without memory. */
static struct waiting_thread *add_thread(struct chains *c, uint32_t tid)
{
	struct waiting_thread *t = find_thread(c, tid);
	bool failed = false;

	if (t)
		return t;
	c->threads = base_grow_list(c->threads, c->n_threads, &c->threads_capacity,
	                            sizeof(*c->threads), &failed);
	if (failed || !pfmi_base_add_hash(&c->thread_table, pfmi_base_hash_number(tid),
	                                  (uint32_t)c->n_threads))
		return NULL;
	c->threads[c->n_threads] = (struct waiting_thread){ .tid = tid };
	return &c->threads[c->n_threads++];
}

/* Adds @w, which waits, to the samples of its thread. False without memory. */
static bool add_to_thread(struct chains *c, struct waiting_sample *w)
{
	struct waiting_thread *t = add_thread(c, w->record.tid);

	if (!t)
		return false;
	*(t->first ? &t->last->next_of_thread : &t->first) = w;
	t->last = w;
	return true;
}

/* Removes the oldest sample of @t, or returns NULL. */
static struct waiting_sample *take_oldest(struct waiting_thread *t)
{
	struct waiting_sample *w = t ? t->first : NULL;

	if (w)
		t->first = w->next_of_thread;
	return w;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Keeps a copy of @r. False without memory. */
static bool queue_record(struct chains *c, const pfm_record_t *r)
{
	size_t size = sizeof(struct waiting_sample) + r->raw_size;
	struct waiting_sample *w = calloc(1, size + sizeof(uint64_t));

	if (!w)
		return false;
	memcpy(w->bytes, r->raw, r->raw_size);
	w->record = *r;
	w->size = size;
	w->is_waiting = has_deferred_chain(r);
	if (w->is_waiting)
		w->cookie = r->body.sample.chain[r->body.sample.n_chain - 1];
	move_pointers(&w->record, r, w->bytes);
	if (w->is_waiting && !add_to_thread(c, w)) {
		free(w);
		return false;
	}
	*(c->last_waiting ? &c->last_waiting->next : &c->first_waiting) = w;
	c->last_waiting = w;
	c->waiting_bytes += size;
	return true;
}

/* Replaces the marker and the cookie by @n frames. False without memory. */
static bool replace_marker_by_frames(struct waiting_sample *w, const uint64_t *frames, size_t n)
{
	pfm_sample_t *s = &w->record.body.sample;
	uint32_t before = s->n_chain - 2;

	w->is_waiting = false;
	w->chain = malloc((before + n + 1) * sizeof(*w->chain));
	if (!w->chain)
		return false;
	if (before)
		memcpy(w->chain, s->chain, before * sizeof(*w->chain));
	if (n)
		memcpy(w->chain + before, frames, n * sizeof(*w->chain));
	s->chain = w->chain;
	s->n_chain = before + (uint32_t)n;
	return true;
}

/* Gives up waiting for the frames of a sample. */
static bool complete_without_frames(struct waiting_sample *w)
{
	w->record.truncated |= PFM_TRUNCATED_CHAIN;
	return replace_marker_by_frames(w, NULL, 0);
}

/* Cookies of a thread increase: samples with a smaller cookie have lost their frames. */
static bool read_deferred_chain(struct chains *c, const pfm_record_t *r)
{
	struct waiting_thread *t = find_thread(c, r->tid);
	struct waiting_sample *w;
	bool is_given = true;

	while (is_given && (w = take_oldest(t)))
		is_given = w->cookie == r->body.deferred.cookie
		                   ? replace_marker_by_frames(w, r->body.deferred.chain,
		                                              (size_t)r->body.deferred.n)
		                   : complete_without_frames(w);
	return is_given;
}

static bool complete_thread_without_frames(struct chains *c, uint32_t tid)
{
	struct waiting_thread *t = find_thread(c, tid);
	struct waiting_sample *w;
	bool is_given = true;

	while (is_given && (w = take_oldest(t)))
		is_given = complete_without_frames(w);
	return is_given;
}

static void free_waiting_sample(struct waiting_sample *w)
{
	if (w)
		free(w->chain);
	free(w);
}

/* May more records wait? */
static bool has_space(struct chains *c)
{
	if (!c->waiting.limit)
		c->waiting = (struct budget){ .messages = c->messages,
			                      .file = "the recording",
			                      .subject = "call chains",
			                      .unit = "bytes of records that wait for frames",
			                      .limit = MAX_WAITING_BYTES };
	return budget_allows(&c->waiting, c->waiting_bytes);
}

bool chains_take_record(struct chains *c, pfm_record_t *record)
{
	struct waiting_sample *w = c->first_waiting;

	if (!w)
		return false;
	/* It is the oldest of its thread as well. */
	if (w->is_waiting && (c->has_ended || !has_space(c))) {
		take_oldest(find_thread(c, w->record.tid));
		c->failed |= !complete_without_frames(w);
	}
	if (w->is_waiting)
		return false;
	free_waiting_sample(c->handed_out);
	c->handed_out = w;
	c->first_waiting = w->next;
	if (!c->first_waiting)
		c->last_waiting = NULL;
	c->waiting_bytes -= w->size;
	*record = w->record;
	return true;
}

bool chains_hold_record(struct chains *c, const pfm_record_t *record)
{
	if (record->type == PFM_RECORD_DEFERRED_CHAIN) {
		c->failed |= !read_deferred_chain(c, record);
		return true;
	}
	if (record->type == PFM_RECORD_EXIT)
		c->failed |= !complete_thread_without_frames(c, record->tid);
	if (!c->first_waiting && !has_deferred_chain(record))
		return false;
	c->failed |= !queue_record(c, record);
	return true;
}

void chains_end(struct chains *c)
{
	c->has_ended = true;
}

void chains_free_waiting(struct chains *c)
{
	for (struct waiting_sample *w = c->first_waiting, *next; w; w = next) {
		next = w->next;
		free_waiting_sample(w);
	}
	free_waiting_sample(c->handed_out);
	c->first_waiting = c->last_waiting = c->handed_out = NULL;
	free(c->threads);
	pfmi_base_free_hash(&c->thread_table);
}
