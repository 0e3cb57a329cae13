"""What goes wrong, as the page is told: a code, a sentence, a hint and a place, with an HTTP status."""

from __future__ import annotations

from typing import TypedDict

from kinetoscope.errors import ChoiceError, KinetoscopeError


class Problem(TypedDict):
    """``Problem`` of ``docs/wire.md``."""

    code: str
    message: str
    hint: str
    where: str


class Refusal(Exception):  # noqa: N818  (it is an answer, not a failure)
    """A request that gets an error for its answer.

    Parameters
    ----------
    status : int
        HTTP status.
    problem : Problem
    """

    def __init__(self, status: int, problem: Problem) -> None:
        super().__init__(problem["message"])
        self.status = status
        self.problem = problem


def problem(code: str, message: str, hint: str = "", where: str = "") -> Problem:
    """Build a problem."""
    return {"code": code, "message": message, "hint": hint, "where": where}


def refuse(status: int, code: str, message: str, hint: str = "") -> Refusal:
    """Build a refusal."""
    return Refusal(status, problem(code, message, hint))


def describe(error: BaseException) -> Problem:
    """Turn an exception into what the page shows; one that is not meant for people becomes ``internal``.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    Problem
    """
    if isinstance(error, Refusal):
        return error.problem
    if isinstance(error, ChoiceError) and error.hint:
        # the contract has the choices in the message itself
        return problem(error.code, f"{error.message}; {error.hint}", "", error.where)
    if isinstance(error, KinetoscopeError):
        return problem(error.code, error.message, error.hint, error.where)
    if isinstance(error, MemoryError):
        return problem(
            "out-of-memory",
            "There is not enough memory for this.",
            "Close other traces or programs, or record fewer steps.",
        )
    text = f"{type(error).__name__}: {error}"
    return problem(
        "internal",
        f"Something went wrong inside the plugin: {text[:500]}",
        "The log of the tensorboard command tells more.",
    )
