"""A made-up credential in every field of JSON that a process reads: none is kept on disk, in a name or a text.

The fields are read from the schemas and from the readers of fields, so a new one is tested without being listed here.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import mcp.types as types
import pytest
from pydantic import TypeAdapter

from oracle import __version__
from oracle.api import Oracle
from oracle.app.context import Context
from oracle.app.decisions.handover import send
from oracle.app.delivery import deliver, dispatch, resume, wakeups
from oracle.app.delivery.complete import Completion
from oracle.app.delivery.deliver import Delivery
from oracle.app.delivery.order import Order
from oracle.app.queries import attend, lookup
from oracle.compat import memory_router
from oracle.compat.json_args import Fields
from oracle.daemon.serve import Daemon
from oracle.domain import schemas
from oracle.domain.records.packets import Request as PacketRequest
from oracle.domain.values import fields_of, replace
from oracle.errors import OracleError
from oracle.mcp.arguments import FILTERS
from oracle.mcp.tools import BY_NAME
from oracle.store.delivery import entries
from oracle.store.delivery.entries import InboxEntry, InboxKind
from oracle.store.root.layout import choose_home
from tests.app.squad import Recorder
from tests.app.test_decisions import payload
from tests.laws.test_every_parameter_is_clean import Program, World, holding, run
from tests.mcp.clients import call, command
from tests.mcp.test_http import Served
from tests.mcp.test_stdio import HELLO, READY
from tests.scan.made_up import Fakes

Path_ = tuple[str, ...]


def leaves(
    schema: dict[str, Any], whole: dict[str, Any], path: Path_ = (), *, inside: tuple[str, ...] = ()
) -> Iterator[tuple[Path_, dict[str, Any]]]:
    """Yield the path and the schema of every field of a JSON Schema; `*` is any item of a list."""
    name = schema.get("$ref", "")
    if name in inside:  # a type that holds itself
        return
    if name:
        schema, inside = whole["$defs"][name.rpartition("/")[2]], (*inside, name)
    forms = schema.get("anyOf", []) + schema.get("oneOf", [])
    for form in forms:
        yield from leaves(form, whole, path, inside=inside)
    for part, form in schema.get("properties", {}).items():
        yield from leaves(form, whole, (*path, part), inside=inside)
    if "items" in schema:
        yield from leaves(schema["items"], whole, (*path, "*"), inside=inside)
    if path and not forms and not schema.get("properties") and "items" not in schema:
        yield path, schema


def put(content: Any, path: Path_, value: object) -> Any:
    """Return JSON with a value at a path, which is made where it is missing."""
    if not path:
        return value
    name, *rest = path
    if name == "*":
        return [put(content[0] if isinstance(content, list) and content else None, tuple(rest), value)]
    table = content if isinstance(content, dict) else {}
    return {**table, name: put(table.get(name), tuple(rest), value)}


def shapes(schema: dict[str, Any]) -> list[Callable[[str], object]]:
    """Return what a field is given of a token: the token, a text with it, and an object with it as a key or a value."""
    found: list[Callable[[str], object]] = [str, "See {}.".format]
    if "object" in str(schema.get("type", "object")):
        found += [lambda token: {"note": token}, lambda token: {token: "x"}, lambda token: {"note": [{"a": token}]}]
    return found


@pytest.fixture(scope="module")
def outset(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


# The inbox ------------------------------------------------------------------------------------------------------------

INBOX = schemas.load("inbox-entry")


class DyingError(Exception):
    """The process ends here."""


def begin(oracle: Oracle, sort: str, *, text: str = "Do it.", secrets: str = "refuse") -> InboxEntry:
    """Return an entry of one sort, as a process leaves it that dies at its work."""

    def die(*_: object, **__: object) -> None:
        raise DyingError

    order = Order("shop", "N-1", "planner", "builder", text, stacks=True, secrets=secrets)
    delivery = Delivery("shop", "Q-17", "planner", {"answer": text}, secrets=secrets)
    completion = Completion("shop", "T-9", "builder", "planner", user_summary=text, secrets=secrets)
    starts: dict[str, tuple[Any, str, Callable[[], object]]] = {
        "dispatch": (dispatch, "_carry_out", lambda: oracle.dispatch(order)),
        "delivery": (deliver, "_carry_out", lambda: oracle.deliver(delivery)),
        "completion": (deliver, "_carry_out", lambda: oracle.complete(completion)),
        "wake-up": (wakeups, "send", lambda: oracle.dispatch(replace(order, target="memory", kind="query"))),
        "question": (attend, "forgive", lambda: put_off(oracle, replace(order, target="memory", kind="query"))),
    }
    module, name, start = starts[sort]
    shutil.rmtree(oracle.root.inbox, ignore_errors=True)
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(DyingError):
        patch.setattr(module, name, die)
        start()
    (entry,) = resume.read_inbox(oracle).waiting
    shutil.rmtree(oracle.root.inbox)
    return entry


def put_off(oracle: Oracle, order: Order) -> None:
    """Ask a question, and let it wait as the daemon does when it can't take it up."""
    oracle.dispatch(replace(order, notifies=False))
    attend.put_off(oracle, attend.open_questions(oracle, "shop")[0], "Busy")


