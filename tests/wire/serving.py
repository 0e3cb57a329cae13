"""TensorBoard with only our plugin in it, in this process: what the tests of the plugin ask."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tensorboard.backend import application
from tensorboard.plugins import base_plugin
from werkzeug.test import Client, TestResponse
from werkzeug.wrappers import Response

from kinetoscope_tb.plugin import KinetoscopePlugin

if TYPE_CHECKING:
    from pathlib import Path

BASE = "/data/plugin/kinetoscope/"
OURS = {"X-Kinetoscope": "1"}
PATIENCE_S = 30.0


def context(logdir: Path | str | None, spec: str = "") -> base_plugin.TBContext:
    """Return what TensorBoard hands to a plugin."""
    text = "" if logdir is None else str(logdir)
    return base_plugin.TBContext(logdir=text, flags=SimpleNamespace(logdir=text, logdir_spec=spec))


class Served:
    """A running plugin, asked over WSGI.

    Parameters
    ----------
    logdir, spec
        As in ``--logdir`` and ``--logdir_spec``.
    """

    def __init__(self, logdir: Path | str | None, spec: str = "") -> None:
        self.plugin = KinetoscopePlugin(context(logdir, spec))
        self.client = Client(application.TensorBoardWSGI([self.plugin]), Response)

    def get(self, path: str, **query: Any) -> TestResponse:
        return self.client.get(BASE + path, query_string={name: str(value) for name, value in query.items()})

    def json(self, path: str, **query: Any) -> Any:
        response = self.get(path, **query)
        assert response.status_code == 200, response.data
        return json.loads(response.data)

    def problem(self, status: int, path: str, **query: Any) -> dict[str, str]:
        """Ask for something that must be refused."""
        response = self.get(path, **query)
        assert response.status_code == status, response.data
        assert response.content_type == "application/json"
        found = json.loads(response.data)["error"]
        assert sorted(found) == ["code", "hint", "message", "where"]
        assert all(isinstance(text, str) for text in found.values())
        return found

    def post(self, path: str, trace: str) -> None:
        response = self.client.post(BASE + path, query_string={"trace": trace}, headers=OURS)
        assert (response.status_code, json.loads(response.data)) == (200, {"ok": True})

    def runs(self, **query: Any) -> dict[str, Any]:
        """Return the list of traces when the look at the folder is over."""
        return wait(
            lambda first: self.json("runs", **(query if first else {})), lambda runs: runs["state"] != "scanning"
        )

    def traces(self) -> list[str]:
        return [span["trace"] for run in self.runs()["runs"] for rank in run["ranks"] for span in rank["spans"]]

    def session(self, trace: str, *states: str) -> dict[str, Any]:
        """Return a session as soon as it is in one of some states, by default a last one."""
        wanted = states or ("ready", "failed", "cancelled")
        return wait(lambda _: self.json("session", trace=trace), lambda session: session["state"] in wanted)

    def ready(self) -> str:
        """Load the first trace; return its id."""
        trace = self.traces()[0]
        session = self.session(trace)
        assert session["state"] == "ready", session
        return trace

    def close(self) -> None:
        self.plugin.sessions.close()


def wait(ask: Any, enough: Any) -> Any:
    """Ask again and again until the answer will do."""
    deadline, first = time.monotonic() + PATIENCE_S, True
    while True:
        answer = ask(first)
        if enough(answer):
            return answer
        assert time.monotonic() < deadline, f"still {answer}"
        first = False
        time.sleep(0.01)
