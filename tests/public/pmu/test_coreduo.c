/* SPDX-License-Identifier: MIT */
/* The libpfm 3 interface on Core Solo and Core Duo: golden requests, then statements of the header
 * without a vector. */
#include "rows.h"
#include <perfmon/pfmlib_coreduo.h>

static bool is_marked(const json_t *row)
{
	return json_array_size(json_object_get(row, "q")) != 0;
}

/* ---- requests -------------------------------------------------------------------------------- */

struct request {
	pfmlib_input_param_t in;
	pfmlib_coreduo_input_param_t model;
	bool has_model;
};

static void read_event(const json_t *e, unsigned i, struct request *r)
{
	pfmlib_event_t *event = &r->in.pfp_events[i];
	const char *name = json_is_string(e) ? json_string_value(e) : row_text(e, "e");
	size_t k;
	json_t *mask;

	if (*name)
		assert_int_equal(pfm_find_event(name, &event->event), PFMLIB_SUCCESS);
	else
		event->event = (unsigned)row_int(e, "idx", 0);
	if (json_is_string(e))
		return;
	event->plm = (unsigned)row_int(e, "plm", 0);
	json_array_foreach (json_object_get(e, "um"), k, mask)
		event->unit_masks[event->num_masks++] = (unsigned)json_integer_value(mask);
	if (!json_object_get(e, "cm") && !json_object_get(e, "fl"))
		return;
	r->has_model = true;
	if (i < PMU_COREDUO_NUM_COUNTERS) {
		r->model.pfp_coreduo_counters[i].cnt_mask = (uint64_t)row_int(e, "cm", 0);
		r->model.pfp_coreduo_counters[i].flags = (unsigned)row_int(e, "fl", 0);
	}
}

static void read_request(const json_t *req, struct request *r)
{
	json_t *ev = json_object_get(req, "ev"), *e, *un;
	size_t i;

	memset(r, 0, sizeof(*r));
	r->in.pfp_dfl_plm = (unsigned)row_int(req, "plm", PFM_PLM3);
	r->in.pfp_event_count = (unsigned)row_int(req, "count", (long long)json_array_size(ev));
	if (row_int(req, "sys", 0))
		r->in.pfp_flags = PFMLIB_PFP_SYSTEMWIDE;
	json_array_foreach (ev, i, e)
		read_event(e, (unsigned)i, r);
	json_array_foreach (json_object_get(req, "un"), i, un)
		pfm_regmask_set(&r->in.pfp_unavail_pmcs, (unsigned)json_integer_value(un));
	r->has_model = row_int(req, "in", r->has_model) != 0;
}

/* [num, value, addr] or [num, value, addr, alternative] */
static void check_pmc(const json_t *want, const pfmlib_reg_t *got)
{
	size_t n = json_array_size(want);
	json_int_t addr = json_integer_value(json_array_get(want, 2));

	assert_int_equal(got->reg_num, json_integer_value(json_array_get(want, 0)));
	assert_int_equal(got->reg_value,
	                 strtoull(json_string_value(json_array_get(want, 1)), NULL, 0));
	assert_int_equal(got->reg_addr, addr);
	assert_int_equal(got->reg_alt_addr,
	                 n == 4 ? json_integer_value(json_array_get(want, 3)) : addr);
}

static void check_pmd(const json_t *want, const pfmlib_reg_t *got)
{
	assert_int_equal(got->reg_num, json_integer_value(json_array_get(want, 0)));
	assert_int_equal(got->reg_value, 0);
	assert_int_equal(got->reg_addr, json_integer_value(json_array_get(want, 1)));
	assert_int_equal(got->reg_alt_addr, json_integer_value(json_array_get(want, 2)));
}

/* libpfm 3.10 puts both events on counter 1 in these rows. The values are right, and the
 * unconstrained event belongs on counter 0. */
static void check_marked(const json_t *res, const pfmlib_output_param_t *out)
{
	unsigned used = 0;

	assert_int_equal(out->pfp_pmc_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		const json_t *want = json_array_get(json_object_get(res, "pmc"), i);

		assert_int_equal(out->pfp_pmcs[i].reg_value,
		                 strtoull(json_string_value(json_array_get(want, 1)), NULL, 0));
		assert_int_equal(out->pfp_pmcs[i].reg_addr, 0x186 + out->pfp_pmcs[i].reg_num);
		used |= 1u << out->pfp_pmcs[i].reg_num;
	}
	assert_int_equal(used, 3);
}

