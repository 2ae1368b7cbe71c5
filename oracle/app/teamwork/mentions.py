"""Check whether the group's robot answers only messages that mention it. OpenClaw's setting can be read, Feishu's cannot."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from oracle.app.context import Context
from oracle.domain.values import value
from oracle.errors import NotFound
from oracle.store.root import feishu
from oracle.wording import say

KEY = "requireMention"
ON, OFF, ABSENT, UNSEEN = "ok", "off", "missing", "confirm"
BY_HAND = say(
    "Feishu's own switch can't be read by a program: a person looks in the settings of the group's robot whether it answers only"
    " when it is mentioned, then mentions it once and looks for the message in OpenClaw's logs."
)


@value
class Layer:
    """One of the two layers that decide it: its state, and where it is set."""

    layer: int
    state: str
    place: str
    detail: str

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"layer": self.layer, "state": self.state, "place": self.place, "detail": self.detail}


def check(context: Context, project: str = "") -> list[Layer]:
    """Return the state of both layers, for the group of a project or for every group. Raises NotFound, UsageError, InvalidName."""
    group = feishu.read_group(context.root, project) if project else ""
    if project and not group:
        raise NotFound(
            say("The project {project} is bound to no group.", project=project),
            hint=say("Leave --project out, or bind it."),
        )
    path = feishu.openclaw_file(context.root, os.environ)
    content = feishu.read_openclaw(path)
    if content is None:
        raise NotFound(
            say("OpenClaw has no configuration at {path}.", path=path), hint=say("OPENCLAW_HOME names another folder.")
        )
    stated = list(_switches(_table(_table(content, "channels"), "feishu"), group))
    return [*stated, Layer(2, UNSEEN, "Feishu", BY_HAND)]


def _switches(channel: Mapping[str, object], group: str) -> Iterator[Layer]:
    """Yield the state of the channel, or of the group in it, and of each account that says otherwise."""
    yield from _in_scope(channel, "channels.feishu", group, channel.get(KEY))
    for name, account in _table(channel, "accounts").items():
        if isinstance(account, dict) and (KEY in account or "groups" in account):
            given = account.get(KEY, channel.get(KEY))
            yield from _in_scope(account, f"channels.feishu.accounts.{name}", group, given)


def _in_scope(table: Mapping[str, object], place: str, group: str, default: object) -> Iterator[Layer]:
    """Yield what counts for a group: its own word, else that of every group, else the default; without a group all of them."""
    stated = {
        name: item[KEY] for name, item in _table(table, "groups").items() if isinstance(item, dict) and KEY in item
    }
    own = next((name for name in (group, "*") if name in stated), "") if group else ""
    if not own:
        yield _layer(default, f"{place}.{KEY}")
    for name in [own] if own else [] if group else stated:
        yield _layer(stated[name], f"{place}.groups.{name}.{KEY}")


def _layer(given: object, place: str) -> Layer:
    if given is True:
        return Layer(1, ON, place, say("only messages that mention the robot are answered"))
    if given is None:
        return Layer(1, ABSENT, place, say("set {key} to true there", key=KEY))
    return Layer(1, OFF, place, say("set {key} to true there: every message is answered", key=KEY))


def _table(content: Mapping[str, object], key: str) -> dict[str, object]:
    found = content.get(key)
    return found if isinstance(found, dict) else {}
