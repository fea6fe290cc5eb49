# SPDX-License-Identifier: MIT
"""The libpfm 3 interface, for one processor at a time.

    from perfmon import libpfm3
    mont = libpfm3.Library("montecito")
    event = mont.find_full_event("L3_READS_ALL_ALL:M")
    out = mont.dispatch([event, mont.cycle_event()])

In C this interface has one selected processor for the whole program. Here each :class:`Library` has
its own: a call selects it, under a lock, and restores the earlier selection. Results and errors are
those of C, number by number;
:func:`perfmon.dispatch` and :class:`perfmon.Context` do the same and more.
"""
from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ._c import Plm, list_bits, ffi, lib, plm_mask, make_regmask, read_text as c_text
from ._errors import ErrorCode, UnknownEventError, UnknownPmuError, c_string, check, from_code
from .context import Context
from .models import Model, settings_class

__all__ = ["EventSpec", "Library", "Mask", "Output", "Reg", "error_text", "supported", "version"]

MAX_NAME = 1024

_lock = threading.RLock()


@dataclass(frozen=True)
class EventSpec:
    """An event to measure: index in the table, indices of unit masks, levels (0: those of the
    set)."""

    event: int
    masks: tuple[int, ...] = ()
    plm: int = 0

    def at(self, plm: int | str) -> EventSpec:
        """The event at other levels."""
        return replace(self, plm=plm_mask(plm))


@dataclass(frozen=True)
class Mask:
    """A unit mask of an event."""

    index: int
    name: str
    code: int
    description: str


@dataclass(frozen=True)
class Reg:
    """A register and what belongs in it, as pfmlib_reg_t has it."""

    num: int
    value: int
    addr: int
    alt_addr: int

    @classmethod
    def _from_c(cls, r: Any) -> Reg:
        return cls(r.reg_num, r.reg_value, r.reg_addr, r.reg_alt_addr)


@dataclass(frozen=True)
class Output:
    """Control registers (the counters' first, in event order), data registers, and what the model
    has to say."""

    pmcs: tuple[Reg, ...]
    pmds: tuple[Reg, ...]
    model: Any = None


class _Placed:
    """pfmlib_output_param_t as the models read a set."""

    def __init__(self, out: Any) -> None:
        self.n_pmcs = out.pfp_pmc_count
        self.pmcs = [Reg._from_c(out.pfp_pmcs[i]) for i in range(self.n_pmcs)]


@lru_cache(maxsize=1)
def _open_builtin() -> Context:
    """The processors that are built in, without a look at this machine."""
    return Context(host=False, images=False)


def _type_of(name: str) -> int:
    """The number of a processor. One whose table here has other names than in libpfm 3 has a second
    table for this."""
    pmus = _open_builtin().pmus
    settings = pmus[name].features.get("settings")
    for pmu in (pmus[name], *pmus):
        if pmu.libpfm_type is not None and (pmu.name == pmus[name].name or
                                            (settings
                                             and pmu.features.get("settings") == settings)):
            return int(pmu.libpfm_type)
    raise UnknownPmuError(f"the libpfm 3 interface has no {name}", code=ErrorCode.NOPMU,
                          kind="unknown_pmu", text=name, span=(0, len(name)))


def version() -> tuple[int, int]:
    """Version of the interface: (3, 11) or later."""
    v = ffi.new("unsigned *")
    check(lib.pfm_get_version(v))
    return v[0] >> 16, v[0] & 0xffff


def error_text(code: int) -> str:
    """The interface's phrase for a result code, PFMLIB_SUCCESS or PFMLIB_ERR_*."""
    return c_text(lib.pfm_strerror(code))


def supported() -> Iterator[tuple[int, str]]:
    """(PFMLIB_*_PMU, description) of every processor of this interface."""
    types = {getattr(lib, n) for n in dir(lib) if n.startswith("PFMLIB_") and n.endswith("_PMU")}
    buf = ffi.new("char[]", MAX_NAME)
    for number in sorted(types):
        if lib.pfm_get_pmu_name_bytype(number, buf, MAX_NAME) == ErrorCode.SUCCESS:
            yield number, c_text(buf)


