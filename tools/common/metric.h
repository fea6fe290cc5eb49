/* SPDX-License-Identifier: MIT */
/* Finds metrics by name or group and shows them. */
#ifndef PFM_METRIC_H
#define PFM_METRIC_H

#include "common/pfm.h"
#include "show/show.h"

enum { NAME_MAX_LEN = 512 };

/* A metric of a context, and the counts of its inputs. */
struct metric_use {
	int pmu;
	unsigned event;
	pfm_metric_info_t info;
	pfm_metric_operand_t counts[256];
	char text[NAME_MAX_LEN]; /* the name that was looked up; positions of errors refer to it */
};

/* A computed metric. */
struct metric_answer {
	pfm_metric_info_t info;
	pfm_session_metric_t value;
	const struct stat_row *worst; /* (pfm stat) the input of the worst quality, if not exact */
};

/* Finds metric @name on @pmu (NULL: default PMUs). PFMLIB_SUCCESS, or a code with @error. */
int find_metric(const pfm_ctx_t *ctx, const char *pmu, const char *name, struct metric_use *out,
                pfm_error_t *error);
/* Unit, groups, parent and level of a metric as members of an object. */
void put_metric(struct json *j, const pfm_ctx_t *ctx, int pmu, unsigned event);
/* Describe a metric line by line, or as members of an object: formula, inputs, number of groups. */
void show_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, show_line_fn line);
void show_metric_json(struct json *j, const pfm_ctx_t *ctx, int pmu, unsigned event);
/* Calls @each with the metrics of group "PMU::GROUP", or of "GROUP" on this machine's processors,
 * until it returns false. False without memory. */
bool visit_group_metrics(const pfm_ctx_t *ctx, const char *name,
                         bool (*each)(void *arg, int pmu, unsigned event,
                                      const pfm_metric_info_t *info),
                         void *arg);

#endif
