# SPDX-License-Identifier: MIT
"""Events: rows of a processor's table, and events as written, with the registers that make them
count."""
from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _tables
from ._c import list_bits, ffi, lib, new_struct, plm_mask, read_text as c_text
from ._errors import (
    ErrorCode, UnexpressibleError, c_string, check, from_code, from_error, new_error)

if TYPE_CHECKING:
    from .context import Context

__all__ = [
    "Alternative", "Dialect", "Event", "EventFlag", "EventInfo", "Field", "Modifier", "Names",
    "PerfAttr", "Register", "RegisterKind", "Rule", "Umask", "counter_name", "perf_event_attr",
    "split_events"
]

MAX_TEXT = 4096
MAX_ATTR = 1024  # bytes; today's kernels have 136


class RegisterKind(enum.IntEnum):
    """Kinds of registers."""

    PMC = lib.PFM_REG_PMC                #: control register of a counter
    PMD = lib.PFM_REG_PMD                #: data register
    FIXED_CTRL = lib.PFM_REG_FIXED_CTRL  #: control register that all fixed counters share
    EXTRA = lib.PFM_REG_EXTRA            #: further control register of an event
    IBR = lib.PFM_REG_IBR                #: instruction debug register
    DBR = lib.PFM_REG_DBR                #: data debug register
    CONFIG = lib.PFM_REG_CONFIG          #: word for the kernel
    GLOBAL_CTRL = lib.PFM_REG_GLOBAL_CTRL  #: enables the counters


class EventFlag(enum.IntFlag):
    """Properties of a row."""

    HIDDEN = lib.PFM_EVENT_HIDDEN              #: left out of listings
    DEPRECATED = lib.PFM_EVENT_DEPRECATED      #: ``replaced`` may name another
    ALONE = lib.PFM_EVENT_ALONE                #: must be counted alone
    PER_PKG = lib.PFM_EVENT_PER_PKG            #: counts for a package, not for a CPU
    EXPERIMENTAL = lib.PFM_EVENT_EXPERIMENTAL
    ARCH = lib.PFM_EVENT_ARCH                  #: means the same on every processor that has it
    METRIC = lib.PFM_EVENT_METRIC              #: computed from other events
    #: the vendor's own list has the row, and agrees; where sources were compared
    BY_VENDOR = lib.PFM_EVENT_BY_VENDOR
    BY_LINUX = lib.PFM_EVENT_BY_LINUX          #: so does Linux's list
    BY_LIBPFM4 = lib.PFM_EVENT_BY_LIBPFM4      #: so does libpfm4


class ErratumCount(enum.IntEnum):
    """The effect of an erratum on the count of its events."""

    RIGHT = lib.PFM_ERRATUM_COUNT_RIGHT  #: nothing: samples or another facility are wrong
    HIGH = lib.PFM_ERRATUM_COUNT_HIGH    #: too high
    LOW = lib.PFM_ERRATUM_COUNT_LOW      #: too low
    WRONG = lib.PFM_ERRATUM_COUNT_WRONG  #: wrong in either direction
    ZERO = lib.PFM_ERRATUM_COUNT_ZERO    #: nothing is counted
    NEAR = lib.PFM_ERRATUM_COUNT_NEAR    #: off by a few at most


class Dialect(enum.IntEnum):
    """Ways to write an event down."""

    LIBPFM = lib.PFM_DIALECT_LIBPFM
    LIBPMC = lib.PFM_DIALECT_LIBPMC
    PERF = lib.PFM_DIALECT_PERF
    VENDOR = lib.PFM_DIALECT_VENDOR


def counter_name(counter: int) -> str:
    """``"3"`` for a general counter, ``"fixed0"`` for fixed counters, which are numbered from
    32."""
    return str(counter) if counter < 32 else f"fixed{counter - 32}"


@dataclass(frozen=True)
class Register:
    """One register and what belongs in it.

    addr is its address (MSR number on x86), or its number where registers have no other; alt_addr
    is how else it can be reached (index for RDPMC on x86), else the same again. event is the index
    of the first event of the set that needs it, None for registers of no single event.
    """

    num: int
    kind: RegisterKind
    addr: int
    alt_addr: int
    value: int
    event: int | None = None

    @classmethod
    def _from_c(cls, r: Any) -> Register:
        return cls(r.num, RegisterKind(r.kind), r.addr, r.alt_addr, r.value,
                   r.event if r.event >= 0 else None)


