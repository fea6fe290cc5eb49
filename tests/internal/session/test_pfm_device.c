/* SPDX-License-Identifier: MIT */
/* Sessions on the Tru64 counter device: what the backend asks of it, in which order, and what it
 * makes of the answers. The device is the model; a spy writes down every call. */
#include <errno.h>
#include <jansson.h>
#include <perfmon/alpha.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include <unistd.h>
#include "device_session.h"

/* ---- golden orders --------------------------------------------------------------------------- */

static uint64_t num(const json_t *v)
{
	return json_is_string(v) ? strtoull(json_string_value(v), NULL, 0)
	                         : (uint64_t)json_integer_value(v);
}

static bool is(const json_t *o, const char *key, const char *word)
{
	return strcmp(json_string_value(json_object_get(o, key)), word) == 0;
}

static void settings(const json_t *v, pfmlib_alpha_input_param_t *in)
{
	const json_t *freq = json_object_get(v, "freq"), *period = json_object_get(v, "period");

	for (size_t i = 0; i < 3; i++) {
		in->pfp_alpha_rates[i] = num(json_array_get(freq, i));
		in->pfp_alpha_periods[i] = num(json_array_get(period, i));
	}
	in->pfp_alpha_scope =
		is(v, "scope", "process") ? PFM_ALPHA_SCOPE_PROCESS : PFM_ALPHA_SCOPE_SYSTEM;
	in->pfp_alpha_open = is(v, "mode", "one")    ? PFM_ALPHA_OPEN_ONE
	                     : is(v, "mode", "each") ? PFM_ALPHA_OPEN_EACH
	                                             : PFM_ALPHA_OPEN_ALL;
	in->pfp_alpha_items = (unsigned)num(json_object_get(v, "items"));
	if (json_object_get(v, "ctxt")) {
		in->pfp_alpha_flags = PFM_ALPHA_FL_CTXT;
		in->pfp_alpha_ctxt = num(json_object_get(v, "ctxt"));
	}
}

static void same_calls(const struct fixture *f, const json_t *v)
{
	const json_t *seq = json_object_get(v, "seq"), *step;
	unsigned at = 0;
	size_t i;

	json_array_foreach (seq, i, step) {
		uint32_t request = is(step, "op", "open") ? 0
		                   : is(step, "op", "close")
		                           ? 1
		                           : (uint32_t)num(json_object_get(step, "req"));
		const json_t *arg = json_array_get(json_object_get(step, "arg"), 0);

		/* The chip's own counters are read on top of the driver's where the golden session
		 * does without. */
		while (at < f->n_calls && (f->calls[at].request == PCNT5READCNTRS ||
		                           f->calls[at].request == PCNT5GETCNTRS))
			at++;
		if (at == f->n_calls || f->calls[at].request != request)
			fail_msg("%s: step %zu is %#x", json_string_value(json_object_get(v, "id")),
			         i, at < f->n_calls ? f->calls[at].request : 0);
		if (request == 0)
			assert_int_equal(f->calls[at].arg, num(json_object_get(step, "flags")));
		if (arg)
			assert_int_equal(f->calls[at].arg, num(arg));
		at++;
	}
	assert_int_equal(at, f->n_calls);
}

static void golden_session(const json_t *v)
{
	static const char *const families[] = { "ev4", "ev5", "pca56", "ev6", "ev67" };
	const json_t *events = json_object_get(v, "events");
	unsigned family = 0;
	struct fixture *f;
	pfm_count_t counts[3];
	struct pfipls levels;

	while (!is(v, "pmu", families[family]))
		family++;
	f = begin((enum alpha_device_family)family, (unsigned)num(json_object_get(v, "ncpu")), 0,
	          0);
	settings(v, &f->in);
	f->options.model = &f->in;
	for (size_t i = 0; i < json_array_size(events); i++)
		add(f, json_string_value(json_array_get(json_array_get(events, i), 1)));
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	assert_int_equal(f->s.live.backend->stop_counting(&f->s), 0);
	assert_int_equal(f->s.live.backend->read_counts(&f->s, counts, f->s.n_counts), 0);
	if (f->in.pfp_alpha_items & PFM_IPL)
		assert_int_equal(pfm_alpha_session_levels(&f->s, 0, &levels), 0);
	f->s.live.backend->close_counts(&f->s);
	same_calls(f, v);
	end(f);
}

