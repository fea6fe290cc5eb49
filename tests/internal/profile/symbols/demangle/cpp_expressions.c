/* SPDX-License-Identifier: MIT */
/* Expressions: the Itanium C++ ABI, section 5.1.6. */
#include "cpp_names.h"

static void operators_print_their_operands(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_Z1fIiEDTplfp_fp_ET_", "decltype ({parm#1}+{parm#1}) f<int>(int)" },
		{ "_Z1fIXgtLi3ELi2EEEvv", "void f<((3)>(2))>()" },
		{ "_Z1fIXntLb1EEEvv", "void f<!(true)>()" },
		{ "_Z1fIXquLb1ELi1ELi2EEEvv", "void f<(true)?(1) : (2)>()" },
		{ "_Z1fIXstiEEvv", "void f<sizeof (int)>()" },
		{ "_Z1fIiEDTpp_fp_ET_", "decltype (++{parm#1}) f<int>(int)" },
		{ "_Z1fIiEDTppfp_ET_", "decltype ({parm#1}++) f<int>(int)" },
		{ "_Z1fIiEDTixfp_Li0EET_", "decltype ({parm#1}[0]) f<int>(int)" },
		{ "_Z1fIXqqEEvv", NULL },
		{ "_Z1fIXplLi1EEEvv", NULL },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

static void calls_casts_and_members(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_Z1fIiEDTcldtfp_5beginEET_", "decltype (({parm#1}.begin)()) f<int>(int)" },
		{ "_Z1fIiEDTclfp_Li1EEET_", "decltype ({parm#1}(1)) f<int>(int)" },
		{ "_Z1fIiEDTptfp_1xET_", "decltype ({parm#1}->x) f<int>(int)" },
		{ "_Z1fIiEDTscT_fp_ET_", "decltype (static_cast<int>({parm#1})) f<int>(int)" },
		{ "_Z1fIiEDTcvT__EEv", "decltype ((int)()) f<int>()" },
		{ "_Z1fIiEDTcvT_fp_ET_", "decltype ((int){parm#1}) f<int>(int)" },
		{ "_Z1fIiEDTtlT_Li1EEET_", "decltype (int{1}) f<int>(int)" },
		{ "_Z1fIiEDTnw_T_EEv", "decltype (new int) f<int>()" },
		{ "_Z1fIiEDTnxclfp_EET_", "decltype (noexcept({parm#1}())) f<int>(int)" },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

static void dependent_names_print_with_their_scope(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_Z1fIiEDTadsrT_1gET_", "decltype (&int::g) f<int>(int)" },
		{ "_Z1fIiEvDTclsr3stdE4moveIT_Efp_EE",
		  "void f<int>(decltype (std::move<int>({parm#1})))" },
		{ "_Z1fIiE1AIXsr1BIT_E1xEEv", "A<B<int>::x> f<int>()" },
		{ "_Z1fIXadL_ZN1A1gEvEEEvv", "void f<&A::g>()" },
		{ "_Z1fIXadL_Z1gvEEEvv", "void f<&(g())>()" },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

static void packs_print_their_elements(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_Z1fIJiiEEDTcl1gspfp_EEDpT_",
		  "decltype (g({parm#1}...)) f<int, int>(int, int)" },
		{ "_Z1fIJiiEEvRAsZT__c", "void f<int, int>(char (&) [2])" },
		{ "_Z1fIJiEEvDTflplT_E", "void f<int>(decltype ((...+(int))))" },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

UNIT(profile_cpp_expressions, cmocka_unit_test(operators_print_their_operands),
     cmocka_unit_test(calls_casts_and_members),
     cmocka_unit_test(dependent_names_print_with_their_scope),
     cmocka_unit_test(packs_print_their_elements));
