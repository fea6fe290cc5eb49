# SPDX-License-Identifier: MIT
"""Between Python's values and those of C."""
from __future__ import annotations

import enum
import operator
from typing import Any, Iterator

from ._perfmon import ffi, lib

__all__ = [
    "Plm", "combine_flags", "ffi", "lib", "list_bits", "make_mask", "make_regmask", "make_words",
    "new_struct", "plm_mask", "read_text"
]


class Plm(enum.IntFlag):
    """Privilege levels at which events are counted. Most processors have two."""

    KERNEL = lib.PFM_PLM0
    LEVEL1 = lib.PFM_PLM1
    LEVEL2 = lib.PFM_PLM2
    USER = lib.PFM_PLM3


def plm_mask(plm: int | str) -> int:
    """Levels from a mask of :class:`Plm`, or from letters: ``"u"`` user, ``"k"`` kernel, ``"uk"``
    both."""
    if not isinstance(plm, str):
        mask = operator.index(plm)
        if mask & ~sum(Plm):
            raise ValueError(f"expected a mask of Plm, got {mask:#x}")
        return mask
    levels = {"u": int(Plm.USER), "k": int(Plm.KERNEL)}
    if not plm or set(plm) - set(levels):
        raise ValueError(f"expected letters of 'uk' or a mask of Plm, got {plm!r}")
    return sum(levels[letter] for letter in set(plm))


def read_text(pointer: Any) -> str:
    """A C string, ``""`` for NULL."""
    return str(ffi.string(pointer).decode("utf-8", "replace")) if pointer else ""


def new_struct(ctype: str) -> Any:
    """A zeroed struct of C, its size set where it starts with one."""
    struct = ffi.new(ctype + " *")
    if ffi.typeof(struct).item.fields[0][0] == "size":
        struct.size = ffi.sizeof(ctype)
    return struct


def list_bits(word: int) -> Iterator[int]:
    """Numbers of the bits that are set, lowest first."""
    n = 0
    while word:
        if word & 1:
            yield n
        word >>= 1
        n += 1


def make_mask(numbers: Any) -> int:
    """The word with these bits set."""
    word = 0
    for n in numbers:
        word |= 1 << n
    return word


def combine_flags(wanted: dict[int, bool]) -> int:
    """The flags that are wanted, ORed together."""
    return sum(flag for flag, yes in wanted.items() if yes)


def make_regmask(registers: Any) -> Any:
    """A pfmlib_regmask_t. Raises ValueError for a register that cannot exist."""
    out = ffi.new("pfmlib_regmask_t *")
    for number in registers:
        if number < 0 or lib.pfm_regmask_set(out, number):
            raise ValueError(f"unknown register {number}")
    return out


def make_words(values: Any, n: int, what: str) -> Any:
    """An array of n 64-bit words, the missing ones 0."""
    values = list(values)
    if len(values) > n:
        raise ValueError(f"at most {n} {what}")
    return ffi.new("uint64_t[]", values + [0] * (n - len(values)))
