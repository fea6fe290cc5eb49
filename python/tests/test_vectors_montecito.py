# SPDX-License-Identifier: MIT
"""Montecito: every golden request through the libpfm 3 interface, those that have a text through
dispatch(), and the traits of every event. Our answers to rows where libpfm 3.10 is wrong are in
montecito_better.jsonl."""
import pytest
from vectors import load, num, rows

import perfmon
from perfmon import constants, libpfm3, montecito
from perfmon._perfmon import ffi, lib

LIBRARY = libpfm3.Library("montecito")
CONTEXT = perfmon.Context("montecito", host=False, images=False)
BETTER = {row["id"]: row.get("res") for row in load("montecito_better.jsonl")}
FEATURES = ("op1", "op2", "iear", "dear", "etb", "ipear", "ir", "dr")


def opcm(o):
    return montecito.Opcm(num(o.get("match", 0)), num(o.get("mask", 0)),
                          "".join(s for s in "mifb" if o.get(s)))


def ear(e):
    return montecito.Ear(e.get("mode", 0), num(e.get("um", 0)), e.get("plm", 0))


def ranges(r):
    return [montecito.Range(num(limit[0]), num(limit[1]), *limit[2:]) for limit in r.get("lim", ())]


def code_ranges(r):
    flags = r.get("fl", 0)
    return montecito.CodeRanges(ranges(r), bool(flags & constants.PFMLIB_MONT_RR_INV),
                                not flags & constants.PFMLIB_MONT_RR_NO_FINE_MODE,
                                bool(flags & constants.PFMLIB_MONT_IRR_DEMAND_FETCH),
                                bool(flags & constants.PFMLIB_MONT_IRR_PREFETCH_MATCH))


def counter(e):
    flags = e.get("fl", 0) if isinstance(e, dict) else 0
    return montecito.Counter(e.get("th", 0) if isinstance(e, dict) else 0,
                             bool(flags & constants.PFMLIB_MONT_FL_EVT_NO_QUALCHECK),
                             bool(flags & constants.PFMLIB_MONT_FL_EVT_ACTIVE_ONLY),
                             bool(flags & constants.PFMLIB_MONT_FL_EVT_ALWAYS),
                             bool(flags & constants.PFMLIB_MONT_FL_EVT_ALL_THRD))


def used(req, key):
    return req.get(key) if req.get(key, {}).get("used", 1) else None


def settings(req):
    """None if the request passes none."""
    given = any(key in req for key in FEATURES) or any(
        isinstance(e, dict) and {"th", "fl"} & set(e) for e in req["ev"])
    if not req.get("in", given):
        return None
    etb, ipear = used(req, "etb"), used(req, "ipear")
    return montecito.Settings(
        [counter(e) for e in req["ev"]][:12],
        *(opcm(used(req, key)) if used(req, key) is not None else None for key in ("op1", "op2")),
        *(ear(used(req, key)) if used(req, key) is not None else None for key in ("iear", "dear")),
        ipear=montecito.Ipear(ipear.get("delay", 0), ipear.get("plm", 0)) if ipear is not None else
        None, etb=montecito.Etb(etb.get("tm", 0), etb.get("ptm", 0), etb.get("ppm", 0),
                                etb.get("brt", 0), etb.get("plm", 0)) if etb is not None else None,
        drange=ranges(req["dr"]) if used(req, "dr") is not None else None,
        irange=code_ranges(req["ir"]) if used(req, "ir") is not None else None)


def spec_of(e):
    if isinstance(e, str):
        return libpfm3.EventSpec(LIBRARY.find_event_by_name(e))
    return libpfm3.EventSpec(
        LIBRARY.find_event_by_name(e["e"]) if "e" in e else e["idx"], tuple(e.get("um", ())),
        e.get("plm", 0))


def wants_model(req):
    return bool(req.get("out", "ir" in req or "dr" in req))


def dispatch(req):
    return LIBRARY.dispatch([spec_of(e) for e in req["ev"]], plm=req.get("plm", 8),
                            system_wide=bool(req.get("sys")), unavailable=req.get("un", ()),
                            model=settings(req), want_model=wants_model(req))


