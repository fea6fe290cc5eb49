/* SPDX-License-Identifier: MIT */
/* All pairs of events of every founding processor. The expected result is brute force that takes
 * the events from the vectors and the rules from this file. The order does not matter, both
 * interfaces give equal registers, and an event has the registers that it has alone, except for
 * their position. All values that differ from an event's value in one bit: if a value decodes to an
 * event, this event encodes to the value, and the decoded fields always make up the value. */
#include "dispatched_set.h"
#include "montecito.h"
#include <inttypes.h>
#include <perfmon/perfmon.h>
#include <perfmon/alpha.h>

#define MAX_EVENTS 700
#define BOTH       (PFM_PLM0 | PFM_PLM3)

struct event {
	char text[160], name[64];
	unsigned counters;   /* counters that can count it, from the vectors */
	uint64_t word[2][3]; /* Alpha: event select bits on each counter, for the processor and for
	                        the device */
	uint64_t value;      /* its control register when counted alone */
};

struct founder {
	const char *name;
	int type;
	unsigned plm;
	const char *reg[2];  /* Alpha: registers with the event select bits, for the processor and
	                        for the device */
	uint64_t part[2][3]; /* bits of these registers that select each counter's event; on EV67
	                        for both counters */
} founders[] = {
	{ "coreduo", PFMLIB_COREDUO_PMU, BOTH, { NULL }, { { 0 } } },
	{ "montecito", PFMLIB_MONTECITO_PMU, PFM_PLM3, { NULL }, { { 0 } } },
	{ "ev4",
	  PFMLIB_ALPHA_EV4_PMU,
	  BOTH,
	  { "PMC8", "PCNTSETMUX" },
	  { { 0xf00, 0x700000000 }, { 0xf00, 0x700000000 } } },
	{ "ev5",
	  PFMLIB_ALPHA_EV5_PMU,
	  BOTH,
	  { "PMC8", "PCNT5MUX" },
	  { { 0x80000000, 0x3800f0, 0x1c0000f },
	    { 0x80000000, 0x380000000000f0, 0x1c000000000000f } } },
	{ "pca56",
	  PFMLIB_ALPHA_PCA56_PMU,
	  BOTH,
	  { "PMC8", "PCNT5MUX" },
	  { { 0x80000000, 0x7f0, 0x380f }, { 0x80000000, 0x380000000000f0, 0x1c000000000000f } } },
	{ "ev6",
	  PFMLIB_ALPHA_EV6_PMU,
	  BOTH,
	  { "PMC8", "PCNT6MUX" },
	  { { 0x10, 0xf }, { 0x10, 0xf } } },
	{ "ev67", PFMLIB_ALPHA_EV67_PMU, BOTH, { "PMC8", "PCNT6MUX" }, { { 0x1c }, { 0x1c } } },
};

static pfm_ctx_t *ctx;
static struct event events[MAX_EVENTS];
static unsigned n_events;
static const struct founder *now;

static bool is_alpha(void)
{
	return now->type >= PFMLIB_ALPHA_EV4_PMU;
}

/* ---- events ---------------------------------------------------------------------------------- */

static int encode(const char *text, pfm_encoding_t *e)
{
	*e = (pfm_encoding_t)PFM_INIT(*e);
	return pfm_encode_event(ctx, text, now->plm, e, NULL);
}

/* Writes the @u-th text of an event: bare, then with one unit mask each. Returns false if the text
 * is not an event. */
static bool write_event(int pmu, const perfmon_event_info_t *info, unsigned u, char *text,
                        size_t room)
{
	pfm_umask_info_t mask = PFM_INIT(mask);
	pfm_encoding_t e;

	snprintf(text, room, "%s::%s", now->name, info->name);
	if (u) {
		assert_int_equal(pfm_describe_umask(ctx, pmu, info->event, u - 1, &mask),
		                 PFMLIB_SUCCESS);
		snprintf(text, room, "%s::%s:%s=%s", now->name, info->name, mask.group, mask.name);
	}
	return encode(text, &e) == PFMLIB_SUCCESS;
}