static void requests_come_in_the_golden_order(void **state)
{
	const char *folder = getenv("PERFMON_TESTS");
	char path[4096], *line = NULL;
	size_t room = 0;
	unsigned n = 0;
	FILE *file;

	(void)state;
	snprintf(path, sizeof path, "%s/vectors/alpha_device.jsonl", folder ? folder : "tests");
	file = fopen(path, "r");
	assert_non_null(file);
	while (getline(&line, &room, file) > 0) {
		json_t *v = json_loads(line, 0, NULL);

		if (is(v, "kind", "session")) {
			golden_session(v);
			n++;
		}
		json_decref(v);
	}
	free(line);
	fclose(file);
	assert_int_equal(n, 32);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void a_busy_device_is_tried_once_more_and_then_explained(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 1, 0, ALPHA_DEVICE_UNBOUND);

	(void)state;
	add(f, "cycles");
	f->open_errors = 1;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->counts[0].status.cause, PFM_CAUSE_NONE);
	f->s.live.backend->close_counts(&f->s);
	f->open_errors = 2;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->counts[0].status.cause, PFM_CAUSE_BUSY);
	assert_non_null(strstr(f->counts[0].status.remedy, "superuser"));
	end(f);
}

/* Linux reads the bits of the mode as other flags if the node is not the counter device. */
static void open_modes_are_other_flags_elsewhere(void **state)
{
	static const int errors[] = { ENOTDIR, ELOOP };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct fixture *f = begin(ALPHA_DEVICE_EV5, 1, 0, ALPHA_DEVICE_UNBOUND);

		add(f, "cycles");
		f->open_errno = errors[i];
		assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
		assert_int_equal(f->counts[0].status.cause, PFM_CAUSE_NO_KERNEL);
		assert_int_equal(f->counts[0].status.sys_errno, errors[i]);
		assert_non_null(strstr(f->counts[0].status.remedy, "pfm alpha device"));
		end(f);
	}
}

static void each_obstacle_of_the_device_has_its_cause(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 1, 100, ALPHA_DEVICE_UNBOUND);

	(void)state;
	add(f, "cycles");
	f->options.model = &f->in;
	f->in.pfp_alpha_rates[0] = 256;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->counts[0].status.cause, PFM_CAUSE_PERMISSION);
	assert_int_equal(f->calls[f->n_calls - 1].request, 1); /* nothing stays open */
	f->s.live.backend->close_counts(&f->s);
	f->counts[0].status.cause = 0;
	f->in = (pfmlib_alpha_input_param_t){ .pfp_alpha_open = PFM_ALPHA_OPEN_ONE };
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->counts[0].status.cause, PFM_CAUSE_NO_CPU);
	f->s.live.backend->close_counts(&f->s);
	f->counts[0].status.cause = 0;
	f->in = (pfmlib_alpha_input_param_t){ 0 };
	f->options.device = "/dev/nothing";
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->counts[0].status.cause, PFM_CAUSE_NO_KERNEL);
	f->s.live.backend->close_counts(&f->s);
	f->counts[0].status.cause = 0;
	f->options.device = NULL;
	f->in = (pfmlib_alpha_input_param_t){ .pfp_alpha_items = 4,
		                              .pfp_alpha_n_ranges = 1,
		                              .pfp_alpha_ranges = { { 0x1000, 0x2000 } } };
	alpha_device_fail_next_alloc(f->m);
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->counts[0].status.cause, PFM_CAUSE_MEMORY);
	end(f);
}

