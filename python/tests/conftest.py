# SPDX-License-Identifier: MIT
import os
import pathlib

import perfmon
import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("PERFMON_PMUC", str(SOURCE / "compiler/pmuc.py"))


@pytest.fixture(scope="session")
def built_in():
    """The processors that are built in, whatever this machine is."""
    return perfmon.Context(host=False, images=False)


@pytest.fixture(scope="session")
def machine(tmp_path_factory):
    """A function that unfolds a recorded machine of tests/machines and gives its root."""

    def unfold(name):
        root = tmp_path_factory.mktemp(name)
        for line in (SOURCE / "tests/machines" /
                     (name + ".txt")).read_text(encoding="utf-8").splitlines():
            if not line or line.startswith("#"):
                continue
            path, _, content = line.partition("\t")
            path = path if path.startswith("/") else "/sys/bus/event_source/devices/" + path
            file = root / path[1:]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content.replace("\\n", "\n") + "\n", encoding="utf-8")
        return root

    return unfold
