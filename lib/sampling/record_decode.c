/* SPDX-License-Identifier: MIT */
/* Decodes the bytes of a record into fields, in the order in which the kernel writes them; the
 * comment in its header has another order in places. The bytes are not trusted: no length leads
 * beyond the end of the record. Conversion of the byte order is the same walk: a foreign cursor
 * converts each number that the decoder reads. */
#include <string.h>
#include "sampling/record_cursor.h"

enum { BUILD_ID_BYTES = 24 }; /* of a mapping: size, three zeros, and up to 20 bytes */

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

/* True if 24 bytes have the form of a build id: its size, three zeros, and zeros after it. Only the
 * sizes that linkers write are accepted, which are no major numbers of Linux's disks. */
static bool has_form_of_build_id(const uint8_t *bytes)
{
	static const uint8_t zeros[20];
	const unsigned n = bytes[0];

	return (n == 16 || n == 20) && memcmp(bytes + 1, zeros, 3) == 0 &&
	       memcmp(bytes + 4 + n, zeros, 20 - n) == 0;
}

/* True if the next bytes of a mapping are a build id. Linux 6.1 writes the bit into the records of
 * every session once another one has asked for build ids, and the device into the bytes; perf
 * inject writes build ids into recordings whose events did not ask. */
static bool is_build_id_next(const struct record_cursor *c, const struct record_layout *l,
                             const pfm_record_t *out)
{
	return out->misc & PFM_MISC_BUILD_ID &&
	       (l->has_build_ids ||
	        (get_bytes_left(c) >= BUILD_ID_BYTES && has_form_of_build_id(c->pos)));
}

static void parse_map(struct record_cursor *c, const struct record_layout *l, pfm_record_t *out)
{
	const bool second = out->type == PFM_RECORD_MAP2;
	pfm_map_t *m = &out->body.map;
	bool has_id;

	parse_task_ids(c, out);
	m->start = read_u64(c);
	m->length = read_u64(c);
	m->offset = read_u64(c);
	has_id = second && is_build_id_next(c, l, out);
	if (!has_id)
		out->misc &= (uint16_t)~PFM_MISC_BUILD_ID;
	if (has_id) {
		const uint8_t *id = read_bytes(c, BUILD_ID_BYTES);

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
	case PFM_RECORD_MAP2: parse_map(c, l, out); break;
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
		out->body.read.words =
			pfmi_sampling_parse_read_values(c, l->read_format, &out->body.read.n);
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

static void parse_record(struct record_cursor *c, const struct record_layout *l, pfm_record_t *out)
{
	if (out->type == PFM_RECORD_SAMPLE) {
		pfmi_sampling_parse_sample(c, l, out);
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
	pfmi_sampling_begin_record(&head, bytes, size, out);
	parse_record(&c, l, out);
	out->unparsed = (uint32_t)get_bytes_left(&c);
	/* A damaged record gets no fields: a length without bytes would mislead the caller. */
	if (c.is_bad)
		pfmi_sampling_begin_record(&head, bytes, size, out);
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
	pfmi_sampling_begin_record(&head, bytes, size, &fields);
	parse_record(&c, l, &fields);
	return !c.is_bad;
}
