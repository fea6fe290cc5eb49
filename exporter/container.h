/* SPDX-License-Identifier: MIT */
/* Containers by their control groups (container_path.c), their names from the kubelet (kubelet.c),
 * and the labels of both (containers.c). */
#ifndef PFM_SERVE_CONTAINER_H
#define PFM_SERVE_CONTAINER_H

#include "serve.h"

enum { CONTAINER_ID_SIZE = 65, POD_UID_SIZE = 40 };

/* The container, pod and unit that the path of a control group names. */
struct container_path {
	char id[CONTAINER_ID_SIZE];
	char pod_uid[POD_UID_SIZE]; /* "" outside of Kubernetes */
	const char *runtime;        /* "" if the path does not tell */
	const char *qos;            /* "" outside of Kubernetes */
};

/* True if @path, below the mount of control groups, is the group of a container. */
bool read_container_path(const char *path, struct container_path *out);

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
