/* SPDX-License-Identifier: MIT */
/* pfm serve --kubelet: names of containers from the kubelet's list of pods, GET /pods. It is asked
 * when a container is new, without a pause of the service, and at most once a second; after a
 * failure less often. */
#include "common/http_url.h"
#include "common/pfm.h"
#include "container.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CURL
#include "common/curl_library.h"

enum {
	MS_NS = 1000000,
	REQUEST_MS = 5000,
	POLL_MS = 20, /* between two looks at a request that is under way */
	LONGEST_WAIT_MS = 60000,
	MAX_BYTES = 64 << 20,
	TOKEN_SIZE = 8192
};

struct serve_kubelet {
	char *url, name[HTTP_URL_SIZE];
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
	char *body; /* of the answer so far */
	size_t n_body;
	bool is_busy, is_wanted, has_failed;
	uint64_t next; /* time of the next request at the earliest */
	unsigned wait_ms;
	json_t *pods; /* the last answer, which the names belong to */
	struct named_container *list;
	unsigned n;
};

/* ---- beginning ------------------------------------------------------------------------------- */

static size_t take_body(const void *data, size_t size, size_t n, void *arg)
{
	struct serve_kubelet *k = arg;
	char *more = k->n_body + size * n <= MAX_BYTES ? realloc(k->body, k->n_body + size * n + 1)
	                                               : NULL;

	if (!more)
		return 0;
	k->body = more;
	memcpy(k->body + k->n_body, data, size * n);
	k->n_body += size * n;
	return size * n;
}

static bool set_options(const struct serve *s, struct serve_kubelet *k)
{
	const bool is_verified = !s->kubelet_authority || strcmp(s->kubelet_authority, "none") != 0;

	if (curl.curl_easy_setopt(k->easy, CURLOPT_URL, k->url) ||
	    curl.curl_easy_setopt(k->easy, CURLOPT_NOSIGNAL, 1L) ||
	    curl.curl_easy_setopt(k->easy, CURLOPT_TIMEOUT_MS, (long)REQUEST_MS) ||
	    curl.curl_easy_setopt(k->easy, CURLOPT_ERRORBUFFER, k->error) ||
	    curl.curl_easy_setopt(k->easy, CURLOPT_WRITEFUNCTION, take_body) ||
	    curl.curl_easy_setopt(k->easy, CURLOPT_WRITEDATA, k))
		return false;
	if (!is_verified)
		return !curl.curl_easy_setopt(k->easy, CURLOPT_SSL_VERIFYPEER, 0L) &&
		       !curl.curl_easy_setopt(k->easy, CURLOPT_SSL_VERIFYHOST, 0L);
	return !s->kubelet_authority ||
	       !curl.curl_easy_setopt(k->easy, CURLOPT_CAINFO, s->kubelet_authority);
}

