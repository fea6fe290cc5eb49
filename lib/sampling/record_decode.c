/* SPDX-License-Identifier: MIT */
/* From the bytes of a record to its fields. The order is the one the kernel writes, which its header's comment gives differently
 * in places. Nothing is trusted: a length leads nowhere but to the end of the record. */
#include <stdlib.h>
#include <string.h>
#include "sampling/sampling.h"

/* Bits of read_format (the lowest: enabled, running, id, group, lost) and of branch_sample_type. */
#define FORMAT_GROUP    8u
#define BRANCH_HW_INDEX ((uint64_t)1 << 17)
#define BRANCH_COUNTERS ((uint64_t)1 << 19)

#define TRAILER (PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM | PFM_SAMPLE_CPU | PFM_SAMPLE_IDENTIFIER)

/* What is left of a record. Once something did not fit, nothing fits any more. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static size_t left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static const void *take(struct cursor *c, uint64_t size)
{
	const void *p = c->at;

	if (size > left(c)) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += size;
	return p;
}

static uint64_t take_u64(struct cursor *c)
{
	const void *p = take(c, sizeof(uint64_t));
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t take_u32(struct cursor *c)
{
	const void *p = take(c, sizeof(uint32_t));
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

static uint16_t take_u16(struct cursor *c)
{
	const void *p = take(c, sizeof(uint16_t));
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

/* @n words where they lie, or NULL. A foreign file may have moved them off their boundary. */
static const uint64_t *take_words(struct cursor *c, uint64_t n)
{
	if (n > left(c) / sizeof(uint64_t) || (n && (uintptr_t)c->at % sizeof(uint64_t))) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	return take(c, n * sizeof(uint64_t));
}

/* A terminated string that fills the rest, or NULL. */
static const char *take_string(struct cursor *c)
{
	const char *s = (const char *)c->at;

	if (left(c) == 0 || !memchr(s, '\0', left(c))) {
		c->bad = true;
		return NULL;
	}
	c->at = c->end;
	return s;
}

/* ---- parts of a sample ------------------------------------------------------------------------------------------------- */

/* How many words of @format stand at @words, of which @n are there; 0 if they are not all there. */
static uint64_t read_words(uint64_t format, const void *words, uint64_t n)
{
	uint64_t each = 1 + (format >> 2 & 1) + (format >> 4 & 1); /* value, id, lost */
	uint64_t times = (format & 1) + (format >> 1 & 1), members;

	if (!(format & FORMAT_GROUP))
		return each + times <= n ? each + times : 0;
	if (n < 1 + times)
		return 0;
	memcpy(&members, words, sizeof(members));
	return members <= (n - 1 - times) / each ? 1 + times + members * each : 0;
}

static const uint64_t *take_read(struct cursor *c, uint64_t format, uint32_t *n)
{
	uint64_t words = read_words(format, c->at, left(c) / sizeof(uint64_t));

	*n = (uint32_t)words;
	if (words)
		return take_words(c, words);
	c->bad = true;
	return NULL;
}

static void take_branches(struct cursor *c, const struct layout *l, pfm_sample_t *s)
{
	uint64_t n = take_u64(c);
	const void *entries;

	s->branch_index = l->branch_type & BRANCH_HW_INDEX ? take_u64(c) : UINT64_MAX;
	if (n > left(c) / sizeof(pfm_branch_t))
		c->bad = true;
	entries = c->bad ? NULL : take_words(c, n * 3);
	if (!entries)
		return;
	s->branches = entries;
	s->n_branches = (uint32_t)n;
	if (l->branch_type & BRANCH_COUNTERS)
		take_words(c, n);
}

static void take_regs(struct cursor *c, uint64_t mask, pfm_regs_t *out)
{
	out->abi = take_u64(c);
	if (!out->abi)
		return;
	out->n = (uint32_t)__builtin_popcountll(mask);
	out->values = take_words(c, out->n);
	if (!out->values)
		out->n = 0;
}

