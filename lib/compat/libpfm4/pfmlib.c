/* SPDX-License-Identifier: MIT */
/* The thirteen functions of libpfm4's interface. */
#include <perfmon/pfmlib_perf_event.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "compat/libpfm4/l4.h"

#define EXPORT __attribute__((visibility("default")))

#define ATTR_FIRST    64                                               /* bytes of the first perf_event_attr */
#define ATTR_LAST     136                                              /* no more than this is the caller's */
#define ATTR_INFO_OWN (sizeof(pfm_event_attr_info_t) + sizeof(void *)) /* what libpfm4 reports as the size of its own structure */

/* ---- structures ----------------------------------------------------------------------------------------------- */

/* True if a caller's structure of @size bytes (0: the first version's) is one we can fill. Of a larger one all that we do not know
 * must be zero. @own: bytes we report; @known: bytes of the public structure. */
static bool is_size(const void *s, size_t size, size_t first, size_t own)
{
	const unsigned char *bytes = s;

	if (size == 0)
		return true;
	if (size < first)
		return false;
	for (size_t i = own; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

/* ---- start, end, errors --------------------------------------------------------------------------------------- */

EXPORT pfm_err_t pfm_initialize(void)
{
	return l4_start();
}

EXPORT void pfm_terminate(void)
{
	l4_stop();
}

EXPORT int pfm_get_version(void)
{
	return LIBPFM_VERSION;
}

EXPORT const char *pfm_strerror(int code)
{
	static const char texts[][48] = { "success", "not supported", "invalid parameters", "pfmlib not initialized", "event not found",
		                          "invalid combination of model specific features", "invalid or missing unit mask",
		                          "out of memory", "invalid event attribute",
		                          "invalid event attribute value", "attribute value already set", "too many parameters",
		                          "parameter is too small" };

	return code > 0 || code < PFM_ERR_TOOSMALL ? "unknown error code" : texts[-code];
}

/* ---- PMUs ----------------------------------------------------------------------------------------------------- */

EXPORT pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *out)
{
	pfm_pmu_info_t info = { 0 };
	const struct l4_unit *u;
	unsigned version, missing, general, fixed;
	int unit;

	if (!l4_ready())
		return PFM_ERR_NOINIT;
	if ((int)pmu < 0 || (unsigned)pmu >= L4_IDS || !out || !is_size(out, out->size, PFM_PMU_INFO_ABI0, sizeof(*out)))
		return PFM_ERR_INVAL;
	unit = l4_unit_by_id((unsigned)pmu);
	if (unit < 0 || !l4_exists((uint32_t)unit))
		return PFM_ERR_NOTSUPP;
	u = l4_unit((uint32_t)unit);
	info.name = l4_text(u->name);
	info.desc = l4_text(u->desc);
	info.size = sizeof(info);
	info.pmu = pmu;
	info.type = u->type;
	info.nevents = (int)l4_event_count((uint32_t)unit);
	info.first_event = l4_first_index((uint32_t)unit);
	info.max_encoding = u->words;
	info.num_cntrs = u->counters;
	info.num_fixed_cntrs = u->fixed;
	if ((u->flags & U_MACHINES) && u->host == L4_HOST_SYSFS) /* each event is a counter of its own */
		info.num_fixed_cntrs = info.nevents;
	if (l4_table(u)->encoder == L4_ARCH) {
		l4_arch(&version, &missing, &general, &fixed);
		info.num_cntrs = (int)general;
		info.num_fixed_cntrs = (int)fixed;
	}
	info.is_present = l4_active((uint32_t)unit);
	info.is_dfl = (u->flags & U_DEFAULT) != 0;
	*out = info;
	return PFM_SUCCESS;
}

/* ---- events --------------------------------------------------------------------------------------------------- */

EXPORT int pfm_get_event_next(int idx)
{
	struct l4_event ev;
	uint32_t pos, end;
	int unit = idx < 0 ? -1 : l4_unit_by_id((unsigned)idx >> L4_POS_BITS);

	if (!l4_ready() || unit < 0 || !l4_exists((uint32_t)unit))
		return -1;
	end = l4_event_end((uint32_t)unit);
	for (pos = ((uint32_t)idx & ((1u << L4_POS_BITS) - 1)) + 1; pos < end; pos++)
		if (l4_event_at((uint32_t)unit, pos, &ev))
			return l4_index(&ev);
	return -1;
}

EXPORT int pfm_find_event(const char *str)
{
	struct l4_query q;
	int rc;

	if (!l4_ready())
		return PFM_ERR_NOINIT;
	if (!str)
		return PFM_ERR_INVAL;
	rc = l4_parse(str, PFM_OS_NONE, &q);
	return rc ? rc : l4_index(&q.ev);
}

static bool is_os(pfm_os_t os)
{
	return (unsigned)os < PFM_OS_MAX;
}

static unsigned speculation(const struct l4_event *ev)
{
	if (!(ev->u->flags & U_SPECULATION) || (ev->encoder != L4_CORE && ev->encoder != L4_EP_UNC))
		return PFM_EVENT_INFO_SPEC_NA;
	return ev->row->flags & F_SPEC ? PFM_EVENT_INFO_SPEC_TRUE : PFM_EVENT_INFO_SPEC_FALSE;
}

/* Whether samples can come out of hardware's own buffer. libpfm4 takes the flag of C-boxes for that of cores. */
static bool samples(const struct l4_event *ev, uint32_t flags)
{
	bool intel = ev->encoder <= L4_EP_UNC || ev->encoder == L4_PERF;
	bool every = ev->encoder == L4_CORE && (ev->u->flags & U_PEBS_ALL);
	bool cbox = ev->encoder == L4_EP_UNC && (ev->u->flags & U_CBOX) && l4_exact();

	return intel && ((flags & F_PEBS) || every || cbox);
}

static bool is_precise(const struct l4_event *ev, uint32_t flags)
{
	return (ev->encoder <= L4_EP_UNC || ev->encoder == L4_PERF) && (flags & F_PEBS);
}

EXPORT pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *out)
{
	pfm_event_info_t info = { 0 };
	struct l4_event ev;
	struct l4_attrs list;

	if (!l4_ready())
		return PFM_ERR_NOINIT;
	if (!is_os(os) || !l4_event_index(idx, &ev) || !out || !is_size(out, out->size, PFM_EVENT_INFO_ABI0, sizeof(*out)))
		return PFM_ERR_INVAL;
	if (os != PFM_OS_NONE && !l4_os_active())
		return PFM_ERR_NOTSUPP;
	l4_attrs(&ev, os, &list);
	info.name = l4_event_name(&ev);
	info.desc = ev.traced ? "tracepoints of a subsystem" : l4_text(ev.row->desc);
	info.equiv = !ev.traced && ev.row->equiv ? l4_text(ev.row->equiv) : NULL;
	info.size = sizeof(info);
	info.code = ev.traced ? 0 : ev.row->code;
	info.pmu = ev.u->id;
	info.dtype = PFM_DTYPE_UINT64;
	info.idx = idx;
	info.nattrs = (int)(list.n_masks + l4_bits(list.mods) + l4_bits(list.os));
	info.is_speculative = speculation(&ev) & 3;
	info.is_precise = !ev.traced && is_precise(&ev, ev.row->flags);
	info.support_hw_smpl = !ev.traced && samples(&ev, ev.row->flags);
	*out = info;
	return PFM_SUCCESS;
}

