/* SPDX-License-Identifier: MIT */
/* The model of the Tru64 counter device: golden sessions and errors, each rule of pfm(7) by name,
 * and random walks. */
#include <errno.h>
#include <jansson.h>
#include <perfmon/pfcntr.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "alpha/model.h"
#include "alpha/session.h"

/* ---- golden lines, through the same door as pfm session -------------------------------------- */

static json_t *load_sessions(void)
{
	const char *folder = getenv("PERFMON_TESTS");
	json_t *all = json_array();
	char path[4096], *line = NULL;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/vectors/alpha_device.jsonl", folder ? folder : "tests");
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open %s", path);
	while (getline(&line, &room, f) > 0)
		json_array_append_new(all, json_loads(line, 0, NULL));
	free(line);
	fclose(f);
	return all;
}

static void drop_keys(json_t *o, const char *const *keys)
{
	for (; *keys; keys++)
		json_object_del(o, *keys);
}

/* Takes out everything that the device is to find out. */
static json_t *strip_answers(const json_t *v, bool with_steps)
{
	static const char *const whole[] = { "wrperfmon", "regs", "expect",
		                             "pme_after", "conf", NULL };
	static const char *const single[] = { "ret", "out_bytes", "out_value", "child_pme", NULL };
	json_t *q = json_deep_copy(v), *step;
	size_t i;

	drop_keys(q, whole);
	if (!with_steps)
		json_object_del(q, "seq");
	json_array_foreach (json_object_get(q, "seq"), i, step)
		drop_keys(step, single);
	json_array_foreach (json_object_get(q, "steps"), i, step)
		drop_keys(step, single);
	return q;
}

static json_t *ask_device(const json_t *q)
{
	char *answer = NULL;
	size_t size = 0;
	FILE *in = tmpfile(), *out = open_memstream(&answer, &size);
	json_t *a, *step;
	size_t i;

	assert_true(in && out);
	json_dumpf(q, in, JSON_COMPACT);
	fputc('\n', in);
	rewind(in);
	assert_int_equal(replay_sessions(in, out), 0);
	fclose(in);
	fclose(out);
	a = json_loads(answer, 0, NULL);
	free(answer);
	assert_non_null(a);
	json_array_foreach (json_object_get(a, "steps"), i, step)
		json_object_del(step, "errno"); /* ours, beside FAIL: no source has it */
	return a;
}

static void check_session(const json_t *v, bool with_steps)
{
	json_t *q = strip_answers(v, with_steps), *a = ask_device(q), *want = json_deep_copy(v);
	char *got;

	json_object_del(want, "conf");
	if (!json_equal(a, want)) {
		got = json_dumps(a, JSON_COMPACT);
		print_message("# %s\n", got);
		free(got);
		fail_msg("%s differs", json_string_value(json_object_get(v, "id")));
	}
	json_decref(q);
	json_decref(a);
	json_decref(want);
}

static unsigned check_kind(const char *kind, bool with_steps)
{
	json_t *all = load_sessions(), *v;
	unsigned n = 0;
	size_t i;

	json_array_foreach (all, i, v)
		if (strcmp(json_string_value(json_object_get(v, "kind")), kind) == 0) {
			check_session(v, with_steps);
			n++;
		}
	json_decref(all);
	return n;
}

static void golden_errors_are_answered(void **state)
{
	(void)state;
	assert_int_equal(check_kind("error", true), 62);
}

static void golden_sessions_are_answered(void **state)
{
	(void)state;
	assert_int_equal(check_kind("session", true), 32);
}

/* The steps themselves follow from events, rates, scope, mode and items: the library's order is the
 * golden one. */
static void golden_sessions_are_composed(void **state)
{
	(void)state;
	assert_int_equal(check_kind("session", false), 32);
}

static void lines_that_make_no_sense_are_answered_with_an_error(void **state)
{
	static const char lines[] =
		"{\"steps\":3}\nnonsense\n[]\n{\"kind\":\"error\",\"pmu\":\"ev9\",\"steps\":[]}\n"
		"{\"kind\":\"error\",\"pmu\":\"ev5\",\"steps\":[{\"op\":\"dance\"}]}\n"
		"{\"kind\":\"error\",\"steps\":[{\"op\":\"open\",\"flags\":\"12x\"}]}\n";
	char *answer = NULL;
	size_t size = 0;
	FILE *in = tmpfile(), *out = open_memstream(&answer, &size);
	unsigned n = 0;

	(void)state;
	fputs(lines, in);
	rewind(in);
	assert_int_equal(replay_sessions(in, out), 1);
	fclose(in);
	fclose(out);
	for (const char *p = answer; (p = strstr(p, "\"error\":{\"message\"")); p++)
		n++;
	free(answer);
	assert_int_equal(n, 6);
}

/* ---- a model at hand ------------------------------------------------------------------------- */

static struct alpha_device *make_device(enum alpha_device_family family, unsigned n_cpus)
{
	struct alpha_device_options o;
	struct alpha_device *m;

	alpha_device_set_defaults(&o, family);
	o.n_cpus = n_cpus;
	m = alpha_device_new(&o);
	assert_non_null(m);
	assert_int_equal(alpha_device_set_process(m, 1, 100, 0), 0);
	assert_int_equal(alpha_device_set_process(m, 2, 100, n_cpus > 1 ? 1 : 0), 0);
	assert_int_equal(alpha_device_set_process(m, 3, 0, ALPHA_DEVICE_UNBOUND), 0);
	return m;
}

/* A request of process 1 whose argument is a word. */
static int send_word(struct alpha_device *m, int h, uint32_t request, uint64_t arg)
{
	return alpha_device_do_ioctl(m, h, 1, request, (uint64_t)(uintptr_t)&arg,
	                             &alpha_device_own_memory);
}

static int read_array(struct alpha_device *m, int h, uint32_t request, void *out)
{
	uint64_t pointer = (uint64_t)(uintptr_t)out;

	return alpha_device_do_ioctl(m, h, 1, request, (uint64_t)(uintptr_t)&pointer,
	                             &alpha_device_own_memory);
}

static struct alpha_device_work user_work(int pid, uint64_t c0, uint64_t c1, uint64_t c2)
{
	return (struct alpha_device_work){ .pid = pid,
		                           .is_user = true,
		                           .cycles = 1000,
		                           .events = { c0, c1, c2 },
		                           .pc = 0x20001008 };
}

