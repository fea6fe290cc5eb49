# SPDX-License-Identifier: MIT
"""Builds wheels and source archives with meson-python.

A wheel contains only the Python module: the files that Meson tags python-runtime. pyproject.toml
requests this tag from meson-python 0.13 on. Version 0.12 of Debian 12 would also add libraries,
headers and manual pages, so for it the list of files is restricted here. The notices of the sources
of the tables are added.

The name of a wheel follows from its contents. cffi's code uses only Python's limited interface, so
one wheel is for every CPython from the oldest supported one on (abi3). The newest version of a
glibc symbol that the extension uses is the glibc that it needs (manylinux, PEP 600), if it needs no
other library.
"""
import base64
import glob
import hashlib
import os
import re
import struct
import sys
import sysconfig
import zipfile

try:
    import mesonpy
except ImportError:
    sys.exit(
        "libperfmon: cannot build without meson-python and cffi: run 'pip install meson-python"
        " cffi' in this environment, or install the Debian packages python3-mesonpy and"
        " python3-cffi. A C compiler, meson and ninja are needed as well."
    )
from mesonpy import *  # noqa: E402,F401,F403  the hooks that pip calls

TAG = "python-runtime"


def _tagged(plan):
    return {
        kind: {origin: file for origin, file in files.items() if file.get("tag") == TAG}
        for kind, files in plan.items()
    }


if tuple(int(n) for n in mesonpy.__version__.split(".")[:2]) < (0, 13):
    _everything = mesonpy.Project._install_plan
    mesonpy.Project._install_plan = property(lambda project: _tagged(_everything.fget(project)))


# ---- names of wheels

OLDEST = "cp39"
BESIDE = re.compile(rb"lib(c|m|dl|rt|pthread)\.so\.\d|ld-linux[\w-]*\.so\.\d")


def _linked_names(elf):
    """The names that the dynamic linker reads: of needed libraries and of versions, not the texts
    of the code.

    They are the one string table (type 3) that is loaded (flag 2), ELF's gABI, "Sections".
    """
    order, wide = "<>"[elf[5] - 1], elf[4] == 2
    (table,) = struct.unpack_from(order + "IQ"[wide], elf, 40 if wide else 32)
    each, count = struct.unpack_from(order + "HH", elf, 58 if wide else 46)
    sections = (struct.unpack_from(order + ("IQQQQ" if wide else "IIIII"), elf,
                                   table + each * i + 4) for i in range(count))
    return b"".join(elf[start:start + size] for kind, flags, _, start, size in sections
                    if kind == 3 and flags & 2)


def platform_tag(elf, linux):
    """manylinux_2_N_MACHINE for the glibc that @elf asks for; @linux as it is where it needs
    another library, or another libc."""
    names = _linked_names(elf)
    versions = [int(n) for n in re.findall(rb"\0GLIBC_2\.(\d+)(?=[.\0])", names)]
    others = [
        n for n in re.findall(rb"\0((?:lib|ld-)[\w.+-]*\.so[.\d]*)(?=\0)", names)
        if not BESIDE.fullmatch(n)
    ]
    if not versions or others or not linux.startswith("linux_"):
        return linux
    return "manylinux_2_%d_%s" % (max(versions + [5]), linux[len("linux_"):])


def _is_limited():
    """The compiler was given Python.h with Py_LIMITED_API: cffi does so unless this Python is a
    debugging one, or has no GIL."""
    return not any(
        sysconfig.get_config_var(v) for v in ("Py_DEBUG", "Py_TRACE_REFS", "Py_GIL_DISABLED"))


def _record(files, name):
    rows = [
        "%s,sha256=%s,%d" %
        (n, base64.urlsafe_b64encode(hashlib.sha256(d).digest()).rstrip(b"=").decode(), len(d))
        for n, d in files.items()
    ]
    return "\n".join(rows + [name + ",,", ""]).encode()


def renamed(path):
    """Writes the wheel at @path again under the name that it deserves, and returns that."""
    project, version, python, abi, linux = os.path.basename(path)[:-len(".whl")].split("-")
    with zipfile.ZipFile(path) as old:
        infos = [i for i in old.infolist() if not i.filename.endswith("RECORD")]
        files = {i.filename: old.read(i) for i in infos}
    (extension,) = [n for n in files if re.search(r"/_perfmon\.[^/]*so$", n)]
    names = {n: n for n in files}
    if _is_limited():
        python, abi = OLDEST, "abi3"
        names[extension] = extension.partition(".")[0] + ".abi3.so"
    tag = "-".join((python, abi, platform_tag(files[extension], linux)))
    info = "%s-%s.dist-info/" % (project, version)
    files[info + "WHEEL"] = re.sub(rb"(?m)^Tag: .*$", b"Tag: " + tag.encode(),
                                   files[info + "WHEEL"])
    files = {names[n]: data for n, data in files.items()}
    notices = {
        info + "licenses/" + os.path.basename(p): open(p, "rb").read()
        for p in ["LICENSE", *sorted(glob.glob("LICENSES/*"))]
    }
    files.update(notices)
    out = os.path.join(os.path.dirname(path), "-".join((project, version, tag)) + ".whl")
    os.unlink(path)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for i in infos:
            new.writestr(zipfile.ZipInfo(names[i.filename], i.date_time), files[names[i.filename]],
                         zipfile.ZIP_DEFLATED)
        for name, data in notices.items():
            new.writestr(zipfile.ZipInfo(name, infos[0].date_time), data, zipfile.ZIP_DEFLATED)
        new.writestr(info + "RECORD", _record(files, info + "RECORD"), zipfile.ZIP_DEFLATED)
    return os.path.basename(out)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return renamed(
        os.path.join(wheel_directory,
                     mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory)))
