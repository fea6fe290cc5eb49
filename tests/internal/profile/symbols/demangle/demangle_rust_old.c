/* SPDX-License-Identifier: MIT */
#include "rust_names.h"

/* As c++filt of binutils 2.40 shows them, without the hash. */
static void older_names_of_rust(void **state)
{
	static const char *const pairs[][2] = {
		{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
		{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
		  "3bar17h"
		  "930b740aa94f1d3aE",
		  "<Test + 'static as foo::Bar<Test>>::bar" },
		{ "_ZN1a4main28_$u7b$$u7b$closure$u7d$$u7d$17h930b740aa94f1d3aE.llvm.7",
		  "a::main::{{closure}}" },
		{ "_ZN3foo3barE", NULL },                 /* C++ */
		{ "_ZN3foo17h0000000000000000E", NULL },  /* few digits: C++ */
		{ "_ZN3foo17h0123456789abcdefEi", NULL }, /* with a parameter: C++ */
		{ "_ZN99foo17h0123456789abcdefE", NULL },
		{ "_ZN3foo17h0123456789abcdef", NULL },
	};

	(void)state;
	check_rust_names(pairs, COUNT(pairs));
}

UNIT(profile_demangle_rust_old, cmocka_unit_test(older_names_of_rust));
