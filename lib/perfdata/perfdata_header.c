/* SPDX-License-Identifier: MIT */
/* Reads the events of a recording: from the header of a file, or from records of a pipe. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/grow.h"
#include "base/pread.h"
#include "perfdata/perfdata_internal.h"

#define MAX_RECORDED_EVENTS 4096u
#define MAX_RECORDED_IDS    (1u << 20)

/* Returns bit @i of the flags. On big-endian machines bits are numbered from the highest. */
static bool get_attr_flag(const struct perfdata_reader *r, uint64_t flags, unsigned i)
{
	return (r->is_big_endian ? flags >> (63 - i) : flags >> i) & 1;
}

/* The layout of the records of an event with the attributes at @a. */
static struct record_layout decode_record_layout(const struct perfdata_reader *r, const uint8_t *a)
{
	uint64_t flags = perfdata_decode_u64(r, a + 40);
	uint16_t frames = perfdata_decode_u16(r, a + 108);

	return (struct record_layout){ .fields = perfdata_decode_u64(r, a + 24),
		                       .read_format = perfdata_decode_u64(r, a + 32),
		                       .branch_type = perfdata_decode_u64(r, a + 72),
		                       .user_regs = perfdata_decode_u64(r, a + 80),
		                       .intr_regs = perfdata_decode_u64(r, a + 96),
		                       .max_frames = frames ? frames : DEFAULT_MAX_FRAMES,
		                       .is_inherited = get_attr_flag(r, flags, 1),
		                       .has_trailers = get_attr_flag(r, flags, 18),
		                       .has_build_ids = get_attr_flag(r, flags, 34) };
}

/* The configuration of the next count of @s, which has the attributes at @a. */
static struct count_config decode_count_config(const struct pfm_session *s, const uint8_t *a,
                                               char *name)
{
	const struct perfdata_reader *r = s->recording;
	uint64_t flags = perfdata_decode_u64(r, a + 40), rate = perfdata_decode_u64(r, a + 16);
	bool has_frequency = get_attr_flag(r, flags, 10);

	return (struct count_config){
		.name = name,
		.cpus = "",
		.unit = "",
		.scale = 1,
		.group = s->n_counts,
		.request = s->n_counts,
		.freq = has_frequency ? rate : 0,
		.period = has_frequency ? 0 : rate,
		.attr = { .type = perfdata_decode_u32(r, a),
		          .type_known = 1,
		          .config = perfdata_decode_u64(r, a + 8),
		          .config1 =
		                  perfdata_decode_u64(r, a + offsetof(struct perf_attr, config1)),
		          .config2 =
		                  perfdata_decode_u64(r, a + offsetof(struct perf_attr, config2)),
		          .config3 =
		                  perfdata_decode_u64(r, a + offsetof(struct perf_attr, config3)),
		          .config4 =
		                  perfdata_decode_u64(r, a + offsetof(struct perf_attr, config4)),
		          .expressible = 1,
		          .exclude_user = get_attr_flag(r, flags, 4),
		          .exclude_kernel = get_attr_flag(r, flags, 5) }
	};
}

/* Adds an event. Of its @n bytes of attributes only the members matter that determine the layout of
 * its records. */
static int add_event(struct pfm_session *s, const uint8_t *given, size_t n)
{
	struct perfdata_reader *r = s->recording;
	uint8_t a[sizeof(struct perf_attr)] = { 0 };
	char *name = pfmi_session_alloc_name(s, 256);
	struct session_count *c;
	bool failed = !name || s->n_counts == MAX_RECORDED_EVENTS;

	s->counts = base_grow_list(s->counts, s->n_counts, &r->counts_capacity, sizeof(*s->counts),
	                           &failed);
	s->sampling->totals = base_grow_list(s->sampling->totals, s->n_counts, &r->totals_capacity,
	                                     sizeof(*s->sampling->totals), &failed);
	if (failed)
		return PFMLIB_ERR_NOMEM;
	memcpy(a, given, n < sizeof(a) ? n : sizeof(a));
	s->sampling->totals[s->n_counts] =
		(struct sample_totals){ .layout = decode_record_layout(r, a) };
	r->has_build_ids |= s->sampling->totals[s->n_counts].layout.has_build_ids;
	c = &s->counts[s->n_counts];
	*c = (struct session_count){ .config = decode_count_config(s, a, name) };
	s->n_counts++;
	pfmi_session_fail_count(c, PFM_CAUSE_OTHER, 0, "", "a recording has samples but no counts");
	return 0;
}

