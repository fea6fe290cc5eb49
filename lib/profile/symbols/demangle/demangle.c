/* SPDX-License-Identifier: MIT */
/* Demangles names of C++, and of Rust by demangle_rust.c. A symbol refers back to its own parts,
 * and references to parts that contain references double the name each time: 300 bytes can
 * represent gigabytes. Symbols with many references are demangled by a child with a limit of time
 * and memory. */
#include "profile/messages.h"
#include "profile/symbols/symbols.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	/* With so many references a name is at most some hundred times longer. */
	MAX_SAFE_REFERENCES = 16,
	SECONDS = 1,    /* of a child */
	WORK_LIMIT = 5, /* seconds of all children together */
	MICRO = 1000000,
	NO_MEMORY = -1
}; /* a status of __cxa_demangle() */
#define MEMORY ((rlim_t)1 << 31)

typedef char *(*demangle_fn)(const char *symbol, char *buf, size_t *len, int *status);

/* Uses the C++ library of this machine, if it is installed: names of C++ come from machines that
 * have it. */
static demangle_fn demangle_name;

static void find_demangler(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
	void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;

	if (symbol)
		memcpy(&demangle_name, &symbol, sizeof(demangle_name));
}

/* References in @symbol: S_, S1Z_, T0_. */
static unsigned count_references(const char *symbol)
{
	unsigned n = 0;

	while ((symbol = strpbrk(symbol, "ST"))) {
		symbol++;
		while (isdigit((unsigned char)*symbol) ||
		       (isupper((unsigned char)*symbol) && *symbol != 'S' && *symbol != 'T'))
			symbol++;
		n += *symbol == '_';
	}
	return n;
}

static _Noreturn void run_demangler_child(demangle_fn demangle, const char *symbol, int to)
{
	const struct rlimit time = { SECONDS, SECONDS }, memory = { MEMORY, MEMORY },
			    none = { 0, 0 };
	char *plain;
	int status = 0;
	size_t len;

	setrlimit(RLIMIT_CPU, &time);
	setrlimit(RLIMIT_AS, &memory);
	setrlimit(RLIMIT_CORE, &none);
	plain = demangle(symbol, NULL, NULL, &status);
	len = plain ? strnlen(plain, SYMBOL_SIZE) : 0;
	while (len && write(to, plain, len) < 0 && errno == EINTR)
		; /* fits into a pipe, so that it is written at once */
	_exit(0);
}

/* Reads the reply of a child, at most SYMBOL_SIZE - 1 bytes of it. Returns its length; 0 without
 * a reply. */
static size_t read_reply(int from, char answer[SYMBOL_SIZE])
{
	size_t have = 0;
	ssize_t n = 1;

	while (n > 0 && have < SYMBOL_SIZE) {
		n = read(from, answer + have, SYMBOL_SIZE - have);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			have += (size_t)n;
	}
	return have < SYMBOL_SIZE ? have : SYMBOL_SIZE - 1;
}

static long convert_to_us(struct timeval t)
{
	return (long)t.tv_sec * MICRO + (long)t.tv_usec;
}

static char *demangle_in_child(demangle_fn demangle, const char *symbol)
{
	static atomic_long spent;
	char answer[SYMBOL_SIZE];
	struct rusage used = { .ru_utime = { 0, 0 } };
	int ends[2];
	pid_t child;
	size_t len;

	if (spent >= (long)WORK_LIMIT * MICRO || pipe2(ends, O_CLOEXEC) != 0)
		return NULL;
	child = fork();
	if (child == 0)
		run_demangler_child(demangle, symbol, ends[1]);
	close(ends[1]);
	len = child > 0 ? read_reply(ends[0], answer) : 0;
	close(ends[0]);
	while (child > 0 && wait4(child, NULL, 0, &used) < 0 && errno == EINTR)
		;
	spent += convert_to_us(used.ru_utime) + convert_to_us(used.ru_stime);
	return len ? strndup(answer, len) : NULL;
}

char *symbols_demangle(const char *symbol)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int status = 0;
	char *plain = symbols_demangle_rust(symbol);

	if (plain || strncmp(symbol, "_Z", 2) != 0)
		return plain;
	pthread_once(&once, find_demangler);
	if (!demangle_name) {
		if (is_new_profile_topic(TOPIC_CPLUSPLUS))
			show_profile_message(
				"C++ names are shown mangled: libstdc++.so.6 is missing");
		return NULL;
	}
	if (count_references(symbol) > MAX_SAFE_REFERENCES)
		return demangle_in_child(demangle_name, symbol);
	plain = demangle_name(symbol, NULL, NULL, &status);
	if (status == NO_MEMORY)
		report_missing_names();
	if (plain && strnlen(plain, SYMBOL_SIZE) == SYMBOL_SIZE)
		plain[SYMBOL_SIZE - 1] = '\0';
	return plain;
}
