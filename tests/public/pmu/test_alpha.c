/* SPDX-License-Identifier: MIT */
/* Alpha: the golden vectors about words, events and groups, through the library.
 * test_device_model.c has those of the device. */
#include <errno.h>
#include <jansson.h>
#include <perfmon/pfmlib_alpha.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dispatched_set.h"

/* ---- reading vectors ------------------------------------------------------------------------- */

static json_t *load_vectors(const char *name)
{
	const char *folder = getenv("PERFMON_TESTS");
	json_t *all = json_array();
	char path[4096], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/vectors/%s", folder ? folder : "tests", name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open %s", path);
	while (getline(&line, &size, f) > 0) {
		json_t *v = json_loads(line, 0, NULL);

		assert_non_null(v);
		json_array_append_new(all, v);
	}
	free(line);
	fclose(f);
	assert_true(json_array_size(all) > 0);
	return all;
}

static uint64_t read_number(const json_t *v)
{
	return json_is_string(v) ? strtoull(json_string_value(v), NULL, 0)
	                         : (uint64_t)json_integer_value(v);
}

static uint64_t get_number(const json_t *o, const char *key)
{
	return read_number(json_object_get(o, key));
}

static const char *get_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static unsigned get_numbers(const json_t *o, const char *key, uint64_t *out, unsigned size)
{
	const json_t *l = json_object_get(o, key);
	unsigned n = (unsigned)json_array_size(l);

	assert_true(n <= size);
	for (unsigned i = 0; i < n; i++)
		out[i] = read_number(json_array_get(l, i));
	return n;
}

static int pmu_of(const json_t *o)
{
	static const struct {
		const char *name;
		int type;
	} types[] = {
		{ "ev4", PFMLIB_ALPHA_EV4_PMU },     { "ev5", PFMLIB_ALPHA_EV5_PMU },
		{ "pca56", PFMLIB_ALPHA_PCA56_PMU }, { "ev6", PFMLIB_ALPHA_EV6_PMU },
		{ "ev67", PFMLIB_ALPHA_EV67_PMU },
	};

	for (unsigned i = 0; i < 5; i++)
		if (strcmp(get_text(o, "pmu"), types[i].name) == 0)
			return types[i].type;
	return -1;
}

/* The statistics of a vector as bits. */
static uint64_t stats_of(const json_t *v)
{
	uint64_t l[8], bits = 0;
	unsigned n = get_numbers(v, "stats", l, 8);

	for (unsigned i = 0; i < n; i++)
		bits |= (uint64_t)1 << l[i];
	return bits;
}

static int errno_of(const json_t *v)
{
	const char *name = get_text(v, "errno");

	return strcmp(name, "EINVAL") == 0       ? -EINVAL
	       : strcmp(name, "EPERM") == 0      ? -EPERM
	       : strcmp(name, "ENOENT") == 0     ? -ENOENT
	       : strcmp(name, "EOPNOTSUPP") == 0 ? -EOPNOTSUPP
	                                         : -1000;
}

/* ---- words ----------------------------------------------------------------------------------- */

static void v_ioctl_code(const json_t *v)
{
	static const struct {
		const char *dir;
		uint32_t bits;
	} dirs[] = { { "void", PFCNTR_VOID },
		     { "out", PFCNTR_OUT },
		     { "in", PFCNTR_IN },
		     { "both", PFCNTR_IN | PFCNTR_OUT } };
	pfm_alpha_request_t r;
	uint32_t formula = 0;

	assert_int_equal(pfm_alpha_find_request(get_text(v, "name"), &r), 0);
	assert_int_equal(r.request, get_number(v, "request"));
	for (unsigned i = 0; i < 4; i++)
		if (strncmp(get_text(v, "dir"), dirs[i].dir, 2) == 0)
			formula = PFCNTR_REQUEST(dirs[i].bits, (uint32_t)get_number(v, "nr"),
			                         get_number(v, "size"));
	if (strcmp(get_text(v, "dir"), "inout") == 0)
		formula = PFCNTR_REQUEST(PFCNTR_IN | PFCNTR_OUT, (uint32_t)get_number(v, "nr"),
		                         get_number(v, "size"));
	assert_int_equal(formula, get_number(v, "request"));
	assert_int_equal(r.families, strcmp(get_text(v, "family"), "any") == 0       ? 7
	                             : strcmp(get_text(v, "family"), "ev4") == 0     ? 1
	                             : strncmp(get_text(v, "family"), "ev5", 3) == 0 ? 2
	                                                                             : 4);
}

