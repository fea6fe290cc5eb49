// SPDX-License-Identifier: MIT
/** The interface of profile.h in C++17: profiles and symbols that release themselves, containers
 * that a loop can walk.
 *
 * A thin header over libperfmon-profile (pkg-config perfmon-profile). Strings belong to the
 * profile or the symbols.
 *
 *     perfmon::profile p("perf.data");
 *     for (const pfm_function_t &f : p.functions(0))
 *         std::cout << f.self_share << ' ' << f.function << '\n';
 */
#ifndef LIBPERFMON_PROFILE_HPP
#define LIBPERFMON_PROFILE_HPP

#include <perfmon/perfmon.hpp>
#include <perfmon/profile.h>

namespace perfmon
{

namespace detail
{
/* Throws for another failure than the end of a list. */
inline bool is_listed(int rc)
{
	if (rc != PFMLIB_SUCCESS && rc != PFMLIB_ERR_NOTFOUND)
		check(rc);
	return rc == PFMLIB_SUCCESS;
}
} // namespace detail

/** A stack with its frames, the innermost first. */
struct stack {
	pfm_stack_t info;
	std::vector<pfm_frame_t> frames;
};

/** Samples added up. One thread at a time uses it. */
class profile
{
      public:
	using options = pfm_profile_options_t;

	/** Reads a recording. */
	explicit profile(const std::string &path, options o = perfmon_init_of<options>())
	{
		pfm_error_t why = PFM_INIT(why);
		pfm_profile_t *p = nullptr;
		int rc = pfm_open_profile(&p, path.c_str(), &o, &why);

		take(p, rc, why);
	}
	/** An empty profile of a session that samples, for add(). The session must outlive the last
	 * add(). */
	explicit profile(session &of, options o = perfmon_init_of<options>())
	{
		pfm_error_t why = PFM_INIT(why);
		pfm_profile_t *p = nullptr;
		int rc = pfm_create_profile(&p, of.get(), &o, &why);

		take(p, rc, why);
	}
	pfm_profile_t *get() const noexcept
	{
		return profile_.get();
	}
	/** Adds a record of the session. */
	void add(const pfm_record_t &record)
	{
		detail::check(pfm_add_profile_record(get(), &record));
	}
	/** Removes the samples of a profile of a session. */
	void clear()
	{
		detail::check(pfm_clear_profile(get()));
	}
	pfm_profile_info_t info() const
	{
		pfm_profile_info_t i = PFM_INIT(i);

		detail::check(pfm_describe_profile(get(), &i));
		return i;
	}
	std::vector<pfm_profile_event_t> events() const
	{
		std::vector<pfm_profile_event_t> all;
		pfm_profile_event_t e = PFM_INIT(e);

		while (detail::is_listed(
			pfm_describe_profile_event(get(), static_cast<unsigned>(all.size()), &e)))
			all.push_back(e);
		return all;
	}
	/** Functions of event number @event, the heaviest first. */
	std::vector<pfm_function_t> functions(unsigned event = 0) const
	{
		std::vector<pfm_function_t> all;
		pfm_function_t f = PFM_INIT(f);

		while (detail::is_listed(
			pfm_describe_function(get(), event, static_cast<unsigned>(all.size()), &f)))
			all.push_back(f);
		return all;
	}
	/** Stacks of all events. */
	std::vector<stack> stacks() const
	{
		std::vector<stack> all;
		pfm_stack_t s = PFM_INIT(s);
		pfm_frame_t f = PFM_INIT(f);
		unsigned i = 0;

		for (; detail::is_listed(pfm_describe_stack(get(), i, &s)); i++) {
			all.push_back({ s, {} });
			for (unsigned k = 0; k < s.n_frames; k++) {
				detail::check(pfm_describe_frame(get(), i, k, &f));
				all.back().frames.push_back(f);
			}
		}
		return all;
	}
	/** Messages about what limits the names. */
	std::vector<std::string> messages() const
	{
		std::vector<std::string> all;

		while (const char *text =
		               pfm_get_profile_message(get(), static_cast<unsigned>(all.size())))
			all.emplace_back(text);
		return all;
	}
	/** Folded stacks, and a flame graph in SVG. */
	std::string folded(unsigned event = 0) const
	{
		const char *text = nullptr;
		std::size_t n = 0;

		detail::check(pfm_fold_profile(get(), event, &text, &n));
		return { text, n };
	}
	std::string flame_graph(unsigned event = 0, const char *title = nullptr) const
	{
		const char *text = nullptr;
		std::size_t n = 0;

		detail::check(pfm_draw_flame_graph(get(), event, title, &text, &n));
		return { text, n };
	}

      private:
	void take(pfm_profile_t *p, int rc, const pfm_error_t &why)
	{
		if (rc != PFMLIB_SUCCESS)
			throw error(nullptr, nullptr, why, rc);
		profile_.reset(p);
	}
	struct closer {
		void operator()(pfm_profile_t *p) const
		{
			pfm_close_profile(p);
		}
	};
	std::unique_ptr<pfm_profile_t, closer> profile_;
};

/** Names of addresses. A result is empty where nothing has a name; its strings live as long as the
 * symbols. */
class symbols
{
      public:
	explicit symbols(const char *debug_folder = nullptr)
	{
		pfm_symbols_t *s = nullptr;

		detail::check(pfm_open_symbols(&s, debug_folder));
		symbols_.reset(s);
	}
	/** The function at @address of a process, at an offset of a file, and of the kernel. */
	std::optional<pfm_symbol_t> find(int pid, std::uint64_t address)
	{
		pfm_symbol_t s = PFM_INIT(s);

		return found(pfm_find_symbol(symbols_.get(), pid, address, &s), s);
	}
	std::optional<pfm_symbol_t> find(const std::string &path, std::uint64_t offset)
	{
		pfm_symbol_t s = PFM_INIT(s);

		return found(pfm_find_file_symbol(symbols_.get(), path.c_str(), offset, &s), s);
	}
	std::optional<pfm_symbol_t> find_in_kernel(std::uint64_t address)
	{
		pfm_symbol_t s = PFM_INIT(s);

		return found(pfm_find_kernel_symbol(symbols_.get(), address, &s), s);
	}

      private:
	static std::optional<pfm_symbol_t> found(int rc, const pfm_symbol_t &s)
	{
		return detail::is_listed(rc) ? std::optional<pfm_symbol_t>(s) : std::nullopt;
	}
	struct closer {
		void operator()(pfm_symbols_t *s) const
		{
			pfm_close_symbols(s);
		}
	};
	std::unique_ptr<pfm_symbols_t, closer> symbols_;
};

} // namespace perfmon

#endif
