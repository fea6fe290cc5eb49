# SPDX-License-Identifier: MIT
"""Samples: what a session returns beside its counts."""
from __future__ import annotations

import enum
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _bulk
from ._c import ffi, lib, new_struct, read_text as c_text
from ._errors import c_string, from_code, from_error, new_error

if TYPE_CHECKING:
    from .session import Cause, Quality

__all__ = [
    "Buffers", "Record", "RecordType", "Recorded", "Recording", "Sample", "SampleStatistics",
    "Sampling", "Sideband", "TraceField"
]


class Sample(enum.IntFlag):
    """Fields of a sample."""

    IP = lib.PFM_SAMPLE_IP
    TID = lib.PFM_SAMPLE_TID
    TIME = lib.PFM_SAMPLE_TIME
    ADDR = lib.PFM_SAMPLE_ADDR
    READ = lib.PFM_SAMPLE_READ
    CHAIN = lib.PFM_SAMPLE_CHAIN
    ID = lib.PFM_SAMPLE_ID
    CPU = lib.PFM_SAMPLE_CPU
    PERIOD = lib.PFM_SAMPLE_PERIOD
    STREAM = lib.PFM_SAMPLE_STREAM
    RAW = lib.PFM_SAMPLE_RAW
    BRANCH = lib.PFM_SAMPLE_BRANCH
    REGS = lib.PFM_SAMPLE_REGS
    STACK = lib.PFM_SAMPLE_STACK
    WEIGHT = lib.PFM_SAMPLE_WEIGHT
    SOURCE = lib.PFM_SAMPLE_SOURCE
    IDENTIFIER = lib.PFM_SAMPLE_IDENTIFIER
    TRANSACTION = lib.PFM_SAMPLE_TRANSACTION
    INTR_REGS = lib.PFM_SAMPLE_INTR_REGS
    PHYS_ADDR = lib.PFM_SAMPLE_PHYS_ADDR
    AUX = lib.PFM_SAMPLE_AUX
    CGROUP = lib.PFM_SAMPLE_CGROUP
    DATA_PAGE = lib.PFM_SAMPLE_DATA_PAGE
    CODE_PAGE = lib.PFM_SAMPLE_CODE_PAGE
    WEIGHTS = lib.PFM_SAMPLE_WEIGHTS


class Sideband(enum.IntFlag):
    """Side-band records: those that come beside samples."""

    MAPS = lib.PFM_SIDEBAND_MAPS
    DATA_MAPS = lib.PFM_SIDEBAND_DATA_MAPS
    BUILD_ID = lib.PFM_SIDEBAND_BUILD_ID
    COMM = lib.PFM_SIDEBAND_COMM
    TASKS = lib.PFM_SIDEBAND_TASKS
    SWITCHES = lib.PFM_SIDEBAND_SWITCHES
    NAMESPACES = lib.PFM_SIDEBAND_NAMESPACES
    KSYMBOLS = lib.PFM_SIDEBAND_KSYMBOLS
    BPF = lib.PFM_SIDEBAND_BPF
    CGROUPS = lib.PFM_SIDEBAND_CGROUPS
    TEXT_POKE = lib.PFM_SIDEBAND_TEXT_POKE
    USUAL = lib.PFM_SIDEBAND_USUAL


class RecordType(enum.IntEnum):
    """Types of records."""

    MAP = lib.PFM_RECORD_MAP
    LOST = lib.PFM_RECORD_LOST
    COMM = lib.PFM_RECORD_COMM
    EXIT = lib.PFM_RECORD_EXIT
    THROTTLE = lib.PFM_RECORD_THROTTLE
    UNTHROTTLE = lib.PFM_RECORD_UNTHROTTLE
    FORK = lib.PFM_RECORD_FORK
    READ = lib.PFM_RECORD_READ
    SAMPLE = lib.PFM_RECORD_SAMPLE
    MAP2 = lib.PFM_RECORD_MAP2
    AUX = lib.PFM_RECORD_AUX
    ITRACE_START = lib.PFM_RECORD_ITRACE_START
    LOST_SAMPLES = lib.PFM_RECORD_LOST_SAMPLES
    SWITCH = lib.PFM_RECORD_SWITCH
    SWITCH_CPU = lib.PFM_RECORD_SWITCH_CPU
    NAMESPACES = lib.PFM_RECORD_NAMESPACES
    KSYMBOL = lib.PFM_RECORD_KSYMBOL
    BPF = lib.PFM_RECORD_BPF
    CGROUP = lib.PFM_RECORD_CGROUP
    TEXT_POKE = lib.PFM_RECORD_TEXT_POKE
    AUX_ID = lib.PFM_RECORD_AUX_ID
    DEFERRED_CHAIN = lib.PFM_RECORD_DEFERRED_CHAIN


