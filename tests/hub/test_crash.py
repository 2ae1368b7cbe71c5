"""A death at any change to the disk during a sync: the next one ends as an undisturbed one does. And what no table ever holds."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.errors import OracleError
from tests.hub.cluster import Cluster, programs
from tests.hub.pretend import PretendHub
from tests.hub.sites import Site
from tests.laws.failpoints import left_by_deaths

if TYPE_CHECKING:
    from tests.hub.machines import Team

RECORD = "projects/demo/decision/x.md"


@pytest.mark.slow
def test_a_death_at_any_step_of_a_pull_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    hub = PretendHub()
    a, b = (Site(tmp_path / name, name, hub.connect(name)) for name in "ab")
    a.write(RECORD, "1")
    a.write("projects/demo/builder/x.md", "1")
    a.sync()
    b.hub.take_home("demo", "memory", take=True)
    b.sync()
    a.sync()
    a.write(RECORD, "22")
    (a.path / "projects/demo/builder/x.md").unlink()
    a.squad.ask("Q-1")
    a.sync()
    deaths = 0
    for _ in left_by_deaths(tmp_path / "b", tmp_path / "copies", b.sync):
        deaths += 1
        for _ in range(2):
            b.sync()
        b.squad.oracle.resume()
        assert b.shared() == a.shared()
        assert b.squad.recorder.woken() == [("memory", "Q-1")]
        assert b.squad.text("memory/TODO.md").count("Q-1") == a.squad.text("memory/TODO.md").count("Q-1")
    assert deaths > 10


CANARIES = {
    "machine/network.json": '{"address": "10.77.66.55"}',
    "machine/privacy.md": "- BLOCK: Bluebird\n",
    "projects/demo/decision/secret.md": "The token is ghp_" + "a1B2c3D4" * 4 + "e5F6.",
    "projects/demo/decision/blocked.md": "Bluebird starts on Monday.",
    "projects/demo/builder/blocked.json": '{"plan": "\\u0042luebird"}',
    "shared/Bluebird.md": "A plan.",
    "projects/demo/dev_env.json": '{"shell": "canary-shell"}',
    "_state/mcp.token": "canary-of-a-token",
    "config/canary.json": '{"a": "canary-of-the-configuration"}',
    ".canary.md": "canary-of-a-hidden-file",
}
WORDS = ("10.77.66.55", "Bluebird", "\\u0042luebird", "ghp_a1B2", "canary")


def test_no_canary_reaches_a_table(tmp_path: Path, team: Team, cluster: Cluster) -> None:
    a = Site(tmp_path / "a", "a", team.join("a"))
    for path, text in CANARIES.items():
        a.write(path, text)
    a.write(RECORD, "A plain record.")
    with pytest.raises(OracleError):
        a.squad.ask("Q-1", objective="What is the password ghp_" + "a1B2c3D4" * 4 + "e5F6?")
    a.squad.ask("Q-2", objective="A plain question.")
    assert RECORD in a.sync().pushed
    database = team.dsn.partition("dbname=")[2].partition(" ")[0]
    done = subprocess.run(
        [f"{programs()}/pg_dump", "--data-only", "--inserts", "-d", cluster.dsn(database)],
        capture_output=True,
        check=True,
        timeout=60,
    )
    dump = done.stdout.decode()
    assert b"A plain record.".hex() in dump
    assert [word for word in WORDS if word in dump or word.encode().hex() in dump] == []
