/* SPDX-License-Identifier: MIT */
/* Tracepoints of a tracefs that is a script. */
#include <perfmon/aggregate.h>
#include "check_fixture.h"

struct heard {
	char text[256];
	unsigned limit;
};

static int add_tracepoint(void *arg, const char *name)
{
	struct heard *h = arg;

	strcat(strcat(h->text, name), " ");
	return h->limit && --h->limit == 0 ? 7 : 0;
}

static void add_tracefs(struct checked_machine *m, const char *mount)
{
	static const char *const names[] = { "sched/sched_switch/id", "sched/sched_wakeup/id",
		                             "sched/enable", "irq/irq_entry/id", "enable" };
	char path[128];

	for (unsigned i = 0; i < COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/events/%s", mount, names[i]);
		fake_file(&m->fake, path, "1");
	}
}

static void expect_tracepoints(struct checked_machine *m, const char *pattern, unsigned limit,
                               int rc, const char *expected)
{
	struct heard h = { .limit = limit };

	assert_int_equal(pfm_visit_tracepoints(m->ctx, pattern, add_tracepoint, &h), rc);
	assert_string_equal(h.text, expected);
}

static void tracepoints_match_patterns(void **state)
{
	static const char *const mounts[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	(void)state;
	for (unsigned i = 0; i < COUNT(mounts); i++) {
		struct checked_machine m;

		open_machine(&m);
		fake_remove(&m.fake, "/sys/kernel/tracing/events/sched/sched_switch/id");
		fake_remove(&m.fake, "/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id");
		add_tracefs(&m, mounts[i]);
		expect_tracepoints(&m, NULL, 0, 0,
		                   "irq:irq_entry sched:sched_switch sched:sched_wakeup ");
		expect_tracepoints(&m, "sched:*", 0, 0, "sched:sched_switch sched:sched_wakeup ");
		expect_tracepoints(&m, "*:*_s*", 0, 0, "sched:sched_switch ");
		expect_tracepoints(&m, "sche:*", 0, 0, "");
		expect_tracepoints(&m, NULL, 1, 7, "irq:irq_entry ");
		close_machine(&m);
	}
}

static void tracepoint_format_files(void **state)
{
	static const struct {
		const char *text;
		int rc;
	} wrong[] = { { "sched:none", PFMLIB_ERR_NOTFOUND },
		      { "..:..", PFMLIB_ERR_NOTFOUND },
		      { "a/b:c", PFMLIB_ERR_NOTFOUND },
		      { "cycles", PFMLIB_ERR_INVAL },
		      { NULL, PFMLIB_ERR_INVAL } };
	struct checked_machine m;
	char text[64];

	(void)state;
	open_machine(&m);
	fake_file(&m.fake, "/sys/kernel/tracing/events/sched/sched_switch/format",
	          "name: sched_switch");
	assert_int_equal(
		pfm_read_tracepoint_format(m.ctx, "sched:sched_switch:u", text, sizeof(text)),
		strlen("name: sched_switch\n"));
	assert_string_equal(text, "name: sched_switch\n");
	assert_int_equal(pfm_read_tracepoint_format(m.ctx, "sched:sched_switch", text, 5),
	                 strlen("name: sched_switch\n"));
	assert_string_equal(text, "name");
	for (unsigned i = 0; i < COUNT(wrong); i++)
		assert_int_equal(
			pfm_read_tracepoint_format(m.ctx, wrong[i].text, text, sizeof(text)),
			wrong[i].rc);
	m.fake.fail = FAKE_OPEN;
	m.fake.fail_at = m.fake.uses[FAKE_OPEN] + 1;
	m.fake.fail_on = true;
	m.fake.fail_errno = EACCES;
	assert_int_equal(
		pfm_read_tracepoint_format(m.ctx, "sched:sched_switch", text, sizeof(text)),
		PFMLIB_ERR_PERM);
	assert_int_equal(pfm_visit_tracepoints(m.ctx, NULL, NULL, NULL), PFMLIB_ERR_INVAL);
	close_machine(&m);
}

UNIT(lookup_tracepoints, cmocka_unit_test(tracepoints_match_patterns),
     cmocka_unit_test(tracepoint_format_files));
