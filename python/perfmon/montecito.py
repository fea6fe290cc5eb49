# SPDX-License-Identifier: MIT
"""Dual-core Itanium 2 9000 ("Montecito"): opcode matchers, address ranges, event address registers,
the trace buffer, and what they record.

Settings go to :func:`perfmon.dispatch`, as a whole or one by one:

    d = perfmon.dispatch(["IA64_INST_RETIRED_THIS"], pmu="montecito", irange=[(0x4000, 0x4100)])
    d.model.irange.registers, d.model.fine
"""
from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, TypeVar, Union

from . import _c
from ._c import ffi, lib
from ._errors import ErrorCode, check
from .event import Register, RegisterKind

__all__ = [
    "BranchType", "Branch", "CodeRanges", "Counter", "DataEarSample", "Ear", "EarMode", "Etb",
    "EventGroup", "EventTraits", "EventType", "CodeEarSample", "InstructionTrace", "Ipear", "Level",
    "Opcm", "Overhang", "Predicted", "Range", "RangeResult", "Result", "Settings", "Taken",
    "decode_dear", "decode_etb", "decode_iear", "decode_ipear", "traits"
]


class EarMode(enum.IntEnum):
    """Events that an event address register follows."""

    CACHE = lib.PFMLIB_MONT_EAR_CACHE_MODE
    TLB = lib.PFMLIB_MONT_EAR_TLB_MODE
    ALAT = lib.PFMLIB_MONT_EAR_ALAT_MODE  #: data only


class Taken(enum.IntFlag):
    """Branches the trace buffer records."""

    NONE = 0
    NOT_TAKEN = 1
    TAKEN = 2
    ALL = 3


class Predicted(enum.IntFlag):
    """Predictions of branches the trace buffer records."""

    NONE = 0
    WRONG = 1
    RIGHT = 2
    ALL = 3


class BranchType(enum.IntEnum):
    """Types of branches the trace buffer records."""

    ALL = 0
    IP_RELATIVE = 1
    RETURN = 2
    INDIRECT = 3  #: other than returns


class EventGroup(enum.IntEnum):
    """Events of a group share selectors in the cache they look at."""

    NONE = lib.PFMLIB_MONT_EVT_NO_GRP
    L1D = lib.PFMLIB_MONT_EVT_L1D_CACHE_GRP
    L2D = lib.PFMLIB_MONT_EVT_L2D_CACHE_GRP


class EventType(enum.IntEnum):
    """How an event goes with the two threads of a core."""

    ACTIVE = lib.PFMLIB_MONT_EVT_ACTIVE                #: happens while its thread is active
    FLOATING = lib.PFMLIB_MONT_EVT_FLOATING            #: can happen while its thread is inactive
    CAUSAL = lib.PFMLIB_MONT_EVT_CAUSAL                #: belongs to no thread
    #: floating when measured with .me, else causal
    SELF_FLOATING = lib.PFMLIB_MONT_EVT_SELF_FLOATING


class Level(enum.IntEnum):
    """Where a miss was answered."""

    NONE = lib.PFMLIB_MONT_LEVEL_NONE  #: nothing recorded, or not known in this mode
    TLB2 = lib.PFMLIB_MONT_LEVEL_TLB2  #: the second level TLB had the translation
    VHPT = lib.PFMLIB_MONT_LEVEL_VHPT  #: the hardware walker found it
    OS = lib.PFMLIB_MONT_LEVEL_OS      #: a fault, software supplied it
    L2 = lib.PFMLIB_MONT_LEVEL_L2      #: sooner than the third level cache can answer
    FAR = lib.PFMLIB_MONT_LEVEL_FAR    #: third level cache or beyond, or a late second level


