"""The command line: ``kinetoscope view | show | list``. One small module per command; errors are caught here, once."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; those of the process by default.

    Returns
    -------
    int
        0, or 2 when something is wrong: one line on standard error says what and where.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # names of files and events may hold what the terminal's encoding cannot say
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return _fail("stopped")
    except BrokenPipeError:
        # whoever read the output has seen enough; keep the interpreter from complaining when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(f"{error.filename or 'output'}: {error.strerror or error}")


def _run(arguments: Sequence[str] | None) -> int:
    """Run the command, and turn what is meant for people into a message."""
    import typer

    from kinetoscope.cli.app import app
    from kinetoscope.errors import KinetoscopeError

    given = sys.argv[1:] if arguments is None else list(arguments)
    # typer's usage errors share a base that it exports under no name of its own
    usage_error: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")
    try:
        result = app(args=given or ["--help"], prog_name="kinetoscope", standalone_mode=False)
        sys.stdout.flush()
    except KinetoscopeError as error:
        return _fail(str(error))
    except usage_error as error:
        return _fail(f"{error.format_message()} (see kinetoscope --help)")
    except typer.Abort:
        return _fail("stopped")
    return result if isinstance(result, int) else 0


def _fail(message: str) -> int:
    printable = "".join(c if c.isprintable() else " " for c in message)
    print(f"kinetoscope: {' '.join(printable.split())}", file=sys.stderr)
    return 2
