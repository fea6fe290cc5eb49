/* SPDX-License-Identifier: MIT */
/* Writes perf.data: a header, the events with their ids, the bytes of the buffers unchanged, and
 * sections about the machine at the end. After each pass over the buffers the size of the data is
 * updated, so that the file is readable even if the writer is killed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "perfdata/recording_writer.h"
#include "base/sizes.h"

static int write_record(void *arg, const void *bytes, size_t n)
{
	return pfmi_perfdata_write_bytes(arg, bytes, n);
}

/* Updates the size of the data. After a failed write the size is too large on purpose: readers then
 * report missing data, even if the file ends with a complete record. */
static void update_data_size(struct pfm_recording *r)
{
	r->header.data.size =
		r->offset - r->header.data.offset + (r->write_errno ? RECORD_HEADER_SIZE : 0);
}

static void write_header(struct pfm_recording *r)
{
	uint64_t at = r->offset;
	int err = r->write_errno;

	/* Only the header is overwritten, which needs no space on a full disk. */
	r->offset = 0;
	r->write_errno = 0;
	pfmi_perfdata_write_bytes(r, &r->header, sizeof(r->header));
	r->offset = at;
	r->write_errno = err ? err : r->write_errno;
}

static int begin_recording(struct pfm_recording *r)
{
	r->header.magic = PERFDATA_MAGIC;
	r->header.size = sizeof(r->header);
	r->header.attr_size =
		pfmi_perfdata_get_attr_size(r->session) + sizeof(struct perfdata_section);
	r->start_time = pfmi_sampling_get_clock_ns(r->session->sampling->config.clock);
	pfmi_perfdata_write_attrs(r);
	r->header.data.offset = r->offset;
	pfmi_perfdata_write_name_records(r);
	if (r->session->sampling->buffers &&
	    pfmi_perfdata_synthesize_records(r->session, write_record, r) == -ENOMEM &&
	    !r->write_errno)
		r->write_errno = ENOMEM;
	update_data_size(r);
	write_header(r);
	return r->write_errno;
}

static int create_recording(pfm_recording_t **out, const char *path, pfm_session_t *s,
                            const char *command, pfm_error_t *why)
{
	struct pfm_recording *r = calloc(1, sizeof(*r));
	int err;

	if (r)
		r->command_line = strdup(command ? command : "");
	if (!r || !r->command_line) {
		free(r);
		return pfmi_base_set_errno_error(why, PFMLIB_ERR_NOMEM, ENOMEM, NULL);
	}
	r->session = s;
	r->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	err = r->fd < 0 ? errno : begin_recording(r);
	if (!err) {
		*out = r;
		return PFMLIB_SUCCESS;
	}
	if (r->fd >= 0)
		close(r->fd);
	free(r->command_line);
	free(r);
	return pfmi_base_set_errno_error(why, PFMLIB_ERR_SYS, err,
	                                 "the recording cannot be written");
}

int pfm_create_recording(pfm_recording_t **out, const char *path, pfm_session_t *s,
                         const char *command, pfm_error_t *error)
{
	pfm_error_t mine, *why = base_choose_error_struct(error, &mine);
	int rc = PFMLIB_ERR_INVAL;

	if (out)
		*out = NULL;
	if (out && path && s && s->sampling && !s->recording &&
	    (s->sampling->buffers || (pfmi_sampling_uses_device(s) && s->sampling->n_event_ids)))
		rc = create_recording(out, path, s, command, why);
	else
		pfmi_base_set_plain_error(why, rc, PFM_KIND_NONE,
		                          "out or path is NULL, or the session takes no samples");
	return base_return_error(error, why, rc);
}

int pfm_compress_recording(pfm_recording_t *r, int level)
{
	if (!r || r->zstd || level < 1 || level > 22)
		return PFMLIB_ERR_INVAL;
	r->zstd_level = level;
	r->zstd = pfmi_perfdata_open_zstd();
	return r->zstd ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTSUPP;
}

