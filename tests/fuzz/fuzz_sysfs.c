/* SPDX-License-Identifier: MIT */
/* Any machine: the input is what its kernel shows, and what is asked of it. Lines of a path, a TAB
 * and the text; a line without a TAB goes on with the text above it. Three names are no paths:
 *   cpuid  LEAF SUBLEAF EAX EBX ECX EDX   (hexadecimal) what the processor answers; the first such
 * line is the host's id if it is text event  TEXT                          an event to encode and
 * to open fail   CALL USE ERRNO                the system call that fails Every table made of it
 * must be sound, every name must encode, and nothing may stay open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fake_sys.h"
#include "context/context.h"
#include "time_bound.h"

enum { MAX_LEAVES = 8, MAX_EVENTS = 12, MAX_ROWS = 24 };

static struct fake fake;
static uint32_t leaves[MAX_LEAVES][6];
static unsigned n_leaves, n_events;
static const char *events[MAX_EVENTS], *id;

static bool answer_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	(void)sys;
	for (unsigned i = 0; i < n_leaves; i++)
		if (leaves[i][0] == leaf && leaves[i][1] == subleaf) {
			memcpy(regs, &leaves[i][2], 16);
			return true;
		}
	return false;
}

static void take_leaf(const char *text)
{
	uint32_t *to = leaves[n_leaves];
	char *end;

	if (n_leaves == MAX_LEAVES)
		return;
	for (unsigned i = 0; i < 6; i++, text = end) {
		to[i] = (uint32_t)strtoul(text, &end, 16);
		if (i == 0 && end == text) {
			id = text;
			return;
		}
	}
	n_leaves++;
}

static void take_entry(char *name, const char *text)
{
	unsigned call, use, err;
	char path[600];

	if (strcmp(name, "cpuid") == 0) {
		take_leaf(text);
	} else if (strcmp(name, "event") == 0) {
		if (n_events < MAX_EVENTS)
			events[n_events++] = text;
	} else if (strcmp(name, "fail") == 0) {
		if (sscanf(text, "%u %u %u", &call, &use, &err) == 3) {
			fake.fail = (enum fake_call)(call % N_FAKE_CALLS);
			fake.fail_at = use;
			fake.fail_errno = (int)(err % 128) + 1;
		}
	} else if (strlen(name) < 256) { /* longer names no folder has */
		snprintf(path, sizeof(path), "%s%s",
		         name[0] == '/' ? "" : "/sys/bus/event_source/devices/", name);
		fake_file(&fake, path, text);
	}
}

static void read_machine(char *text)
{
	char *name = NULL, *content = NULL;

	while (text) {
		char *next = strchr(text, '\n'), *tab = strchr(text, '\t');

		if (tab && (!next || tab < next)) {
			if (name)
				take_entry(name, content);
			*tab = '\0';
			name = text;
			content = tab + 1;
		} else if (name) {
			content[strlen(content)] = '\n';
		}
		if (next)
			*next++ = '\0';
		text = next;
	}
	if (name)
		take_entry(name, content);
}

/* Names of the kernel's PMUs must be read as perf reads them; perf's own names may also be
 * theirs. */
static void check_text(const pfm_ctx_t *ctx, const char *text)
{
	pfm_encoding_t e = PFM_INIT(e), again = PFM_INIT(again);
	pfm_error_t why = PFM_INIT(why);
	char name[1024];

	if (pfm_encode_event(ctx, text, 0, &e, &why)) {
		if (why.code >= 0 || why.start > why.end || why.end > strlen(text))
			abort();
		pfm_explain_error(ctx, text, &why, name, sizeof(name));
		return;
	}
	for (int d = PFM_DIALECT_LIBPFM; d <= PFM_DIALECT_VENDOR; d++) {
		if (pfm_print_event(ctx, text, (pfm_dialect_t)d, name, sizeof(name), NULL))
			continue;
		if (d == PFM_DIALECT_PERF && e.pmu >= (int)table_count_builtins() &&
		    (pfm_encode_event(ctx, name, 0, &again, NULL) ||
		     memcmp(&e.attr, &again.attr, sizeof(e.attr))))
			abort();
	}
}

