// SPDX-License-Identifier: MIT
/** The interface of perfmon.h in C++17: handles that release themselves, texts as std::string_view.
 *
 * A thin header: nothing of it is compiled into the library. Structs are those of perfmon.h;
 * strings in them belong to the context, plan or session. A refusal is an exception
 * (perfmon::error), or a perfmon::result from functions whose names begin with try_.
 *
 *     perfmon::context machine;
 *     pfm_encoding_t e = machine.encode("coreduo::L2_Lines_In,core=all");
 *     perfmon::session s(machine, {"page-faults", "task-clock"});
 *     s.start(); work(); s.stop();
 *     for (const perfmon::reading &r : s.read())
 *         std::cout << r.name << ' ' << r.quality_name() << ' ' << r.value.value_or(0) << '\n';
 */
#ifndef LIBPERFMON_PERFMON_HPP
#define LIBPERFMON_PERFMON_HPP

#if __cplusplus < 201703L
#error "perfmon/perfmon.hpp needs C++17 or later (-std=c++17); perfmon/perfmon.h compiles from C++11 on"
#endif
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
#if __has_include(<span>) && __cplusplus >= 202002L
#include <span>
#endif
#include <perfmon/perfmon.h>

namespace perfmon
{

/** Why a call was refused: what() is a sentence. */
class error : public std::runtime_error
{
      public:
	error(const pfm_ctx_t *ctx, const char *text, const pfm_error_t &why, int code)
	    : std::runtime_error(sentence(ctx, text, why, code)), code_(code), kind_(why.kind),
	      start_(why.start), end_(why.end), event_(why.event)
	{
		std::array<char[96], 8> names;
		std::size_t n =
			text ? pfm_suggest_names(ctx, text, &why, names.data(), names.size()) : 0;

		for (std::size_t i = 0; i < n; i++)
			suggestions_.emplace_back(names[i]);
	}
	/** PFMLIB_ERR_*, and the stable word of its kind. */
	int code() const noexcept
	{
		return code_;
	}
	std::string_view kind() const noexcept
	{
		return pfm_error_kind_name(kind_);
	}
	/** Bytes of the text that are the culprit. */
	std::pair<std::size_t, std::size_t> at() const noexcept
	{
		return { start_, end_ };
	}
	/** Which event of a set, or -1. */
	int event() const noexcept
	{
		return event_;
	}
	/** Suggestions for the refused word, best first. */
	const std::vector<std::string> &suggestions() const noexcept
	{
		return suggestions_;
	}

