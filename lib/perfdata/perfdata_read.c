/* SPDX-License-Identifier: MIT */
/* Reads perf.data: ours or perf's, of either byte order, complete or cut off, from a file or a
 * pipe. The file is not trusted: every offset and size is checked. After a record for a finished
 * round, no record can be older than the round before, so that earlier ones are complete and can be
 * sorted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "perfdata/perfdata_internal.h"
#include "base/sizes.h"
#include "context/context.h"

#define INPUT_BUFFER_SIZE (1u << 18)
/* limit of bytes that are sorted at once where no record ends a round */
#define MAX_POOL_SIZE ((size_t)1 << 29)

/* ---- records ------------------------------------------------------------------------------- */

/* Makes @n bytes of input available, or fewer at the end. */
static size_t fill_input(struct perfdata_reader *r, size_t n)
{
	if (r->input_end - r->input_start >= n)
		return n;
	memmove(r->input, r->input + r->input_start, r->input_end - r->input_start);
	r->input_end -= r->input_start;
	r->input_start = 0;
	while (r->input_end < n && r->n_bytes_left) {
		size_t want = INPUT_BUFFER_SIZE - r->input_end < r->n_bytes_left
		                      ? INPUT_BUFFER_SIZE - r->input_end
		                      : (size_t)r->n_bytes_left;
		ssize_t got = read(r->fd, r->input + r->input_end, want);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		r->input_end += (size_t)got;
		r->n_bytes_left -= (uint64_t)got;
	}
	return r->input_end < n ? r->input_end : n;
}

static void skip_input(struct perfdata_reader *r, uint64_t n)
{
	while (n) {
		size_t have = fill_input(r, n < INPUT_BUFFER_SIZE ? (size_t)n : INPUT_BUFFER_SIZE);

		if (!have)
			return;
		r->input_start += have;
		n -= have;
	}
}

/* Reads the formats of tracepoints from a pipe, where they follow their record. */
static void read_piped_tracing_data(struct perfdata_reader *r, uint64_t size)
{
	size_t done = 0;

	if (!pfmi_perfdata_alloc_tracing_data(r, size)) {
		skip_input(r, size);
		return;
	}
	while (done < size) {
		size_t have = fill_input(r, size - done < INPUT_BUFFER_SIZE ? (size_t)size - done
		                                                            : INPUT_BUFFER_SIZE);

		if (!have)
			break;
		memcpy(r->tracing_data + done, r->input + r->input_start, have);
		r->input_start += have;
		done += have;
	}
	r->tracing_data_size = done;
}

/* Swaps a record of the other byte order. Its type is swapped first, because the position of its
 * event id depends on it. */
static void swap_record(struct pfm_session *s, uint8_t *record, size_t size)
{
	const struct record_layout *l = &s->sampling->common_layout;
	struct record_header head;
	uint32_t type;
	int event;

	memcpy(&type, record, sizeof(type));
	memcpy(&head, record, sizeof(head));
	head.type = bswap_32(type);
	memcpy(record, &head, sizeof(head));
	event = pfmi_sampling_find_count(s->sampling,
	                                 bswap_64(pfmi_sampling_get_record_id(l, record, size)));
	memcpy(record, &type, sizeof(type));
	pfmi_sampling_swap_record(event >= 0 ? &s->sampling->totals[event].layout : l, record,
	                          size);
}

static int store_record(struct pfm_session *s, const uint8_t *bytes, size_t size)
{
	struct perfdata_reader *r = s->recording;
	const struct record_layout *l = &s->sampling->common_layout;
	uint8_t *to = pfmi_perfdata_stage_record(&r->sorter, bytes, size);
	uint64_t time;
	int event;

	if (!to)
		return PFMLIB_ERR_NOMEM;
	if (r->is_foreign)
		swap_record(s, to, size);
	event = pfmi_sampling_find_count(s->sampling, pfmi_sampling_get_record_id(l, to, size));
	/* Linux took id and time from an event of another session, which may have another clock. */
	if (event < 0 && pfmi_sampling_is_of_other_session(s->sampling, to, size))
		pfmi_sampling_set_sample_time(l, to, size, r->last_time);
	l = event >= 0 ? &s->sampling->totals[event].layout : l;
	time = pfmi_sampling_get_record_time(l, to, size);
	r->last_time = time ? time : r->last_time;
	if (time > r->newest_time)
		r->newest_time = time;
	return pfmi_perfdata_push_staged_record(&r->sorter, time, size);
}

