/* SPDX-License-Identifier: MIT */
/* Paths of the kernel's files, below the root that $PERFMON_SYSFS names. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include "compat/libpfm4/l4.h"

/* The root. It is read once, with the lock held, because other threads may use it at any time. */
static struct {
	bool is_known;
	char path[256];
} root;

const char *l4_get_perfmon_variable(const char *name)
{
	const char *v = getauxval(AT_SECURE) ? NULL : getenv(name);

	return v ? v : "";
}

void l4_read_root(void)
{
	const char *path = l4_get_perfmon_variable("PERFMON_SYSFS");
	size_t len = *path ? strlen(path) : 0;

	if (root.is_known)
		return;
	/* A root that is too long must not become that of this machine; /dev/null has no files
	 * below it. */
	if (len >= sizeof(root.path)) {
		path = "/dev/null";
		len = strlen(path);
	}
	if (len)
		memcpy(root.path, path, len);
	root.is_known = true;
}

bool l4_format_path(char out[L4_PATH_SIZE], const char *format, ...)
{
	va_list ap;
	size_t len;
	int n;

	len = strlen(root.path);
	memcpy(out, root.path, len);
	va_start(ap, format);
	n = vsnprintf(out + len, L4_PATH_SIZE - len, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= L4_PATH_SIZE - len)
		out[0] = '\0';
	return len > 0;
}
