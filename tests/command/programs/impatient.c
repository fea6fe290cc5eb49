/* SPDX-License-Identifier: MIT */
/* LD_PRELOAD for pfm annotate: a wait of more than ten seconds is over at once. */
#include <poll.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	const struct timespec t = { timeout > 10000 ? 0 : timeout / 1000,
		                    timeout > 10000 ? 0 : timeout % 1000 * 1000000L };

	return (int)syscall(SYS_ppoll, fds, nfds, timeout < 0 ? NULL : &t, NULL, 0);
}