@dataclass(frozen=True)
class PerfAttr:
    """Attributes of perf_event_open(2). ``type`` is None where it depends on the machine."""

    type: int | None
    config: int
    config1: int
    config2: int
    config3: int
    config4: int
    exclude_user: bool
    exclude_kernel: bool
    exclude_hv: bool
    exclude_idle: bool
    exclude_host: bool
    exclude_guest: bool
    pinned: bool
    precise: int

    @classmethod
    def _from_c(cls, a: Any) -> PerfAttr | None:
        if not a.expressible:
            return None
        return cls(a.type if a.type_known else None, a.config, a.config1, a.config2, a.config3,
                   a.config4,
                   bool(a.exclude_user), bool(a.exclude_kernel), bool(a.exclude_hv),
                   bool(a.exclude_idle), bool(a.exclude_host), bool(a.exclude_guest),
                   bool(a.pinned), a.precise)


@dataclass(frozen=True)
class Alternative:
    """Another code and extra register that count the same."""

    config: int
    control: int
    msr: int
    value: int


@dataclass(frozen=True)
class Umask:
    """A unit mask, or a value of a qualifier.

    group is the qualifier it belongs to; value the bits it sets there; alias another name of it,
    ``""`` for none; names all of its names, the usual one first.
    default: taken when the user names none; combinable: goes with others of its group.
    """

    group: str
    name: str
    description: str
    alias: str
    value: int
    default: bool
    combinable: bool
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Field:
    """A field value that a row gives. text is a word where the value has one; counter is None if it
    is the same on all."""

    name: str
    text: str
    value: int
    counter: int | None


@dataclass(frozen=True)
class Modifier:
    """A number that an event takes, from min to max. With max 1 the name alone means 1; preset is
    its default."""

    name: str
    min: int
    max: int
    preset: int


@dataclass(frozen=True)
class Rule:
    """A limit of events or of sets, or a remark. effect is "on", "place", "refuse", "pair",
    "follow", "share", "move", "limit", "needs" or "note"; counters are those of "on" and "place".
    depends: on a fact of the machine; holds: for the event as it is, on this machine; evidence: the
    file of this machine that shows the fact."""

    name: str
    effect: str
    text: str
    source: str
    counters: tuple[int, ...]
    depends: bool
    holds: bool
    evidence: str

    @classmethod
    def _from_c(cls, r: Any) -> Rule:
        return cls(c_text(r.name), c_text(r.effect), c_text(r.text), c_text(r.source),
                   tuple(list_bits(r.counters)), bool(r.depends), bool(r.holds),
                   ffi.string(r.evidence).decode())


@dataclass(frozen=True)
class Erratum:
    """An event that a processor counts wrong.

    ids          names in the vendor's documents
    effect, workaround, kernel, machines, source   texts; ``""`` if missing
    instead      event that counts the same and is right, or ``""``
    count        :class:`ErratumCount`
    here         this machine has it
    every_event  it is about all events of the PMU
    conditional  it is about the event with other modifiers or levels
    events       numbers of the rows that it names, in the PMU's ``events``; only in ``Pmu.errata``
    """

    ids: tuple[str, ...]
    effect: str
    workaround: str
    kernel: str
    machines: str
    source: str
    instead: str
    count: ErratumCount
    here: bool
    every_event: bool
    conditional: bool
    events: tuple[int, ...] = ()


def make_erratum(e: Any, events: tuple[int, ...] = ()) -> Erratum:
    return Erratum(tuple(c_text(e.ids).split()), c_text(e.effect), c_text(e.workaround),
                   c_text(e.kernel), c_text(e.machines), c_text(e.source), c_text(e.instead),
                   ErratumCount(e.count), bool(e.flags & lib.PFM_ERRATUM_HERE),
                   bool(e.flags & lib.PFM_ERRATUM_EVERY_EVENT),
                   bool(e.flags & lib.PFM_ERRATUM_CONDITIONAL), events)


