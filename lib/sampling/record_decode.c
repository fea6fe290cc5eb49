/* SPDX-License-Identifier: MIT */
/* Decodes the bytes of a record into fields, in the order in which the kernel writes them; the
 * comment in its header has another order in places. The bytes are not trusted: no length leads
 * beyond the end of the record. Conversion of the byte order is the same walk: a foreign cursor
 * converts each number that the decoder reads. */
#include <byteswap.h>
#include <string.h>
#include "sampling/sampling.h"

/* Bits of read_format (the lowest: enabled, running, id, group, lost) and of branch_sample_type. */
#define READ_FORMAT_GROUP 8u
#define BRANCH_HW_INDEX   ((uint64_t)1 << 17)
#define BRANCH_COUNTERS   ((uint64_t)1 << 19)

/* The bytes of a record that are not parsed yet. After one field that did not fit, no field
 * fits. */
struct record_cursor {
	const uint8_t *pos, *end;
	bool is_bad;
	/* The record has the other byte order: its bytes are writable, and each number is converted
	 * in place when it is read. */
	bool is_foreign;
};

static size_t get_bytes_left(const struct record_cursor *c)
{
	return (size_t)(c->end - c->pos);
}

static void refuse_record(struct record_cursor *c)
{
	c->is_bad = true;
	c->pos = c->end;
}

static const void *read_bytes(struct record_cursor *c, uint64_t size)
{
	const void *p = c->pos;

	if (size > get_bytes_left(c)) {
		refuse_record(c);
		return NULL;
	}
	c->pos += size;
	return p;
}

