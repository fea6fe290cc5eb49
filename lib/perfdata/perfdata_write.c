/* SPDX-License-Identifier: MIT */
/* Writes perf.data: a header, the events with their ids, the bytes of the buffers unchanged, and
 * sections about the machine at the end. After each pass over the buffers the size of the data is
 * updated, so that the file is readable even if the writer is killed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "perfdata/perfdata.h"
#include "base/sizes.h"

/* Bytes that are packed at once: few enough that even incompressible ones fit a record. */
#define MAX_PACKED_INPUT 60000u

struct pfm_recording {
	struct pfm_session *session;
	struct zstd_codec *zstd; /* NULL: data are not compressed */
	int zstd_level;
	uint64_t plain_size, packed_size; /* sizes of the data before and after compression */
	struct byte_buffer tracing_data;  /* of tracepoints; empty without tracepoints */
	struct byte_buffer numa_topology, memory_topology; /* empty if the machine exports none */
	int fd, write_errno; /* err: errno of the first write that failed */
	struct perfdata_header header;
	uint64_t offset, start_time;
	char *command_line;
};

/* ---- writing ------------------------------------------------------------------------------- */

static int write_bytes(struct pfm_recording *r, const void *bytes, size_t n)
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

/* Writes whole frames, each in a record of its own, so that a reader can unpack the records before
 * a killed writer's last one. */
static void write_packed_bytes(struct pfm_recording *r, const uint8_t *bytes, size_t n)
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
		write_bytes(r, record, head.size);
		bytes += part;
		n -= part;
		r->plain_size += part;
		r->packed_size += size;
	}
}

static int write_record(void *arg, const void *bytes, size_t n)
{
	return write_bytes(arg, bytes, n);
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
	write_bytes(r, &r->header, sizeof(r->header));
	r->offset = at;
	r->write_errno = err ? err : r->write_errno;
}

static void write_u32(struct pfm_recording *r, uint32_t v)
{
	write_bytes(r, &v, sizeof(v));
}

/* Writes a text in the form of features: its padded length, then the text and the padding. */
static void write_padded_string(struct pfm_recording *r, const char *s)
{
	static const char zeros[64];
	size_t len = strlen(s) + 1, padded = (len + 63) & ~(size_t)63;

	write_u32(r, (uint32_t)padded);
	write_bytes(r, s, len);
	write_bytes(r, zeros, padded - len);
}

/* ---- events -------------------------------------------------------------------------------- */

/* True for events of the file: open counts, then the event of side records, if it exists. */
static bool is_written_event(const struct pfm_session *s, unsigned i)
{
	return i == s->n_counts ? s->sampling->n_side_events > 0 : s->counts[i].kernel_state.n_open;
}

/* Describes the records of a device in the form of perf: their layout and their period. */
static void fill_device_attr(const struct pfm_session *s, unsigned i, struct perf_event_attr *a)
{
	const struct record_layout *l = &s->sampling->common_layout;

	a->type = PERF_TYPE_RAW;
	a->config = i;
	a->sample_type = l->fields;
	a->read_format = l->read_format;
	a->sample_id_all = l->has_trailers;
	a->sample_period = s->counts[i].config.period;
}

static void fill_event_attr(const struct pfm_session *s, unsigned i, union perf_attr_buffer *a)
{
	memset(a, 0, sizeof(*a));
	if (pfmi_sampling_uses_device(s))
		fill_device_attr(s, i, &a->attr);
	else if (i < s->n_counts)
		pfmi_perf_build_attr(s, i, 0, true, a);
	else
		pfmi_sampling_fill_side_attr(s, &a->attr);
	a->attr.size = PERFDATA_ATTR_SIZE;
}

static const char *get_event_name(const struct pfm_session *s, unsigned i)
{
	return i < s->n_counts ? s->counts[i].config.name : "dummy:u";
}

static uint32_t count_event_ids(const struct pfm_session *s, unsigned i)
{
	const struct sampling_state *sm = s->sampling;
	uint32_t n = 0;

	for (unsigned k = 0; k < sm->n_event_ids; k++)
		n += sm->event_ids[k].count_index == i;
	for (unsigned k = 0; k < sm->n_side_events && i == s->n_counts; k++)
		n += sm->side_events[k].fd >= 0;
	return n;
}