/* True if a chain has as many frames as there may be; marks are none. */
static bool is_full(const pfm_sample_t *s, uint32_t most)
{
	uint32_t frames = 0;

	if (!most || s->n_chain < most)
		return false;
	for (uint32_t i = 0; i < s->n_chain; i++)
		frames += s->chain[i] < PFM_CHAIN_MARKER;
	return frames >= most;
}

static void take_stack(struct cursor *c, pfm_record_t *out)
{
	pfm_sample_t *s = &out->sample;
	uint64_t size = take_u64(c);

	if (!size)
		return;
	s->stack = take(c, size);
	s->stack_used = take_u64(c);
	s->stack_size = s->stack ? size : 0;
	out->cut |= s->stack && s->stack_used >= size ? PFM_CUT_STACK : 0;
	if (s->stack_used > s->stack_size)
		s->stack_used = s->stack_size;
}

static void take_weights(struct cursor *c, pfm_sample_t *s)
{
	uint64_t v = take_u64(c);

	s->weight = (uint32_t)v;
	s->weight2 = (uint16_t)(v >> 32);
	s->weight3 = (uint16_t)(v >> 48);
}

#define FIRST_FIELDS (PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP | TRAILER | PFM_SAMPLE_ADDR | PFM_SAMPLE_PERIOD)

/* Words of @fields that come before @field among the first fields of a sample. IDENTIFIER is the very first. */
static size_t words_before(uint64_t fields, uint64_t field)
{
	static const uint64_t order = PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ADDR;
	uint64_t before = fields & order & (field == PFM_SAMPLE_ID ? order : field - 1);

	return (size_t)__builtin_popcountll(before) + !!(fields & PFM_SAMPLE_IDENTIFIER);
}

void pfmi_layout_settle(struct layout *l)
{
	l->flat = l->fields & PFM_SAMPLE_IDENTIFIER && !(l->fields & ~(uint64_t)FIRST_FIELDS);
	l->size = RECORD_HEAD + sizeof(uint64_t) * (size_t)__builtin_popcountll(l->fields & FIRST_FIELDS);
}

static uint64_t word(const uint8_t **at)
{
	uint64_t v;

	memcpy(&v, *at, sizeof(v));
	*at += sizeof(v);
	return v;
}

/* The two numbers that share a word. */
static void halves(const uint8_t **at, uint32_t *first, uint32_t *second)
{
	memcpy(first, *at, sizeof(*first));
	memcpy(second, *at + sizeof(*first), sizeof(*second));
	*at += sizeof(uint64_t);
}

/* Fields of constant size that come first in a sample, a word each, at @at. */
static inline __attribute__((always_inline)) void read_identity(const uint8_t *at, uint64_t f, pfm_record_t *out)
{
	uint32_t reserved;

	if (f & PFM_SAMPLE_IDENTIFIER)
		out->id = word(&at);
	if (f & PFM_SAMPLE_IP)
		out->sample.ip = word(&at);
	if (f & PFM_SAMPLE_TID)
		halves(&at, &out->pid, &out->tid);
	if (f & PFM_SAMPLE_TIME)
		out->time = word(&at);
	if (f & PFM_SAMPLE_ADDR)
		out->sample.addr = word(&at);
	if (f & PFM_SAMPLE_ID)
		out->id = word(&at);
	if (f & PFM_SAMPLE_STREAM)
		out->stream = word(&at);
	if (f & PFM_SAMPLE_CPU)
		halves(&at, &out->cpu, &reserved);
	if (f & PFM_SAMPLE_PERIOD)
		out->sample.period = word(&at);
}

/* All of them are there, or none is taken. */
static void take_identity(struct cursor *c, uint64_t f, pfm_record_t *out)
{
	const uint8_t *at = take(c, sizeof(uint64_t) * (unsigned)__builtin_popcountll(f & FIRST_FIELDS));

	if (at)
		read_identity(at, f, out);
}