static void interrupts_come_at_the_rate_and_the_rest_stays(void **state)
{
	struct alpha_device *m = make_device(ALPHA_DEVICE_EV5, 2);
	int h = alpha_device_open_session(m, 1, PCNTOPENALL);
	struct alpha_device_work w = user_work(1, 65536 * 3 + 7, 100, 16384);
	struct pfcntrs_ev5 counts, events;

	(void)state;
	assert_int_equal(send_word(m, h, PCNT5RESTART, PF5_CTRS(7, PMCTRS_ALL_CPUS, 0, 0, 0)), 0);
	assert_int_equal(alpha_device_do_work(m, 0, &w), 0);
	assert_int_equal(alpha_device_do_work(m, 1, &w), 0);
	assert_int_equal(read_array(m, h, PCNT5GETCNT, &counts), 0);
	assert_int_equal(read_array(m, h, PCNT5READCNTRS, &events), 0);
	assert_true(counts.pf_cntr0 == 6 && counts.pf_cntr1 == 0 && counts.pf_cntr2 == 2);
	assert_true(events.pf_cntr0 == 2 * (65536 * 3 + 7) && events.pf_cntr1 == 200 &&
	            events.pf_cntr2 == 32768);
	assert_int_equal(counts.pr_cycle, 2000);
	alpha_device_free(m);
}

static void each_has_an_entry_for_every_processor_and_one_has_its_own(void **state)
{
	struct alpha_device *m = make_device(ALPHA_DEVICE_EV6, 3);
	int h = alpha_device_open_session(m, 1, PCNTOPENEACH);
	struct alpha_device_work w = user_work(1, 5, 6, 0);
	struct pfcntrs_ev6 events[3];

	(void)state;
	send_word(m, h, PCNT6RESTART, PF6_CTRS(3, PMCTRS_ALL_CPUS, 0, 0));
	alpha_device_do_work(m, 2, &w);
	assert_int_equal(read_array(m, h, PCNT6READCNTRS, events), 0);
	assert_true(events[0].pf_cntr0 == 0 && events[1].pf_cntr1 == 0 && events[2].pf_cntr0 == 5 &&
	            events[2].pf_cntr1 == 6);
	assert_int_equal(alpha_device_close_session(m, h), 0);
	h = alpha_device_open_session(m, 2, PCNTOPENONE);
	assert_int_equal(alpha_device_do_ioctl(m, h, 2, PCNTCLEARCNT, 0, &alpha_device_own_memory),
	                 0);
	alpha_device_free(m);
}

static void start_values_bring_the_first_interrupt_forward(void **state)
{
	struct alpha_device *m = make_device(ALPHA_DEVICE_EV67, 1);
	int h = alpha_device_open_session(m, 1, PCNTOPENALL);
	struct alpha_device_work w = user_work(1, 99, 0, 0), one = user_work(1, 1, 0, 0);
	struct pfcntrs_ev6 c;

	(void)state;
	send_word(m, h, PCNT6ENABWRITE, PF6_CTRS(1, PMCTRS_ALL_CPUS, (1 << 20) - 100, 0));
	alpha_device_do_work(m, 0, &w);
	read_array(m, h, PCNT6GETCNT, &c);
	assert_int_equal(c.pf_cntr0, 0);
	alpha_device_do_work(m, 0, &one);
	read_array(m, h, PCNT6GETCNT, &c);
	assert_int_equal(c.pf_cntr0, 1);
	alpha_device_free(m);
}

static void muted_counters_of_ev4_interrupt_and_leave_nothing(void **state)
{
	struct alpha_device *m = make_device(ALPHA_DEVICE_EV4, 1);
	int h = alpha_device_open_session(m, 1, PCNTOPENALL);
	struct alpha_device_work w = user_work(1, 65536, 4096, 0);
	struct alpha_device_view v;
	struct pfcntrs c;

	(void)state;
	assert_int_equal(send_word(m, h, PCNTSETMUX, ICCSR_DISABLE_MASK), -EINVAL);
	assert_int_equal(send_word(m, h, PCNTSETMUX, UINT64_C(2) << ICCSR_DISABLE_SHIFT), 0);
	assert_int_equal(send_word(m, h, PCNTRENABLE, 0), 0);
	alpha_device_do_work(m, 0, &w);
	assert_int_equal(read_array(m, h, PCNTGETCNT, &c), 0);
	assert_true(c.pf_cntr0 == 1 && c.pf_cntr1 == 0 && c.pr_cycle == 1000);
	alpha_device_get_view(m, 0, &v);
	assert_int_equal(v.n_discarded, 1);
	send_word(m, h, PCNTRDISABLE, 0);
	alpha_device_do_work(m, 0, &w);
	read_array(m, h, PCNTGETCNT, &c);
	assert_int_equal(c.pf_cntr0, 1);
	alpha_device_free(m);
}

static void only_marked_processes_count_under_log_select(void **state)
{
	struct alpha_device *m = make_device(ALPHA_DEVICE_EV5, 2);
	int h = alpha_device_open_session(m, 1, PCNTOPENALL);
	struct alpha_device_work mine = user_work(1, 10, 0, 0), other = user_work(2, 10, 0, 0),
				 child = user_work(7, 10, 0, 0);
	struct pfcntrs_ev5 c;

	(void)state;
	assert_int_equal(send_word(m, h, PCNTLOGSELECT, 0), 0);
	assert_int_equal(alpha_device_is_process_marked(m, 1), 1);
	assert_int_equal(alpha_device_fork_process(m, 1, 7), 0);
	assert_int_equal(alpha_device_exec_process(m, 7), 0);
	assert_int_equal(alpha_device_is_process_marked(m, 7), 1);
	send_word(m, h, PCNT5RESTART, PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0));
	alpha_device_do_work(m, 0, &mine);
	alpha_device_do_work(m, 0, &other);
	alpha_device_do_work(m, 1, &child);
	read_array(m, h, PCNT5READCNTRS, &c);
	assert_int_equal(c.pf_cntr0, 20);
	assert_int_equal(send_word(m, h, PCNTCLEARPCBPME, 0), 0);
	alpha_device_do_work(m, 0, &mine);
	read_array(m, h, PCNT5READCNTRS, &c);
	assert_int_equal(c.pf_cntr0, 20);
	alpha_device_free(m);
}

