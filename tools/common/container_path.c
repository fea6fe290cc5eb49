/* SPDX-License-Identifier: MIT */
/* Containers by the paths of their control groups. The last folder of a path has the
 * container's number of 64 digits; engines put their name before it, and systemd ".scope" behind.
 * Folders of Kubernetes have the class and the number of the pod:
 *
 *   kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/cri-containerd-ID.scope
 *   kubepods.slice/kubepods-podUID.slice/crio-ID.scope
 *   kubepods/besteffort/podUID/ID                        without systemd
 *   system.slice/docker-ID.scope, docker/ID, machine.slice/libpod-ID.scope
 *
 * Other folders beside them, such as crio-conmon-ID.scope, are of the engines themselves. */
#include "common/container_path.h"

#include <string.h>

enum { ID_DIGITS = 64, UID_DIGITS = 36, STATIC_UID_DIGITS = 32 };

static const struct engine {
	const char *prefix, *name;
} engines[] = {
	{ "cri-containerd-", "containerd" }, { "crio-", "cri-o" },    { "docker-", "docker" },
	{ "libpod-payload-", "podman" },     { "libpod-", "podman" },
};

/* The length of the folder at @name without what systemd adds. */
static size_t measure_name(const char *name)
{
	static const char *const suffixes[] = { ".scope", ".slice" };
	const size_t len = strcspn(name, "/");

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const size_t n = strlen(suffixes[i]);

		if (len > n && strncmp(name + len - n, suffixes[i], n) == 0)
			return len - n;
	}
	return len;
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && strncmp(text, word, len) == 0;
}

/* Reads "podUID", also after another word and "-". systemd's names have "_" for "-". */
static void read_pod(const char *folder, size_t len, char uid[POD_UID_SIZE])
{
	for (size_t at = 0; at + 3 < len; at++) {
		const size_t n = len - at - 3;

		if (strncmp(folder + at, "pod", 3) != 0 || (at && folder[at - 1] != '-') ||
		    (n != UID_DIGITS && n != STATIC_UID_DIGITS) ||
		    strspn(folder + at + 3, "0123456789abcdef-_") < n)
			continue;
		memcpy(uid, folder + at + 3, n);
		uid[n] = '\0';
		for (char *c = uid; *c; c++)
			*c = *c == '_' ? '-' : *c;
	}
}

/* Notes what a folder above the container's tells. */
static void read_parent(const char *folder, size_t len, struct container_path *out)
{
	if (is_word(folder, len, "docker"))
		out->runtime = "docker";
	if (is_word(folder, len, "libpod_parent"))
		out->runtime = "podman";
	read_pod(folder, len, out->pod_uid);
	if (is_word(folder, len, "burstable") ||
	    (len > 10 && strncmp(folder + len - 10, "-burstable", 10) == 0))
		out->qos = "Burstable";
	if (is_word(folder, len, "besteffort") ||
	    (len > 11 && strncmp(folder + len - 11, "-besteffort", 11) == 0))
		out->qos = "BestEffort";
}

/* Reads the folder of the container itself. False if it is another. */
static bool read_id(const char *folder, size_t len, struct container_path *out)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		const size_t n = strlen(engines[i].prefix);

		if (len == n + ID_DIGITS && strncmp(folder, engines[i].prefix, n) == 0) {
			out->runtime = engines[i].name;
			folder += n;
			len -= n;
		}
	}
	if (len != ID_DIGITS || strspn(folder, "0123456789abcdef") < len)
		return false;
	memcpy(out->id, folder, len);
	out->id[len] = '\0';
	return true;
}

bool read_container_path(const char *path, struct container_path *out)
{
	*out = (struct container_path){ .runtime = "", .qos = "" };
	path += *path == '/';
	for (const char *next; (next = strchr(path, '/')); path = next + 1)
		read_parent(path, measure_name(path), out);
	if (!read_id(path, measure_name(path), out))
		return false;
	if (*out->pod_uid && !*out->qos)
		out->qos = "Guaranteed";
	/* A number alone may be of something else. */
	return *out->pod_uid || *out->runtime;
}
