# SPDX-License-Identifier: MIT
"""Counts of events in the report of pytest-benchmark, as extra information of each benchmark.

    PERFMON_REGIONS=instructions,page-faults pytest -p perfmon.pytest_counts --benchmark-json=x.json

``extra_info`` has a number for each event, in counts for each iteration. Rounds for calibration are
not counted. An event that is not counted exactly has the reason instead of a number.
"""
from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

from .regions import RegionResult, read_regions, region, reset_region
from .session import Quality


class _Counted:
    """A benchmark whose rounds are visits of a region."""

    def __init__(self, benchmark: Any) -> None:
        self._benchmark, self._name = benchmark, "benchmark " + benchmark.fullname
        self._make_runner, self._make_stats = benchmark._make_runner, benchmark._make_stats
        benchmark._make_runner, benchmark._make_stats = self._count_rounds, self._begin_rounds
        self.iterations = 0

    def _count_rounds(self, function: Any, args: Any, kwargs: Any) -> Any:
        run = self._make_runner(function, args, kwargs)
        mark = region(self._name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            with mark:
                return run(*args, **kwargs)

        return counted

    def _begin_rounds(self, iterations: int) -> Any:
        """Calibration ends here."""
        with region(self._name):
            pass    # the first visit starts the counting
        reset_region(self._name)
        self.iterations = iterations
        return self._make_stats(iterations)

    def report(self) -> None:
        for result in read_regions():
            if self.iterations and result.region == self._name and result.thread == 0:
                self._report_row(result)

    def _report_row(self, result: RegionResult) -> None:
        info = self._benchmark.extra_info
        for c in result.counts:
            if c.quality is Quality.EXACT and c.inclusive is not None and c.visits:
                info[c.event] = c.inclusive / (c.visits * self.iterations)
            else:
                info[c.event] = "%s: %s" % (c.quality.name.lower().replace("_", " "),
                                            c.cause.name.lower().replace("_", " "))


@pytest.fixture(autouse=True)
def _perfmon_counts(request: pytest.FixtureRequest) -> Generator[None, None, None]:
    if "benchmark" not in request.fixturenames or "PERFMON_REGIONS" not in os.environ:
        yield
        return
    counted = _Counted(request.getfixturevalue("benchmark"))
    yield
    counted.report()
