/* SPDX-License-Identifier: MIT */
/* All layouts except Intel's: AMD, Netburst, Arm, MIPS, SPARC, POWER, s390, and the kernel's own
 * events. */
#include <string.h>
#include "compat/libpfm4/l4.h"

unsigned l4_get_levels(const struct l4_query *q, unsigned plm, const unsigned *bits, unsigned n,
                       bool sticky)
{
	unsigned levels = 0;
	bool given = false;

	for (unsigned i = 0; i < q->n_attrs; i++) {
		if (q->attrs[i].kind != L4_ATTR_MODIFIER || q->attrs[i].number >= n ||
		    !bits[q->attrs[i].number])
			continue;
		given = true;
		if (q->attrs[i].value)
			levels |= bits[q->attrs[i].number];
		else if (!sticky)
			levels &= ~bits[q->attrs[i].number];
	}
	return given ? levels : plm;
}

static void begin_code(const struct l4_query *q, struct l4_code *out)
{
	memset(out, 0, sizeof(*out));
	out->n_words = 1;
	out->words[0] = q->event.row->code;
	out->shown_modifiers = q->attr_list.modifiers;
	out->effective_modifiers = ~0u;
}

/* ---- AMD ------------------------------------------------------------------------------------- */

enum { AMD_K, AMD_U, AMD_E, AMD_I, AMD_C, AMD_H, AMD_G };

/* Adds the default masks of one group. A group without defaults is an error unless all its masks
 * are optional. */
static int add_amd_defaults(const struct l4_query *q, uint32_t group, uint64_t *bits,
                            struct l4_code *out)
{
	const struct l4_mask *m = l4_get_row_masks(q->event.row);
	bool found = false, omit = true;

	for (unsigned i = 0; i < q->event.row->n_masks; i++) {
		if (m[i].group != group || !l4_has_mask(&q->event, &m[i]))
			continue;
		omit &= (m[i].flags & MASK_AMD_OPTIONAL) != 0;
		if (!(m[i].flags & MASK_IS_DEFAULT))
			continue;
		*bits |= m[i].code;
		l4_set_bit(out->used_masks, i);
		l4_set_bit(out->default_masks, i);
		found = true;
	}
	return found || omit ? PFM_SUCCESS : PFM_ERR_UMASK;
}

struct amd_selection {
	uint64_t mask_bits, modifier_values[7];
	uint32_t served_groups, exclusive_groups, given_modifiers;
};

static int add_amd_attr(const struct l4_query *q, const struct l4_attr *a, struct amd_selection *s,
                        struct l4_code *out)
{
	const struct l4_mask *m = &l4_get_row_masks(q->event.row)[a->number];

	if (a->kind == L4_ATTR_RAW_MASK) {
		out->has_raw_mask = true;
		out->raw_mask = a->value;
		s->mask_bits = a->value;
		s->served_groups = ~0u;
		return a->value > 0xff ? PFM_ERR_ATTR : PFM_SUCCESS;
	}
	if (a->kind == L4_ATTR_MODIFIER) {
		s->modifier_values[a->number] = a->value;
		s->given_modifiers |= 1u << a->number;
		return a->number == AMD_C && a->value > 255 ? PFM_ERR_ATTR_VAL : PFM_SUCCESS;
	}
	if (a->kind != L4_ATTR_MASK)
		return PFM_SUCCESS;
	if (m->flags & MASK_NO_COMBINATION)
		s->exclusive_groups |= 1u << m->group;
	if ((s->served_groups & s->exclusive_groups) >> m->group & 1)
		return PFM_ERR_FEATCOMB;
	s->served_groups |= 1u << m->group;
	s->mask_bits |= m->code;
	l4_set_bit(out->used_masks, a->number);
	return PFM_SUCCESS;
}

static void build_amd_word(const struct l4_query *q, int plm, struct amd_selection *s,
                           struct l4_code *out)
{
	static const uint8_t at[] = { 17, 16, 18, 23, 24, 41, 40 };
	uint64_t code = q->event.row->code;
	uint32_t mods = q->event.row->modifiers;

	if (!(s->given_modifiers & (1u << AMD_K | 1u << AMD_U | 1u << AMD_H))) {
		s->modifier_values[AMD_K] = plm & PFM_PLM0 ? 1 : 0;
		s->modifier_values[AMD_U] = plm & PFM_PLM3 ? 1 : 0;
		s->modifier_values[AMD_H] = plm & PFM_PLMH ? 1 : 0;
		/* PMUs without modifier h lack this bit; libpfm4 sets it. */
		if (!l4_is_exact_mode() && (mods & 1u << AMD_K) && !(mods & 1u << AMD_H))
			s->modifier_values[AMD_H] = 0;
	}
	out->words[0] =
		(code & 0xff) | (code >> 8 & 15) << 32 | 0x500000 | (s->mask_bits & 0xff) << 8;
	for (unsigned i = 0; i < 7; i++) {
		out->words[0] |= s->modifier_values[i] << at[i];
		out->modifier_values[i] = s->modifier_values[i];
	}
}

