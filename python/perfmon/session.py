# SPDX-License-Identifier: MIT
"""Counting: sessions, counts and how far each can be trusted."""
from __future__ import annotations

import enum
import math
import operator
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Callable, TypeVar, overload

from . import _bulk, _tables
from ._c import ffi, combine_flags, lib, new_struct, plm_mask, read_text as c_text
from ._errors import ArgumentError, ErrorCode, PerfmonError, SystemCallError, c_string, check, \
    code_of, from_code, from_error, new_error, texts_of
from .context import Context, default_context
from .event import PerfAttr
from .metric import Metric, MetricState
from .sampling import Recording, Samples, Sampling

__all__ = ["Cause", "Count", "Finished", "NotCountedError", "Quality", "Reading", "Session",
           "Tally", "stat", "tally"]

_S = TypeVar("_S", bound="Session")
# Events of stat() and count() that are given none.
USUAL = ("task-clock", "page-faults", "context-switches", "cycles", "instructions")


class Quality(enum.IntEnum):
    """How far a count can be trusted. ``str()`` gives the library's word."""

    EXACT = lib.PFM_QUALITY_EXACT                  #: counted all the time it was enabled
    #: shared a counter: extrapolated from time running
    SCALED = lib.PFM_QUALITY_SCALED
    PARTIAL = lib.PFM_QUALITY_PARTIAL              #: some CPUs or tasks were not counted
    NOT_COUNTED = lib.PFM_QUALITY_NOT_COUNTED      #: missed this time: without a value
    #: ruled out by processor, kernel or permission: no value
    NOT_SUPPORTED = lib.PFM_QUALITY_NOT_SUPPORTED
    PRETENDED = lib.PFM_QUALITY_PRETENDED          #: a value that ``pfm pretend`` made up
    SIMULATED = lib.PFM_QUALITY_SIMULATED          #: an emulator counted it, not a PMU

    @property
    def has_value(self) -> bool:
        """A count of this quality has a value."""
        return self not in (Quality.NOT_COUNTED, Quality.NOT_SUPPORTED)

    def __str__(self) -> str:
        return c_text(lib.pfm_quality_name(int(self)))


class Cause(enum.IntEnum):
    """Why a count is not exact. ``str()`` gives the library's word."""

    NONE = lib.PFM_CAUSE_NONE
    #: this machine, or its hypervisor, exports no PMU for it
    NO_PMU = lib.PFM_CAUSE_NO_PMU
    PERMISSION = lib.PFM_CAUSE_PERMISSION    #: perf_event_paranoid, or another user's process
    BUSY = lib.PFM_CAUSE_BUSY                #: another program holds the counter
    GROUP = lib.PFM_CAUSE_GROUP              #: the group does not fit the counters
    MULTIPLEXED = lib.PFM_CAUSE_MULTIPLEXED  #: more events than counters
    FILES = lib.PFM_CAUSE_FILES              #: no more file descriptors
    ATTRIBUTE = lib.PFM_CAUSE_ATTRIBUTE      #: the kernel refused a setting
    NO_PROCESS = lib.PFM_CAUSE_NO_PROCESS    #: the process is gone
    NO_CPU = lib.PFM_CAUSE_NO_CPU            #: the CPU is off line or does not exist
    MEMORY = lib.PFM_CAUSE_MEMORY
    NO_TIME = lib.PFM_CAUSE_NO_TIME          #: never enabled, or ended before the first clock tick
    NO_KERNEL = lib.PFM_CAUSE_NO_KERNEL      #: the kernel has no perf_event_open or no such device
    OTHER = lib.PFM_CAUSE_OTHER
    LOST = lib.PFM_CAUSE_LOST
    THROTTLED = lib.PFM_CAUSE_THROTTLED
    OTHER_CPU = lib.PFM_CAUSE_OTHER_CPU      #: the virtual machine was moved to another processor
    ERRATUM = lib.PFM_CAUSE_ERRATUM          #: the processor counts the event wrong

    def __str__(self) -> str:
        return c_text(lib.pfm_cause_name(int(self)))


