/* SPDX-License-Identifier: MIT */
/* The kernel's perf_event_attr out of a PMU's words. */
#include <linux/perf_event.h>
#include <string.h>
#include "compat/libpfm4/l4.h"

#define U(n)     (1ull << (n))
#define X86_OWN  (U(16) | U(17) | U(20) | U(22))
#define UNC_OWN  (U(20) | U(22))
#define AMD_OWN  (X86_OWN | U(40) | U(41))
#define ARM_OWN  (U(27) | U(30) | U(31))
#define ESCR_SEL (0x3full << 25)

/* ---- type and configuration ----------------------------------------------------------------------------------- */

/* The type the kernel has for the PMU; @missing is the answer where it has none: a type, or an error. */
static int find_type(const struct l4_query *q, int missing, struct perf_event_attr *attr)
{
	int type;

	if (!l4_device(q->ev.u, &type)) {
		if (missing < 0)
			return missing;
		type = missing;
	}
	attr->type = (uint32_t)type;
	return PFM_SUCCESS;
}

static int core_attr(const struct l4_query *q, const struct l4_code *c, struct perf_event_attr *attr)
{
	bool uncore = q->ev.u->type == PFM_PMU_TYPE_UNCORE;

	attr->config = c->word[0] & ~(uncore ? UNC_OWN : X86_OWN);
	if (c->n > 1)
		attr->config1 = c->word[1];
	return find_type(q, uncore ? PFM_ERR_NOTFOUND : PERF_TYPE_RAW, attr);
}

static int box_attr(const struct l4_query *q, const struct l4_code *c, struct perf_event_attr *attr)
{
	uint64_t code = q->ev.row->code & 0xff;
	bool cbox = (q->ev.u->flags & U_CBOX) && (c->word[0] & 0x100) && code >= 0x34 && code <= 0x36;
	bool cha = (q->ev.u->flags & U_CHA) && code >= 0x34 && code <= 0x36;

	attr->config = c->word[0];
	if (c->n > 1)
		attr->config1 = c->word[1];
	if (c->n > 2 && (cbox || cha))
		attr->config1 |= c->word[2] << 32;
	else if (c->n > 2)
		attr->config2 = c->word[2];
	return find_type(q, PFM_ERR_NOTSUPP, attr);
}

static int plain_attr(const struct l4_query *q, const struct l4_code *c, struct perf_event_attr *attr)
{
	const char *name = l4_text(q->ev.u->name);

	attr->type = PERF_TYPE_RAW;
	attr->config = c->word[0];
	if (q->ev.u->host == L4_HOST_SYSFS)
		return find_type(q, PFM_ERR_NOTFOUND, attr);
	if (strcmp(name, "rapl") == 0)
		return find_type(q, PERF_TYPE_RAW, attr);
	return q->ev.u->perf ? find_type(q, PFM_ERR_NOTSUPP, attr) : PFM_SUCCESS;
}

static int configure(const struct l4_query *q, const struct l4_code *c, struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_RAW;
	switch (q->ev.encoder) {
	case L4_CORE:
	case L4_ARCH:
	case L4_NHM_UNC:
		return core_attr(q, c, attr);
	case L4_EP_UNC:
		return box_attr(q, c, attr);
	case L4_AMD64:
		attr->config = c->word[0] & ~AMD_OWN;
		return q->ev.u->perf ? find_type(q, PFM_ERR_NOTSUPP, attr) : PFM_SUCCESS;
	case L4_ARM:
		attr->config = c->word[0] & ~ARM_OWN;
		return q->ev.u->perf ? find_type(q, PFM_ERR_NOTSUPP, attr) : PFM_SUCCESS;
	case L4_NETBURST:
		attr->config = ((c->word[0] & ~ESCR_SEL) | (uint64_t)q->ev.pos << 25) << 32 | c->word[1];
		return PFM_SUCCESS;
	case L4_MIPS:
		attr->config = c->word[0] >> 5 | (c->word[1] == 0xa ? 0x80 : 0);
		return PFM_SUCCESS;
	case L4_SPARC:
		attr->config = c->word[0] << 16 | c->word[1];
		return PFM_SUCCESS;
	case L4_PERF:
		attr->type = q->ev.traced ? PERF_TYPE_TRACEPOINT : q->ev.row->type;
		attr->config = c->word[0];
		return PFM_SUCCESS;
	default:
		return plain_attr(q, c, attr);
	}
}

/* ---- attributes ----------------------------------------------------------------------------------------------- */

struct given {
	uint32_t bits;
	uint64_t value[OS_ATTRS];
};

static bool has(const struct given *g, unsigned attr)
{
	return g->bits >> attr & 1;
}

static unsigned supported_levels(const struct l4_query *q)
{
	unsigned levels = q->ev.encoder == L4_PERF ? l4_core_levels() : q->ev.u->levels;

	return levels || q->ev.encoder != L4_PERF ? levels : q->ev.u->levels;
}

