"""Clients of a server under test: in this process, or over the streams of one that was started."""

from __future__ import annotations

import asyncio
import functools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import mcp
from jsonschema import Draft202012Validator
from mcp.client.stdio import StdioServerParameters

from oracle.mcp.binding import Binding
from oracle.mcp.server import make_server
from oracle.mcp.tool_runner import ToolRunner
from oracle.mcp.tools import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CHECKOUT = Path(__file__).resolve().parents[2]
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from oracle.cli.main import run; sys.exit(run())"

Outcome = TypeVar("Outcome")

really_check = Draft202012Validator.check_schema


@functools.cache
def check_text(schema: str) -> None:
    really_check(json.loads(schema))


# Each client of the SDK checks the schema of each tool that it calls, which costs more than the call: check each once.
Draft202012Validator.check_schema = lambda schema: check_text(json.dumps(schema))


def command(root: Path, *words: str, before: str = "") -> list[str]:
    """Return the words that start `oracle mcp` of this checkout; `before` is Python that runs first."""
    return [sys.executable, "-c", before + START, str(CHECKOUT), "mcp", "--memory-dir", str(root), *words]


def parameters(root: Path, *words: str, before: str = "") -> StdioServerParameters:
    first, *rest = command(root, *words, before=before)
    return StdioServerParameters(command=first, args=rest)


def visit(
    root: Path, job: Callable[[mcp.Client], Awaitable[Outcome]], *, seat: str = "memory", project: str = ""
) -> Outcome:
    """Run a job with a client of a server in this process."""

    async def run() -> Outcome:
        runner = ToolRunner(Binding(str(root), seat, project))
        try:
            async with mcp.Client(make_server(runner), mode="legacy") as client:
                return await job(client)
        finally:
            runner.close()

    return asyncio.run(run())


class Result:
    """What a tool gave: the data, the text, and whether it was an error."""

    def __init__(self, raw: Any) -> None:
        self.data: dict[str, Any] = raw.structured_content
        (block,) = raw.content
        self.text: str = block.text
        self.is_error: bool = raw.is_error

    @property
    def code(self) -> str:
        return str(self.data.get("error", {}).get("code", ""))

    @property
    def whole(self) -> str:
        return self.text + json.dumps(self.data, ensure_ascii=False)


def call(root: Path, tool: str, *, as_seat: str = "memory", bound: str = "", **given: Any) -> Result:
    """Call one tool of a server that is bound to a seat, and to a project when one is named; its answer has to fit its schema."""

    async def job(client: mcp.Client) -> Result:
        return Result(await client.call_tool(tool, given))

    result = visit(root, job, seat=as_seat, project=bound)
    if tool in BY_NAME:  # of an error too: some clients hold it to the schema as well
        Draft202012Validator(BY_NAME[tool].output).validate(result.data)
    return result


def put(root: Path, path: str, text: str) -> Path:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place
