"""From a file to a trace."""

from __future__ import annotations

import os

from kinetoscope.reading.columns import build
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
    losses = Losses()
    decoded = decode(read_text(path, tell, losses), path, tell, losses, source.document)
    tell(Progress("link", 0, 0, decoded.columns.count))
    trace = Trace(build(decoded), decoded.metadata, source, fingerprint, decoded.losses)
    tell(Progress("done", 0, 0, decoded.columns.count))
    return trace
