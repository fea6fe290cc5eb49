/* SPDX-License-Identifier: MIT */
/* Files that are part of the command: models, and identities of processors (data.py). */
#ifndef PFM_PRETEND_DATA_H
#define PFM_PRETEND_DATA_H

struct pretend_file {
	const char *name, *text; /* NULL after the last */
};
extern const struct pretend_file pretend_files[];

#endif
