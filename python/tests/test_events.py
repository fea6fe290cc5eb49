# SPDX-License-Identifier: MIT
"""Events, rows, processors, and decoding of registers."""
import gc
import os
import pickle
import signal
import struct
import sys
import threading

import pytest

import perfmon
from perfmon import Dialect, EventError, EventFlag, PmuFlag, RegisterKind


def test_contract_of_an_event():
    ev = perfmon.event("coreduo::L2_Lines_In,core=all,prefetch=only")
    assert [(r.kind, r.num, r.addr, r.value)
            for r in ev.registers] == [(RegisterKind.PMC, 0, 0x186, 0x53d024)]
    assert ev.counters == (0, 1)
    assert (ev.perf_attr.type, ev.perf_attr.config) == (4, 0xd024)
    assert ev.names["perf"] == "cpu/event=0x24,umask=0xd0/"
    assert (ev.pmu, ev.name, ev.text) == ("coreduo", "L2_Lines_In",
                                          "coreduo::L2_Lines_In,core=all,prefetch=only")
    assert ev.description and ev.plm == perfmon.Plm.KERNEL | perfmon.Plm.USER


def test_names_read_again_give_the_same_registers(built_in):
    ev = built_in.event("coreduo::L2_Rqsts,core=all,cachestate=mi,usr")
    assert set(ev.names) == {"libpfm", "libpmc", "perf", "vendor"} and len(ev.names) == 4
    for dialect, text in ev.names.items():
        again = built_in.event(text, pmu="coreduo")
        assert again.registers == ev.registers, dialect
    assert ev.names[Dialect.LIBPMC] == ev.names["libpmc"] == built_in.print(ev.text, "libpmc")
    with pytest.raises(KeyError):
        ev.names["latin"]


def test_a_dialect_that_cannot_say_it(built_in):
    ev = built_in.event("ev5::issues")
    with pytest.raises(perfmon.UnexpressibleError) as refused:
        ev.names["perf"]
    assert isinstance(refused.value, KeyError) and refused.value.kind == "unexpressible"
    assert "perf" not in ev.names and ev.perf_attr is None


def test_levels(built_in):
    for plm, value in (("u", 0x5100c2), ("k", 0x5200c2), ("uk", 0x5300c2),
                       (perfmon.Plm.USER, 0x5100c2), (0, 0x5300c2)):
        assert built_in.event("coreduo::Uops_Ret", plm=plm).registers[0].value == value
    with pytest.raises(ValueError):
        built_in.event("coreduo::Uops_Ret", plm="x")


def test_attributes_for_the_system_call():
    attr = perfmon.perf_event_attr("page-faults", plm="u")
    kind, size, config = struct.unpack_from("IIQ", attr)
    assert (kind, config) == (1, 2) and size == len(attr) >= 64
    assert struct.unpack_from("Q", attr, 40)[0] & 0x20 or sys.byteorder == "big"  # exclude_kernel
    with pytest.raises(perfmon.PerfmonError):
        perfmon.perf_event_attr("ev5::issues")
    with pytest.raises(perfmon.UnknownEventError):
        perfmon.perf_event_attr("nope")


def test_a_raw_event_has_no_row(built_in):
    ev = built_in.event("r412e", pmu="coreduo")
    assert ev.registers[0].value & 0xffff == 0x412e
    assert ev.name == "r412e" if ev.info is None else ev.info.name


def test_rows(built_in):
    info = built_in.find("coreduo::l2_rqsts")
    assert (info.name, info.pmu, info.code, info.counters) == ("L2_Rqsts", "coreduo", 0x2e, (0, 1))
    assert built_in.pmus["coreduo"].events[info.index] == info and str(info) == "coreduo::L2_Rqsts"
    both = [u for u in info.umasks if u.group == "core"]
    assert [(u.name, u.alias, u.value, u.default, u.combinable) for u in both] == [
        ("this", "SELF", 0x40, True, False), ("all", "BOTH_CORES", 0xc0, False, False)]
    assert {f.name for f in info.fields} >= {"code"}
    assert all(f.value == 0x2e for f in info.fields if f.name == "code")
    assert info.encode().registers == built_in.event("coreduo::L2_Rqsts").registers
    assert info.encode(plm="u").registers[0].value & 0x30000 == 0x10000


def outcome(encode):
    """Registers, or the error: some events need a unit mask."""
    try:
        return encode().registers
    except EventError as e:
        return e.kind


