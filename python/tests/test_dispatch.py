# SPDX-License-Identifier: MIT
"""Sets measured together, with the settings that only one processor has."""
import pytest

import perfmon
from perfmon import alpha, coreduo, libpfm3, montecito


def test_contract():
    d = perfmon.dispatch(["CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED_THIS"], pmu="montecito",
                         opcm1=montecito.Opcm(match=0x1000, mask=0x3ff,
                                              slots="mi"), qualcheck=False)
    assert (d.pmu, d.counters) == ("montecito", (4, 5))
    assert list(d) == [("CPU_OP_CYCLES_ALL", 4),
                       ("IA64_INST_RETIRED_THIS", 5)] and d[1].counter == 5 and len(d[:]) == 2
    assert {r.num: r.value for r in d.pmcs}[33] == 0x1000 == d.register(33).value
    assert [r.num for r in d.pmds] == [4, 5]
    with pytest.raises(KeyError):
        d.register(99)


def test_settings_as_a_mapping_are_the_same():
    one = perfmon.dispatch(["IA64_INST_RETIRED_THIS"], pmu="montecito",
                           opcm1={"match": 0x1000, "mask": 0x3ff, "slots": "mi"})
    two = perfmon.dispatch(["IA64_INST_RETIRED_THIS"], pmu="montecito",
                           model=montecito.Settings(opcm1=montecito.Opcm(0x1000, 0x3ff, "mi")))
    assert one == two


def test_an_event_a_filter_does_not_act_on_is_refused():
    with pytest.raises(perfmon.ModelError) as refused:
        perfmon.dispatch(["CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED_THIS"], pmu="montecito",
                         opcm1=montecito.Opcm(0x1000))
    e = refused.value
    assert (e.code, e.event) == (perfmon.ErrorCode.FEATCOMB, 0) and "CPU_OP_CYCLES_ALL" in str(e)
    lenient = [montecito.Counter(no_qualcheck=True)]
    assert perfmon.dispatch(["CPU_OP_CYCLES_ALL"], pmu="montecito", opcm1=montecito.Opcm(0x1000),
                            counters=lenient).counters == (4, )


def test_a_set_that_does_not_fit(built_in):
    with pytest.raises(perfmon.PlacementError) as refused:
        built_in.dispatch(["Uops_Ret", "Mul", "Div"], pmu="coreduo")
    e = refused.value
    assert e.code == perfmon.ErrorCode.NOASSIGN and e.clash and set(
        e.clash) <= {0, 1, 2} and e.clash_counters


def test_where_a_set_is_wrong(built_in):
    with pytest.raises(perfmon.UnknownEventError) as refused:
        built_in.dispatch(["Uops_Ret", "Nope"], pmu="coreduo")
    assert (refused.value.event, refused.value.text, refused.value.token) == (1, "Nope", "Nope")
    with pytest.raises(perfmon.EventError):
        built_in.dispatch(["coreduo::Uops_Ret", "ev5::issues"])
    with pytest.raises(perfmon.PerfmonError):
        built_in.dispatch([])
    with pytest.raises(perfmon.PerfmonError):
        built_in.dispatch(["Uops_Ret"] * 65, pmu="coreduo")


def test_registers_others_hold(built_in):
    assert built_in.dispatch(["Uops_Ret"], pmu="coreduo").counters == (0,)
    assert built_in.dispatch(["Uops_Ret"], pmu="coreduo", unavailable=[0]).counters == (1,)
    with pytest.raises(ValueError):
        built_in.dispatch(["Uops_Ret"], pmu="coreduo", unavailable=[512])


def test_settings_of_another_processor(built_in):
    for wrong in (dict(model=coreduo.Settings()), dict(model=alpha.Settings()), dict(rates=(1, )),
                  dict(nope=1)):
        with pytest.raises(TypeError):
            built_in.dispatch(["CPU_OP_CYCLES_ALL"], pmu="montecito", **wrong)
    with pytest.raises(TypeError):
        built_in.dispatch(["software::page-faults"], opcm1=montecito.Opcm())
    with pytest.raises(TypeError):
        built_in.dispatch(["CPU_OP_CYCLES_ALL"], pmu="montecito", model=montecito.Settings(),
                          opcm1=montecito.Opcm())


