"""Messages between the plugin and its workers: a head in JSON and a body of bytes, each with its length before it."""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

_LENGTHS = struct.Struct("<IQ")

Head = dict[str, Any]


def pack(head: Head, body: bytes = b"") -> bytes:
    """Return the bytes of a message.

    Parameters
    ----------
    head : dict
        Anything that JSON takes.
    body : bytes

    Returns
    -------
    bytes
    """
    encoded = json.dumps(head).encode("ascii")
    return _LENGTHS.pack(len(encoded), len(body)) + encoded + body


def receive(stream: BinaryIO) -> tuple[Head, bytes] | None:
    """Read a message.

    Parameters
    ----------
    stream : binary file

    Returns
    -------
    tuple of dict and bytes, or None
        ``None`` when the other side is gone.
    """
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_size, body_size = _LENGTHS.unpack(lengths)
    head = stream.read(head_size)
    body = stream.read(body_size)
    if len(head) < head_size or len(body) < body_size:
        return None
    return json.loads(head), body