def test_a_row_is_the_event_of_its_name(built_in):
    for pmu in built_in.pmus:
        if pmu.flags & PmuFlag.HIDDEN:
            continue
        for i, info in enumerate(pmu):      # some of the many that come from lists
            if not info.flags & (EventFlag.HIDDEN | EventFlag.METRIC) and (i < 40 or not i % 64):
                assert outcome(
                    info.encode) == outcome(lambda name=str(info): built_in.event(name)), info


def test_fields_differ_by_counter(built_in):
    selects = {f.counter: f.value for f in built_in.find("ev5::cycles").fields if f.name == "sel"}
    assert selects[0] == 0 and selects[2] == 0xc


def test_pmus(built_in):
    pmus = built_in.pmus
    assert {"coreduo", "montecito", "ev4", "ev5", "pca56", "ev6", "ev67", "software"
            } <= {p.name for p in pmus}
    core = pmus["coreduo"]
    assert pmus["core"].name == pmus[
        "yonah"].name == "coreduo" and core in pmus and "yonah" in pmus and "nope" not in pmus
    assert (core.n_counters, core.n_fixed, core.width) == (2, 0, 40) and core.flags & PmuFlag.CORE
    assert core.features["PMC_CAP_EDGE"] == 1 and core.features["class"] == "PMC_CLASS_IAP"
    assert dict(core.features) and len(core.features) == len(list(core.features))
    assert pmus[-1].name == pmus[len(pmus) - 1].name == list(pmus)[-1].name
    assert [p.name for p in pmus[:2]] == [pmus[0].name, pmus[1].name]
    with pytest.raises(IndexError):
        pmus[len(pmus)]
    with pytest.raises(perfmon.UnknownPmuError) as refused:
        pmus["montecitoo"]
    assert refused.value.candidates[0] == "montecito" and refused.value.token == "montecitoo"


def test_events_of_a_pmu_are_a_sequence(built_in):
    mont = built_in.pmus["montecito"]
    assert len(mont.events) == len(mont) == 637
    assert [e.name for e in mont.events[:3]] == [mont.events[i].name for i in range(3)]
    assert mont.events[-1].index == 636 and mont.events[
        "cpu_op_cycles_all"].name == "CPU_OP_CYCLES_ALL"
    assert "CPU_OP_CYCLES_ALL" in mont.events and "NOPE" not in mont.events and mont.events[
        5] in mont.events
    assert len({e.name for e in mont}) == 637 and all(e.description for e in mont)
    with pytest.raises(IndexError):
        mont.events[637]


def test_listing_by_pattern(built_in):
    assert [e.name for e in built_in.events("l2_lines_*", pmu="coreduo")
            ] == ["L2_Lines_In", "L2_Lines_Out"]
    assert "BAClears" in {e.name for e in built_in.events(contains="branch", pmu="coreduo")}
    everywhere = {e.pmu for e in built_in.events("*cycles*")}
    assert {"coreduo", "montecito", "ev5"} <= everywhere and "coreduo3" not in everywhere
    assert all(not e.flags & EventFlag.HIDDEN for e in built_in.events(pmu="coreduo"))
    assert len(list(built_in.events(pmu="coreduo"))) == 132


def test_empty_selection_names_the_remedy(built_in):
    with pytest.raises(perfmon.UnknownEventError,
                       match=r'"skl" is the name of a PMU; write events\(pmu="skl"\)'):
        built_in.events("skl")
    with pytest.raises(perfmon.UnknownEventError, match="did you mean MEM_LOAD_RETIRED.L3_MISS"):
        built_in.events("MEM_LOAD_RETIRD.L3_MISS", pmu="skl")
    with pytest.raises(perfmon.UnknownEventError):
        built_in.events(name="L2_Lines", pmu="coreduo")
    with pytest.raises(perfmon.UnknownPmuError):
        built_in.events(pmu="nosuchpmu")
    assert [e.name for e in built_in.events("INST_RETIRED:ANY", pmu="skl")] == ["INST_RETIRED.ANY"]
    for none in (built_in.events("nosuch*",
                                 pmu="skl"), built_in.events(contains="no such words", pmu="skl")):
        assert not none and repr(none) == "<EventTable: no event matches>"


