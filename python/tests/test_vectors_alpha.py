# SPDX-License-Identifier: MIT
"""Alpha: every golden vector about words, events and groups, and every session as the device is to
be driven."""
import errno
import time

import pytest
from vectors import load, num, rows

import perfmon
from perfmon import alpha, constants

CONTEXT = perfmon.Context(host=False, images=False)


def dispatch(v, events, settings=alpha.Settings(), pin=False):
    texts = [
        f"{v['pmu']}::{name}" + (f":counter={counter}" if pin else "") for counter, name in events
    ]
    return CONTEXT.dispatch(texts, model=settings)


def word_of(result, request):
    return next(io.words[0] for io in result.ioctls if io.request == request)


def ioctl_code(v):
    direction = {
        "void": constants.PFCNTR_VOID, "in": constants.PFCNTR_IN, "out": constants.PFCNTR_OUT,
        "inout": constants.PFCNTR_IN | constants.PFCNTR_OUT
    }[v["dir"]]
    r = alpha.request(v["name"])
    assert r.request == num(
        v["request"]) == direction | v["size"] << 16 | constants.PFCNTR_TYPE << 8 | v["nr"]
    assert r.families == (("ev4", "ev5", "ev6") if v["family"] == "any" else (v["family"],))
    assert r in list(alpha.requests())


def ioctl_code_old(v):
    assert constants.PCNTGETCNT_OLD == num(v["request"])


def pm_stat(v):
    assert alpha.statistics()[v["enum"]] == v["name"] and alpha.statistic(v["name"]) == v["enum"]
    assert alpha.statistic_bits(v["enum"]) == num(v["state_bits"])


def freq_mask(v):
    assert alpha.driver_rates(num(v["arg"])) == (num(v["a1"]), bool(v["privileged"]))


def ctxt(v):
    word = num(v["arg"])
    call = alpha.device_call("ev5", constants.PCNT5CTXTS, word)
    assert (call.function, call.argument) == (3, num(v["a1"]))
    letters = dict(
        zip("KESUP", (alpha.Mode.KERNEL, alpha.Mode.EXEC, alpha.Mode.SUPER, alpha.Mode.USER,
                      alpha.Mode.PAL)))
    modes = alpha.Mode(sum(letters[c] for c in v.get("hw_modes", "")))
    counted, only_marked, marks = alpha.word_modes(word)
    if modes:
        assert counted == modes and alpha.mode_word(modes) == word
    else:
        assert (only_marked, marks) == (bool(v.get("select")), bool(v.get("sets_pme")))


def rsize(v):
    opened = {"all": alpha.Open.ALL, "each": alpha.Open.EACH,
              "one": alpha.Open.ONE}[v.get("mode", "all")]
    assert alpha.sample_bytes(num(v["start"]), num(v["end"]), v["stride"], opened,
                              v["ncpu"]) == v["bytes"]


def count(v):
    assert [alpha.events_from_interrupts(i, r)
            for i, r in zip(v["interrupts"], v["freq"])] == v["events"]


def readcntrs(v):
    widths = [alpha.counter_width(v["pmu"], i) for i in range(len(v["raw"]))]
    assert [alpha.events_from_raw(*one)
            for one in zip(v["interrupts"], widths, v["raw"])] == v["events"]


def single_issue(v):
    assert alpha.single_issues(v["issues"], v["dual"]) == v["single"]


def ctrs_word(v):
    word = alpha.counter_word(v["pmu"], v["select"], v["cpu"], v["c"])
    assert word == num(v["word"])
    assert alpha.split_counter_word(v["pmu"], word) == (v["select"], v["cpu"], tuple(v["c"]))


def mask(v):
    assert alpha.mask(v["name"]) == num(v["value"])


def ipl(v):
    assert alpha.level_entry(user=bool(v["user"]), idle=bool(v["idle"]), ipl=v["ipl"]) == v["entry"]


def linux_event(v):
    if v.get("ok") is False:
        with pytest.raises(OSError) as refused:
            alpha.linux_event(v["type"], v["config"])
        assert refused.value.errno == getattr(errno, v["errno"])
        return
    e = alpha.linux_event(v["type"], v["config"])
    if "maps_to" in v:
        assert e.raw == v["maps_to"]
    else:
        assert (e.raw, e.counter, e.mode) == (v["config"], v["pmc"], num(v["pal_config"]))


