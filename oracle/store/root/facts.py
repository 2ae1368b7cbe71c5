"""Facts: JSON files of scanners, read by a dotted key, written whole. Cheap to import, because `--key` must be fast.

`machine/<name>.json` comes before the old flat `<name>.json`. A project's facts are `projects/<p>/<name>.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping

from oracle.domain.names import check_name
from oracle.errors import InvalidName, InvalidRecord, NotInMemory, RootUnusable
from oracle.store.disk import folders
from oracle.store.root.layout import Root
from oracle.wording import say

_MOST_BYTES = 64 << 20
"""The largest fact file in bytes."""

MISSING = object()
"""The result of `look_up` for a path that does not exist."""

HIDDEN = "[REDACTED:credential]"
"""Shown in search results in place of the value of a credential."""

_ABOUT_SECRETS = frozenset(
    """name type kind source path file provider url host user scope note description status env line count length expires
    created_at updated_at scanned_at""".split()
)
"""Keys below a credential whose values only describe it."""


class Fact:
    """A value, the root-relative file that holds it, and whether that is the old flat layout."""

    __slots__ = ("legacy", "path", "value")

    def __init__(self, value: object, path: str, *, legacy: bool) -> None:
        self.value = value
        self.path = path
        self.legacy = legacy


def find_file(root: Root, name: str, project: str = "") -> tuple[str, bool]:
    """Return (root-relative path, whether it is the old flat layout) of a fact file. Raises NotInMemory, InvalidName."""
    checked = check_name(name, "fact file")
    places = [(f"machine/{checked}.json", False), (f"{checked}.json", True)]
    if project:
        places.insert(0, (f"{root.project(project)}/{checked}.json", False))
    for path, legacy in places:
        if os.path.isfile(root.join(path)) and root.contains(root.join(path)):
            return path, legacy
    if project:
        raise NotInMemory(
            say(
                "not_in_memory_db: neither {folder} nor machine/ has a {checked}.json",
                folder=root.project(project),
                checked=checked,
            ),
            hint=say(
                "A scan writes it when it finds something: `oracle scan project --project {project} --depth deep "
                "--commit`.",
                project=project,
            ),
        )
    raise NotInMemory(
        say(
            "not_in_memory_db: memory file not found: {checked}.json (checked machine/ and flat layout under {path})",
            checked=checked,
            path=root.path,
        ),
        hint=say("`oracle index status` lists the fact files."),
    )


def load(root: Root, path: str) -> object:
    """Return the JSON of a fact file. Raises InvalidRecord if it is invalid."""
    try:
        with open(root.join(path), "rb") as stream:
            raw = stream.read(_MOST_BYTES + 1)
        content: object = json.loads(raw.decode("utf-8-sig")) if len(raw) <= _MOST_BYTES else MISSING
    except (ValueError, RecursionError) as error:
        raise InvalidRecord(
            say("{path} is not valid JSON: {error}.", path=path, error=error),
            hint=say("Run the scanner that wrote it again."),
        ) from error
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    if content is MISSING:
        raise _unreadable(path, say("it is larger than 64 MiB"))
    return content


def _unreadable(path: str, reason: str) -> InvalidRecord:
    return InvalidRecord(
        say("{path} can't be read: {reason}.", path=path, reason=reason), hint=say("Check its owner and mode.")
    )


def find(root: Root, key: str, project: str = "") -> Fact:
    """Return the fact at a dotted key. The first part names the file, numbers index lists, keys may contain dots.

    Raises NotInMemory if no file has the value, InvalidName if the key does not start with a file name.
    """
    name, _, rest = key.strip().partition(".")
    if not name:
        raise InvalidName(
            say("The key {key!r} does not start with the name of a fact file.", key=key),
            hint=say("Write FILE.KEY, as in network.endpoints.0."),
        )
    path, legacy = find_file(root, name, project)
    content = load(root, path)
    value = look_up(content, rest.split(".")) if rest else content
    if value is None:
        raise NotInMemory(
            say("not_in_memory_db: {key} is null.", key=key),
            hint=say("{path} has the key without a value.", path=path),
        )
    if value is MISSING:
        raise NotInMemory(
            say("not_in_memory_db: not_found: {key}", key=key),
            hint=say(
                "{path} does not have this key; see `oracle show {name}`.", path=path, name=_asked(name, path, project)
            ),
        )
    return Fact(value, path, legacy=legacy)


def _asked(name: str, path: str, project: str) -> str:
    """Return the name of a fact file for a command, with its project if that is meant."""
    return f"{name} --project {project}" if path.startswith("projects/") else name


def look_up(content: object, parts: list[str]) -> object:
    """Follow a path. The longest run of parts that is a key is taken first, so that keys with dots are found."""
    if not parts:
        return content
    if isinstance(content, dict):
        for length in range(len(parts), 0, -1):
            key = ".".join(parts[:length])
            if key in content:
                found = look_up(content[key], parts[length:])
                if found is not MISSING:
                    return found
        return MISSING
    if isinstance(content, list) and parts[0].isdecimal() and len(parts[0]) < 20 and int(parts[0]) < len(content):
        return look_up(content[int(parts[0])], parts[1:])
    return MISSING


def fact_files(root: Root) -> Iterator[tuple[str, str]]:
    """Yield (label, root-relative path) of every fact file: `machine/<name>` first, then the old flat ones."""
    for folder, label in (("machine", "machine/"), ("", "")):
        for name in folders.names_in(root.join(folder)):
            path = f"{folder}/{name}" if folder else name
            if (
                name.endswith(".json")
                and not name.startswith(".")
                and os.path.isfile(root.join(path))
                and root.contains(root.join(path))
                and name != "index.json"
            ):
                yield label + name[: -len(".json")], path


def project_files(root: Root, project: str = "") -> Iterator[tuple[str, str]]:
    """Yield (project, root-relative path) of the fact files of a project, or of every project, sorted."""
    for name in [check_name(project, "project")] if project else folders.names_in(root.join("projects")):
        folder = f"projects/{name}"
        for file in [] if name.startswith(".") else folders.names_in(root.join(folder)):
            place = root.join(f"{folder}/{file}")
            if file.endswith(".json") and not file.startswith(".") and os.path.isfile(place) and root.contains(place):
                yield name, f"{folder}/{file}"


def search(root: Root, term: str, only: list[str]) -> list[dict[str, str]]:
    """Return the places where a key or value contains `term`, ignoring case: {file, path, value, match}.

    Values are cut at 200 characters; those of credentials are masked. `only` names the files (`credentials` or
    `machine/credentials`); empty means all.
    """
    folded = term.casefold()
    found: list[dict[str, str]] = []
    for label, path in fact_files(root):
        if only and label not in only and label.removeprefix("machine/") not in only:
            continue
        try:
            is_secret = hides(label.rpartition("/")[2])
            found += _matches(load(root, path), "", folded, label, is_secret=is_secret)
        except (InvalidRecord, RecursionError):
            continue
    return found


def _matches(content: object, path: str, folded: str, label: str, *, is_secret: bool) -> Iterator[dict[str, str]]:
    items: list[tuple[str, object]] = []
    if isinstance(content, dict):
        items = [(str(key), value) for key, value in content.items()]
    elif isinstance(content, list):
        items = [(str(index), value) for index, value in enumerate(content)]
    elif folded in _text(content).casefold():
        yield {"file": label, "path": path, "value": _shown(content, is_secret=is_secret), "match": "value"}
    for key, value in items:
        below = f"{path}.{key}" if path else key
        is_hidden = hides(key, is_secret=is_secret) if isinstance(content, dict) else is_secret
        if isinstance(content, dict) and folded in key.casefold():
            yield {"file": label, "path": below, "value": _shown(value, is_secret=is_hidden), "match": "key"}
        yield from _matches(value, below, folded, label, is_secret=is_hidden)


def hides(key: str, *, is_secret: bool = False) -> bool:
    """Return whether the value of a key is hidden: the key names a credential, or is below one and not just a description."""
    from oracle.domain.safety.secrets import names_secret

    return names_secret(key) or (is_secret and key.casefold() not in _ABOUT_SECRETS)


def _shown(value: object, *, is_secret: bool) -> str:
    return _text(veiled(value, is_secret=is_secret))[:200]


def veiled(value: object, *, is_secret: bool) -> object:
    """Return a value with hidden parts replaced. true, false and null reveal nothing."""
    if isinstance(value, dict):
        return {key: veiled(item, is_secret=hides(str(key), is_secret=is_secret)) for key, item in value.items()}
    if isinstance(value, list):
        return [veiled(item, is_secret=is_secret) for item in value]
    return HIDDEN if is_secret and value not in (None, True, False, "") else value


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def machine_path(root: Root, name: str) -> str:
    """Return the absolute path of a fact file of the machine."""
    return f"{root.machine}/{check_name(name, 'fact file')}.json"


def project_path(root: Root, project: str, kind: str) -> str:
    """Return the absolute path of a fact file of a project."""
    return root.join(f"{root.project(project)}/{check_name(kind, 'kind')}.json")


def save(root: Root, path: str, content: Mapping[str, object]) -> None:
    """Replace a fact file atomically with mode 0600 and sync it. Raises RootUnusable outside of the Root, DiskFailure."""
    from oracle.store.disk import files

    folder = os.path.dirname(path)
    files.make_folder(folder)
    if not root.contains(folder):
        raise RootUnusable(
            say("{folder} leads out of the Root.", folder=folder), hint=say("Replace the link by a folder.")
        )
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    with files.failing(path):
        new = files.write_scratch(root.scratch, text.encode("utf-8", "replace"))
        files.sync_file(new)
        files.rename(new, path)
        files.sync_folder(folder)
