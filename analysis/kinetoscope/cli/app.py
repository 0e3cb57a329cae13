"""The commands together, and the options of the program itself."""

from __future__ import annotations

import typer

from kinetoscope._version import __version__
from kinetoscope.cli import list_traces, show, view

app = typer.Typer(
    help="See where the time of a PyTorch program goes, from the traces that torch.profiler writes.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("view", help=view.HELP, short_help=view.HELP)(view.view)
app.command("show", cls=show.ShowCommand, help=show.HELP, short_help="Print a view: overview, advice, idle, kernels …")(
    show.show
)
app.command("list", help=list_traces.HELP)(list_traces.list_traces)


def _version(asked: bool) -> None:
    if asked:
        print(f"kinetoscope {__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Take the options that belong to no command."""