def test_coreduo_settings(built_in):
    d = built_in.dispatch(["Uops_Ret"], pmu="coreduo", plm="u",
                          counters=[coreduo.Counter(255, invert=True, edge=True)])
    assert d.pmcs[0].value == 0xffd500c2
    with pytest.raises(perfmon.PerfmonError):
        built_in.dispatch(["Uops_Ret"], pmu="coreduo", counters=[coreduo.Counter(256)])
    with pytest.raises(ValueError):
        built_in.dispatch(["Uops_Ret"], pmu="coreduo", counters=[coreduo.Counter()] * 3)


def test_montecito_ranges(built_in):
    d = built_in.dispatch(["IA64_INST_RETIRED_THIS"], pmu="montecito", irange=[(0x4000, 0x4100)])
    assert len(d.model.irange.registers) % 2 == 0 and d.model.drange is None
    assert all(r.kind == perfmon.RegisterKind.IBR for r in d.model.irange.registers)
    d = built_in.dispatch(["LOADS_RETIRED"], pmu="montecito",
                          drange=[montecito.Range(0x6000, 0x6080)])
    assert d.model.drange.registers[0].kind == perfmon.RegisterKind.DBR and not d.model.fine
    with pytest.raises(perfmon.ModelError):
        built_in.dispatch(["IA64_INST_RETIRED_THIS"], pmu="montecito", irange=[(0x4001, 0x4100)])
    with pytest.raises(ValueError):
        built_in.dispatch(["IA64_INST_RETIRED_THIS"], pmu="montecito", irange=[(0, 16)] * 5)


def test_montecito_features_have_their_registers(built_in):
    d = built_in.dispatch(["L3_MISSES"], pmu="montecito",
                          dear=montecito.Ear(montecito.EarMode.CACHE, 3),
                          iear={"mode": montecito.EarMode.CACHE,
                                "umask": 0xff}, etb=montecito.Etb(taken=montecito.Taken.TAKEN))
    assert {37, 39, 40} <= {r.num for r in d.pmcs}
    with pytest.raises(perfmon.ModelError):
        built_in.dispatch(["L3_MISSES"], pmu="montecito", dear=montecito.Ear(montecito.EarMode.TLB),
                          etb=montecito.Etb())
    d = built_in.dispatch(["L3_MISSES"], pmu="montecito", ipear=montecito.Ipear(delay=20))
    assert 42 in {r.num for r in d.pmcs}
    for wrong in (dict(opcm1=montecito.Opcm(slots="x")), dict(counters=[montecito.Counter()] * 13)):
        with pytest.raises(ValueError):
            built_in.dispatch(["L3_MISSES"], pmu="montecito", **wrong)
    with pytest.raises(TypeError):
        built_in.dispatch(["L3_MISSES"], pmu="montecito", opcm1=7)


def test_alpha_settings(built_in):
    d = built_in.dispatch(["cycles", "issues"], pmu="ev5", rates=[256, 65536, 256],
                          scope=alpha.Scope.PROCESS)
    assert d.model.privileged and d.model.ioctls[0].name == "PCNT5MUX" and d.model.ioctls[
        0].when == alpha.When.SETUP
    assert [io.name for io in d.model.ioctls if io.when == alpha.When.START] == ["PCNT5RESTART"]
    with pytest.raises(ValueError):
        built_in.dispatch(["cycles"], pmu="ev5", rates=[1, 2, 3, 4])
    with pytest.raises(ValueError):
        built_in.dispatch(["cycles"], pmu="ev5", ranges=[(0, 16)] * 6)


def test_libpfm3_style():
    mont = libpfm3.Library("montecito")
    out = mont.dispatch([mont.cycle_event(), "IA64_INST_RETIRED_THIS"])
    assert [r.num for r in out.pmcs] == [4, 5] and out.model is None
    assert mont.dispatch([mont.inst_retired_event().at("k")]).pmcs[0].value & 0xf == 1
    assert mont.event_description(
        0) and mont.name == "dual-core Itanium 2" and mont.num_counters == 12
    assert dict(libpfm3.supported())[mont.type] == mont.name
    core = libpfm3.Library("coreduo")
    assert core.num_events == 116 and len(list(core.events())) == 116
    assert mont.event_name(0) == next(mont.events())  # each has its own selection
    assert [m.name
            for m in core.masks(core.find_event("L2_LINES_IN"))][:2] == ["SELF", "BOTH_CORES"]
    with pytest.raises(perfmon.UnknownEventError):
        mont.find_event("NOPE")
    with pytest.raises(perfmon.UnknownPmuError):
        libpfm3.Library("nope")
    with pytest.raises(perfmon.UnknownPmuError):
        libpfm3.Library("software")
    with pytest.raises(perfmon.PerfmonError):
        libpfm3.Library(9999)


