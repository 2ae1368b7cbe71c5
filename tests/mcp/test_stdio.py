"""A server of its own process: its streams, its start, many at once, and its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import mcp
import pytest

from oracle.api import Oracle
from oracle.app.root import check
from oracle.cli.main import run
from tests.forked import Forked
from tests.growth import costs_at_most
from tests.mcp.clients import CHECKOUT, Result, command, parameters, put

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
SERVERS = 20


class Raw:
    """A server spoken to line by line."""

    def __init__(self, words: list[str], **more: Any) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(words, **{**pipes, **more})
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def send(self, message: dict[str, Any]) -> None:
        assert self.stdin
        self.stdin.write(json.dumps(message).encode() + b"\n")
        self.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.stdout
        message: dict[str, Any] = json.loads(self.stdout.readline())
        return message

    def call(self, number: int, tool: str, **given: Any) -> dict[str, Any]:
        params = {"name": tool, "arguments": given}
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        found: dict[str, Any] = self.receive()["result"]
        return found

    def end(self) -> tuple[bytes, bytes, int]:
        out, err = self.process.communicate(timeout=120)
        return out, err, self.process.returncode


class ForkedServer(Raw):
    """A server in a fork of this process, which has loaded the SDK."""

    def __init__(self, root: Path) -> None:
        given, asks = os.pipe()
        answers, told = os.pipe()

        def serve() -> None:
            os.close(asks)
            os.close(answers)
            sys.exit(run(["mcp", "--memory-dir", str(root)]))

        self.stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self.child = Forked(serve, streams=[given, told, self.stderr.fileno()])
        os.close(given)
        os.close(told)
        self.stdin, self.stdout = os.fdopen(asks, "wb"), os.fdopen(answers, "rb")

    def end(self) -> tuple[bytes, bytes, int]:
        self.stdin.close()
        out = b"" if self.stdout.closed else self.stdout.read()
        code = self.child.wait()
        self.stdout.close()
        self.stderr.seek(0)
        return out, self.stderr.read(), code


def answers_to(root: Path, said: bytes) -> list[dict[str, Any]]:
    """Return what a server says to lines that come at once, and then the end of its input."""
    server = ForkedServer(root)
    server.stdin.write(said)
    out, _, code = server.end()
    assert code == 0
    return [json.loads(line) for line in out.splitlines()]


def code_of(result: dict[str, Any]) -> str:
    return str(result["structuredContent"].get("error", {}).get("code", ""))


@pytest.fixture
def arena(root: Path) -> Path:
    put(root, "projects/arena/planner/retry.md", "The upload retries five times. For ARENA-228.\n")
    return root


@pytest.mark.parametrize(
    "query",
    [r'"\ud800"', "[" * 300 + "]" * 300],
    ids=["half a surrogate pair", "a deep nest"],
)
def test_request_that_cannot_be_read_is_refused_by_its_number(arena: Path, query: str):
    call = (
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"query": %s}}}'
    )
    lines = [
        json.dumps(HELLO),
        json.dumps(READY),
        call % query,
        '{"jsonrpc": "2.0", "id": null, "method": "tools/list"}',
    ]
    answers = {one["id"]: one for one in answers_to(arena, "\n".join(lines).encode() + b"\n")}
    assert answers[2]["error"]["code"] == -32602
    assert answers[None]["error"]["code"] == -32600
    assert set(answers) == {1, 2, None}


def test_client_of_the_sdk_lists_and_calls(arena: Path):
    async def job() -> tuple[list[str], Result, str]:
        async with mcp.Client(parameters(arena, "--seat", "planner", "--project", "arena")) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            found = Result(await client.call_tool("search", {"query": "upload retries"}))
            return tools, found, client.instructions or ""

    tools, found, instructions = asyncio.run(job())
    assert {"search", "write_record"} <= set(tools)
    assert "five times" in found.text
    assert "its seat planner of the project arena" in instructions
    assert f"at {arena}." in instructions


NOISE = """
import sys, os, builtins
class Loud:
    def find_spec(self, name, path=None, target=None):
        if name in ("mcp", "anyio", "jsonschema", "oracle.app.search.search"):
            print("loud", name); os.write(1, b"raw noise\\n"); os.system("echo from a child")
