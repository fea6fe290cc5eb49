# SPDX-License-Identifier: MIT
"""Profiles: samples added up by function and by stack, flame graphs, and the names of addresses.

    profile = perfmon.profile("perf.data")
    profile.functions()[0].function
    pandas.DataFrame(profile.functions())
    profile.flame_graph()
"""
from __future__ import annotations

import enum
import html
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Iterable, overload

from . import _tables
from ._c import ffi, lib, new_struct, read_text as c_text
from ._errors import c_string, check, from_error, new_error
from .sampling import Samples

__all__ = [
    "FlameGraph", "Frame", "FrameFlag", "Function", "FunctionTable", "Profile", "ProfileEvent",
    "ProfileLosses", "Stack", "StackTable", "Symbol", "Symbols", "profile"
]

_LABELS = {"thread": lib.PFM_LABEL_THREAD, "cpu": lib.PFM_LABEL_CPU, "cgroup": lib.PFM_LABEL_CGROUP}


class FrameFlag(enum.IntFlag):
    """Flags of functions, stacks and frames."""

    INLINED = lib.PFM_FRAME_INLINED  #: compiled into the frame after it
    KERNEL = lib.PFM_FRAME_KERNEL    #: code of the kernel
    CUT_OFF = lib.PFM_FRAME_CUT_OFF  #: callers that are missing from the call chain
    UNNAMED = lib.PFM_FRAME_UNNAMED  #: function is the address in hexadecimal


@dataclass(frozen=True)
class ProfileEvent:
    """An event of a profile. weight is the sum of the periods of its samples, in units."""

    name: str
    unit: str
    samples: int
    weight: int


@dataclass(frozen=True)
class ProfileLosses:
    """Samples that are missing from a profile."""

    complete: bool
    damaged: bool
    lost_records: int
    lost_samples: int
    throttled: int
    samples_without_event: int


@dataclass(frozen=True)
class Function:
    """A function: samples in itself, and (children) in itself or what it called. Shares are 0 to 1,
    with standard errors."""

    function: str
    object: str
    self_samples: int
    self_weight: int
    self_share: float
    self_error: float
    children_samples: int
    children_weight: int
    children_share: float
    children_error: float
    build_id: str
    flags: FrameFlag


@dataclass(frozen=True)
class Frame:
    """A frame of a stack. source is ``"file:line"``, ``""`` if unknown."""

    function: str
    object: str
    source: str
    build_id: str
    flags: FrameFlag


@dataclass(frozen=True)
class Stack:
    """A stack with its labels; frames are the innermost first. pid, tid, cpu and cgroup are None
    without the label."""

    event: str
    task: str
    pid: int | None
    tid: int | None
    cpu: int | None
    cgroup: str | None
    samples: int
    weight: int
    flags: FrameFlag
    frames: tuple[Frame, ...]


class FunctionTable(Sequence[Function]):
    """The functions of one event, the heaviest first. :class:`Function` is a dataclass, so
    ``pandas.DataFrame(profile.functions())`` has one row per function. In a notebook it shows as a
    table."""

    COLUMNS = tuple(f.name for f in fields(Function))

    def __init__(self, rows: Iterable[Function], event: ProfileEvent | None = None) -> None:
        self._rows = tuple(rows)
        self.event = event

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, key: int) -> Function: ...

    @overload
    def __getitem__(self, key: slice) -> FunctionTable: ...

    def __getitem__(self, key: int | slice) -> Function | FunctionTable:
        return FunctionTable(self._rows[key], self.event) if isinstance(key,
                                                                        slice) else self._rows[key]

    def records(self) -> list[dict[str, Any]]:
        """A dict for each function."""
        return [{c: getattr(row, c) for c in self.COLUMNS} for row in self]

    def columns(self) -> dict[str, list[Any]]:
        """A list for each column."""
        return _tables.make_columns(self.COLUMNS, self.records())

    def _repr_html_(self) -> str:
        rows = ((f.function, os.path.basename(f.object), f.self_samples,
                 f"{100 * f.self_share:.2f} ± {100 * f.self_error:.2f}",
                 f"{100 * f.children_share:.2f} ± {100 * f.children_error:.2f}") for f in self)
        caption = f"{self.event.name}: {self.event.samples} samples" if self.event else ""
        return _tables.format_table(("function", "object", "samples", "self %", "children %"), rows,
                                    ("name", "text", "number", "number", "number"), len(self),
                                    caption)

    def __repr__(self) -> str:
        return f"<FunctionTable: {len(self)} functions>"


