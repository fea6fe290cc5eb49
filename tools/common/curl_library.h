/* SPDX-License-Identifier: MIT */
/* Loads libcurl at run time. For sources built with HAVE_CURL. */
#ifndef PFM_CURL_LIBRARY_H
#define PFM_CURL_LIBRARY_H

#include <stdbool.h>
#include <curl/curl.h>
#include "common/otlp_settings.h"

/* The functions that the command calls. */
#define CURL_FUNCTIONS(CALL)                                                                       \
	CALL(curl_easy_cleanup)                                                                    \
	CALL(curl_easy_getinfo)                                                                    \
	CALL(curl_easy_init)                                                                       \
	CALL(curl_easy_perform)                                                                    \
	CALL(curl_easy_setopt)                                                                     \
	CALL(curl_easy_strerror)                                                                   \
	CALL(curl_global_init)                                                                     \
	CALL(curl_multi_add_handle)                                                                \
	CALL(curl_multi_cleanup)                                                                   \
	CALL(curl_multi_info_read)                                                                 \
	CALL(curl_multi_init)                                                                      \
	CALL(curl_multi_perform)                                                                   \
	CALL(curl_multi_remove_handle)                                                             \
	CALL(curl_multi_wait)                                                                      \
	CALL(curl_slist_append)                                                                    \
	CALL(curl_slist_free_all)

/* curl's headers have macros of these names. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

struct curl_library {
#define MEMBER(NAME) __typeof__(NAME) *(NAME);
	CURL_FUNCTIONS(MEMBER)
#undef MEMBER
};

extern struct curl_library curl;

/* Loads the library. False if it is missing, or older than these functions. */
bool load_curl(void);
/* Appends a header to the struct curl_slist * at @list. False without memory. */
bool add_curl_header(void *list, const char *header);
/* Sets timeout and certificates of the request. False without memory. */
bool apply_curl_settings(CURL *easy, const struct otlp_settings *o);
/* True if the answer is a page: the server has a user interface where a receiver was expected,
 * which answers every path with status 200. */
bool is_curl_answer_page(CURL *easy);
/* A callback that discards the body of an answer. */
size_t ignore_curl_answer(const void *data, size_t size, size_t n, void *arg);

#endif
