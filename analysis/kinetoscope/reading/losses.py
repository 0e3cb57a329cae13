"""What was mended or lost while a file was read: counted, with the first place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

EXAMPLE = 120
"""Characters of the text that are kept to show."""


class Loss(NamedTuple):
    """Something that was mended or lost.

    Parameters
    ----------
    what : str
        ``encoding``, ``control``, ``backslash`` (mended in the text), ``repaired`` (events read by the lenient reader), ``lost`` (events that
        could not be read), ``cut`` (the text ends early), ``gzip`` (the packed data ends early), ``document`` (another one follows), ``trailing`` (something else
        follows), ``metadata``, ``separator`` (commas, or what stands beside the events).
    times : int
    offset : int
        Byte of the text where it was seen first.
    example : str
        The text there.
    """

    what: str
    times: int
    offset: int
    example: str


def example_at(text: bytes, offset: int) -> str:
    """Return the text around a byte, to show."""
    return text[max(offset - 40, 0) : offset + EXAMPLE - 40].decode("utf-8", "replace")


@dataclass
class Losses:
    """Losses by what they are, each with its count and its first place."""

    found: dict[str, Loss] = field(default_factory=dict)

    def add(self, what: str, offset: int, example: str, count: int = 1) -> None:
        """Count one more."""
        first = self.found.get(what)
        if first is None:
            self.found[what] = Loss(what, count, offset, example)
        else:
            self.found[what] = first._replace(times=first.times + count)

    def listed(self) -> list[Loss]:
        """Return them in the order they were seen."""
        return list(self.found.values())