/* Writes bytes of records, compressed on request. */
static void write_data(struct pfm_recording *r, const void *bytes, size_t len)
{
	if (r->zstd)
		pfmi_perfdata_write_packed_bytes(r, bytes, len);
	else
		pfmi_perfdata_write_bytes(r, bytes, len);
}

/* Writes the records of a device without buffers, a few hundred at a time. Returns a negative code
 * on failure. */
static int write_device_records(struct pfm_recording *r)
{
	pfm_record_t record = PFM_INIT(record);
	uint8_t some[16384];
	size_t n = 0;
	int rc;

	while ((rc = pfm_next_record(r->session, &record)) == 1) {
		if (record.raw_size > sizeof(some) - n) {
			write_data(r, some, n);
			n = 0;
		}
		memcpy(some + n, record.raw, record.raw_size);
		n += record.raw_size;
	}
	write_data(r, some, n);
	return rc;
}

int pfm_write_records(pfm_recording_t *r, uint64_t *size)
{
	const struct record_header round = { PERFDATA_RECORD_FINISHED_ROUND, 0, sizeof(round) };
	const void *bytes;
	uint64_t before;
	size_t len;
	int rc = 0;

	if (!r)
		return PFMLIB_ERR_INVAL;
	before = r->offset;
	if (r->session->sampling->buffers)
		while (pfm_next_bytes(r->session, &bytes, &len, NULL) == 1)
			write_data(r, bytes, len);
	else
		rc = write_device_records(r);
	if (r->offset != before)
		pfmi_perfdata_write_bytes(r, &round, sizeof(round));
	update_data_size(r);
	if (r->offset != before || r->write_errno)
		write_header(r);
	if (size)
		*size = r->offset;
	if (rc == 0)
		r->session->sys_errno = r->write_errno;
	return rc ? rc : r->write_errno ? PFMLIB_ERR_SYS : PFMLIB_SUCCESS;
}

/* Writes records for samples that were lost after the last record of a buffer: the events' own
 * counts show these, as in perf. */
static void write_lost_records(struct pfm_recording *r)
{
	struct pfm_session *s = r->session;
	size_t n = 2 +
	           (size_t)__builtin_popcountll(s->sampling->config.fields & SAMPLE_TRAILER_FIELDS);

	for (unsigned i = 0; i < s->n_counts; i++) {
		struct record_header head = { PFM_RECORD_LOST_SAMPLES, 0, (uint16_t)(n * 8) };
		pfm_sample_statistics_t c = PFM_INIT(c);
		uint64_t words[16] = { 0 };

		if (pfm_sampling_statistics(s, i, &c) || !c.lost || c.lost == PFM_LOST_UNKNOWN ||
		    !pfmi_perfdata_count_event_ids(s, i))
			continue;
		memcpy(words, &head, sizeof(head));
		words[1] = c.lost;
		words[n - 1] = pfmi_perfdata_get_first_event_id(s, i);
		pfmi_perfdata_write_bytes(r, words, n * 8);
	}
	update_data_size(r);
}

int pfm_close_recording(pfm_recording_t *r)
{
	int rc;

	if (!r)
		return PFMLIB_SUCCESS;
	rc = pfm_write_records(r, NULL);
	if (!rc)
		write_lost_records(r);
	if (!rc)
		pfmi_perfdata_write_features(r);
	if (!rc)
		write_header(r);
	rc = r->write_errno ? PFMLIB_ERR_SYS : rc;
	r->session->sys_errno = r->write_errno;
	if (close(r->fd) && !rc)
		rc = PFMLIB_ERR_SYS;
	pfmi_perfdata_close_zstd(r->zstd);
	free(r->tracing_data.data);
	free(r->numa_topology.data);
	free(r->memory_topology.data);
	free(r->command_line);
	free(r);
	return rc;
}
