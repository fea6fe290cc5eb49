/* SPDX-License-Identifier: MIT */
/* The events that a set of registers counts: the inverse of pfm_dispatch_set().
 *
 * Each control register that selects an event is decoded alone, with what the other registers of
 * the set add to it: the value of an extra register, the ESCR of a Pentium 4's counter, the other
 * words of a perf attribute. Where several events fit equally well, all of them are candidates. */
#include "base/sizes.h"
#include "format/format.h"

#define MAX_CANDIDATES      32u
#define FIRST_FIXED         32u
#define N_CONTROL_REGISTERS 64u /* of a PMU, at most */

/* The registers of the caller, and the array that the entries go to. */
struct set_decoder {
	const struct pfm_ctx *ctx;
	const struct table *table;
	const pfm_reg_t *regs;
	unsigned n_regs;
	pfm_decoded_event_t *out;
	unsigned n_out, n_entries; /* n_entries may exceed n_out */
	const pfm_reg_t *global_ctrl;
};

/* ---- entries --------------------------------------------------------------------------------- */

/* The entry that comes next, or NULL if the caller's array is full. */
static pfm_decoded_event_t *add_decoded_entry(struct set_decoder *d)
{
	unsigned at = d->n_entries++;
	pfm_decoded_event_t *to;

	if (at >= d->n_out)
		return NULL;
	to = base_get_struct_at(d->out, at);
	to->size = d->out->size; /* the first entry's size represents all */
	return to;
}

static int is_counter_enabled(const struct set_decoder *d, int counter)
{
	if (!d->global_ctrl || counter < 0)
		return -1;
	return (int)(d->global_ctrl->value >> counter & 1);
}

/* Writes the @n events @candidates of register @reg. No event gives one entry without a text. */
static void write_entries(struct set_decoder *d, unsigned reg, int counter,
                          const struct event *candidates, unsigned n)
{
	for (unsigned i = 0; i < (n ? n : 1); i++) {
		pfm_decoded_event_t full = { .size = sizeof(full), .reg = reg, .counter = counter };
		pfm_decoded_event_t *to = add_decoded_entry(d);

		full.enabled = is_counter_enabled(d, counter);
		full.n_candidates = n;
		full.candidate = i;
		if (n && pfmi_format_print_event(&candidates[i], NULL, PFM_DIALECT_LIBPFM,
		                                 (struct slice){ 0 }, full.text, sizeof(full.text),
		                                 NULL))
			full.text[0] = '\0';
		if (to)
			base_copy_struct_out(to, &full, sizeof(full));
	}
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* How far an event is from its row: what had to be added, and whether listings leave the row
 * out. */
static unsigned compute_row_distance(const struct event *ev)
{
	const struct row *r = table_get_row(ev->table, ev->row_index);
	unsigned distance = ev->n_user_fields * 16u;

	for (unsigned i = 0; i < r->n_groups; i++)
		distance += (ev->chosen_groups >> i & 1) * 16u;
	return distance + (r->flags & (ROW_DEPRECATED | ROW_HIDDEN | ROW_SHADOWED) ? 1 : 0);
}

/* Fills @out with the events of target @g that are as near to it as the best one. Returns how
 * many. */
static unsigned list_candidates(struct decode_target *g, struct event *out, unsigned max)
{
	unsigned n = 0;

	while (n < max && pfmi_pmu_find_decoded_event(g, n, &out[n]) &&
	       compute_row_distance(&out[n]) == compute_row_distance(&out[0]))
		n++;
	return n;
}

static bool init_target(const struct set_decoder *d, const pfm_reg_t *reg, uint64_t value,
                        struct decode_target *g)
{
	*g = (struct decode_target){ .table = d->table, .value = value };
	g->reg_name = pfmi_pmu_get_register_name(d->table, reg);
	return pfmi_pmu_init_decode_target(g);
}

/* ---- registers by their kind ----------------------------------------------------------------- */

/* The register of the set at @addr, NULL for none. */
static const pfm_reg_t *find_extra_register(const struct set_decoder *d, uint64_t addr)
{
	for (unsigned i = 0; i < d->n_regs; i++)
		if (d->regs[i].kind == PFM_REG_EXTRA && d->regs[i].addr == addr)
			return &d->regs[i];
	return NULL;
}

/* The extra register of the set that the events of target @g use; NULL if they do not use one, or
 * if the set lacks it. Some events have several codes, each with a register of its own. */
static const pfm_reg_t *find_used_extra_register(const struct set_decoder *d,
                                                 const struct decode_target *g)
{
	struct decode_target probe = *g;
	struct event ev;

	for (unsigned i = 0; i < MAX_CANDIDATES && pfmi_pmu_find_decoded_event(&probe, i, &ev);
	     i++) {
		uint32_t msr = pfmi_pmu_get_decoded_extra_register(&probe, &ev);

		if (msr)
			return find_extra_register(d, msr);
		probe = *g;
	}
	return NULL;
}

/* Keeps the candidates whose rows have @value for their extra register. Returns how many. */
static unsigned filter_by_extra_value(struct event *candidates, unsigned n, uint64_t value)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++)
		if (pfmi_pmu_get_key_value(&candidates[i], KEY_MSR_VALUE, ANY_COUNTER) == value)
			candidates[kept++] = candidates[i];
	return kept;
}

