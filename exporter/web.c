/* SPDX-License-Identifier: MIT */
/* pfm serve: clients of listeners with --web-config. */
#include "serve.h"
#include "web.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_GNUTLS
#include <crypt.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

/* ---- certificates ---------------------------------------------------------------------------- */

static bool has_one_name(const struct web_config *w, gnutls_x509_crt_t certificate)
{
	char name[256];
	size_t size;

	for (unsigned i = 0;; i++) {
		size = sizeof(name) - 1;
		if (gnutls_x509_crt_get_subject_alt_name(certificate, i, name, &size, NULL) < 0)
			return false;
		name[size] = '\0';
		for (unsigned k = 0; k < w->n_names; k++)
			if (strcmp(w->names[k], name) == 0)
				return true;
	}
}

/* True if the certificate that the client sent has one of the names. */
static bool is_named(const struct web_config *w, gnutls_session_t session)
{
	unsigned n;
	const gnutls_datum_t *sent = gnutls_certificate_get_peers(session, &n);
	gnutls_x509_crt_t certificate;
	bool is_good;

	if (!w->n_names)
		return true;
	if (!sent || !n || gnutls_x509_crt_init(&certificate) < 0)
		return false;
	is_good = gnutls_x509_crt_import(certificate, sent, GNUTLS_X509_FMT_DER) == 0 &&
	          has_one_name(w, certificate);
	gnutls_x509_crt_deinit(certificate);
	return is_good;
}

bool has_client_certificate(const struct web_config *w, void *session)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT
	};
	unsigned n = 0, status = 0;

	if (w->clients == CLIENT_CERTIFICATES_NONE)
		return true;
	if (!session)
		return false;
	if (!gnutls_certificate_get_peers(session, &n) || !n)
		return w->clients == CLIENT_CERTIFICATES_IF_GIVEN;
	return gnutls_certificate_verify_peers(session, &purpose, 1, &status) == 0 && !status &&
	       is_named(w, session);
}

/* ---- passwords ------------------------------------------------------------------------------- */

/* Computes a salted digest of user and password. */
static bool compute_digest(const struct web_config *w, const char *user, const char *password,
                           unsigned char digest[WEB_DIGEST_SIZE])
{
	gnutls_hash_hd_t hash;

	if (gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) < 0)
		return false;
	gnutls_hash(hash, w->salt, sizeof(w->salt));
	gnutls_hash(hash, user, strlen(user) + 1);
	gnutls_hash(hash, password, strlen(password));
	gnutls_hash_deinit(hash, digest);
	return true;
}

static bool is_kept(const struct web_config *w, const unsigned char digest[WEB_DIGEST_SIZE])
{
	for (unsigned i = 0; i < w->n_kept; i++)
		if (gnutls_memcmp(w->kept[i], digest, WEB_DIGEST_SIZE) == 0)
			return true;
	return false;
}

static void keep_digest(struct web_config *w, const unsigned char digest[WEB_DIGEST_SIZE])
{
	memcpy(w->kept[w->next_kept], digest, WEB_DIGEST_SIZE);
	w->next_kept = (w->next_kept + 1) % WEB_KEPT_PASSWORDS;
	w->n_kept += w->n_kept < WEB_KEPT_PASSWORDS;
}

/* bcrypt takes its time on purpose: at most ten tries in a row, and five a second after them. */
static bool may_try(struct web_config *w)
{
	enum { EACH_NS = NS / 5, BURST = 10 };
	const uint64_t now = now_ns();

	if (w->tries_until < now)
		w->tries_until = now;
	if (w->tries_until > now + (uint64_t)BURST * EACH_NS)
		return false;
	w->tries_until += EACH_NS;
	return true;
}

/* An unknown user takes as long as a known one, so that times do not tell names. */
static bool is_password_right(const struct web_config *w, const char *user, const char *password)
{
	struct crypt_data *memory = calloc(1, sizeof(*memory));
	const char *hash = w->users[0].hash, *computed;
	bool is_known = false, is_right;

	for (unsigned i = 0; i < w->n_users; i++)
		if (strcmp(w->users[i].name, user) == 0) {
			hash = w->users[i].hash;
			is_known = true;
		}
	computed = memory ? crypt_r(password, hash, memory) : NULL;
	is_right = computed && strlen(computed) == strlen(hash) &&
	           gnutls_memcmp(computed, hash, strlen(hash)) == 0;
	free(memory);
	return is_right && is_known;
}

enum web_access check_password(struct web_config *w, const char *user, const char *password)
{
	unsigned char digest[WEB_DIGEST_SIZE];

	if (!w->n_users)
		return WEB_ACCESS;
	if (!user || !compute_digest(w, user, password ? password : "", digest))
		return WEB_NO_ACCESS;
	if (is_kept(w, digest))
		return WEB_ACCESS;
	if (!may_try(w))
		return WEB_LATER;
	if (!is_password_right(w, user, password ? password : ""))
		return WEB_NO_ACCESS;
	keep_digest(w, digest);
	return WEB_ACCESS;
}

#else

bool has_client_certificate(const struct web_config *w, void *session)
{
	(void)w;
	(void)session;
	return false;
}

enum web_access check_password(struct web_config *w, const char *user, const char *password)
{
	(void)w;
	(void)user;
	(void)password;
	return WEB_NO_ACCESS;
}

#endif