# ---- settings ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counter:
    """Settings of the event with the same index.

    thres         count cycles with more than this many occurrences; below the event's ``maxincr``
    no_qualcheck  count the event although a filter in use does not act on it
    active_only   only while its thread is active; refused for events of another type
    always        also while its thread is inactive; refused for active events
    all_threads   for both threads: refused, no event supports it
    """

    thres: int = 0
    no_qualcheck: bool = False
    active_only: bool = False
    always: bool = False
    all_threads: bool = False

    @property
    def flags(self) -> int:
        return _c.combine_flags({
            lib.PFMLIB_MONT_FL_EVT_NO_QUALCHECK: self.no_qualcheck,
            lib.PFMLIB_MONT_FL_EVT_ACTIVE_ONLY: self.active_only,
            lib.PFMLIB_MONT_FL_EVT_ALWAYS: self.always,
            lib.PFMLIB_MONT_FL_EVT_ALL_THRD: self.all_threads
        })

    def _fill_struct(self, c: Any) -> None:
        c.thres, c.flags = self.thres, self.flags


@dataclass(frozen=True)
class Opcm:
    """Opcode matcher: count instructions in the chosen slots whose opcode equals ``match``.

    match, mask  41 bits; a bit set in mask is not compared
    slots        letters of ``"mifb"``: memory, integer, floating point, branch
    """

    match: int = 0
    mask: int = 0
    slots: str = "mifb"

    def _fill_struct(self, o: Any) -> None:
        if set(self.slots) - set("mifb"):
            raise ValueError(f"expected letters of 'mifb' in slots, got {self.slots!r}")
        o.opcm_used = 1
        for slot in self.slots:
            setattr(o, "opcm_" + slot, 1)
        o.opcm_match, o.opcm_mask = self.match, self.mask


@dataclass(frozen=True)
class Ear:
    """An event address register that follows no event of the set. umask: which misses; plm 0:
    levels of the set."""

    mode: EarMode = EarMode.CACHE
    umask: int = 0
    plm: int | str = 0

    def _fill_struct(self, e: Any) -> None:
        e.ear_used = 1
        e.ear_mode, e.ear_umask, e.ear_plm = int(self.mode), self.umask, _c.plm_mask(self.plm)


@dataclass(frozen=True)
class Etb:
    """Branches that the trace buffer records. plm 0: levels of the set."""

    taken: Taken = Taken.ALL
    target: Predicted = Predicted.ALL     #: by prediction of the target
    direction: Predicted = Predicted.ALL  #: by prediction of the direction
    branches: BranchType = BranchType.ALL
    plm: int | str = 0

    def _fill_struct(self, e: Any) -> None:
        e.etb_used = 1
        e.etb_tm, e.etb_ptm, e.etb_ppm = int(self.taken), int(self.target), int(self.direction)
        e.etb_brt, e.etb_plm = int(self.branches), _c.plm_mask(self.plm)


@dataclass(frozen=True)
class Ipear:
    """Trace of retired instructions, in the same buffer. delay: cycles it goes on after an
    overflow, 8 bits."""

    delay: int = 0
    plm: int | str = 0

    def _fill_struct(self, e: Any) -> None:
        e.ipear_used, e.ipear_delay, e.ipear_plm = 1, self.delay, _c.plm_mask(self.plm)


@dataclass(frozen=True)
class Range:
    """Addresses from start up to, and without, end; for code multiples of 16. plm 0: levels of the
    set."""

    start: int
    end: int
    plm: int | str = 0


_Limits = Iterable[Union[Range, "tuple[int, int]"]]


@dataclass(frozen=True)
class CodeRanges:
    """Up to four code ranges.

    outside       count outside the ranges
    fine          False: power-of-two blocks even where exact limits would do
    demand_fetch, prefetch  for the four events that count both fetches: which of them the ranges
                            apply to
    """

    limits: _Limits
    outside: bool = False
    fine: bool = True
    demand_fetch: bool = False
    prefetch: bool = False

    @property
    def flags(self) -> int:
        return _c.combine_flags({
            lib.PFMLIB_MONT_RR_INV: self.outside, lib.PFMLIB_MONT_RR_NO_FINE_MODE: not self.fine,
            lib.PFMLIB_MONT_IRR_DEMAND_FETCH: self.demand_fetch,
            lib.PFMLIB_MONT_IRR_PREFETCH_MATCH: self.prefetch
        })


