"""``kinetoscope list PATH``: which runs, ranks and spans there are."""

from __future__ import annotations

import sys

import typer

from kinetoscope.cli.output import Format, clean, write
from kinetoscope.cli.show import ranks_by
from kinetoscope.schema import IDENTITY, Column

_MOST = 1000

HELP = "List the runs, ranks and spans below a folder, without reading them."


def list_traces(
    path: str = typer.Argument(help="A folder with traces, or one trace file."),
    how: Format = typer.Option(Format.table, "--format", help="How to print."),
    rank_pattern: str | None = typer.Option(
        None, help="Regular expression with a group: the rank, in the path of a file."
    ),
) -> None:
    """List the traces at a path."""
    import pandas as pd

    from kinetoscope.job import open_logdir
    from kinetoscope.reading.storage import Fingerprint
    from kinetoscope.source import as_text

    columns = (
        IDENTITY["run"],
        IDENTITY["rank"],
        IDENTITY["span"],
        Column("worker", "", "text", "Name of the process, as the file name has it."),
        Column("file", "", "text", "File name."),
        Column("bytes", "bytes", "integer", "Size on disk."),
    )
    job = open_logdir(path, ranks_by(rank_pattern))
    rows = [
        (
            as_text(source.run),
            source.rank,
            source.span,
            as_text(source.worker),
            as_text(source.path.rpartition("/")[2]),
            Fingerprint.of(source.path).bytes,
        )
        for source in job.traces()
    ]
    frame = pd.DataFrame(rows, columns=[column.name for column in columns]).astype({"rank": "Int64"})
    write(
        frame, columns, {"view": "list", "trace": {"path": str(path)}}, how, None if how is not Format.table else _MOST
    )
    for problem in job.problems:
        print(f"left out: {clean(problem.path)}: {problem.message}", file=sys.stderr)
