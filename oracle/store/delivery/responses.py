"""Responses: `responses/<task_id>.json`, created once. The only module that writes that folder.

Storing the same answer again changes nothing. A different one is kept aside as `<task_id>.conflict-<hash>.json`.
Replacing an answer keeps the old one as `<task_id>.superseded-<hash>.json`. No answer is ever lost.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping

from oracle.domain import schemas
from oracle.domain.delivery.receipts import fingerprint
from oracle.domain.names import check_name, is_name
from oracle.domain.values import NOTHING, value
from oracle.errors import Conflict, DiskFailure, InvalidName, InvalidRecord, NewerVersion
from oracle.store.delivery.handoffs import Outcome
from oracle.store.disk import folders, steps
from oracle.store.root.layout import Root
from oracle.wording import say

SCHEMA_VERSION = 1
LATER_KEYS = frozenset(("delivered_at", "all_verified", "claim_results", "schema_version", "query_id", "project"))
"""Keys about the delivery, or that repeat the file's name. Responses that differ only in these are the same answer."""

_ASIDE = re.compile(r"(?P<task>.+)\.(?P<kind>conflict|superseded)-(?P<digest>[0-9a-f]{12})\.json")
_HASH_DIGITS = 12
_HINT = say("Deliver again with --supersede; the file is kept.")


@value
class Stored:
    """A stored response: its absolute path, the fingerprint of the answer, and whether this call stored it."""

    path: str
    digest: str
    outcome: Outcome
    settled: int = 0
    """How many other answers this call decided against."""


@value
class Answers:
    """The task ids with a response; for those with conflicts, the digests of the answers kept aside."""

    answered: frozenset[str] = frozenset()
    conflicts: Mapping[str, tuple[str, ...]] = NOTHING


def path_of(root: Root, task_id: str) -> str:
    """Return the path of a task's response. Raises InvalidName, also for an id that looks like an answer kept aside."""
    name = check_name(task_id, "task id")
    if _ASIDE.fullmatch(f"{name}.json"):
        raise InvalidName(
            say("task id {task_id!r} can't be used: it looks like an answer that was kept aside.", task_id=task_id),
            hint=say("Choose an id without '.conflict-' or '.superseded-'."),
        )
    return f"{root.responses}/{name}.json"


def digest_of(response: Mapping[str, object]) -> str:
    """Return the fingerprint of an answer. It does not depend on the time of delivery."""
    return fingerprint(response, leaving_out=LATER_KEYS)[:_HASH_DIGITS]


def put(root: Root, task_id: str, response: Mapping[str, object]) -> Stored:
    """Store the answer to a task, once. Returns ALREADY if the same answer is stored.

    Raises Conflict if there is a different answer, and keeps this one aside, unless the first belongs to another
    project. Raises DiskFailure. Concurrent calls end like one call after another.
    """
    path, digest = path_of(root, task_id), digest_of(response)
    if steps.create_once(path, _render(task_id, response)):
        return Stored(path, digest, Outcome.CREATED)
    found = steps.parse_object(steps.read(path))
    _refuse_other(task_id, found, response)
    if found is not None and find_fault(path, found):
        found = None
    if found is not None and (digest_of(found) == digest or _is_older_form(found, response)):
        return Stored(path, digest, Outcome.ALREADY)
    if found is not None and os.path.lexists(_aside(path, "superseded", digest)):
        raise Conflict(
            say(
                "The task {task_id} has another answer. This one was superseded before, so nothing was changed.",
                task_id=task_id,
            ),
            hint=say("Deliver with --supersede to restore it."),
        )
    aside = _aside(path, "conflict", digest)
    steps.create_once(aside, _render(task_id, response))
    what = say("another answer") if found is not None else say("a response that can't be read")
    raise Conflict(
        say(
            "The task {task_id} already has {what}; the new one was kept aside as {name}.",
            task_id=task_id,
            what=what,
            name=os.path.basename(aside),
        ),
        hint=say(
            "`oracle handoffs show {task_id}` shows both. To keep the first or to take this one, deliver with --supersede.",
            task_id=task_id,
        ),
    )


def _is_older_form(found: Mapping[str, object], response: Mapping[str, object]) -> bool:
    """Return whether a response of an older tool, which checked no claims, is the same answer."""
    return "schema_version" not in found and _digest_as_given(found) == _digest_as_given(response)


def _digest_as_given(response: Mapping[str, object]) -> str:
    """Return the fingerprint of an answer without what a check of its claims adds."""
    return digest_of({key: item for key, item in response.items() if key != "confidence" and item != []})


def supersede(root: Root, task_id: str, response: Mapping[str, object]) -> Stored:
    """Replace the stored answer and keep the old one. An equal answer that was kept aside is removed.

    If the answer is stored already or was kept aside, every conflict is decided in its favour: the others become
    `.superseded-…`. A new answer decides nothing: its author may not know the others.

    Raises Conflict if it belongs to another project, NewerVersion if a newer program wrote the stored one, DiskFailure.
    """
    path, digest = path_of(root, task_id), digest_of(response)
    with steps.FileLock(f"{root.responses}/.responses"):
        raw = steps.read(path)
        outcome = Outcome.ALREADY
        _refuse_other(task_id, steps.parse_object(raw), response)
        if raw is None or _digest_of_bytes(raw) != digest:
            if raw is not None:
                _refuse_newer(task_id, raw)
                steps.link_once(path, _aside(path, "superseded", _digest_of_bytes(raw)))
            steps.replace(path, _render(task_id, response))
            outcome = Outcome.CREATED
        aside = _aside(path, "conflict", digest)
        is_choice = outcome is Outcome.ALREADY or os.path.lexists(aside)
        steps.remove(aside)
        settled = _settle_all(root, task_id) if is_choice else 0
    return Stored(path, digest, outcome, settled)


