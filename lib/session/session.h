/* SPDX-License-Identifier: MIT */
/* Sessions, for the modules above: opening, explaining failures, and the interface to sampling. */
#ifndef PERFMON_SESSION_SESSION_H
#define PERFMON_SESSION_SESSION_H

#include "machine/perf_abi.h"
#include "session/backend.h"

struct session_builder;
struct device_state;

/* Most counts of a session, and most kernel events for them: 32 events on 8,192 CPUs. */
#define MAX_SESSION_COUNTS (1u << 18)

/* Functions for sampling with the counter device, which a session calls if it samples. */
struct device_sampling_ops {
	/* Allocates the state of sampling and completes the settings. Returns PFMLIB_ERR_NOMEM
	 * without memory. */
	int (*prepare)(struct pfm_session *s);
	/* Completes the settings once the event is known. */
	void (*set_event)(struct device_state *d);
	/* The reason why count @i, which has a counter, cannot be sampled; NULL if it can. */
	const char *(*explain_refusal)(const struct pfm_session *s, unsigned i);
	/* Allocates the profile. Returns PFMLIB_ERR_NOMEM or PFMLIB_ERR_SYS. */
	int (*open)(struct pfm_session *s);
	void (*close)(struct pfm_session *s);
};

/**
 * The functions of sampling through perf_event, which a module above this one defines.
 *
 * s->sampling_ops points to them in every session that pfm_open_session() makes; all but
 * free_state() are called only where s->sampling is set.
 */
struct sampling_ops {
	/* Copies and checks options.sampling into s->sampling, which it allocates. */
	int (*read_options)(struct session_builder *o);
	/* Frees s->sampling; safe where it is NULL. */
	void (*free_state)(struct pfm_session *s);
	/* Chooses periods and frequencies, before anything is opened. */
	void (*choose_rates)(struct pfm_session *s);
	/* Adds the settings of sampling to the attributes of count @c. */
	void (*fill_attr)(const struct pfm_session *s, const struct session_count *c,
	                  struct perf_attr *a);
	/* Opens an event again that was refused with @err, with fewer requirements if the caller
	 * permits. Returns a descriptor or -errno. */
	int (*retry_open)(struct pfm_session *s, struct session_count *c, struct perf_attr *a,
	                  int pid, int cpu, int group, int err);
	/* Replaces the cause of count @i's failure if the event can be opened without sampling. */
	void (*diagnose_count)(struct pfm_session *s, unsigned i, unsigned k, int err);
	/* Maps the buffers and redirects the events into them. */
	int (*open_buffers)(struct pfm_session *s, pfm_error_t *why);
	void (*close_buffers)(struct pfm_session *s);
	/* Enables or disables the events for records beside samples. Returns 0 or -errno. */
	int (*control_side_events)(struct pfm_session *s, unsigned long request);
};

/* The functions of a session that reads a recording (s->recording). */
struct recording_ops {
	/* Reads the next record. Returns 1, 0 at the end, or a negative code. @go_on: earlier
	 * records must stay valid. */
	int (*read_record)(struct pfm_session *s, bool go_on, const void **bytes, size_t *size);
	/* True if the recording breaks off before its end. */
	bool (*is_damaged)(const struct pfm_session *s);
	/* Frees s->recording. */
	void (*close)(struct pfm_session *s);
};

/* Opens a session that samples with @ops, on the counter device with @device_ops.
 * pfm_open_session() calls it and documents it. */
int pfmi_session_open(pfm_session_t **out, const pfm_ctx_t *ctx,
                      const pfm_session_options_t *options, const char *const *texts, unsigned n,
                      pfm_error_t *error, const struct sampling_ops *ops,
                      const struct device_sampling_ops *device_ops);

/* ---- while a session is opened ------------------------------------------------------------- */

/* The session that @o opens. */
struct pfm_session *pfmi_session_get_built(const struct session_builder *o);
/* Fills the caller's error about the @len bytes at @at of the text. Returns @code. */
int pfmi_session_report_error(const struct session_builder *o, int code, pfm_error_kind_t kind,
                              const char *at, size_t len, const char *detail);
/* Reports PFMLIB_ERR_NOMEM, which it returns. */
int pfmi_session_report_no_memory(const struct session_builder *o);
/* Allocates an empty name of up to @size bytes, which lives as long as the session; NULL
 * without memory. */
char *pfmi_session_alloc_name(struct pfm_session *s, size_t size);
/* Stores that count @c cannot be opened, or not everywhere: @cause, errno @err, and sentences about
 * it. A later call replaces them. */
void pfmi_session_fail_count(struct session_count *c, pfm_cause_t cause, int err,
                             const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

#endif
