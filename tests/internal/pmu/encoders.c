/* SPDX-License-Identifier: MIT */
/* Every encoder accepts the registers that it lists, and their fields do not overlap. */
#include "unit_tables.h"
#include <perfmon/types.h>

/* Calls @each with every register in the list of @t's encoder, which has the form "A[0-2] B". */
static void each_register(const struct table *t,
                          void (*each)(const struct table *t, const char *name))
{
	const char *list = pfmi_pmu_get_encoder(t)->registers, *s = list ? list : "";
	char stem[32], name[48];
	int used;

	while (sscanf(s, " %31[A-Z0-9_]%n", stem, &used) == 1) {
		unsigned first, last;
		int more = 0;

		s += used;
		if (sscanf(s, "[%u-%u]%n", &first, &last, &more) == 2 && more) {
			s += more;
			for (unsigned i = first; i <= last; i++) {
				snprintf(name, sizeof(name), "%s%u", stem, i);
				each(t, name);
			}
		} else {
			each(t, stem);
		}
	}
	assert_true(*s == '\0');
}

static unsigned n_layouts;

static void no_overlap(const struct table *t, const char *name)
{
	unsigned n = 0;
	const struct register_field *b = pfmi_pmu_get_register_layout(t, name, &n);
	uint64_t all = 0;

	for (unsigned i = 0; b && i < n; i++) {
		uint64_t mine = register_field_mask(b[i]) << b[i].lsb;

		assert_true(b[i].width >= 1 && b[i].lsb + b[i].width <= 64);
		assert_true((all & mine) == 0);
		all |= mine;
	}
	n_layouts += b != NULL;
}

/* Event select bits are within the register's fields, and the counter exists. */
static void check_event_select_bits(const struct table *t, const char *name)
{
	unsigned n = 0, counter = 99;
	const struct register_field *b = pfmi_pmu_get_register_layout(t, name, &n);
	uint64_t all = 0, chosen;

	for (unsigned i = 0; b && i < n; i++)
		all |= register_field_mask(b[i]) << b[i].lsb;
	for (unsigned i = 0; i < 4; i++) {
		chosen = pfmi_pmu_get_event_select_mask(t, name, i, &counter);
		if (!pfmi_pmu_has_event_select_mask(t))
			assert_true(chosen == 0);
		if (!chosen)
			return;
		assert_true((chosen & ~all) == 0);
		assert_true(t->all_counters >> counter & 1);
	}
}

static void every_table_has_an_encoder_with_registers(void **state)
{
	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		unsigned n;

		assert_true(pfmi_pmu_has_encoder(t));
		n_layouts = 0;
		each_register(t, no_overlap);
		assert_int_equal(n_layouts != 0, pfmi_pmu_get_encoder(t)->registers != NULL);
		each_register(t, check_event_select_bits);
		assert_null(pfmi_pmu_get_register_layout(t, "NO_SUCH_REGISTER", &n));
		assert_null(pfmi_pmu_get_register_layout(t, "", &n));
	}
}

