/* SPDX-License-Identifier: MIT */
/* The interface of pfm_check_system(). */
#include "check_fixture.h"

static void the_check_refuses_wrong_arguments(void **state)
{
	struct checked_machine m;
	pfm_system_check_t *check = (pfm_system_check_t *)&m;
	pfm_finding_t f = PFM_INIT(f);

	(void)state;
	open_machine(&m);
	assert_int_equal(pfm_check_system(NULL, m.ctx, 0), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_check_system(&check, m.ctx, 1u << 31), PFMLIB_ERR_INVAL);
	assert_null(check);
	assert_int_equal(pfm_describe_finding(NULL, 0, &f), PFMLIB_ERR_INVAL);
	check_machine_now(&m, PFM_CHECK_NO_WORKLOAD);
	assert_int_equal(pfm_describe_finding(m.check, 1000, &f), PFMLIB_ERR_NOTFOUND);
	f.size = 1;
	assert_int_equal(pfm_describe_finding(m.check, 0, &f), PFMLIB_ERR_INVAL);
	pfm_close_system_check(NULL);
	close_machine(&m);
}

/* Texts are never NULL, and topics come in their order. */
static void every_finding_is_whole(void **state)
{
	pfm_finding_t f = PFM_INIT(f);
	struct checked_machine m;
	unsigned i, topic = 0;

	(void)state;
	open_machine(&m);
	check_machine_now(&m, PFM_CHECK_NO_WORKLOAD);
	for (i = 0; !pfm_describe_finding(m.check, i, &f); i++) {
		assert_true(f.check && f.observed && f.consequence && f.remedy && f.available &&
		            f.expected);
		assert_true((unsigned)f.topic >= topic && (unsigned)f.topic < PFM_FINDING_WORKLOAD);
		topic = (unsigned)f.topic;
	}
	assert_true(i > 3);
	close_machine(&m);
}

static void no_descriptor_left(void **state)
{
	struct checked_machine m;

	(void)state;
	open_machine(&m);
	pfm_count_pmus(m.ctx);
	m.fake.fail = FAKE_OPEN;
	m.fake.fail_at = m.fake.uses[FAKE_OPEN] + 1;
	m.fake.fail_errno = EMFILE;
	m.fake.fail_on = true;
	check_machine_now(&m, PFM_CHECK_NO_WORKLOAD);
	assert_int_equal(find_check(&m, "own resources").state, PFM_FINDING_BAD);
	close_machine(&m);
}

UNIT(system_system_check, cmocka_unit_test(the_check_refuses_wrong_arguments),
     cmocka_unit_test(every_finding_is_whole), cmocka_unit_test(no_descriptor_left));
