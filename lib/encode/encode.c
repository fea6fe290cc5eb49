/* SPDX-License-Identifier: MIT */
/* Event to registers and perf attribute: one event, or a set that is measured together. */
#include <stdlib.h>
#include <string.h>
#include "lookup/lookup.h"
#include "base/sizes.h"

/* ---- one event ------------------------------------------------------------------------------- */

/* The value of the extra register, with the user's settings. */
static uint64_t get_extra_register_value(const pfm_encoding_t *e)
{
	for (unsigned i = 0; i < e->n_regs; i++)
		if (e->regs[i].kind == PFM_REG_EXTRA)
			return e->regs[i].value;
	return 0;
}

/* Lists the other encodings (code, unit mask, extra register) with which the row says it counts
 * alike. */
static void list_alternatives(const struct event *ev, pfm_encoding_t *out)
{
	const struct table *t = ev->table;
	const struct row *r = ev->row;
	const struct field *code = table_get_key_field(t, KEY_CODE),
			   *umask = table_get_key_field(t, KEY_UMASK);
	const uint32_t *values = table_values(t) + r->first_value,
		       first = (table_get_key_field_plus1(t, KEY_ALT) - 1u) << 24;
	unsigned i = r->n_values;

	if (!code || !umask)
		return;
	/* Values are sorted by field, and this field is one of the last. */
	while (i && values[i - 1] >= first)
		i--;
	for (; i < r->n_values && (values[i] ^ first) < 1u << 24 &&
	       out->n_alternatives < PFM_MAX_ALTERNATIVES;
	     i++) {
		uint64_t config[N_CONFIG_WORDS] = { out->attr.config },
			 alt = table_get_row_value(t, r, i).value;

		field_insert(code, config, alt & 0xffff);
		field_insert(umask, config, alt >> 16 & 0xffff);
		out->alternatives[out->n_alternatives].config = config[0];
		/* The control register has these fields at the same bits, beside what the kernel
		 * owns. */
		out->alternatives[out->n_alternatives].control =
			out->n_regs ? out->regs[0].value ^ out->attr.config ^ config[0] : 0;
		out->alternatives[out->n_alternatives].msr = alt >> 32;
		out->alternatives[out->n_alternatives].value = get_extra_register_value(out);
		out->n_alternatives++;
	}
}

/* Encodes the event as a set of one. @out is unchanged on failure. */
static int encode_as_set(const struct event *ev, int type, unsigned plm, pfm_encoding_t *out,
                         pfm_error_t *why)
{
	struct encode_request req = { .table = ev->table,
		                      .events = ev,
		                      .n_events = 1,
		                      .is_described = true,
		                      .plm = pfmi_pmu_choose_levels(ev->table, plm) };
	struct plan plan;
	struct placement where;
	struct register_values regs;
	int rc = pfmi_pmu_dispatch_plan(&req, &plan, &where, &regs, why);

	if (rc)
		return rc;
	out->counters = pfmi_pmu_get_plan_counter_mask(&plan);
	pfmi_pmu_build_requested_attr(ev, type, plm, &out->attr);
	out->n_regs = regs.n_pmcs < PFM_MAX_REGS ? regs.n_pmcs : PFM_MAX_REGS;
	for (unsigned i = 0; i < out->n_regs; i++) {
		out->regs[i] = regs.pmcs[i];
		out->regs[i].name = pfmi_pmu_get_register_name(ev->table, &regs.pmcs[i]);
	}
	return PFMLIB_SUCCESS;
}

/* For a caller whose struct has all our members. */
static int fill_full_encoding(const struct event *ev, unsigned pmu, int type, unsigned plm,
                              pfm_encoding_t *out, pfm_error_t *why)
{
	int rc = encode_as_set(ev, type, plm, out, why);

	if (rc)
		return rc;
	out->pmu = (int)pmu;
	out->event = ev->row_index;
	out->plm = event_get_levels(ev, pfmi_pmu_choose_levels(ev->table, plm));
	if (!out->attr.precise && event_get_precision(ev) == PRECISE_REQUIRED)
		out->attr.precise = 1;
	out->n_alternatives = 0;
	if (event_has_key(ev, KEY_ALT))
		list_alternatives(ev, out);
	return PFMLIB_SUCCESS;
}

