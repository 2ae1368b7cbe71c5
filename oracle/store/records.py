"""Records on disk: read any of them, create those of Memory. The only writer under `projects/`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import datetime

from oracle.domain import documents, timestamps
from oracle.domain.documents import Document, Problem, Value
from oracle.domain.drafts import Draft, name_of
from oracle.domain.seats import require_writer
from oracle.errors import InvalidRecord, OwnershipError, RecordExists
from oracle.store import files, markdown
from oracle.store.layout import Root
from oracle.wording import say

MAX_BYTES = 16 * 1024 * 1024
"""Bytes of a record that are read; the rest of a larger one is left out and reported as a problem."""

_MAX_TRIES = 1_000
_PROSE_KEYS = ("body", "detail", "reason", "summary")


def read(path: str) -> bytes:
    """Return the bytes of a record, at most `MAX_BYTES` + 1. Raises OSError."""
    with open(path, "rb", buffering=0) as stream:
        size = os.fstat(stream.fileno()).st_size
        chunks = [stream.read(min(size, MAX_BYTES) + 1)]
        while chunks[-1] and sum(map(len, chunks)) <= MAX_BYTES:
            chunks.append(stream.read(MAX_BYTES + 1 - sum(map(len, chunks))))
        return b"".join(chunks)


def parse(path: str, raw: bytes) -> Document:
    """Read the bytes of a record file, Markdown or JSON by its suffix; never raises, whatever the bytes are."""
    kept = raw[:MAX_BYTES]
    document = parse_json(kept) if path.endswith(".json") else markdown.parse(kept)
    if len(raw) <= MAX_BYTES:
        return document
    problem = Problem(
        1, say("The file is larger than {size} MiB; the rest of it is not read.", size=MAX_BYTES // 1024 // 1024)
    )
    return Document(
        document.fields, document.body, document.body_line, document.key_lines, (*document.problems, problem)
    )


def parse_json(raw: bytes) -> Document:
    """Read a JSON record of the old layouts as a document: scalars become text, prose fields and evidence the body."""
    text, problems = _decode(raw)
    content = documents.parse_json(text)
    if content is None:
        return Document({}, text, 1, {}, (*problems, Problem(_bad_line(text), say("The file is not valid JSON."))))
    if not isinstance(content, dict):
        return Document({}, text, 1, {}, (*problems, Problem(1, say("The JSON is not an object."))))
    fields = {_clean(key): _value(value) for key, value in content.items() if key not in _PROSE_KEYS or key == "detail"}
    body = "\n\n".join(
        _strings(
            [
                content.get("body", ""),
                content.get("reason", ""),
                content.get("summary", ""),
                content.get("evidence", []),
            ]
        )
    )
    return Document(fields, _clean(body), 1, {}, problems)


def _decode(raw: bytes) -> tuple[str, tuple[Problem, ...]]:
    try:
        return _clean(raw.decode("utf-8-sig")), ()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        reason = say("The file is not UTF-8 from here on; bytes that can't be read were replaced.")
        return _clean(raw.decode("utf-8-sig", "replace")), (Problem(line, reason),)


def _bad_line(text: str) -> int:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return int(getattr(error, "lineno", 1))
    return 1


def _value(value: Value) -> Value:
    if isinstance(value, dict):
        return {_clean(key): _value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_value(item) for item in value]
    return _clean(value)


def _clean(text: str) -> str:
    """Replace what can't be stored as UTF-8 text: NUL and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _strings(item)]
    if isinstance(value, Sequence):
        return [text for item in value for text in _strings(item)]
    return []