def _fill_ranges(rr: Any, limits: _Limits, flags: int) -> None:
    chosen = [r if isinstance(r, Range) else Range(*r) for r in limits]
    if len(chosen) > 4:
        raise ValueError("at most four ranges")
    rr.rr_used, rr.rr_flags = 1, flags
    for i, r in enumerate(chosen):
        rr.rr_limits[i].rr_start, rr.rr_limits[i].rr_end = r.start, r.end
        rr.rr_limits[i].rr_plm = _c.plm_mask(r.plm)


_FEATURES: dict[str, Any] = {
    "opcm1": Opcm, "opcm2": Opcm, "iear": Ear, "dear": Ear, "ipear": Ipear, "etb": Etb
}


def _convert_to(kind: Any, given: Any) -> Any:
    if not isinstance(given, (kind, Mapping)):
        raise TypeError(f"expected a {kind.__name__} or a mapping with its members, got {given!r}")
    return given if isinstance(given, kind) else kind(**given)


@dataclass(frozen=True)
class Settings:
    """Everything beside the events of a set. Wrong settings raise ModelError, or PerfmonError, from
    dispatch.

    In place of a class, a mapping with its members does as well: ``opcm1={"match": 0x1000, "slots":
    "mi"}``.

    qualcheck  False: for every event what Counter.no_qualcheck is for one. Else an event that a
               filter does not act on, such as CPU_OP_CYCLES_ALL beside an opcode matcher, is
               refused
    """

    counters: Sequence[Counter | Mapping[str, Any]] = ()
    opcm1: Opcm | Mapping[str, Any] | None = None   #: PMC32, PMC33
    opcm2: Opcm | Mapping[str, Any] | None = None   #: PMC34, PMC35
    iear: Ear | Mapping[str, Any] | None = None     #: PMC37
    dear: Ear | Mapping[str, Any] | None = None     #: PMC40
    ipear: Ipear | Mapping[str, Any] | None = None  #: PMC42
    etb: Etb | Mapping[str, Any] | None = None      #: PMC39
    drange: _Limits | None = None
    irange: CodeRanges | Mapping[str, Any] | _Limits | None = None
    qualcheck: bool = True

    def _model_in(self) -> Any:
        model = ffi.new("pfmlib_mont_input_param_t *")
        if len(self.counters) > lib.PMU_MONT_NUM_COUNTERS:
            raise ValueError(f"there are {lib.PMU_MONT_NUM_COUNTERS} counters")
        for i, counter in enumerate(self.counters):
            _convert_to(Counter, counter)._fill_struct(model.pfp_mont_counters[i])
        for i in range(lib.PMU_MONT_NUM_COUNTERS if not self.qualcheck else 0):
            model.pfp_mont_counters[i].flags |= lib.PFMLIB_MONT_FL_EVT_NO_QUALCHECK
        for name, kind in _FEATURES.items():
            feature = getattr(self, name)
            if feature is not None:
                _convert_to(kind, feature)._fill_struct(getattr(model, "pfp_mont_" + name))
        if self.drange is not None:
            _fill_ranges(model.pfp_mont_drange, self.drange, 0)
        if self.irange is not None:
            code = _convert_to(CodeRanges, self.irange) if isinstance(
                self.irange, (CodeRanges, Mapping)) else CodeRanges(self.irange)
            _fill_ranges(model.pfp_mont_irange, code.limits, code.flags)
        return model

    def _model_out(self) -> Any:
        return ffi.new("pfmlib_mont_output_param_t *")

    def _read_result(self, placed: Any, out: Any) -> Result:
        generic = ffi.new("pfmlib_output_param_t *")
        generic.pfp_pmc_count = placed.n_pmcs
        for i in range(placed.n_pmcs):
            generic.pfp_pmcs[i].reg_num = placed.pmcs[i].num
            generic.pfp_pmcs[i].reg_value = placed.pmcs[i].value
        return Result(RangeResult._from_c(out.pfp_mont_irange, RegisterKind.IBR),
                      RangeResult._from_c(out.pfp_mont_drange, RegisterKind.DBR),
                      bool(lib.pfm_mont_irange_is_fine(generic, out)))


# ---- results -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Overhang:
    """Bytes that are covered though they were not requested: before the start of a range, and from
    its end on."""

    before: int
    behind: int


