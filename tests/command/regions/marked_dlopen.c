/* SPDX-License-Identifier: MIT */
/* A program that uses the library only through a plugin: marked_dlopen PLUGIN. Twice, 4 threads
 * visit a region of the plugin 3 times and stay in another one; the plugin is closed, then the
 * threads end. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, VISITS = 3 };

static void (*visit_region)(void), (*stay_in_region)(void);
static pthread_barrier_t inside, closed;

static void *work(void *arg)
{
	for (unsigned i = 0; i < VISITS; i++)
		visit_region();
	stay_in_region();
	pthread_barrier_wait(&inside);
	pthread_barrier_wait(&closed);
	return arg;
}

static void *open_plugin(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW);

	if (!plugin)
		exit(2);
	visit_region = (void (*)(void))dlsym(plugin, "visit_region");
	stay_in_region = (void (*)(void))dlsym(plugin, "stay_in_region");
	return plugin;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	void *plugin;

	pthread_barrier_init(&inside, NULL, THREADS + 1);
	pthread_barrier_init(&closed, NULL, THREADS + 1);
	for (unsigned round = 0; argc == 2 && round < 2; round++) {
		plugin = open_plugin(argv[1]);
		for (unsigned i = 0; i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, work, NULL))
				return 3;
		pthread_barrier_wait(&inside);
		dlclose(plugin);
		pthread_barrier_wait(&closed);
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	return argc != 2;
}