/* Lowest bit and width of each register's fields, as in the manuals. */
static void fields_of_registers(void **state)
{
	static const struct {
		const char *table, *name, *fields;
	} rows[] = {
		{ "ev4", "ICCSR", "pc1:0+1 pc0:3+1 mux0:8+4 mux1:32+3 disable:35+2" },
		{ "ev5", "PMCTR",
		  "sel2:0+4 sel1:4+4 kk:8+1 kp:9+1 ctl2:10+2 ctl1:12+2 ctl0:14+2 ctr2:16+14 "
		  "ku:30+1 sel0:31+1 "
		  "ctr1:32+16 ctr0:48+16" },
		{ "ev5", "PCNT5MUX", "sel2:0+4 sel1:4+4 sel0:31+1 cbox1:51+3 cbox2:54+3" },
		{ "pca56", "FREQ", "frq2:4+2 frq1:6+2 frq0:8+2" },
		{ "ev5", "BC_CTL", "cbox1:19+3 cbox2:22+3" },
		{ "ev5", "PMC8", "sel2:0+4 sel1:4+4 sel0:31+1 cbox1:19+3 cbox2:22+3" },
		{ "pca56", "PM_MUX", "pm0_mux:8+3 pm1_mux:11+3" },
		{ "pca56", "PMC8", "sel2:0+4 sel1:4+4 sel0:31+1 cbox1:8+3 cbox2:11+3" },
		{ "ev6", "PCTR_CTL", "sl1:0+4 sl0:4+1 pctr1:6+20 pctr0:28+20" },
		{ "ev6", "I_CTL", "spce:0+1 pct0_en:18+1 pct1_en:19+1" },
		{ "ev67", "PCTR_CTL",
		  "tak:0+1 val:1+1 sl1:2+2 sl0:4+1 pctr1:6+20 pm_killed_bm:26+1 pm_stalled:27+1 "
		  "pctr0:28+20" },
		{ "ev67", "I_STAT",
		  "par:29+1 ovr:30+3 icm:33+1 trap_type:34+4 lso:38+1 trp:39+1 mis:40+1" },
		{ "coreduo", "PERFEVTSEL1",
		  "event:0+8 umask:8+8 usr:16+1 os:17+1 edge:18+1 pc:19+1 int:20+1 en:22+1 "
		  "inv:23+1 cmask:24+8" },
		{ "intel_arch", "PERFEVTSEL0",
		  "event:0+8 umask:8+8 usr:16+1 os:17+1 edge:18+1 pc:19+1 int:20+1 any:21+1 "
		  "en:22+1 inv:23+1 cmask:24+8 "
		  "in_tx:32+1 in_tx_cp:33+1 eq:36+1 umask2:40+8" },
		{ "intel_arch", "FIXED_CTR_CTRL",
		  "os0:0+1 usr0:1+1 any0:2+1 pmi0:3+1 os1:4+1 usr1:5+1 any1:6+1 pmi1:7+1 os2:8+1 "
		  "usr2:9+1 any2:10+1 "
		  "pmi2:11+1 os3:12+1 usr3:13+1 any3:14+1 pmi3:15+1 os4:16+1 usr4:17+1 any4:18+1 "
		  "pmi4:19+1 os5:20+1 "
		  "usr5:21+1 any5:22+1 pmi5:23+1 os6:24+1 usr6:25+1 any6:26+1 pmi6:27+1" },
		{ "intel_arch", "GLOBAL_CTRL", "general:0+32 fixed:32+16 metrics:48+1" },
		{ "intel_arch", "PEBS_LD_LAT", "latency:0+16" },
		{ "intel_arch", "PEBS_FRONTEND", "event:0+8 latency:8+12 bubbles:20+3" },
		{ "amd", "PERFEVTSEL0",
		  "event:0+8 umask:8+8 usr:16+1 os:17+1 edge:18+1 int:20+1 en:22+1 inv:23+1 "
		  "cmask:24+8 event_high:32+4 "
		  "guest_only:40+1 host_only:41+1" },
		{ "montecito", "PMC4",
		  "plm:0+4 ev:4+1 oi:5+1 pm:6+1 es:8+8 umask:16+4 thres:20+3 ism:24+2 all:26+1 "
		  "mesi:27+4" },
		{ "montecito", "PMC32",
		  "mask:0+41 b:48+1 f:49+1 i:50+1 m:51+1 inv:56+1 ig_ad:57+1" },
		{ "montecito", "PMC33", "match:0+41" },
		{ "montecito", "PMC36",
		  "ch0_ig_opcm:0+1 ch1_ig_opcm:1+1 ch2_ig_opcm:2+1 ch3_ig_opcm:3+1" },
		{ "montecito", "PMC37", "plm:0+4 pm:4+1 umask:5+8 ct:13+1" },
		{ "montecito", "PMC38",
		  "ig_ibrp0:1+1 ig_ibrp1:4+1 ig_ibrp2:7+1 ig_ibrp3:10+1 fine:13+1" },
		{ "montecito", "PMC39", "plm:0+4 pm:6+1 ds:7+1 tm:8+2 ptm:10+2 ppm:12+2 brt:14+2" },
		{ "montecito", "PMC40", "plm:0+4 pm:6+1 mode:7+2 umask:16+4 ism:24+2" },
		{ "montecito", "PMC41",
		  "cfg_dtag0:3+2 cfg_dtag1:11+2 cfg_dtag2:19+2 cfg_dtag3:27+2 ena_dbrp0:45+1 "
		  "ena_dbrp1:46+1 "
		  "ena_dbrp2:47+1 ena_dbrp3:48+1" },
		{ "montecito", "PMC42", "plm:0+4 pm:6+1 mode:8+3 delay:11+8" },
		{ "montecito", "PMD4", "count:0+47 sxt47:47+17" },
		{ "montecito", "PMD32", "daddr:0+64" },
		{ "montecito", "PMD33", "latency:0+13 overflow:13+1 status:14+2" },
		{ "montecito", "PMD34", "status:0+2 iaddr:5+59" },
		{ "montecito", "PMD35", "latency:0+12 overflow:12+1" },
		{ "montecito", "PMD36", "slot:0+2 bundle:2+1 valid:3+1 iaddr:4+60" },
		{ "montecito", "PMD38", "next:0+4 full:5+1" },
		{ "montecito", "PMD39",
		  "ext48:0+4 ext56:4+4 ext49:8+4 ext57:12+4 ext50:16+4 ext58:20+4 ext51:24+4 "
		  "ext59:28+4 ext52:32+4 "
		  "ext60:36+4 ext53:40+4 ext61:44+4 ext54:48+4 ext62:52+4 ext55:56+4 ext63:60+4" },
		{ "montecito", "PMD48", "source:0+1 mispredict:1+1 slot:2+2 addr:4+60" },
		{ "montecito", "IBR0", "addr:0+64" },
		{ "montecito", "DBR7", "mask:0+56 plm:56+4 w:62+1 rx:63+1" },
		{ "mips_74k", "PERFCTL0", "e:0+1 os:1+1 s:2+1 usr:3+1 int:4+1 event:5+7" },
		{ "netburst", "CCCR0",
		  "enable:12+1 select:13+3 thread:16+2 compare:18+1 cmpl:19+1 thr:20+4 edge:24+1 "
		  "force_ovf:25+1 "
		  "pmi0:26+1 pmi1:27+1 cascade:30+1 ovf:31+1" },
		{ "netburst", "ESCR0",
		  "t1_usr:0+1 t1_os:1+1 t0_usr:2+1 t0_os:3+1 tag_enable:4+1 tag:5+4 mask:9+16 "
		  "event:25+6" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct table *t = table_called(rows[i].table);
		unsigned n = 0;
		const struct register_field *b = pfmi_pmu_get_register_layout(t, rows[i].name, &n);
		char text[512] = "";
		size_t at = 0;

		assert_non_null(b);
		for (unsigned k = 0; k < n && at < sizeof(text); k++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s:%u+%u",
			                       k ? " " : "", b[k].name, (unsigned)b[k].lsb,
			                       (unsigned)b[k].width);
		if (strcmp(text, rows[i].fields) != 0)
			fail_msg("%s of %s: %s", rows[i].name, rows[i].table, text);
	}
}

/* Alpha's tables are recognized by name: only these have Alpha's properties. */
static void only_alpha_tables_have_alpha_properties(void **state)
{
	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		const char *name = table_get_text(t, t->name);
		bool alpha = strcmp(name, "ev4") == 0 || strcmp(name, "ev5") == 0 ||
		             strcmp(name, "pca56") == 0 || strcmp(name, "ev6") == 0 ||
		             strcmp(name, "ev67") == 0;

		assert_int_equal(pfmi_pmu_get_encoder(t)->counts_all_levels, alpha);
		assert_int_equal(pfmi_pmu_get_encoder(t)->has_pfcntr, alpha);
		assert_int_equal(pfmi_pmu_get_encoder(t)->alternatives != NULL, alpha);
		assert_int_equal(pfmi_pmu_has_event_select_mask(t),
		                 alpha || strcmp(name, "montecito") == 0 ||
		                         strcmp(name, "coreduo3") == 0 ||
		                         t->encoder == ENCODER_MIPS);
		assert_int_equal(pfmi_pmu_get_encoder(t)->default_levels,
		                 strcmp(name, "montecito") == 0 ? PFM_PLM3 : PFM_PLM3 | PFM_PLM0);
	}
}

