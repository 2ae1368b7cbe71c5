"""What each session was given: the text of each prompt, and the items, so that none comes twice. Files that may be deleted."""

from __future__ import annotations

import json
import os
import zlib

from oracle import __version__
from oracle.domain.values import value
from oracle.store.disk import files, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.app.context import Context
    from oracle.domain.injection.envelope import ContextItem

_MOST_PROMPTS = 50
_KEPT_SECONDS = 30 * 86_400
_LONGEST_ID = 500
_LONGEST_NAME = 64
_MOST_CLEAN = 5000
_CLEAN_VERSION = f"1 {__version__}"


@value
class SessionGiven:
    """What a session was given. `texts` are those of its last prompts, by their ids; `items` name what was quoted."""

    texts: tuple[tuple[str, str], ...] = ()
    items: frozenset[str] = frozenset()

    def text_of(self, prompt_id: str) -> str | None:
        """Return the text that a prompt was given, None for a new prompt."""
        return dict(self.texts).get(prompt_id) if prompt_id else None

    def new(self, items: Iterable[ContextItem]) -> tuple[ContextItem, ...]:
        """Return the items that the session was not given yet. One whose text changed since is new."""
        return tuple(item for item in items if _mark(item) not in self.items)


def load(context: Context, session_id: str) -> SessionGiven:
    """Return what a session was given; nothing for an unknown one or a damaged file."""
    content = steps.parse_object(steps.read(_path(context, session_id))) if session_id else None
    texts, items = (content or {}).get("prompts"), (content or {}).get("items")
    if not isinstance(texts, dict) or not isinstance(items, list):
        return SessionGiven()
    pairs = ((name, text) for name, text in texts.items() if isinstance(text, str))
    return SessionGiven(tuple(pairs), frozenset(item for item in items if isinstance(item, str)))


def keep(
    context: Context, session_id: str, given: SessionGiven, prompt_id: str, text: str, items: Iterable[ContextItem]
) -> None:
    """Keep what a prompt was given. Raises DiskFailure."""
    if not session_id:
        return
    texts = dict(given.texts) | ({prompt_id[:_LONGEST_ID]: text} if prompt_id else {})
    whole = given.items | {_mark(item) for item in items}
    content = {"prompts": dict(list(texts.items())[-_MOST_PROMPTS:]), "items": sorted(whole)}
    data = json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace")
    files.replace(_path(context, session_id), data, scratch=context.root.scratch)


def forget_items(context: Context, session_id: str) -> None:
    """Forget which items a session was given: its context was emptied or summarised. Raises DiskFailure."""
    given = load(context, session_id)
    if given.items:
        keep(context, session_id, SessionGiven(given.texts), "", "", ())


def remove_old(context: Context) -> None:
    """Remove the files of sessions that ended long ago. A failure is no fault of the session that begins."""
    try:
        found = list(os.scandir(context.root.injected))
    except OSError:
        return
    for entry in found:
        if entry.stat(follow_symlinks=False).st_mtime < context.now_seconds() - _KEPT_SECONDS:
            files.discard(entry.path)


def load_clean(context: Context) -> frozenset[str]:
    """Return the marks of texts that the guard found clean, under the rules that the owner of the Root has now."""
    lines = (steps.read(f"{context.root.injected}/clean") or b"").decode("ascii", "replace").split("\n")
    return frozenset(lines[1:]) if lines[0] == _rules_of(context) else frozenset()


def keep_clean(context: Context, known: frozenset[str], items: Iterable[ContextItem]) -> None:
    """Keep that the texts of some items are clean: looking for credentials costs a prompt more than the search."""
    marks = [mark for item in items if (mark := text_mark(item)) not in known]
    if marks and not context.index.database.in_memory:
        lines = [_rules_of(context), *sorted(known)[:_MOST_CLEAN], *marks]
        data = "\n".join(lines).encode("ascii")
        files.replace(f"{context.root.injected}/clean", data, scratch=context.root.scratch)


def text_mark(item: ContextItem) -> str:
    """Return a mark of all the texts of an item."""
    text = "\0".join((item.title, item.text, item.note)).encode("utf-8", "replace")
    return f"{zlib.crc32(text):08x}{zlib.adler32(text):08x}{len(text):x}"


def _rules_of(context: Context) -> str:
    """Return the state of the file with the owner's rules."""
    try:
        found = os.stat(f"{context.root.machine}/privacy.md")
    except OSError:
        return f"{_CLEAN_VERSION}"
    return f"{_CLEAN_VERSION} {found.st_mtime_ns} {found.st_size}"


def _path(context: Context, session_id: str) -> str:
    return f"{context.root.injected}/{file_name(session_id)}.json"


def file_name(name: str) -> str:
    """Return the name of a file for an id of others: the id where it is plain, else a hash of it."""
    if name.replace("-", "").isalnum() and name.isascii() and len(name) <= _LONGEST_NAME:
        return f"session-{name}"
    import hashlib

    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]


def _mark(item: ContextItem) -> str:
    return f"{item.slug or item.path}#{zlib.crc32(item.text.encode('utf-8', 'replace')):08x}"