class NotCountedError(PerfmonError, ValueError):
    """A count without a value was used as a number. The message has the cause."""


def _number(x: object) -> int | float:
    if isinstance(x, Count):
        return x._valid()
    if isinstance(x, (int, float)):
        return x
    raise TypeError


def _apply_binary(call: Callable[[Any, Any], Any]) -> Any:
    """A method that applies @call to the numbers of both operands."""
    def method(self: Count, other: object) -> Any:
        try:
            return call(self, other)
        except TypeError:
            return NotImplemented
    return method


def _make_operator(name: str) -> Any:
    apply = getattr(operator, name)
    return _apply_binary(lambda a, b: apply(_number(a), _number(b)))


def _make_reflected(name: str) -> Any:
    apply = getattr(operator, name)
    return _apply_binary(lambda a, b: apply(_number(b), _number(a)))


@dataclass(frozen=True, eq=False)
class Count:
    """One count. Where it has a value it can be used as that number: int(), float(), arithmetic,
    comparison, bool(). Without a value, NotCountedError gives the cause.

    event    as the user wrote it
    pmu      PMU it counts on
    value    extrapolated if scaled; None if it was not counted
    raw      as read
    enabled, running  nanoseconds enabled, and on a counter, summed over CPUs
    quality, cause    how far it can be trusted, and why not further
    why, remedy       a sentence each, ``""`` if there is nothing to say
    errno    of a failed system call, 0 for none
    scale, unit       amount = value * scale, in units
    group    number of its group; cpus: those it is counted on, ``""`` for wherever the task runs
    request  which of the texts given to the session
    attr     what perf_event_open(2) was given, None where Linux has no way to count it
    level    it is a level (a temperature, an occupancy), not a count
    parts    what this count is summed from: counts of one event on several PMUs or CPUs
    """

    event: str
    pmu: str
    value: int | None
    raw: int
    enabled: int
    running: int
    quality: Quality
    cause: Cause
    why: str = ""
    remedy: str = ""
    errno: int = 0
    scale: float = 1.0
    unit: str = ""
    group: int = 0
    cpus: str = ""
    request: int = 0
    attr: PerfAttr | None = None
    level: bool = False
    parts: tuple[Count, ...] = field(default=(), repr=False)

    @property
    def amount(self) -> float | None:
        """The value in units, such as msec or Joules."""
        return None if self.value is None else self.value * self.scale

    @property
    def counter_quality(self) -> Quality:
        """The quality that it would have from a PMU, of pretended and simulated counts; of others
        quality itself."""
        return Quality(lib.pfm_counter_quality(self.quality, self.cause))

    def _valid(self) -> int:
        if self.value is None:
            raise NotCountedError(
                f"{self.event} has no value: {self.quality} ({self.why or self.cause})")
        return self.value

    def __int__(self) -> int:
        return self._valid()

    __index__ = __int__

    def __float__(self) -> float:
        return float(self._valid())

    def __bool__(self) -> bool:
        return self._valid() != 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Count):
            return all(getattr(self, f.name) == getattr(other, f.name) for f in fields(self))
        return isinstance(other, (int, float)) and self.value == other

    def __hash__(self) -> int:
        return hash(self.value)

    __lt__, __le__, __gt__, __ge__ = map(_make_operator, ("lt", "le", "gt", "ge"))
    __add__, __mul__, __truediv__, __floordiv__, __mod__, __pow__ = map(
        _make_operator, ("add", "mul", "truediv", "floordiv", "mod", "pow"))
    __radd__, __rsub__, __rmul__, __rtruediv__, __rfloordiv__, __rmod__, __rpow__ = map(
        _make_reflected, ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"))

    def __round__(self, digits: int | None = None) -> int:
        return round(self._valid(), digits) if digits is not None else self._valid()

    def __neg__(self) -> int:
        return -self._valid()

    def __abs__(self) -> int:
        return abs(self._valid())

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.event}: {self.quality} ({self.why or self.cause})"
        shown = f"{self.amount:.6g} {self.unit}" if self.unit else str(self.value)
        return f"{self.event}: {shown}" + ("" if self.quality is Quality.EXACT else
                                           f" ({self.quality})")

    def record(self) -> dict[str, Any]:
        """As a row of a table: event, pmu, value, amount, unit, quality, cause, enabled, running,
        cpus, why and remedy."""
        return {
            "event": self.event, "pmu": self.pmu, "value": self.value, "amount": self.amount,
            "unit": self.unit, "quality": str(self.quality),
            "cause": str(self.cause) if self.cause else "", "enabled": self.enabled,
            "running": self.running, "cpus": self.cpus, "why": self.why, "remedy": self.remedy
        }

    def _repr_html_(self) -> str:
        return Reading((self.event,), (self,), 0.0)._repr_html_()

    def __sub__(self, earlier: Any) -> Any:
        """Minus an earlier reading of the same event: the Count in between, whose quality follows
        from the times between the two; of a level it is the later reading. Minus anything else: a
        number."""
        if not isinstance(earlier, Count) or earlier.event != self.event:
            try:
                return self._valid() - _number(earlier)
            except TypeError:
                return NotImplemented
        if self.parts and len(self.parts) == len(earlier.parts):
            return _sum_counts([a - b for a, b in zip(self.parts, earlier.parts)])
        out = new_struct("pfm_count_t")
        check(lib.pfm_subtract_counts(earlier._raw(), self._raw(), self.level, out))
        quality = Quality(out.quality)
        return replace(self, value=out.value if quality.has_value else None,
                       raw=out.raw, enabled=out.enabled, running=out.running, quality=quality,
                       cause=Cause(out.cause))

    def _raw(self) -> Any:
        c = new_struct("pfm_count_t")
        c.value, c.raw, c.enabled, c.running = self.value or 0, self.raw, self.enabled, self.running
        c.quality, c.cause, c.sys_errno, c.scale = self.quality, self.cause, self.errno, self.scale
        return c