static void v_ioctl_code_old(const json_t *v)
{
	assert_int_equal(PCNTGETCNT_OLD, get_number(v, "request"));
}

static void v_pm_stat(const json_t *v)
{
	unsigned n = (unsigned)get_number(v, "enum");

	assert_string_equal(pfm_alpha_statistic_name(n), get_text(v, "name"));
	assert_int_equal(pfm_alpha_find_statistic(get_text(v, "name")), n);
	assert_int_equal(pfm_alpha_statistic_bits(n), get_number(v, "state_bits"));
}

static void v_freq_mask(const json_t *v)
{
	uint64_t a1;
	int privileged;

	pfm_alpha_driver_rates(get_number(v, "arg"), &a1, &privileged);
	assert_int_equal(a1, get_number(v, "a1"));
	assert_int_equal(privileged, get_number(v, "privileged"));
}

static void v_ctxt(const json_t *v)
{
	static const struct {
		char letter;
		unsigned mode;
	} letters[] = { { 'K', PFM_ALPHA_MODE_KERNEL },
		        { 'E', PFM_ALPHA_MODE_EXEC },
		        { 'S', PFM_ALPHA_MODE_SUPER },
		        { 'U', PFM_ALPHA_MODE_USER },
		        { 'P', PFM_ALPHA_MODE_PAL } };
	uint64_t word, arg = get_number(v, "arg");
	unsigned modes = 0;
	int select, marks;
	pfmlib_alpha_call_t call;

	assert_int_equal(pfm_alpha_device_call(PFMLIB_ALPHA_EV5_PMU, PCNT5CTXTS, arg, &call), 0);
	assert_int_equal(call.function, 3);
	assert_int_equal(call.argument, get_number(v, "a1"));
	for (unsigned i = 0; i < 5; i++)
		if (strchr(get_text(v, "hw_modes"), letters[i].letter))
			modes |= letters[i].mode;
	if (modes) {
		assert_int_equal(pfm_alpha_word_modes(arg, NULL, NULL), modes);
		assert_int_equal(pfm_alpha_mode_word(modes, PFM_ALPHA_SCOPE_SYSTEM, &word), 0);
		assert_int_equal(word, arg);
		assert_int_equal((word & PF5_CTXT_NO_USER) != 0, get_number(v, "ku"));
		assert_int_equal((word & PF5_CTXT_NO_PAL) != 0, get_number(v, "kp"));
		assert_int_equal((word & PF5_CTXT_NO_KERNEL) != 0, get_number(v, "kk"));
	} else {
		(void)pfm_alpha_word_modes(arg, &select, &marks);
		assert_int_equal(select, get_number(v, "select"));
		assert_int_equal(marks, get_number(v, "sets_pme"));
	}
}

static void v_rsize(const json_t *v)
{
	uint64_t bytes;
	unsigned open = strcmp(get_text(v, "mode"), "each") == 0  ? PFM_ALPHA_OPEN_EACH
	                : strcmp(get_text(v, "mode"), "one") == 0 ? PFM_ALPHA_OPEN_ONE
	                                                          : PFM_ALPHA_OPEN_ALL;

	assert_int_equal(pfm_alpha_sample_bytes(get_number(v, "start"), get_number(v, "end"),
	                                        get_number(v, "stride"), open,
	                                        (unsigned)get_number(v, "ncpu"), &bytes),
	                 0);
	assert_int_equal(bytes, get_number(v, "bytes"));
}

