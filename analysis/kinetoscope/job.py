"""Many traces together: runs, their ranks, and the spans of each rank; nothing is read until it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from kinetoscope.errors import AmbiguousTraceError, ChoiceError, KinetoscopeError, NotATraceError
from kinetoscope.loading import load_file
from kinetoscope.reading.discover import Found, Problem, Ranks, TraceFile, discover
from kinetoscope.reading.progress import Listener, ignore
from kinetoscope.source import Source, as_text
from kinetoscope.trace import Trace

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Rank:
    """One process of a run.

    Parameters
    ----------
    rank : int or None
        Its rank; ``None`` for a lone process that does not say.
    worker : str
        Its name in the file names.
    spans : tuple of Source
        Its recordings in time order, numbered from 1.
    """

    rank: int | None
    worker: str
    spans: tuple[Source, ...]

    @property
    def label(self) -> str:
        """What people call it."""
        return self.worker if self.rank is None else f"rank {self.rank}"


@dataclass(frozen=True)
class Run:
    """A folder with traces of one job.

    Parameters
    ----------
    name : str
        Path of the folder relative to the log directory, ``"."`` for itself.
    ranks : tuple of Rank
    """

    name: str
    ranks: tuple[Rank, ...]


class Job:
    """What a log directory, or a single file, holds.

    Attributes
    ----------
    path : str
    runs : tuple of Run
    problems : tuple of Problem
        Files and folders that are left out, and why.
    """

    def __init__(self, path: str | os.PathLike[str], found: Found) -> None:
        self.path = os.fspath(path)
        self.folders = found.folders
        self.runs = _runs(found.files)
        of_ranks = (_rank_problems(run, [file for file in found.files if file.run == run.name]) for run in self.runs)
        self.problems: tuple[Problem, ...] = (*found.problems, *chain.from_iterable(of_ranks))

    def __repr__(self) -> str:
        ranks = sum(len(run.ranks) for run in self.runs)
        return f"<Job {self.path!r}: {len(self.runs)} runs, {ranks} ranks, {len(self.sources())} traces>"

    def sources(self, rank: int | None = None, span: int | str | None = None) -> list[Source]:
        """List traces.

        Parameters
        ----------
        rank, span : int, optional
            Only traces of this rank, or this span.

        Returns
        -------
        list of Source

        Raises
        ------
        ChoiceError
            When there is no such rank or span.
        NotATraceError
            When there are no traces at all.
        """
        every = [source for run in self.runs for process in run.ranks for source in process.spans]
        chosen = [source for source in every if rank is None or source.rank == rank]
        if every and not chosen:
            raise ChoiceError.of("rank", rank, sorted({source.rank for source in every if source.rank is not None}))
        of_rank = chosen
        chosen = [source for source in chosen if span is None or source.span == str(span)] or _lettered(of_rank, span)
        if of_rank and not chosen:
            raise ChoiceError.of("span", span, dict.fromkeys(source.span for source in of_rank))
        return chosen

    def traces(self) -> list[Source]:
        """List traces, or say that there are none.

        Raises
        ------
        NotATraceError
            When there are none.
        """
        every = self.sources()
        if not every:
            raise NotATraceError(
                _nothing(self), where=self.path, hint="record with torch.profiler and tensorboard_trace_handler"
            )
        return every

    def load(self, rank: int | None = None, span: int | str | None = None, tell: Listener = ignore) -> Trace:
        """Read the one trace that is meant.

        Parameters
        ----------
        rank, span : int, optional
            Needed where several fit.
        tell : callable, optional
            Hears of progress.

        Returns
        -------
        Trace

        Raises
        ------
        AmbiguousTraceError
            When several fit.
        KinetoscopeError
            When there is none, or it cannot be read.
        """
        self.traces()
        chosen = self.sources(rank, span)
        if len(chosen) > 1:
            names = ", ".join(_called(source) for source in chosen[:8])
            more = f" and {len(chosen) - 8} more" if len(chosen) > 8 else ""
            raise AmbiguousTraceError(
                f"{len(chosen)} traces fit: {names}{more}",
                where=self.path,
                hint="give rank and span, or the path of one file",
            )
        return load_file(chosen[0], tell)

    def view(
        self,
        name: str,
        /,
        sources: Sequence[Source] | None = None,
        executor: Executor | None = None,
        fix: Sequence[str] = (),
        **parameters: Any,
    ) -> pd.DataFrame:
        """Ask one question to several traces.

        Parameters
        ----------
        name : str
            A view.
        sources : sequence of Source, optional
            The traces; all by default.
        executor : concurrent.futures.Executor, optional
            Where to read them: a process pool, or a cluster's.
        fix : sequence of str, optional
            Fixes to apply to each, as :meth:`kinetoscope.trace.Trace.fixed` has them.
        **parameters
            The view's.

        Returns
        -------
        pandas.DataFrame
            The view's rows of all of them, with ``rank`` and ``span`` (and ``run`` where there are several) first. What could not be read is in
            ``attrs["failures"]``.
        """
        chosen = list(self.traces() if sources is None else sources)
        work = [(source, name, tuple(fix), parameters) for source in chosen]
        answers: Iterable[pd.DataFrame | KinetoscopeError] = (
            executor.map(_answer, work) if executor else map(_answer, work)
        )
        return _together(chosen, answers)


def _together(sources: Sequence[Source], answers: Iterable[pd.DataFrame | KinetoscopeError]) -> pd.DataFrame:
    """Put the answers of several traces under each other, the identity of each before its rows."""
    import pandas as pd

    frames, failures, notes = [], [], []
    several = len({source.run for source in sources}) > 1
    for source, answer in zip(sources, answers, strict=True):
        if isinstance(answer, KinetoscopeError):
            failures.append(answer)
            continue
        notes += [f"{_called(source)}: {note}" for note in answer.attrs.get("notes", [])]
        rank = pd.array([source.rank] * len(answer), dtype="Int64")
        identity = {"rank": rank, "span": source.span} | ({"run": as_text(source.run)} if several else {})
        frames.append(pd.DataFrame(identity, index=answer.index).join(answer))
    if not frames:
        raise failures[0]
    result = pd.concat(frames, ignore_index=True)
    result.attrs = {"notes": notes, "failures": failures}
    return result


def _answer(work: tuple[Source, str, tuple[str, ...], dict[str, Any]]) -> pd.DataFrame | KinetoscopeError:
    """Read one trace and ask it; an error is an answer too, so that one bad file costs only itself."""
    source, name, fix, parameters = work
    try:
        return load_file(source).fixed(*fix).view(name, **parameters)
    except ChoiceError:
        raise
    except KinetoscopeError as error:
        return error


def open_logdir(path: str | os.PathLike[str], ranks: Ranks | None = None) -> Job:
    """List the runs, ranks and spans below a path, without reading any.

    Parameters
    ----------
    path : str or path
        A log directory, or one trace file; an address such as ``s3://bucket/folder`` is read through fsspec.
    ranks : mapping or callable, optional
        Ranks where the user knows better than the files: by pattern of the file's name or path, or by a function of the path.

    Returns
    -------
    Job

    Raises
    ------
    UnreadableError
        When the path is not there or cannot be listed.
    """
    return Job(path, discover(path, ranks))


def load(
    path: str | os.PathLike[str], rank: int | None = None, span: int | str | None = None, tell: Listener = ignore
) -> Trace:
    """Read a trace.

    Parameters
    ----------
    path : str or path
        A trace file, plain or gzip, or a folder that holds traces.
    rank, span : int, optional
        Which, where a folder holds several.
    tell : callable, optional
        Hears of progress.

    Returns
    -------
    Trace

    Raises
    ------
    AmbiguousTraceError
        When several traces fit; the message names them.
    KinetoscopeError
        When there is none, or it cannot be read.
    """
    return open_logdir(path).load(rank, span, tell)


def _called(source: Source) -> str:
    """Return what to call a trace in a message."""
    who = source.worker if source.rank is None else f"rank {source.rank}"
    run = "" if source.run == "." else f"{source.run} "
    return f"{run}{who} span {source.span}"


def _nothing(job: Job) -> str:
    """Say what a folder without traces holds instead."""
    if not job.problems:
        return "no traces here: no .json or .gz file in the folder or below"
    first = job.problems[0]
    return f"no traces here: {len(job.problems)} files are none ({Path(first.path).name}: {first.message})"


def _runs(files: list[TraceFile]) -> tuple[Run, ...]:
    """Group files by run, and in it by rank and worker."""
    by_run: dict[str, list[TraceFile]] = {}
    for file in files:
        by_run.setdefault(file.run, []).append(file)
    return tuple(Run(name, _ranks(by_run[name])) for name in sorted(by_run))


def _ranks(files: list[TraceFile]) -> tuple[Rank, ...]:
    """Group a run's files by rank; processes that do not say are numbered by name where there are several."""
    groups: dict[tuple[bool, int, str], list[TraceFile]] = {}
    for file in files:
        key = (True, 0, file.worker) if file.rank is None else (False, file.rank, "")
        groups.setdefault(key, []).append(file)
    unnamed = all(key[0] for key in groups) and len(groups) > 1
    ranks = []
    for position, key in enumerate(sorted(groups)):
        members = sorted(groups[key], key=lambda file: (file.stamp, file.path))
        rank = members[0].rank if members[0].rank is not None or not unnamed else position
        numbered = [
            (file, name) for number, file in enumerate(members, 1) for name in _span_names(number, file.documents)
        ]
        spans = tuple(Source(file.path, file.run, rank, name, file.worker, len(groups)) for file, name in numbered)
        ranks.append(Rank(rank, members[0].worker, spans))
    return tuple(ranks)


