#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles event tables.

    pmuc.py --c OUT.c [--depfile FILE] NAME.pmu...                   the tables inside the library
    pmuc.py --image OUT.pmdb [--byteorder little|big] NAME.pmu...    an image file
    pmuc.py --check NAME.pmu...                                      only say what is wrong
    pmuc.py import PATH... [--cpu PATTERN] [-o FILE] [--json]        vendors' event lists to images

README.md describes the language, ../table.h the result. Everything wrong is reported as FILE:LINE:COLUMN: error: text,
all errors of a run together; then the exit status is 1 and nothing is written.
"""

import os
import sys

sys.dont_write_bytecode = True   # the build directory and an installed copy stay as they are
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pmtable as pt  # noqa: E402
from pmcompile import compile_all  # noqa: E402
from pmfile import write_atomically  # noqa: E402

PARTS = ("pmuc.py", "pmtext.py", "pmhead.py", "pmfields.py", "pmcompile.py", "pmtable.py")   # what tables depend on


def report(errors):
    for (file, line, column), text in sorted(errors):
        print("%s:%d:%d: error: %s" % (file, line, column, text), file=sys.stderr)
    return 1 if errors else 0


def usage(text=None):
    if text:
        print("pmuc: %s" % text, file=sys.stderr)
    print(__doc__.strip().split("\n\n")[1], file=sys.stderr)
    return 2


def main(argv):
    if argv and argv[0] == "import":
        import pmvendor
        return pmvendor.main(argv[1:])
    out = {"--byteorder": "little" if sys.byteorder == "little" else "big"}
    inputs, check = [], False
    i = 0
    while i < len(argv):
        a = argv[i]
        if a in ("--c", "--image", "--depfile", "--byteorder"):
            i += 1
            if i == len(argv):
                return usage("%s needs a value" % a)
            out[a] = argv[i]
        elif a == "--check":
            check = True
        elif a in ("-h", "--help"):
            print(__doc__.strip())
            return 0
        elif a.startswith("-"):
            return usage("unknown option '%s'" % a)
        else:
            inputs.append(a)
        i += 1
    if out["--byteorder"] not in ("little", "big"):
        return usage("byte order is little or big")
    if not inputs and "--c" not in out or not (check or "--c" in out or "--image" in out):
        return usage()
    tables, files, errors = compile_all(inputs)
    if errors:
        return report(errors)
    here = os.path.dirname(os.path.abspath(__file__))
    files += [os.path.join(here, part) for part in PARTS] + [pt.near("../keys.def", "keys.def")]
    try:
        if "--c" in out:
            write_atomically(out["--c"], pt.c_file(tables).encode())
        if "--image" in out:
            write_atomically(out["--image"], pt.image_bytes(tables, out["--byteorder"]))
        if "--depfile" in out:
            target = out.get("--c") or out.get("--image")
            line = "%s: %s\n" % (target, " ".join(f.replace(" ", "\\ ") for f in files))
            write_atomically(out["--depfile"], line.encode())
    except (OSError, ValueError) as e:
        print("pmuc: %s" % e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