class StackTable(Sequence[Stack]):
    """Stacks with their labels."""

    COLUMNS = ("event", "task", "pid", "tid", "cpu", "cgroup", "samples", "weight", "stack")

    def __init__(self, rows: Iterable[Stack]) -> None:
        self._rows = tuple(rows)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, key: int) -> Stack: ...

    @overload
    def __getitem__(self, key: slice) -> StackTable: ...

    def __getitem__(self, key: int | slice) -> Stack | StackTable:
        return StackTable(self._rows[key]) if isinstance(key, slice) else self._rows[key]

    def records(self) -> list[dict[str, Any]]:
        """A dict for each stack; ``stack`` has the functions, the outermost first, with ``;``
        between them."""
        plain = self.COLUMNS[:-1]
        return [{
            **{c: getattr(row, c) for c in plain}, "stack": ";".join(f.function
                                                                     for f in reversed(row.frames))
        } for row in self]

    def columns(self) -> dict[str, list[Any]]:
        """A list for each column."""
        return _tables.make_columns(self.COLUMNS, self.records())

    def _repr_html_(self) -> str:
        rows = sorted(self.records(), key=lambda r: -int(r["weight"]))
        return _tables.format_table(("event", "task", "samples", "stack"),
                                    ((r["event"], r["task"], r["samples"], r["stack"])
                                     for r in rows), ("text", "text", "number", "name"), len(self))

    def __repr__(self) -> str:
        return f"<StackTable: {len(self)} stacks>"


