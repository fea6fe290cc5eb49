#!/bin/sh -eu
# SPDX-License-Identifier: MIT
# A C++ programmer: handles that release themselves, no casts, no warnings, refusals as exceptions or as results.
cat >walk.cc <<'END'
#include <iostream>
#include <perfmon/perfmon.hpp>

int main()
{
	perfmon::context context;
	auto bad = context.try_encode("coreduo::L2_Lines_Inn,core=all");
	perfmon::session session(context, { "page-faults" });

	std::cout << std::hex << context.encode("coreduo::L2_Lines_In,core=all,prefetch=only").regs[0].value << '\n';
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
grep -q '^53d024$' said && grep -q 'is not an event of coreduo' said && grep -q page-faults said