static void check_event(const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	perfmon_event_info_t info = PFM_INIT(info);
	pfm_umask_info_t mask = PFM_INIT(mask);
	pfm_encoding_t e = PFM_INIT(e);
	const char *name, *text;
	uint64_t value;
	int counter;

	if (pfm_describe_event(ctx, pmu, event, &info))
		abort();
	for (unsigned i = 0; i < info.n_umasks && i < 8; i++)
		if (pfm_describe_umask(ctx, pmu, event, i, &mask))
			abort();
	for (unsigned i = 0; i < info.n_fields; i++)
		if (pfm_describe_field(ctx, pmu, event, i, &name, &text, &value, &counter))
			abort();
	pfm_encode_event_at(ctx, pmu, event, 0, &e, NULL);
}

static void check_tables(const pfm_ctx_t *ctx)
{
	int n = pfm_count_pmus(ctx);

	if (n < 0)
		return;
	for (unsigned i = 0; i < ctx->kernel->n_pmus; i++) {
		const struct table *t = ctx->kernel->pmus[i].table;
		const char *why;

		if (pfmi_table_verify(t, t->size, VERIFY_ALL, &why))
			abort();
	}
	for (int pmu = (int)table_count_builtins(); pmu < n; pmu++) {
		perfmon_pmu_info_t info = PFM_INIT(info);
		const char *name, *text;
		uint64_t value;

		if (pfm_describe_pmu(ctx, pmu, &info))
			abort();
		for (unsigned i = 0;
		     pfm_describe_feature(ctx, pmu, i, &name, &text, &value) == PFMLIB_SUCCESS; i++)
			;
		for (unsigned i = 0; i < info.n_events && i < MAX_ROWS; i++)
			check_event(ctx, pmu, i);
	}
}

static void check_session(const pfm_ctx_t *ctx)
{
	static const unsigned flags[] = { 0,
		                          PFM_SESSION_INHERIT,
		                          PFM_SESSION_SYSTEM_WIDE,
		                          PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU,
		                          PFM_SESSION_STRICT,
		                          PFM_SESSION_USER_READ };
	pfm_session_options_t options = PFM_INIT(options);
	pfm_count_t counts[64];
	pfm_session_t *s;
	unsigned n;

	options.backend = "perf_event";
	options.flags = flags[n_events % 6];
	if (pfm_open_session(&s, ctx, &options, events, n_events, NULL))
		return;
	n = pfm_session_size(s);
	pfm_start_session(s);
	for (unsigned i = 0; i < 64; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]) };
	pfm_read_session(s, counts, n < 64 ? n : 64);
	for (unsigned i = 0; i < n && i < 64; i++) {
		pfm_count_info_t info = PFM_INIT(info);

		if (pfm_describe_count(s, i, &info) || !info.name || !info.why || !info.remedy ||
		    !info.cpus)
			abort();
	}
	pfm_stop_session(s);
	pfm_close_session(s);
}

int try_input(const uint8_t *data, size_t size)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	char text[8192];
	pfm_ctx_t *ctx;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	n_leaves = n_events = 0;
	id = NULL;
	fake_begin(&fake);
	fake.sys.read_cpuid = answer_cpuid;
	read_machine(text);
	o.flags = PFM_CTX_NO_IMAGES;
	o.cpuid = id;
	if (pfm_open_context(&ctx, &o, NULL) == PFMLIB_SUCCESS) {
		ctx->sys = fake.sys;
		check_tables(ctx);
		for (unsigned i = 0; i < n_events; i++)
			check_text(ctx, events[i]);
		check_session(ctx);
		pfm_close_context(ctx);
	}
	if (fake.n_open || fake.n_maps)
		abort();
	fake_end(&fake);
	return 0;
}
