"""What became of every event of a file."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from kinetoscope.reading.columns import Account, Flags
from kinetoscope.reading.gather import PAIRED_END, Gatherer


def account(raw: Gatherer, kind: npt.NDArray[np.int8], linking: Flags, bad: Flags) -> list[Account]:
    """Account for every event of the file.

    Parameters
    ----------
    raw : Gatherer
    kind : ndarray of int8
        Code of each event's kind, -1 for what is no event.
    linking, bad : ndarray of bool
        Which tie forward to backward, and which could not be read.

    Returns
    -------
    list of Account
    """
    phase_texts = dict(enumerate(raw.phases.listed))
    category_texts = dict(enumerate(raw.categories.listed))
    fate = np.where(bad, 3, np.where(kind >= 0, 0, np.where(linking, 1, 2)))
    widths = (len(phase_texts), len(category_texts), 4)
    if raw.count:
        counts = np.bincount(np.ravel_multi_index((raw.array("phase"), raw.array("category"), fate), widths))
    else:
        counts = np.empty(0, np.int64)
    sums: Counter[tuple[str, str, bool]] = Counter()
    for key in np.flatnonzero(counts).tolist():
        phase, category, what = (int(part) for part in np.unravel_index(key, widths))
        count = int(counts[key])
        text = category_texts[category] or "no category"
        reason, kept = _fate(phase_texts[phase], what)
        sums[f"{phase_texts[phase] or 'no phase'} {text}", reason, kept] += count
    return [Account(what, reason, count, kept) for (what, reason, kept), count in sorted(sums.items())]


def _fate(phase: str, what: int) -> tuple[str, bool]:
    """Say what became of events of a phase."""
    if what == 0:
        return "event", True
    if what == 1:
        return "forward-backward link", True
    if what == 3:
        return "not a readable event", False
    reasons = {
        "M": ("names of processes and threads", True),
        "s": ("launch arrow: the correlation id says the same", False),
        "f": ("launch arrow: the correlation id says the same", False),
        "t": ("launch arrow: the correlation id says the same", False),
        "B": ("begin that is never closed", False),
        "E": ("end that closes nothing", False),
        PAIRED_END: ("end of a begin-end pair", True),
        **dict.fromkeys(("i", "I", "n", "C"), ("mark without a time", False)),
    }
    return reasons.get(phase, ("unknown phase", False))
