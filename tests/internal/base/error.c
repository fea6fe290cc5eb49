/* SPDX-License-Identifier: MIT */
/* Refusals: the place of the refused word, without remains of an earlier refusal. */
#include "dispatched_set.h"
#include "units.h"
#include <perfmon/types.h>
#include "base/text.h"

static void make_dirty_error(pfm_error_t *why)
{
	memset(why, 0xa5, sizeof(*why));
	why->size = sizeof(*why);
}

static void error_marks_the_faulty_word(void **state)
{
	static const char text[] = "cpu::cycles:bad=1";
	pfm_error_t why;

	(void)state;
	for (uint32_t start = 0; start < sizeof(text); start++)
		for (uint32_t len = 0; start + len < sizeof(text); len++) {
			make_dirty_error(&why);
			assert_int_equal(pfmi_base_set_error(&why, PFMLIB_ERR_ATTR,
			                                     PFM_KIND_UNKNOWN_QUALIFIER, text,
			                                     (struct slice){ text + start, len },
			                                     "detail"),
			                 PFMLIB_ERR_ATTR);
			assert_int_equal(why.start, start);
			assert_int_equal(why.end, start + len);
		}
	assert_int_equal(why.code, PFMLIB_ERR_ATTR);
	assert_int_equal(why.kind, PFM_KIND_UNKNOWN_QUALIFIER);
	assert_string_equal(why.detail, "detail");
}

/* Without a text, or without a place in it, no place is marked, and the place of an earlier
 * refusal is cleared. */
static void error_without_a_place(void **state)
{
	static const char text[] = "text";
	pfm_error_t why;

	(void)state;
	for (int has_text = 0; has_text < 2; has_text++) {
		make_dirty_error(&why);
		pfmi_base_set_error(&why, PFMLIB_ERR_INVAL, PFM_KIND_NONE, has_text ? text : NULL,
		                    (struct slice){ has_text ? NULL : text, 3 }, NULL);
		assert_int_equal(why.start, 0);
		assert_int_equal(why.end, 0);
		assert_int_equal(why.event, -1);
		assert_int_equal(why.sys_errno, 0);
		assert_true(has_clash(&why, 0) && why.clash_counters == 0 && why.number == 0);
		assert_null(why.detail);
		assert_int_equal(why.size, sizeof(why));
	}
}

static void error_struct_is_missing(void **state)
{
	(void)state;
	assert_int_equal(pfmi_base_set_error(NULL, PFMLIB_ERR_FULL, PFM_KIND_NONE, "x",
	                                     (struct slice){ 0 }, NULL),
	                 PFMLIB_ERR_FULL);
	assert_int_equal(pfmi_base_set_errno_error(NULL, PFMLIB_ERR_SYS, 13, "x"), PFMLIB_ERR_SYS);
}

static void system_error_has_errno(void **state)
{
	pfm_error_t why;

	(void)state;
	make_dirty_error(&why);
	assert_int_equal(pfmi_base_set_errno_error(&why, PFMLIB_ERR_PERM, 13, "open"),
	                 PFMLIB_ERR_PERM);
	assert_int_equal(why.kind, PFM_KIND_SYSTEM);
	assert_int_equal(why.sys_errno, 13);
	assert_int_equal(why.start, 0);
	assert_int_equal(why.end, 0);
	assert_string_equal(why.detail, "open");
}

/* Errors that no part of a text caused: of an event of a set, of an argument, of memory. */
static void plain_error_has_no_token(void **state)
{
	pfm_error_t why;

	(void)state;
	make_dirty_error(&why);
	assert_int_equal(pfmi_base_set_plain_error(&why, PFMLIB_ERR_FULL, PFM_KIND_MODEL, "full"),
	                 PFMLIB_ERR_FULL);
	assert_true(why.code == PFMLIB_ERR_FULL && why.kind == PFM_KIND_MODEL && why.event == -1);
	assert_string_equal(why.detail, "full");
	make_dirty_error(&why);
	assert_int_equal(
		pfmi_base_set_event_error(&why, PFMLIB_ERR_NOASSIGN, PFM_KIND_ALONE, 3, NULL),
		PFMLIB_ERR_NOASSIGN);
	assert_true(why.event == 3 && why.start == 0 && why.end == 0);
	make_dirty_error(&why);
	assert_int_equal(pfmi_base_refuse_argument(&why, "NULL"), PFMLIB_ERR_INVAL);
	assert_true(why.code == PFMLIB_ERR_INVAL && why.kind == PFM_KIND_NONE && why.event == -1);
	make_dirty_error(&why);
	assert_int_equal(pfmi_base_set_no_memory_error(&why), PFMLIB_ERR_NOMEM);
	assert_true(why.kind == PFM_KIND_SYSTEM && why.sys_errno == 0 && !why.detail);
	assert_int_equal(
		pfmi_base_set_event_error(NULL, PFMLIB_ERR_NOASSIGN, PFM_KIND_ALONE, 3, NULL),
		PFMLIB_ERR_NOASSIGN);
}

/* Every code of the header has a text of its own, complete and without an end of line; other
 * numbers have the text of unknown codes. */
static void texts_of_codes(void **state)
{
	(void)state;
	for (int code = 0; code >= PFMLIB_ERR_LAST; code--)
		for (int other = 1; other > code; other--)
			assert_string_not_equal(pfm_result_text(code), pfm_result_text(other));
	assert_string_equal(pfm_result_text(PFMLIB_SUCCESS), "success");
	assert_string_equal(pfm_result_text(1), pfm_result_text(INT32_MIN));
	assert_string_equal(pfm_result_text(1), pfm_result_text(INT32_MAX));
}

UNIT(base_error, cmocka_unit_test(error_marks_the_faulty_word),
     cmocka_unit_test(error_without_a_place), cmocka_unit_test(error_struct_is_missing),
     cmocka_unit_test(system_error_has_errno), cmocka_unit_test(plain_error_has_no_token),
     cmocka_unit_test(texts_of_codes));
