"""Strict JSON as the page reads it: UTF-8, no NaN or Infinity, arrays of numbers as they are."""

from __future__ import annotations

from typing import Any

import msgspec

_LARGEST_EXACT = 2**53 - 1


def _array(value: Any) -> Any:
    """Turn a NumPy array or number into Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"no JSON for {type(value).__name__}")


_ENCODER = msgspec.json.Encoder(enc_hook=_array)


def encode(value: Any) -> bytes:
    """Encode a value; NaN and infinities become ``null``, halves of characters become ``?``.

    Parameters
    ----------
    value : object
        Built from dicts, lists, text, numbers, None, NumPy arrays and :class:`msgspec.Raw`.

    Returns
    -------
    bytes
    """
    try:
        return _ENCODER.encode(value)
    except (UnicodeEncodeError, OverflowError):
        # a file name that is no UTF-8, or a number beyond 64 bits: rare, so the slow way round is taken only then
        return _ENCODER.encode(_clean(value))


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(one) for one in value]
    return exact(value)


def text(value: str) -> str:
    """Return text in which everything can be written as UTF-8."""
    return value.encode("utf-8", "replace").decode("utf-8")


def exact(value: Any) -> Any:
    """Return a JSON value in which integers that JavaScript would round are text.

    Parameters
    ----------
    value : object

    Returns
    -------
    object
    """
    if isinstance(value, dict):
        return {key: exact(one) for key, one in value.items()}
    if isinstance(value, list):
        return [exact(one) for one in value]
    if type(value) is int and abs(value) > _LARGEST_EXACT:
        return str(value)
    return value
