/* SPDX-License-Identifier: MIT */
/* Benchmarks with counts of events, without another library, in the manner of nanobench. C++11.
 *
 *     perfmon::bench bench("sums");
 *
 *     bench.run("add", [&] { perfmon::keep(sum += 1); });
 *     bench.run("multiply", [&] { perfmon::keep(product *= 3); });
 *
 * The destructor of the object prints a table: for each benchmark the median time of an operation,
 * how much the epochs differ from it, and the count of each event of PERFMON_REGIONS. An operation
 * is repeated until an epoch takes a millisecond; the runs in which the number of repetitions is
 * looked for are not counted. Counts contain what the loop itself executes. An event that is not
 * counted exactly has no number; a line below the table says why. Link with libperfmon. */
#ifndef LIBPERFMON_BENCH_HPP
#define LIBPERFMON_BENCH_HPP

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <perfmon/region.h>

namespace perfmon
{

/* The compiler computes @value, even if nothing reads it. */
template <class T> inline void keep(T &&value)
{
	asm volatile("" : : "r,m"(value) : "memory");
}

struct bench_result {
	std::string name;
	double ns, error; /* of an operation: median, and median of deviations as a fraction */
	uint64_t operations;
	std::vector<std::pair<std::string, double>> counts; /* of an operation; NaN: not counted */
};

class bench
{
      public:
	explicit bench(std::string title, std::FILE *out = stdout)
	    : title_(std::move(title)), out_(out)
	{
	}

	bench(const bench &) = delete;
	bench &operator=(const bench &) = delete;

	~bench()
	{
		if (out_)
			print();
	}

	/* Number of epochs, 11 by default. */
	bench &epochs(unsigned n)
	{
		epochs_ = n ? n : 1;
		return *this;
	}

	template <class Operation> bench &run(const std::string &name, Operation &&operation)
	{
		const uint64_t each = find_repetitions(operation);
		pfm_region_t *region = pfm_find_region(name.c_str());
		std::vector<double> times;

		pfm_begin_region(region); /* starts the counting, and faults in its memory */
		pfm_end_region(region);
		pfm_reset_region(region);
		for (unsigned i = 0; i < epochs_; i++) {
			pfm_begin_region(region);
			const double ns = repeat(operation, each);
			pfm_end_region(region);
			times.push_back(ns / static_cast<double>(each));
		}
		results_.push_back(evaluate(name, times, each * epochs_));
		return *this;
	}

	const std::vector<bench_result> &results() const
	{
		return results_;
	}

      private:
	using clock = std::chrono::steady_clock;

	template <class Operation> static double repeat(Operation &operation, uint64_t n)
	{
		const clock::time_point begin = clock::now();

		for (uint64_t i = 0; i < n; i++)
			operation();
		return std::chrono::duration<double, std::nano>(clock::now() - begin).count();
	}

	/* The number of repetitions that take a millisecond. */
	template <class Operation> static uint64_t find_repetitions(Operation &operation)
	{
		uint64_t n = 1;

		while (repeat(operation, n) < 1e6 && n < (uint64_t{ 1 } << 40))
			n *= 2;
		return n;
	}

	static double compute_median(std::vector<double> values)
	{
		std::sort(values.begin(), values.end());
		return values[values.size() / 2];
	}

	bench_result evaluate(const std::string &name, std::vector<double> times, uint64_t n)
	{
		bench_result r{ name, compute_median(times), 0, n, {} };
		pfm_region_results_t *counted = pfm_read_regions();
		pfm_region_info_t info = PFM_INIT(info);

		for (double &t : times)
			t = std::fabs(t - r.ns);
		r.error = r.ns > 0 ? compute_median(times) / r.ns : 0;
		for (unsigned i = 0; counted && pfm_describe_region(counted, i, &info) == 0; i++)
			if (info.thread == 0 && name == info.region)
				add_counts(r, counted, i);
		pfm_close_region_results(counted);
		return r;
	}

	void add_counts(bench_result &r, const pfm_region_results_t *counted, unsigned row)
	{
		pfm_region_event_t event = PFM_INIT(event);
		pfm_region_count_t count = PFM_INIT(count);

		for (unsigned i = 0; pfm_describe_region_event(i, &event) == 0; i++) {
			double value = std::nan("");

			if (pfm_region_count(counted, row, i, &count) == 0 &&
			    count.quality == PFM_QUALITY_EXACT)
				value = static_cast<double>(count.inclusive) * count.scale /
				        static_cast<double>(r.operations);
			else
				missing_[event.name] = *event.why ? event.why
				                                  : pfm_quality_name(count.quality);
			r.counts.emplace_back(event.name, value);
		}
	}

	void print() const
	{
		std::fprintf(out_, "%12s %7s", "ns/op", "error");
		if (!results_.empty())
			for (const auto &c : results_[0].counts)
				std::fprintf(out_, " %15s", c.first.c_str());
		std::fprintf(out_, "  %s\n", title_.c_str());
		for (const bench_result &r : results_) {
			std::fprintf(out_, "%12.2f %6.1f%%", r.ns, 100 * r.error);
			for (const auto &c : r.counts)
				if (std::isnan(c.second))
					std::fprintf(out_, " %15s", "-");
				else
					std::fprintf(out_, " %15.3f", c.second);
			std::fprintf(out_, "  %s\n", r.name.c_str());
		}
		for (const auto &m : missing_)
			std::fprintf(out_, "%s is not counted: %s\n", m.first.c_str(),
			             m.second.c_str());
	}

	std::string title_;
	std::FILE *out_;
	unsigned epochs_ = 11;
	std::vector<bench_result> results_;
	std::map<std::string, std::string> missing_;
};

} // namespace perfmon

#endif
