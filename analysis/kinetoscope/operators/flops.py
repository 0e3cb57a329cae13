"""Floating-point operations of ops, by their shapes (``data/flops.json``), and the peaks of devices (``data/device_peaks.json``).

Definitions: ``docs/definitions.md``, "FLOPs". What cannot be known from the file is unknown; nothing is guessed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinetoscope import devices, nesting, schema, tensor_cores
from kinetoscope.operators.recorded import of_ops
from kinetoscope.self_time import subtree_sums

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Shapes = list[Any]

_MOST = 2.0**100
_TYPES = {
    "float": "fp32",
    "c10::bfloat16": "bf16",
    "c10::half": "fp16",
    "half": "fp16",
    "double": "fp64",
    "signed char": "int8",
    "c10::float8_e4m3fn": "fp8",
    "c10::float8_e4m3fnuz": "fp8",
    "c10::float8_e5m2": "fp8",
}


@dataclass(frozen=True)
class Counted:
    """Ops whose floating-point operations are known, each counted once: of nested ones the innermost, or the one that recorded them.

    Parameters
    ----------
    place : ndarray of int64
        Position among the trace's ops and annotations.
    flops : ndarray of float64
        Operations.
    formula : ndarray of int64
        Index into ``formulas``.
    formulas : list of str
        How they were counted.
    device_time : ndarray of int64
        Device work of the op and of what is below it, ns.
    peak : ndarray of float64
        Peak rate of the device for the op's data type, operations per second; NaN where it is not known.
    """

    place: Index
    flops: Floats
    formula: Index
    formulas: list[str]
    device_time: Index
    peak: Floats


def counted(trace: LinkedTrace) -> Counted:
    """Count what is known of a trace's ops."""
    ops = trace.program.ops
    table = schema.table("flops")
    if "shapes" not in trace.columns.extras and not trace.metadata.get("with_flops"):
        # nothing can be known: the arguments need not be read
        none, unknown = np.empty(0, np.int64), np.empty(0, np.float64)
        return Counted(none, unknown, none, list(table["formulas"].values()), none, unknown)
    names = trace.columns.name[ops.rows]
    formulas: dict[str, str] = table["formulas"]
    rules = list(formulas)
    recorded = _recorded(trace)
    flops = np.where(recorded > 0, recorded, np.nan)
    rule_of = np.full(len(ops), rules.index("recorded"), np.int64)
    known_names = {code for code, name in enumerate(trace.columns.names) if name in table["ops"]}
    chosen = np.flatnonzero(np.isin(names, list(known_names)) & ~(recorded > 0))
    if chosen.size:
        values, rule = _by_shape(trace, chosen, rules)
        flops[chosen], rule_of[chosen] = values, rule
    place = _once(trace, np.isfinite(flops) & (flops > 0), recorded > 0)
    work = trace.columns.duration[trace.work]
    owned = np.bincount(ops.owner_of_work[ops.owner_of_work >= 0], work[ops.owner_of_work >= 0], minlength=len(ops))
    time = subtree_sums(ops.parent, owned.astype(np.int64))[place]
    return Counted(place, flops[place], rule_of[place], list(formulas.values()), time, _peaks(trace, place))


def _recorded(trace: LinkedTrace) -> Floats:
    code, distinct = of_ops(trace, trace.program.ops.rows, "recorded_flops")
    usable = [float(v) if isinstance(v, int | float) and 0 < v < _MOST else 0.0 for v in distinct]
    return np.array([*usable, 0.0])[code]


def _by_shape(trace: LinkedTrace, chosen: Index, rules: list[str]) -> tuple[Floats, Index]:
    """Count ops by name, shapes and further arguments; equal ones only once."""
    rows = trace.program.ops.rows[chosen]
    shapes, shape_list = of_ops(trace, rows, "shapes")
    values, value_list = of_ops(trace, rows, "values")
    keys = np.stack([trace.columns.name[rows].astype(np.int64), shapes, values], axis=1)
    kinds, back = np.unique(keys, axis=0, return_inverse=True)
    table = schema.table("flops")["ops"]
    found, rule_of = [], []
    for name, shape, value in kinds.tolist():
        spec = table[trace.columns.names[name]]
        rule_of.append(rules.index(spec["rule"]))
        given = Inputs(shape_list[shape] if shape >= 0 else [], value_list[value] if value >= 0 else [], spec)
        found.append(_count(given))
    return np.array(found, np.float64)[back.ravel()], np.array(rule_of, np.int64)[back.ravel()]


