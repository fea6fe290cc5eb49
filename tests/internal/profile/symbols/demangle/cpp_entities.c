/* SPDX-License-Identifier: MIT */
/* Names, functions and what compilers make: the Itanium C++ ABI, sections 5.1.2 to 5.1.4. */
#include "cpp_names.h"

static void members_print_with_their_class(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_ZN1AC1Ev", "A::A()" },
		{ "_ZN1AD0Ev", "A::~A()" },
		{ "_ZN1A1BIiEC2IcEET_", "A::B<int>::B<char>(char)" },
		{ "_ZNKR1A1fEv", "A::f() const &" },
		{ "_ZNO1A1fEv", "A::f() &&" },
		{ "_ZNK1AcvbEv", "A::operator bool() const" },
		{ "_ZN1AcvT_IPiEEv", "A::operator int*<int*>()" },
		{ "_ZNK1A1fIiEEPFvcET_", "void (*A::f<int>(int) const)(char)" },
		{ "_ZN3FooC2B5cxx11Ei", "Foo::Foo[abi:cxx11](int)" },
		{ "_ZN1AUt0_1fEv", "A::{unnamed type#2}::f()" },
		{ "_ZC1v", NULL },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

static void local_names_print_with_their_function(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_ZZ1fvE1x", "f()::x" },
		{ "_ZZ1fvE1x_0", "f()::x" },
		{ "_ZZ1fvE1x__12_", "f()::x" },
		{ "_ZZ1fiEs", "f(int)::string literal" },
		{ "_ZZ3fooIiEvT_ENKUlvE_clEv", "foo<int>(int)::{lambda()#1}::operator()() const" },
		{ "_ZZ3fooIiEvT_EN1A1gIcEEvT_", "void foo<int>(int)::A::g<char>(char)" },
		{ "_ZZN1A1fEiEd0_NKUlvE_clEv",
		  "A::f(int)::{default arg#2}::{lambda()#1}::operator()() const" },
		{ "_ZZ1fvENKUlT_DpOT0_E_clIiJcEEEDaS_S1_",
		  "auto f()::{lambda(auto:1, (auto:2&&)...)#1}::operator()<int, char>(int, char&&) "
		  "const" },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

static void made_by_compilers(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_ZTV1A", "vtable for A" },
		{ "_ZTT1A", "VTT for A" },
		{ "_ZTIFvvE", "typeinfo for void ()" },
		{ "_ZTSA5_c", "typeinfo name for char [5]" },
		{ "_ZTCN1AE8_1B", "construction vtable for B-in-A" },
		{ "_ZThn8_NK1A1fEv", "non-virtual thunk to A::f() const" },
		{ "_ZTv0_n24_N1AD0Ev", "virtual thunk to A::~A()" },
		{ "_ZTcv0_n24_h8_N1A1fEv", "covariant return thunk to A::f()" },
		{ "_ZGVZ1fvE1x", "guard variable for f()::x" },
		{ "_ZGRN1A1xE_", "reference temporary #0 for A::x" },
		{ "_ZGRN1A1xE0_", "reference temporary #1 for A::x" },
		{ "_ZTHN1A1xE", "TLS init function for A::x" },
		{ "_ZTWN1A1xE", "TLS wrapper function for A::x" },
		{ "_ZTx", NULL },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

UNIT(profile_cpp_entities, cmocka_unit_test(members_print_with_their_class),
     cmocka_unit_test(local_names_print_with_their_function), cmocka_unit_test(made_by_compilers));
