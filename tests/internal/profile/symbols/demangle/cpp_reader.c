/* SPDX-License-Identifier: MIT */
/* Numbers, names, references and operators: the Itanium C++ ABI, sections 5.1.3, 5.1.5 and 5.1.8.
 */
#include "cpp_names.h"

static void names_and_references(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_Z1fv", "f()" },
		{ "_ZN1A1B1CE", "A::B::C" },
		{ "_ZN12_GLOBAL__N_11xE", "(anonymous namespace)::x" },
		{ "_Z1f1AS_S_", "f(A, A, A)" },
		{ "_Z1fN1A1BES_S0_", "f(A::B, A, A::B)" },
		{ "_Z1fSsSaIcE", "f(std::string, std::allocator<char>)" },
		{ "_ZNSsC1Ev", "std::basic_string<char, std::char_traits<char>, "
		               "std::allocator<char> >::basic_string()" },
		{ "_ZNSolsEi", "std::ostream::operator<<(int)" },
		{ "_Z1fS_", NULL },
		{ "_Z1f1AS0_", NULL },
		{ "_Z0v", NULL },
		{ "_Z9short", NULL },
		{ "_Z99999999999999999999f", NULL },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

static void operators_have_their_signs(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_ZN1AaSEOS_", "A::operator=(A&&)" },
		{ "_ZN1AixEi", "A::operator[](int)" },
		{ "_ZN1AclEv", "A::operator()()" },
		{ "_ZN1AdlEPv", "A::operator delete(void*)" },
		{ "_ZN1AnaEm", "A::operator new[](unsigned long)" },
		{ "_ZN1AltIiEEvv", "void A::operator< <int>()" },
		{ "_ZssRK1AS1_", "operator<=>(A const&, A const&)" },
		{ "_Zli2_wPKc", "operator\"\" _w(char const*)" },
		{ "_Zqqv", NULL },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

UNIT(profile_cpp_reader, cmocka_unit_test(names_and_references),
     cmocka_unit_test(operators_have_their_signs));
