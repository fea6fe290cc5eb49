# SPDX-License-Identifier: MIT
"""Golden vectors: one JSON object a line, a test case each."""
import json
import pathlib

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOLDER = SOURCE / "tests" / "vectors"


def load(name):
    with open(FOLDER / name, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def rows(name, keep=lambda row: True, ident=lambda row: row["id"]):
    """For pytest.mark.parametrize."""
    return [pytest.param(row, id=ident(row)) for row in load(name) if keep(row)]


def num(value):
    return int(value, 0) if isinstance(value, str) else int(value)