      private:
	static std::string sentence(const pfm_ctx_t *ctx, const char *text, const pfm_error_t &why,
	                            int code)
	{
		char buf[1024];

		if (!why.code)
			return pfm_result_text(code);
		pfm_explain_error(ctx, text, &why, buf, sizeof(buf));
		return buf;
	}
	int code_;
	pfm_error_kind_t kind_;
	std::size_t start_, end_;
	int event_;
	std::vector<std::string> suggestions_;
};

/** A value, or the error that replaces it. */
template <typename T> class result
{
      public:
	result(T value) : held_(std::move(value))
	{
	}
	result(perfmon::error why) : held_(std::move(why))
	{
	}
	bool has_value() const noexcept
	{
		return held_.index() == 0;
	}
	explicit operator bool() const noexcept
	{
		return has_value();
	}
	/** The value; throws the error if missing. */
	const T &value() const
	{
		if (!has_value())
			throw std::get<1>(held_);
		return std::get<0>(held_);
	}
	const T &operator*() const
	{
		return std::get<0>(held_);
	}
	const T *operator->() const
	{
		return &std::get<0>(held_);
	}
	/** The error; only valid without a value. */
	const perfmon::error &error() const
	{
		return std::get<1>(held_);
	}

      private:
	std::variant<T, perfmon::error> held_;
};

namespace detail
{
/* False, with the reason in @why, of a text with a zero byte: C would take that for its end. */
inline bool is_whole(const std::string &text, pfm_error_t &why)
{
	const std::size_t at = text.find('\0');

	if (at == std::string::npos)
		return true;
	why.code = PFMLIB_ERR_SYNTAX;
	why.kind = PFM_KIND_SYNTAX;
	why.start = static_cast<std::uint32_t>(at);
	why.end = why.start + 1;
	why.detail = "a zero byte";
	return false;
}
/* Appends pointers to @texts; a negative code, with the reason in @why, for a text with a zero
 * byte. */
inline int collect(const std::vector<std::string> &texts, std::vector<const char *> &out,
                   pfm_error_t &why)
{
	for (const std::string &text : texts) {
		why.event = static_cast<int>(out.size());
		if (!is_whole(text, why))
			return why.code;
		out.push_back(text.c_str());
	}
	why.event = -1;
	return PFMLIB_SUCCESS;
}

/* The text that caused the error @why, or null. */
inline const char *culprit(const std::vector<std::string> &texts, const pfm_error_t &why)
{
	bool one = why.event >= 0 && static_cast<std::size_t>(why.event) < texts.size();

	return one ? texts[static_cast<std::size_t>(why.event)].c_str() : nullptr;
}

/* Throws for a negative code. */
inline int check(int rc)
{
	if (rc < 0)
		throw error(nullptr, nullptr, perfmon_init_of<pfm_error_t>(), rc);
	return rc;
}
} // namespace detail

/** Placement and registers of a set. Copies share them. */
class event_set
{
      public:
	/** Takes over @placed, a result of pfm_dispatch_set(). */
	explicit event_set(const pfm_set_t *placed) : placed_(placed, pfm_close_set)
	{
	}
	const pfm_set_t *get() const
	{
		return placed_.get();
	}
	const pfm_set_t *operator->() const
	{
		return get();
	}

      private:
	std::shared_ptr<const pfm_set_t> placed_;
};

/** A set of PMUs in which names are looked up. Copies are the same context; any thread may use it.
 */
class context
{
      public:
	context() : context(perfmon_init_of<pfm_ctx_options_t>())
	{
	}
	explicit context(const pfm_ctx_options_t &options)
	{
		pfm_error_t why = PFM_INIT(why);
		pfm_ctx_t *ctx;
		int rc = pfm_open_context(&ctx, &options, &why);

		if (rc != PFMLIB_SUCCESS)
			throw error(nullptr, nullptr, why, rc);
		ctx_.reset(ctx, pfm_close_context);
	}
	const pfm_ctx_t *get() const noexcept
	{
		return ctx_.get();
	}

	/** Registers and attributes of one event; levels for a text that names none. */
	result<pfm_encoding_t> try_encode(std::string_view text, unsigned plm = 0) const
	{
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t why = PFM_INIT(why);
		const std::string copy(text);
		int rc = detail::is_whole(copy, why)
		                 ? pfm_encode_event(get(), copy.c_str(), plm, &e, &why)
		                 : why.code;

		if (rc != PFMLIB_SUCCESS)
			return error(get(), copy.c_str(), why, rc);
		return e;
	}
	pfm_encoding_t encode(std::string_view text, unsigned plm = 0) const
	{
		return try_encode(text, plm).value();
	}

	/** The event as another dialect writes it. */
	result<std::string> try_print(std::string_view text, pfm_dialect_t dialect) const
	{
		pfm_error_t why = PFM_INIT(why);
		const std::string copy(text);
		std::string buf(256, '\0');
		int rc;

		if (!detail::is_whole(copy, why))
			return error(get(), copy.c_str(), why, why.code);
		while ((rc = pfm_print_event(get(), copy.c_str(), dialect, &buf[0], buf.size(),
		                             &why)) == PFMLIB_ERR_FULL)
			buf.resize(buf.size() * 2);
		if (rc != PFMLIB_SUCCESS)
			return error(get(), copy.c_str(), why, rc);
		buf.resize(std::string_view(buf.c_str()).size());
		return buf;
	}
	std::string print(std::string_view text, pfm_dialect_t dialect) const
	{
		return try_print(text, dialect).value();
	}

