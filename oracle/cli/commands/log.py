"""`oracle log`: print what happened, event by event."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Annotated

from oracle.cli import completion
from oracle.cli.layout import hanging, shorten
from oracle.cli.options import Full, Project, option, single
from oracle.cli.output import columns, is_terminal, visible, write_out
from oracle.cli.session import Call
from oracle.wording import say

_UNCLEAR = re.compile(r"[\s\"]")
"""What parts the details of an event, or begins a text of JSON."""

app = single()


@app.add(example="oracle log --project shop --limit 50")
def log(
    call: Call,
    *,
    follow: Annotated[bool, option("--follow", "Go on with new events, until interrupted.")] = False,
    project: Project = "",
    task: Annotated[str, option("--task ID", "Only events of this task.", completion.handoffs)] = "",
    limit: Annotated[int, option("--limit N", "The last N events; 0 is all.", min=0)] = 20,
    full: Full = False,
) -> None:
    """Print what happened, the newest last."""
    from oracle.app import journal

    if follow:
        _follow(call, project, task, limit)
    with call.context() as context:
        context.root.require()
        found = journal.events(context, project=project, task=task, limit=limit)

    if not found:
        call.note(say("no event matches"))
    if call.as_json:
        call.print_json({"events": found})
    else:
        short = {} if full or not is_terminal(sys.stdout) else shorten(_slugs_in(found))
        write_out("".join(_event(event, short) for event in found))


def _follow(call: Call, project: str, task: str, limit: int) -> None:
    """Print events as they come; no spinner, since waiting is what was asked for."""
    from oracle.app import journal
    from oracle.app.context import Context

    with Context.open(call.memory_dir, warn=call.warn) as context:
        context.root.require()
        for event in journal.follow(context, project=project, task=task, limit=limit):
            write_out(f"{visible(json.dumps(event, ensure_ascii=False))}\n" if call.as_json else _event(event, {}))


def _slugs_in(events: list[dict[str, object]]) -> list[str]:
    """Return the slugs of records that events name, which a terminal shows shortened."""
    found = (
        item for event in events for value in event.values() for item in (value if isinstance(value, list) else [value])
    )
    return list(dict.fromkeys(item for item in found if isinstance(item, str) and item.startswith("projects/")))


def _event(event: dict[str, object], short: Mapping[str, str]) -> str:
    """Return an event: through a pipe five cells of a line, on a terminal a line, broken between words."""
    cells = [visible(str(event.get(key, ""))) for key in ("ts", "event", "project", "task_id")]
    if not is_terminal(sys.stdout):
        return "\t".join([*cells, visible(details_of(event))]) + "\n"
    shown = {key: _shortened(value, short) for key, value in event.items()}
    line = "  ".join(filter(None, [cells[0][:19].replace("T", " ") + "Z", *cells[1:], visible(details_of(shown))]))
    return "".join(f"{part}\n" for part in hanging(line, columns(), may_break=True))


def _shortened(value: object, short: Mapping[str, str]) -> object:
    if isinstance(value, list):
        return [_shortened(one, short) for one in value]
    return short.get(value, value) if isinstance(value, str) else value


def details_of(event: dict[str, object]) -> str:
    """Return what an event says beside its time, name, project and task, as `key=value key=value`."""
    kept = {key: item for key, item in event.items() if key not in ("ts", "event", "project", "task_id") and item != ""}
    return " ".join(f"{key}={_value(item)}" for key, item in kept.items())


def _value(item: object) -> str:
    """Return a value as it is, the items of a list parted by commas; as JSON what would not be read back from that."""
    if isinstance(item, str) and not _UNCLEAR.search(item):
        return item
    if isinstance(item, list) and item and all(isinstance(one, str) and _is_plain(one) for one in item):
        return ",".join(item)
    return json.dumps(item, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    return bool(text) and "," not in text and not _UNCLEAR.search(text)
