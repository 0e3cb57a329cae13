"""A worker, seen from TensorBoard's process: started, asked, and ended."""

from __future__ import annotations

import itertools
import logging
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from kinetoscope_tb import messages
from kinetoscope_tb.problems import Problem, problem, refuse

if TYPE_CHECKING:
    from kinetoscope_tb.catalog import Entry

logger = logging.getLogger("kinetoscope")

# The worker takes over this process's module path, whatever put it together, and before it imports anything: run with -m or -c, Python would put
# the current folder first, and a random.py there would be in its way.
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from kinetoscope_tb.worker import main; main()"


class Answer(NamedTuple):
    """What a worker says to a request."""

    status: int
    content_type: str
    body: bytes


Listener = Callable[[messages.Head, bytes], None]


class Worker:
    """A process that reads one trace and answers questions about it.

    It ends when this process does, in whatever way, because its standard input closes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Answer]] = {}
        self._listener: Listener | None = None
        self._on_end: Callable[[], None] | None = None
        self._early: list[tuple[messages.Head, bytes]] = []
        self._ended = False
        # a session of its own, so that Ctrl+C in the terminal is TensorBoard's alone
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *(path for path in sys.path if path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name="kinetoscope-worker", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Tell whether it still runs."""
        return not self._ended and self._process.poll() is None

    def open(self, entry: Entry, listener: Listener, on_end: Callable[[], None]) -> None:
        """Have it read a trace.

        Parameters
        ----------
        entry : Entry
        listener : callable
            Gets every message about the reading: head and body.
        on_end : callable
            Called when the process has ended, asked to or not.
        """
        with self._lock:
            self._listener, self._on_end = listener, on_end
            early, self._early = self._early, []
            ended = self._ended
        for head, body in early:
            listener(head, body)
        if ended:
            on_end()
            return
        self._send({"do": "open", "entry": asdict(entry)})

    def ask(self, route: str, parameters: dict[str, Any], timeout_s: float) -> Answer:
        """Ask a question and wait for the answer.

        Parameters
        ----------
        route : str
        parameters : dict
        timeout_s : float

        Returns
        -------
        Answer

        Raises
        ------
        Refusal
            When the answer takes too long, or the process ends before.
        """
        number = next(self._numbers)
        future: Future[Answer] = Future()
        with self._lock:
            if self._ended:
                raise _gone()
            self._waiting[number] = future
        self._send({"do": "answer", "number": number, "route": route, "parameters": parameters})
        try:
            return future.result(timeout_s)
        except FutureTimeout:
            raise refuse(
                500,
                "timeout",
                f"The answer took longer than {timeout_s:g} seconds.",
                "Ask for less: a shorter time range, or another grouping.",
            ) from None
        finally:
            with self._lock:
                self._waiting.pop(number, None)

    def close(self) -> None:
        """End it at once."""
        self._process.kill()

    def join(self, timeout_s: float = 5.0) -> None:
        """Wait until its end is noted and nothing of it is left."""
        self._reader.join(timeout_s)

    def obituary(self, file: str) -> Problem:
        """Say how it ended, for the person who waits for the trace.

        Parameters
        ----------
        file : str
            The trace it had open.

        Returns
        -------
        Problem
        """
        code = self._process.poll()
        if code is not None and -code == signal.SIGKILL:
            message = "The process that held this trace was killed by the system, most likely because memory ran out."
            return problem(
                "worker-killed",
                message,
                "Close other traces or programs, or record fewer steps; then reload the trace.",
                file,
            )
        how = f"exit code {code}" if code is None or code >= 0 else f"signal {_signal_name(-code)}"
        message = f"The process that held this trace ended unexpectedly ({how})."
        return problem("worker-died", message, "Reload the trace; the log of the tensorboard command tells more.", file)

    def _send(self, head: messages.Head) -> None:
        stdin = self._process.stdin
        try:
            with self._writing:
                if stdin:
                    stdin.write(messages.pack(head))
                    stdin.flush()
        except (OSError, ValueError):
            logger.debug("worker %d no longer listens", self.pid)  # its end is told where its output ends

    def _read(self) -> None:
        """Take what the process says until it ends."""
        stdout = cast("BinaryIO", self._process.stdout)
        try:
            while message := messages.receive(stdout):
                self._take(*message)
        except (OSError, ValueError):
            logger.debug("worker %d: its output broke off", self.pid)
        self._bury()

    def _take(self, head: messages.Head, body: bytes) -> None:
        if head["say"] != "answer":
            with self._lock:
                listener = self._listener
                if listener is None:
                    self._early.append((head, body))
            if listener:
                listener(head, body)
            return
        with self._lock:
            future = self._waiting.pop(head["number"], None)
        if future:
            future.set_result(Answer(head["status"], head["type"], body))

    def _bury(self) -> None:
        """Reap the process, fail what still waits for it, and tell its owner."""
        try:
            self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with self._lock:
            self._ended = True
            waiting, self._waiting = list(self._waiting.values()), {}
            on_end = self._on_end
            for stream in (self._process.stdin, self._process.stdout):
                if stream:
                    _close(stream)
        for future in waiting:
            future.set_exception(_gone())
        if on_end:
            on_end()


def _gone() -> Exception:
    return refuse(409, "not-loaded", "The trace was closed while this was asked for.", "Open it again.")


def _close(stream: Any) -> None:
    try:
        stream.close()
    except OSError:
        logger.debug("a pipe of a worker was broken already")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