def _settle_all(root: Root, task_id: str) -> int:
    path = path_of(root, task_id)
    digests = list_answers(root).conflicts.get(task_id, ())
    for digest in digests:
        steps.rename(_aside(path, "conflict", digest), _aside(path, "superseded", digest))
    return len(digests)


def read(root: Root, task_id: str) -> dict[str, object] | None:
    """Return the response to a task with all its keys, or None. Raises InvalidRecord for anything but a JSON object."""
    path = path_of(root, task_id)
    raw = steps.read(path)
    if raw is None:
        return None
    content = steps.parse_object(raw)
    if content is None:
        raise InvalidRecord(say("{path} is not a JSON object; it may be incomplete.", path=path), hint=_HINT)
    return content


def parse(path: str) -> dict[str, object]:
    """Return the content of the file of an answer, {} for what can't be read."""
    try:
        return steps.parse_object(steps.read(path)) or {}
    except DiskFailure:
        return {}


def read_valid(root: Root, task_id: str) -> dict[str, object] | None:
    """Return the response to a task, or None. Raises InvalidRecord for one that its schema refuses."""
    content = read(root, task_id)
    if content is not None and (fault := find_fault(path_of(root, task_id), content)):
        raise InvalidRecord(fault, hint=_HINT)
    return content


def find_fault(path: str, content: Mapping[str, object]) -> str:
    """Return a sentence on the first fault of a response by its schema, "" for none."""
    found = schemas.find_fault("response", content)
    if found is None:
        return ""
    return say("{path}: {place} {what}; the response is not used.", path=path, place=found[0], what=found[1])


def project_of(root: Root, task_id: str) -> str | None:
    """Return the project of a task's response, "" if it names none, None if there is no response."""
    path = path_of(root, task_id)
    raw = steps.read(path)
    return None if raw is None else _project(steps.parse_object(raw))


def digest_on_disk(root: Root, task_id: str) -> str:
    """Return the digest of a task's response, "" if there is none."""
    raw = steps.read(path_of(root, task_id))
    return "" if raw is None else _digest_of_bytes(raw)


def belongs_to(task_id: str, project: str, *, hint: str = "") -> Conflict:
    """Return the error for a task id that another project has used: the answers of all projects share one folder."""
    return Conflict(
        say(
            "The task id {task_id} belongs to project {project}; nothing was changed.", task_id=task_id, project=project
        ),
        hint=hint or say("Choose another task id."),
    )


def _project(response: Mapping[str, object] | None) -> str:
    said = (response or {}).get("project")
    return said if isinstance(said, str) and is_name(said) else ""


def _refuse_other(task_id: str, found: Mapping[str, object] | None, response: Mapping[str, object]) -> None:
    owner, mine = _project(found), _project(response)
    if owner and mine and owner != mine:
        raise belongs_to(task_id, owner)


def list_answers(root: Root) -> Answers:
    """Return the tasks with a response or a conflict, judging by file names only."""
    answered: set[str] = set()
    conflicts: dict[str, list[str]] = {}
    for name in folders.names_in(root.responses):
        if name.startswith(".") or not name.endswith(".json"):
            continue
        aside = _ASIDE.fullmatch(name)
        if aside is None:
            answered.add(name.removesuffix(".json"))
        elif aside["kind"] == "conflict":
            conflicts.setdefault(aside["task"], []).append(aside["digest"])
    return Answers(frozenset(answered), {task: tuple(digests) for task, digests in conflicts.items()})


def conflicts_of(root: Root, task_id: str) -> list[str]:
    """Return the paths of the conflicting answers to a task, the newest last. Raises InvalidName."""
    path = path_of(root, task_id)
    found = (_aside(path, "conflict", digest) for digest in list_answers(root).conflicts.get(task_id, ()))
    return sorted(found, key=lambda one: (_changed_at(one), one))


def _changed_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:  # it was decided against meanwhile
        return 0.0


def _aside(path: str, kind: str, digest: str) -> str:
    return f"{path.removesuffix('.json')}.{kind}-{digest}.json"


def _digest_of_bytes(raw: bytes) -> str:
    content = steps.parse_object(raw)
    return digest_of({"raw": raw.hex()} if content is None else content)


def _refuse_newer(task_id: str, raw: bytes) -> None:
    version = (steps.parse_object(raw) or {}).get("schema_version", SCHEMA_VERSION)
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise NewerVersion(
            say(
                "The response to {task_id} was written by a newer program (version {version}) and was not changed.",
                task_id=task_id,
                version=version,
            ),
            hint=say("Upgrade this program."),
        )


def _render(task_id: str, response: Mapping[str, object]) -> bytes:
    """Print a response: `query_id` is the task, keys keep their order, two spaces of indentation."""
    whole = {"schema_version": SCHEMA_VERSION, **response, "query_id": task_id}
    return json.dumps(whole, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace") + b"\n"