/* Core Solo and Duo: five codes have one counter only. */
static unsigned core_counters(uint64_t code)
{
	return code == 0x11 || code == 0x12 || code == 0x13 ? 2
	       : code == 0x14 || code == 0xc1               ? 1
	                                                    : 3;
}

static void load_alpha(struct rows *rows, json_t *row)
{
	unsigned c = (unsigned)row_int(row, "counter", 0);

	(void)rows;
	if (strcmp(row_text(row, "pmu"), now->name) == 0 &&
	    strcmp(row_text(row, "kind"), "event") == 0)
		for (unsigned i = 0; i < n_events; i++)
			if (strcmp(events[i].name, row_text(row, "event")) == 0) {
				events[i].counters |= 1u << c;
				events[i].word[0][c] = row_hex(row, "a1");
				events[i].word[1][c] = row_hex(row, "arg");
			}
	json_decref(row);
}

static void load_event(int pmu, unsigned i)
{
	struct event *e = &events[i];
	perfmon_event_info_t info = PFM_INIT(info);
	pfm_encoding_t code;

	assert_int_equal(pfm_describe_event(ctx, pmu, i, &info), PFMLIB_SUCCESS);
	for (unsigned u = 0;
	     u <= info.n_umasks && !write_event(pmu, &info, u, e->text, sizeof(e->text)); u++)
		;
	assert_int_equal(encode(e->text, &code), PFMLIB_SUCCESS);
	snprintf(e->name, sizeof(e->name), "%s", info.name);
	e->value = code.regs[0].value;
	if (now->type == PFMLIB_COREDUO_PMU)
		e->counters = core_counters(e->value & 0xff);
	if (now->type == PFMLIB_MONTECITO_PMU) {
		assert_string_equal(e->name, facts[i].name);
		e->counters = facts[i].counters;
	}
}

static int load_events(const struct founder *f)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	char path[512];
	int pmu;

	now = f;
	memset(events, 0, sizeof(events));
	pmu = pfm_find_pmu(ctx, f->name);
	assert_int_equal(pfm_describe_pmu(ctx, pmu, &info), PFMLIB_SUCCESS);
	assert_in_range(info.n_events, 1, MAX_EVENTS);
	for (n_events = 0; n_events < info.n_events; n_events++)
		load_event(pmu, n_events);
	snprintf(path, sizeof(path), "%s/vectors/alpha_events.jsonl", rows_folder());
	if (is_alpha())
		assert_true(rows_read(path, load_alpha, NULL));
	return pmu;
}

/* ---- sets that fit --------------------------------------------------------------------------- */

/* EV67, from pfm(7). */
static bool ev67_fits(const struct event *a, const struct event *b)
{
	static const char pairs[][24] = { "cycles0 replay", "retinst cycles1",
		                          "retinst bcachemisses", "anycycles replay",
		                          "retinst anycycles" };
	char text[160];

	snprintf(text, sizeof(text), "%s %s", a->name, b->name);
	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (strcmp(text, pairs[i]) == 0)
			return true;
	return false;
}

/* Each event address register captures one kind of miss. The data register shares registers with
 * the trace buffer, except in cache mode. */
static bool one_register_two_ways(const struct event_fact *a, const struct event_fact *b)
{
	bool not_cache =
		strncmp(a->name, "DATA_EAR_TLB", 12) == 0 || strcmp(a->name, "DATA_EAR_ALAT") == 0;
	bool trace = strcmp(b->name, "ETB_EVENT") == 0 || strcmp(b->name, "BRANCH_EVENT") == 0;

	return (a != b && a->ear && b->ear && a->code == b->code) || (not_cache && trace);
}

static bool montecito_fits(unsigned a, unsigned b)
{
	static struct mont_request r;

	r.in.pfp_event_count = 2;
	r.in.pfp_events[0].event = a;
	r.in.pfp_events[1].event = b;
	return is_mix_allowed(&r) && is_placeable(&r) &&
	       !one_register_two_ways(&facts[a], &facts[b]) &&
	       !one_register_two_ways(&facts[b], &facts[a]);
}

