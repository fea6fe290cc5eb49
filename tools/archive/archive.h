/* SPDX-License-Identifier: MIT */
#ifndef PFM_ARCHIVE_H
#define PFM_ARCHIVE_H

/* Packs the recording @path with the files that name its code into @output, by default
 * PATH.tar.zst. EXIT_DONE, or EXIT_REFUSED after a message. */
int archive_recording(const char *path, const char *output);

#endif
