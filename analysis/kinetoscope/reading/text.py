"""Cut the JSON text of a trace into pieces of whole events, so that decoding can tell how far it is and memory stays small.

A trace is an object with the list ``traceEvents``, or a bare list. The text between ``[`` and the end of the list is cut where one event ends
and the next begins. An event begins with ``{"`` and the key that the first event begins with; inside a JSON string such text cannot stand,
since its quotes would be escaped there. A writer that breaks this rule is still read right: a piece that does not parse makes the caller
decode the text as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

LIST_KEY = b'"traceEvents"'
_LIST = re.compile(LIST_KEY + rb"\s*:\s*\[")
_FIRST_KEY = re.compile(rb'\s*\{\s*("(?:[^"\\]|\\.){1,64}")\s*:')
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_ANY = msgspec.json.Decoder(msgspec.Raw)
PIECE = 1 << 20
"""Bytes of a piece: its records fit into the nearer caches, where all that is done with them is fastest."""


@dataclass(frozen=True)
class Piece:
    """A stretch of the text that holds whole events.

    Parameters
    ----------
    start, end : int
        Byte offsets in the text.
    last : bool
        True when the rest of the document, behind the list, belongs to it.
    """

    start: int
    end: int
    last: bool


def head_end(text: bytes) -> int:
    """Return the offset behind the ``[`` that opens the event list, or -1 when there is none."""
    if text[:64].lstrip().startswith(b"["):
        return text.index(b"[") + 1
    found = _LIST.search(text)
    return found.end() if found else -1


def first_key(text: bytes, start: int) -> bytes | None:
    """Return the key, quotes included, that the first event of the list begins with; nothing when there is none."""
    first = _FIRST_KEY.match(text, start)
    return first.group(1) if first else None


def border(key: bytes) -> re.Pattern[bytes]:
    """Return the pattern of the text between two events that begin with a key; its group is what stands between them."""
    return re.compile(rb"\}(\s*,\s*)\{\s*" + re.escape(key) + rb"\s*:")


def pieces(text: bytes, start: int, size: int = PIECE) -> Iterator[Piece]:
    """Cut the event list into pieces.

    Parameters
    ----------
    text : bytes
    start : int
        Offset behind the ``[`` of the list.
    size : int
        Least bytes of a piece.

    Yields
    ------
    Piece
        In order; together they are the text from ``start`` to its end, less the commas between them.
    """
    key = first_key(text, start)
    if key is None:
        yield Piece(start, len(text), last=True)
        return
    between = border(key)
    at = start
    while at + size < len(text):
        cut = between.search(text, at + size)
        if cut is None:
            break
        yield Piece(at, cut.start(1), last=False)
        at = cut.end(1)
    yield Piece(at, len(text), last=True)


def piece_document(text: bytes, head: int, piece: Piece) -> bytes:
    """Return a piece as a JSON document of its own.

    The last piece brings the rest of the file with it, so it is completed by the head of the file rather than closed.
    """
    body = text[piece.start : piece.end]
    return text[:head] + body if piece.last else b"[" + body + b"]"


def whole_documents(text: bytes, head: int, size: int = PIECE) -> Iterator[tuple[bytes, bool]]:
    """Cut a text into documents of whole events.

    Parameters
    ----------
    text : bytes
    head : int
        Offset behind the ``[`` of the list.
    size : int
        Least bytes of a document.

    Yields
    ------
    bytes, bool
        The document, and whether it is an object around the list.

    Raises
    ------
    msgspec.DecodeError
        When a second list of events follows: it takes the place of the first, all of which has to be in one document with it.
    """
    bare = text[:head].strip() == b"["
    for piece in pieces(text, head, size):
        if piece.last and piece.start > head and LIST_KEY in text[piece.start :]:
            raise msgspec.DecodeError("a second list of events")
        yield piece_document(text, head, piece), piece.last and not bare


def documents(text: bytes) -> list[tuple[int, int]]:
    """Find the documents of a text that may hold several, one behind the other.

    Parameters
    ----------
    text : bytes

    Returns
    -------
    list of tuple of int
        Start and end of each. What is not sound JSON is one document to the end.
    """
    found: list[tuple[int, int]] = []
    start = 0
    while text[start : start + 4096].strip():
        try:
            _ANY.decode(memoryview(text)[start:])
        except (msgspec.DecodeError, RecursionError) as error:
            said = _TRAILING.search(str(error))
            if said:
                # named is the byte behind the first that should not be there
                end = start + int(said.group(1)) - 1
                found.append((start, end))
                start = end
                continue
        found.append((start, len(text)))
        break
    return found
