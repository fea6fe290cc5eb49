/* SPDX-License-Identifier: MIT */
/* The constants of formulas: properties of the machine, and of the measurement. */
#include <string.h>
#include "base/sizes.h"
#include "metric/metric.h"

static bool count_cpus(const struct sys *sys, const char *path, double *value)
{
	struct cpu_mask set;
	bool is_known = !pfmi_machine_read_cpus(sys, path, &set);

	*value = (double)pfmi_machine_count_cpus(&set);
	pfmi_machine_free_cpus(&set);
	return is_known && *value > 0;
}

/* Reads constant @name. False if it is unknown. */
static bool read_constant(const struct sys *sys, const char *name, double seconds, double *value)
{
	uint64_t smt = 0;

	if (strcmp(name, "#duration_ms") == 0) {
		*value = seconds * 1000;
		return seconds > 0;
	}
	if (strcmp(name, "#num_cpus") == 0)
		return count_cpus(sys, "/sys/devices/system/cpu/present", value);
	if (strcmp(name, "#num_cpus_online") == 0)
		return count_cpus(sys, "/sys/devices/system/cpu/online", value);
	if ((strcmp(name, "#smt_on") != 0 && strcmp(name, "#threads_per_core") != 0) ||
	    pfmi_machine_read_number(sys, "/sys/devices/system/cpu/smt/active", &smt))
		return false;
	*value = (double)smt + (name[1] == 't');
	return true;
}

int pfm_read_metric_constant(const pfm_ctx_t *ctx, const pfm_metric_input_t *input, double seconds,
                             double *value)
{
	pfm_metric_input_t in;

	if (!input || !value || !(seconds >= 0) || !base_copy_struct_in(&in, sizeof(in), input))
		return PFMLIB_ERR_INVAL;
	ctx = context_get_or_default(ctx);
	*value = 0;
	if (!in.is_constant)
		return PFMLIB_ERR_NOTFOUND;
	if (read_constant(&ctx->sys, in.text, seconds, value))
		return PFMLIB_SUCCESS;
	*value = in.preset;
	return in.has_preset ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTFOUND;
}
