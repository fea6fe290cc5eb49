// SPDX-License-Identifier: MIT
// Tests perfmon.hpp. Exits with the number of the first failed check.
#include <perfmon/perfmon.hpp>
#include <perfmon/region.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <unistd.h>

static int wrong;

static void expect(int number, bool right)
{
	if (!right && !wrong)
		wrong = number;
}

static void names()
{
	perfmon::context c, same = c;

	expect(1, c.encode("coreduo::L2_LINES_IN:BOTH_CORES:PREFETCH").regs[0].value == 0x53d024);
	expect(2, same.get() == c.get());
	expect(3, c.encode(std::string_view("coreduo::Instr_Ret and more").substr(0, 18))
	                          .regs[0]
	                          .value == 0x5300c0);
	expect(4, c.print("coreduo::L2_LINES_IN:BOTH_CORES:PREFETCH", PFM_DIALECT_LIBPMC) ==
	                  "L2_Lines_In,core=all,prefetch=only");
	expect(5, c.events("montecito").size() == 637 && c.events("nobody").empty());
	expect(6, c.pmus().size() > 10);
	for (const perfmon_pmu_info_t &pmu : c.pmus())
		if (!(pmu.flags & PFM_PMU_KERNEL))
			expect(7, c.events(pmu.name).size() == pmu.n_events);
}

static void refusals()
{
	perfmon::context c;
	auto r = c.try_encode("coreduo::L2_LINES_INN");

	expect(10, !r && r.error().code() == PFMLIB_ERR_NOTFOUND &&
	                   r.error().kind() == "unknown_event");
	expect(11, r.error().at() == std::pair<std::size_t, std::size_t>(9, 21));
	expect(12, !r.error().suggestions().empty() && r.error().suggestions()[0] == "L2_Lines_In");
	try {
		c.encode("coreduo::L2_LINES_INN");
		expect(13, false);
	} catch (const perfmon::error &e) {
		expect(14, std::string_view(e.what()).find("is not an event of coreduo") !=
		                   std::string_view::npos);
	}
	try {
		perfmon::session s(c, { "page-faults", "nonsense" });
		expect(15, false);
	} catch (const perfmon::error &e) {
		expect(16, e.event() == 1 && e.kind() == "unknown_event");
	}
	const std::string_view cut("coreduo::Instr_Ret\0xx", 21);

	expect(18, !c.try_encode(cut) && c.try_encode(cut).error().kind() == "syntax" &&
	                   !c.try_print(cut, PFM_DIALECT_PERF));
	expect(18, c.try_encode(cut).error().at() == std::pair<std::size_t, std::size_t>(18, 19));
	expect(18, c.events(std::string_view("coreduo\0x", 9)).empty());
	try {
		perfmon::session s(c, { "page-faults", std::string("task-clock\0x", 12) });
		expect(19, false);
	} catch (const perfmon::error &e) {
		expect(19, e.kind() == "syntax");
	}
	expect(17, c.try_encode("coreduo::Instr_Ret")->regs[0].value == 0x5300c0);
}

static void counts()
{
	perfmon::context c;
	perfmon::session first(c, { "page-faults:u", "montecito::CPU_OP_CYCLES_ALL" }),
		s = std::move(first);
	std::vector<char> memory;

	expect(20, first.get() == nullptr);
	s.start();
	memory.resize(64 << 20);
	s.stop();
	auto readings = s.read();
	expect(21, readings.size() == 2 && readings[0].name == "page-faults:u");
	expect(22, !readings[1].value && readings[1].quality_name() == "not supported" &&
	                   !readings[1].why.empty());
	if (readings[0].value)
		expect(23, *readings[0].value > 0 && readings[0].exact());
	s.reset();
#ifdef __cpp_lib_span
	const std::string_view texts[] = { "page-faults:u", "task-clock" };
	expect(24,
	       perfmon::session(c, std::span<const std::string_view>(texts)).read().size() == 2);
#endif
}

