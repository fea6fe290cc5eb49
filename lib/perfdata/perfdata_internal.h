/* SPDX-License-Identifier: MIT */
/* State of the reader of recordings. */
#ifndef PERFMON_PERFDATA_INTERNAL_H
#define PERFMON_PERFDATA_INTERNAL_H

#include <byteswap.h>
#include <string.h>
#include "perfdata/perfdata.h"
#include "perfdata/record_sorter.h"

struct perfdata_reader {
	int fd;
	bool is_foreign, is_big_endian, has_ended, is_pipe;
	bool has_build_ids; /* an event asked for them in place of devices */
	bool is_damaged; /* the file ends too early or has a bad record; the rest cannot be read */
	uint64_t n_bytes_left; /* bytes of the data section still to be read */
	uint8_t *input;        /* buffer; bytes input_start .. input_end are not used yet */
	size_t input_start, input_end;
	struct record_sorter sorter;
	struct zstd_codec *zstd;
	/* records out of a compressed record; they come before the records after it */
	struct byte_buffer unpacked;
	/* the newest time, now and at the last mark */
	uint64_t newest_time, round_time;
	uint64_t last_time; /* of the record that was read before */
	size_t ids_capacity;
	size_t counts_capacity, totals_capacity; /* of the session's events */
	/* layout of tracepoints' fields; NULL: not recorded */
	uint8_t *tracing_data;
	size_t tracing_data_size;
};

static inline uint64_t perfdata_decode_u64(const struct perfdata_reader *r, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return r->is_foreign ? bswap_64(v) : v;
}

static inline uint32_t perfdata_decode_u32(const struct perfdata_reader *r, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return r->is_foreign ? bswap_32(v) : v;
}

static inline uint16_t perfdata_decode_u16(const struct perfdata_reader *r, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return r->is_foreign ? bswap_16(v) : v;
}

/* ---- perfdata_header.c ----------------------------------------------------------------------- */

/* Reads the head of a file and finds its data. Returns 0 or a negative code. */
int pfmi_perfdata_read_header(struct pfm_session *s);
/* Reads an event that a pipe announces. Returns 0 or a negative code. */
int pfmi_perfdata_read_attr_record(struct pfm_session *s, const uint8_t *p, size_t size);
/* Reads the name of an event from a pipe. */
void pfmi_perfdata_read_update_record(struct pfm_session *s, const uint8_t *p, size_t size);
/* The layout of the first event locates the task and the time of every record, as long as the
 * events agree. */
void pfmi_perfdata_update_common_layout(struct pfm_session *s);
void pfmi_perfdata_name_unnamed_events(struct pfm_session *s);
/* Allocates memory for the formats of tracepoints. Returns false if they are too large. */
bool pfmi_perfdata_alloc_tracing_data(struct perfdata_reader *r, uint64_t size);

#endif
