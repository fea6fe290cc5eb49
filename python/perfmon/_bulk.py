# SPDX-License-Identifier: MIT
"""Columns of numbers: numpy arrays where numpy is installed, else arrays of the standard library."""
from __future__ import annotations

from array import array
from functools import lru_cache
from typing import Any

from ._c import ffi

_CODES = {"uint64": "Q", "uint32": "I", "int32": "i", "float64": "d"}


@lru_cache(maxsize=None)
def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def column(memory: Any, n: int, kind: str) -> Any:
    """The @n numbers at @memory, copied: numpy.ndarray of dtype @kind, or array.array."""
    numpy, size = _numpy(), array(_CODES[kind]).itemsize
    raw = ffi.buffer(memory, n * size) if n else b""
    if numpy:
        return numpy.frombuffer(bytes(raw), dtype=kind)
    out = array(_CODES[kind])
    out.frombytes(bytes(raw))
    return out


def numbers(values: Any, kind: str) -> Any:
    """The same from Python's numbers."""
    numpy = _numpy()
    return numpy.array(values, dtype=kind) if numpy else array(_CODES[kind], values)