def linux_pair(v):
    if v["ok"] is False:
        with pytest.raises(OSError) as refused:
            alpha.linux_pair(*v["raw"])
        assert refused.value.errno == getattr(errno, v["errno"])
    else:
        assert alpha.linux_pair(*v["raw"]) == (tuple(v["pmc"]), num(v["pal_config"]))


def linux_write(v):
    call = alpha.linux_write(v["pmc"], v["period"])
    assert (call.function, call.argument) == (v["a0"], num(v["a1"]))


def pm_ratio(v):
    if v["num_den"] is None:
        with pytest.raises(LookupError):
            alpha.ratio(v["enum"], v["stat"], v["retired"])
    else:
        assert alpha.ratio(v["enum"], v["stat"], v["retired"]) == tuple(v["num_den"])


def pm_decode(v):
    s = alpha.decode_sample(i_stat=num(v["i_stat"]))
    assert s.trap == v.get("trap_type", alpha.Trap.NONE)
    assert alpha.register_statistics(i_stat=num(v["i_stat"])) == tuple(sorted(v.get("stats", ())))


def pm_redirect(v):
    s = alpha.decode_sample(pmpc=0xfffffc0000000000 | num(v["pmpc_14_0"]))
    assert s.pc is None and s.pal
    assert alpha.register_statistics(pmpc=num(v["pmpc_14_0"])) == (v["stat"],)


def pm_pctr(v):
    ctl = num(v["pctr_ctl"])
    if "stats" in v:
        assert alpha.register_statistics(pctr_ctl=ctl) == tuple(sorted(v["stats"]))
    if "pctr0" in v:
        s = alpha.decode_sample(pctr_ctl=ctl)
        assert (s.pctr0, s.pctr1) == (num(v["pctr0"]), num(v["pctr1"]))
        assert (s.profileme, s.mode, s.valid) == (bool(v["sl0"]), v["sl1"], bool(v["val"]))


def irq(v):
    vms = v.get("os") == "vms"
    i = alpha.decode_interrupt(v["pmu"],
                               [num(v["r4"])] if vms else [num(v[a]) for a in ("a0", "a1", "a2")],
                               vms=vms)
    assert (i.counter, i.ipl, i.entry) == (num(v["r4" if vms else "a2"]), v["ipl"],
                                           v.get("entry", ""))
    assert i.vector == num(v["scb_offset" if vms else "a1"])


def event(v):
    d = dispatch(v, [[v["counter"], v["event"]]], pin=True)
    assert d.counters == (v["counter"],)
    assert word_of(d.model, num(v["req"])) == num(v["arg"])
    assert (d.pmcs[0].addr, d.pmcs[0].value) == (2, num(
        v["a1"])) and d.model.calls[0] == alpha.Call(2, num(v["a1"]))
    assert alpha.constant(v["pmu"], v["event"], v["counter"]).startswith(v["const"])
    select, cbox = alpha.select(v["pmu"], v["event"], v["counter"])
    assert select < 16 and cbox < 8


def group(v):
    if v["ok"] is False:
        with pytest.raises(perfmon.PlacementError):
            dispatch(v, v["events"])
        return
    d = dispatch(v, v["events"])
    assert list(d.counters) == [c for c, _ in v["events"]]
    assert d.model.ioctls[0].words[0] == num(v["arg"]) and d.pmcs[0].value == num(v["a1"])


def freq(v):
    if v["pmu"] == "ev4":
        d = dispatch(v, v["events"], alpha.Settings(rates=v["freq"]))
        word, _ = alpha.rate_word("ev4", v["freq"])
        assert word_of(d.model, constants.PCNTSETMUX) == num(v["arg"])
        assert (bool(word & constants.ICCSR_PC0),
                bool(word & constants.ICCSR_PC1)) == (bool(v["pc0"]), bool(v["pc1"]))
    elif v["pmu"] == "ev5":
        word, privileged = alpha.rate_word("ev5", v["freq"])
        assert (word, privileged) == (num(v["arg"]), bool(v["privileged"]))
        a1, _ = alpha.driver_rates(word)
        assert (a1, alpha.pmctr_ctl(a1, 7)) == (num(v["a1"]), num(v["pmctr_ctl"]))
    else:
        starts = [
            alpha.start_value(alpha.counter_width(v["pmu"], i), r) for i, r in enumerate(v["freq"])
        ]
        assert starts == [num(s) for s in v["start"]]


