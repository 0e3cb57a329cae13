"""What one event of the JSON looks like, as typed records for the compiled decoder.

Fields are as wide as real files are: ids come as int, float or text. What no figure needs is skipped by the decoder without being built.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct, field

Number = int | float | str | None
_NONE = float("nan")
Exact = int | Decimal | None


class Arguments(Struct, gc=False):
    """The arguments that frames and links need; all others are decoded when they are asked for."""

    device: Number = -1
    in_device: Number = field(default=-1, name="inDevice")
    stream: Number = -1
    correlation: Number = 0
    external_id: Number = field(default=-1, name="External id")
    old_external_id: Number = field(default=-1, name="external id")
    sequence_number: Number = field(default=-1, name="Sequence number")
    forward_thread: Number = field(default=-1, name="Fwd thread id")
    collective: Any = field(default=None, name="Collective name")
    grid: Any = None
    block: Any = None
    registers: Number = field(default=-1, name="registers per thread")
    shared_memory: Number = field(default=-1, name="shared memory")
    blocks_per_sm: Number = field(default=None, name="blocks per SM")
    occupancy: Number = field(default=None, name="est. achieved occupancy %")
    bytes: Number = -1
    size: Number = -1
    bandwidth: Number = field(default=None, name="memory bandwidth (GB/s)")
    finished: bool | int | str | None = None
    shapes: msgspec.Raw = field(default=msgspec.Raw(b""), name="Input Dims")
    stack: msgspec.Raw = field(default=msgspec.Raw(b""), name="Call stack")
    label: Any = field(default=None, name="name")
    labels: Any = None


class Event(Struct, gc=False):
    """One event with times as doubles: exact to the nanosecond below 2^43 µs."""

    ph: str = ""
    cat: str | None = ""
    name: str | int | float | None = ""
    pid: Number = None
    tid: Number = None
    ts: Number = _NONE
    dur: Number = _NONE
    id: Number = -1
    args: Arguments | None = None


class ExactEvent(Struct, gc=False):
    """One event with times as the decimal text says, for times that doubles cannot hold."""

    ph: str = ""
    cat: str | None = ""
    name: str | int | float | None = ""
    pid: Number = None
    tid: Number = None
    ts: Exact = None
    dur: Exact = None
    id: Number = -1
    args: Arguments | None = None


class LooseEvent(Struct, gc=False):
    """An event whose arguments are not an object, or hold what no writer is known to put there: read without them."""

    ph: str = ""
    cat: str | None = ""
    name: str | int | float | None = ""
    pid: Number = None
    tid: Number = None
    ts: Exact = None
    dur: Exact = None
    id: Number = -1


BAD_JSON: tuple[type[Exception], ...] = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What the compiled decoder raises on text that it cannot take."""

LOST = ExactEvent()
"""Stands where an event could not be read, so that the positions behind it stay what they are."""

_EXACT = msgspec.json.Decoder(ExactEvent)
_LOOSE = msgspec.json.Decoder(LooseEvent)


def read_one(text: bytes | msgspec.Raw) -> ExactEvent:
    """Read one event, without its arguments if those are of no known shape.

    Parameters
    ----------
    text : bytes
        Strict JSON.

    Returns
    -------
    ExactEvent

    Raises
    ------
    msgspec.ValidationError
        When it is no event.
    msgspec.DecodeError
        When it is no JSON.
    """
    try:
        return _EXACT.decode(text)
    except msgspec.ValidationError:
        loose = _LOOSE.decode(text)
        return ExactEvent(*(getattr(loose, name) for name in LooseEvent.__struct_fields__))