static void the_21064_before_pass_3_counts_everybody(void **state)
{
	struct alpha_device_options o;
	struct alpha_device *m;
	struct alpha_device_work w = user_work(2, 65536, 0, 0);
	struct pfcntrs c;
	int h;

	(void)state;
	alpha_device_set_defaults(&o, ALPHA_DEVICE_EV4);
	o.ev4_pass3 = false;
	m = alpha_device_new(&o);
	alpha_device_set_process(m, 1, 0, ALPHA_DEVICE_UNBOUND);
	h = alpha_device_open_session(m, 1, PCNTOPENALL);
	send_word(m, h, PCNTLOGSELECT, 0);
	send_word(m, h, PCNTRENABLE, 0);
	alpha_device_do_work(m, 0, &w);
	read_array(m, h, PCNTGETCNT, &c);
	assert_int_equal(c.pf_cntr0, 1);
	alpha_device_free(m);
}

static void modes_of_the_21164_gate_its_counters(void **state)
{
	static const struct {
		uint64_t modes;
		unsigned user, kernel, pal;
	} cases[] = {
		{ PF5_CTXT_ALL_MODES, 1, 1, 1 },      { PF5_CTXT_USER_AND_KERNEL, 1, 1, 0 },
		{ PF5_CTXT_KERNEL, 1, 1, 0 },         { PF5_CTXT_EXEC_AND_SUPER, 1, 0, 0 },
		{ PF5_CTXT_USER, 0, 0, 0 },           { PF5_CTXT_PAL, 0, 0, 1 },
		{ PF5_CTXT_PAL_AND_KERNEL, 1, 1, 1 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct alpha_device *m = make_device(ALPHA_DEVICE_EV5, 1);
		int h = alpha_device_open_session(m, 1, PCNTOPENALL);
		struct alpha_device_work user = user_work(1, 1, 0, 0),
					 kernel = { .events = { 100 } },
					 pal = { .is_pal = true, .events = { 10000 } };
		struct pfcntrs_ev5 c;

		send_word(m, h, PCNT5CTXTS, cases[i].modes);
		send_word(m, h, PCNT5RESTART, PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0));
		alpha_device_do_work(m, 0, &user);
		alpha_device_do_work(m, 0, &kernel);
		alpha_device_do_work(m, 0, &pal);
		read_array(m, h, PCNT5READCNTRS, &c);
		assert_int_equal(c.pf_cntr0,
		                 cases[i].user + 100 * cases[i].kernel + 10000 * cases[i].pal);
		alpha_device_free(m);
	}
}

static void the_histogram_of_levels_needs_its_item(void **state)
{
	struct alpha_device *m = make_device(ALPHA_DEVICE_EV6, 1);
	int h = alpha_device_open_session(m, 1, PCNTOPENALL);
	struct pfipls levels;

	(void)state;
	assert_int_equal(read_array(m, h, PCNTGETIPLHIS, &levels), -EINVAL);
	assert_int_equal(send_word(m, h, PCNTSETITEMS, PFM_IPL), 0);
	send_word(m, h, PCNT6ENABLE, PF6_CTRS(1, PMCTRS_ALL_CPUS, 0, 0));
	for (unsigned ipl = 0; ipl < 6; ipl++) {
		struct alpha_device_work w = { .ipl = ipl };

		for (unsigned i = 0; i <= ipl; i++)
			alpha_device_raise_interrupt(m, 0, 0, &w);
	}
	alpha_device_raise_interrupt(m, 0, 0, &(struct alpha_device_work){ .is_idle = true });
	alpha_device_raise_interrupt(m, 0, 0, &(struct alpha_device_work){ .is_user = true });
	assert_int_equal(read_array(m, h, PCNTGETIPLHIS, &levels), 0);
	for (unsigned ipl = 0; ipl < 6; ipl++)
		assert_int_equal(levels.ipl[ipl], ipl + 1);
	assert_true(levels.ipl[6] == 0 && levels.ipl[PFM_IPL_IDLE] == 1 &&
	            levels.ipl[PFM_IPL_USER] == 1);
	assert_int_equal(read_array(m, h, PCNT6GETCNT, &levels),
	                 -EINVAL); /* counters are not collected */
	alpha_device_free(m);
}

static void samples_fall_into_buckets(void **state)
{
	struct alpha_device *m = make_device(ALPHA_DEVICE_EV5, 2);
	int h = alpha_device_open_session(m, 1, PCNTOPENEACH);
	addr_range_t range = { 0x20001000, 0x20001040, 2, 0 };
	struct alpha_device_work w = user_work(1, 0, 0, 0), kernel = { .pc = 0x20001008 };
	pfcntr_bucket_t buckets[16];

	(void)state;
	send_word(m, h, PCNTSETITEMS, PFM_PROFILING);
	assert_int_equal(alpha_device_do_ioctl(m, h, 1, PCNTSETURANGE, (uint64_t)(uintptr_t)&range,
	                                       &alpha_device_own_memory),
	                 0);
	send_word(m, h, PCNT5ENABLE, PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0));
	alpha_device_raise_interrupt(m, 1, 0, &w);
	alpha_device_raise_interrupt(m, 1, 0, &kernel); /* not the mode that is profiled */
	w.pc = 0x2000103c;
	alpha_device_raise_interrupt(m, 0, 0, &w);
	w.pc = 0x20001040;
	alpha_device_raise_interrupt(m, 0, 0, &w);
	assert_int_equal(alpha_device_read_samples(m, h, (uint64_t)(uintptr_t)buckets,
	                                           sizeof buckets, &alpha_device_own_memory),
	                 64);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(buckets[i], i == 7 || i == 9);
	assert_int_equal(alpha_device_read_samples(m, h, (uint64_t)(uintptr_t)buckets, 8,
	                                           &alpha_device_own_memory),
	                 8);
	alpha_device_free(m);
}

