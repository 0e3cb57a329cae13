"""Read a request's query: every value checked, and a sentence for each that is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kinetoscope_tb.problems import refuse

LATEST_NS = 2**53
_MOST_DIGITS = 17
_LONGEST_ROWS = 1 << 16
_MOST_ROWS = 1 << 14
_HIGHEST_ROW = 2**31
_LONGEST_FIX = 200
_INTEGER = re.compile(r"-?[0-9]+")
_RANGE = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?")


class Query:
    """The parameters of one request.

    Parameters
    ----------
    given : mapping of str to str
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given

    def text(self, name: str, longest: int = 1000) -> str:
        """Return a parameter that must be there."""
        value = self._short(name, longest)
        if not value:
            raise refuse(400, "bad-parameter", f"The parameter {name!r} is missing.")
        return value

    def integer(self, name: str, least: int, most: int, default: int | None = None) -> int:
        """Return a whole number between two bounds, both included."""
        if default is not None and not self._given.get(name):
            return default
        value = self.text(name)
        if not _INTEGER.fullmatch(value) or len(value) > _MOST_DIGITS or not least <= int(value) <= most:
            raise refuse(
                400,
                "bad-parameter",
                f"The parameter {name!r} must be a whole number from {least} to {most}, not {value[:40]!r}.",
            )
        return int(value)

    def flag(self, name: str) -> bool:
        """Return whether a parameter is set to something else than 0."""
        return self._given.get(name, "") not in ("", "0", "false")

    def span(self) -> tuple[int, int]:
        """Return ``t0`` and ``t1``, ns, where the first is below the second."""
        begin, end = self.integer("t0", -LATEST_NS, LATEST_NS), self.integer("t1", -LATEST_NS, LATEST_NS)
        if end <= begin:
            raise refuse(400, "bad-parameter", f"t1 ({end}) must be greater than t0 ({begin}).")
        return begin, end

    def rows(self) -> list[int]:
        """Return ``rows``: numbers and ranges such as ``0-4,7``, in order and each once."""
        found: set[int] = set()
        for part in self.text("rows", _LONGEST_ROWS).split(","):
            match = _RANGE.fullmatch(part)
            first = int(match[1]) if match else 0
            last = int(match[2] or match[1]) if match else -1
            if not first <= last <= _HIGHEST_ROW:
                raise refuse(
                    400,
                    "bad-parameter",
                    f"The parameter 'rows' must be numbers and ranges such as 0-4,7; {part[:40]!r} is neither.",
                )
            if last - first + 1 + len(found) > _MOST_ROWS:
                raise refuse(
                    400,
                    "bad-parameter",
                    f"The parameter 'rows' names more than {_MOST_ROWS:,} rows.",
                    "Ask for those in sight.",
                )
            found.update(range(first, last + 1))
        return sorted(found)

    def fixes(self) -> list[str]:
        """Return ``fix``: names between commas, each once; none where it is empty or left out."""
        return sorted(set(self._short("fix", _LONGEST_FIX).split(",")) - {""})

    def others(self, *but: str, longest: int = 1000) -> dict[str, str]:
        """Return the parameters that are given, but for some; empty ones too."""
        return {name: self._short(name, longest) for name in self._given if name not in but}

    def _short(self, name: str, longest: int) -> str:
        value = self._given.get(name, "")
        if len(value) > longest:
            raise refuse(400, "bad-parameter", f"The parameter {name[:40]!r} is longer than {longest:,} characters.")
        return value
