# SPDX-License-Identifier: MIT
"""Columns of numbers: numpy arrays where numpy is installed, else arrays of the standard
library."""
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


def copy_column(memory: Any, n: int, kind: str) -> Any:
    """The @n numbers at @memory, copied: numpy.ndarray of dtype @kind, or array.array."""
    numpy, size = _numpy(), array(_CODES[kind]).itemsize
    raw = ffi.buffer(memory, n * size) if n else b""
    if numpy:
        return numpy.frombuffer(bytes(raw), dtype=kind)
    out = array(_CODES[kind])
    out.frombytes(bytes(raw))
    return out


def make_column(values: Any, kind: str) -> Any:
    """Makes the columns from Python's numbers."""
    numpy = _numpy()
    return numpy.array(values, dtype=kind) if numpy else array(_CODES[kind], values)


def copy_members(memory: Any, size: int, places: Any) -> list[Any]:
    """Members of the structs of @size bytes that follow each other in @memory, copied, a column for
    each (offset, kind) of @places."""
    numpy, raw = _numpy(), memoryview(memory).cast("B")
    if numpy:
        structs = numpy.frombuffer(
            raw, dtype={
                "names": [str(i) for i in range(len(places))],
                "formats": [kind for _, kind in places], "offsets": [at for at, _ in places],
                "itemsize": size
            })
        return [structs[name].copy() for name in structs.dtype.names]
    widths = [array(_CODES[kind]).itemsize for _, kind in places]
    return [
        array(_CODES[kind], b"".join(raw[i + at:i + at + width] for i in range(0, len(raw), size)))
        for (at, kind), width in zip(places, widths)
    ]


def select_where(values: Any, keys: Any, wanted: int) -> Any:
    """Those of the column @values beside which the column @keys has @wanted."""
    return values[keys == wanted] if _numpy() else array(values.typecode,
                                                         (v for v, key in zip(values, keys)
                                                          if key == wanted))


def join_columns(columns: Any, kind: str) -> Any:
    """One column after the other."""
    numpy, parts = _numpy(), list(columns)
    if numpy:
        return numpy.concatenate(parts) if parts else numpy.array((), dtype=kind)
    out = array(_CODES[kind])
    for part in parts:
        out.extend(part)
    return out
