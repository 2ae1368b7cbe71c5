"""Many at once: a team of a thousand machines, and pushes whose transactions commit in any order while others pull."""

from __future__ import annotations

import random
import threading
import time
from typing import TYPE_CHECKING

import pytest

from oracle.app.hubs.check import check
from tests.hub.machines import JoinedMachine, row
from tests.hub.sites import Site

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.machines import Team

MACHINES, EACH = 1000, 3
FILL = """
WITH machines AS (
    INSERT INTO oracle_hub.machine (team, name, role, joined_at, seen_at)
    SELECT %(team)s, 'm' || n, 'role-' || n, clock_timestamp(), clock_timestamp() FROM generate_series(1, %(machines)s) n
    RETURNING id, name
), homes AS (
    INSERT INTO oracle_hub.home (team, project, seat, machine, epoch, since)
    SELECT %(team)s, name, 'builder', id, 1, clock_timestamp() FROM machines
), files AS (
    SELECT id, 'projects/' || name || '/builder/' || n || '.md' AS path, convert_to(name || ' ' || n, 'UTF8') AS content
    FROM machines, generate_series(1, %(each)s) n
)
INSERT INTO oracle_hub.file (team, path, owner, epoch, sha256, size, content, changed_at, removed, xid8)
SELECT %(team)s, path, id, 1, encode(sha256(content), 'hex'), octet_length(content), content, clock_timestamp(), false,
    pg_current_xact_id()
FROM files
"""


@pytest.mark.slow
def test_a_machine_in_a_team_of_a_thousand(team: Team, tmp_path: Path) -> None:
    a = Site(tmp_path / "a", "a", team.join("a"))
    team.owner.rows(FILL, {"team": team.name, "machines": MACHINES, "each": EACH})
    done = a.sync()
    assert len(done.placed) == MACHINES * EACH
    assert a.read("projects/m1000/builder/3.md") == "m1000 3"
    a.write("projects/m7/builder/1.md", "not mine")
    assert a.sync().stranded == ("projects/m7/builder/1.md",)
    (a.path / "projects/m7/builder/1.md").write_text("m7 1", encoding="utf-8")
    before = a.statements
    assert a.sync().is_idle
    assert a.statements == before + 2
    assert check(a.squad.oracle, a.hub, a.membership).differences == ()


PUSHERS, PUSHES = 4, 12


@pytest.mark.slow
def test_no_row_is_skipped_whatever_commits_first(team: Team) -> None:
    """Transactions of any length overlap, and one stays open for most of the time; a reader pulls all the while."""
    slow, reader = team.join("slow"), team.join("reader")
    pushers = [team.join(f"p{number}") for number in range(PUSHERS)]
    faults: list[BaseException] = []

    def push(machine: JoinedMachine) -> None:
        chance = random.Random(machine.membership.name)
        try:
            for number in range(PUSHES):
                with machine.connection.transaction():
                    names = [f"shared/{machine.membership.name}-{number}-{at}.md" for at in range(3)]
                    machine.send(*(row(name, b"first") for name in names))
                    time.sleep(chance.uniform(0.0, 0.03))
                    machine.send(row(names[0], b"second"), row(names[1], None))
        except BaseException as error:
            faults.append(error)
            raise

    got: dict[str, bytes | None] = {}
    with slow.connection.transaction():
        slow.send(row("shared/slow.md", b"late"))
        threads = [threading.Thread(target=push, args=(machine,)) for machine in pushers]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            got |= {found.path: found.content for found in reader.receive_all()}
        assert len(got) < PUSHERS * PUSHES * 3
    got |= {found.path: found.content for found in reader.receive_all()}
    assert not faults
    wanted: dict[str, bytes | None] = {"shared/slow.md": b"late"}
    for number in range(PUSHERS * PUSHES):
        name = f"shared/p{number // PUSHES}-{number % PUSHES}"
        wanted |= {f"{name}-0.md": b"second", f"{name}-1.md": None, f"{name}-2.md": b"first"}
    assert got == wanted