/* A table of a later library may name an encoder that this one does not have. */
static void tables_of_unknown_encoders_are_refused(void **state)
{
	static const unsigned encoders[] = { ENCODER_NONE, N_ENCODERS, N_ENCODERS + 1, 0xffff };

	(void)state;
	for (size_t i = 0; i < COUNT(encoders); i++) {
		struct table t = *table_get_builtin(0);
		struct event ev = { .table = &t, .row_index = ROW_NONE };
		const struct encode_request req = { .table = &t, .events = &ev, .n_events = 1 };
		struct plan plan = { .n_alternatives = 0 };
		pfm_error_t why = PFM_INIT(why);
		perfmon_attr_t attr = { 0 };
		unsigned n;

		t.encoder = (uint16_t)encoders[i];
		assert_false(pfmi_pmu_has_encoder(&t));
		assert_int_equal(pfmi_pmu_constrain_set(&req, &plan, &why), PFMLIB_ERR_NOTSUPP);
		assert_int_equal(why.code, PFMLIB_ERR_NOTSUPP);
		assert_int_equal(pfmi_pmu_check_event(&ev, NULL), PFMLIB_SUCCESS);
		pfmi_pmu_build_event_attr(&ev, -1, 0, &attr);
		assert_false(attr.expressible);
		assert_null(pfmi_pmu_get_register_layout(&t, "PERFEVTSEL0", &n));
		assert_null(pfmi_pmu_get_encoder(&t)->registers);
	}
}

