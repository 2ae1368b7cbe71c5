"""Files sent to a hub and fetched from it: whole, once, in the order of their transactions, and never skipped."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from oracle.domain.hub.rows import INLINE, MAX_BATCH, MAX_FILE, MAX_ROWS, Refused, Row
from oracle.hub.connection import sql
from tests.hub.machines import row

if TYPE_CHECKING:
    from tests.hub.machines import Team

A, B = "projects/harbor/decision/a.md", "projects/harbor/finding/b.md"


def test_what_one_machine_sends_the_other_gets(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    assert one.send(row(A, b"a"), row(B, b"")) == []
    pulled = two.receive()
    assert [(got.path, got.content, got.owner, got.size) for got in pulled.rows] == [
        (A, b"a", one.machine, 1),
        (B, b"", one.machine, 0),
    ]
    assert two.receive().rows == ()


def test_own_files_come_back_without_their_content(team: Team) -> None:
    one = team.join("one")
    one.send(row(A, b"a"))
    assert [(got.path, got.content) for got in one.receive().rows] == [(A, None)]


def test_a_push_may_be_repeated(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    one.send(row(A), row(B))
    two.receive()
    assert one.send(row(A), row(B)) == []
    assert two.receive().rows == ()


def test_a_removed_file_is_a_tombstone(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    one.send(row(A))
    two.receive()
    assert one.send(row(A, None), row(B, None)) == []
    assert [(got.path, got.content, got.removed) for got in two.receive().rows] == [(A, None, True)]


@pytest.mark.parametrize("number", [1, MAX_ROWS, MAX_ROWS + 1, 2 * MAX_ROWS + 1])
def test_each_batch_is_one_statement_and_each_page_too(team: Team, number: int) -> None:
    one, two = team.join("one"), team.join("two")
    one.connection.statements = two.connection.statements = 0
    assert one.send(*(row(f"shared/decision/{at:05}.md", b"%d" % at) for at in range(number))) == []
    assert len(two.receive_all()) == number
    pages = -(-number // MAX_ROWS)
    assert (one.connection.statements, two.connection.statements) == (pages, pages)


def test_a_page_is_bounded_in_bytes_and_loses_nothing(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    sent = [row(f"shared/plan/{at:02}.md", bytes([65 + at]) * INLINE) for at in range(11)]
    one.send(*sent)
    first = two.receive()
    assert sum(got.size for got in first.rows) <= MAX_BATCH
    assert first.more
    assert [got.content for got in [*first.rows, *two.receive_all()]] == [given.content for given in sent]


def test_a_large_file_is_fetched_apart(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    large = b"x" * MAX_FILE
    assert one.send(row(A, large)) == []
    assert [(got.path, got.content, got.size) for got in two.receive().rows] == [(A, None, MAX_FILE)]
    assert two.fetch([A, B]) == {A: large}


@pytest.mark.parametrize("is_listed", [True, False])
def test_projects_limit_what_comes(team: Team, *, is_listed: bool) -> None:
    one = team.join("one")
    two = team.join("two", *(["harbor"] if is_listed else []))
    paths = [A, "projects/arena/plan/c.md", "responses/Q-1.json", "shared/decision/d.md"]
    one.send(*map(row, paths))
    assert [got.path for got in two.receive_all()] == sorted(
        path for path in paths if "arena" not in path or not is_listed
    )


def test_a_transaction_that_commits_late_is_not_skipped(team: Team) -> None:
    early, late, reader = team.join("early"), team.join("late"), team.join("reader")
    with late.connection.transaction():
        late.send(row(A))
        early.send(row(B))
        assert reader.receive_all() == []  # B is newer than the open transaction
    assert [got.path for got in reader.receive_all()] == [A, B]


def test_a_transaction_that_is_given_up_holds_nothing_back(team: Team) -> None:
    one, reader = team.join("one"), team.join("reader")
    with contextlib.suppress(KeyError), one.connection.transaction():
        one.send(row(A))
        raise KeyError
    one.send(row(B))
    assert [got.path for got in reader.receive_all()] == [B]


def test_a_restored_hub_is_read_from_the_beginning(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    one.send(row(A))
    assert two.receive().restarted
    assert not two.receive().restarted
    team.owner.rows("UPDATE oracle_hub.meta SET incarnation = gen_random_uuid()")
    again = two.receive()
    assert (again.restarted, [got.path for got in again.rows]) == (True, [A])


def test_a_push_gives_a_hint(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    two.connection.listen()
    assert not two.connection.wait_for_hint(team.name, 0)
    one.send(row(A))
    assert two.connection.wait_for_hint(team.name, 5)
    one.send(row(A))  # no change, no hint
    assert not two.connection.wait_for_hint(team.name, 0.1)


def test_a_hint_that_comes_with_an_answer_is_not_lost_and_an_own_one_is_none(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    two.connection.listen()
    one.send(row(A))
    two.send(row(B))  # its answer brings both hints
    assert two.connection.wait_for_hint(team.name, 0)
    two.send(row(B, b"again"))
    assert not two.connection.wait_for_hint(team.name, 0.1)


def test_the_beginning_of_a_visit_is_one_message(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    one.send(row(A))
    one.take_home("harbor", "builder")
    two.connection.statements = 0
    homes, machines, page = two.begin(two.cursor)
    assert (two.team()[0], [got.path for got in page.rows]) == (homes, [A])
    assert [machine.name for machine in machines] == ["one", "two"]
    assert two.pull(page.cursor).rows == ()


def test_a_page_tells_that_rows_wait_for_a_transaction_before_them(team: Team) -> None:
    early, late, reader = team.join("early"), team.join("late"), team.join("reader")
    assert not reader.receive().waits
    with late.connection.transaction():
        late.send(row(A))
        assert not reader.receive().waits
        early.send(row(B))
        assert (reader.receive().rows, reader.receive().waits) == ((), True)
    assert not reader.receive().waits


def test_the_first_of_two_machines_owns_a_path(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    one.send(row(A, b"one"))
    assert two.send(row(A, b"two"), row(B)) == [Refused(A, "owner")]
    assert two.send(row(A, None)) == [Refused(A, "owner")]
    one.send(row(A, None))
    assert two.send(row(A, b"two")) == []


def test_two_machines_that_send_a_path_at_once(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    with psycopg.connect(two.membership.dsn) as late, one.connection.transaction():
        one.send(row(A, b"one"))
        late.execute("SET lock_timeout = '100ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            late.execute(
                "SELECT * FROM oracle_hub.push(%s, %s, %b::bigint[], %s, %b::bytea[])",
                (team.name, [A], [0], [row(A, b"two").sha256], [b"two"]),
            )
    assert two.send(row(A, b"two")) == [Refused(A, "owner")]


def test_versions_are_kept_for_a_while(team: Team) -> None:
    one = team.join("one")
    for number in range(14):
        one.send(row(A, b"%d" % number))
    kept = one.connection.rows(
        "SELECT content FROM oracle_hub.file_history WHERE team = %s ORDER BY xid8", (team.name,)
    )
    assert [bytes(content) for (content,) in kept] == [b"%d" % number for number in range(3, 13)]


def test_digests_of_folders(team: Team) -> None:
    one = team.join("one")
    rows = [row(A), row(B), row("projects/harbor/decision/b.md", b"2"), row("projects/harbor/decision/old/ä.md", b"3")]
    one.send(*rows, row("shared/plan/x.md"))
    one.send(row("shared/plan/x.md", None))
    lines = [f"{sent.path} {sent.sha256}\n" for sent in rows]
    folders = {
        "projects/harbor/decision": lines[0] + lines[2],
        "projects/harbor/decision/old": lines[3],
        "projects/harbor/finding": lines[1],
    }
    digests = {folder: hashlib.sha256(text.encode()).hexdigest() for folder, text in folders.items()}
    assert one.digests() == digests
    listed = one.listing("projects/harbor/decision")
    assert listed == [Row(sent.path, one.machine, 0, sent.sha256, sent.size, None) for sent in (rows[0], rows[2])]


def test_the_team_sees_machines_and_homes(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    team.invite("three")  # it did not join
    one.connection.statements = 0
    taken = one.take_home("harbor", "planner")
    homes, machines = one.team()
    assert one.connection.statements == 2
    assert (taken.machine, taken.epoch, homes) == (one.machine, 1, [taken])
    assert [(machine.id, machine.name) for machine in machines] == [(one.machine, "one"), (two.machine, "two")]
    assert all(0 <= machine.unseen < 60 and machine.seen_at.endswith("Z") for machine in machines)


def test_a_home_moves_only_when_it_is_taken(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    first = one.take_home("harbor", "planner")
    assert two.take_home("harbor", "planner") == first
    moved = two.take_home("harbor", "planner", take=True)
    assert (moved.machine, moved.epoch) == (two.machine, 2)
    assert two.take_home("harbor", "planner", take=True) == moved


def test_who_leaves_gives_up_homes_and_keeps_files(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    one.send(row(A))
    one.take_home("harbor", "planner")
    one.leave()
    homes, machines = two.team()
    assert [(home.machine, home.epoch) for home in homes] == [("", 1)]
    assert [machine.name for machine in machines] == ["two"]
    assert [got.path for got in two.receive_all()] == [A]
    assert two.take_home("harbor", "planner").epoch == 2
    back = team.reconnect(one.membership)
    assert back.machine == one.machine


def count_rows_read(watched: psycopg.Connection[Any]) -> int:
    """Return how many rows of files the hub read so far, by its own statistics."""
    watched.execute("SELECT pg_stat_force_next_flush()")
    watched.execute("SELECT pg_stat_clear_snapshot()")
    read = "SELECT sum(seq_tup_read + idx_tup_fetch)::int FROM pg_stat_user_tables WHERE relname ~ '^file_[0-9]+$'"
    found = watched.execute(read).fetchone()
    return found[0] if found else 0


def test_a_file_is_looked_up_by_its_key_however_many_there_are(team: Team) -> None:
    one = team.join("one")
    one.send(*(row(f"shared/plan/{at:04}.md") for at in range(4 * MAX_ROWS)))
    with psycopg.connect(one.membership.dsn, autocommit=True) as watched:
        before = count_rows_read(watched)
        batch = [row(f"shared/plan/{at:04}.md") for at in range(MAX_ROWS)]
        digests, contents = [sent.sha256 for sent in batch], [sent.content for sent in batch]
        values = (team.name, [sent.path for sent in batch], [0] * MAX_ROWS, digests, contents)
        assert watched.execute(sql("push"), values).fetchall() == []
        assert MAX_ROWS <= count_rows_read(watched) - before <= 2 * MAX_ROWS + 10  # to write, and to say why it was not


@pytest.mark.parametrize("is_analyzed", [True, False])
def test_a_pull_of_nothing_reads_no_more_however_many_files_there_are(team: Team, *, is_analyzed: bool) -> None:
    one, two = team.join("one"), team.join("two")
    one.send(*(row(f"shared/plan/{at:04}.md") for at in range(4 * MAX_ROWS)))
    if is_analyzed:
        team.owner.rows("ANALYZE oracle_hub.file")
    two.receive_all()
    with psycopg.connect(two.membership.dsn, autocommit=True) as watched:
        before = count_rows_read(watched)
        page = watched.execute(*two._pull_call(two.cursor)).fetchall()
        assert [found[2] for found in page] == [0]
        assert count_rows_read(watched) - before < 10
