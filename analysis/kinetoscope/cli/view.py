"""``kinetoscope view PATH``: TensorBoard with the profiler tab, on these traces."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import typer

from kinetoscope.errors import KinetoscopeError

HELP = "Open traces in TensorBoard."

_ADDRESS = re.compile(r"(https?://\S+/)")


def view(
    path: Path = typer.Argument(help="A folder with traces, or one trace file."),
    host: str = typer.Option("localhost", help="Address to listen on."),
    port: int = typer.Option(6006, help="Port to listen on; 0 takes a free one."),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Open a browser."),
) -> int:
    """Open traces in TensorBoard, and stay until it is stopped."""
    from kinetoscope.job import open_logdir

    if find_spec("tensorboard") is None or find_spec("kinetoscope_tb") is None:
        raise KinetoscopeError("TensorBoard or the plugin is not installed", hint="pip install kinetoscope")
    job = open_logdir(path)
    for_one = "" if path.is_dir() else _fragment(job.traces()[0].worker, path)
    folder = path if path.is_dir() else path.parent
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder), "--host", host, "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace")
    watcher = threading.Thread(target=_relay, args=(process, for_one or "#kinetoscope", browser), daemon=True)
    watcher.start()
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        return process.wait()


def _fragment(worker: str, path: Path) -> str:
    """Return the part of the address that chooses one file of its folder."""
    return f"#kinetoscope&p.kinetoscope.run=.&p.kinetoscope.file={quote(path.name, safe='')}" if worker else ""


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