static bool brute_force(const struct event *a, const struct event *b)
{
	if (now->type == PFMLIB_ALPHA_EV67_PMU)
		return ev67_fits(a, b) || ev67_fits(b, a);
	if (now->type == PFMLIB_MONTECITO_PMU)
		return montecito_fits((unsigned)(a - events), (unsigned)(b - events));
	for (unsigned c = 0; c < 3; c++)
		if (a->counters >> c & 1 && b->counters & ~(1u << c))
			return true;
	return false;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Returns true if the event's part of the result equals its result alone. */
static bool is_itself(const struct event *e, const struct dispatched_set *set, unsigned i)
{
	unsigned c = (unsigned)set->counter[i];

	if (now->type == PFMLIB_ALPHA_EV67_PMU)
		return true; /* one word selects for both counters; test_alpha_constrain checks
		                these few pairs */
	if (c >= 16 || !(e->counters >> c & 1))
		return false;
	if (is_alpha())
		return ((set->pmcs[0].value ^ e->word[0][c]) & now->part[0][c]) == 0;
	return set->pmcs[i].num == c && set->pmcs[i].value == e->value;
}

static void libpfm3_event(const struct event *e, pfmlib_event_t *out)
{
	out->event = (unsigned)(e - events);
	/* A text without unit masks means all states of a line; numbers must name them. */
	if (now->type == PFMLIB_MONTECITO_PMU && facts[out->event].mesi)
		while (out->num_masks < 4) {
			out->unit_masks[out->num_masks] = out->num_masks;
			out->num_masks++;
		}
}

/* libpfm 3's interface gives the two events the same counters. */
static void check_libpfm3(const struct event *a, const struct event *b, int rc,
                          const struct dispatched_set *set)
{
	static pfmlib_output_param_t out;
	pfmlib_input_param_t in = { .pfp_event_count = 2, .pfp_dfl_plm = now->plm };
	bool same;

	libpfm3_event(a, &in.pfp_events[0]);
	libpfm3_event(b, &in.pfp_events[1]);
	if (pfm_dispatch_events(&in, NULL, &out, NULL) != rc)
		fail_msg("%s with %s: %d, but not for libpfm 3", a->text, b->text, rc);
	if (rc)
		return;
	same = out.pfp_pmc_count == set->n_pmcs && out.pfp_pmd_count == set->n_pmds;
	for (unsigned i = 0; same && i < set->n_pmcs; i++)
		same = out.pfp_pmcs[i].reg_num == set->pmcs[i].num &&
		       out.pfp_pmcs[i].reg_value == set->pmcs[i].value;
	for (unsigned i = 0; same && i < set->n_pmds; i++)
		same = out.pfp_pmds[i].reg_num == set->pmds[i].num;
	if (!same)
		fail_msg("%s with %s: other registers for libpfm 3", a->text, b->text);
}

static int dispatch(const struct event *a, const struct event *b, struct dispatched_set *set)
{
	const char *texts[] = { a->text, b->text };
	pfm_dispatch_options_t o = { .size = sizeof(o), .plm = now->plm };

	return dispatch_set(ctx, texts, 2, &o, set, NULL);
}

/* Checks one order of two events and returns the result. */
static int check_order(const struct event *a, const struct event *b)
{
	static struct dispatched_set set;
	int rc = dispatch(a, b, &set);

	if (now->type != PFMLIB_COREDUO_PMU) /* Core Duo has another table in libpfm 3's interface:
	                                        every_pair_of_libpfm_3() */
		check_libpfm3(a, b, rc, &set);
	if (!rc &&
	    (set.counter[0] == set.counter[1] || !is_itself(a, &set, 0) || !is_itself(b, &set, 1)))
		fail_msg("%s on %d with %s on %d: not as they are alone", a->text, set.counter[0],
		         b->text, set.counter[1]);
	return rc;
}

static bool check_pair(const struct event *a, const struct event *b)
{
	int rc = check_order(a, b), other = check_order(b, a);
	bool fit = brute_force(a, b);

	if ((rc == PFMLIB_SUCCESS) != fit || rc != other)
		fail_msg("%s with %s: %d, the other way round %d, and by brute force they %s",
		         a->text, b->text, rc, other, fit ? "fit" : "do not fit");
	return fit;
}

static void each_pair_is_placed_or_cannot_be(void **state)
{
	unsigned step, pairs = 0, fit = 0;

	load_events(*state);
	step = n_events > 100 && getenv("PERFMON_QUICK") ? 83 : 1;
	assert_int_equal(pfm_force_pmu(now->type), PFMLIB_SUCCESS);
	for (unsigned a = 0; a < n_events; a++)
		for (unsigned b = a; b < n_events; b += step, pairs++)
			fit += check_pair(&events[a], &events[b]);
	print_message("# %s: %u of %u pairs of %u events fit\n", now->name, fit, pairs, n_events);
}

/* Core Duo with libpfm 3's names and numbers. */
static void every_pair_of_libpfm_3(void **state)
{
	static pfmlib_output_param_t alone[MAX_EVENTS], out;
	pfmlib_input_param_t in = { .pfp_dfl_plm = BOTH };
	unsigned counters[MAX_EVENTS], masks[MAX_EVENTS] = { 0 }, n, fit = 0;

	(void)state;
	assert_int_equal(pfm_force_pmu(PFMLIB_COREDUO_PMU), PFMLIB_SUCCESS);
	assert_int_equal(pfm_get_num_events(&n), PFMLIB_SUCCESS);
	assert_in_range(n, 100, MAX_EVENTS);
	in.pfp_event_count = 1;
	for (unsigned i = 0; i < n; i++) {
		in.pfp_events[0] = (pfmlib_event_t){ .event = i };
		if (pfm_dispatch_events(&in, NULL, &alone[i], NULL)) {
			in.pfp_events[0].num_masks = masks[i] = 1;
			assert_int_equal(pfm_dispatch_events(&in, NULL, &alone[i], NULL),
			                 PFMLIB_SUCCESS);
		}
		counters[i] = core_counters(alone[i].pfp_pmcs[0].reg_value & 0xff);
	}
	in.pfp_event_count = 2;
	for (unsigned a = 0; a < n; a++)
		for (unsigned b = 0; b < n; b++) {
			bool fits = (counters[a] | counters[b]) == 3;

			in.pfp_events[0] = (pfmlib_event_t){ .event = a, .num_masks = masks[a] };
			in.pfp_events[1] = (pfmlib_event_t){ .event = b, .num_masks = masks[b] };
			assert_int_equal(pfm_dispatch_events(&in, NULL, &out, NULL),
			                 fits ? PFMLIB_SUCCESS : PFMLIB_ERR_NOASSIGN);
			if (!fits)
				continue;
			fit++;
			assert_int_equal(out.pfp_pmc_count, 2);
			assert_true(counters[a] >> out.pfp_pmcs[0].reg_num &
			            counters[b] >> out.pfp_pmcs[1].reg_num & 1);
			assert_int_not_equal(out.pfp_pmcs[0].reg_num, out.pfp_pmcs[1].reg_num);
			assert_int_equal(out.pfp_pmcs[0].reg_value, alone[a].pfp_pmcs[0].reg_value);
			assert_int_equal(out.pfp_pmcs[1].reg_value, alone[b].pfp_pmcs[0].reg_value);
		}
	print_message("# %u of %u ordered pairs fit\n", fit, n * n);
}

/* ---- bits ------------------------------------------------------------------------------------ */

/* A register and the fields that pfm_decode_field() finds in it. */
struct reg {
	int pmu;
	char name[32];
	unsigned start[64];
	uint64_t fields;
};

struct tally {
	unsigned values, events, strange;
};

/* Builds the value from its fields. */
static uint64_t put_together(const struct reg *r, uint64_t value)
{
	const char *name, *text;
	uint64_t field, all = 0;
	unsigned i;
	int rc;

	for (i = 0; (rc = pfm_decode_field(ctx, r->pmu, r->name, value, i, &name, &field, &text)) ==
	            PFMLIB_SUCCESS;
	     i++)
		all |= field << r->start[i];
	assert_int_equal(rc, PFMLIB_ERR_NOTFOUND);
	return all;
}

static void read_fields(struct reg *r, int pmu, const char *name)
{
	const char *field_name, *text;
	uint64_t field;

	*r = (struct reg){ .pmu = pmu };
	snprintf(r->name, sizeof(r->name), "%s", name);
	for (unsigned i = 0; i < 64; i++)
		for (unsigned bit = 64; bit-- > 0;)
			if (!pfm_decode_field(ctx, pmu, name, UINT64_C(1) << bit, i, &field_name,
			                      &field, &text) &&
			    field == 1)
				r->start[i] = bit;
	r->fields = put_together(r, ~UINT64_C(0));
	assert_int_not_equal(r->fields, 0);
}

/* Bits that may differ between a value and its event's encoding: bits that the kernel reserves, and
 * on Montecito bits outside all fields and fields that this event or all events lack. */
static uint64_t may_differ(const struct reg *r, uint64_t value, const char *name)
{
	uint64_t levels = now->type == PFMLIB_COREDUO_PMU ? 0x30000 : 15,
		 all = 0x500000; /* int, en */

	if (now->type == PFMLIB_MONTECITO_PMU) {
		all = ~r->fields | 0x7000070; /* ev, oi, pm, ism, all */
		for (unsigned i = 0; i < n_events; i++)
			if (strcmp(facts[i].name, name) == 0 && !facts[i].mesi)
				all |= 0x78000000;
	}
	return value & levels
	               ? all
	               : all | levels; /* a register without levels does not tell which ones */
}

static void check_event(const struct reg *r, uint64_t value, const char *text)
{
	pfm_encoding_t e;
	char full[200], name[64];

	snprintf(full, sizeof(full), "%s::%s", now->name, text);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ":"), text);
	if (encode(full, &e))
		fail_msg("%s=%#" PRIx64 " is read as %s, which is no event", r->name, value, full);
	if ((e.regs[0].value ^ value) & ~may_differ(r, value, name))
		fail_msg("%s=%#" PRIx64 " is read as %s, which is %#" PRIx64, r->name, value, text,
		         e.regs[0].value);
}

