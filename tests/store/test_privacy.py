"""The owner's rules: compiled in linear time, and an error when one can't be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.domain.safety.privacy import Guard
from oracle.errors import RulesUnusable
from oracle.store.root import privacy
from oracle.store.root.layout import Root
from tests.growth import grows_linearly


def state(root: Path, text: str) -> Root:
    (root / "machine").mkdir(exist_ok=True)
    (root / "machine/privacy.md").write_text(text, encoding="utf-8")
    return Root(str(root))


def found(root: Root, text: str) -> list[tuple[str, int]]:
    return seen(Guard(privacy.load(root), personal=False), text)


def seen(guard: Guard, text: str) -> list[tuple[str, int]]:
    return [(one.rule, one.column) for one in guard.look(text, "text")]


def test_a_root_without_the_file_has_no_rules(root: Path) -> None:
    assert privacy.load(Root(str(root))) == ()


@pytest.mark.parametrize(
    ("line", "text", "columns"),
    [
        ("BLOCK: lotus", "a lotus, a Lotus", [3, 12]),
        ("BLOCK: \\blotus", "a lotus, a Lotus", [3]),
        ("BLOCK: (?i)lotus", "a lotus, a Lotus", [3, 12]),
        ("BLOCK: 项目\\d{3}", "见项目123。", [2]),
        ("BLOCK: x*", "aaa", None),
        ("BLOCK:", "aaa", None),
        ("BLOCK: (?=x)y", "aaa", None),
        ("BLOCK: (", "aaa", None),
        ("BLOCK: " + "a" * 3000, "aaa", None),
        ("BLOCK: (((a{100}){100}){100}){100}", "aaa", None),
        ("- *.corp.internal", "at WIKI.corp.Internal:80", [4]),
        ("- a?c", "abc a.c ac", [1, 5]),
        ("- `C:\\Secret [1]`", "c:\\secret [1]", [1]),
        ("- *", "aaa", None),
    ],
)
def test_a_rule_finds_what_it_says_or_is_an_error(root: Path, line: str, text: str, columns: list[int] | None) -> None:
    place = state(root, f"# Rules\n{line}\n")
    if columns is None:
        with pytest.raises(RulesUnusable, match=r"privacy\.md:2"):
            privacy.load(place)
    else:
        assert found(place, text) == [("privacy.md:2", column) for column in columns]


HEAVY = r"(?i)\pL{1,20}%d\pL{1,20}"


@pytest.mark.slow
def test_a_rule_is_compiled_when_what_it_needs_is_seen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[int] = []
    compile_one = privacy._compile
    monkeypatch.setattr(privacy, "_compile", lambda item: compiled.append(item.line) or compile_one(item))
    place = state(root, "\n".join(f"BLOCK: {HEAVY % number}" for number in range(1000, 4000)))
    guard = Guard(privacy.load(place), personal=False)
    assert seen(guard, "nothing of theirs, ABC0999def") == []
    assert compiled == []
    assert seen(guard, "and abc1041DEF, twice: x1041y") == [("privacy.md:42", 5), ("privacy.md:42", 24)]
    assert compiled == [42]


TOO_LARGE = r"lotus(?i)(?:\pL\pN){1,900}"


def test_a_rule_that_takes_too_much_memory_lets_nothing_through_that_it_might_block(root: Path) -> None:
    place = state(root, f"# Rules\nBLOCK: {TOO_LARGE}\n")
    assert found(place, "a rose") == []
    with pytest.raises(RulesUnusable, match=r"privacy\.md:2"):
        found(place, "a LOTUS")
    with pytest.raises(RulesUnusable, match=r"privacy\.md:2"):
        privacy.require_usable(place)


def test_a_rule_that_takes_too_much_memory_and_might_stand_anywhere_lets_nothing_through(root: Path) -> None:
    place = state(root, f"# Rules\nBLOCK: {TOO_LARGE.removeprefix('lotus')}\n")
    with pytest.raises(RulesUnusable, match=r"privacy\.md:2"):
        found(place, "a rose")


def test_a_file_that_can_not_be_read_lets_nothing_through(root: Path) -> None:
    place = state(root, "x" * (1 << 19))
    with pytest.raises(RulesUnusable):
        privacy.load(place)


@pytest.mark.parametrize("raw", ["# Rules\nBLOCK: lotus\n".encode("utf-16"), "# Ü\nBLOCK: Lötus\n".encode("latin-1")])
def test_rules_in_another_encoding_let_nothing_through(root: Path, raw: bytes) -> None:
    place = state(root, "")
    Path(place.machine, privacy.NAME).write_bytes(raw)
    with pytest.raises(RulesUnusable, match=r"privacy\.md:1 is not UTF-8"):
        privacy.load(place)


def test_a_link_to_nothing_lets_nothing_through(root: Path) -> None:
    place = state(root, "")
    Path(place.machine, privacy.NAME).unlink()
    Path(place.machine, privacy.NAME).symlink_to("gone.md")
    with pytest.raises(RulesUnusable):
        privacy.load(place)


def test_a_folder_that_is_a_link_to_nothing_or_no_folder_lets_nothing_through(root: Path) -> None:
    (root / "machine").symlink_to(root / "unmounted")
    with pytest.raises(RulesUnusable, match="a link to nothing"):
        privacy.load(Root(str(root)))
    (root / "machine").unlink()
    (root / "machine").touch()
    with pytest.raises(RulesUnusable, match="can't be read: Not a directory"):
        privacy.load(Root(str(root)))


@pytest.mark.parametrize("pattern", ["(a+)+$x", r"(\w+\s?)*!", "(a|aa)+b", "(.*a){20}z"])
def test_a_pattern_that_would_take_for_ever_elsewhere_takes_no_time(root: Path, pattern: str) -> None:
    place = state(root, f"BLOCK: {pattern}\n")
    assert found(place, "a" * 20_000) == []
    assert grows_linearly(lambda text: found(place, text), "a" * 20_000, to="a" * 100_000)
