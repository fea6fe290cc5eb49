/* SPDX-License-Identifier: MIT */
/* What every encoder has to have: registers that it names and knows, whose fields lie side by side. */
#include "tables.h"
#include <perfmon/pfmlib.h>

/* Calls @each with every register that the list of @t's encoder spells: "A[0-2] B". */
static void each_register(const struct table *t, void (*each)(const struct table *t, const char *name))
{
	const char *s = pfmi_encoder_registers(t);
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
	const struct bits *b = pfmi_encoder_layout(t, name, &n);
	uint64_t all = 0;

	for (unsigned i = 0; b && i < n; i++) {
		uint64_t mine = bits_mask(b[i]) << b[i].lsb;

		assert_true(b[i].width >= 1 && b[i].lsb + b[i].width <= 64);
		assert_true((all & mine) == 0);
		all |= mine;
	}
	n_layouts += b != NULL;
}

/* Bits that choose the event are bits of the register's fields; the counter exists. */
static void significant(const struct table *t, const char *name)
{
	unsigned n = 0, counter = 99;
	const struct bits *b = pfmi_encoder_layout(t, name, &n);
	uint64_t all = 0, chosen;

	for (unsigned i = 0; b && i < n; i++)
		all |= bits_mask(b[i]) << b[i].lsb;
	for (unsigned i = 0; i < 4; i++) {
		chosen = pfmi_encoder_significant(t, name, i, &counter);
		if (!pfmi_has_significant(t))
			assert_true(chosen == 0);
		if (!chosen)
			return;
		assert_true((chosen & ~all) == 0);
		assert_true(t->all_counters >> counter & 1);
	}
}

static void registers(void **state)
{
	(void)state;
	for (unsigned i = 0; i < pfmi_n_builtin(); i++) {
		const struct table *t = pfmi_builtin(i);
		unsigned n;

		assert_true(pfmi_has_encoder(t));
		n_layouts = 0;
		each_register(t, no_overlap);
		assert_int_equal(n_layouts != 0, *pfmi_encoder_registers(t) != '\0');
		each_register(t, significant);
		assert_null(pfmi_encoder_layout(t, "NO_SUCH_REGISTER", &n));
		assert_null(pfmi_encoder_layout(t, "", &n));
	}
}

/* Alpha's tables are known by name; what is said of them alone is said of no other. */
static void alone_with_alpha(void **state)
{
	(void)state;
	for (unsigned i = 0; i < pfmi_n_builtin(); i++) {
		const struct table *t = pfmi_builtin(i);
		const char *name = table_text(t, t->name);
		bool alpha = strcmp(name, "ev4") == 0 || strcmp(name, "ev5") == 0 || strcmp(name, "pca56") == 0 ||
		             strcmp(name, "ev6") == 0 || strcmp(name, "ev67") == 0;

		assert_int_equal(pfmi_every_level(t), alpha);
		assert_int_equal(pfmi_has_pfcntr(t), alpha);
		assert_int_equal(pfmi_encoder_alternatives(t) != NULL, alpha);
		assert_int_equal(pfmi_has_significant(t),
		                 alpha || strcmp(name, "montecito") == 0 || t->encoder == ENCODER_MIPS);
		assert_int_equal(pfmi_usual_levels(t), strcmp(name, "montecito") == 0 ? PFM_PLM3 : PFM_PLM3 | PFM_PLM0);
	}
}

/* A table of a later library may name an encoder that this one does not have. */
static void unknown_encoders(void **state)
{
	static const unsigned encoders[] = { ENCODER_NONE, N_ENCODERS, N_ENCODERS + 1, 0xffff };

	(void)state;
	for (size_t i = 0; i < COUNT(encoders); i++) {
		struct table t = *pfmi_builtin(0);
		struct event ev = { .table = &t, .row = ROW_NONE };
		const struct request req = { .table = &t, .events = &ev, .n = 1 };
		struct plan plan = { .n_alternatives = 0 };
		pfm_error_t why = PFM_INIT(why);
		pfm_attr_t attr = { 0 };
		unsigned n;

		t.encoder = (uint16_t)encoders[i];
		assert_false(pfmi_has_encoder(&t));
		assert_int_equal(pfmi_encoder_constrain(&req, &plan, &why), PFMLIB_ERR_NOTSUPP);
		assert_int_equal(why.code, PFMLIB_ERR_NOTSUPP);
		assert_int_equal(pfmi_encoder_check(&ev, NULL), PFMLIB_SUCCESS);
		assert_int_equal(pfmi_encoder_attr(&ev, 0, &attr, NULL), PFMLIB_SUCCESS);
		assert_false(attr.expressible);
		assert_null(pfmi_encoder_layout(&t, "PERFEVTSEL0", &n));
		assert_string_equal(pfmi_encoder_registers(&t), "");
		assert_int_equal(pfmi_encoder_alone(&ev, 9, &attr, NULL), 0);
	}
}

UNIT(pmu_encoders, cmocka_unit_test(registers), cmocka_unit_test(alone_with_alpha), cmocka_unit_test(unknown_encoders));