static void take_variable(struct cursor *c, const struct layout *l, pfm_record_t *out)
{
	pfm_sample_t *s = &out->sample;
	uint64_t f = l->fields;

	if (f & PFM_SAMPLE_READ) {
		s->read = take_read(c, l->read_format, &s->n_read);
		s->read_format = l->read_format;
	}
	if (f & PFM_SAMPLE_CHAIN) {
		uint64_t n = take_u64(c);

		s->chain = take_words(c, n);
		s->n_chain = s->chain ? (uint32_t)n : 0;
		out->cut |= is_full(s, l->max_stack) ? PFM_CUT_CHAIN : 0;
	}
	if (f & PFM_SAMPLE_RAW) {
		s->raw_size = take_u32(c);
		s->raw = take(c, s->raw_size);
		if (!s->raw)
			s->raw_size = 0;
	}
	if (f & PFM_SAMPLE_BRANCH)
		take_branches(c, l, s);
	if (f & PFM_SAMPLE_REGS)
		take_regs(c, l->regs, &s->regs);
	if (f & PFM_SAMPLE_STACK)
		take_stack(c, out);
}

static void take_rest(struct cursor *c, const struct layout *l, pfm_sample_t *s)
{
	uint64_t f = l->fields;

	if (f & PFM_SAMPLE_WEIGHT)
		s->weight = take_u64(c);
	else if (f & PFM_SAMPLE_WEIGHTS)
		take_weights(c, s);
	if (f & PFM_SAMPLE_SOURCE)
		s->source = take_u64(c);
	if (f & PFM_SAMPLE_TRANSACTION)
		s->transaction = take_u64(c);
	if (f & PFM_SAMPLE_INTR_REGS)
		take_regs(c, l->intr_regs, &s->intr_regs);
	if (f & PFM_SAMPLE_PHYS_ADDR)
		s->phys_addr = take_u64(c);
	if (f & PFM_SAMPLE_CGROUP)
		s->cgroup = take_u64(c);
	if (f & PFM_SAMPLE_DATA_PAGE)
		s->data_page = take_u64(c);
	if (f & PFM_SAMPLE_CODE_PAGE)
		s->code_page = take_u64(c);
	if (f & PFM_SAMPLE_AUX) {
		s->aux_size = take_u64(c);
		s->aux = take(c, s->aux_size);
	}
}

#define LIST_FIELDS (PFM_SAMPLE_READ | PFM_SAMPLE_CHAIN | PFM_SAMPLE_RAW | PFM_SAMPLE_BRANCH | PFM_SAMPLE_REGS | PFM_SAMPLE_STACK)

static void take_sample(struct cursor *c, const struct layout *l, pfm_record_t *out)
{
	take_identity(c, l->fields, out);
	if (l->fields & LIST_FIELDS)
		take_variable(c, l, out);
	if (l->fields & ~(uint64_t)(FIRST_FIELDS | LIST_FIELDS))
		take_rest(c, l, &out->sample);
	out->has = l->fields;
}

/* ---- records beside samples --------------------------------------------------------------------------------------------- */

static size_t trailer_size(uint64_t fields)
{
	return sizeof(uint64_t) * (size_t)__builtin_popcountll(fields & TRAILER);
}

/* What stands at the end of every record that is no sample; takes it off the cursor. */
static void take_trailer(struct cursor *c, const struct layout *l, pfm_record_t *out)
{
	size_t size = trailer_size(l->fields);
	struct cursor t = *c;

	if (!l->trailers)
		return;
	if (size > left(c)) {
		c->bad = true;
		return;
	}
	c->end -= size;
	t.at = c->end;
	out->has = l->fields & TRAILER;
	if (out->has & PFM_SAMPLE_TID) {
		out->pid = take_u32(&t);
		out->tid = take_u32(&t);
	}
	if (out->has & PFM_SAMPLE_TIME)
		out->time = take_u64(&t);
	if (out->has & PFM_SAMPLE_ID)
		out->id = take_u64(&t);
	if (out->has & PFM_SAMPLE_STREAM)
		out->stream = take_u64(&t);
	if (out->has & PFM_SAMPLE_CPU)
		out->cpu = take_u32(&t);
	if (out->has & PFM_SAMPLE_IDENTIFIER)
		memcpy(&out->id, c->end + size - sizeof(out->id), sizeof(out->id));
}

