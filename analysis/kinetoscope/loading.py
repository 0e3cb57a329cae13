"""From a file to a trace."""

from __future__ import annotations

import os

from kinetoscope.reading import cache
from kinetoscope.reading.arguments import Arguments
from kinetoscope.reading.classify import build
from kinetoscope.reading.decode import decode_file
from kinetoscope.reading.losses import Losses
from kinetoscope.reading.progress import Listener, Progress, ignore
from kinetoscope.reading.storage import Fingerprint
from kinetoscope.source import Source
from kinetoscope.trace import Trace


def load_file(source: Source, tell: Listener = ignore) -> Trace:
    """Read one file into a trace.

    Parameters
    ----------
    source : Source
    tell : callable, optional
        Hears of progress.

    Returns
    -------
    Trace

    Raises
    ------
    KinetoscopeError
        When the file cannot be read, or is no trace.
    """
    path = os.fspath(source.path)
    fingerprint = Fingerprint.of(path)
    tell(Progress("start", 0, fingerprint.bytes))
    place = cache.place_of(source, fingerprint)
    kept = cache.load(place) if place else None
    if kept:
        columns, metadata, losses = kept
    else:
        lost = Losses()
        decoded = decode_file(path, tell, lost, source.document)
        tell(Progress("link", 0, 0, decoded.columns.count))
        columns, metadata, losses = build(decoded, tell=tell), decoded.metadata, tuple(decoded.losses)
        if place:
            cache.keep(place, columns, metadata, losses)
    arguments = Arguments(source, columns, None, place, fingerprint)
    trace = Trace(columns, metadata, source, fingerprint, losses, arguments)
    tell(Progress("done", 0, 0, len(trace)))
    return trace
