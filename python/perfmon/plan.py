# SPDX-License-Identifier: MIT
"""Plans: the least number of groups that count a set of events, with a proof."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ._c import ffi, lib, new, plm_mask, text as c_text
from ._errors import ArgumentError, c_string, check, from_error, new_error, texts_of
from .context import Context, default_context

__all__ = ["Plan", "Planned", "plan"]


@dataclass(frozen=True)
class Planned:
    """An event of a plan. counter is None where it takes none; fixed counter n is 32 + n. added: not requested, its group needs it."""

    event: str
    pmu: str
    counter: int | None
    request: int
    added: bool
    in_proof: bool


@dataclass(frozen=True)
class Plan(Sequence[tuple[Planned, ...]]):
    """Groups, each of which can be counted together. As a sequence: the groups.

    rounds       times the counters are loaded; groups of different PMUs count side by side
    bound        no plan has fewer groups
    optimal      whether this one has no more
    certificate  a sentence that proves the bound
    """

    groups: tuple[tuple[Planned, ...], ...]
    rounds: int
    bound: int
    optimal: bool
    certificate: str

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        return self.groups[i]

    def __iter__(self) -> Iterator[tuple[Planned, ...]]:
        return iter(self.groups)


def plan(events: Iterable[str], *, context: Context | None = None, plm: int | str = 0, taken: Iterable[int] = (),
         htoff: bool = False, bare: bool = False) -> Plan:
    """Plans @events, and those of metrics and groups of metrics among them.

    taken   counters that others hold; fixed counter n is 32 + n
    htoff   hyper-threading is off: more counters may count an event
    bare    do not take away what this machine's kernel holds for itself
    """
    context = context or default_context()
    texts = texts_of(events)
    if not texts:
        raise ArgumentError("a plan needs at least one event")
    raw = [ffi.new("char[]", c_string(t)) for t in texts]
    options, error, out = new("pfm_plan_options_t"), new_error(), ffi.new("pfm_plan_t **")
    options.plm, options.htoff = plm_mask(plm), htoff
    options.flags = lib.PFM_PLAN_ALL_COUNTERS if bare else 0
    options.taken = sum(1 << c for c in set(taken))
    rc = lib.pfm_create_plan(out, context._handle(), ffi.new("char *[]", raw) if raw else ffi.NULL, len(raw), options, error)
    if rc:
        raise from_error(rc, error, context._handle(), texts)
    result = ffi.gc(out[0], lib.pfm_free_plan)
    info, e = new("pfm_plan_info_t"), new("pfm_planned_event_t")
    check(lib.pfm_describe_plan(result, info))
    groups: list[list[Planned]] = [[] for _ in range(info.n_groups)]
    for i in range(info.n_events):
        check(lib.pfm_describe_planned_event(result, i, e))
        groups[e.group].append(Planned(c_text(e.text), context._pmu(e.pmu).name, e.counter if e.counter >= 0 else None,
                                       int(e.request), bool(e.added), bool(e.in_proof)))
    return Plan(tuple(map(tuple, groups)), int(info.n_rounds), int(info.bound), bool(info.optimal), c_text(info.certificate))
