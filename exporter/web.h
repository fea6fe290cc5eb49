/* SPDX-License-Identifier: MIT */
/* --web-config: TLS, client certificates and passwords of the listeners on networks, from a file in
 * the format of Prometheus' exporter-toolkit. */
#ifndef PFM_SERVE_WEB_H
#define PFM_SERVE_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum client_certificates {
	CLIENT_CERTIFICATES_NONE,
	CLIENT_CERTIFICATES_IF_GIVEN,
	CLIENT_CERTIFICATES_REQUIRED
};

struct web_user {
	char *name, *hash; /* of bcrypt */
};

struct web_header {
	char *name, *value;
};

enum { WEB_DIGEST_SIZE = 32, WEB_KEPT_PASSWORDS = 16 };

struct web_config {
	char *certificate, *key,
		*authority; /* PEM texts; NULL: without TLS, without an authority */
	enum client_certificates clients;
	char **names; /* that a client's certificate must have one of; NULL: any */
	unsigned n_names;
	char priorities[3072];   /* of GnuTLS */
	bool keeps_client_order; /* of cipher suites */
	struct web_user *users;
	unsigned n_users;
	struct web_header *headers;
	unsigned n_headers;
	/* Digests of accepted users and passwords: bcrypt takes longer than everything else. */
	unsigned char salt[WEB_DIGEST_SIZE];
	unsigned char kept[WEB_KEPT_PASSWORDS][WEB_DIGEST_SIZE];
	unsigned n_kept, next_kept;
	uint64_t tries_until; /* time up to which tries of passwords have used up their rate */
};

enum web_access { WEB_ACCESS, WEB_NO_ACCESS, WEB_LATER };

/* ---- the file (web_config.c) ----------------------------------------------------------------- */

/* Reads the file. NULL after an error message. */
struct web_config *load_web_config(const char *path);
void free_web_config(struct web_config *w);

/* ---- clients (web.c) ------------------------------------------------------------------------- */

/* True if the client of a TLS session, a gnutls_session_t, has the certificate that it needs. */
bool has_client_certificate(const struct web_config *w, void *session);
/* Tells whether the user, NULL if the client named none, may read the counts. */
enum web_access check_password(struct web_config *w, const char *user, const char *password);

#endif
