"""Whose session it is: the project that a folder belongs to."""

from __future__ import annotations

from oracle.domain.names import check_name
from oracle.store.root import projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.app.context import Context

_VARIABLES = ("ORACLE_PROJECT", "CLAWSEAT_PROJECT", "AGENTS_PROJECT")


def project_of(context: Context, folder: str, environ: Mapping[str, str]) -> str:
    """Return the project of a session, "" if nothing tells: the environment's, else that of its folder. Raises InvalidName."""
    stated = next(filter(None, (environ.get(name, "") for name in _VARIABLES)), "")
    if stated:
        return check_name(stated, "project")
    return projects.project_at(context.root, folder, environ) if folder else ""
