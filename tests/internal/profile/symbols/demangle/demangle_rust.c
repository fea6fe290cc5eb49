/* SPDX-License-Identifier: MIT */
#include "rust_names.h"

/* Symbols of rustc 1.95 with the names that c++filt of binutils 2.40 has, without hashes of crates
 * and types of constants, and examples of RFC 2603. */
static void names_of_rust(void **state)
{
	static const char *const pairs[][2] = {
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
		{ "_RNCNvCs4fqI2P2rA04_7mycrate4main0B3_", "mycrate::main::{closure#0}" },
		{ "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}" },
		{ "_RNSC4core6vtableu3foo.llvm.123", NULL },
		{ "_RINvC1a1fhE", "a::f::<u8>" },
		{ "_RINvC1a1fReQmPbOcE", "a::f::<&str, &mut u32, *const bool, *mut char>" },
		{ "_RINvC1a1fTEThETheEE", "a::f::<(), (u8,), (u8, str)>" },
		{ "_RINvC1a1fAhj4_SlE", "a::f::<[u8; 4], [i32]>" },
		{ "_RINvC1a1fFUKChEuFG_RL0_eEzE",
		  "a::f::<unsafe extern \"C\" fn(u8), for<'a> fn(&'a str) -> !>" },
		{ "_RINvC1a1fDNtC4core4SendINtB5_2FnTlEEp6OutputlEL_E", NULL },
		{ "_RINvC1a1fKj3_Kln7b_Kb1_Kc41_E", "a::f::<3, -123, true, 'A'>" },
		{ "_RNvMC1aNtB2_1T3new", "<a::T>::new" },
		{ "_RNvXC1aNtB2_1TNtB2_5Shape4area", "<a::T as a::Shape>::area" },
		{ "_RNvYNtC1a1TNtB4_5Shape4area", "<a::T as a::Shape>::area" },
		{ "_RNvC1a1f.cold", "a::f.cold" },
		{ "_RNvC1a1f.llvm.99", "a::f" },
		{ "_RNvC1au8gdel_5qa", "a::g\u00f6del" },
		{ "_R", NULL },
		{ "_RNvC1a", NULL },
		{ "_RB_", NULL },
		{ "_RINvC1a1fB", NULL },
	};

	(void)state;
	check_rust_names(pairs, COUNT(pairs));
}

/* A reference inside what is referred to doubles the name each time. */
static void names_that_double_are_cut(void **state)
{
	static const char name[] =
		"_RINvC1a1bTheETB6_B6_ETBb_Bb_ETBk_Bk_ETBt_Bt_ETBC_BC_ETBL_BL_ETBU_BU_ETB13_B13_EE";
	char deep[4000] = "_RINvC1a1f";
	char *plain = symbols_demangle_rust(name);

	(void)state;
	assert_true(!plain || strlen(plain) < SYMBOL_SIZE);
	free(plain);
	memset(deep + strlen(deep), 'R', sizeof(deep) - strlen(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_null(symbols_demangle_rust(deep));
}

UNIT(profile_demangle_rust, cmocka_unit_test(names_of_rust),
     cmocka_unit_test(names_that_double_are_cut));
