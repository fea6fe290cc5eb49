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
	curl.curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)REQUEST_MS);
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

enum push_result push_file(const char *url, const char *path, const char *type, char *why,
                           unsigned size)
{
	struct curl_slist *headers = NULL;
	enum push_result result = PUSH_LATER;
	char header[128];
	CURL *easy;
	FILE *file;
	long status = 0;

	if (!load_curl()) {
		snprintf(why, size, "--push needs libcurl.so.4 (Debian package libcurl4)");
		return PUSH_IMPOSSIBLE;
	}
	easy = curl.curl_easy_init();
	file = fopen(path, "re");
	snprintf(header, sizeof(header), "Content-Type: %s", type);
	headers = curl.curl_slist_append(NULL, header);
	headers = curl.curl_slist_append(headers, "Expect:");
	snprintf(why, size, "out of memory");
	if (easy && file && headers) {
		CURLcode rc;

		curl.curl_easy_setopt(easy, CURLOPT_URL, url);
		curl.curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
		rc = send_file(easy, file, &status);
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

enum push_result push_file(const char *url, const char *path, const char *type, char *why,
                           unsigned size)
{
	(void)url;
	(void)path;
	(void)type;
	snprintf(why, size,
	         "this pfm was built without libcurl: --push needs a build with Debian's "
	         "libcurl4-openssl-dev");
	return PUSH_IMPOSSIBLE;
}

#endif