/* take_uN() reads a number that is known to fit, read_uN() one that may not: 0 then. */
#define DEFINE_NUMBER_READERS(bits)                                                                \
	static inline uint##bits##_t take_u##bits(struct record_cursor *c)                         \
	{                                                                                          \
		uint##bits##_t v;                                                                  \
                                                                                                   \
		memcpy(&v, c->pos, sizeof(v));                                                     \
		if (c->is_foreign) {                                                               \
			v = bswap_##bits(v);                                                       \
			memcpy((uint8_t *)(uintptr_t)c->pos, &v, sizeof(v));                       \
		}                                                                                  \
		c->pos += sizeof(v);                                                               \
		return v;                                                                          \
	}                                                                                          \
                                                                                                   \
	static uint##bits##_t read_u##bits(struct record_cursor *c)                                \
	{                                                                                          \
		if (sizeof(uint##bits##_t) <= get_bytes_left(c))                                   \
			return take_u##bits(c);                                                    \
		refuse_record(c);                                                                  \
		return 0;                                                                          \
	}

DEFINE_NUMBER_READERS(16)
DEFINE_NUMBER_READERS(32)
DEFINE_NUMBER_READERS(64)

/* Returns the next @n words, or NULL: if they do not fit, and while they are converted. In a
 * foreign file they may be unaligned. */
static const uint64_t *read_word_array(struct record_cursor *c, uint64_t n)
{
	if (n > get_bytes_left(c) / sizeof(uint64_t) ||
	    (n && !c->is_foreign && (uintptr_t)c->pos % sizeof(uint64_t))) {
		refuse_record(c);
		return NULL;
	}
	if (!c->is_foreign)
		return read_bytes(c, n * sizeof(uint64_t));
	while (n--)
		take_u64(c);
	return NULL;
}

/* Returns a terminated string that fills the rest of the record, or NULL. Text has no byte
 * order. */
static const char *read_string(struct record_cursor *c)
{
	const char *s = (const char *)c->pos;

	if (c->is_foreign)
		return NULL;
	if (get_bytes_left(c) == 0 || !memchr(s, '\0', get_bytes_left(c))) {
		refuse_record(c);
		return NULL;
	}
	c->pos = c->end;
	return s;
}

/* Returns @size bytes without a byte order at the end of the record, or NULL. */
static const void *read_last_bytes(struct record_cursor *c, uint64_t size)
{
	return c->is_foreign ? NULL : read_bytes(c, size);
}

/* ---- parts of a sample --------------------------------------------------------------------- */

/* The number of words that the values of @format have at the cursor; 0 if there are fewer. */
static uint64_t count_read_words(const struct record_cursor *c, uint64_t format)
{
	uint64_t n = get_bytes_left(c) / sizeof(uint64_t);
	uint64_t each = 1 + (format >> 2 & 1) + (format >> 4 & 1); /* value, id, lost */
	uint64_t times = (format & 1) + (format >> 1 & 1), members;

	if (!(format & READ_FORMAT_GROUP))
		return each + times <= n ? each + times : 0;
	if (n < 1 + times)
		return 0;
	memcpy(&members, c->pos, sizeof(members));
	if (c->is_foreign)
		members = bswap_64(members);
	return members <= (n - 1 - times) / each ? 1 + times + members * each : 0;
}

static const uint64_t *parse_read_values(struct record_cursor *c, uint64_t format, uint32_t *n)
{
	uint64_t words = count_read_words(c, format);

	*n = (uint32_t)words;
	if (words)
		return read_word_array(c, words);
	refuse_record(c);
	return NULL;
}

static void parse_branches(struct record_cursor *c, const struct record_layout *l, pfm_sample_t *s)
{
	uint64_t n = read_u64(c);
	const void *entries;

	s->branch_index = l->branch_type & BRANCH_HW_INDEX ? read_u64(c) : UINT64_MAX;
	if (n > get_bytes_left(c) / sizeof(pfm_branch_t)) {
		refuse_record(c);
		return;
	}
	entries = read_word_array(c, n * 3);
	if (l->branch_type & BRANCH_COUNTERS)
		read_word_array(c, n);
	if (!entries)
		return;
	s->branches = entries;
	s->branch_type = l->branch_type;
	s->n_branches = (uint32_t)n;
}

static void parse_registers(struct record_cursor *c, uint64_t mask, pfm_regs_t *out)
{
	out->abi = read_u64(c);
	if (!out->abi)
		return;
	out->n = (uint32_t)__builtin_popcountll(mask);
	out->values = read_word_array(c, out->n);
	if (!out->values)
		out->n = 0;
}

/* True if a chain has the most frames permitted. Context markers are not frames. */
static bool is_chain_full(const pfm_sample_t *s, uint32_t most)
{
	uint32_t frames = 0;

	if (!most || s->n_chain < most)
		return false;
	for (uint32_t i = 0; i < s->n_chain; i++)
		frames += s->chain[i] < PFM_CHAIN_MARKER;
	return frames >= most;
}

static void parse_user_stack(struct record_cursor *c, pfm_record_t *out)
{
	pfm_sample_t *s = &out->body.sample;
	uint64_t size = read_u64(c);

	if (!size)
		return;
	s->stack = read_bytes(c, size);
	s->stack_used = read_u64(c);
	s->stack_size = s->stack ? size : 0;
	out->truncated |= s->stack && s->stack_used >= size ? PFM_TRUNCATED_STACK : 0;
	if (s->stack_used > s->stack_size)
		s->stack_used = s->stack_size;
}

static void parse_weights(struct record_cursor *c, pfm_sample_t *s)
{
	uint64_t v = read_u64(c);

	s->weight = (uint32_t)v;
	s->weight2 = (uint16_t)(v >> 32);
	s->weight3 = (uint16_t)(v >> 48);
}

#define IDENTITY_FIELDS                                                                            \
	(PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP | SAMPLE_TRAILER_FIELDS | PFM_SAMPLE_ADDR |         \
	 PFM_SAMPLE_PERIOD)

/* Number of words of @fields before @field, among the first fields of a sample. IDENTIFIER is the
 * very first field. */
static size_t count_words_before(uint64_t fields, uint64_t field)
{
	static const uint64_t order =
		PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ADDR;
	uint64_t before = fields & order & (field == PFM_SAMPLE_ID ? order : field - 1);

	return (size_t)__builtin_popcountll(before) + !!(fields & PFM_SAMPLE_IDENTIFIER);
}

void pfmi_sampling_complete_layout(struct record_layout *l)
{
	l->is_fixed_size =
		l->fields & PFM_SAMPLE_IDENTIFIER && !(l->fields & ~(uint64_t)IDENTITY_FIELDS);
	l->sample_size =
		RECORD_HEADER_SIZE +
		sizeof(uint64_t) * (size_t)__builtin_popcountll(l->fields & IDENTITY_FIELDS);
}

/* Reads two numbers that share a word. */
static inline void take_word_halves(struct record_cursor *c, uint32_t *first, uint32_t *second)
{
	*first = take_u32(c);
	*second = take_u32(c);
}

/* Reads the fields of constant size at the start of a sample, one word each. */
static inline __attribute__((always_inline)) void
parse_identity_words(struct record_cursor *c, uint64_t f, pfm_record_t *out)
{
	uint32_t reserved;

	if (f & PFM_SAMPLE_IDENTIFIER)
		out->id = take_u64(c);
	if (f & PFM_SAMPLE_IP)
		out->body.sample.ip = take_u64(c);
	if (f & PFM_SAMPLE_TID)
		take_word_halves(c, &out->pid, &out->tid);
	if (f & PFM_SAMPLE_TIME)
		out->time = take_u64(c);
	if (f & PFM_SAMPLE_ADDR)
		out->body.sample.addr = take_u64(c);
	if (f & PFM_SAMPLE_ID)
		out->id = take_u64(c);
	if (f & PFM_SAMPLE_STREAM)
		out->stream = take_u64(c);
	if (f & PFM_SAMPLE_CPU)
		take_word_halves(c, &out->cpu, &reserved);
	if (f & PFM_SAMPLE_PERIOD)
		out->body.sample.period = take_u64(c);
}

/* Reads all of them, or nothing if the record is too short. */
static void parse_identity(struct record_cursor *c, uint64_t f, pfm_record_t *out)
{
	if (sizeof(uint64_t) * (unsigned)__builtin_popcountll(f & IDENTITY_FIELDS) <=
	    get_bytes_left(c))
		parse_identity_words(c, f, out);
	else
		refuse_record(c);
}

static void parse_variable_fields(struct record_cursor *c, const struct record_layout *l,
                                  pfm_record_t *out)
{
	pfm_sample_t *s = &out->body.sample;
	uint64_t f = l->fields;

	if (f & PFM_SAMPLE_READ) {
		s->read = parse_read_values(c, l->read_format, &s->n_read);
		s->read_format = l->read_format;
	}
	if (f & PFM_SAMPLE_CHAIN) {
		uint64_t n = read_u64(c);

		s->chain = read_word_array(c, n);
		s->n_chain = s->chain ? (uint32_t)n : 0;
		out->truncated |= is_chain_full(s, l->max_frames) ? PFM_TRUNCATED_CHAIN : 0;
	}
	if (f & PFM_SAMPLE_RAW) {
		s->raw_size = read_u32(c);
		s->raw = read_bytes(c, s->raw_size);
		if (!s->raw)
			s->raw_size = 0;
	}
	if (f & PFM_SAMPLE_BRANCH)
		parse_branches(c, l, s);
	if (f & PFM_SAMPLE_REGS) {
		parse_registers(c, l->user_regs, &s->regs);
		s->regs_mask = l->user_regs;
	}
	if (f & PFM_SAMPLE_STACK)
		parse_user_stack(c, out);
}

static void parse_late_fields(struct record_cursor *c, const struct record_layout *l,
                              pfm_sample_t *s)
{
	uint64_t f = l->fields;

	if (f & PFM_SAMPLE_WEIGHT)
		s->weight = read_u64(c);
	else if (f & PFM_SAMPLE_WEIGHTS)
		parse_weights(c, s);
	if (f & PFM_SAMPLE_SOURCE)
		s->source = read_u64(c);
	if (f & PFM_SAMPLE_TRANSACTION)
		s->transaction = read_u64(c);
	if (f & PFM_SAMPLE_INTR_REGS) {
		parse_registers(c, l->intr_regs, &s->intr_regs);
		s->intr_regs_mask = l->intr_regs;
	}
	if (f & PFM_SAMPLE_PHYS_ADDR)
		s->phys_addr = read_u64(c);
	if (f & PFM_SAMPLE_CGROUP)
		s->cgroup = read_u64(c);
	if (f & PFM_SAMPLE_DATA_PAGE)
		s->data_page = read_u64(c);
	if (f & PFM_SAMPLE_CODE_PAGE)
		s->code_page = read_u64(c);
	if (f & PFM_SAMPLE_AUX) {
		s->aux_size = read_u64(c);
		s->aux = read_last_bytes(c, s->aux_size);
	}
}

#define VARIABLE_FIELDS                                                                            \
	(PFM_SAMPLE_READ | PFM_SAMPLE_CHAIN | PFM_SAMPLE_RAW | PFM_SAMPLE_BRANCH |                 \
	 PFM_SAMPLE_REGS | PFM_SAMPLE_STACK)

static void parse_sample(struct record_cursor *c, const struct record_layout *l, pfm_record_t *out)
{
	parse_identity(c, l->fields, out);
	if (l->fields & VARIABLE_FIELDS)
		parse_variable_fields(c, l, out);
	if (l->fields & ~(uint64_t)(IDENTITY_FIELDS | VARIABLE_FIELDS))
		parse_late_fields(c, l, &out->body.sample);
	out->has = l->fields;
}

/* ---- records beside samples ---------------------------------------------------------------- */

static size_t get_trailer_size(uint64_t fields)
{
	return sizeof(uint64_t) * (size_t)__builtin_popcountll(fields & SAMPLE_TRAILER_FIELDS);
}

/* Parses the trailer of a record that is not a sample, and shortens the cursor by it. */
static void parse_trailer(struct record_cursor *c, const struct record_layout *l, pfm_record_t *out)
{
	size_t size = get_trailer_size(l->fields);
	struct record_cursor t = *c;
	uint32_t reserved;

	if (!l->has_trailers)
		return;
	if (size > get_bytes_left(c)) {
		refuse_record(c);
		return;
	}
	c->end -= size;
	t.pos = c->end;
	out->has = l->fields & SAMPLE_TRAILER_FIELDS;
	if (out->has & PFM_SAMPLE_TID)
		take_word_halves(&t, &out->pid, &out->tid);
	if (out->has & PFM_SAMPLE_TIME)
		out->time = take_u64(&t);
	if (out->has & PFM_SAMPLE_ID)
		out->id = take_u64(&t);
	if (out->has & PFM_SAMPLE_STREAM)
		out->stream = take_u64(&t);
	if (out->has & PFM_SAMPLE_CPU)
		take_word_halves(&t, &out->cpu, &reserved);
	if (out->has & PFM_SAMPLE_IDENTIFIER)
		out->id = take_u64(&t);
}

static void parse_task_ids(struct record_cursor *c, pfm_record_t *out)
{
	out->pid = read_u32(c);
	out->tid = read_u32(c);
	out->has |= PFM_SAMPLE_TID;
}

static void parse_map(struct record_cursor *c, bool second, pfm_record_t *out)
{
	pfm_map_t *m = &out->body.map;

	parse_task_ids(c, out);
	m->start = read_u64(c);
	m->length = read_u64(c);
	m->offset = read_u64(c);
	if (second && out->misc & PFM_MISC_BUILD_ID) {
		const uint8_t *id = read_bytes(c, 24);

		m->build_id = id ? id + 4 : NULL;
		m->build_id_size = id && id[0] <= 20 ? id[0] : 0;
	} else if (second) {
		m->major = read_u32(c);
		m->minor = read_u32(c);
		m->inode = read_u64(c);
		m->generation = read_u64(c);
	}
	if (second) {
		m->prot = read_u32(c);
		m->flags = read_u32(c);
	}
	m->name = read_string(c);
}

static void parse_fork(struct record_cursor *c, pfm_record_t *out)
{
	uint64_t time;

	out->pid = read_u32(c);
	out->body.task.ppid = read_u32(c);
	out->tid = read_u32(c);
	out->body.task.ptid = read_u32(c);
	time = read_u64(c);
	/* The trailer has the time too, which orders the records. */
	if (!(out->has & PFM_SAMPLE_TIME))
		out->time = time;
	out->has |= PFM_SAMPLE_TID | PFM_SAMPLE_TIME;
}

static void parse_throttle(struct record_cursor *c, pfm_record_t *out)
{
	out->time = read_u64(c);
	out->id = read_u64(c);
	out->stream = read_u64(c);
	out->has |= PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM;
}

static void parse_ksymbol(struct record_cursor *c, pfm_record_t *out)
{
	out->body.ksymbol.addr = read_u64(c);
	out->body.ksymbol.length = read_u32(c);
	out->body.ksymbol.type = read_u16(c);
	out->body.ksymbol.flags = read_u16(c);
	out->body.ksymbol.name = read_string(c);
}

static void parse_text_poke(struct record_cursor *c, pfm_record_t *out)
{
	out->body.poke.addr = read_u64(c);
	out->body.poke.old_length = read_u16(c);
	out->body.poke.new_length = read_u16(c);
	out->body.poke.bytes =
		read_last_bytes(c, (uint64_t)out->body.poke.old_length + out->body.poke.new_length);
	c->pos = c->end; /* padded */
}

static void parse_bpf(struct record_cursor *c, pfm_record_t *out)
{
	out->body.bpf.type = read_u16(c);
	out->body.bpf.flags = read_u16(c);
	out->body.bpf.id = read_u32(c);
	out->body.bpf.tag = read_last_bytes(c, 8);
}

static void parse_aux(struct record_cursor *c, pfm_record_t *out)
{
	out->body.aux.offset = read_u64(c);
	out->body.aux.size = read_u64(c);
	out->body.aux.flags = read_u64(c);
}

static void parse_deferred_chain(struct record_cursor *c, pfm_record_t *out)
{
	uint64_t n;

	out->body.deferred.cookie = read_u64(c);
	n = read_u64(c);
	out->body.deferred.chain = read_word_array(c, n);
	out->body.deferred.n = out->body.deferred.chain ? n : 0;
}

static void parse_record_body(struct record_cursor *c, const struct record_layout *l,
                              pfm_record_t *out)
{
	switch (out->type) {
	case PFM_RECORD_MAP:
	case PFM_RECORD_MAP2: parse_map(c, out->type == PFM_RECORD_MAP2, out); break;
	case PFM_RECORD_LOST:
		out->id = read_u64(c);
		out->has |= PFM_SAMPLE_ID;
		out->body.lost.lost = read_u64(c);
		break;
	case PFM_RECORD_LOST_SAMPLES: out->body.lost.lost = read_u64(c); break;
	case PFM_RECORD_COMM:
		parse_task_ids(c, out);
		out->body.comm.name = read_string(c);
		break;
	case PFM_RECORD_EXIT:
	case PFM_RECORD_FORK: parse_fork(c, out); break;
	case PFM_RECORD_THROTTLE:
	case PFM_RECORD_UNTHROTTLE: parse_throttle(c, out); break;
	case PFM_RECORD_READ:
		parse_task_ids(c, out);
		out->body.read.words = parse_read_values(c, l->read_format, &out->body.read.n);
		out->body.read.format = l->read_format;
		break;
	case PFM_RECORD_AUX: parse_aux(c, out); break;
	case PFM_RECORD_ITRACE_START: parse_task_ids(c, out); break;
	case PFM_RECORD_SWITCH: break;
	case PFM_RECORD_SWITCH_CPU:
		out->body.change.other_pid = read_u32(c);
		out->body.change.other_tid = read_u32(c);
		break;
	case PFM_RECORD_NAMESPACES:
		parse_task_ids(c, out);
		out->body.namespaces.n = read_u64(c);
		if (out->body.namespaces.n <= get_bytes_left(c) / 16)
			out->body.namespaces.links = read_word_array(c, out->body.namespaces.n * 2);
		else
			refuse_record(c);
		break;
	case PFM_RECORD_KSYMBOL: parse_ksymbol(c, out); break;
	case PFM_RECORD_BPF: parse_bpf(c, out); break;
	case PFM_RECORD_CGROUP:
		out->body.cgroup.id = read_u64(c);
		out->body.cgroup.path = read_string(c);
		break;
	case PFM_RECORD_TEXT_POKE: parse_text_poke(c, out); break;
	case PFM_RECORD_AUX_ID: out->body.aux_id.id = read_u64(c); break;
	case PFM_RECORD_DEFERRED_CHAIN: parse_deferred_chain(c, out); break;
	default: break;
	}
}

/* Clears the record and sets the members that every record has. It is cleared in pieces that
 * compilers turn into stores: for the whole structure they generate code that takes longer than all
 * other decoding. */
static void begin_record(const struct record_header *head, const void *bytes, size_t size,
                         pfm_record_t *out)
{
	enum { PIECE = 64 };
	size_t at = 0;

	for (; at + PIECE <= sizeof(*out); at += PIECE)
		memset((uint8_t *)out + at, 0, PIECE);
	memset((uint8_t *)out + at, 0, sizeof(*out) % PIECE);
	out->size = sizeof(*out);
	out->type = head->type;
	out->misc = head->misc;
	out->event = PFM_NO_EVENT;
	out->raw = bytes;
	out->raw_size = (uint32_t)size;
}

/* Sets the members that are equal in all samples of a run. */
static __attribute__((noinline)) void begin_run_record(const struct sample_run *u, uint64_t has,
                                                       pfm_record_t *out)
{
	const struct record_header head = { PFM_RECORD_SAMPLE, 0, 0 };

	begin_record(&head, NULL, u->sample_size, out);
	out->event = u->count_index;
	out->has = has;
	out->id = u->id;
	out->body.sample.period = u->period;
}

/* True if @out holds a sample of the run's event and is zero otherwise. Ids are unique in the
 * system, so they differ between sessions. */
static inline bool is_run_record(const struct sample_run *u, uint64_t has, const pfm_record_t *out)
{
	return out->type == PFM_RECORD_SAMPLE && out->has == has && out->id == u->id &&
	       out->event == u->count_index && out->raw_size == u->sample_size;
}

/* Decodes a run. Callers pass constant fields, so that their copies of the loop need not test
 * them. */
static inline __attribute__((always_inline)) unsigned
decode_sample_run(struct sample_run *asked, uint64_t fields, pfm_record_t *out, unsigned n)
{
	const struct sample_run u = { asked->next_sample,
		                      asked->sample_size,
		                      fields,
		                      asked->id,
		                      asked->time_limit,
		                      0,
		                      asked->count_index,
		                      0,
		                      0 };
	const uint64_t has = fields | PFM_SAMPLE_PERIOD;
	const size_t time_at =
		fields & PFM_SAMPLE_TIME
			? sizeof(uint64_t) * count_words_before(fields, PFM_SAMPLE_TIME)
			: 0;
	const uint8_t *at = u.next_sample;
	uint64_t weight = 0, exact = 0;
	unsigned k = 0;

	for (; k < n; k++, at += u.sample_size) {
		struct record_cursor c = { .pos = at + RECORD_HEADER_SIZE };
		struct record_cursor time = { .pos = c.pos + time_at };
		struct record_header head;

		memcpy(&head, at, sizeof(head));
		if (head.type != PFM_RECORD_SAMPLE || head.size != u.sample_size ||
		    take_u64(&c) != u.id || (time_at && take_u64(&time) > u.time_limit))
			break;
		if (!is_run_record(&u, has, &out[k]))
			begin_run_record(asked, has, &out[k]);
		out[k].misc = head.misc;
		out[k].raw = at;
		parse_identity_words(&c, fields & ~(uint64_t)PFM_SAMPLE_IDENTIFIER, &out[k]);
		exact += (head.misc & PFM_MISC_EXACT) != 0;
		weight += fields & PFM_SAMPLE_PERIOD ? out[k].body.sample.period : 0;
	}
	asked->next_sample = at;
	asked->n_exact = exact;
	asked->total_weight = fields & PFM_SAMPLE_PERIOD ? weight : k * asked->period;
	return k;
}

/* Usual fields of samples. Events of the kernel itself lack the period. */
#define USUAL_RUN_FIELDS                                                                           \
	(PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_CPU)

unsigned pfmi_sampling_decode_run(struct sample_run *u, pfm_record_t *out, unsigned n)
{
	switch (u->fields) {
	case USUAL_RUN_FIELDS: return decode_sample_run(u, USUAL_RUN_FIELDS, out, n);
	case USUAL_RUN_FIELDS | PFM_SAMPLE_PERIOD:
		return decode_sample_run(u, USUAL_RUN_FIELDS | PFM_SAMPLE_PERIOD, out, n);
	default: return decode_sample_run(u, u->fields, out, n);
	}
}

static void parse_record(struct record_cursor *c, const struct record_layout *l, pfm_record_t *out)
{
	if (out->type == PFM_RECORD_SAMPLE) {
		parse_sample(c, l, out);
	} else if (out->type > 0 && out->type <= PFM_RECORD_DEFERRED_CHAIN) {
		parse_trailer(c, l, out);
		if (!c->is_bad)
			parse_record_body(c, l, out);
	}
}

bool pfmi_sampling_decode_record(const struct record_layout *l, const void *bytes, size_t size,
                                 pfm_record_t *out)
{
	struct record_cursor c = { .pos = (const uint8_t *)bytes + RECORD_HEADER_SIZE,
		                   .end = (const uint8_t *)bytes + size };
	struct record_header head;

	memcpy(&head, bytes, sizeof(head));
	begin_record(&head, bytes, size, out);
	parse_record(&c, l, out);
	out->unparsed = (uint32_t)get_bytes_left(&c);
	/* A damaged record gets no fields: a length without bytes would mislead the caller. */
	if (c.is_bad)
		begin_record(&head, bytes, size, out);
	return !c.is_bad;
}

bool pfmi_sampling_swap_record(const struct record_layout *l, void *bytes, size_t size)
{
	struct record_cursor c = { .pos = bytes,
		                   .end = (uint8_t *)bytes + size,
		                   .is_foreign = true };
	struct record_header head;
	pfm_record_t fields;

	head.type = read_u32(&c);
	head.misc = read_u16(&c);
	head.size = read_u16(&c);
	begin_record(&head, bytes, size, &fields);
	parse_record(&c, l, &fields);
	return !c.is_bad;
}

/* ---- one field alone ----------------------------------------------------------------------- */

static uint64_t read_word_at(const void *bytes, size_t size, size_t at)
{
	uint64_t v = 0;

	if (at >= RECORD_HEADER_SIZE && size >= sizeof(v) && at <= size - sizeof(v))
		memcpy(&v, (const uint8_t *)bytes + at, sizeof(v));
	return v;
}

static uint32_t get_record_type(const void *bytes)
{
	uint32_t type;

	memcpy(&type, bytes, sizeof(type));
	return type;
}

uint64_t pfmi_sampling_get_record_id(const struct record_layout *l, const void *bytes, size_t size)
{
	static const uint64_t after = PFM_SAMPLE_ID | PFM_SAMPLE_STREAM | PFM_SAMPLE_CPU;

	if (!(l->fields & (PFM_SAMPLE_ID | PFM_SAMPLE_IDENTIFIER)))
		return 0;
	if (get_record_type(bytes) == PFM_RECORD_SAMPLE)
		return read_word_at(
			bytes, size,
			RECORD_HEADER_SIZE +
				8 * (l->fields & PFM_SAMPLE_IDENTIFIER
		                             ? 0
		                             : count_words_before(l->fields, PFM_SAMPLE_ID)));
	if (!l->has_trailers || size < 16 || get_record_type(bytes) > PFM_RECORD_DEFERRED_CHAIN)
		return 0;
	if (l->fields & PFM_SAMPLE_IDENTIFIER)
		return read_word_at(bytes, size, size - 8);
	return read_word_at(bytes, size,
	                    size - 8 * (size_t)__builtin_popcountll(l->fields & after));
}

uint64_t pfmi_sampling_get_record_time(const struct record_layout *l, const void *bytes,
                                       size_t size)
{
	static const uint64_t after = PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM |
	                              PFM_SAMPLE_CPU | PFM_SAMPLE_IDENTIFIER;
	size_t back;

	if (!(l->fields & PFM_SAMPLE_TIME))
		return 0;
	if (get_record_type(bytes) == PFM_RECORD_SAMPLE)
		return read_word_at(bytes, size,
		                    RECORD_HEADER_SIZE +
		                            8 * count_words_before(l->fields, PFM_SAMPLE_TIME));
	back = 8 * (size_t)__builtin_popcountll(l->fields & after);
	return l->has_trailers && size >= back &&
	                       get_record_type(bytes) <= PFM_RECORD_DEFERRED_CHAIN
	               ? read_word_at(bytes, size, size - back)
	               : 0;
}