int open_kubelet(struct serve *s)
{
	struct serve_kubelet *k;
	size_t size;

	if (!s->kubelet_url)
		return EXIT_DONE;
	if (!load_curl()) {
		fputs("pfm serve: --kubelet needs libcurl.so.4 (Debian package libcurl4)\n",
		      stderr);
		return EXIT_REFUSED;
	}
	k = s->kubelet = calloc(1, sizeof(*k));
	if (!k || curl.curl_global_init(CURL_GLOBAL_DEFAULT))
		return report_no_memory();
	size = strlen(s->kubelet_url) + sizeof("/pods");
	k->url = malloc(size);
	k->multi = curl.curl_multi_init();
	k->easy = curl.curl_easy_init();
	if (!k->url || !k->multi || !k->easy)
		return report_no_memory();
	snprintf(k->url, size, "%.*s/pods",
	         (int)(strlen(s->kubelet_url) - (s->kubelet_url[size - 7] == '/')), s->kubelet_url);
	redact_http_url(k->url, k->name, sizeof(k->name));
	k->is_wanted = true;
	return set_options(s, k) ? EXIT_DONE : report_no_memory();
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *get_member(json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static bool add_named(struct serve_kubelet *k, struct named_container c)
{
	struct named_container *more = realloc(k->list, (k->n + 1) * sizeof(*more));

	if (!more)
		return false;
	k->list = more;
	k->list[k->n++] = c;
	return true;
}

/* Adds the containers of a list of statuses: "containerID": "containerd://0123...". */
static bool add_statuses(struct serve_kubelet *k, json_t *statuses, struct named_container c)
{
	size_t i;
	json_t *status;

	json_array_foreach (statuses, i, status) {
		const char *id = strstr(get_member(status, "containerID"), "://");

		if (!id)
			continue;
		c.id = id + 3;
		c.container = get_member(status, "name");
		c.image = get_member(status, "image");
		if (!add_named(k, c))
			return false;
	}
	return true;
}

static bool add_pod(struct serve_kubelet *k, json_t *pod)
{
	static const char *const lists[] = { "containerStatuses", "initContainerStatuses",
		                             "ephemeralContainerStatuses" };
	json_t *about = json_object_get(pod, "metadata"), *status = json_object_get(pod, "status");
	const struct named_container c = { .id = "",
		                           .pod_uid = get_member(about, "uid"),
		                           .namespace = get_member(about, "namespace"),
		                           .pod = get_member(about, "name"),
		                           .container = "POD",
		                           .image = "" };
	const char *mirrored =
		get_member(json_object_get(about, "annotations"), "kubernetes.io/config.hash");
	struct named_container other = c;
	bool is_good = add_named(k, c);

	/* The groups of a static pod have the hash of its file instead of the API's number. */
	other.pod_uid = mirrored;
	if (*mirrored)
		is_good = is_good && add_named(k, other);
	for (size_t i = 0; is_good && i < sizeof(lists) / sizeof(lists[0]); i++)
		is_good = add_statuses(k, json_object_get(status, lists[i]), c);
	return is_good;
}

static int compare_named(const void *a, const void *b)
{
	const struct named_container *x = a, *y = b;
	const int order = strcmp(x->id, y->id);

	return order || *x->id ? order : strcmp(x->pod_uid, y->pod_uid);
}

const struct named_container *find_named_container(const struct serve *s,
                                                   const struct container_path *path)
{
	const struct serve_kubelet *k = s->kubelet;
	const struct named_container container = { .id = path->id, .pod_uid = "" },
				     pod = { .id = "", .pod_uid = path->pod_uid };
	const struct named_container *found;

	if (!k || !k->n)
		return NULL;
	found = bsearch(&container, k->list, k->n, sizeof(*k->list), compare_named);
	return found || !*path->pod_uid
	               ? found
	               : bsearch(&pod, k->list, k->n, sizeof(*k->list), compare_named);
}

/* Replaces the names by those of the answer. False if it is not a list of pods. */
static bool read_answer(struct serve_kubelet *k)
{
	json_t *pods = json_loadb(k->body ? k->body : "", k->n_body, 0, NULL),
	       *items = json_object_get(pods, "items"), *pod;
	size_t i;
	bool is_good = json_is_array(items);

	if (!is_good) {
		json_decref(pods);
		return false;
	}
	json_decref(k->pods);
	k->pods = pods;
	k->n = 0;
	json_array_foreach (items, i, pod)
		is_good = is_good && add_pod(k, pod);
	if (k->n)
		qsort(k->list, k->n, sizeof(*k->list), compare_named);
	return is_good;
}

/* ---- requests -------------------------------------------------------------------------------- */

void request_names(struct serve *s)
{
	if (s->kubelet)
		s->kubelet->is_wanted = true;
}

/* Reads the token again for each request: Kubernetes renews it. */
static bool set_token(const struct serve *s, struct serve_kubelet *k)
{
	static const char head[] = "Authorization: Bearer ";
	char text[TOKEN_SIZE];
	size_t n;
	FILE *f;

	if (!s->kubelet_token)
		return true;
	memcpy(text, head, sizeof(head) - 1);
	f = fopen(s->kubelet_token, "re");
	n = f ? fread(text + sizeof(head) - 1, 1, sizeof(text) - sizeof(head), f) : 0;
	if (f)
		fclose(f);
	text[sizeof(head) - 1 + n] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	curl.curl_slist_free_all(k->headers);
	k->headers = curl.curl_slist_append(NULL, text);
	explicit_bzero(text, sizeof(text));
	return n && k->headers && !curl.curl_easy_setopt(k->easy, CURLOPT_HTTPHEADER, k->headers);
}

static void note_failure(struct serve *s, const char *why)
{
	struct serve_kubelet *k = s->kubelet;

	s->figures.kubelet_failures++;
	if (!k->has_failed)
		fprintf(stderr, "pfm serve: %s: %s\n", k->name, why);
	k->has_failed = k->is_wanted = true;
	k->wait_ms = !k->wait_ms                        ? 1000
	             : k->wait_ms < LONGEST_WAIT_MS / 2 ? 2 * k->wait_ms
	                                                : LONGEST_WAIT_MS;
	k->next = now_ns() + (uint64_t)k->wait_ms * MS_NS;
}

static void begin_request(struct serve *s)
{
	struct serve_kubelet *k = s->kubelet;

	free(k->body);
	k->body = NULL;
	k->n_body = 0;
	k->error[0] = '\0';
	k->is_wanted = false;
	k->next = now_ns() + NS;
	if (!set_token(s, k))
		note_failure(s, "the token of --kubelet-token cannot be read");
	else
		k->is_busy = curl.curl_multi_add_handle(k->multi, k->easy) == CURLM_OK;
}

static void end_request(struct serve *s, CURLcode rc)
{
	struct serve_kubelet *k = s->kubelet;
	long status = 0;
	char why[64];

	curl.curl_easy_getinfo(k->easy, CURLINFO_RESPONSE_CODE, &status);
	curl.curl_multi_remove_handle(k->multi, k->easy);
	k->is_busy = false;
	snprintf(why, sizeof(why), "the kubelet answers with status %ld", status);
	if (rc) {
		note_failure(s, *k->error ? k->error : curl.curl_easy_strerror(rc));
	} else if (status != 200) {
		note_failure(s, why);
	} else if (!read_answer(k)) {
		note_failure(s, "the answer is not a list of pods");
	} else {
		k->wait_ms = 0;
		k->has_failed = false;
		s->figures.kubelet_answers++;
		name_containers(s);
	}
}

int run_kubelet(struct serve *s, int most)
{
	struct serve_kubelet *k = s->kubelet;
	const CURLMsg *m;
	int n;

	if (!k)
		return most;
	if (!k->is_busy && k->is_wanted && now_ns() >= k->next)
		begin_request(s);
	if (k->is_busy) {
		curl.curl_multi_perform(k->multi, &n);
		m = curl.curl_multi_info_read(k->multi, &n);
		if (m && m->msg == CURLMSG_DONE)
			end_request(s, m->data.result);
	}
	if (k->is_busy)
		return most < POLL_MS ? most : POLL_MS;
	return k->is_wanted ? find_ms_until(k->next, most) : most;
}

void close_kubelet(struct serve *s)
{
	struct serve_kubelet *k = s->kubelet;

	if (!k)
		return;
	if (k->is_busy)
		curl.curl_multi_remove_handle(k->multi, k->easy);
	if (k->easy)
		curl.curl_easy_cleanup(k->easy);
	if (k->multi)
		curl.curl_multi_cleanup(k->multi);
	curl.curl_slist_free_all(k->headers);
	json_decref(k->pods);
	free(k->list);
	free(k->body);
	free(k->url);
	free(k);
	s->kubelet = NULL;
}

#else

int open_kubelet(struct serve *s)
{
	if (!s->kubelet_url)
		return EXIT_DONE;
	fputs("pfm serve: this pfm was built without libcurl: --kubelet needs a build with "
	      "Debian's libcurl4-openssl-dev\n",
	      stderr);
	return EXIT_REFUSED;
}

const struct named_container *find_named_container(const struct serve *s,
                                                   const struct container_path *path)
{
	(void)s;
	(void)path;
	return NULL;
}

void request_names(struct serve *s)
{
	(void)s;
}

int run_kubelet(struct serve *s, int most)
{
	(void)s;
	return most;
}

void close_kubelet(struct serve *s)
{
	(void)s;
}

#endif
