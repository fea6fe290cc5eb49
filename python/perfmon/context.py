# SPDX-License-Identifier: MIT
"""Contexts: a set of processors, those built in, those from image files, and those the running
kernel shows."""
from __future__ import annotations

import enum
import fnmatch
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from . import _bulk, _tables
from ._c import ffi, lib, new_struct, plm_mask, read_text as c_text
from ._errors import ArgumentError, ErrorCode, PerfmonError, UnknownEventError, UnknownPmuError, \
    c_string, check, from_code, \
    from_error, new_error, texts_of
from .event import MAX_TEXT, Dialect, Erratum, Event, EventFlag, EventInfo, Register, Rule, \
    counter_name, encode, make_erratum
from .metric import Metric

if TYPE_CHECKING:
    from .dispatch import Dispatch
    from .session import Session

_WILDCARDS = set("*?[")

__all__ = ["Context", "CpuInfo", "DecodedField", "DecodedRegister", "EncodingTable", "Pmu",
           "PmuFlag", "default_context", "library_version"]


class PmuFlag(enum.IntFlag):
    """Properties of a PMU."""

    HOST = lib.PFM_PMU_HOST          #: this machine has it
    UNCORE = lib.PFM_PMU_UNCORE      #: counts for a package, not for a task
    FALLBACK = lib.PFM_PMU_FALLBACK  #: serves a processor whose own list is missing
    KERNEL = lib.PFM_PMU_KERNEL      #: the kernel shows it: can be counted here
    CORE = lib.PFM_PMU_CORE          #: a processor core's
    HIDDEN = lib.PFM_PMU_HIDDEN      #: another spelling of a listed one
    NEAREST = lib.PFM_PMU_NEAREST    #: a fallback that is the list of another member of the family


@dataclass(frozen=True)
class DecodedField:
    """A field of a register value. text is its meaning: a word, the name of an event, or ``""``."""

    name: str
    value: int
    text: str


@dataclass(frozen=True)
class DecodedRegister:
    """A register value taken apart. events: those whose registers have this value, in the vendor's
    dialect."""

    register: str
    value: int
    fields: tuple[DecodedField, ...]
    events: tuple[str, ...]

    def __getitem__(self, name: str) -> int:
        """Value of the field called @name."""
        for field in self.fields:
            if field.name == name:
                return field.value
        raise KeyError(name)


@dataclass(frozen=True)
class DecodedEvent:
    """An event that a set of registers counts.

    register    its control register
    counter     its counter, None if unknown; fixed counter n is 32 + n
    enabled     its bit of GLOBAL_CTRL; None if the set lacks that register
    candidates  the event; several if the registers do not distinguish them, the most likely first;
                none if no event fits
    """

    register: Register
    counter: int | None
    enabled: bool | None
    candidates: tuple[str, ...]

    @property
    def ambiguous(self) -> bool:
        """True if the registers represent more than one event."""
        return len(self.candidates) > 1

    @classmethod
    def _group(cls, regs: Sequence[Register], out: Any, n: int) -> Iterator[DecodedEvent]:
        at = 0
        while at < n:
            e, step = out[at], max(1, out[at].n_candidates)
            texts = tuple(c_text(out[at + k].text) for k in range(out[at].n_candidates))
            yield cls(regs[e.reg],
                      int(e.counter) if e.counter >= 0 else None,
                      bool(e.enabled) if e.enabled >= 0 else None, texts)
            at += step


@dataclass(frozen=True)
class CpuInfo:
    """Where a CPU is: its core within the die, the die within the socket, the socket, and the node
    of memory. None where the kernel exports no number."""

    core: int | None
    die: int | None
    socket: int | None
    node: int | None