/* ---- attributes ----------------------------------------------------------------------------------------------- */

static uint64_t mask_code(const struct l4_event *ev, const struct l4_mask *m)
{
	if (ev->encoder > L4_EP_UNC && ev->encoder != L4_ARCH)
		return m->code;
	if (m->flags & F_CODE_OVERRIDE)
		return m->code;
	if (m->code >> 8 == 0 && ev->encoder == L4_EP_UNC && strncmp(l4_text(ev->u->name), "snbep_unc_cbo", 13) == 0)
		return l4_filter(m)->word[0];
	return m->code >> 8;
}

static void describe_mask(const struct l4_event *ev, unsigned number, pfm_event_attr_info_t *info)
{
	const struct l4_mask *m = &l4_masks(ev->row)[number];
	bool plain = !(m->flags & F_NO_MODS);

	info->type = !ev->traced && F_KIND(m->flags) ? F_KIND(m->flags) : PFM_ATTR_UMASK;
	info->ctrl = PFM_ATTR_CTRL_PMU;
	if (ev->traced) {
		l4_trace_point(ev->pos, number, &info->code);
		return;
	}
	info->desc = l4_text(m->desc);
	info->code = mask_code(ev, m);
	info->equiv = m->equiv ? l4_text(m->equiv) : NULL;
	info->is_dfl = (m->flags & F_DFL) && ev->encoder != L4_SPARC && ev->encoder != L4_PERF;
	if (ev->encoder > L4_EP_UNC)
		return;
	info->is_precise = plain && is_precise(ev, m->flags);
	info->support_hw_smpl = plain && samples(ev, m->flags);
	info->support_no_mods = !plain;
	info->is_speculative = speculation(ev) & 3;
}

