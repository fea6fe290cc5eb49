/* SPDX-License-Identifier: MIT */
/* Bytes, numbers and texts of a recording, plain or compressed. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "perfdata/recording_writer.h"

/* Bytes that are packed at once: few enough that even incompressible ones fit a record. */
#define MAX_PACKED_INPUT 60000u

int pfmi_perfdata_write_bytes(struct pfm_recording *r, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n && !r->write_errno) {
		ssize_t done = pwrite(r->fd, p, n, (off_t)r->offset);

		if (done < 0 && errno != EINTR)
			r->write_errno = errno;
		if (done <= 0)
			continue;
		p += done;
		n -= (size_t)done;
		r->offset += (uint64_t)done;
	}
	return r->write_errno ? -r->write_errno : 0;
}

void pfmi_perfdata_write_packed_bytes(struct pfm_recording *r, const uint8_t *bytes, size_t n)
{
	uint8_t record[UINT16_MAX];

	while (n && !r->write_errno) {
		size_t part = n < MAX_PACKED_INPUT ? n : MAX_PACKED_INPUT;
		size_t size = pfmi_perfdata_compress_frame(r->zstd, record + RECORD_HEADER_SIZE,
		                                           sizeof(record) - RECORD_HEADER_SIZE,
		                                           bytes, part, r->zstd_level);
		struct record_header head = { PERFDATA_RECORD_COMPRESSED, 0,
			                      (uint16_t)(size + sizeof(head)) };

		if (!size)
			r->write_errno = EIO;
		memcpy(record, &head, sizeof(head));
		pfmi_perfdata_write_bytes(r, record, head.size);
		bytes += part;
		n -= part;
		r->plain_size += part;
		r->packed_size += size;
	}
}

void pfmi_perfdata_write_u32(struct pfm_recording *r, uint32_t v)
{
	pfmi_perfdata_write_bytes(r, &v, sizeof(v));
}

void pfmi_perfdata_write_padded_string(struct pfm_recording *r, const char *s)
{
	static const char zeros[64];
	size_t len = strlen(s) + 1, padded = (len + 63) & ~(size_t)63;

	pfmi_perfdata_write_u32(r, (uint32_t)padded);
	pfmi_perfdata_write_bytes(r, s, len);
	pfmi_perfdata_write_bytes(r, zeros, padded - len);
}
