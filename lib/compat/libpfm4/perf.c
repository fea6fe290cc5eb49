/* SPDX-License-Identifier: MIT */
/* Conversion of a PMU's words to the kernel's perf_event_attr. */
#include <linux/perf_event.h>
#include <string.h>
#include "compat/libpfm4/l4.h"

#define BIT(n)             (1ull << (n))
#define X86_KERNEL_BITS    (BIT(16) | BIT(17) | BIT(20) | BIT(22))
#define UNCORE_KERNEL_BITS (BIT(20) | BIT(22))
#define AMD_KERNEL_BITS    (X86_KERNEL_BITS | BIT(40) | BIT(41))
#define ARM_KERNEL_BITS    (BIT(27) | BIT(30) | BIT(31))
#define ESCR_EVENT_MASK    (0x3full << 25)

/* ---- type and configuration ------------------------------------------------------------------ */

/* Sets the type that the kernel has for the PMU. Without one, @missing is used: a type, or an error
 * to return. */
static int set_perf_type(const struct l4_query *q, int missing, struct perf_event_attr *attr)
{
	int type;

	if (!l4_find_device(q->event.pmu, &type)) {
		if (missing < 0)
			return missing;
		type = missing;
	}
	attr->type = (uint32_t)type;
	return PFM_SUCCESS;
}

static int build_core_attr(const struct l4_query *q, const struct l4_code *c,
                           struct perf_event_attr *attr)
{
	bool uncore = q->event.pmu->type == PFM_PMU_TYPE_UNCORE;

	attr->config = c->words[0] & ~(uncore ? UNCORE_KERNEL_BITS : X86_KERNEL_BITS);
	if (c->n_words > 1)
		attr->config1 = c->words[1];
	return set_perf_type(q, uncore ? PFM_ERR_NOTFOUND : PERF_TYPE_RAW, attr);
}

static int build_box_attr(const struct l4_query *q, const struct l4_code *c,
                          struct perf_event_attr *attr)
{
	uint64_t code = q->event.row->code & 0xff;
	bool cbox = (q->event.pmu->flags & PMU_IS_CBOX) && (c->words[0] & 0x100) && code >= 0x34 &&
	            code <= 0x36;
	bool cha = (q->event.pmu->flags & PMU_IS_CHA) && code >= 0x34 && code <= 0x36;

	attr->config = c->words[0];
	if (c->n_words > 1)
		attr->config1 = c->words[1];
	if (c->n_words > 2 && (cbox || cha))
		attr->config1 |= c->words[2] << 32;
	else if (c->n_words > 2)
		attr->config2 = c->words[2];
	return set_perf_type(q, PFM_ERR_NOTSUPP, attr);
}

static int build_plain_attr(const struct l4_query *q, const struct l4_code *c,
                            struct perf_event_attr *attr)
{
	const char *name = l4_get_text(q->event.pmu->name);

	attr->type = PERF_TYPE_RAW;
	attr->config = c->words[0];
	if (q->event.pmu->host_kind == L4_HOST_SYSFS)
		return set_perf_type(q, PFM_ERR_NOTFOUND, attr);
	if (strcmp(name, "rapl") == 0)
		return set_perf_type(q, PERF_TYPE_RAW, attr);
	return q->event.pmu->kernel_event_names ? set_perf_type(q, PFM_ERR_NOTSUPP, attr)
	                                        : PFM_SUCCESS;
}