static void write_event_ids(struct pfm_recording *r, unsigned i)
{
	const struct pfm_session *s = r->session;
	const struct sampling_state *sm = s->sampling;

	for (unsigned k = 0; k < sm->n_event_ids; k++)
		if (sm->event_ids[k].count_index == i)
			write_bytes(r, &sm->event_ids[k].id, sizeof(uint64_t));
	for (unsigned k = 0; k < sm->n_side_events && i == s->n_counts; k++)
		if (sm->side_events[k].fd >= 0)
			write_bytes(r, &sm->side_events[k].id, sizeof(uint64_t));
}

static void write_attrs(struct pfm_recording *r)
{
	const struct pfm_session *s = r->session;
	uint64_t ids = sizeof(r->header);

	r->offset = ids;
	for (unsigned i = 0; i <= s->n_counts; i++)
		if (is_written_event(s, i))
			write_event_ids(r, i);
	r->header.attrs.offset = r->offset;
	for (unsigned i = 0; i <= s->n_counts; i++) {
		struct perfdata_section section = { ids, count_event_ids(s, i) * sizeof(uint64_t) };
		union perf_attr_buffer a;

		if (!is_written_event(s, i))
			continue;
		fill_event_attr(s, i, &a);
		write_bytes(r, &a, PERFDATA_ATTR_SIZE);
		write_bytes(r, &section, sizeof(section));
		ids += section.size;
	}
	r->header.attrs.size = r->offset - r->header.attrs.offset;
}

static uint64_t get_first_event_id(const struct pfm_session *s, unsigned i)
{
	const struct sampling_state *sm = s->sampling;
	unsigned k = 0;

	while (sm->event_ids[k].count_index != i)
		k++;
	return sm->event_ids[k].id;
}

/* Writes the names as records, too: their table is at the end, which a killed writer never
 * reaches. */
static void write_name_records(struct pfm_recording *r)
{
	const struct pfm_session *s = r->session;

	for (unsigned i = 0; i < s->n_counts; i++) {
		uint64_t what[2] = { PERFDATA_UPDATE_NAME, 0 };
		struct record_header head = { PERFDATA_RECORD_EVENT_UPDATE, 0, 0 };
		char name[256] = "";
		size_t len;

		if (!count_event_ids(s, i))
			continue;
		what[1] = get_first_event_id(s, i);
		snprintf(name, sizeof(name), "%s", get_event_name(s, i));
		len = (strlen(name) + 8) & ~(size_t)7;
		head.size = (uint16_t)(sizeof(head) + sizeof(what) + len);
		write_bytes(r, &head, sizeof(head));
		write_bytes(r, what, sizeof(what));
		write_bytes(r, name, len);
	}
}

/* ---- features ------------------------------------------------------------------------------ */

static void write_event_desc(struct pfm_recording *r)
{
	const struct pfm_session *s = r->session;
	uint32_t n = 0;

	for (unsigned i = 0; i <= s->n_counts; i++)
		n += is_written_event(s, i);
	write_u32(r, n);
	write_u32(r, PERFDATA_ATTR_SIZE);
	for (unsigned i = 0; i <= s->n_counts; i++) {
		union perf_attr_buffer a;

		if (!is_written_event(s, i))
			continue;
		fill_event_attr(s, i, &a);
		write_bytes(r, &a, PERFDATA_ATTR_SIZE);
		write_u32(r, count_event_ids(s, i));
		write_padded_string(r, get_event_name(s, i));
		write_event_ids(r, i);
	}
}

/* Writes the arguments; r->command_line separates them by newlines. */
static void write_command_line(struct pfm_recording *r)
{
	uint32_t n = 1;

	for (const char *p = r->command_line; *p; p++)
		n += *p == '\n';
	write_u32(r, n);
	for (char *p = r->command_line, *end; p; p = end) {
		end = strchr(p, '\n');
		if (end)
			*end++ = '\0';
		write_padded_string(r, p);
	}
}