def c_dispatch(req):
    """Dispatch in ways that only C allows: without input, without output, or with a count that
    differs from the number of events."""
    param, out = ffi.new("pfmlib_input_param_t *"), ffi.new("pfmlib_output_param_t *")
    param.pfp_event_count, param.pfp_dfl_plm = req.get("count", len(req["ev"])), req.get("plm", 8)
    for i, e in enumerate(req["ev"]):
        LIBRARY._fill_struct(param.pfp_events[i], spec_of(e))
    with LIBRARY._select_model():
        return lib.pfm_dispatch_events(ffi.NULL if req.get("noinp") else param, ffi.NULL,
                                       ffi.NULL if req.get("nooutp") else out, ffi.NULL)


def shown(regs, with_value):
    out = []
    for r in regs:
        where = [] if r.addr == r.alt_addr == r.num else [r.addr] if r.addr == r.alt_addr else [
            r.addr, r.alt_addr
        ]
        out.append([r.num, r.value, *where] if with_value else [r.num, *where] if where else r.num)
    return out


def shown_range(got):
    if got is None:
        return {}
    infos = [[o.before, o.behind] for o in got.overhang]
    while infos and infos[-1] == [0, 0]:
        infos.pop()
    out = {"n": len(got.registers), "br": [[r.num, r.value, r.addr] for r in got.registers]}
    return dict(out, inf=infos) if infos else out


def wanted_range(want):
    if not want.get("n"):
        return {}
    out = {"n": want["n"], "br": [[b[0], num(b[1]), b[2]] for b in want["br"]]}
    return dict(out, inf=[[num(x) for x in pair] for pair in want["inf"]]) if "inf" in want else out


def check_model(got, res):
    assert shown_range(got.irange) == wanted_range(res.get("ir", {}))
    assert shown_range(got.drange) == wanted_range(res.get("dr", {}))
    assert got.fine == bool(res.get("fine"))


def check_dispatch(req, res):
    if {"noinp", "nooutp", "count"} & set(req):
        assert c_dispatch(req) == res["rc"]
        return
    out = dispatch(req)
    if "placed" in res:
        check_placed(req, out)
        return
    assert shown(out.pmcs, True) == [[p[0], num(p[1]), *p[2:]] for p in res.get("pmc", [])]
    assert shown(out.pmds, False) == res.get("pmd", [])
    if out.model is not None:
        check_model(out.model, res)


def check_placed(req, out):
    """Any counters will do that are free, can count the events and are not used twice."""
    nums = [r.num for r in out.pmcs[:len(req["ev"])]]
    assert len(set(nums)) == len(nums) and not set(nums) & set(req.get("un", ()))
    for e, n in zip(req["ev"], nums):
        assert n in LIBRARY.event_counters(spec_of(e).event)


def check_find_full(req, res):
    spec = LIBRARY.find_full_event(req["s"])
    assert (LIBRARY.event_name(spec.event), list(spec.masks)) == (res["name"], res.get("um", []))


def check_bycode(req, res):
    after = LIBRARY.find_event_by_name(req["e"]) if "e" in req else None
    assert LIBRARY.event_name(LIBRARY.find_event_by_code(req.get("code", 0), after)) == res["name"]


def check_info(req, res):
    mask = {
        key: sum(1 << n for n in getattr(LIBRARY, key))
        for key in ("impl_pmcs", "impl_pmds", "impl_counters")
    }
    assert {key: num(res[key]) for key in mask} == mask
    assert (LIBRARY.name, LIBRARY.type, LIBRARY.num_events) == (res["pmu_name"], res["pmu_type"],
                                                                res["num_events"])
    assert (LIBRARY.num_pmcs, LIBRARY.num_pmds,
            LIBRARY.num_counters) == (res["num_pmcs"], res["num_pmds"], res["num_counters"])
    assert (LIBRARY.counter_width, LIBRARY.max_event_name_len) == (res["width"],
                                                                   res["max_name_len"])
    assert libpfm3.version() == (3, 11)


def index(req):
    return LIBRARY.find_event_by_name(req["e"])


