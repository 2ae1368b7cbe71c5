"""The skills of the seats in a workspace: put one where its tool reads it, take it out. Hook room; writes that one file.

Claude Code reads a file a skill; Codex and Gemini read one page, in which ours is a section between marks. Whatever else stands
there stays, and a file that is not ours is never replaced.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from dataclasses import dataclass

from oracle.domain.markdown import managed_block
from oracle.domain.names.seats import ROLES, role_of
from oracle.errors import Conflict, DiskFailure, UsageError
from oracle.hook import settings
from oracle.store.disk import steps
from oracle.wording import say

TOOLS = {"claude": ".claude/skills/{name}/SKILL.md", "codex": "AGENTS.md", "gemini": "GEMINI.md"}
"""Where each tool reads, below the workspace."""

NAMES = {role: "memory-oracle" if role == "memory" else f"oracle-{role}" for role in ROLES}
"""The skill of each role, as its frontmatter names it."""

_DEFAULT_ROOT, _FOUND_ANYWAY = "~/.agents/memory", "Every command finds the Root by itself. "
_MOST_BYTES, _MOST_KEPT = 4 << 20, 100


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it is and as it should be, None where there is none; nothing is written yet."""

    path: str
    before: str | None
    after: str | None
    is_edited: bool = False
    """Whether what is ours was changed by hand; it is kept beside then."""

    @property
    def is_needed(self) -> bool:
        """Tell whether the two differ."""
        return self.before != self.after

    def diff(self) -> str:
        """Return the change as a unified diff, "" when nothing changes."""
        return settings.Change(self.path, self.before, self.after or "").diff() if self.is_needed else ""

    def apply(self) -> str:
        """Make the change, atomically; return the path of what is kept beside, "" for nothing. Raises DiskFailure."""
        path, kept = os.path.realpath(self.path), ""
        if self.is_edited and self.before is not None:
            kept = _free(f"{path}.bak")
            steps.replace(kept, self.before.encode())
        if self.after is None:
            _remove(path)
        else:
            steps.replace(path, self.after.encode())
        return kept


def _free(path: str) -> str:
    """Return a path at which nothing stands: this one, else with a number behind it."""
    numbered = (f"{path}{number}" for number in range(2, _MOST_KEPT))
    return next((one for one in (path, *numbered) if not os.path.lexists(one)), path)


def plan_install(workspace: str, *, tool: str, seat: str, root: str = "") -> Change:
    """Return the change that gives a workspace the skill of a seat, for a Root that its programs would not find themselves.

    Raises UsageError for a tool, a seat or a place that can't be, NotFound for no workspace, Conflict for somebody else's file.
    """
    role = _role(seat)
    path = _place(workspace, tool, role)
    before, text = _read(path), _with_root(read_skill(role), root)
    if tool == "claude":
        if before is not None and before.strip() and not managed_block.is_signed(before):
            raise Conflict(
                say("{path} is not ours; it was left as it is.", path=path), hint=say("Move it away, then try again.")
            )
        return Change(path, before, managed_block.sign(text), before is not None and managed_block.is_edited(before))
    after = managed_block.put(before or "", NAMES[role], _without_frontmatter(text))
    return Change(path, before, after, _is_edited(before, NAMES[role]))


def plan_uninstall(workspace: str, *, tool: str, seat: str = "") -> list[Change]:
    """Return the changes that take the skill of a seat, or every skill of ours, out of a workspace. Raises as `plan_install`."""
    roles = [_role(seat)] if seat else list(ROLES)
    places = {role: _place(workspace, tool, role) for role in roles}
    if tool == "claude":
        changes = [_file_out(path) for path in places.values()]
    else:
        changes = [_sections_out(places[roles[0]], [NAMES[role] for role in roles])]
    return changes if seat else [change for change in changes if change.before is not None]


