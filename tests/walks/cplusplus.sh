#!/bin/sh -eu
# SPDX-License-Identifier: MIT
# A C++ programmer uses perfmon.hpp: no casts, no warnings, errors as exceptions or as results,
# handles that release themselves.
cat >walk.cc <<'END'
#include <iostream>
#include <perfmon/perfmon.hpp>

int main()
{
	perfmon::context context;
	auto bad = context.try_encode("skl::MEM_LOAD_RETIRED.L3_MIS");
	perfmon::session session(context, { "page-faults" });

	std::cout << std::hex << context.encode("skl::MEM_LOAD_RETIRED.L3_MISS").regs[0].value << '\n';
	std::cout << (bad ? "taken" : bad.error().what()) << '\n';
	session.start();
	session.stop();
	for (const perfmon::reading &r : session.read())
		std::cout << r.name << ' ' << r.quality_name() << '\n';
}
END
# shellcheck disable=SC2046  # a list of options on purpose
c++ -std=c++17 -Wall -Wextra -pedantic -Werror walk.cc -o walk $(pkg-config --cflags --libs perfmon)
./walk >said
grep -q '^5320d1$' said && grep -q 'is not an event of skl' said && grep -q page-faults said