TASKS = {"dispatch": "N-1", "delivery": "Q-17", "completion": "T-9", "wake-up": "N-1", "question": "N-1"}


@pytest.mark.parametrize("sort", TASKS)
def test_no_field_of_the_inbox_keeps_a_credential(outset: World, sort: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, fake = outset.copy(), Fakes()
    monkeypatch.setenv("HOME", str(place / "home"))
    root = place / "home" / ".agents" / "memory"
    tokens: dict[str, str] = {}
    with Oracle.open(str(root)) as oracle:
        base = entries.render(replace(begin(oracle, sort), due_at=0.0)).decode()
        write_entry(root, of_task(base, sort, "Z-0"))
        for path, schema in leaves(INBOX, INBOX):
            for number, shape in enumerate(shapes(schema)):
                label = f"{'.'.join(path)} {number}"
                tokens[label] = fake(f"{sort} {label}")
                write_entry(root, put(of_task(base, sort, f"Z-{len(tokens)}"), path, shape(tokens[label])))
        for _ in range(2):
            Daemon(oracle.root, waker=Recorder(place / "woken.log")).once()
            resume.resume(oracle)
            shutil.rmtree(oracle.root.inbox, ignore_errors=True)  # what is left of the files that were written here
    assert len(tokens) > 30
    assert sort == "question" or holding(place, "Z-0") != []  # without a credential it is carried out
    assert {label: holding(place, token) for label, token in tokens.items() if holding(place, token)} == {}


def of_task(base: str, sort: str, task: str) -> dict[str, Any]:
    """Return an entry as it is for another task. A wake-up gets no receipt, so that it does not depend on the others."""
    content: dict[str, Any] = json.loads(base.replace(f'"{TASKS[sort]}"', f'"{task}"'))
    return put(content, ("fields", "folder"), "") if sort == "wake-up" else content


def write_entry(root: Path, content: dict[str, Any]) -> None:
    """Write a file of the inbox under the name that its subject gives it."""
    (root / "_state/inbox").mkdir(exist_ok=True)
    try:
        name = InboxEntry(InboxKind(content["kind"]), tuple(content["subject"]), {}, 0.0).file_name
    except ValueError:
        name = f"intent-{len(list((root / '_state/inbox').iterdir())):024x}.json"
    (root / "_state/inbox" / name).write_text(json.dumps(content))


@pytest.mark.parametrize("policy", ["allow", "redact"])
@pytest.mark.parametrize("sort", ["dispatch", "delivery", "completion"])
def test_what_a_policy_allowed_is_finished_by_another_process(
    outset: World, sort: str, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, token = outset.copy(), Fakes()(f"{sort} {policy}")
    monkeypatch.setenv("HOME", str(place / "home"))
    root = place / "home" / ".agents" / "memory"
    with Oracle.open(str(root)) as oracle:
        entry = begin(oracle, sort, text=f"See {token}.", secrets=policy)
        write_entry(root, json.loads(entries.render(entry)))
        (root / "machine").mkdir(exist_ok=True)
        (root / "machine/privacy.md").write_text("BLOCK: (\n")
        assert resume.resume(oracle).done == ()
        assert resume.read_inbox(oracle).waiting  # what can't be checked waits
        (root / "machine/privacy.md").unlink()
        (said,) = [line for line in resume.resume(oracle).done if line.startswith("finished")]
        shutil.rmtree(oracle.root.inbox)
    assert "dropped" not in said
    assert (holding(place, token) != []) is (policy == "allow")


@pytest.mark.parametrize("queue", [{"note": [1]}, {"note": {"a": "b"}}, {"note": None}, {"note": 3}])
def test_an_intent_whose_values_have_another_type_is_dropped(
    outset: World, queue: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = outset.copy()
    monkeypatch.setenv("HOME", str(place / "home"))
    root = place / "home" / ".agents" / "memory"
    with Oracle.open(str(root)) as oracle:
        base = entries.render(replace(begin(oracle, "dispatch"), due_at=0.0)).decode()
        write_entry(root, put(of_task(base, "dispatch", "Z-1"), ("fields", "content", "queue"), queue))
        (said,) = [line for line in resume.resume(oracle).done if "Z-1" in line]
    assert "An intent in the inbox holds no dispatch." in said
    assert resume.read_inbox(oracle).waiting == ()


# memory_router --------------------------------------------------------------------------------------------------------

ROUTED = {  # what a command needs besides the field that is tested
    "add": {"memory_type": "preference", "title": "A", "summary": "B."},
    "route": {"goal": "A", "step_role": "planner"},
    "reflect": {"goal": "A", "outcome": "B."},
    "refresh": {"stale_memory_ids": ["retry-webhooks"], "refresh_reason": "It is old."},
    "inspect": {"memory_id": "retry-webhooks"},
}
SHAPES: dict[str, list[Callable[[str], object]]] = {
    "texts": [lambda token: [token], lambda token: ["a", f"See {token}."]],
    "mapping": [lambda token: {"note": token}, lambda token: {token: "x"}, lambda token: {"note": [{"a": token}]}],
    "objects": [lambda token: [{"note": token}], lambda token: [{token: "x"}]],
}


class Recording(Fields):
    """Fields that note what is read from them, and hold what a command needs."""

    def __init__(self, content: dict[str, Any], read: dict[Path_, str], path: Path_ = ()) -> None:
        super().__init__(content)
        self._content = content
        self._read = read
        self._path = path

    def objects(self, name: str) -> list[Fields]:
        self._read[(*self._path, name)] = "objects"
        return [Recording({}, self._read, (*self._path, name, "*"))]


def recorded(accessor: str) -> Callable[..., Any]:
    def read(self: Recording, *names: str, **more: Any) -> Any:
        for name in names:
            self._read[(*self._path, name)] = accessor
        return getattr(Fields, accessor)(self, *names, **more)

    return read


ACCESSORS = [
    name for name, item in vars(Fields).items() if callable(item) and name[0] != "_" and name not in vars(Recording)
]
for one in ACCESSORS:
    if one not in ("require_times", "unused"):
        setattr(Recording, one, recorded(one))


def read_by_router() -> Iterator[tuple[str, Path_, str]]:
    """Yield (command, path, accessor) of every field that `memory_router` reads, as its commands read it."""
    for name, run_command in memory_router._COMMANDS.items():
        read: dict[Path_, str] = {}
        args = memory_router._parser().parse_args([name])
        with contextlib.suppress(OracleError, NoContextError):
            run_command(NoContext(), Recording(dict(ROUTED.get(name, {})), read), args)  # type: ignore[arg-type]
        yield from ((name, path, accessor) for path, accessor in read.items())


class NoContextError(Exception):
    """A command has read its fields, and begins its work."""


class NoContext:
    """Stands for a Root: its first use ends the command."""

    def __getattr__(self, name: str) -> object:
        raise NoContextError


FIELDS = list(read_by_router())


def test_every_command_that_reads_fields_is_among_them() -> None:
    assert {name for name, _, _ in FIELDS} == set(memory_router._COMMANDS) - {"init"}
    assert len(FIELDS) > 50


@pytest.mark.parametrize(
    ("command", "path", "accessor"), FIELDS, ids=lambda one: ".".join(one) if isinstance(one, tuple) else one
)
def test_no_field_of_the_router_keeps_a_credential(
    outset: World, command: str, path: Path_, accessor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, fake = outset.copy(), Fakes()
    program = Program(["memory_router", command], [], {}, memory_router.main)
    for number, shape in enumerate(SHAPES.get(accessor, [str, "See {}.".format])):
        token = fake(f"{command} {path} {number}")
        content = put(ROUTED.get(command, {}), path, shape(token))
        run(program, place, ["--project", "shop", "--input-json", json.dumps(content)], monkeypatch)
        assert holding(place, token) == []


@pytest.mark.parametrize("command", ["add", "route", "reflect", "refresh", "inspect"])
def test_the_fields_that_a_command_needs_are_enough(
    outset: World, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = outset.copy()
    program = Program(["memory_router", command], [], {}, memory_router.main)
    code, said = run(program, place, ["--project", "shop", "--input-json", json.dumps(ROUTED[command])], monkeypatch)
    assert code == 0, said


# The socket of the daemon ---------------------------------------------------------------------------------------------

PLAIN = {
    "text": "retry",
    "question": "Why retry?",
    "project": "shop",
    "limit": 5,
    "request": {"goal": "A", "role": "planner"},
}


def requests() -> Iterator[tuple[str, Path_, dict[str, Any]]]:
    """Yield (command, path, a request) for every field of a request to the daemon."""
    for name, (_, parameters) in lookup._COMMANDS.items():
        base = {
            "version": __version__,
            **lookup.world(Context.open(f"{choose_home(os.environ)}/.agents/memory")),
            "command": name,
            "parameters": {key: PLAIN.get(key, kind()) for key, kind in parameters.items()},
        }
        paths = [*((key,) for key in base), *(("parameters", key) for key in parameters)]
        paths += [("parameters", "request", key) for key in fields_of(PacketRequest) if "request" in parameters]
        paths += [("parameters", "filters", key) for key in FILTERS if "filters" in parameters]
        yield from ((name, path, base) for path in paths)


@pytest.mark.parametrize(
    ("name", "path"),
    [(name, path) for name, path, _ in requests()],
    ids=lambda one: ".".join(one) if isinstance(one, tuple) else one,
)
def test_no_field_of_a_request_to_the_daemon_keeps_a_credential(
    outset: World, name: str, path: Path_, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, fake = outset.copy(), Fakes()
    monkeypatch.setenv("HOME", str(place / "home"))
    (base,) = [base for command, at, base in requests() if (command, at) == (name, path)]
    with Oracle.open(str(place / "home" / ".agents" / "memory")) as oracle:
        daemon = Daemon(oracle.root)
        answer = daemon._answering._answer
        whole = json.loads(answer(json.dumps(base).encode(), math.inf))
        assert "refused" not in whole
        for number, shape in enumerate([*shapes({"type": "object"}), lambda token: [token]]):
            token = fake(f"{name} {path} {number}")
            answer(json.dumps(put(base, path, shape(token))).encode(), math.inf)
            daemon.once()
            assert holding(place, token) == []
            assert token not in json.dumps(daemon.stats.as_json(), default=str)


# Files that programs take ---------------------------------------------------------------------------------------------

TAKEN = [
    (name, path, schema)
    for name in ("decision-payload", "response")
    for path, schema in leaves(schemas.load(name), schemas.load(name))
]


@pytest.mark.parametrize(("name", "path", "schema"), TAKEN, ids=[f"{name} {'.'.join(path)}" for name, path, _ in TAKEN])
def test_no_field_of_a_file_that_a_program_takes_keeps_a_credential(
    outset: World, name: str, path: Path_, schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, fake = outset.copy(), Fakes()
    monkeypatch.setenv("HOME", str(place / "home"))
    with Oracle.open(str(place / "home" / ".agents" / "memory")) as oracle:
        for number, shape in enumerate(shapes(schema)):
            token = fake(f"{name} {path} {number}")
            with contextlib.suppress(OracleError):
                if name == "response":
                    response = put({"answer": "B.", "claims": [{"statement": "A."}]}, path, shape(token))
                    oracle.deliver(Delivery("shop", "Q-17", "planner", response))
                else:
                    sent = json.loads(payload(from_seat="shop-memory", decision_id=str(uuid4())))
                    send(oracle, json.dumps(put(sent, path, shape(token))).encode(), project="shop")
            assert holding(place, token) == []


# MCP ------------------------------------------------------------------------------------------------------------------

NESTED = [
    (tool.name, path, schema)
    for tool in BY_NAME.values()
    for path, schema in leaves(tool.schema, tool.schema)
    if len(path) > 1
]


@pytest.mark.parametrize(
    ("tool", "path", "schema"), NESTED, ids=[f"{tool} {'.'.join(path)}" for tool, path, _ in NESTED]
)
def test_no_field_of_an_argument_of_a_tool_keeps_a_credential(
    outset: World, tool: str, path: Path_, schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, fake, arguments = outset.copy(), Fakes(), BY_NAME[tool].arguments
    monkeypatch.setenv("HOME", str(place / "home"))
    given = {name: arguments[name]["examples"][0] for name in BY_NAME[tool].required}
    for number, shape in enumerate(shapes(schema)):
        token = fake(f"{tool} {path} {number}")
        content = put({**given, "project": "shop"}, path, shape(token))
        sent = {name: item for name, item in content.items() if name in arguments}
        call(place / "home" / ".agents" / "memory", tool, **sent)
        assert holding(place, token) == []


SENT = TypeAdapter(types.ClientRequest | types.ClientNotification).json_schema()
KNOWN = {  # what a message names that has to be there
    "tools/call": {"name": "search", "arguments": {"query": "retry"}},
    "initialize": HELLO["params"],
}


def minimal(schema: dict[str, Any]) -> Any:
    """Return the smallest value that fits a schema of the SDK."""
    while "$ref" in schema:
        schema = SENT["$defs"][schema["$ref"].rpartition("/")[2]]
    if "const" in schema or "enum" in schema:
        return schema.get("const") or schema["enum"][0]
    if "anyOf" in schema:
        return minimal(schema["anyOf"][0])
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: minimal(schema["properties"][name]) for name in schema.get("required", [])}
    return {"string": "a", "integer": 1, "number": 1, "boolean": True, "array": []}[kind]


def messages(fake: Fakes, *, most: int = 9) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a token and a message with it, for every field of every message that a client may send."""
    for one in SENT["anyOf"]:
        form = SENT["$defs"][one["$ref"].rpartition("/")[2]]
        method = form["properties"]["method"]["const"]
        base = {**minimal(form), "jsonrpc": "2.0", "method": method}
        base["params"] = {**base.get("params", {}), **KNOWN.get(method, {})}
        for path, schema in [*leaves(form, SENT), (("id",), {"type": "string"}), (("params",), {"type": "object"})]:
            for number, shape in enumerate(shapes(schema)[:most]):
                token = fake(f"{method} {path} {number}")
                numbered = {} if method.startswith("notifications/") else {"id": token[:8]}
                yield token, put({**base, **numbered}, path, shape(token))


def test_every_message_is_among_them() -> None:
    tokens = dict(messages(Fakes()))
    assert {one.get("method") for one in tokens.values()} >= {
        "initialize",
        "tools/call",
        "resources/read",
        "prompts/get",
    }
    assert len(tokens) > 200


def test_no_field_of_a_message_over_streams_keeps_a_credential(outset: World, monkeypatch: pytest.MonkeyPatch) -> None:
    place = outset.copy()
    monkeypatch.setenv("HOME", str(place / "home"))
    sent = dict(messages(Fakes()))
    lines = [json.dumps(one) for one in [HELLO, READY, *sent.values()]]
    words = command(place / "home" / ".agents" / "memory")
    done = subprocess.run(words, input="\n".join(lines), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert '"id":1' in done.stdout
    assert {token: holding(place, token) for token in sent if holding(place, token)} == {}


def test_no_field_of_a_message_over_http_keeps_a_credential(outset: World, monkeypatch: pytest.MonkeyPatch) -> None:
    place = outset.copy()
    monkeypatch.setenv("HOME", str(place / "home"))
    served = Served(place / "home" / ".agents" / "memory")
    sent, taken = dict(messages(Fakes(), most=1)), 0
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    usual |= {"Authorization": f"Bearer {served.token}"}
    try:
        for token, message in {"hello": HELLO, **sent}.items():
            request = Request(served.url, json.dumps(message).encode(), {**usual, "User-Agent": token}, method="POST")  # noqa: S310
            with contextlib.suppress(OSError), urlopen(request, timeout=5) as reply:  # noqa: S310
                usual.setdefault("Mcp-Session-Id", str(reply.headers["Mcp-Session-Id"] or ""))
                taken += bool(reply.read(1))
    finally:
        assert served.end() == 0
    assert taken > 20
    assert {token: holding(place, token) for token in sent if holding(place, token)} == {}