	/** Registers that count the events of @texts together, in order. */
	result<event_set>
	try_dispatch(const std::vector<std::string> &texts,
	             const pfm_dispatch_options_t &options =
	                     perfmon_init_of<pfm_dispatch_options_t>()) const
	{
		const pfm_set_t *placed = nullptr;
		pfm_error_t why = PFM_INIT(why);
		std::vector<const char *> pointers;
		int rc = detail::collect(texts, pointers, why);

		if (rc == PFMLIB_SUCCESS)
			rc = pfm_dispatch_set(&placed, get(), pointers.data(),
			                      static_cast<unsigned>(pointers.size()), &options,
			                      &why);
		if (rc != PFMLIB_SUCCESS)
			return error(get(), detail::culprit(texts, why), why, rc);
		return event_set(placed);
	}
	event_set
	dispatch(const std::vector<std::string> &texts,
	         const pfm_dispatch_options_t &options = perfmon_init_of<pfm_dispatch_options_t>()) const
	{
		return try_dispatch(texts, options).value();
	}

	/** The events that @regs count, registers of @pmu such as pfm_set_t.pmcs. */
	std::vector<pfm_decoded_event_t> decode(int pmu, const pfm_reg_t *regs, unsigned n) const
	{
		int found = detail::check(pfm_decode_set(get(), pmu, regs, n, nullptr, 0));
		std::vector<pfm_decoded_event_t> all(static_cast<std::size_t>(found),
		                                     perfmon_init_of<pfm_decoded_event_t>());

		detail::check(pfm_decode_set(get(), pmu, regs, n, all.data(),
		                             static_cast<unsigned>(found)));
		return all;
	}
	std::vector<pfm_decoded_event_t> decode(const event_set &placed) const
	{
		return decode(placed->pmu, placed->pmcs, placed->n_pmcs);
	}

	/** Every PMU. */
	std::vector<perfmon_pmu_info_t> pmus() const
	{
		std::vector<perfmon_pmu_info_t> all;
		perfmon_pmu_info_t info = PFM_INIT(info);

		for (int i = 0; pfm_describe_pmu(get(), i, &info) == PFMLIB_SUCCESS; i++)
			all.push_back(info);
		return all;
	}
	/** Every event of the PMU called @pmu; none for an unknown name. */
	std::vector<perfmon_event_info_t> events(std::string_view pmu) const
	{
		std::vector<perfmon_event_info_t> all;
		perfmon_event_info_t info = PFM_INIT(info);
		perfmon_pmu_info_t whole = PFM_INIT(whole);
		pfm_error_t why = PFM_INIT(why);
		const std::string name(pmu);
		int number = detail::is_whole(name, why) ? pfm_find_pmu(get(), name.c_str()) : -1;

		if (pfm_describe_pmu(get(), number, &whole) != PFMLIB_SUCCESS)
			return all;
		for (unsigned i = 0; i < whole.n_events; i++)
			if (pfm_describe_event(get(), number, i, &info) == PFMLIB_SUCCESS)
				all.push_back(info);
		return all;
	}