def test_libpfm3_codes():
    core = libpfm3.Library("coreduo")
    same = list(core.find_events_by_code(0x103a))
    assert same and all(core.event_code(i) == 0x103a for i in same)
    assert list(core.find_events_by_code(0x7fff)) == []


# ---- what Montecito records


def test_data_ear_samples():
    s = montecito.decode_dear(montecito.EarMode.CACHE, 0x6000000000001230, 3 << 14 | 25,
                              0x4000000000005008 | 1)
    assert (s.data_address, s.latency, s.overflow, s.level) == (0x6000000000001230, 25, False,
                                                                montecito.Level.FAR)
    assert s.slot == 1 and s.instruction_address is not None
    nothing = montecito.decode_dear(montecito.EarMode.CACHE, 0, 0, 0)
    assert (nothing.data_address, nothing.instruction_address, nothing.slot) == (None, None, None)
    with pytest.raises(perfmon.ArgumentError):
        montecito.decode_dear(9, 0, 0, 0)


def test_code_ear_samples():
    s = montecito.decode_iear(montecito.EarMode.CACHE, 0x4000000000001200 | 3, 40)
    assert (s.address, s.latency, s.overflow) == (0x4000000000001200, 40, False)
    assert montecito.decode_iear(montecito.EarMode.CACHE, 0x4000000000001200, 40).address is None
    with pytest.raises(perfmon.ArgumentError):
        montecito.decode_iear(montecito.EarMode.ALAT, 0, 0)


def test_trace_buffer():
    pmds = [0x4000000000001000 | 2 << 2 | 1, 0x4000000000002000 | 2] + [0] * 14
    branch = montecito.decode_etb(2, 0, pmds)[0]
    assert (branch.source, branch.target, branch.taken,
            branch.slot) == (0x4000000000001000, 0x4000000000002000, True, 2)
    assert montecito.decode_etb(0, 0, [0] * 16) == []
    group = montecito.decode_ipear(1, 0, [0x400000000000100 | 5 << 60] + [0] * 15)[0]
    assert group.address == 0x4000000000001000 and group.entry == 0
    with pytest.raises(ValueError):
        montecito.decode_etb(0, 0, [0] * 15)
    with pytest.raises(OverflowError):
        montecito.decode_etb(0, 0, [-1] + [0] * 15)


def test_traits_know_no_other_names():
    with pytest.raises(perfmon.UnknownEventError):
        montecito.traits("NOPE")
    assert montecito.traits("montecito::CPU_OP_CYCLES_ALL").name == "CPU_OP_CYCLES_ALL"


def test_alpha_traits():
    t = alpha.traits("ev4", "issues")
    assert t.kind == alpha.EventKind.EVENT and t.counters == (0,) and t.constant == "PF_ISSUES"
    ratio = [e.name for e in perfmon.Context(host=False, images=False).pmus["ev67"]
             if alpha.traits("ev67", e.name).kind == alpha.EventKind.RATIO]
    assert sorted(ratio) == sorted(
        n.replace("PF67_PM_", "").lower() for n in alpha.statistics() if n.endswith("_PER_RET"))
    assert "ISSUES" in {p.upper() for p in alpha.partners("ev5", "dcachemisses")}
    assert (alpha.num_counters("ev5"), alpha.counter_width("ev5", 2),
            alpha.rates("ev5", 2)) == (3, 14, [16384, 256])
    assert alpha.bucket(0x1000, 4, 0x1020) == 2 and alpha.counter_width("ev5", 3) == 0
    with pytest.raises(ValueError):
        alpha.num_counters("ev8")
    with pytest.raises(perfmon.ArgumentError):
        alpha.select("ev4", "issues", 1)
    with pytest.raises(LookupError):
        alpha.statistic("nope")
    with pytest.raises(LookupError):
        alpha.request("PCNTNOPE")
    with pytest.raises(LookupError):
        alpha.mask("nope")
