"""Write a frame as a table for people, as CSV, or as strict JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from kinetoscope.schema import Column

if TYPE_CHECKING:
    import pandas as pd

TABLE_LIMIT = 40
_NAME_WIDTH = 110
_TAIL = 48
_WHOLE = 1 << 30
_PROSE = ("detail", "hint", "definition")


class Format(str, Enum):
    """How to write."""

    table = "table"
    csv = "csv"
    json = "json"


def write(
    frame: pd.DataFrame,
    columns: Sequence[Column],
    about: dict[str, Any],
    how: Format,
    limit: int | None,
    *,
    wide: bool = False,
) -> None:
    """Write a frame to standard output.

    Parameters
    ----------
    frame : pandas.DataFrame
    columns : sequence of Column
        Meaning of its columns, in their order.
    about : dict
        ``view`` and ``trace``, for JSON.
    how : Format
    limit : int or None
        Most rows to write; by default all, 40 for a table.
    wide : bool
        Leave long names of a table whole.
    """
    notes = list(frame.attrs.get("notes", []))
    most = TABLE_LIMIT if limit is None and how is Format.table else limit
    if most is not None and len(frame) > most:
        notes.append(f"{most:,} of {len(frame):,} rows; --limit shows more")
        frame = frame.head(most)
    if how is Format.json:
        _write_json(frame, columns, about, notes)
    elif how is Format.csv:
        _write_csv(frame, columns)
        _tell(notes)
    else:
        _write_table(frame, columns, _WHOLE if wide else _NAME_WIDTH)
        _tell(notes)


def _tell(notes: Sequence[str]) -> None:
    for note in notes:
        print(f"note: {clean(note)}", file=sys.stderr)


def values(frame: pd.DataFrame, columns: Sequence[Column]) -> dict[str, list[Any]]:
    """Return a frame's columns as plain Python values, with None for what is missing.

    Parameters
    ----------
    frame : pandas.DataFrame
    columns : sequence of Column

    Returns
    -------
    dict of str to list
    """
    plain: dict[str, list[Any]] = {}
    for column in columns:
        series = frame[column.name]
        missing = series.isna().to_numpy()
        listed = series.astype(object).tolist()
        plain[column.name] = [None if gone else value for gone, value in zip(missing, listed, strict=True)]
    return plain


def _write_json(frame: pd.DataFrame, columns: Sequence[Column], about: dict[str, Any], notes: Sequence[str]) -> None:
    import json

    plain = values(frame, columns)
    names = list(plain)
    document = {
        **about,
        "columns": [
            {"name": column.name, "unit": column.unit, "description": column.description} for column in columns
        ],
        "rows": [dict(zip(names, row, strict=True)) for row in zip(*plain.values(), strict=True)],
        "notes": list(notes),
    }
    # json.dump would write piece by piece, ten times as slowly
    print(json.dumps(document, allow_nan=False, ensure_ascii=False))


def _write_csv(frame: pd.DataFrame, columns: Sequence[Column]) -> None:
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    plain = values(frame, columns)
    texts = [[_csv_value(value, column) for value in plain[column.name]] for column in columns]
    writer.writerows(zip(*texts, strict=True))


def _csv_value(value: Any, column: Column) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if column.unit == "µs":
        return f"{value:.3f}"
    if column.unit == "%":
        return f"{value:.6f}"
    return str(value)


def _write_table(frame: pd.DataFrame, columns: Sequence[Column], width: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console() if sys.stdout.isatty() else Console(width=10_000, color_system=None)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        unit = f"\n{column.unit}" if column.unit and column.unit != "%" else ""
        name = column.name.removesuffix("_us").removesuffix("_pct") + (" %" if column.unit == "%" else "")
        table.add_column(
            Text(name + unit), justify="left" if column.type == "text" else "right", no_wrap=column.name not in _PROSE
        )
    plain = values(frame, columns)
    units = plain.get("unit", [""] * len(frame))
    cells = [
        [
            Text(_shortened(_cell(value, column, unit), column, width))
            for value, unit in zip(plain[column.name], units, strict=True)
        ]
        for column in columns
    ]
    for row in zip(*cells, strict=True):
        table.add_row(*row)
    console.print(table, soft_wrap=False)


def _shortened(text: str, column: Column, width: int) -> str:
    """Cut the middle of long names: what tells C++ kernels apart stands at the end as often as at the beginning."""
    if column.type != "text" or column.name in _PROSE or len(text) <= width:
        return text
    return f"{text[: width - _TAIL - 1]}…{text[-_TAIL:]}"


def _cell(value: Any, column: Column, unit: str) -> str:
    """Return a value as people read it; ``unit`` is that of its row, where the column has none."""
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if "µs" in (column.unit, unit) and isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, float):
        return f"{value:,.1f}" if "%" in (column.unit, unit) else f"{value:,.3f}".rstrip("0").rstrip(".")
    if isinstance(value, int):
        return str(value) if column.name in _IDENTIFIERS else f"{value:,}"
    return clean(value)


_IDENTIFIERS = frozenset(
    {"rank", "span", "step", "device", "stream", "id", "gap", "next_id", "launch_id", "previous_id"}
)


def clean(text: object) -> str:
    """Return text from a trace so that it cannot steer a terminal."""
    return "".join(c if c.isprintable() else "�" for c in str(text))
