# SPDX-License-Identifier: MIT
"""The machine: what it can count and what prevents counting.

    for finding in perfmon.check_system():
        if finding.state is perfmon.FindingState.BAD:
            print(finding.check, finding.consequence, finding.remedy)
"""
from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from ._c import ffi, lib, new_struct, read_text as c_text
from ._errors import ErrorCode, check
from .context import Context, default_context
from .session import Cause, Quality

__all__ = ["Finding", "FindingState", "FindingTopic", "check_system"]


class FindingState(enum.IntEnum):
    """How a finding bears on counting."""

    GOOD = lib.PFM_FINDING_GOOD  #: nothing is in the way
    NOTE = lib.PFM_FINDING_NOTE  #: some counting is restricted, or worth knowing
    BAD = lib.PFM_FINDING_BAD    #: something cannot be counted


class FindingTopic(enum.IntEnum):
    """The part of the check that a finding belongs to."""

    MACHINE = lib.PFM_FINDING_MACHINE          #: processor, PMUs, kernel
    PERMISSIONS = lib.PFM_FINDING_PERMISSIONS  #: who may count what
    OBSTACLES = lib.PFM_FINDING_OBSTACLES      #: holders of counters, limits, missing file systems
    WORKLOAD = lib.PFM_FINDING_WORKLOAD        #: events counted over a known workload


@dataclass(frozen=True)
class Finding:
    """One thing that was checked. Texts are ``""`` where there is nothing to say.

    check        its name, such as ``"NMI watchdog"`` or ``"cycles:u"``
    observed     the state of the machine
    consequence  what cannot be counted because of it
    remedy       a command or setting that helps
    available    what can be counted nevertheless
    expected     the right count, of an event of the workload
    count, quality, cause  of an event of the workload; None elsewhere, and count without a value
    """

    topic: FindingTopic
    state: FindingState
    check: str
    observed: str
    consequence: str
    remedy: str
    available: str
    expected: str
    count: int | None
    quality: Quality | None
    cause: Cause | None


def _read_finding(f: Any) -> Finding:
    quality = Quality(f.quality) if f.has_count else None
    has_value = quality is not None and quality.has_value
    return Finding(topic=FindingTopic(f.topic), state=FindingState(f.state), check=c_text(f.check),
                   observed=c_text(f.observed), consequence=c_text(f.consequence),
                   remedy=c_text(f.remedy), available=c_text(f.available),
                   expected=c_text(f.expected), count=int(f.count) if has_value else None,
                   quality=quality, cause=Cause(f.cause) if f.has_count else None)


def check_system(context: Context | None = None, *, workload: bool = True) -> tuple[Finding, ...]:
    """Checks what this machine can count, who may count it, and what prevents counting.

    workload  count a known workload of about 20 ms as well; False only reads files and tries to
              open events
    """
    out, finding, found = ffi.new("pfm_system_check_t **"), new_struct(
        "pfm_finding_t"), list[Finding]()
    flags = 0 if workload else lib.PFM_CHECK_NO_WORKLOAD
    check(lib.pfm_check_system(out, (context or default_context())._handle(), flags))
    try:
        while lib.pfm_describe_finding(out[0], len(found), finding) == ErrorCode.SUCCESS:
            found.append(_read_finding(finding))
    finally:
        lib.pfm_close_system_check(out[0])
    return tuple(found)