def start_value(v):
    periods = [0] * v["counter"] + [v["period"]]
    d = dispatch(v, [[v["counter"], "cycles"]], alpha.Settings(periods=periods), pin=True)
    assert word_of(d.model, num(v["req"])) == num(v["arg"])


def pm_mode(v):
    assert alpha.pm_mode_word(v["sl1"]) == num(v["arg"])
    d = dispatch(v, [[0, f"pm_mode{v['sl1']}"]])
    assert word_of(d.model, constants.PCNT6MUX) == num(v["arg"]) and d.pmcs[0].value == num(
        v["a1"]) and len(d.pmds) == 2


CHECKS = {
    check.__name__: check
    for check in (ioctl_code, ioctl_code_old, pm_stat, freq_mask, ctxt, rsize, count, readcntrs,
                  single_issue, ctrs_word, mask, ipl, linux_pair, linux_write, pm_ratio, pm_decode,
                  pm_redirect, pm_pctr, irq, event, group, freq, start_value, pm_mode)
}
CHECKS.update(linux_raw=linux_event, linux_hw=linux_event)


def name_of(row):
    return f"{row['id']}-{row['kind']}"


@pytest.mark.parametrize("v",
                         rows("alpha_words.jsonl", ident=name_of) +
                         rows("alpha_events.jsonl", ident=name_of))
def test_vector(v):
    CHECKS[v["kind"]](v)


# ---- sessions: what is asked of the device


def settings_of(v):
    chosen = {"system": alpha.Scope.SYSTEM, "process": alpha.Scope.PROCESS}[v["scope"]]
    opened = {"all": alpha.Open.ALL, "each": alpha.Open.EACH, "one": alpha.Open.ONE}[v["mode"]]
    context = {"modes": alpha.word_modes(num(v["ctxt"]))[0]} if "ctxt" in v else {}
    key = "periods" if "period" in v else "rates"
    values = [x or 0 for x in v.get("period", v["freq"])]
    return alpha.Settings(scope=chosen, open=opened, items=alpha.Item(v["items"]), **{key: values},
                          **context)


@pytest.mark.parametrize("v", rows("alpha_device.jsonl", lambda r: r["kind"] == "session", name_of))
def test_session_requests(v):
    d = dispatch(v, v["events"], settings_of(v), pin=True)
    wanted = [(s["name"], num(s["req"]), tuple(num(a) for a in s.get("arg", ()))) for s in v["seq"]
              if s["op"] == "ioctl"]
    assert d.model.open_flags == num(v["seq"][0]["flags"])
    assert [(io.name, io.request, io.words) for io in d.model.ioctls] == wanted
    assert [[c.function, c.argument] for c in d.model.calls] == [[f, num(a)]
                                                                 for f, a in v["wrperfmon"]]


@pytest.mark.parametrize("v", rows("alpha_device.jsonl", lambda r: r["kind"] == "session", name_of))
def test_session_on_the_device_model(v):
    """The model takes every request and counts for each of the session's events."""
    texts = [f"{name}:counter={counter}" for counter, name in v["events"]]
    with alpha.Session(texts, device_model=v["pmu"], settings=settings_of(v), n_cpus=v["ncpu"],
                       context=CONTEXT) as s:
        assert s.entries == (v["ncpu"] if v["mode"] == "each" else 1)
        time.sleep(0.02)  # the slowest rate interrupts many times meanwhile
    assert [c.quality for c in s] == [perfmon.Quality.EXACT] * len(texts)


def test_every_kind_is_met():
    kinds = {
        row["kind"] for name in ("alpha_words.jsonl", "alpha_events.jsonl") for row in load(name)
    }
    assert kinds == set(CHECKS)
