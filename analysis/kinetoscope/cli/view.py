"""``kinetoscope view PATH``: TensorBoard with the profiler tab, on these traces."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import typer

from kinetoscope.errors import KinetoscopeError

if TYPE_CHECKING:
    from kinetoscope.job import Job

HELP = "Open traces in TensorBoard."

_ADDRESS = re.compile(r"(https?://\S+/)")


def view(
    path: Path = typer.Argument(help="A folder with traces, or one trace file."),
    host: str = typer.Option("localhost", help="Address to listen on."),
    port: int = typer.Option(6006, min=0, max=65535, help="Port to listen on; 0 takes a free one."),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Open a browser."),
) -> int:
    """Open traces in TensorBoard, and stay until it is stopped."""
    from kinetoscope.job import open_logdir

    if find_spec("tensorboard") is None or find_spec("kinetoscope_tb") is None:
        raise KinetoscopeError("TensorBoard or the plugin is not installed", hint="pip install kinetoscope")
    chosen = open_logdir(path)
    folder = path if path.is_dir() else path.parent
    fragment = _fragment(chosen if path.is_dir() else open_logdir(folder), path)
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder), "--host", host, "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace")
    watcher = threading.Thread(target=_relay, args=(process, fragment, browser), daemon=True)
    watcher.start()
    signal.signal(signal.SIGTERM, _end)
    try:
        return process.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        # whoever ends this command means TensorBoard
        if process.poll() is None:
            process.terminate()
            process.wait()


def _end(number: int, _: object) -> None:
    """Leave by the way that cleans up."""
    sys.exit(128 + number)


def _fragment(job: Job, path: Path) -> str:
    """Return the part of the address that opens the tab, on one trace if the path is a file."""
    chosen = {"view": "overview"}
    for source in job.sources():
        if path.is_file() and Path(source.path).samefile(path):
            rank = source.worker if source.rank is None else str(source.rank)
            chosen |= {"run": source.run, "rank": rank, "span": source.span}
    return "#kinetoscope" + "".join(f"&p.kinetoscope.{key}={quote(value, safe='')}" for key, value in chosen.items())


def _relay(process: subprocess.Popen[str], fragment: str, browser: bool) -> None:
    """Pass on what TensorBoard says; when it names its address, open it."""
    opened = False
    for line in process.stderr or ():
        sys.stderr.write(line)
        found = _ADDRESS.search(line)
        if found and not opened and "TensorBoard" in line:
            opened = True
            address = found.group(1) + fragment
            print(f"Profiler: {address}", flush=True)
            if browser:
                webbrowser.open(address)