@dataclass(frozen=True)
class RangeResult:
    """Debug registers to load, in pairs of address and mask; the kernel adds the enable bits.
    overhang: of each range."""

    registers: tuple[Register, ...]
    overhang: tuple[Overhang, ...]

    @classmethod
    def _from_c(cls, rr: Any, kind: RegisterKind) -> RangeResult | None:
        if not rr.rr_nbr_used:
            return None
        regs = (rr.rr_br[i] for i in range(rr.rr_nbr_used))
        return cls(
            tuple(Register(r.reg_num, kind, r.reg_addr, r.reg_alt_addr, r.reg_value) for r in regs),
            tuple(Overhang(rr.rr_infos[i].rr_soff, rr.rr_infos[i].rr_eoff) for i in range(4)))


@dataclass(frozen=True)
class Result:
    """Debug registers of the ranges, None without a range. fine: code is restricted with exact
    limits."""

    irange: RangeResult | None
    drange: RangeResult | None
    fine: bool


# ---- about events --------------------------------------------------------------------------------


@dataclass(frozen=True)
class EventTraits:
    """Properties of an event.

    maxincr   most occurrences in one cycle
    umask     unit mask; for an EAR event that of the register
    group, set  events of one group: one set of L1D events, two of L2D events fit together; set is
                None outside a group
    type      how it goes with threads
    ear_mode  mode of the EAR it feeds, None if it feeds none
    ear       ``"data"``, ``"code"`` or None
    etb       counts what the trace buffer records
    opcm, iarr, darr, all_threads  the filters under which its count stays true
    """

    name: str
    index: int
    maxincr: int
    umask: int
    group: EventGroup
    set: int | None
    type: EventType
    ear_mode: EarMode | None
    ear: str | None
    etb: bool
    opcm: bool
    iarr: bool
    darr: bool
    all_threads: bool


def _read_trait(call: Any, ctype: str, index: int) -> int:
    out = ffi.new(ctype)
    check(call(index, out))
    return int(out[0])


def _ear_mode(index: int) -> EarMode | None:
    mode = ffi.new("pfmlib_mont_ear_mode_t *")
    rc = lib.pfm_mont_get_ear_mode(index, mode)
    return EarMode(mode[0]) if rc == ErrorCode.SUCCESS else None


def traits(event: str) -> EventTraits:
    """Traits of the event called @event. UnknownEventError if the name is unknown."""
    from .libpfm3 import Library
    library = Library("montecito")
    index = library.find_event_by_name(event.rpartition("::")[2])
    number = _read_trait(lib.pfm_mont_get_event_set, "int *", index)
    ear = "data" if lib.pfm_mont_is_dear(index) else "code" if lib.pfm_mont_is_iear(index) else None
    return EventTraits(
        library.event_name(index), index,
        _read_trait(lib.pfm_mont_get_event_maxincr, "unsigned *", index),
        _read_trait(lib.pfm_mont_get_event_umask, "unsigned long *", index),
        EventGroup(_read_trait(lib.pfm_mont_get_event_group, "int *", index)),
        number if number != lib.PFMLIB_MONT_EVT_NO_SET else None,
        EventType(_read_trait(lib.pfm_mont_get_event_type, "int *", index)), _ear_mode(index), ear,
        *(bool(call(index))
          for call in (lib.pfm_mont_is_etb, lib.pfm_mont_support_opcm, lib.pfm_mont_support_iarr,
                       lib.pfm_mont_support_darr, lib.pfm_mont_support_all)))


# ---- what the hardware recorded ------------------------------------------------------------------


@dataclass(frozen=True)
class DataEarSample:
    """A sample of the data EAR. Addresses are None where they were not recorded; latency in cycles,
    a lower bound if ``overflow``."""

    data_address: int | None
    instruction_address: int | None
    slot: int | None
    latency: int
    overflow: bool
    level: Level


@dataclass(frozen=True)
class CodeEarSample:
    """A sample of the code EAR: line of 32 bytes that was fetched, None if nothing was recorded;
    latency in cycles."""

    address: int | None
    latency: int
    overflow: bool
    level: Level


