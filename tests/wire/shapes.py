"""The shapes of ``docs/wire.md``, exactly: what is more or less than this, or of another type, does not decode."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Number = int | float
Kind = Literal["number", "integer", "text", "boolean"]


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    """No field may be missing, and none added."""


class Problem(Shape):
    code: str
    message: str
    hint: str
    where: str


class Error(Shape):
    error: Problem


class LeftOut(Shape):
    file: str
    code: str
    message: str


class Span(Shape):
    span: str
    trace: str
    file: str
    bytes: int


class Rank(Shape):
    rank: int | None
    label: str
    worker: str
    spans: list[Span]


class Run(Shape):
    name: str
    ranks: list[Rank]


class Runs(Shape):
    state: Literal["scanning", "ready", "failed"]
    logdir: str
    folders: int
    generation: int
    runs: list[Run]
    problems: list[LeftOut]
    error: Problem | None


class Account(Shape):
    what: str
    reason: str
    events: int
    kept: bool


class Device(Shape):
    device: int
    name: str | None
    memory_bytes: int | None
    sm_count: int | None
    capability: str | None


class Step(Shape):
    step: int
    name: str
    start_ns: int
    end_ns: int
    host_start_ns: int
    host_end_ns: int
    incomplete: bool


class Fact(Shape):
    key: str
    value: str


class Switches(Shape):
    shapes: bool
    memory: bool
    stacks: bool
    modules: bool
    flops: bool


class Page(Shape):
    available: bool
    reason: str


class Pages(Shape):
    overview: Page
    timeline: Page
    idle: Page
    kernels: Page
    operators: Page
    modules: Page
    flame: Page
    memory: Page


Severity = Literal["ok", "info", "warning", "error"]


class Health(Shape):
    worst: Severity
    counts: dict[Severity, int]


class Fix(Shape):
    fix: Literal["durations", "clock"]
    events: int
    applied: bool


class Info(Shape):
    origin_ns: str
    end_ns: int
    file: str
    bytes: int
    events: int
    synthetic: str | None
    kinds: dict[str, int]
    accounting: list[Account]
    devices: list[Device]
    steps: list[Step]
    recording: list[Fact]
    switches: Switches
    pages: Pages
    notes: list[str]
    health: Health
    fixes: list[Fix]


class Session(Shape):
    state: Literal["queued", "loading", "ready", "failed", "cancelled"]
    stage: Literal["start", "read", "decode", "link", "done"]
    bytes_done: int
    bytes_total: int
    events: int
    elapsed_ms: int
    changed: bool
    error: Problem | None
    info: Info | None


class Identity(Shape):
    path: str
    run: str
    rank: int | None
    span: str
    origin_ns: str


class Column(Shape):
    name: str
    unit: str
    type: Kind
    description: str


class Table(Shape):
    view: str
    trace: Identity
    columns: list[Column]
    data: dict[str, list[Number | str | bool | None]]
    rows: int
    notes: list[str]


class Lane(Shape):
    lane: int
    parent: int | None
    kind: Literal["gpu", "idle", "stream", "ranges", "counter", "process", "thread"]
    title: str
    detail: str
    device: int | None
    first_row: int
    rows: int
    events: int
    busy_ns: int
    unit: str
    low: Number | None
    high: Number | None


class Lanes(Shape):
    end_ns: int
    rows: int
    lanes: list[Lane]


class Names(Shape):
    names: list[str]


class Ref(Shape):
    id: int
    name: str
    kind: str
    start_ns: int
    duration_ns: int
    row: int | None


class SameName(Shape):
    calls: int
    total_ns: Number
    mean_ns: Number
    min_ns: Number
    max_ns: Number


class Event(Ref):
    category: str
    thread: str
    device: int | None
    stream: int | None
    correlation: int | None
    step: int | None
    args: dict[str, Any]
    parents: list[Ref]
    op: Ref | None
    launch: Ref | None
    works: list[Ref]
    works_total: int
    forward: Ref | None
    backward: list[Ref]
    same_name: SameName
    unfinished: bool


class Neighbor(Shape):
    event: Ref | None


class Hits(Shape):
    id: list[int]
    name: list[int]
    start_ns: list[int]
    duration_ns: list[int]
    row: list[int]


class Search(Shape):
    total: int
    names: list[int]
    hits: Hits


class AreaRow(Shape):
    name: str
    kind: str
    calls: int
    total_ns: Number
    mean_ns: Number
    min_ns: Number
    max_ns: Number


class Area(Shape):
    rows: list[AreaRow]
    total_ns: Number
    events: int


class DeviceBusy(Shape):
    device: int
    busy: list[Number]


class Minimap(Shape):
    px: int
    end_ns: int
    devices: list[DeviceBusy]
    host: list[Number]


class Path(Shape):
    start_ns: list[int]
    end_ns: list[int]
    row: list[int | None]
    kind: list[str]
    stretches: int


class Longest(Shape):
    id: int
    name: int
    kind: str
    start_ns: int
    duration_ns: int
    row: int


class Points(Shape):
    start: list[int]
    low: list[Number]
    high: list[Number]
    changes: list[int]


class Tile(Shape):
    """A tile's bytes, unpacked."""

    n: int
    r: int
    kinds: int
    t0: float
    t1: float
    quantum: float
    tick: float
    rows: list[tuple[int, int, int, int]]
    start: list[int]
    length: list[int]
    id: list[int]
    name: list[int]
    count: list[int]
    kind: list[int]
    busy: list[int]
    flags: list[int]
    points: Points
