"""Exceptions, one class for each code of the C interface."""

from __future__ import annotations

from typing import Any, Optional, Tuple


class Error(Exception):
    """An error of the library.

    exit_code: of the programs for the same error.
    kind: "usage", "io", "parse", "model", "unsupported", "limit" or "internal"; "check" for a
        report that says that a check failed.
    rules: ids of the rules that are broken, if the error is about findings.
    report: the report as a dictionary, if there is one.
    """

    exit_code = 2

    def __init__(
        self, message: str, kind: str = "usage", rules: Tuple[str, ...] = (), report: Any = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.rules = rules
        self.report: Optional[Any] = report


class CheckError(Error):
    """Findings, outputs that differ, or an invalid model."""

    exit_code = 1


class UsageError(Error):
    """Invalid arguments, a file that cannot be read or written, or bytes that are not a model."""

    exit_code = 2


class UnsupportedError(Error):
    """The model uses a feature that is not supported; the message names it."""

    exit_code = 3


class LimitError(Error):
    """A resource limit was exceeded."""

    exit_code = 4


class InternalError(Error):
    """A broken invariant of the library, which is a bug of it."""

    exit_code = 2


_CLASSES = {1: CheckError, 2: UsageError, 3: UnsupportedError, 4: LimitError, 5: InternalError}


def make(
    code: int, kind: str, message: str, rules: Tuple[str, ...] = (), report: Any = None
) -> Error:
    """The exception for a code."""
    return _CLASSES.get(code, Error)(message, kind, rules, report)