@dataclass(frozen=True)
class Branch:
    """A branch from the trace buffer.

    source, target  bundles; None where the entry was overwritten or nothing was recorded
    slot            of a taken branch; None if not taken: the hardware does not say which then
    entry           first trace buffer entry it was read from: PMD48 + entry
    """

    source: int | None
    target: int | None
    taken: bool
    slot: int | None
    mispredicted: bool
    flushed: bool
    entry: int

    @classmethod
    def _from_c(cls, b: Any) -> Branch:
        return cls(b.br_source if b.br_source_valid else None,
                   b.br_target if b.br_target_valid else None,
                   bool(b.br_taken), b.br_slot if b.br_slot < 3 else None, bool(b.br_mispredicted),
                   bool(b.br_flushed), b.br_entry)


@dataclass(frozen=True)
class InstructionTrace:
    """A group of retired instructions from the trace buffer.

    address       bundle; with early_freeze its low 12 bits are not recorded and 0
    cycles        since the one before, 0 to 63
    delay         with early_freeze: what was left of the delay
    """

    address: int
    cycles: int
    delay: int
    flushed: bool
    early_freeze: bool
    entry: int

    @classmethod
    def _from_c(cls, t: Any) -> InstructionTrace:
        return cls(t.ip_addr, t.ip_cycles, t.ip_delay, bool(t.ip_flushed), bool(t.ip_early_freeze),
                   t.ip_entry)


def decode_dear(mode: EarMode | int, pmd32: int, pmd33: int, pmd36: int) -> DataEarSample:
    """Data EAR sample from its registers. @mode must be the one it was programmed for."""
    s = ffi.new("pfmlib_mont_dear_sample_t *")
    check(lib.pfm_mont_decode_dear(int(mode), pmd32, pmd33, pmd36, s))
    known = bool(s.dear_iaddr_valid)
    return DataEarSample(s.dear_daddr if s.dear_valid else None, s.dear_iaddr if known else None,
                         s.dear_slot if known else None, s.dear_latency, bool(s.dear_overflow),
                         Level(s.dear_level))


def decode_iear(mode: EarMode | int, pmd34: int, pmd35: int) -> CodeEarSample:
    """Code EAR sample from its registers. ArgumentError for the mode ALAT."""
    s = ffi.new("pfmlib_mont_iear_sample_t *")
    check(lib.pfm_mont_decode_iear(int(mode), pmd34, pmd35, s))
    return CodeEarSample(s.iear_iaddr if s.iear_valid else None, s.iear_latency,
                         bool(s.iear_overflow), Level(s.iear_level))


_T = TypeVar("_T")


def _read_trace(call: Any, ctype: str, make: Callable[[Any], _T], pmd38: int, pmd39: int,
                pmds: Sequence[int]) -> list[_T]:
    if len(pmds) != lib.PMU_MONT_NUM_ETB:
        raise ValueError(f"the trace buffer has {lib.PMU_MONT_NUM_ETB} entries")
    out, n = ffi.new(f"{ctype}[{lib.PMU_MONT_NUM_ETB}]"), ffi.new("unsigned *")
    check(
        call(pmd38, pmd39, _c.make_words((int(p) for p in pmds), lib.PMU_MONT_NUM_ETB, "entries"),
             out, n))
    return [make(out[i]) for i in range(n[0])]  # here: an element does not keep its array alive


def decode_etb(pmd38: int, pmd39: int, pmds: Sequence[int]) -> list[Branch]:
    """Branches in the trace buffer, oldest first, from PMD38, PMD39 and PMD48 to PMD63."""
    return _read_trace(lib.pfm_mont_decode_etb, "pfmlib_mont_branch_t", Branch._from_c, pmd38,
                       pmd39, pmds)


def decode_ipear(pmd38: int, pmd39: int, pmds: Sequence[int]) -> list[InstructionTrace]:
    """Retired instructions in the trace buffer, oldest first. Arguments as for
    :func:`decode_etb`."""
    return _read_trace(lib.pfm_mont_decode_ipear, "pfmlib_mont_ip_t", InstructionTrace._from_c,
                       pmd38, pmd39, pmds)


