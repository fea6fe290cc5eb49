/* SPDX-License-Identifier: MIT */
/* pfm alpha session: replays sessions of the Tru64 counter device on its model. */
#include "common/pfm.h"
#include "alpha/session.h"

#include <errno.h>
#include <string.h>

enum { OPT_JSON = LONG_ONLY };

static const struct command_option options[] = {
	{ OPT_JSON, "json", NULL, "read requests and write answers as JSON; required" },
	{ 0, NULL, NULL, NULL }
};

static int replay_file(const char *path)
{
	FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	int status;

	if (!in) {
		fprintf(stderr, "pfm alpha session: cannot open '%s': %s\n", path, strerror(errno));
		return EXIT_REFUSED;
	}
	errno = 0;
	status = replay_sessions(in, stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
	if (ferror(in))
		fprintf(stderr, "pfm alpha session: cannot read '%s': %s\n", path, strerror(errno));
	if (in != stdin)
		fclose(in);
	return status;
}

static int run_session(struct command_args *args)
{
	const char *value;
	int id, i, status = EXIT_DONE;

	while ((id = next_option(args, &value)) > 0)
		;
	if (id < 0)
		return args->status;
	if (args->n == 0)
		return replay_file("-");
	for (i = 0; i < args->n; i++)
		if (replay_file(args->operands[i]) != EXIT_DONE)
			status = EXIT_REFUSED;
	return status;
}

const struct command cmd_alpha_session = {
	.name = "alpha session",
	.usage = "--json [FILE]... < REQUESTS",
	.summary = "replay sessions on a model of the Alpha counter device",
	.about = "Reads one JSON object a line: a session on /dev/pfcntr as a list of steps (open, "
		 "ioctl, read, close, and what processes and processors do meanwhile), or the "
		 "events, rates and scope of one whose steps are to be found. Answers with the "
		 "same object, and in it what the device returns, the wrperfmon calls its driver "
		 "makes, and the registers once counting has begun.",
	.examples = "What does the device answer to a second user?\n"
		    "echo "
		    "'{\"kind\":\"error\",\"pmu\":\"ev5\",\"steps\":[{\"op\":\"open\",\"flags\":"
		    "\"0x18000\",\"proc\":\"A\"},"
		    "{\"op\":\"open\",\"flags\":\"0x18000\",\"proc\":\"B\"}]}' | pfm alpha session "
		    "--json\n"
		    "Every session of a file\n"
		    "pfm alpha session --json sessions.jsonl\n",
	.options = options,
	.run = run_session
};
