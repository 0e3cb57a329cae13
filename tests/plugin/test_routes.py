"""Requests, good and bad: every answer is JSON (or a tile, or a file of the page) with the right headers."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from build import TraceBuilder
from wire.serving import BASE, OURS, Served
from wire.tile import unpack

Serve = Callable[..., Served]

DATA = ("view", "info", "lanes", "names", "tile", "longest", "event", "neighbor", "search", "area", "path", "minimap")
HOSTILE = (
    "</script><script>alert(1)</script>",
    "x" * 100_000,
    '"\\\u2028\u0000\t',
    "\U0001f600 ünï",
    "__proto__",
    "=1+1",
)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """Return one plugin for all tests that only ask, and the trace that it has loaded."""
    folder = tmp_path_factory.mktemp("log")
    trace = TraceBuilder().step(0, 0, 100).op(5, 50, "aten::mm").launch(10, 20, 1)
    trace.kernel(30, 60, name="gemm", correlation=1).write(folder / "run" / "worker0.1750000000000.pt.trace.json")
    served = Served(folder)
    yield served, served.ready()
    served.close()


@pytest.mark.parametrize("route", ["runs", "session", *DATA])
def test_reading_takes_get_only(serve: Serve, logdir: Path, route: str) -> None:
    client = serve(logdir).client
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        response = client.open(BASE + route, method=method, headers=OURS)
        assert response.status_code == 405
        assert response.json["error"]["code"] == "method-not-allowed"
        assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_a_head_request_has_no_body(serve: Serve, logdir: Path) -> None:
    response = serve(logdir).client.head(BASE + "runs")
    assert (response.status_code, response.data, response.content_type) == (200, b"", "application/json")


@pytest.mark.parametrize("route", ["cancel", "reload"])
def test_changing_anything_is_for_our_page_only(serve: Serve, logdir: Path, route: str) -> None:
    served = serve(logdir)
    trace = served.ready()
    url = f"{BASE}{route}?trace={trace}"
    assert served.client.get(url).status_code == 405
    assert served.client.post(url).status_code == 403
    assert served.client.post(url, headers={"X-Kinetoscope": "yes"}).status_code == 403
    for origin in ("http://evil.example", "null", "http://localhost.evil.example", "http://localhost:81"):
        response = served.client.post(url, headers={**OURS, "Origin": origin})
        assert (response.status_code, response.json["error"]["code"]) == (403, "forbidden")
    assert served.client.post(url, headers={**OURS, "Origin": "http://localhost"}).status_code == 200
    behind = {**OURS, "Origin": "https://hub.example", "X-Forwarded-Host": "hub.example"}
    assert served.client.post(url, headers=behind).status_code == 200
    assert served.client.post(f"{BASE}{route}?trace=0123", headers=OURS).status_code == 404


@pytest.mark.parametrize(
    "trace",
    [
        "0123456789abcdef",
        "/etc/passwd",
        "../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "run/worker0.1750000000000.pt.trace.json",
        "C:\\x",
        "\0",
        "🙂",
        "a" * 900,
    ],
)
def test_a_trace_that_was_not_found_has_no_answer(opened: tuple[Served, str], trace: str) -> None:
    served, _ = opened
    assert served.problem(404, "session", trace=trace)["code"] == "unknown-trace"
    assert served.problem(404, "lanes", trace=trace)["code"] == "unknown-trace"
    assert served.client.get(f"{BASE}session?trace={trace}").status_code == 404


def test_a_trace_must_be_named(opened: tuple[Served, str]) -> None:
    served, _ = opened
    for route in ("session", "lanes", "names"):
        assert "'trace'" in served.problem(400, route)["message"]
    assert served.problem(400, "session", trace="a" * 5000)["code"] == "bad-parameter"


def test_a_trace_that_is_not_open_is_a_conflict(serve: Serve, logdir: Path) -> None:
    served = serve(logdir)
    assert served.problem(409, "names", trace=served.traces()[0])["code"] == "not-loaded"


@pytest.mark.parametrize(
    ("route", "query", "word"),
    [
        ("tile", {"rows": "0", "t0": 5, "t1": 5, "px": 10}, "greater than t0"),
        ("tile", {"rows": "0", "t0": 5, "t1": 4, "px": 10}, "greater than t0"),
        ("tile", {"rows": "0", "t0": 0, "t1": 9, "px": 0}, "'px'"),
        ("tile", {"rows": "0", "t0": 0, "t1": 9, "px": 8193}, "'px'"),
        ("tile", {"rows": "0", "t0": 0, "t1": 9}, "'px' is missing"),
        ("tile", {"rows": "", "t0": 0, "t1": 9, "px": 10}, "'rows' is missing"),
        ("tile", {"rows": "0-", "t0": 0, "t1": 9, "px": 10}, "0-4,7"),
        ("tile", {"rows": "4-2", "t0": 0, "t1": 9, "px": 10}, "0-4,7"),
        ("tile", {"rows": "-1", "t0": 0, "t1": 9, "px": 10}, "0-4,7"),
        ("tile", {"rows": "0,,1", "t0": 0, "t1": 9, "px": 10}, "0-4,7"),
        ("tile", {"rows": "1e3", "t0": 0, "t1": 9, "px": 10}, "0-4,7"),
        ("tile", {"rows": "٣", "t0": 0, "t1": 9, "px": 10}, "0-4,7"),
        ("tile", {"rows": "0-99999999", "t0": 0, "t1": 9, "px": 10}, "more than"),
        ("tile", {"rows": "0-9999999999", "t0": 0, "t1": 9, "px": 10}, "0-4,7"),
        ("tile", {"rows": "0," * 40_000, "t0": 0, "t1": 9, "px": 10}, "longer than"),
        ("tile", {"rows": "0", "t0": "1.5", "t1": 9, "px": 10}, "'t0'"),
        ("tile", {"rows": "0", "t0": 0, "t1": "9" * 5000, "px": 10}, "'t1'"),
        ("tile", {"rows": "0", "t0": 0, "t1": 2**53 + 1, "px": 10}, "'t1'"),
        ("tile", {"rows": "99999", "t0": 0, "t1": 9, "px": 10}, "99999"),
        ("longest", {"count": 1}, "'entry' is missing"),
        ("longest", {"entry": 0, "count": 0}, "'count'"),
        ("area", {"rows": "0", "t0": 0, "t1": "NaN"}, "'t1'"),
        ("area", {"rows": "9999", "t0": 0, "t1": 10}, "9999"),
        ("event", {}, "'id' is missing"),
        ("event", {"id": "one"}, "whole number"),
        ("event", {"id": -1}, "whole number"),
        ("neighbor", {"id": 0, "by": 0}, "1 or -1"),
        ("neighbor", {"id": 0, "by": 2}, "'by'"),
        ("search", {}, "'q' is missing"),
        ("search", {"q": "x", "limit": 0}, "'limit'"),
        ("search", {"q": "x", "limit": 100_001}, "'limit'"),
        ("search", {"q": "x" * 10_001}, "longer than"),
        ("minimap", {"px": "many"}, "'px'"),
        ("view", {}, "'view' is missing"),
        ("view", {"view": "kernels", "by": "colour"}, "name, op, name,op, config, stream, step, category"),
        ("view", {"view": "kernels", "start_us": "soon"}, "start_us"),
        ("view", {"view": "kernels", "start_us": "nan"}, "start_us"),
        ("view", {"view": "kernels", "end_us": "inf"}, "end_us"),
        ("view", {"view": "kernels", "nonsense": "1"}, "nonsense"),
    ],
)
def test_bad_parameters_are_told_in_a_sentence(
    opened: tuple[Served, str], route: str, query: dict[str, Any], word: str
) -> None:
    served, trace = opened
    assert word in served.problem(400, route, trace=trace, **query)["message"]


@pytest.mark.parametrize(
    ("route", "query"),
    [("view", {"view": "colours"}), ("event", {"id": 99}), ("neighbor", {"id": 99, "by": 1}), ("event", {"id": 2**40})],
)
def test_what_is_not_there_is_not_found(opened: tuple[Served, str], route: str, query: dict[str, Any]) -> None:
    served, trace = opened
    served.problem(404, route, trace=trace, **query)


def test_an_empty_choice_or_bound_counts_as_left_out(opened: tuple[Served, str]) -> None:
    served, trace = opened
    assert served.json("view", trace=trace, view="kernels", by="", start_us="", end_us="")["rows"] == 1
    served.problem(400, "view", trace=trace, view="kernels", nonsense="")


def test_an_empty_value_asks_for_rows_without_one(serve: Serve, tmp_path: Path) -> None:
    trace = TraceBuilder().step(0, 0, 100).op(5, 50, "aten::mm").launch(10, 20, 1).kernel(30, 60, correlation=1)
    trace.kernel(70, 80, args={"registers per thread": 32, "grid": [2, 1, 1]}).write(tmp_path / "worker.pt.trace.json")
    served = serve(tmp_path)
    shown = served.ready()

    def starts(**asked: str) -> list[float]:
        return served.json("view", trace=shown, view="kernel_calls", **asked)["data"]["start_us"]

    assert starts() == [30, 70]
    assert starts(op="") == starts(step="") == [70]
    assert starts(op="aten::mm") == starts(registers="") == [30]
    assert starts(grid="2, 1, 1", registers="32") == [70]
    assert starts(op="", start_us="", end_us="60") == []
    assert served.json("view", trace=shown, view="kernels", step="")["data"]["calls"] == [1]


def test_a_tile(opened: tuple[Served, str]) -> None:
    served, trace = opened
    rows = served.json("lanes", trace=trace)["rows"]
    response = served.get("tile", trace=trace, rows=f"0-{rows - 1}", t0=-1000, t1=200_000, px=100)
    assert (response.status_code, response.content_type) == (200, "application/octet-stream")
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert (
        "Content-Encoding" not in served.client.get(response.request.url, headers={"Accept-Encoding": "gzip"}).headers
    )
    tile = unpack(response.data)
    assert tile["t0"] == -1000
    assert tile["n"] >= 4


def test_a_tile_travels_packed_where_the_browser_takes_it(serve: Serve, tmp_path: Path) -> None:
    trace = TraceBuilder()
    for at in range(400):
        trace.kernel(10 * at, 10 * at + 1 + at % 7)
    trace.write(tmp_path / "worker.pt.trace.json")
    served = serve(tmp_path)
    url = served.get("tile", trace=served.ready(), rows="3", t0=0, t1=4_000_000, px=4000).request.url
    plain, packed = (served.client.get(url, headers={"Accept-Encoding": one}) for one in ("identity", "gzip"))
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert len(packed.data) < len(plain.data) / 2
    assert unpack(plain.data)["n"] == 400


def test_the_longest_of_some_bars(opened: tuple[Served, str]) -> None:
    served, trace = opened
    found = served.json("longest", trace=trace, entry=0, count=1)
    assert sorted(found) == ["duration_ns", "id", "kind", "name", "row", "start_ns"]
    assert served.problem(404, "longest", trace=trace, entry=10**6, count=1)["code"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_a_trace_come_back_as_they_are(serve: Serve, tmp_path: Path, name: str) -> None:
    trace = (
        TraceBuilder(host_name=name).op(0, 10, name, nasty=name).launch(1, 2, 1).kernel(3, 9, name=name, correlation=1)
    )
    trace.write(tmp_path / "worker.pt.trace.json")
    served = serve(tmp_path)
    shown = served.ready()
    response = served.get("view", trace=shown, view="kernels", by="name,op")
    assert response.content_type == "application/json"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.json["data"]["name"] == [name]
    assert served.json("event", trace=shown, id=0)["args"]["nasty"] == name
    assert name in served.json("names", trace=shown)["names"]
    assert served.json("search", trace=shown, q=name[:9000])["total"] == 2


def test_numbers_that_a_browser_would_round_are_text(serve: Serve, tmp_path: Path) -> None:
    trace = TraceBuilder().op(0, 10, "a", small=2**53 - 1, large=2**53 + 1, huge=-(10**30), inside=[{"deep": 2**60}])
    trace.write(tmp_path / "worker.pt.trace.json")
    served = serve(tmp_path)
    args = served.json("event", trace=served.ready(), id=0)["args"]
    assert args["small"] == 2**53 - 1
    assert args["large"] == str(2**53 + 1)
    assert args["inside"] == [{"deep": str(2**60)}]


def test_large_answers_are_packed_for_who_takes_that(serve: Serve, tmp_path: Path) -> None:
    trace = TraceBuilder()
    for number in range(300):
        trace.kernel(10 * number, 10 * number + 5, name=f"kernel {number}")
    trace.write(tmp_path / "worker.pt.trace.json")
    served = serve(tmp_path)
    url = f"{BASE}names?trace={served.ready()}"
    plain = served.client.get(url)
    packed = served.client.get(url, headers={"Accept-Encoding": "gzip, deflate, br"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data


def test_a_fault_of_ours_is_an_answer_too(
    opened: tuple[Served, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    served, trace = opened

    def fail(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(served.plugin.sessions, "ask", fail)
    with caplog.at_level(logging.ERROR, logger="kinetoscope"):
        problem = served.problem(500, "names", trace=trace)
    assert problem["code"] == "internal"
    assert "RuntimeError: boom" in problem["message"]
    assert "Traceback" not in json.dumps(problem)
    assert any(record.exc_info for record in caplog.records)


def test_no_answer_makes_tensorboard_warn(opened: tuple[Served, str], caplog: pytest.LogCaptureFixture) -> None:
    served, trace = opened
    with caplog.at_level(logging.WARNING):
        for route in ("index.js", "assets/x", "runs", "session", "cancel", "view", *DATA):
            served.get(route)
            served.get(route, trace=trace)
    assert "In 3.0" not in caplog.text