@dataclass(frozen=True)
class Sampling:
    """How a session samples. What is left at 0 is the usual.

    period, freq   a sample for so many events, or so many a second; a text such as
                   "cycles:period=1000" comes before both
    fields         mask of Sample; records: mask of Sideband
    pages          of each buffer, a power of two; watermark: bytes that wake a reader;
                   wakeup_events: or samples
    max_stack      frames of a call chain; user_chain: of user code only
    precise        0 to 3; less_precise: less may be granted
    clock          clock id of the times, None for CLOCK_MONOTONIC
    """

    period: int = 0
    freq: int = 0
    fields: int = 0
    records: int = 0
    clock: int | None = None
    pages: int = 0
    watermark: int = 0
    wakeup_events: int = 0
    max_stack: int = 0
    branch_filter: int = 0
    user_regs: int = 0
    intr_regs: int = 0
    user_stack: int = 0
    precise: int = 0
    less_precise: bool = False
    user_chain: bool = False

    def _struct(self) -> Any:
        out = new_struct("pfm_sampling_t")
        for name in ("period", "freq", "fields", "records", "pages", "watermark", "wakeup_events",
                     "max_stack", "branch_filter", "user_regs", "intr_regs", "user_stack",
                     "precise"):
            setattr(out, name, int(getattr(self, name)))
        out.flags = (lib.PFM_SAMPLING_LESS_PRECISE * self.less_precise
                     | lib.PFM_SAMPLING_USER_CHAIN * self.user_chain | lib.PFM_SAMPLING_CLOCK *
                     (self.clock is not None))
        out.clock = self.clock or 0
        return out


@dataclass(frozen=True)
class TraceField:
    """A field in the own bytes of a tracepoint's samples: its name and its place. With dynamic, the
    bytes at that place give the place of the value."""

    name: str
    type: str
    offset: int
    length: int
    signed: bool
    array: bool
    dynamic: bool


@dataclass(frozen=True)
class Record:
    """One record. Fields that it does not have are None.

    type       RecordType, or a plain number for a type that is not among them; raw: its bytes then
    event      number of the count it belongs to, None for none
    chain      addresses from the innermost outwards, marks between kernel and user left out
    chain_cut  it has as many as were allowed: the outermost may be missing
    data       a tracepoint's own bytes
    fields     what they mean, by name: numbers, strings for char[], bytes for other arrays
    values     words of a count that was read (RecordType.READ); on an Alpha's ProfileMe: 2,
               statistic, retired
    """

    type: int
    misc: int
    event: int | None = None
    time: int | None = None
    pid: int | None = None
    tid: int | None = None
    cpu: int | None = None
    ip: int | None = None
    addr: int | None = None
    period: int | None = None
    weight: int | None = None
    phys_addr: int | None = None
    chain: tuple[int, ...] | None = None
    chain_cut: bool = False
    data: bytes | None = None
    fields: dict[str, int | str | bytes] | None = None
    stack: bytes | None = None
    name: str | None = None
    start: int | None = None
    length: int | None = None
    offset: int | None = None
    build_id: bytes | None = None
    ppid: int | None = None
    lost: int | None = None
    values: tuple[int, ...] | None = None
    raw: bytes = field(default=b"", repr=False)

    @property
    def kernel(self) -> bool:
        """It was taken in the kernel."""
        return bool(self.misc & lib.PFM_MISC_MODE == lib.PFM_MISC_KERNEL)

    @property
    def exact(self) -> bool:
        """A sample: ip is the very instruction."""
        return self.type == RecordType.SAMPLE and bool(self.misc & lib.PFM_MISC_EXACT)


_COMMON = (("time", lib.PFM_SAMPLE_TIME), ("pid", lib.PFM_SAMPLE_TID), ("tid", lib.PFM_SAMPLE_TID),
           ("cpu", lib.PFM_SAMPLE_CPU))