static int encode_amd64(const struct l4_query *q, int plm, struct l4_code *out)
{
	struct amd_selection s = { 0 };
	int rc = PFM_SUCCESS;

	begin_code(q, out);
	for (unsigned i = 0; i < q->n_attrs && !rc; i++)
		rc = add_amd_attr(q, &q->attrs[i], &s, out);
	for (uint32_t g = 0; g < q->event.row->n_groups && !rc; g++)
		if (!(s.served_groups >> g & 1))
			rc = add_amd_defaults(q, g, &s.mask_bits, out);
	build_amd_word(q, plm, &s, out);
	return rc;
}

/* ---- Netburst -------------------------------------------------------------------------------- */

enum { NETBURST_U, NETBURST_K, NETBURST_CMPL, NETBURST_E, NETBURST_THR };

static const char replay_event_name[] = "replay_event";

static int collect_netburst_masks(const struct l4_query *q, uint64_t *events, uint64_t *tags,
                                  struct l4_code *out)
{
	const struct l4_mask *m = l4_get_row_masks(q->event.row);
	bool any = false;

	for (unsigned i = 0; i < q->n_attrs; i++)
		if (q->attrs[i].kind == L4_ATTR_MASK) {
			l4_set_bit(out->used_masks, q->attrs[i].number);
			any = true;
		}
	for (unsigned i = 0; i < q->event.row->n_masks && !any; i++)
		if (m[i].flags & MASK_IS_DEFAULT) {
			l4_set_bit(out->used_masks, i);
			l4_set_bit(out->default_masks, i);
			any = true;
		}
	for (unsigned i = 0; i < q->event.row->n_masks; i++)
		if (l4_has_bit(out->used_masks, i))
			*(m[i].code < 16 ? events : tags) |= 1ull << (m[i].code & 15);
	if (strcmp(l4_get_text(q->event.row->name), replay_event_name) == 0)
		*events &= 3;
	return any ? PFM_SUCCESS : PFM_ERR_ATTR;
}

static int encode_netburst(const struct l4_query *q, int plm, struct l4_code *out)
{
	static const unsigned bits[] = { PFM_PLM3, PFM_PLM0 };
	uint64_t events = 0, tags = 0, *v = out->modifier_values, code = q->event.row->code;
	unsigned levels = l4_get_levels(q, (unsigned)plm, bits, 2, false), user, kernel;
	int rc;

	begin_code(q, out);
	for (unsigned i = 0; i < q->n_attrs; i++) {
		if (q->attrs[i].kind != L4_ATTR_MODIFIER)
			continue;
		if (q->attrs[i].value) /* like libpfm4, 0 does not clear a value that was set */
			v[q->attrs[i].number] = q->attrs[i].value;
		if (q->attrs[i].number == NETBURST_THR && q->attrs[i].value > 15)
			return PFM_ERR_ATTR_VAL;
	}
	rc = collect_netburst_masks(q, &events, &tags, out);
	user = levels & PFM_PLM3 ? 1 : 0;
	kernel = levels & PFM_PLM0 ? 1 : 0;
	v[NETBURST_U] = user;
	v[NETBURST_K] = kernel;
	out->words[0] = user * 5 | kernel * 10 | (tags ? 1u << 4 | tags << 5 : 0) | events << 9 |
	                (code & 0x3f) << 25;
	out->words[1] = 1u << 12 | (code >> 8 & 7) << 13 | 3u << 16 |
	                (v[NETBURST_E] || v[NETBURST_CMPL] || v[NETBURST_THR] ? 1u << 18 : 0) |
	                v[NETBURST_CMPL] << 19 | v[NETBURST_THR] << 20 | v[NETBURST_E] << 24;
	out->n_words = 2;
	out->shown_modifiers = (1u << NETBURST_THR << 1) - 1;
	return rc;
}

/* ---- Arm, MIPS, SPARC ------------------------------------------------------------------------ */

/* libpfm4 swaps the bits of user and kernel, and inverts that of the hypervisor. */
static int encode_arm(const struct l4_query *q, int plm, struct l4_code *out)
{
	static const unsigned bits[] = { PFM_PLM0, PFM_PLM3, PFM_PLMH };
	unsigned levels = l4_get_levels(q, (unsigned)plm, bits, 3, true);
	bool kernel = levels & PFM_PLM0, user = levels & PFM_PLM3, hyp = levels & PFM_PLMH;

	begin_code(q, out);
	if (!q->event.row->modifiers)
		return PFM_SUCCESS;
	if (l4_is_exact_mode())
		out->words[0] |=
			(kernel ? 0 : 1u << 30) | (user ? 0 : 1u << 31) | (hyp ? 0 : 1u << 27);
	else
		out->words[0] |=
			(kernel ? 0 : 1u << 31) | (user ? 0 : 1u << 30) | (hyp ? 1u << 27 : 0);
	out->modifier_values[0] = kernel;
	out->modifier_values[1] = user;
	out->modifier_values[2] = hyp;
	return PFM_SUCCESS;
}

