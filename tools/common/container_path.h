/* SPDX-License-Identifier: MIT */
/* Containers by the paths of their control groups. */
#ifndef PFM_CONTAINER_PATH_H
#define PFM_CONTAINER_PATH_H

#include <stdbool.h>

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

#endif
