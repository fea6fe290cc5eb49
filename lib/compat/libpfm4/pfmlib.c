/* SPDX-License-Identifier: MIT */
/* The thirteen functions of libpfm4's interface. */
#include <perfmon/pfmlib_perf_event.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "compat/libpfm4/l4.h"

#define EXPORT __attribute__((visibility("default")))

#define PERF_ATTR_FIRST_SIZE 64  /* bytes of the first perf_event_attr */
#define PERF_ATTR_LAST_SIZE  136 /* at most these bytes of a caller's are read and written */
#define ATTR_INFO_OWN_SIZE                                                                         \
	(sizeof(pfm_event_attr_info_t) + sizeof(void *)) /* the size that libpfm4 reports */

/* ---- structures ------------------------------------------------------------------------------ */

/* True if a caller's structure of @size bytes (0: the first version) can be filled: it has at least
 * @first bytes, and all bytes after @own are zero. */
static bool is_valid_size(const void *s, size_t size, size_t first, size_t own)
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

/* ---- start, end, errors ---------------------------------------------------------------------- */

EXPORT pfm_err_t pfm_initialize(void)
{
	l4_initialize();
	return PFM_SUCCESS;
}

EXPORT void pfm_terminate(void)
{
	l4_terminate();
}

EXPORT int pfm_get_version(void)
{
	return LIBPFM_VERSION;
}

EXPORT const char *pfm_strerror(int code)
{
	static const char texts[][48] = { "success",
		                          "not supported",
		                          "invalid parameters",
		                          "pfmlib not initialized",
		                          "event not found",
		                          "invalid combination of model specific features",
		                          "invalid or missing unit mask",
		                          "out of memory",
		                          "invalid event attribute",
		                          "invalid event attribute value",
		                          "attribute value already set",
		                          "too many parameters",
		                          "parameter is too small" };

	return code > 0 || code < PFM_ERR_TOOSMALL ? "unknown error code" : texts[-code];
}

/* ---- PMUs ------------------------------------------------------------------------------------ */

EXPORT pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *out)
{
	pfm_pmu_info_t info = { 0 };
	const struct l4_pmu *u;
	unsigned version, missing, general, fixed;
	int number;

	if (!l4_is_ready())
		return PFM_ERR_NOINIT;
	if ((int)pmu < 0 || (unsigned)pmu >= L4_MAX_PMU_ID || !out ||
	    !is_valid_size(out, out->size, PFM_PMU_INFO_ABI0, sizeof(*out)))
		return PFM_ERR_INVAL;
	number = l4_find_pmu_by_id((unsigned)pmu);
	if (number < 0 || !l4_is_pmu_enabled((uint32_t)number))
		return PFM_ERR_NOTSUPP;
	u = l4_get_pmu((uint32_t)number);
	info.name = l4_get_text(u->name);
	info.desc = l4_get_text(u->desc);
	info.size = sizeof(info);
	info.pmu = pmu;
	info.type = u->type;
	info.nevents = (int)l4_count_events((uint32_t)number);
	info.first_event = l4_get_first_event_index((uint32_t)number);
	info.max_encoding = u->max_words;
	info.num_cntrs = u->n_counters;
	info.num_fixed_cntrs = u->n_fixed;
	if ((u->flags & PMU_ROWS_BY_MACHINE) &&
	    u->host_kind == L4_HOST_SYSFS) /* each event has a counter of its own */
		info.num_fixed_cntrs = info.nevents;
	if (l4_get_pmu_table(u)->encoder == L4_ENCODER_ARCH) {
		l4_get_arch_pmu(&version, &missing, &general, &fixed);
		info.num_cntrs = (int)general;
		info.num_fixed_cntrs = (int)fixed;
	}
	info.is_present = l4_is_pmu_active((uint32_t)number);
	info.is_dfl = (u->flags & PMU_IS_DEFAULT) != 0;
	*out = info;
	return PFM_SUCCESS;
}

/* ---- events ---------------------------------------------------------------------------------- */

EXPORT int pfm_get_event_next(int idx)
{
	struct l4_event ev;
	uint32_t pos, end;
	int pmu = idx < 0 ? -1 : l4_find_pmu_by_id((unsigned)idx >> L4_POSITION_BITS);

	if (!l4_is_ready() || pmu < 0 || !l4_is_pmu_enabled((uint32_t)pmu))
		return -1;
	end = l4_get_event_end((uint32_t)pmu);
	for (pos = ((uint32_t)idx & ((1u << L4_POSITION_BITS) - 1)) + 1; pos < end; pos++)
		if (l4_get_event((uint32_t)pmu, pos, &ev))
			return l4_make_event_index(&ev);
	return -1;
}

