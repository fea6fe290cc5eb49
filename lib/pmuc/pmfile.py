# SPDX-License-Identifier: MIT
"""Files written whole or not at all."""

import os
import tempfile


def write_atomically(path, data):
    """Writes a file or leaves what was there; never leaves a piece. What is no file (a device, a
    pipe) is written to."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as f:
            f.write(data)
        return
    if os.path.islink(path):        # it stays: /dev/stdout is one
        path = os.path.realpath(path)
    folder = os.path.dirname(os.path.abspath(path))
    fd, temp = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(fd, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temp, 0o666 & ~mask & ~0o022)
        os.rename(temp, path)
    except BaseException:
        try:
            os.unlink(temp)
        except OSError:
            pass
        raise