_SAMPLE = (("ip", lib.PFM_SAMPLE_IP), ("addr", lib.PFM_SAMPLE_ADDR), ("period",
                                                                      lib.PFM_SAMPLE_PERIOD),
           ("weight", lib.PFM_SAMPLE_WEIGHT | lib.PFM_SAMPLE_WEIGHTS), ("phys_addr",
                                                                        lib.PFM_SAMPLE_PHYS_ADDR))
_COLUMNS = {name: ("uint32" if name in ("pid", "tid", "cpu", "event") else "uint64")
            for name in ("event", *(n for n, _ in _COMMON), *(n for n, _ in _SAMPLE))}

_AT_ONCE = 256


def _place(name: str) -> tuple[int, str]:
    """Where a member is in pfm_record_t, and its kind."""
    path = ("body", "sample", name) if any(name == n for n, _ in _SAMPLE) else (name,)
    return ffi.offsetof("pfm_record_t", *path), _COLUMNS.get(name, "uint32")


def _sample_parts(r: Any) -> dict[str, Any]:
    s = r.body.sample
    out: dict[str, Any] = {}
    if r.has & lib.PFM_SAMPLE_CHAIN:
        out["chain"] = tuple(a for a in ffi.unpack(s.chain, s.n_chain)
                             if a < lib.PFM_CHAIN_MARKER) if s.n_chain else ()
        out["chain_cut"] = bool(r.truncated & lib.PFM_TRUNCATED_CHAIN)
    if r.has & lib.PFM_SAMPLE_RAW:
        out["data"] = bytes(ffi.buffer(s.raw, s.raw_size)) if s.raw_size else b""
    if r.has & lib.PFM_SAMPLE_STACK:
        out["stack"] = bytes(ffi.buffer(s.stack, s.stack_used)) if s.stack_used else b""
    return out


def _side_parts(r: Any) -> dict[str, Any]:
    if r.type in (lib.PFM_RECORD_MAP, lib.PFM_RECORD_MAP2):
        m = r.body.map
        build_id = bytes(ffi.buffer(m.build_id, m.build_id_size)) if m.build_id_size else None
        return {
            "name": c_text(m.name), "start": m.start, "length": m.length, "offset": m.offset,
            "build_id": build_id
        }
    if r.type == lib.PFM_RECORD_COMM:
        return {"name": c_text(r.body.comm.name)}
    if r.type in (lib.PFM_RECORD_FORK, lib.PFM_RECORD_EXIT):
        return {"ppid": r.body.task.ppid}
    if r.type in (lib.PFM_RECORD_LOST, lib.PFM_RECORD_LOST_SAMPLES):
        return {"lost": r.body.lost.lost}
    if r.type == lib.PFM_RECORD_READ:
        return {
            "values": tuple(ffi.unpack(r.body.read.words, r.body.read.n)) if r.body.read.n else ()
        }
    return {}


_FIELD_BITS = (lib.PFM_TRACE_SIGNED, lib.PFM_TRACE_ARRAY, lib.PFM_TRACE_DYNAMIC)


def _value(f: Any, number: int, raw: bytes) -> int | str | bytes:
    if not f.flags & (lib.PFM_TRACE_ARRAY | lib.PFM_TRACE_DYNAMIC):
        return number - (1 << 64) if f.flags & lib.PFM_TRACE_SIGNED and number >> 63 else number
    return raw.partition(b"\0")[0].decode(errors="replace") if c_text(f.type) == "char" else raw


def _record(r: Any, fields: dict[str, int | str | bytes] | None) -> Record:
    """A copy: what @r points to is gone with the next call."""
    parts: dict[str, Any] = {name: getattr(r, name) for name, bit in _COMMON if r.has & bit}
    if fields:
        parts["fields"] = fields
    if r.type == lib.PFM_RECORD_SAMPLE:
        parts.update((name, getattr(r.body.sample, name)) for name, bit in _SAMPLE if r.has & bit)
        parts.update(_sample_parts(r))
    else:
        parts.update(_side_parts(r))
    known = r.type in RecordType._value2member_map_
    if not known:
        parts["raw"] = bytes(ffi.buffer(r.raw, r.raw_size))
    event = None if r.event == lib.PFM_NO_EVENT else r.event
    return Record(RecordType(r.type) if known else r.type, r.misc, event, **parts)


