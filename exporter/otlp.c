/* SPDX-License-Identifier: MIT */
/* pfm serve --otlp: metrics to an OpenTelemetry receiver, over HTTP by libcurl, which is loaded
 * when it is needed. Each interval makes a request. One request is sent at a time; the others wait
 * in a queue, which drops the oldest when it is full. If the receiver is away or answers 429, 502,
 * 503 or 504, the same request is sent again after a time that doubles, or after the time that the
 * receiver names. Requests that it refuses otherwise are dropped. All losses are counted. */
#include "common/otlp_settings.h"
#include "common/pfm.h"
#include "serve.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "series/otlp_metrics.h"
#include "series/series.h"

#ifndef PERFMON_VERSION
#define PERFMON_VERSION "unversioned"
#endif

#ifdef HAVE_CURL
#include "common/curl_library.h"

enum {
	MAX_QUEUE = 32,
	MAX_QUEUE_BYTES = 16 << 20,
	CONNECT_MS = 3000,
	FIRST_WAIT_MS = 1000, /* before the second attempt */
	LONGEST_WAIT_MS = 60000,
	MS = 1000000
};

struct otlp_request {
	char *body;
	size_t size;
};

struct serve_otlp {
	char *url;
	char name[HTTP_URL_SIZE]; /* the URL without secrets, for messages */
	struct otlp_settings settings;
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	struct otlp_request queue[MAX_QUEUE]; /* the oldest first */
	unsigned n_queued;
	size_t n_bytes;
	bool is_sending; /* the first request of the queue is being sent */
	uint64_t next_request, next_try;
	unsigned wait_ms;  /* time to wait before the next attempt */
	bool has_failed;   /* the last attempt failed; reported once */
	uint64_t start_ns; /* start of the sums by the system's clock, and */
	uint64_t opened;   /* by now_ns() */
	struct otlp_resource resource;
	char error[CURL_ERROR_SIZE];
};

static const struct otlp_signal metrics_signal = { "pfm serve", "METRICS", "/v1/metrics" };

/* ---- beginning ------------------------------------------------------------------------------- */

/* Completes "http://host:4318" by the path for metrics. */
static char *complete_url(const char *text)
{
	const char *host = strstr(text, "//");
	size_t len = strlen(text), size = len + sizeof("/v1/metrics");
	const char *slash = host ? strchr(host + 2, '/') : NULL;
	char *url = malloc(size);

	if (!url)
		return NULL;
	if (slash && slash[1])
		snprintf(url, size, "%s", text);
	else
		snprintf(url, size, "%.*s/v1/metrics", (int)(slash ? len - 1 : len), text);
	return url;
}

static uint64_t read_system_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

static bool set_options(struct serve_otlp *o)
{
	return add_curl_header(&o->headers, "Content-Type: application/x-protobuf") &&
	       add_curl_header(&o->headers, "Expect:") &&
	       (!o->settings.has_gzip || add_curl_header(&o->headers, "Content-Encoding: gzip")) &&
	       !curl.curl_easy_setopt(o->easy, CURLOPT_URL, o->url) &&
	       !curl.curl_easy_setopt(o->easy, CURLOPT_HTTPHEADER, o->headers) &&
	       !curl.curl_easy_setopt(o->easy, CURLOPT_NOSIGNAL, 1L) &&
	       !curl.curl_easy_setopt(o->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS) &&
	       !curl.curl_easy_setopt(o->easy, CURLOPT_ERRORBUFFER, o->error) &&
	       !curl.curl_easy_setopt(o->easy, CURLOPT_USERAGENT, "perfmon/" PERFMON_VERSION) &&
	       !curl.curl_easy_setopt(o->easy, CURLOPT_WRITEFUNCTION, ignore_curl_answer) &&
	       apply_curl_settings(o->easy, &o->settings);
}

int open_otlp(struct serve *s)
{
	struct serve_otlp *o;
	int rc;

	if (!s->otlp_url)
		return EXIT_DONE;
	if (!load_curl()) {
		fputs("pfm serve: --otlp needs libcurl.so.4 (Debian package libcurl4)\n", stderr);
		return EXIT_REFUSED;
	}
	o = s->otlp = calloc(1, sizeof(*o));
	if (!o || curl.curl_global_init(CURL_GLOBAL_DEFAULT))
		return report_no_memory();
	rc = read_otlp_settings(&metrics_signal, s->otlp_url, &o->settings);
	o->settings.has_gzip &= have_gzip;
	if (rc == EXIT_DONE)
		rc = visit_otlp_headers(&o->settings, add_curl_header, &o->headers);
	if (rc != EXIT_DONE)
		return rc;
	o->url = complete_url(o->settings.url);
	o->multi = curl.curl_multi_init();
	o->easy = curl.curl_easy_init();
	if (!o->url || !o->multi || !o->easy || !set_options(o))
		return report_no_memory();
	if (!make_otlp_resource(&o->resource, s->command_line))
		return report_no_memory();
	o->start_ns = read_system_clock();
	o->opened = now_ns();
	o->next_request = now_ns() + s->job.timing.interval;
	fprintf(stderr, "pfm serve: sending to %s\n",
	        redact_http_url(o->url, o->name, sizeof(o->name)));
	return EXIT_DONE;
}

