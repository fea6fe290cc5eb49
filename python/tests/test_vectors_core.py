# SPDX-License-Identifier: MIT
"""Core Solo and Core Duo as pmc.core(3) has them: every golden specifier, and the spellings of
libpfm 3 and 4."""
import pytest
from vectors import num, rows

import perfmon
from perfmon import libpfm3


@pytest.fixture(scope="module")
def core():
    return perfmon.Context("coreduo", host=False, images=False)


@pytest.mark.parametrize("row", rows("core.jsonl", lambda r: r["ok"], lambda r: r["spec"]))
def test_specifier(core, row):
    ev = core.event(row["spec"])
    value = num(row["evsel_en_int"])
    assert ev.name == row["event"]
    assert [(r.addr, r.value)
            for r in ev.registers] == [(0x187 if row["counters"] == 2 else 0x186, value)]
    assert value & ~0x100000 == num(row["evsel_en"]) and value & ~0x500000 == num(row["evsel"])
    assert sum(1 << c for c in ev.counters) == row["counters"]
    assert (ev.perf_attr.type, ev.perf_attr.config) == (4, num(row["perf_config"]))
    assert (ev.perf_attr.exclude_user, ev.perf_attr.exclude_kernel) == (row["exclude_user"],
                                                                        row["exclude_kernel"])


@pytest.mark.parametrize("row", rows("core.jsonl", lambda r: not r["ok"], lambda r: r["spec"]))
def test_refusal(core, row):
    with pytest.raises(perfmon.EventError) as refused:
        core.event(row["spec"])
    error = refused.value
    assert error.kind == row["error"]
    assert error.text == row["spec"] and 0 <= error.span[0] <= error.span[1] <= len(error.text)


@pytest.mark.parametrize("row", rows("core_names.jsonl", ident=lambda r: r["libpmc"]))
def test_spellings(core, row):
    for text in (row["libpmc"], row["libpfm3"], "coreduo::" + row["libpfm4"],
                 "core::" + row["libpmc"]):
        assert core.event(text).registers[0].value == num(row["evsel"]), text


# ---- the libpfm 3 interface

LIBRARY = libpfm3.Library("coreduo")


def spec_of(e):
    if isinstance(e, str):
        return libpfm3.EventSpec(LIBRARY.find_event(e))
    return libpfm3.EventSpec(
        LIBRARY.find_event(e["e"]) if "e" in e else e["idx"], tuple(e.get("um", ())),
        e.get("plm", 0))


class Counter(perfmon.coreduo.Counter):
    """One that takes flags which do not exist as well."""

    def __init__(self, e):
        super().__init__(num(e.get("cm", 0)))
        object.__setattr__(self, "flags", e.get("fl", 0))

    @property
    def _flags(self):
        return self.flags


def dispatch(req):
    counters = [Counter(e) if isinstance(e, dict) else perfmon.coreduo.Counter() for e in req["ev"]]
    given = any(isinstance(e, dict) and {"cm", "fl"} & set(e) for e in req["ev"])
    model = perfmon.coreduo.Settings(counters[:2]) if req.get("in", given) else None
    return LIBRARY.dispatch([spec_of(e) for e in req["ev"]], plm=req.get("plm", 8),
                            system_wide=bool(req.get("sys")), unavailable=req.get("un",
                                                                                  ()), model=model)


def answer(row):
    req, op = row["req"], row["req"].get("op", "dispatch")
    if op == "find":
        return LIBRARY.event_name(LIBRARY.find_event(req["s"]))
    if op == "find_full":
        spec = LIBRARY.find_full_event(req["s"])
        return LIBRARY.event_name(spec.event), list(spec.masks)
    out = dispatch(req)
    return ([[r.num, r.value, r.addr] + ([r.alt_addr] if r.alt_addr != r.addr else [])
             for r in out.pmcs], [[r.num, r.addr, r.alt_addr] for r in out.pmds])


def expected(row):
    req, res, op = row["req"], row["res"], row["req"].get("op", "dispatch")
    if op == "find":
        return res["name"]
    if op == "find_full":
        return res["name"], res.get("um", [])
    return [[p[0], num(p[1]), *p[2:]] for p in res["pmc"]], res["pmd"]


def is_marked(row):
    return bool(row.get("q"))


@pytest.mark.parametrize("row", rows("coreduo.jsonl", lambda r: not is_marked(r)))
def test_libpfm3(row):
    rc = row["res"].get("rc", 0)
    if rc:
        with pytest.raises(perfmon.PerfmonError) as refused:
            answer(row)
        assert refused.value.code == rc
    else:
        assert answer(row) == expected(row)


@pytest.mark.parametrize("row", rows("coreduo.jsonl", is_marked))
def test_libpfm3_where_libpfm_uses_a_counter_twice(row):
    """The values are right; the free event belongs on counter 0, and nowhere if that is taken."""
    if row["req"].get("un"):
        with pytest.raises(perfmon.PlacementError):
            dispatch(row["req"])
        return
    out = dispatch(row["req"])
    assert [r.value for r in out.pmcs] == [num(p[1]) for p in row["res"]["pmc"]]
    assert sorted(r.num for r in out.pmcs) == [0, 1]
