/* SPDX-License-Identifier: MIT */
/* Types and template arguments: the Itanium C++ ABI, sections 5.1.5 and 5.1.6. */
#include "cpp_names.h"

static void built_in_types_have_their_names(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_Z1fbcahstijlmxynofdegwz",
		  "f(bool, char, signed char, unsigned char, short, unsigned short, int, unsigned "
		  "int, long, unsigned long, long long, unsigned long long, __int128, unsigned "
		  "__int128, float, double, long double, __float128, wchar_t, ...)" },
		{ "_Z1fDnDsDiDu", "f(decltype(nullptr), char16_t, char32_t, char8_t)" },
		{ "_Z1fDF16_DF32x", "f(_Float16, _Float32x)" },
		{ "_Z1fDB8_", "f(signed _BitInt(8))" },
		{ "_Z1fPVKc", "f(char const volatile*)" },
		{ "_Z1fPrKc", "f(char const restrict*)" },
		{ "_Z1fCd", "f(double _Complex)" },
		{ "_Z1fDv4_f", "f(float __vector(4))" },
		{ "_Z1fu3foo", "f(foo)" },
		{ "_Z1fTs1A", "f(A)" },
		{ "_Z1fU3fooPi", "f(int* foo)" },
		{ "_Z1fD", NULL },
		{ "_Z1fPv", "f(void*)" },
		{ "_Z1fvv", NULL },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

static void functions_and_arrays(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_Z1fPFivE", "f(int (*)())" },
		{ "_Z1fPFPFvvEvE", "f(void (*(*)())())" },
		{ "_Z1fPFPvvE", "f(void* (*)())" },
		{ "_Z1fPDoFvvE", "f(void (*)() noexcept)" },
		{ "_Z1fPFviRE", "f(void (*)(int) &)" },
		{ "_Z1fM1AKFvvE", "f(void (A::*)() const)" },
		{ "_Z1fPM1AFvvE", "f(void (A::**)())" },
		{ "_Z1fM1Ai", "f(int A::*)" },
		{ "_Z1fM1AA3_i", "f(int (A::*) [3])" },
		{ "_Z1fPA5_KiRA3_A4_i", "f(int const (*) [5], int (&) [3][4])" },
		{ "_Z1fA_i", "f(int [])" },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

static void arguments_of_templates_are_substituted(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_Z1fIiEvT_", "void f<int>(int)" },
		{ "_Z1fI1AIiES1_EvT_T0_", "void f<A<int>, A<int> >(A<int>, A<int>)" },
		{ "_Z1fIJicEEvDpT_", "void f<int, char>(int, char)" },
		{ "_Z1fIJEEvDpT_", "void f<>()" },
		{ "_Z1fIJEiEvDpT_T0_", "void f<int>(int)" },
		{ "_Z1fILb1ELin5ELj4ELm7ELs3ELc65EEvv",
		  "void f<true, -5, 4u, 7ul, (short)3, (char)65>()" },
		{ "_Z1fIRiEvOT_", "void f<int&>(int&)" },
		{ "_Z1fIKcEvPKT_", "void f<char const>(char const*)" },
		{ "_Z1fIFvvEEvPT_", "void f<void ()>(void (*)())" },
		{ "_Z1fIiEvT0_", NULL },
		{ "_Z1fDpT_", NULL },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

UNIT(profile_cpp_types, cmocka_unit_test(built_in_types_have_their_names),
     cmocka_unit_test(functions_and_arrays),
     cmocka_unit_test(arguments_of_templates_are_substituted));