static int add_event_id(struct pfm_session *s, uint64_t id, unsigned event)
{
	struct sampling_state *sm = s->sampling;
	struct perfdata_reader *r = s->recording;
	bool failed = false;

	if (sm->n_event_ids == MAX_RECORDED_IDS)
		return PFMLIB_ERR_INVAL;
	sm->event_ids = base_grow_list(sm->event_ids, sm->n_event_ids, &r->ids_capacity,
	                               sizeof(*sm->event_ids), &failed);
	if (failed)
		return PFMLIB_ERR_NOMEM;
	/* If several events claim one id, the first one gets it. */
	if (pfmi_sampling_find_count(sm, id) >= 0)
		return 0;
	if (!pfmi_base_add_hash(&sm->id_table, pfmi_base_hash_number(id), sm->n_event_ids))
		return PFMLIB_ERR_NOMEM;
	sm->event_ids[sm->n_event_ids++] = (struct event_id){ id, event };
	return 0;
}

/* Records without an event: perf writes them itself, with build ids if any event asked for these.
 */
void pfmi_perfdata_update_common_layout(struct pfm_session *s)
{
	if (!s->n_counts)
		return;
	s->sampling->common_layout = s->sampling->totals[0].layout;
	s->sampling->common_layout.has_build_ids = s->recording->has_build_ids;
}

static void set_event_name(struct pfm_session *s, unsigned event, const uint8_t *text, size_t n)
{
	size_t len = n < 255 ? n : 255;
	const uint8_t *end = memchr(text, 0, len);

	if (end)
		len = (size_t)(end - text);
	memcpy(s->counts[event].config.name, text, len);
	s->counts[event].config.name[len] = '\0';
}

void pfmi_perfdata_name_unnamed_events(struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n_counts; i++) {
		const perfmon_attr_t *a = &s->counts[i].config.attr;
		static const char soft[][20] = { "cpu-clock",        "task-clock",
			                         "page-faults",      "context-switches",
			                         "cpu-migrations",   "minor-faults",
			                         "major-faults",     "alignment-faults",
			                         "emulation-faults", "dummy" };
		static const char hard[][24] = { "cycles",       "instructions", "cache-references",
			                         "cache-misses", "branches",     "branch-misses" };

		if (*s->counts[i].config.name)
			continue;
		if (a->type == PERF_TYPE_SOFTWARE && a->config < sizeof(soft) / sizeof(soft[0]))
			set_event_name(s, i, (const uint8_t *)soft[a->config], sizeof(soft[0]));
		else if (a->type == PERF_TYPE_HARDWARE &&
		         a->config < sizeof(hard) / sizeof(hard[0]))
			set_event_name(s, i, (const uint8_t *)hard[a->config], sizeof(hard[0]));
		else
			set_event_name(s, i, (const uint8_t *)"unnamed", sizeof("unnamed"));
	}
}

/* ---- the head of a file --------------------------------------------------------------------- */

static int read_event_ids(struct pfm_session *s, unsigned event, uint64_t offset, uint64_t size)
{
	const struct perfdata_reader *r = s->recording;

	if (size / 8 > MAX_RECORDED_IDS)
		return PFMLIB_ERR_INVAL;
	for (uint64_t at = 0; at + 8 <= size; at += 8) {
		uint8_t id[8];
		int rc = base_pread(r->fd, id, sizeof(id), offset + at)
		                 ? add_event_id(s, perfdata_decode_u64(r, id), event)
		                 : PFMLIB_ERR_INVAL;

		if (rc)
			return rc;
	}
	return 0;
}

static int read_attrs(struct pfm_session *s, const uint8_t *head)
{
	const struct perfdata_reader *r = s->recording;
	uint64_t entry = perfdata_decode_u64(r, head + 16),
		 offset = perfdata_decode_u64(r, head + 24),
		 size = perfdata_decode_u64(r, head + 32);
	uint8_t bytes[4096];

	if (entry < 64 + 16 || entry > sizeof(bytes) || size / entry > MAX_RECORDED_EVENTS ||
	    size < entry)
		return PFMLIB_ERR_INVAL;
	for (uint64_t i = 0; i < size / entry; i++) {
		int rc;

		if (!base_pread(r->fd, bytes, (size_t)entry, offset + i * entry))
			return PFMLIB_ERR_INVAL;
		rc = add_event(s, bytes, (size_t)entry - 16);
		if (!rc)
			rc = read_event_ids(s, s->n_counts - 1,
			                    perfdata_decode_u64(r, bytes + entry - 16),
			                    perfdata_decode_u64(r, bytes + entry - 8));
		if (rc)
			return rc;
	}
	return 0;
}

/* Reads names of events from the table after the data. If the table is damaged, events have no
 * names. */
