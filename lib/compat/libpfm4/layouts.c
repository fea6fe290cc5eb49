/* SPDX-License-Identifier: MIT */
/* All layouts but Intel's: AMD, Netburst, Arm, MIPS, SPARC, POWER, s390, and the kernel's own events. */
#include <string.h>
#include "compat/libpfm4/l4.h"

unsigned l4_levels(const struct l4_query *q, unsigned plm, const unsigned *bits, unsigned n)
{
	unsigned levels = 0;
	bool given = false;

	for (unsigned i = 0; i < q->n; i++) {
		if (q->a[i].kind != ATTR_MOD || q->a[i].number >= n || !bits[q->a[i].number])
			continue;
		given = true;
		if (q->a[i].value)
			levels |= bits[q->a[i].number];
	}
	return given ? levels : plm;
}

static void start(const struct l4_query *q, struct l4_code *out)
{
	memset(out, 0, sizeof(*out));
	out->n = 1;
	out->word[0] = q->ev.row->code;
	out->shown = q->list.mods;
	out->used = ~0u;
}

/* ---- AMD ------------------------------------------------------------------------------------------------------ */

enum { AK,
       AU,
       AE,
       AI,
       AC,
       AH,
       AG };

/* The masks of one group that nobody named; none is an error unless all of them may be left out. */
static int amd_default(const struct l4_query *q, uint32_t group, uint64_t *bits, struct l4_code *out)
{
	const struct l4_mask *m = l4_masks(q->ev.row);
	bool found = false, omit = true;

	for (unsigned i = 0; i < q->ev.row->n_masks; i++) {
		if (m[i].group != group || !l4_mask_valid(&q->ev, &m[i]))
			continue;
		omit &= (m[i].flags & F_AMD_OMIT) != 0;
		if (!(m[i].flags & F_DFL))
			continue;
		*bits |= m[i].code;
		l4_set(out->masks, i);
		l4_set(out->by_default, i);
		found = true;
	}
	return found || omit ? PFM_SUCCESS : PFM_ERR_UMASK;
}

struct amd {
	uint64_t bits, value[7];
	uint32_t served, alone, given;
};

static int amd_attr(const struct l4_query *q, const struct l4_attr *a, struct amd *s, struct l4_code *out)
{
	const struct l4_mask *m = &l4_masks(q->ev.row)[a->number];

	if (a->kind == ATTR_RAW) {
		out->raw = true;
		out->raw_mask = a->value;
		s->bits = a->value;
		s->served = ~0u;
		return a->value > 0xff ? PFM_ERR_ATTR : PFM_SUCCESS;
	}
	if (a->kind == ATTR_MOD) {
		s->value[a->number] = a->value;
		s->given |= 1u << a->number;
		return a->number == AC && a->value > 255 ? PFM_ERR_ATTR_VAL : PFM_SUCCESS;
	}
	if (a->kind != ATTR_MASK)
		return PFM_SUCCESS;
	if (m->flags & F_NCOMBO)
		s->alone |= 1u << m->group;
	if ((s->served & s->alone) >> m->group & 1)
		return PFM_ERR_FEATCOMB;
	s->served |= 1u << m->group;
	s->bits |= m->code;
	l4_set(out->masks, a->number);
	return PFM_SUCCESS;
}

static void amd_word(const struct l4_query *q, int plm, struct amd *s, struct l4_code *out)
{
	static const uint8_t at[] = { 17, 16, 18, 23, 24, 41, 40 };
	uint64_t code = q->ev.row->code;
	uint32_t mods = q->ev.row->mods;

	if (!(s->given & (1u << AK | 1u << AU | 1u << AH))) {
		s->value[AK] = plm & PFM_PLM0 ? 1 : 0;
		s->value[AU] = plm & PFM_PLM3 ? 1 : 0;
		s->value[AH] = plm & PFM_PLMH ? 1 : 0;
		/* Where the hypervisor has no modifier it has no bit either; libpfm4 sets it. */
		if (!l4_exact() && (mods & 1u << AK) && !(mods & 1u << AH))
			s->value[AH] = 0;
	}
	out->word[0] = (code & 0xff) | (code >> 8 & 15) << 32 | 0x500000 | (s->bits & 0xff) << 8;
	for (unsigned i = 0; i < 7; i++) {
		out->word[0] |= s->value[i] << at[i];
		out->value[i] = s->value[i];
	}
}