static uint64_t read_topology_number(struct pfm_recording *r, unsigned cpu, const char *what)
{
	char path[128];
	uint64_t v = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, what);
	return pfmi_machine_read_number(&r->session->sys, path, &v) ? 0 : v;
}

static void write_sibling_lists(struct pfm_recording *r, unsigned cpus, const char *what)
{
	char path[128], list[256], (*seen)[256] = calloc(cpus + 1, sizeof(*seen));
	uint32_t n = 0;

	for (unsigned cpu = 0; seen && cpu < cpus; cpu++) {
		unsigned k = 0;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu,
		         what);
		if (pfmi_machine_read_small_file(&r->session->sys, path, list, sizeof(list)) <= 0)
			continue;
		while (k < n && strcmp(seen[k], list) != 0)
			k++;
		if (k == n)
			memcpy(seen[n++], list, sizeof(list));
	}
	write_u32(r, n);
	for (uint32_t k = 0; k < n; k++)
		write_padded_string(r, seen[k]);
	free(seen);
}

static void write_topology(struct pfm_recording *r)
{
	unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);

	write_sibling_lists(r, cpus, "core_siblings_list");
	write_sibling_lists(r, cpus, "thread_siblings_list");
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		write_u32(r, (uint32_t)read_topology_number(r, cpu, "core_id"));
		write_u32(r, (uint32_t)read_topology_number(r, cpu, "physical_package_id"));
	}
}

