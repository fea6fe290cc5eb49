/* SPDX-License-Identifier: MIT */
/* What the files of sampling share: buffers the kernel writes, records in them, and the order in which they are handed out. */
#ifndef PERFMON_SAMPLES_H
#define PERFMON_SAMPLES_H

#include <perfmon/sampling.h>
#include <stdbool.h>

#define RECORD_HEAD 8u     /* u32 type, u16 misc, u16 size */
#define RECORD_MAX  65536u /* more than a u16 size can say */
/* Fields that stand behind every record, if samples have them. */
#define TRAILER (PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM | PFM_SAMPLE_CPU | PFM_SAMPLE_IDENTIFIER)

/* ---- records (sample_decode.c) --------------------------------------------------------------------------------------- */

/* How an event's records are laid out: a part of its perf_event_attr. */
struct layout {
	uint64_t fields, read_format, branch_type, regs, intr_regs;
	uint32_t max_stack; /* frames of a call chain, 0: not known */
	bool trailers;      /* records that are no samples end with the fields that tell whose they are */
	bool flat;          /* samples are an identifier, the words of their first fields and nothing else, ... */
	size_t size;        /* ... so many bytes with the header; set by pfmi_layout_settle() */
};

struct record_head {
	uint32_t type;
	uint16_t misc, size;
};

/* Works out what can be said of every sample beforehand. */
void pfmi_layout_settle(struct layout *l);
/* Samples of one event that follow each other in memory. */
struct run {
	const uint8_t *at;
	size_t size;        /* of each, with a flat layout ... */
	uint64_t fields;    /* ... of these fields */
	uint64_t id, limit; /* limit: those of a later time are not taken */
	uint64_t period;    /* of samples that do not say it */
	uint32_t event;
	uint64_t weight, exact; /* of all that were taken */
};

/* Decodes up to @n samples from @u->at on, which steps on, to the first that does not belong to the run. Each says what
 * pfmi_record_decode() says of it, the event and its period as well. Where @out holds a sample of the same event, only what differs is
 * written. Returns how many there were. */
unsigned pfmi_record_run(struct run *u, pfm_record_t *out, unsigned n);
/* Decodes the record at @bytes, aligned to 8, of @size bytes in all. @out is zeroed first, but for its size. False if something
 * in it points beyond its end: type, misc and raw are filled even then. */
bool pfmi_record_decode(const struct layout *l, const void *bytes, size_t size, pfm_record_t *out);
/* The id of the event it belongs to, 0 if the record does not say. */
uint64_t pfmi_record_id(const struct layout *l, const void *bytes, size_t size);
/* Its time, 0 if the record does not say. */
uint64_t pfmi_record_time(const struct layout *l, const void *bytes, size_t size);
/* Turns a record of the other byte order into ours, in place, header included. False if it is damaged. */
bool pfmi_record_swap(const struct layout *l, void *bytes, size_t size);

/* ---- one buffer (ring.c) --------------------------------------------------------------------------------------------- */

struct perf_event_mmap_page;

struct ring {
	void *base; /* the kernel's page; data behind it */
	const uint8_t *data;
	uint64_t size;     /* of the data: a power of two */
	uint64_t head;     /* as it was when this pass began */
	uint64_t tail;     /* read so far */
	uint64_t released; /* what the kernel has been told */
	uint64_t *bounce;  /* for the record that goes over the end; made when first needed */
	bool damaged;
};

/* A ring over the mapping at @base of @len bytes. False if its page says what cannot be. */
bool pfmi_ring_open(struct ring *r, void *base, size_t len);
void pfmi_ring_close(struct ring *r);
/* How far the kernel has written; what it wrote before is there to be read. */
uint64_t pfmi_ring_head(const struct perf_event_mmap_page *page);
/* Looks how far the kernel has written. One pass ends there, however fast it writes on. */
void pfmi_ring_begin(struct ring *r);
/* The next record of this pass and its size, or NULL; it stays readable until the next call that gives room back. */
const void *pfmi_ring_next(struct ring *r, size_t *size);
/* The bytes of this pass that follow each other in memory: for those who copy. *@len 0: none. */
const void *pfmi_ring_span(struct ring *r, size_t *len);
/* Gives the room of what was read back to the kernel, but for the last @keep bytes. */
void pfmi_ring_release(struct ring *r, size_t keep);

