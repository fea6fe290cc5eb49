/* SPDX-License-Identifier: MIT */
/* Writing perf.data: a head, the events with their ids, what the buffers held, as it was, and at the end what is known of the machine.
 * The size of the data is put right after every pass, so a file whose writer was killed is readable up to there. */
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

#define PACK_MAX 60000u /* packed at a time: even what cannot be packed fits a record */

struct pfm_recording {
	struct pfm_session *s;
	struct zstd *zstd; /* NULL: what the buffers hold is written as it is */
	int level;
	uint64_t plain, packed; /* bytes before and after */
	struct bytes formats;   /* of tracepoints; empty: there are none */
	int fd, err;            /* err: errno of the first write that failed */
	struct data_head head;
	uint64_t at, started;
	char *command;
};

/* ---- writing ------------------------------------------------------------------------------------------------------------ */

static int put_bytes(struct pfm_recording *r, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n && !r->err) {
		ssize_t done = pwrite(r->fd, p, n, (off_t)r->at);

		if (done < 0 && errno != EINTR)
			r->err = errno;
		if (done <= 0)
			continue;
		p += done;
		n -= (size_t)done;
		r->at += (uint64_t)done;
	}
	return r->err ? -r->err : 0;
}

/* Whole frames, each in a record of its own: what was written before the writer was killed can be unpacked. */
static void put_packed(struct pfm_recording *r, const uint8_t *bytes, size_t n)
{
	uint8_t record[UINT16_MAX];

	while (n && !r->err) {
		size_t part = n < PACK_MAX ? n : PACK_MAX;
		size_t size = pfmi_zstd_pack(r->zstd, record + RECORD_HEAD, sizeof(record) - RECORD_HEAD, bytes, part, r->level);
		struct record_head head = { DATA_COMPRESSED, 0, (uint16_t)(size + sizeof(head)) };

		if (!size)
			r->err = EIO;
		memcpy(record, &head, sizeof(head));
		put_bytes(r, record, head.size);
		bytes += part;
		n -= part;
		r->plain += part;
		r->packed += size;
	}
}

static int put_record(void *arg, const void *bytes, size_t n)
{
	return put_bytes(arg, bytes, n);
}

/* What has been written is all the data so far. Where a write failed there should be more, and readers are told so: what there is may end
 * with a whole record. */
static void end_data(struct pfm_recording *r)
{
	r->head.data.size = r->at - r->head.data.offset + (r->err ? RECORD_HEAD : 0);
}

static void put_head(struct pfm_recording *r)
{
	uint64_t at = r->at;
	int err = r->err;

	/* It has its place, be the disk full: what was written before can be read. */
	r->at = 0;
	r->err = 0;
	put_bytes(r, &r->head, sizeof(r->head));
	r->at = at;
	r->err = err ? err : r->err;
}

static void put_u32(struct pfm_recording *r, uint32_t v)
{
	put_bytes(r, &v, sizeof(v));
}

/* A text as features have it: its length with the zeros behind it, then both. */
static void put_text(struct pfm_recording *r, const char *s)
{
	static const char zeros[64];
	size_t len = strlen(s) + 1, padded = (len + 63) & ~(size_t)63;

	put_u32(r, (uint32_t)padded);
	put_bytes(r, s, len);
	put_bytes(r, zeros, padded - len);
}

/* ---- events --------------------------------------------------------------------------------------------------------------- */

/* Events of the file: the counts that are open, then the one beside samples, if there is one. */
static bool written(const struct pfm_session *s, unsigned i)
{
	return i == s->n_counts ? s->sampling->n_places > 0 : s->counts[i].kernel_state.n_open;
}

/* A device that is none of perf's: how its records are laid out, and what each stands for. */
static void device_attr(const struct pfm_session *s, unsigned i, struct perf_event_attr *a)
{
	const struct layout *l = &s->sampling->common;

	a->type = PERF_TYPE_RAW;
	a->config = i;
	a->sample_type = l->fields;
	a->read_format = l->read_format;
	a->sample_id_all = l->trailers;
	a->sample_period = s->counts[i].config.period;
}

