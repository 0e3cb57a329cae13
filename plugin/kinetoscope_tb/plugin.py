"""The plugin as TensorBoard sees it. Only wiring: everything here must be instant, and must not fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorboard.plugins import base_plugin

from kinetoscope_tb.catalog import Catalog
from kinetoscope_tb.loader import ENTRY, PLUGIN_NAME, TAB_NAME
from kinetoscope_tb.locations import roots
from kinetoscope_tb.routes import Routes
from kinetoscope_tb.sessions import Sessions
from kinetoscope_tb.static import StaticFiles

if TYPE_CHECKING:
    from kinetoscope_tb.routes import App


class KinetoscopePlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """The "PyTorch Profiler" tab.

    Parameters
    ----------
    context : tensorboard.plugins.base_plugin.TBContext
        Of it only the log folder is used: TensorBoard's own readers know event files only.
    """

    plugin_name = PLUGIN_NAME

    def __init__(self, context: Any) -> None:
        logdir = getattr(context, "logdir", None)
        spec = getattr(getattr(context, "flags", None), "logdir_spec", None)
        self.catalog = Catalog(roots(logdir, spec), logdir or spec or "")
        self.sessions = Sessions(self.catalog)
        self._apps = Routes(self.catalog, self.sessions, StaticFiles()).apps()
        self._metadata = base_plugin.FrontendMetadata(es_module_path=ENTRY, tab_name=TAB_NAME)

    def get_plugin_apps(self) -> dict[str, App]:
        """Return the applications by path."""
        return self._apps

    def is_active(self) -> bool:
        """Tell whether there are traces, or may be: true while the folder is looked at for the first time."""
        return self.catalog.active

    def frontend_metadata(self) -> Any:
        """Return what the tab is called and where its page is."""
        return self._metadata

    def data_plugin_names(self) -> tuple[str, ...]:
        """Return no names: nothing is read from event files."""
        return ()