class FlameGraph:
    """A flame graph as an SVG image, in svg. A click on a box shows it alone. In a notebook it
    shows as itself."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        height = 30 + int(self.svg.partition(' height="')[2].partition('"')[0])
        # Scripts of an image run in a document of its own.
        return (
            f'<iframe srcdoc="{html.escape(self.svg)}" width="1230" height="{height}"'
            ' frameborder="0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<FlameGraph: {len(self.svg)} bytes>"


def _options(event: str | None, task: str | None, symbol: str | None, start: float, end: float,
             labels: Iterable[str], stacks: bool, lines: bool,
             debug_folder: str | os.PathLike[str] | None) -> tuple[Any, list[Any]]:
    """The options of C, and the strings that they refer to."""
    o = new_struct("pfm_profile_options_t")
    held: list[Any] = []
    unknown = set(labels) - set(_LABELS)
    if unknown:
        raise ValueError(
            f"expected labels of {', '.join(_LABELS)}, got {', '.join(sorted(unknown))}")
    o.labels = sum(_LABELS[name] for name in set(labels))
    o.flags = (0 if stacks else lib.PFM_PROFILE_INNERMOST) | (0 if lines else
                                                              lib.PFM_PROFILE_NO_LINES)
    o.to = end
    setattr(o, "from", start)
    folder = os.fsdecode(debug_folder) if debug_folder is not None else None
    for name, value in (("event", event), ("task", task), ("symbol", symbol), ("debug_folder",
                                                                               folder)):
        if value is not None:
            held.append(ffi.new("char[]", c_string(value)))
            setattr(o, name, held[-1])
    return o, held


class Profile:
    """Samples added up; see :func:`profile`. One thread at a time uses it.

    events    tuple of :class:`ProfileEvent`
    losses    :class:`ProfileLosses`
    messages  what limits the names, a sentence each
    """

    def __init__(self, source: str | os.PathLike[str] | Samples, options: Any) -> None:
        out, error = ffi.new("pfm_profile_t **"), new_error()
        self._session = source if isinstance(source, Samples) else None
        self._labels = int(options.labels)
        self._lock = threading.RLock()
        if isinstance(source, Samples):
            rc = lib.pfm_create_profile(out, source._native(), options, error)
        else:
            rc = lib.pfm_open_profile(out, ffi.new("char[]", os.fsencode(source)), options, error)
        if rc:
            raise from_error(rc, error, ffi.NULL, ())
        self._profile = ffi.gc(out[0], lib.pfm_close_profile)

    def update(self) -> int:
        """Adds the records that the session has now. Returns their number. For profiles of a
        session."""
        if self._session is None:
            raise ValueError("the profile is of a recording: it has all samples")
        record, n = new_struct("pfm_record_t"), 0
        with self._lock, self._session._lock:
            while self._session._check(lib.pfm_next_record(self._session._native(), record)):
                check(lib.pfm_add_profile_record(self._profile, record))
                n += 1
        return n

    def clear(self) -> None:
        """Removes all samples. For profiles of a session."""
        with self._lock:
            check(lib.pfm_clear_profile(self._profile))

    def _info(self) -> Any:
        info = new_struct("pfm_profile_info_t")
        check(lib.pfm_describe_profile(self._profile, info))
        return info

    def _event(self, i: int) -> ProfileEvent:
        e = new_struct("pfm_profile_event_t")
        check(lib.pfm_describe_profile_event(self._profile, i, e))
        return ProfileEvent(c_text(e.name), c_text(e.unit), int(e.samples), int(e.weight))

    @property
    def events(self) -> tuple[ProfileEvent, ...]:
        with self._lock:
            return tuple(self._event(i) for i in range(self._info().n_events))

    @property
    def losses(self) -> ProfileLosses:
        with self._lock:
            i = self._info()
        return ProfileLosses(bool(i.is_complete), bool(i.is_damaged), int(i.lost_records),
                             int(i.lost_samples), int(i.throttled), int(i.samples_without_event))

    @property
    def messages(self) -> tuple[str, ...]:
        out: list[str] = []
        with self._lock:
            while message := lib.pfm_get_profile_message(self._profile, len(out)):
                out.append(c_text(message))
        return tuple(out)

    def _number(self, event: str | int | None) -> int:
        """The number of the event; None: the first one with samples."""
        events = self.events
        if event is None:
            return next((i for i, e in enumerate(events) if e.samples), 0)
        if isinstance(event, int):
            if not 0 <= event < len(events):
                raise IndexError(f"expected an event from 0 to {len(events) - 1}, got {event}")
            return event
        names = [e.name for e in events]
        if event not in names:
            raise ValueError(f"expected an event of {', '.join(names)}, got {event}")
        return names.index(event)

    def functions(self, event: str | int | None = None) -> FunctionTable:
        """The functions of @event, the heaviest first; None: of the first event that has
        samples."""
        rows: list[Function] = []
        f = new_struct("pfm_function_t")
        with self._lock:
            number = self._number(event)
            while lib.pfm_describe_function(self._profile, number, len(rows),
                                            f) == lib.PFMLIB_SUCCESS:
                rows.append(
                    Function(c_text(f.function), c_text(f.object), int(f.self_samples),
                             int(f.self_weight), float(f.self_share), float(f.self_error),
                             int(f.children_samples), int(f.children_weight),
                             float(f.children_share), float(f.children_error), c_text(f.build_id),
                             FrameFlag(f.flags)))
            return FunctionTable(rows, self._event(number) if self._info().n_events else None)

    def _frames(self, stack: int, n: int) -> Iterator[Frame]:
        f = new_struct("pfm_frame_t")
        for i in range(n):
            check(lib.pfm_describe_frame(self._profile, stack, i, f))
            yield Frame(c_text(f.function), c_text(f.object), c_text(f.source), c_text(f.build_id),
                        FrameFlag(f.flags))

    def stacks(self, event: str | int | None = None) -> StackTable:
        """The stacks of @event; None: of all events."""
        rows: list[Stack] = []
        s, i = new_struct("pfm_stack_t"), 0
        with self._lock:
            number, events = None if event is None else self._number(event), self.events
            while lib.pfm_describe_stack(self._profile, i, s) == lib.PFMLIB_SUCCESS:
                if number is None or s.event == number:
                    has_thread = self._labels & lib.PFM_LABEL_THREAD
                    rows.append(
                        Stack(events[s.event].name, c_text(s.task),
                              int(s.pid) if has_thread else None,
                              int(s.tid) if has_thread else None,
                              int(s.cpu) if s.cpu >= 0 else None,
                              c_text(s.cgroup) if self._labels & lib.PFM_LABEL_CGROUP else None,
                              int(s.samples), int(s.weight), FrameFlag(s.flags),
                              tuple(self._frames(i, s.n_frames))))
                i += 1
        return StackTable(rows)

    def folded(self, event: str | int | None = None) -> str:
        """Folded stacks, ``"task;outer;inner WEIGHT"`` in each line; None: of the first event that
        has samples."""
        text, length = ffi.new("char const **"), ffi.new("size_t *")
        with self._lock:
            check(lib.pfm_fold_profile(self._profile, self._number(event), text, length))
            return bytes(ffi.buffer(text[0], length[0])).decode("utf-8", "replace")

    def flame_graph(self, event: str | int | None = None, *,
                    title: str | None = None) -> FlameGraph:
        """A flame graph; None: of the first event that has samples."""
        text, length = ffi.new("char const **"), ffi.new("size_t *")
        name = ffi.NULL if title is None else ffi.new("char[]", c_string(title))
        with self._lock:
            check(lib.pfm_draw_flame_graph(self._profile, self._number(event), name, text, length))
            return FlameGraph(bytes(ffi.buffer(text[0], length[0])).decode("utf-8", "replace"))

    def _repr_html_(self) -> str:
        return self.functions()._repr_html_()


def profile(source: str | os.PathLike[str] | Samples, *, event: str | None = None,
            task: str | None = None, symbol: str | None = None, start: float = 0.0,
            end: float = 0.0, labels: Iterable[str] = (), stacks: bool = True, lines: bool = True,
            debug_folder: str | os.PathLike[str] | None = None) -> Profile:
    """The samples of the recording @source, made by pfm record or perf record; or of a session that
    samples, which
    :meth:`Profile.update` reads.

    event, task, symbol  patterns of names that samples must have; symbol: of the function of the
                         instruction
    start, end           seconds from the first sample; end 0: until the end
    labels               keep stacks apart by ``"thread"``, ``"cpu"`` and ``"cgroup"``
    stacks               False: only the function of each instruction, without callers
    lines                False: no inlined functions and source lines, which takes less time
    debug_folder         separate debug files; None: /usr/lib/debug
    """
    options, held = _options(event, task, symbol, start, end, labels, stacks, lines, debug_folder)
    made = Profile(source, options)
    del held
    return made


@dataclass(frozen=True)
class Symbol:
    """The function at an address. start and end are in addresses of the file, 0 if unknown;
    inlined: the outermost first."""

    function: str
    object: str
    inlined: tuple[str, ...]
    source: str
    build_id: str
    start: int
    end: int
    address: int


class Symbols:
    """Names of addresses in files, in processes that run and in the kernel. A result is None where
    nothing has a name."""

    def __init__(self, debug_folder: str | os.PathLike[str] | None = None) -> None:
        out = ffi.new("pfm_symbols_t **")
        check(
            lib.pfm_open_symbols(
                out,
                ffi.NULL if debug_folder is None else ffi.new("char[]", os.fsencode(debug_folder))))
        self._symbols = ffi.gc(out[0], lib.pfm_close_symbols)
        self._lock = threading.Lock()

    def _find(self, call: Any, *args: Any) -> Symbol | None:
        s = new_struct("pfm_symbol_t")
        with self._lock:
            rc = call(self._symbols, *args, s)
            if rc == lib.PFMLIB_ERR_NOTFOUND:
                return None
            check(rc)
            inlined = c_text(s.inlined)
            return Symbol(c_text(s.function), c_text(s.object),
                          tuple(inlined.split(";")) if inlined else (), c_text(s.source),
                          c_text(s.build_id), int(s.start), int(s.end), int(s.address))

    def find(self, address: int, pid: int | None = None) -> Symbol | None:
        """The function at @address of process @pid; None: this process."""
        return self._find(lib.pfm_find_symbol, os.getpid() if pid is None else pid, address)

    def find_in_file(self, path: str | os.PathLike[str], offset: int) -> Symbol | None:
        """The function at byte @offset of a file."""
        return self._find(lib.pfm_find_file_symbol, ffi.new("char[]", os.fsencode(path)), offset)

    def find_in_kernel(self, address: int) -> Symbol | None:
        """The function of the running kernel; None also if /proc/kallsyms hides addresses."""
        return self._find(lib.pfm_find_kernel_symbol, address)
