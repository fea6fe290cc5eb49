/* SPDX-License-Identifier: MIT */
/* Files of event tables on a search path: which are loaded, why others are refused, and that a
 * later change to a file does not reach the bytes that were checked. */
#include "units.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "context/context.h"
#include "table/build.h"

static char folder[64], path[2048];
static struct image_set images;
static pfm_error_t why;

static int make_folder(void **state)
{
	(void)state;
	memcpy(folder, P_tmpdir "/perfmon-images-XXXXXX",
	       sizeof(P_tmpdir "/perfmon-images-XXXXXX"));
	why = (pfm_error_t){ .size = sizeof(why) };
	images = (struct image_set){ 0 };
	return mkdtemp(folder) ? 0 : -1;
}

static const char *build_path(const char *name)
{
	static char full[256];

	snprintf(full, sizeof(full), "%s/%s", folder, name);
	return full;
}

static int remove_entry(void *arg, const char *name)
{
	(void)arg;
	unlink(build_path(name));
	rmdir(build_path(name));
	return 0;
}

static int remove_folder(void **state)
{
	struct sys sys;

	(void)state;
	pfmi_image_unmap_all(&images);
	pfmi_machine_init_real_sys(&sys, NULL);
	sys.list_folder(&sys, folder, remove_entry, NULL);
	return rmdir(folder);
}

/* Writes the first @n bytes of the built-in image (0: all). The byte at @change is changed,
 * unless @change is 0. */
static void write_image(const char *name, size_t n, size_t change, mode_t mode)
{
	const struct image *im = table_get_builtin_image();
	const uint8_t *bytes = (const uint8_t *)im;
	FILE *f = fopen(build_path(name), "wb");

	assert_non_null(f);
	n = n ? n : (size_t)im->size;
	if (change) {
		fwrite(bytes, 1, change, f);
		fputc(bytes[change] ^ 0x55, f);
		fwrite(bytes + change + 1, 1, n - change - 1, f);
	} else {
		fwrite(bytes, 1, n, f);
	}
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(build_path(name), mode), 0);
}

static int open_path(const char *search)
{
	pfmi_image_unmap_all(&images);
	return pfmi_image_map_search_path(search, &images, &why);
}

/* Loads the folder as a search path. */
static void open_folder(void)
{
	assert_int_equal(open_path(folder), PFMLIB_SUCCESS);
}

static void expect_refused(unsigned n, const char *because)
{
	open_folder();
	assert_int_equal(images.n_maps, 0);
	assert_int_equal(images.n_rejected, n);
	for (unsigned i = 0; i < n; i++)
		if (!strstr(images.rejected[i].reason, because))
			fail_msg("%s: %s", images.rejected[i].path, images.rejected[i].reason);
}

/* A file that the caller names is refused with its place in the path. */
static void expect_named_refused(const char *name, const char *because)
{
	int len = snprintf(path, sizeof(path), "/nowhere:%s:%s", build_path(name), folder);

	assert_true(len > 0 && (size_t)len < sizeof(path));
	assert_int_equal(open_path(path), PFMLIB_ERR_IMAGE);
	assert_int_equal(why.kind, PFM_KIND_IMAGE);
	assert_non_null(strstr(why.detail, because));
	assert_int_equal(why.start, strlen("/nowhere:"));
	assert_int_equal(why.end, strlen("/nowhere:") + strlen(build_path(name)));
	assert_true(images.n_maps == 0 && images.n_rejected == 0 && !images.maps &&
	            !images.rejected);
}

static void folders_of_images(void **state)
{
	const char *old_data = getenv("XDG_DATA_HOME"), *old_home = getenv("HOME");
	char *data = old_data ? strdup(old_data) : NULL, *home = old_home ? strdup(old_home) : NULL,
	     out[256], small[8];
	const char *standard;
	size_t n;

	(void)state;
	unsetenv("XDG_DATA_HOME");
	unsetenv("HOME");
	n = pfmi_image_get_default_path(out, sizeof(out));
	assert_int_equal(n, strlen(out));
	assert_int_equal(out[0], '/');
	assert_null(strchr(out, ':'));
	standard = strdup(out);
	assert_non_null(standard);
	setenv("HOME", "/h", 1);
	pfmi_image_get_default_path(out, sizeof(out));
	assert_int_equal(strncmp(out, "/h/.local/share/perfmon:", 24), 0);
	assert_string_equal(out + 24, standard);
	setenv("XDG_DATA_HOME", "/d", 1);
	assert_int_equal(pfmi_image_get_default_path(out, sizeof(out)),
	                 strlen("/d/perfmon:") + strlen(standard));
	assert_int_equal(strncmp(out, "/d/perfmon:", 11), 0);
	assert_string_equal(out + 11, standard);
	/* Too little room: the length that is needed. */
	assert_int_equal(pfmi_image_get_default_path(small, sizeof(small)), strlen(out));
	assert_string_equal(small, "/d/perf");
	/* A relative XDG_DATA_HOME is ignored. */
	setenv("XDG_DATA_HOME", "data", 1);
	pfmi_image_get_default_path(out, sizeof(out));
	assert_int_equal(strncmp(out, "/h/", 3), 0);
	setenv("HOME", "", 1);
	pfmi_image_get_default_path(out, sizeof(out));
	assert_string_equal(out, standard);
	unsetenv("XDG_DATA_HOME");
	unsetenv("HOME");
	if (data)
		setenv("XDG_DATA_HOME", data, 1);
	if (home)
		setenv("HOME", home, 1);
	free(data);
	free(home);
	free((void *)(uintptr_t)standard);
}