/* For a caller whose struct is shorter: fills the members it has. */
static int fill_short_encoding(const struct event *ev, unsigned pmu, int type, unsigned plm,
                               pfm_encoding_t *out, pfm_error_t *why)
{
	pfm_encoding_t full = { .size = sizeof(
					full) }; /* members that the event does not fill are 0 */
	int rc = fill_full_encoding(ev, pmu, type, plm, &full, why);

	if (rc == PFMLIB_SUCCESS)
		base_copy_struct_out(out, &full, sizeof(full));
	return rc;
}

static int fill_encoding(const struct event *ev, unsigned pmu, int type, unsigned plm,
                         pfm_encoding_t *out, pfm_error_t *why)
{
	return (out->size < sizeof(*out) ? fill_short_encoding : fill_full_encoding)(ev, pmu, type,
	                                                                             plm, out, why);
}

/* Loads the kernel's PMUs when an event of @t first needs the type of its PMU. */
static inline int load_driver_type(const struct pfm_ctx *ctx, const struct table *t,
                                   pfm_error_t *why)
{
	if (t->perf_type >= 0 || !*table_get_text(t, t->device) || ctx->flags & PFM_CTX_NO_HOST ||
	    context_is_loaded(ctx, LOADED_ALL))
		return PFMLIB_SUCCESS;
	return pfmi_context_require_all(ctx, why);
}

static int get_pmu_type(const struct pfm_ctx *ctx, unsigned pmu, const struct table *t)
{
	const struct kernel_pmu *kernel = context_get_kernel_pmu(ctx, pmu);

	return kernel ? kernel->instance_types[0] : t->perf_type;
}

/* The type of the instance that the text selects; the first one's represents all. */
static inline int get_instance_type(const struct pfm_ctx *ctx, const struct spec *spec,
                                    unsigned pmu, const struct table *t)
{
	const struct kernel_pmu *kernel = context_get_kernel_pmu(ctx, pmu);
	unsigned k;

	if (!kernel)
		return t->perf_type;
	k = pfmi_lookup_spec_instance(ctx, spec, pmu);
	return kernel->instance_types[k ? k - 1 : 0];
}

/* Encodes the event @ev of a text that was looked up. Nothing of @out is touched on failure. */
static int encode_resolved_event(const struct pfm_ctx *ctx, const struct spec *spec, unsigned pmu,
                                 const struct event *ev, unsigned plm, pfm_encoding_t *out,
                                 pfm_error_t *why)
{
	int rc = load_driver_type(ctx, ev->table, why);

	return rc ? rc
	          : fill_encoding(ev, pmu, get_instance_type(ctx, spec, pmu, ev->table), plm, out,
	                          why);
}

/* For callers whose pfm_error_t is shorter than ours. */
static int encode_event_short_error(const pfm_ctx_t *ctx, const char *text, unsigned plm,
                                    pfm_encoding_t *out, pfm_error_t *error)
{
	pfm_error_t why = { .size = sizeof(why) };

	return base_return_error(error, &why, pfm_encode_event(ctx, text, plm, out, &why));
}

int pfm_encode_event(const pfm_ctx_t *ctx, const char *text, unsigned plm, pfm_encoding_t *out,
                     pfm_error_t *error)
{
	struct event ev;
	struct spec spec;
	unsigned pmu;
	int rc;

	if (error && error->size < sizeof(*error))
		return encode_event_short_error(ctx, text, plm, out, error);
	if (!text || !base_has_struct_size(out))
		return pfmi_base_refuse_argument(error,
		                                 "text or out is NULL, or out->size is invalid");
	if (plm > PFMI_LEVEL_MASK)
		return pfmi_base_refuse_argument(error, PFMI_BAD_LEVELS_MESSAGE);
	if (!ctx)
		ctx = pfmi_context_get_default();
	rc = pfmi_spec_parse(text, &spec, error);
	if (!rc)
		rc = pfmi_lookup_spec_event(ctx, &spec, &pmu, &ev, error);
	if (rc)
		return rc;
	return encode_resolved_event(ctx, &spec, pmu, &ev, plm, out, error);
}

