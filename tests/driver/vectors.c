/* SPDX-License-Identifier: MIT */
/* The golden vectors' requests, answered:
 *
 *     vectors dispatch --json    calls of the libpfm 3 interface
 *     vectors session --json     sessions on the emulated Alpha counter device
 *     vectors native --json      calls of the native interface, as bindings make them
 *
 * Each reads one JSON object a line from standard input and answers with one a line. */
#include <stdio.h>
#include <string.h>
#include "alpha/session.h"
#include "requests.h"

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[2], "--json") == 0) {
		if (strcmp(argv[1], "dispatch") == 0)
			return answer_requests(stdin, stdout);
		if (strcmp(argv[1], "session") == 0)
			return replay_sessions(stdin, stdout);
		if (strcmp(argv[1], "native") == 0)
			return answer_native_requests(stdin, stdout);
	}
	fputs("usage: vectors {dispatch|session|native} --json < REQUESTS\n", stderr);
	return 2;
}
