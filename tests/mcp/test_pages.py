"""References/mcp.md and the tools say the same, both ways."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from oracle.mcp import resources
from oracle.mcp.read_tools import LONGEST_SHOWN
from oracle.mcp.server import describe
from oracle.mcp.tools import TOOLS, Tool
from oracle.scan.machine import MIN_FINGERPRINTED

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = (CHECKOUT / "references" / "mcp.md").read_text(encoding="utf-8")
ARGUMENT = re.compile(r"^- `(\w+)`( \(needed\))?: ", re.MULTILINE)


def sections() -> dict[str, str]:
    """Return the text under each tool's heading."""
    tools = PAGE.split("\n## Tools\n")[1].split("\n## ")[0]
    parts = re.split(r"^### (.+)$", tools, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_tool_has_a_section_and_every_section_a_tool():
    assert list(sections()) == [tool.name for tool in TOOLS]


@pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])
def test_every_argument_is_documented_and_every_documented_one_exists(tool: Tool):
    found = ARGUMENT.findall(sections()[tool.name])
    assert [name for name, _ in found] == list(tool.arguments)
    assert {name for name, needed in found if needed} == set(tool.required)
    said = " ".join(sections()[tool.name].split())
    assert tool.description in said


def test_the_table_says_what_clients_are_told():
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (yes|no) \|$", PAGE, re.MULTILINE)
    told = []
    for tool in map(describe, TOOLS):
        hints = tool.annotations
        assert hints is not None
        does = "reads" if hints.read_only_hint else "withdraws" if hints.destructive_hint else "adds"
        told.append((tool.name, does, "yes" if hints.idempotent_hint else "no"))
    assert rows == told


def test_resources_and_prompts_are_documented():
    addresses = re.findall(r"^- `(oracle://[^`]+)`", PAGE, re.MULTILINE)
    assert addresses == [item.uri for item in resources.TEMPLATES]
    prompts = re.findall(r"^- `(\w+)` \(([^)]+)\): ", PAGE.split("\n## Prompts\n")[1], re.MULTILINE)
    told = [(prompt.name, [name for name, *_ in prompt.arguments]) for prompt in resources.PROMPTS]
    assert [(name, re.findall(r"`(\w+)`", arguments)) for name, arguments in prompts] == told


def test_figures_of_the_page_are_those_of_the_code():
    said = " ".join(PAGE.split())
    assert f"longer than {LONGEST_SHOWN:,} characters" in said
    assert f"from {MIN_FINGERPRINTED} characters on" in said


@pytest.mark.parametrize("client", ["claude mcp add oracle -- oracle mcp", "[mcp_servers.oracle]", '{"mcpServers": '])
def test_readme_says_how_clients_are_told(client: str):
    assert client in (CHECKOUT / "README.md").read_text(encoding="utf-8")
