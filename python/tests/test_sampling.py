# SPDX-License-Identifier: MIT
"""Samples, against pages that are touched."""
import contextlib
import mmap
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import pytest

import perfmon

PAGES = 300


def touch(memory):
    for at in range(0, len(memory), mmap.PAGESIZE):
        memory[at] = 1


def fresh():
    memory = mmap.mmap(-1, PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    return memory


def open_session(events=("page-faults:u",), **options):
    """A session, or a skip where this user may not sample."""
    s = perfmon.Session(events, **options)
    for count in s.plan():
        if count.why:
            pytest.skip(count.why)
    return s


def test_every_page_comes_with_its_address():
    memory = fresh()
    s = open_session(sampling=perfmon.Sampling(fields=perfmon.Sample.IP | perfmon.Sample.ADDR
                                               | perfmon.Sample.TID))
    s.start()
    touch(memory)
    s.stop()
    records = list(s.records())
    addresses = sorted({r.addr for r in records if r.addr is not None})
    run = max((sum(a + i * mmap.PAGESIZE in addresses for i in range(PAGES)) for a in addresses),
              default=0)
    assert run == PAGES
    assert all(r.type is perfmon.RecordType.SAMPLE and r.pid == os.getpid() and r.event == 0
               and not r.kernel for r in records)
    n = s.sampled()
    assert n.samples == n.count == len(records) and n.lost in (
        0, None) and n.quality is perfmon.Quality.EXACT
    assert s.buffers().n == 1 and s.buffers().pages <= 128
    assert len(s.filenos()) == 1


@pytest.mark.parametrize("with_numpy", [True, False])
def test_columns_equal_records(monkeypatch, tmp_path, with_numpy):
    """Of a recording, which is read as often as one likes; maps and names come between its
    samples."""
    if with_numpy:
        pytest.importorskip("numpy")
    else:
        monkeypatch.setattr(perfmon._bulk, "_numpy", lambda: None)
    s = open_session(["page-faults:u", "task-clock:u:period=100000"], sampling=perfmon.Sampling(
        fields=perfmon.Sample.IP | perfmon.Sample.ADDR | perfmon.Sample.TID,
        records=perfmon.Sideband.USUAL))
    s.start()
    with perfmon.Recording(s, tmp_path / "perf.data") as recording:
        for _ in range(3):
            touch(fresh())
        s.stop()
        recording.write()
    samples = [
        r for r in perfmon.Recorded(tmp_path / "perf.data").records()
        if r.type is perfmon.RecordType.SAMPLE
    ]
    columns = perfmon.Recorded(tmp_path / "perf.data").columns("event", "time", "pid", "ip", "addr",
                                                               "period", "weight")
    assert len(samples) > 3 * PAGES
    for name, column in columns.items():
        assert list(column) == [getattr(r, name, None) or 0 for r in samples]
    empty = s.columns("ip", "cpu")
    assert len(empty["ip"]) == len(empty["cpu"]) == 0


def test_columns_and_bytes():
    memory = fresh()
    s = open_session(["page-faults:u:period=10"],
                     sampling=perfmon.Sampling(fields=perfmon.Sample.IP | perfmon.Sample.PERIOD))
    s.start()
    touch(memory)
    s.stop()
    columns = s.columns("time", "ip", "period", "event")
    assert len(columns["ip"]) == s.sampled().count // 10 and set(columns["period"]) == {10}
    assert list(columns["time"]) == sorted(columns["time"])
    memory = fresh()
    s.start()
    touch(memory)
    s.stop()
    assert sum(map(len, s.bytes())) % 32 == 0
    with pytest.raises(ValueError, match="expected columns of"):
        s.columns("speed")


def test_waiting_and_the_end():
    s = open_session(sampling=perfmon.Sampling(wakeup_events=1))
    s.start()
    touch(fresh())
    assert s.wait(1)
    s.signal(0)
    s.stop()
    list(s.records())
    assert s.wait(0.01)


def test_refusals():
    with pytest.raises(perfmon.PerfmonError):
        perfmon.Session(["page-faults"], sampling=perfmon.Sampling(pages=3))
    with pytest.raises(perfmon.EventError) as refused:
        perfmon.Session(["page-faults:period=0"], sampling=perfmon.Sampling())
    assert refused.value.token == "period=0"
    with perfmon.Session(["page-faults:u"]) as s, pytest.raises(perfmon.PerfmonError):
        next(s.records())


def test_a_recording_is_read_back(tmp_path):
    s = open_session(sampling=perfmon.Sampling(
        fields=perfmon.Sample.IP | perfmon.Sample.ADDR
        | perfmon.Sample.TID, records=perfmon.Sideband.USUAL))
    s.start()
    with perfmon.Recording(s, tmp_path / "perf.data", ["test", "me"]) as recording:
        touch(fresh())
        assert recording.write() > PAGES * 40
        s.stop()
    recorded = perfmon.Recorded(tmp_path / "perf.data")
    assert recorded.events[0] == "page-faults:u"
    records = list(recorded.records())
    assert sum(r.type is perfmon.RecordType.SAMPLE for r in records) == s.read()[0].value
    assert any(r.type is perfmon.RecordType.MAP2 and "python" in r.name for r in records)
    with pytest.raises(perfmon.PerfmonError):
        perfmon.Recorded(__file__)


def test_the_alpha_device_is_sampled_by_the_same_calls():
    with perfmon.alpha.Session(["cycles"], device_model="ev5", n_cpus=1,
                               sampling=perfmon.Sampling(period=65536)) as s:
        assert s.wait(1)
        s.stop()
        records = list(s.records())
        n = s.sampled()
    assert records and all(
        r.type is perfmon.RecordType.SAMPLE and r.ip is not None and r.tid is None for r in records)
    assert n.samples == len(
        records
    ) and n.samples + n.discarded == n.count // 65536 and n.quality is perfmon.Quality.EXACT


def test_pairs_of_profileme_are_words_of_a_count():
    with perfmon.alpha.Session(["mispredict_per_ret"], device_model="ev67", n_cpus=1,
                               sampling=perfmon.Sampling()) as s:
        assert s.wait(5)
        (first, *_) = s.records()
    assert first.type is perfmon.RecordType.READ and first.values is not None and first.values[
        0] == 2 and len(first.values) == 3


def closes(records):
    return [r.fields["fd"] for r in records if r.fields and r.fields.get("fd") in (1001, 1002)]


def close_nothing():
    for fd in (1001, 1002):
        with contextlib.suppress(OSError):
            os.close(fd)


def test_fields_of_a_tracepoint_by_name():
    try:
        s = open_session(["syscalls:sys_enter_close"],
                         sampling=perfmon.Sampling(fields=perfmon.Sample.RAW))
    except perfmon.PerfmonError as e:
        pytest.skip(str(e))
    s.start()
    close_nothing()
    s.stop()
    assert closes(s.records()) == [1001, 1002]
    fields = {f.name: f for f in s.trace_fields()}
    assert fields["common_pid"].type == "int" and fields["common_pid"].signed and fields[
        "common_pid"].length == 4
    assert fields["fd"].offset >= 8 and not fields["fd"].array
    assert perfmon.Session(["page-faults:u"], sampling=perfmon.Sampling()).trace_fields() == ()


@pytest.mark.skipif(not shutil.which("perf"), reason="perf is not installed")
@pytest.mark.parametrize("pipe", [False, True])
def test_fields_in_a_recording_of_perf(tmp_path, pipe):
    """Fields of tracepoints equal those that perf script prints: numbers, and strings outside of the field."""
    path = str(tmp_path / "perf.data")
    program = (
        "import os, subprocess\nfor i in 1001, 1002:\n try: os.close(i)\n except OSError:"
        " pass\nsubprocess.run(['true'])"
    )
    events = "syscalls:sys_enter_close,sched:sched_process_exec"
    line = [
        "perf", "record", "-q", "-e", events, "-o", "-" if pipe else path, "python3", "-c", program
    ]
    with open(path, "wb") as out:
        done = subprocess.run(line, stdout=out if pipe else None, stderr=subprocess.PIPE, text=True,
                              check=False)
    if done.returncode:
        pytest.skip(done.stderr)
    records = [r for r in perfmon.Recorded(path).records() if r.fields]
    assert closes(records) == [1001, 1002]
    names = [r.fields["filename"] for r in records if "filename" in r.fields]
    printed = subprocess.run(["perf", "script", "-i", path, "-F", "trace"], stdout=subprocess.PIPE,
                             text=True, check=True).stdout
    assert [int(fd, 16) for fd in re.findall(r"fd: (0x[0-9a-f]+)", printed)
            ] == [r.fields["fd"] for r in records if "fd" in r.fields]
    assert re.findall(r"filename=(\S+)", printed) == names and any(
        n.endswith("/true") for n in names)


def recording_of_faults(path):
    """A session that has written some faults there, and the recording, still open."""
    s = open_session(sampling=perfmon.Sampling(period=1, pages=64))
    s.start()
    r = perfmon.Recording(s, path)
    touch(fresh())
    return s, r


def test_a_recording_ends_with_its_session(tmp_path):
    s, r = recording_of_faults(tmp_path / "perf.data")
    s.close()
    with pytest.raises(ValueError, match="closed"):
        r.write()
    r.close()
    assert sum(x.type == perfmon.RecordType.SAMPLE
               for x in perfmon.Recorded(tmp_path / "perf.data").records()) >= PAGES


def test_each_record_goes_to_one_thread(tmp_path):
    s, recording = recording_of_faults(tmp_path / "perf.data")
    for _ in range(100):
        touch(fresh())
        recording.write()
    s.close()
    whole = sorted(r.time for r in perfmon.Recorded(tmp_path / "perf.data").records())
    shared, took = perfmon.Recorded(tmp_path / "perf.data"), []
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [
            threading.Thread(target=lambda: took.extend(r.time for r in shared.records()))
            for _ in range(4)
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(switch)
    assert sorted(took) == whole


def test_a_session_is_closed_while_another_thread_waits():
    s = open_session(("page-faults:u",), sampling=perfmon.Sampling(period=1 << 40))
    s.start()
    waits = threading.Thread(target=s.wait, args=(0.5,))
    waits.start()
    time.sleep(0.1)
    s.close()
    [open_session(sampling=perfmon.Sampling()) for _ in range(20)]  # in the memory that it had
    waits.join()
    with pytest.raises(ValueError, match="closed"):
        s.wait(0)