static void set_levels(const struct l4_query *q, const struct given *g, unsigned plm, struct perf_event_attr *attr)
{
	unsigned supported = supported_levels(q);

	if (g->bits & (1u << OS_U | 1u << OS_K | 1u << OS_H))
		plm = (g->value[OS_U] ? PFM_PLM3 : 0) | (g->value[OS_K] ? PFM_PLM0 : 0) | (g->value[OS_H] ? PFM_PLMH : 0);
	attr->exclude_user = (supported & PFM_PLM3) && !(plm & PFM_PLM3);
	attr->exclude_kernel = (supported & PFM_PLM0) && !(plm & PFM_PLM0);
	attr->exclude_hv = (supported & PFM_PLMH) && !(plm & PFM_PLMH);
	/* Naming one of guest and host keeps that one alone; "mg=0" names it too. */
	attr->exclude_guest = supported && !has(g, OS_MG);
	attr->exclude_host = supported && has(g, OS_MG) && !has(g, OS_MH);
}

static int set_sampling(const struct given *g, struct perf_event_attr *attr)
{
	bool period = has(g, OS_PERIOD), freq = has(g, OS_FREQ);

	if ((period && !g->value[OS_PERIOD]) || (freq && !g->value[OS_FREQ]) || (period && freq))
		return PFM_ERR_ATTR_VAL;
	if ((period && attr->freq) || (freq && attr->sample_period))
		return PFM_ERR_ATTR_VAL;
	if (period)
		attr->sample_period = g->value[OS_PERIOD];
	if (freq) {
		attr->sample_freq = g->value[OS_FREQ];
		attr->freq = 1;
	}
	return PFM_SUCCESS;
}

static int set_rest(const struct given *g, struct perf_event_attr *attr, struct l4_perf *out)
{
	if (g->value[OS_PRECISE] > 3 || g->value[OS_CPU] >= INT32_MAX)
		return PFM_ERR_ATTR_VAL;
	if (has(g, OS_PRECISE))
		attr->precise_ip = g->value[OS_PRECISE] & 3;
	if (has(g, OS_HW_SMPL) && g->value[OS_HW_SMPL])
		attr->precise_ip = 1;
	attr->exclusive |= g->value[OS_EXCL] & 1;
	attr->pinned = g->value[OS_PINNED] & 1;
	out->cpu = has(g, OS_CPU) ? (int)g->value[OS_CPU] : -1;
	return PFM_SUCCESS;
}

/* What the string shows: read back from the attr, as libpfm4 does. */
static void show(const struct l4_query *q, const struct given *g, const struct perf_event_attr *attr, struct l4_perf *out)
{
	uint64_t *v = out->value;
	const uint32_t never = 1u << OS_CPU | 1u << OS_PINNED, rates = 1u << OS_PERIOD | 1u << OS_FREQ;

	v[OS_U] = !attr->exclude_user;
	v[OS_K] = !attr->exclude_kernel;
	v[OS_H] = !attr->exclude_hv;
	v[OS_PERIOD] = v[OS_FREQ] = attr->sample_period;
	v[OS_PRECISE] = v[OS_HW_SMPL] = attr->precise_ip;
	v[OS_EXCL] = attr->exclusive;
	v[OS_MG] = !attr->exclude_guest;
	v[OS_MH] = !attr->exclude_host;
	out->shown = q->list.os & ~never;
	if (!attr->sample_period)
		out->shown &= ~rates;
	if (l4_exact())
		return;
	/* What reads back: the rate that was set; guest and host only where they were named, since naming is what counts. */
	out->shown &= ~(attr->freq ? 1u << OS_PERIOD : 1u << OS_FREQ);
	out->shown &= ~(1u << OS_MG | 1u << OS_MH) | g->bits;
	v[OS_HW_SMPL] = g->value[OS_HW_SMPL];
}

int l4_perf_attr(const struct l4_query *q, const struct l4_code *c, int plm, struct perf_event_attr *attr, bool named, struct l4_perf *out)
{
	struct given g = { 0 };
	int rc;

	for (unsigned i = 0; i < q->n; i++) {
		if (q->a[i].kind != ATTR_OS)
			continue;
		if (c->no_mods && q->a[i].value && q->a[i].number != OS_PINNED)
			return PFM_ERR_ATTR_VAL;
		g.bits |= 1u << q->a[i].number;
		g.value[q->a[i].number] = q->a[i].value;
	}
	rc = configure(q, c, attr);
	if (rc == PFM_SUCCESS)
		rc = set_sampling(&g, attr);
	if (rc == PFM_SUCCESS)
		rc = set_rest(&g, attr, out);
	if (rc)
		return rc;
	set_levels(q, &g, (unsigned)plm, attr);
	if (named)
		show(q, &g, attr, out);
	return PFM_SUCCESS;
}