def _sum_counts(parts: Sequence[Count]) -> Count:
    """One count of several. A missing part makes the sum partial."""
    total = new_struct("pfm_count_sum_t")
    for part in parts:
        check(lib.pfm_add_count(total, part._raw()))
    c, worst, pmus = total.count, parts[total.worst], dict.fromkeys(p.pmu for p in parts)
    quality = Quality(c.quality)
    return replace(
        parts[0], pmu=" ".join(pmus), raw=int(c.raw),
        value=int(c.value) if quality.has_value else None,
        enabled=int(c.enabled), running=int(c.running), quality=quality,
        cause=Cause(c.cause), why=worst.why, remedy=worst.remedy, errno=int(c.sys_errno),
        cpus=",".join(p.cpus for p in parts if p.cpus), parts=tuple(parts))


@dataclass(frozen=True)
class Tally:
    """Counts of one event in repeated runs.

    runs, counted     runs there are, and those that have a value
    mean              of the values; None if no run has one
    error             standard error of the mean; None with fewer than two values
    enabled, running  mean nanoseconds enabled, and on a counter, of the runs with a value
    quality, cause    of the run that is trusted least; partial where others have a value and it
                      has none
    """

    runs: int
    counted: int
    mean: float | None
    error: float | None
    enabled: float
    running: float
    quality: Quality
    cause: Cause


def tally(counts: Iterable[Count]) -> Tally:
    """Summary of one event's counts in repeated runs: ``tally(r["cycles"] for r in readings)``."""
    t = new_struct("pfm_tally_t")
    for count in counts:
        check(lib.pfm_add_run(t, count._raw()))
    n = int(t.counted)
    error = math.sqrt(t.squares / (n - 1) / n) if n > 1 else None
    return Tally(int(t.runs), n, float(t.mean) if n else None, error, float(t.enabled),
                 float(t.running), Quality(t.count.quality), Cause(t.count.cause))