static void attr_of(const struct pfm_session *s, unsigned i, union perf_attr_buffer *a)
{
	memset(a, 0, sizeof(*a));
	if (s->backend->next_sample_record)
		device_attr(s, i, &a->attr);
	else if (i < s->n_counts)
		pfmi_perf_build_attr(s, i, 0, true, a);
	else
		pfmi_sampling_side_attr(s, &a->attr);
	a->attr.size = DATA_ATTR_SIZE;
}

static const char *name_of(const struct pfm_session *s, unsigned i)
{
	return i < s->n_counts ? s->counts[i].config.name : "dummy:u";
}

static uint32_t n_ids(const struct pfm_session *s, unsigned i)
{
	const struct sampling *sm = s->sampling;
	uint32_t n = 0;

	for (unsigned k = 0; k < sm->n_known; k++)
		n += sm->known[k].count == i;
	for (unsigned k = 0; k < sm->n_places && i == s->n_counts; k++)
		n += sm->places[k].fd >= 0;
	return n;
}

static void put_ids(struct pfm_recording *r, unsigned i)
{
	const struct pfm_session *s = r->s;
	const struct sampling *sm = s->sampling;

	for (unsigned k = 0; k < sm->n_known; k++)
		if (sm->known[k].count == i)
			put_bytes(r, &sm->known[k].id, sizeof(uint64_t));
	for (unsigned k = 0; k < sm->n_places && i == s->n_counts; k++)
		if (sm->places[k].fd >= 0)
			put_bytes(r, &sm->places[k].id, sizeof(uint64_t));
}

static void put_attrs(struct pfm_recording *r)
{
	const struct pfm_session *s = r->s;
	uint64_t ids = sizeof(r->head);

	r->at = ids;
	for (unsigned i = 0; i <= s->n_counts; i++)
		if (written(s, i))
			put_ids(r, i);
	r->head.attrs.offset = r->at;
	for (unsigned i = 0; i <= s->n_counts; i++) {
		struct data_section section = { ids, n_ids(s, i) * sizeof(uint64_t) };
		union perf_attr_buffer a;

		if (!written(s, i))
			continue;
		attr_of(s, i, &a);
		put_bytes(r, &a, DATA_ATTR_SIZE);
		put_bytes(r, &section, sizeof(section));
		ids += section.size;
	}
	r->head.attrs.size = r->at - r->head.attrs.offset;
}

static uint64_t first_id(const struct pfm_session *s, unsigned i)
{
	const struct sampling *sm = s->sampling;
	unsigned k = 0;

	while (sm->known[k].count != i)
		k++;
	return sm->known[k].id;
}

/* The names once more, as records: the table of names is at the end, and there may never be an end. */
static void put_names(struct pfm_recording *r)
{
	const struct pfm_session *s = r->s;

	for (unsigned i = 0; i < s->n_counts; i++) {
		uint64_t what[2] = { DATA_UPDATE_NAME, 0 };
		struct record_head head = { DATA_EVENT_UPDATE, 0, 0 };
		char name[256] = "";
		size_t len;

		if (!n_ids(s, i))
			continue;
		what[1] = first_id(s, i);
		snprintf(name, sizeof(name), "%s", name_of(s, i));
		len = (strlen(name) + 8) & ~(size_t)7;
		head.size = (uint16_t)(sizeof(head) + sizeof(what) + len);
		put_bytes(r, &head, sizeof(head));
		put_bytes(r, what, sizeof(what));
		put_bytes(r, name, len);
	}
}

/* ---- features --------------------------------------------------------------------------------------------------------------- */

static void put_event_desc(struct pfm_recording *r)
{
	const struct pfm_session *s = r->s;
	uint32_t n = 0;

	for (unsigned i = 0; i <= s->n_counts; i++)
		n += written(s, i);
	put_u32(r, n);
	put_u32(r, DATA_ATTR_SIZE);
	for (unsigned i = 0; i <= s->n_counts; i++) {
		union perf_attr_buffer a;

		if (!written(s, i))
			continue;
		attr_of(s, i, &a);
		put_bytes(r, &a, DATA_ATTR_SIZE);
		put_u32(r, n_ids(s, i));
		put_text(r, name_of(s, i));
		put_ids(r, i);
	}
}

