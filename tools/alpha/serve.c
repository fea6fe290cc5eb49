/* SPDX-License-Identifier: MIT */
/* pfm alpha device: serves /dev/pfcntr to an unmodified program with the device model.
 *
 * The program runs under a seccomp filter with user notification: opens, requests of the device's
 * type and reads of high descriptors go to this process first. Other calls are not
 * affected. An open of the device puts one end of a socket pair into the program, so that the
 * descriptor can be duplicated, inherited and passed on, and its last close is noticed at the other
 * end. No privilege is needed, and static programs work too.
 *
 * This is not a security boundary: the program can change its memory between the check here and the
 * kernel's use. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <perfmon/pfcntr.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "alpha/model.h"
#include "alpha/program_counter.h"
#include "alpha/serve_caller.h"
#include "alpha/serve_child.h"
#include "alpha/session.h"

enum { FIRST_DEVICE_DESCRIPTOR = 512 };

/* One open of the device. */
struct open_device {
	bool open;
	int fd;      /* this process's end */
	ino_t inode; /* of the program's end; identifies its descriptors */
};

struct device_server {
	struct alpha_device *m;
	int listener;
	int first_descriptor; /* descriptors from here on are those of the device; the filter
	                       * ignores reads of lower ones */
	uint64_t last_time;   /* time until which the model has run, in nanoseconds */
	struct work_place {
		int pid, cpu;
		uint64_t pc;
	} request, sample;      /* of the last request, and of the last sample */
	pfm_session_t *samples; /* of the program counter; NULL: not permitted */
	pfm_error_t no_samples; /* why not; size 0: reported */
	struct program_counter last_sample;
	struct open_device opened[ALPHA_DEVICE_MAX_CPUS];
	struct seccomp_notif *notif;
	struct seccomp_notif_resp *resp;
	size_t notif_size, resp_size;
};

/* ---- the calling process --------------------------------------------------------------------- */

/* The processor that a task is bound to, the only one it may run on; ALPHA_DEVICE_UNBOUND for
 * several. */
static int read_bound_cpu(const struct device_server *s, pid_t task)
{
	unsigned n = alpha_device_get_options(s->m)->n_cpus;
	cpu_set_t set;

	if (sched_getaffinity(task, sizeof set, &set) || CPU_COUNT(&set) != 1)
		return ALPHA_DEVICE_UNBOUND;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			return (int)(cpu % n);
	return ALPHA_DEVICE_UNBOUND;
}

/* Adds the process of @task to the model. A new process is a copy of its nearest known ancestor,
 * because marks are inherited. Returns its id or -errno. */
static int identify_caller(struct device_server *s, pid_t task, int *cpu)
{
	struct caller who, up;

	if (!read_caller_status(task, &who))
		return -ESRCH;
	for (up = who; alpha_device_is_process_marked(s->m, who.pid) < 0 && up.parent > 1 &&
	               read_caller_status(up.parent, &up);)
		if (alpha_device_is_process_marked(s->m, up.pid) >= 0)
			(void)alpha_device_fork_process(s->m, up.pid, who.pid);
	*cpu = read_bound_cpu(s, task);
	if (alpha_device_set_process(s->m, who.pid, who.uid, *cpu))
		return -ENOMEM;
	return who.pid;
}

static uint64_t read_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void run_until(struct device_server *s, uint64_t time, const struct work_place *at)
{
	if (time <= s->last_time)
		return;
	alpha_device_run(s->m, time - s->last_time, at->pid, at->cpu < 0 ? 0 : (unsigned)at->cpu,
	                 at->pc);
	s->last_time = time;
}

/* Takes the next sample into s->sample. A task that has ended keeps the number of its process,
 * which the model need not know. */
static bool take_sample(struct device_server *s)
{
	int task = s->last_sample.task;

	if (!s->samples || !read_program_counter(s->samples, &s->last_sample))
		return false;
	s->sample.pc = s->last_sample.pc;
	if (s->last_sample.task == task)
		return true;
	s->sample.pid = identify_caller(s, s->last_sample.task, &s->sample.cpu);
	if (s->sample.pid < 0) {
		s->sample.pid = s->last_sample.process;
		s->sample.cpu = ALPHA_DEVICE_UNBOUND;
	}
	return true;
}

