/* SPDX-License-Identifier: MIT */
/* Results from a file of sums (storage.h). The process may still add to it, and a hostile one may
 * have written anything: each offset, length and number is checked against the file and the layout,
 * and the file is read, never mapped, because a shorter file would raise SIGBUS. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/sizes.h"
#include "base/text.h"
#include "region/region.h"
#include "region/storage.h"

enum { MAX_NAMES = 1 << 24, MAX_TRIES = 100 };

static const uint64_t max_file = (uint64_t)16 << 30;

/* The limit of the cost of reading one file, all attempts together. */
struct load_budget {
	unsigned naps;   /* milliseconds that may be waited for a process that changes sums */
	unsigned tries;  /* slots that may be read again */
	uint64_t bytes;  /* of events, names and visits in memory */
	bool is_too_big; /* the bytes were not enough */
};

static const struct load_budget whole_budget = { .naps = 200,
	                                         .tries = 100000,
	                                         .bytes = (uint64_t)1 << 30 };

struct reader {
	int fd;
	uint64_t size;
	struct region_file_header header;
	struct region_chunk *undo; /* a copy; NULL: no merge is in progress */
	pfm_region_results_t *r;
	struct region_loaded *to;
	struct entry *entry; /* memory for one */
	unsigned rows;       /* room in r->rows */
	struct load_budget *budget;
	int rc;
};

static bool fail(struct reader *in, int rc)
{
	in->rc = in->rc ? in->rc : rc;
	return false;
}

/* Takes @n bytes of memory from the budget. */
static bool charge(struct reader *in, uint64_t n)
{
	if (n > in->budget->bytes) {
		in->budget->is_too_big = true;
		return fail(in, PFMLIB_ERR_INVAL);
	}
	in->budget->bytes -= n;
	return true;
}

