"""Find the browser for the browser tests; as root on Debian install it.

Usage: python tools/find_chromium.py [--install]

Prints the path of ``$CHROMIUM``, or of an installed Chromium or Chrome. No browser is no error here: the tests that need
one are skipped and say so, and fail where CI is set.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
ADVICE = "no Chromium or Chrome found: install one, or name it in the environment variable CHROMIUM"


def find() -> str | None:
    """Return the path of a browser, or None."""
    named = os.environ.get("CHROMIUM")
    if named:
        return shutil.which(named)
    installed = (shutil.which(command) for command in COMMANDS)
    bundles = (path for path in APPLICATIONS if Path(path).is_file())
    return next((path for path in (*installed, *bundles) if path), None)


def install() -> None:
    """Install Debian's package where that is possible without asking anybody."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"]):
        done = subprocess.run(["apt-get", "-qq", *words], env=environment, stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            print(f"warning: 'apt-get {' '.join(words)}' failed", file=sys.stderr)


def main(words: list[str]) -> int:
    """Print the path, or the advice."""
    if find() is None and "--install" in words:
        install()
    print(find() or f"warning: {ADVICE}; browser tests will be skipped", file=sys.stdout if find() else sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