/* ---- samples of a session (sampling.c, sample_read.c) ------------------------------------------------------------------ */

struct session_builder;
struct session_count;
struct pfm_session;
struct perf_event_attr;
union perf_attr_buffer;

/* One buffer: of a CPU, or of a task wherever it runs. */
struct stream {
	struct ring ring;
	void *base;
	size_t len;
	int cpu, pid;
	int place;        /* whose descriptor is polled; -1: every task of it has ended */
	const void *next; /* the record that comes next, NULL: none in this pass */
	size_t next_size;
	uint64_t next_time;
};

/* A CPU or task that is watched: an event that counts nothing owns the buffer (or joins it) and brings the records beside samples. */
struct place {
	int fd, pid, cpu;
	uint64_t id;
	unsigned stream;
	bool ended;
};

/* Samples of one count. */
struct tally {
	uint64_t samples, exact, weight, discarded, throttled, throttled_ns, since;
	struct layout layout;
};

/* From the kernel's ids to counts. */
struct known {
	uint64_t id;
	unsigned count;
};

struct sampling {
	pfm_sampling_t asked;
	bool no_losses; /* the kernel does not tell them for each event */
	unsigned pages; /* of each buffer, as granted */
	unsigned n_streams, n_places, n_heap;
	struct stream *streams;
	struct place *places;
	unsigned *heap; /* streams with a next record, the oldest first */
	struct known *known;
	unsigned n_known, recent; /* recent: the one that was looked up last */
	struct layout common;     /* enough for whose and when */
	struct tally *tallies;
	int last;       /* the stream that gave the last record, -1: none */
	struct run run; /* samples alike, of that stream, ... */
	unsigned alike; /* ... at most so many; 0: it is not known what comes */
	uint64_t until; /* records after this time wait for the next pass */
	uint64_t lost, bytes;
	uint32_t skipped;     /* records of a recording that nobody here knows */
	uint64_t strange;     /* samples of the kernel's own events that carry the id of nobody here, and could be of several */
	unsigned damaged, at; /* at: 1 + the stream where pfm_next_bytes() is, 0: between passes */
	struct pollfd *polled;
	struct trace *traces; /* fields of tracepoints that were asked for (data_fields.c) */
};

/* Frames of a call chain where nobody says otherwise and the kernel does not tell. */
#define USUAL_FRAMES 127u

/* Reads options.sampling. */
int pfmi_sampling_ask(struct session_builder *o);
void pfmi_sampling_free(struct pfm_session *s);
struct sampling;
void pfmi_data_free_fields(struct sampling *sm);
/* Settles periods and frequencies, before anything is opened. */
void pfmi_sampling_prepare(struct pfm_session *s);
/* What sampling adds to the attributes of a count. */
void pfmi_sampling_attr(const struct pfm_session *s, const struct session_count *c, struct perf_event_attr *a);
/* Asks again for an event that was refused with @err, for less where that is allowed. Returns a descriptor or -errno. */
int pfmi_sampling_settle(struct pfm_session *s, struct session_count *c, union perf_attr_buffer *a, int pid, int cpu, int group, int err);
/* Says so if the count could be opened if only it did not sample. */
void pfmi_sampling_diagnose(struct pfm_session *s, unsigned i, unsigned k, int err);
/* Maps the buffers and leads the events into them. */
int pfmi_sampling_open(struct pfm_session *s, struct pfm_error *why);
void pfmi_sampling_close(struct pfm_session *s);
/* What the event beside samples was asked for. */
void pfmi_sampling_side_attr(const struct pfm_session *s, struct perf_event_attr *a);
/* How many bytes in a buffer of @size wake who waits. */
uint32_t pfmi_sampling_mark(const struct sampling *sm, uint64_t size);
/* Enables or disables the records beside samples. */
int pfmi_sampling_command(struct pfm_session *s, unsigned long request);

#endif
