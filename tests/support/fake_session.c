/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake fake;
pfm_ctx_t *ctx;
pfm_session_t *session;
pfm_session_options_t options;
pfm_error_t error;
pfm_count_t counts[64];

/* Use up number 0, so that events are numbered from 1. Where the kernel exports no PMUs, the
 * library's probe for perf_event_open() uses it instead. */
static void use_a_number(void)
{
	struct perf_attr none = { .size = sizeof(none) };
	bool shown = false;

	for (unsigned i = 0; i < fake.n_files; i++)
		shown |= strstr(fake.files[i].path, "/event_source/devices/") != NULL;
	if (!shown)
		return;
	fake.sys.close(&fake.sys, fake.sys.perf_event_open(&fake.sys, &none, 0, -1, -1, 0));
	memset(fake.uses, 0, sizeof(fake.uses));
}

void open_context(const char *cpuid)
{
	pfm_ctx_options_t o = PFM_INIT(o);

	use_a_number();
	o.flags = PFM_CTX_NO_IMAGES;
	o.cpuid = cpuid;
	assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
	ctx->sys = fake.sys;
	options = (pfm_session_options_t){ .size = sizeof(options) };
	error = (pfm_error_t){ .size = sizeof(error) };
}

void make_machine(const char *name)
{
	fake_recorded(&fake, name);
	open_context("GenuineIntel-6-97-2");
}

int open_texts(const char *const *texts, unsigned n)
{
	return pfm_open_session(&session, ctx, &options, texts, n, &error);
}

void must_open(const char *const *texts, unsigned n)
{
	int rc = open_texts(texts, n);

	if (rc)
		fail_msg("open: %d %s %s", rc, pfm_error_kind_name(error.kind),
		         error.detail ? error.detail : "");
}

void read_all(void)
{
	unsigned n = pfm_session_size(session);

	assert_true(n <= 64);
	for (unsigned i = 0; i < n; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]) };
	assert_int_equal(pfm_read_session(session, counts, n), PFMLIB_SUCCESS);
}

void run_session(void)
{
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	read_all();
}

pfm_count_info_t is_about(unsigned i)
{
	pfm_count_info_t info = PFM_INIT(info);

	assert_int_equal(pfm_describe_count(session, i, &info), PFMLIB_SUCCESS);
	return info;
}

struct fake_event *event_text(unsigned i)
{
	assert_true(i < fake.n_events);
	return &fake.events[i];
}

void expect_count(unsigned i, pfm_quality_t quality, pfm_cause_t cause)
{
	if (counts[i].quality != quality || counts[i].cause != cause)
		fail_msg("count %u (%s) is %s/%s: %s", i, is_about(i).name,
		         pfm_quality_name(counts[i].quality), pfm_cause_name(counts[i].cause),
		         is_about(i).why);
	/* A count that is not exact has a reason. */
	if (cause != PFM_CAUSE_NONE)
		assert_true(*is_about(i).why);
	else
		assert_string_equal(is_about(i).why, "");
}

void expect_why(unsigned i, const char *piece)
{
	if (!strstr(is_about(i).why, piece) && !strstr(is_about(i).remedy, piece))
		fail_msg("\"%s\" is neither in \"%s\" nor in \"%s\"", piece, is_about(i).why,
		         is_about(i).remedy);
}

void end_session(void)
{
	pfm_close_session(session);
	session = NULL;
	assert_int_equal(fake.n_open, 0);
	assert_int_equal(fake.n_maps, 0);
}

int done(void **state)
{
	(void)state;
	end_session();
	pfm_close_context(ctx);
	ctx = NULL;
	fake_end(&fake);
	return 0;
}

int no_cycles(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
{
	(void)f;
	(void)pid;
	(void)cpu;
	(void)group;
	return attr->type == 0 && (uint32_t)attr->config == 0 ? -ENOENT : 0;
}

int refuse_one(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
{
	(void)pid;
	(void)cpu;
	(void)group;
	switch (f->number) {
	case 0: return attr->config & 0xff00 ? -EINVAL : 0;
	case 1: return attr->config1 ? -EINVAL : 0;
	case 2: return attr->precise_ip ? -EOPNOTSUPP : 0;
	case 3: return attr->exclude_kernel || attr->exclude_hv || attr->exclude_user ? -EINVAL : 0;
	case 4: return attr->pinned ? -EINVAL : 0;
	case 5: return attr->inherit ? -EINVAL : 0;
	case 6: return attr->type == 4 ? -EINVAL : 0;
	case 7: return attr->type == 5 ? -EINVAL : 0;
	case 8: return attr->enable_on_exec ? -EOPNOTSUPP : 0;
	case 9:
		return attr->exclude_host || attr->exclude_guest || attr->exclude_idle ? -EINVAL
		                                                                       : 0;
	case 10: return attr->size == 136 && attr->config3 ? -EINVAL : 0;
	default: return attr->size == 144 && attr->config4 ? -EINVAL : 0;
	}
}
