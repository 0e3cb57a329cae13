"""TensorBoard as people start it, for browsers to look at."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

#: How long a start may take on a machine that does other things too.
START_S = 60.0
ADDRESS = re.compile(r"TensorBoard [\d.]+ at (http://\S+?)/? \(")


class TensorBoard:
    """A TensorBoard process on a free port.

    Parameters
    ----------
    logdir
        Folder with traces.
    options
        More of the command line.
    cache
        Folder that the process may write to.
    """

    def __init__(self, logdir: Path | str, *options: str, cache: Path | None = None) -> None:
        command = [sys.executable, "-m", "tensorboard.main", "--host", "127.0.0.1", "--port", "0"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)}
        if cache:
            environment["KINETOSCOPE_CACHE"] = str(cache)
        self.logdir = Path(logdir)
        self.said: list[str] = []
        self.process = subprocess.Popen(
            [*command, "--logdir", str(logdir), *options],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()
        self.url = self._wait_for_url()

    def _listen(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.said.append(line)

    def _wait_for_url(self) -> str:
        deadline = time.monotonic() + START_S
        while True:
            found = ADDRESS.search("".join(self.said))
            if found:
                return found[1]
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"TensorBoard did not start:\n{''.join(self.said)}")
            self._reader.join(0.02)

    def address(self, *, host: str | None = None, **keys: object) -> str:
        """Return the address of the tab with some of our keys in it."""
        parts = ["kinetoscope"]
        parts += [f"p.kinetoscope.{key}={quote(str(value), safe='')}" for key, value in keys.items()]
        url = self.url.replace("127.0.0.1", host) if host else self.url
        return f"{url}/#{'&'.join(parts)}"

    def stop(self) -> None:
        """End the process and read what it had left to say."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(30)
        self._reader.join(30)
        if self.process.stderr:
            self.process.stderr.close()
