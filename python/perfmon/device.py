# SPDX-License-Identifier: MIT
"""A model of the Tru64 counter device /dev/pfcntr, request by request: what the driver answers and
what the chip counts.

    model = perfmon.device.Model("ev5", n_cpus=2)
    model.process(1)
    with model.open(1) as device:
        device.request("PCNT5MUX", 0x8000000C)
        device.request("PCNT5FREQ", 0x2A0)
        device.request("PCNTSETITEMS", 1)
        device.request("PCNT5RESTART", 0xFF01)
        model.run(20_000_000, pid=1)
        device.request("PCNT5DISABLE", 0xFF01)
        words = device.request("PCNT5GETCNT")

It is the model that is used by ``perfmon.alpha.Session(device_model=...)`` and ``pfm alpha
device``. It has no clock: things happen when one of its methods is called. What the driver refuses
raises OSError with the driver's errno. The words of requests come from ``perfmon.dispatch(events,
model=perfmon.alpha.Settings()).model.ioctls``, or from the functions of :mod:`perfmon.alpha`.
"""
from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from . import _bulk
from ._c import list_bits, ffi, lib
from ._errors import c_string
from .alpha import Open, request as _find_request

__all__ = ["Handle", "Model", "View"]

# of this process: addresses are pointers
_MEMORY = ffi.new("struct alpha_device_memory *", lib.alpha_device_own_memory)
_OUT = 0x40000000  # direction bit of requests the device writes to


@dataclass(frozen=True)
class View:
    """A processor from inside.

    holder      process that has its counters, None: no process
    foreign     another tool holds the counter interrupt
    interrupts  counter interrupts are on
    running     counters that run
    values      what the chip's counters hold; interrupts_of: what the driver has counted of each
    cycles      process cycles; discarded: interrupts that no process waited for
    iccsr, pmctr, cbox, pctr_ctl, i_ctl  registers, 0 where the chip has none
    """

    holder: int | None
    foreign: bool
    interrupts: bool
    running: tuple[int, ...]
    values: tuple[int, ...]
    interrupts_of: tuple[int, ...]
    cycles: int
    discarded: int
    iccsr: int
    pmctr: int
    cbox: int
    pctr_ctl: int
    i_ctl: int


def _check_errno(rc: int, what: str) -> int:
    if rc < 0:
        raise OSError(-rc, os.strerror(-rc), what)
    return rc


