# SPDX-License-Identifier: MIT
"""Alpha processors, EV4 to EV79: settings, device words, ProfileMe, and sessions on /dev/pfcntr or
on a model of it.

    with perfmon.alpha.Session(["cycles", "issues"], device_model="ev5") as s:
        work()
    s["issues"].value

Five kinds of counter unit: ``"ev4"``, ``"ev5"``, ``"pca56"``, ``"ev6"``, ``"ev67"``; functions take
the name.
"""
from __future__ import annotations

import enum
import errno
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from . import _bulk
from ._c import list_bits, ffi, combine_flags, lib, new_struct, read_text as c_text, make_words
from ._errors import ErrorCode, c_string, check, from_code
from .session import Session as _Session

if TYPE_CHECKING:
    from .context import Context

__all__ = [
    "Call",
    "DeviceCommand",
    "EventKind",
    "EventTraits",
    "Interrupt",
    "Item",
    "LinuxEvent",
    "Mode",
    "Open",
    "Pair",
    "Range",
    "Request",
    "Result",
    "Sample",
    "Scope",
    "Session",
    "Settings",
    "Trap",
    "Uncertainty",
    "When",
    "bucket",
    "counter_width",
    "counter_word",
    "decode_interrupt",
    "decode_sample",
    "device_call",
    "driver_rates",
    "events_from_interrupts",
    "events_from_raw",
    "level_entry",
    "linux_event",
    "linux_pair",
    "linux_write",
    "mask",
    "mode_word",
    "num_counters",
    "constant",
    "partners",
    "pm_mode_word",
    "pmctr_ctl",
    "rate_word",
    "rates",
    "ratio",
    "register_statistics",
    "request",
    "requests",
    "sample_bytes",
    "select",
    "single_issues",
    "split_counter_word",
    "start_value",
    "statistic",
    "statistic_bits",
    "statistics",
    "traits",
    "word_modes",
]

_TYPES = {
    "ev4": lib.PFMLIB_ALPHA_EV4_PMU, "ev5": lib.PFMLIB_ALPHA_EV5_PMU,
    "pca56": lib.PFMLIB_ALPHA_PCA56_PMU, "ev6": lib.PFMLIB_ALPHA_EV6_PMU,
    "ev67": lib.PFMLIB_ALPHA_EV67_PMU
}
N_STATISTICS = int(lib.PF67_PM_VALID) + 1


def _type(pmu: str) -> int:
    try:
        return int(_TYPES[pmu.lower().replace("alpha_", "")])
    except KeyError:
        raise ValueError(f"expected {', '.join(_TYPES)}, got {pmu}") from None


class Scope(enum.IntEnum):
    """Whose events are counted."""

    SYSTEM = lib.PFM_ALPHA_SCOPE_SYSTEM
    PROCESS = lib.PFM_ALPHA_SCOPE_PROCESS


class Open(enum.IntEnum):
    """Which processors' counters are opened."""

    ALL = lib.PFM_ALPHA_OPEN_ALL    #: one sum
    EACH = lib.PFM_ALPHA_OPEN_EACH  #: separate results
    ONE = lib.PFM_ALPHA_OPEN_ONE    #: the one this process is bound to


class Mode(enum.IntFlag):
    """Modes of the processor, as the chip calls them. On Digital UNIX user code runs in executive
    mode."""

    KERNEL = lib.PFM_ALPHA_MODE_KERNEL
    EXEC = lib.PFM_ALPHA_MODE_EXEC
    SUPER = lib.PFM_ALPHA_MODE_SUPER
    USER = lib.PFM_ALPHA_MODE_USER
    PAL = lib.PFM_ALPHA_MODE_PAL
    ALL = lib.PFM_ALPHA_MODE_ALL


class Item(enum.IntFlag):
    """Data collected at each interrupt."""

    COUNTERS = lib.PFM_COUNTERS    #: interrupts of each counter
    IPL = lib.PFM_IPL              #: interrupt levels
    PROFILING = lib.PFM_PROFILING  #: where the program counter was


class When(enum.IntEnum):
    """When a device request belongs."""

    SETUP = lib.PFM_ALPHA_SETUP
    START = lib.PFM_ALPHA_START
    STOP = lib.PFM_ALPHA_STOP
    READ = lib.PFM_ALPHA_READ


