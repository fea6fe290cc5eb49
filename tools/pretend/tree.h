/* SPDX-License-Identifier: MIT */
/* A folder in which the files of a machine are written. Names below it that are symbolic links are
 * not followed, and files are always new ones: nothing is written elsewhere. */
#ifndef PFM_PRETEND_TREE_H
#define PFM_PRETEND_TREE_H

#include <stddef.h>

enum { TREE_PATH_MAX = 4096 };

struct tree {
	int base;                        /* the folder; -1: none */
	int folder;                      /* the folder of the last file; -1: none */
	char folder_path[TREE_PATH_MAX]; /* below the base */
	int error;                       /* the first errno */
	char where[TREE_PATH_MAX];       /* the file or folder of the error, below the base */
};

/* Opens the folder @path; makes it, and all above it, if they are missing. Symbolic links of this
 * path are followed. */
void begin_tree(struct tree *t, const char *path);
/* Makes the folder @path below the base the new base. */
void descend_tree(struct tree *t, const char *path);
/* Writes @n bytes to file @name of the folder @folder below the base. */
void put_file_bytes(struct tree *t, const char *folder, const char *name, const char *bytes,
                    size_t n);
/* Writes @text and a line feed. */
void put_file(struct tree *t, const char *folder, const char *name, const char *text);
void put_line_file(struct tree *t, const char *folder, const char *name, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void end_tree(struct tree *t);

#endif