/* The candidates for target @g with the extra register @extra, whose value is in a configuration
 * word where a field is declared for it, and otherwise in the rows alone. */
static unsigned list_candidates_with_extra(const struct decode_target *g, const pfm_reg_t *extra,
                                           struct event *out, unsigned max)
{
	struct decode_target by_word = *g, by_row = *g;
	unsigned n;

	by_word.config[1] = extra->value;
	by_word.known_words |= 2;
	n = list_candidates(&by_word, out, max);
	return n ? n : filter_by_extra_value(out, list_candidates(&by_row, out, max), extra->value);
}

static void decode_x86_control(struct set_decoder *d, unsigned i)
{
	struct event candidates[MAX_CANDIDATES];
	struct decode_target g;
	const pfm_reg_t *extra;
	unsigned n = 0;

	if (init_target(d, &d->regs[i], d->regs[i].value, &g)) {
		extra = find_used_extra_register(d, &g);
		n = extra ? list_candidates_with_extra(&g, extra, candidates, MAX_CANDIDATES)
		          : list_candidates(&g, candidates, MAX_CANDIDATES);
	}
	for (unsigned k = 0; k < n; k++)
		pfmi_pmu_set_decoded_levels(&g, &candidates[k]);
	write_entries(d, i, (int)d->regs[i].num, candidates, n);
}

/* One fixed counter: its four bits of FIXED_CTR_CTRL. */
static void decode_fixed_counter(struct set_decoder *d, unsigned i, unsigned fixed)
{
	struct event candidates[MAX_CANDIDATES];
	struct decode_target g;
	uint64_t bits = d->regs[i].value & (uint64_t)0xf << 4 * fixed;
	unsigned n = 0;

	if (init_target(d, &d->regs[i], bits, &g)) {
		g.is_fixed_control = true;
		n = list_candidates(&g, candidates, MAX_CANDIDATES);
	}
	for (unsigned k = 0; k < n; k++)
		pfmi_pmu_set_decoded_levels(&g, &candidates[k]);
	write_entries(d, i, (int)(FIRST_FIXED + fixed), candidates, n);
}

/* FIXED_CTR_CTRL: the counter that num names, or all that count if num names none. */
static void decode_fixed_control(struct set_decoder *d, unsigned i)
{
	const pfm_reg_t *reg = &d->regs[i];

	if (reg->num >= FIRST_FIXED && reg->num < FIRST_FIXED + 16) {
		decode_fixed_counter(d, i, reg->num - FIRST_FIXED);
		return;
	}
	for (unsigned fixed = 0; fixed < 16; fixed++)
		if (reg->value >> 4 * fixed & 3)
			decode_fixed_counter(d, i, fixed);
}

/* A Pentium 4's CCCR: the ESCR that goes with it is the one whose events fit both. */
static void decode_register_pair(struct set_decoder *d, unsigned i)
{
	struct event candidates[MAX_CANDIDATES];
	const uint64_t low = d->regs[i].value & 0xffffffff;
	struct decode_target g;
	unsigned n = 0;

	for (unsigned k = 0; k < d->n_regs && !n; k++) {
		if (d->regs[k].kind != PFM_REG_EXTRA)
			continue;
		if (!init_target(d, &d->regs[i], low | d->regs[k].value << 32, &g))
			break;
		n = list_candidates(&g, candidates, MAX_CANDIDATES);
		while (n &&
		       (pfmi_pmu_get_extra_register(&candidates[n - 1]) ^ d->regs[k].addr) & ~1ull)
			n--;
	}
	for (unsigned k = 0; k < n; k++)
		pfmi_pmu_set_decoded_levels(&g, &candidates[k]);
	write_entries(d, i, (int)d->regs[i].num, candidates, n);
}

/* Sets the levels of @g to those that another register of the set sets for all counters. False if
 * no text names them. */
static bool decode_levels_of_set(const struct set_decoder *d, struct decode_target *g)
{
	bool named = true;

	for (unsigned i = 0; i < d->n_regs; i++)
		if (d->regs[i].kind == PFM_REG_PMC)
			named &= pfmi_pmu_decode_shared_levels(
				g, pfmi_pmu_get_register_name(d->table, &d->regs[i]),
				d->regs[i].value);
	return named;
}

/* A control register whose event select bits only the encoder defines; one register may select the
 * events of several counters. */
