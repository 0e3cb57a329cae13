"""What TensorBoard imports at its start. A fault here would stop TensorBoard for everybody, so it needs nothing but TensorBoard itself."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from typing import Any

from tensorboard.plugins import base_plugin

PLUGIN_NAME = "kinetoscope"
TAB_NAME = "PyTorch Profiler"
ENTRY = "/index.js"

logger = logging.getLogger("kinetoscope")

_FAILED_PAGE = """\
export function render() {
  document.documentElement.lang = "en";
  document.title = "PyTorch Profiler";
  const box = document.createElement("div");
  box.setAttribute("role", "alert");
  box.style.cssText = "margin:2rem;padding:1rem;max-width:60rem;font:15px/1.5 system-ui,sans-serif;" +
    "white-space:pre-wrap;color:#1d1d1f;background:#fff;border:1px solid #b3261e;border-radius:6px";
  box.textContent = MESSAGE;
  document.body.replaceChildren(box);
}
"""


def message_page(message: str) -> bytes:
    """Return a page's entry module that shows one message and nothing else.

    Parameters
    ----------
    message : str

    Returns
    -------
    bytes
        JavaScript.
    """
    return _FAILED_PAGE.replace("MESSAGE", json.dumps(message)).encode("ascii")


class FailedPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """Stands in for a plugin that could not be started, so that the tab says why instead of being missing.

    Parameters
    ----------
    error : Exception
        What went wrong.
    """

    plugin_name = PLUGIN_NAME

    def __init__(self, error: Exception) -> None:
        self.text = f"The PyTorch Profiler tab could not be started.\n\n{type(error).__name__}: {error}\n\nReinstall it with: pip install --force-reinstall kinetoscope"
        self._metadata = base_plugin.FrontendMetadata(es_module_path=ENTRY, tab_name=TAB_NAME)

    def get_plugin_apps(self) -> dict[str, Any]:
        """Return the two routes: the page that shows the error, and the error for programs."""
        problem = {"code": "not-started", "message": self.text, "hint": "", "where": ""}
        answer = json.dumps({"error": problem}).encode("ascii")
        return {
            ENTRY: _fixed("200 OK", "text/javascript; charset=utf-8", message_page(self.text)),
            "/runs": _fixed("500 Internal Server Error", "application/json", answer),
        }

    def is_active(self) -> bool:
        """Return that there is something to see."""
        return True

    def frontend_metadata(self) -> Any:
        """Return what the tab is called and where its page is."""
        return self._metadata

    def data_plugin_names(self) -> tuple[str, ...]:
        """Return no names: nothing is read from event files."""
        return ()


def _fixed(status: str, content_type: str, body: bytes) -> Callable[..., Iterable[bytes]]:
    """Return an application that answers every request alike."""
    headers = [("Content-Type", content_type), ("Content-Length", str(len(body)))]
    headers += [("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-cache, must-revalidate")]

    def app(_environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response(status, headers)
        return [body]

    return app


class KinetoscopeLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Starts the plugin, or in its place a page that says why that failed."""

    def load(self, context: Any) -> Any:
        """Return the plugin.

        Parameters
        ----------
        context : tensorboard.plugins.base_plugin.TBContext

        Returns
        -------
        tensorboard.plugins.base_plugin.TBPlugin
        """
        try:
            from kinetoscope_tb.plugin import KinetoscopePlugin

            return KinetoscopePlugin(context)
        except Exception as error:  # whatever it is, TensorBoard and its other tabs must live
            logger.warning("the PyTorch Profiler tab could not be started: %s", error, exc_info=True)
            return FailedPlugin(error)