EXPORT int pfm_find_event(const char *str)
{
	struct l4_query q;
	int rc;

	if (!l4_is_ready())
		return PFM_ERR_NOINIT;
	if (!str)
		return PFM_ERR_INVAL;
	rc = l4_parse_event(str, PFM_OS_NONE, &q);
	return rc ? rc : l4_make_event_index(&q.event);
}

static bool is_valid_os(pfm_os_t os)
{
	return (unsigned)os < PFM_OS_MAX;
}

static unsigned get_speculation(const struct l4_event *ev)
{
	if (!(ev->pmu->flags & PMU_REPORTS_SPECULATION) ||
	    (ev->encoder != L4_ENCODER_CORE && ev->encoder != L4_ENCODER_EP_UNC))
		return PFM_EVENT_INFO_SPEC_NA;
	return ev->row->flags & ROW_IS_SPECULATIVE ? PFM_EVENT_INFO_SPEC_TRUE
	                                           : PFM_EVENT_INFO_SPEC_FALSE;
}

/* True if the hardware can write samples to a buffer. libpfm4 confuses the flag of C-boxes with one
 * of cores; the exact mode does too. */
static bool has_hardware_samples(const struct l4_event *ev, uint32_t flags)
{
	bool intel = ev->encoder <= L4_ENCODER_EP_UNC || ev->encoder == L4_ENCODER_PERF;
	bool every = ev->encoder == L4_ENCODER_CORE && (ev->pmu->flags & PMU_PEBS_ON_ALL);
	bool cbox = ev->encoder == L4_ENCODER_EP_UNC && (ev->pmu->flags & PMU_IS_CBOX) &&
	            l4_is_exact_mode();

	return intel && ((flags & ROW_HAS_PEBS) || every || cbox);
}

static bool is_precise_event(const struct l4_event *ev, uint32_t flags)
{
	return (ev->encoder <= L4_ENCODER_EP_UNC || ev->encoder == L4_ENCODER_PERF) &&
	       (flags & ROW_HAS_PEBS);
}

EXPORT pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *out)
{
	pfm_event_info_t info = { 0 };
	struct l4_event ev;
	struct l4_attr_list list;

	if (!l4_is_ready())
		return PFM_ERR_NOINIT;
	if (!is_valid_os(os) || !l4_get_event_by_index(idx, &ev) || !out ||
	    !is_valid_size(out, out->size, PFM_EVENT_INFO_ABI0, sizeof(*out)))
		return PFM_ERR_INVAL;
	if (os != PFM_OS_NONE && !l4_is_os_active())
		return PFM_ERR_NOTSUPP;
	l4_list_attrs(&ev, os, &list);
	info.name = l4_get_event_name(&ev);
	info.desc =
		ev.is_tracepoint_system ? "tracepoints of a subsystem" : l4_get_text(ev.row->desc);
	info.equiv = !ev.is_tracepoint_system && ev.row->alias_target
	                     ? l4_get_text(ev.row->alias_target)
	                     : NULL;
	info.size = sizeof(info);
	info.code = ev.is_tracepoint_system ? 0 : ev.row->code;
	info.pmu = ev.pmu->id;
	info.dtype = PFM_DTYPE_UINT64;
	info.idx = idx;
	info.nattrs =
		(int)(list.n_masks + l4_count_bits(list.modifiers) + l4_count_bits(list.os_attrs));
	info.is_speculative = get_speculation(&ev) & 3;
	info.is_precise = !ev.is_tracepoint_system && is_precise_event(&ev, ev.row->flags);
	info.support_hw_smpl = !ev.is_tracepoint_system && has_hardware_samples(&ev, ev.row->flags);
	*out = info;
	return PFM_SUCCESS;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static uint64_t get_mask_code(const struct l4_event *ev, const struct l4_mask *m)
{
	if (ev->encoder > L4_ENCODER_EP_UNC && ev->encoder != L4_ENCODER_ARCH)
		return m->code;
	if (m->flags & MASK_OVERRIDES_CODE)
		return m->code;
	if (m->code >> 8 == 0 && ev->encoder == L4_ENCODER_EP_UNC &&
	    strncmp(l4_get_text(ev->pmu->name), "snbep_unc_cbo", 13) == 0)
		return l4_get_mask_filter(m)->words[0];
	return m->code >> 8;
}

static void describe_mask(const struct l4_event *ev, unsigned number, pfm_event_attr_info_t *info)
{
	const struct l4_mask *m = &l4_get_row_masks(ev->row)[number];
	bool plain = !(m->flags & MASK_TAKES_NO_MODIFIERS);

	info->type = !ev->is_tracepoint_system && MASK_ATTR_TYPE(m->flags)
	                     ? MASK_ATTR_TYPE(m->flags)
	                     : PFM_ATTR_UMASK;
	info->ctrl = PFM_ATTR_CTRL_PMU;
	if (ev->is_tracepoint_system) {
		l4_get_tracepoint_name(ev->position, number, &info->code);
		return;
	}
	info->desc = l4_get_text(m->desc);
	info->code = get_mask_code(ev, m);
	info->equiv = m->alias_target ? l4_get_text(m->alias_target) : NULL;
	info->is_dfl = (m->flags & MASK_IS_DEFAULT) && ev->encoder != L4_ENCODER_SPARC &&
	               ev->encoder != L4_ENCODER_PERF;
	if (ev->encoder > L4_ENCODER_EP_UNC)
		return;
	info->is_precise = plain && is_precise_event(ev, m->flags);
	info->support_hw_smpl = plain && has_hardware_samples(ev, m->flags);
	info->support_no_mods = !plain;
	info->is_speculative = get_speculation(ev) & 3;
}

static void describe_attr(const struct l4_event *ev, const struct l4_attr *a,
                          pfm_event_attr_info_t *info)
{
	const struct l4_modifier *mod;

	info->name = l4_get_attr_name(ev, a);
	info->desc = "";
	if (a->kind == L4_ATTR_MASK) {
		describe_mask(ev, a->number, info);
		return;
	}
	mod = a->kind == L4_ATTR_OS ? &l4_os_attrs[a->number]
	                            : &l4_modifiers[ev->encoder][a->number];
	info->desc = mod->desc;
	info->code = a->number;
	info->type = mod->is_number ? PFM_ATTR_MOD_INTEGER : PFM_ATTR_MOD_BOOL;
	info->ctrl = a->kind == L4_ATTR_OS ? PFM_ATTR_CTRL_PERF_EVENT : PFM_ATTR_CTRL_PMU;
}

EXPORT pfm_err_t pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os,
                                         pfm_event_attr_info_t *out)
{
	pfm_event_attr_info_t info = { 0 };
	struct l4_event ev;
	struct l4_attr_list list;
	struct l4_attr a;

	if (!l4_is_ready())
		return PFM_ERR_NOINIT;
	if (aidx < 0 || !is_valid_os(os) || !l4_get_event_by_index(eidx, &ev) || !out ||
	    !is_valid_size(out, out->size, PFM_ATTR_INFO_ABI0, ATTR_INFO_OWN_SIZE))
		return PFM_ERR_INVAL;
	l4_list_attrs(&ev, os, &list);
	if (!l4_get_attr(&ev, &list, (unsigned)aidx, &a))
		return PFM_ERR_INVAL;
	describe_attr(&ev, &a, &info);
	info.size = ATTR_INFO_OWN_SIZE;
	info.idx = aidx;
	*out = info;
	return PFM_SUCCESS;
}