class EventKind(enum.IntEnum):
    """Kinds of events."""

    EVENT = lib.PFM_ALPHA_EVENT          #: counts on its own
    #: counts in a mode that fixes what the other counter counts
    AGGREGATE = lib.PFM_ALPHA_AGGREGATE
    PAIR = lib.PFM_ALPHA_PAIR            #: such a mode by name; takes both counters
    PROFILEME = lib.PFM_ALPHA_PROFILEME  #: a statistic of profiled instructions
    RATIO = lib.PFM_ALPHA_RATIO          #: such a statistic over retired instructions
    PM_MODE = lib.PFM_ALPHA_PM_MODE      #: counting mode of the window of a profiled instruction


class Uncertainty(enum.IntFlag):
    """How a count can differ from the number of events it is named after."""

    NAME = lib.PFM_ALPHA_UNC_NAME
    HEADER_ONLY = lib.PFM_ALPHA_UNC_HEADER_ONLY
    PIN = lib.PFM_ALPHA_UNC_PIN
    DISPUTED = lib.PFM_ALPHA_UNC_DISPUTED
    COST = lib.PFM_ALPHA_UNC_COST
    REPLAYED = lib.PFM_ALPHA_UNC_REPLAYED
    OVER = lib.PFM_ALPHA_UNC_OVER
    NOT_BUILT = lib.PFM_ALPHA_UNC_NOT_BUILT
    TWICE = lib.PFM_ALPHA_UNC_TWICE
    RETIRED = lib.PFM_ALPHA_UNC_RETIRED
    EARLY = lib.PFM_ALPHA_UNC_EARLY
    LATE = lib.PFM_ALPHA_UNC_LATE
    WINDOW = lib.PFM_ALPHA_UNC_WINDOW
    APPROXIMATE = lib.PFM_ALPHA_UNC_APPROXIMATE
    CBR = lib.PFM_ALPHA_UNC_CBR
    PROBES = lib.PFM_ALPHA_UNC_PROBES


class Trap(enum.IntEnum):
    """How a profiled instruction was trapped."""

    REPLAY = lib.PFM_ALPHA_TRAP_REPLAY
    DTB_DOUBLE3 = lib.PFM_ALPHA_TRAP_DTB_DOUBLE3
    DTB_DOUBLE4 = lib.PFM_ALPHA_TRAP_DTB_DOUBLE4
    FP_DISABLED = lib.PFM_ALPHA_TRAP_FP_DISABLED
    UNALIGNED = lib.PFM_ALPHA_TRAP_UNALIGNED
    DTB_SINGLE = lib.PFM_ALPHA_TRAP_DTB_SINGLE
    DSTREAM = lib.PFM_ALPHA_TRAP_DSTREAM
    OPCDEC = lib.PFM_ALPHA_TRAP_OPCDEC
    MACHINE_CHECK = lib.PFM_ALPHA_TRAP_MACHINE_CHECK
    ARITHMETIC = lib.PFM_ALPHA_TRAP_ARITHMETIC
    MT_FPCR = lib.PFM_ALPHA_TRAP_MT_FPCR
    RESET = lib.PFM_ALPHA_TRAP_RESET
    INVALID = lib.PFM_ALPHA_TRAP_INVALID
    NONE = lib.PFM_ALPHA_TRAP_NONE


# ---- settings and results ------------------------------------------------------------------------


@dataclass(frozen=True)
class Range:
    """Addresses from start up to, and without, end."""

    start: int
    end: int


