"""Look something up by `search`, `ask` or `packet`: in a daemon that has the models loaded, else in this process.

The protocol is one line of JSON each way. A request names the version of the program, the folders that it works with, the
command and its parameters. A reply holds the result, the error of a use case, or in `refused` why there is none.
"""

from __future__ import annotations

import json
import os
import sys
from enum import Enum

from oracle import __version__, errors
from oracle.app.context import Context
from oracle.domain.names import MEMORY
from oracle.domain.values import fields_of, value
from oracle.store.daemon import answer_socket
from oracle.store.daemon.answer_socket import NoAnswer
from oracle.store.root.layout import choose_home
from oracle.wording import Sentence, from_json, say, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from oracle.app.answers.reply import Reply
    from oracle.app.records.views import Hit

_KIND = "\0kind"
"""The key that marks an object of JSON as a value of one of `_MODULES`, a sentence, or an object with this key."""

_OBJECT = "object"

_MODULES = frozenset(
    f"oracle.{name}"
    for name in (
        "app.answers.quotes",
        "app.answers.reply",
        "app.codebase.stale_names",
        "app.records.views",
        "domain.links.code_names",
    )
)


@value
class Found:
    """A result, the standing of the index that gave it, and why the models were left out (`words_only`, "" if not)."""

    result: Any
    standing: Mapping[str, object]
    words_only: str = ""


def find(context: Context, command: str, parameters: Mapping[str, object], *, loads_models: bool) -> Found:
    """Ask the daemon of the Root, else work here: by words only, unless the models may be loaded. Raises the command's errors."""
    try:
        return _ask_daemon(context, command, parameters)
    except NoAnswer as error:
        why = error.why
    from oracle.app.search.search import has_meaning

    context.loads_models = loads_models
    found = _perform(context, command, parameters)
    if loads_models or parameters.get("lexical") or not has_meaning(context):
        return found
    return Found(found.result, found.standing, why)


def require_words(text: str) -> None:
    """Raise UsageError for a search for nothing, which a person or a client did not mean."""
    if not text.strip():
        raise errors.UsageError(
            say("Say what to look for."), hint=say("Give words, as in `oracle search retry policy`.")
        )


# The commands ---------------------------------------------------------------------------------------------------------


def _search(
    context: Context, *, text: str, filters: dict[str, str], limit: int, fresh: bool, strict: bool, lexical: bool
) -> list[Hit]:
    from oracle.app.search.search import search

    return search(context, text, filters, limit=limit, fresh=fresh, strict=strict, lexical=lexical)


def _ask(context: Context, *, question: str, project: str, seat: str) -> Reply:
    from oracle.app.answers.answer import answer

    return answer(context, question, project=project, seat=seat)


def _packet(context: Context, *, request: dict[str, Any]) -> dict[str, object]:
    """Return the packet as JSON, and its rows: section, text, and the memory that says it."""
    from oracle.app.memories.packets import route
    from oracle.domain.records.packets import Request

    fields: dict[str, Any] = {name: _frozen(item) for name, item in request.items()}
    routed = route(context, Request(**fields))
    sections = routed.packet.sections.items()
    rows = [(name, item.text, item.id) for name, items in sections for item in items]
    return {"packet": routed.as_json(), "rows": rows}


_COMMANDS: dict[str, tuple[Callable[..., object], dict[str, type]]] = {
    "search": (
        _search,
        {"text": str, "filters": dict, "limit": int, "fresh": bool, "strict": bool, "lexical": bool},
    ),
    "ask": (_ask, {"question": str, "project": str, "seat": str}),
    "packet": (_packet, {"request": dict}),
}
"""The functions, each with the types of its parameters."""


def _perform(context: Context, command: str, parameters: Mapping[str, object]) -> Found:
    from oracle.app.records import listing

    result = _COMMANDS[command][0](context, **parameters)
    return Found(result, listing.standing(context))


def warm(context: Context) -> None:
    """Load the models and what else a search needs, by a search."""
    _search(context, text="memory", filters={}, limit=1, fresh=False, strict=False, lexical=False)


_FOLDERS = {"root": "Root", "home": "home folder", "registry": "registry of projects"}


# The protocol ---------------------------------------------------------------------------------------------------------


