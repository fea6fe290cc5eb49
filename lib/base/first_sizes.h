/* SPDX-License-Identifier: MIT */
/* Sizes that the growable public structs had in version 1.0, which a size of 0 stands for. A row
 * names the last member of version 1.0: members that later versions append come after it. */
#ifndef PERFMON_FIRST_SIZES_H
#define PERFMON_FIRST_SIZES_H

#include <stddef.h>
#include <perfmon/alpha.h>
#include <perfmon/perfmon.h>
#include <perfmon/profile.h>

#define BASE_FIRST_STRUCTS(X)                                                                      \
	X(pfm_error_t, clash)                                                                      \
	X(pfm_ctx_options_t, log_level)                                                            \
	X(perfmon_pmu_info_t, cpus)                                                                \
	X(perfmon_event_info_t, topic)                                                             \
	X(pfm_umask_info_t, is_combinable)                                                         \
	X(pfm_erratum_t, n_events)                                                                 \
	X(pfm_modifier_info_t, preset)                                                             \
	X(pfm_rule_info_t, evidence)                                                               \
	X(pfm_encoding_t, attr)                                                                    \
	X(pfm_dispatch_options_t, model_out)                                                       \
	X(pfm_set_t, pmds)                                                                         \
	X(pfm_decoded_event_t, text)                                                               \
	X(pfm_metric_info_t, has_threshold)                                                        \
	X(pfm_metric_input_t, alias)                                                               \
	X(pfm_metric_data_t, observed)                                                             \
	X(pfm_metric_value_t, over_threshold)                                                      \
	X(pfm_metric_check_t, reason)                                                              \
	X(pfm_plan_options_t, effort)                                                              \
	X(pfm_plan_info_t, certificate)                                                            \
	X(pfm_planned_event_t, errata)                                                             \
	X(pfm_schedule_options_t, effort)                                                          \
	X(pfm_schedule_info_t, shift)                                                              \
	X(pfm_scheduled_request_t, standard_error)                                                 \
	X(pfm_count_t, scale)                                                                      \
	X(pfm_count_info_t, attr)                                                                  \
	X(pfm_session_options_t, filters)                                                          \
	X(pfm_session_metric_t, reason)                                                            \
	X(pfm_metric_counts_t, seconds)                                                            \
	X(pfm_count_sum_t, count.scale)                                                            \
	X(pfm_tally_t, count.scale)                                                                \
	X(pfm_cpu_info_t, node)                                                                    \
	X(pfm_sampling_t, precise)                                                                 \
	X(pfm_record_t, body)                                                                      \
	X(pfm_sample_statistics_t, freq)                                                           \
	X(pfm_buffer_info_t, skipped)                                                              \
	X(pfm_trace_field_t, reserved)                                                             \
	X(pfm_regions_options_t, format)                                                           \
	X(pfm_region_info_t, threads)                                                              \
	X(pfm_region_count_t, scale)                                                               \
	X(pfm_region_event_t, cost_pair)                                                           \
	X(pfm_region_process_t, n_regions)                                                         \
	X(pfm_finding_t, count)                                                                    \
	X(pfm_profile_options_t, debug_folder)                                                     \
	X(pfm_profile_info_t, last_time)                                                           \
	X(pfm_profile_event_t, reserved)                                                           \
	X(pfm_function_t, children_error)                                                          \
	X(pfm_stack_t, weight)                                                                     \
	X(pfm_frame_t, reserved)                                                                   \
	X(pfm_symbol_t, address)                                                                   \
	X(pfm_alpha_device_t, close)                                                               \
	X(pfm_alpha_session_t, bind)

/* The end of member LAST, rounded up as the end of a struct is. */
#define BASE_FIRST_SIZE(TYPE, LAST)                                                                \
	((offsetof(TYPE, LAST) + sizeof(__typeof__(((TYPE *)0)->LAST)) + _Alignof(TYPE) - 1) /     \
	 _Alignof(TYPE) * _Alignof(TYPE))
#define BASE_FIRST_SIZE_ROW(TYPE, LAST)                                                            \
	TYPE * : BASE_FIRST_SIZE(TYPE, LAST), const TYPE * : BASE_FIRST_SIZE(TYPE, LAST),

/* The size in version 1.0 of the struct that S, a pointer with its type, points to. */
#define BASE_FIRST_SIZE_OF(S)                                                                      \
	_Generic((S), BASE_FIRST_STRUCTS(BASE_FIRST_SIZE_ROW) struct base_no_public_struct *:0)

#endif
