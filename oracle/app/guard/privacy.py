"""Check what leaves: records, wake-ups, questions to the outside.

Credentials and what the owner blocks stop a record or a wake-up. Personal data only adds a warning to a record, because a
wake-up must be able to name a path, and a record its author. It stops a text that leaves the machine.
"""

from __future__ import annotations

import os
import re

from oracle.domain.safety.privacy import Guard, PrivacyFinding, find_personal
from oracle.errors import NotFound, PrivacyBlocked, UsageError
from oracle.store.disk import input_file
from oracle.store.root import privacy
from oracle.wording import Sentence, joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oracle.app.context import Context

RULES = f"{privacy.NAME}:"
"""The beginning of the name of an owner's rule."""

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def guard(context: Context, *, secrets: bool = True, personal: bool = False) -> Guard:
    """Return the guard of a Root. Raises RulesUnusable."""
    return Guard(privacy.load(context.root), secrets=secrets, personal=personal)


def require_clean(context: Context, texts: Mapping[str, str], *, what: str) -> None:
    """Raise PrivacyBlocked if a text to be sent holds a credential or is blocked. Raises RulesUnusable."""
    rules = guard(context)
    found = [finding for place, text in texts.items() for finding in rules.look(text, place)]
    if found:
        named = joined(
            "; ", dict.fromkeys(say("{rule} in {place}", rule=item.rule, place=item.place) for item in found)
        )
        raise PrivacyBlocked(
            say("{what} contains something that must not leave: {named}.", what=what, named=named),
            hint=say("Remove it. `oracle team privacy` checks again."),
        )


def warnings(texts: Mapping[str, str]) -> list[Sentence]:
    """Return a sentence for each sort of personal data in texts, by the name of their place."""
    if not any(True for _ in find_personal("\n".join(texts.values()))):
        return []
    found = [item for place, text in texts.items() for item in Guard(secrets=False).look(text, place)]
    return list(
        dict.fromkeys(say("personal data: {rule} in {place}", rule=item.rule, place=item.where) for item in found)
    )[:10]


def check_text(context: Context, text: str, place: str = "text") -> tuple[PrivacyFinding, ...]:
    """Return findings of what must not leave this machine. Raises RulesUnusable."""
    return guard(context, personal=True).look(text, place)


def check_file(context: Context, path: str) -> tuple[PrivacyFinding, ...]:
    """Return the findings of a file. Raises NotFound, and UsageError for a binary file."""
    if not os.path.exists(path):
        raise NotFound(say("{path} is not there.", path=path), hint=say("Give the path of a file."))
    raw = input_file.read(path, "--file")
    if b"\0" in raw:
        raise UsageError(
            say("{path} can't be read: {reason}.", path=path, reason=say("it is not text")),
            hint=say("Give the path of a text file."),
        )
    return check_text(context, raw.decode("utf-8", "replace"), path)


def check_staged(context: Context, repository: str) -> tuple[PrivacyFinding, ...]:
    """Return the findings of the lines that the next commit would add, and of the paths that it touches.

    Raises UsageError outside a repository.
    """
    from oracle.app.git import ask_git

    words = ("-c", "core.quotepath=off", "diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv")
    code, diff = ask_git(repository, *words, "--unified=0")
    _, names = ask_git(repository, *words, "--name-only", "--diff-filter=d", "-z")
    if code:
        raise UsageError(
            say("{repository} is not a Git repository, or Git failed.", repository=repository),
            hint=say("Run the command inside the repository."),
        )
    rules = guard(context, personal=True)
    found = [item for name in names.split("\0") for item in rules.look(name, say("(a path)"))]
    for path, first, lines in _added(diff):
        found += [
            PrivacyFinding(item.rule, item.sort, path, item.line + first - 1, item.column)
            for item in rules.look("\n".join(lines), path)
        ]
    return tuple(found)


def _added(diff: str) -> Iterator[tuple[str, int, list[str]]]:
    """Yield (path, number of the first line, the lines) of each piece that a diff without context adds.

    It counts lines, because an added line may look like a header of the diff.
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
