# SPDX-License-Identifier: MIT
"""Metrics: formulas over counts, with what their errors make of the result."""
from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._c import ffi, lib, new_struct, read_text as c_text
from ._errors import check

if TYPE_CHECKING:
    from .context import Context
    from .event import EventInfo

__all__ = ["Metric", "MetricCheck", "MetricInput", "MetricState", "MetricValue"]


class MetricState(enum.IntEnum):
    """Whether a metric has a value, or why not."""

    DEFINED = lib.PFM_METRIC_DEFINED
    DIVISION = lib.PFM_METRIC_DIVISION        #: division by zero
    NOT_COUNTED = lib.PFM_METRIC_NOT_COUNTED  #: an input has no value
    OVERFLOW = lib.PFM_METRIC_OVERFLOW        #: out of the range of a double


@dataclass(frozen=True)
class MetricInput:
    """An input of a metric: an event, or a constant such as ``#smt_on``. alias is the list's own
    spelling; preset is the default value."""

    text: str
    alias: str
    constant: bool
    preset: float | None


@dataclass(frozen=True)
class MetricValue:
    """A metric's value. None, with the reason in state, where it is not defined; then missing is
    the input that was not counted, if that is why. error is the standard error, low and high bound
    the 95 % interval; it is negative where it is unknown."""

    value: float | None
    error: float
    low: float
    high: float
    unit: str
    state: MetricState
    over_threshold: bool | None
    missing: str | None

    def __str__(self) -> str:
        if self.value is None:
            return c_text(lib.pfm_metric_state_name(self.state))
        return f"{self.value:g} {self.unit}".rstrip()


@dataclass(frozen=True)
class MetricCheck:
    """Whether a value can be true: result is "plausible" or what is wrong; then reason says why and
    what to do. low and high are the limits, None where a side has none."""

    result: str
    low: float | None
    high: float | None
    reason: str

    def __bool__(self) -> bool:
        return self.result == "plausible"


