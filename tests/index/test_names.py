"""Links by the names that records give themselves: they follow every change of a name, as links by file names do."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.api import Oracle

FOLDER = "projects/p/builder"
WRITINGS = {
    "name": "name: test_first",
    "alias": "alias: test_first",
    "list": "aliases: [other, test_first]",
    "lines": "Aliases:\n  - Other\n  - Test First",
    "link": 'aliases: "[[test_first]]"',
}


def write(root: Path, name: str, text: str) -> None:
    path = root / FOLDER / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def targets(oracle: Oracle) -> list[tuple[str, int]]:
    """Return where the record `from` links to, and 1 where that record exists."""
    oracle.reconcile()
    return [(target, exists) for _, target, _, _, exists in oracle.links(f"{FOLDER}/from")]


TO = (f"{FOLDER}/52-to", 1)


@pytest.mark.parametrize("writing", WRITINGS.values(), ids=WRITINGS)
@pytest.mark.parametrize("link", ["[[test_first]]", "[[Test first|words]]", "[words](test_first.md)"])
def test_a_link_follows_a_name(root: Path, writing: str, link: str) -> None:
    write(root, "from", link)
    with Oracle.open(str(root)) as oracle:
        assert TO not in targets(oracle)
        write(root, "52-to", f"---\n{writing}\n---\nbody\n")
        assert targets(oracle) == [TO]
        assert oracle.show("test-first").record.slug == TO[0]
        write(root, "52-to", "---\nname: another\n---\nbody\n")
        assert TO not in targets(oracle)
        write(root, "52-to", f"---\n{writing}\n---\nbody again\n")
        assert targets(oracle) == [TO]
        (root / FOLDER / "52-to.md").unlink()
        assert TO not in targets(oracle)


def test_a_file_of_that_name_comes_before_a_record_that_calls_itself_so(root: Path) -> None:
    write(root, "52-to", "---\nname: test_first\n---\nbody\n")
    write(root, "from", "[[test_first]]")
    with Oracle.open(str(root)) as oracle:
        assert targets(oracle) == [TO]
        write(root, "deep/test_first", "body")
        assert targets(oracle) == [(f"{FOLDER}/deep/test_first", 1)]


def test_a_description_and_a_name_are_searched(root: Path) -> None:
    write(root, "52-to", "---\nname: zanzibar\ndescription: Run the quokkas\n---\nbody\n")
    with Oracle.open(str(root)) as oracle:
        assert [[hit.record.slug for hit in oracle.search(word)] for word in ("zanzibar", "quokkas")] == [[TO[0]]] * 2


def test_the_first_reading_of_a_root_resolves_names_too(root: Path) -> None:
    write(root, "52-to", "---\naliases: [a, b]\n---\nbody\n")
    write(root, "from", "[[B]]")
    with Oracle.open(str(root)) as oracle:
        assert targets(oracle) == [TO]