static void test_dispatch(const json_t *row)
{
	json_t *req = json_object_get(row, "req"), *res = json_object_get(row, "res"), *entry;
	static pfmlib_output_param_t out;
	struct request r;
	size_t i;
	int rc;

	read_request(req, &r);
	memset(&out, 0x5a, sizeof(out));
	rc = pfm_dispatch_events(row_int(req, "noinp", 0) ? NULL : &r.in,
	                         r.has_model ? &r.model : NULL,
	                         row_int(req, "nooutp", 0) ? NULL : &out, NULL);
	if (is_marked(row) && row_int(req, "un", -1) < 0 && !json_object_get(req, "un")) {
		assert_int_equal(rc, PFMLIB_SUCCESS);
		check_marked(res, &out);
		return;
	}
	if (is_marked(row)) {
		/* Without counter 0 the two events cannot be placed. */
		assert_int_equal(rc, PFMLIB_ERR_NOASSIGN);
		return;
	}
	assert_int_equal(rc, row_int(res, "rc", 0));
	if (rc)
		return;
	assert_int_equal(out.pfp_pmc_count, json_array_size(json_object_get(res, "pmc")));
	assert_int_equal(out.pfp_pmd_count, json_array_size(json_object_get(res, "pmd")));
	json_array_foreach (json_object_get(res, "pmc"), i, entry)
		check_pmc(entry, &out.pfp_pmcs[i]);
	json_array_foreach (json_object_get(res, "pmd"), i, entry)
		check_pmd(entry, &out.pfp_pmds[i]);
}

static void test_find(const json_t *row, bool full)
{
	json_t *req = json_object_get(row, "req"), *res = json_object_get(row, "res"), *mask;
	pfmlib_event_t event = { 0 };
	char name[128];
	size_t i;
	int rc = full ? pfm_find_full_event(row_text(req, "s"), &event)
	              : pfm_find_event(row_text(req, "s"), &event.event);

	assert_int_equal(rc, row_int(res, "rc", 0));
	if (rc)
		return;
	assert_int_equal(pfm_get_event_name(event.event, name, sizeof(name)), PFMLIB_SUCCESS);
	assert_string_equal(name, row_text(res, "name"));
	assert_int_equal(event.num_masks, json_array_size(json_object_get(res, "um")));
	json_array_foreach (json_object_get(res, "um"), i, mask)
		assert_int_equal(event.unit_masks[i], json_integer_value(mask));
}

static void test_vector(void **state)
{
	const json_t *row = *state;
	const char *op = row_text(json_object_get(row, "req"), "op");

	if (strcmp(op, "find") == 0 || strcmp(op, "find_full") == 0)
		test_find(row, strcmp(op, "find_full") == 0);
	else
		test_dispatch(row);
}

static void add_vector(struct rows *rows, json_t *row)
{
	char name[160];
	char *req = json_dumps(json_object_get(row, "req"), JSON_COMPACT);

	snprintf(name, sizeof(name), "%s %s", row_text(row, "id"), req);
	free(req);
	rows_add(rows, name, test_vector, row);
}

/* ---- statements of the header ---------------------------------------------------------------- */

