"""Install the skill of a seat in a workspace, where its tool reads it, and remove it.

Claude Code reads one file for each skill. Codex and Gemini read one page, in which a skill is a section between marks.
Everything else on the page stays, and a file that was not installed by this program is never replaced.
"""

from __future__ import annotations

import os
import shlex

from oracle.domain.markdown import managed_block
from oracle.domain.names import ROLES, check_name, role_of
from oracle.domain.spelling import suggest
from oracle.errors import Conflict, DiskFailure, UsageError
from oracle.hook import settings
from oracle.hook.changes import FileChange
from oracle.store.disk import steps
from oracle.wording import say

TOOLS = {"claude": ".claude/skills/{name}/SKILL.md", "codex": "AGENTS.md", "gemini": "GEMINI.md"}
"""The file that each tool reads in the workspace."""

ANY = "seat"
"""The role of a seat that has no skill of its own."""

SESSION = "*"
"""The role of every session on a machine: its skill is that of the plugin."""

NAMES = {role: "memory-oracle" if role == "memory" else f"oracle-{role}" for role in (*ROLES, ANY)}
NAMES[SESSION] = "oracle-memory"
"""The name of the skill of each role, as in its frontmatter."""

_DEFAULT_ROOT, _FOUND_ANYWAY = "~/.agents/memory", "Every command finds the Root by itself. "
_MAX_BYTES = 4 << 20


def plan_install(workspace: str, *, tool: str, seat: str, root: str = "") -> FileChange:
    """Return the change that installs the skill of a seat, with its Root if programs would not find it.

    A skill that was edited by hand is kept as a backup. Raises UsageError for an unknown tool or an unusable
    path, NotFound for a missing workspace, Conflict for a file of another origin.
    """
    role = _role(seat)
    path = _place(workspace, tool, role)
    written = read_skill(role).replace("SEAT", seat) if role == ANY else read_skill(role)
    return plan_at(path, tool, role, with_root(written, root))


def plan_at(path: str, tool: str, role: str, text: str) -> FileChange:
    """Return the change that puts the skill of a role into the file that a tool reads. Raises Conflict."""
    before = _read(path)
    if tool == "claude":
        if before is not None and before.strip() and not managed_block.is_signed(before):
            raise Conflict(
                say("{path} was not installed by oracle; it was not changed.", path=path),
                hint=say("Move it away, then try again."),
            )
        return FileChange(
            path, before, managed_block.sign(text), before is not None and managed_block.is_edited(before)
        )
    after = managed_block.put(before or "", NAMES[role], _without_frontmatter(text))
    return FileChange(path, before, after, is_edited(before, NAMES[role]))


def plan_uninstall(workspace: str, *, tool: str, seat: str = "") -> list[FileChange]:
    """Return the changes that remove the skill of a seat, or all skills. Raises the errors of `plan_install`."""
    roles = [_role(seat)] if seat else list(NAMES)
    places = {role: _place(workspace, tool, role) for role in roles}
    if tool == "claude":
        changes = [_file_out(path) for path in places.values()]
    else:
        changes = [_sections_out(places[roles[0]], [NAMES[role] for role in roles])]
    return changes if seat else [change for change in changes if change.before is not None]


def _file_out(path: str) -> FileChange:
    before = _read(path)
    if before is None or not managed_block.is_signed(before):
        return FileChange(path, before, before)
    return FileChange(path, before, None, managed_block.is_edited(before))


def _sections_out(path: str, names: list[str]) -> FileChange:
    """Return the change that removes sections from a page, or the page if it holds nothing else."""
    before = _read(path)
    if not before:
        return FileChange(path, before, before)
    after = before
    for name in names:
        after = managed_block.take(after, name)
    return FileChange(path, before, after or None, any(is_edited(before, name) for name in names))


def read_skill(role: str) -> str:
    """Return the skill of a role, from the checkout or from the installed package. Raises DiskFailure."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    name = {"memory": "SKILL.md", SESSION: "plugin/skills/memory/SKILL.md"}.get(role, f"skills/{role}.md")
    for folder in (f"{os.path.dirname(package)}/references", f"{package}/_data/references"):
        raw = steps.read(f"{folder}/{name}")
        if raw is not None:
            return raw.decode()
    raise DiskFailure(say("The skill of {role} is not installed.", role=role), hint=say("Install the package again."))


def _role(seat: str) -> str:
    """Return the role whose skill a seat gets. Raises InvalidName."""
    return SESSION if seat == SESSION else role_of(check_name(seat, "seat")) or ANY


def _place(workspace: str, tool: str, role: str) -> str:
    """Return the file that a tool reads. Raises UsageError if it is not a file, or outside of the workspace by a link."""
    if tool not in TOOLS:
        raise UsageError(say("Unknown tool {tool!r}.", tool=tool), hint=suggest(tool, TOOLS))
    folder = settings.workspace_folder(workspace)
    path = f"{folder.rstrip('/')}/{TOOLS[tool].format(name=NAMES[role])}"
    real = os.path.realpath(path)
    if not real.startswith(f"{os.path.realpath(folder).rstrip('/')}/"):
        raise UsageError(
            say("{path} leads out of the workspace through a link; nothing was written.", path=path),
            hint=say("Replace the link by a file."),
        )
    if os.path.lexists(real) and not os.path.isfile(real):
        raise UsageError(say("{path} is not a file.", path=path), hint=say("Move it away, then try again."))
    return path


def _read(path: str) -> str | None:
    real = os.path.realpath(path)
    raw = steps.read(real)
    if raw is None:
        return None
    try:
        text = raw.decode() if len(raw) <= _MAX_BYTES else None
    except ValueError:
        text = None
    if text is None:
        raise UsageError(
            say("{path} is not a UTF-8 text of at most 4 MiB; it was not changed.", path=path),
            hint=say("Correct the file, then try again."),
        )
    return text


def is_edited(text: str | None, name: str) -> bool:
    """Return whether a person changed the section of that name on a page. Raises BrokenMarks."""
    return any(section.is_edited for section in managed_block.find(text or "") if section.name == name)


def with_root(text: str, root: str) -> str:
    """Return a skill that names a Root and the variable for it, unchanged for the default Root."""
    if not root:
        return text
    head, fence, body = text.partition("\n---\n")
    note = f"The Root of this workspace is `{root}`; run every command with `ORACLE_ROOT={shlex.quote(root)}` in its environment."
    title, _, rest = body.lstrip("\n").partition("\n")
    body = f"\n{title}\n\n{note}\n{rest.replace(_DEFAULT_ROOT, root).replace(_FOUND_ANYWAY, '')}"
    return f"{head.replace(_DEFAULT_ROOT, 'the Root of the workspace')}{fence}{body}"


def _without_frontmatter(text: str) -> str:
    return text.partition("\n---\n")[2].strip()