/* ---- the queue ------------------------------------------------------------------------------- */

static void remove_oldest(struct serve_otlp *o, unsigned at)
{
	o->n_bytes -= o->queue[at].size;
	free(o->queue[at].body);
	o->n_queued--;
	memmove(o->queue + at, o->queue + at + 1, (o->n_queued - at) * sizeof(o->queue[0]));
}

/* Drops the oldest requests until @size bytes fit; the request that is being sent stays. */
static void drop_old_requests(struct serve *s, size_t size)
{
	struct serve_otlp *o = s->otlp;

	while (o->n_queued > o->is_sending &&
	       (o->n_queued == MAX_QUEUE || o->n_bytes + size > MAX_QUEUE_BYTES)) {
		remove_oldest(o, o->is_sending);
		s->figures.otlp_dropped++;
	}
}

/* The start of the sums, which must be before @now even if the clock was set back. */
static uint64_t compute_sums_start(struct serve_otlp *o, uint64_t now)
{
	const uint64_t elapsed = now_ns() - o->opened;

	if (o->start_ns >= now)
		o->start_ns = now > elapsed ? now - elapsed : 0;
	return o->start_ns;
}

/* Appends a request with the present values to the queue. */
static bool queue_request(struct serve *s)
{
	struct serve_otlp *o = s->otlp;
	const uint64_t now = read_system_clock();
	struct otlp_metrics metrics = { .start_ns = compute_sums_start(o, now),
		                        .now_ns = now,
		                        .opened = o->opened };
	struct exposition x = { .format = EXPOSITION_OTLP, .otlp = &metrics };
	struct message request;
	char *body;
	size_t size;

	put_counts(&x, s);
	put_self_series(&x, s);
	request = otlp_end(&metrics, PERFMON_VERSION, o->resource.at);
	size = request.n;
	body = (char *)request.bytes;
	if (request.failed) {
		message_free(&request);
		return false;
	}
	if (o->settings.has_gzip)
		body = compress_serve_text(body, &size);
	if (!body)
		return false;
	drop_old_requests(s, size);
	o->queue[o->n_queued++] = (struct otlp_request){ body, size };
	o->n_bytes += size;
	return true;
}

/* ---- sending --------------------------------------------------------------------------------- */

static void send_oldest(struct serve_otlp *o)
{
	const struct otlp_request *r = &o->queue[0];

	o->error[0] = '\0';
	curl.curl_easy_setopt(o->easy, CURLOPT_POSTFIELDS, r->body);
	curl.curl_easy_setopt(o->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->size);
	o->is_sending = curl.curl_multi_add_handle(o->multi, o->easy) == CURLM_OK;
}

/* Adds or subtracts up to a tenth, so that the machines of a fleet do not return at the same
 * moment. */
static unsigned spread_wait(unsigned ms)
{
	uint32_t dice = 0;

	if (getrandom(&dice, sizeof(dice), GRND_NONBLOCK) != sizeof(dice))
		return ms;
	return ms - ms / 10 + dice % (ms / 5 + 1);
}

static void wait_after_failure(struct serve *s, curl_off_t retry_after)
{
	struct serve_otlp *o = s->otlp;
	unsigned ms;

	s->figures.otlp_retries++;
	o->wait_ms = !o->wait_ms                        ? FIRST_WAIT_MS
	             : o->wait_ms < LONGEST_WAIT_MS / 2 ? 2 * o->wait_ms
	                                                : LONGEST_WAIT_MS;
	ms = spread_wait(o->wait_ms);
	if (retry_after > 0)
		ms = retry_after < LONGEST_WAIT_MS / 1000 ? (unsigned)retry_after * 1000
		                                          : LONGEST_WAIT_MS;
	o->next_try = now_ns() + (uint64_t)ms * MS;
}

/* Reports the first of several failures in a row. */
static void report_failure(struct serve_otlp *o, CURLcode rc, long status)
{
	if (!o->has_failed && rc)
		fprintf(stderr, "pfm serve: %s: %s\n", o->name,
		        *o->error ? o->error : curl.curl_easy_strerror(rc));
	else if (!o->has_failed && status / 100 == 2)
		fprintf(stderr,
		        "pfm serve: %s: a user interface answers: correct the path, which is not a "
		        "receiver's\n",
		        o->name);
	else if (!o->has_failed)
		fprintf(stderr, "pfm serve: %s: the receiver answers with status %ld\n", o->name,
		        status);
	o->has_failed = true;
}

