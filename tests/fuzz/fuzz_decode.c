/* SPDX-License-Identifier: MIT */
/* Any recorded registers: Montecito's address registers and buffers, any register value of any processor back to names. */
#include <string.h>
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib_montecito.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const registers[] = { "config", "config1", "PERFEVTSEL0", "PERFEVTSEL1", "PMC4", "PMC32", "PMC39", "PMC41",
		                                 "ICCSR", "PMCTR", "PCTR_CTL", "FIXED_CTR_CTRL", "" };
	static pfm_ctx_t *ctx;
	uint64_t value = 0;
	char name[256];

	if (!ctx) {
		pfm_ctx_options_t o = PFM_INIT(o);

		o.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
		if (pfm_open_context(&ctx, &o, NULL))
			__builtin_trap();
	}
	if (size < 3)
		return 0;
	memcpy(&value, data + 2, size - 2 < 8 ? size - 2 : 8);
	for (unsigned i = 0; i < 70; i++) {
		const char *field, *text;
		uint64_t v;

		if (pfm_decode_field(ctx, data[0] % 32, registers[data[1] % 13], value, i, &field, &v, &text))
			break;
	}
	for (unsigned i = 0; i < 3; i++)
		if (pfm_decode_event(ctx, data[0] % 32, registers[data[1] % 13], value, i, name, sizeof(name)))
			break;
	return 0;
}