@dataclass(init=False, eq=False, repr=False)
class EventInfo:
    """A row of a processor's table.

    pmu          name of the processor
    index        number of the row, for as long as the context lives
    name, description, detail, errata, note, unit   texts; ``""`` if missing
    topic        what its list groups it by; ``""`` where it does not
    replaced     event to use instead of a deprecated one
    scale        multiply counts by this to get ``unit``; 1 for most
    code         event select
    counters     counters that can count it; fixed counter n is 32 + n
    counters_htoff  the same with hyper-threading off, or () if that makes no difference
    flags        :class:`EventFlag`
    precise      0 no, 1 may be, 2 must be
    period       suggested events between samples, 0 if none
    """

    pmu: str
    index: int
    name: str
    description: str
    detail: str
    errata: str
    note: str
    replaced: str
    unit: str
    scale: float
    code: int
    counters: tuple[int, ...]
    counters_htoff: tuple[int, ...]
    flags: EventFlag
    precise: int
    period: int
    topic: str

    def __init__(self, context: Context, pmu_index: int, index: int, pmu: str) -> None:
        info = new_struct("perfmon_event_info_t")
        check(lib.pfm_describe_event(context._handle(), pmu_index, index, info))
        self._context = context
        self._pmu_index = pmu_index
        self._n = (info.n_umasks, info.n_fields)
        self.pmu = pmu
        self.index = index
        self.name = c_text(info.name)
        self.description = c_text(info.desc)
        self.detail = c_text(info.detail)
        self.errata = c_text(info.errata)
        self.note = c_text(info.note)
        self.replaced = c_text(info.replaced)
        self.unit = c_text(info.unit)
        self.scale = float(info.scale)
        self.code = int(info.code)
        self.counters = tuple(list_bits(info.counters))
        self.counters_htoff = tuple(list_bits(info.counters_htoff))
        self.flags = EventFlag(info.flags)
        self.precise = int(info.precise)
        self.period = int(info.period)
        self.topic = c_text(info.topic)

    @cached_property
    def umasks(self) -> tuple[Umask, ...]:
        """Unit masks and qualifier values it takes."""
        out = []
        ctx, u = self._context._handle(), new_struct("pfm_umask_info_t")
        for i in range(self._n[0]):
            check(lib.pfm_describe_umask(ctx, self._pmu_index, self.index, i, u))
            out.append(
                Umask(c_text(u.group), c_text(u.name), c_text(u.desc), c_text(u.alias), u.value,
                      bool(u.is_default), bool(u.is_combinable), tuple(self._umask_names(i))))
        return tuple(out)

    def _umask_names(self, umask: int) -> Iterator[str]:
        ctx, name, i = self._context._handle(), ffi.new("char *[1]"), 0
        while lib.pfm_describe_umask_name(ctx, self._pmu_index, self.index, umask, i, name) == 0:
            yield c_text(name[0])
            i += 1

    @cached_property
    def modifiers(self) -> tuple[Modifier, ...]:
        """Numbers it takes beside unit masks: cmask, edge and their like."""
        ctx, m, out = self._context._handle(), new_struct("pfm_modifier_info_t"), list[Modifier]()
        while lib.pfm_describe_modifier(ctx, self._pmu_index, self.index, len(out), m) == 0:
            out.append(Modifier(c_text(m.name), int(m.min), int(m.max), int(m.preset)))
        return tuple(out)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Rules that can hold for it, with modifiers, levels and sets that a text may add."""
        ctx, r, out = self._context._handle(), new_struct("pfm_rule_info_t"), list[Rule]()
        while lib.pfm_describe_event_rule(ctx, self._pmu_index, self.index, len(out), r) == 0:
            out.append(Rule._from_c(r))
        return tuple(out)

    @property
    def implemented(self) -> bool:
        """False if the processor at hand reports that it does not implement the event: it can be
        encoded, but not counted."""
        ctx = self._context._handle()
        return bool(lib.pfm_is_event_implemented(ctx, self._pmu_index, self.index))

    @cached_property
    def known_errata(self) -> tuple[Erratum, ...]:
        """Errata that are about the event."""
        ctx, e, out = self._context._handle(), new_struct("pfm_erratum_t"), list[Erratum]()
        while lib.pfm_describe_event_erratum(ctx, self._pmu_index, self.index, len(out), e) == 0:
            out.append(make_erratum(e))
        return tuple(out)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Field values the row gives."""
        out = []
        ctx, name, word = self._context._handle(), ffi.new("char *[1]"), ffi.new("char *[1]")
        value, counter = ffi.new("uint64_t *"), ffi.new("int *")
        for i in range(self._n[1]):
            check(
                lib.pfm_describe_field(ctx, self._pmu_index, self.index, i, name, word, value,
                                       counter))
            out.append(
                Field(c_text(name[0]), c_text(word[0]), value[0],
                      counter[0] if counter[0] >= 0 else None))
        return tuple(out)

    def encode(self, *, plm: int | str = 0) -> Event:
        """The event without any attribute. EventError if it needs one (a unit mask without a
        default)."""
        e, error, ctx = new_struct("pfm_encoding_t"), new_error(), self._context._handle()
        rc = lib.pfm_encode_event_at(ctx, self._pmu_index, self.index, plm_mask(plm), e, error)
        if rc:
            raise from_error(rc, error, ctx, [str(self)])
        return Event(self._context, str(self), e)

    def __reduce__(self) -> tuple[Any, ...]:
        """By name: the row may have another number where it is read again, or be missing
        (UnknownEventError)."""
        return _row, (self._context, self.pmu, self.name)

    def __str__(self) -> str:
        return f"{self.pmu}::{self.name}"

    def __repr__(self) -> str:
        return f"<EventInfo {self}: {self.description}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EventInfo):
            return NotImplemented
        return (self._context, self._pmu_index, self.index) == (other._context, other._pmu_index,
                                                                other.index)

    def __hash__(self) -> int:
        return hash((self._pmu_index, self.index))


