"""The Typer application: which commands there are, in the order in which `oracle --help` names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from oracle.cli import linking, reading, upkeep, writing
from oracle.cli.options import Json, MemoryDir, begin
from oracle.cli.printing import write_out

EPILOG = (
    "Exit codes: 0 fine, 1 wrong or invalid, 2 usage, 4 not known, 5 not Memory's to write, 70 unforeseen, 75 locked."
)

app = typer.Typer(
    name="oracle",
    epilog=EPILOG,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from oracle import __version__

        write_out(f"oracle {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    *,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Write, link, search and trace the knowledge base of a team of coding agents.

    Markdown files are the truth; what these commands print comes from an index that follows them.
    """
    begin(context, memory_dir=memory_dir, as_json=as_json)
    if context.invoked_subcommand is None:
        write_out(context.get_help() + "\n")


COMMANDS: dict[str, Callable[..., None]] = {
    "init": writing.init,
    "write": writing.write,
    "retire": writing.retire,
    "list": reading.list_records,
    "timeline": reading.timeline,
    "search": reading.search,
    "show": reading.show,
    "get": reading.get,
    "status": reading.status,
    "links": linking.links,
    "backlinks": linking.backlinks,
    "graph": linking.graph,
    "entities": linking.entities,
    "orphans": linking.orphans,
    "unresolved": linking.unresolved,
    "reconcile": upkeep.reconcile,
    "doctor": upkeep.doctor,
    "root": upkeep.root,
}

for name, command in COMMANDS.items():
    app.command(name)(command)