static uint64_t get_clock_ns(int id)
{
	struct timespec t = { 0 };

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void write_clock_data(struct pfm_recording *r)
{
	int id = r->session->sampling->config.clock;
	uint64_t times[2] = { get_clock_ns(CLOCK_REALTIME), get_clock_ns(id) };

	write_u32(r, 1);
	write_u32(r, (uint32_t)id);
	write_bytes(r, times, sizeof(times));
}

/* Writes version (0, as perf does, because some readers accept nothing else), zstd, level, ratio,
 * and the buffer size that a reader needs. */
static void write_compression_info(struct pfm_recording *r)
{
	const uint32_t words[] = { 0, 1, (uint32_t)r->zstd_level,
		                   (uint32_t)(r->packed_size ? r->plain_size / r->packed_size : 1),
		                   UINT16_MAX + 1u };

	write_bytes(r, words, sizeof(words));
}

static void write_feature(struct pfm_recording *r, unsigned bit, const struct utsname *u)
{
	uint64_t times[2] = { r->start_time, get_clock_ns(r->session->sampling->config.clock) };
	uint64_t memory =
			 (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 1024,
		 resolution = 1;

	switch (bit) {
	case PERFDATA_FEATURE_TRACING:
		write_bytes(r, r->tracing_data.data, r->tracing_data.end);
		break;
	case PERFDATA_FEATURE_HOSTNAME: write_padded_string(r, u->nodename); break;
	case PERFDATA_FEATURE_OSRELEASE: write_padded_string(r, u->release); break;
	case PERFDATA_FEATURE_VERSION: write_padded_string(r, "perfmon"); break;
	case PERFDATA_FEATURE_ARCH: write_padded_string(r, u->machine); break;
	case PERFDATA_FEATURE_NRCPUS:
		write_u32(r, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
		write_u32(r, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
		break;
	case PERFDATA_FEATURE_TOTAL_MEM: write_bytes(r, &memory, sizeof(memory)); break;
	case PERFDATA_FEATURE_CMDLINE: write_command_line(r); break;
	case PERFDATA_FEATURE_EVENT_DESC: write_event_desc(r); break;
	case PERFDATA_FEATURE_CPU_TOPOLOGY: write_topology(r); break;
	case PERFDATA_FEATURE_NUMA_TOPOLOGY:
		write_bytes(r, r->numa_topology.data, r->numa_topology.end);
		break;
	case PERFDATA_FEATURE_MEM_TOPOLOGY:
		write_bytes(r, r->memory_topology.data, r->memory_topology.end);
		break;
	case PERFDATA_FEATURE_SAMPLE_TIME: write_bytes(r, times, sizeof(times)); break;
	case PERFDATA_FEATURE_CLOCKID: write_bytes(r, &resolution, sizeof(resolution)); break;
	case PERFDATA_FEATURE_COMPRESSED: write_compression_info(r); break;
	case PERFDATA_FEATURE_CLOCK_DATA: write_clock_data(r); break;
	default: break;
	}
}

/* True if the recording needs feature @bit. */
static bool has_feature(const struct pfm_recording *r, unsigned bit)
{
	switch (bit) {
	case PERFDATA_FEATURE_COMPRESSED: return r->zstd != NULL;
	case PERFDATA_FEATURE_TRACING: return r->tracing_data.end > 0;
	case PERFDATA_FEATURE_NUMA_TOPOLOGY: return r->numa_topology.end > 0;
	case PERFDATA_FEATURE_MEM_TOPOLOGY: return r->memory_topology.end > 0;
	case PERFDATA_FEATURE_SAMPLE_TIME:
	case PERFDATA_FEATURE_CLOCKID:
	case PERFDATA_FEATURE_CLOCK_DATA:
		return r->session->sampling->common_layout.fields & PFM_SAMPLE_TIME;
	default: return true;
	}
}

static void write_features(struct pfm_recording *r)
{
	static const uint8_t bits[] = {
		PERFDATA_FEATURE_TRACING,       PERFDATA_FEATURE_HOSTNAME,
		PERFDATA_FEATURE_OSRELEASE,     PERFDATA_FEATURE_VERSION,
		PERFDATA_FEATURE_ARCH,          PERFDATA_FEATURE_NRCPUS,
		PERFDATA_FEATURE_TOTAL_MEM,     PERFDATA_FEATURE_CMDLINE,
		PERFDATA_FEATURE_EVENT_DESC,    PERFDATA_FEATURE_CPU_TOPOLOGY,
		PERFDATA_FEATURE_NUMA_TOPOLOGY, PERFDATA_FEATURE_SAMPLE_TIME,
		PERFDATA_FEATURE_MEM_TOPOLOGY,  PERFDATA_FEATURE_CLOCKID,
		PERFDATA_FEATURE_COMPRESSED,    PERFDATA_FEATURE_CLOCK_DATA
	};
	struct perfdata_section sections[sizeof(bits)];
	struct utsname u;
	uint64_t table = r->offset;
	unsigned n = 0;

	uname(&u);
	if (!pfmi_perfdata_build_tracing_data(r->session, &r->tracing_data))
		r->tracing_data.end = 0;
	if (!pfmi_perfdata_build_numa_topology(r->session, &r->numa_topology))
		r->numa_topology.end = 0;
	if (!pfmi_perfdata_build_memory_topology(r->session, &r->memory_topology))
		r->memory_topology.end = 0;
	for (unsigned i = 0; i < sizeof(bits); i++)
		n += has_feature(r, bits[i]);
	r->offset += n * sizeof(*sections);
	n = 0;
	for (unsigned i = 0; i < sizeof(bits); i++) {
		if (!has_feature(r, bits[i]))
			continue;
		sections[n].offset = r->offset;
		write_feature(r, bits[i], &u);
		sections[n].size = r->offset - sections[n].offset;
		r->header.features[bits[i] / 64] |= (uint64_t)1 << bits[i] % 64;
		n++;
	}
	r->offset = table;
	write_bytes(r, sections, n * sizeof(*sections));
}

/* ---- a recording --------------------------------------------------------------------------- */

static int begin_recording(struct pfm_recording *r)
{
	r->header.magic = PERFDATA_MAGIC;
	r->header.size = sizeof(r->header);
	r->header.attr_size = PERFDATA_ATTR_SIZE + sizeof(struct perfdata_section);
	r->start_time = get_clock_ns(r->session->sampling->config.clock);
	write_attrs(r);
	r->header.data.offset = r->offset;
	write_name_records(r);
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
		write_packed_bytes(r, bytes, len);
	else
		write_bytes(r, bytes, len);
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
		write_bytes(r, &round, sizeof(round));
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
		    !count_event_ids(s, i))
			continue;
		memcpy(words, &head, sizeof(head));
		words[1] = c.lost;
		words[n - 1] = get_first_event_id(s, i);
		write_bytes(r, words, n * 8);
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
		write_features(r);
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
