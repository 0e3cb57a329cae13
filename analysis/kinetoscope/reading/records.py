"""What one event of the JSON looks like, as typed records for the compiled decoder.

Fields are as wide as real files are: ids come as int, float or text. What no figure needs is skipped by the decoder without being built.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from kinetoscope.reading.kept import FIELDS

Number = int | float | str | None
_NONE = float("nan")
Exact = int | Decimal | None
Scalar = bool | int | float | str | None
Times = Literal["double", "whole", "text"]
Shape = tuple[float, float, float]
NO_SHAPE: Shape = (_NONE, _NONE, _NONE)
_NOTHING = (b"", b"null", b"[]", b'""')
_NO_TIME = 1 << 62  # µs; beyond all that can be a time


class KeptArguments(Struct, gc=False):
    """The arguments of a few kinds of event that are kept beside the columns: the fields of :data:`kinetoscope.reading.kept.FIELDS`."""

    device_type: Any = field(default=None, name="Device Type")
    device_id: Any = field(default=None, name="Device Id")
    memory_bytes: Any = field(default=None, name="Bytes")
    address: Any = field(default=None, name="Addr")
    total_allocated: Any = field(default=None, name="Total Allocated")
    total_reserved: Any = field(default=None, name="Total Reserved")
    wait_on_stream: Any = None


class Arguments(KeptArguments, gc=False):
    """The arguments that frames and links need, and those that are kept; all others are decoded when they are asked for."""

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


class PlainArguments(Struct, gc=False, frozen=True):
    """The same arguments as writers mostly put them: numbers as numbers."""

    device: float = -1.0
    in_device: float = field(default=-1.0, name="inDevice")
    correlation: float = 0.0
    external_id: float = field(default=-1.0, name="External id")
    old_external_id: float = field(default=-1.0, name="external id")
    sequence_number: float = field(default=-1.0, name="Sequence number")
    forward_thread: float = field(default=-1.0, name="Fwd thread id")
    registers: float = field(default=-1.0, name="registers per thread")
    shared_memory: float = field(default=-1.0, name="shared memory")
    size: float = -1.0
    finished: bool = True
    stream: float | str | None = -1.0
    bytes: float | str | None = -1.0
    blocks_per_sm: float | str | None = field(default=_NONE, name="blocks per SM")
    occupancy: float | str | None = field(default=_NONE, name="est. achieved occupancy %")
    bandwidth: float | str | None = field(default=_NONE, name="memory bandwidth (GB/s)")
    grid: Shape | str | None = NO_SHAPE
    block: Shape | str | None = NO_SHAPE
    collective: Scalar = field(default=None, name="Collective name")
    label: Scalar = field(default=None, name="name")
    labels: Scalar = None


@dataclass(frozen=True, eq=False)
class Plain:
    """Types of plain records.

    Parameters
    ----------
    event : type
    no_arguments : PlainArguments
        Stands for the arguments of an event that has none.
    times : {"double", "whole", "text"}
        How starts are held.
    kept : frozenset of str
        Kinds of event, keys of :data:`kinetoscope.reading.kept.FIELDS`, of which they hold the arguments that are kept.
    """

    event: Any
    no_arguments: PlainArguments
    times: Times
    kept: frozenset[str]


@cache
def plain_records(times: Times, without: frozenset[str], kept: frozenset[str] = frozenset()) -> Plain:
    """Return types of events that hold only what writers mostly write; any other event is refused.

    Parameters
    ----------
    times : {"double", "whole", "text"}
        How starts are held: as doubles; as integers, where they count µs since 1970; as their text, where they do so with a fraction.
    without : frozenset of str
        Arguments that no event may have, such as ``Input Dims``: an event that has one is refused, so that somebody can look at it.
    kept : frozenset of str
        Kinds of event whose arguments that are kept they hold too.

    Returns
    -------
    Plain
    """
    empty = tuple[()] | Literal[""] | None
    extra: list[Any] = [(f"extra_{i}", empty, field(default=None, name=name)) for i, name in enumerate(sorted(without))]
    extra += [(at, Any, field(default=None, name=name)) for kind in sorted(kept) for name, at in FIELDS[kind].items()]
    arguments = msgspec.defstruct("StrictArguments", extra, bases=(PlainArguments,), gc=False, frozen=True)
    no_arguments: Any = arguments()
    starts: dict[Times, Any] = {
        "double": (float, _NONE),
        "whole": (int, _NO_TIME),
        "text": (msgspec.Raw, msgspec.Raw(b"")),
    }
    fields = [
        ("ph", str, ""),
        ("cat", str | None, ""),
        ("name", str, ""),
        ("pid", Number, None),
        ("tid", Number, None),
        ("ts", *starts[times]),
        ("dur", float, _NONE),
        ("id", float, -1.0),
        ("args", arguments, no_arguments),
    ]
    return Plain(msgspec.defstruct("PlainEvent", fields, gc=False), no_arguments, times, kept)


def is_given(raw: bytes | msgspec.Raw) -> bool:
    """Tell whether an argument says anything: it is there, and neither null nor an empty list or text."""
    text = bytes(raw)
    return text not in _NOTHING and b"".join(text[:64].split()) not in _NOTHING


class Extras(Struct, gc=False):
    """Arguments that tell which extras the recording has."""

    shapes: msgspec.Raw = field(default=msgspec.Raw(b""), name="Input Dims")
    stack: msgspec.Raw = field(default=msgspec.Raw(b""), name="Call stack")


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


class ExtrasEvent(Struct, gc=False):
    """Of an event only what tells which extras the recording has."""

    cat: str | None = ""
    args: Extras | None = None


LOST = ExactEvent()
"""Stands where an event could not be read, so that the positions behind it stay what they are."""

_EXACT = msgspec.json.Decoder(ExactEvent)
_LOOSE = msgspec.json.Decoder(LooseEvent)


def read_one(text: bytes | msgspec.Raw) -> ExactEvent:
    """Read one event; if its arguments are of no known shape, without them but for those that are kept.

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
        fields = {name: getattr(loose, name) for name in LooseEvent.__struct_fields__}
        return ExactEvent(**fields, args=_only_kept(bytes(text)))


def _only_kept(text: bytes) -> Arguments | None:
    """Return of an event's arguments those that are kept; nothing where it has none of them."""
    given = msgspec.json.decode(text).get("args")
    if not isinstance(given, dict):
        return None
    fields = {at: given[name] for group in FIELDS.values() for name, at in group.items() if name in given}
    return Arguments(**fields) if fields else None
