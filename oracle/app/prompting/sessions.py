"""What each session was given: the text of each prompt, and the items, so that none comes twice. Files that may be deleted."""

from __future__ import annotations

import json
import os
import zlib

from oracle import __version__
from oracle.domain.markdown.documents import digest_of
from oracle.domain.values import value
from oracle.errors import OracleError
from oracle.index.read import query
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
_CLEAN = "clean"
_KEY_BYTES = 32
_CLEAN_VERSION = f"1 {__version__}"


@value
class SessionGiven:
    """What a session was given. `texts` are those of its last prompts, by their ids; `items` name what was quoted."""

    texts: tuple[tuple[str, str], ...] = ()
    items: frozenset[str] = frozenset()

    @property
    def slugs(self) -> frozenset[str]:
        """The slugs of what was quoted."""
        return frozenset(item.rpartition("#")[0] for item in self.items)

    def text_of(self, prompt_id: str) -> str | None:
        """Return the text that a prompt was given, None for a new prompt."""
        return dict(self.texts).get(_key_of(prompt_id)) if prompt_id else None

    def new(self, items: Iterable[ContextItem]) -> tuple[ContextItem, ...]:
        """Return the items that the session was not given yet. One whose text changed since is new."""
        return tuple(item for item in items if _mark(item) not in self.items)


def load(context: Context, session_id: str) -> SessionGiven:
    """Return what a session was given; nothing for an unknown one or a damaged file."""
    content = steps.parse_object(_read(context, file_name(session_id))) if session_id else None
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
    texts = dict(given.texts) | ({_key_of(prompt_id): text} if prompt_id else {})
    whole = given.items | {_mark(item) for item in items}
    content = {"prompts": dict(list(texts.items())[-_MOST_PROMPTS:]), "items": sorted(whole)}
    data = json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace")
    _write(context, file_name(session_id), data)


def is_outdated(context: Context, session_id: str, given: SessionGiven) -> bool:
    """Return whether a record that a session was given was edited or ended since. It is quick, as most were not."""
    try:
        kept_ns = os.stat(f"{context.root.injected}/{file_name(session_id)}").st_mtime_ns
        if any(os.stat(context.root.join(f"{slug}.md")).st_mtime_ns >= kept_ns for slug in given.slugs):
            return True
    except OSError:
        return bool(given.slugs)
    return bool(query.retired_among(context.index.database.connect(), given.slugs))


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
    lines = _read(context, _CLEAN).decode("ascii", "replace").split("\n")
    return frozenset(lines[1:]) if lines[0] == _rules_of(context) else frozenset()


def keep_clean(context: Context, known: frozenset[str], items: Iterable[ContextItem]) -> None:
    """Keep that the texts of some items are clean: looking for credentials costs a prompt more than the search."""
    marks = [mark for item in items if (mark := text_mark(item)) not in known]
    if marks and not context.index.database.in_memory:
        lines = [_rules_of(context), *sorted(known)[:_MOST_CLEAN], *marks]
        _write(context, _CLEAN, "\n".join(lines).encode("ascii"))


def text_mark(item: ContextItem) -> str:
    """Return a mark of all the texts of an item."""
    text = "\0".join(item.texts.values()).encode("utf-8", "replace")
    return f"{zlib.crc32(text):08x}{zlib.adler32(text):08x}{len(text):x}"


def _rules_of(context: Context) -> str:
    """Return the state of the file with the owner's rules."""
    try:
        found = os.stat(f"{context.root.machine}/privacy.md")
    except OSError:
        return _CLEAN_VERSION
    return f"{_CLEAN_VERSION} {found.st_mtime_ns} {found.st_size}"


def _read(context: Context, name: str) -> bytes:
    """Return what this machine's owner kept in a file, b"" for none and for one that came with a Root from elsewhere."""
    seal, _, data = (steps.read(f"{context.root.injected}/{name}") or b"").partition(b"\n")
    return data if seal and seal == _seal(context, name, data) else b""


def _write(context: Context, name: str, data: bytes) -> None:
    """Keep a file with its seal, nothing where no key can be kept. Raises DiskFailure."""
    if seal := _seal(context, name, data, makes_key=True):
        files.replace(f"{context.root.injected}/{name}", seal + b"\n" + data, scratch=context.root.scratch)


def _seal(context: Context, name: str, data: bytes, *, makes_key: bool = False) -> bytes:
    """Return a hash that only the holder of the owner's key can make, b"" without a key."""
    path = context.root.session_key
    try:
        if makes_key and not os.path.exists(path):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            files.write_new(path, os.urandom(_KEY_BYTES))
        with open(path, "rb") as stream:
            key = stream.read(_KEY_BYTES)
    except (OSError, OracleError):
        return b""
    if len(key) < _KEY_BYTES:
        return b""
    place = os.fsencode(f"{os.path.realpath(context.root.path)}/{name}")
    return digest_of(place + b"\0" + data, key=key, size=_KEY_BYTES).hex().encode("ascii")


def _key_of(prompt_id: str) -> str:
    """Return the id of a prompt, or a hash of one that is too long to be kept."""
    return prompt_id if len(prompt_id) <= _LONGEST_ID else _hash(prompt_id)


def file_name(name: str) -> str:
    """Return the name of a file for an id of others: the id where it is plain, else a hash of it."""
    if name.replace("-", "").isalnum() and name.isascii() and len(name) <= _LONGEST_NAME:
        return f"session-{name}"
    return _hash(name)


def _hash(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _mark(item: ContextItem) -> str:
    said = f"{item.title}\0{item.text}".encode("utf-8", "replace")  # of a rule the title says all
    return f"{item.slug or item.path}#{zlib.crc32(said):08x}"
