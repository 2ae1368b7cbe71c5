"""Names: slugs, entities and their file names, outside names, and seats with what they may write. Pure and cheap to import."""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Mapping

from oracle.errors import InvalidName, OwnershipError, UsageError
from oracle.wording import say, say_each

MAX_NAME_BYTES = 128
_LONGEST_ECHO = 60
"""Characters of a bad value that a sentence repeats."""
SHARED = "_shared"
"""The project of records that belong to none: they lie under `shared/`."""
ENTITY = "entity:"
RECORD_SUFFIXES = (".md", ".json")
FOREIGN = "sources/"
"""How the slug of a record in a source begins: `sources/<project>/<name>/…`. Its file is outside of the Root."""
NAMESPACES = ("taskid", "commit", "component", "file", "url", "key", "project")


_WORDS: dict[str, str] = {
    word: word
    for word in say_each(
        "project", "seat", "task id", "The task id", "name", "session", "verdict", "tool", "peer or task", "fact file"
    )
}
"""What a name may be of, as a sentence says it."""


def check_name(value: str, what: str) -> str:
    """Return `value` in NFC when it may be part of a path: a project, seat, task id or kind from outside.

    Letters and digits of any script, `.`, `_` and `-`, a letter or digit first, at most 128 bytes, no `..`.
    Raises InvalidName naming `what`.
    """
    name = unicodedata.normalize("NFC", value)
    if not _is_spelled_well(name):
        raise InvalidName(
            say("{what} {value!r} can't be used as a name.", what=_WORDS.get(what, what), value=cut(value)),
            hint=say("Use letters, digits, '.', '_' and '-', beginning with a letter or digit."),
        )
    if len(name.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES:
        raise InvalidName(
            say(
                "{what} {value!r}… is longer than {most} bytes.",
                what=_WORDS.get(what, what),
                value=value[:32],
                most=MAX_NAME_BYTES,
            ),
            hint=say("Choose a shorter name."),
        )
    return name


def is_name(value: str) -> bool:
    """Return whether `check_name` would take a value."""
    name = unicodedata.normalize("NFC", value)
    return _is_spelled_well(name) and len(name.encode("utf-8", "surrogatepass")) <= MAX_NAME_BYTES


def _is_spelled_well(name: str) -> bool:
    return bool(name) and ".." not in name and name[0].isalnum() and _may_stand(name)


def cut(value: str) -> str:
    """Return a value as a sentence repeats it: its beginning, when it is long."""
    return value if len(value) <= _LONGEST_ECHO else f"{value[:_LONGEST_ECHO]}…"


def _may_stand(name: str) -> bool:
    bare = name.replace(".", "").replace("_", "").replace("-", "")
    return bare.isalnum() or all(char.isalnum() or unicodedata.category(char) in ("Mn", "Mc") for char in bare)


def fold_name(text: str) -> str:
    """Return a seat or kind as it is kept and asked for: in small letters, NFC."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).lower()


def slug_of(relpath: str) -> str:
    """Return the slug of a root-relative path: the path without `.md` or `.json`."""
    for suffix in RECORD_SUFFIXES:
        if relpath.endswith(suffix):
            return relpath[: -len(suffix)]
    return relpath


def slug_in(path: str, names: Container[str]) -> str:
    """Return the slug of a record file among the names of its folder: `x.json` beside `x.md` keeps its suffix.

    Of several files that would have one slug the Markdown file has it; the JSON files, shortest name first, take the next.
    """
    slug = slug_of(path)
    folder, _, name = slug.rpartition("/")
    if not path.endswith(".json") or not (name + ".md" in names or name in names):
        return slug
    stem = name
    while stem.endswith(".json"):
        stem = stem[: -len(".json")]
    taken: set[str] = set()
    file = stem
    while file != name + ".json":
        file += ".json"
        if file in names:
            claimed = file[: -len(".json")]
            while claimed in taken or claimed + ".md" in names:
                claimed += ".json"
            taken.add(claimed)
    return f"{folder}/{claimed}"


def is_entity(target: str) -> bool:
    """Return whether `target` names an entity rather than a record."""
    return target.startswith(ENTITY)


def entity(namespace: str, value: str) -> str:
    """Print an entity target."""
    return f"{ENTITY}{namespace}:{value}"


def split_entity(target: str) -> tuple[str, str]:
    """Return (namespace, value) of an entity target. Raises UsageError for anything else."""
    _, _, rest = target.partition(ENTITY)
    namespace, colon, value = rest.partition(":")
    if not is_entity(target) or not namespace or not colon or not value:
        raise UsageError(
            say("{target!r} is not an entity.", target=target),
            hint=say("Write entity:<namespace>:<value>, as in entity:taskid:ARENA-228."),
        )
    return namespace, value


def parse_target(text: str, root: str = "") -> str:
    """Return the target that a person named: a slug, a slug with suffix, a path under `root`, or an entity.

    Raises UsageError for an empty text, an absolute path outside `root` and a path that climbs.
    """
    target = unicodedata.normalize("NFC", text.strip()) if text.startswith(ENTITY) else text.strip()
    if is_entity(target):
        namespace, value = split_entity(target)
        return entity(namespace, value.strip())
    if target.startswith("/"):
        prefix = root.rstrip("/") + "/"
        if not root or not target.startswith(prefix):
            raise UsageError(
                say("{text!r} is not under the Root {root}.", text=text, root=root or say("(none)")),
                hint=say("Give a slug or a path under the Root."),
            )
        target = target[len(prefix) :]
    target = slug_of(target.removeprefix("./").rstrip("/"))
    if not target or "\0" in target or ".." in target.split("/"):
        raise UsageError(
            say("{text!r} names no record and no entity.", text=text),
            hint=say("Give a slug such as projects/arena/decision/foo."),
        )
    return target


def project_of(slug: str) -> str:
    """Return the project of a slug or root-relative path, or "" outside `projects/` and `sources/`."""
    parts = slug.split("/", 2)
    return parts[1] if len(parts) == 3 and parts[0] in ("projects", "sources") else ""


def home_of(slug: str) -> str:
    """Return the folder of the project or source of a slug, in which its links are looked for; "" without one."""
    parts = slug.split("/")
    size = {"projects": 2, "sources": 3}.get(parts[0], 0)
    return "/".join(parts[:size]) if len(parts) > size else ""


# Target <-> file name under `_links/` and `_backlinks/`. Ordinary slugs keep the well-known form (`/` -> `__`, `:` -> `++`).
# A literal `_` or `+` is percent-encoded only where it would be ambiguous, so that no two targets share a file.

MAX_BYTES = 180
"""Longest flat name in bytes, suffix not counted; longer ones are cut and completed by a hash."""

_HEAD_BYTES = 120
_HASH_DIGITS = 24
_PAIRS = {"/": "__", ":": "++"}
_AMBIGUOUS = {"_": "/", "+": ":"}


def flatten(target: str) -> str:
    """Return the file name (without `.jsonl`) of `target`.

    Injective: different targets give different names; the hashed tail of names over 180 bytes is 24 hexadecimal digits of
    SHA-256. Lone surrogates raise UnicodeEncodeError (no target holds one).
    """
    if target.isascii() and "_" not in target and "+" not in target and "%" not in target and "~" not in target:
        flat = target.replace("/", "__").replace(":", "++")
        if len(flat) <= MAX_BYTES and not flat.startswith(".") and flat.isprintable():
            return flat
    flat = "".join(_encode(target, index, char) for index, char in enumerate(target))
    raw = flat.encode("utf-8")
    return flat if len(raw) <= MAX_BYTES else _shorten(target, raw)


def _encode(target: str, index: int, char: str) -> str:
    if char in _PAIRS:
        return _PAIRS[char]
    if char in _AMBIGUOUS:
        neighbours = target[max(0, index - 1) : index] + target[index + 1 : index + 2]
        return _percent(char) if char in neighbours or _AMBIGUOUS[char] in neighbours else char
    if char in "%~" or (char == "." and index == 0) or ord(char) < 32 or ord(char) == 127:
        return _percent(char)
    return char


def _percent(char: str) -> str:
    return f"%{ord(char):02X}"


def _shorten(target: str, raw: bytes) -> str:
    from hashlib import sha256

    head = raw[:_HEAD_BYTES].decode("utf-8", "ignore")
    return f"{head}~{sha256(target.encode('utf-8')).hexdigest()[:_HASH_DIGITS]}"


# Seats and what they may write -----------------------------------------------------------------------------------------

MEMORY = "memory"
FRONT = "koder"
"""The seat that people are reached by."""
OPERATOR = "operator"
"""The person behind the team: may ask, has no queue, no pane and no home."""

ROLES = ("memory", "planner", "builder", "reviewer", "patrol")
ORPHAN_KINDS = ("decision", "finding", "task", "plan", "experience")
"""The kinds that no single seat owns; Memory writes these and nothing else under `projects/`."""

SCAN_KINDS = ("dev_env", "runtime", "tests", "deploy", "ci", "lint", "structure", "env_templates")
PATROL_FOLDERS = ("doc-code-alignment", "test-results", "task-commit-gaps")
_MEMORY_TREES = ("responses", "machine", "shared", "learnings")


def role_of(seat: str) -> str:
    """Return the role of a seat: its name without a trailing `-<number>`, or "" for a name that is no role."""
    stem, dash, number = seat.rpartition("-")
    role = stem if dash and number.isdecimal() else seat
    return role if role in ROLES else ""


def may_write(seat: str, relpath: str) -> bool:
    """Return whether `seat` may write the root-relative file `relpath` (a truth file, not a projection)."""
    parts = relpath.split("/")
    if not all(parts) or any(part in (".", "..") for part in parts):
        return False
    if role_of(seat) == MEMORY:
        return _memory_may_write(parts)
    return _seat_may_write(seat, parts)


def is_scanned(relpath: str) -> bool:
    """Return whether a root-relative path is that of the facts which a scan of a repository writes."""
    parts = relpath.split("/")
    stem, dot, ending = parts[-1].rpartition(".")
    return len(parts) == 3 and parts[0] == "projects" and dot + ending == ".json" and stem in SCAN_KINDS


def _memory_may_write(parts: list[str]) -> bool:
    if parts == ["events.log"] or (len(parts) > 1 and parts[0] in _MEMORY_TREES):
        return True
    if parts[0] != "projects" or len(parts) < 3:
        return False
    if len(parts) == 3:
        return is_scanned("/".join(parts))
    return parts[2] in ORPHAN_KINDS


def _seat_may_write(seat: str, parts: list[str]) -> bool:
    role = role_of(seat)
    if not role or parts[0] != "projects" or len(parts) < 4 or parts[2] != seat:
        return False
    return role != "patrol" or (len(parts) > 4 and parts[3] in PATROL_FOLDERS)


def may_end(source: str, source_seat: str, target: str, target_seat: str) -> bool:
    """Return whether the record `source` may supersede or retire `target`, both slugs: its own seat's, or any as memory.

    A record of a source may end records of that source alone.
    """
    if source.startswith(FOREIGN):
        return home_of(source) == home_of(target)
    if role_of(source_seat) == MEMORY:
        return True
    return source_seat == target_seat and project_of(source) == project_of(target)


def require_writer(seat: str, relpath: str) -> None:
    """Raise OwnershipError unless `seat` may write `relpath`."""
    check_name(seat, "seat")
    if not may_write(seat, relpath):
        raise OwnershipError(
            say("The seat {seat} may not write {relpath}.", seat=seat, relpath=relpath),
            hint=say(
                "Memory writes decision, finding, task, plan and experience records; every other seat writes its own folder."
            ),
        )


# States ---------------------------------------------------------------------------------------------------------------

_STATES: Mapping[str, str] = {str(one): one for one in say_each(
    "open", "claimed", "claim-expired", "with-memory-seat", "answered", "delivered", "consumed-unanswered", "unnotified",
    "consumed", "conflict", "acked", "superseded", "retired", "investigating", "resolved", "completed", "gone",
    "pending", "in_progress", "done", "blocked", "moved", "live", "unchecked",
)}  # fmt: skip
"""The words for how far a handoff, a record or a step is, or whether a name is there. Files, options and JSON keep them."""


def say_state(word: str) -> str:
    """Return a state as a sentence, so that people read it in their language; any other word as it is."""
    return _STATES.get(word, word)
