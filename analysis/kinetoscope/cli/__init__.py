"""The command line: ``kinetoscope view | show | list``. One small module per command; errors are caught here, once."""

from __future__ import annotations

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
    import typer

    from kinetoscope.cli.app import app
    from kinetoscope.errors import KinetoscopeError

    # typer's usage errors share a base that it exports under no name of its own
    usage_error: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")
    try:
        result = app(
            args=None if arguments is None else list(arguments), prog_name="kinetoscope", standalone_mode=False
        )
    except KinetoscopeError as error:
        return _fail(str(error))
    except usage_error as error:
        return _fail(f"{error.format_message()} (see kinetoscope --help)")
    except (typer.Abort, KeyboardInterrupt):
        return _fail("stopped")
    except BrokenPipeError:
        # whoever read the output has seen enough; keep the interpreter from complaining when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return result if isinstance(result, int) else 0


def _fail(message: str) -> int:
    printable = "".join(c if c.isprintable() else " " for c in message)
    print(f"kinetoscope: {' '.join(printable.split())}", file=sys.stderr)
    return 2