static void take_tasks(struct cursor *c, pfm_record_t *out)
{
	out->pid = take_u32(c);
	out->tid = take_u32(c);
	out->has |= PFM_SAMPLE_TID;
}

static void take_map(struct cursor *c, bool second, pfm_record_t *out)
{
	pfm_map_t *m = &out->map;

	take_tasks(c, out);
	m->start = take_u64(c);
	m->length = take_u64(c);
	m->offset = take_u64(c);
	if (second && out->misc & PFM_MISC_BUILD_ID) {
		const uint8_t *id = take(c, 24);

		m->build_id = id ? id + 4 : NULL;
		m->build_id_size = id && id[0] <= 20 ? id[0] : 0;
	} else if (second) {
		m->major = take_u32(c);
		m->minor = take_u32(c);
		m->inode = take_u64(c);
		m->generation = take_u64(c);
	}
	if (second) {
		m->prot = take_u32(c);
		m->flags = take_u32(c);
	}
	m->name = take_string(c);
}

static void take_fork(struct cursor *c, pfm_record_t *out)
{
	uint64_t time;

	out->pid = take_u32(c);
	out->task.ppid = take_u32(c);
	out->tid = take_u32(c);
	out->task.ptid = take_u32(c);
	time = take_u64(c);
	/* Also told at the end, and that is the time by which records are ordered. */
	if (!(out->has & PFM_SAMPLE_TIME))
		out->time = time;
	out->has |= PFM_SAMPLE_TID | PFM_SAMPLE_TIME;
}

static void take_throttle(struct cursor *c, pfm_record_t *out)
{
	out->time = take_u64(c);
	out->id = take_u64(c);
	out->stream = take_u64(c);
	out->has |= PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM;
}

static void take_ksymbol(struct cursor *c, pfm_record_t *out)
{
	out->ksymbol.addr = take_u64(c);
	out->ksymbol.length = take_u32(c);
	out->ksymbol.type = take_u16(c);
	out->ksymbol.flags = take_u16(c);
	out->ksymbol.name = take_string(c);
}

static void take_poke(struct cursor *c, pfm_record_t *out)
{
	out->poke.addr = take_u64(c);
	out->poke.old_length = take_u16(c);
	out->poke.new_length = take_u16(c);
	out->poke.bytes = take(c, (uint64_t)out->poke.old_length + out->poke.new_length);
	c->at = c->end; /* padded */
}

static void take_bpf(struct cursor *c, pfm_record_t *out)
{
	out->bpf.type = take_u16(c);
	out->bpf.flags = take_u16(c);
	out->bpf.id = take_u32(c);
	out->bpf.tag = take(c, 8);
}

static void take_aux(struct cursor *c, pfm_record_t *out)
{
	out->aux.offset = take_u64(c);
	out->aux.size = take_u64(c);
	out->aux.flags = take_u64(c);
}

static void take_own(struct cursor *c, const struct layout *l, pfm_record_t *out)
{
	switch (out->type) {
	case PFM_RECORD_MAP:
	case PFM_RECORD_MAP2: take_map(c, out->type == PFM_RECORD_MAP2, out); break;
	case PFM_RECORD_LOST:
		out->id = take_u64(c);
		out->has |= PFM_SAMPLE_ID;
		out->lost.lost = take_u64(c);
		break;
	case PFM_RECORD_LOST_SAMPLES: out->lost.lost = take_u64(c); break;
	case PFM_RECORD_COMM:
		take_tasks(c, out);
		out->comm.name = take_string(c);
		break;
	case PFM_RECORD_EXIT:
	case PFM_RECORD_FORK: take_fork(c, out); break;
	case PFM_RECORD_THROTTLE:
	case PFM_RECORD_UNTHROTTLE: take_throttle(c, out); break;
	case PFM_RECORD_READ:
		take_tasks(c, out);
		out->read.words = take_read(c, l->read_format, &out->read.n);
		out->read.format = l->read_format;
		break;
	case PFM_RECORD_AUX: take_aux(c, out); break;
	case PFM_RECORD_ITRACE_START: take_tasks(c, out); break;
	case PFM_RECORD_SWITCH: break;
	case PFM_RECORD_SWITCH_CPU:
		out->change.other_pid = take_u32(c);
		out->change.other_tid = take_u32(c);
		break;
	case PFM_RECORD_NAMESPACES:
		take_tasks(c, out);
		out->namespaces.n = take_u64(c);
		if (out->namespaces.n <= left(c) / 16)
			out->namespaces.links = take_words(c, out->namespaces.n * 2);
		else
			c->bad = true;
		break;
	case PFM_RECORD_KSYMBOL: take_ksymbol(c, out); break;
	case PFM_RECORD_BPF: take_bpf(c, out); break;
	case PFM_RECORD_CGROUP:
		out->cgroup.id = take_u64(c);
		out->cgroup.path = take_string(c);
		break;
	case PFM_RECORD_TEXT_POKE: take_poke(c, out); break;
	case PFM_RECORD_AUX_ID: out->aux_id.id = take_u64(c); break;
	default: break;
	}
}