/* Runs the model until now. A sample represents the period before it, and the last one for the time
 * in which the next one can still come. In the rest of the time, no task of the program ran: it is
 * the last request's. */
static void advance_time(struct device_server *s)
{
	const uint64_t period = PROGRAM_COUNTER_PERIOD, now = read_clock_ns();

	while (take_sample(s)) {
		run_until(s, s->last_sample.time - period, &s->request);
		run_until(s, s->last_sample.time, &s->sample);
	}
	run_until(s, now, now < s->last_sample.time + 3 * period ? &s->sample : &s->request);
}

static void advance_to_request(struct device_server *s, int pid, int cpu)
{
	s->request = (struct work_place){ pid, cpu, s->notif->data.instruction_pointer };
	advance_time(s);
}

/* Says once why a range of user addresses has no samples but those of calls. */
static void report_missing_samples(struct device_server *s)
{
	char why[256];

	if (s->samples || !s->no_samples.size)
		return;
	(void)pfm_explain_error(NULL, NULL, &s->no_samples, why, sizeof why);
	fprintf(stderr,
	        "pfm alpha device: cannot sample the program counter: %s\n"
	        "  ranges of user addresses have samples of requests to the device only\n",
	        why);
	s->no_samples.size = 0;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

/* The handle of descriptor @fd of @task, or -1. */
static int find_handle(const struct device_server *s, pid_t task, unsigned fd)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d/fd/%u", (int)task, fd);
	if (stat(path, &st) || !S_ISSOCK(st.st_mode))
		return -1;
	for (int i = 0; i < ALPHA_DEVICE_MAX_CPUS; i++)
		if (s->opened[i].open && s->opened[i].inode == st.st_ino)
			return i;
	return -1;
}

/* Closes sessions whose last descriptor is closed. */
static void drop_closed_files(struct device_server *s)
{
	for (int i = 0; i < ALPHA_DEVICE_MAX_CPUS; i++) {
		struct pollfd p = { .fd = s->opened[i].fd };

		if (!s->opened[i].open || poll(&p, 1, 0) <= 0 || !(p.revents & (POLLHUP | POLLERR)))
			continue;
		close(s->opened[i].fd);
		s->opened[i].open = false;
		(void)alpha_device_close_session(s->m, i);
	}
}

/* A free descriptor of @task whose reads the filter reports, or -1. */
static int find_free_descriptor(const struct device_server *s, pid_t task)
{
	char path[64];
	struct stat st;

	for (int fd = s->first_descriptor; fd < s->first_descriptor + ALPHA_DEVICE_MAX_CPUS; fd++) {
		snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)task, fd);
		if (lstat(path, &st) && errno == ENOENT)
			return fd;
	}
	return -1;
}

