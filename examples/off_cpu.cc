// SPDX-License-Identifier: MIT
// How long this thread was off its CPU, and why: records of context switches show when it left and
// when it came back.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <perfmon/perfmon.hpp>

int main()
try {
	auto sampling = perfmon_init_of<pfm_sampling_t>();
	auto options = perfmon_init_of<pfm_session_options_t>();
	auto record = perfmon_init_of<pfm_record_t>();
	std::uint64_t left = 0, asleep = 0, preempted = 0;
	unsigned switches = 0;
	bool pushed = false;

	sampling.records = PFM_SIDEBAND_SWITCHES;
	options.sampling = &sampling;
	perfmon::session session(perfmon::context(), { "dummy" }, options);
	session.start();
	for (unsigned i = 0; i < 10; i++)
		std::this_thread::sleep_for(std::chrono::milliseconds(2));
	session.stop();
	while (session.next(record)) {
		if (record.type != PFM_RECORD_SWITCH)
			continue;
		if (record.misc & PFM_MISC_OUT) {
			left = record.time;
			pushed = record.misc & PFM_MISC_PREEMPTED;
			switches++;
		} else if (left) {
			(pushed ? preempted : asleep) += record.time - left;
			left = 0;
		}
	}
	std::printf("left its CPU %u times\n", switches);
	std::printf("asleep    %8.3f ms\n", static_cast<double>(asleep) / 1e6);
	std::printf("preempted %8.3f ms\n", static_cast<double>(preempted) / 1e6);
} catch (const perfmon::error &why) {
	std::fprintf(stderr, "%s\n", why.what());
	return 1;
}