/* In pieces that compilers write out as stores: what they make of the whole costs more than all the rest. */
static void clear(pfm_record_t *r)
{
	enum { PIECE = 64 };
	size_t at = 0;

	for (; at + PIECE <= sizeof(*r); at += PIECE)
		memset((uint8_t *)r + at, 0, PIECE);
	memset((uint8_t *)r + at, 0, sizeof(*r) % PIECE);
}

/* What every record has. */
static inline void begin(const struct record_head *head, const void *bytes, size_t size, pfm_record_t *out)
{
	out->size = sizeof(*out);
	out->type = head->type;
	out->misc = head->misc;
	out->event = PFM_NO_EVENT;
	out->raw = bytes;
	out->raw_size = (uint32_t)size;
}

/* What is the same in all samples of a run. */
static __attribute__((noinline)) void begin_alike(const struct run *u, uint64_t has, pfm_record_t *out)
{
	const struct record_head head = { PFM_RECORD_SAMPLE, 0, 0 };

	clear(out);
	begin(&head, NULL, u->size, out);
	out->event = u->event;
	out->has = has;
	out->id = u->id;
	out->sample.period = u->period;
}

/* True if @out holds a sample of the run's event, in which everything else is zero. Ids are the kernel's, no two sessions have the same. */
static inline bool is_alike(const struct run *u, uint64_t has, const pfm_record_t *out)
{
	return out->type == PFM_RECORD_SAMPLE && out->has == has && out->id == u->id && out->event == u->event && out->raw_size == u->size;
}

/* One run. A caller that knows the fields gets a loop that does not look at them; the copy of what was asked stays in registers. */
static inline __attribute__((always_inline)) unsigned take_run(struct run *asked, uint64_t fields, pfm_record_t *out, unsigned n)
{
	const struct run u = { asked->at, asked->size, fields, asked->id, asked->limit, 0, asked->event, 0, 0 };
	const uint64_t has = fields | PFM_SAMPLE_PERIOD;
	const size_t time_at = fields & PFM_SAMPLE_TIME ? sizeof(uint64_t) * words_before(fields, PFM_SAMPLE_TIME) : 0;
	const uint8_t *at = u.at;
	uint64_t weight = 0, exact = 0;
	unsigned k = 0;

	for (; k < n; k++, at += u.size) {
		const uint8_t *id = at + RECORD_HEAD, *time = id + time_at, *rest = id + sizeof(uint64_t);
		struct record_head head;

		memcpy(&head, at, sizeof(head));
		if (head.type != PFM_RECORD_SAMPLE || head.size != u.size || word(&id) != u.id || (time_at && word(&time) > u.limit))
			break;
		if (!is_alike(&u, has, &out[k]))
			begin_alike(asked, has, &out[k]);
		out[k].misc = head.misc;
		out[k].raw = at;
		read_identity(rest, fields & ~(uint64_t)PFM_SAMPLE_IDENTIFIER, &out[k]);
		exact += (head.misc & PFM_MISC_EXACT) != 0;
		weight += fields & PFM_SAMPLE_PERIOD ? out[k].sample.period : 0;
	}
	asked->at = at;
	asked->exact = exact;
	asked->weight = fields & PFM_SAMPLE_PERIOD ? weight : k * asked->period;
	return k;
}