def _span_names(number: int, documents: int) -> list[str]:
    """Return what the spans of one file are called: a number, and a letter where it holds several traces."""
    if documents < 2:
        return [str(number)]
    return [f"{number}{letter}" for letter in ascii_lowercase[:documents]]


def _rank_problems(run: Run, files: list[TraceFile]) -> list[Problem]:
    """Say which ranks are missing, and which have traces of several processes."""
    problems = []
    size = max((file.world_size for file in files), default=0)
    found = {file.rank for file in files}
    missing = [rank for rank in range(size) if rank not in found]
    if missing and len(missing) < size:
        listed = ", ".join(map(str, missing[:8])) + (" …" if len(missing) > 8 else "")
        message = f"{len(missing)} of {size} ranks have no trace here: {listed}"
        problems.append(Problem(run.name, "missing-ranks", message))
    for rank in sorted({file.rank for file in files if file.rank is not None}):
        workers = sorted({file.worker for file in files if file.rank == rank})
        if len(workers) > 1:
            message = f"rank {rank} has traces of {len(workers)} processes ({', '.join(workers[:3])}); they are spans of one rank"
            problems.append(Problem(run.name, "two-writers", message))
    return problems


def _lettered(sources: list[Source], span: int | str | None) -> list[Source]:
    """Return the traces of a span such as ``1b``, of files too large to be searched for a second trace when they are listed."""
    name = str(span)
    if not (name[:-1].isdigit() and name[-1:] in tuple(ascii_lowercase)):
        return []
    return [replace(source, span=name) for source in sources if source.span == name[:-1]]
