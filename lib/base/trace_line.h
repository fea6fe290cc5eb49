/* SPDX-License-Identifier: MIT */
/* Lines of the kernel's description of a tracepoint, which tell where its fields are in a sample:
 * "	field:unsigned char comm[16];	offset:8;	size:16;	signed:0;". */
#ifndef PERFMON_BASE_TRACE_LINE_H
#define PERFMON_BASE_TRACE_LINE_H

#include <stdbool.h>
#include "base/text.h"

/* A field. The texts are parts of the line. */
struct trace_line {
	struct slice type;  /* what is before the name: "unsigned char", "__data_loc char[]" */
	struct slice name;  /* "comm" */
	struct slice array; /* what is after it: "[16]", or empty */
	unsigned offset, size;
	bool is_signed;
};

/* Parses a line of a description. False if it describes no field. */
bool base_parse_trace_line(const char *line, struct trace_line *out);

#endif
