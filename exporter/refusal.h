/* SPDX-License-Identifier: MIT */
/* Answers of HTTP to requests that are refused. */
#ifndef PFM_SERVE_REFUSAL_H
#define PFM_SERVE_REFUSAL_H

#include <microhttpd.h>
#include "serve.h"
#include "web.h"

/* Refuses a request that is wrong, and ends the connection. */
enum MHD_Result refuse_request(struct serve *s, struct MHD_Connection *c, unsigned status,
                               const char *text);
/* The processor time of the budget is used up, or passwords are tried too often: the client may
 * come again. */
enum MHD_Result defer_request(struct serve *s, struct MHD_Connection *c, unsigned seconds);
/* Refuses a client that may not read the counts. False if it may. */
bool refuse_client(struct serve *s, struct web_config *w, struct MHD_Connection *c,
                   enum MHD_Result *rc);

#endif
