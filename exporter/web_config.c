/* SPDX-License-Identifier: MIT */
/* pfm serve: the file of --web-config. A key that is not known is refused, so that a typing error
 * does not open a door. */
#include "web.h"
#include "yaml_file.h"
#include "common/pfm.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#ifdef HAVE_GNUTLS
static const bool have_tls = true;
#else
static const bool have_tls = false;
#endif

enum { PATH_SIZE = 4096, WHY_SIZE = PATH_SIZE + 256, MAX_FILE = 1 << 20 };

struct web_reading {
	const char *path;
	struct web_config *web;
	bool has_failed;
};

static void refuse(struct web_reading *r, const char *key, const char *problem)
{
	if (!r->has_failed)
		fprintf(stderr, "pfm serve: %s: %s: %s\n", r->path, key, problem);
	r->has_failed = true;
}

static const char *get_text(struct web_reading *r, const char *key, json_t *value)
{
	if (json_is_string(value))
		return json_string_value(value);
	refuse(r, key, "expected a text");
	return "";
}

/* Makes a path relative to the folder of the file. */
static void make_path(const struct web_reading *r, const char *name, char path[PATH_SIZE])
{
	char copy[PATH_SIZE];

	snprintf(copy, sizeof(copy), "%s", r->path);
	if (*name == '/')
		snprintf(path, PATH_SIZE, "%s", name);
	else
		snprintf(path, PATH_SIZE, "%s/%s", dirname(copy), name);
}

/* Reads a whole file. NULL after a message. */
static char *read_file(struct web_reading *r, const char *key, json_t *value)
{
	const char *name = get_text(r, key, value);
	char path[PATH_SIZE], *text = calloc(1, MAX_FILE + 1);
	const char *problem;
	size_t n = 0;
	FILE *f;

	if (r->has_failed || !text) {
		free(text);
		return NULL;
	}
	make_path(r, name, path);
	f = open_settings_file(path, &problem);
	if (f) {
		n = fread(text, 1, MAX_FILE, f);
		problem = !n              ? "the file is empty"
		          : n == MAX_FILE ? "the file is larger than 1 MiB"
		                          : NULL;
	}
	if (problem) {
		refuse(r, key, problem);
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

/* ---- TLS ------------------------------------------------------------------------------------- */

static void read_client_auth(struct web_reading *r, const char *key, json_t *value)
{
	static const struct {
		const char *name;
		enum client_certificates clients;
	} kinds[] = { { "NoClientCert", CLIENT_CERTIFICATES_NONE },
		      { "RequestClientCert", CLIENT_CERTIFICATES_NONE },
		      { "VerifyClientCertIfGiven", CLIENT_CERTIFICATES_IF_GIVEN },
		      { "RequireAndVerifyClientCert", CLIENT_CERTIFICATES_REQUIRED } };
	const char *text = get_text(r, key, value);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, text) == 0) {
			r->web->clients = kinds[i].clients;
			return;
		}
	refuse(r, key,
	       "expected NoClientCert, RequestClientCert, VerifyClientCertIfGiven or "
	       "RequireAndVerifyClientCert");
}

/* Returns 10 to 13 for "TLS10" to "TLS13"; 0 after a message. */
static int read_version(struct web_reading *r, const char *key, json_t *value)
{
	const char *text = get_text(r, key, value);

	if (strlen(text) == 5 && strncmp(text, "TLS1", 4) == 0 && text[4] >= '0' && text[4] <= '3')
		return 10 + text[4] - '0';
	refuse(r, key, "expected TLS10, TLS11, TLS12 or TLS13");
	return 0;
}

/* Cipher suites by Go's names: what GnuTLS calls the exchange of keys, the cipher and its MAC. */
struct cipher_suite {
	const char *name, *exchange, *cipher;
};

static const struct cipher_suite suites[] = {
	{ "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA", "AES-128-GCM:+AEAD" },
	{ "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA", "AES-256-GCM:+AEAD" },
	{ "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA",
	  "CHACHA20-POLY1305:+AEAD" },
	{ "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA", "AES-128-CBC:+SHA1" },
	{ "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA", "AES-256-CBC:+SHA1" },
	{ "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA", "AES-128-GCM:+AEAD" },
	{ "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA", "AES-256-GCM:+AEAD" },
	{ "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA", "CHACHA20-POLY1305:+AEAD" },
	{ "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA", "AES-128-CBC:+SHA1" },
	{ "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA", "AES-256-CBC:+SHA1" },
	/* Of TLS 1.3, which has no exchange of its own in the name. */
	{ "TLS_AES_128_GCM_SHA256", "", "AES-128-GCM:+AEAD" },
	{ "TLS_AES_256_GCM_SHA384", "", "AES-256-GCM:+AEAD" },
	{ "TLS_CHACHA20_POLY1305_SHA256", "", "CHACHA20-POLY1305:+AEAD" },
};

