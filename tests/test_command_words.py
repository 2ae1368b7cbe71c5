"""Every `oracle …` that a hint, a message, a document or a script names is a command that exists, with flags that it takes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from oracle.cli.application import MOVED, Group, command, walk
from oracle.cli.commands.compat import PROGRAMS

CHECKOUT = Path(__file__).resolve().parent.parent
REFERENCES = CHECKOUT / "references"
PAGES = sorted([*REFERENCES.glob("*.md"), *REFERENCES.glob("skills/*.md"), CHECKOUT / "README.md"])
SOURCES = sorted([*(CHECKOUT / "oracle").rglob("*.py"), *(CHECKOUT / "scripts").rglob("*.py")])
CATALOGUE = CHECKOUT / "oracle/cli/i18n/zh.po"
ROOT = command()
TREE = dict(walk(ROOT, hidden=True))
OLD = {*MOVED, *(path.split()[-1] for path in TREE if " " in path)} - set(ROOT.list_commands(None))
CODE = re.compile(r"`oracle ([^`]*)`?|(?:^|(?<=[\s(\"'$]))oracle ([a-z][^`]*)", re.MULTILINE)
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
WORD = re.compile(r"[a-z][a-z-]*")


@cache
def flags(found: Any) -> frozenset[str]:
    if isinstance(found, Group) and found.default:
        found = found.commands[found.default]
    return frozenset(name for parameter in found.params for name in parameter.opts)


def fault(text: str, *, is_code: bool) -> str:
    """Return what is wrong with the words behind `oracle`, "" when they are a command; prose is looked at for old words alone."""
    words = re.sub(r"--(?:lang|memory-dir)[ =]\S+|\s#.*", "", text).split()
    at = next((at for at, word in enumerate(words) if not word.startswith("-")), len(words))
    if not words or (not is_code and (at or words[0].rstrip(".,;:)") not in OLD)):
        return ""
    found: Any = ROOT
    while isinstance(found, Group) and words[at : at + 1]:
        word = words[at].rstrip(".,;:)'\"")
        if not WORD.fullmatch(word) or (found is ROOT and word == "help"):
            break
        below = found.get_command(None, word)
        if below is None:
            return "" if found.default else f"`oracle {' '.join(words[: at + 1])}` is no command"
        found, at = below, at + 1
    if found is TREE["compat"]:
        name = words[at] if words[at:] else "…"
        return "" if name in PROGRAMS or not WORD.fullmatch(name) else f"{name} is no program"
    unknown = set(FLAG.findall(" ".join(words))) - flags(found) - flags(ROOT) - {"--help"}
    return f"`oracle {text}` has no {', '.join(sorted(unknown))}" if is_code and unknown else ""


def faults(text: str) -> list[str]:
    return [why for code, plain in CODE.findall(text) if (why := fault(code or plain, is_code=bool(code)))]


def strings(path: Path) -> Iterator[str]:
    """Yield every text of a module, an f-string with `…` in the place of its values."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_every_command_in_the_code_exists():
    found = {
        str(path.relative_to(CHECKOUT)): [why for text in strings(path) for why in faults(text)] for path in SOURCES
    }
    assert {path: whys for path, whys in found.items() if whys} == {}


@pytest.mark.parametrize("path", [CATALOGUE, *PAGES], ids=lambda path: path.name)
def test_every_command_of_a_page_exists(path: Path):
    text = (
        re.sub(r'"\n"', "", path.read_text(encoding="utf-8")) if path == CATALOGUE else path.read_text(encoding="utf-8")
    )
    fenced = "\n".join(re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    lines = [
        why for line in re.findall(r"^(?:\$ )?oracle (.+)$", fenced, re.MULTILINE) if (why := fault(line, is_code=True))
    ]
    assert faults(re.sub(r"\n(?=[^\n])", " ", text)) + lines == []


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        ("`oracle status`", True),
        ("run oracle reconcile --check", True),
        ("`oracle list --nothing`", True),
        ("`oracle team frob`", True),
        ("`oracle compat frob`", True),
        ("`oracle index status`", False),
        ("the oracle for teams", False),
        ("`oracle handoffs Q-1`", False),
        ("`oracle help COMMAND`, `oracle --help`", False),
        ("`oracle team task create ID --project P`", False),
    ],
)
def test_a_dead_command_is_found(text: str, is_wrong: bool):
    assert bool(faults(text)) == is_wrong
