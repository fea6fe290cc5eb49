/* SPDX-License-Identifier: MIT */
/* Names of counts: memory for texts of every size. */
#include <errno.h>
#include "built_session.h"

/* Names of every size are allocated empty and do not overlap. */
static void memory_for_names(void **state)
{
	static const size_t sizes[] = { 1, 8, 899, 1, 900, 1, 901, 5000, 2, 450, 450, 1 };
	char *at[COUNT(sizes)];

	(void)state;
	begin_session();
	for (size_t i = 0; i < COUNT(sizes); i++) {
		at[i] = pfmi_session_alloc_name(s, sizes[i]);
		assert_non_null(at[i]);
		assert_int_equal(at[i][0], '\0');
		memset(at[i], (int)(i + 1), sizes[i]);
	}
	for (size_t i = 0; i < COUNT(sizes); i++)
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(at[i][k], i + 1);
	pfmi_session_free_names(s);
	assert_null(s->name_blocks);
	pfmi_session_free_names(s);
	/* Names that fit into one block come from one block. */
	at[0] = pfmi_session_alloc_name(s, 100);
	for (unsigned i = 1; i < 9; i++)
		assert_ptr_equal(pfmi_session_alloc_name(s, 100), at[0] + 100 * i);
}

UNIT(session_builder, CASE(memory_for_names));