static void end_request(struct serve *s, CURLcode rc)
{
	struct serve_otlp *o = s->otlp;
	curl_off_t retry_after = 0;
	long status = 0;

	o->is_sending = false;
	curl.curl_easy_getinfo(o->easy, CURLINFO_RESPONSE_CODE, &status);
	curl.curl_easy_getinfo(o->easy, CURLINFO_RETRY_AFTER, &retry_after);
	if (!rc && status / 100 == 2 && !is_curl_answer_page(o->easy)) {
		if (o->has_failed)
			fprintf(stderr, "pfm serve: %s: the receiver accepts requests again\n",
			        o->name);
		o->has_failed = false;
		o->wait_ms = 0;
		o->next_try = 0;
		s->figures.otlp_sent++;
		remove_oldest(o, 0);
		return;
	}
	report_failure(o, rc, status);
	if (rc || status == 429 || status == 502 || status == 503 || status == 504) {
		wait_after_failure(s, rc ? 0 : retry_after);
		return;
	}
	s->figures.otlp_rejected++;
	remove_oldest(o, 0);
}

static void end_requests(struct serve *s)
{
	const CURLMsg *m;
	int left;

	while ((m = curl.curl_multi_info_read(s->otlp->multi, &left))) {
		CURLcode rc = m->data.result;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl.curl_multi_remove_handle(s->otlp->multi, s->otlp->easy);
		end_request(s, rc);
	}
}

static int wait_until(uint64_t time, int most)
{
	uint64_t now = now_ns(), ms = time > now ? (time - now) / MS + 1 : 0;

	return ms < (uint64_t)most ? (int)ms : most;
}

int run_otlp(struct serve *s, int most)
{
	struct serve_otlp *o = s->otlp;
	int running;

	if (!o)
		return most;
	if (now_ns() >= o->next_request) {
		o->next_request += s->job.timing.interval * get_back_off(&s->budget);
		if (o->next_request < now_ns())
			o->next_request = now_ns() + s->job.timing.interval;
		if (!refresh_counts(s))
			return -1;
		if (!queue_request(s))
			s->figures.otlp_dropped++;
	}
	if (!o->is_sending && o->n_queued && now_ns() >= o->next_try)
		send_oldest(o);
	if (o->is_sending)
		curl.curl_multi_perform(o->multi, &running);
	end_requests(s);
	most = wait_until(o->next_request, most);
	if (o->n_queued && !o->is_sending)
		most = wait_until(o->next_try, most);
	return most;
}

/* libcurl polls its sockets and ours, because their numbers may be too large for select(2). */
int poll_with_otlp(struct serve *s, struct pollfd *polled, nfds_t n, int ms)
{
	struct curl_waitfd fds[2 + SERVE_MAX_LISTENERS];
	int n_ready = 0;

	if (!s->otlp || !s->otlp->is_sending)
		return poll(polled, n, ms);
	for (nfds_t i = 0; i < n; i++)
		fds[i] = (struct curl_waitfd){ polled[i].fd, CURL_WAIT_POLLIN, 0 };
	if (curl.curl_multi_wait(s->otlp->multi, fds, (unsigned)n, ms, &n_ready))
		return poll(polled, n, 0);
	for (nfds_t i = 0; i < n; i++)
		polled[i].revents = fds[i].revents ? POLLIN : 0;
	return n_ready;
}

unsigned count_queued_requests(const struct serve *s)
{
	return s->otlp ? s->otlp->n_queued : 0;
}

void close_otlp(struct serve *s)
{
	struct serve_otlp *o = s->otlp;

	if (!o)
		return;
	if (o->n_queued)
		fprintf(stderr, "pfm serve: %s: %u requests were not sent\n", o->name, o->n_queued);
	if (o->is_sending)
		curl.curl_multi_remove_handle(o->multi, o->easy);
	o->is_sending = false;
	while (o->n_queued)
		remove_oldest(o, 0);
	if (o->easy)
		curl.curl_easy_cleanup(o->easy);
	if (o->multi)
		curl.curl_multi_cleanup(o->multi);
	curl.curl_slist_free_all(o->headers);
	free_otlp_resource(&o->resource);
	free(o->url);
	free(o);
	s->otlp = NULL;
}

#else

int open_otlp(struct serve *s)
{
	if (!s->otlp_url)
		return EXIT_DONE;
	fputs("pfm serve: this pfm was built without libcurl: --otlp needs a build with Debian's "
	      "libcurl4-openssl-dev\n",
	      stderr);
	return EXIT_REFUSED;
}

int run_otlp(struct serve *s, int most)
{
	(void)s;
	return most;
}

int poll_with_otlp(struct serve *s, struct pollfd *polled, nfds_t n, int ms)
{
	(void)s;
	return poll(polled, n, ms);
}

unsigned count_queued_requests(const struct serve *s)
{
	(void)s;
	return 0;
}

void close_otlp(struct serve *s)
{
	(void)s;
}

#endif