def _once(trace: LinkedTrace, known: npt.NDArray[np.bool_], recorded: npt.NDArray[np.bool_]) -> Index:
    """Return which known ops count: the outermost that recorded it, and apart from those the innermost known."""
    ops = trace.program.ops
    place = np.flatnonzero(known)
    thread, end = ops.thread[place], ops.end[place]
    parent = nesting.parents(thread, end)
    own = recorded[place]
    # whether any range around is a recorded one, and whether any below is
    above = np.zeros(place.size, bool)
    depth = nesting.depths(parent)
    for level in range(1, int(depth.max(initial=0)) + 1):
        rows = np.flatnonzero(depth == level)
        above[rows] = above[parent[rows]] | own[parent[rows]]
    inner = np.ones(place.size, bool)
    inner[parent[parent >= 0]] = False
    return place[np.where(own, ~above, inner & ~above)]


# --- peaks ------------------------------------------------------------------------------------------------------------------------------------


def peaks_of(name: str) -> dict[str, float]:
    """Return the peak rates of a device by data type, 10¹² operations per second; none of an unknown one."""
    for entry in schema.table("device_peaks")["devices"]:
        if re.search(entry["pattern"], name, re.IGNORECASE):
            return dict(entry["peaks"])
    return {}


def device_names(trace: LinkedTrace) -> set[str]:
    """Return what the file calls the devices that worked; empty texts for those without a name."""
    return {str(devices.properties(trace.metadata, one.device).get("name", "")) for one in trace.devices}


def _peaks(trace: LinkedTrace, place: Index) -> Floats:
    """Return the peak rate of each op, where all devices of the trace are of one known kind."""
    peak = np.full(place.size, np.nan)
    names = device_names(trace)
    rates = peaks_of(names.pop()) if len(names) == 1 else {}
    if not rates or not place.size:
        return peak
    ops = trace.program.ops
    code, distinct = of_ops(trace, ops.rows[place], "types")
    kinds = np.array([*(_type(value) for value in distinct), ""], dtype=object)[code]
    units = _matrix_units(trace)[place]
    kinds = np.where((kinds == "fp32") & (units == tensor_cores.YES), "tf32", kinds)
    kinds = np.where((kinds == "fp32") & (units != tensor_cores.NO), "", kinds)
    for kind, rate in rates.items():
        peak[kinds == kind] = rate * 1e12
    return peak


def _type(value: object) -> str:
    """Return the data type of an op's first tensor."""
    listed = value if isinstance(value, list) else []
    found = [str(one).lower() for one in listed if isinstance(one, str) and str(one).lower() in _TYPES]
    return _TYPES[found[0]] if found else ""


def _matrix_units(trace: LinkedTrace) -> npt.NDArray[np.int8]:
    """Tell which ops' kernels use the matrix units: yes if one of their own does, no if all are known not to."""
    ops = trace.program.ops
    work = np.flatnonzero((trace.columns.kind[trace.work] == schema.CODE["kernel"]) & (ops.owner_of_work >= 0))
    used, owner = tensor_cores.used(trace, trace.work[work]), ops.owner_of_work[work]
    answer = np.full(len(ops), tensor_cores.UNKNOWN, np.int8)
    answer[owner] = tensor_cores.NO
    answer[owner[used == tensor_cores.UNKNOWN]] = tensor_cores.UNKNOWN
    answer[owner[used == tensor_cores.YES]] = tensor_cores.YES
    return answer


# --- rules ------------------------------------------------------------------------------------------------------------------------------------


class UnknownError(Exception):
    """The file does not say what a rule needs."""


