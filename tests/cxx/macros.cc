// SPDX-License-Identifier: MIT
// Every public macro, as C++ programs use it: no warning from C++11 on.
#include <perfmon/perfmon.h>
#include <perfmon/pfcntr.h>
#include <perfmon/alpha.h>
#include <perfmon/coreduo.h>
#include <perfmon/montecito.h>
#include <perfmon/perf_attr.h>
#include <perfmon/pfmlib.h>

static pfm_encoding_t at_file_scope = PFM_INIT(at_file_scope);

template <typename T> static bool begins_right(const T &t)
{
	return t.size == sizeof(T);
}

int main()
{
	pfm_error_t error = PFM_INIT(error);
	pfm_ctx_options_t options = PFM_INIT(options);
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	perfmon_event_info_t event = PFM_INIT(event);
	pfm_umask_info_t umask = PFM_INIT(umask);
	pfm_encoding_t encoding = PFM_INIT(encoding);
	pfm_dispatch_options_t set_options = PFM_INIT(set_options);
	pfm_count_t count = PFM_INIT(count);
	pfm_count_info_t info = PFM_INIT(info);
	pfm_session_options_t session = PFM_INIT(session);
	bool right = begins_right(error) && begins_right(options) && begins_right(pmu) &&
	             begins_right(event) && begins_right(umask) && begins_right(encoding) &&
	             begins_right(set_options) && begins_right(count) && begins_right(info) &&
	             begins_right(session) && begins_right(at_file_scope);

	right = right && PFMLIB_MAJ_VERSION(PFMLIB_VERSION) == 3 &&
	        PFMLIB_MIN_VERSION(PFMLIB_VERSION) == 11;
	right = right && PFCNTR_REQUEST_TYPE(PCNTLOGALL) == PFCNTR_TYPE &&
	        PFCNTR_REQUEST_SIZE(PCNTLOGALL) < 8192;
	if (pfm_encode_event(nullptr, "coreduo::L2_LINES_IN:BOTH_CORES:PREFETCH", 0, &encoding,
	                     &error) != PFMLIB_SUCCESS)
		return 1;
	return right && encoding.regs[0].value == 0x53d024 ? 0 : 1;
}
