"""TensorBoard and its other tabs live, whatever is wrong with ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorboard.backend import application
from tensorboard.plugins import base_plugin
from werkzeug.test import Client
from werkzeug.wrappers import Response

from kinetoscope_tb import loader
from wire.serving import BASE, context

if TYPE_CHECKING:
    import pytest

BLOCK = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"numpy", "pandas", "pyarrow", "msgspec", "isal", "kinetoscope", "werkzeug"}:
            raise ImportError(name + " is broken")
sys.meta_path.insert(0, Block())
import logging
logging.disable(logging.CRITICAL)
from kinetoscope_tb.loader import KinetoscopeLoader
from tensorboard.plugins import base_plugin
plugin = KinetoscopeLoader().load(base_plugin.TBContext(logdir="/nowhere"))
started = []
body = b"".join(plugin.get_plugin_apps()["/index.js"]({}, lambda *head: started.append(head)))
print(type(plugin).__name__, plugin.is_active(), plugin.frontend_metadata().tab_name, started[0][0])
print(body.decode())
"""


class Neighbor(base_plugin.TBPlugin):
    plugin_name = "neighbor"

    def get_plugin_apps(self) -> dict[str, Any]:
        return {"/hello": Response("hello", headers={"X-Content-Type-Options": "nosniff"})}

    def is_active(self) -> bool:
        return True

    def frontend_metadata(self) -> Any:
        return base_plugin.FrontendMetadata(es_module_path="/hello")


def broken_load(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(sys.modules, "kinetoscope_tb.plugin", None)
    return loader.KinetoscopeLoader().load(context("/nowhere"))


def test_the_entry_module_imports_with_everything_else_broken() -> None:
    paths = [path for path in sys.path if path]
    program = f"import sys; sys.path[:] = {paths!r}\n{BLOCK}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("FailedPlugin True PyTorch Profiler 200 OK\n")
    assert "is broken" in done.stdout
    assert "export function render()" in done.stdout


def test_a_healthy_plugin_is_loaded(logdir: Path) -> None:
    plugin = loader.KinetoscopeLoader().load(context(logdir))
    assert type(plugin).__name__ == "KinetoscopePlugin"
    assert plugin.plugin_name == "kinetoscope"
    assert plugin.frontend_metadata() is plugin.frontend_metadata()
    assert plugin.data_plugin_names() == ()
    plugin.sessions.close()


def test_other_tabs_live_beside_one_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = broken_load(monkeypatch)
    client = Client(application.TensorBoardWSGI([Neighbor(None), failed]), Response)
    listing = json.loads(client.get("/data/plugins_listing").data)
    assert {name: one["enabled"] for name, one in listing.items()} == {"neighbor": True, "kinetoscope": True}
    assert client.get("/data/plugin/neighbor/hello").data == b"hello"
    assert b"could not be started" in client.get(BASE + "index.js").data
    answer = client.get(BASE + "runs")
    assert (answer.status_code, json.loads(answer.data)["error"]["code"]) == (500, "not-started")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_other_tabs_live_beside_a_healthy_one(logdir: Path) -> None:
    plugin = loader.KinetoscopeLoader().load(context(logdir))
    client = Client(application.TensorBoardWSGI([plugin, Neighbor(None)]), Response)
    listing = json.loads(client.get("/data/plugins_listing").data)
    assert listing["kinetoscope"]["tab_name"] == "PyTorch Profiler"
    assert listing["kinetoscope"]["loading_mechanism"]["module_path"] == "/data/plugin/kinetoscope/index.js"
    assert listing["neighbor"]["enabled"]
    assert b'import("./index.js")' in client.get("/data/plugin_entry.html?name=kinetoscope").data
    plugin.sessions.close()


def test_a_message_cannot_leave_its_string() -> None:
    page = loader.message_page('"; alert(1); //\u2028</script>').decode("ascii")
    assert r'"\"; alert(1); //\u2028</script>"' in page