enum { N_SUITES = sizeof(suites) / sizeof(suites[0]), PRIORITIES_SIZE = 1024 };

static bool is_chosen(const struct cipher_suite *chosen[N_SUITES], unsigned n, const char *exchange,
                      const char *cipher)
{
	for (unsigned i = 0; i < n; i++)
		if ((!exchange || strcmp(chosen[i]->exchange, exchange) == 0) &&
		    (!cipher || strcmp(chosen[i]->cipher, cipher) == 0))
			return true;
	return false;
}

/* GnuTLS combines each exchange with each cipher. Refuses a list that lacks one of these suites,
 * since clients could use it all the same. */
static void refuse_incomplete_suites(struct web_reading *r, const char *key,
                                     const struct cipher_suite *chosen[N_SUITES], unsigned n)
{
	char problem[WHY_SIZE];

	for (unsigned i = 0; i < N_SUITES && !r->has_failed; i++) {
		const struct cipher_suite *s = &suites[i];

		if (!*s->exchange || is_chosen(chosen, n, s->exchange, s->cipher) ||
		    !is_chosen(chosen, n, s->exchange, NULL) ||
		    !is_chosen(chosen, n, NULL, s->cipher))
			continue;
		snprintf(problem, sizeof(problem),
		         "add %s, or leave out the others with its cipher: GnuTLS combines each "
		         "exchange of keys with each cipher of the list",
		         s->name);
		refuse(r, key, problem);
	}
}

static unsigned choose_suites(struct web_reading *r, const char *key, json_t *list,
                              const struct cipher_suite *chosen[N_SUITES])
{
	char problem[WHY_SIZE];
	unsigned n = 0;

	if (!json_is_array(list) || !json_array_size(list) || json_array_size(list) > N_SUITES)
		refuse(r, key, "expected a list of cipher suites");
	for (size_t i = 0; i < json_array_size(list) && !r->has_failed; i++) {
		const char *name = get_text(r, key, json_array_get(list, i));
		unsigned k = 0;

		while (k < N_SUITES && strcmp(suites[k].name, name) != 0)
			k++;
		if (k < N_SUITES) {
			chosen[n++] = &suites[k];
			continue;
		}
		snprintf(problem, sizeof(problem),
		         "'%.80s' is not supported; those with ECDHE and AES-GCM, AES-CBC-SHA or "
		         "CHACHA20 are",
		         name);
		refuse(r, key, problem);
	}
	return n;
}

/* Adds ":+NAME" to the priorities, once. */
static void add_priority(char priorities[PRIORITIES_SIZE], const char *name)
{
	const size_t at = strlen(priorities);

	if (*name && !strstr(priorities, name))
		snprintf(priorities + at, PRIORITIES_SIZE - at, ":+%s", name);
}

/* In TLS 1.3 the ciphers of the list are permitted with each exchange. */
static void read_suites(struct web_reading *r, const char *key, json_t *list,
                        char ciphers[PRIORITIES_SIZE])
{
	const struct cipher_suite *chosen[N_SUITES];
	const unsigned n = choose_suites(r, key, list, chosen);

	refuse_incomplete_suites(r, key, chosen, n);
	snprintf(ciphers, PRIORITIES_SIZE, ":-KX-ALL:-CIPHER-ALL:-MAC-ALL");
	for (unsigned i = 0; i < n; i++) {
		add_priority(ciphers, chosen[i]->exchange);
		add_priority(ciphers, chosen[i]->cipher);
	}
}

static void read_curves(struct web_reading *r, const char *key, json_t *list,
                        char groups[PRIORITIES_SIZE])
{
	static const char *const names[][2] = { { "CurveP256", "GROUP-SECP256R1" },
		                                { "CurveP384", "GROUP-SECP384R1" },
		                                { "CurveP521", "GROUP-SECP521R1" },
		                                { "X25519", "GROUP-X25519" } };
	const size_t n_names = sizeof(names) / sizeof(names[0]);

	if (!json_is_array(list) || !json_array_size(list))
		refuse(r, key, "expected a list of curves");
	snprintf(groups, PRIORITIES_SIZE, ":-GROUP-ALL");
	for (size_t i = 0; i < json_array_size(list) && !r->has_failed; i++) {
		const char *name = get_text(r, key, json_array_get(list, i));
		size_t k = 0;

		while (k < n_names && strcmp(names[k][0], name) != 0)
			k++;
		if (k < n_names)
			add_priority(groups, names[k][1]);
		else
			refuse(r, key, "expected CurveP256, CurveP384, CurveP521 or X25519");
	}
}

