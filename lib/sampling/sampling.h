/* SPDX-License-Identifier: MIT */
/* Sampling: buffers that the kernel writes, records in them, and the order in which they are
 * handed out. */
#ifndef PERFMON_SAMPLES_H
#define PERFMON_SAMPLES_H

#include <perfmon/sampling.h>
#include <stdbool.h>
#include "base/hash.h"

#define RECORD_HEADER_SIZE 8u     /* u32 type, u16 misc, u16 size */
#define MAX_RECORD_SIZE    65536u /* more than a u16 size can say */
/* Fields that follow every record, if samples have them. */
#define SAMPLE_TRAILER_FIELDS                                                                      \
	(PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM | PFM_SAMPLE_CPU |   \
	 PFM_SAMPLE_IDENTIFIER)

/* ---- records (sample_decode.c) ------------------------------------------------------------- */

/* How an event's records are laid out: a part of its perf_event_attr. */
struct record_layout {
	uint64_t fields, read_format, branch_type, user_regs, intr_regs;
	uint32_t max_frames; /* frames of a call chain, 0: not known */
	/* tasks that are born later are sampled too, with values of their own */
	bool is_inherited;
	/* records that are no samples end with the fields that tell whose they are */
	bool has_trailers;
	/* samples are an identifier, the words of their first fields and nothing else, ... */
	bool is_fixed_size;
	/* ... so many bytes with the header; set by pfmi_sampling_complete_layout() */
	size_t sample_size;
};

struct record_header {
	uint32_t type;
	uint16_t misc, size;
};

/* Works out what can be said of every sample beforehand. */
void pfmi_sampling_complete_layout(struct record_layout *l);
/* Samples of one event that follow each other in memory. */
struct sample_run {
	const uint8_t *next_sample;
	size_t sample_size;      /* of each, with a flat layout ... */
	uint64_t fields;         /* ... of these fields */
	uint64_t id, time_limit; /* limit: those of a later time are not taken */
	uint64_t period;         /* of samples that do not say it */
	uint32_t count_index;
	uint64_t total_weight, n_exact; /* of all that were taken */
};

/* Decodes up to @n samples from @u->at on, which steps on, to the first that does not belong to the
 * run. Each says what pfmi_sampling_decode_record() says of it, the event and its period as well.
 * Where @out holds a sample of the same event, only what differs is written. Returns how many there
 * were. */
unsigned pfmi_sampling_decode_run(struct sample_run *u, pfm_record_t *out, unsigned n);
/* Decodes the record at @bytes, aligned to 8, of @size bytes in all. @out is zeroed first, but for
 * its size. False if something in it points beyond its end: type, misc and raw are filled even
 * then. */
bool pfmi_sampling_decode_record(const struct record_layout *l, const void *bytes, size_t size,
                                 pfm_record_t *out);
/* The id of the event it belongs to, 0 if the record does not say. */
uint64_t pfmi_sampling_get_record_id(const struct record_layout *l, const void *bytes, size_t size);
/* Its time, 0 if the record does not say. */
uint64_t pfmi_sampling_get_record_time(const struct record_layout *l, const void *bytes,
                                       size_t size);
/* Turns a record of the other byte order into ours, in place, header included. False if it is
 * damaged. */
bool pfmi_sampling_swap_record(const struct record_layout *l, void *bytes, size_t size);

/* ---- one buffer (ring.c) ------------------------------------------------------------------- */

struct perf_event_mmap_page;

struct ring_buffer {
	void *control_page; /* the kernel's page; data after it */
	const uint8_t *data;
	uint64_t size;          /* of the data: a power of two */
	uint64_t head;          /* as it was when this pass began */
	uint64_t tail;          /* read so far */
	uint64_t released_tail; /* what the kernel has been told */
	/* for the record that goes over the end; made when first needed */
	uint64_t *wrapped_record;
	bool is_damaged;
};

/* A ring over the mapping at @base of @len bytes. False if its page says what cannot be. */
bool pfmi_sampling_init_ring(struct ring_buffer *r, void *base, size_t len);
void pfmi_sampling_free_ring(struct ring_buffer *r);
/* How far the kernel has written; what it wrote before is there to be read. */
uint64_t pfmi_sampling_load_ring_head(const struct perf_event_mmap_page *page);
/* Begins a pass: it ends where the kernel has written up to now. */
void pfmi_sampling_begin_ring_pass(struct ring_buffer *r);
/* The next record of this pass and its size, or NULL; it stays readable until the next call that
 * gives room back. */
const void *pfmi_sampling_read_ring_record(struct ring_buffer *r, size_t *size);
/* The bytes of this pass that follow each other in memory: for those who copy. *@len 0: none. */
const void *pfmi_sampling_read_ring_bytes(struct ring_buffer *r, size_t *len);
/* Returns the space of records that were read to the kernel, but for the last @keep bytes. */
void pfmi_sampling_release_ring_data(struct ring_buffer *r, size_t keep);

/* ---- samples of a session (sampling.c, sample_read.c) -------------------------------------- */