static int encode_event_row(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned plm,
                            pfm_encoding_t *out, pfm_error_t *error)
{
	const struct table *t;
	struct event ev;
	int rc;

	if (!ctx)
		ctx = pfmi_context_get_default();
	t = context_get_usable_table(ctx, pmu);
	if (!t || !table_has_row(t, event) || !base_has_struct_size(out))
		return pfmi_base_refuse_argument(error, "pmu, event or out->size is out of range");
	if (plm > PFMI_LEVEL_MASK)
		return pfmi_base_refuse_argument(error, PFMI_BAD_LEVELS_MESSAGE);
	if (table_get_row(t, event)->flags & ROW_METRIC)
		return pfmi_lookup_refuse_metric(NULL, (struct slice){ 0 }, error);
	pfmi_pmu_init_event(&ev, t, event);
	for (unsigned i = 0; i < ev.row->n_groups; i++)
		if (table_get_row_group(t, ev.row, i)->flags & GROUP_REQUIRED)
			return pfmi_base_set_plain_error(
				error, PFMLIB_ERR_UMASK, PFM_KIND_MISSING_UMASK,
				table_get_text(t, table_get_row_group(t, ev.row, i)->name));
	rc = pfmi_lookup_check_present(ctx, (unsigned)pmu, &ev, NULL, (struct slice){ 0 }, error);
	if (!rc)
		rc = load_driver_type(ctx, t, error);
	return rc ? rc
	          : fill_encoding(&ev, (unsigned)pmu, get_pmu_type(ctx, (unsigned)pmu, t), plm, out,
	                          error);
}

int pfm_encode_event_at(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned plm,
                        pfm_encoding_t *out, pfm_error_t *error)
{
	pfm_error_t mine, *why = base_choose_error_struct(error, &mine);

	return base_return_error(error, why, encode_event_row(ctx, pmu, event, plm, out, why));
}

int pfm_is_event_implemented(const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	pfm_encoding_t encoding = PFM_INIT(encoding);
	const struct table *t;
	struct pmu_info info;
	int rc;

	if (!ctx)
		ctx = pfmi_context_get_default();
	t = context_get_usable_table(ctx, pmu);
	if (!t || !table_has_row(t, event))
		return PFMLIB_ERR_INVAL;
	rc = pfmi_context_load(ctx, LOADED_ALL);
	if (rc)
		return rc;
	info = pfmi_context_get_pmu(ctx, (unsigned)pmu);
	if (!(info.flags & PFM_PMU_HOST) || !info.kernel_pmu)
		return 1;
	rc = pfm_encode_event_at(ctx, pmu, event, 0, &encoding, NULL);
	if (rc)
		return rc != PFMLIB_ERR_BADHOST;
	return !pfmi_machine_is_event_missing(&ctx->host, info.kernel_pmu, encoding.attr.config);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static int read_event_set(const struct pfm_ctx *ctx, const char *const *texts, unsigned n,
                          struct event *events, unsigned *pmu, pfm_error_t *error)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned event_pmu;
		int rc = texts[i] ? pfmi_lookup_event(ctx, texts[i], &event_pmu, &events[i], error)
		                  : pfmi_base_refuse_argument(error, "an event is NULL");

		if (!rc && i && events[i].table != events[0].table)
			rc = pfmi_base_set_error(error, PFMLIB_ERR_EVTINCOMP, PFM_KIND_CONFLICT,
			                         texts[i], pfmi_base_make_slice(texts[i]),
			                         "the events of a set must belong to one PMU");
		if (rc) {
			if (error)
				error->event = (int)i;
			return rc;
		}
		*pmu = event_pmu;
	}
	return PFMLIB_SUCCESS;
}

/* Adds to @enable the counters of all control registers before it: those of pairs are two. */
static void enable_general_counters(const struct register_values *regs, pfm_reg_t *enable)
{
	for (const pfm_reg_t *r = regs->pmcs; r < enable; r++)
		if (r->kind == PFM_REG_PMC)
			enable->value |= (uint64_t)1 << r->num;
}

/* Adds the register that enables the counters, where there is one, and names all registers. */
static void complete_registers(const struct encode_request *req, const struct placement *where,
                               struct register_values *regs)
{
	const struct encoder_ops *ops = pfmi_pmu_get_encoder(req->table);

	if (regs->n_pmcs < PLAN_MAX_REGS && ops->build_global_ctrl &&
	    ops->build_global_ctrl(req, where, &regs->pmcs[regs->n_pmcs]))
		enable_general_counters(regs, &regs->pmcs[regs->n_pmcs++]);
	for (unsigned i = 0; i < regs->n_pmcs; i++)
		regs->pmcs[i].name = pfmi_pmu_get_register_name(req->table, &regs->pmcs[i]);
	for (unsigned i = 0; i < regs->n_pmds; i++)
		regs->pmds[i].name = pfmi_pmu_get_register_name(req->table, &regs->pmds[i]);
}