static bool read_at(const struct reader *in, uint64_t at, void *to, size_t n)
{
	char *next = to;

	while (n) {
		ssize_t got = pread(in->fd, next, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		next += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

/* ---- names ------------------------------------------------------------------------------- */

bool pfmi_loaded_add_name(struct region_loaded *to, const char *bytes, size_t length)
{
	const uint32_t number = to->last_number + 1;

	if ((number & (number - 1)) == 0 || number == LAST_OWN_REGION + 1) {
		size_t room = 1;
		char **more;

		while (room <= number)
			room *= 2;
		more = realloc(to->names, room * sizeof(*more));
		if (!more)
			return false;
		if (!to->names)
			memset(more, 0, room * sizeof(*more));
		to->names = more;
	}
	to->names[number] = calloc(1, length + 1);
	if (!to->names[number])
		return false;
	memcpy(to->names[number], bytes, length);
	to->last_number = number;
	return true;
}

/* Names are in the order of their numbers. */
static bool add_name(struct reader *in, uint32_t number, const char *bytes, uint32_t length)
{
	if (number != in->to->last_number + 1 || number > MAX_NAMES)
		return fail(in, PFMLIB_ERR_INVAL);
	return pfmi_loaded_add_name(in->to, bytes, length) || fail(in, PFMLIB_ERR_NOMEM);
}

static bool read_names(struct reader *in, const struct region_chunk *c)
{
	const char *at = (const char *)(c + 1), *end = (const char *)c + c->bytes;

	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t words[2];
		size_t left = (size_t)(end - at), bytes;

		if (left < sizeof(words))
			return fail(in, PFMLIB_ERR_INVAL);
		memcpy(words, at, sizeof(words));
		bytes = sizeof(words) + (((size_t)words[1] + 7) & ~(size_t)7);
		if (left < bytes)
			return fail(in, PFMLIB_ERR_INVAL);
		if (!add_name(in, words[0], at + sizeof(words), words[1]))
			return false;
		at += bytes;
	}
	return true;
}

/* ---- sums -------------------------------------------------------------------------------- */

static bool is_region(const struct reader *in, uint32_t number)
{
	return number > LAST_OWN_REGION && number <= in->to->last_number;
}

/* Adds the row of in->entry, unless it is of a region that is newer than the names that were
 * read. */
static bool add_row(struct reader *in, const struct region_chunk *c, bool is_torn)
{
	const struct entry *e = in->entry;
	struct result_row *row;

	if (!is_region(in, e->region) || (e->parent && !is_region(in, e->parent)))
		return true;
	row = pfmi_results_add_row(in->r, &in->rows);
	if (!row)
		return fail(in, PFMLIB_ERR_NOMEM);
	if (pfmi_results_fill_row(in->r, row, e, c->tid > 0 ? c->tid : -1)) {
		row->is_torn = is_torn;
		return true;
	}
	free(row->tallies);
	in->r->n--;
	return true;
}

static uint32_t read_sequence(const struct reader *in, uint64_t slot)
{
	uint32_t sequence = 1;

	(void)read_at(in,
	              slot + in->header.private_bytes + offsetof(struct entry, sequence) -
	                      offsetof(struct entry, region),
	              &sequence, sizeof(sequence));
	return sequence;
}

/* Lets a process that was interrupted in the middle of a change go on. False if no more time is to
 * be spent. */
static bool nap(struct reader *in)
{
	const struct timespec millisecond = { .tv_nsec = 1000000 };

	if (!in->budget->naps || in->header.state != REGION_FILE_RUNNING)
		return false;
	in->budget->naps--;
	nanosleep(&millisecond, NULL);
	return true;
}

static bool may_try_again(struct reader *in, unsigned tries)
{
	if (in->header.state != REGION_FILE_RUNNING || !in->budget->tries)
		return false;
	in->budget->tries--;
	return tries < MAX_TRIES || nap(in);
}

/* Reads the slot at @slot of the file into in->entry, between two changes. False if the process is
 * in the middle of one, or has ended there. */
static bool read_slot(struct reader *in, uint64_t slot)
{
	for (unsigned i = 0; !i || may_try_again(in, i); i++) {
		uint32_t before = read_sequence(in, slot);

		if (!read_at(in, slot + in->header.private_bytes, &in->entry->region,
		             in->header.slot_bytes - in->header.private_bytes))
			return false;
		if (!(before & 1) && read_sequence(in, slot) == before)
			return true;
	}
	return false;
}

static bool read_sums(struct reader *in, const struct region_chunk *c, uint64_t offset)
{
	const uint32_t bytes = in->header.slot_bytes;

	if (c->n > (c->bytes - sizeof(*c)) / bytes)
		return fail(in, PFMLIB_ERR_INVAL);
	in->r->missed += c->missed;
	in->r->unmatched += c->unmatched;
	if (c->unmatched && is_region(in, c->unmatched_region))
		in->r->unmatched_region = c->unmatched_region;
	for (uint32_t i = 0; i < c->n; i++) {
		const uint64_t slot = offset + sizeof(*c) + (uint64_t)i * bytes;
		const bool is_whole = read_slot(in, slot),
			   is_target = in->undo && slot == in->header.merge_target,
			   is_source = in->undo && slot == in->header.merge_source;

		if (is_target)
			memcpy(&in->entry->region,
			       (const char *)(in->undo + 1) + in->header.private_bytes,
			       bytes - in->header.private_bytes);
		if (!in->entry->threads && is_source)
			in->entry->threads = 1;
		if (in->entry->threads && !add_row(in, c, !is_whole && !is_target))
			return false;
	}
	return true;
}

/* ---- visits one by one ------------------------------------------------------------------- */

static bool keep_buffer(struct region_loaded *to, void *buffer)
{
	void **more = realloc(to->buffers, (to->n_buffers + 1) * sizeof(*more));

	if (!more)
		return false;
	to->buffers = more;
	more[to->n_buffers++] = buffer;
	return true;
}

static bool add_visit(struct region_loaded *to, struct visit_slice *v)
{
	if (to->n_visits == to->visits_room) {
		size_t room = to->visits_room ? 2 * to->visits_room : 256;
		struct visit_slice **more = realloc(to->visits, room * sizeof(*more));

		if (!more)
			return false;
		to->visits = more;
		to->visits_room = room;
	}
	to->visits[to->n_visits++] = v;
	return true;
}

static bool read_visits(struct reader *in, const struct region_chunk *c, uint64_t offset)
{
	const size_t each = in->header.visit_bytes, first = sizeof(*c) + VISITS_PRIVATE_BYTES;
	char *buffer;

	if (c->bytes < first || c->n > (c->bytes - first) / each)
		return fail(in, PFMLIB_ERR_INVAL);
	if (!charge(in, c->n * each))
		return false;
	buffer = malloc(c->n * each + 1);
	if (!buffer || !keep_buffer(in->to, buffer)) {
		free(buffer);
		return fail(in, PFMLIB_ERR_NOMEM);
	}
	if (!read_at(in, offset + first, buffer, c->n * each))
		return fail(in, PFMLIB_ERR_INVAL);
	for (uint32_t i = 0; i < c->n; i++) {
		struct visit_slice *v = (struct visit_slice *)(void *)(buffer + i * each);

		if (is_region(in, v->region) && v->begin <= v->end && !add_visit(in->to, v))
			return fail(in, PFMLIB_ERR_NOMEM);
	}
	return true;
}

/* ---- chunks ------------------------------------------------------------------------------ */

/* Reads a chunk as a whole; to be freed. NULL without memory. */
static struct region_chunk *read_whole(struct reader *in, const struct region_chunk *head,
                                       uint64_t offset)
{
	struct region_chunk *c = charge(in, head->bytes) ? malloc(head->bytes) : NULL;

	if (c && read_at(in, offset, c, head->bytes)) {
		/* The process may have changed its length since then. */
		c->bytes = head->bytes;
		return c;
	}
	fail(in, c ? PFMLIB_ERR_INVAL : PFMLIB_ERR_NOMEM);
	free(c);
	return NULL;
}

/* Reads events; the sizes of slots and visits must be those of these events. */
static bool read_events(struct reader *in, const struct region_chunk *c)
{
	struct layout *l = &in->to->layout;
	char *list;

	if (in->entry || c->n != 1)
		return fail(in, PFMLIB_ERR_INVAL);
	list = pfmi_storage_read_events(l, c + 1, c->bytes - sizeof(*c));
	if (!list)
		return fail(in, PFMLIB_ERR_INVAL);
	pfmi_layout_open_metrics(l, list);
	free(list);
	if (in->header.private_bytes > REGION_FILE_PAGE ||
	    in->header.slot_bytes != in->header.private_bytes + pfmi_entry_get_size(l) -
	                                     offsetof(struct entry, region) ||
	    in->header.visit_bytes != pfmi_slice_get_size(l))
		return fail(in, PFMLIB_ERR_INVAL);
	in->entry = calloc(1, pfmi_entry_get_size(l));
	return in->entry || fail(in, PFMLIB_ERR_NOMEM);
}

/* Keeps the sums that a merge in progress changes. */
static bool read_undo(struct reader *in, const struct region_chunk *c, uint64_t offset)
{
	if (!in->header.merge_target || in->undo)
		return true;
	if (c->bytes - sizeof(*c) < in->header.slot_bytes)
		return fail(in, PFMLIB_ERR_INVAL);
	in->undo = read_whole(in, c, offset);
	return in->undo != NULL;
}

/* Reads what the second pass needs. */
static bool read_first(struct reader *in, const struct region_chunk *head, uint64_t offset)
{
	struct region_chunk *c;
	bool is_read = true;

	if (head->kind == CHUNK_UNDO)
		return read_undo(in, head, offset);
	if (head->kind != CHUNK_EVENTS && head->kind != CHUNK_NAMES)
		return true;
	c = read_whole(in, head, offset);
	if (!c)
		return false;
	is_read = head->kind == CHUNK_EVENTS ? read_events(in, c) : read_names(in, c);
	free(c);
	return is_read;
}

static bool read_second(struct reader *in, const struct region_chunk *head, uint64_t offset)
{
	if (head->kind == CHUNK_SUMS)
		return read_sums(in, head, offset);
	return head->kind != CHUNK_VISITS || read_visits(in, head, offset);
}

/* Calls @read with each chunk. */
static bool for_each_chunk(struct reader *in,
                           bool (*read)(struct reader *in, const struct region_chunk *c,
                                        uint64_t at))
{
	struct region_chunk c;

	for (uint64_t at = REGION_FILE_PAGE; at + REGION_FILE_PAGE <= in->size;
	     at += c.kind ? c.bytes : REGION_FILE_PAGE) {
		if (!read_at(in, at, &c, sizeof(c)))
			return fail(in, PFMLIB_ERR_INVAL);
		if (!c.kind)
			continue;
		if (c.bytes < REGION_FILE_PAGE || c.bytes % REGION_FILE_PAGE ||
		    c.bytes > in->size - at)
			return fail(in, PFMLIB_ERR_INVAL);
		if (!read(in, &c, at))
			return false;
	}
	return true;
}

/* ---- the file ---------------------------------------------------------------------------- */

static bool read_header(struct reader *in)
{
	struct region_file_header *h = &in->header;
	struct stat s;

	if (fstat(in->fd, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size < REGION_FILE_PAGE ||
	    (uint64_t)s.st_size > max_file || !read_at(in, 0, h, sizeof(*h)) ||
	    memcmp(h->magic, REGION_FILE_MAGIC, sizeof(h->magic)) != 0 ||
	    h->version != REGION_FILE_VERSION || h->order != REGION_FILE_ORDER || h->pid <= 0 ||
	    !pfmi_storage_is_cost(h->wall_inside) || !pfmi_storage_is_cost(h->wall_pair) ||
	    !pfmi_storage_is_cost(h->task_inside) || !pfmi_storage_is_uncertainty(&h->inside) ||
	    !pfmi_storage_is_uncertainty(&h->pair))
		return fail(in, PFMLIB_ERR_INVAL);
	in->size = (uint64_t)s.st_size;
	h->program[sizeof(h->program) - 1] = '\0';
	return true;
}

static void fill_results(struct reader *in)
{
	const struct region_file_header *h = &in->header;
	struct layout *l = &in->to->layout;

	in->r->loaded = in->to;
	in->r->layout = l;
	in->r->flags = h->flags;
	in->r->process = (struct region_process){ .pid = h->pid,
		                                  .rank = h->rank,
		                                  .has_ended = h->state == REGION_FILE_ENDED,
		                                  .is_incomplete = h->lost != 0,
		                                  .start_time = h->start_time };
	memcpy(in->r->process.program, h->program, sizeof(h->program));
	in->to->last_number = LAST_OWN_REGION;
	in->to->dropped = h->dropped;
}

static bool read_file(struct reader *in)
{
	in->r = calloc(1, sizeof(*in->r));
	in->to = calloc(1, sizeof(*in->to));
	if (!in->r || !in->to) {
		free(in->to);
		return fail(in, PFMLIB_ERR_NOMEM);
	}
	fill_results(in);
	if (!for_each_chunk(in, read_first))
		return false;
	if (!in->entry)
		return fail(in, PFMLIB_ERR_INVAL);
	in->to->layout.wall_inside = in->header.wall_inside;
	in->to->layout.wall_pair = in->header.wall_pair;
	in->to->layout.task_inside = in->header.task_inside;
	in->to->layout.inside = in->header.inside;
	in->to->layout.pair = in->header.pair;
	if (!for_each_chunk(in, read_second))
		return false;
	return pfmi_results_add_sums(in->r, &in->rows) || fail(in, PFMLIB_ERR_NOMEM);
}

/* Reads the file once. *@is_stable: threads were not merged meanwhile. */
static int load_once(int fd, struct load_budget *budget, pfm_region_results_t **results,
                     bool *is_stable)
{
	struct reader in = { .fd = fd, .budget = budget };
	struct region_file_header after;

	*results = NULL;
	*is_stable = true;
	if (read_header(&in) && read_file(&in))
		*is_stable = read_at(&in, 0, &after, sizeof(after)) &&
		             after.merges == in.header.merges &&
		             after.merge_target == in.header.merge_target;
	free(in.entry);
	free(in.undo);
	if (in.rc)
		pfm_close_region_results(in.r);
	else
		*results = in.r;
	return in.rc;
}

int pfm_load_regions(int fd, pfm_region_results_t **results, pfm_error_t *error)
{
	pfm_error_t mine, *why = base_choose_error_struct(error, &mine);
	struct load_budget budget = whole_budget;
	bool is_stable = false;
	int rc = PFMLIB_ERR_INVAL;

	if (!results)
		return base_return_error(error, why, pfmi_base_refuse_argument(why, "results"));
	for (unsigned i = 0; i < MAX_TRIES && !is_stable; i++) {
		if (i)
			pfm_close_region_results(*results);
		budget.bytes = whole_budget.bytes;
		rc = load_once(fd, &budget, results, &is_stable);
	}
	if (rc == PFMLIB_ERR_NOMEM)
		pfmi_base_set_no_memory_error(why);
	else if (rc && budget.is_too_big)
		pfmi_base_refuse_argument(why, "more than 1 GiB of names and visits, or damaged");
	else if (rc)
		pfmi_base_refuse_argument(why, "not a file of sums of regions, or damaged");
	return base_return_error(error, why, rc);
}