def test_register_values_turn_back_into_events(built_in):
    got = built_in.pmus["coreduo"].decode("PERFEVTSEL0", 0x53d024)
    assert (got["event"], got["umask"], got["usr"], got["os"]) == (0x24, 0xd0, 1, 1)
    assert got.events == ("L2_Lines_In:core=all:prefetch=only",)
    with pytest.raises(KeyError):
        got["nope"]
    with pytest.raises(perfmon.ArgumentError):
        built_in.pmus["coreduo"].decode("CR0", 1)
    assert perfmon.decode("montecito", "PMC4", 0x2030808)["es"] == 8


def test_every_event_comes_back_from_its_register(built_in):
    pmu = built_in.pmus["montecito"]
    for info in pmu.events[::7]:
        register = info.encode().registers[0]
        assert any(built_in.event(e, pmu="montecito").registers[0].value == register.value
                   for e in pmu.decode(f"PMC{register.num}", register.value).events), info


@pytest.mark.parametrize("with_numpy", [True, False])
def test_bulk_encoding(built_in, monkeypatch, with_numpy):
    from perfmon import _bulk
    if with_numpy:
        numpy = pytest.importorskip("numpy")
    else:
        monkeypatch.setitem(sys.modules, "numpy", None)
    _bulk._numpy.cache_clear()
    table = built_in.pmus["montecito"].encode_all()
    _bulk._numpy.cache_clear()
    assert len(table) == 637 and isinstance(
        table.value, numpy.ndarray) == with_numpy if with_numpy else len(table) == 637
    assert type(table.value).__module__ == ("numpy" if with_numpy else "array")
    for i in range(0, 637, 50):
        ev = built_in.pmus["montecito"].events[i].encode()
        assert (int(table.code[i]), int(table.value[i])) == (0, ev.registers[0].value)
        assert int(table.counters[i]) == sum(1 << c for c in ev.counters)


def test_errors_take_the_place_of_events(built_in):
    """Many texts at once: errors take the place of events."""
    got = list(built_in.try_encode(["coreduo::Uops_Ret", "coreduo::Nope", "ev5::issues"]))
    assert [type(g).__name__ for g in got] == ["Event", "UnknownEventError", "Event"]


def test_contexts_are_independent():
    with perfmon.Context("coreduo", host=False,
                         images=False) as a, perfmon.Context("montecito", host=False,
                                                             images=False) as b:
        assert a.event("Uops_Ret").pmu == "coreduo" and b.event(
            "CPU_OP_CYCLES_ALL").pmu == "montecito"
        with pytest.raises(perfmon.UnknownEventError):
            b.event("Uops_Ret")
        assert a.with_pmu("ev5").event(
            "issues").pmu == "ev5" and a.with_pmu("ev5") is a.with_pmu("ev5")
        assert a.with_pmu(None) is a and a.with_pmu("coreduo") is a
    with pytest.raises(ValueError):
        a.event("Uops_Ret")
    with pytest.raises(perfmon.UnknownPmuError):
        perfmon.Context("nope", host=False, images=False)


def test_a_closed_context_opens_no_other():
    ctx = perfmon.Context("coreduo", host=False, images=False)
    sibling = ctx.with_pmu("ev5")
    ctx.close()
    for call in (lambda: ctx.with_pmu("ev6"), lambda: ctx.event("cycles", pmu="ev6"),
                 lambda: ctx.encode_many(["cycles"], pmu="ev5"), lambda: sibling.event("cycles")):
        with pytest.raises(ValueError):
            call()


def test_context_refuses_bad_arguments():
    """Nothing is cut short, and paths that can be had once only serve contexts that come later."""
    for wrong in ({"pmu": "coreduo\0x"}, {"sysfs_root": "/\0x"}, {"cpuid": "GenuineIntel-6-E\0x"},
                  {"images": "/tmp\0x"}, {"images": ["/tmp", "/tmp\0x"]}):
        with pytest.raises(perfmon.ArgumentError):
            perfmon.Context(**wrong)


def test_levels_that_there_are_not(built_in):
    for wrong in (16, 0x18, -1, 1 << 40):
        for call in (lambda: built_in.event("coreduo::Uops_Ret", plm=wrong),
                     lambda: built_in.encode_many(["coreduo::Uops_Ret"], plm=wrong),
                     lambda: built_in.dispatch(["coreduo::Uops_Ret"], plm=wrong),
                     lambda: built_in.pmus["coreduo"].encode_all(plm=wrong)):
            with pytest.raises(ValueError):
                call()
    for wrong in (3.7, None):
        with pytest.raises(TypeError):
            built_in.event("coreduo::Uops_Ret", plm=wrong)