class Inputs:
    """What the file says of one op's inputs.

    Parameters
    ----------
    shapes, values : list
        As recorded; anything may be in them.
    spec : dict
        The op's entry in ``data/flops.json``.
    """

    def __init__(self, shapes: Any, values: Any, spec: dict[str, Any]) -> None:
        self._shapes = shapes if isinstance(shapes, list) else []
        self._values = values if isinstance(values, list) else []
        self.spec = spec

    def tensor(self, number: int, dimensions: tuple[int, ...]) -> list[int]:
        """Return the shape of one of the tensors that the rule needs."""
        place = self.spec["inputs"][number]
        shape = self._shapes[place] if place < len(self._shapes) else None
        if not isinstance(shape, list) or len(shape) not in dimensions:
            raise UnknownError
        if not all(type(size) is int and 0 <= size < 2**53 for size in shape):
            raise UnknownError
        return shape

    def absent(self) -> None:
        """Refuse tensors and windows that change what the op computes."""
        for place in self.spec.get("absent", ()):
            if place < len(self._shapes) and self._shapes[place]:
                raise UnknownError
        for place in self.spec.get("unlimited", ()):
            if place < len(self._values) and self._values[place] not in ("", "-1", "0", None):
                raise UnknownError

    def value(self, key: str) -> Any:
        """Return a further argument, which recorders write as text."""
        place = self.spec[key]
        text = self._values[place] if place < len(self._values) else None
        if not isinstance(text, str) or not 0 < len(text) < 1000:
            raise UnknownError
        try:
            return json.loads(text.lower())
        except ValueError:
            raise UnknownError from None

    def flag(self, key: str) -> bool:
        """Return a further argument that is true or false, or a number of which 0 is false."""
        value = self.value(key)
        if type(value) not in (bool, int):
            raise UnknownError
        return bool(value)

    def sizes(self, key: str, count: int) -> list[int]:
        """Return a further argument that has a number per dimension; 1 of what the op does not take."""
        if key not in self.spec:
            return [1] * count
        value = self.value(key)
        listed = value if isinstance(value, list) else [value]
        if not listed or not all(type(size) is int and 0 <= size < 2**31 for size in listed):
            raise UnknownError
        return listed * count if len(listed) == 1 else listed


def _count(given: Inputs) -> float:
    try:
        return float(_RULES[given.spec["rule"]](given))
    except (UnknownError, OverflowError):
        return math.nan


def _matrix(given: Inputs) -> int:
    (rows, inner), (also_inner, columns) = given.tensor(0, (2,)), given.tensor(1, (2,))
    if inner != also_inner:
        raise UnknownError
    return 2 * rows * inner * columns


def _batched(given: Inputs) -> int:
    (batch, rows, inner), (also_batch, also_inner, columns) = given.tensor(0, (3,)), given.tensor(1, (3,))
    if inner != also_inner or batch != also_batch:
        raise UnknownError
    return 2 * batch * rows * inner * columns


def _convolution(given: Inputs) -> int:
    images, weight = given.tensor(0, (3, 4, 5)), given.tensor(1, (3, 4, 5))
    if len(images) != len(weight):
        raise UnknownError
    if "transposed" in given.spec and given.flag("transposed"):
        return 2 * math.prod(images) * math.prod(weight[1:])
    size = len(weight) - 2
    stride, padding, dilation = (given.sizes(key, size) for key in ("stride", "padding", "dilation"))
    if not len(stride) == len(padding) == len(dilation) == size or 0 in stride:
        raise UnknownError
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, weight[2:], strict=True)]
    outputs = [(n + 2 * p - r) // s + 1 for n, p, r, s in zip(images[2:], padding, reach, stride, strict=True)]
    if min(outputs) < 0:
        raise UnknownError
    return 2 * images[0] * math.prod(outputs) * math.prod(weight)


def _convolution_backward(given: Inputs) -> int:
    gradient, images, weight = (given.tensor(i, (3, 4, 5)) for i in range(3))
    wanted = given.value("mask")
    if not isinstance(wanted, list) or len(wanted) != 3 or not all(type(flag) is bool for flag in wanted):
        raise UnknownError
    outputs = math.prod(images if given.flag("transposed") else gradient)
    return sum(wanted[:2]) * 2 * outputs * math.prod(weight[1:])


def _attention_parts(given: Inputs) -> tuple[int, int, int, int]:
    """Return batch times heads, pairs of query and key, and the lengths of keys and values."""
    given.absent()
    query, key, value = (given.tensor(i, (4,)) for i in range(3))
    heads, sequence = (1, 2) if given.spec["layout"] == "bhs" else (2, 1)
    if query[0] != key[0] or key[sequence] != value[sequence] or query[3] != key[3]:
        raise UnknownError
    pairs = query[sequence] * key[sequence]
    if given.flag("causal"):
        if query[sequence] != key[sequence]:
            raise UnknownError
        pairs = query[sequence] * (query[sequence] + 1) // 2
    return query[0] * query[heads], pairs, query[3], value[3]


def _attention(given: Inputs) -> int:
    heads, pairs, length, of_values = _attention_parts(given)
    return 2 * heads * pairs * (length + of_values)


def _attention_backward(given: Inputs) -> int:
    heads, pairs, length, of_values = _attention_parts(given)
    return 2 * heads * pairs * (3 * length + 2 * of_values)


_RULES: dict[str, Callable[[Inputs], int]] = {
    "matrix": _matrix,
    "batched": _batched,
    "convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "attention": _attention,
    "attention_backward": _attention_backward,
}
