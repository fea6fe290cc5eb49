#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The other names of manual pages.

    aliases.py --list PAGE...            names of the files to make, one a line
    aliases.py --out FOLDER PAGE...      make them: each says which page to show

A page has the names of its NAME section; the first is its own.
"""

import argparse
import os
import re
import sys


def aliases(path):
    """Yields (file name, page) for each alias: each name in NAME other than the page's own."""
    with open(path, encoding="utf-8") as f:
        head = re.search(r"^\.Sh NAME\n(.*?)^\.Nd", f.read(), re.S | re.M)
    page = os.path.basename(path)
    section = page.rsplit(".", 1)[1]
    for name in re.findall(r"^\.Nm (\S+)", head[1], re.M) if head else []:
        if "%s.%s" % (name, section) != page:
            yield "%s.%s" % (name, section), page


def main():
    parser = argparse.ArgumentParser(description="list or make the other names of manual pages")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("pages", nargs="+")
    a = parser.parse_args()
    for path in a.pages:
        for name, page in aliases(path):
            if a.list:
                print(name)
            if a.out:
                with open(os.path.join(a.out, name), "w", encoding="utf-8") as f:
                    f.write('.\\" SPDX-License-Identifier: MIT\n.so man%s/%s\n' %
                            (page.rsplit(".", 1)[1], page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
