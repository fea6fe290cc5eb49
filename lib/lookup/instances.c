/* SPDX-License-Identifier: MIT */
/* Boxes of which a machine has several: the kernel's "uncore_cha_3", libpfm4's "skx_unc_cha3". */
#include "lookup/lookup_internal.h"

static struct slice get_box_number(struct slice box)
{
	uint32_t len = base_measure_without_number(box);

	return (struct slice){ box.text + len, box.len - len };
}

bool pfmi_lookup_has_box_number(const struct pfm_ctx *ctx, unsigned pmu, struct slice name)
{
	const struct kernel_pmu *kernel = context_get_kernel_pmu(ctx, pmu);

	return !kernel || kernel->n_instances < 2 ||
	       pfmi_machine_find_instance_number(kernel, get_box_number(name));
}

/* 1 + the instance of @kernel that a PMU name selects, 0 for none: the kernel's name of the
 * instance, or a name of @t followed by the number of the box. */
static unsigned find_named_instance(const struct kernel_pmu *kernel, const struct table *t,
                                    struct slice name)
{
	struct slice box = { name.text, base_measure_without_number(name) };
	unsigned k = pfmi_machine_find_instance(kernel, name);

	if (!k && name.len && pfmi_context_table_has_name(t, box))
		k = pfmi_machine_find_instance_number(kernel, get_box_number(name));
	return k;
}

unsigned pfmi_lookup_spec_instance(const struct pfm_ctx *ctx, const struct spec *spec, unsigned pmu)
{
	const struct table *t = context_get_pmu_table(ctx, pmu);
	const struct kernel_pmu *kernel = context_get_kernel_pmu(ctx, pmu);
	unsigned k;

	if (!kernel || kernel->n_instances < 2)
		return 0;
	k = find_named_instance(kernel, t,
	                        spec->pmu_name.len ? spec->pmu_name : ctx->default_pmu_name);
	/* A table may be for one box of several: the first C-box has the socket's clock. */
	return k ? k
	         : pfmi_machine_find_instance(kernel,
	                                      pfmi_base_make_slice(table_get_text(t, t->device)));
}

unsigned pfmi_lookup_text_instance(const struct pfm_ctx *ctx, const char *text, unsigned pmu)
{
	struct spec spec;

	return pfmi_spec_parse(text, &spec, NULL) ? 0 : pfmi_lookup_spec_instance(ctx, &spec, pmu);
}
