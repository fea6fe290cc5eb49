/* SPDX-License-Identifier: MIT */
/* A recording while it is written. */
#ifndef PERFMON_RECORDING_WRITER_H
#define PERFMON_RECORDING_WRITER_H

#include "perfdata/perfdata.h"

struct pfm_recording {
	struct pfm_session *session;
	struct zstd_codec *zstd; /* NULL: data are not compressed */
	int zstd_level;
	uint64_t plain_size, packed_size; /* sizes of the data before and after compression */
	struct byte_buffer tracing_data;  /* of tracepoints; empty without tracepoints */
	struct byte_buffer numa_topology, memory_topology; /* empty if the machine exports none */
	int fd;
	int write_errno; /* of the first write that failed; later writes do nothing */
	struct perfdata_header header;
	uint64_t offset, start_time;
	char *command_line;
};

/* ---- bytes (recording_output.c) -------------------------------------------------------------- */

/* Writes at r->offset, which advances. Returns 0 or -errno of the first write that failed. */
int pfmi_perfdata_write_bytes(struct pfm_recording *r, const void *bytes, size_t n);
/* Writes whole frames, each in a record of its own, so that a reader can unpack the records before
 * a killed writer's last one. */
void pfmi_perfdata_write_packed_bytes(struct pfm_recording *r, const uint8_t *bytes, size_t n);
void pfmi_perfdata_write_u32(struct pfm_recording *r, uint32_t v);
/* Writes a text in the form of features: its padded length, then the text and the padding. */
void pfmi_perfdata_write_padded_string(struct pfm_recording *r, const char *s);

/* ---- events (recording_events.c) ------------------------------------------------------------- */

/* True for events of the file: open counts, then the event of side records, if it exists. */
bool pfmi_perfdata_is_written_event(const struct pfm_session *s, unsigned i);
void pfmi_perfdata_fill_event_attr(const struct pfm_session *s, unsigned i, struct perf_attr *a);
/* Size of the attributes of each event. It is that of the oldest version that has them all: the
 * perf of Linux 6.1 refuses larger ones. */
uint32_t pfmi_perfdata_get_attr_size(const struct pfm_session *s);
const char *pfmi_perfdata_get_event_name(const struct pfm_session *s, unsigned i);
uint32_t pfmi_perfdata_count_event_ids(const struct pfm_session *s, unsigned i);
/* The first id of count @i, which has one. */
uint64_t pfmi_perfdata_get_first_event_id(const struct pfm_session *s, unsigned i);
void pfmi_perfdata_write_event_ids(struct pfm_recording *r, unsigned i);
/* Writes ids and attributes of all events after the header, which gets the section. */
void pfmi_perfdata_write_attrs(struct pfm_recording *r);
/* Writes the names as records, too: their table is at the end, which a killed writer never
 * reaches. */
void pfmi_perfdata_write_name_records(struct pfm_recording *r);

/* ---- sections after the data (recording_features.c) ------------------------------------------ */

void pfmi_perfdata_write_features(struct pfm_recording *r);

#endif
