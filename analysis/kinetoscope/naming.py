"""Recognise events by name, where the structure of a file does not tell: the last resort, by the patterns of ``data/names.json``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kinetoscope import schema


def matching(names: list[str], pattern: str) -> npt.NDArray[np.bool_]:
    """Tell which names fit a pattern.

    Parameters
    ----------
    names : list of str
    pattern : str
        A key of ``data/names.json``.

    Returns
    -------
    ndarray of bool
        One per name, and one more that is False: ``matching(...)[code]`` is False for the code -1, no name.
    """
    found = schema.pattern(pattern).search
    return np.array([*(bool(found(name)) for name in names), False], bool)