static void check_value(const struct reg *r, uint64_t value, struct tally *t)
{
	char text[160];
	int rc = pfm_decode_event(ctx, r->pmu, r->name, value, 0, text, sizeof(text));

	t->values++;
	t->events += rc == PFMLIB_SUCCESS;
	t->strange += (value & ~r->fields) != 0;
	if (put_together(r, value) != (value & r->fields))
		fail_msg("%s=%#" PRIx64 " is not what its fields are", r->name, value);
	if (rc)
		assert_int_equal(rc, PFMLIB_ERR_NOTFOUND);
	else if (!is_alpha())
		check_event(r, value, text);
}

static bool is_selected(const struct event *e, unsigned word, uint64_t value)
{
	bool right = false;

	for (unsigned c = 0; c < 3; c++)
		right |= (e->counters >> c & 1) &&
		         !((value ^ e->word[word][c]) & now->part[word][c]);
	return right;
}

/* One word selects the events of all counters: decoding finds exactly the events that the vectors
 * have for each counter's bits. */
static void check_selects(const struct reg *r, unsigned word, uint64_t value)
{
	bool found[MAX_EVENTS] = { false };
	char text[160];
	unsigned k;

	for (unsigned i = 0;
	     pfm_decode_event(ctx, r->pmu, r->name, value, i, text, sizeof(text)) == PFMLIB_SUCCESS;
	     i++) {
		for (k = 0; k < n_events && strcmp(events[k].name, text) != 0; k++)
			;
		if (k == n_events || found[k])
			fail_msg("%s=%#" PRIx64 " is read as %s", r->name, value, text);
		found[k] = true;
	}
	/* EV67: events that use both counters and both names of a pair are right, but not in the
	 * vectors. */
	for (k = 0; k < n_events && now->type != PFMLIB_ALPHA_EV67_PMU; k++)
		if (is_selected(&events[k], word, value) != found[k])
			fail_msg("%s=%#" PRIx64 " is %sread as %s", r->name, value,
			         found[k] ? "" : "not ", events[k].name);
	for (k = 0; k < n_events && now->type == PFMLIB_ALPHA_EV67_PMU; k++)
		if (((events[k].value ^ value) & now->part[0][0]) == 0 && events[k].counters &&
		    !found[k])
			fail_msg("%s=%#" PRIx64 " is not read as %s", r->name, value,
			         events[k].name);
}

