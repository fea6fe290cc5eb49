/* SPDX-License-Identifier: MIT */
/* Names of containers from the kubelet (kubelet.c), and their labels (containers.c). */
#ifndef PFM_SERVE_CONTAINER_H
#define PFM_SERVE_CONTAINER_H

#include "common/container_path.h"
#include "serve.h"

/* ---- names (kubelet.c) ----------------------------------------------------------------------- */

struct named_container {
	const char *id; /* "" for a pod alone */
	const char *pod_uid, *namespace, *pod, *container, *image;
};

/* Prepares requests to the kubelet. Returns an exit status, after an error message. */
int open_kubelet(struct serve *s);
/* The container, or the pod if the kubelet knows only that; NULL if it knows neither. */
const struct named_container *find_named_container(const struct serve *s,
                                                   const struct container_path *path);
/* Asks the kubelet again, as soon as its last answer is a second old. */
void request_names(struct serve *s);
/* Sends requests and takes answers. Returns the milliseconds until it has work, at most @most. */
int run_kubelet(struct serve *s, int most);
void close_kubelet(struct serve *s);

#endif
