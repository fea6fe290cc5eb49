/* SPDX-License-Identifier: MIT */
/* Tracepoints of the running kernel by pattern, and the kernel's description of one. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <perfmon/aggregate.h>

#include "context/context.h"

enum { NAME_SIZE = 256 };

/* Tracepoints that match @pattern, while folders are read. */
struct tracepoint_visit {
	const struct sys *sys;
	const char *mount, *pattern, *subsystem;
	int (*each)(void *arg, const char *name);
	void *arg;
	int result; /* of @each, once it ended the visit */
	bool has_subsystems;
};

/* The result code of an error number that a system call returned, negated. */
static int get_result_code(int err)
{
	switch (-err) {
	case ENOENT:
	case ENOTDIR: return PFMLIB_ERR_NOTFOUND;
	case EACCES:
	case EPERM: return PFMLIB_ERR_PERM;
	case ENOMEM: return PFMLIB_ERR_NOMEM;
	default: return PFMLIB_ERR_SYS;
	}
}

static int visit_tracepoint(void *arg, const char *name)
{
	struct tracepoint_visit *v = arg;
	char text[2 * NAME_SIZE];
	int len = snprintf(text, sizeof(text), "%s:%s", v->subsystem, name);

	/* Files such as "enable" and "filter" are among the folders of tracepoints. */
	if (len < 0 || (size_t)len >= sizeof(text) || strcmp(name, "enable") == 0 ||
	    strcmp(name, "filter") == 0)
		return 0;
	if (v->pattern && fnmatch(v->pattern, text, 0) != 0)
		return 0;
	v->result = v->each(v->arg, text);
	return v->result != 0;
}

/* True if no tracepoint of the subsystem can match: its name has no wildcard and is another one. */
static bool is_excluded(const char *pattern, const char *subsystem)
{
	size_t len = pattern ? strcspn(pattern, "*?[:") : 0;

	return pattern && pattern[len] == ':' &&
	       (strlen(subsystem) != len || strncmp(pattern, subsystem, len) != 0);
}

static int visit_subsystem(void *arg, const char *name)
{
	struct tracepoint_visit *v = arg;
	char path[2 * NAME_SIZE];
	int len = snprintf(path, sizeof(path), "%s/%s", v->mount, name);

	v->has_subsystems = true;
	if (len < 0 || (size_t)len >= sizeof(path) || is_excluded(v->pattern, name))
		return 0;
	v->subsystem = name;
	v->sys->list_folder(v->sys, path, visit_tracepoint, v);
	return v->result != 0;
}

int pfm_visit_tracepoints(const pfm_ctx_t *ctx, const char *pattern,
                          int (*each)(void *arg, const char *name), void *arg)
{
	struct tracepoint_visit v = { .pattern = pattern, .each = each, .arg = arg };
	int rc = -ENOENT;

	if (!each)
		return PFMLIB_ERR_INVAL;
	ctx = context_get_or_default(ctx);
	v.sys = &ctx->sys;
	for (unsigned i = 0; i < TRACEFS_MOUNTS && !v.has_subsystems; i++) {
		v.mount = pfmi_machine_tracefs_paths[i];
		rc = v.sys->list_folder(v.sys, v.mount, visit_subsystem, &v);
	}
	if (v.has_subsystems)
		return v.result;
	return get_result_code(rc < 0 ? rc : -ENOENT);
}

int pfm_read_tracepoint_format(const pfm_ctx_t *ctx, const char *text, char *buf, size_t size)
{
	size_t subsystem = text ? strcspn(text, ":") : 0, name;
	char path[3 * NAME_SIZE], *format;
	int rc = -ENOENT;
	size_t len;

	if (!text || !text[subsystem] || (size && !buf))
		return PFMLIB_ERR_INVAL;
	ctx = context_get_or_default(ctx);
	name = strcspn(text + subsystem + 1, ":,");
	if (!subsystem || !name || subsystem > NAME_SIZE || name > NAME_SIZE ||
	    memchr(text, '/', subsystem + 1 + name))
		return PFMLIB_ERR_NOTFOUND;
	for (unsigned i = 0; i < TRACEFS_MOUNTS && rc; i++) {
		snprintf(path, sizeof(path), "%s/%.*s/%.*s/format", pfmi_machine_tracefs_paths[i],
		         (int)subsystem, text, (int)name, text + subsystem + 1);
		rc = pfmi_machine_read_file(&ctx->sys, path, &format, &len);
	}
	if (rc)
		return get_result_code(rc);
	if (size)
		snprintf(buf, size, "%s", format);
	free(format);
	return (int)len;
}
