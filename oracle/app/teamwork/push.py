"""Send a message to the people of a project by Feishu, and check whether its robot must be mentioned.

Sending is off until the owner of the Root switches it on. The program `lark-cli` sends a message. It gets the text as
one argument, without a shell, and only the part of the environment that it needs. The privacy guard checks the text
first, as `oracle team privacy` does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from oracle.app import guard
from oracle.app.context import Context
from oracle.domain.delivery import push
from oracle.domain.delivery.push import Push
from oracle.domain.values import AsJson, value
from oracle.errors import InvalidName, NotFound, PrivacyBlocked, PushFailed, UsageError
from oracle.store.disk import programs
from oracle.store.root import configuration
from oracle.wording import joined, say

PROGRAM = "lark-cli"
PATIENCE = 30.0
"""Seconds that it may take."""

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "NODE_EXTRA_CA_CERTS")
_PASSED_FAMILIES = ("LARK_", "XDG_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@value
class Message:
    """What to tell the people of a project; the session is the seat's own unless it is given."""

    body: str
    project: str
    seat: str = "memory"
    session: str = ""
    task_id: str = ""
    verdict: str = ""


def prepare(context: Context, message: Message) -> Push:
    """Return the message as it would be sent. Raises UsageError, InvalidName, PrivacyBlocked."""
    made = push.compose(
        message.body,
        seat=message.seat,
        ts=context.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        project=message.project,
        session=message.session or _session(context, message),
        task_id=message.task_id,
        verdict=message.verdict,
    )
    _require_clean(context, {say("the text"): message.body, say("the message"): made.text()})
    return made


def _require_clean(context: Context, texts: Mapping[str, str]) -> None:
    """Look at the text as it was given too: what was cut off in the middle is not known any more by what is left."""
    found = [item for place, text in texts.items() for item in guard.check_text(context, text, place)]
    if found:
        named = joined(
            "; ", dict.fromkeys(say("{rule} at {place}", rule=item.rule, place=item.where) for item in found)
        )
        raise PrivacyBlocked(
            say("The message holds what must not leave: {named}.", named=named),
            hint=say("Take it out; nothing was sent."),
        )


def send(context: Context, message: Message) -> Push:
    """Send a message and note in the journal that it went. Raises UsageError, InvalidName, PrivacyBlocked, PushFailed."""
    context.root.require()
    made = prepare(context, message)
    if os.environ.get("CLAWSEAT_FEISHU_ENABLED") == "0" or not configuration.is_push_on(context.root):
        raise UsageError(
            say("Pushing is off, so nothing was sent."),
            hint=say("Its owner writes `[push]` and `enabled = true` into config.toml."),
        )
    group = configuration.read_group(context.root, made.project)
    if not group:
        raise UsageError(
            say("The project {project} is bound to no group.", project=made.project),
            hint=say("Its {binding} names one as feishu_group_id.", binding=configuration.BINDING),
        )
    _run(group, made.text())
    details = {"project": made.project, "task_id": made.task_id, "seat": message.seat, "session": made.session}
    context.note("pushed", {key: given for key, given in details.items() if given})
    return made


def _session(context: Context, message: Message) -> str:
    from oracle.domain.names import check_name
    from oracle.store.root.projects import find_session_names

    for name in find_session_names(context.root, message.project, message.seat, environ=os.environ):
        try:
            return check_name(name, "session")
        except InvalidName:
            continue
    return ""


def _run(group: str, text: str) -> None:
    import shutil

    program = shutil.which(PROGRAM)
    if program is None:
        raise UsageError(
            say("{program} is not on PATH, so nothing was sent.", program=PROGRAM),
            hint=say("Install it, or tell people another way."),
        )
    environ = {key: given for key, given in os.environ.items() if key in _PASSED_ON or _is_passed(key)}
    words = [program, "im", "+messages-send", "--as", "user", "--chat-id", group, "--text", text]
    try:
        done = programs.run(words, environ={**environ, "ORACLE_INTERNAL": "1"}, patience=PATIENCE)
    except programs.OutOfPatience as error:
        raise PushFailed(
            say("{program} gave no answer in {patience:g} s.", program=PROGRAM, patience=PATIENCE),
            hint=say("Whether it was sent is not known."),
        ) from error
    except programs.TooMuchOutput as error:
        raise PushFailed(
            say("{program} printed more than {most} MiB and was stopped.", program=PROGRAM, most=programs.MOST >> 20),
            hint=say("Whether it was sent is not known."),
        ) from error
    except OSError as error:
        raise PushFailed(
            say("{program} can't be run: {strerror}.", program=PROGRAM, strerror=error.strerror),
            hint=say("Run it by hand."),
        ) from error
    if done.code:
        said = done.errors.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
        raise PushFailed(
            say(
                "{program} ended with {returncode}: {said}.",
                program=PROGRAM,
                returncode=done.code,
                said=said or say("it said nothing"),
            ),
            hint=say("Run it by hand."),
        )


def _is_passed(key: str) -> bool:
    return key.upper().startswith(_PASSED_FAMILIES)


KEY = "requireMention"
ON, OFF, ABSENT, UNSEEN = "ok", "off", "missing", "confirm"
BY_HAND = say(
    "Feishu's own switch can't be read by a program: a person looks in the settings of the group's robot whether it answers only"
    " when it is mentioned, then mentions it once and looks for the message in OpenClaw's logs."
)


@value
class Layer(AsJson):
    """One of the two layers that decide it: its state, and where it is set."""

    layer: int
    state: str
    place: str
    detail: str


def check_mentions(context: Context, project: str = "") -> list[Layer]:
    """Return the state of both layers, for the group of a project or for every group. Raises NotFound, UsageError, InvalidName."""
    group = configuration.read_group(context.root, project) if project else ""
    if project and not group:
        raise NotFound(
            say("The project {project} is bound to no group.", project=project),
            hint=say("Leave --project out, or bind it."),
        )
    path = configuration.openclaw_file(context.root, os.environ)
    content = configuration.read_openclaw(path)
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
