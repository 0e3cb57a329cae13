"""JSON's odd ways with values, made plain: an id may be int, float or text, a time a number of any precision.

Nothing here knows what events mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

MISSING = np.iinfo(np.int64).min
"""A time that is not usable."""

EXACT_TIME = 8.0e12
"""µs; above this a double's step is too wide to tell ns apart."""

_INT64 = 2**63 - 1
_MOST_DIGITS = 20
_WHOLE_DIGITS, _PLACES = 16, 3  # of a time in µs since 1970
_NINE = 9


class Numbering(dict[Any, int]):
    """Numbers values as they come: ``numbering[value]`` is the value's code.

    Parameters
    ----------
    clean : callable
        Returns the value that another one stands for, such as the text of a number.

    Attributes
    ----------
    listed : list
        The values by code.
    """

    def __init__(self, clean: Callable[[Any], Any]) -> None:
        super().__init__()
        self.listed: list[Any] = []
        self._clean = clean

    def __missing__(self, value: Any) -> int:
        cleaned = self._clean(value)
        code = self.get(cleaned, len(self.listed))
        if code == len(self.listed):
            self.listed.append(cleaned)
            self[cleaned] = code
        self[value] = code
        return code

    def codes(self, values: Iterable[Any], count: int) -> npt.NDArray[np.int32]:
        """Return the codes of some values."""
        return np.fromiter(map(self.__getitem__, values), np.int32, count)


def as_text(value: Any) -> str:
    """Return any JSON value as text; nothing as the empty text."""
    return "" if value is None else value if isinstance(value, str) else str(value)


def shape_text(value: Any) -> str:
    """Return a launch shape as ``x, y, z``; whole numbers without a fraction, however they are written."""
    if isinstance(value, list | tuple):
        return ", ".join(map(_number_text, value))
    return as_text(value).strip("[]")


def _number_text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def integers(values: list[Any]) -> npt.NDArray[np.int64]:
    """Return ids as int64, -1 for what is none.

    Parameters
    ----------
    values : list of int, float, str or None

    Returns
    -------
    ndarray of int64
        Unsigned 64-bit ids keep their bits.
    """
    try:
        return np.array(values, np.int64)
    except (TypeError, ValueError, OverflowError):
        return np.array([integer(value) for value in values], np.int64)


def integer(value: Any) -> int:
    """Return one id as a signed 64-bit integer, -1 for what is none, or none of 64 bits."""
    if isinstance(value, str):
        try:
            value = int(value, 0)
        except ValueError:
            return -1
    if isinstance(value, float):
        value = int(value) if math.isfinite(value) else -1
    if not isinstance(value, int) or not -(2**63) <= value < 2**64:
        return -1
    return int(value) if value < 2**63 else value - 2**64


def exact_integer(value: Any) -> int:
    """Return any JSON value as a signed 64-bit integer, :data:`MISSING` where it is none."""
    found = integer(value)
    return found if found != -1 or value in (-1, "-1") else int(MISSING)


def floats(values: list[Any]) -> npt.NDArray[np.float64]:
    """Return figures as doubles, NaN for what is none.

    Parameters
    ----------
    values : list of int, float, str or None

    Returns
    -------
    ndarray of float64
    """
    try:
        return np.array(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array([number(value) for value in values], np.float64)


def number(value: Any) -> float:
    """Return any JSON value as a double, NaN where it is none."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def nanoseconds(values: list[Any]) -> npt.NDArray[np.int64]:
    """Convert times from µs to ns, exactly.

    Parameters
    ----------
    values : list of int, float, Decimal, str or None
        Times in µs. Doubles must be below 2^43 in size, or whole: others come as Decimal.

    Returns
    -------
    ndarray of int64
        ns; :data:`MISSING` where there is no usable time.
    """
    kinds = set(map(type, values))
    if not kinds <= {int, float}:
        return np.array([_nanosecond(value) for value in values], np.int64)
    try:
        return doubles_to_nanoseconds(np.array(values, np.float64))
    except OverflowError:
        return np.array([_nanosecond(value) for value in values], np.int64)


def doubles_to_nanoseconds(times: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Convert times that doubles hold from µs to ns.

    Parameters
    ----------
    times : ndarray of float64
        µs, below 2^43 in size or whole.

    Returns
    -------
    ndarray of int64
        ns; :data:`MISSING` where there is no usable time.
    """
    usable = np.abs(times) < _INT64 // 1000
    every = bool(usable.all())
    if not every:
        times = np.where(usable, times, 0.0)
    whole = np.trunc(times)
    # a double holds whole µs and three digits exactly enough apart; together it does not
    exact = whole.astype(np.int64)
    exact *= 1000
    exact += np.rint((times - whole) * 1000).astype(np.int64)
    return exact if every else np.where(usable, exact, MISSING)


def texts_to_nanoseconds(texts: list[bytes]) -> npt.NDArray[np.int64] | None:
    """Convert times from µs to ns, exactly, from how they are written.

    Parameters
    ----------
    texts : list of bytes
        At least one; empty where there is no time.

    Returns
    -------
    ndarray of int64 or None
        ns; :data:`MISSING` where there is no time. Nothing when a text is more than 16 digits, a point and 3 more.
    """
    joined = np.array(texts)
    width = joined.dtype.itemsize
    if width > _WHOLE_DIGITS + 1 + _PLACES:
        return None
    letters = joined.view(np.uint8).reshape(-1, width)
    digits, points = letters - np.uint8(ord("0")), letters == ord(".")
    length, point = np.count_nonzero(letters, axis=1), np.count_nonzero(points, axis=1)
    places = np.where(point > 0, length - 1 - points.argmax(axis=1), 0)
    whole = length - places - point
    usual = ((digits <= _NINE) | points | (letters == 0)).all() and ((whole > 0) | (length == 0)).all()
    if not usual or max(point.max() - 1, places.max() - _PLACES, whole.max() - _WHOLE_DIGITS) > 0:
        return None
    found = np.zeros(len(texts), np.int64)
    for column in range(width):
        digit = digits[:, column]
        found = np.where(digit <= _NINE, found * 10 + digit, found)
    found *= 10 ** (_PLACES - places)
    # 16 digits in front of the point can be more than 64 bits hold
    return None if (found < 0).any() else np.where(length > 0, found, MISSING)


def _nanosecond(value: Any) -> int:
    """Convert one time from µs to ns by decimal arithmetic."""
    if value is None or isinstance(value, bool):
        return int(MISSING)
    try:
        scaled = Decimal(value if not isinstance(value, float) else repr(value))
        # a time of that size is none, and its digits would fill the memory
        if not scaled.is_finite() or scaled.adjusted() > _MOST_DIGITS:
            return int(MISSING)
        found = int((scaled * 1000).to_integral_value())
    except (ArithmeticError, ValueError):
        return int(MISSING)
    return found if abs(found) < _INT64 else int(MISSING)
