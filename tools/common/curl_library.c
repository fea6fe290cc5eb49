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

bool add_curl_header(void *list, const char *header)
{
	struct curl_slist **headers = list, *more = curl.curl_slist_append(*headers, header);

	*headers = more ? more : *headers;
	return more;
}

static bool set_file(CURL *easy, CURLoption option, const char *path)
{
	return !path || !curl.curl_easy_setopt(easy, option, path);
}

bool apply_curl_settings(CURL *easy, const struct otlp_settings *o)
{
	return !curl.curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, o->timeout_ms) &&
	       set_file(easy, CURLOPT_CAINFO, o->authority) &&
	       set_file(easy, CURLOPT_SSLCERT, o->certificate) &&
	       set_file(easy, CURLOPT_SSLKEY, o->key);
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
