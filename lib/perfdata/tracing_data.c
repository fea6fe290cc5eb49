/* SPDX-License-Identifier: MIT */
/* Descriptions of tracepoints' fields, for readers of a recording: the places of fields in a
 * sample's raw bytes, from files of the running kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perfdata/perfdata.h"

/* Reads a file of tracefs, wherever that is mounted; the caller frees it. NULL if it cannot be
 * read. */
static char *read_tracefs_file(const struct pfm_session *s, const char *name, size_t *len)
{
	char path[512], *text;

	for (unsigned i = 0; i < TRACEFS_MOUNTS; i++) {
		snprintf(path, sizeof(path), "%s/%s", pfmi_machine_tracefs_paths[i], name);
		if (pfmi_machine_read_file(&s->sys, path, &text, len) == 0)
			return text;
	}
	return NULL;
}

/* Appends the file after its size; if it is missing, an empty one. */
static bool append_tracefs_file(struct byte_buffer *b, const struct pfm_session *s,
                                const char *name)
{
	size_t len = 0;
	char *text = read_tracefs_file(s, name, &len);
	bool ok = pfmi_perfdata_append_u64(b, len) &&
	          pfmi_perfdata_append_bytes(b, text ? text : "", len);

	free(text);
	return ok;
}

/* Looks for the line "ID: NUMBER" that each format has. */
bool pfmi_perfdata_has_tracepoint_id(const char *text, uint64_t config)
{
	const char *line = strstr(text, "\nID: ");

	return line && strtoull(line + 5, NULL, 10) == config;
}

/* Splits "system:event" and removes its attributes. */
static bool split_tracepoint_name(const char *name, char system[64], char event[128])
{
	return sscanf(name, "%63[^:]:%127[^:/]", system, event) == 2;
}

/* Reads the format of count @i; the caller frees it. NULL if the count is not a tracepoint, or has
 * no format. */
static char *read_tracepoint_format(const struct pfm_session *s, unsigned i, char system[64],
                                    size_t *len)
{
	const perfmon_attr_t *a = &s->counts[i].config.attr;
	char event[128], name[256], *text;

	if (a->type != PERF_TYPE_TRACEPOINT ||
	    !split_tracepoint_name(s->counts[i].config.name, system, event))
		return NULL;
	snprintf(name, sizeof(name), "%s/%s/format", system, event);
	text = read_tracefs_file(s, name, len);
	if (text && pfmi_perfdata_has_tracepoint_id(text, a->config))
		return text;
	free(text);
	return NULL;
}

char *pfmi_perfdata_read_trace_format(const struct pfm_session *s, unsigned i)
{
	char system[64];
	size_t len;

	return read_tracepoint_format(s, i, system, &len);
}

/* Appends a system with one event, if count @i is a tracepoint that differs from those of earlier
 * counts. Returns 1, 0, or a negative code. */
static int append_tracepoint_format(struct byte_buffer *b, const struct pfm_session *s, unsigned i)
{
	const perfmon_attr_t *a = &s->counts[i].config.attr;
	char system[64], *text;
	size_t len = 0;
	int rc = 0;

	for (unsigned k = 0; k < i; k++)
		if (s->counts[k].config.attr.type == a->type &&
		    s->counts[k].config.attr.config == a->config)
			return 0;
	text = read_tracepoint_format(s, i, system, &len);
	if (text)
		rc = pfmi_perfdata_append_bytes(b, system, strlen(system) + 1) &&
		                     pfmi_perfdata_append_u32(b, 1) &&
		                     pfmi_perfdata_append_u64(b, len) &&
		                     pfmi_perfdata_append_bytes(b, text, len)
		             ? 1
		             : -1;
	free(text);
	return rc;
}

/* Head, formats of the ring's own page and events, of no events of ftrace; then systems, their
 * number first; no symbols, no formats of printk, no names of tasks. */
bool pfmi_perfdata_build_tracing_data(struct pfm_session *s, struct byte_buffer *out)
{
	static const char head[] = "\x17\x08\x44tracing0.6";
	const uint8_t order_and_width[] = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long) };
	const struct perf_state *st = s->live.backend_state;
	bool ok = pfmi_perfdata_append_bytes(out, head, sizeof(head)) &&
	          pfmi_perfdata_append_bytes(out, order_and_width, 2) &&
	          pfmi_perfdata_append_u32(out, (uint32_t)st->page_size);
	uint32_t systems = 0;
	size_t at;

	ok = ok && pfmi_perfdata_append_bytes(out, "header_page", 12) &&
	     append_tracefs_file(out, s, "header_page");
	ok = ok && pfmi_perfdata_append_bytes(out, "header_event", 13) &&
	     append_tracefs_file(out, s, "header_event");
	ok = ok && pfmi_perfdata_append_u32(out, 0);
	at = out->end;
	ok = ok && pfmi_perfdata_append_u32(out, 0);
	for (unsigned i = 0; i < s->n_counts && ok; i++) {
		int rc = append_tracepoint_format(out, s, i);

		ok = rc >= 0;
		systems += rc > 0;
	}
	ok = ok && pfmi_perfdata_append_u32(out, 0) && pfmi_perfdata_append_u32(out, 0) &&
	     pfmi_perfdata_append_u64(out, 0);
	if (ok)
		memcpy(out->data + at, &systems, sizeof(systems));
	return ok && systems;
}
