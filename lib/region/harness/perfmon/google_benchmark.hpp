/* SPDX-License-Identifier: MIT */
/* Counts of events in the report of Google Benchmark. C++11.
 *
 *     static void sort(benchmark::State &state)
 *     {
 *             perfmon::benchmark_counts counts(state, "sort");
 *
 *             for (auto _ : state)
 *                     sort_numbers();
 *     }
 *
 * Run the program with PERFMON_REGIONS=instructions,page-faults in its environment: the report has
 * a user counter for each event, in counts for each iteration. An event that is not counted exactly
 * has none, and the benchmark's label says why. The runs in which Google Benchmark looks for the
 * number of iterations are not in the counts: each run starts from zero.
 *
 * The counts are those of the benchmark's thread, from the construction of the object to its
 * destruction, and contain what the loop itself executes. Link with libperfmon. */
#ifndef LIBPERFMON_GOOGLE_BENCHMARK_HPP
#define LIBPERFMON_GOOGLE_BENCHMARK_HPP

#include <string>

#include <sys/syscall.h>
#include <unistd.h>

#include <benchmark/benchmark.h>
#include <perfmon/region.h>

namespace perfmon
{

class benchmark_counts
{
      public:
	benchmark_counts(benchmark::State &state, const char *name)
	    : state_(state), region_(pfm_find_region(name))
	{
		if (!region_)
			return;
		/* The first visit starts the counting, and faults in its memory. */
		pfm_begin_region(region_);
		pfm_end_region(region_);
		pfm_reset_region(region_);
		pfm_begin_region(region_);
	}

	benchmark_counts(const benchmark_counts &) = delete;
	benchmark_counts &operator=(const benchmark_counts &) = delete;

	~benchmark_counts()
	{
		if (!region_)
			return;
		pfm_end_region(region_);
		report();
	}

      private:
	void report()
	{
		pfm_region_results_t *results = pfm_read_regions();
		pfm_region_info_t info = PFM_INIT(info);
		const int thread = static_cast<int>(syscall(SYS_gettid));

		for (unsigned i = 0; results && pfm_describe_region(results, i, &info) == 0; i++)
			if (info.thread == thread && info.visits &&
			    region_->name == std::string(info.region))
				report_row(results, i);
		pfm_close_region_results(results);
		if (!missing_.empty())
			state_.SetLabel("not counted: " + missing_);
	}

	void report_row(const pfm_region_results_t *results, unsigned row)
	{
		pfm_region_event_t event = PFM_INIT(event);
		pfm_region_count_t count = PFM_INIT(count);

		for (unsigned i = 0; pfm_describe_region_event(i, &event) == 0; i++) {
			if (pfm_region_count(results, row, i, &count))
				continue;
			if (count.quality == PFM_QUALITY_EXACT)
				state_.counters[event.name] = benchmark::Counter(
					static_cast<double>(count.inclusive) * count.scale,
					benchmark::Counter::kAvgIterations);
			else
				add_missing(event, count);
		}
	}

	void add_missing(const pfm_region_event_t &event, const pfm_region_count_t &count)
	{
		missing_ += missing_.empty() ? "" : "; ";
		missing_ += event.name;
		missing_ += " (";
		missing_ += *event.why ? event.why : pfm_quality_name(count.quality);
		missing_ += ")";
	}

	benchmark::State &state_;
	pfm_region_t *region_;
	std::string missing_;
};

} // namespace perfmon

#endif
