/* SPDX-License-Identifier: MIT */
/* perf.data, the format of recordings: what its writer and its reader share. Numbers have the byte
 * order of the machine that wrote them. */
#ifndef PERFMON_DATA_H
#define PERFMON_DATA_H

#include "session/perf_event.h"
#include "sampling/sampling.h"

/* "PERFILE2" on a machine that writes the lowest byte first */
#define PERFDATA_MAGIC      0x32454c4946524550ULL
#define PERFDATA_N_FEATURES 256u
/* How the description of a pretended machine's processor begins (PERFDATA_FEATURE_CPUDESC). */
#define PERFDATA_PRETENDED_CPU "pretended: "
/* And that of a recording by an emulator, which names it. */
#define PERFDATA_SIMULATED_CPU "simulated: "

struct perfdata_section {
	uint64_t offset, size;
};

struct perfdata_header {
	/* attr_size: of an entry: attributes, then a section of ids */
	uint64_t magic, size, attr_size;
	struct perfdata_section attrs, data, event_types;
	uint64_t features[PERFDATA_N_FEATURES / 64];
};

/* Features: sections after the data, by kind. */
enum {
	PERFDATA_FEATURE_TRACING = 1,
	PERFDATA_FEATURE_HOSTNAME = 3,
	PERFDATA_FEATURE_OSRELEASE = 4,
	PERFDATA_FEATURE_VERSION = 5,
	PERFDATA_FEATURE_ARCH = 6,
	PERFDATA_FEATURE_NRCPUS = 7,
	PERFDATA_FEATURE_CPUDESC = 8,
	PERFDATA_FEATURE_TOTAL_MEM = 10,
	PERFDATA_FEATURE_CMDLINE = 11,
	PERFDATA_FEATURE_EVENT_DESC = 12,
	PERFDATA_FEATURE_CPU_TOPOLOGY = 13,
	PERFDATA_FEATURE_NUMA_TOPOLOGY = 14,
	PERFDATA_FEATURE_SAMPLE_TIME = 21,
	PERFDATA_FEATURE_MEM_TOPOLOGY = 22,
	PERFDATA_FEATURE_CLOCKID = 23,
	PERFDATA_FEATURE_COMPRESSED = 27,
	PERFDATA_FEATURE_CLOCK_DATA = 29
};

/* Types of records that the kernel does not write. */
enum {
	PERFDATA_RECORD_USER_FIRST = 64,
	PERFDATA_RECORD_ATTR = 64,
	PERFDATA_RECORD_TRACING_DATA = 66,
	PERFDATA_RECORD_FINISHED_ROUND = 68,
	PERFDATA_RECORD_AUXTRACE = 71,
	PERFDATA_RECORD_EVENT_UPDATE = 78,
	PERFDATA_RECORD_COMPRESSED = 81,
	PERFDATA_RECORD_COMPRESSED2 = 83,
	PERFDATA_RECORD_USER_LAST = 83,
	PERFDATA_UPDATE_NAME = 2
};

/* ---- zstd (lib/perfdata/zstd.c) ---- */

#define MIN_UNPACK_SIZE   ((size_t)1 << 17) /* least number of bytes that are unpacked at once */
#define MAX_UNPACKED_SIZE ((size_t)1 << 26) /* limit of what one record may unpack to */

/* A queue of bytes: the first @used are consumed. */
struct byte_buffer {
	uint8_t *data;
	size_t n_consumed, end, capacity;
};

/* Reserves @n bytes at the end, and drops consumed bytes. Returns false without memory, or if
 * the queue would become too large. */
bool pfmi_perfdata_reserve_bytes(struct byte_buffer *b, size_t n);
/* Appends bytes, or a number in the byte order of this machine. False without memory. */
bool pfmi_perfdata_append_bytes(struct byte_buffer *b, const void *p, size_t n);
bool pfmi_perfdata_append_u32(struct byte_buffer *b, uint32_t v);
bool pfmi_perfdata_append_u64(struct byte_buffer *b, uint64_t v);

struct zstd_codec;
/* NULL if libzstd is missing, or without memory. */
struct zstd_codec *pfmi_perfdata_open_zstd(void);
void pfmi_perfdata_close_zstd(struct zstd_codec *z);
/* Compresses @n bytes into a whole frame. Returns its size; 0 if it does not fit. */
size_t pfmi_perfdata_compress_frame(const struct zstd_codec *z, void *to, size_t capacity,
                                    const void *from, size_t n, int level);
/* Decompresses the next @n bytes of the stream into @out. False if they are malformed, or unpack to
 * too many bytes. */
bool pfmi_perfdata_decompress_bytes(struct zstd_codec *z, struct byte_buffer *out, const void *from,
                                    size_t n);

/* Layout of the fields of the session's tracepoints in samples. False if it has none, or without
 * memory. (lib/perfdata/tracing_data.c) */
bool pfmi_perfdata_build_tracing_data(struct pfm_session *s, struct byte_buffer *out);
/* The format of tracepoint @i, as the kernel writes it; the caller frees it. NULL if count @i is
 * not a tracepoint or the format cannot be read. */
char *pfmi_perfdata_read_trace_format(const struct pfm_session *s, unsigned i);
/* True if @text describes tracepoint number @config. */
bool pfmi_perfdata_has_tracepoint_id(const char *text, uint64_t config);

/* Sections about the NUMA nodes of this machine. False if it has none, or without memory.
 * (lib/perfdata/numa_topology.c) */
bool pfmi_perfdata_build_numa_topology(const struct pfm_session *s, struct byte_buffer *out);
bool pfmi_perfdata_build_memory_topology(const struct pfm_session *s, struct byte_buffer *out);

/* The formats of tracepoints in the recording, or NULL. *@foreign is set if its numbers have the
 * other byte order. */
const uint8_t *pfmi_perfdata_get_tracing_data(const struct pfm_session *s, size_t *len,
                                              bool *foreign);
bool pfmi_perfdata_is_foreign_endian(const struct pfm_session *s);
/* Writes records about the state before the recording: names and mappings of the tasks that are
 * sampled. (lib/perfdata/perfdata_synthesize.c) */
typedef int (*perfdata_write_fn)(void *arg, const void *bytes, size_t size);
int pfmi_perfdata_synthesize_records(struct pfm_session *s, perfdata_write_fn put, void *arg);

#endif
