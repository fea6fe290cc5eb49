#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the page of the encoder, which works from disk:

    page.py PACKAGE FOLDER    PACKAGE: the npm package, as scripts/wasm.sh makes it

index.html has the scripts; data.js has the module and the tables.
"""
import base64
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def encoded(*path):
    with open(os.path.join(*path), "rb") as f:
        return base64.b64encode(f.read()).decode()


def main(package, folder):
    os.makedirs(folder, exist_ok=True)
    # A page on disk may not import modules, so its scripts are plain ones.
    code = read(package, "perfmon.js").replace("export ", "")
    code = code.replace("import.meta.url", "document.baseURI")
    page = read(HERE, "page.html").replace("PACKAGE\n", code).replace(
        "PAGE\n", read(HERE, "page.js"))
    with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as f:
        f.write(page)
    with open(os.path.join(folder, "data.js"), "w", encoding="utf-8") as f:
        f.write('globalThis.perfmonData = { wasm: "%s", tables: "%s" };\n' %
                (encoded(package, "perfmon.wasm"), encoded(package, "perfmon.tables")))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: page.py PACKAGE FOLDER")
    main(*sys.argv[1:])
