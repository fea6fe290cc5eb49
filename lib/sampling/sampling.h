/* SPDX-License-Identifier: MIT */
/* Sampling: the buffers that the kernel writes, the records in them, and their order. */
#ifndef PERFMON_SAMPLES_H
#define PERFMON_SAMPLES_H

#include <perfmon/sampling.h>
#include <stdbool.h>
#include "base/hash.h"

#define RECORD_HEADER_SIZE 8u     /* u32 type, u16 misc, u16 size */
#define MAX_RECORD_SIZE    65536u /* larger than a u16 size can be */
/* Fields that follow every record, if samples have them. */
#define SAMPLE_TRAILER_FIELDS                                                                      \
	(PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM | PFM_SAMPLE_CPU |   \
	 PFM_SAMPLE_IDENTIFIER)

/* ---- records (record_decode.c, record_layout.c, sample_run.c) ------------------------------- */

/* The layout of an event's records: a part of its perf_event_attr. */
struct record_layout {
	uint64_t fields, read_format, branch_type, user_regs, intr_regs;
	uint32_t max_frames; /* most frames of a call chain; 0: unknown */
	/* children are sampled too, with values of their own */
	bool is_inherited;
	/* records that are not samples end with the fields that identify their event */
	bool has_trailers;
	/* mappings have build ids in place of devices if their records say so; without this flag,
	 * only if the bytes have the form of one */
	bool has_build_ids;
	/* samples consist of an identifier and the words of the first fields alone, ... */
	bool is_fixed_size;
	/* ... and each has this many bytes, the header included. Both members are set by
	 * pfmi_sampling_complete_layout(). */
	size_t sample_size;
};

struct record_header {
	uint32_t type;
	uint16_t misc, size;
};

/* Computes is_fixed_size and sample_size from the other members. */
void pfmi_sampling_complete_layout(struct record_layout *l);
/* Samples of one event that follow each other in memory. */
struct sample_run {
	const uint8_t *next_sample;
	size_t sample_size;      /* of each sample; the layout is fixed ... */
	uint64_t fields;         /* ... with these fields */
	uint64_t id, time_limit; /* time_limit: later samples do not belong to the run */
	uint64_t period;         /* of samples that do not have it */
	uint32_t count_index;
	uint64_t total_weight, n_exact; /* sums over all samples of the run */
};

/* Decodes up to @n samples from @u->at, which advances to the first that does not belong to the
 * run. Each result is that of pfmi_sampling_decode_record(), with the event and its period. If @out
 * holds a sample of the same event, only the differences are written. Returns the number of
 * samples. */
unsigned pfmi_sampling_decode_run(struct sample_run *u, pfm_record_t *out, unsigned n);
/* Decodes the record of @size bytes at @bytes, which is aligned to 8. Clears @out first, except for
 * its size. False if a length leads beyond the end; type, misc and raw are set even then. */
bool pfmi_sampling_decode_record(const struct record_layout *l, const void *bytes, size_t size,
                                 pfm_record_t *out);
/* The id of the record's event; 0 if the record does not have it. */
uint64_t pfmi_sampling_get_record_id(const struct record_layout *l, const void *bytes, size_t size);
/* The time of the record; 0 if the record does not have it. */
uint64_t pfmi_sampling_get_record_time(const struct record_layout *l, const void *bytes,
                                       size_t size);
/* Replaces the time of a sample that has one. */
void pfmi_sampling_set_sample_time(const struct record_layout *l, void *bytes, size_t size,
                                   uint64_t time);
/* Converts a record of the other byte order in place, header included. False if it is damaged. */
bool pfmi_sampling_swap_record(const struct record_layout *l, void *bytes, size_t size);

/* ---- one buffer (ring_buffer.c) ------------------------------------------------------------ */

struct perf_event_mmap_page;