def _run_once(counts: Sequence[Count]) -> list[Count]:
    """Of counts of one event the first on each PMU and CPU: an event that is named twice has two
    counts, which are not added up."""
    first: dict[tuple[str, str], Count] = {}
    for c in counts:
        first.setdefault((c.pmu, c.cpus), c)
    return list(first.values())


def _is_called(count: Count, key: object) -> bool:
    """True for the event's text, also where the library has added the levels that permission
    leaves: ``page-faults:u``."""
    return isinstance(
        key, str) and count.event.startswith(key) and count.event[len(key):] in ("", "u", ":u")


class Reading(Sequence[Count]):
    """All counts of a session at one time: by number, or by the event's text.

    An event that is counted on several PMUs or CPUs has several counts; its text gives their sum,
    with ``parts``. Subtracting an earlier reading gives the counts of the time between the two.

    time     time.monotonic() of the reading
    elapsed  seconds in which the session counted, or between the two readings
    """

    def __init__(self, texts: Sequence[str], counts: Sequence[Count], when: float,
                 elapsed: float = 0.0) -> None:
        self._texts = tuple(texts)
        self._counts = tuple(counts)
        self.time = when
        self.elapsed = elapsed

    def __len__(self) -> int:
        return len(self._counts)

    @overload
    def __getitem__(self, key: int | str) -> Count: ...

    @overload
    def __getitem__(self, key: slice) -> Sequence[Count]: ...

    def __getitem__(self, key: int | str | slice) -> Count | Sequence[Count]:
        if not isinstance(key, str):
            return self._counts[key]
        found = _run_once([c for c in self._counts if c.event == key]
                          or [c for c in self._counts if _is_called(c, key)])
        if not found and key in self._texts:
            found = [c for c in self._counts if c.request == self._texts.index(key)]
        if not found:
            raise KeyError(
                f"{key!r} is not counted; counted are"
                f" {', '.join(dict.fromkeys(c.event for c in self))}"
            )
        return found[0] if len(found) == 1 else _sum_counts(found)

    def __contains__(self, item: object) -> bool:
        return item in self._counts or item in self._texts or any(_is_called(c, item) for c in self)

    def _is_like(self, other: object) -> bool:
        """Are those counts of the same events?"""
        return isinstance(other, Reading) and [c.event for c in self] == [c.event for c in other]

    def __sub__(self, earlier: Reading) -> Reading:
        if not self._is_like(earlier):
            return NotImplemented
        return Reading(self._texts, [a - b for a, b in zip(self, earlier)], self.time,
                       self.elapsed - earlier.elapsed)

    def __add__(self, other: Reading) -> Reading:
        """Both together: values added, each with the worse quality of the two."""
        if not self._is_like(other):
            return NotImplemented
        counts = [
            replace(_sum_counts([a, b]), parts=(), pmu=a.pmu, cpus=a.cpus)
            for a, b in zip(self, other)
        ]
        return Reading(self._texts, counts, other.time, self.elapsed + other.elapsed)

    def records(self) -> list[dict[str, Any]]:
        """A dict for each count, see :meth:`Count.record`:
        ``pandas.DataFrame(reading.records())``."""
        return [c.record() for c in self]

    def _repr_html_(self) -> str:
        rows = ((c.event,
                 "" if c.value is None else f"{c.amount:.6g}" if c.unit else f"{c.value:,}", c.unit,
                 c.quality, " ".join(s for s in (c.why or ("" if not c.cause else str(c.cause)),
                                                 c.remedy) if s)) for c in self)
        return _tables.format_table(("event", "count", "unit", "quality", "why"), rows,
                                    ("name", "number", "text", "text", "text"), len(self))

    def values(self) -> Any:
        """All values as a column of floats, NaN where it is missing: numpy.ndarray, or array.array
        without numpy."""
        return _bulk.make_column(
            [float("nan") if c.value is None else float(c.value) for c in self], "float64")

    def __repr__(self) -> str:
        return f"<Reading {'; '.join(map(str, self))}>"


