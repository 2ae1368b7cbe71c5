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
_STATE = "state"
_AT_ONCE = 10
"""How many large files are fetched at once; each may have 16 MiB."""


def open_copy(context: Context) -> Context:
    """Return a context of the copy, brought up to date. Without the hub it is as it was last, and a warning says so.

    Raises NoHub, HubRefused, and HubUnreachable if there is no copy yet.
    """
    member = membership.require(context)
    copy = Context(Root(f"{context.root.hub_files}/team"), clock=context.clock, warn=context.warn)
    copy.loads_models = context.loads_models
    state = f"{context.root.hub_files}/team-cursor"
    with steps.FileLock(state):
        try:
            _refresh(context, copy.root, member, f"{state}.json")
        except HubUnreachable as error:
            if not os.path.exists(f"{state}.json"):
                raise
            context.warn(say("{fault} The answer is from what was last fetched.", fault=error.sentence))
        copy.index.be_of_copy(_load(f"{state}.json")[1])
    return copy


def _refresh(context: Context, root: Root, member: Membership, state: str) -> None:
    from oracle.hub import exchange

    was_there = os.path.isdir(root.path)
    files.make_folder(f"{root.path}/projects")
    (cursor, _), is_another = _load(state), False
    if _copy_patterns(context.root, root) and was_there:
        _save(context, state, cursor)
    known: set[str] = set()
    with exchange.open_team(replace(member, machine=_NOBODY, projects=())) as hub:
        more = True
        while more:
            page = hub.pull(cursor)
            if page.restarted and was_there:
                is_another, known = True, set()
                _save(
                    context, state, Cursor()
                )  # a death before the end begins again, or what is gone there would stay here
            if is_another:
                known.update(row.path for row in page.rows if not row.removed)
            _place(context, root, hub, page.rows)
            if page.cursor != cursor and not is_another:
                _save(context, state, page.cursor, is_changed=bool(page.rows))
            more, cursor = page.more, page.cursor
    if is_another:
        _remove_others(root, known)
        _save(context, state, cursor)


def _load(state: str) -> tuple[Cursor, str]:
    """Return up to where the copy is fetched, and what tells its state from any other."""
    content = steps.read_object(state) or {}
    name = str(content.pop(_STATE, "new"))
    with suppress(TypeError):
        return Cursor(**content), name  # type: ignore[arg-type]
    return Cursor(), name


def _save(context: Context, state: str, cursor: Cursor, *, is_changed: bool = True) -> None:
    name = f"{context.clock.now_ns()} {os.getpid()}" if is_changed else _load(state)[1]
    content = {**contents_of(cursor), _STATE: name}
    files.replace(state, json.dumps(content).encode(), scratch=context.root.hub_files)


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


def _copy_patterns(source: Root, copy: Root) -> bool:
    """Give the copy the Root's own patterns of links; those of a project travel with it. Return whether one changed."""
    is_changed = False
    for path in source.pattern_files(""):
        data = steps.read(f"{source.path}/{path}")
        if data is not None and data != steps.read(f"{copy.path}/{path}"):
            files.replace(f"{copy.path}/{path}", data, scratch=copy.state)
            is_changed = True
    return is_changed
