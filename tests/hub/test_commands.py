"""`oracle hub`: from an empty database to two machines of a team, by the commands alone."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.transcript import call

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hub.cluster import Cluster
    from tests.hub.machines import Team as TeamOfTest

    Oracle = Callable[..., tuple[int, str, str]]


@pytest.fixture
def oracle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Oracle:
    """Run a command in the Root of a machine."""

    def run(machine: str, *words: str) -> tuple[int, str, str]:
        (tmp_path / machine / "projects").mkdir(parents=True, exist_ok=True)
        monkeypatch.setenv("ORACLE_ROOT", str(tmp_path / machine))
        return call(list(words), monkeypatch)

    return run


def test_a_team_is_made_joined_seen_and_left(
    oracle: Oracle, cluster: Cluster, database: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = database.replace(f"host={cluster.host}", f"host=127.0.0.1 port={cluster.port}")
    dsn += " application_name='of the owner'"
    monkeypatch.setenv("PGPASSWORD", "admin-password")
    assert oracle("owner", "hub", "init", dsn, "--team", "harbor")[:2] == (
        0,
        "made the hub, version 1, with the team harbor\n",
    )
    assert oracle("owner", "hub", "init", dsn, "--team", "harbor")[0] == 0
    invited = json.loads(oracle("owner", "hub", "invite", "laptop", "--json")[1])
    assert shlex.split(invited["command"])[3] == invited["dsn"]
    monkeypatch.delenv("PGPASSWORD")
    (home / ".pgpass").write_text(invited["pgpass"] + "\n")
    (home / ".pgpass").chmod(0o600)
    words = ("hub", "join", invited["dsn"], "--team", "harbor", "--machine", "laptop", "--projects", "arena, harbor")
    assert oracle("laptop", *words)[:2] == (0, "laptop joined the team harbor\n")
    kept = (tmp_path / "laptop/_state/hub.json").read_text()
    assert invited["password"] not in kept + (tmp_path / "owner/_state/hub-owner.json").read_text()
    code, out, err = oracle("laptop", "hub", "status", "--json")
    seen = json.loads(out)
    assert (code, err, seen["team"], seen["projects"], seen["version"]) == (0, "", "harbor", ["arena", "harbor"], 1)
    assert [machine["name"] for machine in seen["machines"]] == ["laptop"]
    assert abs(seen["clock_difference"]) < 5
    assert "laptop" in oracle("laptop", "hub", "status")[1]
    assert oracle("laptop", "hub", "leave")[0] == 0
    assert json.loads(oracle("laptop", "hub", "status", "--json")[1])["error"]["code"] == "no_hub"


@pytest.mark.parametrize("words", [("status",), ("leave",), ("leave", "--forget"), ("invite", "laptop")])
def test_without_a_hub_one_sentence_says_so(oracle: Oracle, words: tuple[str, ...]) -> None:
    code, out, err = oracle("laptop", "hub", *words)
    assert (code, out) == (2, "")
    assert "hint:" in err


@pytest.mark.parametrize(
    ("words", "exit_code"),
    [
        (("init", "host=/nowhere", "--team", "harbor"), 75),
        (("init", "host=/nowhere", "--team", "../x"), 2),
        (("join", "host=/nowhere", "--team", "harbor", "--machine", "laptop"), 75),
        (("join", "host=/nowhere", "--team", "harbor", "--machine", "lap top"), 2),
        (("join", "host=/nowhere", "--team", "harbor", "--machine", "laptop", "--projects", "a,../b"), 2),
        (("join", "host=/nowhere password=x", "--team", "harbor", "--machine", "laptop"), 2),
        (("invite", "laptop", "host=/nowhere", "--team", "harbor", "--print-sql"), 2),
    ],
)
def test_what_is_wrong_leaves_no_trace(oracle: Oracle, tmp_path: Path, words: tuple[str, ...], exit_code: int) -> None:
    code, out, err = oracle("laptop", "hub", *words)
    assert (code, out) == (exit_code, "")
    assert "hint:" in err
    assert not list((tmp_path / "laptop").glob("_state/hub*"))


def test_a_root_joins_one_team(oracle: Oracle, database: str) -> None:
    where = database.rpartition(" user=")[0]
    for team in ("harbor", "arena"):
        oracle("owner", "hub", "init", database, "--team", team)
    role = json.loads(oracle("owner", "hub", "invite", "laptop", "--team", "harbor", "--json")[1], strict=False)["role"]
    words = ("hub", "join", f"{where} user={role}", "--machine", "laptop", "--team")
    assert oracle("laptop", *words, "harbor")[0] == 0
    assert oracle("laptop", *words, "harbor")[0] == 0
    assert oracle("laptop", *words, "arena")[0] == 6
    assert oracle("laptop", "hub", "leave", "--forget")[0] == 0
    assert oracle("laptop", *words, "arena")[0] == 5  # it was not invited there


def test_sql_for_an_administrator(oracle: Oracle) -> None:
    code, out, _ = oracle("owner", "hub", "init", "service=hub", "--team", "harbor", "--print-sql")
    assert (code, "CREATE SCHEMA oracle_hub" in out, "'harbor'" in out) == (0, True, True)
    code, out, _ = oracle("owner", "hub", "invite", "laptop", "dbname=hub", "--team", "harbor", "--print-sql")
    assert (code, "CREATE ROLE" in out, "PASSWORD" in out) == (0, True, False)


def test_what_one_machine_writes_the_other_finds_by_commands(oracle: Oracle, team: TeamOfTest, tmp_path: Path) -> None:
    for name in ("laptop", "server"):
        joined = ("hub", "join", team.invite(name), "--team", team.name, "--machine", name)
        assert oracle(name, *joined)[0] == 0
    record = tmp_path / "laptop/projects/demo/decision/queue.md"
    record.parent.mkdir(parents=True)
    record.write_text("# Queue\n\nWe use Kafka for the queue.\n")
    assert json.loads(oracle("laptop", "hub", "status", "--json")[1])["ahead"] == ["projects/demo/decision/queue.md"]
    assert oracle("laptop", "hub", "sync") == (0, "sent 1, placed 0, removed 0\n", "")
    assert json.loads(oracle("server", "hub", "status", "--json")[1])["behind"] == 1
    assert oracle("server", "hub", "sync") == (0, "sent 0, placed 1, removed 0\n", "")
    assert "projects/demo/decision/queue" in oracle("server", "search", "Kafka")[1]
    assert oracle("server", "hub", "home", "builder", "--project", "demo")[:2] == (
        0,
        "builder of demo runs on server\n",
    )
    code, _, err = oracle("laptop", "hub", "home", "builder", "--project", "demo")
    assert (code, "runs on server" in err, "--take" in err) == (2, True, True)
    (tmp_path / "server/projects/demo/decision/queue.md").unlink()
    code, out, err = oracle("server", "hub", "check")
    assert (code, "missing here" in out, "oracle hub check --fix" in err) == (6, True, True)
    assert oracle("server", "hub", "check", "--fix")[0] == 0
    assert oracle("server", "hub", "check")[:2] == (0, "")
    assert oracle("server", "hub", "rebuild")[0] == 0


def test_a_fresh_query_syncs_first(oracle: Oracle, team: TeamOfTest, tmp_path: Path) -> None:
    for name in ("laptop", "server"):
        assert oracle(name, "hub", "join", team.invite(name), "--team", team.name, "--machine", name)[0] == 0
    record = tmp_path / "laptop/projects/demo/decision/queue.md"
    record.parent.mkdir(parents=True)
    record.write_text("# Queue\n\nWe use Kafka for the queue.\n")
    assert oracle("laptop", "hub", "sync")[0] == 0
    assert oracle("server", "search", "Kafka")[0] == 4
    assert "projects/demo/decision/queue" in oracle("server", "search", "Kafka", "--fresh")[1]
    kept = (tmp_path / "server/_state/hub.json").read_text()
    (tmp_path / "server/_state/hub.json").write_text(kept.replace("host=", "host=/nowhere"))
    code, out, err = oracle("server", "list", "--fresh")
    assert (code, "queue" in out, "The answer comes from the copies of this machine." in err) == (0, True, True)
