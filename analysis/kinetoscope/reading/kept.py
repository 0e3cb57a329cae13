"""Arguments that are kept while a file is read for the first time, of the events that pages always ask them of.

They are no columns, since few events have them, and too many pages would wait for a second pass over the file if they were read when they are asked
for. Records hold them only from the first such event on: a file without any pays nothing.
"""

from __future__ import annotations

from array import array
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinetoscope.reading.values import MISSING, exact_integer

Ints = npt.NDArray[np.int64]

NAMES = ("[memory]", "[OutOfMemory]")
"""Names of the events of kind ``memory``, whatever their category."""

FIELDS: dict[str, dict[str, str]] = {
    "memory": {
        "Device Type": "device_type",
        "Device Id": "device_id",
        "Bytes": "memory_bytes",
        "Addr": "address",
        "Total Allocated": "total_allocated",
        "Total Reserved": "total_reserved",
    },
    "sync": {"wait_on_stream": "wait_on_stream"},
}
"""By kind of event: arguments, as files spell them, and the fields of records that hold them. All are integers."""


class Kept(NamedTuple):
    """Arguments of all events of a kind.

    Parameters
    ----------
    rows : ndarray of int64
        Rows of the columns, in order.
    values : ndarray of int64
        A row for each event, and a column for each argument of :data:`FIELDS`; :data:`~kinetoscope.reading.values.MISSING` where an event has
        none, or no integer.
    """

    rows: Ints
    values: Ints


def table(kind: str, arguments: list[Any]) -> Ints:
    """Return the kept arguments of some events.

    Parameters
    ----------
    kind : str
        A key of :data:`FIELDS`.
    arguments : list
        Records with those fields.

    Returns
    -------
    ndarray of int64
        As :attr:`Kept.values`.
    """
    found = np.empty((len(arguments), len(FIELDS[kind])), np.int64)
    for column, name in enumerate(FIELDS[kind].values()):
        found[:, column] = _exact(list(map(attrgetter(name), arguments)))
    return found


def _exact(given: list[Any]) -> Any:
    """Return any JSON values as integers."""
    try:
        # takes nothing but integers, and those in less time than numpy
        return array("q", given)
    except (TypeError, OverflowError):
        return MISSING if given.count(None) == len(given) else list(map(exact_integer, given))