CHECKS = {
    "dispatch": check_dispatch,
    "find_full": check_find_full,
    "bycode": check_bycode,
    "bycode_next": check_bycode,
    "info": check_info,
    "find": lambda req, res: LIBRARY.event_name(LIBRARY.find_event(req["s"])) == res["name"],
    "find_mask": lambda req, res: LIBRARY.find_event_mask(index(req), req["s"]) == res.get(
        "mask", 0),
    "full_name": lambda req, res: LIBRARY.full_event_name(
        libpfm3.EventSpec(index(req), tuple(req.get("um", ()))), req.get("len", 128)) == res["str"],
    "name": lambda req, res: LIBRARY.event_name(index(req), req.get("len", 128)) == res["str"],
    "mask_name": lambda req, res: LIBRARY.mask_name(index(req), req.get("mask", 0),
                                                    req.get("len", 128)) == res["str"],
    "code_counter": lambda req, res: LIBRARY.event_code(index(req), req.get("cnt", 0)) == res.get(
        "code", 0),
}


def answer_of(row):
    return (BETTER.get(row["id"]) or row["res"]) if row["id"] in BETTER else row["res"]


@pytest.mark.parametrize("row", rows("montecito.jsonl"))
def test_request(row):
    req, res = row["req"], answer_of(row)
    check = CHECKS[req.get("op", "dispatch")]
    if res.get("rc") and not {"noinp", "nooutp", "count"} & set(req):
        with pytest.raises(perfmon.PerfmonError) as refused:
            check(req, res)
        assert refused.value.code == res["rc"]
    else:
        assert check(req, res) is not False


# ---- the same through texts

LEVELS = {0: "", 1: ":k", 8: ":u", 9: ":u:k"}


def text_of(e):
    if isinstance(e, str):
        return e
    masks = "".join(":" + LIBRARY.mask_name(LIBRARY.find_event_by_name(e["e"]), m)
                    for m in e.get("um", ()))
    return e["e"] + masks + LEVELS[e.get("plm", 0)]


def has_text(row):
    """Rows that say nothing a text and dispatch() cannot say, and get an answer."""
    req = row["req"]
    events = [e for e in req.get("ev", ()) if isinstance(e, dict)]
    return (req.get("op", "dispatch") == "dispatch" and bool(req["ev"])
            and not answer_of(row).get("rc")
            and all(e.get("plm", 0) in LEVELS and "idx" not in e
                    for e in events) and req.get("plm", 8) != 0 and "placed" not in answer_of(row)
            and not {"count", "noinp", "nooutp"} & set(req))


@pytest.mark.parametrize("row", rows("montecito.jsonl", has_text))
def test_texts(row):
    req, res = row["req"], answer_of(row)
    d = CONTEXT.dispatch([text_of(e) for e in req["ev"]], plm=req.get("plm", 8),
                         system_wide=bool(req.get("sys")), unavailable=req.get("un", ()),
                         model=settings(req))
    assert shown(d.pmcs, True) == [[p[0], num(p[1]), *p[2:]] for p in res["pmc"]]
    assert shown(d.pmds, False) == res["pmd"]
    assert list(d.counters) == [r.num for r in d.pmcs[:len(req["ev"])]]
    if d.model is not None and wants_model(req):
        check_model(d.model, res)


# ---- events


@pytest.mark.parametrize("row", rows("montecito_events.jsonl", ident=lambda r: r["name"]))
def test_traits(row):
    t = montecito.traits(row["name"])
    assert (t.name, t.maxincr, t.umask, int(t.type)) == (row["name"], row["maxincr"],
                                                         num(row["umask"]), row["type"])
    group, number = row.get("hw_group", row["group"]), row.get("hw_set", row["set"])
    assert (int(t.group), t.set) == (group, number if number >= 0 else None)
    assert (t.ear_mode is None) == ("ear_mode_rc" in row) and (t.ear_mode is None or int(t.ear_mode)
                                                               == row["ear_mode"])
    assert t.ear == ("data" if row.get("is_dear") else "code" if row.get("is_iear") else None)
    assert [t.etb, t.opcm, t.iarr, t.darr, t.all_threads] == [
        bool(row.get(key))
        for key in ("is_etb", "support_opcm", "support_iarr", "support_darr", "support_all")
    ]
    assert LIBRARY.event_code(t.index) == row["code"]
    assert sum(1 << c for c in LIBRARY.event_counters(t.index)) == num(row["counters"])
    assert [[m.name, m.code] for m in LIBRARY.masks(t.index)] == row.get("masks", [])