      private:
	std::shared_ptr<pfm_ctx_t> ctx_;
};

/** A metric of a PMU. Keeps its context alive. */
class metric
{
      public:
	/** The metric that @text names: "skx::Info_Thread_IPC". Throws an error if it is not a
	 * metric. */
	metric(const context &ctx, std::string_view text) : ctx_(ctx)
	{
		pfm_error_t why = PFM_INIT(why);
		const std::string copy(text);
		int rc = detail::is_whole(copy, why)
		                 ? pfm_find_event_by_text(ctx.get(), copy.c_str(), &pmu_, &event_,
		                                          &why)
		                 : why.code;

		if (rc == PFMLIB_SUCCESS)
			rc = pfm_describe_metric(ctx.get(), pmu_, event_, &info_);
		if (rc != PFMLIB_SUCCESS)
			throw error(ctx.get(), copy.c_str(), why, rc);
	}
	const pfm_metric_info_t &info() const noexcept
	{
		return info_;
	}
	/** The events and constants it needs, in the order in which compute() takes their values.
	 */
	std::vector<pfm_metric_input_t> inputs() const
	{
		std::vector<pfm_metric_input_t> all(info_.n_inputs,
		                                    perfmon_init_of<pfm_metric_input_t>());

		for (unsigned i = 0; i < info_.n_inputs; i++)
			detail::check(
				pfm_describe_metric_input(ctx_.get(), pmu_, event_, i, &all[i]));
		return all;
	}
	/** Events whose samples show where the value comes from; empty without one. */
	std::vector<std::string> partners() const
	{
		std::vector<std::string> all;
		char text[512];

		for (unsigned i = 0;
		     pfm_print_metric_partner(ctx_.get(), pmu_, event_, i, text, sizeof(text)) > 0;
		     i++)
			all.emplace_back(text);
		return all;
	}
	/** The value from one measurement; a value that is missing is std::nullopt. */
	pfm_metric_value_t compute(const std::vector<std::optional<double>> &values) const
	{
		std::vector<pfm_metric_operand_t> operands;
		auto data = perfmon_init_of<pfm_metric_data_t>();

		for (const std::optional<double> &value : values)
			operands.push_back({ value.value_or(0), 0, value.has_value(), 0 });
		data.n_inputs = static_cast<unsigned>(operands.size());
		data.operands = operands.data();
		return compute(data);
	}
	/** The value by any error model. */
	pfm_metric_value_t compute(const pfm_metric_data_t &data) const
	{
		auto value = perfmon_init_of<pfm_metric_value_t>();

		detail::check(pfm_compute_metric(ctx_.get(), pmu_, event_, &data, &value));
		return value;
	}
	/** Whether @value can be true; @extrapolated: its counts were scaled or are partial. */
	pfm_metric_check_t check(const pfm_metric_value_t &value, bool extrapolated = false) const
	{
		auto out = perfmon_init_of<pfm_metric_check_t>();

		detail::check(pfm_check_metric(ctx_.get(), pmu_, event_, &value, extrapolated,
		                               pfm_memory_bandwidth(ctx_.get()), &out));
		return out;
	}

      private:
	context ctx_;
	int pmu_ = -1;
	unsigned event_ = 0;
	pfm_metric_info_t info_ = perfmon_init_of<pfm_metric_info_t>();
};

/** Events and metrics in as few groups as possible. Moves; releases itself. */
class plan
{
      public:
	plan(const context &ctx, const std::vector<std::string> &texts,
	     const pfm_plan_options_t &options = perfmon_init_of<pfm_plan_options_t>())
	{
		pfm_error_t why = PFM_INIT(why);
		std::vector<const char *> pointers;
		pfm_plan_t *made = nullptr;
		int rc = detail::collect(texts, pointers, why);

		if (rc == PFMLIB_SUCCESS)
			rc = pfm_create_plan(&made, ctx.get(), pointers.data(),
			                     static_cast<unsigned>(pointers.size()), &options,
			                     &why);
		if (rc != PFMLIB_SUCCESS)
			throw error(ctx.get(), detail::culprit(texts, why), why, rc);
		plan_.reset(made);
	}
	const pfm_plan_t *get() const noexcept
	{
		return plan_.get();
	}
	pfm_plan_info_t info() const
	{
		auto info = perfmon_init_of<pfm_plan_info_t>();

		detail::check(pfm_describe_plan(get(), &info));
		return info;
	}
	/** The planned events, those of a group together. */
	std::vector<pfm_planned_event_t> events() const
	{
		std::vector<pfm_planned_event_t> all;
		auto event = perfmon_init_of<pfm_planned_event_t>();

		for (unsigned i = 0; pfm_describe_planned_event(get(), i, &event) == PFMLIB_SUCCESS;
		     i++)
			all.push_back(event);
		return all;
	}