static void v_count(const json_t *v)
{
	uint64_t interrupts[3], rates[3], events[3];
	unsigned n = get_numbers(v, "interrupts", interrupts, 3);

	assert_int_equal(get_numbers(v, "freq", rates, 3), n);
	assert_int_equal(get_numbers(v, "events", events, 3), n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(pfm_alpha_events(interrupts[i], rates[i]), events[i]);
}

static void v_readcntrs(const json_t *v)
{
	uint64_t interrupts[3], raw[3], events[3];
	unsigned n = get_numbers(v, "interrupts", interrupts, 3);

	get_numbers(v, "raw", raw, 3);
	get_numbers(v, "events", events, 3);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(pfm_alpha_events_raw(interrupts[i],
		                                      pfm_alpha_counter_width(pmu_of(v), i),
		                                      raw[i]),
		                 events[i]);
}

static void v_single_issue(const json_t *v)
{
	assert_int_equal(pfm_alpha_single_issues(get_number(v, "issues"), get_number(v, "dual")),
	                 get_number(v, "single"));
}

static void v_ctrs_word(const json_t *v)
{
	uint64_t c[3] = { 0 }, back[3] = { 0 }, word;
	unsigned select, cpu, n = get_numbers(v, "c", c, 3);

	assert_int_equal(pfm_alpha_counter_word(pmu_of(v), (unsigned)get_number(v, "select"),
	                                        (unsigned)get_number(v, "cpu"), c, &word),
	                 0);
	assert_int_equal(word, get_number(v, "word"));
	assert_int_equal(pfm_alpha_split_counter_word(pmu_of(v), word, &select, &cpu, back), 0);
	assert_int_equal(select, get_number(v, "select"));
	assert_int_equal(cpu, get_number(v, "cpu"));
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(back[i], c[i]);
}

static void v_mask(const json_t *v)
{
	uint64_t value;

	assert_int_equal(pfm_alpha_mask(get_text(v, "name"), &value), 0);
	assert_int_equal(value, get_number(v, "value"));
}

static void v_ipl(const json_t *v)
{
	assert_int_equal(pfm_alpha_level_entry((int)get_number(v, "user"),
	                                       (int)get_number(v, "idle"),
	                                       (unsigned)get_number(v, "ipl")),
	                 get_number(v, "entry"));
}

static void v_linux_event(const json_t *v)
{
	unsigned raw, counter;
	uint64_t mode;
	int rc = pfm_alpha_linux_event((uint32_t)get_number(v, "type"), get_number(v, "config"),
	                               &raw, &counter, &mode);

	if (json_is_false(json_object_get(v, "ok"))) {
		assert_int_equal(rc, errno_of(v));
		return;
	}
	assert_int_equal(rc, 0);
	if (json_object_get(v, "maps_to")) {
		assert_int_equal(raw, get_number(v, "maps_to"));
		return;
	}
	assert_int_equal(raw, get_number(v, "config"));
	assert_int_equal(counter, get_number(v, "pmc"));
	assert_int_equal(mode, get_number(v, "pal_config"));
}

static void v_linux_pair(const json_t *v)
{
	uint64_t l[2], pmc[2], mode;
	unsigned raw[2], counter[2];

	get_numbers(v, "raw", l, 2);
	raw[0] = (unsigned)l[0], raw[1] = (unsigned)l[1];
	if (json_is_false(json_object_get(v, "ok"))) {
		assert_int_equal(pfm_alpha_linux_pair(raw, counter, &mode), errno_of(v));
		return;
	}
	assert_int_equal(pfm_alpha_linux_pair(raw, counter, &mode), 0);
	assert_int_equal(mode, get_number(v, "pal_config"));
	get_numbers(v, "pmc", pmc, 2);
	assert_int_equal(counter[0], pmc[0]);
	assert_int_equal(counter[1], pmc[1]);
}

static void v_linux_write(const json_t *v)
{
	pfmlib_alpha_call_t call;

	assert_int_equal(pfm_alpha_linux_write((unsigned)get_number(v, "pmc"),
	                                       get_number(v, "period"), &call),
	                 0);
	assert_int_equal(call.function, get_number(v, "a0"));
	assert_int_equal(call.argument, get_number(v, "a1"));
}

static void v_pm_ratio(const json_t *v)
{
	uint64_t num_den[2], n, d;
	int rc = pfm_alpha_ratio((unsigned)get_number(v, "enum"), get_number(v, "stat"),
	                         get_number(v, "retired"), &n, &d);

	if (json_is_null(json_object_get(v, "num_den"))) {
		assert_int_equal(rc, PFMLIB_ERR_NOTFOUND);
		return;
	}
	assert_int_equal(rc, 0);
	get_numbers(v, "num_den", num_den, 2);
	assert_int_equal(n, num_den[0]);
	assert_int_equal(d, num_den[1]);
}

static void v_pm_decode(const json_t *v)
{
	pfm_alpha_sample_t s;

	assert_int_equal(pfm_alpha_i_stat_statistics(get_number(v, "i_stat")), stats_of(v));
	pfm_alpha_decode_sample(get_number(v, "i_stat"), 0, 0, &s);
	if (json_object_get(v, "trap_type"))
		assert_int_equal(s.trap, get_number(v, "trap_type"));
	else
		assert_int_equal(s.trap, PFM_ALPHA_TRAP_NONE);
}

static void v_pm_redirect(const json_t *v)
{
	pfm_alpha_sample_t s;

	assert_int_equal(pfm_alpha_pmpc_statistics(get_number(v, "pmpc_14_0")),
	                 (uint64_t)1 << get_number(v, "stat"));
	pfm_alpha_decode_sample(0, UINT64_C(0xfffffc0000000000) | get_number(v, "pmpc_14_0"), 0,
	                        &s);
	assert_true(s.pc_in_exc_addr && s.pal && s.pc == 0);
}

static void v_pm_pctr(const json_t *v)
{
	uint64_t ctl = get_number(v, "pctr_ctl");
	pfm_alpha_sample_t s;

	if (json_object_get(v, "stats"))
		assert_int_equal(pfm_alpha_pctr_ctl_statistics(ctl), stats_of(v));
	if (!json_object_get(v, "pctr0"))
		return;
	pfm_alpha_decode_sample(0, 0, ctl, &s);
	assert_int_equal(s.pctr0, get_number(v, "pctr0"));
	assert_int_equal(s.pctr1, get_number(v, "pctr1"));
	assert_int_equal(s.profileme, get_number(v, "sl0"));
	assert_int_equal(s.mode, get_number(v, "sl1"));
	assert_int_equal(s.valid, get_number(v, "val"));
}

static void v_irq(const json_t *v)
{
	pfm_alpha_interrupt_t irq;
	bool vms = strcmp(get_text(v, "os"), "vms") == 0;
	uint64_t regs[3] = { get_number(v, vms ? "r4" : "a0"), get_number(v, "a1"),
		             get_number(v, "a2") };

	assert_int_equal(pfm_alpha_decode_interrupt(
				 pmu_of(v), vms ? PFM_ALPHA_OS_VMS : PFM_ALPHA_OS_UNIX, regs, &irq),
	                 0);
	assert_int_equal(irq.counter, get_number(v, vms ? "r4" : "a2"));
	assert_int_equal(irq.ipl, get_number(v, "ipl"));
	assert_int_equal(irq.vector, vms ? get_number(v, "scb_offset") : get_number(v, "a1"));
	assert_string_equal(irq.entry, get_text(v, "entry"));
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Dispatches [[counter, event], ...] with names only, so the solver must find these counters
 * itself. With @pin the counters are set. */
static int dispatch(const json_t *v, const json_t *events, bool pin,
                    const pfmlib_alpha_input_param_t *in, pfmlib_alpha_output_param_t *out,
                    struct dispatched_set *set)
{
	pfm_ctx_options_t options = { .size = sizeof options,
		                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	pfmlib_alpha_input_param_t copy = *in;
	pfm_dispatch_options_t so = { .size = sizeof so, .model_in = &copy, .model_out = out };
	const char *pointers[3];
	char texts[3][96];
	pfm_ctx_t *ctx;
	unsigned n = (unsigned)json_array_size(events);
	int rc;

	for (unsigned i = 0; i < n; i++) {
		const json_t *e = json_array_get(events, i);

		snprintf(texts[i], sizeof texts[i], pin ? "%s::%s:counter=%d" : "%s::%s",
		         get_text(v, "pmu"), json_string_value(json_array_get(e, 1)),
		         (int)read_number(json_array_get(e, 0)));
		pointers[i] = texts[i];
	}
	assert_int_equal(pfm_open_context(&ctx, &options, NULL), 0);
	rc = dispatch_set(ctx, pointers, n, &so, set, NULL);
	pfm_close_context(ctx);
	return rc;
}

static uint64_t ioctl_word(const pfmlib_alpha_output_param_t *out, uint32_t request)
{
	for (unsigned i = 0; i < out->n_ioctls; i++)
		if (out->ioctls[i].request == request)
			return out->ioctls[i].words[0];
	fail_msg("request %#x is not issued", request);
	return 0;
}

static unsigned find_event(const json_t *v, const char *name)
{
	unsigned idx;

	assert_int_equal(pfm_force_pmu(pmu_of(v)), 0);
	assert_int_equal(pfm_find_event(name, &idx), 0);
	return idx;
}

static void v_event(const json_t *v)
{
	static const pfmlib_alpha_input_param_t in;
	pfmlib_alpha_output_param_t out;
	json_t *events = json_pack("[[i,s]]", (int)get_number(v, "counter"), get_text(v, "event"));
	struct dispatched_set set;
	const char *constant;
	unsigned idx = find_event(v, get_text(v, "event")), select, cbox,
		 counter = (unsigned)get_number(v, "counter");

	assert_int_equal(dispatch(v, events, true, &in, &out, &set), 0);
	json_decref(events);
	assert_int_equal(set.counter[0], counter);
	assert_int_equal(ioctl_word(&out, (uint32_t)get_number(v, "req")), get_number(v, "arg"));
	assert_int_equal(set.pmcs[0].value, get_number(v, "a1"));
	assert_int_equal(set.pmcs[0].addr, 2);
	assert_int_equal(out.calls[0].argument, get_number(v, "a1"));
	assert_int_equal(pfm_alpha_get_event_constant(pmu_of(v), idx, counter, &constant), 0);
	/* Several constants of EV67, one for each mode, can mean one statistic: the first one is
	 * expected. */
	assert_int_equal(strncmp(constant, get_text(v, "const"), strlen(get_text(v, "const"))), 0);
	assert_int_equal(pfm_alpha_get_event_select(pmu_of(v), idx, counter, &select, &cbox), 0);
	assert_true(select < 16 && cbox < 8);
}

static void v_group(const json_t *v)
{
	static const pfmlib_alpha_input_param_t in;
	const json_t *events = json_object_get(v, "events");
	pfmlib_alpha_output_param_t out;
	struct dispatched_set set;
	int rc = dispatch(v, events, false, &in, &out, &set);

	if (json_is_false(json_object_get(v, "ok"))) {
		assert_int_equal(rc, PFMLIB_ERR_NOASSIGN);
		return;
	}
	assert_int_equal(rc, 0);
	for (size_t i = 0; i < json_array_size(events); i++)
		assert_int_equal(set.counter[i],
		                 read_number(json_array_get(json_array_get(events, i), 0)));
	assert_int_equal(out.ioctls[0].words[0], get_number(v, "arg"));
	assert_int_equal(set.pmcs[0].value, get_number(v, "a1"));
}

static void v_freq(const json_t *v)
{
	pfmlib_alpha_input_param_t in;
	pfmlib_alpha_output_param_t out;
	uint64_t word, a1, rates[3] = { 0 };
	unsigned n = get_numbers(v, "freq", rates, 3);
	int privileged, pmu = pmu_of(v);
	struct dispatched_set set;

	assert_int_equal(pfm_alpha_rate_word(pmu, rates, (1u << n) - 1, &word, &privileged), 0);
	if (pmu == PFMLIB_ALPHA_EV4_PMU) {
		memset(&in, 0, sizeof in);
		memcpy(in.pfp_alpha_rates, rates, sizeof rates);
		assert_int_equal(dispatch(v, json_object_get(v, "events"), false, &in, &out, &set),
		                 0);
		assert_int_equal(ioctl_word(&out, PCNTSETMUX), get_number(v, "arg"));
		assert_int_equal((word & ICCSR_PC0) != 0, get_number(v, "pc0"));
		assert_int_equal((word & ICCSR_PC1) != 0, get_number(v, "pc1"));
	} else if (pmu == PFMLIB_ALPHA_EV5_PMU) {
		assert_int_equal(word, get_number(v, "arg"));
		assert_int_equal(privileged, get_number(v, "privileged"));
		pfm_alpha_driver_rates(word, &a1, &privileged);
		assert_int_equal(a1, get_number(v, "a1"));
		assert_int_equal(pfm_alpha_pmctr_ctl(a1, 7), get_number(v, "pmctr_ctl"));
	} else {
		uint64_t start[2], value;

		get_numbers(v, "start", start, 2);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(pfm_alpha_start_value(pfm_alpha_counter_width(pmu, i),
			                                       rates[i], &value),
			                 0);
			assert_int_equal(value, start[i]);
		}
	}
}

static void v_start_value(const json_t *v)
{
	pfmlib_alpha_input_param_t in;
	pfmlib_alpha_output_param_t out;
	unsigned counter = (unsigned)get_number(v, "counter");
	json_t *events = json_pack("[[i,s]]", (int)counter, "cycles");
	struct dispatched_set set;

	memset(&in, 0, sizeof in);
	in.pfp_alpha_periods[counter] = get_number(v, "period");
	assert_int_equal(dispatch(v, events, true, &in, &out, &set), 0);
	json_decref(events);
	assert_int_equal(ioctl_word(&out, (uint32_t)get_number(v, "req")), get_number(v, "arg"));
}

static void v_pm_mode(const json_t *v)
{
	static const pfmlib_alpha_input_param_t in;
	pfmlib_alpha_output_param_t out;
	char name[16];
	json_t *events;
	uint64_t word;
	struct dispatched_set set;

	assert_int_equal(pfm_alpha_pm_mode_word((unsigned)get_number(v, "sl1"), &word), 0);
	assert_int_equal(word, get_number(v, "arg"));
	snprintf(name, sizeof name, "pm_mode%u", (unsigned)get_number(v, "sl1"));
	events = json_pack("[[i,s]]", 0, name);
	assert_int_equal(dispatch(v, events, false, &in, &out, &set), 0);
	json_decref(events);
	assert_int_equal(ioctl_word(&out, PCNT6MUX), get_number(v, "arg"));
	assert_int_equal(set.pmcs[0].value, get_number(v, "a1"));
	assert_int_equal(set.n_pmds, 2);
}

/* ---- the run --------------------------------------------------------------------------------- */

static const struct {
	const char *kind;
	void (*check)(const json_t *v);
	unsigned lines;
} KINDS[] = {
	{ "ioctl_code", v_ioctl_code, 37 },
	{ "ioctl_code_old", v_ioctl_code_old, 1 },
	{ "event", v_event, 124 },
	{ "pm_stat", v_pm_stat, 44 },
	{ "group", v_group, 31 },
	{ "freq", v_freq, 14 },
	{ "freq_mask", v_freq_mask, 3 },
	{ "start_value", v_start_value, 4 },
	{ "ctxt", v_ctxt, 12 },
	{ "rsize", v_rsize, 10 },
	{ "count", v_count, 5 },
	{ "readcntrs", v_readcntrs, 2 },
	{ "single_issue", v_single_issue, 3 },
	{ "ctrs_word", v_ctrs_word, 9 },
	{ "mask", v_mask, 8 },
	{ "ipl", v_ipl, 8 },
	{ "linux_raw", v_linux_event, 7 },
	{ "linux_hw", v_linux_event, 7 },
	{ "linux_pair", v_linux_pair, 11 },
	{ "linux_write", v_linux_write, 6 },
	{ "pm_ratio", v_pm_ratio, 11 },
	{ "pm_decode", v_pm_decode, 15 },
	{ "pm_redirect", v_pm_redirect, 3 },
	{ "pm_pctr", v_pm_pctr, 4 },
	{ "pm_mode", v_pm_mode, 4 },
	{ "irq", v_irq, 6 },
};
enum { N_KINDS = sizeof KINDS / sizeof KINDS[0] };

static char current[16]; /* id of the vector, printed on failure */

static void check_file(const char *name, unsigned seen[N_KINDS])
{
	json_t *all = load_vectors(name), *v;
	size_t i;

	json_array_foreach (all, i, v) {
		unsigned k = 0;

		snprintf(current, sizeof current, "%s", get_text(v, "id"));
		while (k < N_KINDS && strcmp(KINDS[k].kind, get_text(v, "kind")) != 0)
			k++;
		if (k == N_KINDS)
			fail_msg("no check for kind %s", get_text(v, "kind"));
		KINDS[k].check(v);
		seen[k]++;
	}
	json_decref(all);
}

static void every_vector_about_words_and_events_is_met(void **state)
{
	unsigned seen[N_KINDS] = { 0 };

	(void)state;
	check_file("alpha_words.jsonl", seen);
	check_file("alpha_events.jsonl", seen);
	for (unsigned k = 0; k < N_KINDS; k++)
		if (seen[k] != KINDS[k].lines)
			fail_msg("%s: %u lines checked, %u expected", KINDS[k].kind, seen[k],
			         KINDS[k].lines);
}

static int say_current(void **state)
{
	(void)state;
	if (*current)
		print_message("# last vector: %s\n", current);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_vector_about_words_and_events_is_met, say_current),
	};

	return cmocka_run_group_tests_name("alpha vectors", tests, NULL, NULL);
}
