/* SPDX-License-Identifier: MIT */
/* The files of sysfs that describe the PMUs of a pretended machine. */
#ifndef PFM_PRETEND_SYSFS_H
#define PFM_PRETEND_SYSFS_H

#include "pretend/machine.h"
#include "pretend/model.h"
#include "pretend/tree.h"

/* Finds the event that generic event @name ("cpu-cycles") of PMU @pmu counts. Writes it to @text as
 * pfm_encode_event() takes it. False if the model gives none that the PMU has. */
bool resolve_generic(const struct pretend_machine *m, const struct model *model,
                     const struct pretend_pmu *pmu, const char *name, char text[256],
                     pfm_encoding_t *encoding);
/* Writes the files of /sys/bus/event_source to the folder @below of @root, and the marker that
 * tells pfm that the machine is a pretended one. Symbolic links in @below are not followed. False
 * after a report. */
bool write_pretend_sysfs(const struct pretend_machine *m, const struct model *model,
                         const char *root, const char *below);

/* The number of feature @wanted of a PMU's table; 0 without it. */
uint64_t get_pretend_feature(const struct pretend_machine *m, const struct pretend_pmu *pmu,
                             const char *wanted);
/* Writes what the core @pmu can do. (capabilities.c) */
void put_capabilities(struct tree *t, const struct pretend_machine *m,
                      const struct pretend_pmu *pmu);

#endif
