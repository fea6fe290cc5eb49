// SPDX-License-Identifier: MIT
// perfmon/profile.hpp: the symbols of this program, and what is refused. test_profile.py has
// profiles with known contents.
#include <cstdint>
#include <cstring>
#include <unistd.h>
#include <perfmon/profile.hpp>

static int wrong;

static void expect(int number, bool is_true)
{
	if (!is_true && !wrong)
		wrong = number;
}

extern "C" __attribute__((noinline)) int function_to_find(int n)
{
	return n + 1;
}

static void find_symbols()
{
	perfmon::symbols all;
	const auto address = reinterpret_cast<std::uintptr_t>(&function_to_find);
	const auto s = all.find(static_cast<int>(getpid()), address);

	expect(1, s && std::strcmp(s->function, "function_to_find") == 0);
	expect(2, s && s->start && s->end > s->start);
	expect(3, !all.find(static_cast<int>(getpid()), 8));
	expect(4, !all.find("/nonexistent", 0));
	expect(5, !all.find_in_kernel(8));
}

static void refuse_files()
{
	try {
		perfmon::profile p("/nonexistent");
		expect(6, false);
	} catch (const perfmon::error &e) {
		expect(7, e.code() == PFMLIB_ERR_SYS);
	}
}

/* A profile of a session that has no records yet. */
static void empty_profile()
{
	const perfmon::context c;
	pfm_session_options_t o = PFM_INIT(o);
	pfm_sampling_t sampling = PFM_INIT(sampling);

	o.sampling = &sampling;
	perfmon::session s(c, { "task-clock:u" }, o);
	perfmon::profile p(s);

	expect(8, p.events().size() == 1 && p.functions().empty() && p.stacks().empty());
	expect(9, p.folded().rfind("# quality: exact", 0) == 0);
	expect(10, p.info().is_complete == 1);
	expect(11, p.flame_graph().find("</svg>") != std::string::npos);
	p.clear();
	expect(12, p.messages().empty());
}

int main()
{
	find_symbols();
	refuse_files();
	empty_profile();
	return function_to_find(wrong) - 1;
}
