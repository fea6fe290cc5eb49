#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the text of files as arrays of C: embed.py OUTPUT NAME=FILE+FILE..."""
import sys


def main(output, *pairs):
    with open(output, "w", encoding="ascii") as out:
        out.write('#include "html/page.h"\n')
        for pair in pairs:
            name, paths = pair.split("=", 1)
            data = b""
            for path in paths.split("+"):
                with open(path, "rb") as f:
                    data += f.read()
            data += b"\0"
            out.write("const char %s[] = {\n" % name)
            for at in range(0, len(data), 16):
                # Character constants fit char, whether it has a sign or not.
                out.write("\t%s,\n" % ", ".join("'\\x%02x'" % b for b in data[at:at + 16]))
            out.write("};\n")


main(*sys.argv[1:])