def _ask_daemon(context: Context, command: str, parameters: Mapping[str, object]) -> Found:
    about = {"version": __version__, "reader": context.reader or context.seat}
    request = {**about, **world(context), "command": command, "parameters": parameters}
    line = answer_socket.ask(context.root, json.dumps(request).encode("ascii"))
    try:
        reply = json.loads(line, object_hook=_revive)
        version = reply["version"]
        if version == __version__ and "refused" not in reply:
            for warning in reply["warnings"]:
                context.warn(warning)
            if "error" in reply:
                raise _error(*reply["error"])
            return Found(reply["result"], reply["standing"])
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise NoAnswer(say("the daemon gave no answer: see `oracle daemon status`")) from error
    if version != __version__:
        restart = "oracle daemon stop; oracle daemon start"
        raise NoAnswer(say("the daemon runs another version: restart it with `{restart}`", restart=restart))
    raise NoAnswer(say("the daemon refused the request: {reason}", reason=reply["refused"]))


def serve(context: Context, line: bytes) -> bytes:
    """Answer a request of a client, as a line. An error of a use case is an answer; any other error is raised."""
    try:
        command, parameters, context.reader = _read_request(context, line)
    except ValueError as error:
        return refuse(str(error))
    warnings: list[str] = []
    context.warn = warnings.append
    reply: dict[str, object]
    try:
        found = _perform(context, command, parameters)
        reply = {"result": found.result, "standing": found.standing}
    except errors.OracleError as error:
        reply = {"error": [error.code, error.sentence, error.hint]}
    whole = json.dumps(_plain({"version": __version__, "warnings": warnings, **reply})).encode("ascii")
    return whole if len(whole) < answer_socket.MOST_REPLY else refuse("the answer is too long")


def refuse(reason: str) -> bytes:
    """Return the line that says why a request has no answer."""
    return json.dumps({"version": __version__, "refused": reason}).encode("ascii")


def world(context: Context) -> dict[str, object]:
    """Return what client and daemon must share: the Root itself, whatever its name is by now, and where projects are looked up."""
    try:
        found = os.stat(context.root.path)
    except OSError:
        found = None
    root = [found.st_dev, found.st_ino] if found else None
    return {"root": root, "home": choose_home(os.environ), "registry": os.environ.get("CLAWSEAT_REGISTRY_HOME", "")}


def _read_request(context: Context, line: bytes) -> tuple[str, dict[str, object], str]:
    """Return the command, its parameters and the seat that asks. Raises ValueError for any other request."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        request = None
    if not isinstance(request, dict):
        raise ValueError("the request is no JSON object")  # noqa: TRY004 -- the sender is at fault
    if request.get("version") != __version__:
        raise ValueError(f"this daemon has version {__version__}")
    for name, here in world(context).items():
        if request.get(name) != here or here is None:
            raise ValueError(f"this daemon works for another {_FOLDERS[name]}")
    command, parameters = request.get("command"), request.get("parameters")
    if isinstance(command, str) and command in _COMMANDS and isinstance(parameters, dict):
        _, types = _COMMANDS[command]
        if {name: type(item) for name, item in parameters.items()} == types:
            return command, parameters, str(request.get("reader") or MEMORY)
    raise ValueError("the request names no command with its parameters")


def _plain(one: object) -> object:
    """Return a result as JSON can hold it; `_revive` makes it again."""
    if isinstance(one, Sentence):
        return {_KIND: "", "said": to_json(one)}
    kind = f"{type(one).__module__}:{type(one).__name__}"
    if isinstance(one, Enum):
        return {_KIND: kind, "value": one.value}
    if hasattr(one, "_fields_"):
        return {_KIND: kind, **{name: _plain(getattr(one, name)) for name in fields_of(one)}}
    if isinstance(one, dict):
        plain = {name: _plain(item) for name, item in one.items()}
        return {_KIND: _OBJECT, "items": list(plain.items())} if _KIND in plain else plain
    return list(map(_plain, one)) if isinstance(one, list | tuple) else one


def _revive(found: dict[str, Any]) -> object:
    """Make a value of the object that `_plain` made of it. Raises ValueError for an unknown kind."""
    kind = found.pop(_KIND, None)
    if kind is None:
        return found
    if not kind:
        return from_json(found["said"])
    if kind == _OBJECT:
        return dict(found["items"])
    module, _, name = kind.partition(":")
    if module not in _MODULES:
        raise ValueError(kind)
    __import__(module)
    return getattr(sys.modules[module], name)(**{field: _frozen(item) for field, item in found.items()})


def _frozen(one: object) -> object:
    return tuple(map(_frozen, one)) if isinstance(one, list) else one


def _error(code: str, sentence: str, hint: str) -> errors.OracleError:
    kinds = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.OracleError)]
    return next((one for one in kinds if one.code == code), errors.OracleError)(sentence, hint=hint)
