/* SPDX-License-Identifier: MIT */
/* The libpfm 3 interface, on top of the built-in tables: selection and properties of the processor.
 * Its only state is the selected processor, in one atomic variable, so every function is
 * thread-safe. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib.h>
#include "selected.h"

static _Atomic(const struct table *) selected_table;

/* Tables of processors for which libpfm 3.10 has a number and whose tables here have none. The
 * first of a type is that of pfm_force_pmu(); libpfm 3.10 likewise takes AMD64 for family 10h. */
static const struct x86_type {
	int type;
	const char *table, *cycles, *instructions; /* events, or NULL */
} x86_types[] = {
	{ PFMLIB_AMD64_PMU, "amd64_fam10h_barcelona", "CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS" },
	{ PFMLIB_AMD64_PMU, "amd64_fam10h_shanghai", "CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS" },
	{ PFMLIB_AMD64_PMU, "amd64_fam10h_istanbul", "CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS" },
	{ PFMLIB_AMD64_PMU, "amd64_fam15h_interlagos", "CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS" },
	{ PFMLIB_AMD64_PMU, "amd64_k7", "CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS" },
	{ PFMLIB_AMD64_PMU, "amd64_k8_revb", "CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS" },
	{ PFMLIB_AMD64_PMU, "amd64_k8_revc", "CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS" },
	{ PFMLIB_AMD64_PMU, "amd64_k8_revd", "CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS" },
	{ PFMLIB_AMD64_PMU, "amd64_k8_reve", "CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS" },
	{ PFMLIB_AMD64_PMU, "amd64_k8_revf", "CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS" },
	{ PFMLIB_AMD64_PMU, "amd64_k8_revg", "CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS" },
	{ PFMLIB_PENTIUM4_PMU, "netburst", NULL, NULL },
	{ PFMLIB_PENTIUM4_PMU, "netburst_p", NULL, NULL },
	{ PFMLIB_INTEL_CORE_PMU, "core2", "UNHALTED_CORE_CYCLES", "INSTRUCTIONS_RETIRED" },
	{ PFMLIB_INTEL_ATOM_PMU, "bnl", "CPU_CLK_UNHALTED.CORE_P", "INST_RETIRED.ANY_P" },
	{ PFMLIB_INTEL_NHM_PMU, "nhm_ep", "CPU_CLK_UNHALTED.THREAD_P", "INST_RETIRED.ANY_P" },
	{ PFMLIB_INTEL_NHM_PMU, "nhm_ex", "CPU_CLK_UNHALTED.THREAD_P", "INST_RETIRED.ANY_P" },
	{ PFMLIB_INTEL_WSM_PMU, "wsm_ep_sp", "CPU_CLK_UNHALTED.THREAD_P", "INST_RETIRED.ANY_P" },
	{ PFMLIB_INTEL_WSM_PMU, "wsm_ep_dp", "CPU_CLK_UNHALTED.THREAD_P", "INST_RETIRED.ANY_P" },
	{ PFMLIB_INTEL_WSM_PMU, "wsm_ex", "CPU_CLK_UNHALTED.THREAD_P", "INST_RETIRED.ANY_P" },
};
#define N_X86_TYPES (sizeof(x86_types) / sizeof(x86_types[0]))

static const struct x86_type *find_x86_type(const struct table *t)
{
	for (unsigned i = 0; i < N_X86_TYPES; i++)
		if (strcmp(x86_types[i].table, table_get_text(t, t->name)) == 0)
			return &x86_types[i];
	return NULL;
}

/* The number that libpfm 3.10 has for the processor; -1 if it has none. */
static int get_table_type(const struct table *t)
{
	const struct x86_type *x = t->libpfm_type < 0 ? find_x86_type(t) : NULL;

	return x ? x->type : t->libpfm_type;
}

/* The feature called @name of @t, or NULL. */
static const struct feature *find_feature(const struct table *t, const char *name)
{
	const struct feature *f = table_features(t);

	for (unsigned i = 0; i < t->n_features; i++)
		if (strcmp(table_get_text(t, f[i].name), name) == 0)
			return &f[i];
	return NULL;
}

const char *pfm3_get_special_event(const struct table *t, enum pfm3_special_event which)
{
	const struct feature *f =
		find_feature(t, which == PFM3_CYCLES ? "libpfm_cycles" : "libpfm_instructions");
	const struct x86_type *x = f ? NULL : find_x86_type(t);

	if (f)
		return table_get_text(t, f->text);
	return !x ? NULL : which == PFM3_CYCLES ? x->cycles : x->instructions;
}