struct session_builder;
struct session_count;
struct pfm_session;
struct perf_event_attr;
union perf_attr_buffer;

/* The buffer of a CPU, or of a task on any CPU. */
struct sample_buffer {
	struct ring_buffer ring;
	void *mapping;
	size_t mapping_size;
	int cpu, pid;
	int polled_event;        /* whose descriptor is polled; -1: every task of it has ended */
	const void *next_record; /* the record that comes next, NULL: none in this pass */
	size_t next_size;
	uint64_t next_time;
};

/* A CPU or task that is watched: an event that counts nothing owns the buffer (or joins it) and
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

/* Value of one event at the last sample of its group's leader, in one task where each has its
 * own. */
struct group_value {
	uint64_t id, value;
	uint32_t tid;
};

/* Samples of a group whose leader alone samples: each holds the values of all members, from which
 * a sample of each member is made. */
struct group_values {
	struct hash_table table;
	struct group_value *last; /* values at the last sample */
	uint32_t n_last;
	size_t capacity;
	pfm_record_t leader_sample; /* the sample that is taken apart */
	unsigned n_left;            /* members whose sample was not handed out yet */
};

/* The count that a recorded sample of a software event without a known id belongs to. */
struct software_guess {
	unsigned n_counts; /* counts of the session when it was made */
	int count_index;   /* -1: none */
	bool is_ambiguous; /* other counts could have taken the sample as well */
};

struct sampling_state {
	pfm_sampling_t config;
	bool lacks_lost_counts; /* the kernel does not tell them for each event */
	unsigned buffer_pages;  /* of each buffer, as granted */
	unsigned n_buffers, n_side_events, n_heap;
	struct sample_buffer *buffers;
	struct side_event *side_events;
	unsigned *buffer_heap;      /* streams with a next record, the oldest first */
	struct event_id *event_ids; /* in order, unless id_table is used */
	struct hash_table id_table; /* of a recording: from ids to places in event_ids */
	struct group_values group;
	struct software_guess software_guess;
	unsigned n_event_ids, last_id_index; /* recent: the one that was looked up last */
	struct record_layout common_layout;  /* enough for whose and when */
	struct sample_totals *totals;
	int last_buffer;          /* the stream that gave the last record, -1: none */
	struct sample_run run;    /* samples alike, of that stream, ... */
	unsigned n_run_left;      /* ... at most so many; 0: it is not known what comes */
	uint64_t pass_time_limit; /* records after this time wait for the next pass */
	uint64_t n_lost, n_bytes;
	/* records of a recording of an unknown kind */
	uint32_t n_unknown_records;
	/* samples of the kernel's own events that carry an id of no count here, and could be of
	 * several */
	uint64_t n_ambiguous_samples;
	/* at: 1 + the stream where pfm_next_bytes() is, 0: between passes */
	unsigned n_damaged_buffers, next_bytes_buffer;
	struct pollfd *poll_fds;
	/* fields of tracepoints that were asked for (perfdata/) */
	struct trace_format *trace_formats;
	void (*free_trace_formats)(struct sampling_state *sm); /* set with the first of them */
};

/* The count with event id @id, or -1. */
int pfmi_sampling_find_count(struct sampling_state *sm, uint64_t id);

/**
 * Begin to take @r apart, a sample of a recording with layout @l, if its group's leader alone
 * samples. The period of @r becomes what its own event has counted since the sample before.
 *
 * Returns false without memory.
 */
bool pfmi_sampling_begin_group(struct sampling_state *sm, const struct record_layout *l,
                               pfm_record_t *r);
/* Makes the sample of the next member of that group, if there is one. 1, 0 or PFMLIB_ERR_NOMEM. */
int pfmi_sampling_next_member(struct sampling_state *sm, pfm_record_t *out);
void pfmi_sampling_free_group_values(struct group_values *g);

/* Frames of a call chain by default, where the kernel exports no limit. */
#define DEFAULT_MAX_FRAMES 127u

void pfmi_sampling_close_buffers(struct pfm_session *s);
/* Fills the attributes of the event that brings the records beside samples. */
void pfmi_sampling_fill_side_attr(const struct pfm_session *s, struct perf_event_attr *a);
/* How many bytes in a buffer of @size wake who waits. */
uint32_t pfmi_sampling_get_watermark(const struct sampling_state *sm, uint64_t size);

/* ---- samples of the counter device (pfm_device_samples.c) ---- */

/* True if the samples of the session are those of the counter device. */
bool pfmi_sampling_uses_device(const struct pfm_session *s);
extern const struct sampling_ops pfmi_sampling_ops;
extern const struct device_sampling_ops pfmi_sampling_device_ops;
/* The next record in Linux's form: 1, 0 for none now, or a negative code. */
int pfmi_device_read_next_sample(struct pfm_session *s, const void **bytes, size_t *size);
/* Waits for a record as pfm_wait_session() does. */
int pfmi_device_wait_for_sample(struct pfm_session *s, int timeout);
/* Samples of count @i that fell outside the addresses that are profiled. */
uint64_t pfmi_device_count_out_of_range(const struct pfm_session *s, unsigned i);

#endif
