"""Where a trace comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Where a trace comes from: the identity that all its events share.

    Parameters
    ----------
    path : str
        The file.
    run : str
        Folder of the run, relative to the log directory.
    rank : int or None
        Rank of the process, if known.
    span : str
        Number of the recording among those of its rank, in time order.
    worker : str
        Name of the process as the file name has it.
    ranks_found : int
        How many ranks of the run there are; 0 when nobody looked.
    """

    path: str
    run: str = ""
    rank: int | None = None
    span: str = "1"
    worker: str = ""
    ranks_found: int = 0

    @property
    def document(self) -> int:
        """Which trace of the file it is, from 0: the letter behind the span's number."""
        letter = self.span[-1:]
        return ord(letter) - ord("a") if "a" <= letter <= "z" else 0


def as_text(name: str) -> str:
    """Return the name of a file or folder as text that can be stored and sent; bytes that are no text become the replacement mark."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
