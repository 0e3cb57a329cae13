"""Make the virtual environment: run by the system's python3, so standard library only.

Usage: python3 tools/make_venv.py FOLDER

Debian and Ubuntu keep ``venv``'s pip in a package of its own (python3-venv): as root it is installed, else the message
names it.
"""

import os
import shutil
import subprocess
import sys

OLDEST = (3, 10)


def make(folder: str) -> bool:
    """Make the environment with pip in it; tell whether that worked."""
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=False)
    return made.returncode == 0


def install_venv() -> None:
    """Install the package with pip for new environments, where that is possible without asking anybody."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for words in (["update"], ["install", "-y", "python3-venv"]):
        subprocess.run(["apt-get", "-qq", *words], env=environment, stdin=subprocess.DEVNULL, check=False)


def main(folder: str) -> None:
    """Make the environment, or say what is missing."""
    if sys.version_info < OLDEST:
        sys.exit(
            f"error: {sys.executable} is Python {sys.version.split()[0]}; 3.10 or newer is needed. Name one: make PYTHON=python3.12 ..."
        )
    if not make(folder):
        install_venv()
        if not make(folder):
            shutil.rmtree(folder, ignore_errors=True)
            sys.exit("error: no virtual environment could be made; on Debian and Ubuntu: apt-get install python3-venv")


if __name__ == "__main__":
    main(sys.argv[1])