class Metric:
    """A metric of a processor.

    name, description, unit, groups, parent, level   what its table says; ``""``, () and 0 where it
                                                     says nothing
    inputs     :class:`MetricInput`, in the order of evaluation
    formula, threshold   as text; ``""`` for no threshold
    partners   events whose samples show where the value comes from
    sum_parts  metrics that sum to a whole with this one
    """

    def __init__(self, context: Context, row: EventInfo) -> None:
        self._fill_struct(context, row._pmu_index, row.index)

    @classmethod
    def _at_row(cls, context: Context, pmu: int, row: int) -> Metric:
        metric = cls.__new__(cls)
        metric._fill_struct(context, pmu, row)
        return metric

    def _fill_struct(self, context: Context, pmu: int, row: int) -> None:
        self._context, self._at = context, (pmu, row)
        info, one = new_struct("pfm_metric_info_t"), new_struct("pfm_metric_input_t")
        check(lib.pfm_describe_metric(context._handle(), *self._at, info))
        self.pmu = context._pmu(pmu).name
        self.name = c_text(info.name)
        self.description = c_text(info.desc)
        self.unit = c_text(info.unit)
        self.groups = tuple(g for g in c_text(info.groups).split(";") if g)
        self.parent = c_text(info.parent)
        self.level = int(info.level)
        inputs = []
        for i in range(info.n_inputs):
            check(lib.pfm_describe_metric_input(context._handle(), *self._at, i, one))
            inputs.append(MetricInput(c_text(one.text), c_text(one.alias), bool(one.is_constant),
                                      float(one.preset) if one.has_preset else None))
        self.inputs = tuple(inputs)
        self.formula = self._print(0)
        self.threshold = self._print(1) if info.has_threshold else ""

    def _print(self, which: int) -> str:
        n = check(lib.pfm_print_metric(self._context._handle(), *self._at, which, ffi.NULL, 0))
        buf = ffi.new("char[]", n + 1)
        check(lib.pfm_print_metric(self._context._handle(), *self._at, which, buf, n + 1))
        return c_text(buf)

    @property
    def partners(self) -> tuple[str, ...]:
        """Events whose samples show where the value comes from, as :meth:`Context.encode` takes
        them."""
        found: list[str] = []
        buf = ffi.new("char[]", 512)
        while lib.pfm_print_metric_partner(self._context._handle(), *self._at, len(found), buf,
                                           512) > 0:
            found.append(c_text(buf))
        return tuple(found)

    def check(self, value: MetricValue, *, extrapolated: bool = False) -> MetricCheck:
        """Whether @value can be true on this machine; extrapolated: its counts were scaled or are
        partial."""
        raw, out = new_struct("pfm_metric_value_t"), new_struct("pfm_metric_check_t")
        _fill_value(raw, value)
        ctx = self._context._handle()
        check(lib.pfm_check_metric(ctx, *self._at, raw, extrapolated, lib.pfm_memory_bandwidth(ctx),
                                   out))
        return _check_result(out)

    @property
    def sum_parts(self) -> tuple[Metric, ...]:
        """The metrics whose values sum to a whole with this one's, itself included: the first level
        of top-down analysis; () for others."""
        ctx = self._context._handle()
        n = lib.pfm_list_metric_sum(ctx, *self._at, ffi.NULL, 0, ffi.NULL)
        events = ffi.new("unsigned[]", max(1, n))
        if n > 0:
            check(lib.pfm_list_metric_sum(ctx, *self._at, events, n, ffi.NULL))
        return tuple(
            Metric._at_row(self._context, self._at[0], events[i]) for i in range(max(0, n)))

    @staticmethod
    def check_sum(values: Iterable[MetricValue], whole: float, *,
                  extrapolated: bool = False) -> MetricCheck:
        """Whether @values sum to @whole (1 or 100) within their intervals."""
        parts = list(values)
        raw, out = ffi.new("pfm_metric_value_t[]",
                           max(1, len(parts))), new_struct("pfm_metric_check_t")
        for one, value in zip(raw, parts):
            one.size = ffi.sizeof("pfm_metric_value_t")
            _fill_value(one, value)
        check(lib.pfm_check_metric_sum(raw, len(parts), whole, extrapolated, out))
        return _check_result(out)

    @staticmethod
    def _find_named(i: MetricInput, values: Mapping[str, float]) -> float | None:
        for name in (i.alias, i.text, i.text.partition("::")[2], i.text.lstrip("#")):
            if name and name in values:
                return values[name]
        return None

    @classmethod
    def _find_given(cls, i: MetricInput, counts: Mapping[str, float]) -> float | None:
        value = cls._find_named(i, counts)
        return i.preset if value is None else value

    def compute(self, counts: Mapping[str, float] | None = None,
                errors: Mapping[str, float] | None = None, *,
                repetitions: Iterable[Mapping[str, float]] | None = None,
                intervals: Iterable[Mapping[str, float]] | None = None,
                observed: float = 0.0) -> MetricValue:
        """The value, and its error by one of three models.

        counts       counts and constants by name; with @errors, their standard errors, taken as
                     independent
        repetitions  instead of counts: those of repeated measurements; the error follows from how
                     they vary together
        intervals    beside counts of events that shared counters: those of intervals of equal
                     length, in order; the error is that of extrapolation. observed: share of the
                     time in which all events counted together, 0 if not one group
        """
        if (counts is None) == (repetitions is None) or (repetitions is not None
                                                         and intervals is not None):
            raise TypeError("expected counts, with or without intervals, or repetitions")
        data = new_struct("pfm_metric_data_t")
        data.n_inputs = len(self.inputs)
        if counts is not None:
            data.operands = operands = self._make_operands(
                counts, errors)  # noqa: F841 kept alive until the call
        samples = repetitions if repetitions is not None else intervals
        if samples is not None:
            flat, data.n_samples = self._flatten(samples)
            data.samples = column = ffi.new("double[]", flat or [0.0])  # noqa: F841
            data.model = (
                lib.PFM_ERROR_FROM_INTERVALS
                if repetitions is None
                else lib.PFM_ERROR_FROM_REPETITIONS
            )
            data.observed = observed
        out = new_struct("pfm_metric_value_t")
        check(lib.pfm_compute_metric(self._context._handle(), *self._at, data, out))
        return self._value(out)

    def _make_operands(self, counts: Mapping[str, float],
                       errors: Mapping[str, float] | None) -> Any:
        array = self._counts(counts)
        for c, i in zip(array, self.inputs):
            c.error = (self._find_named(i, errors) or 0.0) if errors else 0.0
        return array

    def _counts(self, counts: Mapping[str, float]) -> Any:
        array = ffi.new("pfm_metric_operand_t[]", max(1, len(self.inputs)))
        for c, i in zip(array, self.inputs):
            value = self._find_given(i, counts)
            c.known = value is not None
            c.value = value or 0.0
        return array

    def _flatten(self, samples: Iterable[Mapping[str, float]]) -> tuple[list[float], int]:
        """The inputs of each of @samples, one after the other, and how many those are."""
        flat: list[float] = []
        rounds = 0
        for counts in samples:
            rounds += 1
            for i in self.inputs:
                value = self._find_given(i, counts)
                flat.append(float("nan") if value is None else value)
        return flat, rounds

    def _value(self, out: Any) -> MetricValue:
        state = MetricState(out.state)
        missing = self.inputs[out.missing] if out.missing >= 0 else None
        return MetricValue(
            float(out.value) if state == MetricState.DEFINED else None, float(out.error),
            float(out.low), float(out.high), self.unit, state,
            bool(out.over_threshold) if out.over_threshold >= 0 else None,
            (missing.alias or missing.text) if missing else None)

    def __reduce__(self) -> tuple[Any, ...]:
        """By name: the row may have another number where it is read again, or be missing
        (UnknownEventError)."""
        return _metric, (self._context, self.pmu, self.name)

    def __str__(self) -> str:
        return f"{self.pmu}::{self.name}"

    def __repr__(self) -> str:
        return f"<Metric {self}: {self.formula}>"


def _fill_value(raw: Any, value: MetricValue) -> None:
    raw.value, raw.error, raw.low, raw.high = value.value or 0.0, value.error, value.low, value.high
    raw.state = value.state


def _check_result(out: Any) -> MetricCheck:
    low, high = float(out.low), float(out.high)
    return MetricCheck(c_text(lib.pfm_plausibility_name(out.result)), low if low > -1e300 else None,
                       high if high < 1e300 else None, c_text(out.reason))


def _metric(context: Context, pmu: str, name: str) -> Metric:
    return Metric(context, context.pmus[pmu].events[name])
