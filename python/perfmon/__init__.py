# SPDX-License-Identifier: MIT
"""From the name of a hardware event to the registers that make a processor count it, and to counts.

    >>> import perfmon
    >>> ev = perfmon.event("coreduo::L2_Lines_In,core=all,prefetch=only")
    >>> hex(ev.registers[0].value), ev.counters, hex(ev.perf_attr.config), ev.names["perf"]
    ('0x53d024', (0, 1), '0xd024', 'cpu/event=0x24,umask=0xd0/')

event(), find(), events(), pmus()   events of any processor, on any machine
dispatch()                          a set measured together
perf_event_attr()                   for programs that call the kernel themselves
Context.metric(), metrics()         formulas over counts, with their errors
plan()                              the least number of groups for a set of events
schedule()                          these groups over slots of time
profile()                           functions, stacks and flame graphs of samples
check_system()                      what this machine can count, and what prevents counting
count, Session, stat()              counting on this machine
Context                             a set of processors; the functions above use the default one
import_lists()                      vendors' published lists
montecito, alpha, coreduo           what only these processors have
device                              a model of the Tru64 counter device, request by request
libpfm3                             the libpfm 3 interface
constants                           every constant of the C headers

Errors are exceptions of type PerfmonError, with the code, the kind, the position in the text,
similar names and the cause.
"""
from __future__ import annotations

from collections.abc import Iterable

from . import alpha, constants, coreduo, device, libpfm3, montecito
from ._c import Plm
from ._errors import (
    AmbiguousError, ArgumentError, ErrorCode, EventError, ImageError, ModelError, PerfmonError,
    PlacementError, SystemCallError, UnexpressibleError, UnknownEventError, UnknownPmuError)
from .context import (Context, CpuInfo, DecodedEvent, DecodedField, DecodedRegister, EncodingTable,
                      EventTable, Pmu, PmuFlag, Pmus, default_context, library_version)
from .counting import Counted, Counting, count
from .dispatch import Dispatch, Placement, dispatch
from .event import (
    Alternative, Dialect, Erratum, ErratumCount, Event, EventFlag, EventInfo, Field, Modifier,
    Names, PerfAttr, Register, RegisterKind, Rule, Umask, counter_name, perf_event_attr,
    split_events)
from .imports import Imported, ImportedModel, Refused, import_lists
from .metric import Metric, MetricCheck, MetricInput, MetricState, MetricValue
from .plan import Plan, Planned, Schedule, Scheduled, plan, schedule
from .profiles import (
    FlameGraph, Frame, FrameFlag, Function, FunctionTable, Profile, ProfileEvent, ProfileLosses,
    Stack, StackTable, Symbol, Symbols, profile)
from .regions import (
    RegionCount, RegionFile, RegionMetric, RegionResult, RegionVisit, load_regions, read_regions,
    region, regions_cost, reset_region, start_regions, stop_regions, write_regions)
from .sampling import (
    Buffers, Record, Recorded, Recording, RecordType, Sample, SampleStatistics, Sampling, Sideband,
    TraceField)
from .session import (Cause, Count, Finished, NotCountedError, Quality, Reading, Session, Tally,
                      stat, tally)
from .system import Finding, FindingState, FindingTopic, check_system

__version__ = "1.0.0"

__all__ = [
    "Alternative", "AmbiguousError", "ArgumentError", "Buffers", "Cause", "Context", "Count",
    "Counted", "Counting", "CpuInfo", "DecodedEvent", "DecodedField", "DecodedRegister",
    "Dialect", "Dispatch", "EncodingTable", "Erratum", "ErratumCount", "ErrorCode", "Event",
    "EventError", "EventFlag", "EventInfo", "EventTable", "Field", "Finding", "FindingState",
    "FindingTopic", "Finished", "FlameGraph", "Frame", "FrameFlag", "Function", "FunctionTable",
    "ImageError", "Imported", "ImportedModel", "Metric", "MetricCheck", "MetricInput",
    "MetricState", "MetricValue", "ModelError", "Modifier", "Names", "NotCountedError",
    "PerfAttr", "PerfmonError", "Placement", "PlacementError", "Plan", "Planned", "Plm", "Pmu",
    "PmuFlag", "Pmus", "Profile", "ProfileEvent", "ProfileLosses", "Quality", "Reading",
    "Record", "RecordType", "Recorded", "Recording", "Refused", "RegionCount", "RegionFile",
    "RegionMetric", "RegionResult", "RegionVisit", "Register", "RegisterKind", "Rule", "Sample",
    "SampleStatistics", "Sampling", "Schedule", "Scheduled", "Session", "Sideband", "Stack",
    "StackTable", "Symbol", "Symbols", "SystemCallError", "Tally", "Umask",
    "UnexpressibleError", "UnknownEventError", "UnknownPmuError", "alpha", "check_system",
    "constants", "coreduo", "count", "counter_name", "decode", "default_context", "device",
    "dispatch", "encode_many", "event", "events", "find", "import_lists", "library_version",
    "libpfm3", "load_regions", "montecito", "perf_event_attr", "plan", "pmus", "profile",
    "read_regions", "region", "regions_cost", "reset_region", "schedule", "split_events",
    "start_regions", "stat", "stop_regions", "tally", "write_regions"
]


def event(text: str, *, pmu: str | None = None, plm: int | str = 0) -> Event:
    """The event that @text names, in any dialect; see :meth:`Context.event`."""
    return default_context().event(text, pmu=pmu, plm=plm)


def encode_many(texts: Iterable[str], *, pmu: str | None = None,
                plm: int | str = 0) -> EncodingTable:
    """Many texts encoded, as columns; see :meth:`Context.encode_many`."""
    return default_context().encode_many(texts, pmu=pmu, plm=plm)


def find(text: str) -> EventInfo:
    """The row that @text names; attributes are ignored. See :meth:`Context.find`."""
    return default_context().find(text)


def events(pattern: str = "*", *, name: str | None = None, contains: str | None = None,
           pmu: str | None = None) -> EventTable:
    """Events as a table; see :meth:`Context.events`."""
    return default_context().events(pattern, name=name, contains=contains, pmu=pmu)


def pmus() -> Pmus:
    """All PMUs, by number or name."""
    return default_context().pmus


def decode(pmu: str, register: str, value: int) -> DecodedRegister:
    """Fields and events of a register value; see :meth:`Pmu.decode`."""
    return default_context().pmus[pmu].decode(register, value)
