/* SPDX-License-Identifier: MIT */
#include "base/trace_line.h"

#include <stdio.h>

static bool is_name_char(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || base_is_digit(c);
}

/* Divides the @len bytes of a declaration. False if it has no name. */
static bool divide_declaration(const char *s, size_t len, struct trace_line *out)
{
	const char *end = s + len, *array = end, *name;

	if (len && end[-1] == ']') /* unlike "__data_loc char[] name" */
		array = memchr(s, '[', len);
	array = array ? array : end;
	for (name = array; name > s && is_name_char(name[-1]); name--)
		;
	out->name = (struct slice){ name, (uint32_t)(array - name) };
	out->array = (struct slice){ array, (uint32_t)(end - array) };
	out->type = (struct slice){ s, (uint32_t)(name - s) };
	while (out->type.len && s[out->type.len - 1] == ' ')
		out->type.len--;
	return out->name.len;
}

bool base_parse_trace_line(const char *line, struct trace_line *out)
{
	const char *declaration = strstr(line, "field:"),
		   *end = declaration ? strstr(declaration, ";\toffset:") : NULL;
	unsigned is_signed = 0;

	if (!end || sscanf(end, ";\toffset:%u;\tsize:%u;\tsigned:%u", &out->offset, &out->size,
	                   &is_signed) < 2)
		return false;
	declaration += strlen("field:");
	out->is_signed = is_signed != 0;
	return divide_declaration(declaration, (size_t)(end - declaration), out);
}
