/* SPDX-License-Identifier: MIT */
/* The encoders there are. */
#include "pmu.h"

const struct pmu_ops *pfmi_find_ops(enum encoder encoder)
{
	/* Not a table: its pointers would be relocated in every process. */
	switch (encoder) {
	case ENCODER_FORMAT: return &pfmi_ops_format;
	case ENCODER_X86: return &pfmi_ops_x86;
	case ENCODER_MONTECITO: return &pfmi_ops_montecito;
	case ENCODER_EV4: return &pfmi_ops_ev4;
	case ENCODER_EV5: return &pfmi_ops_ev5;
	case ENCODER_EV6: return &pfmi_ops_ev6;
	case ENCODER_EV67: return &pfmi_ops_ev67;
	case ENCODER_PERF: return &pfmi_ops_perf;
	case ENCODER_NETBURST: return &pfmi_ops_netburst;
	case ENCODER_MIPS: return &pfmi_ops_mips;
	case ENCODER_NONE:
	case N_ENCODERS: break;
	}
	return NULL;
}
