# SPDX-License-Identifier: MIT
"""Plans: the least number of groups that count a set of events, with a proof; schedules: these
groups over slots of time."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._c import ffi, lib, new_struct, plm_mask, read_text as c_text
from ._errors import ArgumentError, c_string, check, from_error, new_error, texts_of
from .context import Context, default_context

__all__ = ["Plan", "Planned", "Schedule", "Scheduled", "plan", "schedule"]


@dataclass(frozen=True)
class Planned:
    """An event of a plan. counter is None where it takes none; fixed counter n is 32 + n. added:
    not requested, its group needs it."""

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


def _create_plan(events: Iterable[str], context: Context | None, plm: int | str,
                 taken: Iterable[int], htoff: bool, bare: bool) -> tuple[Any, Context, list[str]]:
    """The plan of the library, its context and the texts of its events."""
    context = context or default_context()
    texts = texts_of(events)
    if not texts:
        raise ArgumentError("a plan needs at least one event")
    raw = [ffi.new("char[]", c_string(t)) for t in texts]
    options, error, out = new_struct("pfm_plan_options_t"), new_error(), ffi.new("pfm_plan_t **")
    options.plm, options.htoff = plm_mask(plm), htoff
    options.flags = lib.PFM_PLAN_ALL_COUNTERS if bare else 0
    options.taken = sum(1 << c for c in set(taken))
    rc = lib.pfm_create_plan(out, context._handle(),
                             ffi.new("char *[]", raw) if raw else ffi.NULL, len(raw), options,
                             error)
    if rc:
        raise from_error(rc, error, context._handle(), texts)
    result = ffi.gc(out[0], lib.pfm_close_plan)
    return result, context, list(texts)


def _describe_plan(result: Any, context: Context) -> Plan:
    info, e = new_struct("pfm_plan_info_t"), new_struct("pfm_planned_event_t")
    check(lib.pfm_describe_plan(result, info))
    groups: list[list[Planned]] = [[] for _ in range(info.n_groups)]
    for i in range(info.n_events):
        check(lib.pfm_describe_planned_event(result, i, e))
        groups[e.group].append(
            Planned(c_text(e.text),
                    context._pmu(e.pmu).name, e.counter if e.counter >= 0 else None, int(e.request),
                    bool(e.added), bool(e.in_proof)))
    return Plan(tuple(map(tuple, groups)), int(info.n_rounds), int(info.bound), bool(info.optimal),
                c_text(info.certificate))


def plan(events: Iterable[str], *, context: Context | None = None, plm: int | str = 0,
         taken: Iterable[int] = (), htoff: bool = False, bare: bool = False) -> Plan:
    """Plans @events, and those of metrics and groups of metrics among them.

    taken   counters that others hold; fixed counter n is 32 + n
    htoff   hyper-threading is off: more counters may count an event
    bare    do not take away what this machine's kernel holds for itself
    """
    result, context, _ = _create_plan(events, context, plm, taken, htoff, bare)
    return _describe_plan(result, context)


@dataclass(frozen=True)
class Scheduled:
    """The share of an event or metric of a schedule.

    slots           slots of a cycle in which its rarest group counts
    longest_gap     seconds in which one of its groups does not count, at most
    standard_error  expected standard error of the mean of a cycle, as a share of the standard
                    deviation between slots; 0 if it always counts
    """

    event: str
    slots: int
    longest_gap: float
    standard_error: float


@dataclass(frozen=True)
class Schedule(Sequence[tuple[int, ...]]):
    """The groups of a plan over the slots of a cycle, which repeats. As a sequence: the numbers of
    the groups that count in each slot.

    plan          the groups
    slot_seconds  length of a slot
    shift         slots by which the name of the machine shifts the cycle
    turns         by group: equal numbers for groups that take turns, 0 for a group that always
                  counts
    events        the share of each event
    """

    plan: Plan
    slots: tuple[tuple[int, ...], ...]
    slot_seconds: float
    shift: int
    turns: tuple[int, ...]
    events: tuple[Scheduled, ...]
    _result: Any = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.slots)

    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        return self.slots[i]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return iter(self.slots)

    def slot_at(self, time: float) -> int:
        """The slot at @time, in seconds since 1970: equal on all machines with equal clocks, but
        for the shift."""
        return int(lib.pfm_find_slot(self._result, time))


def schedule(events: Iterable[str], *, wishes: Mapping[str, tuple[float, float]] | None = None,
             slots: int = 0, slot_seconds: float = 0, host: str | None = None,
             context: Context | None = None, plm: int | str = 0, taken: Iterable[int] = (),
             htoff: bool = False, bare: bool = False) -> Schedule:
    """Plans @events and distributes the groups to slots of time.

    wishes        by event: the least number of slots a minute in which it counts, and the longest
                  time in seconds in which it does not; 0 sets no limit
    slots         slots of a cycle, 0 for one minute if there are wishes, else for the rounds of the
                  plan
    slot_seconds  length of a slot, 0 for one second
    host          name of the machine, which shifts the cycle; None: all machines are in step

    The other arguments are those of :func:`plan`. Raises EventError with the reason if the wishes
    cannot be met.
    """
    result, context, texts = _create_plan(events, context, plm, taken, htoff, bare)
    unknown = set(wishes or ()) - set(texts)
    if unknown:
        raise ArgumentError("a wish must name one of the events, got %s" %
                            ", ".join(sorted(unknown)))
    wanted = ffi.new("pfm_wish_t[]", [(wishes or {}).get(text, (0, 0)) for text in texts])
    options, error, out = new_struct("pfm_schedule_options_t"), new_error(), ffi.new(
        "pfm_schedule_t **")
    options.slot_seconds, options.n_slots = slot_seconds, slots
    name = ffi.new("char[]", c_string(host)) if host is not None else ffi.NULL
    options.host = name
    rc = lib.pfm_create_schedule(out, result, wanted, len(texts), options, error)
    if rc:
        raise from_error(rc, error, context._handle(), texts)
    made = ffi.gc(out[0], lib.pfm_close_schedule)
    info, one = new_struct("pfm_schedule_info_t"), new_struct("pfm_scheduled_request_t")
    check(lib.pfm_describe_schedule(made, info))
    groups = range(info.n_groups)
    shares = []
    for i, text in enumerate(texts):
        check(lib.pfm_describe_scheduled_request(made, i, one))
        shares.append(
            Scheduled(text, int(one.n_readings), float(one.longest_gap), float(one.standard_error)))
    return Schedule(
        _describe_plan(result, context),
        tuple(
            tuple(g for g in groups if lib.pfm_is_group_in_slot(made, s, g) == 1)
            for s in range(info.n_slots)), float(info.slot_seconds), int(info.shift),
        tuple(int(lib.pfm_get_group_turn(made, g)) for g in groups), tuple(shares), made)
