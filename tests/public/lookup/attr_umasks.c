/* SPDX-License-Identifier: MIT */
/* Unit masks among other attributes. */
#include "units.h"
#include "attr_texts.h"

static void masks_that_stand_too_late(void **state)
{
	static const struct wrong lines[] = {
		{ "bdw::L2_LINES_IN:ANY:E", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 21, 22 },
		{ "bdw::L2_LINES_IN:ANY:c=1:E", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 25, 26 },
		{ "clx::L1D_PEND_MISS:EDGE:0x1", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 19, 23 },
		/* Two fields of the same bits. */
		{ "skl/event=0x3c,ldlat=3,offcore_rsp=3/", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT,
		  23, 34 },
		{ "skl::INST_RETIRED:ANY_P:frontend=0:ldlat=0", PFMLIB_ERR_ATTR_SET,
		  PFM_KIND_CONFLICT, 35, 40 },
	};

	(void)state;
	check_errors("coreduo", lines, sizeof(lines) / sizeof(lines[0]));
}

/* A state of a line that is called like a letter, on a processor that inverts nothing. */
static void unit_masks_come_before_letters(void **state)
{
	pfm_ctx_t *ctx = open_for("montecito");
	pfm_encoding_t mask = PFM_INIT(mask), e = PFM_INIT(e);

	(void)state;
	assert_int_equal(pfm_encode_event(ctx, "L3_INSERTS:MESI=I", 0, &mask, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_encode_event(ctx, "L3_INSERTS:I", 0, &e, NULL), PFMLIB_SUCCESS);
	assert_memory_equal(&e, &mask, sizeof(e));
	assert_int_equal(e.attr.exclude_idle, 0);
	pfm_close_context(ctx);
}

UNIT(lookup_attr_umasks, cmocka_unit_test(masks_that_stand_too_late),
     cmocka_unit_test(unit_masks_come_before_letters));