def _file_out(path: str) -> Change:
    before = _read(path)
    if before is None or not managed_block.is_signed(before):
        return Change(path, before, before)
    return Change(path, before, None, managed_block.is_edited(before))


def _sections_out(path: str, names: list[str]) -> Change:
    """Return the change that takes sections out of a page; one that held nothing else goes."""
    before = _read(path)
    if not before:
        return Change(path, before, before)
    after = before
    for name in names:
        after = managed_block.take(after, name)
    return Change(path, before, after or None, any(_is_edited(before, name) for name in names))


def read_skill(role: str) -> str:
    """Return the skill of a role, from beside the package in a checkout, from inside it once installed. Raises DiskFailure."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    name = "SKILL.md" if role == "memory" else f"skills/{role}.md"
    for folder in (f"{os.path.dirname(package)}/references", f"{package}/_data/references"):
        raw = steps.read(f"{folder}/{name}")
        if raw is not None:
            return raw.decode()
    raise DiskFailure(say("The skill of {role} is not installed.", role=role), hint=say("Install the package again."))


def _role(seat: str) -> str:
    role = role_of(seat)
    if not role:
        raise UsageError(
            say("There is no skill for the seat {seat!r}.", seat=seat),
            hint=say("There is one for {roles}.", roles=ROLES),
        )
    return role


def _place(workspace: str, tool: str, role: str) -> str:
    """Return the file that a tool reads. Raises UsageError for one that a link leads out of the workspace, or that is no file."""
    if tool not in TOOLS:
        raise UsageError(say("There is no tool {tool!r}.", tool=tool), hint=say("There are {choices}.", choices=TOOLS))
    folder = settings.workspace_folder(workspace)
    path = f"{folder.rstrip('/')}/{TOOLS[tool].format(name=NAMES[role])}"
    real = os.path.realpath(path)
    if not real.startswith(f"{os.path.realpath(folder).rstrip('/')}/"):
        raise UsageError(
            say("A link leads {path} out of the workspace; nothing was written.", path=path),
            hint=say("Put a file in its place."),
        )
    if os.path.lexists(real) and not os.path.isfile(real):
        raise UsageError(say("{path} is no file.", path=path), hint=say("Move it away, then try again."))
    return path


def _read(path: str) -> str | None:
    real = os.path.realpath(path)
    raw = steps.read(real)
    if raw is None:
        return None
    try:
        text = raw.decode() if len(raw) <= _MOST_BYTES else None
    except ValueError:
        text = None
    if text is None:
        raise UsageError(
            say("{path} is no text in UTF-8 of at most 4 MiB; it was left as it is.", path=path),
            hint=say("Correct the file, then try again."),
        )
    return text


def _is_edited(text: str | None, name: str) -> bool:
    return any(section.is_edited for section in managed_block.find(text or "") if section.name == name)


def _with_root(text: str, root: str) -> str:
    """Return a skill that speaks of a Root, and says how every command is told of it; as it is for the Root that has no name."""
    if not root:
        return text
    head, fence, body = text.partition("\n---\n")
    told = f"The Root of this workspace is `{root}`; run every command with `ORACLE_ROOT={shlex.quote(root)}` in its environment."
    title, _, rest = body.lstrip("\n").partition("\n")
    body = f"\n{title}\n\n{told}\n{rest.replace(_DEFAULT_ROOT, root).replace(_FOUND_ANYWAY, '')}"
    return f"{head.replace(_DEFAULT_ROOT, 'the Root of the workspace')}{fence}{body}"


def _without_frontmatter(text: str) -> str:
    return text.partition("\n---\n")[2].strip()


def _remove(path: str) -> None:
    """Remove a file of ours, and its folder when that is a skill's and empty."""
    try:
        os.unlink(path)
    except OSError as error:
        raise DiskFailure(
            say("{path} can't be removed: {strerror}.", path=path, strerror=error.strerror),
            hint=say("Check its owner and mode."),
        ) from error
    if os.path.basename(path) == "SKILL.md":
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(path))
