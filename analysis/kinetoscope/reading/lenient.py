"""Read JSON that is almost JSON, as damaged or careless writers leave it.

Accepted beyond the standard: raw control characters in strings, unescaped quotes in strings, backslashes that begin no escape, ``NaN``, ``Infinity``,
``inf``, ``N/A`` and other bare words (read as nothing), missing, doubled and trailing commas. A value that is already right is read as the
standard says. Numbers with a fraction come as :class:`decimal.Decimal`, so that times stay exact.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

_SPACE = re.compile(r"[\s,]*")
_BLANK = re.compile(r"\s*")
_GOOD_STRING = re.compile(r'"[^"\\\x00-\x1f]*"')
_NUMBER = re.compile(r"-?\d+(\.\d*)?([eE][+-]?\d+)?(?=[\s,}\]]|$)")
_WORD = re.compile(r"[^\s,{}\[\]\":][^,{}\[\]\":\n]*")
_CLOSES_KEY = re.compile(r"\s*:")
_CLOSES_VALUE = re.compile(r'\s*(?:[}\]]\s*(?:[,}\]]|$)|,\s*(?:"(?:[^"\\]|\\.)*"\s*:|[}\]]|$)|"(?:[^"\\]|\\.)*"\s*:|$)')
_CLOSES_ITEM = re.compile(r'\s*(?:,\s*["\d\[{\]tfn-]|\]|$)')
_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4})|)')
_MEANING = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"true": True, "false": False, "null": None}
_DEEPEST = 200


class EndOfTextError(ValueError):
    """The text ends inside a value."""


class Reader:
    """Read values from a text, one after the other.

    Parameters
    ----------
    text : str
    at : int
        Where to begin.
    """

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at

    def skip(self) -> str:
        """Pass over blanks and commas; return the next character, or nothing at the end."""
        self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
        return self.text[self.at : self.at + 1]

    def value(self, depth: int = 0, closes: re.Pattern[str] = _CLOSES_VALUE) -> Any:
        """Read one value.

        Raises
        ------
        EndOfTextError
            When the text ends before the value does.
        ValueError
            When there is no value here.
        """
        if depth > _DEEPEST:
            raise ValueError("nested too deep")
        begin = self.skip()
        if begin == "{":
            return self._object(depth)
        if begin == "[":
            return self._list(depth)
        if begin == '"':
            return self._string(closes)
        if not begin:
            raise EndOfTextError("the text ends where a value should begin")
        return self._bare()

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        while True:
            begin = self.skip()
            if begin == "}":
                self.at += 1
                return found
            if not begin:
                raise EndOfTextError("the text ends inside an object")
            key, value = self.pair(depth)
            found[key] = value

    def pair(self, depth: int) -> tuple[str, Any]:
        """Read a key, its colon, and its value."""
        if self.skip() != '"':
            raise ValueError("no key where one should begin")
        key = self._string(_CLOSES_KEY)
        self.colon()
        return key, self.value(depth + 1)

    def colon(self) -> None:
        """Pass over the colon behind a key."""
        self.at = _BLANK.match(self.text, self.at).end()  # type: ignore[union-attr]
        if self.text[self.at : self.at + 1] == ":":
            self.at += 1

    def _list(self, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while True:
            begin = self.skip()
            if begin == "]":
                self.at += 1
                return found
            if not begin:
                raise EndOfTextError("the text ends inside a list")
            if begin == "}":
                raise ValueError("a list is not closed")
            found.append(self.value(depth + 1, _CLOSES_ITEM))

    def _string(self, closes: re.Pattern[str]) -> str:
        """Read a string: it ends at the first quote behind which the text goes on as it should."""
        good = _GOOD_STRING.match(self.text, self.at)
        if good and closes.match(self.text, good.end()):
            self.at = good.end()
            return good.group()[1:-1]
        start = at = self.at + 1
        while True:
            quote = self.text.find('"', at)
            if quote < 0:
                raise EndOfTextError("the text ends inside a string")
            escaped = _slashes_before(self.text, quote, start) % 2 == 1
            # a quote behind a backslash is text, unless the string cannot end anywhere else
            if not escaped and closes.match(self.text, quote + 1):
                break
            at = quote + 1
        self.at = quote + 1
        return _whole_characters(_ESCAPE.sub(_meaning, self.text[start:quote]))

    def _bare(self) -> Any:
        number = _NUMBER.match(self.text, self.at)
        if number:
            self.at = number.end()
            return Decimal(number.group()) if number.group(1) or number.group(2) else int(number.group())
        word = _WORD.match(self.text, self.at)
        if not word:
            raise ValueError(f"unexpected {self.text[self.at]!r}")
        self.at = word.end()
        return _WORDS.get(word.group().strip())


def _whole_characters(text: str) -> str:
    """Join the halves of characters that escapes name one by one; a lone half becomes the replacement mark."""
    if not any("\ud800" <= c <= "\udfff" for c in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _slashes_before(text: str, at: int, start: int) -> int:
    """Count the backslashes just before a place."""
    count = 0
    while at - count - 1 >= start and text[at - count - 1] == "\\":
        count += 1
    return count


def _meaning(escape: re.Match[str]) -> str:
    """Return what an escape stands for; a backslash that begins none is itself."""
    if escape.group(1):
        return _MEANING[escape.group(1)]
    if escape.group(2):
        return chr(int(escape.group(2), 16))
    return "\\"


def dumps(value: Any) -> bytes:
    """Write a value that was read as strict JSON, numbers as they were."""
    return json.dumps(_plain(value), allow_nan=False).encode()


def simple(value: Any) -> Any:
    """Return a value with decimals as doubles, at any depth; those beyond doubles as text."""
    if isinstance(value, Decimal):
        number = float(value)
        return number if math.isfinite(number) else str(value)
    if isinstance(value, dict):
        return {key: simple(item) for key, item in value.items()}
    if isinstance(value, list):
        return [simple(item) for item in value]
    return value


def _plain(value: Any) -> Any:
    """Return a value with decimals as text, which the typed decoder reads as exactly as numbers."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
