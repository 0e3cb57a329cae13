"""Errors of the product, one tree.

::

    KinetoscopeError
    ├── NotATraceError       the file is there, but it holds no trace
    ├── DamagedTraceError    the file is a trace, but part of it cannot be read
    ├── LimitError           the file holds more than the limits allow
    ├── UnreadableError      the path cannot be opened (missing, no permission, no folder)
    ├── ChoiceError          a name that is not one of the choices (view, token, rank, span)
    └── AmbiguousTraceError  several ranks or spans, and none was chosen

A message says what is wrong and where; ``hint`` says what to do. They are caught once in the command line and once in the plugin.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class KinetoscopeError(Exception):
    """Base of all errors that are meant for people.

    Parameters
    ----------
    message : str
        What is wrong, in one sentence.
    where : str, default ""
        The file or place it is about.
    hint : str, default ""
        What to do about it.
    """

    code = "error"

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text} ({self.hint})" if self.hint else text


class NotATraceError(KinetoscopeError):
    """The file can be read but is no Kineto trace."""

    code = "not-a-trace"


class DamagedTraceError(KinetoscopeError):
    """The file is cut or broken, so that it cannot be read as it stands."""

    code = "damaged"


class LimitError(KinetoscopeError):
    """The file holds more than is read at most."""

    code = "limit"


class UnreadableError(KinetoscopeError):
    """The path cannot be opened."""

    code = "unreadable"


class ChoiceError(KinetoscopeError, ValueError):
    """A name that is not one of the choices."""

    code = "unknown-choice"

    @classmethod
    def of(cls, what: str, given: object, choices: Iterable[object]) -> ChoiceError:
        """Build the error for a wrong choice, listing the right ones.

        Parameters
        ----------
        what : str
            What was chosen: ``"view"``, ``"rank"`` …
        given : object
            The wrong value.
        choices : iterable
            All right values, in the order to show.

        Returns
        -------
        ChoiceError
        """
        known = [str(choice) for choice in choices]
        near = get_close_matches(str(given), known, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        listed = ", ".join(known) if known else "none"
        return cls(f"unknown {what} {str(given)!r}", hint=f"{guess}choices: {listed}")


class AmbiguousTraceError(KinetoscopeError):
    """Several ranks or spans fit, and none was chosen."""

    code = "ambiguous"
