/* SPDX-License-Identifier: MIT */
/* Marked as likwid's macros would, in two threads that nothing pins; "solve" and "copy one"
 * overlap. */
#include <pthread.h>
#include "marked.h"

void likwid_markerInit(void);
void likwid_markerThreadInit(void);
int likwid_markerRegisterRegion(const char *tag);
int likwid_markerStartRegion(const char *tag);
int likwid_markerStopRegion(const char *tag);
void likwid_markerGetRegion(const char *tag, int *n, double *events, double *time, int *count);
void likwid_markerClose(void);

static int wrong;

static void *work(void *arg)
{
	double events[4], time;
	int n = 4, count;

	(void)arg;
	likwid_markerThreadInit();
	wrong |= likwid_markerRegisterRegion("solve") != 0;
	for (unsigned i = 0; i < 3; i++) {
		wrong |= likwid_markerStartRegion("solve") != 0;
		wrong |= likwid_markerStartRegion("solve") == 0; /* twice */
		cause_faults(4);
		likwid_markerStartRegion("copy one");
		cause_faults(2);
		likwid_markerStopRegion("solve");
		cause_faults(1);
		likwid_markerStopRegion("copy one");
	}
	wrong |= likwid_markerStopRegion("never started") == 0;
	likwid_markerGetRegion("solve", &n, events, &time, &count);
	wrong |= n != 1 || count != 3 || events[0] != 18;
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	likwid_markerInit();
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	likwid_markerClose();
	return wrong;
}