/* ---- encoding -------------------------------------------------------------------------------- */

/* Copies the words to the caller's array, or to a new one. */
static int copy_words_to_caller(const struct l4_code *c, pfm_pmu_encode_arg_t *arg)
{
	uint64_t *codes = arg->codes;

	if (!codes) {
		codes = malloc(c->n_words * sizeof(codes[0]));
		if (!codes)
			return PFM_ERR_NOMEM;
	} else if (arg->count < (int)c->n_words) {
		return PFM_ERR_TOOSMALL;
	}
	memcpy(codes, c->words, c->n_words * sizeof(codes[0]));
	arg->codes = codes;
	arg->count = (int)c->n_words;
	return PFM_SUCCESS;
}

static int encode_raw_event(const char *str, int plm, pfm_pmu_encode_arg_t *arg)
{
	struct l4_query q;
	struct l4_code c;
	char *text = NULL;
	int rc = l4_parse_event(str, PFM_OS_NONE, &q);

	if (rc == PFM_SUCCESS)
		rc = l4_encode(&q, plm, &c);
	if (rc == PFM_SUCCESS && arg->fstr)
		rc = l4_format_event(&q, &c, NULL, &text);
	if (rc == PFM_SUCCESS)
		rc = copy_words_to_caller(&c, arg);
	if (rc) {
		free(text);
		return rc;
	}
	if (arg->fstr)
		*arg->fstr = text;
	arg->idx = l4_make_event_index(&q.event);
	return PFM_SUCCESS;
}

static size_t get_attr_size(const struct perf_event_attr *attr)
{
	size_t size = attr->size ? attr->size : PERF_ATTR_FIRST_SIZE;

	size = size < PERF_ATTR_LAST_SIZE ? size : PERF_ATTR_LAST_SIZE;
	return size < sizeof(*attr) ? size : sizeof(*attr);
}