def _row(context: Context, pmu: str, name: str) -> EventInfo:
    return context.pmus[pmu].events[name]


class Names(Mapping[str, str]):
    """How each dialect writes an event: ``"libpfm"``, ``"libpmc"``, ``"perf"``, ``"vendor"``.

    Only dialects that can say it are listed; asking for another raises UnexpressibleError, which is
    a KeyError. What is printed, read again, gives the same registers.
    """

    def __init__(self, context: Context, text: str) -> None:
        self._context = context
        self._text = text

    def __getitem__(self, dialect: str | Dialect) -> str:
        if not isinstance(dialect, Dialect):
            try:
                dialect = Dialect[dialect.upper()]
            except (KeyError, AttributeError):
                raise KeyError(dialect) from None
        return self._context.print(self._text, dialect)

    def __iter__(self) -> Iterator[str]:
        for dialect in Dialect:
            try:
                self[dialect]
            except UnexpressibleError:
                continue
            yield dialect.name.lower()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Names({dict(self)!r})"


class Event:
    """An event as written, alone on the lowest counter that can count it.

    text          as it was asked for
    pmu           name of the processor
    name          name of its row; the text itself for a raw event, which has none
    info          the row, or None
    registers     control registers, :class:`Register`
    counters      counters that can count it as written; fixed counter n is 32 + n
    plm           levels that are counted, mask of :class:`Plm`
    perf_attr     :class:`PerfAttr`, or None where Linux has no way to count it; meant for a machine
                  that has the processor
    here          this machine has it: perf_attr can be used
    names         :class:`Names`
    alternatives  other codes that count the same
    errata        what it counts wrong, :class:`Erratum`

    Two are equal if they were made from one text and have the same registers. They can be pickled:
    registers, counters and the rest are kept as they are, and the context is opened again when
    something is asked of it.
    """

    def __init__(self, context: Context, text: str, e: Any) -> None:
        self._context = context
        self._where = (e.pmu, e.event)
        self.text = text
        self.plm = int(e.plm)
        self.registers = tuple(Register._from_c(e.regs[i]) for i in range(e.n_regs))
        self.counters = tuple(list_bits(e.counters))
        self.perf_attr = PerfAttr._from_c(e.attr)
        self.names = Names(context, text)
        self.alternatives = tuple(Alternative(a.config, a.control, a.msr, a.value)
                                  for a in (e.alternatives[i] for i in range(e.n_alternatives)))

    @cached_property
    def pmu(self) -> str:
        return self._context._pmu(self._where[0]).name

    @cached_property
    def here(self) -> bool:
        return bool(self._context._pmu(self._where[0]).flags & lib.PFM_PMU_HOST)

    @cached_property
    def info(self) -> EventInfo | None:
        pmu, event = self._where
        return EventInfo(self._context, pmu, event,
                         self.pmu) if event < len(self._context._pmu(pmu)) else None

    @cached_property
    def errata(self) -> tuple[Erratum, ...]:
        """Errata that are about the event with its unit masks, modifiers and levels."""
        ctx, e, out = self._context._handle(), new_struct("pfm_erratum_t"), list[Erratum]()
        raw = c_string(self.text)
        while lib.pfm_describe_text_erratum(ctx, raw, self.plm, len(out), e) == 0:
            out.append(make_erratum(e))
        return tuple(out)

    @property
    def name(self) -> str:
        return self.info.name if self.info else self.text

    @property
    def description(self) -> str:
        return self.info.description if self.info else ""

    def _repr_html_(self) -> str:
        rows = [("event", self.text), ("processor", self.pmu), ("description", self.description),
                ("counters", ", ".join(map(counter_name, self.counters))),
                ("registers", ", ".join(f"{r.addr:#x} = {r.value:#x}" for r in self.registers))]
        return _tables.format_table(("", ""), rows, ("name", "text"), len(rows))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_where": None, "pmu": self.pmu, "info": self.info}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        return (self.text, self.pmu, self.plm, self.registers) == (other.text, other.pmu, other.plm,
                                                                   other.registers)

    def __hash__(self) -> int:
        return hash((self.text, self.registers))

    def __repr__(self) -> str:
        registers = ", ".join(f"{r.addr:#x}={r.value:#x}" for r in self.registers)
        return f"<Event {self.text}: {registers or self.perf_attr}>"


