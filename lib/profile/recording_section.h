/* SPDX-License-Identifier: MIT */
/* Sections after the data of a recording, which describe the machine that was recorded. */
#ifndef PFM_RECORDING_SECTION_H
#define PFM_RECORDING_SECTION_H

#include <stdbool.h>
#include <stdint.h>

/* Reads section @feature (PERFDATA_FEATURE_*) of the recording at @path. Returns its contents, a
 * zero after them, which the caller frees; NULL if it is missing, or the file has the other byte
 * order. */
uint8_t *read_recording_section(const char *path, unsigned feature, uint64_t *size);

/* Reads a section that is a text, such as the kernel's release. The caller frees it; NULL if it is
 * missing. */
char *read_recording_text(const char *path, unsigned feature);

/* Stores for each of the first @n events of the recording at @path whether tasks inherit it from
 * their parents. Leaves @is_inherited as it is if the file has the other byte order, or is a
 * pipe. */
void read_inherited_events(const char *path, bool *is_inherited, unsigned n);

#endif
