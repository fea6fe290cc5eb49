# SPDX-License-Identifier: MIT
"""Intel Core Solo and Core Duo: settings of a set that only these processors have."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._c import ffi, combine_flags, lib

__all__ = ["Counter", "Settings"]


@dataclass(frozen=True)
class Counter:
    """Settings of the event with the same index.

    cnt_mask  count the clocks in which the event occurs at least so many times, 0 to 255; 0: count
              events
    invert    count the clocks in which it occurs less often than that
    edge      count how often the condition becomes true
    """

    cnt_mask: int = 0
    invert: bool = False
    edge: bool = False

    @property
    def _flags(self) -> int:
        return combine_flags(
            {lib.PFM_COREDUO_SEL_INV: self.invert, lib.PFM_COREDUO_SEL_EDGE: self.edge})


@dataclass(frozen=True)
class Settings:
    """Settings for :func:`perfmon.dispatch`. A value out of range raises PerfmonError there."""

    counters: Sequence[Counter] = ()

    def _model_in(self) -> Any:
        model = ffi.new("pfmlib_coreduo_input_param_t *")
        if len(self.counters) > lib.PMU_COREDUO_NUM_COUNTERS:
            raise ValueError(f"there are {lib.PMU_COREDUO_NUM_COUNTERS} counters")
        for i, counter in enumerate(self.counters):
            model.pfp_coreduo_counters[i].cnt_mask = counter.cnt_mask
            model.pfp_coreduo_counters[i].flags = counter._flags
        return model

    def _model_out(self) -> Any:
        return ffi.NULL

    def _read_result(self, placed: Any, out: Any) -> None:
        return None
