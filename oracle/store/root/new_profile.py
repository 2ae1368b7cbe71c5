"""Write the first, minimal profile of a project, for a person to edit."""

from __future__ import annotations

import json
from collections.abc import Sequence

from oracle.domain.names import check_name, role_of
from oracle.errors import RecordExists, UsageError
from oracle.store.disk import steps
from oracle.store.root.layout import Root
from oracle.wording import say


def init(root: Root, project: str, seats: Sequence[str], *, repo_root: str = "") -> str:
    """Write a minimal profile and return its path. Raises RecordExists if there is one, InvalidName, UsageError."""
    name = check_name(project, "project")
    checked = [check_name(seat, "seat") for seat in seats]
    twice = sorted({seat for seat in checked if checked.count(seat) > 1})
    if twice:
        raise UsageError(say("Seats named twice: {twice}.", twice=twice), hint=say("Give each seat its own name."))
    if not checked:
        raise UsageError(
            say("A profile needs at least one seat."), hint=say("Name them: --seats memory,planner,builder,reviewer.")
        )
    path = root.profile_file(name)
    if not steps.create_once(
        path, render(root, name, checked, repo_root=repo_root).encode("utf-8", "backslashreplace")
    ):
        raise RecordExists(
            say("The profile {path} already exists and was not changed.", path=path),
            hint=say("Edit it, or remove it first."),
        )
    return path


def render(root: Root, project: str, seats: Sequence[str], *, repo_root: str = "") -> str:
    """Return the text of a minimal profile with every required key."""
    agents = "~/.agents" if root.agents != root.path else root.agents
    tree = f"{agents}/tasks/{project}"
    values = {
        "profile_name": project,
        "template_name": "gstack-harness",
        "project_name": project,
        "repo_root": repo_root or f"~/{project}",
        "tasks_root": tree,
        "project_doc": f"{tree}/PROJECT.md",
        "tasks_doc": f"{tree}/TASKS.md",
        "status_doc": f"{tree}/STATUS.md",
        "send_script": "{CLAWSEAT_ROOT}/core/shell-scripts/send-and-verify.sh",
        "agent_admin": "{CLAWSEAT_ROOT}/core/scripts/agent_admin.py",
        "workspace_root": f"{agents}/workspaces/{project}",
        "handoff_dir": f"{tree}/patrol/handoffs",
    }
    lines = [f"{key} = {_quote(value)}" for key, value in values.items()]
    lines.append(f"seats = [{', '.join(_quote(seat) for seat in seats)}]")
    lines += ["", "[seat_roles]"]
    lines += [f"{_quote(seat)} = {_quote(role_of(seat) or seat)}" for seat in seats]
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    """Return a TOML basic string. JSON's escapes are valid in TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
