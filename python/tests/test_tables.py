# SPDX-License-Identifier: MIT
"""Results for other tools: pickles, rows and columns, HTML, and counting by a decorator."""
import inspect
import pickle
import subprocess
import sys
import threading
from xml.etree import ElementTree

import pytest

import perfmon
from perfmon import Cause, Count, Quality, Reading

NAME = "coreduo::L2_Lines_In,core=all,prefetch=only"


def again(thing):
    return pickle.loads(pickle.dumps(thing))


# ---- pickles


def test_events_and_rows_survive_a_pickle(built_in):
    for context in (built_in, perfmon.default_context()):
        ev = context.event(NAME)
        copy = again(ev)
        assert copy == ev and hash(copy) == hash(ev) and (copy.pmu, copy.name,
                                                          copy.perf_attr) == (ev.pmu, ev.name,
                                                                              ev.perf_attr)
        assert copy.info == again(ev.info) and [u.name for u in copy.info.umasks
                                                ] == [u.name for u in ev.info.umasks]
        assert dict(copy.names) == dict(ev.names)
    assert again(perfmon.event(NAME))._context is perfmon.default_context()
    row, pmu = again((built_in.find("ev5::issues"), built_in.pmus["ev5"]))
    assert row._context is pmu._context and row.counters == (0,) and pmu.name == "ev5"


def test_a_context_is_opened_with_the_same_options():
    with perfmon.Context("coreduo", host=False, images=False) as ctx:
        copy = again(ctx)
        assert copy.event("Instr_Ret") == ctx.event("Instr_Ret") and again(ctx) is copy


def test_events_come_back_from_another_process(built_in):
    code = ("import pickle, sys, perfmon\n"
            "ev = perfmon.Context(host=False, images=False).event(sys.argv[1])\n"
            "sys.stdout.buffer.write(pickle.dumps(ev))")
    done = subprocess.run([sys.executable, "-c", code, NAME], stdout=subprocess.PIPE, check=True)
    assert pickle.loads(done.stdout) == built_in.event(NAME)


def test_counts_survive_a_pickle():
    done = perfmon.stat(["true"], ["page-faults", "montecito::CPU_OP_CYCLES_ALL"])
    copy = again(done)
    assert (
        copy.counts["page-faults"] == done["page-faults"] and copy.counts[1].cause is Cause.NO_PMU
    )


# ---- rows and columns


def test_many_texts_at_once(built_in):
    texts = [NAME, "coreduo::L2_Lines_Inn", "coreduo::Instr_Ret"]
    table = built_in.encode_many(texts)
    assert len(table) == 3 and table.name == tuple(texts)
    rows = table.records()
    assert [r["value"] for r in rows] == [0x53d024, 0, 0x5300c0] and all(
        type(r["value"]) is int for r in rows)
    assert [r["code"] for r in rows] == [0, perfmon.ErrorCode.NOTFOUND, 0]
    assert rows[1]["why"] == '"L2_Lines_Inn" is not an event of coreduo' and rows[0]["why"] == ""
    assert again(table).records() == rows and list(table.columns()) == list(rows[0])
    assert built_in.encode_many(["Instr_Ret"], pmu="coreduo",
                                plm="u").records()[0]["value"] == 0x5100c0
    assert len(built_in.encode_many([])) == 0 and built_in.encode_many([]).records() == []
    assert perfmon.encode_many([NAME]).records() == built_in.encode_many([NAME]).records()
    with pytest.raises(TypeError):
        built_in.encode_many([7])


@pytest.mark.parametrize("call", [
    perfmon.encode_many, perfmon.Session, perfmon.plan, perfmon.dispatch, perfmon.count,
])
def test_refuses_arguments_that_are_not_texts(call):
    with pytest.raises(TypeError, match="expected texts, got int"):
        call(7)


def test_one_text_alone_is_no_list_of_letters(built_in):
    assert built_in.encode_many(NAME).records() == built_in.encode_many([NAME]).records()
    assert perfmon.Session("page-faults").events == ("page-faults",)