static int set_type_and_config(const struct l4_query *q, const struct l4_code *c,
                               struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_RAW;
	switch (q->event.encoder) {
	case L4_ENCODER_CORE:
	case L4_ENCODER_ARCH:
	case L4_ENCODER_NHM_UNC: return build_core_attr(q, c, attr);
	case L4_ENCODER_EP_UNC: return build_box_attr(q, c, attr);
	case L4_ENCODER_AMD64:
		attr->config = c->words[0] & ~AMD_KERNEL_BITS;
		return q->event.pmu->kernel_event_names ? set_perf_type(q, PFM_ERR_NOTSUPP, attr)
		                                        : PFM_SUCCESS;
	case L4_ENCODER_ARM:
		attr->config = c->words[0] & ~ARM_KERNEL_BITS;
		return q->event.pmu->kernel_event_names ? set_perf_type(q, PFM_ERR_NOTSUPP, attr)
		                                        : PFM_SUCCESS;
	case L4_ENCODER_NETBURST:
		attr->config =
			((c->words[0] & ~ESCR_EVENT_MASK) | (uint64_t)q->event.position << 25)
				<< 32 |
			c->words[1];
		return PFM_SUCCESS;
	case L4_ENCODER_MIPS:
		attr->config = c->words[0] >> 5 | (c->words[1] == 0xa ? 0x80 : 0);
		return PFM_SUCCESS;
	case L4_ENCODER_SPARC: attr->config = c->words[0] << 16 | c->words[1]; return PFM_SUCCESS;
	case L4_ENCODER_PERF:
		attr->type =
			q->event.is_tracepoint_system ? PERF_TYPE_TRACEPOINT : q->event.row->kind;
		attr->config = c->words[0];
		return PFM_SUCCESS;
	default: return build_plain_attr(q, c, attr);
	}
}

/* ---- attributes ------------------------------------------------------------------------------ */

struct given_attrs {
	bool has_bad_value;
	uint32_t attr_mask;
	uint64_t attr_values[N_OS_ATTRS];
};

static bool has_attr(const struct given_attrs *g, unsigned attr)
{
	return g->attr_mask >> attr & 1;
}

static bool is_bad_value(unsigned attr, uint64_t value)
{
	switch (attr) {
	case OS_ATTR_PERIOD:
	case OS_ATTR_FREQ: return value == 0;
	case OS_ATTR_PRECISE: return value > 3;
	case OS_ATTR_CPU: return value >= INT32_MAX;
	default: return false;
	}
}

/* Adds an attribute. Only the exact mode accepts one twice: a level or excl that was set once stays
 * set ("u:u:u=0" counts user mode), a second rate is an error, others have the last value. */
static void add_given_attr(struct given_attrs *g, unsigned attr, uint64_t value)
{
	const uint32_t sticky =
		1u << OS_ATTR_U | 1u << OS_ATTR_K | 1u << OS_ATTR_H | 1u << OS_ATTR_EXCL;

	if (is_bad_value(attr, value) || (attr == OS_ATTR_FREQ && has_attr(g, attr)))
		g->has_bad_value = true;
	g->attr_values[attr] = value | (sticky >> attr & 1 ? g->attr_values[attr] : 0);
	g->attr_mask |= 1u << attr;
}

static unsigned get_supported_levels(const struct l4_query *q)
{
	unsigned levels =
		q->event.encoder == L4_ENCODER_PERF ? l4_get_core_levels() : q->event.pmu->levels;

	return levels || q->event.encoder != L4_ENCODER_PERF ? levels : q->event.pmu->levels;
}

static void set_levels(const struct l4_query *q, const struct given_attrs *g, unsigned plm,
                       struct perf_event_attr *attr)
{
	unsigned supported = get_supported_levels(q);

	if (g->attr_mask & (1u << OS_ATTR_U | 1u << OS_ATTR_K | 1u << OS_ATTR_H))
		plm = (g->attr_values[OS_ATTR_U] ? PFM_PLM3 : 0) |
		      (g->attr_values[OS_ATTR_K] ? PFM_PLM0 : 0) |
		      (g->attr_values[OS_ATTR_H] ? PFM_PLMH : 0);
	attr->exclude_user = (supported & PFM_PLM3) && !(plm & PFM_PLM3);
	attr->exclude_kernel = (supported & PFM_PLM0) && !(plm & PFM_PLM0);
	attr->exclude_hv = (supported & PFM_PLMH) && !(plm & PFM_PLMH);
	/* Naming guest or host excludes the other; "mg=0" names guest. */
	attr->exclude_guest = supported && !has_attr(g, OS_ATTR_MG);
	attr->exclude_host = supported && has_attr(g, OS_ATTR_MG) && !has_attr(g, OS_ATTR_MH);
}

