# SPDX-License-Identifier: MIT
"""Every integer constant of the public C headers, under its own name.

    >>> from perfmon import constants
    >>> hex(constants.PF5_CTXT_KMASK)
    '0x40000301'

The values come from the compiler, so a second list is not needed. ``dir(constants)`` names them
all.
"""
from __future__ import annotations

from ._perfmon import lib

_NAMES = frozenset(n for n in dir(lib)
                   if isinstance(getattr(lib, n), int) and not n.startswith("MODEL_"))


def __getattr__(name: str) -> int:
    if name not in _NAMES:
        raise AttributeError(f"the C headers have no constant {name}")
    return int(getattr(lib, name))


def __dir__() -> list[str]:
    return sorted(_NAMES)
