"""Questions with `--hub`: the same answers as where the records are, on a machine that replicates none of them."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.app.context import Context
from oracle.app.hubs import team_copy
from oracle.app.records import graph
from oracle.app.search.search import search
from oracle.domain.hub.rows import Membership, Row
from oracle.errors import HubUnreachable
from oracle.hub import exchange
from oracle.store.root import hub as memberships
from oracle.store.root.layout import Root
from tests.cli.transcript import call
from tests.hub.machines import Team, row
from tests.hub.plans import statements_of, whole_reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.hub.cluster import Cluster

KB = Path(__file__).parents[2] / "references" / "kb" / "projects" / "oracle"
QUESTIONS = [
    ("search", "why is the index rebuilt"),
    ("search", "write lock of a crashed process", "--limit", "25"),
    ("search", "索引 重建", "--project", "oracle"),
    ("search", "hub", "--kind", "decision", "--explain"),
    ("list", "--kind", "decision"),
    ("list", "--timeline", "--project", "oracle"),
    ("list", "--entities"),
    (
        "backlinks",
        "projects/oracle/decision/2026-11-29T17-15-00-000000Z-machines-write-to-the-hub-through-functions-alone",
    ),
    ("graph", "RECORD", "--depth", "3", "--direction", "both"),
    ("ask", "--now", "Why is the index never migrated?"),
    ("show", "RECORD"),
]


@pytest.fixture(scope="module")
def filled(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Team, Path, str]]:
    """Give a team to which a machine sent a real knowledge base, its Root, and a record with many links."""
    folder = tmp_path_factory.mktemp("sender") / "memory"
    shutil.copytree(KB, folder / "projects" / "oracle")
    folder.chmod(0o700)
    made = Team(cluster.create_database())
    sender = made.join("sender")
    rows = [
        row(str(path.relative_to(folder)), path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()
    ]
    assert sender.send(*rows) == []
    linked = max(folder.rglob("*.md"), key=lambda path: path.read_text().count("[["))
    yield made, folder, str(linked.relative_to(folder)).removesuffix(".md")
    made.close()


def reader(team: Team, folder: Path, name: str) -> Path:
    """Make the Root of a machine that replicates another project only."""
    (folder / "projects").mkdir(parents=True)
    folder.chmod(0o700)
    joined = team.join(name, "elsewhere")
    memberships.save(Root(str(folder)), joined.membership)
    return folder


@pytest.fixture
def other(filled: tuple[Team, Path, str], tmp_path: Path) -> Path:
    return reader(filled[0], tmp_path / "reader", f"reader-{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:8]}")


def test_the_answers_are_those_of_the_machine_that_has_the_records(
    filled: tuple[Team, Path, str], other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, sender, linked = filled
    for words in QUESTIONS:
        words = [linked if word == "RECORD" else word for word in words]
        here, there = (ask(root, [*words, *more], monkeypatch) for root, more in ((sender, []), (other, ["--hub"])))
        assert here == there, words
        assert ask(other, words, monkeypatch)[0] != 0 or words[0] == "graph"


def ask(root: Path, words: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, Any]:
    monkeypatch.setenv("ORACLE_ROOT", str(root))
    code, out, _ = call([*words, "--json"], monkeypatch)
    document = json.loads(re.sub(r'"verified_at": "[^"]*"', '"verified_at": "now"', out))
    document.pop("freshness", None)
    return code, document


def test_what_changes_at_the_hub_is_seen_at_once(team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sender, folder = team.join("sender"), reader(team, tmp_path / "reader", "reader")
    path, slug = "projects/harbor/decision/tides.md", "projects/harbor/decision/tides"

    def found() -> list[str]:
        hits = ask(folder, ["search", "tides", "--hub"], monkeypatch)[1].get("records", [])
        return list(dict.fromkeys(hit["slug"] for hit in hits))

    sender.send(row(path, b"---\ntitle: Tides\n---\n\nThe tides are high.\n"))
    assert found() == [slug]
    sender.send(row(path, b"---\ntitle: Moon\n---\n\nThe moon is high.\n"))
    assert found() == []
    sender.send(row(path, b"---\ntitle: Tides\n---\n\nThe tides are low.\n" + b"x" * 2**20))
    assert found() == [slug]
    sender.send(row(path, None))
    assert found() == []


def test_a_hub_that_was_made_again_leaves_nothing_of_the_old_one(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sender, folder = team.join("sender"), reader(team, tmp_path / "reader", "reader")
    sender.send(row("shared/plan/old.md", b"old tides"), row("shared/plan/kept.md", b"kept tides"))
    assert len(ask(folder, ["search", "tides", "--hub"], monkeypatch)[1]["records"]) == 2
    team.owner.rows("DELETE FROM oracle_hub.file WHERE path = 'shared/plan/old.md'")
    team.owner.rows("UPDATE oracle_hub.meta SET incarnation = gen_random_uuid()")
    hits = ask(folder, ["search", "tides", "--hub"], monkeypatch)[1]["records"]
    assert [hit["slug"] for hit in hits] == ["shared/plan/kept"]


def test_a_death_before_the_old_files_are_gone_leaves_none_of_them(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sender, folder = team.join("sender"), reader(team, tmp_path / "reader", "reader")
    sender.send(row("shared/plan/old.md", b"old tides"), row("shared/plan/kept.md", b"kept tides"))
    assert len(ask(folder, ["search", "tides", "--hub"], monkeypatch)[1]["records"]) == 2
    team.owner.rows("DELETE FROM oracle_hub.file WHERE path = 'shared/plan/old.md'")
    team.owner.rows("UPDATE oracle_hub.meta SET incarnation = gen_random_uuid()")
    with monkeypatch.context() as dying, Context.open(str(folder)) as context:
        dying.setattr(team_copy, "_remove_others", raise_interrupt)
        with pytest.raises(KeyboardInterrupt):
            team_copy.open_copy(context)
    hits = ask(folder, ["search", "tides", "--hub"], monkeypatch)[1]["records"]
    assert [hit["slug"] for hit in hits] == ["shared/plan/kept"]


def raise_interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_folders_are_looked_at_only_after_something_came(team: Team, tmp_path: Path) -> None:
    sender, folder = team.join("sender"), reader(team, tmp_path / "reader", "reader")
    sender.send(row("shared/plan/a.md", b"high tides of HarborWidget"))

    def question() -> tuple[list[str], bool]:
        with Context.open(str(folder)) as context, team_copy.open_copy(context) as copy:
            found: list[str] = []
            statements = statements_of(copy, lambda: found.extend(hit.record.slug for hit in search(copy, "tides")))
            return found, any("FROM folder" in statement for statement in statements)

    def is_known(entity: str) -> bool:
        with Context.open(str(folder)) as context, team_copy.open_copy(context) as copy:
            return entity in dict(graph.entities(copy))

    question()  # it makes the index
    question()
    assert question() == (["shared/plan/a"], False)
    sender.send(row("shared/plan/b.md", b"low tides"))
    assert question() == (["shared/plan/b", "shared/plan/a"], True)
    assert question() == (["shared/plan/b", "shared/plan/a"], False)
    assert not is_known("entity:component:HarborWidget")
    (folder / "config").mkdir()
    (folder / "config/component-patterns.toml").write_text('[component_patterns]\nsuffixes = ["Widget"]\n')
    assert is_known("entity:component:HarborWidget")


def test_no_question_reads_a_whole_table_and_nothing_is_printed(other: Path) -> None:
    with Context.open(str(other)) as context, team_copy.open_copy(context) as copy:
        target = graph.entities(copy)[0][0]
        questions = (
            lambda: search(copy, "why is the index rebuilt twice"),
            lambda: graph.backlinks(copy, target),
        )
        for question in questions:
            assert question()
            assert len(statements_of(copy, question)) > 1
            assert whole_reads(copy, question) == []
        assert [name for name in ("_links", "_backlinks") if Path(copy.root.join(name)).exists()] == []
        copy.index.database.connect().execute("DROP INDEX edge_source")
        assert whole_reads(copy, lambda: graph.links(copy, search(copy, "index")[0].record.slug)) != []


def test_without_the_hub_the_last_state_answers_and_a_warning_says_so(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sender, folder = team.join("sender"), reader(team, tmp_path / "reader", "reader")
    sender.send(row("shared/plan/a.md", b"high tides"))

    def lost(member: Membership) -> exchange.TeamConnection:
        raise HubUnreachable("The hub can't be reached.")

    monkeypatch.setenv("ORACLE_ROOT", str(folder))
    with monkeypatch.context() as cut:
        cut.setattr(exchange, "open_team", lost)
        assert call(["search", "tides", "--hub"], monkeypatch)[0] == 75
    assert call(["search", "tides", "--hub"], monkeypatch)[0] == 0
    monkeypatch.setattr(exchange, "open_team", lost)
    code, out, err = call(["search", "tides", "--hub"], monkeypatch)
    assert (code, "shared/plan/a" in out, "last fetched" in err) == (0, True, True)


@pytest.mark.parametrize(
    "path", ["projects/../../outside.md", "machine/x.md", "projects/harbor/_state/x.md", "shared/x.sh"]
)
def test_a_hostile_hub_writes_nothing_outside(path: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from oracle.domain.hub.rows import Cursor, Pulled

    data = b"hostile"
    digest = hashlib.sha256(data).hexdigest()

    class Hostile:
        def __enter__(self) -> Hostile:
            return self

        def __exit__(self, *_: object) -> None:
            return

        def pull(self, cursor: Cursor) -> Pulled:
            rows = [
                Row(path, "x", 0, digest, len(data), data),
                Row("shared/plan/forged.md", "x", 0, digest, 1, b"other"),
            ]
            return Pulled(tuple(rows), Cursor("hub", 1))

    (root / "projects").mkdir()
    memberships.save(Root(str(root)), Membership("harbor", "service=hub", "m", "one"))
    monkeypatch.setattr(exchange, "open_team", lambda member: Hostile())
    with Context.open(str(root)) as context:
        team_copy.open_copy(context).close()
    assert not [found for found in root.parent.rglob("*") if found.is_file() and found.read_bytes() in (data, b"other")]