static int encode_mips(const struct l4_query *q, int plm, struct l4_code *out)
{
	static const unsigned bits[] = { PFM_PLM0, PFM_PLM3, PFM_PLM1, PFM_PLM2 };
	unsigned levels = l4_get_levels(q, (unsigned)plm, bits, 4, false);
	uint64_t code = q->event.row->code;

	begin_code(q, out);
	out->words[0] = (code & 0x7f) << 5;
	out->words[1] = code < 2 ? 0xf : code & 0x80 ? 0xa : 0x5;
	out->n_words = 2;
	for (unsigned i = 0; i < 4; i++) {
		static const uint8_t at[] = { 1, 3, 2, 0 };

		out->modifier_values[i] = levels & bits[i] ? 1 : 0;
		out->words[0] |= out->modifier_values[i] << at[i];
	}
	return PFM_SUCCESS;
}

static int encode_sparc(const struct l4_query *q, int plm, struct l4_code *out)
{
	(void)plm;
	begin_code(q, out);
	for (unsigned i = 0; i < q->n_attrs; i++)
		if (q->attrs[i].kind == L4_ATTR_MASK) {
			l4_set_bit(out->used_masks, q->attrs[i].number);
			out->words[0] |= l4_get_row_masks(q->event.row)[q->attrs[i].number].code
			                 << 24;
		}
	out->words[1] = q->event.row->counter_pins;
	out->n_words = 2;
	out->shown_modifiers = 0;
	return PFM_SUCCESS;
}

/* ---- one word -------------------------------------------------------------------------------- */

static int encode_plain(const struct l4_query *q, int plm, struct l4_code *out)
{
	(void)plm;
	begin_code(q, out);
	out->shown_modifiers = 0;
	if (q->event.encoder == L4_ENCODER_PERF_RAW)
		out->words[0] = q->raw_code;
	return PFM_SUCCESS;
}

/* Encodes one mask of each group; tracepoints have one group. */
static int encode_perf(const struct l4_query *q, int plm, struct l4_code *out)
{
	const struct l4_mask *m = l4_get_row_masks(q->event.row);
	uint32_t served = 0;

	(void)plm;
	begin_code(q, out);
	out->shown_modifiers = 0;
	if (q->event.is_tracepoint_system)
		out->words[0] = 0;
	for (unsigned i = 0; i < q->n_attrs; i++) {
		const struct l4_attr *a = &q->attrs[i];

		if (a->kind != L4_ATTR_MASK)
			continue;
		if (served >> (q->event.is_tracepoint_system ? 0 : m[a->number].group) & 1)
			return q->event.is_tracepoint_system ? PFM_ERR_FEATCOMB : PFM_ERR_UMASK;
		served |= 1u << (q->event.is_tracepoint_system ? 0 : m[a->number].group);
		if (q->event.is_tracepoint_system)
			l4_get_tracepoint_name(q->event.position, a->number, &out->words[0]);
		else
			out->words[0] |= m[a->number].code;
		if (!q->event.is_tracepoint_system)
			l4_set_bit(out->used_masks, a->number);
	}
	if (q->event.is_tracepoint_system)
		return served || l4_is_exact_mode() ? PFM_SUCCESS : PFM_ERR_UMASK;
	for (unsigned i = 0; i < q->event.row->n_masks; i++)
		if ((m[i].flags & MASK_IS_DEFAULT) && !(served >> m[i].group & 1)) {
			out->words[0] |= m[i].code;
			l4_set_bit(out->used_masks, i);
		}
	return PFM_SUCCESS;
}

int l4_encode(const struct l4_query *q, int plm, struct l4_code *out)
{
	static int (*const by_encoder[L4_N_ENCODERS])(const struct l4_query *, int,
	                                              struct l4_code *) = {
		[L4_ENCODER_CORE] = l4_encode_core,      [L4_ENCODER_NHM_UNC] = l4_encode_nhm_unc,
		[L4_ENCODER_EP_UNC] = l4_encode_ep_unc,  [L4_ENCODER_AMD64] = encode_amd64,
		[L4_ENCODER_ARM] = encode_arm,           [L4_ENCODER_PLAIN] = encode_plain,
		[L4_ENCODER_SPARC] = encode_sparc,       [L4_ENCODER_MIPS] = encode_mips,
		[L4_ENCODER_NETBURST] = encode_netburst, [L4_ENCODER_PERF] = encode_perf,
		[L4_ENCODER_PERF_RAW] = encode_plain,    [L4_ENCODER_TORRENT] = encode_plain,
		[L4_ENCODER_ARCH] = l4_encode_core,
	};

	return by_encoder[q->event.encoder](q, plm, out);
}
