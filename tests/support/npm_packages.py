# SPDX-License-Identifier: MIT
"""Packages of npm that tests need, fetched once, in the long run.

    PERFMON_CACHE    the folder of what is fetched once; default: perfmon in the user's cache
    PERFMON_LONG     set: what is missing there is fetched
    PERFMON_OFFLINE  set: nothing is fetched
"""
import os
import shutil
import subprocess
import tempfile
import unittest


def find_cache():
    """The folder of what is fetched once."""
    given = os.environ.get("PERFMON_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return given or os.path.join(base, "perfmon")


def install(name, *packages):
    """The folder @name of the cache, where npm has installed @packages ("NAME@VERSION"). Skips the
    test where npm has none."""
    folder = os.path.join(find_cache(), name)
    if os.path.isdir(folder):
        return folder
    if not os.environ.get("PERFMON_LONG"):
        raise unittest.SkipTest("%s is missing (./check --all fetches it by npm)" % packages[0])
    if not shutil.which("npm") or not shutil.which("node"):
        raise unittest.SkipTest("npm and node are missing (Debian package npm)")
    if os.environ.get("PERFMON_OFFLINE"):
        raise unittest.SkipTest("PERFMON_OFFLINE forbids downloads")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as new:
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
                               "--fetch-retries", "1", "--prefix", new, *packages],
                              capture_output=True, text=True, timeout=300, check=False,
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            raise unittest.SkipTest("npm cannot install %s: %s" % (
                " ".join(packages), (done.stderr.strip().splitlines() or ["no reason"])[-1]))
        try:
            os.rename(new, folder)
        except OSError:
            pass    # another run was first
        else:
            os.mkdir(new)    # the context removes it
    return folder