static void callers_are_charged_for_utility_routines(void **state)
{
	struct alpha_device *m = make_device(ALPHA_DEVICE_EV5, 1);
	int h = alpha_device_open_session(m, 1, PCNTOPENALL);
	struct addr_range all = { 0xfffffc0000230000, 0xfffffc0000230040 },
			  utility = { 0xfffffc0000231000, 0xfffffc0000231100 };
	struct alpha_device_work w = { .pc = 0xfffffc0000231010,
		                       .return_address = 0xfffffc0000230014 };
	pfcntr_bucket_t buckets[4];

	(void)state;
	send_word(m, h, PCNTSETITEMS, PFM_PROFILING);
	assert_int_equal(alpha_device_do_ioctl(m, h, 1, PCNTSETKADDR, (uint64_t)(uintptr_t)&all,
	                                       &alpha_device_own_memory),
	                 0);
	assert_int_equal(send_word(m, h, PCNTCALLER, 0), 0);
	assert_int_equal(alpha_device_do_ioctl(m, h, 1, PCNTSETKADDR, (uint64_t)(uintptr_t)&utility,
	                                       &alpha_device_own_memory),
	                 0);
	send_word(m, h, PCNT5ENABLE, PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0));
	alpha_device_raise_interrupt(m, 0, 0, &w);
	assert_int_equal(alpha_device_read_samples(m, h, (uint64_t)(uintptr_t)buckets,
	                                           sizeof buckets, &alpha_device_own_memory),
	                 16);
	assert_true(buckets[0] == 0 && buckets[1] == 1);
	alpha_device_free(m);
}

static void values_are_written_and_read_back(void **state)
{
	struct alpha_device *m = make_device(ALPHA_DEVICE_EV5, 2);
	int h = alpha_device_open_session(m, 1, PCNTOPENALL);
	uint64_t w = PF5_CTRS(7, 1, 0, 0, 0);

	(void)state;
	assert_int_equal(send_word(m, h, PCNT5SETCNTRS, PF5_CTRS(5, 1, 0xabcd, 0x1111, 0x3fff)), 0);
	assert_int_equal(alpha_device_do_ioctl(m, h, 1, PCNT5GETCNTRS, (uint64_t)(uintptr_t)&w,
	                                       &alpha_device_own_memory),
	                 0);
	assert_int_equal(w, PF5_CTRS(7, 1, 0xabcd, 0, 0x3fff)); /* counter 1 was not chosen */
	assert_int_equal(send_word(m, h, PCNT5CLEAR, PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0)), 0);
	w = PF5_CTRS(7, 1, 0, 0, 0);
	alpha_device_do_ioctl(m, h, 1, PCNT5GETCNTRS, (uint64_t)(uintptr_t)&w,
	                      &alpha_device_own_memory);
	assert_int_equal(w, PF5_CTRS(7, 1, 0, 0, 0x3fff));
	assert_int_equal(send_word(m, h, PCNT5SETCNTRS, PF5_CTRS(1, 2, 0, 0, 0)),
	                 -EINVAL); /* no such processor */
	alpha_device_free(m);
}

static void requests_of_others_and_bad_pointers_are_refused(void **state)
{
	struct alpha_device *m = make_device(ALPHA_DEVICE_EV6, 1);
	int h = alpha_device_open_session(m, 1, PCNTOPENALL);

	(void)state;
	assert_int_equal(send_word(m, h, PCNT5MUX, 0), -EINVAL);
	assert_int_equal(send_word(m, h, PCNTSETMUX, 0), -EINVAL);
	assert_int_equal(send_word(m, h, PFCNTR_REQUEST(PFCNTR_IN, 0x7fu, 8), 0), -EINVAL);
	assert_int_equal(alpha_device_do_ioctl(m, h, 1, PCNT6MUX, 0, &alpha_device_own_memory),
	                 -EFAULT);
	assert_int_equal(alpha_device_do_ioctl(m, h, 99, PCNT6MUX, 0, &alpha_device_own_memory),
	                 -ESRCH);
	assert_int_equal(alpha_device_do_ioctl(m, 5, 1, PCNTLOGALL, 0, &alpha_device_own_memory),
	                 -EBADF);
	assert_int_equal(alpha_device_open_session(m, 1, 0), -EINVAL); /* no mode */
	alpha_device_close_session(m, h);
	assert_int_equal(alpha_device_close_session(m, h), -EBADF);
	assert_int_equal(send_word(m, h, PCNTLOGALL, 0), -EBADF);
	assert_int_equal(alpha_device_read_samples(m, h, 0, 8, &alpha_device_own_memory), -EBADF);
	alpha_device_free(m);
}

static void opening_keeps_the_counts_of_the_driver(void **state)
{
	struct alpha_device *m = make_device(ALPHA_DEVICE_EV4, 1);
	int h = alpha_device_open_session(m, 1, PCNTOPENALL);
	struct alpha_device_work w = user_work(1, 65536, 0, 0);
	struct pfcntrs c;

	(void)state;
	send_word(m, h, PCNTRENABLE, 0);
	alpha_device_do_work(m, 0, &w);
	alpha_device_close_session(m, h);
	alpha_device_do_work(m, 0, &w); /* closed: silent */
	h = alpha_device_open_session(m, 1, PCNTOPENALL);
	read_array(m, h, PCNTGETCNT, &c);
	assert_int_equal(c.pf_cntr0, 1);
	send_word(m, h, PCNTCLEARCNT, 0);
	read_array(m, h, PCNTGETCNT, &c);
	assert_true(c.pf_cntr0 == 0 && c.pr_cycle == 0);
	alpha_device_free(m);
}

/* ---- settings -------------------------------------------------------------------------------- */

static void unconfirmed_rules_are_settings(void **state)
{
	struct alpha_device_options o;
	struct alpha_device *m;
	int h;

	(void)state;
	alpha_device_set_defaults(&o, ALPHA_DEVICE_EV5);
	o.single_holder = true;
	o.root_evicts = true;
	o.rate_errno = EACCES;
	o.no_mode_errno = 0;
	o.unbound_errno = ENXIO;
	o.family_errno = ENOTTY;
	o.unknown_errno = ENOTTY;
	o.stride_errno = ERANGE;
	o.items_errno = ENOSPC;
	m = alpha_device_new(&o);
	alpha_device_set_process(m, 1, 100, 0);
	alpha_device_set_process(m, 2, 100, 1);
	alpha_device_set_process(m, 3, 0, 2);
	alpha_device_set_process(m, 4, 100, ALPHA_DEVICE_UNBOUND);
	h = alpha_device_open_session(m, 1, 0); /* as ONE */
	assert_true(h >= 0);
	assert_int_equal(alpha_device_open_session(m, 2, PCNTOPENONE),
	                 -EBUSY); /* though its processor is free */
	assert_int_equal(alpha_device_open_session(m, 4, PCNTOPENONE), -ENXIO);
	assert_true(alpha_device_is_error_unconfirmed(m));
	assert_int_equal(send_word(m, h, PCNT5FREQ, 0x3a0), -EACCES);
	assert_int_equal(send_word(m, h, PCNT6MUX, 0), -ENOTTY);
	assert_int_equal(send_word(m, h, 0x1234, 0), -ENOTTY);
	assert_int_equal(send_word(m, h, PCNTSETITEMS, 0x11), -ENOSPC);
	assert_true(alpha_device_open_session(m, 3, PCNTOPENALL) >=
	            0); /* the superuser takes it away */
	{
		struct alpha_device_view v;

		alpha_device_get_view(m, 0, &v);
		assert_int_equal(v.holder_pid, 3);
	}
	alpha_device_free(m);
	o.n_cpus = 0;
	assert_null(alpha_device_new(&o));
	o.n_cpus = ALPHA_DEVICE_MAX_CPUS + 1;
	assert_null(alpha_device_new(&o));
}

