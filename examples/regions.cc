// SPDX-License-Identifier: MIT
/* Regions in C++: a visit ends with its scope, by an exception as well.
 *
 * Build: c++ -std=c++17 regions.cc $(pkg-config --cflags --libs perfmon) */
#include <numeric>
#include <stdexcept>
#include <unistd.h>
#include <vector>
#include <perfmon/perfmon.hpp>

static std::vector<char> load(std::size_t n)
{
	perfmon::region r(PFM_REGION("load"));

	if (n == 0)
		throw std::invalid_argument("nothing to load");
	return std::vector<char>(n, 1);
}

static long sum(const std::vector<char> &memory)
{
	perfmon::region r("sum");

	return std::accumulate(memory.begin(), memory.end(), 0L);
}

int main()
{
	pfm_regions_options_t options = PFM_INIT(options);

	options.events = "page-faults,instructions:u";
	if (pfm_start_regions(&options, nullptr) != PFMLIB_SUCCESS)
		return 1;
	for (std::size_t i = 0; i < 10; i++) {
		perfmon::region r("iteration");

		try {
			sum(load(i << 16));
		} catch (const std::invalid_argument &) {
		}
	}
	pfm_region_results_t *results = pfm_read_regions();
	pfm_write_regions(results, STDOUT_FILENO, "table");
	pfm_close_region_results(results);
}
