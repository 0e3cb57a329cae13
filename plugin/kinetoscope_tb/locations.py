"""Where to look for traces: what ``--logdir`` and ``--logdir_spec`` mean."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from kinetoscope.reading import storage

_REMOTE = re.compile(r"[a-zA-Z][0-9a-zA-Z.+-]*://")


@dataclass(frozen=True)
class Root:
    """A folder to look in.

    Parameters
    ----------
    name : str
        What its runs and files are prefixed with; ``""`` for nothing.
    path : str
    """

    name: str
    path: str

    def run(self, name: str) -> str:
        """Return what a run of this folder is called."""
        if not self.name:
            return name
        return self.name if name == "." else f"{self.name}/{name}"

    def file(self, path: str) -> str:
        """Return a path below the folder as the page shows it: relative to the log folder."""
        below = storage.of(self.path).relative(path, self.path)
        if below == ".":
            below = Path(self.path).name
        return f"{self.name}/{below}" if self.name else below


def roots(logdir: str | None, logdir_spec: str | None) -> list[Root]:
    """Return the folders that TensorBoard was started with.

    Parameters
    ----------
    logdir : str or None
        One folder, as typed.
    logdir_spec : str or None
        ``name1:/path1,/path2``, read as TensorBoard reads it.

    Returns
    -------
    list of Root
        Names differ; a folder without one is called by its last part where there are several.
    """
    if logdir:
        return [Root("", _local(logdir))]
    named = [_split(one) for one in (logdir_spec or "").split(",") if one]
    several = len(named) > 1
    found: list[Root] = []
    for name, path in named:
        wanted = name or (Path(path).name if several else "")
        found.append(Root(_unlike(wanted, [root.name for root in found]) if wanted else "", path))
    return found


def _split(specification: str) -> tuple[str, str]:
    """Split ``name:path``; a path may itself hold a colon, be a remote address, or begin with a Windows drive."""
    plain = _REMOTE.match(specification) or specification[0] == "/" or os.path.splitdrive(specification)[0]
    if plain or ":" not in specification:
        return "", _local(specification)
    name, _, path = specification.partition(":")
    return name, _local(path)


def _local(path: str) -> str:
    """Return a local path from the root on; Path would follow links, and fail on the home of nobody."""
    return path if _REMOTE.match(path) else os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111


def _unlike(name: str, taken: list[str]) -> str:
    number, unlike = 1, name
    while unlike in taken:
        number += 1
        unlike = f"{name}-{number}"
    return unlike
