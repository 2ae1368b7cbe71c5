"""Find the skills on disk: the roots of each source, and the SKILL.md files in them. Nothing is followed out of its root.

A root is a skill itself, with a SKILL.md, or holds a folder for each skill.
"""

from __future__ import annotations

import os

from oracle.domain.skills.skill import FILE, LARGEST, SOURCES, Skill, interpret
from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.store.disk import folders
from oracle.store.markdown import markdown
from oracle.store.root.features import SkillSettings
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SKIPPED = frozenset(("node_modules", "__pycache__"))
_MOST = 1000
"""Folders of a root that are looked at."""


@value
class FoundSkills:
    """The skills that were found, in the order of their sources, and sentences on files that were left out."""

    skills: tuple[Skill, ...]
    problems: tuple[str, ...]


def roots_of(home: str, workspace: str, settings: SkillSettings, extra: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return (source, folder) of every place for skills, whether it exists or not."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    bundled = (f"{os.path.dirname(package)}/references", f"{package}/_data/references")
    places: Mapping[str, tuple[str, ...]] = {
        "extra": (*settings.extra, *extra),
        "bundled": next(((path,) for path in bundled if os.path.isfile(f"{path}/{FILE}")), ()),
        "managed": (f"{home}/.openclaw/skills",),
        "personal": (f"{home}/.claude/skills", f"{home}/.agents/skills"),
        "project": (f"{workspace}/.claude/skills", f"{workspace}/.agents/skills"),
        "workspace": (f"{workspace}/skills",),
    }
    return [(source, os.path.abspath(os.path.expanduser(path))) for source in SOURCES for path in places[source]]


def scan(roots: list[tuple[str, str]]) -> FoundSkills:
    """Return the skills of some roots, and what was left out and why."""
    skills: list[Skill] = []
    problems: list[str] = []
    for source, root in dict.fromkeys(roots):
        for path in _files(root):
            try:
                skills.append(_load(path, root, source))
            except UsageError as error:
                problems.append(error.sentence)
    return FoundSkills(tuple(skills), tuple(problems))


def _files(root: str) -> Iterator[str]:
    if os.path.lexists(f"{root}/{FILE}"):
        yield f"{root}/{FILE}"
        return
    names = [name for name in folders.names_in(root) if not name.startswith(".") and name not in _SKIPPED]
    yield from (f"{root}/{name}/{FILE}" for name in names[:_MOST] if os.path.lexists(f"{root}/{name}/{FILE}"))


def _load(path: str, root: str, source: str) -> Skill:
    document = markdown.parse(read(path, root))
    return interpret(document.fields, document.body, path=path, root=root, source=source)


def read(path: str, root: str) -> bytes:
    """Return the bytes of a SKILL.md. Raises UsageError for one outside of its root, too large, or no file."""
    try:
        with folders.open_plain(path, within=root) as stream:
            raw = stream.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(
            say("{path} can't be read: {reason}.", path=path, reason=error.strerror),
            hint=say("See `oracle skill list --why`."),
        ) from error
    if len(raw) > LARGEST:
        raise UsageError(say("{path} is larger than 256 KiB.", path=path), hint=say("Split it into several files."))
    return raw