static void metrics()
{
	const perfmon::context c;
	const perfmon::metric bound(c, "amdzen5::backend_bound");

	expect(31, bound.partners() == std::vector<std::string>{
					       "amdzen5::de_no_dispatch_per_slot.backend_stalls" });
	expect(32, bound.check(bound.compute({ 4000.0, 1000.0 })).result == PFM_PLAUSIBLE);
	expect(33, bound.check(bound.compute({ 4000.0, 100.0 })).result == PFM_OUTSIDE_RANGE);
}

static void plans_and_placements()
{
	const perfmon::context c;
	const perfmon::plan plan(c,
	                         { "skx::INST_RETIRED.PREC_DIST:u", "skx::INST_RETIRED.PREC_DIST:k",
	                           "skx::MEM_LOAD_RETIRED.L3_MISS" });

	/* Both levels of PREC_DIST need counter 1. */
	expect(41, plan.info().n_groups == 2);
	expect(42, plan.events().size() == 3);
	expect(43, c.dispatch({ "skx::MEM_LOAD_RETIRED.L3_MISS" })->n_pmcs > 0);
	try {
		const perfmon::plan wrong_plan(c, { "skx::NO_SUCH_EVENT" });

		expect(44, false);
	} catch (const perfmon::error &e) {
		expect(44, std::string(e.what()).find("NO_SUCH_EVENT") != std::string::npos);
	}
}

/* Samples of the session at @path, read back: number and weight. */
static std::pair<std::uint64_t, std::uint64_t> read_samples(const std::string &path)
{
	perfmon::session s = perfmon::session::open_recording(path);
	std::pair<std::uint64_t, std::uint64_t> sum{ 0, 0 };
	pfm_record_t record = PFM_INIT(record);

	while (s.next(record))
		if (record.type == PFM_RECORD_SAMPLE) {
			sum.first++;
			sum.second += record.body.sample.period;
		}
	return sum;
}

static void recordings()
{
	const std::string path = "perfmon-wrapper-" + std::to_string(getpid()) + ".data";
	auto sampling = perfmon_init_of<pfm_sampling_t>();
	auto options = perfmon_init_of<pfm_session_options_t>();
	std::vector<char> memory;

	sampling.period = 16;
	options.sampling = &sampling;
	perfmon::session s(perfmon::context(), { "page-faults:u" }, options);
	s.start();
	if (s.read()[0].quality_name() == "not supported")
		return; /* nothing can be sampled here */
	perfmon::recording file(s, path, "wrapper");
	memory.resize(16 << 20);
	s.stop();
	expect(51, file.write() > 0);
	file.close();
	const auto [n, weight] = read_samples(path);
	const auto counted = s.read()[0].value.value_or(0);

	expect(52, n > 0 && weight == 16 * n);
	expect(53, weight <= counted && counted - weight < 16);
	std::remove(path.c_str());
	try {
		perfmon::session::open_recording(path);
		expect(54, false);
	} catch (const perfmon::error &e) {
		expect(54, e.code() == PFMLIB_ERR_SYS);
	}
}

/* Regions by scope, by an exception that leaves the scope, and by a handle that moves. */
static void regions()
{
	pfm_regions_options_t options = PFM_INIT(options);
	pfm_region_info_t info = PFM_INIT(info);
	std::uint64_t outer = 0, inner = 0, task = 0;

	options.events = "page-faults:u";
	expect(61, pfm_start_regions(&options, nullptr) == PFMLIB_SUCCESS);
	for (int i = 0; i < 3; i++)
		try {
			perfmon::region r("outer");
			perfmon::region s(PFM_REGION("inner"));
			perfmon::region_visit t("task"), moved = std::move(t);

			moved.suspend();
			moved.resume();
			throw i;
		} catch (int) {
		}
	pfm_region_results_t *results = pfm_read_regions();

	expect(62, results != nullptr);
	for (unsigned i = 0; pfm_describe_region(results, i, &info) == PFMLIB_SUCCESS; i++) {
		if (info.thread)
			continue;
		const std::string name = info.region;

		(name == "outer" ? outer : name == "inner" ? inner : task) += info.visits;
	}
	expect(63, outer == 3 && inner == 3 && task == 3);
	pfm_close_region_results(results);
	pfm_stop_regions();
}

int main()
{
	names();
	refusals();
	counts();
	metrics();
	plans_and_placements();
	recordings();
	regions();
	return wrong;
}