static void numbers_as_libpfm_3_10_has_them(void **state)
{
	pfmlib_event_t event;
	unsigned n, idx;
	int code, type;
	char name[64];

	(void)state;
	assert_int_equal(pfm_get_num_events(&n), PFMLIB_SUCCESS);
	assert_int_equal(n, 116);
	assert_int_equal(pfm_get_num_counters(&n), PFMLIB_SUCCESS);
	assert_int_equal(n, 2);
	assert_int_equal(pfm_get_num_pmcs(&n), PFMLIB_SUCCESS);
	assert_int_equal(n, 2);
	assert_int_equal(pfm_get_hw_counter_width(&n), PFMLIB_SUCCESS);
	assert_int_equal(n, 32);
	assert_int_equal(pfm_get_pmu_type(&type), PFMLIB_SUCCESS);
	assert_int_equal(type, PFMLIB_COREDUO_PMU);
	assert_int_equal(pfm_find_event("EST_TRANS_ALL", &idx), PFMLIB_SUCCESS);
	assert_int_equal(idx, 31);
	assert_int_equal(pfm_get_event_name(32, name, sizeof(name)), PFMLIB_SUCCESS);
	assert_string_equal(name, "EST_TRANS_ALL");
	assert_int_equal(pfm_get_event_code(32, &code), PFMLIB_SUCCESS);
	assert_int_equal(code, 0x103a);
	assert_int_equal(pfm_find_event_bycode(0x103a, &idx), PFMLIB_SUCCESS);
	assert_int_equal(idx, 32);
	assert_int_equal(pfm_get_event_code(3, &code), PFMLIB_SUCCESS);
	assert_int_equal(code, 0x4f2e);
	assert_int_equal(pfm_get_cycle_event(&event), PFMLIB_SUCCESS);
	assert_int_equal(event.event, 0);
	assert_int_equal(pfm_get_inst_retired_event(&event), PFMLIB_SUCCESS);
	assert_int_equal(event.event, 2);
}

static int dispatch(const char *a, const char *b, pfmlib_output_param_t *out)
{
	pfmlib_input_param_t in = { .pfp_dfl_plm = PFM_PLM3, .pfp_event_count = b ? 2 : 1 };

	assert_int_equal(pfm_find_full_event(a, &in.pfp_events[0]), PFMLIB_SUCCESS);
	if (b)
		assert_int_equal(pfm_find_full_event(b, &in.pfp_events[1]), PFMLIB_SUCCESS);
	return pfm_dispatch_events(&in, NULL, out, NULL);
}

static void trips_sets_edge(void **state)
{
	static pfmlib_output_param_t out;

	(void)state;
	assert_int_equal(dispatch("THERMAL_TRIP:TRIPS", NULL, &out), PFMLIB_SUCCESS);
	assert_int_equal(out.pfp_pmcs[0].reg_value, 0x55c03b);
	assert_int_equal(dispatch("THERMAL_TRIP:CYCLES", NULL, &out), PFMLIB_SUCCESS);
	assert_int_equal(out.pfp_pmcs[0].reg_value, 0x51c03b);
}

static void missing_masks_of_two_kinds_have_defaults(void **state)
{
	static pfmlib_output_param_t out;

	(void)state;
	assert_int_equal(dispatch("L2_LD:SELF", NULL, &out), PFMLIB_SUCCESS);
	assert_int_equal(out.pfp_pmcs[0].reg_value, 0x514f29);
	assert_int_equal(dispatch("L2_LD:I_STATE", NULL, &out), PFMLIB_SUCCESS);
	assert_int_equal(out.pfp_pmcs[0].reg_value, 0x514129);
	assert_int_equal(dispatch("L2_LINES_IN:ANY", NULL, &out), PFMLIB_SUCCESS);
	assert_int_equal(out.pfp_pmcs[0].reg_value, 0x517024);
	assert_int_equal(dispatch("L2_LINES_IN:BOTH_CORES", NULL, &out), PFMLIB_SUCCESS);
	assert_int_equal(out.pfp_pmcs[0].reg_value, 0x51c024);
	assert_int_equal(dispatch("DCACHE_CACHE_LD:M_STATE", NULL, &out), PFMLIB_SUCCESS);
	assert_int_equal(out.pfp_pmcs[0].reg_value, 0x510840);
}

static void two_events_of_one_counter_are_refused(void **state)
{
	static pfmlib_output_param_t out;

	(void)state;
	assert_int_equal(dispatch("MUL", "DIV", &out), PFMLIB_ERR_NOASSIGN);
	assert_int_equal(dispatch("CYCLES_DIV_BUSY", "FP_COMP_INSTR_RET", &out),
	                 PFMLIB_ERR_NOASSIGN);
	assert_int_equal(dispatch("FP_ASSIST", "CYCLES_DIV_BUSY", &out), PFMLIB_SUCCESS);
	assert_int_equal(out.pfp_pmcs[0].reg_num, 1);
	assert_int_equal(out.pfp_pmcs[1].reg_num, 0);
}