class EncodingTable:
    """Many events, each encoded alone, a column for each quantity.

    Columns are numpy arrays where numpy is installed, else ``array.array``; ``name`` and ``why``
    are tuples. Of a processor, row i is event i; of encode_many(), it is text i. Where ``code`` is
    not 0 (:class:`ErrorCode`) the event cannot be encoded alone, mostly because it requires a unit
    mask, and the row is 0.

    name      of the event, or the text that was asked for
    why       the refusal as a sentence, ``""`` if missing; of encode_many() alone
    code      result code
    addr, value  first control register
    counters  mask of counters; fixed counter n is bit 32 + n
    config, config1, config2  perf_event_attr
    """

    COLUMNS = ("code", "addr", "value", "counters", "config", "config1", "config2")

    def __init__(self, columns: dict[str, Any], name: Sequence[str],
                 why: Sequence[str] = ()) -> None:
        self.name = tuple(name)
        self.why = tuple(why) or ("",) * len(self.name)
        self.code = columns["code"]
        self.addr = columns["addr"]
        self.value = columns["value"]
        self.counters = columns["counters"]
        self.config = columns["config"]
        self.config1 = columns["config1"]
        self.config2 = columns["config2"]

    def columns(self) -> dict[str, Any]:
        """All columns by name: ``pandas.DataFrame(table.columns())``."""
        return {"name": self.name, "why": self.why, **{c: getattr(self, c) for c in self.COLUMNS}}

    def records(self) -> list[dict[str, Any]]:
        """A dict for each row, of Python's own numbers."""
        return _tables.make_records(self.columns())

    def __len__(self) -> int:
        return len(self.code)

    def _repr_html_(self) -> str:
        rows = ((r["name"], f"{r['addr']:#x}", f"{r['value']:#x}", f"{r['config']:#x}",
                 f"{r['counters']:#x}", r["why"] or "") for r in self.records()[:_tables.SHOWN])
        return _tables.format_table(("event", "register", "value", "config", "counters", "why not"),
                                    rows, ("name", "number", "number", "number", "number", "text"),
                                    len(self))


class _EncodingRows:
    """Columns of encodings while they grow."""

    def __init__(self) -> None:
        self.columns: dict[str, list[int]] = {name: [] for name in EncodingTable.COLUMNS}

    def add(self, code: int, e: Any) -> None:
        reg = e.regs[0] if not code and e.n_regs else None
        a = e.attr
        row = (code, reg.addr if reg else 0, reg.value if reg else 0,
               *((0, 0, 0, 0) if code else (e.counters, a.config, a.config1, a.config2)))
        for values, value in zip(self.columns.values(), row):
            values.append(value)

    def table(self, name: Sequence[str], why: Sequence[str] = ()) -> EncodingTable:
        columns = {
            c: _bulk.make_column(v, "int32" if c == "code" else "uint64")
            for c, v in self.columns.items()
        }
        return EncodingTable(columns, name, why)


class _Features(Mapping[str, "str | int"]):
    """Capabilities and versions of a processor: a word where there is one, else a number."""

    def __init__(self, items: dict[str, str | int]) -> None:
        self._items = items

    def __getitem__(self, name: str) -> str | int:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)


class EventTable(Sequence[EventInfo]):
    """Events as rows of a table: a sequence of :class:`EventInfo`, which are dataclasses, so
    ``pandas.DataFrame(events(...))`` has one row per event. In a notebook it shows as a table."""

    COLUMNS = ("pmu", "name", "description", "code", "counters", "precise", "unit")

    def __init__(self, rows: Sequence[EventInfo]) -> None:
        self._rows = tuple(rows)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, key: int) -> EventInfo: ...

    @overload
    def __getitem__(self, key: slice) -> EventTable: ...

    def __getitem__(self, key: int | slice) -> EventInfo | EventTable:
        return EventTable(self._rows[key]) if isinstance(key, slice) else self._rows[key]

    def records(self) -> list[dict[str, Any]]:
        """A dict for each event."""
        return [{c: getattr(row, c) for c in self.COLUMNS} for row in self]

    def columns(self) -> dict[str, list[Any]]:
        """A list for each column."""
        return _tables.make_columns(self.COLUMNS, self.records())

    def _repr_html_(self) -> str:
        rows = ((e.pmu, e.name, e.description, f"{e.code:#x}",
                 " ".join(map(counter_name, e.counters)), e.precise, e.unit) for e in self)
        return _tables.format_table(self.COLUMNS, rows,
                                    ("text", "name", "text", "number", "text", "number", "text"),
                                    len(self))

    def __repr__(self) -> str:
        return f"<EventTable: {len(self)} events>" if self else "<EventTable: no event matches>"


class Events(Sequence[EventInfo]):
    """The rows of a processor's table, by number or by name."""

    def __init__(self, pmu: Pmu, n: int) -> None:
        self._pmu = pmu
        self._n = n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, key: int | str) -> EventInfo: ...

    @overload
    def __getitem__(self, key: slice) -> Sequence[EventInfo]: ...

    def __getitem__(self, key: int | str | slice) -> EventInfo | Sequence[EventInfo]:
        pmu = self._pmu
        if isinstance(key, str):
            return pmu._context.find(f"{pmu.name}::{key}")
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(self._n))]
        index = key + self._n if key < 0 else key
        if not 0 <= index < self._n:
            raise IndexError(f"{pmu.name} has {self._n} events")
        return EventInfo(pmu._context, pmu.index, index, pmu.name)

    def __contains__(self, item: object) -> bool:
        if isinstance(item, str):
            try:
                self[item]
            except PerfmonError:
                return False
            return True
        return isinstance(item, EventInfo) and item.pmu == self._pmu.name and item.index < self._n