/* Adds a descriptor for @handle to the program. Returns its number there, or -errno. */
static int add_descriptor(struct device_server *s, int handle, bool cloexec)
{
	struct seccomp_notif_addfd add = { .id = s->notif->id,
		                           .newfd_flags = cloexec ? O_CLOEXEC : 0 };
	int pair[2], number = find_free_descriptor(s, (pid_t)s->notif->pid);
	struct stat st;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	add.srcfd = (unsigned)pair[1];
	if (number >= 0) {
		add.flags = SECCOMP_ADDFD_FLAG_SETFD;
		add.newfd = (unsigned)number;
	}
	number = fstat(pair[1], &st) ? -1 : ioctl(s->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	if (number < 0) {
		number = -errno;
		close(pair[0]);
	} else {
		s->opened[handle] = (struct open_device){ true, pair[0], st.st_ino };
	}
	close(pair[1]);
	return number;
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool is_caller_waiting(const struct device_server *s)
{
	return ioctl(s->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &s->notif->id) == 0;
}

static void send_response(struct device_server *s, long value)
{
	s->resp->error = value < 0 ? (int)value : 0;
	s->resp->val = value < 0 ? 0 : value;
}

static void continue_call(struct device_server *s)
{
	s->resp->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
}

/* The flags and path of an open. The flags are an argument, or the first word of a struct for
 * openat2. */
static uint64_t read_open_flags(const struct device_server *s, uint64_t *path)
{
	const struct seccomp_data *d = &s->notif->data;
	uint64_t flags = 0;

	*path = d->args[1];
	if (d->nr == __NR_openat)
		return d->args[2];
	if (d->nr == __NR_openat2)
		return copy_caller_memory((pid_t)s->notif->pid, d->args[2], &flags, sizeof flags,
		                          false)
		               ? 0
		               : flags;
	*path = d->args[0];
	return d->args[1];
}

static void serve_open(struct device_server *s)
{
	pid_t task = (pid_t)s->notif->pid;
	uint64_t path, flags = read_open_flags(s, &path);
	int pid, cpu, handle, number;

	if (!is_device_path(task, path)) {
		continue_call(s);
		return;
	}
	drop_closed_files(s);
	pid = identify_caller(s, task, &cpu);
	if (pid < 0 || !is_caller_waiting(s)) {
		send_response(s, pid < 0 ? pid : -EINTR);
		return;
	}
	advance_to_request(s, pid, cpu);
	handle = alpha_device_open_session(s->m, pid, flags);
	number = handle < 0 ? handle : add_descriptor(s, handle, flags & O_CLOEXEC);
	if (handle >= 0 && number < 0)
		(void)alpha_device_close_session(s->m, handle);
	send_response(s, number);
}

static void serve_call(struct device_server *s, bool is_read)
{
	const struct seccomp_data *d = &s->notif->data;
	pid_t task = (pid_t)s->notif->pid;
	const struct alpha_device_memory mem = { read_caller_memory, write_caller_memory, &task };
	int handle = find_handle(s, task, (unsigned)d->args[0]), pid, cpu;

	if (handle < 0) {
		continue_call(s);
		return;
	}
	pid = identify_caller(s, task, &cpu);
	if (pid < 0 || !is_caller_waiting(s)) {
		send_response(s, pid < 0 ? pid : -EINTR);
		return;
	}
	advance_to_request(s, pid, cpu);
	if (!is_read && (d->args[1] == PCNTSETUADDR || d->args[1] == PCNTSETURANGE))
		report_missing_samples(s);
	if (is_read)
		send_response(s, alpha_device_read_samples(s->m, handle, d->args[1],
		                                           (size_t)d->args[2], &mem));
	else
		send_response(s, alpha_device_do_ioctl(s->m, handle, pid, (uint32_t)d->args[1],
		                                       d->args[2], &mem));
}

/* Handles one notification. False when there will be no more. */
static bool serve_request(struct device_server *s)
{
	memset(s->notif, 0, s->notif_size);
	memset(s->resp, 0, s->resp_size);
	if (ioctl(s->listener, SECCOMP_IOCTL_NOTIF_RECV, s->notif))
		return errno == EINTR ||
		       errno == ENOENT; /* ENOENT: the task was killed meanwhile */
	s->resp->id = s->notif->id;
	if (s->notif->data.nr == __NR_ioctl)
		serve_call(s, false);
	else if (s->notif->data.nr == __NR_read)
		serve_call(s, true);
	else
		serve_open(s);
	(void)ioctl(s->listener, SECCOMP_IOCTL_NOTIF_SEND, s->resp);
	return true;
}

/* Serves the program until its last process has ended. */
static void serve_until_exit(struct device_server *s)
{
	for (;;) {
		struct pollfd p[1 + ALPHA_DEVICE_MAX_CPUS] = { { .fd = s->listener,
			                                         .events = POLLIN } };
		nfds_t n = 1;

		for (int i = 0; i < ALPHA_DEVICE_MAX_CPUS; i++)
			if (s->opened[i].open)
				p[n++] = (struct pollfd){ .fd = s->opened[i].fd };
		/* Samples are taken each second, because the kernel's buffers are small. */
		if (poll(p, n, s->samples && n > 1 ? 1000 : -1) < 0 && errno != EINTR)
			return;
		if (n > 1)
			advance_time(s);
		drop_closed_files(s);
		if (p[0].revents & POLLIN) {
			if (!serve_request(s))
				return;
		} else if (p[0].revents & (POLLHUP | POLLERR)) {
			return;
		}
	}
}

/* ---- start and end --------------------------------------------------------------------------- */

static int make_server(struct device_server *s, const struct alpha_device_options *options)
{
	struct seccomp_notif_sizes sizes;
	struct rlimit limit;

	s->listener = -1;
	s->first_descriptor = FIRST_DEVICE_DESCRIPTOR;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur < FIRST_DEVICE_DESCRIPTOR + ALPHA_DEVICE_MAX_CPUS)
		s->first_descriptor = limit.rlim_cur > 2 * ALPHA_DEVICE_MAX_CPUS
		                              ? (int)limit.rlim_cur - ALPHA_DEVICE_MAX_CPUS
		                              : ALPHA_DEVICE_MAX_CPUS;
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes))
		return -errno;
	/* The kernel's structs may be larger than those of the headers. */
	s->notif_size =
		sizes.seccomp_notif > sizeof *s->notif ? sizes.seccomp_notif : sizeof *s->notif;
	s->resp_size = sizes.seccomp_notif_resp > sizeof *s->resp ? sizes.seccomp_notif_resp
	                                                          : sizeof *s->resp;
	s->notif = malloc(s->notif_size);
	s->resp = malloc(s->resp_size);
	s->m = alpha_device_new(options);
	return s->notif && s->resp && s->m ? 0 : -ENOMEM;
}

