"""Kinetoscope: where the time of a PyTorch program goes.

>>> import kinetoscope as ks
>>> trace = ks.load("log/run1/worker0.pt.trace.json.gz")     # doctest: +SKIP
>>> trace.view("kernels", by="op")                           # doctest: +SKIP

Public names: :func:`load`, :func:`open_logdir`, :class:`Trace`, :class:`Job`, :mod:`views <kinetoscope.views>`, :class:`KinetoscopeError`. Heavy
packages are imported when a name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kinetoscope._version import __version__
from kinetoscope.errors import KinetoscopeError

if TYPE_CHECKING:
    from kinetoscope import views
    from kinetoscope.job import Job, load, open_logdir
    from kinetoscope.trace import Trace

__all__ = ["Job", "KinetoscopeError", "Trace", "__version__", "load", "open_logdir", "views"]

_PLACES = {"load": "job", "open_logdir": "job", "Job": "job", "Trace": "trace"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "views":
        return import_module("kinetoscope.views")
    if name in _PLACES:
        return getattr(import_module(f"kinetoscope.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'kinetoscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