struct ring_buffer {
	void *control_page; /* the kernel's page; the data follow */
	const uint8_t *data;
	uint64_t size;          /* bytes of data: a power of two */
	uint64_t head;          /* the head when this pass began */
	uint64_t tail;          /* read so far */
	uint64_t released_tail; /* the tail that the kernel has */
	/* a copy of the record that continues at the start; allocated when it is first needed */
	uint64_t *wrapped_record;
	bool is_damaged;
};

/* Initialises a ring over the mapping of @len bytes at @base. False if its page is inconsistent. */
bool pfmi_sampling_init_ring(struct ring_buffer *r, void *base, size_t len);
void pfmi_sampling_free_ring(struct ring_buffer *r);
/* The position up to which the kernel has written. The bytes before it are visible. */
uint64_t pfmi_sampling_load_ring_head(const struct perf_event_mmap_page *page);
/* Begins a pass, which ends where the kernel has written up to now. */
void pfmi_sampling_begin_ring_pass(struct ring_buffer *r);
/* The next record of this pass and its size, or NULL. It stays valid until the next call that
 * returns space. */
const void *pfmi_sampling_read_ring_record(struct ring_buffer *r, size_t *size);
/* Returns contiguous bytes of this pass for callers that copy them. *@len 0: the pass is over. */
const void *pfmi_sampling_read_ring_bytes(struct ring_buffer *r, size_t *len);
/* Returns the space of records that were read to the kernel, except for the last @keep bytes. */
void pfmi_sampling_release_ring_data(struct ring_buffer *r, size_t keep);

/* ---- samples of a session (sampling.c, sample_reader.c) ------------------------------------ */

struct session_builder;
struct session_count;
struct pfm_session;
struct perf_attr;
struct perf_attr;

/* The buffer of a CPU, or of a task on any CPU. */
struct sample_buffer {
	struct ring_buffer ring;
	void *mapping;
	size_t mapping_size;
	int cpu, pid;
	int polled_event; /* index of the event whose descriptor is polled; -1: all tasks of the
	                     buffer have ended */
	const void *next_record; /* NULL: no more records in this pass */
	size_t next_size;
	uint64_t next_time;
};

/* A CPU or task that is sampled: an event that counts nothing owns the buffer (or shares it) and
 * brings the records beside samples. */
struct side_event {
	int fd, pid, cpu;
	uint64_t id;
	unsigned buffer_index;
	bool has_ended;
};

/* Samples of one count. */
struct sample_totals {
	uint64_t n_samples, n_exact, total_weight, n_discarded, n_throttled, throttled_ns,
		throttled_since;
	struct record_layout layout;
};

/* The count that an event id of the kernel belongs to. */
struct event_id {
	uint64_t id;
	unsigned count_index;
};

/* Value of one event at the last sample of its group's leader, for each task if tasks have their
 * own values. */
struct group_value {
	uint64_t id, value;
	uint32_t tid;
};

/* State of groups of which only the leader samples: each sample has the values of all members, and
 * a sample of each member is made from it. */
struct group_values {
	struct hash_table table;
	struct group_value *last_values; /* values at the last sample */
	uint32_t n_last;
	size_t capacity;
	pfm_record_t leader_sample; /* the sample that the members' samples are made from */
	unsigned n_left;            /* members whose sample was not returned yet */
};

/* The count of a recorded sample of a software event with an unknown id. */
struct software_guess {
	unsigned n_counts; /* number of the session's counts at that time */
	int count_index;   /* -1: none */
	bool is_ambiguous; /* other counts could have taken the sample as well */
};