/* Ends reading. Earlier records remain valid. */
static int end_input(struct perfdata_reader *r, bool damaged)
{
	r->has_ended = true;
	r->is_damaged = damaged;
	pfmi_perfdata_release_records_until(&r->sorter, UINT64_MAX);
	return 1;
}

static int unpack_record(struct perfdata_reader *r, const uint8_t *packed, size_t size)
{
	if (!r->zstd)
		r->zstd = pfmi_perfdata_open_zstd();
	if (!r->zstd)
		return PFMLIB_ERR_NOTSUPP;
	return pfmi_perfdata_decompress_bytes(r->zstd, &r->unpacked, packed, size)
	               ? 0
	               : end_input(r, true);
}

/* Unpacks the form of Linux 6.16 and later: padded to a multiple of 8, with the number of packed
 * bytes. */
static int unpack_padded_record(struct perfdata_reader *r, const uint8_t *p, size_t size)
{
	enum { HEAD = RECORD_HEADER_SIZE + sizeof(uint64_t) };
	uint64_t n = size >= HEAD ? perfdata_decode_u64(r, p + RECORD_HEADER_SIZE) : UINT64_MAX;

	return size >= HEAD && n <= size - HEAD ? unpack_record(r, p + HEAD, (size_t)n)
	                                        : end_input(r, true);
}

static uint16_t decode_record_size(const struct perfdata_reader *r, const uint8_t *p)
{
	uint16_t size;

	memcpy(&size, p + 6, sizeof(size));
	return r->is_foreign ? bswap_16(size) : size;
}

/* Returns the next unpacked record; NULL if its end is still in the next packed record. */
static const uint8_t *read_unpacked_record(struct perfdata_reader *r, uint16_t *size)
{
	size_t left = r->unpacked.end - r->unpacked.n_consumed;
	const uint8_t *p;

	if (left < RECORD_HEADER_SIZE)
		return NULL;
	p = r->unpacked.data + r->unpacked.n_consumed;
	*size = decode_record_size(r, p);
	if (*size > left)
		return NULL;
	r->unpacked.n_consumed += *size;
	return p;
}

/* Returns the next record of the input; NULL at the end, or if it is cut off. */
static const uint8_t *read_converted_record(struct perfdata_reader *r, uint16_t *size)
{
	const uint8_t *p = read_unpacked_record(r, size);

	if (p)
		return *size < RECORD_HEADER_SIZE ? NULL : p;
	if (fill_input(r, RECORD_HEADER_SIZE) < RECORD_HEADER_SIZE)
		return NULL;
	*size = decode_record_size(r, r->input + r->input_start);
	if (*size < RECORD_HEADER_SIZE || fill_input(r, *size) < *size)
		return NULL;
	r->input_start += *size;
	return r->input + r->input_start - *size;
}

