"""Records on disk: read any of them, create those of the memory seat. The only module that writes under `projects/`."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from oracle.domain import timestamps
from oracle.domain.markdown.documents import Document, Problem
from oracle.domain.names import MEMORY, ROLES, SHARED, require_writer, role_of
from oracle.domain.values import replace, value
from oracle.errors import DiskFailure, InvalidRecord, OwnershipError, RecordExists
from oracle.store.disk import files
from oracle.store.markdown import markdown
from oracle.store.root.layout import Root
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.domain.records.drafts import Draft

MAX_BYTES = 16 * 1024 * 1024
"""Bytes of a record that are read. A larger record is cut and reported as a problem."""

_CHUNK = 1 << 16

SAME_WITHIN = timedelta(seconds=60)
"""How long the same draft gives the record that it gave before."""

_MAX_TRIES = 1_000


@value
class CheckedDraft:
    """A draft that passed every check, and the root-relative folder of its record."""

    draft: Draft
    folder: str


@value
class Created:
    """A written record: its root-relative path, its bytes and its parsed content."""

    path: str
    raw: bytes
    document: Document


def read(path: str) -> bytes:
    """Return the bytes of a record, at most `MAX_BYTES` + 1. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        chunks, size = [], 0
        while size <= MAX_BYTES and (chunk := os.read(descriptor, min(_CHUNK, MAX_BYTES + 1 - size))):
            chunks.append(chunk)
            size += len(chunk)
        return b"".join(chunks)
    finally:
        os.close(descriptor)


def load(root: Root, path: str, *, known: bytes = b"") -> bytes:
    """Return the bytes of the record at a root-relative path. Raises OSError.

    Those of a source hold no credentials. `known` is the digest that the index has of them, which saves a search.
    """
    source = root.source_of(path)
    if source is None:
        return read(root.join(path))
    from oracle.store.markdown import sources

    return sources.read(source, path, known=known)


def read_document(root: Root, path: str) -> Document | None:
    """Return the record at a root-relative path as it is on disk now, None if its file is gone or can't be read."""
    try:
        return parse(path, load(root, path))
    except OSError:
        return None


