"""Configuration of link extraction: the first file that sets a key wins; what can't be used is said and passed over."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from oracle.domain.links.links import DEFAULT_PATTERNS, Patterns
from oracle.errors import UsageError
from oracle.store.root.configuration import load_command, load_daemon, load_language, load_patterns
from oracle.store.root.layout import Root


def load(root: Path, project: str = "arena") -> tuple[Patterns, list[str]]:
    said: list[str] = []
    return load_patterns(Root(str(root)), project, report=lambda path, why: said.append(f"{path}: {why}")), said


def put(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def test_nothing_configured(root: Path) -> None:
    assert load(root) == (DEFAULT_PATTERNS, [])


def test_the_nearest_file_wins_key_by_key(root: Path) -> None:
    put(root, "config/component-patterns.toml", '[component_patterns]\nsuffixes = ["Far"]')
    put(root, "link-patterns.toml", 'task_prefixes = ["ROOT"]')
    assert load(root)[0] == Patterns(frozenset({"ROOT"}), ("Far",))
    put(root, "projects/arena/component-patterns.toml", '[component_patterns]\nsuffixes = ["Near", "Also"]')
    assert load(root)[0] == Patterns(frozenset({"ROOT"}), ("Also", "Near"))
    put(root, "projects/arena/link-patterns.toml", 'task_prefixes = "OWN"')
    assert load(root)[0] == Patterns(frozenset({"OWN"}), ("Also", "Near"))
    assert load(root, "zoo")[0] == Patterns(frozenset({"ROOT"}), ("Far",))


@pytest.mark.parametrize(
    "text",
    [
        "= broken",
        "\x00",
        "task_prefixes = [1, {}]",
        'task_prefixes = ["a b", "(x+)+", ""]',
        "component_patterns = 3",
        '[component_patterns]\nsuffixes = [".*"]',
    ],
)
def test_what_can_not_be_used_is_passed_over(root: Path, text: str) -> None:
    put(root, "link-patterns.toml", text)
    patterns, said = load(root)
    assert patterns.component_suffixes in (DEFAULT_PATTERNS.component_suffixes, ())
    assert patterns.task_prefixes in (None, frozenset())
    assert said == [] if text.endswith("= 3") else all(line.startswith("link-patterns.toml: ") for line in said)
    assert bool(said) != text.endswith("= 3")


def test_bytes_folders_and_pipes_in_the_place_of_the_file(root: Path) -> None:
    (root / "link-patterns.toml").write_bytes(b"\xff\xfe")
    (root / "config/link-patterns.toml").mkdir(parents=True)
    patterns, said = load(root)
    assert patterns == DEFAULT_PATTERNS
    assert len(said) == 2


@pytest.mark.parametrize("load", [partial(load_command, name="synthesizer"), load_daemon])
def test_a_pipe_in_the_place_of_the_settings_is_not_waited_for(root: Path, load: Callable[[Root], object]) -> None:
    os.mkfifo(root / "config.toml")
    with pytest.raises(UsageError, match="not a regular file"):
        load(Root(str(root)))


HOSTILE = {
    "nested": b"language = " + b"[" * 9999,
    "large": b"# zh\n" * (1 << 18),
    "endless number": b"[daemon]\nseat_bound = 0x" + b"f" * 6000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_settings_that_are_hostile_are_one_sentence_and_no_language(root: Path, text: bytes) -> None:
    (root / "config.toml").write_bytes(text)
    with pytest.raises(UsageError, match=r"^config\.toml: ") as caught:
        load_daemon(Root(str(root)))
    assert len(caught.value.sentence) < 200
    language, faults = load_language(Root(str(root)))
    assert (language, [fault.sentence for fault in faults]) == ("", [caught.value.sentence] * (b"daemon" not in text))
    if b"daemon" not in text:
        with pytest.raises(UsageError, match=r"^config\.toml: "):
            load_command(Root(str(root)), "synthesizer")


def test_a_file_of_patterns_that_is_nested_too_deeply_is_passed_over(root: Path) -> None:
    (root / "link-patterns.toml").write_bytes(HOSTILE["nested"])
    patterns, said = load(root)
    assert patterns == DEFAULT_PATTERNS
    assert len(said) == 1


def test_page_names_the_endings_of_components_that_count_by_default():
    page = (Path(__file__).parents[2] / "references" / "links.md").read_text(encoding="utf-8")
    (named,) = [line for line in page.splitlines() if line.startswith("Where nothing lists them, the endings are")]
    assert re.findall("`([^`]+)`", named) == list(DEFAULT_PATTERNS.component_suffixes)