/* Folders' images come in the order of their names, each piece of the path in its order. */
static void files_that_are_loaded(void **state)
{
	char first[256], second[256];

	(void)state;
	write_image("b.pmdb", 0, 0, 0644);
	write_image("a.pmdb", 0, 0, 0600);
	write_image("c.pmdb", 0, 0, 0664);
	write_image("named.pmdb", 0, 0, 0444);
	/* None of these is an image's name. */
	write_image(".d.pmdb", 8, 0, 0644);
	write_image(".pmdb", 8, 0, 0644);
	write_image("e.pmdbx", 8, 0, 0644);
	write_image("pmdb", 8, 0, 0644);
	memcpy(first, build_path("named.pmdb"), sizeof(first));
	memcpy(second, build_path(""), sizeof(second));
	snprintf(path, sizeof(path), ":/nowhere::%s:%s:", first, second);
	assert_int_equal(open_path(path), PFMLIB_SUCCESS);
	assert_int_equal(images.n_rejected, 0);
	assert_int_equal(images.n_maps, 5);
	assert_string_equal(images.maps[0].path, first);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(strstr(images.maps[1 + i].path, ".pmdb")[-1], "abc"[i]);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(images.maps[i].size, table_get_builtin_image()->size);
		assert_memory_equal(images.maps[i].image, table_get_builtin_image(), 4096);
		/* The file that the caller named is checked at once, the others when an
		 * event of theirs is looked up. */
		assert_int_equal(atomic_load(&images.maps[i].check_state), i == 0);
		assert_null(pfmi_image_find_fault(&images.maps[i]));
		assert_int_equal(atomic_load(&images.maps[i].check_state), 1);
		assert_null(pfmi_image_find_fault(&images.maps[i]));
	}
	pfmi_image_unmap_all(&images);
	assert_true(images.n_maps == 0 && !images.maps);
	pfmi_image_unmap_all(&images);
	assert_int_equal(open_path(""), PFMLIB_SUCCESS);
	assert_int_equal(images.n_maps, 0);
	/* A path to a file without the suffix .pmdb is rejected. A missing path is ignored. */
	memcpy(first, build_path("pmdb"), sizeof(first));
	assert_int_equal(open_path(first), PFMLIB_SUCCESS);
	assert_true(images.n_maps == 0 && images.n_rejected == 1);
	assert_string_equal(images.rejected[0].path, first);
	assert_string_equal(images.rejected[0].reason,
	                    "expected a folder or a file whose name ends in .pmdb");
}

/* ---- refused --------------------------------------------------------------------------------- */

static void files_that_are_not_images(void **state)
{
	const uint32_t least = sizeof(struct image);

	(void)state;
	write_image("x.pmdb", least - 1, 0, 0644);
	expect_refused(1, "too short");
	expect_named_refused("x.pmdb", "too short");
	write_image("x.pmdb", least, 0, 0644); /* its head says that there is more */
	open_folder();
	assert_int_equal(images.n_rejected, 1);
	assert_null(strstr(images.rejected[0].reason, "too short"));
	write_image("x.pmdb", 0, 1, 0644); /* the magic */
	open_folder();
	assert_int_equal(images.n_rejected, 1);
	unlink(build_path("x.pmdb"));
	expect_named_refused("x.pmdb", "the file does not exist");
	assert_int_equal(mkdir(build_path("x.pmdb"), 0755), 0);
	expect_refused(1, "not a regular file");
	expect_named_refused("x.pmdb", "not a regular file");
	assert_int_equal(rmdir(build_path("x.pmdb")), 0);
	assert_int_equal(mkfifo(build_path("x.pmdb"), 0644), 0);
	expect_refused(1, "not a regular file"); /* opening it would wait for a writer */
	unlink(build_path("x.pmdb"));
	assert_int_equal(symlink("/nowhere", build_path("x.pmdb")), 0);
	expect_refused(1, "the file does not exist");
}

