/* SPDX-License-Identifier: MIT */
/* What readers need to print the fields of tracepoints: where they are in a sample's bytes, as this kernel's own files describe it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perfdata/perfdata.h"

static bool add(struct bytes *b, const void *p, size_t n)
{
	if (!pfmi_bytes_room(b, n))
		return false;
	memcpy(b->at + b->end, p, n);
	b->end += n;
	return true;
}

static bool add_u32(struct bytes *b, uint32_t v)
{
	return add(b, &v, sizeof(v));
}

static bool add_u64(struct bytes *b, uint64_t v)
{
	return add(b, &v, sizeof(v));
}

/* A file of tracefs, wherever that is mounted; the caller frees it. NULL if it cannot be read. */
static char *slurp(const struct pfm_session *s, const char *name, size_t *len)
{
	static const char mounts[][40] = { "/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events" };
	char path[512], *text;

	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", mounts[i], name);
		if (pfmi_sys_read(&s->sys, path, &text, len) == 0)
			return text;
	}
	return NULL;
}

/* The same with its size before it. Nothing where there is no file. */
static bool add_file(struct bytes *b, const struct pfm_session *s, const char *name)
{
	size_t len = 0;
	char *text = slurp(s, name, &len);
	bool ok = add_u64(b, len) && add(b, text ? text : "", len);

	free(text);
	return ok;
}

/* Number of a format: the line "ID: 372" of it. */
bool pfmi_data_is_format(const char *text, uint64_t config)
{
	const char *line = strstr(text, "\nID: ");

	return line && strtoull(line + 5, NULL, 10) == config;
}

/* "system:event" without what stands behind. */
static bool split(const char *name, char system[64], char event[128])
{
	return sscanf(name, "%63[^:]:%127[^:/]", system, event) == 2;
}

/* The caller frees it. NULL if count @i is no tracepoint, or there is no text about this very one. */
static char *format_of(const struct pfm_session *s, unsigned i, char system[64], size_t *len)
{
	const pfm_attr_t *a = &s->counts[i].config.attr;
	char event[128], name[256], *text;

	if (a->type != PERF_TYPE_TRACEPOINT || !split(s->counts[i].config.name, system, event))
		return NULL;
	snprintf(name, sizeof(name), "%s/%s/format", system, event);
	text = slurp(s, name, len);
	if (text && pfmi_data_is_format(text, a->config))
		return text;
	free(text);
	return NULL;
}

char *pfmi_data_format(const struct pfm_session *s, unsigned i)
{
	char system[64];
	size_t len;

	return format_of(s, i, system, &len);
}

/* One system with one event, if count @i is a tracepoint that none before it is. 1, 0 for none, or -1 without memory. */
static int add_format(struct bytes *b, const struct pfm_session *s, unsigned i)
{
	const pfm_attr_t *a = &s->counts[i].config.attr;
	char system[64], *text;
	size_t len = 0;
	int rc = 0;

	for (unsigned k = 0; k < i; k++)
		if (s->counts[k].config.attr.type == a->type && s->counts[k].config.attr.config == a->config)
			return 0;
	text = format_of(s, i, system, &len);
	if (text)
		rc = add(b, system, strlen(system) + 1) && add_u32(b, 1) && add_u64(b, len) && add(b, text, len) ? 1 : -1;
	free(text);
	return rc;
}

/* Head, formats of the ring's own page and events, of no events of ftrace; then systems, their number first; no symbols, no formats of
 * printk, no names of tasks. */
bool pfmi_data_formats(struct pfm_session *s, struct bytes *out)
{
	static const char head[] = "\x17\x08\x44tracing0.6";
	const uint8_t order_and_width[] = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long) };
	const struct perf_state *st = s->backend_state;
	bool ok = add(out, head, sizeof(head)) && add(out, order_and_width, 2) && add_u32(out, (uint32_t)st->page_size);
	uint32_t systems = 0;
	size_t at;

	ok = ok && add(out, "header_page", 12) && add_file(out, s, "header_page");
	ok = ok && add(out, "header_event", 13) && add_file(out, s, "header_event");
	ok = ok && add_u32(out, 0);
	at = out->end;
	ok = ok && add_u32(out, 0);
	for (unsigned i = 0; i < s->n_counts && ok; i++) {
		int rc = add_format(out, s, i);

		ok = rc >= 0;
		systems += rc > 0;
	}
	ok = ok && add_u32(out, 0) && add_u32(out, 0) && add_u64(out, 0);
	if (ok)
		memcpy(out->at + at, &systems, sizeof(systems));
	return ok && systems;
}