static void errors_of_open_have_causes(void **state)
{
	static const struct {
		int err, cause;
	} rows[] = {
		{ ENOENT, PFM_CAUSE_NO_KERNEL },  { ENXIO, PFM_CAUSE_NO_KERNEL },
		{ ENODEV, PFM_CAUSE_NO_KERNEL },  { EBUSY, PFM_CAUSE_BUSY },
		{ EACCES, PFM_CAUSE_PERMISSION }, { EPERM, PFM_CAUSE_PERMISSION },
		{ EINVAL, PFM_CAUSE_OTHER },
	};
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 1, 0, ALPHA_DEVICE_UNBOUND);

	(void)state;
	add(f, "cycles");
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		f->counts[0].status.cause = 0;
		f->open_errno = rows[i].err;
		assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
		assert_int_equal(f->counts[0].status.cause, rows[i].cause);
		assert_int_equal(f->counts[0].status.sys_errno, rows[i].err);
		f->s.live.backend->close_counts(&f->s);
	}
	end(f);
}

static void settings_the_device_refuses(void **state)
{
	static const struct {
		uint64_t rate;
		int err, cause;
	} rows[] = {
		{ 256, EPERM, PFM_CAUSE_PERMISSION },  { 256, EACCES, PFM_CAUSE_PERMISSION },
		{ 256, EINVAL, PFM_CAUSE_PERMISSION }, { 256, EIO, PFM_CAUSE_ATTRIBUTE },
		{ 0, EPERM, PFM_CAUSE_ATTRIBUTE },     { 0, EINVAL, PFM_CAUSE_ATTRIBUTE },
		{ 0, ENOMEM, PFM_CAUSE_MEMORY },
	};
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 1, 0, ALPHA_DEVICE_UNBOUND);

	(void)state;
	add(f, "issues");
	f->options.model = &f->in;
	f->refused = PCNT5MUX;
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		f->counts[0].status.cause = 0;
		f->n_calls = 0;
		f->in.pfp_alpha_rates[0] = rows[i].rate;
		f->refused_errno = rows[i].err;
		assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
		assert_int_equal(f->counts[0].status.cause, rows[i].cause);
		assert_int_equal(f->counts[0].status.sys_errno, rows[i].err);
		assert_int_equal(f->calls[f->n_calls - 1].request, 1); /* nothing stays open */
		f->s.live.backend->close_counts(&f->s);
	}
	end(f);
}

/* Each refusal while counting has its code and its errno, and the session continues if the
 * device does. */
static void errors_while_counting_are_handed_on(void **state)
{
	static const struct {
		enum alpha_device_family family;
		const char *event;
		uint32_t start, again, stop, read;
	} rows[] = {
		{ ALPHA_DEVICE_EV4, "cycles", PCNTRENABLE, PCNTRENABLE, PCNTRDISABLE, PCNTGETCNT },
		{ ALPHA_DEVICE_EV5, "issues", PCNT5RESTART, PCNT5ENABLE, PCNT5DISABLE,
		  PCNT5GETCNT },
		{ ALPHA_DEVICE_EV5, "issues", PCNT5RESTART, PCNT5ENABLE, PCNT5DISABLE,
		  PCNT5READCNTRS },
		{ ALPHA_DEVICE_PCA56, "issues", PCNT5RESTART, PCNT5ENABLE, PCNT5DISABLE,
		  PCNT5GETCNT },
		{ ALPHA_DEVICE_EV6, "retinst", PCNT6RESTART, PCNT6ENABLE, PCNT6DISABLE,
		  PCNT6READCNTRS },
		{ ALPHA_DEVICE_EV67, "retinst", PCNT6RESTART, PCNT6ENABLE, PCNT6DISABLE,
		  PCNT6READCNTRS },
	};
	static const struct {
		int err, rc;
	} errors[] = { { EPERM, PFMLIB_ERR_PERM },
		       { EACCES, PFMLIB_ERR_PERM },
		       { EBUSY, PFMLIB_ERR_BUSY },
		       { EIO, PFMLIB_ERR_SYS } };

	(void)state;
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (unsigned e = 0; e < 4; e++) {
			struct fixture *f = begin(rows[i].family, 1, 0, ALPHA_DEVICE_UNBOUND);
			const struct backend *b = f->s.live.backend;
			pfm_count_t count;

			add(f, rows[i].event);
			assert_int_equal(b->open_counts(&f->s, NULL), 0);
			assert_int_equal(f->counts[0].status.cause, 0);
			assert_int_equal(b->stop_counting(&f->s), 0); /* nothing runs yet */
			assert_int_equal(b->reset_counts(&f->s), 0);
			f->refused_errno = errors[e].err;
			f->refused = rows[i].start;
			assert_int_equal(b->start_counting(&f->s), errors[e].rc);
			assert_int_equal(f->s.sys_errno, errors[e].err);
			f->refused = 0;
			assert_int_equal(b->start_counting(&f->s), 0);
			assert_int_equal(b->start_counting(&f->s), 0); /* it runs already */
			work(f, 0, 1 << 20, 0, 0);
			f->refused = rows[i].read;
			f->s.sys_errno = 0;
			assert_int_equal(b->read_counts(&f->s, &count, 1), errors[e].rc);
			assert_int_equal(b->reset_counts(&f->s), errors[e].rc);
			assert_int_equal(f->s.sys_errno, errors[e].err);
			f->refused = rows[i].stop;
			assert_int_equal(b->stop_counting(&f->s), errors[e].rc);
			f->refused = 0;
			assert_int_equal(b->stop_counting(&f->s), 0);
			assert_int_equal(value(f, 0), 1 << 20);
			f->refused = rows[i].again;
			assert_int_equal(b->start_counting(&f->s), errors[e].rc);
			f->refused = 0;
			assert_int_equal(b->start_counting(&f->s), 0);
			work(f, 0, 1 << 20, 0, 0);
			assert_int_equal(value(f, 0), 2 << 20);
			end(f);
		}
}