sys.meta_path.insert(0, Loud())
"""


def test_nothing_but_messages_reaches_standard_output(arena: Path):
    server = Raw(command(arena, before=NOISE))
    server.send(HELLO)
    assert server.receive()["result"]["serverInfo"]["name"] == "oracle"
    server.send(READY)
    assert "five times" in server.call(2, "search", query="upload retries")["content"][0]["text"]
    out, err, code = server.end()
    assert (out, code) == (b"", 0)
    for line in (b"loud mcp", b"loud oracle.app.search.search", b"raw noise", b"from a child"):
        assert line in err


def test_a_broken_line_is_answered_and_the_next_one_served(arena: Path):
    call = {"name": "search", "arguments": {"query": "upload retries"}}
    served = [json.dumps(HELLO), json.dumps(READY)]
    asked = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
    said = [*(line.encode() for line in served), b'{"jsonrpc": "2.0", "id": \xff', b"", b"[1]", asked.encode()]
    answers = answers_to(arena, b"\n".join(said) + b"\n")
    assert [one["error"]["code"] for one in answers if one["id"] is None] == [-32700, -32600]
    assert ["five times" in str(one) for one in answers if one["id"] == 2] == [True]


NO_MESSAGES = {
    "[]": None,
    '[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]': None,
    "3": None,
    "null": None,
    '"ping"': None,
    "{}": None,
    '{"jsonrpc": "2.0"}': None,
    '{"jsonrpc": "2.0", "method": 1, "params": "bar"}': None,
    '{"id": 7, "method": "ping"}': 7,
    '{"jsonrpc": "1.0", "id": "seven", "method": "ping"}': "seven",
    '{"jsonrpc": "2.0", "id": 7, "method": ["ping"]}': 7,
    '{"jsonrpc": "2.0", "id": NaN, "method": "ping"}': None,
    '{"jsonrpc": "2.0", "id": null, "method": "ping"}': None,
    '{"jsonrpc": "2.0", "id": true, "method": "ping"}': None,
    '{"jsonrpc": "2.0", "id": 7, "result": 3}': None,
}


def test_json_that_is_no_message_is_answered_as_json_rpc_prescribes(arena: Path):
    ask = json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})
    said = [json.dumps(HELLO), json.dumps(READY), *NO_MESSAGES, ask]
    answers = answers_to(arena, "\n".join(said).encode() + b"\n")
    refused = [one for one in answers if "error" in one]
    assert [one["error"]["code"] for one in refused] == [-32600] * len(NO_MESSAGES)
    assert [one["id"] for one in refused] == list(NO_MESSAGES.values())
    assert all(one["jsonrpc"] == "2.0" and one["error"]["message"].startswith("Invalid Request: ") for one in refused)
    assert [bool(one["result"]["tools"]) for one in answers if one["id"] == 9] == [True]


def test_what_was_asked_before_the_input_ended_is_answered(arena: Path):
    """As a shell does it: every line at once, then the end."""
    written = {"kind": "decision", "project": "arena", "title": "Piped", "body": "For ARENA-228."}
    calls = [
        ("search", {"query": "upload"}),
        ("write_record", written),
        ("ask", {"question": "How often does it retry?"}),
    ]
    messages = [HELLO, READY] + [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": given}}
        for number, (name, given) in enumerate(calls, 2)
    ]
    said = "".join(json.dumps(message) + "\n" for message in messages).encode()
    assert {answer["id"] for answer in answers_to(arena, said) if "result" in answer} == {1, 2, 3, 4}


def test_a_request_that_was_taken_back_is_not_waited_for(arena: Path):
    messages = [HELLO, READY, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    said = "".join(json.dumps(message) + "\n" for message in [*messages, gone, {"jsonrpc": "2.0"}]).encode()
    assert answers_to(arena, said)[0]["id"] == 1


def test_a_client_that_is_gone_ends_it_without_a_word(arena: Path):
    server = ForkedServer(arena)
    server.send(HELLO)
    server.receive()
    server.send(READY)
    server.stdout.close()
    server.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    assert server.child.wait() == 0
    assert server.end() == (b"", b"", 0)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_while_the_client_is_silent(arena: Path, number: int, code: int):
    server = Raw(command(arena))
    server.send(HELLO)
    server.receive()
    server.process.send_signal(number)
    assert server.process.wait(timeout=120) == code
    assert server.process.stderr
    assert server.process.stderr.read() == b""


def test_words_that_are_wrong_end_it_before_anything_is_served(arena: Path):
    done = subprocess.run(
        command(arena, "--seat", "../x"), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "seat" in done.stderr


def test_without_the_sdk_it_says_what_to_install(arena: Path):
    before = "import sys; sys.modules['mcp'] = None; sys.modules['mcp_types'] = None\n"
    done = subprocess.run(
        command(arena, before=before), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install" in done.stderr


def test_a_server_imports_nothing_heavy_beside_the_sdk():
    """The first reply comes when the SDK is loaded; whatever else is slow waits for the call that needs it."""

    def loaded(code: str) -> set[str]:
        show = "; import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
        words = [sys.executable, "-c", code + show]
        done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    sdk = loaded("import mcp.server.lowlevel, mcp.server.stdio")
    ours = loaded("import oracle.mcp.tool_runner, oracle.mcp.server, oracle.mcp.serving, oracle.process")
    heavy = {"jsonschema", "rich", "typer", "libtmux", "frontmatter", "yaml", "hypothesis", "sqlite3"}
    assert not (ours - sdk) & heavy


SPOILED = """
import sys
class Spoiled:
    def find_spec(self, name, path=None, target=None):
        if name == "mcp.server.lowlevel" and not hasattr(sys.modules["mcp"], "CallToolRequest"):
            raise ImportError("this version needs its package")
