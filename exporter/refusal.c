/* SPDX-License-Identifier: MIT */
/* pfm serve: answers to requests that are refused. */
#include "common/pfm.h"

#ifdef HAVE_MICROHTTPD
#include "refusal.h"

#include <string.h>

/* ---- refusals -------------------------------------------------------------------------------- */

static struct MHD_Response *make_refusal(const char *text)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);

	if (r)
		MHD_add_response_header(r, "Content-Type", "text/plain; charset=utf-8");
	return r;
}

static enum MHD_Result send_refusal(struct MHD_Connection *c, unsigned status,
                                    struct MHD_Response *r)
{
	enum MHD_Result rc = r ? MHD_queue_response(c, status, r) : MHD_NO;

	if (r)
		MHD_destroy_response(r);
	return rc;
}

enum MHD_Result refuse_request(struct serve *s, struct MHD_Connection *c, unsigned status,
                               const char *text)
{
	struct MHD_Response *r = make_refusal(text);

	s->figures.refusals++;
	if (r)
		MHD_add_response_header(r, "Connection", "close");
	if (r && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, "Allow", "GET, HEAD");
	return send_refusal(c, status, r);
}

enum MHD_Result defer_request(struct serve *s, struct MHD_Connection *c, unsigned seconds)
{
	struct MHD_Response *r = make_refusal(
		compute_retry_seconds(&s->budget) ? "the processor time of --budget is used up\n"
						  : "passwords are tried too often\n");
	char text[16];

	s->figures.deferrals++;
	snprintf(text, sizeof(text), "%u", seconds);
	if (r)
		MHD_add_response_header(r, "Retry-After", text);
	return send_refusal(c, MHD_HTTP_TOO_MANY_REQUESTS, r);
}

/* ---- clients of --web-config ----------------------------------------------------------------- */

static enum MHD_Result ask_for_password(struct serve *s, struct MHD_Connection *c)
{
	struct MHD_Response *r = make_refusal("expected a user and a password\n");

	s->figures.refusals++;
	if (r)
		MHD_add_response_header(r, "WWW-Authenticate", "Basic realm=\"perfmon\"");
	return send_refusal(c, MHD_HTTP_UNAUTHORIZED, r);
}

static enum web_access check_user(struct web_config *w, struct MHD_Connection *c)
{
	char *password = NULL, *user = MHD_basic_auth_get_username_password(c, &password);
	const enum web_access access = check_password(w, user, password);

	if (password)
		explicit_bzero(password, strlen(password));
	MHD_free(password);
	MHD_free(user);
	return access;
}

bool refuse_client(struct serve *s, struct web_config *w, struct MHD_Connection *c,
                   enum MHD_Result *rc)
{
	const union MHD_ConnectionInfo *info;

	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!has_client_certificate(w, info ? info->tls_session : NULL)) {
		*rc = refuse_request(s, c, MHD_HTTP_FORBIDDEN,
		                     "expected a certificate that client_ca_file has signed\n");
		return true;
	}
	switch (check_user(w, c)) {
	case WEB_ACCESS: return false;
	case WEB_LATER: *rc = defer_request(s, c, 1); return true;
	default: *rc = ask_for_password(s, c); return true;
	}
}

#endif