/* What is sampled unless something else is asked for; the kernel's own events leave out the period. */
#define USUAL_FIELDS (PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_CPU)

unsigned pfmi_record_run(struct run *u, pfm_record_t *out, unsigned n)
{
	switch (u->fields) {
	case USUAL_FIELDS: return take_run(u, USUAL_FIELDS, out, n);
	case USUAL_FIELDS | PFM_SAMPLE_PERIOD: return take_run(u, USUAL_FIELDS | PFM_SAMPLE_PERIOD, out, n);
	default: return take_run(u, u->fields, out, n);
	}
}

bool pfmi_record_decode(const struct layout *l, const void *bytes, size_t size, pfm_record_t *out)
{
	struct cursor c = { (const uint8_t *)bytes + RECORD_HEAD, (const uint8_t *)bytes + size, false };
	struct record_head head;

	memcpy(&head, bytes, sizeof(head));
	clear(out);
	begin(&head, bytes, size, out);
	if (head.type == PFM_RECORD_SAMPLE) {
		take_sample(&c, l, out);
	} else if (head.type > 0 && head.type <= PFM_RECORD_AUX_ID) {
		take_trailer(&c, l, out);
		if (!c.bad)
			take_own(&c, l, out);
	}
	out->unread = (uint32_t)left(&c);
	/* Of a record that says more than it has, nothing is handed out: there may be lengths without anything behind them. */
	if (c.bad) {
		clear(out);
		begin(&head, bytes, size, out);
	}
	return !c.bad;
}

/* ---- one field alone ----------------------------------------------------------------------------------------------------- */

static uint64_t word_at(const void *bytes, size_t size, size_t at)
{
	uint64_t v = 0;

	if (at >= RECORD_HEAD && size >= sizeof(v) && at <= size - sizeof(v))
		memcpy(&v, (const uint8_t *)bytes + at, sizeof(v));
	return v;
}

static uint32_t type_of(const void *bytes)
{
	uint32_t type;

	memcpy(&type, bytes, sizeof(type));
	return type;
}

uint64_t pfmi_record_id(const struct layout *l, const void *bytes, size_t size)
{
	static const uint64_t after = PFM_SAMPLE_ID | PFM_SAMPLE_STREAM | PFM_SAMPLE_CPU;

	if (!(l->fields & (PFM_SAMPLE_ID | PFM_SAMPLE_IDENTIFIER)))
		return 0;
	if (type_of(bytes) == PFM_RECORD_SAMPLE)
		return word_at(bytes, size,
		               RECORD_HEAD + 8 * (l->fields & PFM_SAMPLE_IDENTIFIER ? 0 : words_before(l->fields, PFM_SAMPLE_ID)));
	if (!l->trailers || size < 16 || type_of(bytes) > PFM_RECORD_AUX_ID)
		return 0;
	if (l->fields & PFM_SAMPLE_IDENTIFIER)
		return word_at(bytes, size, size - 8);
	return word_at(bytes, size, size - 8 * (size_t)__builtin_popcountll(l->fields & after));
}

uint64_t pfmi_record_time(const struct layout *l, const void *bytes, size_t size)
{
	static const uint64_t after = PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM | PFM_SAMPLE_CPU | PFM_SAMPLE_IDENTIFIER;
	size_t back;

	if (!(l->fields & PFM_SAMPLE_TIME))
		return 0;
	if (type_of(bytes) == PFM_RECORD_SAMPLE)
		return word_at(bytes, size, RECORD_HEAD + 8 * words_before(l->fields, PFM_SAMPLE_TIME));
	back = 8 * (size_t)__builtin_popcountll(l->fields & after);
	return l->trailers && size >= back && type_of(bytes) <= PFM_RECORD_AUX_ID ? word_at(bytes, size, size - back) : 0;
}
