"""From a file to a trace."""

from __future__ import annotations

import os

from kinetoscope.reading import cache
from kinetoscope.reading.classify import build
from kinetoscope.reading.decode import decode
from kinetoscope.reading.files import read_text
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
        decoded = decode(read_text(path, tell, lost), path, tell, lost, source.document)
        tell(Progress("link", 0, 0, decoded.columns.count))
        columns, metadata, losses = build(decoded), decoded.metadata, tuple(decoded.losses)
        if place:
            cache.keep(place, columns, metadata, losses)
    trace = Trace(columns, metadata, source, fingerprint, losses)
    tell(Progress("done", 0, 0, len(trace)))
    return trace
