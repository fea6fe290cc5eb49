/* SPDX-License-Identifier: MIT */
/* Programs and libraries that are gone when the recording ends: deleted, replaced, in a changed
 * root folder or in another mount namespace. Their files are opened when their mappings are
 * recorded, and stored by build id beside the recording. */
#ifndef PFM_RECORD_KEPT_FILES_H
#define PFM_RECORD_KEPT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

enum { KEPT_ID_SIZE = 20 };

/* A mapped file with a build id. */
struct kept_file {
	char *path; /* in the namespace of its process */
	uint8_t id[KEPT_ID_SIZE];
	size_t n_id;
	int fd; /* -1: it could not be opened, or is closed again */
	bool is_stored;
};

/* All zeros is empty. */
struct kept_files {
	struct kept_file *list;
	size_t n, capacity, n_open, n_left_out; /* left out: beyond the limit of descriptors */
	struct hash_table table;
	uint64_t read; /* bytes of the recording that were looked at */
	int fd;        /* of the recording; 0: not open yet */
	bool failed;   /* no memory, or the recording cannot be read: nothing more is kept */
};

/* Opens the files of mappings that were written to the recording at @path, which has @size bytes.
 * Compressed records are not read. */
void keep_mapped_files(struct kept_files *k, const char *path, uint64_t size);
/* Stores the files that are gone now in the folder beside the recording at @recording, with a
 * message. */
void store_kept_files(struct kept_files *k, const char *recording);
/* Removes what store_kept_files() has stored. */
void remove_stored_files(const struct kept_files *k, const char *recording);
void free_kept_files(struct kept_files *k);

#endif