def test_a_processor_as_a_table(built_in):
    table = built_in.pmus["ev5"].encode_all()
    rows = table.records()
    assert len(rows) == len(built_in.pmus["ev5"]) and [r["name"] for r in rows
                                                       ] == [e.name for e in built_in.pmus["ev5"]]


def test_columns_are_arrays(built_in):
    numpy = pytest.importorskip("numpy")
    column = built_in.encode_many([NAME]).value
    assert numpy.asarray(column).dtype == "uint64" and column.__array_interface__["shape"] == (1,)


def test_data_frames_have_one_row_an_event(built_in):
    pandas = pytest.importorskip("pandas")
    rows = built_in.events("L2_LINES_*", pmu="coreduo")
    frame = pandas.DataFrame(rows)
    assert list(frame["name"]) == [e.name for e in rows] and list(frame["counters"]) == [(0, 1),
                                                                                         (0, 1)]
    assert list(pandas.DataFrame(rows.columns())["name"]) == list(frame["name"])
    pmus = pandas.DataFrame(built_in.pmus)
    assert list(pmus["name"]) == [
        p.name for p in built_in.pmus
    ] and pmus.set_index("name")["n_events"]["ev5"] == len(built_in.pmus["ev5"])
    assert len(pandas.DataFrame(built_in.pmus.records())) < len(pmus)   # without hidden ones
    counts = pandas.DataFrame(perfmon.stat("true", ["page-faults", "task-clock"]).counts)
    assert list(counts["event"]) == ["page-faults", "task-clock"] and counts["value"][0] > 0
    table = pandas.DataFrame(built_in.encode_many([NAME]).columns())
    assert table["value"][0] == 0x53d024


def test_without_numpy_rows_are_the_same(built_in, monkeypatch):
    with_it = built_in.encode_many([NAME]).records()
    monkeypatch.setattr(perfmon._bulk, "_numpy", lambda: None)
    assert built_in.encode_many([NAME]).records() == with_it


def test_a_reading_as_rows():
    rows = perfmon.stat(["true"], ["page-faults", "montecito::CPU_OP_CYCLES_ALL"]).counts.records()
    assert rows[0]["event"] == "page-faults" and rows[0]["value"] > 0 and rows[0][
        "quality"] == "exact" and rows[0]["cause"] == ""
    assert rows[1]["value"] is None and rows[1]["cause"] == "no PMU" and rows[1]["why"]


# ---- notebooks


def cells(markup):
    return [["".join(c.itertext()) for c in row]
            for row in ElementTree.fromstring(markup).iter("tr")]


def count_of(event="a<b>&c", value=1234567, quality=Quality.EXACT, **more):
    return Count(event, "p", value, 0, 1, 1, quality, more.pop("cause", Cause.NONE), **more)


def test_counts_in_a_notebook():
    missing = count_of("x", None, Quality.NOT_COUNTED, cause=Cause.BUSY,
                       why="another one <holds> it", remedy="stop it")
    shown = cells(Reading(("a", "x"), (count_of(), missing), 0.0)._repr_html_())
    assert shown[1:] == [["a<b>&c", "1,234,567", "", "exact", ""],
                         ["x", "", "",
                          str(Quality.NOT_COUNTED), "another one <holds> it stop it"]]
    assert cells(count_of()._repr_html_())[1][:2] == ["a<b>&c", "1,234,567"]
    assert cells(count_of(value=2500000, scale=1e-6,
                          unit="msec")._repr_html_())[1][1:3] == ["2.5", "msec"]


def test_sessions_events_and_tables_in_a_notebook(built_in):
    with perfmon.Session(["page-faults"]) as s:
        assert cells(s._repr_html_())[1][0].startswith("page-faults")
    assert cells(s._repr_html_())[1][3] == "exact"
    assert ["registers", "0x186 = 0x53d024"] in cells(built_in.event(NAME)._repr_html_())
    shown = cells(built_in.encode_many([NAME, "nope::x"] * 40)._repr_html_())
    assert shown[1][:3] == [NAME, "0x186", "0x53d024"
                            ] and shown[2][-1] and shown[-1] == ["and 20 more"]
    assert cells(perfmon.stat(["true"], ["page-faults"])._repr_html_())