static void decode_encoder_control(struct set_decoder *d, unsigned i)
{
	struct event events[MAX_CANDIDATES];
	struct decode_target g;
	unsigned n = 0;
	int counter[MAX_CANDIDATES];
	bool named;

	if (!init_target(d, &d->regs[i], d->regs[i].value, &g))
		return;
	named = decode_levels_of_set(d, &g);
	for (; n < MAX_CANDIDATES && pfmi_pmu_find_decoded_event(&g, n, &events[n]); n++) {
		counter[n] = g.counter < 64 ? (int)g.counter : -1;
		pfmi_pmu_set_decoded_levels(&g, &events[n]);
	}
	for (int c = -1; c < 64; c++) {
		struct event same[MAX_CANDIDATES];
		unsigned n_same = 0;

		for (unsigned k = 0; k < n; k++)
			if (counter[k] == c && (!n_same || compute_row_distance(&events[k]) ==
			                                           compute_row_distance(&same[0])))
				same[n_same++] = events[k];
		if (n_same)
			write_entries(d, i, c, same, named ? n_same : 0);
	}
}

/* Sets the levels of the @n events @candidates to those of the control register of event @event, if
 * the set has one. */
static void decode_excluded_levels(const struct set_decoder *d, int32_t event,
                                   struct event *candidates, unsigned n)
{
	for (unsigned i = 0; i < d->n_regs; i++)
		for (unsigned k = 0;
		     k < n && d->regs[i].kind == PFM_REG_PMC && d->regs[i].event == event; k++)
			pfmi_pmu_set_excluded_levels(
				d->table, pfmi_pmu_get_register_name(d->table, &d->regs[i]),
				d->regs[i].value, &candidates[k]);
}

/* Words of a perf attribute: those of one event have the same index. */
static void decode_perf_config(struct set_decoder *d, unsigned i)
{
	struct event candidates[MAX_CANDIDATES];
	struct decode_target g;
	unsigned n = 0;

	if (d->regs[i].num != 0)
		return;
	if (init_target(d, &d->regs[i], d->regs[i].value, &g)) {
		g.known_words = ALL_CONFIG_WORDS;
		for (unsigned k = 0; k < d->n_regs; k++)
			if (d->regs[k].kind == PFM_REG_CONFIG &&
			    d->regs[k].event == d->regs[i].event && d->regs[k].num > 0 &&
			    d->regs[k].num < N_CONFIG_WORDS)
				g.config[d->regs[k].num] = d->regs[k].value;
		n = list_candidates(&g, candidates, MAX_CANDIDATES);
		decode_excluded_levels(d, d->regs[i].event, candidates, n);
		for (unsigned k = 0; k < n; k++)
			pfmi_power_set_levels_of_counter(d->table, d->regs, d->n_regs, i,
			                                 &candidates[k]);
	}
	write_entries(d, i, -1, candidates, n);
}

static void decode_control(struct set_decoder *d, unsigned i)
{
	if (pfmi_pmu_get_encoder(d->table)->decode_register_pair)
		decode_register_pair(d, i);
	else if (pfmi_pmu_has_event_select_mask(d->table))
		decode_encoder_control(d, i);
	else
		decode_x86_control(d, i);
}

static void decode_register(struct set_decoder *d, unsigned i)
{
	switch (d->regs[i].kind) {
	case PFM_REG_PMC:
		/* An event of configuration words is decoded from these, not from the register that
		 * the kernel computes from them. */
		if (d->table->encoder != ENCODER_FORMAT)
			decode_control(d, i);
		break;
	case PFM_REG_FIXED_CTRL: decode_fixed_control(d, i); break;
	case PFM_REG_CONFIG: decode_perf_config(d, i); break;
	case PFM_REG_GLOBAL_CTRL:
	case PFM_REG_EXTRA:
	case PFM_REG_IBR:
	case PFM_REG_DBR:
	case PFM_REG_PMD: break;
	}
}

int pfm_decode_set(const pfm_ctx_t *ctx, int pmu, const pfm_reg_t *regs, unsigned n,
                   pfm_decoded_event_t *out, unsigned n_out)
{
	struct set_decoder d = { .ctx = context_get_or_default(ctx), .regs = regs, .n_regs = n };

	d.table = context_get_usable_table(d.ctx, pmu);
	if (!d.table || (!regs && n) || (n_out && !base_has_struct_size(out)))
		return PFMLIB_ERR_INVAL;
	if (!pfmi_pmu_has_encoder(d.table))
		return PFMLIB_ERR_NOTSUPP;
	for (unsigned i = 0; i < n; i++)
		if (regs[i].kind == PFM_REG_PMC && regs[i].num >= N_CONTROL_REGISTERS)
			return PFMLIB_ERR_INVAL;
	d.out = out;
	d.n_out = n_out;
	for (unsigned i = 0; i < n; i++)
		if (regs[i].kind == PFM_REG_GLOBAL_CTRL)
			d.global_ctrl = &regs[i];
	for (unsigned i = 0; i < n; i++)
		decode_register(&d, i);
	return (int)d.n_entries;
}