static void describe_attr(const struct l4_event *ev, const struct l4_attr *a, pfm_event_attr_info_t *info)
{
	const struct l4_mod *mod;

	info->name = l4_attr_name(ev, a);
	info->desc = "";
	if (a->kind == ATTR_MASK) {
		describe_mask(ev, a->number, info);
		return;
	}
	mod = a->kind == ATTR_OS ? &l4_os_attrs[a->number] : &l4_mods[ev->encoder][a->number];
	info->desc = mod->desc;
	info->code = a->number;
	info->type = mod->number ? PFM_ATTR_MOD_INTEGER : PFM_ATTR_MOD_BOOL;
	info->ctrl = a->kind == ATTR_OS ? PFM_ATTR_CTRL_PERF_EVENT : PFM_ATTR_CTRL_PMU;
}

EXPORT pfm_err_t pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os, pfm_event_attr_info_t *out)
{
	pfm_event_attr_info_t info = { 0 };
	struct l4_event ev;
	struct l4_attrs list;
	struct l4_attr a;

	if (!l4_ready())
		return PFM_ERR_NOINIT;
	if (aidx < 0 || !is_os(os) || !l4_event_index(eidx, &ev) || !out || !is_size(out, out->size, PFM_ATTR_INFO_ABI0, ATTR_INFO_OWN))
		return PFM_ERR_INVAL;
	l4_attrs(&ev, os, &list);
	if (!l4_attr_at(&ev, &list, (unsigned)aidx, &a))
		return PFM_ERR_INVAL;
	describe_attr(&ev, &a, &info);
	info.size = ATTR_INFO_OWN;
	info.idx = aidx;
	*out = info;
	return PFM_SUCCESS;
}

/* ---- encoding ------------------------------------------------------------------------------------------------- */

/* Words into the caller's array, or into one made for him. */
static int hand_out(const struct l4_code *c, pfm_pmu_encode_arg_t *arg)
{
	uint64_t *codes = arg->codes;

	if (!codes) {
		codes = malloc(c->n * sizeof(codes[0]));
		if (!codes)
			return PFM_ERR_NOMEM;
	} else if (arg->count < (int)c->n) {
		return PFM_ERR_TOOSMALL;
	}
	memcpy(codes, c->word, c->n * sizeof(codes[0]));
	arg->codes = codes;
	arg->count = (int)c->n;
	return PFM_SUCCESS;
}

static int encode_raw(const char *str, int plm, pfm_pmu_encode_arg_t *arg)
{
	struct l4_query q;
	struct l4_code c;
	char *text = NULL;
	int rc = l4_parse(str, PFM_OS_NONE, &q);

	if (rc == PFM_SUCCESS)
		rc = l4_encode(&q, plm, &c);
	if (rc == PFM_SUCCESS && arg->fstr)
		rc = l4_string(&q, &c, NULL, &text);
	if (rc == PFM_SUCCESS)
		rc = hand_out(&c, arg);
	if (rc) {
		free(text);
		return rc;
	}
	if (arg->fstr)
		*arg->fstr = text;
	arg->idx = l4_index(&q.ev);
	return PFM_SUCCESS;
}

static size_t attr_size(const struct perf_event_attr *attr)
{
	size_t size = attr->size ? attr->size : ATTR_FIRST;

	size = size < ATTR_LAST ? size : ATTR_LAST;
	return size < sizeof(*attr) ? size : sizeof(*attr);
}

static int encode_perf(const char *str, int plm, pfm_os_t os, pfm_perf_encode_arg_t *arg)
{
	struct perf_event_attr attr = { 0 };
	struct l4_query q;
	struct l4_code c;
	struct l4_perf perf;
	char *text = NULL;
	int rc = l4_parse(str, os, &q);

	if (rc == PFM_SUCCESS)
		rc = l4_encode(&q, plm, &c);
	if (rc)
		return rc;
	memcpy(&attr, arg->attr, attr_size(arg->attr));
	rc = l4_perf_attr(&q, &c, plm, &attr, arg->fstr != NULL, &perf);
	if (rc == PFM_SUCCESS && arg->fstr)
		rc = l4_string(&q, &c, &perf, &text);
	if (rc)
		return rc;
	memcpy(arg->attr, &attr, attr_size(arg->attr));
	if (arg->fstr)
		*arg->fstr = text;
	arg->idx = l4_index(&q.ev);
	arg->cpu = perf.cpu;
	return PFM_SUCCESS;
}