      private:
	struct releaser {
		void operator()(pfm_plan_t *p) const
		{
			pfm_close_plan(p);
		}
	};
	std::unique_ptr<pfm_plan_t, releaser> plan_;
};

/** One count. It has a value only if something was counted: 0 is never a way to say that nothing
 * was. */
struct reading {
	std::string name, pmu, why, remedy;
	std::optional<std::uint64_t> value;
	pfm_count_t count;
	std::string_view quality_name() const
	{
		return pfm_quality_name(count.quality);
	}
	bool exact() const
	{
		return count.quality == PFM_QUALITY_EXACT;
	}
};

/** Counters that are open, and their samples. Moves; closes itself. */
class session
{
      public:
	session(const context &ctx, const std::vector<std::string> &events,
	        pfm_session_options_t options = perfmon_init_of<pfm_session_options_t>())
	    : ctx_(ctx)
	{
		open(events, options);
	}
#ifdef __cpp_lib_span
	session(const context &ctx, std::span<const std::string_view> events,
	        pfm_session_options_t options = perfmon_init_of<pfm_session_options_t>())
	    : session(ctx, std::vector<std::string>(events.begin(), events.end()), options)
	{
	}
#endif
	/** Opens a recording, ours or perf's: next() gives its records, read() has no values. */
	static session open_recording(const std::string &path)
	{
		pfm_error_t why = PFM_INIT(why);
		pfm_session_t *s = nullptr;
		int rc = pfm_open_recording(&s, path.c_str(), &why);

		if (rc != PFMLIB_SUCCESS)
			throw error(nullptr, nullptr, why, rc);
		return session(s);
	}
	pfm_session_t *get() const noexcept
	{
		return session_.get();
	}
	void start()
	{
		check(pfm_start_session(get()));
	}
	void stop()
	{
		check(pfm_stop_session(get()));
	}
	void reset()
	{
		check(pfm_reset_session(get()));
	}
	std::vector<reading> read()
	{
		std::vector<pfm_count_t> counts(pfm_session_size(get()),
		                                perfmon_init_of<pfm_count_t>());
		std::vector<reading> all;

		check(pfm_read_session(get(), counts.data(), static_cast<unsigned>(counts.size())));
		for (unsigned i = 0; i < counts.size(); i++)
			all.push_back(describe(i, counts[i]));
		return all;
	}

	/** The session's metrics, from one reading of its counts; @seconds: its duration, 0 if
	 * unknown. */
	std::vector<pfm_session_metric_t> metrics(double seconds = 0)
	{
		std::vector<pfm_count_t> counts(pfm_session_size(get()),
		                                perfmon_init_of<pfm_count_t>());
		std::vector<pfm_session_metric_t> all(pfm_count_metrics(get()),
		                                      perfmon_init_of<pfm_session_metric_t>());

		check(pfm_read_session(get(), counts.data(), static_cast<unsigned>(counts.size())));
		for (unsigned i = 0; i < all.size(); i++)
			check(pfm_compute_session_metric(get(), i, counts.data(), 1, seconds,
			                                 &all[i]));
		return all;
	}

	/* With options.sampling, see sampling.h. */

	/** Waits up to @ms milliseconds (-1: any time) for records. False once every sampled task
	 * has ended and all was read. */
	bool wait(int ms = -1)
	{
		return check(pfm_wait_session(get(), ms)) != PFM_WAIT_ENDED;
	}
	/** Takes the next record, the oldest there is. False if no record is ready. */
	bool next(pfm_record_t &record)
	{
		return check(pfm_next_record(get(), &record)) != 0;
	}
	/** How many samples count @i has given and lost. */
	pfm_sample_statistics_t statistics(unsigned i = 0)
	{
		auto n = perfmon_init_of<pfm_sample_statistics_t>();

		check(pfm_sampling_statistics(get(), i, &n));
		return n;
	}