static void paths_that_are_too_long(void **state)
{
	(void)state;
	write_image("x.pmdb", 8192, 0, 0644);
	if (truncate(build_path("x.pmdb"), (off_t)UINT32_MAX + 1))
		skip(); /* the file system has no room for holes */
	expect_refused(1, "too long");
	expect_named_refused("x.pmdb", "too long");
}

static void files_that_others_may_write_are_refused(void **state)
{
	(void)state;
	write_image("x.pmdb", 0, 0, 0646);
	expect_refused(1, "every user can write");
	/* A file that the user names is loaded although others may write it. */
	snprintf(path, sizeof(path), "%s", build_path("x.pmdb"));
	assert_int_equal(open_path(path), PFMLIB_SUCCESS);
	assert_int_equal(images.n_maps, 1);
	assert_int_equal(chmod(build_path("x.pmdb"), 0644), 0);
	open_folder();
	assert_int_equal(images.n_maps, 1);
	/* Files of a folder that others can write are not even opened. */
	assert_int_equal(chmod(folder, 0757), 0);
	expect_refused(1, "its folder");
	assert_string_equal(images.rejected[0].path, build_path("x.pmdb"));
	assert_int_equal(chmod(folder, 0755), 0);
	if (geteuid())
		return;
	assert_int_equal(chown(build_path("x.pmdb"), 12345, 0), 0);
	expect_refused(1, "another user");
	assert_int_equal(open_path(path), PFMLIB_SUCCESS);
	assert_int_equal(images.n_maps, 1);
	assert_int_equal(chown(build_path("x.pmdb"), 0, 0), 0);
	assert_int_equal(chown(folder, 12345, 0), 0);
	expect_refused(1, "its folder");
	assert_int_equal(chown(folder, 0, 0), 0);
}

static void unreadable_files_are_reported(void **state)
{
	(void)state;
	if (!geteuid())
		skip(); /* root reads everything */
	write_image("x.pmdb", 0, 0, 0);
	expect_refused(1, "permissions deny reading");
	expect_named_refused("x.pmdb", "permissions deny reading");
}

/* More refusals and images than the lists begin with. */
static void lists_grow_with_images_and_refusals(void **state)
{
	char name[32];

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "r%02u.pmdb", i);
		write_image(name, 8 + i, 0, 0644);
	}
	expect_refused(20, "too short");
	for (unsigned i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "r%02u.pmdb", i);
		assert_string_equal(images.rejected[i].path, build_path(name));
	}
}

/* Later writes to the file do not change the bytes that were checked. */
static void bytes_are_kept(void **state)
{
	const uint8_t *bytes;
	uint8_t was;
	FILE *f;

	(void)state;
	write_image("x.pmdb", 0, 0, 0664); /* the group may write */
	open_folder();
	assert_int_equal(images.n_maps, 1);
	bytes = (const uint8_t *)images.maps[0].image;
	was = bytes[5000];
	f = fopen(build_path("x.pmdb"), "r+b");
	assert_non_null(f);
	assert_int_equal(fseek(f, 5000, SEEK_SET), 0);
	fputc(was ^ 0xff, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(bytes[5000], was);
	assert_int_equal(truncate(build_path("x.pmdb"), 0), 0);
	assert_int_equal(
		bytes[table_get_builtin_image()->size - 1],
		((const uint8_t *)table_get_builtin_image())[table_get_builtin_image()->size - 1]);
	assert_null(pfmi_image_find_fault(&images.maps[0]));
}

/* A damaged body after a good head is found when the table is needed, or at once if the caller
 * named the file. */
static void damage_is_found_later(void **state)
{
	const char *fault;

	(void)state;
	write_image("x.pmdb", 0, (size_t)table_get_builtin_image()->size - 100, 0644);
	open_folder();
	assert_int_equal(images.n_maps, 1);
	fault = pfmi_image_find_fault(&images.maps[0]);
	assert_non_null(fault);
	assert_true(atomic_load(&images.maps[0].check_state) < 0);
	assert_non_null(pfmi_image_find_fault(&images.maps[0])); /* each call reports it */
	snprintf(path, sizeof(path), "%s", build_path("x.pmdb"));
	assert_int_equal(open_path(path), PFMLIB_ERR_IMAGE);
	assert_string_equal(why.detail, fault);
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, make_folder, remove_folder)

UNIT(context_images, cmocka_unit_test(folders_of_images), CASE(files_that_are_loaded),
     CASE(files_that_are_not_images), CASE(paths_that_are_too_long),
     CASE(files_that_others_may_write_are_refused), CASE(unreadable_files_are_reported),
     CASE(lists_grow_with_images_and_refusals), CASE(bytes_are_kept), CASE(damage_is_found_later));
