"""The file of vectors: kept by the hash of a text, whatever becomes of records and index; another model starts anew."""

from __future__ import annotations

import sqlite3
import stat

import pytest

from oracle.index.vectors import Damaged, Made, Vectors
from oracle.store.root.layout import Root

M = "careful"
PATH = "projects/p/decision/a.md"


@pytest.fixture
def vectors(root):
    made = Vectors(Root(str(root)))
    made.begin()
    made.begin_model(M, {"about": b"m 1"})
    yield made
    made.close()


def test_nothing_is_there_before_the_first(root):
    vectors = Vectors(Root(str(root)))
    assert (vectors.meta(), vectors.is_there(), vectors.state()) == ({}, False, (0, 0, 0))
    assert list(root.iterdir()) == []


def test_the_file_is_its_owners_alone(root, vectors):
    assert stat.S_IMODE((root / "_state/vectors.db").stat().st_mode) == 0o600


def test_vectors_come_back_in_order_with_the_records_that_hold_them(vectors):
    vectors.keep(M, [Made(b"1", False, b"aa"), Made(b"2", True, b"bb"), Made(b"1", False, b"cc")])
    vectors.place(M, PATH, b"file", [b"2"], is_whole=False)
    vectors.place(M, "projects/p/decision/b.md", b"file", [b"1", b"2"], is_whole=True)
    found = vectors.everything()
    assert (found.hashes, found.wide, found.vectors) == ((b"1", b"2"), b"\0\1", {M: ([0, 1], b"aabb")})
    assert sorted(found.places) == [(PATH, 1), ("projects/p/decision/b.md", 0), ("projects/p/decision/b.md", 1)]
    assert vectors.sources(M)[PATH] == (b"file", False)
    assert vectors.known(M, [b"1", b"3"]) == {b"1"}


def test_forgetting_a_record_drops_what_no_other_holds(vectors):
    vectors.keep(M, [Made(b"1", False, b"aa"), Made(b"2", False, b"bb")])
    vectors.place(M, PATH, b"f", [b"1", b"2"], is_whole=True)
    vectors.place(M, "projects/p/decision/b.md", b"f", [b"2"], is_whole=True)
    vectors.forget([PATH])
    assert vectors.everything().hashes == (b"2",)


def test_a_model_that_begins_anew_gives_up_its_own_vectors_alone(vectors):
    vectors.begin_model("quick", {"about": b"q 1"})
    for model in ("quick", M):
        vectors.keep(model, [Made(b"1", False, b"aa")])
        vectors.place(model, PATH, b"f", [b"1"], is_whole=True)
    vectors.begin()
    vectors.begin_model("quick", {"about": b"q 2"})
    assert (vectors.count("quick"), vectors.count(M)) == (0, 1)
    assert (vectors.sources("quick"), vectors.sources(M)) == ({}, {PATH: (b"f", True)})
    assert vectors.meta()["quick about"] == b"q 2"


def test_the_beginning_that_one_model_reads_hides_nothing_of_what_another_read(vectors):
    vectors.keep(M, [Made(b"1", False, b"aa"), Made(b"2", False, b"bb")])
    vectors.place(M, PATH, b"f", [b"1", b"2"], is_whole=True)
    vectors.place("quick", PATH, b"f", [b"1"], is_whole=False)
    assert sorted(vectors.everything().places) == [(PATH, 0), (PATH, 1)]
    vectors.place(M, PATH, b"changed", [b"2"], is_whole=True)
    assert vectors.everything().places == ((PATH, 1),)


def test_a_file_that_is_no_database_is_made_anew_by_begin_alone(root):
    path = root / "_state/vectors.db"
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)
    vectors = Vectors(Root(str(root)))
    with pytest.raises(Damaged):
        vectors.meta()
    vectors.begin()
    assert vectors.count(M) == 0
    vectors.close()


def test_vectors_of_another_version_count_as_none(root, vectors):
    vectors.close()
    with sqlite3.connect(root / "_state/vectors.db") as connection:
        connection.execute("UPDATE meta SET value = 'x' WHERE key = 'version'")
    connection.close()
    assert vectors.meta() == {}


def test_the_state_changes_with_what_others_write(root, vectors):
    before = vectors.state()
    other = Vectors(Root(str(root)))
    other.keep(M, [Made(bytes([number]), False, b"a" * 4096) for number in range(9)])
    other.close()
    assert vectors.state() != before