static int set_sampling_attr(const struct given_attrs *g, struct perf_event_attr *attr)
{
	bool period = has_attr(g, OS_ATTR_PERIOD), freq = has_attr(g, OS_ATTR_FREQ);

	if (g->has_bad_value || (period && freq))
		return PFM_ERR_ATTR_VAL;
	if ((period && attr->freq) || (freq && attr->sample_period))
		return PFM_ERR_ATTR_VAL;
	if (period)
		attr->sample_period = g->attr_values[OS_ATTR_PERIOD];
	if (freq) {
		attr->sample_freq = g->attr_values[OS_ATTR_FREQ];
		attr->freq = 1;
	}
	return PFM_SUCCESS;
}

static void set_other_attrs(const struct given_attrs *g, struct perf_event_attr *attr,
                            struct l4_perf_result *out)
{
	if (has_attr(g, OS_ATTR_PRECISE))
		attr->precise_ip = g->attr_values[OS_ATTR_PRECISE] & 3;
	/* In libpfm4, "precise=2:hw_smpl=0" clears precise. */
	if (has_attr(g, OS_ATTR_HW_SMPL) && (g->attr_values[OS_ATTR_HW_SMPL] || l4_is_exact_mode()))
		attr->precise_ip = g->attr_values[OS_ATTR_HW_SMPL] & 1;
	attr->exclusive |= g->attr_values[OS_ATTR_EXCL] & 1;
	attr->pinned = g->attr_values[OS_ATTR_PINNED] & 1;
	out->cpu = has_attr(g, OS_ATTR_CPU) ? (int)g->attr_values[OS_ATTR_CPU] : -1;
}

/* Collects the values for the string from @attr, as libpfm4 does. */
static void collect_shown_attrs(const struct l4_query *q, const struct given_attrs *g,
                                const struct perf_event_attr *attr, struct l4_perf_result *out)
{
	uint64_t *v = out->attr_values;
	const uint32_t never = 1u << OS_ATTR_CPU | 1u << OS_ATTR_PINNED,
		       rates = 1u << OS_ATTR_PERIOD | 1u << OS_ATTR_FREQ;

	v[OS_ATTR_U] = !attr->exclude_user;
	v[OS_ATTR_K] = !attr->exclude_kernel;
	v[OS_ATTR_H] = !attr->exclude_hv;
	v[OS_ATTR_PERIOD] = v[OS_ATTR_FREQ] = attr->sample_period;
	v[OS_ATTR_PRECISE] = v[OS_ATTR_HW_SMPL] = attr->precise_ip;
	v[OS_ATTR_EXCL] = attr->exclusive;
	v[OS_ATTR_MG] = !attr->exclude_guest;
	v[OS_ATTR_MH] = !attr->exclude_host;
	out->shown_attrs = q->attr_list.os_attrs & ~never;
	if (!attr->sample_period)
		out->shown_attrs &= ~rates;
	if (l4_is_exact_mode())
		return;
	/* The string must read back: it has the rate that was set, and guest and host if they were
	 * named. */
	out->shown_attrs &= ~(attr->freq ? 1u << OS_ATTR_PERIOD : 1u << OS_ATTR_FREQ);
	out->shown_attrs &= ~(1u << OS_ATTR_MG | 1u << OS_ATTR_MH) | g->attr_mask;
	v[OS_ATTR_HW_SMPL] = g->attr_values[OS_ATTR_HW_SMPL];
}

int l4_build_perf_attr(const struct l4_query *q, const struct l4_code *c, int plm,
                       struct perf_event_attr *attr, bool named, struct l4_perf_result *out)
{
	struct given_attrs g = { 0 };
	int rc;

	for (unsigned i = 0; i < q->n_attrs; i++) {
		if (q->attrs[i].kind != L4_ATTR_OS)
			continue;
		if (c->takes_no_modifiers && q->attrs[i].value &&
		    q->attrs[i].number != OS_ATTR_PINNED)
			return PFM_ERR_ATTR_VAL;
		add_given_attr(&g, q->attrs[i].number, q->attrs[i].value);
	}
	rc = set_type_and_config(q, c, attr);
	if (rc == PFM_SUCCESS)
		rc = set_sampling_attr(&g, attr);
	if (rc)
		return rc;
	set_other_attrs(&g, attr, out);
	set_levels(q, &g, (unsigned)plm, attr);
	if (named)
		collect_shown_attrs(q, &g, attr, out);
	return PFM_SUCCESS;
}
