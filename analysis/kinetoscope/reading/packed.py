"""Numbers of many records at once: a compiled encoder packs them into rows of one length, which are read as one array.

Asking each record for each number costs as much as decoding it did. In MessagePack a double always takes nine bytes and a flag one, so that a list
of a few doubles and a flag for each record is a table; only where a text stands in place of a number it is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from kinetoscope.reading import values

EXACT_ID = 2.0**53
"""From here on a double's step is wider than one."""

_ENCODER = msgspec.msgpack.Encoder()
_DOUBLE = 0xCB
_FALSE = 0xC2
_WIDTH = 9
_LIST_HEADER = 5  # bytes in front of a list of 65,536 and more; fewer for shorter ones
_HALF = 2**31

Columns = dict[str, npt.NDArray[Any]]


class NotPlainError(Exception):
    """A piece holds numbers that plain records would bend."""


def columns(arguments: Sequence[Any], ids: Sequence[str], figures: Sequence[str]) -> Columns:
    """Take numbers out of plain records.

    Parameters
    ----------
    arguments : sequence of PlainArguments
        At least one.
    ids, figures : sequence of str
        Names of fields.

    Returns
    -------
    dict of str to ndarray
        ids as integers, figures as doubles, and ``unfinished`` as flags.

    Raises
    ------
    NotPlainError
        When an id is too large for a double.
    """
    names = (*ids, *figures)
    table = _table(list(map(attrgetter(*names, "finished"), arguments)), len(names))
    if table is None:
        found: Columns = {name: _loose_ids(list(map(attrgetter(name), arguments))) for name in ids}
        found |= {name: values.floats(list(map(attrgetter(name), arguments))) for name in figures}
        return found | {"unfinished": ~np.fromiter(map(attrgetter("finished"), arguments), bool, len(arguments))}
    doubles, flags = table
    found = _ids(doubles[: len(ids)], ids)
    found |= dict(zip(figures, doubles[len(ids) :], strict=True))
    return found | {"unfinished": flags == _FALSE}


def _table(rows: list[Any], count: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8]] | None:
    """Return the doubles of rows, one array each, and the bytes of the flags behind them; nothing when some are no doubles."""
    packed = _ENCODER.encode(rows)
    begin = len(_ENCODER.encode([False] * (count + 1))) - count - 1
    width = begin + count * _WIDTH + 1
    start = len(packed) - len(rows) * width
    if not 0 <= start <= _LIST_HEADER:
        return None
    shape, strides = (len(rows), count), (width, _WIDTH)
    kinds: npt.NDArray[np.uint8] = np.ndarray(shape, np.uint8, packed, start + begin, strides)
    # where the first kind is that of a double, the next one is where it should be, and so on to the last row
    if not (kinds == _DOUBLE).all():
        return None
    doubles: npt.NDArray[Any] = np.ndarray(shape, ">f8", packed, start + begin + 1, strides)
    flags: npt.NDArray[np.uint8] = np.ndarray(len(rows), np.uint8, packed, start + width - 1, (width,))
    return doubles.T.astype(np.float64), flags


def _ids(doubles: npt.NDArray[np.float64], names: Sequence[str]) -> Columns:
    """Return rows of whole doubles as integers of few bytes."""
    found: Columns = {}
    lows, highs = doubles.min(axis=1).tolist(), doubles.max(axis=1).tolist()
    for name, column, low, high in zip(names, doubles, lows, highs, strict=True):
        if max(-low, high) >= EXACT_ID:
            raise NotPlainError("ids")
        if low == high:
            found[name] = np.broadcast_to(np.int64(low), len(column))
        else:
            found[name] = column.astype(np.int32 if low >= -_HALF and high < _HALF else np.int64)
    return found


def _loose_ids(given: list[Any]) -> npt.NDArray[np.int64]:
    """Return ids of which some are texts."""
    if any(type(value) is float and abs(value) >= EXACT_ID for value in given):
        raise NotPlainError("ids")
    return values.integers(given)
