/* SPDX-License-Identifier: MIT */
/* The program that pfm alpha device serves: it installs the filter that sends calls to the server,
 * and gives its descriptor to it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <perfmon/pfcntr.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "alpha/serve_child.h"

#if defined __x86_64__
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined __i386__
#define NATIVE_ARCH AUDIT_ARCH_I386
#elif defined __aarch64__
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#elif defined __arm__
#define NATIVE_ARCH AUDIT_ARCH_ARM
#elif defined __powerpc64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_ARCH AUDIT_ARCH_PPC64LE
#elif defined __powerpc64__
#define NATIVE_ARCH AUDIT_ARCH_PPC64
#elif defined __s390x__
#define NATIVE_ARCH AUDIT_ARCH_S390X
#elif defined __riscv && __riscv_xlen == 64
#define NATIVE_ARCH AUDIT_ARCH_RISCV64
#elif defined __alpha__
#define NATIVE_ARCH AUDIT_ARCH_ALPHA
#else
#define NATIVE_ARCH 0 /* matches no call: the program runs without the device */
#endif

/* The offset of the low half of argument @n. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARGUMENT_OFFSET(n) ((unsigned)offsetof(struct seccomp_data, args) + (n)*8u)
#else
#define ARGUMENT_OFFSET(n) ((unsigned)offsetof(struct seccomp_data, args) + (n)*8u + 4u)
#endif

static int install_filter(int first_descriptor)
{
	/* Jump distances count instructions. All paths end in one of the two last instructions. */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 0, 14),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 11, 0),
#ifdef __NR_open
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_open, 10, 0),
#else
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 10, 0),
#endif
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat2, 9, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_read, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JA, 7, 0, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT_OFFSET(1)),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 8),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PFCNTR_TYPE, 2, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT_OFFSET(0)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (unsigned)first_descriptor, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof code / sizeof code[0], code };
	int fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
	                  &prog);
	return fd < 0 ? -errno : fd;
}

union descriptor_message {
	char buf[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/* Sends @err, and @fd if it is not negative. */
static void send_listener(int to, int err, int fd)
{
	union descriptor_message control = { .buf = { 0 } };
	struct iovec iov = { &err, sizeof err };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof control.buf;
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(c), &fd, sizeof fd);
	}
	while (sendmsg(to, &msg, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

int receive_listener(int from, int *fd)
{
	union descriptor_message control;
	int err = -EIO;
	struct iovec iov = { &err, sizeof err };
	struct msghdr msg = { .msg_iov = &iov,
		              .msg_iovlen = 1,
		              .msg_control = control.buf,
		              .msg_controllen = sizeof control.buf };
	struct cmsghdr *c;
	ssize_t got;

	do
		got = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	c = got == (ssize_t)sizeof err ? CMSG_FIRSTHDR(&msg) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof *fd);
	return got == (ssize_t)sizeof err ? err : -EIO;
}

_Noreturn void run_program(int to, int first_descriptor, char *const argv[], const sigset_t *mask)
{
	int fd = install_filter(first_descriptor);

	char end;

	send_listener(to, fd < 0 ? fd : 0, fd);
	/* The server closes its end when it samples this process. */
	while (fd >= 0 && recv(to, &end, 1, 0) < 0 && errno == EINTR)
		;
	close(to);
	if (fd < 0)
		_exit(CANNOT_RUN);
	close(fd);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	fprintf(stderr, "pfm alpha device: cannot run '%s': %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? NOT_FOUND : CANNOT_RUN);
}