def _known(value: float, limit: float = 1e300) -> float | None:
    return value if -limit < value < limit else None


def _session_metrics(session: Any, context: Context, texts: Sequence[str], plan: Sequence[Count],
                     rounds: Sequence[Reading]) -> list[dict[str, Any]]:
    n, m, rows = len(plan), new_struct("pfm_session_metric_t"), []
    counts = ffi.new("pfm_count_t[]", max(1, n * len(rounds)))
    counts[0].size = ffi.sizeof("pfm_count_t")
    for i, count in enumerate(c for reading in rounds for c in reading):
        counts[i] = count._raw()[0]
    seconds = sum(r.elapsed for r in rounds) / max(1, len(rounds))
    for i in range(lib.pfm_count_metrics(session)):
        check(lib.pfm_compute_session_metric(session, i, counts, len(rounds), seconds, m))
        metric = Metric._at_row(context, m.pmu, m.event)
        state = MetricState(m.state)
        there = state is MetricState.DEFINED
        rows.append({
            "metric": metric.name, "pmu": metric.pmu, "text": texts[m.request],
            "value": float(m.value) if there else None,
            "error": float(m.error) if there and m.error >= 0 else None,
            "low": _known(m.low) if there else None, "high": _known(m.high) if there else None,
            "unit": metric.unit, "state": c_text(lib.pfm_metric_state_name(m.state)),
            "quality": str(Quality(m.quality)),
            "missing": plan[m.missing].event if m.missing >= 0 else None,
            "across_groups": bool(m.across_groups),
            "over_threshold": bool(m.over_threshold) if m.over_threshold >= 0 else None,
            "plausibility": c_text(lib.pfm_plausibility_name(m.plausibility)),
            "reason": c_text(m.reason)
        })
    return rows


