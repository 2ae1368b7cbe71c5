"""The guard before what leaves: records, wake-ups, questions to the outside. One door for all of them.

Credentials and what the owner blocks stop a record or a wake-up. Personal data is named in a record's warnings; only a text
that leaves the machine is stopped by it, since a wake-up must be able to name a path, and a record its author.
"""

from __future__ import annotations

import os
import re

from oracle.domain.safety.privacy import Finding, Guard, find_personal
from oracle.errors import NotFound, PrivacyBlocked, UsageError
from oracle.store.disk import input_file
from oracle.store.root import privacy
from oracle.wording import Sentence, joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oracle.app.context import Context

RULES = f"{privacy.NAME}:"
"""How the name of an owner's rule begins."""

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def guard(context: Context, *, secrets: bool = True, personal: bool = False) -> Guard:
    """Return the guard of a Root. Raises RulesUnusable."""
    return Guard(privacy.load(context.root), secrets=secrets, personal=personal)


def require_clean(context: Context, texts: Mapping[str, str], *, what: str) -> None:
    """Stop what is about to be sent when it holds a credential or is blocked. Raises PrivacyBlocked, RulesUnusable."""
    rules = guard(context)
    found = [finding for place, text in texts.items() for finding in rules.look(text, place)]
    if found:
        named = joined(
            "; ", dict.fromkeys(say("{rule} in {place}", rule=item.rule, place=item.place) for item in found)
        )
        raise PrivacyBlocked(
            say("{what} holds what must not leave: {named}.", what=what, named=named),
            hint=say("Take it out; `oracle privacy check` looks again."),
        )


def warnings(texts: Mapping[str, str]) -> list[Sentence]:
    """Return a sentence for each sort of personal data in texts, which are named by their place."""
    if not any(True for _ in find_personal("\n".join(texts.values()))):
        return []
    found = [item for place, text in texts.items() for item in Guard(secrets=False).look(text, place)]
    return list(
        dict.fromkeys(say("personal data: {rule} in {place}", rule=item.rule, place=item.where) for item in found)
    )[:10]


def check_text(context: Context, text: str, place: str = "text") -> tuple[Finding, ...]:
    """Return what a text holds that must not leave this machine. Raises RulesUnusable."""
    return guard(context, personal=True).look(text, place)


def check_file(context: Context, path: str) -> tuple[Finding, ...]:
    """Return the same of a file. Raises NotFound, UsageError for one that is no text."""
    if not os.path.exists(path):
        raise NotFound(say("{path} is not there.", path=path), hint=say("Name a file."))
    raw = input_file.read(path, "--file")
    if b"\0" in raw:
        raise UsageError(
            say("{path} can't be read: {reason}.", path=path, reason=say("it is no text")),
            hint=say("Name a text file."),
        )
    return check_text(context, raw.decode("utf-8", "replace"), path)


def check_staged(context: Context, repository: str) -> tuple[Finding, ...]:
    """Return the same of the lines that the next commit in a repository would add, and of the paths it touches.

    Raises UsageError outside of a repository.
    """
    from oracle.app.git import ask_git

    words = ("-c", "core.quotepath=off", "diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv")
    code, diff = ask_git(repository, *words, "--unified=0")
    _, names = ask_git(repository, *words, "--name-only", "--diff-filter=d", "-z")
    if code:
        raise UsageError(
            say("{repository} is no repository of git, or git gave no answer.", repository=repository),
            hint=say("Go into the repository."),
        )
    rules = guard(context, personal=True)
    found = [item for name in names.split("\0") for item in rules.look(name, say("(a path)"))]
    for path, first, lines in _added(diff):
        found += [
            Finding(item.rule, item.sort, path, item.line + first - 1, item.column)
            for item in rules.look("\n".join(lines), path)
        ]
    return tuple(found)


def _added(diff: str) -> Iterator[tuple[str, int, list[str]]]:
    """Yield (path, number of the first line, the lines) of each piece that a diff without context adds.

    Lines are counted, since one that is added may look like a heading of the diff.
    """
    path, removed, added, first = "", 0, 0, 0
    lines: list[str] = []
    for line in diff.split("\n"):
        if removed and line.startswith("-"):
            removed -= 1
        elif added and line.startswith("+"):
            added -= 1
            lines.append(line[1:])
            if not added:
                yield path, first, lines
        elif line.startswith("+++ "):
            path = line[4:].rstrip("\t").strip('"').removeprefix("b/")
        elif hunk := _HUNK.match(line):
            removed, first, added = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
            lines = []
