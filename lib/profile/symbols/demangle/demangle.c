/* SPDX-License-Identifier: MIT */
/* Demangles names of Rust and of C++. Both readers are our own: a symbol comes from a file that is
 * not trusted, and 300 bytes can represent gigabytes. */
#include "profile/symbols/demangle/cpp_name.h"
#include "profile/symbols/symbols.h"

char *symbols_demangle(const char *symbol)
{
	char *plain = symbols_demangle_rust(symbol);

	return plain ? plain : symbols_demangle_cpp(symbol);
}