/* Counts of single processors, of which one is not there. */
static void a_processor_the_device_does_not_have(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV6, 2, 0, ALPHA_DEVICE_UNBOUND);

	(void)state;
	add(f, "retinst");
	f->counts[1] = f->counts[2] = f->counts[0];
	f->s.n_counts = 3;
	f->counts[0].config.cpu = 0;
	f->counts[1].config.cpu = 1;
	f->counts[2].config.cpu = 2;
	f->s.options.flags = PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->counts[2].status.cause, PFM_CAUSE_NO_CPU);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	work(f, 0, 7, 0, 0);
	work(f, 1, 8, 0, 0);
	assert_true(value(f, 0) == 7 && value(f, 1) == 8 && value(f, 2) == 0);
	end(f);
}

static void another_process_cannot_be_counted(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 1, 0, ALPHA_DEVICE_UNBOUND);

	(void)state;
	add(f, "issues");
	f->s.options.pid = 1;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->counts[0].status.cause, PFM_CAUSE_NO_PROCESS);
	assert_int_equal(f->n_calls, 0);
	/* A device that is not open counts nothing and reports no error. */
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	assert_int_equal(f->s.live.backend->stop_counting(&f->s), 0);
	assert_int_equal(f->s.live.backend->reset_counts(&f->s), 0);
	assert_int_equal(value(f, 0), 0);
	f->s.live.backend->close_counts(&f->s);
	f->counts[0].status.cause = 0;
	f->s.options.pid = getpid();
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->counts[0].status.cause, 0);
	f->s.live.backend->close_counts(&f->s);
	f->s.options.pid = 1;
	f->s.options.flags = PFM_SESSION_SYSTEM_WIDE;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->counts[0].status.cause, 0);
	end(f);
}

static void probing_asks_whether_there_is_a_device(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 1, 0, ALPHA_DEVICE_UNBOUND);
	pfm_error_t why = { .size = sizeof why };

	(void)state;
	assert_int_equal(f->s.live.backend->probe(&f->s.sys, NULL), PFMLIB_SUCCESS);
	assert_true(f->n_calls == 2 && f->calls[1].request == 1); /* closed again */
	f->open_errors = 1;
	assert_int_equal(f->s.live.backend->probe(&f->s.sys, NULL),
	                 PFMLIB_SUCCESS); /* busy, so the device exists */
	f->open_errno = ENOENT;
	assert_int_equal(f->s.live.backend->probe(&f->s.sys, NULL), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(f->s.live.backend->probe(&f->s.sys, &why),
	                 PFMLIB_SUCCESS); /* asked for by name: each count says why not */
	end(f);
}