static void output_beyond_the_counts_is_left_alone(void **state)
{
	static pfmlib_output_param_t out;

	(void)state;
	memset(&out, 0x5a, sizeof(out));
	assert_int_equal(dispatch("UOPS_RET", NULL, &out), PFMLIB_SUCCESS);
	assert_int_equal(out.pfp_pmc_count, 1);
	assert_int_equal(out.pfp_pmcs[1].reg_num, 0x5a5a5a5a);
}

static void every_event_dispatches_with_its_first_mask(void **state)
{
	static pfmlib_output_param_t out;
	unsigned n;

	(void)state;
	assert_int_equal(pfm_get_num_events(&n), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < n; i++) {
		pfmlib_input_param_t in = { .pfp_dfl_plm = PFM_PLM0 | PFM_PLM3,
			                    .pfp_event_count = 1 };
		unsigned masks;
		int code;

		in.pfp_events[0].event = i;
		assert_int_equal(pfm_get_num_event_masks(i, &masks), PFMLIB_SUCCESS);
		if (masks) {
			assert_int_equal(pfm_dispatch_events(&in, NULL, &out, NULL),
			                 PFMLIB_ERR_UMASK);
			in.pfp_events[0].num_masks = 1;
		}
		assert_int_equal(pfm_dispatch_events(&in, NULL, &out, NULL), PFMLIB_SUCCESS);
		assert_int_equal(pfm_get_event_code(i, &code), PFMLIB_SUCCESS);
		assert_int_equal(out.pfp_pmcs[0].reg_value & 0xff, (unsigned)code & 0xff);
		assert_int_equal(out.pfp_pmcs[0].reg_value & 0x00730000, 0x00530000 & 0x00730000);
	}
}

static void settings_are_checked(void **state)
{
	static pfmlib_output_param_t out;
	pfmlib_input_param_t in = { .pfp_dfl_plm = PFM_PLM3, .pfp_event_count = 1 };
	pfmlib_coreduo_input_param_t model = { 0 };

	(void)state;
	assert_int_equal(pfm_find_event("UOPS_RET", &in.pfp_events[0].event), PFMLIB_SUCCESS);
	model.pfp_coreduo_counters[0].cnt_mask = 255;
	model.pfp_coreduo_counters[0].flags = PFM_COREDUO_SEL_INV | PFM_COREDUO_SEL_EDGE;
	assert_int_equal(pfm_dispatch_events(&in, &model, &out, NULL), PFMLIB_SUCCESS);
	assert_int_equal(out.pfp_pmcs[0].reg_value, 0xffd500c2);
	model.pfp_coreduo_counters[0].cnt_mask = 256;
	assert_int_equal(pfm_dispatch_events(&in, &model, &out, NULL), PFMLIB_ERR_INVAL);
	model.pfp_coreduo_counters[0].cnt_mask = 0;
	model.pfp_coreduo_counters[0].flags = 4;
	assert_int_equal(pfm_dispatch_events(&in, &model, &out, NULL), PFMLIB_ERR_INVAL);
	model.pfp_coreduo_counters[0].flags = 0;
	in.pfp_dfl_plm = PFM_PLM1;
	assert_int_equal(pfm_dispatch_events(&in, &model, &out, NULL), PFMLIB_ERR_INVAL);
}

int main(void)
{
	struct rows rows = { 0 };
	char path[512];

	if (pfm_force_pmu(PFMLIB_COREDUO_PMU))
		return 1;
	snprintf(path, sizeof(path), "%s/vectors/coreduo.jsonl", rows_folder());
	if (!rows_read(path, add_vector, &rows))
		return 1;
	rows_add(&rows, "numbers as libpfm 3.10 has them", numbers_as_libpfm_3_10_has_them, NULL);
	rows_add(&rows, "TRIPS sets edge", trips_sets_edge, NULL);
	rows_add(&rows, "missing masks of two kinds have defaults",
	         missing_masks_of_two_kinds_have_defaults, NULL);
	rows_add(&rows, "two events of one counter are refused",
	         two_events_of_one_counter_are_refused, NULL);
	rows_add(&rows, "output beyond the counts is left alone",
	         output_beyond_the_counts_is_left_alone, NULL);
	rows_add(&rows, "every event dispatches with its first mask",
	         every_event_dispatches_with_its_first_mask, NULL);
	rows_add(&rows, "settings are checked", settings_are_checked, NULL);
	return rows_run("coreduo", &rows);
}
