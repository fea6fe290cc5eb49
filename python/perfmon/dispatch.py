# SPDX-License-Identifier: MIT
"""Sets of events measured together: one counter for each, and every register to write and to
read."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ._c import ffi, lib, new_struct, plm_mask, make_regmask
from ._errors import ArgumentError, PerfmonError, c_string, from_error, new_error, texts_of
from .context import Context, default_context
from .event import Register
from .models import Model, settings_class_for

__all__ = ["Dispatch", "Placement", "dispatch"]


class Placement(NamedTuple):
    """An event of a set and its counter; None for an event that takes none. Fixed counter n is 32 +
    n."""

    event: str
    counter: int | None


@dataclass(frozen=True)
class Dispatch(Sequence[Placement]):
    """A set placed on counters. As a sequence: the events with their counters, in the order given.

    pmu       name of the processor
    events    as they were asked for
    counters  counter of each event, None for none; fixed counter n is 32 + n
    pmcs      control registers to write, each event's first in the order of events
    pmds      data registers to read
    model     results that only this processor has: montecito.Result, alpha.Result, or None
    """

    pmu: str
    events: tuple[str, ...]
    counters: tuple[int | None, ...]
    pmcs: tuple[Register, ...]
    pmds: tuple[Register, ...]
    model: Any = None

    def __len__(self) -> int:
        return len(self.events)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        return Placement(self.events[i], self.counters[i])

    def __iter__(self) -> Iterator[Placement]:
        return map(Placement, self.events, self.counters)

    def register(self, num: int) -> Register:
        """The control register with this number. KeyError if it is not written."""
        for r in self.pmcs:
            if r.num == num:
                return r
        raise KeyError(num)


def _settings_for(context: Context, texts: Sequence[str], features: dict[str, Any]) -> Model:
    pmu = context.find(texts[0]).pmu
    settings = settings_class_for(context.pmus[pmu])
    if settings is None:
        raise TypeError(f"{pmu} has no settings of its own: {', '.join(features)}")
    chosen: Model = settings(**features)
    return chosen


def _check_model(context: Context, texts: Sequence[str], model: Model) -> None:
    """Settings have a layout of their own: they must not reach another processor's encoder."""
    try:
        pmu = context.find(texts[0]).pmu
    except PerfmonError:
        return  # the refusal of the event is clearer
    wanted = settings_class_for(context.pmus[pmu])
    if wanted is None or not isinstance(model, wanted):
        raise TypeError(
            f"settings of {type(model).__module__.rpartition('.')[2]} do not suit {pmu}")


def dispatch(events: Iterable[str], *, pmu: str | None = None, plm: int | str = 0,
             system_wide: bool = False, unavailable: Iterable[int] = (), htoff: bool = False,
             model: Model | None = None, context: Context | None = None,
             **features: Any) -> Dispatch:
    """Places @events, all of one PMU, on counters and computes every register. Nothing is
    programmed.

    pmu          processor that names without a prefix belong to
    plm          levels for events that name none: mask of :class:`Plm`, or letters; 0: user and
                 kernel (Montecito: user)
    system_wide  for the whole system, not for one task
    unavailable  numbers of control registers that others hold
    htoff        hyper-threading is off: more counters may count an event
    model        settings that only this processor has, such as ``montecito.Settings(...)``. Their
                 parts may be given
                 directly: ``dispatch([...], pmu="montecito", opcm1=montecito.Opcm(...))``

    If a placement exists it is found: events with the fewest counters first, each on its lowest.
    Raises PlacementError, whose ``clash`` names a smallest subset that does not fit; ModelError for
    wrong settings; EventError, whose ``event`` says which event; TypeError for settings of another
    processor.
    """
    texts = texts_of(events)
    if not texts:
        raise ArgumentError("a set needs at least one event")
    ctx = (context or default_context()).with_pmu(pmu)
    if features:
        if model is not None:
            raise TypeError("expected settings as model or one by one, got both")
        if texts:
            model = _settings_for(ctx, texts, features)
    elif model is not None and texts:
        _check_model(ctx, texts, model)
    options, out, error = new_struct("pfm_dispatch_options_t"), ffi.new("pfm_set_t **"), new_error()
    raw = [ffi.new("char[]", c_string(t)) for t in texts]
    taken = make_regmask(unavailable)
    options.plm = plm_mask(plm)
    options.flags = lib.PFMLIB_PFP_SYSTEMWIDE if system_wide else 0
    options.unavailable = taken
    options.htoff = htoff
    model_in, model_out = (model._model_in(),
                           model._model_out()) if model is not None else (ffi.NULL, ffi.NULL)
    options.model_in, options.model_out = model_in, model_out
    handle = ctx._handle()
    rc = lib.pfm_dispatch_set(out, handle,
                              ffi.new("char *[]", raw) if raw else ffi.NULL, len(raw), options,
                              error)
    if rc:
        raise from_error(rc, error, handle, texts)
    placed = ffi.gc(out[0], lib.pfm_close_set)
    counters = (placed.counter[i] for i in range(len(texts)))
    return Dispatch(
        ctx.pmus[placed.pmu].name, tuple(texts), tuple(c if c >= 0 else None for c in counters),
        tuple(Register._from_c(placed.pmcs[i]) for i in range(placed.n_pmcs)),
        tuple(Register._from_c(placed.pmds[i]) for i in range(placed.n_pmds)),
        model._read_result(placed, model_out) if model is not None else None)