static void make_priorities(struct web_config *w, int least, int most, const char *ciphers,
                            const char *groups)
{
	size_t at = (size_t)snprintf(w->priorities, sizeof(w->priorities), "NORMAL:-VERS-ALL%s%s",
	                             ciphers, groups);

	for (int version = least; version <= most; version++)
		at += (size_t)snprintf(w->priorities + at, sizeof(w->priorities) - at,
		                       ":+VERS-TLS1.%d", version - 10);
	snprintf(w->priorities + at, sizeof(w->priorities) - at,
	         w->keeps_client_order ? "" : ":%%SERVER_PRECEDENCE");
}

/* A certificate or key that is in the file itself. */
static char *copy_text(struct web_reading *r, const char *key, json_t *value)
{
	const char *text = get_text(r, key, value);

	return *text ? strdup(text) : NULL;
}

static void read_order(struct web_reading *r, const char *key, json_t *value)
{
	if (json_is_boolean(value))
		r->web->keeps_client_order = !json_is_true(value);
	else
		refuse(r, key, "expected true or false");
}

static void read_names(struct web_reading *r, const char *key, json_t *value)
{
	size_t n = json_array_size(value);

	r->web->names = calloc(n + 1, sizeof(*r->web->names));
	if (!json_is_array(value) || !n || !r->web->names) {
		refuse(r, key, "expected a list of names");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		r->web->names[i] = strdup(get_text(r, key, json_array_get(value, i)));
		r->web->n_names += r->web->names[i] != NULL;
	}
}

/* True for "cert" beside "cert_file" and its like: exporter-toolkit refuses both. */
static bool has_both(json_t *tls, const char *key)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_file", key);
	return json_object_get(tls, name) != NULL;
}

static void read_tls(struct web_reading *r, json_t *tls)
{
	struct web_config *w = r->web;
	char ciphers[PRIORITIES_SIZE] = "", groups[PRIORITIES_SIZE] = "";
	int least = 12, most = 13;
	const char *key;
	json_t *value;

	json_object_foreach (tls, key, value) {
		if (has_both(tls, key))
			refuse(r, key, "the file has this text and the name of a file for it");
		else if (strcmp(key, "cert") == 0)
			w->certificate = copy_text(r, key, value);
		else if (strcmp(key, "key") == 0)
			w->key = copy_text(r, key, value);
		else if (strcmp(key, "client_ca") == 0)
			w->authority = copy_text(r, key, value);
		else if (strcmp(key, "cipher_suites") == 0)
			read_suites(r, key, value, ciphers);
		else if (strcmp(key, "curve_preferences") == 0)
			read_curves(r, key, value, groups);
		else if (strcmp(key, "prefer_server_cipher_suites") == 0)
			read_order(r, key, value);
		else if (strcmp(key, "cert_file") == 0)
			w->certificate = read_file(r, key, value);
		else if (strcmp(key, "key_file") == 0)
			w->key = read_file(r, key, value);
		else if (strcmp(key, "client_ca_file") == 0)
			w->authority = read_file(r, key, value);
		else if (strcmp(key, "client_auth_type") == 0)
			read_client_auth(r, key, value);
		else if (strcmp(key, "client_allowed_sans") == 0)
			read_names(r, key, value);
		else if (strcmp(key, "min_version") == 0)
			least = read_version(r, key, value);
		else if (strcmp(key, "max_version") == 0)
			most = read_version(r, key, value);
		else
			refuse(r, key, "the key is not supported in tls_server_config");
	}
	if (!r->has_failed)
		make_priorities(w, least, most, ciphers, groups);
	if (!r->has_failed && (!w->certificate || !w->key))
		refuse(r, "tls_server_config", "expected cert_file and key_file");
	if (!r->has_failed && least > most)
		refuse(r, "max_version", "expected a version that is not below min_version");
	if (!r->has_failed && w->clients && !w->authority)
		refuse(r, "client_auth_type", "client certificates need client_ca_file");
	if (!r->has_failed && !w->clients && (w->authority || w->n_names))
		refuse(r, "client_auth_type",
		       "client_ca_file and client_allowed_sans need VerifyClientCertIfGiven or "
		       "RequireAndVerifyClientCert");
}

/* ---- users and headers ----------------------------------------------------------------------- */

