"""The pages for people and the program say the same, both ways."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from oracle import errors
from oracle.cli.application import Group, command, walk

REFERENCES = Path(__file__).parents[2] / "references"
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def sections() -> dict[str, str]:
    """Return the text under each heading of the page."""
    parts = re.split(r"^## (.+)$", (REFERENCES / "cli.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented(text: str) -> set[str]:
    """Return the flags that list items begin with: `- `--a`, `--b VALUE` what they do`."""
    found: set[str] = set()
    for item in re.findall(r"^- ((?:.|\n  )*)", text, flags=re.MULTILINE):
        head = re.match(r"(?:`[^`]+`(?:,\s+)?)+", item)
        found.update(FLAG.findall(head[0]) if head else ())
    return found


def flags(found) -> set[str]:
    """Return the flags of a command, of a group with a default command those of that."""
    if isinstance(found, Group) and found.default:
        found = found.commands[found.default]
    return {name for parameter in found.params for name in parameter.opts if name.startswith("--")}


ROOT = command()
COMMANDS = {name: found for name, found in walk(ROOT, hidden=True) if not found.hidden or name in ROOT.unlisted}
COMMON = {"--memory-dir", "--json"}
SECTIONS = sections()


def test_every_command_has_a_section_and_every_section_a_command():
    assert [name for name in SECTIONS if name.startswith("oracle ")] == [f"oracle {name}" for name in COMMANDS]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_is_documented_and_every_documented_flag_exists(name):
    found = flags(COMMANDS[name])
    assert documented(SECTIONS[f"oracle {name}"]) == found - COMMON
    assert found >= COMMON


def test_flags_of_every_command_and_of_the_group_are_documented():
    general = SECTIONS["What holds for every command"]
    assert documented(general) == flags(ROOT) | COMMON | {"--help"}


def test_flags_that_the_text_mentions_exist():
    known = {"--help", *flags(ROOT), *(flag for found in COMMANDS.values() for flag in flags(found))}
    for page in ("cli.md", "exit-codes.md"):
        assert set(FLAG.findall((REFERENCES / page).read_text(encoding="utf-8"))) <= known


def test_every_value_a_flag_takes_is_named_as_in_its_help():
    for name, found in COMMANDS.items():
        for parameter in found.params:
            if parameter.metavar and "|" in parameter.metavar:
                assert f"`{parameter.opts[0]} {parameter.metavar}`" in SECTIONS[f"oracle {name}"]


def test_every_error_has_its_row_and_every_row_an_error():
    rows = re.findall(
        r"^\| (\d+) \| `(\w+)` \|", (REFERENCES / "exit-codes.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.OracleError)]
    assert {(int(code), name) for code, name in rows} == {(kind.exit_code, kind.code) for kind in kinds}