@dataclass(frozen=True)
class SampleStatistics:
    """Statistics of one event's samples; lost is None where the kernel does not report it."""

    quality: Quality
    cause: Cause
    samples: int
    lost: int | None
    discarded: int
    throttled: int
    throttled_ns: int
    exact: int
    weight: int
    count: int
    period: int
    freq: int
    precise: int


@dataclass(frozen=True)
class Buffers:
    """The buffers between the kernel and a session."""

    n: int
    pages: int
    wanted: int
    lost: int
    bytes: int
    damaged: int


class Samples:
    """The part of a session that samples. Only with the argument @sampling."""

    _lock: Any
    _recordings: list[Recording]

    def _native(self) -> Any:
        raise NotImplementedError

    def _check(self, rc: int) -> int:
        raise NotImplementedError

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until there are records, or until @seconds have gone. False when every sampled task
        has ended and all is read."""
        timeout = -1 if seconds is None else round(seconds * 1000)
        return bool(
            self._check(lib.pfm_wait_session(self._native(), timeout)) != lib.PFM_WAIT_ENDED)

    def trace_fields(self, i: int = 0) -> tuple[TraceField, ...]:
        """The fields of the tracepoint that count number @i samples; empty for another event or
        without a description."""
        return tuple(
            TraceField(c_text(f.name), c_text(f.type), f.offset, f.length,
                       *(bool(f.flags & bit) for bit in _FIELD_BITS))
            for f in self._list_trace_fields(i))

    def _list_trace_fields(self, i: int) -> list[Any]:
        known: dict[int, list[Any]] = self.__dict__.setdefault("_known_fields", {})
        if i not in known:
            known[i], f = [], new_struct("pfm_trace_field_t")
            while lib.pfm_describe_trace_field(self._native(), i, len(known[i]),
                                               f) == lib.PFMLIB_SUCCESS:
                known[i].append(f)
                f = new_struct("pfm_trace_field_t")
        return known[i]

    def _trace_values(self, r: Any) -> dict[str, int | str | bytes] | None:
        """A tracepoint's own bytes by the names of its fields."""
        if (
            r.type != lib.PFM_RECORD_SAMPLE
            or not r.has & lib.PFM_SAMPLE_RAW
            or r.event == lib.PFM_NO_EVENT
        ):
            return None
        number, at, length, out = ffi.new("uint64_t *"), ffi.new("void const **"), ffi.new(
            "uint32_t *"), {}
        for f in self._list_trace_fields(r.event):
            if lib.pfm_read_trace_field(self._native(), r, f, number, at,
                                        length) == lib.PFMLIB_SUCCESS:
                out[c_text(f.name)] = _value(f, number[0], bytes(ffi.buffer(at[0], length[0])))
        return out or None

    def records(self) -> Iterator[Record]:
        """The records that are there now, the oldest first."""
        r = new_struct("pfm_record_t")
        while record := self._next(r):
            yield record

    def _next(self, r: Any) -> Record | None:
        with self._lock:  # what @r points to is another thread's with its next call
            return _record(r, self._trace_values(r)) if self._check(
                lib.pfm_next_record(self._native(), r)) else None

    def columns(self, *names: str) -> dict[str, Any]:
        """The samples that are there now, as a column of numbers for each of @names: numpy.ndarray,
        or array.array without numpy.

        Names: event, time, pid, tid, cpu, ip, addr, period, weight, phys_addr. What a sample does
        not have is 0.
        """
        unknown = set(names) - set(_COLUMNS)
        if unknown or not names:
            raise ValueError(f"expected columns of {', '.join(_COLUMNS)}" +
                             (f", got {', '.join(sorted(unknown))}" if unknown else ""))
        records, size = ffi.new("pfm_record_t[]", _AT_ONCE), ffi.sizeof("pfm_record_t")
        records[0].size = size
        places = [_place("type"), *(_place(name) for name in names)]
        parts: list[tuple[Any, ...]] = []
        while n := self._many(records):
            kinds, *part = _bulk.copy_members(ffi.buffer(records, n * size), size, places)
            parts.append(
                tuple(_bulk.select_where(values, kinds, lib.PFM_RECORD_SAMPLE) for values in part))
        return {
            name: _bulk.join_columns((part[i] for part in parts), _COLUMNS[name])
            for i, name in enumerate(names)
        }

    def _many(self, records: Any) -> int:
        with self._lock:
            return self._check(lib.pfm_next_records(self._native(), records, _AT_ONCE))

    def bytes(self) -> Iterator[bytes]:
        """The buffers' contents, undecoded, a piece at a time; not to be mixed with records()."""
        at, size = ffi.new("void const **"), ffi.new("size_t *")
        while True:
            with self._lock:
                if not self._check(lib.pfm_next_bytes(self._native(), at, size, ffi.NULL)):
                    return
                piece = bytes(ffi.buffer(at[0], size[0]))
            yield piece

    def sampled(self, i: int = 0) -> SampleStatistics:
        """Statistics of the samples of count number @i."""
        from .session import Cause, Quality
        c = new_struct("pfm_sample_statistics_t")
        with self._lock:
            self._check(lib.pfm_sampling_statistics(self._native(), i, c))
        lost = None if c.lost == lib.PFM_LOST_UNKNOWN else c.lost
        return SampleStatistics(Quality(c.quality), Cause(c.cause), c.samples, lost, c.discarded,
                                c.throttled, c.throttled_ns, c.exact, c.weight, c.count, c.period,
                                c.freq, c.precise)

    def buffers(self) -> Buffers:
        """How many buffers there are, and how large."""
        b = new_struct("pfm_buffer_info_t")
        self._check(lib.pfm_buffer_statistics(self._native(), b))
        return Buffers(b.n, b.pages, b.wanted, b.lost, b.bytes, b.damaged)

    def filenos(self) -> list[int]:
        """Descriptors that an event loop polls for input, one for each buffer."""
        session = self._native()
        n = lib.pfm_session_fds(session, ffi.NULL, 0)
        fds = ffi.new("int[]", n)
        return list(fds[0:min(n, lib.pfm_session_fds(session, fds, n))])

    def signal(self, signo: int) -> None:
        """Sends this thread a signal with each sample; 0: no longer."""
        self._check(lib.pfm_signal_session(self._native(), signo))


