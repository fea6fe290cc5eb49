# SPDX-License-Identifier: MIT
"""The model of the Tru64 counter device, request by request."""
import errno
import threading

import pytest

import perfmon
from perfmon import alpha, device

ALL = 0xFF  # processors of a counter word: all of them


def opened(family, pid=1, mode=alpha.Open.ALL, **options):
    model = device.Model(family, **options)
    model.process(pid)
    return model, model.open(pid, mode)


def test_every_family_counts():
    """The requests that dispatch gives, issued one by one; the work is known, so the counts are."""
    events = {
        "ev4": ["cycles", "intops"], "ev5": ["cycles", "issues",
                                             "loads"], "pca56": ["cycles", "issues", "loads"],
        "ev6": ["retinst", "retcondbranch"], "ev67": ["retinst", "cycles1"]
    }
    for family, names in events.items():
        model, dev = opened(family, n_cpus=1)
        placed = perfmon.dispatch([f"{family}::{n}" for n in names], model=alpha.Settings())
        n, got = alpha.num_counters(family), ()
        rates = placed.model.rates
        for io in placed.model.ioctls:
            if io.when == alpha.When.STOP:
                model.work(0, 1, events=[3 * rates[i] + 7 for i in range(n)], cycles=1000)
            got = dev.request(io.name, *io.words)
        counts = {"PCNTGETCNT": 3, "PCNT5GETCNT": 3, "PCNT6READCNTRS": 3 * rates[0] + 7}[io.name]
        assert [w for w in got if w == counts] == [counts] * n, (family, got)
        assert model.look(0).holder == 1 and model.look(0).running == ()
        dev.close()
        assert model.look(0).holder is None


def test_one_by_one():
    with opened("ev5", n_cpus=2)[1] as dev:
        model = dev.model
        dev.request("PCNT5MUX", 0x8000000C)
        dev.request(alpha.request("PCNT5FREQ").request, 0x2A0)
        dev.request("PCNTSETITEMS", int(alpha.Item.COUNTERS))
        assert dev.request("PCNT5RESTART", 1 | ALL << 8) == ()
        assert model.look(1).running == (0,) and model.look(0).pmctr & 0x8000000F == 0x8000000C
        model.work(0, 1, events=[65536 * 2 + 5], cycles=10)
        model.interrupt(1, 0, 1)
        assert model.look(0).values[0] == 5 and model.look(0).interrupts_of[0] == 2
        assert sum(w == 3 for w in dev.request("PCNT5GETCNT")) == 1    # both processors in one sum
        word = dev.request("PCNT5GETCNTRS", 7)
        assert len(word) == 1 and word[0] >> 48 == 5
        model.run(1_000_000, pid=1)
        assert model.look(0).cycles > 0


def test_samples():
    model, dev = opened("ev5", n_cpus=1)
    dev.request("PCNTSETITEMS", int(alpha.Item.PROFILING | alpha.Item.COUNTERS))
    dev.request("PCNTSETUADDR", 0x1000, 0x1100)
    assert dev.request("PCNTGETRSIZE") == (64,)
    dev.request("PCNT5RESTART", 1 | ALL << 8)
    model.interrupt(0, 0, 1, pc=0x1024)
    assert [i for i, n in enumerate(dev.read(16)) if n] == [2] and len(dev.read(3)) == 3


def test_driver_refuses_bad_requests():
    model, dev = opened("ev5", n_cpus=2)
    model.process(2, uid=100)
    for wrong, number in ((lambda: model.open(2),
                           errno.EBUSY), (lambda: dev.request("PCNTSETITEMS", 0), errno.EINVAL),
                          (lambda: dev.request("PCNT6MUX", 0),
                           errno.EINVAL), (lambda: dev.request(1), errno.EINVAL),
                          (lambda: model.exit(9), errno.ESRCH), (lambda: model.foreign(7),
                                                                 errno.EINVAL)):
        with pytest.raises(OSError) as e:
            wrong()
        assert e.value.errno == number
    dev.close()
    dev.close()
    with pytest.raises(OSError) as e:
        dev.request("PCNTLOGALL")
    assert e.value.errno == errno.EBADF
    model.foreign(0)
    with pytest.raises(OSError):
        model.open(2)
    assert model.open(1)    # the superuser takes the interrupt back
    with pytest.raises(LookupError):
        dev.request("PCNTNOPE")


def test_processes():
    model, dev = opened("ev6", n_cpus=1)
    assert not model.marked(1)
    dev.request("PCNTLOGSELECT")
    model.fork(1, 2)
    model.exec(2)
    assert model.marked(1) and model.marked(2)
    model.exit(1)
    assert model.look().holder is None


def test_rules():
    model = device.Model("ev5", n_cpus=1, rate_errno=errno.EACCES)
    model.process(1, uid=100)
    with model.open(1) as dev, pytest.raises(PermissionError) as e:
        dev.request("PCNT5FREQ", 0x300)
    assert e.value.errno == errno.EACCES
    with pytest.raises(TypeError):
        device.Model("ev5", no_such_rule=1)
    for wrong in ({"family": "ev9"}, {"n_cpus": 65}):
        with pytest.raises(ValueError):
            device.Model(**wrong)


def test_threads_wait_for_each_other():
    model, dev = opened("ev5", n_cpus=4)
    dev.request("PCNT5RESTART", 7 | ALL << 8)

    def work(cpu):
        for _ in range(300):
            model.work(cpu, 1, events=[65536])
            dev.request("PCNT5GETCNT")

    threads = [threading.Thread(target=work, args=(cpu,)) for cpu in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert 1200 in dev.request("PCNT5GETCNT")
