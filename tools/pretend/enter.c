/* SPDX-License-Identifier: MIT */
#include "pretend/enter.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>
#include "pretend/sysfs.h"

#define SYSFS_FOLDER "/sys/bus/event_source"
#define CPUINFO      "/proc/cpuinfo"
#define PARANOID     "/proc/sys/kernel/perf_event_paranoid"

static bool report(const char *what, int err)
{
	fprintf(stderr, "pfm pretend: %s: %s\n", what, strerror(err));
	return false;
}

static bool write_file(const char *path, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static bool write_file(const char *path, const char *format, ...)
{
	FILE *f = fopen(path, "we");
	va_list ap;
	bool failed;

	if (!f)
		return false;
	va_start(ap, format);
	failed = vfprintf(f, format, ap) < 0;
	va_end(ap);
	return !fclose(f) && !failed;
}

/* In a user namespace the user and the group keep their numbers. */
static bool enter_namespaces(void)
{
	unsigned uid = geteuid(), gid = getegid();

	if (unshare(CLONE_NEWNS) == 0)
		return true;
	if (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return report("cannot make a mount namespace; this machine may forbid user "
		              "namespaces (sysctl user.max_user_namespaces, "
		              "kernel.apparmor_restrict_unprivileged_userns), and only root has "
		              "them in a chroot",
		              errno);
	if (!write_file("/proc/self/setgroups", "deny") ||
	    !write_file("/proc/self/uid_map", "%u %u 1", uid, uid) ||
	    !write_file("/proc/self/gid_map", "%u %u 1", gid, gid))
		return report("cannot map the user in a namespace", errno);
	return true;
}

/* ---- cpuinfo --------------------------------------------------------------------------------- */

static void print_vendor_lines(FILE *out, const char *id)
{
	char vendor[32];
	unsigned family, model, stepping;

	if (sscanf(id, "%31[^-]-%u-%x-%x", vendor, &family, &model, &stepping) == 4)
		fprintf(out, "vendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\nstepping\t: %u\n",
		        vendor, family, model, stepping);
}

/* Copies cpuinfo with the pretended identity: each CPU's own lines about it are replaced. */
static void copy_cpuinfo(FILE *out, FILE *in, const struct pretend_machine *m)
{
	static const char *const replaced[] = { "vendor_id", "cpu family", "model", "stepping",
		                                "model name" };
	char line[8192];

	while (fgets(line, sizeof(line), in)) {
		size_t len = strcspn(line, "\t:");
		bool is_replaced = false;

		for (size_t i = 0; i < sizeof(replaced) / sizeof(replaced[0]); i++)
			is_replaced |=
				len == strlen(replaced[i]) && strncmp(line, replaced[i], len) == 0;
		if (!is_replaced)
			fputs(line, out);
		if (strncmp(line, "processor", 9) == 0) {
			print_vendor_lines(out, m->id);
			fprintf(out, "model name\t: pretended: %s (%s)\n", m->name, m->desc);
		}
	}
}

static bool replace_cpuinfo(const struct pretend_machine *m)
{
	static const char path[] = SYSFS_FOLDER "/cpuinfo";
	FILE *in = fopen(CPUINFO, "re"), *out = fopen(path, "we");
	bool failed;

	if (in && out)
		copy_cpuinfo(out, in, m);
	failed = !in || !out || ferror(in) || ferror(out);
	if (in)
		failed |= fclose(in) != 0;
	if (out)
		failed |= fclose(out) != 0;
	return !failed && !mount(path, CPUINFO, NULL, MS_BIND, NULL) && !unlink(path);
}

/* Programs read the level that the supervisor applies. */
static bool replace_paranoid(const struct pretend_machine *m)
{
	static const char path[] = SYSFS_FOLDER "/paranoid";

	if (m->paranoid == NO_PARANOID_LEVEL)
		return true;
	return write_file(path, "%d\n", m->paranoid) &&
	       !mount(path, PARANOID, NULL, MS_BIND, NULL) && !unlink(path);
}

/* ---- all files ------------------------------------------------------------------------------- */

/* Nobody outside sees what is mounted over @path afterwards: the mount that holds it becomes
 * private. It is the nearest folder above that is a place of a mount. */
static bool make_mount_private(const char *path)
{
	char at[256];

	for (snprintf(at, sizeof(at), "%s", path); *at; *strrchr(at, '/') = '\0') {
		if (!mount(NULL, at, NULL, MS_PRIVATE, NULL))
			return true;
		if (errno != EINVAL)
			return false;
	}
	return false;
}

/* In a chroot, "/" is not the place of a mount. */
static bool make_mounts_private(void)
{
	return !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       (errno == EINVAL && make_mount_private(SYSFS_FOLDER) &&
	        make_mount_private(CPUINFO) && make_mount_private(PARANOID));
}

bool enter_pretend_files(const struct pretend_machine *m, const struct model *model)
{
	if (!enter_namespaces())
		return false;
	if (!make_mounts_private() ||
	    mount("pretend", SYSFS_FOLDER, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"))
		return report("cannot mount files over " SYSFS_FOLDER, errno);
	if (!write_pretend_sysfs(m, model, SYSFS_FOLDER, ""))
		return false;
	if (!replace_cpuinfo(m))
		return report("cannot replace " CPUINFO, errno);
	if (!replace_paranoid(m))
		return report("cannot replace " PARANOID, errno);
	/* Kernels may refuse a second mount that is not read-only; the files stay as they are. */
	mount(NULL, SYSFS_FOLDER, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV,
	      NULL);
	return true;
}

/* Names of libpfm4 for processors: an alias, or the name of the table. */
static const char *get_libpfm_name(const perfmon_pmu_info_t *p, char buf[64])
{
	size_t len = strcspn(p->aliases, " ");
	bool is_short = strncmp(p->aliases, "amd64_", 6) == 0 || strstr(p->name, "cove") ||
	                strstr(p->name, "mont");

	snprintf(buf, 64, "%.*s", (int)(is_short ? len : strlen(p->name)),
	         is_short ? p->aliases : p->name);
	return buf;
}

bool set_pretend_environment(const struct pretend_machine *m)
{
	perfmon_pmu_info_t p = PFM_INIT(p);
	const struct pretend_pmu *core = get_pretend_core(m);
	char name[64];

	if (setenv("PERFMON_CPUID", m->id, 1) || setenv("PERF_CPUID", m->id, 1))
		return false;
	if (!core || pfm_describe_pmu(m->ctx, core->pmu, &p))
		return true;
	return !setenv("LIBPFM_FORCE_PMU", get_libpfm_name(&p, name), 1);
}
