/* SPDX-License-Identifier: MIT */
/* CRC-32 of whole files, and a list of those that were computed. */
#include "profile/symbols/file_checksums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/grow.h"

struct known_checksum {
	struct stat st;
	uint32_t checksum;
};

static void fill_table(uint32_t table[256])
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
		table[i] = c;
	}
}

static uint32_t read_checksum(int fd)
{
	uint32_t table[256], crc = 0xffffffff;
	uint8_t bytes[8192];
	off_t at = 0;

	fill_table(table);
	for (;;) {
		ssize_t got = pread(fd, bytes, sizeof(bytes), at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return crc ^ 0xffffffff;
		for (ssize_t i = 0; i < got; i++)
			crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
		at += got;
	}
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

struct wanted_file {
	const struct file_checksums *known;
	const struct stat *st;
};

static bool has_state(const void *arg, uint32_t index)
{
	const struct wanted_file *w = arg;

	return is_same_file(&w->known->files[index].st, w->st);
}

/* Without memory the file is read again the next time. */
static void remember(struct file_checksums *known, uint64_t hash, const struct stat *st,
                     uint32_t checksum)
{
	bool failed = false;

	known->files = base_grow_list(known->files, known->n_files, &known->capacity,
	                              sizeof(*known->files), &failed);
	if (failed)
		return;
	known->files[known->n_files] = (struct known_checksum){ *st, checksum };
	if (pfmi_base_add_hash(&known->table, hash, known->n_files))
		known->n_files++;
}

uint32_t file_checksums_compute(struct file_checksums *known, int fd)
{
	struct wanted_file w = { .known = known };
	uint32_t index, checksum;
	uint64_t hash;
	struct stat st;

	if (!known || fstat(fd, &st))
		return read_checksum(fd);
	w.st = &st;
	hash = pfmi_base_hash_number((uint64_t)st.st_ino ^ (uint64_t)st.st_dev << 32);
	index = pfmi_base_find_hash(&known->table, hash, has_state, &w);
	if (index != HASH_NOT_FOUND)
		return known->files[index].checksum;
	checksum = read_checksum(fd);
	remember(known, hash, &st, checksum);
	return checksum;
}

void file_checksums_free(struct file_checksums *known)
{
	pfmi_base_free_hash(&known->table);
	free(known->files);
	*known = (struct file_checksums){ .n_files = 0 };
}