@dataclass(frozen=True)
class Settings:
    """Settings of a set, for :func:`perfmon.dispatch` and :class:`Session`.

    rates      events between interrupts, a counter each; 0 or missing: the slowest the counter has
    periods    EV6 and later: any number of events to 2**20 instead
    modes      EV5 and PCA56; 0: not restricted
    items      what each interrupt collects
    statistic  EV67: ProfileMe statistic, by name or number, when the event is a counting mode of
               ProfileMe
    ranges     addresses to profile; kernel: they are kernel addresses; caller: charge samples in
               all but the first to their callers, kernel addresses only
    stride     instructions in a bucket, a power of two, or 0 for one bucket; None: as the device
               has it, 4
    context_word  EV5, PCA56: word of PF5_CTXT_* bits, taken as it is
    keep       start the counters from the values they have (EV5 and later)
    read_interrupts  EV6 and later: read interrupt counts, not events
    """

    rates: Sequence[int] = ()
    periods: Sequence[int] = ()
    scope: Scope = Scope.SYSTEM
    open: Open = Open.ALL
    modes: Mode = Mode(0)
    items: Item = Item(0)
    statistic: int | str = 0
    ranges: Iterable[Union[Range, "tuple[int, int]"]] = ()
    kernel: bool = False
    caller: bool = False
    stride: int | None = None
    context_word: int | None = None
    keep: bool = False
    read_interrupts: bool = False

    def _flags(self) -> int:
        return combine_flags({
            lib.PFM_ALPHA_FL_KERNEL: self.kernel, lib.PFM_ALPHA_FL_CALLER: self.caller,
            lib.PFM_ALPHA_FL_STRIDE: self.stride is not None,
            lib.PFM_ALPHA_FL_CTXT: self.context_word is not None, lib.PFM_ALPHA_FL_KEEP: self.keep,
            lib.PFM_ALPHA_FL_GETCNT: self.read_interrupts
        })

    def _model_in(self) -> Any:
        m = ffi.new("pfmlib_alpha_input_param_t *")
        m.pfp_alpha_rates = list(make_words(self.rates, lib.PFM_ALPHA_MAX_COUNTERS, "rates"))
        m.pfp_alpha_periods = list(make_words(self.periods, lib.PFM_ALPHA_MAX_COUNTERS, "periods"))
        m.pfp_alpha_flags = self._flags()
        m.pfp_alpha_scope, m.pfp_alpha_open = int(self.scope), int(self.open)
        m.pfp_alpha_modes, m.pfp_alpha_items = int(self.modes), int(self.items)
        m.pfp_alpha_statistic = statistic(self.statistic) if isinstance(self.statistic,
                                                                        str) else self.statistic
        ranges = [r if isinstance(r, Range) else Range(*r) for r in self.ranges]
        if len(ranges) > lib.PFM_ALPHA_MAX_RANGES:
            raise ValueError(f"at most {lib.PFM_ALPHA_MAX_RANGES} ranges")
        m.pfp_alpha_n_ranges = len(ranges)
        for i, r in enumerate(ranges):
            m.pfp_alpha_ranges[i].start, m.pfp_alpha_ranges[i].end = r.start, r.end
        m.pfp_alpha_ctxt, m.pfp_alpha_stride = self.context_word or 0, self.stride or 0
        return m

    def _model_out(self) -> Any:
        return ffi.new("pfmlib_alpha_output_param_t *")

    def _read_result(self, placed: Any, out: Any) -> Result:
        return Result(out.open_flags,
                      tuple(list_bits(out.counters)), bool(out.privileged), out.statistic,
                      tuple(out.rates), out.iccsr, out.pmctr, out.cbox, out.pctr_ctl, out.i_ctl,
                      tuple(DeviceCommand._from_c(out.ioctls[i]) for i in range(out.n_ioctls)),
                      tuple(Call._from_c(out.calls[i]) for i in range(out.n_calls)))


@dataclass(frozen=True)
class Call:
    """A PALcode call of wrperfmon: a0 and a1."""

    function: int
    argument: int

    @classmethod
    def _from_c(cls, c: Any) -> Call:
        return cls(c.function, c.argument)


@dataclass(frozen=True)
class DeviceCommand:
    """A request to the device. Readings have no words: they take the address of a pointer to an
    array."""

    name: str
    request: int
    when: When
    words: tuple[int, ...]

    @classmethod
    def _from_c(cls, io: Any) -> DeviceCommand:
        return cls(c_text(io.name), io.request, When(io.when),
                   tuple(io.words[i] for i in range(io.n_words)))


@dataclass(frozen=True)
class Result:
    """Settings of the device and the chip for a set.

    open_flags  to be ORed into those of open(2)
    counters    counters in use
    privileged  the rates need superuser privilege
    statistic   ProfileMe statistic, 0 for none
    rates       events between interrupts in effect, 0 where not used
    iccsr, pmctr, cbox, pctr_ctl, i_ctl  registers as they are when counting has just begun, 0 where
                                         the chip has none
    ioctls      requests in order, from after open to before close
    calls       wrperfmon: selection, rates, modes, start, stop
    """

    open_flags: int
    counters: tuple[int, ...]
    privileged: bool
    statistic: int
    rates: tuple[int, ...]
    iccsr: int
    pmctr: int
    cbox: int
    pctr_ctl: int
    i_ctl: int
    ioctls: tuple[DeviceCommand, ...]
    calls: tuple[Call, ...]


