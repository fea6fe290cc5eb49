# SPDX-License-Identifier: MIT
"""Regions: counts of a part of a program.

    with perfmon.region("solve"):
        ...

    @perfmon.region("load")
    def load(path): ...

Nothing is counted unless PERFMON_REGIONS says what, or :func:`start_regions`; then both cost next
to nothing.

A decorated coroutine, and each ``with`` in it, counts while it runs, not while it waits and others
run. A ``with`` in another coroutine counts too, as long as it contains no await that waits.
"""
from __future__ import annotations

import contextlib
import functools
import inspect
import json
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ._c import ffi, lib, new_struct, read_text as c_text
from ._errors import check, c_string, from_code, from_error, new_error
from .metric import MetricState
from .session import Cause, Quality

__all__ = ["RegionCount", "RegionFile", "RegionMetric", "RegionResult", "RegionVisit",
           "load_regions", "read_regions", "region", "regions_cost", "reset_region",
           "start_regions", "stop_regions", "write_regions"]


@functools.lru_cache(maxsize=4096)
def _find_region(name: str) -> Any:
    return lib.pfm_find_region(c_string(name))


class _Current(threading.local):
    """The coroutine that runs in this thread step by step."""

    steps: _Steps | None = None


_current = _Current()
_CO_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class _Steps:
    """Runs a coroutine and counts its visits between the steps in which it waits."""

    def __init__(self, region: Any, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._region, self._coroutine = region, coroutine
        self.visits: list[Any] = []

    def _step(self, step: Callable[[Any], Any], value: Any) -> Any:
        outer, _current.steps = _current.steps, self
        try:
            return step(value)
        finally:
            _current.steps = outer

    def __await__(self) -> Generator[Any, Any, Any]:
        step: Callable[[Any], Any] = self._coroutine.send
        value = None
        own = lib.pfm_enter_region(self._region)
        self.visits.append(own)
        try:
            while True:
                try:
                    awaited = self._step(step, value)
                except StopIteration as end:
                    return end.value
                for visit in reversed(self.visits):
                    lib.pfm_suspend_region(visit)
                try:
                    value, step = (yield awaited), self._coroutine.send
                except BaseException as error:    # given to the coroutine, which may handle it
                    value, step = error, self._coroutine.throw
                for visit in self.visits:
                    lib.pfm_resume_region(visit)
        finally:
            lib.pfm_leave_region(own)


class _Unfollowed:
    """A visit in a coroutine that is not run step by step. The event loop runs a callback if the
    coroutine waits in it."""

    def __init__(self, region: Any) -> None:
        asyncio = sys.modules.get("asyncio")
        loop = asyncio._get_running_loop() if asyncio else None
        self._has_waited = False
        self._callback = loop.call_soon(self._wait) if loop else None
        self._visit = lib.pfm_enter_region(region)

    def _wait(self) -> None:
        self._has_waited = True

    def leave(self, region: Any) -> None:
        if self._callback:
            self._callback.cancel()
        if not self._has_waited:
            lib.pfm_leave_region(self._visit)
            return
        lib.pfm_suspend_region(self._visit)
        warnings.warn("region %r: the coroutine waited inside, so that others ran: the visit is "
                      "not counted. Decorate the coroutine with @perfmon.region(...)." %
                      c_text(region.name), RuntimeWarning, stacklevel=3)


_unfollowed: ContextVar[tuple[_Unfollowed, ...]] = ContextVar("perfmon_regions", default=())


class region(contextlib.ContextDecorator):
    """A region, as a context manager and as a decorator. Visits belong to the thread that begins
    them, and those of a decorated coroutine to its task."""

    __slots__ = ("_region",)

    def __init__(self, name: str) -> None:
        self._region = _find_region(name)

    def __enter__(self) -> region:
        if _current.steps:
            _current.steps.visits.append(lib.pfm_enter_region(self._region))
        elif sys._getframe(1).f_code.co_flags & _CO_ASYNC:
            _unfollowed.set((*_unfollowed.get(), _Unfollowed(self._region)))
        else:
            lib.pfm_begin_region(self._region)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        if _current.steps:
            lib.pfm_leave_region(_current.steps.visits.pop())
        elif sys._getframe(1).f_code.co_flags & _CO_ASYNC:
            *visits, last = _unfollowed.get()
            _unfollowed.set(tuple(visits))
            last.leave(self._region)
        else:
            lib.pfm_end_region(self._region)

    def __call__(self, func: Any) -> Any:
        if inspect.isasyncgenfunction(func):
            raise TypeError("expected a function or a coroutine, got the asynchronous generator "
                            "%s: mark parts of its body instead" % func.__qualname__)
        if not inspect.iscoroutinefunction(func):
            return super().__call__(func)

        @functools.wraps(func)
        async def counted(*args: Any, **kwargs: Any) -> Any:
            return await _Steps(self._region, func(*args, **kwargs))

        return counted


class RegionVisit:
    """A visit that may go on in another thread, or overlap with others: for coroutines and
    tasks."""

    def __init__(self, name: str) -> None:
        self._visit = lib.pfm_enter_region(_find_region(name))

    def suspend(self) -> None:
        """In the thread that leaves the task alone."""
        lib.pfm_suspend_region(self._visit)

    def resume(self) -> None:
        """In the thread that takes it up."""
        lib.pfm_resume_region(self._visit)

    def leave(self) -> None:
        lib.pfm_leave_region(self._visit)
        self._visit = ffi.NULL


@dataclass(frozen=True)
class RegionCount:
    """Counts of one event; the numbers are None where nothing was counted."""

    event: str
    inclusive: int | None
    exclusive: int | None
    minimum: int | None
    maximum: int | None
    visits: int
    quality: Quality
    cause: Cause
    overhead: int


@dataclass(frozen=True)
class RegionMetric:
    """A metric of the mean counts of a visit. value is None, with the reason in state, where it is
    not defined."""

    name: str
    value: float | None
    state: MetricState
    quality: Quality


@dataclass(frozen=True)
class RegionResult:
    """A region under one parent ("" for none), of one thread or (thread 0) of all together. Times
    are nanoseconds."""

    region: str
    parent: str
    thread: int
    visits: int
    unfinished: int
    wall: int
    exclusive: int
    task: int
    costly: bool
    counts: tuple[RegionCount, ...]
    metrics: tuple[RegionMetric, ...] = ()


def start_regions(events: str | None = None, *, output: str | None = None,
                  format: str | None = None) -> None:
    """Starts counting @events, a list as in PERFMON_REGIONS, which has the last word."""
    options, error = new_struct("pfm_regions_options_t"), new_error()
    texts = {"events": events, "output": output, "format": format}
    kept = {name: c_string(value) for name, value in texts.items() if value is not None}
    held = {name: ffi.new("char[]", value) for name, value in kept.items()}
    for name, value in held.items():
        setattr(options, name, value)
    code = lib.pfm_start_regions(options, error)
    if code:
        raise from_error(code, error, ffi.NULL, [events or ""]) if error.code else from_code(code)


def stop_regions() -> None:
    """Stops counting; results stay."""
    lib.pfm_stop_regions()


def reset_region(name: str) -> None:
    """Sets the calling thread's counts of region @name to zero. Open visits go on."""
    lib.pfm_reset_region(_find_region(name))


def regions_cost() -> tuple[float, float]:
    """Nanoseconds that an empty visit takes: measured inside it, and added to an enclosing region.
    Zero before the start."""
    inside, pair = ffi.new("double *"), ffi.new("double *")
    lib.pfm_region_cost(inside, pair)
    return float(inside[0]), float(pair[0])


def _count(results: Any, row: int, event: int) -> RegionCount:
    info, c = new_struct("pfm_region_event_t"), new_struct("pfm_region_count_t")
    lib.pfm_describe_region_event(event, info)
    lib.pfm_region_count(results, row, event, c)
    has = Quality(c.quality).has_value
    return RegionCount(event=c_text(info.name), inclusive=int(c.inclusive) if has else None,
                       exclusive=int(c.exclusive) if has else None,
                       minimum=int(c.min) if has else None, maximum=int(c.max) if has else None,
                       visits=int(c.visits), quality=Quality(c.quality), cause=Cause(c.cause),
                       overhead=int(c.overhead))


def _metric(results: Any, row: int, number: int) -> RegionMetric:
    name, m = ffi.new("char *[1]"), new_struct("pfm_session_metric_t")
    check(lib.pfm_region_metric(results, row, number, name, m))
    state = MetricState(m.state)
    value = float(m.value) if state is MetricState.DEFINED else None
    return RegionMetric(c_text(name[0]), value, state, Quality(m.quality))


def read_regions() -> list[RegionResult]:
    """Results until now, of running threads as well."""
    results, rows = lib.pfm_read_regions(), []
    try:
        info, row = new_struct("pfm_region_info_t"), 0
        while results and lib.pfm_describe_region(results, row, info) == 0:
            counts = tuple(
                _count(results, row, event) for event in range(lib.pfm_count_region_events()))
            metrics = tuple(_metric(results, row, n) for n in range(lib.pfm_count_region_metrics()))
            rows.append(RegionResult(c_text(info.region), c_text(info.parent), info.thread,
                                     int(info.visits), int(info.unfinished), int(info.wall),
                                     int(info.exclusive), int(info.task), bool(info.costly), counts,
                                     metrics))
            row += 1
    finally:
        lib.pfm_close_region_results(results)
    return rows


@dataclass(frozen=True)
class RegionFile:
    """Results of another process, from its file of sums (perfmon_regions(5)).

    process      process ID; rank of a parallel program, -1 if the environment had none
    program      its name
    has_ended    it ended by exit(3) or a return from main(); else it runs or ended in another way
    incomplete   the file was too small for all regions
    unfinished   open visits
    results      the lines that ``pfm stat --regions --json`` prints of it
    """

    process: int
    rank: int
    program: str
    has_ended: bool
    incomplete: bool
    unfinished: int
    results: tuple[dict[str, Any], ...]


def _as_json(results: Any) -> tuple[dict[str, Any], ...]:
    with tempfile.TemporaryFile() as f:
        check(lib.pfm_write_regions(results, f.fileno(), c_string("json")))
        f.seek(0)
        return tuple(json.loads(line) for line in f)


def load_regions(path: str | os.PathLike[str]) -> RegionFile:
    """Reads the file of sums at @path, also while its process adds to it. ArgumentError if it is
    damaged or another kind of file, OSError if it cannot be opened."""
    out, error, process = ffi.new("pfm_region_results_t **"), new_error(), new_struct(
        "pfm_region_process_t")
    with open(path, "rb") as f:
        rc = lib.pfm_load_regions(f.fileno(), out, error)
    if rc:
        raise from_error(rc, error, ffi.NULL, []) if error.code else from_code(rc)
    try:
        check(lib.pfm_describe_region_process(out[0], process))
        return RegionFile(int(process.process), int(process.rank), c_text(process.program),
                          bool(process.has_ended), bool(process.is_incomplete),
                          int(process.unfinished), _as_json(out[0]))
    finally:
        lib.pfm_close_region_results(out[0])


def write_regions(fd: int, format: str | None = None) -> None:
    """Writes the results until now to descriptor @fd: ``"table"``, ``"json"``, ``"csv"``,
    ``"likwid"``, ``"papi"``, ``"chrome"`` or ``"firefox"``. None is a table. ArgumentError for
    another format, before the start, and for the last two if regions were not started with one of
    them."""
    results = lib.pfm_read_regions()
    try:
        name = c_string(format) if format is not None else ffi.NULL
        check(lib.pfm_write_regions(results, fd, name))
    finally:
        lib.pfm_close_region_results(results)