def render(draft: Draft, identifier: str, moment: datetime) -> bytes:
    """Return the bytes of a draft's file, read back and compared. Raises InvalidRecord, also for more than is read."""
    draft.check()
    raw = markdown.render(draft.fields(identifier, timestamps.print_moment(moment)), draft.body).encode()
    if len(raw) > MAX_BYTES:
        raise InvalidRecord(
            say("The record is larger than {size} MiB. Nothing was written.", size=MAX_BYTES // 1024 // 1024),
            hint=say("Keep what is long in a file beside it, and name that."),
        )
    return raw


def place(root: Root, draft: Draft, moment: datetime) -> str:
    """Return the root-relative path a draft would have if no other record had its name.

    Raises OwnershipError when the draft's seat may not write there, InvalidName for odd projects and kinds.
    """
    draft.check()
    path = root.record(draft.project, draft.kind, f"{timestamps.print_stamp(moment)}-{name_of(draft.title)}")
    require_writer(draft.seat, path)
    return path


def create_all(root: Root, drafts: Sequence[Draft], moments: Sequence[datetime]) -> list[tuple[str, bytes]]:
    """Create the files of drafts and return (root-relative path, bytes) of each; a taken name gets `-2`, `-3` … at its end.

    On return every record is on disk for good. Several are forced to disk side by side and their folders once. The caller
    holds the write lock and has looked for secrets. Raises InvalidRecord, OwnershipError, DiskFailure.
    """
    try:
        prepared = _prepare(root, drafts, moments)
        try:
            for folder in sorted({os.path.dirname(path) for path, *_ in prepared}):
                files.make_folder_for_good(root.join(folder))  # all of them before the first record stands
            created = [
                _publish(root, draft, moment, new) for draft, moment, new in zip(drafts, moments, prepared, strict=True)
            ]
        except BaseException:
            files.discard_all(new for _, new, _ in prepared)
            raise
        for folder in sorted({os.path.dirname(root.join(path)) for path, _ in created}):
            files.sync_folder(folder)
    except OSError as error:
        raise files.disk_failure(root.path, error) from error
    return created


def _prepare(root: Root, drafts: Sequence[Draft], moments: Sequence[datetime]) -> list[tuple[str, str, bytes]]:
    """Write every draft to a scratch file, forced to disk; return (path it wants, scratch file, bytes)."""
    paths = [place(root, draft, moment) for draft, moment in zip(drafts, moments, strict=True)]
    for folder in {os.path.dirname(path) for path in paths}:
        _require_inside(root, folder)
    prepared = []
    with files.Syncer(len(drafts)) as syncer:
        for draft, moment, path in zip(drafts, moments, paths, strict=True):
            raw = render(draft, os.path.basename(path).removesuffix(".md"), moment)
            prepared.append((path, syncer.write(root.scratch, raw), raw))
    return prepared


def _publish(root: Root, draft: Draft, moment: datetime, prepared: tuple[str, str, bytes]) -> tuple[str, bytes]:
    first, scratch, raw = prepared
    try:
        files.publish(scratch, root.join(first))
    except RecordExists:
        files.remove(scratch)
        return _publish_elsewhere(root, draft, moment, first)
    return first, raw


def _publish_elsewhere(root: Root, draft: Draft, moment: datetime, first: str) -> tuple[str, bytes]:
    stem = first.removesuffix(".md")
    for number in range(2, _MAX_TRIES):
        path = f"{stem}-{number}.md"
        raw = render(draft, os.path.basename(path).removesuffix(".md"), moment)
        try:
            files.create(root.join(path), raw, scratch=root.scratch)
        except RecordExists:
            continue
        return path, raw
    raise RecordExists(
        say("{max_tries} records named like {first} exist already.", max_tries=_MAX_TRIES, first=first),
        hint=say("Choose another title."),
    )


def _require_inside(root: Root, folder: str) -> None:
    """Refuse a folder that is a symbolic link: what we write stays inside, and stands where it is read again."""
    while folder:
        if os.path.islink(root.join(folder)):
            raise OwnershipError(
                say("{folder} is a symbolic link; nothing is written through it.", folder=folder),
                hint=say("Replace it by a folder; `oracle doctor` names such links."),
            )
        folder = os.path.dirname(folder)
