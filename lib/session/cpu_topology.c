/* SPDX-License-Identifier: MIT */
/* Core, die, socket and node of a CPU, as sysfs has them. */
#include <stdio.h>
#include <stdlib.h>
#include <perfmon/aggregate.h>

#include "base/sizes.h"
#include "context/context.h"

static int read_topology(const struct sys *sys, unsigned cpu, const char *name)
{
	char path[96];
	uint64_t number;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, name);
	return pfmi_machine_read_number(sys, path, &number) || number > INT32_MAX ? -1
	                                                                          : (int)number;
}

/* Among the files of a CPU the kernel has a link to its node, "nodeN". */
static int take_node_number(void *arg, const char *name)
{
	int *node = arg;

	if (strncmp(name, "node", 4) != 0 || !base_is_digit(name[4]))
		return 0;
	*node = atoi(name + 4);
	return 1;
}

static int read_node(const struct sys *sys, unsigned cpu)
{
	char path[64];
	int node = -1;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
	sys->list_folder(sys, path, take_node_number, &node);
	return node;
}

int pfm_describe_cpu(const pfm_ctx_t *ctx, unsigned cpu, pfm_cpu_info_t *info)
{
	pfm_cpu_info_t full;

	if (!base_has_struct_size(info))
		return PFMLIB_ERR_INVAL;
	ctx = context_get_or_default(ctx);
	full = (pfm_cpu_info_t){ .core = read_topology(&ctx->sys, cpu, "core_id"),
		                 .die = read_topology(&ctx->sys, cpu, "die_id"),
		                 .socket = read_topology(&ctx->sys, cpu, "physical_package_id"),
		                 .node = read_node(&ctx->sys, cpu) };
	base_copy_struct_out(info, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}
