/* SPDX-License-Identifier: MIT */
/* Commands from another program while something is counted or sampled: --control, with the words
 * of perf. */
#ifndef PFM_CONTROL_H
#define PFM_CONTROL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control {
	bool on;
	int in, ack; /* descriptors; ack -1: no answers */
	size_t n;
	char line[256];
};

enum control_word {
	CONTROL_NOTHING,
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_EVLIST,
	CONTROL_UNKNOWN
};

/* Opens what "fd:IN[,ACK]" or "fifo:IN[,ACK]" names. False if @text is neither, or with errno if
 * it cannot be opened. */
bool control_open(struct control *c, const char *text);
/* Returns the next complete command without waiting. @c->line has the text of an unknown one. */
enum control_word control_next(struct control *c);
/* Tells the other side that its command was carried out. */
void control_acknowledge(const struct control *c);
/* Waits until a command, one of the blocked @signals, or one of @n descriptors @fds comes, or @ns
 * have passed. */
void control_wait(const struct control *c, const sigset_t *signals, const int *fds, unsigned n,
                  uint64_t ns);

#endif