struct sampling_state {
	pfm_sampling_t config;
	bool lacks_lost_counts; /* the kernel does not report lost samples of each event */
	unsigned buffer_pages;  /* size of each buffer, which the kernel granted */
	unsigned n_buffers, n_side_events, n_heap;
	struct sample_buffer *buffers;
	struct side_event *side_events;
	unsigned *buffer_heap; /* streams that have a next record, as a heap: the oldest first */
	struct event_id *event_ids; /* sorted, unless id_table is used */
	struct hash_table id_table; /* of a recording: indices in event_ids by id */
	struct group_values group;
	struct software_guess software_guess;
	unsigned n_event_ids, last_id_index; /* last_id_index: the id of the last look-up */
	struct record_layout common_layout;  /* finds id and time of records of any event */
	struct sample_totals *totals;
	int last_buffer;          /* the stream of the last record; -1: no record so far */
	struct sample_run run;    /* the run of samples in that stream, ... */
	unsigned n_run_left;      /* ... and how many are left at most; 0: unknown */
	uint64_t pass_time_limit; /* records after this time wait for the next pass */
	uint64_t latest_time;     /* records after this time have that of another clock */
	uint64_t n_lost, n_bytes;
	/* recorded records whose type is unknown */
	uint32_t n_unknown_records;
	/* samples of the kernel's own events that have an unknown id and could be of several
	 * counts */
	uint64_t n_ambiguous_samples;
	/* next_bytes_buffer: 1 + the stream that pfm_next_bytes() reads, 0 between passes */
	unsigned n_damaged_buffers, next_bytes_buffer;
	struct pollfd *poll_fds;
	/* fields of tracepoints that were requested (perfdata/) */
	struct trace_format *trace_formats;
	/* set together with the first of them */
	void (*free_trace_formats)(struct sampling_state *sm);
};

/* True if records of this layout have the id of their event. */
static inline bool sampling_has_event_id(const struct record_layout *l)
{
	return l->fields & (PFM_SAMPLE_ID | PFM_SAMPLE_IDENTIFIER);
}

/* The count of event id @id, or -1. */
int pfmi_sampling_find_count(struct sampling_state *sm, uint64_t id);
/* True if a record is a sample with the id of an event that is not of this session. */
bool pfmi_sampling_is_of_other_session(struct sampling_state *sm, const void *bytes, size_t size);

/* Begins to make samples of members from @r, a recorded sample with layout @l, if only its group's
 * leader samples. Sets the period of @r to what its own event has counted since the previous
 * sample. Returns false without memory. */
bool pfmi_sampling_begin_group(struct sampling_state *sm, const struct record_layout *l,
                               pfm_record_t *r);
/* Makes the sample of the next member of the group. Returns 1, 0 after the last member, or
 * PFMLIB_ERR_NOMEM. */
int pfmi_sampling_next_member(struct sampling_state *sm, pfm_record_t *out);
void pfmi_sampling_free_group_values(struct group_values *g);

/* The kernel's default for the frames of a call chain, used if it exports no limit. */
#define DEFAULT_MAX_FRAMES 127u

void pfmi_sampling_close_buffers(struct pfm_session *s);
/* Fills the attributes of the event that brings the records beside samples. */
void pfmi_sampling_fill_side_attr(const struct pfm_session *s, struct perf_attr *a);
/* The time of @clock, in nanoseconds. (sample_reader.c) */
uint64_t pfmi_sampling_get_clock_ns(int clock);
/* Number of bytes in a buffer of @size that wake its reader. */
uint32_t pfmi_sampling_get_watermark(const struct sampling_state *sm, uint64_t size);

/* ---- samples of the counter device (pfm_device_samples.c) ---- */

/* True if the session samples with the counter device. */
bool pfmi_sampling_uses_device(const struct pfm_session *s);
extern const struct sampling_ops pfmi_sampling_ops;
extern const struct device_sampling_ops pfmi_sampling_device_ops;
/* Makes the next record, in Linux's form. Returns 1, 0 if no record is ready, or a negative
 * code. */
int pfmi_device_read_next_sample(struct pfm_session *s, const void **bytes, size_t *size);
/* Waits for a record as pfm_wait_session() does. */
int pfmi_device_wait_for_sample(struct pfm_session *s, int timeout);
/* Number of samples of count @i outside of the profiled addresses. */
uint64_t pfmi_device_count_out_of_range(const struct pfm_session *s, unsigned i);

#endif