static void free_server(struct device_server *s)
{
	for (int i = 0; i < ALPHA_DEVICE_MAX_CPUS; i++)
		if (s->opened[i].open)
			close(s->opened[i].fd);
	if (s->listener >= 0)
		close(s->listener);
	pfm_close_session(s->samples);
	alpha_device_free(s->m);
	free(s->notif);
	free(s->resp);
}

static int report_errno(int err)
{
	const char *hint = err == -EBUSY ? " (another supervisor serves this program already)"
	                   : err == -EINVAL || err == -ENOSYS
	                           ? " (seccomp user notification is needed: Linux 5.9)"
	                           : "";

	fprintf(stderr, "pfm alpha device: cannot serve the device: %s%s\n", strerror(-err), hint);
	return CANNOT_RUN;
}

static int wait_for_exit_status(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return CANNOT_RUN;
	return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_served(struct device_server *s, char *const argv[], const sigset_t *mask)
{
	int pair[2], err;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return report_errno(-errno);
	child = fork();
	if (child == 0) {
		close(pair[0]);
		run_program(pair[1], s->first_descriptor, argv, mask);
	}
	err = child < 0 ? -errno : 0;
	close(pair[1]);
	if (!err)
		err = receive_listener(pair[0], &s->listener);
	if (!err)
		s->samples = open_program_counter(child, &s->no_samples);
	close(pair[0]);
	if (err) {
		if (child > 0)
			(void)wait_for_exit_status(child);
		return report_errno(err);
	}
	s->last_time = read_clock_ns();
	serve_until_exit(s);
	return wait_for_exit_status(child);
}

int run_with_device(const struct alpha_device_options *options, char *const argv[])
{
	struct device_server s;
	sigset_t terminal, before;
	int status;

	memset(&s, 0, sizeof s);
	s.no_samples.size = sizeof s.no_samples;
	status = make_server(&s, options);
	if (status) {
		free_server(&s);
		return report_errno(status);
	}
	/* Signals from the terminal are for the program: pfm ends after it. */
	sigemptyset(&terminal);
	sigaddset(&terminal, SIGINT);
	sigaddset(&terminal, SIGQUIT);
	sigprocmask(SIG_BLOCK, &terminal, &before);
	status = run_served(&s, argv, &before);
	/* Discards signals that arrived meanwhile. */
	while (sigtimedwait(&terminal, NULL, &(struct timespec){ 0, 0 }) > 0)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
	free_server(&s);
	return status;
}
