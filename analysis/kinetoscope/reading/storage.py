"""Where files are: local folders by the system, remote ones through fsspec. Everything that touches storage goes through here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from kinetoscope.errors import UnreadableError

_EXTRAS = {
    "s3": "s3",
    "s3a": "s3",
    "gs": "gs",
    "gcs": "gs",
    "az": "az",
    "abfs": "az",
    "abfss": "az",
    "adl": "az",
}


_WHEN = ("mtime", "LastModified", "last_modified", "updated", "created")


@dataclass(frozen=True)
class Fingerprint:
    """What tells that a file is still the one that was read.

    Parameters
    ----------
    bytes : int
        Size on disk.
    modified_ns : int
        Time of the last change, 0 where the storage does not tell.
    inode : int
        Number of the file: differs when it was replaced.
    """

    bytes: int
    modified_ns: int
    inode: int

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Fingerprint:
        """Take the fingerprint of a file.

        Raises
        ------
        UnreadableError
            When the file is not there or may not be looked at.
        """
        return of(path).fingerprint(os.fspath(path))


@dataclass(frozen=True)
class Folder:
    """A folder and the files in it: path and names."""

    path: str
    names: list[str]


class Local:
    """Files of this machine."""

    def fingerprint(self, path: str) -> Fingerprint:
        """Take the fingerprint of a file."""
        try:
            found = Path(path).stat()
        except OSError as error:
            raise unreadable(path, error) from error
        return Fingerprint(found.st_size, found.st_mtime_ns, found.st_ino)

    def open(self, path: str) -> BinaryIO:
        """Open a file to read."""
        try:
            return Path(path).open("rb")
        except OSError as error:
            raise unreadable(path, error) from error

    def is_folder(self, path: str) -> bool:
        """Tell whether a path is a folder; one that is not there is an error."""
        place = Path(path)
        try:
            if place.is_dir():
                return True
            place.stat()
        except OSError as error:
            raise unreadable(path, error) from error
        return False

    def is_special(self, path: str) -> bool:
        """Tell whether a path is a pipe or device, which would wait for a writer that never comes."""
        place = Path(path)
        return place.exists() and not place.is_file()

    def walk(self, root: str, note: Callable[[UnreadableError], None]) -> Iterator[Folder]:
        """Walk folders, each real one once, links included."""
        seen: set[str] = set()

        def missed(error: OSError) -> None:
            if error.filename == root:
                raise unreadable(root, error) from error
            note(unreadable(error.filename or root, error))

        for path, below, names in os.walk(root, followlinks=True, onerror=missed):
            real = os.path.realpath(path)
            if real in seen:
                below.clear()
                continue
            seen.add(real)
            below.sort()
            yield Folder(path, sorted(names))

    def join(self, folder: str, name: str) -> str:
        """Return the path of a file in a folder."""
        return os.fspath(Path(folder) / name)

    def relative(self, path: str, root: str) -> str:
        """Return a folder's path as seen from the root, ``.`` for the root itself."""
        return os.path.relpath(path, root)


class Remote:
    """Files of another storage, through fsspec.

    Parameters
    ----------
    url : str
        Any address of that storage.
    """

    def __init__(self, url: str) -> None:
        self._scheme = url.partition("://")[0]
        try:
            core = import_module("fsspec.core")
            self._files: Any = core.url_to_fs(url)[0]
        except (ImportError, ValueError) as error:
            extra = _EXTRAS.get(self._scheme)
            hint = (
                f"pip install 'kinetoscope[{extra}]'" if extra else f"install the fsspec driver for {self._scheme}://"
            )
            raise UnreadableError(
                f"{self._scheme}:// needs a package that is missing: {error}", where=url, hint=hint
            ) from error

    def _about(self, path: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self._files.info(path)
        except FileNotFoundError as error:
            raise unreadable(path, error) from error
        except Exception as error:  # whatever a driver raises, it is about this path
            raise UnreadableError(
                f"{type(error).__name__}: {error}", where=path, hint="check the address and the rights to it"
            ) from error
        return found

    def fingerprint(self, path: str) -> Fingerprint:
        """Take the fingerprint of a file."""
        about = self._about(path)
        when = [about[key] for key in _WHEN if hasattr(about.get(key), "timestamp")]
        modified = int(when[0].timestamp() * 1e9) if when else 0
        tag = str(about.get("ETag") or about.get("etag") or about.get("md5Hash") or "")
        return Fingerprint(int(about.get("size") or 0), modified, hash(tag))

    def open(self, path: str) -> BinaryIO:
        """Open a file to read."""
        self._about(path)
        opened: BinaryIO = self._files.open(path, "rb")
        return opened

    def is_folder(self, path: str) -> bool:
        """Tell whether a path is a folder; one that is not there is an error."""
        return bool(self._about(path).get("type") == "directory")

    def is_special(self, path: str) -> bool:  # noqa: ARG002
        """Tell whether a path is a pipe or device: there are none."""
        return False

    def walk(self, root: str, note: Callable[[UnreadableError], None]) -> Iterator[Folder]:
        """Walk folders."""
        for path, _, names in self._files.walk(
            root, on_error=lambda error: note(UnreadableError(str(error), where=root))
        ):
            yield Folder(f"{self._scheme}://{path.removeprefix(self._scheme + '://')}", sorted(names))

    def join(self, folder: str, name: str) -> str:
        """Return the path of a file in a folder."""
        return f"{folder.rstrip('/')}/{name}"

    def relative(self, path: str, root: str) -> str:
        """Return a folder's path as seen from the root, ``.`` for the root itself."""
        strip = self._files._strip_protocol
        return os.path.relpath(strip(path).strip("/"), strip(root).strip("/")).replace(os.sep, "/")


Storage = Local | Remote


def is_remote(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is an address of another storage."""
    return "://" in os.fspath(path)


def of(path: str | os.PathLike[str]) -> Storage:
    """Return the storage that holds a path.

    Raises
    ------
    UnreadableError
        When the package for it is missing; the hint names it.
    """
    return Remote(os.fspath(path)) if is_remote(path) else Local()


def unreadable(path: str | os.PathLike[str], error: OSError) -> UnreadableError:
    """Say in the product's own words why the system would not open a path."""
    reasons = {
        FileNotFoundError: ("no such file or folder", "check the path"),
        PermissionError: ("no permission to read it", "change its permissions or run as its owner"),
        IsADirectoryError: ("is a folder, not a file", "give a file in it, or open the folder as a log directory"),
    }
    message, hint = reasons.get(type(error), (error.strerror or str(error), ""))
    return UnreadableError(message, where=os.fspath(path), hint=hint)