sys.meta_path.insert(0, Spoiled())
"""


@pytest.mark.parametrize("before", ["", SPOILED, "import mcp\n"], ids=["parts", "package", "imported before"])
def test_the_sdk_is_loaded_in_parts_or_as_its_version_needs_it(arena: Path, before: str):
    show = "import atexit, sys; atexit.register(lambda: print('mcp.client.client' in sys.modules, file=sys.stderr))\n"
    server = Raw(command(arena, before=show + before))
    server.send(HELLO)
    assert server.receive()["result"]["serverInfo"]["name"] == "oracle"
    server.send(READY)
    assert "five times" in server.call(2, "search", query="upload retries")["content"][0]["text"]
    out, err, code = server.end()
    assert (out, err.decode().strip(), code) == (b"", str(bool(before)), 0)


def test_the_first_reply_costs_no_more_than_the_sdk(arena: Path):
    said = (json.dumps(HELLO) + "\n").encode()
    sdk = [sys.executable, "-c", "import mcp.server.lowlevel, mcp.server.stdio"]

    def run(words: list[str]) -> None:
        subprocess.run(words, input=said, cwd=CHECKOUT, capture_output=True, check=True)

    assert costs_at_most(1.1, lambda: run(command(arena)), than=lambda: run(sdk))


@pytest.mark.slow
def test_twenty_servers_on_one_root_at_once(arena: Path):
    """Each reads and writes while the others do; none waits for ever, and no word of SQLite's reaches a client."""
    servers = [ForkedServer(arena) for _ in range(SERVERS)]

    def use(number: int) -> list[dict[str, Any]]:
        server = servers[number]
        server.send(HELLO)
        assert server.receive()["result"]["serverInfo"]["name"] == "oracle"
        server.send(READY)
        written = {"kind": "decision", "project": "arena", "title": f"Record {number}", "body": "For ARENA-228."}
        calls: list[tuple[str, dict[str, Any]]] = [
            ("search", {"query": "upload retries"}),
            ("write_record", written),
            ("backlinks", {"target": "entity:taskid:ARENA-228"}),
            ("ask", {"question": "How often are uploads retried?"}),
            ("write_record", {**written, "title": f"Second {number}"}),
            ("list_records", {"project": "arena", "limit": 100}),
        ]
        return [server.call(turn, name, **given) for turn, (name, given) in enumerate(calls, 2)]

    try:
        with ThreadPoolExecutor(SERVERS) as pool:
            answers = [result for results in pool.map(use, range(SERVERS), timeout=300) for result in results]
    except BaseException:
        for server in servers:
            server.child.kill()
        raise
    assert [server.end()[2] for server in reversed(servers)] == [
        0
    ] * SERVERS  # each holds the streams of those before it
    assert len(answers) == 6 * SERVERS
    told = [one for one in answers if one.get("isError") and code_of(one) != "not_in_memory_db"]
    assert told == []
    assert not [one for one in answers if "locked" in json.dumps(one)]
    with Oracle.open(str(arena)) as oracle:
        assert len(oracle.records({"project": "arena", "kind": "decision"})) == 2 * SERVERS
        assert len(oracle.backlinks("entity:taskid:ARENA-228")) == 2 * SERVERS + 1
        assert check(oracle) == []
