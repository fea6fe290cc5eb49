# SPDX-License-Identifier: MIT
"""Writes files atomically."""

import contextlib
import fcntl
import glob
import os
import signal
import tempfile

# Prefix and suffix of the names of unfinished files.
PREFIX, SUFFIX = ".perfmon-", ".tmp"


def is_same_file(fd, path):
    """True if @path still names the open file."""
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except OSError:
        return False


@contextlib.contextmanager
def hold_signals():
    """Delays the signals that end an import until the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK,
                                    {signal.SIGINT, signal.SIGTERM, signal.SIGALRM})
    try:
        yield before
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def create_locked(folder):
    """Creates a file in @folder, locked while it is open: (descriptor, path)."""
    while True:
        fd, path = tempfile.mkstemp(prefix=PREFIX, suffix=SUFFIX, dir=folder)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
        except OSError:
            return fd, path         # a file system without locks
        if is_same_file(fd, path):
            return fd, path
        os.close(fd)                # another process removed it as abandoned before it was locked


def remove_abandoned(folder):
    """Removes files of writers that were killed. A running writer holds a lock on its file."""
    for path in glob.glob(os.path.join(glob.escape(folder), PREFIX + "*" + SUFFIX)):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
        except OSError:
            pass
        finally:
            os.close(fd)


def write_atomically(path, data):
    """Writes a complete file or leaves the old one. Writes directly to a device or a pipe."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as f:
            f.write(data)
        return
    if os.path.islink(path):        # keep links such as /dev/stdout
        path = os.path.realpath(path)
    folder = os.path.dirname(os.path.abspath(path))
    remove_abandoned(folder)
    with hold_signals() as before:
        fd, temp = create_locked(folder)
        try:
            # From here on a signal is an exception that removes the file.
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            with os.fdopen(fd, "wb") as f:
                f.write(data)
                f.flush()
                os.fsync(f.fileno())
                mask = os.umask(0)
                os.umask(mask)
                os.chmod(temp, 0o666 & ~mask & ~0o022)
                os.rename(temp, path)
        except BaseException:
            with hold_signals(), contextlib.suppress(OSError):
                os.unlink(temp)
            raise
