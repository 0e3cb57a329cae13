"""The process that holds one trace: reads messages from its standard input, writes messages to what was its standard output.

Run by :class:`kinetoscope_tb.client.Worker`; ``python -m kinetoscope_tb.worker`` is the same. It is apart from TensorBoard's process so that reading
a trace slows nothing else down, can be stopped at any time, and may run out of memory without taking TensorBoard along.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, BinaryIO

from kinetoscope_tb import messages
from kinetoscope_tb.problems import describe

if TYPE_CHECKING:
    from kinetoscope.reading.progress import Progress
    from kinetoscope_tb.variants import Variants

logger = logging.getLogger("kinetoscope")

_THREADS = 4
_REPORT_EVERY_S = 0.05
_LAY_OUT_AFTER_S = 1.0  # when the first page has its figures, and before anybody has gone to the timeline


class Desk:
    """Takes requests from one pipe and puts answers into another.

    Parameters
    ----------
    requests, replies : binary file
    """

    def __init__(self, requests: BinaryIO, replies: BinaryIO) -> None:
        self._requests = requests
        self._replies = replies
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="answer")
        self._variants: Variants | None = None

    def serve(self) -> None:
        """Work until the other side closes the pipe."""
        while message := messages.receive(self._requests):
            head, _ = message
            if head["do"] == "open":
                threading.Thread(target=self._open, args=(head["entry"],), daemon=True).start()
            else:
                self._pool.submit(self._answer, head)

    def say(self, head: messages.Head, body: bytes = b"") -> None:
        """Send a message."""
        with self._lock:
            self._replies.write(messages.pack(head, body))
            self._replies.flush()

    def _open(self, entry: dict[str, Any]) -> None:
        """Read the trace, telling how far it is, and then what it is."""
        try:
            from kinetoscope.loading import load_file
            from kinetoscope.source import Source
            from kinetoscope_tb.variants import Variants

            known = ("path", "run", "rank", "span", "worker", "ranks_found")
            trace = load_file(Source(**{name: entry[name] for name in known}), Reporter(self))
            variants = Variants(trace, entry["file"])
            about = variants.answer("info", {"fix": []}).body
            self._variants = variants
        except BaseException as error:  # noqa: BLE001  (whatever it is, somebody is waiting to hear of it)
            _log(error)
            self.say({"say": "failed", "problem": describe(error)})
            return
        seen = trace.fingerprint
        fingerprint = [seen.bytes, seen.modified_ns, seen.inode] if seen else [0, 0, 0]
        self.say({"say": "ready", "fingerprint": fingerprint, "events": len(trace)}, about)
        gc.freeze()  # the trace stays for good: no need to walk it again and again
        later = threading.Timer(_LAY_OUT_AFTER_S, variants.lay_out)
        later.daemon = True
        later.start()

    def _answer(self, head: messages.Head) -> None:
        try:
            if self._variants is None:
                raise RuntimeError("asked before the trace was read")
            status, content_type, body = self._variants.answer(head["route"], head["parameters"])
        except BaseException as error:  # noqa: BLE001  (an answer that never comes would be worse)
            from kinetoscope_tb.encoding import encode

            _log(error)
            status, content_type, body = 500, "application/json", encode({"error": describe(error)})
        self.say({"say": "answer", "number": head["number"], "status": status, "type": content_type}, body)


class Reporter:
    """Passes progress on, not more often than anybody can see.

    Parameters
    ----------
    desk : Desk
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._stage = ""
        self._said = 0.0

    def __call__(self, progress: Progress) -> None:
        """Hear of progress."""
        now = time.monotonic()
        if progress.stage == self._stage and now - self._said < _REPORT_EVERY_S:
            return
        self._stage, self._said = progress.stage, now
        self._desk.say(
            {
                "say": "progress",
                "stage": progress.stage,
                "bytes_done": progress.bytes_done,
                "bytes_total": progress.bytes_total,
                "events": progress.events,
            }
        )


def _log(error: BaseException) -> None:
    """Log what is nobody's expected answer; what is meant for people is shown to them."""
    from kinetoscope.errors import KinetoscopeError

    if not isinstance(error, KinetoscopeError):
        logger.error("%s: %s", type(error).__name__, error, exc_info=error)


def _prepare(desk: Desk) -> None:
    """Import what every trace needs, while nobody waits."""
    try:
        from kinetoscope.timeline import Timeline  # noqa: F401
        from kinetoscope.views import registry
        from kinetoscope_tb import variants  # noqa: F401

        registry.views()
    except Exception as error:  # noqa: BLE001  (a broken installation: the page is told so when it opens a trace)
        _log(error)
        desk.say({"say": "failed", "problem": describe(error)})


def _bound_memory() -> None:
    """Let a file that needs too much memory fail in this process, before the system ends another one.

    ``KINETOSCOPE_MAX_MEMORY`` sets the bytes; by default four fifths of what the machine has.
    """
    try:
        import resource

        wanted = os.environ.get("KINETOSCOPE_MAX_MEMORY", "")
        installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        most = int(wanted) if wanted.isdigit() else installed * 4 // 5
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    except (ImportError, ValueError, OSError) as error:
        logger.info("the memory of this process is not bounded: %s", error)


def main() -> None:
    """Serve one trace, then end without waiting for anything."""
    _bound_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is TensorBoard's, and when it goes, so does this
    logging.basicConfig(format="%(name)s worker %(process)d: %(message)s")
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # whoever prints, in Python or below, must not write into the messages
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout = sys.stderr
    desk = Desk(requests, replies)
    try:
        _prepare(desk)
        desk.serve()
    except BrokenPipeError:
        logger.debug("TensorBoard has gone")
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
