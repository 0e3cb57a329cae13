"""What is compared: each case is a job in an environment, with or without Kinetoscope's cache."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Case(NamedTuple):
    """One thing that is measured in every round.

    Parameters
    ----------
    name : str
        Its key in the results.
    job : str
        One of :data:`benchmarks.jobs.JOBS`.
    mark : str
        The stage at which its work is done.
    label : str
        What tables and plot call it.
    peer : bool
        Whether it runs in the environment of the other tools.
    cache : {"off", "kept"}
        Whether Kinetoscope finds the trace in its cache.
    """

    name: str
    job: str
    mark: str
    label: str
    peer: bool = False
    cache: Literal["off", "kept"] = "off"


CASES = (
    Case("json_dicts", "json_dicts", "dicts", "gzip + json.loads: dicts"),
    Case("orjson_dicts", "orjson_dicts", "dicts", "isal + orjson: dicts"),
    Case("orjson_floor", "orjson_floor", "dicts", "isal + orjson, collector off: dicts"),
    Case("hta_frames", "hta_frames", "frames", "HolisticTraceAnalysis: one frame", peer=True),
    Case("frames", "frames", "frames", "Kinetoscope: all frames"),
    Case("tensorboard_views", "tensorboard_views", "views", "torch_tb_profiler: all pages", peer=True),
    Case("views", "views", "views", "Kinetoscope: all pages"),
    Case("cold_overview", "overview", "overview", "Kinetoscope: first view"),
    Case("warm_overview", "overview", "overview", "Kinetoscope: first view, cached", cache="kept"),
)
BY_NAME = {case.name: case for case in CASES}