static void read_event_names(struct pfm_session *s, uint64_t offset, uint64_t size)
{
	const struct perfdata_reader *r = s->recording;
	uint8_t *desc = size >= 8 && size <= 1u << 24 ? malloc((size_t)size) : NULL;
	uint64_t at = 8, attr, n;

	if (!desc || !base_pread(r->fd, desc, (size_t)size, offset)) {
		free(desc);
		return;
	}
	n = perfdata_decode_u32(r, desc);
	attr = perfdata_decode_u32(r, desc + 4);
	for (uint64_t i = 0; i < n && i < s->n_counts && attr <= size && at + attr + 8 <= size;
	     i++) {
		uint64_t ids = perfdata_decode_u32(r, desc + at + attr),
			 len = perfdata_decode_u32(r, desc + at + attr + 4);

		at += attr + 8;
		if (len > size - at)
			break;
		set_event_name(s, (unsigned)i, desc + at, (size_t)len);
		at += len;
		if (ids > (size - at) / 8)
			break;
		at += ids * 8;
	}
	free(desc);
}

bool pfmi_perfdata_alloc_tracing_data(struct perfdata_reader *r, uint64_t size)
{
	free(r->tracing_data);
	r->tracing_data = size && size <= MAX_UNPACKED_SIZE ? malloc((size_t)size) : NULL;
	r->tracing_data_size = r->tracing_data ? (size_t)size : 0;
	return r->tracing_data != NULL;
}

static void read_tracing_data(struct perfdata_reader *r, uint64_t offset, uint64_t size)
{
	if (pfmi_perfdata_alloc_tracing_data(r, size) &&
	    !base_pread(r->fd, r->tracing_data, r->tracing_data_size, offset))
		r->tracing_data_size = 0;
}

static void read_features(struct pfm_session *s, const uint8_t *head, uint64_t table)
{
	const struct perfdata_reader *r = s->recording;
	unsigned at = 0;

	for (unsigned bit = 0; bit < PERFDATA_N_FEATURES; bit++) {
		uint8_t section[16];

		if (!(perfdata_decode_u64(r, head + 72 + bit / 64 * 8) >> bit % 64 & 1))
			continue;
		if (base_pread(r->fd, section, sizeof(section), table + at * 16)) {
			if (bit == PERFDATA_FEATURE_EVENT_DESC)
				read_event_names(s, perfdata_decode_u64(r, section),
				                 perfdata_decode_u64(r, section + 8));
			else if (bit == PERFDATA_FEATURE_TRACING)
				read_tracing_data(s->recording, perfdata_decode_u64(r, section),
				                  perfdata_decode_u64(r, section + 8));
		}
		at++;
	}
}

int pfmi_perfdata_read_header(struct pfm_session *s)
{
	struct perfdata_reader *r = s->recording;
	uint8_t head[sizeof(struct perfdata_header)];
	uint64_t offset, size;
	struct stat st;
	int rc;

	if (!base_pread(r->fd, head, sizeof(head), 0) || fstat(r->fd, &st))
		return PFMLIB_ERR_INVAL;
	offset = perfdata_decode_u64(r, head + 40);
	size = perfdata_decode_u64(r, head + 48);
	if (offset > (uint64_t)st.st_size)
		return PFMLIB_ERR_INVAL;
	rc = read_attrs(s, head);
	if (rc)
		return rc;
	/* A writer that was killed left the size 0: reads everything, and reports that the end is
	 * missing. */
	if (size)
		read_features(s, head, offset + size);
	r->n_bytes_left = size ? size : UINT64_MAX;
	return lseek(r->fd, (off_t)offset, SEEK_SET) < 0 ? PFMLIB_ERR_SYS : 0;
}

/* ---- records of a pipe ---------------------------------------------------------------------- */

int pfmi_perfdata_read_attr_record(struct pfm_session *s, const uint8_t *p, size_t size)
{
	const struct perfdata_reader *r = s->recording;
	size_t attr = size >= 16 ? perfdata_decode_u32(r, p + 12) : 0;
	int rc;

	if (attr < 64 || attr > size - 8)
		return PFMLIB_ERR_INVAL;
	rc = add_event(s, p + 8, attr);
	for (size_t at = 8 + attr; at + 8 <= size && !rc; at += 8)
		rc = add_event_id(s, perfdata_decode_u64(r, p + at), s->n_counts - 1);
	pfmi_perfdata_update_common_layout(s);
	pfmi_perfdata_name_unnamed_events(s);
	return rc;
}

void pfmi_perfdata_read_update_record(struct pfm_session *s, const uint8_t *p, size_t size)
{
	const struct perfdata_reader *r = s->recording;
	int event = size > 24
	                    ? pfmi_sampling_find_count(s->sampling, perfdata_decode_u64(r, p + 16))
	                    : -1;

	if (event >= 0 && perfdata_decode_u64(r, p + 8) == PERFDATA_UPDATE_NAME)
		set_event_name(s, (unsigned)event, p + 24, size - 24);
}
