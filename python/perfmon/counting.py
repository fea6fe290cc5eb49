# SPDX-License-Identifier: MIT
"""Counting a function or a block by one word: perfmon.count."""
from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Iterable
from types import MethodType
from typing import Any, Callable, Generic, TypeVar, overload

from ._errors import texts_of
from .session import USUAL, Reading, Session

__all__ = ["Counted", "Counting", "count"]

_R = TypeVar("_R")


class Counted(Generic[_R]):
    """A function that is counted whenever it is called.

    calls   how often it was called
    counts  :class:`Reading` of the last call; None before the first
    total   of all calls: values added, each with the worst quality of its parts

    Every call opens a session of its own, so calls in several threads, and calls inside calls, do
    not disturb each other; an inner call is in the counts of the outer one. What a session costs to
    open, some microseconds for each event, is not counted.
    """

    def __init__(self, function: Callable[..., _R], counting: Counting) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._counting = counting
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Forgets all calls."""
        with self._lock:
            self.calls = 0
            self.counts: Reading | None = None
            self.total: Reading | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> _R:
        session = self._counting.session()
        try:
            with session:
                return self._function(*args, **kwargs)
        finally:
            self._add(session.last)

    def _add(self, reading: Reading | None) -> None:
        with self._lock:
            self.calls += 1
            if reading is not None:
                self.counts = reading
                self.total = reading if self.total is None else self.total + reading

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def _repr_html_(self) -> str:
        return self.total._repr_html_() if self.total is not None else ""

    def __repr__(self) -> str:
        return (
            f"<Counted {getattr(self._function, '__qualname__', self._function)},"
            f" {self.calls} calls>"
        )


class Counting:
    """The result of count(): a context manager over a new :class:`Session`, and a decorator of
    functions."""

    def __init__(self, events: tuple[str, ...], options: dict[str, Any]) -> None:
        self._events = events
        self._options = options
        self._open = threading.local()

    def session(self) -> Session:
        """A new session over the events."""
        return Session(self._events, **self._options)

    def __enter__(self) -> Session:
        session = self.session().__enter__()
        self._stack().append(session)
        return session

    def __exit__(self, *exc: Any) -> None:
        self._stack().pop().__exit__(*exc)

    def _stack(self) -> list[Session]:
        stack: list[Session] = self._open.__dict__.setdefault("stack", [])
        return stack

    def __call__(self, function: Callable[..., _R]) -> Counted[_R]:
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(
                function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                f"{function.__name__}() returns before its work is done: count inside it, with a"
                " with statement"
            )
        return Counted(function, self)


@overload
def count(events: Callable[..., _R]) -> Counted[_R]: ...


@overload
def count(events: str | Iterable[str] = ..., *more: str, **options: Any) -> Counting: ...


def count(events: Any = USUAL, *more: str, **options: Any) -> Any:
    """Counts a block, or each call of a function.

        with perfmon.count("page-faults", "task-clock") as c:
            work()
        c["page-faults"].value

        @perfmon.count("page-faults")
        def work(): ...
        work()
        work.counts["page-faults"].value, work.total, work.calls

    @events are those of :class:`Session`, as one iterable or one by one; none: time, faults,
    switches, cycles and instructions. @options are those of Session. ``@perfmon.count`` without
    brackets takes the usual events. Refusals come when the block or the function is entered.
    TypeError for a function whose work is done after it has returned: a coroutine or a generator.
    """
    if callable(events) and not more and not options:
        return Counting(USUAL, {})(events)
    return Counting((*texts_of(events), *more), options)