static void counting_can_hang_on_the_enable_request(void **state)
{
	struct alpha_device_options o;
	struct alpha_device *m;
	struct alpha_device_work w = user_work(1, 5, 0, 0);
	struct pfcntrs_ev6 c;
	int h;

	(void)state;
	alpha_device_set_defaults(&o, ALPHA_DEVICE_EV6);
	o.enable_gates = true;
	m = alpha_device_new(&o);
	alpha_device_set_process(m, 1, 0, ALPHA_DEVICE_UNBOUND);
	h = alpha_device_open_session(m, 1, PCNTOPENALL);
	send_word(m, h, PCNT6RESTART, PF6_CTRS(3, PMCTRS_ALL_CPUS, 0, 0));
	alpha_device_do_work(m, 0, &w);
	read_array(m, h, PCNT6READCNTRS, &c);
	assert_int_equal(c.pf_cntr0, 0);
	send_word(m, h, PCNTRENABLE, 0);
	alpha_device_do_work(m, 0, &w);
	read_array(m, h, PCNT6READCNTRS, &c);
	assert_int_equal(c.pf_cntr0, 5);
	alpha_device_free(m);
}

static struct alpha_device *open_device_with(const struct alpha_device_options *o, unsigned mode,
                                             int *h)
{
	struct alpha_device *m = alpha_device_new(o);

	assert_non_null(m);
	assert_int_equal(alpha_device_set_process(m, 1, 0, ALPHA_DEVICE_UNBOUND), 0);
	*h = alpha_device_open_session(m, 1, mode);
	assert_true(*h >= 0);
	return m;
}

static int set_range(struct alpha_device *m, int h, uint32_t request, uint64_t start, uint64_t end,
                     uint64_t stride)
{
	addr_range_t r = { start, end, stride, 0 };

	return alpha_device_do_ioctl(m, h, 1, request, (uint64_t)(uintptr_t)&r,
	                             &alpha_device_own_memory);
}

static void samples_by_other_rules(void **state)
{
	struct alpha_device_work w = user_work(1, 0, 0, 0);
	pfcntr_bucket_t buckets[8];
	struct alpha_device_options o;
	struct alpha_device *m;
	uint64_t to = (uint64_t)(uintptr_t)buckets, bytes;
	int h;

	(void)state;
	alpha_device_set_defaults(&o, ALPHA_DEVICE_EV5);
	o.n_cpus = 2;
	o.read_clears = o.blocks_backwards = o.end_inclusive = o.round_down = true;
	m = open_device_with(&o, PCNTOPENEACH, &h);
	send_word(m, h, PCNTSETITEMS, PFM_PROFILING);
	/* 16 bytes and the last address: five instructions, of which whole pairs are kept. */
	assert_int_equal(set_range(m, h, PCNTSETURANGE, 0x20001000, 0x20001010, 2), 0);
	assert_int_equal(send_word(m, h, PCNTGETRSIZE, 0), 0);
	bytes = 0;
	assert_int_equal(alpha_device_do_ioctl(m, h, 1, PCNTGETRSIZE, (uint64_t)(uintptr_t)&bytes,
	                                       &alpha_device_own_memory),
	                 0);
	assert_int_equal(bytes, 2 * 2 * sizeof(buckets[0]));
	send_word(m, h, PCNT5ENABLE, PF5_CTRS(1, PMCTRS_ALL_CPUS, 0, 0, 0));
	alpha_device_raise_interrupt(m, 0, 0, &w);
	w.pc = 0x20001010; /* inside, but its bucket was rounded away */
	alpha_device_raise_interrupt(m, 0, 0, &w);
	assert_int_equal(
		alpha_device_read_samples(m, h, 0, sizeof buckets, &alpha_device_own_memory),
		-EFAULT);
	assert_int_equal(
		alpha_device_read_samples(m, h, to, sizeof buckets, &alpha_device_own_memory), 16);
	/* The last processor's block comes first. */
	assert_true(buckets[0] == 0 && buckets[1] == 0 && buckets[2] == 0 && buckets[3] == 1);
	assert_int_equal(
		alpha_device_read_samples(m, h, to, sizeof buckets, &alpha_device_own_memory), 16);
	assert_int_equal(buckets[3], 0);
	/* The last address makes the second bucket whole. */
	assert_int_equal(set_range(m, h, PCNTSETURANGE, 0x20001000, 0x2000100c, 2), 0);
	w.pc = 0x2000100c;
	alpha_device_raise_interrupt(m, 0, 0, &w);
	assert_int_equal(
		alpha_device_read_samples(m, h, to, sizeof buckets, &alpha_device_own_memory), 16);
	assert_true(buckets[2] == 0 && buckets[3] == 1);
	/* Without a stride one bucket has them all. */
	assert_int_equal(set_range(m, h, PCNTSETURANGE, 0x20001000, 0x20001010, 0), 0);
	alpha_device_raise_interrupt(m, 0, 0, &w);
	assert_int_equal(
		alpha_device_read_samples(m, h, to, sizeof buckets, &alpha_device_own_memory), 8);
	assert_true(buckets[0] == 0 && buckets[1] == 1);
	alpha_device_free(m);
}