def split_events(text: str) -> list[str]:
    """The events of a list as users write it: ``"cycles,cpu/event=1,umask=2/,L2_Lines_In,edge"``
    has three. Nothing is looked up."""
    raw = ffi.new("char[]", c_string(text))
    at, event, length, out = ffi.new("char *[1]",
                                     [raw]), ffi.new("char *[1]"), ffi.new("size_t *"), []
    while lib.pfm_split_events(at, event, length):
        out.append(bytes(ffi.buffer(event[0], length[0])).decode("utf-8", "surrogateescape"))
    return out


def perf_event_attr(text: str, *, plm: int | str = 0) -> bytearray:
    """The event as a struct perf_event_attr, for programs that call perf_event_open(2) themselves.

    type, size, config and the levels are set, the rest is 0. In native byte order, as long as its
    ``size`` member says. PerfmonError (NOTSUPP) where the kernel cannot count it, UnknownPmuError
    where this machine has no such processor; EventError and its kin for wrong texts.
    """
    from .context import default_context
    context, e, error, memory = default_context(), new_struct(
        "pfm_encoding_t"), new_error(), ffi.new("uint32_t[]", MAX_ATTR // 4)
    rc = lib.pfm_encode_event(context._handle(), c_string(text), plm_mask(plm), e, error)
    if rc:
        raise from_error(rc, error, context._handle(), [text])
    rc = lib.pfm_fill_perf_event_attr(context._handle(), e,
                                      ffi.cast("struct perf_event_attr *", memory), MAX_ATTR)
    if rc == ErrorCode.NOPMU:
        raise from_code(rc, f"this machine has no {context._pmu(e.pmu).name}")
    check(rc)
    return bytearray(ffi.buffer(memory, memory[1]))  # the second member is its size


def encode(context: Context, text: str, plm: int | str = 0) -> Event:
    """The event that @text names, in any dialect. Raises EventError."""
    raw, e, error, ctx = c_string(text), new_struct(
        "pfm_encoding_t"), new_error(), context._handle()
    rc = lib.pfm_encode_event(ctx, raw, plm_mask(plm), e, error)
    if rc:
        raise from_error(rc, error, ctx, [text])
    return Event(context, text, e)
