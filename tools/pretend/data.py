#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the data of pfm pretend as C: the models, and an identity of each processor with a table.

    data.py --out FILE.c --models FOLDER --tables FOLDER

A line of the file "processors" holds the name of a PMU of the cores and an identity as
pfm_ctx_options_t.cpuid takes it; it comes from the match statements of the tables.
"""

import argparse
import glob
import os
import re

MATCH = re.compile(r'(\w+)=("[^"]*"|\S+)')


def number(text):
    """The first number of a range or of a pattern with a mask."""
    return int(re.split(r"\.\.|[,/]", text)[0], 0)


def identity(match):
    """The identity that a match statement describes, or None if it describes no single machine."""
    words = {k: v.strip('"') for k, v in MATCH.findall(match)}
    arch = words.get("arch")
    if arch == "x86" and "model" in words:
        family, model = number(words["family"]), number(words["model"])
        return f"{words['vendor']}-{family}-{model:X}-{number(words.get('stepping', '0')):X}"
    if "id" in words:
        return f"0x{number(words['id']):0{16 if arch in ('arm', 'arm64') else 8}x}"
    if arch in ("s390", "riscv") and ("prefix" in words or "exact" in words):
        found = words.get("exact", words.get("prefix"))
        return found + "0" if found.endswith("0x") else found
    return None


def identities(path):
    """Pairs of a PMU and an identity, the first of each PMU of a core."""
    name, found, uncore = None, {}, set()
    with open(path, encoding="utf-8") as f:
        for line in f:
            word, _, rest = line.strip().partition(" ")
            if word == "pmu":
                name = rest.split()[0]
            elif word == "uncore":
                uncore.add(name)
            elif word == "match" and name and name not in found and not rest.endswith(" nearest"):
                found[name] = identity(rest)
    return [(n, i) for n, i in found.items() if i and n not in uncore]


def literal(text):
    """A C string of @text, a line each."""
    lines = text.replace("\\", "\\\\").replace('"', '\\"').split("\n")
    return "\n\t\t".join(f'"{line}\\n"' for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("out", "models", "tables"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    tables = sorted(glob.glob(os.path.join(options.tables, "**", "*.pmu"), recursive=True))
    files = [("processors", "".join(f"{name} {found}\n" for path in tables
                                    for name, found in identities(path)))]
    for path in sorted(glob.glob(os.path.join(options.models, "*.model"))):
        with open(path, encoding="utf-8") as f:
            files.append((os.path.basename(path), f.read()))
    with open(options.out, "w", encoding="utf-8") as out:
        out.write('#include "pretend/data.h"\n\nconst struct pretend_file pretend_files[] = {\n')
        for name, text in files:
            out.write(f'\t{{ "{name}",\n\t\t{literal(text)} }},\n')
        out.write("\t{ 0, 0 }\n};\n")


if __name__ == "__main__":
    main()
