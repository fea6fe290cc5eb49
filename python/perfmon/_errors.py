# SPDX-License-Identifier: MIT
"""Errors as exceptions that carry everything the library reports about them."""
from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any, Callable, Sequence

from ._c import list_bits, ffi, lib, new_struct, read_text as c_text

__all__ = [
    "AmbiguousError",
    "ArgumentError",
    "ErrorCode",
    "EventError",
    "ImageError",
    "ModelError",
    "PerfmonError",
    "PlacementError",
    "SystemCallError",
    "UnexpressibleError",
    "UnknownEventError",
    "UnknownPmuError",
]

MAX_SENTENCE = 1024
MAX_CANDIDATES = 8


class ErrorCode(enum.IntEnum):
    """Result codes of the C interface (PFMLIB_*). Down to -23 they are those of libpfm 3."""

    SUCCESS = lib.PFMLIB_SUCCESS
    NOTSUPP = lib.PFMLIB_ERR_NOTSUPP
    INVAL = lib.PFMLIB_ERR_INVAL
    NOINIT = lib.PFMLIB_ERR_NOINIT
    NOTFOUND = lib.PFMLIB_ERR_NOTFOUND
    NOASSIGN = lib.PFMLIB_ERR_NOASSIGN
    FULL = lib.PFMLIB_ERR_FULL
    EVTMANY = lib.PFMLIB_ERR_EVTMANY
    MAGIC = lib.PFMLIB_ERR_MAGIC
    FEATCOMB = lib.PFMLIB_ERR_FEATCOMB
    EVTSET = lib.PFMLIB_ERR_EVTSET
    EVTINCOMP = lib.PFMLIB_ERR_EVTINCOMP
    TOOMANY = lib.PFMLIB_ERR_TOOMANY
    IRRTOOBIG = lib.PFMLIB_ERR_IRRTOOBIG
    IRREMPTY = lib.PFMLIB_ERR_IRREMPTY
    IRRINVAL = lib.PFMLIB_ERR_IRRINVAL
    IRRTOOMANY = lib.PFMLIB_ERR_IRRTOOMANY
    DRRINVAL = lib.PFMLIB_ERR_DRRINVAL
    DRRTOOMANY = lib.PFMLIB_ERR_DRRTOOMANY
    BADHOST = lib.PFMLIB_ERR_BADHOST
    IRRALIGN = lib.PFMLIB_ERR_IRRALIGN
    IRRFLAGS = lib.PFMLIB_ERR_IRRFLAGS
    UMASK = lib.PFMLIB_ERR_UMASK
    NOMEM = lib.PFMLIB_ERR_NOMEM
    ATTR = lib.PFMLIB_ERR_ATTR
    ATTR_VAL = lib.PFMLIB_ERR_ATTR_VAL
    ATTR_MISSING = lib.PFMLIB_ERR_ATTR_MISSING
    ATTR_UNEXPECTED = lib.PFMLIB_ERR_ATTR_UNEXPECTED
    ATTR_EMPTY = lib.PFMLIB_ERR_ATTR_EMPTY
    ATTR_EVENT = lib.PFMLIB_ERR_ATTR_EVENT
    ATTR_SET = lib.PFMLIB_ERR_ATTR_SET
    ALIAS = lib.PFMLIB_ERR_ALIAS
    NOPMU = lib.PFMLIB_ERR_NOPMU
    AMBIGUOUS = lib.PFMLIB_ERR_AMBIGUOUS
    SYNTAX = lib.PFMLIB_ERR_SYNTAX
    PERM = lib.PFMLIB_ERR_PERM
    BUSY = lib.PFMLIB_ERR_BUSY
    SYS = lib.PFMLIB_ERR_SYS
    IMAGE = lib.PFMLIB_ERR_IMAGE

    @property
    def message(self) -> str:
        """One phrase about the code."""
        return c_text(lib.pfm_result_text(int(self)))


def code_of(rc: int) -> ErrorCode:
    return ErrorCode(rc) if rc in ErrorCode._value2member_map_ else ErrorCode.SYS


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


