"""The files of the page, from a list made at the start: no name from a request ever becomes part of a path."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from kinetoscope_tb.loader import message_page

FOLDER = Path(__file__).parent / "static"
NOT_BUILT = (
    "This page has not been built: its frontend is missing from the installation.\n\nIn a checkout, run: make frontend"
)

_MONTH = 30 * 86400
# our own list: the system's may be wrong, and browsers refuse scripts of another type
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
    ".txt": "text/plain; charset=utf-8",
}


class File(NamedTuple):
    """A file to send: its bytes, its type, and for how many seconds browsers may keep it."""

    body: bytes
    content_type: str
    keep_s: int


class StaticFiles:
    """The entry module and the hashed files beside it.

    Parameters
    ----------
    folder : Path
        What the frontend build made.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self._paths: dict[str, Path] = {}
        if (folder / "index.js").is_file():
            self._paths["index.js"] = folder / "index.js"
            for path in (folder / "assets").glob("*"):
                if path.is_file() and path.suffix in _TYPES:
                    self._paths[f"assets/{path.name}"] = path

    @property
    def built(self) -> bool:
        """Tell whether there is a page at all."""
        return bool(self._paths)

    def get(self, name: str) -> File | None:
        """Return a file.

        Parameters
        ----------
        name : str
            ``index.js`` or ``assets/NAME``.

        Returns
        -------
        File or None
            ``None`` when there is none of that name.
        """
        if name == "index.js" and not self.built:
            return File(message_page(NOT_BUILT), _TYPES[".js"], 0)
        path = self._paths.get(name)
        if path is None:
            return None
        try:
            body = path.read_bytes()
        except OSError:
            return None
        return File(body, _TYPES[path.suffix], _MONTH if name.startswith("assets/") else 0)
