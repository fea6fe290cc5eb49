# SPDX-License-Identifier: MIT
"""Builds wheels and source archives with meson-python.

A wheel holds the Python module alone: what Meson tags python-runtime. pyproject.toml says so, and meson-python listens from
0.13 on. Debian 12 has 0.12, which would put libraries, headers and manual pages in as well: for that one the list of files
is cut to the tag here.
"""
import mesonpy
from mesonpy import *  # noqa: F401,F403  the hooks that pip calls

TAG = "python-runtime"


def _tagged(plan):
    return {kind: {origin: file for origin, file in files.items() if file.get("tag") == TAG} for kind, files in plan.items()}


if tuple(int(n) for n in mesonpy.__version__.split(".")[:2]) < (0, 13):
    _everything = mesonpy.Project._install_plan
    mesonpy.Project._install_plan = property(lambda project: _tagged(_everything.fget(project)))