static int encode_perf_event(const char *str, int plm, pfm_os_t os, pfm_perf_encode_arg_t *arg)
{
	struct perf_event_attr attr = { 0 };
	struct l4_query q;
	struct l4_code c;
	struct l4_perf_result perf;
	char *text = NULL;
	int rc = l4_parse_event(str, os, &q);

	if (rc == PFM_SUCCESS)
		rc = l4_encode(&q, plm, &c);
	if (rc)
		return rc;
	memcpy(&attr, arg->attr, get_attr_size(arg->attr));
	rc = l4_build_perf_attr(&q, &c, plm, &attr, arg->fstr != NULL, &perf);
	if (rc == PFM_SUCCESS && arg->fstr)
		rc = l4_format_event(&q, &c, &perf, &text);
	if (rc)
		return rc;
	memcpy(arg->attr, &attr, get_attr_size(arg->attr));
	if (arg->fstr)
		*arg->fstr = text;
	arg->idx = l4_make_event_index(&q.event);
	arg->cpu = perf.cpu;
	return PFM_SUCCESS;
}

EXPORT pfm_err_t pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os, void *args)
{
	pfm_pmu_encode_arg_t *raw = args;
	pfm_perf_encode_arg_t *perf = args;

	if (!l4_is_ready())
		return PFM_ERR_NOINIT;
	if (!str || !args || (dfl_plm & ~L4_ALL_LEVELS))
		return PFM_ERR_INVAL;
	if (!is_valid_os(os) || (os != PFM_OS_NONE && !l4_is_os_active()))
		return PFM_ERR_NOTSUPP;
	if (os == PFM_OS_NONE)
		return is_valid_size(raw, raw->size, PFM_RAW_ENCODE_ABI0, sizeof(*raw))
		               ? encode_raw_event(str, dfl_plm, raw)
		               : PFM_ERR_INVAL;
	if (!is_valid_size(perf, perf->size, PFM_PERF_ENCODE_ABI0, sizeof(*perf)) || !perf->attr)
		return PFM_ERR_INVAL;
	return encode_perf_event(str, dfl_plm, os, perf);
}

EXPORT pfm_err_t pfm_get_event_encoding(const char *str, int dfl_plm, char **fstr, int *idx,
                                        uint64_t **codes, int *count)
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

EXPORT pfm_err_t pfm_get_perf_event_encoding(const char *str, int dfl_plm,
                                             struct perf_event_attr *attr, char **fstr, int *idx)
{
	pfm_perf_encode_arg_t arg = { .attr = attr, .fstr = fstr, .size = sizeof(arg) };
	int rc;

	if (!l4_is_ready())
		return PFM_ERR_NOINIT;
	if (!str || !attr || (dfl_plm & ~L4_ALL_LEVELS))
		return PFM_ERR_INVAL;
	rc = pfm_get_os_event_encoding(str, dfl_plm, PFM_OS_PERF_EVENT_EXT, &arg);
	if (rc == PFM_SUCCESS && idx)
		*idx = arg.idx;
	return rc;
}

/* ---- self test ------------------------------------------------------------------------------- */

/* Reports unit masks that an event has twice. Returns their number. */
static unsigned check_event(const struct l4_event *ev, FILE *fp)
{
	const struct l4_mask *m = ev->is_tracepoint_system ? NULL : l4_get_row_masks(ev->row);
	unsigned faults = 0;

	for (unsigned i = 0; m && i < ev->row->n_masks; i++)
		for (unsigned k = 0; k < i; k++)
			if (m[i].hash == m[k].hash && m[i].only_pmu == m[k].only_pmu &&
			    strcmp(l4_get_text(m[i].name), l4_get_text(m[k].name)) == 0 &&
			    l4_has_mask(ev, &m[i]) && l4_has_mask(ev, &m[k])) {
				fprintf(fp, "pmu: %s event: %s has unit mask %s twice\n",
				        l4_get_text(ev->pmu->name), l4_get_event_name(ev),
				        l4_get_text(m[i].name));
				faults++;
			}
	return faults;
}

EXPORT pfm_err_t pfm_pmu_validate(pfm_pmu_t pmu, FILE *fp)
{
	unsigned faults = 0, n = 0;
	struct l4_event ev;
	int number;

	if (!fp || !l4_is_ready() || (int)pmu < 0)
		return PFM_ERR_INVAL;
	number = l4_find_pmu_by_id((unsigned)pmu);
	if (number < 0 || !l4_is_pmu_enabled((uint32_t)number))
		return PFM_ERR_INVAL;
	for (uint32_t pos = 0; pos < l4_get_event_end((uint32_t)number); pos++) {
		if (!l4_get_event((uint32_t)number, pos, &ev))
			continue;
		faults += check_event(&ev, fp);
		n++;
	}
	if (n != l4_count_events((uint32_t)number) && l4_get_pmu((uint32_t)number)->n_events == n)
		faults++;
	fprintf(fp, "pmu: %s: %u events, %u faults\n",
	        l4_get_text(l4_get_pmu((uint32_t)number)->name), n, faults);
	return faults ? PFM_ERR_INVAL : PFM_SUCCESS;
}
