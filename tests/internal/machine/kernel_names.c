/* SPDX-License-Identifier: MIT */
/* Which PMU a name, a number or an identifier means, on PMUs made up letter by letter: names that
 * begin like another, that end like another, and that only look as if they had a number. */
#include "units.h"
#include "context/context.h"
#include "machine/machine.h"
#include "table/build.h"

static struct slice slice(const char *s)
{
	return (struct slice){ s, (uint32_t)strlen(s) };
}

static void an_instance_ends_with_a_number(void **state)
{
	static const struct {
		const char *name;
		size_t base;
	} rows[] = {
		{ "", 0 },       { "cpu", 3 },      { "a0", 1 },       { "a_0", 1 },
		{ "a_00", 1 },   { "a_9z", 4 },     { "12", 2 },       { "_1", 1 },
		{ "a__1", 2 },   { "a_b", 3 },      { "a_bc", 4 }, /* two hexadecimal digits are
		                                                      letters */
		{ "a_bcd", 1 },                                    /* three are an address */
		{ "a_BCD", 1 },                                    /* of either case */
		{ "a_bcg", 5 },  { "a_b2", 3 },                    /* digits after letters */
		{ "a_ff12", 1 }, { "abcdef", 6 }, /* without a line before it nothing is an address
		                                   */
		{ "_abc", 4 },   { "a_12_abc", 4 }, { "a_abc_12", 5 }, { "fff40", 3 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (pfmi_machine_measure_instance_base(rows[i].name) != rows[i].base)
			fail_msg("%s: %zu, not %zu", rows[i].name,
			         pfmi_machine_measure_instance_base(rows[i].name), rows[i].base);
}

/* A table without events, with aliases @aka and, unless it is NULL, with @identifier. */
static struct table *table_of(const char *aka, const char *identifier)
{
	struct table_builder b;
	struct table *t;

	pfmi_table_begin_build(&b);
	b.head.aliases = pfmi_table_add_text(&b, aka, strlen(aka));
	pfmi_table_add_feature(&b, "identity", "not this", 0);
	if (identifier)
		pfmi_table_add_feature(&b, "identifier", identifier, 0);
	t = pfmi_table_finish_build(&b);
	assert_non_null(t);
	return t;
}

static const char *const cha_names[] = { "cha_0", "cha_1", "cha_10", "cha_11" }, *const alone[] = {
	"imc_3"
};

static void instances_are_found_by_name(void **state)
{
	const struct kernel_pmu cha = { .name = "cha",
		                        .n_instances = 4,
		                        .instance_names = cha_names },
				imc = { .name = "imc_3",
		                        .n_instances = 1,
		                        .instance_names = alone };

	(void)state;
	assert_int_equal(pfmi_machine_find_instance(&cha, slice("cha")), 0);
	assert_int_equal(pfmi_machine_find_instance(&cha, slice("cha_0")), 1);
	assert_int_equal(pfmi_machine_find_instance(&cha, slice("cha_1")), 2);
	assert_int_equal(pfmi_machine_find_instance(&cha, slice("cha_11")), 4);
	assert_int_equal(pfmi_machine_find_instance(&cha, slice("cha_")), 0);
	assert_int_equal(pfmi_machine_find_instance(&cha, slice("cha_2")), 0);
	assert_int_equal(pfmi_machine_find_instance(&cha, (struct slice){ "cha_11", 5 }), 2);
	assert_int_equal(pfmi_machine_find_instance(&cha, slice("")), 0);
	/* A PMU with a single instance does not offer it by name. */
	assert_int_equal(pfmi_machine_find_instance(&imc, slice("imc_3")), 0);
}

/* The second instance has the name of the PMU, which selects the PMU. */
static void an_instance_called_like_the_pmu(void **state)
{
	static const char *const names[] = { "a_1", "a" };
	const struct kernel_pmu a = { .name = "a", .n_instances = 2, .instance_names = names };

	(void)state;
	assert_int_equal(pfmi_machine_find_instance(&a, slice("a")), 0);
	assert_int_equal(pfmi_machine_find_instance(&a, slice("a_1")), 1);
}

static void numbers_of_instances_are_those_of_their_names(void **state)
{
	static const char *const addresses[] = { "mesh_fff40", "mesh_7", "mesh_ff007" };
	const struct kernel_pmu cha = { .name = "cha",
		                        .n_instances = 4,
		                        .instance_names = cha_names },
				mesh = { .name = "mesh",
		                         .n_instances = 3,
		                         .instance_names = addresses };

	(void)state;
	assert_int_equal(pfmi_machine_find_instance_number(&cha, slice("0")), 1);
	assert_int_equal(pfmi_machine_find_instance_number(&cha, slice("1")), 2);
	assert_int_equal(pfmi_machine_find_instance_number(&cha, slice("10")), 3);
	assert_int_equal(pfmi_machine_find_instance_number(&cha, slice("11")), 4);
	assert_int_equal(pfmi_machine_find_instance_number(&cha, slice("2")), 0);
	assert_int_equal(pfmi_machine_find_instance_number(&cha, slice("00")), 0);
	assert_int_equal(pfmi_machine_find_instance_number(&cha, slice("")), 0);
	assert_int_equal(pfmi_machine_find_instance_number(&mesh, slice("40")), 1);
	assert_int_equal(pfmi_machine_find_instance_number(&mesh, slice("7")), 2);
	assert_int_equal(pfmi_machine_find_instance_number(&mesh, slice("007")), 3);
	assert_int_equal(pfmi_machine_find_instance_number(&(struct kernel_pmu){ .name = "none" },
	                                                   slice("0")),
	                 0);
}

static void a_pmu_is_found_by_each_of_its_names(void **state)
{
	struct table *none = table_of("", NULL), *two = table_of("first second", NULL);
	struct kernel_pmu pmus[] = {
		{ .name = "imc", .n_instances = 1, .instance_names = alone, .table = two },
		{ .name = "cha", .n_instances = 4, .instance_names = cha_names, .table = none },
		{ .name = "second", .table = none },
		{ .name = "cha_11", .table = none },
	};
	const struct kernel_info k = { .n_pmus = COUNT(pmus), .pmus = pmus };

	(void)state;
	assert_ptr_equal(pfmi_machine_find_kernel_pmu(&k, slice("imc")), &pmus[0]);
	assert_ptr_equal(pfmi_machine_find_kernel_pmu(&k, slice("imc_3")), &pmus[0]);
	assert_ptr_equal(pfmi_machine_find_kernel_pmu(&k, slice("first")), &pmus[0]);
	assert_ptr_equal(pfmi_machine_find_kernel_pmu(&k, slice("second")),
	                 &pmus[0]); /* the first that answers to it */
	assert_ptr_equal(pfmi_machine_find_kernel_pmu(&k, slice("cha_10")), &pmus[1]);
	assert_ptr_equal(pfmi_machine_find_kernel_pmu(&k, slice("cha_11")), &pmus[1]);
	assert_null(pfmi_machine_find_kernel_pmu(&k, slice("first second")));
	assert_null(pfmi_machine_find_kernel_pmu(&k, slice("firs")));
	assert_null(pfmi_machine_find_kernel_pmu(&k, slice("econd")));
	assert_null(pfmi_machine_find_kernel_pmu(&k, slice("im")));
	assert_null(pfmi_machine_find_kernel_pmu(&k, slice("")));
	assert_null(pfmi_machine_find_kernel_pmu(&k, slice("IMC")));
	assert_null(pfmi_machine_find_kernel_pmu(NULL, slice("imc")));
	pmus[0].name[0] = '\0';
	assert_ptr_equal(pfmi_machine_find_kernel_pmu(&k, slice("second")), &pmus[0]);
	free(none);
	free(two);
}

/* A list's table: rows that are for the identifiers in @compat, "" for a row that says nothing of
 * them. */
static struct table *list_of(const char *const *compat, unsigned n, const char *field)
{
	const struct bitrange word = { .width = 32 }, other = { .config_word = 1, .width = 32 };
	struct table_builder b;
	struct table *t;
	unsigned code, ids;

	pfmi_table_begin_build(&b);
	code = pfmi_table_add_field(&b, "code", KEY_NONE, &other, 1);
	ids = pfmi_table_add_field(&b, field, KEY_NONE, &word, 1);
	for (unsigned i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "E%u", i);
		pfmi_table_begin_row(&b, name, "", 0);
		/* A number that would lead to the first list's text. */
		pfmi_table_set_row_value(&b, code, pfmi_table_add_text(&b, "other", 5));
		if (*compat[i])
			pfmi_table_set_row_value(
				&b, ids, pfmi_table_add_text(&b, compat[i], strlen(compat[i])));
	}
	t = pfmi_table_finish_build(&b);
	assert_non_null(t);
	return t;
}

static void expect_identified(const char *identifier, const struct table *list, bool yes)
{
	struct table *own = table_of("", identifier);
	const struct kernel_pmu p = { .name = "p", .table = own };

	if (pfmi_machine_has_kernel_identifier(&p, list) != yes)
		fail_msg("%s", identifier ? identifier : "no identifier");
	free(own);
}

static void identifiers_choose_the_row_of_a_list(void **state)
{
	static const char *const two_rows[] = { "0x00000030 0x00000040", "", "arm_cmn700* x" },
				 *const star[] = { "*" }, *const all[] = { "", "" };
	struct table *list = list_of(two_rows, 3, "compat"), *any = list_of(star, 1, "compat"),
		     *silent = list_of(all, 2, "compat"),
		     *another = list_of(two_rows, 3, "compatible");

	(void)state;
	expect_identified("0x00000030", list, true);
	expect_identified("0x00000040", list, true);
	expect_identified("0x0000003", list, false);
	expect_identified("0x000000300", list, false);
	expect_identified("arm_cmn700", list, true);
	expect_identified("arm_cmn700_r3", list, true);
	expect_identified("arm_cmn70", list, false);
	expect_identified("x", list, true);
	expect_identified("xx", list, false);
	expect_identified("other", list, false);
	expect_identified("", list, false);
	expect_identified(NULL, list, false);
	expect_identified("anything", any, true);
	expect_identified(NULL, any, false);
	expect_identified("anything", silent, false);
	expect_identified("0x00000030", another, false);
	free(list);
	free(any);
	free(silent);
	free(another);
}

UNIT(machine_kernel_names, cmocka_unit_test(an_instance_ends_with_a_number),
     cmocka_unit_test(instances_are_found_by_name),
     cmocka_unit_test(an_instance_called_like_the_pmu),
     cmocka_unit_test(numbers_of_instances_are_those_of_their_names),
     cmocka_unit_test(a_pmu_is_found_by_each_of_its_names),
     cmocka_unit_test(identifiers_choose_the_row_of_a_list));