/* ---- on an emulator in this process ---------------------------------------------------------- */

static struct alpha_emulator *emulator;

/* Settings for an emulator of processor @family; it ends when the next one begins. */
static pfm_alpha_session_t on_emulator(const char *family, unsigned n_cpus)
{
	alpha_emulator_close(emulator);
	assert_int_equal(alpha_emulator_open(family, n_cpus, 0, 0, &emulator), 0);
	return (pfm_alpha_session_t){ .size = sizeof(pfm_alpha_session_t),
		                      .emulator = alpha_emulator_get_device(emulator) };
}

static pfm_session_t *model_session(const pfm_alpha_session_t *alpha, unsigned flags,
                                    const char *const *texts, unsigned n, pfm_error_t *why)
{
	pfm_ctx_options_t o = { .size = sizeof o, .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	pfm_session_options_t options = { .size = sizeof options,
		                          .flags = flags,
		                          .backend = "pfm_device" };
	pfm_session_t *s = NULL;
	pfm_ctx_t *ctx;
	union {
		const pfm_alpha_session_t *in;
		void *out;
	} settings = { .in = alpha };

	options.backend_options = settings.out;
	assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
	*why = (pfm_error_t){ .size = sizeof *why };
	if (pfm_open_session(&s, ctx, &options, texts, n, why))
		assert_null(s);
	pfm_close_context(ctx);
	return s;
}

/* How often an event happens on the model is its own affair; that it does, and that time passes, is
 * not. */
static void every_family_counts_on_its_model(void **state)
{
	static const struct {
		const char *model;
		const char *texts[3];
	} rows[] = {
		{ "ev4", { "ev4::cycles", "ev4::dcache" } },
		{ "alpha_ev5", { "ev5::cycles", "ev5::issues", "ev5::loads" } },
		{ "pca56", { "pca56::cycles", "pca56::issues", NULL } },
		{ "ev6", { "ev6::cycles", "ev6::retinst" } },
		{ "ev67", { "ev67::retinst", "ev67::cycles1" } },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		pfm_alpha_session_t alpha = on_emulator(rows[i].model, 0);
		unsigned n = rows[i].texts[2] ? 3 : 2;
		pfm_count_t counts[3] = { PFM_INIT(counts[0]), PFM_INIT(counts[0]),
			                  PFM_INIT(counts[0]) };
		struct timespec t, begin_, late = { 0, 3000000 };
		pfm_error_t why;
		pfm_session_t *s;

		s = model_session(&alpha, PFM_SESSION_ENABLE_ON_EXEC, rows[i].texts, n,
		                  &why); /* begins at once */
		assert_non_null(s);
		clock_gettime(CLOCK_MONOTONIC, &begin_);
		nanosleep(&late, NULL); /* the time that is measured */
		assert_int_equal(pfm_stop_session(s), PFMLIB_SUCCESS);
		clock_gettime(CLOCK_MONOTONIC, &t);
		assert_int_equal(pfm_read_session(s, counts, n), PFMLIB_SUCCESS);
		for (unsigned k = 0; k < n; k++) {
			assert_int_equal(counts[k].quality, PFM_QUALITY_EXACT);
			assert_true(counts[k].value > 0 && counts[k].enabled >= 3000000);
		}
		pfm_close_session(s);
	}
}

/* As many processors as the model has, whatever this machine has. */
static void a_model_has_processors_of_its_own(void **state)
{
	pfmlib_alpha_input_param_t in = { .pfp_alpha_open = PFM_ALPHA_OPEN_EACH };
	pfm_alpha_session_t alpha;
	const char *const text = "ev5::cycles";
	struct alpha_device_options o;
	pfm_error_t why;

	(void)state;
	alpha_device_set_defaults(&o, ALPHA_DEVICE_EV5);
	for (unsigned n = 0; n <= 64; n = n ? n * 2 : 1) {
		pfm_count_t count = PFM_INIT(count);
		pfm_session_t *s;

		alpha = on_emulator("ev5", n);
		alpha.model = &in;
		s = model_session(&alpha, PFM_SESSION_SYSTEM_WIDE, &text, 1, &why);
		assert_non_null(s);
		assert_int_equal(pfm_start_session(s), PFMLIB_SUCCESS);
		assert_int_equal(pfm_alpha_session_entries(s), n ? n : o.n_cpus);
		assert_int_equal(pfm_read_session(s, &count, 1), PFMLIB_SUCCESS);
		pfm_close_session(s);
	}
}

static void emulators_that_are_incomplete(void **state)
{
	const char *const text = "ev5::cycles";
	pfm_alpha_session_t alpha = on_emulator("ev5", 0);
	const pfm_alpha_device_t whole = *alpha.emulator;
	pfm_alpha_device_t broken[] = { whole, whole, whole, whole, whole, whole, whole };
	pfm_error_t why;

	(void)state;
	broken[0].size = sizeof(broken[0].size) - 1;
	broken[1].open = NULL;
	broken[2].read = NULL;
	broken[3].ioctl = NULL;
	broken[4].close = NULL;
	broken[5].n_cpus = 0;
	broken[6].n_cpus = 256;
	for (unsigned i = 0; i < sizeof broken / sizeof broken[0]; i++) {
		alpha.emulator = &broken[i];
		assert_null(model_session(&alpha, 0, &text, 1, &why));
		assert_int_equal(why.code, PFMLIB_ERR_INVAL);
		assert_non_null(strstr(why.detail, "emulator"));
	}
}

static void events_of_other_processors_are_left_out(void **state)
{
	static const char *const texts[] = { "ev6::cycles", "ev5::issues", "coreduo::Instr_Ret",
		                             "ev5::cycles", "ev5::loads",  "ev5::loads" };
	static const int causes[] = {
		PFM_CAUSE_NO_PMU, 0, PFM_CAUSE_NO_PMU, 0, 0, PFM_CAUSE_GROUP
	};
	pfm_alpha_session_t alpha = on_emulator("ev5", 2);
	pfmlib_alpha_input_param_t in = { .pfp_alpha_rates = { 7 } };
	pfm_count_t counts[6];
	pfm_error_t why;
	pfm_session_t *s = model_session(&alpha, PFM_SESSION_SYSTEM_WIDE, texts, 6, &why);

	(void)state;
	assert_non_null(s);
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < 6; i++)
			counts[i] = (pfm_count_t){ .size = sizeof counts[i] };
		assert_int_equal(pfm_read_session(s, counts, 6), PFMLIB_SUCCESS);
		for (unsigned i = 0; i < 6 && pass == 0; i++)
			assert_int_equal(counts[i].cause == PFM_CAUSE_NO_TIME ? 0 : counts[i].cause,
			                 causes[i]);
		assert_true(pass == 0 || counts[1].cause == PFM_CAUSE_ATTRIBUTE);
		pfm_close_session(s);
		alpha.model = &in; /* no such rate */
		s = model_session(&alpha, 0, texts, 6, &why);
		assert_non_null(s);
	}
	pfm_close_session(s);
	/* Without a model: no event that it could count, so it is never opened. */
	alpha = (pfm_alpha_session_t){ .size = sizeof alpha };
	s = model_session(&alpha, 0, &texts[2], 1, &why);
	assert_non_null(s);
	assert_int_equal(pfm_start_session(s), PFMLIB_SUCCESS);
	assert_int_equal(pfm_alpha_session_entries(s), PFMLIB_ERR_INVAL);
	pfm_close_session(s);
}

