# SPDX-License-Identifier: MIT
"""Vendors' event lists, as published, to images that contexts find."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ._errors import ErrorCode, ImageError
from .context import forget_default_context

__all__ = ["Imported", "ImportedModel", "Refused", "import_lists"]


@dataclass(frozen=True)
class ImportedModel:
    """One model. state: ``"done"``, ``"unchanged"``, ``"empty"``, ``"failed"``, or ``"damaged"``
    where a list of it could not be read and a former image stays; path: its image; tables: PMUs in
    it."""

    name: str
    state: str
    tables: tuple[str, ...]
    core_events: int
    uncore_events: int
    metrics: int
    refused: int
    path: str


@dataclass(frozen=True)
class Refused:
    """A row of a list that was left out, and why."""

    file: str
    event: str
    key: str
    reason: str


@dataclass(frozen=True)
class Imported:
    """The result of an import. path: image or folder that was written; problems: (path, reason) of
    unreadable files."""

    path: str
    models: tuple[ImportedModel, ...]
    refused: tuple[Refused, ...]
    problems: tuple[tuple[str, str], ...]

    @property
    def events(self) -> int:
        return sum(m.core_events + m.uncore_events for m in self.models)


def _find_compiler() -> str:
    """$PERFMON_PMUC, or the copy that is installed with the module."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_compiler", "pmuc.py")
    return os.environ.get("PERFMON_PMUC") or beside


def _table_names(tables: Any) -> tuple[str, ...]:
    return tuple(t if isinstance(t, str) else str(t.get("name", t))
                 for t in tables) if isinstance(tables, list) else ()


def _model(m: dict[str, Any]) -> ImportedModel:
    return ImportedModel(m["name"], m["state"], _table_names(m.get("tables")), m["core"] or 0,
                         m["uncore"] or 0, m["metrics"] or 0, m["refused"] or 0,
                         m.get("path") or "")


def import_lists(paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str], *,
                 cpu: str | Iterable[str] | None = None,
                 output: str | os.PathLike[str] | None = None, force: bool = False) -> Imported:
    """Makes images of vendors' event lists.

    paths   Intel's perfmon repository, one folder or list of it; a Linux tree or its
            tools/perf/pmu-events/arch; a packed source archive of Linux; .pmu files
    cpu     only models whose name matches one of these shell patterns
    output  one image with everything; or a folder, if it is one: an image for each model. None: the
            user's folder, $XDG_DATA_HOME/perfmon or ~/.local/share/perfmon, where every context
            looks
    force   make images anew that are up to date

    Contexts opened from now on see the new images. One bad row never costs the rest: see
    ``refused``. ImageError if nothing could be imported.
    """
    args = [sys.executable or "python3", _find_compiler(), "import", "--json"]
    for pattern in [cpu] if isinstance(cpu, str) else cpu or ():
        args += ["--cpu", pattern]
    if output is not None:
        args += ["-o", os.fspath(output)]
    if force:
        args.append("--force")
    args += [
        "--", *(os.fspath(p) for p in ([paths] if isinstance(paths, (str, os.PathLike)) else paths))
    ]
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    models, refused, problems, path = [], [], [], ""
    for line in done.stdout.splitlines():
        for kind, what in json.loads(line).items():
            if kind == "model":
                models.append(_model(what))
            elif kind == "refused":
                refused.append(Refused(what["file"], what["event"], what["key"], what["reason"]))
            elif kind == "problem":
                problems.append((what["path"], what["reason"]))
            elif kind == "summary":
                path = what["path"]
    if not path:
        why = "; ".join(f"{p}: {reason}"
                        for p, reason in problems) or done.stderr.strip() or "nothing was imported"
        raise ImageError(why, code=ErrorCode.IMAGE, kind="image")
    forget_default_context()
    return Imported(path, tuple(models), tuple(refused), tuple(problems))
