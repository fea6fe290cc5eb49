/* SPDX-License-Identifier: MIT */
/* The events of a recording: their attributes, ids and names. */
#include <stdio.h>
#include <string.h>
#include "perfdata/recording_writer.h"

bool pfmi_perfdata_is_written_event(const struct pfm_session *s, unsigned i)
{
	return i == s->n_counts ? s->sampling->n_side_events > 0 : s->counts[i].kernel_state.n_open;
}

uint32_t pfmi_perfdata_get_attr_size(const struct pfm_session *s)
{
	uint64_t config3 = 0, config4 = 0;

	for (unsigned i = 0; i < s->n_counts; i++) {
		config3 |= s->counts[i].config.attr.config3;
		config4 |= s->counts[i].config.attr.config4;
	}
	return perf_attr_get_size(config3, config4);
}

/* Describes the records of a device in the form of perf: their layout and their period. */
static void fill_device_attr(const struct pfm_session *s, unsigned i, struct perf_attr *a)
{
	const struct record_layout *l = &s->sampling->common_layout;

	a->type = PERF_TYPE_RAW;
	a->config = i;
	a->sample_type = l->fields;
	a->read_format = l->read_format;
	a->sample_id_all = l->has_trailers;
	a->sample_period = s->counts[i].config.period;
}

void pfmi_perfdata_fill_event_attr(const struct pfm_session *s, unsigned i, struct perf_attr *a)
{
	memset(a, 0, sizeof(*a));
	if (pfmi_sampling_uses_device(s))
		fill_device_attr(s, i, a);
	else if (i < s->n_counts)
		pfmi_perf_build_attr(s, i, 0, true, a);
	else
		pfmi_sampling_fill_side_attr(s, a);
	a->size = pfmi_perfdata_get_attr_size(s);
}

const char *pfmi_perfdata_get_event_name(const struct pfm_session *s, unsigned i)
{
	return i < s->n_counts ? s->counts[i].config.name : "dummy:u";
}

uint32_t pfmi_perfdata_count_event_ids(const struct pfm_session *s, unsigned i)
{
	const struct sampling_state *sm = s->sampling;
	uint32_t n = 0;

	for (unsigned k = 0; k < sm->n_event_ids; k++)
		n += sm->event_ids[k].count_index == i;
	for (unsigned k = 0; k < sm->n_side_events && i == s->n_counts; k++)
		n += sm->side_events[k].fd >= 0;
	return n;
}

void pfmi_perfdata_write_event_ids(struct pfm_recording *r, unsigned i)
{
	const struct pfm_session *s = r->session;
	const struct sampling_state *sm = s->sampling;

	for (unsigned k = 0; k < sm->n_event_ids; k++)
		if (sm->event_ids[k].count_index == i)
			pfmi_perfdata_write_bytes(r, &sm->event_ids[k].id, sizeof(uint64_t));
	for (unsigned k = 0; k < sm->n_side_events && i == s->n_counts; k++)
		if (sm->side_events[k].fd >= 0)
			pfmi_perfdata_write_bytes(r, &sm->side_events[k].id, sizeof(uint64_t));
}

void pfmi_perfdata_write_attrs(struct pfm_recording *r)
{
	const struct pfm_session *s = r->session;
	uint64_t ids = sizeof(r->header);

	r->offset = ids;
	for (unsigned i = 0; i <= s->n_counts; i++)
		if (pfmi_perfdata_is_written_event(s, i))
			pfmi_perfdata_write_event_ids(r, i);
	r->header.attrs.offset = r->offset;
	for (unsigned i = 0; i <= s->n_counts; i++) {
		struct perfdata_section section = { ids, pfmi_perfdata_count_event_ids(s, i) *
			                                         sizeof(uint64_t) };
		struct perf_attr a;

		if (!pfmi_perfdata_is_written_event(s, i))
			continue;
		pfmi_perfdata_fill_event_attr(s, i, &a);
		pfmi_perfdata_write_bytes(r, &a, a.size);
		pfmi_perfdata_write_bytes(r, &section, sizeof(section));
		ids += section.size;
	}
	r->header.attrs.size = r->offset - r->header.attrs.offset;
}

uint64_t pfmi_perfdata_get_first_event_id(const struct pfm_session *s, unsigned i)
{
	const struct sampling_state *sm = s->sampling;
	unsigned k = 0;

	while (sm->event_ids[k].count_index != i)
		k++;
	return sm->event_ids[k].id;
}

void pfmi_perfdata_write_name_records(struct pfm_recording *r)
{
	const struct pfm_session *s = r->session;

	for (unsigned i = 0; i < s->n_counts; i++) {
		uint64_t what[2] = { PERFDATA_UPDATE_NAME, 0 };
		struct record_header head = { PERFDATA_RECORD_EVENT_UPDATE, 0, 0 };
		char name[256] = "";
		size_t len;

		if (!pfmi_perfdata_count_event_ids(s, i))
			continue;
		what[1] = pfmi_perfdata_get_first_event_id(s, i);
		snprintf(name, sizeof(name), "%s", pfmi_perfdata_get_event_name(s, i));
		len = (strlen(name) + 8) & ~(size_t)7;
		head.size = (uint16_t)(sizeof(head) + sizeof(what) + len);
		pfmi_perfdata_write_bytes(r, &head, sizeof(head));
		pfmi_perfdata_write_bytes(r, what, sizeof(what));
		pfmi_perfdata_write_bytes(r, name, len);
	}
}