/* One argument after the other: they are separated by newlines in r->command. */
static void put_command(struct pfm_recording *r)
{
	uint32_t n = 1;

	for (const char *p = r->command; *p; p++)
		n += *p == '\n';
	put_u32(r, n);
	for (char *p = r->command, *end; p; p = end) {
		end = strchr(p, '\n');
		if (end)
			*end++ = '\0';
		put_text(r, p);
	}
}

static uint64_t file_number(struct pfm_recording *r, unsigned cpu, const char *what)
{
	char path[128];
	uint64_t v = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, what);
	return pfmi_sys_number(&r->s->sys, path, &v) ? 0 : v;
}

static void put_siblings(struct pfm_recording *r, unsigned cpus, const char *what)
{
	char path[128], list[256], (*seen)[256] = calloc(cpus + 1, sizeof(*seen));
	uint32_t n = 0;

	for (unsigned cpu = 0; seen && cpu < cpus; cpu++) {
		unsigned k = 0;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, what);
		if (pfmi_sys_slurp(&r->s->sys, path, list, sizeof(list)) <= 0)
			continue;
		while (k < n && strcmp(seen[k], list) != 0)
			k++;
		if (k == n)
			memcpy(seen[n++], list, sizeof(list));
	}
	put_u32(r, n);
	for (uint32_t k = 0; k < n; k++)
		put_text(r, seen[k]);
	free(seen);
}

static void put_topology(struct pfm_recording *r)
{
	unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);

	put_siblings(r, cpus, "core_siblings_list");
	put_siblings(r, cpus, "thread_siblings_list");
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		put_u32(r, (uint32_t)file_number(r, cpu, "core_id"));
		put_u32(r, (uint32_t)file_number(r, cpu, "physical_package_id"));
	}
}

