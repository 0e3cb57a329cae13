"""``kinetoscope show VIEW PATH``: one view of one or many traces."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from kinetoscope.cli.output import Format, clean, write
from kinetoscope.errors import ChoiceError
from kinetoscope.schema import IDENTITY

if TYPE_CHECKING:
    import pandas as pd

    from kinetoscope.job import Job
    from kinetoscope.source import Source
    from kinetoscope.views.registry import View

HELP = "Print a view of the traces at a path."


class ShowCommand(TyperCommand):
    """The command, whose help lists the views and what each can be asked: read from the registry when help is asked for."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write what the command does, and the views."""
        from kinetoscope.views import registry

        del ctx

        formatter.write_paragraph()
        formatter.write_text(HELP)
        with formatter.section("Views"):
            formatter.write_dl([(name, _asked(view)) for name, view in registry.views().items()])
        formatter.write_paragraph()
        formatter.write_text("What the columns mean is in the output of --format json.")


def _asked(view: View) -> str:
    """Return a view's title, and its parameters as they are given here."""
    by = next((f"--by {'; '.join(one.choices)}" for one in view.parameters if one.name == "by"), "")
    where = [
        f"{one.name} ({'; '.join(one.choices)})" if one.choices else one.name
        for one in view.parameters
        if one.name != "by"
    ]
    return ". ".join(part for part in (view.title, by, f"--where {', '.join(where)}" if where else "") if part) + "."


def show(
    view: str = typer.Argument(help="The view to print."),
    path: str = typer.Argument(help="A trace file, or a folder with traces."),
    rank: int | None = typer.Option(None, help="Only this rank."),
    span: str | None = typer.Option(None, help="Only this span of each rank, from 1."),
    by: str | None = typer.Option(None, help="What a row is, for views that can be grouped."),
    where: list[str] = typer.Option(
        [], metavar="NAME=VALUE", help="A parameter of the view, such as step=6 or start_us=100; may be repeated."
    ),
    limit: int | None = typer.Option(None, min=0, help="Most rows; all for csv and json, 40 for a table."),
    how: Format = typer.Option(Format.table, "--format", help="How to print."),
    sort: str | None = typer.Option(None, help="Sort by this column, largest first; with a leading + smallest first."),
    wide: bool = typer.Option(False, "--wide", help="Do not cut long names in a table."),
    fix: list[str] = typer.Option([], help="Apply a fix: durations or clock; may be repeated. Raw figures without."),
    rank_pattern: str | None = typer.Option(
        None, help="Regular expression with a group: the rank, in the path of a file."
    ),
    max_bytes: int | None = typer.Option(None, min=1, help="Most bytes of JSON text to read (KINETOSCOPE_MAX_BYTES)."),
    max_events: int | None = typer.Option(None, min=1, help="Most events to read (KINETOSCOPE_MAX_EVENTS)."),
    strict: bool = typer.Option(False, "--strict", help="Exit 1 when health finds an error."),
) -> int:
    """Print a view of the traces at a path."""
    from kinetoscope.job import open_logdir
    from kinetoscope.loading import load_file
    from kinetoscope.source import as_text
    from kinetoscope.views import registry

    if not path:
        raise ChoiceError("the path is empty")
    set_limits(max_bytes, max_events)
    question = registry.get(view)
    parameters = _parameters(by, where, question)
    job = open_logdir(path, ranks_by(rank_pattern))
    job.traces()
    sources = job.sources(rank, span)
    if len(sources) == 1:
        trace = load_file(sources[0]).fixed(*fix)
        frame, own, source = question.run(trace, **parameters), [], sources[0]
        place = _place(as_text(source.path), as_text(source.run), source.rank, source.span, str(trace.origin_ns))
    else:
        frame = job.view(view, sources, fix=tuple(fix), **parameters)
        own = [name for name in frame.columns if name in IDENTITY]
        place = _place(path, None, rank, span, None)
    columns = [IDENTITY[name] for name in own] + question.describe(frame.drop(columns=own))
    failures = [str(failure) for failure in frame.attrs.get("failures", ())] + left_out(job)
    write(sorted_by(frame, sort), columns, {"view": view, "trace": place}, how, limit, wide=wide)
    for failure in failures:
        print(f"left out: {clean(failure)}", file=sys.stderr)
    return int(strict and (bool(failures) or _has_errors(job, sources, fix)))


def _has_errors(job: Job, sources: Sequence[Source], fix: Sequence[str]) -> bool:
    """Tell whether health finds an error in any of the traces."""
    return bool((job.view("health", sources, fix=fix)["severity"] == "error").any())


def left_out(job: Job) -> list[str]:
    """Return what could not be looked at; files that are no traces are of no interest here."""
    return [
        f"{problem.path}: {problem.message}" for problem in job.problems if problem.code in ("unreadable", "not-a-file")
    ]


def sorted_by(frame: pd.DataFrame, column: str | None) -> pd.DataFrame:
    """Return a frame sorted by one of its columns, largest first unless a + stands before its name."""
    if column is None:
        return frame
    name = column.removeprefix("+")
    if name not in frame.columns:
        raise ChoiceError.of("column", name, frame.columns)
    return frame.sort_values(name, ascending=column.startswith("+"), kind="stable")


def set_limits(max_bytes: int | None, max_events: int | None) -> None:
    """Set the limits of reading for this process and those it starts."""
    for name, value in (("KINETOSCOPE_MAX_BYTES", max_bytes), ("KINETOSCOPE_MAX_EVENTS", max_events)):
        if value is not None:
            os.environ[name] = str(value)


def ranks_by(pattern: str | None) -> Callable[[str], int | None] | None:
    """Return how the user's pattern tells a file's rank from its path."""
    if pattern is None:
        return None
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ChoiceError(f"--rank-pattern is no regular expression: {error}") from None

    def rank(path: str) -> int | None:
        found = compiled.search(path)
        text = (found.group(1) if compiled.groups else found.group()) if found else ""
        return int(text) if text and text.isdigit() else None

    return rank


def _place(path: str, run: str | None, rank: int | None, span: str | None, origin: str | None) -> dict[str, Any]:
    return {"path": path, "run": run, "rank": rank, "span": span, "origin_ns": origin}


def _parameters(by: str | None, where: list[str], question: Any) -> dict[str, Any]:
    """Collect the view's parameters, and check them before anything is read."""
    given: dict[str, Any] = {} if by is None else {"by": by}
    for text in where:
        name, equals, value = text.partition("=")
        if not equals:
            raise ChoiceError(f"--where takes NAME=VALUE, not {text!r}")
        if name in given:
            raise ChoiceError(f"--where gives {name} twice")
        given[name] = value
    known = {parameter.name: parameter for parameter in question.parameters}
    for name, value in given.items():
        if name not in known:
            raise ChoiceError.of(f"parameter of view {question.name!r}", name, known)
        known[name].parse(value)
    return given
