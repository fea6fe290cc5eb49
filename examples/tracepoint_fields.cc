// SPDX-License-Identifier: MIT
// A tracepoint with its fields: which descriptors this program closes, and every field that the
// kernel records for such a call.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <unistd.h>
#include <perfmon/perfmon.hpp>

static void show(const perfmon::session &session, const pfm_record_t &record,
                 const pfm_trace_field_t &fd)
{
	auto field = perfmon_init_of<pfm_trace_field_t>();
	std::uint64_t value = 0;

	pfm_read_trace_field(session.get(), &record, &fd, &value, nullptr, nullptr);
	std::printf("close(%" PRIu64 ")", value);
	for (unsigned k = 0;
	     pfm_describe_trace_field(session.get(), record.event, k, &field) == PFMLIB_SUCCESS;
	     k++)
		if (pfm_read_trace_field(session.get(), &record, &field, &value, nullptr,
		                         nullptr) == PFMLIB_SUCCESS)
			std::printf("  %s=%" PRIu64, field.name, value);
	std::putchar('\n');
}

int main()
try {
	auto sampling = perfmon_init_of<pfm_sampling_t>();
	auto options = perfmon_init_of<pfm_session_options_t>();
	auto record = perfmon_init_of<pfm_record_t>();
	auto fd = perfmon_init_of<pfm_trace_field_t>();
	auto info = perfmon_init_of<pfm_count_info_t>();

	sampling.fields = PFM_SAMPLE_TID | PFM_SAMPLE_RAW;
	options.sampling = &sampling;
	perfmon::session session(perfmon::context(), { "syscalls:sys_enter_close" }, options);
	if (pfm_describe_count(session.get(), 0, &info) == PFMLIB_SUCCESS && *info.why) {
		std::printf("not shown: %s\n", info.why);
	} else if (pfm_find_trace_field(session.get(), 0, "fd", &fd)) {
		std::puts("not shown: the kernel does not describe its fields here");
	} else {
		session.start();
		close(1001); // nothing is open there: that it is asked for is enough
		close(1002);
		session.stop();
		while (session.next(record))
			if (record.type == PFM_RECORD_SAMPLE)
				show(session, record, fd);
	}
} catch (const perfmon::error &) {
	std::puts("not shown: this user cannot look tracepoints up");
}