class Recording:
    """Writes what a session samples to a file, perf.data, as perf record does:

        with perfmon.Recording(session, "perf.data") as r:
            while session.wait(0.1):
                r.write()

    With compress, 1 (fast) to 22 (small), it is compressed by zstd; PerfmonError where the machine
    has no libzstd. The file is readable up to the last write(), whatever happens. Do not take
    records of the session otherwise.
    """

    def __init__(self, session: Samples, path: str | os.PathLike[str], command: Sequence[str] = (),
                 compress: int = 0) -> None:
        out, error = ffi.new("pfm_recording_t **"), new_error()
        line = ffi.new("char[]", c_string("\n".join(command)))
        rc = lib.pfm_create_recording(out, ffi.new("char[]", os.fsencode(path)), session._native(),
                                      line, error)
        if rc:
            raise from_error(rc, error, ffi.NULL, ())
        self._session, self._recording = session, out[0]
        session._recordings.append(self)
        if compress:
            rc = lib.pfm_compress_recording(self._recording, compress)
            if rc:
                self.close()
            self._session._check(rc)

    def write(self) -> int:
        """Moves what the buffers hold to the file. Returns the file's size."""
        size = ffi.new("uint64_t *")
        with self._session._lock:
            if not self._recording:
                raise ValueError("the recording is closed")
            self._session._check(lib.pfm_write_records(self._recording, size))
        return int(size[0])

    def close(self) -> None:
        """Writes the rest; so does the session's close(). Any number of times."""
        with self._session._lock:
            recording, self._recording = self._recording, ffi.NULL
            if recording:
                self._session._recordings.remove(self)
                self._session._check(lib.pfm_close_recording(recording))

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Recorded(Samples):
    """A recording that is read, ours or perf's: records(), columns(), and the names of its
    events."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        out, error = ffi.new("pfm_session_t **"), new_error()
        rc = lib.pfm_open_recording(out, ffi.new("char[]", os.fsencode(path)), error)
        if rc:
            raise from_error(rc, error, ffi.NULL, ())
        self._lock = threading.RLock()
        self._session = ffi.gc(out[0], lib.pfm_close_session)
        self.events = tuple(self._name(i) for i in range(lib.pfm_session_size(out[0])))

    def _name(self, i: int) -> str:
        info = new_struct("pfm_count_info_t")
        self._check(lib.pfm_describe_count(self._session, i, info))
        return c_text(info.name)

    def _native(self) -> Any:
        return self._session

    def _check(self, rc: int) -> int:
        if rc < 0:
            raise from_code(rc)
        return rc