class Session(Samples):
    """Counters for events. As a context manager it counts what happens inside the ``with`` block:

        with perfmon.Session(["page-faults", "task-clock"]) as s:
            work()
        s["page-faults"].value, s["page-faults"].quality

    events       texts in any dialect; groups in braces: ``"{cycles,instructions}:W"``; metrics and
                 groups of metrics: ``"ipc"``, whose values metrics() gives
    pid          0: the calling thread; else that process or thread
    cpus         CPU list such as ``"0,2-3"``, None for all
    inherit      count child processes and threads as well
    system_wide  every process on the CPUs; per_cpu: one count for each CPU, not one sum
    enable_on_exec  start when the process executes a program
    strict       raise unless every event can be opened; else an event that cannot be has no value,
                 and its cause
    dry_run      open nothing: plan only
    user_read    ask for counters that can be read without entering the kernel
    plm          levels for events that name none: mask of :class:`Plm` or letters; 0 for all that
                 are permitted
    pmu          processor that names without a prefix belong to
    backend      ``"perf_event"``, ``"pfm_device"``, None for the machine's own
    sampling     take samples as well: a :class:`Sampling`; then wait(), records() and columns()
                 give them also after the block, until close()

    Counting is stopped at first. Raises EventError for wrong texts, SystemCallError where the
    system refuses. Calls of several threads on one session take turns.
    """

    def __init__(self, events: Iterable[str], *, pid: int = 0, cpus: str | None = None,
                 inherit: bool = False, system_wide: bool = False, per_cpu: bool = False,
                 enable_on_exec: bool = False, strict: bool = False, dry_run: bool = False,
                 user_read: bool = False, plm: int | str = 0, pmu: str | None = None,
                 backend: str | None = None, context: Context | None = None,
                 sampling: Sampling | None = None, _backend_options: Any = None) -> None:
        self.events = tuple(texts_of(events))
        if not self.events:
            raise ArgumentError("a session needs at least one event")
        if pid < 0:
            raise ArgumentError(
                f"expected pid 0 (the calling thread) or the number of a process, got {pid}")
        wanted = {
            lib.PFM_SESSION_INHERIT: inherit, lib.PFM_SESSION_ENABLE_ON_EXEC: enable_on_exec,
            lib.PFM_SESSION_SYSTEM_WIDE: system_wide, lib.PFM_SESSION_DRY_RUN: dry_run,
            lib.PFM_SESSION_STRICT: strict, lib.PFM_SESSION_USER_READ: user_read,
            lib.PFM_SESSION_PER_CPU: per_cpu
        }
        options = new_struct("pfm_session_options_t")
        options.flags = combine_flags(wanted)
        options.pid, options.plm = pid, plm_mask(plm)
        keep = [
            ffi.new("char[]", c_string(s)) if s is not None else ffi.NULL for s in (cpus, backend)
        ]
        options.cpus, options.backend = keep
        options.backend_options = _backend_options if _backend_options is not None else ffi.NULL
        requested = sampling._struct() if sampling is not None else ffi.NULL
        options.sampling = requested
        self._samples = sampling is not None
        self._lock = threading.RLock()
        self._recordings: list[Recording] = []
        self._last: Reading | None = None
        self._context = (context or default_context()).with_pmu(pmu)
        self._session = self._open(self._context, options)
        self._counted = 0.0
        self._began: float | None = None
        self._values: list[dict[str, Any]] = []
        self._plan = [self._describe(i) for i in range(lib.pfm_session_size(self._session))]

    def _open(self, context: Context, options: Any) -> Any:
        out, error, ctx = ffi.new("pfm_session_t **"), new_error(), context._handle()
        raw = [ffi.new("char[]", c_string(t)) for t in self.events]
        rc = lib.pfm_open_session(out, ctx, options,
                                  ffi.new("char *[]", raw) if raw else ffi.NULL, len(raw), error)
        if rc:
            raise from_error(rc, error, ctx, self.events)
        return ffi.gc(out[0], lib.pfm_close_session)

    def _native(self) -> Any:
        session = self._session
        if session is None:
            raise ValueError("the session is closed")
        return session

    def _check(self, rc: int) -> int:
        """Called with the lock held, or by the only thread: the error number is that of the last
        failed call."""
        if rc < 0:
            err = lib.pfm_session_errno(self._native())
            code = code_of(rc)
            if err:
                raise SystemCallError(f"{code.message}: {os.strerror(err)}", code=code,
                                      kind="system", errno=err)
            raise from_code(rc)
        return rc

    def _describe(self, i: int) -> Count:
        info = new_struct("pfm_count_info_t")
        check(lib.pfm_describe_count(self._session, i, info))
        return Count(c_text(info.name), c_text(info.pmu), None,
                     0, 0, 0, Quality.NOT_COUNTED, Cause.NO_TIME, c_text(info.why),
                     c_text(info.remedy), unit=c_text(info.unit), group=info.group,
                     cpus=c_text(info.cpus), request=info.request, attr=PerfAttr._from_c(info.attr),
                     level=bool(info.is_level))

    def _count(self, i: int, c: Any) -> Count:
        """A count as read. Its quality and cause can change with every reading."""
        quality, info = Quality(c.quality), new_struct("pfm_count_info_t")
        check(lib.pfm_describe_count(self._session, i, info))
        return replace(self._plan[i], value=c.value if quality.has_value else None,
                       raw=c.raw, enabled=c.enabled, running=c.running, quality=quality,
                       cause=Cause(c.cause), why=c_text(info.why), remedy=c_text(info.remedy),
                       errno=c.sys_errno, scale=c.scale)

    # ---- counting

    def start(self: _S) -> _S:
        """Begins counting, or goes on."""
        with self._lock:
            self._check(lib.pfm_start_session(self._native()))
            self._began = self._began or time.monotonic()
        return self

    def stop(self) -> None:
        """Stops counting. Counts stay."""
        with self._lock:
            self._check(lib.pfm_stop_session(self._native()))
            self._counted, self._began = self._seconds(), None

    def reset(self) -> None:
        """Sets all counts to zero."""
        with self._lock:
            self._check(lib.pfm_reset_session(self._native()))
            self._counted, self._began = 0.0, self._began and time.monotonic()

    def select_groups(self, turns: Sequence[int], on: Iterable[int]) -> None:
        """Lets groups take turns: those of one turn count while they are in @on, all CPUs at once.

        turns  by group: groups with equal numbers share a turn, 0 for a group that always counts
               (:attr:`Schedule.turns`)
        on     numbers of the groups that count, one of each turn (an element of a
               :class:`Schedule`)

        Call it before the first start and at every change. Counts are scaled to the time of all
        groups of their turn.
        """
        chosen = set(on)
        with self._lock:
            self._check(
                lib.pfm_select_groups(
                    self._native(), ffi.new("unsigned[]", list(turns)),
                    ffi.new("unsigned char[]", [g in chosen for g in range(len(turns))]),
                    len(turns)))

    def read(self) -> Reading:
        """All counts as they are now; those of the last reading once the session is closed."""
        with self._lock:
            if self._session is None:
                return self._read_last()
            n, session = len(self._plan), self._native()
            counts = ffi.new("pfm_count_t[]", n)
            for i in range(n):
                counts[i].size = ffi.sizeof("pfm_count_t")
            self._check(lib.pfm_read_session(session, counts, n))
            self._last = Reading(self.events, [self._count(i, counts[i]) for i in range(n)],
                                 time.monotonic(), self._seconds())
            return self._last

    def read_count(self, i: int) -> Count:
        """Count number @i alone, without entering the kernel where that is possible. For the thread
        that is counted."""
        with self._lock:
            c = new_struct("pfm_count_t")
            self._check(lib.pfm_read_count(self._native(), i, c))
            return self._count(i, c)

    def intervals(self, seconds: float, n: int | None = None) -> Iterator[Reading]:
        """Counts of each interval of @seconds, as it ends; @n of them, or without end."""
        before = self.read()
        due = time.monotonic()
        while n is None or n > 0:
            due += seconds
            time.sleep(max(due - time.monotonic(), 0))
            now = self.read()
            yield now - before
            before = now
            n = None if n is None else n - 1

    def _seconds(self) -> float:
        """How long the session has counted since it was opened or reset."""
        return self._counted + (time.monotonic() - self._began if self._began else 0.0)

    def metrics(self, readings: Iterable[Reading] | None = None) -> list[dict[str, Any]]:
        """The metrics that the session's texts name: a row each, as pandas.DataFrame() takes them.

        readings   intervals or repetitions, whose differences give the error; without them the
                   counts as they are now, or as they were read last if the session is closed

        metric, pmu, text   its name, its processor, the text that asked for it
        value, unit         None where it is not defined; then state says why, and missing which
                            count has no value
        error, low, high    standard error and 95 % interval; None where one reading of scaled
                            counts has no error
        quality             the worst of its counts; across_groups: they are of several groups,
                            counted at different times
        over_threshold      worth a closer look; None where it is unknown
        plausibility        "plausible", or what is wrong with the value; then reason says why and
                            what to do
        """
        with self._lock:
            if self._session is None:
                return [dict(row) for row in self._values]
            rounds = [self.read()] if readings is None else list(readings)
            return _session_metrics(self._session, self._context, self.events, self._plan, rounds)

    @property
    def last(self) -> Reading | None:
        """The last reading that was taken, None before the first."""
        return self._last

    def plan(self) -> list[Count]:
        """The planned counts, with CPUs and attributes; nothing is read. ``attr`` is the request to
        the kernel."""
        return list(self._plan)

    # ---- as a context manager and a container

    def close(self) -> None:
        """Stops and releases everything, and closes its recordings; the last reading stays. Any
        number of times."""
        with self._lock:
            if self._session is not None and self._last is not None:
                self._values = _session_metrics(self._session, self._context, self.events,
                                                self._plan, [self._last])
            if self._session is None:
                return
            try:
                for recording in tuple(self._recordings):
                    recording.close()
            finally:
                lib.pfm_stop_session(self._session)
                self._session = None  # released as soon as no other thread is in a call of it

    @property
    def closed(self) -> bool:
        return self._session is None

    def __enter__(self: _S) -> _S:
        return self.start()

    def __exit__(self, kind: object, *exc: object) -> None:
        try:
            self.stop()
            self.read()
        except PerfmonError:
            if kind is None:
                raise
        finally:
            if not self._samples or kind is not None:
                self.close()
            for recording in tuple(self._recordings):
                recording.close()

    def _read_last(self) -> Reading:
        if self._session is not None:
            return self.read()
        if self._last is None:
            raise ValueError("the session was closed before it was read")
        return self._last

    def __getitem__(self, key: int | str) -> Count:
        """A count by number or by the event's text: as it is now, or as it was read last if the
        session is closed."""
        return self._read_last()[key]

    def __contains__(self, item: object) -> bool:
        """By the event's text, or a count itself."""
        return item in self._read_last()

    def __iter__(self) -> Iterator[Count]:
        return iter(self._read_last())

    def __len__(self) -> int:
        return len(self._plan)

    def _repr_html_(self) -> str:
        return self._read_last()._repr_html_() if not self.closed or self._last else ""

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of"
            f" {', '.join(self.events)}{', closed' if self.closed else ''}>"
        )


