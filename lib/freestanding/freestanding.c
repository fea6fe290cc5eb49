/* SPDX-License-Identifier: MIT */
/* The encoder without an operating system (scripts/freestanding.py): a constant context with the
 * built-in tables alone, and the answers of modules that would ask the system. */
#include "context/context_internal.h"
#include "lookup/lookup_internal.h"

/* The script says where the image has the names of its PMUs, how many slots they have, and how many
 * tables the image has. */
static const struct pfm_ctx context = {
	.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES,
	.n_refs = 1,
	.loaded_parts = LOADED_BUILTIN | LOADED_HOST,
	.n_pmus = PERFMON_N_TABLES,
	.first_kernel_pmu = PERFMON_N_TABLES,
	.builtin_source = { .image = (const struct image *)(const void *)pfmi_builtin_image,
	                    .n_pmus = PERFMON_N_TABLES,
	                    .name_slots = (const uint32_t *)(const void *)(pfmi_builtin_image +
	                                                                   PERFMON_PMU_NAMES_AT),
	                    .n_name_slots = PERFMON_N_PMU_NAMES },
};

const struct pfm_ctx *pfmi_context_get_default(void)
{
	return &context;
}

int pfmi_context_load(const struct pfm_ctx *ctx, int what)
{
	(void)ctx, (void)what;
	return PFMLIB_SUCCESS;
}

int pfmi_context_require_all(const struct pfm_ctx *ctx, pfm_error_t *why)
{
	(void)ctx, (void)why;
	return PFMLIB_SUCCESS;
}

const char *pfmi_image_find_fault(struct image_map *map)
{
	(void)map;
	return NULL;
}

/* ---- names alone ----------------------------------------------------------------------------- */

/* perf's notation lists numbers, which need a decoder. */
int pfmi_lookup_perf_spec(struct pmu_search *s)
{
	return pfmi_base_set_error(s->error, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, s->spec->text,
	                           s->spec->pmu_name, "expected PMU::EVENT");
}

bool pfmi_lookup_raw_number(const struct pfm_ctx *ctx, struct spec *spec, unsigned *pmu,
                            uint64_t *raw)
{
	(void)ctx, (void)spec, (void)pmu, (void)raw;
	return false;
}

int pfmi_lookup_read_raw_event(const struct table *t, uint64_t raw, const struct spec *spec,
                               struct event *out, pfm_error_t *why)
{
	(void)t, (void)raw, (void)spec, (void)out, (void)why;
	return PFMLIB_ERR_NOTFOUND;
}

void pfmi_lookup_adopt_row(struct event *ev)
{
	(void)ev;
}

bool pfmi_pmu_decode_config_words(const struct table *t, const uint64_t config[N_CONFIG_WORDS],
                                  unsigned words, struct event *out)
{
	(void)t, (void)config, (void)words, (void)out;
	return false;
}

bool pfmi_pmu_find_row_by_codes(const struct table *t, const struct spec_codes *n, uint32_t *found)
{
	(void)t, (void)n, (void)found;
	return false;
}

/* ---- no kernel ------------------------------------------------------------------------------- */

int pfmi_lookup_kernel_event(const struct pfm_ctx *ctx, const struct spec *spec, unsigned *pmu,
                             struct event *out, pfm_error_t *why)
{
	(void)ctx, (void)spec, (void)pmu, (void)out, (void)why;
	return PFMLIB_ERR_NOTFOUND;
}

const struct kernel_pmu *pfmi_machine_find_kernel_pmu(const struct kernel_info *kernel,
                                                      struct slice name)
{
	(void)kernel, (void)name;
	return NULL;
}

unsigned pfmi_machine_find_instance(const struct kernel_pmu *pmu, struct slice name)
{
	(void)pmu, (void)name;
	return 0;
}

unsigned pfmi_machine_find_instance_number(const struct kernel_pmu *pmu, struct slice digits)
{
	(void)pmu, (void)digits;
	return 0;
}

bool pfmi_machine_is_table_for_host(const struct host *host, const struct table *t, unsigned *core)
{
	(void)host, (void)t, (void)core;
	return false;
}

bool pfmi_machine_is_nearest_table(const struct host *host, const struct table *t)
{
	(void)host, (void)t;
	return false;
}

void pfmi_machine_log(const struct log *log, enum log_topic topic, pfm_log_level_t level,
                      const char *format, ...)
{
	(void)log, (void)topic, (void)level, (void)format;
}

/* ---- the compiler's own library -------------------------------------------------------------- */

/* Compilers call these where the processor has no such instruction. They are local to the object,
 * and left out where nothing calls them. */
int __ctzdi2(unsigned long long x);
int __clzdi2(unsigned long long x);

int __ctzdi2(unsigned long long x)
{
	int n = 0;

	for (; n < 64 && !(x & 1); n++)
		x >>= 1;
	return n;
}

int __clzdi2(unsigned long long x)
{
	int n = 64;

	for (; x; n--)
		x >>= 1;
	return n;
}
