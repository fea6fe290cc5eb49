/* SPDX-License-Identifier: MIT */
#include "common/http_push.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#ifndef PERFMON_VERSION
#define PERFMON_VERSION "unversioned"
#endif

#ifdef HAVE_CURL
#include "common/curl_library.h"

enum { REQUEST_MS = 30000, CONNECT_MS = 3000 };

/* Makes the headers of a request. False without memory. */
static bool make_headers(const struct pushed_file *f, struct curl_slist **list)
{
	char type[128];

	snprintf(type, sizeof(type), "Content-Type: %s", f->type);
	return add_curl_header(list, type) && add_curl_header(list, "Expect:") &&
	       (!f->settings ||
	        ((!f->settings->has_gzip || add_curl_header(list, "Content-Encoding: gzip")) &&
	         visit_otlp_headers(f->settings, add_curl_header, list) == 0));
}

static bool set_request(CURL *easy, const struct pushed_file *f, const struct curl_slist *headers)
{
	return !curl.curl_easy_setopt(easy, CURLOPT_URL, f->url) &&
	       !curl.curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) &&
	       !curl.curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)REQUEST_MS) &&
	       (!f->settings || apply_curl_settings(easy, f->settings));
}

static CURLcode send_file(CURL *easy, FILE *file, long *status)
{
	struct stat st;
	CURLcode rc;

	if (fstat(fileno(file), &st) != 0)
		return CURLE_READ_ERROR;
	curl.curl_easy_setopt(easy, CURLOPT_POST, 1L);
	curl.curl_easy_setopt(easy, CURLOPT_READDATA, file);
	curl.curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)st.st_size);
	curl.curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl.curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl.curl_easy_setopt(easy, CURLOPT_USERAGENT, "perfmon/" PERFMON_VERSION);
	curl.curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore_curl_answer);
	rc = curl.curl_easy_perform(easy);
	curl.curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, status);
	return rc;
}

/* 400, 413 and 422 mean that the file is bad. Any other status (401, 404, 500) is about the URL,
 * the rights or the receiver: a good file must not be removed because of it. */
static enum push_result judge_answer(CURL *easy, CURLcode rc, long status, char *why, unsigned size)
{
	if (rc) {
		snprintf(why, size, "%s", curl.curl_easy_strerror(rc));
		return PUSH_LATER;
	}
	if (status / 100 == 2 && is_curl_answer_page(easy)) {
		snprintf(why, size,
		         "a user interface answers: correct the path, which is not a receiver's");
		return PUSH_LATER;
	}
	if (status / 100 == 2)
		return PUSH_TAKEN;
	snprintf(why, size, "the receiver answers with status %ld", status);
	return status == 400 || status == 413 || status == 422 ? PUSH_REFUSED : PUSH_LATER;
}

enum push_result push_file(const struct pushed_file *f, char *why, unsigned size)
{
	struct curl_slist *headers = NULL;
	enum push_result result = PUSH_LATER;
	CURL *easy;
	FILE *file;
	long status = 0;

	if (!load_curl()) {
		snprintf(why, size, "--push needs libcurl.so.4 (Debian package libcurl4)");
		return PUSH_IMPOSSIBLE;
	}
	easy = curl.curl_easy_init();
	file = fopen(f->path, "re");
	snprintf(why, size, "out of memory");
	if (easy && file && make_headers(f, &headers) && set_request(easy, f, headers)) {
		const CURLcode rc = send_file(easy, file, &status);

		result = judge_answer(easy, rc, status, why, size);
	}
	if (file)
		fclose(file);
	if (easy)
		curl.curl_easy_cleanup(easy);
	curl.curl_slist_free_all(headers);
	return result;
}

#else

enum push_result push_file(const struct pushed_file *f, char *why, unsigned size)
{
	(void)f;
	snprintf(why, size,
	         "this pfm was built without libcurl: --push needs a build with Debian's "
	         "libcurl4-openssl-dev");
	return PUSH_IMPOSSIBLE;
}

#endif