/* The device does not distinguish idle time, host and guests: a count of one of them alone is
 * refused with a cause, and the count beside it works. */
static void reports_samples_the_device_cannot_exclude(void **state)
{
	static const char *const texts[] = { "ev5/cycles/G", "ev5::issues", "ev5/loads/I" };
	static const char *const remedies[] = { "omit the letters G, H and I", "",
		                                "omit the letters G, H and I" };
	pfm_alpha_session_t alpha = on_emulator("ev5", 0);
	pfm_error_t why;
	pfm_session_t *s = model_session(&alpha, 0, texts, 3, &why);

	(void)state;
	assert_non_null(s);
	for (unsigned i = 0; i < 3; i++) {
		pfm_count_info_t told = PFM_INIT(told);

		assert_int_equal(pfm_describe_count(s, i, &told), PFMLIB_SUCCESS);
		assert_string_equal(told.remedy, remedies[i]);
	}
	pfm_close_session(s);
}

/* Counts of tasks and counts with a filter are refused; a count of one processor works. */
static void reports_tasks_the_device_cannot_count(void **state)
{
	static const char *const texts[] = { "ev5::cycles", "ev5::issues" }, *const filters[] = {
		NULL, "prev_pid == 0"
	};
	pfm_alpha_session_t alpha = on_emulator("ev5", 0);
	const struct {
		const char *cpus, *cgroup;
		const char *const *filters;
		unsigned flags;
		int causes[2];
	} rows[] = {
		{ "0", NULL, NULL, 0, { PFM_CAUSE_ATTRIBUTE, PFM_CAUSE_ATTRIBUTE } },
		{ "0", NULL, NULL, PFM_SESSION_PER_CPU, { PFM_CAUSE_NO_TIME, PFM_CAUSE_NO_TIME } },
		{ NULL, "/sys/fs/cgroup/a", NULL, 0, { PFM_CAUSE_ATTRIBUTE, PFM_CAUSE_ATTRIBUTE } },
		{ NULL, NULL, filters, 0, { PFM_CAUSE_NO_TIME, PFM_CAUSE_ATTRIBUTE } },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		pfm_session_options_t options = { .size = sizeof options,
			                          .backend = "pfm_device",
			                          .backend_options = &alpha,
			                          .flags = PFM_SESSION_SYSTEM_WIDE | rows[i].flags,
			                          .cpus = rows[i].cpus,
			                          .cgroup = rows[i].cgroup,
			                          .filters = rows[i].filters };
		pfm_count_t counts[2] = { PFM_INIT(counts[0]), PFM_INIT(counts[0]) };
		pfm_ctx_t *ctx;
		pfm_session_t *s;

		assert_int_equal(pfm_open_context(&ctx, NULL, NULL), PFMLIB_SUCCESS);
		assert_int_equal(pfm_open_session(&s, ctx, &options, texts, 2, NULL),
		                 PFMLIB_SUCCESS);
		pfm_close_context(ctx);
		assert_int_equal(pfm_session_size(s), 2);
		assert_int_equal(pfm_read_session(s, counts, 2), PFMLIB_SUCCESS);
		for (unsigned k = 0; k < 2; k++)
			assert_int_equal(counts[k].cause, rows[i].causes[k]);
		pfm_close_session(s);
	}
}

/* A system on which nothing exists but the device. */
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_come_in_the_golden_order),
		cmocka_unit_test(a_busy_device_is_tried_once_more_and_then_explained),
		cmocka_unit_test(open_modes_are_other_flags_elsewhere),
		cmocka_unit_test(each_obstacle_of_the_device_has_its_cause),
		cmocka_unit_test(errors_of_open_have_causes),
		cmocka_unit_test(settings_the_device_refuses),
		cmocka_unit_test(errors_while_counting_are_handed_on),
		cmocka_unit_test(a_processor_the_device_does_not_have),
		cmocka_unit_test(another_process_cannot_be_counted),
		cmocka_unit_test(probing_asks_whether_there_is_a_device),
		cmocka_unit_test(every_family_counts_on_its_model),
		cmocka_unit_test(a_model_has_processors_of_its_own),
		cmocka_unit_test(emulators_that_are_incomplete),
		cmocka_unit_test(events_of_other_processors_are_left_out),
		cmocka_unit_test(reports_samples_the_device_cannot_exclude),
		cmocka_unit_test(reports_tasks_the_device_cannot_count),
	};

	return cmocka_run_group_tests_name("pfm_device", tests, NULL, NULL);
}
