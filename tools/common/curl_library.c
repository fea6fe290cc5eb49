/* SPDX-License-Identifier: MIT */
#ifdef HAVE_CURL
#include "common/curl_library.h"

#include <dlfcn.h>
#include <string.h>

struct curl_library curl;

bool load_curl(void)
{
	void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL), *at;
	bool all;

	if (!library)
		library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
	all = library;
#define FIND(NAME)                                                                                 \
	at = library ? dlsym(library, #NAME) : NULL;                                               \
	all = all && at;                                                                           \
	memcpy(&curl.NAME, &at, sizeof(at));
	CURL_FUNCTIONS(FIND)
#undef FIND
	return all;
}

bool is_curl_answer_page(CURL *easy)
{
	const char *type = NULL;

	curl.curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
	return type && strncmp(type, "text/html", strlen("text/html")) == 0;
}

size_t ignore_curl_answer(const void *data, size_t size, size_t n, void *arg)
{
	(void)data;
	(void)arg;
	return size * n;
}
#else
/* ISO C needs a declaration in each source. */
typedef int pfm_built_without_curl_t;
#endif
