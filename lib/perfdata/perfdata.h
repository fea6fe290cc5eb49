/* SPDX-License-Identifier: MIT */
/* perf.data, the file of recordings: what its writer and its reader share. Numbers are those of the machine that wrote it. */
#ifndef PERFMON_DATA_H
#define PERFMON_DATA_H

#include "session/session.h"
#include "sampling/sampling.h"

#define DATA_MAGIC     0x32454c4946524550ULL /* "PERFILE2" on a machine that writes the lowest byte first */
#define DATA_ATTR_SIZE 128u                  /* readers of Linux 6.1 refuse more */
#define DATA_NO_BITS   256u

struct data_section {
	uint64_t offset, size;
};

struct data_head {
	uint64_t magic, size, attr_size; /* attr_size: of an entry: attributes, then a section of ids */
	struct data_section attrs, data, types;
	uint64_t features[DATA_NO_BITS / 64];
};

/* Features: what a section behind the data says. */
enum { DATA_TRACING = 1,
       DATA_HOSTNAME = 3,
       DATA_OSRELEASE = 4,
       DATA_VERSION = 5,
       DATA_ARCH = 6,
       DATA_NRCPUS = 7,
       DATA_TOTAL_MEM = 10,
       DATA_CMDLINE = 11,
       DATA_EVENT_DESC = 12,
       DATA_CPU_TOPOLOGY = 13,
       DATA_SAMPLE_TIME = 21,
       DATA_CLOCKID = 23,
       DATA_PACKED = 27,
       DATA_CLOCK_DATA = 29 };

/* Types of records that the kernel does not write. */
enum { DATA_USER_TYPES = 64,
       DATA_ATTR = 64,
       DATA_TRACING_DATA = 66,
       DATA_FINISHED_ROUND = 68,
       DATA_AUXTRACE = 71,
       DATA_EVENT_UPDATE = 78,
       DATA_COMPRESSED = 81,
       DATA_COMPRESSED2 = 83,
       DATA_LAST = 83,
       DATA_UPDATE_NAME = 2 };

/* ---- zstd (lib/perfdata/zstd.c) ---- */

#define ZSTD_STEP    ((size_t)1 << 17) /* unpacked at a time, at least */
#define UNPACKED_MAX ((size_t)1 << 26) /* no record makes more, whatever it says */

/* Bytes in memory, of which @used are done with. */
struct bytes {
	uint8_t *at;
	size_t used, end, room;
};

/* Room for @n more behind the end; what is done with goes. False without memory, or where it would be too much. */
bool pfmi_bytes_room(struct bytes *b, size_t n);

struct zstd;
/* NULL if this machine has no libzstd (or no memory). */
struct zstd *pfmi_zstd_open(void);
void pfmi_zstd_close(struct zstd *z);
/* A whole frame of @n bytes; its size, 0 if it does not fit. */
size_t pfmi_zstd_pack(const struct zstd *z, void *to, size_t room, const void *from, size_t n, int level);
/* Adds what @n further bytes of the stream stand for. False if they are none of it, or it is too much. */
bool pfmi_zstd_unpack(struct zstd *z, struct bytes *out, const void *from, size_t n);

/* How the fields of the session's tracepoints lie in samples. False if it has none, or without memory. (lib/perfdata/tracing_data.c) */
bool pfmi_data_formats(struct pfm_session *s, struct bytes *out);
/* The same of count @i alone, as the kernel writes it; the caller frees it. NULL if it is no tracepoint or that cannot be read. */
char *pfmi_data_format(const struct pfm_session *s, unsigned i);
/* True if @text describes tracepoint number @config. */
bool pfmi_data_is_format(const char *text, uint64_t config);

/* The next record of a recording that is read: 1, 0 at its end, or a negative code. (lib/perfdata/perfdata_read.c) */
int pfmi_data_next(struct pfm_session *s, bool go_on, const void **bytes, size_t *size);
void pfmi_data_close(struct pfm_session *s);
/* What it says of tracepoints' fields, or NULL; *@foreign: its numbers are of the other byte order. */
const uint8_t *pfmi_data_tracing(const struct pfm_session *s, size_t *len, bool *foreign);
bool pfmi_data_foreign(const struct pfm_session *s);
/* True if it ended before its end. */
bool pfmi_data_damaged(const struct pfm_session *s);
/* Records that say what was there before: names and mappings of the tasks that are watched. (lib/perfdata/perfdata_synthesize.c) */
typedef int (*pfmi_put_fn)(void *arg, const void *bytes, size_t size);
int pfmi_data_before(struct pfm_session *s, pfmi_put_fn put, void *arg);

#endif
