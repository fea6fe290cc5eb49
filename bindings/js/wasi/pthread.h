/* SPDX-License-Identifier: MIT */
/* A program in WebAssembly has one thread: locks do nothing. */
#ifndef PERFMON_WASI_PTHREAD_H
#define PERFMON_WASI_PTHREAD_H

typedef int pthread_mutex_t;
typedef int pthread_once_t;
typedef unsigned pthread_key_t;
#define PTHREAD_MUTEX_INITIALIZER 0
#define PTHREAD_ONCE_INIT         0

static inline int pthread_mutex_lock(pthread_mutex_t *m)
{
	*m = 1;
	return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *m)
{
	*m = 0;
	return 0;
}

static inline int pthread_once(pthread_once_t *once, void (*run)(void))
{
	if (!*once) {
		*once = 1;
		run();
	}
	return 0;
}

static inline int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
	(void)before;
	(void)parent;
	(void)child;
	return 0;
}

#endif