unsigned pfm3_count_tables(void)
{
	return pfmi_table_get_builtin_tables()->n_tables;
}

const struct table *pfm3_get_table(unsigned i)
{
	return table_get_image_table(pfmi_table_get_builtin_tables(), i);
}

const struct table *pfm3_get_selected_table(void)
{
	return atomic_load_explicit(&selected_table, memory_order_acquire);
}

static int select_table(const struct table *t)
{
	if (!t)
		return PFMLIB_ERR_NOTSUPP;
	atomic_store(&selected_table, t);
	return PFMLIB_SUCCESS;
}

/* ---- the selected processor ------------------------------------------------------------------ */

static const struct table *find_table_by_type(int type)
{
	const char *name = NULL;

	for (unsigned i = N_X86_TYPES; i-- > 0;)
		name = x86_types[i].type == type ? x86_types[i].table : name;
	for (unsigned i = 0; type >= 0 && i < pfm3_count_tables(); i++) {
		const struct table *t = pfm3_get_table(i);

		if (name ? strcmp(table_get_text(t, t->name), name) == 0 : t->libpfm_type == type)
			return t;
	}
	return NULL;
}

/* The PMU found for a name or a machine: a table of a processor that libpfm 3 supports, or that of
 * another core. */
struct table_choice {
	const struct host *host;
	const struct table *libpfm3_table, *other_table;
};

static const struct table *get_chosen_table(const struct table_choice *p)
{
	return p->libpfm3_table ? p->libpfm3_table : p->other_table;
}

static bool is_core_table(const struct table *t)
{
	return t->encoder != ENCODER_PERF &&
	       !(t->flags & (TABLE_UNCORE | TABLE_COMPAT_VIEW | TABLE_TEST_ONLY));
}

static const struct table *find_table_by_name(const char *name)
{
	struct table_choice p = { NULL, NULL, NULL };

	for (unsigned i = 0; i < pfm3_count_tables() && !p.libpfm3_table; i++) {
		const struct table *t = pfm3_get_table(i);

		if ((get_table_type(t) < 0 && (p.other_table || !is_core_table(t))) ||
		    !pfmi_context_table_has_name(t, pfmi_base_make_slice(name)))
			continue;
		if (get_table_type(t) >= 0)
			p.libpfm3_table = t;
		else
			p.other_table = t;
	}
	return get_chosen_table(&p);
}

/* Keeps @table if it is better for the host than the one kept so far; of equal tables the first. */
static void choose_better_table(void *arg, uint32_t table, unsigned core)
{
	const struct table *t = pfm3_get_table(table);
	struct table_choice *p = arg;
	const struct table **kept = get_table_type(t) >= 0 ? &p->libpfm3_table : &p->other_table;

	(void)core;
	if ((get_table_type(t) >= 0 || is_core_table(t)) &&
	    (!*kept || pfmi_machine_is_better_table(p->host, t, *kept) ||
	     (t < *kept && !pfmi_machine_is_better_table(p->host, *kept, t))))
		*kept = t;
}

static const struct table *find_table_by_host(const struct env_options *w)
{
	struct host host;
	struct table_choice p = { .host = &host };
	struct sys sys;

	pfmi_machine_init_real_sys(&sys, w->sysfs_root);
	pfmi_machine_identify_host(&sys, w->cpuid, &host);
	pfmi_machine_visit_host_tables(pfmi_table_get_builtin_tables(), &host, TABLE_UNCORE,
	                               choose_better_table, &p);
	return get_chosen_table(&p);
}

/* The PMU that the environment names, or that of this machine. */
static const struct table *choose_first_table(void)
{
	struct env_options w;
	uint64_t number;

	pfmi_machine_read_env_options(&w);
	if (w.force_pmu)
		return pfmi_base_parse_number(pfmi_base_make_slice(w.force_pmu), &number) &&
		                       number <= INT32_MAX
		               ? find_table_by_type((int)number)
		               : NULL;
	return w.pmu ? find_table_by_name(w.pmu) : find_table_by_host(&w);
}

/* Chooses the table once. Threads that choose at the same time choose the same table, so none waits
 * for another. The default memory order is used because race detectors understand it. */
pfm_err_t pfm_initialize(void)
{
	static _Atomic(const struct table *) first;
	static atomic_int known;

	if (!atomic_load(&known)) {
		atomic_store(&first, choose_first_table());
		atomic_store(&known, 1);
	}
	return select_table(atomic_load(&first));
}

pfm_err_t pfm_force_pmu(int type)
{
	return select_table(find_table_by_type(type));
}