int l4_encode_amd64(const struct l4_query *q, int plm, struct l4_code *out)
{
	struct amd s = { 0 };
	int rc = PFM_SUCCESS;

	start(q, out);
	for (unsigned i = 0; i < q->n && !rc; i++)
		rc = amd_attr(q, &q->a[i], &s, out);
	for (uint32_t g = 0; g < q->ev.row->groups && !rc; g++)
		if (!(s.served >> g & 1))
			rc = amd_default(q, g, &s.bits, out);
	amd_word(q, plm, &s, out);
	return rc;
}

/* ---- Netburst ------------------------------------------------------------------------------------------------- */

enum { NU,
       NK,
       CMPL,
       NE,
       THR };

static const char replay[] = "replay_event";

static int netburst_masks(const struct l4_query *q, uint64_t *events, uint64_t *tags, struct l4_code *out)
{
	const struct l4_mask *m = l4_masks(q->ev.row);
	bool any = false;

	for (unsigned i = 0; i < q->n; i++)
		if (q->a[i].kind == ATTR_MASK) {
			l4_set(out->masks, q->a[i].number);
			any = true;
		}
	for (unsigned i = 0; i < q->ev.row->n_masks && !any; i++)
		if (m[i].flags & F_DFL) {
			l4_set(out->masks, i);
			l4_set(out->by_default, i);
			any = true;
		}
	for (unsigned i = 0; i < q->ev.row->n_masks; i++)
		if (l4_has(out->masks, i))
			*(m[i].code < 16 ? events : tags) |= 1ull << (m[i].code & 15);
	if (strcmp(l4_text(q->ev.row->name), replay) == 0)
		*events &= 3;
	return any ? PFM_SUCCESS : PFM_ERR_ATTR;
}

int l4_encode_netburst(const struct l4_query *q, int plm, struct l4_code *out)
{
	static const unsigned bits[] = { PFM_PLM3, PFM_PLM0 };
	uint64_t events = 0, tags = 0, *v = out->value, code = q->ev.row->code;
	unsigned levels = l4_levels(q, (unsigned)plm, bits, 2), user, kernel;
	int rc;

	start(q, out);
	for (unsigned i = 0; i < q->n; i++) {
		if (q->a[i].kind != ATTR_MOD)
			continue;
		v[q->a[i].number] = q->a[i].value;
		if (q->a[i].number == THR && q->a[i].value > 15)
			return PFM_ERR_ATTR_VAL;
	}
	rc = netburst_masks(q, &events, &tags, out);
	user = levels & PFM_PLM3 ? 1 : 0;
	kernel = levels & PFM_PLM0 ? 1 : 0;
	v[NU] = user;
	v[NK] = kernel;
	out->word[0] = user * 5 | kernel * 10 | (tags ? 1u << 4 | tags << 5 : 0) | events << 9 | (code & 0x3f) << 25;
	out->word[1] = 1u << 12 | (code >> 8 & 7) << 13 | 3u << 16 | (v[NE] || v[CMPL] || v[THR] ? 1u << 18 : 0) |
	               v[CMPL] << 19 | v[THR] << 20 |
	               v[NE] << 24;
	out->n = 2;
	out->shown = (1u << THR << 1) - 1;
	return rc;
}

/* ---- Arm, MIPS, SPARC ----------------------------------------------------------------------------------------- */

/* libpfm4 has the bits of user and kernel the wrong way round, and that of the hypervisor upside down. */
int l4_encode_arm(const struct l4_query *q, int plm, struct l4_code *out)
{
	static const unsigned bits[] = { PFM_PLM0, PFM_PLM3, PFM_PLMH };
	unsigned levels = l4_levels(q, (unsigned)plm, bits, 3);
	bool kernel = levels & PFM_PLM0, user = levels & PFM_PLM3, hyp = levels & PFM_PLMH;

	start(q, out);
	if (!q->ev.row->mods)
		return PFM_SUCCESS;
	if (l4_exact())
		out->word[0] |= (kernel ? 0 : 1u << 30) | (user ? 0 : 1u << 31) | (hyp ? 0 : 1u << 27);
	else
		out->word[0] |= (kernel ? 0 : 1u << 31) | (user ? 0 : 1u << 30) | (hyp ? 1u << 27 : 0);
	out->value[0] = kernel;
	out->value[1] = user;
	out->value[2] = hyp;
	return PFM_SUCCESS;
}

