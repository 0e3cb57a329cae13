"""The HTTP side: requests are checked here, answered elsewhere, and every answer leaves with the right headers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tensorboard.backend import http_util
from werkzeug.wrappers import Request, Response

from kinetoscope_tb.encoding import encode
from kinetoscope_tb.problems import Refusal, describe, refuse
from kinetoscope_tb.query import Query

if TYPE_CHECKING:
    from kinetoscope_tb.catalog import Catalog
    from kinetoscope_tb.sessions import Sessions
    from kinetoscope_tb.static import StaticFiles

logger = logging.getLogger("kinetoscope")

_JSON = "application/json"
_MOST_PIXELS = 8192
_MOST_HITS = 100_000
_MOST_EVENTS = 2**40
_WORTH_PACKING = 1400
_LONGEST_SEARCH = 10_000
_LONGEST_VALUE = 1 << 20

App = Callable[..., Any]
Action = Callable[[Request], Response]


class Routes:
    """Handlers of all routes.

    Parameters
    ----------
    catalog : Catalog
    sessions : Sessions
    static : StaticFiles
    """

    def __init__(self, catalog: Catalog, sessions: Sessions, static: StaticFiles) -> None:
        self._catalog = catalog
        self._sessions = sessions
        self._static = static

    def apps(self) -> dict[str, App]:
        """Return an application for every path below the plugin's folder."""
        return {
            "/index.js": _app(self._entry),
            "/assets/*": _app(self._asset),
            "/runs": _app(self._runs),
            "/session": _app(self._session),
            "/cancel": _app(self._cancel, "POST"),
            "/reload": _app(self._reload, "POST"),
            "/view": self._data("view", _view),
            "/info": self._data("info", lambda _: {}),
            "/lanes": self._data("lanes", lambda _: {}),
            "/names": self._data("names", lambda _: {}),
            "/tile": self._data("tile", _tile),
            "/longest": self._data("longest", _longest),
            "/event": self._data("event", lambda query: {"id": query.integer("id", 0, _MOST_EVENTS)}),
            "/neighbor": self._data("neighbor", _neighbor),
            "/search": self._data("search", _search),
            "/area": self._data("area", _area),
            "/path": self._data("path", _path),
            "/minimap": self._data("minimap", lambda query: {"px": query.integer("px", 1, _MOST_PIXELS)}),
        }

    # --- files of the page --------------------------------------------------------------------------------------------------------------

    def _entry(self, request: Request) -> Response:
        return self._file(request, "index.js")

    def _asset(self, request: Request) -> Response:
        return self._file(request, "assets/" + request.path.rpartition("/assets/")[2])

    def _file(self, request: Request, name: str) -> Response:
        file = self._static.get(name)
        if file is None:
            raise refuse(
                404, "unknown-file", "The page has no such file.", "Reload the page: it may have been updated."
            )
        return _reply(request, file.body, file.content_type, expires=file.keep_s)

    # --- traces -------------------------------------------------------------------------------------------------------------------------

    def _runs(self, request: Request) -> Response:
        self._sessions.warm()
        return _reply(request, encode(self._catalog.listing(refresh=Query(request.args).flag("refresh"))))

    def _session(self, request: Request) -> Response:
        return _reply(request, encode(self._sessions.report(Query(request.args).text("trace"))))

    def _cancel(self, request: Request) -> Response:
        self._sessions.cancel(Query(request.args).text("trace"))
        return _reply(request, encode({"ok": True}))

    def _reload(self, request: Request) -> Response:
        self._sessions.reload(Query(request.args).text("trace"))
        return _reply(request, encode({"ok": True}))

    # --- questions to a trace -------------------------------------------------------------------------------------------------------------

    def _data(self, route: str, read: Callable[[Query], dict[str, Any]]) -> App:
        """Return the application of a route that passes a question on."""

        def answer(request: Request) -> Response:
            query = Query(request.args)
            parameters = read(query) | {"fix": query.fixes()}
            answered = self._sessions.ask(query.text("trace"), route, parameters)
            return _reply(request, answered.body, answered.content_type, answered.status)

        return _app(answer)


def _view(query: Query) -> dict[str, Any]:
    given = query.others("trace", "view", "fix", longest=_LONGEST_VALUE)
    return {"view": query.text("view"), "parameters": given}


def _tile(query: Query) -> dict[str, Any]:
    t0, t1 = query.span()
    return {"rows": query.rows(), "t0": t0, "t1": t1, "px": query.integer("px", 1, _MOST_PIXELS)}


def _longest(query: Query) -> dict[str, Any]:
    return {"entry": query.integer("entry", 0, _MOST_EVENTS), "count": query.integer("count", 1, _MOST_EVENTS)}


def _neighbor(query: Query) -> dict[str, Any]:
    by = query.integer("by", -1, 1)
    if by == 0:
        raise refuse(400, "bad-parameter", "The parameter 'by' must be 1 or -1.")
    return {"id": query.integer("id", 0, _MOST_EVENTS), "by": by}


def _search(query: Query) -> dict[str, Any]:
    wanted = query.text("q", _LONGEST_SEARCH)
    return {"q": wanted, "limit": query.integer("limit", 1, _MOST_HITS, default=2000), "exact": query.flag("exact")}


def _area(query: Query) -> dict[str, Any]:
    t0, t1 = query.span()
    return {"rows": query.rows(), "t0": t0, "t1": t1}


def _path(query: Query) -> dict[str, Any]:
    t0, t1 = query.span()
    return {"t0": t0, "t1": t1, "px": query.integer("px", 1, _MOST_PIXELS)}


def _app(action: Action, method: str = "GET") -> App:
    """Make an application of an action: the right method only, and an answer in JSON whatever happens."""

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        request = Request(environ)
        try:
            _admit(request, method)
            response = action(request)
        except Refusal as refusal:
            response = _reply(request, encode({"error": refusal.problem}), status=refusal.status)
        except Exception as error:
            logger.exception("%s failed", request.path)
            response = _reply(request, encode({"error": describe(error)}), status=500)
        return response(environ, start_response)

    return app


def _admit(request: Request, method: str) -> None:
    """Refuse another method; and what changes anything, unless our own page asks for it."""
    if request.method != method and (request.method, method) != ("HEAD", "GET"):
        raise refuse(405, "method-not-allowed", f"This address takes {method} only, not {request.method}.")
    if method == "GET":
        return
    if request.headers.get("X-Kinetoscope") != "1":
        raise refuse(403, "forbidden", "Requests that change anything need the header 'X-Kinetoscope: 1'.")
    origin = request.headers.get("Origin")
    # a proxy in front may speak to TensorBoard under another name, and says which one it was asked under
    ours = {request.headers.get("Host"), request.headers.get("X-Forwarded-Host")}
    if origin is not None and urlsplit(origin).netloc not in ours:
        raise refuse(403, "forbidden", "Another site's page may not change anything here.")


def _reply(request: Request, body: bytes, content_type: str = _JSON, status: int = 200, expires: int = 0) -> Response:
    """Build a response; it is packed here, as small as TensorBoard would and ten times as fast."""
    encoding = None
    if len(body) > _WORTH_PACKING and request.accept_encodings.quality("gzip") > 0:
        from isal import igzip

        body, encoding = igzip.compress(body, 2), "gzip"
    allow = [("Allow", "GET, HEAD" if request.method == "POST" else "POST")] if status == 405 else []
    response: Response = http_util.Respond(
        request, body, content_type, code=status, expires=expires, content_encoding=encoding, headers=allow
    )
    return response
