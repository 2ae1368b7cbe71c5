"""What the pages say is what the code does, both ways, where no test beside the code looks at it already.

With APPROVE=1 in the environment the outputs in README.md are written anew; read the difference before it is committed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from oracle import errors
from oracle.app.guard import POLICIES
from oracle.domain import names
from oracle.domain.links import links
from oracle.domain.links.references import extract
from oracle.domain.markdown.documents import Document
from oracle.domain.records.records import interpret
from oracle.domain.safety import secrets
from oracle.index import fold, fresh, scan
from oracle.index.write import reconcile
from oracle.store.root.layout import LEGACY_PLURALS, RECORD_TREES, SKIPPED_FOLDERS, Root

CHECKOUT = Path(__file__).resolve().parent.parent
REFERENCES = CHECKOUT / "references"
PAGES = sorted(REFERENCES.glob("*.md"))
DOCUMENTS = [*PAGES, *(CHECKOUT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"))]
FENCE = re.compile(r"^( *)(`{3,})(\w*)\n(.*?)^\1\2$", re.MULTILINE | re.DOTALL)


def read(name: str) -> str:
    return (REFERENCES / name).read_text(encoding="utf-8")


def prose(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def rows(text: str) -> list[list[str]]:
    """Return the cells of every table row but headings and rules."""
    lines = re.findall(r"^\|(.+)\|$", text, re.MULTILINE)
    cells = [[cell.strip() for cell in line.split(" | ")] for line in lines]
    return [row for at, row in enumerate(cells) if not set("".join(row)) <= set("-| ") and not is_heading(cells, at)]


def is_heading(cells: list[list[str]], at: int) -> bool:
    return at + 1 < len(cells) and set("".join(cells[at + 1])) <= set("-| ")


# Pages ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path):
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(path.read_text(encoding="utf-8")))
    here = [target.partition("#")[0] for target in targets if "://" not in target]
    assert [target for target in here if target and not (path.parent / target).exists()] == []


def test_the_index_lists_every_page():
    listed = set(re.findall(r"^\| \[([\w-]+\.md)\]\(", read("README.md"), re.MULTILINE))
    assert listed == {path.name for path in PAGES} - {"README.md"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_page_speaks_of_the_project_alone(path: Path):
    assert re.findall(r"(?<!\w)/(?:work|home|Users|root)/|\bissue #?\d", path.read_text(encoding="utf-8")) == []


# Layout ---------------------------------------------------------------------------------------------------------------


def test_layout_names_every_place_that_the_code_knows(root: Path):
    places = {row[0].strip("`") for row in rows(read("layout.md"))}
    known = Root(str(root))
    there = [known.database, known.lock, known.scratch, known.log, known.events, known.catalogue, known.inbox]
    names = {path.removeprefix(f"{root}/") for path in there}
    assert names <= {place.rstrip("/") for place in places}
    firsts = {place.split("/")[0] for place in places}
    assert firsts == {*RECORD_TREES, *SKIPPED_FOLDERS, "machine", "responses", "config", "events.log", "index.json"} - {
        "_index"
    }
    patterns = {name.rpartition("/")[2] for name in known.pattern_files("arena")}
    assert {f"projects/<p>/{name}" for name in patterns} <= places


def test_layout_names_the_old_folders_and_those_left_out():
    text = read("layout.md")
    assert [name for name in (*LEGACY_PLURALS, *SKIPPED_FOLDERS) if f"`{name}" not in text] == []


# Seats ----------------------------------------------------------------------------------------------------------------

MATRIX = [tuple(cell.strip("`") for cell in row) for row in rows(read("seats-and-ownership.md")) if len(row) == 3]


@pytest.mark.parametrize(("seat", "path", "answer"), MATRIX)
def test_matrix_of_the_page_is_that_of_the_code(seat: str, path: str, answer: str):
    assert names.may_write(seat, path) == {"yes": True, "no": False}[answer]


def test_matrix_of_the_page_leaves_out_no_seat_kind_or_folder():
    assert set(names.ROLES) <= {seat for seat, *_ in MATRIX}
    allowed = [path.split("/") for seat, path, answer in MATRIX if answer == "yes"]
    assert {parts[2] for parts in allowed if len(parts) == 4} >= set(names.ORPHAN_KINDS)
    assert {parts[3] for parts in allowed if parts[2:3] == ["patrol"]} == set(names.PATROL_FOLDERS)


# Links ----------------------------------------------------------------------------------------------------------------

EDGES = {row[0].strip("`"): row for row in rows(read("links.md"))}


def test_edge_types_of_the_page_are_those_of_the_code():
    assert tuple(sorted(EDGES)) == tuple(sorted(links.EDGE_TYPES))


@pytest.mark.parametrize("kind", [name for name in links.EDGE_TYPES if name.startswith("references-")])
def test_every_example_of_an_edge_gives_it(kind: str):
    for example in re.findall(r"`([^`]+)`", EDGES[kind][2]):
        found = extract(f"We saw {example} there.")
        types = {item.type for item in (*found.mentions, *found.references)}
        assert types == {kind}, example


@pytest.mark.parametrize("kind", links.RELATIONS)
def test_every_relation_is_read_from_frontmatter(kind: str):
    keys = re.findall(r"`([a-z_]+)`", EDGES[kind][2]) or [kind]
    for key in keys:
        document = Document({key: "projects/arena/decision/foo"}, "", 1, {}, ())
        record = interpret(document, "projects/arena/decision/a", "projects/arena/decision/a.md", mtime_ns=0)
        assert [relation.type for relation in record.relations] == [kind]


# Freshness, secrets, search -------------------------------------------------------------------------------------------


def test_figures_of_freshness_are_those_of_the_code():
    text = " ".join(read("freshness.md").split())
    assert f"older than {fresh.FULL_LOOK_NS // 10**9} s and took less than {fresh.CHEAP_NS // 10**6} ms" in text
    assert f"once it is older than {fresh.COSTLY_LOOK_NS // 10**9} s" in text
    assert f"younger than {scan.SETTLE_NS // 10**9} s" in text
    assert f"longer than {fresh.READER_PATIENCE:g} s" in text
    assert f"at least {reconcile.SMALLEST_TREE} known records" in text
    assert f"exit code {errors.TreeEmptied.exit_code}" in text


def test_secret_policies_of_the_page_are_those_of_the_code():
    assert [row[0].strip("`") for row in rows(read("secrets.md"))] == list(POLICIES)


def test_secret_kinds_that_the_page_names_are_found():
    kinds = {
        "private-key": "-----BEGIN RSA PRIVATE KEY-----\n"
        + "MIIEpAIBAAKCAQEA7v3Qk9xWz\n" * 3
        + "-----END RSA PRIVATE KEY-----",
        "url-password": "postgres://app:" + "hJ8kQ2pL9x" + "@db.internal/app",
        "authorization": "Authorization: Bearer " + "A1b2C3d4E5f6" + "G7h8I9j0K1l2",
        "seed-phrase": "mnemonic: ripple lunar canyon motor velvet orbit sudden tiger walnut pencil gospel harbor",
        "assignment": "API_KEY=" + "q7Rk2Zp9Lx4V" + "m8Nw3Tb6",
        "api-key": "polar_oat_" + "q7Rk2Zp9Lx4V" + "m8Nw3Tb6Yc1D",
    }
    named = set(re.findall(r"\(((?:`[a-z-]+`(?:, )?)+)\)", read("secrets.md")))
    assert {name for group in named for name in re.findall(r"`([a-z-]+)`", group)} == set(kinds)
    for kind, text in kinds.items():
        assert [secret.kind for secret in secrets.find_secrets(text)] == [kind]


QUERIES = [tuple(cell.strip("`") for cell in row) for row in rows(read("search.md"))]


@pytest.mark.parametrize(("asked", "expression"), QUERIES)
def test_query_of_the_page_is_understood_as_it_says(asked: str, expression: str):
    assert fold.match_expression(asked) == expression


# The tour and the README ----------------------------------------------------------------------------------------------

README = CHECKOUT / "README.md"
TOUR = REFERENCES / "tour.md"
SHOWN = re.compile(r"^\$ (.+)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)
WIDEST = 140
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{6}Z(?=-a-tour|-retry-webhooks)")
DAY = re.compile(r"(<stamp>-(?:a-tour|retry-webhooks)\b.*, )\d{4}-\d\d-\d\d(?=[,)])")
"""The day on which the record of a stamp was written, behind it in a line."""


def test_tour_shows_what_happens(tmp_path: Path):
    """Run every command that the tour shows with its output, in order, on the copy that it describes."""
    copy = tmp_path / "tour"
    shutil.copytree(REFERENCES / "kb", copy, ignore=shutil.ignore_patterns("_state", "_links", "_backlinks"))
    copy.chmod(0o700)
    environment = {**stub_oracle(tmp_path / "bin"), "ORACLE_ROOT": str(copy)}
    text = TOUR.read_text(encoding="utf-8")
    played = play(text, environment, {str(copy): "/tmp/tour"})
    if os.environ.get("APPROVE"):
        TOUR.write_text(played, encoding="utf-8")
    assert played == TOUR.read_text(encoding="utf-8")
    assert len(SHOWN.findall(text)) >= 10


def play(text: str, environment: dict[str, str], names: dict[str, str]) -> str:
    """Run every command in a text and return the text with what each printed; `names` replaces paths in the output."""

    def answer(found: re.Match[str]) -> str:
        printed = run(found[1], environment)
        for path, name in names.items():
            printed = printed.replace(path, name)
        printed = "\n".join(map(folded, printed.split("\n")))
        kept = found[2] if normalise(found[2].rstrip("\n")) == normalise(printed) else f"{printed}\n"
        return f"$ {found[1]}\n{kept}" + ("\n" if found[2].endswith("\n\n") and not kept.endswith("\n\n") else "")

    return SHOWN.sub(answer, text)


def stub_oracle(folder: Path) -> dict[str, str]:
    """Put an `oracle` on PATH that runs this checkout under this interpreter."""
    folder.mkdir()
    start = "import sys; from oracle.cli.main import run; sys.exit(run())"
    (folder / "oracle").write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{start}' \"$@\"\n", encoding="utf-8")
    (folder / "oracle").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(CHECKOUT)}


def run(command: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-c", f"{{ {command} ; }} 2>&1"], env=environment, capture_output=True, check=False, timeout=120
    )
    lines = done.stdout.decode().rstrip("\n").split("\n")
    return "\n".join(line.replace("\t", "  ").rstrip() for line in lines)


def folded(line: str) -> str:
    """Return a line of output as the pages show it: in several lines where it is wide."""
    indent = line[: len(line) - len(line.lstrip())] + "    "
    return "\n".join(textwrap.wrap(line, WIDEST, subsequent_indent=indent, break_on_hyphens=False)) or line


def normalise(text: str) -> str:
    return DAY.sub(r"\1<day>", STAMP.sub("<stamp>", text))


def test_session_of_the_readme_is_what_happens(tmp_path: Path):
    """Run the commands that README.md shows, in order, in a home that is empty at the start."""
    home = tmp_path / "home"
    home.mkdir()
    text = README.read_text(encoding="utf-8")
    played = play(text, {**stub_oracle(tmp_path / "bin"), "HOME": str(home)}, {str(home): "~"})
    if os.environ.get("APPROVE"):
        README.write_text(played, encoding="utf-8")
    assert played == README.read_text(encoding="utf-8")
    assert len(SHOWN.findall(text)) == 8


def test_readme_says_what_it_is_for_before_how_it_is_installed():
    text = README.read_text(encoding="utf-8")
    marks = [
        "**Root**",
        "**seat**",
        "**record**",
        "**handoff**",
        "picture.svg",
        "$ oracle init",
        "make demo",
        "make test",
        "## Install",
    ]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
    assert text.index("pipx install") < text.index("pip install")
    assert len(text.splitlines()) <= 200