static void ranges_are_checked_as_the_settings_say(void **state)
{
	struct alpha_device_options o;
	struct alpha_device *m;
	int h;

	(void)state;
	alpha_device_set_defaults(&o, ALPHA_DEVICE_EV6);
	m = open_device_with(&o, PCNTOPENALL, &h);
	send_word(m, h, PCNTSETITEMS, PFM_PROFILING);
	assert_int_equal(set_range(m, h, PCNTSETKRANGE, 0x1000, 0x2000, 4),
	                 -EFAULT); /* no kernel text */
	assert_int_equal(set_range(m, h, PCNTSETURANGE, 0x2000, 0x1000, 4), -EFAULT);
	assert_int_equal(set_range(m, h, PCNTSETURANGE, 0x1002, 0x2000, 4), -EFAULT);
	assert_int_equal(set_range(m, h, PCNTSETURANGE, 0x1000, 0x2002, 4), -EFAULT);
	assert_int_equal(alpha_device_do_ioctl(m, h, 1, PCNTSETURANGE, 0, &alpha_device_own_memory),
	                 -EFAULT);
	alpha_device_free(m);
	o.check_first_range = false;
	o.range_errno = 0;
	m = open_device_with(&o, PCNTOPENALL, &h);
	send_word(m, h, PCNTSETITEMS, PFM_PROFILING);
	assert_int_equal(set_range(m, h, PCNTSETKRANGE, 0x1000, 0x2000, 4), 0);
	assert_int_equal(set_range(m, h, PCNTSETURANGE, 0x1002, 0x2000, 4), 0);
	alpha_device_free(m);
}

static void levels_and_cycles_by_other_rules(void **state)
{
	struct alpha_device_work idle = { .is_idle = true, .cycles = 500 };
	struct alpha_device_options o;
	struct pfcntrs_ev6 c;
	struct pfipls levels;
	struct alpha_device *m;
	int h;

	(void)state;
	alpha_device_set_defaults(&o, ALPHA_DEVICE_EV6);
	o.n_cpus = 1;
	o.idle_is_level0 = o.live_cycles = true;
	m = open_device_with(&o, PCNTOPENALL, &h);
	send_word(m, h, PCNTSETITEMS, PFM_IPL | PFM_COUNTERS);
	send_word(m, h, PCNT6ENABLE, PF6_CTRS(1, PMCTRS_ALL_CPUS, 0, 0));
	alpha_device_raise_interrupt(m, 0, 0, &idle);
	read_array(m, h, PCNTGETIPLHIS, &levels);
	assert_true(levels.ipl[PFM_IPL_IDLE] == 1 && levels.ipl[0] == 1);
	alpha_device_do_work(m, 0, &idle);
	read_array(m, h, PCNT6GETCNT, &c);
	assert_int_equal(c.pr_cycle, 500); /* no interrupt since, but the clock ran */
	alpha_device_free(m);
}

static void requests_while_counting(void **state)
{
	struct alpha_device_work w = user_work(1, 40, 50, 0);
	struct alpha_device_options o;
	struct alpha_device_view v;
	struct alpha_device *m;
	uint64_t counters;
	int h;

	(void)state;
	alpha_device_set_defaults(&o, ALPHA_DEVICE_EV6);
	o.n_cpus = 2;
	o.running_errno = EBUSY;
	o.start_cpu_errno = ENXIO;
	o.echo_word = false;
	m = open_device_with(&o, PCNTOPENALL, &h);
	assert_int_equal(send_word(m, h, PCNT6ENABLE, PF6_CTRS(3, 1, 0, 0)), -ENXIO);
	assert_int_equal(send_word(m, h, PCNT6ENABLE, PF6_CTRS(3, PMCTRS_ALL_CPUS, 0, 0)), 0);
	assert_int_equal(send_word(m, h, PCNTSETITEMS, PFM_IPL), -EBUSY);
	assert_int_equal(send_word(m, h, PCNT6SETCNTRS, PF6_CTRS(3, 1, 7, 8)),
	                 0); /* of one processor alone */
	assert_int_equal(send_word(m, h, PCNT6SETCNTRS, PF6_CTRS(3, 2, 7, 8)), -EINVAL);
	alpha_device_do_work(m, 0, &w);
	alpha_device_do_work(m, 1, &w);
	counters = PF6_CTRS(3, 1, 0, 0);
	assert_int_equal(alpha_device_do_ioctl(m, h, 1, PCNT6GETCNTRS,
	                                       (uint64_t)(uintptr_t)&counters,
	                                       &alpha_device_own_memory),
	                 0);
	assert_int_equal(counters, PF6_CTRS(0, 0, 47, 58));
	counters = PF6_CTRS(3, 2, 0, 0);
	assert_int_equal(alpha_device_do_ioctl(m, h, 1, PCNT6GETCNTRS,
	                                       (uint64_t)(uintptr_t)&counters,
	                                       &alpha_device_own_memory),
	                 -EINVAL);
	/* Interrupts off: nothing counts any more. */
	assert_int_equal(send_word(m, h, PCNTRDISABLE, 0), 0);
	alpha_device_get_view(m, 0, &v);
	assert_int_equal(v.running_counters, 0);
	alpha_device_do_work(m, 0, &w);
	alpha_device_get_view(m, 0, &v);
	assert_true(v.chip_values[0] == 40 && v.chip_values[1] == 50);
	alpha_device_free(m);
}

