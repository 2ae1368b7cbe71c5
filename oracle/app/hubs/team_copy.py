"""The whole team's records on this machine, for questions with `--hub`: a Root of its own below `_state/hub/`.

It holds the projects that this machine does not replicate too. Nobody writes it but a pull, so nothing there can conflict.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress

from oracle.app.context import Context
from oracle.app.hubs import membership
from oracle.domain.hub.paths import FileKind, parse
from oracle.domain.hub.rows import Cursor, Membership, Row
from oracle.domain.values import contents_of, replace
from oracle.errors import HubUnreachable
from oracle.store.disk import files, steps
from oracle.store.root.layout import Root
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.hub.exchange import TeamConnection

_KINDS = (FileKind.RECORD, FileKind.RESPONSE)
_NOBODY = "00000000-0000-0000-0000-000000000000"
"""The machine as which the copy is pulled, so that own files come with their content."""
_AT_ONCE = 10
"""How many large files are fetched at once; each may have 16 MiB."""


def open_copy(context: Context) -> Context:
    """Return a context of the copy, brought up to date. Without the hub it is as it was last, and a warning says so.

    Raises NoHub, HubRefused, and HubUnreachable if there is no copy yet.
    """
    member = membership.require(context)
    copy = Context(Root(f"{context.root.hub_files}/team"), clock=context.clock, warn=context.warn)
    copy.loads_models = context.loads_models
    copy.index.be_of_copy()
    state = f"{context.root.hub_files}/team-cursor"
    with steps.FileLock(state):
        try:
            _refresh(context, copy.root, member, f"{state}.json")
        except HubUnreachable as error:
            if not os.path.exists(f"{state}.json"):
                raise
            context.warn(say("{fault} The answer is from what was last fetched.", fault=error.sentence))
    return copy


def _refresh(context: Context, root: Root, member: Membership, state: str) -> None:
    from oracle.hub import exchange

    was_there = os.path.isdir(root.path)
    files.make_folder(f"{root.path}/projects")
    _copy_patterns(context.root, root)
    cursor = saved = _load(state)
    known: set[str] = set()
    with exchange.open_team(replace(member, machine=_NOBODY, projects=())) as hub:
        is_another = False
        more = True
        while more:
            page = hub.pull(cursor)
            is_another = is_another or (page.restarted and was_there)
            if is_another:
                known.update(row.path for row in page.rows if not row.removed)
            _place(context, root, hub, page.rows)
            more, cursor = page.more, page.cursor
            if cursor != saved and not is_another:
                saved = _save(context.root, state, cursor)
    if is_another:  # a death before this begins at the first row again, or what is gone there would stay here
        _remove_others(root, known)
        _save(context.root, state, cursor)


def _save(root: Root, state: str, cursor: Cursor) -> Cursor:
    files.replace(state, json.dumps(contents_of(cursor)).encode(), scratch=root.hub_files)
    return cursor


def _load(state: str) -> Cursor:
    content = steps.read_object(state) or {}
    with suppress(TypeError):
        return Cursor(**content)  # type: ignore[arg-type]
    return Cursor()


def _place(context: Context, root: Root, hub: TeamConnection, rows: tuple[Row, ...]) -> None:
    wanted = [row for row in rows if (file := parse(row.path)) and file.kind in _KINDS]
    apart = [row.path for row in wanted if row.content is None and not row.removed]
    fetched: dict[str, bytes] = {}
    for row in wanted:
        path = f"{root.path}/{row.path}"
        if row.removed:
            with suppress(FileNotFoundError):
                files.unlink(path)
            continue
        if row.content is None and row.path not in fetched:
            at = apart.index(row.path)
            fetched = dict(hub.fetch(apart[at : at + _AT_ONCE]))
        data = fetched.get(row.path, b"") if row.content is None else row.content
        if hashlib.sha256(data).hexdigest() != row.sha256:  # it was replaced meanwhile: a later page has it
            if row.content is not None:
                context.warn(say("{path} does not have the digest that the hub states.", path=row.path))
            continue
        files.replace(path, data, scratch=root.state)


def _remove_others(root: Root, known: set[str]) -> None:
    """Remove what a hub that was restored, or another one, does not hold."""
    for folder, _, names in os.walk(root.path):
        for name in names:
            path = f"{folder}/{name}"[len(root.path) + 1 :]
            if path not in known and parse(path) is not None:
                files.unlink(f"{folder}/{name}")


def _copy_patterns(source: Root, copy: Root) -> None:
    """Give the copy the Root's own patterns of links; those of a project travel with it."""
    for path in source.pattern_files(""):
        data = steps.read(f"{source.path}/{path}")
        if data is not None and data != steps.read(f"{copy.path}/{path}"):
            files.replace(f"{copy.path}/{path}", data, scratch=copy.state)
