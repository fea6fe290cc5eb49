/* SPDX-License-Identifier: MIT */
/* Control registers of x86 whose event an extra register decides. */
#include "encode/extra_registers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Addresses of the registers, from Intel's manual, volume 4; those of Nova Lake's OMR registers
 * from Linux's msr-index.h. */
static const struct {
	char name[16];
	uint16_t addr;
} extra_registers[] = { { "OFFCORE_RSP_0", 0x1a6 }, { "OFFCORE_RSP_1", 0x1a7 },
	                { "OMR_0", 0x3e0 },         { "OMR_1", 0x3e1 },
	                { "OMR_2", 0x3e2 },         { "OMR_3", 0x3e3 },
	                { "PEBS_LD_LAT", 0x3f6 },   { "PEBS_FRONTEND", 0x3f7 },
	                { "SNOOP_RSP_0", 0x1328 },  { "SNOOP_RSP_1", 0x1329 } };

/* PERFEVTSEL0_ADDRESS: address of the control register of counter 0 on Intel processors. */
enum { PERFEVTSEL0_ADDRESS = 0x186, N_ADDRESSES = 8 };

/* True if @text is the address @out, such as 0x1a6. */
static bool parse_address(const char *text, unsigned long *out)
{
	char *end;

	*out = strtoul(text, &end, 0);
	return text[0] == '0' && !*end;
}

static bool parse_extra_register(const struct register_value *v, pfm_reg_t *reg)
{
	unsigned long address;
	bool is_address = parse_address(v->name, &address);

	for (size_t i = 0; i < sizeof(extra_registers) / sizeof(extra_registers[0]); i++)
		if (is_address ? address == extra_registers[i].addr
		               : strcasecmp(v->name, extra_registers[i].name) == 0) {
			*reg = (pfm_reg_t){ .kind = PFM_REG_EXTRA,
				            .num = extra_registers[i].addr,
				            .addr = extra_registers[i].addr,
				            .value = v->value };
			return true;
		}
	return false;
}

static bool parse_control_register(const struct register_value *v, pfm_reg_t *reg)
{
	static const char *const prefixes[] = { "PERFEVTSEL", "PMC" };
	unsigned long address;

	if (parse_address(v->name, &address)) {
		*reg = (pfm_reg_t){ .kind = PFM_REG_PMC,
			            .num = (unsigned)(address - PERFEVTSEL0_ADDRESS),
			            .value = v->value };
		return address - PERFEVTSEL0_ADDRESS < N_ADDRESSES;
	}
	for (unsigned i = 0; i < 2; i++) {
		size_t length = strlen(prefixes[i]);
		const char *number;
		unsigned long n;
		char *end;

		if (strncasecmp(v->name, prefixes[i], length) != 0)
			continue;
		number = v->name + length;
		if (!isdigit((unsigned char)*number))
			continue;
		n = strtoul(number, &end, 10);
		*reg = (pfm_reg_t){ .kind = PFM_REG_PMC, .num = (unsigned)n, .value = v->value };
		return !*end && n < 64;
	}
	return false;
}

/* Decodes @n registers. Returns the number of events, 0 on failure. */
static unsigned decode_registers(const pfm_ctx_t *ctx, int pmu, const pfm_reg_t *regs, unsigned n,
                                 pfm_decoded_event_t *out, unsigned n_out)
{
	int n_events;

	for (unsigned i = 0; i < n_out; i++)
		out[i] = (pfm_decoded_event_t){ .size = sizeof(out[i]) };
	n_events = pfm_decode_set(ctx, pmu, regs, n, out, n_out);
	return n_events > 0 && out[0].text[0] ? (unsigned)n_events : 0;
}

unsigned find_events_of_extra(const pfm_ctx_t *ctx, int pmu, const struct register_value pair[2],
                              pfm_decoded_event_t *out, unsigned n_out)
{
	unsigned control = parse_extra_register(&pair[0], &(pfm_reg_t){ 0 }), alone, together;
	pfm_reg_t regs[2];

	if (!parse_control_register(&pair[control], &regs[0]) ||
	    !parse_extra_register(&pair[!control], &regs[1]))
		return 0;
	alone = decode_registers(ctx, pmu, regs, 1, out, n_out);
	together = decode_registers(ctx, pmu, regs, 2, out, n_out);
	return together < alone ? together : 0;
}