# ---- about events --------------------------------------------------------------------------------


@dataclass(frozen=True)
class EventTraits:
    """Properties of an event.

    statistic     ProfileMe statistic, or 0; pm_mode: counting mode it needs, None for any
    weight        (numerator, denominator): events = count * numerator / denominator
    half_units    single-issue cycles add half a count
    counters      counters that can count it
    uncertainty   how a count can differ from its name
    error_counts  off by so many either way, 0 if nothing is known
    shift_cycles  the window counted is earlier (negative) or later by so many cycles
    window_less   the count is at most the window less so many cycles, 0 if unbounded
    linux_raw     number of the Linux driver, 0 if it has none
    constant      header constant; formula: how a statistic comes about; note: a remark
    """

    name: str
    index: int
    kind: EventKind
    statistic: int
    pm_mode: int | None
    weight: tuple[int, int]
    half_units: bool
    counters: tuple[int, ...]
    uncertainty: Uncertainty
    error_counts: int
    shift_cycles: int
    window_less: int
    linux_raw: int
    constant: str
    formula: str
    note: str


def _index(pmu: str, event: str) -> int:
    from .libpfm3 import Library
    return Library(_type(pmu)).find_event_by_name(event.rpartition("::")[2])


def traits(pmu: str, event: str) -> EventTraits:
    """Traits of an event. UnknownEventError if the name is unknown."""
    from .libpfm3 import Library
    index, info = _index(pmu, event), ffi.new("pfm_alpha_event_info_t *")
    check(lib.pfm_alpha_get_event_info(_type(pmu), index, info))
    return EventTraits(
        Library(_type(pmu)).event_name(index), index, EventKind(info.kind), info.statistic,
        info.pm_mode if info.pm_mode >= 0 else None, (info.weight_num, info.weight_den),
        bool(info.half_units), tuple(list_bits(info.counters)), Uncertainty(info.uncertainty),
        info.error_counts, info.shift_cycles, info.window_less, info.linux_raw,
        c_text(info.constant), c_text(info.formula), c_text(info.note))


def select(pmu: str, event: str, counter: int) -> tuple[int, int]:
    """Select value of an event on @counter, and select in the cache box, 0 if it has none.
    ArgumentError if that counter cannot count it."""
    sel, cbox = ffi.new("unsigned *"), ffi.new("unsigned *")
    check(lib.pfm_alpha_get_event_select(_type(pmu), _index(pmu, event), counter, sel, cbox))
    return sel[0], cbox[0]


def constant(pmu: str, event: str, counter: int) -> str:
    """Header constant of an event on @counter, ``""`` if it has none."""
    out = ffi.new("char *[1]")
    check(lib.pfm_alpha_get_event_constant(_type(pmu), _index(pmu, event), counter, out))
    return c_text(out[0])


def partners(pmu: str, event: str) -> Iterator[str]:
    """Events that can be measured beside @event, each on a counter of its own."""
    from .libpfm3 import Library
    library, index, partner, n = Library(_type(pmu)), _index(pmu, event), ffi.new("unsigned *"), 0
    while lib.pfm_alpha_get_event_partner(_type(pmu), index, n, partner) == ErrorCode.SUCCESS:
        yield library.event_name(partner[0])
        n += 1


# ---- words ---------------------------------------------------------------------------------------


def num_counters(pmu: str) -> int:
    """Number of counters."""
    return int(lib.pfm_alpha_num_counters(_type(pmu)))


def counter_width(pmu: str, counter: int) -> int:
    """Bits of a counter, 0 for one it does not have."""
    return int(lib.pfm_alpha_counter_width(_type(pmu), counter))


def rates(pmu: str, counter: int) -> list[int]:
    """Events between interrupts that a counter can be set to, slowest first."""
    out: list[int] = []
    while True:
        rate = lib.pfm_alpha_rate(_type(pmu), counter, len(out))
        if not rate:
            return out
        out.append(rate)