# ---- counting a command --------------------------------------------------------------------------


@dataclass(frozen=True)
class Finished:
    """A command that was counted. status: its exit status, or minus the signal that ended it;
    elapsed: seconds."""

    args: tuple[str, ...]
    status: int
    elapsed: float
    counts: Reading

    def __getitem__(self, key: int | str) -> Count:
        return self.counts[key]

    def __str__(self) -> str:
        return "\n".join((*map(str, self.counts), f"{self.elapsed:.6f} seconds elapsed"))

    def _repr_html_(self) -> str:
        return self.counts._repr_html_()


class _Command(Session):
    """A command that is counted from its first instruction."""

    def __init__(self, argv: Sequence[str], events: Iterable[str], **options: Any) -> None:
        self.argv = argv
        self.pid = 0
        self.began = 0.0
        super().__init__(events, **options)

    def _open(self, context: Context, options: Any) -> Any:
        out, pid = ffi.new("pfm_session_t **"), ffi.new("int *")
        error, ctx = new_error(), context._handle()
        raw = [ffi.new("char[]", c_string(t)) for t in self.events]
        words = [ffi.new("char[]", c_string(a)) for a in self.argv]
        self.began = time.monotonic()    # the call starts the command
        rc = lib.pfm_spawn_session(out, ctx, options, ffi.new("char *[]", raw), len(raw),
                                   ffi.new("char *[]", [*words, ffi.NULL]), pid, error)
        if rc == ErrorCode.SYS and error.event < 0 and error.sys_errno:  # no event is at fault
            raise OSError(error.sys_errno, os.strerror(error.sys_errno), self.argv[0])
        if rc:
            raise from_error(rc, error, ctx, self.events)
        self.pid = pid[0]
        return ffi.gc(out[0], lib.pfm_close_session)


def stat(args: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
         events: Iterable[str] = USUAL, **options: Any) -> Finished:
    """Runs a command and counts it and its children from its first instruction on.

        done = perfmon.stat(["make"])
        done.status, done["task-clock"].amount, done["instructions"] / done["cycles"]

    A text alone is a command without arguments. Without @events: time, page faults, switches,
    cycles and instructions. @options are those of :class:`Session` except pid, cpus, system_wide
    and dry_run. OSError if the command cannot be run; else as Session.
    """
    argv = [os.fspath(a) for a in ([args] if isinstance(args, (str, os.PathLike)) else args)]
    if not argv:
        raise ValueError("expected a command, got an empty list")
    session = _Command(argv, events, **{"inherit": True, **options})
    try:
        _, status = os.waitpid(session.pid, 0)
        elapsed = time.monotonic() - session.began
        session.stop()
        return Finished(tuple(argv), os.waitstatus_to_exitcode(status), elapsed, session.read())
    finally:
        session.close()