static void what_the_model_does_not_have(void **state)
{
	struct alpha_device *m = make_device(ALPHA_DEVICE_EV5, 2);
	struct alpha_device_work w = user_work(1, 5, 0, 0);
	struct alpha_device_view v;
	int h;

	(void)state;
	assert_int_equal(alpha_device_find_family("alpha_pca56"), ALPHA_DEVICE_PCA56);
	assert_int_equal(alpha_device_find_family("alpha_ev8"), -1);
	assert_int_equal(alpha_device_set_process(m, 9, 0, 2), -EINVAL);
	assert_int_equal(alpha_device_set_process(m, 9, 0, -2), -EINVAL);
	assert_int_equal(alpha_device_fork_process(m, 9, 10), -ESRCH);
	assert_int_equal(alpha_device_fork_process(m, 1, 2), -EEXIST);
	assert_int_equal(alpha_device_exec_process(m, 9), -ESRCH);
	assert_int_equal(alpha_device_exit_process(m, 9), -ESRCH);
	assert_int_equal(alpha_device_is_process_marked(m, 9), -ESRCH);
	assert_int_equal(alpha_device_set_foreign(m, 2, true), -EINVAL);
	assert_int_equal(alpha_device_open_session(m, 9, PCNTOPENALL), -ESRCH);
	assert_int_equal(alpha_device_do_work(m, 2, &w), -EINVAL);
	assert_int_equal(alpha_device_raise_interrupt(m, 2, 0, &w), -EINVAL);
	assert_int_equal(alpha_device_raise_interrupt(m, 0, 3, &w), -EINVAL);
	assert_int_equal(alpha_device_get_view(m, 2, &v), -EINVAL);
	/* An interrupt that no session waits for is discarded. */
	assert_int_equal(alpha_device_raise_interrupt(m, 0, 0, &w), 0);
	h = alpha_device_open_session(m, 1, PCNTOPENALL);
	assert_int_equal(alpha_device_raise_interrupt(m, 0, 0, &w), 0);
	alpha_device_get_view(m, 0, &v);
	assert_true(v.n_discarded == 2 && v.holder_pid == 1);
	assert_int_equal(alpha_device_get_result_size(m, h, PCNT5GETCNT),
	                 sizeof(struct pfcntrs_ev5));
	assert_int_equal(alpha_device_get_result_size(m, h, PCNT5MUX), 0);
	assert_int_equal(alpha_device_get_result_size(m, h + 1, PCNT5GETCNT), 0);
	assert_int_equal(alpha_device_get_result_size(m, -1, PCNT5GETCNT), 0);
	assert_int_equal(alpha_device_get_result_size(m, ALPHA_DEVICE_MAX_CPUS, PCNT5GETCNT), 0);
	assert_int_equal(alpha_device_do_ioctl(m, h, 9, PCNTRENABLE, 0, &alpha_device_own_memory),
	                 -ESRCH);
	assert_int_equal(alpha_device_do_ioctl(m, h, 1, PCNTSETITEMS, 0, &alpha_device_own_memory),
	                 -EFAULT);
	assert_int_equal(alpha_device_do_ioctl(m, h, 1, PCNT5GETCNT, 0, &alpha_device_own_memory),
	                 -EFAULT);
	assert_int_equal(read_array(m, h, PCNT5GETCNT, NULL), -EFAULT);
	assert_int_equal(alpha_device_exit_process(m, 1), 0); /* and what it opened is closed */
	assert_int_equal(alpha_device_close_session(m, h), -EBADF);
	assert_int_equal(alpha_device_close_session(m, -1), -EBADF);
	assert_int_equal(alpha_device_close_session(m, ALPHA_DEVICE_MAX_CPUS), -EBADF);
	alpha_device_free(m);
	alpha_device_free(NULL);
}

/* ---- random walks ---------------------------------------------------------------------------- */

enum { WALKERS = 4, WALK_CPUS = 3 };

/* Invariants: the holder of each counter, and the number of events that the counters have seen. */
struct walk {
	struct alpha_device *m;
	enum alpha_device_family family;
	uint64_t seed;
	int handle[WALKERS];
	unsigned mode[WALKERS];
	uint64_t added[WALK_CPUS][ALPHA_DEVICE_MAX_COUNTERS]; /* events since the last clearing of
	                                                         both kinds of counts */
	uint64_t rate[ALPHA_DEVICE_MAX_COUNTERS];
};

static unsigned get_random_below(struct walk *w, unsigned n)
{
	w->seed = w->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(w->seed >> 33) % n;
}

static bool ev6_like(const struct walk *w)
{
	return w->family == ALPHA_DEVICE_EV6 || w->family == ALPHA_DEVICE_EV67;
}

static unsigned n_counters(const struct walk *w)
{
	return w->family == ALPHA_DEVICE_EV5 || w->family == ALPHA_DEVICE_PCA56 ? 3 : 2;
}

static uint64_t held_by(const struct walk *w, unsigned who)
{
	if (w->handle[who] < 0)
		return 0;
	return w->mode[who] == PCNTOPENONE ? (uint64_t)1 << who % WALK_CPUS : (1u << WALK_CPUS) - 1;
}

/* Each processor has at most one holder, and the model reports the same one. */
static void check_holders(const struct walk *w)
{
	for (unsigned cpu = 0; cpu < WALK_CPUS; cpu++) {
		struct alpha_device_view v;
		int holder = -1;

		for (unsigned who = 0; who < WALKERS; who++)
			if (held_by(w, who) >> cpu & 1) {
				assert_int_equal(holder, -1);
				holder = (int)who + 1;
			}
		alpha_device_get_view(w->m, cpu, &v);
		assert_int_equal(v.holder_pid, holder);
		if (holder < 0)
			assert_int_equal(v.running_counters, 0);
	}
}

/* Interrupts times the rate, and what is left in the counter: every event is in one of them. */
static void check_counts(const struct walk *w)
{
	for (unsigned cpu = 0; cpu < WALK_CPUS; cpu++) {
		struct alpha_device_view v;

		alpha_device_get_view(w->m, cpu, &v);
		for (unsigned k = 0; k < n_counters(w); k++)
			assert_int_equal(v.interrupt_counts[k] * w->rate[k] + v.chip_values[k],
			                 w->added[cpu][k]);
	}
}

static void walk_open(struct walk *w, unsigned who)
{
	static const unsigned modes[] = { PCNTOPENONE, PCNTOPENEACH, PCNTOPENALL };
	unsigned mode = modes[get_random_below(w, 3)];
	uint64_t wanted = mode == PCNTOPENONE ? (uint64_t)1 << who % WALK_CPUS
	                                      : (1u << WALK_CPUS) - 1,
		 held = 0;
	int h = alpha_device_open_session(w->m, (int)who + 1, mode);

	for (unsigned i = 0; i < WALKERS; i++)
		held |= held_by(w, i);
	if (held & wanted) {
		assert_int_equal(h, -EBUSY);
		return;
	}
	assert_true(h >= 0);
	w->handle[who] = h;
	w->mode[who] = mode;
}

static void walk_start(struct walk *w, unsigned who, bool on)
{
	uint32_t request = w->family == ALPHA_DEVICE_EV4 ? (on ? PCNTRENABLE : PCNTRDISABLE)
	                   : ev6_like(w)                 ? (on ? PCNT6ENABLE : PCNT6DISABLE)
	                                                 : (on ? PCNT5ENABLE : PCNT5DISABLE);
	uint64_t arg = ev6_like(w) ? PF6_CTRS(get_random_below(w, 4), PMCTRS_ALL_CPUS, 0, 0)
	                           : PF5_CTRS(get_random_below(w, 8), PMCTRS_ALL_CPUS, 0, 0, 0);

	assert_int_equal(alpha_device_do_ioctl(w->m, w->handle[who], (int)who + 1, request,
	                                       (uint64_t)(uintptr_t)&arg, &alpha_device_own_memory),
	                 0);
}