def rate_word(pmu: str, rates: Sequence[int], counters: int | None = None) -> tuple[int, bool]:
    """Rates as bits of ICCSR (EV4) or as the word for PCNT5FREQ (EV5, PCA56), and whether they need
    privilege.

    @counters is the mask of those that @rates holds for, by default as many as there are.
    ArgumentError for a rate that the counter does not have.
    """
    chosen = (1 << len(rates)) - 1 if counters is None else counters
    word, privileged = ffi.new("uint64_t *"), ffi.new("int *")
    check(
        lib.pfm_alpha_rate_word(_type(pmu), make_words(rates, lib.PFM_ALPHA_MAX_COUNTERS, "rates"),
                                chosen, word, privileged))
    return word[0], bool(privileged[0])


def driver_rates(word: int) -> tuple[int, bool]:
    """The driver's reading of a PCNT5FREQ word: the argument of wrperfmon 4, and whether it asks
    for privilege."""
    a1, privileged = ffi.new("uint64_t *"), ffi.new("int *")
    lib.pfm_alpha_driver_rates(word, a1, privileged)
    return a1[0], bool(privileged[0])


def pmctr_ctl(a1: int, counters: int) -> int:
    """CTL fields, in place in PMCTR, of the counters in the mask @counters once they are started
    with rates @a1."""
    return int(lib.pfm_alpha_pmctr_ctl(a1, counters))


def counter_word(pmu: str, select: int, cpu: int = lib.PMCTRS_ALL_CPUS,
                 values: Sequence[int] = ()) -> int:
    """Word that names the counters in the mask @select, a processor (by default all) and their
    values."""
    word = ffi.new("uint64_t *")
    check(
        lib.pfm_alpha_counter_word(_type(pmu), select, cpu,
                                   make_words(values, lib.PFM_ALPHA_MAX_COUNTERS, "values"), word))
    return int(word[0])


def split_counter_word(pmu: str, word: int) -> tuple[int, int, tuple[int, ...]]:
    """The other way: (mask of counters, processor, values)."""
    sel, cpu, values = ffi.new("unsigned *"), ffi.new("unsigned *"), ffi.new(
        "uint64_t[]", lib.PFM_ALPHA_MAX_COUNTERS)
    check(lib.pfm_alpha_split_counter_word(_type(pmu), word, sel, cpu, values))
    return sel[0], cpu[0], tuple(values)[:num_counters(pmu)]


def start_value(width: int, period: int) -> int:
    """Value from which a counter of @width bits overflows after @period events, 1 to 2**width."""
    value = ffi.new("uint64_t *")
    check(lib.pfm_alpha_start_value(width, period, value))
    return int(value[0])


def mode_word(modes: Mode | int, scope: Scope = Scope.SYSTEM) -> int:
    """Word for PCNT5CTXTS that counts in @modes and no others. PerfmonError for modes that the chip
    cannot distinguish."""
    word = ffi.new("uint64_t *")
    check(lib.pfm_alpha_mode_word(int(modes), int(scope), word))
    return int(word[0])


def word_modes(word: int) -> tuple[Mode, bool, bool]:
    """The other way: modes counted, whether only marked processes are, whether the caller is
    marked."""
    only, marks = ffi.new("int *"), ffi.new("int *")
    modes = Mode(lib.pfm_alpha_word_modes(word, only, marks))
    return modes, bool(only[0]), bool(marks[0])


def device_call(pmu: str, request: int, word: int) -> Call:
    """The wrperfmon call for what a device word asks. PerfmonError for requests without one
    argument of their own."""
    call = ffi.new("pfmlib_alpha_call_t *")
    check(lib.pfm_alpha_device_call(_type(pmu), request, word, call))
    return Call._from_c(call)


def pm_mode_word(mode: int) -> int:
    """Mode word of ProfileMe counting mode @mode, 0 to 3."""
    word = ffi.new("uint64_t *")
    check(lib.pfm_alpha_pm_mode_word(mode, word))
    return int(word[0])


@dataclass(frozen=True)
class Request:
    """A device request. families: those that have it, of ``"ev4"``, ``"ev5"``, ``"ev6"``."""

    name: str
    request: int
    families: tuple[str, ...]

    @classmethod
    def _from_c(cls, r: Any) -> Request:
        return cls(c_text(r.name), r.request,
                   tuple(("ev4", "ev5", "ev6")[i] for i in list_bits(r.families)))