      private:
	explicit session(pfm_session_t *s) : session_(s)
	{
	}
	void open(const std::vector<std::string> &events, const pfm_session_options_t &options)
	{
		pfm_error_t why = PFM_INIT(why);
		std::vector<const char *> texts;
		pfm_session_t *s = nullptr;
		int rc = detail::collect(events, texts, why);

		if (rc == PFMLIB_SUCCESS)
			rc = pfm_open_session(&s, ctx_->get(), &options, texts.data(),
			                      static_cast<unsigned>(texts.size()), &why);
		if (rc != PFMLIB_SUCCESS)
			throw error(ctx_->get(), detail::culprit(events, why), why, rc);
		session_.reset(s);
	}
	reading describe(unsigned i, const pfm_count_t &count) const
	{
		pfm_count_info_t info = PFM_INIT(info);
		reading r;

		pfm_describe_count(get(), i, &info);
		r.name = info.name;
		r.pmu = info.pmu;
		r.why = info.why;
		r.remedy = info.remedy;
		r.count = count;
		if (pfm_counter_quality(count.quality, count.cause) <= PFM_QUALITY_PARTIAL)
			r.value = count.value;
		return r;
	}
	static int check(int rc)
	{
		return detail::check(rc);
	}
	struct closer {
		void operator()(pfm_session_t *s) const
		{
			pfm_close_session(s);
		}
	};
	std::optional<context> ctx_; /* none for a recording that is read */
	std::unique_ptr<pfm_session_t, closer> session_;
};

/** A perf.data file that is written from a session. Closes itself; the session must outlive it. */
class recording
{
      public:
	/** Starts the file; call it after session::start(). @command: arguments to note in it. */
	recording(session &of, const std::string &path, const std::string &command = {})
	{
		pfm_error_t why = PFM_INIT(why);
		pfm_recording_t *r = nullptr;
		int rc = pfm_create_recording(&r, path.c_str(), of.get(),
		                              command.empty() ? nullptr : command.c_str(), &why);

		if (rc != PFMLIB_SUCCESS)
			throw error(nullptr, nullptr, why, rc);
		recording_.reset(r);
	}
	/** Compresses what follows, level 1 to 22; throws without libzstd. */
	void compress(int level)
	{
		detail::check(pfm_compress_recording(recording_.get(), level));
	}
	/** Moves the buffers' contents to the file. Returns its size in bytes. */
	std::uint64_t write()
	{
		std::uint64_t size = 0;

		detail::check(pfm_write_records(recording_.get(), &size));
		return size;
	}
	/** Completes the file. The destructor does so too, and ignores failures. */
	void close()
	{
		detail::check(pfm_close_recording(recording_.release()));
	}

      private:
	struct closer {
		void operator()(pfm_recording_t *r) const
		{
			pfm_close_recording(r);
		}
	};
	std::unique_ptr<pfm_recording_t, closer> recording_;
};

/** A visit of a region, as long as its scope: an exception ends it too.
 *
 *     perfmon::region r("solve");
 *     perfmon::region s(PFM_REGION("inner loop")); // looks the name up once
 *
 * It stays in the thread that made it; a task that moves between threads uses region_visit. */
class region
{
      public:
	explicit region(pfm_region_t *of) noexcept : region_(of)
	{
		pfm_begin_region(region_);
	}
	explicit region(const char *name) noexcept : region(find(name))
	{
	}
	explicit region(const std::string &name) noexcept : region(name.c_str())
	{
	}
	region(const region &) = delete;
	region &operator=(const region &) = delete;
	~region()
	{
		pfm_end_region(region_);
	}

      private:
	static pfm_region_t *find(const char *name) noexcept
	{
		return PERFMON_REGIONS_ACTIVE_ ? pfm_find_region(name) : nullptr;
	}
	pfm_region_t *region_;
};

/** A visit that may be moved, and continued in another thread. */
class region_visit
{
      public:
	explicit region_visit(pfm_region_t *of) noexcept : visit_(pfm_enter_region(of))
	{
	}
	explicit region_visit(const char *name) noexcept
	    : region_visit(PERFMON_REGIONS_ACTIVE_ ? pfm_find_region(name) : nullptr)
	{
	}
	region_visit(region_visit &&other) noexcept : visit_(std::exchange(other.visit_, nullptr))
	{
	}
	region_visit &operator=(region_visit &&other) noexcept
	{
		std::swap(visit_, other.visit_);
		return *this;
	}
	~region_visit()
	{
		pfm_leave_region(visit_);
	}
	/** In the thread that leaves the task alone, then in the one that takes it up. */
	void suspend() noexcept
	{
		pfm_suspend_region(visit_);
	}
	void resume() noexcept
	{
		pfm_resume_region(visit_);
	}

      private:
	pfm_region_visit_t *visit_;
};

} // namespace perfmon

#endif