@dataclass(init=False, eq=False, repr=False)
class Pmu:
    """A processor, one of its units, or events of the kernel itself.

    name, description
    aliases      other names
    origin       ``"built in"``, ``"kernel"``, or the path of the image
    source       where its facts come from
    device       the kernel's name for it, ``""`` if unknown
    flags        :class:`PmuFlag`
    type         perf_event_attr.type on this machine, None if the kernel does not show it
    libpfm_type  PFMLIB_*_PMU, or None
    n_events     events of its table; ``len()`` is the same
    n_counters, n_fixed  counters for any event, and for one event each
    width        bits of general counter 0
    n_instances  units of it on this machine
    cpus         CPU list it serves on this machine, ``""`` for all or unknown
    """

    index: int
    name: str
    description: str
    aliases: tuple[str, ...]
    origin: str
    source: str
    device: str
    flags: PmuFlag
    type: int | None
    libpfm_type: int | None
    n_events: int
    n_counters: int
    n_fixed: int
    width: int
    n_instances: int
    cpus: str

    def __init__(self, context: Context, index: int) -> None:
        info = new_struct("perfmon_pmu_info_t")
        check(lib.pfm_describe_pmu(context._handle(), index, info))
        self._context = context
        self.index = index
        self.name = c_text(info.name)
        self.description = c_text(info.desc)
        self.aliases = tuple(c_text(info.aliases).split())
        self.origin = c_text(info.origin)
        self.source = c_text(info.source)
        self.device = c_text(info.device)
        self.flags = PmuFlag(info.flags)
        self.type = int(info.type) if info.type >= 0 else None
        self.libpfm_type = int(info.libpfm_type) if info.libpfm_type >= 0 else None
        self.n_events = int(info.n_events)
        self.n_counters = int(info.n_counters)
        self.n_fixed = int(info.n_fixed)
        self.width = int(info.width)
        self.n_instances = int(info.n_instances)
        self.cpus = c_text(info.cpus)
        self.events = Events(self, info.n_events)

    @property
    def errata(self) -> tuple[Erratum, ...]:
        """Errata of the processor."""
        ctx, e, out = self._context._handle(), new_struct("pfm_erratum_t"), list[Erratum]()
        while lib.pfm_describe_erratum(ctx, self.index, len(out), e) == 0:
            out.append(make_erratum(e, self._events_of_erratum(len(out), e.n_events)))
        return tuple(out)

    def _events_of_erratum(self, erratum: int, n: int) -> tuple[int, ...]:
        ctx, event, out = self._context._handle(), ffi.new("unsigned *"), list[int]()
        for k in range(n):
            if lib.pfm_describe_erratum_event(ctx, self.index, erratum, k, event) == 0:
                out.append(int(event[0]))
        return tuple(out)

    @cached_property
    def features(self) -> Mapping[str, str | int]:
        """Capabilities and versions."""
        ctx, items, i = self._context._handle(), {}, 0
        name, word, value = ffi.new("char *[1]"), ffi.new("char *[1]"), ffi.new("uint64_t *")
        while lib.pfm_describe_feature(ctx, self.index, i, name, word, value) == ErrorCode.SUCCESS:
            items[c_text(name[0])] = c_text(word[0]) or int(value[0])
            i += 1
        return _Features(items)

    @cached_property
    def registers(self) -> tuple[str, ...]:
        """Names of the registers that decode() takes."""
        ctx, name, out = self._context._handle(), ffi.new("char[]", 32), list[str]()
        while lib.pfm_describe_register(ctx, self.index, len(out), name, 32) == ErrorCode.SUCCESS:
            out.append(c_text(name))
        return tuple(out)

    @cached_property
    def levels(self) -> dict[str, tuple[int, bool]]:
        """Words for privilege levels: the mask of :class:`Plm`, 0 for the hypervisor's, and whether
        it is counted by default."""
        ctx, word, plm, default, out = self._context._handle(), ffi.new("char *[1]"), ffi.new(
            "unsigned *"), ffi.new("int *"), {}
        i = 0
        while lib.pfm_describe_privilege_level(ctx, self.index, i, word, plm,
                                               default) == ErrorCode.SUCCESS:
            out[c_text(word[0])] = int(plm[0]), bool(default[0])
            i += 1
        return out

    def words(self, field: str) -> dict[str, int]:
        """Names of a field's values: of a trait (``"accepts"``) bits, of a choice (``"ear"``)
        numbers. Empty for none."""
        ctx, name, word, value, out, i = self._context._handle(), c_string(field), ffi.new(
            "char *[1]"), ffi.new("uint64_t *"), {}, 0
        while lib.pfm_describe_value_name(ctx, self.index, name, i, word,
                                          value) == ErrorCode.SUCCESS:
            out[c_text(word[0])] = int(value[0])
            i += 1
        return out

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Its rules: limits of its events, of sets of them, and remarks."""
        ctx, r, out = self._context._handle(), new_struct("pfm_rule_info_t"), list[Rule]()
        while lib.pfm_describe_rule(ctx, self.index, len(out), r) == ErrorCode.SUCCESS:
            out.append(Rule._from_c(r))
        return tuple(out)

    def __iter__(self) -> Iterator[EventInfo]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def event(self, text: str, *, plm: int | str = 0) -> Event:
        """The event that @text names on this processor."""
        return self._context.event(f"{self.name}::{text}", plm=plm)

    def decode(self, register: str, value: int) -> DecodedRegister:
        """Fields and events of a register value. @register is named as in its manual:
        ``"PERFEVTSEL0"``, ``"PMC4"``, ``"config"``, ``"PCTR_CTL"``. ArgumentError for a register it
        does not have."""
        return DecodedRegister(register, value, tuple(self._fields(register, value)),
                               tuple(self._find_matches(register, value)))

    def _fields(self, register: str, value: int) -> Iterator[DecodedField]:
        ctx, reg, i = self._context._handle(), c_string(register), 0
        name, word, field = ffi.new("char *[1]"), ffi.new("char *[1]"), ffi.new("uint64_t *")
        while True:
            rc = lib.pfm_decode_field(ctx, self.index, reg, value, i, name, field, word)
            if rc == ErrorCode.NOTFOUND:
                return
            if rc == ErrorCode.INVAL:
                raise ArgumentError(f"{self.name} has no register called {register}", text=register,
                                    span=(0, len(register)))
            check(rc)
            yield DecodedField(c_text(name[0]), field[0], c_text(word[0]))
            i += 1

    def _find_matches(self, register: str, value: int) -> Iterator[str]:
        ctx, reg, buf, i = self._context._handle(), c_string(register), ffi.new("char[]",
                                                                                MAX_TEXT), 0
        while lib.pfm_decode_event(ctx, self.index, reg, value, i, buf,
                                   MAX_TEXT) == ErrorCode.SUCCESS:
            yield c_text(buf)
            i += 1

    def decode_set(self, registers: Iterable[Register]) -> tuple[DecodedEvent, ...]:
        """The events that the control registers of a set count, as :func:`perfmon.dispatch` gives
        them in ``pmcs``."""
        regs = list(registers)
        raw = ffi.new("pfm_reg_t[]", max(1, len(regs)))
        for to, r in zip(raw, regs):
            to.num, to.kind, to.addr, to.alt_addr, to.value = r.num, int(
                r.kind), r.addr, r.alt_addr, r.value
        handle = self._context._handle()
        n = check(lib.pfm_decode_set(handle, self.index, raw, len(regs), ffi.NULL, 0))
        out = ffi.new("pfm_decoded_event_t[]", max(1, n))
        out[0].size = ffi.sizeof("pfm_decoded_event_t")
        check(lib.pfm_decode_set(handle, self.index, raw, len(regs), out, n))
        return tuple(DecodedEvent._group(regs, out, n))

    def encode_all(self, *, plm: int | str = 0) -> EncodingTable:
        """Every event alone, in one go."""
        levels, ctx, e, rows = plm_mask(plm), self._context._handle(), new_struct(
            "pfm_encoding_t"), _EncodingRows()
        info, names = new_struct("perfmon_event_info_t"), []
        for i in range(len(self.events)):
            check(lib.pfm_describe_event(ctx, self.index, i, info))
            names.append(c_text(info.name))
            rows.add(lib.pfm_encode_event_at(ctx, self.index, i, levels, e, ffi.NULL), e)
        return rows.table(names)

    def __reduce__(self) -> tuple[Any, ...]:
        return _pmu_called, (self._context, self.name)

    def __repr__(self) -> str:
        return f"<Pmu {self.name}: {self.description}, {len(self.events)} events>"


def _pmu_called(context: Context, name: str) -> Pmu:
    return context.pmus[name]


class Pmus(Sequence[Pmu]):
    """The PMUs of a context, by number or by any of their names. They are dataclasses, so
    ``pandas.DataFrame(pmus())`` has one row per PMU. In a notebook they show as a table."""

    COLUMNS = ("name", "description", "aliases", "origin", "device", "n_events", "n_counters",
               "n_fixed", "width")

    def __init__(self, context: Context) -> None:
        self._context = context

    def __len__(self) -> int:
        return check(lib.pfm_count_pmus(self._context._handle()))

    def records(self) -> list[dict[str, Any]]:
        """A dict for each PMU that is not hidden."""
        return [{c: " ".join(p.aliases) if c == "aliases" else getattr(p, c) for c in self.COLUMNS}
                for p in self if not p.flags & PmuFlag.HIDDEN]

    def columns(self) -> dict[str, list[Any]]:
        """A list for each column."""
        return _tables.make_columns(self.COLUMNS, self.records())

    def _repr_html_(self) -> str:
        rows = self.records()
        kinds = ("name", *("text",) * 4, *("number",) * 4)
        return _tables.format_table(self.COLUMNS, ([r[c] for c in self.COLUMNS] for r in rows),
                                    kinds, len(rows))

    def __repr__(self) -> str:
        return f"<Pmus: {', '.join(p.name for p in self if not p.flags & PmuFlag.HIDDEN)}>"

    @overload
    def __getitem__(self, key: int | str) -> Pmu: ...

    @overload
    def __getitem__(self, key: slice) -> Sequence[Pmu]: ...

    def __getitem__(self, key: int | str | slice) -> Pmu | Sequence[Pmu]:
        if isinstance(key, str):
            index = self._find(key)
            if index < 0:
                raise self._make_unknown_error(key)
            return self._context._pmu(index)
        n = len(self)
        if isinstance(key, slice):
            return [self._context._pmu(i) for i in range(*key.indices(n))]
        index = key + n if key < 0 else key
        if not 0 <= index < n:
            raise IndexError(f"there are {n} PMUs")
        return self._context._pmu(index)

    def _find(self, name: str) -> int:
        index = int(lib.pfm_find_pmu(self._context._handle(), c_string(name)))
        return index if index == -1 else check(index)

    def _make_unknown_error(self, name: str) -> PerfmonError:
        """As the library puts it, with candidates."""
        try:
            encode(self._context, name + "::?")
        except UnknownPmuError as error:
            end = min(len(name), (error.span or (0, len(name)))[1])
            return UnknownPmuError(error.message, code=error.code, kind=error.kind, text=name,
                                   span=(0, end), candidates=error.candidates)
        except PerfmonError:
            pass
        return UnknownPmuError(f"unknown PMU {name}", code=ErrorCode.NOPMU, kind="unknown_pmu",
                               text=name, span=(0, len(name)))

    def __contains__(self, item: object) -> bool:
        if isinstance(item, str):
            return self._find(item) >= 0
        return isinstance(item, Pmu) and item._context is self._context


class Context:
    """A set of processors. It never changes and may be used from any number of threads.

    pmu         processor that names without a prefix belong to; None: $PERFMON_PMU, else this
                machine's
    host        False: do not look at this machine at all
    images      False: no image files; a path or several: these folders and .pmdb files; True:
                $PERFMON_EVENTS, then the user's and the installed data folder
    sysfs_root  root that holds sys/ and proc/ of a recorded machine; None: $PERFMON_SYSFS, else
                ``/``
    cpuid       describe the host as this id instead of asking it; None: $PERFMON_CPUID

    Raises UnknownPmuError, ImageError and their kin. Events, PMUs and sessions keep what they need
    of it alive; ``close()``, or leaving a ``with`` block, only lets go of it early.

    A pickle contains the options; unpickling opens the context again, once for all objects that
    belong to it.
    """

    def __init__(self, pmu: str | None = None, *, host: bool = True,
                 images: bool | str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = True,
                 sysfs_root: str | os.PathLike[str] | None = None,
                 cpuid: str | None = None) -> None:
        options, keep = new_struct("pfm_ctx_options_t"), []

        def given(value: str | os.PathLike[str] | None) -> Any:
            if value is None:
                return ffi.NULL
            raw = os.fsencode(value)
            if b"\0" in raw:    # C would take it for the end
                raise ArgumentError(f"a zero byte: {raw!r}")
            keep.append(ffi.new("char[]", raw))
            return keep[-1]

        if not host:
            options.flags |= lib.PFM_CTX_NO_HOST
        if images is False:
            options.flags |= lib.PFM_CTX_NO_IMAGES
        elif images is not True:
            if not isinstance(images, (str, os.PathLike)):
                images = tuple(images)      # it is asked for again by with_pmu()
            paths = [images] if isinstance(images, (str, os.PathLike)) else images
            options.images = given(":".join(os.fspath(p) for p in paths))
        options.pmu = given(pmu)
        options.sysfs_root = given(sysfs_root)
        options.cpuid = given(cpuid)
        self._options: dict[str, Any] = {
            "host": host, "images": images, "sysfs_root": sysfs_root, "cpuid": cpuid
        }
        self._default_pmu = pmu
        self._pmu_cache: dict[int, Pmu] = {}
        self._siblings: dict[str, Context] = {}
        self._ctx = self._open(options)

    def _open(self, options: Any) -> Any:
        out, error = ffi.new("pfm_ctx_t **"), new_error()
        rc = lib.pfm_open_context(out, options, error)
        if rc:
            raise from_error(rc, error, ffi.NULL, [self._default_pmu or ""] if error.end else [])
        return ffi.gc(out[0], lib.pfm_close_context)

    def __reduce__(self) -> tuple[Any, ...]:
        if self is _default:
            return default_context, ()
        return _same_context, (self._default_pmu, self._options)

    def _handle(self) -> Any:
        """The C context. Every holder keeps it alive, so a close in another thread does no harm."""
        ctx = self._ctx
        if ctx is None:
            raise ValueError("the context is closed")
        return ctx

    def _pmu(self, index: int) -> Pmu:
        found = self._pmu_cache.get(index)
        if found is None:
            found = self._pmu_cache[index] = Pmu(self, index)
        return found

    # ---- life

    def close(self) -> None:
        """Releases the C context. Later calls on it raise ValueError."""
        self._ctx = None
        self._pmu_cache.clear()
        for sibling in self._siblings.values():
            sibling.close()
        self._siblings.clear()

    def __enter__(self) -> Context:
        self._handle()
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def with_pmu(self, pmu: str | None) -> Context:
        """A context of these processors with @pmu for names without a prefix. Such contexts are
        cached."""
        if pmu is None or pmu == self._default_pmu:
            return self
        found = self._siblings.get(pmu)
        if found is None:
            self._handle()
            found = self._siblings[pmu] = Context(pmu, **self._options)
        return found

    # ---- what there is

    @property
    def pmus(self) -> Pmus:
        """All PMUs, by number or name: ``ctx.pmus["coreduo"]``, ``for pmu in ctx.pmus``."""
        return Pmus(self)

    @property
    def fallback_pmu(self) -> Pmu | None:
        """The core PMU that serves this machine because no table describes its processor; else
        None."""
        index = lib.pfm_find_fallback_pmu(self._handle())
        return self._pmu(index) if index >= 0 else None

    def events(self, pattern: str = "*", *, name: str | None = None, contains: str | None = None,
               pmu: str | None = None, hidden: bool = False) -> EventTable:
        """Events, as a table. All conditions must hold; upper and lower case are equal.

        pattern   shell pattern of the whole name: ``"L2_LINES_*"``
        name      the exact name
        contains  text anywhere in the name or the description
        pmu       events of this PMU only; else of every PMU that is not hidden
        hidden    include hidden events and PMUs

        A name that no event has raises EventError, with similar names; a pattern that no event
        matches gives an empty table.
        """
        chosen: Iterable[Pmu] = [self.pmus[pmu]
                                 ] if pmu else (p for p in self.pmus
                                                if hidden or not p.flags & PmuFlag.HIDDEN)
        wanted, exact, part = pattern.lower(), (name or "").lower(), (contains or "").lower()
        found = []
        for p in chosen:
            for info in p:
                own = info.name.lower()
                if (fnmatch.fnmatchcase(own, wanted) and (name is None or own == exact)
                        and (part in own or part in info.description.lower())
                        and (hidden or not info.flags & EventFlag.HIDDEN)):
                    found.append(info)
        if not found and contains is None and (name is not None
                                               or not _WILDCARDS.intersection(pattern)):
            found.append(self._find_named(name if name is not None else pattern, pmu))
        return EventTable(found)

    def _find_named(self, name: str, pmu: str | None) -> EventInfo:
        """The row of an event in another spelling. Raises EventError, also for the name of a
        PMU."""
        if pmu is None and self.pmus._find(name) >= 0:
            raise UnknownEventError(
                f'"{name}" is the name of a PMU; write events(pmu="{name}") for its events',
                code=ErrorCode.NOTFOUND, kind="unknown_event", text=name, span=(0, len(name)))
        row = self.event(name, pmu=pmu).info
        if row is None:
            raise ArgumentError(f'"{name}" is a raw event, which has no row in a table', text=name,
                                span=(0, len(name)))
        return row

    def rejected_images(self) -> list[tuple[str, str]]:
        """Image files that are on the search path and not used: (path, reason). Verifies every
        image."""
        ctx, path, why = self._handle(), ffi.new("char *[1]"), ffi.new("char *[1]")
        out: list[tuple[str, str]] = []
        while lib.pfm_describe_rejected_image(ctx, len(out), path, why) == ErrorCode.SUCCESS:
            out.append((c_text(path[0]), c_text(why[0])))
        return out

    def find(self, text: str) -> EventInfo:
        """The row that @text names, in any dialect; attributes are ignored. Raises EventError."""
        raw, pmu, event, error, ctx = c_string(text), ffi.new("int *"), ffi.new(
            "unsigned *"), new_error(), self._handle()
        rc = lib.pfm_find_event_by_text(ctx, raw, pmu, event, error)
        if rc:
            raise from_error(rc, error, ctx, [text])
        return EventInfo(self, pmu[0], event[0], self._pmu(pmu[0]).name)

    def rules(self, text: str) -> tuple[Rule, ...]:
        """Rules that can hold for the event that @text names; each one's ``holds`` is that of the
        text with its unit masks and modifiers, on this machine. Raises EventError."""
        raw, ctx, error = c_string(text), self._handle(), new_error()
        r, out = new_struct("pfm_rule_info_t"), list[Rule]()
        while True:
            rc = lib.pfm_describe_rule_by_text(ctx, raw, len(out), r, error)
            if rc == ErrorCode.NOTFOUND and not error.code:     # past the last
                return tuple(out)
            if rc:
                raise from_error(rc, error, ctx, [text])
            out.append(Rule._from_c(r))

    def metric(self, text: str) -> Metric:
        """The metric that @text names: ``"ipc"``, ``"skx::Info_Thread_IPC"``. ArgumentError if it
        is an event."""
        row = self.find(text)
        if not row.flags & EventFlag.METRIC:
            raise ArgumentError(f"{row} is an event, not a metric", text=text, span=(0, len(text)))
        return Metric(self, row)

    def metrics(self, pattern: str = "*", *, pmu: str | None = None) -> Iterator[Metric]:
        """Metrics whose name, or one of whose groups, matches the shell pattern @pattern."""
        for row in self.events(pmu=pmu):
            if row.flags & EventFlag.METRIC:
                m = Metric(self, row)
                if any(
                        fnmatch.fnmatchcase(n.lower(), pattern.lower())
                        for n in (m.name, *m.groups)):
                    yield m

    def metric_group(self, text: str) -> tuple[Metric, ...]:
        """The metrics of a group: ``"GROUP"`` of this machine's processors, or ``"PMU::GROUP"``.
        ``"NAME_group"`` holds the metrics that metric NAME consists of. UnknownEventError for an
        unknown group."""
        ctx, raw = self._handle(), c_string(text)
        n = check(lib.pfm_list_metric_group(ctx, raw, ffi.NULL, 0))
        refs = ffi.new("pfm_metric_ref_t[]", max(1, n))
        check(lib.pfm_list_metric_group(ctx, raw, refs, n))
        return tuple(Metric._at_row(self, refs[i].pmu, refs[i].event) for i in range(n))

    # ---- the machine

    def cpu(self, number: int) -> CpuInfo:
        """Where CPU @number is in this context's machine."""
        info = new_struct("pfm_cpu_info_t")
        check(lib.pfm_describe_cpu(self._handle(), number, info))
        core, die, socket, node = (int(n) if n >= 0 else None
                                   for n in (info.core, info.die, info.socket, info.node))
        return CpuInfo(core, die, socket, node)

    def tracepoints(self, pattern: str = "*") -> tuple[str, ...]:
        """Tracepoints of the running kernel, ``"SUBSYSTEM:NAME"``, that match the shell pattern
        @pattern, sorted. PerfmonError if tracefs cannot be read."""
        found: list[str] = []

        def add(_: Any, name: Any) -> int:
            found.append(c_text(name))
            return 0

        each = ffi.callback("int(void *, const char *)", add)
        check(lib.pfm_visit_tracepoints(self._handle(), c_string(pattern), each, ffi.NULL))
        return tuple(found)

    def tracepoint_format(self, text: str) -> str:
        """The kernel's description of tracepoint @text, ``"SUBSYSTEM:NAME"``, and its fields.
        PerfmonError if it cannot be read."""
        ctx, raw = self._handle(), c_string(text)
        size = 1 + check(lib.pfm_read_tracepoint_format(ctx, raw, ffi.NULL, 0))
        buf = ffi.new("char[]", size)
        check(lib.pfm_read_tracepoint_format(ctx, raw, buf, size))
        return c_text(buf)

    # ---- texts

    def event(self, text: str, *, pmu: str | None = None, plm: int | str = 0) -> Event:
        """The event that @text names, in any dialect.

        pmu   processor that names without a prefix belong to
        plm   levels to count when the text names none: mask of :class:`Plm`, or letters ``"u"``,
              ``"k"``; 0 for both
        Raises EventError (unknown event, bad qualifier ...), UnknownPmuError, AmbiguousError.
        """
        return encode(self.with_pmu(pmu), text, plm)

    def print(self, text: str, dialect: Dialect | str = Dialect.PERF) -> str:
        """The event that @text names, as @dialect writes it, attributes in canonical order.
        UnexpressibleError where the dialect has no way to say it."""
        return self._print_text(lib.pfm_print_event, text, dialect)

    def _print_text(self, call: Any, text: str, dialect: Dialect | str) -> str:
        """The text that @call writes for @text in @dialect."""
        if not isinstance(dialect, Dialect):
            dialect = Dialect[dialect.upper()]
        raw, buf, error, ctx = c_string(text), ffi.new("char[]",
                                                       MAX_TEXT), new_error(), self._handle()
        rc = call(ctx, raw, int(dialect), buf, MAX_TEXT, error)
        if rc and error.code:
            raise from_error(rc, error, ctx, [text])
        if rc:
            raise from_code(rc)
        return c_text(buf)

    def dispatch(self, events: Iterable[str], **settings: Any) -> Dispatch:
        """Places @events on counters together; see :func:`perfmon.dispatch`."""
        from .dispatch import dispatch
        return dispatch(events, context=self, **settings)

    def session(self, events: Iterable[str], **options: Any) -> Session:
        """Counters for @events; see :class:`perfmon.Session`."""
        from .session import Session
        return Session(events, context=self, **options)

    def try_encode(self, texts: Iterable[str], *,
                   plm: int | str = 0) -> Iterator[Event | PerfmonError]:
        """Each of many texts encoded; where that fails, the exception is in the event's place."""
        for text in [texts] if isinstance(texts, str) else texts:
            try:
                yield encode(self, text, plm)
            except PerfmonError as error:
                yield error

    def encode_many(self, texts: Iterable[str], *, pmu: str | None = None,
                    plm: int | str = 0) -> EncodingTable:
        """Each of many texts encoded alone, as columns. A text that is refused has its ``code`` and
        ``why``, and no numbers."""
        context, levels, e, error, rows = self.with_pmu(pmu), plm_mask(plm), new_struct(
            "pfm_encoding_t"), new_error(), _EncodingRows()
        names = texts_of(texts)
        ctx, why = context._handle(), []
        for text in names:
            rc = lib.pfm_encode_event(ctx, c_string(text), levels, e, error)
            why.append(from_error(rc, error, ctx, [text]).message if rc else "")
            rows.add(rc, e)
        return rows.table(names, why)

    def __repr__(self) -> str:
        state = "closed" if self._ctx is None else self._default_pmu or "this machine"
        return f"<Context: {state}>"


_lock = threading.Lock()
_default: Context | None = None


_same: weakref.WeakValueDictionary[str, Context] = weakref.WeakValueDictionary()


def _same_context(pmu: str | None, options: dict[str, Any]) -> Context:
    """The context with these options: one for all that is unpickled while it lives."""
    key = repr((pmu, sorted(options.items())))
    with _lock:
        found = _same.get(key)
        if found is None:
            found = _same[key] = Context(pmu, **options)
        return found


def default_context() -> Context:
    """The context of calls that name none: this machine, opened when first needed."""
    global _default
    with _lock:
        if _default is None:
            _default = Context()
        return _default


def library_version() -> str:
    """Version of the C library that runs."""
    return c_text(lib.pfm_version(ffi.NULL, ffi.NULL, ffi.NULL))


def forget_default_context() -> None:
    """Lets the next call see images that have been written meanwhile."""
    global _default
    with _lock:
        _default = None


