# SPDX-License-Identifier: MIT
"""Vendors' lists: imported, found by contexts, counted on."""
import json
import os
import pathlib
import pickle

import pytest

import perfmon
from vectors import SOURCE

LISTS = pathlib.Path(os.environ.get("PERFMON_SHARED") or SOURCE.parent / "shared") / "data"


def intel_list(folder):
    """A repository as Intel lays it out, with one model and two events of our own making."""
    core = folder / "TST" / "events"
    core.mkdir(parents=True)
    (folder / "mapfile.csv").write_text("Family-model,Version,Filename,EventType\n"
                                        "GenuineIntel-6-FE,V1.00,/TST/events/test_core.json,core\n")
    row = {
        "Counter": "0,1,2,3", "CounterHTOff": "0,1,2,3,4,5,6,7", "SampleAfterValue": "200003",
        "MSRIndex": "0x00", "MSRValue": "0x00", "CounterMask": "0", "Invert": "0", "AnyThread": "0",
        "EdgeDetect": "0", "PEBS": "0", "Errata": "null", "Offcore": "0", "PEBScounters": "0,1,2,3",
        "Deprecated": "0"
    }
    (core / "test_core.json").write_text(
        json.dumps({
            "Header": {"Info": "made up"}, "Events": [
                dict(row, EventCode="0x2E", UMask="0x41", EventName="THING.HIT",
                     BriefDescription="Things that hit."),
                dict(row, EventCode="0xC0", UMask="0x00", EventName="THING.DONE",
                     BriefDescription="Things that are done.")
            ]
        }))
    return folder


def test_a_list_becomes_an_image(tmp_path):
    image = tmp_path / "test.pmdb"
    got = perfmon.import_lists(intel_list(tmp_path / "lists"), output=image)
    assert (got.path, got.events, [m.name for m in got.models], got.problems) == (str(image), 2,
                                                                                  ["tst"], ())
    with perfmon.Context("tst", host=False, images=image) as ctx:
        assert ctx.event("THING.HIT:cmask=1").registers[0].value == 0x153412e
        assert ctx.pmus["tst"].origin == str(image) and ctx.find(
            "thing.done").description == "Things that are done."
        assert ctx.event("tst::THING.HIT").names["perf"]
    assert perfmon.import_lists([tmp_path / "lists"], output=image).path == str(image)  # up to date


def test_pmu_files_and_folders(tmp_path):
    got = perfmon.import_lists([SOURCE / "tests/pmu/testpmu.pmu"], output=str(tmp_path) + "/")
    assert got.models and pathlib.Path(got.models[0].path).exists()
    with perfmon.Context("coreduo", host=False, images=(p for p in [tmp_path])) as ctx:
        assert all("testpmu" in c.pmus
                   for c in (ctx, ctx.with_pmu("testpmu"), pickle.loads(pickle.dumps(ctx))))
    with perfmon.Context(host=False, images=[tmp_path]) as ctx:
        assert any(str(tmp_path) in p.origin for p in ctx.pmus)


def test_a_pickled_metric_is_found_by_its_name(tmp_path):
    """Other lists may come before its own, and rows before its row."""
    kept = None
    for name, more in (("toyb", ""),
                       ("toyb", 'metric Other metric="ev_b - ev_a"\nmetric Third metric="ev_b"\n'),
                       ("toya", "")):
        (tmp_path / f"{name}.pmu").write_text(
            f'pmu {name} "Toy"\nencoder x86\nsource "Nobody"\ncounter 0..1 width=40 control=0x186'
            ' value=0xc1\nfield code at=config:0-7\nevent ev_a code=1 "Made up."\nevent ev_b'
            f' code=2 "Made up."\n{more}metric Ratio metric="ev_a / ev_b"\n'
        )
        perfmon.import_lists(tmp_path / f"{name}.pmu", output=tmp_path / f"{name}.pmdb")
        if kept is None:
            with perfmon.Context(host=False, images=tmp_path) as ctx:
                kept = pickle.dumps(ctx.metric("toyb::Ratio"))
    ratio = pickle.loads(kept)
    assert (str(ratio), ratio.compute({"ev_a": 6, "ev_b": 3}).value) == ("toyb::Ratio", 2)


def test_import_refuses_bad_lists(tmp_path):
    for wrong in (tmp_path / "nothing", tmp_path):
        with pytest.raises(perfmon.ImageError):
            perfmon.import_lists(wrong, output=tmp_path / "x.pmdb")
    with pytest.raises(perfmon.ImageError):
        perfmon.import_lists(intel_list(tmp_path / "lists"), cpu="nope*",
                             output=tmp_path / "x.pmdb")
    assert not (tmp_path / "x.pmdb").exists()


def test_a_damaged_image_is_refused(tmp_path):
    image = tmp_path / "bad.pmdb"
    image.write_bytes(b"not an image" * 100)
    with pytest.raises(perfmon.PerfmonError):
        with perfmon.Context("tst", host=False, images=image) as ctx:
            ctx.event("THING.HIT")
    with perfmon.Context(host=False, images=tmp_path) as ctx:
        assert [(path, bool(why)) for path, why in ctx.rejected_images()] == [(str(image), True)]
    with perfmon.Context(host=False, images=False) as ctx:
        assert ctx.rejected_images() == []


def test_the_users_folder_is_where_contexts_look(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("PERFMON_EVENTS", raising=False)
    lists = intel_list(tmp_path / "lists")
    perfmon.context.forget_default_context()
    with pytest.raises(perfmon.UnknownPmuError):
        perfmon.event("tst::THING.HIT")
    perfmon.import_lists(lists)  # the default context learns of it
    assert perfmon.event("tst::THING.HIT").registers[0].value == 0x53412e
    perfmon.context.forget_default_context()


@pytest.mark.skipif(not LISTS.exists(), reason="the vendors' lists are not here")
def test_golden_rows_of_todays_processors(tmp_path):
    """A part of the golden rows that the C suite runs in full: all of one Intel model and one AMD
    model."""
    vectors = LISTS.parent / "vectors" / "modern_public.jsonl"
    rows = [json.loads(line) for line in vectors.read_text(encoding="utf-8").splitlines()]
    image, checked = tmp_path / "images.pmdb", 0
    perfmon.import_lists(LISTS / "intel", cpu="skx*", output=image)
    with perfmon.Context(host=False, images=image) as ctx:
        for row in rows:
            if row.get("cpu") != "SKX" or not row["src"].startswith(
                    "intel/") or "evtsel" not in row or row["pmu"] != "cpu":
                continue
            mods = "".join(f":{v}" if k == "plm" else f":{k}={v}"
                           for k, v in row.get("mods", {}).items())
            assert ctx.event(f"skx::{row['event']}{mods}").registers[0].value == int(
                row["evtsel"], 0), row
            checked += 1
    assert checked > 5