/* A set and its arrays, in one block of memory. */
struct set_block {
	pfm_set_t set;
	pfm_reg_t regs[]; /* control registers, data registers; then a counter for each event */
};

/* Makes the set that a caller gets; NULL without memory. */
static const pfm_set_t *make_set(unsigned pmu, const struct register_values *regs,
                                 const struct placement *where, unsigned n)
{
	const unsigned n_regs = regs->n_pmcs + regs->n_pmds;
	struct set_block *b = malloc(sizeof(*b) + n_regs * sizeof(b->regs[0]) + n * sizeof(int));
	int *counter;

	if (!b)
		return NULL;
	counter = (int *)(void *)&b->regs[n_regs];
	memcpy(b->regs, regs->pmcs, regs->n_pmcs * sizeof(b->regs[0]));
	memcpy(&b->regs[regs->n_pmcs], regs->pmds, regs->n_pmds * sizeof(b->regs[0]));
	for (unsigned i = 0; i < n; i++)
		counter[i] = where->counters[i] == 0xff ? -1 : where->counters[i];
	b->set = (pfm_set_t){ .size = sizeof(b->set),
		              .pmu = (int)pmu,
		              .n_events = n,
		              .n_pmcs = regs->n_pmcs,
		              .n_pmds = regs->n_pmds,
		              .counter = counter,
		              .pmcs = b->regs,
		              .pmds = &b->regs[regs->n_pmcs] };
	return &b->set;
}

/* The facts of this machine that limit events of PMU number @pmu. */
static unsigned read_limit_facts(const struct pfm_ctx *ctx, unsigned pmu, const struct table *t)
{
	struct pmu_info u;

	if (!t->n_rules)
		return 0;
	u = pfmi_context_get_pmu(ctx, pmu);
	return pfmi_context_read_limit_facts(ctx, &u);
}

static int dispatch_event_set(const pfm_set_t **out, const pfm_ctx_t *ctx, const char *const *texts,
                              unsigned n, const pfm_dispatch_options_t *options, pfm_error_t *error)
{
	pfm_dispatch_options_t o;
	struct event events[PLAN_MAX_EVENTS];
	struct encode_request req = { .events = events, .n_events = n };
	struct placement where;
	struct register_values regs;
	const char *wrong = base_copy_options_in(&o, sizeof(o), options);
	unsigned pmu = 0;
	int rc;

	if (!texts || n == 0)
		wrong = "texts is NULL or empty";
	else if (!wrong)
		wrong = o.plm > PFMI_LEVEL_MASK
		                ? PFMI_BAD_LEVELS_MESSAGE
		                : base_find_unknown_flag(o.flags, PFMLIB_PFP_SYSTEMWIDE);
	if (wrong)
		return pfmi_base_refuse_argument(error, wrong);
	if (n > PLAN_MAX_EVENTS)
		return pfmi_base_set_plain_error(error, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY,
		                                 "at most 64 events in a set");
	if (!ctx)
		ctx = pfmi_context_get_default();
	rc = read_event_set(ctx, texts, n, events, &pmu, error);
	if (rc)
		return rc;
	req.table = events[0].table;
	req.plm = pfmi_pmu_choose_levels(req.table, o.plm);
	req.flags = o.flags;
	req.htoff = o.htoff != 0;
	req.facts = read_limit_facts(ctx, pmu, req.table);
	req.unavailable_regs = o.unavailable;
	req.model_in = o.model_in;
	req.model_out = o.model_out;
	rc = pfmi_pmu_dispatch_set(&req, &where, &regs, error);
	if (rc)
		return rc;
	complete_registers(&req, &where, &regs);
	*out = make_set(pmu, &regs, &where, n);
	return *out ? PFMLIB_SUCCESS : pfmi_base_set_no_memory_error(error);
}

int pfm_dispatch_set(const pfm_set_t **out, const pfm_ctx_t *ctx, const char *const *texts,
                     unsigned n, const pfm_dispatch_options_t *options, pfm_error_t *error)
{
	pfm_error_t mine, *why = base_choose_error_struct(error, &mine);
	int rc;

	if (!out)
		return base_return_error(error, why, pfmi_base_refuse_argument(why, "out is NULL"));
	*out = NULL;
	rc = dispatch_event_set(out, ctx, texts, n, options, why);
	return base_return_error(error, why, rc);
}

void pfm_close_set(const pfm_set_t *set)
{
	free((void *)(uintptr_t)set);
}