def requests() -> Iterator[Request]:
    """All device requests."""
    r, i = ffi.new("pfm_alpha_request_t *"), 0
    while lib.pfm_alpha_request(i, r) == ErrorCode.SUCCESS:
        yield Request._from_c(r)
        i += 1


def request(name: str) -> Request:
    """The device request called @name. LookupError if the name is unknown."""
    r = ffi.new("pfm_alpha_request_t *")
    rc = lib.pfm_alpha_find_request(c_string(name), r)
    if rc:
        raise from_code(rc, f"the device has no request {name}")
    return Request._from_c(r)


def mask(name: str) -> int:
    """A mask that the system's header names, such as ``"PF5_WRITE_KMASK"``. LookupError for
    others."""
    value = ffi.new("uint64_t *")
    rc = lib.pfm_alpha_mask(c_string(name), value)
    if rc:
        raise from_code(rc, f"the header has no mask {name}")
    return int(value[0])


# ---- counts --------------------------------------------------------------------------------------


def events_from_interrupts(interrupts: int, rate: int) -> int:
    """Number of events for @interrupts at @rate."""
    return int(lib.pfm_alpha_events(interrupts, rate))


def events_from_raw(interrupts: int, width: int, raw: int) -> int:
    """Number of events for @interrupts of a full counter of @width bits that now has @raw in it."""
    return int(lib.pfm_alpha_events_raw(interrupts, width, raw))


def single_issues(issues: int, dual: int) -> int:
    """EV4: cycles that issued one instruction, from the counts of issues and of dual."""
    return int(lib.pfm_alpha_single_issues(issues, dual))


def sample_bytes(start: int, end: int, stride: int = 4, open: Open = Open.ALL,
                 n_cpus: int = 1) -> int:
    """Bytes of samples that read(2) delivers for the range. ArgumentError for an empty one or an
    impossible stride."""
    out = ffi.new("uint64_t *")
    check(lib.pfm_alpha_sample_bytes(start, end, stride, int(open), n_cpus, out))
    return int(out[0])


def bucket(start: int, stride: int, pc: int) -> int:
    """Bucket that collects @pc, in a range that begins at @start."""
    return int(lib.pfm_alpha_bucket(start, stride, pc))


def level_entry(*, user: bool = False, idle: bool = False, ipl: int = 0) -> int:
    """Entry of the interrupt levels that an interrupt is counted in."""
    return int(lib.pfm_alpha_level_entry(user, idle, ipl))


# ---- interrupts and ProfileMe --------------------------------------------------------------------


@dataclass(frozen=True)
class Interrupt:
    """The cause of an interrupt: counter, level, ``"entINT"`` or ``""``, offset of the vector."""

    counter: int
    ipl: int
    entry: str
    vector: int


def decode_interrupt(pmu: str, registers: Sequence[int], *, vms: bool = False) -> Interrupt:
    """From the handler's arguments: a0, a1, a2 on Digital UNIX, R4 alone on OpenVMS. LookupError
    for another interrupt than a counter's."""
    out, os = ffi.new(
        "pfm_alpha_interrupt_t *"), lib.PFM_ALPHA_OS_VMS if vms else lib.PFM_ALPHA_OS_UNIX
    check(lib.pfm_alpha_decode_interrupt(_type(pmu), os, make_words(registers, 3, "registers"),
                                         out))
    return Interrupt(out.counter, out.ipl, c_text(out.entry), out.vector)


def statistics() -> list[str]:
    """Names of the ProfileMe statistics, by number; number 0 is "off"."""
    return [c_text(lib.pfm_alpha_statistic_name(n)) for n in range(N_STATISTICS)]


def statistic(name: str) -> int:
    """Number of the statistic called @name, with or without PF67_PM_. LookupError if the name is
    unknown."""
    n = int(lib.pfm_alpha_find_statistic(c_string(name)))
    if n < 0:
        raise from_code(ErrorCode.NOTFOUND, f"ProfileMe has no statistic {name}")
    return n


def statistic_bits(n: int) -> int:
    """A statistic in place beside the items of PCNTSETITEMS."""
    return int(lib.pfm_alpha_statistic_bits(n))


