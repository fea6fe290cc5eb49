/* SPDX-License-Identifier: MIT */
/* For profilers, simulators and hypervisors: encodes names to registers and decodes registers. The
 * context reads no machine and no file, calls allocate nothing, and threads may share it. The
 * caller programs the registers.
 *
 *     resolve_only [EVENT...]
 *
 * Build: cc resolve_only.c $(pkg-config --cflags --libs perfmon) */
#include <inttypes.h>
#include <stdio.h>
#include <perfmon/perfmon.h>

/* Prints why @text is refused: the sentence, the token at fault, and suggestions. */
static void complain(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *error)
{
	char sentence[256], names[3][96];
	size_t n = pfm_suggest_names(ctx, text, error, names, 3);

	pfm_explain_error(ctx, text, error, sentence, sizeof(sentence));
	printf("%s: %s (bytes %u to %u)\n", pfm_error_kind_name(error->kind), sentence,
	       error->start, error->end);
	for (size_t i = 0; i < n; i++)
		printf("  did you mean %s?\n", names[i]);
}

static void resolve(const pfm_ctx_t *ctx, const char *text)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t error = PFM_INIT(error);
	perfmon_event_info_t info = PFM_INIT(info);
	char perf[256];

	if (pfm_encode_event(ctx, text, PFM_PLM3, &e, &error) != PFMLIB_SUCCESS) {
		complain(ctx, text, &error);
		return;
	}
	if (pfm_describe_event(ctx, e.pmu, e.event, &info) == PFMLIB_SUCCESS)
		printf("%s: %s\n", info.name, info.desc);
	for (unsigned i = 0; i < e.n_regs; i++)
		printf("  register 0x%" PRIx64 " = 0x%" PRIx64 "\n", e.regs[i].addr,
		       e.regs[i].value);
	if (e.attr.expressible && pfm_print_event(ctx, text, PFM_DIALECT_PERF, perf, sizeof(perf),
	                                          NULL) == PFMLIB_SUCCESS)
		printf("  perf calls it %s, config 0x%" PRIx64 "\n", perf, e.attr.config);
}

/* Decoding: which event does a register value count? */
static void explain(const pfm_ctx_t *ctx, const char *pmu, const char *reg, uint64_t value)
{
	char event[256];

	if (pfm_decode_event(ctx, pfm_find_pmu(ctx, pmu), reg, value, 0, event, sizeof(event)) ==
	    PFMLIB_SUCCESS)
		printf("%s of %s with 0x%" PRIx64 " counts %s\n", reg, pmu, value, event);
}

int main(int argc, char **argv)
{
	static const char *const usual[] = { "L2_Lines_In,core=all,prefetch=only",
		                             "coreduo::L2_LINES_IN:BOTH_CORES:PREFETCH",
		                             "montecito::CPU_OP_CYCLES_ALL", "L2_Lines_Inn" };
	pfm_ctx_options_t options = { .size = sizeof(options),
		                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES,
		                      .pmu = "coreduo" };
	pfm_ctx_t *ctx;

	if (pfm_open_context(&ctx, &options, NULL) != PFMLIB_SUCCESS)
		return 1;
	for (int i = 0; i < (argc > 1 ? argc - 1 : 4); i++)
		resolve(ctx, argc > 1 ? argv[i + 1] : usual[i]);
	explain(ctx, "coreduo", "PERFEVTSEL0", 0x51d024);
	pfm_close_context(ctx);
	return 0;
}