int l4_encode_mips(const struct l4_query *q, int plm, struct l4_code *out)
{
	static const unsigned bits[] = { PFM_PLM0, PFM_PLM3, PFM_PLM1, PFM_PLM2 };
	unsigned levels = l4_levels(q, (unsigned)plm, bits, 4);
	uint64_t code = q->ev.row->code;

	start(q, out);
	out->word[0] = (code & 0x7f) << 5;
	out->word[1] = code < 2 ? 0xf : code & 0x80 ? 0xa
	                                            : 0x5;
	out->n = 2;
	for (unsigned i = 0; i < 4; i++) {
		static const uint8_t at[] = { 1, 3, 2, 0 };

		out->value[i] = levels & bits[i] ? 1 : 0;
		out->word[0] |= out->value[i] << at[i];
	}
	return PFM_SUCCESS;
}

int l4_encode_sparc(const struct l4_query *q, int plm, struct l4_code *out)
{
	(void)plm;
	start(q, out);
	for (unsigned i = 0; i < q->n; i++)
		if (q->a[i].kind == ATTR_MASK) {
			l4_set(out->masks, q->a[i].number);
			out->word[0] |= l4_masks(q->ev.row)[q->a[i].number].code << 24;
		}
	out->word[1] = q->ev.row->pic;
	out->n = 2;
	out->shown = 0;
	return PFM_SUCCESS;
}

/* ---- one word ------------------------------------------------------------------------------------------------- */

int l4_encode_plain(const struct l4_query *q, int plm, struct l4_code *out)
{
	(void)plm;
	start(q, out);
	out->shown = 0;
	if (q->ev.encoder == L4_PERF_RAW)
		out->word[0] = q->raw;
	return PFM_SUCCESS;
}

/* One mask of each group; tracepoints have one group. */
int l4_encode_perf(const struct l4_query *q, int plm, struct l4_code *out)
{
	const struct l4_mask *m = l4_masks(q->ev.row);
	uint32_t served = 0;

	(void)plm;
	start(q, out);
	out->shown = 0;
	if (q->ev.traced)
		out->word[0] = 0;
	for (unsigned i = 0; i < q->n; i++) {
		const struct l4_attr *a = &q->a[i];

		if (a->kind != ATTR_MASK)
			continue;
		if (served >> (q->ev.traced ? 0 : m[a->number].group) & 1)
			return q->ev.traced ? PFM_ERR_FEATCOMB : PFM_ERR_UMASK;
		served |= 1u << (q->ev.traced ? 0 : m[a->number].group);
		if (q->ev.traced)
			l4_trace_point(q->ev.pos, a->number, &out->word[0]);
		else
			out->word[0] |= m[a->number].code;
		if (!q->ev.traced)
			l4_set(out->masks, a->number);
	}
	if (q->ev.traced)
		return served || l4_exact() ? PFM_SUCCESS : PFM_ERR_UMASK;
	for (unsigned i = 0; i < q->ev.row->n_masks; i++)
		if ((m[i].flags & F_DFL) && !(served >> m[i].group & 1)) {
			out->word[0] |= m[i].code;
			l4_set(out->masks, i);
		}
	return PFM_SUCCESS;
}

int l4_encode(const struct l4_query *q, int plm, struct l4_code *out)
{
	static int (*const by_encoder[L4_ENCODERS])(const struct l4_query *, int, struct l4_code *) = {
		[L4_CORE] = l4_encode_core,
		[L4_NHM_UNC] = l4_encode_nhm_unc,
		[L4_EP_UNC] = l4_encode_ep_unc,
		[L4_AMD64] = l4_encode_amd64,
		[L4_ARM] = l4_encode_arm,
		[L4_PLAIN] = l4_encode_plain,
		[L4_SPARC] = l4_encode_sparc,
		[L4_MIPS] = l4_encode_mips,
		[L4_NETBURST] = l4_encode_netburst,
		[L4_PERF] = l4_encode_perf,
		[L4_PERF_RAW] = l4_encode_plain,
		[L4_TORRENT] = l4_encode_plain,
		[L4_ARCH] = l4_encode_core,
	};

	return by_encoder[q->ev.encoder](q, plm, out);
}
