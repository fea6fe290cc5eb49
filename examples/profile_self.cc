// SPDX-License-Identifier: MIT
// A program that samples itself while it works: where its time goes, by function, and what became
// of the samples.
#include <array>
#include <cstdint>
#include <cstdio>
#include <perfmon/perfmon.hpp>

static volatile unsigned sink;

__attribute__((noinline)) static void much()
{
	for (unsigned i = 0; i < 60000000; i++)
		sink = sink + i;
}

__attribute__((noinline)) static void little()
{
	for (unsigned i = 0; i < 20000000; i++)
		sink = sink + i;
}

struct function {
	const char *name;
	std::uintptr_t start;
	unsigned samples;
};

// The function that contains an address: the one that begins last before it, if it is near.
static function *find(std::array<function, 2> &functions, std::uint64_t ip)
{
	function *best = nullptr;

	for (function &f : functions)
		if (ip >= f.start && ip - f.start < 4096 && (!best || f.start > best->start))
			best = &f;
	return best;
}

int main()
try {
	std::array<function, 2> functions = {
		{ { "much", reinterpret_cast<std::uintptr_t>(much), 0 },
		  { "little", reinterpret_cast<std::uintptr_t>(little), 0 } }
	};
	auto sampling = perfmon_init_of<pfm_sampling_t>();
	auto options = perfmon_init_of<pfm_session_options_t>();
	auto record = perfmon_init_of<pfm_record_t>();

	sampling.fields = PFM_SAMPLE_IP;
	options.sampling = &sampling;
	perfmon::session session(perfmon::context(), { "task-clock:u:period=1000000" }, options);
	session.start();
	much();
	little();
	session.stop();
	while (session.next(record))
		if (record.type == PFM_RECORD_SAMPLE)
			if (function *f = find(functions, record.body.sample.ip))
				f->samples++;

	const pfm_sample_statistics_t total = session.statistics();
	for (const function &f : functions)
		std::printf("%-8s %5.1f%%\n", f.name,
		            100.0 * f.samples /
		                    static_cast<double>(total.samples ? total.samples : 1));
	std::printf("%llu samples, %s\n", static_cast<unsigned long long>(total.samples),
	            pfm_quality_name(total.quality));
} catch (const perfmon::error &why) {
	std::fprintf(stderr, "%s\n", why.what());
	return 1;
}