/* Reads one record of the input. Returns 0, 1 if records are ready, or a negative code. */
static int read_input_record(struct pfm_session *s)
{
	struct perfdata_reader *r = s->recording;
	uint16_t size = 0;
	const uint8_t *p = read_converted_record(r, &size);
	uint32_t type;
	int rc = 0;

	if (!p)
		return end_input(r, r->input_start < r->input_end ||
		                            r->unpacked.n_consumed < r->unpacked.end ||
		                            (r->n_bytes_left && !r->is_pipe));
	type = perfdata_decode_u32(r, p);
	switch (type) {
	case PERFDATA_RECORD_ATTR:
		return r->is_pipe ? pfmi_perfdata_read_attr_record(s, p, size) : 0;
	case PERFDATA_RECORD_EVENT_UPDATE: pfmi_perfdata_read_update_record(s, p, size); return 0;
	case PERFDATA_RECORD_TRACING_DATA:
		read_piped_tracing_data(r, size >= 12 ? perfdata_decode_u32(r, p + 8) : 0);
		return 0;
	case PERFDATA_RECORD_AUXTRACE:
		skip_input(r, size >= 16 ? perfdata_decode_u64(r, p + 8) : 0);
		return 0;
	case PERFDATA_RECORD_COMPRESSED:
		return unpack_record(r, p + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE);
	case PERFDATA_RECORD_COMPRESSED2: return unpack_padded_record(r, p, size);
	case PERFDATA_RECORD_FINISHED_ROUND:
		rc = pfmi_perfdata_release_records_until(&r->sorter, r->round_time);
		r->round_time = r->newest_time;
		return rc;
	default: break;
	}
	if (type < PERFDATA_RECORD_USER_FIRST)
		rc = store_record(s, p, size);
	s->sampling->n_unknown_records += type > PERFDATA_RECORD_USER_LAST;
	if (!rc && r->sorter.n_live_bytes > MAX_POOL_SIZE) {
		r->sorter.n_forced = (pfmi_perfdata_count_pending_records(&r->sorter) + 1) / 2;
		return 1;
	}
	return rc;
}

static int read_record(struct pfm_session *s, bool go_on, const void **bytes, size_t *size)
{
	struct perfdata_reader *r = s->recording;

	while (!pfmi_perfdata_has_ready_record(&r->sorter)) {
		int rc;

		if (r->has_ended || go_on)
			return 0;
		rc = pfmi_perfdata_compact_pool(&r->sorter);
		while (!rc)
			rc = read_input_record(s);
		if (rc < 0)
			return rc;
		pfmi_perfdata_update_common_layout(s);
	}
	*bytes = pfmi_perfdata_pop_record(&r->sorter, size);
	s->sampling->n_bytes += *size;
	return 1;
}

const uint8_t *pfmi_perfdata_get_tracing_data(const struct pfm_session *s, size_t *len,
                                              bool *foreign)
{
	*len = s->recording->tracing_data_size;
	*foreign = s->recording->is_foreign;
	return *len ? s->recording->tracing_data : NULL;
}

bool pfmi_perfdata_is_foreign_endian(const struct pfm_session *s)
{
	return s->recording->is_foreign;
}

static bool is_damaged(const struct pfm_session *s)
{
	return s->recording->is_damaged;
}

/* ---- opening ------------------------------------------------------------------------------- */

static void close_reader(struct pfm_session *s)
{
	struct perfdata_reader *r = s->recording;

	if (!r)
		return;
	close(r->fd);
	pfmi_perfdata_close_zstd(r->zstd);
	free(r->unpacked.data);
	free(r->tracing_data);
	free(r->input);
	pfmi_perfdata_free_sorter(&r->sorter);
	free(r);
	free(s->sampling->event_ids);
	free(s->sampling->totals);
	pfmi_base_free_hash(&s->sampling->id_table);
	pfmi_sampling_free_group_values(&s->sampling->group);
	s->recording = NULL;
}

static const struct recording_ops recording_ops = {
	.read_record = read_record,
	.is_damaged = is_damaged,
	.close = close_reader,
};

/* Reads the header of a pipe, in which events are records before all others. */
static int read_pipe_header(struct pfm_session *s)
{
	struct perfdata_reader *r = s->recording;
	int rc = 0;

	r->is_pipe = true;
	while (!rc && fill_input(r, RECORD_HEADER_SIZE) == RECORD_HEADER_SIZE &&
	       (s->n_counts == 0 ||
	        perfdata_decode_u32(r, r->input + r->input_start) >= PERFDATA_RECORD_USER_FIRST))
		rc = read_input_record(s);
	return rc < 0 ? rc : s->n_counts ? 0 : PFMLIB_ERR_INVAL;
}