class PerfmonError(Exception):
    """A call that was refused. ``str()`` gives the sentence, the culprit with a caret, and what may
    have been meant.

    code        :class:`ErrorCode`
    kind        stable word, finer than the code: ``"unknown_event"``, ``"bad_value"`` ...; ``""``
                if missing
    message     the sentence alone
    text        the text that was refused, None if the error is not about a text
    span        (start, end) of the culprit in ``text``, in characters; equal for a place between
                two
    candidates  similar names, best first; computed when they are first read
    event       index of the event of a set that is meant, or None
    clash       events (indices) of a smallest subset that cannot be counted together
    clash_counters  all counters that subset could use; fixed counter n is 32 + n
    errno       of the failed system call, 0 for none
    """

    def __init__(
        self, message: str, *, code: ErrorCode = ErrorCode.INVAL, kind: str = "",
        text: str | None = None, span: tuple[int, int] | None = None, event: int | None = None,
        clash: tuple[int, ...] = (), clash_counters: tuple[int, ...] = (), errno: int = 0,
        candidates: Sequence[str] | Callable[[], Sequence[str]] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.kind = kind
        self.text = text
        self.span = span
        self.event = event
        self.clash = clash
        self.clash_counters = clash_counters
        self.errno = errno
        self._candidates = candidates

    @property
    def candidates(self) -> tuple[str, ...]:
        if callable(self._candidates):
            self._candidates = tuple(self._candidates())
        return tuple(self._candidates)

    @property
    def token(self) -> str:
        """The culprit itself."""
        return self.text[slice(*self.span)] if self.text is not None and self.span else ""

    def __str__(self) -> str:
        lines = [self.message]
        if self.text is not None and self.span and self.text.isprintable():
            start, end = self.span
            lines += ["  " + self.text, "  " + " " * start + "^" * max(end - start, 1)]
        elif self.text and self.event is not None:
            lines.append("  " + self.text)
        if self.candidates:
            lines.append("  did you mean " + _join_names(self.candidates) + "?")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        state = dict(self.__dict__, _candidates=self.candidates)
        return _restore_error, (type(self), self.message, state)


def _restore_error(kind: type[PerfmonError], message: str, state: dict[str, Any]) -> PerfmonError:
    error = kind(message)
    error.__dict__.update(state)
    return error


class ArgumentError(PerfmonError, ValueError):
    """An argument that no call of this kind takes."""


class EventError(PerfmonError, ValueError):
    """A text that is not an event: ``kind`` says in what way."""


class UnknownEventError(EventError, LookupError):
    """No event of that name; or a known alias that this processor has no event for."""


class UnknownPmuError(EventError, LookupError):
    """No PMU has that name."""


class AmbiguousError(EventError, LookupError):
    """Several processors have it: name one."""


class PlacementError(PerfmonError, ValueError):
    """The set does not fit on the counters. ``clash`` names a smallest subset that does not fit."""


class UnexpressibleError(PerfmonError, KeyError):
    """The dialect has no way to say it."""


class ModelError(PerfmonError, ValueError):
    """A setting that only one processor has is wrong."""


class ImageError(PerfmonError):
    """A damaged, foreign or untrusted image file."""


class SystemCallError(PerfmonError):
    """The operating system refused: ``errno`` says how."""


_KINDS: dict[str, type[PerfmonError]] = {
    "unknown_event": UnknownEventError,
    "unsupported_alias": UnknownEventError,
    "not_on_cpu": UnknownEventError,
    "unknown_pmu": UnknownPmuError,
    "ambiguous": AmbiguousError,
    "no_placement": PlacementError,
    "too_many": PlacementError,
    "alone": PlacementError,
    "unexpressible": UnexpressibleError,
    "model": ModelError,
    "image": ImageError,
    "system": SystemCallError,
    "": ArgumentError,
}
_CODES: dict[ErrorCode, type[PerfmonError]] = {
    ErrorCode.NOASSIGN: PlacementError,
    ErrorCode.NOPMU: UnknownPmuError,
    ErrorCode.SYS: SystemCallError,
    ErrorCode.PERM: SystemCallError,
    ErrorCode.BUSY: SystemCallError,
    ErrorCode.NOMEM: SystemCallError,
    ErrorCode.IMAGE: ImageError,
    ErrorCode.NOTFOUND: UnknownEventError,
    ErrorCode.NOTSUPP: PerfmonError,
}
_NO_PLACE = (ArgumentError, PlacementError, ModelError, ImageError, SystemCallError, PerfmonError)
_MODEL_CODES = range(ErrorCode.BADHOST, ErrorCode.FEATCOMB + 1)


def _class_for(code: ErrorCode, kind: str) -> type[PerfmonError]:
    if kind:
        return _KINDS.get(kind, EventError)
    if code in _MODEL_CODES or ErrorCode.IRRFLAGS <= code <= ErrorCode.IRRALIGN:
        return ModelError
    return _CODES.get(code, ArgumentError)


def from_code(rc: int, message: str | None = None, errno: int = 0) -> PerfmonError:
    """The exception for a result code that came without details."""
    code = code_of(rc)
    return _class_for(code, "")(message or code.message, code=code, errno=errno)


def check(rc: int) -> int:
    """The result of a call that returns a code, or its exception."""
    if rc < 0:
        raise from_code(rc)
    return rc


def texts_of(events: str | Iterable[str]) -> list[str]:
    """Texts as a list; one alone is a list of one, not one of its letters."""
    if isinstance(events, str):
        return [events]
    if not isinstance(events, Iterable):
        raise TypeError(f"expected texts, got {type(events).__name__}")
    return list(events)


def c_string(text: str) -> bytes:
    """A text as C takes it. A zero byte inside would cut it short, so it is refused here."""
    if not isinstance(text, str):
        raise TypeError(f"expected a text, got {type(text).__name__}")
    at = text.find("\0")
    if at >= 0:
        raise EventError("a zero byte", code=ErrorCode.SYNTAX, kind="syntax", text=text,
                         span=(at, at + 1))
    return text.encode("utf-8", "surrogateescape")


def _count_characters(raw: bytes, at: int) -> int:
    return len(raw[:at].decode("utf-8", "surrogateescape")) if at <= len(raw) else 0


def _list_candidates(ctx: Any, raw: bytes, error: Any) -> tuple[str, ...]:
    names = ffi.new("char[%d][96]" % MAX_CANDIDATES)
    n = lib.pfm_suggest_names(ctx, raw, error, names, MAX_CANDIDATES)
    return tuple(c_text(names[i]) for i in range(n))


def from_error(rc: int, error: Any, ctx: Any, texts: Sequence[str]) -> PerfmonError:
    """The exception for a pfm_error_t that a call about @texts filled."""
    code = code_of(rc)
    kind = c_text(lib.pfm_error_kind_name(error.kind))
    clash = tuple(error.clash[i] for i in range(error.n_clash))
    which = 0 if error.event < 0 and len(texts) == 1 else error.event
    text = texts[which] if 0 <= which < len(texts) and not clash else None
    raw = c_string(text) if text is not None else ffi.NULL
    buf = ffi.new("char[]", MAX_SENTENCE)
    lib.pfm_explain_error(ctx, raw, error, buf, MAX_SENTENCE)
    message = c_text(buf).replace("options.", "")  # arguments have no such prefix here
    if _class_for(code, kind) is ArgumentError and not error.end:
        text = None  # no event is at fault
    span = None
    if text is not None and (error.end or _class_for(code, kind) not in _NO_PLACE):
        span = (_count_characters(raw, error.start), _count_characters(raw, error.end))
    return _class_for(code, kind)(
        message or code.message, code=code, kind=kind, text=text, span=span,
        event=error.event if error.event >= 0 else None, clash=clash,
        clash_counters=tuple(list_bits(error.clash_counters)), errno=error.sys_errno,
        candidates=(lambda: _list_candidates(ctx, raw, error)) if text is not None and span else ())


def new_error() -> Any:
    error = new_struct("pfm_error_t")
    error.event = -1
    return error