EXPORT pfm_err_t pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os, void *args)
{
	pfm_pmu_encode_arg_t *raw = args;
	pfm_perf_encode_arg_t *perf = args;

	if (!l4_ready())
		return PFM_ERR_NOINIT;
	if (!str || !args || (dfl_plm & ~L4_LEVELS))
		return PFM_ERR_INVAL;
	if (!is_os(os) || (os != PFM_OS_NONE && !l4_os_active()))
		return PFM_ERR_NOTSUPP;
	if (os == PFM_OS_NONE)
		return is_size(raw, raw->size, PFM_RAW_ENCODE_ABI0, sizeof(*raw)) ? encode_raw(str, dfl_plm, raw) : PFM_ERR_INVAL;
	if (!is_size(perf, perf->size, PFM_PERF_ENCODE_ABI0, sizeof(*perf)) || !perf->attr)
		return PFM_ERR_INVAL;
	return encode_perf(str, dfl_plm, os, perf);
}

EXPORT pfm_err_t pfm_get_event_encoding(const char *str, int dfl_plm, char **fstr, int *idx, uint64_t **codes, int *count)
{
	pfm_pmu_encode_arg_t arg = { .fstr = fstr, .size = sizeof(arg) };
	int rc;

	if (!str || !codes || !count || (*codes && !*count) || (!*codes && *count))
		return PFM_ERR_INVAL;
	arg.codes = *codes;
	arg.count = *count;
	rc = pfm_get_os_event_encoding(str, dfl_plm, PFM_OS_NONE, &arg);
	if (rc)
		return rc;
	*codes = arg.codes;
	*count = arg.count;
	if (idx)
		*idx = arg.idx;
	return PFM_SUCCESS;
}

EXPORT pfm_err_t pfm_get_perf_event_encoding(const char *str, int dfl_plm, struct perf_event_attr *attr, char **fstr, int *idx)
{
	pfm_perf_encode_arg_t arg = { .attr = attr, .fstr = fstr, .size = sizeof(arg) };
	int rc;

	if (!l4_ready())
		return PFM_ERR_NOINIT;
	if (!str || !attr || (dfl_plm & ~L4_LEVELS))
		return PFM_ERR_INVAL;
	rc = pfm_get_os_event_encoding(str, dfl_plm, PFM_OS_PERF_EVENT_EXT, &arg);
	if (rc == PFM_SUCCESS && idx)
		*idx = arg.idx;
	return rc;
}

/* ---- self test ------------------------------------------------------------------------------------------------ */

/* Every name of an event must find that event, and every mask must be found among its own event's. */
static unsigned check_event(const struct l4_event *ev, FILE *fp)
{
	const struct l4_mask *m = ev->traced ? NULL : l4_masks(ev->row);
	unsigned faults = 0;

	for (unsigned i = 0; m && i < ev->row->n_masks; i++)
		for (unsigned k = 0; k < i; k++)
			if (m[i].hash == m[k].hash && m[i].only == m[k].only && strcmp(l4_text(m[i].name), l4_text(m[k].name)) == 0 &&
			    l4_mask_valid(ev, &m[i]) && l4_mask_valid(ev, &m[k])) {
				fprintf(fp, "pmu: %s event: %s has unit mask %s twice\n", l4_text(ev->u->name), l4_event_name(ev),
				        l4_text(m[i].name));
				faults++;
			}
	return faults;
}

EXPORT pfm_err_t pfm_pmu_validate(pfm_pmu_t pmu, FILE *fp)
{
	unsigned faults = 0, n = 0;
	struct l4_event ev;
	int unit;

	if (!fp || !l4_ready() || (int)pmu < 0)
		return PFM_ERR_INVAL;
	unit = l4_unit_by_id((unsigned)pmu);
	if (unit < 0 || !l4_exists((uint32_t)unit))
		return PFM_ERR_INVAL;
	for (uint32_t pos = 0; pos < l4_event_end((uint32_t)unit); pos++) {
		if (!l4_event_at((uint32_t)unit, pos, &ev))
			continue;
		faults += check_event(&ev, fp);
		n++;
	}
	if (n != l4_event_count((uint32_t)unit) && l4_unit((uint32_t)unit)->n_events == n)
		faults++;
	fprintf(fp, "pmu: %s: %u events, %u faults\n", l4_text(l4_unit((uint32_t)unit)->name), n, faults);
	return faults ? PFM_ERR_INVAL : PFM_SUCCESS;
}