static int read_recording_start(struct pfm_session *s)
{
	const uint32_t one = 1;
	struct perfdata_reader *r = s->recording;
	uint64_t magic, size;
	bool native_big = *(const uint8_t *)&one == 0;
	int rc;

	r->input = malloc(INPUT_BUFFER_SIZE);
	if (!r->input)
		return PFMLIB_ERR_NOMEM;
	r->n_bytes_left = 16;
	if (fill_input(r, 16) < 16)
		return PFMLIB_ERR_INVAL;
	memcpy(&magic, r->input, sizeof(magic));
	if (magic != PERFDATA_MAGIC && magic != bswap_64(PERFDATA_MAGIC))
		return PFMLIB_ERR_INVAL;
	r->is_foreign = magic != PERFDATA_MAGIC;
	r->is_big_endian = native_big != r->is_foreign;
	size = perfdata_decode_u64(r, r->input + 8);
	r->input_start = r->input_end = 0;
	r->n_bytes_left = UINT64_MAX;
	rc = size == 16                               ? read_pipe_header(s)
	     : size == sizeof(struct perfdata_header) ? pfmi_perfdata_read_header(s)
	                                              : PFMLIB_ERR_INVAL;
	pfmi_perfdata_update_common_layout(s);
	pfmi_perfdata_name_unnamed_events(s);
	return rc;
}

/* Creates a session without a context, which can only read. NULL without memory. */
static struct pfm_session *create_reader_session(void)
{
	struct pfm_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->sampling_ops = &pfmi_sampling_ops;
	s->sampling = calloc(1, sizeof(*s->sampling));
	s->recording = s->sampling ? calloc(1, sizeof(*s->recording)) : NULL;
	if (!s->recording) {
		pfm_close_session(s);
		return NULL;
	}
	s->recording->fd = -1;
	s->recording_ops = &recording_ops;
	return s;
}

static bool is_folder(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

/* perf writes folders with one file for each thread that writes (perf record --threads), or with a
 * copy of the kernel's memory (--kcore). */
static const char *explain_folder(const char *path)
{
	char name[4096];
	struct stat st;
	int n = snprintf(name, sizeof(name), "%s/data.0", path);

	if (n > 0 && (size_t)n < sizeof(name) && stat(name, &st) == 0)
		return "a folder of perf record --threads, one file for each thread: not "
		       "supported; record without --threads";
	n = snprintf(name, sizeof(name), "%s/data", path);
	if (n > 0 && (size_t)n < sizeof(name) && stat(name, &st) == 0)
		return "a folder of perf record --kcore: open the file data in it";
	return "expected a file, got a folder";
}

static int open_recording_reader(pfm_session_t **out, const char *path, pfm_error_t *why)
{
	struct pfm_session *s = create_reader_session();
	int rc;

	if (!s)
		return pfmi_base_set_errno_error(why, PFMLIB_ERR_NOMEM, ENOMEM, NULL);
	s->recording->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->recording->fd >= 0 && is_folder(s->recording->fd)) {
		rc = pfmi_base_set_plain_error(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_NONE,
		                               explain_folder(path));
		pfm_close_session(s);
		return rc;
	}
	if (s->recording->fd < 0) {
		rc = pfmi_base_set_errno_error(why, PFMLIB_ERR_SYS, errno,
		                               "the recording cannot be opened");
		pfm_close_session(s);
		return rc;
	}
	rc = read_recording_start(s);
	s->reading.last_counts =
		rc ? NULL : calloc(s->n_counts + 1, sizeof(*s->reading.last_counts));
	if (s->reading.last_counts) {
		*out = s;
		return PFMLIB_SUCCESS;
	}
	pfm_close_session(s);
	if (rc == PFMLIB_SUCCESS || rc == PFMLIB_ERR_NOMEM)
		return pfmi_base_set_errno_error(why, PFMLIB_ERR_NOMEM, ENOMEM, NULL);
	return pfmi_base_set_plain_error(why, rc, PFM_KIND_IMAGE,
	                                 "not a perf.data file, or corrupt");
}

int pfm_open_recording(pfm_session_t **out, const char *path, pfm_error_t *error)
{
	pfm_error_t mine, *why = base_choose_error_struct(error, &mine);
	int rc = PFMLIB_ERR_INVAL;

	if (out)
		*out = NULL;
	if (out && path)
		rc = open_recording_reader(out, path, why);
	else
		pfmi_base_set_plain_error(why, rc, PFM_KIND_NONE, "out or path is NULL");
	return base_return_error(error, why, rc);
}