def ratio(statistic: int, count: int, retired: int) -> tuple[int, int]:
    """A *_PER_RET statistic as (numerator, denominator). LookupError when nothing retired."""
    num, den = ffi.new("uint64_t *"), ffi.new("uint64_t *")
    rc = lib.pfm_alpha_ratio(statistic, count, retired, num, den)
    if rc:
        raise from_code(rc, "nothing retired" if rc == ErrorCode.NOTFOUND else None)
    return num[0], den[0]


@dataclass(frozen=True)
class Sample:
    """A sample of ProfileMe.

    pc          of the profiled instruction; None if it is in EXC_ADDR, because the fetch was
                redirected
    pal         in PALmode
    trap        how it was trapped; trap_name: in words
    residue     instructions fetched before the window opened; take off a retired count
    mode        counting mode of the window
    pctr0, pctr1  the counters
    statistics  numbers of the statistics to be incremented
    """

    pc: int | None
    pal: bool
    trap: Trap
    trap_name: str
    residue: int
    icache_miss: bool
    icache_parity: bool
    load_store_order: bool
    trapped: bool
    mispredicted: bool
    taken: bool
    valid: bool
    killed_early: bool
    stalled: bool
    profileme: bool
    mode: int
    pctr0: int
    pctr1: int
    statistics: tuple[int, ...]


def decode_sample(*, i_stat: int = 0, pmpc: int = 0, pctr_ctl: int = 0) -> Sample:
    """From the registers that wrperfmon 8, 9 and 5 returned; registers that were not read stay
    0."""
    s = ffi.new("pfm_alpha_sample_t *")
    lib.pfm_alpha_decode_sample(i_stat, pmpc, pctr_ctl, s)
    return Sample(None if s.pc_in_exc_addr else s.pc, bool(s.pal),
                  Trap(s.trap), c_text(s.trap_name), s.residue, bool(s.icache_miss),
                  bool(s.icache_parity), bool(s.load_store_order), bool(s.trapped),
                  bool(s.mispredicted), bool(s.taken), bool(s.valid), bool(s.killed_early),
                  bool(s.stalled), bool(s.profileme), s.mode, s.pctr0, s.pctr1,
                  tuple(list_bits(s.statistics)))


def register_statistics(*, i_stat: int | None = None, pmpc: int | None = None,
                        pctr_ctl: int | None = None) -> tuple[int, ...]:
    """Statistics that these registers alone say to increment."""
    found = 0
    if i_stat is not None:
        found |= lib.pfm_alpha_i_stat_statistics(i_stat)
    if pmpc is not None:
        found |= lib.pfm_alpha_pmpc_statistics(pmpc)
    if pctr_ctl is not None:
        found |= lib.pfm_alpha_pctr_ctl_statistics(pctr_ctl)
    return tuple(list_bits(found))


# ---- Linux on Alpha ------------------------------------------------------------------------------


@dataclass(frozen=True)
class LinuxEvent:
    """The driver's raw number for an event, and where it counts alone: counter and mode word."""

    raw: int
    counter: int
    mode: int


def linux_event(type: int, config: int) -> LinuxEvent:
    """The Linux driver's reading of a perf_event_attr. OSError with the errno of
    perf_event_open(2)."""
    raw, counter, mode = ffi.new("unsigned *"), ffi.new("unsigned *"), ffi.new("uint64_t *")
    err = lib.pfm_alpha_linux_event(type, config, raw, counter, mode)
    if err:
        raise OSError(-err, f"the driver refuses type {type}, config {config:#x}")
    return LinuxEvent(raw[0], counter[0], mode[0])


def linux_pair(first: int, second: int) -> tuple[tuple[int, int], int]:
    """Counters and mode word of two raw events in a group. OSError (EINVAL) when they do not fit
    together."""
    counter, mode = ffi.new("unsigned[2]"), ffi.new("uint64_t *")
    err = lib.pfm_alpha_linux_pair([first, second], counter, mode)
    if err:
        raise OSError(-err, f"raw events {first} and {second} do not fit together")
    return (counter[0], counter[1]), mode[0]


def linux_write(counter: int, period: int) -> Call:
    """The wrperfmon call with which the driver loads @counter so that it overflows after @period
    events."""
    call = ffi.new("pfmlib_alpha_call_t *")
    check(lib.pfm_alpha_linux_write(counter, period, call))
    return Call._from_c(call)


# ---- sessions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """The device's answer to a ProfileMe statistic."""

    statistic: int
    retired: int