# ---- perfmon.count


def test_a_function_is_counted():
    @perfmon.count("page-faults", "task-clock")
    def work(size):
        """Touches memory."""
        return len(bytearray(size))

    assert work.__name__ == "work" and work.__doc__ == "Touches memory." and work.counts is None
    assert list(inspect.signature(work).parameters) == ["size"]
    assert work(1 << 22) == 1 << 22
    first = work.counts
    work(1 << 22)
    assert work.calls == 2 and first["task-clock"].value > 0
    assert work.total[
        "page-faults"].value == first["page-faults"].value + work.counts["page-faults"].value
    assert work.total["page-faults"].quality is Quality.EXACT and cells(work._repr_html_())
    work.reset()
    assert (work.calls, work.counts, work.total) == (0, None, None)


def test_default_events_and_uncountable_ones():
    @perfmon.count
    def nothing():
        return None

    nothing()
    assert nothing.counts["task-clock"].value > 0 and len(nothing.counts) == 5

    @perfmon.count(["montecito::CPU_OP_CYCLES_ALL"])
    def more():
        return None

    more()
    more()
    assert more.total[0].value is None and more.total[0].cause is Cause.NO_PMU


def test_exceptions_pass_and_are_counted():
    @perfmon.count("page-faults")
    def fails():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fails()
    assert fails.calls == 1 and fails.counts["page-faults"].quality is Quality.EXACT


def test_methods_recursion_and_threads():
    class Thing:
        @perfmon.count("page-faults")
        def down(self, n):
            return n and 1 + self.down(n - 1)

    assert Thing().down(3) == 3 and Thing.down.calls == 4
    workers = [threading.Thread(target=Thing().down, args=(0,)) for _ in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert Thing.down.calls == 8


def test_a_block_is_counted_and_may_be_entered_again():
    counting = perfmon.count(["task-clock"], strict=True)
    with counting as outer:
        with counting as inner:
            memory = bytearray(1 << 22)
    assert len(memory) and outer is not inner and outer[0].value >= inner[0].value > 0


@pytest.mark.parametrize("source",
                         ["async def f(): pass", "def f(): yield", "async def f(): yield"])
def test_work_that_is_done_later_is_refused(source):
    scope = {}
    exec(source, scope)  # pylint: disable=exec-used
    with pytest.raises(TypeError, match="with statement"):
        perfmon.count(scope["f"])


def test_refusals_are_those_of_a_session():
    @perfmon.count("no-such-event")
    def work():
        return None

    with pytest.raises(perfmon.UnknownEventError):
        work()
    with pytest.raises(perfmon.ArgumentError, match="at least one event"):
        perfmon.count([]).__enter__()


# ---- messages


@pytest.mark.parametrize("call, words", [
    (lambda: perfmon.Session([]), "a session needs at least one event"),
    (lambda: perfmon.stat(["true"], []), "a session needs at least one event"),
    (lambda: perfmon.dispatch([]), "a set needs at least one event"),
    (lambda: perfmon.plan([]), "a plan needs at least one event"),
    (lambda: perfmon.Session(["page-faults"], pid=-5),
     "expected pid 0 (the calling thread) or the number of a process, got -5"),
    (lambda: perfmon.Session(["page-faults"], backend="x"), "unknown backend"),
    (lambda: perfmon.Session(["page-faults"], cpus="z"),
     "expected a list of CPUs such as 0,2-3 in cpus"),
])
def test_messages_name_the_argument(call, words):
    with pytest.raises(perfmon.ArgumentError) as refused:
        call()
    assert str(refused.value) == words and isinstance(refused.value, ValueError)
