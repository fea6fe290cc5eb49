/* SPDX-License-Identifier: MIT */
/* A harness that switches counting on around a part of itself: controlling CTL ACK PAGES,
 * descriptors and a number. */
#include <stdio.h>
#include <string.h>
#include "marked.h"

static int ask(int control, int ack, const char *line)
{
	char answer[8];

	if (write(control, line, strlen(line)) != (ssize_t)strlen(line))
		return 1;
	return read(ack, answer, 5) != 5 || memcmp(answer, "ack\n", 5) != 0;
}

int main(int argc, char **argv)
{
	int control, ack, wrong = 0;

	if (argc != 4)
		return 2;
	control = atoi(argv[1]);
	ack = atoi(argv[2]);
	cause_faults(1000);
	wrong |= ask(control, ack, "ping\n");
	wrong |= ask(control, ack, "enable\n");
	cause_faults((unsigned)atoi(argv[3]));
	wrong |= ask(control, ack, "disable\n");
	cause_faults(1000);
	wrong |= ask(control, ack, "enable\n");
	cause_faults((unsigned)atoi(argv[3]));
	wrong |= ask(control, ack, "disable\n");
	wrong |= ask(control, ack, "evlist\n");
	cause_faults(1000);
	wrong |= ask(control, ack, "stop\n");
	cause_faults(1000);
	return wrong;
}
