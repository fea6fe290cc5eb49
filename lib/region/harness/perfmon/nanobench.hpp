/* SPDX-License-Identifier: MIT */
/* Counts of events in the results of nanobench. C++11.
 *
 *     ankerl::nanobench::Bench bench;
 *
 *     perfmon::run_counted(bench, "sort", [&] { sort_numbers(); });
 *
 * Run the program with PERFMON_REGIONS=instructions,page-faults in its environment: the result has
 * a variable of its context for each event, the count of an operation, which templates show by
 * {{context(instructions)}}. It is "-" for an event that is not counted exactly. The operation runs
 * some milliseconds more for the counts, before nanobench measures its time. Counts contain what
 * the loop itself executes. Link with libperfmon. */
#ifndef LIBPERFMON_NANOBENCH_HPP
#define LIBPERFMON_NANOBENCH_HPP

#include <cmath>
#include <string>

#include <nanobench.h>
#include <perfmon/bench.hpp>

namespace perfmon
{

template <class Operation>
ankerl::nanobench::Bench &run_counted(ankerl::nanobench::Bench &nanobench, const std::string &name,
                                      Operation &&operation)
{
	bench counting(name, nullptr);

	for (const auto &c : counting.epochs(3).run(name, operation).results()[0].counts)
		nanobench.context(c.first, std::isnan(c.second) ? "-" : std::to_string(c.second));
	return nanobench.run(name, operation);
}

} // namespace perfmon

#endif