def test_an_attribute_of_another_machine():
    with pytest.raises(perfmon.UnknownPmuError, match="this machine has no coreduo"):
        perfmon.perf_event_attr("coreduo::Uops_Ret")


def test_events_outlive_their_context():
    ctx = perfmon.Context(host=False, images=False)
    ev = ctx.event("coreduo::Uops_Ret")
    del ctx
    gc.collect()
    assert ev.name == "Uops_Ret" and ev.names["libpmc"] == "Uops_Ret"


def test_a_context_serves_many_threads(built_in):
    texts = [
        "coreduo::L2_Lines_In,core=all", "montecito::L3_READS_ALL_ALL:M", "ev67::retinst",
        "coreduo::Nope"
    ]
    wanted, wrong = [str(getattr(e, "registers", e)) for e in built_in.try_encode(texts)], []

    def work():
        for _ in range(200):
            got = [str(getattr(e, "registers", e)) for e in built_in.try_encode(texts)]
            if got != wanted:
                wrong.append(got)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_closing_a_context_under_the_feet_of_others():
    for _ in range(20):
        ctx = perfmon.Context("coreduo", host=False, images=False)
        done = []

        def work():
            try:
                for _ in range(300):
                    ctx.event("Uops_Ret")
            except ValueError:
                pass
            done.append(True)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        ctx.close()
        for t in threads:
            t.join()
        assert len(done) == 3


def test_a_child_is_born_while_a_thread_loads():
    """The lock that another thread holds at that moment must not stay taken in the child."""
    going = True

    def load():
        while going:
            ctx = perfmon.Context(images=False)
            with pytest.raises(perfmon.UnknownEventError):
                ctx.event("no_such_event_of_any_processor")
            ctx.close()

    thread = threading.Thread(target=load)
    thread.start()
    try:
        for _ in range(8):
            pid = os.fork()
            if pid == 0:
                signal.alarm(60)
                ok = False
                try:
                    ok = perfmon.Context(images=False).event("ev67::cycles").pmu == "ev67"
                finally:
                    os._exit(not ok)
            assert os.waitpid(pid, 0)[1] == 0
    finally:
        going = False
        thread.join()


# ---- errors


@pytest.mark.parametrize("text, kind, token, candidate, error", [
    ("coreduo::L2_Lines_Inn,core=all", "unknown_event", "L2_Lines_Inn", "L2_Lines_In",
     perfmon.UnknownEventError),
    ("coredu::L2_Lines_In", "unknown_pmu", "coredu", "coreduo::L2_Lines_In",
     perfmon.UnknownPmuError),
    ("coreduo::L2_Lines_In,core=al", "bad_value", "al", "all", perfmon.EventError),
    ("coreduo::L2_Lines_In,cor=all", "unknown_qualifier", "cor", "core", perfmon.EventError),
    ("coreduo::INSTR_RET:c=256", "bad_value", "256", None, perfmon.EventError),
    ("coreduo::INSTR_RET:", "empty_qualifier", "", None, perfmon.EventError),
])
def test_errors_point_at_the_culprit(built_in, text, kind, token, candidate, error):
    with pytest.raises(error) as refused:
        built_in.event(text)
    e = refused.value
    assert (e.kind, e.token, e.text) == (kind, token, text) and isinstance(e, ValueError)
    assert candidate is None or candidate in e.candidates
    lines = str(e).splitlines()
    assert lines[1] == "  " + text and lines[2].index("^") == 2 + e.span[0] and lines[2].count(
        "^") == max(len(token), 1)
    assert candidate is None or candidate in lines[3]
    assert e.message == lines[0]


def test_looking_for_a_row_says_where_it_went_wrong(built_in):
    for call in (built_in.find, built_in.print):
        with pytest.raises(perfmon.UnknownEventError) as refused:
            call("coreduo::Uops_Rett,usr")
        assert refused.value.token == "Uops_Rett" and refused.value.candidates == ("Uops_Ret",)


def test_places_are_in_characters(built_in):
    with pytest.raises(perfmon.EventError) as refused:
        built_in.event("coreduo::L2_Lines_In,core=é,prefetch=ß")
    assert refused.value.token == "é"