static uint64_t flip_bit(uint64_t value, int bit)
{
	return bit < 0 ? value : value ^ UINT64_C(1) << bit;
}

/* Events of ProfileMe share few words. */
static bool seen_before(unsigned i)
{
	for (unsigned k = 0; k < i && !events[i].counters; k++)
		if (!events[k].counters && events[k].value == events[i].value)
			return true;
	return false;
}

static void every_select(int pmu, unsigned word, struct tally *t)
{
	int step = getenv("PERFMON_QUICK") ? 7 : 1;
	struct reg r;

	read_fields(&r, pmu, now->reg[word]);
	for (unsigned i = 0; i < n_events; i++)
		for (unsigned c = 0; c < 3 && !seen_before(i); c++)
			for (int bit = -1;
			     bit < 64 &&
			     (events[i].counters ? events[i].counters >> c & 1 : c == 0);
			     bit += step) {
				uint64_t value =
					flip_bit(events[i].counters ? events[i].word[word][c]
				                                    : events[i].value,
				                 bit);

				check_value(&r, value, t);
				check_selects(&r, word, value);
			}
}

/* Montecito has no fields above bit 31, so a few events suffice to check these bits. */
static void every_bit_of(const char *text, int pmu, int bits, struct tally *t)
{
	static struct reg r;
	pfm_encoding_t e;
	char name[32];

	assert_int_equal(encode(text, &e), PFMLIB_SUCCESS);
	snprintf(name, sizeof(name), "%s%u", now->type == PFMLIB_COREDUO_PMU ? "PERFEVTSEL" : "PMC",
	         (unsigned)e.regs[0].num);
	if (r.pmu != pmu || strcmp(name, r.name) != 0)
		read_fields(&r, pmu, name);
	for (int bit = -1; bit < bits; bit++)
		check_value(&r, flip_bit(e.regs[0].value, bit), t);
}