/* An event with all its levels switched off encodes like one in a request without levels. */
static void levels_switched_off(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		struct placement where;
		struct register_values off, none, all;
		struct event ev;
		struct encode_request req = { .table = t, .events = &ev, .n_events = 1 };

		if ((t->encoder >= ENCODER_EV4 && t->encoder <= ENCODER_EV67) ||
		    !table_counters(t) || !is_event(t, 0))
			continue;
		pfmi_pmu_init_event(&ev, t, 0);
		if (pfmi_pmu_dispatch_set(&req, &where, &none, NULL))
			continue;
		req.plm = PFM_PLM0 | PFM_PLM3;
		assert_int_equal(pfmi_pmu_dispatch_set(&req, &where, &all, NULL), PFMLIB_SUCCESS);
		ev.has_no_levels = 1;
		assert_int_equal(pfmi_pmu_dispatch_set(&req, &where, &off, NULL), PFMLIB_SUCCESS);
		assert_true(off.n_pmcs == none.n_pmcs && off.n_pmcs == all.n_pmcs);
		for (unsigned k = 0; k < off.n_pmcs; k++) {
			assert_true(off.pmcs[k].value == none.pmcs[k].value);
			n += off.pmcs[k].value != all.pmcs[k].value;
		}
	}
	assert_true(n > 20);
}

UNIT(pmu_encoders, cmocka_unit_test(every_table_has_an_encoder_with_registers),
     cmocka_unit_test(fields_of_registers),
     cmocka_unit_test(only_alpha_tables_have_alpha_properties),
     cmocka_unit_test(tables_of_unknown_encoders_are_refused),
     cmocka_unit_test(levels_switched_off));