class Library:
    """One processor: a PFMLIB_*_PMU number, a name such as ``"montecito"``, or None for this
    machine's.

    UnknownPmuError for an unknown processor. Methods raise what C returns: UnknownEventError
    (NOTFOUND), PerfmonError with the code (UMASK, INVAL ...).
    """

    def __init__(self, pmu: int | str | None = None) -> None:
        if isinstance(pmu, str):
            self.type = _type_of(pmu)
        elif pmu is None:
            with _lock:
                check(lib.pfm_initialize())
                self.type = self._number(lib.pfm_get_pmu_type, "int *")
        else:
            self.type = pmu
        with self._select_model():
            pass

    @contextmanager
    def _select_model(self) -> Iterator[None]:
        with _lock:
            before = ffi.new("int *")
            rc = lib.pfm_get_pmu_type(before)
            if rc or before[0] != self.type:
                check(lib.pfm_force_pmu(self.type))
            try:
                yield
            finally:
                if rc == 0 and before[0] != self.type:
                    lib.pfm_force_pmu(before[0])

    @staticmethod
    def _number(call: Any, ctype: str, *args: Any) -> int:
        out = ffi.new(ctype)
        check(call(*args, out))
        return int(out[0])

    def _ask_number(self, call: Any, ctype: str, *args: Any) -> int:
        with self._select_model():
            return self._number(call, ctype, *args)

    def _text(self, call: Any, *args: Any, room: int = MAX_NAME) -> str:
        buf = ffi.new("char[]", max(room, 1))
        with self._select_model():
            check(call(*args, buf, room))
        return c_text(buf)

    def _owned_text(self, call: Any, *args: Any) -> str:
        out = ffi.new("char **")
        with self._select_model():
            check(call(*args, out))
        try:
            return c_text(out[0])
        finally:
            lib.free(out[0])

    def _registers(self, call: Any, *args: Any) -> tuple[int, ...]:
        out = ffi.new("pfmlib_regmask_t *")
        with self._select_model():
            check(call(*args, out))
        return tuple(64 * i + b for i, word in enumerate(out.bits) for b in list_bits(word))

    def _event(self, spec: EventSpec) -> Any:
        e = ffi.new("pfmlib_event_t *")
        self._fill_struct(e, spec)
        return e

    @staticmethod
    def _fill_struct(e: Any, spec: EventSpec) -> None:
        if len(spec.masks) > lib.PFMLIB_MAX_MASKS_PER_EVENT:
            raise from_code(ErrorCode.TOOMANY)
        e.event, e.plm, e.num_masks = spec.event, spec.plm, len(spec.masks)
        for i, m in enumerate(spec.masks):
            e.unit_masks[i] = m

    @staticmethod
    def _spec(e: Any) -> EventSpec:
        return EventSpec(e.event, tuple(e.unit_masks[i] for i in range(e.num_masks)), e.plm)

    # ---- the processor

    @property
    def name(self) -> str:
        return self._text(lib.pfm_get_pmu_name)

    @property
    def num_events(self) -> int:
        return self._ask_number(lib.pfm_get_num_events, "unsigned *")

    @property
    def num_pmcs(self) -> int:
        return self._ask_number(lib.pfm_get_num_pmcs, "unsigned *")

    @property
    def num_pmds(self) -> int:
        return self._ask_number(lib.pfm_get_num_pmds, "unsigned *")

    @property
    def num_counters(self) -> int:
        return self._ask_number(lib.pfm_get_num_counters, "unsigned *")

    @property
    def counter_width(self) -> int:
        """Bits of a counter, of the narrowest one where they differ."""
        return self._ask_number(lib.pfm_get_hw_counter_width, "unsigned *")

    @property
    def max_event_name_len(self) -> int:
        return self._ask_number(lib.pfm_get_max_event_name_len, "size_t *")

    @property
    def impl_pmcs(self) -> tuple[int, ...]:
        return self._registers(lib.pfm_get_impl_pmcs)

    @property
    def impl_pmds(self) -> tuple[int, ...]:
        return self._registers(lib.pfm_get_impl_pmds)

    @property
    def impl_counters(self) -> tuple[int, ...]:
        return self._registers(lib.pfm_get_impl_counters)

    # ---- finding events

    def find_event(self, text: str) -> int:
        """Index by name, or by code if @text starts with a digit. What follows a colon is
        ignored."""
        return self._ask_number(lambda out: lib.pfm_find_event(c_string(text), out), "unsigned *")

    def find_event_by_name(self, name: str) -> int:
        return self._ask_number(lambda out: lib.pfm_find_event_byname(c_string(name), out),
                                "unsigned *")

    def find_event_by_code(self, code: int, after: int | None = None) -> int:
        """Index of the first event with this code, or of the next after index @after."""
        if after is None:
            return self._ask_number(lib.pfm_find_event_bycode, "unsigned *", code)
        return self._ask_number(lib.pfm_find_event_bycode_next, "unsigned *", code, after)

    def find_events_by_code(self, code: int) -> Iterator[int]:
        """Indices of all events with this code."""
        index = None
        while True:
            try:
                index = self.find_event_by_code(code, index)
            except UnknownEventError:
                return
            yield index

    def find_event_mask(self, event: int, text: str) -> int:
        """Index of a unit mask by name or code."""
        return self._ask_number(lambda out: lib.pfm_find_event_mask(event, c_string(text), out),
                                "unsigned *")

    def find_full_event(self, text: str) -> EventSpec:
        """Event and unit masks from NAME:MASK:MASK."""
        e = ffi.new("pfmlib_event_t *")
        with self._select_model():
            check(lib.pfm_find_full_event(c_string(text), e))
        return self._spec(e)

    # ---- about events

    def event_name(self, event: int, room: int = MAX_NAME) -> str:
        """Name in capitals. PerfmonError (INVAL) when it does not fit in @room bytes with its
        NUL."""
        return self._text(lib.pfm_get_event_name, event, room=room)

    def full_event_name(self, spec: EventSpec, room: int = MAX_NAME) -> str:
        """NAME:MASK:MASK. PerfmonError (FULL) when it does not fit in @room bytes with its NUL."""
        return self._text(lib.pfm_get_full_event_name, self._event(spec), room=room)

    def event_code(self, event: int, counter: int | None = None) -> int:
        """Code, on one counter where they differ."""
        if counter is None:
            return self._ask_number(lib.pfm_get_event_code, "int *", event)
        return self._ask_number(lib.pfm_get_event_code_counter, "int *", event, counter)

    def event_counters(self, event: int) -> tuple[int, ...]:
        """Counters that can count it, in the numbers of ``impl_counters``."""
        return self._registers(lib.pfm_get_event_counters, event)

    def event_description(self, event: int) -> str:
        return self._owned_text(lib.pfm_get_event_description, event)

    def mask_name(self, event: int, mask: int, room: int = MAX_NAME) -> str:
        return self._text(lib.pfm_get_event_mask_name, event, mask, room=room)

    def masks(self, event: int) -> Iterator[Mask]:
        """Unit masks of an event."""
        for i in range(self._ask_number(lib.pfm_get_num_event_masks, "unsigned *", event)):
            yield Mask(i, self.mask_name(event, i),
                       self._ask_number(lib.pfm_get_event_mask_code, "unsigned *", event, i),
                       self._owned_text(lib.pfm_get_event_mask_description, event, i))

    def events(self) -> Iterator[str]:
        """Names of all events, by index."""
        return (self.event_name(i) for i in range(self.num_events))

    def cycle_event(self) -> EventSpec:
        """The event that counts processor cycles."""
        e = ffi.new("pfmlib_event_t *")
        with self._select_model():
            check(lib.pfm_get_cycle_event(e))
        return self._spec(e)

    def inst_retired_event(self) -> EventSpec:
        """The event that counts retired instructions."""
        e = ffi.new("pfmlib_event_t *")
        with self._select_model():
            check(lib.pfm_get_inst_retired_event(e))
        return self._spec(e)

    # ---- the purpose of it all

    def dispatch(self, events: Sequence[EventSpec | str], *, plm: int | str = Plm.USER,
                 system_wide: bool = False, unavailable: Iterable[int] = (),
                 model: Model | None = None, want_model: bool | None = None) -> Output:
        """Register values that measure @events together.

        plm          levels of events that name none; not 0
        unavailable  control registers that must not be used
        model        settings of this processor
        want_model   whether to ask for results of its own; None: if there are settings
        """
        param, out = ffi.new("pfmlib_input_param_t *"), ffi.new("pfmlib_output_param_t *")
        if len(events) > lib.PFMLIB_MAX_PMCS:
            raise from_code(ErrorCode.TOOMANY)
        for i, e in enumerate(events):
            self._fill_struct(param.pfp_events[i],
                              self.find_full_event(e) if isinstance(e, str) else e)
        param.pfp_event_count, param.pfp_dfl_plm = len(events), plm_mask(plm)
        param.pfp_flags = lib.PFMLIB_PFP_SYSTEMWIDE if system_wide else 0
        taken = make_regmask(unavailable)
        param.pfp_unavail_pmcs = taken[0]
        results = model or (settings_class(self.type)()
                            if want_model and settings_class(self.type) else None)
        model_in = model._model_in() if model else ffi.NULL
        model_out = results._model_out() if results and want_model is not False else ffi.NULL
        with self._select_model():
            check(lib.pfm_dispatch_events(param, model_in, out, model_out))
        return Output(
            tuple(Reg._from_c(out.pfp_pmcs[i]) for i in range(out.pfp_pmc_count)),
            tuple(Reg._from_c(out.pfp_pmds[i]) for i in range(out.pfp_pmd_count)),
            results._read_result(_Placed(out), model_out) if results and model_out else None)

    def __repr__(self) -> str:
        return f"<libpfm3.Library {self.name}>"