static uint64_t clock_ns(int id)
{
	struct timespec t = { 0 };

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put_clock_data(struct pfm_recording *r)
{
	int id = r->s->sampling->asked.clock;
	uint64_t times[2] = { clock_ns(CLOCK_REALTIME), clock_ns(id) };

	put_u32(r, 1);
	put_u32(r, (uint32_t)id);
	put_bytes(r, times, sizeof(times));
}

/* Version (perf leaves it at 0, and there are readers that take nothing else), zstd, level, ratio, and the room that a reader needs. */
static void put_packing(struct pfm_recording *r)
{
	const uint32_t words[] = { 0, 1, (uint32_t)r->level, (uint32_t)(r->packed ? r->plain / r->packed : 1), UINT16_MAX + 1u };

	put_bytes(r, words, sizeof(words));
}

static void put_feature(struct pfm_recording *r, unsigned bit, const struct utsname *u)
{
	uint64_t times[2] = { r->started, clock_ns(r->s->sampling->asked.clock) };
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 1024, resolution = 1;

	switch (bit) {
	case DATA_TRACING: put_bytes(r, r->formats.at, r->formats.end); break;
	case DATA_HOSTNAME: put_text(r, u->nodename); break;
	case DATA_OSRELEASE: put_text(r, u->release); break;
	case DATA_VERSION: put_text(r, "perfmon"); break;
	case DATA_ARCH: put_text(r, u->machine); break;
	case DATA_NRCPUS:
		put_u32(r, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
		put_u32(r, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
		break;
	case DATA_TOTAL_MEM: put_bytes(r, &memory, sizeof(memory)); break;
	case DATA_CMDLINE: put_command(r); break;
	case DATA_EVENT_DESC: put_event_desc(r); break;
	case DATA_CPU_TOPOLOGY: put_topology(r); break;
	case DATA_SAMPLE_TIME: put_bytes(r, times, sizeof(times)); break;
	case DATA_CLOCKID: put_bytes(r, &resolution, sizeof(resolution)); break;
	case DATA_PACKED: put_packing(r); break;
	case DATA_CLOCK_DATA: put_clock_data(r); break;
	default: break;
	}
}

/* True if the recording has what feature @bit is about. */
static bool has_feature(const struct pfm_recording *r, unsigned bit)
{
	switch (bit) {
	case DATA_PACKED: return r->zstd != NULL;
	case DATA_TRACING: return r->formats.end > 0;
	case DATA_SAMPLE_TIME:
	case DATA_CLOCKID:
	case DATA_CLOCK_DATA: return r->s->sampling->common.fields & PFM_SAMPLE_TIME;
	default: return true;
	}
}

static void put_features(struct pfm_recording *r)
{
	static const uint8_t bits[] = { DATA_TRACING, DATA_HOSTNAME, DATA_OSRELEASE, DATA_VERSION, DATA_ARCH, DATA_NRCPUS,
		                        DATA_TOTAL_MEM, DATA_CMDLINE,
		                        DATA_EVENT_DESC, DATA_CPU_TOPOLOGY, DATA_SAMPLE_TIME, DATA_CLOCKID, DATA_PACKED, DATA_CLOCK_DATA };
	struct data_section sections[sizeof(bits)];
	struct utsname u;
	uint64_t table = r->at;
	unsigned n = 0;

	uname(&u);
	if (!pfmi_data_formats(r->s, &r->formats))
		r->formats.end = 0;
	for (unsigned i = 0; i < sizeof(bits); i++)
		n += has_feature(r, bits[i]);
	r->at += n * sizeof(*sections);
	n = 0;
	for (unsigned i = 0; i < sizeof(bits); i++) {
		if (!has_feature(r, bits[i]))
			continue;
		sections[n].offset = r->at;
		put_feature(r, bits[i], &u);
		sections[n].size = r->at - sections[n].offset;
		r->head.features[bits[i] / 64] |= (uint64_t)1 << bits[i] % 64;
		n++;
	}
	r->at = table;
	put_bytes(r, sections, n * sizeof(*sections));
}

/* ---- a recording ---------------------------------------------------------------------------------------------------------- */

static int begin(struct pfm_recording *r)
{
	r->head.magic = DATA_MAGIC;
	r->head.size = sizeof(r->head);
	r->head.attr_size = DATA_ATTR_SIZE + sizeof(struct data_section);
	r->started = clock_ns(r->s->sampling->asked.clock);
	put_attrs(r);
	r->head.data.offset = r->at;
	put_names(r);
	if (r->s->sampling->streams && pfmi_data_before(r->s, put_record, r) == -ENOMEM && !r->err)
		r->err = ENOMEM;
	end_data(r);
	put_head(r);
	return r->err;
}

static int open_recording(pfm_recording_t **out, const char *path, pfm_session_t *s, const char *command, pfm_error_t *why)
{
	struct pfm_recording *r = calloc(1, sizeof(*r));
	int err;

	if (r)
		r->command = strdup(command ? command : "");
	if (!r || !r->command) {
		free(r);
		return pfmi_refuse_errno(why, PFMLIB_ERR_NOMEM, ENOMEM, NULL);
	}
	r->s = s;
	r->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	err = r->fd < 0 ? errno : begin(r);
	if (!err) {
		*out = r;
		return PFMLIB_SUCCESS;
	}
	if (r->fd >= 0)
		close(r->fd);
	free(r->command);
	free(r);
	return pfmi_refuse_errno(why, PFMLIB_ERR_SYS, err, "the recording cannot be written");
}

int pfm_open_recording(pfm_recording_t **out, const char *path, pfm_session_t *s, const char *command, pfm_error_t *error)
{
	pfm_error_t mine, *why = pfmi_error_begin(error, &mine);
	int rc = PFMLIB_ERR_INVAL;

	if (out)
		*out = NULL;
	if (out && path && s && s->sampling && !s->recording && (s->sampling->streams || (s->backend->next_sample_record && s->sampling->n_known)))
		rc = open_recording(out, path, s, command, why);
	else
		pfmi_refuse(why, rc, PFM_KIND_NONE, NULL, (struct slice){ 0 }, "out or path is NULL, or the session takes no samples");
	return pfmi_error_end(error, why, rc);
}

int pfm_compress_recording(pfm_recording_t *r, int level)
{
	if (!r || r->zstd || level < 1 || level > 22)
		return PFMLIB_ERR_INVAL;
	r->level = level;
	r->zstd = pfmi_zstd_open();
	return r->zstd ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTSUPP;
}

/* Bytes of records, packed if that was asked for. */
static void put_data(struct pfm_recording *r, const void *bytes, size_t len)
{
	if (r->zstd)
		put_packed(r, bytes, len);
	else
		put_bytes(r, bytes, len);
}

/* Of a device without buffers: its records, which are short, some hundred at a time. Returns a negative code if it fails. */
static int put_device(struct pfm_recording *r)
{
	pfm_record_t record = PFM_INIT(record);
	uint8_t some[16384];
	size_t n = 0;
	int rc;

	while ((rc = pfm_next_record(r->s, &record)) == 1) {
		if (record.raw_size > sizeof(some) - n) {
			put_data(r, some, n);
			n = 0;
		}
		memcpy(some + n, record.raw, record.raw_size);
		n += record.raw_size;
	}
	put_data(r, some, n);
	return rc;
}

int pfm_write_records(pfm_recording_t *r, uint64_t *size)
{
	const struct record_head round = { DATA_FINISHED_ROUND, 0, sizeof(round) };
	const void *bytes;
	uint64_t before;
	size_t len;
	int rc = 0;

	if (!r)
		return PFMLIB_ERR_INVAL;
	before = r->at;
	if (r->s->sampling->streams)
		while (pfm_next_bytes(r->s, &bytes, &len, NULL) == 1)
			put_data(r, bytes, len);
	else
		rc = put_device(r);
	if (r->at != before)
		put_bytes(r, &round, sizeof(round));
	end_data(r);
	if (r->at != before || r->err)
		put_head(r);
	if (size)
		*size = r->at;
	if (rc == 0)
		r->s->sys_errno = r->err;
	return rc ? rc : r->err ? PFMLIB_ERR_SYS
	                        : PFMLIB_SUCCESS;
}

/* What was lost behind the last record that a buffer had room for stands in none of it: the events' own account, as perf puts it. */
static void put_losses(struct pfm_recording *r)
{
	struct pfm_session *s = r->s;
	size_t n = 2 + (size_t)__builtin_popcountll(s->sampling->asked.fields & TRAILER);

	for (unsigned i = 0; i < s->n_counts; i++) {
		struct record_head head = { PFM_RECORD_LOST_SAMPLES, 0, (uint16_t)(n * 8) };
		pfm_sample_count_t c = PFM_INIT(c);
		uint64_t words[16] = { 0 };

		if (pfm_read_samples(s, i, &c) || !c.lost || c.lost == PFM_LOST_UNKNOWN || !n_ids(s, i))
			continue;
		memcpy(words, &head, sizeof(head));
		words[1] = c.lost;
		words[n - 1] = first_id(s, i);
		put_bytes(r, words, n * 8);
	}
	end_data(r);
}

int pfm_close_recording(pfm_recording_t *r)
{
	int rc;

	if (!r)
		return PFMLIB_SUCCESS;
	rc = pfm_write_records(r, NULL);
	if (!rc)
		put_losses(r);
	if (!rc)
		put_features(r);
	if (!rc)
		put_head(r);
	rc = r->err ? PFMLIB_ERR_SYS : rc;
	r->s->sys_errno = r->err;
	if (close(r->fd) && !rc)
		rc = PFMLIB_ERR_SYS;
	pfmi_zstd_close(r->zstd);
	free(r->formats.at);
	free(r->command);
	free(r);
	return rc;
}
