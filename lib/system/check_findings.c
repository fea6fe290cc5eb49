/* SPDX-License-Identifier: MIT */
/* The list of findings of pfm_check_system(), and reading of the files that its checks need. */
#include "system/system_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pfmi_check_set_text(char text[FINDING_TEXT_SIZE], const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, FINDING_TEXT_SIZE, format, ap);
	va_end(ap);
}

void pfmi_check_add_finding(struct pfm_system_check *c, enum pfm_finding_topic topic,
                            struct finding *f)
{
	size_t size = (c->n_findings + 1) * sizeof(*c->findings);
	struct finding *more = realloc(c->findings, size);

	if (!more) {
		c->failed = true;
		return;
	}
	c->findings = more;
	f->topic = topic;
	c->findings[c->n_findings++] = *f;
}

bool pfmi_check_read_number(struct pfm_system_check *c, const char *path, long *number)
{
	char text[64], *end;

	if (pfmi_machine_read_small_file(&c->sys.sys, path, text, sizeof(text)) < 0)
		return false;
	*number = strtol(text, &end, 10);
	return end > text && !*end;
}

/* The value in @line if that is "@key: value", else NULL. */
static const char *find_value(const char *line, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(line, key, len) != 0 || !strchr("\t :", line[len]))
		return NULL;
	line += len + strspn(line + len, "\t ");
	return *line == ':' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

int pfmi_check_read_file(struct pfm_system_check *c, const char *path, char **text, size_t *len)
{
	int rc = pfmi_machine_read_file(&c->sys.sys, path, text, len);

	if (rc == -ENOMEM)
		c->sys.resource_error = rc;
	return rc;
}

bool pfmi_check_read_key(struct pfm_system_check *c, const char *path, const char *key, char *value,
                         size_t size)
{
	const char *found = NULL;
	char *text;
	size_t len;

	if (pfmi_check_read_file(c, path, &text, &len))
		return false;
	for (const char *line = text; *line && !found;
	     line += strcspn(line, "\n"), line += *line == '\n')
		found = find_value(line, key);
	if (found)
		snprintf(value, size, "%.*s", (int)strcspn(found, "\n"), found);
	free(text);
	return found;
}