static void registers_decode_with_any_bit_flipped(void **state)
{
	int pmu = load_events(*state);
	unsigned step = getenv("PERFMON_QUICK") && !is_alpha() ? (n_events > 200 ? 37 : 11) : 1;
	struct tally t = { 0 };
	char text[160];

	for (unsigned word = 0; is_alpha() && word < 2; word++)
		every_select(pmu, word, &t);
	for (unsigned i = 0; !is_alpha() && i < n_events; i += step) {
		perfmon_event_info_t info = PFM_INIT(info);

		assert_int_equal(pfm_describe_event(ctx, pmu, i, &info), PFMLIB_SUCCESS);
		for (unsigned u = 0; u <= info.n_umasks; u++)
			if (write_event(pmu, &info, u, text, sizeof(text)))
				every_bit_of(text, pmu,
				             now->type == PFMLIB_MONTECITO_PMU && i % 16 ? 32 : 64,
				             &t);
	}
	print_message("# %s: %u values, %u of them are events, %u have a bit of no field\n",
	              now->name, t.values, t.events, t.strange);
	assert_true(t.events >= 200);
}

int main(void)
{
	pfm_ctx_options_t o = { .size = sizeof(o), .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	struct rows rows = { 0 };
	char name[64];

	if (!load_facts() || pfm_open_context(&ctx, &o, NULL))
		return 1;
	for (unsigned i = 0; i < sizeof(founders) / sizeof(founders[0]); i++) {
		snprintf(name, sizeof(name), "every pair of events: %s", founders[i].name);
		rows_add(&rows, name, each_pair_is_placed_or_cannot_be, &founders[i]);
		snprintf(name, sizeof(name), "every bit of every register: %s", founders[i].name);
		rows_add(&rows, name, registers_decode_with_any_bit_flipped, &founders[i]);
	}
	rows_add(&rows, "every pair of events: coreduo by libpfm 3", every_pair_of_libpfm_3, NULL);
	return rows_run("pairs", &rows);
}