/* "$2y$10$", and 53 characters. */
static bool is_bcrypt_hash(const char *text)
{
	static const char digits[] =
		"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

	return strlen(text) == 60 && strncmp(text, "$2", 2) == 0 && strchr("aby", text[2]) &&
	       text[3] == '$' && strspn(text + 4, "0123456789") == 2 && text[6] == '$' &&
	       strspn(text + 7, digits) == 53;
}

static void read_users(struct web_reading *r, json_t *users)
{
	struct web_config *w = r->web;
	const char *name;
	json_t *hash;

	w->users = calloc(json_object_size(users) + 1, sizeof(*w->users));
	json_object_foreach (users, name, hash) {
		if (!w->users || !is_bcrypt_hash(get_text(r, name, hash)) || strchr(name, ':')) {
			refuse(r, "basic_auth_users",
			       "expected the name of a user and a hash of bcrypt, such as "
			       "'htpasswd "
			       "-nB USER' writes it");
			return;
		}
		w->users[w->n_users++] =
			(struct web_user){ strdup(name), strdup(json_string_value(hash)) };
	}
}

static void read_headers(struct web_reading *r, json_t *headers)
{
	static const char *const known[] = { "Content-Security-Policy", "X-Frame-Options",
		                             "X-Content-Type-Options", "X-XSS-Protection",
		                             "Strict-Transport-Security" };
	struct web_config *w = r->web;
	const char *name;
	json_t *value;

	w->headers = calloc(json_object_size(headers) + 1, sizeof(*w->headers));
	json_object_foreach (headers, name, value) {
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && strcmp(known[i], name) != 0)
			i++;
		if (i == sizeof(known) / sizeof(known[0]) || !w->headers ||
		    strpbrk(get_text(r, name, value), "\r\n")) {
			refuse(r, name, "the header is not supported");
			return;
		}
		w->headers[w->n_headers++] =
			(struct web_header){ strdup(name), strdup(get_text(r, name, value)) };
	}
}

static void read_http(struct web_reading *r, json_t *http)
{
	const char *key;
	json_t *value;

	/* The service speaks HTTP/1.1 alone, so "http2" changes nothing. */
	json_object_foreach (http, key, value)
		if (strcmp(key, "headers") == 0)
			read_headers(r, value);
		else if (strcmp(key, "http2") != 0)
			refuse(r, key, "the key is not supported in http_server_config");
}

static void read_sections(struct web_reading *r, json_t *file)
{
	const char *key;
	json_t *value;

	if (!json_is_object(file))
		refuse(r, "the file", "expected a mapping");
	json_object_foreach (file, key, value) {
		if (!json_is_object(value))
			refuse(r, key, "expected a mapping");
		else if (strcmp(key, "tls_server_config") == 0)
			read_tls(r, value);
		else if (strcmp(key, "http_server_config") == 0)
			read_http(r, value);
		else if (strcmp(key, "basic_auth_users") == 0)
			read_users(r, value);
		else if (strcmp(key, "rate_limit") == 0)
			refuse(r, key,
			       "the section is not supported: --budget limits processor time");
		else
			refuse(r, key, "the section is not supported");
	}
}

struct web_config *load_web_config(const char *path)
{
	char why[WHY_SIZE];
	struct web_reading r = { .path = path, .web = calloc(1, sizeof(*r.web)) };
	json_t *file = have_tls ? load_yaml(path, NULL, why, sizeof(why)) : NULL;

	if (!have_tls)
		snprintf(why, sizeof(why),
		         "%s: this pfm was built without GnuTLS: --web-config needs a build with "
		         "Debian's libgnutls28-dev and libcrypt-dev",
		         path);
	if (!file || !r.web) {
		fprintf(stderr, "pfm serve: %s\n", why);
		free(r.web);
		json_decref(file);
		return NULL;
	}
	read_sections(&r, file);
	json_decref(file);
	if (getrandom(r.web->salt, sizeof(r.web->salt), 0) != sizeof(r.web->salt))
		refuse(&r, "random numbers", strerror(errno));
	if (!r.has_failed)
		return r.web;
	free_web_config(r.web);
	return NULL;
}

void free_web_config(struct web_config *w)
{
	if (!w)
		return;
	free(w->certificate);
	if (w->key)
		explicit_bzero(w->key, strlen(w->key));
	free(w->key);
	free(w->authority);
	while (w->n_names)
		free(w->names[--w->n_names]);
	free(w->names);
	while (w->n_users) {
		free(w->users[--w->n_users].name);
		free(w->users[w->n_users].hash);
	}
	free(w->users);
	while (w->n_headers) {
		free(w->headers[--w->n_headers].name);
		free(w->headers[w->n_headers].value);
	}
	free(w->headers);
	free(w);
}
