/* SPDX-License-Identifier: MIT */
/* Recordings: perf.data files, written from a session and read as one. */
#ifndef LIBPERFMON_RECORDING_H
#define LIBPERFMON_RECORDING_H

#include <perfmon/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** A recording that is being written. Opaque. */
typedef struct pfm_recording pfm_recording_t;

/** Creates the recording @path of @s, in the format of perf-record(1); an existing file is
 * overwritten.
 * @out      receives the recording, NULL on failure; pfm_close_recording() completes and frees it
 * @s        a session that samples; it must outlive the recording
 * @command  command line to note in the file, arguments separated by newlines; or NULL
 * @error    filled on failure; may be NULL
 * Names and mappings of the tasks are written at once, so start the session first.
 *
 * Returns PFMLIB_SUCCESS, or
 *   PFMLIB_ERR_INVAL    an argument is NULL, or @s does not sample
 *   PFMLIB_ERR_NOTSUPP  samples of this session cannot be recorded
 *   PFMLIB_ERR_NOMEM    out of memory
 *   PFMLIB_ERR_SYS      the file cannot be written; see error->sys_errno */
int pfm_create_recording(pfm_recording_t **out, const char *path, pfm_session_t *s,
                         const char *command, pfm_error_t *error);

/** Compresses what follows with zstd at @level 1 (fast) to 22 (small). Call it before the first
 * pfm_write_records(). A compressed recording whose writer was killed can be read by this library
 * only. PFMLIB_ERR_NOTSUPP without libzstd; the recording then stays uncompressed. */
int pfm_compress_recording(pfm_recording_t *r, int level);

/** Moves the contents of the session's buffers to the file, which is readable up to there from
 * then on. *@size (@size may be NULL) receives the size of the file in bytes. Do not take records
 * from the session by other calls. PFMLIB_ERR_SYS if writing fails. */
int pfm_write_records(pfm_recording_t *r, uint64_t *size);

/** Writes what is left and the description of the machine, and frees the recording, also on
 * failure. NULL is allowed. PFMLIB_ERR_SYS if writing fails. */
int pfm_close_recording(pfm_recording_t *r);

/** Opens the recording @path, made by this library or perf-record(1) on any machine, as a session.
 * @out    receives the session, NULL on failure; release it with pfm_close_session()
 * @error  filled on failure; may be NULL
 * pfm_next_record() gives its records sorted by time. Its events are described as counts, and have
 * no values.
 *
 * Returns PFMLIB_SUCCESS, or
 *   PFMLIB_ERR_INVAL    an argument is NULL, or the file is not a perf.data file, or corrupt
 *   PFMLIB_ERR_NOTSUPP  compressed, and libzstd is missing
 *   PFMLIB_ERR_NOMEM    out of memory
 *   PFMLIB_ERR_SYS      the file cannot be read; see error->sys_errno */
int pfm_open_recording(pfm_session_t **out, const char *path, pfm_error_t *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