def _emulator(family: str, n_cpus: int, cpu: int, uid: int) -> Any:
    """An emulator of the device, freed with the object that is returned."""
    out = ffi.new("struct alpha_emulator **")
    rc = lib.alpha_emulator_open(c_string(family), n_cpus, cpu, uid, out)
    if rc == -errno.ENODEV:
        raise from_code(ErrorCode.NOPMU, f"expected ev4, ev5, pca56, ev6 or ev67, got {family}")
    if rc:
        raise from_code(ErrorCode.INVAL if rc == -errno.EINVAL else ErrorCode.NOMEM,
                        "n_cpus or bind is out of range")
    return ffi.gc(out[0], lib.alpha_emulator_close)


class Session(_Session):
    """Counts on the Tru64 device /dev/pfcntr, or on a model of it inside this process.

    events        of one Alpha processor; without a prefix they belong to ``device_model``
    device_model  ``"ev4"`` ... ``"ev67"``: how often events happen is invented then; for trying
                  programs out
    device        path of the device; None: /dev/pfcntr
    settings      :class:`Settings`; None: one sum over all processors, slowest rates
    n_cpus        processors; 0: one, or those of the model
    bind          Open.ONE: the processor this process is bound to, for the model
    uid           the user, for the model; 0 is the superuser

    Beside what every session has: counts of each processor, process cycles, interrupt levels,
    samples.
    """

    def __init__(self, events: Iterable[str], *, device_model: str | None = None,
                 device: str | None = None, settings: Settings | None = None, n_cpus: int = 0,
                 bind: int = 0, uid: int = 0, context: Context | None = None,
                 **options: Any) -> None:
        native, keep = new_struct("pfm_alpha_session_t"), []
        if settings is not None:
            keep.append(settings._model_in())
            native.model = keep[-1]
        if device is not None:
            keep.append(ffi.new("char[]", c_string(device)))
            native.device = keep[-1]
        if device_model is not None:
            keep.append(_emulator(device_model, n_cpus, bind, uid))
            native.emulator = lib.alpha_emulator_get_device(keep[-1])
            options.setdefault("pmu", device_model)
        native.n_cpus, native.bind = n_cpus, bind
        super().__init__(events, context=context, backend="pfm_device", _backend_options=native,
                         **options)
        self._keep = keep  # set last, so that an emulator is freed after the session

    @property
    def entries(self) -> int:
        """Number of entries that results come in: processors under Open.EACH, else 1."""
        return check(lib.pfm_alpha_session_entries(self._native()))

    def count(self, event: int, entry: int = 0) -> int:
        """Count of event number @event in @entry: events, not interrupts."""
        value = ffi.new("uint64_t *")
        with self._lock:
            self._check(lib.pfm_alpha_session_count(self._native(), entry, event, value))
        return int(value[0])

    def cycles(self, entry: int = 0) -> int:
        """Process cycles of an entry, as the device gives them."""
        value = ffi.new("uint64_t *")
        with self._lock:
            self._check(lib.pfm_alpha_session_cycles(self._native(), entry, value))
        return int(value[0])

    def levels(self, entry: int = 0) -> tuple[int, ...]:
        """Interrupts by the level they broke into: 0 to 5 kernel at that level, 6 none, 7 idle, 8
        user. ArgumentError without Item.IPL."""
        out = ffi.new("struct pfipls *")
        with self._lock:
            self._check(lib.pfm_alpha_session_levels(self._native(), entry, out))
        return tuple(out.ipl)

    def samples(self) -> Any:
        """Samples of all entries, one block of buckets after the other: a column of 32-bit
        numbers."""
        size = ffi.new("uint64_t *")
        with self._lock:
            self._check(lib.pfm_alpha_session_sample_bytes(self._native(), size))
        n = size[0] // ffi.sizeof("pfcntr_bucket_t")
        buckets = ffi.new("pfcntr_bucket_t[]", n)
        with self._lock:
            got = self._check(lib.pfm_alpha_session_samples(self._native(), buckets, n))
        return _bulk.copy_column(buckets, got, "uint32")

    def pair(self, entry: int = 0) -> Pair:
        """ProfileMe: the statistic and the retired count. ArgumentError for other sessions."""
        stat, retired = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        with self._lock:
            self._check(lib.pfm_alpha_session_pair(self._native(), entry, stat, retired))
        return Pair(stat[0], retired[0])