def test_errors_survive_pickling_and_their_context():
    with perfmon.Context("coreduo", host=False,
                         images=False) as ctx, pytest.raises(perfmon.UnknownEventError) as refused:
        ctx.event("L2_Lines_Inn")
    again = pickle.loads(pickle.dumps(refused.value))
    assert type(again) is perfmon.UnknownEventError and str(again) == str(refused.value)
    assert (again.candidates, again.span, again.code) == (("L2_Lines_In", "L2_M_Lines_In",
                                                           "L2_Lines_Out"), (0, 12), -4)


@pytest.mark.parametrize("text", ["coreduo::\0Uops_Ret", "\0", "coreduo::Uops_Ret\0"])
def test_a_zero_byte_does_not_cut_a_text(built_in, text):
    with pytest.raises(perfmon.EventError) as refused:
        built_in.event(text)
    assert refused.value.span == (text.index("\0"), text.index("\0") + 1)


def test_attributes_are_for_machines_with_the_processor():
    for cpuid, here in (("GenuineIntel-6-E-8", True), ("AuthenticAMD-25-1-1", False)):
        with perfmon.Context(cpuid=cpuid) as ctx:
            assert ctx.event("coreduo::Uops_Ret").here is here


def test_texts_are_texts(built_in):
    for wrong in (None, 7, b"coreduo::Uops_Ret"):
        with pytest.raises(TypeError):
            built_in.event(wrong)
    with pytest.raises(perfmon.EventError):
        built_in.event("coreduo::\udcff")


def test_metric_and_ambiguous_kinds_have_classes():
    from perfmon import _errors
    from perfmon._perfmon import ffi, lib
    kinds = {ffi.string(lib.pfm_error_kind_name(i)).decode() for i in range(64)}
    assert "ambiguous" in kinds and all(
        issubclass(_errors._class_for(perfmon.ErrorCode.INVAL, k), perfmon.PerfmonError)
        for k in kinds)
    assert set(_errors._KINDS) <= kinds


def test_registers_levels_and_attributes_of_a_processor(built_in):
    core, row = built_in.pmus["coreduo"], built_in.find("coreduo::L2_Lines_In")
    assert "PERFEVTSEL0" in core.registers and core.decode(core.registers[0], 0)
    assert core.levels["usr"] == (perfmon.Plm.USER, True) and core.levels["h"][0] == 0
    assert any(m.name == "cmask" and m.max == 255 for m in row.modifiers)
    assert all(u.names and u.names[0] for u in row.umasks)
    chain = next(r for r in built_in.find("cortex_a72::CHAIN").rules if r.effect == "follow")
    assert (chain.name, chain.effect, chain.counters) == ("chain", "follow", ())
    assert chain.holds and not chain.depends and chain.text and chain.source
    (threshold,) = built_in.find("neoverse_v2::CPU_CYCLES").rules
    assert threshold.effect == "on" and threshold.counters == tuple(range(31))
    assert not threshold.holds
    assert any(r.name == "chain" for r in built_in.pmus["cortex_a72"].rules)
    (threshold,) = built_in.rules("neoverse_v2::CPU_CYCLES:threshold=1")
    assert threshold.holds and built_in.rules("coreduo::L2_Lines_In") == row.rules
    with pytest.raises(perfmon.EventError):
        built_in.rules("coreduo::no_such_event")
    assert row.implemented and perfmon.library_version() == perfmon.__version__
    assert built_in.pmus["montecito"].words("ear") and built_in.pmus["ev5"].words("nothing") == {}
    assert built_in.fallback_pmu is None


def test_errata_of_a_processor_and_of_an_event(built_in):
    """As pfm show --errata and pfm encode tell them."""
    core = built_in.pmus["bdw"]
    one = next(e for e in core.errata if "BDM76" in e.ids)
    names = [core.events[i].name for i in one.events]
    assert names and one.effect and one.source
    told = built_in.event("bdw::" + names[0]).errata
    assert "BDM76" in {i for e in told for i in e.ids}
    assert built_in.event("mips_74k::CYCLES").errata == ()


def test_a_list_of_events_is_split():
    assert perfmon.split_events("cycles, cpu/event=1,umask=2/,{a,b}:W,x,edge") == [
        "cycles", "cpu/event=1,umask=2/", "{a,b}:W", "x,edge"
    ]
    assert perfmon.split_events("") == [""]