pfm_err_t pfm_set_options(pfmlib_options_t *options)
{
	return options ? PFMLIB_SUCCESS : PFMLIB_ERR_INVAL;
}

pfm_err_t pfm_get_version(unsigned int *version)
{
	if (!version)
		return PFMLIB_ERR_INVAL;
	*version = PFMLIB_VERSION;
	return PFMLIB_SUCCESS;
}

/* The prototype of libpfm 3 lacks const; callers must not change the text. */
char *pfm_strerror(int code)
{
	return (char *)pfm_result_text(code);
}

/* ---- processors ------------------------------------------------------------------------ */

static const char *get_pmu_name(const struct table *t)
{
	const struct feature *f = find_feature(t, "libpfm_name");

	return table_get_text(t, f ? f->text : t->desc);
}

/* Copies a text and truncates it to @max bytes with the NUL. */
static void copy_truncated(char *to, size_t max, const char *from)
{
	size_t n = strlen(from);

	if (n >= max)
		n = max - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

pfm_err_t pfm_get_pmu_name(char *name, int maxlen)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!name || maxlen < 1)
		return PFMLIB_ERR_INVAL;
	copy_truncated(name, (size_t)maxlen, get_pmu_name(t));
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_pmu_type(int *type)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!type)
		return PFMLIB_ERR_INVAL;
	*type = get_table_type(t) >= 0 ? get_table_type(t) : PFMLIB_UNKNOWN_PMU;
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_pmu_name_bytype(int type, char *name, size_t maxlen)
{
	const struct table *t = find_table_by_type(type);

	if (!t || !name || maxlen < 1)
		return PFMLIB_ERR_INVAL;
	copy_truncated(name, maxlen, get_pmu_name(t));
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_is_pmu_supported(int type)
{
	if (!pfm3_get_selected_table())
		return PFMLIB_ERR_NOINIT;
	return find_table_by_type(type) ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTSUPP;
}

pfm_err_t pfm_list_supported_pmus(int (*pf)(const char *fmt, ...))
{
	const struct table *t = pfm3_get_selected_table();

	if (!pf)
		return PFMLIB_ERR_INVAL;
	pf("supported PMU models: ");
	for (unsigned i = 0; i < pfm3_count_tables(); i++)
		if (get_table_type(pfm3_get_table(i)) >= 0)
			pf("[%s] ", get_pmu_name(pfm3_get_table(i)));
	pf("\nselected PMU: %s\n", t ? get_pmu_name(t) : "none");
	return PFMLIB_SUCCESS;
}

/* The registers in the mask that @feature has; without it those with the numbers of counters. */
static uint64_t get_register_mask(const struct table *t, const char *feature)
{
	const struct feature *f = feature ? find_feature(t, feature) : NULL;

	return f ? f->value : t->all_counters;
}

static int copy_register_mask(const char *feature, pfmlib_regmask_t *mask)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!mask)
		return PFMLIB_ERR_INVAL;
	memset(mask, 0, sizeof(*mask));
	mask->bits[0] = get_register_mask(t, feature);
	return PFMLIB_SUCCESS;
}

static int count_registers(const char *feature, unsigned *num)
{
	const struct table *t = pfm3_get_selected_table();

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!num)
		return PFMLIB_ERR_INVAL;
	*num = (unsigned)__builtin_popcountll(get_register_mask(t, feature));
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_impl_pmcs(pfmlib_regmask_t *impl_pmcs)
{
	return copy_register_mask("libpfm_pmcs", impl_pmcs);
}
pfm_err_t pfm_get_impl_pmds(pfmlib_regmask_t *impl_pmds)
{
	return copy_register_mask("libpfm_pmds", impl_pmds);
}
pfm_err_t pfm_get_impl_counters(pfmlib_regmask_t *impl_counters)
{
	return copy_register_mask(NULL, impl_counters);
}
pfm_err_t pfm_get_num_pmcs(unsigned int *num)
{
	return count_registers("libpfm_pmcs", num);
}
pfm_err_t pfm_get_num_pmds(unsigned int *num)
{
	return count_registers("libpfm_pmds", num);
}
pfm_err_t pfm_get_num_counters(unsigned int *num)
{
	return count_registers(NULL, num);
}

pfm_err_t pfm_get_hw_counter_width(unsigned int *width)
{
	const struct table *t = pfm3_get_selected_table();
	unsigned least = 64;

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!width)
		return PFMLIB_ERR_INVAL;
	for (unsigned i = 0; i < t->n_counters; i++)
		least = table_counters(t)[i].width < least ? table_counters(t)[i].width : least;
	*width = least;
	return PFMLIB_SUCCESS;
}
