// SPDX-License-Identifier: MIT
// Scopes that are left early: "thrown" has 2 faults in each of 3 visits that an exception ends,
// "cancelled" has 3 in a visit that pthread_cancel() ends, in a thread.
#include "marked.h"
#include <perfmon/perfmon.hpp>
#include <pthread.h>
#include <stdexcept>

static pthread_barrier_t inside;

static void *stay(void *)
{
	perfmon::region r(PFM_REGION("cancelled"));

	cause_faults(3);
	pthread_barrier_wait(&inside);
	for (;;)
		pause();
	return nullptr;
}

static void leave_by_exception()
{
	perfmon::region r("thrown");

	cause_faults(2);
	throw std::runtime_error("thrown");
}

int main()
{
	pthread_t thread;
	unsigned caught = 0;

	for (int i = 0; i < 3; i++)
		try {
			leave_by_exception();
		} catch (const std::runtime_error &) {
			caught++;
		}
	pthread_barrier_init(&inside, nullptr, 2);
	if (pthread_create(&thread, nullptr, stay, nullptr))
		return 1;
	pthread_barrier_wait(&inside);
	pthread_cancel(thread);
	pthread_join(thread, nullptr);
	return caught == 3 ? 0 : 1;
}