def parse(path: str, raw: bytes) -> Document:
    """Parse a record file, Markdown or JSON by its suffix. Context that a hook added is no part of its text. Never raises."""
    kept = raw[:MAX_BYTES]
    if path.endswith(".json"):
        from oracle.store.markdown import json_records  # seldom

        document = json_records.parse(kept)
    else:
        document = markdown.parse(kept)
    if b"<oracle-context" in kept:  # which a hook adds to a prompt
        from oracle.domain.injection import envelope

        document = replace(document, body=envelope.blank(document.body))
    if len(raw) <= MAX_BYTES:
        return document
    problem = Problem(
        1, say("The file is larger than {size} MiB; the rest of it is not read.", size=MAX_BYTES // 1024 // 1024)
    )
    return Document(
        document.fields, document.body, document.body_line, document.key_lines, (*document.problems, problem)
    )


# Writing --------------------------------------------------------------------------------------------------------------


def _where_to_write(root: Root, project: str, seat: str) -> str:
    """Return the way out for a seat that may not write: whom it may mean, and the folder of that seat."""
    from oracle.domain.spelling import is_one_slip_off

    near = "" if role_of(seat) else next((role for role in ROLES if is_one_slip_off(seat, role)), "")
    if near and (near == MEMORY or project == SHARED):
        return say("Did you mean {near}?", near=near)
    if project == SHARED:
        return ""
    folder = f"{root.join(root.project(project))}/{near or seat}"
    if near:
        return say("Did you mean {near}? Put a Markdown file into its own folder: {folder}/", near=near, folder=folder)
    return say("Put a Markdown file into the seat's own folder: {folder}/", folder=folder)


def check(root: Root, draft: Draft, moment: datetime, *, needs_body: bool = False) -> CheckedDraft:
    """Check a draft against the rules of its kind, and its seat against the path that the record would have now.

    Raises InvalidRecord, InvalidName, OwnershipError.
    """
    draft.check()
    project, seat = (unicodedata.normalize("NFC", name) for name in (draft.project, draft.seat))
    draft = replace(draft, project=project, seat=seat)  # as its folder is named
    folder = root.records_of(draft.project, draft.kind)
    try:
        require_writer(draft.seat or MEMORY, f"{folder}/{_name(draft, moment)}.md")
    except OwnershipError as error:
        error.hint = _where_to_write(root, project, seat) or error.hint
        raise
    if needs_body:
        draft.require_body()
    return CheckedDraft(draft, folder)


def render(checked: CheckedDraft, moment: datetime, number: int = 1) -> Created:
    """Return the record of a draft: path, bytes and content. `number` distinguishes records of the same name.

    The bytes are read back and compared. Raises InvalidRecord, also for a record that is too large to be read whole.
    """
    draft = checked.draft
    name = _name(draft, moment) + (f"-{number}" if number > 1 else "")
    raw, document = markdown.render(draft.fields(name, timestamps.print_moment(moment)), draft.body)
    if len(raw) > MAX_BYTES:
        raise InvalidRecord(
            say("The record is larger than {size} MiB. Nothing was written.", size=MAX_BYTES // 1024 // 1024),
            hint=say("Put the long part into a file beside it, and refer to that."),
        )
    return Created(f"{checked.folder}/{name}.md", raw, document)


def _name(draft: Draft, moment: datetime) -> str:
    return f"{timestamps.print_stamp(moment)}-{draft.file_name}"


# The same again -------------------------------------------------------------------------------------------------------

_Written = Mapping[str, Sequence[tuple[datetime, int]]]
"""When records were written, and the numbers at the ends of their names, by the title part of a name."""


def find_same(root: Root, drafts: Sequence[CheckedDraft], moment: datetime) -> list[Created | None]:
    """Return for each draft the record that the same draft gave within SAME_WITHIN before `moment`, or None.

    Equal drafts get a record each. What is found is synced to disk. Raises DiskFailure.
    """
    titles = {checked.draft.file_name for checked in drafts}
    recent = {folder: _recent(root.join(folder), titles, moment) for folder in {checked.folder for checked in drafts}}
    taken: set[str] = set()
    return [_find_one(root, checked, recent[checked.folder], taken) for checked in drafts]


def _recent(folder: str, titles: Collection[str], moment: datetime) -> _Written:
    """Return the records of the last SAME_WITHIN with these titles. A name that ends in a number may be of either title."""
    oldest = moment - SAME_WITHIN
    first = timestamps.print_stamp(oldest)
    try:
        if os.stat(folder).st_mtime < oldest.timestamp():
            return {}
        names = sorted(name for name in os.listdir(folder) if name >= first)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise files.disk_failure(folder, error) from error
    by_title: dict[str, list[tuple[datetime, int]]] = {}
    for name in names:
        whole = name[len(first) + 1 :].removesuffix(".md")
        shorter, _, number = whole.rpartition("-")
        for title, digits in ((whole, "1"), (shorter, number)):
            if title not in titles or not digits.isdecimal():
                continue
            written = timestamps.parse_stamp(name)
            if written is not None and written <= moment:
                by_title.setdefault(title, []).append((written, int(digits)))
    return by_title


def _find_one(root: Root, checked: CheckedDraft, recent: _Written, taken: set[str]) -> Created | None:
    for written, number in recent.get(checked.draft.file_name, ()):
        found = render(checked, written, number)
        if found.path not in taken and _is_on_disk(root, found):
            taken.add(found.path)
            return found
    return None


def _is_on_disk(root: Root, record: Created) -> bool:
    path = root.join(record.path)
    try:
        if read(path) != record.raw:
            return False
        files.sync_file(path)
        files.sync_folder(os.path.dirname(path))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise files.disk_failure(path, error) from error
    return True


def create_all(root: Root, drafts: Sequence[CheckedDraft], moments: Sequence[datetime]) -> list[Created]:
    """Create the files of drafts and return the records. If a name is taken, `-2`, `-3` … is appended.

    On return every record is synced to disk, several in parallel, and each folder once. The caller holds the write lock
    and has checked for secrets. Raises InvalidRecord, OwnershipError, DiskFailure.
    """
    folders = sorted({checked.folder for checked in drafts})
    wanted = [render(checked, moment) for checked, moment in zip(drafts, moments, strict=True)]
    with files.failing(root.path):
        scratch = _write_scratch(root.scratch, [new.raw for new in wanted])
        try:
            for folder in folders:
                files.make_folder(root.join(folder), sync=True)  # all folders before the first record becomes visible
            created = [_publish(root, *each) for each in zip(drafts, moments, wanted, scratch, strict=True)]
        except BaseException:
            files.discard(*scratch)
            raise
    try:
        for folder in folders:
            files.sync_folder(root.join(folder))
    except OSError as error:
        raise DiskFailure(
            files.disk_failure(root.join(created[0].path), error).sentence,
            hint=say("The record may exist. Run the same command again: within a minute it does not write it twice."),
        ) from error
    return created


_TOGETHER = 8
"""Files that one thread syncs in a row, and threads that do so: a thread for each file would cost more than it saves."""


def _write_scratch(folder: str, contents: Sequence[bytes]) -> list[str]:
    """Write scratch files and sync them, many in parallel. Return their paths; if one fails, none is left. Raises OSError."""
    paths: list[str] = []
    try:
        paths.extend(files.write_scratch(folder, data) for data in contents)
        groups = [paths[at : at + _TOGETHER] for at in range(0, len(paths), _TOGETHER)]
        if len(groups) == 1:
            _sync(paths)
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(_TOGETHER) as pool:
                list(pool.map(_sync, groups))
    except BaseException:
        files.discard(*paths)
        raise
    return paths


def _sync(paths: Sequence[str]) -> None:
    for path in paths:
        files.sync_file(path)


def _publish(root: Root, checked: CheckedDraft, moment: datetime, wanted: Created, scratch: str) -> Created:
    try:
        files.publish(scratch, root.join(wanted.path))
    except RecordExists:
        files.remove(scratch)
    else:
        return wanted
    for number in range(2, _MAX_TRIES):
        new = render(checked, moment, number)
        try:
            files.create(root.join(new.path), new.raw, scratch=root.scratch)
        except RecordExists:
            continue
        return new
    raise RecordExists(
        say("{max_tries} records named like {first} exist already.", max_tries=_MAX_TRIES, first=wanted.path),
        hint=say("Choose another title."),
    )
