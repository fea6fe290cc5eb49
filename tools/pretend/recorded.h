/* SPDX-License-Identifier: MIT */
/* Recorded machines: text files with a line for each file, "PATH TAB CONTENT", where line feeds are
 * "\\n". Paths that do not begin with a slash are those of PMUs. */
#ifndef PFM_PRETEND_RECORDED_H
#define PFM_PRETEND_RECORDED_H

#include "pretend/machine.h"
#include "pretend/tree.h"

/* Writes the files of PMUs of the recording @path below a folder of its own, m->recording, and
 * takes the paranoid level. False after a report. */
bool lay_out_recording(struct pretend_machine *m, const char *path);
/* Replaces the PMUs of @m, which has those of its tables, by the recorded ones. False after a
 * report if the recording has no core of the processor. */
bool use_recorded_pmus(struct pretend_machine *m);
/* Copies the files to @t, which keeps the first error. */
void copy_recorded_files(const struct pretend_machine *m, struct tree *t);
void remove_recording(struct pretend_machine *m);

#endif