class Model:
    """A machine with one counter device.

    family  ``"ev4"``, ``"ev5"``, ``"pca56"``, ``"ev6"`` or ``"ev67"``
    n_cpus  processors, 1 to 64
    rules   what no source settles, by the names of struct alpha_device_options in
            tools/alpha/model.h: ``rate_errno=13``

    Safe to be used by several threads; calls wait for each other.
    """

    def __init__(self, family: str = "ev5", *, n_cpus: int = 4, **rules: int) -> None:
        options, number = ffi.new("struct alpha_device_options *"), lib.alpha_device_find_family(
            c_string(family))
        if number < 0:
            raise ValueError(f"unknown family {family}")
        lib.alpha_device_set_defaults(options, number)
        options.n_cpus = n_cpus
        for name, value in rules.items():
            if not hasattr(options, name):
                raise TypeError(f"the model has no rule {name}")
            setattr(options, name, value)
        self._model = ffi.gc(lib.alpha_device_new(options), lib.alpha_device_free)
        if not self._model:
            raise ValueError("expected settings that the model supports, got others")
        self._lock, self.n_cpus = threading.RLock(), n_cpus

    def _call(self, call: Any, *args: Any, what: str = "") -> int:
        with self._lock:
            return _check_errno(call(self._model, *args), what)

    # ---- processes

    def process(self, pid: int, *, uid: int = 0, cpu: int | None = None) -> None:
        """Makes a process known, or changes it. cpu: the processor it is bound to."""
        self._call(lib.alpha_device_set_process, pid, uid,
                   lib.ALPHA_DEVICE_UNBOUND if cpu is None else cpu, what=f"process {pid}")

    def fork(self, parent: int, child: int) -> None:
        """A copy of a process: user, binding and mark."""
        self._call(lib.alpha_device_fork_process, parent, child, what=f"process {parent}")

    def exec(self, pid: int) -> None:
        """Another program; the mark and the open device stay."""
        self._call(lib.alpha_device_exec_process, pid, what=f"process {pid}")

    def exit(self, pid: int) -> None:
        """Ends a process; what it opened is closed."""
        self._call(lib.alpha_device_exit_process, pid, what=f"process {pid}")

    def marked(self, pid: int) -> bool:
        """True if the process is one of those that PCNTLOGSELECT counts."""
        return bool(self._call(lib.alpha_device_is_process_marked, pid, what=f"process {pid}"))

    def foreign(self, cpu: int, taken: bool = True) -> None:
        """Another tool takes the counter interrupt of a processor, or gives it back."""
        self._call(lib.alpha_device_set_foreign, cpu, taken, what=f"processor {cpu}")

    # ---- the device

    def open(self, pid: int, mode: Open | int = Open.ALL) -> Handle:
        """Opens the device for a process."""
        modes = {Open.ALL: lib.PCNTOPENALL, Open.EACH: lib.PCNTOPENEACH, Open.ONE: lib.PCNTOPENONE}
        flags = modes[mode] if isinstance(mode, Open) else mode
        return Handle(self, pid,
                      self._call(lib.alpha_device_open_session, pid, flags, what="/dev/pfcntr"))

    # ---- work

    def _work(self, pid: int, events: Sequence[int], cycles: int, user: bool, pal: bool, idle: bool,
              ipl: int, pc: int, caller: int) -> Any:
        w = ffi.new("struct alpha_device_work *")
        w.pid, w.is_user, w.is_pal, w.is_idle, w.ipl, w.pc, w.return_address, w.cycles = (
            pid,
            user,
            pal,
            idle,
            ipl,
            pc,
            caller,
            cycles,
        )
        for i, n in enumerate(events):
            w.events[i] = n
        return w

    def work(self, cpu: int, pid: int = -1, *, events: Sequence[int] = (), cycles: int = 0,
             user: bool = True, pal: bool = False, idle: bool = False, ipl: int = 0, pc: int = 0,
             caller: int = 0) -> None:
        """A processor does something: cycles pass, and so many events happen that the select of
        each counter sees."""
        w = self._work(pid, events, cycles, user, pal, idle, ipl, pc, caller)
        self._call(lib.alpha_device_do_work, cpu, w, what=f"processor {cpu}")

    def interrupt(self, cpu: int, counter: int, pid: int = -1, *, user: bool = True,
                  pal: bool = False, idle: bool = False, ipl: int = 0, pc: int = 0,
                  caller: int = 0) -> None:
        """One interrupt of a counter, whatever its value."""
        w = self._work(pid, (), 0, user, pal, idle, ipl, pc, caller)
        self._call(lib.alpha_device_raise_interrupt, cpu, counter, w, what=f"processor {cpu}")

    def run(self, ns: int, *, pid: int, cpu: int = 0, pc: int = 0) -> None:
        """All processors work for so many nanoseconds: one for the process in user mode, the others
        idle. How often events happen is invented, the same in every run."""
        if not 0 <= cpu < self.n_cpus:
            raise ValueError(f"expected a processor of the model, got {cpu}")
        with self._lock:
            lib.alpha_device_run(self._model, ns, pid, cpu, pc)

    # ---- looking inside

    def look(self, cpu: int = 0) -> View:
        """A processor as it is now."""
        v = ffi.new("struct alpha_device_view *")
        self._call(lib.alpha_device_get_view, cpu, v, what=f"processor {cpu}")
        return View(v.holder_pid if v.holder_pid >= 0 else None, v.is_foreign, v.has_interrupts_on,
                    tuple(list_bits(v.running_counters)), tuple(v.chip_values),
                    tuple(v.interrupt_counts), v.cycles, v.n_discarded, v.iccsr, v.pmctr, v.cbox,
                    v.pctr_ctl, v.i_ctl)


class Handle:
    """The device as a process has it open. Closed at the end of a ``with`` block."""

    def __init__(self, model: Model, pid: int, number: int) -> None:
        self.model, self.pid, self._number = model, pid, number

    def request(self, request: str | int, *words: int) -> tuple[int, ...]:
        """An ioctl(2), by name or number, with the words its argument points at. Returns the 64-bit
        words that the device wrote: those of an array for readings, none for most."""
        number, name = (_find_request(request).request,
                        request) if isinstance(request, str) else (request, hex(request))
        given = ffi.new("uint64_t[]", [*words, *[0] * 4])
        with self.model._lock:
            size = lib.alpha_device_get_result_size(self.model._model, self._number, number)
            array = ffi.new("uint64_t[]", size // 8)
            if size:
                given[0] = int(ffi.cast("uintptr_t", array))
            arg = int(ffi.cast("uintptr_t", given))
            self.model._call(lib.alpha_device_do_ioctl, self._number, self.pid, number, arg,
                             _MEMORY, what=name)
        if size:
            return tuple(array)
        return tuple(given[i] for i in range((number >> 16 & 0x1FFF) // 8)) if number & _OUT else ()

    def read(self, n: int) -> Any:
        """Up to n buckets of samples, from the start: a column of 32-bit numbers."""
        buckets = ffi.new("pfcntr_bucket_t[]", n)
        got = self.model._call(lib.alpha_device_read_samples, self._number,
                               int(ffi.cast("uintptr_t", buckets)), ffi.sizeof(buckets), _MEMORY,
                               what="read")
        return _bulk.copy_column(buckets, got // ffi.sizeof("pfcntr_bucket_t"), "uint32")

    def close(self) -> None:
        """Turns interrupts off and gives the counters back. A second call does nothing."""
        with self.model._lock:
            if self._number >= 0:
                lib.alpha_device_close_session(self.model._model, self._number)
            self._number = -1

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