/* Clears the driver's counts and the chip's, where it can be written; else only adds up anew what
 * is left. */
static void walk_clear(struct walk *w, unsigned who)
{
	uint64_t arg = ev6_like(w) ? PF6_CTRS(3, PMCTRS_ALL_CPUS, 0, 0)
	                           : PF5_CTRS(7, PMCTRS_ALL_CPUS, 0, 0, 0);

	alpha_device_do_ioctl(w->m, w->handle[who], (int)who + 1, PCNTCLEARCNT, 0,
	                      &alpha_device_own_memory);
	if (w->family != ALPHA_DEVICE_EV4)
		alpha_device_do_ioctl(w->m, w->handle[who], (int)who + 1,
		                      ev6_like(w) ? PCNT6CLEAR : PCNT5CLEAR,
		                      (uint64_t)(uintptr_t)&arg, &alpha_device_own_memory);
	for (unsigned cpu = 0; cpu < WALK_CPUS; cpu++)
		for (unsigned k = 0; k < n_counters(w); k++) {
			struct alpha_device_view v;

			alpha_device_get_view(w->m, cpu, &v);
			if (held_by(w, who) >> cpu & 1)
				w->added[cpu][k] =
					w->family == ALPHA_DEVICE_EV4 ? v.chip_values[k] : 0;
		}
}

static void walk_work(struct walk *w)
{
	unsigned cpu = get_random_below(w, WALK_CPUS);
	struct alpha_device_work work = { .pid = (int)get_random_below(w, WALKERS) + 1,
		                          .is_user = get_random_below(w, 2),
		                          .cycles = get_random_below(w, 1000) };
	struct alpha_device_view v;

	alpha_device_get_view(w->m, cpu, &v);
	for (unsigned k = 0; k < n_counters(w); k++) {
		work.events[k] = get_random_below(w, 200000);
		if (v.running_counters >> k & 1)
			w->added[cpu][k] += work.events[k];
	}
	assert_int_equal(alpha_device_do_work(w->m, cpu, &work), 0);
}

static void walk_close(struct walk *w, unsigned who)
{
	if (get_random_below(w, 4)) {
		assert_int_equal(alpha_device_close_session(w->m, w->handle[who]), 0);
	} else { /* the process ends without closing, and another one of that number begins */
		assert_int_equal(alpha_device_exit_process(w->m, (int)who + 1), 0);
		assert_int_equal(
			alpha_device_set_process(w->m, (int)who + 1, 100, (int)(who % WALK_CPUS)),
			0);
	}
	w->handle[who] = -1;
}

static void walk_step(struct walk *w)
{
	unsigned who = get_random_below(w, WALKERS);

	if (w->handle[who] < 0) {
		if (get_random_below(w, 3) == 0)
			walk_open(w, who);
		else
			walk_work(w);
		return;
	}
	switch (get_random_below(w, 8)) {
	case 0: walk_close(w, who); break;
	case 1: walk_clear(w, who); break;
	case 2: walk_start(w, who, false); break;
	case 3:
	case 4: walk_start(w, who, true); break;
	default: walk_work(w);
	}
}

static void walks_keep_holders_single_and_counts_whole(void **state)
{
	static const uint64_t rates[][3] = { { 65536, 4096 },
		                             { 65536, 65536, 16384 },
		                             { 65536, 65536, 16384 },
		                             { 1 << 20, 1 << 20 },
		                             { 1 << 20, 1 << 20 } };

	(void)state;
	for (unsigned run = 0; run < 50; run++) {
		struct walk w = { .family = (enum alpha_device_family)(run % 5),
			          .seed = run * UINT64_C(0x9e3779b97f4a7c15) + 1 };
		struct alpha_device_options o;

		alpha_device_set_defaults(&o, w.family);
		o.n_cpus = WALK_CPUS;
		w.m = alpha_device_new(&o);
		memcpy(w.rate, rates[w.family], sizeof w.rate);
		for (unsigned i = 0; i < WALKERS; i++) {
			w.handle[i] = -1;
			assert_int_equal(alpha_device_set_process(w.m, (int)i + 1, 100,
			                                          (int)(i % WALK_CPUS)),
			                 0);
		}
		for (unsigned step = 0; step < 2000; step++) {
			walk_step(&w);
			check_holders(&w);
			check_counts(&w);
		}
		alpha_device_free(w.m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_errors_are_answered),
		cmocka_unit_test(golden_sessions_are_answered),
		cmocka_unit_test(golden_sessions_are_composed),
		cmocka_unit_test(lines_that_make_no_sense_are_answered_with_an_error),
		cmocka_unit_test(interrupts_come_at_the_rate_and_the_rest_stays),
		cmocka_unit_test(each_has_an_entry_for_every_processor_and_one_has_its_own),
		cmocka_unit_test(start_values_bring_the_first_interrupt_forward),
		cmocka_unit_test(muted_counters_of_ev4_interrupt_and_leave_nothing),
		cmocka_unit_test(only_marked_processes_count_under_log_select),
		cmocka_unit_test(the_21064_before_pass_3_counts_everybody),
		cmocka_unit_test(modes_of_the_21164_gate_its_counters),
		cmocka_unit_test(the_histogram_of_levels_needs_its_item),
		cmocka_unit_test(samples_fall_into_buckets),
		cmocka_unit_test(callers_are_charged_for_utility_routines),
		cmocka_unit_test(values_are_written_and_read_back),
		cmocka_unit_test(requests_of_others_and_bad_pointers_are_refused),
		cmocka_unit_test(opening_keeps_the_counts_of_the_driver),
		cmocka_unit_test(unconfirmed_rules_are_settings),
		cmocka_unit_test(counting_can_hang_on_the_enable_request),
		cmocka_unit_test(samples_by_other_rules),
		cmocka_unit_test(ranges_are_checked_as_the_settings_say),
		cmocka_unit_test(levels_and_cycles_by_other_rules),
		cmocka_unit_test(requests_while_counting),
		cmocka_unit_test(what_the_model_does_not_have),
		cmocka_unit_test(walks_keep_holders_single_and_counts_whole),
	};

	return cmocka_run_group_tests_name("device model", tests, NULL, NULL);
}
